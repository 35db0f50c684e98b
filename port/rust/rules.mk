# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The crate. Of Rust's CPUs those are booted for which there is a core library.
CHECK += rust rust-declarations rust-x86_64

.PHONY: suite-rust suite-rust-declarations suite-rust-x86_64
suite-rust:
	@test/toolchain/install.sh check lint
	@test/run.sh rust port/rust/test/host.sh build/rust/host

suite-rust-declarations:
	@test/toolchain/install.sh check
	@test/run.sh rust-declarations port/rust/test/declarations.sh build/rust/declarations

suite-rust-x86_64: build/tools/sfu-gen build/tools/sfu-trace
	@test/toolchain/install.sh check bare
	@test/run.sh rust-x86_64 python3 port/rust/test/boot.py x86_64 build/rust/x86_64

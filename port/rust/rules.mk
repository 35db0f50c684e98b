# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The crate, by Debian's rustc: for other CPUs its core library is fetched (core.sh), which goes with no other rustc.
RUST_RUN = PATH="$$(dpkg -L rustc | sed -n 's,/bin/rustc$$,/bin:,p')$$PATH" test/run.sh

CHECK += rust rust-declarations
.PHONY: suite-rust suite-rust-declarations
suite-rust:
	@test/tools/toolchain/install.sh check lint
	@$(RUST_RUN) rust port/rust/test/host.sh build/rust/host

suite-rust-declarations:
	@test/tools/toolchain/install.sh check
	@$(RUST_RUN) rust-declarations port/rust/test/declarations.sh build/rust/declarations

CHECK += rust-riscv
.PHONY: suite-rust-riscv
suite-rust-riscv:
	@test/tools/toolchain/install.sh check
	@$(RUST_RUN) rust-riscv port/rust/test/riscv.sh build/rust/riscv

define rust_suite
CHECK_$(1) += rust-$(1)
.PHONY: suite-rust-$(1)
suite-rust-$(1): build/tools/sfu-gen build/tools/sfu-trace
	@test/tools/toolchain/install.sh check bare
	@$$(RUST_RUN) rust-$(1) python3 port/rust/test/boot.py $(1) build/rust/$(1)
endef
$(foreach cpu,x86_64 aarch64 s390x,$(eval $(call rust_suite,$(cpu))))

CHECK += rust-i386
$(eval $(call rust_suite,i386))

# In M mode. Debian has no core library of their targets: core.sh compiles it.
define rust_suite_riscv
$(call rust_suite,$(1))
CHECK += rust-$(1)
endef
$(foreach cpu,$(RISCV_CPUS),$(eval $(call rust_suite_riscv,$(cpu))))

# Kernels that cargo links by sfu-link.
define rust_suite_linked
CHECK_$(1) += rust-linked-$(1)
.PHONY: suite-rust-linked-$(1)
suite-rust-linked-$(1): build/tools/sfu-gen build/tools/sfu-link
	@test/tools/toolchain/install.sh check bare
	@$$(RUST_RUN) rust-linked-$(1) python3 port/rust/test/linked.py $(1) build/rust/linked-$(1)
endef
$(foreach cpu,x86_64 aarch64,$(eval $(call rust_suite_linked,$(cpu))))

CHECK += rust-linked-riscv64
$(eval $(call rust_suite_linked,riscv64))

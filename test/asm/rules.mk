# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The macros for assembly files.

CHECK += asm

.PHONY: suite-asm
suite-asm: | $(TC)
	@test/tools/toolchain/install.sh check
	@test/run.sh asm python3 -B test/asm/asm.py $(TC) build/asm

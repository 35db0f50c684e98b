# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += dist

.PHONY: dist suite-dist
## [tools] dist: what people copy, in build/dist: sfu.h and sfu.c with all in them, sfu_asm.h, and a tarball
dist:
	@python3 port/dist/dist.py build/dist

suite-dist: | $(TC)
	@test/tools/toolchain/install.sh check
	@test/tools/toolchain/install.sh bare
	@test/run.sh dist port/dist/test/dist_test.sh

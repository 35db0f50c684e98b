# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += dist

.PHONY: dist suite-dist
## [tools] dist: what people copy, in build/dist: sfu_panic, sfu_kernel, sfu_asm.h, a tarball; PREFIX=mine_: renamed
# PREFIX is also a folder, that of `make install`.
dist:
	@python3 port/dist/dist.py build/dist $(if $(findstring /,$(PREFIX)),,$(PREFIX))

suite-dist: | $(TC)
	@test/tools/toolchain/install.sh check
	@test/tools/toolchain/install.sh bare
	@test/run.sh dist port/dist/test/dist_test.sh

# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# What tables and frame pointers cost real programs. Not a part of `make check`, because it builds for some minutes.
# Whether it counts right is.

.PHONY: cost suite-cost
## [measure] cost: what .sframe, .eh_frame and frame pointers cost lua, zlib, sqlite and a firmware, on three CPUs
cost: build/tools/sfu-gen | $(TC)
	@test/tools/toolchain/install.sh check cost
	@test/tools/cost/cost.sh build/cost

CHECK += cost

suite-cost: build/tools/sfu-gen | $(TC)
	@test/run.sh cost test/tools/cost/check.sh build/cost-check

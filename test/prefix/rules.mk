# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Two copies of sfu in one program: SFU_PREFIX.

CHECK += prefix

.PHONY: suite-prefix
suite-prefix: | $(TC)
	@test/tools/toolchain/install.sh check
	@test/run.sh prefix test/prefix/prefix.sh build/prefix

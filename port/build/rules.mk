# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += build

.PHONY: suite-build
suite-build: | $(TC)
	@test/tools/toolchain/install.sh check
	@test/run.sh build port/build/test/test.sh

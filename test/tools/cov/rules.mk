# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

## [campaigns] cov: lines and branches of sfu.c that the hosted tests do not reach; fails if there are any
.PHONY: cov
cov:
	@test/tools/toolchain/install.sh check
	@test/tools/cov/cov.sh

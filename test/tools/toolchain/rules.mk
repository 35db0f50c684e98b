# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

.PHONY: fresh
## [campaigns] fresh: what .ci/run does on a machine where nothing is installed yet (as root)
fresh:
	@test/tools/toolchain/install.sh fresh
	@test/tools/toolchain/fresh.sh

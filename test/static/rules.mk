# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += static

# The core and the printer. The ports turn numbers into pointers by their nature, which the tools cannot follow.
.PHONY: suite-static
suite-static:
	@test/toolchain/install.sh lint
	@test/run.sh static test/static/static.sh sfu.c port/print/sfu_print.c port/print/sfu_dump.c

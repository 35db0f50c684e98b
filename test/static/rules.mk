# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += static

# The core, the printer and the tools. The other ports turn numbers into pointers by their nature, which analysis cannot
# follow.
.PHONY: suite-static
STATIC_HOSTED = $(sort $(TOOLS_GEN) $(TOOLS_LINT) $(TOOLS_TRACE))
suite-static: build/tools/sfu-gen.txt.h build/tools/sfu-lint.txt.h build/tools/sfu-trace.txt.h
	@test/toolchain/install.sh lint tools
	@test/run.sh static test/static/static.sh sfu.c port/print/sfu_print.c port/print/sfu_dump.c -- \
	    $(filter-out sfu.c,$(STATIC_HOSTED))

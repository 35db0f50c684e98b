# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += static abis

# The core and the printer. The ports turn numbers into pointers by their nature, which analysis cannot follow.
.PHONY: suite-static static-tools
suite-static: build/tools/sfu-gen.txt.h build/tools/sfu-lint.txt.h build/tools/sfu-trace.txt.h
	@test/tools/toolchain/install.sh lint tools clang
	@test/run.sh static test/static/static.sh sfu.c $(wildcard port/print/sfu_*.c) \
	    port/kernel/sfu_kernel.c port/symbols/sfu_symbols.c

STATIC_HOSTED = $(sort $(TOOLS_GEN) $(TOOLS_LINT) $(TOOLS_TRACE))
## [campaigns] static-tools: the same analysis of the tools in port/host, which takes minutes
static-tools: build/tools/sfu-gen.txt.h build/tools/sfu-lint.txt.h build/tools/sfu-trace.txt.h
	@test/tools/toolchain/install.sh lint tools
	@test/run.sh static-tools test/static/static.sh -- $(filter-out sfu.c,$(STATIC_HOSTED))

# Each ABI of sfu.h is in each place of docs/adding-an-abi.md; one that is nowhere else is noticed.
.PHONY: suite-abis
suite-abis:
	@test/run.sh abis test/static/abis.py

.PHONY: format
## [record] format: lays out every C file as .clang-format says; suite-static checks it
format:
	@test/tools/toolchain/install.sh lint
	@test/static/layout.sh format

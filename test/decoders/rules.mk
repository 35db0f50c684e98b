# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Real programs, and edge cases: at every PC sfu's row is the one that objdump prints. An ABI is a suite.
# DECODERS_LEVELS: what they are compiled with; each takes more than a minute for an ABI.
DECODERS := build/decoders
DECODERS_LEVELS ?= O2
$(foreach abi,$(ABIS),$(eval DECODERS_$(abi) := $(DECODERS_LEVELS:%=$(abi)-%)))

# build.sh takes the versions of binutils from here; $(TC) comes first because it installs the compilers.
DECODERS_IMAGES := $(foreach abi,$(ABIS),$(DECODERS_$(abi):%=$(DECODERS)/%/done))

$(DECODERS_IMAGES): $(DECODERS)/%/done: test/decoders/build.sh test/decoders/edges.c \
    test/toolchain/sources.sh | $(TC)
	@rm -rf $(@D) && mkdir -p $(@D)
	@test/decoders/build.sh $(subst -, ,$*) $(@D) >$(@D)/log 2>&1 || { cat $(@D)/log; false; }
	@touch $@

$(DECODERS)/compare: test/decoders/compare.c test/decoders/image.c test/decoders/image.h sfu.c sfu.h | $(TC)
	@mkdir -p $(@D)
	@$(CC) -std=c99 -D_GNU_SOURCE $(WARN) -O2 -g -I. test/decoders/compare.c test/decoders/image.c sfu.c -lelf -o $@

define DECODERS_SUITE
CHECK_$(1) += decoders-$(1)
.PHONY: suite-decoders-$(1)
suite-decoders-$(1): $(DECODERS)/compare $(DECODERS_$(1):%=$(DECODERS)/%/done)
	@test/run.sh decoders-$(1) test/decoders/check.sh $(1) $(DECODERS)
endef
$(foreach abi,$(ABIS),$(eval $(call DECODERS_SUITE,$(abi))))

## decoders: the rows of real programs beside objdump's, at -Os and -O3, too
.PHONY: decoders
decoders:
	@$(MAKE) --no-print-directory DECODERS_LEVELS="O2 Os O3" $(ABIS:%=suite-decoders-%)

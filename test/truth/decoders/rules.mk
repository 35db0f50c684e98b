# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Real programs, and edge cases: at every PC sfu's row is the one that objdump prints. An ABI is a suite.
# LONG: sqlite3 for each ABI and at each level; it takes a minute each time.
DECODERS := build/decoders
DECODERS_x86_64 := x86_64-O2 x86_64-Os x86_64-O3
DECODERS_aarch64 := aarch64-O2 aarch64-Os
DECODERS_aarch64_be := aarch64_be-O2 aarch64_be-Os
DECODERS_s390x := s390x-O2 s390x-Os

# build.sh takes the versions of binutils from here; $(TC) comes first because it installs the compilers.
DECODERS_IMAGES := $(foreach abi,$(ABIS),$(DECODERS_$(abi):%=$(DECODERS)/%/done))

$(DECODERS_IMAGES): $(DECODERS)/%/done: test/truth/decoders/build.sh test/truth/decoders/edges.c \
    test/tools/toolchain/sources.sh | $(TC)
	@rm -rf $(@D) && mkdir -p $(@D)
	@test/truth/decoders/build.sh $(subst -, ,$*) $(@D) >$(@D)/log 2>&1 || { cat $(@D)/log; false; }
	@touch $@

$(DECODERS)/compare: test/truth/decoders/compare.c test/truth/decoders/loaded.c test/truth/decoders/loaded.h \
    port/host/common/image.c port/host/common/image.h test/lib/rows.h \
    sfu.c sfu.h | $(TC)
	@mkdir -p $(@D)
	@$(CC) -std=c99 -D_GNU_SOURCE $(WARN) -O2 -g -I. $(filter %.c,$^) -lelf -o $@

define DECODERS_SUITE
CHECK_$(1) += decoders-$(1)
.PHONY: suite-decoders-$(1)
suite-decoders-$(1): $(DECODERS)/compare $(DECODERS_$(1):%=$(DECODERS)/%/done)
	@test/run.sh decoders-$(1) test/truth/decoders/check.sh $(1) $(DECODERS)
endef
$(foreach abi,$(ABIS),$(eval $(call DECODERS_SUITE,$(abi))))

## [campaigns] decoders: every row of real programs beside objdump's, with sqlite3 everywhere
.PHONY: decoders
decoders:
	@$(MAKE) --no-print-directory LONG=1 DECODERS=build/decoders-all $(ABIS:%=suite-decoders-%)

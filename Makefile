# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Nothing here is needed to use sfu: copy sfu.h and sfu.c. `make help` lists what can be run.

CC ?= cc
ABIS := x86_64 aarch64 aarch64_be s390x
WARN := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align -Wstrict-prototypes
TC := build/tc
ifeq (0,$(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)))
MAKEFLAGS += -j$(shell nproc)
endif

.DELETE_ON_ERROR:
.PHONY: help check test list $(ABIS:%=check-%) clean

# A line "## [GROUP] TARGET: text" in a rules.mk is one of its group.
help:
	@for group in tests campaigns measure record tools; do \
	    echo "$$group:"; sed -n "s/^## \[$$group\] /  make /p" $(MAKEFILE_LIST); done

# Each rules.mk adds suites to CHECK or, for one ABI, to CHECK_<abi>, and says how suite-NAME is run.
# run.sh tells how to make what it is run for. T reaches it by the environment.
export RECIPE = $@
CHECK := harness
include $(wildcard port/*/rules.mk test/*/rules.mk test/*/*/rules.mk port/*/test/rules.mk fuzz/rules.mk)
ALL_SUITES := $(CHECK) $(foreach abi,$(ABIS),$(CHECK_$(abi)))

# A suite that fails does not keep the others from running: suites.sh gives the verdict on all of them. Nothing else is
# printed but a line for each suite, so that a log that is cut still has what failed.
# LONG=1: with what takes long, too: more compilers' flags, sqlite3 everywhere, more broken files.
## [tests] check, test: every test on every ABI; installs what is missing (as root on Debian); LONG=1: in more ways
check test:
	@$(if $(T),$(error T chooses tests of one suite: make suite-NAME T='$(T)'))
	@rm -rf build/results
	@$(MAKE) --silent --keep-going $(ALL_SUITES:%=suite-%) || :
	@test/suites.sh summary $(ALL_SUITES)

# What a failing test does to all of this.
.PHONY: suite-harness
suite-harness:
	@test/run.sh harness test/run_test.sh build/harness

## [tests] suite-NAME: one suite; T='pattern': those of its tests whose names have that
## [tests] list: every suite, what it shows, and the seconds of CPU time it takes
list:
	@test/suites.sh list $(ALL_SUITES)

## [tests] check-s390x, check-aarch64, check-aarch64_be, check-x86_64: the tests of one ABI
define check_abi
check-$(1):
	@rm -f $(CHECK_$(1):%=build/results/%)
	@$$(MAKE) --silent --keep-going $(CHECK_$(1):%=suite-%) || :
	@test/suites.sh summary $(CHECK_$(1))
endef
$(foreach abi,$(ABIS),$(eval $(call check_abi,$(abi))))

## [tools] clean: removes build/
clean:
	rm -rf build

# The toolchain's cache is shared between builds; build/tc leads to it. It has gcc 16 from the start: the first run on a
# machine tests what each later one does.
$(TC): test/tools/toolchain/toolchain.sh
	@test/tools/toolchain/install.sh check
	@mkdir -p build
	@tc=$$(test/tools/toolchain/toolchain.sh v3 gcc16) && ln -sfn "$$tc" $@

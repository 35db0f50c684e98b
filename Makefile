# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Nothing here is needed to use sfu: copy sfu.h and sfu.c. `make help` lists what can be run.

CC ?= cc
ABIS := x86_64 aarch64 aarch64_be s390x
CPUS := $(ABIS) riscv64 riscv32 arm thumb i386
WARN := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align -Wstrict-prototypes
TC := build/tc
# More jobs than CPUs, because some wait: for the network, for a debugger, for a machine that starts.
ifeq (0,$(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)))
MAKEFLAGS += -j$(shell expr $$(nproc) '*' 2 + 1)
endif
# The tests run hundreds of short Python programs. Where python3 is a script that looks for one, as pyenv has it, they
# take the system's, which starts in a tenth of the time.
HASH := \#
PYTHON_PATH := $(CURDIR)/test/tools/python
ifeq (,$(findstring $(PYTHON_PATH):,$(PATH)))
ifneq (,$(shell [ -x /usr/bin/python3 ] && [ "$$(head -c 2 "$$(command -v python3)")" = '$(HASH)!' ] && echo script))
export PATH := $(PYTHON_PATH):$(PATH)
endif
endif

.DELETE_ON_ERROR:
.PHONY: help check check-all test list $(CPUS:%=check-%) clean

# A line "## [GROUP] TARGET: text" in a rules.mk is one of its group.
help:
	@for group in tests campaigns measure record tools; do \
	    echo "$$group:"; sed -n "s/^## \[$$group\] /  make /p" $(MAKEFILE_LIST); done

# Each rules.mk adds suites to CHECK or, for one ABI, to CHECK_<abi>, and says how suite-NAME is run. Those that need no
# toolchain but Debian's, and little time, are in FIRST, too.
# run.sh tells how to make what it is run for. T reaches it by the environment.
export RECIPE = $@
export PYTHONDONTWRITEBYTECODE = 1
CHECK := harness
FIRST := harness
# What programs of test/lib/check.h are linked with.
CHECK_C := test/lib/check.c
include $(wildcard port/*/rules.mk test/*/rules.mk test/*/*/rules.mk port/*/test/rules.mk fuzz/rules.mk)
# It uses what the others define.
include test/first/first.mk
# Those that take longest and run on one CPU begin first. For that, what they need is there before: make comes back to a
# suite whose needs it has to build once it has begun all others. The tree that run_test.sh makes has none of them.
LONGEST := $(strip $(foreach suite,gates dist prove static rust install,$(filter $(suite),$(CHECK))))
LONGEST_NEED := $(if $(LONGEST),$(TC) $(HOST)/sfu-gen-sanitized build/tools/sfu-gen build/tools/sfu-link \
    build/tools/sfu-trace $(HOST)/sfu-trace-sanitized)
# `make check` has installed what these need.
NEED_NO_MORE := $(foreach kind,$(foreach cpu,$(BARE_CPUS),$(filter-out %-clang,$(BARE_KINDS_$(cpu)))),\
    $(BARE)/$(kind)/kernel.elf)
ALL_SUITES := $(LONGEST) $(filter-out $(LONGEST),$(CHECK)) $(foreach abi,$(ABIS),$(CHECK_$(abi)))

# A suite that fails does not keep the others from running: suites.sh gives the verdict on all of them. Nothing else is
# printed but a line for each suite, so that a log that is cut still has what failed.
one_suite = $(if $(T),$(error T chooses tests of one suite: make suite-NAME T='$(T)'))

## [tests] check: the first verdict, in 3 minutes; installs what is missing (as root on Debian)
# All packages at once, because apt takes seconds each time.
check:
	@$(one_suite)
	@test/tools/toolchain/install.sh core cross m32 python tools x86
	@rm -rf build/results
	@$(MAKE) --silent --keep-going $(FIRST:%=suite-%) || :
	@test/suites.sh left $(FIRST) -- $(ALL_SUITES)
	@test/suites.sh summary $(FIRST)

## [tests] check-all, test: every test on every ABI: some 25 minutes; LONG=1: more flags, programs and broken files
# AFTER_CHECK=1: behind `make check`: only what that has left out is run. What the longest suites need is compiled while
# packages are installed: it waits for its own, and is made again if that has failed. Behind `make check` all that it
# needs is there, and what kernels need, too: nothing waits.
check-all test:
	@$(one_suite)
	@$(if $(AFTER_CHECK),,rm -rf build/results)
	@test/tools/toolchain/install.sh check bare efi lint & installing=$$!; \
	    $(if $(LONGEST_NEED),$(if $(AFTER_CHECK),SFU_INSTALL=no) $(MAKE) --silent --keep-going $(LONGEST_NEED) \
	        $(if $(AFTER_CHECK),$(NEED_NO_MORE)) || :;) wait $$installing
	@$(MAKE) --silent --keep-going $(patsubst %,suite-%,$(filter-out $(if $(AFTER_CHECK),$(FIRST)),$(ALL_SUITES))) || :
	@test/suites.sh summary $(ALL_SUITES)

# What a failing test does to all of this.
.PHONY: suite-harness
suite-harness:
	@test/run.sh harness test/run_test.sh build/harness

## [tests] suite-NAME: one suite; T='pattern': those of its tests whose names have that
## [tests] list: every suite, what it shows, and the seconds of CPU time it takes
list:
	@test/suites.sh list $(ALL_SUITES)

## [tests] check-CPU: the tests of x86_64, aarch64, aarch64_be, s390x, riscv64, riscv32, arm, thumb or i386
CHECK_thumb := $(filter %cortexm,$(CHECK))
define check_cpu
suites_$(1) := $(sort $(CHECK_$(1)) $(filter %-$(1),$(CHECK)))
check-$(1):
	@$$(one_suite)
	@rm -f $$(suites_$(1):%=build/results/%)
	@$$(MAKE) --silent --keep-going $$(suites_$(1):%=suite-%) || :
	@test/suites.sh summary $$(suites_$(1))
endef
$(foreach cpu,$(CPUS),$(eval $(call check_cpu,$(cpu))))

## [tools] clean: removes build/
clean:
	rm -rf build

# The toolchain's cache is shared between builds; build/tc leads to it. It has gcc 16 from the start: the first run on a
# machine tests what each later one does.
$(TC): test/tools/toolchain/toolchain.sh
	@test/tools/toolchain/install.sh check
	@mkdir -p build
	@tc=$$(test/tools/toolchain/toolchain.sh v3 gcc16) && ln -sfn "$$tc" $@

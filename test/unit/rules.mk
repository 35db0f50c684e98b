# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Unit tests of the core: as it is and under sanitizers; with each of its build-time switches; on a big-endian host and
# on one of 32 bits.

FIRST += unit unit-s390x
CHECK += unit unit-switches unit-m32
CHECK_s390x += unit-s390x

# What every test calls has -O1, as the core has. The tests themselves are compiled in half of the time without.
UNIT_OFTEN := test/unit/test.c test/unit/build.c $(CHECK_C)
UNIT_TESTS := $(filter-out $(UNIT_OFTEN),$(wildcard test/unit/*.c))
UNIT_HEADERS := $(wildcard test/unit/*.h test/lib/*.h) sfu.h
UNIT_CFLAGS := -std=gnu99 -O1 -g1 $(WARN) -Werror -I. -Itest/unit

# unit_program NAME, COMPILER, FLAGS, LEVEL OF THE TESTS: build/unit/unit-NAME, of objects in build/unit/NAME.
define unit_program
$(UNIT_TESTS:%.c=build/unit/$(1)/%.o): UNIT_LEVEL := $(or $(4),-O0)
build/unit/$(1)/%.o: %.c $(UNIT_HEADERS) test/unit/rules.mk
	@test/tools/toolchain/install.sh $(UNIT_NEEDS_$(1))
	@mkdir -p $$(@D)
	@$(2) $(UNIT_CFLAGS) $(3) $$(UNIT_LEVEL) -c $$< -o $$@
build/unit/unit-$(1): $(patsubst %.c,build/unit/$(1)/%.o,$(UNIT_TESTS) $(UNIT_OFTEN) sfu.c)
	@$(2) $(3) $$^ -o $$@
endef

# ---- as it is, and the core under sanitizers: the tests give it blocks of exactly the size that it may read ----

UNIT_SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all
UNIT_NEEDS_plain := core
$(eval $(call unit_program,plain,$(CC)))
build/unit/sanitized/sfu.o: sfu.c sfu.h test/unit/rules.mk
	@test/tools/toolchain/install.sh core
	@mkdir -p $(@D)
	@$(CC) $(UNIT_CFLAGS) $(UNIT_SANITIZERS) -c $< -o $@
build/unit/unit-sanitized: build/unit/sanitized/sfu.o $(patsubst %.c,build/unit/plain/%.o,$(UNIT_TESTS) $(UNIT_OFTEN))
	@$(CC) $(UNIT_SANITIZERS) $^ -o $@

# With T the first alone, or the one that T begins with, which is how a test's name begins.
unit_programs = $(if $(T),$(or $(filter $(subst :,,$(firstword $(T))),$(1)),$(firstword $(1))),$(1))
# unit_run PROGRAMS, PREFIX, EMULATOR: the command that runs them.
unit_run = sh -c 'for v in $(call unit_programs,$(1)); do test/lib/check.sh $$v $(3) build/unit/unit-$(2)$$v; done'

.PHONY: suite-unit suite-unit-switches suite-unit-s390x suite-unit-m32
suite-unit: $(addprefix build/unit/unit-,$(call unit_programs,plain sanitized))
	@test/run.sh unit $(call unit_run,plain sanitized)

# ---- with each switch: the name of the program, and what it is built with ----

UNIT_SWITCHES := oldest-2 oldest-3 no-remote no-strings aarch64_be aarch64 amd64 s390x riscv64 riscv32 arm thumb i386
UNIT_oldest-2 := -DSFU_OLDEST_VERSION=2
UNIT_oldest-3 := -DSFU_OLDEST_VERSION=3
UNIT_no-remote := -DSFU_NO_REMOTE
UNIT_no-strings := -DSFU_NO_STRINGS
UNIT_aarch64_be := -DSFU_ABI=SFU_AARCH64_BIG
UNIT_aarch64 := -DSFU_ABI=SFU_AARCH64
UNIT_amd64 := -DSFU_ABI=SFU_AMD64
UNIT_s390x := -DSFU_ABI=SFU_S390X
UNIT_riscv64 := -DSFU_ABI=SFU_RISCV64
UNIT_riscv32 := -DSFU_ABI=SFU_RISCV32
UNIT_arm := -DSFU_ABI=SFU_ARM
UNIT_thumb := -DSFU_ABI=SFU_THUMB
UNIT_i386 := -DSFU_ABI=SFU_I386
UNIT_least := $(UNIT_oldest-3) $(UNIT_no-remote) $(UNIT_no-strings) $(UNIT_amd64)

# Under the sanitizers, the tests too, is what has all of the code and what has the least; with LONG each. By clang's
# memory sanitizer, no number that was never written decides anything.
UNIT_VARIANTS := default least $(UNIT_SWITCHES)
unit_sanitizers = $(if $(LONG)$(filter default least,$(1)),$(UNIT_SANITIZERS))
UNIT_WRITTEN := -Wno-unused-command-line-argument -fsanitize=memory -fno-sanitize-recover=all
$(foreach v,$(UNIT_VARIANTS),$(eval UNIT_NEEDS_$(v) := core))
$(foreach v,$(UNIT_VARIANTS),$(eval $(call unit_program,$(v),$(CC),$(call unit_sanitizers,$(v)) $(UNIT_$(v)))))
UNIT_NEEDS_written := core clang
$(eval $(call unit_program,written,clang,$(UNIT_WRITTEN)))

suite-unit-switches: $(addprefix build/unit/unit-,$(call unit_programs,$(UNIT_VARIANTS) written))
	@test/run.sh unit-switches $(call unit_run,$(UNIT_VARIANTS) written)

# ---- on a big-endian host. Under QEMU the tests run for longer than they compile ----

UNIT_CC_s390x := s390x-linux-gnu-gcc
UNIT_S390X := default $(if $(LONG),least s390x)
$(foreach v,$(UNIT_S390X),$(eval UNIT_NEEDS_s390x-$(v) := cross))
$(foreach v,$(UNIT_S390X),$(eval $(call unit_program,s390x-$(v),$(UNIT_CC_s390x) -static,-O2 $(UNIT_$(v)),-O2)))
suite-unit-s390x: $(addprefix build/unit/unit-s390x-,$(call unit_programs,$(UNIT_S390X)))
	@test/run.sh unit-s390x $(call unit_run,$(UNIT_S390X),s390x-,qemu-s390x)

# ---- a 64-bit target on a host of 32 bits, where size_t and pointers are short. Headers of Linux that are the same for
# both are in x86_64's directory ----

UNIT_CC_m32 := gcc -m32 -isystem /usr/include/x86_64-linux-gnu
UNIT_RUN_m32 := test/lib/run_m32.sh
UNIT_M32 := default least
$(foreach v,$(UNIT_M32),$(eval UNIT_NEEDS_m32-$(v) := core m32))
$(foreach v,$(UNIT_M32),$(eval $(call unit_program,m32-$(v),$(UNIT_CC_m32),$(UNIT_$(v)))))
suite-unit-m32: $(addprefix build/unit/unit-m32-,$(call unit_programs,$(UNIT_M32)))
	@test/run.sh unit-m32 $(call unit_run,$(UNIT_M32),m32-,$(UNIT_RUN_m32))

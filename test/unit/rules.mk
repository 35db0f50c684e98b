# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Unit tests of the core: with each of its build-time switches, under sanitizers, and on a big-endian host.

CHECK += unit
CHECK_s390x += unit-s390x
CHECK += unit-m32

UNIT_SRC := $(addprefix test/unit/,main.c test.c build.c bytes_test.c section_test.c function_test.c row_test.c \
	frame_test.c walk_test.c crash_test.c stack_test.c sort_test.c check_test.c hostile_test.c \
	limits_test.c strings_test.c)
UNIT_DEPS := $(UNIT_SRC) test/unit/test.h test/unit/build.h test/unit/rules.mk test/lib/abi.h test/lib/bytes.h \
    sfu.c sfu.h
UNIT_CFLAGS := -std=gnu99 -O1 -g $(WARN) -Werror -I. -Itest/unit

# Variants: the name, and the switches it is built with. With T the first alone, or the one that T begins with, which is
# how a test's name begins.
UNIT_VARIANTS := default oldest-2 oldest-3 no-remote no-strings aarch64_be aarch64 amd64 s390x riscv64 riscv32 arm \
	thumb least
UNIT_PROGRAMS := $(UNIT_VARIANTS) written
unit_programs = $(if $(T),$(or $(filter $(subst :,,$(firstword $(T))),$(1)),$(firstword $(1))),$(1))
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
UNIT_least := $(UNIT_oldest-3) $(UNIT_no-remote) $(UNIT_no-strings) $(UNIT_amd64)

# LONG: each variant under the sanitizers, not only what has all of the code and what has the least.
UNIT_SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all
unit_sanitizers = $(if $(LONG)$(filter default least,$(1)),$(UNIT_SANITIZERS))

# The tests themselves are compiled in half of the time without -O1, which the core has.
build/unit/unit-%: $(UNIT_DEPS)
	@test/tools/toolchain/install.sh check
	@mkdir -p build/unit
	$(CC) $(UNIT_CFLAGS) $(call unit_sanitizers,$*) $(UNIT_$*) -c sfu.c -o $@.o
	$(CC) $(UNIT_CFLAGS) -O0 $(call unit_sanitizers,$*) $(UNIT_$*) $(UNIT_SRC) $@.o -lcmocka -o $@

# No number that was never written decides anything: by clang's memory sanitizer. What all tests call has -O1 here, as
# the core has: at each call of a function without -O1 the sanitizer marks all of its variables, which takes longer.
UNIT_CFLAGS_WRITTEN := -Wno-unused-command-line-argument -fsanitize=memory -fno-sanitize-recover=all
UNIT_OFTEN := test/unit/test.c test/unit/build.c
build/unit/unit-written: $(UNIT_DEPS)
	@test/tools/toolchain/install.sh check
	@mkdir -p build/unit
	for c in sfu.c $(UNIT_OFTEN); do \
		clang $(UNIT_CFLAGS) $(UNIT_CFLAGS_WRITTEN) -c $$c -o $@-$$(basename $$c).o || exit; \
	done
	clang $(UNIT_CFLAGS) -O0 $(UNIT_CFLAGS_WRITTEN) $(filter-out $(UNIT_OFTEN),$(UNIT_SRC)) \
		$(patsubst %,$@-%.o,sfu.c $(notdir $(UNIT_OFTEN))) -lcmocka -o $@

.PHONY: suite-unit suite-unit-s390x
suite-unit: $(addprefix build/unit/unit-,$(call unit_programs,$(UNIT_PROGRAMS)))
	@test/run.sh unit sh -c \
		'for v in $(call unit_programs,$(UNIT_PROGRAMS)); do test/unit/run.sh $$v build/unit/unit-$$v; done'

# Debian has no cmocka for a cross compiler; it is one file.
build/unit/cmocka-%.o: test/tools/toolchain/sources.sh test/unit/rules.mk
	@test/tools/toolchain/install.sh check
	@mkdir -p build/unit
	src=$$(test/tools/toolchain/sources.sh) && ln -sfn "$$src/cmocka/include" build/unit/cmocka-include && \
		$(UNIT_CC_$*) -O1 -DHAVE_SIGNAL_H -DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_GETTIME -I"$$src/cmocka/include" \
		-c "$$src/cmocka/src/cmocka.c" -o $@
.SECONDARY: build/unit/cmocka-s390x.o build/unit/cmocka-m32.o
UNIT_CC_s390x := s390x-linux-gnu-gcc
# Headers of Linux that are the same for both are in the directory of x86_64.
UNIT_CC_m32 := gcc -m32 -isystem /usr/include/x86_64-linux-gnu

build/unit/s390x-%: $(UNIT_DEPS) build/unit/cmocka-s390x.o
	s390x-linux-gnu-gcc $(UNIT_CFLAGS) -Ibuild/unit/cmocka-include $(UNIT_$*) $(UNIT_SRC) sfu.c \
		build/unit/cmocka-s390x.o -static -o $@

UNIT_S390X := default $(if $(LONG),least s390x)
suite-unit-s390x: $(addprefix build/unit/s390x-,$(call unit_programs,$(UNIT_S390X)))
	@test/run.sh unit-s390x sh -c \
		'for v in $(call unit_programs,$(UNIT_S390X)); do test/unit/run.sh $$v qemu-s390x build/unit/s390x-$$v; done'

# A 64-bit target on a host of 32 bits, where size_t and pointers are short. QEMU runs it, because there are machines
# of x86_64 whose kernel does not.
UNIT_RUN_m32 := qemu-i386
build/unit/m32-%: $(UNIT_DEPS) build/unit/cmocka-m32.o
	$(UNIT_CC_m32) $(UNIT_CFLAGS) -Ibuild/unit/cmocka-include $(UNIT_$*) $(UNIT_SRC) sfu.c \
		build/unit/cmocka-m32.o -o $@

.PHONY: suite-unit-m32
suite-unit-m32: $(addprefix build/unit/m32-,$(call unit_programs,default least))
	@test/run.sh unit-m32 sh -c \
		'for v in $(call unit_programs,default least); do test/unit/run.sh $$v $(UNIT_RUN_m32) build/unit/m32-$$v; done'

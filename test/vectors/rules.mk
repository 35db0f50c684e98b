# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Vectors of the format: sfu is run on them as the unit tests are, with the same build-time switches.

FIRST += vectors vectors-s390x
CHECK += vectors vectors-switches
CHECK_s390x += vectors-s390x

# Each vector, for each version, as readers take them.
VECTORS := $(patsubst test/%,build/%,$(sort $(wildcard test/vectors/*.txt)))
$(VECTORS): build/vectors/%.txt: test/vectors/%.txt test/vectors/expand.py
	@test/tools/toolchain/install.sh python
	@mkdir -p $(@D)
	@test/vectors/expand.py $(@D) $<

VECTORS_SRC := test/vectors/vector.c test/vectors/run_sfu.c
VECTORS_DEPS := $(VECTORS_SRC) test/vectors/vector.h test/vectors/rules.mk test/lib/bytes.h sfu.c sfu.h
VECTORS_CFLAGS := -std=c99 -D_GNU_SOURCE -O1 -g1 $(WARN) -Werror -I. -Itest/vectors

build/vectors/run-plain build/vectors/run-sanitized $(UNIT_VARIANTS:%=build/vectors/run-%): build/vectors/run-%: \
    $(VECTORS_DEPS)
	@test/tools/toolchain/install.sh core
	@mkdir -p build/vectors
	@$(CC) $(VECTORS_CFLAGS) $(if $(filter sanitized,$*),$(UNIT_SANITIZERS)) $(call unit_sanitizers,$*) $(UNIT_$*) \
	    $(VECTORS_SRC) sfu.c -o $@

# No number that was never written decides anything: by clang's memory sanitizer.
build/vectors/run-written: $(VECTORS_DEPS)
	@test/tools/toolchain/install.sh core clang
	@mkdir -p build/vectors
	@clang $(VECTORS_CFLAGS) -fsanitize=memory -fno-sanitize-recover=all $(VECTORS_SRC) sfu.c -o $@

build/vectors/run-m32: $(VECTORS_DEPS)
	@test/tools/toolchain/install.sh core m32
	@mkdir -p build/vectors
	@$(UNIT_CC_m32) $(VECTORS_CFLAGS) $(VECTORS_SRC) sfu.c -o $@

# What C does not define ends the program.
build/vectors/run-s390x-host: $(VECTORS_DEPS)
	@test/tools/toolchain/install.sh cross
	@mkdir -p build/vectors
	@s390x-linux-gnu-gcc $(VECTORS_CFLAGS) -fsanitize=undefined -fsanitize-undefined-trap-on-error \
	    $(VECTORS_SRC) sfu.c -static -o $@

.PHONY: suite-vectors suite-vectors-switches suite-vectors-s390x suite-vectors-libsframe vectors
## [record] vectors: writes build/vectors/*.txt, which any reader of the format can be run on
vectors: $(VECTORS)

# vectors_run PROGRAMS: runs each of them on all vectors.
vectors_run = sh -c 's=0; for p in $(1); do $$p $(VECTORS); s=$$((s + $$?)); done; exit $$s'
VECTORS_FIRST := $(addprefix build/vectors/run-,$(call unit_programs,plain sanitized))
suite-vectors: $(VECTORS_FIRST) $(VECTORS)
	@test/run.sh vectors $(call vectors_run,$(VECTORS_FIRST))

VECTORS_SWITCHES := $(addprefix build/vectors/run-,$(call unit_programs,$(filter-out default,$(UNIT_VARIANTS)) written))
suite-vectors-switches: $(VECTORS_SWITCHES) build/vectors/run-m32 $(VECTORS)
	@test/run.sh vectors-switches $(call vectors_run,$(VECTORS_SWITCHES) "$(UNIT_RUN_m32) build/vectors/run-m32")

suite-vectors-s390x: build/vectors/run-s390x-host $(VECTORS)
	@test/run.sh vectors-s390x qemu-s390x build/vectors/run-s390x-host $(VECTORS)
## [tests] suite-vectors-libsframe: where libsframe differs from the vectors, beside the list of what is known
# What is not SFrame, libsframe does not read.
suite-vectors-libsframe: $(VECTORS) | $(TC)
	@mkdir -p build/vectors
	@test/run.sh vectors-libsframe test/vectors/libsframe.py build/vectors \
	    $(filter-out %/riscv.txt %/arm.txt %/i386.txt,$(VECTORS))

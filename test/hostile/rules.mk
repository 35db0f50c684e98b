# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += faults
FAULTS_BUILD := build/faults
FAULTS_FLAGS := -std=c99 $(WARN) -I. -Ifuzz -O2 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all \
    -DENOUGH_PCS=MAX_PCS

FAULTS_SHARED := fuzz/harness.c test/lib/table.c test/lib/check.c
FAULTS_DEPS := fuzz/section.c fuzz/walk.c $(FAULTS_SHARED) fuzz/harness.h $(wildcard test/lib/*.h) \
    sfu.h test/hostile/rules.mk

CHANGING := $(FAULTS_BUILD)/changing-gcc-O0 $(FAULTS_BUILD)/changing-gcc-O2 $(FAULTS_BUILD)/changing-clang-O2

# Every fault in every seed.
.PHONY: suite-faults
suite-faults: $(FAULTS_BUILD)/faults $(FAULTS_BUILD)/seeds
	@test/run.sh faults $(FAULTS_BUILD)/faults $(FAULTS_BUILD)/seeds/*

$(FAULTS_BUILD)/seeds: test/hostile/seeds/seeds.txt fuzz/corpus.py
	@fuzz/corpus.py unpack $< $@

$(FAULTS_BUILD)/faults: test/hostile/faults.c $(FAULTS_DEPS) sfu.c
	@mkdir -p $(@D)
	$(CC) $(FAULTS_FLAGS) -DLLVMFuzzerTestOneInput=section_input -c -o $(@D)/section.o fuzz/section.c
	$(CC) $(FAULTS_FLAGS) -DLLVMFuzzerTestOneInput=walk_input -c -o $(@D)/walk.o fuzz/walk.c
	$(CC) $(FAULTS_FLAGS) -o $@ test/hostile/faults.c $(@D)/section.o $(@D)/walk.o $(FAULTS_SHARED) sfu.c

# Tables that change while they are read. It steps the CPU that it runs on, without a sanitizer, which would fault, too.
ifeq ($(shell uname -sm),Linux x86_64)
CHECK += changing
.PHONY: suite-changing
suite-changing: $(FAULTS_BUILD)/seeds $(CHANGING)
	@test/run.sh changing sh -c 'for how in $(CHANGING:$(FAULTS_BUILD)/changing-%=%); do \
	    $(FAULTS_BUILD)/changing-$$how $$how $(FAULTS_BUILD)/seeds/* || exit 1; done'

$(FAULTS_BUILD)/changing-%: test/hostile/changing.c test/lib/check.c test/lib/check.h sfu.c sfu.h test/hostile/rules.mk
	@mkdir -p $(@D)
	$(firstword $(subst -, ,$*)) -std=gnu99 $(WARN) -I. -$(lastword $(subst -, ,$*)) -o $@ $(filter %.c,$^)
endif

## [record] seeds: makes test/hostile/seeds/seeds.txt anew, with the assemblers
.PHONY: seeds
seeds:
	test/hostile/seeds/make.py

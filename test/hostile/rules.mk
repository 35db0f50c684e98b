# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += faults
FAULTS_BUILD := build/faults
FAULTS_FLAGS := -std=c99 $(WARN) -I. -Ifuzz -O2 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
    -DENOUGH_PCS=MAX_PCS

FAULTS_SHARED := fuzz/harness.c test/lib/table.c
FAULTS_DEPS := fuzz/section.c fuzz/walk.c $(FAULTS_SHARED) fuzz/harness.h $(wildcard test/lib/*.h) \
    sfu.h test/hostile/rules.mk

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

## [record] seeds: makes test/hostile/seeds/seeds.txt anew, with the assemblers
.PHONY: seeds
seeds:
	test/hostile/seeds/make.py

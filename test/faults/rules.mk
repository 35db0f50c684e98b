# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += faults
FAULTS_BUILD := build/faults
FAULTS_FLAGS := -std=c99 $(WARN) -I. -Ifuzz -O2 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
    -DENOUGH_PCS=MAX_PCS

FAULTS_SHARED := fuzz/harness.c fuzz/table.c
FAULTS_DEPS := fuzz/section.c fuzz/walk.c $(FAULTS_SHARED) fuzz/harness.h fuzz/table.h sfu.h test/faults/rules.mk

# Every fault in every seed, and what has been found before.
.PHONY: suite-faults
suite-faults: $(FAULTS_BUILD)/faults $(FAULTS_BUILD)/bugs
	@test/run.sh faults sh -ec '$(FAULTS_BUILD)/bugs; $(FAULTS_BUILD)/faults test/faults/seeds/*.bin'

$(FAULTS_BUILD)/faults: test/faults/faults.c $(FAULTS_DEPS) sfu.c
	@mkdir -p $(@D)
	$(CC) $(FAULTS_FLAGS) -DLLVMFuzzerTestOneInput=section_input -c -o $(@D)/section.o fuzz/section.c
	$(CC) $(FAULTS_FLAGS) -DLLVMFuzzerTestOneInput=walk_input -c -o $(@D)/walk.o fuzz/walk.c
	$(CC) $(FAULTS_FLAGS) -o $@ test/faults/faults.c $(@D)/section.o $(@D)/walk.o $(FAULTS_SHARED) sfu.c

$(FAULTS_BUILD)/bugs: test/faults/bugs.c $(FAULTS_DEPS) sfu.c
	@mkdir -p $(@D)
	$(CC) $(FAULTS_FLAGS) -o $@ test/faults/bugs.c $(FAULTS_SHARED) sfu.c

## [record] seeds: makes test/faults/seeds/*.bin anew, with the assemblers
.PHONY: seeds
seeds:
	test/faults/seeds/make.sh

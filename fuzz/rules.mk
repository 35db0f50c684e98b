# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

FUZZ_HARNESSES := section walk differ
FUZZ_BUILD := build/fuzz
FUZZ_SHARED := fuzz/harness.c fuzz/table.c
FUZZ_HEADERS := sfu.h fuzz/harness.h fuzz/table.h
FUZZ_FLAGS := -std=c99 $(WARN) -I. -Ifuzz -O2 -g

# Every input of the corpus, and each of its truncations, under both sanitizers.
CHECK += replay
.PHONY: suite-replay
suite-replay: $(FUZZ_HARNESSES:%=$(FUZZ_BUILD)/replay-%)
	@test/run.sh replay sh -ec 'for h in $(FUZZ_HARNESSES); do $(FUZZ_BUILD)/replay-$$h $$h fuzz/corpus/$$h/*; done'

$(FUZZ_BUILD)/replay-%: fuzz/%.c fuzz/replay.c $(FUZZ_SHARED) $(FUZZ_HEADERS) sfu.c
	@mkdir -p $(@D)
	$(CC) $(FUZZ_FLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
	    $< fuzz/replay.c $(FUZZ_SHARED) sfu.c

## fuzz TIME=seconds: each fuzzer for so long; libFuzzer and AFL++, AddressSanitizer and UndefinedBehaviorSanitizer
TIME ?= 60
JOBS ?= 2
.PHONY: fuzz fuzz-build
fuzz: fuzz-build
	fuzz/fuzz.sh $(TIME) $(JOBS)

fuzz-build: fuzz/rules.mk
	@test/toolchain/install.sh fuzz
	@$(MAKE) --no-print-directory $(foreach kind,libfuzzer fast afl,$(FUZZ_HARNESSES:%=$(FUZZ_BUILD)/%-$(kind)))

# Only the core guides the fuzzers. Without comparisons traced they are several times as fast, and the harnesses
# repair and generate sections, which tracing would have to guess.
FUZZ_GUIDE := -fsanitize-coverage=inline-8bit-counters,pc-table

FUZZ_libfuzzer := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_fast := -fsanitize=undefined -fsanitize-trap=all

define FUZZ_RULES
$(FUZZ_BUILD)/$(1)-%.o: fuzz/%.c $(FUZZ_HEADERS)
	@mkdir -p $$(@D)
	clang $(FUZZ_FLAGS) $(FUZZ_$(1)) -c -o $$@ $$<

$(FUZZ_BUILD)/$(1)-sfu.o: sfu.c sfu.h
	@mkdir -p $$(@D)
	clang $(FUZZ_FLAGS) $(FUZZ_GUIDE) $(FUZZ_$(1)) -c -o $$@ $$<

$(FUZZ_BUILD)/%-$(1): $(FUZZ_BUILD)/$(1)-%.o $(FUZZ_BUILD)/$(1)-harness.o $(FUZZ_BUILD)/$(1)-table.o \
    $(FUZZ_BUILD)/$(1)-sfu.o
	clang -fsanitize=fuzzer $(FUZZ_$(1)) -o $$@ $$^
endef
$(eval $(call FUZZ_RULES,libfuzzer))
$(eval $(call FUZZ_RULES,fast))
.SECONDARY: $(foreach kind,libfuzzer fast,$(foreach c,$(FUZZ_HARNESSES) harness table sfu,$(FUZZ_BUILD)/$(kind)-$(c).o))

$(FUZZ_BUILD)/%-afl: fuzz/%.c fuzz/afl.c $(FUZZ_SHARED) $(FUZZ_HEADERS) sfu.c
	@mkdir -p $(@D)
	AFL_QUIET=1 AFL_USE_ASAN=1 AFL_USE_UBSAN=1 afl-clang-fast -std=gnu99 -I. -Ifuzz -O2 -g -o $@ \
	    $< fuzz/afl.c $(FUZZ_SHARED) sfu.c

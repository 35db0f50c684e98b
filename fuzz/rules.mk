# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

FUZZ_HARNESSES := section walk differ fast image dump depot
FUZZ_BUILD := build/fuzz
FUZZ_SHARED := fuzz/harness.c test/lib/table.c
FUZZ_REPLAYED := fuzz/main.c test/lib/check.c $(FUZZ_SHARED)
FUZZ_SUBJECTS := sfu.c port/fast/sfu_fast.c
FUZZ_HEADERS := sfu.h port/fast/sfu_fast.h port/fast/test/core_trace.h fuzz/harness.h \
    $(wildcard test/lib/*.h)
FUZZ_FLAGS := -std=c99 $(WARN) -I. -Ifuzz -Iport/fast -O2 -g

# The corpus has a line for each input. Programs want a file.
FUZZ_SEEDS := $(FUZZ_HARNESSES:%=$(FUZZ_BUILD)/seeds/%)
$(FUZZ_SEEDS): $(FUZZ_BUILD)/seeds/%: fuzz/corpus/%.txt fuzz/corpus.py
	@test/tools/toolchain/install.sh python
	@fuzz/corpus.py unpack $< $@.new
	@rm -rf $@
	@mv $@.new $@

# Every input of the corpus, and each of its truncations, under both sanitizers. It takes longer to compile than to run:
# hence -O1, and one object of each file for all harnesses. Those of the tools are those of port/host/test.
FUZZ_REPLAY := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all
fuzz_objects = $(patsubst %.c,$(FUZZ_BUILD)/replay/%.o,$(1))
CHECK += replay
.PHONY: suite-replay
suite-replay: | tools-needed
suite-replay: $(FUZZ_HARNESSES:%=$(FUZZ_BUILD)/replay-%) $(FUZZ_SEEDS)
	@test/run.sh replay sh -ec \
	    'for h in $(FUZZ_HARNESSES); do $(FUZZ_BUILD)/replay-$$h $$h $(FUZZ_BUILD)/seeds/$$h/*; done'

$(FUZZ_BUILD)/replay/%.o: %.c $(FUZZ_HEADERS) $(wildcard port/host/*/*.h)
	@mkdir -p $(@D)
	$(CC) $(FUZZ_FLAGS) -D_GNU_SOURCE -Iport/host $(FUZZ_REPLAY) -c $< -o $@

$(FUZZ_BUILD)/replay-%: $(FUZZ_BUILD)/replay/fuzz/%.o $(call fuzz_objects,$(FUZZ_REPLAYED) $(FUZZ_SUBJECTS))
	$(CC) $(FUZZ_REPLAY) $^ -o $@

# What the tools of port/host read that anybody may have written: images, logs and cores.
FUZZ_TOOLS := image dump depot
FUZZ_TOOLS_FLAGS := $(FUZZ_FLAGS) -D_GNU_SOURCE -Iport/host
FUZZ_TOOLS_LIBS = -ldw -lelf $(TOOLS_ZYDIS)
FUZZ_TOOLS_HEADERS := $(FUZZ_HEADERS) $(wildcard port/host/*/*.h)
FUZZ_TOOLS_image := $(filter-out sfu.c,$(TOOLS_LIBRARY)) $(TOOLS_LINT_PARTS) $(TOOLS_CODE) \
    $(TOOLS_ENCODER) $(TOOLS_WALKER)
FUZZ_TOOLS_dump := $(TOOLS_TRACE_PARSERS) $(TOOLS_IMAGE) port/host/common/map.c
FUZZ_TOOLS_depot := $(FUZZ_TOOLS_dump)

define FUZZ_TOOL
$(FUZZ_BUILD)/replay-$(1): $(call fuzz_objects,fuzz/$(1).c $(FUZZ_REPLAYED) sfu.c) \
    $(patsubst %.c,build/host/sanitized/%.o,$(FUZZ_TOOLS_$(1))) | tools-needed
	$(CC) $(FUZZ_REPLAY) $$^ $$(FUZZ_TOOLS_LIBS) -o $$@

$(FUZZ_BUILD)/$(1)-afl: fuzz/$(1).c fuzz/main.c $(FUZZ_SHARED) $(FUZZ_TOOLS_HEADERS) sfu.c $(FUZZ_TOOLS_$(1))
	@mkdir -p $$(@D)
	AFL_QUIET=1 AFL_USE_ASAN=1 AFL_USE_UBSAN=1 afl-clang-fast -std=gnu99 -D_GNU_SOURCE -I. -Ifuzz -Iport/host -O2 -g \
	    $$(TOOLS_CODE_FLAGS) -o $$@ $$< fuzz/main.c $(FUZZ_SHARED) sfu.c $(FUZZ_TOOLS_$(1)) $$(FUZZ_TOOLS_LIBS)
endef
$(foreach tool,$(FUZZ_TOOLS),$(eval $(call FUZZ_TOOL,$(tool))))

# The fast walker's inputs mean frames of the machine that they run on.
CHECK_aarch64 += replay-aarch64
CHECK_s390x += replay-s390x
.PHONY: suite-replay-aarch64 suite-replay-s390x
suite-replay-aarch64 suite-replay-s390x: suite-replay-%: build/fuzz-%/replay-fast $(FUZZ_BUILD)/seeds/fast
	@test/run.sh replay-$* sh -ec 'qemu-$* $< fast $(FUZZ_BUILD)/seeds/fast/*'

build/fuzz-%/replay-fast: fuzz/fast.c $(FUZZ_REPLAYED) $(FUZZ_HEADERS) $(FUZZ_SUBJECTS)
	@test/tools/toolchain/install.sh cross
	@mkdir -p $(@D)
	$*-linux-gnu-gcc $(FUZZ_FLAGS) -static -o $@ $< $(FUZZ_REPLAYED) $(FUZZ_SUBJECTS)

## [campaigns] fuzz TIME=seconds: each fuzzer for so long; libFuzzer and AFL++, with sanitizers
TIME ?= 60
JOBS ?= 2
.PHONY: fuzz fuzz-build
fuzz: fuzz-build
	fuzz/fuzz.sh $(TIME) $(JOBS) $(FUZZ_HARNESSES)

fuzz-build: fuzz/rules.mk $(FUZZ_SEEDS)
	@test/tools/toolchain/install.sh fuzz
	@$(MAKE) --no-print-directory $(foreach kind,libfuzzer fast afl,$(FUZZ_HARNESSES:%=$(FUZZ_BUILD)/%-$(kind)))

# Only the core, the fast walker and the tools guide the fuzzers. Without comparisons traced they are several times as
# fast, and the harnesses repair and generate sections, which tracing would have to guess.
FUZZ_GUIDE := -fsanitize-coverage=inline-8bit-counters,pc-table

FUZZ_libfuzzer := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_fast := -fsanitize=undefined -fsanitize-trap=all

define FUZZ_RULES
$(FUZZ_BUILD)/$(1)-table.o: test/lib/table.c $(FUZZ_HEADERS)
	@mkdir -p $$(@D)
	clang $(FUZZ_FLAGS) $(FUZZ_$(1)) -c -o $$@ $$<

$(FUZZ_BUILD)/$(1)-%.o: fuzz/%.c $(FUZZ_HEADERS)
	@mkdir -p $$(@D)
	clang $(FUZZ_FLAGS) $(FUZZ_$(1)) -c -o $$@ $$<

$(FUZZ_BUILD)/$(1)-sfu.o: sfu.c sfu.h
	@mkdir -p $$(@D)
	clang $(FUZZ_FLAGS) $(FUZZ_GUIDE) $(FUZZ_$(1)) -c -o $$@ $$<

$(FUZZ_BUILD)/$(1)-sfu_fast.o: port/fast/sfu_fast.c port/fast/sfu_fast.h sfu.h
	@mkdir -p $$(@D)
	clang $(FUZZ_FLAGS) $(FUZZ_GUIDE) $(FUZZ_$(1)) -c -o $$@ $$<

$(FUZZ_BUILD)/%-$(1): $(FUZZ_BUILD)/$(1)-%.o $(FUZZ_BUILD)/$(1)-harness.o $(FUZZ_BUILD)/$(1)-table.o \
    $(FUZZ_BUILD)/$(1)-sfu.o $(FUZZ_BUILD)/$(1)-sfu_fast.o
	clang -fsanitize=fuzzer $(FUZZ_$(1)) -o $$@ $$^

$(FUZZ_BUILD)/$(1)-tools/%.o: port/host/%.c $(FUZZ_TOOLS_HEADERS)
	@mkdir -p $$(@D)
	clang $(FUZZ_TOOLS_FLAGS) $(FUZZ_GUIDE) $(FUZZ_$(1)) -c -o $$@ $$<

$(FUZZ_TOOLS:%=$(FUZZ_BUILD)/$(1)-%.o): $(FUZZ_BUILD)/$(1)-%.o: fuzz/%.c $(FUZZ_TOOLS_HEADERS)
	@mkdir -p $$(@D)
	clang $(FUZZ_TOOLS_FLAGS) $(FUZZ_$(1)) -c -o $$@ $$<

$(foreach tool,$(FUZZ_TOOLS),$(eval $(FUZZ_BUILD)/$(tool)-$(1): \
    $(patsubst port/fast/%.c,$(FUZZ_BUILD)/$(1)-%.o,$(FUZZ_TOOLS_$(tool):port/host/%.c=$(FUZZ_BUILD)/$(1)-tools/%.o))))
$(FUZZ_TOOLS:%=$(FUZZ_BUILD)/%-$(1)): $(FUZZ_BUILD)/%-$(1): $(FUZZ_BUILD)/$(1)-%.o $(FUZZ_BUILD)/$(1)-harness.o \
    $(FUZZ_BUILD)/$(1)-table.o $(FUZZ_BUILD)/$(1)-sfu.o
	clang -fsanitize=fuzzer $(FUZZ_$(1)) -o $$@ $$^ -ldw -lelf
endef
$(eval $(call FUZZ_RULES,libfuzzer))
$(eval $(call FUZZ_RULES,fast))
.SECONDARY: $(call fuzz_objects,$(FUZZ_REPLAYED) $(FUZZ_HARNESSES:%=fuzz/%.c) $(FUZZ_SUBJECTS)) \
    $(foreach kind,libfuzzer fast,\
    $(foreach c,$(FUZZ_HARNESSES) harness table sfu sfu_fast,$(FUZZ_BUILD)/$(kind)-$(c).o))

$(FUZZ_BUILD)/%-afl: fuzz/%.c fuzz/main.c $(FUZZ_SHARED) $(FUZZ_HEADERS) $(FUZZ_SUBJECTS)
	@mkdir -p $(@D)
	AFL_QUIET=1 AFL_USE_ASAN=1 AFL_USE_UBSAN=1 afl-clang-fast -std=gnu99 -I. -Ifuzz -Iport/fast -O2 -g -o $@ \
	    $< fuzz/main.c $(FUZZ_SHARED) $(FUZZ_SUBJECTS)


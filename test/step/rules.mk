# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# STEPS: instructions per ABI, at least. The small programs are stepped as a whole, the real ones in windows.
# The last of those takes what the others leave: about 60 million can be had.
# STEP_NATIVE=1: step x86_64 by ptrace instead of QEMU, which is faster.

STEPS ?= 210000
STEP_NATIVE ?=

STEP := build/step
STEP_HARNESS := $(addprefix test/step/,step.c cpu.c rsp.c native.c image.c shadow.c trace.c faults.c)
STEP_PARTS := $(wildcard test/step/programs/*) test/step/build.sh
STEP_LEVELS := O0 O1 O2 O3 Os

STEP_FLAGS_x86_64 := O2-cf O2-leaf O1-noplt O2-clash O2-gen
STEP_FLAGS_aarch64 := O2-nofp O2-clash O2-pac O1-pacb O2-gen
STEP_FLAGS_aarch64_be := $(STEP_FLAGS_aarch64)
STEP_FLAGS_s390x := O2-chain O1-fp O2-clash O2-z13 O2-gen

# gcc 16 takes part where the toolchain has it.
step_cpu = $(patsubst %_be,%,$(1))
step_compilers = gcc12 clang $(if $(wildcard $(TC)/gcc16/$(step_cpu)/gcc),gcc16)
step_patterns = $(foreach c,$(step_compilers),$(STEP_LEVELS:%=$(c)-%)) $(STEP_FLAGS_$(1):%=gcc12-%)
step_signals = gcc12-O2-signals gcc12-O0-signals clang-O1-signals
# sqlite takes longest to compile: make check has it in either byte order, make step on each ABI.
STEP_LONG := $(filter command,$(firstword $(origin STEPS)))
step_sqlite = $(or $(LONG),$(STEP_LONG),$(filter step,$(MAKECMDGOALS)),$(filter x86_64 s390x,$(1)))
step_programs = lua $(if $(step_sqlite),sqlite) zlib
step_real = $(step_programs:%=%-gcc12-O2)

step_small = $(foreach p,$(step_patterns),$(STEP)/$(1)/patterns-$(p)) $(STEP)/$(1)/goto-gcc12-O1
step_signalled = $(foreach p,$(step_signals),$(STEP)/$(1)/patterns-$(p))
step_large = $(foreach p,$(step_real),$(STEP)/$(1)/$(p))
step_set = $(foreach p,$(2),$(1)=$(p))
step_arguments = $(call step_set,patterns,$(step_small)) $(call step_set,signals,$(step_signalled)) \
	$(foreach p,$(step_programs),$(call step_set,$(p):1,$(filter %/$(p)-gcc12-O2,$(step_large))))
step_emulator = $(if $(and $(STEP_NATIVE),$(filter x86_64,$(1))),,-q qemu-$(1))

$(STEP)/step: $(STEP_HARNESS) $(wildcard test/step/*.h) sfu.c sfu.h $(wildcard port/fast/sfu_fast.*) | $(TC)
	@mkdir -p $(@D)
	$(CC) -O2 -g -std=c99 -D_GNU_SOURCE $(WARN) -I. -Iport/fast -o $@ $(STEP_HARNESS) sfu.c port/fast/sfu_fast.c -lelf

define step_rules
CHECK_$(1) += step-$(1)

$(sort $(step_small) $(step_signalled) $(step_large)): $(STEP_PARTS) | $(TC)
	test/step/build.sh $$@

$(STEP)/$(1)/patterns-gcc12-O2-gen: build/tools/sfu-gen

.PHONY: suite-step-$(1)
suite-step-$(1): $(STEP)/step $(step_small) $(step_signalled) $(step_large)
	@test/run.sh step-$(1) $(STEP)/step $(step_emulator) -n $(STEPS) -f test/step/known-faults -s \
		$(1) $(step_arguments)
endef

$(foreach abi,$(ABIS),$(eval $(call step_rules,$(abi))))

.PHONY: step step-mutants suite-step-mutants

## step: walk the stack at every instruction, on every ABI; STEPS=20000000 for a long run
step: $(ABIS:%=suite-step-%)
	@test/step/report.sh $(ABIS)

## step-mutants: break sfu on purpose, in ways that the stepping has to notice
step-mutants: suite-step-mutants
	@! grep '^not ok' build/results/step-mutants

suite-step-mutants: $(STEP)/step $(foreach abi,$(ABIS),$(STEP)/$(abi)/patterns-gcc12-O2 \
	$(STEP)/$(abi)/patterns-gcc12-O0 $(STEP)/$(abi)/patterns-gcc12-O2-signals)
suite-step-mutants: $(STEP)/aarch64/patterns-gcc12-O2-pac
	@test/run.sh step-mutants test/step/mutants.sh

# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# One runner for all lists; each list says which test has to notice its mutants.
# N: how many generated ones; 0: all.

MUTANTS := python3 test/mutants/mutants.py test/mutants

.PHONY: mutants abi-mutants asm-mutants prove-mutants \
    fast-mutants depot-mutants step-mutants step-kernel-mutants programs-mutants
## [campaigns] mutants: small changes of sfu.c by rule, which functional tests have to notice; N=0: all of them
mutants: build/faults/seeds
	@test/tools/toolchain/install.sh check
	@test/run.sh mutants $(MUTANTS)/core $(or $(N),400)

## [campaigns] abi-mutants: each number that the core knows of RISC-V and 32-bit ARM, broken
abi-mutants:
	@test/tools/toolchain/install.sh check
	@test/run.sh abi-mutants $(MUTANTS)/abis

## [campaigns] asm-mutants: each thing that the macros for assembly do on RISC-V, broken
asm-mutants:
	@test/tools/toolchain/install.sh check
	@test/run.sh asm-mutants $(MUTANTS)/asm

## [campaigns] kernel-mutants, cortexm-mutants, print-mutants: N changes of that port by rule
.PHONY: kernel-mutants cortexm-mutants print-mutants
kernel-mutants print-mutants: %-mutants:
	@test/tools/toolchain/install.sh core python
	@test/run.sh $@ $(MUTANTS)/$* $(or $(N),200)

cortexm-mutants: export FLAGS = $(CORTEXM_FLAGS)
cortexm-mutants: export M4 = $(CORTEXM_CPU_mps2-an386)
cortexm-mutants: export M55 = $(CORTEXM_CPU_mps3-an547)
cortexm-mutants: $(CORTEXM)/mps2-an386/test.elf $(CORTEXM)/mps3-an547/test.elf
	@test/tools/toolchain/install.sh core python bare
	@test/run.sh $@ $(MUTANTS)/cortexm $(or $(N),100)

## [campaigns] host-mutants: N changes by rule of what makes tables in port/host; T=verdict.c: of that file
.PHONY: host-mutants
host-mutants: export FLAGS = $(TOOLS_FLAGS) $(TOOLS_CODE_FLAGS) -Iport/host/code -Iport/host/tables
host-mutants: export LIBRARIES = $(TOOLS_LINT_LIBRARIES)
host-mutants: export GEN = $(call tool_objects,$(TOOLS_GEN))
host-mutants: export LINT = $(call tool_objects,$(TOOLS_LINT))
host-mutants: export READS = $(call tool_objects,port/host/test/reads.c $(TOOLS_CODE) $(TOOLS_LIBRARY))
host-mutants: export KEPT = $(CURDIR)/build/mutants/kept
host-mutants: tools build/host/reads.objects build/host/rows | $(TC)
	@test/tools/toolchain/install.sh check
	@test/run.sh $@ $(MUTANTS)/host $(or $(N),100)

## [campaigns] trace-mutants: N changes by rule of what sfu-trace makes of depots
.PHONY: trace-mutants
trace-mutants: export FLAGS = $(TOOLS_FLAGS) $(TOOLS_CODE_FLAGS) -Iport/host/trace -Iport/host/log
trace-mutants: export LIBRARIES = $(TOOLS_ZYDIS) $(TOOLS_LIBDW)
trace-mutants: export TRACE = $(call tool_objects,$(TOOLS_TRACE))
trace-mutants: tools build/host/sfu-trace-sanitized $(BARE_CPUS:%=build/bare/%/kernel.elf) | $(TC)
	@test/tools/toolchain/install.sh check
	@test/run.sh $@ $(MUTANTS)/trace $(or $(N),50)

## [campaigns] repeat-mutants: each change by rule of the trace that is remembered
.PHONY: repeat-mutants
repeat-mutants:
	@test/tools/toolchain/install.sh core
	@test/run.sh $@ $(MUTANTS)/repeat $(or $(N),0)

## [campaigns] fast-mutants: chosen ways to break the fast walker, and N of those by rule
## [campaigns] prove-mutants, depot-mutants: chosen ways to break the core, the depot
fast-mutants prove-mutants depot-mutants: %-mutants: | $(TC)
	@test/tools/toolchain/install.sh check
	@test/run.sh $@ $(MUTANTS)/$* $(or $(N),200)

## [campaigns] step-mutants, step-kernel-mutants: the same for stepping, of programs and in kernels
step-mutants: export HARNESS = $(STEP_HARNESS)
step-mutants: $(foreach abi,x86_64 aarch64 s390x,$(addprefix build/step/$(abi)/patterns-gcc12-,O2 O0 O2-signals)) \
    $(addprefix build/step/aarch64/patterns-,gcc12-O2-pac clang-O2-pac) build/step/x86_64/patterns-clang-Os
	@test/run.sh $@ $(MUTANTS)/step

step-kernel-mutants: build/faults/seeds
	@test/tools/toolchain/install.sh bare
	@test/run.sh $@ $(MUTANTS)/step-kernel

## [campaigns] programs-mutants: the same for programs that walk themselves
programs-mutants: | $(TC)
	@test/run.sh $@ $(MUTANTS)/programs

# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The rooms of README.md: their suites are one for each ABI.

# ---- decoders: real programs, and edge cases: at every PC sfu's row is the one that objdump prints ----

# LONG: sqlite3 for each ABI and at each level; it takes a minute each time.
DECODERS := build/decoders
DECODERS_x86_64 := x86_64-O2 x86_64-Os x86_64-O3
DECODERS_aarch64 := aarch64-O2 aarch64-Os
DECODERS_aarch64_be := aarch64_be-O2 aarch64_be-Os
DECODERS_s390x := s390x-O2 s390x-Os

# build.sh takes the versions of binutils from here; $(TC) comes first because it installs the compilers.
DECODERS_IMAGES := $(foreach abi,$(ABIS),$(DECODERS_$(abi):%=$(DECODERS)/%/done))

$(DECODERS_IMAGES): $(DECODERS)/%/done: test/truth/decoders/build.sh test/truth/decoders/edges.c \
    test/tools/toolchain/sources.sh | $(TC)
	@rm -rf $(@D) && mkdir -p $(@D)
	@test/truth/decoders/build.sh $(subst -, ,$*) $(@D) >$(@D)/log 2>&1 || { cat $(@D)/log; false; }
	@touch $@

$(DECODERS)/compare: test/truth/decoders/compare.c test/truth/decoders/loaded.c test/truth/decoders/loaded.h \
    $(TOOLS_IMAGE) $(wildcard port/host/common/*.h) test/lib/rows.h test/lib/check.c test/lib/check.h \
    sfu.c sfu.h | $(TC)
	@mkdir -p $(@D)
	@$(CC) -std=c99 -D_GNU_SOURCE $(WARN) -O2 -g -I. $(filter %.c,$^) -lelf -o $@

define DECODERS_SUITE
CHECK_$(1) += decoders-$(1)
.PHONY: suite-decoders-$(1)
suite-decoders-$(1): $(DECODERS)/compare $(DECODERS_$(1):%=$(DECODERS)/%/done)
	@test/run.sh decoders-$(1) test/truth/decoders/check.sh $(1) $(DECODERS)
endef
$(foreach abi,$(ABIS),$(eval $(call DECODERS_SUITE,$(abi))))

## [campaigns] decoders: every row of real programs beside objdump's, with sqlite3 everywhere
.PHONY: decoders
decoders:
	@$(MAKE) --no-print-directory LONG=1 DECODERS=build/decoders-all $(ABIS:%=suite-decoders-%)

# ---- programs that walk themselves ----

$(foreach abi,$(ABIS),$(eval CHECK_$(abi) += programs-$(abi)))

.PHONY: $(ABIS:%=suite-programs-%)

$(ABIS:%=suite-programs-%): suite-programs-%: | $(TC)
	@test/run.sh programs-$* test/truth/programs/run.sh $*

CHECK += programs-riscv64 programs-riscv32
.PHONY: suite-programs-riscv64 suite-programs-riscv32
suite-programs-riscv64 suite-programs-riscv32: suite-programs-%: build/tools/sfu-gen
	@test/tools/toolchain/install.sh core riscv tools
	@test/run.sh programs-$* test/truth/programs/run.sh $*

CHECK += programs-i386
.PHONY: suite-programs-i386
suite-programs-i386: build/tools/sfu-gen | $(TC)
	@test/tools/toolchain/install.sh core m32 clang tools
	@test/run.sh programs-i386 test/truth/programs/run.sh i386

# ---- step: programs, one instruction at a time ----

# What is stepped is data: programs, as test/truth/step/build.sh names them, and who steps each of them. Then come three
# rules: one for images, one for suites of programs, one for suites of kernels.

# STEPS: instructions per ABI, at least. The small programs are stepped as a whole, the real ones in windows.
# The last of those takes what the others leave: about 60 million can be had.

STEPS ?= 210000

STEP := build/step
STEP_HARNESS := $(addprefix test/truth/step/,step.c compare.c cpu.c rsp.c binary.c lookup.c shadow.c trace.c faults.c) \
    $(addprefix port/host/common/,pe.c pe_unwind.c pe_dwarf.c pe_aarch64.c)
STEP_PARTS := $(wildcard test/truth/step/programs/* test/lib/*.h) test/truth/step/build.sh
STEP_LEVELS := O0 O1 O2 O3 Os
STEP_KNOWN := -f test/truth/FAULTS.md
# STEPS is from the command line: a long run.
STEP_LONG := $(filter command,$(firstword $(origin STEPS)))

# step_patterns CPU, NAMES: small programs. step_set SET, FILES: as the harness takes them.
step_patterns = $(2:%=$(STEP)/$(1)/patterns-%)
step_set = $(foreach p,$(2),$(1)=$(p))

# -- programs of the assembler's tables: each compiler at each level, and with the flags that change frames --

STEP_FLAGS_x86_64 := O2-cf O2-leaf O1-noplt O2-clash O2-gen O2-small
STEP_FLAGS_aarch64 := O2-nofp O2-clash O2-pac O1-pacb O2-gen O2-small
STEP_FLAGS_aarch64_be := $(STEP_FLAGS_aarch64)
STEP_FLAGS_s390x := O2-chain O1-fp O2-clash O2-z13 O2-gen O2-small
STEP_CLANG_x86_64 := O2-fp O2-clash
STEP_CLANG_aarch64 := O2-pac O0-pac O1-pacb
STEP_CLANG_aarch64_be := $(STEP_CLANG_aarch64)
STEP_CLANG_s390x := O2-chain O2-clash
step_small = $(call step_patterns,$(1),$(foreach c,gcc12 gcc16 clang,$(STEP_LEVELS:%=$(c)-%)) \
    $(STEP_FLAGS_$(1):%=gcc12-%) $(STEP_CLANG_$(1):%=clang-%)) $(STEP)/$(1)/goto-gcc12-O1 $(STEP)/$(1)/goto-gcc12-O1-pie
step_signalled = $(call step_patterns,$(1),gcc12-O2-signals gcc12-O0-signals clang-O1-signals)
# sqlite takes longest to compile: make check-all has it on one ABI, make step on each.
step_sqlite = $(or $(LONG),$(STEP_LONG),$(filter step,$(MAKECMDGOALS)),$(filter x86_64,$(1)))
step_programs = lua $(if $(step_sqlite),sqlite) zlib
step_every = $(call step_set,patterns,$(step_small)) $(call step_set,signals,$(step_signalled)) \
    $(foreach p,$(step_programs),$(p):1=$(STEP)/$(1)/$(p)-gcc12-O2)

# -- tables of sfu-gen, of clang's CFI: not one mistake is known in them --

# clang 16 has RA in a slot below SP at autiasp. At -Oz, and in .debug_frame, nothing of its epilogues is in the CFI
# (FAULTS.md: clang-oz), gcc's at -Oz does not know what `push $1; pop %rdi` does to SP (FAULTS.md: gcc-oz), and in each
# realigned function FP's rule is left standing (FAULTS.md: gcc-drap): the rows are those of the machine code.
STEP_MADE_x86_64 := clang-Oz-gen gcc12-Oz-gen gcc12-O2-gen gcc16-O2-gen gcc16-Os-gen
STEP_MADE_aarch64 := $(addprefix clang-,O1-pacgen O2-pacgen O1-slhgen Oz-gen Oz-pacgen O2-debuggen)
STEP_MADE_aarch64_be := $(STEP_MADE_aarch64)
step_made = $(call step_patterns,$(1),clang-O0-gen clang-O2-gen clang-O2-small $(STEP_MADE_$(1)))

# -- tables of the machine code alone, whose CFI is removed: at no instruction is a walk wrong, and few come to code
# without rows. Those are functions that move SP by several numbers that are not known, and come back by a register that
# their callee leaves alone against the ABI (gcc's -fipa-ra), and hand-written ones that leave by another way than they
# came. These are samples: `make step-code-grid` has each level with each option. thunkgen has CFI, which is wrong where
# gcc jumps by returns (FAULTS.md: gcc-thunk-goto) --

STEP_CODE_x86_64 := $(foreach c,gcc12 clang,$(foreach l,O0 O2 Oz,$(c)-$(l)-code)) gcc12-O2-codecet gcc12-O2-codelto \
    gcc12-O2-codethunk clang-O2-codethunk gcc12-O2-codeclash clang-O2-codereturn clang-O1-codelto gcc12-O2-thunkgen
STEP_CODE_aarch64 := $(foreach c,gcc12 clang,$(foreach l,O0 O2 Oz,$(c)-$(l)-code)) clang-Os-code gcc12-O2-codepac \
    clang-O2-codepac clang-Oz-codepac gcc12-O2-codelto gcc12-O2-codeclash clang-Oz-codesls clang-Oz-codelto \
    clang-O2-codeslh
STEP_CODE_s390x := $(foreach c,gcc12 clang,$(foreach l,O0 O2 Oz,$(c)-$(l)-code)) gcc12-O2-codelto gcc12-O2-codeclash \
    gcc12-O2-codereturn
STEP_CODE_riscv64 := $(foreach l,O0 O2 Os,gcc12-$(l)-code) $(foreach l,O0 O2 Oz,clang-$(l)-code) gcc12-O2-codelto \
    gcc12-O2-codelong gcc12-Os-codesave gcc12-O2-codeclash
STEP_CODE_riscv32 := $(STEP_CODE_riscv64)
STEP_CODE_arms := $(foreach c,gcc12 clang,$(foreach l,O0 O2 Os,$(c)-$(l)-code)) clang-Oz-code gcc12-O2-codelto \
    gcc12-O1-codefp clang-O1-codefp gcc12-O2-codefpu clang-O2-codefpu
STEP_CODE_arm := $(STEP_CODE_arms) gcc12-O2-codea15
STEP_CODE_thumb := $(STEP_CODE_arms) $(foreach c,gcc12 clang,$(c)-O0-codem0 $(c)-O2-codem0 $(c)-Os-codem0)
# Large switches in loops: all that is behind a table of jumps has rows.
STEP_ENGINE_x86_64 := gcc12-O0-codepic gcc16-Os-codepic clang-O0-code clang-Os-codepic
STEP_ENGINE_aarch64 := gcc12-Os-code clang-Oz-codepic
STEP_ENGINE_s390x := gcc12-Os-codepic clang-O2-codepic
STEP_ENGINE_riscv64 := gcc12-O2-codepic
STEP_ENGINE_riscv32 := clang-Oz-code
STEP_ENGINE_arm := clang-O2-code
STEP_ENGINE_thumb := clang-Os-codem0
step_code = $(call step_patterns,$(1),$(STEP_CODE_$(1))) $(STEP_ENGINE_$(1):%=$(STEP)/$(1)/engine-%)
# Walks of a thousand that may come to code without rows: of a program that is made of such code, as it is. RISC-V, with
# -msave-restore: all functions end in __riscv_restore_0, and one of them is entered by hand-written code that has put
# another RA in its place (step_enter), so that nobody knows RA there.
STEP_GAPS_x86_64 := 140
STEP_GAPS_aarch64 := 160
STEP_GAPS_s390x := 20
STEP_GAPS_riscv64 := 80
STEP_GAPS_riscv32 := 100
# libgcc's division jumps into unrolled code, to an address that it computes: the code there has no rows.
STEP_GAPS_arm := 70
STEP_GAPS_thumb := 30

# -- RISC-V: sfu-gen's tables in everything. gcc12 and clang at each level, without compressed instructions, with frame
# pointers, with prologues that call, with a shadow call stack; code that the linker shortens, and code that it does
# not --

STEP_RISCV := $(foreach c,gcc12 clang,$(STEP_LEVELS:%=$(c)-%)) gcc12-O2-fp gcc12-O1-long gcc12-O2-save gcc12-Os-save \
    gcc12-O2-norelax gcc12-O2-small clang-Oz clang-O1-fp clang-O2-long clang-Os-small clang-O2-scs
step_riscv = $(call step_set,patterns,$(call step_patterns,$(1),$(STEP_RISCV)) $(STEP)/$(1)/goto-gcc12-O1) \
    $(call step_set,signals,$(step_signalled)) $(call step_set,real:1,$(STEP)/$(1)/lua-gcc12-O2 \
    $(STEP)/$(1)/zlib-clang-O2)

# Each compiler in each way: gcc 12 and 16, clang 16 and the newest. Large programs are stepped in windows, up to a
# number of instructions.
STEP_RISCV_LEVELS := $(STEP_LEVELS) Oz
STEP_RISCV_EACH := $(foreach l,$(STEP_RISCV_LEVELS),$(l) $(addprefix $(l)-,fp long save norelax small))
step_riscv_all = $(call step_set,patterns,$(call step_patterns,$(1),\
    $(foreach c,gcc12 gcc16 clang newest,$(STEP_RISCV_EACH:%=$(c)-%)) \
    $(foreach c,clang newest,$(STEP_RISCV_LEVELS:%=$(c)-%-scs))) $(STEP)/$(1)/goto-gcc12-O1)
step_riscv_all_large = $(call step_set,real:1,\
    $(foreach c,gcc16 newest,$(STEP)/$(1)/lua-$(c)-O2 $(STEP)/$(1)/zlib-$(c)-O2))

# -- 32-bit ARM, FP r11 and r7: gcc12 and clang at each level, with frame pointers, with floating-point registers; in
# A32 code, tuned for a CPU that makes pairs of stores; in T32 code, with what ARMv6-M has of it. What the CFI has wrong
# is corrected by the machine code (FAULTS.md: clang-arm-epilogue, FAULTS.md: gcc-thumb1-epilogue,
# FAULTS.md: gcc-arm-large, FAULTS.md: gcc-arm-strd) --

STEP_ARM := $(foreach c,gcc12 clang,$(STEP_LEVELS:%=$(c)-%) $(c)-O2-fp $(c)-O2-fpu) gcc12-O1-small
STEP_ARM_arm := gcc12-O2-a15 gcc12-Os-a15
STEP_ARM_thumb := $(foreach c,gcc12 clang,$(c)-O0-m0 $(c)-O2-m0 $(c)-Os-m0)

# -- i386: sfu-gen's tables in everything: gcc12 and 16 and clang at each level, with and without frame pointers, and
# with code that finds its own address by calls --

STEP_I386 := $(foreach c,gcc12 gcc16 clang,$(STEP_LEVELS:%=$(c)-%)) gcc12-Oz clang-Oz gcc12-O2-fp gcc12-O2-nofp \
    gcc12-O2-clash gcc12-O0-pic clang-O1-fp clang-O2-pic gcc12-O2-small
STEP_CODE_i386 := $(foreach c,gcc12 clang,$(foreach l,O0 O2 Oz,$(c)-$(l)-code)) gcc16-O2-code gcc12-O2-codelto \
    gcc12-O0-codepic gcc12-O2-codepic clang-O0-codepic clang-O2-codepic gcc12-O1-codefp gcc12-O1-codenofp \
    gcc12-O2-codebp clang-O2-codefp gcc12-O2-thunkgen
STEP_GAPS_i386 := 100

# -- the rules --

# The harness, and below the judge of kernels, are linked of these.
$(STEP)/own/%.o: %.c sfu.h \
    $(wildcard test/truth/step/*.h test/lib/*.h $(addprefix port/host/common/,abi.? image.?) port/fast/*.h) | $(TC)
	@mkdir -p $(@D)
	$(CC) -O2 -g -std=c99 -D_GNU_SOURCE $(WARN) -I. -Iport/fast -c $< -o $@

$(STEP)/step: $(patsubst %.c,$(STEP)/own/%.o,$(STEP_HARNESS) sfu.c port/fast/sfu_fast.c)
	$(CC) $^ -lelf -o $@

# This machine's CPU steps its own programs, QEMU those of others.
STEP_NATIVE := $(if $(filter x86_64,$(shell uname -m)),x86_64 i386)
step_by = $(if $(filter $(1),$(STEP_NATIVE)),native,qemu-$(1:thumb=arm))

# step_suite TARGET, NAME, CPU, ARGUMENTS, SETS: TARGET steps the programs of SETS. With T those whose names have it, if
# there are any: the others are not even built.
step_named = $(foreach p,$(1),$(if $(findstring $(lastword $(T)),$(p)),$(p)))
step_chosen = $(or $(if $(T),$(call step_named,$(1))),$(1))
step_files = $(foreach s,$(1),$(lastword $(subst =, ,$(s))))
define step_suite
STEP_IMAGES += $(call step_files,$(5))
.PHONY: $(1)
$(1): $(STEP)/step $(call step_files,$(call step_chosen,$(5)))
	@test/run.sh $(2) $(STEP)/step -q $(call step_by,$(3)) $(4) $(3) $(call step_chosen,$(5))
endef
# step_check NAME, CPU, ARGUMENTS, SETS: the same as a suite of make check-all.
step_check = $(if $(filter $(2),$(ABIS)),CHECK_$(2),CHECK) += $(1)-$(2)$(newline)$(call \
    step_suite,suite-$(1)-$(2),$(1)-$(2),$(2),$(3),$(4))
define newline


endef

$(foreach cpu,$(ABIS),\
    $(eval $(call step_check,step,$(cpu),-n $(STEPS) $(STEP_KNOWN) -s,$(call step_every,$(cpu)))) \
    $(eval $(call step_check,step-made,$(cpu),-n 6000 -s,$(call step_set,patterns,$(call step_made,$(cpu))))))
$(foreach cpu,x86_64 aarch64 s390x,$(eval $(call step_check,step-code,$(cpu),\
    -n 6000 -g $(STEP_GAPS_$(cpu)),$(call step_set,patterns,$(call step_code,$(cpu))))))
$(foreach cpu,riscv64 riscv32,$(eval \
    $(call step_check,step,$(cpu),-n $(if $(STEP_LONG),$(STEPS),140000) $(STEP_KNOWN) -s,$(call step_riscv,$(cpu)))))
# What is known of __riscv_save_N (FAULTS.md: gcc-riscv-save) is so by any table.
$(foreach cpu,riscv64 riscv32 arm thumb i386,$(eval $(call step_check,step-code,$(cpu),\
    -n $(if $(filter riscv%,$(cpu)),6000,1000) -g $(STEP_GAPS_$(cpu)) $(STEP_KNOWN),\
    $(call step_set,patterns,$(call step_code,$(cpu))))))
$(foreach cpu,arm thumb,$(eval $(call step_check,step,$(cpu),-n 1000 $(STEP_KNOWN) -s,\
    $(call step_set,patterns,$(call step_patterns,$(cpu),$(STEP_ARM) $(STEP_ARM_$(cpu)))))))
$(eval $(call step_check,step,i386,-n $(if $(STEP_LONG),$(STEPS),140000) $(STEP_KNOWN) -s,\
    $(call step_set,patterns,$(call step_patterns,i386,$(STEP_I386)) $(STEP)/i386/goto-gcc12-O1) \
    $(call step_set,real:1,$(STEP)/i386/zlib-gcc12-O2)))
$(foreach cpu,riscv64 riscv32,\
    $(eval $(call step_suite,step-riscv-$(cpu),step-riscv-$(cpu),$(cpu),\
        -n $(or $(STEP_LONG:%=$(STEPS)),1500000) $(STEP_KNOWN) -a -s,$(call step_riscv_all,$(cpu)))) \
    $(eval $(call step_suite,step-riscv-large-$(cpu),step-riscv-large-$(cpu),$(cpu),\
        -n $(or $(STEP_LONG:%=$(STEPS)),300000) $(STEP_KNOWN) -a,$(call step_riscv_all_large,$(cpu)))))

$(sort $(STEP_IMAGES)): $(STEP_PARTS) | $(TC)
	test/truth/step/build.sh $@
# SFrame does not have RISC-V and ARM; of the others, those whose tables sfu-gen makes say so in their names.
$(filter %-gen %-pacgen %-slhgen %-debuggen %-small \
    $(addprefix $(STEP)/,riscv64/% riscv32/% arm/% thumb/% i386/%),$(STEP_IMAGES)) \
    $(foreach cpu,x86_64 aarch64 s390x,$(call step_code,$(cpu))): build/tools/sfu-gen

## [campaigns] step-riscv: RISC-V's programs by gcc 12 and 16, clang 16 and the newest, each level with each flag
## [campaigns] step-riscv-large: lua and zlib of RISC-V, by gcc 16 and the newest clang
.PHONY: step-riscv step-riscv-large
step-riscv step-riscv-large: | $(TC)
	@test/tools/toolchain/toolchain.sh riscv chains >/dev/null
	@$(MAKE) --no-print-directory $(if $(filter %-large,$@),,step-riscv-riscv64 step-riscv-riscv32) \
	    step-riscv-large-riscv64 step-riscv-large-riscv32

.PHONY: step step-code-grid

## [campaigns] step-code-grid: programs by tables of the machine code alone: each compiler, level and option, three CPUs
step-code-grid: $(STEP)/step build/tools/sfu-gen
	@test/run.sh $@ python3 test/truth/step/grid.py $(T)

## [campaigns] step: walk the stack at every instruction, on every ABI; STEPS=20000000 for a long run
step: $(ABIS:%=suite-step-%)
	@test/truth/step/report.sh $(ABIS)

# ---- step/kernel: kernels that step themselves ----

# Beside the program: the port as port/baremetal/test builds it, the stepper, and what it shares with the harness.
STEP_KERNEL_PARTS = sfu.o $(addprefix port/print/,sfu_print.o sfu_build_id.o sfu_cycles.o sfu_record.o) \
    $(addprefix port/baremetal/,kernel.o tables.o $(1)/boot.o $(1)/machine.o) \
    $(addprefix test/truth/step/,compare.o cpu.o shadow.o lookup.o kernel/stepper.o kernel/begin.o kernel/$(1).o) \
    port/fast/sfu_fast.o
STEP_PARTS_RISCV := $(call STEP_KERNEL_PARTS,riscv)

# Instructions per machine: what the small programs leave is shared by the others. In what is made each time s390x has
# fewer: where QEMU does its events right, it is slow (kernel/s390x.c).
step_kernel_steps = $(if $(STEP_LONG),$(STEPS),$(if $(LONG),100000,$(if $(filter s390x,$(1)),20000,100000)))
# By sfu-gen's tables, without the list of known faults.
step_kernel_made = $(if $(STEP_LONG),$(STEPS),2000)
step_kernel_way = $(if $(STEP_LONG),,$(if $(filter s390x,$(1)),-w /30))

# For each CPU: kernels; those that share the instructions that are left; those with tables of sfu-gen.
STEP_KERNELS_x86_64 := $(addsuffix -kernel,patterns-gcc12-O2 patterns-gcc12-O0 patterns-gcc12-Os patterns-clang-O2) \
    patterns-gcc12-O2-kernel+fp patterns-gcc12-O2-kernel+8 patterns-gcc12-O2-kernel+8+hook \
    patterns-gcc12-O1-kernel+fp+hook patterns-gcc12-O2-kernel+fp+clash patterns-clang-O2-kernel+8 \
    patterns-clang-O2-kernel+8+fp patterns-clang-O2-kernel+fp+clash
STEP_SHARED_x86_64 := zlib-gcc12-O2-kernel+8 lua-clang-O2-kernel+8+fp $(STEP_LONG:%=sqlite-gcc12-O2-kernel+hook)
STEP_KERNELS_MADE_x86_64 := patterns-clang-O2-kernel+8+gen patterns-clang-O2-kernel+8+derive
STEP_KERNELS_aarch64 := $(addsuffix -kernel,patterns-gcc12-O2 patterns-gcc12-O0 patterns-gcc12-Os patterns-clang-O2) \
    patterns-gcc12-O2-kernel+nofp patterns-gcc12-O1-kernel+nofp+hook patterns-clang-O2-kernel+nofp \
    patterns-gcc12-O2-kernel+clash $(addprefix patterns-,gcc12-O2-kernel+pac clang-O2-kernel+pac \
    clang-O0-kernel+pac clang-Os-kernel+pac clang-O1-kernel+nofp+pac)
STEP_SHARED_aarch64 := zlib-gcc12-O2-kernel lua-gcc12-O2-kernel+hook lua-clang-O2-kernel+pac \
    $(STEP_LONG:%=sqlite-gcc12-O2-kernel+hook)
STEP_KERNELS_MADE_aarch64 := patterns-clang-O2-kernel+gen patterns-clang-O2-kernel+derive
STEP_KERNELS_s390x := $(addsuffix -kernel,patterns-gcc12-O2 patterns-clang-O2) \
    patterns-gcc12-O2-kernel+fp patterns-gcc12-O1-kernel+hook patterns-clang-O2-kernel+clash
STEP_SHARED_s390x := zlib-gcc12-O2-kernel $(addsuffix -gcc12-O2-kernel+hook,$(STEP_LONG:%=lua) $(STEP_LONG:%=sqlite))
STEP_KERNELS_MADE_s390x := $(STEP_KERNELS_MADE_aarch64)
# RISC-V: in S mode; in M mode; without compressed instructions; with prologues that call; without rows of exception
# entries.
STEP_KERNELS_riscv64 := $(addsuffix -kernel,patterns-gcc12-O2 patterns-gcc12-O0 patterns-gcc12-Os patterns-clang-O2) \
    patterns-gcc12-O2-kernel+m patterns-gcc12-O1-kernel+fp patterns-gcc12-O2-kernel+long patterns-gcc12-Os-kernel+save \
    patterns-gcc12-O1-kernel+hook
STEP_SHARED_riscv64 := zlib-gcc12-O2-kernel
STEP_KERNELS_MADE_riscv64 := patterns-gcc12-O2-kernel+derive patterns-gcc12-O2-kernel+m+derive
STEP_KERNELS_riscv32 := $(addsuffix -kernel,patterns-gcc12-O2 patterns-gcc12-Os patterns-clang-O2) \
    patterns-gcc12-O2-kernel+m patterns-gcc12-O1-kernel+fp patterns-gcc12-Os-kernel+save
STEP_SHARED_riscv32 := $(STEP_SHARED_riscv64)
STEP_KERNELS_MADE_riscv32 := $(STEP_KERNELS_MADE_riscv64)

$(STEP)/judge: $(patsubst %.c,$(STEP)/own/%.o,test/truth/step/kernel/judge.c \
    $(filter-out %/step.c %/rsp.c,$(STEP_HARNESS)) sfu.c port/fast/sfu_fast.c)
	$(CC) $^ -lelf -o $@

# step_kernel CPU, PARTS, WHAT IMAGES NEED, COMPILER
define step_kernel
$(if $(filter $(1),$(ABIS)),CHECK_$(1),CHECK) += step-kernel-$(1)
step_kernels_$(1) := $(STEP_KERNELS_$(1):%=$(STEP)/$(1)/%)
step_shared_$(1) := $(STEP_SHARED_$(1):%=$(STEP)/$(1)/%)
step_kernels_made_$(1) := $(STEP_KERNELS_MADE_$(1):%=$(STEP)/$(1)/%)
$$(step_kernels_made_$(1)): build/tools/sfu-gen
$$(step_kernels_$(1)) $$(step_shared_$(1)) $$(step_kernels_made_$(1)): $(STEP_PARTS) $(3) | $(TC)
	KERNEL_PARTS="$(2)" test/truth/step/build.sh $$@

.PHONY: suite-step-kernel-$(1)
suite-step-kernel-$(1): $(STEP)/judge $$(step_kernels_$(1)) $$(step_shared_$(1)) $$(step_kernels_made_$(1))
	@test/tools/toolchain/install.sh bare
	@test/run.sh step-kernel-$(1) sh -c '$(STEP)/judge -n $(call step_kernel_steps,$(1)) \
	    $(call step_kernel_way,$(1)) $(STEP_KNOWN) $(1) $$(step_kernels_$(1)) $$(step_shared_$(1):%=+%) && \
	    $(STEP)/judge -w :port $(STEP_KNOWN) $(1) $$(firstword $$(step_kernels_$(1))) && \
	    $(STEP)/judge -n $(call step_kernel_made,$(1)) $(1) $$(step_kernels_made_$(1))'

step-kernel-mutants: export KERNEL_PARTS_$(1) = $(2)
step-kernel-mutants: export SFU_CC_$(1) = $(4)
endef
$(foreach cpu,$(BARE_CPUS),$(eval $(call step_kernel,$(cpu),$(call STEP_KERNEL_PARTS,$(cpu)),\
    port/baremetal/kernel.ld port/baremetal/$(cpu)/machine.ld \
    $(foreach kind,$(cpu) $(cpu)-hook $(cpu)-clang $(filter %-pac,$(BARE_KINDS_$(cpu))),\
    $(addprefix $(BARE)/$(kind)/,$(call STEP_KERNEL_PARTS,$(cpu)))),\
    $(cpu)-linux-gnu-gcc -B$(TC)/$(cpu)/ $(BARE_CPU_$(cpu)) $(BARE_FLAGS))))
$(foreach cpu,$(RISCV_CPUS),$(eval $(call step_kernel,$(cpu),$(STEP_PARTS_RISCV),\
    port/baremetal/riscv/machine.ld build/tools/sfu-gen \
    $(foreach kind,$(cpu) $(cpu)-s $(if $(filter riscv64,$(cpu)),riscv64-hook),\
    $(addprefix $(BARE)/$(kind)/,kernel.ld $(STEP_PARTS_RISCV))),\
    $(RISCV_CC) $(RISCV_CPU_$(cpu)) $$(RISCV_FLAGS) -DMACHINE_S)))

# The headers that these have are those of a libc, of which Debian has none for this ABI.
define step_headers
$(addprefix $(BARE)/$(1)/test/truth/step/,compare.o cpu.o shadow.o lookup.o kernel/stepper.o): \
    BARE_FLAGS += -idirafter $(STEP)/include
$(addprefix $(BARE)/$(1)/test/truth/step/,compare.o cpu.o shadow.o lookup.o kernel/stepper.o): $(STEP)/include/gnu
endef
$(foreach kind,riscv64 riscv64-s riscv64-hook riscv32 riscv32-s,$(eval $(call step_headers,$(kind))))

$(STEP)/include/gnu:
	@mkdir -p $@
	@touch $@/stubs-lp64.h $@/stubs-ilp32.h

step-kernel-mutants: $(STEP)/judge $(step_kernels_x86_64) $(STEP)/aarch64/patterns-clang-O2-kernel+pac \
    $(addprefix $(STEP)/,riscv64/patterns-gcc12-O2-kernel riscv32/patterns-gcc12-O2-kernel)

.PHONY: step-kernel

## [campaigns] step-kernel: the same in kernels, by the machine's own exceptions; STEPS=1000000 for a long run
step-kernel: $(foreach cpu,$(BARE_CPUS) $(RISCV_CPUS),suite-step-kernel-$(cpu))
	@! grep '^not ok' $(foreach cpu,$(BARE_CPUS) $(RISCV_CPUS),build/results/step-kernel-$(cpu))

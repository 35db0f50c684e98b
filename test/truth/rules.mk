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

$(DECODERS)/agree: test/truth/decoders/agree.c test/truth/decoders/loaded.c test/truth/decoders/loaded.h \
    $(TOOLS_IMAGE) $(wildcard port/host/common/*.h) test/lib/rows.h test/lib/check.c test/lib/check.h \
    sfu.c sfu.h | $(TC)
	@mkdir -p $(@D)
	@$(CC) -std=c99 -D_GNU_SOURCE $(WARN) -O2 -g -I. $(filter %.c,$^) -lelf -o $@

.PHONY: $(ABIS:%=suite-decoders-%)
$(foreach abi,$(ABIS),$(eval CHECK_$(abi) += decoders-$(abi)))
$(foreach abi,$(ABIS),$(eval suite-decoders-$(abi): $(DECODERS_$(abi):%=$(DECODERS)/%/done)))
$(ABIS:%=suite-decoders-%): suite-decoders-%: $(DECODERS)/agree
	@test/run.sh decoders-$* test/truth/decoders/check.sh $* $(DECODERS)

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

# ---- step: programs, one instruction at a time; step/kernel: kernels that step themselves ----

# step/suites.sh says what is stepped and how, step/build.sh makes the images. Here are the rules: one for suites of
# programs, one for suites of kernels, one for the images of each.

# STEPS=N on the command line: instructions per ABI, a long run.
STEP := build/step
STEP_LONG := $(if $(filter command,$(firstword $(origin STEPS))),$(STEPS))
STEP_WORDS := $(shell STEPS='$(STEP_LONG)' LONG='$(LONG)' SQLITE='$(filter step,$(MAKECMDGOALS))' \
    test/truth/step/suites.sh)
STEP_SUITES := $(patsubst suite:%,%,$(filter suite:%,$(STEP_WORDS)))
# step_options SUITE; step_sets SUITE: SET=FILE, step_files of those.
step_options = $(patsubst $(1):%,%,$(filter $(1):%,$(STEP_WORDS)))
step_sets = $(patsubst $(1)/%,%,$(filter $(1)/%,$(STEP_WORDS)))
step_files = $(foreach set,$(1),$(lastword $(subst =, ,$(set))))
# With T those whose names have it, if there are any: the others are not even built.
step_named = $(foreach set,$(1),$(if $(findstring $(lastword $(T)),$(set)),$(set)))
step_chosen = $(or $(if $(T),$(call step_named,$(1))),$(1))

STEP_HARNESS := $(addprefix test/truth/step/,step.c judge.c cpu.c rsp.c binary.c lookup.c shadow.c trace.c faults.c) \
    $(addprefix port/host/common/,basics.c pe.c pe_unwind.c pe_dwarf.c pe_aarch64.c)
STEP_PARTS := $(wildcard test/truth/step/programs/* test/lib/*.h) test/truth/step/build.sh
STEP_IMAGES := $(sort $(call step_files,$(foreach suite,$(STEP_SUITES),$(call step_sets,$(suite)))))
STEP_KERNELS := $(foreach image,$(STEP_IMAGES),$(if $(findstring -kernel,$(image)),$(image)))
STEP_KERNEL_SUITES := $(filter step-kernel-%,$(STEP_SUITES))
STEP_PROGRAM_SUITES := $(filter-out $(STEP_KERNEL_SUITES),$(STEP_SUITES))

# step-riscv-CPU and step-riscv-large-CPU are campaigns.
STEP_CHECK := $(filter-out step-riscv-%,$(STEP_SUITES))
CHECK += $(filter-out $(ABIS:%=\%-%),$(STEP_CHECK))
$(foreach abi,$(ABIS),$(eval CHECK_$(abi) += $(filter %-$(abi),$(STEP_CHECK))))

# The harness and the judge of kernels are linked of these.
$(STEP)/own/%.o: %.c sfu.h \
    $(wildcard test/truth/step/*.h test/lib/*.h port/fast/*.h $(addprefix port/host/common/,abi.? basics.? image.?)) \
    | $(TC)
	@mkdir -p $(@D)
	$(CC) -O2 -g -std=c99 -D_GNU_SOURCE $(WARN) -I. -Iport/fast -c $< -o $@

$(STEP)/step: $(patsubst %.c,$(STEP)/own/%.o,$(STEP_HARNESS) sfu.c port/fast/sfu_fast.c)
	$(CC) $^ -lelf -o $@

$(STEP)/judge: $(patsubst %.c,$(STEP)/own/%.o,test/truth/step/kernel/kernel_judge.c \
    $(filter-out %/step.c %/rsp.c,$(STEP_HARNESS)) sfu.c port/fast/sfu_fast.c)
	$(CC) $^ -lelf -o $@

.PHONY: $(STEP_SUITES:%=suite-%)
$(foreach suite,$(STEP_PROGRAM_SUITES),$(eval suite-$(suite): \
    $(call step_files,$(call step_chosen,$(call step_sets,$(suite))))))
$(STEP_PROGRAM_SUITES:%=suite-%): suite-%: $(STEP)/step
	@test/run.sh $* $(STEP)/step $(call step_options,$*) $(call step_chosen,$(call step_sets,$*))

$(filter-out $(STEP_KERNELS),$(STEP_IMAGES)): $(STEP_PARTS) | $(TC)
	test/truth/step/build.sh $@

# SFrame does not have RISC-V, ARM and i386; of the others, those whose tables sfu-gen makes say so in their names.
$(filter %gen %small %derive $(addprefix $(STEP)/,riscv64/% riscv32/% arm/% thumb/% i386/%),$(STEP_IMAGES)) \
    $(foreach image,$(STEP_IMAGES),$(if $(findstring -code,$(image)),$(image))): build/tools/sfu-gen

# A kernel is linked of the port as port/baremetal/test builds it, the stepper, and what it shares with the harness; of
# each of these there is one for each kind of kernel.
STEP_KINDS_x86_64 := x86_64 x86_64-hook x86_64-clang
STEP_KINDS_aarch64 := aarch64 aarch64-hook aarch64-clang aarch64-pac
STEP_KINDS_s390x := s390x s390x-hook s390x-clang
STEP_KINDS_riscv64 := riscv64 riscv64-s riscv64-hook
STEP_KINDS_riscv32 := riscv32 riscv32-s
STEP_KINDS_i386 := i386 i386-hook
STEP_KERNEL_CPUS = $(BARE_CPUS) $(RISCV_CPUS) i386
step_port = $(if $(filter riscv%,$(1)),riscv,$(1))
step_stepper = $(if $(filter x86_64 i386,$(1)),x86,$(call step_port,$(1)))
step_kernel_parts = sfu.o $(addprefix port/print/,sfu_print.o sfu_build_id.o sfu_cycles.o sfu_record.o) \
    $(addprefix port/baremetal/,kernel.o tables.o $(call step_port,$(1))/boot.o $(call step_port,$(1))/machine.o) \
    $(addprefix test/truth/step/,judge.o cpu.o shadow.o lookup.o kernel/stepper.o kernel/begin.o) \
    test/truth/step/kernel/$(call step_stepper,$(1)).o port/fast/sfu_fast.o
step_kernel_needs = port/baremetal/$(call step_port,$(1))/machine.ld port/baremetal/kernel.ld \
    $(foreach kind,$(STEP_KINDS_$(1)),$(addprefix $(BARE)/$(kind)/,\
    $(if $(filter riscv% i386,$(1)),kernel.ld) $(call step_kernel_parts,$(1))))

$(foreach cpu,$(STEP_KERNEL_CPUS),\
    $(eval $(filter $(STEP)/$(cpu)/%,$(STEP_KERNELS)): $(call step_kernel_needs,$(cpu))))
$(STEP_KERNELS): $(STEP_PARTS) | $(TC)
	KERNEL_PARTS="$(call step_kernel_parts,$(notdir $(@D)))" test/truth/step/build.sh $@

# Instructions per machine: what the small programs leave is shared by the others. In what is made each time s390x has
# fewer: where QEMU does its events right, it is slow (kernel/s390x.c).
step_kernel_steps = $(or $(STEP_LONG),$(if $(LONG),100000,$(if $(filter s390x,$(1)),20000,100000)))
step_kernel_way = $(if $(STEP_LONG),,$(if $(filter s390x,$(1)),-w /30))
step_kernels = $(patsubst $(2)=%,%,$(filter $(2)=%,$(call step_sets,step-kernel-$(1))))
STEP_KNOWN := -f test/truth/FAULTS.md

$(foreach suite,$(STEP_KERNEL_SUITES),$(eval suite-$(suite): $(call step_files,$(call step_sets,$(suite)))))
$(STEP_KERNEL_SUITES:%=suite-%): suite-step-kernel-%: $(STEP)/judge
	@test/tools/toolchain/install.sh bare
	@test/run.sh step-kernel-$* sh -c '$(STEP)/judge -n $(call step_kernel_steps,$*) \
	    $(call step_kernel_way,$*) $(STEP_KNOWN) $* $(call step_kernels,$*,kernels) \
	    $(addprefix +,$(call step_kernels,$*,shared)) && \
	    $(STEP)/judge -w :port $(STEP_KNOWN) $* $(firstword $(call step_kernels,$*,kernels)) && \
	    $(STEP)/judge -n $(or $(STEP_LONG),2000) $* $(call step_kernels,$*,made)'

# The headers that these have are those of a libc, of which Debian has none for this ABI.
STEP_RISCV_OBJECTS := $(foreach kind,$(STEP_KINDS_riscv64) $(STEP_KINDS_riscv32),\
    $(addprefix $(BARE)/$(kind)/test/truth/step/,judge.o cpu.o shadow.o lookup.o kernel/stepper.o))
$(STEP_RISCV_OBJECTS): BARE_FLAGS += -idirafter $(STEP)/include
$(STEP_RISCV_OBJECTS): $(STEP)/include/gnu

$(STEP)/include/gnu:
	@mkdir -p $@
	@touch $@/stubs-lp64.h $@/stubs-ilp32.h

$(foreach cpu,$(STEP_KERNEL_CPUS),\
    $(eval step-kernel-mutants: export KERNEL_PARTS_$(cpu) = $(call step_kernel_parts,$(cpu))))
$(foreach cpu,$(BARE_CPUS),$(eval step-kernel-mutants: \
    export SFU_CC_$(cpu) = $(cpu)-linux-gnu-gcc -B$(TC)/$(cpu)/ $(BARE_CPU_$(cpu)) $(BARE_FLAGS)))
$(foreach cpu,$(RISCV_CPUS),$(eval step-kernel-mutants: \
    export SFU_CC_$(cpu) = $(RISCV_CC) $(RISCV_CPU_$(cpu)) $$(RISCV_FLAGS) -DMACHINE_S))
step-kernel-mutants: export SFU_CC_i386 = $(I386_CC) $(I386_CPU) $(I386_FLAGS)
step-kernel-mutants: $(STEP)/judge $(call step_kernels,x86_64,kernels) \
    $(STEP)/aarch64/patterns-clang-O2-kernel+pac $(addprefix $(STEP)/,riscv64/patterns-gcc12-O2-kernel \
    riscv32/patterns-gcc12-O2-kernel i386/patterns-gcc12-O2-kernel i386/patterns-gcc12-O1-kernel+hook)

.PHONY: step step-code-grid step-riscv step-riscv-large step-kernel

## [campaigns] step: walk the stack at every instruction, on every ABI; STEPS=20000000 for a long run
step: $(ABIS:%=suite-step-%)
	@test/truth/step/report.sh $(ABIS)

## [campaigns] step-code-grid: programs by tables of the machine code alone: each compiler, level and option, three CPUs
step-code-grid: $(STEP)/step build/tools/sfu-gen
	@test/run.sh $@ python3 test/truth/step/grid.py $(T)

## [campaigns] step-riscv: RISC-V's programs by gcc 12 and 16, clang 16 and the newest, each level with each flag
## [campaigns] step-riscv-large: lua and zlib of RISC-V, by gcc 16 and the newest clang
step-riscv step-riscv-large: | $(TC)
	@test/tools/toolchain/toolchain.sh riscv chains >/dev/null
	@$(MAKE) --no-print-directory $(if $(filter %-large,$@),,$(RISCV_CPUS:%=suite-step-riscv-%)) \
	    $(RISCV_CPUS:%=suite-step-riscv-large-%)

## [campaigns] step-kernel: the same in kernels, by the machine's own exceptions; STEPS=1000000 for a long run
step-kernel: $(foreach cpu,$(STEP_KERNEL_CPUS),suite-step-kernel-$(cpu))
	@! grep '^not ok' $(foreach cpu,$(STEP_KERNEL_CPUS),build/results/step-kernel-$(cpu))

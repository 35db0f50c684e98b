# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The tools of port/host. Images are those that test/truth/decoders compares, and programs built here.
HOST := build/host
HOST_HEADERS := $(wildcard port/host/*/*.h test/lib/*.h) sfu.h
HOST_FLAGS = $(TOOLS_FLAGS) -O2 -g
# Linked statically they start, and look for leaks, in two thirds of the time: there are thousands of short runs.
# Each growing array of the tools moves with each element: what keeps a pointer into one is found. -g1: a
# report has files and lines; variables would take a quarter of the compiler's time.
HOST_SANITIZERS := -DSFU_GROW_BY_ONE -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all \
    $(if $(findstring clang,$(CC)),,-static-libasan -static-libubsan)

# Programs of tests are linked with the tools' objects: host_program NAME, SOURCES, LIBRARIES.
define host_program
$(HOST)/$(1): $(call tool_objects,port/host/test/$(1).c $(2))
	@mkdir -p $$(@D)
	@$(CC) $$^ $(3) -o $$@
endef
HOST_IMAGE := $(TOOLS_IMAGE) sfu.c
$(call tool_objects,$(addprefix port/host/test/,equal.c truth.c lookups.c reads.c decodes.c)): $(HOST_HEADERS)
$(call tool_objects,port/host/test/decodes.c): TOOLS_FLAGS += -Iport/host/code
$(call tool_objects,port/host/test/lookups.c): TOOLS_FLAGS += -Iport/fast
$(eval $(call host_program,equal,$(HOST_IMAGE),-lelf))
$(eval $(call host_program,truth,$(HOST_IMAGE),-ldw -lelf))

# callgrind counts the instructions of sfu_find and of look_up, which is a part of a loop: here it is a function.
$(HOST)/lookups: $(call tool_objects,port/host/test/lookups.c $(HOST_IMAGE)) port/fast/sfu_fast.c port/fast/sfu_fast.h
	@mkdir -p $(@D)
	@sed 's/^INLINE \(.* \*look_up(\)/OUT_OF_LINE \1/' port/fast/sfu_fast.c >$@.c
	@grep -q '^OUT_OF_LINE .* \*look_up(' $@.c
	@$(CC) $(HOST_FLAGS) -Iport/fast $(filter %.o,$^) $@.c -lelf -o $@

# What counts instructions.
$(HOST)/insns.so: test/tools/bench/insns.c test/tools/bench/plugin.sh
	@test/tools/toolchain/install.sh core cross
	@test/tools/bench/plugin.sh $@
suite-host-proportion suite-host-code-hostile suite-host-trace-lost: $(HOST)/insns.so

define HOST_SUITE
CHECK_$(1) += host-$(1)
.PHONY: suite-host-$(1)
suite-host-$(1): build/tools/sfu-gen $(HOST)/equal $(HOST)/truth $(HOST)/lookups $(DECODERS)/agree \
    $(DECODERS_$(1):%=$(DECODERS)/%/done)
	@test/run.sh host-$(1) python3 port/host/test/gen.py images $(1)
endef
$(foreach abi,$(ABIS),$(eval $(call HOST_SUITE,$(abi))))

# RISC-V and 32-bit ARM, whose tables are not SFrame.
CHECK += host-riscv64 host-riscv32 host-arm
.PHONY: suite-host-riscv64 suite-host-riscv32
suite-host-riscv64 suite-host-riscv32: suite-host-%: build/tools/sfu-gen build/tools/sfu-lint $(HOST)/truth \
    $(HOST)/sfu-gen-sanitized | $(TC)
	@test/run.sh host-$* python3 port/host/test/riscv.py $*

.PHONY: suite-host-arm
suite-host-arm: build/tools/sfu-gen build/tools/sfu-lint $(HOST)/sfu-gen-sanitized
	@test/tools/toolchain/install.sh core arm clang python tools
	@test/run.sh host-arm python3 port/host/test/arm.py

## [campaigns] host-truth IMAGE=file: sfu-gen's tables of a large image beside its CFI, as libdw reads it at every PC
.PHONY: host-truth
host-truth: build/tools/sfu-gen $(HOST)/truth
	@build/tools/sfu-gen -q --keep-below-sp --keep-faults --address=0x1000 -o $(HOST)/truth.bytes $(IMAGE)
	@$(HOST)/truth $(IMAGE) $(HOST)/truth.bytes 0x1000

## [campaigns] disagree IMAGES='files': where machine code contradicts the CFI of images of x86_64; each cause is known
IMAGES ?= /lib/x86_64-linux-gnu/libc.so.6
.PHONY: disagree
disagree: build/tools/sfu-gen | $(TC)
	@python3 port/host/test/disagree.py $(IMAGES)

# sfu-gen but for its fast walker, which the test breaks.
$(HOST)/gen-but-fast.o: $(call tool_objects,$(filter-out port/fast/sfu_fast.c,$(TOOLS_GEN)))
	@mkdir -p $(@D)
	@$(CC) -r -nostdlib $^ -o $@
	@echo $(TOOLS_GEN_LIBS) >$(@:.o=.libraries)
suite-host-faults: $(HOST)/gen-but-fast.o
suite-host-options: build/tools/sfu-lint $(HOST)/rows

# The tools under the sanitizers share their objects. build/tools/sfu-NAME comes first: it makes the tool's help text.
# Each is linked with many.c, which runs its main() as often as it is asked.
$(addprefix $(HOST)/sanitized/port/host/,gen/sfu_gen.o lint/sfu_lint.o trace/sfu_trace.o): HOST_MAIN := -Dmain=tool_main
$(HOST)/sanitized/%.o: %.c $(HOST_HEADERS) port/host/rules.mk port/host/test/rules.mk | build/tools/sfu-gen \
    build/tools/sfu-lint build/tools/sfu-trace
	@mkdir -p $(@D)
	@$(CC) $(HOST_FLAGS) $(TOOLS_CODE_FLAGS) $(if $(filter no,$(LIBDW)),-DSFU_NO_LIBDW) $(HOST_SANITIZERS) \
	    $(HOST_MAIN) -c $< -o $@

# host_sanitized TOOL, SOURCES, LIBRARIES
define host_sanitized
$(HOST)/$(1)-sanitized: $$(patsubst %.c,$(HOST)/sanitized/%.o,$(2) port/host/test/many.c)
	@$(CC) $(HOST_SANITIZERS) $$^ $(3) -o $$@
endef
$(eval $(call host_sanitized,sfu-gen,$(TOOLS_GEN),$$(TOOLS_GEN_LIBS)))
$(eval $(call host_sanitized,sfu-lint,$(TOOLS_LINT),$$(TOOLS_LINT_LIBRARIES)))
$(eval $(call host_sanitized,sfu-trace,$(TOOLS_TRACE),$$(TOOLS_ZYDIS) -ldw -lelf))

# sfu-lint beside the same images, and beside the kernels of port/baremetal/test.
define HOST_LINT
CHECK_$(1) += host-lint-$(1)
.PHONY: suite-host-lint-$(1)
suite-host-lint-$(1): build/tools/sfu-lint $(DECODERS_$(1):%=$(DECODERS)/%/done)
	@test/run.sh host-lint-$(1) python3 port/host/test/lint.py healthy $(1)
endef
$(foreach abi,$(ABIS),$(eval $(call HOST_LINT,$(abi))))

define HOST_LINT_KERNEL
CHECK_$(1) += host-lint-kernel-$(1)
.PHONY: suite-host-lint-kernel-$(1)
suite-host-lint-kernel-$(1): build/tools/sfu-lint build/bare/$(1)/kernel.elf
	@test/run.sh host-lint-kernel-$(1) python3 port/host/test/lint.py kernel $(1)
endef
$(foreach cpu,x86_64 aarch64 s390x,$(eval $(call HOST_LINT_KERNEL,$(cpu))))

HOST_LINT_SUITES := planted worth options hostile
CHECK += $(HOST_LINT_SUITES:%=host-lint-%)
.PHONY: $(HOST_LINT_SUITES:%=suite-host-lint-%)
$(HOST_LINT_SUITES:%=suite-host-lint-%): suite-host-lint-%: build/tools/sfu-lint build/tools/sfu-gen \
    $(HOST)/sfu-lint-sanitized | $(TC)
	@test/run.sh host-lint-$* python3 port/host/test/lint.py $*

CHECK += host-lint-frames
.PHONY: suite-host-lint-frames
suite-host-lint-frames: build/tools/sfu-lint build/tools/sfu-gen
	@test/tools/toolchain/install.sh check
	@test/run.sh host-lint-frames python3 port/host/test/frames.py frames

# Programs for every CPU in one suite each: they are small.
HOST_SUITES := links options faults hostile
CHECK += $(HOST_SUITES:%=host-%)
.PHONY: $(HOST_SUITES:%=suite-host-%)
$(HOST_SUITES:%=suite-host-%): suite-host-%: build/tools/sfu-gen $(HOST)/sfu-gen-sanitized | $(TC)
	@test/run.sh host-$* python3 port/host/test/gen.py $*

# PE files, which other linkers write.
CHECK += host-pe
.PHONY: suite-host-pe
suite-host-pe: tools $(HOST)/sfu-gen-sanitized $(HOST)/sfu-lint-sanitized $(HOST)/sfu-trace-sanitized | $(TC)
	@test/tools/toolchain/install.sh check efi
	@test/run.sh host-pe python3 port/host/test/pe.py

CHECK += host-maps
.PHONY: suite-host-maps
suite-host-maps: tools $(HOST)/sfu-gen-sanitized $(HOST)/sfu-trace-sanitized | $(TC)
	@test/tools/toolchain/install.sh check efi
	@test/run.sh host-maps python3 port/host/test/maps.py

CHECK += host-proportion
.PHONY: suite-host-proportion
suite-host-proportion: tools
	@test/tools/toolchain/install.sh check
	@test/run.sh host-proportion python3 port/host/test/proportion.py

# What reads machine code, as objects: one of them is replaced by one with a fault.
$(eval $(call host_program,reads,$(TOOLS_CODE) $(TOOLS_LIBRARY),$$(TOOLS_GEN_LIBS)))
$(HOST)/reads.objects: $(HOST)/reads
	@echo $(TOOLS_CODE_FLAGS) >$(<).flags
	@echo $(TOOLS_GEN_LIBS) >$(<).libraries
	@echo $(call tool_objects,port/host/test/reads.c $(TOOLS_CODE) $(TOOLS_LIBRARY)) >$@

# What the reader says of instructions of RISC-V and ARM, beside objdump.
$(eval $(call host_program,decodes,$(TOOLS_CODE) $(TOOLS_LIBRARY),$$(TOOLS_GEN_LIBS)))

CHECK += host-code-decoder
.PHONY: suite-host-code-decoder
suite-host-code-decoder: $(HOST)/decodes
	@test/run.sh host-code-decoder python3 port/host/test/decoder.py

# What the reader says of random instructions, beside what CPUs do.
$(call tool_objects,port/host/test/facts.c): $(HOST_HEADERS) port/host/test/facts.h
$(call tool_objects,port/host/test/facts.c): TOOLS_FLAGS += -Iport/host/code
$(HOST)/facts: $(call tool_objects,port/host/test/facts.c $(TOOLS_CODE) $(TOOLS_LIBRARY)) | $(TC)
	@mkdir -p $(@D)
	@echo $(TOOLS_CODE_FLAGS) >$@.flags
	@echo $(TOOLS_GEN_LIBS) >$@.libraries
	@echo $^ >$@.objects
	@$(CC) $^ $(TOOLS_GEN_LIBS) -o $@

# What executes them has no libc: there is none for all of these CPUs.
FACTS_CC_x86_64 = $(CC) -mgeneral-regs-only
FACTS_CC_i386 = $(CC) -m32 -mgeneral-regs-only
FACTS_CC_aarch64 = aarch64-linux-gnu-gcc -mgeneral-regs-only
FACTS_CC_s390x = s390x-linux-gnu-gcc
FACTS_CC_riscv64 = riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d -DFACTS_VECTORS
FACTS_CC_riscv32 = riscv64-linux-gnu-gcc -march=rv32gc -mabi=ilp32d -DFACTS_VECTORS
FACTS_CC_arm = arm-none-eabi-gcc -marm -mcpu=cortex-a15
FACTS_RUN := $(patsubst %,$(HOST)/facts_run-%,x86_64 i386 aarch64 s390x riscv64 riscv32 arm)
# The same, on a stack that has the other bits before.
FACTS_INVERTED := $(FACTS_RUN:%=%-inverted)
$(FACTS_INVERTED): FACTS_HOW := -DINVERTED=1
# Its code lies where jumps to parts of an address of the stack, and to small numbers, do not lead.
$(FACTS_RUN) $(FACTS_INVERTED): $(HOST)/facts_run-%: port/host/test/facts_run.c port/host/test/facts.h \
    port/linux/cpu.h port/host/test/rules.mk | $(TC)
	@mkdir -p $(@D)
	@$(FACTS_CC_$(*:-inverted=)) $(FACTS_HOW) -std=c99 -O1 $(WARN) -I. -ffreestanding -fno-stack-protector \
	    -fno-pie -no-pie -nostdlib -static -Wl,--build-id=none,--no-relax,--no-warn-rwx-segments \
	    -Wl,-Ttext-segment=0x5a760000 $< -o $@

CHECK += host-code-machine
.PHONY: suite-host-code-machine fuzz-facts
suite-host-code-machine: $(HOST)/facts $(FACTS_RUN) $(FACTS_INVERTED)
	@test/run.sh host-code-machine python3 port/host/test/facts.py

## [campaigns] fuzz-facts TIME=60: random instructions on this machine and in QEMU, beside what sfu-gen says of each one
fuzz-facts: $(HOST)/facts $(FACTS_RUN) $(FACTS_INVERTED)
	@python3 port/host/test/facts.py $(or $(TIME),60)

CODE_SUITES := facts trust hostile
CHECK += $(CODE_SUITES:%=host-code-%)
.PHONY: $(CODE_SUITES:%=suite-host-code-%)
$(CODE_SUITES:%=suite-host-code-%): suite-host-code-%: $(HOST)/reads.objects $(HOST)/rows build/tools/sfu-gen \
    $(HOST)/sfu-gen-sanitized | $(TC)
	@$(if $(filter trust,$*),test/tools/toolchain/toolchain.sh riscv >/dev/null)
	@test/run.sh host-code-$* python3 port/host/test/code.py $*

## [campaigns] facts-mutants: each fault in what is known of an instruction; suite-host-code-facts has to notice it
.PHONY: facts-mutants
facts-mutants: $(HOST)/reads.objects
	@test/tools/toolchain/install.sh check
	@test/run.sh $@ python3 port/host/test/code.py planted

# What the tables say of PCs.
$(HOST)/rows: port/host/test/rows.c sfu.c sfu.h test/lib/file.h
	@mkdir -p $(@D)
	@$(CC) $(HOST_FLAGS) port/host/test/rows.c sfu.c -o $@

CHECK += host-code-calls
.PHONY: suite-host-code-calls
suite-host-code-calls: $(HOST)/rows build/tools/sfu-gen build/tools/sfu-lint
	@test/run.sh host-code-calls python3 port/host/test/calls.py

# CODE_SHARE: images with CFI; by default those of the suites decoders, and libraries of RISC-V.
CODE_SHARE ?= $(sort $(wildcard build/decoders/*-O2/v3/*.x build/decoders/*-Os/v3/*.x \
    /usr/riscv64-linux-gnu/lib/libstdc++.so.6 /usr/lib/*/libLLVM-*.so.1))

## [measure] code-share: how much code the reader of machine code describes, of each image that has CFI
.PHONY: code-share
code-share: $(HOST)/reads
	@python3 port/host/share.py $< $(CODE_SHARE)

# Fibers, whose switch has no CFI.
CHECK += host-fibers
.PHONY: suite-host-fibers
suite-host-fibers: build/tools/sfu-gen
	@test/run.sh host-fibers python3 port/host/test/fibers.py

# What the toolchains that are installed do is what the page says of them.
CHECK += host-chains
.PHONY: suite-host-chains toolchains
suite-host-chains: | $(TC)
	@test/run.sh host-chains python3 port/host/test/chains.py check

## [campaigns] toolchains: what each compiler, assembler and linker that Debian has, the newest too, does with tables
toolchains: | $(TC)
	@test/tools/toolchain/install.sh chains
	@test/tools/toolchain/toolchain.sh chains riscv >/dev/null
	@$(MAKE) --no-print-directory suite-host-chains

# sfu-trace, for every CPU in one suite each.
TRACE_SUITES := filter core guests hostile
$(patsubst %,suite-host-trace-%,filter guests hostile folded): $(BARE_CPUS:%=build/bare/%/kernel.elf)
CHECK += $(TRACE_SUITES:%=host-trace-%)
.PHONY: $(TRACE_SUITES:%=suite-host-trace-%)
$(TRACE_SUITES:%=suite-host-trace-%): suite-host-trace-%: build/tools/sfu-trace $(HOST)/sfu-trace-sanitized | $(TC)
	@test/tools/toolchain/install.sh bare
	@test/run.sh host-trace-$* python3 port/host/test/trace.py $*

# The same of RISC-V's machines.
CHECK += host-trace-riscv
.PHONY: suite-host-trace-riscv
suite-host-trace-riscv: build/tools/sfu-trace | $(TC)
	@test/tools/toolchain/install.sh bare
	@test/run.sh host-trace-riscv python3 port/host/test/riscv_trace.py

CHECK += host-trace-i386
.PHONY: suite-host-trace-i386
suite-host-trace-i386: build/tools/sfu-trace
	@test/tools/toolchain/install.sh bare m32
	@test/run.sh host-trace-i386 python3 port/host/test/i386_trace.py

CHECK += host-trace-cortexm
.PHONY: suite-host-trace-cortexm
suite-host-trace-cortexm: build/tools/sfu-trace $(HOST)/sfu-trace-sanitized | $(TC)
	@test/tools/toolchain/install.sh bare
	@test/run.sh host-trace-cortexm python3 port/host/test/cortexm_trace.py

# The same of machines whose kernels lie in the upper half of the addresses.
TRACE_MACHINE_SUITES := live upper
CHECK += $(TRACE_MACHINE_SUITES:%=host-trace-%)
.PHONY: $(TRACE_MACHINE_SUITES:%=suite-host-trace-%)
$(TRACE_MACHINE_SUITES:%=suite-host-trace-%): suite-host-trace-%: build/tools/sfu-trace \
    $(HOST)/sfu-trace-sanitized | $(TC)
	@test/tools/toolchain/install.sh bare
	@test/run.sh host-trace-$* python3 port/host/test/machine.py $*

CHECK += host-trace-pasted
.PHONY: suite-host-trace-pasted
suite-host-trace-pasted: build/tools/sfu-trace $(HOST)/sfu-trace-sanitized | $(TC)
	@test/tools/toolchain/install.sh check
	@test/tools/toolchain/install.sh bare
	@test/run.sh host-trace-pasted python3 port/host/test/pasted.py pasted

CHECK += host-trace-lost
.PHONY: suite-host-trace-lost
suite-host-trace-lost: build/tools/sfu-trace build/tools/sfu-lint build/tools/sfu-gen | $(TC)
	@test/tools/toolchain/install.sh check
	@test/run.sh host-trace-lost python3 port/host/test/lost.py lost

# What port/print/sfu_dump.c prints comes back, and what sfu_dump_small.c prints.
CHECK += host-trace-dump
.PHONY: suite-host-trace-dump
$(HOST)/dump_round_small: DUMP_FLAGS := -DSMALL
$(HOST)/dump_round: port/print/sfu_dump.c
$(HOST)/dump_round_small: port/print/sfu_dump_small.c
$(HOST)/dump_round $(HOST)/dump_round_small: port/host/test/dump_round.c test/lib/check.c port/print/sfu_dump.h \
    port/host/log/log.c port/host/log/log.h port/host/log/text.c port/host/machine/registers.c \
    $(TOOLS_REPORT) $(HOST_IMAGE)
	@mkdir -p $(@D)
	$(CC) -std=c99 -D_GNU_SOURCE -O1 -g $(WARN) -fsanitize=address,undefined $(DUMP_FLAGS) -I. -Iport/host \
	    -Iport/print $(filter %.c,$^) -lelf -o $@
suite-host-trace-dump: $(HOST)/dump_round $(HOST)/dump_round_small
	@test/run.sh host-trace-dump sh -ec 'test/lib/check.sh sfu_dump.c $(HOST)/dump_round; \
	    test/lib/check.sh sfu_dump_small.c $(HOST)/dump_round_small'

CHECK += host-trace-folded
.PHONY: suite-host-trace-folded
suite-host-trace-folded: build/tools/sfu-trace $(HOST)/sfu-trace-sanitized | $(TC)
	@test/run.sh host-trace-folded python3 port/host/test/folded.py folded

# Kernels of port/baremetal/test by a toolchain that knows nothing of SFrame.
define HOST_KERNEL
CHECK_$(1) += host-kernel-$(1)
.PHONY: suite-host-kernel-$(1)
suite-host-kernel-$(1): build/tools/sfu-gen build/bare/$(1)/module.ko
	@test/tools/toolchain/install.sh bare
	@test/run.sh host-kernel-$(1) python3 port/host/test/gen.py kernels $(1)
endef
$(foreach cpu,x86_64 aarch64 s390x,$(eval $(call HOST_KERNEL,$(cpu))))

CHECK += host-link
.PHONY: suite-host-link
suite-host-link: build/tools/sfu-gen build/tools/sfu-link
	@test/tools/toolchain/install.sh check
	@test/run.sh host-link port/host/test/link_test.sh $(HOST)/link build/tools/sfu-gen

# Kernels without unwind flags, linker script lines and lists of entries: zero/.
ZERO_CPUS := x86_64 i386 aarch64 s390x riscv64 riscv32 arm
define zero
CHECK += zero-$(1)
.PHONY: suite-zero-$(1)
suite-zero-$(1): build/tools/sfu-gen build/tools/sfu-link dist
	@test/tools/toolchain/install.sh check bare
	@test/run.sh zero-$(1) python3 port/host/test/zero.py $(1)
endef
$(foreach cpu,$(ZERO_CPUS),$(eval $(call zero,$(cpu))))

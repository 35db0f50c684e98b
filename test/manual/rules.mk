# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# README.md, the pages of docs/ and port/ and the headers: what they say is so. The examples are booted on the
# machines of
# port/baremetal.

CHECK += manual

MANUAL := build/manual
MANUAL_CPUS := $(BARE_CPUS) riscv64
MANUAL_DOCS := README.md $(wildcard docs/*.md port/*.md port/*/README.md)
MANUAL_BLOCKS := $(addprefix $(MANUAL)/blocks/,example.c threads.c threads.h switch.S walk.c hook.c \
    $(foreach cpu,$(MANUAL_CPUS),entry_row-$(cpu).S entry_hook-$(cpu).S))
MANUAL_DIST := $(MANUAL)/dist/sfu_panic.h $(MANUAL)/dist/sfu_panic.c

$(MANUAL_BLOCKS) &: $(MANUAL_DOCS) $(wildcard test/manual/*.py port/baremetal/*/boot.S)
	@mkdir -p $(MANUAL)/blocks
	python3 -B test/manual/manual.py blocks $(MANUAL)/blocks

$(MANUAL_DIST) &: sfu.h sfu.c $(wildcard arch/*.h arch/*/*.h port/print/*.[ch]) port/dist/dist.py
	python3 port/dist/dist.py $(MANUAL)/dist

# Exception entries of port/baremetal; with the recipe's row alone; without a table.
MANUAL_KERNELS := kernel row hook

# manual_image CPU, FOLDER, COMPILER, FLAGS, SCRIPT'S FOLDER, BEHIND THE LINK, BEFORE ALL, OUTPUT: the example
# with the two files of `make dist`, the rest as it lies here.
define manual_image
$(MANUAL)/$(1)/example.o $(MANUAL)/$(1)/sfu_panic.o: MANUAL_INCLUDES := -I$(MANUAL)/dist
$(MANUAL)/$(1)/%.o: MANUAL_INCLUDES = -I$(MANUAL)/blocks -Itest/manual $(filter -I%,$(BARE_FLAGS)) -Iport/baremetal/$(2)
$(MANUAL)/$(1)/%.o: MANUAL_COMPILE = $(3) $(filter-out -I%,$(4)) $$(MANUAL_INCLUDES) -c $$< -o $$@
$(MANUAL)/$(1)/%.o: $(MANUAL)/blocks/%.c $(MANUAL_BLOCKS) $(MANUAL_DIST) $(BARE_HEADERS) | $(7)
	@mkdir -p $$(@D)
	$$(MANUAL_COMPILE)
$(MANUAL)/$(1)/%.o: $(MANUAL)/blocks/%.S $(MANUAL_BLOCKS) $(BARE_HEADERS) | $(7)
	@mkdir -p $$(@D)
	$$(MANUAL_COMPILE)
$(MANUAL)/$(1)/%.o: $(MANUAL)/dist/%.c $(MANUAL_DIST) | $(7)
	@mkdir -p $$(@D)
	$$(MANUAL_COMPILE)
$(MANUAL)/$(1)/%.o: test/manual/%.c $(MANUAL_BLOCKS) $(BARE_HEADERS) | $(7)
	@mkdir -p $$(@D)
	$$(MANUAL_COMPILE)
$(MANUAL)/$(1)/kernel.elf: $(BARE)/$(1)/port/baremetal/$(2)/boot.o
$(MANUAL)/$(1)/kernel.elf: MANUAL_LINK := -Wl,--defsym=handler_returned=exception_entry
$(MANUAL)/$(1)/row.elf: $(MANUAL)/$(1)/entry_row-$(1).o
$(MANUAL)/$(1)/hook.elf: $(MANUAL)/$(1)/entry_hook-$(1).o
$(MANUAL_KERNELS:%=$(MANUAL)/$(1)/%.elf): \
    $(addprefix $(MANUAL)/$(1)/,example.o sfu_panic.o threads.o switch.o walk.o hook.o boot.o) \
    $(addprefix $(BARE)/$(1)/port/baremetal/,kernel.o tables.o $(2)/machine.o) $(5)/kernel.ld \
    port/baremetal/$(2)/machine.ld
	$(3) $(BARE_LINK) -L$(5) -Tport/baremetal/$(2)/machine.ld \
	    -Wl,--wrap=kernel_trap,--defsym=stack_low=boot_stack,--defsym=stack_high=boot_stack_top \
	    $$(MANUAL_LINK) $$(filter %.o,$$^) -o $$@ $(8)
	$(6)
endef
$(foreach cpu,$(BARE_CPUS),$(eval $(call manual_image,$(cpu),$(cpu),\
    $(cpu)-linux-gnu-gcc -B$(TC)/$(cpu)/ $(BARE_CPU_$(cpu)),$(BARE_FLAGS),port/baremetal,,$(TC))))
$(MANUAL_KERNELS:%=$(MANUAL)/riscv64/%.elf): build/tools/sfu-gen
$(eval $(call manual_image,riscv64,riscv,$(RISCV_CC) $(RISCV_CPU_riscv64),$(RISCV_FLAGS),$(BARE)/riscv64,\
    build/tools/sfu-gen -q --small $$@,$(TC)))

# The first verdict has the first example alone, by Debian's own tools.
$(MANUAL)/first/kernel.elf: build/tools/sfu-gen
$(eval $(call manual_image,first,x86_64,x86_64-linux-gnu-gcc $(BARE_CPU_x86_64),$(MADE_FLAGS) -Iport/baremetal/x86_64,\
    $(BARE)/first,build/tools/sfu-gen -q --small --strict $$@,,2>$$@.log || { cat $$@.log; false; }))

.PHONY: suite-manual manual-mutants numbers
suite-manual: $(foreach cpu,$(MANUAL_CPUS),$(MANUAL_KERNELS:%=$(MANUAL)/$(cpu)/%.elf))
	@test/tools/toolchain/install.sh check bare
	@test/run.sh manual python3 -B test/manual/manual.py test $(TC) $(MANUAL)

## [record] numbers: writes the numbers of the pages anew, by the marks below their paragraphs
numbers:
	@python3 -B test/manual/manual.py numbers

## [campaigns] manual-mutants: N faults (3) in each block of code of the manuals, which what runs it has to notice
manual-mutants: | $(TC)
	@test/run.sh $@ python3 -B test/manual/manual.py faults build/manual-faults $(or $(N),3)

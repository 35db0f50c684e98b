# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# README.md, the pages of docs/ and port/ and the headers: what they say is so. The examples are booted on the
# machines of
# port/baremetal.

CHECK += manual

MANUAL := build/manual
MANUAL_DOCS := README.md $(wildcard docs/*.md port/*.md port/*/README.md)
MANUAL_BLOCKS := $(addprefix $(MANUAL)/blocks/,example.c threads.c threads.h switch.S walk.c hook.c \
    $(foreach cpu,$(BARE_CPUS),entry_row-$(cpu).S entry_hook-$(cpu).S))
MANUAL_DIST := $(MANUAL)/dist/sfu_panic.h $(MANUAL)/dist/sfu_panic.c

$(MANUAL_BLOCKS) &: $(MANUAL_DOCS) $(wildcard test/manual/*.py port/baremetal/*/boot.S)
	@mkdir -p $(MANUAL)/blocks
	python3 -B test/manual/manual.py blocks $(MANUAL)/blocks

$(MANUAL_DIST) &: sfu.h sfu.c $(wildcard arch/*.h arch/*/*.h port/print/*.[ch]) port/dist/dist.py
	python3 port/dist/dist.py $(MANUAL)/dist

# Exception entries of port/baremetal; with the recipe's row alone; without a table.
MANUAL_KERNELS := kernel row hook

# manual_image CPU: the example with the two files of `make dist`, the rest as it lies here.
define manual_image
$(MANUAL)/$(1)/example.o $(MANUAL)/$(1)/sfu_panic.o: MANUAL_INCLUDES := -I$(MANUAL)/dist
$(MANUAL)/$(1)/%.o: MANUAL_INCLUDES = -I$(MANUAL)/blocks -Itest/manual $(filter -I%,$(BARE_FLAGS)) -Iport/baremetal/$(1)
$(MANUAL)/$(1)/%.o: MANUAL_COMPILE = $(1)-linux-gnu-gcc -B$(TC)/$(1)/ $(BARE_CPU_$(1)) $(filter-out -I%,$(BARE_FLAGS)) \
    $$(MANUAL_INCLUDES) -c $$< -o $$@
$(MANUAL)/$(1)/%.o: $(MANUAL)/blocks/%.c $(MANUAL_BLOCKS) $(MANUAL_DIST) $(BARE_HEADERS) | $(TC)
	@mkdir -p $$(@D)
	$$(MANUAL_COMPILE)
$(MANUAL)/$(1)/%.o: $(MANUAL)/blocks/%.S $(MANUAL_BLOCKS) $(BARE_HEADERS) | $(TC)
	@mkdir -p $$(@D)
	$$(MANUAL_COMPILE)
$(MANUAL)/$(1)/%.o: $(MANUAL)/dist/%.c $(MANUAL_DIST) | $(TC)
	@mkdir -p $$(@D)
	$$(MANUAL_COMPILE)
$(MANUAL)/$(1)/%.o: test/manual/%.c $(MANUAL_BLOCKS) $(BARE_HEADERS) | $(TC)
	@mkdir -p $$(@D)
	$$(MANUAL_COMPILE)
$(MANUAL)/$(1)/kernel.elf: $(BARE)/$(1)/port/baremetal/$(1)/boot.o
$(MANUAL)/$(1)/kernel.elf: MANUAL_LINK := -Wl,--defsym=handler_returned=exception_entry
$(MANUAL)/$(1)/row.elf: $(MANUAL)/$(1)/entry_row-$(1).o
$(MANUAL)/$(1)/hook.elf: $(MANUAL)/$(1)/entry_hook-$(1).o
$(MANUAL_KERNELS:%=$(MANUAL)/$(1)/%.elf): \
    $(addprefix $(MANUAL)/$(1)/,example.o sfu_panic.o threads.o switch.o walk.o hook.o boot.o) \
    $(addprefix $(BARE)/$(1)/port/baremetal/,kernel.o tables.o $(1)/machine.o) port/baremetal/kernel.ld \
    port/baremetal/$(1)/machine.ld
	$(1)-linux-gnu-gcc -B$(TC)/$(1)/ $(BARE_LINK) -Lport/baremetal -Tport/baremetal/$(1)/machine.ld \
	    -Wl,--wrap=kernel_trap,--defsym=stack_low=boot_stack,--defsym=stack_high=boot_stack_top \
	    $$(MANUAL_LINK) $$(filter %.o,$$^) -o $$@
endef
$(foreach cpu,$(BARE_CPUS),$(eval $(call manual_image,$(cpu))))

.PHONY: suite-manual manual-mutants numbers
suite-manual: $(foreach cpu,$(BARE_CPUS),$(MANUAL_KERNELS:%=$(MANUAL)/$(cpu)/%.elf))
	@test/tools/toolchain/install.sh check bare
	@test/run.sh manual python3 -B test/manual/manual.py test $(TC) $(MANUAL)

## [record] numbers: writes the numbers of the pages anew, by the marks below their paragraphs
numbers:
	@python3 -B test/manual/manual.py numbers

## [campaigns] manual-mutants: N faults (3) in each block of code of the manuals, which what runs it has to notice
manual-mutants: | $(TC)
	@test/run.sh $@ python3 -B test/manual/manual.py faults build/manual-faults $(or $(N),3)

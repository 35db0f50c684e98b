# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# A kernel by itself: `make kernel CPU=s390x; make run CPU=s390x`. test/rules.mk has those that crash in every way.

CPU ?= x86_64
BARE := build/bare
BARE_CPUS := x86_64 aarch64 s390x
# test/rules.mk says what each is.
BARE_KINDS_x86_64 := x86_64 x86_64-hook x86_64-small x86_64-clang
BARE_KINDS_aarch64 := aarch64 aarch64-hook aarch64-small aarch64-clang aarch64-pac
BARE_KINDS_s390x := s390x s390x-hook s390x-small s390x-clang

# What kernels are compiled with: no frame pointers, no vector registers.
BARE_CPU_x86_64 := -m64 -mno-red-zone -mgeneral-regs-only -fcf-protection=none
BARE_CPU_aarch64 := -mgeneral-regs-only -mstrict-align -mno-outline-atomics
BARE_CPU_s390x := -msoft-float -march=z196

BARE_FLAGS := -std=c11 -ffreestanding -O2 -g -fomit-frame-pointer -fno-stack-protector \
    -fpie -fvisibility=hidden -fno-optimize-sibling-calls \
    -fasynchronous-unwind-tables -ffunction-sections -Wa,--gsframe $(WARN) -Werror \
    -I. -Iarch -Iport/print -Iport/symbols -Iport/baremetal
BARE_LINK := -nostdlib -static-pie -Wl,--gc-sections,-z,norelro,--build-id=sha1,-z,max-page-size=4096
BARE_HEADERS := sfu.h \
    $(wildcard arch/*.h arch/*/*.h port/print/*.h port/symbols/*.h port/baremetal/*.h port/baremetal/*/*.h)

# kernel_objects CPU, DIRECTORY: all but what the kernel is for, and its symbols.
KERNEL_SOURCES := sfu.c $(addprefix port/print/,sfu_print.c sfu_build_id.c sfu_cycles.c sfu_record.c) \
    port/symbols/sfu_symbols.c $(addprefix port/baremetal/,kernel.c tables.c symbols.c)
kernel_objects = $(KERNEL_SOURCES:%.c=$(2)/%.o) $(addprefix $(2)/port/baremetal/$(1)/,boot.o machine.o)

# kernel_image CPU, DIRECTORY, FLAGS, COMPILER, OBJECTS, FLAGS TO LINK: a kernel of OBJECTS as DIRECTORY/kernel.elf. It
# is linked twice: the second time with its symbols.
define kernel_image
$(2)/%.o: BARE_CC := $(or $(4),$(1)-linux-gnu-gcc)
$(2)/%.o: %.c $(BARE_HEADERS) $(MAKEFILE_LIST) | $(TC)
	@mkdir -p $$(@D)
	$$(BARE_CC) -B$(TC)/$(1)/ $(BARE_CPU_$(1)) $$(BARE_FLAGS) -Iport/baremetal/$(1) $(3) -c $$< -o $$@

$(2)/%.o: %.S $(BARE_HEADERS) $(MAKEFILE_LIST) | $(TC)
	@mkdir -p $$(@D)
	$(1)-linux-gnu-gcc -B$(TC)/$(1)/ $(BARE_CPU_$(1)) $$(BARE_FLAGS) -Iport/baremetal/$(1) $(3) -c $$< -o $$@

$(2)/symbols0.o: port/symbols/symbols.py | $(TC)
	@mkdir -p $$(@D)
	python3 port/symbols/symbols.py $(TC)/$(1)/nm | $(TC)/$(1)/as -o $$@ -

$(2)/first.elf: $(2)/symbols0.o
$(2)/kernel.elf: $(2)/symbols.o
$(2)/symbols.o: $(2)/first.elf
	python3 port/symbols/symbols.py $(TC)/$(1)/nm $$< | $(TC)/$(1)/as -o $$@ -

$(2)/first.elf $(2)/kernel.elf: port/baremetal/kernel.ld
.SECONDARY: $(5)
$(2)/%.elf: $(5) port/baremetal/$(1)/machine.ld
	$(1)-linux-gnu-gcc -B$(TC)/$(1)/ $(BARE_LINK) $(6) $$(addprefix -L,$$(dir $$(filter %/kernel.ld,$$^))) \
	    -Tport/baremetal/$(1)/machine.ld $$(filter %.o,$$^) -o $$@
endef
$(foreach cpu,$(BARE_CPUS),$(eval $(call kernel_image,$(cpu),build/kernel/$(cpu),,,\
    $(call kernel_objects,$(cpu),build/kernel/$(cpu)) build/kernel/$(cpu)/port/baremetal/main.o)))

SAYS ?= hello
KERNEL_RUN_x86_64 = qemu-system-x86_64 -serial stdio -device isa-debug-exit,iobase=0xf4,iosize=4 -append '$(SAYS)'
KERNEL_RUN_aarch64 = qemu-system-aarch64 -M virt -cpu cortex-a57 -serial stdio \
    -semihosting-config 'enable=on,target=native,arg=$(SAYS)'
KERNEL_RUN_s390x = qemu-system-s390x -action panic=exit-failure -chardev stdio,id=c -device sclpconsole,chardev=c \
    -append '$(SAYS)'

.PHONY: kernel run
## [tools] kernel, run CPU=s390x: a kernel of our own, and how it panics in QEMU; SAYS: its command line
kernel: build/kernel/$(CPU)/kernel.elf

# A machine that panics ends with a status that is not 0.
run: kernel
	@test/tools/toolchain/install.sh bare
	-$(KERNEL_RUN_$(CPU)) -nodefaults -no-reboot -display none -kernel build/kernel/$(CPU)/kernel.elf

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

# made_image DIRECTORY, FLAGS, OBJECTS, FLAGS TO LINK: one of x86_64 by Debian's own tools, whose tables sfu-gen makes.
# Of the tables of version 3 that sfu_asm.h writes, an old linker says "no .sframe will be created": it keeps them.
MADE_FLAGS = $(filter-out -Wa$(comma)--gsframe,$(BARE_FLAGS))
# What the macros of sfu_asm.h say of exception entries is SFrame here.
MADE_SCRIPT := -e 's/^    .DISCARD.*/    .sframe (INFO) : { KEEP(*(.sframe .sframe.*)) }\n&/M'
define made_image
$(1)/%.o: %.c $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	x86_64-linux-gnu-gcc $(BARE_CPU_x86_64) $$(MADE_FLAGS) -Iport/baremetal/x86_64 $(2) -c $$< -o $$@

$(1)/%.o: %.S $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	x86_64-linux-gnu-gcc $(BARE_CPU_x86_64) $$(MADE_FLAGS) -Iport/baremetal/x86_64 $(2) -c $$< -o $$@

$(1)/kernel.ld: port/baremetal/kernel.ld
	@mkdir -p $$(@D)
	$(RISCV_SCRIPT) $(MADE_SCRIPT) $$< >$$@

$(1)/symbols0.o: port/symbols/symbols.py
	@mkdir -p $$(@D)
	python3 port/symbols/symbols.py nm | as -o $$@ -

$(1)/first.elf: $(1)/symbols0.o
$(1)/kernel.elf: $(1)/symbols.o
$(1)/symbols.o: $(1)/first.elf
	python3 port/symbols/symbols.py nm $$< | as -o $$@ -

.SECONDARY: $(3)
$(1)/%.elf: $(3) $(1)/kernel.ld port/baremetal/x86_64/machine.ld build/tools/sfu-gen
	@x86_64-linux-gnu-gcc $(BARE_LINK) $(4) -L$(1) -Tport/baremetal/x86_64/machine.ld $$(filter %.o,$$^) -o $$@ \
	    2>$$@.log || { cat $$@.log; false; }
	build/tools/sfu-gen -q --small --strict $$@
endef

# RISC-V, of 64 bits or 32, in M mode or S mode. Its tables are those of docs/format.md, which sfu-gen makes behind the
# link. The C library of Debian's compiler is not used: it makes code of both kinds.
RISCV_CPUS := riscv64 riscv32
RISCV_CC := riscv64-linux-gnu-gcc
RISCV_CPU_riscv64 := -march=rv64imac_zicsr_zifencei -mabi=lp64 -mcmodel=medany
RISCV_CPU_riscv32 := -march=rv32imac_zicsr_zifencei -mabi=ilp32 -mcmodel=medany
RISCV_FLAGS = $(filter-out -Wa$(comma)--gsframe,$(BARE_FLAGS)) -Iport/baremetal/riscv
comma := ,
riscv_objects = $(KERNEL_SOURCES:%.c=$(2)/%.o) $(addprefix $(2)/port/baremetal/riscv/,boot.o machine.o)

# The lines of `sfu-gen --help`: room for the tables among what is loaded, and behind all else what they are made of.
RISCV_SCRIPT := sed -e 's/^    \.sframe : {/    .sfu_sframe : ALIGN(8) {/' \
    -e 's/^        KEEP(\*(\.sframe.*/        QUAD(0) . += 64 + SIZEOF(.eh_frame) * 11 \/ 8; . = ALIGN(8);/' \
    -e 's/^    .DISCARD.*/    .eh_frame (INFO) : { KEEP(*(.eh_frame)) }\n&/' \
    -e 's/^    .DISCARD.*/    .sfu_sframe.trap (INFO) : { KEEP(*(.sfu_sframe.trap.*)) }\n&/M' \
    -e 's/ \.eh_frame \.interp/ .interp/'

# riscv_image CPU, DIRECTORY, FLAGS, COMPILER, OBJECTS, FLAGS TO LINK, FLAGS OF SFU-GEN: as kernel_image.
define riscv_image
$(2)/%.o: RISCV_C := $(or $(4),$(RISCV_CC) $(RISCV_CPU_$(1)))
$(2)/%.o: %.c $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$$(RISCV_C) $$(RISCV_FLAGS) $(3) -c $$< -o $$@

$(2)/%.o: %.S $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$(RISCV_CC) $(RISCV_CPU_$(1)) $$(RISCV_FLAGS) $(3) -c $$< -o $$@

$(2)/kernel.ld: port/baremetal/kernel.ld
	@mkdir -p $$(@D)
	$(RISCV_SCRIPT) $$< >$$@

$(2)/symbols0.o: port/symbols/symbols.py
	@mkdir -p $$(@D)
	python3 port/symbols/symbols.py riscv64-linux-gnu-nm | \
	    riscv64-linux-gnu-as $(filter-out -mcmodel%,$(RISCV_CPU_$(1))) -o $$@ -

$(2)/first.elf: $(2)/symbols0.o
$(2)/kernel.elf: $(2)/symbols.o
$(2)/symbols.o: $(2)/first.elf
	python3 port/symbols/symbols.py riscv64-linux-gnu-nm $$< | \
	    riscv64-linux-gnu-as $(filter-out -mcmodel%,$(RISCV_CPU_$(1))) -o $$@ -

.SECONDARY: $(5)
$(2)/%.elf: $(5) $(2)/kernel.ld port/baremetal/riscv/machine.ld build/tools/sfu-gen
	$(RISCV_CC) $(RISCV_CPU_$(1)) $(BARE_LINK) $(6) -L$(2) -Tport/baremetal/riscv/machine.ld $$(filter %.o,$$^) -o $$@
	build/tools/sfu-gen $(7) --strict --allow=port/baremetal/test/lost $$@
endef
$(foreach cpu,$(RISCV_CPUS),$(eval $(call riscv_image,$(cpu),build/kernel/$(cpu),,,\
    $(call riscv_objects,$(cpu),build/kernel/$(cpu)) build/kernel/$(cpu)/port/baremetal/main.o,,--small)))

# 32-bit ARM of the A profile, A32 code. Its CFI is .debug_frame, which is in no segment anyway.
ARM_CC := arm-none-eabi-gcc
ARM_CPU := -mcpu=cortex-a15 -marm -mfloat-abi=soft -mno-unaligned-access
ARM_FLAGS = $(filter-out -Wa$(comma)--gsframe -fasynchronous-unwind-tables,$(BARE_FLAGS)) -Iport/baremetal/arm
ARM_LINK := $(subst $(comma)-z$(comma)norelro,,$(BARE_LINK)) -Wl,-pie,--no-dynamic-linker,-z,noexecstack
arm_objects = $(KERNEL_SOURCES:%.c=$(1)/%.o) $(addprefix $(1)/port/baremetal/arm/,boot.o machine.o)

ARM_KEPT := .eh_frame (INFO) : { KEEP(*(.eh_frame)) } .sfu_sframe.trap (INFO) : { KEEP(*(.sfu_sframe.trap.*)) }
ARM_SCRIPT := sed -e 's/^    \.sframe : {/    .sfu_sframe : ALIGN(8) {/' \
    -e 's/^        KEEP(\*(\.sframe.*/        QUAD(0) . += 64 + SIZEOF(.debug_frame) * 5 \/ 4; . = ALIGN(8);/' \
    -e 's/^    .DISCARD.*/    .debug_frame 0 : { *(.debug_frame) }\n    $(ARM_KEPT)\n&/' \
    -e 's/ \.eh_frame \.interp/ .interp .ARM.exidx* .ARM.extab*/' \
    -e 's/\.rela\.dyn : \(.*\)\*(\.rela \.rela\.\*)/.rel.dyn : \1*(.rel .rel.*)/'

# arm_image DIRECTORY, FLAGS, COMPILER, OBJECTS, FLAGS TO LINK, FLAGS OF SFU-GEN: as kernel_image.
define arm_image
$(1)/%.o: ARM_C := $(or $(3),$(ARM_CC))
$(1)/%.o: %.c $(BARE_HEADERS) $(MAKEFILE_LIST)
	@test/tools/toolchain/install.sh arm
	@mkdir -p $$(@D)
	$$(ARM_C) $(ARM_CPU) $$(ARM_FLAGS) $(2) -c $$< -o $$@

$(1)/%.o: %.S $(BARE_HEADERS) $(MAKEFILE_LIST)
	@test/tools/toolchain/install.sh arm
	@mkdir -p $$(@D)
	$(ARM_CC) $(ARM_CPU) $$(ARM_FLAGS) $(2) -c $$< -o $$@

$(1)/kernel.ld: port/baremetal/kernel.ld $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$(ARM_SCRIPT) $$< >$$@

$(1)/symbols0.o: port/symbols/symbols.py
	@mkdir -p $$(@D)
	python3 port/symbols/symbols.py arm-none-eabi-nm | arm-none-eabi-as -o $$@ -

$(1)/first.elf: $(1)/symbols0.o
$(1)/kernel.elf: $(1)/symbols.o
$(1)/symbols.o: $(1)/first.elf
	python3 port/symbols/symbols.py arm-none-eabi-nm $$< | arm-none-eabi-as -o $$@ -

.SECONDARY: $(4)
$(1)/%.elf: $(4) $(1)/kernel.ld port/baremetal/arm/machine.ld build/tools/sfu-gen
	$(ARM_CC) $(ARM_CPU) $(ARM_LINK) $(5) -L$(1) -Tport/baremetal/arm/machine.ld \
	    $$(filter %.o,$$^) -o $$@
	build/tools/sfu-gen -q $(6) --strict --allow=port/baremetal/test/lost $$@
endef
$(eval $(call arm_image,build/kernel/arm,,,$(call arm_objects,build/kernel/arm) \
    build/kernel/arm/port/baremetal/main.o,,--small))

# 32-bit x86. Its tables are those of docs/format.md, too.
I386_CC := x86_64-linux-gnu-gcc
I386_CPU := -m32 -mgeneral-regs-only -fcf-protection=none
I386_FLAGS = $(filter-out -Wa$(comma)--gsframe,$(BARE_FLAGS)) -Iport/baremetal/i386
i386_objects = $(KERNEL_SOURCES:%.c=$(1)/%.o) $(addprefix $(1)/port/baremetal/i386/,boot.o machine.o)
I386_SCRIPT := $(RISCV_SCRIPT) -e 's/ \* 11 \/ 8/ * 3/' \
    -e 's/\.rela\.dyn : \(.*\)\*(\.rela \.rela\.\*)/.rel.dyn : \1*(.rel .rel.*)/'

# i386_image DIRECTORY, FLAGS, OBJECTS, FLAGS TO LINK, FLAGS OF SFU-GEN: as kernel_image.
define i386_image
$(1)/%.o: %.c $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$$(or $$(I386_C),$(I386_CC)) $(I386_CPU) $$(I386_FLAGS) $(2) -c $$< -o $$@

$(1)/%.o: %.S $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$(I386_CC) $(I386_CPU) $$(I386_FLAGS) $(2) -c $$< -o $$@

$(1)/kernel.ld: port/baremetal/kernel.ld $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$(I386_SCRIPT) $$< >$$@

$(1)/symbols0.o: port/symbols/symbols.py
	@mkdir -p $$(@D)
	python3 port/symbols/symbols.py x86_64-linux-gnu-nm | x86_64-linux-gnu-as --32 -o $$@ -

$(1)/first.elf: $(1)/symbols0.o
$(1)/kernel.elf: $(1)/symbols.o
$(1)/symbols.o: $(1)/first.elf
	python3 port/symbols/symbols.py x86_64-linux-gnu-nm $$< | x86_64-linux-gnu-as --32 -o $$@ -

.SECONDARY: $(3)
$(1)/%.elf: $(3) $(1)/kernel.ld port/baremetal/i386/machine.ld build/tools/sfu-gen
	$(I386_CC) $(I386_CPU) $(BARE_LINK) $(4) -L$(1) -Tport/baremetal/i386/machine.ld $$(filter %.o,$$^) -o $$@
	build/tools/sfu-gen -q $(5) --strict --allow=port/baremetal/test/lost $$@
endef
$(eval $(call i386_image,build/kernel/i386,,$(call i386_objects,build/kernel/i386) \
    build/kernel/i386/port/baremetal/main.o,,--small))

SAYS ?= hello
KERNEL_RUN_riscv64 = qemu-system-riscv64 -M virt -bios none -serial stdio \
    -semihosting-config 'enable=on,target=native,arg=$(SAYS)'
KERNEL_RUN_riscv32 = qemu-system-riscv32 -M virt -bios none -serial stdio \
    -semihosting-config 'enable=on,target=native,arg=$(SAYS)'
KERNEL_RUN_arm = qemu-system-arm -M virt -cpu cortex-a15 -serial stdio \
    -semihosting-config 'enable=on,target=native,arg=$(SAYS)'
KERNEL_RUN_x86_64 = qemu-system-x86_64 -serial stdio -device isa-debug-exit,iobase=0xf4,iosize=4 -append '$(SAYS)'
KERNEL_RUN_i386 = qemu-system-i386 -serial stdio -device isa-debug-exit,iobase=0xf4,iosize=4 -append '$(SAYS)'
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
	$(KERNEL_RUN_$(CPU)) -nodefaults -no-reboot -display none -kernel build/kernel/$(CPU)/kernel.elf || \
	    echo "QEMU ended with status $$?, as it does after a panic"

# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Kernels under QEMU's system emulators, one image for all scenarios of a machine.

BARE_SOURCES := port/print/sfu_all.c port/print/sfu_trap.c port/baremetal/module.c \
    $(addprefix port/baremetal/test/,hooks.c scenarios.c entry.c crash.c traced.c) test/truth/programs/tracer.c

# The same kernels in other ways. small: what the limits of size and stack are for. hook: no tables of exception
# entries, and with frame pointers (but on s390x, where leaf functions would have some too). pac: signed return
# addresses. clang: by another compiler.
BARE_SMALL := -Os -DSFU_OLDEST_VERSION=3 -DSFU_NO_REMOTE
BARE_SMALL_x86_64 := -DSFU_ABI=SFU_AMD64
BARE_SMALL_aarch64 := -DSFU_ABI=SFU_AARCH64
# Packed stacks as kernels there use: else each call takes 160 bytes.
BARE_SMALL_s390x := -DSFU_ABI=SFU_S390X -mpacked-stack
BARE_HOOK := -O1
BARE_HOOK_x86_64 := -fno-omit-frame-pointer
BARE_HOOK_aarch64 := -fno-omit-frame-pointer
BARE_CLANG_s390x := -DSFU_NO_FPR # arch/s390x/sfu_capture.h: the kernel has no floating point
BARE_PAC := -mbranch-protection=pac-ret

# Room for test/truth/programs/tracer.c. -pg refuses -fomit-frame-pointer. By clang 14 ld leaves no section out.
BARE_ROOM_x86_64 := -fpatchable-function-entry=5
BARE_ROOM_aarch64 := -fpatchable-function-entry=2
BARE_ROOM_s390x := -pg -mfentry -mnop-mcount

# bare_objects CPU, DIRECTORY: what a kernel is linked of, besides its symbols.
bare_objects = $(kernel_objects) $(BARE_SOURCES:%.c=$(2)/%.o) \
    $(addprefix $(2)/port/baremetal/test/,module.o entry-asm.o crash-asm.o) $(2)/test/truth/programs/tracer_hook.o

BARE_WRAP := -Wl,--wrap=machine_exit

# bare_image CPU, DIRECTORY, FLAGS, COMPILER: the kernel of a machine as DIRECTORY/kernel.elf.
define bare_image
$(call kernel_image,$(1),$(2),$(3),$(4),$(call bare_objects,$(1),$(2)),$(BARE_WRAP))

$(2)/port/baremetal/test/%-asm.o: port/baremetal/test/%.S $(BARE_HEADERS) $(MAKEFILE_LIST) | $(TC)
	@mkdir -p $$(@D)
	$(1)-linux-gnu-gcc -B$(TC)/$(1)/ $(BARE_CPU_$(1)) $$(BARE_FLAGS) -Iport/baremetal/$(1) $(3) -c $$< -o $$@

$(2)/port/baremetal/test/scenarios.o $(2)/port/baremetal/test/crash.o: BARE_FLAGS += -Wno-infinite-recursion
$(2)/port/baremetal/test/traced.o: BARE_FLAGS := $$(filter-out -fomit-frame-pointer,$$(BARE_FLAGS)) \
    $(if $(4),,$(BARE_ROOM_$(1)))

$(2)/module.ko: $(2)/port/baremetal/test/module_a.o $(2)/port/baremetal/test/module_b.o port/baremetal/test/module.ld
	$(TC)/$(1)/ld -r -T port/baremetal/test/module.ld $$(filter %.o,$$^) -o $$@
	$(TC)/$(1)/strip -g $$@
$(2)/port/baremetal/test/module.o: BARE_FLAGS += -DMODULE='"$(2)/module.ko"'
$(2)/port/baremetal/test/module.o: $(2)/module.ko

# Two more with a broken section: the symbol at its end in the middle of it, and none at all.
$(2)/cut/kernel.ld: port/baremetal/kernel.ld
	@mkdir -p $$(@D)
	sed 's/sframe_end = .;/sframe_end = sframe_start + (. - sframe_start) \/ 2;/' $$< >$$@
$(2)/missing/kernel.ld: port/baremetal/kernel.ld
	@mkdir -p $$(@D)
	sed -e '/KEEP(\*(.sframe/d' -e 's/DISCARD.*{/& *(.sframe .sframe.*)/' $$< >$$@

$(2)/kernel-cut.elf: $(2)/cut/kernel.ld $(2)/symbols.o
$(2)/kernel-missing.elf: $(2)/missing/kernel.ld $(2)/symbols.o
endef

# bare_hook CPU, DIRECTORY: that of an assembler which cannot describe exception entries.
define bare_hook
$(2)/port/baremetal/$(1)/boot.o: port/baremetal/$(1)/boot.S $(BARE_HEADERS) $(MAKEFILE_LIST) | $(TC)
	@mkdir -p $$(@D)
	$(1)-linux-gnu-gcc -B$(TC)/$(1)/ $(BARE_CPU_$(1)) $$(BARE_FLAGS) -Iport/baremetal/$(1) -c $$< -o $$@
	$(TC)/$(1)/objcopy -R '.sframe.trap*' $$@
endef

# bare_joined CPU: its kernel once more, by a linker that joins tables without merging them.
define bare_joined
$(BARE)/$(1)/joined/symbols.o: $(BARE)/$(1)/joined/first.elf
	python3 port/symbols/symbols.py $(TC)/$(1)/nm $$< | $(TC)/$(1)/as -o $$@ -
$(BARE)/$(1)/joined/first.elf: $(BARE)/$(1)/first.elf $(BARE)/$(1)/symbols0.o
$(BARE)/$(1)/joined/kernel.elf: $(BARE)/$(1)/kernel.elf $(BARE)/$(1)/joined/symbols.o
$(BARE)/$(1)/joined/first.elf $(BARE)/$(1)/joined/kernel.elf:
	@mkdir -p $$(@D)
	ld.lld -static -pie --no-dynamic-linker --gc-sections -z norelro -z max-page-size=4096 --build-id=sha1 \
	    --wrap=machine_exit -Lport/baremetal -Tport/baremetal/$(1)/machine.ld $$(filter %.o,$$^) \
	    $(call bare_objects,$(1),$(BARE)/$(1)) -o $$@
endef

$(foreach cpu,$(BARE_CPUS),$(eval $(call bare_image,$(cpu),$(BARE)/$(cpu))))
BARE_JOINED := x86_64 aarch64 # Debian's lld does not know s390x
$(foreach cpu,$(BARE_JOINED),$(eval $(call bare_joined,$(cpu))))
$(foreach cpu,$(BARE_CPUS),$(eval $(call bare_image,$(cpu),$(BARE)/$(cpu)-hook,$(BARE_HOOK) $(BARE_HOOK_$(cpu)))))
$(foreach cpu,$(BARE_CPUS),$(eval $(call bare_hook,$(cpu),$(BARE)/$(cpu)-hook)))
$(foreach cpu,$(BARE_CPUS),$(eval $(call bare_image,$(cpu),$(BARE)/$(cpu)-small,$(BARE_SMALL) $(BARE_SMALL_$(cpu)))))
$(eval $(call bare_image,aarch64,$(BARE)/aarch64-pac,$(BARE_PAC)))
$(foreach cpu,$(BARE_CPUS),$(eval \
    $(call bare_image,$(cpu),$(BARE)/$(cpu)-clang,$(BARE_CLANG_$(cpu)),\
    clang --target=$(cpu)-linux-gnu -fno-integrated-as)))

# RISC-V's: -s in S mode; the others as above.
RISCV_KINDS_riscv64 := riscv64 riscv64-s riscv64-hook riscv64-clang
RISCV_KINDS_riscv32 := riscv32 riscv32-s riscv32-small
riscv_test_objects = $(riscv_objects) $(BARE_SOURCES:%.c=$(2)/%.o) \
    $(addprefix $(2)/port/baremetal/test/,handler.o module.o entry-asm.o crash-asm.o) \
    $(2)/test/truth/programs/tracer_hook.o
RISCV_EMULATION_riscv64 := -m elf64lriscv
RISCV_EMULATION_riscv32 := -m elf32lriscv

# riscv_hook CPU, DIRECTORY: as bare_hook.
define riscv_hook
$(2)/port/baremetal/riscv/boot.o: port/baremetal/riscv/boot.S $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$(RISCV_CC) $(RISCV_CPU_$(1)) $(RISCV_FLAGS) -c $$< -o $$@
	riscv64-linux-gnu-objcopy -R '.sfu_sframe.trap*' $$@
endef

# bare_module DIRECTORY, PREFIX OF TOOLS, LD FLAGS, SECTION: a module whose tables are made as docs/kernel.md says.
# SECTION has the relocations of its .eh_frame.
define bare_module
$(1)/module.o: $(1)/port/baremetal/test/module_a.o $(1)/port/baremetal/test/module_b.o port/baremetal/test/module.ld
	$(2)ld $(3) -r -T port/baremetal/test/module.ld $$(filter %.o,$$^) -o $$@
$(1)/module.elf: $(1)/module.o
	$(2)ld $(3) -e 0 -Ttext=0x100000 --unresolved-symbols=ignore-all $$< -o $$@
$(1)/module.ko: $(1)/module.o $(1)/module.elf build/tools/sfu-gen
	build/tools/sfu-gen -q --small --strict --address=0x100000 -o $(1)/module.sframe $(1)/module.elf
	$(2)objcopy -g -R .eh_frame -R $(4) --add-section .sfu_sframe=$(1)/module.sframe \
	    --set-section-flags .sfu_sframe=alloc,readonly $$< $$@
$(1)/port/baremetal/test/module.o: BARE_FLAGS += -DMODULE='"$(1)/module.ko"'
$(1)/port/baremetal/test/module.o: $(1)/module.ko
endef

# riscv_kind CPU, DIRECTORY, FLAGS, COMPILER
define riscv_kind
$(call riscv_image,$(1),$(2),$(3),$(4),$(call riscv_test_objects,$(1),$(2)),$(BARE_WRAP))

$(2)/port/baremetal/test/%-asm.o: port/baremetal/test/%.S $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$(RISCV_CC) $(RISCV_CPU_$(1)) $$(RISCV_FLAGS) $(3) -c $$< -o $$@

$(2)/port/baremetal/test/scenarios.o $(2)/port/baremetal/test/crash.o: BARE_FLAGS += -Wno-infinite-recursion
$(2)/port/baremetal/test/traced.o: BARE_FLAGS := $$(filter-out -fomit-frame-pointer,$$(BARE_FLAGS)) \
    $(if $(4),,-fpatchable-function-entry=4)

$(2)/port/baremetal/test/module_a.o $(2)/port/baremetal/test/module_b.o: BARE_FLAGS += -mno-relax
$(call bare_module,$(2),riscv64-linux-gnu-,$(RISCV_EMULATION_$(1)) --no-relax,.rela.eh_frame)
endef
$(foreach cpu,$(RISCV_CPUS),$(eval $(call riscv_kind,$(cpu),$(BARE)/$(cpu))))
$(foreach cpu,$(RISCV_CPUS),$(eval $(call riscv_kind,$(cpu),$(BARE)/$(cpu)-s,-DMACHINE_S)))
# No header of the machine is in these: in both modes they are the same.
RISCV_SAME := sfu.o $(addprefix port/print/sfu_,print.o build_id.o cycles.o record.o all.o) \
    port/symbols/sfu_symbols.o port/fast/sfu_fast.o $(addprefix test/truth/step/,judge.o cpu.o shadow.o lookup.o)
define riscv_same
$(RISCV_SAME:%=$(BARE)/$(1)-s/%): $(BARE)/$(1)-s/%: $(BARE)/$(1)/%
	@mkdir -p $$(@D)
	@cp $$< $$@
endef
$(foreach cpu,$(RISCV_CPUS),$(eval $(call riscv_same,$(cpu))))
$(eval $(call riscv_kind,riscv64,$(BARE)/riscv64-clang,,\
    clang-16 --target=riscv64-linux-gnu -march=rv64imac -mabi=lp64 -mcmodel=medany))
# With frame pointers leaf functions would have some too.
$(eval $(call riscv_kind,riscv64,$(BARE)/riscv64-hook,$(BARE_HOOK)))
$(eval $(call riscv_kind,riscv32,$(BARE)/riscv32-small,$(BARE_SMALL) -DSFU_ABI=SFU_RISCV32))
$(eval $(call riscv_hook,riscv64,$(BARE)/riscv64-hook))

define riscv_suite
CHECK += bare-$(1)
.PHONY: suite-bare-$(1)
suite-bare-$(1): $(RISCV_KINDS_$(1):%=$(BARE)/%/kernel.elf)
	@test/tools/toolchain/install.sh bare
	@test/run.sh bare-$(1) python3 port/baremetal/test/crashes.py $(1) riscv64-linux-gnu- $(RISCV_KINDS_$(1):%=$(BARE)/%)
endef
$(foreach cpu,$(RISCV_CPUS),$(eval $(call riscv_suite,$(cpu))))

# 32-bit ARM's: A32 code, T32 code, and as above.
ARM_KINDS := arm arm-thumb arm-hook arm-clang
ARM_CLANG := clang-16 --target=arm-none-eabi
arm_test_objects = $(arm_objects) $(addprefix $(1)/,port/print/sfu_all.o port/print/sfu_trap.o \
    $(addprefix port/baremetal/test/,hooks.o scenarios.o entry.o entry-asm.o crash.o crash-asm.o))

# arm_kind DIRECTORY, FLAGS, COMPILER, FLAGS TO LINK
define arm_kind
$(call arm_image,$(1),$(2),$(3),$(call arm_test_objects,$(1)),$(BARE_WRAP) $(4))

$(1)/port/baremetal/test/%-asm.o: port/baremetal/test/%.S $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$(ARM_CC) $(ARM_CPU) $$(ARM_FLAGS) $(2) -c $$< -o $$@

$(1)/port/baremetal/test/scenarios.o $(1)/port/baremetal/test/crash.o: BARE_FLAGS += -Wno-infinite-recursion
endef
$(eval $(call arm_kind,$(BARE)/arm))
$(eval $(call arm_kind,$(BARE)/arm-thumb,-mthumb))
$(eval $(call arm_kind,$(BARE)/arm-hook,$(BARE_HOOK)))
# Without unwind tables clang saves no return address in functions that do not return. Nothing reads what EHABI has.
$(eval $(call arm_kind,$(BARE)/arm-clang,-funwind-tables,$(ARM_CLANG),\
    $(addprefix -Wl$(comma)--defsym=__aeabi_unwind_cpp_,pr0=0 pr1=0)))
$(BARE)/arm-hook/port/baremetal/arm/boot.o: port/baremetal/arm/boot.S $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $(@D)
	$(ARM_CC) $(ARM_CPU) $(ARM_FLAGS) -c $< -o $@
	arm-none-eabi-objcopy -R '.sfu_sframe.trap*' $@

CHECK += bare-arm
.PHONY: suite-bare-arm
suite-bare-arm: $(ARM_KINDS:%=$(BARE)/%/kernel.elf)
	@test/tools/toolchain/install.sh bare
	@test/run.sh bare-arm python3 port/baremetal/test/crashes.py arm arm-none-eabi- $(ARM_KINDS:%=$(BARE)/%)

# 32-bit x86: as above.
I386_KINDS := i386 i386-hook i386-small i386-clang
i386_test_objects = $(i386_objects) $(patsubst %.c,$(1)/%.o,$(filter-out %traced.c %tracer.c,$(BARE_SOURCES))) \
    $(addprefix $(1)/port/baremetal/test/,module.o entry-asm.o crash-asm.o)

# i386_kind DIRECTORY, FLAGS, COMPILER
define i386_kind
$(call i386_image,$(1),$(2),$(call i386_test_objects,$(1)),$(BARE_WRAP))

$(1)/%.o: I386_C := $(or $(3),$(I386_CC))
$(1)/port/baremetal/test/%-asm.o: port/baremetal/test/%.S $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$(I386_CC) $(I386_CPU) $$(I386_FLAGS) $(2) -c $$< -o $$@

$(1)/port/baremetal/test/scenarios.o $(1)/port/baremetal/test/crash.o: BARE_FLAGS += -Wno-infinite-recursion

$(1)/port/baremetal/test/module_a.o $(1)/port/baremetal/test/module_b.o: BARE_FLAGS += -fno-pie
$(call bare_module,$(1),x86_64-linux-gnu-,-m elf_i386,.rel.eh_frame)
endef
$(eval $(call i386_kind,$(BARE)/i386))
$(eval $(call i386_kind,$(BARE)/i386-hook,$(BARE_HOOK) $(BARE_HOOK_x86_64)))
$(eval $(call i386_kind,$(BARE)/i386-small,$(BARE_SMALL) -DSFU_ABI=SFU_I386))
$(eval $(call i386_kind,$(BARE)/i386-clang,,clang-16 --target=i686-linux-gnu))
$(BARE)/i386-hook/port/baremetal/i386/boot.o: port/baremetal/i386/boot.S $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $(@D)
	$(I386_CC) $(I386_CPU) $(I386_FLAGS) -c $< -o $@
	x86_64-linux-gnu-objcopy -R '.sfu_sframe.trap*' $@

# The last part is linked by sfu-link, with sfu_panic.c, as a tutorial's kernel is.
CHECK += bare-i386
.PHONY: suite-bare-i386
suite-bare-i386: build/tools/sfu-gen build/tools/sfu-link dist $(I386_KINDS:%=$(BARE)/%/kernel.elf)
	@test/tools/toolchain/install.sh check bare
	@test/run.sh bare-i386 sh -ec 'python3 port/baremetal/test/crashes.py i386 x86_64-linux-gnu- \
	    $(I386_KINDS:%=$(BARE)/%); python3 port/baremetal/test/i386.py'

# suite-bare-CPU: every scenario of every image, and broken sections.
define bare_suite
CHECK_$(1) += bare-$(1)
.PHONY: suite-bare-$(1)
suite-bare-$(1): $(if $(filter $(1),$(BARE_JOINED)),$(BARE)/$(1)/joined/kernel.elf) \
    $(BARE)/$(1)/kernel-cut.elf $(BARE)/$(1)/kernel-missing.elf \
    $(BARE_KINDS_$(1):%=$(BARE)/%/kernel.elf)
	@test/tools/toolchain/install.sh bare
	@test/run.sh bare-$(1) python3 port/baremetal/test/crashes.py $(1) $(TC)/$(1) $(BARE_KINDS_$(1):%=$(BARE)/%)
endef
$(foreach cpu,$(BARE_CPUS),$(eval $(call bare_suite,$(cpu))))

.PHONY: bare
## [campaigns] bare: kernels of our own that crash in every way, on six machines
bare: $(foreach cpu,$(BARE_CPUS) $(RISCV_CPUS),suite-bare-$(cpu) suite-step-kernel-$(cpu)) suite-bare-arm \
    suite-bare-i386 suite-step-kernel-i386 suite-recipes

CHECK += recipes
.PHONY: suite-recipes
suite-recipes: build/tools/sfu-gen build/tools/sfu-link | $(TC)
	@test/run.sh recipes python3 port/baremetal/test/recipes.py $(TC) $(BARE)/recipes

# EFI applications, whose tables sfu-gen makes behind their one link, booted by EDK II.
EFI := build/efi
EFI_CPUS := x86_64 aarch64
EFI_FLAGS := -std=c11 -ffreestanding -O2 -g -fno-stack-protector -fpic -fvisibility=hidden -fno-optimize-sibling-calls \
    -fasynchronous-unwind-tables $(WARN) -Werror -I. -Iarch -Iport/print -Iport/kernel
EFI_SOURCES := sfu.c port/print/sfu_print.c port/kernel/sfu_kernel.c \
    $(addprefix port/baremetal/test/efi/,main.c script.c start.S)
# Enumerations of that ABI have a sign.
EFI_PE_FLAGS := -std=c11 -ffreestanding -O2 -gdwarf -funwind-tables -fno-stack-protector \
    -fno-optimize-sibling-calls -Dnoipa=noinline $(WARN) -Wno-sign-conversion -Werror \
    $(addprefix -I$(CURDIR)/,. arch port/print port/kernel)
EFI_PE_SOURCES := sfu.c port/print/sfu_print.c port/kernel/sfu_kernel.c \
    $(addprefix port/baremetal/test/efi/,main.c pe.c)
EFI_PE_TABLES := $(addprefix port/baremetal/test/efi/,room.c added.c)

# efi_app CPU
define efi_app
$(EFI)/$(1)/app.so: $(EFI_SOURCES) port/baremetal/test/efi/efi.ld port/baremetal/test/efi/efi.h $(BARE_HEADERS) \
    port/kernel/sfu_kernel.h build/tools/sfu-gen | $(TC)
	@mkdir -p $$(@D)
	$(1)-linux-gnu-gcc -B$(TC)/$(1)/ $(BARE_CPU_$(1)) $$(EFI_FLAGS) $(EFI_SOURCES) -nostdlib -shared -Wl,-Bsymbolic \
	    -Wl,-z,max-page-size=4096,-z,noexecstack,--no-warn-rwx-segments -Wl,-T,port/baremetal/test/efi/efi.ld -o $$@
	build/tools/sfu-gen -q --small --strict $$@
$(EFI)/$(1)/app.efi: $(EFI)/$(1)/app.so
	$(TC)/$(1)/objcopy -j .text -j .data -j .sfu_sframe -j .reloc -j .dynamic -j .rela -j .dynsym -j .dynstr -j .hash \
	    -O efi-app-$(1) $$< $$@

# By a linker of PE files: its unwind codes are the CFI.
$(EFI)/$(1)-pe/linked.efi $(EFI)/$(1)-added/linked.efi: $(EFI_PE_SOURCES) $(EFI_PE_TABLES) \
    port/baremetal/test/efi/efi.h $(BARE_HEADERS) port/kernel/sfu_kernel.h $(MAKEFILE_LIST)
	@test/tools/toolchain/install.sh efi
	@mkdir -p $$(@D)
	cd $$(@D) && clang --target=$(1)-unknown-windows $$(EFI_PE_FLAGS) -c $(EFI_PE_SOURCES:%=$(CURDIR)/%) \
	    $(EFI_PE_TABLES:%=$(CURDIR)/%)
	lld-link /debug:dwarf /base:0 /subsystem:efi_application /entry:efi_start /nodefaultlib /out:$$@ \
	    $(patsubst %.c,$$(@D)/%.o,$(notdir $(EFI_PE_SOURCES))) \
	    $$(@D)/$$(if $$(findstring -added,$$@),added,room).o
$(EFI)/$(1)-pe/app.efi: $(EFI)/$(1)-pe/linked.efi build/tools/sfu-gen
	cp $$< $$@
	build/tools/sfu-gen -q --small --find $$@
$(EFI)/$(1)-added/app.efi: $(EFI)/$(1)-added/linked.efi build/tools/sfu-gen
	build/tools/sfu-gen -q --small --find --append=$$@ $$<

CHECK_$(1) += efi-$(1)
.PHONY: suite-efi-$(1)
suite-efi-$(1): $(EFI)/$(1)/app.efi $(EFI)/$(1)-pe/app.efi $(EFI)/$(1)-added/app.efi build/tools/sfu-trace \
    build/tools/sfu-lint
	@test/tools/toolchain/install.sh bare efi
	@test/run.sh efi-$(1) sh -ec 'for way in "" -pe -added; do \
	    python3 port/baremetal/test/efi/applications.py $(1) $(TC)/$(1) $(EFI)/$(1)$$$$way build/tools/sfu-trace \
	    build/tools/sfu-lint; done'
endef
$(foreach cpu,$(EFI_CPUS),$(eval $(call efi_app,$(cpu))))

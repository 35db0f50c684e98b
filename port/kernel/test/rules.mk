# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# suite-kernel: its edges. suite-kernel-CPU: kernels whose panic path is sfu_kernel.c, with tables of their exception
# entries and without.

FIRST += kernel
CHECK += kernel kernel-alone
KERNEL_PORT := build/port/kernel

.PHONY: suite-kernel suite-kernel-alone
suite-kernel: $(KERNEL_PORT)/test
	@test/run.sh kernel test/lib/check.sh kernel $(KERNEL_PORT)/test

suite-kernel-alone:
	@test/tools/toolchain/install.sh core cxx cross riscv clang
	@mkdir -p $(KERNEL_PORT)
	@test/run.sh kernel-alone port/kernel/test/edges.sh $(KERNEL_PORT)

KERNEL_PORT_TESTED := sfu.c port/print/sfu_print.c port/print/sfu_cycles.c port/print/sfu_sizes.c \
    port/kernel/sfu_kernel.c
$(KERNEL_PORT)/test: port/kernel/test/kernel_test.c $(KERNEL_PORT_TESTED) $(CHECK_C) $(CHECK_C:.c=.h) sfu.h \
    $(wildcard port/print/*.h port/kernel/*.h)
	@test/tools/toolchain/install.sh core
	@mkdir -p $(@D)
	$(CC) -std=c99 -g1 -O1 $(WARN) -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -I. -Iarch \
	    -Iport/print -Iport/kernel $(filter %.c,$^) -lpthread -o $@

KERNEL_PORT_OBJECTS := port/kernel/sfu_kernel.o port/kernel/test/main.o port/print/sfu_sizes.o
# By other flags, too: frame pointers are nothing that a trace needs.
KERNEL_PORT_HOOK := -O1

# kernel_port CPU, KIND, FLAGS, DIRECTORY: DIRECTORY has the objects around the port: those of port/baremetal/test, if
# there are any with these flags.
define kernel_port
$(call kernel_image,$(1),$(KERNEL_PORT)/$(2),-Iport/kernel $(3),,$(call kernel_objects,$(1),$(4)) \
    $(addprefix $(KERNEL_PORT)/$(2)/,$(KERNEL_PORT_OBJECTS)))
$(addprefix $(KERNEL_PORT)/$(2)/,$(KERNEL_PORT_OBJECTS)): port/kernel/sfu_kernel.h port/baremetal/test/step.h
endef
# riscv_kernel_port CPU, KIND, FLAGS, DIRECTORY
define riscv_kernel_port
$(call riscv_image,$(1),$(KERNEL_PORT)/$(2),-Iport/kernel $(3),,$(call riscv_objects,$(1),$(4)) \
    $(addprefix $(KERNEL_PORT)/$(2)/,$(KERNEL_PORT_OBJECTS)))
$(addprefix $(KERNEL_PORT)/$(2)/,$(KERNEL_PORT_OBJECTS)): port/kernel/sfu_kernel.h port/baremetal/test/step.h
endef
define riscv_kernel_port_suite
CHECK += kernel-$(1)
.PHONY: suite-kernel-$(1)
suite-kernel-$(1): $(KERNEL_PORT)/$(1)/kernel.elf $(KERNEL_PORT)/$(1)-s/kernel.elf $(KERNEL_PORT)/$(1)-hook/kernel.elf
	@test/tools/toolchain/install.sh bare
	@test/run.sh kernel-$(1) python3 port/kernel/test/panics.py $(1) riscv64-linux-gnu- \
	    $(KERNEL_PORT)/$(1) $(KERNEL_PORT)/$(1)-s $(KERNEL_PORT)/$(1)-hook
endef
define kernel_port_suite
CHECK_$(1) += kernel-$(1)
.PHONY: suite-kernel-$(1)
suite-kernel-$(1): $(KERNEL_PORT)/$(1)/kernel.elf $(KERNEL_PORT)/$(1)-hook/kernel.elf
	@test/tools/toolchain/install.sh bare
	@test/run.sh kernel-$(1) python3 port/kernel/test/panics.py $(1) $(TC)/$(1) $(KERNEL_PORT)/$(1) \
	    $(KERNEL_PORT)/$(1)-hook
endef
$(foreach cpu,$(BARE_CPUS),$(eval $(call kernel_port,$(cpu),$(cpu),,$(BARE)/$(cpu))))
$(foreach cpu,$(BARE_CPUS),$(eval $(call kernel_port,$(cpu),$(cpu)-hook,$(KERNEL_PORT_HOOK),\
    $(if $(BARE_HOOK_$(cpu)),$(KERNEL_PORT),$(BARE))/$(cpu)-hook)))
$(foreach cpu,$(BARE_CPUS),$(eval $(call bare_hook,$(cpu),$(KERNEL_PORT)/$(cpu)-hook)))
$(foreach cpu,$(BARE_CPUS),$(eval $(call kernel_port_suite,$(cpu))))
$(foreach cpu,$(RISCV_CPUS),$(eval $(call riscv_kernel_port,$(cpu),$(cpu),-DSFU_RISCV_MODE=3,$(BARE)/$(cpu))))
$(foreach cpu,$(RISCV_CPUS),$(eval $(call riscv_kernel_port,$(cpu),$(cpu)-s,-DMACHINE_S -DSFU_RISCV_MODE=1,\
    $(BARE)/$(cpu)-s)))
$(foreach cpu,$(RISCV_CPUS),$(eval $(call riscv_kernel_port,$(cpu),$(cpu)-hook,$(KERNEL_PORT_HOOK) -DSFU_RISCV_MODE=3,\
    $(if $(filter $(cpu)-hook,$(RISCV_KINDS_$(cpu))),$(BARE),$(KERNEL_PORT))/$(cpu)-hook)))
$(foreach cpu,$(RISCV_CPUS),$(eval $(call riscv_hook,$(cpu),$(KERNEL_PORT)/$(cpu)-hook)))
$(foreach cpu,$(RISCV_CPUS),$(eval $(call riscv_kernel_port_suite,$(cpu))))

# i386_kernel_port KIND, FLAGS, DIRECTORY
define i386_kernel_port
$(call i386_image,$(KERNEL_PORT)/$(1),-Iport/kernel $(2),$(call i386_objects,$(3)) \
    $(addprefix $(KERNEL_PORT)/$(1)/,$(KERNEL_PORT_OBJECTS)))
$(addprefix $(KERNEL_PORT)/$(1)/,$(KERNEL_PORT_OBJECTS)): port/kernel/sfu_kernel.h port/baremetal/test/step.h
endef
$(eval $(call i386_kernel_port,i386,,$(KERNEL_PORT)/i386))
$(eval $(call i386_kernel_port,i386-hook,$(KERNEL_PORT_HOOK),$(KERNEL_PORT)/i386-hook))
$(KERNEL_PORT)/i386-hook/port/baremetal/i386/boot.o: port/baremetal/i386/boot.S $(BARE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $(@D)
	$(I386_CC) $(I386_CPU) $(I386_FLAGS) -c $< -o $@
	x86_64-linux-gnu-objcopy -R '.sfu_sframe.trap*' $@

# The SP that a function of the test reads is the same at its calls: nothing is pushed for them.
$(addprefix $(KERNEL_PORT)/,i386/port/kernel/test/main.o i386-hook/port/kernel/test/main.o): \
    I386_FLAGS += -maccumulate-outgoing-args

CHECK += kernel-i386
.PHONY: suite-kernel-i386
suite-kernel-i386: $(KERNEL_PORT)/i386/kernel.elf $(KERNEL_PORT)/i386-hook/kernel.elf
	@test/tools/toolchain/install.sh bare
	@test/run.sh kernel-i386 python3 port/kernel/test/panics.py i386 x86_64-linux-gnu- \
	    $(KERNEL_PORT)/i386 $(KERNEL_PORT)/i386-hook

# 32-bit ARM: A32 and T32 code.
define arm_kernel_port
$(call arm_image,$(KERNEL_PORT)/$(1),-Iport/kernel $(2),,$(call arm_objects,$(KERNEL_PORT)/$(1)) \
    $(addprefix $(KERNEL_PORT)/$(1)/,$(KERNEL_PORT_OBJECTS)))
$(addprefix $(KERNEL_PORT)/$(1)/,$(KERNEL_PORT_OBJECTS)): port/kernel/sfu_kernel.h port/baremetal/test/step.h
endef
$(eval $(call arm_kernel_port,arm))
$(eval $(call arm_kernel_port,arm-thumb,-mthumb))

CHECK += kernel-arm
.PHONY: suite-kernel-arm
suite-kernel-arm: $(KERNEL_PORT)/arm/kernel.elf $(KERNEL_PORT)/arm-thumb/kernel.elf
	@test/tools/toolchain/install.sh bare
	@test/run.sh kernel-arm python3 port/kernel/test/panics.py arm arm-none-eabi- $(KERNEL_PORT)/arm \
	    $(KERNEL_PORT)/arm-thumb

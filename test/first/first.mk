# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# What the first verdict has besides the suites of other rooms: programs and kernels by Debian's own compilers, with
# tables of sfu-gen, and the tools on planted images.

FIRST_CPUS := x86_64 aarch64 s390x
FIRST += $(FIRST_CPUS:%=made-%) made-i386 first-kernel first-tools
CHECK += made-i386 first-kernel first-tools
$(foreach cpu,$(FIRST_CPUS),$(eval CHECK_$(cpu) += made-$(cpu)))

.PHONY: $(FIRST_CPUS:%=suite-made-%) suite-made-i386 suite-first-kernel suite-first-tools
$(FIRST_CPUS:%=suite-made-%) suite-made-i386: suite-made-%: build/tools/sfu-gen
	@test/tools/toolchain/install.sh core $(if $(filter i386,$*),m32,cross)
	@MADE=yes test/run.sh made-$* test/truth/programs/run.sh $*

FIRST_KERNEL := $(BARE)/first
$(eval $(call made_image,$(FIRST_KERNEL),-Iport/kernel,\
    $(KERNEL_SOURCES:%.c=$(FIRST_KERNEL)/%.o) $(addprefix $(FIRST_KERNEL)/,$(KERNEL_PORT_OBJECTS) \
    $(addprefix port/baremetal/x86_64/,boot.o machine.o))))
$(addprefix $(FIRST_KERNEL)/,$(KERNEL_PORT_OBJECTS)): port/kernel/sfu_kernel.h port/baremetal/test/step.h
suite-first-kernel: $(FIRST_KERNEL)/kernel.elf $(MANUAL)/first/kernel.elf
	@test/tools/toolchain/install.sh core python tools x86
	@test/run.sh first-kernel sh -c 'python3 port/kernel/test/panics.py x86_64 x86_64-linux-gnu- $(FIRST_KERNEL); \
	    python3 -B test/first/example.py $(MANUAL)/first'

suite-first-tools: build/tools/sfu-gen build/tools/sfu-lint build/tools/sfu-trace
	@test/tools/toolchain/install.sh core cross python tools
	@test/run.sh first-tools python3 -B test/first/tools.py build/tools build/first

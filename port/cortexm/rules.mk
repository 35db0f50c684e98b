# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Firmware for QEMU's boards with a Cortex-M: `make cortexm` shows how one crashes, suite-bare-cortexm crashes them in
# every way.

CORTEXM := build/cortexm
CORTEXM_BOARDS := mps2-an385 mps2-an386 microbit mps3-an547
CORTEXM_CPU_mps2-an385 := -mcpu=cortex-m3 -mthumb -mfloat-abi=soft
CORTEXM_CPU_mps2-an386 := -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16
CORTEXM_CPU_microbit := -mcpu=cortex-m0 -mthumb -mfloat-abi=soft
CORTEXM_CPU_mps3-an547 := -mcpu=cortex-m55 -mthumb -mfloat-abi=hard
CORTEXM_SCRIPT_mps2-an385 := mps2
CORTEXM_SCRIPT_mps2-an386 := mps2
CORTEXM_SCRIPT_microbit := microbit
CORTEXM_SCRIPT_mps3-an547 := mps3

CORTEXM_CC := arm-none-eabi-gcc
CORTEXM_CLANG := clang-16 --target=arm-none-eabi
CORTEXM_FLAGS := -std=c11 -Os -g -ffreestanding -ffunction-sections -fdata-sections -fno-optimize-sibling-calls \
    $(WARN) -Werror -DSFU_ABI=SFU_THUMB -DSFU_OLDEST_VERSION=3 -DSFU_NO_REMOTE \
    -I. -Iarch -Iport/print -Iport/cortexm -Iport/baremetal/cortexm
CORTEXM_SOURCES := sfu.c port/print/sfu_print.c port/print/sfu_sizes.c port/print/sfu_trap.c \
    port/cortexm/sfu_cortexm.c port/baremetal/cortexm/start.c
CORTEXM_HEADERS := sfu.h $(wildcard arch/*.h arch/arm/*.h port/print/*.h port/cortexm/*.h port/baremetal/cortexm/*.h)

# cortexm_image BOARD, DIRECTORY, FLAGS, COMPILER: DIRECTORY/firmware.elf, of main.c, and test.elf, with their tables.
# The compiler that links has libgcc for the board.
define cortexm_image
$(2)/%.o: %.c $(CORTEXM_HEADERS) $(MAKEFILE_LIST)
	@test/tools/toolchain/install.sh arm clang
	@mkdir -p $$(@D)
	$(or $(4),$(CORTEXM_CC)) $(CORTEXM_CPU_$(1)) $$(CORTEXM_FLAGS) $(3) -c $$< -o $$@

.SECONDARY: $(CORTEXM_SOURCES:%.c=$(2)/%.o) $(2)/port/baremetal/cortexm/main.o $(2)/port/baremetal/test/cortexm.o \
    $(2)/port/cortexm/test/steps.o
$(2)/firmware.elf: $(2)/port/baremetal/cortexm/main.o
$(2)/test.elf: $(2)/port/baremetal/test/cortexm.o
$(2)/steps.elf: $(2)/port/cortexm/test/steps.o
$(2)/%.elf: $(CORTEXM_SOURCES:%.c=$(2)/%.o) $(wildcard port/baremetal/cortexm/*.ld) build/tools/sfu-gen
	$(CORTEXM_CC) $(CORTEXM_CPU_$(1)) -nostdlib -Wl,--gc-sections,-z,noexecstack -Lport/baremetal/cortexm \
	    -T$(CORTEXM_SCRIPT_$(1)).ld $$(filter %.o,$$^) -lgcc -o $$@
	build/tools/sfu-gen -q --small --strict $$@
endef
$(foreach board,$(CORTEXM_BOARDS),$(eval $(call cortexm_image,$(board),$(CORTEXM)/$(board))))
$(eval $(call cortexm_image,mps2-an385,$(CORTEXM)/mps2-an385-O0,-O0))
$(eval $(call cortexm_image,mps2-an386,$(CORTEXM)/mps2-an386-clang,,$(CORTEXM_CLANG)))
$(eval $(call cortexm_image,mps2-an386,$(CORTEXM)/mps2-an386-lto,-flto))
# As on a CPU without fault registers. Of those QEMU has none with an MPU.
$(eval $(call cortexm_image,mps2-an385,$(CORTEXM)/mps2-an385-unsaid))
$(CORTEXM)/mps2-an385-unsaid/port/cortexm/sfu_cortexm.o: CORTEXM_FLAGS += -mcpu=cortex-m0
# For steps alone.
$(foreach board,$(filter-out mps2-an385,$(CORTEXM_BOARDS)),$(foreach level,O0 O2,\
    $(eval $(call cortexm_image,$(board),$(CORTEXM)/$(board)-step-$(level),-$(level)))))
$(foreach board,$(filter-out mps2-an385,$(CORTEXM_BOARDS)),$(foreach level,O0 O2 Os,\
    $(eval $(call cortexm_image,$(board),$(CORTEXM)/$(board)-step-clang-$(level),-$(level),$(CORTEXM_CLANG)))))
$(eval $(call cortexm_image,mps2-an386,$(CORTEXM)/mps2-an386-step-fp,-fno-omit-frame-pointer))
CORTEXM_KINDS := $(CORTEXM_BOARDS) mps2-an385-O0 mps2-an385-unsaid mps2-an386-clang mps2-an386-lto

FIRST += cortexm
CHECK += cortexm bare-cortexm
.PHONY: suite-cortexm
suite-cortexm: build/port/cortexm/test
	@test/run.sh cortexm test/lib/check.sh cortexm build/port/cortexm/test

build/port/cortexm/test: port/cortexm/test/cortexm_test.c port/cortexm/sfu_cortexm.c port/print/sfu_print.c sfu.c \
    $(CHECK_C) $(CHECK_C:.c=.h) sfu.h $(wildcard port/print/*.h port/cortexm/*.h)
	@test/tools/toolchain/install.sh core
	@mkdir -p $(@D)
	$(CC) -std=c99 -g -O1 $(WARN) -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -I. -Iport/print \
	    -Iport/cortexm $(filter %.c,$^) -o $@

# For CPUs of which QEMU has no board, without a warning: what is read of registers depends on the CPU.
$(CORTEXM)/cpus: port/cortexm/sfu_cortexm.c $(CORTEXM_HEADERS)
	@test/tools/toolchain/install.sh arm clang
	@mkdir -p $(@D)
	@for cpu in cortex-m0plus cortex-m1 cortex-m7 cortex-m23 cortex-m33 cortex-m35p; do \
	    for cc in '$(CORTEXM_CC)' '$(CORTEXM_CLANG)'; do \
	        $$cc -mcpu=$$cpu -mthumb -std=c99 -Os -ffreestanding $(WARN) -Werror -I. -Iport/print \
	            -c $< -o $@.o || exit 1; \
	    done; \
	done
	@touch $@

.PHONY: suite-bare-cortexm cortexm
suite-bare-cortexm: $(CORTEXM)/cpus $(foreach kind,$(CORTEXM_KINDS),$(CORTEXM)/$(kind)/test.elf)
	@test/tools/toolchain/install.sh bare
	@test/run.sh bare-cortexm python3 port/baremetal/test/cortexm.py arm-none-eabi- $(CORTEXM_KINDS:%=$(CORTEXM)/%)

# A trace at every instruction.
CHECK += step-cortexm
CORTEXM_STEPPED := $(foreach board,$(filter-out mps2-an385,$(CORTEXM_BOARDS)),$(board) \
    $(addprefix $(board)-step-,O0 O2 clang-O0 clang-O2 clang-Os)) mps2-an386-step-fp
.PHONY: suite-step-cortexm
suite-step-cortexm: $(foreach kind,$(CORTEXM_STEPPED),$(CORTEXM)/$(kind)/steps.elf)
	@test/tools/toolchain/install.sh bare
	@test/run.sh step-cortexm python3 -B port/cortexm/test/steps.py arm-none-eabi- $(CORTEXM_STEPPED:%=$(CORTEXM)/%)

BOARD ?= mps2-an386
## [tools] cortexm BOARD=microbit: a firmware of our own for a Cortex-M, and how it crashes in QEMU
cortexm: $(CORTEXM)/$(BOARD)/firmware.elf build/tools/sfu-trace
	@test/tools/toolchain/install.sh bare
	qemu-system-arm -M $(BOARD) -display none -semihosting-config enable=on,target=native -kernel $< 2>&1 | \
	    build/tools/sfu-trace $<

# A profile by SysTick.
CHECK += profile-cortexm
CORTEXM_PROFILED := mps2-an386 microbit
CORTEXM_PROFILE := profile/test/cortexm.o profile/sfu_profile.o depot/sfu_depot.o depot/sfu_depot_print.o \
    print/sfu_build_id.o
define cortexm_profile
.SECONDARY: $(CORTEXM_PROFILE:%=$(CORTEXM)/$(1)/port/%)
$(CORTEXM_PROFILE:%=$(CORTEXM)/$(1)/port/%): CORTEXM_FLAGS += -Iport/fast -Iport/depot -Iport/profile
$(CORTEXM)/$(1)/profile.elf: $(CORTEXM_PROFILE:%=$(CORTEXM)/$(1)/port/%)
endef
$(foreach board,$(CORTEXM_PROFILED),$(eval $(call cortexm_profile,$(board))))
.PHONY: suite-profile-cortexm
suite-profile-cortexm: $(CORTEXM_PROFILED:%=$(CORTEXM)/%/profile.elf) build/tools/sfu-trace
	@test/tools/toolchain/install.sh bare
	@test/run.sh profile-cortexm python3 port/profile/test/cortexm.py build/tools/sfu-trace \
	    $(CORTEXM_PROFILED:%=$(CORTEXM)/%/profile.elf)

# Other ways to a trace, side by side: what each takes, and how many frames are right.
CORTEXM_PEERS := none scan ehabi fp sfu dump dump-kept
CORTEXM_PEER_SOURCES := port/cortexm/test/peers.c port/print/sfu_dump.c port/print/sfu_build_id.c $(CORTEXM_SOURCES)
$(CORTEXM)/peers/%.elf: PEER = $(subst peers-,,$(*F))
$(CORTEXM)/peers/%.elf: $(CORTEXM_PEER_SOURCES) $(CORTEXM_HEADERS) $(wildcard port/baremetal/cortexm/*.ld) \
    build/tools/sfu-gen $(MAKEFILE_LIST)
	@test/tools/toolchain/install.sh arm clang
	@mkdir -p $(@D)
	$(CORTEXM_CC) $(CORTEXM_CPU_mps2-an386) $(CORTEXM_FLAGS) -Wno-unused \
	    $(if $(filter peers,$(PEER)),,$(addprefix -DPEER_,$(shell echo $(PEER) | tr a-z- 'A-Z '))) \
	    $(if $(filter peers ehabi,$(PEER)),-funwind-tables) -nostdlib -Wl,--gc-sections \
	    -Lport/baremetal/cortexm -Tmps2.ld $(filter %.c,$^) -lgcc -o $@
	$(if $(filter dump%,$(PEER)),arm-none-eabi-objcopy -R .sfu_sframe $@,build/tools/sfu-gen --small --strict \
	    --fp=auto $@ 2>$@.tables || { cat $@.tables; exit 1; })

# The tables of a large program, which is not run.
$(CORTEXM)/peers/sqlite.elf: port/cortexm/test/tables.ld build/tools/sfu-gen test/tools/toolchain/sources.sh
	@test/tools/toolchain/install.sh arm clang
	@mkdir -p $(@D)
	src=$$(test/tools/toolchain/sources.sh) && $(CORTEXM_CC) $(CORTEXM_CPU_mps2-an386) -Os -g1 -funwind-tables -w \
	    -ffunction-sections -DSQLITE_OS_OTHER=1 -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION \
	    -c "$$src/sqlite3/sqlite3.c" -o $@.o
	$(CORTEXM_CC) -nostdlib -T$< -Wl,--unresolved-symbols=ignore-all,-e,sqlite3_open,--no-warn-rwx-segments $@.o -o $@
	build/tools/sfu-gen --small --strict --fp=auto $@ 2>$@.tables || { cat $@.tables; exit 1; }

.PHONY: cortexm-peers
## [measure] cortexm-peers: traces on a Cortex-M by a scan, EHABI, frame pointers, sfu: bytes, right frames
cortexm-peers: $(CORTEXM)/peers/peers.elf $(CORTEXM_PEERS:%=$(CORTEXM)/peers/peers-%.elf) $(CORTEXM)/peers/sqlite.elf \
    build/tools/sfu-trace
	@test/tools/toolchain/install.sh bare
	@rm -f $(CORTEXM)/peers/stub
	python3 port/cortexm/test/peers.py arm-none-eabi- $(CORTEXM)/peers build/tools/sfu-trace $(STEPS)

# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Kernels that profile themselves by their machine's timer.

PROFILE := build/profile
PROFILE_SOURCES := sfu.c $(addprefix port/,$(addprefix print/sfu_,print.c build_id.c cycles.c record.c) \
    fast/sfu_fast.c depot/sfu_depot.c depot/sfu_depot_print.c profile/sfu_profile.c \
    baremetal/kernel.c baremetal/tables.c baremetal/heap.c)
PROFILE_HEADERS := sfu.h $(wildcard arch/*.h arch/*/*.h port/print/*.h port/fast/*.h port/depot/*.h port/profile/*.h \
    port/profile/test/*.h port/baremetal/*.h port/baremetal/*/*.h port/baremetal/*/machine.ld port/baremetal/kernel.ld)
PROFILE_INCLUDE := $(addprefix -Iport/,fast depot profile)

# profile_objects CPU, SOURCES, MACHINE: what its kernels are linked of, besides what they are for. Objects of the port
# and the printer are those of port/baremetal/test, which has the same flags. Their order is that of SOURCES: how near
# the measured shares come to the true ones depends on where the code lies.
profile_objects = $(foreach file,$(2) port/baremetal/$(3)/machine.c port/baremetal/$(3)/boot.S,\
    $(if $(filter $(PROFILE_OWN),$(file)),$(PROFILE),$(BARE))/$(1)/$(basename $(file)).o)
PROFILE_OWN := port/fast/% port/depot/% port/profile/% port/baremetal/heap.c
PROFILE_TESTS := $(addprefix port/profile/test/,shares.o memory.o recipe.o)

# profile_kernel CPU: its kernels, by the flags of port/baremetal/test.
define profile_kernel
$(PROFILE)/$(1)/%.o: %.c $(PROFILE_HEADERS) $(MAKEFILE_LIST) | $(TC)
	@test/tools/toolchain/install.sh check
	@mkdir -p $$(@D)
	$(1)-linux-gnu-gcc -B$(TC)/$(1)/ $$(BARE_CPU_$(1)) $$(BARE_FLAGS) $(PROFILE_INCLUDE) -Iport/baremetal/$(1) \
	    -c $$< -o $$@

.SECONDARY: $(call profile_objects,$(1),$(PROFILE_SOURCES),$(1)) $(PROFILE_TESTS:%=$(PROFILE)/$(1)/%)
$(PROFILE)/$(1)/%.elf: $(PROFILE)/$(1)/port/profile/test/%.o $(call profile_objects,$(1),$(PROFILE_SOURCES),$(1)) \
    port/baremetal/$(1)/machine.ld port/baremetal/kernel.ld
	$(1)-linux-gnu-gcc -B$(TC)/$(1)/ $(BARE_LINK) $$(PROFILE_LINK) -Lport/baremetal \
	    -Tport/baremetal/$(1)/machine.ld $$(filter %.o,$$^) -o $$@
$(PROFILE)/$(1)/memory.elf: PROFILE_LINK := -Wl,--wrap=machine_exit

CHECK_$(1) += profile-$(1)
$(call profile_suite,$(1))
endef
define profile_suite
.PHONY: suite-profile-$(1)
suite-profile-$(1): $(addprefix $(PROFILE)/$(1)/,shares.elf memory.elf recipe.elf) build/tools/sfu-trace
	@test/tools/toolchain/install.sh bare
	@test/run.sh profile-$(1) python3 port/profile/test/samples.py $(1) $(PROFILE)/$(1) build/tools/sfu-trace
endef
$(foreach cpu,x86_64 aarch64 s390x,$(eval $(call profile_kernel,$(cpu))))

# In M mode; sfu-gen makes the tables. Without atomic operations of 64 bits the fast walker is left out. The kernels of
# 32 bits divide numbers of 64 bits, for which they need the compiler's library.
PROFILE_SOURCES_riscv64 := $(PROFILE_SOURCES)
PROFILE_SOURCES_riscv32 := $(filter-out port/fast/%,$(PROFILE_SOURCES))
PROFILE_LIBRARY_riscv32 = $$(riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32 -print-libgcc-file-name)
define profile_riscv
$(PROFILE)/$(1)/%.o: %.c $(PROFILE_HEADERS) $(MAKEFILE_LIST)
	@test/tools/toolchain/install.sh check
	@mkdir -p $$(@D)
	$(RISCV_CC) $(RISCV_CPU_$(1)) $$(RISCV_FLAGS) $(PROFILE_INCLUDE) -c $$< -o $$@

.SECONDARY: $(call profile_objects,$(1),$(PROFILE_SOURCES_$(1)),riscv) $(PROFILE_TESTS:%=$(PROFILE)/$(1)/%)
$(PROFILE)/$(1)/%.elf: $(PROFILE)/$(1)/port/profile/test/%.o \
    $(call profile_objects,$(1),$(PROFILE_SOURCES_$(1)),riscv) $(BARE)/$(1)/kernel.ld \
    port/baremetal/riscv/machine.ld build/tools/sfu-gen
	$(RISCV_CC) $(RISCV_CPU_$(1)) $(BARE_LINK) $$(PROFILE_LINK) -L$(BARE)/$(1) \
	    -Tport/baremetal/riscv/machine.ld $$(filter %.o,$$^) $$(PROFILE_LIBRARY_$(1)) -o $$@
	build/tools/sfu-gen -q --strict $$@
$(PROFILE)/$(1)/memory.elf: PROFILE_LINK := -Wl,--wrap=machine_exit
CHECK += profile-$(1)
$(call profile_suite,$(1))
endef
$(foreach cpu,$(RISCV_CPUS),$(eval $(call profile_riscv,$(cpu))))

# 32-bit x86: the core makes all traces there, too. At a fixed address, because functions that find out where they run
# would have a share of their own.
PROFILE_I386_FLAGS = $(filter-out -fpie,$(I386_FLAGS)) -fno-pie
PROFILE_I386_LINK := $(subst -static-pie,-static -no-pie,$(BARE_LINK))
PROFILE_I386 := $(PROFILE_SOURCES_riscv32:%.c=$(PROFILE)/i386/%.o) \
    $(addprefix $(PROFILE)/i386/port/baremetal/i386/,machine.o boot.o)
define profile_i386
$(PROFILE)/i386/%.o: %.c $(PROFILE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$(I386_CC) $(I386_CPU) $$(PROFILE_I386_FLAGS) $(PROFILE_INCLUDE) -c $$< -o $$@

$(PROFILE)/i386/%.o: %.S $(PROFILE_HEADERS) $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$(I386_CC) $(I386_CPU) $$(PROFILE_I386_FLAGS) -c $$< -o $$@

$(PROFILE)/i386/kernel.ld: port/baremetal/kernel.ld $(MAKEFILE_LIST)
	@mkdir -p $$(@D)
	$(I386_SCRIPT) $$< >$$@

.SECONDARY: $(PROFILE_I386) $(PROFILE_TESTS:%=$(PROFILE)/i386/%)
$(PROFILE)/i386/%.elf: $(PROFILE)/i386/port/profile/test/%.o $(PROFILE_I386) $(PROFILE)/i386/kernel.ld \
    port/baremetal/i386/machine.ld build/tools/sfu-gen
	$(I386_CC) $(I386_CPU) $(PROFILE_I386_LINK) $$(PROFILE_LINK) -L$(PROFILE)/i386 -Tport/baremetal/i386/machine.ld \
	    $$(filter %.o,$$^) $$$$($(I386_CC) -m32 -print-libgcc-file-name) -o $$@
	build/tools/sfu-gen -q --strict $$@
$(PROFILE)/i386/memory.elf: PROFILE_LINK := -Wl,--wrap=machine_exit
CHECK += profile-i386
$(call profile_suite,i386)
endef
$(eval $(call profile_i386))

# sqlite as test/truth/step builds it, in a kernel that has its own memcpy and memset.
PROFILE_PROGRAM = -O2 -g -w -std=gnu99 -m64 -mno-red-zone -fcf-protection=none -fno-stack-protector -fpie -fno-builtin \
    -fno-tree-loop-distribute-patterns -U_FORTIFY_SOURCE -D__NO_CTYPE -fvisibility=hidden -fno-optimize-sibling-calls \
    -fasynchronous-unwind-tables -Wa,--gsframe -I. -Itest/truth/step/programs -DSQLITE_OS_OTHER=1 \
    -DSQLITE_THREADSAFE=0 -DSQLITE_TEMP_STORE=3 -DLONGDOUBLE_TYPE=double -DSQLITE_OMIT_LOAD_EXTENSION \
    -DSQLITE_OMIT_LOCALTIME -DSQLITE_OMIT_WAL -DSQLITE_OMIT_JSON -DSQLITE_DEFAULT_LOOKASIDE=0,0
$(PROFILE)/x86_64/program/sqlite3.o: | $(TC)
	@test/tools/toolchain/install.sh check
	@mkdir -p $(@D)
	src=$$(test/tools/toolchain/sources.sh)/sqlite3 && \
	    x86_64-linux-gnu-gcc -B$(TC)/x86_64/ $(PROFILE_PROGRAM) -c $$src/sqlite3.c -o $@ && \
	    for part in shim sqlite; do x86_64-linux-gnu-gcc -B$(TC)/x86_64/ $(PROFILE_PROGRAM) -I$$src \
	        -c test/truth/step/programs/$$part.c -o $(@D)/$$part.o || exit; done

$(PROFILE)/x86_64/sqlite.elf: port/profile/test/sqlite.c $(PROFILE_SOURCES) port/baremetal/x86_64/machine.c \
    port/baremetal/x86_64/boot.S $(PROFILE_HEADERS) $(PROFILE)/x86_64/program/sqlite3.o
	x86_64-linux-gnu-gcc -B$(TC)/x86_64/ $(BARE_CPU_x86_64) $(BARE_FLAGS) -Dmemcpy=kernel_memcpy \
	    -Dmemset=kernel_memset $(PROFILE_INCLUDE) -Iport/baremetal/x86_64 $(filter %.c %.S,$^) \
	    $(wildcard $(PROFILE)/x86_64/program/*.o) $(BARE_LINK) -Lport/baremetal -Tport/baremetal/x86_64/machine.ld -o $@

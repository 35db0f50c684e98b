# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The fast walker beside the core: random tables and stacks, on every ABI; and traces that interrupt each other.

FIRST += fast
CHECK += fast fast-threads
CHECK_aarch64 += fast-aarch64
CHECK_s390x += fast-s390x
CHECK_aarch64_be += fast-aarch64_be
CHECK += fast-riscv64

FAST_SHARED := sfu.c port/fast/sfu_fast.c port/fast/test/random_tables.c test/unit/build.c
FAST_REPEAT := port/fast/sfu_repeat.c port/fast/test/repeat_test.c port/profile/sfu_profile.c \
    port/depot/sfu_depot.c port/depot/sfu_depot_print.c port/print/sfu_print.c port/print/sfu_build_id.c
FAST_HEADERS := $(wildcard port/fast/*.h port/profile/*.h port/depot/*.h port/print/*.h \
    port/fast/test/*.h test/lib/*.h) test/unit/build.h sfu.h
FAST_CFLAGS := -std=gnu99 -g1 $(WARN) -Werror -I. -Iport/fast -Iport/depot -Iport/profile -Iport/print -Itest/unit
FAST_WRAP := -Wl,--wrap=sfu_walk_step,--wrap=sfu_apply

# fast_programs DIRECTORY, COMPILER AND FLAGS: the programs of one set of flags share these objects.
define fast_programs
$(1)/%.o: %.c $(FAST_HEADERS) $(MAKEFILE_LIST)
	@test/tools/toolchain/install.sh $(if $(filter $(CC),$(firstword $(2))),core,cross riscv)
	@mkdir -p $$(@D)
	$(2) $(FAST_CFLAGS) -c $$< -o $$@

$(1)/fast_test: $(FAST_SHARED:%.c=$(1)/%.o) $(1)/port/fast/test/fast_test.o $(1)/test/lib/check.o
	$(2) $$^ $(FAST_WRAP) -o $$@
# Sections that come and go while threads walk.
$(1)/change_test: $(FAST_SHARED:%.c=$(1)/%.o) $(1)/port/fast/test/change_test.o $(1)/test/lib/check.o
	$(2) $$^ -lpthread -o $$@
# One that remembers the last trace.
$(1)/repeat_test: $(FAST_SHARED:%.c=$(1)/%.o) $(FAST_REPEAT:%.c=$(1)/%.o) $(1)/test/lib/check.o
	$(2) $$^ -Wl,--wrap=sfu_walk_step -lpthread -o $$@
# Single steps and signals are this CPU's.
$(1)/race_test: $(FAST_SHARED:%.c=$(1)/%.o) $(1)/port/fast/test/race_test.o $(1)/test/lib/check.o
	$(2) $$^ -lpthread -o $$@
endef
FAST_CPUS := aarch64 s390x riscv64
$(eval $(call fast_programs,build/fast/sanitized,$(CC) -O1 -fsanitize=address -fsanitize=undefined \
    -fno-sanitize-recover=all))
$(eval $(call fast_programs,build/fast/plain,$(CC) -O2))
# ThreadSanitizer, which this CPU's gcc has.
$(eval $(call fast_programs,build/fast/thread,$(CC) -O1 -fsanitize=thread))
$(foreach cpu,$(FAST_CPUS),$(eval $(call fast_programs,build/fast/$(cpu),$(cpu)-linux-gnu-gcc -O2 -static)))

# Debian has no libc for it: what the stepped programs have instead, and headers of the other byte order.
FAST_BARE := port/fast/test/bare.c test/lib/check.c $(addprefix test/truth/step/programs/,start.S shim.c signals.c)
build/fast/aarch64_be/fast_test: $(FAST_SHARED) port/fast/test/fast_test.c $(FAST_BARE) $(FAST_HEADERS) \
    test/truth/step/programs/step.h | $(TC)
	@test/tools/toolchain/install.sh check
	@mkdir -p $(@D)/include/gnu
	@touch $(@D)/include/gnu/stubs-lp64_be.h
	aarch64-linux-gnu-gcc -mbig-endian -B$(TC)/aarch64/ -std=gnu99 -g -O2 -w -fno-builtin -fno-stack-protector \
	    -fno-tree-loop-distribute-patterns -U_FORTIFY_SOURCE -nostdlib -static -no-pie -fno-pie \
	    -Wl,-Ttext-segment=0x1000000000 -I. -Iport/fast \
	    -Itest/unit -Itest/truth/step/programs -idirafter $(@D)/include -Dmain=fast_main \
	    $(FAST_WRAP),--wrap=vsnprintf $(filter %.c %.S,$^) -o $@

.PHONY: suite-fast suite-fast-threads suite-fast-aarch64 suite-fast-aarch64_be suite-fast-s390x suite-fast-riscv64
suite-fast: build/fast/sanitized/fast_test
	@test/run.sh fast build/fast/sanitized/fast_test 500

# The last trace, remembered.
CHECK += fast-repeat
.PHONY: suite-fast-repeat
suite-fast-repeat: build/fast/sanitized/repeat_test build/fast/thread/repeat_test \
    $(foreach cpu,aarch64 s390x riscv64,build/fast/$(cpu)/repeat_test)
	@test/run.sh fast-repeat sh -ec 'test/lib/check.sh repeat build/fast/sanitized/repeat_test 60; \
	    test/lib/check.sh "repeat, ThreadSanitizer" build/fast/thread/repeat_test 8; \
	    for cpu in aarch64 s390x riscv64; do \
	        test/lib/check.sh "repeat, $$cpu" qemu-$$cpu build/fast/$$cpu/repeat_test 12; done'

suite-fast-threads: $(addprefix build/fast/,plain/race_test plain/change_test thread/change_test)
	@test/run.sh fast-threads sh -ec 'test/lib/check.sh race build/fast/plain/race_test; \
	    test/lib/check.sh change build/fast/plain/change_test; \
	    test/lib/check.sh "change, ThreadSanitizer" build/fast/thread/change_test 200'

suite-fast-aarch64 suite-fast-s390x suite-fast-riscv64: suite-fast-%: build/fast/%/fast_test build/fast/%/change_test
	@test/run.sh fast-$* sh -ec 'qemu-$* build/fast/$*/fast_test 150; \
	    test/lib/check.sh change qemu-$* build/fast/$*/change_test 1000'

suite-fast-aarch64_be: suite-fast-%: build/fast/%/fast_test
	@test/run.sh fast-$* qemu-$* build/fast/$*/fast_test 150

# Its protocol under the memory models of C11 and aarch64.
CHECK += fast-models
.PHONY: suite-fast-models
suite-fast-models:
	@tc=$$(test/tools/toolchain/toolchain.sh herd) && \
	    test/run.sh fast-models test/lib/models.py $$tc/herd/herd7 build/fast/models port/fast/test/models.txt

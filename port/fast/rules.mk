# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The fast walker beside the core: random tables and stacks, on every ABI; and traces that interrupt each other.

CHECK += fast
CHECK_aarch64 += fast-aarch64
CHECK_s390x += fast-s390x
CHECK_aarch64_be += fast-aarch64_be
CHECK += fast-riscv64

FAST_TEST := $(addprefix port/fast/test/,table.c fast_test.c) test/unit/build.c
FAST_DEPS := $(FAST_TEST) $(wildcard port/fast/test/*.h) port/fast/sfu_fast.c port/fast/sfu_fast.h test/unit/build.h \
    sfu.c sfu.h
FAST_CFLAGS := -std=gnu99 -g $(WARN) -Werror -I. -Iport/fast -Itest/unit -Wl,--wrap=sfu_walk_step,--wrap=sfu_apply

build/fast/test: $(FAST_DEPS)
	@test/tools/toolchain/install.sh check
	@mkdir -p $(@D)
	$(CC) $(FAST_CFLAGS) -O1 -fsanitize=address,undefined -fno-sanitize-recover=all $(FAST_TEST) sfu.c \
	    port/fast/sfu_fast.c -o $@

build/fast/test-%: $(FAST_DEPS)
	@test/tools/toolchain/install.sh check
	@mkdir -p $(@D)
	$*-linux-gnu-gcc $(FAST_CFLAGS) -O2 -static $(FAST_TEST) sfu.c port/fast/sfu_fast.c -o $@

# Debian has no libc for it: what the stepped programs have instead, and headers of the other byte order.
FAST_BARE := port/fast/test/bare.c $(addprefix test/truth/step/programs/,start.S shim.c signals.c)
build/fast/test-aarch64_be: $(FAST_DEPS) $(FAST_BARE) test/truth/step/programs/step.h | $(TC)
	@test/tools/toolchain/install.sh check
	@mkdir -p $(@D)/include/gnu
	@touch $(@D)/include/gnu/stubs-lp64_be.h
	aarch64-linux-gnu-gcc -mbig-endian -B$(TC)/aarch64/ -std=gnu99 -g -O2 -w -fno-builtin -fno-stack-protector \
	    -fno-tree-loop-distribute-patterns -U_FORTIFY_SOURCE -nostdlib -static -no-pie -fno-pie \
	    -Wl,-Ttext-segment=0x1000000000 -I. -Iport/fast \
	    -Itest/unit -Itest/truth/step/programs -idirafter $(@D)/include -Dmain=fast_main \
	    -Wl,--wrap=sfu_walk_step,--wrap=sfu_apply \
	    $(FAST_TEST) $(FAST_BARE) sfu.c port/fast/sfu_fast.c -o $@

# Single steps and signals are this CPU's.
build/fast/race: $(FAST_DEPS) port/fast/test/race_test.c
	@test/tools/toolchain/install.sh check
	@mkdir -p $(@D)
	$(CC) -std=gnu99 -g -O2 $(WARN) -Werror -I. -Iport/fast -Itest/unit port/fast/test/table.c \
	    port/fast/test/race_test.c test/unit/build.c sfu.c port/fast/sfu_fast.c -lpthread -o $@

# Sections that come and go while threads walk: as it is, and with ThreadSanitizer, which this CPU's gcc has.
FAST_CHANGE := $(addprefix port/fast/test/,table.c change_test.c) test/unit/build.c sfu.c port/fast/sfu_fast.c
FAST_CHANGE_FLAGS := -std=gnu99 -g $(WARN) -Werror -I. -Iport/fast -Itest/unit
build/fast/change: $(FAST_DEPS) port/fast/test/change_test.c
	@test/tools/toolchain/install.sh check
	@mkdir -p $(@D)
	$(CC) $(FAST_CHANGE_FLAGS) -O2 $(FAST_CHANGE) -lpthread -o $@

build/fast/change-thread: $(FAST_DEPS) port/fast/test/change_test.c
	@test/tools/toolchain/install.sh check
	@mkdir -p $(@D)
	$(CC) $(FAST_CHANGE_FLAGS) -O1 -fsanitize=thread $(FAST_CHANGE) -lpthread -o $@

build/fast/change-%: $(FAST_DEPS) port/fast/test/change_test.c
	@test/tools/toolchain/install.sh check
	@mkdir -p $(@D)
	$*-linux-gnu-gcc $(FAST_CHANGE_FLAGS) -O2 -static $(FAST_CHANGE) -lpthread -o $@

.PHONY: suite-fast suite-fast-aarch64 suite-fast-aarch64_be suite-fast-s390x suite-fast-riscv64
suite-fast: build/fast/test build/fast/race build/fast/change build/fast/change-thread
	@test/run.sh fast sh -ec 'build/fast/test 500; build/fast/race; build/fast/change; \
	    build/fast/change-thread 200 2>&1 | sed "s/^\(not \)*ok /&ThreadSanitizer: /; \
	    s/^SUMMARY/not ok ThreadSanitizer/"'

suite-fast-aarch64 suite-fast-s390x suite-fast-riscv64: suite-fast-%: build/fast/test-% build/fast/change-%
	@test/run.sh fast-$* sh -ec 'qemu-$* build/fast/test-$* 150; qemu-$* build/fast/change-$* 1000'

suite-fast-aarch64_be: suite-fast-%: build/fast/test-%
	@test/run.sh fast-$* qemu-$* build/fast/test-$* 150

# Its protocol under the memory models of C11 and aarch64.
CHECK += fast-models
.PHONY: suite-fast-models
suite-fast-models:
	@tc=$$(test/tools/toolchain/toolchain.sh herd) && \
	    test/run.sh fast-models test/lib/models.py $$tc/herd/herd7 build/fast/models port/fast/test/models.txt

# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# The depot beside a reference, on every ABI; adds that meet adds; its protocol under memory models; what it costs.

CHECK += depot depot-models depot-cost
CHECK_aarch64 += depot-aarch64
CHECK_s390x += depot-s390x
CHECK += depot-riscv64

DEPOT := port/depot/sfu_depot.c port/depot/sfu_depot.h test/lib/check.c test/lib/check.h
DEPOT_CFLAGS := -g1 $(WARN) -Werror -I. -Iport/depot

build/depot/test: port/depot/test/depot_test.c $(DEPOT)
	@test/tools/toolchain/install.sh core cross riscv tools
	@mkdir -p $(@D)
	$(CC) -std=c99 -O1 $(DEPOT_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all $(filter %.c,$^) -o $@

# As on a CPU without atomic operations of 64 bits.
build/depot/test-narrow: port/depot/test/depot_test.c $(DEPOT)
	@test/tools/toolchain/install.sh core cross riscv tools
	@mkdir -p $(@D)
	$(CC) -std=c99 -O1 -U__GCC_ATOMIC_LLONG_LOCK_FREE -D__GCC_ATOMIC_LLONG_LOCK_FREE=1 $(DEPOT_CFLAGS) \
	    -fsanitize=address,undefined -fno-sanitize-recover=all $(filter %.c,$^) -o $@

build/depot/test-%: port/depot/test/depot_test.c $(DEPOT)
	@test/tools/toolchain/install.sh core cross riscv tools
	@mkdir -p $(@D)
	$*-linux-gnu-gcc -std=c99 -Os $(DEPOT_CFLAGS) -static $(filter %.c,$^) -o $@

build/depot/race: port/depot/test/depot_race_test.c $(DEPOT)
	@test/tools/toolchain/install.sh core cross riscv tools
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(DEPOT_CFLAGS) $(filter %.c,$^) -lpthread -o $@

build/depot/race-tsan: port/depot/test/depot_race_test.c $(DEPOT)
	@test/tools/toolchain/install.sh core cross riscv tools
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 $(DEPOT_CFLAGS) -fsanitize=thread $(filter %.c,$^) -lpthread -o $@

build/depot/print: port/depot/test/depot_print_test.c $(DEPOT) port/depot/sfu_depot_print.c \
    port/depot/sfu_depot_print.h port/print/sfu_print.c port/print/sfu_build_id.c sfu.c sfu.h \
    $(addprefix port/host/,log/depots.c log/text.c \
    $(addprefix common/,abi.c basics.c image.c pe.c pe_unwind.c pe_dwarf.c pe_aarch64.c)) $(wildcard port/host/*/*.h)
	@test/tools/toolchain/install.sh core cross riscv tools
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE -std=c99 -O1 $(DEPOT_CFLAGS) -I. -Iport/print -Iport/host -fsanitize=address,undefined \
	    -fno-sanitize-recover=all $(filter %.c,$^) -ldw -lelf -o $@

.PHONY: suite-depot suite-depot-aarch64 suite-depot-s390x suite-depot-riscv64 suite-depot-models suite-depot-cost
suite-depot: build/depot/test build/depot/test-narrow build/depot/race build/depot/race-tsan build/depot/print
	@test/run.sh depot port/depot/test/run.sh

suite-depot-aarch64 suite-depot-s390x suite-depot-riscv64: suite-depot-%: build/depot/test-%
	@test/run.sh depot-$* test/lib/check.sh depot qemu-$* build/depot/test-$* 60

suite-depot-models:
	@tc=$$(test/tools/toolchain/toolchain.sh herd) && \
	    test/run.sh depot-models test/lib/models.py $$tc/herd/herd7 build/depot/models port/depot/test/models.txt

suite-depot-cost: $(DEPOT)
	@test/tools/toolchain/install.sh core cross riscv tools
	@test/run.sh depot-cost port/depot/test/cost.sh build/depot/cost

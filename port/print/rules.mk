# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

FIRST += print
CHECK += print print-foreign

.PHONY: suite-print suite-print-foreign
suite-print: build/port/print/test
	@test/run.sh print test/lib/check.sh printer build/port/print/test

PRINT_SOURCES := sfu.c \
    $(addprefix port/print/,sfu_print.c sfu_build_id.c sfu_cycles.c sfu_calls.c sfu_record.c sfu_all.c sfu_dump.c \
    sfu_sizes.c sfu_trap.c)
PRINT_TEST := port/print/test/print_test.c $(PRINT_SOURCES) $(CHECK_C)
PRINT_HEADERS := $(CHECK_C:.c=.h) $(wildcard port/print/*.h) sfu.h
PRINT_FLAGS := -std=gnu99 -g1 -O1 $(WARN) -Werror -I. -Iport/print
build/port/print/test: $(PRINT_TEST) $(PRINT_HEADERS)
	@test/tools/toolchain/install.sh core
	@mkdir -p $(@D)
	$(CC) $(PRINT_FLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all $(PRINT_TEST) -o $@

# Where calls are other instructions. The other tests are those of a little-endian stack, as its host has it.
PRINT_FOREIGN := aarch64 s390x riscv64
$(PRINT_FOREIGN:%=build/port/print/test-%): build/port/print/test-%: $(PRINT_TEST) $(PRINT_HEADERS)
	@test/tools/toolchain/install.sh core cross cxx riscv
	@mkdir -p $(@D)
	@$*-linux-gnu-gcc $(PRINT_FLAGS) -static $(PRINT_TEST) -o $@
suite-print-foreign: $(PRINT_FOREIGN:%=build/port/print/test-%)
	@test/run.sh print-foreign sh -c 'for cpu in $(PRINT_FOREIGN); do \
	    T=test_calls test/lib/check.sh $$cpu qemu-$$cpu build/port/print/test-$$cpu; done'

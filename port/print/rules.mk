# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

FIRST += print
CHECK += print

.PHONY: suite-print
suite-print: build/port/print/test
	@test/run.sh print test/lib/check.sh printer build/port/print/test

PRINT_SOURCES := sfu.c \
    $(addprefix port/print/,sfu_print.c sfu_build_id.c sfu_cycles.c sfu_calls.c sfu_record.c sfu_all.c sfu_dump.c \
    sfu_sizes.c sfu_trap.c)
build/port/print/test: port/print/test/print_test.c $(PRINT_SOURCES) $(CHECK_C) $(CHECK_C:.c=.h) \
    $(wildcard port/print/*.h) sfu.h
	@test/tools/toolchain/install.sh core
	@mkdir -p $(@D)
	$(CC) -std=c99 -g1 -O1 $(WARN) -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -I. -Iport/print \
	    $(filter %.c,$^) -o $@

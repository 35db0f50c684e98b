# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += print

.PHONY: suite-print
suite-print: build/port/print/test
	@CMOCKA_MESSAGE_OUTPUT=TAP test/run.sh print build/port/print/test

PRINT_SOURCES := port/print/sfu_print.c port/print/sfu_dump.c sfu.c
build/port/print/test: port/print/test.c $(PRINT_SOURCES) port/print/sfu_print.h port/print/sfu_dump.h sfu.h
	@test/toolchain/install.sh check
	@mkdir -p $(@D)
	$(CC) -std=c99 -g -O1 $(WARN) -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -I. -Iport/print \
	    $(PRINT_SOURCES) port/print/test.c -lcmocka -o $@

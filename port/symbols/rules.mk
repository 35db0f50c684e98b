# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

FIRST += symbols
CHECK += symbols symbols-cost

.PHONY: suite-symbols suite-symbols-cost
suite-symbols: build/port/symbols/test
	@test/tools/toolchain/install.sh cross python
	@test/run.sh symbols python3 port/symbols/test/symbols_test.py build/port/symbols/work build/port/symbols/test

suite-symbols-cost: build/port/symbols/test build/decoders/x86_64-O2/done
	@test/run.sh symbols-cost python3 port/symbols/test/symbols_test.py build/port/symbols/cost \
	    build/port/symbols/test build/decoders/x86_64-O2/v3

build/port/symbols/test: port/symbols/test/symbols_test.c port/symbols/sfu_symbols.c port/symbols/sfu_symbols.h sfu.h
	@test/tools/toolchain/install.sh core
	@mkdir -p $(@D)
	$(CC) -std=c99 -g -O1 $(WARN) -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -I. -Iport/symbols \
	    port/symbols/sfu_symbols.c port/symbols/test/symbols_test.c -o $@

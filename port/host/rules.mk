# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Programs that run on the machine where an image is built: sfu-gen, sfu-trace. They need libelf, and libdw for lines.
TOOLS := build/tools
TOOLS_FLAGS := -std=c99 -D_GNU_SOURCE $(WARN) -I. -I$(TOOLS)
TOOLS_LIBRARY := $(addprefix port/host/,image.c cfi.c compare.c) sfu.c
TOOLS_GEN := $(addprefix port/host/,sfu_gen.c tables.c kept.c plt.c encode.c output.c) $(TOOLS_LIBRARY)
TOOLS_TRACE_PARSERS := $(addprefix port/host/,trace_log.c trace_notes.c trace_abi.c image.c)
TOOLS_TRACE := $(addprefix port/host/,sfu_trace.c trace_image.c trace_symbols.c trace_signal.c trace_walk.c trace_filter.c \
    trace_core.c trace_gdb.c cfi.c tables.c kept.c plt.c encode.c) $(TOOLS_TRACE_PARSERS) sfu.c
TOOLS_HEADERS := $(wildcard port/host/*.h) sfu.h

PREFIX ?= /usr/local

.PHONY: tools tools-bench install
## tools: sfu-gen and sfu-trace, in build/tools
tools: $(TOOLS)/sfu-gen $(TOOLS)/sfu-trace

# A tool's --help, as lines of C.
$(TOOLS)/%.txt.h: port/host/%.txt port/host/rules.mk
	@mkdir -p $(@D)
	@sed -e 's/["\\]/\\&/g' -e 's/.*/"&",/' $< >$@

$(TOOLS)/sfu-gen: $(TOOLS_GEN) $(TOOLS_HEADERS) $(TOOLS)/sfu-gen.txt.h port/host/rules.mk
	@test/toolchain/install.sh tools
	@mkdir -p $(@D)
	$(CC) $(TOOLS_FLAGS) -O2 -g $(TOOLS_GEN) -lelf -o $@

$(TOOLS)/sfu-trace: $(TOOLS_TRACE) $(TOOLS_HEADERS) $(TOOLS)/sfu-trace.txt.h port/host/rules.mk
	@test/toolchain/install.sh tools
	@mkdir -p $(@D)
	$(CC) $(TOOLS_FLAGS) -O2 -g $(TOOLS_TRACE) -ldw -lelf -o $@

# The same lines as a page of the manual.
$(TOOLS)/%.1: port/host/%.txt port/host/rules.mk
	@mkdir -p $(@D)
	@{ echo '.TH $* 1 "" sfu'; sed -e 's/\\/\\e/g' -e '/^[A-Z]/{s/^/.fi\n.SH /;s/$$/\n.nf/;b' -e '}' -e 's/^    //' \
	    -e "s/^[.']/\\\\\&&/" $<; } >$@

## install: sfu-gen, sfu-trace, sfu.h and manual pages, below DESTDIR and PREFIX (/usr/local)
INSTALLED := sfu-gen sfu-trace
install: $(INSTALLED:%=$(TOOLS)/%) $(INSTALLED:%=$(TOOLS)/%.1)
	for tool in $(INSTALLED); do \
	    install -D -m 755 $(TOOLS)/$$tool $(DESTDIR)$(PREFIX)/bin/$$tool && \
	    install -D -m 644 $(TOOLS)/$$tool.1 $(DESTDIR)$(PREFIX)/share/man/man1/$$tool.1 || exit 1; done
	install -D -m 644 sfu.h $(DESTDIR)$(PREFIX)/include/sfu.h

# TOOLS_BENCH: images to be measured; by default a library of clang's, of 100 MB.
TOOLS_BENCH ?= $(firstword $(wildcard /usr/lib/*/libLLVM-*.so.1 build/decoders/*/v3/sqlite3.x))

## tools-bench: how long sfu-gen takes for each MB of an image, and how much memory
tools-bench: $(TOOLS)/sfu-gen
	@python3 port/host/bench.py $(TOOLS)/sfu-gen $(TOOLS_BENCH)

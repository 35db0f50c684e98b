# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Programs that run on the machine where an image is built: a folder for each, and common/ for what more than one of
# them needs. A tool uses common/, and nothing else. They need libelf and libdw; sfu-gen of libdw only a header.
TOOLS := build/tools
TOOLS_FLAGS := -std=c99 -D_GNU_SOURCE $(WARN) -I. -Iport/host -I$(TOOLS)
TOOLS_LIBRARY := $(addprefix port/host/common/,abi.c image.c cfi.c epilogue.c epilogue_riscv.c joined.c compare.c kept.c \
    plt.c filled.c) sfu.c
# What reads machine code. Of x86_64 it needs capstone; without that, tables are made of CFI alone.
TOOLS_CODE := $(addprefix port/host/code/,code.c trust.c x86_64.c aarch64.c)
CAPSTONE := $(wildcard $(addsuffix /capstone/capstone.h,/usr/include /usr/local/include))
TOOLS_CODE_FLAGS := $(if $(CAPSTONE),-DSFU_CAPSTONE)
TOOLS_GEN_LIBS := -lelf $(if $(CAPSTONE),-lcapstone)
TOOLS_REPORT := port/host/common/report.c
TOOLS_ENCODER := $(addprefix port/host/common/,tables.c groups.c encode.c)
TOOLS_WALKER := port/host/common/walker.c port/fast/sfu_fast.c
TOOLS_GEN := $(addprefix port/host/gen/,sfu_gen.c output.c) $(TOOLS_ENCODER) $(TOOLS_WALKER) $(TOOLS_CODE) \
    $(TOOLS_REPORT) $(TOOLS_LIBRARY)
TOOLS_LINT_PARTS := $(addprefix port/host/lint/,lint.c lint_place.c lint_rows.c lint_worth.c lint_objects.c)
TOOLS_LINT := port/host/lint/sfu_lint.c $(TOOLS_LINT_PARTS) $(TOOLS_REPORT) $(TOOLS_LIBRARY)
TOOLS_TRACE_PARSERS := $(addprefix port/host/trace/,trace_text.c trace_log.c trace_depot.c trace_map.c trace_notes.c \
    trace_paging.c trace_abi.c)
TOOLS_TRACE := $(addprefix port/host/trace/,sfu_trace.c trace_image.c trace_symbols.c trace_signal.c trace_walk.c \
    trace_filter.c trace_core.c trace_machine.c trace_memory.c trace_raw.c trace_threads.c trace_write.c trace_gdb.c \
    trace_fold.c trace_flame.c) $(TOOLS_TRACE_PARSERS) $(TOOLS_ENCODER) $(TOOLS_REPORT) $(TOOLS_LIBRARY)
TOOLS_HEADERS := $(wildcard port/host/*/*.h) port/fast/sfu_fast.h sfu.h

PREFIX ?= /usr/local

.PHONY: tools tools-bench install
## [tools] tools: sfu-gen, sfu-lint and sfu-trace, in build/tools
TOOLS_INSTALLED := sfu-gen sfu-lint sfu-trace
tools: $(TOOLS_INSTALLED:%=$(TOOLS)/%) $(TOOLS)/sfu-link

# It needs nothing but sfu-gen.
$(TOOLS)/sfu-link: port/host/link/sfu-link
	@mkdir -p $(@D)
	@cp $< $@

# A tool's --help, as lines of C.
vpath sfu-%.txt port/host/gen port/host/lint port/host/trace
$(TOOLS)/%.txt.h: %.txt port/host/rules.mk
	@mkdir -p $(@D)
	@sed -e 's/["\\]/\\&/g' -e 's/.*/"&",/' $< >$@

$(TOOLS)/sfu-gen: $(TOOLS_GEN) $(TOOLS_HEADERS) $(TOOLS)/sfu-gen.txt.h port/host/rules.mk
	@test/tools/toolchain/install.sh tools
	@mkdir -p $(@D)
	$(if $(CAPSTONE),,@echo 'sfu-gen is built without capstone (libcapstone-dev): it does not read code of x86_64')
	$(CC) $(TOOLS_FLAGS) $(TOOLS_CODE_FLAGS) -O3 -g $(TOOLS_GEN) $(TOOLS_GEN_LIBS) -o $@

$(TOOLS)/sfu-lint: $(TOOLS_LINT) $(TOOLS_HEADERS) $(TOOLS)/sfu-lint.txt.h port/host/rules.mk
	@test/tools/toolchain/install.sh tools
	@mkdir -p $(@D)
	$(CC) $(TOOLS_FLAGS) -O2 -g $(TOOLS_LINT) -ldw -lelf -o $@

$(TOOLS)/sfu-trace: $(TOOLS_TRACE) $(TOOLS_HEADERS) $(TOOLS)/sfu-trace.txt.h port/host/rules.mk
	@test/tools/toolchain/install.sh tools
	@mkdir -p $(@D)
	$(CC) $(TOOLS_FLAGS) -O2 -g $(TOOLS_TRACE) -ldw -lelf -o $@

# The same as a page of the manual.
$(TOOLS)/%.1: %.txt port/host/page.awk
	@mkdir -p $(@D)
	@awk -v name=$* -f port/host/page.awk $< >$@

# A program on this machine that unwinds others: the core alone, as a library.
$(TOOLS)/libsfu.a: sfu.c sfu.h
	@mkdir -p $(@D)
	$(CC) -std=c99 $(WARN) -O2 -g -fPIC -ffunction-sections -fasynchronous-unwind-tables -I. -c sfu.c -o $(@:.a=.o)
	@rm -f $@
	$(AR) crs $@ $(@:.a=.o)

# SFU_VERSION is major * 10000 + minor * 100 + patch.
$(TOOLS)/sfu.pc: sfu.h port/host/rules.mk
	@mkdir -p $(@D)
	@awk -v prefix='$(PREFIX)' '$$2 == "SFU_VERSION" { \
	    printf "prefix=%s\nName: sfu\nDescription: a freestanding SFrame stack unwinder\nVersion: %d.%d.%d\n", prefix, \
	        $$3 / 10000, $$3 / 100 % 100, $$3 % 100; \
	    print "Cflags: -I$${prefix}/include\nLibs: -L$${prefix}/lib -lsfu" }' sfu.h >$@

## [tools] install: the tools, their manual pages, sfu.h, libsfu.a and sfu.pc, below DESTDIR and PREFIX (/usr/local)
install: $(TOOLS_INSTALLED:%=$(TOOLS)/%) $(TOOLS)/sfu-link $(TOOLS_INSTALLED:%=$(TOOLS)/%.1) $(TOOLS)/libsfu.a
	@rm -f $(TOOLS)/sfu.pc
	@$(MAKE) --silent $(TOOLS)/sfu.pc
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin share/man/man1 include lib/pkgconfig)
	install -m 644 $(TOOLS)/libsfu.a $(DESTDIR)$(PREFIX)/lib
	install -m 644 $(TOOLS)/sfu.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 755 $(TOOLS_INSTALLED:%=$(TOOLS)/%) $(TOOLS)/sfu-link $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(TOOLS_INSTALLED:%=$(TOOLS)/%.1) $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 sfu.h $(DESTDIR)$(PREFIX)/include

# TOOLS_BENCH: images to be measured; by default a library of clang's, of 100 MB.
TOOLS_BENCH ?= $(firstword $(wildcard /usr/lib/*/libLLVM-*.so.1 build/decoders/*/v3/sqlite3.x))

## [measure] tools-bench: how long each tool takes for each MB of an image, and how much memory
tools-bench: tools
	@python3 port/host/bench.py $(TOOLS) $(TOOLS_BENCH)

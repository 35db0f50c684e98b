# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Programs that run on the machine where an image is built: gen/, link/, lint/, trace/. What they are made of lies in
# rooms of which each one uses those behind it alone: machine/ (registers and memory of what is dead or alive), images/
# (images, where they lie, and their names), log/ (text in, records out), code/ (what machine code does), tables/ (CFI
# to rows to bytes), common/ (files, ABIs, messages). What they need besides POSIX and getopt_long:
#     sfu-gen     libelf; and Zydis 4, if it is there, which reads machine code of x86_64. ZYDIS=no: by CFI alone
#     sfu-lint    libelf; Zydis, as above, for calls of x86_64 (--frames); and libdw, which names the object files of
#                 functions by DWARF. LIBDW=no: by symbols alone
#     sfu-link    libelf
#     sfu-trace   libelf and libdw: lines and inlined functions. With LIBDW=no it is not built
# STATIC=1: programs that need no shared library, in build/tools-static. With another libc than the libraries were
# compiled for, say how they are linked: STATIC_LIBELF, STATIC_LIBDW, STATIC_ZYDIS. Debian has no libZydis.a: there the
# static sfu-gen makes tables of x86_64 of CFI alone.
TOOLS := build/tools$(if $(STATIC),-static)
STATIC_LIBELF ?= -lelf -lz
STATIC_LIBDW ?= -ldw -lelf -lbz2 -llzma -lz -pthread
STATIC_ZYDIS ?= $(filter /%,$(shell $(CC) -print-file-name=libZydis.a))
TOOLS_LIBELF := $(if $(STATIC),-static $(STATIC_LIBELF),-lelf)
TOOLS_LIBDW := $(if $(STATIC),-static $(STATIC_LIBDW),-ldw -lelf)
# CPPFLAGS, CFLAGS and LDFLAGS are a packager's: they come last.
TOOLS_FLAGS := -std=c99 -D_GNU_SOURCE $(WARN) -I. -Iport/host -Iport/print -I$(TOOLS)
TOOLS_IMAGE := $(addprefix port/host/common/,abi.c basics.c image.c pe.c pe_unwind.c pe_dwarf.c pe_aarch64.c)
TOOLS_LIBRARY := $(TOOLS_IMAGE) $(addprefix port/host/tables/,cfi.c spans.c epilogue_riscv.c joined.c compare.c kept.c \
    plt.c) $(addprefix port/host/common/,calls.c filled.c map.c sigreturn.c) sfu.c
# What reads machine code. Of x86_64 it needs Zydis; without that, tables are made of CFI alone. Where it has been
# installed by the tool's own prerequisite, only a recipe can see that.
TOOLS_CODE := $(addprefix port/host/code/,fact.c decoded.c modes.c x86_64.c aarch64.c s390x.c riscv.c arm.c index.c \
    state.c units.c taken.c imports.c stacks.c trial.c code.c kinds.c vectors.c uncalled.c enter.c row_list.c \
    verdict.c trust_ways.c trust_rows.c find_units.c begin.c rounds.c saved.c signal_code.c trust.c)
ZYDIS ?= $(shell grep -ls ZydisDecoderDecodeInstruction /usr/include/Zydis/Decoder.h /usr/local/include/Zydis/Decoder.h)
TOOLS_ZYDIS = $(if $(filter-out no,$(ZYDIS)),$(if $(STATIC),$(STATIC_ZYDIS),-lZydis))
TOOLS_CODE_FLAGS = $(if $(TOOLS_ZYDIS),-DSFU_ZYDIS)
TOOLS_GEN_LIBS = $(TOOLS_ZYDIS) $(TOOLS_LIBELF)
TOOLS_REPORT := port/host/common/report.c
TOOLS_ENCODER := $(addprefix port/host/tables/,tables.c starts.c groups.c encode.c)
TOOLS_WALKER := port/host/tables/walker.c port/fast/sfu_fast.c
TOOLS_GEN := $(addprefix port/host/gen/,sfu_gen.c entries.c output.c output_pe.c) $(TOOLS_ENCODER) $(TOOLS_WALKER) \
    $(TOOLS_CODE) $(TOOLS_REPORT) $(TOOLS_LIBRARY)
TOOLS_LINT_PARTS := $(addprefix port/host/lint/,lint.c lint_findings.c lint_place.c lint_rows.c lint_worth.c \
    lint_objects.c lint_instructions.c)
TOOLS_LINT := $(addprefix port/host/lint/,sfu_lint.c lint_frames.c) $(TOOLS_LINT_PARTS) $(TOOLS_CODE) $(TOOLS_REPORT) \
    $(TOOLS_LIBRARY)
TOOLS_TRACE_PARSERS := $(addprefix port/host/,$(addprefix log/,text.c log.c foreign.c formats.c levels.c lines.c \
    front.c json.c mi.c scan.c halves.c braces.c lists.c dumps.c depots.c) \
    $(addprefix machine/,notes.c passed.c paging.c registers.c))
TOOLS_TRACE := $(addprefix port/host/trace/,sfu_trace.c trace_filter.c trace_core.c trace_gdb.c trace_raw.c \
    trace_walk.c trace_tail.c trace_threads.c trace_process.c trace_machine.c trace_write.c trace_out.c trace_sizes.c \
    trace_fold.c trace_flame.c) $(addprefix port/host/images/,images.c symbols.c) \
    $(addprefix port/host/machine/,space.c memory.c features.c signals.c cortexm_frames.c traps.c slide.c) \
    port/cortexm/sfu_cortexm.c port/print/sfu_print.c $(TOOLS_TRACE_PARSERS) $(TOOLS_ENCODER) $(TOOLS_CODE) \
    $(TOOLS_REPORT) $(TOOLS_LIBRARY)
TOOLS_LINK := $(addprefix port/host/link/,sfu_link.c command.c object.c names.c fill.c moved.c run.c) \
    $(TOOLS_REPORT) $(TOOLS_IMAGE)
TOOLS_HEADERS := $(wildcard port/host/*/*.h) port/fast/sfu_fast.h port/cortexm/sfu_cortexm.h port/print/sfu_print.h \
    sfu.h

.PHONY: tools tools-needed tools-bench
## [tools] tools: sfu-gen, sfu-link, sfu-lint, sfu-trace, in build/tools; STATIC=1: no shared libraries; LIBDW=no: less
TOOLS_INSTALLED := sfu-gen sfu-link sfu-lint $(if $(filter no,$(LIBDW)),,sfu-trace)
TOOLS_LINT_LIBRARIES = $(TOOLS_ZYDIS) $(if $(filter no,$(LIBDW)),$(TOOLS_LIBELF),$(TOOLS_LIBDW))
# `make install` only says what is missing.
tools-needed:
	@test/tools/toolchain/install.sh $(if $(filter install,$(MAKECMDGOALS)),-n) tools $(if $(STATIC),static)
tools: $(TOOLS_INSTALLED:%=$(TOOLS)/%)

# A tool's --help, as lines of C.
vpath sfu-%.txt port/host/gen port/host/link port/host/lint port/host/trace
vpath formats.txt port/host/log
$(TOOLS)/%.txt.h: %.txt port/host/rules.mk
	@mkdir -p $(@D)
	@sed -e 's/["\\]/\\&/g' -e 's/.*/"&",/' $< >$@

# Tools share their objects, and tests use them. What sfu-gen has is optimised most: it may be run at each link.
tool_objects = $(patsubst %.c,$(TOOLS)/objects/%.o,$(1))
$(call tool_objects,$(sort $(TOOLS_GEN))): TOOLS_LEVEL := -O3
$(call tool_objects,$(addprefix port/host/,gen/sfu_gen.c link/sfu_link.c lint/sfu_lint.c trace/sfu_trace.c)): \
    $(addprefix $(TOOLS)/,sfu-gen.txt.h sfu-link.txt.h sfu-lint.txt.h sfu-trace.txt.h formats.txt.h)
$(TOOLS)/objects/%.o: %.c $(TOOLS_HEADERS) port/host/rules.mk | tools-needed
	@mkdir -p $(@D)
	$(CC) $(TOOLS_FLAGS) $(TOOLS_CODE_FLAGS) $(if $(filter no,$(LIBDW)),-DSFU_NO_LIBDW) $(or $(TOOLS_LEVEL),-O2) -g \
	    $(CPPFLAGS) $(CFLAGS) -c $< -o $@

$(TOOLS)/sfu-gen: $(call tool_objects,$(TOOLS_GEN))
	$(if $(TOOLS_ZYDIS),,@echo 'sfu-gen is built without $(if $(STATIC),libZydis.a,Zydis 4 (libzydis-dev)): it does' \
	    'not read code of x86_64')
	$(CC) $(CFLAGS) $^ $(LDFLAGS) $(TOOLS_GEN_LIBS) -o $@

$(TOOLS)/sfu-link: $(call tool_objects,$(TOOLS_LINK))
	$(CC) $(CFLAGS) $^ $(LDFLAGS) $(TOOLS_LIBELF) -o $@

$(TOOLS)/sfu-lint: $(call tool_objects,$(TOOLS_LINT))
	$(CC) $(CFLAGS) $^ $(LDFLAGS) $(TOOLS_LINT_LIBRARIES) -o $@

$(TOOLS)/sfu-trace: $(call tool_objects,$(TOOLS_TRACE))
	$(CC) $(CFLAGS) $^ $(LDFLAGS) $(TOOLS_ZYDIS) $(TOOLS_LIBDW) -o $@

# The same as a page of the manual.
$(TOOLS)/%.1: %.txt port/host/page.awk
	@mkdir -p $(@D)
	@awk -v name=$* -f port/host/page.awk $< >$@

.PHONY: tools-pages
tools-pages: $(TOOLS_INSTALLED:%=$(TOOLS)/%.1)

# TOOLS_BENCH: images to be measured; by default a library of clang's, of 100 MB.
TOOLS_BENCH ?= $(firstword $(wildcard /usr/lib/*/libLLVM-*.so.1 build/decoders/*/v3/sqlite3.x))

## [measure] tools-bench: how long each tool takes for each MB of an image, and how much memory
tools-bench: tools
	@python3 port/host/bench.py $(TOOLS) $(TOOLS_BENCH)

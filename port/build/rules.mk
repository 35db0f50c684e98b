# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors

CHECK += build install

.PHONY: suite-build suite-install install uninstall
suite-build: | $(TC)
	@test/tools/toolchain/install.sh check
	@test/run.sh build port/build/test/test.sh

suite-install: build/tools/sfu-gen build/tools/sfu-lint build/tools/sfu-trace | $(TC)
	@test/tools/toolchain/install.sh check
	@test/run.sh install port/build/test/install.sh

# ---- Installation: the tools and their pages; the core as a library, for a program here that unwinds others ----

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
INCLUDEDIR ?= $(PREFIX)/include
LIBDIR ?= $(PREFIX)/lib
MADE := build/install

# What is in arch/ lies beside sfu.h, as there. In a folder of its own: another package may have an arch/, too.
INSTALLED_HEADERS := sfu.h $(wildcard arch/*.h arch/*/*.h)
INSTALLED_FILES = $(patsubst %,$(BINDIR)/%,$(TOOLS_INSTALLED)) \
    $(TOOLS_INSTALLED:%=$(MANDIR)/man1/%.1) \
    $(INSTALLED_HEADERS:%=$(INCLUDEDIR)/sfu/%) $(LIBDIR)/libsfu.a $(LIBDIR)/pkgconfig/sfu.pc \
    $(LIBDIR)/cmake/sfu/sfu-config.cmake $(LIBDIR)/cmake/sfu/sfu-config-version.cmake
INSTALLED_FOLDERS = $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED_FILES))))
# Those that nobody else has anything in, the deepest first.
INSTALLED_OWN = $(INSTALLED_HEADERS:%=$(INCLUDEDIR)/sfu/%) $(LIBDIR)/cmake/sfu/
INSTALLED_OWN_FOLDERS = $(shell printf '%s\n' $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED_OWN)))) | sort -r)

$(MADE)/libsfu.a: sfu.c sfu.h port/build/rules.mk
	@mkdir -p $(@D)
	$(CC) -std=c99 $(WARN) -O2 -g -fPIC -ffunction-sections -fasynchronous-unwind-tables $(CPPFLAGS) $(CFLAGS) -I. \
	    -c sfu.c -o $(@:.a=.o)
	@rm -f $@
	$(AR) crs $@ $(@:.a=.o)

# SFU_VERSION is major * 10000 + minor * 100 + patch.
SFU_RELEASE := $(shell awk '$$2 == "SFU_VERSION" { printf "%d.%d.%d", $$3 / 10000, $$3 / 100 % 100, $$3 % 100 }' sfu.h)

# What says where things are. Written anew each time, because another PREFIX changes no file.
.PHONY: install-files
install-files:
	@mkdir -p $(MADE)
	@printf '%s\n' 'Name: sfu' 'Description: a freestanding SFrame stack unwinder' 'Version: $(SFU_RELEASE)' \
	    'Cflags: -I$(INCLUDEDIR)/sfu' 'Libs: -L$(LIBDIR) -lsfu' >$(MADE)/sfu.pc
	@sed 's,@INCLUDE@,$(shell realpath -ms --relative-to=$(LIBDIR)/cmake/sfu $(INCLUDEDIR)),' \
	    port/build/sfu-config.cmake >$(MADE)/sfu-config.cmake
	@printf '%s\n' 'set(PACKAGE_VERSION $(SFU_RELEASE))' \
	    'if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)' '    set(PACKAGE_VERSION_EXACT TRUE)' 'endif()' \
	    'if(PACKAGE_FIND_VERSION_MAJOR EQUAL $(firstword $(subst ., ,$(SFU_RELEASE))) AND' \
	    '   PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION OR NOT PACKAGE_FIND_VERSION)' \
	    '    set(PACKAGE_VERSION_COMPATIBLE TRUE)' 'endif()' >$(MADE)/sfu-config-version.cmake

## [tools] install: tools, manual pages, headers, libsfu.a, sfu.pc, CMake's files, below DESTDIR and PREFIX (/usr/local)
install: tools tools-pages $(MADE)/libsfu.a install-files
	install -d $(INSTALLED_FOLDERS)
	install -m 755 $(TOOLS_INSTALLED:%=$(TOOLS)/%) $(DESTDIR)$(BINDIR)
	install -m 644 $(TOOLS_INSTALLED:%=$(TOOLS)/%.1) $(DESTDIR)$(MANDIR)/man1
	for header in $(INSTALLED_HEADERS); do install -m 644 $$header $(DESTDIR)$(INCLUDEDIR)/sfu/$$header || exit 1; done
	install -m 644 $(MADE)/libsfu.a $(DESTDIR)$(LIBDIR)
	install -m 644 $(MADE)/sfu.pc $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 $(MADE)/sfu-config.cmake $(MADE)/sfu-config-version.cmake $(DESTDIR)$(LIBDIR)/cmake/sfu

## [tools] uninstall: removes what install has installed, with the same DESTDIR and PREFIX
uninstall:
	rm -f $(addprefix $(DESTDIR),$(INSTALLED_FILES))
	-for folder in $(INSTALLED_OWN_FOLDERS); do rmdir $$folder 2>/dev/null; done; :

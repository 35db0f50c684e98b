#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# What a packager does: installs and uninstalls, compiles with flags of his own, without libdw, without shared
# libraries, with another libc; and what users of the installed files do.
set -u
cd "$(dirname "$0")/../../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS T # what make runs here is no suite of the caller's
. test/lib/tests.sh
work=$PWD/build/install-test
log=$work/log
root=$work/root
rm -rf "$work"
mkdir -p "$work"

files() { (cd "$1" && find . -type f -o -type l) | sed 's,^\./,,' | sort; }

# ---- Files ----

wanted() {
    printf '%s\n' usr/bin/sfu-{gen,lint,link,trace} usr/share/man/man1/sfu-{gen,lint,link,trace}.1 \
        usr/include/sfu/sfu.h usr/lib/libsfu.a usr/lib/pkgconfig/sfu.pc usr/lib/cmake/sfu/sfu-config{,-version}.cmake
    find arch -name '*.h' | sed 's,^,usr/include/sfu/,'
}
installs() {
    make -s install DESTDIR="$root" PREFIX=/usr && diff <(files "$root") <(wanted | sort)
}

# The example that the installed sfu.h begins with, by the flags that sfu.pc gives.
flags_of() { PKG_CONFIG_LIBDIR=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config "$@" sfu; }
example() {
    {
        echo '#include <stddef.h>'
        echo 'extern const unsigned char sframe_start[], stack_low[], stack_high[];'
        echo 'extern const size_t sframe_size;'
        echo 'void print(unsigned long long pc);'
        awk '/^ \*     / { on = 1; sub(/^ \*     /, ""); print; next } on { exit }' "$root/usr/include/sfu/sfu.h"
    } >"$work/example.c"
    grep -q 'sfu_arch.h' "$work/example.c" && cd "$work" || return 1
    # shellcheck disable=SC2046 # words
    gcc $(flags_of --cflags) -Wall -Werror -c example.c -o example.o
}
version() {
    [ "$(flags_of --modversion)" = "$(sed -n 's/^version = "\(.*\)"$/\1/p' port/rust/Cargo.toml)" ]
}

cat >"$work/main.c" <<'END'
#include "sfu.h"
#include "arch/sfu_arch.h"
#include <stdio.h>
int main(void)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);

    return here.pc == 0 || puts(sfu_string(SFU_END)) < 0;
}
END
links() {
    # shellcheck disable=SC2046 # words
    gcc $(flags_of --cflags) "$work/main.c" $(flags_of --libs) -o "$work/main" && "$work/main" | grep -q outermost
}

# found PREFIX WORDS: a project of CMake says find_package(sfu WORDS REQUIRED), and runs.
found() {
    rm -rf "$work/project"
    mkdir "$work/project"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(user C)' "find_package(sfu $2 REQUIRED)" \
        "add_executable(user $work/main.c)" 'target_link_libraries(user PRIVATE sfu::sfu)' \
        >"$work/project/CMakeLists.txt"
    cmake -S "$work/project" -B "$work/project/build" "-DCMAKE_PREFIX_PATH=$1" && cmake --build "$work/project/build" &&
        "$work/project/build/user" | grep -q outermost
}
refused() { ! found "$@" && grep -q 'not accepted' "$work/log"; }
moved() { mv "$root/usr" "$work/moved" && found "$work/moved" 1 && mv "$work/moved" "$root/usr"; }
elsewhere() {
    make -s install DESTDIR="$work/other" PREFIX=/opt LIBDIR=/opt/lib/cpu INCLUDEDIR=/opt/headers MANDIR=/opt/man \
        BINDIR=/opt/tools && found "$work/other/opt/lib/cpu/cmake/sfu" 1 &&
        [ -f "$work/other/opt/man/man1/sfu-gen.1" ] && [ -x "$work/other/opt/tools/sfu-gen" ] &&
        grep -qx 'Cflags: -I/opt/headers/sfu' "$work/other/opt/lib/cpu/pkgconfig/sfu.pc"
}
uninstalls() {
    touch "$root/usr/lib/libother.a" "$root/usr/include/sfu/arch/mine.h"
    make -s uninstall DESTDIR="$root" PREFIX=/usr &&
        diff <(files "$root") <(printf '%s\n' usr/include/sfu/arch/mine.h usr/lib/libother.a) &&
        rm "$root/usr/include/sfu/arch/mine.h" && make -s uninstall DESTDIR="$root" PREFIX=/usr &&
        [ ! -e "$root/usr/include/sfu" ] && [ ! -e "$root/usr/lib/cmake/sfu" ] && [ -d "$root/usr/lib/cmake" ]
}

# A machine that lacks a library: `make install` as root says so, and installs no package.
missing() {
    mkdir -p "$work/tree" "$work/bin"
    cp -r Makefile sfu.h sfu.c arch port test fuzz "$work/tree"
    printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
    printf '#!/bin/sh\necho "$*" >>%s/apt\n' "$work" >"$work/bin/apt-get"
    chmod +x "$work/bin/"*
    ! PATH=$work/bin:$PATH make -s -C "$work/tree" install DESTDIR="$work/none" && [ ! -e "$work/apt" ] &&
        [ ! -e "$work/none" ] && grep -q 'packages are missing' "$work/log"
}

try "make install" installs
try "the example of the installed sfu.h" example
try "pkg-config: the version" version
try "pkg-config: a program" links
try "find_package" found "$root/usr" ""
try "find_package, a version" found "$root/usr" 1.0
try "find_package, the next version" refused "$root/usr" 1.99
try "find_package, another version" refused "$root/usr" 2
try "find_package, an older version" refused "$root/usr" 0.2
try "find_package in a tree that was moved" moved
try "folders of a packager's" elsewhere
try "make uninstall" uninstalls
try "make install of what cannot be built" missing

# ---- Flags ----

# A compiler that says how it was called.
cat >"$work/cc" <<END
#!/bin/sh
echo "\$*" >>$work/called
while [ "\$1" != -o ]; do shift; done
: >"\$2"
END
chmod +x "$work/cc"
# The packager's flags come behind the project's own, of each tool and of the library.
flags() {
    make -s tools TOOLS=build/install-test/flags "CC=$work/cc" CPPFLAGS=-DMINE CFLAGS='-O1 -flto' \
        LDFLAGS=-Wl,-z,now || return 1
    cat "$work/called"
    [ "$(grep -c -- '-c port/host/[a-z]*/sfu_\(gen\|link\|lint\|trace\)\.c ' "$work/called")" = 4 ] &&
        ! grep -- ' -c ' "$work/called" | grep -v -- ' -O[23] .*-DMINE -O1 -flto -c ' &&
        [ "$(grep -c '^-O1 -flto .*\.o -Wl,-z,now .*-lelf -o .*/sfu-\(gen\|link\|lint\|trace\)$' "$work/called")" = 4 ]
}
library_flags() {
    rm -f "$work/called"
    make -s build/install-test/libsfu.a MADE=build/install-test "CC=$work/cc" CPPFLAGS=-DMINE \
        CFLAGS='-O1 -flto' AR=true && grep -q -- '-O2 .*-DMINE -O1 -flto .*sfu.c' "$work/called"
}
try "CPPFLAGS, CFLAGS and LDFLAGS of the tools" flags
try "CFLAGS of the library" library_flags

# ---- Libraries ----

needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\.so.*/\1/p' | sort | tr '\n' ' '; }
is_static() { readelf -lW "$1" >"$work/headers" && ! grep -q INTERP "$work/headers" && [ -z "$(needed "$1")" ]; }

# An image with CFI and DWARF, and room for tables.
image=$work/image
echo 'SECTIONS { .sfu_sframe : { sframe_start = .; QUAD(0) . += 4096; sframe_end = .; } } INSERT AFTER .rodata;' \
    >"$work/room.ld"
cat >"$work/image.c" <<'END'
#include <stdio.h>
int main(int argc, char **argv) { return printf("%d %s\n", argc, argv[0]) < 0; }
END
gcc -g -O2 -fasynchronous-unwind-tables -no-pie "-Wl,-T,$work/room.ld" "$work/image.c" -o "$image"

strip -g "$image" -o "$image-symbols"

# same FOLDER IMAGE: sfu-gen there makes the tables, and sfu-lint there says the words, that those of build/tools do.
same() {
    for tools in build/tools "$1"; do
        cp "$2" "$work/made" && "$tools/sfu-gen" "$work/made" >"$work/said" || return 1
        "$tools/sfu-lint" "$work/made" >>"$work/said" || [ $? = 1 ] || return 1
        mv "$work/made" "$work/made-$(basename "$tools")"
        mv "$work/said" "$work/said-$(basename "$tools")"
    done
    cmp "$work/made-tools" "$work/made-$(basename "$1")" && ! cmp -s "$2" "$work/made-tools" &&
        diff "$work/said-tools" "$work/said-$(basename "$1")" && [ -s "$work/said-tools" ]
}
without_libdw() {
    make -s tools LIBDW=no ZYDIS=no TOOLS="$work/elf" CFLAGS=-O0 &&
        [ "$(needed "$work/elf/sfu-gen")" = "libc libelf " ] &&
        [ "$(needed "$work/elf/sfu-lint")" = "libc libelf " ] && [ ! -e "$work/elf/sfu-trace" ] &&
        same "$work/elf" "$image-symbols"
}
static() {
    make -s tools STATIC=1 TOOLS="$work/static" CFLAGS=-O0 && is_static "$work/static/sfu-gen" &&
        is_static "$work/static/sfu-lint" && is_static "$work/static/sfu-trace" &&
        same "$work/static" "$image" || return 1
    addr=$(nm "$image" | sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p')
    echo "#0  0x$(printf %016d 0 | cut -c1-$((16 - ${#addr})))$addr" >"$work/trace"
    build/tools/sfu-trace --log="$work/trace" "$image" >"$work/traced" &&
        grep -q 'image.c:2' "$work/traced" &&
        "$work/static/sfu-trace" --log="$work/trace" "$image" | diff - "$work/traced"
}
# musl, with headers of libelf alone. This machine's libelf was compiled for another libc, of which it calls one
# function that musl has not.
musl() {
    mkdir -p "$work/include"
    cp /usr/include/libelf.h /usr/include/gelf.h "$work/include" || return 1
    echo 'void *rawmemchr(const void *s, int c); void *rawmemchr(const void *s, int c) { const unsigned char *p = s;' \
        'while (*p != (unsigned char)c) p++; return (void *)p; }' >"$work/raw.c"
    musl-gcc -c "$work/raw.c" -o "$work/raw.o" || return 1
    libraries=$(dirname "$(gcc -print-file-name=libelf.a)")
    make -s tools LIBDW=no ZYDIS=no STATIC=1 CC=musl-gcc TOOLS="$work/musl" CFLAGS=-O0 "CPPFLAGS=-I$work/include" \
        "STATIC_LIBELF=$libraries/libelf.a $libraries/libz.a $work/raw.o" && is_static "$work/musl/sfu-gen" &&
        is_static "$work/musl/sfu-lint" && same "$work/musl" "$image-symbols"
}
# What common/dwarf_cfi.h says, as libdw's header says it.
numbers() {
    {
        echo '#include <dwarf.h>'
        sed -n 's/^    \(DW_[A-Za-z0-9_]*\) = \(0x[0-9a-f]*\),*$/_Static_assert(\1 == \2, "\1");/p' \
            port/host/common/dwarf_cfi.h
    } >"$work/numbers.c"
    [ "$(grep -c assert "$work/numbers.c")" -ge 90 ] && gcc -c "$work/numbers.c" -o "$work/numbers.o"
}
try "libelf alone" without_libdw
try "make tools STATIC=1" static
try "sfu-gen and sfu-lint by musl, static" musl
try "the numbers of DWARF" numbers

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# build.sh ABI LEVEL OUT: compiles lua5.4, zlib, sqlite3 and edges.c for an ABI (x86_64, aarch64, aarch64_be or
# s390x) at a level (O2, Os or O3) once, and assembles and links the result with each binutils that emits SFrame for
# it:
#
#   OUT/v3/lua5.4.o   relocatable object
#   OUT/v3/lua5.4.x   linked image; likewise v1 and v2, and the other programs
#
# -Os also keeps frame pointers (x86_64, s390x) or signs return addresses (aarch64), and protects against stack
# clashes, so that -O2 shows the usual rows and -Os the others. -O3 is for x86-64-v3, whose vectors need realigned
# stacks. sqlite3 takes longer than all of the others: it is there for x86_64 at -O2 alone, as ../sqlite.sh
# compiles it, unless LONG is set.

set -eu
abi=$1
level=$2
out=$3
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tc=$("$here/../../tools/toolchain/toolchain.sh" v3 v2 v1)
src=$("$here/../../tools/toolchain/sources.sh")

cpu=${abi%_be}
big=
[ "$abi" = "$cpu" ] || big=-mbig-endian
gcc="$cpu-linux-gnu-gcc"

case $abi-$level in
x86_64-O3) flags='-O3 -march=x86-64-v3' ;;
aarch64*-Os) flags='-Os -fstack-clash-protection -mbranch-protection=standard' ;;
x86_64-Os) flags='-Os -fstack-clash-protection -fno-omit-frame-pointer -fcf-protection' ;;
*-Os) flags='-Os -fstack-clash-protection -fno-omit-frame-pointer' ;;
*) flags=-$level ;;
esac

# compiler ARGUMENT...
compiler() {
    # shellcheck disable=SC2086  # words
    "$gcc" $big $flags -fPIE -w -I"$out/include" -DLUA_USE_LINUX -DZ_HAVE_UNISTD_H "$@"
}

# compile PROGRAM FILE...: leaves OUT/PROGRAM/*.s
compile() {
    mkdir -p "$out/$1"
    dir=$out/$1
    shift
    for file; do
        name=${file##*/}
        compiler -S "$file" -o "$dir/${name%.c}.s"
    done
}

# assemble TOOLS VERSION PROGRAM: leaves OUT/VERSION/PROGRAM/*.o
assemble() {
    mkdir -p "$out/$2/$3"
    for file in "$out/$3"/*.s; do
        name=${file##*/}
        "$1/as" ${big:+-EB} --gsframe "$file" -o "$out/$2/$3/${name%.s}.o"
    done
}

# link_object TOOLS VERSION PROGRAM: leaves OUT/VERSION/PROGRAM.o. Before V3 the largest file's object stands for the
# program, as gas made it (FAULTS.md: gas-old-relocations).
link_object() {
    if [ "$2" = v3 ]; then
        "$1/ld" ${big:+-EB} -r "$out/$2/$3"/*.o -o "$out/$2/$3.o"
    else
        # shellcheck disable=SC2012  # no odd names
        cp "$(ls -S "$out/$2/$3"/*.o | head -n 1)" "$out/$2/$3.o"
    fi
}

# link_image TOOLS VERSION PROGRAM ENTRY: leaves OUT/VERSION/PROGRAM.x. There is no big-endian C library for
# aarch64: what it should define stays undefined there, which moves no address of a row.
link_image() {
    if [ -n "$big" ]; then
        "$1/ld" -EB --unresolved-symbols=ignore-all -e "$4" "$out/$2/$3"/*.o -o "$out/$2/$3.x"
        return
    fi
    ibt=
    [ "$abi-$level" != x86_64-Os ] || ibt=-Wl,-z,ibtplt
    own=
    [ "$3" != sqlite3 ] || own=-Wl,--unresolved-symbols=ignore-all # it lacks a file system, which step/ defines
    # shellcheck disable=SC2086  # words
    "$gcc" -B"$1/" -nostartfiles -pie -Wl,-z,lazy $ibt $own -Wl,-e,"$4" "$out/$2/$3"/*.o -lm -ldl -lpthread \
        -o "$out/$2/$3.x"
}

# The headers of the little-endian C library fit the other byte order but for this, which is about linking.
mkdir -p "$out/include/gnu"
: >"$out/include/gnu/stubs-lp64_be.h"

# build PROGRAM ENTRY FILE...
build() {
    program=$1
    entry=$2
    shift 2
    compile "$program" "$@"
    versions
}

# versions: by each assembler, from OUT/PROGRAM/*.s.
versions() {
    for version in v3 v2 v1; do
        case $version in
        v3) tools=$tc/$cpu ;;
        *) tools=$tc/$version/$cpu ;;
        esac
        [ -x "$tools/as" ] || continue
        assemble "$tools" $version "$program"
        link_object "$tools" $version "$program"
        link_image "$tools" $version "$program" "$entry"
    done
}

# foreign PROGRAM ENTRY FILE...: as build, if it has not been kept from an earlier time.
foreign() {
    program=$1
    entry=$2
    shift 2
    kept=$out/kept
    if {
        cat "$here/build.sh"
        "$gcc" --version
        readlink -f "$tc/v1" "$tc/v2" "$tc/v3"
        echo "$abi $level $program"
        compiler -E -P "$@"
    } | "$here/../../tools/toolchain/sources.sh" kept "$kept"; then
        for file in "$kept"/v*; do
            name=${file##*/}
            mkdir -p "$out/${name%%-*}"
            mv "$file" "$out/${name%%-*}/${name#*-}"
        done
        return
    fi
    build "$program" "$entry" "$@"
    for file in "$out"/v?/"$program".[ox]; do
        cp "$file" "$kept/$(basename "$(dirname "$file")")-${file##*/}"
    done
    "$here/../../tools/toolchain/sources.sh" keep "$kept"
}

build edges outermost "$here/edges.c"
# shellcheck disable=SC2046  # words
foreign lua5.4 main $(find "$src/lua5.4/src" -name '*.c' ! -name luac.c | sort)
foreign zlib deflate "$src"/zlib/*.c
if [ "$abi-$level" = x86_64-O2 ]; then
    mkdir -p "$out/sqlite3"
    "$here/../sqlite.sh" build/sqlite
    cp build/sqlite/sqlite3.s "$out/sqlite3"
    program=sqlite3 entry=sqlite3_open
    versions
elif [ -n "${LONG:-}" ]; then
    foreign sqlite3 sqlite3_open "$src/sqlite3/sqlite3.c"
fi
rm -rf "$out"/kept "$out"/lua5.4 "$out"/zlib "$out"/sqlite3 "$out"/edges "$out"/include "$out"/v?/*/

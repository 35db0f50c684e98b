#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# build.sh OUT: builds the program that OUT, build/step/ABI/PROGRAM-COMPILER-LEVEL[-FLAG], names, with SFrame for
# all of its code. COMPILER: gcc12 (the system's), gcc16, clang. FLAG: see below; gen: the tables are sfu-gen's.
# shellcheck disable=SC2054 # commas belong to -Wa, and -Wl,
set -eu

out=$1
here=$(dirname "$0")
abi=$(basename "$(dirname "$out")")
cpu=${abi%_be}
IFS=- read -r program compiler level flag <<<"$(basename "$out")-"
flag=${flag%-}

case $compiler in
gcc12) [ "$cpu" = x86_64 ] && cc=(gcc) || cc=("$cpu-linux-gnu-gcc") ;;
gcc16) cc=("build/tc/gcc16/$cpu/gcc") ;;
clang)
    cc=("$(command -v clang-16 || echo clang)" "--target=$abi-linux-gnu" -fno-integrated-as)
    cc+=(-fasynchronous-unwind-tables)
    ;;
*) echo "build.sh: no compiler $compiler" >&2 && exit 2 ;;
esac
[ "$compiler" = clang ] || [ "$abi" != aarch64_be ] || cc+=(-mbig-endian)
[ "$compiler" = clang ] && linker=(-fuse-ld="$PWD/build/tc/$cpu/ld") || linker=()
cc+=("-B$PWD/build/tc/$cpu/" "-$level" -w -fno-stack-protector -fno-pie -U_FORTIFY_SOURCE)

[ "$flag" = gen ] || cc+=(-Wa,--gsframe)
case $flag in
'') ;;
cf) cc+=(-fcf-protection=full) ;;
fp) cc+=(-fno-omit-frame-pointer) ;;
leaf) cc+=(-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer) ;;
nofp) cc+=(-fomit-frame-pointer) ;;
noplt) cc+=(-fno-plt -fPIC) linker+=(-Wl,--no-relax) ;;
signals) cc+=(-DNO_TRAMPOLINES) ;;
clash) cc+=(-fstack-clash-protection) ;;
pac) cc+=(-mbranch-protection=standard) ;;
pacb) cc+=(-mbranch-protection=pac-ret+leaf+b-key) ;;
chain) cc+=(-mbackchain) ;;
gen) cc+=(-fasynchronous-unwind-tables) ;;
packed) cc+=(-mpacked-stack -mbackchain -msoft-float) ;;
z13) cc+=(-march=z13) ;;
*) echo "build.sh: no flag $flag" >&2 && exit 2 ;;
esac

# Headers of the cross compilers' libc serve both byte orders but for the name of one file.
headers=build/step/include
mkdir -p $headers/gnu "$(dirname "$out")"
: >$headers/gnu/stubs-lp64_be.h
[ "$cpu" = x86_64 ] || cc+=(-isystem "/usr/$cpu-linux-gnu/include")
cc+=("-I$here/programs" -I. -idirafter "$headers")

# library DIRECTORY NAME...: objects of foreign code, compiled once for each ABI and variant.
library() {
    local directory=$1 object
    shift
    for f; do
        object=$(dirname "$out")/$compiler-$level${flag:+-$flag}/$f.o
        mkdir -p "$(dirname "$object")"
        if ! [ "$object" -nt "$0" ]; then
            "${cc[@]}" -c -o "$object.tmp" "$directory/$f.c" 2>"$object.log" || { cat "$object.log" >&2 && exit 1; }
            mv "$object.tmp" "$object"
        fi
        files+=("$object")
    done
}

files=("$here/programs/start.S" "$here/programs/signals.c")
case $program in
patterns | goto) files+=("$here/programs/$program.c") ;;
zlib | lua | sqlite)
    src=$(test/toolchain/sources.sh)
    files+=("$here/programs/shim.c" "$here/programs/$program.c")
    cc+=(-fno-tree-loop-distribute-patterns -fno-builtin -D__NO_CTYPE)
    ;;&
zlib)
    cc+=("-I$src/zlib")
    library "$src/zlib" adler32 crc32 deflate inffast inflate inftrees trees zutil
    ;;
lua)
    cc+=("-I$src/lua5.4/src" "-Dluai_makeseed(l)=1" "-Dlua_getlocaledecpoint()='.'")
    library "$src/lua5.4/src" lapi lauxlib lbaselib lcode lcorolib lctype ldebug ldo ldump lfunc lgc llex lmem \
        lobject lopcodes lparser lstate lstring lstrlib ltable ltablib ltm lundump lvm lzio
    ;;
sqlite)
    cc+=("-I$src/sqlite3" -DSQLITE_OS_OTHER=1 -DSQLITE_THREADSAFE=0 -DSQLITE_TEMP_STORE=3 -DLONGDOUBLE_TYPE=double
        -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_LOCALTIME -DSQLITE_OMIT_WAL -DSQLITE_OMIT_JSON)
    library "$src/sqlite3" sqlite3
    ;;
*) echo "build.sh: no program $program" >&2 && exit 2 ;;
esac

# Assemblers name each function that cannot be described; only the signal's return is meant to be one.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! "${cc[@]}" "${linker[@]}" -nostdlib -static -no-pie -z execstack -Wl,--no-warn-execstack \
    -o "$out" "${files[@]}" 2>"$log"; then
    cat "$log" >&2
    exit 1
fi
grep -v -e 'Assembler messages' -e 'op (0xf)' -e 'no-warn-execstack' "$log" >&2 || true
[ "$flag" != gen ] || build/tools/sfu-gen -q --append="$out" "$out"

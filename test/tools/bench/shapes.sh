#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# shapes.sh OUT [SHAPE...]: builds a program for each shape of shapes.py, or for these, and walks its stacks by every
# walker below. All frames are compared first, then instructions and time are measured. Writes OUT-shapes.tsv: a header,
# then a line for each shape and walker. Fails if a frame is wrong. The peers are those that build.sh has made in OUT.
set -eu
LC_ALL=C
export LC_ALL
out=$1
shift
here=$(dirname "$0")
tc=$(test/tools/toolchain/toolchain.sh v3 gcc16)
gcc=$tc/gcc16/x86_64/gcc
# NAME_Os: the walker NAME, where sfu_fast.c is compiled for size.
walkers=${WALKERS-'sfu sfu_fast sfu_fast_index sfu_fast_8k sfu_fast_8k_Os libunwind_cached libgcc fp'}
# shellcheck disable=SC2046  # words
[ $# -gt 0 ] || set -- $("$here/shapes.py")
lib=$tc/peers/root/usr/lib/x86_64-linux-gnu
newest=
if [ -f "$lib/libc.so.6" ]; then
    newest="-Wl,--dynamic-linker=$lib/ld-linux-x86-64.so.2 -Wl,--disable-new-dtags,-rpath,$lib"
fi

# What bench.c and walk_sfu.c are told of shape $1.
defines() {
    echo "-DBENCH_MIN_DEPTH=1 -DBENCH_MAX_DEPTH=8000"
    case $1 in
    deep) echo "-DBENCH_FRAMES=8192 -DBENCH_STACKS=40" ;;
    *) echo "-DBENCH_FRAMES=256 -DBENCH_STACKS=1600" ;;
    esac
    case $1 in
    stacks) echo -DBENCH_FIND_STACK ;;
    sections_100) echo -DBENCH_SECTIONS=100 ;;
    skip) echo -DBENCH_SKIP=60 ;;
    esac
}

# build SHAPE PROGRAM FLAG...
build() {
    kind=$1
    made=$2
    shift 2
    language=c
    [ "$kind" != cxx ] || language=c++
    libraries="-Wl,-z,lazy $newest"
    [ $language = c ] || libraries="-static-libstdc++ -l:libstdc++.a $libraries"
    mkdir -p "$made.o"
    "$here/shapes.py" "$kind" >"$made.$language"
    compile="-D_GNU_SOURCE -O2 -Wa,--gsframe -I. -Iport/fast -I$here"
    # shellcheck disable=SC2046,SC2086  # words
    {
        if [ $language = c ]; then
            $gcc -std=gnu11 $compile "$@" -w -c "$made.c" -o "$made.o/work.o"
        else
            "$tc/gcc16/x86_64/g++" $compile "$@" -w -c "$made.c++" -o "$made.o/work.o"
        fi
        for file in "$here"/bench.c "$here"/walk_*.c sfu.c port/fast/sfu_fast.c; do
            $gcc -std=c99 $compile "$@" $(defines "$kind") -c "$file" -o "$made.o/$(basename "$file" .c).o"
        done
        $gcc -o "$made" "$made.o"/*.o $libraries
    }
}

# small SHAPE PROGRAM: PROGRAM-Os, with the fast walker compiled for size
small() {
    mkdir -p "$2-Os.o"
    cp "$2.o"/*.o "$2-Os.o"
    # shellcheck disable=SC2086  # words
    {
        $gcc -std=c99 -Os -Wa,--gsframe -I. -Iport/fast -c port/fast/sfu_fast.c -o "$2-Os.o/sfu_fast.o"
        $gcc -o "$2-Os" "$2-Os.o"/*.o $libraries
    }
}

# Instructions of walker $2 of program $1: "count FRAMES INSTRUCTIONS WALKS".
instructions() {
    valgrind -q --tool=callgrind --callgrind-out-file="$1.callgrind" --collect-atstart=no --toggle-collect=counted \
        "$1" "$out/peers" count "$2" >"$1.log" 2>&1 || { cat "$1.log" >&2 && return 1; }
    awk '/^counted/ { walks = $3; frames = $4 } /^(summary|totals):/ { ir = $2 } END { print frames, ir, walks }' \
        "$1.log" "$1.callgrind"
}

printf 'shape\twalker\tinstr_per_frame\tns_per_frame\twrong\n' >"$out-shapes.tsv.new"
status=0
for shape; do
    echo "shapes: $shape" >&2
    program=$out/shape-$shape
    build "$shape" "$program" -fomit-frame-pointer -DBENCH_FP=0
    small "$shape" "$program"
    build "$shape" "$program-fp" -fno-omit-frame-pointer -DBENCH_FP=1
    for p in "$program" "$program-Os" "$program-fp"; do
        "$p" "$out/peers" compare >"$p.compare" || status=1
        [ -n "${NO_TIME-}" ] || "$p" "$out/peers" time >"$p.time" || status=1
    done
    idle=$(instructions "$program" nothing)
    for walker in $walkers; do
        p=$program
        [ "$walker" != fp ] || p=$program-fp
        [ "$walker" = "${walker%_Os}" ] || p=$program-Os
        name=${walker%_Os}
        wrong=$(awk -v w="$name" '$1 == "wrong" && $2 == w { print $3 }' "$p.compare")
        [ -n "$wrong" ] || continue
        count=$(instructions "$p" "$name")
        ns=$(awk -v w="$name" '$1 == "time" && $2 == w { print $3 }' "$p.time" 2>/dev/null || :)
        echo "$idle $count" | awk -v shape="$shape" -v walker="$walker" -v ns="${ns:--}" -v wrong="$wrong" '{
            printf "%s\t%s\t%.1f\t%s\t%s\n", shape, walker, ($5 - $2 / $3 * $6) / $4, ns, wrong }' |
            tee -a "$out-shapes.tsv.new" >&2
    done
done
mv "$out-shapes.tsv.new" "$out-shapes.tsv"
exit $status

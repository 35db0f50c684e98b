#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# shapes.sh OUT [SHAPE...]: builds a program for each shape of shapes.py, or for these, and walks its stacks by every
# walker below. All frames are compared first, then time and instructions are measured. Writes OUT-shapes.tsv: a
# header, then a line for each shape and walker; OUT-traces.tsv, instructions of a whole trace; and a page of both.
# Fails if a frame is wrong.
#
# SFU_SHAPES=budget: only the fast walker, a few stacks of each shape, without the longest ones. Prints a line
# "gcc16 x86_64 O2 shape-SHAPE-WALKER INSTRUCTIONS" for each, as budget.sh does.
# SFU_SHAPES=CPU: of a few stacks of each shape that is there for this other CPU the lines "shape CPU-SHAPE-WALKER
# INSTRUCTIONS" of the core and the fast walker, by QEMU.
set -eu
LC_ALL=C
export LC_ALL
out=$1
shift
here=$(dirname "$0")
tc=$(test/tools/toolchain/toolchain.sh v3 gcc16)
cpu=x86_64
case ${SFU_SHAPES-} in aarch64 | s390x | riscv64) cpu=$SFU_SHAPES ;; esac
gcc=$tc/gcc16/$cpu/gcc
flags="-D_GNU_SOURCE -O2 -Wa,--gsframe -I. -Iport/fast -I$here"
link=
# SFrame does not have RISC-V: sfu-gen makes the tables.
if [ "$cpu" = riscv64 ]; then
    gcc=$(test/tools/toolchain/toolchain.sh riscv)/riscv/riscv64/gcc
    flags="-D_GNU_SOURCE -O2 -fasynchronous-unwind-tables -I. -Iport/fast -I$here"
    link=$out/room.ld
    mkdir -p "$out"
    cat >"$link" <<END
SECTIONS { .sfu_sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += SIZEOF(.eh_frame) * 2; sframe_end = .; } }
INSERT AFTER .rodata;
END
fi
budget=${SFU_SHAPES-}
# NAME_Os: the walker NAME, where all of ours is compiled for size.
ours='sfu_fast sfu_fast_index sfu_fast_8k sfu_fast_Os sfu_fast_index_Os sfu_fast_8k_Os'
[ -n "$budget" ] || ours="sfu_fast_room sfu_fast_32k $ours"
# In the program with frame pointers, too, where their names end in _fp.
cached='sfu_fast_8k sfu_fast_room'
cached_fp='sfu_fast_8k_fp sfu_fast_room_fp'
peers='libunwind_cached libgcc'
lib=$tc/peers/root/usr/lib/x86_64-linux-gnu
[ -z "$budget" ] && [ -f "$lib/libc.so.6" ] || lib=$tc/gcc16/root/usr/lib/x86_64-linux-gnu
newest="-Wl,--dynamic-linker=$lib/ld-linux-x86-64.so.2 -Wl,--disable-new-dtags,-rpath,$lib"

# The shapes that are measured if none are named.
all() {
    if [ "$cpu" != x86_64 ]; then
        echo sites_1k deep shallow switch_40 switch_200 switch_800 large_frames large_functions stacks sections_100 \
            skip
    elif [ -n "$budget" ]; then
        echo sites_1k cxx deep shallow switch_200 drap drap_8th large_frames large_functions stacks sections_100 \
            plt skip signals
    else
        "$here/shapes.py"
    fi
}

# Bytes of a cache that has room for the call sites of shape $1, at least 8 KiB: 8 for each, as sfu_fast.h says.
room() {
    case $1 in
    sites_100k) echo $((1024 * 1024)) ;;
    sites_10k) echo $((128 * 1024)) ;;
    sites_4k | modules_*) echo $((32 * 1024)) ;;
    sites_2k) echo $((16 * 1024)) ;;
    *) echo $((8 * 1024)) ;;
    esac
}

# What bench.c and the walkers are told of shape $1.
defines() {
    [ "$cpu" != x86_64 ] || echo -DBENCH_BOTH
    echo "-DBENCH_MIN_DEPTH=1 -DBENCH_MAX_DEPTH=8000"
    case $1 in
    deep) echo "-DBENCH_FRAMES=8192 -DBENCH_STACKS=$([ -n "$budget" ] && echo 4 || echo 10)" ;;
    switch_800 | large_functions) echo "-DBENCH_FRAMES=256 -DBENCH_STACKS=100" ;; # many rows: the core takes its time
    sites_10k | sites_100k) echo "-DBENCH_FRAMES=256 -DBENCH_STACKS=1600" ;;
    *) echo "-DBENCH_FRAMES=256 -DBENCH_STACKS=$([ -n "$budget" ] && echo 200 || echo 800)" ;;
    esac
    [ -n "$budget" ] || echo "-DBENCH_ROOM=$(room "$1")"
    case $1 in
    stacks) echo -DBENCH_FIND_STACK ;;
    interrupt_stack) echo -DBENCH_FIND_STACK -DBENCH_FP_LOSES=1 ;;
    sections_100) echo -DBENCH_SECTIONS=100 ;;
    aligned_* | far_12) echo -DBENCH_SPLIT=20 -DBENCH_APART=16384 ;; # two are the program's own
    far_*) echo -DBENCH_SPLIT=80 -DBENCH_APART=16384 ;;
    modules_*) echo "-DBENCH_SPLIT=${1#modules_}" ;;
    copy_*k) k=${1#copy_} && echo "-DBENCH_COPY=$((${k%k} * 1024))" ;;
    fresh) echo -DBENCH_FRESH=1 ;;
    skip) echo -DBENCH_SKIP=60 ;;
    signals | interrupt) echo -DBENCH_FP_LOSES=1 ;;
    plt | plt_caller) echo -DBENCH_TOP -DBENCH_FP_LOSES=1 ;;
    esac
}

# What is not the same in each program is in MADE.own; work.o is kept if its source and its compiler are as they were.
work() {
    kind=$1
    made=$2
    frame_pointer=$3
    source=$made.c
    [ "$kind" != cxx ] || source=$made.cc
    case $budget-$kind in
    -sites* | -modules* | -alike* | -fresh | -deep | -skip) few=1 ;; # each site is to be met
    -*) few=4 ;;
    *) few=8 ;;
    esac
    "$here/shapes.py" "$kind" $few >"$source.new"
    if ! cmp -s "$source.new" "$source" || [ ! -f "$made.own/work.o" ]; then
        mv "$source.new" "$source"
        rm -f "$made.own/work.o"
        # shellcheck disable=SC2086  # words
        case $source in
        *.cc) "$tc/gcc16/x86_64/g++" $flags "$frame_pointer" -w -c "$source" -o "$made.own/work.o" ;;
        *) "$gcc" -std=gnu11 $flags "$frame_pointer" -w -c "$source" -o "$made.own/work.o" ;;
        esac
        [ "$kind" != sites_100k ] || parts
    fi
}

# Ten times the same functions: they differ in where they are.
parts() {
    "$here/shapes.py" part >"$made-part.c"
    # shellcheck disable=SC2086  # words
    "$gcc" -std=gnu11 $flags "$frame_pointer" -w -c "$made-part.c" -o "$made-part"
    for i in 0 1 2 3 4 5 6 7 8 9; do
        "$tc/$cpu/objcopy" --redefine-sym part=part$i "$made-part" "$made.own/part$i.o"
    done
}

# The library of a program that has one.
library() {
    "$here/shapes.py" far >"$made-far.c"
    # shellcheck disable=SC2086  # words
    "$gcc" -std=gnu11 $flags "$frame_pointer" -w -fPIC -shared "$made-far.c" -o "$made-far.so"
    libraries="-rdynamic $made-far.so $libraries"
}

# Where the sections of shape $1 are that shapes.py writes for it, as the linker is told.
places() {
    case $1 in
    aligned_64k) step=0x10000 ;;
    aligned_1m) step=0x100000 ;;
    far_12) step=0x4000000 ;;
    far_*) step=0x1000000 ;;
    esac
    for i in $(seq 0 63); do
        printf -- '-Wl,--section-start=.module%d=%#x ' "$i" "$((0x10000000 + i * step))"
    done
}

# build SHAPE PROGRAM FRAME-POINTER DEFINE...
build() {
    kind=$1
    made=$2
    frame_pointer=$3
    shift 3
    mkdir -p "$made.own"
    work "$kind" "$made" "$frame_pointer"
    libraries="-Wl,-z,lazy $newest"
    [ "$kind" != cxx ] || libraries="-static-libstdc++ -l:libstdc++.a $libraries"
    # A page for what PLTs jump by, and for nothing else.
    case $kind in
    signals | interrupt*) libraries="$out/shape-restorer.o $libraries" ;;
    library) library ;;
    aligned_* | far_*) libraries="$(places "$kind") $libraries" ;;
    plt | plt_caller) libraries="$libraries -Wl,--section-start=.got.plt=0x5000000,--section-start=.data=0x5001000" ;;
    esac
    # shellcheck disable=SC2046  # words
    shared "$frame_pointer" $(defines "$kind") "$@"
    # shellcheck disable=SC2086  # words
    $gcc -no-pie -o "$made" "$shared"/*.o "$made.own"/*.o "$out/shape-O2"/*.o $libraries
}

# shared FLAG...: leaves the objects of the benchmark and its walkers in the directory $shared. Shapes that are told
# the same share them.
shared() {
    shared=$out/shape-walkers/$(echo "$*" | tr -c 'A-Za-z0-9\n' -)
    [ ! -f "$shared/small.o" ] || return 0
    mkdir -p "$shared"
    # shellcheck disable=SC2086  # words
    {
        for file in "$here"/bench.c "$here"/walk_fp.c "$here"/walk_sfu.c; do
            $gcc -std=c99 $flags "$@" -c "$file" -o "$shared/$(basename "$file" .c).o"
        done
        $gcc -std=c99 $flags "$@" -Os -DBENCH_SMALL -c "$here/walk_sfu.c" -o "$shared.small.o"
        "$tc/$cpu/ld" -r -o "$shared.new.o" "$shared.small.o" "$out/shape-Os"/*.o
        "$tc/$cpu/objcopy" --keep-global-symbol=small_walkers "$shared.new.o" "$shared/small.o"
    }
}

# What is the same in each program, or in some.
common() {
    rm -rf "$out/shape-walkers"
    mkdir -p "$out/shape-O2" "$out/shape-Os"
    "$here/shapes.py" restorer >"$out/shape-restorer.S"
    # shellcheck disable=SC2086  # words
    {
        $gcc -I. -c "$out/shape-restorer.S" -o "$out/shape-restorer.o" # not both tables of its function by gas
        for opt in O2 Os; do
            $gcc -std=c99 $flags -$opt -c sfu.c -o "$out/shape-$opt/sfu.o"
            $gcc -std=c99 $flags -$opt -c port/fast/sfu_fast.c -o "$out/shape-$opt/sfu_fast.o"
        done
    }
}

# by_qemu SHAPE: its lines. Frames are compared with the core's. What symbols say functions are is what is counted.
by_qemu() {
    program=$out/$cpu-shape-$1
    mkdir -p "$program.own"
    work "$1" "$program" -fomit-frame-pointer
    # shellcheck disable=SC2046,SC2086  # words
    $gcc -std=c99 $flags $(defines "$1") -DBENCH_FP=0 "$here/bench.c" "$here/walk_fp.c" \
        "$here/walk_sfu.c" sfu.c port/fast/sfu_fast.c "$program.own/work.o" -static ${link:+-T $link} -o "$program" \
        2>"$program.log" || { cat "$program.log" >&2 && return 1; }
    [ -z "$link" ] || build/tools/sfu-gen -q "$program"
    "qemu-$cpu" "$program" none compare sfu sfu_fast sfu_fast_index sfu_fast_8k >"$program.compare" || status=1
    "qemu-$cpu" -plugin "$out/insns.so" "$program" none count sfu sfu_fast sfu_fast_index sfu_fast_8k \
        >"$program.out" 2>"$program.count" || status=1
    grep '^within' "$program.count" >"$program.within" || :
    grep '^counted' "$program.out" | paste -d' ' - "$program.within" | awk -v what="$cpu-$1" '
        $2 == "nothing" { idle = $6 / $3; next }
        { printf "shape %s-%s %.1f\n", what, $2, ($6 - idle * $3) / $4 }'
}

# sfu_fast_8k_fp: the walker sfu_fast_8k in a program with frame pointers.
with_fp() { sed 's/ \(sfu_fast_[a-z0-9]*\) / \1_fp /'; }

# measure SHAPE: its lines
measure() {
    program=$out/shape-$1
    walkers="sfu $ours"
    build "$1" "$program" -fomit-frame-pointer -DBENCH_FP=0
    # shellcheck disable=SC2086  # words
    "$program" "$out/peers" time sfu $ours $peers >"$program.time" || status=1
    build "$1" "$program-fp" -fno-omit-frame-pointer -DBENCH_FP=1
    # shellcheck disable=SC2086  # words
    "$program-fp" "$out/peers" time $cached fp libunwind_cached libgcc >"$program-fp.times" || status=1
    with_fp <"$program-fp.times" >"$program-fp.time"
    # shellcheck disable=SC2086  # words
    "$here/count.sh" "$program" "$out/peers" $walkers $peers >"$program.count"
    # shellcheck disable=SC2086  # words
    "$here/count.sh" "$program-fp" "$out/peers" $cached fp | with_fp | grep 'fp ' >>"$program.count"
    for walker in $walkers $peers $cached_fp fp; do
        times=$program.time
        [ "${walker%fp}" = "$walker" ] || times=$program-fp.time
        awk -v shape="$1" -v walker="$walker" -v traces="$out-traces.tsv" '
            $2 == "nothing" { idle = $3 / $4 }
            $1 == "time" && $2 == "libunwind_cached" { peer = $3 }
            $1 == "time" && $2 == walker { ns = $3 }
            $2 != walker { next }
            $1 == "wrong" { wrong = $3 }
            $1 == "count" {
                count = $3 - idle * $4
                ratio = peer > 0 && ns != "" ? sprintf("%.2f", ns / peer) : "-"
                ns = ns == "" ? "-" : sprintf("%.1f", ns)
                printf "%s\t%s\t%.1f\t%s\t%s\t%s\n", shape, walker, count / $5, ns, ratio, wrong
                printf "%s\t%s\t%.1f\n", shape, walker, count / $4 >>traces
            }' "$times" "$program.count" | tee -a "$out-shapes.tsv.new" >&2
    done
}

# count SHAPE: its lines of the budget. Frames are compared with the core.
count() {
    program=$out/shape-$1
    build "$1" "$program" -fomit-frame-pointer -DBENCH_FP=0
    # shellcheck disable=SC2086  # words
    "$program" none compare sfu $ours >"$program.compare" || { echo "shapes: $1: wrong frames" >&2 && status=1; }
    # shellcheck disable=SC2086  # words
    "$here/count.sh" "$program" none $ours | grep -v index_Os | awk -v shape="$1" '
        $2 == "nothing" { idle = $3 / $4; next }
        {
            opt = sub(/_Os$/, "", $2) ? "Os" : "O2"
            sub(/^sfu_/, "", $2)
            printf "gcc16 x86_64 %s shape-%s-%s %.1f\n", opt, shape, $2, ($3 - idle * $4) / $5
        }'
}

status=0
# shellcheck disable=SC2046  # words
[ $# -gt 0 ] || set -- $(all)
mkdir -p "$out"
if [ "$cpu" != x86_64 ]; then
    [ -f "$out/insns.so" ] || "$here/plugin.sh" "$out/insns.so"
    for shape; do by_qemu "$shape"; done
    exit $status
fi
common
if [ -n "$budget" ]; then
    for shape; do count "$shape"; done
    exit $status
fi
"$here/peers.sh" "$out/peers"
printf 'shape\twalker\tinstr_per_frame\tns_per_frame\tof_unw_backtrace\twrong\n' >"$out-shapes.tsv.new"
printf 'shape\twalker\tinstr_per_trace\n' >"$out-traces.tsv"
for shape; do
    echo "shapes: $shape" >&2
    measure "$shape"
done
mv "$out-shapes.tsv.new" "$out-shapes.tsv"
awk -f "$here/../figures.awk" -f "$here/shapes.awk" "$out-shapes.tsv" "$out-traces.tsv" >"$out-shapes.md"
cat "$out-shapes.md"
exit $status

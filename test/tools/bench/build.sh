#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# build.sh OUT: builds the benchmark: OUT/bench (no frame pointers), OUT/bench-fp (with them), OUT/bench-bare (with
# an empty .eh_frame: who walks there uses SFrame), OUT/stacks-CPU with OUT/CPU.sframe, OUT/peers/*.so,
# OUT/size/*.o. All are by gcc 16 and run with the newest Debian's libc. A peer that cannot be built is missing,
# and why is in OUT/peers/NAME.log.
set -eu
out=$1
here=$(dirname "$0")
tc=$(test/tools/toolchain/toolchain.sh v3 gcc16 riscv)
src=$(test/tools/toolchain/sources.sh)/sqlite3
cpu=x86_64
gcc=$tc/gcc16/x86_64/gcc
warn='-Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes'
mkdir -p "$out/size"

test/tools/toolchain/toolchain.sh peers >/dev/null || echo 'build.sh: no peers: only those of this system take part' >&2
root=$tc/peers/root
lib=$root/usr/lib/x86_64-linux-gnu
newest=
if [ -f "$lib/libc.so.6" ]; then
    newest="-Wl,--dynamic-linker=$lib/ld-linux-x86-64.so.2 -Wl,--disable-new-dtags,-rpath,$lib"
fi

# SFrame does not have RISC-V: sfu-gen makes the tables.
gcc_of() { if [ "$1" = riscv64 ]; then echo "$tc/riscv/riscv64/gcc"; else echo "$tc/gcc16/$1/gcc"; fi; }
ld_of() { if [ "$1" = riscv64 ]; then echo "$tc/riscv/riscv64/ld"; else echo "$tc/$1/ld"; fi; }
gsframe() { if [ "$1" = riscv64 ]; then echo -fasynchronous-unwind-tables; else echo -Wa,--gsframe; fi; }

# object FILE OBJECT FLAG...
object() {
    file=$1
    object=$2
    shift 2
    # shellcheck disable=SC2046  # words
    "$(gcc_of "$cpu")" -std=c99 -D_GNU_SOURCE -O2 $(gsframe "$cpu") -I. -Iport/fast "-I$src" "$@" -c "$file" \
        -o "$object"
}

# sqlite takes a minute: once for each variant.
foreign() {
    stamp=$("$gcc" -dumpfullversion)-$(cksum <"$src/sqlite3.c" | tr ' ' -)
    [ "$(cat "$out/$1/version" 2>/dev/null)" != "$stamp" ] || return 0
    object "$src/sqlite3.c" "$out/$1/sqlite3.o" "$2" -w -DSQLITE_THREADSAFE=0 -DSQLITE_TEMP_STORE=3 \
        -DSQLITE_OMIT_LOAD_EXTENSION
    echo "$stamp" >"$out/$1/version"
}

# program NAME FLAG...: its objects are in OUT/o-NAME
program() {
    name=$1
    shift
    mkdir -p "$out/o-$name"
    foreign "o-$name" "$@"
    for file in "$here"/bench.c "$here"/work.c "$here"/walk_*.c sfu.c port/fast/sfu_fast.c; do
        # shellcheck disable=SC2086  # words
        object "$file" "$out/o-$name/$(basename "$file" .c).o" $warn "$@"
    done
    # shellcheck disable=SC2086  # words
    "$gcc" -o "$out/$name" "$out/o-$name"/*.o -lm $newest
}

# small PROGRAM: ours compiled for size, as one object of this program, outside of which only small_walkers is known
small() {
    mkdir -p "$out/o-small" "$out/o-$1"
    for file in "$here/walk_sfu.c" sfu.c port/fast/sfu_fast.c; do
        object "$file" "$out/o-small/$(basename "$file" .c).o" -Os -DBENCH_SMALL -fomit-frame-pointer
    done
    "$tc/$cpu/ld" -r -o "$out/o-$1/small.o" "$out/o-small"/*.o
    "$tc/$cpu/objcopy" --keep-global-symbol=small_walkers "$out/o-$1/small.o"
}

# bare PROGRAM: the same without .eh_frame
bare() {
    # shellcheck disable=SC2086  # words
    "$gcc" -o "$out/$1-bare" "$out/o-$1"/*.o -lm $newest -Wl,--no-eh-frame-hdr
    size=$("$tc/x86_64/readelf" -SW "$out/$1-bare" | sed 's/^ *\[ *//' | awk '$2 == ".eh_frame" { print $6 }')
    head -c "$((0x$size))" /dev/zero >"$out/nothing"
    "$tc/x86_64/objcopy" --update-section .eh_frame="$out/nothing" "$out/$1-bare"
}

small bench
program bench -fomit-frame-pointer -DBENCH_FP=0 -DBENCH_BOTH
program bench-fp -fno-omit-frame-pointer -DBENCH_FP=1
bare bench

# stacks: the section of sqlite's code for $cpu, and what makes stacks of it
stacks() {
    if [ "$cpu" = x86_64 ]; then
        image=$out/bench
    else
        mkdir -p "$out/o-$cpu"
        foreign "o-$cpu" -fomit-frame-pointer
        image=$out/o-$cpu/sqlite3.x
        "$(ld_of "$cpu")" --unresolved-symbols=ignore-all -e sqlite3_open "$out/o-$cpu/sqlite3.o" -o "$image"
    fi
    if [ "$cpu" = riscv64 ]; then
        build/tools/sfu-gen -q -o "$out/$cpu.sframe" --address=0x1000 "$image" # below the code, as the heap is above
    else
        "$tc/$cpu/objcopy" -O binary -j .sframe "$image" "$out/$cpu.sframe"
    fi
    # shellcheck disable=SC2086  # words
    "$(gcc_of "$cpu")" -std=c99 -D_GNU_SOURCE -O2 $warn -static -I. -Iport/fast "$here/stacks.c" sfu.c \
        port/fast/sfu_fast.c \
        -o "$out/stacks-$cpu"
}
for cpu in x86_64 aarch64 s390x riscv64; do
    stacks
done

test/tools/bench/plugin.sh "$out/insns.so"

cpu=x86_64
"$here/peers.sh" "$out/peers"

# For the sizes: as a small machine would have them.
for opt in Os O2; do
    for file in sfu.c port/fast/sfu_fast.c "$here/walk_fp.c"; do
        "$gcc" -std=c99 -ffreestanding -$opt -fcf-protection=none -DSFU_NO_STRINGS -I. -Iport/fast -c "$file" \
            -o "$out/size/$(basename "$file" .c)-$opt.o"
    done
done

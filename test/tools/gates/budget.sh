#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# budget.sh OUT [size|perf]: measures the core, and the fast walker beside it. Prints lines "compiler cpu optimisation
# what figure":
#   text         bytes of text and rodata without the messages
#   smallest     the same of what a program links that adds a mapped section of version 3, starts and steps,
#                built for this ABI alone
#   one-section  the same with sfu_open instead of sfu_add
#   stack        bytes of stack that a step needs beyond the callbacks
#   stack-mapped the same without remote reading
#   print, build-id, cycles, calls, record, all, symbols, dump, sizes, trap, kernel
#                bytes of text and rodata of each part of port/print, port/symbols and port/kernel
#   depot, depot-print, profile
#                the same of port/depot and port/profile
#   together     the same of core, printer, build ID, record and symbols as a program links them that is built for this
#                ABI alone and maps sections of version 3, texts aside
#   fast-text    as text, of the fast walker
#   fast-stack   bytes of stack that a trace by it needs beyond the callbacks; a step of the core is in it
#   repeat-...   the same of what remembers the last trace
#   walk ...     instructions per frame or per find: the modes of perf.c
#   shape-SHAPE-WALKER
#                instructions per frame of stacks of the benchmark's shapes, all of whose frames were right
# gcc 12 is Debian 12's, gcc16 the newest one of the toolchain; each measures alike everywhere.
set -eu
out=$1
what=${2:-all}
mkdir -p "$out"
here=$(dirname "$0")

compiler() {
    case $1-$2 in
    gcc12-aarch64_be) echo aarch64-linux-gnu-gcc -mbig-endian ;;
    gcc12-riscv64) echo riscv64-linux-gnu-gcc -march=rv64imac -mabi=lp64 -mcmodel=medany ;;
    gcc12-riscv32) echo riscv64-linux-gnu-gcc -march=rv32imac -mabi=ilp32 -mcmodel=medany ;;
    gcc12-i386) echo x86_64-linux-gnu-gcc -m32 -march=i686 ;;
    gcc12-*) echo "$2-linux-gnu-gcc" ;;
    gcc16-i386) echo build/tc/gcc16/x86_64/gcc -m32 -march=i686 ;;
    gcc16-aarch64_be) echo build/tc/gcc16/aarch64/gcc -mbig-endian ;;
    gcc16-*) echo "build/tc/gcc16/$2/gcc" ;;
    esac
}

abi_of() {
    case $1 in
    x86_64) echo SFU_AMD64 ;;
    aarch64) echo SFU_AARCH64 ;;
    aarch64_be) echo SFU_AARCH64_BIG ;;
    s390x) echo SFU_S390X ;;
    riscv64) echo SFU_RISCV64 ;;
    riscv32) echo SFU_RISCV32 ;;
    i386) echo SFU_I386 ;;
    esac
}

# Any readelf reads each of them.
readelf_of() {
    case $1 in
    riscv*) echo riscv64-linux-gnu-readelf ;;
    i386) echo build/tc/x86_64/readelf ;;
    *) echo "build/tc/${1%_be}/readelf" ;;
    esac
}

# The toolchain has no gcc 16 for RISC-V.
cpus_of() {
    echo x86_64 i386 aarch64 aarch64_be s390x
    [ "$1" = gcc16 ] || echo riscv64 riscv32
}

# Its cache has words of 64 bits, which are atomic.
has_fast() { [ "$1" != riscv32 ] && [ "$1" != i386 ]; }

# parts COMPILER CPU OPTIMISATION: what a panic needs besides the core, which measure has compiled.
parts() {
    object=$out/$1-$2-$3-part
    command="$(compiler "$1" "$2") -std=c99 -ffreestanding -$3 -DSFU_NO_STRINGS -I. -Iport/print"
    command="$command -Iport/fast -Iport/depot -Iarch"
    [ "${2%_be}" != aarch64 ] || command="$command -mno-outline-atomics" # sfu_depot.h asks for it
    one="$command -DSFU_NO_REMOTE -DSFU_OLDEST_VERSION=3 -DSFU_ABI=$(abi_of "$2") -ffunction-sections -fdata-sections"
    readelf=$(readelf_of "$2")
    panic='print build-id record symbols'
    for part in print build-id cycles calls record all symbols dump sizes trap kernel depot depot-print profile; do
        file=sfu_$(echo $part | tr - _).c
        case $part in
        symbols | kernel | depot | profile) file=port/$part/$file ;;
        depot-print) file=port/depot/$file ;;
        *) file=port/print/$file ;;
        esac
        # shellcheck disable=SC2086  # words
        $command -c $file -o "$object-$part.o"
        # shellcheck disable=SC2086  # words
        case " $panic " in *" $part "*) $one -c $file -o "$object-$part-one.o" ;; esac
        echo "$1 $2 $3 $part $("$here/../measure.sh" text "$readelf" "$object-$part.o")"
    done
    # shellcheck disable=SC2046,SC2086  # words
    $(compiler "$1" "$2") -nostdlib -r -Wl,--gc-sections,-u,sfu_panic_init,-u,sfu_panic_print,-u,sfu_print_build_id \
        -Wl,-u,sfu_record_write,-u,sfu_record_print,-u,sfu_record_clear,-u,sfu_symbols_find "${object%-part}-alone.o" \
        $(for part in $panic; do echo "$object-$part-one.o"; done) -o "$object-together.o"
    echo "$1 $2 $3 together $("$here/../measure.sh" text "$readelf" "$object-together.o" .str1.)"
}

# measure COMPILER CPU OPTIMISATION
measure() {
    object=$out/$1-$2-$3
    command="$(compiler "$1" "$2") -std=c99 -ffreestanding -$3 -DSFU_NO_STRINGS -I. -c sfu.c"
    readelf=$(readelf_of "$2")
    # shellcheck disable=SC2086  # words
    {
        $command -fcallgraph-info=su -o "$object.o"
        $command -fcallgraph-info=su -DSFU_NO_REMOTE -o "$object-mapped.o"
        ! has_fast "$2" || ${command% sfu.c} port/fast/sfu_fast.c -fcallgraph-info=su -o "$object-fast.o"
        ! has_fast "$2" || ${command% sfu.c} port/fast/sfu_repeat.c -fcallgraph-info=su -o "$object-repeat.o"
        $command -DSFU_NO_REMOTE -DSFU_OLDEST_VERSION=3 "-DSFU_ABI=$(abi_of "$2")" -ffunction-sections \
            -fdata-sections -o "$object-alone.o"
        $(compiler "$1" "$2") -nostdlib -r -Wl,--gc-sections,-u,sfu_add,-u,sfu_walk_start,-u,sfu_walk_step \
            "$object-alone.o" -o "$object-smallest.o"
        $(compiler "$1" "$2") -nostdlib -r -Wl,--gc-sections,-u,sfu_open,-u,sfu_walk_start,-u,sfu_walk_step \
            "$object-alone.o" -o "$object-one-section.o"
    }
    echo "$1 $2 $3 text $("$here/../measure.sh" text "$readelf" "$object.o")"
    echo "$1 $2 $3 smallest $("$here/../measure.sh" text "$readelf" "$object-smallest.o")"
    echo "$1 $2 $3 one-section $("$here/../measure.sh" text "$readelf" "$object-one-section.o")"
    stack=$("$here/stack.py" "$object.ci" sfu_walk_step)
    echo "$1 $2 $3 stack ${stack%% *}"
    stack=$("$here/stack.py" "$object-mapped.ci" sfu_walk_step)
    echo "$1 $2 $3 stack-mapped ${stack%% *}"
    has_fast "$2" || return 0
    cat "$object.ci" >>"$object-fast.ci"
    echo "$1 $2 $3 fast-text $("$here/../measure.sh" text "$readelf" "$object-fast.o")"
    stack=$("$here/stack.py" "$object-fast.ci" sfu_fast_trace)
    echo "$1 $2 $3 fast-stack ${stack%% *}"
    cat "$object-fast.ci" >>"$object-repeat.ci"
    echo "$1 $2 $3 repeat-text $("$here/../measure.sh" text "$readelf" "$object-repeat.o")"
    stack=$("$here/stack.py" "$object-repeat.ci" sfu_repeat_trace)
    echo "$1 $2 $3 repeat-stack ${stack%% *}"
}

# instructions COMPILER OPTIMISATION
instructions() {
    program=$out/perf-$1-$2
    $(compiler "$1" x86_64) -std=c99 "-$2" -g -I. -Iport/fast "$here/perf.c" test/unit/build.c sfu.c \
        port/fast/sfu_fast.c -o "$program"
    for mode in walk read remote v2 find trace trace-cached trace-remote; do
        n=$(valgrind -q --tool=callgrind --callgrind-out-file="$program-$mode" --collect-atstart=no \
            --toggle-collect='measured*' "$program" $mode 2>"$program.log") || cat "$program.log" >&2
        awk -v n="$n" -v name="$1 x86_64 $2 $mode" '/^(summary|totals):/ { ir = $2 }
            END { printf "%s %.1f\n", name, ir / n }' "$program-$mode"
    done
}

# perf_program COMPILER CPU OPTIMISATION ROUNDS OUT: with the libc of that CPU, or where there is none, with what
# port/linux has instead, and without the fast walker. All but perf.c is compiled once for all ROUNDS.
perf_program() {
    program_parts=$out/perf-$1-$2-$3-parts
    if has_fast "$2"; then
        command="$2-linux-gnu-gcc -std=c99 -$3 -I. -Iport/fast"
        sources='test/unit/build.c sfu.c port/fast/sfu_fast.c'
        libraries=-static
    else
        mkdir -p "$out/stubs/gnu"
        : >"$out/stubs/gnu/stubs-ilp32.h"
        command="$(compiler "$1" "$2") -std=c99 -$3 -DPERF_ALONE -I. -Iport/fast -isystem $out/stubs"
        sources='test/unit/build.c sfu.c port/linux/sfu_linux.c port/linux/start.c port/linux/start.S'
        libraries="-nostdlib -static $(riscv64-unknown-elf-gcc -march=rv32imac -mabi=ilp32 -print-libgcc-file-name)"
    fi
    for source in $([ -d "$program_parts" ] || echo "$sources"); do
        mkdir -p "$program_parts"
        # shellcheck disable=SC2086  # words
        $command -c "$source" -o "$program_parts/$(basename "$source").o"
    done
    # shellcheck disable=SC2086  # words
    $command -DROUNDS="$4" "$here/perf.c" "$program_parts"/*.o $libraries -o "$5"
}

# by_qemu COMPILER CPU OPTIMISATION: the same of another CPU. QEMU counts whole programs: what one does that has twice
# the rounds, less what the other does, are the rounds alone.
by_qemu() {
    program=$out/perf-$1-$2-$3
    rm -rf "$program-parts"
    [ -f "$out/insns.so" ] || "$here/../bench/plugin.sh" "$out/insns.so"
    for rounds in 20 40; do
        perf_program "$1" "$2" "$3" $rounds "$program-$rounds"
    done
    fast_modes=
    ! has_fast "$2" || fast_modes='trace trace-cached trace-remote'
    for mode in walk read remote find $fast_modes; do
        for rounds in 20 40; do
            "qemu-$2" -plugin "$out/insns.so" "$program-$rounds" "$mode" 2>&1
        done | awk -v name="$1 $2 $3 $mode" '/^[0-9]/ { n = $1 - n } /^instructions/ { ir = $2 - ir }
            END { printf "%s %.1f\n", name, ir / n }'
    done
}

[ "$what" = size ] || SFU_SHAPES=budget "$here/../bench/shapes.sh" "$out/shapes" 2>"$out/shapes.log" ||
    { cat "$out/shapes.log" >&2 && exit 1; }
for compiler in gcc12 gcc16; do
    for opt in Os O2; do
        for cpu in $(cpus_of $compiler); do
            [ "$what" = perf ] || measure $compiler "$cpu" $opt
            [ "$what" = perf ] || parts $compiler "$cpu" $opt
        done
        [ "$what" = size ] || instructions $compiler $opt
        [ "$what-$compiler" != all-gcc12 ] || for cpu in riscv64 riscv32; do by_qemu $compiler $cpu $opt; done
    done
done

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# bench.sh OUT: builds and runs the benchmark; prints its tables and writes them to OUT.tsv (for scripts) and
# test/tools/bench/RESULTS.md. Fails if any walker's frames are wrong. A peer that is missing is said to be missing.
#
# Whatever is measured is first a line "WHAT NAME NUMBER..." in OUT/measured.
set -eu
LC_ALL=C
export LC_ALL
out=$1
here=$(dirname "$0")
tc=build/tc
peers=$out/peers
measured=$out/measured

say() { echo "bench: $*" >&2; }

# Bytes of text and rodata of file $1.
text() { test/tools/measure.sh text "$tc/x86_64/readelf" "$1"; }

sizes() {
    for object in sfu sfu_fast walk_fp; do
        echo "text $object $(text "$out/size/$object-O2.o")"
        echo "text ${object}_Os $(text "$out/size/$object-Os.o")"
    done
    "$out/bench" "$peers" libraries >"$out/libraries"
    for pair in libgcc:/libgcc_s.so. libunwind:/libunwind.so.8 libsframe:/libsframe.so. llvm:/libunwind.so.1; do
        file=$(grep -F "${pair#*:}" "$out/libraries" || :)
        [ -n "$file" ] || continue
        echo "text ${pair%:*} $(text "$file")"
        "$tc/x86_64/readelf" --dyn-syms -W "$file" | awk -v name="${pair%:*}" '
            $7 == "UND" && sub(/@.*/, "", $8) && ($8 == "_dl_find_object" || $8 == "dl_iterate_phdr") {
                by = by " " $8
            }
            END { if (by != "") print "modules", name by }'
    done
}

# Frame pointers are walked in a program of their own, which has them: its lines of what concerns them.
of_fp() { sed -n -e 's/^\([a-z]*\) fp /\1 fp /p' -e 's/^time libunwind_cached /fp-time libunwind_cached /p'; }

# compare: every walker on every stack, before anything is timed.
compare() {
    failed=0
    "$out/bench" "$peers" compare || failed=1
    "$out/bench-fp" "$peers" compare >"$out/fp" || failed=1
    of_fp <"$out/fp"
    awk '$1 == "wrong" && $3 != 0 { print "bench: with frame pointers:", $0 }' "$out/fp" >&2
    "$out/bench-bare" "$peers" compare | sed -n 's/^wrong/bare/p'
    return $failed
}

# callgrind FUNCTION COMMAND...: what the command prints, and "Ir N": the instructions of the function.
callgrind() {
    function=$1
    shift
    valgrind -q --tool=callgrind --callgrind-out-file="$out/callgrind" --collect-atstart=no \
        --toggle-collect="$function" "$@" >"$out/callgrind.log" 2>&1 ||
        { cat "$out/callgrind.log" >&2 && return 1; }
    cat "$out/callgrind.log"
    awk '/^(summary|totals):/ { ir = $2 } END { print "Ir", ir }' "$out/callgrind"
}

instructions() {
    "$here/count.sh" "$out/bench" "$peers"
    "$here/count.sh" "$out/bench-fp" "$peers" sfu_fast_8k fp | of_fp
}

all_times() {
    for round in 1 2 3; do
        say "time, $round of 3"
        "$out/bench" "$peers" time | grep '^time'
        "$out/bench-fp" "$peers" time | of_fp | grep time
    done
}

# Lookups in sections of all sizes: instructions of one, and nanoseconds, the same 1,000 and others each time.
lookups() {
    for n in 1000 10000 100000 1000000; do
        for mode in find sfu fast index cache; do
            callgrind measured "$out/stacks-x86_64" "$out/x86_64.sframe" "$n" "$mode-all" 16 1 |
                awk -v name="$n-$mode" '/^stacks/ { ops = $4 } /^Ir/ { print "lookup-count", name, $2 / ops }'
            for kind in '' -all; do
                "$out/stacks-x86_64" "$out/x86_64.sframe" "$n" "$mode$kind" 256 5 |
                    awk -v name="$n-$mode" '{ print "lookup-ns'$kind'", name, $5 / $4 }'
            done
        done
    done
}

# Of each CPU, the difference between 1 and 11 walks of a stack of 1,000 frames, by QEMU.
other_cpus() {
    for cpu in x86_64 aarch64 s390x riscv64; do
        for mode in sfu fast index cache; do
            for times in 1 11; do
                "qemu-$cpu" -plugin "$out/insns.so" "$out/stacks-$cpu" "$out/$cpu.sframe" 0 "$mode" "$times" 1 2>&1
            done | awk -v name="$cpu-$mode" '
                /^stacks/ { ops = $4 - ops }
                /^instructions/ { n = $2 - n; seen++ }
                END {
                    if (seen == 2) print "cpu", name, n / ops
                    else print "missing", name, "QEMU takes no plugin"
                }
            '
        done
    done
}

versions() {
    echo "compiler gcc $("$tc/gcc16/x86_64/gcc" -dumpfullversion)"
    src=$(test/tools/toolchain/sources.sh)
    echo "sqlite $(sed -n 's/^#define SQLITE_VERSION  *"\(.*\)"/\1/p' "$src/sqlite3/sqlite3.h")"
    echo "cpu-model $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
    sed -n '2,$s/^/version /p' "$tc/peers/version" 2>/dev/null || :
}

say building
"$here/build.sh" "$out" >"$out.log" 2>&1 || { cat "$out.log" >&2 && exit 1; }
say 'comparing every walker on every stack'
versions >"$measured"
if compare >>"$measured"; then
    sizes >>"$measured"
    all_times >>"$measured"
    say 'stack; time of one walk with empty caches'
    for what in stack cold; do
        "$out/bench" "$peers" $what | grep "^$what" >>"$measured"
        "$out/bench-fp" "$peers" $what | of_fp | grep "^$what" >>"$measured"
    done
    say instructions
    instructions >>"$measured"
    say 'sections of 1,000 to 1,000,000 functions'
    lookups >>"$measured"
    say 'other CPUs'
    other_cpus >>"$measured"
    status=0
    for cpu in aarch64 s390x riscv64; do
        SFU_SHAPES=$cpu "$here/shapes.sh" "$out" >>"$measured" || status=1
    done
else
    say 'frames are wrong: nothing is timed'
    status=1
fi
awk -f "$here/../figures.awk" -f "$here/table.awk" -v tsv="$out.tsv" "$measured" >"$here/RESULTS.md"
cat "$here/RESULTS.md"
exit $status

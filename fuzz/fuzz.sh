#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# fuzz.sh SECONDS JOBS HARNESS...: runs the fuzzers of these harnesses for SECONDS each, JOBS at a time, and says how
# many inputs each has tried. Fails if one of them tried none or found anything; what it found is then in
# build/fuzz/found.
#
#   HARNESS-libfuzzer  AddressSanitizer and UndefinedBehaviorSanitizer
#   HARNESS-afl        the same, mutated by AFL++
#   HARNESS-fast       UndefinedBehaviorSanitizer and guard pages: three times as many inputs
#
# It starts with build/fuzz/seeds, which is fuzz/corpus unpacked, and keeps what is new in build/fuzz/corpus. To keep an
# input for good: fuzz/corpus.py pack fuzz/corpus/HARNESS.txt FILE.
set -eu
seconds=$1
jobs=$2
shift 2
build=build/fuzz
mkdir -p $build/found $build/logs

# How long an input may be: a file needs more than a section.
longest() {
    case $1 in
    image) echo 2048 ;;
    *) echo 512 ;;
    esac
}

# An input that takes 10 seconds is a hang: most take microseconds.
libfuzzer() {
    mkdir -p "$build/corpus/$1"
    "$build/$1-$2" -max_total_time="$seconds" -max_len="$(longest "$1")" -timeout=10 -rss_limit_mb=2048 \
        -reduce_inputs=0 -print_final_stats=1 -artifact_prefix="$build/found/$1-$2-" \
        "$build/corpus/$1" "$build/seeds/$1"
}

afl() {
    rm -rf "$build/afl-$1"
    AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 \
        ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0 \
        afl-fuzz -V "$seconds" -G "$(longest "$1")" -t 10000 -i "$build/seeds/$1" -o "$build/afl-$1" -- "$build/$1-afl"
    find "$build/afl-$1/default/crashes" "$build/afl-$1/default/hangs" -name 'id*' | while read -r found; do
        cp "$found" "$build/found/$1-afl-$(basename "$found" | tr ':,' '--')"
    done
}

run() {
    case $2 in
    afl) afl "$1" ;;
    *) libfuzzer "$1" "$2" ;;
    esac >"$build/logs/$1-$2" 2>&1 || echo "$1-$2 failed: $build/logs/$1-$2"
}

# Of the last run.
executions() {
    case $2 in
    afl) awk '$1 == "execs_done" { print $3 }' "$build/afl-$1/default/fuzzer_stats" ;;
    *) awk '$1 == "stat::number_of_executed_units:" { print $2 }' "$build/logs/$1-$2" ;;
    esac
}

find "$build/found" -type f -delete
running=0
for kind in libfuzzer fast afl; do
    for harness in "$@"; do
        run "$harness" $kind &
        running=$((running + 1))
        if [ $running -ge "$jobs" ]; then
            wait
            running=0
        fi
    done
done
wait
total=0
idle=0
for kind in libfuzzer fast afl; do
    for harness in "$@"; do
        n=$(executions "$harness" $kind || :)
        echo "$harness-$kind: ${n:-no} inputs in $seconds s"
        total=$((total + ${n:-0}))
        [ "${n:-0}" -gt 0 ] || idle=$((idle + 1))
    done
done
found=$(find "$build/found" -type f | wc -l)
echo "$total inputs, $found crashes or hangs, $idle fuzzers without an input"
[ "$found" -eq 0 ] && [ "$idle" -eq 0 ]

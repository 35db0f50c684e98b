#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# cov.sh: lines and branches of sfu.c that the hosted tests reach: the unit tests, the vectors, and the corpus of the
# fuzzers, in one build each, added up by gcov. Nothing is excluded. Prints each line and branch that nothing reaches;
# fails if there is one.
set -eu
build=$PWD/build/cov
rm -rf "$build"
mkdir -p "$build"
cc=${CC-cc}
root=$PWD

# program NAME SOURCE...: every program of one file name counts into the same sfu.gcda.
# Without attributes: what is always inlined would count once for each caller, its constants folded.
"$cc" -std=gnu99 -O0 -g --coverage -I. '-D__attribute__(x)=' -c "$root/sfu.c" -o "$build/sfu.o"
program() {
    name=$1
    shift
    "$cc" -std=gnu99 -O0 -g -I. -Ifuzz -Itest/unit -Itest/vectors "$@" "$build/sfu.o" \
        --coverage -o "$build/$name"
}
shared='fuzz/harness.c test/lib/table.c test/lib/check.c'
unit="$(find test/unit -name '*.c') test/lib/check.c"
for harness in section walk differ; do
    # shellcheck disable=SC2086  # words
    program $harness fuzz/$harness.c fuzz/main.c $shared
    fuzz/corpus.py unpack fuzz/corpus/$harness.txt "$build/seeds"
    "$build/$harness" $harness "$build"/seeds/* >/dev/null
done
# shellcheck disable=SC2086
program vectors test/vectors/vector.c test/vectors/run_sfu.c
test/vectors/expand.py "$build" test/vectors/*.txt
"$build/vectors" "$build"/*.txt >/dev/null
# shellcheck disable=SC2086
program unit $unit
test/lib/check.sh cov "$build/unit" | grep '^not ok' || :

cd "$build"
gcov -b -c sfu.o | sed -n "/^File '.*sfu\.c'/,/^\$/p"
awk '/^ *[0-9#=-]+\*?: *[0-9]+:/ { line = $0 }
     /^ *#####:/ { print; missed = 1 }
     /^branch .*(never executed|taken 0)/ { print line; print; missed = 1 }
     END { exit missed }' sfu.c.gcov

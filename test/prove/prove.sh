#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# prove.sh [PROOF...]: runs the proofs, two at a time, each with its bounds, and says how each ended; fails if one did.
#
# A proof is of every value of everything that is not bounded here. CBMC checks each memory access, pointer, shift,
# division and signed sum, that no loop runs further than the bound (--unwinding-assertions), and what the files state.
# Unsigned sums are left out: addresses wrap on purpose. See prove.h for how the proofs build on each other: number.c
# is what shows that the tables are read in bounds, whatever their size.
set -eu
cbmc=$(test/toolchain/toolchain.sh cbmc)/cbmc
build=$PWD/build/prove
mkdir -p "$build"
export cbmc build

# FILE PROOF MAX_FDES MAX_ROWS LOOPS, LOOPS being how often each may be entered, the last time to find out that it ends.
proofs='
open.c    prove_open           - - open_header.0:6
open.c    prove_open_remote    - - open_header.0:6
number.c  prove_number         - - -
number.c  prove_number_remote  - - -
apply.c   prove_apply          - - sfu_apply.0:4
check.c   prove_check          1 1 check_fdes.0:3,check_rows.0:5
'
# Not known to end yet; run only when named.
long='
find.c    prove_find_unsorted  1 1 find_fde.1:3,find_row.0:5
find.c    prove_find_sorted    1 1 find_fde.0:34,find_fde.1:3,find_row.0:5
'

prove() {
    goto=$build/$2
    loops=
    [ "$5" = - ] || loops="--unwindset $5"
    "$cbmc/goto-cc" -I. -DMAX_FDES="${3/-/0}" -DMAX_ROWS="${4/-/0}" --function "$2" "test/prove/$1" -o "$goto"
    case $1 in
    check.c | find.c)
        "$cbmc/goto-instrument" --replace-calls number:any_number "$goto" "$goto.replaced" >"$goto.log" 2>&1
        mv "$goto.replaced" "$goto"
        ;;
    esac
    start=$(date +%s)
    # shellcheck disable=SC2086  # words
    if "$cbmc/cbmc" "$goto" --bounds-check --pointer-check --pointer-overflow-check --signed-overflow-check \
        --div-by-zero-check --undefined-shift-check --unwinding-assertions --drop-unused-functions --slice-formula \
        --sat-solver cadical --unwind 1 $loops >"$goto.log" 2>&1; then
        echo "ok $2: functions $3, rows $4, $(($(date +%s) - start)) s"
    else
        echo "not ok $2: see $goto.log"
        return 1
    fi
}
export -f prove

wanted=$proofs
if [ $# -gt 0 ]; then
    wanted=$(for proof; do printf '%s\n' "$proofs$long" | awk -v p="$proof" '$2 == p'; done)
fi
printf '%s\n' "$wanted" | grep . | xargs -P 2 -L 1 bash -c 'prove "$@"' prove

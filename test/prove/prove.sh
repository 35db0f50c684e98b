#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# prove.sh [PROOF...]: runs the proofs, two at a time, and says how each ended; fails if one did. -q leaves out those
# that take minutes.
#
# CORE    the directory of the sfu.c to prove; default .
# BUILD   what is made on the way, and the logs; default build/prove
#
# A proof is of every value of everything that its file does not bound. CBMC checks each memory access, pointer, shift,
# division and signed sum, that every loop ends, and what the files state. Unsigned sums are left out: addresses wrap
# on purpose. See prove.h for how the proofs build on each other: number.c is what shows that the tables are read in
# bounds, whatever their size.
set -eu
cbmc=$(test/toolchain/toolchain.sh cbmc)/cbmc
core=${CORE:-.}
build=${BUILD:-build/prove}
mkdir -p "$build"
test/prove/loops.py >"$build/loops.json"
export cbmc core build

# FILE PROOF BOUNDS REPLACED LOOPS
#   BOUNDS    what the file calls so
#   REPLACED  FUNCTION:STAND-IN, which another proof shows to do all that the function does
#   LOOPS     contracts: those of loops.py, for any number of passes. LOOP:N: it is shown to be entered N times at
#             most, the last time to find out that it ends. cut: the same, but more passes are left out, as a bound
proofs='
number.c prove_number        -          -                 -
number.c prove_number_remote -          -                 -
open.c   prove_open          -          -                 open_header.0:6
open.c   prove_open_remote   -          -                 open_header.0:6
apply.c  prove_apply         -          -                 sfu_apply.0:4
walk.c   prove_walk_start    -          locate:any_locate,read_rules:no_rules look_up.0:3
walk.c   prove_walk          -          locate:any_locate,read_rules:no_rules look_up.0:3,sfu_apply.0:4
string.c prove_string        -          -                 sfu_string.0:1400
check.c  prove_check         -          number:any_number contracts
find.c   prove_complete      MAX_FDES=5 read_start:known_start,read_fde:known_fde find_fde.0:6,find_fde.1:7,prove_complete.0:7,prove_complete.1:7
sort.c   prove_sort          -          rebase:any_rebase,behind:any_behind,swap:any_swap contracts
sort.c   prove_swap          -          -                 contracts
sort.c   prove_behind        MAX_FDES=2 read_fde:known_fde -
sort.c   prove_swapped       -          -                 swap.0:21
sort.c   prove_rebased       -          -                 rebase.0:9,rebase.1:4
'
for n in 2 3 4 5 6 7; do
    proofs="${proofs}sort.c prove_sorted MAX_FDES=$n rebase:any_rebase,behind:key_behind,swap:swap_keys \
sfu_sort.0:10,sink.0:4,occurrences.0:8,prove_sorted.0:8
"
done
# These take minutes.
long='
sort.c   prove_rebase        -          number:any_number contracts
find.c   prove_find          -          number:any_number contracts
find.c   prove_checked       MAX_FDES=1 number:known_number cut:find_fde.0:3,find_fde.1:3,find_row.0:5,check_fdes.0:3,check_rows.0:5
'

checks='--bounds-check --pointer-check --pointer-overflow-check --signed-overflow-check --div-by-zero-check
    --undefined-shift-check --slice-formula --drop-unused-functions --sat-solver cadical --unwind 1'
export checks

prove() {
    name=$2
    [ "$3" = - ] || name="$2 $3"
    goto=$build/${name// /-}
    unwinding=--unwinding-assertions
    bounds=
    [ "$3" = - ] || bounds="-D${3//,/ -D}"
    replaced=
    [ "$4" = - ] || replaced="--replace-calls ${4//,/ --replace-calls }"
    start=$(date +%s)
    rm -f "$goto" # what an earlier run left proves nothing
    # shellcheck disable=SC2086  # words
    {
        "$cbmc/goto-cc" "-I$core" -I. $bounds --function "$2" "test/prove/$1" -o "$goto.all" &&
            "$cbmc/goto-instrument" $replaced "$goto.all" "$goto"
        case $5 in
        contracts)
            "$cbmc/goto-instrument" --dfcc "$2" --apply-loop-contracts --loop-contracts-file "$build/loops.json" \
                "$goto" "$goto.loops" && mv "$goto.loops" "$goto"
            # a loop of CBMC's own, over what one loop writes within another
            loops="--unwindset __CPROVER_contracts_write_set_check_assigns_clause_inclusion.0:40"
            ;;
        cut:*)
            unwinding=--no-unwinding-assertions
            loops="--unwindset ${5#cut:}"
            ;;
        -) loops= ;;
        *) loops="--unwindset $5" ;;
        esac
        "$cbmc/cbmc" "$goto" $checks $unwinding $loops
    } >"$goto.log" 2>&1
    if grep -q '^VERIFICATION SUCCESSFUL' "$goto.log"; then
        echo "ok $name: $(($(date +%s) - start)) s"
    else
        echo "not ok $name: see $goto.log"
        return 1
    fi
}
export -f prove

case ${1-} in
'') wanted=$proofs$long ;;
-q) wanted=$proofs ;;
*) wanted=$(for proof; do printf '%s\n' "$proofs$long" | awk -v p="$proof" '$2 == p'; done) ;;
esac
printf '%s\n' "$wanted" | grep . | xargs -P 2 -L 1 bash -c 'prove "$@"' prove

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# prove.sh [PROOF...]: runs the proofs, two at a time, and says how each ended and what CPU time it took; fails if one
# did. -q leaves out those that take longer than seconds. A proof is named as it is in the list below, with its bounds
# or without.
#
# CORE    the directory of the sfu.c to prove; default .
# BUILD   what is made on the way, and the logs; default build/prove
# FIRST   set: a proof that fails does so at the first failure, and shows how it comes to it
#
# A proof is of every value of everything that its file does not bound. CBMC checks each memory access, pointer, shift,
# division and signed sum, that every loop ends, and what the files state. Unsigned sums are left out: addresses wrap
# on purpose. See prove.h for how the proofs build on each other: read.c is what shows that the tables are read in
# bounds, whatever their size.
set -eu
cbmc=$(test/tools/toolchain/toolchain.sh cbmc)/cbmc
core=${CORE:-.}
build=${BUILD:-build/prove}
mkdir -p "$build"
export cbmc core build

# The tables, and what is loaded from them, may be anything, at any time.
tables=read_known:any_known,read_fde:any_entry,load:any_load,load_signed:any_load_signed
tables=$tables,load2:any_load2,load4:any_load4,load8:any_load8
rows=$tables,read_rules:any_rules,modulo:any_modulo
listed=read_row:listed_row,read_rules:listed_rules,modulo:any_modulo
fdes=read_fde:table_entry,fde_start:table_start,read_range:table_range,read_attributes:table_attributes
moving=find_caller:any_caller,advance:any_advance
joined=find_next:any_next,open_section:any_open
stacks=was_left.0:18
walks=any_target.0:4,any_walk.0:4,find_frame.0:4,pass_over.0:4

# FILE PROOF BOUNDS REPLACED LOOPS
#   BOUNDS    what the file, or sfu.h, calls so
#   REPLACED  FUNCTION:STAND-IN, which another proof shows to do all that the function does
#   LOOPS     contracts: that set of loops.py, for any number of passes. LOOP:N: it is shown to be entered N
#             times at most, the last time to find out that it ends
sorting=rebase:any_rebase,behind:key_behind,swap:swap_keys,find_code:any_code
sorted=sfu_sort.0:10,sink.0:4,occurrences.0:8,prove_sorted.0:8
fitting="read_range:any_range contracts"
indexing=prove_fast_index.0:3,make_index.0:4,make_index.1:3
taking="default_rule:take_default,flexible_rule:take_flexible \
check_rows.0:4,scan_rows.0:4,scan.0:4,flexible_rules.0:4,modulo.0:33"
finding="sfu_check:accepts_order,make_index:any_index,read_attributes:take_fde,row_rule:take_attributes \
accepts_order.0:4,survey.0:4,sfu_find_text.0:4,search.0:3,find_fde.0:4,bisect.0:3,search_images.0:2,outside.0:2\
,find_neighbours.0:1"
quick="
read.c   prove_record        - - -
read.c   prove_record_remote - - -
read.c   prove_product       - - -
read.c   prove_load          - - -
read.c   prove_modulo        - - modulo.0:33
find.c   prove_code          MAX_FDES=3 read_range:known_range find_code.0:4,accepted.0:4,accepted.1:4
apply.c  prove_stack         - - -
apply.c  prove_red_zone      - read_word:any_word -
apply.c  prove_caller        - read_word:any_word find_caller.0:4
apply.c  prove_left          MAX_LEFT=3 - was_left.0:5,prove_left.0:4
walk.c   prove_walk_start    - sfu_find:any_find any_target.0:4,any_walk.0:4
find.c   prove_rules         - $tables flexible_rules.0:4
find.c   prove_checked       MAX_ROWS=8 $listed scan_rows.0:9,check_rows.0:9
check.c  prove_check_rows    - $rows contracts:rows
check.c  prove_concatenated  - find_next:any_next_code -
sort.c   prove_sort          - rebase:any_rebase,behind:any_behind,swap:any_swap,find_code:any_code contracts:sort
sort.c   prove_behind        MAX_FDES=2 read_range:known_range -
sort.c   prove_fits          VERSION=3 $fitting:fits
sort.c   prove_sorted        MAX_FDES=2 $sorting $sorted
sort.c   prove_sorted        MAX_FDES=3 $sorting $sorted
sort.c   prove_sorted        MAX_FDES=4 $sorting $sorted
sort.c   prove_sorted        MAX_FDES=5 $sorting $sorted
fast.c   prove_fast_inverse  - - prove_fast_inverse.0:25,inverse.0:6
fast.c   prove_fast_entry    - mixed:any_mixed -
fast.c   prove_fast_pc       - mixed:any_mixed,unmixed:any_unmixed,turn_of:any_turn -
fast.c   prove_fast_short    - - -
fast.c   prove_fast_short    AARCH64 - -
fast.c   prove_fast_large    - - -
fast.c   prove_fast_large    AARCH64 - -
fast.c   prove_fast_rule     - - flexible_rules.0:4,flexible_rule.0:4
fast.c   prove_fast_index    MAX_FDES=1 - $indexing
"
# These take some ten seconds. Each fault that test/mutants/prove plants for them the unit tests and the vectors notice,
# too.
longer="
open.c   prove_open          - - open_section.0:29
open.c   prove_open_remote   - - open_section.0:29
open.c   prove_list          - - prove_list.0:4,prove_list.1:4,prove_list.2:5,prove_list.3:4,sfu_remove.0:5
apply.c  prove_advance       - - $stacks
apply.c  prove_apply         - read_word:any_word find_caller.0:4,$stacks
apply.c  prove_visits        - - $stacks
check.c  prove_check         - $rows,check_rows:any_check_rows,check_end:any_end contracts:check
"
# These take up to some minutes.
long="
open.c   prove_next          - read_known:known_behind,open_behind:known_open find_next.0:9
open.c   prove_add           - $joined add_joined.0:4,any_group.0:5
open.c   prove_add_remote    - $joined add_joined.0:4,any_group.0:5
apply.c  prove_walk_to       - - $stacks
apply.c  prove_word          - load8:load_from,load4:load4_from -
apply.c  prove_read_word     - load8:load_from,load4:load4_from -
find.c   prove_find_text     MAX_FDES=3 read_range:known_range sfu_find_text.0:4
read.c   prove_entry         - - -
walk.c   prove_find_frame    - sfu_find:any_find $walks,$stacks
walk.c   prove_walk          - sfu_find:any_find,$moving $walks,is_code.0:4
walk.c   prove_string        - - sfu_string.0:1600
find.c   prove_find          - $rows contracts:find
find.c   prove_complete      - $fdes contracts:complete
sort.c   prove_swap          - - contracts:swap
sort.c   prove_swapped       - - swap.0:21
sort.c   prove_rebase        VERSION=3 $fitting:rebase
sort.c   prove_rebased       - - rebase.0:9,rebase.1:4
sort.c   prove_fits          VERSION=1 $fitting:fits
sort.c   prove_fits          VERSION=2 $fitting:fits
sort.c   prove_sorted        MAX_FDES=6 $sorting $sorted
sort.c   prove_sorted        MAX_FDES=7 $sorting $sorted
fast.c   prove_fast_index    MAX_FDES=2 - $indexing
fast.c   prove_fast_function MAX_FDES=1 $finding
fast.c   prove_fast_function MAX_FDES=2 $finding
"
for kind in ADDRESS=1,MASKED=0 ADDRESS=2,MASKED=0 ADDRESS=4,MASKED=0 ADDRESS=1,MASKED=1 ADDRESS=2,MASKED=1 \
    ADDRESS=4,MASKED=1; do
    long="${long}fast.c prove_fast_row MAX_ROWS=1,$kind $taking
fast.c prove_fast_row MAX_ROWS=2,$kind $taking
"
done
for abi in SFU_AARCH64_BIG SFU_AARCH64 SFU_AMD64 SFU_S390X SFU_RISCV64 SFU_RISCV32 SFU_ARM SFU_THUMB SFU_I386; do
    long="${long}open.c prove_open SFU_ABI=$abi - open_section.0:29
open.c prove_open_remote SFU_ABI=$abi - open_section.0:29
"
done
# With addresses of 32 bits.
long="$long$(printf '%s\n' "$quick$longer" | awk '/^(apply|find)\.c / && $3 == "-" { $3 = "SFU_ABI=SFU_THUMB"; print }')
walk.c prove_walk SFU_ABI=SFU_THUMB sfu_find:any_find,$moving $walks,is_code.0:4
find.c prove_code SFU_ABI=SFU_THUMB,MAX_FDES=3 read_range:known_range find_code.0:4,accepted.0:4,accepted.1:4
"

checks='--bounds-check --pointer-check --pointer-overflow-check --signed-overflow-check --div-by-zero-check
    --undefined-shift-check --slice-formula --drop-unused-functions --unwind 1'
checks="$checks ${FIRST:+--stop-on-fail}"
# The solver that is part of cbmc does these in half of the time, and the others in several times the time.
own=' prove_apply prove_visits prove_list prove_fast_rule prove_checked prove_left prove_rules prove_check_rows '
solver=
if command -v cadical >/dev/null; then
    # A proof that holds is a formula that nothing satisfies, for which it has settings. cbmc passes no flags on.
    printf '#!/bin/sh\nexec cadical --unsat "$@"\n' >"$build/cadical-unsat"
    chmod +x "$build/cadical-unsat"
    solver="--external-sat-solver $build/cadical-unsat"
fi
export checks own solver

prove() {
    name=$2
    [ "$3" = - ] || name="$2 $3"
    goto=$build/${name// /-}
    bounds=
    [ "$3" = - ] || bounds="-D${3//,/ -D}"
    replaced=
    [ "$4" = - ] || replaced="--replace-calls ${4//,/ --replace-calls }"
    rm -f "$goto" # what an earlier run left proves nothing
    # shellcheck disable=SC2086  # words
    {
        "$cbmc/goto-cc" "-I$core" -I. $bounds --function "$2" "test/prove/$1" -o "$goto.all" &&
            "$cbmc/goto-instrument" $replaced "$goto.all" "$goto"
        case $5 in
        contracts:*)
            test/prove/loops.py "${5#contracts:}" >"$goto.json" &&
                "$cbmc/goto-instrument" --dfcc "$2" --apply-loop-contracts --loop-contracts-file "$goto.json" \
                    "$goto" "$goto.loops" && mv "$goto.loops" "$goto"
            # a loop of CBMC's own, over what one loop writes within another
            loops="--unwindset __CPROVER_contracts_write_set_check_assigns_clause_inclusion.0:40"
            ;;
        -) loops= ;;
        *) loops="--unwindset $5" ;;
        esac
        case $own in *" $2 "*) solver= ;; esac
        "$cbmc/cbmc" "$goto" $checks $solver --unwinding-assertions $loops
    } >"$goto.log" 2>&1
    if grep -q '^VERIFICATION SUCCESSFUL' "$goto.log"; then
        times >"$goto.times"
        echo "ok $name: $(awk 'END { print $1 }' "$goto.times")"
    else
        echo "not ok $name: see $goto.log"
        return 1
    fi
}
export -f prove

case ${1-} in
'') wanted=$quick$longer$long ;;
-q) wanted=$quick ;;
*) wanted=$(for proof; do
    printf '%s\n' "$quick$longer$long" | awk -v p="$proof" '$2 == p || $2 " " $3 == p'
done) ;;
esac
# T: only those whose names have it, or match it as a pattern of the shell.
choose() {
    while read -r file proof bounds rest; do
        # shellcheck disable=SC2254 # a pattern
        case "$proof${bounds:+ ${bounds#-}}" in
        *"${T-}"* | *${T-}*) echo "$file $proof $bounds $rest" ;;
        esac
    done
}

printf '%s\n' "$wanted" | grep . | choose | xargs -P 2 -L 1 bash -c 'prove "$@"' prove

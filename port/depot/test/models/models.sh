#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# models.sh HERD7 OUT: each model beside it, by all executions that the memory model of C11 or of aarch64 allows: what
# its last line names must not come up, and nothing may be undefined. Then each model with a weaker order in its place:
# there it must come up.
set -u
herd=$1
out=$2
here=$(dirname "$0")
mkdir -p "$out"

# judge FILE: how often the condition comes up: Never, Sometimes or Always; "undefined" if a race makes it so.
judge() {
    case $1 in
    *aarch64*) model=aarch64.cat ;;
    *) model=rc11.cat ;;
    esac
    timeout 300 "$herd" -model "$model" "$1" >"$1.out" 2>&1 || { echo failed; return; }
    awk '/^Flag \*undef\*|^Undef/ { undefined = 1 } /^Observation/ { verdict = $3 }
        END { print undefined ? "undefined" : verdict == "" ? "failed" : verdict }' "$1.out"
}

for file in "$here"/*.litmus; do
    name=$(basename "$file" .litmus)
    cp "$file" "$out/$name.litmus"
    verdict=$(judge "$out/$name.litmus")
    if [ "$verdict" = Never ]; then echo "ok $name"; else echo "not ok $name: $verdict: see $out/$name.litmus.out"; fi
done

# weaker NAME EDIT: EDIT, a command of sed, makes another model of the one called NAME.
weaker() {
    n=$((${n-0} + 1))
    file=$out/weaker$n-$1.litmus
    sed "$2" "$here/$1.litmus" >"$file"
    if cmp -s "$file" "$here/$1.litmus"; then
        echo "not ok weaker $1: nothing matches $2"
        return
    fi
    verdict=$(judge "$file")
    case $verdict in
    Sometimes | Always | undefined) echo "ok weaker $1: $2" ;;
    *) echo "not ok weaker $1: $2 is not noticed: $verdict" ;;
    esac
}

weaker publish 's/memory_order_release/memory_order_relaxed/'
weaker publish '/int at/s/memory_order_acquire/memory_order_relaxed/'
weaker publish 's/atomic_fetch_add_explicit(weight, 5, memory_order_relaxed)/0/'
weaker chain '/before0, 1/s/memory_order_release/memory_order_relaxed/'
weaker chain '/before1, 2/s/memory_order_release/memory_order_relaxed/'
weaker chain '/^P2/,/^}/s/memory_order_acquire/memory_order_relaxed/'
weaker same 's/memory_order_acquire/memory_order_relaxed/'
weaker same 's/memory_order_release/memory_order_relaxed/'
weaker publish-aarch64 's/STLXR/STXR/'
weaker publish-aarch64 's/LDAR/LDR/'
weaker chain-aarch64 's/CASL /CAS /'
weaker profile 's/seq_cst/relaxed/'
weaker profile '/^P2/,/^}/s/seq_cst/acq_rel/; /int runs/s/acq_rel/acquire/'
weaker restart '/^P0/,/^}/s/seq_cst/relaxed/'
weaker restart '/int others/s/seq_cst/relaxed/'
weaker restart '/store/s/seq_cst/relaxed/'
weaker restart '/^P2/,/^}/s/seq_cst/relaxed/'

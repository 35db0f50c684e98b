#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# models.sh HERD7 OUT: what the fast walker's traces and changes do to each other, by every execution that C11 or
# aarch64 allows. The last line of a model names what must not come up. Then the same with a part of the protocol left
# out, where it must come up: else the model shows nothing.
set -u
herd=$1
out=$2
here=$(dirname "$0")
mkdir -p "$out"

# outcome FILE: Never, Sometimes or Always; undefined if there is a data race; failed
outcome() {
    model=rc11.cat
    ! grep -q '^AArch64' "$1" || model=aarch64.cat
    timeout 300 "$herd" -model "$model" "$1" >"$1.log" 2>&1 || { echo failed && return; }
    if grep -q '^Flag.*\(undef\|race\)' "$1.log"; then
        echo undefined
    else
        awk '/^Observation/ { print $3; found = 1 } END { if (!found) print "failed" }' "$1.log"
    fi
}

for model in late later rule list late-aarch64; do
    cp "$here/$model.litmus" "$out"
    got=$(outcome "$out/$model.litmus")
    [ "$got" = Never ] && echo "ok $model" || echo "not ok $model: $got: $out/$model.litmus.log"
done

# without WHAT MODEL SED-COMMAND
without() {
    file=$out/$2-$(echo "$1" | tr ' ' -).litmus
    sed "$3" "$here/$2.litmus" >"$file"
    got=$(outcome "$file")
    if cmp -s "$file" "$here/$2.litmus"; then
        got='nothing is left out'
    fi
    case $got in
    Sometimes | Always | undefined) echo "ok $2 without $1" ;;
    *) echo "not ok $2 without $1: $got: $file.log" ;;
    esac
}

# A generation of few bits is one that comes again: whoever asks finds its own.
without 'numbers that never return' late 's/if (now == 0)/if (now >= 0)/'
without 'busy around the write' late '/^P0/,/^}/s/int taken = .*/int taken = 0;/'
without 'a release of busy' late '/^P0/,/^}/s/busy, 0, memory_order_release/busy, 0, memory_order_relaxed/'
without 'an acquire of busy' late '/^P0/,/^}/s/busy, 1, memory_order_acquire/busy, 1, memory_order_relaxed/'
without 'clearing first' late '/entry, 0/d'
without 'an acquire of cleared' late '/^P2/,/^}/s/cleared, memory_order_acquire/cleared, memory_order_relaxed/'
without 'a release of cleared' late 's/cleared, now, memory_order_release/cleared, now, memory_order_relaxed/'
without 'waiting for who writes' later 's/if (taken == 0)/if (taken >= 0)/'
without 'a release of entries' rule 's/first, 1, memory_order_release/first, 1, memory_order_relaxed/'
without 'a release of other entries' rule 's/second, 1, memory_order_release/second, 1, memory_order_relaxed/'
without 'an acquire of entries' rule '/^P2/,/^}/s/memory_order_acquire/memory_order_relaxed/'
without 'an acquire of busy' rule '/^P1/,/^}/s/busy, 1, memory_order_acquire/busy, 1, memory_order_relaxed/'
without 'a release of busy' rule '/^P0/,/^}/s/busy, 0, memory_order_release/busy, 0, memory_order_relaxed/'
without 'a release of the list' list 's/head, 1, memory_order_release/head, 1, memory_order_relaxed/'
without 'an acquire of the list' list 's/head, memory_order_acquire/head, memory_order_relaxed/'
without 'the number asked under busy' late-aarch64 's/LDR W3,\[X10\]/MOV W3,#0/'
without 'a release of busy' late-aarch64 's/STLR W5,\[X11\]/STR W5,[X11]/'

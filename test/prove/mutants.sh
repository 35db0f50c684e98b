#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# mutants.sh [NAME...]: breaks a copy of sfu.c, or of sfu_fast.c if a name begins with fast-, in one way after the other, or in those that are named, two at a time, and
# shows that a proof fails of each.
set -u
here=$(dirname "$0")
out=build/prove-mutants
mkdir -p "$out"
export FIRST=1 # a failure is enough

# mutant NAME PROOF SED
mutant() {
    local core=$out/$1 subject=sfu.c
    [[ $1 != fast-* ]] || subject=port/fast/sfu_fast.c
    rm -rf "$core"
    mkdir -p "$core/port/fast"
    cp sfu.c "$core"
    cp port/fast/sfu_fast.h "$core/port/fast"
    sed "$3" $subject >"$core/$subject"
    if cmp -s $subject "$core/$subject"; then
        echo "not ok $1: the change does not apply to $subject"
    elif CORE=$core BUILD=$core "$here/prove.sh" "$2" >"$core/out"; then
        echo "not ok $1: $2 holds all the same"
    elif ! grep -q '^VERIFICATION FAILED' "$core"/*.log; then
        echo "not ok $1: $2 could not be tried"
    else
        echo "ok $1"
    fi
}

while IFS='|' read -r name proof script; do
    [[ $name == '#'* ]] && continue
    read -r name <<<"$name"
    read -r proof <<<"$proof"
    [[ $# == 0 || " $* " == *" $name "* ]] || continue
    while [ "$(jobs -r | wc -l)" -ge 2 ]; do wait -n; done
    mutant "$name" "$proof" "$script" &
done <"$here/mutants" > >(tee "$out/results")
wait
! grep -q '^not ok' "$out/results"

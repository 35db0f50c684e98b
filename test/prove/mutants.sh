#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# mutants.sh [NAME...]: breaks a copy of sfu.c in one way after the other, or in those that are named, two at a time, and
# shows that a proof fails of each.
set -u
here=$(dirname "$0")
out=build/prove-mutants
mkdir -p "$out"
export FIRST=1 # a failure is enough

# mutant NAME PROOF SED
mutant() {
    local core=$out/$1
    rm -rf "$core"
    mkdir "$core"
    sed "$3" sfu.c >"$core/sfu.c"
    if cmp -s sfu.c "$core/sfu.c"; then
        echo "not ok $1: the change does not apply to sfu.c"
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

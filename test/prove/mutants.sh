#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# mutants.sh: breaks a copy of sfu.c in one way after the other, and shows that a proof fails of each.
set -u
here=$(dirname "$0")
out=build/prove-mutants
mkdir -p "$out"

while IFS='|' read -r name proof script; do
    [[ $name != '#'* ]] || continue
    name=${name// /}
    proof=${proof// /}
    rm -rf "${out:?}/$name"
    mkdir "$out/$name"
    sed "$script" sfu.c >"$out/$name/sfu.c"
    if cmp -s sfu.c "$out/$name/sfu.c"; then
        echo "not ok $name: the change does not apply to sfu.c"
    elif CORE=$out/$name BUILD=$out/$name "$here/prove.sh" "$proof" >"$out/$name/out"; then
        echo "not ok $name: $proof holds all the same"
    elif ! grep -q '^VERIFICATION FAILED' "$out/$name"/*.log; then
        echo "not ok $name: $proof could not be tried"
    else
        echo "ok $name"
    fi
done <"$here/mutants"

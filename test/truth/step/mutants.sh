#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Breaks a copy of sfu.c, or of sfu_fast.c if a name begins with fast-, in one way after the other, and shows that
# stepping notices each. A change that does not apply any more, or that the compiler refuses, fails the test: it has to be
# written anew.
set -u

here=$(dirname "$0")
out=build/step/mutants
harness=("$here"/{step,cpu,rsp,image,lookup,shadow,trace,faults,figures}.c)
programs=(patterns-gcc12-O2 patterns-gcc12-O0)

# step ABI: with the broken sfu; its last line of figures is left in $figures.
step() {
    local abi=$1 arguments=() p
    for p in "${programs[@]}"; do arguments+=("patterns=build/step/$abi/$p"); done
    arguments+=("signals=build/step/$abi/patterns-gcc12-O2-signals")
    [ "$abi" != aarch64 ] || arguments+=("pac=build/step/$abi/patterns-gcc12-O2-pac")
    timeout 300 "$out/step" -q "qemu-$abi" -f "$here/known-faults" -c 1 "$abi" "${arguments[@]}" >"$out/log" 2>&1
    local status=$?
    figures=$(grep "^$abi instructions=" "$out/log")
    return $status
}

# mutant NAME ABI SED: broken by SED, stepping ABI has to find wrong walks.
mutant() {
    local name=$1 abi=$2 script=$3 subject=sfu.c
    [[ $name != fast-* ]] || subject=port/fast/sfu_fast.c
    cp sfu.c port/fast/sfu_fast.c "$out"
    sed "$script" "$subject" >"$out/${subject##*/}"
    if cmp -s "$subject" "$out/${subject##*/}"; then
        echo "not ok $name: the change does not apply to $subject"
    elif ! ${CC:-cc} -O2 -std=c99 -D_GNU_SOURCE -w -I. -Iport/fast -o "$out/step" "${harness[@]}" "$out/sfu.c" \
        "$out/sfu_fast.c" -lelf; then
        echo "not ok $name: does not compile"
    elif step "$abi"; then
        echo "not ok $name: not noticed on $abi: $figures"
    elif [ -z "$figures" ] || [[ $figures == *" wrong=0 "* ]]; then
        echo "not ok $name: no walk was wrong on $abi: $figures"
    else
        echo "ok $name: $figures"
    fi
}

mkdir -p "$out"
if ! build/step/step -q qemu-aarch64 -f "$here/known-faults" aarch64 patterns=build/step/aarch64/patterns-gcc12-O2 \
    >"$out/log" 2>&1; then
    echo "not ok whole: stepping fails with sfu as it is"
    exit 1
fi
echo "ok whole"
while IFS='|' read -r name abi script; do
    [[ $name == '#'* ]] || [ -z "$name" ] || mutant "${name// /}" "${abi// /}" "$script"
done <"$here/mutants"

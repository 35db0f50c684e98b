#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# mutants.sh: breaks a copy of sfu_fast.c in one way after the other, and shows that its test notices each. MUTANT is the
# pattern of their names. A change that does not apply, or does not compile, is a failure: the list has to follow the code.
set -u
shopt -s extglob
here=$(dirname "$0")
out=build/fast-mutants
rounds=300
export here out rounds
rm -rf "$out"
mkdir -p "$out"

# What does not depend on the change, once for each ABI.
compiler() {
    case $1 in
    x86_64) echo "${CC:-cc}" ;;
    *) echo "$1-linux-gnu-gcc" ;;
    esac
}
export -f compiler
flags='-std=gnu99 -O1 -w -I. -Iport/fast -Itest/unit'
export flags
for abi in x86_64 aarch64 s390x; do
    mkdir "$out/$abi"
    for source in port/fast/test/table.c port/fast/test/fast_test.c test/unit/build.c sfu.c; do
        # shellcheck disable=SC2086  # words
        $(compiler $abi) $flags -c "$source" -o "$out/$abi/$(basename "$source" .c).o" || exit 1
    done
done

# build ABI FILE TEST
build() {
    # shellcheck disable=SC2086
    $(compiler "$1") $flags -Wl,--wrap=sfu_walk_step -static "$2" "$out/$1"/*.o -o "$3"
}
export -f build

try() {
    case $1 in
    x86_64) timeout 120 "$2" $rounds ;;
    *) timeout 120 "qemu-$1" "$2" $rounds ;;
    esac
}
export -f try

# mutant NAME ABI SED. One that loops or crashes is noticed too.
mutant() {
    local file=$out/$1.c status=0
    sed "$3" port/fast/sfu_fast.c >"$file"
    if cmp -s port/fast/sfu_fast.c "$file"; then
        echo "not ok $1: the change does not apply to sfu_fast.c"
        return
    fi
    if ! build "$2" "$file" "$out/$1" 2>"$out/$1.log"; then
        echo "not ok $1: does not compile"
        return
    fi
    try "$2" "$out/$1" >"$out/$1.log" 2>&1 || status=$?
    if [ $status -eq 0 ]; then
        echo "not ok $1: nothing noticed it"
    elif [ $status -eq 1 ] && ! grep -q 'differs from the core' "$out/$1.log"; then
        echo "not ok $1: the traces are the core's all the same"
    else
        echo "ok $1"
    fi
    rm -f "$out/$1"
}
export -f mutant

# Without a change nothing may be noticed.
for abi in x86_64 aarch64 s390x; do
    if build $abi port/fast/sfu_fast.c "$out/$abi/test" && try $abi "$out/$abi/test" >"$out/$abi/log" 2>&1; then
        echo "ok unchanged-$abi"
    else
        echo "not ok unchanged-$abi: see $out/$abi/log"
    fi
done | tee "$out/results"
while IFS='|' read -r name abi script; do
    name=${name// /}
    # shellcheck disable=SC2254  # a pattern
    case $name in
    '#'*) ;;
    ${MUTANT:-*}) printf '%s\0%s\0%s\0' "$name" "${abi// /}" "$script" ;;
    esac
done < <(sed 's/ | /|/; s/ | /|/' "$here/mutants") |
    xargs -0 -n 3 -P 2 bash -c 'mutant "$@"' mutants | tee -a "$out/results"
! grep -q '^not ok' "$out/results"

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Breaks a copy of sfu.c in one way after the other, links a kernel of this room with it, and shows that the kernel
# finds walks that are wrong. The change has to apply, and the kernel to be right without it.
# KERNEL_PARTS_<cpu>: objects of a kernel; SFU_CC_<cpu>: how sfu.c is compiled for it.
set -u

here=$(dirname "$0")
out=build/step/kernel-mutants

# run CPU KERNEL: its line of figures is left in $figures.
run() {
    build/step/judge -f "$here/../known-faults" "$1" "$2" >"$out/log" 2>&1
    local status=$?
    figures=$(grep "^$1 kernels instructions=" "$out/log")
    return $status
}

# mutant NAME CPU KERNEL SED
mutant() {
    local name=$1 cpu=$2 kernel=$3 script=$4 parts=KERNEL_PARTS_$2 compile=SFU_CC_$2
    mkdir -p "$out/$cpu"
    sed "$script" sfu.c >"$out/sfu.c"
    if cmp -s sfu.c "$out/sfu.c"; then
        echo "not ok $name: the change does not apply to sfu.c"
    elif ! run "$cpu" "build/step/$cpu/$kernel"; then
        echo "not ok $name: $kernel fails with sfu as it is: $figures"
    elif ! ${!compile} -w -c "$out/sfu.c" -o "$out/sfu.o" ||
        ! KERNEL_SFU=$out/sfu.o KERNEL_PARTS=${!parts} "$here/../build.sh" "$out/$cpu/$kernel"; then
        echo "not ok $name: cannot be built"
    elif run "$cpu" "$out/$cpu/$kernel"; then
        echo "not ok $name: not noticed on $cpu: $figures"
    elif [ -z "$figures" ] || [[ $figures == *" wrong=0 "* ]]; then
        echo "not ok $name: no walk was wrong on $cpu: $figures"
    else
        echo "ok $name: $figures"
    fi
}

mkdir -p "$out"
while IFS='|' read -r name cpu kernel script; do
    [[ $name == '#'* ]] || [ -z "$name" ] || mutant "${name// /}" "${cpu// /}" "${kernel// /}" "$script"
done <"$here/mutants"

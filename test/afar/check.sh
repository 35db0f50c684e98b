#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# check.sh ABI DIR: lets the programs DIR/ABI-* (target.c) write their images under QEMU, and unwinds those here.

set -eu
abi=$1
dir=$2
failed=0
for program in "$dir/$abi"-O?; do
    for last in stop crash; do
        name="${program##*/} $last"
        # x86_64 runs without an emulator on its like.
        if [ "$abi" = "$(uname -m)" ]; then
            set -- "$program"
        else
            set -- "qemu-$abi" "$program"
        fi
        if "$@" $last >"$program.$last" 2>"$program.log"; then
            "$dir/afar" "$name" "$program" "$program.$last" $last || failed=1
        else
            echo "not ok $name: no image: $(cat "$program.log")"
            failed=1
        fi
    done
done
exit $failed

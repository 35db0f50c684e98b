#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# check.sh ABI DIR: compares what sfu and `objdump --sframe` find in the images that build.sh has left in DIR/ABI-*:
# linked ones and relocatable objects, of every version of the format. DIR/agree is agree.c's program.

set -eu
abi=$1
dir=$2
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tc=$("$here/../../tools/toolchain/toolchain.sh" v3 v2 v1)

# Each version has the objdump of the assembler that wrote it: newer ones no longer read V1.
objdump_of() {
    case $1 in
    v3) echo "$tc/${abi%_be}/objdump" ;;
    *) echo "$tc/$1/${abi%_be}/objdump" ;;
    esac
}

failed=0
for image in "$dir/$abi"-*/v?/*.[ox]; do
    version=$(basename "$(dirname "$image")")
    level=$(basename "$(dirname "$(dirname "$image")")")
    name="$version $level ${image##*/}"
    if "$(objdump_of "$version")" --sframe "$image" >"$image.txt" &&
        python3 "$here/objdump.py" "$abi" <"$image.txt" >"$image.table"; then
        "$dir/agree" "$name" "$image" "$image.table" || failed=1
    else
        echo "not ok $name: no table"
        failed=1
    fi
done
exit $failed

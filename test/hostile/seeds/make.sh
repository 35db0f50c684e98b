#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Makes the sections of seeds.txt anew, with the assembler and linker of each version of the format. A line is a name
# and the bytes in hexadecimal digits.
#
# They are tiny on purpose: the tests change every byte of them. In each, the text begins at 0x1000 and .sframe at
# 0x2000. No assembler writes V2 for s390x: edit.py, which also makes the variants that a
# toolchain does not (unsorted, field-relative, V2's RA-undefined rows), derives that one from V3's.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tc=$("$here/../../tools/toolchain/toolchain.sh" v3 v2 v1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$work/seeds
mkdir "$out"

# section NAME TOOLS VERSION SOURCE [as option...]
section() {
    name=$1
    bin=$tc/$2
    "$bin/as" --gsframe --defsym VERSION="$3" ${5+"$5"} -o "$work/o" "$here/$4"
    case $name in
    *plt) "$bin/ld" -shared -z noseparate-code -Ttext=0x1000 --section-start=.sframe=0x2000 -o "$work/x" "$work/o" ;;
    *) "$bin/ld" ${5+"$5"} -Ttext=0x1000 --section-start=.sframe=0x2000 --section-start=.eh_frame=0x4000 \
        -o "$work/x" "$work/o" ;;
    esac
    "$bin/objcopy" -O binary -j .sframe "$work/x" "$out/$name"
}

for version in 1 2 3; do
    tools=v$version/
    [ $version != 3 ] || tools=
    section v$version-x86_64 "${tools}x86_64" $version x86_64.s
    section v$version-x86_64-plt "${tools}x86_64" $version plt.s
    section v$version-aarch64 "${tools}aarch64" $version aarch64.s
    section v$version-aarch64_be "${tools}aarch64" $version aarch64.s -EB
done
section v3-s390x s390x 3 s390x.s
python3 "$here/edit.py" "$out"
for seed in "$out"/*; do
    echo "$(basename "$seed") $(od -An -v -tx1 "$seed" | tr -d ' \n')"
done >"$here/seeds.txt"

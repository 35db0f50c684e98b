#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# plugin.sh OUT: builds insns.c as OUT, with the newest interface of plugins that this QEMU takes. OUT is missing if it
# takes none.
set -eu
out=$1
here=$(dirname "$0")
mkdir -p "$(dirname "$out")"
trial=$out.trial
echo 'int main(void) { return 0; }' | cc -x c - -o "$trial"
for version in 6 5 4 3 2 1 0; do
    cc -shared -fPIC -O2 -DVERSION=$version "$here/insns.c" -o "$out"
    if qemu-x86_64 -plugin "$out" "$trial" >/dev/null 2>&1; then
        rm -f "$trial"
        exit 0
    fi
done
rm -f "$out" "$trial"

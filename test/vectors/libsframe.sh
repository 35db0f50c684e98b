#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# libsframe.sh OUT FILE...: runs libsframe on the vectors, and compares where it differs with libsframe.known beside
# this. It and its libc are those of the toolchain's newest Debian.
set -eu
out=$1
shift
here=$(dirname "$0")
tc=$(test/tools/toolchain/toolchain.sh v3 gcc16 peers)
root=$tc/peers/root
lib=$root/usr/lib/x86_64-linux-gnu
"$tc/gcc16/x86_64/gcc" -std=c99 -D_GNU_SOURCE -O1 -g -Wall -Wextra -isystem "$root/usr/include" \
    -isystem "$root/usr/include/libiberty" -I"$here" "$here/vector.c" "$here/run_libsframe.c" "-L$lib" -lsframe \
    "-Wl,--dynamic-linker=$lib/ld-linux-x86-64.so.2" "-Wl,--disable-new-dtags,-rpath,$lib" -o "$out/run_libsframe"
"$out/run_libsframe" "$@" >"$out/libsframe.differs" 2>"$out/libsframe.log" || { cat "$out/libsframe.log"; exit 1; }
python3 "$here/known.py" "$here/libsframe.known" <"$out/libsframe.differs"

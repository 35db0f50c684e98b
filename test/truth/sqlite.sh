#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# sqlite.sh OUT: leaves OUT/sqlite3.s, which is sqlite3 as gcc 12 compiles it for x86_64 at -O2, if it is not there yet.
# This takes longer than all other foreign code together: step/ steps what decoders/ assembles. It is
# position-independent, for decoders/, and lacks what step/programs/shim.c has not.
set -eu
out=$1
here=${0%/*}
src=$("$here/../tools/toolchain/sources.sh")/sqlite3
mkdir -p "$out"
exec 9>"$out/lock"
flock 9
[ -z "$(find "$out/sqlite3.s" -newer "$0" 2>/dev/null)" ] || exit 0

compiler() {
    x86_64-linux-gnu-gcc -O2 -w -fPIE -fno-stack-protector -U_FORTIFY_SOURCE -fno-builtin -D__NO_CTYPE \
        -fno-tree-loop-distribute-patterns "-I$here/step/programs" "-I$src" -DSQLITE_OS_OTHER=1 \
        -DSQLITE_THREADSAFE=0 -DSQLITE_TEMP_STORE=3 -DLONGDOUBLE_TYPE=double -DSQLITE_OMIT_LOAD_EXTENSION \
        -DSQLITE_OMIT_LOCALTIME -DSQLITE_OMIT_WAL -DSQLITE_OMIT_JSON "$@" "$src/sqlite3.c"
}

if ! {
    cat "$0"
    x86_64-linux-gnu-gcc --version
    compiler -E -P
} | "$here/../tools/toolchain/sources.sh" kept "$out/kept"; then
    compiler -S -o "$out/kept/sqlite3.s"
    "$here/../tools/toolchain/sources.sh" keep "$out/kept"
fi
mv "$out/kept/sqlite3.s" "$out/sqlite3.s"
rm -r "$out/kept"

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# peers.sh OUT: builds the other unwinders' adapters, OUT/NAME.so, by gcc 16 for the newest Debian's libc. One that
# cannot be built is missing, and why is in OUT/NAME.log.
set -eu
out=$1
here=$(dirname "$0")
tc=$(test/tools/toolchain/toolchain.sh v3 gcc16)
test/tools/toolchain/toolchain.sh peers >/dev/null || echo 'peers.sh: no peers: only those of this system take part' >&2
root=$tc/peers/root
lib=$root/usr/lib/x86_64-linux-gnu
llvm=$tc/peers/llvm/usr/lib/x86_64-linux-gnu
mkdir -p "$out"
rm -f "$out"/*.so

# peer NAME SOURCE FLAG...
peer() {
    name=$1
    source=$here/peer_$2.c
    shift 2
    "$tc/gcc16/x86_64/gcc" -std=c99 -D_GNU_SOURCE -O2 -fPIC -shared -Wall -Wextra -Wpedantic -Wshadow \
        -Wstrict-prototypes -I. "$source" -o "$out/$name.so" "$@" -Wl,-z,now -Wl,--disable-new-dtags \
        >"$out/$name.log" 2>&1 || rm -f "$out/$name.so"
}

peer glibc glibc
peer libgcc libgcc -shared-libgcc -lgcc_s
peer libunwind libunwind -isystem "$root/usr/include/x86_64-linux-gnu" "-L$lib" -lunwind
peer libsframe libsframe -fno-omit-frame-pointer -isystem "$root/usr/include" -isystem "$root/usr/include/libiberty" \
    "-L$lib" -lsframe
peer llvm libunwind -DLLVM -isystem "$(echo "$tc"/peers/llvm/usr/lib/llvm-*/include)" "-L$llvm" \
    -l:libunwind.so.1 "-Wl,-rpath,$llvm"

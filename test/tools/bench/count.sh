#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# count.sh PROGRAM PEERS [WALKER...]: prints "count NAME INSTRUCTIONS WALKS FRAMES" for each walker of a program with
# bench.c, and for one that does nothing, by callgrind.
set -eu
dump=$1.callgrind
rm -f "$dump".*
program=$1
peers=$2
shift 2
valgrind -q --tool=callgrind --callgrind-out-file="$dump" --collect-atstart=no --toggle-collect=counted \
    --dump-after=counted_end "$program" "$peers" count "$@" >"$dump.log" 2>&1 || { cat "$dump.log" >&2 && exit 1; }
n=0
sed -n 's/^counted //p' "$dump.log" | while read -r name walks frames; do
    n=$((n + 1))
    echo "count $name $(sed -n 's/^totals: //p' "$dump.$n") $walks $frames"
done

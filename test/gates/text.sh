#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# text.sh READELF FILE: bytes in sections .text* and .rodata* of FILE.
set -eu
"$1" -SW "$2" | sed 's/^ *\[ *//' | while read -r _ name _ _ _ size _; do
    case $name in
    .text* | .rodata*) echo "$((0x$size))" ;;
    esac
done | awk '{ sum += $1 } END { print sum + 0 }'

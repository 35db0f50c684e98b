#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# text.sh READELF FILE [ASIDE]: bytes in sections .text* and .rodata* of FILE, but not in those whose names have ASIDE
# in them.
set -eu
aside=${3:-none}
"$1" -SW "$2" | sed 's/^ *\[ *//' | while read -r _ name _ _ _ size _; do
    case $name in
    *"$aside"*) ;;
    .text* | .rodata*) echo "$((0x$size))" ;;
    esac
done | awk '{ sum += $1 } END { print sum + 0 }'

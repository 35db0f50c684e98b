#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# sizes.sh READELF FILE: four numbers, in bytes: the sections that are executed, .sframe, .eh_frame with its index, and
# what `sfu-gen --small` makes of it.
set -eu
small=$(build/tools/sfu-gen -q --small --size "$2")
"$1" -SW "$2" | sed -n 's/^ *\[ *[0-9]*\] *//p' | while read -r name _ _ _ size _ flags _; do
    case $name:$flags in
    .sframe:*) echo "0 $((0x$size)) 0" ;;
    .eh_frame:* | .eh_frame_hdr:*) echo "0 0 $((0x$size))" ;;
    *:*X*) echo "$((0x$size)) 0 0" ;;
    esac
done | awk -v small="$small" '{ text += $1; sframe += $2; eh += $3 } END { print text + 0, sframe + 0, eh + 0, small }'

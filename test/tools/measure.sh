#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# measure.sh text READELF FILE [ASIDE]       bytes in sections .text*, .rodata* and .srodata* of FILE, but not in
#                                            those whose names have ASIDE in them
# measure.sh sizes READELF FILE              four numbers, in bytes: the sections that are executed, .sframe, .eh_frame
#                                            with its index, and what `sfu-gen --small` makes of it
# measure.sh instructions PLUGIN ABI FILE    how many instructions FILE, a program for Linux, executes until it exits.
#                                            Fails if it does not exit with status 0
set -eu
what=$1
shift

sections() { "$1" -SW "$2" | sed -n "s/^ *\\[ *[0-9]*\\] *//p"; }

case $what in
text)
    aside=${3:-none}
    sections "$1" "$2" | while read -r name _ _ _ size _; do
        case $name in
        *"$aside"*) ;;
        .text* | .rodata* | .srodata*) echo "$((0x$size))" ;;
        esac
    done | awk '{ sum += $1 } END { print sum + 0 }'
    ;;
sizes)
    small=$(build/tools/sfu-gen -q --small --size "$2")
    sections "$1" "$2" | while read -r name _ _ _ size _ flags _; do
        case $name:$flags in
        .sframe:*) echo "0 $((0x$size)) 0" ;;
        .eh_frame:* | .eh_frame_hdr:*) echo "0 0 $((0x$size))" ;;
        *:*X*) echo "$((0x$size)) 0 0" ;;
        esac
    done | awk -v small="$small" \
        '{ text += $1; sframe += $2; eh += $3 } END { print text + 0, sframe + 0, eh + 0, small }'
    ;;
instructions)
    "qemu-$2" -plugin "$1" "$3" 2>&1 >/dev/null |
        awk '/^instructions/ { n = $2 } END { if (n == "") exit 1; print n }'
    "qemu-$2" "$3" >/dev/null 2>&1
    ;;
esac

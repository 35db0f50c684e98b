#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# gates.sh OUT: what must hold of sfu.c and sfu.h themselves, and of the code that README.md shows.
set -u
out=$1
mkdir -p "$out"
here=$(dirname "$0")

# A test: its name, a limit and a value that must be less, or at most LIMIT with "le".
below() { [ "$3" -lt "$2" ] && echo "ok $1 ($3, below $2)" || echo "not ok $1: $3, not below $2"; }
at_most() { [ "$3" -le "$2" ] && echo "ok $1 ($3, at most $2)" || echo "not ok $1: $3, more than $2"; }
none() { [ -z "$2" ] && echo "ok $1" || echo "not ok $1: $2"; }

# Functions of FILE that have more than 60 lines, by the braces in column 0.
long_functions() {
    awk '/^[a-z].*[^;]$/ { name = $0; start = FNR } /^[a-z].*\)$/ { start = FNR }
        /^}/ { if (FNR - start + 1 > 60) printf "%s (%d lines) ", name, FNR - start + 1 }' "$1"
}

layout() {
    at_most 'lines of sfu.c' 960 "$(wc -l <sfu.c)"
    at_most 'lines of sfu.h' 260 "$(wc -l <sfu.h)"
    none 'functions of at most 60 lines' "$(long_functions sfu.c)"
    none 'includes' "$(sed -n 's/^ *# *include *//p' sfu.c sfu.h |
        grep -vxE '<(stddef|stdint|stdbool)\.h>|"sfu.h"' | tr '\n' ' ')"
    none 'no #if on a CPU' "$(
        grep -nE '^ *# *(el)?if.*(__x86|__amd|__aarch|__arm|__s390|BYTE_ORDER|_ENDIAN)' sfu.c sfu.h)"
    none 'the version is in one place' "$(
        grep -lE '# *define +SFU_VERSION\b' sfu.h sfu.c arch/* port/*/* 2>/dev/null | grep -vx sfu.h)$(
        grep -cE '^# *define +SFU_VERSION [0-9]+' sfu.h | grep -vx 1)"
}

# Recursion and frames of unknown size end stack.py with a message.
stack() {
    rm -f "$out/stack.ci"
    gcc -std=c99 -ffreestanding -Os -fcallgraph-info=su -I. -c sfu.c -o "$out/stack.o"
    if ! path=$("$here/stack.py" "$out/stack.ci" sfu_walk_step 2>&1); then
        echo "not ok stack of a step: $(echo "$path" | tail -n 1)"
        return
    fi
    echo "# stack of a step: $path"
    at_most 'stack of a step' 256 "${path%% *}"
}

# Each line of budget.txt against what is measured now: less is fine, more is not.
budget() {
    "$here/budget.sh" "$out" >"$out/budget.now" 2>"$out/budget.log" ||
        echo "not ok budget: $(tail -n 1 "$out/budget.log")"
    below 'text and rodata without messages' 5120 "$(
        awk '$1 == "x86_64" && $2 == "Os" { print $3; exit }' "$out/budget.now")"
    case $(gcc -dumpversion) in
    12*) ;;
    *)
        echo "# gcc is not 12: its sizes are not compared with budget.txt"
        return
        ;;
    esac
    grep -v '^#' "$here/budget.txt" | awk '
        NR == FNR { now[$1 " " $2 " " ($3 ~ /^[0-9]/ ? "" : $3)] = $0; next }
        {
            key = $1 " " $2 " " ($3 ~ /^[0-9]/ ? "" : $3); split(now[key], n, " "); why = ""
            if (!(key in now)) why = "not measured"
            for (i = 3; i <= NF; i++)
                if ($i ~ /^[0-9]/ && n[i] + 0 > $i + 0) why = why n[i] " instead of " $i " "
            sub(/ $/, "", key)
            print (why == "" ? "ok" : "not ok") " budget " key (why == "" ? "" : ": " why)
            lines++
        }
        END { if (lines < 14) print "not ok budget: budget.txt has " lines + 0 " lines, not 14: make budget" }
        ' "$out/budget.now" -
}

# The blocks of C in README.md, each a file of its own.
readme() {
    rm -f "$out"/readme-*.c
    [ ! -f README.md ] || awk -v out="$out" '
        /^```c$/ { n++; on = 1; next }
        /^```/ { on = 0 }
        on { print >(out "/readme-" n ".c") }' README.md
    set -- "$out"/readme-*.c
    if [ ! -f "$1" ]; then
        echo 'not ok README.md: it has no block of C'
        return
    fi
    for f; do
        # shellcheck disable=SC2046  # words
        if log=$(gcc -std=gnu99 -Wall -Wextra -Wno-unused -I. -Iarch $(printf ' -I%s' port/*/) -fsyntax-only "$f" 2>&1)
        then
            echo "ok README.md: ${f##*/}"
        else
            echo "not ok README.md: ${f##*/}: $(echo "$log" | grep -m1 error)"
        fi
    done
}

layout
stack
budget
readme
"$here/matrix.sh" "$out/matrix"

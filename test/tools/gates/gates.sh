#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# gates.sh OUT: what must hold of sfu.c and sfu.h themselves.
set -u
. test/lib/tests.sh
out=$1
mkdir -p "$out"
here=$(dirname "$0")

# at_most NAME LIMIT VALUE
at_most() { none "$1" "$([ "$3" -le "$2" ] || echo "$3, more than $2")"; }

# Functions of FILE that have more than 60 lines, by the braces in column 0.
long_functions() {
    awk '/^[a-z].*[^;]$/ { name = $0; start = FNR } /^[a-z].*\)$/ { start = FNR }
        /^}/ { if (FNR - start + 1 > 60) printf "%s (%d lines) ", name, FNR - start + 1 }' "$1"
}

layout() {
    none 'functions of at most 60 lines' "$(long_functions sfu.c)"
    none 'includes' "$(sed -n 's/^ *# *include *//p' sfu.c sfu.h |
        grep -vxE '<(stddef|stdint|stdbool)\.h>|"sfu.h"|SFU_TYPES' | tr '\n' ' ')"
    none 'no #if on a CPU' "$(
        grep -nE '^ *# *(el)?if.*(__x86|__amd|__aarch|__arm|__s390|BYTE_ORDER|_ENDIAN)' sfu.c sfu.h)"
    none 'the version is in one place' "$(
        grep -lE '# *define +SFU_VERSION\b' sfu.h sfu.c arch/* port/*/* 2>/dev/null | grep -vx sfu.h)$(
        grep -cE '^# *define +SFU_VERSION [0-9]+' sfu.h | grep -vx 1)"
}

# Lines "name... figure" of FILE $2 against those of FILE $1, the budget: less is fine, more is not, nor is a line that
# only one of them has. Of a shape 2% more are fine: where its program lies decides which entries of a cache collide.
compare() {
    grep -v '^#' "$1" | awk '
        { value = $NF; sub(/ [^ ]*$/, "") }
        NR == FNR { now[$0] = value; next }
        {
            seen[$0] = 1
            if (!($0 in now)) print "not ok budget " $0 ": not measured"
            else if (now[$0] + 0 > value * (/ shape-/ ? 1.02 : 1))
                print "not ok budget " $0 ": " now[$0] " instead of " value
            else print "ok budget " $0
        }
        END { for (name in now) if (!(name in seen)) print "not ok budget " name ": not in budget.txt: make budget" }
        ' "$2" -
}

# Recursion and frames of unknown size end stack.py, and so budget.sh, with a message.
budget() {
    printf '%s\n' 'a 2' 'b 2' 'd 2' 'e shape-f 100' 'g shape-h 100' >"$out/self.budget"
    printf '%s\n' 'a 1' 'b 3' 'c 1' 'e shape-f 102' 'g shape-h 103' >"$out/self.now"
    equal 'a budget can be missed' "$(compare "$out/self.budget" "$out/self.now" | grep -c '^not ok')" 4
    if ! "$here/budget.sh" "$out" >"$out/budget.now" 2>"$out/budget.log"; then
        echo "not ok budget: $(tail -n 1 "$out/budget.log")"
        return
    fi
    case $(gcc -dumpversion) in
    12*) cp "$here/budget.txt" "$out/budget.txt" ;;
    *)
        echo "# gcc is not 12: its figures are not compared with budget.txt"
        grep -v '^gcc12 ' "$here/budget.txt" >"$out/budget.txt"
        sed -i '/^gcc12 /d' "$out/budget.now"
        ;;
    esac
    compare "$out/budget.txt" "$out/budget.now"
    together
}

# Core, printer, build ID, record and symbols: 8 KiB, what a crashed stack adds, what stacks as values need, and 512
# bytes for a step that holds the tables in locals, which takes a quarter of its instructions away, and that tells dead
# slots from other stacks' words. On s390x, whose instructions are longer, the budget is the limit.
together() {
    for limit in x86_64:9600 aarch64:10816 aarch64_be:10832; do
        cpu=${limit%:*}
        grep " $cpu Os together " "$out/budget.now" >"$out/together" || echo "not ok together, $cpu: not measured"
        while read -r with _ _ _ bytes; do
            at_most "core, printer and its parts, $with, $cpu" "${limit#*:}" "$bytes"
        done <"$out/together"
    done
}

# The lines of page $2, and of its tables only the columns whose headings page $1 has in the same table. Rows of -O2 in
# a table that has no columns of it go where page $1 has none.
columns() {
    awk '
        FNR == 1 { table = 0 }
        !/^\|/ { if (FNR != NR) print; inside = 0; next }
        { cells = split($0, cell, "|") }
        !inside { inside = 1; table++; split("", heading); for (i = 1; i <= cells; i++) heading[i] = cell[i] }
        FNR == NR { has[table, cell[2], cell[3]] = 1 }
        FNR == NR && !((table, "rows") in has) { has[table, "rows"] = 1; for (i in heading) has[table, heading[i]] = 1 }
        FNR == NR || cell[3] == " `-O2` " && !((table, cell[2], cell[3]) in has) { next }
        { for (i = 2; i < cells; i++) if ((table, heading[i]) in has) printf "|%s", cell[i]; print "|" }
    ' "$1" "$2"
}

# SWITCHES.md says what the switches save now.
switches() {
    case $(gcc -dumpversion) in
    12*) ;;
    *)
        echo "# gcc is not 12: SWITCHES.md is not compared"
        return
        ;;
    esac
    SFU_SWITCHES=${LONG:-some} "$here/switches.sh" "$out" "$out" >"$out/switches.now"
    columns "$out/switches.now" "$here/SWITCHES.md" >"$out/switches.page"
    none 'SWITCHES.md is new (make switches)' "$(diff "$out/switches.page" "$out/switches.now" | grep -m3 '^[<>]')"
    none 'a build for one CPU has nothing of RISC-V, ARM and i386' \
        "$(grep 'built by SFU_ABI' "$out/switches.now" | grep '[1-9]')"
}

layout
budget
switches
"$here/matrix.sh" "$out/matrix"

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# check.sh NAME COMMAND...: runs a program of check.h, and puts "NAME: " before the name of each of its tests. A program
# that ends before its time is a failed test: one that does not say what became of each test that it has announced.
set -u
name=$1
shift
# The program does not know its NAME: a T that is a part of it chooses all tests.
case $name in
*"${T:-:}"*) unset T ;;
esac
{
    "$@" 2>&1
    echo "# status $?"
} | awk -v name="$name: " '
    /^# status / { status = $3; next }
    /^1\.\.[0-9]+$/ { planned += substr($0, 4); next }
    /^(not )?ok / {
        failed += /^not/
        sub(/^(not )?ok /, "&" name)
        print
        last = $0
        sub(/^(not )?ok /, "", last)
        run++
        next
    }
    { print "# " $0 }
    END {
        if (run != planned || (status != 0 && !failed))
            print "not ok " name "exit status " status " after " (last == "" ? "nothing" : last)
    }'

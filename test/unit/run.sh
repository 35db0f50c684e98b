#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# run.sh NAME COMMAND...: runs a cmocka program and prints "ok NAME: test" or "not ok NAME: test: reason" for each of
# its tests; a line "# file FILE" of its output comes in between. A program that ends before its time is a failed test:
# one that does not say what became of each test that it has announced.
#
# A wrapper of test.h prints its reason at once, in front of the test's "not ok"; cmocka prints its own behind it.
set -u
name=$1
shift
# The program does not know its variant's name: a T that is a part of it chooses all tests.
case $name in
*"${T:-:}"*) unset T ;;
esac
{
    CMOCKA_MESSAGE_OUTPUT=TAP "$@" 2>&1
    echo "# status $?"
} | awk -v name="$name: " '
    function finish() {
        if (pending != "") print "not ok " name pending ": " (reason != "" ? reason : behind)
        if (pending != "") reason = ""
        pending = behind = ""
    }
    /^# status / { status = $3; next }
    /^# (not )?ok/ { next }
    /^1\.\.[0-9]+$/ { planned += substr($0, 4); next }
    /^# file / { finish(); file = $3 ": "; next }
    /^ok [0-9]+ - / {
        finish(); sub(/^ok [0-9]+ - /, ""); print "ok " name file $0; reason = ""; last = $0; run++
        next
    }
    /^not ok [0-9]+ - / {
        finish(); sub(/^not ok [0-9]+ - /, ""); pending = file $0; failed = 1; last = $0; run++
        next
    }
    /^# .*test\.c:[0-9]+: / { if (behind == "") { behind = $0; sub(/^# (.*\/)?/, "", behind) } next }
    /test\.c:[0-9]+: / {
        finish()
        if (reason == "") { reason = $0; sub(/^.*\//, "", reason) }
    }
    /^# / { next }
    { print "# " $0 }
    END {
        finish()
        if (run != planned || (status != 0 && !failed))
            print "not ok " name "exit status " status " after " (last == "" ? "nothing" : last)
    }'

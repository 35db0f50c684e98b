#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# run.sh NAME COMMAND...: runs a cmocka program and prints "ok NAME: test" or "not ok NAME: test: reason" for each of
# its tests. A program that ends before its time is a failed test.
set -u
name=$1
shift
{
    CMOCKA_MESSAGE_OUTPUT=TAP "$@" 2>&1
    echo "# status $?"
} | awk -v name="$name" '
    /^# file / { file = $3; next }
    /^# status / { status = $3; next }
    /^1\.\./ || /^# (not )?ok/ { next }
    /_test\.c:[0-9]+: / { if (reason == "") { reason = $0; sub(/^.*\//, "", reason) } }
    /^ok [0-9]+ - / { sub(/^ok [0-9]+ - test_/, ""); print "ok " name ": " file ": " $0; reason = ""; last = $0; next }
    /^not ok [0-9]+ - / {
        sub(/^not ok [0-9]+ - test_/, "")
        print "not ok " name ": " file ": " $0 ": " reason
        reason = ""; failed = 1; last = $0
        next
    }
    /^# / { next }
    { print "# " $0 }
    END {
        if (last != "every_code" || (status != 0 && !failed))
            print "not ok " name ": exit status " status " after " (last == "" ? "nothing" : last)
    }'

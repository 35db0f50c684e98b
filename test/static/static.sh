#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# static.sh FILE... [-- FILE...]: static analysis, with each build-time switch of the core, of programs that are hosted
# (behind --), and of the scripts. Prints a result line for each tool and file, and what a tool has to say as comments.
set -eu
flags='-std=c99 -I. -Iarch -Iport/print'
failed=0

# try NAME COMMAND...: the command says nothing and succeeds.
try() {
    test=$1
    shift
    if said=$("$@" 2>&1) && [ -z "$said" ]; then
        echo "ok $test"
    else
        failed=1
        printf '%s\n' "$said" | sed 's/^/# /'
        echo "not ok $test: it has something to say"
    fi
}

# clang-tidy counts the warnings it leaves out.
# shellcheck disable=SC2317  # called by try
tidy() {
    # shellcheck disable=SC2086  # words
    clang-tidy --quiet ${3:+"--checks=$3"} "$1" -- $flags $2 2>/dev/null
}

while [ $# -gt 0 ]; do
    file=$1
    shift
    [ "$file" != -- ] || break
    for switches in '' '-DSFU_OLDEST_VERSION=3 -DSFU_NO_REMOTE -DSFU_NO_STRINGS'; do
        name="$(basename "$file")${switches:+ with every switch}"
        # shellcheck disable=SC2086
        try "gcc -fanalyzer, $name" gcc $flags $switches -O2 -fanalyzer -c -o /dev/null "$file"
        try "clang-tidy, $name" tidy "$file" "$switches"
        # shellcheck disable=SC2086
        try "cppcheck, $name" cppcheck -q --std=c99 --enable=warning,performance,portability --inline-suppr \
            --suppress=missingIncludeSystem -USFU_TYPES --error-exitcode=1 -I. -Iport/print $switches "$file"
    done
done

# Left out is advice on results of printf, which are looked at once for each stream, and on arrays of pointers.
hosted='-D_GNU_SOURCE -Iport/host -Ibuild/tools'
for file; do
    name=$(basename "$file")
    # shellcheck disable=SC2086
    try "gcc -fanalyzer, $name" gcc $flags $hosted -O2 -fanalyzer -c -o /dev/null "$file"
    try "clang-tidy, $name" tidy "$file" "$hosted" -cert-err33-c,-bugprone-sizeof-expression
    # shellcheck disable=SC2086
    try "cppcheck, $name" cppcheck -q --std=c99 --enable=warning,performance,portability --inline-suppr \
        --suppress=missingIncludeSystem -USFU_TYPES --error-exitcode=1 -I. $hosted "$file"
done
# shellcheck disable=SC2046  # words
try shellcheck shellcheck -x .ci/run port/host/link/sfu-link $(find fuzz port test -name '*.sh')
try 'clang-format' test/static/layout.sh check
try 'homes of the tests' test/static/layout.sh homes
try 'faults of the tools' test/static/layout.sh faults
try 'lines of at most 120 columns' test/static/layout.sh columns
try 'mutants are of code that is there' python3 test/mutants/mutants.py --places test/mutants/abis test/mutants/core \
    test/mutants/depot test/mutants/fast test/mutants/programs test/mutants/prove test/mutants/step \
    test/mutants/step-kernel
exit $failed

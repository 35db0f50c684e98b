#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# static.sh FILE... [-- FILE...]: static analysis, with each build-time switch of the core, of programs that are hosted
# (behind --), and of the scripts. Prints a result line for each tool and file, and what a tool has to say as comments.
set -eu
flags='-std=c99 -I. -Iarch -Iport/print -Iport/symbols'
every='-DSFU_OLDEST_VERSION=3 -DSFU_NO_REMOTE -DSFU_NO_STRINGS'
made=build/static # what the compilers write on the way
mkdir -p "$made"
log=$made/log
. test/lib/tests.sh

# clang-tidy counts the warnings it leaves out. With every switch a dozen lines of the core differ, by constants: the
# paths that are left are gcc's to analyse.
# shellcheck disable=SC2317  # called by silent
tidy() {
    checks=${3-}
    [ "$2" != "$every" ] || checks='-clang-analyzer-*'
    # shellcheck disable=SC2086  # words
    clang-tidy --quiet ${checks:+"--checks=$checks"} "$1" -- $flags $2 2>/dev/null
}

# text COMPILER FILE SWITCHES: what the compiler reads once the file is preprocessed, with its macros, but without the
# definitions of the switches themselves. A file that cannot be preprocessed has no text.
text() {
    # shellcheck disable=SC2086  # words
    "$1" $flags $3 -E -dD "$2" -o "$made/text" &&
        grep -Ev '^#define SFU_(OLDEST_VERSION [13]|NO_REMOTE 1|NO_STRINGS 1)$|^# |^$' "$made/text"
}

# same_text COMPILER FILE: the switches change nothing that the compiler reads, so that its verdict is the same.
same_text() {
    text "$1" "$2" '' >"$made/without" && text "$1" "$2" "$every" >"$made/with" && cmp -s "$made/without" "$made/with"
}

# try_both NAME COMPILER FILE COMMAND...: runs the command with its last word empty, and with every switch in it. One
# verdict is that of both if the text is the same.
try_both() {
    test=$1 compiler=$2 analysed=$3
    shift 3
    chosen "$test with every switch" || return 0
    before=$failed
    failed=0
    silent "$test" "$@" ''
    if chosen "$test" && [ "$failed" = 0 ] && same_text "$compiler" "$analysed"; then
        none "$test with every switch" ''
    else
        silent "$test with every switch" "$@" "$every"
    fi
    [ "$before" = 0 ] || failed=1
}

# shellcheck disable=SC2317  # called by try_both
analyse() {
    # shellcheck disable=SC2086  # words
    gcc $flags $2 -O2 -fanalyzer -c -o "$made/analysed.o" "$1"
}

while [ $# -gt 0 ]; do
    file=$1
    shift
    [ "$file" != -- ] || break
    try_both "gcc -fanalyzer, $(basename "$file")" gcc "$file" analyse "$file"
    try_both "clang-tidy, $(basename "$file")" clang "$file" tidy "$file"
    for switches in '' "$every"; do
        name="$(basename "$file")${switches:+ with every switch}"
        # shellcheck disable=SC2086
        silent "cppcheck, $name" cppcheck -q --std=c99 --enable=warning,performance,portability --inline-suppr \
            --suppress=missingIncludeSystem --max-configs=24 -USFU_TYPES --error-exitcode=1 -I. -Iport/print \
            $switches "$file"
    done
done

# Left out is advice on results of printf, which are looked at once for each stream, and on arrays of pointers.
hosted='-D_GNU_SOURCE -Iport/host -Ibuild/tools'
for file; do
    name=$(basename "$file")
    # shellcheck disable=SC2086
    silent "gcc -fanalyzer, $name" gcc $flags $hosted -O2 -fanalyzer -c -o "$made/analysed.o" "$file"
    silent "clang-tidy, $name" tidy "$file" "$hosted" -cert-err33-c,-bugprone-sizeof-expression
    # shellcheck disable=SC2086
    silent "cppcheck, $name" cppcheck -q --std=c99 --enable=warning,performance,portability --inline-suppr \
        --suppress=missingIncludeSystem --max-configs=24 -USFU_TYPES --error-exitcode=1 -I. $hosted "$file"
done
# gcc builds the tools, so what clang says of them is asked here.
# shellcheck disable=SC2046,SC2086  # words
silent 'clang, the tools' clang $flags $hosted -Iport/fast -DSFU_ZYDIS -Wall -Wextra -Wpedantic -Wconversion -Wshadow \
    -Wcast-align -Wstrict-prototypes -fsyntax-only $(find port/host -name '*.c' ! -path '*/test/*')
# shellcheck disable=SC2046  # words
silent shellcheck shellcheck -x .ci/run $(find fuzz port test -name '*.sh')
silent 'clang-format' test/static/layout.sh check
silent 'homes of the tests' test/static/layout.sh homes
silent 'faults of the tools' test/static/layout.sh faults
silent 'lines of at most 120 columns' test/static/layout.sh columns
silent 'mutants are of code that is there' python3 test/mutants/mutants.py --places test/mutants/abis test/mutants/asm \
    test/mutants/core test/mutants/cortexm test/mutants/depot test/mutants/fast test/mutants/host test/mutants/kernel \
    test/mutants/print test/mutants/programs test/mutants/prove test/mutants/repeat test/mutants/step \
    test/mutants/step-kernel test/mutants/trace
exit $failed

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# suites.sh list SUITE...       prints what README.md beside it says of each suite, and what it took here when it ran
#                               last. Exits 1 if it does not say anything of one of them.
# suites.sh left SUITE... -- SUITE...  says which of the second suites are not among the first.
# suites.sh summary SUITE...    adds up what run.sh kept of each suite: each failed test, how to run the first one
#                               alone, and one line at the end, "N passed, N failed".
set -u
what=$1
shift

list() {
    status=0
    for suite; do
        case $suite in
        *-x86_64 | *-aarch64 | *-aarch64_be | *-s390x | *-riscv64 | *-riscv32 | *-arm | *-i386) one="${suite%-*}-CPU" ;;
        *) one=$suite ;;
        esac
        line=$(awk -F ' *[|] *' -v exact="\`$suite\`" -v one="\`$one\`" '
            $2 == exact { print $3 "\t" $4; found = 1; exit }
            $2 == one { any = $3 "\t" $4 }
            END { if (!found) print any }' "$(dirname "$0")/README.md")
        seconds=build/results/$suite.seconds
        if [ -z "$line" ]; then
            echo "not ok $suite: test/README.md says nothing of it"
            status=1
        elif [ -f "$seconds" ]; then
            printf '%-24s %4s s  %s\n' "$suite" "$(cat "$seconds")" "${line%	*}"
        else
            printf '%-24s ~%3s s  %s\n' "$suite" "${line##*	}" "${line%	*}"
        fi
    done
    return $status
}

# A suite's kind is the first word of its name.
left() {
    first=
    ran=0
    while [ "$1" != -- ]; do
        first="$first $1"
        ran=$((ran + 1))
        shift
    done
    shift
    echo "$ran suites of $#. Not looked at, which make check-all does, suites of each kind:" \
        "$(for suite; do
            case " $first " in *" $suite "*) ;; *) echo "${suite%%-*}" ;; esac
        done | sort | uniq -c | sort -k1,1nr -k2 |
            awk '{ printf "%s%s%s", (NR > 1 ? ", " : ""), $2, ($1 > 1 ? " " $1 : "") }')." \
        "make list says what each shows."
}

summary() {
    passed=0
    failed=0
    for suite; do
        out=build/results/$suite
        if [ ! -f "$out" ]; then
            echo "not ok $suite: it did not run, or could not be built: make suite-$suite"
            failed=$((failed + 1))
            continue
        fi
        passed=$((passed + $(grep -c '^ok ' "$out")))
        if sed -n "s/^not ok /not ok $suite: /p" "$out" | grep .; then
            failed=$((failed + $(grep -c '^not ok ' "$out")))
            cat "$out.again"
        fi
    done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

"$what" "$@"

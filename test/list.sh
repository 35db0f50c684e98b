#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# list.sh SUITE...: prints what README.md beside it says of each suite, and what it took here when it ran last. Exits 1
# if it does not say anything of one of them.
set -u
status=0
for suite; do
    case $suite in
    *-x86_64 | *-aarch64 | *-aarch64_be | *-s390x) one="${suite%-*}-CPU" ;;
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
exit $status

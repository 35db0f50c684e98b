#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# summary.sh SUITE...: adds up what run.sh kept of each suite: each failed test, how to run its suite alone, and one
# line at the end, "N passed, N failed".
set -u
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
        echo "to run it alone: make suite-$suite"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

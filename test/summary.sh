#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# summary.sh SUITE...: adds up what run.sh kept of each suite and ends in one line, "N passed, N failed".
set -u
passed=0
failed=0
for suite; do
    out=build/results/$suite
    if [ ! -f "$out" ]; then
        echo "not ok $suite: it did not run"
        failed=$((failed + 1))
        continue
    fi
    sed -n "s/^not ok /not ok $suite: /p" "$out"
    passed=$((passed + $(grep -c '^ok ' "$out")))
    failed=$((failed + $(grep -c '^not ok ' "$out")))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

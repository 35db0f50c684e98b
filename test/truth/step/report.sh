#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# report.sh ABI...: what stepping found, from build/results: the figures of each ABI and set, and of all. Fails if
# anything was wrong.
set -eu
status=0
for abi; do
    result=build/results/step-$abi
    grep "^$abi .*instructions=" "$result" || status=1
    if grep '^not ok' "$result"; then
        status=1
    fi
done
for abi; do
    grep "^$abi instructions=" "build/results/step-$abi" || true
done | awk '{
    for (i = 2; i <= NF; i++) {
        split($i, field, "=")
        name[i] = field[1]
        sum[i] += field[2]
    }
} END {
    printf "total"
    for (i = 2; i in name; i++)
        printf " %s=%d", name[i], sum[i]
    printf "\n"
}'
exit $status

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# run.sh SUITE COMMAND...: runs a test suite and keeps its results in build/results/SUITE.
# COMMAND prints a line "ok NAME" or "not ok NAME: reason" for each test on its standard output; whatever else it
# prints is passed on. A suite that fails without saying which test did, or that prints no result at all, is a
# failed test itself. Exits 1 if a test failed, and says how to run the suite alone. The CPU time that it says is
# that of COMMAND, not of what make has built for it.
set -u
suite=$1
shift
mkdir -p build/results
out=build/results/$suite
"$@" >"$out.tmp" 2>&1
status=$?
times >"$out.times"
seconds=$(awk 'NR == 2 { split($0, part, " "); for (i in part) { split(part[i], t, /[ms]/); sum += 60 * t[1] + t[2] } }
    END { printf "%.0f", sum }' "$out.times")
rm "$out.times"
echo "$seconds" >"$out.seconds"
if [ $status -ne 0 ] && ! grep -q '^not ok' "$out.tmp"; then
    echo "not ok $suite: exit status $status" >>"$out.tmp"
elif ! grep -Eq '^(not )?ok ' "$out.tmp"; then
    echo "not ok $suite: printed no result" >>"$out.tmp"
fi
mv "$out.tmp" "$out"
failed=$(grep -c '^not ok ' "$out")
if [ "$failed" -ne 0 ]; then
    sed "s/^/$suite: /" "$out" | grep -v ': ok '
fi
echo "$suite: $(grep -c '^ok ' "$out") ok, $failed not ok, $seconds s of CPU"
if [ "$failed" -ne 0 ]; then
    echo "$suite: to run it alone: make suite-$suite"
    exit 1
fi

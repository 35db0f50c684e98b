#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# run.sh SUITE COMMAND...: runs a test suite and keeps its results in build/results/SUITE.
# COMMAND prints a line "ok NAME" or "not ok NAME: reason" for each test on its standard output; whatever else it
# prints is passed on. A suite that fails without saying which test did, or that prints no result at all, is a
# failed test itself. Exits 1 if a test failed, and says how to run the suite alone. The CPU time that it says is
# that of COMMAND, not of what make has built for it.
#
# T: only the tests whose names have T in them, or match it as a pattern of the shell, count. COMMAND may leave out
# others, to be faster. If there is no such test, the suite fails.
set -u
suite=$1
shift
T=${T-}
mkdir -p build/results
out=build/results/$suite

# The lines of COMMAND's output that count.
choose() {
    while IFS= read -r line; do
        case $line in
        'ok '* | 'not ok '*)
            # shellcheck disable=SC2254 # a pattern
            case ${line#*ok } in
            *"$T"* | *$T*) ;;
            *) continue ;;
            esac
            ;;
        esac
        printf '%s\n' "$line"
    done
}

"$@" >"$out.all" 2>&1
status=$?
times >"$out.times"
seconds=$(awk 'NR == 2 { split($0, part, " "); for (i in part) { split(part[i], t, /[ms]/); sum += 60 * t[1] + t[2] } }
    END { printf "%.0f", sum }' "$out.times")
rm "$out.times"
[ -n "$T" ] || echo "$seconds" >"$out.seconds"
if [ $status -ne 0 ] && ! grep -q '^not ok' "$out.all"; then
    reason="exit status $status"
elif ! grep -Eq '^(not )?ok ' "$out.all"; then
    reason="printed no result"
else
    reason=
fi
if [ -n "$T" ]; then choose <"$out.all" >"$out.tmp"; else cp "$out.all" "$out.tmp"; fi
rm "$out.all"
if [ -n "$T" ] && ! grep -Eq '^(not )?ok ' "$out.tmp"; then
    reason="${reason:+$reason; }no test has '$T' in its name"
fi
[ -z "$reason" ] || echo "not ok $suite: $reason" >>"$out.tmp"
mv "$out.tmp" "$out"
failed=$(grep -c '^not ok ' "$out")
if [ "$failed" -ne 0 ]; then
    sed "s/^/$suite: /" "$out" | grep -v ': ok '
fi
echo "$suite: $(grep -c '^ok ' "$out") ok, $failed not ok, $seconds s of CPU"
if [ "$failed" -ne 0 ]; then
    echo "$suite: to run it alone: make ${RECIPE:-suite-$suite};" \
        "one test of it: make ${RECIPE:-suite-$suite} T='its name'"
    exit 1
fi

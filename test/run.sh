#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# run.sh SUITE COMMAND...: runs a test suite and keeps its results in build/results/SUITE.
# COMMAND prints a line "ok NAME" or "not ok NAME: reason" for each test on its standard output; whatever else it
# prints is passed on. A suite that fails without saying which test did, or that prints no result at all, is a
# failed test itself. Exits 1 if a test failed, and prints the command that runs the first failed test alone, which it
# keeps in build/results/SUITE.again. The CPU time that it prints is that of COMMAND, not of what make has built for it.
#
# T: only the tests whose names have T in them, or match it as a pattern of the shell, count. COMMAND may leave out
# others, to be faster. If there is no such test, the suite fails.
#
# Where the name of the failed test ends and the reason begins, the other results tell: the name is the shortest
# beginning of the line, up to a ": ", that the fewest other results begin with. So the name of "default: walk: test_a:
# walk_test.c:12: ..." is "default: walk: test_a", as there is "default: walk: test_b".
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

# The name of the first failed test in COMMAND's output.
first_failed() {
    awk '
        /^not ok / && first == 0 { first = count + 1 }
        /^(not )?ok / { sub(/^(not )?ok /, ""); line[++count] = $0 }
        END {
            rest = name = line[first]
            least = count
            for (begin = ""; (at = index(rest, ": ")) > 0 && least > 0; rest = substr(rest, at + 2)) {
                begin = begin substr(rest, 1, at + 1)
                others = 0
                for (i = 1; i <= count; i++)
                    if (i != first && index(line[i] ": ", begin) == 1) others++
                if (others < least) {
                    least = others
                    name = substr(begin, 1, length(begin) - 2)
                }
            }
            print name
        }'
}

# The argument that gives make T as it is: make reads $$ as $, and the shell what is in quotes.
argument() {
    printf '%s\n' "$1" | sed "s/'/'\\\\''/g; s/[$]/\$\$/g; s/^/T='/; s/\$/'/"
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
again=
if grep -q '^not ok ' "$out.tmp"; then again=$(argument "${T:-$(first_failed <"$out.all")}"); fi
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
rm -f "$out.again"
if [ "$failed" -ne 0 ]; then
    if [ -n "$again" ]; then what='the first failed test'; else what='the suite'; fi
    echo "to run $what alone: make ${RECIPE:-suite-$suite}${again:+ $again}" >"$out.again"
    sed "s/^/$suite: /" "$out.again"
    exit 1
fi

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# run_test.sh DIR: what a failed test does to `make suite-NAME`, `make check`, `make check-all` and `make test`, and
# what T does: with the real Makefile and scripts, and suites that are planted in DIR. Then, that every suite is run in
# this way.
set -u
out=$1
rm -rf "$out"
mkdir -p "$out/test/planted" "$out/test/first" "$out/test/tools/toolchain"
cp Makefile "$out"
cp test/run.sh test/suites.sh "$out/test"
: >"$out/test/first/first.mk"
printf '#!/bin/sh\n' >"$out/test/tools/toolchain/install.sh"
chmod +x "$out/test/tools/toolchain/install.sh"
printf '%s\n' 'CHECK := good' 'FIRST := planted' 'CHECK_x86_64 := planted' \
    'suite-good:' '	@test/run.sh good echo ok fine' \
    'suite-planted:' '	@test/run.sh planted sh planted.sh' >"$out/test/planted/rules.mk"
unset T MAKEFLAGS MAKELEVEL

# wants NAME STATUS TEXT PLANTED ARGUMENTS...: make ARGUMENTS, with the commands PLANTED as a suite, succeeds (STATUS is
# 0) or fails (1), and has TEXT in what it prints: a pattern, in which ~ is the end of a line.
wants() {
    name=$1 status=$2 text=$3 planted=$4
    shift 4
    echo "$planted" >"$out/planted.sh"
    make -s -C "$out" "$@" >"$out/log" 2>&1
    got=$(($? != 0))
    if [ $got -ne "$status" ]; then
        echo "not ok $name: $([ $got -eq 0 ] && echo succeeds || echo fails)"
    elif ! tr '\n' '~' <"$out/log" | grep -q -e "$text"; then
        echo "not ok $name: says $(tr '\n' '~' <"$out/log")"
    else
        echo "ok $name"
    fi
}

alone='to run the suite alone: make suite-planted'
one="to run the first failed test alone: make suite-planted T='b'~"
two='echo ok a; echo not ok b: why; echo "ok c[1]"'
for target in suite-planted check check-all test check-x86_64; do
    wants "make $target fails if a test does, and says which" 1 \
        "planted: b: why.*$one\|planted: not ok b: why.*$one" "$two" "$target"
    wants "make $target fails if a suite does without a word" 1 "exit status 1.*$alone" false "$target"
    wants "make $target fails if a suite is killed" 1 "exit status 1[0-9][0-9].*$alone" 'echo ok a; kill -9 $$' \
        "$target"
    wants "make $target fails if a suite prints nothing" 1 "printed no result.*$alone" true "$target"
    wants "make $target succeeds if all tests do" 0 '[1-9] passed, 0 failed\|1 ok, 0 not ok' 'echo ok a' "$target"
done
wants 'make check says how many failed' 1 '2 passed, 1 failed' "$two" check
wants 'make check says what it has left out' 0 '1 suites of 2.*each kind: good[.]' 'echo ok a' check
wants 'make check-all says how many failed' 1 '3 passed, 1 failed' "$two" check-all
echo 'echo "ok only once"' >"$out/planted.sh"
make -s -C "$out" check >"$out/log" 2>&1
wants 'make check-all behind make check counts both' 0 '^good: 1 ok[^~]*~2 passed, 0 failed' false \
    check-all AFTER_CHECK=1
wants 'T chooses a test' 0 'planted: 1 ok, 0 not ok' "$two" suite-planted T=a
wants 'T chooses the one that fails' 1 'planted: 0 ok, 1 not ok' "$two" suite-planted T=b
wants 'T is a pattern' 0 'planted: 1 ok, 0 not ok' "$two" suite-planted 'T=c[[]?]'
wants 'T is a name' 0 'planted: 1 ok, 0 not ok' "$two" suite-planted 'T=c[1]'
wants 'T that chose a failed test chooses it again' 1 "alone: make suite-planted T='b: w'~" "$two" \
    suite-planted 'T=b: w'
wants 'T that chooses nothing fails' 1 "no test has 'd' in its name" "$two" suite-planted T=d
wants 'T is not for all suites' 1 'make suite-NAME' "$two" check T=a

# The command that runs the first failed test alone, in whatever way names and reasons are written: it chooses this
# test, and no other one.
again() {
    name=$1 chosen=$2 planted=$3
    wants "$name: fails" 1 "to run the first failed test alone: make suite-planted T=" "$planted" suite-planted
    # shellcheck disable=SC2016 # for sh
    sed -n 's/^planted: to run the first failed test alone: make/make -s -C "$1"/p' "$out/log" >"$out/again"
    sh "$out/again" "$out" >"$out/log" 2>&1
    printed=$(grep '^planted: ' "$out/log" | grep -v '^planted: to run ' | tr '\n' ';')
    is "$name" "${printed%, * s of CPU;}" "planted: not ok $chosen;planted: 0 ok, 1 not ok"
}
is() { [ "$2" = "$3" ] && echo "ok $1" || echo "not ok $1: $2"; }
again 'a name with colons is told from the reason' 'v: f: a: a.c:1: no: so' \
    'echo "ok v: f: b"; echo "not ok v: f: a: a.c:1: no: so"; echo "ok v: g: a"; echo "ok w: f: a"'
# shellcheck disable=SC2016 # for sh
again 'a name with quotes, dollars and brackets' "it's [\$a]: why" \
    'cat <<"END"
ok its
not ok it'"'"'s [$a]: why
END'
again 'a test without a reason' 'a' 'echo "not ok a"'

# A program of check.h: a failed test has the name of its program; and one that ends before its time.
tap() {
    printf '%s\n' "$@" >"$out/tap"
    test/lib/check.sh x cat "$out/tap" | grep -v '^# ' | tr '\n' ';'
}
is 'a failure keeps its reason' "$(tap 1..2 'not ok f: test_a: a_test.c:1: first' 'ok f: test_b')" \
    'not ok x: f: test_a: a_test.c:1: first;ok x: f: test_b;'
is 'a program that ends too early has failed' "$(tap 1..2 'ok test_a')" \
    'ok x: test_a;not ok x: exit status 0 after x: test_a;'
cat >"$out/check.c" <<'END'
#include "test/lib/check.h"
#include <stdlib.h>
static void fails(void **state) { int two = 2; (void)state; assert_int_equal(two, 3); }
static void crashes(void **state) { (void)state; abort(); }
static void input(void *size) { check_say("%d bytes", *(int *)size); assert_that(*(int *)size < 9, "too large"); }
int main(int argc, char **argv)
{
    static const struct check_test tests[] = {CHECK(fails), CHECK(crashes)};
    int small = 8, large = 9;
    (void)argv;
    if (argc > 1)
        return check_case("a small one", input, &small) + check_case("a large one", input, &large);
    return check_run("f", tests);
}
END
cc -I. "$out/check.c" test/lib/check.c -o "$out/check"
is 'an assertion says its condition, a crash its test' \
    "$(test/lib/check.sh x "$out/check" | sed 's/check.c:[0-9]*/LINE/' | tr '\n' ';')" \
    'not ok x: f: fails: LINE: two == 3: 0x2, 0x3;not ok x: f: crashes: signal 6;'
is 'a test of an input has its name, and says why' \
    "$("$out/check" cases | sed 's/check.c:[0-9]*/LINE/' | tr '\n' ';')" \
    'ok a small one: 8 bytes;not ok a large one: LINE: too large: *(int *)size < 9;'

# Tests in Python: what they say, and the status of the program.
python() {
    {
        printf '%s\n' 'import sys' 'sys.path.insert(0, "test/lib")' 'from check import *' \
            'def fails(): must(1 > 2, "why")' "$1" 'finish()' | python3 - 2>&1 || echo failed
    } | tr '\n' ';'
}
is 'a test in Python passes' "$(python 'test("a", lambda: "two rows"); test("b", lambda: None)')" 'ok a: two rows;ok b;'
is 'a test in Python fails' "$(python 'test("a", fails); test("b", lambda: None)')" 'not ok a: why;ok b;failed;'
is 'tests in Python fail in their order' \
    "$(python 'tests_at_once([("a", fails), ("b", lambda: None), ("c", fails)])')" \
    'not ok a: why;ok b;not ok c: why;failed;'
is 'a fault in a test in Python fails it, and says where' \
    "$(python 'test("a", lambda: {}["key"]); test("b", lambda: None)' | sed 's/^#.*;not ok/#;not ok/')" \
    "#;not ok a: KeyError('key');ok b;failed;"

# Tests in shell.
in_shell() {
    # shellcheck disable=SC2016 # for sh
    printf '%s\n' 'log=$1' '. test/lib/tests.sh' "$@" 'echo "failed $failed"' >"$out/shell.sh"
    sh "$out/shell.sh" "$out/log" | grep -v '^# ' | tr '\n' ';'
}
is 'tests in shell pass' \
    "$(in_shell 'try a echo said' 'silent b true' 'none c ""' 'equal d "one two" "one two"' 'try e cd /' \
        'try f test -f Makefile')" \
    'ok a;ok b;ok c;ok d;ok e;ok f;failed 0;'
is 'tests in shell fail' \
    "$(in_shell 'try a sh -c "echo why; false"' 'try b false' 'silent c echo said' 'silent d false' \
        'none e such' 'equal f 1 2')" \
    "not ok a: why;not ok b: it fails and prints nothing;not ok c: said;not ok d: it fails and prints nothing;\
not ok e: such;not ok f: 1 instead of 2;failed 1;"
is 'T chooses tests in shell' "$(T=b in_shell 'try a true' 'none b ""' 'equal c 1 1')" 'ok b;failed 0;'

# Every suite of this tree is run by run.sh, whose status is that of its recipe, and README.md knows it.
if make -s list >"$out/list"; then echo 'ok make list'; else grep '^not ok' "$out/list"; fi
test/suites.sh list unknown >"$out/log" && echo 'not ok make list: it knows what is not there' ||
    echo 'ok make list notices'
suites=$(sed '/^not ok/d; s/ .*//' "$out/list")
# shellcheck disable=SC2086,SC2046  # words
make -n -j1 $(printf 'suite-%s ' $suites) >"$out/recipes" 2>&1
for suite in $suites; do
    grep -Eq "test/run.sh $suite [^|]*$" "$out/recipes" &&
        echo "ok suite-$suite: is run by test/run.sh" || echo "not ok suite-$suite: is not run by test/run.sh"
done

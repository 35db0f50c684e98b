#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# release_test.sh DIRECTORY: makes a release of a copy of this tree, and refuses those of broken copies.
set -u
cd "$(dirname "$0")/../../.." || exit 1
unset T MAKEFLAGS MFLAGS MAKELEVEL # what make runs here is no suite of the caller's
. test/lib/tests.sh
work=$PWD/$1
log=$work/log
rm -rf "$work"
mkdir -p "$work/tree"

tar -c --exclude=./build --exclude=./.git . | tar -x -C "$work/tree"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' port/rust/Cargo.toml)
git="git -C $work/tree -c user.name=sfu -c user.email=sfu@localhost"
mkdir "$work/tree/build"
cp build/installed-* "$work/tree/build" 2>/dev/null
ln -s "$(readlink -f build/tc)" "$work/tree/build/tc"
# Its own version is first, whatever is being written down here for the next one.
printf '# Changes\n\n## %s\n\nThe first.\n\n## 0.1.0\n\nThe last.\n' "$version" >"$work/tree/CHANGELOG.md"
$git init -q && $git add -A && $git commit -qm all

# release OUT TARGET...: make release, of the copy
release() {
    local out=$1
    shift
    make -s -C "$work/tree" release RELEASE="$work/$out" RELEASE_TESTS="$*"
}
good() {
    release good suite-print && cd "$work/good" && sha256sum --check --strict SHA256SUMS &&
        diff <(ls) <(printf '%s\n' NOTES.md SHA256SUMS "sfu-$version.tar.gz" sfu_asm.h sfu_cortexm.{c,h} \
            sfu_depot.c sfu_fast.c sfu_input.ld sfu_kernel.{c,h} sfu_own_types.h sfu_panic.{c,h} sfu_profile.{c,h} \
            sfu_repeat.{c,h} sfu_tables.ld) &&
        diff NOTES.md <(printf 'The first.\n\n') && ! grep -v ' sfu' SHA256SUMS &&
        [ "$(tar -tzf sfu-*.tar.gz | grep -c '/\.ci/run$\|/\.github/workflows/')" = 2 ] &&
        ! tar -tzf sfu-*.tar.gz | grep 'Cargo.lock\|__pycache__\|/build/'
}
# In the same second nothing but the time of a file may differ. The tests of the same archive have run.
again() { release again help && diff -r "$work/good" "$work/again"; }
tests_ran() { grep -q '^print: [1-9][0-9]* ok, 0 not ok' "$work/log.good"; }

# refused WORDS FILE SED: a release of the copy whose FILE has been changed, says WORDS, and leaves nothing to publish
refused() {
    $git reset -q --hard
    sed -i "$3" "$work/tree/$2"
    [ "$1" = "not committed" ] || $git commit -qam broken
    ! release bad suite-print && grep -q "$1" "$work/log" && [ ! -e "$work/bad/SHA256SUMS" ]
    local status=$?
    [ "$1" = "not committed" ] || $git reset -q --hard HEAD~
    $git reset -q --hard
    return $status
}
workflow() {
    /usr/bin/python3 - <<'END'
import yaml
with open(".github/workflows/check.yml", encoding="utf-8") as f:
    steps = yaml.safe_load(f)["jobs"]["check"]["steps"]
assert [step["run"] for step in steps if "run" in step][-1] == ".ci/run", steps
END
}

try "make release" good
cp "$work/log" "$work/log.good"
try "it runs the archive's own tests" tests_ran
try "the same bytes again" again
try "the crate's version" refused 'Cargo.toml has not the version of sfu.h' port/rust/Cargo.toml \
    's/^version = .*/version = "0.2.0"/'
try "the version of CHANGELOG.md" refused 'first version of CHANGELOG.md is not' CHANGELOG.md 's/^## .*/## 9.9.9/'
try "what is not committed" refused 'not committed' sfu.c '1s/^/\n/'
try "a test that fails" refused 'the archive fails its own tests' port/print/sfu_cycles.c \
    '1i #error broken'
try "a file that nobody wrote" refused 'CHANGELOG.md says nothing of' CHANGELOG.md '/first/d; /^$/d'
try "the workflow calls .ci/run" workflow

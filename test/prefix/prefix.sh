#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# prefix.sh OUT: with SFU_PREFIX every function has the other name and is otherwise the same; two copies link into one
# program, as C and as C++, and both walk.
set -u
out=$1
rm -rf "$out"
mkdir -p "$out"
files="sfu.c $(find port/print port/fast port/symbols -maxdepth 1 -name 'sfu_*.c' 2>/dev/null | tr '\n' ' ')"
flags="-std=gnu99 -O2 -ffreestanding -I. -Iarch $(printf ' -I%s' port/*/)"

# functions CPU OBJECT: the names that other files see.
functions() { "build/tc/$1/nm" -g --defined-only "$2" | awk '{ print $3 }' | sort; }

# renamed CPU COMPILER...: each function of each file is mine_ where it was sfu_; the code is the same, byte for byte.
renamed() {
    cpu=$1
    shift
    name=$*
    for file in $files; do
        object=$out/$(basename "$file" .c)
        # shellcheck disable=SC2086  # words
        if ! log=$("$@" $flags -c "$file" -o "$object.o" 2>&1 &&
            "$@" $flags -DSFU_PREFIX=mine_ -c "$file" -o "$object-mine.o" 2>&1); then
            echo "not ok $name, $file: $(echo "$log" | grep -m1 error)"
            continue
        fi
        functions "$cpu" "$object.o" | sed 's/^sfu_/mine_/' >"$object.wanted"
        functions "$cpu" "$object-mine.o" >"$object.got"
        for kind in "" -mine; do
            "build/tc/$cpu/objcopy" -O binary -j '.text*' -j '.rodata*' "$object$kind.o" "$object$kind.bin"
        done
        if ! grep -q '^mine_' "$object.got"; then
            echo "not ok $name, $file: no function"
        elif ! diff "$object.wanted" "$object.got" >"$object.diff"; then
            echo "not ok $name, $file: $(tr '\n' ' ' <"$object.diff")"
        elif "build/tc/$cpu/nm" "$object-mine.o" | grep -q ' sfu_'; then
            echo "not ok $name, $file: $("build/tc/$cpu/nm" "$object-mine.o" | grep ' sfu_' | tr '\n' ' ')"
        elif ! cmp -s "$object.bin" "$object-mine.bin"; then
            echo "not ok $name, $file: other code"
        else
            echo "ok $name, $file"
        fi
    done
}

# copies NAME COMPILER...: both copies in one program, which walks by each of them. COMPILER compiles what uses them.
copies() {
    name=$1
    shift
    objects=
    for kind in plain mine; do
        switches=
        [ $kind = plain ] || switches='-DSFU_PREFIX=mine_ -DSFU_OLDEST_VERSION=3'
        for file in sfu.c port/fast/sfu_fast.c port/print/sfu_print.c; do
            # shellcheck disable=SC2086  # words
            gcc $flags $switches -c "$file" -o "$out/$(basename "$file" .c)-$kind.o" || return
            objects="$objects $out/$(basename "$file" .c)-$kind.o"
        done
        # shellcheck disable=SC2086  # words
        "$@" $switches -O2 -Wall -Wextra -Werror -I. -Iport/fast -Iport/print -Itest/unit -Itest/prefix \
            -c test/prefix/walk.c -o "$out/walk-$kind.o" || return
        objects="$objects $out/walk-$kind.o"
    done >"$out/log" 2>&1
    # The builder of sections is a test's: one copy.
    # shellcheck disable=SC2086  # words
    if ! gcc -O2 -I. -Itest/unit -Itest/prefix $objects test/unit/build.c test/prefix/main.c -o "$out/two" \
        >>"$out/log" 2>&1; then
        echo "not ok two copies, $name: $(grep -m1 -E 'error|multiple|undefined' "$out/log")"
    elif ! said=$("$out/two"); then
        echo "not ok two copies, $name: $said"
    else
        echo "ok two copies, $name"
    fi
}

# Without the switch they do not link: else the test above would show nothing.
clash() {
    # shellcheck disable=SC2086  # words
    gcc $flags -c sfu.c -o "$out/again.o"
    if gcc -nostdlib -r "$out/again.o" "$out/sfu.o" -o "$out/clash.o" 2>/dev/null; then
        echo 'not ok two copies of one name clash: they do not'
    else
        echo 'ok two copies of one name clash'
    fi
}

renamed x86_64 gcc
renamed x86_64 clang
renamed aarch64 aarch64-linux-gnu-gcc
renamed aarch64 aarch64-linux-gnu-gcc -mbig-endian
renamed s390x s390x-linux-gnu-gcc
copies gcc gcc -std=c99
copies clang clang -std=c99
copies g++ g++ -std=c++11 -x c++
copies clang++ clang++ -std=c++11 -x c++
clash

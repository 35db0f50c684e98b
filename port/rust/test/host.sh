#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# host.sh DIRECTORY: the crate's own tests and the example of its manual, on this machine, by each rustc of the PATH;
# layout and advice of Rust's tools; the build script with other compilers; the crate as a package, and vendored.
# shellcheck disable=SC2317 # what said calls
set -u
mkdir -p "$1"
work=$(readlink -f "$1")
log=$work/log
. test/lib/tests.sh
cargo="--offline --target-dir=$work"
unset CC CFLAGS AR SFU_DIR

within() {
    cd "port/rust/$1" && shift && "$@"
}

# said NAME FOLDER COMMAND...: a test of what the command does in that folder of the port.
said() {
    said_name=$1
    shift
    try "$said_name" within "$@"
}

# The folders of the PATH with cargo and rustc, without links to the same.
compilers() {
    echo "$PATH" | tr ':' '\n' | while read -r folder; do
        [ -x "$folder/cargo" ] && [ -x "$folder/rustc" ] && echo "$("$folder/rustc" --version) $folder"
    done | awk '!seen[$2]++ { print $2, $NF }'
}

# The crate has the version of sfu.h.
version() {
    wanted=$(awk '$2 == "SFU_VERSION" { printf "%d.%d.%d", $3 / 10000, $3 / 100 % 100, $3 % 100 }' sfu.h)
    found=$(sed -n 's/^version = "\(.*\)"$/\1/p' port/rust/Cargo.toml)
    echo "the crate's version is $found, and that of sfu.h $wanted"
    [ "$found" = "$wanted" ]
}

# cargo_test DIRECTORY: there is a line "test result: ok. N passed" for each of these: the crate's file of tests, and
# the example of the manual.
cargo_test() {
    cargo test --offline "--target-dir=$1" >"$1.tests" || { cat "$1.tests" && return 1; }
    passed=$(sed -n 's/^test result: ok. \([0-9]*\) passed.*/\1/p' "$1.tests" | tr '\n' ' ')
    case $passed in
    *[1-9]*' '[1-9]*) ;;
    *) echo "passed: $passed" && return 1 ;;
    esac
}

# ---- the build script, by itself: as cargo runs it for a target, without that target's core library ----

script() {
    rustc --edition=2021 port/rust/build.rs -o "$work/script"
}

# script_for TARGET CPU MACHINE NAME=VALUE...: with these variables all objects are for MACHINE, as readelf says it.
script_for() {
    rm -rf "$work/out"
    mkdir "$work/out"
    endian=little
    case $1 in s390x* | aarch64_be*) endian=big ;; esac
    target=$1 cpu=$2 machine=$3
    shift 3
    env OUT_DIR="$work/out" CARGO_MANIFEST_DIR="$PWD/port/rust" TARGET="$target" HOST=x86_64-unknown-linux-gnu \
        CFLAGS=-O0 RUSTC=rustc CARGO_CFG_TARGET_ARCH="$cpu" CARGO_CFG_TARGET_ENDIAN="$endian" "$@" \
        "$work/script" || return 1
    objects=$(find "$work/out" -name '*.o' | wc -l)
    readelf -h "$work/out/libsfu.a" | grep -c "Machine: *$machine\$" >"$work/count"
    echo "$objects objects, of them for $machine: $(cat "$work/count")"
    [ "$objects" -ge 7 ] && [ "$(cat "$work/count")" = "$objects" ]
}

# refused WORDS COMMAND...: it fails, and says WORDS.
refused() {
    words=$1
    shift
    if "$@" >"$work/refused" 2>&1; then
        echo "succeeded"
        return 1
    fi
    cat "$work/refused"
    grep -q -- "$words" "$work/refused"
}

script_tests() {
    mkdir -p "$work/bin"
    # shellcheck disable=SC2016 # the script's own
    printf '#!/bin/sh\necho "$*" >>%s/cached\nexec "$@"\n' "$work" >"$work/bin/ccache"
    printf '#!/bin/sh\nexec gcc "$@"\n' >"$work/bin/my gcc"
    chmod +x "$work/bin/ccache" "$work/bin/my gcc"
    x=x86_64-unknown-linux-gnu
    said "build script" ../.. script
    for cpu in x86_64 aarch64 s390x; do
        case $cpu in
        x86_64) machine='Advanced Micro Devices X86-64' ;;
        aarch64) machine=AArch64 ;;
        *) machine='IBM S/390' ;;
        esac
        said "build script for $cpu" ../.. script_for $cpu-unknown-linux-gnu $cpu "$machine"
        said "build script for $cpu, CC=clang" ../.. script_for $cpu-my-kernel $cpu "$machine" CC=clang
    done
    said "build script for aarch64_be, CC=clang" ../.. \
        script_for aarch64_be-unknown-none aarch64 AArch64 CC=clang AR_aarch64_be_unknown_none=ar
    said "build script, a target of its own" ../.. script_for $x x86_64 AArch64 CC=clang \
        CFLAGS=--target=aarch64-linux-gnu CARGO_CFG_TARGET_ARCH=other
    said "build script for i686" ../.. script_for i686-unknown-linux-gnu x86 'Intel 80386'
    said "build script for i686, CC=clang" ../.. script_for i686-my-kernel x86 'Intel 80386' CC=clang
    said "build script for i686, a compiler of another CPU" ../.. refused 'set CC_i686_my_kernel to a compiler' \
        script_for i686-my-kernel x86 'Intel 80386' CC=gcc CFLAGS=-m64
    rm -f "$work/cached"
    said "build script, CC='ccache gcc'" ../.. \
        script_for $x x86_64 'Advanced Micro Devices X86-64' "CC=$work/bin/ccache gcc"
    said "build script, CC='ccache gcc' is run" ../.. grep -q '^gcc .*sfu_rust.c' "$work/cached"
    said "build script, CC='ccache clang' for s390x" ../.. \
        script_for s390x-unknown-linux-gnu s390x 'IBM S/390' "CC_s390x_unknown_linux_gnu=$work/bin/ccache clang"
    said "build script, blanks in the compiler's name" ../.. \
        script_for $x x86_64 'Advanced Micro Devices X86-64' "CC=$work/bin/my gcc"
    said "build script, an empty CC" ../.. script_for $x x86_64 'Advanced Micro Devices X86-64' CC=
    said "build script, a compiler of another CPU" ../.. refused 'set CC_aarch64_unknown_none to a compiler' \
        script_for aarch64-unknown-none aarch64 AArch64 CC=gcc CFLAGS=-DX
    said "build script, a compiler of the other byte order" ../.. refused 'another CPU or byte order' \
        script_for aarch64_be-unknown-none aarch64 AArch64 CC=aarch64-linux-gnu-gcc
    said "build script, SFU_DIR" ../.. script_for $x x86_64 'Advanced Micro Devices X86-64' "SFU_DIR=$PWD"
    said "build script, a SFU_DIR that is none" ../.. refused nowhere script_for $x x86_64 X SFU_DIR=/nowhere
}

# ---- the crate alone ----

# A package has all that it needs: cargo compiles it where it has unpacked it.
# shellcheck disable=SC2086 # words
package() {
    rm -rf "$work/package"
    cargo package $cargo --allow-dirty && tar -tzf "$work"/package/sfu-*.crate | sed 's,[^/]*/,,' >"$work/list" &&
        grep -qx c/arch/s390x/sfu_capture.h "$work/list" && grep -qx LICENSE "$work/list" &&
        ! grep '/test/\|\.mk$\|\.py$' "$work/list"
}

# Of a program whose dependency is a git repository, as public ones are. The repository is the tree as it is now.
vendored() {
    rm -rf "$work/repository" "$work/program"
    mkdir -p "$work/repository" "$work/program/src"
    tar -c --exclude=./build --exclude=./.git . | tar -x -C "$work/repository"
    git="git -c user.name=sfu -c user.email=sfu@localhost -C $work/repository"
    $git init -q && $git add -A && $git commit -q -m all || return 1
    cat >"$work/program/Cargo.toml" <<END
[package]
name = "program"
version = "0.0.0"
edition = "2021"
[dependencies]
sfu = { git = "file://$work/repository" }
[workspace]
END
    echo 'fn main() { print!("{}", sfu::Error::Stack) }' >"$work/program/src/main.rs"
    mkdir "$work/program/.cargo"
    (cd "$work/program" && CARGO_HOME=$work/home && export CARGO_HOME &&
        cargo vendor >.cargo/config.toml && rm -rf "$work/repository" "${CARGO_HOME:?}" &&
        cargo run --offline --target-dir="$work/program/target" | grep -qx 'unreadable stack')
}

said "the version is that of sfu.h" ../.. version

# shellcheck disable=SC2086  # words
compilers >"$work/compilers"
while read -r number folder; do
    old_path=$PATH
    PATH=$folder:$PATH
    said "cargo test, rustc $number" . cargo_test "$work/$number"
    PATH=$old_path
done <"$work/compilers"

# What follows is about Rust: the C code, which cargo test has compiled with the crate's own flags, need not be fast.
export CFLAGS=-O0
# shellcheck disable=SC2086  # words
{
    said "cargo doc" . env RUSTDOCFLAGS=-Dwarnings cargo doc $cargo --no-deps
    for folder in . example; do
        said "rustfmt, $folder" "$folder" cargo fmt --check
    done
    said "clippy, the crate" . cargo clippy $cargo --all-targets -- -D warnings
    said "clippy, the example" example cargo clippy $cargo -- -D warnings
}
script_tests
said "cargo package" . package
said "cargo vendor" ../.. vendored
exit $failed

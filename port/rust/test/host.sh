#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# host.sh DIRECTORY: the crate's own tests and the example of its manual, on this machine; layout and advice of Rust's
# tools.
set -u
mkdir -p "$1"
log=$(readlink -f "$1")/log
cargo="--offline --target-dir=$(readlink -f "$1")"
failed=0

# said NAME FOLDER COMMAND...: a result line, and what the command printed if it failed.
said() {
    name=$1
    folder=port/rust/$2
    shift 2
    if (cd "$folder" && "$@") >"$log" 2>&1; then
        echo "ok $name"
    else
        failed=1
        sed 's/^/# /' "$log"
        echo "not ok $name"
    fi
}

# shellcheck disable=SC2086  # words
{
    said "cargo test" . cargo test $cargo
    # Of each of these an own "test result: ok. N passed": the crate's file of tests, and the example of the manual.
    passed=$(sed -n 's/^test result: ok. \([0-9]*\) passed.*/\1/p' "$log" | tr '\n' ' ')
    case $passed in
    *[1-9]*' '[1-9]*) echo "ok they were run" ;;
    *) failed=1 && echo "not ok they were run: $passed" ;;
    esac
    said "cargo doc" . env RUSTDOCFLAGS=-Dwarnings cargo doc $cargo --no-deps
    for folder in . example; do
        said "rustfmt, $folder" "$folder" cargo fmt --check
    done
    said "clippy, the crate" . cargo clippy $cargo --all-targets -- -D warnings
    said "clippy, the example" example cargo clippy $cargo -- -D warnings
}
exit $failed

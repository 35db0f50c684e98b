# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
# shellcheck shell=sh disable=SC2034,SC2154 # failed, log
#
# Tests in shell, for scripts that read this by ".". A script sets `log`, a file for what commands print, and then has:
#
#   try NAME COMMAND...      passes if COMMAND succeeds; else the reason is the end of what it printed. A function runs
#                            in a shell of its own: where it goes, and what it sets, the next test does not see
#   silent NAME COMMAND...   passes if COMMAND succeeds and prints nothing
#   none NAME TEXT           passes if TEXT is empty; else TEXT is the reason
#   equal NAME FOUND WANTED  passes if FOUND is WANTED
#
# Each prints "ok NAME" or "not ok NAME: reason", and returns 0 in both cases; `failed` is 1 behind a test that failed.
# T in the environment, as it was when this was read, chooses tests: those whose names have it, or match it as a pattern
# of the shell. A script whose later tests need what earlier ones have made unsets T before, so that all run.
tests_chosen=${T-}
failed=0

chosen() {
    # shellcheck disable=SC2254 # a pattern
    case $1 in
    *"$tests_chosen"* | *$tests_chosen*) ;;
    *) false ;;
    esac
}

none() {
    chosen "$1" || return 0
    if [ -z "$2" ]; then
        echo "ok $1"
    else
        failed=1
        printf 'not ok %s: %s\n' "$1" "$(printf '%s' "$2" | tr '\n' ' ')"
    fi
}

equal() {
    none "$1" "$([ "$2" = "$3" ] || echo "$2 instead of $3")"
}

# What the command said that has just failed: all of it as comments, its end as the reason.
not_passed() {
    sed 's/^/# /' "$log"
    none "$1" "$(tail -n 3 "$log" | grep . || echo 'it fails and prints nothing')"
}

try() {
    try_name=$1
    shift
    chosen "$try_name" || return 0
    if ("$@") >"$log" 2>&1; then none "$try_name" ''; else not_passed "$try_name"; fi
}

silent() {
    try_name=$1
    shift
    chosen "$try_name" || return 0
    if ("$@") >"$log" 2>&1 && [ ! -s "$log" ]; then none "$try_name" ''; else not_passed "$try_name"; fi
}

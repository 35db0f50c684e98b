#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Makes sure that the Debian packages of the named groups are installed.
#
#   install.sh [-n] [GROUP...]     groups are those of the file `packages`; none named = all
#
# As root on a system with apt the missing ones are installed, and named first. Anyone else, and
# -n, gets the command to run and status 1. Nothing missing: status 0, silently, in milliseconds.
# Status 2 is a wrong argument.
#
# SFU_INSTALL=no skips everything, for systems whose tools come from elsewhere.

set -eu
LC_ALL=C
export LC_ALL

here=.
case $0 in */*) here=${0%/*} ;; esac
list=$here/packages

dry=
if [ "${1-}" = -n ]; then
    dry=1
    shift
fi
# A group's file that is newer than the list and than dpkg's own: nothing of the group was missing, and nothing has
# changed. It is asked for thousands of times, in many combinations of groups: no program is started for that.
stamps=$here/../../../build
nothing_changed() {
    for g; do
        # shellcheck disable=SC3013  # each sh that there is has -nt
        { [ "$stamps/installed-$g" -nt "$list" ] && [ "$stamps/installed-$g" -nt /var/lib/dpkg/status ]; } || return 1
    done
    [ $# -gt 0 ]
}
if nothing_changed "$@"; then exit 0; fi

say() { printf 'install.sh: %s\n' "$*" >&2; }

# Prints the packages of the groups in "$@", each once, in the file's order.
wanted() {
    awk -v groups="$*" '
        BEGIN { n = split(groups, g, " "); for (i = 1; i <= n; i++) want[g[i]] = 1 }
        { sub(/#.*/, "") }
        FNR == NR { if ($2 == "=" && ($1 in want)) for (i = 3; i <= NF; i++) want[$i] = 1; next }
        NF == 2 && ($1 in want) && !seen[$2]++ { print $2 }
    ' "$list" "$list"
}

groups() { awk '{ sub(/#.*/, "") } (NF == 2 || $2 == "=") && !seen[$1]++ { print $1 }' "$list"; }

# Prints those of "$@" that are not installed for this machine's own architecture.
missing() {
    arch=$(dpkg --print-architecture)
    {
        # Unknown names make dpkg-query fail after it has printed the others.
        # shellcheck disable=SC2016  # the braces are dpkg-query's
        dpkg-query -W -f '${db:Status-Status} ${Package} ${Architecture}\n' "$@" 2>/dev/null || :
        echo --
        printf '%s\n' "$@"
    } | awk -v arch="$arch" '
        $0 == "--" { asked = 1; next }
        !asked && $1 == "installed" && ($3 == arch || $3 == "all") { have[$2] = 1 }
        asked && !($0 in have) { print }
    '
}

# Prints those of "$@" that apt has, which takes most of a second however many there are.
available() { apt-cache show --no-all-versions "$@" 2>/dev/null | sed -n 's/^Package: //p' | sort -u; }

# Replaces each "a|b" of "$@" by the one that counts here. What is installed, apt has.
resolve() {
    firsts=
    for p in "$@"; do
        case $p in
        *'|'*) firsts="$firsts ${p%%|*}" ;;
        esac
    done
    # shellcheck disable=SC2086 # words
    absent=${firsts:+$(missing $firsts)}
    # shellcheck disable=SC2086
    there=${absent:+$(available $absent)}
    {
        printf '%s\n' "$absent" -- "$there" --
        printf '%s\n' "$@"
    } | awk -F'|' '
        $0 == "--" { part++; next }
        part == 0 { absent[$0] = 1; next }
        part == 1 { delete absent[$0]; next }
        NF == 2 { print $1 in absent ? $2 : $1; next }
        { print }
    '
}

# A source that cannot be fetched must not stop what the others can supply, so this never fails.
# The retry accepts an archive copy whose Release file has passed its date; its signature is
# checked all the same.
update() {
    say "apt-get update"
    if log=$(apt-get update 2>&1); then return; fi
    case $log in
    *'is expired (invalid since'*)
        say "a Release file is past its date: updating without Check-Valid-Until"
        if log=$(apt-get -o Acquire::Check-Valid-Until=false update 2>&1); then return; fi
        ;;
    esac
    printf '%s\n' "$log" | grep '^[EW]:' >&2 || :
    say "apt-get update had errors; going on with what there is"
}

# A machine that loses its power meanwhile is installed anew: dpkg need not wait for the disk at each file.
apt_install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o Dpkg::Options::=--force-unsafe-io \
        -o DPkg::Lock::Timeout=900 -o Dpkg::Use-Pty=0 "$@" >/dev/null
}

all_available() { [ "$(available "$@")" = "$(printf '%s\n' "$@" | sort -u)" ]; }

# shellcheck disable=SC2046  # words
[ $# -gt 0 ] || set -- $(groups)
asked=$*
for g in "$@"; do
    if ! groups | grep -qx -e "$g"; then
        say "no group '$g' in $list; there are:" "$(groups | tr '\n' ' ')"
        exit 2
    fi
done
[ "${SFU_INSTALL-}" != no ] || exit 0

nothing_missing() {
    mkdir -p "$stamps"
    for g in $asked; do : >"$stamps/installed-$g"; done
    exit 0
}
# shellcheck disable=SC2046
set -- $(wanted "$@")

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "this needs the tools in these Debian packages:" "$*"
    say "no apt here: install your system's equivalents, then set SFU_INSTALL=no"
    exit 1
fi

names=$(resolve "$@")
# shellcheck disable=SC2086
need=$(missing $names)
[ -n "$need" ] || nothing_missing

if [ -n "$dry" ] || [ "$(id -u)" != 0 ]; then
    say "packages are missing. As root, run:"
    # shellcheck disable=SC2086
    echo "apt-get update && apt-get install -y --no-install-recommends" $need >&2
    exit 1
fi

# Two makes at once: the second waits, and then finds nothing to do.
exec 9<"$list"
flock 9
updated=
# shellcheck disable=SC2086
if ! all_available $need; then
    update
    updated=1
    names=$(resolve "$@")
fi
# shellcheck disable=SC2086
need=$(missing $names)
[ -n "$need" ] || nothing_missing
# shellcheck disable=SC2086
say "installing for $asked:" $need
# shellcheck disable=SC2086
if ! apt_install $need; then
    [ -z "$updated" ] || exit 1
    update
    # shellcheck disable=SC2086
    apt_install $need
fi

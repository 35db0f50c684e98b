#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# fresh.sh [COMMAND...]: runs a command, by default .ci/run, on a fresh machine: in a Debian 12 of its own that has a C
# compiler, make and no more, in a copy of what is committed. Needs root and the package debootstrap. The system is in
# build/fresh, and made anew each time; /proc and /dev are mounted there as long as the command runs.
#
# SFU_DEBIAN_MIRROR   default http://deb.debian.org/debian
set -eu
mirror=${SFU_DEBIAN_MIRROR:-http://deb.debian.org/debian}
root=$PWD/build/fresh

[ -z "${SFU_FRESH_MOUNTS-}" ] || {
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        sh -c 'cd /root/sfu && exec "$@"' sh "$@"
}

[ $# -gt 0 ] || set -- .ci/run
rm -rf --one-file-system "$root"
mkdir -p "$root"
debootstrap --variant=minbase --include=gcc,libc6-dev,make bookworm "$root" "$mirror" >"$root.log" 2>&1 || {
    tail -n 5 "$root.log" >&2
    exit 1
}
cp /etc/resolv.conf /etc/hosts "$root/etc/"
mkdir "$root/root/sfu"
git archive HEAD | tar -x -C "$root/root/sfu"
SFU_FRESH_MOUNTS=1 unshare --mount --pid --fork "$0" "$@"

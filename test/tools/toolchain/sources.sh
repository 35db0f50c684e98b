#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Fetches sources that the tests compile for other machines, and prints the directory they are in:
#
#   SRC=$(test/tools/toolchain/sources.sh)
#   $SRC/lua5.4/src/*.c
#   $SRC/zlib/*.c
#   $SRC/sqlite3/sqlite3.c sqlite3.h      the amalgamation, made from the source package by its own tools
#   $SRC/cmocka/src/cmocka.c
#
# or, with the argument "kernels", freestanding programs:
#
#   $SRC/u-boot                           as unpacked
#   $SRC/s390-ccw                         the firmware for s390x that is in QEMU's sources
#
# or, with the argument "firmware":
#
#   $SRC/arm-trusted-firmware             as unpacked
#
# or, with the argument "supervisor":
#
#   $SRC/opensbi                          upstream's tarball in Debian 13, without Debian's patches
#
# or, with the argument "memtest":
#
#   $SRC/memtest86+                       upstream's tarball in Debian 13, without Debian's patches
#
# or, with the argument "hypervisor":
#
#   $SRC/xen                              what the hypervisor itself is made of
#
# What is compiled of them is the same until a compiler, an assembler or a flag is another, and can be kept beside them:
#
#   ... | sources.sh kept DIR             empties DIR, and fills it with what was kept for the text on standard input,
#                                         all that it depends on; fails if nothing was
#   sources.sh keep DIR                   keeps the files in DIR, for the text that `kept` had
#
# What was not used for a month is removed. SFU_KEPT=no: nothing was kept.
#
# They are Debian's source packages with Debian's patches applied: see apt.sh. A second run finds what the first one
# left; two at once wait for each other.
#
# SFU_TOOLCHAIN       the directory SRC is in, as src or kernels; default ${XDG_CACHE_HOME:-$HOME/.cache}/sfu/toolchain
# SFU_DEBIAN_MIRROR   default http://deb.debian.org/debian

set -eu
LC_ALL=C
export LC_ALL
umask 022

# To be raised when what is written below SRC changes.
layout=2
suite=bookworm
group=${1:-src}
case $group in
src) packages='lua5.4 zlib sqlite3 cmocka' ;;
kernels) packages='u-boot qemu' ;;
firmware) packages='arm-trusted-firmware' ;;
supervisor) packages='opensbi' suite=trixie ;;
memtest) packages='memtest86+' suite=trixie ;;
hypervisor) packages='xen' ;;
kept | keep) packages='' ;;
*) echo "sources.sh: no group $group" >&2 && exit 2 ;;
esac

tc=${SFU_TOOLCHAIN:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/sfu/toolchain}
case $tc in
/*) ;;
*) tc=$PWD/$tc ;;
esac
src=$tc/$group
work=

say() { printf 'sources.sh: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}
cleanup() { [ -z "$work" ] || rm -rf "$work"; }
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

case $group in
kept)
    key=$(sha256sum)
    rm -rf "$2"
    mkdir -p "$2"
    echo "${key%% *}" >"$2/key"
    [ "${SFU_KEPT-}" != no ] && touch "$tc/kept/${key%% *}/key" 2>/dev/null && cp "$tc/kept/${key%% *}"/* "$2"
    exit
    ;;
keep)
    mkdir -p "$tc/kept"
    find "$tc/kept" -mindepth 2 -name key -mtime +30 | while read -r old; do rm -rf "${old%/key}"; done
    work=$(mktemp -d "$tc/kept/new.XXXXXX")
    cp "$2"/* "$work"
    mv -T "$work" "$tc/kept/$(cat "$2/key")" 2>/dev/null || : # another was faster
    exit 0
    ;;
esac

# shellcheck source=test/tools/toolchain/apt.sh
. "$(dirname "$0")/apt.sh"

ready() { [ "$(cat "$src/version" 2>/dev/null)" = "sfu sources, layout $layout, $suite" ]; }

# Leaves the unpacked packages in $work/src. Apt has checked the files against the signed lists, so that dpkg-source
# needs no keys of Debian's developers.
fetch() {
    command -v dpkg-source >/dev/null || die "this needs dpkg-source: install Debian's package dpkg-dev"
    say "fetching from Debian $suite: $packages"
    apt_setup deb-src "$suite"
    apt_lists "$suite"
    mkdir "$work/src" "$work/download"
    case $group in
    memtest | supervisor)
        fetch_tarball "$packages"
        return
        ;;
    esac
    # shellcheck disable=SC2086  # words
    (cd "$work/download" && private_apt --download-only source $packages) || apt_failed "cannot fetch the sources"
    for package in $packages; do
        dpkg-source --no-check --extract "$work/download/${package}_"*.dsc "$work/src/$package" >"$work/log" 2>&1 ||
            apt_failed "cannot unpack $package"
    done
    rm -f "$work/src"/*.tar.*
}

# fetch_tarball PACKAGE: upstream's part alone. Apt has checked it, too.
fetch_tarball() {
    (cd "$work/download" && private_apt --download-only --tar-only source "$1") || apt_failed "cannot fetch the source"
    mkdir "$work/src/$1"
    tar -C "$work/src/$1" --strip-components=1 -xf "$work/download/$1"_*.orig.tar.* || die "cannot unpack $1"
}

# What Debian's build of Lua writes; the directory of C modules is of no interest here.
complete_lua() {
    echo '#define DEB_HOST_MULTIARCH "."' >"$work/src/lua5.4/src/lua5.4-deb-multiarch.h"
}

# sqlite's package has no amalgamation: it is generated by programs of its own and by Tcl.
amalgamate() {
    command -v tclsh >/dev/null || die "this needs tclsh: install Debian's package tcl"
    cd "$work/src/sqlite3"
    make -f Makefile.linux-gcc TOP=. BCC=cc TCC=cc sqlite3.c sqlite3.h >"$work/log" 2>&1 ||
        apt_failed "cannot generate sqlite3.c"
    cd "$OLDPWD"
}

# Of QEMU's sources only the firmware is needed.
cut_qemu() {
    mv "$work/src/qemu/pc-bios/s390-ccw" "$work/src/s390-ccw"
    rm -rf "$work/src/qemu"
}

# Of Xen's sources what is not the hypervisor is not needed.
cut_xen() {
    mv "$work/src/xen" "$work/all"
    mkdir "$work/src/xen"
    mv "$work/all/xen" "$work/all/config" "$work/all/Config.mk" "$work/src/xen"
}

provide() {
    mkdir -p "$tc/store"
    exec 9>"$tc/store/lock-$group"
    if ! flock -n 9; then
        say "waiting for another sources.sh"
        flock 9
    fi
    if ! ready; then
        work=$(mktemp -d "$tc/store/$group.XXXXXX")
        fetch
        case $group in
        src)
            complete_lua
            amalgamate
            ;;
        kernels) cut_qemu ;;
        hypervisor) cut_xen ;;
        esac
        rm -rf "$src"
        mv "$work/src" "$src"
        echo "sfu sources, layout $layout, $suite" >"$src/version"
    fi
    exec 9>&-
}

ready || provide
printf '%s\n' "$src"

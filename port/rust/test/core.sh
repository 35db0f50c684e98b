#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# core.sh CPU: prints the folder of Rust's core library for aarch64 or s390x, of the Debian package of that architecture
# whose version is that of the rustc that is installed. It is unpacked into the cache of test/tools/toolchain, not
# installed, and was signed by Debian (apt.sh).
set -eu
LC_ALL=C
export LC_ALL
umask 022
cpu=$1
work=

say() { printf 'core.sh: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}
trap '[ -z "$work" ] || rm -rf "$work"' EXIT

case $cpu in
aarch64) architecture=arm64 ;;
s390x) architecture=s390x ;;
*) die "not for $cpu" ;;
esac
version=$(dpkg-query -W -f '${Version}' libstd-rust-dev)
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
cache=${SFU_TOOLCHAIN:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/sfu/toolchain}
case $cache in
/*) ;;
*) cache=$PWD/$cache ;;
esac
folder=$cache/rust/$version/$cpu

# fetch: into $work/core, and from there in one step.
fetch() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/sfu-core.XXXXXX")
    # shellcheck source=test/tools/toolchain/apt.sh
    . test/tools/toolchain/apt.sh
    say "fetching from Debian $suite: libstd-rust-dev:$architecture"
    apt_setup deb "$suite"
    echo "APT::Architecture \"$architecture\"; #clear APT::Architectures;" >>"$work/apt.conf"
    echo "APT::Architectures { \"$architecture\"; };" >>"$work/apt.conf"
    apt_lists "$suite"
    home=$PWD
    cd "$work"
    private_apt download "libstd-rust-dev=$version" || apt_failed "no core library of rustc's version, $version"
    cd "$home"
    mkdir -p "$work/unpacked" "${folder%/*}"
    dpkg-deb --fsys-tarfile "$work"/libstd-rust-dev_*.deb |
        tar -x -C "$work/unpacked" --no-same-owner --wildcards --strip-components=6 './*/lib/libcore-*.rlib' \
            './*/lib/libcompiler_builtins-*.rlib' './*/lib/librustc_std_workspace_core-*.rlib' -f -
    rm -rf "$folder.new"
    cp -r "$work/unpacked" "$folder.new"
    mv -T "$folder.new" "$folder"
}

mkdir -p "${folder%/*}"
exec 9>"${folder%/*}/lock"
flock 9
[ -d "$folder" ] || fetch
echo "$folder"

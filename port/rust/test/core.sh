#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# core.sh CPU: prints the folder of Rust's core library for aarch64, s390x or i386, of the Debian package of that
# architecture whose version is that of the rustc that is installed; for riscv64 and riscv32, which Debian has none for,
# compiled of the package rust-src, with unwind tables. It is unpacked into the cache of test/tools/toolchain, not
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
aarch64) architecture=arm64 target='' ;;
s390x) architecture=s390x target='' ;;
i386) architecture=i386 target='' ;;
riscv64) architecture='' target=riscv64gc-unknown-none-elf ;;
riscv32) architecture='' target=riscv32imac-unknown-none-elf ;;
*) die "not for $cpu" ;;
esac
version=$(dpkg-query -W -f '${Version}' libstd-rust-dev)
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
cache=${SFU_TOOLCHAIN:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/sfu/toolchain}
case $cache in
/*) ;;
*) cache=$PWD/$cache ;;
esac
folder=$cache/rust/$version/$cpu${target:+-tables}

# fetch: into $work/core, and from there in one step.
fetch() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/sfu-core.XXXXXX")
    # shellcheck source=test/tools/toolchain/apt.sh
    . test/tools/toolchain/apt.sh
    [ -n "$architecture" ] || { compile_core && return; }
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

# compile_core: the same of its source. Of compiler_builtins, which that does not have, nothing is needed but the name.
compile_core() {
    say "fetching from Debian $suite: rust-src, and compiling core for $target"
    apt_setup deb "$suite"
    apt_lists "$suite"
    home=$PWD
    cd "$work"
    private_apt download "rust-src=$version" || apt_failed "no source of rustc's version, $version"
    cd "$home"
    mkdir -p "$work/unpacked" "$work/made"
    dpkg-deb --fsys-tarfile "$work"/rust-src_*.deb |
        tar -x -C "$work/unpacked" --no-same-owner --wildcards './usr/src/rustc-*/library/core' \
            './usr/src/rustc-*/library/portable-simd' './usr/src/rustc-*/library/stdarch/crates/core_arch' -f -
    printf '#![feature(compiler_builtins)]\n#![compiler_builtins]\n#![no_std]\n' >"$work/builtins.rs"
    export RUSTC_BOOTSTRAP=1
    rustc --edition=2021 "--target=$target" --crate-name=core --crate-type=rlib -Copt-level=1 -Cpanic=abort -Awarnings \
        -Cforce-unwind-tables=yes "$work"/unpacked/usr/src/rustc-*/library/core/src/lib.rs \
        -o "$work/made/libcore.rlib" >&2
    rustc --edition=2021 "--target=$target" --crate-name=compiler_builtins --crate-type=rlib -L "$work/made" \
        "$work/builtins.rs" -o "$work/made/libcompiler_builtins.rlib" >&2
    rm -rf "$folder.new"
    cp -r "$work/made" "$folder.new"
    mv -T "$folder.new" "$folder"
}

mkdir -p "${folder%/*}"
exec 9>"${folder%/*}/lock"
flock 9
[ -d "$folder" ] || fetch
echo "$folder"

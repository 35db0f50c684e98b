#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Finds or fetches tools that this machine may lack, and prints the directory TC they are in.
#
#   toolchain.sh [PART...]      parts, default v3:
#
#   v3     TC/CPU/TOOL          binutils that emit SFrame V3: as ld objdump readelf nm ...
#   v2     TC/v2/CPU/TOOL       the same for V2
#   v1     TC/v1/CPU/TOOL       the same for V1
#   gcc16  TC/gcc16/CPU/gcc     gcc 16 (and g++) with its own libc; uses the as and ld of v3
#   riscv  TC/riscv/riscv64/gcc gcc 16 (and g++) for RISC-V, of 64 and 32 bits, with the as, ld and libc that it was
#                               built for
#   cbmc   TC/cbmc/cbmc         the model checker, and goto-cc, goto-instrument, ...
#   chains TC/chains/TOOL       the newest clang (TOOL: clang-N), lld (ld.lld-N) and mold, snapshots included
#          TC/chains/released/aarch64/TOOL
#                              released binutils, where v3 has a snapshot. Debian has none from 2.46 on for other CPUs
#   herd   TC/herd/herd7        simulates programs of a few instructions under the memory model of a CPU or of C
#   peers  TC/peers/root        a newest libc, and other unwinders, to be compared with: libgcc, libunwind, libsframe;
#          TC/peers/llvm        LLVM's libunwind. For this machine's CPU only. What Debian lacks is absent.
#
# CPU is x86_64, aarch64 (either byte order) or s390x. No gas emits V1 for s390x, and no released
# one V2: those directories are absent. Use them as in `gcc -B"$TC/x86_64/" -Wa,--gsframe`.
# TC/version (and TC/PART/version) says which version was found, and where.
#
# What the system itself has is used, through links. Otherwise Debian's packages are unpacked
# (never installed) below TC and run with the libc they were built for: see apt.sh. A second run
# finds what the first one left; two at once wait for each other.
#
# SFU_TOOLCHAIN       the directory; default ${XDG_CACHE_HOME:-$HOME/.cache}/sfu/toolchain
# SFU_DEBIAN_MIRROR   default http://deb.debian.org/debian; for a fixed day,
#                     http://snapshot.debian.org/archive/debian/20261101T000000Z

set -eu
LC_ALL=C
export LC_ALL
umask 022

# To be raised when what is written below TC changes in shape: older trees are then replaced.
layout=1

tc=${SFU_TOOLCHAIN:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/sfu/toolchain}

work=       # apt's private directory
fresh=      # a tree below TC that is not published yet

say() { printf 'toolchain.sh: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

cleanup() {
    [ -z "$work" ] || rm -rf "$work"
    [ -z "$fresh" ] || rm -rf "$fresh"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# shellcheck source=test/tools/toolchain/apt.sh
. "$(dirname "$0")/apt.sh"

# ---- what each part is ----

debian_cpu() { echo "$1" | tr _ -; }

part_suite() {
    case $1 in
    v3 | gcc16 | riscv | herd | peers) echo forky ;;
    chains) echo sid experimental ;;
    v2 | cbmc) echo trixie ;;
    v1) echo bookworm ;;
    esac
}

part_cpus() {
    case $1 in
    v3 | gcc16) echo x86_64 aarch64 s390x ;;
    riscv) echo riscv64 ;;
    v2 | v1) echo x86_64 aarch64 ;;
    esac
}

libraries() { echo "usr/lib/$(uname -m)-linux-gnu"; }

# The programs below TC/PART without which the part is not there.
part_programs() {
    for cpu in $(part_cpus "$1"); do
        case $1 in
        v?) echo "$cpu/as" "$cpu/ld" ;;
        gcc16 | riscv) echo "$cpu/gcc" ;;
        esac
    done
    case $1 in
    cbmc) echo cbmc ;;
    chains) echo mold released/aarch64/as ;;
    herd) echo herd7 ;;
    peers) echo "root/$(libraries)/libc.so.6" ;;
    esac
}

part_header() { printf '# sfu toolchain, layout %s, %s, in %s\n' "$layout" "$1" "$tc"; }

# The path is in the header because it is in the wrappers too: a moved tree is not a valid one.
ready() {
    [ -r "$tc/$1/version" ] || return 1
    read -r line <"$tc/$1/version" || return 1
    [ "$line" = "$(part_header "$1")" ] || return 1
    for program in $(part_programs "$1"); do
        [ -x "$tc/$1/$program" ] || return 1
    done
}

# ---- what an assembler emits ----

# Prints the version byte of the section that PREFIXas makes, or 0 if it makes none.
sframe_version() {
    if probe=$(mktemp -d "${TMPDIR:-/tmp}/sfu-probe.XXXXXX"); then
        printf '.text\nf: .cfi_startproc\n.skip 4\n.cfi_endproc\n' >"$probe/f.s"
        if "$1as" --gsframe -o "$probe/f.o" "$probe/f.s" 2>/dev/null &&
            "$1objcopy" -O binary -j .sframe "$probe/f.o" "$probe/f.bin" 2>/dev/null; then
            byte=$(od -An -tu1 -j2 -N1 "$probe/f.bin" | tr -d ' ')
        fi
        rm -rf "$probe"
    fi
    echo "${byte:-0}"
    byte=
}

as_version() { "$1as" --version | sed -n '1s/.* //p'; }

# Prints the prefix of the system's tools for a CPU if they emit the version.
system_prefix() {
    for prefix in "$1-linux-gnu-" ''; do
        [ -n "$prefix" ] || [ "$(uname -m)" = "$1" ] || continue
        path=$(command -v "${prefix}as") || continue
        prefix=${path%as}
        if [ "$(sframe_version "$prefix")" = "$2" ]; then
            printf '%s\n' "$prefix"
            return
        fi
    done
}

# ---- fetching ----

# Declares packages installed, so that apt does not fetch what nothing here needs.
pretend() {
    for p in "$@"; do
        case $p in
        *-cross) arch=all ;;
        *) arch=$(dpkg --print-architecture) ;;
        esac
        printf 'Package: %s\nStatus: install ok installed\nVersion: 99:0\n' "$p"
        printf 'Architecture: %s\nMaintainer: none\nDescription: none\n\n' "$arch"
    done >>"$work/status"
}

fetch_begin() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/sfu-toolchain.XXXXXX")
    apt_setup deb "$1"
    apt_lists "$1"
}

# Prints those packages that there are of this name (a regular expression), the newest last.
named() {
    APT_CONFIG=$work/apt.conf apt-cache search --names-only "^$1\$" | sed 's/ .*//' | sort -V
}

# fetch_packages ROOT PACKAGE...: unpacks packages and all they depend on in ROOT, but for the packages in $without and
# the files that match $needless.
fetch_packages() {
    root=$1
    shift
    say "fetching from Debian $suite: $*"
    # No package being installed, apt resolves everything down to libc from this one release.
    # shellcheck disable=SC2086  # words
    pretend $without
    private_apt --download-only install "$@" || apt_failed "cannot fetch the packages"
    mkdir -p "$root"
    for deb in "$work"/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$deb" |
            tar -x -C "$root" --no-same-owner --exclude="$needless" --exclude='./etc/*' \
                --exclude='lib*san*' --exclude='*-lto-dump*' --exclude='*-gcov-*' -f -
    done
}

fetch_end() {
    rm -rf "$work"
    work=
}

# fetch SUITE ROOT PACKAGE...
fetch() {
    suite=$1
    shift
    fetch_begin "$suite"
    fetch_packages "$@"
    fetch_end
}

# ---- running what was fetched ----

# wrapper FILE ROOT PROGRAM [NAME]: writes FILE, which runs PROGRAM with the libc in ROOT. NAME, by
# default PROGRAM's, is given to a hard link to the loader, because ld takes the name in its messages
# from /proc/self/exe.
wrapper() {
    for loader in "$2"/lib/*-linux-gnu*/ld-linux*.so.? "$2"/usr/lib/*-linux-gnu*/ld-linux*.so.?; do
        [ ! -f "$loader" ] || break
    done
    lib=${loader%/*}
    multiarch=${lib##*/}
    named=$2/run/${4:-${3##*/}}
    mkdir -p "$2/run"
    [ -e "$named" ] || ln "$loader" "$named" 2>/dev/null || cp "$loader" "$named"
    cat >"$1" <<END
#!/bin/sh
exec '$named' --inhibit-cache --argv0 "\$0" \\
    --library-path '$2/usr/lib/$multiarch:$2/lib/$multiarch:$2/usr/lib' \\
    '$3' "\$@"
END
    chmod 755 "$1"
}

is_program() {
    case $1 in
    *.so*) return 1 ;;
    esac
    [ -f "$1" ] && [ ! -L "$1" ] && [ -x "$1" ] && head -c 4 "$1" | grep -q ELF
}

# wrap_in_place ROOT FILE...: puts wrappers where the programs are, which others run by path.
wrap_in_place() {
    root=$1
    shift
    for program in "$@"; do
        is_program "$program" || continue
        mv "$program" "$program.elf"
        wrapper "$program" "$root" "$program.elf" "${program##*/}"
    done
}

# ---- binutils ----

# fresh/CPU/TOOL as links to the system's tools. Cross tools and native ones have other names.
link_system() {
    mkdir "$fresh/$1"
    for tool in as ld ld.bfd objdump readelf nm objcopy strip ar ranlib addr2line size strings \
        c++filt elfedit; do
        [ ! -x "$2$tool" ] || ln -s "$2$tool" "$fresh/$1/$tool"
    done
}

# fresh/CPU/TOOL as wrappers of the unpacked tools.
wrap_fetched() {
    mkdir "$fresh/$1"
    for program in "$fresh/root/usr/bin/$1-linux-gnu-"*; do
        wrapper "$fresh/$1/${program##*/"$1-linux-gnu-"}" "$fresh/root" "$program"
    done
}

build_binutils() {
    want=${1#v}
    suite=$(part_suite "$1")
    fetch_for=
    for cpu in $(part_cpus "$1"); do
        prefix=$(system_prefix "$cpu" "$want")
        if [ -n "$prefix" ]; then
            link_system "$cpu" "$prefix"
            echo "$cpu $(as_version "$prefix") system" >>"$fresh/found"
        else
            fetch_for="$fetch_for $cpu"
        fi
    done
    [ -n "$fetch_for" ] || return 0
    packages=
    for cpu in $fetch_for; do
        packages="$packages binutils-$(debian_cpu "$cpu")-linux-gnu"
    done
    # shellcheck disable=SC2086  # words
    fetch "$suite" "$fresh/root" $packages
    for cpu in $fetch_for; do
        wrap_fetched "$cpu"
        got=$(sframe_version "$fresh/$cpu/")
        [ "$got" = "$want" ] ||
            die "as of Debian $suite for $cpu emits SFrame version $got, not $want;" \
                "SFU_DEBIAN_MIRROR can name an older copy of the archive"
        echo "$cpu $(as_version "$fresh/$cpu/") debian-$suite" >>"$fresh/found"
    done
}

# ---- gcc 16 ----

libc_dev_package() {
    case $1 in
    x86_64) arch=amd64 ;;
    aarch64) arch=arm64 ;;
    s390x) arch=s390x ;;
    riscv64) arch=riscv64 ;;
    esac
    if [ "$(dpkg --print-architecture)" = "$arch" ]; then
        echo libc6-dev
    else
        echo "libc6-dev-$arch-cross"
    fi
}

# driver CPU LANGUAGE-DRIVER BINUTILS: -B comes last so that the caller's own -B wins.
driver() {
    cat >"$fresh/$1/$2" <<END
#!/bin/sh
exec '$fresh/root/usr/bin/$1-linux-gnu-$2-16' --sysroot='$fresh/root' "\$@" -B'$3/'
END
    chmod 755 "$fresh/$1/$2"
}

# wrap_gcc CPU BINUTILS
wrap_gcc() {
    wrap_in_place "$fresh/root" "$fresh/root/usr/bin/$1-linux-gnu-"*-16 \
        "$fresh/root/usr/libexec/gcc"*"/$1-linux-gnu/16/"*
    for name in gcc g++; do
        driver "$1" "$name" "$2"
    done
    v=$("$fresh/$1/gcc" -dumpfullversion) || die "gcc for $1 does not run"
    echo "$1 $v debian-$suite" >>"$fresh/found"
}

build_gcc16() {
    suite=$(part_suite gcc16)
    packages=
    fetch_for=
    for cpu in $(part_cpus gcc16); do
        mkdir "$fresh/$cpu"
        path=$(command -v "$cpu-linux-gnu-gcc-16" || :)
        if [ -n "$path" ]; then
            ln -s "$path" "$fresh/$cpu/gcc"
            path=$(command -v "$cpu-linux-gnu-g++-16" || :)
            [ -z "$path" ] || ln -s "$path" "$fresh/$cpu/g++"
            echo "$cpu $("$fresh/$cpu/gcc" -dumpfullversion) system" >>"$fresh/found"
        else
            fetch_for="$fetch_for $cpu"
            packages="$packages g++-16-$(debian_cpu "$cpu")-linux-gnu $(libc_dev_package "$cpu")"
        fi
    done
    [ -n "$fetch_for" ] || return 0
    without="libcc1-0 binutils-x86-64-linux-gnu binutils-aarch64-linux-gnu"
    without="$without binutils-s390x-linux-gnu"
    for lib in libasan8 libhwasan0 liblsan0 libtsan2 libubsan1; do
        without="$without $lib $lib-amd64-cross $lib-arm64-cross $lib-s390x-cross"
    done
    # shellcheck disable=SC2086  # words
    fetch "$suite" "$fresh/root" $packages
    make_sysroot
    for cpu in $fetch_for; do
        wrap_gcc "$cpu" "$tc/$cpu"
    done
}

# A sysroot needs the paths that libc.so and the programs' interpreters name.
make_sysroot() {
    for d in lib lib64; do
        [ -e "$fresh/root/$d" ] || ln -s "usr/$d" "$fresh/root/$d"
    done
}

# Of RISC-V the system's own gcc 16 would not do: its binutils would have to be as new.
build_riscv() {
    without='libcc1-0'
    for lib in libasan8 libhwasan0 liblsan0 libtsan2 libubsan1; do
        without="$without $lib $lib-riscv64-cross"
    done
    # shellcheck disable=SC2086  # words
    fetch "$(part_suite riscv)" "$fresh/root" g++-16-riscv64-linux-gnu binutils-riscv64-linux-gnu \
        "$(libc_dev_package riscv64)"
    make_sysroot
    wrap_fetched riscv64
    wrap_gcc riscv64 "$fresh/riscv64"
    echo "binutils $(as_version "$fresh/riscv64/") debian-$suite" >>"$fresh/found"
}

# ---- cbmc ----

build_cbmc() {
    tools="cbmc goto-analyzer goto-cc goto-diff goto-gcc goto-harness goto-instrument
        goto-synthesizer"
    if command -v cbmc >/dev/null; then
        from=system
        for tool in $tools; do
            path=$(command -v "$tool") || continue
            ln -s "$path" "$fresh/$tool"
        done
    else
        from=debian-$(part_suite cbmc)
        # It preprocesses with the system's gcc.
        without=gcc
        fetch "${from#debian-}" "$fresh/root" cbmc
        for tool in $tools; do
            [ ! -x "$fresh/root/usr/bin/$tool" ] ||
                wrapper "$fresh/$tool" "$fresh/root" "$fresh/root/usr/bin/$tool"
        done
    fi
    v=$("$fresh/cbmc" --version) || die "cbmc does not run"
    echo "cbmc ${v%% *} $from" >>"$fresh/found"
}

# ---- clang, lld, mold, released binutils ----

# clang assembles and compiles by itself. What else it would need, a libc and gcc's files, is the system's.
build_chains() {
    suite=$(part_suite chains)
    fetch_begin "$suite"
    number=$(named 'clang-[0-9]+' | tail -n 1 | sed 's/.*-//')
    [ -n "$number" ] || die "Debian $suite has no clang"
    without="libc6-dev binutils $(named 'lib(gcc|objc|stdc..)-[0-9]+-dev' | tr '\n' ' ')"
    fetch_packages "$fresh/root" "clang-$number" "lld-$number" mold binutils-aarch64-none-elf
    fetch_end
    root=$fresh/root/usr
    wrapper "$fresh/clang-$number" "$fresh/root" "$root/lib/llvm-$number/bin/clang"
    wrapper "$fresh/ld.lld-$number" "$fresh/root" "$root/lib/llvm-$number/bin/lld" "ld.lld"
    wrapper "$fresh/mold" "$fresh/root" "$root/bin/mold" "ld.mold"
    mkdir -p "$fresh/released/aarch64"
    for program in "$root/bin/aarch64-none-elf-"*; do
        wrapper "$fresh/released/aarch64/${program##*/aarch64-none-elf-}" "$fresh/root" "$program"
    done
    for tool in "clang-$number" "ld.lld-$number" mold released/aarch64/as; do
        v=$("$fresh/$tool" --version) || die "$tool does not run"
        echo "$tool $(echo "$v" | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p') debian-$suite" >>"$fresh/found"
    done
}

# ---- herd ----

# The models are among what the package shares.
build_herd() {
    if command -v herd7 >/dev/null; then
        from=system
        ln -s "$(command -v herd7)" "$fresh/herd7"
    else
        from=debian-$(part_suite herd)
        needless='./usr/bin/[!h]*'
        fetch "${from#debian-}" "$fresh/root" herdtools7
        wrapper "$fresh/herd7" "$fresh/root" "$fresh/root/usr/bin/herd7"
        sed -i "s|'\(/[^']*/herd7\)' \"|'\1' -set-libdir '$fresh/root/usr/share/herdtools7/herd' \"|" "$fresh/herd7"
    fi
    v=$("$fresh/herd7" -version) || die "herd7 does not run"
    echo "herd7 ${v%%,*} $from" >>"$fresh/found"
}

# ---- other unwinders ----

# A line for each unpacked library that is of interest, with its version.
found_peers() {
    for deb in "$work"/archives/*.deb; do
        name=${deb##*/}
        version=${name#*_}
        case $name in
        libc6_* | libgcc-s1_* | libunwind8_* | libsframe[0-9]*_* | llvm-libunwind*_*)
            echo "${name%%_*} $(echo "${version%_*}" | sed 's/%3a/:/') debian-$suite"
            ;;
        esac
    done | sort -u >>"$fresh/found"
}

build_peers() {
    suite=$(part_suite peers)
    fetch_begin "$suite"
    packages='libc6 libgcc-s1'
    for name in libunwind-dev libsframe-dev libiberty-dev; do
        packages="$packages $(named "$name")"
    done
    llvm=$(named 'libunwind-[0-9]+-dev' | tail -n 1)
    # shellcheck disable=SC2086  # words
    fetch_packages "$fresh/root" $packages
    found_peers
    # It cannot be installed beside the other libunwind.
    if [ -n "$llvm" ]; then
        rm "$work"/archives/*.deb
        without='libc6 libgcc-s1'
        fetch_packages "$fresh/llvm" "$llvm"
        found_peers
    fi
    fetch_end
}

# ---- publishing ----

# Puts a link in place in one step.
relink() {
    [ -L "$2" ] || [ ! -e "$2" ] || die "$2 is in the way: please remove it"
    ln -s "$1" "$2.new.$$"
    mv -fT "$2.new.$$" "$2"
}

# The fresh tree becomes TC/PART. The short names of v3 lead through that one link.
publish() {
    {
        part_header "$1"
        cat "$fresh/found"
    } >"$fresh/version"
    rm "$fresh/found"
    relink "$fresh" "$tc/$1"
    if [ "$1" = v3 ]; then
        for name in $(part_cpus v3) version; do
            relink "v3/$name" "$tc/$name"
        done
    fi
    keep=$fresh
    fresh=
    for old in "$tc/store/$1".*; do
        [ "$old" = "$keep" ] || rm -rf "$old"
    done
}

provide() {
    ready "$1" && return
    mkdir -p "$tc/store"
    exec 9>"$tc/store/lock"
    if ! flock -n 9; then
        say "waiting for another toolchain.sh"
        flock 9
    fi
    if ! ready "$1"; then
        fresh=$(mktemp -d "$tc/store/$1.XXXXXX")
        chmod 755 "$fresh"
        : >"$fresh/found"
        without=
        needless='./usr/share/*'
        case $1 in
        v?) build_binutils "$1" ;;
        *) "build_$1" ;;
        esac
        publish "$1"
        sed 's/^/toolchain.sh: /' "$tc/$1/version" >&2
    fi
    exec 9>&-
}

case $tc in
/*) ;;
*) tc=$PWD/$tc ;;
esac
case $tc in
*[!A-Za-z0-9._/+@%,:~-]*) die "unsuitable characters in the path $tc: set SFU_TOOLCHAIN" ;;
esac
[ $# -gt 0 ] || set -- v3
for part in "$@"; do
    case $part in
    v1 | v2 | v3 | gcc16 | riscv | cbmc | chains | herd | peers) ;;
    *) die "no part '$part'; there are: v3 v2 v1 gcc16 riscv cbmc chains herd peers" ;;
    esac
done
for part in "$@"; do
    [ "$part" != gcc16 ] || provide v3
    provide "$part"
done
printf '%s\n' "$tc"

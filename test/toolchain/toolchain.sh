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
#
# CPU is x86_64, aarch64 (either byte order) or s390x. No gas emits V1 for s390x, and no released
# one V2: those directories are absent. Use them as in `gcc -B"$TC/x86_64/" -Wa,--gsframe`.
# TC/version (TC/v2/version, ...) says per CPU which version was found, and where.
#
# Where the system's own as emits the wanted version, the directory has links to the system's
# tools. Otherwise Debian's packages are unpacked (never installed) below TC and run with the libc
# they were built for. Apt fetches them with a configuration, lists and cache of its own, so it
# refuses what Debian has not signed, and nothing of the system's state is used or changed: root is
# not needed. A second run finds what the first one left; two at once wait for each other.
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
mirror=${SFU_DEBIAN_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

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

# ---- what each part is ----

# A part's directory, the Debian release it comes from, and the CPUs it must have.
part_dir() { [ "$1" = v3 ] && printf '%s\n' "$tc" || printf '%s\n' "$tc/$1"; }

part_suite() {
    case $1 in
    v3) echo forky ;;
    v2) echo trixie ;;
    v1) echo bookworm ;;
    esac
}

part_cpus() {
    case $1 in
    v3) echo x86_64 aarch64 s390x ;;
    v2 | v1) echo x86_64 aarch64 ;;
    esac
}

part_header() { printf '# sfu toolchain, layout %s, %s, in %s\n' "$layout" "$1" "$(part_dir "$1")"; }

# The path is in the header because it is in the wrappers too: a moved tree is not a valid one.
ready() {
    dir=$(part_dir "$1")
    [ -r "$dir/version" ] || return 1
    read -r line <"$dir/version" || return 1
    [ "$line" = "$(part_header "$1")" ] || return 1
    for cpu in $(part_cpus "$1"); do
        [ -x "$dir/$cpu/as" ] && [ -x "$dir/$cpu/ld" ] || return 1
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

# apt's own configuration: nothing of /etc/apt is read but the way to the network.
apt_setup() {
    for tool in apt-get apt-config dpkg dpkg-deb flock; do
        command -v "$tool" >/dev/null || die "this needs $tool, of Debian or a relative"
    done
    [ -r "$keyring" ] || die "no $keyring: install debian-archive-keyring"
    work=$(mktemp -d "${TMPDIR:-/tmp}/sfu-toolchain.XXXXXX")
    chmod 755 "$work"
    mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/sources"
    : >"$work/status"
    cat >"$work/sources/debian.sources" <<END
Types: deb
URIs: $mirror
Suites: $1
Components: main
Signed-By: $keyring
END
    {
        apt-config dump | grep -E '^Acquire::(https?|Retries)[ :]' || :
        cat <<END
#clear APT::Architectures;
APT::Architectures { "$(dpkg --print-architecture)"; };
APT::Install-Recommends "false";
APT::Get::Assume-Yes "true";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
Acquire::Languages "none";
Acquire::Retries "3";
Debug::NoLocking "true";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$work/sources";
Dir::Etc::trusted "/dev/null";
Dir::Etc::trustedparts "/dev/null";
Dir::Log "$work";
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
END
    } >"$work/apt.conf"
}

# Runs apt-get and shows its output only if it fails.
private_apt() {
    APT_CONFIG=$work/apt.conf apt-get -q "$@" >"$work/log" 2>&1
}

apt_failed() {
    grep -E '^[EW]:' "$work/log" >&2 || cat "$work/log" >&2
    die "$*"
}

# A signature stays valid when the date in a Release file has passed: such a copy of the archive is
# old, not forged. apt-get may report success although it could not fetch, hence the second test.
apt_lists() {
    private_apt update || :
    if grep -q 'is expired (invalid since' "$work/log"; then
        say "$1's Release file is past its date: taking it without Check-Valid-Until"
        private_apt -o Acquire::Check-Valid-Until=false update || :
    fi
    for f in "$work"/lists/*_Packages*; do
        [ ! -e "$f" ] || return 0
    done
    apt_failed "cannot get the package lists of $1 from $mirror"
}

# fetch SUITE ROOT PACKAGE...: unpacks packages and all they depend on in ROOT.
fetch() {
    suite=$1
    root=$2
    shift 2
    apt_setup "$suite"
    say "fetching from Debian $suite: $*"
    apt_lists "$suite"
    # An empty status file makes apt resolve everything down to libc from this one release.
    private_apt --download-only install "$@" || apt_failed "cannot fetch the packages"
    mkdir -p "$root"
    for deb in "$work"/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$deb" |
            tar -x -C "$root" --no-same-owner --exclude='./usr/share/*' --exclude='./etc/*' -f -
    done
    rm -rf "$work"
    work=
}

# ---- running what was fetched ----

# wrapper FILE ROOT PROGRAM: writes FILE, which runs PROGRAM with the libc in ROOT.
wrapper() {
    for loader in "$2"/lib/*-linux-gnu*/ld-linux*.so.? "$2"/usr/lib/*-linux-gnu*/ld-linux*.so.?; do
        [ ! -f "$loader" ] || break
    done
    lib=${loader%/*}
    multiarch=${lib##*/}
    cat >"$1" <<END
#!/bin/sh
exec '$loader' --inhibit-cache --argv0 "\$0" \\
    --library-path '$2/usr/lib/$multiarch:$2/lib/$multiarch' \\
    '$3' "\$@"
END
    chmod 755 "$1"
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

binutils() {
    part=$1
    want=${part#v}
    suite=$(part_suite "$part")
    fetch_for=
    for cpu in $(part_cpus "$part"); do
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
        packages="$packages binutils-$(echo "$cpu" | tr _ -)-linux-gnu"
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

# ---- publishing ----

# Puts a link in place in one step, whatever was there.
relink() {
    ln -s "$1" "$2.new.$$"
    mv -fT "$2.new.$$" "$2"
}

# Points TC's names at the fresh tree. `version` comes last: it makes the part valid.
publish() {
    dir=$(part_dir "$1")
    mkdir -p "$dir"
    rm -f "$dir/version"
    for cpu in $(part_cpus "$1"); do
        relink "$fresh/$cpu" "$dir/$cpu"
    done
    {
        part_header "$1"
        cat "$fresh/found"
    } >"$fresh/version"
    relink "$fresh/version" "$dir/version"
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
        binutils "$1"
        publish "$1"
        sed 's/^/toolchain.sh: /' "$(part_dir "$1")/version" >&2
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
    v1 | v2 | v3) ;;
    *) die "no part '$part'; there are: v3 v2 v1" ;;
    esac
done
for part in "$@"; do
    provide "$part"
done
printf '%s\n' "$tc"

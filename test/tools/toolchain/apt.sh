# shellcheck shell=sh disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Read by toolchain.sh and sources.sh: an apt with a configuration, lists and cache of its own in $work, so that it
# refuses what Debian has not signed, and nothing of the system's state is used or changed: root is not needed.
# Uses the caller's say, die and $work.
#
# SFU_DEBIAN_MIRROR   default http://deb.debian.org/debian

mirror=${SFU_DEBIAN_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# apt_setup TYPE SUITE: $work is an empty directory. Nothing of /etc/apt is read but the way to the network.
apt_setup() {
    for tool in apt-get apt-config dpkg dpkg-deb flock; do
        command -v "$tool" >/dev/null || die "this needs $tool, of Debian or a relative"
    done
    [ -r "$keyring" ] || die "no $keyring: install debian-archive-keyring"
    chmod 755 "$work"
    mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/sources"
    : >"$work/status"
    cat >"$work/sources/debian.sources" <<END
Types: $1
URIs: $mirror
Suites: $2
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

# Runs apt-get and keeps its output for apt_failed.
private_apt() {
    APT_CONFIG=$work/apt.conf apt-get -q "$@" >"$work/log" 2>&1
}

apt_failed() {
    grep -E '^[EW]:' "$work/log" >&2 || cat "$work/log" >&2
    die "$*"
}

# apt_lists SUITE: gets the lists. A signature stays valid when the date in a Release file has passed: such a copy of
# the archive is old, not forged. apt-get may report success although it could not fetch, hence the second test.
apt_lists() {
    private_apt update || :
    if grep -q 'is expired (invalid since' "$work/log"; then
        say "$1's Release file is past its date: taking it without Check-Valid-Until"
        private_apt -o Acquire::Check-Valid-Until=false update || :
    fi
    for f in "$work"/lists/*_Packages* "$work"/lists/*_Sources*; do
        [ ! -e "$f" ] || return 0
    done
    apt_failed "cannot get the lists of $1 from $mirror"
}

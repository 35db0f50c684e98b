#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# release.sh OUT [TARGET...]: makes OUT, which has all that a release publishes: the files of `make dist`, SHA256SUMS
# and NOTES.md, the version's part of CHANGELOG.md. Proves first that
#     sfu.h, the crate and CHANGELOG.md have the same version, CHANGELOG.md says something of it, and nothing is changed
#     that is not committed
#     the files are the same, byte for byte, when they are made again, and when they are made in the unpacked archive
#     the archive passes its own tests: `make TARGET...` in it, by default `make check-all`
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.."
out=$1
shift
[ $# -gt 0 ] || set -- check-all
unset T MAKEFLAGS MFLAGS MAKELEVEL PREFIX # what make runs here is not a part of the caller's

die() {
    echo "release: $*" >&2
    exit 1
}

version=$(awk '$2 == "SFU_VERSION" { printf "%d.%d.%d", $3 / 10000, $3 / 100 % 100, $3 % 100 }' sfu.h)
grep -qx "version = \"$version\"" port/rust/Cargo.toml ||
    die "port/rust/Cargo.toml has not the version of sfu.h, $version"
[ "$(sed -n 's/^## //p' CHANGELOG.md | head -n 1)" = "$version" ] ||
    die "the first version of CHANGELOG.md is not that of sfu.h, $version"
notes() {
    awk -v version="## $version" '$0 == version { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md | sed '1{/^$/d}'
}
[ -n "$(notes)" ] || die "CHANGELOG.md says nothing of $version"
if [ -e .git ]; then
    changed=$(git status --porcelain)
    [ -z "$changed" ] || die "not committed: $changed"
fi

rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d "${TMPDIR:-/tmp}/sfu-release.XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 port/dist/dist.py "$out"
python3 port/dist/dist.py "$work/again"
diff -r "$out" "$work/again" || die "made again, the files differ"

tree=$work/sfu-$version
tar -xzf "$out/sfu-$version.tar.gz" -C "$work"
(cd "$tree" && python3 port/dist/dist.py build/dist)
diff -r "$out" "$tree/build/dist" || die "made in the unpacked archive, the files differ"
# What this machine has need not be fetched again.
[ ! -e build/tc ] || ln -s "$(readlink -f build/tc)" "$tree/build/tc"
make -C "$tree" "$@" || die "the archive fails its own tests: make $*"

notes >"$out/NOTES.md"
(cd "$out" && sha256sum -- sfu* >SHA256SUMS && sha256sum --check --strict --quiet SHA256SUMS)
echo "release $version: $out"
sed 's/^/    /' "$out/SHA256SUMS"

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# host.sh DIR: makes the tools of the sources in DIR that differ from those here, in DIR/build, with the other objects
# of build/tools. What DIR lacks to run tests becomes links. In the environment are the objects of the tools that are
# made, $GEN, $LINT, $TRACE, $READS; $FLAGS; $MORE_FLAGS, which are of the link, too; and $CHECKS, which notice what
# reads behind arrays, with $CHECKS_LINK for the link.
set -eu
dir=$1
here=$PWD
mkdir -p "$dir/build/host" "$dir/build/tools/objects"
find "$dir" -name '*.[ch]' | while read -r file; do
    source=${file#"$dir"/}
    if ! cmp -s "$source" "$file"; then
        made=$dir/build/tools/objects/${source%.c}.o
        mkdir -p "${made%/*}"
        # shellcheck disable=SC2086 # several
        gcc $FLAGS -w -O1 $CHECKS ${MORE_FLAGS-} -c "$file" -o "$made"
    fi
    [ ! -f "$source" ] || ln -sf "$here/$source" "$file" # a test that looks for its planted faults reads it as it is
done
# link NAME OBJECTS...
link() {
    name=$1
    shift
    for object; do
        shift
        [ ! -e "$dir/$object" ] || object=$dir/$object
        set -- "$@" "$object"
    done
    # shellcheck disable=SC2086
    gcc ${MORE_FLAGS-} $CHECKS_LINK "$@" $LIBRARIES -o "$dir/build/$name"
}
# shellcheck disable=SC2086
{
    [ -z "${GEN-}" ] || link tools/sfu-gen $GEN
    [ -z "${LINT-}" ] || link tools/sfu-lint $LINT
    [ -z "${TRACE-}" ] || link tools/sfu-trace $TRACE
    [ -z "${READS-}" ] || link host/reads $READS
}
[ -z "${READS-}" ] ||
    echo "$(cat build/host/reads.libraries) $CHECKS_LINK" >"$dir/build/host/reads.libraries" # of a test that links
for file in sfu.c sfu.h arch docs fuzz Makefile build/tc build/decoders build/bare build/host/*; do
    case $file in */work) ;; *) [ -e "$dir/$file" ] || ln -s "$here/$file" "$dir/$file" ;; esac
done
cp -rsn "$here/port" "$here/test" "$dir/"
cp -rsn "$here/build/tools" "$dir/build/"

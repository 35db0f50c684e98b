#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# host.sh DIR: makes the tools of the sources in DIR that differ from those here, in DIR/build, with copies of the other
# objects of build/tools. What DIR lacks to run tests becomes links.
set -eu
dir=$1
here=$PWD
mkdir -p "$dir/build/host"
cp -rp build/tools "$dir/build/"
find "$dir" -name '*.[ch]' | while read -r file; do
    source=${file#"$dir"/}
    if ! cmp -s "$source" "$file"; then
        # shellcheck disable=SC2086 # several
        gcc $FLAGS -w -O1 -c "$file" -o "$dir/build/tools/objects/${source%.c}.o"
    fi
    [ ! -f "$source" ] || ln -sf "$here/$source" "$file" # a test that looks for its planted faults reads it as it is
done
# link NAME OBJECTS...
link() {
    name=$1
    shift
    for object; do
        shift
        set -- "$@" "$dir/$object"
    done
    # shellcheck disable=SC2086
    gcc "$@" $LIBRARIES -o "$dir/build/$name"
}
# shellcheck disable=SC2086
{
    link tools/sfu-gen $GEN
    link tools/sfu-lint $LINT
    link host/reads $READS
}
for file in arch docs fuzz Makefile build/tc build/decoders build/host/*; do
    case $file in */work) ;; *) [ -e "$dir/$file" ] || ln -s "$here/$file" "$dir/$file" ;; esac
done
cp -rsn "$here/port" "$here/test" "$dir/"

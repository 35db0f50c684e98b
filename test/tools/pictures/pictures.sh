#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# pictures.sh TC OUT: draws speed.svg and trace.svg in OUT. TC has the binutils, a directory for each CPU.
set -eu
here=$(dirname "$0")
mkdir -p "$2"
python3 -B "$here/draw.py" speed >"$2/speed.svg"
python3 -B "$here/draw.py" trace "$1/x86_64" build/bare/x86_64 >"$2/trace.svg"

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# instructions.sh PLUGIN ABI FILE: how many instructions FILE, a program for Linux, executes until it exits. Fails if
# it does not exit with status 0.
set -eu
"qemu-$2" -plugin "$1" "$3" 2>&1 >/dev/null | awk '/^instructions/ { n = $2 } END { if (n == "") exit 1; print n }'
"qemu-$2" "$3" >/dev/null 2>&1

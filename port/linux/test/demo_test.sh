#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# `make demo` as it runs here, and where the assembler knows nothing of SFrame.
set -u
cd "$(dirname "$0")/../../.." || exit 1
out=build/port/demo-test
mkdir -p $out
log=$out/log
. test/lib/tests.sh

names() { sed -n 's/^#[0-9]* *0x[0-9a-f]\{16\}  \([a-z_]*\)[.+].*/\1/p' "$1" | tr '\n' ' '; }

wanted="backtrace deeper deeper deeper deep sfu_linux_main sfu_linux_start _start \
backtrace handler signal_return crash careless sfu_linux_main sfu_linux_start _start "
# The frame of the signal has a name only where the restorer is ours.
here() {
    port/linux/demo.sh >$out/demo 2>&1
    status=$?
    cat $out/demo
    [ $status = 0 ] && [ "$(grep -c '^trace ends (1): ' $out/demo)" = 2 ] &&
        [ "$(names $out/demo | sed 's/handler crash/handler signal_return crash/')" = "$wanted" ]
}
try demo here

cat >$out/old-gcc <<'EOF'
#!/bin/sh
echo "as: unrecognized option '--gsframe'" >&2
exit 1
EOF
chmod +x $out/old-gcc
with_old() {
    ! DEMO_CC=$out/old-gcc port/linux/demo.sh >$out/demo 2>&1 && grep 'does not write .sframe' $out/demo &&
        grep 'unrecognized option' $out/demo
}
try 'demo with an old assembler' with_old

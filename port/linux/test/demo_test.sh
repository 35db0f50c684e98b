#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# `make demo` as it runs here, and where the assembler knows nothing of SFrame.
set -u
cd "$(dirname "$0")/../../.." || exit 1
out=build/port/demo-test
mkdir -p $out

names() { sed -n 's/^#[0-9]* *0x[0-9a-f]\{16\}  \([a-z_]*\)[.+].*/\1/p' "$1" | tr '\n' ' '; }

wanted="backtrace deeper deeper deeper deep sfu_linux_main sfu_linux_start _start \
backtrace handler signal_return crash careless sfu_linux_main sfu_linux_start _start "
# The frame of the signal has a name only where the restorer is ours.
if port/linux/demo.sh >$out/log 2>&1 && [ "$(grep -c '^trace ends (1): ' $out/log)" = 2 ] &&
    [ "$(names $out/log | sed 's/handler crash/handler signal_return crash/')" = "$wanted" ]; then
    echo "ok demo: $(grep '^SFrame version' $out/log)"
else
    echo "not ok demo: $(tr '\n' '|' <$out/log)"
fi

cat >$out/old-gcc <<'EOF'
#!/bin/sh
echo "as: unrecognized option '--gsframe'" >&2
exit 1
EOF
chmod +x $out/old-gcc
if DEMO_CC=$out/old-gcc port/linux/demo.sh >$out/log 2>&1; then
    echo "not ok demo with an old assembler: succeeded"
elif grep -q 'does not write .sframe' $out/log && grep -q "unrecognized option" $out/log; then
    echo "ok demo with an old assembler"
else
    echo "not ok demo with an old assembler: $(tr '\n' '|' <$out/log)"
fi

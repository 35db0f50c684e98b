#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""bench.py SFU-GEN IMAGE...: processor time and memory that `sfu-gen --size` takes for each IMAGE; the best of three."""
import os
import subprocess
import sys

for image in sys.argv[2:]:
    best, memory = None, 0
    for _ in range(3):
        with subprocess.Popen([sys.argv[1], "-q", "--size", image], stdout=subprocess.DEVNULL) as child:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit("%s: status %d" % (image, child.returncode))
        time = usage.ru_utime + usage.ru_stime
        best, memory = min(best or time, time), max(memory, usage.ru_maxrss)
    size = os.path.getsize(image) / 1e6
    print("%s: %.1f MB, %.2f s, %.1f ms per MB, %.0f MB of memory" % (image, size, best, 1000 * best / size, memory / 1e3))

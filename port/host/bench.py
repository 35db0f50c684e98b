#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""bench.py TOOLS IMAGE...: processor time and memory that the programs in TOOLS take for each IMAGE; the best of three. sfu-lint
is given a copy of it for which sfu-gen has made tables."""
import os
import subprocess
import sys
import tempfile


def measure(command, good):
    """Runs COMMAND, which must end with a status of GOOD. Returns its processor time in seconds and its memory in KB."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in good:
        sys.exit("%s: status %d" % (" ".join(command), child.returncode))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def report(image, size, command, good=(0,)):
    runs = [measure(command, good) for _ in range(3)]
    time, memory = min(run[0] for run in runs), max(run[1] for run in runs)
    print("%s %s: %.1f MB, %.2f s, %.1f ms per MB, %.0f MB of memory"
          % (os.path.basename(command[0]), image, size, time, 1000 * time / size, memory / 1e3))


gen, lint = sys.argv[1] + "/sfu-gen", sys.argv[1] + "/sfu-lint"
for name in sys.argv[2:]:
    megabytes = os.path.getsize(name) / 1e6
    report(name, megabytes, [gen, "-q", "--size", name])
    with tempfile.TemporaryDirectory() as directory:
        copy = directory + "/image"
        measure([gen, "-q", "--append=" + copy, name], (0,))
        report(name, megabytes, [lint, copy], (0, 1))

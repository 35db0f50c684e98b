#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""bench.py TOOLS IMAGE...: processor time and memory that the programs in TOOLS take for each IMAGE; the best of three."""
import os
import subprocess
import sys

# What is run, and with which status it may end: an image may well have faults.
COMMANDS = (("sfu-gen", ["-q", "--size"], (0,)), ("sfu-lint", [], (0, 1)))


def measure(command, good):
    """Runs COMMAND. Returns its processor time in seconds and its memory in KB."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in good:
        sys.exit("%s: status %d" % (" ".join(command), child.returncode))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


for image in sys.argv[2:]:
    size = os.path.getsize(image) / 1e6
    for tool, options, good in COMMANDS:
        runs = [measure([sys.argv[1] + "/" + tool, *options, image], good) for _ in range(3)]
        time, memory = min(run[0] for run in runs), max(run[1] for run in runs)
        print("%s %s: %.1f MB, %.2f s, %.1f ms per MB, %.0f MB of memory"
              % (tool, image, size, time, 1000 * time / size, memory / 1e3))

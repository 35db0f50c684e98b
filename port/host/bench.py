#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""bench.py TOOLS IMAGE...: processor time and memory of the programs in TOOLS for each IMAGE, the best of three.

An image is for a little-endian machine. sfu-lint reads a copy for which sfu-gen has made tables. sfu-trace reads a log
with a trace of 100 frames all over its code."""
import os
import struct
import subprocess
import sys
import tempfile


def measure(command, good):
    """Runs COMMAND, which must end with a status of GOOD. Returns its processor seconds and its memory in KB."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in good:
        sys.exit("%s: status %d" % (" ".join(command), child.returncode))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def report(image, size, command, good=(0,)):
    runs = [measure(command, good) for _ in range(3)]
    time, memory = min(run[0] for run in runs), max(run[1] for run in runs)
    tool = os.path.basename(command[0]) + (" --derive" if "--derive" in command else "")
    print("%s %s: %.1f MB, %.2f s, %.1f ms per MB, %.0f MB of memory"
          % (tool, image, size, time, 1000 * time / size, memory / 1e3))


def addresses(image, count):
    """COUNT of them, in the first segment with code."""
    with open(image, "rb") as f:
        header = f.read(64)
        at, = struct.unpack_from("<Q", header, 32)
        for i in range(struct.unpack_from("<H", header, 56)[0]):
            f.seek(at + 56 * i)
            kind, flags, _, start, _, size = struct.unpack_from("<IIQQQQ", f.read(56))
            if kind == 1 and flags & 1:
                return [start + size // (count + 1) * (n + 1) for n in range(count)]
    sys.exit(image + ": no code")


gen, lint, trace = (sys.argv[1] + "/sfu-" + tool for tool in ("gen", "lint", "trace"))
for name in sys.argv[2:]:
    megabytes = os.path.getsize(name) / 1e6
    report(name, megabytes, [gen, "-q", "--size", name])
    report(name, megabytes, [gen, "-q", "--size", "--derive", name])
    with tempfile.TemporaryDirectory() as directory:
        copy = directory + "/image"
        measure([gen, "-q", "--append=" + copy, name], (0,))
        report(name, megabytes, [lint, copy], (0, 1))
        with open(directory + "/log", "w", encoding="ascii") as log:
            for depth, pc in enumerate(addresses(name, 100)):
                print("#%-2d 0x%016x" % (depth, pc), file=log)
        report(name, megabytes, [trace, "--log=" + directory + "/log", name])

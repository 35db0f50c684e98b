# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Kernels that print traces in QEMU, and DONE in the end."""
import os
import re
import subprocess
import threading

from check import must

LIMIT = 60  # seconds


def boot(qemu, image, *more):
    """What the kernel IMAGE prints until it is done. QEMU: the command, with its console."""
    with subprocess.Popen([*qemu, *more, "-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none",
                           "-kernel", image], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        timer = threading.Timer(LIMIT, process.kill)
        timer.start()
        said = b""
        while b"DONE" not in said:
            some = os.read(process.stdout.fileno(), 4096)
            if not some:
                break
            said += some
        timer.cancel()
        process.kill()
    text = said.decode(errors="replace")
    must("DONE" in text, "it does not end: " + text[-800:])
    return text


def traces(text):
    """The frames of each trace in TEXT, repeated ones written out, and how it ended. A frame is the function, without
    an offset, or the address, and the marks behind it."""
    result, frames = [], []
    for line in text.split("\n"):
        line = line.strip("\r")
        frame = re.match(r"#\d+ +(0x[0-9a-f]+)(?:  (\S+)\+0x[0-9a-f]+)?((?:  \[.*\])*)$", line)
        again = re.match(r"    \.\.\. (\d+) times more: the (\d+) above$", line)
        end = re.match(r"trace ends \((-?\d+)\)", line)
        if frame:
            frames.append((frame[2] or frame[1]) + frame[3].replace("  ", " "))
        elif again:
            frames += frames[-int(again[2]):] * int(again[1])
        elif end:
            result.append((frames, int(end[1])))
            frames = []
    return result

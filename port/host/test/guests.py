# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Machines in QEMU whose guest stops in a leaf function, and what sfu-trace and gdb say of them and of their cores."""
import binascii
import os
import re
import struct
import subprocess
import time

from host import WORK, Wrong, must
from traces import ask_monitor, free_port

TRACE = "build/tools/sfu-trace"
LIMIT = 60
# What is below the leaf, by the source.
CALLERS = ["leaf"] + 6 * ["recurse"] + ["kernel_main", "_start"]


def run(*command, status=0):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=LIMIT)
    if done.returncode != status:
        raise Wrong("%s: status %d: %s" % (" ".join(command), done.returncode, (done.stderr or done.stdout)[-300:]))
    return done.stdout


class Machine:
    """Runs IMAGE by the words QEMU."""

    def __init__(self, qemu, image):
        self.port, self.path = free_port(), WORK + "/monitor"
        if os.path.exists(self.path):
            os.remove(self.path)
        self.process = subprocess.Popen(
            [*qemu, "-kernel", image, "-m", "16M", "-display", "none", "-serial", "none", "-gdb",
             "tcp:localhost:%d" % self.port, "-monitor", "unix:%s,server=on,wait=off" % self.path],
            stdin=subprocess.DEVNULL)

    def monitor(self, command):
        return ask_monitor(self.path, command)

    def settle(self, image, nm="riscv64-linux-gnu-nm"):
        """Waits until it is in the leaf, and stops it."""
        end = time.monotonic() + LIMIT
        low, size = next((int(a, 16), int(s, 16)) for a, s in re.findall(
            r"(\w+) (\w+) T leaf", run(nm, "-S", image)))
        while True:
            self.monitor("stop")
            pc = int(re.search(r"(?:pc +|EIP=)([0-9a-f]+)", self.monitor("info registers"))[1], 16)
            if low < pc < low + size - 2:
                return pc
            must(time.monotonic() < end, "it is at 0x%x" % pc)
            self.monitor("cont")
            time.sleep(0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()


FRAME = re.compile(r"#\d+ +0x([0-9a-f]+)(?:  (\w+)\+0x)?")


def traced(*arguments, status=0):
    """[(PC, function)]"""
    out = run(TRACE, *arguments, status=status)
    must("trace ends (1)" in out, out[-300:])
    return [(int(pc, 16), name) for pc, name in FRAME.findall(out)]


def refused(*arguments):
    """What sfu-trace says, which traces nothing."""
    done = subprocess.run([TRACE, *arguments], capture_output=True, text=True, errors="replace", check=False,
                          timeout=LIMIT)
    must(done.returncode != 0 and "#0" not in done.stdout, done.stdout)
    return done.stderr


def by_gdb(image, *commands):
    words = ["set pagination off", "set backtrace past-main on", "set backtrace past-entry on", *commands,
             "echo \\n", "bt"]
    out = run("gdb-multiarch", "-q", "-nx", "-batch", *[w for word in words for w in ("-ex", word)], image)
    out = out[out.rindex("\n#0 "):]  # it has said where it is when it was opened, too
    return re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\w+) \(", out, re.M)


def segments(core):
    """[(address, bytes)] of a core."""
    with open(core, "rb") as f:
        data = f.read()
    wide = data[4] == 2
    at, = struct.unpack_from("<Q" if wide else "<I", data, 32 if wide else 28)
    size, count = struct.unpack_from("<HH", data, 54 if wide else 42)
    for i in range(count):
        if wide:
            kind, _, offset, addr, _, length = struct.unpack_from("<IIQQQQ", data, at + i * size)
        else:
            kind, offset, addr, _, length = struct.unpack_from("<IIIII", data, at + i * size)
        if kind == 1:
            yield addr, data[offset:offset + length]


def dump_log(core, abi, pc, sp, fp, ra):
    """A console's log with a dump of CORE and of these registers (port/print/sfu_dump.h)."""
    lines = ["begin %x exact" % abi, "r pc %x sp %x fp %x ra %x" % (pc, sp, fp, ra)]
    count = 0
    for addr, data in segments(core):
        for i in range(0, len(data), 64):
            words = struct.unpack("<%dQ" % (len(data[i:i + 64]) // 8), data[i:i + 64])
            count += len(words)
            lines.append("m %x %s" % (addr + i, " ".join("%x" % word for word in words)))
    lines.append("end %x" % count)
    text = b"panic\r\n"
    for number, line in enumerate(lines):
        words = b"%02x %s" % (number & 0xff, line.encode())
        text += b"[ 1.23] sfu2 %s %04x\r\n" % (words, binascii.crc_hqx(words, 0xffff))
    return text


def names(frames):
    return [name for _, name in frames]

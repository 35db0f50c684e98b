# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""What suites of the tools share: where things are, the tools, and ELF files. It has no tests. Suites import what they
need of test/lib/check.py from here, too.
"""
import json
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import Wrong, finish, must, run, test  # noqa: E402, F401  for suites

OUT = "build/host"
# Of this program and its arguments alone: suites run beside each other.
WORK = "/".join([OUT, "work", os.path.basename(sys.argv[0]).partition(".")[0]] + sys.argv[1:])
LONG = bool(os.environ.get("LONG"))
TC = "build/tc"
# That of Debian reads the linker plugins of each compiler first, which takes ten times as long.
NM = TC + "/x86_64/nm"
CPUS = {"x86_64": "x86_64", "aarch64": "aarch64", "aarch64_be": "aarch64", "s390x": "s390x"}
GCC, LD = ({cpu: cpu + "-linux-gnu-" + tool for cpu in ("x86_64", "aarch64", "s390x")} for tool in ("gcc", "ld"))
NOPS = "nop\n" * 4


def tool(name, suites):
    """The tool NAME: in one of SUITES, with LONG=1, the one under the sanitizers."""
    return "%s/%s-sanitized" % (OUT, name) if LONG and sys.argv[1:] and sys.argv[1] in suites else "build/tools/" + name


GEN = tool("sfu-gen", ("links", "options", "faults"))
LINT = tool("sfu-lint", ("planted", "worth", "options"))


def gen(*arguments, status=0):
    return run(GEN, *arguments, status=status)


def lint(*arguments, status=None):
    """Runs sfu-lint --json. Returns what it says of the last image."""
    done = subprocess.run([LINT, "--json", *arguments], capture_output=True, text=True, check=False)
    result = json.loads(done.stdout)["images"][-1]
    found = any(f["level"] == "fault" and not f["allowed"] for f in result.get("findings", []))
    wanted = 2 if "error" in result else int(found)
    must(done.returncode == (wanted if status is None else status), "status %d: %s" % (done.returncode, done.stderr))
    must("error" not in result, result.get("error"))
    return result


def build_patterns(file):
    if not os.path.exists(file):
        run("test/truth/step/build.sh", file)


def read(file):
    with open(file, "rb") as f:
        return f.read()


def write(file, data):
    with open(file, "wb") as f:
        f.write(data)


def instructions(*command, stdin=b"", statuses=(0,)):
    """How many instructions COMMAND, a program of this machine, executes, by QEMU: in a tenth of callgrind's time."""
    done = subprocess.run(["qemu-" + os.uname().machine, "-plugin", OUT + "/insns.so", *command], input=stdin,
                          capture_output=True, check=False, timeout=300)
    must(statuses is None or done.returncode in statuses, done.stderr[-300:].decode("latin-1"))
    return int(re.findall(rb"(?m)^instructions (\d+)$", done.stderr)[-1])


# ---- ELF files, as far as tests look into them ----

class Elf:
    def __init__(self, file):
        self.data = bytearray(read(file))
        self.order = ">" if self.data[5] == 2 else "<"
        at, = self.get("Q", 40)
        size, count, names = self.get("HHH", 58)
        self.sections = {}
        headers = [self.get("IIQQQQIIQQ", at + i * size) for i in range(count)]
        for i, header in enumerate(headers):
            start = headers[names][4] + header[0]
            name = bytes(self.data[start:self.data.index(0, start)]).decode()
            self.sections[name] = {"type": header[1], "addr": header[3], "offset": header[4], "size": header[5],
                                   "header": at + i * size}

    def get(self, form, at):
        return struct.unpack_from(self.order + form, self.data, at)

    def put(self, form, at, *values):
        struct.pack_into(self.order + form, self.data, at, *values)

    def section(self, name):
        s = self.sections[name]
        return bytes(self.data[s["offset"]:s["offset"] + s["size"]])

    def segments(self):
        at, = self.get("Q", 32)
        count, = self.get("H", 56)
        return [self.get("IIQQQQQQ", at + i * 56) for i in range(count)]

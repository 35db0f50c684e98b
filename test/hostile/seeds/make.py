#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Makes the sections of seeds.txt anew, with the assembler and linker of each version of the format. A line is a name
and the bytes in hexadecimal digits.

They are tiny on purpose: the tests change every byte of them. In each, the text begins at 0x1000 and .sframe at 0x2000.
These no toolchain here writes. They are derived from the others:

  v2-s390x            by hand from the specification: default rows, RA or FP in a register (odd words), an RA word of
                      0, and a row without words (erratum 2)
  v2-x86_64-field     starts relative to the field (erratum 1)
  v*-unsorted         the FDEs in reverse, flag 0x1 clear: what `ld -r` leaves
  v3-x86_64-section   starts relative to the section
  v3-x86_64-wide      4-byte starts of rows and 4-byte words
"""
import os
import struct
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SORTED, FIELD = 1, 4
FDE_SIZE = {1: 17, 2: 20, 3: 16}
seeds = {}


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def assemble(work, tools, name, version, source, *flags):
    """The section of SOURCE by the binutils in TOOLS, which write that version of the format. FLAGS: the byte order."""
    made, image, section = (work + "/" + file for file in ("o", "x", "section"))
    link = ["-Ttext=0x1000", "--section-start=.sframe=0x2000"]
    if name.endswith("plt"):
        link = ["-shared", "-z", "noseparate-code", *link]
        flags = ["--defsym", "PLT=1"]
    else:
        link = [*flags, *link, "--section-start=.eh_frame=0x4000"]
    run(tools + "/as", "--gsframe", "--defsym", "VERSION=%d" % version, *flags, "-o", made, HERE + "/" + source)
    run(tools + "/ld", *link, "-o", image, made)
    run(tools + "/objcopy", "-O", "binary", "-j", ".sframe", image, section)
    with open(section, "rb") as file:
        seeds[name] = file.read()


def assemble_all():
    toolchain = run(HERE + "/../../tools/toolchain/toolchain.sh", "v3", "v2", "v1").decode().strip()
    with tempfile.TemporaryDirectory() as work:
        for version in 1, 2, 3:
            tools = toolchain + ("/" if version == 3 else "/v%d/" % version)
            name = "v%d-" % version
            assemble(work, tools + "x86_64", name + "x86_64", version, "x86_64.s")
            assemble(work, tools + "x86_64", name + "x86_64-plt", version, "x86_64.s")
            assemble(work, tools + "aarch64", name + "aarch64", version, "aarch64.s")
            assemble(work, tools + "aarch64", name + "aarch64_be", version, "aarch64.s", "-EB")
        assemble(work, toolchain + "/s390x", "v3-s390x", 3, "s390x.s")


def order(data):
    return ">" if data[0] == 0xDE else "<"


def table(data):
    """First FDE's offset, FDE size, number, format of a start."""
    o = order(data)
    at = 28 + data[7] + struct.unpack_from(o + "I", data, 20)[0]
    return at, FDE_SIZE[data[2]], struct.unpack_from(o + "I", data, 8)[0], o + ("q" if data[2] == 3 else "i")


def relative(data, field):
    """Starts relative to their fields, or to the section."""
    at, size, count, fmt = table(data)
    if bool(data[3] & FIELD) != field:
        for fde in range(at, at + size * count, size):
            start = struct.unpack_from(fmt, data, fde)[0]
            struct.pack_into(fmt, data, fde, start - fde if field else start + fde)
    data[3] = data[3] & ~FIELD | (FIELD if field else 0)
    return data


def reverse(data):
    field = bool(data[3] & FIELD)
    relative(data, False)
    at, size, count, _ = table(data)
    fdes = [data[at + i * size:at + (i + 1) * size] for i in range(count)]
    data[at:at + size * count] = b"".join(reversed(fdes))
    data[3] &= ~SORTED
    return relative(data, field)


def s390x_v2():
    rows = [  # (function's size, rows: start, base is SP, words)
        (28, [(0, 1, [0]), (6, 1, [0, -48, -72]), (10, 1, [20, -48, -72]), (14, 0, [20, -48, -72]), (26, 1, [0])]),
        (12, [(0, 1, [0]), (6, 1, [0, 0, -72])]),
        (10, [(0, 1, [0]), (4, 1, [0, 0, 17 << 1 | 1]), (8, 1, [0, 16 << 1 | 1, 17 << 1 | 1])]),
        (2, [(0, 1, [])]),
    ]
    fdes, fres, start, total = b"", b"", 0x1000 - 0x2000, 0
    for size, function in rows:
        fdes += struct.pack(">iIIIBBH", start, size, len(fres), len(function), 0, 0, 0)
        for pc, base, words in function:
            fres += struct.pack(f">BB{len(words)}b", pc, len(words) << 1 | base, *words)
        start += size
        total += len(function)
    header = struct.pack(">HBBBbbBIIIII", 0xDEE2, 2, SORTED, 4, 0, 0, 0, len(rows), total, len(fres), 0, len(fdes))
    return header + fdes + fres


def wide():
    fres = struct.pack("<HBBB", 3, 2, 0, 0)
    for pc, base, words in ((0, 1, [8]), (1, 1, [16, -16]), (0x10000, 0, [16, -16])):
        fres += struct.pack(f"<IB{len(words)}i", pc, 2 << 5 | len(words) << 1 | base, *words)
    header = struct.pack("<HBBBbbBIIIII", 0xDEE2, 3, SORTED, 3, 0, -8, 4, 1, 3, len(fres), 0, 16)
    return header + b"aux." + struct.pack("<qII", 0x1000 - 0x2000, 0x20000, 0) + fres


def read(name):
    return bytearray(seeds[name])


assemble_all()
seeds["v2-s390x"] = s390x_v2()
seeds["v3-x86_64-wide"] = wide()
seeds["v2-x86_64-field"] = relative(read("v2-x86_64"), True)
seeds["v3-x86_64-section"] = relative(read("v3-x86_64"), False)
seeds["v1-aarch64-unsorted"] = reverse(read("v1-aarch64"))
seeds["v2-x86_64-unsorted"] = reverse(read("v2-x86_64-field"))
seeds["v3-x86_64-unsorted"] = reverse(read("v3-x86_64"))
seeds["v3-s390x-unsorted"] = reverse(read("v3-s390x"))
with open(HERE + "/seeds.txt", "w", encoding="utf-8") as text:
    text.writelines("%s %s\n" % (name, bytes(seeds[name]).hex()) for name in sorted(seeds))

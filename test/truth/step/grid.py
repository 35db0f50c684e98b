#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""grid.py [PATTERN]: programs of each compiler, level and option, stepped by tables of the machine code alone.

For each of gcc 12 and clang 16, each level and each option that changes calls, returns or frames, build.sh builds
`patterns`, removes all CFI, and has sfu-gen make tables of the code. The program is stepped from its first instruction
to its last. Printed is how many walks were wrong, which must be 0. At some levels zlib is built in the same way, which
is C but for its start: of a hundred instructions of its functions 97 must have a row.
PATTERN: only programs whose name has it.
"""
import os
import re
import struct
import subprocess
import sys

LEVELS = ("O0", "O1", "O2", "O3", "Os", "Oz")
OPTIONS = {
    "x86_64": {"gcc12": ("", "cet", "thunk", "return", "sls", "lto", "clash"),
               "clang": ("", "cet", "thunk", "return", "sls", "lto", "clash")},
    "aarch64": {"gcc12": ("", "pac", "sls", "lto", "clash"), "clang": ("", "pac", "sls", "lto")},
    "s390x": {"gcc12": ("", "thunk", "return", "lto", "clash"), "clang": ("", "lto", "clash")},
}
LEAST = 97.0
STEPS = "6000" # more than `patterns` has
MEASURED = ("O0", "O2", "Oz") # levels at which zlib is compiled, which takes longest


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def functions(cpu, program):
    """Where the functions of the tables of PROGRAM begin, and their sizes. They are of version 3."""
    listing = run("build/tc/%s/objdump" % cpu, "-h", program)
    at = int(re.search(r"\.sframe +\S+ +(\S+)", listing)[1], 16)
    run("build/tc/%s/objcopy" % cpu, "-O", "binary", "-j", ".sframe", program, program + ".tables")
    with open(program + ".tables", "rb") as file:
        table = file.read()
    order = ">" if cpu == "s390x" else "<"
    magic, version, flags, _, _, _, extra, count = struct.unpack_from(order + "HBBBbbBI", table)
    if (magic, version) != (0xdee2, 3):
        raise ValueError("%s: tables of another version" % program)
    for i in range(count):
        offset = 28 + extra + 16 * i
        start, size, _ = struct.unpack_from(order + "qII", table, offset)
        yield at + (offset if flags & 4 else 0) + start, size


# What fills up to a multiple, and barriers behind a return that are there for speculation alone.
FILL = re.compile(r"(data16|cs|xchg +%ax,%ax|nop|int3|dsb|isb|sb$|.*\bnop[wl]?\b)")


def described(cpu, program):
    """Of a hundred instructions of C functions, those that have a row. What nobody can come to is not counted."""
    assembly = set(re.findall(r"(?m)^(\w+):", open("test/truth/step/programs/start.S").read()))
    covered, code = set(), 0
    for start, size in functions(cpu, program):
        covered.update(range(start, start + size))
    name, found = None, 0
    for line in run("build/tc/%s/objdump" % cpu, "-d", "--no-show-raw-insn", program).splitlines():
        head = re.match(r"[0-9a-f]+ <(\S+)>:", line)
        if head:
            name = head[1]
        at = re.match(r" *([0-9a-f]+):\t(.*)", line)
        if at and name not in assembly and (int(at[1], 16) in covered or not FILL.match(at[2])):
            code += 1
            found += int(at[1], 16) in covered
    return 100.0 * found / code


def stepped(cpu, programs):
    """The figures of PROGRAMS, stepped; and whether there is anything to tell."""
    by = "native" if cpu == os.uname().machine else "qemu-" + cpu
    done = subprocess.run(["build/step/step", "-q", by, "-n", STEPS, "-g", "1000", cpu, *programs],
                          stdout=subprocess.PIPE, text=True).stdout
    figures = [line for line in done.splitlines() if line.startswith(cpu + " instructions")]
    broken = [line for line in done.splitlines() if line.startswith("#") or
              (line.startswith("not ok") and " steps: only" not in line)]
    print("\n".join(broken), end="\n" if broken else "")
    return {key: int(value) for key, value in re.findall(r"(\S+)=(\d+)", figures[-1])}, bool(broken)


def judge(cpu, compiler, option, level):
    """What is said of one program, and whether that is good."""
    files = ["build/step/%s/%s-%s-%s-code%s" % (cpu, program, compiler, level, option)
             for program in ("patterns", "zlib")[:1 + (level in MEASURED)]]
    for file in files:
        built = subprocess.run(["test/truth/step/build.sh", file], stderr=subprocess.PIPE, text=True)
        if built.returncode:
            return built.stderr.strip()[:200], False
    figures, broken = stepped(cpu, ["patterns=" + files[0]])
    said = "instructions=%(instructions)d wrong=%(wrong)d no-table=%(no-table)d" % figures
    good = figures["wrong"] == 0 and not broken
    if len(files) > 1:
        share = described(cpu, files[1])
        return "described=%.1f%% %s" % (share, said), good and share >= LEAST
    return said, good


def main():
    chosen = sys.argv[1] if len(sys.argv) > 1 else ""
    failed = count = 0
    for cpu, compilers in OPTIONS.items():
        for compiler, option, level in ((c, o, l) for c in compilers for o in compilers[c] for l in LEVELS):
            name = "%s/%s-%s-code%s" % (cpu, compiler, level, option)
            if chosen in name:
                said, good = judge(cpu, compiler, option, level)
                print("%s %s: %s" % ("ok" if good else "not ok", name, said), flush=True)
                failed += not good
                count += 1
    sys.exit(1 if failed or count == 0 else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""symbols_test.py OUT TEST [IMAGES]: tables of whole programs, beside nm. OUT is a directory for files, TEST is the
program of symbols_test.c. With IMAGES, a directory that has sqlite3.x and lua5.4.x: what their tables cost.

At the first and the last byte of every function that nm knows, and behind its end, the lookup must say what nm says.
"""
import bisect
import os
import re
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import finish, must, test  # noqa: E402

GCC = {"x86_64": "gcc", "aarch64": "aarch64-linux-gnu-gcc", "s390x": "s390x-linux-gnu-gcc"}
LONG = 300  # characters of a name
LIMIT = 300  # seconds: a hang is a failure
PROGRAM = "int NAME(int n); int NAME(int n) { return n + 1; }\nint main(void) { return NAME(1); }\n"
# Bytes for 1,000 functions, as sfu_symbols.h says: with tokens, without.
COST = {"sqlite3.x": (14000, 23500), "lua5.4.x": (11000, 16500)}


def run(*command, stdin=None):
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=LIMIT)
    must(done.returncode == 0, "%s: %s" % (command[0], done.stderr[-300:]))
    return done.stdout, done.stderr


def functions(nm, image):
    """start: list of (size, name), by nm alone"""
    found = {}
    for line in run(nm, "-S", "--defined-only", image)[0].splitlines():
        word = line.split()
        if len(word) == 4 and word[2] in "tTwW" and int(word[1], 16) > 0:
            found.setdefault(int(word[0], 16), []).append((int(word[1], 16), word[3]))
    return found


def wanted(starts, found, addr):
    """(names that are right, offset), or None"""
    i = bisect.bisect_right(starts, addr) - 1
    if i < 0:
        return None
    size = max(size for size, _ in found[starts[i]])
    if addr - starts[i] >= size:
        return None
    return {name[:127] for s, name in found[starts[i]] if s == size}, addr - starts[i]


def make_table(tools, image, base, out, *options):
    """Writes the table into the file OUT; returns what it costs for 1,000 functions."""
    text, cost = run(sys.executable, "port/symbols/symbols.py", "--cost", "--base=" + base, *options, tools + "nm",
                     image)
    with open(out + ".s", "w", encoding="utf-8") as f:
        f.write(text)
    run(tools + "as", out + ".s", "-o", out + ".o")
    run(tools + "objcopy", "-O", "binary", "-j", ".rodata.sfu_symbols", "--set-section-flags",
        ".rodata.sfu_symbols=alloc", out + ".o", out)
    return int(re.search(r": (\d+) for 1,000", cost)[1])


def compare(binary, tools, image, base, out, *options):
    """Every function of IMAGE. BASE is a number in the table's terms; the program runs 0x10000 above its addresses."""
    found = functions(tools + "nm", image)
    starts = sorted(found)
    cost = make_table(tools, image, hex(base), out, *options)
    addresses = {base, base + 1, starts[-1] + (1 << 31), (1 << 64) - 0x10001} | set(starts)
    for start in starts:
        for size, _ in found[start]:
            addresses |= {start + size - 1, start + size, start + size // 2}
    addresses = sorted(addresses)
    output, _ = run(binary, "lookup", out, hex(base + 0x10000),
                    stdin="".join("%x\n" % (a + 0x10000) for a in addresses))
    lines = output.splitlines()
    must(len(lines) == len(addresses), "%d answers of %d" % (len(lines), len(addresses)))
    for addr, line in zip(addresses, lines):
        want = wanted(starts, found, addr)
        if want is None:
            must(line == "-", "0x%x: %s, but nm has nothing there" % (addr, line))
        else:
            name, _, offset = line.partition(" ")
            must(name in want[0] and int(offset, 16) == want[1], "0x%x: %s instead of %s" % (addr, line, want))
    must(sum(line != "-" for line in lines) > 2 * len(starts), "hardly anything was found")
    return "%d functions, %d addresses, %d bytes for 1,000" % (len(starts), len(addresses), cost), cost


def static_program(cpu, out):
    """A program with all that it takes of libc, and a function with a long name."""
    with open(out + ".c", "w", encoding="utf-8") as f:
        f.write(PROGRAM.replace("NAME", "f" * LONG))
    run(GCC[cpu], "-O1", "-static", out + ".c", "-o", out)
    return out


def costs(out, binary, images):
    for name, limits in COST.items():
        for limit, options in zip(limits, ((), ("--plain",))):
            def cost(name=name, limit=limit, options=options):
                said, figure = compare(binary, "", os.path.join(images, name), 0,
                                       os.path.join(out, name + "".join(options)), *options)
                must(limit - 1000 <= figure <= limit, "%d bytes for 1,000 functions, not %d" % (figure, limit))
                return said
            yield " ".join((name,) + options), cost


def tests(out, binary):
    for cpu in GCC:
        tools = cpu + "-linux-gnu-"
        program = os.path.join(out, cpu)

        def whole(program=program, cpu=cpu, tools=tools):
            base = min(functions(tools + "nm", static_program(cpu, program)))
            return compare(binary, tools, program, base, program + ".table")[0]

        yield cpu, whole
        yield cpu + " plain", lambda program=program, tools=tools: compare(
            binary, tools, program, min(functions(tools + "nm", program)) - 0x1000, program + ".plain", "--plain")[0]

    def empty():
        with open(os.path.join(out, "empty.s"), "w", encoding="utf-8") as f:
            f.write(run(sys.executable, "port/symbols/symbols.py", "nm")[0])
        run("as", os.path.join(out, "empty.s"), "-o", os.path.join(out, "empty.o"))
        run("objcopy", "-O", "binary", "-j", ".rodata.sfu_symbols", os.path.join(out, "empty.o"),
            os.path.join(out, "empty"))
        must(run(binary, "lookup", os.path.join(out, "empty"), "0", stdin="0\n1\n1000\n")[0] == "-\n-\n-\n", "found")
        return ""

    def hostile():
        """A program of few functions, so that each byte of the table counts."""
        path = os.path.join(out, "small")
        with open(path + ".c", "w", encoding="utf-8") as f:
            f.write("".join("int function_%d(int n); int function_%d(int n) { return n * %d; }\n" % (i, i, i)
                            for i in range(90)))
        run("gcc", "-O1", "-c", path + ".c", "-o", path + ".o")
        make_table("", path + ".o", "0", path)
        n = int(run(binary, "hostile", path, "0")[0])
        must(n > 25000, "%d lookups" % n)
        return "%d lookups" % n

    def no_base():
        done = subprocess.run([sys.executable, "port/symbols/symbols.py", "--base=nowhere", "nm", sys.executable],
                              capture_output=True, text=True, check=False)
        must(done.returncode != 0 and "nowhere" in done.stderr, "it went on: %s" % done.stderr)
        return ""

    yield "an empty table", empty
    yield "every byte changed", hostile
    yield "an unknown base", no_base


def main():
    out, program, *images = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    for name, function in costs(out, program, *images) if images else tests(out, program):
        test(name, function)
    finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""pe.py: PE files as lld-link and MinGW's linker write them: what sfu-gen makes of their unwind codes, against
llvm-readobj, objdump and the machine code; the files that it writes; names and traces of sfu-trace; broken files."""
import os
import random
import re
import struct
import subprocess
import sys

from gen import GEN, OUT, SANITIZED, TC, WORK, gen, must, read, run, survives, test, write  # noqa: F401
from many import Many
import gen as gen_module

TRACE, LINT = "build/tools/sfu-trace", "build/tools/sfu-lint"
SOURCE = """
volatile int sink;
#define PART __attribute__((noinline))
PART int leaf(int a) { return a * 3 + sink; }
PART int mid(int a, int b)
{
    volatile char bytes[300];
    int sum;
    bytes[a] = 1;
    sum = leaf(a) + leaf(b);
    sink = sum;
    return sum + bytes[b];
}
PART int large(int a) { volatile char bytes[100000]; bytes[a] = 2; return mid(a, bytes[a]) + a; }
PART int dynamic(int n) { volatile char *p = __builtin_alloca(n); p[0] = 1; return mid(p[0], n) + large(n); }
PART double floating(double x, double y) { return x * dynamic((int)x) + y * mid(1, 2) + x * y; }
PART int early(int a, int b) { if (a == 7) return 1; sink = mid(a, b) * large(b); return mid(b, a) - leaf(b); }
PART int last(int a) { sink = leaf(a); return leaf(a + 1); }
PART int chosen(int a, int b) { return a ? last(b) : mid(a, b) + 1; }
void ___chkstk_ms(void) {}
void __chkstk(void) {}
int _fltused;
#ifdef ROOM
__attribute__((section(".sframe"))) const unsigned char room[8192] = {1};
#endif
unsigned long long efi_main(void *image, int *system)
{
    return (unsigned long long)floating(image != 0, *system) + early(*system, 2) + chosen(*system, 4);
}
"""
CLANG = {cpu: ["clang", "--target=%s-unknown-windows" % cpu, "-gdwarf", "-funwind-tables"]
         for cpu in ("x86_64", "aarch64")}
MINGW = ["x86_64-w64-mingw32-gcc", "-g"]
KINDS = [("x86_64 clang", CLANG["x86_64"]), ("x86_64 gcc", MINGW), ("aarch64 clang", CLANG["aarch64"])]


def build(kind, compiler, *flags, room=True):
    """The program as a PE file; links it without room for tables if not ROOM."""
    name = "%s/%s" % (WORK, "-".join([*kind.split(), *flags]) + ("" if room else "-bare"))
    write(name + ".c", SOURCE.encode())
    flags = [*flags, "-ffreestanding", *(["-DROOM"] if room else [])]
    if compiler == MINGW:
        run(*compiler, *flags, "-nostdlib", "-shared", "-Wl,--subsystem,10", "-e", "efi_main", name + ".c", "-o",
            name + ".efi")
    else:
        run(*compiler, *flags, "-c", name + ".c", "-o", name + ".obj")
        run("lld-link", "/debug:dwarf", "/subsystem:efi_application", "/entry:efi_main", "/nodefaultlib",
            "/out:" + name + ".efi", name + ".obj")
    return name + ".efi"


# ---- What others read ----

def unwind_codes(image):
    """{start: (name, end, [(offset, operation, register, number)])}, the last instruction first, by llvm-readobj."""
    text = run("llvm-readobj", "--unwind", image)[0]
    found = {}
    for part in text.split("RuntimeFunction {")[1:]:
        start, end = (re.search(word + r"Address: (\S* ?)\(0x([0-9A-F]+)\)", part) for word in ("Start", "End"))
        codes = re.findall(r"0x([0-9A-F]+): (\w+)(?: reg=(\w+))?(?:,? ?(?:size|offset)=(0x[0-9A-F]+|\d+))?", part)
        found[int(start[2], 16)] = (start[1].strip(), int(end[2], 16),
                                    [(int(at, 16), op, reg, int(number or "0", 0)) for at, op, reg, number in codes])
    return found


def expected(codes):
    """{offset: (register of the CFA, offset of the CFA, FP's slot or None)} behind each instruction of a prologue."""
    depth, base, slot, result = 8, None, None, {0: ("sp", 8, None)}  # base: of the CFA above FP
    for at, operation, register, number in reversed(codes):
        if operation == "PUSH_NONVOL":
            depth += 8
            slot = depth if register == "RBP" else slot
        elif operation in ("ALLOC_SMALL", "ALLOC_LARGE"):
            depth += number
        elif operation == "SET_FPREG":
            must(register == "RBP", "another frame register")
            base = depth - number
        elif operation not in ("SAVE_XMM128", "SAVE_XMM128_FAR"):
            raise gen_module.Wrong("a code that this test does not know: " + operation)
        result[at] = ("sp", depth, slot) if base is None else ("fp", base, slot)
    return result


def rows_of(image, *options):
    """[(start, end of the function, [(PC, CFA, FP)])] of the tables that sfu-gen makes, by readelf."""
    gen("-q", "--side=" + image + ".side", *options, image)
    text = run("%s/x86_64/readelf" % TC, "--sframe", image + ".side")[0]
    found = []
    for start, size, body in re.findall(r"pc = 0x([0-9a-f]+), size = (\d+) bytes\n(.*?)(?:\n\n|\Z)", text, re.S):
        rows = re.findall(r"(?m)^ +([0-9a-f]+) +(\S+) +(\S+)", body)
        found.append((int(start, 16), int(start, 16) + int(size),
                      [(int(pc, 16), cfa, fp) for pc, cfa, fp in rows if pc != "STARTPC"]))
    return found


def row_at(tables, pc):
    for start, end, rows in tables:
        if start <= pc < end:
            return [row for row in rows if row[0] <= pc][-1][1:]
    raise gen_module.Wrong("no row at 0x%x" % pc)


def disassembly(image):
    """[(PC, instruction)] by objdump."""
    text = run("%s/x86_64/objdump" % TC, "-d", "--no-show-raw-insn", image)[0]
    return [(int(pc, 16), code.strip()) for pc, code in re.findall(r"(?m)^ +([0-9a-f]+):\t(.*)$", text)]


# ---- x86_64: unwind codes ----

def prologues(kind, compiler, flags):
    """Behind each instruction of a prologue the rows say what llvm-readobj reads in the unwind codes. At each pop and
    return of an epilogue, of which the codes say nothing, the CFA is that of the pops that are left."""
    image = build(kind, compiler, *flags)
    tables, count = rows_of(image, "--cfi=keep", "--from=eh_frame"), 0
    codes = unwind_codes(image)
    must(len(codes) >= 6, "llvm-readobj finds %d functions" % len(codes))
    for start, (name, end, list_of) in codes.items():
        for offset, (register, cfa, slot) in expected(list_of).items():
            found, fp = row_at(tables, start + offset)
            must(found == "%s+%d" % (register, cfa), "%s+%d: %s, not %s+%d" % (name, offset, found, register, cfa))
            must(fp == ("u" if slot is None else "c-%d" % slot), "%s+%d: FP %s" % (name, offset, fp))
            count += 1
    code = disassembly(image)
    for i, (pc, instruction) in enumerate(code):
        pops = 0
        while instruction.startswith("ret") and any(s <= pc < e[1] for s, e in codes.items()):
            found = row_at(tables, code[i - pops][0])[0]
            must(found == "sp+%d" % (8 + 8 * pops) or (pops > 0 and found.startswith("fp+")),
                 "0x%x, %d pops before a return: %s" % (code[i - pops][0], pops, found))
            count += 1
            pops += 1
            if not code[i - pops][1].startswith("pop"):
                break
    return "%d rows" % count


def agree(kind, compiler, flags):
    """The machine code confirms the unwind codes, and the tables are those that sfu-gen would make."""
    image = build(kind, compiler, *flags)
    said = gen("-v", image)[1]
    must("CFI is wrong" not in said and "contradicts" not in said, said)
    must("100% of" in said, said)
    run(GEN, "--check", image)
    run(LINT, image)
    found = re.search(r"100% of (\d+) bytes with CFI", said)
    must(int(found[1]) > 250, said)
    return found[1] + " bytes"


def without_codes(kind, compiler, flags):
    """By the machine code alone: symbols say where functions begin."""
    image = build(kind, [word for word in compiler if word != "-funwind-tables"], *flags)
    said = gen("--find", "--forget", "-o", image + ".raw", image)[1]
    share = float(re.search(r"([0-9.]+)% of \d+ bytes of code", said)[1])
    must(share > 60, said)
    return "%.0f%% of the code" % share


# ---- What is written ----

class Pe:
    """The headers of a PE file, by the specification."""
    def __init__(self, data):
        self.data = bytearray(data)
        self.coff = self.number(0x3c) + 4
        self.optional = self.coff + 20
        self.table = self.optional + self.number(self.coff + 16, 2)
        self.num = self.number(self.coff + 2, 2)

    def number(self, at, size=4):
        return int.from_bytes(self.data[at:at + size], "little")

    def put(self, at, value, size=4):
        self.data[at:at + size] = value.to_bytes(size, "little")

    def section(self, name):
        """(RVA, size in memory, offset, size in the file)"""
        for i in range(self.num):
            at = self.table + 40 * i
            if bytes(self.data[at:at + 8]).rstrip(b"\0") == name.encode():
                return (self.number(at + 12), self.number(at + 8), self.number(at + 20), self.number(at + 16))
        raise gen_module.Wrong("no section " + name)

    def checksum(self):
        """As the loader of Windows computes it, word by word."""
        data, total = bytearray(self.data), 0
        data[self.optional + 64:self.optional + 68] = bytes(4)
        for (word,) in struct.iter_unpack("<H", bytes(data) + bytes(len(data) % 2)):
            total += word
            total = (total & 0xffff) + (total >> 16)
        return total + len(data)


def appended(kind, compiler):
    """A copy with one more section: everything else is as it was, and other readers find the section."""
    image = build(kind, compiler, "-O2", room=False)
    old, copy = Pe(read(image)), image + ".out"
    said = gen("--find", image, status=1)[1]
    must("no section .sframe to write into: reserve room by an array" in said, said)
    gen("-q", "--find", "--append=" + copy, image)
    new = Pe(read(copy))
    rva, memory, offset, size = new.section(".sframe")
    must(new.num == old.num + 1 and rva % 4096 == 0 and offset % 512 == 0 and size >= memory > 0, "the header")
    must(new.number(new.optional + 56) >= rva + memory and new.number(new.optional + 56) % 4096 == 0, "SizeOfImage")
    must(offset + size == len(new.data), "the file's size")
    must(new.number(new.optional + 8) == old.number(old.optional + 8) + size, "SizeOfInitializedData")
    if old.number(old.optional + 64) != 0:
        must(old.checksum() == old.number(old.optional + 64), "this test's checksum")
        must(new.checksum() == new.number(new.optional + 64), "checksum")
    for at in (new.coff + 2, new.coff + 3, *range(new.optional + 8, new.optional + 12),
               *range(new.optional + 56, new.optional + 60), *range(new.optional + 64, new.optional + 68),
               *range(new.table + 40 * old.num, new.table + 40 * old.num + 40)):
        new.data[at] = old.data[at]
    must(new.data[:len(old.data)] == old.data, "something else has changed")
    must("Name: .sframe" in run("llvm-readobj", "--sections", copy)[0], "llvm-readobj does not find it")
    run(GEN, "--check", "--find", copy)
    run(LINT, copy)
    before = read(copy)
    must("which is written into without" in gen("--append=" + copy, copy, status=1)[1], "twice")
    gen("-q", "--find", copy)
    must(read(copy) == before, "in place there are other tables")
    if kind == "x86_64 gcc":
        gen("-q", "--find", "--append=" + image, image)
        must(read(image) == before, "over the image itself")


def in_place(kind, compiler):
    """Nothing but the section and the checksum changes."""
    image = build(kind, compiler, "-O2")
    old = Pe(read(image))
    gen("-q", "--find", image)
    new = Pe(read(image))
    _, _, offset, size = old.section(".sframe")
    must(new.data[offset:offset + 2] == b"\xe2\xde", "no tables")
    if old.number(old.optional + 64) != 0:
        must(new.checksum() == new.number(new.optional + 64), "checksum")
    for pe in (old, new):
        pe.data[offset:offset + size] = bytes(size)
        pe.put(pe.optional + 64, 0)
    must(old.data == new.data, "something else has changed")


def refusals():
    image = build("x86_64 gcc", MINGW, "-O2", room=False)
    file = WORK + "/refused.efi"
    pe = Pe(read(image))
    signed = pe.optional + 112 + 4 * 8
    for change, options, said in (
            (lambda p: p.put(p.coff, 0x14c, 2), [], "a PE file for i386"),
            (lambda p: p.put(p.coff, 0x1c4, 2), [], "a PE file for 32-bit ARM"),
            (lambda p: p.put(p.coff, 0x5064, 2), [], "a CPU other than x86_64 and aarch64"),
            (lambda p: p.put(p.optional, 0x10b, 2), [], "without the header of an image"),
            (lambda p: p.put(p.coff + 2, 97, 2), [], "more than 96 sections"),
            (lambda p: p.put(p.optional + 24, 2 ** 64 - 4096, 8), [], "ImageBase"),
            (lambda p: p.put(p.table + 20, len(p.data)), [], "not all in the file"),
            (lambda p: p.data.__delitem__(slice(0x100, None)), [], "truncated PE headers"),
            (lambda p: (p.put(signed, 0x1000), p.put(signed + 4, 8)), ["--append=" + file + ".out"], "it is signed"),
            (lambda p: p.put(p.table + 40 * p.num, 1), ["--append=" + file + ".out"], "no room for the header"),
            (lambda p: p.put(p.optional + 60, p.table + 40 * p.num), ["--append=" + file + ".out"],
             "no room for the header"),
            (lambda p: p.put(p.optional + 36, 0), ["--append=" + file + ".out"], "alignments"),
            (lambda p: p.put(p.optional + 56, 4096), ["--append=" + file + ".out"], "SizeOfImage")):
        broken = Pe(pe.data)
        change(broken)
        write(file, broken.data)
        errors = gen("-q", *options, file, status=1)[1]
        must(said in errors and errors.count("\n") == 1, "%s: %s" % (said, errors))
        must(read(file) == broken.data, "the file has changed")


# ---- sfu-trace ----

def names(kind, compiler):
    """Functions and lines of a log, by the symbols and the debug information of the image."""
    image = build(kind, compiler, "-O0")
    addresses = dict((name, int(pc, 16)) for pc, name in re.findall(
        r"(?m)^([0-9a-f]+) \w (\w+)$", run("%s/%s/nm" % (TC, kind.split()[0]), image)[0]))
    log = "".join("#%d  0x%016x\n" % (i, addresses[name] + 8) for i, name in enumerate(("mid", "large", "last")))
    text = subprocess.run([TRACE, image], input=log, capture_output=True, check=True, text=True).stdout
    found = re.findall(r"(?m)^ +(\w+) at \S*\.c:(\d+)", text)
    must([name for name, _ in found] == ["mid", "large", "last"], text)
    lines = SOURCE.splitlines()
    for name, line in found:
        must(any("int %s(" % name in text for text in lines[max(0, int(line) - 8):int(line)]), (name, line))


def memory(flags):
    """A stack made by hand of what llvm-readobj says, unwound by the unwind codes alone: mid, large, dynamic."""
    image = build("x86_64 gcc", MINGW, *flags, room=False)
    codes, code = unwind_codes(image), disassembly(image)
    starts = {name: int(pc, 16) for pc, name in re.findall(
        r"(?m)^([0-9a-f]+) \w (\w+)$", run("%s/x86_64/nm" % TC, image)[0])}

    def call(caller, callee):
        """The PC behind the first call of CALLEE in CALLER."""
        calls = [i for i, (pc, text) in enumerate(code)
                 if pc >= starts[caller] and re.match(r"call +(0x)?%x\b" % starts[callee], text)]
        return code[calls[0] + 1][0]

    low, at = 0x40000, 0x50000
    sp, fp, slot, words = at, None, None, {}
    for name, back in (("mid", call("large", "mid")), ("large", call("dynamic", "large"))):
        rows = expected(codes[starts[name]][2])
        base, cfa, saved = rows[max(rows)]
        if base == "fp":
            if slot is not None:
                words[slot] = at + 0x40
            fp = fp or at + 0x40
            at += 0x40
        at += cfa
        slot = at - saved if saved else slot
        words[at - 8] = back
    data = bytearray(0x40000)
    for address, word in words.items():
        struct.pack_into("<Q", data, address - low, word)
    write(WORK + "/stack", data)
    pc = starts["mid"] + max(expected(codes[starts["mid"]][2]))
    text = run(TRACE, "--memory=%s/stack@%d" % (WORK, low), "--regs=pc=%d,sp=%d,fp=%d" % (pc, sp, fp or 0), image)[0]
    order = [text.find(word) for word in ("mid", "large", "dynamic")]
    must(-1 not in order and order == sorted(order) and "(frame pointer)" not in text[:order[2]], text)


# ---- broken files ----

def hostile(kind, compiler):
    """Bytes of the headers, of the unwind codes, of symbols and strings are others. The seed is fixed."""
    image = build(kind, compiler, "-O1")
    whole, chosen = Pe(read(image)), random.Random(kind)
    file = WORK + "/broken.efi"
    symbols = whole.number(whole.coff + 8)
    places = {"headers": range(0x3c, whole.table + 40 * whole.num), "symbols": range(symbols, len(whole.data))}
    for name in (".pdata", ".xdata", ".rdata"):
        if name.encode() in whole.data[whole.table:whole.table + 40 * whole.num]:
            _, memory_size, offset, _ = whole.section(name)
            places[name] = range(offset, offset + memory_size)
    lint, trace = (Many(tool, WORK, 60) for tool in (OUT + "/sfu-lint-sanitized", OUT + "/sfu-trace-sanitized"))
    good = count = 0
    for name, where in places.items():
        for i in range(60 if gen_module.LONG else 25):
            data = bytearray(whole.data)
            for _ in range(chosen.choice((1, 1, 2, 8))):
                data[chosen.choice(where)] = chosen.choice((0, 1, 0x7f, 0x80, 0xff, chosen.randrange(256)))
            write(file, data)
            good += survives(file, "-q", *((["--append=" + file + ".out"], [], ["--find"], ["--small"])[i % 4])
                             ).returncode == 0
            count += 1
            if i % 3 == 0:
                for done in (lint.run(file), trace.run(file, stdin=b"#0 0x140001010\n")):
                    must(not gen_module.NEVER.search(done.stderr) and done.returncode in (0, 1, 2), done.stderr[-400:])
    for size in range(1, len(whole.data), len(whole.data) // 40):
        write(file, whole.data[:size])
        survives(file, "-q")
    return "%d of %d files accepted" % (good, count)


def main():
    os.makedirs(WORK, exist_ok=True)
    for kind, compiler in KINDS:
        for level in ("-O0", "-Os", "-O2"):
            if kind != "aarch64 clang":
                test("%s %s, unwind codes" % (kind, level), prologues, kind, compiler, [level])
                test("%s %s, code and unwind codes agree" % (kind, level), agree, kind, compiler, [level])
        test("%s, code alone" % kind, without_codes, kind, compiler, ["-O2"])
        test("%s, in place" % kind, in_place, kind, compiler)
        test("%s, one more section" % kind, appended, kind, compiler)
        test("%s, names" % kind, names, kind, compiler)
        test("%s, broken" % kind, hostile, kind, compiler)
    test("refusals", refusals)
    test("a stack by hand, -O0", memory, ["-O0"])
    test("a stack by hand, -O2", memory, ["-O2"])
    gen_module.finish()


if __name__ == "__main__":
    sys.exit(main())

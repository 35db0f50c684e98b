#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""asm.py TC DIRECTORY [ARCH]: assembles what uses the macros of arch/sfu_asm.h for each CPU. Rows are compared as
objdump --sframe shows them; a program walks through the functions. TC has the binutils, a directory for each CPU.
ARCH: where the macros are, instead of arch/; the tests of RISC-V alone are run with them."""
import functools
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import Wrong, finish, must, test  # noqa: E402

CC = {cpu: cpu + "-linux-gnu-gcc" for cpu in ("x86_64", "aarch64", "s390x")}
EMULATOR = {"x86_64": [], "aarch64": ["qemu-aarch64"], "s390x": ["qemu-s390x"]}
# What the psABIs and the instructions of functions.S say of CFA, FP and RA behind each of them.
ROWS = {
    "x86_64": {
        "leaf": ["sp+8 u f"],
        "pushed": ["sp+8 u f", "sp+16 c-16 f", "sp+24 c-16 f", "sp+32 c-16 f", "sp+24 c-16 f", "sp+16 c-16 f",
                   "sp+8 u f"],
    },
    "aarch64": {
        "leaf": ["sp+0 u u"],
        "pushed": ["sp+0 u u", "sp+16 c-16 c-8", "sp+32 c-16 c-8", "sp+16 c-16 c-8", "sp+0 u u"],
    },
    "s390x": {
        "leaf": ["sp+160 u u"],
        "pushed": ["sp+160 u u", "sp+160 c-72 c-48", "sp+320 c-72 c-48", "sp+160 u u"],
    },
}
ARCH = "arch"  # where the macros are
OUTERMOST = ("thread_start.new", "thread_start", "thread_start_register.new", "thread_start_register", "begin_thread")
# An exception entry whose table is written in several ways; {} are END and the labels of its rows.
TRAP = """#include "sfu_asm.h"
    .text
entry:
    nop
0:
.Lsaved:
    nop
{label}:
    sfu_trap_begin entry{end}
    sfu_trap_row entry, cfa=160, ra=8
    sfu_trap_row {saved}, cfa={cfa}, ra=16, fp=24
    sfu_trap_end
    nop
"""
WAYS = {  # name: label at the end, END, label of the second row
    "a symbol": ("entry_end", ", entry_end", ".Lsaved"),
    "a .L label": (".Lend", ", .Lend", ".Lsaved"),
    "a number": ("1", ", 1b", "0b"),
    "nothing": ("1", "", ".Lsaved"),
}
WRONG = {  # what is said of it
    ("1", ", 1f", ".Lsaved"): "END is a label above it (0b, not 0f), or is left out",
    ("1", ", .", ".Lsaved"): "END is a label above it, or is left out",
    ("1", ", nowhere", ".Lsaved"): "END is a label above it, or is left out",
}


class Bench:
    def __init__(self, tc, cpu, directory):
        self.cpu, self.tools, self.directory = cpu, os.path.join(tc, cpu), os.path.join(directory, cpu)
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, *command):
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def must(self, *command):
        status, said = self.run(*command)
        if status != 0:
            raise Wrong(f"{' '.join(command[:1])}: {said[-300:]!r}")
        return said

    def compiler(self, *arguments):
        return CC[self.cpu], f"-B{self.tools}/", "-Wa,--gsframe", "-I" + ARCH, *arguments

    def tool(self, name, *arguments):
        return self.must(os.path.join(self.tools, name), *arguments)

    def text(self, name):
        self.tool("objcopy", "-O", "binary", "-j", ".text", self.path(name), self.path("text.bin"))
        with open(self.path("text.bin"), "rb") as file:
            return file.read()

    def trap(self, way, name):
        with open(self.path(name + ".S"), "w", encoding="utf-8") as file:
            file.write(TRAP.format(label=way[0], end=way[1], saved=way[2], cfa=320))
        return self.run(*self.compiler("-c", self.path(name + ".S"), "-o", self.path(name + ".o")))


def equal(got, wanted, what):
    must(got == wanted, f"{what}: {got!r} instead of {wanted!r}")


def test_rows(bench):
    bench.must(*bench.compiler("-c", "test/asm/functions.S", "-o", bench.path("functions.o")))
    symbols = {int(m[1], 16): m[2] for m in
               re.finditer(r"^(\w+) \w+ T (\S+)", bench.tool("nm", "-S", bench.path("functions.o")), re.M)}
    got = {}
    for block in bench.tool("objdump", "--sframe", bench.path("functions.o")).split("func idx")[1:]:
        start = int(re.search(r"pc = 0x([0-9a-f]+)", block)[1], 16)
        got[symbols[start]] = [" ".join(m[1].split()) for m in re.finditer(r"^ +[0-9a-f]{16} +(\S.*)$", block, re.M)]
    wanted = dict(ROWS[bench.cpu], **{name: ["RA undefined"] for name in OUTERMOST})
    equal(got, wanted, "rows")


def test_no_asm(bench):
    """The code is the same, and there is no table: neither by this assembler nor by an older one that has none."""
    bench.must(*bench.compiler("-c", "test/asm/functions.S", "-o", bench.path("functions.o")))
    bench.trap(WAYS["a symbol"], "trap")
    for old in (False, True):
        for source, name in (("test/asm/functions.S", "functions"), (bench.path("trap.S"), "trap")):
            command = (CC[bench.cpu], "-I" + ARCH) if old else bench.compiler()
            bench.must(*command, "-DSFU_NO_ASM", "-c", source, "-o", bench.path("without.o"))
            equal(bench.text("without.o"), bench.text(name + ".o"), f"code of {name}")
            sections = bench.tool("objdump", "-h", bench.path("without.o"))
            equal(re.findall(r" (\.sframe\S*|\.eh_frame)", sections), [], f"sections of {name}")


@functools.lru_cache(None)
def one_file(directory):
    """The folder of the one file, which is made once for all CPUs."""
    folder = os.path.join(directory, "dist")
    subprocess.run(["python3", "-B", "port/dist/dist.py", folder], check=True)
    return folder


def test_one_file(bench):
    """The one file of `make dist` makes the same of everything."""
    bench.trap(WAYS["a symbol"], "trap")
    dist = one_file(os.path.dirname(bench.directory))
    for source in ("test/asm/functions.S", bench.path("trap.S")):
        seen = []
        for folder in (ARCH, dist):
            bench.must(CC[bench.cpu], f"-B{bench.tools}/", "-Wa,--gsframe", f"-I{folder}", "-c", source, "-o",
                       bench.path("same.o"))
            seen.append(bench.tool("objdump", "-s", bench.path("same.o")))
        equal(seen[1], seen[0], f"sections of {source}")


def test_end(bench):
    """However END is said, the table is the same; what cannot be END is refused in words that say what to write."""
    tables = {}
    for name, way in WAYS.items():
        status, said = bench.trap(way, "trap")
        equal(status, 0, f"END is {name}: {said}")
        tables[name] = bench.tool("objdump", "--sframe=.sframe.trap.entry", bench.path("trap.o")).split("Contents")[1]
    for name, table in tables.items():
        equal(table, tables["a symbol"], f"END is {name}")
    nop = 1 if bench.cpu == "x86_64" else 4
    equal(re.findall(r"size = (\d+) bytes", tables["a symbol"]), [str(2 * nop)], "size")
    for way, sentence in WRONG.items():
        status, said = bench.trap(way, "wrong")
        equal((status != 0, sentence in said), (True, True), f"END is '{way[1]}': {said}")


def build_walk(bench):
    bench.must(*bench.compiler("-std=gnu99", "-O2", "-g", "-static", "-fasynchronous-unwind-tables",
                               "-fno-omit-frame-pointer", "-I.", "-Iport/linux", "test/asm/walk.c",
                               "test/asm/functions.S",
                               "port/linux/sfu_linux.c", "port/linux/restorer.S", "sfu.c", "test/lib/check.c",
                               "-o", bench.path("walk")))


# RISC-V and the CPUs of 32 bits, whose tables no assembler writes: what readelf reads in .eh_frame, and the bytes of a
# trap frame's rows beside docs/format.md and the specification's 2.2 to 2.4. CFA, two registers that calls keep, FP and
# RA behind each instruction, by the psABI.
RISCV_RELAX = ["-Wa,-mrelax", "-Wa,-mno-relax"]


def riscv(word, number, emulation, *flags):
    nop, first, second = 2 if "imac" in flags[0] else 4, f"c-{word}", f"c-{2 * word}"
    rows = {
        "leaf": ["sp+0 u u u"],
        "pushed": ["sp+0 u u u", "sp+16 u u u", f"sp+16 u u {first}", f"sp+16 {second} u {first}",
                   f"sp+32 {second} u {first}", f"sp+32 {second} c-{16 + word} {first}", f"sp+32 {second} u {first}",
                   f"sp+16 {second} u {first}", f"sp+16 {second} u u", "sp+16 u u u", "sp+0 u u u"],
    }
    return {"tools": "riscv64-linux-gnu-", "abi": number, "flags": flags, "link": ["-m", emulation], "nop": nop,
            "rows": rows, "at": [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12], "saved": ("s0", "s1", "ra"),
            "no caller": "r1 (ra)", "sp": 2, "word": word, "ways": RISCV_RELAX}


def arm(number, nop, *flags):
    rows = {
        "leaf": ["r13+0 u u u"],
        "pushed": ["r13+0 u u u", "r13+8 c-8 u c-4", "r13+16 c-8 c-16 c-4", "r13+8 c-8 u c-4"],
    }
    return {"tools": "arm-none-eabi-", "abi": number, "flags": flags, "link": [], "nop": nop, "rows": rows,
            "saved": ("r7", "r4", "ra"), "no caller": "r14", "sp": 13, "ways": ["-g"]}


I386_ROWS = {
    "leaf": ["esp+4 u u c-4"],
    "pushed": ["esp+4 u u c-4", "esp+8 c-8 u c-4", "esp+12 c-8 c-12 c-4", "esp+8 c-8 u c-4", "esp+4 u u c-4"],
}


# gcc does not tell the assembler of -mthumb: where the CPU has A32 code, too, a file says what its code is.
OWN = {
    "riscv64": riscv(8, 0x81, "elf64lriscv", "-march=rv64imac_zicsr", "-mabi=lp64"),
    "riscv32": riscv(4, 0x82, "elf32lriscv", "-march=rv32imac_zicsr", "-mabi=ilp32"),
    "riscv32e": riscv(4, 0x82, "elf32lriscv", "-march=rv32e_zicsr", "-mabi=ilp32e"),
    "arm": arm(0x83, 4, "-mcpu=cortex-a15", "-marm"),
    "thumb": arm(0x84, 2, "-mcpu=cortex-a15", "-mthumb", "-Wa,-mthumb"),
    "thumb-m0": arm(0x84, 2, "-mcpu=cortex-m0", "-mthumb"),
    "i386": {"tools": "x86_64-linux-gnu-", "abi": 0x85, "flags": ("-m32",), "link": ["-m", "elf_i386"], "nop": 1,
             "rows": I386_ROWS, "at": [0, 1, 2, 5, 6], "saved": ("ebp", "ebx", "ra"), "no caller": "r8 (eip)", "sp": 4,
             "fixed": -4, "ways": ["-g"]},
}


def own_tool(bench, own, name, *arguments):
    return bench.must(own["tools"] + name, *arguments)


def own_frames(bench, own, image):
    """{function: rows of CFA, FP, a register, RA}, as readelf shows them; an undefined RA is "undefined"."""
    symbols = {int(m[1], 16): m[2]
               for m in re.finditer(r"^(\w+) T (\S+)", own_tool(bench, own, "nm", image), re.M)}
    got, common = {}, ""
    for block in own_tool(bench, own, "readelf", "-wF", image).split("\n\n"):
        if " CIE " in block:
            common = block
        start = re.search(r"FDE .* pc=([0-9a-f]+)\.\.", block)
        if start is None:
            continue
        if "LOC" not in block:  # what the CIE says, which holds from the start of each function
            block = common
        columns = re.search(r"LOC +(.*)", block)[1].split()
        rows = []
        for line in re.findall(r"^[0-9a-f]{8,16} +(\S.*)$", block.split("LOC")[1], re.M):
            said = dict(zip(columns, line.split()))
            rows.append(" ".join(said.get(name, "u") for name in ("CFA", *own["saved"])))
        got[symbols[int(start[1], 16)]] = rows
    return got


def own_places(bench, own, image):
    """The numbers of the instructions of "pushed" at which its rows begin."""
    code = re.search(r"^[0-9a-f]+ <pushed>:\n((?:.+\n)+)", own_tool(bench, own, "objdump", "-dz", image), re.M)[1]
    places = [int(at, 16) for at in re.findall(r"^ *([0-9a-f]+):", code, re.M)]
    rows = re.search(r"pc=0*%x\.\.[^\n]*\n.*LOC[^\n]*\n((?:[0-9a-f]+ .+\n)+)" % places[0],
                     own_tool(bench, own, "readelf", "-wF", image) + "\n")[1]
    return [places.index(int(at, 16)) for at in re.findall(r"^([0-9a-f]+) ", rows, re.M)]


def own_assembled(bench, own, name, *flags):
    """The object NAME of functions.S, in which no linker shortens code."""
    flags = [*own["flags"], *own["ways"][1:], *flags]
    own_tool(bench, own, "gcc", *flags, "-I" + ARCH, "-c", "test/asm/functions.S", "-o", bench.path(name))


def test_own_rows(bench, own):
    own_assembled(bench, own, "functions.o")
    own_tool(bench, own, "ld", *own["link"], "-e", "leaf", "--defsym=thread_main=0x10000",
             bench.path("functions.o"), "-o", bench.path("functions"))
    got = own_frames(bench, own, bench.path("functions"))
    for name, rows in own["rows"].items():
        equal(got[name], rows, f"rows of {name}")
    if "at" in own:
        equal(own_places(bench, own, bench.path("functions")), own["at"], "instructions where rows begin")
    dump = own_tool(bench, own, "readelf", "-wf", bench.path("functions"))
    equal(dump.count("DW_CFA_undefined: " + own["no caller"]), len(OUTERMOST), "functions without a caller")


def test_own_code(bench, own):
    """RISC-V: what the macros do, instruction by instruction. Each register is saved whole where its row says, and
    comes back; a thread's function is called, and nothing is executed behind the call."""
    word = own["word"]
    own_assembled(bench, own, "code.o")
    code = {}
    for block in own_tool(bench, own, "objdump", "-dz", "-M", "no-aliases", bench.path("code.o")).split("\n\n"):
        name = re.search(r"^[0-9a-f]+ <(\S+)>:$", block, re.M)
        if name:
            code[name[1]] = re.findall(r"\t(?:c\.)?([a-z0-9.]+)(?:\t(\S+))?",
                                       re.sub(r"(?m)^ *\w+:\t\S+ *", "", block))
    store, load = ("sd", "ld") if word == 8 else ("sw", "lw")
    sp, slots, back = 0, {}, {}
    for name, operands in code["pushed"]:
        place = re.match(r"(\w+),(-?\d+)\(sp\)", operands)
        if name in ("addi", "addi16sp") and operands.startswith("sp,"):
            sp += int(operands.split(",")[-1])
        elif place:
            (slots if name.startswith("s") else back)[place[1]] = (name.replace("sp", ""), sp + int(place[2]))
    where = {"ra": -word, "s0": -2 * word, "s1": -16 - word}
    equal((sp, slots), (0, {name: (store, at) for name, at in where.items()}), "saved")
    equal(back, {name: (load, at) for name, at in where.items()}, "put back")
    for name in ("thread_start", "thread_start_register"):
        # The byte in front of a new thread's PC is looked up.
        equal(code[name + ".new"][0][0] in ("nop", "addi"), True, name + ".new")
        call, stop = code[name][-2:]
        equal((call[0], call[1].startswith("zero"), stop[0]), ("jalr", False, "unimp"), name)


def test_own_no_asm(bench, own):
    test_own_rows(bench, own)
    own_assembled(bench, own, "without.o", "-DSFU_NO_ASM")
    said = [own_tool(bench, own, "objdump", "-d", bench.path(name)).split("section .text")[1]
            for name in ("functions.o", "without.o")]
    equal(said[1], said[0], "code")
    equal(re.findall(r" (\.sfu_sframe\S*|\.eh_frame)", own_tool(bench, own, "objdump", "-h", bench.path("without.o"))),
          [], "sections")


def test_own_end(bench, own):
    """However END is said, and whether the linker relaxes code or not, the table is what the format's page says. The
    CFA may be at any offset."""
    sp, nop = own["sp"] << 3 | 3, own["nop"]
    rows = [(0, [(sp, 160), (sp, 8)]), (nop, [(sp, 325), (sp, 16), (sp, 24)])]
    for name, way in WAYS.items():
        for relax in own["ways"]:
            with open(bench.path("trap.S"), "w", encoding="utf-8") as file:
                file.write(TRAP.format(label=way[0], end=way[1], saved=way[2], cfa=325))
            own_tool(bench, own, "gcc", *own["flags"], relax, "-I" + ARCH, "-c", bench.path("trap.S"), "-o",
                     bench.path("trap.o"))
            equal(own_trap(bench, own), (own["abi"], rows, 2 * nop), f"END is {name}, {relax}")


def own_trap(bench, own):
    """(ABI, rows, size of the function) of the one table of trap.o, linked."""
    own_tool(bench, own, "ld", *own["link"], "-e", "0", "-Ttext=0x10000", bench.path("trap.o"), "-o",
             bench.path("trap"))
    own_tool(bench, own, "objcopy", "-O", "binary", "--set-section-flags", ".sfu_sframe.trap.entry=alloc",
             "-j", ".sfu_sframe.trap.entry", bench.path("trap"), bench.path("trap.bin"))
    with open(bench.path("trap.bin"), "rb") as file:
        data = file.read()
    magic, version, flags_, number, fp, ra, aux, fdes, rows, length, at_fdes, at_rows = struct.unpack_from(
        "<HBBBbbBIIIII", data)
    equal((magic, version, flags_, fp, ra, aux, fdes, rows, at_fdes, at_rows),
          (0x5f75, 3, 4, 0, own.get("fixed", 0), 0, 1, 2, 0, 16), "header")
    start, size, offset = struct.unpack_from("<qII", data, 28)
    address = int(re.search(r"\.sfu_sframe\.trap\.entry +\S+ +([0-9a-f]+)",
                            own_tool(bench, own, "readelf", "-SW", bench.path("trap")))[1], 16)
    total = address + 28 + start
    equal(total & (0xfffffffe if own["sp"] == 13 else 0xffffffff if own["sp"] == 4 else -1), 0x10000,
          "start")  # docs/format.md 3.10, 4.9
    equal(struct.unpack_from("<HBBB", data, 44 + offset), (2, 0x81, 1, 0), "attributes")
    found, at = [], 44 + offset + 5
    for _ in range(2):
        place, info = struct.unpack_from("<HB", data, at)
        count = info >> 1 & 15
        equal((info & 1, info >> 5), (1, 1), "info byte")
        words = struct.unpack_from(f"<{count}h", data, at + 3)
        found.append((place, list(zip(words[::2], words[1::2]))))
        at += 3 + 2 * count
    equal(at, 44 + length, "length")
    return number, found, size


def own_tables(tc, directory, cpus):
    for cpu in cpus:
        code = [test_own_code] if "word" in OWN[cpu] else []
        for function in (test_own_rows, *code, test_own_no_asm, test_own_end):
            test(f"{cpu} {function.__name__[9:]}", function, Bench(tc, cpu, directory), OWN[cpu])


def main():
    global ARCH
    tc, directory = sys.argv[1:3]
    if len(sys.argv) > 3:
        ARCH = sys.argv[3]
        own_tables(tc, directory, ("riscv64", "riscv32", "riscv32e"))
        finish()
    own_tables(tc, directory, OWN)
    for cpu in CC:
        for function in (test_rows, test_no_asm, test_one_file, test_end):
            test(f"{cpu} {function.__name__[5:]}", function, Bench(tc, cpu, directory))
        bench = Bench(tc, cpu, directory)
        build_walk(bench)
        subprocess.run(["test/lib/check.sh", f"{cpu} walk", *EMULATOR[cpu], bench.path("walk")], check=False)
    finish()


main()

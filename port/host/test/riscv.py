#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""riscv.py riscv64|riscv32: tests of sfu-gen and sfu-lint with images of RISC-V, in build/host. Prints a line for each.

Tables of RISC-V are not SFrame (docs/format.md), so there is no assembler's to be equal to, and objdump does not read
them. Programs walk their own stacks by them, and libdw reads the same CFI at every PC.
"""
import json
import os
import random
import struct
import sys

from host import finish, must, read, run, test, write

ABI = sys.argv[1]
WORD = 8 if ABI == "riscv64" else 4
OUT, GEN, LINT = "build/host", "build/tools/sfu-gen", "build/tools/sfu-lint"
WORK = "%s/work/%s" % (OUT, ABI)
MACHINE = ["-march=rv64gc", "-mabi=lp64d"] if WORD == 8 else ["-march=rv32imac", "-mabi=ilp32"]
GCC = ["riscv64-linux-gnu-gcc", *MACHINE]
CLANG = ["clang", "--target=%s-linux-gnu" % ABI, *MACHINE]
LD = ["riscv64-linux-gnu-ld", "-m", "elf%dlriscv" % (8 * WORD), "--no-warn-rwx-segments"]
LLD = ["ld.lld", "-m", "elf%dlriscv" % (8 * WORD)]
QEMU = "qemu-" + ABI
LIBRARIES = "/usr/riscv64-linux-gnu/lib/"
ROOM = """    .sfu_sframe : ALIGN(8) {
        sframe_start = .; QUAD(0) . += 64 + SIZEOF(%s) * 2; . = ALIGN(8); sframe_end = .;
    } :text
"""
LAST = "    .eh_frame (INFO) : { KEEP(*(.eh_frame)) }\n"


def gen(*arguments, status=0):
    return run(GEN, *arguments, status=status)


class Elf:
    """ELF files of both classes, as far as tests look into them."""

    def __init__(self, file):
        self.data = read(file)
        if self.data[4] == 2:
            at, = self.get("Q", 40)
            size, count, names = self.get("HHH", 58)
            headers = [self.get("IIQQQQIIQQ", at + i * size) for i in range(count)]
        else:
            at, = self.get("I", 32)
            size, count, names = self.get("HHH", 46)
            headers = [self.get("IIIIIIIIII", at + i * size) for i in range(count)]
        self.sections = {}
        for header in headers:
            start = headers[names][4] + header[0]
            name = self.data[start:self.data.index(0, start)].decode()
            self.sections[name] = {"type": header[1], "flags": header[2], "addr": header[3], "offset": header[4],
                                   "size": header[5]}

    def get(self, form, at):
        return struct.unpack_from("<" + form, self.data, at)

    def section(self, name):
        s = self.sections[name]
        return self.data[s["offset"]:s["offset"] + s["size"]]

    def segment_types(self):
        wide = self.data[4] == 2
        at, = self.get("Q" if wide else "I", 32 if wide else 28)
        size, count = self.get("HH", 54 if wide else 42)
        return [self.get("I", at + i * size)[0] for i in range(count)]


def are_own(image, type_of=1):
    """Tables that are not SFrame's, and nothing that says so."""
    elf = Elf(image)
    must(".sframe" not in elf.sections, "a section .sframe")
    must(elf.sections[".sfu_sframe"]["type"] == type_of, "type 0x%x" % elf.sections[".sfu_sframe"]["type"])
    must(0x6474e554 not in elf.segment_types(), "PT_GNU_SFRAME")
    table = elf.section(".sfu_sframe")
    magic, version, _, abi = struct.unpack_from("<HBBB", table)
    must((magic, version, abi) == (0x5f75, 3, 0x81 if WORD == 8 else 0x82), "%x %x %x" % (magic, version, abi))
    return table


# ---- Programs that walk themselves ----

def compile_program(compiler, *flags):
    objects = []
    for source in ("sfu.c", "port/host/test/program.c"):
        objects.append("%s/%s.o" % (WORK, os.path.basename(source)))
        run(*compiler, "-ffreestanding", "-fno-pie", "-fno-stack-protector", "-fno-optimize-sibling-calls",
            "-std=gnu99", "-w", "-I.", *flags, "-c", source, "-o", objects[-1])
    return objects


def link(linker, room, objects, *flags):
    image, script = WORK + "/program.elf", WORK + "/program.ld"
    text = read("port/host/test/room.ld").decode().replace("@ROOM@", room).replace("@LAST@", LAST)
    write(script, text.encode())
    run(*linker, *flags, "-T", script, "-o", image, *objects)
    return image


def in_place(image, *options):
    gen("-q", "--strict", *options, image)
    table = are_own(image)
    gen("-q", "--check", "--strict", image)
    run(QEMU, image)
    first = read(image)
    gen("-q", *options, image)
    must(read(image) == first, "made again, they are others")
    run(LINT, "--strict", image)
    return table


def linked(compiler, linker, *flags):
    objects = compile_program(compiler, "-fasynchronous-unwind-tables", *flags)
    return "%d bytes of room" % len(in_place(link(linker, ROOM % ".eh_frame", objects)))


def debug_frame():
    objects = compile_program(GCC, "-O2", "-g1", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
                              "-DCFI_SECTIONS")
    image = link(LD, ROOM % ".debug_frame", objects)
    must(".debug_frame" in Elf(image).sections, "no .debug_frame")
    in_place(image)


def small():
    image = link(LD, ROOM % ".eh_frame", compile_program(GCC, "-O2", "-fasynchronous-unwind-tables"))
    plain = int(gen("-q", "--size", image)[0])
    in_place(image, "--small")
    sizes = [int(gen("-q", "--size", "--small", "--fp=" + fp, image)[0]) for fp in ("keep", "auto")]
    must(sizes[1] <= sizes[0] < 0.9 * plain, "%d, %s" % (plain, sizes))
    return "%d bytes, small %d, without FP %d" % (plain, *sizes)


def ways_out():
    """--append, --side, --object, --asm, -o: each has the same tables, if it has the same address."""
    objects = compile_program(GCC, "-O2", "-fasynchronous-unwind-tables")
    symbols = WORK + "/symbols.s"
    write(symbols, b".section .rodata\n.globl sframe_start, sframe_end\nsframe_start:\nsframe_end:\n")
    run(*LD, "-r", "--defsym=sframe_start=0x600000", "--defsym=sframe_end=0x600000", *objects, "-o", WORK + "/all.o")
    image = link(LD, "", [WORK + "/all.o"])
    out = {kind: "%s/out.%s" % (WORK, kind) for kind in ("append", "side", "object", "asm", "raw", "again")}
    at = "--address=0x600000"
    gen("-q", "--append=" + out["append"], image)
    gen("-q", "--side=" + out["side"], image)
    gen("-q", "--object=" + out["object"], at, image)
    gen("-q", "--asm=" + out["asm"], at, image)
    gen("-q", "-o", out["raw"], at, image)
    run(*GCC, "-c", "-x", "assembler", out["asm"], "-o", out["again"])
    raw = read(out["raw"])
    for kind in ("object", "again"):
        must(Elf(out[kind]).section(".sfu_sframe")[:len(raw)] == raw, kind)
        must(".sframe" not in Elf(out[kind]).sections, kind)
    table = are_own(out["append"])
    must(len(table) == len(raw), "--append: another size")
    must(len(are_own(out["side"])) == len(raw), "--side: another size")
    gen("-q", "--check", "--strict", out["append"])
    run("riscv64-linux-gnu-strip", out["append"])
    must(are_own(out["append"]) == table, "strip")
    shown = run("riscv64-linux-gnu-readelf", "-lSW", out["append"])
    must(shown[1] == "", shown[1])


# ---- CFI ----

def assemble(name, text, *flags):
    source, image = "%s/%s.s" % (WORK, name), "%s/%s.elf" % (WORK, name)
    write(source, (".globl _start\n_start:\n" + text).encode())
    run(*GCC, "-c", source, "-o", source + ".o")
    run(*LD, *flags, source + ".o", "-o", image)
    return image


def findings(image):
    return [f["what"] for f in json.loads(gen("--json", "--size", image)[0])["findings"]]


def vectors():
    """A frame whose size depends on vlenb (DWARF 7202) cannot be said: it is listed, and the others have rows."""
    # DW_CFA_def_cfa_expression: breg2 0; bregx 7202, 0; plus
    text = (".cfi_startproc\nnop\n.cfi_escape 0x0f, 7, 0x72, 0, 0x92, 0xa2, 0x38, 0, 0x22\nnop\n.cfi_endproc\n"
            "other: .cfi_startproc\nnop\n.cfi_endproc\n")
    said = findings(assemble("vector", text))
    must(len(said) == 1 and "expression" in said[0], str(said))


def own_section():
    """Whatever is called .sframe is neither read nor written."""
    image = assemble("own", ".cfi_startproc\nnop\n.cfi_endproc\n.section .sframe, \"a\"\n.fill 4096\n")
    must(".sfu_sframe to write into" in gen(image, status=1)[1], "the message")
    before = read(image)
    must("no section .sfu_sframe" in gen("--check", image, status=1)[1], "--check")
    must(read(image) == before, "written")


def relaxed():
    """Advances of CFI are differences of symbols: the same rows whether the linker shortens code or not, moved."""
    store, load = ("sd", "ld") if ABI == "riscv64" else ("sw", "lw")
    text = (".cfi_startproc\naddi sp, sp, -16\n.cfi_def_cfa_offset 16\n%s ra, 8(sp)\n.cfi_offset ra, -8\n%s"
            "%s ra, 8(sp)\n.cfi_restore ra\naddi sp, sp, 16\n.cfi_def_cfa_offset 0\nret\n.cfi_endproc\n"
            "far: .cfi_startproc\nret\n.cfi_endproc\n" % (store, "call far\n" * 41, load))
    sizes = {}
    for flag in ("--relax", "--no-relax"):
        image = assemble("relax", text, flag)
        numbers = json.loads(gen("--json", "--size", image)[0])
        must(numbers["findings"] == [] and numbers["rows"] == 6, str(numbers))
        libdw(image)
        sizes[flag] = numbers["covered"]
    must(sizes["--relax"] < sizes["--no-relax"], str(sizes))
    return "%(--relax)d bytes of code instead of %(--no-relax)d" % sizes


def objects_are_relocated():
    """sfu-lint reads the CFI of objects, whose advances only relocations know: those of clang's epilogues are found
    where they are in the linked program."""
    source = WORK + "/epilogue.c"
    write(source, b"long g(long); long f(long x) { return g(x) + g(x + 1); }\n")
    run(*GCC, "-O2", "-fasynchronous-unwind-tables", "-c", source, "-o", source + ".o")
    shown = run("riscv64-linux-gnu-readelf", "-rW", source + ".o")[0]
    must("R_RISCV_SET6" in shown and "R_RISCV_SUB6" in shown, "no such relocations")
    run(*LD, "-r", source + ".o", "-o", source + ".r.o")
    for file in (source + ".o", source + ".r.o"):
        text = "".join(run(LINT, file, status=1))
        must("no section .sfu_sframe" in text, text[:200])


def libdw(image):
    made = WORK + "/truth.bytes"
    gen("-q", "--keep-below-sp", "--keep-faults", "--address=0x1000", "-o", made, image)
    return run(OUT + "/truth", image, made, "0x1000")[0].strip()


def checked(image):
    """With all that sfu-gen mends its own check has nothing to say, and --small says the same."""
    for options in ([], ["--small"]):
        gen("-q", *options, "--append=" + WORK + "/checked", image)
        gen("-q", "--check", WORK + "/checked")
    numbers = json.loads(gen("--json", "--size", image)[0])
    return "%d of %d bytes; %d in epilogues" % (numbers["expressed"], numbers["covered"], numbers["epilogue"])


def plt():
    """Of GNU ld's PLT, which has no CFI: SP is the CFA and RA in its register at each instruction."""
    source = WORK + "/plt.s"
    write(source, b".globl f\nf: .cfi_startproc\ntail away@plt\n.cfi_endproc\n")
    run(*GCC, "-fPIC", "-c", source, "-o", source + ".o")
    for linker in (LD, LLD):
        image = WORK + "/plt.so"
        run(*linker, "-shared", source + ".o", "-o", image)
        numbers = json.loads(gen("--json", "--size", image)[0])
        must(numbers["plt"] == Elf(image).sections[".plt"]["size"] > 0 and not numbers["findings"], str(numbers))


def patterns(name):
    image = "build/step/%s/patterns-%s" % (ABI, name)
    if not os.path.exists(image):
        run("test/truth/step/build.sh", image)
    return image


# ---- Broken files ----

def hostile():
    """Bytes that are changed at random, under the sanitizers."""
    image = link(LD, ROOM % ".eh_frame", compile_program(GCC, "-O1", "-fasynchronous-unwind-tables"))
    gen("-q", image)
    whole = read(image)
    elf = Elf(image)
    chance = random.Random(20261123)
    places = [range(64)] + [range(s["offset"], s["offset"] + s["size"]) for name, s in elf.sections.items()
                            if name in (".eh_frame", ".sfu_sframe")]
    for turn in range(60):
        broken = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            broken[chance.choice(chance.choice(places))] = chance.randrange(256)
        if turn % 6 == 0:
            del broken[chance.randrange(len(broken)):]
        write(WORK + "/broken", bytes(broken))
        for options in (["--size"], ["--check"]):
            status = os.spawnlp(os.P_WAIT, "sh", "sh", "-c", "exec %s -q %s %s >%s/log 2>&1" % (
                OUT + "/sfu-gen-sanitized", options[0], WORK + "/broken", WORK))
            must(status in (0, 1), "turn %d: status %d: %s" % (turn, status, read(WORK + "/log")[-300:]))
            must(b"Sanitizer" not in read(WORK + "/log") and b"runtime error" not in read(WORK + "/log"),
                 "turn %d: %s" % (turn, read(WORK + "/log")[:300]))


def main():
    os.makedirs(WORK, exist_ok=True)
    for name, compiler in (("gcc", GCC), ("clang", CLANG)):
        for level in ("-O0", "-O2", "-Os"):
            test("%s %s" % (name, level), linked, compiler, LD, level)
        test("%s, without compressed instructions" % name, linked, compiler, LD, "-O2",
             MACHINE[0].replace("gc", "g").replace("ac", "a"))
    test("clang, lld", linked, CLANG, LLD, "-O2", "-mno-relax")
    test(".debug_frame", debug_frame)
    test("--small", small)
    test("ways out", ways_out)
    test("vectors", vectors)
    test("own section", own_section)
    test("relaxed", relaxed)
    test("objects", objects_are_relocated)
    test("PLT", plt)
    for name in ("gcc12-O2", "gcc12-O0", "clang-O2", "gcc12-Os-save"):
        test("libdw patterns " + name, lambda name=name: libdw(patterns(name)))
        test("check patterns " + name, lambda name=name: checked(patterns(name)))
    if WORD == 8:
        for library in ("libc.so.6", "libasan.so.8"):
            test("libdw " + library, libdw, LIBRARIES + library)
            test("check " + library, checked, LIBRARIES + library)
    test("hostile", hostile)
    finish()


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""lint.py healthy ABI | kernel CPU | planted | worth | options | hostile: tests of sfu-lint. Prints a line for each.

healthy  real programs by each version's toolchain: nothing is found but what is wrong in them, which is named here
kernel   the same for the bare-metal kernels
planted  each fault and note that sfu-lint names, in images by real compilers: found, and nothing else
worth    shares, objects, reasons and differences, counted by other means
options  what --help says
hostile  broken files, under the sanitizers
"""
import glob
import json
import os
import random
import re
import struct
import subprocess
import sys

from broken import (LIMIT, NEVER, WITHOUT_EPILOGUE, Table, hostile_bytes, hostile_files, hostile_image,
                    hostile_truncated, plant_attribute, plant_info, plant_outermost, plant_word)
from host import (GCC, GEN, LINT, LONG, NOPS, OUT, TC, WORK, Elf, Wrong, build_patterns, finish, gen, lint, must, read,
                  run, test, write)
from many import Many
from programs import LAST_BESIDE, ROOM, ROOM_BESIDE, compile_program, link, script


def findings(result, level):
    """The findings of LEVEL: pairs of name and place."""
    return [(f["name"], f["where"]) for f in result["findings"] if f["level"] == level]


# ---- healthy ----

# FAULTS.md: ld-plt-v1.
PLT_V1 = [("wrong-cfa", ".plt"), ("wrong-cfa", ".plt.sec")]

# edges.c has code that no compiler writes. A CFA of SP + 2 GiB; then FAULTS.md: gas-old-rows: outermost and signal
# frames, an RA at another place on x86_64, a CFA by another register.
EDGES = {"v1": [("wrong-outermost", "outermost"), ("wrong-outermost", "outermost_later"),
                ("wrong-signal", "signal_rows")]}
EDGES["v2"] = EDGES["v1"]
EDGES["v3"] = []
PLACES = [("wrong-ra", "words_of_2"), ("wrong-ra", "words_of_4"), ("wrong-ra", "most")]
# Its aarch64 part has advances of less than an instruction, which CFI rounds.
ROUNDED = [("wrong-cfa", "address_255"), ("wrong-cfa", "address_65535"), ("wrong-cfa", "address_65536")]


def known(abi, level, version, program):
    """What is wrong in an image."""
    if program != "edges":
        return PLT_V1 if (abi, level, version) == ("x86_64", "Os", "v1") else []
    wrong = [("absurd-offset", "most")] + EDGES[version]
    if version == "v1":
        wrong.append(("wrong-cfa", "cfa_elsewhere"))
    if abi == "x86_64" and version != "v3":
        wrong += PLACES
    if abi.startswith("aarch64"):
        wrong += ROUNDED + ([("wrong-ra", "fp_alone")] if version == "v1" else [])
    return wrong


# Why functions of edges.c have no rows, in any version. "fp_alone" has some in version 1, which are wrong.
EDGES_BARE = {("signal_without_rows", "signal-frame"), ("fp_alone", "fp-without-ra"),
              ("fp_elsewhere", "needs-flexible"), ("cfa_elsewhere", "needs-flexible")}


def known_bare(abi, level, version, program):
    """What may have no rows: functions (* is any) and reasons; and how much of the code has rows all the same."""
    if program == "edges":
        return EDGES_BARE, 99.9
    if abi == "aarch64": # no linker writes tables for its PLT; libgcc, for arithmetic of 128 bits, has none
        return {(".plt", "plt"), ("*", "not-assembled")} if program == "sqlite3" else {(".plt", "plt")}, 97
    if (abi, level, program) == ("x86_64", "O3", "sqlite3") and version != "v3": # realigned stacks
        return {("*", "needs-flexible")}, 91
    if (abi, level, version) == ("x86_64", "Os", "v1"):
        return {(".plt.sec", "partly")}, 99
    return set(), 100


# Of patterns.c: signal trampolines, assembly without CFI, and FAULTS.md: gas-fp-without-ra.
PATTERNS_BARE = {("*", "signal-frame"), ("*", "no-cfi")}


def test_healthy(abi):
    os.makedirs(WORK, exist_ok=True)
    for file in sorted(glob.glob("build/decoders/%s-*/v*/*.x" % abi)):
        directory, version, program = file.split("/")[2:]
        which = abi, directory.split("-")[1], version, program.split(".")[0]
        test("%s %s %s" % (directory, version, program), healthy, file, known(*which), *known_bare(*which))
    for kind in ("clang-O0", "clang-O2", "gcc12-O2", "gcc12-Os") + (
            ("gcc12-O2-pac", "gcc12-O1-pacb") if abi.startswith("aarch64") else ()):
        image = "%s/lint/%s/patterns-%s" % (OUT, abi, kind)
        build_patterns(image)
        left_out = {("sum", "fp-without-ra")} if kind == "clang-O0" and abi.startswith("aarch64") else set()
        test("patterns " + kind, healthy, image, [], PATTERNS_BARE | left_out, 91)


def healthy(image, wrong, bare, share):
    result = lint(image)
    faults_found = findings(result, "fault")
    must(sorted(faults_found) == sorted(wrong), "found: %s" % faults_found)
    numbers = result["cfi"]
    must(numbers["pcs"] > 0 and (wrong or numbers["different"] == 0), str(numbers))
    for f in result["without_rows"]:
        must({(f["function"], f["reason"]), ("*", f["reason"])} & bare, "%s: %s" % (f["function"], f["reason"]))
    covered = 100 * result["covered_bytes"] / result["code_bytes"]
    run(LINT, "--require=%g" % share, *["--allow=%s:%s" % pair for pair in wrong], image)
    return "%.2f%% of %d bytes" % (covered, result["code_bytes"])


def test_kernel(cpu):
    test("%s kernel" % cpu, kernel, cpu)


def kernel(cpu):
    result = lint("build/bare/%s/kernel.elf" % cpu)
    must(findings(result, "fault") == [], str(findings(result, "fault")))
    # The exception entry, and x86_64's vectors or s390x's other entry; the beginnings of two CPUs, of threads, of a
    # restart.
    must(result["kinds"]["signal"]["functions"] == (1 if cpu == "aarch64" else 2) and
         result["kinds"]["outermost"]["functions"] == 4, str(result["kinds"]))
    # Vectors and boot code have no CFI, nor have x86_64's places to jump to. gcc 12 writes the room for the tracer in
    # front of the function's CFI on the other CPUs.
    reasons = {(f["object"].split("/")[-1], f["reason"]) for f in result["without_rows"]}
    # x86_64's is entered in 32-bit code.
    other = {("entry.S", "assembly"), ("boot.S", "other-mode")} if cpu == "x86_64" else {("traced.c", "partly")}
    must(reasons and reasons <= {("boot.S", "assembly"), ("boot.S", "partly")} | other, str(reasons))
    names = {os.path.basename(o["name"]) for o in result["objects"]}
    must({"sfu.c", "kernel.c", "boot.S", "machine.c"} <= names, str(names))


# ---- images ----

KEPT = "    .sframe : { sframe_start = .; KEEP(*(.sframe .sframe.*)) sframe_end = .; } :text\n"


# The program's own symbols of its tables: not all images here have them.
MARKS = ["-Dsframe_start=nowhere", "-Dsframe_end=nowhere"]


def bare(cpu, *flags):
    """Objects with CFI only."""
    return compile_program(cpu, [GCC[cpu]], "-O2", "-fasynchronous-unwind-tables", *MARKS, *flags)


def objects_with_tables(cpu, *flags):
    """Objects with tables of GNU as."""
    return bare(cpu, "-B%s/%s/" % (TC, cpu), "-Wa,--gsframe", *flags)


def link_kept(cpu, name, objects, place=KEPT):
    return link(name, ["%s/%s/ld" % (TC, cpu)], place, objects, "--defsym", "nowhere=0")


def objcopy(cpu, *arguments):
    run("%s/%s/objcopy" % (TC, cpu), *arguments)


class Tables:
    """Tables of version 2 or 3, written from the specification. Functions are (start, size, rows,
    options): a row is (start, info, words as bytes)."""

    ABIS = {"x86_64": (3, 0xf8, "<"), "aarch64": (2, 0, "<"), "s390x": (4, 0, ">")}

    def __init__(self, cpu, functions, version=3, order=None):
        abi, fixed, native = self.ABIS[cpu]
        self.order = order or native
        entries, fres, count = b"", b"", 0
        for start, size, rows, options in functions:
            info, info2, repeat = options.get("info", 2), options.get("info2", 0), options.get("repeat", 0)
            at = len(fres)
            if version == 3:
                fres += self.pack("HBBB", len(rows), info, info2, repeat)
                entries += self.pack("qII", start, size, at)
            else:
                entries += self.pack("iIIIBBH", start, size, at, len(rows), info, repeat, 0)
            for row_start, row_info, words in rows:
                fres += self.pack("I", row_start) + bytes([row_info]) + words
            count += len(rows)
        self.bytes = self.pack("HBBBBBBIIIII", 0xdee2, version, 1, abi, 0, fixed, 0, len(functions), count,
                               len(fres), 0, len(entries)) + entries + fres

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)


SPACE = "    .sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += 4096; sframe_end = .; } :text\n"


def symbol(cpu, image, name):
    """Address and size of a symbol."""
    for line in run("%s/%s/nm" % (TC, cpu), "-S", image)[0].splitlines():
        fields = line.split()
        if fields[-1] == name:
            return int(fields[0], 16), int(fields[1], 16) if len(fields) == 4 else 0
    raise Wrong("no symbol " + name)


def plain_row(cpu):
    """CFA = SP + 8 on x86_64, SP on aarch64, SP + 160 on s390x; nothing is saved."""
    return (0, 0x03, b"\x08" if cpu == "x86_64" else b"\0")


def with_tables(cpu, name, functions, **options):
    """An image of real code with just these tables in its room. The functions start at offsets from first()."""
    image = link_kept(cpu, name, bare(cpu), SPACE)
    elf = Elf(image)
    section = elf.sections[".sframe"]
    code = symbol(cpu, image, "first")[0]
    tables = Tables(cpu, [(code + start - section["addr"], *rest) for start, *rest in functions], **options).bytes
    elf.data[section["offset"]:section["offset"] + len(tables)] = tables
    write(image, elf.data)
    return image


# ---- planted ----

class Kept:
    """The tables of an image of GNU as, to be broken."""

    def __init__(self, image):
        self.elf = Elf(image)
        self.section = self.elf.sections[".sframe"]
        self.table = Table(self.elf)

    def save(self, name):
        write(name, self.elf.data)
        return name


def put_byte(offset, value):
    return lambda kept: kept.elf.data.__setitem__(kept.table.at + offset, value)


def zero(kept):
    at = kept.section["offset"]
    kept.elf.data[at:at + kept.section["size"]] = bytes(kept.section["size"])


def cut(kept):
    """The section's header gives it half of its size."""
    kept.elf.put("Q", kept.section["header"] + 32, kept.section["size"] // 2)


def no_alloc(kept):
    kept.elf.put("Q", kept.section["header"] + 8, 0)


def beyond(kept):
    """The section's header says that it is elsewhere in the file."""
    kept.elf.put("Q", kept.section["header"] + 24, kept.section["offset"] + 8)


def segment_flags(kept):
    at, = kept.elf.get("Q", 32)
    kept.elf.put("I", at + 4, 1)


def swap(kept):
    """Two entries change places."""
    a, b = kept.table.fde(0)[0], kept.table.fde(1)[0]
    first, second = kept.elf.get("qII", a), kept.elf.get("qII", b)
    kept.elf.put("qII", a, *second)
    kept.elf.put("qII", b, *first)


def enlarge(kept):
    at, _ = kept.table.fde(0)
    kept.elf.put("I", at + 8, kept.elf.get("I", at + 8)[0] + 64)


def count(kept):
    at = kept.table.at + 12
    kept.elf.put("I", at, kept.elf.get("I", at)[0] - 1)


def type_9(kept):
    kept.elf.data[kept.table.fde(1)[1] + 3] = 9


def descend(kept):
    """The second row of a function starts where the first does."""
    _, rows = kept.table.find(lambda rows: len(rows) > 1 and rows[1][3] == 1)
    kept.elf.data[rows[1][0]] = 0


def rowless(kept):
    """A function with flexible rows has none."""
    index, rows = kept.table.find(lambda rows: len(rows) == 1)
    kept.elf.put("HBB", kept.table.fde(index)[1], 0, 0, 1)
    at = kept.table.at + 12
    kept.elf.put("I", at, kept.elf.get("I", at)[0] - 1)


def far_start(kept):
    at, _ = kept.table.fde(kept.table.num_fdes - 1)
    kept.elf.put("q", at, kept.elf.get("q", at)[0] + (1 << 32))


def planted(function):
    return lambda kept: function(kept.table)


# What is changed in an image, the fault, and where it is said to be: a section, a symbol or None for any function.
PATCHES = [
    ("bad-magic", put_byte(0, 0), ".sframe"),
    ("bad-version", put_byte(2, 4), ".sframe"),
    ("bad-flags", put_byte(3, 0x81), ".sframe"),
    ("wrong-abi", put_byte(4, 9), ".sframe"),
    ("absurd-header", put_byte(6, 0x10), ".sframe"),
    ("unfilled-room", zero, ".sframe"),
    ("truncated", cut, ".sframe"),
    ("not-loaded", no_alloc, ".sframe"),
    ("not-loaded", beyond, ".sframe"),
    ("not-readable", segment_flags, ".sframe"),
    ("bad-order", swap, ".sframe"),
    ("overlap", enlarge, ".sframe"),
    ("bad-count", count, ".sframe"),
    ("corrupt-function", type_9, ".sframe"),
    ("corrupt-row", descend, ".sframe"),
    ("no-rows", rowless, ".sframe"),
    ("outside-code", far_start, ".sframe"),
    ("wrong-cfa", planted(lambda t: plant_word(t, 0)), None),
    ("wrong-signal", planted(lambda t: plant_attribute(t, 2, 0x80)), None),
    ("wrong-outermost", planted(plant_outermost), None),
]
# What else comes with it: the other faults that are true then.
BESIDE = {"absurd-header": {"wrong-ra", "absurd-offset"}, "wrong-cfa": {"absurd-offset"}, "not-loaded": {"bad-magic"},
          "wrong-ra": {"absurd-offset"}}


def test_planted():
    os.makedirs(WORK, exist_ok=True)
    for cpu in GCC:
        name = cpu + "-planted"
        objects = objects_with_tables(cpu, *(["-mbranch-protection=standard"] if cpu == "aarch64" else []))
        image = link_kept(cpu, name, objects)
        test("%s nothing planted" % cpu, clean, image)
        if cpu != "s390x":
            test("%s EFI" % cpu, efi, cpu, image)
        patches = list(PATCHES)
        if cpu != "x86_64":
            patches.append(("wrong-ra", planted(lambda t: plant_word(t, 1)), None))
        else:
            patches.append(("wrong-fp", planted(lambda t: plant_word(t, 1)), None))
        if cpu == "aarch64":
            patches.append(("wrong-signed-ra", planted(lambda t: plant_info(t, 0x80)), None))
        for fault, patch, where in patches:
            test("%s %s (%s)" % (cpu, fault, getattr(patch, "__name__", "")), find_patched, image, fault, patch, where)
        for function in (no_section, removed, discarded, collected, empty_section, no_bytes, strays, joined, unsorted,
                         wrong_start, wrong_end, other_section, unloaded, room, wrong_segment, byte_order, old_version,
                         absurd, last, unsafe, below_sp, wrong_row, no_outermost, no_cfi, mixed_objects, below_required,
                         lost_rows, idle_segment, dead_functions, doubtful_restore, relocatable, old_objects,
                         mostly_missing, not_in_flat, without_headers, stale_slot):
            test("%s %s" % (cpu, function.__name__.replace("_", " ")), function, cpu, objects)
    test("x86_64 SP that is no multiple of 8", odd_sp)
    test("s390x epilogues of clang", stale_epilogue)
    test("x86_64 starts that count from another place", wrong_starts)
    test("riscv64 epilogues of clang", riscv_epilogue)
    for cpu in LOADS:
        test("%s FP loaded back from its slot" % cpu, loaded_back, cpu)
    test("i386 a CFA by a pointer to a byte", byte_pointer)
    for cpu in BEFORE_START:
        test("%s the byte in front of a start" % cpu, byte_before_start, cpu)
    for cpu in GCC:
        test("%s rows that the code alone says" % cpu, found_by_code, cpu)
        test("%s a register that only a leaf function needs" % cpu, unsafe_leaf, cpu)
    test("aarch64 wrong by code: clang -Oz", wrong_by_code, "aarch64",
         ["clang-16", "--target=aarch64-linux-gnu", "-Oz", "-fno-integrated-as"],
         b"long g(long); long f(long x) { char q[64]; __asm__ volatile(\"\" : : \"r\"(q) : \"memory\"); "
         b"return g(x) + 1; }\n", "f", ["add", "ldp"])
    for compiler in "gcc", "clang-16":
        test("x86_64 wrong by code: interrupt attribute, " + compiler, wrong_by_code, "x86_64",
             [compiler, "-O2", "-mgeneral-regs-only", "-mno-red-zone"] +
             ["-fno-integrated-as"] * (compiler != "gcc"),
             b"struct f; __attribute__((interrupt)) void irq(struct f *f) { (void)f; }\n"
             b"long f(long x) { return x + 1; }\n", "irq", ["iretq"])
    test("every fault and note is planted", all_planted)


SEEN = set()


def faults(image, *options):
    result = lint(*options, image)
    SEEN.update(f["name"] for f in result["findings"])
    return result, findings(result, "fault")


def clean(image):
    found = faults(image)[1]
    must(found == [], str(found))


def only(image, fault, where, *options):
    """The fault is found there, and nothing else is."""
    result, found = faults(image, *options)
    must(found == [(fault, where)], "found: %s" % found)
    text = subprocess.run([LINT, "-q", *options, image], capture_output=True, text=True, check=False)
    must(text.stdout.count("\n") == 1 and text.returncode == 1 and (": fault: %s: %s" % (fault, where)) in text.stdout,
         text.stdout)
    allowed = ["--allow=%s:%s" % (fault, where) if where else "--allow=" + fault]
    must(run(LINT, "-q", *options, *allowed, image) == ("", ""), "it cannot be allowed")
    return result


def find_patched(image, fault, patch, where):
    kept = Kept(image)
    patch(kept)
    broken = kept.save(image + ".broken")
    _, found = faults(broken)
    must(found, "nothing found")
    names = {name for name, _ in found}
    must(fault in names and names <= {fault} | BESIDE.get(fault, set()), "found: %s" % found)
    must(where is None or (fault, where) in found, "found: %s" % found)
    must(where is not None or all(place for _, place in found), "no function is named: %s" % found)


# One function for each that needs a link of its own.

def no_section(cpu, _):
    only(link_kept(cpu, cpu + "-none", bare(cpu), ""), "no-section", "")


def removed(cpu, objects):
    """objcopy removes the section. Symbols outside of it stay."""
    place = "    sframe_start = ALIGN(8);\n    .sframe : ALIGN(8) { KEEP(*(.sframe)) } :text\n    sframe_end = .;\n"
    image = link_kept(cpu, cpu + "-removed", objects, place)
    clean(image)
    objcopy(cpu, "-R", ".sframe", image)
    only(image, "dropped", "sframe_start")


def discarded(cpu, objects):
    image = link_kept(cpu, cpu + "-discarded", objects, "    sframe_start = .;\n    /DISCARD/ : { *(.sframe) }\n")
    only(image, "dropped", "sframe_start")


def collected(cpu, objects):
    """Only the symbols are left of a section."""
    place = "    .sframe : { sframe_start = .; . += 0; sframe_end = .; } :text\n    /DISCARD/ : { *(.sframe) }\n"
    image = link_kept(cpu, cpu + "-collected", objects, place)
    only(image, "dropped", ".sframe" if ".sframe" in Elf(image).sections else "sframe_start")


def empty_section(cpu, _):
    """Tables of no function."""
    only(with_tables(cpu, cpu + "-empty", []), "empty-section", ".sframe")


def no_bytes(cpu, objects):
    image = link_kept(cpu, cpu + "-bytes", objects)
    objcopy(cpu, "--only-keep-debug", image, image + ".debug")
    _, found = faults(image + ".debug")
    must(found == [("no-bytes", ".sframe")], str(found))


def strays(cpu, objects):
    """The tables of one object are in another section, as assembly puts them there by hand."""
    other = objects[1] + ".init.o"
    objcopy(cpu, "--rename-section", ".sframe=.init.sframe", objects[1], other)
    image = link_kept(cpu, cpu + "-stray", [objects[0], other],
                      KEPT + "    .init.sframe : { KEEP(*(.init.sframe)) } :text\n")
    result, found = faults(image)
    must(found == [("stray-section", ".init.sframe")], str(found))
    must(result["cfi"]["missing"] > 0, "the functions of the stray section are not missing")


def renamed(cpu, objects):
    """Objects whose tables the linker does not know as such."""
    result = []
    for name in objects:
        result.append(name + ".renamed.o")
        objcopy(cpu, "--rename-section", ".sframe=.tables,alloc,load,readonly,data,contents",
                name, result[-1])
        elf = Elf(result[-1])
        elf.put("I", elf.sections[".tables"]["header"] + 4, 1)
        write(result[-1], elf.data)
    return result


NO_TABLES = "    /DISCARD/ : { *(.tables) }\n"


def plain_tables(cpu, name, objects, pattern):
    """Links the tables of objects without merging them: objcopy names them afterwards."""
    place = "    .tables : { sframe_start = .; KEEP(%s(.tables)) sframe_end = .; } :text\n" % pattern
    image = link_kept(cpu, name, renamed(cpu, objects), place + NO_TABLES)
    objcopy(cpu, "--rename-section", ".tables=.sframe", image)
    return image


def joined(cpu, objects):
    """By such a linker, and by lld, which is one."""
    images = [plain_tables(cpu, cpu + "-joined", objects, "*")]
    if cpu != "s390x":
        images.append(link(cpu + "-joined-lld", ["ld.lld"], KEPT, objects, "--defsym", "nowhere=0"))
    for image in images:
        result, found = faults(image)
        must(("several-headers", ".sframe") in found and {name for name, _ in found} <= {"several-headers", "unsorted"},
             str(found))
        must(result["cfi"]["missing"] == 0 and result["cfi"]["same"] > 0, "it has not read all: %s" % result["cfi"])
        gen("-q", "--check", "--strict", image)
        broken = last_broken(image)
        wrong = {"wrong-cfa", "wrong-ra", "wrong-fp"} & {name for name, _ in faults(broken)[1]}
        must(wrong, "the last table is not compared")
        must("wrong" in gen("--check", broken, status=1)[1], "sfu-gen --check does not see the last table")


def last_broken(image):
    """A copy of IMAGE in which a row of the last table that has one to break is another."""
    kept = Kept(image)
    section = kept.elf.section(".sframe")
    starts = [at for at in range(0, len(section) - 28)
              if struct.unpack_from(kept.elf.order + "H", section, at)[0] == 0xdee2 and section[at + 2] == 3]
    for at in reversed(starts[1:]):
        kept.table.at = kept.section["offset"] + at
        kept.table.num_fdes, = kept.elf.get("I", kept.table.at + 8)
        kept.table.fres = kept.table.at + 28 + 16 * kept.table.num_fdes
        try:
            plant_word(kept.table, 0)
            return kept.save(image + ".last")
        except Wrong:
            continue
    raise Wrong("none but the first table has a row to break")


def unsorted(cpu, objects):
    """One object's tables, as the assembler leaves them."""
    result = only(plain_tables(cpu, cpu + "-unsorted", objects, "*sfu.c.o.renamed.o"), "unsorted", ".sframe")
    must(result["cfi"]["same"] > 0 and result["cfi"]["different"] == 0, "it has not been compared")


def wrong_start(cpu, objects):
    place = KEPT.replace("sframe_start = .;", "").replace(":text\n", ":text\n    __sframe_start = ADDR(.sframe) + 8;\n")
    only(link_kept(cpu, cpu + "-start", objects, place), "wrong-start", "__sframe_start")


def wrong_end(cpu, objects):
    place = KEPT.replace("sframe_end = .;", "sframe_end = sframe_start + 64;")
    only(link_kept(cpu, cpu + "-end", objects, place), "wrong-end", "sframe_end")


def other_section(cpu, objects):
    place = "    .tables : { QUAD(1) sframe_start = .; KEEP(*sfu.c.o.renamed.o(.tables)) sframe_end = .; } :text\n"
    result, found = faults(link_kept(cpu, cpu + "-other", renamed(cpu, objects), place + NO_TABLES))
    must(("other-section", ".tables") in findings(result, "note"), str(findings(result, "note")))
    must([name for name, _ in found] == ["unsorted"] and result["cfi"]["same"] > 0, str(found))


def unloaded(cpu, objects):
    place = "    .sframe 0 (INFO) : { KEEP(*(.sframe)) } :NONE\n"
    only(link_kept(cpu, cpu + "-unloaded", objects, place), "not-loaded", ".sframe")


def room(cpu, _):
    """Room that sfu-gen has not filled, and has."""
    image = link_kept(cpu, cpu + "-room", bare(cpu), ROOM % ".eh_frame")
    only(image, "unfilled-room", ".sframe")
    gen("-q", image)
    clean(image)
    gen("-q", "--append=" + image, image)
    only(image, "wrong-start", "sframe_start")
    image = link_kept(cpu, cpu + "-room", bare(cpu), "")
    gen("-q", "--append=" + image, image)
    clean(image)
    beside = link_kept(cpu, cpu + "-beside", objects_with_tables(cpu), ROOM_BESIDE)
    only(beside, "unfilled-room", ".sfu_sframe")
    gen("-q", beside)
    clean(beside)


def wrong_segment(cpu, objects):
    image = link_kept(cpu, cpu + "-segment", objects)
    gen("-q", "--append=" + image, image)
    elf = Elf(image)
    at, = elf.get("Q", 32)
    index = next(i for i, s in enumerate(elf.segments()) if s[0] == 0x6474e554)
    elf.put("Q", at + 56 * index + 16, elf.segments()[index][3] + 64)
    write(image, elf.data)
    result, found = faults(image)
    must(("wrong-segment", "PT_GNU_SFRAME") in found and
         {name for name, _ in found} <= {"wrong-segment", "wrong-start", "wrong-end"}, str(found))
    del result


def byte_order(cpu, _):
    other = ">" if cpu != "s390x" else "<"
    image = with_tables(cpu, cpu + "-order", [(0, 4, [plain_row(cpu)], {})], order=other)
    result, found = faults(image)
    must(("wrong-byte-order", ".sframe") in found, str(found))
    del result


def old_version(cpu, _):
    image = with_tables(cpu, cpu + "-old", [(0, 2, [plain_row(cpu)], {})], version=2)
    for options, wanted in ([], []), (["--oldest=2"], []), (["--oldest=3"], [("old-version", ".sframe")]):
        _, found = faults(image, *options)
        must(found == wanted + [("mostly-missing", "")], "%s: %s" % (options, found))


def flexible(cpu, *rules):
    """A function of one flexible row by (control, offset) pairs of 4 bytes each."""
    order = Tables.ABIS[cpu][2]
    words = b"".join(struct.pack(order + "Ii", *rule) for rule in rules)
    return (0, 2, [(0, 0x40 | 2 * len(rules) << 1, words)], {"info2": 1})


def register(number, dereference=False):
    return number << 3 | 1 | (2 if dereference else 0)


SP = {"x86_64": 7, "aarch64": 31, "s390x": 15}
FP = {"x86_64": 6, "aarch64": 29, "s390x": 11}
SCALE = {"x86_64": 1, "aarch64": 1, "s390x": 8}
RA_SLOT = (2, -8)


def absurd(cpu, _):
    """Registers and offsets that no frame has. The CFI says something else, of course."""
    far = (1 << 29) // SCALE[cpu]
    sp = register(SP[cpu])
    first = 16 if cpu == "x86_64" else 32 # that there is not
    for fault, rules in (("absurd-register", [(register(first), 16), RA_SLOT]),
                         ("absurd-register", [(register(77), 16), RA_SLOT]),
                         ("absurd-register", [(sp, 16), RA_SLOT, (register(40), 0)]),
                         ("absurd-offset", [(sp, -64), RA_SLOT]),
                         ("absurd-offset", [(sp, 16), (2, 8)]),
                         ("absurd-offset", [(sp, 16), RA_SLOT, (2, -12)]),
                         ("absurd-offset", [(sp, far), RA_SLOT])):
        if cpu == "x86_64" and rules[-1] == (2, -12): # its SP may be anywhere
            continue
        image = with_tables(cpu, cpu + "-absurd", [flexible(cpu, *rules)])
        _, found = faults(image)
        must((fault, "first") in found, "%s: %s" % (rules, found))


def last(cpu, _):
    """The register with the largest number that there is: not absurd."""
    image = with_tables(cpu, cpu + "-last", [flexible(cpu, (register(15 if cpu == "x86_64" else 31), 16), RA_SLOT)])
    _, found = faults(image)
    must("absurd-register" not in [name for name, _ in found], str(found))


def unsafe(cpu, _):
    image = with_tables(cpu, cpu + "-unsafe", [flexible(cpu, (register(3), 16), RA_SLOT)])
    result, found = faults(image)
    note = [f for f in result["findings"] if f["name"] == "unsafe-register"]
    must(len(note) == 1 and note[0]["where"] == "first" and note[0]["bytes"] == 2, str(note))
    must("absurd-register" not in [name for name, _ in found], str(found))
    must(run(LINT, "--strict", "-q", image, status=1)[0].count("unsafe-register") == 1, "--strict")
    for rules in ([(register(SP[cpu]), 16), RA_SLOT], [(register(FP[cpu], True), 8), RA_SLOT]):
        result, _ = faults(with_tables(cpu, cpu + "-unsafe", [flexible(cpu, *rules)]))
        must("unsafe-register" not in [f["name"] for f in result["findings"]], str(rules))


def unsafe_leaf(cpu):
    """In front of its call, a function never waits for another one: all of its frames there know all registers."""
    base, sp = (struct.pack(Tables.ABIS[cpu][2] + "Ii", *rule) for rule in
                ((register(3), 16), (register(SP[cpu]), 16)))
    slot = struct.pack(Tables.ABIS[cpu][2] + "Ii", *RA_SLOT)
    image = with_tables(cpu, cpu + "-leaf", [])
    start, size = symbol(cpu, image, "first")
    text = run("%s/%s/objdump" % (TC, cpu), "-d", "--no-show-raw-insn", "--disassemble=first", image)[0]
    call = int(re.search(r"^ *([0-9a-f]+):\t(call|bl|brasl)\s", text, re.MULTILINE)[1], 16) - start
    must(0 < call < size, text)
    for rules, wanted in (((base, sp), []), ((sp, base), [size - call])):
        rows = [(at, 0x40 | 4 << 1, rule + slot) for at, rule in zip((0, call), rules)]
        result, _ = faults(with_tables(cpu, cpu + "-leaf", [(0, size, rows, {"info2": 1})]))
        found = [f["bytes"] for f in result["findings"] if f["name"] == "unsafe-register"]
        must(found == wanted, "%s: %s" % (found, result["findings"]))


def below_sp(cpu, _):
    """CFA = SP + 16 (s390x: 160 + 16); RA and FP below that."""
    size = (16 if cpu != "s390x" else 2)
    for name, rules in (("fp-below-sp", [(register(SP[cpu]), size), RA_SLOT, (2, -184)]),
                        ("ra-below-sp", [(register(SP[cpu]), size), (2, -184)])):
        result, _ = faults(with_tables(cpu, cpu + "-below", [flexible(cpu, *rules)]))
        found = [(f["name"], f["where"], f["bytes"]) for f in result["findings"] if "below-sp" in f["name"]]
        must(found == [(name, "first", 2)], str(found))


def wrong_row(cpu, _):
    """A row for a function whose CFI says what SFrame cannot say: CFA = **SP."""
    source = WORK + "/%s-row" % cpu
    sp = 0x70 + SP[cpu]
    write(source + ".s", (".text\n.globl first\n.type first, %%function\nfirst: .cfi_startproc\n"
                          ".cfi_escape 0x0f, 4, 0x%x, 0, 6, 6\n%s.cfi_endproc\n.size first, . - first\n"
                          % (sp, NOPS)).encode())
    run("%s/%s/as" % (TC, cpu), source + ".s", "-o", source + ".o")
    run("%s/%s/ld" % (TC, cpu), "-e", "0", "-T", script(cpu + "-row", SPACE), source + ".o", "-o", source)
    elf = Elf(source)
    section = elf.sections[".sframe"]
    tables = Tables(cpu, [(symbol(cpu, source, "first")[0] - section["addr"], 2, [plain_row(cpu)], {})]).bytes
    elf.data[section["offset"]:section["offset"] + len(tables)] = tables
    write(source, elf.data)
    only(source, "wrong-row", "first")


def no_outermost(cpu, _):
    image = with_tables(cpu, cpu + "-outermost", [(0, 2, [plain_row(cpu)], {})])
    must(("no-outermost", "") in findings(faults(image)[0], "note"), "not found")
    # By sfu-gen --small the outermost row shares an entry with rows of other functions.
    source = "%s/%s-shared" % (WORK, cpu)
    ra = {"x86_64": "rip", "aarch64": "x30", "s390x": "r14"}[cpu]
    write(source + ".s", (".text\n.globl _start\n_start: .cfi_startproc\n.cfi_undefined %s\n%s.cfi_endproc\n%s"
                          ".section .sframe, \"a\"\n.skip 4096\n" % (
                              ra, NOPS, (".cfi_startproc\n%s.cfi_endproc\n" % NOPS) * 3)).encode())
    run("%s-linux-gnu-as" % cpu, source + ".s", "-o", source + ".o")
    run("%s-linux-gnu-ld" % cpu, source + ".o", "-o", source)
    for options, own in (([], 1), (["--small"], 0)):
        gen("-q", "--strict", *options, source)
        result = lint(source)
        must(result["kinds"]["outermost"]["functions"] == own, str(result["kinds"]))
        must("no-outermost" not in str(result["findings"]), "%s: %s" % (options, result["findings"]))


def no_cfi(cpu, objects):
    image = link_kept(cpu, cpu + "-no-cfi", objects)
    objcopy(cpu, "-R", ".eh_frame", image)
    result, found = faults(image)
    must(found == [] and findings(result, "note").count(("no-cfi", "")) == 1, str(findings(result, "note")))


def found_by_code(cpu):
    """What sfu-gen --find has made of an image without CFI passes, because the code says all of it; not if a row says
    something else."""
    image = link_kept(cpu, cpu + "-found", bare(cpu), SPACE.replace("4096", "16384"))
    objcopy(cpu, "-R", ".eh_frame", image)
    gen("-q", "--find", "--fp=auto", image)
    must("no-cfi" not in str(faults(image)[0]["findings"]), str(faults(image)[0]["findings"]))
    kept = Kept(image)
    plant_word(kept.table, 0)
    broken = kept.save(image + ".broken")
    must(findings(faults(broken)[0], "note").count(("no-cfi", "")) == 1, str(faults(broken)[0]["findings"]))


# A function that calls in a loop, code that nothing leads to, and the start, whose first address may be that of a
# return: the byte in front of it has the start's row.
BEFORE_START = {
    "aarch64": "stp x29, x30, [sp, -16]!\n0: bl _start_2\nb 0b\n.size a, . - a\nmov x0, x1\nb .\n",
    "riscv64": "addi sp, sp, -16\nsd ra, 8(sp)\n0: call _start_2\nj 0b\n.size a, . - a\nmv a0, a1\nj .\n",
    "s390x": "stmg %r14, %r15, 112(%r15)\nlay %r15, -160(%r15)\n0: brasl %r14, _start_2\nj 0b\n.size a, . - a\n"
             "lgr %r2, %r3\nj .\n"}
CALLS_A = {"aarch64": "bl a\nb .\n", "riscv64": "call a\nj .\n", "s390x": "brasl %r14, a\nj .\n"}
RETURNS = {"aarch64": "ret\n", "riscv64": "ret\n", "s390x": "br %r14\n"}


def byte_before_start(cpu):
    """What sfu-gen --find --small has made of it passes, although the code says nothing of that byte."""
    source = WORK + "/%s-before-start" % cpu
    write(source + ".s", (".text\n.globl _start, a\n.type a, %%function\na: %s.type _start, %%function\n_start: %s"
                          ".size _start, . - _start\n.type _start_2, %%function\n_start_2: %s"
                          ".size _start_2, . - _start_2\n" %
                          (BEFORE_START[cpu], CALLS_A[cpu], RETURNS[cpu])).encode())
    run("%s-linux-gnu-as" % cpu, source + ".s", "-o", source + ".o")
    run("%s-linux-gnu-ld" % cpu, source + ".o", "-o", source)
    for options in ([], ["--small"]):
        gen("-q", "--find", *options, "--append=" + source + ".made", source)
        must("no-cfi" not in str(lint(source + ".made")["findings"]), "%s: %s" % (
            options, lint(source + ".made")["findings"]))


def byte_pointer():
    """Behind a call that may take its arguments off the stack, the CFA is found by a pointer to a byte of the frame."""
    source = WORK + "/byte-pointer"
    write(source + ".s", b".text\n.globl _start\n.type f, @function\nf: push %ebp\nsub $0x30, %esp\n"
                         b"lea 0x1b(%esp), %ebp\npush %ebp\ncall *%eax\nadd $4, %esp\nmovb $0, (%ebp)\n"
                         b"add $0x30, %esp\npop %ebp\nret\n.size f, . - f\n.type _start, @function\n"
                         b"_start: call f\njmp .\n.size _start, . - _start\n")
    run("as", "--32", source + ".s", "-o", source + ".o")
    run("ld", "-m", "elf_i386", source + ".o", "-o", source)
    gen("-q", "--find", "--append=" + source + ".made", source)
    must(lint(source + ".made")["findings"] == [], str(lint(source + ".made")["findings"]))


def mixed_objects(cpu, objects):
    """sfu.c has been assembled without tables."""
    without = bare(cpu, "-g1")
    image = link_kept(cpu, cpu + "-mixed", [without[0], objects[1]])
    result, found = faults(image)
    must(found == [("mostly-missing", "")] and ("mixed-objects", "sfu.c") in findings(result, "note"),
         str(result["findings"]))
    reasons = {f["reason"] for f in result["without_rows"] if f["object"] == "sfu.c"}
    must(reasons == {"not-assembled"}, str(reasons))


def below_required(cpu, objects):
    image = link_kept(cpu, cpu + "-below-required", [objects[0], bare(cpu)[1]])
    clean(image)
    only(image, "below-required", "", "--require=99.5")
    run(LINT, "--require=1", image)
    run(LINT, "--require=100", link_kept(cpu, cpu + "-all", objects))


def lost_rows(cpu, objects):
    """The newer build has lost the rows of one object; the other way round nothing is lost."""
    old = link_kept(cpu, cpu + "-lost-old", objects)
    without = bare(cpu, *(["-mbranch-protection=standard"] if cpu == "aarch64" else []))
    new = link_kept(cpu, cpu + "-lost-new", [objects[0], without[1]])
    result, found = faults(new, "--diff=" + old)
    names = {where for name, where in found if name == "lost-rows"}
    must({name for name, _ in found} == {"lost-rows"} and "first" in names and "sfu_open" not in names, str(found))
    must(len(result["without_rows"]) == result["functions"] - result["with_rows"] >= len(names), "without rows")
    must(result["since"]["lost"] == len(names) and result["since"]["gained"] == 0 and result["since"]["tables"] < 0 and
         result["since"]["code"] == 0, str(result["since"]))
    result, found = faults(old, "--diff=" + new)
    must(found == [] and result["since"]["gained"] == len(names), str(result["since"]))


def idle_segment(cpu, _):
    """GNU ld makes PT_GNU_SFRAME of objects' tables that stay in the file. The kernel's symbol leads to others."""
    name = WORK + "/%s-idle" % cpu
    script = ("SECTIONS { . = 0x400000; .text : { *(.text*) } .rodata : { *(.rodata*) } .data : { *(.data*) }\n"
              "%s .bss : { *(.bss*) } %s }\n" % (ROOM_BESIDE.replace(":text", ""), LAST_BESIDE))
    write(name + ".ld", script.encode())
    image = name + ".elf"
    run("%s/%s/ld" % (TC, cpu), "-T", name + ".ld", "--defsym", "nowhere=0", "-e", "0",
        *objects_with_tables(cpu), "-o", image)
    tables = [s for s in Elf(image).segments() if s[0] == 0x6474e554]
    must(len(tables) == 1 and tables[0][6] == 0, "not the segment that is meant: %s" % tables)
    before = tables[0]
    gen("-q", image)
    clean(image)
    elf = Elf(image)
    at, = elf.get("Q", 32)
    index = next(i for i, s in enumerate(elf.segments()) if s[0] == 0x6474e554)
    section = elf.sections[".sfu_sframe"]
    must(elf.segments()[index][3] == section["addr"] and elf.segments()[index][2] == section["offset"] and
         elf.segments()[index][5] == section["size"], "sfu-gen has not set it: %s" % (elf.segments()[index],))
    elf.put("IIQQQQQQ", at + 56 * index, *before)
    write(image, elf.data)
    result, found = faults(image)
    must(found == [] and ("idle-segment", "PT_GNU_SFRAME") in findings(result, "note"), str(result["findings"]))


def dead_functions(cpu, objects):
    """An entry begins at 0, as lld leaves those of functions that it has dropped."""
    image = link_kept(cpu, cpu + "-dead", objects)
    kept = Kept(image)
    at, _ = kept.table.fde(0)
    kept.elf.put("q", at, -(kept.section["addr"] + at - kept.section["offset"]))
    kept.save(image)
    only(image, "dead-functions", ".sframe")
    if cpu != "s390x":
        dead_comdat(cpu)


def dead_comdat(cpu):
    """By lld itself: two objects have the same function."""
    files = []
    for name in ("one", "two"):
        files.append("%s/%s-%s.cc" % (WORK, cpu, name))
        write(files[-1], b"inline __attribute__((noinline)) int twice(int x) { return 2 * x; }\n"
              b"int %s(int x) { return twice(x) + 1; }\n" % name.encode())
        run(GCC[cpu].replace("gcc", "g++"), "-B%s/%s/" % (TC, cpu), "-Wa,--gsframe", "-O1", "-c", files[-1], "-o",
            files[-1] + ".o")
    image = "%s/%s-comdat" % (WORK, cpu)
    objects = [file + ".o" for file in files]
    must("discarded section" in run("ld.lld", "-e", "0", *objects, "-o", image, status=1)[1], "lld drops nothing")
    run("ld.lld", "-e", "0", "--noinhibit-exec", *objects, "-o", image)
    _, found = faults(image)
    must(("dead-functions", ".sframe") in found and "outside-code" not in [name for name, _ in found], str(found))


RESTORE = """.text
.globl first
.type first, %%function
first: .cfi_startproc
.cfi_offset %(fp)d, -16
%(nop)s
.cfi_restore %(fp)d
%(nop)s
.cfi_endproc
.size first, . - first
"""


def doubtful_restore(cpu, _):
    """What clang writes for -fbasic-block-sections=all. GNU as takes the first line for the CIE's."""
    source = WORK + "/%s-restore" % cpu
    write(source + ".s", (RESTORE % {"fp": FP[cpu], "nop": NOPS}).encode())
    image = source + ".elf"
    for flags in ([], ["--gsframe"])[:2 - (cpu == "aarch64")]: # there GNU as leaves it out
        run("%s/%s/as" % (TC, cpu), *flags, source + ".s", "-o", source + ".o")
        run("%s/%s/ld" % (TC, cpu), "-e", "0", source + ".o", "-o", image)
        if not flags:
            gen("-q", "--append=" + image, image)
        must(("doubtful-restore", "first") in faults(source + ".o")[1], "not found in the object")
        result, found = faults(image)
        must(("doubtful-restore", "first") in found, str(found))
        place, = [f for f in result["findings"] if f["name"] == "doubtful-restore"]
        must(place["offset"] == place["bytes"] == len(NOPS.split()) * {"x86_64": 1, "aarch64": 4, "s390x": 4}[cpu],
             str(place))
    write(source + ".s", (RESTORE % {"fp": FP[cpu], "nop": NOPS}).replace("\n.cfi_offset", "\nnop\n.cfi_offset")
          .encode())
    run("%s/%s/as" % (TC, cpu), source + ".s", "-o", source + ".o")
    run("%s/%s/ld" % (TC, cpu), "-e", "0", source + ".o", "-o", image)
    gen("-q", "--append=" + image, image)
    must("doubtful-restore" not in [name for name, _ in faults(image)[1]], "found where the CIE says nothing")


# Where FP waits in a slot, CFA - 16: how far the CFA is from SP; what loads FP from there, another register from there,
# and FP from another place; and what stores there.
LOADS = {"x86_64": (24, "mov 8(%rsp), %rbp", "mov 8(%rsp), %rbx", "mov (%rsp), %rbp", "mov %rax, 8(%rsp)"),
         "aarch64": (32, "ldr x29, [sp, 16]", "ldr x19, [sp, 16]", "ldr x29, [sp, 8]", "str x0, [sp, 16]"),
         "s390x": (192, "lg %r11, 176(%r15)", "lg %r10, 176(%r15)", "lg %r11, 168(%r15)", "stg %r2, 176(%r15)"),
         "riscv64": (32, "ld s0, 16(sp)", "ld s1, 16(sp)", "ld s0, 8(sp)", "sd a0, 16(sp)")}


def loaded_back(cpu):
    """Where the code has loaded FP from the slot in front of .cfi_restore, and nothing has changed either since, the
    rows of sfu-gen are right, whatever it leads back to."""
    cfa, load, other, elsewhere, store = LOADS[cpu]
    tool = "riscv64-linux-gnu-" if cpu == "riscv64" else "%s/%s/" % (TC, cpu)
    image, fp = WORK + "/%s-loaded" % cpu, {**FP, "riscv64": 8}[cpu]
    branch = {"x86_64": "jz 1f", "aarch64": "cbz x0, 1f", "s390x": "jz 1f", "riscv64": "beqz a0, 1f"}[cpu] + "\n1:"
    for code, right in ((load, True), ("nop\n%s\nnop" % load, True), (other, False), (elsewhere, False),
                        (load + "\n" + elsewhere, False), (load + "\n" + store, False), (load + "\n" + branch, False)):
        write(image + ".s", (".text\n.globl first\nfirst: .cfi_startproc\n.cfi_def_cfa_offset %d\n.cfi_offset %d, -16\n"
                             "%s\n.cfi_restore %d\nnop\n.cfi_endproc\n.size first, . - first\n"
                             % (cfa, fp, code, fp)).encode())
        run(tool + "as", image + ".s", "-o", image + ".o")
        run(tool + "ld", "-e", "0", image + ".o", "-o", image)
        gen("-q", "--cfi=keep", "--append=" + image + ".gen", image)
        must(("doubtful-restore" in [name for name, _ in faults(image + ".gen")[1]]) != right, code)


# In front of FUNCTION another one, so that what it begins with is not in the CIE.
BEHIND = """.text
.globl before
.type before, %%function
before: .cfi_startproc
%(nop)s
.cfi_endproc
.size before, . - before
"""
FUNCTION = """.globl second
.type second, %%function
second: .cfi_startproc
.cfi_def_cfa_offset %(cfa)d
.cfi_offset %(saved)d, -16
%(nop)s
.cfi_restore %(saved)d
%(nop)s
.cfi_endproc
.size second, . - second
"""
# By hand: version 2, one function, one row: SP + 8.
VERSION_2 = """.text
f: .cfi_startproc
nop
.cfi_endproc
.section .sframe, "a"
.short 0xdee2
.byte 2, 4, 3, 0, -8, 0
.long 1, 1, 3, 0, 20
.long f - ., 1, 0, 1
.byte 0, 0, 0, 0
.byte 0, 3, 8
"""


def assembled(cpu, name, text, *flags):
    file = "%s/%s-%s" % (WORK, cpu, name)
    write(file + ".s", text.encode())
    run("%s/%s/as" % (TC, cpu), *flags, file + ".s", "-o", file + ".o")
    return file + ".o"


def old_objects(cpu, _):
    """Objects of versions 1 and 2, whose starts have relocations that are relative to the field: healthy as they
    are."""
    source, seen = "%s/%s-old" % (WORK, cpu), []
    write(source + ".c", b"int g(int); int f(int a) { return g(a) + 1; }\nint h(int a) { return g(a) + f(a + 1); }\n"
          b"__attribute__((section(\".text.other\"))) int k(int a) { return g(a) * 3; }\n")
    for folder in ("", "%s/v1/%s/" % (TC, cpu), "%s/v2/%s/" % (TC, cpu)):
        if folder and not os.path.exists(folder + "as") or not folder and cpu == "s390x":
            continue
        run(GCC[cpu], "-O2", "-w", "-fasynchronous-unwind-tables", "-Wa,--gsframe",
            *(["-B" + folder] if folder else []), "-c", source + ".c", "-o", source + ".o")
        result, found = faults(source + ".o")
        must(result["version"] < 3 and found == [], "version %d: %s" % (result["version"], found))
        must(result["covered_bytes"] == result["code_bytes"], "without rows: %s" % result["without_rows"])
        seen.append(result["version"])
        # A fault in one of them is found: the CFA of a row.
        elf = Elf(source + ".o")
        at = elf.sections[".sframe"]["offset"]
        fdes, rows = elf.get("I", at + 8)[0], elf.get("I", at + 28 - 4)[0]
        must(fdes == 3, "%d functions" % fdes)
        elf.data[at + 28 + rows + 2] ^= 0x18
        write(source + "-broken.o", elf.data)
        must("wrong-cfa" in str(faults(source + "-broken.o")[1]), "a wrong CFA is not found")
    return "versions %s" % seen if seen else "no such assembler"


def relocatable(cpu, objects):
    """Objects: healthy ones, without tables, of version 2, and with rows that GNU as has made of the sequence."""
    for file in objects:
        must(run(LINT, "-q", file) == ("", ""), file)
    source = "%s/%s-own" % (WORK, cpu)
    write(source + ".c", b"int g(int); int f(int a); int f(int a) { return g(a) + 1; }\n")
    run(GCC[cpu], "-O2", "-c", source + ".c", "-o", source + ".o")
    must(faults(source + ".o")[1] == [("no-section", "")], "without tables")
    words = {"cfa": 176 if cpu == "s390x" else 32, "saved": 30 if cpu == "aarch64" else FP[cpu], "nop": NOPS}
    result, found = faults(assembled(cpu, "second", (BEHIND + FUNCTION) % words, "--gsframe"))
    size = len(NOPS.split()) * {"x86_64": 1, "aarch64": 4, "s390x": 4}[cpu]
    must(found == [("doubtful-restore", "second")], str(found))
    must([f["offset"] for f in result["findings"] if f["name"] == "doubtful-restore"] == [size], str(result))
    kept = (BEHIND + FUNCTION.replace(".cfi_restore", ".cfi_same_value")) % words
    must(faults(assembled(cpu, "third", kept, "--gsframe"))[1] == [], "found where nothing is restored")
    if cpu == "x86_64":
        result, found = faults(assembled(cpu, "version-2", VERSION_2))
        must(found == [] and "object-version" in [f["name"] for f in result["findings"]], str(result["findings"]))


def mostly_missing(cpu, objects):
    """The larger object's tables are of version 2, and GNU ld leaves them out without an error."""
    old = objects[0] + ".v2.o"
    elf = Elf(objects[0])
    elf.data[elf.sections[".sframe"]["offset"] + 2] = 2
    write(old, elf.data)
    image = "%s/%s-missing.elf" % (WORK, cpu)
    run("%s/%s/ld" % (TC, cpu), "--defsym", "nowhere=0", "-T", script(cpu + "-missing", KEPT), old, objects[1],
        "-o", image)
    only(image, "mostly-missing", "")
    run("%s/%s/ld" % (TC, cpu), "--defsym", "nowhere=0", "-T", script(cpu + "-missing", KEPT), old, "-r", "-o",
        image + ".o")
    _, found = faults(link_kept(cpu, cpu + "-missing-all", [old, bare(cpu)[1]]))
    must([name for name, _ in found] in (["dropped"], ["empty-section"]), str(found))


def not_in_flat(cpu, objects):
    image = link_kept(cpu, cpu + "-flat", objects)
    flat = image + ".bin"
    objcopy(cpu, "-O", "binary", image, flat)
    must(run(LINT, "-q", "--flat=" + flat, image) == ("", ""), "the binary is good")
    good = read(flat)
    write(flat, b"\0" * 16 + good)
    result = only(image, "not-in-flat", flat, "--flat=" + flat)
    must("has the tables at 0x" in result["findings"][-1]["what"], str(result["findings"]))
    objcopy(cpu, "-O", "binary", "-R", ".sframe", image, flat)
    only(image, "not-in-flat", flat, "--flat=" + flat)
    write(flat, b"")
    only(image, "not-in-flat", flat, "--flat=" + flat)
    must("No such file" in run(LINT, "--flat=" + flat + ".none", image, status=2)[1], "no file")


def efi(cpu, image):
    """A PE file of the image, with the tables and without."""
    file = image + ".efi"
    target = {"x86_64": "efi-app-x86_64", "aarch64": "pei-aarch64-little"}[cpu]
    parts = ["-j", ".text", "-j", ".rodata", "-j", ".data", "-j", ".eh_frame"]
    objcopy(cpu, "-O", target, *parts, "-j", ".sframe", image, file)
    must(read(file)[:2] == b"MZ", "no PE file")
    result, found = faults(file)
    elf = lint(image)
    must(found == [] and result["cfi"]["same"] > 0 and result["rows"] == elf["rows"], str(found))
    data = bytearray(read(file))
    at = data.index(Elf(image).section(".sframe")[:16])
    data[at] ^= 1
    write(file, data)
    only(file, "bad-magic", ".sframe")
    objcopy(cpu, "-O", target, *parts, image, file)
    must("PE" in only(file, "no-section", "")["findings"][0]["what"], "it does not say why")
    must("reserve room by an array" in run(GEN, file, status=1)[1], "sfu-gen")


def without_headers(cpu, objects):
    """strip --strip-section-headers leaves the segments: the tables are there all the same."""
    image = "%s/%s-headers" % (WORK, cpu)
    run("%s/%s/ld" % (TC, cpu), "-e", "0", "--eh-frame-hdr", "--defsym", "nowhere=0", *objects, "-o", image)
    whole = lint(image)
    run("%s/%s/strip" % (TC, cpu), "--strip-section-headers", image)
    must(".sframe" not in Elf(image).sections, "it still has section headers")
    result, found = faults(image)
    must(found == [] and result["rows"] == whole["rows"] and result["cfi"] == whole["cfi"] and
         result["covered_bytes"] == whole["covered_bytes"], "%s %s" % (found, result["cfi"]))
    gen("-q", "--check", image)
    gen("-q", "-o", image + ".out", image)
    for options in ([], ["--append=" + image]):
        must("section headers are gone" in gen(*options, image, status=1)[1], str(options))


def wrong_starts():
    """Objects of an assembler that counts starts from their own field, joined by linkers that do not know that; and by
    GNU ld, which does. Version 3 is right by each."""
    sources = (b"int b(int); int a(int x) { volatile int y[9]; y[x] = x; return b(y[x + 1]) + 1; }\n"
               b"void _start(void) { a(1); for (;;); }\n",
               b"int b(int x) { volatile int y[30]; y[x] = x; return y[x + 1]; }\n"
               b"int c(int x) { return b(x) * b(x + 1); }\n")
    for assembler, wrong in (([], True), (["-B%s/x86_64/" % TC], False)):
        objects = []
        for number, text in enumerate(sources):
            objects.append(WORK + "/starts-%d.o" % number)
            write(objects[-1][:-1] + "c", text)
            run("gcc", *assembler, "-O1", "-fno-pic", "-fasynchronous-unwind-tables", "-Wa,--gsframe", "-c",
                objects[-1][:-1] + "c", "-o", objects[-1])
        for linker in ("ld.lld", "mold", "ld.gold", TC + "/x86_64/ld"):
            image = WORK + "/starts"
            if subprocess.run([linker, *objects, "-o", image], capture_output=True, check=False).returncode != 0:
                continue
            said = [name for name, _ in faults(image)[1]]
            must(("wrong-starts" in said) == (wrong and linker != TC + "/x86_64/ld"), "%s: %s" % (linker, said))


def stale_slot(cpu, _):
    """The tables have FP in a slot below SP where the CFI has it in its register: readers take the register."""
    below = {"x86_64": 8, "aarch64": 0, "s390x": 0}[cpu] # the CFA of the CFI: SP + 8, SP or SP + 160
    slot = {"x86_64": RA_SLOT, "aarch64": (register(30), 0), "s390x": (register(14), 0)}[cpu]
    for offset, wrong in ((-176, False), (8, True)):
        rules = [(register(SP[cpu]), below), slot, (2, offset)]
        _, found = faults(with_tables(cpu, cpu + "-stale", [flexible(cpu, *rules)]))
        must([name for name, _ in found if name == "wrong-fp"] == ["wrong-fp"] * wrong, "%d: %s" % (offset, found))
        must("wrong-cfa" not in [name for name, _ in found], str(found))


def stale_epilogue():
    """clang writes no CFI behind lmg and aghi: GNU as has what it says, sfu-gen what the machine code says."""
    source = WORK + "/epilogue.c"
    write(source, b"long g(long); long f(long x) { return g(x) + 1; } long h(long x) { g(x); return g(x + 1); }\n"
          b"long leaf(long x) { volatile long a[40]; a[x & 31] = x; return a[3]; }\n"
          b"long two(long x) { long a[9]; a[x & 7] = g(x); if (a[2] > 7) return g(a[1]); return g(a[3]) + 1; }\n")
    run("clang-16", "--target=s390x-linux-gnu", "-O2", "-fasynchronous-unwind-tables", "-fno-integrated-as",
        "-B%s/s390x/" % TC, "-Wa,--gsframe", "-c", source, "-o", source + ".o")
    image = source + ".elf"
    run(TC + "/s390x/ld", "-e", "0", "--defsym", "g=0x1000000", source + ".o", "-o", image)
    text = run(TC + "/s390x/objdump", "-d", "--no-show-raw-insn", image)[0]
    lines = re.findall(r"^ +[0-9a-f]+:\t(\S+)\s*(\S*)", text, re.M)
    count = sum(a[0] in ("lmg", "aghi") and b[0] in ("br", "j", "jg") for a, b in zip(lines, lines[1:]))
    must(count >= 4, text)
    result, found = faults(image)
    must(found == [] and epilogues_of(result) == count, str(result["findings"]))
    for options, wrong in (["--cfi=keep"], count), ([], 0):
        gen("-q", "--strict", "--append=" + image + ".gen", *options, image)
        result, found = faults(image + ".gen")
        must(found == [] and epilogues_of(result) == wrong, str(result["findings"]))
        must((result["cfi"]["by_code"] > 0) == (wrong == 0), str(result["cfi"]))


def riscv_epilogue():
    """What only epilogue_riscv.c knows is named, too, where the tables have the row of the body."""
    image = WORK + "/epilogue-riscv"
    write(image + ".s", (".text\n.globl f\nf:\n" + WITHOUT_EPILOGUE).encode())
    run("riscv64-linux-gnu-gcc", "-c", image + ".s", "-o", image + ".o")
    run("riscv64-linux-gnu-ld", "-e", "f", image + ".o", "-o", image)
    for options, wrong in (["--keep-faults"], True), ([], False):
        gen("-q", "--append=" + image + ".gen", *options, image)
        names = [f["name"] for f in faults(image + ".gen")[0]["findings"]]
        must(("stale-epilogue" in names) == wrong, str(names))


def epilogues_of(result):
    """At how many places the tables have the row of a body where the code is behind it."""
    return sum(f["ranges"] for f in result["findings"] if f["name"] == "wrong-by-code")


def wrong_by_code(cpu, compiler, code, function, instructions):
    """CFI that contradicts INSTRUCTIONS of FUNCTION. GNU as and --cfi=keep have what it says, sfu-gen what is right."""
    source = "%s/by-code-%s.c" % (WORK, compiler[0])
    write(source, code)
    run(*compiler, "-fasynchronous-unwind-tables", "-B%s/%s/" % (TC, cpu), "-Wa,--gsframe", "-c", source, "-o",
        source + ".o")
    image = source + ".elf"
    run("%s/%s/ld" % (TC, cpu), "-e", "0", "--defsym", "g=0x1000000", source + ".o", "-o", image)
    text = run("%s/%s/objdump" % (TC, cpu), "-d", "--no-show-raw-insn", image)[0]
    must(all(re.search(r"\t%s\b" % name, text) for name in instructions), text)
    gen("-q", "--append=" + image + ".keep", "--cfi=keep", image)
    gen("-q", "--append=" + image + ".gen", image)
    for name in image, image + ".keep", image + ".gen":
        result, found = faults(name)
        named = [f["where"] for f in result["findings"] if f["name"] == "wrong-by-code"]
        must(found == [] and named == ([function] if name != image + ".gen" else []), name + str(result["findings"]))
        must((result["cfi"]["by_code"] > 0) == (name == image + ".gen"), str(result["cfi"]))


def odd_sp():
    """clang's leaf without a red zone moves SP by 4. FP is pushed in a function that another has called so."""
    source = WORK + "/odd.c"
    write(source, b"int leaf(int *p, int a, int b, int c) { volatile int x = a; p[b] = x; return x + c; }\n")
    run("clang", "-O2", "-mno-red-zone", "-fomit-frame-pointer", "-fno-pic", "-ffreestanding",
        "-fasynchronous-unwind-tables", "-fno-integrated-as", "-B%s/x86_64/" % TC, "-Wa,--gsframe", "-c", source, "-o",
        source + ".o")
    run(TC + "/x86_64/ld", "-e", "0", source + ".o", "-o", source + ".elf")
    text = run(TC + "/x86_64/objdump", "--sframe", source + ".elf")[0]
    must("sp+12" in text, "no such row: " + text[-200:])
    clean(source + ".elf")


def all_planted():
    with open("port/host/lint/lint_findings.c", encoding="utf-8") as f:
        names = set(re.findall(r'\{"([a-z-]+)", LINT_(?:FAULT|NOTE)\}', f.read()))
    must(len(names) > 40, "only %d names" % len(names))
    with open("port/host/test/frames.py", encoding="utf-8") as f:  # what host-lint-frames plants
        elsewhere = set(re.findall(r'f\["name"\] == "([a-z-]+)"', f.read()))
    must(SEEN | elsewhere == names, "not planted: %s" % (names ^ (SEEN | elsewhere)))
    return "%d names" % len(names)


# ---- worth ----

def test_worth():
    os.makedirs(WORK, exist_ok=True)
    for cpu in GCC:
        test("%s shares" % cpu, shares, cpu)
        test("%s objects" % cpu, objects_of, cpu, "-g1")
        test("%s objects by symbols" % cpu, objects_of, cpu)
        test("%s filled up" % cpu, filled_up, cpu)
    for function in (reasons_x86_64, reasons_aarch64, plt_reason, cold_reason, mode_reasons, shadow_call_stacks):
        test(function.__name__.replace("_", " "), function)


def shares(cpu):
    """Functions, rows and bytes as the test reads them out of the section itself, and the bytes of symbols."""
    image = link_kept(cpu, cpu + "-shares", objects_with_tables(cpu))
    kept = Kept(image)
    result = lint(image)
    sizes = [kept.elf.get("I", kept.table.fde(i)[0] + 8)[0] for i in range(kept.table.num_fdes)]
    rows = [kept.elf.get("H", kept.table.fde(i)[1])[0] for i in range(kept.table.num_fdes)]
    must(result["entries"] == len(sizes) and result["rows"] == sum(rows), "entries or rows")
    must(sum(k["functions"] for k in result["kinds"].values()) == len(sizes) and
         sum(k["rows"] for k in result["kinds"].values()) == sum(rows), str(result["kinds"]))
    must(28 + sum(k["bytes"] for k in result["kinds"].values()) == result["bytes"] == kept.section["size"],
         "%s of %d bytes" % (result["kinds"], kept.section["size"]))
    must(result["covered_bytes"] == sum(sizes), "%d bytes, not %d" % (result["covered_bytes"], sum(sizes)))
    must(result["with_rows"] == len(sizes), "%d functions with rows" % result["with_rows"])
    named = [line.split() for line in run("%s/%s/nm" % (TC, cpu), "-S", image)[0].splitlines()]
    named = {(f[0], f[1]) for f in named if len(f) == 4 and f[2] in "tT"}
    must(result["code_bytes"] >= sum(int(size, 16) for _, size in named), "functions are missing")
    return "%d bytes, %d functions" % (result["covered_bytes"], result["functions"])


def objects_of(cpu, *flags):
    """The rows of each object are those that its own section has."""
    name = cpu + "-objects"
    objects = objects_with_tables(cpu, *flags)
    result = lint(link_kept(cpu, name, objects))
    for file, source in zip(objects, ("sfu.c", "program.c")):
        elf = Elf(file)
        rows, = elf.get("I", elf.sections[".sframe"]["offset"] + 12)
        found = sum(o["rows"] for o in result["objects"] if os.path.basename(o["name"]) == source)
        unknown = sum(o["rows"] for o in result["objects"] if o["name"] == "")
        must(found == rows or (not flags and rows - unknown <= found <= rows),
             "%s: %d rows instead of %d, %d of unknown objects" % (source, found, rows, unknown))


def filled_up(cpu):
    """A vector page, room of zeros and, where assemblers mark it, data: no code but its instructions."""
    instruction, size = {"x86_64": ("hlt", 1), "aarch64": ("wfi", 4), "s390x": ("svc 0", 2)}[cpu]
    fill = ", 0xcc" * (cpu == "x86_64")  # GNU as jumps over many nops there
    marked = cpu == "aarch64"
    source = WORK + "/filled-" + cpu
    write(source + ".S", ("""    .text
    .globl described
    .type described, STT_FUNC
described: .cfi_startproc
    .rept 200
    %(one)s
    .endr
    .cfi_endproc
    .size described, . - described
    .balign 2048%(fill)s
    .globl vectors
vectors:
    .rept 16
    .balign 128%(fill)s
    %(one)s
    .endr
    .balign 128%(fill)s
    .skip 4096
    .type sized, STT_FUNC
sized:
    %(one)s
    .balign 64%(fill)s
    .size sized, . - sized
%(table)s
""" % {"one": instruction, "fill": fill,
       "table": "    .globl table\ntable: .quad 0x1122334455667788, 5, table\n" * marked}).encode())
    run(GCC[cpu], "-B%s/%s/" % (TC, cpu), "-Wa,--gsframe", "-c", source + ".S", "-o", source + ".o")
    image = link("filled-" + cpu, ["%s/%s/ld" % (TC, cpu)], KEPT, [source + ".o"])
    for stripped in (False, True):
        if stripped:
            run("%s/%s/strip" % (TC, cpu), image)
        result = lint(image)
        must(result["covered_bytes"] == 200 * size, str(result["covered_bytes"]))
        more = 24 * (marked and stripped)  # no mark tells that it is data
        must(result["code_bytes"] == 217 * size + more, "%d bytes of code, %d of them with rows: %s"
             % (result["code_bytes"], result["covered_bytes"], result["without_rows"]))
    return "%d bytes" % result["code_bytes"]


def reasons(image):
    return {f["function"]: f["reason"] for f in lint(image)["without_rows"]}


def reasons_x86_64():
    nops = "nop\n" * 8
    source = WORK + "/reasons"
    write(source + ".S", ("""#include "sfu_asm.h"
    sfu_outermost_begin _start
    %(nops)s
    sfu_outermost_end _start
    .type plain, @function
plain: .cfi_startproc
    %(nops)s
    .cfi_endproc
    .size plain, . - plain
    .type bare, @function
bare: %(nops)s
    .size bare, . - bare
label: %(nops)s
    .balign 64
    .type lost, @function
lost: .cfi_startproc
    .cfi_escape 0x0f, 4, 0x77, 0, 6, 6
    %(nops)s
    .cfi_endproc
    .size lost, . - lost
    .type half, @function
half: .cfi_startproc
    %(nops)s
    .cfi_endproc
    %(nops)s
    .size half, . - half
""" % {"nops": nops}).encode())
    run("gcc", "-B%s/x86_64/" % TC, "-Wa,--gsframe", "-g", "-Iarch", "-c", source + ".S", "-o", source + ".o")
    image = link("reasons", [TC + "/x86_64/ld"], KEPT, [source + ".o"])
    found = reasons(image)
    must(found == {"bare": "assembly", "lost": "not-expressible", "half": "partly"} or
         found == {"bare": "assembly", "lost": "not-expressible", "half": "partly", "label": "assembly"}, str(found))


def reasons_aarch64():
    """clang at -O0: a leaf function that saves FP and not RA, which gas leaves out."""
    image = "%s/lint/aarch64/patterns-clang-O0" % OUT
    build_patterns(image)
    found = reasons(image)
    must(found.get("sum") == "fp-without-ra", str(found))


def shadow_call_stacks():
    """GNU as writes no rows for them, gcc's or clang's; sfu-gen does."""
    source = WORK + "/scs"
    write(source + ".c", b"int h(int); int f(int x) { return h(x) + h(x + 1); } int g(int x) { return f(x) + h(x); }"
          b"int leaf(int x) { return x + 1; }\n")
    for compiler, reason in ((GCC["aarch64"], "fp-without-ra"), ("clang", "shadow-call-stack")):
        target = [] if compiler != "clang" else ["--target=aarch64-linux-gnu", "-fno-integrated-as"]
        run(compiler, *target, "-B%s/aarch64/" % TC, "-Wa,--gsframe", "-O2", "-g1", "-ffixed-x18",
            "-fsanitize=shadow-call-stack", "-fno-pic", "-fasynchronous-unwind-tables", "-c", source + ".c", "-o",
            source + ".o")
        image = source + ".elf"
        run(TC + "/aarch64/ld", "-e", "0", "--defsym", "h=0x400000", source + ".o", "-o", image)
        found = reasons(image)
        must(reason in found.values() and set(found.values()) == {reason},
             "%s: %s" % (compiler, found))
        gen("-q", "--strict", "--append=" + image, image)
        must(reasons(image) == {}, "%s: sfu-gen has left some out" % compiler)


def plt_reason():
    """lld writes no tables for its PLT. No symbol names it."""
    source = WORK + "/plt.c"
    write(source, b"int f(int); int a(int x) { return f(x) + 1; }\n")
    run("gcc", "-B%s/x86_64/" % TC, "-Wa,--gsframe", "-O1", "-fPIC", "-c", source, "-o", source + ".o")
    run("ld.lld", "-shared", source + ".o", "-o", source + ".so")
    found = reasons(source + ".so")
    must(found.get(".plt") == "plt" and "a" not in found, str(found))


def cold_reason():
    """A function that is split, and has lost its CFI."""
    source = WORK + "/cold.c"
    write(source, b"""void abort(void) __attribute__((noreturn)); int h(int);
int f(int x) { if (h(x) == 77) abort(); if (x > 9) { h(3); abort(); } return h(x) + 1; }
void _start(void) { h(f(1)); } __attribute__((noinline)) int h(int x) { __asm__(""); return x; }
void abort(void) { for (;;) h(0); }
""")
    run("gcc", "-B%s/x86_64/" % TC, "-O2", "-w", "-fno-pie", "-fasynchronous-unwind-tables", "-c", source, "-o",
        source + ".o")
    objcopy("x86_64", "-R", ".eh_frame", source + ".o")
    other = source + ".other.s"
    write(other, b".text\n.globl other\n.type other, @function\nother: .cfi_startproc\nnop\n.cfi_endproc\n"
          b".size other, .-other\n")
    run(TC + "/x86_64/as", "--gsframe", other, "-o", other + ".o")
    image = link("cold", [TC + "/x86_64/ld"], KEPT, [source + ".o", other + ".o"])
    found = reasons(image)
    must(found.get("f.cold") == "cold" and found.get("h") == "no-cfi" and "other" not in found, str(found))


# What the first CPU runs in 32-bit code, and 16-bit code of another CPU, which ends by a far jump.
MODES = """_start: mov $0x8000, %%esp\ncall called\nhlt\n.type called, @function\ncalled: ret
.code16\n.type second, @function\nsecond: cli\nmov $0x7000, %%sp\ncall put\nmov %%cr0, %%eax\nor $1, %%al
mov %%eax, %%cr0\nljmpl $8, $0x100000\n.type put, @function\nput: push %%ax\nint $0x10\npop %%ax\nret\n%s"""


def mode_reasons():
    """Code that does not run in the image's mode, beside the bits that the assembler was told; with tables of the rest
    and without any."""
    for cpu, more, wanted in (
            ("i386", "", {"second": "16-bit code", "put": "16-bit code"}),
            ("x86_64", ".code64\n.globl long\n.type long, @function\nlong: lea 0x8000(%rip), %rsp\ncall last\nhlt\n"
             ".type last, @function\nlast: ret",
             {"second": "16-bit code", "put": "16-bit code", "_start": "32-bit code in an image of 64 bits"})):
        image = "%s/modes-%s" % (WORK, cpu)
        text = MODES % more
        if cpu == "x86_64":  # Multiboot 2: such an image begins in 32-bit code
            text = ".balign 8\n.long 0xe85250d6, 0, 16, -(0xe85250d6 + 16)\n.code32\n" + text.replace(
                "call called\nhlt", "mov $0xc0000080, %ecx\nrdmsr\nor $256, %eax\nwrmsr\nljmp $8, $long")
        write(image + ".s", (".text\n.globl _start\n.type _start, @function\n" + text + "\n").encode())
        run(TC + "/x86_64/as", *(["--32"] if cpu == "i386" else []), image + ".s", "-o", image + ".o")
        run(TC + "/x86_64/ld", *(["-m", "elf_i386"] if cpu == "i386" else []), "-Ttext=0x100000", "-e", "_start",
            image + ".o", "-o", image)
        for tables in (False, True):
            if tables:
                gen("-q", "--find", "--append=" + image, image)
            found = {f["function"]: f["why"].split(",")[0] for f in lint(image)["without_rows"]
                     if f["reason"] == "other-mode"}
            must(found == wanted, "%s: %s" % (cpu, found))


# ---- options ----

def test_options():
    os.makedirs(WORK, exist_ok=True)
    for function in (help_text, wrong_options, several_images, allowing, deterministic, text_lists, text_unnamed,
                     text_numbers):
        test(function.__name__.replace("_", " "), function)
    test("lost rows", lost_rows, "x86_64", objects_with_tables("x86_64"))


def help_text():
    text, errors = run(LINT, "--help")
    must(errors == "" and text.startswith("NAME"), "no help")
    for file, pattern, before in (("sfu_lint.c", r'{"([a-z-]+)", (?:no|required)_argument', "--"),
                                  ("lint_findings.c", r'\{"([a-z-]+)", LINT_(?:FAULT|NOTE)\}', ""),
                                  ("lint_worth.c", r'set_reason\(f, "([a-z-]+)"', "")):
        with open("port/host/lint/" + file, encoding="utf-8") as f:
            names = re.findall(pattern, f.read())
        must(len(names) > 5, file)
        for name in names:
            must(re.search(r"(?<![a-z-])%s%s(?![a-z-])" % (before, name), text), "%s is not in the help" % name)
    must(run(LINT, "--version")[0].startswith("sfu-lint "), "no version")


def wrong_options():
    for options in (["--what"], [], ["--require=x", "a"], ["--require=101", "a"], ["--require=nan", "a"],
                    ["--oldest=4", "a"],
                    ["--allow=unknown", "a"], ["--allow-file=/absent", "a"], ["--diff=a", "b", "c"]):
        errors = run(LINT, *options, status=2)[1]
        must(errors.count("\n") == 1, "%s: %s" % (options, errors))


def image_of(name):
    return link_kept("x86_64", name, objects_with_tables("x86_64"))


def several_images():
    """The worst of them gives the status; one that cannot be read does not keep the others from being read."""
    good, bad = image_of("several"), WORK + "/several.none"
    objcopy("x86_64", "-R", ".sframe", good, bad)
    run(LINT, good, good)
    must("no-section" in run(LINT, "-q", good, bad, good, status=1)[0], "the second of three")
    text, errors = run(LINT, "-q", "/absent", bad, status=2)
    must(errors.count("\n") == 1 and "No such file" in errors and "no-section" in text, errors)
    text, _ = run(LINT, "--json", good, "/absent", bad, status=2)
    images = json.loads(text)["images"]
    must([("error" in i) for i in images] == [False, True, False], str(images)[:200])


def allowing():
    image = image_of("allowing")
    kept = Kept(image)
    plant_word(kept.table, 0)
    kept.save(image)
    (name, where), = {(f["name"], f["where"]) for f in lint(image)["findings"] if f["name"] == "wrong-cfa"}
    run(LINT, "-q", "--allow=wrong-cfa", "--allow=absurd-offset", image)
    address = next(f["address"] for f in lint(image)["findings"] if f["name"] == "wrong-cfa")
    for text in ("%s:%s" % (name, where), "%s:%s" % (name, address)):
        write(image + ".allow", ("# known\n  %s # twice\nabsurd-offset\nold-version:nothing\n" % text).encode())
        _, errors = run(LINT, "-q", "--allow-file=" + image + ".allow", image)
        must("old-version:nothing" in errors and name not in errors, errors)
    run(LINT, "-q", "--allow=absurd-offset", "--allow=wrong-cfa:other", image, status=1)


def deterministic():
    image = image_of("same")
    for options in (["--all"], ["--json"]):
        must(run(LINT, *options, image) == run(LINT, *options, image), str(options))


def text_lists():
    """Ten lines of each list, or all of them."""
    image = image_of("lists")
    objcopy("x86_64", "-R", ".sframe", image)
    short, long = run(LINT, image, status=1)[0], run(LINT, "--all", image, status=1)[0]
    bare = lint(image)["without_rows"]
    must(len(bare) > 12 and short.count("no-tables") == 10 and "and %d more" % (len(bare) - 10) in short, short)
    must(long.count("no-tables") == len(bare), "--all")
    sizes = [f["without"] for f in bare]
    must(sizes == sorted(sizes, reverse=True), "not largest first")


def text_unnamed():
    """Code without a symbol has its address, and its distance from the symbol before it."""
    image = WORK + "/unnamed"
    write(image + ".s", b""".text\n.globl _start\n.type _start, @function\n_start: call f\nret\n.size _start, . - _start
        .type f, @function\nf: ret\n.size f, . - f\n.balign 16\npush %rax\npop %rax\nret
        .section .text.other, "ax"\npush %rax\npop %rax\nret\n""")
    write(image + ".ld", b"SECTIONS { . = 0x401000; .text : { *(.text) } .other : { *(.text.other) } }")
    run("as", image + ".s", "-o", image + ".o")
    run("ld", "-T", image + ".ld", image + ".o", "-o", image)
    text = run(LINT, image, status=1)[0]
    must(re.search(r"(?m)^ +\d+  0x40100\w \(f\+0x\w\): no-tables: ", text), text)
    must(re.search(r"(?m)^ +\d+  0x4010\w\w: no-tables: ", text) and "  f (0x401006): no-tables: " in text, text)


def text_numbers():
    """The numbers of the text are those of --json."""
    image = image_of("numbers")
    text, said = run(LINT, "--all", image)[0], lint(image)
    number = r" +(\d+)"
    kinds = re.findall(r"(?m)^  ([a-z]+)%s$" % (3 * number), text)
    must(kinds and dict((k, [int(n) for n in v]) for k, *v in kinds) ==
         {k: [v["functions"], v["rows"], v["bytes"]] for k, v in said["kinds"].items() if v["functions"]}, str(kinds))
    objects = re.findall(r"(?m)^%s +([\d.]+)%%  (.*)$" % (3 * number), text)
    must(objects and sorted(objects) == sorted(
        (str(o["bytes"]), str(o["rows"]), str(o["functions"]), "%.1f" % (100 * o["covered"] / o["code_bytes"]),
         o["name"] or "(not known)") for o in said["objects"]), str(objects))
    for line, numbers in (
            ("%d bytes, %.1f%% of the code; version %d, %d functions, %d rows\n",
             (said["bytes"], 100 * said["bytes"] / said["code_bytes"], said["version"], said["entries"], said["rows"])),
            ("of %d bytes of code, for %d of %d functions ",
             (said["code_bytes"], said["with_rows"], said["functions"]))):
        must(line % numbers in text, text)


# ---- hostile ----

sanitized = Many(OUT + "/sfu-lint-sanitized", WORK, LIMIT)

runs = 0


def survives(file, *_, status=None):
    """As gen_survives: one line if it cannot be read. What sfu-gen refuses by status 1 is status 2 here."""
    global runs
    runs += 1
    before = read(file) if os.path.isfile(file) else None
    option = ("--json", "--all")[runs % 2]
    frames = ["--frames"] if runs % 8 == 0 else []  # they read all instructions, which takes five times as long
    done = sanitized.run(option, *frames, file)
    must(not NEVER.search(done.stderr), done.stderr.strip()[:300])
    must(done.returncode in ((0, 1, 2) if status is None else (2 * status,)),
         "status %d: %s" % (done.returncode, done.stderr.strip()[:200]))
    lines = done.stderr.splitlines()
    must(len(lines) == (done.returncode == 2), done.stderr[:300])
    must(all(line.startswith("sfu-lint: ") for line in lines), done.stderr[:300])
    if option == "--json":
        json.loads(done.stdout)
    must(before is None or read(file) == before, "the file has changed")
    return done


def test_hostile():
    os.makedirs(WORK, exist_ok=True)
    test("no ELF files", hostile_files, survives, False)
    for cpu in GCC:
        image = hostile_image(cpu)
        test("%s truncated" % cpu, hostile_truncated, survives, cpu, image)
        for section, number in ((None, 100), (".eh_frame", 80), (".sframe", 120), (".symtab", 40), (".debug_info", 40),
                                (".debug_abbrev", 30)):
            test("%s %s" % (cpu, section or "headers"), hostile_bytes, survives, cpu, image, section, number)
        if cpu != "s390x":
            test("%s EFI" % cpu, hostile_pe, cpu, image)
        test("%s no section headers" % cpu, hostile_bare, cpu, image)
        file = "%s/%s-object" % (WORK, cpu)
        write(file + ".c", b"int g(int); int f(int a); int f(int a) { return g(a) + g(1); }\n")
        run(GCC[cpu], "-B%s/%s/" % (TC, cpu), "-Wa,--gsframe", "-O1", "-c", file + ".c", "-o", file + ".o")
        for section, number in ((None, 60), (".rela.sframe", 60), (".rela.eh_frame", 40), (".symtab", 40)):
            test("%s object, %s" % (cpu, section or "headers"), hostile_bytes, survives, cpu, file + ".o", section,
                 number)


def hostile_raw(file, data, places, chosen, count):
    """As hostile_bytes, for bytes at PLACES of DATA."""
    for _ in range(count if LONG else count // 2):
        broken = bytearray(data)
        for _ in range(chosen.choice((1, 1, 2, 8))):
            broken[chosen.choice(places)] = chosen.choice((0, 1, 0x7f, 0x80, 0xff, chosen.randrange(256)))
        write(file, broken)
        survives(file)


def hostile_pe(cpu, image):
    file = WORK + "/%s.efi" % cpu
    objcopy(cpu, "-O", {"x86_64": "efi-app-x86_64", "aarch64": "pei-aarch64-little"}[cpu], "-j", ".text", "-j",
            ".eh_frame", "-j", ".sframe", image, file)
    data = read(file)
    survives(file)
    for size in range(0, len(data), len(data) // 40):
        write(file, data[:size])
        survives(file)
    hostile_raw(file, data, range(0x200), random.Random(cpu), 200)


def hostile_bare(cpu, image):
    file = WORK + "/%s.bare" % cpu
    run("%s/%s/strip" % (TC, cpu), "--strip-section-headers", image, "-o", file)
    data = read(file)
    survives(file)
    for size in range(64, len(data), len(data) // 40):
        write(file, data[:size])
        survives(file)
    hostile_raw(file, data, range(64 + 8 * 56), random.Random(cpu), 100)


if __name__ == "__main__":
    {"healthy": test_healthy, "kernel": test_kernel, "planted": test_planted, "worth": test_worth,
     "options": test_options, "hostile": test_hostile}[sys.argv[1]](*sys.argv[2:])
    finish()

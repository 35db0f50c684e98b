#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""gen.py images ABI | links | faults | hostile | options: tests of sfu-gen, in build/host. Prints a line for each.

images   of real programs: equal to the assembler's tables, to libdw's reading of CFI, and to objdump's of the tables
links    programs of three compilers and four linkers, for each CPU, that walk their own stack by tables made for them
faults   what is planted in good tables is found by --check
hostile  broken files, under the sanitizers
options  what --help says
"""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys

from broken import (WITHOUT_EPILOGUE, Table, gen_survives, hostile_bytes, hostile_files, hostile_image,
                    hostile_truncated, plant_attribute, plant_info, plant_outermost, plant_word)
from host import (CPUS, GCC, GEN, LD, LONG, NOPS, OUT, TC, WORK, Elf, build_patterns, finish, gen, must, read, run,
                  test, write)
from programs import (KERNEL, KERNEL_FLAGS, KERNEL_SOURCES, LAST_BESIDE, ROOM, ROOM_BESIDE, build_module,
                      compile_kernel, compile_program, link, link_kernel)

# ---- images ----

def images(abi):
    for file in sorted(glob.glob("build/decoders/%s-*/v3/*.x" % abi)):
        yield file.split("/")[2] + " " + os.path.basename(file), file
    for kind in ("clang-O2", "clang-O0", "gcc12-O2-clash", "gcc12-Os", "gcc16-O2") + (
            ("gcc12-O2-pac", "gcc12-O1-pacb") if abi.startswith("aarch64") else ()):
        if kind.startswith("gcc16") and not os.path.exists("%s/gcc16/%s/gcc" % (TC, CPUS[abi])):
            continue
        file = "%s/%s/patterns-%s" % (OUT, abi, kind)
        yield "patterns " + kind, file
    for program in ("lua", "zlib") + (("sqlite",) if LONG else ()):
        yield program + " clang", "%s/%s/%s-clang" % (OUT, abi, program)


def test_images(abi):
    os.makedirs(WORK, exist_ok=True)
    for name, file in images(abi):
        if os.path.basename(file).startswith("patterns"):
            test("build " + name, build_patterns, file)
        elif not os.path.exists(file):
            test("build " + name, build_clang, abi, file)
        test("gas " + name, equal_to_gas, abi, file)
        test("libdw " + name, equal_to_libdw, file)
        test("objdump " + name, equal_to_objdump, abi, file)
        if abi == "x86_64" and file.endswith("sqlite3.x"):
            test("lookups " + name, lookups, file)


def build_clang(abi, file):
    """A program by clang and GNU as, as a shared object: what is undefined stays so."""
    source = run("test/tools/toolchain/sources.sh")[0].strip()
    work = file + ".objects"
    cpu = CPUS[abi]
    os.makedirs(work + "/gnu", exist_ok=True)
    write(work + "/gnu/stubs-lp64_be.h", b"")
    clang = shutil.which("clang-16") or "clang"
    program = os.path.basename(file).partition("-")[0]
    pattern = {"lua": "/lua5.4/src/l*.c", "zlib": "/zlib/*.c", "sqlite": "/sqlite3/sqlite3.c"}[program]
    names = [f for f in glob.glob(source + pattern) if not f.endswith(("/lua.c", "/luac.c"))]
    flags = ["--target=%s-linux-gnu" % abi, "-fno-integrated-as", "-B%s/%s/" % (TC, cpu), "-Wa,--gsframe",
             "-O1" if program == "sqlite" else "-O2", "-w",
             "-fasynchronous-unwind-tables", "-fPIC", "-I" + work, "-DZ_HAVE_UNISTD_H"]
    if cpu != "x86_64":
        flags += ["-isystem", "/usr/%s-linux-gnu/include" % cpu]
    sources = "test/tools/toolchain/sources.sh"
    depends = b"".join(subprocess.run(command, capture_output=True, check=True).stdout for command in (
        [clang, "--version"], ["readlink", "-f", "%s/%s" % (TC, cpu)], ["echo", abi, *flags],
        [clang, *flags, "-E", "-P", *sorted(names)]))
    kept = file + ".kept"
    if subprocess.run([sources, "kept", kept], input=depends, check=False).returncode == 0:
        os.replace(kept + "/image", file)
        shutil.rmtree(work)
        shutil.rmtree(kept)
        return
    objects = []
    for name in sorted(names):
        objects.append("%s/%s.o" % (work, os.path.basename(name)))
        run(clang, *flags, "-c", name, "-o", objects[-1])
    run("%s/%s/ld" % (TC, cpu), *(["-EB"] if abi.endswith("_be") else []), "-shared", *objects, "-o", file)
    shutil.rmtree(work)
    shutil.copy(file, kept + "/image")
    run(sources, "keep", kept)
    shutil.rmtree(kept)


def equal_to_gas(abi, file):
    # An assembler for aarch64 has advances of less than an instruction, which CFI has not: edges.c.
    if abi.startswith("aarch64") and file.endswith("edges.x"):
        return "not compared"
    made = WORK + "/%s.bytes" % abi
    gen("-q", "--cfi=keep", "--keep-below-sp", "--keep-faults", "-o", made, file)
    out = run(OUT + "/equal", file, made)[0]
    again = WORK + "/%s.again" % abi
    gen("-q", "--cfi=keep", "--keep-below-sp", "--keep-faults", "-o", again, file)
    must(read(made) == read(again), "two runs differ")
    return out.strip()


def equal_to_libdw(file):
    made = WORK + "/%d.bytes" % os.getpid()
    gen("-q", "--cfi=keep", "--keep-below-sp", "--keep-faults", "--address=0x1000", "-o", made, file)
    out = run(OUT + "/truth", file, made, "0x1000")[0]
    os.remove(made)
    return out.strip()


def equal_to_objdump(abi, file):
    """Also with the options that change how the rows are written."""
    sizes = []
    # libsframe reads no shared rows in another byte order than its own.
    foreign = ["--no-share"] if abi in ("aarch64_be", "s390x") else []
    for options in (["--no-share"], foreign, ["--small", "--fp=auto"] + foreign):
        copy = WORK + "/%s.x" % abi
        gen("-q", "--append=" + copy, *options, file)
        text, errors = run("%s/%s/objdump" % (TC, CPUS[abi]), "--sframe", copy)
        must(errors == "", "objdump: " + errors)
        table = subprocess.run(["python3", "test/truth/decoders/objdump.py", abi], input=text, capture_output=True,
                               text=True, check=False)
        must(table.returncode == 0, "objdump's output: " + table.stderr.strip()[-100:])
        write(copy + ".table", table.stdout.encode())
        run("build/decoders/agree", "x", copy, copy + ".table")
        if "--fp=auto" not in options:
            gen("-q", "--check", "--strict", copy)
        else:
            most = most_rows(copy)
            must(most <= 32, "%d rows under one entry" % most)
    for options in (["--no-share"], [], ["--small"]):
        sizes.append(int(gen("-q", "--size", *options, file)[0]))
    must(sizes[2] < sizes[1] <= sizes[0], "%d bytes, shared %d, small %d" % tuple(sizes))
    return "%d bytes, shared %d, small %d" % tuple(sizes)


def lookups(file):
    """Instructions of lookups in tables by --small beside those in the assembler's, at the same PCs: no more than 1.15
    times as many."""
    made = WORK + "/lookups.bytes"
    gen("-q", "--small", "-o", made, file)
    ratios = []
    for reader, function in (("core", "sfu_find"), ("fast", "look_up*"), ("index", "look_up*")):
        counts = []
        for tables in (file, made):
            log = WORK + "/lookups.callgrind"
            run("valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=" + log, "--collect-atstart=no",
                "--toggle-collect=" + function, OUT + "/lookups", reader, file, tables)
            counts.append(int(re.search(r"^(?:summary|totals): (\d+)", read(log).decode(), re.M)[1]))
        must(min(counts) > 50000, "%s: not counted: %s" % (reader, counts))
        ratios.append(counts[1] / counts[0])
    must(max(ratios) <= 1.15, "core, fast walker, with index: %.2f, %.2f, %.2f of the assembler's" % tuple(ratios))
    return "core %.2f, fast walker %.2f, with index %.2f of the assembler's" % tuple(ratios)


def most_rows(image):
    """The most rows that an entry of the tables has."""
    table = Table(Elf(image))
    return max(table.elf.get("H", table.fde(index)[1])[0] for index in range(table.num_fdes))


# ---- links ----

SMALL_ROOM = (ROOM % ".eh_frame").replace(" * 3 / 2", "")
EMULATOR = {cpu: "qemu-" + cpu for cpu in GCC}


def in_place(cpu, image, *options):
    """The image works with tables in its room, which are as good as those that would be made anew."""
    before = Elf(image)
    gen("-q", "--strict", *options, image)
    after = Elf(image)
    must(len(before.data) == len(after.data), "the file has another size")
    must(after.sections[".sframe"]["type"] == 0x6ffffff4, "the section has not the type SHT_GNU_SFRAME")
    gen("-q", "--check", "--strict", image)
    run(EMULATOR[cpu], image)
    first = read(image)
    gen("-q", *options, image)
    must(read(image) == first, "made again, they are others")
    # gcc for s390x keeps FP in a floating-point register of a leaf, which sfu-lint notes of true tables, too.
    known = ["--allow=unsafe-register"] if cpu == "s390x" else []
    for more in ([], ["--fp=auto"], ["--derive"], ["--find"]):
        gen("-q", *options, *more, image)
        run("build/tools/sfu-lint", "--strict", "--quiet", *known, image)
    return after.section(".sframe")


def test_links():
    os.makedirs(WORK, exist_ok=True)
    for cpu in GCC:
        clang = ["clang", "--target=%s-linux-gnu" % cpu]
        gnu = [GCC[cpu]]
        old, new, lld = [LD[cpu]], ["%s/%s/ld" % (TC, cpu)], ["ld.lld"]
        for level in ("-O0", "-O2", "-Os"):
            test("%s gcc and its own binutils %s" % (cpu, level), test_link, cpu, gnu, old, level)
            test("%s gcc, GNU ld 2.46 or newer %s" % (cpu, level), test_link, cpu, gnu, new, level)
            test("%s clang's own assembler %s" % (cpu, level), test_link, cpu, clang, old, level)
            if cpu != "s390x":
                test("%s clang's own assembler, lld %s" % (cpu, level), test_link, cpu, clang, lld, level)
        test("%s .debug_frame" % cpu, test_debug_frame, cpu, gnu, old)
        test("%s --small" % cpu, test_small, cpu, gnu, old)
        test("%s repacked" % cpu, test_repacked, cpu, gnu, new)
        test("%s --asm" % cpu, test_asm, cpu, gnu, new)
        test("%s --object" % cpu, test_object, cpu, gnu, new)
        test("%s --object, old ld" % cpu, test_object, cpu, gnu, old)
        test("%s --append" % cpu, test_append, cpu, gnu, old)
        test("%s strip, objcopy" % cpu, test_strip, cpu, gnu, old)
    for build in ("make", "cmake", "meson"):
        test("%s room" % build, exact_room, build)
    if os.uname().machine == "x86_64":
        test("x86_64 sampled 1,000 times, with Debian's libc", sampled)


def test_link(cpu, compiler, linker, level):
    name = "-".join((cpu, compiler[0], os.path.basename(linker[0]), level[1:]))
    objects = compile_program(cpu, compiler, level, "-fasynchronous-unwind-tables")
    image = link(name, linker, ROOM % ".eh_frame", objects)
    table = in_place(cpu, image)
    return "%d bytes of room" % len(table)


def test_debug_frame(cpu, compiler, linker):
    """No .eh_frame at all: only what -g writes."""
    name = cpu + "-debug"
    objects = compile_program(cpu, compiler, "-O2", "-g1", "-fno-asynchronous-unwind-tables",
                              "-fno-unwind-tables", "-DCFI_SECTIONS")
    image = link(name, linker, ROOM % ".debug_frame", objects)
    must(".debug_frame" in Elf(image).sections, "no .debug_frame")
    in_place(cpu, image)
    sizes = [int(gen("--size", "--from=" + kind, image)[0]) for kind in ("debug_frame", "both")]
    must(sizes[0] == sizes[1], "--from: %d and %d bytes" % tuple(sizes))
    run(GCC[cpu].replace("gcc", "objcopy"), "--compress-debug-sections", image)
    must(int(gen("--size", image)[0]) == sizes[0], "a compressed .debug_frame gives something else")


def test_small(cpu, compiler, linker):
    """The room of --help is enough, and so is the one that sfu-gen names, of which little is left over."""
    name = cpu + "-small"
    objects = compile_program(cpu, compiler, "-O2", "-fasynchronous-unwind-tables")
    must(SMALL_ROOM.strip().splitlines()[1].strip() in gen("--help")[0], "--help has other lines")
    image = link(name, linker, SMALL_ROOM, objects)
    in_place(cpu, image, "--small")
    named = {}
    for factor in ("/ 4", "* 4"):
        wrong = link(name + "-wrong", linker, SMALL_ROOM.replace("(.eh_frame)", "(.eh_frame) " + factor), objects)
        said = gen("--small", wrong, status=1 if factor == "/ 4" else 0)[1]
        must(("nothing written" if factor == "/ 4" else "are left over") in said, said)
        named[factor] = re.search(r"; this fits: (\. \+= 64 \+ SIZEOF\(\.eh_frame\) \* \d+ / 64;)", said)[1]
    must(len(set(named.values())) == 1, str(named))
    exact = link(name + "-exact", linker, SMALL_ROOM.replace(". += 64 + SIZEOF(.eh_frame);", named["/ 4"]), objects)
    must("left over" not in gen("--small", exact)[1], "the line that is named leaves much over")
    image = link(name, linker, ROOM % ".eh_frame", objects)
    plain = int(gen("-q", "--size", image)[0])
    in_place(cpu, image, "--small")
    small = int(gen("-q", "--size", "--small", image)[0])
    must(small < 0.8 * plain, "%d bytes instead of %d" % (small, plain))
    return "%d bytes instead of %d" % (small, plain)


KEPT = "    .sframe : { sframe_start = .; KEEP(*(.sframe .sframe.*)) sframe_end = .; } :text\n"


def test_repacked(cpu, compiler, linker):
    """The assembler's tables, in an image without its CFI, written anew. A copy that has it says they are true."""
    name = cpu + "-repacked"
    objects = compile_program(cpu, compiler, "-O2", "-fasynchronous-unwind-tables", "-B%s/%s/" % (TC, cpu),
                              "-Wa,--gsframe")
    whole = link(name, linker, KEPT, objects)
    image, tables = whole + ".bare", whole + ".tables"
    objcopy = "%s/%s/objcopy" % (TC, cpu)
    run(objcopy, "-R", ".eh_frame", whole, image)
    before = json.loads(gen("--json", "--size", image)[0])
    must(before["kept"] > 3000 and before["covered"] == 0, str(before))
    gen("-q", "--strict", "--small", image)
    run(EMULATOR[cpu], image)
    write(tables, Elf(image).section(".sframe"))
    must(most_rows(image) <= 32, "%d rows under one entry" % most_rows(image))
    run(objcopy, "--update-section", ".sframe=" + tables, whole)
    gen("-q", "--check", "--strict", whole)
    size = before["room"]
    small = int(gen("-q", "--size", "--small", image)[0])
    must(small < 0.8 * size, "%d bytes instead of %d" % (small, size))
    must("no call frame information" in gen("--forget", image, status=1)[1], "--forget")
    return "%d bytes instead of %d" % (small, size)


def block_of(name):
    """The block of docs/tables.md that is marked so."""
    text = read("docs/tables.md").decode()
    return re.search(r"<!-- block: %s -->\n```\w*\n(.*?)```" % name, text, re.S)[1]


BUILDS = {
    "make": [("Makefile", "CC = gcc\nOBJECTS = program.o sfu.o\n%s\n%%.o: %%.c\n\tgcc $(CFLAGS) -c $< -o $@\n")],
    "cmake": [("CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\nproject(kernel C)\n"
               "add_link_options(-nostdlib -static -no-pie)\nset(SOURCES program.c sfu.c)\n%s")],
    "meson": [("meson.build", "project('kernel', 'c')\n"
               "add_project_link_arguments('-nostdlib', '-static', '-no-pie', language: 'c')\n"
               "sources = ['program.c', 'sfu.c']\n%s")],
}


def exact_room(build):
    """The rule of docs/tables.md, with a program of an own linker script. At most 5% of the room is left over."""
    directory = os.path.abspath("%s/%s-room" % (WORK, build))
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    for file in ("sfu.c", "sfu.h", "port/host/test/program.c"):
        shutil.copy(file, directory)
    text = read("port/host/test/room.ld").decode()
    write(directory + "/kernel.ld", text.replace("@ROOM@", block_of("script").rstrip() + " :text")
          .replace("@LAST@", block_of("last")).encode())
    for name, around in BUILDS[build]:
        write(directory + "/" + name, (around % block_of(build)).encode())
    flags = ("-O2 -ffreestanding -fno-pie -fno-stack-protector -fno-optimize-sibling-calls -std=gnu99 -w "
             "-fasynchronous-unwind-tables -I%s" % os.getcwd())
    tools = dict(os.environ, PATH=os.path.abspath("build/tools") + ":" + os.environ["PATH"],
                 CFLAGS=flags)
    tools.pop("MAKEFLAGS", None)
    out = directory if build == "make" else directory + "/out"
    commands = {"make": [["make", "-s", "CFLAGS=" + flags, "LDFLAGS=-nostdlib -static -no-pie"]],
                "cmake": [["cmake", "-S", directory, "-B", out], ["cmake", "--build", out]],
                "meson": [["meson", "setup", "-Db_pie=false", "-Db_staticpic=false", "-Dbuildtype=plain", out],
                          ["ninja", "-C", out]]}[build]
    for command in commands:
        done = subprocess.run(command, cwd=directory, env=tools, capture_output=True, text=True, check=False)
        must(done.returncode == 0, "%s: %s" % (command[0], (done.stdout + done.stderr)[-300:]))
    image = out + "/kernel.elf"
    gen("-q", "--check", "--strict", image)
    run(image)
    numbers = json.loads(gen("--json", "--size", "--small", image)[0])
    must(0 <= numbers["room"] - numbers["bytes"] <= 0.05 * numbers["room"], str(numbers))
    return "room %d, tables %d" % (numbers["room"], numbers["bytes"])


PLACED = """    .sfu_sframe : ALIGN(8) { sframe_start = .; KEEP(*(.sfu_sframe)) . = ALIGN(8); sframe_end = .; } :text
"""


def linked_in(cpu, name, objects, linker, make):
    """Links without tables, with tables of the right size, and with the right tables."""
    empty = "%s/%s-0.s" % (WORK, name)
    write(empty, b'.section .sfu_sframe, "a", %progbits\n.balign 8\n.quad 0\n')
    piece = "%s/%s-sframe.o" % (WORK, name)
    run("%s/%s/as" % (TC, cpu), empty, "-o", piece)
    for _ in range(3):
        image = link(name, linker, PLACED, objects + [piece])
        make(image, piece)
    gen("-q", "--check", "--strict", image)
    run(EMULATOR[cpu], image)


def test_asm(cpu, compiler, linker):
    name = cpu + "-asm"

    def make(image, piece):
        gen("-q", "--asm=" + piece + ".s", image)
        run("%s/%s/as" % (TC, cpu), piece + ".s", "-o", piece)

    linked_in(cpu, name, compile_program(cpu, compiler, "-O2", "-fasynchronous-unwind-tables"), linker, make)


def test_object(cpu, compiler, linker):
    name = cpu + "-object"
    linked_in(cpu, name, compile_program(cpu, compiler, "-O2", "-fasynchronous-unwind-tables"), linker,
              lambda image, piece: gen("-q", "--object=" + piece, image))


def test_append(cpu, compiler, linker):
    """A segment more: covered by a PT_LOAD, and the program still runs, twice."""
    name = cpu + "-append"
    objects = compile_program(cpu, compiler, "-O2", "-fasynchronous-unwind-tables")
    image = link(name, linker, ROOM % ".eh_frame", objects)
    gen("-q", image)
    for _ in range(2):
        gen("-q", "--append=" + image, image)
        run(EMULATOR[cpu], image)
        gen("-q", "--check", "--strict", image)
        segments = Elf(image).segments()
        tables = [s for s in segments if s[0] == 0x6474e554]
        must(len(tables) == 1, "%d PT_GNU_SFRAME" % len(tables))
        must(any(s[0] == 1 and s[3] <= tables[0][3] and tables[0][3] + tables[0][6] <= s[3] + s[6] for s in segments),
             "no PT_LOAD covers PT_GNU_SFRAME")


def test_strip(cpu, compiler, linker):
    """What is done with images afterwards, by binutils that do not know the section's type."""
    name = cpu + "-strip"
    objects = compile_program(cpu, compiler, "-O2", "-fasynchronous-unwind-tables")
    image = link(name, linker, ROOM % ".eh_frame", objects)
    gen("-q", image)
    table = Elf(image).section(".sframe")
    run(GCC[cpu].replace("gcc", "strip"), image)
    must(Elf(image).section(".sframe") == table, "strip has changed the tables")
    run(EMULATOR[cpu], image)
    run(GCC[cpu].replace("gcc", "objcopy"), "-O", "binary", image, image + ".bin")
    must(table in read(image + ".bin"), "objcopy -O binary leaves the tables out")


def sampled():
    """A program with Debian's own libc, none of which has tables but those that --append gives it."""
    root = WORK + "/sampled"
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    program = root + "/program"
    run("gcc", "-O2", "-w", "-I.", "port/host/test/sampled.c", "sfu.c", "-o", program)
    needed = [program]
    for line in run("ldd", program)[0].splitlines():
        path = re.search(r"(/\S+)", line)
        if path:
            needed.append("%s/%s" % (root, os.path.basename(path[1])))
            shutil.copy(path[1], needed[-1])
    # libgcc comes in by dlopen where the compiler links it so.
    for file in needed:
        gen("-q", "--append=" + file, file)
        gen("-q", "--check", "--strict", "--allow=" + allowed(file), file)
    loader = next(file for file in needed if "ld-linux" in file)
    # _dl_runtime_resolve has CFA = RBX + 56, and calls: no walker of SFrame knows RBX in a calling frame. Bound early,
    # it never runs.
    return run("env", "LD_BIND_NOW=1", loader, "--library-path", root, program, "1000")[0].strip()


def allowed(file):
    """longjmp and setcontext leave their frame in the middle: SP is not the CFA there, or is another stack's."""
    name = file + ".allow"
    lost = json.loads(gen("--json", "--size", file)[0])["findings"]
    left = ("the caller's SP is not the CFA", "the code has changed SP, and the CFA is not in reach")
    must(all(finding["what"] in left for finding in lost), str(lost))
    write(name, "".join(finding["pc"] + "\n" for finding in lost).encode())
    return name


# ---- kernels ----

def test_kernels(cpu):
    """Kernels that clang's own assembler and lld (s390x, which Debian's lld has not: GNU ld) have made."""
    directory = "%s/kernels/%s-gen" % (OUT, cpu)
    os.makedirs(directory, exist_ok=True)
    test("%s kernel" % cpu, build_kernel, cpu, directory)
    test("%s kernel without rows in assembly" % cpu, build_derived, cpu, directory)
    test("%s kernel without any CFI" % cpu, build_found, cpu)
    done = subprocess.run(["python3", "port/baremetal/test/crashes.py", cpu, "%s/%s" % (TC, cpu), directory,
                           DERIVED % cpu, FOUND % cpu], stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="")
    if done.returncode != 0 and "not ok" not in done.stdout:
        print("not ok %s crashes.py: status %d" % (cpu, done.returncode))


def build_kernel(cpu, directory):
    script_of_kernel(directory)
    build_module(cpu, directory)

    # clang's -g makes functions of labels in assembly: those two files are the system's assembler's.
    def compiler(source):
        return ["clang", "--target=%s-linux-gnu" % cpu, "-DSFU_NO_FPR"] if source.endswith(".c") else [GCC[cpu]]

    objects = compile_kernel(cpu, directory, KERNEL_SOURCES, compiler, '-DMODULE="%s/module.ko"' % directory)
    image = link_kernel(cpu, directory, [
        "ld.lld" if cpu != "s390x" else LD[cpu], "-static", "-pie", "--no-dynamic-linker", "--gc-sections", "-z",
        "norelro", "--build-id=sha1", "-z", "max-page-size=4096", "--wrap=machine_exit", "-L" + directory, "-T",
        "port/baremetal/%s/machine.ld" % cpu, *objects])
    # What a scenario breaks is one function's alone.
    lost = "--allow=port/baremetal/test/lost"
    gen("-q", "--strict", lost, "--no-share", image)
    gen("-q", "--check", "--strict", lost, image)


DERIVED = OUT + "/kernels/%s-derive"
# What nobody calls in the kernels' assembly: how it is entered.
ENTRIES = {
    "x86_64": ["boot64:start", "vectors:vectors/16"],
    "aarch64": ["boot:start", "vectors+0:sp0", "vectors+0x80:sp0", "vectors+0x200", "vectors+0x280",
                "probe_return:call"],
    "s390x": ["boot:start", "program_entry", "external_entry", "probe_return:call"],
}


def build_derived(cpu, directory):
    """The objects of DIRECTORY once more, where all that assembly says of its frames is gone, and so is the hook that
    knows the instructions of exception entries. The rows are those of the machine code."""
    derived = DERIVED % cpu
    os.makedirs(derived, exist_ok=True)
    shutil.copy(directory + "/kernel.ld", derived)
    objects = []
    for source in KERNEL_SOURCES:
        name = os.path.basename(source) + ".o"
        objects.append("%s/%s" % (derived, name))
        remove = ("-R", ".eh_frame", "-R", ".rela.eh_frame", "-R", ".*sframe*") if source.endswith(".S") else ()
        run("%s/%s/objcopy" % (TC, cpu), "-w", *remove, "%s/%s" % (directory, name), objects[-1])
    write(derived + "/no_hook.c", b"int __wrap_machine_crossed(void) { return 0; }\n"
                                  b"int __wrap_machine_saved(void) { return 0; }\n")
    run(GCC[cpu], *KERNEL[cpu], *KERNEL_FLAGS, "-c", derived + "/no_hook.c", "-o", derived + "/no_hook.o")
    image = link_kernel(cpu, derived, [
        LD[cpu], "-static", "-pie", "--no-dynamic-linker", "--gc-sections", "-z", "norelro", "--build-id=sha1", "-z",
        "max-page-size=4096", "--wrap=machine_exit", "--wrap=machine_crossed", "--wrap=machine_saved", "-L" + derived,
        "-T", "port/baremetal/%s/machine.ld" % cpu, *objects, derived + "/no_hook.o"])
    starts = [name + ":start" for name in ("boot_again", "boot_second", "thread_start")]
    gen("-q", "--small", *("--entry=" + entry for entry in ENTRIES[cpu] + starts), image)


FOUND = OUT + "/kernels/%s-find"


def build_found(cpu):
    """The same once more without the CFI of any object, and without a list of entries: all is found in the code."""
    derived, found = DERIVED % cpu, FOUND % cpu
    os.makedirs(found, exist_ok=True)
    must(os.path.exists(derived + "/no_hook.o"), "the kernel of the test before is missing")
    with open(derived + "/kernel.ld", encoding="utf-8") as f: # room in proportion to .eh_frame, which is gone
        text, count = re.subn(r"\. \+= 64 \+ SIZEOF\(\.sframe\) \+ SIZEOF\(\.eh_frame\)[^;]*;", ". += 16384;",
                              f.read())
    must(count == 1, "kernel.ld is not what it was")
    write(found + "/kernel.ld", text.encode())
    objects = []
    for source in [*KERNEL_SOURCES, "no_hook.c"]:
        name = os.path.basename(source.replace("no_hook.c", "no_hook")) + ".o"
        objects.append("%s/%s" % (found, name))
        run("%s/%s/objcopy" % (TC, cpu), "-w", "-R", ".eh_frame", "-R", ".rela.eh_frame", "-R", ".debug_frame",
            "-R", ".rela.debug_frame", "%s/%s" % (derived, name), objects[-1])
    image = link_kernel(cpu, found, [
        LD[cpu], "-static", "-pie", "--no-dynamic-linker", "--gc-sections", "-z", "norelro", "--build-id=sha1", "-z",
        "max-page-size=4096", "--wrap=machine_exit", "--wrap=machine_crossed", "--wrap=machine_saved", "-L" + found,
        "-T", "port/baremetal/%s/machine.ld" % cpu, *objects])
    said = gen("-v", "--small", "--find", "--require=96", image)[1]
    must(said.count("entered as by") > 5, said)


def script_of_kernel(directory):
    """The kernels' linker script, with the lines of --help."""
    with open("port/baremetal/kernel.ld", encoding="utf-8") as f:
        text = f.read()
    text, count = re.subn(r" *\.sframe : {.*?} :text\n", ROOM_BESIDE, text, flags=re.S)
    must(count == 1 and " .eh_frame" in text, "kernel.ld is not what it was")
    text = re.sub(r"( *.DISCARD.*) \.eh_frame", lambda match: LAST_BESIDE + match[1], text)
    write(directory + "/kernel.ld", text.encode())


# ---- faults ----

def plant_start(table):
    """A row begins too late."""
    _, rows = table.find(lambda rows: len(rows) > 1 and rows[1][3] == 1)
    table.elf.data[rows[1][0]] += 1


def plant_size(table):
    """A function ends too early."""
    index, rows = table.find(lambda rows: len(rows) == 1)
    at, _ = table.fde(index)
    size, = table.elf.get("I", at + 8)
    table.elf.put("I", at + 8, size - 4)


def plant_swap(table):
    """The entries of two functions lead to each other's rows."""
    at, _ = table.fde(0)
    for index in range(1, table.num_fdes):
        other, _ = table.fde(index)
        if table.elf.get("I", at + 8) == table.elf.get("I", other + 8):
            continue
        first, second = table.elf.get("I", at + 12), table.elf.get("I", other + 12)
        table.elf.put("I", at + 12, *second)
        table.elf.put("I", other + 12, *first)
        return


def plant_drop(table):
    """A function is missing: the last entry is the one before it once more, of size 0."""
    index, rows = table.find(lambda rows: len(rows) > 2)
    at, _ = table.fde(index)
    table.elf.put("I", at + 8, 0)


def plant_fixed_ra(table):
    table.elf.data[table.at + 6] = 0xf0


def plant_header(table, offset, value):
    table.elf.data[table.at + offset] = value


# What is planted, and what is said of it.
FAULTS = [
    ("CFA's offset", lambda t: plant_word(t, 0), "wrong CFA"),
    ("second word", lambda t: plant_word(t, 1), "wrong (FP|RA)"),
    ("CFA's base", lambda t: plant_info(t, 1), "wrong CFA"),
    ("start of a row", plant_start, "wrong|ascending|corrupt row"),
    ("signal frame", lambda t: plant_attribute(t, 2, 0x80), "signal frame"),
    ("flexible rows", lambda t: plant_attribute(t, 3, 1), "wrong|corrupt"),
    ("address size", lambda t: plant_attribute(t, 2, 1), "wrong|corrupt|outside"),
    ("outermost", plant_outermost, "outermost"),
    ("size of a function", plant_size, "no .sframe entry"),
    ("swapped rows", plant_swap, "wrong|corrupt"),
    ("missing function", plant_drop, "no .sframe entry|overlap|corrupt row"),
    ("magic", lambda t: plant_header(t, 0, 0), "magic"),
    ("version", lambda t: plant_header(t, 2, 9), "version"),
    ("flags", lambda t: plant_header(t, 3, 0xff), "flags"),
    ("ABI", lambda t: plant_header(t, 4, 9), "ABI"),
    ("number of functions", lambda t: plant_header(t, 9, 0xff), "outside|overlap|sorted|number|corrupt"),
]


def test_faults():
    os.makedirs(WORK, exist_ok=True)
    for cpu in GCC:
        objects = compile_program(cpu, [GCC[cpu]], "-O2", "-fasynchronous-unwind-tables",
                                  *(["-mbranch-protection=standard"] if cpu == "aarch64" else []))
        image = link(cpu + "-faults", [LD[cpu]], ROOM % ".eh_frame", objects)
        gen("-q", "--no-share", image) # what is planted is one function's alone
        gen("-q", "--check", "--strict", image)
        faults = list(FAULTS)
        if cpu == "x86_64":
            faults.append(("fixed RA", plant_fixed_ra, "wrong RA"))
        if cpu == "aarch64":
            faults.append(("signed RA", lambda t: plant_info(t, 0x80), "signed RA"))
        for name, plant, said in faults:
            test("%s %s" % (cpu, name), find_fault, image, plant, said)
    test("x86_64 ld's row for .plt.got", find_plt_got)
    for name, old, new in WALKERS:
        test("a fast walker that errs: " + name, refused, WORK + "/x86_64-faults.elf", old, new)


# What is wrong in port/fast/sfu_fast.c.
WALKERS = [
    ("nothing", "", ""),
    ("a row begins late", "load(next, size) <= offset", "load(next, size) < offset"),
    ("the PC is one more", "look_up(v, at.behind - 1,", "look_up(v, at.behind,"),
    ("a row too many", "count > 0 &&", "count + 1 > 0 &&"),
]


def refused(image, old, new):
    """sfu-gen with such a walker writes nothing."""
    walker, broken, output = WORK + "/walker.c", WORK + "/sfu-gen-broken", WORK + "/walker.out"
    text = read("port/fast/sfu_fast.c").decode()
    must(old in text, "sfu_fast.c has no " + old)
    write(walker, (text.replace(old, new) if old else text).encode())
    libraries = read(OUT + "/gen-but-fast.libraries").decode().split()
    run("gcc", "-std=c99", "-O1", "-w", "-I.", "-Iport/fast", walker, OUT + "/gen-but-fast.o", *libraries, "-o",
        broken)
    for options in ((), ("--small",)):
        if os.path.exists(output):
            os.remove(output)
        errors = run(broken, "-q", *options, "-o", output, image, status=1 if old else 0)[1]
        must(os.path.exists(output) == (not old), "what is written: " + errors)
        must(not old or re.search("self-check: 0x[0-9a-f]+: wrong: the fast walker .*; nothing", errors), errors)


def find_fault(image, plant, said):
    elf = Elf(image)
    plant(Table(elf))
    broken = image + ".broken"
    write(broken, elf.data)
    _, errors = gen("--check", "--strict", broken, status=1)
    must(re.search(said, errors), "said: " + errors.strip()[:100])
    must(read(broken) == elf.data, "--check has changed the file")


def find_plt_got():
    """FAULTS.md: ld-plt-got."""
    source = WORK + "/plt_got.c"
    image = WORK + "/plt_got.elf"
    write(source, b"int main(void) { return 0; }\n")
    run("gcc", "-B%s/x86_64/" % TC, "-Wa,--gsframe", "-O1", source, "-o", image)
    elf = Elf(image)
    if ".plt.got" not in elf.sections or ".sframe" not in elf.sections:
        return "no such PLT here"
    start = elf.sections[".plt.got"]["addr"]
    _, errors = gen("--check", image, status=1)
    must(": 0x%x, 8 bytes: wrong CFA: r7+16, but the CFI says r7+8" % start in errors, "said: " + errors)
    gen("-q", "--append=" + image, image)
    gen("-q", "--check", image)
    return ""


# ---- hostile ----

def test_hostile():
    os.makedirs(WORK, exist_ok=True)
    test("no ELF files", hostile_files, gen_survives)
    test("no CFI", hostile_no_cfi)
    for cpu in GCC:
        image = hostile_image(cpu)
        test("%s truncated" % cpu, hostile_truncated, gen_survives, cpu, image)
        test("%s headers" % cpu, hostile_bytes, gen_survives, cpu, image, None, 250)
        test("%s .eh_frame" % cpu, hostile_bytes, gen_survives, cpu, image, ".eh_frame", 400)
        test("%s .sframe" % cpu, hostile_bytes, gen_survives, cpu, image, ".sframe", 150)
    test("expressions", hostile_expressions)
    test("rows that a correction inserts", hostile_inserted)


def hostile_no_cfi():
    name = WORK + "/bare.elf"
    run("gcc", "-nostdlib", "-static", "-fno-asynchronous-unwind-tables", "-Wl,-e,0", "-x", "c", "/dev/null",
        "-o", name)
    must("no call frame information" in gen_survives(name, status=1).stderr, "no CFI")


# Expressions for the CFA that no compiler writes, and whether there can be rows for them: by DW_CFA_def_cfa_expression.
EXPRESSIONS = [
    ("0x77, 8", True), ("0x77, 8, 0x23, 8", True), ("0x77, 8, 0x06", True), ("0x92, 7, 8", True), ("0x92, 17, 8", True),
    ("0x77, 8, 0x33, 0x1c", True), ("0x33, 0x77, 8, 0x22", True), ("0x77, 0, 0x12, 0x13, 0x23, 8", True),
    ("0x77, 8, 0x96", True), ("0x2f, 0, 0, 0x77, 8", True), ("0x77, 8, 0x80, 0, 0x80, 8, 0x30, 0x1e, 0x22", False),
    ("0x77, 8, 0x06, 0x23, 8", False), ("0x77, 8, 0x06, 0x06", False), ("0x77, 8, 0x77, 8, 0x22", False),
    ("0x33", False), ("0x9c", False), ("0x06", False), ("0x22", False), ("0x2f, 0xfd, 0xff", False),
    ("0x28, 0, 0", False), ("0x15, 200", False), ("0x30, 0x30, 0x1b", False), ("0x31, 0x08, 200, 0x24", False),
    ("0xff", False), ("0x77", False), ("0x0e, 1, 2", False), ("0x10, 0x80, 0x80", False), ("0x94, 4", False),
    ("0x77, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00", False), ("0x92, 0xff, 0xff, 0x7f, 8", False),
]


def hostile_expressions():
    for i, (expression, good) in enumerate(EXPRESSIONS):
        name = WORK + "/expression"
        size = len(expression.split(","))
        text = (".text\n.globl _start\n_start: .cfi_startproc\n.cfi_escape 0x0f, %d, %s\nnop\nnop\n.cfi_endproc\n"
                ".section .sframe, \"a\"\n.skip 200\n") % (size, expression)
        write(name + ".s", text.encode())
        run("as", name + ".s", "-o", name + ".o")
        run("ld", name + ".o", "-o", name)
        done = gen_survives(name, "--json")
        must((done.returncode == 0) == good, "%s: %s" % (expression, done.stderr))
    return "%d" % len(EXPRESSIONS)


def hostile_inserted():
    """The array of rows grows while a row is split: as many functions as make it full at each place. Without
    --cfi=keep the machine code would have corrected them."""
    name = WORK + "/riscv64-inserted"
    write(name + ".s", (".text\n.globl f\nf:\n" + 20 * WITHOUT_EPILOGUE).encode())
    run("riscv64-linux-gnu-gcc", "-c", name + ".s", "-o", name + ".o")
    run("riscv64-linux-gnu-ld", "-shared", name + ".o", "-o", name)
    numbers = json.loads(gen_survives(name, "--json", "--size", "--cfi=keep", status=0).stdout)
    must(numbers["epilogue"] > 0, "no row was corrected")


# ---- options ----

def assemble(name, text, *flags):
    """A program of x86_64 whose one section of code is TEXT, with room for tables."""
    file = WORK + "/" + name
    write(file + ".s", (".text\n.globl _start\n_start:\n%s\n.section .sframe, \"a\"\n.skip 4096\n" % text).encode())
    run("as", file + ".s", "-o", file + ".o")
    run("ld", *flags, file + ".o", "-o", file)
    return file


def rows(image, *options):
    """objdump's rows: (PC, CFA, FP, RA), and the starts of its functions."""
    gen("-q", *options, "--side=" + image + ".side", image)
    text = run(TC + "/x86_64/objdump", "--sframe", image + ".side")[0]
    found = [(int(m[1], 16), m[2], m[3], m[4]) for m in
             re.finditer(r"^ +([0-9a-f]{16}) +(\S+) +(\S+) +(\S+) *$", text, re.M)]
    return found, [int(m[1], 16) for m in re.finditer(r"func idx .*pc = 0x([0-9a-f]+)", text)]


def test_options():
    os.makedirs(WORK, exist_ok=True)
    for function in (help_text, install, wrong_options, strict, strict_thunk, share, set_loc, long_function,
                     handed_handler, overlaps, dropped, dead_entries, live_at_zero, no_cfi, one_line, mixed,
                     taken_over, below_sp, saved_sp, link_register_below_sp, high_addresses, concatenated, flashed,
                     signed_with_pc, out_of_reach, at_zero, moved_headers, scalable, smallest, shared_lists,
                     frame_pointer, operations, instructions_of_cfi, no_rule, encodings, widths, wide_rows, holes,
                     signals, plts, plts_i386, plt_counted, trampolines, no_blocks, room, outputs, deterministic):
        test(function.__name__.replace("_", " "), function)


def help_text():
    text, errors = gen("--help")
    must(errors == "" and "--keep-below-sp" in text, "no help")
    with open("port/host/gen/sfu_gen.c", encoding="utf-8") as f:
        for option in re.findall(r'{"([a-z-]+)", (?:no|required)_argument', f.read()):
            must("--" + option in text, "--%s is not in the help" % option)
    must(gen("--version")[0].startswith("sfu-gen "), "no version")


def install():
    root = os.path.abspath(WORK + "/root")
    shutil.rmtree(root, ignore_errors=True)
    run("make", "-s", "install", "DESTDIR=" + root, "PREFIX=/usr")
    for name in ["sfu-gen", "sfu-lint", "sfu-trace"]:
        must(os.access(root + "/usr/bin/" + name, os.X_OK), "no " + name)
        page = read(root + "/usr/share/man/man1/%s.1" % name).decode()
        sections = re.findall(r"^\.SH (.*)$", page, re.M)
        must(sections[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"], str(sections))
        text = run("build/tools/" + name, "--help")[0]
        same_words(page, text)
        filled(page, text)


def same_words(page, text):
    """What is left of the page without its markup is --help."""
    words = re.sub(r'^\.(?:TH .*|SH |PP|TP 18|IP \\\(bu 4|nf|fi)', "", page, flags=re.M)
    words = words.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\").split()
    wanted = re.sub(r"^    -   ", "", text, flags=re.M).split()
    differ = [pair for pair in zip(words, wanted) if len(set(pair)) > 1]
    must(words == wanted, "the page and --help differ: %s" % differ[:1])


def filled(page, text):
    """The lines that are not are those of the synopsis, and those that --help indents by another depth."""
    as_lines = re.findall(r"^\.nf\n(.*?)^\.fi\n", page, re.M | re.S)
    examples = [line for line in text.splitlines() if not re.match(r" {4}\S| {22}\S|\S|$", line)]
    synopsis = re.search(r"^SYNOPSIS\n(.*?)\n\n", text, re.M | re.S)[1].splitlines()
    must(sum(len(block.splitlines()) for block in as_lines) <= len(examples) + len(synopsis), "the page is not filled")


def wrong_options():
    for options in (["--what"], [], ["a", "b"], ["--rows=0", "a"], ["--rows=x", "a"], ["--rows=257", "a"],
                    ["--fp=no", "a"], ["--size", "--check", "a"], ["--address=1", "a"],
                    ["--address=-1", "-o", "x", "a"], ["--json", "-o", "-", "a"]):
        errors = gen(*options, status=2)[1]
        must(errors.count("\n") == 1, "%s: %s" % (options, errors))


def strict():
    lost = ".cfi_escape 0x0f, 5, 0x77, 8, 0x06, 0x23, 8"
    image = assemble("strict", ".cfi_startproc\n%s.cfi_endproc\n.type bad, @function\nbad: .cfi_startproc\n%s\n%s"
                     ".cfi_endproc\n.size bad, .-bad" % (NOPS, lost, NOPS))
    before = read(image)
    errors = gen("--strict", image, status=1)[1]
    must("bad+0x0" in errors and "expression" in errors and "--strict" in errors, errors)
    errors = gen("-q", "--strict", image, status=1)[1]
    must("bad+0x0" in errors and "expression" in errors and errors.count("\n") == 2, errors)
    must(read(image) == before, "--strict has written")
    allow = WORK + "/strict.allow"
    write(allow, b"# known\n  bad   # by name\n")
    gen("--strict", "--allow=" + allow, image)
    write(allow, b"0x%x\nunknown\n" % (Elf(image).sections[".text"]["addr"] + 4))
    errors = gen("-q", "--strict", "--allow=" + allow, image)[1]
    must("unknown" in errors, "a line that is of no use is not named")
    numbers = json.loads(gen("--json", "--size", image)[0])
    must(numbers["covered"] == 8 and numbers["expressed"] == 4 and numbers["findings"][0]["function"] == "bad",
         str(numbers))


def strict_thunk():
    """i386: position-independent code finds its address by a function that returns it in FP. At its return no tables
    can have a row, so --strict accepts that, and says so; a function that does more has to be allowed."""
    thunk = ".cfi_startproc\n%smov (%%esp), %%ebp\n%sret\n.cfi_endproc\n"
    for before, behind, status in ("", "", 0), ("nop\n", "", 0), ("", "nop\n", 1):
        file = WORK + "/thunk"
        write(file + ".s", (".text\n.globl _start\n_start: nop\n.type f, @function\nf: " + thunk %
                            (before, behind) + ".size f, . - f\n").encode())
        run("as", "--32", file + ".s", "-o", file + ".o")
        run("ld", "-m", "elf_i386", "-z", "noexecstack", file + ".o", "-o", file)
        errors = gen("--strict", "--size", file, status=status)[1]
        said = "f+0x%d (" % (len(before) // 4 + 3) in errors and "--strict accepts that" in errors
        must(said == (status == 0), errors)
        errors = gen("-q", "--strict", "--size", file, status=status)[1]
        must((errors == "") == (status == 0), errors)



def share():
    """The share of the code, beside code without CFI, padding and data: exactly; and what is required of it."""
    text = (".cfi_startproc\n%s.cfi_endproc\n%s.skip 40, 0x90\n.type other, @function\nother: %s.size other, .-other\n"
            ".skip 100, 0x90\n" % (NOPS, "nop\n" * 3, "mov %eax, %eax\n" * 30))
    image = assemble("share", text.replace(NOPS, "xor %eax, %eax\n" * 2, 1))
    before = read(image)
    numbers = json.loads(gen("--json", "--size", image)[0])
    must((numbers["described_bytes"], numbers["code_bytes"]) == (4, 64), str(numbers))
    must(numbers["covered"] == numbers["expressed"] == 4, "all of the CFI can be said")
    said = gen("--strict", "--size", image)[1]
    must("100% of 4 bytes with CFI, 6.25% of 64 bytes of code" in said, said)
    bare = assemble("bare", "call h\nhlt\n.type h, @function\nh: nop\nret\n.size h, .-h\n")
    said = gen("--derive", "--size", bare)[1]
    must("rows: no byte has CFI, 100.00% of 8 bytes of code" in said, said)
    # A signal frame is in the tables so that a hook is asked. Where no row can say it, its code has none.
    signal = assemble("unsaid", """.cfi_startproc\nret\n.cfi_endproc\n.balign 4\n.type h, @function
        h: .cfi_startproc\n.cfi_signal_frame\n.cfi_escape 0x0f, 5, 0x77, 0, 0x70, 0, 0x22\nxor %eax, %eax\nud2
        .cfi_endproc\n.size h, .-h\n""")
    said = gen("--size", signal)[1]
    must("20.000% of 5 bytes with CFI, 20.00% of 5 bytes of code" in said, said)
    errors = gen("-q", "--strict", "--require=6.3", image, status=1)[1]
    must("6.250% of the 64 bytes of code" in errors and "6.3% are required" in errors, errors)
    must(read(image) == before, "--require has written")
    gen("-q", "--strict", "--require=6.25", image)
    result = json.loads(run("build/tools/sfu-lint", "--json", image)[0])["images"][0]
    must((result["covered_bytes"], result["code_bytes"]) == (4, 64), "sfu-lint: %s" % result)
    for wrong in ("-1", "101", "x", "nan", ""):
        must("--require: not a number" in gen("--require=" + wrong, image, status=2)[1], wrong)


def set_loc():
    """DW_CFA_set_loc, which no assembler writes, in a .debug_frame by hand."""
    text = """a: %s b: %s c:
.section .debug_frame, "", @progbits
.4byte 2f - 1f
1: .4byte 0xffffffff
.byte 4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1
.balign 8
2: .4byte 4f - 3f
3: .4byte 0
.8byte a, c - a
.byte 1
.8byte b
.byte 0x0e, 24
.balign 8
4:
""" % (NOPS, NOPS)
    image = assemble("set_loc", text)
    start = Elf(image).sections[".text"]["addr"]
    must(rows(image)[0] == [(start, "sp+8", "u", "f"), (start + 4, "sp+24", "u", "f")], str(rows(image)))
    image = assemble("set_loc", text.replace(".8byte b", ".8byte a - 1"))
    errors = gen("--size", image, status=1)[1]
    must("none of its code has a row" in errors and "0x%x" % start in errors, errors)


HANDED = """entry: push %%rax
push %%rcx
push %%rdx
push %%rsi
push %%rdi
push %%r8
push %%r9
push %%r10
push %%r11
push %%rbx
push %%r12
push %%r15
jmp g
.type g, @function
g: .cfi_startproc
push %%rbx
.cfi_def_cfa_offset 16
mov %%cr2, %%rax
pop %%rbx
.cfi_def_cfa_offset 8
ret
.cfi_endproc
.size g, . - g
.type k, @function
k: push %%rbx
pop %%rbx
ret
.size k, . - k
%s"""


def handed_handler():
    """A handler that an exception's entry jumps to loses the rows of its CFI: sfu-gen says so, with the remedy, and
    counts them as lost, also where no other code has CFI. Code without CFI is not counted as code with CFI."""
    remedy = "--entry=NAME:start"
    image = assemble("handed", HANDED % "")
    for option in ["--size"], ["-q", "--size"]:
        errors = gen(*option, image, status=1)[1]
        must("none of its code has a row" in errors and "g+0x0" in errors and remedy in errors, errors)
        must("SFrame" not in errors, errors)
    image = assemble("handed", HANDED % ".type h, @function\nh: .cfi_startproc\nnop\ncall k\nret\n.cfi_endproc\n")
    errors = gen("--size", image)[1]
    must("53.846% of 13 bytes with CFI" in errors and errors.count("g+0x0") == 1 and remedy in errors, errors)
    for options, status in (["-q"], 0), (["--strict"], 1), (["-q", "--strict"], 1):
        errors = gen("--size", *options, image, status=status)[1]
        must("g+0x0" in errors and remedy in errors, errors)
    report = json.loads(gen("--size", "--json", image)[0])
    must(report["covered"] - report["expressed"] == 6 and report["findings"][0]["what"].endswith(remedy), str(report))
    errors = gen("--size", "--derive", image)[1]
    must("53.846% of 13 bytes with CFI" in errors and "3 bytes without CFI have rows" in errors, errors)
    write(WORK + "/handed.allow", b"g\n")
    gen("--size", "--strict", "--allow=" + WORK + "/handed.allow", image)
    errors = gen("--size", "--strict", "--entry=g:start", image)[1]
    must("100% of 13 bytes with CFI" in errors, errors)


def long_function():
    """More rows than are in one entry."""
    text = (".cfi_startproc\n.rept 5000\nnop\n.cfi_adjust_cfa_offset 8\nnop\n.cfi_adjust_cfa_offset -8\n.endr\nnop\n"
            ".cfi_endproc\n.section .sframe, \"a\"\n.skip 60000\n.text")
    image = assemble("long", text)
    gen("-q", "--strict", image)
    gen("-q", "--check", "--strict", image)
    found, starts = rows(image)
    must(len(found) == 10001 and len(starts) == 3, "%d rows, %d functions" % (len(found), len(starts)))


TWICE = """.type f, @function
f: .cfi_startproc
%s.cfi_endproc
.size f, .-f
.section .eh_frame, "a", @unwind
.balign 8
.4byte 2f - 1f
1: .4byte 0
.byte 1, 0x7a, 0x52, 0
.byte 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1
.balign 8
2: .4byte 4f - 3f
3: .4byte 3b - 1b + 4
.4byte f %s - ., %s
.byte 0, 0x0e, 64
.balign 8
4: .text
"""


def overlaps():
    """Two entries for one function. The one that has its symbol counts; if none or both have, neither does."""
    image = assemble("overlap", TWICE % (NOPS * 2, "+ 4", 4))
    start = Elf(image).sections[".text"]["addr"]
    must(rows(image)[0] == [(start, "sp+8", "u", "f")], "inside: " + str(rows(image)))
    image = assemble("overlap", TWICE % (NOPS * 2, "", 8))
    errors = gen("--size", image, status=1)[1]
    must("none of its code has a row" in errors and "f+0x0" in errors, errors)
    image = assemble("overlap", (TWICE % (NOPS * 2, "+ 4", 4)).replace(".type f, @function", "")
                     .replace(".size f, .-f", "").replace("f: .cfi", ".Lf: .cfi").replace("f + 4", ".Lf + 4"))
    errors = gen("--size", image)[1]
    must("overlap" in errors and "4 bytes)" in errors, errors)
    must(rows(image)[0] == [(start, "sp+8", "u", "f")], "no symbols: " + str(rows(image)))


def dropped():
    """The linker has dropped a function, but .debug_frame still has its entry."""
    text = (".cfi_sections .debug_frame\n.cfi_startproc\n%s.cfi_endproc\n"
            ".section .text.gone, \"ax\"\ngone: .cfi_startproc\n"
            "%s.cfi_endproc" % (NOPS, NOPS))
    image = assemble("dropped", text, "--gc-sections")
    numbers = json.loads(gen("--json", "--size", image)[0])
    must(numbers["dropped"] == 1 and numbers["covered"] == 4 and numbers["findings"] == [], str(numbers))
    # In flash the vectors are at 0, in a section of code; the entry says that the dropped function is there, too.
    text = ".text\n.skip 64\n.globl f\n.type f, @function\nf:\n" + text.replace(NOPS, NOPS * 32)
    text = text.replace(".cfi_endproc\n.section", ".cfi_endproc\n.size f, . - f\n.section")
    image = WORK + "/vectors"
    write(image + ".s", (text + "\n").encode())
    run("as", image + ".s", "-o", image + ".o")
    run("ld", "--gc-sections", "-Ttext=0", "-e", "f", image + ".o", "-o", image)
    numbers = json.loads(gen("--json", "--size", image)[0])
    must(numbers["dropped"] == 1 and numbers["covered"] == 128 and numbers["findings"] == [], str(numbers))


DEAD = """.cfi_sections %(source)s
.section .text.low, "ax"
%(low)s
.section .text.live, "ax"
.globl _start
.type _start, @function
_start: .cfi_startproc
nop
.cfi_def_cfa_offset 24
%(ends)s.cfi_endproc
.size _start, . - _start
.type next, @function
next: .cfi_startproc
nop
.cfi_def_cfa_offset 40
nop
.cfi_endproc
.size next, . - next
.section .text.gone, "ax"
nop
%(gone)s"""
GONE = ".cfi_startproc\n.cfi_def_cfa_offset %d\n.skip %d, 0x90\n.cfi_def_cfa_offset 800\n.skip 3, 0x90\n.cfi_endproc\n"
LOW = {"nothing": ".skip 16, 0x50\n", "a label": "_stext: .skip 16, 0x50\n",
       "a function": ".type low, @function\nlow: .skip 16, 0x50\n.size low, . - low\n",
       "an object": ".type low, @object\nlow: .skip 16, 0x50\n.size low, . - low\n",
       "vectors": "vectors: .skip 15, 0x50\n.byte 0\n"}
LINKERS = (["ld"], ["ld.gold"], ["ld.lld"], ["ld.lld", "-z", "dead-reloc-in-nonalloc=.debug_frame=1"],
           ["ld.lld", "-z", "dead-reloc-in-nonalloc=.debug_frame=0xffffffffffffffff"])


def dead_image(linker, source, low, gone, *flags, ends=NOPS):
    """An image at 0: what LOW says, _start and next, which live, and GONE, which the linker drops."""
    image = WORK + "/dead"
    write(image + ".s", (DEAD % {"source": source, "low": low, "gone": gone, "ends": ends}).encode())
    write(image + ".ld", b"ENTRY(_start) SECTIONS { .text 0 : { KEEP(*(.text.low)) KEEP(*(.text.live)) *(.text.*) }"
                         b" .eh_frame : { KEEP(*(.eh_frame)) } }")
    run("as", image + ".s", "-o", image + ".o")
    run(*linker, "--gc-sections", "-T", image + ".ld", *flags, image + ".o", "-o", image)
    return image


def cfa_of(image):
    """The CFAs that the image's tables have, by address, without those of rows that repeat."""
    return {pc: int(re.search(r"\+(\d+)", cfa)[1]) for pc, cfa, _, _ in rows(image, "--cfi=keep")[0]}


def dead_entries():
    """Entries of functions that the linker has dropped, where code is at 0: of none of them there is a row, whatever
    lies there, and no function that lives loses one. There are one, two, and some that overlap nothing that has CFI."""
    alive = {16: 8, 17: 24, 21: 8, 22: 40}
    count = 0
    for linker in LINKERS:
        for what, low in LOW.items():
            for sizes in ((6,), (13,), (13, 40), (60, 200)):
                if what == "a function" and 13 in sizes:
                    continue  # of exactly its length: nobody can tell
                gone = "".join(GONE % (400 + size, size) for size in sizes)
                for strip in ([], ["-s"]):
                    image = dead_image(linker, ".debug_frame", low, gone)
                    if strip:
                        run("objcopy", "--strip-unneeded", "--keep-section=.debug_frame", image)
                    found = cfa_of(image)
                    must(not [cfa for cfa in found.values() if cfa >= 400],
                         "%s, %s, %s %s: %s" % (linker, what, sizes, strip, found))
                    must(strip or found == alive, "%s, %s, %s: %s" % (linker, what, sizes, found))
                    count += 1
    return "%d images" % count


BODY = ".cfi_startproc\nnop\n.cfi_def_cfa_offset 56\nret\n.cfi_endproc\n"
LIVE_LOW = {"a function": ".type low, @function\nlow: %s.size low, . - low\n" % BODY, "a label": "low: " + BODY,
            "nothing": BODY}


def live_at_zero():
    """A function that lives at 0 has its rows, beside two that the linker has dropped. (gold drops none that has an
    entry in .eh_frame which the script keeps.)"""
    gone = GONE % (440, 40) + GONE % (441, 70)
    for linker in LINKERS:
        for what, low in LIVE_LOW.items():
            for source in (".debug_frame",) if linker == ["ld.gold"] else (".eh_frame", ".debug_frame"):
                found = cfa_of(dead_image(linker, source, low, gone))
                must(found == {0: 8, 1: 56, 2: 8, 3: 24, 7: 8, 8: 40}, "%s, %s: %s" % (linker, what, found))
    # That something else begins where the entry ends is no proof: a dead one could have that length.
    said = gen("--cfi=keep", "--size", dead_image(["ld"], ".debug_frame", LOW["a label"], GONE % (440, 13)))[1]
    must("_stext+0x0 (0x0, 16 bytes): its CFI, which begins at 0, may be of a function that the linker has dropped"
         in said, said)


def no_cfi():
    """Where an image has no call frame information, the reason is named, and what helps; with room, too."""
    for script, said in ((".text : { *(.text) *(.eh_frame) }", "in the section .text, where no reader looks for it"),
                         (".text : { *(.text) } .rodata : { *(.eh_frame) *(.rodata) }", "in the section .rodata"),
                         (".text : { *(.text) } /DISCARD/ : { *(.eh_frame) }", "/DISCARD/")):
        for room in ("", ".sframe : { QUAD(0) . += 4000; }"):
            image = WORK + "/without"
            write(image + ".s", (".globl _start\n_start: .cfi_startproc\n%s.cfi_endproc\n" % NOPS).encode())
            write(image + ".ld", ("SECTIONS { . = 0x10000; %s %s }" % (script, room)).encode())
            run("as", image + ".s", "-o", image + ".o")
            run("ld", "-T", image + ".ld", image + ".o", "-o", image)
            errors = gen(*([] if room else ["--append=" + image + ".out"]), image, status=1)[1]
            must(errors.count("\n") == 1 and said in errors, errors)
    write(WORK + "/pe", b"MZ" + bytes(200))
    must("not an ELF file" in gen("--size", WORK + "/pe", status=1)[1], "PE")


def one_line():
    """Functions whose CFI is wrong are one line with their number; -v has one for each, -q none."""
    text = (".globl f%d\n.type f%d, @function\nf%d: .cfi_startproc\npush %%rbx\npop %%rbx\nret\n"
            ".cfi_endproc\n")
    image = assemble("wrong", "\n".join("call f%d" % i for i in range(10)) + "\nhlt\n" +
                     "".join(text % (i, i, i) for i in range(10)))
    said = [gen(*options, "--size", image)[1].splitlines() for options in ([], ["-v"], ["-q"])]
    lines = [[line for line in lines if "CFI is wrong at" in line] for lines in said]
    must([len(found) for found in lines] == [1, 11, 0], str(lines))
    must("in 10 functions" in lines[0][0] and "(-v lists them)" in lines[0][0], lines[0][0])


def mixed():
    """.eh_frame for one function, .debug_frame for another, both for a third."""
    text = (".cfi_sections .eh_frame\n.cfi_startproc\n%s.cfi_endproc\n" % NOPS)
    image = assemble("mixed-1", text)
    source = WORK + "/mixed-2"
    write(source + ".s", (".cfi_sections .debug_frame\n.text\n.cfi_startproc\n%s.cfi_endproc\n" % NOPS).encode())
    write(source + "-3.s", (".cfi_sections .eh_frame, .debug_frame\n.text\n.cfi_startproc\n%s.cfi_endproc\n" % NOPS)
          .encode())
    for name in (source, source + "-3"):
        run("as", name + ".s", "-o", name + ".o")
    run("ld", image + ".o", source + ".o", source + "-3.o", "-o", image)
    sizes = {kind: json.loads(gen("--json", "--size", "--from=" + kind, image)[0])["covered"]
             for kind in ("eh_frame", "debug_frame", "both")}
    must(sizes == {"eh_frame": 8, "debug_frame": 8, "both": 12}, str(sizes))


def taken_over():
    """Tables of an exception entry that are written by hand, between code with CFI, by two linkers."""
    source = WORK + "/trap"
    write(source + ".S", b"""#include "sfu_asm.h"
    .text
    .globl _start
    sfu_outermost_begin _start
    nop
    sfu_outermost_end _start
entry: push %rbp
saved: nop
    pop %rbp
restored: iretq
entry_end:
    sfu_trap_begin entry, entry_end
    sfu_trap_row entry, cfa=24, ra=0
    sfu_trap_row saved, cfa=32, ra=8, fp=0
    sfu_trap_row restored, cfa=24, ra=0
    sfu_trap_end
    .text
after: .cfi_startproc
    nop
    .cfi_endproc
""")
    for linker in (["ld"], [TC + "/x86_64/ld"], ["ld.lld"]):
        run("clang" if linker == ["ld.lld"] else "gcc", "-Iarch", "-c", source + ".S", "-o", source + ".o")
        image = link("trap", linker, ROOM_BESIDE, [source + ".o"])
        for _ in range(2):
            gen("-q", "--strict", image)
            found = rows(image)[0]
            must([row[1:] for row in found] == [
                ("(sp+24)", "u", "(sp+0)"), ("(sp+32)", "(sp+0)", "(sp+8)"), ("(sp+24)", "u", "(sp+0)"),
                ("sp+8", "u", "f")], "%s: %s" % (linker[0], found))
        sizes = [int(gen("-q", "--size", *options, image)[0]) for options in ([], ["--forget"])]
        must(sizes[1] < sizes[0], "--forget: %d and %d bytes" % tuple(sizes))


def below_sp():
    """The slot that `pop %rbp` has left, and one in the red zone that SP never was below."""
    frame = "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\nnop\npop %rbp\n.cfi_def_cfa_offset 8\nret\n"
    zone = "mov %rbp, -8(%rsp)\n.cfi_offset %rbp, -16\nnop\nnop\n"
    image = assemble("below", ".cfi_startproc\n%s.cfi_endproc\n.cfi_startproc\n%s.cfi_endproc" % (frame, zone))
    gen("-q", image)
    fp = [row[2] for row in rows(image)[0]]
    must(fp == ["u", "c-16", "u", "u", "c-16"], str(fp))
    numbers = json.loads(gen("--json", image)[0])
    must(numbers["below_sp"] == 1, str(numbers))
    gen("-q", "--check", "--strict", image)
    gen("-q", "--keep-below-sp", image)
    text = run(TC + "/x86_64/objdump", "--sframe", image)[0]
    must(len(re.findall(r"sp\+8 +c-16", text)) == 2, text)


# What the CPU pushes for an exception in 64-bit mode, as kernels describe it.
TRAP = ".cfi_startproc simple\n.cfi_signal_frame\n.cfi_def_cfa %rsp, 0\n.cfi_offset %rip, 0\n.cfi_offset %rsp, 24\n"


# By the CFI above: the CFA is SP, then SP + 8, then RBP + 8.
WANTED_TRAP = [["(sp+24)", "u", "(sp+0)"], ["(sp+32)", "(sp+0)", "(sp+8)"], ["(fp+32)", "(fp+0)", "(fp+8)"]]


def saved_sp():
    """An exception entry that says where the CPU has saved SP: its CFI has the interrupted registers."""
    image = assemble("trap", TRAP + "nop\npush %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp, 0\nnop\n"
                     ".cfi_def_cfa %rbp, 8\ncall _start\n.cfi_endproc\n")
    gen("-q", "--strict", "--side=" + image + ".side", image)
    text = run(TC + "/x86_64/objdump", "--sframe", image + ".side")[0]
    found = [line.split()[1:] for line in text.splitlines() if re.match(r" +[0-9a-f]{16} ", line)]
    must(found == WANTED_TRAP, text)
    gen("-q", image)
    gen("-q", "--check", "--strict", image)
    image = assemble("trap_far", TRAP + ".cfi_offset %rsp, 0x7ffffff8\n.cfi_adjust_cfa_offset 0x7ffffff8\nnop\n"
                     ".cfi_endproc\n")
    said = json.loads(gen("--json", "--size", image)[0])["findings"]
    must(len(said) == 1 and "too large" in said[0]["what"], str(said))


def high_addresses():
    """An image in the upper half, as kernels are: its physical addresses are others."""
    script_of = WORK + "/high.ld"
    write(script_of, b"SECTIONS { . = 0xffffffff81000000; .text : AT(ADDR(.text) - 0xffffffff80000000) { *(.text) } "
          b".eh_frame : { *(.eh_frame) } .data : { *(.data) } .bss : { *(.bss) } }\n")
    image = assemble("high", ".cfi_startproc\n%s.cfi_endproc\n.bss\n.skip 5000" % NOPS, "-T", script_of)
    run("objcopy", "-R", ".sframe", image)
    for address, status in ((0xffffffff81498450, 0), (0xfffffffffffff000, 0), (0xffffffffffffffe0, 1)):
        errors = gen("-o", "/dev/null", "--address=%d" % address, image, status=status)[1]
        must(status == 0 or "address space" in errors, errors)
    gen("-q", "--append=" + image, image)
    gen("-q", "--check", "--strict", image)
    segments = Elf(image).segments()
    table, = [s for s in segments if s[0] == 0x6474e554]
    must(table[3] - table[4] == 0xffffffff80000000 and all(s[3] - s[4] == 0xffffffff80000000 for s in segments
                                                           if s[0] == 1), "where it is loaded: %s" % (segments,))
    bad = WORK + "/high.bad"
    write(bad, read(image))
    elf = Elf(bad)
    at, = elf.get("Q", 32)
    elf.put("Q", at + 40, 1 << 63)
    write(bad, elf.data)
    must("program header" in gen("--append=" + bad, bad, status=1)[1], "a segment that leaves the address space")


def assemble_for(cpu, name, text):
    """A program of CPU's instructions TEXT. Returns its name, and how objdump shows the tables made for it."""
    file = WORK + "/" + name
    write(file + ".s", (".text\n.globl _start\n_start:\n%s\n" % text).encode())
    run("%s/%s/as" % (TC, cpu), file + ".s", "-o", file + ".o")
    run("%s/%s/ld" % (TC, cpu), file + ".o", "-o", file)
    return file


def out_of_reach():
    """CFI that is too far from its code; GNU ld for RISC-V cuts the distance and says nothing."""
    file = WORK + "/reach"
    write(file + ".s", b".text\n.globl _start\n_start:\n.cfi_startproc\nnop\n.cfi_endproc\n.size _start, .-_start\n")
    run("riscv64-linux-gnu-as", file + ".s", "-o", file + ".o")
    for text, frame, good in (("0x90000000", "0", False), ("0", "0x90000000", False), ("0", "0x1000000", True),
                              ("0x90000000", "0x91000000", True)):
        run("riscv64-linux-gnu-ld", "-Ttext=" + text, "--section-start=.eh_frame=" + frame, file + ".o", "-o", file)
        errors = gen("--size", file, status=0 if good else 1)[1]
        must(good or "2 GiB or more from the code" in errors, "%s, %s: %s" % (text, frame, errors))


def at_zero():
    """Code at address 0, below its place in the file: tables are appended as for any other."""
    image = assemble("zero", ".cfi_startproc\nnop\nret\n.cfi_endproc", "-Ttext=0")
    gen("-q", "--append=" + image + ".out", image)
    text = run(TC + "/x86_64/objdump", "--sframe", image + ".out")[0]
    must(re.search(r"func idx \[0\]: pc = 0x0, size = 2 bytes", text), text)


FINDS_ITSELF = b"""#include "port/linux/sfu_linux.h"
static struct sfu_linux self;
int sfu_linux_main(int argc, char **argv, const uintptr_t *auxv)
{
    struct sfu_walk walk;
    struct sfu_registers here;
    int code = sfu_linux_init(&self, auxv);

    (void)argc, (void)argv;
    if (code != SFU_OK)
        return 1;
    here = sfu_here(&self.cpu);
    sfu_walk_start(&walk, &self.target, &here);
    while ((code = sfu_walk_step(&walk)) == SFU_OK)
        ;
    return code == SFU_END && walk.frame.depth >= 2 ? 0 : 2;
}
"""


def moved_headers():
    """Programs that had no PT_PHDR find themselves and their tables by the headers that --append has moved."""
    source, image = WORK + "/moved.c", WORK + "/moved"
    write(source, FINDS_ITSELF)
    port = ["port/linux/" + name for name in ("sfu_linux.c", "start.c", "start.S", "restorer.S")]
    for kind in (["-static-pie", "-fPIE"], ["-static", "-no-pie", "-fno-pie"]):
        run("gcc", "-w", "-I.", "-O2", "-ffreestanding", "-nostdlib", "-fno-stack-protector",
            "-fasynchronous-unwind-tables", *kind, source, "sfu.c", *port, "-o", image)
        must(all(s[0] != 6 for s in Elf(image).segments()), "the linker has made PT_PHDR")
        for _ in range(2):
            gen("-q", "--append=" + image, image)
            run(image)
        segments = Elf(image).segments()
        must([s[0] for s in segments].count(6) == 1 and segments[0][0] == 6, "PT_PHDR: %s" % (segments,))


def signed_with_pc():
    """DW_CFA_AARCH64_negate_ra_state_with_pc (0x2c) signs and unsigns as 0x2d does."""
    image = assemble_for("aarch64", "signed", ".cfi_startproc\nnop\n.cfi_escape 0x2c\nnop\n.cfi_escape 0x2c\nnop\n"
                         ".cfi_endproc")
    gen("-q", "--strict", "--cfi=keep", "--side=" + image + ".side", image)
    text = run(TC + "/aarch64/objdump", "--sframe", image + ".side")[0]
    marks = re.findall(r"^ +[0-9a-f]{16} +sp\+0 +u +(u\S*)", text, re.M)
    must(marks == ["u", "u[s]", "u"], text)


def link_register_below_sp():
    """At autiasp clang 16 has RA still in the slot that SP has left; it is in x30, signed."""
    image = assemble_for(
        "aarch64", "link", ".cfi_startproc\nhint #25\n.cfi_negate_ra_state\nstr x30, [sp, #-16]!\n"
        ".cfi_def_cfa_offset 16\n.cfi_offset 30, -16\nnop\nldr x30, [sp], #16\n.cfi_def_cfa_offset 0\nhint #29\n"
        ".cfi_negate_ra_state\n.cfi_restore 30\nret\n.cfi_endproc")
    for options, wanted in (((), "u[s]"), (("--keep-below-sp",), "c-16[s]")):
        gen("-q", "--strict", *options, "--side=" + image + ".side", image)
        text = run(TC + "/aarch64/objdump", "--sframe", image + ".side")[0]
        ra = re.findall(r"^ +[0-9a-f]{16} +sp\+\d+ +u +(\S+)", text, re.M)
        must(ra == ["u", "u[s]", "c-16[s]", wanted, "u"], text)


# A function whose object has one table.
JOINED = ".cfi_startproc\nsub $%d, %%rsp\n.cfi_def_cfa_offset %d\nnop\n.cfi_endproc"


def concatenated():
    """--check reads all tables of a section, and finds a fault in the second one."""
    objects = []
    for i, size in enumerate((16, 32)):
        objects.append("%s/joined-%d" % (WORK, i))
        write(objects[i] + ".s", (".text\n.globl f%d\nf%d:\n" % (i, i) + JOINED % (size, size + 8) + "\n").encode())
        run(TC + "/x86_64/as", "--gsframe", objects[i] + ".s", "-o", objects[i])
    image = WORK + "/joined.elf"
    run("ld.lld", "-e", "f0", "-o", image, *objects)
    elf = Elf(image)
    must(elf.section(".sframe").count(b"\xe2\xde\x03") == 2, "lld has not joined them")
    gen("-q", "--check", "--strict", image)
    where = elf.sections[".sframe"]["offset"] + elf.section(".sframe").rindex(b"\x28") # CFA = SP + 40
    elf.data[where] += 8
    write(image, elf.data)
    must("wrong CFA: r7+48, but the CFI says r7+40" in gen("--check", image, status=1)[1], "the second is not read")


def flashed():
    """docs/tables.md: a flat binary of an image with exact room has the tables, at most 16 bytes more, and no
    .eh_frame."""
    objects = compile_program("x86_64", [GCC["x86_64"]], "-O2", "-fasynchronous-unwind-tables")
    text = read("port/host/test/room.ld").decode().replace("@ROOM@", block_of("script").rstrip() + " :text")
    write(WORK + "/flash.ld", text.replace("@LAST@", block_of("last")).encode())
    image, binary = WORK + "/flash.elf", WORK + "/flash.bin"
    for room in (0, None):
        if room is None:
            room = int(gen("-q", "--small", "--size", image)[0])
        run(LD["x86_64"], "-T", WORK + "/flash.ld", "--defsym=sfu_room=%d" % room, "-o", image, *objects)
        run("objcopy", "-O", "binary", image, binary)
    empty = read(binary)
    gen("-q", "--small", image)
    run("objcopy", "-O", "binary", image, binary)
    data, tables = read(binary), Elf(image).section(".sfu_sframe")
    numbers = json.loads(gen("--json", "--small", "--size", image)[0])
    must(numbers["bytes"] == room and numbers["room"] - room < 16, str(numbers))
    must(len(data) == len(empty) and tables in data and tables not in empty, "the binary does not have the tables")
    must(Elf(image).section(".eh_frame") not in data, ".eh_frame is in it")
    run("build/tools/sfu-lint", "-q", "--flat=" + binary, image)


def scalable():
    """A frame of SVE: the CFA is SP + 16 + 8 * VG, as clang writes it. SFrame cannot say that."""
    image = assemble_for("aarch64", "scalable", ".cfi_startproc\nnop\n.cfi_escape 0x0f, 0x0c, 0x8f, 0x00, 0x11, 0x10, "
                         "0x22, 0x11, 0x08, 0x92, 0x2e, 0x00, 0x1e, 0x22\nnop\n.cfi_def_cfa sp, 0\nret\n.cfi_endproc")
    numbers = json.loads(gen("--json", "--size", image)[0])
    what = [(f["offset"], f["bytes"], f["what"]) for f in numbers["findings"]]
    must(what == [(4, 4, "a rule by an expression that SFrame cannot say")], str(what))


def cost_by_hand(starts, ends, words, rows, worth):
    """The least that entries for rows at STARTS up to ENDS cost, WORDS bytes each, with at most ROWS rows: of all ways
    to part them, by the layout that the specification gives (2.2, 2.3, 2.4). A row more to read at WORTH bytes of code
    costs a byte."""
    least = [28] + [1 << 30] * len(starts)
    for end in range(1, len(starts) + 1):
        size, reads = 16 + 5, 0
        for begin in range(end - 1, max(0, end - rows) - 1, -1):
            distance = starts[end - 1] - starts[begin]
            width = 1 if distance < 256 else 2 if distance < 65536 else 4
            size += 1 + words[begin]
            reads += ends[end - 1] - ends[begin] # the code of the rows behind it
            least[end] = min(least[end], least[begin] + size + width * (end - begin) + reads / worth)
    return least[-1]


def reads_of(image):
    """How many rows lie in front of that of their PC, summed up over all PCs, in the tables of IMAGE."""
    table, reads = Table(Elf(image)), 0
    for index in range(table.num_fdes):
        starts = [int.from_bytes(table.elf.data[row[0]:row[0] + row[3]], "little") for row in table.rows(index)]
        ends = starts[1:] + [table.elf.get("I", table.fde(index)[0] + 8)[0]]
        reads += sum(i * (end - start) for i, (start, end) in enumerate(zip(starts, ends)))
    return reads


def smallest():
    """Functions next to each other, no two rows of which are the same: nothing can be shared. What tables cost, bytes
    and what lookups read, is the least: a row more to read, on average, costs a byte for each 100 rows. Where lookups
    read more than an eighth of the rows that are allowed more, it costs more and more."""
    chosen, weights = random.Random(7), set()
    for size in (1, 2, 3, 5, 8, 13, 40, 90):
        text, starts, words, at, number = "", [], [], 0, 1
        gaps = (1, 2, 60, 250, 300, 20000) if size < 90 else (1, 2, 3)
        for _ in range(size):
            text += ".cfi_startproc\n"
            for _ in range(chosen.randrange(1, 9)):
                gap = chosen.choice(gaps)
                number += chosen.choice((1, 7))
                text += ".cfi_def_cfa rsp, %d\n.skip %d, 0x90\n" % (8 * number, gap)
                starts.append(at)
                words.append(1 if 8 * number < 128 else 2)
                at += gap
            text += ".cfi_endproc\n"
        ends = starts[1:] + [at]
        image = assemble("smallest", text)
        gen("-q", "--no-share", "--append=" + image + ".alone", image)
        for rows_of_one in (1, 3, 8, 32, 200):
            copy = image + ".out"
            numbers = json.loads(gen("--json", "--no-share", "--rows=%d" % rows_of_one, "--append=" + copy, image)[0])
            reads = reads_of(copy)
            more = (reads - reads_of(image + ".alone")) / at
            must(more <= max(rows_of_one / 8, 1) or size < 90, "lookups read %.1f rows more" % more)
            worths = [100 * (at // len(starts))]
            while len(worths) < 10:
                worths.append(worths[-1] - worths[-1] // 3)
            best = [i for i, worth in enumerate(worths) if numbers["bytes"] + reads / worth <=
                    cost_by_hand(starts, ends, words, rows_of_one, worth) + numbers["fdes"] / 64]
            must(best, "%d functions, %d rows: %d bytes are not the least" % (size, rows_of_one, numbers["bytes"]))
            weights.add(best[0])
            must(most_rows(copy) <= rows_of_one, "%d rows" % most_rows(copy))
    must(len(weights) > 1, "reading has never cost more")
    gen("-q", "--check", "--strict", copy)


def shared_lists():
    """Equal functions have one list of rows, as far as sfu_check lets it pass: two bytes for each row."""
    one = ".cfi_startproc\n" + "".join("nop\n.cfi_adjust_cfa_offset 8\n" for _ in range(20)) + "nop\n.cfi_endproc\n"
    image = assemble("shared", one * 3)
    sizes = [int(gen("-q", "--size", *options, image)[0]) for options in (["--no-share"], [])]
    # Of three lists one can go: one alone would be less than two bytes for each of 63 rows.
    must((sizes[0] - sizes[1]) * 3 == sizes[0] - 28 - 3 * 16 and sizes[1] - 28 - 3 * 16 >= 2 * 63, str(sizes))
    image = assemble("shared", one * 200)
    for options in ([], ["--small"]):
        numbers = json.loads(gen("--json", "--append=" + image + ".out", *options, image)[0])
        rows_section = numbers["bytes"] - 28 - 16 * numbers["fdes"]
        must(2 * numbers["rows"] <= rows_section, "%s: %d rows in %d bytes" % (options, numbers["rows"], rows_section))
        gen("-q", "--check", "--strict", image + ".out")
        must(numbers["bytes"] < (0.8 if options == [] else 0.75) * int(gen("-q", "--size", "--no-share", image)[0]),
             str(numbers))


def frame_pointer():
    push = ".cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\nnop\n"
    image = assemble("fp", push + ".cfi_endproc")
    must("left out" in gen("--size", "--fp=auto", image)[1], "--fp=auto")
    sizes = [int(gen("-q", "--size", "--fp=" + fp, image)[0]) for fp in ("keep", "auto", "drop")]
    must(sizes[0] > sizes[1] == sizes[2], str(sizes))
    image = assemble("fp", push + "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\nnop\n.cfi_endproc")
    must("are kept" in gen("--size", "--fp=auto", image)[1], "--fp=auto")
    must("need FP" in gen("--size", "--fp=drop", image, status=1)[1], "--fp=drop")


# What DWARF expressions add to SP + 8, by DWARF 5, 2.5.1: bytes, in hexadecimal, and the number.
OPERATIONS = (
    ("08 c8", 200), ("09 c8", -56), ("0a 40 9c", 40000), ("0b 40 9c", -25536), ("0c 70 11 01 00", 70000),
    ("0d 90 ee fe ff", -70000), ("0e e8 03 00 00 00 00 00 00", 1000), ("0f 18 fc ff ff ff ff ff ff", -1000),
    ("10 ac 02", 300), ("11 d4 7d", -300), ("03 28 00 00 00 00 00 00 00", 40), ("4f", 31), # numbers
    ("33 12 22", 6), ("33 34 13", 3), ("39 32 14 1c 22", 2), ("39 35 32 15 02 1c 1c 1c", -3), # dup, drop, over, pick
    ("39 32 16 1c", -7), ("39 35 32 17 1c 1e", 8), # swap; rot: the top becomes the third
    ("09 fb 19", 5), ("35 19", 5), ("35 1f", -5), ("09 fa 20", 5), # abs, neg, not
    ("3c 3a 1a", 8), ("09 f9 32 1b", -3), ("39 34 1c", 5), ("41 35 1d", 2), ("36 37 1e", 42), ("3c 33 21", 15),
    ("39 34 22", 13), ("39 23 81 01", 138), ("33 34 24", 48), ("09 f8 08 3d 25", 7), ("09 f8 31 26", -4),
    ("3c 3a 27", 6), # and, div, minus, mod, mul, or, plus, plus_uconst, shl, shr, shra, xor
    ("31 31 29", 1), ("31 30 29", 0), ("09 ff 31 2a", 0), ("31 31 2a", 1), ("09 ff 31 2b", 0), ("31 31 2b", 0),
    ("31 09 ff 2b", 1), ("09 ff 31 2c", 1), ("31 31 2c", 1), ("31 30 2c", 0), ("09 ff 31 2d", 1), ("31 31 2d", 0),
    ("31 09 ff 2d", 0), ("31 31 2e", 0), ("31 30 2e", 1), # eq, ge, gt, le, lt, ne: with signs
    ("33 2f 01 00 1f", 3), ("33 31 28 01 00 1f", 3), ("33 30 28 01 00 1f", -3), ("33 96", 3), # skip, bra, nop
    ("31 2f 04 00 1f 2f 03 00 2f f9 ff", -1), # skip, backward
)


def operations():
    """Each operation of DWARF expressions, in the CFA's and in FP's."""
    text, wanted = "", []
    for code, number in OPERATIONS:
        code = [int(byte, 16) for byte in code.split()]
        for base, offset in (([0x77, 8], 8), ([0x92, 7, 0x70], -16)): # breg7, bregx
            cfa = base + code + [0x22]
            text += ".cfi_startproc\n.cfi_escape %s\nnop\n.cfi_endproc\n" % ", ".join(map(str, [15, len(cfa)] + cfa))
            wanted.append(("sp%+d" % (offset + number), "u"))
        fp = code + [0x22, 0x23, 0] # the CFA is on the stack already
        text += ".cfi_startproc\n.cfi_escape %s\nnop\n.cfi_endproc\n" % ", ".join(map(str, [16, 6, len(fp)] + fp))
        wanted.append(("sp+8", "c%+d" % number))
    found = [row[1:3] for row in rows(assemble("operations", text), "--cfi=keep", "--keep-below-sp")[0]]
    must(len(found) == len(wanted), "%d rows instead of %d" % (len(found), len(wanted)))
    for i, (row, good) in enumerate(zip(found, wanted)):
        row = row[0].replace("+-", "-"), row[1].replace("+-", "-")
        must(row == good, "%s: %s instead of %s" % (OPERATIONS[i // 3][0], row, good))
    return "%d expressions" % len(wanted)


# Instructions of CFI in front of the only row, by DWARF 5, 6.4.2 and the extensions of GNU: bytes, in hexadecimal; CFA
# and FP. Before them CFA is SP + 8. Offsets are factored by -8; rbp is 6.
INSTRUCTIONS = (
    ("86 03", "sp+8", "c-24"), ("05 06 03", "sp+8", "c-24"), ("11 06 03", "sp+8", "c-24"), ("11 06 7d", "sp+8", "c+24"),
    ("2f 06 03", "sp+8", "c+24"), ("86 03 c6", "sp+8", "u"), ("86 03 06 06", "sp+8", "u"), ("86 03 08 06", "sp+8", "u"),
    ("14 06 02", "sp+8", "sp-8"), ("15 06 02", "sp+8", "sp-8"), ("15 06 7e", "sp+8", "sp+24"),
    ("16 06 03 09 f0 22", "sp+8", "sp-8"), ("10 06 03 09 f0 22", "sp+8", "c-16"),
    ("0c 06 10", "fp+16", "u"), ("12 06 7e", "fp+16", "u"), ("0d 06", "fp+8", "u"), ("0e 20", "sp+32", "u"),
    ("13 7c", "sp+32", "u"), ("0f 02 76 18", "fp+24", "u"),
    ("0e 20 0a 0e 30 86 02 0b", "sp+32", "u"), ("0a 0e 20 0a 0e 30 0b 0b", "sp+8", "u"), ("2e 10", "sp+8", "u"),
    ("00", "sp+8", "u"),
)
# Those that advance, by 3 bytes.
ADVANCES = "43", "02 03", "03 03 00", "04 03 00 00 00", "1d 03 00 00 00 00 00 00 00"


def instructions_of_cfi():
    """What each instruction of CFI does to the CFA and to FP, and where a row begins behind one that advances."""
    text = "".join(".cfi_startproc\n.cfi_escape %s\nnop\n.cfi_endproc\n" % ", ".join(
        "0x" + byte for byte in code.split()) for code, _, _ in INSTRUCTIONS)
    found = rows(assemble("instructions", text), "--cfi=keep", "--keep-below-sp")[0]
    must(len(found) == len(INSTRUCTIONS), "%d rows" % len(found))
    for row, (code, cfa, fp) in zip(found, INSTRUCTIONS):
        must(row[1:3] == (cfa, fp), "%s: %s" % (code, row))
    for advance in ADVANCES:
        image = assemble("advance", ".cfi_startproc\n.cfi_escape %s, 0x0e, 0x20\n%s.cfi_endproc\n" % (
            ", ".join("0x" + byte for byte in advance.split()), NOPS))
        start = Elf(image).sections[".text"]["addr"]
        found = [(pc - start, cfa) for pc, cfa, _, _ in rows(image, "--cfi=keep")[0]]
        must(found == [(0, "sp+8"), (3, "sp+32")], "%s: %s" % (advance, found))


# CFI that is wrong by DWARF 5, or that means what rows of SFrame cannot say, and a part of the reason that is given.
NO_RULE = (
    ("0f 01 22", "expression"), ("0f 03 31 30 1b", "expression"), ("0f 03 31 30 1d", "expression"), # nothing there, / 0
    ("0f 03 31 15 05", "expression"), ("0f 03 77 08 13", "expression"),
    ("0f 05 77 08 2f ff 7f", "corrupt"), ("0f 05 77 08 2f 01 00", "corrupt"), ("0f 05 77 08 2f f0 ff", "corrupt"),
    ("0f 05 77 08 2f fa ff", "corrupt"), ("0f 05 77 08 2f fb ff", "expression"), # in front of the start; for ever
    ("0f 03 77 08 19", "cannot say"), ("0f 03 77 08 e0", "cannot say"), ("0f 01 35", "cannot say"),
    ("0f 04 77 08 12 1e", "cannot say"),
    ("0f 40 77 08", "truncated"), ("0b", "not remembered"), (" ".join(["0a"] * 300), "too many states"),
    ("0f 02 77 08 0d 06", "no parts"), ("0f 02 77 08 0e 10", "no parts"), ("3f", "unknown instruction"),
    ("14 07 01", "SP is not the CFA"), ("16 07 02 77 10", "SP is not the CFA"),
    ("0f 03 77 08 06 14 06 00", "the CFA itself"),
    ("0e 80 80 80 80 08", "too large"), ("86 80 80 80 80 02", "too large"),
)


def no_rule():
    """No row comes of such CFI, and the reason is said; the function in front of it and the one behind keep theirs."""
    for code, why in NO_RULE:
        good = ".cfi_startproc\n" + NOPS + ".cfi_endproc\n"
        image = assemble("no_rule", good + ".cfi_startproc\n.cfi_escape %s\n%s.cfi_endproc\n" % (
            ", ".join("0x" + byte for byte in code.split()), NOPS) + good)
        start = Elf(image).sections[".text"]["addr"]
        numbers = json.loads(gen("--json", "--size", "--cfi=keep", image)[0])
        found = [(int(f["pc"], 16) - start, f["bytes"]) for f in numbers["findings"]]
        must(found == [(4, 4)] and why in numbers["findings"][0]["what"], "%s: %s" % (code, numbers["findings"]))
        must([row[0] - start for row in rows(image, "--cfi=keep")[0]] == [0, 8], code)
    image = assemble("no_rule", ".cfi_startproc\n.cfi_escape 0x16, 7, 2, 0x77, 8\nnop\n.cfi_endproc")
    must([row[1:3] for row in rows(image, "--cfi=keep")[0]] == [("sp+8", "u")], "SP is the CFA")


# Encodings of a function's start in .eh_frame, DW_EH_PE_...: of a number, and how that and the size are written.
ENCODINGS = ((0x00, ".8byte"), (0x01, ".uleb128"), (0x02, ".2byte"), (0x03, ".4byte"), (0x04, ".8byte"),
             (0x09, ".sleb128"), (0x0a, ".2byte"), (0x0b, ".4byte"), (0x0c, ".8byte"))
PCREL = 0x10


def encodings():
    """Of each encoding of a function's start and size, as a number and from its own place, the function is found."""
    for encoding, form in ENCODINGS:
        for relative in (0, PCREL) if "leb" not in form else (0,): # as says no distance from another section there
            image = WORK + "/encodings"
            write(image + ".s", (""".text\n.globl _start\n.type _start, @function\n_start: .skip 200, 0x90
                .size _start, 200\n.section .eh_frame, "a", @unwind\n.4byte 2f - 1f\n1: .4byte 0
                .byte 1, 0x7a, 0x52, 0, 1, 0x78, 16, 1, %d, 0x0c, 7, 8, 0x90, 1\n.balign 8\n2: .4byte 4f - 3f
                3: .4byte 3b - 1b + 4\n%s %s\n%s 200\n.byte 0, 0x0e, 64\n.balign 8\n4:\n""" % (
                    encoding | relative, form, "_start - ." if relative else 0x4000, form)).encode())
            run("as", image + ".s", "-o", image + ".o")
            run("ld", "-Ttext=0x4000", "--section-start=.eh_frame=0x%x" % (0x3000 if encoding & 8 == 0 else 0x5000),
                image + ".o", "-o", image)
            must(rows(image, "--cfi=keep")[0] == [(0x4000, "sp+64", "u", "f")], "0x%02x: %s" % (
                encoding | relative, rows(image, "--cfi=keep")))
            numbers = json.loads(gen("--json", "--size", "--cfi=keep", image)[0])
            must(numbers["covered"] == 200, "0x%02x: %d bytes" % (encoding | relative, numbers["covered"]))


# The words of a row behind its CFA, by the specification (3.1, 3.2): for CFI that says so, and what objdump shows.
SAVED = {
    "x86_64": (("", 0, "u +f"), (".cfi_offset rbp, -16", 1, "c-16 +f")),
    "aarch64": (("", 0, "u +u"), (".cfi_offset x30, -8", 1, "u +c-8"),
                (".cfi_offset x29, -16\n.cfi_offset x30, -8", 2, "c-16 +c-8")),
    "s390x": (("", 0, "u +u"), (".cfi_offset r14, -48", 1, "u +c-48"), (".cfi_offset r11, -72", 2, "c-72 +[uU]"),
              (".cfi_offset r11, -72\n.cfi_offset r14, -48", 2, "c-72 +c-48")),
}


def widths():
    """The largest and the smallest offset of one, two and four bytes: the words of a row have all the least size that
    each of them fits (2.4.1), and s390x's are those of the CFA less 160, divided by 8 (3.1.3)."""
    for cpu, saved in SAVED.items():
        sp = {"x86_64": "rsp", "aarch64": "sp", "s390x": "r15"}[cpu]
        for cfi, words, said in saved:
            for word, size in ((127, 1), (128, 2), (-128, 1), (-129, 2), (32767, 2), (32768, 4), (-32768, 2),
                               (-32769, 4)):
                if cpu != "s390x" and word < -1 and word % 8 != 0:
                    word -= 7 # CFI counts offsets below 0 by 8 bytes
                offset = 160 + 8 * word if cpu == "s390x" else word
                image = assemble_for(cpu, "widths", ".cfi_startproc\nnop\n.cfi_def_cfa %s, %d\n%s\nnop\n.cfi_endproc"
                                     % (sp, offset, cfi))
                numbers = json.loads(gen("--json", "--cfi=keep", "--keep-below-sp", "--side=" + image + ".side",
                                         image)[0])
                first = 2 + 1 # address, info, the CFA
                must(numbers["bytes"] == 28 + 16 + 5 + first + 2 + size * (1 + words), "%s %s %d: %d bytes" % (
                    cpu, cfi, word, numbers["bytes"]))
                text = run("%s/%s/objdump" % (TC, cpu), "--sframe", image + ".side")[0]
                must(re.search(r"(?m)^ +[0-9a-f]{16} +sp[+]%d *%s *$" % (offset, said), text), text)


def wide_rows():
    """Where the last row begins decides how many bytes the address of each row has (2.3.2)."""
    for last, size in ((255, 1), (256, 2), (65535, 2), (65536, 4)):
        image = assemble("wide", ".cfi_startproc\n.skip %d, 0x90\n.cfi_def_cfa_offset 16\nnop\n.cfi_endproc" % last)
        numbers = json.loads(gen("--json", "--cfi=keep", "--side=" + image + ".side", image)[0])
        must(numbers["bytes"] == 28 + 16 + 5 + 2 * (size + 1 + 1), "%d: %d bytes" % (last, numbers["bytes"]))
        start = Elf(image).sections[".text"]["addr"]
        found = rows(image, "--cfi=keep")[0]
        must([(pc - start, cfa) for pc, cfa, _, _ in found] == [(0, "sp+8"), (last, "sp+16")], str(found))


def holes():
    """Rows that cannot be said, in front, in the middle and at the end."""
    lost, good = ".cfi_escape 0x0f, 5, 0x77, 8, 0x06, 0x23, 8\n" + NOPS, ".cfi_def_cfa rsp, 8\n" + NOPS
    image = assemble("holes", ".cfi_startproc\n%s.cfi_endproc" % (lost + good + lost + good + lost))
    start = Elf(image).sections[".text"]["addr"]
    must(rows(image) == ([(start + 4, "sp+8", "u", "f"), (start + 12, "sp+8", "u", "f")], [start + 4, start + 12]),
         str(rows(image)))
    for options in ([], ["--small"]): # the holes are nops, as padding is
        numbers = json.loads(gen("--json", "--size", *options, image)[0])
        must(numbers["covered"] - numbers["expressed"] == 12 and numbers["fdes"] == 2, str(numbers))


def signals():
    """Its rules, or at least that it is one."""
    said = (".cfi_startproc\n.cfi_signal_frame\n.cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6\n"
            ".cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1\n")
    image = assemble("signal", said + NOPS + ".cfi_endproc\n" +
                     said.replace("4, 0x77, 0xa0, 1, 6", "6, 0x77, 0xa0, 1, 6, 6, 6")
                     + NOPS + ".cfi_endproc")
    must([row[1:] for row in rows(image)[0]] == [("(sp+160)", "u", "(sp+168)")], str(rows(image)))
    text = run(TC + "/x86_64/objdump", "--sframe", image + ".side")[0]
    must(len(re.findall("attr = \"S", text)) == 2, text)


def plts():
    """lld writes no CFI for its PLT, nor does GNU ld for aarch64's: their instructions tell."""
    source = WORK + "/plt.c"
    write(source, b"int f(int); int g(int); int h(int); int a(int x) { return f(x) + g(x) + h(x); }\n")
    for cpu, linker, flags, said in (
            ("x86_64", "ld.lld", [], ["sp+16", "sp+24", "sp+8", "sp+16"]),
            ("x86_64", "ld.lld", ["-z", "force-ibt"], ["sp+16", "sp+24", "sp+8", "sp+16"]),
            ("aarch64", "ld.lld", [], ["sp+0", "sp+16", "sp+0"]),
            ("aarch64", "ld.lld", ["-z", "force-bti"], ["sp+0", "sp+16", "sp+0"]),
            ("aarch64", LD["aarch64"], [], ["sp+0", "sp+16", "sp+0"])):
        run("clang", "--target=%s-linux-gnu" % cpu, "-O1", "-fPIC", "-fasynchronous-unwind-tables", "-c", source, "-o",
            source + ".o")
        image = source + ".so"
        run(linker, "-shared", *flags, source + ".o", "-o", image)
        gen("-q", "--strict", "--side=" + image + ".side", image)
        text = run("%s/%s/objdump" % (TC, cpu), "--sframe", image + ".side")[0]
        plt = Elf(image).sections[".plt"]
        cfas = re.findall(r"func idx .*pc = 0x([0-9a-f]+)|^ +[0-9a-f]{16} +(\S+)", text, re.M)
        inside, seen = False, []
        for pc, cfa in cfas:
            if pc:
                inside = plt["addr"] <= int(pc, 16) < plt["addr"] + plt["size"]
            elif inside:
                seen.append(cfa)
        must(seen == said, "%s %s %s: %s" % (cpu, linker, flags, seen))


ROWS = OUT + "/rows"


def plts_i386():
    """The same of lld and mold for 32-bit x86. The offset of each row, and its CFA, by the pushes in front of it."""
    source = WORK + "/plt_i386.c"
    image = source + ".so"
    write(source, b"int f(int); int g(int); int a(int x) { return f(x) + g(x); }\n")
    run("clang", "--target=i386-linux-gnu", "-O1", "-fPIC", "-fasynchronous-unwind-tables", "-c", source, "-o",
        source + ".o")
    lld = [(0, 8), (6, 12), (16, 4), (27, 8)]
    for linker, said in (("ld.lld", lld), ("ld.lld -z now", lld), ("mold", [(0, 4), (5, 8), (13, 12), (16, 4)])):
        run(*linker.split(), "-m", "elf_i386", "-shared", source + ".o", "-o", image)
        gen("-q", "--strict", "--address=0", "-o", image + ".tables", image)
        start = int(re.search(r" \.plt +PROGBITS +(\w+)", run("readelf", "-SW", image)[0])[1], 16)
        rows = run(ROWS, image + ".tables", hex(start), hex(start + 32))[0].splitlines()
        seen = [(int(row.split()[0], 16) - start, int(row.split()[2].split("+")[1])) for row in rows]
        must(seen == said, "%s: %s" % (linker, seen))


def plt_counted():
    """tables.c, build_plt: of a PLT without CFI each byte has a row, with the FP and RA of a function that was
    called, and it counts as code, not as CFI. One with an unknown instruction has no row, and is named."""
    source = WORK + "/plt_counted.c"
    write(source, b"int f(int); int g(int); int h(int); int a(int x) { return f(x) + g(x) + h(x); }\n")
    run("clang", "--target=x86_64-linux-gnu", "-O1", "-fPIC", "-fasynchronous-unwind-tables", "-c", source, "-o",
        source + ".o")
    image = source + ".so"
    run("ld.lld", "-shared", source + ".o", "-o", image)
    plt = Elf(image).sections[".plt"]
    whole = json.loads(gen("--json", "--size", image)[0])
    must(whole["plt"] == plt["size"] and whole["findings"] == [] and whole["covered"] == whole["expressed"] and
         whole["code_bytes"] == whole["described_bytes"] == whole["covered"] + plt["size"], str(whole))
    gen("-q", "--address=0", "-o", image + ".tables", image)
    rows = [line.split() for line in
            run(ROWS, image + ".tables", hex(plt["addr"]), hex(plt["addr"] + plt["size"]))[0].splitlines()]
    must(rows and all(row[3:] == ["[cfa-8]", "r6+0"] for row in rows), str(rows))
    content = bytearray(read(image))
    content[plt["offset"]] = 6 # no instruction of x86_64
    write(image, bytes(content))
    broken = json.loads(gen("--json", "--size", image)[0])
    lost = [(int(f["pc"], 16), f["bytes"], f["what"]) for f in broken["findings"]]
    must(broken["plt"] == 0 and broken["covered"] == broken["expressed"] == whole["covered"] and
         broken["code_bytes"] - broken["described_bytes"] == plt["size"] and
         lost == [(plt["addr"], plt["size"], "a PLT without CFI, whose instructions are unknown")], str(broken))


def trampolines():
    """GNU ld for aarch64: the trampoline of thread-local variables, with and without other entries, BTI and PAC."""
    source = WORK + "/tlsdesc.c"
    write(source, b"extern __thread int v; int f(int);\n#ifdef CALL\nint a(int x) { return v + f(x); }\n#else\n"
          b"int a(void) { return v; }\n#endif\n")
    for options in ([], ["-DCALL"], ["-DCALL", "-mbranch-protection=standard", "-Wl,-z,force-bti"],
                    ["-DCALL", "-Wl,-z,pac-plt"]):
        for own in ([], ["-B%s/aarch64/" % TC]):
            image = source + ".so"
            run(GCC["aarch64"], *own, "-O1", "-fPIC", "-shared", "-nostdlib", "-w", "-Wl,-z,lazy",
                "-fasynchronous-unwind-tables", *options, source, "-o", image)
            gen("-q", "--strict", "--require=100", "--side=" + image + ".side", image)
            elf, found = Elf(image), {}
            plt = elf.sections[".plt"]
            for line in run(TC + "/aarch64/objdump", "--sframe", image + ".side")[0].splitlines():
                row = re.match(r" +([0-9a-f]{16}) +sp\+(\d+) ", line)
                if row and plt["addr"] <= int(row[1], 16) < plt["addr"] + plt["size"]:
                    found[int(row[1], 16) - plt["addr"]] = int(row[2])
            # What each instruction does to SP, by another disassembler than ours.
            code = run(TC + "/aarch64/objdump", "-d", "--no-show-raw-insn", "-j", ".plt", image)[0]
            wanted, sp, pushes = {0: 0}, 0, 0
            for addr, text in re.findall(r"(?m)^ +([0-9a-f]+):\t(.*)$", code):
                pushes += "[sp, #-16]!" in text
                after = sp + 16 if "[sp, #-16]!" in text else 0 if text.startswith("br\t") else sp
                if after != sp:
                    wanted[int(addr, 16) + 4 - plt["addr"]] = after
                sp = after
            wanted.pop(plt["size"], None)
            must(found == wanted and pushes == 2, "%s: %s instead of %s" % (options, found, wanted))


def no_blocks():
    """Rows that depend on the PC, and look like those of blocks of 23 bytes but for the end."""
    image = assemble("blocks", ".balign 32\n.cfi_startproc\n"
                     ".cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0x69, 0x45, 0x1a, 0x3b, 0x2a, "
                     "0x37, 0x24, 0x22\n%s.cfi_endproc" % (NOPS * 8))
    gen("-q", "--strict", image)
    start = Elf(image).sections[".text"]["addr"]
    must([(pc - start, cfa) for pc, cfa, _, _ in rows(image)[0]] == [(0, "sp+8"), (7, "sp+136"), (23, "sp+8")],
         str(rows(image)))


def room():
    image = assemble("room", ".cfi_startproc\n%s.cfi_endproc" % NOPS)
    need = int(gen("-q", "--size", image)[0])
    text = read(image + ".s").decode()
    for size in (need - 1, need):
        write(image + ".s", text.replace(".skip 4096", ".skip %d" % size).encode())
        run("as", image + ".s", "-o", image + ".o")
        run("ld", image + ".o", "-o", image)
        before = read(image)
        if size < need:
            must("room %d, need %d" % (size, need) in gen(image, status=1)[1], "too small")
            must(read(image) == before, "written")
        else:
            gen("-q", image)
    bare = assemble("bare", ".cfi_startproc\n%s.cfi_endproc" % NOPS)
    run("objcopy", "-R", ".sframe", bare)
    must("no section .sframe" in gen(bare, status=1)[1], "no section")
    must("--address" in gen("-o", "/dev/null", bare, status=1)[1], "no address")
    gen("-q", "-o", "/dev/null", "--address=0x1000", bare)


def outputs():
    """Nothing is left of what cannot be written."""
    image = assemble("out", ".cfi_startproc\n%s.cfi_endproc" % NOPS)
    for option in ("-o", "--asm=", "--object=", "--side=", "--append="):
        name = WORK + "/absent/file"
        arguments = [option, name] if option == "-o" else [option + name]
        must("cannot write" in gen("-q", *arguments, image, status=1)[1], option)
    left = len(os.listdir(WORK))
    gen("-q", "-o", "/dev/full", image, status=1)
    must(len(os.listdir(WORK)) == left, "a temporary file is left")
    must(run(GEN, "-q", "--asm=-", image)[0].count(".byte") > 1, "standard output")


def deterministic():
    image = assemble("same", ".cfi_startproc\n%s.cfi_endproc" % NOPS)
    for option in ("-o", "--asm", "--object", "--side", "--append"):
        results = set()
        for i in range(2):
            name = "%s/same.%d" % (WORK, i)
            gen("-q", *([option, name] if option == "-o" else [option + "=" + name]), image)
            results.add(read(name))
        must(len(results) == 1, option)


if __name__ == "__main__":
    {"images": test_images, "links": test_links, "faults": test_faults, "hostile": test_hostile,
     "options": test_options, "kernels": test_kernels}[sys.argv[1]](*sys.argv[2:])
    finish()

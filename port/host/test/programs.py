# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Programs that walk their own stack, by each linker, and kernels: what suites of the tools make tables of."""
import os
import re
import shutil

from host import GCC, GEN, LD, TC, WORK, run, write

# The lines of sfu-gen --help: room alone, and room beside tables that are there; and what comes last in a script.
ROOM = """    .sframe : ALIGN(8) {
        sframe_start = .; QUAD(0) . += 64 + SIZEOF(%s) * 3 / 2; . = ALIGN(8); sframe_end = .;
    } :text
"""
ROOM_BESIDE = """    .sfu_sframe : ALIGN(8) {
        sframe_start = .; QUAD(0) . += 64 + SIZEOF(.sframe) + SIZEOF(.eh_frame) * 3 / 2; . = ALIGN(8);
        sframe_end = .;
    } :text
"""
LAST = "    .eh_frame (INFO) : { KEEP(*(.eh_frame)) }\n"
LAST_BESIDE = LAST + "    .sframe (INFO) : { KEEP(*(.sframe .sframe.*)) }\n"
COMPILED = set()  # objects of this run


def script(name, room):
    file = "%s/%s.ld" % (WORK, name)
    with open("port/host/test/room.ld", encoding="utf-8") as f:
        text = f.read().replace("@ROOM@", room)
    write(file, text.replace("@LAST@", LAST_BESIDE if room == ROOM_BESIDE else LAST).encode())
    return file


def compile_program(cpu, compiler, *flags):
    """sfu.c, program.c and tables.S as objects, which each test that wants the same ones shares."""
    objects = []
    name = "-".join((cpu, compiler[0]) + flags).replace("/", "")
    for source in ("sfu.c", "port/host/test/program.c"):
        objects.append("%s/%s-%s.o" % (WORK, name, os.path.basename(source)))
        if objects[-1] not in COMPILED:
            run(*compiler, "-ffreestanding", "-fno-pie", "-fno-stack-protector", "-fno-optimize-sibling-calls",
                "-std=gnu99", "-w", "-I.",
                *(["-march=z196"] if cpu == "s390x" else []), *flags, "-c", source, "-o", objects[-1])
            COMPILED.add(objects[-1])
    return objects


def link(name, linker, room, objects, *flags):
    image = "%s/%s.elf" % (WORK, name)
    run(*linker, *flags, "-T", script(name, room), "-o", image, *objects)
    return image


# ---- kernels ----

# As port/baremetal/test/rules.mk has them, but by clang's own assembler, and without --gsframe. The module's tables are
# made as docs/kernel.md says.
KERNEL = {
    "x86_64": ["-m64", "-mno-red-zone", "-mgeneral-regs-only", "-fcf-protection=none"],
    "aarch64": ["-mgeneral-regs-only", "-mstrict-align", "-mno-outline-atomics"],
    "s390x": ["-msoft-float", "-march=z196"],
}
KERNEL_FLAGS = ["-std=c11", "-ffreestanding", "-O2", "-g", "-fomit-frame-pointer", "-fno-stack-protector", "-fpie",
                "-fvisibility=hidden", "-fno-optimize-sibling-calls", "-fasynchronous-unwind-tables",
                "-ffunction-sections", "-w", "-I.", "-Iarch", "-Iport/print", "-Iport/symbols", "-Iport/baremetal"]
KERNEL_SOURCES = ["sfu.c", "port/print/sfu_print.c", "port/print/sfu_build_id.c", "port/print/sfu_cycles.c",
                  "port/print/sfu_record.c", "port/print/sfu_all.c", "port/print/sfu_trap.c",
                  "port/symbols/sfu_symbols.c",
                  *("port/baremetal/" + name for name in (
                      "kernel.c", "tables.c", "symbols.c", "module.c", "%s/boot.S", "%s/machine.c", "test/hooks.c",
                      "test/scenarios.c", "test/module.S", "test/traced.c", "test/entry.c", "test/entry.S",
                      "test/crash.c", "test/crash.S")),
                  "test/truth/programs/tracer.c", "test/truth/programs/tracer_hook.S"]


def compile_kernel(cpu, directory, sources, compiler, *flags):
    """The objects of a kernel. COMPILER gives the words that compile a source."""
    objects = []
    for source in sources:
        source = source.replace("%s", cpu)
        objects.append("%s/%s.o" % (directory, os.path.basename(source)))
        run(*compiler(source), *KERNEL[cpu], *KERNEL_FLAGS, "-Iport/baremetal/" + cpu, *flags, "-c", source, "-o",
            objects[-1])
    return objects


def link_kernel(cpu, directory, linker):
    """DIRECTORY/kernel.elf, linked twice: the second time its symbols are known."""
    image, symbols = directory + "/kernel.elf", directory + "/symbols.s"
    for before in ([], [image]):
        text = run("python3", "port/symbols/symbols.py", "%s/%s/nm" % (TC, cpu), *before)[0]
        write(symbols, text.encode())
        run("%s/%s/as" % (TC, cpu), symbols, "-o", symbols + ".o")
        run(*linker, symbols + ".o", "-o", image)
    return image


def build_module(cpu, directory):
    """DIRECTORY/module.ko, by the lines of the manual."""
    for part in "ab":
        run(GCC[cpu], *KERNEL[cpu], *KERNEL_FLAGS, "-c", "port/baremetal/test/module_%s.c" % part, "-o",
            "%s/module_%s.o" % (directory, part))
    run(LD[cpu], "-r", directory + "/module_b.o", directory + "/module_a.o", "-o", directory + "/module.o")
    with open("docs/kernel.md", encoding="utf-8") as f:
        page = f.read()
    script, lines = (re.search(r"<!-- %s -->\n```\w+\n(.*?)```\n" % what, page, re.S)[1]
                     for what in ("file: module.ld", "run: module"))
    write(directory + "/module.ld", script.encode())
    for name, program in ("ld", LD[cpu]), ("objcopy", LD[cpu][:-2] + "objcopy"), ("sfu-gen", GEN):
        link = "%s/tools/%s" % (directory, name)
        os.makedirs(os.path.dirname(link), exist_ok=True)
        if not os.path.lexists(link):
            os.symlink(os.path.abspath(shutil.which(program)), link)
    run("sh", "-euc", "cd %s; PATH=$PWD/tools:$PATH; %s" % (directory, lines))

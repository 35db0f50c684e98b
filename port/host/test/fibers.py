#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""fibers.py: fibers whose switch is assembly without CFI, by tables of sfu-gen. fibers.c walks each fiber that runs and
each one that waits, and compares the traces with the return addresses that its functions have noted."""
import os
import shutil
import subprocess

from host import OUT, finish, must, run, test, write

WORK = OUT + "/work/fibers"
CPUS = {"x86_64": (["gcc"], []), "aarch64": (["aarch64-linux-gnu-gcc"], ["qemu-aarch64"]),
        "s390x": (["s390x-linux-gnu-gcc", "-march=z196"], ["qemu-s390x"]),
        "riscv64": (["riscv64-linux-gnu-gcc", "-march=rv64gc"], ["qemu-riscv64"])}
ALL = ("-fasynchronous-unwind-tables",)
SCRIPT = """ENTRY(_start)
PHDRS { text PT_LOAD FLAGS(5); data PT_LOAD FLAGS(6); }
SECTIONS
{
    . = 0x400000;
    .text : { *(.text .text.*) } :text
    .rodata : { *(.rodata .rodata.*) } :text
    .sfu_sframe : ALIGN(8) { sframe_start = .; QUAD(0) . += 8192; sframe_end = .; } :text
    . = ALIGN(65536);
    .data : { *(.data .data.* .sdata .sdata.*) *(.got .got.plt) *(.bss .bss.* .sbss .sbss.* COMMON) } :data
    .eh_frame (INFO) : { KEEP(*(.eh_frame)) }
    /DISCARD/ : { *(.comment .note.* .interp) }
}
"""


def fibers(cpu, level, *cfi):
    """CFI: what the compiler is to write of it."""
    compiler, qemu = CPUS[cpu]
    core = "%s/%s.o" % (WORK, cpu)
    if not os.path.exists(core):
        run(*compiler, "-O1", "-w", "-ffreestanding", "-fno-stack-protector", "-fno-pie", "-c", "sfu.c", "-o", core)
    image = "%s/%s%s%d.elf" % (WORK, cpu, level, len(cfi))
    write(WORK + "/fibers.ld", SCRIPT.encode())
    run(*compiler, level, "-std=gnu99", "-w", "-ffreestanding", "-fno-stack-protector", "-fno-optimize-sibling-calls",
        "-fno-pie", "-no-pie", "-nostdlib", "-static", *cfi, "-I.", "-Wl,--build-id=none", "-T", WORK + "/fibers.ld",
        "port/host/test/fibers.c", core, "-o", image)
    run("build/tools/sfu-gen", "-q", "--cfi=keep", image)
    status = subprocess.run([*qemu, image], check=False).returncode
    must(status == (31 if cfi == ALL else 11), "by CFI alone: status %d" % status)
    run("build/tools/sfu-gen", "-q", "--find", image)
    status = subprocess.run([*qemu, image], check=False).returncode
    must(status == 0, "status %d" % status)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    for cpu in CPUS:
        for level in ("-O0", "-O2"):
            test("%s %s" % (cpu, level), fibers, cpu, level, *ALL)
        test("%s without CFI" % cpu, fibers, cpu, "-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")


main()
finish()

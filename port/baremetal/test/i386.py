#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""A multiboot kernel of 32-bit x86 (i386/), linked by sfu-link, crashes in each way in QEMU. Prints a line for each
test."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "test/lib")
from booted import boot, traces
from check import finish, must, run, test

WORK = os.path.abspath("build/bare/i386-linked")
HERE = os.path.abspath("port/baremetal/test/i386")
DIST = os.path.abspath("build/dist")
QEMU = ["qemu-system-i386", "-debugcon", "stdio", "-m", "64M"]

BUILDS = {"gcc-O2": "x86_64-linux-gnu-gcc -O2 -fno-pie", "gcc-O0": "x86_64-linux-gnu-gcc -O0 -fno-pie",
          "clang-Os": "clang --target=x86_64-linux-gnu -Os -fno-pie"}
OF_EACH = ("wild", "page", "interrupt")
FLAGS = ["-m32", "-mgeneral-regs-only", "-fcf-protection=none", "-ffreestanding", "-fno-stack-protector",
         "-fno-optimize-sibling-calls", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-I" + DIST,
         "-I" + HERE]

END = 1
MAIN = ["kernel_main", "start"]
# The functions of each trace, without offsets, and how it ends; kernel.c is the truth.
TRACES = {
    "panic": (["panic", "recurse", "recurse", "recurse", "recurse", "scenario_panic", *MAIN], END),
    "fault": (["illegal", "scenario_fault", *MAIN], END),
    "null": (["0x0000000000000000", "through [wild call]", "scenario_null", *MAIN], END),
    "wild": (["0x0000000012345678", "through [wild call]", "scenario_wild", *MAIN], END),
    "page": (["panic", "handle", "common", "write_at [interrupted]", "scenario_page", *MAIN], END),
    "protection": (["panic", "handle", "common", "scenario_protection [interrupted]", *MAIN], END),
    "interrupt": (["illegal", "tick", "handle", "common", "spin [interrupted]", "scenario_interrupt", *MAIN], END),
}
# Entries have no rows here. A hook of the kernel's own knows the registers that they have saved, or, without that, the
# hook of sfu_panic_start.
TASKS = {**TRACES, "unhooked": TRACES["page"]}
STOPPED = {
    "fault": (["panic", "stopped", "invalid_entry", "illegal [interrupted]", "scenario_fault", *MAIN], END),
    "page": (["panic", "stopped", "page_entry", "write_at [interrupted]", "scenario_page", *MAIN], END),
    "protection": (["panic", "stopped", "protection_entry", "scenario_protection [interrupted]", *MAIN], END),
    "wild": (["panic", "stopped", "page_entry", "0x0000000012345678 [interrupted]", "through [wild call]",
              "scenario_wild", *MAIN], END),
    "panic": TRACES["panic"],
}


def trace(text):
    """The one trace in TEXT, and how it ended."""
    found = traces(text)
    must(len(found) == 1, "not one trace: " + text)
    return found[0]


def build(name, compiler, *more):
    """The kernel, and what sfu-link says of it."""
    folder = os.path.join(WORK, name)
    os.makedirs(folder)
    objects = []
    for source in (HERE + "/boot.S", HERE + "/kernel.c", DIST + "/sfu_panic.c"):
        objects.append(os.path.join(folder, os.path.basename(source)[:-2] + ".o"))
        run(*compiler.split(), *FLAGS, *more, "-c", source, "-o", objects[-1])
    image = folder + "/kernel.elf"
    said = run(os.path.abspath("build/tools/sfu-link"), "x86_64-linux-gnu-ld", "-m", "elf_i386", "-T",
               HERE + "/kernel.ld", *objects, "-o", image)[1]
    return image, said


def expect(image, scenario, wanted):
    text = boot(QEMU, image, "-append", scenario)
    must(trace(text) == wanted, "%s in %s" % (trace(text), text))


def overflow(image):
    """The registers of a double fault are in the task that was left. The stack is full of one function."""
    text = boot(QEMU, image, "-append", "overflow")
    frames, ended = trace(text)
    must(set(frames[:-3]) == {"grow"} and len(frames) > 100, text)
    must((frames[-3:], ended) == (["scenario_overflow", *MAIN], END), text)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    for name, compiler in BUILDS.items():
        image, said = build(name, compiler)
        must("no row can tell" not in said, said)
        for scenario in TRACES if name == "gcc-O2" else OF_EACH:
            test("%s: %s" % (name, scenario), expect, image, scenario, TRACES[scenario])
    image, said = build("tasks", BUILDS["gcc-O2"], "-DWITH_TASKS")
    test("with tasks: sfu-link says that entries have no rows", must, "no row can tell" in said, said)
    for scenario, wanted in TASKS.items():
        test("with tasks: " + scenario, expect, image, scenario, wanted)
    test("with tasks: overflow", overflow, image)
    image, said = build("stubs", BUILDS["gcc-O2"], "-DWITH_STUBS")
    test("with stubs: sfu-link says who crosses them", must, "cross its calls without rows" in said, said)
    for scenario, wanted in STOPPED.items():
        test("with stubs: " + scenario, expect, image, scenario, wanted)
    finish()


main()

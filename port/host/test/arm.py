#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""arm.py: tests of sfu-gen and sfu-lint with images of 32-bit ARM, A32 and T32 code. Prints a line for each.

As for RISC-V, programs walk their own stacks by the tables (program.c), because no assembler has any to be equal to.
"""
import json
import os
import random
import struct
import subprocess

from host import GEN, WORK, finish, must, read, run, test, write

LINT, SANITIZED = "build/tools/sfu-lint", "build/host/sfu-gen-sanitized"
STATES = {"arm": (0x83, ["-marm"]), "thumb": (0x84, ["-mthumb"])}
COMPILERS = {"gcc": ["arm-none-eabi-gcc"], "clang": ["clang-16", "--target=arm-linux-gnueabi", "-funwind-tables"]}
CPU = ["-mcpu=cortex-a15", "-mfloat-abi=soft"]
ROOM = """    .sfu_sframe : ALIGN(8) {
        sframe_start = .; QUAD(0) . += 64 + SIZEOF(.debug_frame) * 2; . = ALIGN(8); sframe_end = .;
    } :text
"""
LAST = "    .debug_frame 0 : { *(.debug_frame) }\n"


def program(compiler, state, *flags, room=ROOM):
    objects = []
    for source in ("sfu.c", "port/host/test/program.c"):
        objects.append("%s/%s.o" % (WORK, os.path.basename(source)))
        run(*COMPILERS[compiler], *CPU, *STATES[state][1], "-ffreestanding", "-fno-pie", "-fno-stack-protector",
            "-fno-optimize-sibling-calls", "-std=gnu99", "-w", "-I.", "-g1", "-DCFI_SECTIONS", *flags, "-c", source,
            "-o", objects[-1])
    script, image = WORK + "/program.ld", WORK + "/program.elf"
    write(script, read("port/host/test/room.ld").decode().replace("@ROOM@", room).replace("@LAST@", LAST).encode())
    names = ["-Wl,--defsym=__aeabi_unwind_cpp_pr%d=0" % n for n in (0, 1)] if compiler == "clang" else []
    run("arm-none-eabi-gcc", *CPU, "-nostdlib", "-Wl,--no-warn-rwx-segments,-z,noexecstack", *names, "-T", script,
        *objects, "-lgcc", "-o", image)
    return image


def section(image, name):
    copy = WORK + "/section"
    run("arm-none-eabi-objcopy", "-O", "binary", "-j", name, "--set-section-flags",
        name + "=alloc,load,readonly,contents", image, copy)
    return read(copy)


def walked(compiler, state, level):
    image = program(compiler, state, level)
    for options in ([], ["--small"], ["--small", "--fp=auto"]):
        run(GEN, "-q", "--strict", *options, image)
        table = section(image, ".sfu_sframe")
        must(struct.unpack_from("<HBBB", table)[::3] == (0x5f75, STATES[state][0]), table[:8].hex())
        run(GEN, "-q", "--check", "--strict", image)
        run("qemu-arm", image)
        run(LINT, "--strict", image)
        before = read(image)
        run(GEN, "-q", *options, image)
        must(read(image) == before, "made again, they are others")
    return "%d bytes" % int(run(GEN, "-q", "--size", "--small", image)[0])


def ways_out(state):
    """--append, --side and -o have the same tables."""
    image = program("gcc", state, "-O2", room="    sframe_start = 0x600000; sframe_end = 0x600000;\n")
    made = {kind: "%s/out.%s" % (WORK, kind) for kind in ("append", "side", "raw")}
    run(GEN, "-q", "--append=" + made["append"], image)
    run(GEN, "-q", "--side=" + made["side"], image)
    run(GEN, "-q", "-o", made["raw"], "--address=0x600000", image)
    sizes = [len(section(made["append"], ".sfu_sframe")), len(section(made["side"], ".sfu_sframe")),
             len(read(made["raw"]))]
    must(len(set(sizes)) == 1, str(sizes))
    run(GEN, "-q", "--check", "--strict", made["append"])


DROPPED = """__attribute__((noinline)) int live(int *volatile p) { int b[8]; for (int i = 0; i < 8; i++) b[i] = p[i];
    return b[p[9] & 7]; }
int dropped(int *volatile p) { volatile int b[40]; for (int i = 0; i < 40; i++) b[i] = p[i] * i; return b[p[9]] / %d; }
int main(void) { return live(0) + 1; }
"""
VECTORS = """.syntax unified
.thumb
.section .vectors, "a"
%s
.word 0x20001000, _start + 1
.rept %d
.word stop + 1
.endr
.text
.thumb_func
_start: bl main
.thumb_func
stop: b .
"""


def dropped(linker):
    """Flash at 0, as in most Cortex-M: entries of functions that the linker has dropped take no row from those that
    live, whatever lies there, with symbols and without."""
    script = WORK + "/flash.ld"
    write(script, b"ENTRY(_start) SECTIONS { .text 0 : { _stext = .; KEEP(*(.vectors)) *(.text .text.*) }"
                  b" .debug_frame 0 : { *(.debug_frame) } /DISCARD/ : { *(.ARM.exidx*) *(.ARM.extab*) } }")
    write(WORK + "/dropped.c", (DROPPED % 3).encode())
    run("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-Os", "-g", "-ffunction-sections", "-c",
        WORK + "/dropped.c",
        "-o", WORK + "/dropped.o")
    wanted = None
    for number in (2, 14, 30, 62):
        for label in ("", "vectors:", ".type vectors, %object\nvectors:"):
            write(WORK + "/vectors.s", (VECTORS % (label, number)).encode())
            run("arm-none-eabi-as", "-mcpu=cortex-m3", WORK + "/vectors.s", "-o", WORK + "/vectors.o")
            run(*linker, "--gc-sections", "-T", script, WORK + "/vectors.o", WORK + "/dropped.o", "-o",
                WORK + "/flash.elf")
            for strip in ([], ["--strip-unneeded", "--keep-section=.debug_frame"]):
                run("arm-none-eabi-objcopy", *strip, WORK + "/flash.elf")
                numbers = json.loads(run(GEN, "--json", "--size", "--cfi=keep", WORK + "/flash.elf")[0])
                said = {"dropped": 1, "findings": []}
                must({key: numbers[key] for key in said} == said, "%d %s: %s" % (number, label, numbers))
                wanted = wanted or numbers["covered"]
                must(numbers["covered"] == wanted,
                     "%d %s: %d of %d bytes" % (number, label, numbers["covered"], wanted))


def hostile(state):
    """Bytes that are changed at random, under the sanitizers."""
    image = program("gcc", state, "-O1")
    run(GEN, "-q", image)
    whole, chance = read(image), random.Random(20261125)
    table = whole.index(section(image, ".debug_frame")[:64])
    for turn in range(40):
        broken = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            at = chance.choice([chance.randrange(64), table + chance.randrange(512), chance.randrange(len(broken))])
            broken[at] = chance.randrange(256)
        write(WORK + "/broken", bytes(broken))
        for option in ("--size", "--check"):
            done = subprocess.run([SANITIZED, "-q", option, WORK + "/broken"], capture_output=True, check=False)
            said = done.stderr.decode(errors="replace")
            must(done.returncode in (0, 1) and "Sanitizer" not in said and "runtime error" not in said,
                 "turn %d: status %d: %s" % (turn, done.returncode, said[-300:]))


os.makedirs(WORK, exist_ok=True)
for STATE in STATES:
    for COMPILER in COMPILERS:
        for LEVEL in ("-O0", "-O2", "-Os"):
            test("%s %s %s" % (COMPILER, STATE, LEVEL), walked, COMPILER, STATE, LEVEL)
    if STATE == "thumb":
        test("dropped GNU ld", dropped, ["arm-none-eabi-ld"])
        test("dropped lld", dropped, ["ld.lld"])
    test("ways_out " + STATE, ways_out, STATE)
    test("hostile " + STATE, hostile, STATE)
finish()

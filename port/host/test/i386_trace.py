#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""i386_trace.py: sfu-trace with machines and processes of 32-bit x86, beside gdb. Prints a line for each test.

i386/guest.c stops in a leaf function: below it are frames of a size that only the run knows, and with paging its stack
is behind tables of all levels. It is traced behind QEMU's gdb stub, in QEMU's dump, and in the cores that sfu-trace
writes of both. Processes crash in a handler, below each kind of signal frame.
"""
import os
import re
import shutil
import struct
import subprocess
import sys

from guests import CALLERS, FRAME, LIMIT, TRACE, Machine, by_gdb, dump_log, names, refused, run, traced
from host import WORK, finish, must, test

CC = ["x86_64-linux-gnu-gcc", "-m32"]
QEMU = {"qemu32": ["qemu-system-i386"], "64 bits": ["qemu-system-x86_64"]}


def build(paging):
    image, script, linked = "%s/guest-%d.elf" % (WORK, paging), WORK + "/guest.ld", \
        "0xc0100000" if paging else "0x100000"
    with open("port/host/test/i386/guest.ld", encoding="utf-8") as f, open(script, "w", encoding="utf-8") as out:
        out.write(f.read().replace("LINKED", linked))
    run(*CC, "-O2", "-g", "-ffreestanding", "-fno-pie", "-fno-stack-protector", "-fcf-protection=none",
        "-mgeneral-regs-only", "-fasynchronous-unwind-tables", "-fno-tree-loop-distribute-patterns",
        "-DLINKED=" + linked, *(["-DPAGING=%d" % paging] if paging else []), "-nostdlib", "-static",
        "-Wl,--build-id=none,-T," + script, "-Wl,--no-warn-rwx-segments", "-Wl,--no-eh-frame-hdr",
        "port/host/test/i386/guest.c", "-o", image)
    return image


def without_notes(core, name):
    """CORE as an emulator writes it that says nothing of control registers."""
    with open(core, "rb") as f:
        data = f.read()
    if data[4] == 2:  # a machine's memory reaches up to 4 GiB
        at, = struct.unpack_from("<Q", data, 32)
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", data, at)
    else:
        at, = struct.unpack_from("<I", data, 28)
        kind, offset, _, _, size = struct.unpack_from("<IIIII", data, at)
    must(kind == 4, "the first segment is not that of the notes")
    notes = data[offset:offset + size]
    with open(name, "wb") as f:
        f.write(data[:offset] + notes.replace(b"QEMU\0", b"NONE\0") + data[offset + size:])
    return name


def machine(paging, qemu):
    image = build(paging)
    m = Machine(QEMU[qemu], image)
    core = "%s/guest-%d.core" % (WORK, paging)
    try:
        pc = m.settle(image, "x86_64-linux-gnu-nm")
        m.monitor("dump-guest-memory " + os.path.abspath(core))
        registers = m.monitor("info registers")
        live = traced("--gdb=localhost:%d" % m.port, "--write-core=" + core + ".live", image)
    finally:
        m.kill()
    root, *values = (int(re.search(name + r"=(\w+)", registers)[1], 16) for name in ("CR3", "EIP", "ESP", "EBP"))
    log = subprocess.run([TRACE, image], input=dump_log(core + ".live", 0x85, *values, 0),
                         capture_output=True, check=False, timeout=LIMIT).stdout.decode("latin-1")
    must([(int(at, 16), name) for at, name in FRAME.findall(log)] == live, "a dump in a log: %s" % log[-400:])
    must(live[0][0] == pc, "0x%x instead of 0x%x" % (live[0][0], pc))
    must(names(live) == CALLERS, "--gdb: %s" % live)
    must(by_gdb(image, "core-file " + core + ".live") == CALLERS, "gdb of the core that --gdb wrote")
    must(traced("--core=" + core + ".live", image) == live, "the core that --gdb has written")
    dumped = traced("--core=" + core, "--write-core=" + core + ".again", image)
    must(dumped == live, "QEMU's dump: %s" % dumped)
    must(by_gdb(image, "core-file " + core + ".again") == CALLERS, "gdb of the core written of it")
    if paging:
        plain = without_notes(core, core + ".plain")
        text = run(TRACE, "--core=" + plain, image)
        must("give --page-table=ADDR" in text and "CR3" in text, text[-300:])
        for bits in ("", ",%d" % paging):
            found = traced("--core=" + plain, "--page-table=0x%x%s" % (root, bits), image)
            must(found == live, "--page-table=ROOT%s: %s" % (bits, found))
        text = run(TRACE, "--core=" + plain, "--page-table=0x%x,%d" % (root, 68 - paging), image)
        must("kernel_main" not in text, "by tables of the other kind")
        text = refused("--core=" + plain, "--page-table=0x%x,48" % root, image)
        must("do not have 48 bits" in text, text)
    return "%d frames" % len(live)


# Between them are functions of libc.
PROCESS = ["read_at", "crash", "handler", "compare", "sort", "main", "_start"]


def process(*flags):
    """A program that a signal handler's leaf has crashed. gdb crosses the signal frame, too."""
    folder = os.path.abspath(WORK + "/process")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    program = folder + "/crash"
    run(*CC, "-O2", "-g", "-w", *flags, "port/host/test/crash.c", "-o", program)
    subprocess.run(["sh", "-c", "ulimit -c unlimited; exec " + program], cwd=folder, check=False,
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT)
    core = os.path.join(folder, next(name for name in os.listdir(folder) if name.startswith("core")))
    pcs = [pc for pc, _ in traced("--core=" + core, program)]
    found = names(traced("--core=" + core, program))
    gdb = [int(pc, 16) for pc in re.findall(r"^(0x[0-9a-f]+)$", run(
        "gdb-multiarch", "-q", "-nx", "-batch", "-ex", "set backtrace past-main on", "-ex",
        "python f = gdb.newest_frame()", "-ex", PRINT_PCS, program, core), re.M)]
    wanted = [name for name in PROCESS if name != "handler" or "-DPLAIN" not in flags]
    must([name for name in found if name in PROCESS] == wanted and found[:3] == wanted[:3], "%s" % found)
    if "-DINT3" in flags:  # behind int3, where gdb leaves the PC
        at = found.index("compare")
        gdb[at] -= 1
        said = "[guessed]" in run(TRACE, "--core=" + core, program)
        must(said == ("-DINFO" not in flags), "what a frame without a siginfo tells is guessed")
    must(pcs == gdb, "%s, and gdb's %s" % ([hex(pc) for pc in pcs], [hex(pc) for pc in gdb]))
    return "%d frames" % len(pcs)


# Its frames that are not inlined ones.
PRINT_PCS = """python
while f is not None:
    if f.type() != gdb.INLINE_FRAME:
        print('0x%x' % f.pc())
    f = f.older()
"""


def main():
    os.makedirs(WORK, exist_ok=True)
    for qemu in QEMU:
        for paging in (0, 32, 36):
            test("%s, %s" % (qemu, {0: "no paging", 32: "two levels", 36: "PAE"}[paging]), machine, paging, qemu)
    # The registers in the cores that qemu-i386 writes have the size of another CPU's: gdb cannot read them either.
    is_native = subprocess.run(["test/lib/run_m32.sh"], check=False).returncode == 0
    if not is_native:
        print("# this machine's kernel runs no programs of 32 bits: no core of one is looked at")
    for flags in ([], ["-DINFO"], ["-static"], ["-static", "-DINFO"], ["-DINT3"], ["-DINT3", "-DINFO"],
                  ["-no-pie", "-fno-ipa-cp", "-DPLAIN"]) if is_native else ():
        test("a process %s" % " ".join(flags), process, *flags)
    finish()


sys.exit(main())

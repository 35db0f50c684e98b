#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""riscv_trace.py: sfu-trace with machines of RISC-V, 64 and 32 bits, beside gdb-multiarch. Prints a line for each test.

riscv/guest.c stops in a leaf function: below it are frames of a size that only the run knows, and with paging its stack
is behind tables of all levels. It is traced behind QEMU's gdb stub, in QEMU's dump, and in the cores that sfu-trace
writes of both.
"""
import os
import re
import select
import socket
import subprocess
import sys
import threading
import time

from guests import CALLERS, FRAME, LIMIT, TRACE, Machine, by_gdb, dump_log, names, refused, run, traced
from host import WORK, finish, must, test
from traces import free_port

UPPER = {32: 0xc0000000, 39: 0xffffffff80000000, 48: 0xffffffff80000000, 57: 0xffffffff80000000}
MACHINES = [(bits, paging) for bits in (64, 32) for paging in ((0, 39, 48, 57) if bits == 64 else (0, 32))]


def build(bits, paging):
    image = "%s/guest-%d-%d.elf" % (WORK, bits, paging)
    linked = "0x%x" % UPPER.get(paging, 0x80000000)
    script = WORK + "/guest.ld"
    with open("port/host/test/riscv/guest.ld", encoding="utf-8") as f, open(script, "w", encoding="utf-8") as out:
        out.write(f.read().replace("LINKED", linked))
    machine = ["-march=rv64gc", "-mabi=lp64d"] if bits == 64 else ["-march=rv32imac", "-mabi=ilp32"]
    run("riscv64-linux-gnu-gcc", *machine, "-O2", "-g", "-ffreestanding", "-fno-pie", "-mcmodel=medany", "-mno-relax",
        "-fasynchronous-unwind-tables", "-fno-tree-loop-distribute-patterns", "-DLINKED=" + linked,
        *(["-DPAGING=%d" % paging] if paging else []), "-nostdlib", "-static", "-Wl,--build-id=none,-T," + script,
        "-Wl,--no-warn-rwx-segments", "-Wl,--no-eh-frame-hdr", "port/host/test/riscv/guest.c", "-o", image)
    return image


def virt(bits):
    return ["qemu-system-riscv%d" % bits, "-M", "virt", "-bios", "none"]


def log_of(bits, core, registers):
    """A console's log with a dump of CORE."""
    value = {name: int(re.search(r"\b%s +([0-9a-f]+)" % name, registers)[1], 16)
             for name in ("pc", "x1/ra", "x2/sp", "x8/s0")}
    return dump_log(core, 0x81 if bits == 64 else 0x82,
                    *(value[name] for name in ("pc", "x2/sp", "x8/s0", "x1/ra")))


def machine(bits, paging):
    image = build(bits, paging)
    m = Machine(virt(bits), image)
    core = "%s/guest-%d-%d.core" % (WORK, bits, paging)
    try:
        pc = m.settle(image)
        m.monitor("dump-guest-memory " + os.path.abspath(core))
        registers = m.monitor("info registers")
        live = traced("--gdb=localhost:%d" % m.port, "--write-core=" + core + ".live", image)
        m.monitor("stop")
        gdb = by_gdb(image, "target remote localhost:%d" % m.port)
    finally:
        m.kill()
    must(live[0][0] == pc, "0x%x instead of 0x%x" % (live[0][0], pc))
    must(names(live) == CALLERS, "--gdb: %s" % live)
    must(gdb == CALLERS, "gdb: %s" % gdb)
    must(by_gdb(image, "core-file " + core + ".live") == CALLERS, "gdb of the core that --gdb has written")
    must(traced("--core=" + core + ".live", image) == live, "the core that --gdb has written")
    log = subprocess.run([TRACE, image], input=log_of(bits, core + ".live", registers), capture_output=True,
                         check=False, timeout=LIMIT).stdout.decode("latin-1")
    must([(int(at, 16), name) for at, name in FRAME.findall(log)] == live, "a dump in a log: %s" % log[-400:])
    options = []
    if paging:
        # Without the tables' place the dump, whose addresses are physical, says what is missing.
        text = run(TRACE, "--core=" + core, image)
        must("give --page-table=ADDR" in text and "satp" in text, text[-300:])
        satp = int(re.search(r"satp +([0-9a-f]+)", registers)[1], 16)
        root = (satp & (1 << (22 if bits == 32 else 44)) - 1) << 12
        options = ["--page-table=0x%x" % root]
        sized = traced("--core=" + core, "--page-table=0x%x,%d,4096" % (root, paging), image)
        must(sized == live, "--page-table with its size: %s" % sized)
        for other in (39, 48, 57):
            if bits == 64 and other != paging:
                text = run(TRACE, "--core=" + core, "--page-table=0x%x,%d,4096" % (root, other), image)
                must("kernel_main" not in text, "by tables of %d bits" % other)
    dumped = traced("--core=" + core, "--write-core=" + core + ".again", *options, image)
    must(dumped == live, "QEMU's dump: %s" % dumped)
    must(traced("--core=" + core + ".again", image) == live, "the core that is written of it")
    must(by_gdb(image, "core-file " + core + ".again") == CALLERS, "gdb of the core that is written of it")
    for file in (core, core + ".live", core + ".again"):
        os.remove(file)
    return "%d frames" % len(live)


def other_class():
    """An image of the other width: the stub's registers, and a core's, are refused."""
    images = {bits: build(bits, 0) for bits in (64, 32)}
    for bits, said in ((64, "registers of 64 bits, but the image is for riscv32"), (32, "fewer registers than")):
        m = Machine(virt(bits), images[bits])
        core = "%s/class-%d.core" % (WORK, bits)
        try:
            m.settle(images[bits])
            text = refused("--gdb=localhost:%d" % m.port, images[96 - bits])
            must(said in text, text)
            traced("--gdb=localhost:%d" % m.port, "--write-core=" + core, images[bits])
        finally:
            m.kill()
        text = refused("--core=" + core, images[96 - bits])
        must("a core of riscv%d, but " % bits in text and "is for riscv%d" % (96 - bits) in text, text)
        with open(core, "rb") as f:
            data = f.read()
        for size in (0, 20, 60, 200):
            with open(core, "wb") as f:
                f.write(data[:size])
            text = refused("--core=" + core, images[bits])
            must("empty" in text or "not an ELF file" in text or "no registers" in text or "broken notes" in text or
                 "bad program headers" in text, text)
        os.remove(core)


# Between them are functions of libc.
PROCESS = ["read_at", "crash", "handler", "compare", "sort", "main", "_start"]


def ask(stub, command):
    """The answer of a gdb stub."""
    stub.sendall(b"+$%s#%02x" % (command, sum(command) & 255))
    answer = b""
    while b"#" not in answer or len(answer) - answer.rindex(b"#") < 3:
        answer += stub.recv(4096)
    return answer


def relay(stub, server, done):
    """Between whoever connects and the stub."""
    client, _ = server.accept()
    pairs = {client: stub, stub: client}
    while not done:
        for ready in select.select(list(pairs), [], [], 0.1)[0]:
            data = ready.recv(4096)
            if not data:
                return
            pairs[ready].sendall(data)


def process():
    """A program that a signal handler's leaf has crashed, under qemu-user. gdb crosses the signal frame, too."""
    program, port = WORK + "/crash", free_port()
    run("riscv64-linux-gnu-gcc", "-O2", "-g", "-static", "-fasynchronous-unwind-tables", "-w",
        "port/host/test/crash.c", "-o", program)
    emulator = subprocess.Popen(["qemu-riscv64", "-g", str(port), program], stdin=subprocess.DEVNULL)
    done = []
    try:
        end = time.monotonic() + LIMIT
        while True:
            try:
                stub = socket.create_connection(("localhost", port), LIMIT)
                break
            except ConnectionRefusedError:
                must(time.monotonic() < end, "no stub")
                time.sleep(0.05)
        answer = ask(stub, b"c")
        while b"T0b" not in answer:  # the signal that the program sends itself
            must(time.monotonic() < end and b"$T" in answer, "stopped: %s" % answer)
            answer = ask(stub, b"C" + re.search(rb"T(..)", answer)[1])
        with socket.create_server(("localhost", 0)) as server:
            thread = threading.Thread(target=relay, args=(stub, server, done), daemon=True)
            thread.start()
            found = names(traced("--gdb=localhost:%d" % server.getsockname()[1], program))
    finally:
        done.append(True)
        emulator.kill()
        emulator.wait()
    must([name for name in found if name in PROCESS] == PROCESS and found[:3] == PROCESS[:3], "%s" % found)
    return "%d frames" % len(found)


def main():
    os.makedirs(WORK, exist_ok=True)
    test("a process, and its signal frame", process)
    test("another class, and truncated cores", other_class)
    for bits, paging in MACHINES:
        test("riscv%d %s" % (bits, "Sv%d" % paging if paging else "M mode"), machine, bits, paging)
    finish()


if __name__ == "__main__":
    sys.exit(main())

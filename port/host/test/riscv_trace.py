#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""riscv_trace.py: sfu-trace with machines of RISC-V, 64 and 32 bits, beside gdb-multiarch. Prints a line for each test.

riscv/guest.c stops in a leaf function: below it are frames of a size that only the run knows, and with paging its stack
is behind tables of all levels. It is traced behind QEMU's gdb stub, in QEMU's dump, and in the cores that sfu-trace
writes of both.
"""
import binascii
import os
import re
import select
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, "test/lib")
from check import Wrong, finish, must, test  # noqa: E402

WORK = "build/host/work/riscv_trace"
TRACE = "build/tools/sfu-trace"
LIMIT = 60
# What is below the leaf, by the source.
CALLERS = ["leaf"] + 6 * ["recurse"] + ["kernel_main", "_start"]
UPPER = {32: 0xc0000000, 39: 0xffffffff80000000, 48: 0xffffffff80000000, 57: 0xffffffff80000000}
MACHINES = [(bits, paging) for bits in (64, 32) for paging in ((0, 39, 48, 57) if bits == 64 else (0, 32))]


def run(*command, status=0):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=LIMIT)
    if done.returncode != status:
        raise Wrong("%s: status %d: %s" % (" ".join(command), done.returncode, (done.stderr or done.stdout)[-300:]))
    return done.stdout


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


def free_port():
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def virt(bits):
    return ["qemu-system-riscv%d" % bits, "-M", "virt", "-bios", "none"]


class Machine:
    """Runs IMAGE by the words QEMU."""

    def __init__(self, qemu, image):
        self.port, self.path = free_port(), WORK + "/monitor"
        if os.path.exists(self.path):
            os.remove(self.path)
        self.process = subprocess.Popen(
            [*qemu, "-kernel", image, "-m", "16M", "-display", "none", "-serial", "none", "-gdb",
             "tcp:localhost:%d" % self.port, "-monitor", "unix:%s,server=on,wait=off" % self.path],
            stdin=subprocess.DEVNULL)

    def monitor(self, command):
        end = time.monotonic() + LIMIT
        while True:
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.settimeout(LIMIT)
                    s.connect(self.path)
                    answer = b""
                    for text in (b"", command.encode() + b"\n"):
                        s.sendall(text)
                        answer = b""
                        while not answer.endswith(b"(qemu) "):
                            answer += s.recv(4096)
                    return answer.decode("latin-1")
            except (FileNotFoundError, ConnectionRefusedError):
                must(time.monotonic() < end, "QEMU has no monitor")
                time.sleep(0.05)

    def settle(self, image, nm="riscv64-linux-gnu-nm"):
        """Waits until it is in the leaf, and stops it."""
        end = time.monotonic() + LIMIT
        low, size = next((int(a, 16), int(s, 16)) for a, s in re.findall(
            r"(\w+) (\w+) T leaf", run(nm, "-S", image)))
        while True:
            self.monitor("stop")
            pc = int(re.search(r"(?:pc +|EIP=)([0-9a-f]+)", self.monitor("info registers"))[1], 16)
            if low < pc < low + size - 2:
                return pc
            must(time.monotonic() < end, "it is at 0x%x" % pc)
            self.monitor("cont")
            time.sleep(0.05)

    def kill(self):
        self.process.kill()
        self.process.wait()


FRAME = re.compile(r"#\d+ +0x([0-9a-f]+)(?:  (\w+)\+0x)?")


def traced(*arguments, status=0):
    """[(PC, function)]"""
    out = run(TRACE, *arguments, status=status)
    must("trace ends (1)" in out, out[-300:])
    return [(int(pc, 16), name) for pc, name in FRAME.findall(out)]


def refused(*arguments):
    """What sfu-trace says, which traces nothing."""
    done = subprocess.run([TRACE, *arguments], capture_output=True, text=True, errors="replace", check=False,
                          timeout=LIMIT)
    must(done.returncode != 0 and "#0" not in done.stdout, done.stdout)
    return done.stderr


def by_gdb(image, *commands):
    words = ["set pagination off", "set backtrace past-main on", "set backtrace past-entry on", *commands,
             "echo \\n", "bt"]
    out = run("gdb-multiarch", "-q", "-nx", "-batch", *[w for word in words for w in ("-ex", word)], image)
    out = out[out.rindex("\n#0 "):]  # it has said where it is when it was opened, too
    return re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\w+) \(", out, re.M)


def segments(core):
    """[(address, bytes)] of a core."""
    with open(core, "rb") as f:
        data = f.read()
    wide = data[4] == 2
    at, = struct.unpack_from("<Q" if wide else "<I", data, 32 if wide else 28)
    size, count = struct.unpack_from("<HH", data, 54 if wide else 42)
    for i in range(count):
        if wide:
            kind, _, offset, addr, _, length = struct.unpack_from("<IIQQQQ", data, at + i * size)
        else:
            kind, offset, addr, _, length = struct.unpack_from("<IIIII", data, at + i * size)
        if kind == 1:
            yield addr, data[offset:offset + length]


def log_of(bits, core, registers):
    """A console's log with a dump of CORE."""
    value = {name: int(re.search(r"\b%s +([0-9a-f]+)" % name, registers)[1], 16)
             for name in ("pc", "x1/ra", "x2/sp", "x8/s0")}
    return dump_log(core, 0x81 if bits == 64 else 0x82,
                    *(value[name] for name in ("pc", "x2/sp", "x8/s0", "x1/ra")))


def dump_log(core, abi, pc, sp, fp, ra):
    """A console's log with a dump of CORE and of these registers (port/print/sfu_dump.h)."""
    lines = ["begin %x exact" % abi, "r pc %x sp %x fp %x ra %x" % (pc, sp, fp, ra)]
    count = 0
    for addr, data in segments(core):
        for i in range(0, len(data), 64):
            words = struct.unpack("<%dQ" % (len(data[i:i + 64]) // 8), data[i:i + 64])
            count += len(words)
            lines.append("m %x %s" % (addr + i, " ".join("%x" % word for word in words)))
    lines.append("end %x" % count)
    text = b"panic\r\n"
    for number, line in enumerate(lines):
        words = b"%02x %s" % (number & 0xff, line.encode())
        text += b"[ 1.23] sfu2 %s %04x\r\n" % (words, binascii.crc_hqx(words, 0xffff))
    return text


def names(frames):
    return [name for _, name in frames]


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

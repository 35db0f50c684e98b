#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""machine.py live | upper: tests of sfu-trace beside gdb, with machines that run kernels in the upper half of their
addresses (upper/). Prints a line for each.

live     machines and processes behind stubs, which run or are stopped, and stubs that lose, repeat and interrupt
upper    dumps of machines, whose page tables have to be walked
"""
import mmap
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from host import GCC, NM, TC, WORK, Wrong, finish, must, read, test, write
from traces import LIMIT, TRACE, Stub, by_gdb, by_trace, frames, free_port, packet, retry, run, survives

# ---- kernels in the upper half ----

FLAGS = {"x86_64": ["-mcmodel=kernel", "-mno-red-zone", "-mno-sse"], "aarch64": ["-mgeneral-regs-only"], "s390x": []}
START = {"x86_64": 0x100000, "aarch64": 0x40080000, "s390x": 0x10000}
QEMU = {"x86_64": ["qemu-system-x86_64", "-M", "pc", "-bios", "qboot.rom", "-cpu", "max"],
        "aarch64": ["qemu-system-aarch64", "-M", "virt", "-cpu", "max"],
        "s390x": ["qemu-system-s390x", "-M", "s390-ccw-virtio"]}
TTBR1, POOL_S390X = 0x41000000, 0x800000  # POOL of upper.h: the first table is the uppermost

# Name: CPU, offset of the kernel from its physical addresses, stack; levels of tables, which of them maps the kernel;
# aarch64: bits of a page and of an address.
VARIANTS = {
    "x86_64-4k": ("x86_64", 0xffffffff80000000, 0xffffc90000000000, 4, 0),
    "x86_64-2m": ("x86_64", 0xffffffff80000000, 0xffffc90000000000, 4, 1),
    "x86_64-1g": ("x86_64", 0xffffffff80000000, 0xffffc90000000000, 4, 2),
    "x86_64-5-levels": ("x86_64", 0xffffffff80000000, 0xff11c90000000000, 5, 0),
    "aarch64-4k": ("aarch64", 0xffff800000000000, 0xffff900000000000, 4, 0, 12, 48),
    "aarch64-4k-2m": ("aarch64", 0xffff800000000000, 0xffff900000000000, 4, 1, 12, 48),
    "aarch64-4k-39": ("aarch64", 0xffffffc000000000, 0xffffffd000000000, 3, 0, 12, 39),
    "aarch64-16k": ("aarch64", 0xffff800000000000, 0xffff900000000000, 3, 0, 14, 47),
    "aarch64-64k": ("aarch64", 0xffff800000000000, 0xffff900000000000, 3, 0, 16, 48),
    "aarch64-64k-42": ("aarch64", 0xfffffc0000000000, 0xfffffd0000000000, 2, 0, 16, 42),
    "s390x-segments": ("s390x", 0x40000000, 0x50000000, 2, 0),
    "s390x-region-3": ("s390x", 0x700000000, 0x800000000, 3, 0),
    "s390x-region-2": ("s390x", 0x70000000000, 0x80000000000, 4, 0),
    "s390x-region-1": ("s390x", 0x70000000000000, 0x80000000000000, 5, 0),
}
VARIANTS.update({cpu + "-user": VARIANTS[name] for cpu, name in (
    ("x86_64", "x86_64-4k"), ("aarch64", "aarch64-4k"), ("s390x", "s390x-region-3"))})
USER = {"x86_64": 0x8000000000, "aarch64": 0x400000000, "s390x": 0x400000000}
ORDINARY = ("x86_64-4k", "aarch64-4k", "s390x-region-3")
CALLS = ["run", "run_deeper", "run_deeper", "run_deeper", "kernel_main", "upper"]  # kernel.c


built = set()


def user(cpu):
    """The program of user.c."""
    program = "%s/%s-program.elf" % (WORK, cpu)
    run(GCC[cpu], "-O2", "-g", "-ffreestanding", "-fno-pic", "-fno-pie", "-fno-stack-protector", "-Wall", "-Wextra",
        "-Werror", "-fno-optimize-sibling-calls", "-mno-red-zone" if cpu == "x86_64" else "-O2", "-nostdlib", "-static",
        "-no-pie", "-Wl,--build-id=none,-Ttext=0x%x" % USER[cpu], "port/host/test/upper/user.c", "-o", program)
    return program


def upper(name):
    """The kernel NAME."""
    image = "%s/%s.elf" % (WORK, name)
    if name in built:
        return image
    built.add(name)
    cpu, offset, stack, levels, leaf, *arm = VARIANTS[name]
    defines = ["-DOFFSET=0x%x" % offset, "-DSTACK=0x%x" % stack, "-DLEVELS=%d" % levels, "-DLEAF=%d" % leaf]
    defines += ["-DGRANULE=%d" % arm[0], "-DVA_BITS=%d" % arm[1]] if arm else []
    if name.endswith("-user"):
        program, code = user(cpu), "%s/%s-user.code" % (WORK, cpu)
        run("%s/%s/objcopy" % (TC, cpu), "-O", "binary", "-j", ".text", program, code)
        entry, = struct.unpack_from("<Q" if cpu != "s390x" else ">Q", read(program), 24)
        defines += ["-DUSER=0x%x" % USER[cpu], "-DUSER_ENTRY=0x%x" % entry, '-DUSER_CODE="%s"' % code]
    objects = []
    for source, flags in (("early.c", ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"]),
                          ("kernel.c", ["-fasynchronous-unwind-tables"]), (cpu + ".S", [])):
        objects.append("%s/%s-%s.o" % (WORK, name, source[:-2]))
        run(GCC[cpu], "-O2", "-g", "-ffreestanding", "-fno-pic", "-fno-pie", "-fno-stack-protector", "-Wall", "-Wextra",
            "-Werror", "-fno-optimize-sibling-calls", *FLAGS[cpu], *defines, *flags, "-c",
            "port/host/test/upper/" + source, "-o", objects[-1])
    run(GCC[cpu], "-nostdlib", "-static", "-no-pie", "-Wl,--build-id=sha1,-z,max-page-size=4096,--no-warn-rwx-segments",
        "-Wl,--defsym=START=0x%x,--defsym=OFFSET=0x%x" % (START[cpu], offset), "-Tport/host/test/upper/upper.ld",
        *objects, "-o", image)
    return image


class Upper:
    """A machine that runs the kernel NAME for ever, and has come to where it stays."""

    def __init__(self, name, *options):
        self.cpu, self.image, self.port = VARIANTS[name][0], upper(name), free_port()
        self.monitor_path = WORK + "/monitor"
        if os.path.exists(self.monitor_path):
            os.remove(self.monitor_path)
        self.process = subprocess.Popen(
            [*QEMU[self.cpu], "-m", "32M", "-nodefaults", "-display", "none", "-kernel", self.image, "-gdb",
             "tcp:localhost:%d" % self.port, "-monitor", "unix:%s,server=on,wait=off" % self.monitor_path, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.monitor("info status")
        end = time.monotonic() + LIMIT
        while "-S" not in options and not self.is_there():
            must(time.monotonic() < end, "it does not get to run()")
            time.sleep(0.1)

    def is_there(self):
        """Whether its PC is in run(), by QEMU's monitor."""
        low, size = (int(word, 16) for word in re.search(
            rb"(?m)^([0-9a-f]+) ([0-9a-f]+) t run$", run(NM, "-S", self.image)[0]).groups())
        self.monitor("stop")  # a PC is only right then
        pc = self.pc()
        self.monitor("cont")
        return low <= pc < low + size

    def pc(self):
        return int(re.search(r"(?:[RE]IP=|PC=|PSW=mask \w+ addr )([0-9a-f]+)", self.monitor("info registers"))[1], 16)

    def monitor(self, command):
        def ask():
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(LIMIT)
                s.connect(self.monitor_path)
                for text in (b"", command.encode() + b"\n"):
                    s.sendall(text)
                    answer = b""
                    while not answer.endswith(b"(qemu) ") or b"\r\n" not in answer:
                        answer += s.recv(4096)
                return answer.decode("latin-1")
        return retry(ask)

    def runs(self):
        return "VM status: running" in self.monitor("info status")

    def address(self):
        return "localhost:%d" % self.port

    def by_gdb(self):
        return by_gdb(self.image, "target remote " + self.address())

    def dump(self, *options):
        file = os.path.abspath("%s/%s.core" % (WORK, self.cpu))
        if os.path.exists(file):
            os.remove(file)
        self.monitor(" ".join(["dump-guest-memory", *options, file]))
        must(os.path.exists(file), "no dump")
        return file

    def kill(self):
        self.process.kill()
        self.process.wait()


def with_machine(function):
    """A test of FUNCTION with a machine that ends with it."""
    def tested(name, *options):
        machine = Upper(name, *options)
        try:
            return function(machine)
        finally:
            machine.kill()
    return tested


def functions(text):
    """What each frame is in, without what has been inlined."""
    return [f[4][0][0] for f in frames(text.splitlines()) if f[4]]


# ---- machines and processes that run ----

def test_live():
    os.makedirs(WORK, exist_ok=True)
    for name in ORDINARY:
        test(name + ", running", with_machine(live_running), name)
        test(name + ", stopped", with_machine(live_stopped), name)
    test("x86_64-4k, before its first instruction", with_machine(live_first), "x86_64-4k", "-S")
    test("a user who interrupts it", with_machine(live_interrupted), "x86_64-4k")
    for kind in ("as it is", "late stops", "repeated", "lost", "broken", "notifications", "non-stop", "silent"):
        test("a stub: " + kind, with_machine(lambda m, k=kind: live_stub(m, k)), "x86_64-4k")
    test("gdbserver, a process that runs", live_gdbserver, "--attach", "-static", "-no-pie")
    test("gdbserver, a process that has stopped", live_gdbserver, "", "-static", "-no-pie")
    test("gdbserver, in the dynamic linker", live_gdbserver, "", "-fPIE", "-pie")
    test("gdbserver, position-independent, with shared libraries", live_gdbserver, "--attach", "-fPIE", "-pie")
    test("gdbserver, position-independent and static", live_gdbserver, "--attach", "-fPIE", "-static-pie")
    for cpu in (*GCC, "aarch64_be"):
        test("qemu-user of " + cpu, live_qemu_user, cpu, "-no-pie", "-static")
        test("qemu-user of %s, position-independent" % cpu, live_qemu_user, cpu, "-fPIE", "-static-pie")


def live_running(machine):
    """Twice: the first time must leave it running. The PC moves on, the callers stay."""
    written = WORK + "/live.core"
    for _ in range(2):
        must(machine.runs(), "it does not run")
        found, text = by_trace("--gdb=" + machine.address(), "--threads=threads,next=8,sp=16,pc=thread_left",
                               "--write-core=" + written, machine.image)
        waiting = text.index(b"kernel thread 1")
        cores = list(by_gdb(machine.image, "core-file " + written).values())
        must([pc for pcs in cores for pc in pcs] == [f[0] for f in frames(text.splitlines())] and len(cores) == 3,
             "the core: %s, %s" % (cores, text))
        found, text = {0: cores[0]}, text[:waiting]
        must(functions(text) == CALLS and b"CPU#0" in text, "%s" % text)
        must(machine.runs(), "it has been left stopped")
    (pcs,), (wanted,) = found.values(), machine.by_gdb().values()
    must(pcs[1:] == wanted[1:], "%s instead of %s" % (list(map(hex, pcs)), list(map(hex, wanted))))
    return "%d frames" % len(pcs)


def live_stopped(machine):
    machine.monitor("stop")
    wanted, = machine.by_gdb().values()
    machine.monitor("stop")  # gdb has let it go
    pc = machine.pc()
    found, _ = by_trace("--gdb=" + machine.address(), machine.image)
    pcs, = found.values()
    must(pcs[1:] == wanted[1:] and pcs[0] == pc, "%s instead of %s" % (list(map(hex, pcs)),
                                                                                  list(map(hex, wanted))))
    must(machine.runs(), "it has been left stopped")
    return "%d frames" % len(pcs)


def live_first(machine):
    """Nothing is known of the reset vector, but the machine goes on."""
    done = subprocess.run([TRACE, "--gdb=" + machine.address(), machine.image], capture_output=True, check=False,
                          timeout=LIMIT)
    must(b"#0  0x" in done.stdout and done.stdout.count(b"trace ends (") == 1, "%s" % done.stdout)
    must(machine.runs(), "it has been left stopped")


def live_interrupted(machine):
    """By SIGINT, while it waits for a stub: the machine is let go."""
    machine.monitor("stop")
    proxy = Proxy(machine, "slow")
    process = subprocess.Popen([TRACE, "--gdb=localhost:%d" % proxy.port, machine.image], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    must(proxy.reached.wait(LIMIT), "it asks for no memory")
    process.send_signal(signal.SIGINT)
    must(process.wait(LIMIT) == -signal.SIGINT, "status %d" % process.returncode)
    must(b"D" in proxy.end(), "no detach")
    end = time.monotonic() + LIMIT
    while not machine.runs():
        must(time.monotonic() < end, "it has been left stopped")


class Proxy:
    """A stub that passes commands on to that of MACHINE, and answers in a way of its KIND."""

    def __init__(self, machine, kind):
        self.machine, self.kind, self.commands, self.reached = machine, kind, [], threading.Event()
        self.server = socket.socket()
        self.server.bind(("localhost", 0))
        self.server.listen(1)
        self.port = self.server.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        connection, _ = self.server.accept()
        stub = Stub(self.machine.port)
        pending, self.count, self.all_stop, self.again = b"", 0, False, b""
        with connection:
            while True:
                got = connection.recv(4096)
                pending += got
                if not got:
                    break
                while pending:
                    match = re.match(rb"\$([^#]*)#..", pending)
                    if pending[:1] == b"$" and not match:
                        break
                    self.take(connection, stub, match[1] if match else pending[:1])
                    pending = pending[match.end() if match else 1:]
        stub.close()

    def take(self, connection, stub, command):
        """A command, or a character between commands."""
        if command == b"-":
            connection.sendall(self.again)
        if command == b"\x03" and self.kind == "silent":
            connection.sendall(packet(b"T02thread:01;")[1:] + packet(b"T05thread:01;"))
            self.count = 1
        if command in (b"+", b"-", b"\x03"):
            return
        self.commands.append(command)
        self.count += 1
        if self.kind == "silent" and self.count == 1:
            return
        if self.kind == "lost" and self.count % 3 == 1:
            connection.sendall(b"-")
            self.count += 1
            return
        if self.kind == "slow" and command[:1] == b"m":
            self.reached.set()
            return
        answer = packet(stub.ask(command))
        if self.kind == "non-stop" and not self.all_stop and command == b"?":
            answer = packet(b"OK")
        if command == b"QNonStop:0" and self.kind == "non-stop":
            self.all_stop, answer = True, packet(b"OK")
        self.answer(connection, command, answer)

    def answer(self, connection, command, answer):
        late = packet(b"T02thread:01;")[1:]
        if self.kind == "late stops":
            answer = late + answer[:1] + late + answer[1:]
        if self.kind == "repeated":
            answer += answer[1:]
        if self.kind == "notifications":
            answer = b"%Stop:T05thread:01;#9f" + answer[:1] + b"%Stop:T05#99" + answer[1:]
        if self.kind == "broken" and self.count % 3 == 1:
            self.again, answer = answer[1:], answer[:-1] + (b"0" if answer[-1:] != b"0" else b"1")
        try:
            connection.sendall(answer)
        except OSError:
            pass  # it has ended

    def end(self):
        self.thread.join(LIMIT)
        self.server.close()
        return self.commands


def live_stub(machine, kind):
    machine.monitor("stop")
    pc = machine.pc()
    proxy = Proxy(machine, kind)
    found, text = by_trace("--gdb=localhost:%d" % proxy.port, machine.image)
    must(functions(text) == CALLS and list(found.values())[0][0] == pc, "%s" % text)
    must(proxy.end()[-1] == b"D" and machine.runs(), "it has been left stopped")
    if kind == "non-stop":
        must(proxy.all_stop, "it has not asked for all-stop mode")


def live_gdbserver(how, *flags):
    """A program that stays where it is: gdb's frames of it, by the same stub and of the core. It ends when who
    started it does, because gdbserver, when it ends, leaves running what it has started; and after minutes at last."""
    program = WORK + "/stays%s" % "".join(flags)
    with open(program + ".c", "w", encoding="utf-8") as f:
        f.write("#include <signal.h>\n#include <sys/prctl.h>\n#include <unistd.h>\n"
                "volatile unsigned long n;\n"
                "__attribute__((noinline)) void stay(void) { for (;;) n++; }\n"
                "__attribute__((noinline)) void call(int d) { if (d > 0) call(d - 1); else stay(); n++; }\n"
                "int main(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); if (getppid() == 1) return 0;\n"
                "    alarm(300); call(3); n++; return 0; }\n")
    run("gcc", "-g", "-O1", *flags, "-fno-optimize-sibling-calls", program + ".c", "-o", program)
    process = subprocess.Popen([program]) if how else None
    port = free_port()
    server = subprocess.Popen(["gdbserver", "--once", *(["--attach"] if how else []), "localhost:%d" % port,
                               str(process.pid) if how else program], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5 if how else 0)
        found, text = retry_trace("--gdb=localhost:%d" % port, "--write-core=" + program + ".core", program)
        names = functions(text)
        if not how:
            must(b"#0  0x" in text, "%s" % text)
            if "-static" not in flags:  # the dynamic linker has not begun yet: its list is empty
                linker = re.search(rb"/lib64/ld-linux[^\0]*", read(program))[0].decode()
                entry = struct.unpack_from("<Q", read(linker), 24)[0]
                pc, = list(found.values())[0][:1]
                must(b"[%s]" % os.path.basename(linker).encode() in text and pc % 4096 == entry % 4096, "%s" % text)
            return "%d frames" % sum(map(len, found.values()))
        must(names[:6] == ["stay", "call", "call", "call", "call", "main"], "%s" % names)
        wanted, = by_gdb(program, "attach %d" % process.pid).values()
        pcs, = found.values()
        must(pcs[1:] == wanted[1:], "%s instead of %s" % (list(map(hex, pcs)), list(map(hex, wanted))))
        kept, = by_gdb(program, "core-file %s.core" % program).values()
        must(kept == pcs, "gdb, of the core: %s instead of %s" % (list(map(hex, kept)), list(map(hex, pcs))))
        with open("/proc/%d/stat" % process.pid, encoding="utf-8") as f:
            must(f.read().split()[2] == "R", "it has been left stopped")
        return "%d frames" % len(pcs)
    finally:
        for child in (server, process):
            if child is not None:
                child.kill()
                child.wait()


def retry_trace(*arguments):
    """As soon as there is a stub."""
    end = time.monotonic() + LIMIT
    while True:
        done = subprocess.run([TRACE, *arguments], capture_output=True, check=False, timeout=LIMIT)
        if done.returncode == 0 or b"refused" not in done.stderr:
            must(done.returncode == 0, "%s" % done.stderr)
            pcs = [f[0] for f in frames(done.stdout.splitlines())]
            return {0: pcs}, done.stdout
        must(time.monotonic() < end, "no stub")
        time.sleep(0.1)


def live_qemu_user(cpu, *how):
    """Stopped at its first instruction, where nothing has been called yet."""
    program, port = "%s/first-%s%s" % (WORK, cpu, how[0]), free_port()
    flags = ["-mbig-endian"] if cpu == "aarch64_be" else []
    with open(program + ".c", "w", encoding="utf-8") as f:
        f.write("void _start(void) { for (volatile int i = 0; i < 9; i++); *(volatile int *)8 = 1; }\n")
    run(GCC[cpu.replace("_be", "")], "-g", "-O2", *flags, "-nostdlib", *how,
        "-fasynchronous-unwind-tables", program + ".c", "-o", program)
    start = struct.unpack_from("<Q" if cpu in ("x86_64", "aarch64") else ">Q", read(program), 24)[0]
    process = subprocess.Popen(["qemu-" + cpu, "-g", str(port), program], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        found, text = retry_trace("--gdb=localhost:%d" % port, program)
        pc, = list(found.values())[0][:1]
        must(pc == start if "-static" in how else pc != start and pc % 4096 == start % 4096, "%s" % text)
        must(b"        _start at" in text, "%s" % text)
        process.wait(LIMIT)  # it has been let go
    finally:
        process.kill()
        process.wait()


# ---- dumps ----

def test_upper():
    os.makedirs(WORK, exist_ok=True)
    for name in VARIANTS:
        if not name.endswith("-user"):  # a program called those: upper_user
            test(name, with_machine(upper_dump), name)
    for name in ORDINARY:
        test("threads, " + name, with_machine(upper_threads), name)
        test("hostile threads, " + name, with_machine(upper_hostile_threads), name)
    for cpu in USER:
        test("user mode, " + cpu, with_machine(upper_user), cpu + "-user")
    test("s390x: frames of 1 MiB and 2 GiB", with_machine(upper_large), "s390x-region-3")
    for name in ORDINARY:
        test("hostile, " + name, with_machine(upper_hostile), name)
    test("what is missing", with_machine(upper_missing), "aarch64-4k")
    test("x86_64: a page table by hand", with_machine(upper_by_hand), "x86_64-4k")
    for name in ("x86_64-4k", "x86_64-5-levels", "aarch64-4k-39", "aarch64-64k-42"):
        test("VMCOREINFO, " + name, with_machine(upper_vmcoreinfo), name)


def upper_dump(machine):
    machine.monitor("stop")
    pc = machine.pc()
    options = ["--page-table=0x%x" % TTBR1] if machine.cpu == "aarch64" else []
    said, results = [], []
    for how in ((), ("-p",)):
        if how and machine.cpu == "s390x":
            said.append("no -p")
            continue
        found, text = by_trace("--core=" + machine.dump(*how), *options, machine.image)
        must(functions(text) == CALLS, "%s" % text)
        results.append(found)
        written = WORK + "/written.core"
        run(TRACE, "--core=" + machine.dump(*how), *options, "--write-core=" + written, machine.image)
        results.append({0: list(by_gdb(machine.image, "core-file " + written).values())[0]})
        must(build_id(written) == build_id(machine.image), "its build ID")
    wanted, = machine.by_gdb().values()
    for found in results:
        pcs, = found.values()
        must(pcs[0] == pc and pcs[1:] == wanted[1:], "%s instead of %s" % (list(map(hex, pcs)), list(map(hex, wanted))))
    return ", ".join(["%d frames" % len(wanted), *said])


WAITS = {"first": ["thread_switch", "wait", "work", "work", "first_main", "thread_start"],
         "second": ["thread_switch", "wait", "work", "work", "work", "work", "second_main", "thread_start"]}
FIELDS = "sp=16,pc=thread_left,name=24,id=0"
THREADS = {  # kernel.c
    "threads,next=8": ["first", "second"], "slots,here,next=8": ["first", "second"],
    "ring,link=40": ["first", "second"],
    "slots,here,link=40": None, "slots,array=3,size=48": ["first", "second"], "table,pointers=3": ["first", "second"],
    "threads,next=8,running=running": ["first", "second"], "threads,next=8,running=threads": ["second"],
    "threads,next=8,running=table/2": ["second"], "threads,next=8,running=table/3": []}

# What a script of gdb's can say of a kernel that --threads cannot describe.
GDB_THREADS = """
import gdb
thread = gdb.parse_and_eval("threads")
while thread != 0:
    print("name=%s id=%d pc=%d sp=%d" % (thread["name"].string(), thread["id"],
                                         gdb.parse_and_eval("(unsigned long)&thread_left"), thread["sp"]))
    thread = thread["next"]
"""


# A thread whose saved registers are those of the CPU's third frame: it runs, on that stack.
GDB_RUNS = """
import gdb
frame = gdb.selected_frame().older().older()
print("name=runs id=9 kind=return pc=%d sp=%d fp=%d" % (frame.pc(), *[int(frame.read_register(name)) & (1 << 64) - 1
                                                                      for name in NAMES]))
"""
RUNS = b"        it runs, by a trace above: these are the registers that it had before\n"


def kernel_threads(text):
    """{name: (id, functions, PCs)} of the kernel's threads."""
    found = {}
    for part in text.split(b"kernel thread ")[1:]:
        head = re.match(rb"\d+(?: at 0x[0-9a-f]{16})?: (\w+) \(id (\d+)\)\n", part)
        must(head and b"trace ends (1)" in part, "%s" % part)
        found[head[1].decode()] = (int(head[2]), functions(part), [f[0] for f in frames(part.splitlines())])
    return found


def upper_threads(machine):
    """In the dump, in the core written of it, and behind the stub; by each shape that a kernel may have them in."""
    machine.monitor("stop")
    core, written, count = machine.dump(), WORK + "/threads.core", 0
    table = ["--page-table=0x%x" % TTBR1] if machine.cpu == "aarch64" else []
    for shape, names in THREADS.items():
        option = "--threads=%s,%s" % (shape, FIELDS)
        if names is None:  # the ring's head is taken for a thread
            out = run(TRACE, "--core=" + core, *table, option, machine.image)[0]
            must(out.count(b"kernel thread ") == 3, "%s" % out)
            continue
        _, text = by_trace("--core=" + core, *table, option, "--write-core=" + written, machine.image)
        found = kernel_threads(text)
        must({name: (n, called) for name, (n, called, _) in found.items()} ==
             {name: (("", "first", "second").index(name), WAITS[name]) for name in names}, "%s: %s" % (shape, found))
        by_core = list(by_gdb(machine.image, "core-file " + written).values())
        must(by_core[1:] == [pcs for _, _, pcs in found.values()], "%s: gdb has %s" % (shape, by_core))
        count += sum(map(len, by_core))
    _, text = by_trace("--core=" + core, *table, "--threads=threads,next=8," + FIELDS, machine.image)
    wanted = kernel_threads(text)
    script = WORK + "/threads.py"
    write(script, GDB_THREADS.encode())
    lines = run("gdb-multiarch", "-q", "-nx", "-batch", "-ex", "core-file " + written, "-ex", "source " + script,
                machine.image)[0]
    write(WORK + "/threads.txt", b"# by gdb\n\n" + b"".join(re.findall(rb"(?m)^name=.*\n", lines)))
    for option in ("threads,next=8," + FIELDS, "@%s/threads.txt" % WORK):
        _, text = by_trace("--core=" + core, *table, "--threads=" + option, machine.image)
        must(kernel_threads(text) == wanted, "%s: %s" % (option, text))
        _, text = by_trace("--gdb=" + machine.address(), "--threads=" + option, machine.image)
        must(kernel_threads(text) == wanted and machine.runs(), "--gdb, %s: %s" % (option, text))
        machine.monitor("stop")
    # One that runs, among others that do not.
    names = {"x86_64": ("rsp", "rbp"), "aarch64": ("sp", "x29"), "s390x": ("r15", "r11")}[machine.cpu]
    write(script, ("NAMES = %s\n%s" % (names, GDB_RUNS)).encode())
    said = run("gdb-multiarch", "-q", "-nx", "-batch", "-ex", "core-file " + written, "-ex", "source " + script,
               machine.image)[0]
    write(WORK + "/runs.txt", read(WORK + "/threads.txt") + re.search(rb"(?m)^name=runs.*\n", said)[0])
    _, text = by_trace("--core=" + core, *table, "--threads=@%s/runs.txt" % WORK, machine.image)
    must(text.count(RUNS) == 1 and b": runs (id 9)\n" + RUNS in text, "%s" % text)
    # The PC on the stack, as its return address.
    on_stack = {"x86_64": "sp=16+56,pc=sp+48", "aarch64": "sp=16,pc=sp+8", "s390x": "sp=16,pc=sp+112"}[machine.cpu]
    if machine.cpu == "x86_64":
        _, text = by_trace("--core=" + core, "--threads=threads,next=8,name=24,id=0,kind=return," + on_stack,
                           machine.image)
        must([called for _, called, _ in kernel_threads(text).values()] == [WAITS["first"][1:], WAITS["second"][1:]],
             "%s" % text)
    for option, said in (("absent,next=8,sp=16,pc=thread_left", b"no symbol absent"),
                         ("threads,next=8,sp=16,pc=absent", b"no symbol absent"),
                         ("upper,next=8,sp=16,pc=0", b"cannot be read"), ("@/absent", b"cannot be read"),
                         ("@port/host/rules.mk", b"not a register")):
        errors = run(TRACE, "--core=" + core, *table, "--threads=" + option, machine.image, status=1)[1]
        must(said in errors, "%s: %s" % (option, errors))
    for option in ("", "threads", "threads,sp=1,pc=1", "threads,next=1,pc=1", "threads,next=1,sp=1", "threads,array=1",
                   "threads,array=2,sp=1,pc=1", "threads,next=x,sp=1,pc=1", "threads,next=1,link=1,sp=1,pc=1",
                   "threads,next=1,sp=1,pc=1,x=1", "threads,next=1,sp=1,pc=", "threads,next=1,sp=1,pc=1,r32=1",
                   "threads,next=1,sp=1,pc=sp+x", "threads,array=0,size=1,sp=1,pc=1", "x" * 2000):
        errors = run(TRACE, "--core=" + core, "--threads=" + option, machine.image, status=2)[1]
        must(b"--threads: " in errors and errors.count(b"\n") <= 2, "%s: %s" % (option, errors))
    return "%d frames" % count


def upper_hostile_threads(machine):
    """Lists that lead anywhere, in circles, and without an end."""
    machine.monitor("stop")
    core, chosen = Physical(machine.dump(), ">" if machine.cpu == "s390x" else "<"), random.Random("threads")
    offset = VARIANTS[[name for name in ORDINARY if VARIANTS[name][0] == machine.cpu][0]][1]
    table = ["--page-table=0x%x" % TTBR1] if machine.cpu == "aarch64" else []
    symbols = {m[2].decode(): int(m[1], 16) - offset for m in re.finditer(rb"(?m)^([0-9a-f]+) \w (\w+)$",
                                                                         run(NM, machine.image)[0])}
    words = [symbols["threads"], symbols["ring"], *(symbols["slots"] + 8 * i for i in range(18)),
             *(symbols["table"] + 8 * i for i in range(3))]
    whole, good = {at: core.word(at) for at in words}, 0
    for _ in range(20):
        for at in words:
            core.data[core.at(at):core.at(at) + 8] = struct.pack(core.order + "Q", whole[at])
        for _ in range(chosen.choice((1, 2, 8))):
            core.store(chosen.choice(words), chosen.choice((
                0, 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 8, *whole.values(),
                symbols["slots"] + offset + chosen.randrange(200))))
        shape = chosen.choice(list(THREADS))
        good += survives("--core=" + core.file, *table, "--threads=%s,%s" % (shape, FIELDS), "--max-frames=20",
                         "--write-core=/dev/null", machine.image, one_line=False) == 0
    return "%d of 20 accepted" % good


USER_CALLS = ["run", "run_deeper", "run_deeper", "run_deeper", "user_arrived", "user_entry",
              "call_kernel", "user_deeper", "user_deeper", "user_deeper", "user_main"]  # and _start, which has no line


def upper_user(machine):
    """A program has called the kernel: the trace goes on in it, on its own stack, behind page tables of its own."""
    machine.monitor("stop")
    core, program, written = machine.dump(), "%s/%s-program.elf" % (WORK, machine.cpu), WORK + "/user.core"
    table = ["--page-table=0x%x" % TTBR1] if machine.cpu == "aarch64" else []
    user_table = ["--user-table=0x%x" % TTBR1] if machine.cpu == "aarch64" else []
    out = run(TRACE, "--core=" + core, *table, machine.image)[0]
    must(functions(out) == USER_CALLS[:6] and b"user mode" in out and b"--user=FILE" in out and
         b"    user mode:\n" not in out, "%s" % out)
    if table:
        out = run(TRACE, "--core=" + core, *table, "--user=" + program, machine.image)[0]
        must(functions(out) == USER_CALLS[:8] and b"unreadable stack" in out, "without its tables: %s" % out)
    at = "%s@0x%x" % (program, USER[machine.cpu])
    for name in (program, at):
        found, text = by_trace("--core=" + core, *table, *user_table, "--user=" + name, "--write-core=" + written,
                               machine.image)
        lines = text.split(b"\n")
        must(functions(text) == USER_CALLS and b"_start+0x" in text, "%s" % text)
        must(lines[lines.index(b"    user mode:") + 1].startswith(b"#6 "), "%s" % text)
        live, text = by_trace("--gdb=" + machine.address(), "--user=" + name, machine.image)
        must(functions(text) == USER_CALLS and b"    user mode:\n" in text, "--gdb: %s" % text)
        must(list(live.values())[0][1:] == list(found.values())[0][1:], "--gdb: other PCs")
        machine.monitor("stop")
    pcs, = found.values()
    gdb, = by_gdb(machine.image, "core-file " + written, "add-symbol-file " + program).values()
    # gdb has one register for PC and return address of a trap frame: behind it a leaf's caller is lost.
    wanted = pcs if machine.cpu == "x86_64" else pcs[:7]
    must(gdb[:len(wanted)] == wanted, "gdb: %s instead of %s" % (list(map(hex, gdb)), list(map(hex, pcs))))
    errors = run(TRACE, "--core=" + core, "--user-table=1", machine.image, status=2)[1]
    must(b"--user-table" in errors, "without --user: %s" % errors)
    errors = run(TRACE, "--core=" + core, "--user=/bin/sh", machine.image,
                 status=0 if machine.cpu == "x86_64" else 1)[1]
    must(machine.cpu == "x86_64" or b"it is for x86_64" in errors, "another CPU's: %s" % errors)
    return "%d frames" % len(pcs)


def build_id(file):
    return re.search(rb"Build ID: ([0-9a-f]+)", run("readelf", "-n", file)[0])[1]


def upper_missing(machine):
    """Each refusal says what to give."""
    core = "--core=" + machine.dump()
    sp = int(re.search(r" SP=([0-9a-f]+)", machine.monitor("info registers"))[1], 16)
    out = run(TRACE, core, machine.image)[0]
    must(b"SP 0x%016x is in no segment of the dump" % sp in out and b"give --page-table=ADDR" in out and
         b"TTBR1_EL1" in out, "%s" % out)
    for table in (0, 0x40000000, TTBR1 + 0x1000, 1 << 63):
        out, errors = run(TRACE, core, "--page-table=0x%x" % table, machine.image, status=1)
        must(b"no table at" in errors and out == b"", "table 0x%x: %s" % (table, errors))
    for sizes in ("39,4096", "48,16384", "48,65536"):
        out = run(TRACE, core, "--page-table=0x%x,%s" % (TTBR1, sizes), machine.image)[0]
        must(b"is not mapped" in out and functions(out) != CALLS, "%s: %s" % (sizes, out))
    for wrong in ("x", "1,", "1,2,3,4", "1,24", "1,58", "1,48,8192", ""):
        must(b"--page-table" in run(TRACE, core, "--page-table=" + wrong, machine.image, status=2)[1], wrong)
    must(b"do not have 57 bits" in run(TRACE, core, "--page-table=1,57", machine.image, status=1)[1], "57")
    # Without the memory of the stack.
    data = bytearray(read(machine.dump()))
    at = re.search(re.escape(bytes(data[:4])), data).start()
    must(at == 0, "no core")
    cut = WORK + "/cut.core"
    write(cut, data[:len(data) - (24 << 20)])
    done = subprocess.run([TRACE, "--core=" + cut, "--page-table=0x%x,48" % TTBR1, machine.image], check=False,
                          capture_output=True, timeout=LIMIT)
    must(b"as far as they are in the dump" in done.stdout and b"it is cut" in done.stderr, "%s" % done)


class Physical:
    """The physical memory in a machine's core, which can be written to: what changes in DATA changes in the file."""

    def __init__(self, file, order):
        os.chmod(file, 0o600)
        with open(file, "r+b") as f:
            self.file, self.order, self.data = file, order, mmap.mmap(f.fileno(), 0)
        at, = struct.unpack_from(order + "Q", self.data, 32)
        self.segments = [struct.unpack_from(order + "IIQQQQ", self.data, at + 56 * i)
                         for i in range(*struct.unpack_from(order + "H", self.data, 56))]

    def at(self, addr):
        for kind, _, offset, _, physical, size in self.segments:
            if kind == 1 and physical <= addr < physical + size:
                return offset + addr - physical
        raise Wrong("0x%x is not in the dump" % addr)

    def word(self, addr):
        return struct.unpack_from(self.order + "Q", self.data, self.at(addr))[0]

    def store(self, addr, value):
        struct.pack_into(self.order + "Q", self.data, self.at(addr), value)


def upper_large(machine):
    """QEMU 7.2 emulates none. The kernel's pages are taken away, and then a segment's entry, and the region's, changed
    to map what they have mapped (Principles of Operation, 3-44). Its build ID is what is read there: an image with
    another one is wrong if there is any, and the right one is never."""
    other = WORK + "/other.elf"
    data = read(machine.image)
    at = data.index(b"GNU\0", data.index(struct.pack(">III", 4, 20, 3))) + 4
    write(other, data[:at] + bytes(20) + data[at + 20:])
    core, offset = Physical(machine.dump(), ">"), VARIANTS["s390x-region-3"][1]
    region = POOL_S390X + 8 * (offset >> 31)
    segment = (core.word(region) & ~0xfff) + 8 * (offset >> 20 & 2047)

    def is_wrong():
        wrong = []
        for image in (other, machine.image):
            done = subprocess.run([TRACE, "--core=" + core.file, image], capture_output=True, check=False,
                                  timeout=LIMIT)
            must((done.returncode == 1) == (b"WRONG IMAGE" in done.stderr), "%s" % done)
            wrong.append(done.returncode == 1)
        must(not wrong[1], "other bytes are read")
        return wrong[0]

    must(is_wrong(), "by pages")
    core.store(segment, 0x20)
    must(not is_wrong(), "the pages are still there")
    core.store(segment, 0x400)
    must(is_wrong(), "a frame of 1 MiB")
    core.store(region, 0x20)
    must(not is_wrong(), "the segment is still there")
    core.store(region, 0x404)
    must(is_wrong(), "a frame of 2 GiB")


def upper_hostile(machine):
    """Headers, notes and page tables that make no sense, under the sanitizers."""
    machine.monitor("stop")
    file, chosen, good = machine.dump(), random.Random(machine.cpu), 0
    core = Physical(file, ">" if machine.cpu == "s390x" else "<")
    pool = POOL_S390X if machine.cpu != "aarch64" else TTBR1
    for _ in range(20):
        damaged = {}
        for _ in range(chosen.choice((1, 4, 40, 400))):
            table = core.at(pool + chosen.randrange(0x10000 if machine.cpu != "s390x" else 0x20000))
            at = chosen.choice((chosen.randrange(4096), table, table, table))
            damaged.setdefault(at, core.data[at])
            core.data[at] = chosen.choice((0, 1, 0x20, 0x7f, 0x80, 0xff, chosen.randrange(256)))
        options = ["--page-table=0x%x" % pool] if machine.cpu == "aarch64" else []
        good += survives("--core=" + file, *options, "--write-core=/dev/null", machine.image) == 0
        for at, byte in damaged.items():
            core.data[at] = byte
    return "%d of 20 accepted" % good


def upper_by_hand(machine):
    """CR3 by an option, as for a dump that has no note of QEMU's."""
    machine.monitor("stop")
    cr3 = int(re.search(r"CR3=([0-9a-f]+)", machine.monitor("info registers"))[1], 16)
    core = machine.dump()
    wanted, _ = by_trace("--core=" + core, machine.image)
    data = read(core)
    must(b"QEMU\0" in data[:8192], "no note")
    write(core, data.replace(b"QEMU\0", b"NONE\0", 1))
    out = run(TRACE, "--core=" + core, machine.image)[0]
    must(b"give --page-table=ADDR" in out and b"CR3" in out, "%s" % out)
    for sizes in ("", ",48"):
        must(by_trace("--core=" + core, "--page-table=0x%x%s" % (cr3, sizes), machine.image)[0] == wanted, sizes)


def with_note(core, name, text):
    """A copy of the file CORE of a little-endian machine, with one note more, and without QEMU's. It is made once: what
    is at its end, and says so, changes."""
    file = core + ".linux"
    if not os.path.exists(file):
        write(file, read(core).replace(b"QEMU\0", b"NONE\0"))
    with open(core, "rb") as f:
        data, size = bytearray(f.read(8192)), os.fstat(f.fileno()).st_size
    at, = struct.unpack_from("<Q", data, 32)
    while struct.unpack_from("<I", data, at)[0] != 4:  # PT_NOTE
        at += 56
    start, old = struct.unpack_from("<Q", data, at + 8)[0], struct.unpack_from("<Q", data, at + 32)[0]
    with open(file, "r+b") as f:
        f.seek(start)
        notes = f.read(old)
        for part in (struct.pack("<III", len(name) + 1, len(text), 0), name + b"\0", text):
            notes += part + bytes(-len(part) % 4)
        f.seek(at + 8)
        f.write(struct.pack("<Q", size))
        f.seek(at + 32)
        f.write(struct.pack("<QQ", len(notes), len(notes)))
        f.truncate(size)
        f.seek(size)
        f.write(notes)
    return file


def upper_vmcoreinfo(machine):
    """Page tables and the slide by the lines that Linux writes (its Documentation/admin-guide/kdump/vmcoreinfo.rst):
    the kernel is where such a kernel is, but for its name."""
    machine.monitor("stop")
    name, = (name for name in VARIANTS if "/%s.elf" % name in machine.image)
    offset, *sizes = VARIANTS[name][1], *VARIANTS[name][5:]
    if machine.cpu == "x86_64":
        cr3 = int(re.search(r"CR3=([0-9a-f]+)", machine.monitor("info registers"))[1], 16)
        base = -(16 << 20)  # kernels that lie lower than they were linked to
        lines = ["SYMBOL(swapper_pg_dir)=%x" % (offset + cr3 - base), "NUMBER(phys_base)=%d" % base,
                 "NUMBER(pgtable_l5_enabled)=%d" % ("5-levels" in name)]
    else:
        lines = ["SYMBOL(swapper_pg_dir)=%x" % (offset + TTBR1), "NUMBER(kimage_voffset)=0x%x" % offset,
                 "PAGESIZE=%d" % (1 << sizes[0]), "NUMBER(VA_BITS)=%d" % sizes[1]]
    core, distance = machine.dump(), 0x80000
    if os.path.exists(core + ".linux"):
        os.remove(core + ".linux")
    moved = WORK + "/moved.elf"
    run("%s/%s/objcopy" % (TC, machine.cpu), "--change-addresses=-0x%x" % distance, machine.image, moved)
    whole = ["OSRELEASE=6.1.0", *lines, "KERNELOFFSET=%x" % distance]

    def names(image, text):
        out = run(TRACE, "--core=" + with_note(core, b"VMCOREINFO", text.encode()), image)[0]
        return [word.decode() for word in re.findall(rb"(?m)^#\d+ +0x[0-9a-f]{16}  (\w+)\+", out)], out

    for image, text in ((machine.image, "\n".join(whole[:-1]) + "\n"), (moved, "\n".join(whole) + "\n"),
                        (moved, "\n".join(reversed(whole)))):  # also the last line without its end
        found, out = names(image, text)
        must(found[:len(CALLS)] == CALLS and b"trace ends (1)" in out, "%s: %s" % (text, out))
    # Without a line of those, with a number that is none, or in the middle of a line.
    for i in range(3 if machine.cpu == "aarch64" else 2):
        for text in (lines[:i] + lines[i + 1:], lines[:i] + [lines[i].split("=")[0] + "=x"] + lines[i + 1:],
                     lines[:i] + ["x" + lines[i]] + lines[i + 1:]):
            out = names(machine.image, "\n".join(text) + "\n")[1]
            must(b"give --page-table=ADDR" in out, "%s: %s" % (text, out))
    hostile = (b"", b"=" * 100, b"SYMBOL(swapper_pg_dir)=", b"SYMBOL(swapper_pg_dir)=" + b"f" * 50,
               "\n".join(lines).replace("=", "=-").encode(), "\n".join(lines).replace("=", "=9").encode())
    for text in hostile if name in ("x86_64-4k", "aarch64-4k-39") else ():
        survives("--core=" + with_note(core, b"VMCOREINFO", text), machine.image)
    os.remove(core + ".linux")
    return "%d frames" % len(CALLS)


if __name__ == "__main__":
    {"live": test_live, "upper": test_upper}[sys.argv[1]]()
    finish()

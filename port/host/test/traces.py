# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""What suites of sfu-trace share: a kernel that dumps its stack, what addr2line and gdb say, stubs, and QEMU's
monitor. It has no tests."""
import os
import re
import socket
import subprocess
import time

from host import GCC, OUT, TC, WORK, Wrong, must, tool, write
from many import Many
from programs import KERNEL_SOURCES, compile_kernel, link_kernel

TRACE = tool("sfu-trace", ("core", "folded"))
SANITIZED = OUT + "/sfu-trace-sanitized"
LIMIT = 240  # seconds for anything: a hang is a failure


def run(*command, status=0, stdin=None):
    """Runs COMMAND, which must end with STATUS. Returns its output and its errors, as bytes."""
    done = subprocess.run(command, capture_output=True, check=False, timeout=LIMIT,
                          **({"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}))
    if done.returncode != status:
        text = (done.stderr.strip() or done.stdout.strip()).decode("latin-1").splitlines()
        raise Wrong("%s: status %d: %s" % (" ".join(command)[:200], done.returncode, text[-1] if text else ""))
    return done.stdout, done.stderr


# What differs from the kernels of port/baremetal/test, which it is linked of otherwise.
OWN = ["port/baremetal/test/traced.c", "port/baremetal/test/module.S"]
MORE = ["port/print/sfu_dump.c", "port/baremetal/test/dump.c"]
built = set()


def bare_object(cpu, source):
    """The object of SOURCE that suite-bare-CPU links."""
    stem, kind = os.path.splitext(source.replace("%s", cpu))
    beside = kind == ".S" and stem.startswith("port/baremetal/test/")  # a file of C has the same name
    return "build/bare/%s/%s%s.o" % (cpu, stem, "-asm" if beside else "")


def kernel(cpu):
    """The directory of a kernel that prints its build ID, its trace, and a dump. kernel.elf has .sframe and .eh_frame;
    cfi.elf has .eh_frame alone; other.elf is the same with another build ID; module.ko has debug information."""
    directory = "%s/kernel-%s" % (WORK, cpu)
    if cpu in built:
        return directory
    built.add(cpu)
    os.makedirs(directory, exist_ok=True)
    binutils = "%s/%s/" % (TC, cpu)
    with open("port/baremetal/kernel.ld", encoding="utf-8") as f:
        script = f.read()
    script = script.replace(".note.* .eh_frame", "").replace(
        "    /DISCARD/", "    .eh_frame 0 (INFO) : { KEEP(*(.eh_frame)) }\n    /DISCARD/")
    write(directory + "/kernel.ld", script.encode())
    flags = ["-B" + binutils, "-Wa,--gsframe", '-DMODULE="%s/module.ko"' % directory]
    modules = compile_kernel(cpu, directory, ["port/baremetal/test/module_a.c", "port/baremetal/test/module_b.c"],
                             lambda _: [GCC[cpu]], *flags)
    run(binutils + "ld", "-r", "-T", "port/baremetal/test/module.ld", *modules, "-o", directory + "/module.ko")
    made = dict(zip(OWN + MORE, compile_kernel(cpu, directory, OWN + MORE, lambda _: [GCC[cpu]], *flags)))
    objects = [made.get(source) or bare_object(cpu, source) for source in KERNEL_SOURCES + MORE]
    link = [GCC[cpu], "-B" + binutils, "-nostdlib", "-static-pie", "-Wl,--gc-sections,-z,norelro",
            "-Wl,-z,max-page-size=4096,--wrap=machine_exit,--wrap=sfu_panic_print", "-L" + directory,
            "-Tport/baremetal/%s/machine.ld" % cpu, *objects]
    image = link_kernel(cpu, directory, [*link, "-Wl,--build-id=sha1"])
    run(*link, directory + "/symbols.s.o", "-Wl,--build-id=0x123456789abcdef0", "-o", directory + "/other.elf")
    run(binutils + "objcopy", "-R", ".sframe", image, directory + "/cfi.elf")
    return directory


def symbol(cpu, image, name):
    """Its address, by nm."""
    return int(re.search(r"(?m)^([0-9a-f]+) \w %s$" % name, run("%s/%s/nm" % (TC, cpu), image)[0].decode())[1], 16)


# ---- what addr2line says ----

class Lines:
    """(function, file:line) of an address and of what it was inlined into; the files without their folders' dots."""

    def __init__(self, cpu, image):
        self.process = subprocess.Popen(["%s/%s/addr2line" % (TC, cpu), "-fiae", image], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def at(self, addr):
        # A second, impossible address marks the end of what the first one has.
        self.process.stdin.write("0x%x\n0xffffffffffffffff\n" % addr)
        self.process.stdin.flush()
        lines = [self.process.stdout.readline().strip()]
        must(int(lines[0], 16) == addr, "addr2line: " + lines[0])
        found = []
        while True:
            line = self.process.stdout.readline().strip()
            if line == "0xffffffffffffffff":
                break
            found.append((line, place(self.process.stdout.readline().strip())))
        self.process.stdout.readline()
        self.process.stdout.readline()
        return found

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def place(text):
    """FILE:LINE as addr2line and as sfu-trace write it."""
    file, line = re.sub(r" \(discriminator \d+\)", "", text).rsplit(":", 1)
    return os.path.normpath(os.path.join(os.getcwd(), file)) + ":" + line


FRAME = re.compile(rb"^(?:.*[\] ])?#(\d+) +0x((?:[0-9a-f]{8}){1,2})(?:  (\S+)\+0x[0-9a-f]+)?"
                   rb"((?:  \[[a-z ]+\])*)(?:  \((.*)\))?$")
ADDED = re.compile(rb"^        (\(inlined by\) )?(\S+) at (.*?)(?: \[(.*)\])?$")


def frames(lines):
    """[(PC, lookup PC, marks, how, [(function, file:line)])] of the trace in LINES, which may have others between."""
    result = []
    for line in lines:
        frame, added = FRAME.match(line), ADDED.match(line)
        if frame:
            pc = int(frame[2], 16)
            exact = frame[1] == b"0" or b"[interrupted]" in frame[4]
            result.append((pc, pc - (not exact), frame[4], frame[5], []))
        elif added and result:
            result[-1][4].append((added[2].decode(), place(added[3].decode())))
    return result


def names_of_frames(text):
    """The function of each frame of the traces in TEXT."""
    return re.findall(r"(?m)^ *#\d+ +0x[0-9a-f]+  ([\w.]+)\+0x", text)


def only_added(log, output):
    """The lines that have been added. The others are the log's."""
    added, given = [], log.splitlines(keepends=True)
    for line in output.splitlines(keepends=True):
        if given and line == given[0]:
            given.pop(0)
        else:
            added.append(line)
    must(not given, "not passed on: %s" % given[:1])
    return added


# ---- what gdb says ----

# gdb shows frames that are none: inlined functions, and callers of tail calls.
GDB_FRAMES = """
import gdb
SP = "r15" if gdb.selected_inferior().architecture().name().startswith("s390") else "sp"
for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
    thread.switch()
    print("thread %d %d" % (thread.num, thread.ptid[1]))
    frame = gdb.newest_frame()
    while frame is not None and frame.is_valid():
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            sp = int(frame.read_register(SP)) & (1 << 64) - 1
            print("pc 0x%x 0x%x" % (frame.pc() & (1 << 64) - 1, sp))
        frame = frame.older()
"""


def frames_by_gdb(image, *commands):
    """{number of the kernel's: [(PC, SP)]} of each thread."""
    script = WORK + "/frames.py"
    write(script, GDB_FRAMES.encode())
    words = ["set pagination off", "set backtrace past-main on", "set backtrace past-entry on", *commands,
             "source " + script]
    command = ["gdb-multiarch", "-q", "-nx", "-batch"] + [w for word in words for w in ("-ex", word)]
    out, errors = run(*command, image)
    found = {}
    for line in out.decode("latin-1").splitlines():
        if re.match(r"thread \d+ \d+$", line):
            pcs = found.setdefault(int(line.split()[2]), [])
        elif line.startswith("pc 0x"):
            pcs.append(tuple(int(word, 16) for word in line.split()[1:]))
    must(found, "gdb: " + errors.decode("latin-1")[-200:])
    return found


def by_gdb(image, *commands):
    """{number of the kernel's: [PC]} of each thread."""
    return {number: [pc for pc, _ in frames] for number, frames in frames_by_gdb(image, *commands).items()}


def by_trace(*arguments, status=0):
    """{number: [PC]} of each thread, and all that was printed. Each trace ends well."""
    out, errors = run(TRACE, *arguments, status=status)
    found, pcs = {}, None
    for line in out.splitlines():
        start = re.match(rb"thread (?:\d+ \((\d+)\)|(\d+) \(p[0-9a-f.]+\))(?: .*)?$|CPU (\d+)$", line)
        frame = FRAME.match(line)
        if start:
            pcs = found.setdefault(int(start[1] or start[2] or start[3]), [])
        elif frame:
            must(pcs is not None, "a frame of no thread: %s" % out)
            pcs.append(int(frame[2], 16))
        must(not line.startswith(b"trace ends (") or line.startswith(b"trace ends (1)"), line.decode("latin-1"))
    return found, out + errors


# ---- stubs of gdb ----

class Stub:
    """A client of the GDB protocol: just enough to let a machine run up to an address."""

    def __init__(self, port):
        self.socket = socket.create_connection(("localhost", port), LIMIT)
        self.file = self.socket.makefile("rb")

    def ask(self, command):
        self.socket.sendall(b"$%s#%02x" % (command, sum(command) & 255))
        while self.file.read(1) != b"$":
            pass
        answer = b""
        while not answer.endswith(b"#"):
            answer += self.file.read(1)
        self.file.read(2)
        self.socket.sendall(b"+")
        return answer[:-1]

    def run_to(self, addr):
        size = 1 if addr % 2 else 4
        must(self.ask(b"Z1,%x,%x" % (addr, size)) == b"OK", "no breakpoint")
        must(self.ask(b"c").startswith(b"T05"), "not stopped")
        must(self.ask(b"z1,%x,%x" % (addr, size)) == b"OK", "the breakpoint stays")

    def close(self):
        self.file.close()
        self.socket.close()


def free_port():
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def retry(function):
    end = time.monotonic() + LIMIT
    while True:
        try:
            return function()
        except OSError:
            must(time.monotonic() < end, "no connection")
            time.sleep(0.05)


def ask_monitor(path, command):
    """What QEMU's monitor at the socket PATH answers, as soon as it is there."""
    end = time.monotonic() + LIMIT
    while True:
        try:
            with socket.socket(socket.AF_UNIX) as s:
                s.settimeout(LIMIT)
                s.connect(path)
                for text in (b"", command.encode() + b"\n"):
                    s.sendall(text)
                    answer = b""
                    while not answer.endswith(b"(qemu) "):
                        part = s.recv(4096)
                        must(part, "QEMU has closed its monitor")
                        answer += part
                return answer.decode("latin-1")
        except (FileNotFoundError, ConnectionRefusedError):
            must(time.monotonic() < end, "QEMU has no monitor")
            time.sleep(0.05)


# What stubs answer; the last one for ever. None: they close the connection.
def packet(text):
    return b"+$%s#%02x" % (text, sum(text) & 255)


# ---- input that makes no sense ----

NEVER = re.compile(rb"Sanitizer|runtime error|Assertion|stack smashing")
sanitized = Many(SANITIZED, WORK, LIMIT)


def survives(*arguments, stdin=None, one_line=True):
    """Status 0 or 1, nothing from a sanitizer, and one line that says why. Returns the status."""
    done = sanitized.run(*arguments, stdin=stdin, text=False)
    must(not NEVER.search(done.stderr), "%s: %s" % (arguments, done.stderr[:600].decode("latin-1")))
    must(done.returncode in (0, 1), "%s: status %d" % (arguments, done.returncode))
    must(done.returncode == 0 or not one_line or b"sfu-trace: " in done.stderr.splitlines()[-1:][0], "no reason")
    return done.returncode


def mutate(chosen, data, places, tokens=()):
    """A copy with some bytes that are others, pieces that are missing or there twice, and words of the format."""
    data = bytearray(data)
    for _ in range(chosen.choice((1, 1, 2, 8, 30))):
        at = chosen.choice(places) % max(len(data), 1)
        kind = chosen.randrange(6)
        if kind == 0:
            size = chosen.randrange(1, 200)
            del data[at:at + size]
        elif kind == 1:
            size = chosen.randrange(1, 200)
            data[at:at] = data[at:at + size]
        elif kind == 2 and tokens:
            data[at:at] = chosen.choice(tokens)
        elif at < len(data):
            data[at] = chosen.choice((0, 1, 0x20, 0x30, 0x66, 0x7f, 0x80, 0xff, chosen.randrange(256)))
    return bytes(data)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""cortexm_trace.py: sfu-trace of firmware for a Cortex-M that has no tables on board. Prints a line for each test.

cortexm/dump.c crashes on two boards of QEMU, with an FPU and without, and prints its registers and stacks. What it was
doing is known from its source. The same machines are traced behind QEMU's gdb stub, whose registers lack the process
stack pointer, behind one that has it as other stubs do, and from a copy of their memory.
"""
import binascii
import contextlib
import os
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib

from host import WORK, Wrong, finish, must, test
from traces import SANITIZED, TRACE, free_port

LIMIT = 60
THUMB = 0x84  # enum sfu_abi
BOARDS = {
    "mps2-an386": (["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"], "mps2.ld", 0x20000000, 0x4000),
    "microbit": (["-mcpu=cortex-m0", "-mfloat-abi=soft"], "microbit.ld", 0x20000000, 0x2000),
}
SOURCES = ["sfu.c", "port/print/sfu_print.c", "port/print/{}.c", "port/cortexm/sfu_cortexm.c",
           "port/baremetal/cortexm/start.c", "port/host/test/cortexm/dump.c"]
RESET = 0xfffffffe  # what LR is when a CPU begins, without the bit of Thumb code
TASK = ["work", "task"]
INTERRUPT = ["fail", "read_sensor", "SysTick_Handler", "EXC_RETURN"]  # then what was interrupted


def build(board, writer="sfu_dump"):
    flags, script = BOARDS[board][:2]
    image = f"{WORK}/{board}-{writer}.elf"
    subprocess.run(["arm-none-eabi-gcc", *flags, "-mthumb", "-std=c11", "-Os", "-g", "-ffreestanding",
                    "-ffunction-sections", "-fdata-sections", "-fno-optimize-sibling-calls", "-DSFU_ABI=SFU_THUMB",
                    "-DSFU_OLDEST_VERSION=3", "-DSFU_NO_REMOTE", "-I.", "-Iarch", "-Iport/print", "-Iport/cortexm",
                    "-Iport/baremetal/cortexm", "-nostdlib", "-Wl,--gc-sections,-z,noexecstack",
                    "-Lport/baremetal/cortexm", "-T" + script, *[source.format(writer) for source in SOURCES], "-lgcc",
                    "-o", image], check=True)
    subprocess.run(["arm-none-eabi-objcopy", "-R", ".sfu_sframe", image], check=True)  # the room for tables
    return image


def machine(board, image, where, *options):
    return subprocess.Popen(["qemu-system-arm", "-M", board, "-display", "none", "-serial", "none", "-monitor", "none",
                             "-kernel", image, "-semihosting-config", f"enable=on,target=native,arg={where}",
                             *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def log_of(board, image, where):
    process = machine(board, image, where)
    try:
        return process.communicate(timeout=LIMIT)[0].decode("latin-1")
    finally:
        process.kill()


def frames(text):
    """The function of each frame, "~" behind an interrupted one and "!" behind one on another stack."""
    found = []
    for pc, name, marks in re.findall(r"^\s*#\d+ +0x([0-9a-f]+)(?:  (\w+)\+0x\w+)?(.*)$", text, re.M):
        name = name or ("reset" if int(pc, 16) == RESET else "EXC_RETURN" if int(pc, 16) >> 8 == 0xffffff else "??")
        found.append(name + "~" * ("[interrupted]" in marks) + "!" * ("[stack switch]" in marks))
    return found


def check(text, wanted, end="trace ends (1)"):
    must(frames(text) == wanted and end in text, f"{frames(text)} instead of {wanted}: {text[-200:]}")


def trace(*words, text=None):
    return subprocess.run([TRACE, *words], input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=LIMIT, check=False).stdout


def dumped(board, image, where):
    log = log_of(board, image, where)
    must(re.search("sfu2 0+ begin", log), log[-300:])
    wanted = ["fail", *TASK] if where == "task" else INTERRUPT + ["work~!", "task"]
    check(trace(image, text=log), wanted)


def small(board, _, where):
    """The small writer says the same, and takes less than 1 KB of code and constants."""
    image = build(board, "sfu_dump_small")
    dumped(board, image, where)
    alone = f"{WORK}/{board}.o"
    subprocess.run(["arm-none-eabi-gcc", *BOARDS[board][0], "-mthumb", "-Os", "-I.", "-Iport/print", "-c",
                    "port/print/sfu_dump_small.c", "-o", alone], check=True)
    sizes = subprocess.run(["arm-none-eabi-size", "-A", alone], text=True, stdout=subprocess.PIPE, check=True).stdout
    taken = sum(int(size) for size in re.findall(r"^\.(?:text|rodata)\S* +(\d+)", sizes, re.M))
    must(taken < 1024, f"{taken} bytes")


def without_psp(board, image):
    """A dump that lacks the process stack pointer says what is missing, and guesses nothing."""
    log = "".join(line for line in log_of(board, image, "interrupt").splitlines(True) if " r psp " not in line)
    text = trace(image, text=log)
    check(text, INTERRUPT, "trace ends (-25)")
    must("psp is not known" in text, text[-300:])


def wrong_return(board, image):
    """What an exception that could not return has interrupted is a guess: the CPU says that this has happened, or the
    pushed exception does not fit EXC_RETURN."""
    log = log_of(board, image, "wrong")
    must(re.search("sfu2 0+ begin", log), log[-300:])
    text = trace(image, text=log)
    check(text, ["EXC_RETURN", "work~!", "task"])
    for mark in ("[guessed]  (exception frame)", "guessed frames are not proven"):
        must(mark in text, text[-300:])


def jumped(board, image):
    """Who has jumped into a function by an even address is a guess: its rows say nothing of that."""
    log = log_of(board, image, "jump")
    must(re.search("sfu2 0+ begin", log), log[-300:])
    check_guesses(trace(image, text=log), ["EXC_RETURN", "jump!", "work", "task"], [1])


def left(board, image):
    """The first function of a task that has EXC_RETURN in LR is the outermost one, whoever prints."""
    behind = ["left", "EXC_RETURN"]
    for where, wanted in (("ltask", ["fail", "work", *behind]), ("linterrupt", [*INTERRUPT, "work~!", *behind]),
                          ("le", ["dump_here", *behind])):
        log = log_of(board, image, where)
        must(re.search("sfu2 0+ begin", log), log[-300:])
        check(trace(image, text=log), wanted)


def called_null(board, image):
    """Vectors are at 0: what is called a null pointer lies in the image, and is no code of it. Debug information has a
    function there that the linker has dropped."""
    log = log_of(board, image, "task")
    sp, ra = (int(re.search(rf"sfu2 .* {name} ([0-9a-f]+)", log)[1], 16) for name in ("r sp", "r ra"))
    memory = [line for line in log.splitlines() if re.search("sfu2 [0-9a-f]+ m ", line)]
    body = ["begin %x exact" % THUMB, f"r pc 0 sp {sp:x} fp 0 ra {ra:x}"]
    body += [re.search(r"sfu2 [0-9a-f]+ (m .*) [0-9a-f]{4}", line)[1] for line in memory]
    text = ""
    for number, line in enumerate([*body, "end 0"]):
        line = f"{number:02x} {line}"
        text += f"sfu2 {line} {binascii.crc_hqx(line.encode(), 0xffff):04x}\n"
    said = trace(image, text=text)
    must(frames(said) == ["??", *TASK], f"{frames(said)}: {said[-500:]}")
    must("a null pointer has been called" in said and "[guessed]  (wild call)" in said, said[-500:])


# Where stubs say that the process stack pointer is, and its number: QEMU from 8.1 on, OpenOCD, probe-rs and others. The
# names and numbers are those of their sources; the first two lie in packets of several parts.
CORE = "".join(f'<reg name="{name}" bitsize="32"/>' for name in [*(f"r{n}" for n in range(13)), "sp", "lr", "pc"])
HEAD = '<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd">'
DESCRIPTIONS = {
    "qemu": (28, {
        "target.xml": HEAD + '<target><architecture>arm</architecture><xi:include href="arm-m-profile.xml"/>'
                      '<xi:include href="arm-m-system.xml"/></target>',
        "arm-m-profile.xml": HEAD + '<!-- <reg name="psp"/> --><feature name="org.gnu.gdb.arm.m-profile">' + CORE +
                             '<reg name="xpsr" bitsize="32" regnum="25"/></feature>',
        "arm-m-system.xml": HEAD + '<feature name="org.gnu.gdb.arm.m-system"><reg name="msp" bitsize="32" '
                            'regnum="27"/>\n<reg name="psp" bitsize="32" regnum="28"/></feature>'}),
    "openocd": (18, {
        "target.xml": HEAD + '<target version="1.0">\n<feature name="org.gnu.gdb.arm.m-profile">\n' + "".join(
            f'<reg name="{name}" bitsize="32" regnum="{n}" save-restore="yes" type="int" group="general"/>\n'
            for n, name in enumerate([*(f"r{n}" for n in range(13)), "sp", "lr", "pc", "xPSR"])) +
            '</feature>\n<feature name="org.gnu.gdb.arm.m-system">\n<reg name="msp" bitsize="32" regnum="17"/>\n'
            '<reg name="psp" bitsize="32" regnum="18" type="data_ptr"/>\n</feature>\n</target>'}),
    "no-numbers": (27, {
        "target.xml": HEAD + "<target><feature name='org.gnu.gdb.arm.m-profile'>" + CORE + "<reg name='xpsr' "
                      "bitsize='32' regnum='25'/></feature><feature name='org.gnu.gdb.arm.m-system'><reg name='MSP'/>"
                      "<reg name='PSP'/></feature></target>"}),
    # What cannot be.
    "circle": (None, {"target.xml": '<target><xi:include href="target.xml"/><xi:include href="target.xml"/></target>'}),
    "far": (None, {"target.xml": '<target><reg name="msp" regnum="99999999999999999999"/><reg name="psp"/></target>'}),
    "cut": (None, {"target.xml": '<target><reg name="psp'}),
}


class Stub(threading.Thread):
    """Between one client and QEMU's stub: describes the registers, and has the process stack pointer."""

    def __init__(self, server, description, psp, control=None):
        super().__init__(daemon=True)
        self.server, self.psp, self.control = server, psp, control
        self.number, self.parts = description
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.asked = []
        self.start()

    def answer(self, packet):
        """What this stub says to PACKET itself, or None."""
        m = re.fullmatch(r"qXfer:features:read:([\w.-]+):(\w+),(\w+)", packet)
        if m:
            self.asked.append(m[1])
            rest = self.parts.get(m[1], "")[int(m[2], 16):]
            part = rest[:min(int(m[3], 16), 600)]
            return ("l" if len(part) == len(rest) else "m") + part if m[1] in self.parts else "E00"
        m = re.fullmatch(r"me000ed00,(\w+)", packet)
        if m and self.control:
            values = [self.control.get(at, 0) for at in range(0, int(m[1], 16), 4)]
            return struct.pack(f"<{len(values)}I", *values).hex()
        if self.number is not None and packet == f"p{self.number:x}":
            return self.psp.to_bytes(4, "little").hex()
        return "E01" if re.fullmatch(r"p\w+", packet) else None

    def run(self):
        with contextlib.suppress(OSError):  # the client or QEMU has gone
            self.serve(self.listener.accept()[0])

    def serve(self, client):
        threading.Thread(target=self.relay, args=(client,), daemon=True).start()
        data = b""
        while True:
            more = client.recv(4096)
            if not more:
                break
            data += more
            while data:
                m = re.match(rb"\$([^#]*)#..", data)
                if not m and data[:1] == b"$":
                    break
                taken = m[0] if m else data[:1]
                data = data[len(taken):]
                said = self.answer(m[1].decode()) if m else None
                if said is None:
                    self.server.sendall(taken)
                else:
                    client.sendall(b"+$%s#%02x" % (said.encode(), sum(said.encode()) & 255))

    def relay(self, client):
        with contextlib.suppress(OSError):
            while more := self.server.recv(4096):
                client.sendall(more)


def described(board, image):
    """In the handler, behind stubs that have the process stack pointer: the trace goes on in the task."""
    psp = int(re.search(r"psp 0x(\w+)", log_of(board, image, "interrupt"))[1], 16)
    for name, description in DESCRIPTIONS.items():
        port = free_port()
        process = machine(board, image, "interrupt", "-S", "-gdb", f"tcp:127.0.0.1:{port}")
        try:
            wait_for(port)
            words = ["set pagination off", f"target remote 127.0.0.1:{port}", "hbreak SysTick_Handler", "hbreak fail",
                     "continue", "continue", "disconnect"]
            subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", *[w for word in words for w in ("-ex", word)],
                            image], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT, check=False)
            stub = Stub(socket.create_connection(("127.0.0.1", port)), description, psp)
            text = trace(f"--gdb=127.0.0.1:{stub.port}", image)
        finally:
            process.kill()
            process.communicate()
        must(set(stub.asked) == set(description[1]), f"{name}: asked for {stub.asked}")
        if description[0] is None:
            check(text, INTERRUPT, "trace ends (-25)")
        else:
            check(text, INTERRUPT + ["work~!", "task"])


def in_handler(board, image, where, control=None, function="crash", copy=None):
    """The trace in FUNCTION, of the handler of HardFault or another one, behind a stub; of a System Control Block that
    has CONTROL, if that is not None. COPY: a file that gets a copy of the memory."""
    low, size = BOARDS[board][2:]
    psp = int(re.search(r"psp 0x(\w+)", log_of(board, image, where))[1], 16)
    port = free_port()
    process = machine(board, image, where, "-S", "-gdb", f"tcp:127.0.0.1:{port}")
    try:
        wait_for(port)
        words = ["set pagination off", f"target remote 127.0.0.1:{port}", f"hbreak {function}", "continue",
                 'printf "pc=0x%x,sp=0x%x,fp=0x%x,ra=0x%x\\n", $pc, $sp, $r7, $lr',
                 *([f"dump binary memory {copy} {low} {low + size}"] if copy else []), "disconnect"]
        said = subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", *[w for word in words for w in ("-ex", word)],
                               image], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT,
                              check=False).stdout
        if copy:
            return re.search("pc=.*", said)[0] + f",psp={psp:#x}"
        stub = Stub(socket.create_connection(("127.0.0.1", port)), DESCRIPTIONS["openocd"], psp, control)
        return trace(f"--gdb=127.0.0.1:{stub.port}", image)
    finally:
        process.kill()
        process.communicate()


def halted(board, image, where, guessed, control=None):
    """What the handler of a fault has interrupted is proven, unless the CPU could not push it, or may not have, or an
    exception could not return."""
    text = in_handler(board, image, where, control)
    found = frames(text)
    must(found[:3] == ["crash", "HardFault_Handler", "EXC_RETURN"], f"{found}")
    wanted = {"task": ["fail~!", *TASK], "wrong": ["work~!", "task"]}
    must(found[3:] == wanted.get(where, found[3:]), f"{found}")
    line = next(line for line in text.splitlines() if line.startswith("#3 "))
    must(("[guessed]" in line) == guessed and ("not proven" in text) == guessed, text[-400:])


# What stands in which handler: the frames; those that are guesses. The last function never ran.
LATE = {
    "nmi": ("on_nmi", ["on_nmi", "NMI_Handler", "EXC_RETURN", "victim~!", "reset"], [3]),
    "pending": ("fail", [*INTERRUPT, "victim~!", "reset"], [4]),
    "both": ("on_nmi", ["on_nmi", "NMI_Handler", "EXC_RETURN", "SysTick_Handler~", "EXC_RETURN", "victim~!", "reset"],
             [3, 5]),
    "crossed": ("on_nmi", ["on_nmi", "NMI_Handler", "EXC_RETURN", "crash~", "HardFault_Handler", "EXC_RETURN",
                           "victim~!", "reset"], [6]),
}


def check_guesses(text, wanted, guesses):
    """The frames are WANTED, and those with these numbers are guesses."""
    check(text, wanted)
    found = [int(number) for number in re.findall(r"^\s*#(\d+) .*\[guessed\]", text, re.M)]
    must(found == guesses and ("not proven" in text) == bool(guesses), f"guessed {found}, not {guesses}: {text[-400:]}")


def late(board, image, where):
    """A handler runs before that of the fault by which the CPU could not push: the machine itself says so."""
    function, wanted, guesses = LATE[where]
    check_guesses(in_handler(board, image, where, function=function), wanted, guesses)


def late_dump(board, image, where):
    """The firmware's own dump says so, too: it begins with what the CPU could not push, or with what has come over
    that."""
    log = log_of(board, image, where)
    must(re.search("sfu2 0+ begin", log), log[-300:])
    wanted = ["EXC_RETURN", "fail~", *INTERRUPT[1:], *LATE[where][1][4:]] if where == "pending" else LATE[where][1][2:]
    text = trace(image, text=log)
    check(text, wanted, "trace ends (1): end of the stack: the outermost frame; guessed frames are not proven")
    must(re.search(r"#1 .*\[guessed\]", text), text[-400:])


def dump_here(board, image, where, guessed):
    """A handler dumps itself. A dump that lacks the System Control Block does not say whether the CPU has pushed what
    the handler has interrupted."""
    text = trace(image, text=log_of(board, image, where))
    wanted = ["dump_here", "SysTick_Handler", "EXC_RETURN", *(["victim~!", "reset"] if "lost" in where else
                                                              ["work~!", "task"])]
    check_guesses(text, wanted, [3] if guessed else [])


# Of a System Control Block: the architecture's bits, whatever this machine does.
M4, M0 = 0x410fc240, 0x410cc200
PUSH = {"MSTKERR": 1 << 4, "STKERR": 1 << 12, "STKOF": 1 << 20, "MUNSTKERR": 1 << 3, "UNSTKERR": 1 << 11,
        "INVPC": 1 << 18}


def copied(board, image, where, function):
    """The words of a command that traces a copy of the memory in FUNCTION, and reads CONTROL."""
    copy = f"{WORK}/{board}-{where}.ram"
    regs = in_handler(board, image, where, function=function, copy=copy)

    def run(control, size=256):
        with open(f"{copy}.control", "wb") as f:
            f.write(b"".join(struct.pack("<I", control.get(at, 0)) for at in range(0, size, 4)))
        return trace(f"--memory={copy}@{BOARDS[board][2]:#x},{copy}.control@0xe000ed00", f"--regs={regs}", image)
    return run


def bits(board, image):
    """In SysTick's handler: what it has interrupted is a guess if the CPU could not push something, and the handler of
    a fault may wait."""
    run = copied(board, image, "interrupt", "fail")
    wanted = [*INTERRUPT, "work~!", "task"]

    def case(name, guessed, control, size=256):
        try:
            check_guesses(run(control, size), wanted, [4] if guessed else [])
        except Wrong as wrong:
            raise Wrong(f"{name}: {wrong}") from None

    for name, cfsr in PUSH.items():
        case(f"{name}, none waits", False, {0: M4, 4: 15, 0x28: cfsr})
        for waits in (12, 13, 14, 20, 21):
            case(f"{name}, SHCSR bit {waits}", True, {0: M4, 4: 15, 0x24: 1 << waits, 0x28: cfsr})
    for number in range(2, 8):
        case(f"{number} waits", True, {0: M4, 4: 15 | number << 12, 0x28: 1 << 4})
        case(f"{number} waits, pushed", False, {0: M4, 4: 15 | number << 12, 0x28: 0})
        case(f"{number} waits, Cortex-M0, MPU", True, {0: M0, 4: 15 | number << 12, 0x94: 1})
        case(f"{number} waits, Cortex-M0", False, {0: M0, 4: 15 | number << 12})
    for number in (11, 14, 15, 16, 0x104):  # whose low bits are those of a fault
        case(f"{number} waits", False, {0: M4, 4: 15 | number << 12, 0x28: 1 << 4})
        case(f"{number} waits, Cortex-M0, MPU", False, {0: M0, 4: 15 | number << 12, 0x94: 1})
    case("registers saved late", False, {0: M4, 4: 15, 0x24: 1 << 13, 0x28: 1 << 5 | 1 << 13})
    case("handler at work", False, {0: M4, 4: 15, 0x24: 1, 0x28: 1 << 4})  # SysTick's own frame is not that
    case("SFSR", True, {0: M4, 4: 15, 0x24: 1 << 20, 0xe4: 1 << 2})
    for size in (4, 8, 0x24):
        case(f"{size:#x} bytes", True, {0: M4, 4: 15}, size)
    case("no CFSR", True, {0: M4, 4: 15, 0x24: 1 << 13}, 0x28)
    case("no MPU_CTRL", True, {0: M0, 4: 15, 0x24: 1 << 13}, 0x94)


def bits_below(board, image):
    """In an NMI's handler, which has come into that of HardFault: the second exception is a guess."""
    run = copied(board, image, "crossed", "on_nmi")
    wanted = LATE["crossed"][1]
    for control, guesses in (({0: M4, 4: 2, 0x28: 0}, []), ({0: M4, 4: 2, 0x28: 1 << 4}, [6]),
                             ({0: M4, 4: 2, 0x24: 4, 0x28: 1 << 20}, [6]),
                             ({0: M4, 4: 15, 0x24: 1, 0x28: 1 << 12}, [6]),
                             ({0: M4, 4: 15, 0x28: 1 << 12}, []),
                             ({0: M4, 4: 2 | 3 << 12, 0x28: 1 << 12}, [3, 6]),
                             ({0: M4, 4: 3, 0x28: 1 << 12}, [3]),
                             ({0: M0, 4: 2, 0x94: 1}, [6]), ({0: M0, 4: 2}, [])):
        check_guesses(run(control), wanted, guesses)


def wait_for(port):
    end = time.monotonic() + LIMIT
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            must(time.monotonic() < end, "no stub")
            time.sleep(0.1)


def stopped(board, image):
    """In fail, by gdb, which copies the memory: sfu-trace behind the stub, then of that copy. The firmware itself says
    what the process stack pointer is."""
    low, size = BOARDS[board][2:]
    port, copy = free_port(), f"{WORK}/{board}.ram"
    process = machine(board, image, "interrupt", "-S", "-gdb", f"tcp:127.0.0.1:{port}")
    try:
        wait_for(port)
        words = ["set pagination off", f"target remote 127.0.0.1:{port}", "hbreak SysTick_Handler", "hbreak fail",
                 "continue", 'printf "EXC %x\\n", $lr', "continue",
                 'printf "PC %x SP %x FP %x RA %x\\n", $pc, $sp, $r7, $lr',
                 f"dump binary memory {copy} {low} {low + size}", "disconnect"]
        said = subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", *[w for word in words for w in ("-ex", word)],
                               image], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT,
                              check=False).stdout
        m = re.search(r"PC (\w+) SP (\w+) FP (\w+) RA (\w+)", said)
        must(m and "EXC fffffffd" in said, said[-400:])
        text = trace(f"--gdb=127.0.0.1:{port}", image)
    finally:
        process.kill()
        process.communicate()
    check(text, INTERRUPT, "trace ends (-25)")
    psp = int(re.search(r"psp 0x(\w+)", log_of(board, image, "interrupt"))[1], 16)
    text = trace(f"--memory={copy}@{low:#x}",
                 "--regs=pc=0x%s,sp=0x%s,fp=0x%s,ra=0x%s,psp=%#x" % (*m.groups(), psp), image)
    check(text, INTERRUPT + ["work~!", "task"])
    must("[guessed]" in text and "not proven" in text, "proven, though the handler may be that of a fault")
    with open(f"{copy}.control", "wb") as f:
        f.write(struct.pack("<II", 0x410cc601, 15).ljust(256, b"\0"))  # CPUID, ICSR: in SysTick
    text = trace(f"--memory={copy}@{low:#x},{copy}.control@0xe000ed00",
                 "--regs=pc=0x%s,sp=0x%s,fp=0x%s,ra=0x%s,psp=%#x" % (*m.groups(), psp), image)
    check(text, INTERRUPT + ["work~!", "task"])
    must("[guessed]" not in text, text[-300:])
    # An EXC_RETURN of the other TrustZone state (DDI 0553: S differs from ES), whose stacks are others.
    with open(copy, "r+b") as f:
        memory = f.read()
        must(memory.count(b"\xfd\xff\xff\xff") == 1, "more than one EXC_RETURN")
        f.seek(memory.index(b"\xfd\xff\xff\xff"))
        f.write(b"\xbd")
    text = trace(f"--memory={copy}@{low:#x}",
                 "--regs=pc=0x%s,sp=0x%s,fp=0x%s,ra=0x%s,psp=%#x" % (*m.groups(), psp), image)
    check(text, INTERRUPT, "trace ends (-25)")
    must("psp is not known" not in text, text[-300:])


# ---- Dumps that other systems print, of what gdb reads of the machine ----

REGISTERS = [*(f"r{n}" for n in range(13)), "sp", "lr", "pc", "xpsr"]
PREFIX = "[00:00:00.010,000] <err> os: "


def captured(board, image, where):
    """{register: value} in fail, and (address, the bytes from SP up)."""
    low, size = BOARDS[board][2:]
    port, copy = free_port(), f"{WORK}/{board}.ram"
    process = machine(board, image, where, "-S", "-gdb", f"tcp:127.0.0.1:{port}")
    try:
        wait_for(port)
        words = ["set pagination off", f"target remote 127.0.0.1:{port}", "hbreak fail", "continue",
                 *(f'printf "{name} %x\\n", ${name}' for name in REGISTERS),
                 f"dump binary memory {copy} {low} {low + size}", "disconnect"]
        said = subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", *[w for word in words for w in ("-ex", word)],
                               image], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT,
                              check=False).stdout
    finally:
        process.kill()
        process.communicate()
    values = {name: int(re.search(rf"(?m)^{name} (\w+)$", said)[1], 16) for name in REGISTERS}
    with open(copy, "rb") as f:
        memory = f.read()
    return values, (values["sp"], memory[values["sp"] - low:])


def zephyr(values, memory, version=3, known=1, crc=False, target=3):
    """The lines of Zephyr's core dump: header, registers, threads, memory in two blocks, check."""
    first, second = memory[1][:101], memory[1][101:]
    regs = [values[name] for name in ("r0", "r1", "r2", "r3", "r12", "lr", "pc", "xpsr", "sp")]
    if version > 1:
        regs += [values[f"r{n}"] if known else 0 for n in range(4, 12)]
    if version > 2:
        regs += [known, 0]
    data = b"ZE" + struct.pack("<HHBBI", 2, target, 5, int(crc), 0)
    data += b"A" + struct.pack("<HH", version, 4 * len(regs)) + struct.pack(f"<{len(regs)}I", *regs)
    data += b"T" + struct.pack("<HH", 1, 5) + b"12345"
    for at, block in (memory[0], first), (memory[0] + len(first), second):
        data += b"M" + struct.pack("<HII", 1, at, at + len(block)) + block
    if crc:
        data += b"C" + struct.pack("<HI", 1, zlib.crc32(data))
    lines = [data[at:at + 32].hex() for at in range(0, len(data), 32)]
    return "".join(f"{PREFIX}#CD:{line}\n" for line in ["BEGIN#", *lines, "END#"]) + PREFIX + "Halting system\n"


def from_zephyr(board, image):
    values, memory = captured(board, image, "task")
    for how in ({"version": 1}, {"version": 2}, {"version": 3}, {"known": 0}, {"crc": True}):
        check(trace(image, text=zephyr(values, memory, **how)), ["fail", *TASK])
    good = zephyr(values, memory, crc=True)
    for text, why in ((good.replace("#CD:4d0100", "#CD:4d0101", 1) if "#CD:4d0100" in good else
                       re.sub("(#CD:.{30})0", r"\g<1>1", good, count=4), ""),
                      (good[:good.index("#CD:END")], "it has no end"),
                      (zephyr(values, memory, version=4), "its registers are of another version"),
                      (zephyr(values, memory, target=4), "the image is of another CPU"),
                      (zephyr(values, memory, target=5), "it is of a CPU that sfu does not unwind")):
        said = trace(image, text=text)
        must("cannot be used: " + why in said and not frames(said), f"{why}: {said[-300:]}")
    check(trace(image, text=zephyr(*captured(board, image, "interrupt"))), INTERRUPT, "trace ends (-25)")


def nuttx(values, memory, prefix, zero_x="0x"):
    """What up_dump_register and stack_dump print, with what stands between."""
    rows = [("R0", "r0", "R1", "r1", "R2", "r2", " R3", "r3"), ("R4", "r4", "R5", "r5", "R6", "r6", " FP", "r7"),
            ("R8", "r8", "SB", "r9", "SL", "r10", "R11", "r11"), ("IP", "r12", "SP", "sp", "LR", "lr", " PC", "pc")]
    lines = ["up_dump_register: " + " ".join(f"{name}: {values[reg]:08x}" for name, reg in zip(row[::2], row[1::2]))
             for row in rows]
    lines += ["up_dump_register: xPSR: %08x BASEPRI: 00000000 CONTROL: 00000000" % values["xpsr"],
              "up_dump_register: EXC_RETURN: fffffffd", "dump_stackinfo: User Stack:",
              f"dump_stackinfo:   base: {zero_x}{memory[0] - 64:08x}", "dump_stackinfo:   size: 00002048",
              f"dump_stackinfo:     sp: {zero_x}{memory[0]:08x}"]
    top = memory[0] + len(memory[1])
    whole = b"\xa5" * 32 + memory[1] + bytes(32)
    for at in range(memory[0] - 32, top + 1, 32):
        words = struct.unpack_from("<8I", whole, at - memory[0] + 32)
        lines.append(f"stack_dump: {zero_x}{at:08x}: " + " ".join(f"{word:08x}" for word in words))
    return "".join(prefix + line + "\n" for line in lines)


def from_nuttx(board, image):
    values, memory = captured(board, image, "task")
    for prefix, zero_x in (("[   26.6450] [237] [ap] ", "0x"), ("", "")):
        for behind in ("", "dump_tasks:    PID GROUP PRI POLICY\n"):
            check(trace(image, text=nuttx(values, memory, prefix, zero_x) + behind), ["fail", *TASK])
    twice = nuttx(values, memory, "") * 2
    check(trace(image, text=twice), ["fail", *TASK] * 2)
    # An assertion: PC is what LR was, with its bit of Thumb code.
    values = dict(values, pc=values["lr"])
    check(trace(image, text=nuttx(values, memory, "")), TASK)


def hostile(board, image):
    """Lines that are cut, doubled, or have other digits, under the sanitizers."""
    chance = random.Random(20261125)
    values, memory = captured(board, image, "task")
    for turn in range(40):
        lines = (zephyr(values, memory, crc=turn % 4 == 0) if turn % 2 else nuttx(values, memory, "a: ")).splitlines()
        for _ in range(chance.randint(1, 4)):
            n = chance.randrange(len(lines))
            at = chance.randrange(len(lines[n]) + 1)
            lines[n:n + 1] = chance.choice([[], [lines[n]] * 2, [lines[n][:at]], [lines[n][:at] + chance.choice(
                "0f: #M") + lines[n][at + 1:]]])
        done = subprocess.run([SANITIZED, image], input="\n".join(lines), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT, check=False)
        must(done.returncode == 0 and "Sanitizer" not in done.stdout and "runtime error" not in done.stdout,
             f"turn {turn}: status {done.returncode}: {done.stdout[-400:]}")


os.makedirs(WORK, exist_ok=True)
for name in BOARDS:
    built = build(name)
    tests = {f"{name}/dump/{where}": (dumped, where) for where in ("task", "interrupt", "fpu")}
    tests |= {f"{name}/small dump/{where}": (small, where) for where in ("task", "interrupt")}
    tests[f"{name}/dump/without-psp"] = (without_psp,)
    tests[f"{name}/dump/wrong-return"] = (wrong_return,)
    tests[f"{name}/dump/null-call"] = (called_null,)
    tests[f"{name}/dump/jump"] = (jumped,)
    tests[f"{name}/dump/left"] = (left,)
    tests[f"{name}/stopped"] = (stopped,)
    tests[f"{name}/halted/task"] = (halted, "task", False)
    tests[f"{name}/halted/wrong"] = (halted, "wrong", True)
    tests[f"{name}/zephyr"] = (from_zephyr,)
    tests[f"{name}/nuttx"] = (from_nuttx,)
    tests[f"{name}/bits"] = (bits,)
    tests[f"{name}/dump here/here"] = (dump_here, "here", True)
    tests[f"{name}/dump here/scb"] = (dump_here, "scb", False)
    if name == "mps2-an386":
        tests |= {f"{name}/late/{where}": (late, where) for where in LATE}
        tests |= {f"{name}/late dump/{where}": (late_dump, where) for where in LATE}
        for where in ("here-lost", "scb-lost"):
            tests[f"{name}/dump here/{where}"] = (dump_here, where, True)
        tests[f"{name}/bits/below"] = (bits_below,)
        tests[f"{name}/halted/overflow"] = (halted, "overflow", True)
        tests[f"{name}/described"] = (described,)
        tests[f"{name}/hostile"] = (hostile,)
    else:
        for on in (0, 1):  # the registers of a Cortex-M0+: its MPU is off, or on
            tests[f"{name}/halted/mpu-{on}"] = (halted, "task", on == 1, {0: 0x410cc601, 4: 3, 0x94: on})
    for title, (function, *arguments) in tests.items():
        test(title, function, name, built, *arguments)
finish()

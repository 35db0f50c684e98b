#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""cortexm_trace.py: sfu-trace of firmware for a Cortex-M that has no tables on board. Prints a line for each test.

cortexm/dump.c crashes on two boards of QEMU, with an FPU and without, and prints its registers and stacks. What it was
doing is known from its source. The same machines are traced behind QEMU's gdb stub, whose registers lack the process
stack pointer, and from a copy of their memory.
"""
import fnmatch
import os
import re
import socket
import subprocess
import sys
import time

WORK = "build/host/work/cortexm_trace"
TRACE = "build/tools/sfu-trace"
LIMIT = 60
BOARDS = {
    "mps2-an386": (["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"], "mps2.ld", 0x20000000, 0x4000),
    "microbit": (["-mcpu=cortex-m0", "-mfloat-abi=soft"], "microbit.ld", 0x20000000, 0x2000),
}
SOURCES = ["sfu.c", "port/print/sfu_print.c", "port/print/sfu_dump.c", "port/cortexm/sfu_cortexm.c",
           "port/baremetal/cortexm/start.c", "port/host/test/cortexm/dump.c"]
TASK = ["work", "task"]
INTERRUPT = ["fail", "read_sensor", "SysTick_Handler", "EXC_RETURN"]  # then what was interrupted


class Wrong(Exception):
    pass


def must(condition, what):
    if not condition:
        raise Wrong(what)


def build(board):
    flags, script = BOARDS[board][:2]
    image = f"{WORK}/{board}.elf"
    subprocess.run(["arm-none-eabi-gcc", *flags, "-mthumb", "-std=c11", "-Os", "-g", "-ffreestanding",
                    "-ffunction-sections", "-fdata-sections", "-fno-optimize-sibling-calls", "-DSFU_ABI=SFU_THUMB",
                    "-DSFU_OLDEST_VERSION=3", "-DSFU_NO_REMOTE", "-I.", "-Iarch", "-Iport/print", "-Iport/cortexm",
                    "-Iport/baremetal/cortexm", "-nostdlib", "-Wl,--gc-sections,-z,noexecstack",
                    "-Lport/baremetal/cortexm", "-T" + script, *SOURCES, "-lgcc", "-o", image], check=True)
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
        name = name or ("EXC_RETURN" if int(pc, 16) >> 8 == 0xffffff else "??")
        found.append(name + "~" * ("[interrupted]" in marks) + "!" * ("[stack switch]" in marks))
    return found


def check(text, wanted, end="trace ends (1)"):
    must(frames(text) == wanted and end in text, f"{frames(text)} instead of {wanted}: {text[-200:]}")


def trace(*words, text=None):
    return subprocess.run([TRACE, *words], input=text, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=LIMIT, check=False).stdout


def dumped(board, image, where):
    log = log_of(board, image, where)
    must("sfu2 00 begin" in log, log[-300:])
    wanted = ["fail", *TASK] if where == "task" else INTERRUPT + ["work~!", "task"]
    check(trace(image, text=log), wanted)


def without_psp(board, image):
    """A dump that lacks the process stack pointer says what is missing, and guesses nothing."""
    log = "".join(line for line in log_of(board, image, "interrupt").splitlines(True) if " r psp " not in line)
    text = trace(image, text=log)
    check(text, INTERRUPT, "trace ends (-25)")
    must("psp is not known" in text, text[-300:])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def stopped(board, image):
    """In fail, by gdb, which copies the memory: sfu-trace behind the stub, then of that copy. The firmware itself says
    what the process stack pointer is."""
    low, size = BOARDS[board][2:]
    port, copy = free_port(), f"{WORK}/{board}.ram"
    process = machine(board, image, "interrupt", "-S", "-gdb", f"tcp:127.0.0.1:{port}")
    try:
        end = time.monotonic() + LIMIT
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                must(time.monotonic() < end, "no stub")
                time.sleep(0.1)
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


failed = False
os.makedirs(WORK, exist_ok=True)
for name in BOARDS:
    built = build(name)
    tests = {f"{name}/dump/{where}": (dumped, where) for where in ("task", "interrupt", "fpu")}
    tests[f"{name}/dump/without-psp"] = (without_psp,)
    tests[f"{name}/stopped"] = (stopped,)
    for test, (function, *arguments) in tests.items():
        chosen = os.environ.get("T", "")
        if chosen not in test and not fnmatch.fnmatchcase(test, f"*{chosen}*"):
            continue
        try:
            function(name, built, *arguments)
            print("ok " + test, flush=True)
        except (Wrong, OSError, LookupError, subprocess.SubprocessError) as wrong:
            failed = True
            print(f"not ok {test}: {wrong}", flush=True)
sys.exit(failed)

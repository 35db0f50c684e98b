#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""pasted.py pasted: sfu-trace of what people paste: registers and stacks as other systems print them. Prints a line for
each test.

A program for each CPU is stopped by gdb in QEMU; its registers and its stack are then printed in the shape of each
system, made up here. Which functions it was in is known from its source."""
import base64
import functools
import html
import json
import os
import quopri
import random
import re
import struct
import subprocess
import textwrap
import time

from host import LONG, WORK, Wrong, finish, must, read, test, write
from traces import SANITIZED, TRACE, free_port, names_of_frames, run

SOURCE = """
typedef long word;
__attribute__((noinline)) word leaf(word x) { __asm__ volatile("nop" : "+r"(x)); return x + 1; }
__attribute__((noinline)) word fourth(word x) { word y = leaf(x); __asm__ volatile("" : "+r"(y)); return y + 2; }
__attribute__((noinline)) word third(word x) { word y = fourth(x); __asm__ volatile("" : "+r"(y)); return y + 3; }
__attribute__((noinline)) word second(word x) { volatile word a[9]; a[x & 7] = third(x); return a[x & 7] + 4; }
__attribute__((noinline)) word first(word x) { word y = second(x); __asm__ volatile("" : "+r"(y)); return y + 5; }
void start(void) { first(2); for (;;) continue; }
"""
CHAIN = ["leaf", "fourth", "third", "second", "first", "start"]
CPUS = {
    "x86_64": (["gcc", "-fcf-protection=none", "-fno-pic", "-no-pie"], "qemu-x86_64",
               ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", *("r%d" % n for n in range(8, 16)), "rip"]),
    "aarch64": (["aarch64-linux-gnu-gcc", "-fno-pic", "-no-pie"], "qemu-aarch64",
                [*("x%d" % n for n in range(31)), "sp", "pc"]),
    "riscv64": (["riscv64-unknown-elf-gcc", "-march=rv64imac", "-mabi=lp64"], "qemu-riscv64",
                [*"zero ra sp gp tp t0 t1 t2 fp s1".split(), *("a%d" % n for n in range(8)),
                 *("s%d" % n for n in range(2, 12)), "t3", "t4", "t5", "t6", "pc"]),
    "riscv32": (["riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32"], "qemu-riscv32",
                [*"zero ra sp gp tp t0 t1 t2 fp s1".split(), *("a%d" % n for n in range(8)),
                 *("s%d" % n for n in range(2, 12)), "t3", "t4", "t5", "t6", "pc"]),
    "thumb": (["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb"], "qemu-arm",
              [*("r%d" % n for n in range(13)), "sp", "lr", "pc", "xpsr"]),
    "arm": (["arm-none-eabi-gcc", "-mcpu=cortex-a7", "-marm"], "qemu-arm",
            [*("r%d" % n for n in range(13)), "sp", "lr", "pc", "cpsr"]),
    "i386": (["gcc", "-m32", "-fcf-protection=none", "-fno-pic", "-no-pie"], "qemu-i386",
             ["eax", "ecx", "edx", "ebx", "esi", "edi", "ebp", "esp", "eip"]),
    "s390x": (["s390x-linux-gnu-gcc", "-fno-pic", "-no-pie", "-march=z196"], "qemu-s390x",
              [*("r%d" % n for n in range(16)), "pc"]),
}


UNWIND = (["-fasynchronous-unwind-tables"], ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables"])


class Stopped:
    """A program of CPU that has stopped in leaf: its registers by gdb's names, and its stack from SP on."""

    def __init__(self, cpu, source=SOURCE, image=None, flags=("-O1",)):
        compiler, qemu, registers = CPUS[cpu]
        self.cpu, self.image = cpu, "%s/%s.elf" % (WORK, image or cpu)
        self.word = 4 if cpu in ("i386", "riscv32", "thumb", "arm") else 8
        write(WORK + "/stopped.c", source.encode())
        run(*compiler, "-g", *flags, "-ffreestanding", "-nostdlib", "-static", *UNWIND[cpu in ("arm", "thumb")],
            "-Wl,-estart,-Ttext=0x%x" % (0x42000000 if self.word == 4 else 0x100000), WORK + "/stopped.c", "-o",
                self.image)
        port = free_port()
        with subprocess.Popen([qemu, "-g", str(port), self.image], stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            try:
                said = self.ask(port, registers)
            finally:
                process.kill()
        self.values = {name: int(value, 16) for name, value in re.findall(r"(?m)^(\w+)=(\w+)$", said)}
        self.pc = self.values[{"x86_64": "rip", "i386": "eip"}.get(cpu, "pc")]
        self.sp = self.values[{"x86_64": "rsp", "i386": "esp", "s390x": "r15"}.get(cpu, "sp")]
        self.memory = read(WORK + "/stopped.stack")

    def ask(self, port, registers):
        words = ["set pagination off", "target remote localhost:%d" % port, "break leaf", "continue", "stepi"]
        words += ['printf "%s=%%lx\\n", (unsigned long)$%s' % (name, name) for name in registers if name != "xpsr"]
        words += ["dump binary memory %s/stopped.stack $sp $sp+%d" % (WORK, 1024 if self.cpu == "s390x" else 320)]
        for _ in range(50):
            said = subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", *[w for word in words for w in ("-ex",
                word)],
                                   self.image], capture_output=True, check=False, text=True, timeout=60)
            if "=" in said.stdout:
                return said.stdout
            time.sleep(0.1)
        raise Wrong("gdb: " + said.stderr[-300:])

    def words(self, size=None):
        """(address, word) of the stack, of SIZE bytes each."""
        size = size or self.word
        found = struct.unpack("%s%d%s" % (">" if self.cpu == "s390x" else "<", len(self.memory) // size,
                                          "I" if size == 4 else "Q"), self.memory)
        return [(self.sp + size * n, word) for n, word in enumerate(found)]

    def rows(self, form, word, each, size=None, above=0):
        """Lines of EACH words: FORM of the address, then each as WORD."""
        words = self.words(size)
        return [form % words[at][0] + " ".join(word % value for _, value in words[at:at + each])
                for at in range(0, len(words) - each + 1, each)]


def pairs(values, form, each, sep="  "):
    """Lines of EACH registers. VALUES: (name, value)."""
    items = [form % item for item in values]
    return [sep.join(items[at:at + each]) for at in range(0, len(items), each)]


# ---- systems ----

def esp_idf(s):
    v = s.values
    order = [("MEPC", v["pc"]), ("RA", v["ra"]), ("SP", v["sp"]), ("GP", v["gp"]), ("TP", v["tp"])]
    order += [(n.upper(), v[n]) for n in ("t0", "t1", "t2")] + [("S0/FP", v["fp"]), ("S1", v["s1"])]
    order += [(n.upper(), v[n]) for n in [*("a%d" % i for i in range(8)), *("s%d" % i for i in range(2, 12)),
                                          "t3", "t4", "t5", "t6"]]
    order += [("MSTATUS", 0x1881), ("MTVEC", 0x40380001), ("MCAUSE", 5), ("MTVAL", 0), ("MHARTID", 0)]
    return ["Guru Meditation Error: Core  0 panic'ed (Load access fault). Exception was unhandled.", "",
            "Core  0 register dump:", *pairs(order, "%-8s: 0x%08x", 4), "", "Stack memory:",
            *s.rows("%08x: ", "0x%08x", 8), "", "ELF file SHA256: 0123456789abcdef", "", "Rebooting..."]


def nuttx_riscv(s, width="%x"):
    v = s.values
    lines = ["EPC: " + width % v["pc"]]
    for row in ("a0 a1 a2 a3", "a4 a5 a6 a7", "t0 t1 t2 t3", "t4 t5 t6", "fp s1 s2 s3", "s4 s5 s6 s7", "s8 s9 s10 s11"):
        lines.append(" ".join("%s: " % ("S0" if n == "fp" else n.upper()) + width % v[n] for n in row.split()))
    lines.append(" ".join("%s: " % n.upper() + width % v[n] for n in ("sp", "fp", "tp", "ra")))
    lines = ["up_dump_register: " + line for line in lines]
    lines += ["dump_stackinfo: User Stack:", "dump_stackinfo:   base: 0x%x" % (s.sp - 64),
        "dump_stackinfo:   size: 00004040",
              "dump_stackinfo:     sp: 0x%x" % s.sp]
    lines += ["stack_dump: " + line for line in s.rows("0x%x: ", "%08x", 8, 4)]
    return lines + ["dump_tasks:    PID GROUP PRI POLICY   TYPE    NPX STATE   EVENT      SIGMASK          STACKBASE"]


def nuttx_old(s):
    v = s.values
    row = " ".join("%s:%08x" % (n.upper(), v[n]) for n in ("sp", "fp", "tp", "ra"))
    return ["[    4.649000] [ EMERG] riscv_registerdump: " + line for line in
            ["EPC:%08x " % v["pc"], " ".join("%s:%08x" % (n.upper(), v[n]) for n in ("a0", "a1", "s1", "s2")), row]] + [
        "[    4.65] [ EMERG] riscv_stackdump: " + line for line in s.rows("%08x: ", "%08x", 8, 4)]


def zephyr_riscv(s):
    v = s.values
    lines = ["", " mcause: 5, Load access fault", "  mtval: 0"]
    lines += ["     a%d: %016x    t%d: %016x" % (n, v["a%d" % n], n, v["t%d" % n]) for n in range(7)]
    lines += ["     sp: %016x" % v["sp"], "     ra: %016x" % v["ra"], "   mepc: %016x" % v["pc"],
              "mstatus: 0000000a00021880", "", "     s0: %016x    s6: 0000000000000000" % v["fp"], "", "call trace:",
              "      0: sp: %016x ra: %016x" % (v["sp"], v["ra"]), ""]
    return ["[00:00:00.020,000] <err> os: " + line for line in lines]


def zephyr_core(s, target, version, regs, bits):
    letter = "I" if bits == 5 else "Q"
    data = b"ZE" + struct.pack("<HHBBI", 2, target, bits, 0, 0)
    data += b"A" + struct.pack("<HH", version, struct.calcsize(letter) * len(regs))
    data += struct.pack("<%d%s" % (len(regs), letter), *regs)
    data += b"M" + struct.pack("<H2" + letter, 1, s.sp, s.sp + len(s.memory)) + s.memory
    return ["E: #CD:" + line for line in ["BEGIN#", *(data[at:at + 32].hex() for at in range(0, len(data), 32)),
        "END#"]]


def zephyr_core_riscv(s):
    order = ["zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", *("a%d" % n for n in range(8)),
             *("s%d" % n for n in range(2, 12)), "t3", "t4", "t5", "t6", "pc"]
    return zephyr_core(s, 4, 4 if s.word == 8 else 3, [s.values[n] for n in order], 6 if s.word == 8 else 5)


def zephyr_core_old_riscv(s):
    order = ["ra", "tp", "t0", "t1", "t2", *("a%d" % n for n in range(8)), "t3", "t4", "t5", "t6", "pc", "sp"]
    return zephyr_core(s, 4, 2 if s.word == 8 else 1, [s.values[n] for n in order], 6 if s.word == 8 else 5)


def zephyr_core_arm64(s):
    regs = [s.values["x%d" % n] for n in range(19)] + [s.values["x30"], 0, s.pc, s.values["x29"], s.sp]
    return zephyr_core(s, 6, 2, regs, 6)


def zephyr_core_x86_64(s):
    v = s.values
    regs = [14, 0] + [v[n] for n in "rax rcx rdx rsi rdi rsp r8 r9 r10 r11 rip".split()] + [0x246, 8, 16, v["rbp"]]
    return zephyr_core(s, 2, 1, regs, 6)


def opensbi(s):
    v = s.values
    order = [("mcause", 2), ("mtval", 0), ("mepc", v["pc"]), ("mstatus", 0xa00001800), ("ra", v["ra"]), ("sp", v["sp"]),
             ("gp", v["gp"]), ("tp", v["tp"]), ("s0", v["fp"]), ("s1", v["s1"]), ("a0", v["a0"]), ("a1", v["a1"])]
    prefix = "sbi_trap_error: hart0: trap0: "
    return ["", prefix + "illegal instruction handler failed (error -2)"] + [
        prefix + line for line in pairs(order, "%s=0x%016x", 2, " ")]


def uboot_riscv(s):
    v = s.values
    return ["Unhandled exception: Load access fault", "EPC: %016x RA: %016x TVAL: 0000000000000010" % (
        v["pc"] + 0x7000000, v["ra"] + 0x7000000), "EPC: %016x RA: %016x reloc adjusted" % (v["pc"], v["ra"]), "",
        "SP:  %016x GP:  %016x TP:  %016x" % (v["sp"], v["gp"], v["tp"]), "", "Code: 4501 8082", "", "resetting ..."]


def uboot_arm64(s):
    v = s.values
    return ['"Synchronous Abort" handler, esr 0x96000010, far 0x0', "elr: %016x lr : %016x (reloc)" % (v["pc"],
        v["x30"]),
            "elr: %016x lr : %016x" % (v["pc"] + 0x3000000, v["x30"] + 0x3000000)] + pairs(
                [("x%d" % n, v["x%d" % n]) for n in range(30)], "%-3s: %016x", 2, " ") + ["", "Resetting CPU ..."]


def edk2_arm64(s):
    v = s.values
    regs = [("X%d" % n, v["x%d" % n]) for n in range(29)] + [("FP", v["x29"]), ("LR", v["x30"])]
    return ["", "Synchronous Exception at 0x%016x" % v["pc"], "", *pairs(regs, "%4s 0x%016x", 4, "  "), "",
            "  V0 0x%016x %016x   V1 0x%016x %016x" % (1, 2, 3, 4), "",
            "  SP 0x%016x  ELR 0x%016x  SPSR 0x60000205  FPSR 0x00000000" % (v["sp"], v["pc"]),
            " ESR 0x96000046          FAR 0x0000000000000000", "", " ESR : EC 0x25  IL 0x1  ISS 0x00000046", "",
            "Data abort: Translation fault, second level", "", "Stack dump:",
            *["%s %s" % (">" if n == 0 else " ", line) for n, line in enumerate(s.rows("%013x: ", "%016x", 4))]]


def edk2_x64(s):
    v = s.values
    at = lambda *list: ", ".join("%-4s - %016X" % (n.upper(), v[n]) for n in list)
    return ["!!!! X64 Exception Type - 0E(#PF - Page-Fault)  CPU Apic ID - 00000000 !!!!",
            "ExceptionData - 0000000000000002  I:0 R:0 U:0 W:1 P:0 PK:0 SS:0 SGX:0",
            "RIP  - %016X, CS  - 0000000000000038, RFLAGS - 0000000000010246" % v["rip"], at("rax", "rcx", "rdx"),
            at("rbx", "rsp", "rbp"), at("rsi", "rdi"), at("r8", "r9", "r10"), at("r11", "r12", "r13"), at("r14", "r15"),
            "DS   - 0000000000000030, ES  - 0000000000000030, FS  - 0000000000000030",
            "CR0  - 0000000080010033, CR2 - 0000000000000000, CR3 - 000000000FC01000",
            "GDTR - 000000000F9DC000 0000000000000047, LDTR - 0000000000000000",
            "FXSAVE_STATE - 000000000FE9B1F0"]


def tfa(s):
    v = s.values
    return ["Unhandled Exception in EL3.", "x30            = 0x%016x" % v["x30"]] + [
        "x%-13d = 0x%016x" % (n, v["x%d" % n]) for n in range(30)] + [
            "scr_el3        = 0x0000000000000238", "elr_el3        = 0x%016x" % v["pc"],
                "sp_el0         = 0x%016x" % v["sp"]]


def xen(s):
    v = s.values
    regs = pairs([(n, v[n]) for n in "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split()],
                 "%s: %016x", 3, "   ")
    return ["(XEN) " + line for line in
            ["----[ Xen-4.17  x86_64  debug=y  Not tainted ]----", "CPU:    0",
                "RIP:    e008:[<%016x>] leaf+0x0/0x5" % v["rip"],
             "RFLAGS: 0000000000010246   CONTEXT: hypervisor", *regs, "Xen stack trace from rsp=%016x:" % v["rsp"],
             *s.rows("   %.0s", "%016x", 4), "Xen call trace:", "   [<%016x>] R leaf+0x0/0x5" % v["rip"]]]


def coreboot_arm64(s):
    v = s.values
    return ["exception _sync_sp_elx", "ELR = 0x%016x         ESR = 0x0000000096000045" % v["pc"],
            "FAR = 0x0000000000000000         SPSR = 0x00000000600003c9", *pairs(
                [("X%02d" % n, v["x%d" % n]) for n in range(30)], "%s = 0x%016x", 2, "         "),
            "X30 = 0x%016x         SP = 0x%016x" % (v["x30"], v["sp"]), "Dumping stack:", *s.rows("0x%x: ", "%016x", 4)]


def acrn(s):
    v = s.values
    regs = [(n.upper(), v[n]) for n in "rax rbx rcx rdx rdi rsi rsp rbp r8 r9 r10 r11 r12 r13 r14 r15".split()]
    return ["= Unhandled exception: 0 (Divide Error)", "Host Registers:",
        "=  Vector=0x0000000000000000  RIP=0x%016X" % v["rip"],
            *["= " + line for line in pairs(regs, "%4s=0x%016X", 3)], "", "Host Stack: CPU_ID = 0",
            *s.rows("addr(0x%x)   ", "0x%016x", 4)]


def boxed(s):
    v = s.values
    return ["panic!", *["│ %s │" % line for line in pairs([(n,
        v[n]) for n in "rax rbx rcx rdx rsi rdi rbp rsp".split()],
                                                          "%-3s. 0x%016x", 2, " │ ")],
            "│ rip:                           0x%016x │" % v["rip"], *s.rows("0x%016x | ", "0x%016x", 2)]


def cmbacktrace(s):
    v = s.values
    return ["Fault on thread main", "===== Thread stack information =====",
            *("  addr: %08x    data: %08x" % word for word in s.words()), "====================================",
            "=================== Registers information ====================",
            *["  " + line for line in pairs([(n, v[n.lower()]) for n in ("R0", "R1", "R2", "R3")], "%s : %08x", 4)],
            "  R12: %08x  LR : %08x  PC : %08x  PSR: 61000000" % (v["r12"], v["lr"], v["pc"])]


def cmbacktrace_chinese(s):
    english = {"Thread stack information": "线程堆栈信息", "Registers information": "寄存器信息",
               "Fault on thread main": "在线程(main)中发生错误异常"}
    return [functools.reduce(lambda line, of: line.replace(*of), english.items(), line) for line in cmbacktrace(s)]


def cmbacktrace_padded(s):
    """SP was no multiple of 8, so that the CPU has pushed a word more, which stands before the stack."""
    lines = cmbacktrace(s)
    first = next(n for n, line in enumerate(lines) if "addr:" in line)
    lines.insert(first, "  addr: %08x    data: %08x" % (s.sp - 4, 0x42000017))
    return [line.replace("PSR: 61000000", "PSR: 61000200") for line in lines]


def cmbacktrace_overflow(s):
    lines = cmbacktrace(s)
    first = next(n for n, line in enumerate(lines) if "addr:" in line)
    return [lines[0], "Error: Thread stack(%08x) was overflow" % (s.sp - 64), *lines[1:first],
            *lines[first + 4:]]


def espflash(s):
    """A monitor that names each word in lines of their own."""
    lines = esp_idf(s)
    start = lines.index("Stack memory:") + 1
    return lines[:start] + [said for line in lines[start:] for said in [line] + [
        note for word in re.findall(" (0x[0-9a-f]{8})", line) for note in (word + " - _bss_end", "    at ??:??")]]


def mbed(s):
    v = s.values
    lines = ["++ MbedOS Fault Handler ++", "", "FaultType: HardFault", "", "Context:"]
    lines += ["R%-4d: %08X" % (n, v["r%d" % n]) for n in range(13)]
    lines += ["SP   : %08X" % v["sp"], "LR   : %08X" % v["lr"], "PC   : %08X" % v["pc"], "xPSR : 61000000",
        "CPUID: 410FC241"]
    return ["[2019-09-03 16:43:55.%03d] %s" % (n, line) for n, line in enumerate(lines + s.rows("%08X: ", "%08X", 4))]


def pushed(s):
    """What the CPU pushes at PSP, and a handler that prints it."""
    v = s.values
    frame = [v["r0"], v["r1"], v["r2"], v["r3"], v["r12"], v["lr"], v["pc"], 0x61000000]
    words = [(s.sp - 32 + 4 * n, word) for n, word in enumerate(frame)] + s.words()
    return ["[Hard fault handler - all numbers in hex]", "R0 = %x" % v["r0"], "R1 = %x" % v["r1"], "R2 = %x" % v["r2"],
            "R3 = %x" % v["r3"], "R12 = %x" % v["r12"], "LR [R14] = %x  subroutine call return address" % v["lr"],
            "PC [R15] = %x  program counter" % v["pc"], "PSR = 61000000", "R4 = %x" % v["r4"], "R5 = %x" % v["r5"],
            "R6 = %x" % v["r6"], "R7 = %x" % v["r7"], "PSP = %x" % (s.sp - 32), "CFSR = 8200",
            *("0x%08x: 0x%08x" % word for word in words)]


def linux_arm(s):
    v = s.values
    key = s.sp & 0x1f
    words = [None] * (key // 4) + [word for _, word in s.words()]
    rows = []
    for at in range(0, len(words), 8):
        rows.append("%04x:" % (((s.sp & ~0x1f) + 4 * at) & 0xffff) + "".join(
            " " * 9 if word is None else " %08x" % word for word in words[at:at + 8]))
    return ["[   12.%06d] " % n + line for n, line in enumerate(
        ["Internal error: Oops: 805 [#1] SMP ARM", "CPU: 0 PID: 1 Comm: insmod Not tainted 6.1.0",
         "PC is at leaf+0x4/0x10", "LR is at fourth+0x8/0x18",
         "pc : [<%08x>]    lr : [<%08x>]    psr: 60000013" % (v["pc"], v["lr"]),
         "sp : %08x  ip : %08x  fp : %08x" % (v["sp"], v["r12"], v["r11"]),
         "r10: %08x  r9 : %08x  r8 : %08x" % (v["r10"], v["r9"], v["r8"]),
         "r7 : %08x  r6 : %08x  r5 : %08x  r4 : %08x" % (v["r7"], v["r6"], v["r5"], v["r4"]),
         "r3 : %08x  r2 : %08x  r1 : %08x  r0 : %08x" % (v["r3"], v["r2"], v["r1"], v["r0"]),
         "Flags: nZCv  IRQs on  FIQs on  Mode SVC_32  ISA ARM  Segment none",
         "Stack: (0x%08x to 0x%08x)" % (s.sp, (s.sp + 512) & ~0x1fff | 0x2000), *rows])]


def indexed(s):
    v = s.values
    return ["PANIC pc=0x%08x, lr=0x%08x, sp=0x%08x" % (v["pc"], v["lr"], v["sp"]),
            *("sp+%02x: %08x" % (at - s.sp, word) for at, word in s.words())]


def numbered(s):
    v = s.values
    return ["HardFault: PC=%08x LR=%08x SP=%08x R7=%08x" % (v["pc"], v["lr"], v["sp"], v["r7"]),
            *("stack[%d] = 0x%08x" % (n, word) for n, (_, word) in enumerate(s.words()))]


def bare(s):
    v = s.values
    words = ["%08x" % word for _, word in s.words()]
    return ["HardFault: PC=%08x LR=%08x SP=%08x R7=%08x" % (v["pc"], v["lr"], v["sp"], v["r7"]), "Stack:",
            *(" ".join(words[at:at + 8]) for at in range(0, len(words), 8))]


def hexdump(s):
    v = s.values
    return ["Fault! PC: 0x%08X LR: 0x%08X SP: 0x%08X" % (v["pc"], v["lr"], v["sp"]), "Stack dump:",
            *("%08x  %s  |................|" % (s.sp + at, " ".join("%02x" % byte for byte in s.memory[at:at + 16]))
              for at in range(0, 256, 16))]


def debugger(s):
    v = s.values
    names = "rax rbx rcx rdx rsi rdi rbp rsp rip".split()
    return ["%-14s 0x%-18x %d" % (n, v[n], v[n]) for n in names] + s.rows("0x%x:\t", "0x%016x", 2)


def zephyr_x86(s):
    """A line of registers begins with an address of the stack; it has no words of it."""
    v = s.values
    return ["E: Page fault at address (nil) (error code 0x2)", "E: RAX: 0x%016x RBX: 0x%016x" % (v["rax"], v["rbx"]),
            "E: RSI: 0x%016x RDI: 0x%016x RBP: 0x%016x RSP: 0x%016x" % (v["rsi"], v["rdi"], v["rbp"], v["rsp"]),
            "E: RSP: 0x%016x RFLAGS: 0x0000000000000246 CS: 0x0018 CR3: 0x0000000000116000" % v["rsp"],
            "E: RIP: 0x%016x" % v["rip"], "thread stack 0x%016x size 0x0000000000000400" % v["rsp"]]


WHOLE = [("thumb", indexed), ("thumb", numbered), ("thumb", bare), ("thumb", hexdump), ("x86_64", debugger),
         ("riscv32", esp_idf), ("riscv32", nuttx_riscv), ("riscv64", nuttx_riscv), ("riscv32", nuttx_old),
         ("riscv32", zephyr_core_riscv), ("riscv64", zephyr_core_riscv), ("riscv64", zephyr_core_old_riscv),
         ("aarch64", zephyr_core_arm64), ("x86_64", zephyr_core_x86_64), ("aarch64", edk2_arm64),
         ("aarch64", coreboot_arm64), ("x86_64", xen), ("x86_64", acrn), ("x86_64", boxed), ("thumb", mbed),
         ("thumb", pushed), ("thumb", cmbacktrace), ("thumb", cmbacktrace_chinese), ("thumb", cmbacktrace_padded),
         ("riscv32", espflash), ("arm", linux_arm)]
NAMED = [("x86_64", zephyr_x86), ("riscv64", zephyr_riscv), ("riscv64", opensbi), ("riscv64", uboot_riscv),
         ("aarch64", uboot_arm64),
         ("x86_64", edk2_x64), ("aarch64", tfa)]


def noisy(lines):
    """The same with what consoles and people do to lines."""
    yield "\n".join(lines) + "\n"
    yield "\r\n".join(lines) + "\r\n"
    yield "".join("[0;31m%s[0m\n" % line for line in lines)
    yield "".join("\33[1;31m[ %3d.000] E: %s \33[0m\r\n" % line for line in enumerate(lines))


def traced(s, text):
    return run(TRACE, s.image, stdin=text.encode())[0].decode()


def whole(s, system):
    for text in noisy(system(s)):
        said = traced(s, text)
        must(names_of_frames(said) == CHAIN, "%s: %s" % (names_of_frames(said), said[-1500:]))


def named(s, system):
    """There are no words of a stack: PC and return address have names, and a sentence says what is missing."""
    for text in noisy(system(s)):
        said = traced(s, text)
        must(" leaf at " in said and (" fourth at " in said or s.cpu == "x86_64"), said[-900:])
        must(names_of_frames(said) == [], said[-600:])
        must("no trace: the log has no " in said or "call trace" in said, said[-600:])


# ---- what loggers and terminals do to lines ----

def wrapped(lines, width=80):
    return [line[at:at + width] for line in lines for at in range(0, max(len(line), 1), width)]


def two_cpus(s, tags):
    """Registers of two CPUs between each other; the first one's stack is printed, too."""
    v = s.values
    first = ["EPC: %016x RA: %016x" % (v["pc"], v["ra"]), "SP: %016x S0: %016x" % (v["sp"], v["fp"]),
             "S1: %016x A0: %016x" % (v["s1"], v["a0"])]
    second = ["EPC: %016x RA: %016x" % (address(s, "third", 4), returns(s)["second"]),
              "SP: %016x S0: %016x" % (0x80040000, 0x80040100), "S1: %016x A0: %016x" % (0, 1)]
    return [tag + line for pair in zip(first, second) for tag, line in zip(tags, pair)] + [
        tags[0] + line for line in s.rows("%016x: ", "%016x", 2)]


def in_json(lines, end="\\n"):
    return ['{"log":"%s%s","stream":"stderr","time":"2026-11-28T03:58:55.1234%02dZ"}' % (
        line.replace('"', '\\"'), end, n) for n, line in enumerate(lines)]


def events(s):
    """A crash as one line of JSON: the stack as an array of strings, and as one string; a message between."""
    registers = {name: "0x%08x" % s.values[name] for name in ("pc", "lr", "sp", "r7")}
    words = ["%08x" % word for _, word in s.words()]
    for stack in (["0x" + word for word in words], " ".join(words)):
        yield json.dumps({"registers": registers, "message": "fault at 0x%08x" % s.pc, "stack": stack})
        yield json.dumps({"stack": stack, "ts": 1700000000, "msg": "fault at 0x%08x" % s.pc, **registers})


# Distances that od prints, which are octal, and are multiples of 16 as hexadecimal numbers, too.
OCTAL = ["PC {pc:016x} SP {sp:016x} LR {x30:016x} X29 {x29:016x}", "stack:", "@halves16-bare {o:07o} "]

# Words that have no addresses: one in each line, and in an array.
ALONE = ["%rip = 0x{rip:016x}", "%rbp = 0x{rbp:016x}", "%rsp = 0x{rsp:016x}", "> %rsp,20/nJ", "0x{sp:x}:",
         "@rows                |{w:x}|1"]
BRACES = ["rip            0x{rip:x}", "rsp            0x{rsp:x}", "rbp            0x{rbp:x}",
          "(gdb) p/x *(unsigned long(*)[40])$sp", "@braces $1 = |80"]


def rewritten(stopped):
    """The lines of programs in the form that loggers and terminals have given them."""
    board, thumb = stopped["riscv32"], stopped["thumb"]
    for line in events(thumb):
        said = traced(thumb, line + "\n")
        must(names_of_frames(said) == CHAIN, said)
    idf = esp_idf(board)
    timed = ["[2026-11-28 03:58:55.123] " + line for line in idf]
    for s, lines in ((board, in_json(idf)), (board, ['{"level":"fatal","msg":"%s","uptime":12}' % "\\n".join(idf)]),
                     (thumb, ["msg='%s'" % "\\r\\n".join(mbed(thumb))]),
                     (thumb, ["b'%s\\r\\n'" % line for line in bare(thumb)]),
                     (thumb, ["Nov 28 kernel: " + "#012".join(mbed(thumb))]), (board, wrapped(idf)),
                     (board, wrapped(timed)),
                     (board, ["#033[0;31m%s#033[0m#015" % line for line in idf]),
                     (board, ["\\u001b[0;31m%s\\u001b[0m" % line for line in idf]),
                     (board, ["^[[0;31m%s^[[0m^M" % line for line in idf]),
                     (board, ["2026-11-30T16:22:01.123456Z 01%s%s" % ("OE"[n % 2] + " +"[n % 3 == 2], line)
                              for n, line in enumerate(idf)]), (board, wrapped(idf, 100)),
                     (thumb, wrapped(hexdump(thumb)))):
        for end in ("\n", "\r\n", "\r\r\n", "\r"):
            said = traced(s, end.join(lines) + end)
            must(names_of_frames(said) == CHAIN, said[-1500:])
    for s, lines in ((stopped["aarch64"], OCTAL), (stopped["x86_64"], ALONE), (stopped["x86_64"], BRACES)):
        twice = [line for line in filled(s, lines) for _ in range(2)]
        said = traced(s, "\n".join(twice) + "\n")
        must(names_of_frames(said) == CHAIN[:len(names_of_frames(said))], said[-1500:])
    s = stopped["riscv64"]
    said = traced(s, "".join("[CPU%d] %s\n" % (cpu, line) for line in nuttx_riscv(s) for cpu in range(40)))
    must(names_of_frames(said) == CHAIN * 40, said[-1500:])
    for tags in (["[CPU0] ", "[CPU1] "], ["hart0: ", "hart1: "],
                 ["[   12.345678][    C0] ", "[   12.345679][  T123] "]):
        said = traced(s, "\n".join(two_cpus(s, tags)) + "\n")
        must(names_of_frames(said) == CHAIN, said)
        must(re.findall(r"(?m)^        (\w+) at ", said)[len(CHAIN):] == ["third", "second"], said)
        must(re.findall(r"(?m)^    of (\w+) \d+:$", said) in (["CPU", "CPU"], ["CPU", "task"]), said)
    for front in (["[CPU%d] stopped" % cpu for cpu in range(20)],
                  [line for cpu in range(20) for line in ("[CPU%d] mepc=0x1 sp=0x8" % cpu, "[CPU%d] ra=0x1" % cpu)]):
        said = traced(s, "\n".join(front + two_cpus(s, ["[CPU20] ", "[CPU21] "])) + "\n")
        must(names_of_frames(said) == CHAIN, said)
    stopping = ["mepc=0x%x ra=0x%x" % (s.pc, s.values["ra"]), "sp=0x%x s0=0x%x" % (s.sp, s.values["fp"]),
                "CPU1: stopping", "CPU2: stopping", *s.rows("0x%x: ", "0x%016x", 2)]
    for lines in (stopping, ["CPU0: " + stopping[0], *stopping[1:]]):
        must(names_of_frames(traced(s, "\n".join(lines) + "\n")) == CHAIN, lines)
    v = thumb.values
    said = traced(thumb, "R0: %08x R7: %08x SP: %08x LR:\n%08x PC: %08x xPSR:\n61000000\n" % (
        v["r0"], v["r7"], v["sp"], v["lr"], v["pc"]) + "\n".join(thumb.rows("%08x: ", "%08x", 4)) + "\n")
    must(names_of_frames(said) == CHAIN, said)
    said = traced(s, "\n".join(two_cpus(s, ["", ""])) + "\n")
    must("no trace: two CPUs or threads have printed" in said and names_of_frames(said) == [], said)
    said = traced(thumb, "\n".join(cmbacktrace_overflow(thumb)) + "\n")
    must("lies in no word of the stack" in said and names_of_frames(said) in ([], ["leaf"], ["leaf", "fourth"]), said)


def on_screens(lines):
    """LINES as programs write them that move the cursor of a terminal."""
    places = ["\33[%d;1H" % (n + 3) for n in range(len(lines))]
    yield ["".join(map("".join, zip(places, lines)))]
    yield ["\33[2J" + place + line + "\33[K" for place, line in zip(places, lines)]
    yield [place[1:] + line + "[K" for place, line in zip(places, lines)]  # ESC is lost
    yield ["".join(place.replace("H", "f") + line for place, line in zip(places, lines))]
    yield ["".join("\33[%dd\33[G%s" % (n, line) for n, line in enumerate(lines, 1))]
    yield ["\33E".join(lines)]
    yield ["".join(line + "\33[1B\33[80D" for line in lines)]
    yield [re.sub("  +", lambda gap: "\33[%dC" % len(gap[0]), line) for line in lines]
    yield ["".join(re.sub(" +", lambda gap: "\33[%d;%dH" % (n, gap.end() + 1), "  " + line)  # pylint: disable=W0640
                   for n, line in enumerate(lines, 1))]
    yield ["/\b-\b" + line for line in lines]


def in_mails(lines):
    """LINES as mails have them."""
    quoted = quopri.encodestring("\n".join(lines).encode()).decode().split("\n")
    yield ["Content-Transfer-Encoding: quoted-printable", "", *quoted]
    yield quoted
    cut = [part for line in lines for part in textwrap.wrap(line, 72) or [""]]
    yield cut
    yield ["> " + line for line in cut]
    yield [">> " + line for line in lines]


def in_others(lines):
    """LINES as pages, loggers and patches have them."""
    yield ["<p>" + "<br/>".join(html.escape(line).replace(" ", "&nbsp;") for line in lines) + "</p>"]
    yield ["<div>%s</div>" % html.escape(line).replace("=", "&#x3D;").replace(":", "&#58;") for line in lines]
    yield [line.replace("=", "\uff1d").replace(":", "\uff1a").replace(",", "\uff0c") for line in lines]
    yield [json.dumps(lines)]
    yield [json.dumps({"device": "a1", "lines": lines, "ts": 12})]
    yield [repr(lines)]
    yield [json.dumps({"version": "1.1", "short_message": line, "timestamp": 1764530000.1 + n, "_pid": 12})
           for n, line in enumerate(lines)]
    yield [json.dumps({"jsonPayload": {"body": line}, "severity": "ERROR"}) for line in lines]
    yield ["+" + line for line in lines]
    yield ["3,%d,%d,-;%s" % (1000 + n, 51234567 + n, line) for n, line in enumerate(lines)]
    yield ["E1130 19:22:00.%06d 12345 serial.cc:%d] %s" % (n, n, line) for n, line in enumerate(lines)]
    yield ["[ERROR] [1764530000.%09d] [board/serial]: %s" % (n, line) for n, line in enumerate(lines)]
    yield ["%d.%06d [ERROR] %s (app src/main.rs:%d)" % (n, n, line, n) for n, line in enumerate(lines)]


def laid_out(stopped):
    """The lines of programs as terminals, mails, pages and loggers have laid them out."""
    for s, system in ((stopped["riscv32"], esp_idf), (stopped["thumb"], mbed), (stopped["aarch64"], coreboot_arm64),
                      (stopped["x86_64"], debugger)):
        lines = [re.sub(r"^\[2019.*?\] ", "", line) for line in system(s)]
        for form in (*on_screens(lines), *in_mails(lines), *in_others(lines)):
            for end in ("\n", "\r\n"):
                said = traced(s, end.join(form) + end)
                must(names_of_frames(said) == CHAIN, said[-2500:])
            must(names_of_frames(traced(s, "\n".join(form))) == CHAIN, "without a last end")
    s = stopped["thumb"]
    said = traced(s, "r0=3D r1=3D sp=%x lr=%x pc=%x\n" % (s.sp, s.values["lr"], s.pc))
    must(re.findall(r"(?m)^        (\w+) at ", said) == ["leaf", "fourth"], said)


# ---- logs in pasted.txt ----

def as_text(row):
    return "".join(chr(c) if 32 <= c < 127 else "." for c in row)


def grouped(s, size, form, text):
    """Bytes in the order of memory, SIZE of them as one number; behind them as characters, if TEXT is set."""
    for at in range(0, len(s.memory), 16):
        row = s.memory[at:at + 16]
        yield form.format(a=s.sp + at) + " ".join(row[n:n + size].hex() for n in range(0, 16, size)) + (
            "  " + as_text(row) if text else "")


def falling(s, form):
    """A word a line, the highest first, by its distance from SP in bytes or in words."""
    for n, (addr, word) in reversed(list(enumerate(s.words()))):
        yield form.format(o=addr - s.sp, n=n, w=word)


def on_one_line(s, form, each):
    """The first EACH words, in one line."""
    return " ".join(form.format(w=word) for _, word in s.words()[:each])


def in_braces(s, text, width):
    """An array as gdb prints it: ten equal elements or more once, and lines of at most WIDTH characters."""
    words, at, elements = [word for _, word in s.words()], 0, []
    while at < len(words):
        times = next((n for n, word in enumerate(words[at:]) if word != words[at]), len(words) - at)
        elements += ["0x%x <repeats %d times>" % (words[at], times)] if times > 9 else ["0x%x" % words[at]] * times
        at += times
    line = text + "{"
    for n, element in enumerate(elements):
        element += ", " if n + 1 < len(elements) else "}"
        if len(line) + len(element) > width:
            yield line.rstrip()
            line = "  "
        line += element
    yield line


def counted(s, form, each):
    """Words behind a counter, EACH a line."""
    words = s.words()
    for at in range(0, len(words) - each + 1, each):
        yield form.format(c=12345717 % (10 ** 8 if "a" in form else 10 ** 4) + 13 * at, a=words[at][0]) + " ".join(
            "%08x" % word for _, word in words[at:at + each])


def in_members(s, kind):
    """Registers and the stack as one line of JSON; "lines": a member a line. The shapes of the stack: see below."""
    names = {"x86_64": ("rip", "rsp", "rbp", "rbx"), "thumb": ("pc", "lr", "sp", "r7")}[s.cpu]
    kind, _, lines = kind.partition(" ")
    words = s.words()
    values = {name: s.values[name] if "decimal" in kind else "0x%x" % s.values[name] for name in names}
    coded = base64.b64encode(s.memory).decode()
    memory = {
        "map": {"0x%x" % addr: "0x%x" % word for addr, word in words},
        "bare-map": {"%08x" % addr: "%08x" % word for addr, word in words},
        "decimal-map": {str(addr): word for addr, word in words},
        "byte-map": {"0x%016x" % (s.sp + at): s.memory[at:at + 16].hex() for at in range(0, len(s.memory), 16)},
        "words": {"base": "0x%x" % s.sp, "words": ["0x%0*x" % (2 * s.word, word) for _, word in words]},
        "decimal-words": {"address": s.sp, "data": [word for _, word in words]},
        "decimal-bytes": {"start": s.sp, "bytes": list(s.memory)},
        "hex": {"address": "0x%x" % s.sp, "data": s.memory.hex()},
        "base64": {"addr": "0x%x" % s.sp, "data": coded},
        "from-sp": {"base": "0x%x" % (s.sp - 8), "size": 4096, "data": s.memory.hex()},
        "objects": [{"addr": "0x%x" % addr, "value": "0x%x" % word} for addr, word in words],
    }
    if kind == "words-below":
        crash = {"registers": values, "base": "0x%x" % (s.sp - 8), "words": memory["words"]["words"]}
    elif kind == "words-at":
        crash = {"registers": values, "address": "0x%x" % s.sp, "words": memory["words"]["words"]}
    elif kind == "frames":
        pcs = [s.pc] + list(returns(s).values())
        crash = {**values, "frames": {"0x%x" % (s.sp + s.word * n): "0x%x" % pc for n, pc in enumerate(pcs)}}
    elif kind == "stack-objects":
        crash = {**values, "stack": memory["objects"]}
    elif kind in memory:
        crash = {"memory": memory[kind], "registers": values, "reason": "fault"}
        crash = dict(reversed(crash.items())) if lines else crash
    else:
        crash = {**values, kind: coded}
    return json.dumps(crash, indent=2 if lines else None).split("\n")


def other_shape(s, line):
    """The lines that one of these shapes of a stack stands for; or None."""
    shape = re.match(r"@(grouped|plain|falls|line|behind|miscounted|mi|braces|string|counted|json) ?"
                     r"(.*?)(?:\|(.*?))?(?:\|(\d+))?$", line)
    if shape is None:
        return None
    kind, text, form, number = shape.groups()
    if kind == "json":
        return in_members(s, text)
    if kind in ("grouped", "plain"):
        return grouped(s, int(text), form, kind == "grouped")
    if kind == "falls":
        return falling(s, text)
    if kind == "braces":
        return in_braces(s, text, int(form))
    if kind == "string":
        return [text.format(a=s.sp + at) + s.memory[at:at + int(form)].hex()
                for at in range(0, len(s.memory), int(form))]
    if kind == "counted":
        return counted(s, text, int(form))
    if kind == "miscounted":
        return [text.format(m=s.sp + n, w=word) + ("" if n else "<-- User sp")
                for n, (_, word) in reversed(list(enumerate(s.words())))]
    if kind == "line":
        return [text + on_one_line(s, form, int(number))]
    if kind == "behind":
        words = [form.format(w=word) for _, word in s.words()]
        each = int(number)
        return [(" " * len(text) if at else text) + " ".join(words[at:at + each])
                for at in range(0, len(words), each)]
    return ['^done,memory=[{begin="0x%x",offset="0x0",end="0x%x",contents="%s"}]' % (
        s.sp, s.sp + len(s.memory), s.memory.hex())]


def fill(s, lines):
    """The lines of a log, with the numbers of the program."""
    values = {**s.values, **{name: address(s, name, 8) for name in CHAIN[1:]}, "leaf": s.pc, "pc": s.pc, "sp": s.sp,
              "base": s.base, "below": s.sp - 32}
    values.update({"moved_" + name: values[name] + 0x5600000 for name in (*CHAIN, "pc", "base")})
    values.update({"ret_" + name: addr for name, addr in returns(s).items()})
    pushed_frame = [values.get(name, 0) for name in ("r0", "r1", "r2", "r3", "r12", "lr")] + [s.pc, 0x61000000]
    values.update({"msp": s.sp - 32 - 24, "pchigh": s.pc >> 32, "pclow": s.pc & 0xffffffff, "sphigh": s.sp >> 32,
                   "splow": s.sp & 0xffffffff})
    for line in lines:
        row = re.match(r"@rows(4?) (.*?)\|(.*?)\|(\d+)(?:\|(.*))?$", line)
        keys = re.match(r"@keys4 (.*?)\|(.*?)\|(\d+)$", line)
        octets = re.match(r"@bytes (.*?)\|(\d+)(?:\|(.))?$", line)
        each_equal = re.match(r"@pairs (.*?)\|(\d+)$", line)
        other = other_shape(s, line)
        if line.startswith("@quoted "):
            head, word, tail = line[8:].split("|")
            yield head.format(**values) + ",".join(word.format(w=w) for _, w in s.words()) + tail.format()
        elif line.startswith("@pushed "):
            # What the CPU pushed, below which the handler has six words of its own.
            words = [7] * 6 + pushed_frame + [word for _, word in s.words()]
            yield from (line[8:].format(a=values["msp"] + 4 * n, w=word) for n, word in enumerate(words))
        elif line.startswith("@array "):
            yield line[7:] + ", ".join("0x%x" % word for _, word in s.words()) + "]"
        elif line.startswith("@psp "):
            yield from (line[5:].format(o=addr - s.sp + 32, w=word) for addr, word in s.words())
        elif line.startswith("@falling "):
            yield from (line[9:].format(a=addr, w=word) for addr, word in reversed(s.words()))
        elif octets is not None:
            size = int(octets[2])
            for at in range(0, len(s.memory), size):
                text = s.memory[at:at + size].hex(" ")
                yield (octets[1].format(a=s.sp + at) + text[:3 * size // 2 - 1] + (octets[3] or " ") +
                       text[3 * size // 2:])
        elif line.startswith("@wide16 "):
            # As hexdump -x prints numbers of 16 bits.
            for at in range(0, len(s.memory), 16):
                yield line[8:].format(o=at) + "".join("    %04x" % half for half in struct.unpack(
                    "<8H", s.memory[at:at + 16]))
        elif line.startswith("@halves"):
            # Two bytes each: in the order of memory, or numbers of 16 bits; behind them the bytes as characters.
            kind, _, form = line.partition(" ")
            for at in range(0, len(s.memory), 16):
                row = s.memory[at:at + 16]
                halves = [row[n:n + 2] if "16" not in kind or s.cpu == "s390x" else row[n:n + 2][::-1]
                          for n in range(0, 16, 2)]
                yield form.format(a=s.sp + at, o=at) + " ".join(half.hex() for half in halves) + (
                    "" if "bare" in kind else "  " + as_text(row))
        elif line.startswith("@parts "):
            size = int(line[7:])
            parts = struct.unpack("<%d%s" % (len(s.memory) // size, "BH"[size - 1]), s.memory)
            for at in range(0, len(parts), 8):
                yield "0x%x:" % (s.sp + size * at) + "".join("\t0x%0*x" % (2 * size, part) for part in parts[at:at + 8])
        elif line == "@python":
            yield str({**{name: s.values[name] for name in ("pc", "lr", "sp", "r7")},
                       "stack": [word for _, word in s.words()]})
        elif other is not None:
            yield from other
        elif each_equal is not None:
            words, each = s.words(), int(each_equal[2])
            for at in range(0, len(words), each):
                yield "".join(each_equal[1].format(a=addr, w=word) for addr, word in words[at:at + each])
        elif keys is not None:
            # Rows begin at a multiple of their size; what lies below SP is left blank.
            each = int(keys[3])
            words = [None] * (s.sp % (4 * each) // 4) + [word for _, word in s.words(4)]
            for at in range(0, len(words), each):
                yield keys[1].format(k=(s.sp - s.sp % (4 * each) + 4 * at) & 0xffff) + "".join(
                    " " * 9 if word is None else keys[2].format(w=word) + " " for word in words[at:at + each])
        elif row is None:
            yield line.format(**values)
        else:
            words, each = s.words(4 if row[1] else None), int(row[4])
            for at in range(0, len(words) - each + 1, each):
                addr = words[at][0]
                row_words = [row[3].format(w=word, wh=word >> 32, wl=word & 0xffffffff, bar="|",
                                           p="0x%x" % word if word else "(nil)")
                             for _, word in words[at:at + each]]
                yield " ".join([row[2].format(a=addr, k=addr & 0xffff, o=addr - s.sp, ah=addr >> 32, bar="|",
                                              moved=addr - s.sp + 0x12ae80,
                                              e=words[at + each - 1][0], al=addr & 0xffffffff,
                                              n=at // each, sp=["  ", "sp"][at == 0]),
                                *row_words]) + (row[5] or "")


def returns(s):
    """The return address in each function but the first: a word of the stack or the link register that lies in it."""
    link = [s.values[name] for name in ("lr", "ra", "x30", "r14") if name in s.values]
    known = link + [word for _, word in s.words()]
    ends = sorted(s.symbols.values())
    found = {}
    for name in CHAIN[1:]:
        start = s.symbols[name]
        end = next((at for at in ends if at > start), start + 64)
        found[name] = next((word for word in known if start < word & ~(s.cpu == "thumb") <= end), 0)
    return found


def filled(s, lines):
    return list(fill(s, lines))


def pasted_log(stopped, cpu, expected, lines):
    """EXPECTED: "trace"; "part", its first frames; or functions that get names in this order. Behind ";" what is
    said."""
    s = stopped[cpu]
    names, _, text = expected.partition(";")
    for log in noisy(list(fill(s, lines))):
        said = traced(s, log)
        if names == "trace":
            must(names_of_frames(said) == CHAIN, "%s: %s" % (names_of_frames(said), said[-1500:]))
            must("no trace" not in said and said.count("trace ends") == 1, said[-1500:])
        elif names == "part":
            must(0 < len(names_of_frames(said)) < len(CHAIN), said[-1500:])
            must(names_of_frames(said) == CHAIN[:len(names_of_frames(said))], said[-1500:])
        else:
            must(re.findall(r"(?m)^        (\w+) at ", said) == names.split(), said[-1500:])
            must(names_of_frames(said) == [], said[-1500:])
        must(text.strip() in said, said[-1500:])


def pasted_logs():
    """(name, CPU, what is expected, lines) of each."""
    logs = re.split(r"(?m)^== (.*?): (\w+): (.*)\n", read(os.path.dirname(os.path.abspath(__file__)) +
        "/pasted.txt").decode())
    for at in range(1, len(logs), 4):
        yield logs[at], logs[at + 1], logs[at + 2], logs[at + 3].rstrip("\n").split("\n")


# ---- lists of calls ----

def address(s, function, offset=0):
    return s.symbols[function] + offset


def xtensa_image(s):
    """The image with a header that says it is of a CPU that is not unwound."""
    image = bytearray(read(s.image))
    struct.pack_into("<H", image, 18, 94)
    write(WORK + "/xtensa.elf", image)
    return WORK + "/xtensa.elf"


def xtensa(s):
    """Names alone, of a CPU that is not unwound."""
    xtensa_image(s)
    pcs = [address(s, name, 4) for name in CHAIN]
    pairs_of = " ".join("0x%08x:0x3ffb%04x" % (pc, 0x1f50 + 32 * n) for n, pc in enumerate(pcs))
    log = ["Guru Meditation Error: Core  1 panic'ed (LoadProhibited). Exception was unhandled.",
        "Core  1 register dump:",
           "PC      : 0x%08x  PS      : 0x00060830  A0      : 0x800d5e50  A1      : 0x3ffb1f50" % pcs[0],
           "A2      : 0x00000000  A3      : 0x00000001  A4      : 0x00000014  A5      : 0x3ffb1f70",
           "EXCVADDR: 0x00000000  LBEG    : 0x400014fd  LEND    : 0x4000150d  LCOUNT  : 0xffffffff", "", "",
           "Backtrace: " + pairs_of, "", "ELF file SHA256: 0123456789abcdef"]
    for text in noisy(log):
        said = run(TRACE, WORK + "/xtensa.elf", stdin=text.encode())[0].decode()
        must(re.findall(r"(?m)^        (\w+) at ", said) == CHAIN, said)
    # ESP8266: words of the stack that are code.
    stack = [0, 0x3ffef5a0, address(s, "fourth", 8), 5, address(s, "third", 8), address(s, "second", 8), 0, 1]
    log = ["Exception (28):",
        "epc1=0x%08x epc2=0x00000000 epc3=0x00000000 excvaddr=0x00000000 depc=0x00000000" % pcs[0], "",
           ">>>stack>>>", "", "ctx: cont", "sp: 3ffffdb0 end: 3fffffc0 offset: 0190",
           "3fffff40:  " + " ".join("%08x" % word for word in stack[:4]),
           "3fffff50:  " + " ".join("%08x" % word for word in stack[4:]), "<<<stack<<<"]
    said = run(TRACE, WORK + "/xtensa.elf", stdin="\n".join(log).encode())[0].decode()
    must(re.findall(r"(?m)^        (\w+) at ", said) == ["leaf", "fourth", "third", "second"], said)
    for arguments in (["--core=" + s.image], ["--memory=%s@0" % s.image, "--regs=pc=0,sp=0"]):
        errors = run(TRACE, *arguments, WORK + "/xtensa.elf", status=1)[1]
        must(b"machine 94 is none of" in errors, "%s" % errors)


def lists(s):
    """Return addresses, one for each line, and frames of debuggers."""
    returns = [address(s, name, 8) for name in CHAIN[1:]]
    at = address(s, "leaf", 4)
    for log in (["BACKTRACE: START: plat_panic", *("%d: EL3: 0x%x" % call for call in enumerate(returns)),
                 "BACKTRACE: END: plat_panic"],
                ["<err> os: call trace:", *("<err> os:      %2d: fp: 0x%x lr: 0x%x" % (n, 0x8000 + n, pc)
                                            for n, pc in enumerate(returns))],
                ["sched_dumpstack: backtrace| 3: " + " ".join("0x%016x" % pc for pc in returns)],
                ["#%d  0x%016x in f ()" % (n + 1, pc) for n, pc in enumerate(returns)]):
        said = traced(s, "\n".join(log) + "\n")
        must(re.findall(r"(?m)^        (\w+) at ", said) == CHAIN[1:], said)
    said = traced(s, "#0  0x%016x in leaf (x=1)\n" % at)
    must(re.findall(r"(?m)^        (\w+) at ", said) == ["leaf"], said)


def oops(s):
    """Linux: functions of a module by name and offset."""
    write(WORK + "/my-mod.c", SOURCE.encode())
    run("gcc", "-g", "-O1", "-fno-pic", "-c", WORK + "/my-mod.c", "-o", WORK + "/my-mod.ko")
    for module, lines in (
            ("my_mod", ["BUG: kernel NULL pointer dereference, address: 0000000000000000",
                "RIP: 0010:leaf+0x1/0x5 [my_mod]",
                        "Code: 48 89 e5", "RSP: 0018:ffffb9e0c0b5fd08 EFLAGS: 00010246",
                        "RAX: 0000000000000000 RBX: ffffffffc0a32040 RCX: 0000000000000000", "Call Trace:", " <TASK>",
                        " fourth+0x9/0xe [my_mod]", " ? third+0x9/0xe [my_mod]", " second+0x1c/0x2f [my_mod]",
                        " do_one_initcall+0x4b/0x210", " </TASK>", "---[ end trace 0000000000000000 ]---"]),
            ("my_mod", ["pc : leaf+0x1/0x5 [my_mod]", "lr : fourth+0x9/0xe [my_mod]", "sp : ffff80001234bc60",
                        "Call trace:", " leaf+0x1/0x5 [my_mod]", " third+0x9/0xe [my_mod]"]),
            ("my_mod", ["epc : leaf+0x1/0x5 [my_mod]", " ra : fourth+0x9/0xe [my_mod]",
                        "[<ffffffff016e0030>] third+0x9/0xe [my_mod]"])):
        said = run(TRACE, s.image, WORK + "/my-mod.ko",
            stdin="".join("[   12.3] %s\n" % line for line in lines).encode())[0]
        found = re.findall(r"(?m)^        (\w+) at .*\[my-mod.ko\]$", said.decode())
        wanted = [re.match(r".*?(\w+)\+0x", line)[1] for line in lines if "[my_mod]" in line]
        must(found == wanted and "no trace" not in said.decode(), "%s instead of %s: %s" % (found, wanted,
            said.decode()))


def image_base(s):
    """EDK II says where the image lies; its ELF file is linked to pages from 0 on."""
    image = WORK + "/efi.elf"
    write(WORK + "/stopped.c", SOURCE.encode())
    run("gcc", "-g", "-O1", "-ffreestanding", "-nostdlib", "-static", "-fcf-protection=none", "-fno-pic", "-no-pie",
        "-Wl,-estart,-Ttext=0x1000,--build-id=none", WORK + "/stopped.c", "-o", image)
    moved = 0x7e4b0000
    slide = moved + 0x1000 - s.symbols["leaf"]
    text = "\n".join(line for line in edk2_x64(s) if "FXSAVE" not in line)
    text = text.replace("%016X" % s.pc, "%016X" % (s.pc + slide))
    stack = [word + slide if 0x100000 <= word < 0x101000 else word for _, word in s.words()]
    text += "\n!!!! Find image based on IP(0x7E4B1001) /tmp/Foo.dll (ImageBase=%016X, EntryPoint=%016X) !!!!\n" % (
        moved, moved + 0x1000)
    said = run(TRACE, image, stdin=text.encode())[0].decode()
    must(" leaf at " in said and "no trace" in said, said[-400:])
    text += "".join("%016x: %016x\n" % (s.sp + 8 * n, word) for n, word in enumerate(stack))
    said = run(TRACE, image, stdin=text.encode())[0].decode()
    must(names_of_frames(said) == CHAIN, said[-900:])


# ---- images without CFI, and callers that have left ----

TAILS = """
typedef long word;
#define F __attribute__((noinline)) word
F leaf(word x) { __asm__ volatile("nop" : "+r"(x)); return x + 1; }
F last(word x) { word y = leaf(x); __asm__ volatile("" : "+r"(y)); return y + 2; }
F middle(word x) { __asm__ volatile("" : "+r"(x)); return last(x * 3); }
F outer(word x) { if (x > 7) __asm__ volatile("nop"); __asm__ volatile("" : "+r"(x)); return middle(x + 7); }
F two(word x) { __asm__ volatile("" : "+r"(x)); return x & 1 ? outer(x) : middle(x); }
F run(word x) { volatile word a[9]; a[x & 7] = x > 4 ? two(x) : outer(x); return a[x & 7] + 4; }
void start(void) { run(%d); for (;;) continue; }
"""


def by_code(cpu):
    """An image without CFI and debug information is unwound by its code, and its jumps say who has left."""
    for argument, said_of in ((2, "outer, middle"), (5, "two, ...")):
        s = Stopped(cpu, TAILS % argument, "tails", ["-O2", "-fno-ipa-cp", "-fno-ipa-ra"])
        tool = {"x86_64": "", "i386": "", "aarch64": "aarch64-linux-gnu-", "s390x": "s390x-linux-gnu-",
                "arm": "arm-none-eabi-",
                "thumb": "arm-none-eabi-"}.get(cpu, "riscv64-unknown-elf-") + "objcopy"
        run(tool, "--strip-debug", "-R", ".eh_frame", s.image)
        ra = s.values.get("lr", s.values.get("ra", s.values.get("x30", s.values.get("r14", 0))))
        more = " ".join("%s=0x%x" % item for item in s.values.items() if item[0] not in ("sp", "pc"))
        log = ["PANIC pc=0x%x sp=0x%x ra=0x%x %s" % (s.pc, s.sp, ra, more),
               *("0x%x: 0x%x" % word for word in s.words())]
        said = traced(s, "\n".join(log) + "\n")
        must(re.findall(r"(?m)^#\d+ +0x\w+  (\w+)", said) == ["leaf", "last", "run", "start"], said[-1500:])
        must(re.findall(r"code\)|CFI\)", said)[0] == "code)" and "CFI)" not in said, said[-900:])
        must("    [tail call: %s]" % said_of in said, said[-900:])


# ---- what is not known ----

def unknown(s):
    """Registers of another CPU, names that nobody knows, and what a user's file says of them."""
    other = run(TRACE, s.image, stdin="\n".join(
        "%s: %08x" % (name, 0x80001000) for name in "mepc ra gp tp t0 t1 t2 a0 a1 a2 a3 a4".split()).encode())[0]
    must(b"registers of another CPU" in other, other.decode())
    strange = ["CRASH"] + ["Q%c: 0x%016x" % (97 + n, value) for n, value in enumerate(
        [s.pc, s.sp, *range(8)])] + s.rows("W %016x: ", "%016x", 2)
    said = traced(s, "\n".join(strange))
    must("no register in it is known as the PC: --formats=FILE" in said, said[-500:])
    write(WORK + "/mine", b"# mine\ncpu x86_64\nregister pc Qa\nregister sp qB\nbegin CRASH\n")
    said = run(TRACE, "--formats=%s/mine" % WORK, s.image, stdin="\n".join(strange).encode())[0].decode()
    must(names_of_frames(said) == CHAIN, said[-600:])
    for text, why in ((b"cpu pdp11\n", b"line 1: no CPU of that name"), (b"\nnonsense\n", b"line 2: not a word"),
                      (b"unread CRASH what\n", b"a text in quotes"), (b'unread "CRASH"\n', b"what to say of it"),
                      (b"register 99 x\n", b"no number of a register"), (b"register pc\n", b"a register and its names"),
                      (b"cpu any\nbegin " + b"x" * 300 + b"\n", b"too long a line")):
        write(WORK + "/wrong", text)
        errors = run(TRACE, "--formats=%s/wrong" % WORK, s.image, stdin=b"", status=1)[1]
        must(why in errors, "%s" % errors)
    write(WORK + "/mine", b'unread "CRASH" it is packed: UNPACK reads it\r\n')
    said = run(TRACE, "--formats=%s/mine" % WORK, s.image, stdin=b"A CRASH\n00112233\n")[0].decode()
    must("        no trace: it is packed: UNPACK reads it\n00112233\n" in said, said)
    write(WORK + "/System.map", run("nm", s.image)[0])
    said = run(TRACE, "--map=%s/System.map" % WORK, stdin="\n".join(xen(s)).encode())[0].decode()
    must("        leaf+0x" in said and "no trace: a dump needs an image" in said, said[-400:])
    must(b"No such file" in run(TRACE, "--formats=/absent", s.image, stdin=b"", status=1)[1], "absent")


def null_called(s):
    """A null pointer was called, and nothing says who has called: the first return address on the stack is a guess."""
    link = "" if s.cpu == "x86_64" else "lr: 0 ra: 0 x30: 0 r14: 0 "
    stack = ["%x: %0*x" % (at, 2 * s.word, word) for at, word in s.words()]
    said = traced(s, "pc: %0*x sp: %x %s\n" % (2 * s.word, 0, s.sp - s.word, link) + "%x: %0*x\n" % (
        s.sp - s.word, 2 * s.word, 5) + "\n".join(stack) + "\n")
    first = next(i for i, name in enumerate(CHAIN) if name == names_of_frames(said)[0])
    must(names_of_frames(said) == CHAIN[first:] and first in (1, 2), said)
    must("[guessed]  (first return address on the stack)" in said and "guessed frames are not proven" in said, said)


def moved_little(s):
    """The return address in its register counts as one of the four that say how far a program was moved."""
    move = {word: word + 0x5600000 for word in (s.pc, *returns(s).values())}
    words = s.words()
    words = words[:1 + next(i for i, (_, word) in enumerate(words) if word == returns(s)["first"])]
    said = traced(s, "PC=%08x LR=%08x SP=%08x R7=0\n" % (move[s.pc], move[s.values["lr"]], s.sp) +
                  "".join("%08x: %08x\n" % (at, move.get(word, word)) for at, word in words))
    must(names_of_frames(said)[:5] == CHAIN[:5], said)


def open_ends(s):
    """A line that has no end, and one that is too long."""
    said = traced(s, "pc=0x%x sp=0x%x" % (s.pc, s.sp))
    must(said.startswith("pc=0x%x sp=0x%x\n    pc 0x" % (s.pc, s.sp)), said)
    must("no trace: the log has no words" in said, said)
    must(traced(s, "login: ") == "login: ", "a prompt")
    said = traced(s, "panic pc=0x%x sp=0x%x%s\n" % (s.pc, s.sp, " " * 5000))
    must("1 lines of the log that tell of a crash have more than 4096 characters" in said, said[-200:])


def sentences():
    """What trace_filter.c says in place of a trace, as regular expressions."""
    source = re.sub(r'"\s*\n\s*"|" PRIx64\s*"', lambda m: "" if "PRI" not in m[0] else "x",
                    read("port/host/trace/trace_filter.c").decode())
    for text in re.findall(r'"        ((?:no trace|this looks|registers of another|stacks of this|the log has|'
                           r'the words).*?)"[,)]', source):
        yield ".*".join(re.escape(part) for part in re.split(r"%(?:zu|[a-z]+)", text.replace('\\"', '"')))


def all_ends(stopped):
    """Each way to end without a trace is one that a log here takes."""
    ends = list(sentences())
    must(len(ends) > 20, ends)
    registers = b"PC: 0x40001234 A0: 0x40005678 A1: 0x3ffb1f50"
    said = [run(TRACE, xtensa_image(stopped["riscv32"]), stdin=registers)[0].decode(),
            traced(stopped["thumb"], "panic: PC " + 5000 * "x" + "\n")]
    said += [traced(stopped[cpu], "\n".join(fill(stopped[cpu], lines)) + "\n")
             for _, cpu, expected, lines in pasted_logs() if ";" in expected]
    said.append(traced(stopped["riscv64"], "\n".join(two_cpus(stopped["riscv64"], ["", ""])) + "\n"))
    strange = "".join("q%c: %016x\n" % (97 + n, 1 << n + 20) for n in range(9))
    said.append(traced(stopped["x86_64"], "CRASH\n" + strange))
    write(WORK + "/ends.map", run("nm", stopped["x86_64"].image)[0])
    said.append(run(TRACE, "--map=%s/ends.map" % WORK, stdin="\n".join(xen(stopped["x86_64"])).encode())[0].decode())
    for end in ends:
        must(any(re.search(end, text) for text in said), end)


def mutated(chance, lines):
    """LINES with one of them gone, or a word of it, or its name, or twice, or elsewhere."""
    lines = list(lines)
    at = chance.randrange(len(lines))
    line = lines[at]
    words = list(re.finditer(r"\w+", line)) or [re.match("", "")]
    names = [word for word in words if not re.fullmatch("(0x)?[0-9a-fA-F]*", word[0])] or words
    word, name = chance.choice(words), chance.choice(names)
    how = chance.choice(["gone", "word", "name", "names", "signs", "twice", "elsewhere"])
    lines[at:at + 1] = {"gone": [], "word": [line[:word.start()] + line[word.end():]],
                        "name": [line[:name.start()] + "Zqy" + line[name.end():]],
                        "names": [re.sub(r"\b[G-Zg-z_]\w+|\b[A-Fa-f]\w*[G-Zg-z_]\w*", "Zqy", line)],
                        "signs": [line.replace(":", " ").replace("=", " ")], "twice": [line, line],
                        "elsewhere": []}[how]
    if how == "elsewhere":
        lines.insert(chance.randrange(len(lines) + 1), line)
    return lines


def has_evidence(s, lines):
    """Whether two numbers in LINES, in a form that is read everywhere, lie in functions, behind their starts."""
    low, high = min(s.symbols.values()), max(s.symbols.values()) + 32
    numbers = {int(n, 16) for n in re.findall(r"(?i)(?<![\w`.'+:/-])0x([0-9a-f]{6,16})(?![\w`'+])", "\n".join(lines))}
    return len([n for n in numbers if low < n < high and n not in s.symbols.values()]) > 1


def damaged(stopped):
    """Logs that have lost something: their proven frames are right, or a sentence or names come in place of a trace."""
    chance = random.Random(523)
    for name, cpu, _, lines in pasted_logs():
        s = stopped[cpu]
        lines = list(fill(s, lines))
        for _ in range(30 if LONG else 1):
            log = mutated(chance, lines)
            said = run(TRACE, s.image, stdin=("\n".join(log) + "\n").encode())[0].decode()
            for trace in re.split(r"(?m)(?=^ *#0 +0x)", said)[1:]:
                frames = names_of_frames(re.split(r"\n.*\[guessed\]", trace)[0])
                must(frames == CHAIN[:len(frames)] or "words of the stack have no addresses" in said,
                     "%s: %s: %s" % (name, frames, said[-2000:]))
            must(said != "\n".join(log) + "\n" or not has_evidence(s, log), "%s: silence:\n%s" % (name, said))


QUIET = """
U-Boot 2024.01 (Jan 08 2024 - 12:00:00 +0000)
DRAM:  1 GiB, base 0x40000000: size 0x40000000
[    0.000000] BIOS-e820: [mem 0x0000000000000000-0x000000000009fbff] usable
[    0.000000] Memory: 0x100000 - 0x200000, pc speaker at 0x61, sp: none
[    0.100000] pci 0000:00:01.0: reg 0x10: [mem 0xfebc0000-0xfebdffff]
[    0.100000] pci 0000:00:01.0: BAR 0: 00000000fe000000
eth0: mac 52:54:00:12:34:56, ip: 10.0.2.15
I (312) boot: segment 0: paddr=00010020 vaddr=3c020020 size=07f48h ( 32584) map
I (320) cpu_start: Pro cpu up. entry 0x40080000
a0: 12 a1: 13 pc: unknown
ra is 0x12345678
20001f40: ok
stack: 0x20001f40 size 0x400
Loading kernel at 0x100000, 0x100010
"""
VALUES = """
time,pc,sp,temp
1,25,91,30
2,84,17,31
The value a=3D1 and b =3D 0x12345678 is fine, as is this long line that goes on=
 and on.
""" + "".join("""{"ts":17000000%02d,"dev":"0x1234ab%02d","sp":12.5,"pv":3.25,"crc":"89abcd%02d","flags":"0x0010"}
Pass %d: addr 0x408000%02d ok, wrote 0x12345678 read 0x12345678
epoch %d lr=0.01 loss=0.%d
""" % ((n,) * 7) for n in range(10, 22))


def quiet(s):
    """Logs without a dump are passed on as they are."""
    for text in (QUIET, VALUES):
        must(traced(s, text) == text, traced(s, text))


def hostile(stopped):
    """Lines that are cut, doubled, or have other characters, under the sanitizers."""
    chance = random.Random(55)
    systems = [*WHOLE, *NAMED, *((cpu, functools.partial(filled, lines=lines)) for _, cpu, _, lines in pasted_logs())]
    for turn in range(200 if LONG else 60):
        cpu, system = chance.choice(systems)
        lines = system(stopped[cpu])
        for _ in range(chance.randint(1, 5)):
            lines = lines or [""]
            n = chance.randrange(len(lines))
            at = chance.randrange(len(lines[n]) + 1)
            lines[n:n + 1] = chance.choice([[], [lines[n]] * 2, [lines[n][:at]], [lines[n] * 40], [
                lines[n][:at] + chance.choice(["0", "f", ":", "0x", "[<", "(", "/", "ffffffffffffffff", " " * 3000,
                    "\33[",
                                               "+0x1/0x2 [", "#0 0x", "Stack: (0xffffffffffffffff",
                                                   "\0"]) + lines[n][at:]]])
        image = stopped[chance.choice(list(CPUS))].image
        done = subprocess.run([SANITIZED, image], input="\n".join(lines).encode("latin-1", "replace"),
            capture_output=True,
                              timeout=60, check=False)
        must(done.returncode == 0 and not re.search(b"Sanitizer|runtime error", done.stderr),
             "turn %d: status %d: %s" % (turn, done.returncode, done.stderr[-400:]))


def main():
    os.makedirs(WORK, exist_ok=True)
    stopped = {cpu: Stopped(cpu) for cpu in CPUS}
    for cpu, system in WHOLE:
        test("%s %s" % (cpu, system.__name__), whole, stopped[cpu], system)
    for s in stopped.values():
        s.base = min(int(at, 16) for at in re.findall(r"LOAD +\S+ (0x\w+)", run("readelf", "-lW", s.image)[0].decode()))
        s.symbols = {name: int(at, 16) & ~(s.cpu == "thumb") for at, name in re.findall(
            r"(?m)^([0-9a-f]+) \w (\w+)$", run("nm", s.image)[0].decode())}
    for name, cpu, expected, lines in pasted_logs():
        test("%s %s" % (cpu, name), pasted_log, stopped, cpu, expected, lines)
    test("a CPU that is not unwound", xtensa, stopped["riscv32"])
    test("what loggers and terminals do to lines", rewritten, stopped)
    test("what screens, mails and pages do to lines", laid_out, stopped)
    test("lists of calls", lists, stopped["aarch64"])
    for cpu in CPUS:
        test("%s by code" % cpu, by_code, cpu)
    test("oopses of Linux", oops, stopped["x86_64"])
    test("where the image begins", image_base, stopped["x86_64"])
    test("what is not known", unknown, stopped["x86_64"])
    for cpu in CPUS:
        test("%s logs without a dump" % cpu, quiet, stopped[cpu])
    for cpu in ("x86_64", "riscv64", "riscv32", "thumb"):
        test("%s null is called" % cpu, null_called, stopped[cpu])
    test("a program that was moved, and a short stack", moved_little, stopped["thumb"])
    test("open ends", open_ends, stopped["aarch64"])
    test("all ends", all_ends, stopped)
    test("damaged", damaged, stopped)
    test("hostile", hostile, stopped)
    for cpu, system in NAMED:
        test("%s %s" % (cpu, system.__name__), named, stopped[cpu], system)


if __name__ == "__main__":
    main()
    finish()

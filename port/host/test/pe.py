#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""pe.py: PE files as lld-link and MinGW's linker write them: what sfu-gen makes of their unwind codes, against
llvm-readobj, objdump and the machine code; the files that it writes; names and traces of sfu-trace; broken files."""
import os
import random
import re
import struct
import subprocess

from broken import NEVER, gen_survives
from host import GEN, LONG, OUT, TC, WORK, Wrong, finish, gen, must, read, run, test, write
from many import Many

TRACE, LINT = "build/tools/sfu-trace", "build/tools/sfu-lint"
SOURCE = """
volatile int sink;
#define PART __attribute__((noinline))
PART int leaf(int a) { return a * 3 + sink; }
PART int mid(int a, int b)
{
    volatile char bytes[300];
    int sum;
    bytes[a] = 1;
    sum = leaf(a) + leaf(b);
    sink = sum;
    return sum + bytes[b];
}
PART int large(int a) { volatile char bytes[100000]; bytes[a] = 2; return mid(a, bytes[a]) + a; }
PART int dynamic(int n) { volatile char *p = __builtin_alloca(n); p[0] = 1; return mid(p[0], n) + large(n); }
PART double floating(double x, double y) { return x * dynamic((int)x) + y * mid(1, 2) + x * y; }
PART int early(int a, int b) { if (a == 7) return 1; sink = mid(a, b) * large(b); return mid(b, a) - leaf(b); }
PART int last(int a) { sink = leaf(a); return leaf(a + 1); }
PART int chosen(int a, int b) { return a ? last(b) : mid(a, b) + 1; }
void ___chkstk_ms(void) {}
void __chkstk(void) {}
int _fltused;
#ifdef ROOM
__attribute__((section(".sframe"))) const unsigned char room[8192] = {1};
#endif
unsigned long long efi_main(void *image, int *system)
{
    return (unsigned long long)floating(image != 0, *system) + early(*system, 2) + chosen(*system, 4);
}
"""
CLANG = {cpu: ["clang", "--target=%s-unknown-windows" % cpu, "-gdwarf", "-funwind-tables"]
         for cpu in ("x86_64", "aarch64")}
MINGW = ["x86_64-w64-mingw32-gcc", "-g"]
KINDS = [("x86_64 clang", CLANG["x86_64"]), ("x86_64 gcc", MINGW), ("aarch64 clang", CLANG["aarch64"])]


def build(kind, compiler, *flags, room=True):
    """The program as a PE file; links it without room for tables if not ROOM."""
    name = "%s/%s" % (WORK, "-".join([*kind.split(), *flags]) + ("" if room else "-bare"))
    write(name + ".c", SOURCE.encode())
    flags = [*flags, "-ffreestanding", *(["-DROOM"] if room else [])]
    if compiler == MINGW:
        run(*compiler, *flags, "-nostdlib", "-shared", "-Wl,--subsystem,10", "-e", "efi_main", name + ".c", "-o",
            name + ".efi")
    else:
        run(*compiler, *flags, "-c", name + ".c", "-o", name + ".obj")
        run("lld-link", "/debug:dwarf", "/subsystem:efi_application", "/entry:efi_main", "/nodefaultlib",
            "/out:" + name + ".efi", name + ".obj")
    return name + ".efi"


# Codes of aarch64 that clang does not use. Two functions are not read: trap, and one whose pairs reach x29.
CODES_AARCH64 = """
    .text
    .globl lrpair
    .seh_proc lrpair
lrpair:
    sub sp, sp, #48
    .seh_stackalloc 48
    stp x19, x30, [sp, #16]
    .seh_save_lrpair x19, 16
    .seh_endprologue
    bl leaf
    .seh_startepilogue
    ldp x19, x30, [sp, #16]
    .seh_save_lrpair x19, 16
    add sp, sp, #48
    .seh_stackalloc 48
    .seh_endepilogue
    ret
    .seh_endproc
    .globl regs
    .seh_proc regs
regs:
    stp x19, x20, [sp, #-96]!
    .seh_save_r19r20_x 96
    stp x21, x22, [sp, #16]
    .seh_save_next
    stp x23, x24, [sp, #32]
    .seh_save_next
    str x30, [sp, #48]
    .seh_save_reg x30, 48
    stp d8, d9, [sp, #64]
    .seh_save_fregp d8, 64
    .seh_endprologue
    bl leaf
    nop
    .seh_startepilogue
    ldp d8, d9, [sp, #64]
    .seh_save_fregp d8, 64
    ldr x30, [sp, #48]
    .seh_save_reg x30, 48
    ldp x23, x24, [sp, #32]
    .seh_save_next
    ldp x21, x22, [sp, #16]
    .seh_save_next
    ldp x19, x20, [sp], #96
    .seh_save_r19r20_x 96
    .seh_endepilogue
    ret
    .seh_endproc
    .globl framed
    .seh_proc framed
framed:
    str x19, [sp, #-32]!
    .seh_save_reg_x x19, 32
    stp x29, x30, [sp, #8]
    .seh_save_fplr 8
    add x29, sp, #8
    .seh_add_fp 8
    sub sp, sp, #16, lsl #12
    .seh_stackalloc 65536
    .seh_endprologue
    cbz x0, 1f
    bl leaf
1:    bl leaf
    .seh_startepilogue
    sub sp, x29, #8
    .seh_add_fp 8
    ldp x29, x30, [sp, #8]
    .seh_save_fplr 8
    ldr x19, [sp], #32
    .seh_save_reg_x x19, 32
    .seh_endepilogue
    b leaf
    .seh_endproc
    .globl floats
    .seh_proc floats
floats:
    stp d8, d9, [sp, #-32]!
    .seh_save_fregp_x d8, 32
    str d10, [sp, #16]
    .seh_save_freg d10, 16
    str x30, [sp, #24]
    .seh_save_reg x30, 24
    .seh_endprologue
    bl leaf
    .seh_startepilogue
    ldr x30, [sp, #24]
    .seh_save_reg x30, 24
    ldr d10, [sp, #16]
    .seh_save_freg d10, 16
    ldp d8, d9, [sp], #32
    .seh_save_fregp_x d8, 32
    .seh_endepilogue
    ret
    .seh_endproc
    .globl trap
    .seh_proc trap
trap:
    stp x29, x30, [sp, #-16]!
    .seh_save_fplr_x 16
    .seh_trap_frame
    .seh_endprologue
    bl leaf
    .seh_startepilogue
    ldp x29, x30, [sp], #16
    .seh_save_fplr_x 16
    .seh_endepilogue
    ret
    .seh_endproc
    .globl reaches
    .seh_proc reaches
reaches:
    stp x19, x20, [sp, #-112]!
    .seh_save_r19r20_x 112
    .irp at, 16, 32, 48, 64, 80
    stp x21, x22, [sp, #\\at]
    .seh_save_next
    .endr
    .seh_endprologue
    brk #1
    .seh_endproc
    .globl efi_main
    .seh_proc efi_main
efi_main:
    stp x29, x30, [sp, #-16]!
    .seh_save_fplr_x 16
    .seh_endprologue
    bl lrpair
    bl regs
    bl framed
    bl floats
    bl trap
    .seh_startepilogue
    ldp x29, x30, [sp], #16
    .seh_save_fplr_x 16
    .seh_endepilogue
    ret
    .seh_endproc
    .globl leaf
leaf:    ret
"""


# x86_64: entries of interrupts, with and without an error code; and a part of a function whose unwind codes continue
# those of the function.
CODES_X86_64 = """
    .text
    .globl efi_main
    .seh_proc efi_main
efi_main:
    subq $40, %rsp
    .seh_stackalloc 40
    .seh_endprologue
    call trap
    nop
    addq $40, %rsp
    ret
    .seh_endproc
    .globl trap
    .seh_proc trap
trap:
    .seh_pushframe @code
    pushq %rbp
    .seh_pushreg %rbp
    subq $32, %rsp
    .seh_stackalloc 32
    .seh_endprologue
    call leaf
    addq $32, %rsp
    popq %rbp
    addq $8, %rsp
    iretq
    .seh_endproc
    .globl plain
    .seh_proc plain
plain:
    .seh_pushframe
    subq $40, %rsp
    .seh_stackalloc 40
    .seh_endprologue
    call leaf
    addq $40, %rsp
    iretq
    .seh_endproc
    .globl homes
    .seh_proc homes
homes:
    movq %rbp, 16(%rsp)
    subq $40, %rsp
    .seh_stackalloc 40
    .seh_savereg %rbp, 56
    .seh_endprologue
    xorl %ebp, %ebp
    call leaf
    movq 56(%rsp), %rbp
    addq $40, %rsp
    ret
    .seh_endproc
    .globl leaf
leaf:
    nop
    ret
    .globl whole
whole:
    pushq %rbx
    pushq %rbp
    subq $40, %rsp
    call leaf
    jmp part
    .globl part
part:
    subq $16, %rsp
    call leaf
    addq $56, %rsp
    popq %rbp
    popq %rbx
    ret
end:
    .section .xdata, "dr"
    .p2align 2
of_whole:
    .byte 1, 6, 3, 0, 6, 0x42, 2, 0x50, 1, 0x30, 0, 0
of_part:
    .byte 0x21, 4, 1, 0, 4, 0x12, 0, 0
    .long whole@IMGREL, part@IMGREL, of_whole@IMGREL
    .section .pdata, "dr"
    .p2align 2
    .long whole@IMGREL, part@IMGREL, of_whole@IMGREL
    .long part@IMGREL, end@IMGREL, of_part@IMGREL
"""


# Entries of images, each of which calls work: only their instructions say who enters them, and on which stack. The
# number is how far above SP, or FP, the return address to the firmware is while work runs; or why there is none.
ENTRIES = {
    "plain": (40, "sub $40, %rsp; call work; add $40, %rsp; ret"),
    "halts": (40, "sub $40, %rsp; call work; 1: hlt; jmp 1b"),
    "owner": ("outermost", "lea top(%rip), %rsp; call work; 1: hlt; jmp 1b"),
    "framed": (8, "push %rbp; mov %rsp, %rbp; lea top(%rip), %rsp; call work; mov %rbp, %rsp; pop %rbp; ret"),
    "kept": ("no row", "mov %rsp, %rbx; lea top(%rip), %rsp; call work; mov %rbx, %rsp; ret"),
    "stored": ("no row", "mov %rsp, saved(%rip); lea top(%rip), %rsp; call work; mov saved(%rip), %rsp; ret"),
}


# ---- What others read ----

def unwind_codes(image):
    """{start: (name, end, [(offset, operation, register, number)])}, the last instruction first, by llvm-readobj."""
    text = run("llvm-readobj", "--unwind", image)[0]
    found = {}
    for part in text.split("RuntimeFunction {")[1:]:
        start, end = (re.search(word + r"Address: (\S* ?)\(0x([0-9A-F]+)\)", part) for word in ("Start", "End"))
        codes = re.findall(r"0x([0-9A-F]+): (\w+)(?: reg=(\w+))?(?:,? ?(?:size|offset)=(0x[0-9A-F]+|\d+))?", part)
        found[int(start[2], 16)] = (start[1].strip(), int(end[2], 16),
                                    [(int(at, 16), op, reg, int(number or "0", 0)) for at, op, reg, number in codes])
    return found


def expected(codes):
    """{offset: (register of the CFA, offset of the CFA, FP's slot or None)} behind each instruction of a prologue."""
    depth, base, slot, result = 8, None, None, {0: ("sp", 8, None)}  # base: of the CFA above FP
    for at, operation, register, number in reversed(codes):
        if operation == "PUSH_NONVOL":
            depth += 8
            slot = depth if register == "RBP" else slot
        elif operation in ("ALLOC_SMALL", "ALLOC_LARGE"):
            depth += number
        elif operation == "SET_FPREG":
            must(register == "RBP", "another frame register")
            base = depth - number
        elif operation not in ("SAVE_XMM128", "SAVE_XMM128_FAR"):
            raise Wrong("a code that this test does not know: " + operation)
        result[at] = ("sp", depth, slot) if base is None else ("fp", base, slot)
    return result


def rows_of(image, *options):
    """[(start, end of the function, [(PC, CFA, FP)])] of the tables that sfu-gen makes, by readelf."""
    gen("-q", "--side=" + image + ".side", *options, image)
    text = run("%s/x86_64/readelf" % TC, "--sframe", image + ".side")[0]
    found = []
    for start, size, body in re.findall(r"pc = 0x([0-9a-f]+), size = (\d+) bytes\n(.*?)(?:\n\n|\Z)", text, re.S):
        rows = re.findall(r"(?m)^ +([0-9a-f]+) +(\S+) +(\S+)", body)
        found.append((int(start, 16), int(start, 16) + int(size),
                      [(int(pc, 16), cfa, fp) for pc, cfa, fp in rows if pc != "STARTPC"]))
    return found


def row_at(tables, pc):
    for start, end, rows in tables:
        if start <= pc < end:
            return [row for row in rows if row[0] <= pc][-1][1:]
    raise Wrong("no row at 0x%x" % pc)


def disassembly(image):
    """[(PC, instruction)] by objdump."""
    text = run("%s/x86_64/objdump" % TC, "-d", "--no-show-raw-insn", image)[0]
    return [(int(pc, 16), code.strip()) for pc, code in re.findall(r"(?m)^ +([0-9a-f]+):\t(.*)$", text)]


# ---- x86_64: unwind codes ----

def prologues(kind, compiler, flags):
    """Behind each instruction of a prologue the rows say what llvm-readobj reads in the unwind codes. At each pop and
    return of an epilogue, of which the codes say nothing, the CFA is that of the pops that are left."""
    image = build(kind, compiler, *flags)
    tables, count = rows_of(image, "--cfi=keep", "--from=eh_frame"), 0
    codes = unwind_codes(image)
    must(len(codes) >= 6, "llvm-readobj finds %d functions" % len(codes))
    for start, (name, end, list_of) in codes.items():
        for offset, (register, cfa, slot) in expected(list_of).items():
            found, fp = row_at(tables, start + offset)
            must(found == "%s+%d" % (register, cfa), "%s+%d: %s, not %s+%d" % (name, offset, found, register, cfa))
            must(fp == ("u" if slot is None else "c-%d" % slot), "%s+%d: FP %s" % (name, offset, fp))
            count += 1
    code = disassembly(image)
    for i, (pc, instruction) in enumerate(code):
        pops = 0
        while instruction.startswith("ret") and any(s <= pc < e[1] for s, e in codes.items()):
            found = row_at(tables, code[i - pops][0])[0]
            must(found == "sp+%d" % (8 + 8 * pops) or (pops > 0 and found.startswith("fp+")),
                 "0x%x, %d pops before a return: %s" % (code[i - pops][0], pops, found))
            count += 1
            pops += 1
            if not code[i - pops][1].startswith("pop"):
                break
    return "%d rows" % count


def agree(kind, compiler, flags):
    """The machine code confirms the unwind codes, and the tables are those that sfu-gen would make."""
    image = build(kind, compiler, *flags)
    said = gen("-v", image)[1]
    must("CFI is wrong" not in said and "contradicts" not in said, said)
    must("100% of" in said, said)
    run(GEN, "--check", image)
    run(LINT, "--strict", image)
    found = re.search(r"100% of (\d+) bytes with CFI", said)
    must(int(found[1]) > 250, said)
    return found[1] + " bytes"


def without_codes(kind, compiler, flags):
    """By the machine code alone: symbols say where functions begin."""
    image = build(kind, [word for word in compiler if word != "-funwind-tables"], *flags)
    said = gen("--find", "--forget", "-o", image + ".raw", image)[1]
    share = float(re.search(r"([0-9.]+)% of \d+ bytes of code", said)[1])
    must(share > 60, said)
    return "%.0f%% of the code" % share


# ---- aarch64: unwind codes ----

def states(instructions):
    """[(CFA, FP, RA)] in front of each instruction of a prologue, and behind the last one, as readelf prints them."""
    depth, base, slots, pair, found = 0, None, {}, None, [("sp+0", "u", "u")]
    for text in instructions:
        numbers = [int(n, 0) for n in re.findall(r"#(-?\d+)", text)]
        registers = re.findall(r"\b(?:[xd]\d+|lr|fp)\b", text.replace("x29", "fp").replace("x30", "lr"))
        if text.startswith("sub sp"):
            depth += numbers[0]
        elif re.match(r"st[rp] ", text):
            at = 0 if text.endswith("!") else numbers[0]
            depth -= numbers[0] if text.endswith("!") else 0
            slots.update((register, depth - at - 8 * i) for i, register in enumerate(registers))
            pair = registers[0] if len(registers) == 2 and registers[0][0] in "xd" else None
        elif re.match("mov (x29|fp), sp", text):
            base = depth
        elif re.match("add (x29|fp), sp", text):
            base = depth - numbers[0]
        elif text == "save next":
            must(pair is not None, "save next of no pair")
        else:
            must(text == "nop", "an instruction that this test does not know: " + text)
        slot = ["c-%d" % slots[name] if name in slots else "u" for name in ("fp", "lr")]
        found.append(("sp+%d" % depth if base is None else "fp+%d" % base, *slot))
    return found


def codes_aarch64(image):
    """{start: (length, instructions of the prologue in their order)} by llvm-readobj."""
    found = {}
    for part in run("llvm-readobj", "--unwind", image)[0].split("RuntimeFunction {")[1:]:
        lines = re.search(r"Prologue \[\n(.*?)\n *(?:\]|end|\})", part, re.S)[1].split("\n")
        texts = [re.sub(r"^0x\w+ *; ", "", line.strip()) for line in lines]
        start, size = re.search(r"Function: .*?0x(\w+)", part), re.search(r"FunctionLength: (\d+)", part)
        found[int(start[1], 16)] = (int(size[1]), [text for text in reversed(texts) if text != "end"])
    return found


def rows_aarch64(image):
    """{start: (end, [(PC, (CFA, FP, RA))])}: that sfu-gen makes of the unwind codes alone, by readelf."""
    gen("-q", "--side=" + image + ".side", "--cfi=keep", "--from=eh_frame", image)
    text = run("%s/aarch64/readelf" % TC, "--sframe", image + ".side")[0]
    found = {}
    for start, size, body in re.findall(r"pc = 0x([0-9a-f]+), size = (\d+) bytes\n(.*?)(?:\n\n|\Z)", text, re.S):
        rows = re.findall(r"(?m)^ +([0-9a-f]+) +(\S+) +(\S+) +(\S+)", body)
        found[int(start, 16)] = (int(start, 16) + int(size), [(int(row[0], 16), row[1:]) for row in rows])
    return found


def check_aarch64(image, refused=(), confirm=True):
    """Rows of each prologue; what is popped where a function returns; and the machine code confirms all, if CONFIRM."""
    tables, codes, count = rows_aarch64(image), codes_aarch64(image), 0
    code = [(int(pc, 16), text.strip()) for pc, text in re.findall(
        r"(?m)^ *([0-9a-f]+):\s+(.*)$", run("llvm-objdump", "-d", "--no-show-raw-insn", image)[0])]
    must(len(code) > 20, "no code")
    for start, (size, instructions) in codes.items():
        if any(text in instructions for text in refused) or instructions.count("save next") > 4:
            must(start not in tables, "%#x: codes that are not known are read" % start)
            continue
        end, rows = tables[start]
        must(end == start + size, "%#x: another length" % start)
        for i, expected_row in enumerate(states(instructions)):
            found = [row for pc, row in rows if pc <= start + 4 * i][-1]
            must(found == expected_row, "%#x+%d: %s instead of %s" % (start, 4 * i, found, expected_row))
            count += 1
        for pc, instruction in code:
            if start <= pc < end and (instruction == "ret" or pc == end - 4):
                found = [row for at, row in rows if at <= pc][-1]
                leaves = instruction == "ret" or re.match(r"b\t|b ", instruction)
                must(not leaves or found == ("sp+0", "u", "u"), "0x%x: %s, %s" % (pc, instruction, found))
                count += 1
    if not confirm:
        return "%d functions, %d rows" % (len(codes), count)
    said = gen("-v", "--side=" + image + ".side", image)[1]
    must("CFI is wrong" not in said and "contradicts" not in said and "has no rows" not in said, said)
    run(GEN, "-q", "--find", "--append=" + image + ".tables", image)
    run(LINT, "--strict", image + ".tables")
    return "%d functions, %d rows" % (len(codes), count)


def codes_by_hand():
    """Codes that clang does not use, assembled; all of them stand for instructions that do what they say."""
    name = WORK + "/codes"
    write(name + ".s", CODES_AARCH64.encode())
    run("clang", "--target=aarch64-unknown-windows", "-c", name + ".s", "-o", name + ".obj")
    run("lld-link", "/subsystem:efi_application", "/entry:efi_main", "/nodefaultlib", "/opt:noref", "/out:" + name +
        ".efi", name + ".obj")
    return check_aarch64(name + ".efi", ["trap frame"])


def packed():
    """Rows of each prologue; what is popped where a function returns; if CONFIRM, the machine code says the same."""
    words = [1 | 64 << 2 | floats << 13 | registers << 16 | homed << 20 | kind << 21 | frame << 23
             for kind in (0, 1, 3) for floats in (0, 1, 2, 7) for registers in (0, 1, 2, 3, 10) for homed in (0, 1)
             for frame in (14, 40, 300) if kind == 1 or floats or registers or not homed]
    text = ["    .text", "    .globl efi_main", "efi_main:"]
    for i in range(len(words)):
        text += ["f%d:" % i, "    .rept 63", "    nop", "    .endr", "    ret"]
    text += ['    .section .pdata, "dr"', "    .p2align 2"]
    text += ["    .long f%d@IMGREL, %#x" % item for item in enumerate(words)]
    name = WORK + "/packed"
    write(name + ".s", "\n".join(text + [""]).encode())
    run("clang", "--target=aarch64-unknown-windows", "-c", name + ".s", "-o", name + ".obj")
    run("lld-link", "/subsystem:efi_application", "/entry:efi_main", "/nodefaultlib", "/opt:noref", "/out:" + name +
        ".efi", name + ".obj")
    return check_aarch64(name + ".efi", ["INVALID!"], confirm=False)


def stripped(level):
    """Without symbols the unwind codes say where functions are."""
    image = build("aarch64 clang", CLANG["aarch64"], level, room=False)
    run("llvm-strip", "--strip-all", "-o", image + ".bare", image)
    said = gen("--append=" + image + ".out", image + ".bare")[1]
    share = float(re.search(r"([0-9.]+)% of \d+ bytes of code", said)[1])
    must(share > 70 and "100% of" in said, said)
    return "%.0f%% of the code" % share


# ---- What is written ----

class Pe:
    """The headers of a PE file, by the specification."""
    def __init__(self, data):
        self.data = bytearray(data)
        self.coff = self.number(0x3c) + 4
        self.optional = self.coff + 20
        self.table = self.optional + self.number(self.coff + 16, 2)
        self.num = self.number(self.coff + 2, 2)

    def number(self, at, size=4):
        return int.from_bytes(self.data[at:at + size], "little")

    def put(self, at, value, size=4):
        self.data[at:at + size] = value.to_bytes(size, "little")

    def section(self, name):
        """(RVA, size in memory, offset, size in the file)"""
        for i in range(self.num):
            at = self.table + 40 * i
            if bytes(self.data[at:at + 8]).rstrip(b"\0") == name.encode():
                return (self.number(at + 12), self.number(at + 8), self.number(at + 20), self.number(at + 16))
        raise Wrong("no section " + name)

    def checksum(self):
        """As the loader of Windows computes it, word by word."""
        data, total = bytearray(self.data), 0
        data[self.optional + 64:self.optional + 68] = bytes(4)
        for (word,) in struct.iter_unpack("<H", bytes(data) + bytes(len(data) % 2)):
            total += word
            total = (total & 0xffff) + (total >> 16)
        return total + len(data)


def appended(kind, compiler):
    """A copy with one more section: everything else is as it was, and other readers find the section."""
    image = build(kind, compiler, "-O2", room=False)
    old, copy = Pe(read(image)), image + ".out"
    said = gen("--find", image, status=1)[1]
    must("no section .sframe to write into: reserve room by an array" in said, said)
    gen("-q", "--find", "--append=" + copy, image)
    new = Pe(read(copy))
    rva, memory, offset, size = new.section(".sframe")
    must(new.num == old.num + 1 and rva % 4096 == 0 and offset % 512 == 0 and size >= memory > 0, "the header")
    must(new.number(new.optional + 56) >= rva + memory and new.number(new.optional + 56) % 4096 == 0, "SizeOfImage")
    must(offset + size == len(new.data), "the file's size")
    must(new.number(new.optional + 8) == old.number(old.optional + 8) + size, "SizeOfInitializedData")
    if old.number(old.optional + 64) != 0:
        must(old.checksum() == old.number(old.optional + 64), "this test's checksum")
        must(new.checksum() == new.number(new.optional + 64), "checksum")
    for at in (new.coff + 2, new.coff + 3, *range(new.optional + 8, new.optional + 12),
               *range(new.optional + 56, new.optional + 60), *range(new.optional + 64, new.optional + 68),
               *range(new.table + 40 * old.num, new.table + 40 * old.num + 40)):
        new.data[at] = old.data[at]
    must(new.data[:len(old.data)] == old.data, "something else has changed")
    must("Name: .sframe" in run("llvm-readobj", "--sections", copy)[0], "llvm-readobj does not find it")
    run(GEN, "--check", "--find", copy)
    run(LINT, "--strict", copy)
    before = read(copy)
    must("which is written into without" in gen("--append=" + copy, copy, status=1)[1], "twice")
    gen("-q", "--find", copy)
    must(read(copy) == before, "in place there are other tables")
    if kind == "x86_64 gcc":
        gen("-q", "--find", "--append=" + image, image)
        must(read(image) == before, "over the image itself")


def in_place(kind, compiler):
    """Nothing but the section and the checksum changes."""
    image = build(kind, compiler, "-O2")
    old = Pe(read(image))
    gen("-q", "--find", image)
    new = Pe(read(image))
    _, _, offset, size = old.section(".sframe")
    must(new.data[offset:offset + 2] == b"\xe2\xde", "no tables")
    if old.number(old.optional + 64) != 0:
        must(new.checksum() == new.number(new.optional + 64), "checksum")
    for pe in (old, new):
        pe.data[offset:offset + size] = bytes(size)
        pe.put(pe.optional + 64, 0)
    must(old.data == new.data, "something else has changed")


def refusals():
    image = build("x86_64 gcc", MINGW, "-O2", room=False)
    file = WORK + "/refused.efi"
    pe = Pe(read(image))
    signed = pe.optional + 112 + 4 * 8
    for change, options, said in (
            (lambda p: p.put(p.coff, 0x14c, 2), [], "a PE file for i386"),
            (lambda p: p.put(p.coff, 0x1c4, 2), [], "a PE file for 32-bit ARM"),
            (lambda p: p.put(p.coff, 0x5064, 2), [], "a CPU other than x86_64 and aarch64"),
            (lambda p: p.put(p.optional, 0x10b, 2), [], "without the header of an image"),
            (lambda p: p.put(p.coff + 2, 97, 2), [], "more than 96 sections"),
            (lambda p: p.put(p.optional + 24, 2 ** 64 - 4096, 8), [], "ImageBase"),
            (lambda p: p.put(p.table + 20, len(p.data)), [], "not all in the file"),
            (lambda p: p.data.__delitem__(slice(0x100, None)), [], "truncated PE headers"),
            (lambda p: (p.put(signed, 0x1000), p.put(signed + 4, 8)), ["--append=" + file + ".out"], "it is signed"),
            (lambda p: p.put(p.table + 40 * p.num, 1), ["--append=" + file + ".out"], "no room for the header"),
            (lambda p: p.put(p.optional + 60, p.table + 40 * p.num), ["--append=" + file + ".out"],
             "no room for the header"),
            (lambda p: p.put(p.optional + 36, 0), ["--append=" + file + ".out"], "alignments"),
            (lambda p: p.put(p.optional + 56, 4096), ["--append=" + file + ".out"], "SizeOfImage")):
        broken = Pe(pe.data)
        change(broken)
        write(file, broken.data)
        errors = gen("-q", *options, file, status=1)[1]
        must(said in errors and errors.count("\n") == 1, "%s: %s" % (said, errors))
        must(read(file) == broken.data, "the file has changed")


# ---- sfu-trace ----

def names(kind, compiler):
    """Functions and lines of a log, by the symbols and the debug information of the image."""
    image = build(kind, compiler, "-O0")
    addresses = dict((name, int(pc, 16)) for pc, name in re.findall(
        r"(?m)^([0-9a-f]+) \w (\w+)$", run("%s/%s/nm" % (TC, kind.split()[0]), image)[0]))
    log = "".join("#%d  0x%016x\n" % (i, addresses[name] + 8) for i, name in enumerate(("mid", "large", "last")))
    text = subprocess.run([TRACE, image], input=log, capture_output=True, check=True, text=True).stdout
    found = re.findall(r"(?m)^ +(\w+) at \S*\.c:(\d+)", text)
    must([name for name, _ in found] == ["mid", "large", "last"], text)
    lines = SOURCE.splitlines()
    for name, line in found:
        must(any("int %s(" % name in text for text in lines[max(0, int(line) - 8):int(line)]), (name, line))


def marks():
    """MinGW's linker puts marks such as ___crt_xc_end__ at the start of the code: the function there has the name."""
    name = WORK + "/marks"
    write(name + ".s", b".globl apple\napple:\ncall zebra\nret\n.globl zebra\n.def zebra\n.scl 2\n.type 32\n.endef\n"
          b"zebra:\nnop\nret\n")
    for first in ("apple", "zebra"):
        run("x86_64-w64-mingw32-gcc", "-nostdlib", "-shared", "-Wl,--subsystem,10", "-e", "apple", name + ".s", "-o",
            name + ".efi")
        symbols = {symbol: int(pc, 16) for pc, symbol in re.findall(
            r"(?m)^([0-9a-f]+) T (\w+)$", run("%s/x86_64/nm" % TC, name + ".efi")[0])}
        must(symbols["___crt_xc_end__"] == symbols[first], symbols)
        text = subprocess.run([TRACE, name + ".efi"], input="#0  0x%016x\n" % (symbols[first] + 1),
                              capture_output=True, check=True, text=True).stdout
        must("  %s+0x1 " % first in text, text)
        source = read(name + ".s").split(b".globl ")
        write(name + ".s", b".globl " + source[2] + b".globl " + source[1])


def memory(flags):
    """A stack made by hand of what llvm-readobj says, unwound by the unwind codes alone: mid, large, dynamic."""
    image = build("x86_64 gcc", MINGW, *flags, room=False)
    codes, code = unwind_codes(image), disassembly(image)
    starts = {name: int(pc, 16) for pc, name in re.findall(
        r"(?m)^([0-9a-f]+) \w (\w+)$", run("%s/x86_64/nm" % TC, image)[0])}

    def call(caller, callee):
        """The PC behind the first call of CALLEE in CALLER."""
        calls = [i for i, (pc, text) in enumerate(code)
                 if pc >= starts[caller] and re.match(r"call +(0x)?%x\b" % starts[callee], text)]
        return code[calls[0] + 1][0]

    low, at = 0x40000, 0x50000
    sp, fp, slot, words = at, None, None, {}
    for name, back in (("mid", call("large", "mid")), ("large", call("dynamic", "large"))):
        rows = expected(codes[starts[name]][2])
        base, cfa, saved = rows[max(rows)]
        if base == "fp":
            if slot is not None:
                words[slot] = at + 0x40
            fp = fp or at + 0x40
            at += 0x40
        at += cfa
        slot = at - saved if saved else slot
        words[at - 8] = back
    data = bytearray(0x40000)
    for address, word in words.items():
        struct.pack_into("<Q", data, address - low, word)
    write(WORK + "/stack", data)
    pc = starts["mid"] + max(expected(codes[starts["mid"]][2]))
    text = run(TRACE, "--memory=%s/stack@%d" % (WORK, low), "--regs=pc=%d,sp=%d,fp=%d" % (pc, sp, fp or 0), image)[0]
    order = [text.find(word) for word in ("mid", "large", "dynamic")]
    must(-1 not in order and order == sorted(order) and "(frame pointer)" not in text[:order[2]], text)


def assembled():
    """CODES_X86_64 as a PE file, and its symbols."""
    name = WORK + "/frames"
    write(name + ".s", CODES_X86_64.encode())
    run("clang", "--target=x86_64-unknown-windows", "-c", name + ".s", "-o", name + ".obj")
    run("lld-link", "/subsystem:efi_application", "/entry:efi_main", "/nodefaultlib", "/opt:noref", "/debug:symtab",
        "/out:" + name + ".efi", name + ".obj")
    return name + ".efi", {symbol: int(pc, 16) for pc, symbol in re.findall(
        r"(?m)^([0-9a-f]+) \w (\w+)$", run("%s/x86_64/nm" % TC, name + ".efi")[0])}


def homes():
    """x64: a function may keep FP above its frame, where callers leave room for four arguments."""
    image, at = assembled()
    for options in ["--cfi=keep"], []:
        gen("-q", "--side=" + image + ".side", *options, image)
        text = run("%s/x86_64/readelf" % TC, "--sframe", image + ".side")[0]
        body = re.search(r"pc = 0x0*%x, size = .*?\n(.*?)(?:\n\n|\Z)" % at["homes"], text, re.S)[1]
        rows = [row for pc, *row in re.findall(r"(?m)^ +([0-9a-f]+) +(\S+) +(\S+) +(\S+)", body)
                if int(pc, 16) == at["homes"] + 9]
        must(rows == [["sp+48", "c+8", "f"]], body)


def machine_frames():
    """Behind the entry of an interrupt the trace goes on where the CPU pushed that it was, on the stack that it pushed,
    with and without an error code."""
    image, at = assembled()
    for entry, own, pushed in (("trap", 32 + 8, [7]), ("plain", 40, [])):
        sp, other = 0x40100, 0x40400
        code = [pc for pc, text in disassembly(image) if pc > at[entry] and text.startswith(("add", "nop"))]
        interrupted = at["efi_main"] + 9
        words = {sp: code[0]}
        frame = [*pushed, interrupted, 8, 0x246, other, 16]
        words.update((sp + 8 + own + 8 * i, word) for i, word in enumerate(frame))
        words[other + 40] = at["whole"] + 11
        data = bytearray(0x1000)
        for address, word in words.items():
            struct.pack_into("<Q", data, address - 0x40000, word)
        write(WORK + "/stack", data)
        for options in ([], ["--tables"]):
            traced = image
            if options:
                traced = image + ".tables"
                gen("-q", "--cfi=keep", "--from=eh_frame", "--append=" + traced, image)
            text = run(TRACE, "--memory=%s/stack@%d" % (WORK, 0x40000), "--regs=pc=%d,sp=%d" % (at["leaf"], sp),
                       traced)[0]
            names_found = re.findall(r"(?m)^#\d+ +0x\w+  (\w+)", text)
            must(names_found[:4] == ["leaf", entry, "efi_main", "whole"], "%s: %s" % (entry, text))
            must("#2  0x%x  " % interrupted in re.sub("0x0+", "0x", text), text)


def entry(name):
    """The firmware has called the entry of an image, and a trace goes on there, unless the entry leaves that stack for
    good: then it is the outermost frame. By tables and by the code alone."""
    what, code = ENTRIES[name]
    image, firmware, sp, fp = "%s/entry-%s" % (WORK, name), 0x7f001234, 0x50100, 0x50800
    write(image + ".s", (".text; .globl first; first: %s; .globl work; work: nop; ret; .bss; saved: .quad 0; "
                         ".fill 64; top: .quad 0\n" % code).replace("; ", "\n").encode())
    run("clang", "--target=x86_64-unknown-windows", "-c", image + ".s", "-o", image + ".obj")
    run("lld-link", "/subsystem:efi_application", "/entry:first", "/nodefaultlib", "/debug:symtab",
        "/out:" + image + ".efi", image + ".obj")
    back, = (pc for (_, call), (pc, _) in zip(disassembly(image + ".efi"), disassembly(image + ".efi")[1:])
             if call.startswith("call"))
    data = bytearray(0x1000)
    if isinstance(what, int):
        struct.pack_into("<Q", data, (sp if name != "framed" else fp) - 0x50000 + what, firmware)
    write(WORK + "/stack", data)
    gen("-q", "--derive", "--append=" + image + ".tables", image + ".efi")
    for traced in (image + ".efi", image + ".tables"):
        text = run(TRACE, "--memory=%s/stack@%d" % (WORK, 0x50000), "--regs=pc=%d,sp=%d,fp=%d,kind=return" % (
            back, sp, fp), traced)[0]
        frames = re.findall(r"(?m)^#\d+ +0x0*(\w+)", text)
        wanted = ["%x" % back] + (["%x" % firmware] if isinstance(what, int) else [])
        must(frames == wanted and ("outermost" in text) == (what == "outermost"), text)


def chained():
    """A part of a function begins with the frame that its whole has built, and goes on from there."""
    image, at = assembled()
    tables = rows_of(image, "--cfi=keep", "--from=eh_frame")
    for place, cfa, slot in (("whole", 8, "u"), ("whole+1", 16, "u"), ("whole+2", 24, "c-24"), ("whole+6", 64, "c-24"),
                             ("part", 64, "c-24"), ("part+4", 80, "c-24"), ("part+13", 24, "c-24"),
                             ("part+14", 16, "u"), ("part+15", 8, "u")):
        name, _, offset = place.partition("+")
        found = row_at(tables, at[name] + int(offset or 0))
        must(found == ("sp+%d" % cfa, slot), "%s: %s" % (place, found))
    said = gen("-v", "--side=" + image + ".side", image)[1]
    must("CFI is wrong" not in said and "contradicts" not in said, said)


# ---- broken files ----

def hostile(kind, compiler):
    """Bytes of the headers, of the unwind codes, of symbols and strings are others. The seed is fixed."""
    image = build(kind, compiler, "-O1")
    whole, chosen = Pe(read(image)), random.Random(kind)
    file = WORK + "/broken.efi"
    symbols = whole.number(whole.coff + 8)
    places = {"headers": range(0x3c, whole.table + 40 * whole.num), "symbols": range(symbols, len(whole.data))}
    for name in (".pdata", ".xdata", ".rdata"):
        if name.encode() in whole.data[whole.table:whole.table + 40 * whole.num]:
            _, memory_size, offset, _ = whole.section(name)
            places[name] = range(offset, offset + memory_size)
    lint, trace = (Many(tool, WORK, 60) for tool in (OUT + "/sfu-lint-sanitized", OUT + "/sfu-trace-sanitized"))
    good = count = 0
    for name, where in places.items():
        for i in range(60 if LONG else 25):
            data = bytearray(whole.data)
            for _ in range(chosen.choice((1, 1, 2, 8))):
                data[chosen.choice(where)] = chosen.choice((0, 1, 0x7f, 0x80, 0xff, chosen.randrange(256)))
            write(file, data)
            good += gen_survives(file, "-q", *((["--append=" + file + ".out"], [], ["--find"], ["--small"])[i % 4])
                             ).returncode == 0
            count += 1
            if i % 3 == 0:
                for done in (lint.run(file), trace.run(file, stdin=b"#0 0x140001010\n")):
                    must(not NEVER.search(done.stderr) and done.returncode in (0, 1, 2), done.stderr[-400:])
    for size in range(1, len(whole.data), len(whole.data) // 40):
        write(file, whole.data[:size])
        gen_survives(file, "-q")
    return "%d of %d files accepted" % (good, count)


def main():
    os.makedirs(WORK, exist_ok=True)
    for kind, compiler in KINDS:
        for level in ("-O0", "-Os", "-O2"):
            if kind != "aarch64 clang":
                test("%s %s, unwind codes" % (kind, level), prologues, kind, compiler, [level])
                test("%s %s, code and unwind codes agree" % (kind, level), agree, kind, compiler, [level])
            else:
                test("%s %s, unwind codes" % (kind, level), lambda level: check_aarch64(
                    build("aarch64 clang", CLANG["aarch64"], level, room=False)), level)
                test("%s %s, without symbols" % (kind, level), stripped, level)
        test("%s, code alone" % kind, without_codes, kind, compiler, ["-O2"])
        test("%s, in place" % kind, in_place, kind, compiler)
        test("%s, one more section" % kind, appended, kind, compiler)
        test("%s, names" % kind, names, kind, compiler)
        test("%s, broken" % kind, hostile, kind, compiler)
    test("aarch64, unwind codes by hand", codes_by_hand)
    test("aarch64, packed", packed)
    test("x86_64, frames of interrupts", machine_frames)
    test("x86_64 FP in the room for arguments", homes)
    test("x86_64, a part of a function", chained)
    for name in ENTRIES:
        test("x86_64, who calls the entry: " + name, entry, name)
    test("refusals", refusals)
    test("marks of the linker", marks)
    test("a stack by hand, -O0", memory, ["-O0"])
    test("a stack by hand, -O2", memory, ["-O2"])


if __name__ == "__main__":
    main()
    finish()

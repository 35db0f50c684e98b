#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""decoder.py: what port/host/code/riscv.c says of each instruction is what objdump prints: its length, the registers
that it writes, where it goes, and what it loads, stores and computes. Of x86: what has been decoded before is the same
again (port/host/code/decoded.c). Prints a line for each test.

Images are libraries and programs for RISC-V; all 65,536 halves of an instruction; and words made at random.
"""
import os
import random
import re
import subprocess

import decoder_arm
from host import OUT, finish, must, run, test, write

WORK = OUT + "/work/code-decoder"
OBJDUMP = "riscv64-linux-gnu-objdump"
SHOW = ["-d", "-z", "-M", "no-aliases,numeric"]
LINE = re.compile(r"^ *([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(\S+)(?:\t([^#<\n]*))?", re.M)
# Those that write no register of the general ones in spite of one that stands first.
NOTHING = re.compile(r"(c\.)?(s[bhwdq]|fs[hwdq]|s[bhwdq]sp|fs[wd]sp|swsp|sdsp|beqz?|bnez?|blt|bge|bltu|bgeu|j|jr|nop|"
                     r"ebreak|unimp|ecall|fence(\.i|\.tso)?|[mus]ret|mnret|dret|wfi|s?fence\S*|sinval\S*|hfence\S*|"
                     r"hinval\S*|hsv\S*|cbo\S*|prefetch\S*|pause|ntl\S*|th\.(s|f|d|i|l2|sync|sfence)\S*)$")
# Returns from traps, by the specifications of privileged modes, debuggers and resumable NMIs; objdump may not know one.
RETURNS = {0x00200073: "uret", 0x10200073: "sret", 0x30200073: "mret", 0x70200073: "mnret", 0x7b200073: "dret"}
STOPS = ("c.unimp", "unimp", "ebreak", "c.ebreak")
WHOLE = {8: ("ld", "sd", "c.ld", "c.sd", "c.ldsp", "c.sdsp"), 4: ("lw", "sw", "c.lw", "c.sw", "c.lwsp", "c.swsp")}
SIGNED = {"lb": 17, "lh": 18, "lw": 20, "lbu": 1, "lhu": 2, "lwu": 4}
WIDTHS = {"b": 1, "h": 2, "w": 4, "d": 8, "q": 16}


def shown(file, *options):
    """(PC, bytes as a number, size, mnemonic, operands) of all that objdump knows in FILE."""
    found = []
    for pc, code, name, operands in LINE.findall(run(OBJDUMP, *SHOW, *options, file)[0]):
        parts = code.split()
        found.append((int(pc, 16), int("".join(reversed(parts)), 16), sum(len(p) for p in parts) // 2, name,
                      [o.strip() for o in (operands or "").split(",") if o.strip()]))
    return found


def said(word, instructions):
    lines = "".join("%x %x %d\n" % (pc, value, size) for pc, value, size, _, _ in instructions)
    done = subprocess.run([OUT + "/decodes", str(word)], input=lines, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def number(text):
    return int(text[1:]) if re.fullmatch(r"x\d+", text) else None


def written(name, operands):
    """The general registers that an instruction writes, by objdump's words."""
    if name in ("c.jal", "c.jalr"):
        return {1}
    if NOTHING.match(name) or not operands:
        return set()
    return {number(operands[0])} - {0, None}


def by_ops(ops):
    """The registers that are not what they were, by what is said."""
    changed = set()
    for op in ops:
        what, reg, last, *_ = op.split(",")
        if what in ("store", "write", "bound"):
            continue
        changed.update(range(int(reg), (int(last) if what in ("forget", "load") else int(reg)) + 1))
    return {reg for reg in changed if reg < 32} - {0}


def address(operand):
    match = re.fullmatch(r"(-?\d+)\(x(\d+)\)", operand)
    return (int(match[1]), int(match[2]) or 34) if match else None


def signed(value, word):
    bits = 8 * word
    return (value & (1 << bits) - 1 ^ 1 << bits - 1) - (1 << bits - 1)


def meaning(word, pc, name, operands):
    """What must be said, as far as that is a matter of single operations; None: it is not."""
    plain = name[2:] if name.startswith("c.") else name
    plain = plain[:-2] if plain in ("lwsp", "ldsp", "swsp", "sdsp", "fswsp", "fsdsp") else plain
    first = number(operands[0]) if operands else None
    at = address(operands[1]) if len(operands) == 2 else None
    if at and plain in ("lw", "ld") and name in WHOLE[word]:
        return {"load,%d,%d,%d,%d,0" % (first, first, at[1], at[0])} if first else set()
    if at and plain in SIGNED and not (word == 4 and plain == "lwu"):
        return {"table,%d,%d,%d,%d,65535" % (first, SIGNED[plain], at[1], at[0])} if first else set()
    if at and plain in ("sw", "sd") and name in WHOLE[word] and first:
        return {"store,%d,%d,%d,%d,0" % (first, first, at[1], at[0])}
    if at and re.fullmatch(r"f?s[bhwdq]", plain):
        return {"write,1,255,%d,%d,%d" % (at[1], at[0], WIDTHS[plain[-1]])}
    if plain == "lui" and first:
        return {"number,%d,0,0,%d,0" % (first, signed(int(operands[1], 16) << 12, 4))}
    if plain == "auipc" and first:
        return {"number,%d,0,0,%d,0" % (first, signed(pc + signed(int(operands[1], 16) << 12, 4), word))}
    if plain in ("addi", "addi16sp", "addi4spn", "li", "mv") and first:
        base, k = first, 0
        for operand in operands[1:] if plain != "li" else ["x0", operands[1]]:
            base, k = (number(operand), k) if number(operand) is not None else (base, int(operand, 0))
        return {"set,%d,0,%d,%d,0" % (first, base or 34, k)}
    if name in ("add", "sub", "c.sub", "c.add") and first and len(operands) >= 2:
        left, right = [first if len(operands) == 2 else number(operands[1]), number(operands[-1])]
        if 0 not in (left, right):
            orders = ((left, right), (right, left)) if "add" in name else ((left, right),)
            return {"sum,%d,%d,%d,%d,0" % (first, b, a, 1 if "add" in name else -1) for a, b in orders}
    return None


def judge(word, instruction, answer):
    pc, value, size, name, operands = instruction
    own_size, flow, target, *ops = answer
    if word == 4 and name == "c.fsdsp" and own_size == "0":  # or what a CPU without these registers has there
        return None
    if int(own_size) != size:
        return "its size is %s" % own_size
    unknown = name.startswith((".", "0x")) or operands == ["x2", "0"] and name == "c.addi16sp"  # reserved
    changed = by_ops(ops)
    if (flow == "resume") != (value in RETURNS):
        return "goes on: %s" % flow
    if unknown:
        return None
    if flow not in ("call", "stop") and not written(name, operands) <= changed:
        return "does not write %s: %s" % (written(name, operands), ops)
    if len(changed) < 31 and not name.startswith(("ecall", "ebreak", "c.ebreak", "amocas")) and \
            flow not in ("call", "stop") and changed != written(name, operands):
        return "writes %s: %s" % (changed, ops)
    if (flow == "stop") != (name in STOPS):
        return "goes on: %s" % flow
    plain = name[2:] if name.startswith("c.") else name
    if plain in ("j", "jal", "beq", "bne", "blt", "bge", "bltu", "bgeu", "beqz", "bnez"):
        if int(target, 16) != int(operands[-1], 16):
            return "goes to %s" % target
        link = {"jal": number(operands[0]), "j": 0}.get(plain, -1) if name != "c.jal" else 1
        if flow != ("branch" if link < 0 else "call" if link in (1, 5) else "jump"):
            return "is a %s" % flow
    elif flow in ("jump", "branch"):
        return "is a %s" % flow
    wanted = meaning(word, pc, name, operands)
    if wanted is not None and not (len(ops) == 1 and ops[0] in wanted if wanted else not ops):
        return "is %s instead of %s" % (ops, wanted)
    return None


def compare(word, file, *options):
    instructions = shown(file, *options)
    known, names = 0, set()
    answers = said(word, instructions)
    must(len(answers) == len(instructions) > 0, "%d answers for %d" % (len(answers), len(instructions)))
    for instruction, answer in zip(instructions, answers):
        wrong = judge(word, instruction, answer)
        must(wrong is None, "0x%x: %s %s: %s" % (instruction[0], instruction[3], ",".join(instruction[4]), wrong))
        known += not instruction[3].startswith((".", "0x"))
        names.add(instruction[3])
    return "%d instructions, %d known to objdump, of %d kinds" % (len(instructions), known, len(names))


def made(name, text, word, arch):
    """TEXT assembled. Its architecture is what its attributes say to objdump."""
    source = "%s/%s-%d.s" % (WORK, name, word)
    write(source, text.encode())
    run("riscv64-linux-gnu-as", "-march=rv%d%s" % (8 * word, arch), "-mabi=" + ("lp64" if word == 8 else "ilp32"),
        source, "-o", source + ".o")
    run("riscv64-linux-gnu-strip", "--strip-all", source + ".o")  # no symbol says that it is data
    return source + ".o"


# All that binutils 2.40 knows, but for what has the encodings of another one.
ALL = "gch_zba_zbb_zbc_zbs_zbkb_zbkc_zbkx_zknd_zkne_zknh_zksed_zksh_zicbom_zicbop_zicboz_zfh_zawrs_v_svinval"
ALL_32 = ALL.replace("gc", "imafdc")


def halves(word):
    """Each half on its own, behind it nothing that it could take for its own."""
    values = [half for half in range(65536) if half & 3 != 3]
    return compare(word, made("halves", "\n".join(".2byte 0x%x" % half for half in values), word,
                              ALL if word == 8 else ALL_32))


OPCODES = (0x03, 0x07, 0x0f, 0x13, 0x17, 0x1b, 0x23, 0x27, 0x2f, 0x33, 0x37, 0x3b, 0x43, 0x47, 0x4b, 0x4f, 0x53, 0x57,
           0x63, 0x67, 0x6f, 0x73, 0x0b, 0x2b, 0x5b, 0x7b, 0x77)


def words(word):
    chance = random.Random(word)
    lines = []
    for i in range(60000):
        value = chance.getrandbits(32) & ~0x7f | OPCODES[i % len(OPCODES)]
        if chance.random() < 0.5:  # what is not any number in most instructions
            value = value & 0x1ffff7f | chance.choice((0, 1, 4, 5, 8, 0x10, 0x20, 0x2c, 0x30, 0x50, 0x60, 0x70)) << 25
        lines.append(".4byte 0x%x" % value)
    lines += [".4byte 0x%x" % (function << 12 | csr << 20 | reg << 15 | to << 7 | 0x73)
              for csr in (0x140, 0x141, 0x340, 0x341, 0x300, 0xc00) for function in (1, 2, 3, 5, 6, 7)
              for reg in (0, 2, 9) for to in (0, 2, 9)]
    return compare(word, made("words", "\n".join(lines), word, ALL if word == 8 else ALL_32))


def system(word):
    """Each instruction without operands of those that the CPU's modes have: one of them may end a way."""
    lines = [".4byte 0x%x" % (function << 20 | 0x73) for function in range(4096)]
    return compare(word, made("system", "\n".join(lines), word, ALL if word == 8 else ALL_32))


def images(word):
    if word == 8:
        root = "/usr/riscv64-linux-gnu/lib/"
        return [root + name for name in ("libc.so.6", "libm.so.6", "libgomp.so.1", "libgcc_s.so.1")]
    root = run("riscv64-unknown-elf-gcc", "-print-file-name=")[0].strip()
    return [root + kind + "/libgcc.a" for kind in ("rv32im/ilp32", "rv32imac/ilp32", "rv32imafdc/ilp32d")]


def again(image):
    """Each instruction is what a decoder says that knows no image: twice, and where its last bytes are not there."""
    text = run(OUT + "/decodes", os.path.realpath(image))[0]
    found = re.fullmatch(r"(\d+) instructions, (\d+) others\n", text)
    must(found and int(found.group(1)) > 1000 and found.group(2) == "0", text)
    return found.group(1) + " instructions"


def again_32():
    run("gcc", "-m32", "-O2", "-nostdlib", "-shared", "-ffreestanding", "-I.", "sfu.c", "-o", WORK + "/i386.so")
    return again(WORK + "/i386.so")


def main():
    os.makedirs(WORK, exist_ok=True)
    test("x86_64: decoded before", again, "/lib/x86_64-linux-gnu/libc.so.6")
    test("i386: decoded before", again_32)
    for word in (8, 4):
        for image in images(word):
            name = "/".join(image.split("/")[-3:]) if word == 4 else os.path.basename(image)
            test("riscv%d %s" % (8 * word, name), compare, word, image)
        test("riscv%d halves" % (8 * word), halves, word)
        test("riscv%d words" % (8 * word), words, word)
        test("riscv%d system" % (8 * word), system, word)
    decoder_arm.main()


if __name__ == "__main__":
    main()
    finish()

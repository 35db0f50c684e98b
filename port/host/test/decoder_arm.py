# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""For decoder.py: what port/host/code/arm.c says of each instruction is what objdump prints: its length, its condition,
the registers that it writes, where it goes, and what it loads, stores and computes. Prints a line for each test.

Images are newlib and libgcc for several CPUs; all halves that are instructions of T32; and words made at random.
"""
import os
import random
import re
import subprocess

from host import OUT, must, run, test, write

WORK = OUT + "/work/code-decoder-arm"
TOOL = "arm-none-eabi-"
LINE = re.compile(r"^ *([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(\S+)(?:\t([^@;\n]*))?([^\n]*)", re.M)
CONDITIONS = ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"]
REGISTERS = {"r%d" % i: i for i in range(16)}
REGISTERS.update({"sl": 10, "fp": 11, "ip": 12, "sp": 13, "lr": 14, "pc": 15})

# Those that write no general register, but for a base.
NOTHING = re.compile(r"(str|strb|strh|strt|strbt|strht|stl|stlb|stlh|strd|stm\w*|push|cmp|cmpp|cmn|cmnp|tst|tstp|teq|"
                     r"teqp|b|bl|bx|blx|bxj|bxns|blxns|cbn?z|nop|yield|wfe|wfi|sev|sevl|hint|esb|csdb|bti|dbg|svc|bkpt|"
                     r"hlt|hvc|smc|udf|msr|mcrr?2?|cdp2?|[ls][td]c2?l?|pld|pldw|pli|dmb|dsb|isb|sb|pssbb|ssbb|clrex|"
                     r"cps|cpsi[de]|setend|setpan|it[te]*|tb[bh]|rfe\w*|srs\w*|eret|dcps\d|sg|v(?!mov|mrs|cmp)\w*|"
                     r"vcmpe?|sha(1|256)\w+|aes\w+|f?ldm\w*x|f?stm\w*x|fld\w*|fst\w*)$")
TWO = re.compile(r"(ldrd|umull|smull|umlal|smlal\w*|umaal|smlald\w?|smlsld\w?|mrrc2?|ldrexd|ldaexd)s?$")
# What may change more than operands show, or whose effect nobody follows.
ANY = re.compile(r"(le|svc|bkpt|hlt|hvc|smc|msr|cps|cpsi[de]|bl|blx|blxns|mrs)$")
# Not known on purpose: what a coprocessor of the user's own does, and what stores to another mode's stack.
UNKNOWN = re.compile(r"(rfe\w*|srs\w*|cdp2?|[ls][td]c2?l?|ldm\w*|stm\w*|push|pop|eret|cps\w*|dcps\d|bxj|bxaut|autg|"
                     r"pacg|sg|bfc?sel|bfl?x?|[wd]lstp|letp|ldrd|strd|msr|pl[di]w?|vl[sd]\w+|vst\w+|"
                     r"v\w+|tt\w*|csdb|dbg)$")


def shown(file, *options):
    """(PC, bytes as a number, size, mnemonic, operands, remarks) of all that objdump knows in FILE."""
    found = []
    for pc, code, name, operands, rest in LINE.findall(run(TOOL + "objdump", "-d", "-z", *options, file)[0]):
        parts = code.split()
        raw = b"".join(bytes.fromhex(part)[::-1] for part in parts)
        found.append((int(pc, 16), int.from_bytes(raw, "little"), len(raw), name, operands.strip(), rest))
    return found


def said(mode, instructions):
    lines = "".join("%x %x %d\n" % (pc, value, size) for pc, value, size, *_ in instructions)
    done = subprocess.run([OUT + "/decodes", mode], input=lines, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def plain_name(mode, value, name):
    """The name without width and condition, and the condition."""
    name = re.sub(r"\.[nw]$", "", name.lower())
    condition = value >> 28 if mode == "a" else 14
    if mode == "a" and condition < 14 and not name.startswith("b."):
        suffix = CONDITIONS[condition]
        head, dot, tail = name.partition(".")
        if head.endswith(suffix):
            return head[:-2] + dot + tail, condition
        if head[:-1].endswith(suffix) and head[-1] == "l":
            return head[:-3] + "l" + dot + tail, condition
    if mode == "t":
        match = re.fullmatch("b(%s)" % "|".join(CONDITIONS), name)
        if match:
            return "b", CONDITIONS.index(match[1])
        match = re.fullmatch(r"(str[bhd]?|cmp|tst|push|stm\w*|v[^.]*)(%s)(\..*)?" % "|".join(CONDITIONS), name)
        if match and name != "vmls":  # in an IT block, which the reader is not told of here
            return match[1] + (match[3] or ""), 14
    return name, condition


def registers_of(text):
    """The registers in a list in braces."""
    found = set()
    for part in text.strip("{}^ ").split(","):
        ends = [REGISTERS.get(end.strip()) for end in part.split("-")]
        if None in ends:
            return set()
        found.update(range(ends[0], ends[-1] + 1))
    return found


def written(name, operands):
    """The general registers that an instruction writes, by objdump's words."""
    plain = name.split(".")[0]
    found = set()
    if plain == "clrm":
        return registers_of(operands.replace("APSR", "r15"))
    if plain.startswith(("vld", "vst")):
        operands = re.sub(r"\{[^}]*\}", "d0", operands)
    base = re.search(r"\[(\w+)[^\]]*\](!|, *(?!\{)\S)", operands) or re.match(r"(\w+)!", operands)
    if base and base[1] in REGISTERS:
        found.add(REGISTERS[base[1]])
    if plain in ("push", "pop", "vpush", "vpop"):
        found.add(13)
    lists = re.search(r"\{[^}]*\}", operands)
    if plain.startswith(("ldm", "pop")) and lists:
        return found | registers_of(lists[0])
    parts = [part.strip() for part in operands.split(",")]
    if plain in ("vmov", "vmrs", "mrc", "mrc2", "mrrc", "mrrc2"):
        if plain in ("mrc", "mrc2"):
            parts = parts[2:3]
        elif plain in ("mrrc", "mrrc2"):
            parts = parts[2:4]
        elif plain == "vmov" and len(parts) > 2 and parts[1] in REGISTERS and parts[0] in REGISTERS:
            parts = parts[:2]
        else:
            parts = parts[:1]
        return found | {REGISTERS[part] for part in parts if part in REGISTERS}
    if plain in ("vmov", "push") or NOTHING.match(plain):
        return found
    for part in parts[:2 if TWO.match(plain) else 1]:
        if part in REGISTERS:
            found.add(REGISTERS[part])
    if plain.startswith("ldrd") and parts[1] not in REGISTERS and parts[0] in REGISTERS:
        found.add(REGISTERS[parts[0]] + 1)
    return found


def by_ops(ops):
    """The registers that are not what they were, by what is said."""
    changed = set()
    for op in ops:
        what, reg, last, _, _, extra = op.split(",")
        if what == "loads":
            changed.update(i for i in range(16) if int(extra) >> i & 1)
        elif what in ("forget", "load"):
            changed.update(range(int(reg), int(last) + 1))
        elif what == "control":
            changed.add(13)
        elif what == "mode":
            changed.update((13, 14))
        elif what == "save":
            changed.update([13] if extra != "0" else [])
        elif what not in ("store", "stores", "write", "bound"):
            changed.add(15 if reg == "35" else int(reg))
    return {reg for reg in changed if reg < 15}


def address(text):
    """[BASE, #K], what is written back, and whether behind the access; or None."""
    match = re.fullmatch(r"\[(\w+)(?:, #(-?\d+))?(?::\d+)?\](!)?(?:, #(-?\d+))?", text)
    if not match or match[1] not in REGISTERS or match[1] == "pc":
        return None
    base, k, post = REGISTERS[match[1]], int(match[2] or 0), match[4]
    return base, 0 if post is not None else k, k if match[3] else int(post) if post is not None else None


STORES = {"str": 4, "strb": 1, "strh": 2}
LOADS = {"ldr": 4, "ldrb": 1, "ldrh": 2, "ldrsb": 17, "ldrsh": 18}


def meaning(name, operands):
    """What must be said, as far as that is a matter of single operations; None: it is not."""
    parts = [part.strip() for part in operands.split(", ", 1)]
    first = REGISTERS.get(parts[0])
    at = address(parts[1]) if len(parts) == 2 else None
    if name in STORES and at and first not in (None, 15):
        store = "store,%d,%d,%d,%d,0" % (first, first, at[0], at[1]) if STORES[name] == 4 else \
            "write,1,255,%d,%d,%d" % (at[0], at[1], STORES[name])
        return [store] + (["set,%d,0,%d,%d,0" % (at[0], at[0], at[2])] if at[2] is not None else [])
    if name in LOADS and at and first not in (None, 15):
        load = "load,%d,%d,%d,%d,0" % (first, first, at[0], at[1]) if name == "ldr" else \
            "table,%d,%d,%d,%d,65535" % (first, LOADS[name], at[0], at[1])
        return [load] + (["set,%d,0,%d,%d,0" % (at[0], at[0], at[2])] if at[2] is not None else [])
    if name in ("push", "pop") and parts[0].startswith("{"):
        mask = sum(1 << reg for reg in registers_of(operands))
        size = 4 * bin(mask).count("1")
        if size == 4 or mask & (1 << 13):  # one may be str or ldr
            return None
        return [("stores,0,0,13,%d,%d" if name == "push" else "loads,0,0,13,%d,%d")
                % (-size if name == "push" else 0, mask), "set,13,0,13,%d,0" % (-size if name == "push" else size)]
    if name in ("vpush", "vpop"):
        ends = [int(end) for end in re.findall(r"[sd](\d+)", operands)]
        size = (8 if "d" in operands else 4) * (ends[-1] - ends[0] + 1)
        return (["write,1,255,13,%d,%d" % (-size, size)] if name == "vpush" else []) + \
            ["set,13,0,13,%d,0" % (-size if name == "vpush" else size)]
    numbers = [part.strip() for part in operands.split(",")]
    if name in ("add", "adds", "addw", "sub", "subs", "subw") and first not in (None, 15) and \
            re.fullmatch(r"#-?\d+", numbers[-1]):
        base = REGISTERS[numbers[1]] if len(numbers) == 3 else first
        k = int(numbers[-1][1:]) * (1 if name.startswith("add") else -1)
        if base != 15 and len(numbers) < 4:
            k = (k + (1 << 31)) % (1 << 32) - (1 << 31) if abs(k) >= 1 << 31 else k
            return ["set,%d,0,%d,%d,0" % (first, base, k)]
    if name in ("mov", "movs") and first not in (None, 15) and len(numbers) == 2:
        if numbers[1] in REGISTERS and numbers[1] != "pc":
            return ["set,%d,0,%d,0,0" % (first, REGISTERS[numbers[1]])]
        if re.fullmatch(r"#-?\d+", numbers[1]):
            return ["number,%d,0,0,%d,0" % (first, (int(numbers[1][1:]) + (1 << 31)) % (1 << 32) - (1 << 31))]
    if name == "movw" and first not in (None, 15):
        return ["number,%d,0,0,%d,0" % (first, int(numbers[1][1:]))]
    if name == "movt" and first not in (None, 15):
        return ["insert,%d,16,0,%d,0" % (first, int(numbers[1][1:]))]
    return None


def judge(mode, instruction, answer, linked):
    """What is wrong with ANSWER; None: nothing; False: it is not known, and need not be."""
    _, value, size, full, operands, rest = instruction
    own_size, flow, target, condition, *ops = answer
    plain = full.lower().split(".")[0]
    top, which = (value >> 28, value >> 8 & 15) if mode == "a" else (value >> 12 & 15, value >> 24 & 15)
    space = (value >> 24 & 15) if mode == "a" else (value >> 8 & 15)
    if size == 4 and (mode == "a" or top > 13) and 12 <= space <= 14 and \
            (which < 8 and not plain.startswith(("mcr", "mrc", "mcrr", "mrrc")) or
             top == 15 and which in range(8, 14) and not plain.startswith("v")):
        return False  # of coprocessors that no CPU has, and of vectors that objdump does not know
    if mode == "a" and re.match("cm[pn]|t[se][tq]", full) and not value >> 20 & 1:
        return False  # what should be zero is not: other instructions
    if re.search(r"\[pc\b[^\]]*\](!|,)|^pc!|, pc\b|^pc,", operands) and \
            not plain.startswith(("ldr", "mov", "add", "sub")):
        return False
    if re.search("illegal|invalid|Deprecated|bad align", full + operands + rest) or \
            re.match(r"ldr(s?[bh])t? pc,", plain + " " + operands) and "pc" in operands:
        return False
    if plain.startswith("msr") and (operands.count(",") > 1 or mode == "a" and value >> 4 & 15):
        return False
    if plain.startswith(("undefined", "crc32", "ldr?", "str?")):  # objdump has another register for crc32
        return False
    if "UNDEFINED" in rest or "UNPREDICTABLE" in rest or full.startswith((".", "<", "0x")) or \
            "UNDEFINED" in operands or "UNPREDICTABLE" in operands or "impl-def" in operands or "<und" in operands:
        return False
    name, wanted = plain_name(mode, value, full)
    if own_size == "0":
        # mul of pc and so on: no CPU has to do anything then
        return False if UNKNOWN.match(name.split(".")[0]) or re.search(r"\bpc\b|\bsp\b", operands) or \
            "!" in operands or "], " in operands or \
            re.search(r"\[\w+, -?\w+", operands) and mode == "t" else "is not known"
    if int(own_size) != size:
        return "its size is %s" % own_size
    if int(condition) != (wanted + 1 if wanted < 14 else 0) and not name.startswith("it"):
        return "its condition is %s" % condition
    if linked and name.startswith("b") and flow in ("jump", "branch", "call") and \
            re.match(r"[0-9a-f]+\b", operands) and \
            int(target, 16) != int(operands.split()[0], 16) & 0xffffffff:
        return "goes to %s" % target
    flows = {"b": "jump", "bl": "call", "blx": "call", "blxns": "call", "bx": "away", "bxns": "away", "bxj": "away",
             "cbz": "branch", "cbnz": "branch", "tbb": "away", "tbh": "away", "udf": "stop", "eret": "resume"}
    if name in flows and flow != flows[name]:
        return "is a %s" % flow
    if name not in flows and flow not in ("next", "away", "resume") and \
            not name.startswith(("rfe", "dls", "wls", "le")):
        return "is a %s" % flow
    gone, changed = written(name, operands), by_ops(ops)
    if name not in flows and (15 in gone) != (flow in ("away", "resume")) and not name.startswith("rfe"):
        return "goes on as %s" % flow
    gone -= {15}
    if not gone <= changed:
        return "does not write %s" % (gone - changed)
    if name == "nop" and ops and ops[0].split(",")[1] == ops[0].split(",")[3]:
        return None  # mov r8, r8
    changed -= {int(op.split(",")[1]) for op in ops if re.fullmatch(r"set,(\d+),0,\1,0,0", op)} - gone
    if changed != gone and not ANY.match(name) and not (name.startswith(("ldm", "pop")) and "^" in operands):
        return "writes %s" % changed
    meant = meaning(name, operands) if "^" not in operands else None
    ops = [op for op in ops if not op.startswith("number,15,")]
    if meant is not None and ops != meant:
        return "is not %s" % meant
    return None


def agree(mode, instructions, linked=True):
    known, not_known, names = 0, 0, set()
    answers = said(mode, instructions)
    must(len(answers) == len(instructions), "%d answers for %d" % (len(answers), len(instructions)))
    for instruction, answer in zip(instructions, answers):
        wrong = judge(mode, instruction, answer, linked)
        must(not wrong, "0x%x: %s %s: %s: %s" % (instruction[0], instruction[3], instruction[4], wrong, answer))
        if wrong is None:
            known += 1
            names.add(instruction[3])
        else:
            not_known += answer[0] == "0"
    must(known > len(instructions) // 3, "%d of %d are known" % (known, len(instructions)))
    return "%d instructions agree, of %d kinds; %d are not known" % (known, len(names), not_known)


def made(name, lines, arch, mode, *more):
    source = "%s/%s.s" % (WORK, name)
    write(source, "\n".join([".syntax unified", ".arch " + arch, *more, ".thumb" if mode == "t" else ".arm"] + lines +
                            [""]).encode())
    run(TOOL + "as", source, "-o", source + ".o")
    return source + ".o"


def halves():
    lines = [".inst.n 0x%x" % half for half in range(0xe800) if half >> 8 != 0xbf or half & 15 == 0]
    return agree("t", shown(made("halves", lines, "armv8-a", "t")))


def wide(arch, *more):
    chance = random.Random(arch)
    lines = []
    for i in range(40000):
        half = chance.randrange(0xe800, 0x10000)
        lines.append(".inst.w 0x%08x" % (half << 16 | chance.getrandbits(16)))
    return agree("t", shown(made("wide-" + arch, lines, arch, "t", *more)))


def words():
    chance = random.Random(32)
    lines = []
    for i in range(40000):
        value = chance.getrandbits(32)
        if chance.random() < 0.7:
            value = value & 0x0fffffff | 0xe0000000
        if chance.random() < 0.3:
            value &= 0xfffff0ff  # what should be zero often is
        lines.append(".inst 0x%08x" % value)
    return agree("a", shown(made("words", lines, "armv8-a", "a", ".fpu neon-fp-armv8")))


def library(kind, name):
    file = run(TOOL + "gcc", *kind, "-print-file-name=" + name)[0].strip()
    return agree("t" if "-mthumb" in kind else "a", [i for i in shown(file) if not i[3].startswith(".")], False)


def main():
    os.makedirs(WORK, exist_ok=True)
    test("T32 halves", halves)
    test("T32 words, A profile", wide, "armv8-a", ".fpu neon-fp-armv8")
    test("T32 words, M profile", wide, "armv8-m.main")
    test("A32 words", words)
    test("T32 libm", library, ["-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard"], "libm.a")
    test("T32 libgcc of ARMv6-M", library, ["-mthumb", "-mcpu=cortex-m0"], "libgcc.a")
    test("A32 libc", library, ["-marm"], "libc.a")

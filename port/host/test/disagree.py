#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""disagree.py IMAGE...: where machine code contradicts the call frame information (CFI) of images of x86_64, by cause.

sfu-gen makes tables of each image twice, with --cfi=keep and without. objdump reads both; where they differ, the code
has been believed. Each such place must have a cause that FAULTS.md has an entry for. What has none is printed, and
fails the run. The causes:

late        FAULTS.md: clang-flags: the CFA of CFI follows a push, pop, add or sub one or more instructions late
gc          FAULTS.md: ocaml-gc: a call behind a function of OCaml's, with the frame of another place than CFI says
assembly    FAULTS.md: assembly-cfi: a function in assembly, or inline assembly, that moves SP without saying so
fp          FAULTS.md: go-fp: FP is saved, and CFI does not say where
"""
import bisect
import collections
import json
import os
import re
import subprocess
import sys

GEN, WORK = "build/tools/sfu-gen", "build/host/work/disagree"
CHANGES_SP = re.compile(r"(push|pop|enter|leave)|(add|sub|lea)\b.*%rsp$")


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, text=True)


def rows(image, option):
    """What sfu-gen makes of IMAGE: its numbers, where its rows begin, and (CFA, FP, RA, start of the entry) of each."""
    made = WORK + "/made"
    numbers = json.loads(run(GEN, "--json", "--forget", option, "--side=" + made, image).stdout)
    starts, rules = [], []
    # With --small an entry is no function: here each one is.
    listing = subprocess.Popen(["build/tc/x86_64/objdump", "--sframe", made], stdout=subprocess.PIPE, text=True)
    entry = end = 0
    for line in listing.stdout:
        function = re.search(r"func idx .*pc = 0x([0-9a-f]+), size = (\d+)", line)
        row = re.match(r" +([0-9a-f]{16}) +(\S+?[-+]\d+\)?|\S+) *(\S+) +(\S+)", line)
        if function:
            if int(function[1], 16) > end:
                starts.append(end)
                rules.append((None, None, None, end)) # no code, or padding
            entry = int(function[1], 16)
            end = entry + int(function[2])
        elif row:
            at = int(row[1], 16)
            starts.append(at if at >= entry else entry + at) # a PLT: counted from each of its entries
            rules.append((row[2], row[3], row[4], entry))
    listing.wait()
    starts.append(end)
    rules.append((None, None, None, end))
    os.remove(made)
    return numbers, starts, rules


def row_at(starts, rules, pc):
    at = bisect.bisect_right(starts, pc) - 1
    return rules[at], starts[at + 1] if at + 1 < len(starts) else pc + 1


def differences(starts, kept, code):
    """(start, end, rules of CFI, rules of the code), by address, joined where the rules stay."""
    found = []
    for start in sorted(set(starts) | set(code[0])):
        told, said = row_at(starts, kept, start)[0][:3], row_at(*code, start)[0][:3]
        if found and found[-1][1] is None:
            found[-1][1] = start
        if told != said:
            found.append([start, None, told, said])
    return found


def instructions(image, start, end):
    text = run("objdump", "-d", "--no-show-raw-insn", "--start-address=%d" % start, "--stop-address=%d" % end,
               image).stdout
    name = re.search(r"(?m)^[0-9a-f]+ <(.*?)(@@.*)?>:$", text)
    found = re.findall(r"(?m)^ *([0-9a-f]+):\t(.*)$", text)
    return name[1] if name else "", [(int(at, 16), re.sub(r" +", " ", what).strip()) for at, what in found]


def cause(image, difference, starts, kept):
    """Why CFI is wrong there, or None."""
    start, end, told, said = difference
    if told[0] == said[0] and told[1] == "u" and re.match(r"c[-+]\d+$", said[1]):
        return "fp"
    entry = row_at(starts, kept, start)[0][3]
    name, code = instructions(image, entry, end + 16)
    before = [what for at, what in code if at < start][-1:]
    here = [what for at, what in code if start <= at < end]
    if here and re.match(r"call .*<caml_(call_gc|ml_array_bound_error)\b", here[0]):
        return "gc"
    entry_rows = {row_at(starts, kept, at)[0][0] for at, _ in code if at < end}
    if entry_rows == {"sp+8"} or (before and re.match(r"pushf|(mov|and) .*%rsp$", before[0])) or \
            name in ("caml_raise_exn", "caml_raise_exception"):
        return "assembly"
    if before and moves(before[0]) is not None and sp_offset(said) == sp_offset(told, 1) + moves(before[0]):
        return "late"
    later = {row_at(starts, kept, at)[0][0] for at, _ in code if start < at <= end}
    if before and (CHANGES_SP.match(before[0]) and CHANGES_SP.match(here[-1]) or
                   re.match("push|pop|add|sub|jmp", before[0]) and said[0] in later):
        return "late"
    return None


def sp_offset(rules, unknown=0):
    at = re.match(r"sp\+(\d+)$", rules[0])
    return int(at[1]) if at else unknown


def moves(instruction):
    """How far INSTRUCTION moves the CFA away from SP, or None."""
    by = re.match(r"(add|sub) \$(-?0x[0-9a-f]+),%rsp$", instruction)
    if by:
        return (1 if by[1] == "sub" else -1) * int(by[2], 16)
    return 8 if instruction.startswith("push") else -8 if instruction.startswith("pop") else None


def judge(image):
    numbers, *code = rows(image, "--cfi=check")
    _, starts, kept = rows(image, "--cfi=keep")
    found = differences(starts, kept, code)
    causes, unexplained = collections.Counter(), 0
    for difference in found:
        why = cause(image, difference, starts, kept)
        if why is None:
            print("%s: 0x%x to 0x%x: %s by CFI, %s by the code: no known cause" % (image, *difference))
            unexplained += 1
        else:
            causes[why] += difference[1] - difference[0]
    print("%s | %d | %d | %d | %d | %d | %s" % (
        os.path.basename(image), numbers["covered"], numbers["code"]["reached"], numbers["code"]["confirmed"],
        len(numbers["corrections"]), numbers["code"]["corrected"],
        ", ".join("%s %d" % pair for pair in sorted(causes.items())) or "-"), flush=True)
    return unexplained == 0


def main():
    os.makedirs(WORK, exist_ok=True)
    print("image | PCs with CFI | reached | confirmed | functions that differ | PCs that differ | of them by cause")
    sys.exit(0 if all([judge(image) for image in sys.argv[1:]]) else 1)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""facts.py [SECONDS]: instructions that are executed one by one, by this machine and by QEMU, do what port/host/code
says of them: their length, the registers and the bytes of the stack that they change, and where they go. Without
SECONDS: those of facts.txt, each with several sets of registers, and random ones from fixed seeds; and what is broken
in the facts or in a decoder is noticed. With SECONDS: random ones for so long, from other seeds each time. T in the
environment chooses.
"""
import os
import subprocess
import sys
import time

from host import OUT, finish, must, read, run, test, write

WORK = OUT + "/work/facts"
TEXT = "port/host/test/facts.txt"
# Vectors have 16 bytes: SVE's smallest, and RISC-V's by default.
QEMU = {"x86_64": [], "i386": ["test/lib/run_m32.sh"],
        "aarch64": ["qemu-aarch64", "-cpu", "max,sve-default-vector-length=16"],
        "s390x": ["qemu-s390x", "-cpu", "max"],
        "riscv64": ["qemu-riscv64", "-cpu", "rv64,v=true,vext_spec=v1.0"],
        "riscv32": ["qemu-riscv32", "-cpu", "rv32,v=true,vext_spec=v1.0"],
        "arm": ["qemu-arm", "-cpu", "max"], "thumb": ["qemu-arm", "-cpu", "max"]}
RUNNER = {"thumb": "arm"}
SIZES = {"in": 16 + 33 * 8, "out": 24 + 32 * 8 + 2048}
LATE = 10  # seconds without a result
RANDOM, SEED, SETS = 1500, 1, 16


def execute(cpu, name, how=""):
    """Lets the CPU execute what is in NAME.in, to NAME.out, or to NAME-inverted.out if HOW says so. Of an instruction
    that ends QEMU or hangs it the record is empty; returns their bytes, with what QEMU said."""
    fatal, out = [], name + how + ".out"
    program = QEMU[cpu] + ["%s/facts_run-%s%s" % (OUT, RUNNER.get(cpu, cpu), how)]
    num = os.path.getsize(name + ".in") // SIZES["in"]
    with open(name + ".in", "rb", buffering=0) as said, open(out, "wb", buffering=0) as heard:
        done = 0
        while done < num:
            said.seek(done * SIZES["in"])
            process = subprocess.Popen(program, stdin=said, stdout=heard, stderr=subprocess.PIPE)
            before, begun = -1, time.time()
            while process.poll() is None:
                try:
                    process.wait(0.5)
                except subprocess.TimeoutExpired:
                    size = os.path.getsize(out)
                    if size != before:
                        before, begun = size, time.time()
                    elif time.time() - begun > LATE:
                        process.kill()
            why = process.stderr.read().decode(errors="replace").strip().splitlines()
            process.stderr.close()
            done = os.path.getsize(out) // SIZES["out"]
            heard.seek(done * SIZES["out"])
            heard.truncate()
            if done < num:
                said.seek(done * SIZES["in"])
                fatal.append((said.read(8).hex(), why[0] if why else "status %d" % process.returncode))
                heard.write(bytes(SIZES["out"]))
                done += 1
    return fatal


# A fault of each kind: what a store writes, what a register gets, where the PC goes, how long an instruction is.
FAULTS = [
    ("x86_64", "x86_64.c", "code_add(fact, CODE_SET, sp, 0, sp, stack_bytes(d));",
     "code_add(fact, CODE_SET, sp, 0, sp, 8);"),
    ("i386", "x86_64.c", "code_add(fact, CODE_LOAD, EBP, EBP, ESP, 8);",
     "code_add(fact, CODE_LOAD, EBP, EBP, ESP, 12);"),
    ("i386", "x86_64.c", "return d->insn.operand_width == 16 ? 2 : d->mode->word;",
     "return d->insn.operand_width == 16 ? 2 : 8;"),
    ("x86_64", "x86_64.c", "pass(d, fact, &d->op[i]);", ";"),
    ("i386", "x86_64.c", "flags->set_0 & ZYDIS_CPUFLAG_DF ? 1 : -1", "1"),
    ("aarch64", "aarch64.c", "int64_t k = offset_of(word, 15, 7) * (1 << shift), at = mode == 1 ? 0 : k;",
     "int64_t k = offset_of(word, 15, 7) * (1 << shift), at = k;"),
    ("aarch64", "aarch64.c", "unsigned bytes = num_registers[opcode] * (field(word, 30, 1) ? 16u : 8u);",
     "unsigned bytes = num_registers[opcode] * 8u;"),
    ("s390x", "s390x.c", "{0xeb, 0x52, 0x52, 1, AT_20},", "{0xeb, 0x52, 0x52, 0, NOTHING},"),
    ("s390x", "s390x.c", "return displacement(p) + 4096 * (int64_t)(int8_t)p[2];", "return displacement(p);"),
    ("riscv64", "riscv.c", "code_overwrite(fact, read(rs1(i->word)), imm_s(i->word), 1u << function);",
     "code_overwrite(fact, read(rs1(i->word)), imm_s(i->word), 1);"),
    ("riscv32", "riscv.c", "return xlen == 8 ? make_s(STORE, 3, base, to, by_8) : make_s(STORE_FP, 2, base, to, by_4);",
     "return make_s(STORE_FP, 2, base, to, by_8);"),
    ("arm", "arm.c", "low = (up ? 0 : -bytes) + (up == before ? 4 : 0);", "low = up ? 0 : -bytes;"),
    ("thumb", "arm.c", "a.post = !field(word, 10, 1);", "a.post = false;"),
]


def make(name, *arguments, stdin=None):
    with open(name + ".in", "wb") as file:
        subprocess.run([OUT + "/facts"] + list(arguments), stdout=file, stdin=stdin or subprocess.DEVNULL, check=True)


def judged(program, how, cpu, name, *more):
    """What PROGRAM says of the records: its status, its lines."""
    done = subprocess.run([program, how, cpu, name + ".in", name + ".out", *more], capture_output=True, text=True,
                          check=False)
    must(done.returncode in (0, 1), "status %d" % done.returncode)
    return done.returncode, done.stdout.splitlines()


def is_fine(cpu, name, fatal, share):
    status, lines = judged(OUT + "/facts", "judge", cpu, name)
    must(status == 0 and lines, "; ".join(lines[-8:]))
    executed, num = int(lines[-1].split()[0]), int(lines[-1].split()[2])
    must(executed >= share * num, lines[-1])
    return lines[-1] + "".join("; %s ends QEMU: %s" % (code, why) for code, why in fatal[:4])


def at_random(cpu, seed, num):
    """Nothing is otherwise than is said, of at least one in twelve that can be executed."""
    name = "%s/%s-%d" % (WORK, cpu, seed)
    make(name, "make", cpu, str(seed), str(num))
    return is_fine(cpu, name, execute(cpu, name), 1 / 12)


def listed():
    """What facts.txt has: for each CPU its instructions, and how much of each may be left out."""
    codes = {cpu: {} for cpu in QEMU}
    for line in read(TEXT).decode().splitlines():
        if line and not line.startswith("#"):
            cpu, code, most = line.split()[:3]
            codes[cpu][code] = int(most)
    return codes


def replay(cpu, codes):
    """Those of facts.txt: nothing is otherwise than is said, and if something of what is said is left out, that is
    noticed."""
    name = "%s/%s-listed" % (WORK, cpu)
    write(name + ".hex", "".join(code + "\n" for code in codes).encode())
    with open(name + ".hex", "rb") as file:
        make(name, "take", cpu, str(SEED), str(SETS), stdin=file)
    fatal = execute(cpu, name)
    must(not fatal, fatal)
    said = is_fine(cpu, name, fatal, 0.9)
    lines = judged(OUT + "/facts", "faults", cpu, name)[1]
    missed = [line.split()[0] for line in lines if line.endswith("may be left out")]
    wrong = [code for code in codes if missed.count(code) > codes[code]]
    must(not wrong, "who notices what is left out of " + " ".join(wrong))
    return said


# What is not said to be overwritten though it always is: where blocks and vectors are longer here than on other CPUs,
# or at a place that depends on that; below SP, where no word of the frame is, and two that save all of the FPU (x86).
LONGER = {"aarch64": {"e04b80e5", "20740bd5"}, "s390x": {"b2b0f010"}, "riscv64": {"27008402"}, "riscv32": {"27008402"},
          "x86_64": {"9c", "6650", "dd742410", "0fae442440"},
          "i386": {"9c", "6650", "661e", "60", "6660", "1e", "dd3424", "0fae0424"}}


def lost(cpu, codes):
    """Of what those of facts.txt overwrite, whatever was there, that is said: it differs in no run on a stack that has
    the other bits before."""
    name = "%s/%s-listed" % (WORK, cpu)
    must(not execute(cpu, name, "-inverted"), "an instruction ends QEMU")
    lines = judged(OUT + "/facts", "lost", cpu, name, name + "-inverted.out")[1]
    must(int(lines[-1].split()[0]) >= 8 * len(codes), lines[-1])
    wrong = {line.split()[0] for line in lines[:-1]} - LONGER.get(cpu, set())
    must(not wrong, "overwritten: " + " ".join(sorted(wrong)))
    return lines[-1]


def planted(cpu, file, old, new):
    """A fault in a decoder is noticed with the instructions of facts.txt, as they were executed."""
    text = read("port/host/code/" + file).decode()
    must(text.count(old) == 1, "%s has %d times %s" % (file, text.count(old), old))
    write("%s/%s" % (WORK, file), text.replace(old, new).encode())
    objects = [name for name in read(OUT + "/facts.objects").decode().split()
               if os.path.basename(name) != file[:-2] + ".o"]
    run("gcc", "-std=c99", "-D_GNU_SOURCE", "-O0", "-w", "-I.", "-Iport/host", "-Iport/host/code",
        *read(OUT + "/facts.flags").decode().split(), "%s/%s" % (WORK, file), *objects,
        *read(OUT + "/facts.libraries").decode().split(), "-o", WORK + "/planted")
    status, lines = judged(WORK + "/planted", "judge", cpu, "%s/%s-listed" % (WORK, cpu))
    must(status == 1, "nobody notices")
    return lines[0]


def main():
    os.makedirs(WORK, exist_ok=True)
    if len(sys.argv) > 1:
        end = time.time() + float(sys.argv[1])
        while time.time() < end:
            for cpu in QEMU:
                seed = time.time_ns() % 1000000007
                test("%s seed %d" % (cpu, seed), at_random, cpu, seed, 4000)
        return
    for cpu, codes in listed().items():
        test("%s listed" % cpu, replay, cpu, codes)
        test("%s overwritten" % cpu, lost, cpu, codes)
        test("%s at random" % cpu, at_random, cpu, SEED, RANDOM)
    test("arm, a jump to 0x8000", at_random, "arm", 958742109, 1400)
    for i, (cpu, file, old, new) in enumerate(FAULTS):
        test("%s fault %d" % (cpu, i), planted, cpu, file, old, new)


if __name__ == "__main__":
    main()
    finish()

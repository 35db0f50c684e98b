#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""facts.py [SECONDS]: random instructions, executed by this machine and by QEMU, do what port/host/code says of them:
their length, the registers and the bytes of the stack that they change, and where they go. Without SECONDS: a fixed
number of instructions, from fixed seeds. With SECONDS: as many as there is time for, from other seeds each time.
"""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gen
from gen import OUT, must, test

WORK = OUT + "/work/facts"
QEMU = {"x86_64": [], "aarch64": ["qemu-aarch64", "-cpu", "max"], "s390x": ["qemu-s390x", "-cpu", "max"],
        "riscv64": ["qemu-riscv64", "-cpu", "rv64,v=true,vext_spec=v1.0"]}
IN, OUT_SIZE = 16 + 32 * 8, 16 + 32 * 8 + 2048
NUM = 4000
SEEDS = (1, 2)


def executed(cpu, instructions):
    """What the CPU makes of INSTRUCTIONS. One that ends the program, or takes it too long, counts as not executed."""
    results = b""
    while len(results) // OUT_SIZE < len(instructions) // IN:
        rest = instructions[len(results) // OUT_SIZE * IN:]
        try:
            said = subprocess.run(QEMU[cpu] + ["%s/facts_run-%s" % (OUT, cpu)], input=rest, capture_output=True,
                                  timeout=60, check=False).stdout
        except subprocess.TimeoutExpired as late:
            said = late.stdout or b""
        said = said[:len(said) // OUT_SIZE * OUT_SIZE]
        results += said
        if len(said) // OUT_SIZE < len(rest) // IN:
            results += bytes(OUT_SIZE)
    return results


def facts(cpu, seed):
    """Most that can be executed is, and nothing is otherwise than is said."""
    name = "%s/%s-%d" % (WORK, cpu, seed)
    made = subprocess.run([OUT + "/facts", "make", cpu, str(seed), str(NUM)], capture_output=True, check=True).stdout
    for suffix, data in ((".in", made), (".out", executed(cpu, made))):
        with open(name + suffix, "wb") as file:
            file.write(data)
    done = subprocess.run([OUT + "/facts", "judge", cpu, name + ".in", name + ".out"], capture_output=True, text=True,
                          check=False)
    lines = done.stdout.splitlines()
    must(done.returncode == 0 and lines, "seed %d: %s" % (seed, "; ".join(lines[-8:])))
    must(int(lines[-1].split()[0]) > NUM // 12, lines[-1])
    return lines[-1]


def main():
    os.makedirs(WORK, exist_ok=True)
    end = time.time() + (float(sys.argv[1]) if len(sys.argv) > 1 else 0)
    for cpu in QEMU:
        for seed in SEEDS if len(sys.argv) < 2 else ():
            test("%s seed %d" % (cpu, seed), facts, cpu, seed)
    while time.time() < end:
        for cpu in QEMU:
            seed = time.time_ns() % 1000000007
            test("%s seed %d" % (cpu, seed), facts, cpu, seed)
    return gen.failed


if __name__ == "__main__":
    sys.exit(main())

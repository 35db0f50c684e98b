#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""tools.py TOOLS OUT: the tools beside small images by Debian's own compilers, in OUT.

sfu-gen makes tables in which neither it nor sfu-lint finds anything; whichever byte of them is changed, sfu-lint finds
something. sfu-trace names the functions of a log, and walks a stack that was laid by hand.
"""
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import finish, must, run, test  # noqa: E402

TOOLS, OUT = sys.argv[1:]
GEN, LINT, TRACE = (os.path.join(TOOLS, "sfu-" + name) for name in ("gen", "lint", "trace"))
CPUS = ("x86_64", "aarch64", "s390x")
FLAGS = ("-O2 -g -ffreestanding -nostdlib -static -fno-stack-protector -fasynchronous-unwind-tables "
         "-Wl,--build-id=none,-T,port/linux/sfu-gen.lds").split()
PROGRAM = """
volatile int sink;
#define NEXT(name, next, size) __attribute__((noinline)) int name(int x) \\
    { volatile char a[size]; a[0] = (char)x; return next(x + 1) + a[0]; }
__attribute__((noinline)) int last(int x) { return sink + x; }
NEXT(third, last, 300)
NEXT(second, third, 100)
NEXT(first, second, 8)
void _start(void) { sink = first(1); for (;;) { } }
"""
# Of these a stack can be laid by hand: CFA = SP + 8, + 32 behind sub, + 16 behind push.
STACK = """
    .globl _start, outer, inner
    .macro function name
    .type \\name, @function
\\name: .cfi_startproc
    .endm
    .macro end name
    .cfi_endproc
    .size \\name, . - \\name
    .endm
    function _start
    .cfi_undefined rip
    call outer
behind_outer: hlt
    end _start
    function outer
    sub $24, %rsp
    .cfi_adjust_cfa_offset 24
    call inner
behind_inner: add $24, %rsp
    .cfi_adjust_cfa_offset -24
    ret
    end outer
    function inner
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbp, -16
here: nop
    pop %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rbp
    ret
    end inner
    .section .note.GNU-stack, "", @progbits
"""


def symbols(cpu, image):
    lines = run(cpu + "-linux-gnu-nm", image)[0].splitlines()
    return {line.split()[-1]: int(line.split()[0], 16) for line in lines}


def build(cpu, name, text, suffix):
    image = "%s/%s-%s" % (OUT, cpu, name)
    with open(image + suffix, "w", encoding="utf-8") as f:
        f.write(text)
    run(cpu + "-linux-gnu-gcc", *FLAGS, image + suffix, "-o", image)
    run(GEN, "-q", "--strict", image)
    return image


def made(cpu):
    image = build(cpu, "program", PROGRAM, ".c")
    run(GEN, "-q", "--check", "--strict", image)
    said = run(LINT, image)[0]
    must(": fault: " not in said, said)


def tables(cpu, image):
    """Where in the file the tables are, and how long they are: as far as the last byte that is not 0."""
    lines = run(cpu + "-linux-gnu-readelf", "-SW", image)[0].splitlines()
    line = next(line for line in lines if ".sfu_sframe " in line)
    offset, size = (int(word, 16) for word in line.split("]")[1].split()[3:5])
    with open(image, "rb") as f:
        data = bytearray(f.read())
    return data, offset, len(bytes(data[offset:offset + size]).rstrip(b"\0"))


def repetitions(data):
    """Where the tables DATA have a repetition size: nothing reads it, as no function repeats its rows."""
    order = "<" if data[:2] == b"\xe2\xde" else ">"
    count, = struct.unpack_from(order + "I", data, 8)
    rows, = struct.unpack_from(order + "I", data, 24)
    offsets = (struct.unpack_from(order + "I", data, 28 + 16 * i + 12)[0] for i in range(count))
    return [28 + rows + offset + 4 for offset in offsets]


def planted(cpu):
    image = "%s/%s-program" % (OUT, cpu)
    data, offset, size = tables(cpu, image)
    missed = []
    for at in range(size):
        broken = bytearray(data)
        broken[offset + at] = (broken[offset + at] - 1) & 0xff
        with open(image + ".broken", "wb") as f:
            f.write(broken)
        commands = [LINT, "-q"], [GEN, "-q", "--check", "--strict"]
        status = [subprocess.run([*command, image + ".broken"], capture_output=True, check=False).returncode
                  for command in commands]
        must(set(status) <= {0, 1, 2}, "byte %d: %s" % (at, status))
        if not any(status):
            missed.append(at)
    must(missed == repetitions(data[offset:]), "nobody notices bytes %s of %d" % (missed, size))
    return "%d bytes" % size


def small_room(cpu):
    """Tables for which there is no room are refused, and the image is left as it was."""
    image = "%s/%s-program" % (OUT, cpu)
    script = image + ".lds"
    with open("port/linux/sfu-gen.lds", encoding="utf-8") as f, open(script, "w", encoding="utf-8") as out:
        out.write(re.sub(r"\. \+= 64 .*;", ". += 8;", f.read()))
    run(cpu + "-linux-gnu-gcc", *FLAGS[:-1], "-Wl,--build-id=none,-T," + script, image + ".c", "-o", image + ".small")
    with open(image + ".small", "rb") as f:
        before = f.read()
    done = subprocess.run([GEN, image + ".small"], capture_output=True, text=True, check=False)
    with open(image + ".small", "rb") as f:
        must(f.read() == before, "the image has changed")
    must(done.returncode != 0 and "room" in done.stderr, "status %d: %s" % (done.returncode, done.stderr))


def log(cpu):
    """sfu-trace names what a log has: exact addresses, and return addresses one byte lower."""
    image = "%s/%s-program" % (OUT, cpu)
    at = symbols(cpu, image)
    lines = ["panic: it broke", "#0  0x%016x" % at["last"], "#1  0x%016x" % (at["first"] + 4),
             "trace ends (1): end of the stack: the outermost frame"]
    said = run(TRACE, image, stdin="\n".join(lines) + "\n")[0]
    names = re.findall(r"^ *(?:#\d+ .*)?\b(\w+) at ", said, re.M)
    must(names == ["last", "first"] and "panic: it broke" in said, said)


def stack():
    """The walk of a stack whose words are known."""
    image = build("x86_64", "stack", STACK, ".S")
    at = symbols("x86_64", image)
    sp = 0x2000000
    words = [0x1111, at["behind_inner"], 0, 0, 0, at["behind_outer"], 0, 0]
    with open(image + ".memory", "wb") as f:
        f.write(struct.pack("<8Q", *words))
    said = run(TRACE, "--memory=%s.memory@%#x" % (image, sp), "--regs=pc=%#x,sp=%#x,fp=0" % (at["here"], sp), image)[0]
    names = re.findall(r"^ *(?:#\d+ .*)?\b(\w+) at ", said, re.M)
    must(names == ["inner", "outer", "_start"] and "trace ends (1)" in said, said)


os.makedirs(OUT, exist_ok=True)
for machine in CPUS:
    test(machine + ": sfu-gen's tables have no fault", made, machine)
    test(machine + ": each byte of the tables that is changed is noticed", planted, machine)
    test(machine + ": too little room", small_room, machine)
    test(machine + ": names in a log", log, machine)
test("x86_64: a stack that was laid by hand", stack)
finish()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""lost.py lost: what sfu-trace says where what it is given is moved, coloured, incomplete or hostile. Prints a line for
each test. What a program was doing is known from its source; gdb says where it stopped."""
import functools
import os
import re
import shutil
import socket
import struct
import subprocess
import threading
import time

import host
from host import GEN, NM, WORK, finish, must, read, test, write
from traces import TRACE, only_added, run, symbol

PROGRAM = """
__attribute__((noinline)) int leaf(int x) { __asm__ volatile("nop; nop" : "+r"(x)); return x + 1; }
__attribute__((noinline)) int fourth(int x) { int y = leaf(x); __asm__ volatile("" : "+r"(y)); return y + 2; }
__attribute__((noinline)) int third(int x) { int y = fourth(x); __asm__ volatile("" : "+r"(y)); return y + 3; }
__attribute__((noinline)) int second(int x) { int y = third(x); __asm__ volatile("" : "+r"(y)); return y + 4; }
__attribute__((noinline)) int first(int x) { int y = second(x); __asm__ volatile("" : "+r"(y)); return y + 5; }
__attribute__((noinline)) void trap(void) { __asm__ volatile("int3"); }
int main(int argc, char **argv) { if (argc > 1) trap(); (void)argv; return first(argc); }
"""
CHAIN = ["leaf", "fourth", "third", "second", "first", "main"]


def compiled(name, text, *flags, compiler="gcc"):
    source, program = "%s/%s.c" % (WORK, name), "%s/%s" % (WORK, name)
    write(source, text.encode())
    run(compiler, "-g", "-O1", *flags, source, "-o", program)
    return program


def gdb(program, *commands):
    words = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(["gdb-multiarch", "-q", "-nx", "-batch", "-ex", "set pagination off", *words, program],
                          stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120, text=True)
    return done.stdout


def names(output):
    """The function of each frame."""
    return [name.decode() for name in re.findall(rb"(?m)^ *#\d+ +0x[0-9a-f]+  ([\w.]+)\+0x", output)]


# ---- a core that a debugger has written ----

def core_at_breakpoint(program):
    """At a breakpoint of gdb's the PC is not behind an instruction; at one of the program's it is. Padding of 0xcc
    before a function is neither."""
    core = program + ".core"
    for where in ("leaf", "*leaf", "*&leaf+1", "third"):
        said = gdb(program, "break " + where, "run", "generate-core-file " + core, "print/x $pc")
        pc = int(re.search(r"\$1 = (0x[0-9a-f]+)", said)[1], 16)
        top = re.search(rb"#0 +(0x[0-9a-f]+)", run(TRACE, "--core=" + core, program)[0])[1]
        must(int(top, 16) == pc, "%s: %s instead of 0x%x" % (where, top, pc))
    gdb(program, "run 1", "generate-core-file " + core)
    must(names(run(TRACE, "--core=" + core, program)[0])[0] == "trap", "the program's own breakpoint")
    padded = compiled("padded", PROGRAM.replace("int leaf(", "int unused(int x) { return x; }\n"
                      '__asm__(".text; .fill 16, 1, 0xcc");\n__attribute__((noinline)) int leaf('),
                      "-fno-toplevel-reorder", "-falign-functions=1")
    said = gdb(padded, "break *leaf", "run", "generate-core-file " + core, "print/x $pc", "x/1bx $pc-1")
    pc = int(re.search(r"\$1 = (0x[0-9a-f]+)", said)[1], 16)
    must(": " in said and "0xcc" in said, "no padding: " + said[-200:])
    top = re.search(rb"#0 +(0x[0-9a-f]+)", run(TRACE, "--core=" + core, padded)[0])[1]
    must(int(top, 16) == pc, "padding: %s instead of 0x%x" % (top, pc))
    operand = compiled("operand", PROGRAM.replace("int leaf(", "int unused(int x) { return x; }\n"
                       '__asm__(".text; .globl operand; .type '
                       'operand, @function; operand: mov $0xcc000000, %eax; nop; ret; .size operand, .-operand");\n'
                       "__attribute__((noinline)) int leaf("))
    said = gdb(operand, "break main", "run", "set $pc=(long)&operand", "break *(long)&operand+5", "continue",
               "generate-core-file " + core, "print/x $pc", "x/1bx $pc-1")
    pc = int(re.search(r"\$1 = (0x[0-9a-f]+)", said)[1], 16)
    must("0xcc" in said, "no operand: " + said[-200:])
    top = re.search(rb"#0 +(0x[0-9a-f]+)", run(TRACE, "--core=" + core, operand)[0])[1]
    must(int(top, 16) == pc, "operand: %s instead of 0x%x" % (top, pc))


# ---- a program that was moved ----

def memory_of(program, where):
    """The stack of PROGRAM at a breakpoint, its code, and its registers."""
    stack, code = program + ".stack", program + ".code"
    said = gdb(program, "break " + where, "run", "info symbol $pc", "print/x $pc", "print/x $sp", "print/x $rbp",
               "dump binary memory %s (long)$sp ((long)$sp|0xfff)+1" % stack,
               "dump binary memory %s (long)&leaf ((long)&leaf)+256" % code, "print/x (long)&leaf")
    values = [int(value, 16) for value in re.findall(r"(?m)^\$\d+ = (0x[0-9a-f]+)", said)]
    must(len(values) == 4, said[-300:])
    return stack, code, values


def moved():
    """The program is linked elsewhere than it ran: found by return addresses alone, and proven by code or build ID."""
    away = ["-static", "-fcf-protection=none", "-fno-pic", "-no-pie", "-Wl,--build-id=sha1"]
    here = compiled("here", PROGRAM, *away)
    there = compiled("there", PROGRAM, *away, "-Wl,-Ttext-segment=0x7400000")
    stack, code, (pc, sp, fp, start) = memory_of(there, "leaf")
    registers = "--regs=pc=0x%x,sp=0x%x,fp=0x%x" % (pc, sp, fp)
    slide = "--slide=0x7000000"
    for memory, why in (("%s@0x%x" % (stack, sp), "return addresses on the stack behind its calls say"),
                        ("%s@0x%x,%s@0x%x" % (stack, sp, code, start), "the memory there proves")):
        out, errors = run(TRACE, "--memory=" + memory, registers, here)
        must(names(out)[:6] == CHAIN, "%s: %s" % (why, names(out)))
        must(why.encode() in errors and slide.encode() in errors, "%s" % errors)
    out, errors = run(TRACE, "--memory=%s@0x%x" % (stack, sp), registers, slide, here)
    must(names(out)[:6] == CHAIN and b"behind its calls" not in errors, "a slide that is given")
    # Words that are no return addresses of it: nothing is guessed, and a sentence says what to do.
    write(WORK + "/words", struct.pack("<64Q", *(0x6660000 + 4099 * n for n in range(64))))
    out, errors = run(TRACE, "--memory=%s/words@0x1000" % WORK, "--regs=pc=0x6660000,sp=0x1000", here)
    must(names(out) == [] and b"give --slide=N" in errors, "%s %s" % (out[-200:], errors))


# ---- the end of a trace ----

ENDS = """
 .globl outer, inner
 .type outer, @function
outer: .cfi_startproc
 sub $24, %rsp
 .cfi_def_cfa_offset 32
 call inner
 add $24, %rsp
 .cfi_def_cfa_offset 8
 ret
 .cfi_endproc
 .size outer, .-outer
 .type inner, @function
inner: .cfi_startproc
 nop
 ret
 .cfi_endproc
 .size inner, .-inner
"""


def ends_at_zero():
    """Kernels put 0 where the outermost function would return to."""
    write(WORK + "/ends.s", ENDS.encode())
    run("as", WORK + "/ends.s", "-o", WORK + "/ends.o")
    run("ld", "-e", "outer", "-Ttext=0x100000", WORK + "/ends.o", "-o", WORK + "/ends")
    write(WORK + "/ends.stack", struct.pack("<5Q", 0x100009, 0, 0, 0, 0))
    at = symbol("x86_64", WORK + "/ends", "inner")
    out = run(TRACE, "--memory=%s/ends.stack@0x8000" % WORK, "--regs=pc=0x%x,sp=0x8000" % at, WORK + "/ends")[0]
    must(names(out) == ["inner", "outer"] and b"trace ends (1): " in out and b"the return address is 0" in out and
         b"null pointer" not in out, out.decode())


# ---- memory that a dump describes, and does not have ----

def left_out():
    """dump-guest-memory writes segments whose FileSiz is less than their MemSiz."""
    status = bytearray(336)
    struct.pack_into("<Q", status, 112 + 8 * 16, 0x100000)  # rip
    struct.pack_into("<Q", status, 112 + 8 * 19, 0x180010)  # rsp
    note = struct.pack("<III", 5, len(status), 1) + b"CORE\0\0\0\0" + bytes(status)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    segments = struct.pack("<IIQQQQQQ", 4, 0, 64 + 112, 0, 0, len(note), len(note), 4)
    segments += struct.pack("<IIQQQQQQ", 1, 7, 64 + 112 + len(note), 0x100000, 0x100000, 4096, 0x100000, 4096)
    write(WORK + "/left.core", head + segments + note + bytes(4096))
    out = run(TRACE, "--core=%s/left.core" % WORK, WORK + "/ends")[0]
    must(b"FileSiz" in out and b"damaged" not in out, out.decode())


# ---- a log with more than text ----

def coloured(program):
    """Colours before a frame and at the ends of lines, as terminals, copies of screens and people write them."""
    addresses = [int(re.search(r"(?m)^([0-9a-f]+) T %s$" % name, run(NM, program)[0].decode())[1], 16) + 4
                 for name in CHAIN]
    plain = ["#%d  0x%016x  x+0x4" % frame for frame in enumerate(addresses)]
    wanted = run(TRACE, program, stdin="\n".join(plain + [""]).encode())[0].splitlines()[1::2]
    must(all(b" at " in line for line in wanted) and len(wanted) == len(CHAIN), "%s" % wanted)
    for before, behind in (("\33[1;31m", "\33[0m"), ("\33[0m\33[31m", ""), ("", "\33[0m\33[K"), ("[0;31m", "[0m"),
                           ("^[[31m", "^[[0m"), ("\\033[31m", "\\033[0m"), ("\33]0;title\7", "\33(B"), ("\r", "\r"),
                           ("\0\0", "\0"), ("I (1234) panic: \33[32m", "\33[m  "), ("\t", "\t")):
        for eol in ("\n", "\r\n"):
            text = "".join(before + line + behind + eol for line in plain)
            out = run(TRACE, program, stdin=text.encode())[0]
            added = [line.rstrip(b"\r") for line in only_added(text.encode(), out)]
            must([line.strip() for line in added] == [line.strip() for line in wanted],
                 "%r: %s" % (before, added))


def hostile_names():
    """What a symbol's name could do to a terminal, and lines that it could forge, in each tool."""
    text = PROGRAM.replace("third", "third" + "X" * 27)
    program = compiled("names", text, "-static", "-no-pie", "-fno-pic")
    run("strip", "-g", program)
    bad = b"a\33]0;x\7\33[31m\n#9  0x1\r\x9b2J\xc2\x9b\xe2\x80\xaexx"
    old = b"third" + b"X" * 27
    must(len(bad) <= len(old), "too long")
    at = symbol("x86_64", program, "second") - 8
    write(program, read(program).replace(old, bad.ljust(len(old), b"y")))
    outputs = {"filter": run(TRACE, program, stdin=b"#0  0x%016x\n" % at)}
    write(WORK + "/names.stack", bytes(64))
    outputs["memory"] = run(TRACE, "--memory=%s/names.stack@0x8000" % WORK, "--regs=pc=0x%x,sp=0x8000" % at, program)
    for tool, options in (("sfu-lint", ["--all"]), ("sfu-lint", ["--frames", "--all"]), ("sfu-gen", ["--check"])):
        done = subprocess.run(["build/tools/" + tool, *options, program], capture_output=True, check=False)
        outputs["%s %s" % (tool, options)] = (done.stdout, done.stderr)
    for name, (out, errors) in outputs.items():
        harmful = re.search(rb"[\0-\x08\x0b-\x1f\x7f\x9b]|\xc2[\x80-\x9f]|\xe2\x80\xae|\n#9", out + errors)
        must(not harmful, "%s: %r" % (name, (out + errors)[max(harmful.start() - 40, 0):][:80] if harmful else ""))
    must(rb"a\x1b]0;x\x07" in outputs["filter"][0], "%s" % outputs["filter"][0])


# ---- stubs that give an answer byte by byte ----

def drip(how):
    """A limit for the whole answer, whatever it begins with."""
    def serve(server):
        client, _ = server.accept()
        with client:
            try:
                client.sendall({"garbage": b"", "half": b"+$T05", "events": b"+"}[how])
                while True:
                    client.sendall(b"$O41#b4" if how == "events" else b"a")
                    time.sleep(0.4)
            except OSError:
                pass

    with socket.socket() as server:
        server.bind(("localhost", 0))
        server.listen(1)
        threading.Thread(target=serve, args=(server,), daemon=True).start()
        began = time.monotonic()
        run(TRACE, "--gdb=localhost:%d" % server.getsockname()[1], WORK + "/ends", status=1)
        took = time.monotonic() - began
    must(took < 30, "%.0f s" % took)
    return "%.0f s" % took


# ---- callers that have left ----

TAILS = """
#define F __attribute__((noinline)) int
F leaf(int x) { __asm__ volatile("nop" : "+r"(x)); return x + 1; }
F last(int x) { int y = leaf(x); __asm__ volatile("" : "+r"(y)); return y + 2; }
F middle(int x) { __asm__ volatile("" : "+r"(x)); return last(x * 3); }
F outer(int x) { __asm__ volatile("" : "+r"(x)); return middle(x + 7); }
F two(int x) { __asm__ volatile("" : "+r"(x)); return x & 1 ? middle(x) : last(x); }
F by_pointer(int x, int (*f)(int)) { __asm__ volatile("" : "+r"(x)); return f(x); }
F plain(int x) { int y = last(x); __asm__ volatile("" : "+r"(y)); return y + 1; }
int main(int n, char **v) { (void)v; int r = outer(n) + two(n); r += by_pointer(n, last); return r + plain(n); }
"""


def outside_memory(program):
    """SP is in no file of --memory: it is said, and what page tables have to do with it."""
    write(WORK + "/ram", bytes(64))
    at = int(re.search(r"(?m)^([0-9a-f]+) T main$", run(NM, program)[0].decode())[1], 16)
    out = run(TRACE, "--memory=%s/ram@0x40000000" % WORK, "--regs=pc=0x%x,sp=0xffff800000001000" % at, program)[0]
    must(b"SP 0xffff800000001000 is in no file of --memory: if a file is physical memory" in out, out)
    must(b"(CR3)" in out, out)
    out = run(TRACE, "--memory=%s/ram@0x40000000" % WORK, "--regs=pc=0x%x,sp=0x40000000" % at, program)[0]
    must(b"in no file" not in out, out)


def tail_calls():
    """Functions that have left are named where debug information has all of their tail calls, and there is one way; or
    where their code has no other way out. The source says who they are."""
    program = compiled("tails", TAILS, "-O2", "-fno-pic", "-no-pie")
    core = program + ".core"
    for stops, with_lines, without in ((1, "outer, middle", "outer, middle"), (2, "two, ...", "two, ..."),
                                       (3, "by_pointer, ...", "by_pointer, ..."), (4, None, None)):
        gdb(program, "break leaf", "run", *["continue"] * (stops - 1), "generate-core-file " + core)
        for image, wanted in ((program, with_lines), (program + ".bare", without)):
            run("objcopy", "--strip-debug", program, program + ".bare")
            out = run(TRACE, "--core=" + core, image)[0].decode()
            chain = ["leaf", "last", *(["plain"] if stops == 4 else []), "main"]
            must(names(out.encode())[:len(chain)] == chain, "%s" % names(out.encode()))
            found = re.findall(r"(?m)^    \[tail call: (.*)\]$", out)
            must(found == ([wanted] if wanted else []), "%d: %s instead of %s" % (stops, found, wanted))
            at = out.splitlines()
            must(not wanted or " main+" in at[at.index("    [tail call: %s]" % wanted) + 1], out)


def tail_calls_behind_labels():
    """A label of assembly in a function does not hide whose frame it is."""
    labelled = TAILS.replace("F last(int x) {",
                             'F last(int x) { __asm__ volatile("nop\\n.globl inner\\ninner: nop" : "+r"(x));')
    program = compiled("labels", labelled, "-O2", "-fno-pic", "-no-pie")
    core = program + ".core"
    gdb(program, "break leaf", "run", "generate-core-file " + core)
    run("objcopy", "--strip-debug", program, program + ".bare")
    for image in (program, program + ".bare"):
        out = run(TRACE, "--core=" + core, image)[0].decode()
        must(re.findall(r"(?m)^    \[tail call: (.*)\]$", out) == ["outer, middle"], out)


def no_tail_call():
    """Where no jump leads out of the function that was called, nobody has left by a tail call: the return address
    below leaf is one behind a call of last, which returns and does nothing else."""
    program = compiled("returns", TAILS, "-O2", "-fno-pic", "-no-pie")
    run("objcopy", "--strip-debug", program, program + ".bare")
    ra = re.search(r"call +[0-9a-f]+ <last>\n +([0-9a-f]+):", run("objdump", "-d", "--disassemble=plain", program)[0]
                   .decode())[1]
    leaf = re.search(r"(?m)^([0-9a-f]+) T leaf$", run(NM, program)[0].decode())[1]
    write(WORK + "/ram", struct.pack("<Q", int(ra, 16)) + bytes(120))
    for image in (program, program + ".bare"):
        out = run(TRACE, "--memory=%s/ram@0x7f000000" % WORK, "--regs=pc=0x%s,sp=0x7f000000" % leaf, image)[0].decode()
        must(names(out.encode())[:2] == ["leaf", "plain"] and "tail call" not in out, out)


NO_CALL = """
    .globl leaf, body, restorer, wait, junk
leaf: .cfi_startproc
    ret
    .cfi_endproc
front: .cfi_startproc
    nop
    ret
    .cfi_endproc
body: .cfi_startproc
    .cfi_undefined rip
    call leaf
    .cfi_endproc
wait: .cfi_startproc
    .cfi_undefined rip
    call *8(%rax)
junk: nop
    .cfi_endproc
    .cfi_startproc
    .cfi_signal_frame
    .cfi_def_cfa_offset 16
    nop
restorer: mov $15, %eax
    syscall
    .cfi_endproc
"""


def no_call():
    """Where no call ends at a return address, that is where a thread begins: its function is asked, and not the one in
    front of it; and the trace is not proven. Signal handlers return to where no call ends."""
    write(WORK + "/thread.s", NO_CALL.encode())
    run("gcc", "-nostdlib", "-no-pie", "-static", "-Wl,-eleaf,-Ttext=0x100000", WORK + "/thread.s", "-o",
        WORK + "/thread")
    at = {name: symbol("x86_64", WORK + "/thread", name) for name in ("leaf", "body", "restorer", "wait", "junk")}
    for ra, frame, end in (("body", "body+0x0  [guessed]  (no call ends there)", "; guessed frames are not proven"),
                           ("junk", "wait+0x3  (CFI)", "")):
        write(WORK + "/thread.stack", struct.pack("<5Q", at[ra], at["junk"], 0, 0, 0))
        out = run(TRACE, "--memory=%s/thread.stack@0x8000" % WORK, "--regs=pc=0x%x,sp=0x8000" % at["leaf"],
                  WORK + "/thread")[0].decode()
        wanted = r"#1  0x%016x  %s\n +.*\ntrace ends \(1\): [^;]*%s\n" % (at[ra], re.escape(frame), end)
        must(re.search(wanted, out), out)
    write(WORK + "/thread.stack", struct.pack("<5Q", at["restorer"], 0, at["junk"], 0, 0))
    out = run(TRACE, "--memory=%s/thread.stack@0x8000" % WORK, "--regs=pc=0x%x,sp=0x8000" % at["leaf"],
              WORK + "/thread")[0].decode()
    must("guessed" not in out and "  [interrupted]" in out, out)


# Data at a function's end, whose bytes are those of a call: bl, blx of a register; a call of A32 code, which a Cortex-M
# does not have.
POOLS = {"thumb": ("arm-none-eabi-", "r14", 1, ".syntax unified\n.thumb\n.cpu cortex-m3\n", "bx lr",
                   "push {r4, lr}\n.cfi_def_cfa_offset 8\n.cfi_offset 4, -8\n.cfi_offset 14, -4\nbl leaf\npop {r4, pc}",
                   ("0xfffff000", "0x47804780", "0x0badf00d")),
         "aarch64": ("aarch64-linux-gnu-", "r30", 0, "", "ret",
                     "stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\n"
                     "bl leaf\nldp x29, x30, [sp], #16\nret", ("0x94000000", "0xd63f0000"))}


def behind_data(cpu, word, stripped):
    """A task that begins behind data which looks like a call: nothing has called there, and the function that the data
    belong to is not in the trace. Without symbols the attributes tell of A32's calls alone."""
    prefix, link, bit, head, leaf, body, _ = POOLS[cpu]
    image = WORK + "/pool-" + cpu
    function = ".type %s, %%function\n%s: .cfi_startproc\n%s\n.cfi_endproc\n.size %s, . - %s\n"
    text = head + ".globl leaf, front, begins\n" + "".join(function % (name, name, code, name, name) for name, code in (
        ("leaf", leaf), ("front", body + "\n.balign 4\n.word " + word), ("begins", body)))
    write(image + ".s", text.encode())
    run(prefix + "as", image + ".s", "-o", image + ".o")
    run(prefix + "ld", "-e", "leaf", "-Ttext=0x1000", image + ".o", "-o", image)
    at = {name: int(addr, 16) & ~bit for addr, name in re.findall(r"(?m)^(\w+) T (\w+)$",
                                                                 run(NM, image)[0].decode())}
    if stripped:
        run(prefix + "strip", image)
    run(GEN, "-q", "--append=" + image, image)
    write(image + ".stack", struct.pack("<4I" if bit else "<4Q", 1, at["front"] + 8 | bit, 0, 0) + bytes(64))
    out = run(TRACE, "--memory=%s.stack@0x8000" % image,
              "--regs=pc=0x%x,sp=0x8000,%s=0x%x" % (at["leaf"], link, at["begins"] | bit), image)[0].decode()
    must(re.search(r"#1 +0x0*%x " % at["begins"], out) and "#2 " not in out and "front" not in out, out)
    must(stripped or "begins+0x0" in out, out)


FAR_CALLS = {"x86_64": ("lcall *8(%rax)", "lcall *(%rsp,%rcx)", "rex64 lcall *0x1000(%r12)"),
             "i386": ("lcall *8(%eax)", "lcall *0x1000", "lcall $8, $leaf")}


def far_call(cpu, how):
    """A call to another segment is a call, too."""
    image = WORK + "/far-" + cpu
    write(image + ".s", (".globl leaf, wait, behind\nleaf: .cfi_startproc\nret\n.cfi_endproc\n.nops 16\n"
                         "wait: .cfi_startproc\n.cfi_undefined %s\n%s\nbehind: nop\n.cfi_endproc\n" % (
                             "rip" if cpu == "x86_64" else "eip", how)).encode())
    bits = "--64" if cpu == "x86_64" else "--32"
    run("as", bits, image + ".s", "-o", image + ".o")
    run("ld", "-m" + ("elf_x86_64" if cpu == "x86_64" else "elf_i386"), "-e", "leaf", image + ".o", "-o", image)
    at = {name: int(addr, 16) for addr, name in re.findall(r"(?m)^(\w+) T (\w+)$", run(NM, image)[0].decode())}
    write(image + ".stack", struct.pack("<Q" if cpu == "x86_64" else "<I", at["behind"]) + bytes(64))
    out = run(TRACE, "--memory=%s.stack@0x8000" % image, "--regs=pc=0x%x,sp=0x8000" % at["leaf"], image)[0].decode()
    must("wait+0x%x" % (at["behind"] - at["wait"]) in out and "guessed" not in out, out)


def table_call():
    """cm.jalt of Zcmt is a call, where the image says that it has Zcmt: else it is a store of floating point."""
    image = WORK + "/jalt"
    write(image + ".s", b".globl leaf, wait\nleaf: .cfi_startproc\nret\n.cfi_endproc\nwait: .cfi_startproc\n"
                        b".cfi_undefined ra\n.insn 0xa082\nc.nop\n.cfi_endproc\n")
    run("riscv64-linux-gnu-as", "-march=rv64ic", image + ".s", "-o", image + ".o")
    run("riscv64-linux-gnu-ld", "-e", "leaf", image + ".o", "-o", image)
    at = {name: int(addr, 16) for addr, name in re.findall(r"(?m)^(\w+) T (\w+)$", run(NM, image)[0].decode())}
    write(image + ".attributes", b"rv64i_zcmt\0")
    run("riscv64-linux-gnu-objcopy", "--update-section", ".riscv.attributes=%s.attributes" % image, image,
        image + ".zcmt")
    write(image + ".stack", bytes(64))
    for name, guessed in ((image, True), (image + ".zcmt", False)):
        out = run(TRACE, "--memory=%s.stack@0x8000" % image,
                  "--regs=pc=0x%x,sp=0x8000,ra=0x%x" % (at["leaf"], at["wait"] + 2), name)[0].decode()
        must("wait+0x2" in out and ("[guessed]" in out) == guessed, out)


# ---- traps ----

TRAPS = """
int add(int a, int b) { return a + b; }
int mul(int a, int b) { return a * b; }
int sub(int a, int b) { return a - b; }
int shl(int a, int b) { return a << b; }
int quotient(int a, int b) { return a / b; }
int array[4];
int index_of(int n) { return array[n]; }
void nowhere(void) { __builtin_unreachable(); }
"""
REASONS = {"add": "an addition that overflows", "mul": "a multiplication that overflows",
           "sub": "a subtraction that overflows", "shl": "a shift by too much, or of too much",
           "quotient": "a division by 0, or one that overflows", "index_of": "an index out of bounds",
           "nowhere": "__builtin_unreachable() has been reached"}


def trap_log(target, pc):
    """Registers alone."""
    form = {"x86_64": "RIP: %016x RSP: 0000000000008000 RBP: 0000000000000000", "i386": "EIP: %08x ESP: 00008000",
            "aarch6": "elr: %016x sp: 0000000000008000 x30: 0000000000100004"}[
                target.split("-")[0][:6]]
    return form % pc + "\n"


def traps(target, linker, pattern):
    """The reason of each trap that clang has put behind a check: what was checked is known from the source."""
    write(WORK + "/traps.c", TRAPS.encode())
    command = ["clang-16", "--target=" + target, "-O1", "-fsanitize=undefined", "-fno-sanitize=null,alignment",
               "-fsanitize-trap=all", "-ffreestanding", "-c", WORK + "/traps.c", "-o", WORK + "/traps.o"]
    run(*command)
    emulation = ["-melf_i386"] if target.startswith("i386") else []
    run(linker, *emulation, "-e", "add", "-Ttext=0x100000", WORK + "/traps.o", "-o", WORK + "/traps")
    symbols = sorted((int(at, 16), name) for at, name in re.findall(
        r"(?m)^([0-9a-f]+) T (\w+)$", run(NM, WORK + "/traps")[0].decode()))
    run(linker.replace("-ld", "-objcopy") if "-" in linker else "objcopy", "-O", "binary", "-j", ".text",
        WORK + "/traps", WORK + "/traps.bin")
    code = read(WORK + "/traps.bin")
    write(WORK + "/traps.stack", bytes(64))
    for (at, name), (end, _) in zip(symbols, [*symbols[1:], (0x100000 + len(code), "")]):
        found = [m.start() for m in re.finditer(pattern, code[at - 0x100000:end - 0x100000], re.S)]
        must(found, "no trap in " + name)
        out = run(TRACE, "--memory=%s/traps.stack@0x8000" % WORK, "--regs=pc=0x%x,sp=0x8000" % (at + found[0]),
                  WORK + "/traps")[0].decode()
        must("        trap: %s\n" % REASONS[name] in out, "%s: %s" % (name, out))
        log = trap_log(target, at + found[0])
        out = run(TRACE, WORK + "/traps", stdin=log.encode())[0].decode()
        must("        trap: %s\n" % REASONS[name] in out and "no words of the stack" in out, "%s: %s" % (name, out))


def single_traps(compiler, flags, source, pattern, text):
    """What is said of the first instruction that matches PATTERN in SOURCE, as a compiler makes it."""
    write(WORK + "/trap.c", source.encode())
    run(*compiler, "-O2", "-ffreestanding", *flags, "-c", WORK + "/trap.c", "-o", WORK + "/trap.o")
    tools = compiler[0][:-3] if compiler[0].endswith("-gcc") else {
        "--target=aarch64-linux-gnu": "aarch64-linux-gnu-", "--target=thumbv7m-none-eabi": "arm-none-eabi-",
        }.get(compiler[-1], "")
    emulation = ["-melf32lriscv"] if "-mabi=ilp32" in flags else \
        ["-melf_i386"] if "-m32" in flags or "i386" in compiler[-1] else []
    run(tools + "ld", *emulation, "-e", "f", "-Ttext=0x100000", WORK + "/trap.o", "-o", WORK + "/trap")
    run(tools + "objcopy", "-O", "binary", "-j", ".text", WORK + "/trap", WORK + "/trap.bin")
    write(WORK + "/traps.stack", bytes(64))
    found = re.search(pattern, read(WORK + "/trap.bin"), re.S)
    must(found, "no trap")
    out = run(TRACE, "--memory=%s/traps.stack@0x8000" % WORK, "--regs=pc=0x%x,sp=0x8000" % (0x100000 + found.start()),
              WORK + "/trap")[0].decode()
    must("        trap: %s\n" % text in out, out)


BY_POINTER = "int f(int (*p)(int)) { return p(3) + 1; }"
BUILTIN = "void f(void) { __builtin_trap(); }"
TRAPPING = ["-fsanitize=signed-integer-overflow", "-fsanitize-trap=all"]
ONE_MORE = "int f(int a) { return a + 1; }"
# As clang 17 and later print it for RISC-V.
KCFI_RISCV = """void f(void) { __asm__("lw t1, -4(a2)\\nlui t2, 0xb339b\\naddiw t2, t2, 437\\nbeq t1, t2, 1f\\n"
                                   "ebreak\\n1: nop"); }"""
NO_REASON = "__builtin_trap(), or a check that gives no reason"
SINGLE = [
    ("KCFI x86_64", ["clang-16", "--target=x86_64-linux-gnu"], ["-fsanitize=kcfi"], BY_POINTER, rb"\x0f\x0b",
     "ud2: KCFI: a call of a function of another type"),
    ("KCFI aarch64", ["clang-16", "--target=aarch64-linux-gnu"], ["-fsanitize=kcfi"], BY_POINTER,
     rb"..[\x30-\x3f]\xd4",
     "brk #0x8000 to #0x83ff: KCFI: a call of a function of another type"),
    ("KCFI RISC-V", ["riscv64-unknown-elf-gcc"], [], KCFI_RISCV, rb"\x02\x90",
     "ebreak: KCFI: a call of a function of another type"),
    ("a comparison before ebreak", ["riscv64-unknown-elf-gcc"], [], KCFI_RISCV.replace("lw t1", "lw t0"),
     rb"\x02\x90", "ebreak: a breakpoint, " + NO_REASON),
    ("x86_64, the last instruction of the image", ["clang-16", "--target=x86_64-linux-gnu"], TRAPPING, ONE_MORE,
     rb"\x67\x0f\xb9\x00", "an addition that overflows"),
    ("i386, the last instruction of the image", ["clang-16", "--target=i386-linux-gnu"], TRAPPING, ONE_MORE,
     rb"\x0f\xb9\x00", "an addition that overflows"),
    ("builtin x86_64", ["gcc"], [], BUILTIN, rb"\x0f\x0b", "ud2: " + NO_REASON),
    ("builtin i386", ["gcc"], ["-m32"], BUILTIN, rb"\x0f\x0b", "ud2: " + NO_REASON),
    ("builtin i386 by clang", ["clang-16", "--target=i386-linux-gnu"], [], BUILTIN, rb"\x0f\x0b", "ud2: " + NO_REASON),
    ("builtin aarch64", ["aarch64-linux-gnu-gcc"], [], BUILTIN, rb"\x00\x7d\x20\xd4", "brk #1000: " + NO_REASON),
    ("builtin RISC-V", ["riscv64-unknown-elf-gcc"], [], BUILTIN, rb"\x02\x90",
     "ebreak: a breakpoint, " + NO_REASON),
    ("builtin Thumb", ["arm-none-eabi-gcc"], ["-mcpu=cortex-m3", "-mthumb"], BUILTIN, rb"\xff\xde",
     "udf #255: " + NO_REASON),
    ("builtin A32", ["arm-none-eabi-gcc"], ["-mcpu=cortex-a7", "-marm"], BUILTIN, rb"\xf0\x00\xf0\xe7",
     "udf: " + NO_REASON),
    ("builtin s390x", ["s390x-linux-gnu-gcc"], [], BUILTIN, rb"(?<=\xa7\xf4)\x00\x01", "j .+2: " + NO_REASON),
    ("builtin s390x, behind it", ["s390x-linux-gnu-gcc"], [], BUILTIN, rb"(?<=\xa7\xf4\x00\x01).",
     "an instruction that only traps stands before the PC: " + NO_REASON),
    ("compare and trap s390x", ["s390x-linux-gnu-gcc"], ["-march=z196"],
     "void f(int a, int b) { if (a < b) __builtin_trap(); }", rb"\xb9\x72", "compare and trap: " + NO_REASON),
    ("compare with a number s390x", ["s390x-linux-gnu-gcc"], ["-march=z196"],
     "void f(long a) { if (a == 3) __builtin_trap(); }", rb"\xec...\x80\x70", "compare and trap: " + NO_REASON),
    ("builtin RISC-V, not compressed", ["riscv64-unknown-elf-gcc"], ["-march=rv64ima", "-mabi=lp64"], BUILTIN,
     rb"\x73\x00\x10\x00", "ebreak: a breakpoint, " + NO_REASON),
    ("builtin RISC-V of 32 bits", ["riscv64-unknown-elf-gcc"], ["-march=rv32imac", "-mabi=ilp32"],
     BUILTIN, rb"\x02\x90", "ebreak: a breakpoint, " + NO_REASON),
    ("builtin Thumb by clang", ["clang-16", "--target=thumbv7m-none-eabi"], [], BUILTIN, rb"\xfe\xde",
     "udf #254: " + NO_REASON),
    ("builtin aarch64 by clang", ["clang-16", "--target=aarch64-linux-gnu"], [], BUILTIN, rb"\x20\x00\x20\xd4",
     "brk #1: " + NO_REASON),
    ("debugtrap aarch64", ["clang-16", "--target=aarch64-linux-gnu"], [], "void f(void) { __builtin_debugtrap(); }",
     rb"\x00\x00\x3e\xd4", "brk #0xf000: a breakpoint: __builtin_debugtrap()"),
    ("bkpt Thumb", ["arm-none-eabi-gcc"], ["-mcpu=cortex-m3", "-mthumb"], 'void f(void) { __asm__("bkpt 3"); }',
     rb"\x03\xbe", "bkpt: a breakpoint, which is a fault without a debugger"),
    ("semihosting Thumb", ["arm-none-eabi-gcc"], ["-mcpu=cortex-m3", "-mthumb"],
     'void f(void) { __asm__("bkpt 0xab"); }', rb"\xab\xbe",
     "bkpt 0xab: a call of a debugger (semihosting), which is a fault without one"),
    ("bkpt A32", ["arm-none-eabi-gcc"], ["-mcpu=cortex-a7", "-marm"], 'void f(void) { __asm__("bkpt 0x1234"); }',
     rb"\x74\x23\x21\xe1", "bkpt: a breakpoint, which is a fault without a debugger"),
]


def failures():
    """The functions that compilers call where a check has failed, in a log."""
    names_of = {"__stack_chk_fail": "the stack protector", "__stack_chk_fail_local": "the stack protector",
                "__fortify_panic": "FORTIFY", "__ubsan_handle_add_overflow_minimal_abort": "an addition that overflows",
                "__ubsan_handle_out_of_bounds_abort": "an index out of bounds", "__chk_fail_not": None,
                # As rustc 1.95 and older ones mangle them
                "_RNvNtNtCsgEmfK2I1SDS_4core9panicking11panic_const24panic_const_add_overflow":
                    "an addition that overflows",
                "_ZN4core9panicking11panic_const23panic_const_div_by_zero17h0123456789abcdefE":
                    "a division by 0, or one that overflows",
                "_RNvNtCsgEmfK2I1SDS_4core9panicking18panic_bounds_check": "an index out of bounds",
                "_RNvNtCsgEmfK2I1SDS_4core6option13unwrap_failed": "unwrap() of None",
                "_RNvNtCsgEmfK2I1SDS_4core6result13unwrap_failed": "unwrap() of an error",
                "_RNvNtCsgEmfK2I1SDS_4core9panicking9panic_fmt": None}
    write(WORK + "/failures.s", "".join(" .globl %s\n%s: nop\n ret\n" % (name, name) for name in names_of).encode())
    run("gcc", "-nostdlib", "-no-pie", "-static", "-Wl,-e__stack_chk_fail,-Ttext=0x100000", WORK + "/failures.s", "-o",
        WORK + "/failures")
    at = {name: int(addr, 16) for addr, name in re.findall(r"(?m)^(\w+) T (\w+)$",
        run(NM, WORK + "/failures")[0].decode())}
    for name, text in names_of.items():
        out = run(TRACE, WORK + "/failures", stdin=b"#1  0x%016x  %s+0x1\n" % (at[name] + 1, name.encode()))[0].decode()
        must(("        trap: %s" % text in out) if text else "trap:" not in out, out)


def trap_behind_call():
    """A PC in a log may be a return address: a trap behind that call has not been reached."""
    write(WORK + "/behind.s", b" .globl f, trap\nf: call g\ntrap: ud2\n nop\ng: nop\nlast: ud2\n")
    run("gcc", "-nostdlib", "-no-pie", "-static", "-Wl,-ef,-Ttext=0x100000", WORK + "/behind.s", "-o", WORK + "/behind")
    for pc, is_trap in ((0x100005, False), (0x100009, True)):
        out = run(TRACE, WORK + "/behind", stdin=b"RIP: %016x RSP: 0000000000008000\n" % pc)[0].decode()
        must("no words of the stack" in out and ("trap: ud2" in out) == is_trap, out)


# ---- work in proportion to a file ----

def instructions(*arguments, stdin=b"", status=0):
    """How many instructions sfu-trace takes."""
    return host.instructions(TRACE, *arguments, stdin=stdin, statuses=(status,))


def in_proportion(what, count):
    """What the second doubling adds is about twice what the first one adds."""
    counts = [count(n) for n in (1000, 2000, 4000)]
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    must(second <= 2.5 * max(first, 1), "%s: %d, %d and %d instructions" % (what, *counts))
    return "%d, %d, %d" % tuple(counts)


def overlapping_notes(number):
    """A core whose program headers all name the same notes."""
    notes = struct.pack("<III", 5, 4, 99) + b"NONE\0\0\0\0" + bytes(4)
    notes *= number
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, number, 0, 0, 0)
    header = struct.pack("<IIQQQQQQ", 4, 0, 64 + 56 * number, 0, 0, len(notes), len(notes), 4)
    write(WORK + "/notes.core", head + header * number + notes)
    return instructions("--core=%s/notes.core" % WORK, WORK + "/ends", status=1)


def named_frames(number):
    """An image with many symbols, and a log whose every frame has a name that is not in it."""
    write(WORK + "/many.s", "".join(" .globl s%d\ns%d: ret\n" % (n, n) for n in range(number)).encode())
    run("as", WORK + "/many.s", "-o", WORK + "/many.o")
    run("ld", "-e", "s0", "-Ttext=0x100000", WORK + "/many.o", "-o", WORK + "/many")
    log = "".join("#%d  0x%016x  absent%d+0x1\n" % (n + 1, 0x900000 + n, n) for n in range(number))
    return instructions(WORK + "/ends", WORK + "/many", stdin=log.encode())


def members(member, count):
    """A line of many members, which does not end as JSON does."""
    return instructions(WORK + "/ends", stdin=b"{" + count * member.encode() + b"\n")


def main():
    os.makedirs(WORK, exist_ok=True)
    program = compiled("program", PROGRAM, "-no-pie", "-fno-pic")
    test("a core at a breakpoint", core_at_breakpoint, program)
    test("a moved program", moved)
    test("a return address of 0 ends a trace", ends_at_zero)
    test("memory that a dump has left out", left_out)
    test("SP outside of all memory", outside_memory, program)
    test("tail calls", tail_calls)
    test("tail calls behind labels", tail_calls_behind_labels)
    test("no tail call", no_tail_call)
    test("a return address that no call has left", no_call)
    for cpu in POOLS:
        for word in POOLS[cpu][-1]:
            test("%s: a task that begins behind data: %s" % (cpu, word), behind_data, cpu, word, False)
    test("thumb: a task that begins behind data, without symbols", behind_data, "thumb", "0x0badf00d", True)
    for cpu, calls in FAR_CALLS.items():
        for how in calls:
            test("a return address behind a far call: %s: %s" % (cpu, how), far_call, cpu, how)
    test("riscv64: a call by a table", table_call)
    test("traps x86_64", traps, "x86_64-linux-gnu", "ld", rb"\x67\x0f\xb9")
    test("traps i386", traps, "i386-linux-gnu", "ld", rb"\x0f\xb9[\x00\x40]")
    test("traps aarch64", traps, "aarch64-linux-gnu", "aarch64-linux-gnu-ld", rb".[\xa0-\xaf]\x2a\xd4")
    for name, *arguments in SINGLE:
        test("trap: " + name, single_traps, *arguments)
    test("functions of checks", failures)
    test("a trap behind a call", trap_behind_call)
    test("colours", coloured, program)
    test("names that a terminal would obey", hostile_names)
    test("notes that overlap", in_proportion, "notes", overlapping_notes)
    test("names in a log", in_proportion, "names", named_frames)
    for member in ('"a":x', '"a":[', '"base":1,"data":[', '"0x20001000":"0x5",', '"stack":"' + 32 * "A" + '",'):
        test("members of JSON: " + member, in_proportion, "members", functools.partial(members, member))
    for how in ("garbage", "half", "events"):
        test("a stub that drips " + how, drip, how)


if __name__ == "__main__":
    must(shutil.which("gdb-multiarch") is not None, "gdb-multiarch is missing")
    main()
    finish()

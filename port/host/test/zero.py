#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""zero.py CPU: a kernel without unwind flags, without a line in its linker script and without a list of entries, which
sfu-link links, prints right and complete traces (zero/). Prints a line for each test."""
import functools
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, "test/lib")
sys.path.insert(1, "port/host/test")
from booted import boot, traces
from check import finish, must, run, test
from saved import BEGIN, check_modes, check_pushed, check_saved, check_structure

CPU = sys.argv[1]
WORK = os.path.abspath("build/zero/" + CPU)
LINK = os.path.abspath("build/tools/sfu-link")
GEN = os.path.abspath("build/tools/sfu-gen")
HERE = os.path.abspath("port/host/test/zero")
DIST = os.path.abspath("build/dist")

RISCV = ["qemu-system-riscv64", "-M", "virt", "-bios", "none", "-serial", "stdio"]
# Compiler with its options, linker, where the image lies, QEMU.
CPUS = {
    "x86_64": ("x86_64-linux-gnu-gcc -mno-red-zone -mgeneral-regs-only -fcf-protection=none",
               "x86_64-linux-gnu-ld", 0x100000, ["qemu-system-x86_64", "-bios", "qboot.rom", "-debugcon", "stdio"]),
    "i386": ("x86_64-linux-gnu-gcc -m32 -mgeneral-regs-only -fcf-protection=none", "x86_64-linux-gnu-ld -m elf_i386",
             0x100000, ["qemu-system-i386", "-bios", "qboot.rom", "-debugcon", "stdio"]),
    "aarch64": ("aarch64-linux-gnu-gcc -mgeneral-regs-only -mstrict-align -mno-outline-atomics", "aarch64-linux-gnu-ld",
                0x40080000, ["qemu-system-aarch64", "-M", "virt", "-cpu", "max", "-serial", "stdio"]),
    "s390x": ("s390x-linux-gnu-gcc -msoft-float -march=z196", "s390x-linux-gnu-ld", 0x10000,
              ["qemu-system-s390x", "-M", "s390-ccw-virtio", "-chardev", "stdio,id=c", "-device",
               "sclpconsole,chardev=c"]),
    "riscv64": ("riscv64-linux-gnu-gcc -march=rv64imac_zicsr_zifencei -mabi=lp64 -mcmodel=medany",
                "riscv64-linux-gnu-ld", 0x80000000, RISCV),
    "riscv32": ("riscv64-linux-gnu-gcc -march=rv32imac_zicsr_zifencei -mabi=ilp32 -mcmodel=medany",
                "riscv64-linux-gnu-ld -m elf32lriscv", 0x80000000, ["qemu-system-riscv32", *RISCV[1:]]),
    "arm": ("arm-none-eabi-gcc -mcpu=cortex-a15 -marm -mfloat-abi=soft -mno-unaligned-access", "arm-none-eabi-ld",
            0x40010000, ["qemu-system-arm", "-M", "virt", "-cpu", "cortex-a15", "-serial", "stdio"]),
}
CC, LD, IMAGE, QEMU = CPUS[CPU]
QEMU = [*QEMU, "-m", "128M"]
MACHINE = CPU.rstrip("0123456789") if CPU.startswith("riscv") else CPU
ENTRY = {"x86_64": "invalid_entry", "i386": "invalid_entry", "aarch64": "sync_entry", "s390x": "program_entry",
         "arm": "undefined_entry"}.get(CPU, "trap_entry")
START = "boot64" if CPU == "x86_64" else "start"
# The functions of each trace, without offsets; kernel.c is the truth. * stands for repeated frames.
PANIC = ["panic", "recurse", "recurse", "recurse", "recurse", "kernel_main", START]
FAULT = ["leaf", "broken", "kernel_main", START]
# From the handlers, what they have interrupted: a function with a frame; a leaf function, whose return address is in
# its register; a function in front of its prologue, behind it, a leaf function called by it, and it in its epilogue.
OUTER = ["interrupted", "kernel_main", START]
HANDLERS = [["broken [interrupted]", "kernel_main", START], ["leaf [interrupted]", *OUTER],
            ["prologue [interrupted]", *OUTER], ["prologue [interrupted]", *OUTER],
            ["leaf [interrupted]", "prologue", *OUTER], ["prologue [interrupted]", *OUTER]]
HANDLER = ["panic", "handle", ENTRY]
ELSEWHERE = ["elsewhere", *PANIC[-2:]]
# A leaf function is interrupted in a handler that has interrupted one.
NESTED = ["leaf [interrupted]", "handle", ENTRY, "leaf [interrupted]", *OUTER]


# clang for this CPU, by the options of gcc that it knows.
TARGETS = {"x86_64": "x86_64-none-elf", "i386": "i386-none-elf", "aarch64": "aarch64-none-elf",
           "s390x": "s390x-linux-gnu", "riscv64": "riscv64-none-elf", "riscv32": "riscv32-none-elf",
           "arm": "arm-none-eabi"}
OPTIONS = CC.replace("_zicsr_zifencei", "").replace("-mstrict-align -mno-outline-atomics", "-mno-unaligned-access")
CLANG = "clang --target=%s -Wno-unused-command-line-argument %s" % (TARGETS[CPU], OPTIONS.split(" ", 1)[1])


@functools.lru_cache(maxsize=None)
def compile_one(source, flags, compiler=CC):
    """The object of SOURCE with FLAGS, a tuple. Whoever links it again does not compile it again."""
    name = re.sub(r"\W+", "-", " ".join((os.path.basename(source), compiler.split()[0], *flags)))
    made = "%s/objects/%s.o" % (WORK, name)
    os.makedirs(os.path.dirname(made), exist_ok=True)
    run(*compiler.split(), *flags, *([] if "-fpie" in flags else ["-fno-pie"]), "-ffreestanding",
        "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-I" + DIST, "-I" + HERE,
        '-DMACHINE="%s.h"' % MACHINE, "-c", source, "-o", made)
    return made


def compile_all(flags, compiler=CC):
    """What flags define is the kernel's alone: sfu_panic.c does not know of it."""
    own = tuple(flag for flag in flags if not flag.startswith("-D"))
    return [compile_one(HERE + "/kernel.c", tuple(flags), compiler),
            compile_one(HERE + "/" + MACHINE + ".S", tuple(flags), compiler),
            compile_one(DIST + "/sfu_panic.c", own, compiler)]


def script(name, change):
    """A linker script, from which CHANGE, a pair, takes one text for another."""
    with open(HERE + "/plain.ld", encoding="ascii") as f:
        text = f.read().replace("IMAGE", "0x%x" % IMAGE)
    must(change[0] in text, "the script has no " + change[0])
    with open(WORK + "/" + name, "w", encoding="ascii") as f:
        f.write(text.replace(*change))
    return WORK + "/" + name


def expect(text, mark, nested, end=None):
    """END: how each trace from a handler ends, behind the entry."""
    found = traces(text)
    handlers = [HANDLER + [f + mark if f.endswith("[interrupted]") else f for f in frames]
                for frames in (HANDLERS + [NESTED] if nested else HANDLERS)]
    wanted = [(PANIC, 1), (FAULT, 1), *((handler, 1) for handler in handlers)]
    if end is not None:
        wanted = [(PANIC, 1)] + (len(HANDLERS) + 1) * [(HANDLER, end)] + [(HANDLER + NESTED[:3], end)]
    must(len(found) == len(wanted), "%d traces in %s" % (len(found), text))
    for a, b in zip(found, wanted):
        must(a == b, "%s, not %s, in %s" % (a, b, text))


def facts(data):
    """Where struct sfu_link (sfu_start.h) is in the bytes of an image, and its numbers."""
    order = "big" if data[5] == 2 else "little"
    for match in re.finditer(b"sfulink1", data):
        words = [int.from_bytes(data[match.start() + 8 * i:match.start() + 8 * i + 8], order) for i in range(10)]
        if words[1] in range(IMAGE, IMAGE + (1 << 20)) and words[3] < len(data):
            return match.start(), words
    raise AssertionError("not filled in")


def true_tables(image):
    """The tables in the image are those that sfu-gen makes of it as it is."""
    with open(image, "rb") as f:
        data = f.read()
    at, words = facts(data)
    run(GEN, "-q", "--small", "--find", "--address=0x%x" % (words[1] + words[2]), "-o", image + ".tables", image)
    with open(image + ".tables", "rb") as f:
        must(f.read() == data[at + words[2]:at + words[2] + words[3]], "the tables are others")


def kernel(name, flags, more=(), linker=LD, change=("", ""), mark="", end=None, compiler=CC):
    """MARK: what stands behind an interrupted frame. END: as of expect."""
    image = "%s/%s.elf" % (WORK, name)
    run(LINK, *linker.split(), "-T", script(name + ".ld", change), *compile_all(flags, compiler), *more, "-o", image)
    true_tables(image)
    expect(boot(QEMU, image), mark, not any("FAULT_STACK" in flag or "CONTEXT" in flag for flag in flags), end)


def made_once():
    """The tables of the first link are moved for the second one, which has the same code."""
    counted = WORK + "/counted"
    with open(counted, "w", encoding="ascii") as f:
        f.write('#!/bin/sh\necho run >>"%s/runs"\nexec "%s" "$@"\n' % (WORK, GEN))
    os.chmod(counted, 0o755)
    for flags in (["-O2"], ["-Os", "-ffunction-sections"], ["-O0"], *([["-O2", "-mthumb"]] if CPU == "arm" else [])):
        with open(WORK + "/runs", "w", encoding="ascii"):
            pass
        run("env", "SFU_GEN=" + counted, LINK, *LD.split(), "-T", script("once.ld", ("", "")),
            *compile_all(flags), "-o", WORK + "/once.elf")
        true_tables(WORK + "/once.elf")
        with open(WORK + "/runs", encoding="ascii") as f:
            must(f.read() == "run\n", "sfu-gen ran more than once")


def returns_elsewhere():
    """The entry jumps to the handler, which returns to another label: that is what stands in the trace. Where RA was in
    its register when the fault came is not known there."""
    image = WORK + "/returns.elf"
    run(LINK, *LD.split(), "-T", script("returns.ld", ("", "")), *compile_all(["-O2", "-DRETURN_ELSEWHERE"]), "-o",
        image)
    found = traces(boot(QEMU, image))
    handler = ["panic", "handle", "elsewhere_behind"]
    wanted = [HANDLER + frames for frames in HANDLERS] + [HANDLER + NESTED]
    must(found[:3] == [(PANIC, 1), (FAULT, 1), (handler + HANDLERS[0], 1)], str(found))
    must(len(found) == 2 + len(wanted), str(found))
    for (frames, end), want in zip(found[2:], wanted):
        want = handler + want[3:]
        must(end in (1, -20) and frames == (want if end == 1 else want[:4]), str((frames, end)))


def no_such_mode():
    """The CPU has no S mode, which sfu_mask.h assumes: masking interrupts faults, once, and the fault has its trace."""
    image = WORK + "/mode.elf"
    run(LINK, *LD.split(), "-T", script("mode.ld", ("", "")), *compile_all(["-O2", "-DSTOP_AT_FAULT"]), "-o",
        image)
    found = traces(boot(QEMU, image, "-cpu", "sifive-e51"))
    must(found == [(["sfu_link_print", *PANIC], 1)], str(found))


def stack_note():
    """Linkers warn of objects without .note.GNU-stack where others have it: sfu-link's object is none of these, also if
    the first object has none, as assembly has not. Without sfu-link they do not warn of objects for ARM at all."""
    objects = compile_all(["-O2"])
    for order in objects, [objects[1], objects[0], objects[2]]:
        said = run(LINK, *LD.split(), "-T", script("note.ld", ("", "")), *order, "-o", WORK + "/note.elf")[1]
        must("sfu_link.o" not in said and (CPU != "arm" or ".note.GNU-stack" not in said), said)


def described():
    """A kernel that describes itself to port/kernel takes tables, names and the file's name from sfu-link."""
    image = WORK + "/described.elf"
    flags = ["-O2", "-DDESCRIBED", "-DSTOP_AT_FAULT"]
    run(LINK, *LD.split(), "-T", script("described.ld", ("", "")), *compile_all(flags),
        compile_one(DIST + "/sfu_kernel.c", ("-O2",)), "-o", image)
    text = boot(QEMU, image)
    found = traces(text)
    must(found == [(["sfu_kernel_panic", *PANIC], 1), (FAULT, 1)], str(found))
    must(len(re.findall(r"^addr2line -Cfipe described\.elf 0x", text, re.M)) == 2, text)


def described_handlers():
    """Such a kernel, whose trap frames are not described: panics in handlers of faults. What entries save is found."""
    image = WORK + "/handlers.elf"
    run(LINK, *LD.split(), "-T", script("handlers.ld", ("", "")), *compile_all(["-O2", "-DDESCRIBED"]),
        compile_one(DIST + "/sfu_kernel.c", ("-O2",)), "-o", image)
    found = traces(boot(QEMU, image))
    wanted = [["sfu_kernel_panic", *PANIC], FAULT, *(["sfu_kernel_panic", *HANDLER, *frames] for frames in HANDLERS),
              ["sfu_kernel_panic", *HANDLER, *NESTED]]
    must(found == [(frames, 1) for frames in wanted], str(found))


def elsewhere():
    """Of a stack that is not in the image's memory the kernel has to say where it lies: the trace tells so."""
    image = WORK + "/elsewhere.elf"
    run(LINK, *LD.split(), "-T", script("elsewhere.ld", ("", "")), *compile_all(["-O2", "-DELSEWHERE"]), "-o", image)
    first, rest = boot(QEMU, image).split("panic\n", 1)
    must(traces(first) == [(ELSEWHERE[:1], -17), (ELSEWHERE, 1)], first)
    told = re.findall("^no stack is known at 0x[0-9a-f]+: (.*)$", first, re.M)
    must(told == ["if one is there, call sfu_panic_memory"], first)
    expect("panic\n" + rest, "", True)
    must("no stack" not in rest, rest)


def behind():
    """A stack that only the linker script has, as free space up to a symbol behind all sections. What lies behind that
    symbol, or in front of the next segment, is none."""
    image = WORK + "/behind.elf"
    end = "*(.bss .bss.* .sbss .sbss.* COMMON) }"
    run(LINK, *LD.split(), "-T", script("behind.ld", (end, end + " . = ALIGN(16); . += 16K; stack_top = .;")),
        *compile_all(["-O2"]), "-o", image)
    top = int(re.search("^([0-9a-f]+) . stack_top$", run("nm", image)[0], re.M)[1], 16)
    with open(image, "rb") as f:
        data = f.read()
    at, words = facts(data)
    order = "big" if data[5] == 2 else "little"
    parts = [[int.from_bytes(data[p + 8 * i:p + 8 * i + 8], order) for i in range(2)]
             for p in range(at + 80, at + 80 + 16 * words[8], 16)]
    tops = {(words[1] + start + size) % 2**64 for start, size in parts}
    must(max(tops) == top, "0x%x, not 0x%x" % (max(tops), top))
    expect(boot(QEMU, image), "", True)


def begun_anew(level):
    """An entry that begins anew at the top of the stack has interrupted code on it: the frames that its handler has
    overwritten are no proven ones."""
    image = WORK + "/anew.elf"
    run(LINK, *LD.split(), "-T", script("anew.ld", ("", "")), *compile_all([level, "-DOVERWRITTEN"]), "-o", image)
    text = boot(QEMU, image)
    must(re.search(r"^#0 .* deepest_part.*\n#1 .* deep_part\S+\n#2 .*  \[stack switch\]  \[guessed\]\n", text, re.M),
         text)
    must(re.search(r"^trace ends .*; guessed frames are not proven$", text, re.M), text)


def new_thread(level):
    """A thread's first return address is where a function starts, and a function that ends in a return is in front of
    it: no table tells that from a call that never returns, but the code does."""
    image = WORK + "/thread.elf"
    run(LINK, *LD.split(), "-T", script("thread.ld", ("", "")), *compile_all([level, "-DNEW_THREAD"]), "-o", image)
    text = boot(QEMU, image)
    must(re.search(r"^#0 .* panic.*\n#1 .* begin\S+\n#2 +0x[0-9a-f]+  body\+0x0  \[guessed\]\n", text, re.M), text)
    must(re.search(r"^trace ends .*; guessed frames are not proven$", text, re.M), text)


def deep_faults():
    """A console that faults at each character: a fault while printing is told, and one in that is left alone."""
    image = WORK + "/deep.elf"
    run(LINK, *LD.split(), "-T", script("deep.ld", ("", "")), *compile_all(["-O2", "-DPUT_FAULTS"]), "-o", image)
    text = boot(QEMU, image)
    must("second fault while printing the trace: stopped" in text and "DEPTH 2\n" in text, repr(text))


def unhandled(level, compiler=CC):
    """Exceptions first come to SFU_PANIC_ENTRY, which prints a trace each, then to the entry that was there: that finds
    all registers as they were. It has no rows itself: the code does not show how it was entered."""
    image = WORK + "/unhandled.elf"
    run(LINK, *LD.split(), "-T", script("unhandled.ld", ("", "")),
        *compile_all([level, "-DUNHANDLED=" + ENTRY], compiler), "-o", image)
    wanted = [(PANIC, 1), (FAULT, 1), (FAULT, 1)]
    for frames in HANDLERS:
        wanted += [([frames[0].split()[0], *frames[1:]], 1), (HANDLER, -13)]
    wanted += [(["leaf", *OUTER], 1), (["leaf", *NESTED[1:3]], -13), (HANDLER, -13)]
    found = traces(boot(QEMU, image))
    must(found == wanted, str(found))


def unhandled_stack():
    """SP is no memory: what SFU_PANIC_ENTRY stores is an exception, too, and there are no more of them."""
    image = WORK + "/no-stack.elf"
    run(LINK, *LD.split(), "-T", script("no-stack.ld", ("", "")),
        *compile_all(["-O2", "-DUNHANDLED=stop_entry", "-DBAD_STACK=FAR_STACK"]), "-o", image)
    text = boot(QEMU, image)
    must(text.count("STOPPED\n") == 1 and not traces(text), text)


def last_fault():
    """A new PSW is a constant that the code copies, and the entry that it names never returns."""
    image = WORK + "/last.elf"
    run(LINK, *LD.split(), "-T", script("last.ld", ("", "")), *compile_all(["-O2", "-DLAST_FAULT"]), "-o", image)
    found = traces(boot(QEMU, image))
    must(found == [(PANIC, 1), (["panic", "handle", ENTRY, "leaf [interrupted]", *FAULT[1:]], 1)], str(found))


def modes():
    """An entry of 32-bit ARM shows the SP and LR of one mode. User mode, that of programs, has those of System mode.
    Of other modes than its own the entry has neither; below User mode there is nothing of the kernel."""
    for entry, run_in, end in ((0x1f, 0x1f, None), (0x1f, 0x10, None), (0x13, 0x1f, -13), (0x13, 0x10, 1),
                               (0x1f, 0x13, -13)):
        flags = ["-O2", "-DENTRY_MODE=%d" % entry, "-DRUN_MODE=%d" % run_in]
        kernel("modes-%x-%x" % (entry, run_in), flags + ([] if end is None else ["-DNESTED=1"]), end=end)


def programs(flag):
    """The CPU pushes more for a program than for the kernel: in front of one the trace is complete. What code was
    interrupted in another segment of the kernel nobody knows."""
    image = WORK + "/programs.elf"
    run(LINK, *LD.split(), "-T", script("programs.ld", ("", "")), *compile_all([flag, "-DPROGRAMS"]), "-o", image)
    kernels, program = boot(QEMU, image).split("a program\n")
    expect(kernels, "", True)
    must(traces(program) == [(HANDLER, -13), (HANDLER, 1)], program)


def in_structure(more):
    image = WORK + "/structure.elf"
    flags = ["-O2", "-DCONTEXT", *more]
    run(LINK, *LD.split(), "-T", script("structure.ld", ("", "")), *compile_all(flags), "-o", image)
    return boot(QEMU, image)


def program_in_structure():
    """An entry that keeps registers in a structure has interrupted a program: the trace is complete."""
    for stack, mark in ([], ""), (["-DCONTEXT_STACK=handler_stack"], " [stack switch]"):
        kernels, program = in_structure(["-DPROGRAMS", *stack]).split("a program\n")
        expect(kernels, mark, False)
        must(traces(program) == [(HANDLER, 1)], program)


def deep_in_structure():
    """A fault in the handler overwrites the structure: nothing leads back over the first one's entry. If the handler
    has a stack of its own, that is overwritten, too."""
    for stack, end in ([], (HANDLER + NESTED[:3], -13)), (["-DCONTEXT_STACK=handler_stack"], (HANDLER, -22)):
        found = traces(in_structure(["-DDEEP_CONTEXT", *stack]))
        must(found[-1] == end, str(found))


def overwritten():
    """The instruction svc in SVC mode has overwritten the LR of a leaf function."""
    image = WORK + "/svc.elf"
    run(LINK, *LD.split(), "-T", script("svc.ld", ("", "")), *compile_all(["-O2", "-DLAST_FAULT", "-DSVC"]), "-o",
        image)
    found = traces(boot(QEMU, image))
    must(found == [(PANIC, 1), (HANDLER + ["leaf [interrupted]"], -20)], str(found))


def two_cpus():
    """Two CPUs that panic at the same instant: one prints its trace, whole, before the other one does, or alone."""
    image = WORK + "/two.elf"
    run(LINK, *LD.split(), "-T", script("two.ld", ("", "")), *compile_all(["-O2", "-DTWO_CPUS"]), "-o", image)
    text = boot(QEMU, image, "-smp", "2", "-accel", "tcg,thread=multi")
    must("one at a time\n" in text, text)


def saved_for_sure():
    wrong = (check_modes(GEN, WORK) if CPU == "arm" else check_pushed(GEN, CC.split(), WORK) if CPU == "i386" else
             check_saved(GEN, CPU, WORK) + (check_structure(GEN, WORK) if CPU == "riscv64" else []))
    must(not wrong, "\n".join(wrong))


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    for flags in (["-O2"], ["-Os", "-ffunction-sections"], ["-O0"], ["-O1", "-g"]):
        test("%s: %s" % (CPU, " ".join(flags)), kernel, flags[0], flags)
    test(CPU + ": position-independent", kernel, "pie", ["-O2", "-fpie"])
    test(CPU + ": /DISCARD/ : { *(*) }", kernel, "discard", ["-O2"], [], LD,
         ("*(.eh_frame", "*(*) *(.eh_frame"))
    test(CPU + ": --gc-sections", kernel, "gc", ["-Os", "-ffunction-sections"], ["--gc-sections"], LD,
         ("*(.text.boot)", "KEEP(*(.text.boot))"))
    if CPU in ("x86_64", "riscv64", "riscv32"):
        for stack, mark in ("stack_below", ""), ("stack_above", " [stack switch]"):
            test("%s: faults have a stack of their own: %s" % (CPU, stack), kernel, stack,
                 ["-O2", "-DFAULT_STACK=" + stack], (), LD, ("", ""), mark)
            test("%s: another CPU panics meanwhile: %s" % (CPU, stack), kernel, "meanwhile-" + stack,
                 ["-O2", "-DPUT_PANICS", "-DFAULT_STACK=" + stack], (), LD, ("", ""), mark)
    if CPU.startswith("riscv"):
        for level in "-O2", "-O0":
            test("%s: nested faults on a stack of their own: %s" % (CPU, level), kernel, "nest" + level,
                 [level, "-DNEST_STACK=stack_below"])
        test(CPU + ": two CPUs panic at the same instant", two_cpus)
        test(CPU + ": registers in a structure: a program", program_in_structure)
        test(CPU + ": registers in a structure: a fault in the handler", deep_in_structure)
        for level in "-O2", "-O0", "-Os":
            test("%s: registers in a structure: %s" % (CPU, level), kernel, "context" + level, [level, "-DCONTEXT"])
            for stack, mark in ("stack_below", ""), ("handler_stack", " [stack switch]"):
                test("%s: registers in a structure: %s: %s" % (CPU, level, stack), kernel,
                     "context%s-%s" % (level, stack), [level, "-DCONTEXT", "-DCONTEXT_STACK=" + stack], (), LD,
                     ("", ""), mark)
        test(CPU + ": a structure that the handler may change", kernel, "other",
             ["-O2", "-DCONTEXT", "-DCONTEXT_STACK=handler_stack", "-DOTHER_CONTEXT=0"], (), LD, ("", ""),
             " [stack switch] [guessed]")
    test(CPU + ": entries jump to the handler, and leave a return address", kernel, "by-hand", ["-O2", "-DBY_HAND"])
    if CPU not in ("x86_64", "i386", "arm"):
        test(CPU + ": entries jump to the handler, which returns to another label", returns_elsewhere)
    test(CPU + ": .note.GNU-stack", stack_note)
    test(CPU + ": described by port/kernel", described)
    if CPU != "arm": # its entries need a hook
        test(CPU + ": described by port/kernel, panics in handlers", described_handlers)
    test(CPU + ": a stack elsewhere", elsewhere)
    test(CPU + ": a stack that the script makes", behind)
    test(CPU + ": a stack in a section of code", kernel, "in-code", ["-O2", "-DSTACK_IN_CODE"], (), LD,
         ("    .data :", "    . = ALIGN(65536);\n    .data :"))
    for level in "-O2", "-O0":
        test("%s: a stack on which an entry begins anew: %s" % (CPU, level), begun_anew, level)
    test(CPU + ": a console that faults", deep_faults)
    if CPU in ("aarch64", "s390x"):
        for level in "-O2", "-O0":
            test("%s: SFU_PANIC_ENTRY: %s" % (CPU, level), unhandled, level)
        test(CPU + ": SFU_PANIC_ENTRY: clang", unhandled, "-O2", CLANG)
        test(CPU + ": SFU_PANIC_ENTRY: no stack", unhandled_stack)
    test(CPU + ": sfu-gen runs once", made_once)
    if CPU in BEGIN or CPU in ("arm", "i386"):
        test(CPU + ": what entries save is proven", saved_for_sure)
    if CPU == "arm":
        test("arm: modes", modes)
        test("arm: svc in SVC mode", overwritten)
    if CPU in ("x86_64", "i386"):
        for level in "-O2", "-O0":
            test("%s: a thread that has not run yet: %s" % (CPU, level), new_thread, level)
    if CPU == "i386":
        for flag in "-O2", "-O0":
            test("i386: a kernel with programs: " + flag, programs, flag)
    if CPU == "s390x":
        test(CPU + ": a new PSW that is copied", last_fault)
    if CPU == "riscv64":
        test(CPU + ": a CPU without the mode that is assumed", no_such_mode)
    for level in "-O2", "-O0":
        test("%s: clang %s" % (CPU, level), kernel, "clang" + level, [level], (), LD, ("", ""), "", None, CLANG)
    if CPU in ("x86_64", "aarch64", "s390x"):
        test(CPU + ": gold", kernel, "gold", ["-O2"], [], LD + ".gold")
    if CPU in ("x86_64", "i386", "aarch64", "arm"):  # lld 15 and before cannot link the others
        test(CPU + ": lld", kernel, "lld", ["-O2"], [], "ld.lld")
    finish()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""trace.py filter | core | guests | hostile: tests of sfu-trace, in build/host. Prints a line for each.

filter   console output of kernels that panic, as it is and changed: names and lines are addr2line's; raw dumps give the
         traces that the same panic has printed with tables on board
core     cores of processes, of every ABI: the same frames as gdb's
guests   dumps of machines, raw memory, and their stubs: the same frames as gdb's, and as each other's
hostile  logs, cores and stubs that make no sense, under the sanitizers
"""
import binascii
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading

from host import GCC, LD, LONG, TC, WORK, Wrong, finish, must, read, test, write
from programs import build_module
from traces import (ADDED, FRAME, LIMIT, TRACE, Lines, Stub, ask_monitor, by_gdb, by_trace, frames, frames_by_gdb,
                    free_port, kernel, mutate, only_added, packet, retry, run, survives, symbol)

QEMU = {
    "x86_64": ["qemu-system-x86_64", "-M", "pc", "-bios", "qboot.rom", "-device", "isa-debug-exit,iobase=0xf4,iosize=4",
               "-append", "{}"],
    "aarch64": ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57", "-semihosting-config",
                "enable=on,target=native,arg={}"],
    "s390x": ["qemu-system-s390x", "-M", "s390-ccw-virtio", "-append", "{}"],
}
CONSOLE = {"x86_64": ["-serial", "{}"], "aarch64": ["-serial", "{}"],
           "s390x": ["-chardev", "{},id=c", "-device", "sclpconsole,chardev=c"]}


# ---- kernels that dump their stack ----

def boot(cpu, scenario, image):
    """The console's bytes."""
    command = QEMU[cpu] + [word.format("stdio") for word in CONSOLE[cpu]] + (
        ["-action", "panic=exit-failure"] if cpu == "s390x" else [])
    command = [word.format(scenario) for word in command]
    command += ["-m", "128M", "-nodefaults", "-display", "none", "-monitor", "none", "-kernel", image]
    command += [] if scenario.startswith("record") else ["-no-reboot"]
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=LIMIT, check=False).stdout


# ---- filter ----

CALLED = ["call-null", "call-data", "jump-null"]  # wild pointers
SCENARIOS = ["assert", "memory", "illegal", "nested", "irq", "thread-panic", "slide", "slide-irq", "garbage", "module",
             *CALLED]
# Frames that are abbreviated or skipped, traces of a list, and records of a crash, printed at the next boot.
SHORTENED = ["recursion", "skip", "threads", "record", "record-irq", "record-overflow"]
SLIDE = 16 << 20  # of scenarios.c


def test_filter():
    os.makedirs(WORK, exist_ok=True)
    for cpu in GCC:
        directory = kernel(cpu)
        logs = {}
        for scenario in SCENARIOS:
            logs[scenario] = boot(cpu, scenario, directory + "/kernel.elf")
            test("%s %s lines" % (cpu, scenario), filter_lines, cpu, directory, scenario, logs[scenario])
            test("%s %s dump" % (cpu, scenario), filter_dump, directory, scenario, logs[scenario])
            test("%s %s sizes" % (cpu, scenario), filter_sizes, directory, scenario, logs[scenario])
        for scenario in SHORTENED:
            logs[scenario] = boot(cpu, scenario, directory + "/kernel.elf")
            test("%s %s lines" % (cpu, scenario), filter_lines, cpu, directory, scenario, logs[scenario])
        test("%s a slide ends with its trace" % cpu, filter_no_slide, directory, logs["slide"], logs["skip"])
        test("%s a null call" % cpu, filter_null, directory)
        test("%s a dump as a core" % cpu, filter_written, directory, logs["assert"])
        test("%s poor symbols" % cpu, filter_poor, cpu, directory, logs["assert"])
        test("%s maps" % cpu, filter_map, cpu, directory, logs)
        test("%s sizes of a module and of a record" % cpu, filter_sizes_of, cpu, directory, logs)
        test("%s prefixes" % cpu, filter_prefixes, directory, logs["irq"])
        test("%s build ID" % cpu, filter_build_id, directory, logs["assert"])
        test("%s module" % cpu, filter_module, cpu, directory, logs["module"])
        test("%s damaged dump" % cpu, filter_damaged, directory, logs["assert"])
    test("bytes pass unchanged", filter_bytes, kernel("x86_64"))
    test("a slide behind the frames", filter_late_slide, kernel("x86_64"))
    test("at once", filter_at_once, kernel("x86_64"))
    for cpu in GCC:
        test("%s sizes by FP" % cpu, filter_sizes_by_fp, cpu)
        test("%s a return address where a function begins" % cpu, filter_first_address, cpu)


def traced(image, log, *options, status=0):
    return run(TRACE, *options, image, stdin=log, status=status)[0]


def without_dumps(output):
    """Lines that are not of a dump, nor of the trace that was made of it: that ends where the log goes on."""
    kept, dump = [], False
    for line in output.replace(b"\r", b"").splitlines():
        goes_on = line.startswith((b"build ID", b"panic", b"fault", b"removed", b"sorted", b"crash record"))
        dump = b"sfu2 " in line or (dump and not goes_on)
        if not dump:
            kept.append(line)
    return kept


def filter_lines(cpu, directory, scenario, log):
    image = directory + "/kernel.elf"
    lines, count = Lines(cpu, image), 0
    output = traced(image, log)
    only_added(log, output)
    found = frames(without_dumps(output))
    module = 0
    for pc, lookup, _, _, functions in found:
        slide = SLIDE if scenario.startswith("slide") else 0
        wanted = lines.at(lookup - slide)
        if wanted[0][1].endswith(("??:?", "??:0")):
            module += 1
            must(functions == [], "0x%x: %s, where addr2line knows nothing" % (pc, functions))
            continue
        must(functions == wanted, "0x%x: %s instead of %s" % (pc, functions, wanted))
        count += 1
    lines.close()
    if scenario.startswith("record"):
        half = len(found) // 2
        must(half >= 2 and found[:half] == found[half:], "the record's frames are not the trace's: %s" % found)
    must(count >= 2 and (module == 0) == (scenario not in ("module", "garbage", *CALLED)),
         "%d frames, %d unknown" % (count, module))
    return "%d frames" % count


def filter_no_slide(directory, slide, skip):
    """A trace begins in the middle, as its first frames are skipped: the slide of the one before is not its own."""
    image = directory + "/kernel.elf"
    slide = b"\n".join(without_dumps(slide)) + b"\n"
    alone, behind = (frames(without_dumps(traced(image, log)))[-4:] for log in (skip, slide + skip))
    must(alone == behind and all(frame[4] for frame in alone), "%s instead of %s" % (behind, alone))


def filter_null(directory):
    """A null pointer stays one, whatever the slide."""
    log = b"slide 0x1000000\n#0  0x0000000000000000\n#1  0x0000000000000018  [interrupted]\n#2  0x0000000000001010\n"
    added = only_added(log, traced(directory + "/kernel.elf", log))
    must(added == [b"        no code: a null pointer has been called\n"] * 2 + [b"        in no image\n"], "%s" % added)


def filter_written(directory, log):
    """gdb opens the core of a raw dump, and comes to the frames that the panic has printed."""
    image, core = directory + "/cfi.elf", directory + "/written.core"
    printed, dumped = traces(traced(image, log, "--write-core=" + core))[-1]
    pcs = [frame[0] for frame in dumped if isinstance(frame, tuple)]
    gdb, = by_gdb(image, "core-file " + core).values()
    must(gdb == pcs and len(pcs) >= 3, "%s instead of %s" % (list(map(hex, gdb)), list(map(hex, pcs))))
    _, errors = run(TRACE, "--write-core=/absent/core", image, stdin=log, status=1)
    must(b"No such file" in errors, "%s" % errors)
    _, errors = run(TRACE, "--write-core=/dev/full", image, stdin=log, status=1)
    must(b"No space left" in errors, "%s" % errors)
    return "%d frames" % len(pcs)


def filter_poor(cpu, directory, log):
    """An image whose symbols and lines are in a file of their own, which a debuglink or its build ID names."""
    tools, whole = "%s/%s/" % (TC, cpu), directory + "/kernel.elf"
    wanted = frames(without_dumps(traced(whole, log)))
    poor, debug = directory + "/poor.elf", directory + "/poor.debug"
    run(tools + "objcopy", "--only-keep-debug", whole, debug)
    run(tools + "objcopy", "--strip-all", "--add-gnu-debuglink=" + debug, whole, poor)
    found = frames(without_dumps(traced(poor, log)))
    must(found == wanted and found[0][4], "by debuglink: %s" % found)
    line = b"#0  0x%016x\n" % symbol(cpu, whole, "kernel_trace")
    run(tools + "objcopy", "--strip-debug", whole, debug)
    run(tools + "objcopy", "--strip-all", "--add-gnu-debuglink=" + debug, whole, poor)
    must(b"        kernel_trace+0x0 (no line)\n" in traced(poor, line), "no name of the other file's")
    os.remove(debug)
    must(b"no symbol at" in traced(poor, line), "without it")


def nearest(symbols, addr):
    """The function of nm's list SYMBOLS that ADDR is in: [name+offset], of each that begins there."""
    start = max(at for at, _, _ in symbols if at <= addr)
    return [b"%s+0x%x" % (name, addr - start) for at, kind, name in symbols
            if at == start and kind in b"tTwW" and not name.startswith(b"$")]


def filter_map(cpu, directory, logs):
    """nm's names of a kernel that has been stripped, and without any image."""
    tools, image, file = "%s/%s/" % (TC, cpu), directory + "/kernel.elf", directory + "/map"
    listed = run(tools + "nm", image)[0]
    symbols = [(int(addr, 16), kind, name) for addr, kind, name in
               re.findall(rb"(?m)^([0-9a-f]+) ([^aAUN]) (\S+)$", listed)]
    run(tools + "objcopy", "--strip-all", image, directory + "/stripped.elf")
    kinds = {"nm": (listed, ""), "nm -n": (run(tools + "nm", "-n", image)[0], ""),
             "nm -S": (run(tools + "nm", "-S", image)[0], ""), "CRLF": (listed.replace(b"\n", b"\r\n"), ""),
             "moved": (b"".join(b"%016x %s %s\n" % (addr + 0x5000, kind, name) for addr, kind, name in symbols),
                       "@0xffffffffffffb000"),
             "no end": (listed.strip(), ""), "with garbage": (b"\n0\n0 T\nx T y\n T \n" + listed + b"\0\xff", "")}
    count = 0
    for kind, (text, at) in kinds.items():
        write(file, text)
        for scenario in ("irq",) + (("slide",) if not at else ()):
            for images in ([directory + "/stripped.elf"], []):
                log = b"\n".join(without_dumps(logs[scenario])) + b"\n"
                added = only_added(log, run(TRACE, "--map=%s%s" % (file, at), *images, stdin=log)[0])
                found = [line.strip() for line in added]
                wanted = [nearest(symbols, lookup - (SLIDE if scenario == "slide" else 0))
                          for _, lookup, _, _, _ in frames(log.splitlines())]
                must(len(found) == len(wanted) and all(any(line == name + b" (no line)" for name in names)
                                                       for line, names in zip(found, wanted)),
                     "%s, %s, %s: %s instead of %s" % (kind, scenario, images, found, wanted))
                count += len(found)
    # Of a module, where the program runs; a null pointer; the last symbol.
    write(file, b"0000000000000000 T zero\nffff000000001000 t first\t[one]\nffff000000001010 D data\n"
          b"ffff000000002000 t second\t[two]\n")
    log = b"".join(b"#0  0x%016x\n" % pc for pc in (
        0, 0xffff000000001008, 0xffff000000001018, 0xffff000000002008, 0xffff000000012000))
    added = only_added(log, run(TRACE, "--map=" + file + "@0", "--slide=0x1000", stdin=log)[0])
    must([line.strip() for line in added] == [
        b"no code: a null pointer has been called", b"first+0x8 (no line) [one]", b"in no image",
        b"second+0x8 (no line) [two]", b"in no image"], "%s" % added)
    for text, said in ((b"", b"no line"), (b"hello\n", b"no line"), (b"0000000000000000 T a\n" * 3, b"root"),
                       (b"                 U a\n", b"no line")):
        write(file, text)
        errors = run(TRACE, "--map=" + file, image, stdin=b"", status=1)[1]
        must(said in errors and errors.count(b"\n") == 1, "%s: %s" % (text, errors))
    # An image with symbols, and a map that knows more: the nearest one counts, the image's where both have the same.
    run(tools + "objcopy", "--strip-debug", image, directory + "/symbols.elf")
    at = symbol(cpu, image, "kernel_trace")
    write(file, b"%016x T far\n%016x T same\n%016x T near\n" % (at - 8, at, at + 4))
    log = b"".join(b"#0  0x%016x\n" % (at + offset) for offset in (0, 2, 4, 6))
    added = only_added(log, run(TRACE, "--map=" + file, directory + "/symbols.elf", stdin=log)[0])
    must([line.strip() for line in added] == [b"%s (no line)" % name for name in (
        b"kernel_trace+0x0", b"kernel_trace+0x2", b"near+0x0", b"near+0x2")], "the nearest: %s" % added)
    write(file, listed)
    must(b"a dump needs an image" in run(TRACE, "--map=" + file, stdin=logs["irq"])[0], "a dump without an image")
    return "%d names" % count


def traces(output):
    """The traces that a log has, and those made of dumps: a list of pairs of lists of (PC, marks)."""
    pairs, dump = [], False
    for line in output.replace(b"\r", b"").splitlines():
        frame = FRAME.match(line)
        if b" begin " in line:
            dump = True
        elif line.startswith(b"build ID"):
            dump = False
            pairs.append(([], []))
        elif frame and pairs:
            pairs[-1][dump].append((int(frame[2], 16), frame[4]))
        elif b"trace ends (" in line and pairs:
            pairs[-1][dump].append(re.search(rb"trace ends \((-?\d+)\)", line)[1])
    return pairs


def filter_dump(directory, scenario, log):
    """By .sframe, and by tables made of .eh_frame, the very same trace."""
    compared = {}
    for image in ("kernel.elf", "cfi.elf"):
        found = traces(traced("%s/%s" % (directory, image), log))
        must(found, "no trace")
        compared[image] = sum(compare_dump(scenario, image, printed, dumped) for printed, dumped in found)
        must(compared[image] >= 3, "nothing compared")
    return "%d frames, by CFI %d" % (compared["kernel.elf"], compared["cfi.elf"])


def compare_dump(scenario, image, printed, dumped):
    """A dump does not say where stacks end. A trace of it ends in a module that is not there. Without .sframe, the code
    of the exception entry leads to what was interrupted; where that needs a register, the trace ends there."""
    def marks(text):
        """As both write them: the printer marks a guess by its kind."""
        return text.replace(b"  [stack switch]", b"").replace(b"[wild call]", b"[guessed]")

    printed, dumped = ([(f[0], marks(f[1])) if isinstance(f, tuple) else f for f in trace]
                       for trace in (printed, dumped))
    ends = [i for i, frame in enumerate(printed)
            if image == "cfi.elf" and isinstance(frame, tuple) and b"[interrupted]" in frame[1]]
    if scenario == "module":
        ends.append(3)
    if scenario == "module":
        must(dumped[:-1] == printed[:min(ends)] and int(dumped[-1]) < 0, "%s instead of %s" % (dumped, printed))
    elif dumped != printed:
        num = len(dumped) - 1
        must(ends and dumped[:-1] == printed[:num] and num >= min(ends) and int(dumped[-1]) < 0,
             "%s instead of %s" % (dumped, printed))
    return len(dumped) - 1


SIZE = re.compile(rb" +(?:(\d+) bytes of stack|bytes of stack not known: (.*))$")
IN_MEMORY = b"its caller's SP is in memory or in a register that the log does not have"
# The call in a listing.
CALL = {"x86_64": re.compile(rb"(?m)^ +([0-9a-f]+):\s+call"), "aarch64": re.compile(rb"(?m)^ +([0-9a-f]+):\s+bl\b"),
        "s390x": re.compile(rb"(?m)^ +([0-9a-f]+):\s+brasl")}
BY_FP = b"its caller is found by FP, which the log does not have"


def sizes_of(output):
    """What is said of each frame's size: the bytes, why they are not known, or None."""
    found = []
    for line in output.replace(b"\r", b"").splitlines():
        size = SIZE.match(line)
        if re.match(rb"(?:    )*#\d", line):
            found.append(None)
        elif size:
            must(found and found[-1] is None, "two sizes: %s" % line)
            found[-1] = int(size[1]) if size[1] else size[2]
    return found


def split_dumps(output):
    """The lines of what the printer has printed, and those of what was made of dumps."""
    printed, dumped, dump = [], [], False
    for line in output.replace(b"\r", b"").splitlines():
        dump = (dump or b" begin " in line) and not line.startswith(b"build ID")
        (dumped if dump else printed).append(line)
    return b"\n".join(printed), b"\n".join(dumped)


def filter_sizes(directory, scenario, log):
    """Of each frame the tables say the size that the walk of the dump has by its stack pointers, as long as that walk
    goes on. A size that the walk has, and the tables do not, is that of a frame whose caller's SP is in memory."""
    known = 0
    for image in ("kernel.elf", "cfi.elf"):
        printed, dumped = split_dumps(traced("%s/%s" % (directory, image), log, "--sizes"))
        frames_of = [frames(part.splitlines()) for part in (printed, dumped)]
        pairs = iter(zip(frames_of[1], sizes_of(dumped)))
        walked, size = next(pairs)
        for frame, said in zip(frames_of[0], sizes_of(printed)):
            if walked is None or frame[0] != walked[0]:
                continue  # the walk has ended before
            in_code = bool(frame[4])
            must(said == size or said == IN_MEMORY or size is None or (said is None and not in_code),
                 "%s 0x%x: %s, by the walk %s" % (image, frame[0], said, size))
            known += isinstance(said, int) and said == size
            walked, size = next(pairs, (None, None))
        must(not re.search(rb"bytes of stack[^\n]*\ntrace ends \(1\)", printed), "a size of the outermost frame")
    must(known >= 4, "%d sizes" % known)
    return "%d sizes" % known


def filter_sizes_of(cpu, directory, logs):
    """A module needs an address, code a table, and --sizes an image. What the printer has said is not said again."""
    image, module = directory + "/kernel.elf", directory + "/module.ko"
    line = b"#1  0x0000000000000013  module_middle+0x3\n"
    output = run(TRACE, "--sizes", image, module, stdin=line)[0]
    must(output.endswith(b" bytes of stack not known: its image has no address: give FILE@ADDR\n"), output)
    at = symbol(cpu, image, "module_image")
    output = run(TRACE, "--sizes", image, "%s@0x%x" % (module, at), stdin=b"#1  0x%016x\n" % (at + 4))[0]
    must(isinstance(sizes_of(output)[0], int), output)
    sized = b"#1  0x%016x  [interrupted]  [48 bytes]\n" % symbol(cpu, image, "panic")
    must(sizes_of(traced(image, sized, "--sizes")) == [None], "a size that the log has")
    bare = sized.replace(b"  [48 bytes]", b"")
    must(sizes_of(traced(image, bare, "--sizes")) == [8 if cpu == "x86_64" else 0], "at the start of a function")
    none = directory + "/none-at-all.elf"
    run("%s/%s/objcopy" % (TC, cpu), "-R", ".eh_frame", directory + "/cfi.elf", none)
    must(sizes_of(traced(none, bare, "--sizes")) == [8 if cpu == "x86_64" else 0], "by code alone")
    for arguments in (["--map=" + directory + "/map", "--sizes"], ["--folded", "--sizes", image]):
        write(directory + "/map", b"1000 T panic\n")
        must(run(TRACE, *arguments, status=2, stdin=b"")[1].count(b"--sizes needs an image") == 1, "%s" % arguments)
    printed = without_dumps(traced(image, logs["record"], "--sizes"))
    panic, record = b"\n".join(printed).split(b"crash record: ")
    must(sizes_of(panic)[:len(sizes_of(record))] == sizes_of(record) and len(sizes_of(record)) >= 4, record)


FP_SOURCE = """
void sink(char *bytes, int n);
__attribute__((noipa)) void lengthy(int n) { char bytes[n]; sink(bytes, n); }
void _start(void) { lengthy(100); }
__attribute__((noipa)) void sink(char *bytes, int n) { bytes[0] = (char)n; }
"""


def filter_sizes_by_fp(cpu):
    """The caller of a function with a frame pointer is found by FP, which is known of the frame that a crash record
    begins with: there CFA = FP + 16, on s390x SP of the caller = FP + what the function has taken."""
    source, image = "%s/fp-%s.c" % (WORK, cpu), "%s/fp-%s.elf" % (WORK, cpu)
    write(source, FP_SOURCE.encode())
    run(GCC[cpu], "-O1", "-g", "-ffreestanding", "-fno-pie", "-fasynchronous-unwind-tables", "-fno-stack-protector",
        "-nostdlib", "-static", "-Wl,-z,noexecstack", source, "-o", image)
    call = CALL[cpu].search(run("%s/%s/objdump" % (TC, cpu), "-d", "--no-show-raw-insn", "--disassemble=lengthy",
                                image)[0])
    pc = int(call[1], 16)
    rows = run("%s/%s/readelf" % (TC, cpu), "--debug-dump=frames-interp", image)[0]
    cfa = max((int(m[1], 16), int(m[2])) for m in re.finditer(rb"(?m)^([0-9a-f]{16}) (?:rbp|x29|r11|s0)\+(\d+)", rows)
              if int(m[1], 16) <= pc)[1] - (160 if cpu == "s390x" else 0)
    sp, fp = 0x7000, 0x7000 + 256
    frame = b"#0  0x%016x\n" % pc
    must(sizes_of(traced(image, frame, "--sizes")) == [BY_FP], "without FP")
    record = b"crash record: pc 0x%016x sp 0x%016x fp 0x%016x ra 0x%016x\n" % (pc, sp, fp, 0)
    must(sizes_of(traced(image, record + frame + frame, "--sizes")) == [fp + cfa - sp, BY_FP], "of the record's frame")
    other = record.replace(b"pc 0x%016x" % pc, b"pc 0x%016x" % (pc + 1))
    must(sizes_of(traced(image, other + frame, "--sizes")) == [BY_FP], "of another frame's record")
    low = record.replace(b"fp 0x%016x" % fp, b"fp 0x%016x" % 0x100)
    must(sizes_of(traced(image, low + frame, "--sizes")) == [b"its registers and its row contradict each other"], "low")


def filter_prefixes(directory, log):
    """Times in front of lines, carriage returns behind them: the same lines are added."""
    plain = only_added(log.replace(b"\r", b""), traced(directory + "/kernel.elf", log.replace(b"\r", b"")))
    for before, after in ((b"[    1.234567] ", b"\n"), (b"kernel: ", b"\r\n"), (b"<3>", b"\n"), (b"", b"  \r\r\n")):
        changed = b"".join(before + line + after for line in log.replace(b"\r", b"").splitlines())
        added = only_added(changed, traced(directory + "/kernel.elf", changed))
        must([line.rstrip() for line in added] == [line.rstrip() for line in plain], "with %s" % before)
        must(all(line.endswith(b"\r\n") for line in added) == (b"\r" in after), "ends of lines with %s" % after)


def filter_build_id(directory, log):
    right, other = directory + "/kernel.elf", directory + "/other.elf"
    output = traced(other, log, status=1)
    must(b"WRONG IMAGE" in output and not frames(without_dumps(output))[0][4], "another kernel's lines")
    must(frames(without_dumps(traced(other, log, right))) == frames(without_dumps(traced(right, log))), "not chosen")
    none = directory + "/none.elf"
    run("objcopy" if "x86_64" in directory else "%s/%s/objcopy" % (TC, directory.rsplit("-", 1)[1]), "-R",
        ".note.gnu.build-id", right, none)
    must(b"not compared" in traced(none, log), "an image without build ID")


def filter_module(cpu, directory, log):
    """Where the module lies: at symbol module_image, and its .text in it."""
    tools = "%s/%s/" % (TC, cpu)
    module = directory + "/module.ko"
    at = symbol(cpu, directory + "/kernel.elf", "module_image")
    text = int(re.search(rb" \.text +PROGBITS +0+ +0*([0-9a-f]+) ", run(tools + "readelf", "-SW", module)[0])[1], 16)
    symbols = {m[2]: int(m[1], 16) for m in re.finditer(rb"([0-9a-f]+) \w (module_\w+)", run(tools + "nm", module)[0])}
    output = run(TRACE, directory + "/kernel.elf", "%s@0x%x" % (module, at + text), stdin=log)[0]
    added = [m for m in map(ADDED.match, output.replace(b"\r", b"").splitlines()) if m and m[4] == b"module.ko"]
    # Each trace is followed by that of a dump. The second is printed when the module's tables have been removed.
    whole, cut = [b"module_middle", b"module_entry"], [b"module_middle"]
    must([m[2] for m in added] == whole + whole + cut + whole + whole + whole, "functions: %s" % added)
    for printed, dumped in traces(output)[0:3:2]:
        must(printed == dumped and printed[-1] == b"1", "%s instead of %s" % (dumped, printed))
    lines = Lines(cpu, module)
    found = [f for f in frames(without_dumps(output)) if f[4] and f[4][0][0].startswith("module")]
    for pc, lookup, _, _, functions in found:
        must(functions == lines.at(lookup - at - text), "0x%x: %s" % (pc, functions))
    # The same by name, as of a printer that knows the module's symbols.
    for name in (b"module_middle", b"module_entry"):
        frame = next(f for f in found if f[4][0][0].encode() == name)
        line = b"#1  0x%016x  %s+0x%x\n" % (frame[0], name, frame[0] - at - text - symbols[name])
        output = run(TRACE, directory + "/kernel.elf", module, stdin=line)[0]
        must(frames(output.splitlines())[0][4] == frame[4], "by name: %s" % output)
    lines.close()
    # Tables that sfu-gen has made by the manual's lines count from .text, and have no relocations: the same sizes.
    made = directory + "/made"
    os.makedirs(made, exist_ok=True)
    build_module(cpu, made)
    start = symbols_in(tools, made + "/module.ko", b"module_middle")
    line = b"#1  0x%016x\n" % (at + start + found[0][1] + 1 - at - text - symbols[b"module_middle"])
    output, errors = run(TRACE, "--sizes", directory + "/kernel.elf", "%s/module.ko@0x%x" % (made, at), stdin=line)
    must(b"module_middle" in output and isinstance(sizes_of(output)[0], int) and not errors,
         "%s%s" % (output, errors))


def symbols_in(tools, file, name):
    return int(re.search(rb"(?m)^([0-9a-f]+) \w %s$" % name, run(tools + "nm", file)[0])[1], 16)


def signed(number, words):
    """A line of a dump, with its number and check (sfu_dump.h)."""
    text = b"%02x %s" % (number, words)
    return b"sfu2 %s %04x\r\n" % (text, binascii.crc_hqx(text, 0xffff))


def unpacked(addr, packed):
    """[(address, word)] of a line of packed words."""
    words, far = [], 0
    for token in packed:
        at, sign, number = addr + 8 * len(words), token[:1], int(token.strip(b"+-<>*"), 16)
        if sign == b"*":
            words += [words[-1]] * number
            continue
        words.append({b"+": at + number, b"-": at - number, b">": far + number, b"<": far - number}.get(sign, number))
        if sign not in b"+-<>" and len(token) > 8:
            far = number
    return [(addr + 8 * i, word) for i, word in enumerate(words)]


def lengths(log):
    """How many characters the lines of words in LOG have, and how many they would have with all digits."""
    packed = plain = count = 0
    for line in log.splitlines(keepends=True):
        dump = re.match(rb"sfu2 ([0-9a-f]{2,} (.*)) ([0-9a-f]{4})\r?\n$", line)
        if not dump:
            continue
        must(binascii.crc_hqx(dump[1], 0xffff) == int(dump[3], 16), "the check of %s" % line)
        kind, *words = dump[2].split(b" ")
        if kind == b"m":
            packed += len(line)
            count += len(unpacked(int(words[0], 16), words[1:]))
        if kind == b"end":
            must(int(words[0], 16) == count, "the number of words")
            plain, count = plain + 80 * count // 4, 0
    return packed, plain


def filter_damaged(directory, log):
    """Lines of a dump that are missing, there twice, broken, or the end that never comes."""
    image = directory + "/kernel.elf"
    lines = log.splitlines(keepends=True)
    stack = [i for i, line in enumerate(lines) if re.match(rb"sfu2 \w+ m ", line)]
    whole = traces(traced(image, log))
    output = traced(image, b"".join(lines[:stack[1]] + lines[stack[2]:]))
    missing = len(unpacked(0, lines[stack[1]].split()[4:-1]))
    must(b"%d words of the stack are missing" % missing in output and b" 1 lines of the dump are missing" in output,
         "a missing line")
    output = traced(image, b"".join(line * 2 if line.startswith(b"sfu2 ") else line for line in lines))
    must(traces(output) == whole and b"missing" not in output and b"not a line" not in output, "each line twice")
    packed, plain = lengths(log)
    output = traced(image, b"".join(line for line in lines if not re.match(rb"sfu2 \w+ m ", line)))
    must(len(traces(output)[0][1]) == 2 and b"trace ends (-17)" in output, "no stack")
    output = traced(image, b"".join(line for line in lines if not re.match(rb"sfu2 \w+ r ", line)))
    must(b"a dump without PC and SP" in output, "no registers")
    output = traced(image, b"".join(lines[:stack[4]]))
    must(b"the dump is not complete" in output and len(traces(output)[0][1]) > 1, "no end")
    output = traced(image, b"".join(lines[:stack[4]]) + log)
    printed, dumped = traces(output)[1]
    must(b"before this one is not complete" in output and dumped[-len(printed):] == printed, "another one begins")
    for at in range(5, len(lines[stack[0]].rstrip()), 7):
        damaged = bytearray(lines[stack[0]])
        damaged[at] ^= 1
        output = traced(image, b"".join(lines[:stack[0]] + [bytes(damaged)] + lines[stack[0] + 1:]))
        must(b"a damaged one" in output and b"words of the stack are missing" in output, "a damaged character: %d" % at)
    begin = next(line for line in lines if b" begin " in line)
    output = traced(image, log.replace(begin, signed(0, b"begin 1 exact")))
    must(b"a dump of aarch64_be, but" in output and len(traces(output)[0][1]) == 0, "another ABI")
    for wrong in (b"m", b"m 0", b"m 0 *1", b"m 0 1 *", b"m 0 -1", b"m 0 <1", b"m ffffffffffffffff 1",
                  b"m 8 +ffffffffffffffff", b"m 0 1 *ffffffff", b"r 20 0", b"r pc", b"s 0000 0000000000000000",
                  b"begin 9 exact", b"x", b""):
        output = traced(image, begin + signed(1, wrong))
        must(wrong == b"m 0" or b"a damaged one" in output, "%s" % wrong)
    return "%d characters instead of %d" % (packed, plain)


def filter_bytes(directory):
    chosen = random.Random(1)
    data = bytes(chosen.randrange(256) for _ in range(200000))
    data += b"#0  0x0000000000103721" * 1000 + b"\n" + b"\0\r\n\r#0"
    must(only_added(data, traced(directory + "/kernel.elf", data)) == [], "something was added")
    must(traced(directory + "/kernel.elf", b"") == b"", "of nothing")
    line = b"#0  0x%016x" % symbol("x86_64", directory + "/kernel.elf", "panic")
    must(traced(directory + "/kernel.elf", line).startswith(line + b"\n        panic at "), "no end of the last line")


def filter_late_slide(directory):
    """As printers before 0.2.0 wrote it."""
    log = boot("x86_64", "slide", directory + "/kernel.elf").replace(b"\r", b"")
    log = b"\n".join(without_dumps(log)) + b"\n"
    slide = b"slide 0x1000000\n"
    must(slide in log, "no slide")
    late = log.replace(slide, b"").replace(b"trace ends", slide + b"trace ends")
    image = directory + "/kernel.elf"
    wanted = [f[4] for f in frames(traced(image, log).splitlines())]
    found = [line.strip(b" ") if line.startswith(b"        #") else line for line in traced(image, late).splitlines()]
    found = [f[4] for f in frames(found)]
    must(found[len(wanted):] == wanted and all(f == [] for f in found[:len(wanted)]), "%s" % found)
    log = log.replace(slide, b"")
    must([f[4] for f in frames(traced(image, log, "--slide=0x1000000").splitlines())] == wanted, "--slide")


def filter_first_address(cpu):
    """A return address at which a function begins: it is that function's, unless the one in front ends with a call."""
    text = {"x86_64": ("ret", "call quits"), "aarch64": ("ret", "bl quits"), "s390x": ("br %r14", "brasl %r14, quits")}
    image = "%s/first-%s" % (WORK, cpu)
    write(image + ".s", "".join(".globl {0}\n.type {0}, %function\n{0}: nop\n{1}\n.size {0}, . - {0}\n".format(*part)
                                for part in (("_start", text[cpu][0]), ("quits", text[cpu][1]),
                                             ("behind", text[cpu][0]))).encode())
    run(GCC[cpu], "-c", image + ".s", "-o", image + ".o")
    run(LD[cpu], image + ".o", "-o", image)
    log = b"".join(b"#%d  0x%016x\n" % (i, symbol(cpu, image, name))
                   for i, name in enumerate(("quits", "quits", "behind")))
    places = re.findall(rb"(?m)^        (\w+)\+0x", traced(image, log + b"trace ends\n"))
    must(places == [b"quits", b"quits", b"quits"], "%s" % places)


def filter_at_once(directory):
    """What comes in goes out before more comes, also a part of a line."""
    process = subprocess.Popen([TRACE, directory + "/kernel.elf"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    got = b""
    for part in (b"log", b"in: ", b"\n#0  0x", b"%016x\n" % symbol("x86_64", directory + "/kernel.elf", "panic")):
        os.write(process.stdin.fileno(), part)
        wanted = got + part
        while len(got) < len(wanted):
            got += os.read(process.stdout.fileno(), 1)
        must(got == wanted, "%s" % got)
    process.stdin.close()
    must(b"panic at" in process.stdout.read() and process.wait() == 0, "the place")


# ---- cores of processes ----

def pcs_of(*arguments):
    """The PCs of all threads, however the traces end."""
    out = subprocess.run([TRACE, *arguments], capture_output=True, check=False, timeout=LIMIT).stdout
    return [int(frame[2], 16) for frame in map(FRAME.match, out.splitlines()) if frame]


def compare_threads(found, gdb):
    must(sorted(found) == sorted(gdb), "threads %s, gdb has %s" % (sorted(found), sorted(gdb)))
    for number, pcs in found.items():
        must(pcs == gdb[number], "thread %d: %s instead of %s" % (number, " ".join(map(hex, pcs)),
                                                                  " ".join(map(hex, gdb[number]))))
    return "%d frames of %d threads" % (sum(map(len, found.values())), len(found))


def test_core():
    os.makedirs(WORK, exist_ok=True)
    for kind, flags in (("threads", ["-DTHREADS", "-pthread"]), ("static", ["-static"]),
                        ("static-pie", ["-static-pie"]), ("clang", []),
                        ("sframe", ["-B%s/x86_64/" % TC, "-Wa,--gsframe"])):
        test("x86_64 " + kind, core_of_gdb, kind, flags)
    test("x86_64 of the kernel", core_of_kernel)
    for cpu in GCC:
        for kind, flags in (("static", ["-static"]), ("plain", ["-static", "-DPLAIN"]), ("dynamic", ["-DPLAIN"]),
                            ("sframe", ["-static", "-DPLAIN", "-B%s/%s/" % (TC, cpu), "-Wa,--gsframe"])):
            test("%s under qemu-user, %s" % (cpu, kind), core_of_qemu, cpu, kind, flags)
    test("aarch64 under qemu-user, pac", core_of_qemu, "aarch64", "pac", [
        "-static", "-DPLAIN", "-mbranch-protection=standard"])
    test("aarch64_be under qemu-user", core_of_qemu, "aarch64_be", "bare", [
        "-mbig-endian", "-nostdlib", "-static", "-DBARE", "-fasynchronous-unwind-tables"])
    for cpu in (*GCC, "aarch64_be"):
        test("%s, debug information elsewhere" % cpu, core_of_separate, cpu)
    for cpu in GCC:
        test("%s, names of .dynsym" % cpu, core_of_exported, cpu)
    for cpu in GCC:
        for kind in WILD:
            test("%s, a call of %s" % (cpu, kind), core_of_wild, cpu, kind)
    for kind in ("mentioned", "guessed", "sent"):
        test("s390x, a trap at the end of a function, %s" % kind, core_of_trap, "s390x", kind)
    test("x86_64, int3 at the end of a function", core_of_trap, "x86_64", "int3")
    test("another program's image", core_of_another)
    test("tables that a linker has only joined", joined_tables)
    test("what is no core", core_of_nothing)


def core_of_gdb(kind, flags):
    program = "%s/%s" % (WORK, kind)
    run("clang" if kind == "clang" else "gcc", "-g", "-O2", *flags, "port/host/test/crash.c", "-o", program)
    core = program + ".core"
    run("gdb-multiarch", "-q", "-nx", "-batch", "-ex", "handle SIGUSR1 nostop noprint pass", "-ex", "run", "-ex",
        "generate-core-file " + core, program)
    gdb = by_gdb(program, "core-file " + core)
    found, text = by_trace("--core=" + core)
    must(b"handler at" in text and b"[interrupted]" in text and b"(inlined by) crash at" in text, "no handler")
    must((b"(.sframe)" in text) == (kind == "sframe"), "which tables?")
    written = program + ".written"
    run(TRACE, "--core=" + core, "--write-core=" + written)
    again = by_gdb(program, "core-file " + written)
    must(list(again.values()) == list(gdb.values()), "gdb, of the core that is written: %s" % again)
    must(by_trace("--core=" + written)[0] == found, "of the core that is written")
    # The image of the command line counts, wherever it is.
    moved = program + "-moved/" + kind
    os.makedirs(os.path.dirname(moved), exist_ok=True)
    shutil.copy(program, moved)
    must(by_trace("--core=" + core, moved)[0] == found, "with an image")
    check_sizes(frames_by_gdb(program, "core-file " + core), by_trace("--core=" + core, "--sizes")[1])
    return compare_threads(found, gdb)


def check_sizes(gdb, text):
    """Under each frame but the last one its size, which is the distance between two of gdb's stack pointers, where both
    are on one stack."""
    sizes, pc, compared = {}, None, 0
    for line in text.splitlines():
        frame, size = FRAME.match(line), re.match(rb"        (\d+) bytes of stack$", line)
        if frame:
            pc = int(frame[2], 16)
        elif size:
            sizes.setdefault(pc, []).append(int(size[1]))
    for pairs in gdb.values():
        for (pc, sp), (_, above) in zip(pairs, pairs[1:]):
            if above > sp:
                must(above - sp in sizes.get(pc, []), "%x: %s, gdb says %d" % (pc, sizes.get(pc), above - sp))
                compared += 1
    must(compared >= 5 and sizes, "%d sizes compared" % compared)


TRAP_SOURCE = """
#include <signal.h>
volatile int x = 1;
volatile long sink;
__attribute__((noinline)) void use(long *p) { sink += p[0]; }
__attribute__((noinline, noreturn)) void boom(int v) { long a[20]; a[0] = v; use(a); TRAP; __builtin_unreachable(); }
__attribute__((noinline)) long other(long v) { long a[4]; a[0] = v; use(a); return a[0] + sink; }
__attribute__((noinline)) int caller(int v) { if (v) boom(v); use((long *)&sink); return 2; }
int main(void) { return x == 7 ? (int)other(3) : caller(x) + 1; }
"""


def core_of_trap(cpu, kind):
    """The CPU leaves the PC behind the last instruction of boom: what follows is another function. The core says what
    the signal was: mentioned, and of int3; guessed: only its number; sent: a system call has sent the signal."""
    program = "%s/%s-trap-%s" % (WORK, cpu, kind)
    write(program + ".c", TRAP_SOURCE.encode())
    trap = {"int3": '__asm__ volatile("int3")', "sent": "for (;;) raise(SIGILL)"}.get(kind, "__builtin_trap()")
    run(GCC[cpu], "-g", "-O2", "-static", "-fno-toplevel-reorder", "-DTRAP=" + trap, program + ".c", "-o", program)
    if cpu == "x86_64":
        core = program + ".core"
        run("gdb-multiarch", "-q", "-nx", "-batch", "-ex", "run", "-ex", "generate-core-file " + core, program)
    else:
        core = qemu_core(cpu, program)
    if kind == "mentioned":
        add_siginfo(core)
    found, text = by_trace("--core=" + core, program)
    names = [f[4][-1][0] for f in frames(text.splitlines()) if f[4]]
    wanted = ["boom", "caller", "main"]
    must(names[:3] == wanted or kind == "sent" and [n for n in names if n in wanted] == wanted, "%s" % text)
    must((b"no note NT_SIGINFO" in text) == (kind == "guessed"), "%s" % text)
    must(b"[guessed]" not in text, "%s" % text)
    return "%d frames" % len(names)


def add_siginfo(name):
    """Makes the core of qemu-user, which has none, have what Linux says of a trap of s390x: NT_SIGINFO (0x53494749)
    instead of NT_PRPSINFO (3): si_signo, si_errno, si_code (TRAP_BRKPT), si_addr."""
    with open(name, "rb") as file:
        core = bytearray(file.read())
    status = core.index(struct.pack(">III", 5, 336, 1) + b"CORE\0")
    info = core.index(struct.pack(">III", 5, 136, 3) + b"CORE\0")
    behind = struct.unpack_from(">Q", core, status + 20 + 112 + 8)[0]
    struct.pack_into(">I", core, info + 8, 0x53494749)
    struct.pack_into(">iii4xQ", core, info + 20, struct.unpack_from(">h", core, status + 20 + 12)[0], 0, 1, behind - 2)
    with open(name, "wb") as file:
        file.write(core)


def core_of_kernel():
    """As the kernel writes it, where it does so into the current directory."""
    program, directory = os.path.abspath(WORK + "/static"), WORK + "/kernel"
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    subprocess.run(["sh", "-c", "ulimit -c unlimited; exec " + program], cwd=directory, check=False,
                   stderr=subprocess.DEVNULL, timeout=LIMIT)
    cores = os.listdir(directory)
    if not cores:
        return "none written here"
    core = os.path.join(directory, cores[0])
    return compare_threads(by_trace("--core=" + core)[0], by_gdb(program, "core-file " + core))


def qemu_core(cpu, program, *options):
    """qemu-user writes a core of its guest into the current directory."""
    directory = program + ".dir"
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    command = ["qemu-" + cpu, *options, os.path.abspath(program)]
    subprocess.run(["sh", "-c", 'ulimit -c unlimited; exec "$@"', "sh", *command], cwd=directory, check=False,
                   stderr=subprocess.DEVNULL, timeout=LIMIT)
    return core_in(directory)


def core_in(directory):
    """The guest's core. Where the kernel writes cores into the current directory there is that of QEMU, too."""
    cores = [name for name in os.listdir(directory) if name.startswith("qemu_")]
    must(len(cores) == 1, "qemu-user has written no core: %s" % os.listdir(directory))
    return os.path.join(directory, cores[0])


# What crash.c's source says, of static programs: from the leaf up. libc's own functions are left out.
CRASH = ["read_at", "inlined", "crash", "handler", "compare", "sort", "main"]


# FAULTS.md: gdb-cores.
NOT_BY_GDB = {("aarch64", "static"), ("aarch64", "pac"), ("aarch64", "dynamic"), ("s390x", "dynamic")}


def core_of_qemu(cpu, kind, flags):
    program = "%s/%s-%s" % (WORK, cpu, kind)
    root = "/" if cpu == "x86_64" else "/usr/%s-linux-gnu" % cpu
    run(GCC[cpu.replace("_be", "")], "-g", "-O2", *flags, "port/host/test/crash.c", "-o", program)
    core = qemu_core(cpu, program, "-L", root)
    found, text = by_trace("--core=" + core, "--sysroot=" + root, program)
    must((b"(.sframe)" in text) == (kind == "sframe"), "which tables?")
    if kind == "pac":
        right, wrong = ("--pac-mask=0x%x" % bits for bits in (0xff7f << 48, 1 << 63))
        must(by_trace("--core=" + core, right, program)[0] == found, "the same mask gives another trace")
        must(pcs_of("--core=" + core, wrong, program) != [pc for pcs in found.values() for pc in pcs],
             "--pac-mask changes nothing")
    if "BARE" not in "".join(flags):
        functions = [f[0] for frame in frames(text.splitlines()) for f in frame[4]]
        wanted = [name for name in CRASH if name != "handler" or "-DPLAIN" not in flags]
        must([f for f in functions if f in CRASH] == wanted, "%s" % functions)
    if kind in ("bare", "plain"):
        run(TRACE, "--core=" + core, "--write-core=%s.written" % program, program)
        compare_threads({1: list(found.values())[0]}, {1: list(
            by_gdb(program, "core-file %s.written" % program).values())[0]})
    if (cpu, kind) in NOT_BY_GDB:
        return "compared with the source alone"
    return compare_threads(found, by_gdb(program, "set sysroot " + root, "core-file " + core))


def core_of_separate(cpu):
    """All that is known of the code is in another file: symbols, lines and .debug_frame."""
    program, tools = "%s/%s-separate" % (WORK, cpu), "%s/%s/" % (TC, cpu.replace("_be", ""))
    flags = ["-mbig-endian"] if cpu == "aarch64_be" else []
    run(GCC[cpu.replace("_be", "")], "-g", "-O2", *flags, "-nostdlib", "-static", "-no-pie", "-DBARE", "-Wl,--build-id",
        "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "port/host/test/crash.c", "-o", program)
    core = qemu_core(cpu, program)
    wanted, text = by_trace("--core=" + core, program)
    compare_threads({1: list(wanted.values())[0]}, {1: list(by_gdb(program, "core-file " + core).values())[0]})
    must(b"(CFI)" in text and b"recurse at" in text, "%s" % text)
    debug, poor = program + ".debug", program + "-poor"
    identity = re.search(rb"Build ID: ([0-9a-f]+)", run("readelf", "-n", program)[0])[1].decode()
    run(tools + "objcopy", "--only-keep-debug", program, debug)
    run(tools + "objcopy", "--strip-all", program, poor)
    folder, cache = program + "-folder", program + "-cache"
    for name in (folder, cache):
        shutil.rmtree(name, ignore_errors=True)
    by_id = "%s/.build-id/%s/%s.debug" % (folder, identity[:2], identity[2:])
    cached = "%s/%s/debuginfo" % (cache, identity)
    for name in (by_id, cached):
        os.makedirs(os.path.dirname(name))
        shutil.copy(debug, name)
    os.remove(debug)

    def trace_poor(image, *options, environment=None):
        done = subprocess.run([TRACE, "--core=" + core, *options, image], capture_output=True, check=False,
                              timeout=LIMIT, env={**os.environ, "HOME": "/absent", **(environment or {})})
        return frames(done.stdout.splitlines()), done.stdout, done.stderr

    whole = frames(text.splitlines())
    found, text, errors = trace_poor(poor)
    pcs = [frame[0] for frame in whole]
    must(found and [frame[0] for frame in found] == pcs[:len(found)], "by code: %s instead of %s" % (found, pcs))
    must(b"no call frame information" in errors and b"no symbol" in text, "without it")
    for name, options, environment in (
            ("--debug-dir", ["--debug-dir=" + os.path.abspath(folder)], {}),
            ("--debug-dir, relative", ["--debug-dir=" + folder], {}),
            ("debuginfod", [], {"DEBUGINFOD_CACHE_PATH": cache}),
            ("debuginfod of the user", [], {"XDG_CACHE_HOME": os.path.dirname(cache) + "/x"}),
            ("debuginfod at home", [], {"HOME": os.path.dirname(cache) + "/h"})):
        for at, under in (("XDG_CACHE_HOME", "debuginfod_client"), ("HOME", ".cache/debuginfod_client")):
            if at in environment:
                shutil.rmtree(environment[at], ignore_errors=True)
                shutil.copytree(cache, "%s/%s" % (environment[at], under))
        found, text, errors = trace_poor(poor, *options, environment=environment)
        must(found == whole, "%s: %s instead of %s, %s" % (name, found, whole, errors))
    must(b"No such file" in run(TRACE, "--core=" + core, "--debug-dir=/absent", poor, status=1)[1], "no folder")
    # One of another program there is not taken.
    data = read(cached)
    write(cached, data.replace(bytes.fromhex(identity), bytes(len(identity) // 2)))
    must(data != read(cached), "no build ID")
    must(trace_poor(poor, environment={"DEBUGINFOD_CACHE_PATH": cache})[0] != whole, "another build ID")
    write(cached, b"")
    must(trace_poor(poor, environment={"DEBUGINFOD_CACHE_PATH": cache})[0] != whole, "an empty file")
    write(debug, data)
    run(tools + "objcopy", "--strip-all", "--add-gnu-debuglink=" + debug, program, poor)
    must(trace_poor(poor)[0] == whole, "by debuglink")
    return "%d frames" % len(whole)


def core_of_exported(cpu):
    program = "%s/%s-exported" % (WORK, cpu)
    root = "/" if cpu == "x86_64" else "/usr/%s-linux-gnu" % cpu
    run(GCC[cpu], "-O2", "-DPLAIN", "-rdynamic", "-Dstatic=", "-Dinline=", "port/host/test/crash.c", "-o", program)
    run("%s/%s/strip" % (TC, cpu), "-s", program)
    exported = set(re.findall(rb" T (\w+)$", run("%s/%s/nm" % (TC, cpu), "-D", program)[0], re.M))
    core = qemu_core(cpu, program, "-L", root)
    _, text = by_trace("--core=" + core, "--sysroot=" + root, program)
    names = [name for name in re.findall(rb"(?m)^        (\w+)\+0x[0-9a-f]+ \(no line\)$", text)]
    must(set(names) <= exported and names[:4] == [b"read_at", b"crash", b"compare", b"sort"] and b"main" in names,
         "%s" % names)
    return "%d names" % len(names)


# What a program calls, and how that is defined: nothing; nowhere; data between two pieces of code; nothing, and a
# handler of the signal ends the program; nothing, in a shared library.
WILD = {"null": ("0", []), "nowhere": ("0x123456789000", []),
        "data": ("data", ["-Wl,--section-start=.behind=0x20000000"]), "null, handled": ("0", ["-DHANDLED"]),
        "null, in a library": ("0", ["-DLIBRARY"]), "null, .sframe": ("0", ["-Wa,--gsframe"])}
WILD_SOURCE = """
#include <signal.h>
#include <stdlib.h>
typedef void function(void);
__attribute__((section(".behind"))) void behind(void) { }
long between = 1;
#define data &between
int call_it(int);
#ifndef MAIN
function *volatile wild = (function *)WHERE;
__attribute__((noinline)) int call_it(int x) { wild(); return x + 1; }
#endif
#if !defined(LIBRARY) || defined(MAIN)
static void handler(int signal) { abort(); }
int main(int argc, char **argv)
{
#ifdef HANDLED
    signal(SIGSEGV, handler);
    signal(SIGILL, handler);
#endif
    return call_it(argc) * 2;
}
#endif
"""


def core_of_wild(cpu, kind):
    """A call through a wild pointer in the topmost frame, or in the one that a signal interrupted: gdb's frames."""
    where, flags = WILD[kind]
    program = "%s/%s-wild-%s" % (WORK, cpu, re.sub(r"\W+", "-", kind))
    root = "/" if cpu == "x86_64" else "/usr/%s-linux-gnu" % cpu
    source = program + ".c"
    write(source, WILD_SOURCE.encode())
    images = [program]
    build = [GCC[cpu], "-g", "-O2", "-w", "-fno-pie", "-DWHERE=" + where, "-B%s/%s/" % (TC, cpu), *flags]
    if "-DLIBRARY" in flags:
        library = os.path.abspath(program) + ".so"
        run(*build, "-fPIC", "-shared", "-Wl,-soname=" + library, source, "-o", library)
        run(*build, "-DMAIN", "-no-pie", source, library, "-o", program)
        images.append(library)
    else:
        run(*build, "-static", "-no-pie", source, "-o", program)
    core = qemu_core(cpu, program, "-L", root)
    found, text = by_trace("--core=" + core, "--sysroot=" + root, *images)
    found, = found.values()
    marks = [line for line in text.splitlines() if b"(wild call)" in line]
    must(len(marks) == 1 and b"[guessed]" in marks[0] and b"call_it" in marks[0], "%s" % text)
    at = found.index(int(re.search(rb"0x([0-9a-f]+)", marks[0])[1], 16))
    must(at == 1 or kind == "null, handled" and b"[interrupted]" in text, "%s" % text)
    must([f[4][-1][0] for f in frames(text.splitlines())[at:at + 2]] == ["call_it", "main"], "%s" % text)
    if (cpu, kind) == ("aarch64", "null, handled"): # FAULTS.md: gdb-cores: it goes round in circles
        return "compared with the source alone"
    gdb, = by_gdb(program, "set sysroot " + root, "set solib-search-path " + os.path.abspath(WORK),
                  "core-file " + core).values()
    must(found == gdb, "%s instead of %s" % (list(map(hex, found)), list(map(hex, gdb))))
    return "%d frames" % len(found)


def core_of_another():
    """Nothing is said of functions that are not there."""
    core, other = WORK + "/static.core", WORK + "/other/static"
    os.makedirs(os.path.dirname(other), exist_ok=True)
    run("gcc", "-g", "-O1", "-static", "-Wl,--build-id", "port/host/test/crash.c", "-o", other)
    out, errors = run(TRACE, "--core=" + core, other, status=1)
    must(b"WRONG IMAGE" in errors and b" at " not in out and b"in no image" in out, "%s" % errors)
    must(b"aarch64" in run(TRACE, "--core=" + core, WORK + "/aarch64-static", status=1)[1], "another CPU")


def joined_tables():
    """lld leaves two objects' tables one behind the other. Without CFI a trace needs the second one."""
    objects, image = [], WORK + "/joined.elf"
    for i, size in enumerate((16, 32)):
        objects.append("%s/joined-%d.o" % (WORK, i))
        source = (".globl f%d\n.type f%d, @function\nf%d: .cfi_startproc\nsub $%d, %%rsp\n.cfi_def_cfa_offset %d\n"
                  "nop\n.cfi_endproc\n.size f%d, . - f%d\n" % (i, i, i, size, size + 8, i, i))
        write(objects[i] + ".s", source.encode())
        run("build/tc/x86_64/as", "--gsframe", objects[i] + ".s", "-o", objects[i])
    run("ld.lld", "-e", "f0", "-o", image, *objects)
    run("objcopy", "-R", ".eh_frame", image)
    data = bytearray(read(image))
    first = data.index(b"\xe2\xde\x03")
    second = data.index(b"\xe2\xde\x03", first + 1)
    functions = {line.split()[2]: int(line.split()[0], 16) for line in run("nm", image)[0].decode().splitlines()}
    callers = [functions["f0"] + 4 + n for n in range(2)]
    stack = WORK + "/joined.stack"
    write(stack, struct.pack("<16Q", *([0] * 4 + callers + [0] * 10)))
    for caller in callers:
        if caller == callers[1]: # the row of the second table is another
            data[data.index(b"\x28", second + 28 + 16)] += 8
            write(image, data)
        out, _ = run(TRACE, "--memory=%s@0x8000" % stack, "--regs=pc=0x%x,sp=0x8000" % (functions["f1"] + 4), image)
        must([frame[0] for frame in frames(out.splitlines())][:2] == [functions["f1"] + 4, caller], out)


def core_of_nothing():
    image = WORK + "/static"
    for file, said in ((image, b"not a core"), ("/dev/null", b"not a file"), (WORK, b"not a file"),
                       ("absent", b"No such file"), ("Makefile", b"not an ELF file")):
        out, errors = run(TRACE, "--core=" + file, image, status=1)
        must(said in errors and errors.count(b"\n") == 1 and out == b"", "%s: %s" % (file, errors))
    for packer, said in ((("gzip", "-c"), b"gzip: uncompress it"), (("xz", "-c"), b"xz: uncompress it")):
        write(WORK + "/packed", run(*packer, stdin=read("sfu.c"))[0])
        must(said in run(TRACE, "--core=" + WORK + "/packed", image, status=1)[1], packer[0])
    process = core_in(WORK + "/x86_64-static.dir")
    errors = run(TRACE, "--core=" + process, "--page-table=0x1000", image, status=1)[1]
    must(b"leave out --page-table" in errors, "page tables of a process: %s" % errors)
    data = read(process)
    write(WORK + "/cut.core", data[:len(data) // 3])
    out, errors = run(TRACE, "--core=%s/cut.core" % WORK, WORK + "/x86_64-static")
    must(b"it is cut" in errors and b"read_at at" in out, "a core that is cut")


# ---- machines ----

class Machine:
    """A machine that has been stopped at the function NAME of its kernel, for good unless somebody lets it go."""

    def __init__(self, cpu, image, scenario, name, *options):
        self.port, self.monitor_path = free_port(), WORK + "/monitor"
        self.console = "%s/console-%s-%s" % (WORK, cpu, scenario)
        for old in (self.monitor_path, self.console):
            if os.path.exists(old):
                os.remove(old)
        backend = "file,path=" if cpu == "s390x" else "file:"
        command = QEMU[cpu] + [word.format(backend + self.console) for word in CONSOLE[cpu]]
        command = [word.format(scenario) for word in command]
        command += ["-m", "32M", "-nodefaults", "-no-reboot", "-display", "none", "-kernel", image, "-S", "-gdb",
                    "tcp:localhost:%d" % self.port, "-monitor", "unix:%s,server=on,wait=off" % self.monitor_path,
                    *options]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        stub = retry(lambda: Stub(self.port))
        stub.run_to(symbol(cpu, image, name))
        stub.close()

    def monitor(self, command):
        return ask_monitor(self.monitor_path, command)

    def end(self):
        """The machine goes on to its end, if it has been let go. Returns what it has printed."""
        try:
            self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Wrong("it does not go on") from None
        return read(self.console)

    def kill(self):
        self.process.kill()
        self.process.wait()


MEMORY = {"x86_64": 0, "aarch64": 0x40000000, "s390x": 0}


def test_guests():
    os.makedirs(WORK, exist_ok=True)
    for cpu in GCC:
        directory = kernel(cpu)
        for scenario, name, trap in (("assert", "panic", False), ("illegal", "illegal", False),
                                     ("irq", "illegal", True), ("thread-panic", "assert_3", False)):
            test("%s %s" % (cpu, scenario), guest, cpu, directory, scenario, name, trap)
        test("%s, a null pointer called" % cpu, guest_wild, cpu, directory + "/kernel.elf")
        test("%s, two CPUs" % cpu, guest_two, cpu, directory + "/kernel.elf")
        for scenario in ("record", "record-irq", "record-overflow"):
            test("%s %s" % (cpu, scenario), guest_record, cpu, directory + "/kernel.elf", scenario)
    test("a machine without an image of its own", guest_wrong, kernel("x86_64"))


def guest(cpu, directory, scenario, name, trap):
    image, core = directory + "/kernel.elf", "%s/%s-%s.core" % (WORK, cpu, scenario)
    machine = Machine(cpu, image, scenario, name)
    try:
        return compare_guest(machine, cpu, image, core, name, trap)
    finally:
        machine.kill()
        for file in (core + ".virtual", core + ".memory", core):
            if os.path.exists(file) and not file.endswith("x86_64-assert.core"):
                os.remove(file)


def compare_guest(machine, cpu, image, core, name, trap):
    wanted, said = None, []
    # By physical addresses, and by virtual ones.
    for option in ("", "-p "):
        answer = machine.monitor("dump-guest-memory %s%s" % (option, os.path.abspath(core)))
        if "rror" in answer:
            must(option == "-p " and cpu == "s390x", answer)
            said.append("no -p")
            continue
        found, text = by_trace("--core=" + core, image)
        must(wanted in (None, found), "by virtual addresses: %s" % found)
        must(b"(.sframe)" in text and (b"(trap by .sframe)" in text) == trap, "how?")
        by_cfi, _ = by_trace("--core=" + core, image.replace("kernel.elf", "cfi.elf")) if not trap else (found, b"")
        must(by_cfi == found, "by CFI: %s" % by_cfi)
        wanted = found
        # gdb knows virtual addresses only. QEMU 7.2 puts all that -p finds on x86_64 into the upper half, and gives
        # none without.
        if not trap and (cpu != "x86_64" or not option):
            gdb, = by_gdb(image, "core-file " + (as_virtual(core) if not option else core)).values()
            must([gdb] == list(found.values()), "gdb: %s" % " ".join(map(hex, gdb)))
    pcs, = wanted.values()
    memory_of_guest(machine, cpu, image, core, pcs)
    live, text = by_trace("--gdb=localhost:%d" % machine.port, image)
    live, = live.values()
    must(live == pcs, "--gdb: %s instead of %s" % (live, pcs))
    # Then the machine runs on, and prints the trace of the same place.
    printed = frames(machine.end().replace(b"\r", b"").splitlines())
    printed = [f[0] for f in printed if f[3] is None]
    # panic, and what calls it, go on before they print; illegal does not.
    left = {"panic": 1, "assert_3": 2, "illegal": 0}[name]
    callers = pcs[1:] if left else pcs
    must(printed[left:left + len(callers)] == callers,
         "printed: %s, not %s" % (list(map(hex, printed)), list(map(hex, pcs))))
    return "%d frames%s" % (len(pcs), "".join(", " + text for text in said))


# Of each CPU, as scenarios.c and boot.S have it.
TWO = [["machine_stop_others", "stop_second", "scenario_second", "kernel_main", "kernel_start"],
       ["run_on", "second_work", "second_main", "machine_second"]]


def guest_two(cpu, image):
    """The first CPU is about to stop the second, which is in a loop: dump, core of the dump, stub."""
    core, written = "%s/%s-two.core" % (WORK, cpu), "%s/%s-two.written" % (WORK, cpu)
    machine = Machine(cpu, image, "second", "machine_stop_others", "-smp", "2")
    try:
        machine.monitor("dump-guest-memory -z " + os.path.abspath(core))
        must(b"of makedumpfile, but" in run(TRACE, "--core=" + core, image, status=1)[1], "a compressed dump")
        os.remove(core)
        must("rror" not in machine.monitor("dump-guest-memory " + os.path.abspath(core)), "no dump")
        found, text = by_trace("--core=" + core, "--write-core=" + written, image)
        parts = [[f[4][-1][0] for f in frames(part.splitlines()) if f[4]] for part in text.split(b"CPU 1\n")]
        must([part[:len(calls)] for part, calls in zip(parts, TWO)] == TWO and len(parts) == 2, "%s" % text)
        must([len(pcs) for pcs in found.values()] == [6, 5], "frames: %s" % found)
        for file in (as_virtual(core), written):
            gdb = by_gdb(image, "core-file " + file)
            must(list(gdb.values()) == list(found.values()), "gdb, %s: %s instead of %s" % (file, gdb, found))
        live, text = by_trace("--gdb=localhost:%d" % machine.port, "--write-core=" + written, image)
        must(list(live.values()) == list(found.values()), "--gdb: %s" % text)
        gdb = by_gdb(image, "core-file " + written)
        must(list(gdb.values()) == list(found.values()), "gdb, --gdb's core: %s instead of %s" % (gdb, found))
        # Then the machine runs on. It has printed the first trace, and prints the second, by the interrupt's registers.
        printed = machine.end().replace(b"\r", b"").split(b"CPU 1:\n")
        for log, pcs in zip(printed, found.values()):
            at = [f[0] for f in frames(log.splitlines()) if f[3] is None]
            must(at[1:] == pcs[1:] if log is printed[1] else at[2:] == pcs[2:], "printed: %s" % log)
        return "%d and %d frames" % tuple(map(len, found.values()))
    finally:
        machine.kill()
        for file in (core + ".virtual", core, written):
            if os.path.exists(file):
                os.remove(file)


# An interrupt comes where it comes, each time.
ANYWHERE = re.compile(rb"0x[0-9a-f]{16}(?=  \[interrupted\])")


def record_lines(text):
    """The lines without names, and without the PC that has been interrupted."""
    return [ANYWHERE.sub(b"", re.sub(rb"  \S+\+0x[0-9a-f]+", b"", line)) for line in text.splitlines()
            if not line.startswith(b"        ")]


def record_names(text):
    """[(PC, functions and lines)] of the frames, without what has been interrupted."""
    return [(f[0], f[4]) if b"interrupted" not in f[2] else f[4][-1][0] for f in frames(text.splitlines())]


def guest_record(cpu, image, scenario):
    """The memory of a crash record, before the reset: the lines that the next boot prints of it. Alone, in a file of
    all memory and in a core; and the whole trace, as its registers and that memory have it."""
    log = boot(cpu, scenario, image).replace(b"\r", b"")
    printed = re.search(rb"crash record:(?s:.*?)trace ends.*\n", log)[0]
    names, pc = record_names(run(TRACE, image, stdin=printed)[0]), int(printed.split()[3], 16)
    files = ["%s/%s-%s%s" % (WORK, cpu, scenario, suffix) for suffix in (".record", ".memory", ".core")]
    written = files[0] + ".written"
    machine = Machine(cpu, image, scenario, "machine_reset")
    try:
        at = symbol(cpu, image, "kernel_crash")
        for file, start, size in ((files[0], at, 104), (files[1], MEMORY[cpu], 0x2000000)):
            machine.monitor('pmemsave 0x%x 0x%x "%s"' % (start, size, os.path.abspath(file)))
        machine.monitor("dump-guest-memory " + os.path.abspath(files[2]))
        for file in files:
            out, errors = run(TRACE, "--record=" + file, "--write-core=" + written, image)
            must(record_lines(out) == record_lines(printed), "%s: %s instead of %s" % (file, out, printed))
            must(record_names(out) == names, "%s instead of %s" % (record_names(out), names))
            sized, of_log = (run(TRACE, "--sizes", *how, image, stdin=printed)[0] for how in (["--record=" + file], []))
            must(sizes_of(sized) == sizes_of(of_log) and sum(size is not None for size in sizes_of(sized)) >= 2,
                 sized)
            must(b"and no memory" in errors and errors.count(b"\n") == 1, "%s" % errors)
            must(list(by_gdb(image, "core-file " + written).values())[0][0] == pc, "gdb's PC")
        first = "--record=" + files[0]
        # Somewhere else; without the symbol; relative to an address that is given.
        plain = image + ".plain"
        run("%s/%s/objcopy" % (TC, cpu), "--strip-symbol=image_start", image, plain)
        must(run(TRACE, first, plain)[0] == run(TRACE, first, image)[0], "without image_start")
        must(b"slide 0x1000" in run(TRACE, "%s@0x%x" % (first, symbol(cpu, image, "image_start") + 0x1000), image)[0],
             "@START")
        # In a log, and what has been kept of the stack.
        text = b"\n".join(without_dumps(log)) + b"\n"
        run(TRACE, "--write-core=" + written, image, stdin=text)
        must(list(by_gdb(image, "core-file " + written).values())[0][0] == pc, "of the log")
        out = run(TRACE, "--memory=%s@0x%x" % (files[1], MEMORY[cpu]), first, image)[0]
        found = record_names(out)
        if scenario == "record-overflow":
            found, names = found[:2], names[:2]
        must(found == names, "--memory: %s instead of %s" % (found, names))
        record_wrong(cpu, image, files[0])
        return "%d lines" % len(record_lines(printed))
    finally:
        machine.kill()
        for file in (*files, written):
            if os.path.exists(file):
                os.remove(file)


def record_wrong(cpu, image, file):
    """Each refusal is a line that says why; what a log has not cannot be written."""
    data, other = bytearray(read(file)), file + ".other"
    data[20] ^= 1
    write(other, data)
    for arguments, said in ((["--record=" + other], b"wrong check"), (["--record=Makefile"], b"no crash record"),
                            (["--record=/absent"], b"No such file"), (["--record=/dev/null"], b"not a file"),
                            (["--log=/dev/null", "--write-core=" + other], b"no raw dump and no crash record")):
        errors = run(TRACE, *arguments, image, status=1)[1]
        must(said in errors and errors.count(b"\n") == 1, "%s: %s" % (arguments, errors))
    for arguments in (["--record=x", "--core=y"], ["--record=x", "--regs=pc=1"], ["--record=x", "--threads=@x"]):
        must(run(TRACE, *arguments, image, status=2)[1].count(b"\n") == 1, "%s" % arguments)
    os.remove(other)


def as_virtual(core):
    """A copy in which what is at a physical address is there virtually, too, as it is on these machines."""
    data = bytearray(read(core))
    order = ">" if data[5] == 2 else "<"
    at, = struct.unpack_from(order + "Q", data, 32)
    count, = struct.unpack_from(order + "H", data, 56)
    for i in range(count):
        struct.pack_into(order + "Q", data, at + 56 * i + 16, *struct.unpack_from(order + "Q", data, at + 56 * i + 24))
    write(core + ".virtual", data)
    return core + ".virtual"


def registers_of(machine, cpu):
    """{name: value} of the registers that a trace begins with."""
    order = {"x86_64": (16, 7, 6, None), "aarch64": (32, 31, 29, 30), "s390x": (1, 17, 13, 16)}[cpu]
    stub = Stub(machine.port)
    words = stub.ask(b"g")
    stub.close()
    form = "<" if cpu != "s390x" else ">"
    count = len(words) // 16
    values = struct.unpack(form + "%dQ" % count, bytes.fromhex(words[:16 * count].decode()))
    return {name: values[at] for name, at in zip(("pc", "sp", "fp", "ra"), order) if at is not None}


def as_options(registers):
    return ",".join("%s=0x%x" % pair for pair in registers.items())


def memory_of_guest(machine, cpu, image, core, pcs):
    """A part of its memory as a file, and the registers by hand."""
    file = core + ".memory"
    machine.monitor('pmemsave 0x%x 0x2000000 "%s"' % (MEMORY[cpu], os.path.abspath(file)))
    out, _ = run(TRACE, "--memory=%s@0x%x" % (file, MEMORY[cpu]),
                 "--regs=" + as_options(registers_of(machine, cpu)), image)
    found = [frame[0] for frame in frames(out.splitlines())]
    must(found == pcs and b"trace ends (1)" in out, "--memory: %s instead of %s" % (found, pcs))
    os.remove(file)


def guest_wild(cpu, image):
    """A function has just been called, but let that be a null pointer: by the memory, and live."""
    machine, file = Machine(cpu, image, "illegal", "illegal"), "%s/%s-wild.memory" % (WORK, cpu)
    try:
        machine.monitor('pmemsave 0x%x 0x2000000 "%s"' % (MEMORY[cpu], os.path.abspath(file)))
        values = registers_of(machine, cpu)
        before = pcs_of("--memory=%s@0x%x" % (file, MEMORY[cpu]), "--regs=" + as_options(values), image)
        values["pc"] = 0
        out, _ = run(TRACE, "--memory=%s@0x%x" % (file, MEMORY[cpu]), "--regs=" + as_options(values), image)
        found = [frame[0] for frame in frames(out.splitlines())]
        must(found == [0, *before[1:]] and out.count(b"(wild call)") == 1 and len(found) > 3,
             "--memory: %s instead of %s" % (found, before))
        stub = Stub(machine.port)
        stub.ask(b"qXfer:features:read:target.xml:0,ffb")  # QEMU sets registers of those who have read it
        answer = stub.ask(b"P%x=%s" % ({"x86_64": 16, "aarch64": 32, "s390x": 1}[cpu], b"0" * 16))
        stub.close()
        must(answer == b"OK", "the stub sets no PC: %s" % answer)
        live, = by_trace("--gdb=localhost:%d" % machine.port, image)[0].values()
        must(live == found, "--gdb: %s instead of %s" % (live, found))
        return "%d frames" % len(found)
    finally:
        machine.kill()
        if os.path.exists(file):
            os.remove(file)


def guest_wrong(directory):
    core = WORK + "/x86_64-assert.core"
    out, errors = run(TRACE, "--core=" + core, directory + "/other.elf", status=1)
    must(b"WRONG IMAGE" in errors and b" at " not in out, "another build ID: %s" % errors)
    must(b"no image" in run(TRACE, "--core=" + core, status=1)[1], "no image")
    os.remove(core)


# ---- hostile ----

def test_hostile():
    os.makedirs(WORK, exist_ok=True)
    directory = kernel("x86_64")
    log = boot("x86_64", "irq", directory + "/kernel.elf")
    test("logs", hostile_logs, directory, log)
    test("maps", hostile_maps, directory, log)
    test("images", hostile_images, directory, log, boot("x86_64", "module", directory + "/kernel.elf"))
    for cpu, kind, flags in (("aarch64_be", "bare", ["-mbig-endian", "-nostdlib", "-static", "-DBARE",
                                                     "-fasynchronous-unwind-tables"]),
                             ("x86_64", "dynamic", ["-DPLAIN"])):
        test("cores, " + cpu, hostile_cores, cpu, kind, flags)
    test("crash records", hostile_records, directory)
    test("registers and memory by hand", hostile_memory, directory)
    test("stubs that make no sense", hostile_stubs, directory)
    test("options", hostile_options, directory)


TOKENS = [signed(2, b"m 0 *ffffffff"), signed(2, b"m 0 1 *ffff"), signed(9, b"r sp ffffffffffffffff"),
          signed(99, b"end 1"), signed(0, b"begin 3 exact"), signed(0, b"begin 1 return"), b"sfu2 00 begin",
          signed(3, b"m fffffffffffffff8 0000000000000000"), signed(4, b"m ffffffffffffff8 -1"),
          signed(5, b"end ffffffff"), signed(0, b"begin 4 exact"), signed(6, b"r pc "),
          signed(7, b"at 0 .text kernel.elf"), signed(8, b"at ffffffffffffffff image_start"),
          b"#0  0x0000000000000000\n", b"#1  0x0000000000000000  +0x0\n",
          b"#2  0xffffffffffffffff  a+b+0xffffffffffffffff\n", b"slide 0xffffffffffffffff\n", b"build ID 00\n",
          b"build ID " + b"ab" * 70 + b"\n", b"\0", b"\n", b"\r", b"[interrupted]", b" " * 2000,
          b"#99999999999 0x", b"trace ends (", b"trace ends (-99): \n"]


def hostile_logs(directory, log):
    chosen = random.Random("logs")
    good = 0
    for i in range(120 if LONG else 60):
        text = mutate(chosen, log * chosen.choice((1, 1, 3)), range(len(log)), TOKENS)
        images = chosen.choice((["kernel.elf"], ["cfi.elf", "module.ko"], ["kernel.elf", "module.ko@0x109040"]))
        images = [directory + "/" + image for image in images]
        options = chosen.choice(([], ["--slide=0xffffffffffffffff"], ["--frame-pointers"]))
        good += survives(*images, *options, *chosen.choice(([], ["--sizes"])),
                         stdin=text, one_line=False) == 0
    return "%d of 120 without a wrong image" % good


def hostile_maps(directory, log):
    chosen, file, good = random.Random("maps"), WORK + "/map", 0
    text = run("nm", directory + "/kernel.elf")[0] + b"0000000000109040 t module_middle\t[module]\n"
    tokens = [b"\n", b"\t", b"\t[", b"]\n", b" ", b"0 T \n", b"0 T\n", b"0\n", b"ffffffffffffffff T last\n", b"\0",
              b"0000000000000000 ffffffffffffffff T whole\n", b"ffffffffffffffff 1 t end\n", b"\r\n"]
    for i in range(40 if LONG else 20):
        write(file, mutate(chosen, text, range(len(text)), tokens)[:chosen.choice((len(text), chosen.randrange(300)))])
        at = chosen.choice(("", "", "@0", "@0xffffffffffffffff"))
        good += survives("--map=%s%s" % (file, at), *chosen.choice(([], [directory + "/kernel.elf"])),
                         stdin=log, one_line=False) == 0
    return "%d accepted" % good


def hostile_images(directory, log, module_log):
    """Headers, tables and debug information that are broken."""
    chosen = random.Random("images")
    good, file = 0, WORK + "/hostile.elf"
    for source in ("kernel.elf", "cfi.elf", "module.ko"):
        data = read("%s/%s" % (directory, source))
        for i in range(40 if LONG else 20):
            damaged = bytearray(data)
            for _ in range(chosen.choice((1, 4, 100))):
                at = chosen.choice((chosen.randrange(64), chosen.randrange(len(data)),
                                    len(data) - 1 - chosen.randrange(2000)))
                damaged[at] = chosen.choice((0, 1, 0x7f, 0x80, 0xff, chosen.randrange(256)))
            write(file, damaged[:chosen.choice((len(data), len(data), chosen.randrange(len(data))))])
            images = [file]
            if source == "module.ko":
                kernel_image = directory + "/kernel.elf"
                text = symbol("x86_64", kernel_image, "module_image") + 64
                images = [kernel_image, file + "@0x%x" % text]
                log = module_log + b"#1  0x0000000000000000  module_middle+0x3\n"
            good += survives("--sizes", *images, stdin=log, one_line=False) == 0
    return "%d of 120 accepted" % good


def hostile_cores(cpu, kind, flags):
    program = "%s/%s-%s" % (WORK, cpu, kind)
    run(GCC[cpu.replace("_be", "")], "-g", "-O2", *flags, "port/host/test/crash.c", "-o", program)
    data = read(qemu_core(cpu, program))
    chosen = random.Random("cores" + cpu)
    order = ">" if cpu == "aarch64_be" else "<"
    headers = struct.unpack_from(order + "H", data, 56)[0] * 56 + 64
    file, good = program + ".hostile", 0
    for i in range(100 if LONG else 50):
        size = chosen.choice((len(data), len(data), len(data), headers + 2000, chosen.randrange(len(data))))
        damaged = bytearray(data[:size])
        for _ in range(chosen.choice((1, 2, 8, 60))):
            at = chosen.choice((chosen.randrange(64), chosen.randrange(headers), headers + chosen.randrange(1500),
                                chosen.randrange(len(data))))
            if at < len(damaged):
                damaged[at] = chosen.choice((0, 1, 0x7f, 0x80, 0xff, chosen.randrange(256)))
        write(file, damaged)
        good += survives("--core=" + file, program) == 0
    os.remove(file)
    return "%d of 100 accepted" % good


def hostile_records(directory):
    """Words, counts and registers that make no sense, with the right check, and files that end in one."""
    chosen, file, image, good = random.Random("records"), WORK + "/record", directory + "/kernel.elf", 0
    numbers = (0, 1, 12, 13, 31, 0xffff, 0x7fffffe0, 0x7fffffff, 0xffffffe0, 0xffffffdf, 0xffffffff)
    for _ in range(60 if LONG else 30):
        words = [chosen.choice((*numbers, chosen.randrange(1 << 32))) for _ in range(15)]
        body = struct.pack("<IHH14I", words[0], chosen.choice((0, 1, 2, 3, 0xffff)), chosen.choice((0, 1, 2, 3, 12)),
                           *words[1:])
        body += struct.pack("<4Q", *(chosen.choice((0, 1, 8, 1 << 63, (1 << 64) - 1)) for _ in range(4)))
        record = b"sfu2" + struct.pack("<I", binascii.crc32(body)) + body
        record = chosen.choice((b"", b"x", b"sfu2", record, record[:50])) + record
        record += chosen.choice((b"", b"sfu2", record))
        write(file, record[:chosen.choice((len(record), len(record), chosen.randrange(1, len(record))))])
        at = chosen.choice(("", "", "@0", "@0xffffffffffffffff"))
        memory = chosen.choice(([], [], ["--memory=%s@0" % file]))
        good += survives("--record=" + file + at, *memory, "--write-core=/dev/null", image) == 0
    must(good > 0, "none was accepted")
    return "%d accepted" % good


def hostile_memory(directory):
    image = directory + "/kernel.elf"
    file = WORK + "/memory"
    write(file, bytes(4096))
    pc = "pc=0x%x" % symbol("x86_64", image, "illegal")
    for where, registers, status in (("@0", pc + ",sp=8", 0), ("@0xfffffffffffff000", pc + ",sp=0xfffffffffffffff8", 0),
                                     ("@0xfffffffffffff001", pc + ",sp=0", 1), ("", pc + ",sp=0", 1),
                                     ("@", pc + ",sp=0", 1), ("@0", "", 1), ("@0", pc, 1), ("@0", "sp=1", 1),
                                     ("@0", pc + ",sp", 1), ("@0", "r99=1", 1),
                                     ("@0", pc + ",sp=-1", 1), ("@0,", pc + ",sp=0,kind=return,r31=5,fp=1", 0),
                                     ("@0", pc + ",sp=0,ra=1", 1), ("@0", pc + ",sp=0,kind=x", 1)):
        must(survives("--memory=%s%s" % (file, where), "--regs=" + registers, image) == status,
             "%s %s" % (where, registers))
    for name in ("absent", WORK, "/dev/null"):
        must(survives("--memory=%s@0" % name, "--regs=pc=1,sp=1", image) == 1, name)


HEX = b"0123456789abcdef" * 40
STUBS = [
    [None], [b"", None], [b"HTTP/1.1 400 Bad Request\r\n\r\n", None], [b"garbage " * 20000], [packet(b"T05"), None],
    [b"+$T05#00", None], [b"+$T05", None], [packet(b"W00")], [packet(b"E01")], [packet(b"")],
    [packet(b"T05")], [packet(b"S05"), packet(b"l"), packet(b"E01")],
    [packet(b"S05"), packet(b"m1"), packet(b"l"), packet(b"OK"), packet(b"xx" * 200)],
    [packet(b"S05"), packet(b"m1"), packet(b"l"), packet(b"OK"), packet(b"12")],
    [packet(b"S05"), packet(b"m1"), packet(b"l"), packet(b"OK"), packet(HEX), packet(b"E14")],
    [packet(b"S05"), packet(b"m1"), packet(b"l"), packet(b"OK"), packet(HEX), packet(b"00" * 256)],
    [packet(b"S05"), packet(b"m1"), packet(b"l"), packet(b"OK"), packet(b"0*~" * 20), packet(b"0*~")],
    [packet(b"S05"), packet(b"m" + b"1," * 3000)], [packet(b"S05"), packet(b"m1")], [packet(b"S05"), packet(b"m;;;")],
    [packet(b"S05"), packet(b"m" + b"1" * 100)], [packet(b"S05"), packet(b"m"), packet(b"l"), packet(HEX)],
    [packet(b"S05"), packet(b"l"), packet(b"0*\x1f")], [packet(b"S05"), packet(b"l"), packet(b"*!")],
    [packet(b"S05"), packet(b"O" + b"41" * 10)], [packet(b"S05"), b"$" + b"a" * 100000],
]


def serve(server, answers):
    """Answers each packet by the next of ANSWERS. Closes the connection if there is none for a while."""
    connection, _ = server.accept()
    with connection:
        connection.settimeout(2)
        answers, count, pending = list(answers), 0, b""
        try:
            while count < 20000:
                answer = answers[0] if len(answers) == 1 else answers.pop(0)
                if answer is None:
                    return
                while count >= 0 and not re.search(rb"#..", pending):
                    got = connection.recv(4096)
                    if not got:
                        return
                    pending += got
                pending = re.sub(rb"^.*?#..", b"", pending, count=1, flags=re.S)
                connection.sendall(answer)
                count += 1
        except OSError:
            pass


def hostile_stubs(directory):
    chosen = random.Random("stubs")
    stubs = list(STUBS)
    for _ in range(25):
        answers = [bytearray(answer) for answer in chosen.choice(STUBS[11:17]) if answer]
        for _ in range(chosen.choice((1, 3))):
            answer = chosen.choice(answers)
            if answer:
                answer[chosen.randrange(len(answer))] = chosen.randrange(256)
        stubs.append(answers + [None])
    good = 0
    for answers in stubs:
        with socket.socket() as server:
            server.bind(("localhost", 0))
            server.listen(1)
            thread = threading.Thread(target=serve, args=(server, answers), daemon=True)
            thread.start()
            address = "localhost:%d" % server.getsockname()[1]
            good += survives("--gdb=" + address, "--max-frames=50", directory + "/kernel.elf") == 0
            thread.join(LIMIT)
    for address in ("localhost", "localhost:", ":1", "localhost:1", "no.such.host.invalid:1", "x" * 300 + ":1"):
        must(survives("--gdb=" + address, directory + "/kernel.elf") == 1, address)
    return "%d stubs, %d accepted" % (len(stubs), good)


def hostile_options(directory):
    """Status 2 for options that make no sense, 1 for images."""
    image = directory + "/kernel.elf"
    for arguments, status in (([], 2), (["--slide", image], 2), (["--slide=x", image], 2),
                              (["--red-zone=70000", image], 2), (["--core=x", "--gdb=y", image], 2),
                              (["--regs=pc=1", image], 2), (["--memory=x@1", image], 2),
                              (["--log=absent", image], 1), (["absent"], 1), (["/dev/null"], 1), ([directory], 1),
                              (["Makefile"], 1), ([image + "@1x"], 1), (["--nonsense"], 2),
                              (["--log=x", "--core=y", image], 2), (["--write-core=-", image], 2),
                              (["--folded", "--flame=-", image], 2), (["--sysroot=/", image], 2),
                              (["--debug-dir=/absent", image], 1),
                              (["--gdb=x:1"], 2)):
        out, errors = run(TRACE, *arguments, status=status)
        must(errors.count(b"\n") <= 2 and out == b"", "%s: %s" % (arguments, errors))
    out, _ = run(TRACE, "--help")
    must(out == read("port/host/trace/sfu-trace.txt"), "--help")
    listed = set(re.findall(rb"--[a-z-]+", out))
    known = re.findall(rb'\{\.name = "([a-z-]+)"', read("port/host/trace/sfu_trace.c"))
    must(len(known) > 20, "sfu_trace.c has no table of options")
    for option in known:
        must(b"--" + option in listed, "not in --help: " + option.decode())
    must(re.fullmatch(rb"sfu-trace \d+\.\d+\.\d+\n", run(TRACE, "--version")[0]), "--version")
    write(WORK + "/log", b"#0  0x%016x\n" % symbol("x86_64", image, "panic"))
    must(b"panic at " in run(TRACE, "--log=" + WORK + "/log", image)[0], "--log")
    _, errors = run("sh", "-c", '"$@" >/dev/full', "sh", TRACE, "--log=" + WORK + "/log", image, status=1)
    must(b"cannot be written" in errors, "a full disk")


if __name__ == "__main__":
    {"filter": test_filter, "core": test_core, "guests": test_guests, "hostile": test_hostile}[sys.argv[1]]()
    finish()

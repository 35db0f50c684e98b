#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""recipes.py TC DIRECTORY: runs every block of the pages of docs/ that is marked for it, for each CPU.

<!-- file: NAME --> is written to a file, <!-- run: NAME [CPU...] --> is run by a shell, below DIRECTORY/CPU. What
they made is looked at with binutils. TC has the binutils, a directory for each CPU.
"""
import functools
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import threading

sys.path.insert(0, "test/lib")
from check import finish, must, tests_at_once  # noqa: E402

CC = {cpu: cpu + "-linux-gnu-gcc" for cpu in ("x86_64", "aarch64", "s390x")}
CC["riscv64"] = "riscv64-linux-gnu-gcc -march=rv64imac_zicsr -mabi=lp64 -mcmodel=medany"
RED_ZONE = {"x86_64": "-mno-red-zone"}
EFI = {"x86_64": "efi-app-x86_64", "aarch64": "pei-aarch64-little"}
INSTRUMENTED = ("-fsanitize=kernel-address -fsanitize=undefined -fsanitize-coverage=trace-pc "
                "-finstrument-functions -fstack-protector-all -fprofile-arcs")
# A linker script around the lines of the recipe.
SCRIPT = """ENTRY(start)
PHDRS {{ text PT_LOAD; data PT_LOAD; dynamic PT_DYNAMIC; }}
SECTIONS
{{
    . = 0x100000;
    image_start = .;
    .text : {{ *(.text .text.*) *(.rodata .rodata.*) }} :text
{}
    .dynamic : {{ *(.dynamic) }} :data :dynamic
    .data : {{ *(.data .data.*) *(.got.plt) *(.got) *(.bss .bss.* COMMON) }} :data
    .rela : {{ *(.rela*) }}
    .dynsym : {{ *(.dynsym) }}
    .dynstr : {{ *(.dynstr) }}
    .hash : {{ *(.hash .gnu.hash) }}
    stack_low = .;
    stack_high = . + 4096;
    /DISCARD/ : {{ *(.comment .note.* .eh_frame .interp) }}
}}
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(None)
def blocks():
    """(kind, words after it, text) for each marked block"""
    return [(m[1], m[2].split(), m[3]) for page in sorted(glob.glob("docs/*.md"))
            for m in re.finditer(r"<!-- (file|run): ([^\n]*?) -->\n```\w+\n(.*?)```\n", read(page), re.S)]


class Once:
    """What several tests need is made by the first of them, in a folder of its own, and copied."""

    def __init__(self, folder):
        self.folder, self.locks, self.lock = folder, {}, threading.Lock()
        shutil.rmtree(folder, ignore_errors=True)

    def copy(self, key, names, make, to):
        """Copies NAMES, which MAKE makes in the folder TO, from where the first call with KEY has put them."""
        with self.lock:
            number, lock = self.locks.setdefault(key, (len(self.locks), threading.Lock()))
        kept = os.path.join(self.folder, str(number))
        with lock:
            os.makedirs(to, exist_ok=True)
            if os.path.isdir(kept):
                source, target = kept, to
            else:
                make()
                os.makedirs(kept + ".new")
                source, target = to, kept + ".new"
            for name in names:
                shutil.copy(os.path.join(source, name), os.path.join(target, name))
            if target != to:
                os.rename(target, kept)


class Bench:
    """A directory for one CPU, with the files that the recipes speak of."""

    def __init__(self, tc, cpu, directory, once):
        self.once = once
        self.cpu, self.directory, self.tools = cpu, directory, os.path.abspath(os.path.join(tc, cpu))
        self.cc = CC[cpu]
        if cpu == "riscv64":  # no other tools know its tables
            self.tools = os.path.abspath(os.path.join(directory, "own"))
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        for name in ["sfu.c", "sfu.h", "arch", "port/symbols/symbols.py", *glob.glob("port/print/sfu_*.[ch]"),
                     *glob.glob("port/kernel/sfu_*.[ch]"), *glob.glob("port/cortexm/sfu_*.[ch]"),
                     *glob.glob("port/symbols/sfu_*.[ch]")]:
            os.symlink(os.path.abspath(name), os.path.join(directory, os.path.basename(name)))
        self.scripts = {}
        for kind, words, text in blocks():
            if kind == "run":
                self.scripts[words[0]] = text if cpu in words or len(words) == 1 else None
            else:
                self.write(words[0], text)
        self.own_tools()
        self.write("kernel.ld", SCRIPT.format(self.read("sframe.ld")))
        constants = " *(.rodata .rodata.*) }"
        plain = SCRIPT.replace(constants + "} :text", " }} :text").format("    .rodata : {" + constants)
        self.write("plain.ld", plain)
        script = SCRIPT.format(self.read("room.ld")).replace(" .eh_frame .interp", " .interp")
        self.write("room-kernel.ld", re.sub(r"(?=    /DISCARD/)", lambda m: self.read("last.ld"), script))

    def read(self, name):
        return read(os.path.join(self.directory, name))

    def write(self, name, text):
        with open(os.path.join(self.directory, name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, script, own=False, fails=False):
        """A shell in the directory, where as, ld and objcopy are this CPU's new ones; OWN: Debian's. The compilers are
        those that make no unwind information unless they are told to."""
        red_zone = RED_ZONE.get(self.cpu, "") + " -fno-asynchronous-unwind-tables"
        env = dict(os.environ, CC=f"{self.cc} {red_zone} -I. -Iarch",
                   TRIPLE=f"{self.cpu}-linux-gnu {red_zone} -I. -Iarch",
                   COMPILER_PATH=self.tools, PATH=self.tools + ":" + os.environ["PATH"],
                   EFI=EFI.get(self.cpu, ""), KERNEL_FLAGS=INSTRUMENTED)
        if own:
            del env["COMPILER_PATH"]
            env["PATH"] = ":".join([os.path.abspath("build/tools"), self.own_tools(), os.environ["PATH"]])
        done = subprocess.run(["sh", "-eu"], input=script, cwd=self.directory, env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        must((done.returncode != 0) == fails, f"exit status {done.returncode}: {done.stdout[-400:]!r}")
        return done.stdout

    def unwinder(self, flags, own=False):
        """sfu.o and sfu_print.o by the compiler with FLAGS"""
        self.once.copy((self.cc, flags, own), ("sfu.o", "sfu_print.o"),
                       lambda: self.run(f"$CC -O2 -ffreestanding {flags} -fasynchronous-unwind-tables "
                                        "-c sfu.c sfu_print.c", own), self.directory)

    def own_tools(self):
        """A folder of Debian's binutils for this CPU, by their names alone."""
        folder = os.path.abspath(os.path.join(self.directory, "own"))
        os.makedirs(folder, exist_ok=True)
        for name in ("as", "ld", "nm", "objcopy", "objdump", "readelf"):
            if not os.path.lexists(f"{folder}/{name}"):
                os.symlink(shutil.which(f"{self.cpu}-linux-gnu-{name}"), f"{folder}/{name}")
        return folder

    def recipe(self, name, own=False):
        must(self.scripts[name] is not None, f"{name} is not for {self.cpu}")
        return self.run(self.scripts[name], own)

    def functions(self, name, section=".sframe"):
        """Start and size of each function in the table of NAME, by objdump."""
        out = self.run(f"objdump --sframe={section} {name}")
        return {int(m[1], 16): int(m[2]) for m in re.finditer(r"pc = 0x([0-9a-f]+), size = (\d+)", out)}

    def symbols(self, name, kinds="TtDdRrBbA"):
        """name: address"""
        out = self.run(f"nm {name}")
        return {m[3]: int(m[1], 16) for m in re.finditer(r"^([0-9a-f]+) (\w) (\S+)$", out, re.M) if m[2] in kinds}

    def must_describe(self, name, wanted, section=".sframe", kind="EXEC"):
        must(re.search(rf"Type: +{kind} ", self.run(f"readelf -h {name}")), f"{name} is not of type {kind}")
        symbols, functions = self.symbols(name), self.functions(name, section)
        m = re.search(rf" {re.escape(section)} +\S+ +(\S+) \S+ (\S+) ", self.run(f"readelf -SW {name}"))
        start, size = int(m[1], 16), int(m[2], 16)
        must(symbols.get("sframe_start", start) == start and symbols.get("sframe_end", start + size) >= start + size,
             f"the section of {name} is at {start:#x}, {size} bytes: {symbols}")
        for symbol in wanted:
            must(any(symbols[symbol] - size < start <= symbols[symbol] for start, size in functions.items()),
                 f"{name} has no table of {symbol}")


KERNEL = ("start", "kernel_main", "print_trace", "sfu_panic_init")


def build(bench):
    """kernel.o and entry.o as the first recipe makes them, and the unwinder"""
    bench.recipe("flags")
    bench.unwinder("-ffunction-sections -Wa,--gsframe")


def test_flags(bench):
    bench.recipe("flags")
    must(len(bench.functions("kernel.o")) == 3, "functions of kernel.o")
    must(len(bench.functions("entry.o")) == 1, "functions of entry.o")
    must("RA undefined" in bench.run("objdump --sframe entry.o"), "start is not outermost")


def test_clang(bench):
    bench.recipe("clang")
    must(len(bench.functions("kernel.o")) == 3, "functions of kernel.o")


def with_unwinder(script):
    return script.replace("kernel.o entry.o", "kernel.o entry.o sfu.o sfu_print.o")


# Around the kernel of the page, whose console is that of QEMU's machine virt: behind start, which runs into it, an end
# by PSCI; and a stack.
BEGIN = """    mov w0, 8
    movk w0, 0x8400, lsl 16
    hvc 0
    .globl begin
begin: ldr x0, =stack_high
    mov sp, x0
    b start
"""


def test_boots(bench):
    """The page's kernel panics at boot: no mark of a fault, and a trace that ends in start."""
    bench.recipe("flags")
    bench.write("begin.S", BEGIN)
    bench.write("kernel.ld", bench.read("kernel.ld").replace(". = 0x100000", ". = 0x40080000"))
    bench.run("$CC -c begin.S && $CC -O2 -mgeneral-regs-only -ffreestanding -fno-inline "
              "-fno-optimize-sibling-calls -fasynchronous-unwind-tables -Wa,--gsframe -c kernel.c sfu.c sfu_print.c")
    bench.run(with_unwinder(bench.scripts["link"]).replace("entry.o", "entry.o begin.o -Wl,-e,begin"))
    said = bench.run("timeout 60 qemu-system-aarch64 -M virt -cpu cortex-a57 -nodefaults -no-reboot -display none "
                     "-serial stdio -kernel kernel.elf")
    lines = said.splitlines()
    must(lines[0].startswith("#0  0x") and lines[3].startswith("trace ends (1): ") and len(lines) == 5, said)
    pcs = [int(m, 16) for m in re.findall(r"^#\d  0x(\w+)", said, re.M)]
    symbols = bench.symbols("kernel.elf", "Tt")
    names = [max((at, name) for name, at in symbols.items() if at <= pc - (n > 0))[1] for n, pc in enumerate(pcs)]
    must(names == ["print_trace", "kernel_main", "start"] and lines[4].startswith("addr2line -Cfipe kernel.elf "),
         f"{names}: {said}")


def test_lto(bench):
    build(bench)
    os.remove(os.path.join(bench.directory, "kernel.o"))
    bench.run(with_unwinder(bench.scripts["lto"]))
    must(".gnu.lto_" in bench.run("readelf -SW kernel.o"), "kernel.o is code already")
    bench.must_describe("kernel.elf", ["start", "kernel_main"])


def test_link(bench):
    build(bench)
    bench.run(with_unwinder(bench.scripts["link"]))
    bench.must_describe("kernel.elf", KERNEL)
    symbols = bench.symbols("kernel.elf")
    out = bench.run("readelf -lW kernel.elf")
    loads = [(int(m[1], 16), int(m[2], 16)) for m in re.finditer(r"LOAD +\S+ 0x(\S+) \S+ 0x(\S+)", out)]
    must(any(start <= symbols["sframe_start"] and symbols["sframe_end"] <= start + size for start, size in loads),
         "not in a loaded segment")
    with open(os.path.join(bench.directory, "kernel.bin"), "rb") as file:
        image = file.read()
    at = symbols["sframe_start"] - symbols["image_start"]
    must(image[at:at + 3] in (b"\xe2\xde\x03", b"\xde\xe2\x03"), "objcopy -O binary lost it")
    bench.run("objcopy -O binary -j .sframe kernel.elf sframe.bin")
    with open(os.path.join(bench.directory, "sframe.bin"), "rb") as file:
        must(image[at:].startswith(file.read()), "objcopy -O binary changed it")


# An exception entry of somebody's: its table is written by hand. On s390x the constants are multiples of 8.
ENTRY = """#include "sfu_asm.h"
    .globl handler
handler:
    .balign 16
called:
    SFU_ASM_CALL(print_trace)
returned:
    .balign 16
    sfu_trap_begin called, returned
    sfu_trap_row called, cfa=184, ra=168, fp=176
    sfu_trap_end
"""
REFUSED = r"error in \S*trap.o\(\.sframe\.trap\.called\); no \.sframe will be created"


def test_gen(bench):
    """By the compiler's own assembler and linker: all functions, the mark of the outermost, the exception entry."""
    bench.write("trap.S", ENTRY)
    bench.recipe("own", own=True)
    must(".sframe" not in bench.run("readelf -SW kernel.o entry.o", own=True), "this assembler makes tables")
    bench.unwinder("", own=True)
    bench.run("$CC -c trap.S", own=True)
    script = with_unwinder(bench.scripts["gen"]).replace("entry.o", "entry.o trap.o -Wl,-u,handler")
    said = bench.run(script, own=True)
    if bench.cpu == "s390x":  # objdump gives up on shared rows of the other byte order
        bench.run(script.replace("--strict", "--strict --no-share"), own=True)
    must(bench.cpu == "s390x" or re.search(REFUSED, said), f"Debian's ld does not say that it refuses: {said}")
    bench.must_describe("kernel.elf", KERNEL + ("called",), ".sfu_sframe")
    symbols = bench.symbols("kernel.elf")
    out = bench.run("objdump --sframe=.sfu_sframe kernel.elf")
    rows = [f"{at:016x}" for at in (symbols["start"] - 1, symbols["start"])]  # perhaps from the byte before
    must(re.search(rf"\n +({'|'.join(rows)}) +RA undefined\n", out), "start is not outermost: it has rows")
    must(symbols["image_start"] < symbols["sframe_start"] < symbols["sframe_end"], f"{symbols}")
    at = symbols["sframe_start"] - symbols["image_start"]
    with open(os.path.join(bench.directory, "kernel.bin"), "rb") as file:
        must(file.read()[at:at + 3] in (b"\xe2\xde\x03", b"\xde\xe2\x03"), "objcopy -O binary lost it")
    # What cannot be described fails, and leaves the room empty.
    bench.write("odd.S", ".globl odd\nodd: .cfi_startproc\n .cfi_escape 0x0f, 1, 0x30\n .quad 0\n .cfi_endproc\n")
    bench.run("$CC -c odd.S", own=True)
    odd = script.replace("entry.o", "entry.o odd.o -Wl,-u,odd")
    said = bench.run(odd, own=True, fails=True)
    at = bench.symbols("kernel.elf")["sframe_start"]
    must("cannot be described; nothing written" in said, f"sfu-gen has nothing against an expression: {said}")
    must(re.search(rf"0x0*{at:x} 0{{8}} 0{{8}} ", bench.run("readelf -x .sfu_sframe kernel.elf")), "it wrote tables")
    # Beside code the room makes the segment writable, which READONLY prevents.
    room = bench.read("room-kernel.ld")
    for kind, flags in ((".sfu_sframe :", "RWE"), (".sfu_sframe (READONLY) :", "R E")):
        bench.write("room-kernel.ld", room.replace(".sfu_sframe :", kind))
        bench.run(script.split("sfu-gen")[0], own=True)
        found = re.search(r"LOAD +(?:0x\S+ +){5}(R.E)", bench.run("readelf -lW kernel.elf"))
        must(found and found[1] == flags, f"{kind} is in a segment {found and found[1]}")
    bench.write("room-kernel.ld", room)
    # The same script at the end of the address space, which 0 is too far away from.
    bench.write("room-kernel.ld", bench.read("room-kernel.ld").replace(". = 0x100000;", ". = 0xffff900000100000;"))
    bench.run(("CC=\"$CC -mcmodel=large\"\n" if bench.cpu == "x86_64" else "") + """
$CC -O2 -ffreestanding -fno-pic -fomit-frame-pointer -fasynchronous-unwind-tables -c kernel.c
$CC -O2 -ffreestanding -fno-pic -fasynchronous-unwind-tables -c sfu.c sfu_print.c
""" + script.replace("--strict", "--strict --no-share"), own=True)
    symbols = bench.symbols("kernel.elf")
    must(symbols["start"] > 1 << 63, "this is not the end of the address space")
    bench.must_describe("kernel.elf", KERNEL[1:], ".sfu_sframe")
    bench.write("room-kernel.ld", bench.read("room-kernel.ld").replace("0xffff900000100000", "0x100000"))
    bench.recipe("own", own=True)
    bench.unwinder("", own=True)
    bench.run("$CC -c trap.S", own=True)
    # SFU_NO_ASM is bad advice there.
    bench.run("$CC -DSFU_NO_ASM -ffreestanding -c entry.S trap.S", own=True)
    bench.run(script.replace("--small --strict", "--strict --forget --no-share"), own=True)
    found, symbols = bench.functions("kernel.elf", ".sfu_sframe"), bench.symbols("kernel.elf")
    must(symbols["start"] not in found and symbols["called"] not in found, "SFU_NO_ASM leaves tables")


def riscv_functions(table, addr, wanted):
    """Start and size of each function in the bytes of a table at ADDR, of the ABI WANTED: docs/format.md."""
    must(table[:3] == b"\x75\x5f\x03", f"no table, but {table[:3]!r}")
    flags, abi, aux, count, fdes = table[3], table[4], table[7], *struct.unpack_from("<I8xI", table, 8)
    must(abi == wanted and flags & 4, f"ABI {abi:#x}, flags {flags:#x}")
    found = {}
    for at in range(28 + aux + fdes, 28 + aux + fdes + 16 * count, 16):
        start, size = struct.unpack_from("<qI", table, at)
        found[addr + at + start] = size
    return found


# Around the kernel of the page, whose console is another: QEMU's machine virt, in M mode. What follows start is no
# instruction: that traps to an end by the machine's test device.
RISCV_BEGIN = """    .globl begin # the machine begins with the first instruction of the image
begin: la sp, stack_high
    la t0, end
    csrw mtvec, t0
    j start
    .balign 4
end:
    li t0, 0x100000
    li t1, 0x5555
    sw t1, 0(t0)
"""


def test_riscv(bench, bits="64", abi=0x81):
    """The page's kernel by the compiler's own assembler and linker, with an exception entry, panics at boot."""
    bench.write("trap.S", ENTRY)
    bench.write("begin.S", RISCV_BEGIN)
    bench.write("kernel.c", bench.read("kernel.c").replace("0x9000000", "0x10000000"))
    bench.write("room-kernel.ld", bench.read("room-kernel.ld").replace(". = 0x100000;", ". = 0x80000000;"))
    bench.recipe("own", own=True)
    bench.run("$CC -O2 -ffreestanding -fno-optimize-sibling-calls -fasynchronous-unwind-tables "
              "-c kernel.c sfu.c sfu_print.c trap.S walkable.S begin.S", own=True)
    script = with_unwinder(bench.scripts["gen"]).replace("kernel.o entry.o", "begin.o kernel.o entry.o").replace(
        "entry.o", "entry.o trap.o walkable.o -Wl,-e,begin,-u,handler,-u,walkable,--defsym,traced=print_trace")
    bench.run(script, own=True)
    symbols = bench.symbols("kernel.elf")
    with open(os.path.join(bench.directory, "kernel.bin"), "rb") as file:
        table = file.read()[symbols["sframe_start"] - symbols["image_start"]:]
    found = riscv_functions(table, symbols["sframe_start"], abi)
    for name in KERNEL + ("called", "walkable"):
        must(any(symbols[name] - size < start <= symbols[name] for start, size in found.items()), f"no table of {name}")
    said = bench.run(f"timeout 60 qemu-system-riscv{bits} -M virt -bios none -nodefaults -no-reboot -display none "
                     "-serial stdio -kernel kernel.elf")
    pcs = [int(m, 16) for m in re.findall(r"^#\d  0x(\w+)", said, re.M)]
    del symbols["traced"]  # another name of print_trace
    names = [max((at, name) for name, at in symbols.items() if at <= pc - (n > 0))[1] for n, pc in enumerate(pcs)]
    must(names == ["print_trace", "kernel_main", "start"] and "trace ends (1): " in said, f"{names}: {said}")


def test_riscv32(bench):
    bench.cc = "riscv64-linux-gnu-gcc -march=rv32imac_zicsr -mabi=ilp32 -mcmodel=medany"
    test_riscv(bench, "32", 0x82)


def test_riscv32e(bench):
    """With half of the registers. QEMU has no such CPU, but each other one runs the code."""
    bench.cc = "riscv64-linux-gnu-gcc -march=rv32emc_zicsr -mabi=ilp32e -mcmodel=medany"
    test_riscv(bench, "32", 0x82)


YOURS = """#include <stdint.h>
struct trap { uint64_t lr, pc, sp, fp; };
struct switch_frame { uint64_t fp, ra; };
struct task { char name[16]; int id; enum { TASK_FREE, TASK_RUNS, TASK_WAITS } state; void *stack, *sp; };
enum { MAX_TASKS = 8, MAX_CPUS = 4, TASK_STACK = 8192, IRQ_STACK_SIZE = 4096 };
extern struct task tasks[MAX_TASKS];
void console_putc(char c);
unsigned cpu_number(void);
void send_nmi_to_others(void);
void trace_init(unsigned num_cpus);
void trace_panic(const struct trap *trap, uint64_t address);
void trace_stop(const struct trap *trap);
"""


def test_described(bench):
    """The page's description compiles, with the files as they lie here and with those of `make dist`."""
    bench.write("yours.h", YOURS)
    flags = "-std=c99 -ffreestanding -Os -Wall -Wextra -Wpedantic -Wconversion -Werror"
    page = bench.read("described.c")
    bench.write("described.c", '#include "sfu_arch.h"\n#include "sfu_cycles.h"\n#include "sfu_sizes.h"\n' + page)
    bench.run(f"$CC {flags} -c described.c module.c sfu_kernel.c sfu_sizes.c")
    needed = bench.run("nm -u described.o sfu_kernel.o sfu_sizes.o")
    known = {"console_putc", "cpu_number", "send_nmi_to_others", "tasks"}
    strange = [name for name in re.findall(r" U (\w+)", needed) if name not in known and not re.match(
        r"sfu_|sframe_|boot_stack|irq_stack|entries_", name)]
    must(not strange, f"it needs {strange}")
    copied = os.path.join(bench.directory, "dist")

    def dist():
        done = subprocess.run([sys.executable, "port/dist/dist.py", copied], capture_output=True, text=True,
                              check=False)
        must(done.returncode == 0, done.stderr)

    bench.once.copy("dist", [f"sfu_{name}.{kind}" for name in ("kernel", "panic") for kind in "ch"], dist, copied)
    bench.write("dist/described.c", page)
    bench.run(f"cd dist && $CC {flags} -I.. -c described.c sfu_kernel.c sfu_panic.c -iquote .")


def test_module(bench):
    """A module's tables are of its functions, counted from .text. (gen.py loads one into kernels.)"""
    no_relax = " -mno-relax" if bench.cpu == "riscv64" else ""
    bench.run("$CC -O2 -ffreestanding -fasynchronous-unwind-tables -ffunction-sections%s -c -x c - -o module.o "
              "<<'END'\n"
              "void kernel(int n); int f(int n) { kernel(n); kernel(2 * n); return n; }\n"
              "int g(int n) { return f(n) + f(n + 1); }\nEND" % no_relax, own=True)
    bench.recipe("module", own=True)
    listed = bench.run("readelf -SW module.ko", own=True)
    must(re.search(r" \.sfu_sframe .* A ", listed) and ".eh_frame" not in listed, f"sections: {listed}")
    functions = {int(at, 16): int(size, 16) for at, size in re.findall(
        r"^([0-9a-f]+) ([0-9a-f]+) [Tt] [fg]$", bench.run("nm -S module.ko", own=True), re.M)}
    bench.run("objcopy -O binary --only-section=.sfu_sframe module.ko tables", own=True)
    with open(os.path.join(bench.directory, "tables"), "rb") as file:
        table = file.read()
    order = ">" if bench.cpu == "s390x" else "<"
    count, = struct.unpack_from(order + "I", table, 8)
    covered = set()
    for i in range(count):  # each entry's start counts from its own place
        at = 28 + 16 * i
        start, size = struct.unpack_from(order + "qI", table, at)
        covered |= set(range(at + start, at + start + size))
    must(len(functions) == 2 and all(set(range(at, at + size)) <= covered for at, size in functions.items()),
         f"{functions} are not all in the tables, which begin with {min(covered)}")


def test_no_flag(bench):
    """An assembly file without the flag: the table of the exception entry is there, no other."""
    bench.run("$CC -c entry.S && $CC -c entry.S -Wa,--gsframe -o with.o")
    bench.write("trap.S", ENTRY)
    bench.run("$CC -c trap.S")
    sections = {name: bench.run(f"readelf -SW {name}") for name in ("entry.o", "with.o", "trap.o")}
    must([".sframe" in text for text in sections.values()] == [False, True, True], "what the flag makes")


def test_insert(bench):
    """The lines stand before the script; behind it ld says what the manual says."""
    build(bench)
    bench.run(with_unwinder(bench.scripts["insert"]))
    bench.must_describe("kernel.elf", KERNEL)
    scripts = r"(-Wl,-T,insert\.ld) (-Wl,-T,plain\.ld)"
    must(re.search(scripts, bench.scripts["insert"]), "the order of the scripts")
    wrong = re.sub(scripts, r"\2 \1", with_unwinder(bench.scripts["insert"]))
    said = bench.run("if " + wrong.strip() + "; then echo linked; fi")
    must(".rodata not found for insert" in said and "linked" not in said, f"ld says: {said}")


def test_refused(bench):
    """A new ld refuses R_X86_64_PLT32 in a section that is not loaded; Debian's links it."""
    if bench.cpu != "x86_64":
        return
    bench.write("plt.S", """ .globl f
f:  ret
    .section .notes, "", @progbits
    .reloc ., R_X86_64_PLT32, f
    .long 0
    .section .note.GNU-stack, "", @progbits
""")
    bench.run("$CC -c plt.S && ld -e f plt.o -o plt.elf", own=True)
    said = bench.run("if ld -e f plt.o -o plt.elf; then echo linked; fi")
    must("relocation R_X86_64_PLT32 against symbol `f' in non-alloc section" in said and "linked" not in said, said)


# Functions that an assembler leaves out: one that saves FP without RA, one with an escape.
LEFT_OUT = """
    .macro function name
    .globl \\name
\\name:
    .cfi_startproc
    nop
    .endm
    function whole
    nop
    .cfi_endproc
    function escaped
    .cfi_escape 0x16, 40, 2, 0x70, 0
    nop
    .cfi_endproc
#ifdef __aarch64__
    function fp_alone
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    nop
    .cfi_endproc
#endif
"""


def test_left_out(bench):
    """What the new assembler leaves out, with a warning, and sfu-gen does not."""
    functions = ["whole", "escaped"] + ["fp_alone"] * (bench.cpu == "aarch64")
    bench.write("left.S", LEFT_OUT)
    said = bench.run("$CC -Wa,--gsframe -c left.S && ld -e whole left.o -o left.elf")
    symbols, found = bench.symbols("left.elf"), bench.functions("left.elf")
    left = [name for name in functions if symbols[name] not in found]
    must(left == functions[1:] and said.count("Warning") == len(left), f"{left} left out: {said}")
    bench.run("$CC -c left.S && ld -e whole left.o -o left.elf\n"
              "sfu-gen --no-share --append=made.elf left.elf", own=True)
    sections = bench.run("readelf -SW made.elf")
    name = ".sfu_sframe" if ".sfu_sframe" in sections else ".sframe"
    bench.must_describe("made.elf", functions, name)


def test_efi(bench):
    bench.run("$CC -O2 -fpic -ffreestanding -fasynchronous-unwind-tables -Wa,--gsframe "
              "-c kernel.c sfu.c sfu_print.c entry.S")
    bench.run(with_unwinder(bench.scripts["efi"]))
    bench.must_describe("kernel.so", KERNEL, kind="DYN")
    must("sframe_start" in bench.symbols("kernel.so"), "it is not linked by the script")
    must("NEEDED" not in bench.run("readelf -dW kernel.so"), "it needs a library")
    kinds = set(re.findall(r" (R_\w+)", bench.run("readelf -rW kernel.so")))
    must(all(kind.endswith("_RELATIVE") for kind in kinds), f"the loader has to find symbols: {kinds}")
    bench.run("objcopy -O binary -j .sframe kernel.so sframe.bin")
    with open(os.path.join(bench.directory, "sframe.bin"), "rb") as file:
        table = file.read()
    sections = bench.run("objdump -h kernel.efi")
    m = re.search(r"\.sframe +([0-9a-f]+) +[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+).*\n.*", sections)
    must(m and "ALLOC" in m[0] and "LOAD" in m[0], f"not loaded: {sections}")
    with open(os.path.join(bench.directory, "kernel.efi"), "rb") as file:
        must(file.read()[int(m[2], 16):].startswith(table), "another table")
    must(table[:3] in (b"\xe2\xde\x03", b"\xde\xe2\x03"), "no table")


def test_walkable(bench):
    """In the middle of the function, objdump must say where the caller is, as the code says."""
    bench.run("$CC -Wa,--gsframe -c walkable.S -o walkable.o")
    must(bench.run("nm -u walkable.o").split() == ["U", "traced"], "it calls something else")
    must(re.search(r"\t(ret|br\t%r14)\s*$", bench.run("objdump -d walkable.o")), "its last instruction is no return")
    rows = re.findall(r"^ +[0-9a-f]{16} +(\S+ .*?) *$", bench.run("objdump --sframe walkable.o"), re.M)
    called = {"x86_64": r"sp\+16 +c-16 +f", "aarch64": r"sp\+16 +c-16 +c-8", "s390x": r"sp\+320 +u +c-48"}[bench.cpu]
    must(any(re.fullmatch(called, row) for row in rows), f"rows {rows}")
    build(bench)
    bench.run("$CC -nostdlib -static -Wl,-T,kernel.ld -Wl,--defsym,traced=print_trace "
              "kernel.o entry.o sfu.o sfu_print.o walkable.o -o walkable.elf")
    bench.must_describe("walkable.elf", ["walkable", "start"])


def test_dump(bench):
    """Without tables nothing but the dump is needed."""
    bench.run("$CC -O2 -ffreestanding -Wall -Wextra -Werror -c dump.c sfu_dump.c sfu_build_id.c")
    bench.run("ld -r dump.o sfu_dump.o sfu_build_id.o -o both.o")
    wanted = {line.split()[-1] for line in bench.run("nm -u both.o").splitlines()}
    own = {"build_id_start", "build_id_end", "image_start", "stack_low", "stack_high", "console_put"}
    must(wanted <= own, f"it needs {sorted(wanted)}")


# What the lines of each part call, or speak of.
SPOKEN = {"build_id": "build_id_start build_id_end sfu_print_build_id", "cycles": "sfu_print_cycles",
          "record": "crash image_start sfu_record_clear sfu_record_print sfu_record_write",
          "all": "first_thread registers_of sfu_print_all", "trap": "sfu_print_trap",
          "symbols": "image_start sfu_symbols_end sfu_symbols_find sfu_symbols_start"}
# Of each part: what it needs beside its own file.
PARTS = {"build_id": set(), "cycles": set(), "record": {"sfu_print.o", "sfu.o"}, "all": {"sfu_print.o", "sfu.o"},
         "trap": {"sfu_print.o", "sfu.o"},
         "symbols": set()}
OWN = {"build_id_start", "build_id_end", "panic", "image_start", "first_thread", "registers_of", "sfu_symbols_start",
       "sfu_symbols_end", "crash", "_GLOBAL_OFFSET_TABLE_"}


def test_parts(bench):
    """Each part alone, with its lines, needs what it says and no more."""
    build(bench)
    for part, others in PARTS.items():
        bench.run(f"$CC -O2 -ffreestanding -Wall -Wextra -Werror -c part_{part}.c sfu_{part}.c")
        spoken = {line.split()[-1] for line in bench.run(f"nm -u part_{part}.o").splitlines()}
        must(spoken - {"_GLOBAL_OFFSET_TABLE_"} == set(SPOKEN[part].split()), f"{part} speaks of {sorted(spoken)}")
        bench.run(f"ld -r part_{part}.o sfu_{part}.o {' '.join(others)} -o part.o")
        wanted = {line.split()[-1] for line in bench.run("nm -u part.o").splitlines()}
        must(wanted <= OWN, f"{part} needs {sorted(wanted - OWN)}")


def test_copies(bench):
    bench.run("$CC -O2 -ffreestanding -Wall -Wextra -Werror -c copies.c")
    wanted = {line.split()[-1] for line in bench.run("nm -u copies.o").splitlines()}
    must(wanted == {"sfu_add"}, f"it needs {sorted(wanted)}")


def test_symbols(bench):
    """The image with the build ID, memory for a record, and a table in which the kernel's functions are."""
    build(bench)
    bench.run("$CC -O2 -ffreestanding -Wall -Werror -c part_symbols.c sfu_symbols.c part_record.c sfu_record.c "
              "part_build_id.c sfu_build_id.c")
    with open(os.path.join(bench.directory, "kernel.ld"), encoding="utf-8") as file:
        script = file.read()
    lines = {}
    for name in ("build_id.ld", "crash.ld"):
        with open(os.path.join(bench.directory, name), encoding="utf-8") as file:
            lines[name] = file.read()
    script = script.replace(".sframe :", lines["build_id.ld"] + ".sframe :", 1)
    bench.write("kernel.ld", script.replace("    stack_low", lines["crash.ld"] + "    stack_low"))
    parts = " ".join(f"part_{part}.o sfu_{part}.o" for part in ("symbols", "record", "build_id"))
    flags = "-Wl,--build-id -Wl,--defsym,panic=0"
    bench.run(bench.scripts["symbols"].replace("entry.o", f"entry.o sfu.o sfu_print.o {parts} {flags}"))
    bench.must_describe("kernel.elf", KERNEL)
    symbols = bench.symbols("kernel.elf")
    must(symbols["build_id_end"] - symbols["build_id_start"] == 36, "no build ID")
    must(symbols["sfu_symbols_end"] - symbols["sfu_symbols_start"] > 500, "an empty table")
    bench.write("kernel.ld", re.sub(r"PHDRS .*\n|(?<=\}) (:\w+ ?)+$", "", bench.read("kernel.ld"), flags=re.M))
    bench.run(bench.scripts["symbols"].replace("entry.o", f"entry.o sfu.o sfu_print.o {parts} {flags}")
              .replace("kernel.elf", "without.elf"))
    bench.write("size.c", '#include "sfu_record.h"\nchar size[sizeof(struct sfu_record)];\n')
    bench.run("$CC -c size.c")
    size = int(re.search(r"(\d+) OBJECT", bench.run("readelf -sW size.o"))[1])
    for name in ("kernel.elf", "without.elf"):  # with and without PHDRS
        loads = re.findall(r"LOAD +\S+ 0x(\S+) \S+ \S+ 0x(\S+)", bench.run(f"readelf -lW {name}"))
        symbols = bench.symbols(name)
        must(loads and not any(int(start, 16) <= symbols["crash"] < int(start, 16) + int(memory, 16)
                               for start, memory in loads), f"{name}: the record is in a segment that is loaded")
        must(symbols["crash"] + size <= symbols["stack_low"], f"{name}: what lies behind it is in the record")


# A kernel for multiboot, whose bss ends in the middle of a page. It resets the machine once, and says then whether the
# record is what it was. A word of the clock's memory, which a reset keeps, tells the first boot.
MULTIBOOT = """
    .section .text.first, "ax"
    .balign 4
    .long 0x1badb002, 0, -0x1badb002
    .text
    .globl _start
_start:
    mov $0x60, %al
    out %al, $0x70
    in $0x71, %al
    mov $crash, %edi
    mov $104, %ecx
    cmp $0x5a, %al
    je again
    mov $0x5a, %al
    out %al, $0x71
    rep stosb
    mov $'1', %al
    call print
    mov $0xfe, %al
    out %al, $0x64
0:  hlt
    jmp 0b
again:
    repe scasb
    mov $'+', %al
    je 1f
    mov $'-', %al
1:  call print
    mov $0, %al
    out %al, $0xf4
    hlt
print:
    mov $0x3f8, %edx
    out %al, %dx
    ret
    .bss
    .skip 0x1234
"""
MULTIBOOT_SCRIPT = """SECTIONS {
    . = 0x100000;
    .text : { *(.text.first) *(.text) }
    .bss : { *(.bss) }
"""


def test_multiboot(bench):
    """The record lies where a multiboot loader, which has data of its own, leaves it alone over a reset."""
    bench.write("multiboot.S", MULTIBOOT)
    bench.write("multiboot.ld", MULTIBOOT_SCRIPT + bench.read("crash.ld") + "}\n")
    bench.run("$CC -m32 -c multiboot.S && ld -m elf_i386 -T multiboot.ld multiboot.o -o multiboot.elf")
    must(bench.symbols("multiboot.elf")["crash"] % 8 == 0, "the record is not aligned")
    for words in ("", "word " * 300):  # the command line
        said = bench.run("timeout 60 qemu-system-x86_64 -nodefaults -display none -serial stdio "
                         "-device isa-debug-exit,iobase=0xf4,iosize=1 -kernel multiboot.elf "
                         f"-append '{words}' || test $? -eq 1")
        must(said == "1+", f"with {len(words)} bytes of a command line: {said!r}")


def test_instrument(bench):
    bench.recipe("instrument")
    allowed = {"memcpy", "memset"}
    for name in ("sfu.o", "sfu_print.o"):
        wanted = {line.split()[-1] for line in bench.run(f"nm -u {name}").splitlines()}
        wanted = {symbol for symbol in wanted - allowed if not symbol.startswith("sfu_")}
        must(not wanted, f"{name} needs {sorted(wanted)}")
    bench.run("$CC -O0 -ffreestanding $KERNEL_FLAGS -c sfu.c -o instrumented.o")
    must(len(bench.run("nm -u instrumented.o").splitlines()) >= 9, "the flags instrument nothing")


# What a vendor gives besides: a script, start-up code, a UART that is semihosting's here.
VENDOR = """ENTRY(Reset_Handler)
_estack = ORIGIN(RAM) + LENGTH(RAM);
MEMORY {{ RAM (xrw) : ORIGIN = 0x20000000, LENGTH = 64K  FLASH (rx) : ORIGIN = 0x0, LENGTH = 256K }}
SECTIONS
{{
    .isr_vector : {{ . = ALIGN(4); KEEP(*(.isr_vector)) . = ALIGN(4); }} >FLASH
    .text : {{ *(.text) *(.text*) . = ALIGN(4); _etext = .; }} >FLASH
    .rodata : {{ *(.rodata) *(.rodata*) . = ALIGN(4); }} >FLASH
    .ARM.extab : {{ *(.ARM.extab* .gnu.linkonce.armextab.*) }} >FLASH
    .ARM : {{ *(.ARM.exidx*) }} >FLASH
{}
    _sidata = LOADADDR(.data);
    .data : {{ _sdata = .; *(.data) *(.data*) . = ALIGN(4); _edata = .; }} >RAM AT> FLASH
    .bss : {{ _sbss = .; *(.bss) *(.bss*) *(COMMON) . = ALIGN(4); _ebss = .; }} >RAM
    _sram = ORIGIN(RAM);
    _eram = _estack;
{}
}}
"""
STARTUP = """.syntax unified
.cpu cortex-m4
.thumb
.section .isr_vector, "a", %progbits
.word _estack, Reset_Handler, 0, HardFault_Handler, MemManage_Handler, BusFault_Handler, UsageFault_Handler
.text
.globl Reset_Handler
.thumb_func
.type Reset_Handler, %function
{}
.size Reset_Handler, . - Reset_Handler
"""
APPLICATION = """#include "sfu.h"
static void call(unsigned operation, const void *block)
{
    register unsigned r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}
extern uint32_t _sdata[], _edata[], _sidata[], _sbss[], _ebss[];
void SystemInit(void)
{
    uint32_t *to, *from = _sidata;
    for (to = _sdata; to < _edata; to++) *to = *from++;
    for (to = _sbss; to < _ebss; to++) *to = 0;
}
void uart_putc(char c) { call(3, &c); }
void reset(void) { static const unsigned block[2] = {0x20026, 3}; call(0x20, block); }
__attribute__((noinline)) int divide(int a, volatile int *b) { return a / *b; }
int main(void)
{
    static volatile int zero;
    *(volatile uint32_t *)0xe000ed14 |= 16;
    return divide(7, &zero) + 1;
}
"""


# Assembly without CFI, as vendors have it: the handler of an interrupt, and functions that it calls; the last faults.
HANDLER = """.syntax unified
.cpu cortex-m4
.thumb
.section .isr_vector, "a", %progbits
.word 0, 0, 0, 0, 0, 0, 0, PendSV_Handler, 0
.text
.globl PendSV_Handler
.thumb_func
.type PendSV_Handler, %function
PendSV_Handler:
    push {r4, r5, r7, lr}
    sub sp, #8
    add r7, sp, #4
    bl quotient
    add sp, #8
    pop {r4, r5, r7, pc}
.size PendSV_Handler, . - PendSV_Handler
.type quotient, %function
quotient:
    str lr, [sp, #-8]!
    bl inner
    ldr pc, [sp], #8
.size quotient, . - quotient
.type inner, %function
inner:
    movs r1, #0
    push {r4-r6}
    cmp r1, #0
    it eq
    udiveq r0, r0, r1
    pop {r4-r6}
    bx lr
.size inner, . - inner
"""


def boot_cortexm(bench, image):
    done = subprocess.run(["qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-semihosting-config",
                           "enable=on,target=native", "-kernel", os.path.join(bench.directory, image)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120)
    return done.stdout.splitlines()


def cortexm_without_cfi(bench, script):
    """Start-up code and a handler in assembly have no CFI: sfu-gen --derive gives them rows, and names none of them."""
    reset = re.sub(r"(?m)^ *\.cfi_.*\n", "", bench.read("cortexm_reset.s"))
    bench.write("startup.s", STARTUP.format(reset) + HANDLER)
    pends = "*(volatile uint32_t *)0xe000ed04 = 1u << 28; for (;;) zero = 0;"
    bench.write("app.c", APPLICATION.replace("return divide(7, &zero) + 1;", pends))
    bench.run(script.replace("sfu-gen --small", "sfu-gen --derive --small").replace("firmware.elf", "derived.elf"),
              own=True)
    lines = boot_cortexm(bench, "derived.elf")
    must(lines[:1] == ["fault: HardFault, in an exception, main stack"], f"{lines}")
    must(lines[-2] == "trace ends (1): end of the stack: the outermost frame", f"{lines}")
    # Not by addr2line: functions that the linker has dropped are at 0 for it, as this code is.
    symbols = subprocess.run(["arm-none-eabi-nm", "derived.elf"], cwd=bench.directory, text=True,
                             stdout=subprocess.PIPE, check=True).stdout
    known = sorted((int(addr, 16), name) for addr, name in re.findall(r"(?m)^(\w+) [tT] ([^$\n]+)$", symbols))
    names = [max(symbol for symbol in known if symbol[0] <= int(pc, 16))[1] for pc in lines[-1].split()[3:]]
    must(names[:3] + names[4:] == ["inner", "quotient", "PendSV_Handler", "main", "Reset_Handler"], f"{names} {lines}")


# An interrupt that panics.
VECTORS = """.section .isr_vector, "a", %progbits
.word 0, 0, 0, 0, 0, 0, 0, PendSV_Handler, 0
"""
PANICS = """
void panicked(void);
static volatile int after;
void PendSV_Handler(void) { panicked(); after = 1; }
"""
# The same start-up code in C.
RESET = """
#include "sfu_cortexm.h"
void traces_init(void);
void Reset_Handler(void) { SFU_CORTEXM_OUTERMOST(); SystemInit(); traces_init(); main(); for (;;) continue; }
"""


def test_cortexm_link(bench):
    """The page's firmware by sfu-link: the vendor's linker script and start-up code know nothing of it."""
    script = bench.scripts["cortexm_link"]
    application = APPLICATION.replace('"sfu.h"', '"sfu_panic.h"')
    bench.write("vendor.ld", VENDOR.format("", ""))
    for name in glob.glob(bench.directory + "/sfu*.[ch]"):
        os.remove(name)
    subprocess.run([sys.executable, "port/dist/dist.py", bench.directory], check=True)
    in_assembly = STARTUP.format(re.sub(r"(?m)^ *\.cfi_.*\n", "", bench.read("cortexm_reset.s")))
    in_c = script.replace("sfu-link", "sfu-link --entry=Reset_Handler:start")
    for startup, app, link in ((in_assembly, application, script),
                               (STARTUP.partition(".text\n")[0], application + RESET, in_c)):
        bench.write("startup.s", startup)
        bench.write("app.c", app)
        bench.run(link, own=True)
        lines = boot_cortexm(bench, "linked.elf")
        must(lines[:2] == ["fault: HardFault, thread mode, main stack", "  UsageFault: division by zero"], f"{lines}")
        must(lines[-2] == "trace ends (1): end of the stack: the outermost frame", f"{lines}")
        frames = [line for line in lines if line.startswith("#")]
        names = [re.match(r"#\d+ +0x[0-9a-f]{8}  (\w+)\+|", line)[1] for line in frames]
        must(names == ["divide", "main", "Reset_Handler"], f"{lines}")
    bench.write("startup.s", in_assembly + VECTORS)
    pends = "*(volatile uint32_t *)0xe000ed04 = 1u << 28; for (;;) zero = 0;"
    bench.write("app.c", application.replace("return divide(7, &zero) + 1;", pends) + PANICS)
    bench.run(script, own=True)
    lines = boot_cortexm(bench, "linked.elf")
    names = [re.match(r"#\d+ +0x[0-9a-f]{8}  (\w+)\+|", line)[1] for line in lines if line.startswith("#")]
    must(names == ["panicked", "PendSV_Handler", None, "main", "Reset_Handler"], f"{lines}")
    must(lines[-2] == "trace ends (1): end of the stack: the outermost frame", f"{lines}")
    own = bench.read("cortexm_started.c").splitlines()
    must(len(own) <= 12, f"{len(own)} lines of the user's code")


def test_cortexm(bench):
    """The page's firmware divides by zero on a board of QEMU; in as few lines as the page promises."""
    script = bench.scripts["cortexm"]
    bench.write("vendor.ld", VENDOR.format(bench.read("cortexm_tables.ld"), bench.read("cortexm_last.ld")))
    cortexm_without_cfi(bench, script)
    bench.write("startup.s", STARTUP.format(bench.read("cortexm_reset.s")))
    bench.write("app.c", APPLICATION)
    bench.run(script, own=True)
    lines = boot_cortexm(bench, "firmware.elf")
    must(lines[:2] == ["fault: HardFault, thread mode, main stack", "  UsageFault: division by zero"], f"{lines}")
    must(lines[-2] == "trace ends (1): end of the stack: the outermost frame", f"{lines}")
    named = subprocess.run(lines[-1].split()[:3] + lines[-1].split()[3:], cwd=bench.directory, text=True,
                           stdout=subprocess.PIPE, check=True).stdout
    names = [line.split(" at ")[0] for line in named.splitlines()]
    must(names[:2] == ["divide", "main"] and len(names) == 3, f"{names}")
    os.symlink(os.getcwd(), os.path.join(bench.directory, "sfu"))
    bench.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\nproject(firmware C)\n"
                "add_executable(firmware cortexm_firmware.c app.c startup.o)\n" + bench.read("cortexm.cmake"))
    flags = re.search(r'FLAGS="(.*?)-DSFU', script, re.S)[1].replace("\\\n", " ")
    bench.run(f"""cmake -B by-cmake -DCMAKE_SYSTEM_NAME=Generic -DCMAKE_C_COMPILER=arm-none-eabi-gcc \\
        -DCMAKE_C_FLAGS="{flags}" -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \\
        -DCMAKE_EXE_LINKER_FLAGS="-nostartfiles --specs=nosys.specs -Wl,--gc-sections \\
        -T {os.path.abspath(bench.directory)}/vendor.ld" && cmake --build by-cmake""", own=True)
    by_cmake = boot_cortexm(bench, "by-cmake/firmware")
    must(by_cmake[:3] == lines[:3] and by_cmake[-2] == lines[-2], f"{by_cmake}")
    own = [line for line in bench.read("cortexm_firmware.c").splitlines() if line.strip()]
    must(len(own) <= 30, f"{len(own)} lines of the user's code")
    must(os.path.getsize(os.path.join(bench.directory, "firmware.bin")) > 1000, "firmware.bin")


def test_codes(_):
    """Each advice of baremetal/tables.c is word for word in the entry of its code."""
    tables = read("port/baremetal/tables.c")
    page = " ".join(read("docs/errors.md").replace("`", "").split())
    entries = dict(re.findall(r"### (SFU_\w+) \(-?\d+\) (.*?)(?= ##|$)", page))
    advice = re.findall(r'case (SFU_E_\w+):\n +return "(.*)";', tables)
    advice += [("SFU_E_ROW", re.search(r'default:\n +return "(.*)";', tables)[1])]
    must(len(advice) == 8, f"{len(advice)} pieces of advice")
    for code, text in advice:
        must(text in entries[code], f"{code}: '{text}' is not in its entry")


def test_lines(_):
    """The blocks of ten lines are in the kernels that bare and profile boot, in this order."""
    pages = {page: re.findall(r"<!-- ten lines of: (\S+) -->\n```c\n(.*?)```", read(page), re.S)
             for page in glob.glob("docs/*.md")}
    count = 0
    for page, found in pages.items():
        for name, block in found:
            lines = [line.strip() for line in block.splitlines() if line and not line.startswith("/*")]
            must(len(lines) == 10, f"{page}: {len(lines)} lines")
            code = [line.strip() for line in read(name).splitlines()]
            for line in lines:
                must(line in code, f"{name} does not have, or not in this order: {line}")
                del code[:code.index(line) + 1]
            count += 1
    must(count == 2, f"{count} blocks")


def test_reliability(_):
    """Each test that the table of clauses names is there."""
    table = re.search(r"^## Reliability, clause by clause$(.*?)^## ", read("docs/reliability.md"), re.M | re.S)[1]
    programs = "".join(map(read, glob.glob("test/truth/programs/*.[ch]") + ["test/truth/programs/run.sh"]))
    scenarios = read("port/baremetal/test/crashes.py")
    vectors = "".join(map(read, glob.glob("test/vectors/*.txt")))
    count = 0
    for row in re.findall(r"^\| \d.*\| (.*) \|$", table, re.M):
        for where, names in re.findall(r"`(\w+(?:\.c)?)`: ((?:[^;`]*`[^`]*`)+)", row):
            for name in re.findall(r"`([^`]*)`", names):
                count += 1
                if where.endswith(".c"):
                    must(f"CHECK({name})" in read("test/unit/" + where), f"{where} has no {name}")
                elif where == "vectors":
                    vector = rf"^vector v\d*{name[1]}\d* {re.escape(name[3:])}$"
                    must(re.search(vector, vectors, re.M), f"no vector {name}")
                elif where == "bare":
                    must(f'"{name}": (' in scenarios or f'"{name}"] =' in scenarios, f"no scenario {name}")
                else:
                    label = re.sub(r"-O\d$|^\*|\*$| leaf$", "", name)
                    must(where == "programs" and re.search(r'[" ]' + re.escape(label) + "(?![a-z])", programs),
                         f"{where} has no {name}")
    must(count > 45, f"{count} tests are named")


# What RISC-V has, too: no assembler makes its tables.
RISCV = (test_described, test_module, test_dump, test_copies, test_instrument)
SFRAME = [cpu for cpu in CC if cpu != "riscv64"]


def main():
    tc, directory = sys.argv[1:]
    tests = [(f"{cpu}/{test.__name__[5:]}", test, cpu)
             for cpu in CC for test in (
                 test_flags, test_boots, test_clang, test_lto, test_link, test_gen, test_described, test_module,
                 test_no_flag, test_insert, test_refused, test_left_out, test_efi, test_walkable, test_dump, test_parts,
                 test_copies, test_symbols, test_multiboot,
                 test_instrument)
             if cpu in {test_efi: EFI, test_boots: ("aarch64",), test_multiboot: ("x86_64",)}.get(
                 test, CC if test in RISCV else SFRAME)]
    tests += [("riscv64/start", test_riscv, "riscv64"), ("riscv32/start", test_riscv32, "riscv64"),
              ("riscv32e/start", test_riscv32e, "riscv64")]
    tests += [("cortexm", test_cortexm, "x86_64"), ("cortexm_link", test_cortexm_link, "x86_64"),
              ("codes", test_codes, None), ("lines", test_lines, None), ("reliability", test_reliability, None)]
    once = Once(os.path.join(directory, "once"))

    def bench(name, cpu):
        return Bench(tc, cpu, os.path.join(directory, name), once)

    # A test of one CPU has a bench, which it makes when it begins.
    tests_at_once((name, lambda test=test, name=name, cpu=cpu: test(cpu and bench(name, cpu)))
                  for name, test, cpu in tests)
    finish()


if __name__ == "__main__":
    main()

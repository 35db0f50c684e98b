#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""boot.py CPU DIRECTORY: builds the example by cargo, has sfu-gen make its tables, boots it, and compares the trace of
its panic with the source: functions by the symbol table, lines by sfu-trace. Needs neither a new assembler nor a
network."""
import bisect
import os
import re
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import finish, must, test  # noqa: E402

CPU, WORK = sys.argv[1:]
HERE = "port/rust/"
RISCV = CPU.startswith("riscv")
I386 = CPU == "i386"
FOLDER = "riscv" if RISCV else CPU
TARGET = {"riscv64": "riscv64gc-unknown-none-elf", "riscv32": "riscv32imac-unknown-none-elf",
          "i386": "i686-unknown-linux-gnu"}.get(CPU, CPU + "-unknown-linux-gnu")
CROSS = {"x86_64": "", "i386": "", "aarch64": "aarch64-linux-gnu-", "s390x": "s390x-linux-gnu-"}.get(
    CPU, "riscv64-linux-gnu-")
FLAGS = ["-std=gnu11", "-ffreestanding", "-O2", "-g", "-fomit-frame-pointer", "-fno-stack-protector", "-fpie",
         "-fvisibility=hidden", "-fno-optimize-sibling-calls", "-fasynchronous-unwind-tables", "-ffunction-sections",
         "-Wall", "-Wextra", "-Werror", "-I.", "-Iarch", "-Iport/print", "-Iport/baremetal",
         "-Iport/baremetal/" + FOLDER]
CPU_FLAGS = {"x86_64": ["-mno-red-zone", "-mgeneral-regs-only", "-fcf-protection=none"],
             "i386": ["-m32", "-mgeneral-regs-only", "-fcf-protection=none", "-fno-pie"],
             "aarch64": ["-mgeneral-regs-only", "-mstrict-align", "-mno-outline-atomics"],
             "s390x": ["-msoft-float", "-march=z196"],
             "riscv64": ["-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany"],
             "riscv32": ["-march=rv32imac_zicsr_zifencei", "-mabi=ilp32", "-mcmodel=medany"]}[CPU]
SOURCES = ["port/baremetal/kernel.c", "port/baremetal/tables.c", "port/baremetal/%s/boot.S" % FOLDER,
           "port/baremetal/%s/machine.c" % FOLDER, "port/print/sfu_build_id.c", "port/print/sfu_cycles.c",
           "port/print/sfu_record.c", HERE + "example/machine.c"]
# Code of a target without an operating system is not position-independent.
LINK = ["-nostdlib", *(["-static", "-no-pie", *CPU_FLAGS] if RISCV or I386 else ["-static-pie"]),
        "-Wl,--gc-sections,-z,norelro,--build-id=none,-z,max-page-size=4096"]
QEMU = {"x86_64": ["qemu-system-x86_64", "-M", "pc", "-serial", "stdio",
                   "-device", "isa-debug-exit,iobase=0xf4,iosize=4"],
        "aarch64": ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57", "-serial", "stdio",
                    "-semihosting-config", "enable=on,target=native,arg=panic"],
        "s390x": ["qemu-system-s390x", "-M", "s390-ccw-virtio", "-chardev", "stdio,id=c",
                  "-device", "sclpconsole,chardev=c", "-action", "panic=exit-failure"],
        "i386": ["qemu-system-i386", "-M", "pc", "-serial", "stdio",
                 "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]}.get(
                      CPU, ["qemu-system-" + CPU, "-M", "virt", "-bios", "none", "-serial", "stdio",
                            "-semihosting-config", "enable=on,target=native,arg=panic"])
CRASHED = {"x86_64": 35, "i386": 35}.get(CPU, 1)  # QEMU's exit status after machine_exit(false)
TIME_LIMIT = 120  # seconds for a boot, which takes one

# Functions of the source. Between them lie those of core and of the crate.
START = ["rust_main", "kernel_main", "kernel_start", "boot64" if CPU == "x86_64" else "boot"]
WALKED = ["sfu_rust_here", "walk"] + START
FRAMES = ["element", "sum"] + START


def run(*command, status=0, timeout=None, **more):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=timeout,
                          stdin=subprocess.DEVNULL, **more)
    must(done.returncode == status, "%s: status %d:\n%s%s"
         % (" ".join(command), done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
    return done.stdout


def read(file):
    with open(file, encoding="utf-8") as f:
        return f.read()


def write(file, text):
    with open(file, "w", encoding="utf-8") as f:
        f.write(text)


def manual():
    """What docs/quickstart-rust.md shows is in the kernels as it stands there."""
    page = read("docs/quickstart-rust.md")
    blocks = re.findall(r"<!-- part of: port/rust/([^\n]*?) -->\n```\w+\n(.*?)```\n", page, re.S)
    must(len(blocks) == 6, "docs/quickstart-rust.md has %d parts of the kernels" % len(blocks))
    for file, block in blocks:
        must(block in read("port/rust/" + file), "what docs/quickstart-rust.md shows of %s is not there" % file)
    return "%d" % len(blocks)


def linker_script():
    """Room for the tables, as sfu-gen --help shows it: those of the exception entries are written by hand."""
    text, count = re.subn(r" *\.sframe : {.*?} :text\n", """
    .sfu_sframe : ALIGN(8) {
        sframe_start = .; QUAD(0) . += 64 + SIZEOF(.sframe) + SIZEOF(.eh_frame) * 3 / 2; . = ALIGN(8);
        sframe_end = .;
    } :text
""", read("port/baremetal/kernel.ld"), flags=re.S)
    must(count == 1 and " .eh_frame" in text, "kernel.ld is not what it was")
    last = """    .eh_frame (INFO) : { KEEP(*(.eh_frame)) }
    .sframe (INFO) : { KEEP(*(.sframe .sframe.*)) }
"""
    if RISCV or I386:
        last += "    .sfu_sframe.trap (INFO) : { KEEP(*(.sfu_sframe.trap.*)) }\n"
    write(WORK + "/kernel.ld", re.sub(r"( *.DISCARD.*) \.eh_frame", lambda match: last + match[1], text))


def core():
    """The folder of the core library, where Debian's rustc for this machine comes without."""
    return os.path.abspath(run(HERE + "test/core.sh", CPU).strip())


def compilers():
    """Folders of the PATH with cargo and rustc, by version. For another CPU the first alone: core is of its version."""
    found = {}
    for folder in os.environ["PATH"].split(":"):
        if os.access(folder + "/cargo", os.X_OK) and os.access(folder + "/rustc", os.X_OK):
            found.setdefault(run(folder + "/rustc", "--version").strip(), folder)
    must(found, "no cargo and rustc")
    return list(found.items())[:None if CPU == "x86_64" else 1]


def build(folder):
    os.makedirs(WORK, exist_ok=True)
    cargo = WORK + "/cargo"
    environment = {name: value for name, value in os.environ.items() if name not in ("CC", "CFLAGS", "AR")}
    environment["CARGO_TARGET_DIR"] = os.path.abspath(cargo)
    environment["PATH"] = folder + ":" + environment["PATH"]
    flags = [] if CPU == "x86_64" else ["--config", 'build.rustflags=["-L%s"]' % core()]
    run("cargo", "build", "--offline", "--release", "--target=" + TARGET, *flags, cwd=HERE + "example",
        env=environment)
    objects = []
    for source in SOURCES:
        objects.append("%s/%s.o" % (WORK, source.replace("/", "-")))
        run(CROSS + "gcc", *FLAGS, *CPU_FLAGS, "-c", source, "-o", objects[-1])
    linker_script()
    image = WORK + "/kernel.elf"
    run(CROSS + "gcc", *LINK, "-L" + WORK, "-Tport/baremetal/%s/machine.ld" % FOLDER, *objects,
        "%s/%s/release/libexample.a" % (cargo, TARGET), "-o", image)
    run("build/tools/sfu-gen", "-q", "--strict", image)
    run("build/tools/sfu-gen", "-q", "--check", "--strict", image)
    return image


def functions(image):
    """Addresses and names, in order. The image's start is the first function's."""
    lines = [line.split() for line in run(CROSS + "nm", image).splitlines()]
    return sorted((int(words[0], 16), words[2]) for words in lines
                  if len(words) == 3 and words[1] in "tTW" and words[2] != "image_start" and words[2][0] != "$")


def plain(name):
    """Newer compilers put the panic handler into a namespace."""
    return re.sub("^_R.*(rust_begin_unwind)$", r"\1", name)


def line_of(text):
    lines = read(HERE + "example/src/lib.rs").splitlines()
    found = [number for number, line in enumerate(lines, 1) if line.strip() == text]
    must(len(found) == 1, "%d lines are %s" % (len(found), text))
    return found[0]


def compare_frames(functions_found, pcs, wanted):
    """Names of the functions that PCS are in: in order those WANTED, and between them the crate's and core's."""
    starts = [start for start, _ in functions_found]
    names = [plain(functions_found[bisect.bisect_left(starts, int(pc, 16)) - 1][1]) for pc in pcs]
    must([name for name in names if name in wanted] == wanted, "the frames are " + " ".join(names))
    others = [name for name in names if name not in wanted]
    must(all("core" in name or "sfu" in name for name in others), "frames of nobody: " + " ".join(others))
    return names


def compare(image, printed):
    found = functions(image)
    compare_frames(found, re.findall(r"^at 0x([0-9a-f]+)$", printed, re.M), WALKED)
    must("\nthe outermost frame\n" in printed, "the walk has not come to its end")
    at_line = line_of("of[index]")
    must(re.search(r"^panicked at .*src/lib\.rs:%d:" % at_line, printed, re.M), "no line %d is said" % at_line)
    must("index out of bounds: the len is 3 but the index is 3" in printed, "no reason is said")
    names = compare_frames(found, re.findall(r"^#[0-9]+ +0x([0-9a-f]+)", printed, re.M), FRAMES)
    must(any("core" in name for name in names), "no frame is the core library's: " + " ".join(names))
    must(not any("sfu" in name or "rust_begin_unwind" in name for name in names), "not left out: " + " ".join(names))
    must("\ntrace ends (1): " in printed, "the trace is not complete")
    return names


def compare_lines(image, names):
    """What sfu-trace says of the log."""
    said = run("build/tools/sfu-trace", "--log=" + WORK + "/log", image)
    frames = re.split(r"^#[0-9]+ .*\n", said, flags=re.M)[1:]
    must(len(frames) == len(names), "sfu-trace says %d frames of %d" % (len(frames), len(names)))
    lines = {"element": "of[index]", "sum": "all += element(of, i) & 1;", "rust_main": 'u32::from(sum(b"abc", 4)) + 1'}
    for name, text in lines.items():
        frame, wanted = frames[names.index(name)], "%s at src/lib.rs:%d\n" % (name, line_of(text))
        must(wanted in frame, "%s is not in what sfu-trace says: %s" % (wanted, frame))


def boot(image):
    printed = run(*QEMU, "-nodefaults", "-no-reboot", "-display", "none", "-kernel", image, status=CRASHED,
                  timeout=TIME_LIMIT)
    write(WORK + "/log", printed)
    names = compare(image, printed)
    compare_lines(image, names)
    return "%d frames" % len(names)


def build_and_boot(folder):
    return boot(build(folder))


test("the manual's lines, " + CPU, manual)
for version, where in compilers():
    test("a panic in Rust by %s, %s" % (version, CPU), build_and_boot, where)
finish()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""applications.py CPU TOOLS DIRECTORY SFU-TRACE SFU-LINT: boots DIRECTORY/app.efi by EDK II in QEMU and judges the
traces that it prints. The functions are written from main.c by hand. Prints a line for each test. Where there is no
DIRECTORY/app.so, a linker of PE files has made app.efi, and it has symbols and debug information itself."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import Wrong, finish, must, test  # noqa: E402

CPU, TOOLS, DIRECTORY, TRACE, LINT = sys.argv[1:]
IS_PE = not os.path.exists(DIRECTORY + "/app.so")
IMAGE = DIRECTORY + ("/app.efi" if IS_PE else "/app.so")
LIMIT = 180  # seconds for a boot: a hang is a failure
QEMU = {
    "x86_64": ["qemu-system-x86_64", "-M", "pc", "-bios", "/usr/share/ovmf/OVMF.fd"],
    "aarch64": ["qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a57", "-bios",
                "/usr/share/qemu-efi-aarch64/QEMU_EFI.fd"],
}
LOADED = {"x86_64": "BOOTX64.EFI", "aarch64": "BOOTAA64.EFI"}
FAULT = ["read_at", "sum_of", "sum_of", "sum_of", "efi_main", "efi_start"]
CALL_PATH = ["give_up", "check", "efi_main", "efi_start"]


def output_of(*command, **more):
    return subprocess.run(command, capture_output=True, check=True, timeout=LIMIT, text=True, errors="replace",
                          **more).stdout


def boot():
    """The lines that the application has printed."""
    disk = DIRECTORY + "/disk"
    os.makedirs(disk + "/EFI/BOOT", exist_ok=True)
    shutil.copy(DIRECTORY + "/app.efi", "%s/EFI/BOOT/%s" % (disk, LOADED[CPU]))
    command = [*QEMU[CPU], "-m", "256M", "-nodefaults", "-display", "none", "-serial", "stdio", "-no-reboot",
               "-drive", "if=none,id=d,format=raw,file=fat:rw:" + disk, "-device", "virtio-blk-pci,drive=d"]
    text = output_of(*command, stdin=subprocess.DEVNULL).replace("\r", "")
    must("call path\n" in text, "not started: " + text[-300:])
    return text[text.index("call path\n"):].splitlines()


def part(name):
    """The lines of one trace: [(number, PC, marks)], and the code that has ended it. The image lies at its slide."""
    lines = log[log.index(name) + 1:]
    slide = int(re.fullmatch(r"slide 0x([0-9a-f]+)", lines[0])[1], 16)
    frames = []
    for line in lines[1:]:
        frame = re.fullmatch(r"#(\d+) +0x([0-9a-f]{16})(.*)", line)
        if not frame:
            break
        frames.append((int(frame[1]), int(frame[2], 16) - slide, frame[3].strip()))
    end = re.match(r"trace ends \((-?\d+)\): ", lines[1 + len(frames)])
    must(end and [number for number, _, _ in frames] == list(range(len(frames))), lines[:20])
    return slide, frames, int(end[1])


def functions():
    """{name: (start, end)}, by nm. COFF symbols have no size: there a function ends where the next symbol is."""
    if IS_PE:
        found = re.findall(r"(?m)^([0-9a-f]+) \w (\w+)$", output_of(TOOLS + "/nm", "-n", IMAGE))
        return {name: (int(start, 16), int(end, 16)) for (start, name), (end, _) in zip(found, found[1:])}
    found = re.findall(r"(?m)^([0-9a-f]+) ([0-9a-f]+) \w (\w+)$", output_of(TOOLS + "/nm", "-S", IMAGE))
    return {name: (int(start, 16), int(start, 16) + int(size, 16)) for start, size, name in found}


def check(frames, wanted, first_exact):
    for (number, pc, marks), name in zip(frames, wanted):
        low, high = functions()[name]
        lookup = pc - (number > 0 or not first_exact)
        must(low <= lookup < high, "frame %d: 0x%x is not in %s" % (number, pc, name))
        must(marks == "", "frame %d: %s" % (number, marks))


def complete(frames, wanted, end):
    """The entry in assembly is marked as outermost. The firmware calls that in C, of a PE file; without CFI the code
    says that it does not return, and so the trace ends there."""
    must((len(frames) == len(wanted) and end == 1) or (IS_PE and len(frames) == len(wanted) + 1 and end < 0),
         "%s, %d" % (frames, end))


def call_path():
    slide, frames, end = part("call path")
    complete(frames, CALL_PATH, end)
    must(slide != 0, "no slide")
    check(frames, CALL_PATH, True)
    return "%d frames, the image at 0x%x" % (len(frames), slide)


def callback():
    """Its caller is the firmware, of which there are no tables."""
    _, frames, end = part("callback")
    must(len(frames) == 2 and end < 0, "%s, %d" % (frames, end))
    check(frames[:1], ["tick"], True)
    must(not any(low <= frames[1][1] < high for low, high in functions().values()), "its caller is no function of ours")


def fault():
    _, frames, end = part("fault")
    complete(frames, FAULT, end)
    check(frames, FAULT, True)
    code = output_of(TOOLS + "/objdump", "--no-show-raw-insn", "--disassemble=read_at", IMAGE)
    load = re.search(r"(?m)^ +%x:\t(.*)$" % frames[0][1], code)
    must(load and re.match(r"mov +(\(%\w+\)|0xf+0),|ldu?r\t", load[1]), "not the instruction that reads: %s" % load)
    return "%d frames" % len(frames)


def names():
    """sfu-trace finds the functions and lines of the log by the image's own debug information, or that of the ELF file
    of the same link."""
    text = output_of(TRACE, IMAGE, input="\n".join(log[log.index("fault"):]) + "\n")
    found = re.findall(r"(?m)^        (\w+) at \S*(?:main|pe)\.c:\d+$", text)
    must(found == (FAULT if IS_PE else FAULT[:-1]), text)


def tables():
    """The PE file has the tables of the ELF file, at their address."""
    output_of(LINT, DIRECTORY + "/app.efi")
    if IS_PE:
        return None
    other = DIRECTORY + "/tables"
    for image, name in ((IMAGE, "/elf"), (DIRECTORY + "/app.efi", "/pe")):
        output_of(TOOLS + "/objcopy", "-O", "binary", "-j", ".sfu_sframe", image, other + name[1:])
    with open(other + "elf", "rb") as elf, open(other + "pe", "rb") as pe:
        made = elf.read()
        must(made[:2] in (b"\xe2\xde", b"\xde\xe2") and pe.read().startswith(made), "not the same tables")
    return "%d bytes" % len(made)


log, problem = [], None
try:
    log = boot()
except (Wrong, OSError, subprocess.SubprocessError) as wrong:
    problem = wrong


def boots():
    must(problem is None, str(problem))


for name, function in (("boots", boots), ("call path", call_path), ("callback of the firmware", callback),
                       ("fault", fault), ("names", names), ("tables", tables)):
    test("%s %s%s" % (CPU, "PE, added, " if DIRECTORY.endswith("-added") else "PE, " if IS_PE else "", name), function)
finish()

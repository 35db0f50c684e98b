#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""linked.py CPU DIRECTORY: kernels in Rust, built by cargo alone with `linker = "sfu-link"` (linked/), print right and
complete traces: of a fault in Rust, and of a panic in core in the handler of the fault. Start-up code and entries are
those of sfu-link's kernels in C. Prints a line for each test."""
import os
import re
import sys

sys.path.insert(0, "test/lib")
from booted import boot, traces  # noqa: E402
from check import finish, must, run, test  # noqa: E402

CPU, WORK = sys.argv[1], os.path.abspath(sys.argv[2])
ROOT = os.getcwd()
HERE = os.path.abspath("port/rust/test")
ZERO = os.path.abspath("port/host/test/zero")
# The target, where the image lies, QEMU.
CPUS = {
    "x86_64": ("x86_64-unknown-linux-gnu", 0x100000,
               ["qemu-system-x86_64", "-bios", "qboot.rom", "-debugcon", "stdio"]),
    "aarch64": ("aarch64-unknown-linux-gnu", 0x40080000,
                ["qemu-system-aarch64", "-M", "virt", "-cpu", "max", "-serial", "stdio"]),
    "riscv64": ("riscv64gc-unknown-none-elf", 0x80000000,
                ["qemu-system-riscv64", "-M", "virt", "-bios", "none", "-serial", "stdio"]),
}
TARGET, IMAGE, QEMU = CPUS[CPU]
MACHINE = "riscv" if CPU == "riscv64" else CPU
ENTRY = {"x86_64": "invalid_entry", "aarch64": "sync_entry", "riscv64": "trap_entry"}[CPU]
# The functions of each trace; between them lie those of core and of the crate. main.rs is the truth.
START = ["outer", "kernel_main", "boot64" if CPU == "x86_64" else "start"]
FAULT = ["leaf", *START]
PANIC = ["element", "handle", ENTRY, "leaf [interrupted]", *START]


def prepare():
    """The kernel's assembly and its linker script, which has nothing of sfu."""
    os.makedirs(WORK, exist_ok=True)
    run("gcc", "-E", "-P", "-x", "assembler-with-cpp", "-D__riscv_xlen=64", "%s/%s.S" % (ZERO, MACHINE), "-o",
        WORK + "/boot.s")
    with open(ZERO + "/plain.ld", encoding="ascii") as f:
        text = f.read().replace("IMAGE", "0x%x" % IMAGE)
    with open(WORK + "/kernel.ld", "w", encoding="ascii") as f:
        f.write(text)


def build(profile):
    """The kernel by Debian's cargo; its core library is compiled, or fetched, for other CPUs."""
    environment = {"BOOT": WORK + "/boot.s", "CARGO_TARGET_DIR": WORK + "/cargo",
                   "PATH": os.path.abspath("build/tools") + ":" + os.environ["PATH"]}
    flags = ["-Clink-arg=-T%s/kernel.ld" % WORK]
    if CPU != "x86_64":
        flags.append("-L" + os.path.abspath(run(HERE + "/core.sh", CPU)[0].strip()))
    os.chdir(HERE + "/linked")
    try:
        run("env", "-u", "CC", "-u", "AR", *("%s=%s" % pair for pair in environment.items()), "cargo", "build",
            "--offline", "--target=" + TARGET, "--config", CPU + ".toml",
            "--config", "target.%s.rustflags=%s" % (TARGET, flags), *profile)
    finally:
        os.chdir(ROOT)
    return "%s/cargo/%s/%s/linked" % (WORK, TARGET, "release" if profile else "debug")


def kernel(*profile):
    found = traces(boot([*QEMU, "-m", "128M"], build(profile)))
    must(len(found) == 2, str(found))
    for (frames, end), wanted in zip(found, [FAULT, PANIC]):
        own = [frame for frame in frames if not re.search("_R|_ZN|^rust_begin|^sfu_rust", frame)]
        must(own == wanted and end == 1, "%s, %d" % (frames, end))
    return "%d frames" % sum(len(frames) for frames, _ in found)


prepare()
test(CPU + ": cargo build --release", kernel, "--release")
test(CPU + ": cargo build", kernel)
finish()

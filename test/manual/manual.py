#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""manual.py blocks DIRECTORY: writes the examples of README.md and of the pages of docs/ that are compiled.
manual.py test TC DIRECTORY: what README.md, the pages of docs/ and the headers say is so. TC has the binutils, a
directory for each CPU; DIRECTORY has the examples in blocks/, and a kernel with them for each CPU.
manual.py numbers: writes each number of the pages that has a mark (figures.py) as it must be, and names the pages.
manual.py faults DIRECTORY N: N faults in each block of code, 0: all; in a copy of the tree in DIRECTORY, where the
suite that runs the block has to notice each. T: those whose names have it."""
import os
import re
import shutil
import subprocess
import sys

import examples
import figures
import truth
from common import BOOTED, block, blocks, finish, must, read, test


def own_entry(cpu, with_row):
    """boot.S of CPU, where exception entries have no tables but that of the recipe, or none at all."""
    text = read(f"port/baremetal/{'riscv' if cpu == 'riscv64' else cpu}/boot.S")
    text, count = re.subn(r"(?s) +sfu_trap_begin.*?sfu_trap_end\n", "", text)
    must(count in (1, 2), f"{count} tables in boot.S of {cpu}")
    saved = "program_saved" if cpu == "s390x" else "exception_saved"
    call = f"{saved}:\n" + block("file:", "handler_call.S")
    text, count = re.subn(rf"{saved}:\n.* kernel_trap\n", lambda m: call, text)
    must(count == 1, f"the handler's call in boot.S of {cpu}")
    return '#include "handler.h"\n' + text + with_row * ("    .text\n" + block("file:", "handler_row.S"))


def write_blocks(directory):
    files = {name: block("file:", name) for name in ("threads.c", "threads.h", "switch.S", "walk.c", "hook.c")}
    files["example.c"] = block("example")
    for cpu in BOOTED:
        files[f"entry_row-{cpu}.S"], files[f"entry_hook-{cpu}.S"] = own_entry(cpu, True), own_entry(cpu, False)
    for name, text in files.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write(text)


def tests():
    """(name, function) of each; every module's test_..."""
    for module in (examples, truth):
        for name, one in sorted(vars(module).items()):
            if name.startswith("test_"):
                yield name[5:].replace("_", " "), one
    for cpu in BOOTED:
        for scenario in sorted({*examples.traces(cpu), *examples.KERNELS}):
            yield f"boot {scenario}, {cpu}", examples.boots(cpu, scenario)


# ---- faults ----

# What runs a block: its mark, and the targets of make that have to notice a fault. Where there is none: suite-manual.
RUN_BY = {
    "run: own": "gen", "run: gen": "gen", "file: room.ld": "gen", "file: last.ld": "gen", "run: flags": "flags",
    "run: clang": "clang", "run: lto": "lto", "run: link": "link", "file: sframe.ld": "link", "run: insert": "insert",
    "file: insert.ld": "insert", "run: efi": "efi", "file: entry.S": "flags", "file: walkable.S": "walkable",
    "file: kernel.c": "boots", "file: dump.c": "dump", "file: build_id.ld": "symbols",
    "file: crash.ld": "symbols", "run: symbols": "symbols", "run: instrument": "instrument",
    "file: part_record": "parts", "file: part_build": "parts", "file: part_cycles": "parts", "file: part_trap": "parts",
    "file: part_calls": "parts", "file: part_sym": "parts",
    "file: cortexm_started": "cortexm_link", "run: cortexm_link": "cortexm_link",
    "file: cortexm": "cortexm", "run: cortexm": "cortexm",
    "ten": "lines",
}
# Changes that leave a block right: options that any build or boot may do without, the name that an object has anyway,
# room that is more than enough, what objects for LTO keep of their options, and a header that a kernel's own includes.
HARMLESS = r"'-(?:ffreestanding|fomit-frame-pointer|O2|Wl,--gc-sections)' as|'(?:0|8|64)' as|" \
    r"'-o' as '' in '.* -c (\w+)\.[cS] -o \1\.o'|'-(?:flto|fasync\S+|fpic)' as '' in '.* -nostdlib |" \
    r"'-I.YOURS'|'-no-reboot'|#include \"sfu_arch.h\""


def targets(mark, file):
    name = next((test for begins, test in RUN_BY.items() if mark.startswith(begins)), None)
    if file == "port/build/README.md":
        return ["suite-build"]
    if mark.startswith("boot:"):
        return [f"suite-bare-{mark.split()[1]}", "T=*/readme"]
    return ["suite-recipes", f"T=*{name}"] if name else ["suite-manual"]


def changes(kind, text):
    """(what is done, the block with it): each line without which it is wrong, option, number and symbol"""
    lines = text.splitlines(keepends=True)
    for n, line in enumerate(lines):
        if re.search(r"\w", line) and not re.match(r" *(?:/\*| \*|#.*---|\(void\))", line):
            yield f"without '{line.strip()}'", "".join(lines[:n] + lines[n + 1:])
    words = {"sh": r" -[\w-]\S*", "ld": r"\b\w*s(?:tart|_end)\b|\b[A-Z]+\b|\b\d+\b"}
    for m in re.finditer(words.get(kind, r"(?!)"), text):
        with_it = "" if kind == "sh" else f"{int(m[0]) // 2}" if m[0].isdigit() else m[0] + "x"
        line = text[text.rfind("\n", 0, m.start()) + 1:text.find("\n", m.start())].strip()
        yield f"'{m[0].strip()}' as '{with_it}' in '{line}'", text[:m.start()] + with_it + text[m.end():]


def faults(directory, number):
    tree, chosen = os.path.join(directory, "tree"), os.environ.pop("T", "")
    shutil.rmtree(tree, ignore_errors=True)
    for file in subprocess.run(["git", "ls-files"], text=True, stdout=subprocess.PIPE, check=True).stdout.splitlines():
        os.makedirs(os.path.dirname(os.path.join(tree, file)), exist_ok=True)
        shutil.copy(file, os.path.join(tree, file))
    os.makedirs(tree + "/build")
    os.symlink(os.path.realpath("build/tc"), tree + "/build/tc")
    os.environ.pop("MAKEFLAGS", None)
    failed = False
    for mark, kind, text, file in list(blocks()):
        mark, page = " ".join(mark), read(file)
        found = list(changes(kind, text))
        for what, changed in found[::max(1, len(found) // number) if number else 1]:
            name = f"{file}, {mark}: {what}"
            if chosen not in name or re.search(HARMLESS, what):
                continue
            must(page.count(text) == 1, f"{file}: '{text[:40]}' is there more than once")
            with open(os.path.join(tree, file), "w", encoding="utf-8") as f:
                f.write(page.replace(text, changed))
            done = subprocess.run(["make", "-s", *targets(mark, file)], cwd=tree, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            print(f"not ok {name}: nobody notices" if done.returncode == 0 else f"ok {name}", flush=True)
            failed = failed or done.returncode == 0
        shutil.copy(file, os.path.join(tree, file))
    return failed


def main():
    if sys.argv[1] == "faults":
        return faults(sys.argv[2], int(sys.argv[3]))
    if sys.argv[1] == "numbers":
        for page in truth.MARKED:
            text = read(page)
            now = figures.written_anew(page, text)
            if now != text:
                with open(page, "w", encoding="utf-8") as f:
                    f.write(now)
                print(page)
        return 0
    if sys.argv[1] == "blocks":
        write_blocks(sys.argv[2])
        return 0
    for name, function in tests():
        test(name, function, sys.argv[2], sys.argv[3])
    return finish()


if __name__ == "__main__":
    sys.exit(main())

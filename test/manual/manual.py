#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""manual.py blocks DIRECTORY: writes the examples of README.md and of the pages of port/ that are compiled.
manual.py test TC DIRECTORY: what README.md, the pages of port/ and the headers say is so. TC has the binutils, a
directory for each CPU; DIRECTORY has the examples in blocks/, and a kernel with them for each CPU."""
import os
import re
import sys

import examples
import truth
from common import CPUS, Wrong, block, must, read


def own_entry(cpu, with_row):
    """boot.S of CPU, where exception entries have no tables but that of the recipe, or none at all."""
    text = read(f"port/baremetal/{cpu}/boot.S")
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
    for cpu in CPUS:
        files[f"entry_row-{cpu}.S"], files[f"entry_hook-{cpu}.S"] = own_entry(cpu, True), own_entry(cpu, False)
    for name, text in files.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write(text)


def tests():
    """(name, function) of each; every module's test_..."""
    for module in (examples, truth):
        for name, test in sorted(vars(module).items()):
            if name.startswith("test_"):
                yield name[5:].replace("_", " "), test
    for cpu in CPUS:
        for scenario in sorted({*examples.traces(cpu), *examples.KERNELS}):
            yield f"boot {scenario}, {cpu}", examples.boots(cpu, scenario)


def main():
    if sys.argv[1] == "blocks":
        write_blocks(sys.argv[2])
        return 0
    failed = False
    for name, test in tests():
        try:
            test(sys.argv[2], sys.argv[3])
            print(f"ok {name}")
        except (Wrong, OSError, ValueError, LookupError, TypeError, StopIteration) as wrong:
            failed = True
            print(f"not ok {name}: {wrong!r}".replace("\n", " "))
    return failed


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""manual.py blocks DIRECTORY: writes the examples of README.md and of the pages of port/ that are compiled.
manual.py test TC DIRECTORY: what README.md, the pages of port/ and the headers say is so. TC has the binutils, a
directory for each CPU; DIRECTORY has the examples in blocks/, and a kernel with them for each CPU."""
import os
import sys

import examples
import truth
from common import CPUS, Wrong, block


def write_blocks(directory):
    for words, name in ((("example",), "example.c"), (("file:", "threads.c"), "threads.c"),
                        (("file:", "threads.h"), "threads.h"), (("file:", "switch.S"), "switch.S")):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write(block(*words))


def tests():
    """(name, function) of each; every module's test_..."""
    for module in (examples, truth):
        for name, test in sorted(vars(module).items()):
            if name.startswith("test_"):
                yield name[5:].replace("_", " "), test
    for cpu in CPUS:
        for scenario in examples.traces(cpu):
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

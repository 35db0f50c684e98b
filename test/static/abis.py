#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""abis.py [HEADER]: each ABI of HEADER (sfu.h) is in each place that docs/adding-an-abi.md names, and no place is named
that does not exist."""
import os
import re
import sys

PAGE = "docs/adding-an-abi.md"
SECOND = {"SFU_AARCH64_BIG": "SFU_AARCH64"}  # a byte order of another one, whose CPU is named where the other is


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def tables(page):
    """The ABIs, and the places: the cells of each row."""
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in page.splitlines()
            if line.startswith("| `")]
    return [row for row in rows if len(row) == 4], [row for row in rows if len(row) == 3]


def has(text, word):
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(word)}(?![A-Za-z0-9_])", text) is not None


def is_there(abi, number, place):
    name, cpu, folder, macro = abi
    path, what = place[0].replace("*", folder), place[1]
    if not os.path.exists(path):
        return False
    if what == "number":
        return number < 0x81 or has(text_of(path), f"0x{number:x}")
    if what == "CPU" and name in SECOND:
        return True
    if what == "CPU" and has(text_of(path), name[4:].lower()):
        return True
    return what == "file" or has(text_of(path), {"ABI": name, "CPU": cpu, "macro": macro}[what])


def main():
    header = text_of(sys.argv[1] if len(sys.argv) > 1 else "sfu.h")
    enum = re.search(r"enum sfu_abi \{(.*?)\}", header, re.S)[1]
    numbers = {name: int(value, 0) for name, value in re.findall(r"(SFU_\w+) = (\w+)", enum)}
    abis, places = tables(text_of(PAGE))
    known = {abi[0]: abi for abi in abis}
    failed = len(numbers) < 4 or len(places) < 10
    for name in sorted(set(numbers) ^ set(known)):
        print(f"not ok {name}: {'sfu.h' if name in known else PAGE} lacks it")
        failed = True
    for name, number in numbers.items():
        lacks = [place[0].replace("*", known[name][2]) for place in places
                 if name in known and not is_there(known[name], number, place)]
        for path in lacks:
            print(f"not ok {name}: {path} lacks it ({PAGE})")
        failed = failed or bool(lacks)
        if name in known and not lacks:
            print(f"ok {name}: {len(places)} places")
    return failed


if __name__ == "__main__":
    sys.exit(main())

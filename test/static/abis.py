#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Each ABI of sfu.h is in each place that docs/adding-an-abi.md names, and no place is named that does not exist.
Each paragraph of docs/format.md has a vector, but for those that the page names."""
import os
import re
import sys

PAGE = "docs/adding-an-abi.md"
FORMAT = "docs/format.md"
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
    return what == "file" or has(text_of(path), {"ABI": name, "CPU": cpu, "macro": macro,
                                                       "bits": name + "_ADDR_BITS"}[what])


def judge(header):
    """Yields a line for each ABI of HEADER, the text of sfu.h: "ok", or what lacks it."""
    enum = re.search(r"enum sfu_abi \{(.*?)\}", header, re.S)[1]
    numbers = {name: int(value, 0) for name, value in re.findall(r"(SFU_\w+) = (\w+)", enum)}
    abis, places = tables(text_of(PAGE))
    known = {abi[0]: abi for abi in abis}
    if len(numbers) < 4 or len(places) < 10:
        yield f"not ok {PAGE}: {len(numbers)} ABIs, {len(places)} places"
    for name in sorted(set(known) - set(numbers)):
        yield f"not ok {name}: sfu.h lacks it"
    for name in sorted(set(numbers) - set(known)):
        yield f"not ok {name}: {PAGE} lacks it: add its row to the table of ABIs first"
        for place in places:
            if place[1] in ("ABI", "bits", "number") and not is_there((name, "", "", ""), numbers[name], place):
                yield f"not ok {name}: {place[0]} lacks it ({PAGE})"
    for name in sorted(set(numbers) & set(known)):
        lacks = [place[0].replace("*", known[name][2]) for place in places
                 if not is_there(known[name], numbers[name], place)]
        for path in lacks:
            yield f"not ok {name}: {path} lacks it ({PAGE})"
        if not lacks:
            yield f"ok {name}: {len(places)} places"


def judge_format(page, vectors):
    """The same for each paragraph of PAGE, whose numbers the lines "spec" of VECTORS have."""
    paragraphs = re.findall(r"^\*\*(\d+\.\d+) ", page, re.M)
    said = re.search(r"have none: ([\d., and\n]*\d)", page)
    without = set(re.findall(r"\d+\.\d+", said[1])) if said else set()
    cited = set(re.findall(rf"^spec V3 {FORMAT} (\d+\.\d+) ", vectors, re.M))
    if len(paragraphs) < 20 or len(paragraphs) != len(set(paragraphs)):
        yield f"not ok {FORMAT}: {len(paragraphs)} paragraphs"
    wrong = sorted((cited ^ set(paragraphs)) ^ without)
    yield f"{'not ok' if wrong else 'ok'} {FORMAT}: {' '.join(['a vector by paragraph', *wrong])}"


def main():
    header = text_of("sfu.h")
    lines = list(judge(header))
    one_more = header.replace("enum sfu_abi {", "enum sfu_abi { SFU_NEW = 0xf7,", 1)
    lacks = [line for line in judge(one_more) if line.startswith("not ok SFU_NEW: ")]
    noticed = all(any(f"{path} lacks it" in line for line in lacks) for path in (PAGE, "sfu.c", "docs/format.md"))
    lines.append(f"{'ok' if noticed else 'not ok'} an ABI that is nowhere else is noticed")
    page, vectors = text_of(FORMAT), "".join(
        text_of(f"test/vectors/{name}.txt") for name in ("riscv", "arm", "i386"))
    lines += judge_format(page, vectors)
    more = list(judge_format(page + "\n**2.99 New.** It is.\n", vectors))
    noticed = any("2.99" in line for line in more)
    lines.append(f"{'ok' if noticed else 'not ok'} a paragraph without a vector is noticed")
    print("\n".join(lines))
    return any(line.startswith("not ok") for line in lines)


if __name__ == "__main__":
    sys.exit(main())

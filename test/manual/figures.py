# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Where the numbers of the pages come from.

A mark on the line behind a paragraph, a list or a table says of each of its numbers, in their order, what it must be:

    The core takes 7,309 bytes, and a trace has at most 4,096 frames.
    <!-- numbers: budget x86_64 Os text; constant sfu.h SFU_MAX_FRAMES -->

The words are a function of this file and its arguments. "-" stands for a number that nothing measures: a date, a
register's width, an example. "KB" in front means that the page has thousands of bytes, with one digit behind the point.
"measured" in front of all words, and then the command or the way, stands for all numbers of a paragraph or a table that
are recorded figures: make suites and campaigns, which write or compare them, do not run here.
Numbers in code, in links and in names such as "gcc 12" or "version 3" are not counted. The sentence is free.

Figures have one form on all pages: from 1,000 on with commas, and where they are measured the command that measures
them stands in the same section or in the head of the page, or that section links docs/performance.md, which has it.
"""
import functools
import re
import subprocess

from common import read

# A name with its number: of a tool, or of a version.
NAMES = (r"\b(?:as|ld|[Gg]cc|[Cc]lang|[Bb]inutils|Debian|[Rr]ustc|LLVM|lld|mold|gold|Linux|SFrame|DWARF|QEMU|glibc|"
         r"[Vv]ersions?)\s\d(?:[\d.]*\d)?\b")


# ---- what a number must be ----

def budget(cpu, level, *what, compiler="gcc12"):
    """a line of test/tools/gates/budget.txt, whole"""
    m = re.search(rf"^{compiler} {cpu} {level} {' '.join(what)} ([\d.]+)$", read("test/tools/gates/budget.txt"), re.M)
    return round(float(m[1]))


def cell(page, row, column):
    """of a table of PAGE, as it is written: of the row that begins so, and of the column with that heading ("+" is a
    space)"""
    row, column = row.replace("+", " "), column.replace("+", " ")
    heads = []
    for line in read(page).splitlines():
        cells = [cell.strip().replace("`", "") for cell in line.split("|")[1:-1]]
        if column in cells:
            heads = cells
        elif heads and cells and cells[0] == row:
            return cells[heads.index(column)]
    raise LookupError(f"{page} has no '{row}', '{column}'")


def table(page, row, column):
    """such a cell as a number"""
    return float(cell(page, row, column).replace(",", ""))


def switches(row, column):
    return table("test/tools/gates/SWITCHES.md", row, column)


def stack(cpu):
    """bytes of stack of a whole panic"""
    found = re.search(rf"^\| {cpu} \| `-Os` \| [\d,]+ \| ([\d,]+)", read("test/tools/gates/SWITCHES.md"), re.M)[1]
    return int(found.replace(",", ""))


def smaller(cpu):
    """by how many percent of -O2 the core is smaller by -Os"""
    row = "sfu.c,+without+switches"
    by_o2 = switches(row, f"{cpu}+-O2")
    return int(100 * (by_o2 - switches(row, f"{cpu}+-Os")) // by_o2)


def bench(walker, column):
    """of sqlite's stacks: a figure of a walker"""
    return cell("test/tools/bench/RESULTS.md", walker, column)


def real(cpus, which):
    """the least or the most lines that sfu took in a real program with so many CPUs"""
    lines = re.findall(rf"^\| [^|]+ \| {cpus} \| (\d+)(?: / \d+)? \|", read("test/real/RESULTS.md"), re.M)
    return {"least": min, "most": max}[which](map(int, lines))


def cost(column, cpu, which):
    """the least or the most percent of a column (counted from 1) of what tables cost real programs"""
    rows = [[cell.strip() for cell in line.split("|")] for line in read("test/tools/cost/RESULTS.md").splitlines()]
    figures = [re.search(r"([\d.]+)%$", row[int(column)]) for row in rows if len(row) > int(column) and row[2] == cpu]
    return {"least": min, "most": max}[which](float(m[1]) for m in figures if m)


def constant(file, name):
    """of a #define, or of a sentence: "NAME N" """
    return int(re.search(rf"\b{name} +(\d+)", read(file))[1])


def errors():
    """codes of sfu.h"""
    return len(re.findall(r"^ +SFU_E_\w+ = -", read("sfu.h"), re.M))


def mutants():
    """ways in which `make prove-mutants` breaks the code"""
    return len(re.findall(r"^[\w-]+ +\|", read("test/mutants/prove"), re.M))


def code(name):
    """the number of a code of sfu.h"""
    return int(re.search(rf"^ +{name} = (-?\d+)", read("sfu.h"), re.M)[1])


def symbols(which):
    """a number of what sfu_symbols.h says that a table takes"""
    said = re.search(r"A table takes about (.*?--plain \d+ and \d+)", read("port/symbols/sfu_symbols.h"), re.S)[1]
    return int(re.findall(r"\d+", said.replace(",", ""))[int(which)])


def version():
    """of sfu.h: major.minor"""
    number = constant("sfu.h", "SFU_VERSION")
    return f"{number // 10000}.{number // 100 % 100}"


def gib():
    """from how many GiB on tables are refused"""
    return int(re.search(r"tables are (\d+) GiB", read("sfu.h"))[1])


MAKERS = {f.__name__: f for f in (budget, table, switches, stack, smaller, real, cost, constant, errors, mutants, gib,
                                  code, symbols, version, bench)}
# The command that measures what a maker reads.
COMMANDS = {"budget": "budget", "switches": "switches", "stack": "switches", "smaller": "switches", "cost": "cost",
            "real": "real", "bench": "bench"}


# ---- what the pages say ----

@functools.lru_cache(None)
def targets():
    """what make can make"""
    database = subprocess.run(["make", "-pqrR", "help"], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return set(re.findall(r"^([\w-]+):", database.stdout, re.M))


@functools.lru_cache(None)
def made(words):
    """what the words of a mark stand for: a number, or a string that must be written so"""
    name, *arguments = words.split()
    if name == "KB":
        return f"{made(' '.join(arguments)) / 1000:.1f}"
    return MAKERS[name](*arguments)


def right(said, words):
    """SAID, or what must be written in its place"""
    if words == "-":
        return said
    wanted = made(words)
    if isinstance(wanted, str):
        return wanted
    return said if float(said.replace(",", "")) == wanted else f"{wanted:,g}" if wanted < 1e6 else f"{int(wanted):,}"


# What is not counted. Marks come first: the lines of a mark may be as far right as those of code.
HIDDEN = (r"(?s)<!--.*?-->", r"(?ms)^ *```.*?^ *```$", r"(?m)^    [^|\n]*$", r"`[^`\n]*`", r"(?<=\])\([^)\s]*\)",
          r"(?m)^ *(?:\*\*)?\d+\. ", r"\b0x[0-9a-f]+", r"(?ms)^Contents: .*?\n$", r"https?://\S+", NAMES,
          r"(?m)^#+ .*$")
NUMBER = r"(?<![\w./^-])-?\d[\d,.]*"


# A number that lacks its commas, and is no year.
BARE = r"(?<![\w.,/^-])(?!20\d\d\b)\d{4,}(?!\d)"


def unlike(page, text):
    """figures of TEXT that have another form, and those whose command a reader does not find"""
    for m in re.finditer(BARE, hide(text)):
        yield f"{page}:{text.count(chr(10), 0, m.start()) + 1}: {m[0]} is written, and it is {int(m[0]):,}"
    head = re.search(r"(?ms)\A.*?(?=^## |\Z)", text)[0]
    for section in re.split(r"(?m)^(?=##+ )", text):
        seen = re.sub(r"(?s)<!--.*?-->", "", head + section)
        for mark in re.findall(r"(?s)<!-- numbers: (.*?) -->", section):
            names = set(re.findall(r"\bmake ([\w-]+)", mark)) if mark.startswith("measured ") else \
                {COMMANDS.get(words.replace("KB ", "").split()[0]) for words in mark.split(";")} - {None}
            for name in sorted(names):
                if f"make {name}" not in seen and "performance.md" not in seen:
                    where = re.match(r"#+ (.*)|", section)[1] or "head"
                    yield f"{page}, {where}: a reader does not see that make {name} measures the figures"


def hide(text):
    """TEXT with spaces for what is not counted"""
    for pattern in HIDDEN:
        text = re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    return text


def faults(page, text):
    """what is wrong with the numbers of TEXT, as sentences"""
    shown, begin = hide(text), 0
    for mark in [*re.finditer(r"(?s)<!-- numbers: (.*?) -->", text), None]:
        end = mark.start() if mark else len(text)
        line, paragraph = text.count("\n", 0, end) + 1, text.rfind("\n\n", 0, end) if mark else end
        found = [(m[0].rstrip(",."), begin + m.start()) for m in re.finditer(NUMBER, shown[begin:end])]
        own = [said for said, at in found if at > paragraph]
        for said, at in found[:len(found) - len(own)]:
            yield f"{page}:{text.count(chr(10), 0, at) + 1}: no mark says where {said} comes from"
        if mark:
            words = [" ".join(w.split()) for w in mark[1].split(";")]
            begin = mark.end()
            if words[0].startswith("measured "):
                for name in set(re.findall(r"\bmake ([\w-]+)", words[0])) - targets():
                    yield f"{page}:{line}: there is no make {name}"
                continue
            if len(own) != len(words):
                yield f"{page}:{line}: the mark speaks of {len(words)} numbers, not of these: {', '.join(own)}"
            for said, what in zip(own, words) if len(own) == len(words) else ():
                if right(said, what) != said:
                    yield f"{page}:{line}: {said} is written, and {right(said, what)} is so by: {what}"


def written_anew(page, text):
    """TEXT with each number that has a mark as it must be"""
    shown = hide(text)
    for mark in reversed(list(re.finditer(r"(?s)<!-- numbers: (?!measured )(.*?) -->", text))):
        begin = text.rfind("\n\n", 0, mark.start())
        found = [m for m in re.finditer(NUMBER, shown[:mark.start()]) if m.start() > begin]
        words = [" ".join(w.split()) for w in mark[1].split(";")]
        if len(found) == len(words):
            for m, what in reversed(list(zip(found, words))):
                said = m[0].rstrip(",.")
                text = text[:m.start()] + right(said, what) + text[m.start() + len(said):]
    return text

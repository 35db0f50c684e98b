#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""expand.py OUT FILE...: writes each FILE of vectors to OUT, a vector for each version, its section in bytes.

README.md says what the lines of both mean.
"""
import os
import re
import sys

ABIS = {"aarch64_be": (1, "aarch64, big-endian"), "aarch64": (2, "aarch64, little-endian"), "amd64": (3, "amd64"),
        "s390x": (4, "s390x"), "riscv64": (0x81, "riscv64"), "riscv32": (0x82, "riscv32"),
        "arm": (0x83, "arm"), "thumb": (0x84, "thumb"), "i386": (0x85, "i386")}
OWN = 0x81  # from here on ABIs of docs/format.md, which have another magic number
SORTED, FROM_FIELD = 1, 4
AT = 0x400000  # where a section lies if nothing is said

# The numbers of a header, an FDE, and an attribute, which lies in front of the rows: their names and sizes.
HEADER = (("magic", 2), ("version", 1), ("flags", 1), ("abi", 1), ("fp", 1), ("ra", 1), ("aux", 1), ("fdes", 4),
          ("rows", 4), ("row_bytes", 4), ("fde_offset", 4), ("row_offset", 4))
FDE = {1: (("start", 4), ("size", 4), ("rows_at", 4), ("rows", 4), ("info", 1)),
       2: (("start", 4), ("size", 4), ("rows_at", 4), ("rows", 4), ("info", 1), ("repeat", 1), ("padding", 2)),
       3: (("start", 8), ("size", 4), ("rows_at", 4))}
ATTRIBUTE = {1: (), 2: (), 3: (("rows", 2), ("info", 1), ("info2", 1), ("repeat", 1))}


def size_of(layout):
    return sum(size for _, size in layout)


def digits(value, size):
    """A number of SIZE bytes. What does not fit wraps, as addresses do."""
    return "%0*x" % (2 * size, value % (1 << 8 * size))


def noted(groups, note):
    return " %-36s ; %s" % (groups, note)


def count(number, what):
    return "%d %s%s" % (number, what, "" if number == 1 else "s")


class Function:
    """START, from the start of the section, SIZE, and numbers of the FDE that are not what they would be."""

    def __init__(self, start, size, *numbers):
        self.start, self.size = int(start, 16), int(size, 16)
        self.numbers = {name: int(value, 16) for name, value in (number.split("=") for number in numbers)}
        self.words = "%x" % self.numbers.pop("words", 1)
        self.rows = []  # groups of digits, and what the row says or ""

    def widen(self):
        """Its rows come once for each size of their words: of the digits in WORDS, equally far from each other."""
        rows, self.rows = self.rows, []
        for index, size in enumerate(int(digit) for digit in self.words):
            for groups, says in rows:
                start, info, *words = groups.split()
                if size > 1:
                    words = [digits(int(word, 16) - (int(word, 16) >> 7 << 8), size) for word in words]
                start = digits(int(start, 16) + self.size // len(self.words) * index, len(start) // 2)
                info = digits(int(info, 16) | size // 2 << 5, 1)
                self.rows.append((" ".join([start, info, *words]), says))


class Tables:
    """A header, FDEs and rows at offset AT of a section. WORDS: where they differ from those of most vectors."""

    def __init__(self, at, version, abi, *words):
        self.at, self.version, self.functions = at, version, []
        self.abi, self.abi_name = ABIS[abi]
        self.flags = SORTED if version == 1 else SORTED | FROM_FIELD
        self.extra = {"fp": 0, "ra": {"amd64": -8, "i386": -4}.get(abi, 0), "aux": 0, "gap": 0, "unused": 0}
        for name, _, value in (word.partition("=") for word in words):
            if value:
                self.extra[name] = int(value)
            else:
                self.flags &= ~{"unsorted": SORTED, "from-section": FROM_FIELD}[name]

    def lay_out(self):
        """Lines of digits, the size, and the offset, size and value of each number by its name."""
        self.numbers, fdes, rows, num_rows, num_listed = {}, [], [], 0, 0
        fdes_at = size_of(HEADER) + self.extra["aux"]
        rows_at = end = fdes_at + size_of(FDE[self.version]) * len(self.functions) + self.extra["gap"]
        for index, function in enumerate(self.functions):
            function.widen()
            prefix = "fde%d." % index
            at = fdes_at + size_of(FDE[self.version]) * index
            values = {"rows": len(function.rows), "rows_at": end - rows_at, "info": 0, "info2": 0, "repeat": 0,
                      "padding": 0, "size": function.size,
                      "start": function.start - (at if self.flags & FROM_FIELD else 0), **function.numbers}
            num_rows += values["rows"]
            fdes.append(self.place(prefix, at, FDE[self.version], values))
            if self.version == 3:
                rows.append(self.place(prefix, end, ATTRIBUTE[3], values))
                end += size_of(ATTRIBUTE[3])
            for groups, _ in function.rows:
                start = groups.split()[0]
                self.numbers["row%d" % num_listed] = (self.at + end, len(start) // 2, int(start, 16))
                num_listed += 1
                rows.append(noted(groups, self.row_note(groups)))
                end += len(groups.replace(" ", "")) // 2
        self.size = end + self.extra["unused"]
        header = self.lay_out_header(num_rows, self.size - rows_at, rows_at - fdes_at)
        return (header + self.unused("aux", "55", "auxiliary header") + fdes +
                self.unused("gap", "55", "belongs to nothing") + rows +
                self.unused("unused", "00", "behind the last row"))

    def place(self, prefix, at, layout, values):
        """The line of these numbers, which are at offset AT of the tables."""
        groups = []
        for name, size in layout:
            groups.append(digits(values[name], size))
            self.numbers[prefix + name] = (self.at + at, size, values[name])
            at += size
        return noted(" ".join(groups), "%s: %s" % (prefix[:-1], ", ".join(name for name, _ in layout)))

    def lay_out_header(self, num_rows, row_bytes, row_offset):
        magic = 0x5f75 if self.abi >= OWN else 0xdee2
        values = dict(self.extra, magic=magic, version=self.version, flags=self.flags, abi=self.abi, fde_offset=0,
                      fdes=len(self.functions), rows=num_rows, row_bytes=row_bytes, row_offset=row_offset)
        flags = [name for bit, name in ((SORTED, "sorted"), (FROM_FIELD, "starts count from their field"))
                 if self.flags & bit]
        fixed = ["fixed %s at CFA%+d" % (name.upper(), self.extra[name]) if self.extra[name] else
                 "no fixed " + name.upper() for name in ("fp", "ra")]
        self.place("", 0, HEADER, values)
        groups = [digits(values[name], size) for name, size in HEADER]
        return [noted(" ".join(groups[first:end]), note) for first, end, note in (
            (0, 3, "magic number, version %d, flags: %s" % (self.version, ", ".join(flags) or "none")),
            (3, 7, ", ".join([self.abi_name, *fixed, "auxiliary header of " + count(self.extra["aux"], "byte")])),
            (7, 10, "FDEs: %d, rows: %d, bytes of rows: %d" % (len(self.functions), num_rows, row_bytes)),
            (10, 12, "from the end of the header: FDEs at 0, rows at %d" % row_offset))]

    def unused(self, name, byte, note):
        return [noted(" ".join([byte] * self.extra[name]), note)] if self.extra[name] else []

    def row_note(self, groups):
        start, info = (int(group, 16) for group in groups.split()[:2])
        return "row from %x: %s base, %s%s of %s" % (
            start, "SP" if info & 1 else "FP", "signed RA, " if info & 0x80 and self.abi <= 2 else "",
            count(info >> 1 & 15, "word"), count(1 << (info >> 5 & 3), "byte"))

    def said(self, base):
        """What the rows say: each from its start to that of the next, or to the end of its function."""
        for function in self.functions:
            start = (base + self.at + function.start) % (1 << 64)
            starts = [int(groups.split()[0], 16) for groups, _ in function.rows] + [function.size]
            yield "function %x" % start
            for (_, says), first, end in zip(function.rows, starts, starts[1:]):
                if says:
                    yield "%x..%x %s" % (start + first, start + end - 1, says)


class Section:
    """Tables, one behind the other, or bytes."""

    def __init__(self):
        self.tables, self.numbers, self.text, self.size = [], {}, [], 0

    def add(self, version, words):
        if re.fullmatch(r"v\d", words[0]):
            version, words = int(words[0][1:]), words[1:]
        self.finish()
        self.tables.append(Tables(self.size, version, *words))

    def finish(self):
        """All lines of the last tables are known."""
        if self.tables and self.tables[-1].at == self.size:
            tables = self.tables[-1]
            self.text += tables.lay_out()
            self.size += tables.size
            prefix = "next." if len(self.tables) == 2 else ""
            self.numbers.update((prefix + name, number) for name, number in tables.numbers.items())

    def offset(self, text):
        """A number, or END, NEXT (the second tables) or a number's name; + and - more."""
        name, sign, more = re.fullmatch(r"([\w.]+)(?:([+-])(\w+))?", text).groups()
        places = {"end": self.size, "next": self.tables[1].at if len(self.tables) > 1 else None}
        at = places[name] if name in places else self.numbers[name][0] if name in self.numbers else int(name, 16)
        return at + int((sign or "+") + (more or "0"), 16)

    def change(self, word):
        """NAME=VALUE, or NAME=+MORE; or OFFSET=GROUP."""
        name, _, value = word.partition("=")
        if name not in self.numbers:
            return "with %x %s" % (self.offset(name), value)
        at, size, old = self.numbers[name]
        number = int(value, 16) + (old if value[0] in "+-" else 0)
        if name.endswith(".start") and self.tables[0].flags & FROM_FIELD and value[0] not in "+-":
            number -= at
        return "with %x %s" % (at, digits(number, size))


class Expander:
    """Writes what a file says of one VERSION, or of none in particular (0)."""

    def __init__(self, version):
        self.version, self.out, self.section = version, [], None
        self.wanted = self.described = False  # this vector is one of VERSION; its section is being read

    def read(self, text):
        tag = re.match(r"v([123]+): ", text)
        if tag and str(self.version) not in tag[1]:
            return
        text = text[tag.end():] if tag else text
        word, _, rest = text.partition(" ")
        if word == "spec":
            self.wanted = False
            if tag or self.version == 0 or rest.startswith("V%d " % self.version):
                self.out.append(text)
        elif word == "vector":
            self.begin(rest)
        elif self.wanted and text:
            self.add(word, rest, text)

    def begin(self, name):
        tag = re.match(r"v([123]+) ", name)
        self.wanted = str(self.version) in tag[1] if tag else self.version == 0
        self.at, self.described, self.next, self.function = AT, False, 0, None
        if self.wanted:
            self.out += ["", "vector v%d %s" % (self.version, name[tag.end():]) if tag else "vector " + name]

    def add(self, word, rest, text):
        """A line of a vector of this version."""
        row, _, says = text.partition(" -> ")
        if word == "tables" and not self.described or word == "bytes":
            self.section = Section()
        self.described = self.described or word in ("tables", "bytes")
        if word == "tables":
            self.section.add(self.version, rest.split())
        elif word == "function" and self.described:
            self.section.tables[-1].functions.append(Function(*rest.split()))
        elif self.described and re.fullmatch("[0-9a-f ]+", row):
            if self.section.tables:
                self.section.tables[-1].functions[-1].rows.append((row, says))
            else:
                self.section.text.append(" " + row)
        elif word != "bytes":
            if self.described:
                self.section.finish()
                self.out += ["bytes"] + self.section.text
            self.described = False
            self.out += self.expect(word, rest, text)

    def expect(self, word, rest, text):
        if word == "at":
            self.at = int(rest, 16)
        elif word == "with":
            return [self.section.change(change) for change in rest.split()]
        elif word == "each":
            name, _, values = rest.partition(" ")
            return ["each %x %s" % (self.section.offset(name), values)]
        elif word == "size":
            return ["size " + "..".join("%x" % self.section.offset(size) for size in rest.split(".."))]
        elif word == "rows":
            self.function = None
            return list(self.section.tables[self.next].said(self.at))
        elif word == "next":
            self.next += 1
        elif word == "function":
            self.function = int(rest, 16)
        elif re.fullmatch("[0-9a-f.]+", word) and re.match("cfa=|outermost|ask", rest):
            return self.of_function(int(word.split("..")[0], 16)) + [text]
        return [re.sub(r"{(.*?)}", lambda name: "%x" % self.section.offset(name[1]), text)]


    def of_function(self, pc):
        """The line that names the function of PC, if it is not that of the line before."""
        for function in self.section.tables[self.next].functions if self.section.tables else []:
            start = (self.at + self.section.tables[self.next].at + function.start) % (1 << 64)
            if start <= pc < start + function.size and start != self.function:
                self.function = start
                return ["function %x" % start]
        return []


def repeated(lines):
    """LINES, a vector with {n:FIRST..LAST} in its name once for each of these numbers, which is what {n} says in it."""
    begin = 0
    while begin < len(lines):
        end = next((i for i in range(begin + 1, len(lines)) if lines[i].startswith(("vector ", "spec "))), len(lines))
        numbers = re.search(r"{n:(\d+)\.\.(\d+)}", lines[begin])
        for n in range(int(numbers[1]), int(numbers[2]) + 1) if numbers else ["{n}"]:
            for line in lines[begin:end]:
                yield re.sub(r"{n(:[\d.]+)?}", str(n), line)
        begin = end


def main():
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            lines = list(repeated([line.split(";")[0].strip() for line in file]))
        with open(os.path.join(sys.argv[1], os.path.basename(path)), "w", encoding="utf-8") as out:
            for version in (1, 2, 3, 0):
                expander = Expander(version)
                for line in lines:
                    try:
                        expander.read(line)
                    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                        sys.exit("%s: %s: %r" % (path, line, error))
                if any(line.startswith("vector") for line in expander.out):
                    out.writelines(line + "\n" for line in expander.out)


main()

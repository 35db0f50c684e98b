# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Images that are broken on purpose: faults planted in tables, and files that make no sense."""
import os
import random
import re

from host import GCC, LD, LONG, OUT, WORK, Elf, Wrong, gen, must, read, run, write
from many import Many
from programs import ROOM, compile_program, link

# A function of RISC-V in which a correction splits a row: clang writes no CFI in epilogues.
WITHOUT_EPILOGUE = """.cfi_startproc
addi sp, sp, -16
.cfi_def_cfa_offset 16
sd ra, 8(sp)
.cfi_offset ra, -8
call f
ld ra, 8(sp)
addi sp, sp, 16
ret
.cfi_endproc
"""


# ---- faults in tables ----

class Table:
    """The bytes of the .sframe of a file, to be broken."""

    def __init__(self, elf):
        section = elf.sections[".sframe"]
        self.elf, self.at = elf, section["offset"]
        self.num_fdes, = elf.get("I", self.at + 8)
        self.fres = self.at + 28 + 16 * self.num_fdes

    def fde(self, index):
        """Where an entry is, and where its attributes are."""
        at = self.at + 28 + 16 * index
        return at, self.fres + self.elf.get("I", at + 12)[0]

    def rows(self, index):
        """Where each row of a function is: address, info byte, words; and how large the last two are."""
        _, at = self.fde(index)
        count, info = self.elf.get("HB", at)
        at += 5
        size = 1 << (info & 15)
        for _ in range(count):
            word = self.elf.data[at + size]
            yield at, at + size, at + size + 1, size, 1 << (word >> 5 & 3), word >> 1 & 15
            at += size + 1 + (word >> 1 & 15) * (1 << (word >> 5 & 3))

    def find(self, what):
        """The first function, not signal or outermost, for which WHAT is true of the list of its rows."""
        for index in range(self.num_fdes):
            attributes = self.elf.get("HBB", self.fde(index)[1])
            rows = list(self.rows(index))
            if attributes[1] & 0x90 == 0 and attributes[2] == 0 and rows and what(rows):
                return index, rows
        raise Wrong("no function to break")


def plant_word(table, number):
    """Changes word NUMBER of a row that has one, of one byte."""
    def fits(row):
        return row[4] == 1 and row[5] > number

    _, rows = table.find(lambda rows: any(fits(row) for row in rows))
    row = next(row for row in rows if fits(row))
    table.elf.data[row[2] + number] = (table.elf.data[row[2] + number] + 8) & 0xff


def plant_info(table, bits):
    _, rows = table.find(lambda rows: len(rows) > 1)
    table.elf.data[rows[0][1]] ^= bits


def plant_attribute(table, offset, bits):
    index, _ = table.find(lambda rows: len(rows) > 1)
    table.elf.data[table.fde(index)[1] + offset] ^= bits


def plant_outermost(table):
    """A function that has callers has no rows."""
    index, rows = table.find(lambda rows: len(rows) == 1)
    table.elf.put("H", table.fde(index)[1], 0)
    count, = table.elf.get("I", table.at + 12)
    table.elf.put("I", table.at + 12, count - 1)


# ---- files that make no sense ----

SANITIZED = OUT + "/sfu-gen-sanitized"
LIMIT = 60  # seconds: a hang is a failure
NEVER = re.compile("Sanitizer|runtime error|Assertion|self-check")
sanitized = Many(SANITIZED, WORK, LIMIT)


def gen_survives(file, *options, status=None):
    """sfu-gen says one line, and leaves the file as it was. STATUS None: success or failure."""
    before = read(file) if os.path.isfile(file) else None
    done = sanitized.run(*options, file)
    must(not NEVER.search(done.stderr), "%s: %s" % (" ".join(options), done.stderr.strip()[:300]))
    must(done.returncode in ((0, 1) if status is None else (status,)), "status %d: %s" % (done.returncode,
                                                                                       done.stderr.strip()[:200]))
    if done.returncode == 1:
        lines = [line for line in done.stderr.splitlines() if "+0x" not in line and ": 0x" not in line]
        must(len(lines) in (1, 2) and lines[-1].startswith("sfu-gen: "), "not one line: " + done.stderr[:300])
        must(before is None or read(file) == before, "a failure has changed the file")
    return done


def hostile_image(cpu):
    objects = compile_program(cpu, [GCC[cpu]], "-O1", "-g1", "-fasynchronous-unwind-tables")
    image = link(cpu + "-hostile", [LD[cpu]], ROOM % ".eh_frame", objects)
    gen("-q", image)
    return image


def hostile_files(survives, objects=True):
    """What SURVIVES runs refuses them. OBJECTS: relocatable ones, too."""
    work = WORK + "/"
    write(work + "empty", b"")
    write(work + "text", b"This is no ELF file, but long enough for the header of one, which has 64 bytes.\n" * 10)
    write(work + "magic", b"\x7fELF\x02\x01\x01" + bytes(200))
    for compiler, name in ((["gcc", "-mx32"], "narrow.o"), (["gcc"], "object.o"),
                           (["clang", "--target=powerpc64le-linux-gnu"], "foreign.o")):
        run(*compiler, "-c", "-x", "c", "/dev/null", "-o", work + name)
    for name, said in (("empty", "empty"), ("text", "not an ELF file"), ("magic", ""), ("absent", "No such file"),
                       (".", "not a file"), ("narrow.o", "of 32 bits"), ("foreign.o", "machine 21 ")) + (
                           (("object.o", "relocatable"),) if objects else ()):
        done = survives(work + name, status=1)
        must(said in done.stderr, done.stderr)


def hostile_truncated(survives, cpu, image):
    data = read(image)
    file = "%s/%s.truncated" % (WORK, cpu)
    for size in sorted({len(data) * i // 40 for i in range(1, 40)} | set(range(1, 64, 7))):
        write(file, data[:size])
        survives(file, "-q", status=1)
        survives(file, "-q", "--append=" + file + ".out", status=1)


def hostile_bytes(survives, cpu, image, section, count):
    """Bytes of a section, or of the headers, are others. The seed is fixed."""
    count = count if LONG else count // 2
    elf = Elf(image)
    chosen = random.Random(cpu + str(section))
    file = "%s/%s.hostile" % (WORK, cpu)
    if section:
        places = range(elf.sections[section]["offset"], elf.sections[section]["offset"] + elf.sections[section]["size"])
    else:
        headers, = elf.get("Q", 40)
        places = list(range(64 + 2 * 56)) + list(range(headers, len(elf.data)))
    good = 0
    for i in range(count):
        data = bytearray(elf.data)
        for _ in range(chosen.choice((1, 1, 2, 8))):
            data[chosen.choice(places)] = chosen.choice((0, 1, 0x7f, 0x80, 0xff, chosen.randrange(256)))
        write(file, data)
        options = chosen.choice((["--check"], ["--small"], ["--append=" + file + ".out"], [],
                                 ["--rows=3", "--no-share"], ["--side=" + file + ".out", "--forget"]))
        good += survives(file, "-q", *options).returncode == 0
    return "%d of %d files accepted" % (good, count)

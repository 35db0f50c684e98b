#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""proportion.py: files whose headers ask for more work than the file has bytes. Prints a line for each.

Each shape of a file is made of N parts, of 2 N and of 4 N. The tools that read it count their instructions:
what the second doubling adds is at most 2.5 times what the first adds, or nothing that matters.
"""
import os
import re
import resource
import struct
import subprocess
import zlib

import host
from host import WORK, finish, must, test, write

TOOLS = {"lint": ["build/tools/sfu-lint", "--json"], "gen": ["build/tools/sfu-gen", "--size", "--derive"],
         "trace": ["build/tools/sfu-trace"]}
NULL, PROGBITS, SYMTAB, STRTAB, RELA = range(5)
ALLOC, EXECUTED, COMPRESSED = 2, 4, 0x800
CODE = b"\x90" * 63 + b"\xc3"


def elf(sections, kind=2, shared=()):
    """An ELF file of x86_64 with SECTIONS: (name, type, flags, address, bytes, link, info, size of an entry), whose
    names
    are bytes. SHARED: headers more, each with the bytes of the section that it names by number: (number, type, link,
    info). Numbers are from 1 on."""
    sections = [*sections, (b".shstrtab", STRTAB, 0, 0, b"", 0, 0, 0)]
    names = b"\0" + b"".join(s[0] + b"\0" for s in sections)
    data, headers, at = b"", [bytes(64)], 64
    for index, s in enumerate(sections):
        content = s[4] if index < len(sections) - 1 else names
        headers.append(struct.pack("<IIQQQQIIQQ", names.index(b"\0" + s[0] + b"\0") + 1, s[1], s[2], s[3],
                                   at + len(data), len(content), s[5], s[6], 8, s[7]))
        data += content + bytes(-len(content) % 8)
    for number, form, link, info in shared:
        headers.append(headers[number][:4] + struct.pack("<I", form) + headers[number][8:40] +
                       struct.pack("<II", link, info) + headers[number][48:])
    return (b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", kind, 62, 1, 0x1000, 0, 64 + len(data), 0, 64, 56, 0, 64, len(headers), len(sections)) +
            data + b"".join(headers))


def symbol(name, section, value, size, info=0x12):
    return struct.pack("<IBBHQQ", name, info, 0, section, value, size)


TEXT = (b".text", PROGBITS, ALLOC | EXECUTED, 0x1000, CODE * 64, 0, 0, 0)


def symbols(count, names=b"\0f\0", step=0):
    """.text, .symtab with COUNT symbols, each STEP bytes further in the names, .strtab."""
    table = bytes(24) + b"".join(symbol(1 + (i * step) % max(1, len(names) - 1), 1, 0x1000, 16) for i in range(count))
    return [TEXT, (b".symtab", SYMTAB, 0, 0, table, 3, 0, 24), (b".strtab", STRTAB, 0, 0, names, 0, 0, 0)]


def symbol_tables(n):
    """Headers of the same symbols."""
    return elf(symbols(n), shared=[(2, SYMTAB, 3, 0)] * n)


def names_in_each_other(n):
    """Symbols whose names are one long one, each from the next letter on."""
    return elf(symbols(n, b"\0" + b"a" * 40 * n + b"\0", 1))


def endless_names(n):
    """Names without an end."""
    return elf(symbols(n, b"\0" + b"a" * 200 * n))


def sections_named(n):
    """Sections whose names are one long one."""
    data = bytearray(elf([TEXT, (b"a" * 40 * n, PROGBITS, 0, 0, b"", 0, 0, 0)], shared=[(2, PROGBITS, 0, 0)] * n))
    headers = len(data) - 64 * (n + 4)
    for i in range(n):
        name, = struct.unpack_from("<I", data, headers + 64 * (4 + i))
        struct.pack_into("<I", data, headers + 64 * (4 + i), name + i)
    return bytes(data)


def relocation_sections(n):
    """An object's relocations, applied again and again."""
    relocations = b"".join(struct.pack("<QQq", 8 * i % 64, 1 << 32 | 2, 0) for i in range(n))
    return elf([*symbols(n), (b".eh_frame", PROGBITS, ALLOC, 0, bytes(64), 0, 0, 0),
                (b".rela.eh_frame", RELA, 0, 0, relocations, 2, 4, 24)], 1, [(5, RELA, 2, 4)] * n)


def sections_and_symbols(n):
    """An object with many sections, symbols in the last one, and relocations of them."""
    relocations = b"".join(struct.pack("<QQq", 8 * i % 64, (1 + i) << 32 | 2, 0) for i in range(n))
    table = bytes(24) + b"".join(symbol(1, n + 5, 0, 16) for _ in range(n))
    return elf([TEXT, (b".symtab", SYMTAB, 0, 0, table, 3, 0, 24), (b".strtab", STRTAB, 0, 0, b"\0f\0", 0, 0, 0),
                (b".eh_frame", PROGBITS, ALLOC, 0, bytes(64), 0, 0, 0),
                (b".rela.eh_frame", RELA, 0, 0, relocations, 2, 4, 24)], 1, [(1, PROGBITS, 0, 0)] * n)


def code_again(n):
    """Sections of code that are the same bytes."""
    data = bytearray(elf([(b".text", PROGBITS, ALLOC | EXECUTED, 0x1000, CODE * n, 0, 0, 0)],
                         shared=[(1, PROGBITS, 0, 0)] * n))
    for i in range(n):
        struct.pack_into("<Q", data, len(data) - 64 * (i + 1) + 16, 0x100000000 + 0x1000000 * i)
    return bytes(data)


CIE = struct.pack("<IIB", 16, 0xffffffff, 1) + b"\0\x01\x78\x10\x0c\x07\x08\0\0\0\0"


# With the rule for the return address: code is compared with it.
CIE_OF_CALLS = CIE[:-4] + b"\x90\x01\0\0"


def entries(starts_and_sizes, cie=CIE):
    return cie + b"".join(struct.pack("<IIQQ", 20, 0, start, size) for start, size in starts_and_sizes)


def dead_entries(n):
    """Entries of CFI at 0, where symbols are, too; each is longer than the one before."""
    sections = symbols(n)
    sections[0] = (b".text", PROGBITS, ALLOC | EXECUTED, 0, CODE * n, 0, 0, 0)
    sections[1] = (b".symtab", SYMTAB, 0, 0, bytes(24) + b"".join(symbol(1, 1, 0, 7, 0x10) for _ in range(n)), 3, 0, 24)
    return elf([*sections, (b".debug_frame", PROGBITS, 0, 0, entries((0, 16 + i) for i in range(n)), 0, 0, 0)])


def overlapping_entries(n):
    """Entries of CFI that begin one byte behind each other, and end together."""
    return elf([(b".text", PROGBITS, ALLOC | EXECUTED, 0x1000, CODE * n, 0, 0, 0),
                (b".debug_frame", PROGBITS, 0, 0, entries((0x1000 + i, 64 * n - i) for i in range(n)), 0, 0, 0)])


def bare(segments, count, code):
    """No section headers: SEGMENTS program headers, and an .eh_frame_hdr that lists COUNT entries. CODE: the segments
    are instructions."""
    header = 64 + 56 * segments
    size = header + 12 + 8 * count + 16
    first = [struct.pack("<IIQQQQQQ", 0x6474e550, 4, header, 0x10000000 + header, 0, 12 + 8 * count, 0, 1)]
    loads = [struct.pack("<IIQQQQQQ", 1, 5 if code else 4, 0, 0x1000, 0x1000, 64, 64, 1)] * (segments - 2)
    last = [struct.pack("<IIQQQQQQ", 1, 5, 0, 0x10000000, 0, size, size, 1)]
    return (b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 2, 62, 1, 0x400000, 64, 0, 0, 64, 56, segments, 64, 0, 0) + b"".join(first + loads + last) +
            b"\x01\x1b\x03\x3b" + struct.pack("<iI", 0, count) + struct.pack("<ii", 0, 12 + 8 * count) * count +
            bytes(16))


def cold_pieces(n):
    """A function, and a part of it elsewhere that goes back to as many of its places as it has pieces."""
    first = 0x1000 + 1 + 8 * n + 2 # of the part
    body = b"\x53" + b"".join(b"\x85\xc0\x0f\x85" + struct.pack("<i", first + 7 * i - (0x1001 + 8 * (i + 1)))
                             for i in range(n)) + b"\x5b\xc3" # push; test, jne; pop, ret
    part = b"".join(b"\xff\xc1\xe9" + struct.pack("<i", 0x1001 + 8 * (i + 1) - (first + 7 * (i + 1)))
                    for i in range(n)) # inc, jmp
    return elf([(b".text", PROGBITS, ALLOC | EXECUTED, 0x1000, body + part, 0, 0, 0),
                (b".debug_frame", PROGBITS, 0, 0, entries([(0x1000, len(body)), (first, len(part))], CIE_OF_CALLS), 0,
          0, 0)])


def functions_in_turn(n):
    """Functions that call each other, the next one or one behind; in each group one returns, which is found last."""
    size, group = 16, 24
    code = b""
    for i in range(n):
        back = i - 7 if i % group >= 7 else i
        body = b"\x85\xff\x74\x05" + b"".join( # test, je; the calls; ret
            b"\xe8" + struct.pack("<i", size * (to - i) - at) for to, at in (((i + 1) % n, 9), (back, 14)))
        code += body + b"\xc3\x90" if i % group != group - 1 else b"\x90" * (size - 1) + b"\xc3"
    table = bytes(24) + b"".join(symbol(1, 1, 0x1000 + size * i, size) for i in range(n))
    return elf([(b".text", PROGBITS, ALLOC | EXECUTED, 0x1000, code, 0, 0, 0),
                (b".symtab", SYMTAB, 0, 0, table, 3, 0, 24), (b".strtab", STRTAB, 0, 0, b"\0f\0", 0, 0, 0)])


def riscv(sections):
    data = bytearray(elf(sections))
    data[18:20] = struct.pack("<H", 243)
    return bytes(data)


CIE_OF_RISCV = struct.pack("<IIB", 16, 0xffffffff, 1) + b"\0\x01\x78\x01\x0c\x02\0\0\0\0\0" # CFA = SP, RA in RA


def behind_an_epilogue(n):
    """riscv64: instructions behind those that take the frame off, of which CFI says nothing, and neither do the
    tables."""
    code = struct.pack("<7I", 0xff010113, 0x00113423, 0x00000097, 0x000080e7, 0x00813083, 0x01010113, 0x00008067)
    code = code[:-4] + struct.pack("<I", 0x00150513) * n + code[-4:] # addi sp; sd; call; ld; addi sp; addi a0; ret
    program = b"\x44\x0e\x10\x81\x01\0\0\0" # CFA = SP + 16, RA at CFA - 8
    fde = struct.pack("<IIQQ", 28, 0, 0x1000, len(code))
    sections = [(b".text", PROGBITS, ALLOC | EXECUTED, 0x1000, code, 0, 0, 0),
                (b".debug_frame", PROGBITS, 0, 0, CIE_OF_RISCV + fde + program, 0, 0, 0)]
    write(WORK + "/silent", riscv(sections))
    host.gen("-q", "--cfi=keep", "--address=0x1000000", "-o", WORK + "/silent.tables", WORK + "/silent")
    tables = (b".sfu_sframe", PROGBITS, ALLOC, 0x1000000, host.read(WORK + "/silent.tables"), 0, 0, 0)
    return riscv([*sections, tables])


def shared_piece(n):
    """riscv64: calls by t0 of a piece, as clang makes them, that has as many instructions as there are calls."""
    piece = struct.pack("<I", 0x13) * n + struct.pack("<I", 0x28067)  # nop; jr t0
    calls = b""
    for i in range(n):
        back = -(len(piece) + 4 * i)
        calls += struct.pack("<I", 0x2ef | (back >> 20 & 1) << 31 | (back >> 1 & 0x3ff) << 21 | (back >> 11 & 1) << 20 |
                             (back >> 12 & 0xff) << 12)  # jal t0
    calls += struct.pack("<I", 0x8067)  # ret
    second = 0x1000 + len(piece)
    table = bytes(24) + symbol(1, 1, 0x1000, len(piece)) + symbol(1, 1, second, len(calls))
    return riscv([(b".text", PROGBITS, ALLOC | EXECUTED, 0x1000, piece + calls, 0, 0, 0),
                  (b".symtab", SYMTAB, 0, 0, table, 3, 0, 24), (b".strtab", STRTAB, 0, 0, b"\0f\0", 0, 0, 0),
                  (b".debug_frame", PROGBITS, 0, 0, entries([(0x1000, len(piece)), (second, len(calls))], CIE_OF_RISCV),
                   0, 0, 0)])


# ---- PE files ----

def pe(sections, machine=0x8664, symbols=(), strings=b"", base=0x140000000):
    """A PE file of SECTIONS: (name, RVA, flags, bytes, or the number of the section before whose bytes it shares). The
    one named .pdata is the exception directory. SYMBOLS: COFF's, as bytes."""
    headers, data, at = b"", b"", 64 + 24 + 240 + 40 * len(sections)
    directory, places = (0, 0), []
    for name, rva, flags, content in sections:
        if isinstance(content, int):
            places.append(places[content])
        else:
            places.append((at + len(data), len(content)))
            data += content
        offset, size = places[-1]
        headers += struct.pack("<8sIIIIIIHHI", name, size, rva, size, offset, 0, 0, 0, 0, flags)
        directory = (rva, size) if name == b".pdata" else directory
    where = at + len(data) if symbols else 0
    coff = struct.pack("<HHIIIHH", machine, len(sections), 0, where, len(symbols), 240, 0x22)
    optional = struct.pack("<HBBIIIIIQIIHHHHHHIIIIHHQQQQII", 0x20b, 0, 0, 0, 0, 0, 0x1000, 0x1000, base, 4096, 512, 0,
                           0, 0, 0, 0, 0, 0, 1 << 28, at, 0, 10, 0, 0, 0, 0, 0, 0, 16)
    directories = b"".join(struct.pack("<II", *(directory if i == 3 else (0, 0))) for i in range(16))
    return (b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + coff + optional + directories + headers + data +
            (b"".join(symbols) + struct.pack("<I", 4 + len(strings)) + strings if symbols else b""))


PE_CODE, PE_DATA = 0x60000020, 0x40000040


def pe_x86_64(n, info, functions, parts=1):
    """N functions of 64 bytes, with unwind information INFO at 0x4000000, and the entries FUNCTIONS."""
    return pe([(b".text", 0x1000, PE_CODE, CODE * n * parts), (b".xdata", 0x4000000, PE_DATA, info),
               (b".pdata", 0x5000000, PE_DATA, b"".join(struct.pack("<III", *f) for f in functions))])


def pe_same_codes(n):
    """Functions share their unwind codes, the most that there can be."""
    return pe_x86_64(n, b"\x01\x00\xff\x00" + b"\x00\x02" * 256,
                     [(0x1000 + 64 * i, 0x1040 + 64 * i, 0x4000000) for i in range(n)])


def pe_chain(n):
    """Each function continues the one before it."""
    info = b"\x01\x00\x00\x00" + bytes(12) + b"".join(
        b"\x21\x00\x00\x00" + struct.pack("<III", 0x1000, 0x1040, 0x4000000 + 16 * i) for i in range(n))
    return pe_x86_64(n, info, [(0x1000 + 64 * i, 0x1040 + 64 * i, 0x4000000 + 16 * i) for i in range(n)])


def pe_functions_in_each_other(n):
    return pe_x86_64(n, b"\x01\x00\x00\x00", [(0x1000 + i, 0x1000 + 64 * n - i, 0x4000000) for i in range(n)])


def pe_pops(n):
    """Functions of pops alone, in front of each of which an epilogue may begin."""
    return pe([(b".text", 0x1000, PE_CODE, (b"\x5b" * 63 + b"\xc3") * n), (b".xdata", 0x4000000, PE_DATA,
               b"\x01\x00\x01\x00\x00\x30\0\0"),
               (b".pdata", 0x5000000, PE_DATA, struct.pack("<III", 0x1000, 0x1000 + 64 * n, 0x4000000))])


def pe_epilogues(n):
    """aarch64: a function with as many epilogues."""
    code = b"\x1f\x20\x03\xd5" * 8 * n
    record = struct.pack("<II", 8 * n, n & 0xffff | 1 << 16) + b"".join(
        struct.pack("<I", 4 + 4 * i) for i in range(n)) + b"\xe4\xe4\xe4\xe4"
    return pe([(b".text", 0x1000, PE_CODE, code * 2), (b".xdata", 0x4000000, PE_DATA, record),
               (b".pdata", 0x5000000, PE_DATA, struct.pack("<II", 0x1000, 0x4000000))], 0xaa64)


def coff_symbol(offset, value):
    return struct.pack("<IIIHHBB", 0, offset, value, 1, 0x20, 2, 0)


def pe_names_in_each_other(n):
    return pe([(b".text", 0x1000, PE_CODE, CODE * n)], symbols=[coff_symbol(4 + i, 0) for i in range(n)],
              strings=b"a" * 40 * n + b"\0")


def pe_code_again(n):
    """As many sections as a file may have, of the same code."""
    return pe([(b".text", 0x1000, PE_CODE, CODE * n), *[(b".t%d" % i, 0x1000000 * (i + 1), PE_CODE, 0)
                                                       for i in range(7)]])


# ---- Maps ----

def map_of_nm(n):
    return b"".join(b"%08x T %s\n" % (0x1000 + 16 * (i % 4), b"a" * 200 + b"%d" % i) for i in range(n))


def map_of_link(n):
    return b" Start Length Name Class\n 0001:00000000 00100000H .text CODE\n" + b"".join(
        b" 0001:%08x       %s 0000000000001000 f i a.obj\n" % (i, b"a" * 200 + b"%d" % i) for i in range(n))


def map_of_ld(n):
    return b"Linker script and memory map\n.text 0x1000 0x100000\n" + b"".join(
        b" .text.%s\n                0x1000 0x10 a.o\n                0x1000      %s\n" % (name, name)
        for name in (b"a" * 200 + b"%d" % i for i in range(n)))


def map_of_lld(n):
    return b"Address  Size     Align Out     In      Symbol\n00001000 00100000    16 .text\n" + b"".join(
        b"00001000 00000000     0                 %s\n" % (b"a" * 200 + b"%d" % i) for i in range(n))


MAPS = {"nm": map_of_nm, "link.exe": map_of_link, "ld": map_of_ld, "lld-link": map_of_lld}


SHAPES = {
    "PE: the same codes": (200, pe_same_codes, ("lint", "gen", "trace")),
    "PE: a chain": (200, pe_chain, ("lint", "gen")),
    "PE: functions in each other": (200, pe_functions_in_each_other, ("lint", "gen")),
    "PE: pops": (200, pe_pops, ("lint", "gen")),
    "PE: epilogues": (800, pe_epilogues, ("lint", "gen", "trace")),
    "PE: names in each other": (400, pe_names_in_each_other, ("lint", "gen", "trace")),
    "PE: code again and again": (200, pe_code_again, ("lint", "gen")),
    "headers of symbols": (200, symbol_tables, ("lint", "gen", "trace")),
    "names in each other": (200, names_in_each_other, ("lint", "gen")),
    "names without an end": (200, endless_names, ("lint", "gen")),
    "sections' names": (200, sections_named, ("lint",)),
    "headers of relocations": (100, relocation_sections, ("lint",)),
    "sections and symbols": (200, sections_and_symbols, ("lint",)),
    "code again and again": (100, code_again, ("lint", "gen")),
    "entries at 0": (800, dead_entries, ("lint", "gen", "trace")),
    "entries in each other": (300, overlapping_entries, ("lint", "gen")),
    "segments and entries": (200, lambda n: bare(n, n, False), ("lint", "gen")),
    "riscv64: behind an epilogue": (1000, behind_an_epilogue, ("lint", "gen")),
    "riscv64: calls of a shared piece": (1000, shared_piece, ("lint", "gen")),
    "pieces of a function": (1000, cold_pieces, ("gen",)),
    "functions that call each other": (2000, functions_in_turn, ("gen",)),
    "segments of code": (200, lambda n: bare(n, 1, True), ("lint", "gen")),
}


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))


def instructions(tool, file):
    return host.instructions(*TOOLS[tool], file, stdin=b"#0 0x1000\n", statuses=None)


def in_proportion(tool, name, least, shape):
    counts = []
    for n in (least, 2 * least, 4 * least):
        file = "%s/%s" % (WORK, re.sub(r"\W+", "-", name))
        write(file, shape(n))
        counts.append(instructions(tool, file))
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    must(second <= 2.5 * max(first, 20000), "%d, %d and %d instructions" % tuple(counts))
    return "%.2f times" % (second / max(first, 1))


def map_in_proportion(tool, shape):
    """The map of a PE file without symbols."""
    options = {"gen": ["--size", "--find"], "trace": []}[tool]
    write(WORK + "/mapped.efi", pe([(b".text", 0x1000, PE_CODE, CODE * 64)], base=0))
    counts = []
    for n in (1000, 2000, 4000):
        write(WORK + "/mapped.map", shape(n))
        counts.append(host.instructions(TOOLS[tool][0], *options, "--map=" + WORK + "/mapped.map",
                                        WORK + "/mapped.efi", stdin=b"#0 0x1000\n", statuses=None))
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    must(first > 100000 and second <= 2.5 * first, "%d, %d and %d instructions" % tuple(counts))
    return "%.2f times" % (second / first)


def unpacked(tool, form):
    """Compressed sections that would be a thousand times as large are refused, in a hundredth of that memory."""
    # In pieces: some kernels count what this program has had as what the tool has used.
    packer = zlib.compressobj(9)
    content = b"".join(packer.compress(bytes(1 << 20)) for _ in range(1 << 8)) + packer.flush()
    if form == "SHF_COMPRESSED":
        section = (b".debug_frame", PROGBITS, COMPRESSED, 0, struct.pack("<IIQQ", 1, 0, 1 << 28, 1) + content, 0, 0, 0)
    else:
        section = (b".zdebug_info", PROGBITS, 0, 0, b"ZLIB" + struct.pack(">Q", 1 << 28) + content, 0, 0, 0)
    write(WORK + "/unpacked", elf([*symbols(4), section]))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = subprocess.run([*TOOLS[tool], WORK + "/unpacked"], input="#0 0x1000\n", capture_output=True, text=True,
                          check=False, timeout=60)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    must("bytes uncompressed, in a file of" in done.stderr, done.stderr[:200])
    must(used <= max(before, 60000), "%d KiB" % used)


if __name__ == "__main__":
    os.makedirs(WORK, exist_ok=True)
    for TOOL in TOOLS:
        for FORM in ("SHF_COMPRESSED", ".zdebug"):
            test("%s: %s" % (TOOL, FORM), unpacked, TOOL, FORM)
    for NAME, (LEAST, SHAPE, READERS) in SHAPES.items():
        for TOOL in READERS:
            test("%s: %s" % (TOOL, NAME), in_proportion, TOOL, NAME, LEAST, SHAPE)
    for NAME, SHAPE in MAPS.items():
        for TOOL in ("gen", "trace"):
            test("%s: map of %s" % (TOOL, NAME), map_in_proportion, TOOL, SHAPE)
    finish()

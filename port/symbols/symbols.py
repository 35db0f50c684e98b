#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""symbols.py [OPTION]... NM [IMAGE]: prints a table of IMAGE's functions for sfu_symbols.c, as an assembly file for
any CPU. NM is a nm of binutils or llvm that can read IMAGE. Without IMAGE the table is empty, as the first link needs
it.

--base=NAME   starts are relative to this symbol, or to this number (0x100000): image_start by default
--plain       names are not compressed
--output=FILE writes FILE instead of printing
--cost        says on the standard error what the table costs

Functions are those that nm -S knows with a size: assembly files need .type and .size. Of several names for one address
that of the largest function counts, a global one before others, then the shortest; a function that begins in another
one ends that.

The table, all numbers little-endian:
    "sfs1", number of blocks (4 bytes), number of tokens (4 bytes)
    for each block: start of its first function from the base, offset of its entries in the table (4 bytes each)
    for each token: where it ends in the text of the tokens (2 bytes)
    text of the tokens
    for each function, an entry: its size (as ULEB128), length of its name (a byte), its name, how many bytes lie
    between it and the next function (as ULEB128)
A block has up to 16 functions. In a name bytes from 128 up are tokens; a name has at most 255 bytes.
"""
import collections
import struct
import subprocess
import sys

PER_BLOCK = 16
TOKENS = 128   # codes 128 to 255
SAMPLE = 3000  # names that tokens are chosen by


def functions(nm, image, base):
    """Sorted (start from BASE, size, name) of IMAGE."""
    out = subprocess.run([nm, "-S", "--defined-only", image], check=True, stdout=subprocess.PIPE).stdout
    symbols = [line.split(None, 3) for line in out.split(b"\n") if len(line.split()) >= 3]
    at = [int(base, 0)] if base[0].isdigit() else [int(s[0], 16) for s in symbols if s[-1] == base.encode()]
    if len(at) != 1:
        sys.exit("symbols.py: %s has %d symbols %s" % (image, len(at), base))
    found = {}
    for s in symbols:
        if len(s) == 4 and s[2] in (b"t", b"T", b"w", b"W") and int(s[0], 16) >= at[0]:
            start, size, name = int(s[0], 16) - at[0], int(s[1], 16), s[3]
            rank = (-size, b"TtWw".index(s[2]), len(name), name)
            if size > 0 and (start not in found or rank < found[start]):
                found[start] = rank
    starts = sorted(found)
    result = []
    for start, following in zip(starts, starts[1:] + [1 << 64]):
        name = bytes(c if 32 <= c < 127 else ord("?") for c in found[start][3])
        result.append((start, min(-found[start][0], following - start), name[:255]))
    if result and result[-1][0] + result[-1][1] >= 1 << 32:
        sys.exit("symbols.py: %s is larger than 4 GiB" % image)
    return result


def choose_tokens(names):
    """The texts of tokens, and NAMES with them. A token is the most frequent pair of characters or tokens so far."""
    step = max(1, len(names) // SAMPLE)
    sample, every = b"\n".join(names[::step]), b"\n".join(names)
    texts = []
    for code in range(128, 128 + TOKENS):
        pairs = collections.Counter(zip(sample, sample[1:]))
        best, saved = None, 0
        for (a, b), count in pairs.items():
            if a != 10 and b != 10:
                size = sum(len(texts[c - 128]) if c >= 128 else 1 for c in (a, b))
                if (count * step - size - 2, a, b) > (saved, *(best or (0, 0))):
                    best, saved = (a, b), count * step - size - 2
        if best is None:
            break
        texts.append(b"".join(texts[c - 128] if c >= 128 else bytes([c]) for c in best))
        sample = sample.replace(bytes(best), bytes([code]))
        every = every.replace(bytes(best), bytes([code]))
    return texts, every.split(b"\n") if names else []


def uleb128(value):
    result = bytearray()
    while value >= 128:
        result.append(value & 127 | 128)
        value >>= 7
    return bytes(result + bytes([value]))


def table(found, texts, names):
    """The bytes of the table."""
    blocks, entries = [], bytearray()
    following = [start for start, _, _ in found[1:]] + [found[-1][0] + found[-1][1] if found else 0]
    for i, ((start, size, _), name) in enumerate(zip(found, names)):
        if i % PER_BLOCK == 0:
            blocks.append((start, len(entries)))
        entries += uleb128(size) + bytes([len(name)]) + name + uleb128(following[i] - start - size)
    text = b"".join(texts)
    ends = [sum(map(len, texts[:i + 1])) for i in range(len(texts))]
    first = 12 + 8 * len(blocks) + 2 * len(texts) + len(text)
    head = b"sfs1" + struct.pack("<II", len(blocks), len(texts))
    return (head + b"".join(struct.pack("<II", start, first + at) for start, at in blocks) +
            struct.pack("<%dH" % len(ends), *ends) + text + bytes(entries))


def main():
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    base, output = "image_start", sys.stdout
    for option in options:
        if option.startswith("--base="):
            base = option[7:]
        elif option.startswith("--output="):
            output = open(option[9:], "w", encoding="ascii")
        elif option not in ("--plain", "--cost"):
            arguments = []
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    found = functions(*arguments, base) if len(arguments) == 2 else []
    texts, names = [], [name for _, _, name in found]
    if "--plain" not in options:
        texts, names = choose_tokens(names)
    result = table(found, texts, names)
    if "--cost" in options:
        print("%d functions, %d tokens, %d bytes: %d for 1,000 functions" %
              (len(found), len(texts), len(result), 1000 * len(result) // max(1, len(found))), file=sys.stderr)
    print('    .section .rodata.sfu_symbols, "a"\n    .globl sfu_symbols_start, sfu_symbols_end\n'
          "    .hidden sfu_symbols_start, sfu_symbols_end\nsfu_symbols_start:", file=output)
    for i in range(0, len(result), 16):
        print("    .byte " + ", ".join(map(str, result[i:i + 16])), file=output)
    print("sfu_symbols_end:\n    .section .note.GNU-stack, \"\", %progbits", file=output)
    output.flush()


main()

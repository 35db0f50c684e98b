#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""corpus.py unpack TEXT DIR    writes each line of TEXT, an input in hexadecimal digits, as a file of DIR
corpus.py pack TEXT FILE...  adds these inputs to TEXT

A TEXT, fuzz/corpus/HARNESS.txt, has each input once, the shortest first. In test/hostile/seeds/seeds.txt a name stands
in front of each, which becomes the file's; other files are named by their hash."""
import hashlib
import os
import shutil
import sys


def inputs(text):
    """Pairs of the name, or None, and the bytes."""
    with open(text) as lines:
        return [(([None] + line.split())[-2], bytes.fromhex(line.split()[-1])) for line in lines]


def unpack(text, directory):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    for name, data in inputs(text):
        with open(os.path.join(directory, name or hashlib.sha1(data).hexdigest()), "wb") as file:
            file.write(data)


def pack(text, *files):
    known = {data for _, data in inputs(text)} if os.path.exists(text) else set()
    for name in files:
        with open(name, "rb") as file:
            known.add(file.read())
    with open(text, "w") as out:
        out.writelines(data.hex() + "\n" for data in sorted(known, key=lambda data: (len(data), data)))


if __name__ == "__main__":
    {"unpack": unpack, "pack": pack}[sys.argv[1]](*sys.argv[2:])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""corpus.py unpack TEXT DIR    writes each line of TEXT, an input in hexadecimal digits, as a file of DIR
corpus.py pack TEXT FILE...  adds these inputs to TEXT

A TEXT, fuzz/corpus/HARNESS.txt, has each input once, the shortest first."""
import hashlib
import os
import shutil
import sys


def inputs(text):
    with open(text) as lines:
        return [bytes.fromhex(line) for line in lines]


def unpack(text, directory):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    for data in inputs(text):
        with open(os.path.join(directory, hashlib.sha1(data).hexdigest()), "wb") as file:
            file.write(data)


def pack(text, *files):
    known = set(inputs(text)) if os.path.exists(text) else set()
    for name in files:
        with open(name, "rb") as file:
            known.add(file.read())
    with open(text, "w") as out:
        out.writelines(data.hex() + "\n" for data in sorted(known, key=lambda data: (len(data), data)))


if __name__ == "__main__":
    {"unpack": unpack, "pack": pack}[sys.argv[1]](*sys.argv[2:])

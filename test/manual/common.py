# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""The manuals, and what their tests share."""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import finish, must, test  # noqa: E402, F401  for manual.py, too

# The manual: pages whose blocks are run.
DOCS = ("README.md", *sorted(glob.glob("docs/*.md")), "port/README.md", *sorted(glob.glob("port/*/README.md")))


def files():
    """the files of the tree, without what is built and what is hidden"""
    for folder, folders, names in os.walk("."):
        folders[:] = sorted(name for name in folders
                            if name[0] != "." and name not in ("__pycache__", "target")
                            and (folder, name) != (".", "build"))
        yield from (os.path.normpath(os.path.join(folder, name)) for name in sorted(names) if name[0] != ".")


# Every page of the tree.
PAGES = sorted(file for file in files() if file.endswith(".md"))
CPUS = ("x86_64", "aarch64", "s390x")
BOOTED = (*CPUS, "riscv64")


def read(file):
    with open(file, encoding="utf-8") as f:
        return f.read()


def shell(*command, **more):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    must(done.returncode == 0, f"{' '.join(command)[:80]}: {done.stdout[-300:]!r}")
    return done.stdout


def sources():
    """the files of the tree that are text and no pages"""
    for file in files():
        if file not in PAGES:
            try:
                read(file)
            except UnicodeDecodeError:
                continue
            yield file


def blocks():
    """(words of the mark before it, kind, text) of each block of code in the manuals"""
    for file in DOCS:
        for m in re.finditer(r"(?:<!-- ((?:(?!-->).)*?) -->\n)?^```(\w*)\n(.*?)^```$", read(file), re.S | re.M):
            yield (m[1] or "").split(), m[2], m[3], file


def block(*words):
    found = [text for mark, _, text, _ in blocks() if mark[:len(words)] == list(words)]
    must(len(found) == 1, f"{len(found)} blocks are marked {words}")
    return found[0]

# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""The manuals, and what their tests share."""
import glob
import os
import re
import subprocess

DOCS = ("README.md", "port/README.md", "port/RELIABILITY.md", *sorted(glob.glob("port/*/README.md")))
# Every page of the tree.
PAGES = sorted(page for page in glob.glob("**/*.md", recursive=True) if not page.startswith("build/"))
CPUS = ("x86_64", "aarch64", "s390x")


class Wrong(Exception):
    pass


def must(condition, what):
    if not condition:
        raise Wrong(what)


def read(file):
    with open(file, encoding="utf-8") as f:
        return f.read()


def shell(*command, **more):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    must(done.returncode == 0, f"{' '.join(command)[:80]}: {done.stdout[-300:]!r}")
    return done.stdout


def sources():
    """the files of the tree that are text and no pages"""
    for file in sorted(glob.glob("**", recursive=True)):
        if os.path.isfile(file) and not file.startswith("build/") and file not in PAGES:
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

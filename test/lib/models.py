#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""models.py HERD7 OUT FILE: judges each model of FILE by every execution that the memory model of C11 or of
aarch64 allows. Prints a line for each test.

A model is a litmus test as herd7 reads it: from a line "C NAME" or "AArch64 NAME" to a line "exists ...", which names
what must not come up. Each line "without WHAT: COMMAND" behind a model is a part of the protocol that the model needs:
COMMAND, of sed, leaves that part out, and then it must come up, or a data race must. Lines that begin with # are
comments."""
import os
import re
import subprocess
import sys

sys.path.insert(0, "test/lib")
from check import finish, must, test  # noqa: E402

HERD, OUT, FILE = sys.argv[1:]
LIMIT = 300  # seconds for a model


def verdict(text, name, quick=False):
    """Never, Sometimes or Always; undefined, if there is a data race; else what went wrong. And the file judged.
    QUICK: the first execution that meets the condition decides, and no data race is looked for."""
    path = os.path.join(OUT, re.sub(r"[^\w-]", "-", name) + ".litmus")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    # aarch64 has no data races, so executions that cannot meet the condition need not be looked at.
    aarch64 = text.startswith("AArch64")
    # Both models forbid executions in which accesses to one place contradict their order in the program (rc11.cat:
    # coherence1; aarch64.cat: external, coRW1, coWW, coWR). With optace herd7 does not make them; they are most of all.
    command = [HERD, "-model", "aarch64.cat" if aarch64 else "rc11.cat", "-optace", "true",
               *(["-speedcheck", "fast"] if quick or aarch64 else []), path]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    except (OSError, subprocess.SubprocessError) as wrong:
        return f"failed: {wrong}", path
    if re.search(r"^(Flag.*(undef|race)|Undef)", done.stdout, re.MULTILINE):
        return "undefined", path
    found = re.search(r"^Observation \S+ (\w+)", done.stdout, re.MULTILINE)
    return found.group(1) if found else "failed: no verdict", path


def sed(command, text):
    return subprocess.run(["sed", command], input=text, capture_output=True, text=True, check=True).stdout


def never(model, name):
    said, path = verdict(model, name)
    must(said == "Never", f"{said}: {path}")


def needed(model, name, command):
    """What COMMAND leaves out of MODEL keeps it from what must not come up."""
    less = sed(command, model)
    must(less != model, f"nothing is left out of {FILE}")
    said, path = verdict(less, name, quick=True)
    if said == "Never":
        said, path = verdict(less, name)
    must(said in ("Sometimes", "Always", "undefined"), f"{said}: {path}")


def main():
    os.makedirs(OUT, exist_ok=True)
    with open(FILE, encoding="ascii") as file:
        text = file.read()
    number = 0
    # What lies between two models is comments, and the lines of the model before.
    for name, model, behind in re.findall(r"^((?:C|AArch64) \S+)\n(.*?^exists .*?\n)(.*?)(?=^(?:C|AArch64) |\Z)", text,
                                          re.MULTILINE | re.DOTALL):
        number += 1
        model = f"{name}\n{model}"
        name = name.split()[1]
        test(name, never, model, name)
        for line in behind.splitlines():
            if not line or line.startswith("#"):
                continue
            what, command = re.fullmatch(r"without ([^:]*): (.*)", line).groups()
            test(f"{name} without {what}", needed, model, f"{name} without {what}", command)
    there = len(re.findall("^exists ", text, re.MULTILINE))
    test("models that are read", must, number == there > 0, f"{FILE}: {number} of {there}")


main()
finish()

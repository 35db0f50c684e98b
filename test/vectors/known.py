#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""known.py KNOWN < DIFFERENCES: whether each difference, a line "name<tab>what is said", is a known one.

KNOWN has a line for each kind of difference: a pattern of names, a tab, a pattern of what is said, a tab, the reason.
The first line that fits counts. A difference that none fits is an error, and so is a line that fits none, unless
its second pattern is * alone: what libsframe says depends on memory that is not its own. T: only the vectors whose
name matches it were run.
"""
import fnmatch
import os
import sys


def read_known(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    wrong = [line for line in lines if len(line) != 3]
    if wrong:
        sys.exit("%s: not two patterns and a reason: %s" % (path, wrong[0]))
    return lines


def main():
    known = read_known(sys.argv[1])
    fitting = {id(line): [] for line in known}
    failed = False
    for difference in sys.stdin:
        name, said = difference.rstrip("\n").split("\t")
        line = next((k for k in known if fnmatch.fnmatchcase(name, k[0]) and fnmatch.fnmatchcase(said, k[1])), None)
        if line is None:
            print("not ok %s: libsframe says: %s" % (name, said))
            failed = True
        else:
            fitting[id(line)].append(name)
    for line in known:
        if fitting[id(line)]:
            print("ok %d vectors like \"%s\": %s: %s" % (len(fitting[id(line)]), fitting[id(line)][0], *line[1:]))
        elif line[1] != "*" and not os.environ.get("T"):
            print("not ok %s: %s: it does not differ there any more" % (line[0], line[1]))
            failed = True
    sys.exit(failed)


main()

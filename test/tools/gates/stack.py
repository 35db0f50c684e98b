#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""stack.py FILE.ci FUNCTION: the bytes of stack that FUNCTION needs on its deepest path, callbacks excluded, and
that path. FILE.ci is what gcc -fcallgraph-info=su writes. Fails on recursion and on frames without a fixed size."""
import re
import sys


def read(path):
    frame, calls = {}, {}
    for line in open(path, encoding="utf-8"):
        node = re.match(r'node: \{ title: "([^"]*)" label: "([^"]*)"', line)
        edge = re.match(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"', line)
        if node:
            usage = re.search(r"(\d+) bytes \(([\w,]+)\)", node.group(2))
            if usage:
                if usage.group(2) not in ("static", "dynamic,bounded"):  # bounded: that is the most
                    sys.exit(f"{node.group(1)}: its frame is {usage.group(2)}")
                frame[node.group(1)] = int(usage.group(1))
        elif edge:
            calls.setdefault(edge.group(1), set()).add(edge.group(2))
    return frame, calls


def deepest(name, frame, calls, above):
    if name in above:
        sys.exit("recursion: " + " ".join(above + [name]))
    if name == "__indirect_call":
        return 0, []
    if name not in frame:
        sys.exit(f"{name}: no frame size")
    below = [deepest(callee, frame, calls, above + [name]) for callee in sorted(calls.get(name, ()))]
    size, path = max(below, default=(0, []))
    return size + frame[name], [f"{name.split(':')[-1]} {frame[name]}"] + path


def main():
    frame, calls = read(sys.argv[1])
    names = [n for n in frame if n.split(":")[-1] == sys.argv[2]]
    if len(names) != 1:
        sys.exit(f"no single function {sys.argv[2]}")
    size, path = deepest(names[0], frame, calls, [])
    print(size, " > ".join(path))


main()

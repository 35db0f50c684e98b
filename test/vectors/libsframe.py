#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""libsframe.py OUT FILE...: runs libsframe on the vectors, and compares where it differs with libsframe.known beside
this. It and its libc are those of the toolchain's newest Debian.

libsframe.known has a line for each kind of difference: a pattern of names, a tab, a pattern of what is said, a tab, the
reason. The first line that fits counts. A difference that none fits is an error, and so is a line that fits none,
unless its second pattern is * alone: what libsframe says depends on memory that is not its own. T: only the vectors
whose names have it, or match it, are run, and one result says whether libsframe.known has all that libsframe says.
"""
import fnmatch
import os
import subprocess
import sys

HERE = "test/vectors/"


def read_known(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    wrong = [line for line in lines if len(line) != 3]
    if wrong:
        sys.exit("%s: not two patterns and a reason: %s" % (path, wrong[0]))
    return lines


def differences(out, files):
    """Of each vector on which libsframe differs the name, and what it says."""
    toolchain = subprocess.run(["test/tools/toolchain/toolchain.sh", "v3", "gcc16", "peers"], stdout=subprocess.PIPE,
                               text=True, check=True).stdout.strip()
    root = toolchain + "/peers/root"
    lib = root + "/usr/lib/x86_64-linux-gnu"
    program = out + "/run_libsframe"
    subprocess.run([toolchain + "/gcc16/x86_64/gcc", "-std=c99", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra",
                    "-isystem", root + "/usr/include", "-isystem", root + "/usr/include/libiberty", "-I" + HERE,
                    HERE + "vector.c", HERE + "run_libsframe.c", "-L" + lib, "-lsframe",
                    "-Wl,--dynamic-linker=%s/ld-linux-x86-64.so.2" % lib,
                    "-Wl,--disable-new-dtags,-rpath," + lib, "-o", program], check=True)
    with open(out + "/libsframe.differs", "w", encoding="utf-8") as said:
        done = subprocess.run([program, *files], stdout=said, stderr=subprocess.PIPE, text=True, errors="replace",
                              check=False)
    if done.returncode:
        sys.exit(done.stderr or "run_libsframe: no vector, or it was ended: status %d" % done.returncode)
    with open(out + "/libsframe.differs", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def main():
    known = read_known(HERE + "libsframe.known")
    fitting = {id(line): [] for line in known}
    failed = False
    for name, said in differences(sys.argv[1], sys.argv[2:]):
        line = next((k for k in known if fnmatch.fnmatchcase(name, k[0]) and fnmatch.fnmatchcase(said, k[1])), None)
        if line is None:
            print("not ok %s: libsframe says: %s" % (name, said))
            failed = True
        else:
            fitting[id(line)].append(name)
    for line in known:
        if fitting[id(line)]:
            print("ok %d vectors like \"%s\": %s: %s" % (len(fitting[id(line)]), fitting[id(line)][0], *line[1:]))
        elif line[1] != "*" and os.environ.get("T", "") in ("", line[0]):
            print("not ok %s: %s: it does not differ there any more" % (line[0], line[1]))
            failed = True
    if os.environ.get("T") and not failed:
        print("ok %s: libsframe.known has each difference" % os.environ["T"])
    sys.exit(failed)


main()

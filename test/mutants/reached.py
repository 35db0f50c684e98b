#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""reached.py SOURCES COMMAND...: which lines each test reaches, as JSON: {COMMAND: {test: {source: [lines]}}}.

SOURCES are several, with spaces between them. Each COMMAND runs tests of check.py, as @try of mutants.py does: the
first "cd $DIR" in it goes to a tree of host.sh, whose tools count lines. In the environment are $OUT, which gets that
tree, and $KEPT, which keeps what was found out until the sources or the tests change.
"""
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

SOURCES = sys.argv[1].split()
TREE, KEPT = os.path.abspath(os.environ["OUT"] + "/reached"), os.environ["KEPT"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def kept_as(command):
    """The file for COMMAND: another one if a source, or the script that COMMAND runs, changes"""
    key = hashlib.sha256(command.encode())
    for path in SOURCES + [word for word in re.findall(r"\S+\.py\b", command) if os.path.exists(word)]:
        key.update(read(path).encode() + b"\0")
    return "%s/reached-%s.json" % (KEPT, key.hexdigest())


def build():
    """Sources with a line more differ from those that are there, so host.sh compiles them. Tests that link objects on
    their own find in sfu.o what counts."""
    for path in SOURCES:
        os.makedirs(os.path.dirname("%s/%s" % (TREE, path)), exist_ok=True)
        with open("%s/%s" % (TREE, path), "w", encoding="utf-8") as file:
            file.write(read(path) + "\n")
    core = "build/tools/objects/sfu.o"
    os.makedirs(os.path.dirname("%s/%s" % (TREE, core)))
    library = subprocess.run(["gcc", "-print-file-name=libgcov.a"], check=True, capture_output=True, text=True).stdout
    subprocess.run(["ld", "-r", core, "--whole-archive", library.strip(), "-o", "%s/%s" % (TREE, core)], check=True)
    subprocess.run(["test/mutants/host.sh", TREE], check=True, stdin=subprocess.DEVNULL,
                   env={**os.environ, "CHECKS": "", "CHECKS_LINK": "", "MORE_FLAGS": "-O0 --coverage"})


def lines_of(own):
    """{source: lines} of what was counted in the directory OWN"""
    result = {}
    for counts in glob.glob(own + "/**/*.gcda", recursive=True):
        notes = counts[len(own):-len("gcda")] + "gcno"
        os.symlink(notes, counts[:-len("gcda")] + "gcno")
        done = subprocess.run(["gcov", "--json-format", "--stdout", counts], capture_output=True, text=True, check=True)
        for file in json.loads(done.stdout)["files"]:
            path = next((path for path in SOURCES if file["file"].endswith(path)), None)
            if path:
                result.setdefault(path, set()).update(
                    line["line_number"] for line in file["lines"] if line["count"] > 0)
    return {path: sorted(lines) for path, lines in result.items()}


def reached_by(command):
    each = TREE + "/each"
    shutil.rmtree(each, ignore_errors=True)
    os.makedirs(each)
    done = subprocess.run(["sh", "-c", command], env={**os.environ, "DIR": TREE, "CHECK_EACH": each},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("%s: %s" % (command, done.stdout[-300:]))
    tests = [each + "/" + number for number in os.listdir(each)]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip([read(own + "/name") for own in tests], pool.map(lines_of, tests)))


def main():
    result = {}
    for command in sys.argv[2:]:
        path = kept_as(command)
        if not os.path.exists(path):
            if not os.path.exists(TREE):
                build()
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(reached_by(command), file)
            os.rename(path + ".new", path)
        result[command] = json.loads(read(path))
    print(json.dumps(result))


main()

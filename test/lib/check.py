# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Tests in Python: each is a function that returns what to say of it, or nothing, and raises Wrong if it fails.

    from check import Wrong, finish, must, run, test     with test/lib in sys.path
    test("a name", function, arguments...)               prints "ok a name" or "not ok a name: why"
    tests_at_once([("a name", function, arguments...)])  the same of many, two at a time, printed in their order
    finish()                                             ends the program: status 1 if a test has failed

In the environment:
    T             chooses tests: those whose names have it, or match it as a pattern of the shell
    CHECK_STOP    the program ends with the first test that fails, as C programs do that check.h runs
    CHECK_WITHOUT tests that are left out, a line for each
    CHECK_EACH    a directory: GCOV_PREFIX is one in it for each test, whose name is in NUMBER/name
    CHECK_KEPT    a directory that keeps what assemblers, compilers and linkers make, for tests that run again and again
"""
import concurrent.futures
import fnmatch
import hashlib
import os
import re
import shutil
import subprocess
import sys
import traceback

failed = []  # names of tests


class Wrong(Exception):
    pass


def must(condition, what="it does not hold"):
    if not condition:
        raise Wrong(what() if callable(what) else what)


def kept(command):
    """(what COMMAND makes, where that is kept), if it is a toolchain's and says so. Headers are taken as they were."""
    directory = os.environ.get("CHECK_KEPT")
    if not directory or not re.search(r"(^|[/-])(as|ld|ld\.\w+|gcc|g\+\+|clang)(-\d+)?$", command[0]) or \
            command.count("-o") != 1:
        return None, None
    made = command[command.index("-o") + 1]
    key = hashlib.sha256()
    for word in command:
        key.update(word.encode() + b"\0")
        if word != made and os.path.isfile(word):
            with open(word, "rb") as file:
                key.update(file.read())
    return made, os.path.join(directory, key.hexdigest())


def run(*command, status=0, stdin=None, timeout=600):
    """Runs COMMAND, which must end with STATUS. Returns its output and its errors."""
    made, copy = kept(command)
    if made and os.path.exists(copy):
        shutil.copy(copy, made)
        return "", ""
    done = subprocess.run(command, input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False, timeout=timeout)
    if done.returncode != status:
        text = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Wrong("%s: status %d: %s" % (" ".join(command), done.returncode, text[-1] if text else ""))
    if made and status == 0 and not done.stdout and not done.stderr:
        shutil.copy(made, copy + ".%d" % os.getpid())
        os.rename(copy + ".%d" % os.getpid(), copy)
    return done.stdout, done.stderr


def chosen(name):
    pattern = os.environ.get("T", "")
    return (pattern in name or fnmatch.fnmatchcase(name, "*%s*" % pattern)) and \
        name not in os.environ.get("CHECK_WITHOUT", "").split("\n")


def count_apart(name):
    """What compilers' --coverage counts in the programs that the test NAME runs is that test's alone."""
    parent = os.environ["CHECK_EACH"]
    own = "%s/%d" % (parent, len(os.listdir(parent)))
    os.makedirs(own)
    with open(own + "/name", "w", encoding="utf-8") as file:
        file.write(name)
    os.environ["GCOV_PREFIX"] = own


def result_of(name, function, *arguments):
    """(whether the test passes, the lines that say so)"""
    if os.environ.get("CHECK_EACH"):
        count_apart(name)
    try:
        said = function(*arguments)
    except (Wrong, OSError, subprocess.SubprocessError) as wrong:
        why, *more = str(wrong).splitlines() or [repr(wrong)]
    except Exception as wrong:  # the test itself may be at fault: where it was is of use, too
        why, more = repr(wrong), traceback.format_exc().splitlines()
    else:
        return True, "ok " + name + (": %s" % said if said else "")
    return False, "".join("# %s\n" % line for line in more) + "not ok %s: %s" % (name, why)


def report(name, passed, lines):
    print(lines, flush=True)
    if not passed:
        failed.append(name)
        if os.environ.get("CHECK_STOP"):
            finish()


def test(name, function, *arguments):
    if chosen(name):
        report(name, *result_of(name, function, *arguments))


def tests_at_once(tests):
    tests = [test for test in tests if chosen(test[0])]
    with concurrent.futures.ThreadPoolExecutor(1 if os.environ.get("CHECK_EACH") else 2) as pool:
        for (name, *_), result in zip(tests, pool.map(lambda test: result_of(*test), tests)):
            report(name, *result)


def finish():
    sys.exit(1 if failed else 0)

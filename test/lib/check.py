# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Tests in Python: each is a function that returns what to say of it, or nothing, and raises Wrong if it fails.

    from check import Wrong, finish, must, run, test     with test/lib in sys.path
    test("a name", function, arguments...)               prints "ok a name" or "not ok a name: why"
    finish()                                             ends the program: status 1 if a test has failed

T in the environment chooses tests: those whose names have it, or match it as a pattern of the shell.
"""
import fnmatch
import os
import subprocess
import sys

failed = []  # names of tests


class Wrong(Exception):
    pass


def must(condition, what="it does not hold"):
    if not condition:
        raise Wrong(what() if callable(what) else what)


def run(*command, status=0, stdin=None, timeout=600):
    """Runs COMMAND, which must end with STATUS. Returns its output and its errors."""
    done = subprocess.run(command, input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False, timeout=timeout)
    if done.returncode != status:
        text = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Wrong("%s: status %d: %s" % (" ".join(command), done.returncode, text[-1] if text else ""))
    return done.stdout, done.stderr


def chosen(name):
    pattern = os.environ.get("T", "")
    return pattern in name or fnmatch.fnmatchcase(name, "*%s*" % pattern)


def test(name, function, *arguments):
    if not chosen(name):
        return
    try:
        said = function(*arguments)
    except (Wrong, OSError, LookupError, TypeError, ValueError, subprocess.SubprocessError) as wrong:
        failed.append(name)
        print("not ok %s: %s" % (name, str(wrong).replace("\n", " ")), flush=True)
    else:
        print("ok " + name + (": %s" % said if said else ""), flush=True)


def finish():
    sys.exit(1 if failed else 0)

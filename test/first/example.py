#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""example.py DIRECTORY: the first example of README.md, in the kernel of test/manual/boot.c, prints its trace."""
import sys

sys.path[:0] = ["test/lib", "test/manual"]
import examples  # noqa: E402
from check import finish, test  # noqa: E402

test("README.md's first example", examples.boots("x86_64", "example", made=sys.argv[1]), None, None)
finish()

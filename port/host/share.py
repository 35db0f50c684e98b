#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""share.py READS IMAGE...: how much of the code with call frame information (CFI) the reader of machine code describes.

For each image: the bytes of code that entries of CFI name, how many percent of them the reader has reached, and of how
many percent it says what their CFI says or, where it contradicts the CFI, what is so. READS is build/host/reads."""
import os
import subprocess
import sys

for image in sys.argv[2:]:
    done = subprocess.run([sys.argv[1], image], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
    lines = {line.split()[0]: dict(zip(*[iter(line.split()[1:])] * 2)) for line in done.splitlines()[-2:]}
    total = int(lines["all"]["bytes"])
    reached, described = (100 * sum(int(lines["sum"][word]) for word in words) / total
                          for words in (("reached",), ("confirmed", "corrected")))
    where = [part for part in image.split("/") if part][-3:]
    name = (where[0] + " " if where[1] == "v3" else "") + os.path.basename(image)
    print("%s: %s bytes, %.1f%% reached, %.1f%% described" % (name, format(total, ","), reached, described))

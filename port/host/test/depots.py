# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Dumps of depots that are written here: traces of random calls of an image, and what addr2line says of them."""
import collections
import os
import random
import re

from host import TC
from traces import Lines, run, symbol


class Code:
    """The calls of an image, and what addr2line says of them."""

    def __init__(self, cpu, image):
        self.image, self.lines, self.known = image, Lines(cpu, image), {}
        text = run("%s/%s/objdump" % (TC, cpu), "-d", "--no-show-raw-insn", image)[0].decode()
        found = re.findall(r"(?m)^ *([0-9a-f]+):\t(\S+)", text)
        call = {"x86_64": "call", "aarch64": "bl", "s390x": "brasl"}[cpu]
        self.all = [int(addr, 16) for addr, _ in found]
        self.returns = [self.all[i + 1] for i, (_, word) in enumerate(found[:-1]) if word == call]
        self.traps = []
        for name in ("program_", "external_") if cpu == "s390x" else ("exception_",):
            low, high = (symbol(cpu, image, name + end) for end in ("saved", "restored"))
            self.traps += [addr for addr in self.returns if low < addr < high]
        symbols = re.findall(r"(?m)^([0-9a-f]+) ([0-9a-f]+) [tT] ",
                             run("%s/%s/nm" % (TC, cpu), "-S", image)[0].decode())
        inside = {addr for start, size in symbols for addr in range(int(start, 16), int(start, 16) + int(size, 16))}
        # Behind the last call of a function there may be none, or another.
        self.returns = [addr for addr in self.returns if {addr - 1, addr} <= inside and addr not in self.traps]

    def names(self, lookup, files=False):
        """Functions at a link-time address, the outermost first; with FILES, with their lines where there are any: of
        inline assembly at the top of a file addr2line knows the file alone."""
        if lookup not in self.known:
            self.known[lookup] = self.lines.at(lookup)
        return ["%s (%s)" % (name, os.path.basename(line)) if files and not line.endswith(":?") else name
                for name, line in reversed(self.known[lookup]) if name != "??"]


class Dump:
    """Traces of random calls, and the lines that a depot prints of them."""

    def __init__(self, code, seed, exact=True, traps=True, unit="samples", rate=1000, name="", slide=0):
        chosen = random.Random(seed)
        self.code, self.exact, self.name, self.slide = code, exact, name, slide
        self.unit, self.rate, self.id, self.base = unit, rate, None, (chosen.choice(code.all) & ~0xfff) + 1
        self.traces = []
        for _ in range(chosen.randrange(20, 60)):
            pcs = chosen.choices(code.returns[::7], k=chosen.randrange(1, 12))
            if exact:
                pcs[0] = chosen.choice(code.returns)  # any instruction would do
            if traps and len(pcs) > 3 and chosen.random() < 0.5:
                pcs[chosen.randrange(0 if not exact else 1, len(pcs) - 2)] = chosen.choice(code.traps)
            cut = [self.base] if chosen.random() < 0.1 else []  # says that the trace is not complete
            self.traces.append((chosen.randrange(1, 5000), pcs + cut))

    def text(self, chosen=None):
        lines = ["begin %s %s %d%s" % ("exact" if self.exact else "return", self.unit, self.rate,
                                       " " + self.name if self.name else "")]
        lines += ["build " + self.id] if self.id else []
        lines += ["slide %x" % self.slide] if self.slide else []
        lines += ["base %x" % (self.base + self.slide)]
        for weight, pcs in self.traces:
            words = [("%x" % (pc - self.base) if pc >= self.base else "=%x" % (pc + self.slide)) for pc in pcs]
            lines.append("t %d %x %s" % (weight, len(pcs), " ".join(words[:4])))
            lines += ["c " + " ".join(words[i:i + 5]) for i in range(4, len(words), 5)]
        lines += ["idle 17", "lost 4", "end %d" % len(self.traces)]
        return "".join((chosen.choice(["", "[ 1.2] ", "<6>"]) if chosen else "") + "sfut1 %s\n" % line
                       for line in lines)

    def folded(self, files=False):
        """{path: weight}"""
        result = collections.Counter()
        for weight, pcs in self.traces:
            path = []
            for i, pc in enumerate(pcs):
                if pc == self.base:
                    path += ["[incomplete]"]
                    break
                interrupted = i > 0 and pcs[i - 1] in self.code.traps
                path += ["[interrupted]"] if interrupted else []
                exact = interrupted or (i == 0 and self.exact)
                path += reversed(self.code.names(pc - (not exact), files) or ["0x%x" % (pc - (not exact))])
            result[";".join(([self.name] if self.name else []) + path[::-1])] += weight
        return result

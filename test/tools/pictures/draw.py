#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""draw.py speed: prints the picture of speed against size, of the figures in test/tools/bench/RESULTS.md.
draw.py trace TOOLS DIRECTORY: boots the kernel in DIRECTORY, lets it panic in an interrupt, and prints the picture of
its trace, with the row of the table that carried each step, as objdump shows it. TOOLS has the CPU's binutils.

The pictures have colours for light and for dark pages, and a ground of their own for readers that know no dark ones."""
import math
import os
import re
import sys

sys.path.insert(0, "port/baremetal/test")
import machines  # noqa: E402

STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.small { font-size: 11px; fill: #59636e } .code { font-family: ui-monospace, monospace; font-size: 12px }
.strong { font-weight: 600 } .line { stroke: #d1d9e0 } .arrow { stroke: #59636e; fill: none }
.ours { fill: #0969da } .peer { fill: #9a6700 } .plain { fill: #59636e }
.page { fill: #ffffff } .box { fill: #f6f8fa; stroke: #d1d9e0 } .trap { fill: #fff1e5; stroke: #e16f24 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .small { fill: #9198a1 } .line { stroke: #3d444d } .arrow { stroke: #9198a1 }
.ours { fill: #4493f8 } .peer { fill: #d29922 } .plain { fill: #9198a1 }
.page { fill: #0d1117 } .box { fill: #151b23; stroke: #3d444d } .trap { fill: #3d2b1f; stroke: #f0883e }
}
</style>"""


def picture(width, height, title, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' role="img">',
        "<!-- SPDX-License-Identifier: MIT; Copyright (c) 2026 The sfu authors; drawn by"
        " test/tools/pictures/draw.py -->",
        f"<title>{title}</title>", STYLE, f'<rect class="page" width="{width}" height="{height}"/>', *parts,
        "</svg>", ""])


def text(x, y, words, kind="", anchor="start"):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{words}</text>'


# ---- speed against size ----

# Walker of RESULTS.md: its name here, whose bytes it needs besides its own, where its name stands, who it is. Ours are
# there with -O2, and as WALKER_Os with -Os: both are drawn, each with the bytes and the time of its level.
WALKERS = {
    "sfu": ("sfu", None, "left", "ours"),
    "sfu_fast": ("sfu, fast walker", "sfu", "left", "ours"),
    "sfu_fast_8k": ("sfu, fast walker, 8 KiB cache", "sfu", "left", "ours"),
    "fp": ("frame pointers", None, "right", "plain"),
    "libgcc": ("libgcc", None, "left", "peer"),
    "libunwind_step": ("libunwind", None, "above", "peer"),
    "libunwind_cached": ("libunwind, cached", None, "right", "peer"),
    "libsframe": ("libsframe", None, "left", "peer"),
    "llvm": ("LLVM libunwind", None, "right", "peer"),
}
LEFT, RIGHT, TOP, BOTTOM = 70, 690, 40, 350


def measured():
    """walker: (nanoseconds per frame, bytes)"""
    with open("test/tools/bench/RESULTS.md", encoding="utf-8") as f:
        rows = re.findall(r"^\| `(\w+)` \| [\d.]+ \| ([\d.]+) \| \S+ \| [\d.]+ \| \d+ \| (\d+) \|",
                          f.read().replace(",", ""), re.M)
    return {name: (float(ns), int(size)) for name, ns, size in rows}


def across(size):
    return LEFT + (RIGHT - LEFT) * (math.log10(size) - 1.8) / (5.4 - 1.8)


def down(ratio):
    return TOP + (BOTTOM - TOP) * (3 - math.log10(ratio)) / 3


def dot(figures, walker, beside, level=""):
    """where a walker is in the picture, rounded"""
    ns, size = figures[walker + level]
    if beside:
        size += figures[beside + level][1]
    return round(across(size), 1), round(down(ns / figures["fp"][0]), 1)


def label(x, y, name, side):
    if side == "right":
        return text(x + 9, y + 4, name)
    if side == "left":
        return text(x - 9, y + 4, name, anchor="end")
    return text(x, y - 10, name, anchor="middle")


def speed():
    figures = measured()
    parts = [text(LEFT, 20, "Time for each frame, against code and constants: down and to the left is better",
                  "strong")]
    for ratio in (1, 10, 100, 1000):
        parts += [f'<path class="line" d="M{LEFT} {down(ratio):.1f}H{RIGHT}"/>',
                  text(LEFT - 6, down(ratio) + 4, f"{ratio:,}", "small", "end")]
    for size, words in ((100, "100 bytes"), (1000, "1 KB"), (10000, "10 KB"), (100000, "100 KB")):
        parts += [f'<path class="line" d="M{across(size):.1f} {TOP}V{BOTTOM}"/>',
                  text(across(size), BOTTOM + 16, words, "small", "middle")]
    for walker, (name, beside, side, kind) in WALKERS.items():
        x, y = dot(figures, walker, beside)
        if kind == "ours":
            small_x, small_y = dot(figures, walker, beside, "_Os")
            parts += [f'<path class="arrow" d="M{small_x} {small_y}L{x} {y}"/>', label(x, y, "-O2", "right"),
                      f'<circle class="{kind}" cx="{x}" cy="{y}" r="5"/>']
            x, y, name = small_x, small_y, f"{name}: -Os"
        parts += [f'<circle class="{kind}" cx="{x}" cy="{y}" r="5"/>', label(x, y, name, side)]
    parts.append(text(LEFT, BOTTOM + 38, "Stacks of sqlite, x86_64, warm, all in one run; time of frame pointers = 1. "
                      "All figures: test/tools/bench/RESULTS.md", "small"))
    return picture(760, 400, "Speed against size of unwinders", parts)


# ---- a trace ----

def rows(image):
    """(address, CFA, FP, RA) of each row of the image's table, in ascending order"""
    out = image.tool("objdump", "--sframe", image.path)
    found = re.findall(r"^ +([0-9a-f]{16}) +(RA undefined|\S+) *(\S*) *(\S*) *$", out, re.M)
    return sorted((int(addr, 16), cfa, fp, ra) for addr, cfa, fp, ra in found)


def rule(row):
    """A row in words. objdump's: f is the fixed place of the header, u unchanged, c the CFA; (sp+8) is in memory."""
    _, cfa, fp, ra = row
    if cfa == "RA undefined":
        return "RA undefined: outermost"
    place = {"c": "CFA"}
    said = []
    for name, value in (("CFA", cfa), ("RA", "c-8" if ra == "f" else ra), ("FP", fp)):
        if value == "u":
            continue
        inner = re.sub(r"^(sp|c|fp)", lambda m: place.get(m[1], m[1].upper()), value.strip("()"))
        read = value.startswith("(") or name != "CFA"
        said.append(f"{name} = *({inner})" if read else f"{name} = {inner}")
    return ", ".join(said)


def trace(tools, directory):
    image = machines.Image(tools, directory)
    table = rows(image)
    lines, _ = machines.boot("x86_64", image.path, "irq", False)
    frames = [machines.FRAME.match(line) for line in lines if machines.FRAME.match(line)]
    parts = [text(20, 24, "A kernel on x86_64 panics in a timer interrupt: "
                  "each step, and the row of .sframe that it took", "strong"),
             text(330, 46, "function", "small"), text(470, 46, "what the row says of the caller", "small")]
    y, stack_top, stack = 60, 56, "interrupt stack"
    for n, m in enumerate(frames):
        pc, name, marks = int(m[2], 16), m[3], m[5]
        exact = n == 0 or "[interrupted]" in marks
        row = [r for r in table if r[0] <= pc - (not exact)][-1]
        if "[stack switch]" in marks:
            parts += stack_box(stack, stack_top, y - 8)
            y += 26
            parts.append(text(330, y - 14, "an interrupt: the CPU changed the stack, the PC below is exact", "small"))
            stack_top, stack = y - 4, "boot stack"
        kind = "trap" if row[1].startswith("(") else "box"
        parts += [f'<rect class="{kind}" x="320" y="{y}" width="130" height="22" rx="4"/>',
                  text(330, y + 15, name, "code"),
                  f'<rect class="{kind}" x="460" y="{y}" width="400" height="22" rx="4"/>',
                  text(470, y + 15, rule(row), "code")]
        if n == 0:
            parts.append(text(304, y + 15, "an exception, from the saved registers →", "small", "end"))
        elif kind == "trap":
            parts.append(text(304, y + 15, "written by sfu_trap_row →", "small", "end"))
        elif row[1] == "RA undefined":
            parts.append(text(304, y + 15, "written by sfu_outermost_begin →", "small", "end"))
        y += 26
    parts += stack_box(stack, stack_top, y)
    end = next(line for line in lines if line.startswith("trace ends"))
    parts.append(text(320, y + 18, end, "code"))
    return picture(880, y + 34, "A trace through an exception, an interrupt and a stack switch", parts)


def stack_box(name, top, bottom):
    return [f'<rect class="box" x="20" y="{top}" width="24" height="{bottom - top}" rx="4"/>',
            f'<text class="small" text-anchor="middle" transform="translate(36 {(top + bottom) / 2:g}) rotate(-90)">'
            f'{name}</text>']


sys.stdout.write(speed() if sys.argv[1] == "speed" else trace(sys.argv[2], sys.argv[3]))

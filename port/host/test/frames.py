#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""frames.py: tests of sfu-lint --frames. Prints a line for each.

A function's bytes are those that its compiler says itself (-fstack-usage). A path is what the source below calls.
"""
import glob
import os
import re

from host import GCC, LINT, WORK, finish, lint, must, run, test, write

OUT = os.path.join(WORK, "frames")
GCC["riscv64"] = "riscv64-linux-gnu-gcc"
COMPILERS = {cpu: ("gcc", "clang") for cpu in ("x86_64", "aarch64", "s390x", "riscv64")}
SOURCES = ["sfu.c", "port/print/sfu_print.c", "port/print/sfu_cycles.c", "port/depot/sfu_depot.c"]
FLAGS = ["-ffreestanding", "-fasynchronous-unwind-tables", "-fno-pie", "-fno-stack-protector", "-I.", "-Iarch",
         "-Iport/print"]


def usage(folder, cpu, compiler):
    """Of each function: its bytes, and whether they are always the same. clang for x86_64 leaves the RA out."""
    more = 8 if (cpu, compiler) == ("x86_64", "clang") else 0
    sizes = {}
    for file in glob.glob(folder + "/*.su"):
        with open(file, encoding="utf-8") as f:
            for line in f:
                place, size, kind = line.rstrip("\n").split("\t")
                sizes.setdefault(place.split(":")[-1], []).append((int(size) + more, kind == "static"))
    return {name: found[0] for name, found in sizes.items() if len(found) == 1}


def build(cpu, compiler, level, sources, *flags):
    """Links SOURCES. Returns the image and what the compiler says of its frames."""
    folder = os.path.join(OUT, cpu + compiler + level + "".join(flags))
    os.makedirs(folder, exist_ok=True)
    for file in glob.glob(folder + "/*"):
        os.remove(file)
    command = [GCC[cpu]] if compiler == "gcc" else ["clang", "--target=%s-linux-gnu" % cpu]
    objects = []
    for source in sources:
        objects.append("%s/%s.o" % (folder, os.path.basename(source)))
        run(*command, level, "-fstack-usage", *FLAGS, *flags, "-c", source, "-o", objects[-1])
    image = folder + "/image"
    run(cpu + "-linux-gnu-ld", "-e", "start", "--unresolved-symbols=ignore-all", "-o", image, *objects)
    return image, usage(folder, cpu, compiler)


def add_tables(image):
    run("build/tools/sfu-gen", "-q", "--append=" + image + ".with", image)
    os.replace(image + ".with", image)


def frames_of(image, *options, status=None):
    result = lint("--frames", *options, image, status=status)
    names = [f["function"] for f in result["frames"]]
    return {f["function"]: f for f in result["frames"] if names.count(f["function"]) == 1}, result


def equal_sizes(cpu, compiler, level):
    image, sizes = build(cpu, compiler, level, SOURCES)
    frames = frames_of(image)[0]
    both = [name for name in sizes if name in frames]
    wrong = [(name, sizes[name], frames[name]["bytes"]) for name in both if sizes[name][0] != frames[name]["bytes"]]
    must(len(both) > 30 and not wrong, "%d functions, %d wrong: %s" % (len(both), len(wrong), wrong[:3]))
    exact = sum(frames[name]["exact"] for name in both)
    must(cpu == "s390x" or exact == len(both), "%d of %d are exact" % (exact, len(both)))
    return "%d functions, as their compiler says" % len(both)


PROGRAM = r"""
#define F __attribute__((noinline, noclone, noipa)) int
#if defined(__clang__)
#define noipa noinline
#define noclone noinline
#endif
volatile int sink;
F leaf(int x) { volatile int a[100]; a[x] = x; return a[x]; }
F small(int x) { volatile int a[10]; a[x] = x; return a[x] + 1; }
F middle(int x) { volatile int a[500]; a[x] = small(x); return leaf(a[x]) + 1; }
F tail(int x) { volatile int a[300]; a[x] = small(x); x = a[x]; return leaf(x); }
F top(int x) { return middle(x) + tail(x) + 1; }
F odd(int x);
F even(int x) { volatile int a[20]; a[x] = x; return x == 0 ? 1 : odd(x - 1) + a[x]; }
F odd(int x) { volatile int a[40]; a[x] = x; return x == 0 ? 0 : even(x - 1) + a[x]; }
F itself(int x) { return x == 0 ? 1 : itself(x - 1) * small(x) + 1; }
F comes_to_it(int x) { return itself(x) + 1; }
F array(int x) { volatile char a[x]; a[x - 1] = (char)small(x); return a[x - 1]; }
F pointer(int (*f)(int)) { return f(3) + 1; }
F jumps(int (*f)(int), int x) { return f(x); }
F other(int x) { return sink + x; }
F cases(int x)
{
    switch (x) {
    case 0: sink = leaf(1); break;
    case 1: sink = 7; break;
    case 2: sink = small(9); break;
    case 3: sink = 1000; break;
    case 4: sink = middle(8); break;
    case 5: sink = other(3); break;
    case 6: sink = 5; break;
    }
    return sink;
}
void start(void)
{
    sink = top(1) + even(2) + comes_to_it(2) + array(3) + pointer(other) + jumps(other, 2) + cases(4);
    for (;;) {
    }
}
"""
# Who calls whom, but for pointers and recursion. TAILS: the call is a jump, with nothing left on the stack.
CALLS = {
    "middle": ["small", "leaf"],
    "tail": ["small"],
    "top": ["middle", "tail"],
    "itself": ["small"],
    "comes_to_it": ["itself"],
    "array": ["small"],
    "cases": ["leaf", "small", "middle", "other"],
    "start": ["top", "even", "comes_to_it", "array", "pointer", "jumps", "cases"],
}
TAILS = {"tail": "leaf"}
LEAST = {"even", "odd", "itself", "comes_to_it", "array", "pointer", "jumps", "start"}
ROUNDS = [["even", "odd"], ["itself"]]


def depth_of(name, sizes):
    """By the compiler's sizes."""
    own = sizes[name][0]
    jumped = depth_of(TAILS[name], sizes) if name in TAILS else 0
    return max([own, jumped] + [own + depth_of(callee, sizes) for callee in CALLS.get(name, [])])


def paths(cpu, compiler, level):
    image, sizes = build(cpu, compiler, level, [OUT + "/paths.c"], "-fno-inline", "-Wno-unknown-attributes")
    if compiler == "gcc": # else by the CFI
        add_tables(image)
    frames, result = frames_of(image)
    for name, found in frames.items():
        path = [f["function"] for f in found["path"]]
        must(path[0] == name and all(b in CALLS.get(a, []) + [TAILS.get(a)] for a, b in zip(path, path[1:])),
             "%s: %s" % (name, path))
        depth = depth_of(name, sizes)
        must(sum(f["bytes"] for f in found["path"]) == found["depth"] == depth, "%s: %d bytes, not %d" % (
            name, found["depth"], depth))
    least = {name for name in frames if not frames[name]["depth_exact"]}
    must(least == LEAST, "not exact: %s" % sorted(least ^ LEAST))
    must({name for name in frames if not frames[name]["exact"]} == {"array"}, "SP of others than array")
    must({name for name in frames if not frames[name]["called"]} == {"start"}, "roots")
    rounds = [sorted(c["functions"]) for c in result["cycles"]]
    must(sorted(rounds) == ROUNDS, "rounds: %s" % rounds)
    for cycle in result["cycles"]:
        must(cycle["bytes"] == sum(sizes[f][0] for f in cycle["functions"]), "a round of %s" % cycle)


def limits():
    """--max-frame and --max-depth are faults, by their names; the text says what --json says."""
    image, sizes = build("x86_64", "gcc", "-O2", [OUT + "/paths.c"], "-fno-inline")
    add_tables(image)
    bytes_ = sizes["middle"][0]
    frames, result = frames_of(image, "--max-frame=%d" % (bytes_ - 1), status=1)
    must([f["where"] for f in result["findings"] if f["name"] == "large-frame"] == ["middle"], "large-frame")
    frames_of(image, "--max-frame=%d" % bytes_, status=0)
    depth = frames["start"]["depth"]
    result = frames_of(image, "--max-depth=%d" % (depth - 1), status=1)[1]
    must([f["where"] for f in result["findings"] if f["name"] == "deep-calls"] == ["start"], "deep-calls")
    frames_of(image, "--max-depth=%d" % depth, status=0)
    frames_of(image, "--max-frame=1", "--allow=large-frame", status=0)
    text = run(LINT, "--frames", image)[0]
    must(re.search(r"(?m)^ +%d  middle \(0x" % bytes_, text), "no line of middle")
    must(re.search(r"(?m)^ +%d\+ start %d > " % (depth, sizes["start"][0]), text), "no path of start")
    must("frames" not in lint(image), "they are not asked for")
    for wrong in ("--max-frame=0", "--max-frame=x", "--max-depth=-1"):
        must(run(LINT, wrong, image, status=2)[1].count("\n") == 1, wrong)


def objects():
    """Of an object the calls are not known."""
    folder = os.path.dirname(build("x86_64", "gcc", "-O2", [OUT + "/paths.c"], "-fno-inline")[0])
    sizes = usage(folder, "x86_64", "gcc")
    frames = frames_of(folder + "/paths.c.o", status=1)[0]
    must(all("depth" not in f for f in frames.values()), "depths")
    must(frames["middle"]["bytes"] == sizes["middle"][0] and not frames["array"]["exact"], "rows of its CFI")


def main():
    os.makedirs(OUT, exist_ok=True)
    write(OUT + "/paths.c", PROGRAM.encode())
    for cpu, compilers in COMPILERS.items():
        for compiler in compilers:
            for level in ["-O2"] + ["-O0"] * (compiler == "gcc"):
                test("%s sizes %s %s" % (cpu, compiler, level), equal_sizes, cpu, compiler, level)
            if cpu != "s390x":
                test("%s paths %s" % (cpu, compiler), paths, cpu, compiler, "-O2")
    test("limits", limits)
    test("objects", objects)


if __name__ == "__main__":
    main()
    finish()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""maps.py: names of functions from the map of a linker, against nm's of the same program with symbols. Prints a line
for each test."""
import os
import random
import re
import subprocess

from broken import NEVER, gen_survives
from host import LINT, LONG, OUT, TC, WORK, finish, gen, lint, must, read, run, test, write
from many import Many

TRACE = "build/tools/sfu-trace"
SOURCE = """
volatile int sink, value = 3;
#define PART __attribute__((noinline))
static PART int hidden(int a) { return a * sink + 1; }
PART int known(int a) { volatile char bytes[100]; bytes[a] = 1; return hidden(a) + bytes[a]; }
static PART int last(int a) { sink = hidden(a); return known(a + 1) - a; }
unsigned long long efi_main(void *image, int *system) { return (unsigned)known(*system) + last(image != 0); }
"""
STATIC = ("hidden", "last")
CLANG = ["clang", "--target=x86_64-unknown-windows"]
ARM64 = ["clang", "--target=aarch64-unknown-windows"]


def lld_link(name, compiler, option):
    """With symbols and without them. Returns the program and the functions of the one with symbols."""
    run(*compiler, "-O1", "-ffreestanding", "-c", name + ".c", "-o", name + ".obj")
    for out, more in ((name + ".full", ["/debug:symtab"]), (name + ".efi", [option + name + ".map"])):
        run("lld-link", "/subsystem:efi_application", "/entry:efi_main", "/nodefaultlib", *more, "/out:" + out,
            name + ".obj")
    return name + ".efi", name + ".full"


def linked(name, compiler, flags, linker, map_option):
    run(*compiler, "-O1", *flags, "-ffreestanding", "-nostdlib", "-Wl,-e,efi_main", *linker,
        "-Wl,%s%s.map" % (map_option, name), name + ".c", "-o", name + ".full")
    run("x86_64-w64-mingw32-strip" if "mingw" in compiler[0] else "strip", "-s", name + ".full", "-o", name + ".efi")
    return name + ".efi", name + ".full"


def by_link_exe(name):
    """Functions have an "f" in the maps of link.exe, which lld-link leaves out; those of a COMDAT have "f i"."""
    files = lld_link(name, CLANG, "/map:")
    text = read(name + ".map").decode()
    text = re.sub(r"(?m)( (?:hidden|last) +\w{16}) ", r"\1 f ", text)
    text = re.sub(r"(?m)( (?:known|efi_main) +\w{16}) ", r"\1 f i ", text)
    write(name + ".map", text.replace("\n", "\r\n").encode())
    return files


MINGW, GCC = ["x86_64-w64-mingw32-gcc", "-shared", "-Wl,--subsystem,10"], ["gcc", "-fno-pic", "-no-pie"]
# name: (how the program is linked, whether the map has static functions)
MAPS = {
    "lld-link map": (lambda name: lld_link(name, CLANG, "/map:"), True),
    "lld-link map aarch64": (lambda name: lld_link(name, ARM64, "/map:"), True),
    "lld-link lldmap": (lambda name: lld_link(name, CLANG, "/lldmap:"), True),
    "link.exe": (by_link_exe, True),
    "ld MinGW": (lambda name: linked(name, MINGW, [], [], "-Map,"), False),
    "ld MinGW sections": (lambda name: linked(name, MINGW, ["-ffunction-sections"], [], "-Map,"), True),
    "ld": (lambda name: linked(name, GCC, [], [], "-Map,"), False),
    "ld sections": (lambda name: linked(name, GCC, ["-ffunction-sections"], [], "-Map,"), True),
    "ld.lld": (lambda name: linked(name, ["clang", "-fno-pic", "-no-pie"], [], ["-fuse-ld=lld"], "-Map="), True),
    "mold": (lambda name: linked(name, ["clang", "-fno-pic", "-no-pie"], [], ["-fuse-ld=mold"], "-Map="), True),
}


def build(kind):
    name = "%s/%s" % (WORK, kind.replace(" ", "-"))
    write(name + ".c", SOURCE.encode())
    return (*MAPS[kind][0](name), name + ".map")


def functions(image):
    return {name: int(pc, 16) for pc, name in re.findall(r"(?m)^([0-9a-f]+) [tT] (\w+)$", run(
        "%s/%s/nm" % (TC, "aarch64" if "aarch64" in image else "x86_64"), image)[0])}


def named(log, *arguments):
    done = subprocess.run([TRACE, *arguments], input=log, capture_output=True, check=True, text=True)
    return re.findall(r"(?m)^ {8,}(no symbol|\w+)\b", done.stdout), done.stderr


def names(kind):
    """Each function by an address inside it, and sink, which is none."""
    image, full, file = build(kind)
    known = {name: pc for name, pc in functions(full).items() if name in ("known", "efi_main", *STATIC)}
    must(len(known) == 4 and functions(image) == {}, known)
    order = sorted(known, key=known.get)
    log = "Call Stack\n" + "".join("%d 0x%x\n" % (i, known[name] + 5) for i, name in enumerate(order))
    found, said = named(log, "--map=" + file, image)
    if MAPS[kind][1]:
        must(found == order and said == "", "%s, not %s: %s" % (found, order, said))
    else:
        must("has no static functions" in said, said)
        must(all(name == wanted for name, wanted in zip(found, order) if wanted not in STATIC), (found, order))
        must(not set(found) & set(STATIC), found)


def by_gen(kind):
    """sfu-gen knows functions by the names of the map: --entry finds them, and a trace ends in the one it names."""
    image, full, file = build(kind)
    side, pc = image + ".side", functions(full)["efi_main"]
    outermost = r"pc = 0x%x, size = \d+ bytes\n +STARTPC[^\n]*\n *\n" % pc
    for entry in ([], ["--entry=efi_main:start"]):
        gen("-q", "--find", *entry, "--map=" + file, "--side=" + side, image)
        text = run("%s/x86_64/readelf" % TC, "--sframe", side)[0] + "\n"
        must((re.search(outermost, text) is not None) == (entry != []), text)
    said = gen("-q", "--find", "--entry=efi_main:start", "--side=" + side, image, status=1)[1]
    must("no symbols of code" in said, said)
    return "0x%x" % pc


def by_lint(kind):
    """sfu-lint names the functions of an image, and of its older build, by the map."""
    image, full, file = build(kind)
    known = {name for name in functions(full) if name in ("known", "efi_main", *STATIC)}
    frames = lambda *options: {f["function"] for f in lint("--frames", *options)["frames"]}
    must(not frames(image) & known and known <= frames("--map=" + file, image), frames("--map=" + file, image))
    since = lint("--map=" + file, "--diff=" + image, image)["since"]
    must(since["new"] >= len(known) and since["gone"] == 0, since)
    since = lint("--map=" + file, "--old-map=" + file, "--diff=" + image, image)["since"]
    must(since["new"] == since["gone"] == since["lost"] == 0, since)
    for words, arguments in (("--map is that of one image", ["--map=" + file, image, image]),
                             ("--diff names it", ["--old-map=" + file, image]),
                             ("No such file", ["--map=" + WORK + "/nowhere", image]),
                             ("no symbols", ["--map=/dev/null", image])):
        must(words in run(LINT, *arguments, status=2)[1], arguments)


def beside():
    """A map of the same link beside a PE file is used without an option; one of another link never is."""
    image, full, file = build("lld-link map")
    at = functions(full)["known"] + 5
    log = "Call Stack\n0 0x%x\n" % at
    must(named(log, image) == (["known"], ""), named(log, image))
    text = read(file).decode()
    stamp = re.search(r"Timestamp is (\w+)", text)[1]
    write(file, text.replace(stamp, "%08x" % (int(stamp, 16) ^ 1)).encode())
    found, said = named(log, image)
    must(found == ["no symbol"] and "--map=FILE takes names" in said, (found, said))
    found, said = named(log, "--map=" + file, image)
    must(found == ["known"] and "their timestamps differ" in said, (found, said))
    must("their timestamps differ" in gen("--find", "--map=" + file, "--side=" + image + ".side", image)[1], "sfu-gen")


def refused():
    image = build("lld-link map")[0]
    for content, words in ((b"", "no symbols"), (b"hello\n", "no symbols"), (b"00001234 T elsewhere\n", "no function")):
        write(WORK + "/refused.map", content)
        errors = gen("--find", "--map=" + WORK + "/refused.map", "--side=" + image + ".side", image, status=1)[1]
        must(words in errors and errors.count("\n") == 1, errors)
    errors = gen("--find", "--map=" + WORK + "/nowhere", "--side=" + image + ".side", image, status=1)[1]
    must("No such file" in errors, errors)


def hostile(kind):
    """Bytes of the map are others, or it ends early. The seed is fixed."""
    image, _, file = build(kind)
    whole, chosen = read(file), random.Random(kind)
    trace = Many(OUT + "/sfu-trace-sanitized", WORK, 60)
    broken = WORK + "/broken.map"
    for i in range(200 if LONG else 40):
        data = bytearray(whole)
        for _ in range(chosen.choice((1, 2, 8, 40))):
            at = chosen.randrange(len(data))
            data[at:at + chosen.choice((0, 1, 1, 1, 8))] = chosen.choice((b"", b" ", b"\n", b"\0", b"\t", b"0", b":",
                                                                          b"f", b"$", b"\xff", b"ffffffffffffffff"))
        write(broken, data[:chosen.choice((len(data), chosen.randrange(len(data))))])
        done = trace.run("--map=" + broken, image, stdin=b"#0 0x140001010\nCall Stack\n 0 0x401010\n")
        must(not NEVER.search(done.stderr) and done.returncode in (0, 1), done.stderr[-400:])
        if i % 4 == 0:
            gen_survives(image, "-q", "--find", "--map=" + broken, "--side=" + image + ".side")


def main():
    os.makedirs(WORK, exist_ok=True)
    for kind in MAPS:
        test(kind, names, kind)
    for kind in ("lld-link map", "lld-link lldmap", "ld MinGW sections"):
        test("sfu-gen, " + kind, by_gen, kind)
    for kind in ("lld-link map", "lld-link map aarch64", "mold"):
        test("sfu-lint, " + kind, by_lint, kind)
    test("beside the image", beside)
    test("refusals", refused)
    for kind in ("lld-link map", "lld-link lldmap", "ld MinGW sections", "mold"):
        test("broken, " + kind, hostile, kind)


if __name__ == "__main__":
    main()
    finish()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""folded.py folded: tests of sfu-trace --folded and --flame on dumps of depots that are written here. Prints a line for
each. What a PC is called comes from addr2line; what a picture must show from the numbers that went into the dump."""
import collections
import os
import random
import re
import xml.etree.ElementTree as ElementTree

from depots import Code, Dump
from host import GCC, TC, WORK, finish, must, read, test, write
from traces import TRACE, kernel, mutate, run, survives

SVG = "{http://www.w3.org/2000/svg}"


def folded_of(*arguments, stdin=b"", status=0):
    out, errors = run(TRACE, "--folded", *arguments, stdin=stdin, status=status)
    result = {}
    for line in out.decode().splitlines():
        path, number = line.rsplit(" ", 1)
        must(path not in result, "twice: " + path)
        result[path] = int(number)
    return result, errors.decode()


def same(found, wanted):
    wrong = [path for path in sorted({*found, *wanted}) if found.get(path, 0) != wanted.get(path, 0)]
    must(not wrong, "%s: %s instead of %s" % (wrong[:1], found.get(wrong[0] if wrong else ""),
                                              wanted.get(wrong[0] if wrong else "")))
    return "%d paths" % len(wanted)


# ---- folded ----

def test_folded():
    os.makedirs(WORK, exist_ok=True)
    for cpu in GCC:
        image = kernel(cpu) + "/kernel.elf"
        code = Code(cpu, image)
        must(code.traps and len(code.returns) > 100, "no code")
        for seed, options in enumerate([{}, {"exact": False}, {"slide": 0x1000000}, {"name": "cpu1"},
                                        {"unit": "bytes", "rate": 0}]):
            test("%s %s" % (cpu, options), one_dump, Dump(code, seed, **options))
        test("%s files" % cpu, with_files, Dump(code, 77))
        test("%s build ID" % cpu, build_id, cpu, code)
        test("%s module" % cpu, module, cpu, code)
    test("several logs", several, code)
    test("minus", minus, code)
    test("picture", picture, code)
    test("difference", difference, code)
    test("damaged", damaged, code)
    test("weights", weights, code)
    test("deep", deep, code)
    test("options", options_of, code)
    test("hostile", hostile, code)


def one_dump(dump):
    log = "boot\n%spanic: x\n" % dump.text(random.Random(1))
    found, errors = folded_of(dump.code.image, stdin=log.replace("\n", "\r\n").encode())
    must("4 %s were lost" % dump.unit in errors, errors)
    return same(found, dump.folded())


def with_files(dump):
    return same(folded_of("--files", dump.code.image, stdin=dump.text().encode())[0], dump.folded(True))


def id_of(cpu, image):
    text = run("%s/%s/readelf" % (TC, cpu), "-n", image)[0].decode()
    return re.search(r"Build ID: ([0-9a-f]+)", text)[1]


def build_id(cpu, code):
    """The image is chosen by it; without it there are no names."""
    dump = Dump(code, 5)
    other = code.image.replace("kernel.elf", "other.elf")
    dump.id = id_of(cpu, code.image)
    same(folded_of(other, code.image, stdin=dump.text().encode())[0], dump.folded())
    found, errors = folded_of(other, stdin=dump.text().encode(), status=1)
    bare = r"((0x[0-9a-f]+|\[incomplete\]);)*(0x[0-9a-f]+|\[incomplete\])"
    must("WRONG IMAGE" in errors and all(re.fullmatch(bare, path) for path in found), errors)
    must(sum(found.values()) == sum(weight for weight, _ in dump.traces), "not all weights")


def module(cpu, code):
    """Its .text is where the log says, far from the kernel."""
    file = os.path.dirname(code.image) + "/module.ko"
    text = run("%s/%s/nm" % (TC, cpu), file)[0].decode()
    middle = int(re.search(r"([0-9a-f]+) \w module_middle", text)[1], 16)
    log = ("sfut1 begin return bytes 0\nsfut1 at 7700000000 .text module.ko\nsfut1 base 7700000000\n"
           "sfut1 t 64 2 %x =%x\nsfut1 end 1\n" % (middle + 4, code.returns[0]))
    found, _ = folded_of(code.image, file, stdin=log.encode())
    must(found == {";".join(code.names(code.returns[0] - 1) + ["module_middle"]): 64}, found)


def several(code):
    """Logs are merged; a root for each CPU."""
    dumps = [Dump(code, 10 + i, name="cpu%d" % (i % 2)) for i in range(4)]
    files = []
    for i, dump in enumerate(dumps):
        files.append("--log=%s/several%d" % (WORK, i))
        write("%s/several%d" % (WORK, i), dump.text().encode())
    wanted = sum((dump.folded() for dump in dumps), collections.Counter())
    same(folded_of(code.image, stdin="".join(dump.text() for dump in dumps).encode())[0], wanted)
    return same(folded_of(*files, code.image)[0], wanted)


def minus(code):
    dumps = [Dump(code, 20), Dump(code, 21)]
    dumps[1].traces = dumps[0].traces[5:] + dumps[1].traces[5:]
    for i, dump in enumerate(dumps):
        write("%s/minus%d" % (WORK, i), dump.text().encode())
    out, _ = run(TRACE, "--folded", "--log=%s/minus0" % WORK, "--minus=%s/minus1" % WORK, code.image)
    found = {path: (int(before), int(after))
             for path, before, after in (line.rsplit(" ", 2) for line in out.decode().splitlines())}
    now, before = dumps[0].folded(), dumps[1].folded()
    must(found == {path: (before[path], now[path]) for path in {*now, *before}}, "other numbers")
    return "%d paths" % len(found)


# ---- pictures ----

def boxes_of(file):
    """[(name, title behind it, left, top, width, colour)]"""
    root = ElementTree.parse(file).getroot()
    must(root.tag == SVG + "svg" and not list(root.iter(SVG + "script")), "scripts")
    must(not any(key.startswith("on") for element in root.iter() for key in element.attrib), "handlers")
    boxes = []
    for g in root.iter(SVG + "g"):
        name, title = re.fullmatch(r"(.*): (-?\d+ .*)", g.find(SVG + "title").text).groups()
        rect = g.find(SVG + "rect")
        boxes.append((name, title, float(rect.get("x")), int(rect.get("y")), float(rect.get("width")),
                      rect.get("fill")))
        text = g.find(SVG + "text")
        if text is not None:
            must(name == text.text or name.startswith(text.text[:-2]) and text.text.endswith(".."), text.text)
            must(len(text.text) * 6.7 <= float(rect.get("width")), "a text is longer than its box")
    return boxes


def tree_of(folded):
    """{path: weight with all below}, with "all" in front"""
    sums = collections.Counter()
    for path, weight in folded.items():
        names = ["all"] + path.split(";")
        for i in range(len(names)):
            sums[tuple(names[:i + 1])] += weight
    return sums


def check_boxes(boxes, sums, width_of, least):
    """Each path has one box, within its parent's, as wide as its share."""
    whole = 1180.0
    scale = whole / width_of[("all",)]
    rows = sorted({box[3] for box in boxes}, reverse=True)
    found, paths = {}, {}
    for name, title, left, top, width, _ in boxes:
        level = rows.index(top)
        above = next((path for path, (x, w, row) in paths.items()
                      if row == level - 1 and x - 0.02 <= left and left + width <= x + w + 0.02), ()) if level else ()
        must(level == 0 or above, "%s is in no box" % name)
        path = above + (name,)
        must(path not in found, "twice: %s" % (path,))
        wanted = width_of[path] * scale
        must(abs(width - wanted) < 0.02, "%s is %s wide, not %.2f" % (path, width, wanted))
        must(int(title.split()[0]) == sums[path], "%s: %s instead of %d" % (path, title, sums[path]))
        found[path], paths[path] = title, (left, width, level)
    missing = [path for path in width_of if path not in found and width_of[path] * scale >= least]
    must(not missing, "no box for %s" % missing[:1])
    return found


def picture(code):
    dump = Dump(code, 30, name="cpu0")
    file = WORK + "/flame.svg"
    write(WORK + "/flame", dump.text().encode())
    run(TRACE, "--flame=" + file, "--log=%s/flame" % WORK, code.image)
    sums = tree_of(dump.folded())
    found = check_boxes(boxes_of(file), sums, sums, 0.3)
    for path, title in found.items():
        share = 100 * sums[path] / sums[("all",)]
        must(re.match(r"\d+ samples, %.2f%%, %.3f s$" % (share, sums[path] / 1000), title), title)
    text = read(file).decode()
    must("idle: 17, lost: 4" in text and "1000 in a second" in text, "the caption")
    must(all(ord(c) < 128 for c in text), "characters")
    dump.traces = [(590, pcs) for _, pcs in dump.traces[:2]]
    write(WORK + "/flame", dump.text().encode())
    run(TRACE, "--flame=" + file, "--least=590", "--log=%s/flame" % WORK, code.image)
    must(590 in [box[4] for box in boxes_of(file)], "no box that is just as wide as the least")
    return "%d boxes" % len(found)


def difference(code):
    """Widths are of the larger one of two numbers; red where there is more than before, blue where there is less."""
    dumps = [Dump(code, 40, rate=0), Dump(code, 40, rate=0)]
    dumps[1].traces = [(weight // 3 if i % 3 == 0 else weight * 2 if i % 3 == 1 else weight, pcs)
                       for i, (weight, pcs) in enumerate(dumps[1].traces)][2:]
    for i, dump in enumerate(dumps):
        write("%s/difference%d" % (WORK, i), dump.text().encode())
    file = WORK + "/difference.svg"
    run(TRACE, "--flame=" + file, "--log=%s/difference0" % WORK, "--minus=%s/difference1" % WORK, code.image)
    now, before = dumps[0].folded(), dumps[1].folded()
    sums, old = tree_of(now), tree_of(before)
    larger = tree_of({path: max(now[path], before[path]) for path in {*now, *before}})
    boxes = boxes_of(file)
    found = check_boxes(boxes, sums, larger, 0.3)
    colours = collections.Counter()
    for path, title in found.items():
        change = sums[path] - old[path]
        must(title.endswith("; %d before: %+d" % (old[path], change)), title)
        colours[(change > 0) - (change < 0)] += 1
    for _, title, _, _, _, colour in boxes:
        change = int(title.rsplit(" ", 1)[1])
        red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
        right = red > blue if change > 0 else blue > red if change < 0 else red == blue
        must(red >= green and blue >= green and right or abs(change) < 50, "%s is %s" % (title, colour))
    must(min(colours[1], colours[-1]) > 5, colours)
    return "%d boxes" % len(found)


# ---- damage ----

def damaged(code):
    """Lines that are missing cost their traces, and that is said."""
    dump = Dump(code, 50)
    lines = dump.text().splitlines(keepends=True)
    chosen, wanted = random.Random(3), dump.folded()
    for _ in range(20):
        at = chosen.randrange(3, len(lines) - 4)
        found, errors = folded_of(code.image, stdin="".join(lines[:at] + lines[at + 1:]).encode())
        must(sum(found.values()) < sum(wanted.values()) and set(found) <= set(wanted), "a trace that nobody had")
        must("missing" in errors, errors)
        cut = "".join(lines[:at])
        found, errors = folded_of(code.image, stdin=cut.encode())
        must("has no end" in errors and set(found) <= set(wanted), errors)
        found, errors = folded_of(code.image, stdin=(cut + dump.text()).encode())
        must("has no end" in errors and all(found[path] >= wanted[path] for path in wanted), errors)
    other = dump.text().replace(" samples ", " bytes ")
    found, errors = folded_of(code.image, stdin=(dump.text() + other).encode())
    must("of bytes is left out" in errors, errors)
    same(found, wanted)
    found, errors = folded_of("--unit=bytes", code.image, stdin=(dump.text() + other).encode())
    must("left out" not in errors, errors)
    same(found, wanted)


def weights(code):
    """Sums that do not fit stay at the largest number; what is below zero is said, and in no picture."""
    most = (1 << 63) - 1
    log = ("sfut1 begin return bytes 0\nsfut1 base 0\nsfut1 t %d 1 %x\nsfut1 t -5 1 %x\nsfut1 t %d 1 %x\n"
           "sfut1 idle %d\nsfut1 lost -3\nsfut1 end 3\n" %
           (most, code.returns[0], code.returns[1], -1 << 63, code.returns[2], most)) * 2
    found, errors = folded_of(code.image, stdin=log.encode())
    must(found == {";".join(code.names(code.returns[0] - 1)): most}, found)
    must("4 traces have a negative weight" in errors and "-6 bytes were lost" in errors, errors)
    run(TRACE, "--flame=%s/weights.svg" % WORK, code.image, stdin=log.encode())
    text = read(WORK + "/weights.svg").decode()
    must("idle: %d, lost: -6" % most in text and "-5" not in text, "the caption")


def deep(code):
    """Recursion: 4,096 frames are 1,000 boxes."""
    pcs = [code.returns[0]] * 4096
    log = "sfut1 begin return samples 0\nsfut1 base 0\nsfut1 t 1 1000\n%ssfut1 end 1\n" % "".join(
        "sfut1 c %s\n" % " ".join("%x" % pc for pc in pcs[i:i + 8]) for i in range(0, 4096, 8))
    found, _ = folded_of(code.image, stdin=log.encode())
    (path, weight), = found.items()
    must(weight == 1 and path.count(";") == 999 and path.endswith(";[deeper]"), path[-100:])
    run(TRACE, "--flame=%s/deep.svg" % WORK, code.image, stdin=log.encode())
    boxes = boxes_of(WORK + "/deep.svg")
    must(len(boxes) == 1001, len(boxes))


def options_of(code):
    write(WORK + "/empty", b"no depot\n")
    for arguments, status in ((["--folded", "--gdb=x:1"], 2), (["--files", code.image], 2),
                              (["--minus=x", code.image], 2), (["--unit=x", code.image], 2), (["--folded"], 2),
                              (["--log=a", "--log=b", code.image], 2), (["--folded", "--log=absent", code.image], 1),
                              (["--folded", "--log=%s/empty" % WORK, code.image], 1),
                              (["--flame=/dev/full", "--log=%s/flame" % WORK, code.image], 1),
                              (["--flame=/absent/x", "--log=%s/flame" % WORK, code.image], 1)):
        out, errors = run(TRACE, *arguments, status=status)
        must(errors.count(b"\n") <= 3 and out == b"", "%s: %s" % (arguments, errors))


def hostile(code):
    """Whatever a log has, there is an answer, under the sanitizers; and a picture is XML."""
    chosen, good = random.Random(9), 0
    data = Dump(code, 60, name="cpu<&>;\"").text().encode()
    file = WORK + "/hostile.svg"
    for i in range(60):
        log = mutate(chosen, data, range(len(data)), [b"=", b" ", b"\n", b"ffffffffffffffff", b"-", b"1000"])
        status = survives("--folded", "--flame=" + file, code.image, stdin=log if i else data, one_line=False)
        good += status == 0
        if status == 0:
            ElementTree.parse(file)
    must(good > 10, "%d accepted" % good)
    return "%d accepted" % good


if __name__ == "__main__":
    test_folded()
    finish()

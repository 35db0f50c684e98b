# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Takes sfu into a real program, boots it, lets it crash, and compares the trace with the source's calls.

    real.py OUT RESULTS PROGRAM...    takes it in OUT/PROGRAM/tree, puts what was found into the file RESULTS
    real.py test                      of this file's own logic

A program is a module of this folder, or MODULE.CLASS. It has what somebody would write who takes sfu into that program,
and the chain of calls that its source has down to the fault. Nothing of the program's own text is here but the names in
patterns.

A program is built here, from its BUILD: of Debian's sources, or of a folder of the user's ("$NAME"). One that has
MANUAL instead is built by its user: the first run puts sfu's lines into a copy of the user's folders and ends, the user
builds it, and a later run boots what was built.
"""
import hashlib
import importlib
import inspect
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time

sys.path.insert(0, "test/lib")
from check import Wrong, must  # noqa: E402
from types import SimpleNamespace

TIMEOUT = 300  # seconds, for a machine that prints nothing new


def output_of(*command):
    return subprocess.run(command, text=True, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


# ---- edits ----

class Edit:
    """TEXT goes to FILE: before, after or instead of the only place that PATTERN matches. No pattern: TEXT is the file,
    or is appended to it."""

    def __init__(self, file, text, *, before=None, after=None, instead=None):
        self.file, self.text = file, text.strip("\n") + "\n"
        self.pattern = before or after or instead
        self.where = "before" if before else "after" if after else "instead"

    def into(self, old):
        if self.pattern is None:
            return old + self.text
        found = list(re.finditer(self.pattern, old, re.M))
        must(len(found) == 1, f"{self.file}: {len(found)} places match {self.pattern!r}")
        begin, end = found[0].span()
        if self.where == "before":
            end = begin
        elif self.where == "after":
            begin = end = old.find("\n", end - 1) + 1 if old[end - 1] != "\n" else end
        return old[:begin] + self.text + old[end:]

    def apply(self, tree):
        file = os.path.join(tree, self.file)
        within = os.path.realpath(tree) + os.sep
        must(os.path.realpath(file).startswith(within), f"{self.file}: a link leads out of the tree")
        old = ""
        if self.pattern or os.path.exists(file):
            with open(file, encoding="utf-8", errors="surrogateescape", newline="") as f:
                old = f.read()
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
            f.write(self.into(old))


def count_lines(text):
    """Lines that somebody writes: without empty ones and comments of C, assembly and make."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return sum(1 for line in text.splitlines() if line.strip() and not re.match(r"\s*(//|# |#!)", line))


# ---- traces ----

HERE = "sfu_capture sfu_here sfu_registers_here"  # inlined into the function that prints itself

FRAME = re.compile(r"#(\d+)\s+0x([0-9a-f]+)(?:  ([^\s\[]+))?((?:  \[[a-z0-9 ]+\])*)$")
END = re.compile(r"trace ends \((-?\d+)\): (.*)$")
LINE = re.compile(r"addr2line -Cfipe \S+((?: 0x[0-9a-f]+)+)$")


class Trace:
    def __init__(self):
        self.frames, self.code, self.pasted, self.text, self.calls = [], None, [], [], ""


def traces_of(log):
    """The traces in a log, each up to its addr2line line."""
    traces, now = [], None
    for line in log.replace("\r", "").splitlines():
        if frame := FRAME.search(line):
            if int(frame[1]) == 0:
                now = Trace()
            must(now is not None and int(frame[1]) == len(now.frames), f"a frame out of order: {line!r}")
            marks = [mark for mark in frame[4].split("  ")[1:] if not re.match(r"\[\d+ bytes\]$", mark)]
            now.frames.append((int(frame[2], 16), frame[3] or "", marks))
            now.text.append(line[frame.start():])
        elif now is not None and (end := END.search(line)):
            now.code = int(end[1])
            now.text.append(line[end.start():])
        elif now is not None and (pasted := LINE.search(line)):
            now.pasted = pasted[1].split()
            now.text.append(line[pasted.start():])
            must(now.code is not None, "a trace without an end")
            traces.append(now)
            now = None
    must(now is None, "a trace that stops half-way")
    return traces


TASK = r"backtrace\|\s*(\d+):((?: 0x[0-9a-f]+)+)"


def tasks_of(log, line_of=TASK):
    """The last trace of each task, by its number, in the lines of NuttX that LINE_OF matches: number, addresses. Lines
    of one task that follow each other are one trace."""
    tasks, last = {}, None
    for line in log.replace("\r", "").splitlines():
        found = re.search(line_of, line)
        if found and found[1] != last:
            tasks[int(found[1])] = Trace()
            tasks[int(found[1])].code = 1
        last = found and found[1]
        if found:
            trace = tasks[int(found[1])]
            trace.pasted += found[2].split()
            trace.frames = [(int(pc, 16), "", []) for pc in trace.pasted]
            trace.text.append(found[0])
    return tasks


def names_of(image, addresses, addr2line="addr2line"):
    """For each address what addr2line says: the functions that are inlined there, the innermost first. gcc splits a
    function and inlines one half into the other: that is one. 0 is where nothing is, but functions that the linker has
    left out have debug information there."""
    names = []
    for address in addresses:
        if int(address, 16) == 0:
            names.append(["??"])
            continue
        said = output_of(addr2line, "-fipe", image, address)
        inlined = [re.match(r"(?: \(inlined by\) )?(\S+)", line)[1] for line in said.splitlines()]
        names.append([name for name, outer in zip(inlined, inlined[1:] + [None]) if name != outer])
    return names


MARKS = {"[wild call]": "~", "[interrupted]": "!", "[stack switch]": "%"}


def compare(trace, names, expected):
    """EXPECTED: functions from the topmost frame on, inlined or not; "!" marks the first one of an interrupted frame,
    "%" of one on another stack, "~" of one that called what is no code. A number behind them is the code that ends the
    trace, unless it is 1. NAMES: of each frame."""
    *wanted, last = expected.split() or [""]
    if not re.fullmatch(r"-\d+", last):
        wanted, last = wanted + [last], "1"
    must(trace.code == int(last), f"the trace ends with {trace.code}")
    must(len(trace.pasted) == len(trace.frames), "the pasted line has not each frame's address")
    found = []
    for (_, symbol, marks), functions in zip(trace.frames, names):
        must(symbol == "" or symbol.split("+")[0].split(".")[0] == functions[-1].split(".")[0],
             f"{symbol} is {functions[-1]}")
        prefix = "".join(MARKS[mark] for mark in MARKS if mark in marks)
        must(set(marks) <= set(MARKS), f"marks {marks}")
        found += [prefix + functions[0]] + functions[1:]
    must(found == wanted, f"found    {' '.join(found)}\n    expected {' '.join(wanted)}")


# ---- the machine ----

def run_machine(command, dialogue, until, times, cwd):
    """Boots; waits for each pattern of DIALOGUE, then types its text; ends when UNTIL has come so many TIMES."""
    pipe = subprocess.PIPE
    machine = subprocess.Popen(command, cwd=cwd, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT)
    log, seen, last = "", 0, time.monotonic()
    dialogue = list(dialogue)
    try:
        while len(re.findall(until, log)) < times:
            ready, _, _ = select.select([machine.stdout], [], [], 5)
            if ready:
                more = os.read(machine.stdout.fileno(), 65536)
                if not more:
                    break
                log += more.decode(errors="replace")
                last = time.monotonic()
            elif time.monotonic() - last > TIMEOUT:
                break
            while dialogue and (at := re.compile(dialogue[0][0]).search(log, seen)):
                seen = at.end()
                machine.stdin.write(dialogue.pop(0)[1].encode())
                machine.stdin.flush()
    finally:
        machine.kill()
        machine.wait()
    return log


def boot_of(program):
    """Its command, by the QEMU that the variable QEMU names where it needs a certain version."""
    if not hasattr(program, "QEMU"):
        return program.BOOT
    least, why = program.QEMU
    qemu = os.environ.get("QEMU") or program.BOOT[0]
    try:
        version = re.search(r"version (\d+)", output_of(qemu, "--version"))
    except (OSError, subprocess.CalledProcessError):
        version = None
    must(version, f"{qemu} is no QEMU; QEMU=PROGRAM names one")
    must(int(version[1]) >= least,
         f"{qemu} has version {version[1]}, but this needs {least}, for {why}; QEMU=PROGRAM names another one")
    return [qemu] + program.BOOT[1:]


# ---- a program ----

def run(command, cwd, log):
    with open(log, "a", encoding="utf-8") as f:
        f.write(f"$ {command}\n")
        f.flush()
        done = subprocess.run(["sh", "-c", command], cwd=cwd, stdout=f, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, check=False)
    must(done.returncode == 0, f"{command}: see {log}")


def section_size(image, name):
    said = output_of("readelf", "-SW", image)
    found = re.search(rf"\] {re.escape(name)} +\S+ +\w+ \w+ (\w+)", said)
    return int(found[1], 16) if found else 0


def linked_tables(image):
    """The size of the tables that sfu-link has put into IMAGE: struct sfu_link of port/print/sfu_start.h."""
    with open(image, "rb") as f:
        data = f.read()
    order = "big" if data[5] == 2 else "little"
    # sfu_start.c has the magic as well, among its constants.
    sizes = [int.from_bytes(data[m.start() + 24:m.start() + 32], order) for m in re.finditer(b"sfulink1", data)]
    sizes = [size for size in sizes if 0 < size < len(data)]
    must(len(sizes) == 1, f"{image}: sfu-link has not filled it in, or twice")
    return sizes[0]


def bytes_of(objects, cwd):
    """Code and constants; data and bss."""
    code = data = 0
    for o in objects:
        fields = output_of("size", os.path.join(cwd, o)).splitlines()[1].split()
        code += int(fields[0])
        data += int(fields[1]) + int(fields[2])
    return code, data


def source_of(place):
    """GROUP/NAME: as test/tools/toolchain/sources.sh has it. $NAME: a folder that the user names."""
    if place.startswith("$"):
        folder = os.environ.get(place[1:], "")
        must(os.path.isdir(folder), f"{place[1:]}=FOLDER must name the source")
        return folder
    group, name = place.split("/")
    return os.path.join(output_of("test/tools/toolchain/sources.sh", group).strip(), name)


def file_of(name, sfu):
    """Of `make dist`; with a folder in its name, of sfu's tree."""
    return os.path.join(sfu, name if "/" in name else os.path.join("build/dist", name))


def is_users(program):
    """It is built by its user, so that a first run ends before."""
    return not hasattr(program, "BUILD")


def insert(program, tree, sfu):
    """Puts sfu and its lines into a new copy of the program's sources."""
    places = {folder: source_of(place) for folder, place in program.SOURCES.items()}
    shutil.rmtree(tree, ignore_errors=True)
    for folder, place in places.items():
        shutil.copytree(place, os.path.join(tree, folder), symlinks=True)
    for name, to in program.COPIES.items():
        shutil.copyfile(file_of(name, sfu), os.path.join(tree, to))
    for edit in program.EDITS + program.FAULTS:
        edit.apply(tree)


def build(program, out, sfu):
    """Returns seconds of CPU."""
    log = os.path.join(out, "build.log")
    tree = os.path.join(out, "tree")
    shutil.rmtree(out, ignore_errors=True)
    insert(program, tree, sfu)
    begin = os.times()
    for command in program.BUILD:
        run(command.format(flags=" ".join(program.FLAGS), sfu=sfu, tc=os.path.join(sfu, "build/tc")), tree, log)
    end = os.times()
    return end.children_user - begin.children_user + end.children_system - begin.children_system


# ---- a program that its user builds ----

def version_of(program, sfu):
    """Of all that insert() adds."""
    state = hashlib.sha256(repr([vars(edit) for edit in program.EDITS + program.FAULTS]).encode())
    for name, to in sorted(program.COPIES.items()):
        with open(file_of(name, sfu), "rb") as f:
            state.update(to.encode() + f.read())
    return state.hexdigest()


def what_to_do(program, out, sfu):
    tree = os.path.join(out, "tree")
    options = "".join(f"\n    {option}" for option in program.OPTIONS)
    return f"""build it in {tree} as its own manual says, with {sfu}/build/tools (sfu-gen) in PATH:
{textwrap.indent(program.MANUAL.strip(), "  ")}
  Its configuration, {program.CONFIG}, must say:{options}
  That makes {program.IMAGE}. Then run this again"""


def must_be_built(program, out, sfu):
    """OUT has what the user built of the lines that sfu has now. The first time it puts them in."""
    tree, stamp = os.path.join(out, "tree"), os.path.join(out, "inserted")
    image, config = os.path.join(tree, program.IMAGE), os.path.join(tree, program.CONFIG)
    todo = what_to_do(program, out, sfu)
    if not os.path.exists(stamp):
        insert(program, tree, sfu)
        must(not os.path.exists(config), f"{program.CONFIG} is there: the source must not be configured yet")
        with open(stamp, "w", encoding="utf-8") as f:
            f.write(version_of(program, sfu))
        raise Wrong(f"sfu's lines are in; {todo}")
    with open(stamp, encoding="utf-8") as f:
        must(f.read() == version_of(program, sfu), f"{tree} has another version of sfu's lines; remove {out}, then run "
             "this again, which puts them in anew")
    must(os.path.exists(image), f"sfu's lines are in, but {program.IMAGE} is missing; {todo}")
    must(os.stat(image).st_mtime_ns > os.stat(stamp).st_mtime_ns,
         f"{program.IMAGE} is older than sfu's lines in the tree; {todo}")
    must(os.path.exists(config), f"{program.CONFIG} is missing; {todo}")
    with open(config, encoding="utf-8") as f:
        lines = set(f.read().splitlines())
    for option in program.OPTIONS:
        unset = re.match("# (.*) is not set", option)
        must(not any(line.startswith(unset[1] + "=") for line in lines) if unset else option in lines,
             f"{program.IMAGE} was built without {option!r}; {todo}")


def all_lines_of(program):
    """The same with comments and empty lines."""
    return len(program.FLAGS) + sum(max(1, len(edit.text.splitlines())) for edit in program.EDITS)


def lines_of(program):
    return len(program.FLAGS) + sum(max(1, count_lines(edit.text)) for edit in program.EDITS)  # to delete is to edit


SEVERAL = "/* SMP */"  # ends a line that a kernel for one CPU does without


def lines_for_one(program):
    more = sum(line.endswith(SEVERAL) for edit in program.EDITS for line in edit.text.splitlines())
    return lines_of(program) - more


def first_that_fits(alternatives, function):
    """Calls FUNCTION with each, until one is right. If none is, it is the first one that says what is wrong."""
    first = None
    for alternative in alternatives:
        try:
            return function(alternative)
        except Wrong as wrong:
            first = first or wrong
    raise first


def compare_all(image, traces, expected_traces, addr2line="addr2line"):
    must(len(traces) == len(expected_traces), f"{len(traces)} traces")
    for trace, expected in zip(traces, expected_traces):
        names = names_of(image, trace.pasted, addr2line)
        # What a task was doing may depend on the other CPU.
        choices = (expected,) if isinstance(expected, str) else expected
        expected = next((choice for choice in choices[1:] if re.sub("[!%~]", "", choice).split() == sum(names, [])),
                        choices[0])
        compare(trace, names, expected)
        trace.calls = " < ".join(f"`{name}`" for name in expected.split() if not name.startswith("-"))
    return traces


def check(program, scenario, out):
    """Boots and compares. Returns the traces. Where tasks have traces by their numbers, "printed" are those that sfu
    prints itself."""
    tree = os.path.join(out, "tree")
    printed = "line" not in scenario and scenario["traces"] or scenario["traces"].get("printed", [])
    log = run_machine(boot_of(program) + scenario.get("boot", []), scenario.get("dialogue", []),
                      scenario.get("until", r"addr2line -Cfipe \S+(?: 0x[0-9a-f]+)+\r?\n"),
                      1 if "until" in scenario else len(printed), tree)
    with open(os.path.join(out, scenario["name"] + ".log"), "w", encoding="utf-8") as f:
        f.write(log)
    for pattern in scenario.get("says", []):
        must(re.search(pattern, log.replace("\r", ""), re.M), f"no line {pattern!r}")
    image = os.path.join(tree, program.IMAGE)
    if "line" not in scenario:
        return compare_all(image, traces_of(log), scenario["traces"], getattr(program, "ADDR2LINE", "addr2line"))
    tasks = tasks_of(log, scenario["line"])

    def compare_tasks(expected):
        numbers = sorted(set(expected) - {"printed"})
        must(sorted(tasks) == numbers, f"tasks {sorted(tasks)}")
        of_tasks = compare_all(image, [tasks[task] for task in numbers], [expected[task] for task in numbers])
        return compare_all(image, traces_of(log), expected["printed"]) if printed else of_tasks

    return first_that_fits([scenario["traces"]] + scenario.get("or", []), compare_tasks)


def program_of(name):
    module, _, part = name.partition(".")
    program = importlib.import_module(module)
    return getattr(program, part) if part else program


def take(name, out):
    """Prints a result for each scenario. Returns its part of RESULTS.md, or None if something failed."""
    program = program_of(name)
    name = name.replace(".", "_")
    out = os.path.abspath(os.path.join(out, name))
    seconds = None
    try:
        if is_users(program):
            must_be_built(program, out, os.getcwd())
        else:
            seconds = build(program, out, os.getcwd())
        boot_of(program)
    except (Wrong, subprocess.CalledProcessError) as wrong:
        print(f"not ok {name}: {wrong}", flush=True)
        return None
    shown, failed = [], False
    for scenario in program.SCENARIOS:
        try:
            shown.append((scenario["name"], check(program, scenario, out)))
            print(f"ok {name}: {scenario['name']}", flush=True)
        except Wrong as wrong:
            print(f"not ok {name}: {scenario['name']}: {wrong}", flush=True)
            failed = True
    return None if failed else part_of(program, os.path.join(out, "tree"), seconds, shown)


# ---- RESULTS.md ----

HEAD = """# sfu in real programs

`make real` takes sfu into the sources of Debian's packages and builds them, and `make real-freertos` and `make
real-xv6` do so with a tree that you name. `make real-nuttx` and `make real-unikraft` put sfu's lines into copies of
trees that you name, which you build yourself; run them again then. Each boots in QEMU and crashes. The functions that
addr2line finds by the trace's own last line are the calls that the source has, from the fault to the end; `!` marks
what was interrupted, `%` a change of stacks, `~` a call of what is no code. `test/real/` has each line that was added.
Of each program one trace is shown here; the command prints which scenario of which program is right.

Lines: all that somebody writes, makefiles, linker scripts and assembly included, comments and empty lines aside; after
the slash, without the lines that only several CPUs need. With all: the same with comments and empty lines. A line that
is changed or deleted is one line, and a word on the command line of make is none. Tables, code and
constants, and data are bytes; the code is that of the object files, of which a linker may leave out a part. Seconds are
the build's, of CPU, where the command builds.

| program | CPUs | lines | with all | tables | code | data | seconds |
|---|---|---|---|---|---|---|---|
"""


def part_of(program, tree, seconds, shown):
    code, data = bytes_of(program.OBJECTS, tree)
    image = os.path.join(tree, program.IMAGE)
    tables = section_size(image, program.TABLES) if program.TABLES else linked_tables(image)
    lines, one = lines_of(program), lines_for_one(program)
    lines = lines if one == lines else f"{lines} / {one}"
    row = f"| {program.TITLE} | {program.CPUS} | {lines} | {all_lines_of(program)} | {tables:,} | {code:,} | {data:,} |"
    row += " - |" if seconds is None else f" {seconds:.0f} |"
    text = f"## {program.TITLE}\n\n{inspect.cleandoc(program.__doc__)}\n"
    text += "\n" + "\n".join(textwrap.wrap("Compared: " + "; ".join(name for name, _ in shown) + ".", 100)) + "\n"
    trace = shown[0][1][0]
    text += "\n" + "".join(f"    {line}\n" for line in trace.text)
    text += "\n" + "\n".join(textwrap.wrap(f"That is {trace.calls}.", 100)) + "\n"
    return program.TITLE, row, text


def write_results(file, parts):
    """The parts of programs that were not run stay."""
    rows, texts = {}, {}
    if os.path.exists(file):
        with open(file, encoding="utf-8") as f:
            old = f.read()
        rows = {m[1]: m[0] for m in re.finditer(r"^\| (.*?) \| \d.*$", old, re.M)}
        texts = {m[1]: m[0].rstrip() + "\n" for m in re.finditer(r"^## (.*)\n(?:(?!## ).*\n?)*", old, re.M)}
    for title, row, text in parts:
        rows[title], texts[title] = row, text
    with open(file, "w", encoding="utf-8") as f:
        f.write(HEAD + "".join(rows[title] + "\n" for title in sorted(rows)))
        f.write("".join("\n" + texts[title] for title in sorted(texts)))


# ---- its own test ----

LOG = """boot #1 of 3
#0  0x0000000000001010  leaf+0x4\r
#1  0x0000000000001022  [interrupted]
#2  0x0000000000001033  main+0x1  [stack switch]
trace ends (1): end of the stack: the outermost frame
addr2line -Cfipe a.elf 0x1010 0x1022 0x1032
"""
NAMES = [["leaf"], ["inlined", "work"], ["main"]]


def fails(function, *arguments):
    try:
        function(*arguments)
    except Wrong:
        return True
    return False


def reason(function, *arguments):
    """Why it fails, or "" """
    try:
        function(*arguments)
    except Wrong as wrong:
        return str(wrong)
    return ""


def write(file, text):
    with open(file, "w", encoding="utf-8") as f:
        f.write(text)


def read(file):
    with open(file, encoding="utf-8") as f:
        return f.read()


def test_two_steps(says, folder):
    """A program that its user builds, in FOLDER."""
    source, sfu, out = (os.path.join(folder, name) for name in ("source", "sfu", "out"))
    for made in source, os.path.join(sfu, "build/dist"):
        os.makedirs(made)
    write(os.path.join(source, "a.c"), "one\n")
    write(os.path.join(sfu, "build/dist/p.c"), "p\n")
    program = SimpleNamespace(SOURCES={"s": "$SFU_REAL_TEST"}, COPIES={"p.c": "s/p.c"}, FAULTS=[], MANUAL="Board b.",
                              EDITS=[Edit("s/a.c", "two", after="one")], CONFIG="s/.config", IMAGE="s/image",
                              OPTIONS=["CONFIG_A=y", "# CONFIG_B is not set"])

    def run_it():
        return reason(must_be_built, program, out, sfu)

    tree = os.path.join(out, "tree/s")
    image, config, stamp = os.path.join(tree, "image"), os.path.join(tree, ".config"), os.path.join(out, "inserted")

    def built(seconds, options="CONFIG_A=y\nCONFIG_C=y\n"):
        """Makes the image, so many seconds after the lines were put in."""
        write(image, "")
        write(config, options)
        at = os.stat(stamp).st_mtime_ns + seconds * 1_000_000_000
        os.utime(image, ns=(at, at))

    os.environ.pop("SFU_REAL_TEST", None)
    says("two steps: no folder is named", "SFU_REAL_TEST=FOLDER" in run_it() and not os.path.exists(out))
    os.environ["SFU_REAL_TEST"] = source
    broken, program.EDITS = program.EDITS, [Edit("s/a.c", "two", after="no such place")]
    says("two steps: a line has no place", "0 places" in run_it() and not os.path.exists(stamp))
    program.EDITS = broken
    write(os.path.join(source, ".config"), "")
    says("two steps: a tree that is configured", "not be configured" in run_it() and not os.path.exists(stamp))
    os.remove(os.path.join(source, ".config"))
    first = run_it()
    says("two steps: the lines go in", read(os.path.join(tree, "a.c")) == "one\ntwo\n"
         and read(os.path.join(tree, "p.c")) == "p\n" and sorted(os.listdir(tree)) == ["a.c", "p.c"])
    says("two steps: what to do", all(part in first for part in (
        "sfu's lines are in;", f"{out}/tree", f"{sfu}/build/tools", "  Board b.", "s/.config", "    CONFIG_A=y\n",
        "    # CONFIG_B is not set\n", "s/image", "run this again")))
    says("two steps: the user's folder is as it was", os.listdir(source) == ["a.c"]
         and read(os.path.join(source, "a.c")) == "one\n")
    write(os.path.join(tree, "user's"), "")
    says("two steps: not built", "s/image is missing; build it" in run_it())
    built(-1)
    says("two steps: an image of before", "older than sfu's lines" in run_it())
    built(0)
    says("two steps: an image as old", "older than sfu's lines" in run_it())
    built(1)
    says("two steps: built", run_it() == "")
    built(1, "CONFIG_A=yes\n")
    says("two steps: an option is missing", "without 'CONFIG_A=y'" in run_it())
    built(1, "CONFIG_A=y\nCONFIG_B=m\n")
    says("two steps: an option too many", "without '# CONFIG_B is not set'" in run_it())
    built(1, "CONFIG_A=y\n# CONFIG_B is not set\n")
    says("two steps: an option that is not set", run_it() == "")
    os.remove(config)
    says("two steps: no configuration", ".config is missing" in run_it())
    built(1)
    program.FAULTS = [Edit("s/a.c", "three")]
    says("two steps: other lines", "another version" in run_it())
    program.FAULTS = []
    write(os.path.join(sfu, "build/dist/p.c"), "q\n")
    says("two steps: another sfu", "another version" in run_it())
    write(os.path.join(sfu, "build/dist/p.c"), "p\n")
    says("two steps: the tree stays the user's", run_it() == "" and os.path.exists(os.path.join(tree, "user's")))
    os.symlink(os.path.join(source, "a.c"), os.path.join(tree, "link"))
    says("two steps: a link out of the tree", "leads out" in reason(Edit("link", "x").apply, tree)
         and read(os.path.join(source, "a.c")) == "one\n")


def test_machine(says, folder):
    """Which QEMU boots it, in FOLDER."""
    paths = {}
    for name, text in {"7": "version 7.2.22 (Debian)", "10": "version 10.0.2", "none": "version"}.items():
        paths[name] = os.path.join(folder, "qemu" + name)
        write(paths[name], f"#!/bin/sh\necho 'QEMU emulator {text}'\n")
        os.chmod(paths[name], 0o755)
    program = SimpleNamespace(BOOT=[paths["7"], "-m", "2G"], QEMU=(9, "an x2APIC"))
    old = os.environ.pop("QEMU", None)
    says("machine: too old", all(part in reason(boot_of, program) for part in (paths["7"], "7", "9", "x2APIC")))
    os.environ["QEMU"] = paths["10"]
    says("machine: that of the variable", boot_of(program) == [paths["10"], "-m", "2G"])
    for wrong in paths["none"], os.path.join(folder, "missing"), "false":
        os.environ["QEMU"] = wrong
        says(f"machine: {os.path.basename(wrong)}", "is no QEMU" in reason(boot_of, program))
    del program.QEMU
    says("machine: any", boot_of(program) == program.BOOT)
    os.environ.pop("QEMU")
    if old:
        os.environ["QEMU"] = old


def test_programs(says):
    """What its user builds, no line of this folder does."""
    for file in sorted(os.listdir(os.path.dirname(__file__))):
        name, dot, end = file.partition(".")
        if dot + end == ".py" and name != "real":
            module = importlib.import_module(name)
            parts = [value for value in vars(module).values() if hasattr(value, "TITLE")]
            for program in parts or [module]:
                builds = hasattr(program, "BUILD")
                says(f"{program.TITLE}: who builds it",
                     builds != hasattr(program, "MANUAL") and builds != is_users(program))


def test():
    def says(name, condition):
        print(f"{'ok' if condition else 'not ok'} {name}")

    trace = traces_of(LOG)[0]
    says("trace", not fails(compare, trace, NAMES, "leaf !inlined work %main"))
    sizes = traces_of(LOG.replace("leaf+0x4", "leaf+0x4  [16 bytes]").replace("switch]", "switch]  [1008 bytes]"))[0]
    says("sizes", not fails(compare, sizes, NAMES, "leaf !inlined work %main") and "[16 bytes]" in sizes.text[0])
    tasks = tasks_of("[0] backtrace| 4: 0x1 0x2\n[0] backtrace| 4: 0x3\n\nbacktrace| 5: 0x4\nbacktrace| 4: 0x5\n")
    says("tasks", {n: t.pasted for n, t in tasks.items()} == {4: ["0x5"], 5: ["0x4"]})
    tasks = tasks_of("backtrace| 4: 0x1 0x2\nbacktrace| 4: 0x3\n")
    says("a task in two lines", len(tasks[4].frames) == 3)
    for wrong in "leaf !inlined work", "leaf inlined work %main", "leaf !inlined work main", "leaf !work %main", "":
        says(f"trace is not '{wrong}'", fails(compare, trace, NAMES, wrong))
    says("alternatives", first_that_fits("ab", lambda c: must(c == "b", c) or c + c) == "bb")
    says("no alternative", reason(first_that_fits, "ab", lambda c: must(c == "c", c)) == "a")
    says("symbol", fails(compare, trace, [["lead"]] + NAMES[1:], "lead !inlined work %main"))
    ended = traces_of(LOG.replace("(1)", "(-17)"))[0]
    says("end", fails(compare, ended, NAMES, "leaf !inlined work %main") and
         fails(compare, trace, NAMES, "leaf !inlined work %main -17") and
         not fails(compare, ended, NAMES, "leaf !inlined work %main -17"))
    for arguments in (["--help"], [], ["out"], ["out", "results"]):
        said = subprocess.run([sys.executable, "-B", __file__, *arguments], text=True, capture_output=True, check=False)
        says(f"usage {arguments}", "real.py OUT RESULTS PROGRAM" in said.stdout + said.stderr and
             "Traceback" not in said.stderr and said.returncode == (0 if "--help" in arguments else 2))
    says("pasted line", fails(compare, traces_of(LOG.replace(" 0x1032", ""))[0], NAMES, "leaf !inlined work %main"))
    guessed = traces_of(LOG.replace("stack switch", "guessed"))[0]
    wild = traces_of(LOG.replace("interrupted", "wild call"))[0]
    says("wild call", not fails(compare, wild, NAMES, "leaf ~inlined work %main"))
    says("mark", fails(compare, guessed, NAMES, "leaf !inlined work main"))
    says("lost frame", fails(traces_of, LOG.replace("#1  0", "")))
    says("half a trace", fails(traces_of, LOG[:LOG.index("addr2line")]))
    says("no trace", traces_of("") == [] and len(traces_of(LOG + LOG)) == 2)
    old = "one\ntwo {\n}\n"
    says("after", Edit("f", "new", after=r"^two \{").into(old) == "one\ntwo {\nnew\n}\n")
    says("before", Edit("f", "new", before=r"^two").into(old) == "one\nnew\ntwo {\n}\n")
    says("instead", Edit("f", "new", instead=r"^two.*\n").into(old) == "one\nnew\n}\n")
    says("no such place", fails(Edit("f", "new", after="three").into, old))
    says("two places", fails(Edit("f", "new", after="[eo]n?e?$").into, "one\none\n"))
    smp = SimpleNamespace(FLAGS=["-g"], EDITS=[Edit("f", "a(); /* SMP */\nb(); /* all */\n/* SMP */ c();")])
    says("lines for several CPUs", lines_of(smp) == 4 and lines_for_one(smp) == 3)
    says("lines", count_lines("\n/* a\nb */\nint a;\n\n  b(); /* c */\n// d\n# e\n#include <f>\n#!g\n") == 3)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "results")
        write_results(file, [("a", "| a | 1 |", "## a\nA\n"), ("b", "| b | 2 |", "## b\nB\n")])
        write_results(file, [("b", "| b | 3 |", "## b\nC\n")])
        with open(file, encoding="utf-8") as f:
            says("results", f.read().endswith("| a | 1 |\n| b | 3 |\n\n## a\nA\n\n## b\nC\n"))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "linked")
        filled, constant = b"sfulink1" + bytes(16) + b"\x05" + bytes(7), b"sfulink1not a number"
        for order in filled + constant, constant + filled:
            with open(file, "wb") as f:
                f.write(b"\x7fELF\2\1" + order + bytes(64))
            says(f"size of sfu-link's tables {order[8:9]}", linked_tables(file) == 5)
        write(file, "\x7fELF\2\1")
        says("no tables of sfu-link", "has not filled it in" in reason(linked_tables, file))
    with tempfile.TemporaryDirectory() as folder:
        test_two_steps(says, folder)
        test_machine(says, folder)
    test_programs(says)


def main(out="", results=None, *programs):
    if out == "test":
        return test()
    if out in ("-h", "--help"):
        print(__doc__)
        return None
    if not programs:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    chosen = os.environ.get("T", "").split(":")[0]
    parts = [take(name, out) for name in programs if chosen in name.replace(".", "_")]
    write_results(results, [part for part in parts if part is not None])
    return None


if __name__ == "__main__":
    import real  # as the programs know it
    real.main(*sys.argv[1:])

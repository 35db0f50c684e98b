#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""manual.py blocks DIRECTORY: writes the examples of README.md and port/README.md that are compiled.
manual.py test TC DIRECTORY: what README.md, port/README.md and the headers say is so. TC has the binutils, a directory
for each CPU; DIRECTORY has the examples in blocks/, and a kernel with them for each CPU."""
import os
import re
import subprocess
import sys

sys.path.insert(0, "test/bare")
import run  # noqa: E402  boots kernels, and reads their images

DOCS = ("README.md", "port/README.md")
HEADERS = ["sfu.h", "arch/sfu_arch.h", "port/print/sfu_print.h", "port/print/sfu_dump.h", "port/fast/sfu_fast.h"]
CC = {"x86_64": "gcc", "aarch64": "aarch64-linux-gnu-gcc", "s390x": "s390x-linux-gnu-gcc"}
MOST_LINES, MOST_OF_EXAMPLE = 150, 8
# Lines of the example that stand for what a kernel has already.
THEIRS = ("void console_putc(char c);", "void kernel_init(void) {", "void kernel_panic(void) {", "}", "")
# What kernels compile with, as C and as C++.
FLAGS = ("-O2 -ffreestanding -fno-stack-protector -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow "
         "-Wcast-align -Wundef -Werror").split()
LANGUAGES = {"gcc": ("-std=c99", "-Wstrict-prototypes"), "clang": ("-std=c99", "-Wstrict-prototypes"),
             "g++": ("-x", "c++", "-std=c++11", "-fno-exceptions", "-fno-rtti"),
             "clang++": ("-x", "c++", "-std=c++11", "-fno-exceptions", "-fno-rtti")}
# What somebody who takes sfu into a program comes across: in the manuals, not in the headers alone.
NEWCOMER = """sfu_panic_init sfu_panic_print sfu_registers_here sfu_cpu_reg sfu_open sfu_add sfu_remove sfu_sort sfu_string
    sfu_print_build_id sfu_function_begin sfu_function_end sfu_push sfu_pop sfu_outermost_begin sfu_outermost_end
    sfu_outermost sfu_thread_entry sfu_trap_begin sfu_trap_row sfu_trap_row_here sfu_trap_end SFU_ABI
    SFU_OLDEST_VERSION SFU_NO_REMOTE SFU_NO_STRINGS SFU_PREFIX SFU_NO_ASM SFU_NO_OUTERMOST sfu_registers sfu_target sfu_trapped
    sfu_cpu SFU_PC_EXACT SFU_PC_RETURN red_zone window""".split()


class Wrong(Exception):
    pass


def must(condition, what):
    if not condition:
        raise Wrong(what)


def read(file):
    with open(file, encoding="utf-8") as f:
        return f.read()


def shell(*command, **more):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    must(done.returncode == 0, f"{' '.join(command)[:80]}: {done.stdout[-300:]!r}")
    return done.stdout


def blocks():
    """(words of the mark before it, kind, text) of each block of code in the manuals"""
    for file in DOCS:
        for m in re.finditer(r"(?:<!-- (.*?) -->\n)?^```(\w*)\n(.*?)^```$", read(file), re.S | re.M):
            yield (m[1] or "").split(), m[2], m[3], file


def block(*words):
    found = [text for mark, _, text, _ in blocks() if mark[:len(words)] == list(words)]
    must(len(found) == 1, f"{len(found)} blocks are marked {words}")
    return found[0]


def write_blocks(directory):
    for words, name in ((("example",), "example.c"), (("file:", "threads.c"), "threads.c"),
                        (("file:", "threads.h"), "threads.h"), (("file:", "switch.S"), "switch.S")):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write(block(*words))


# ---- the first example ----

def test_lines(_tc, _directory):
    lines = len(read("README.md").splitlines())
    must(lines <= MOST_LINES, f"README.md has {lines} lines")
    own = [line for line in block("example").splitlines() if line.strip() not in THEIRS]
    must(0 < len(own) <= MOST_OF_EXAMPLE, f"the example has {len(own)} lines of its own")
    must(len(THEIRS) == 5 and all(line in block("example").splitlines() for line in THEIRS), "what is theirs is not there")
    print(f"# README.md has {lines} lines, its example {len(own)} of its own")


def test_header_begins_with_example(_tc, _directory):
    """sfu.h begins with it, without its empty lines."""
    example = [line for line in block("example").splitlines() if line]
    comment = re.search(r"/\*\n.*?\*/", read("sfu.h"), re.S)[0].splitlines()
    shown = [line[7:] for line in comment if line.startswith(" *     ")]
    must(shown == example, f"sfu.h: {set(shown) ^ set(example)}")


def test_example_compiles(_tc, directory):
    for compiler, language in LANGUAGES.items():
        for folder in ("dist", None):  # the two files; and the files as they lie here
            includes = [f"-I{directory}/dist"] if folder else ["-I.", "-Iarch", "-Iport/print", "-include", "sfu_arch.h",
                                                               "-include", "sfu_print.h"]
            shell(compiler, *FLAGS, *language, *includes, "-c", f"{directory}/blocks/example.c", "-o", "/dev/null")


EXAMPLE = ["kernel_panic", "fails", "starts", "kernel_main", "kernel_start"]
BELOW = ["kernel_main", "kernel_start"]
LEAF = ["leaf~", "interrupted"]
CROSSED = ["__wrap_kernel_trap", "exception_entry"]


def traces(cpu):
    """scenario: traces; a trace is its functions, "~" if the PC is exact, and the code that it must end with"""
    start = [run.START[cpu]]
    lost = [] if cpu == "x86_64" else None  # elsewhere the RA of a leaf function is in a register
    leaf = CROSSED + LEAF + BELOW + start
    return {
        "example": [(EXAMPLE + start, 1)],
        "threads": [(["switch_to", "waits", "thread_main", "thread_begin"], 1),
                    (["switch_to", "thread_begin.new"], 1),
                    (["three_threads"] + BELOW + start, 1)],
        "leaf": [(LEAF + BELOW + start, 1),
                 (leaf, 1) if lost is not None else (CROSSED + LEAF[:1], -20),
                 (leaf, 1)],
    }


def check_trace(image, wanted, code, lines):
    for n, name in enumerate(wanted):
        m = run.FRAME.match(lines[n])
        must(m and int(m[1]) == n, f"'{lines[n]}' instead of {name}")
        lookup = int(m[2], 16) - (0 if n == 0 or name.endswith("~") else 1)
        found = image.function(lookup)
        must(found and found[0] == name.rstrip("~"), f"'{lines[n]}' is in {found}, not in {name}")
        must(n == 0 or ("[interrupted]" in lines[n]) == name.endswith("~"), f"'{lines[n]}': interrupted?")
    end = lines[len(wanted)]
    must(end.startswith(f"trace ends ({code}): "), f"'{end}' behind {wanted[-1]}, not ({code})")
    must(lines[len(wanted) + 1].startswith("addr2line -fipe "), "no line for addr2line")
    return lines[len(wanted) + 2:]


def boots(cpu, scenario):
    def test(tc, directory):
        image = run.Image(os.path.join(tc, cpu), os.path.join(directory, cpu))
        lines, _ = run.boot(cpu, image.path, scenario)
        lines = [line for line in lines if not line.startswith(("SeaBIOS", "Booting from", "iPXE")) and line]
        for wanted, code in traces(cpu)[scenario]:
            must(len(lines) >= len(wanted) + 2, f"it ended early: {lines}")
            lines = check_trace(image, wanted, code, lines)
        must(not lines, f"'{lines[:1]}' is too much")
    return test


# ---- names and codes ----

def names():
    """(header, name, whether a comment says what it is) of each public function, type, constant and macro"""
    for header in HEADERS:
        text = re.sub(r"(?s)^#ifdef SFU_PREFIX.*?^#endif$", "", read(header), flags=re.M)
        lines = text.splitlines()
        for n, line in enumerate(lines):
            m = (re.match(r"(?!#|typedef|struct sfu_\w+ \{)[\w].*?\b(sfu_\w+)\(", line) or
                 re.match(r"(?:struct|enum) (sfu_\w+) \{", line) or re.match(r"typedef .*?\(\*?(sfu_\w+)\)", line) or
                 re.match(r"#define (SFU_\w+)", line))
            if m and not m[1].endswith("_H"):
                before = n - 1
                while re.match(r"#|typedef|/\* clang-format", lines[before]) or (line[0] == "#" and not lines[before]):
                    before -= 1
                block_of = lines[before].rstrip().endswith("*/") or "/*" in line
                # A function under another one and its comment: "Takes IMAGE ... "; constants behind what they limit.
                yield header, m[1], block_of or (line[0] == "#" and re.search(rf"\b{m[1]}\b", text[:text.index(line)]))
    lines = read("arch/sfu_asm.h").splitlines()
    for n, line in enumerate(lines):
        m = re.match(r" +\.macro (sfu_\w+)", line)
        if m:
            before = n - 1
            while lines[before].startswith("#"):
                before -= 1
            yield "arch/sfu_asm.h", m[1], lines[before].endswith("*/") or m[1] in read("arch/sfu_asm.h").split("#ifndef")[0]


ASM_OWN = {"sfu_trap_begin_at", "sfu_trap_check_label", "sfu_trap_address", "sfu_trap_finish", "sfu_label"}


def test_names(_tc, _directory):
    found = list(names())
    must(len(found) >= 60, f"only {len(found)} public names")
    explained = {name for _, name, said in found if said}
    for header, name, _ in found:
        must(name in explained or name in ASM_OWN, f"{header}: no comment says what {name} is")
    manuals = "".join(read(file) for file in DOCS)
    public = {name for _, name, _ in found} | set(re.findall(r"\b(?:SFU_\w+|red_zone|window)\b", read("sfu.h") +
                                                             read("arch/sfu_asm.h"))) | {"sfu_push", "sfu_pop", "sfu_cpu"}
    for name in NEWCOMER:
        must(name in public, f"{name} is in no header")
        must(re.search(rf"\b{name}\b", manuals), f"{name} is in no manual")
    for name in sorted(set(re.findall(r"\b(?:sfu|SFU)_\w+\b", manuals))):
        everywhere = any(re.search(rf"\b{name}\b", read(file)) for file in CODE)
        must(everywhere, f"{name} is in the manuals, but nowhere else")
    print(f"# {len(found)} public names")


CODE = [os.path.join(folder, file) for top in ("arch", "port", "test/bare") for folder, _, files in os.walk(top)
        for file in files if file.endswith((".c", ".h", ".S", ".rs", ".sh", ".py"))] + ["sfu.c", "sfu.h"]


def test_codes(_tc, directory):
    """Each is explained in the header, by sfu_string in words of its own, and in a table of port/README.md."""
    codes = re.findall(r"^ +(SFU_\w+) = (-?\d+),? +/\*", re.search(r"enum sfu_code \{.*?\};", read("sfu.h"), re.S)[0], re.M)
    must(len(codes) >= 27 and len(codes) == len(re.findall(r"^ +SFU_\w+ = ", re.search(
        r"enum sfu_code \{.*?\};", read("sfu.h"), re.S)[0], re.M)), f"{len(codes)} codes have a comment")
    program = os.path.join(directory, "codes")
    with open(program + ".c", "w", encoding="utf-8") as f:
        f.write('#include "sfu.h"\n#include <stdio.h>\nint main(void)\n{\n' +
                "".join(f"    puts(sfu_string({name}));\n" for name, _ in codes) + "    puts(sfu_string(77));\n}\n")
    shell("gcc", "-I.", program + ".c", "sfu.c", "-o", program)
    sentences = shell(program).splitlines()
    must(len(set(sentences)) == len(codes) + 1 and all(len(s.split()) > 1 or s == "done" for s in sentences),
         f"{sentences}")
    rows = [line for line in read("port/README.md").splitlines() if line.startswith("| `SFU_")]
    for name, _ in codes:
        must(name == "SFU_OK" or any(f"`{name}`" in row and row.count("|") >= 4 for row in rows), f"{name} has no row")


# ---- what the manuals name ----

def test_blocks_are_tested(_tc, _directory):
    """A block of code says by its mark what runs it."""
    for mark, kind, text, file in blocks():
        must(mark and mark[0] in ("example", "file:", "run:", "boot:", "link"),
             f"{file}: nothing runs the block of {kind} that begins '{text.splitlines()[0]}'")


def test_links(_tc, _directory):
    """Paths that are named exist, targets can be made, headings that are linked to are there."""
    database = subprocess.run(["make", "-pqrR", "help"], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    targets = set(re.findall(r"^([\w-]+):", database.stdout, re.M))
    for file in DOCS:
        text, folder = read(file), os.path.dirname(file)
        for link, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([\w-]+))?\)", text):
            path = os.path.normpath(os.path.join(folder, link)) if link else file
            must(os.path.exists(path), f"{file}: {link} does not exist")
            heads = [re.sub(r"[^\w -]", "", h).strip().lower().replace(" ", "-")
                     for h in re.findall(r"^#+ (.*)$", read(path), re.M)] if anchor else [anchor]
            must(anchor == "" or anchor in heads, f"{file}: {path} has no heading {anchor}")
        for path in re.findall(r"`((?:\.\./)?(?:arch|port|test|fuzz|baremetal|print|linux|host)/[\w./*]*)`", text):
            tried = [os.path.join(base, path.replace("*", "x86_64")) for base in (folder, "")]
            must(any(os.path.exists(p) for p in tried), f"{file}: {path} does not exist")
        for target in re.findall(r"`make ([\w-]+)|^    make ([\w-]+)", text):
            name = target[0] or target[1]
            must(name in targets, f"{file}: there is no make {name}")


# ---- numbers ----

def budget(*words):
    return next(line.split()[-1] for line in read("test/gates/budget.txt").splitlines() if line.split()[:-1] == list(words))


def bench(walker):
    return str(round(float(re.search(rf"^\| `{walker}` \| ([\d.]+)", read("test/bench/RESULTS.md"), re.M)[1])))


def stack(cpu):
    return re.search(rf"^\| {cpu} \| `-Os` \| \d+ \| (\d+)", read("test/gates/SWITCHES.md"), re.M)[1]


def smaller():
    """by how many percent of -O2 -Os is smaller, on x86_64"""
    os_, _, _, o2 = re.search(r"^\| sfu.c, without switches \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|",
                              read("test/gates/SWITCHES.md"), re.M).groups()
    return str(100 * (int(o2) - int(os_)) // int(o2))


CPUS = ("x86_64", "aarch64", "s390x")
# Each number of README.md: a pattern with a group for each of its numbers, and what they must be.
CLAIMS = [
    (r"\*\*Small\.\*\* (\S+) bytes of code and constants on x86_64, messages aside; (\S+) with",
     lambda: [budget("gcc12", "x86_64", "Os", "text"), budget("gcc12", "x86_64", "Os", "smallest")]),
    (r"\*\*Fast\.\*\* (\S+) instructions per frame; (\S+) with the fast walker in `port/fast` and its cache of (8) KiB",
     lambda: [bench("sfu"), bench("sfu_fast_8k"), "8"]),
    (r"one of (\d+) errors", lambda: [str(len(re.findall(r"^ +SFU_E_\w+ = -", read("sfu.h"), re.M)))]),
    (r"core, without messages, bytes \| (\S+) \| (\S+) \| (\S+) \|",
     lambda: [budget("gcc12", cpu, "Os", "text") for cpu in CPUS]),
    (r"as far as a panic needs it \| (\S+) \| (\S+) \| (\S+) \|",
     lambda: [budget("gcc12", cpu, "Os", "smallest") for cpu in CPUS]),
    (r"stack of a step \| (\S+) \| (\S+) \| (\S+) \|", lambda: [budget("gcc12", cpu, "Os", "stack") for cpu in CPUS]),
    (r"stack of a whole panic \| (\S+) \| (\S+) \| (\S+) \|", lambda: [stack(cpu) for cpu in CPUS]),
    (r"at most (\S+) frames and (\d+) stack switches",
     lambda: [re.search(rf"SFU_MAX_{name} +(\d+)", read("sfu.h"))[1] for name in ("FRAMES", "SWITCHES")]),
    (r"Each of (\d+) ways to break", lambda: [str(len(re.findall(r"^[\w-]+ +\|", read("test/prove/mutants"), re.M)))]),
    (r"SFrame (1), (2) \(both errata\), (3)", lambda: ["1", "2", "3"]),
    (r"needs version (3)", lambda: ["3"]),  # tested by test_comdat and by test/host
    (r"shorter than (2) GiB", lambda: [re.search(r"its tables are (\d+) GiB", read("sfu.h"))[1]]),
    (r"makes it (\d+)% smaller", lambda: [smaller()]),
    (r"`ld` must be ([\d.]+)", lambda: [re.search(r"binutils (2\.46)", read("arch/sfu_asm.h"))[1]]),
    (r"stock Debian (12)", lambda: ["12"]),  # suite-demo
    (r"\*\*([1-4])\. (?:Copy|Compile|Link|Write)\*\*", None),  # the steps
]


def test_numbers(_tc, _directory):
    text = re.sub(r"(?s)^```.*?^```$|^    [^\n]*$|`[^`\n]*(?:GiB)?`", lambda m: m[0] if "|" in m[0] or m[0] in (
        "`port/fast`", "`ld`") else " " * len(m[0]), read("README.md"), flags=re.M)
    covered = set()
    for pattern, wanted in CLAIMS:
        found = list(re.finditer(pattern.replace(" ", r"\s+"), text))
        must(len(found) == (4 if wanted is None else 1), f"'{pattern}' is there {len(found)} times")
        for m in found:
            got = [group.replace(",", "").rstrip(";") for group in m.groups()]
            must(wanted is None or got == wanted(), f"'{m[0]}': {got} instead of {wanted and wanted()}")
            covered.update(range(*m.span()))
    for m in re.finditer(r"(?<![\w./-])\d[\d,.]*", re.sub(r"\([^)\s]*\)", lambda m: " " * len(m[0]), text)):
        must(m.start() in covered, f"nothing produces the number {m[0]} in '{text[m.start() - 30:m.end() + 20]!r}'")


def test_switches_are_named(_tc, _directory):
    """README.md names each switch that sfu.h has."""
    comment = re.search(r"/\* Build-time switches.*?\*/", read("sfu.h"), re.S)[0]
    switches = re.findall(r"^ \*   (SFU_\w+)", comment, re.M) + ["SFU_PREFIX"]
    row = next(line for line in read("README.md").splitlines() if line.startswith("| Switches |"))
    must(sorted(re.findall(r"SFU_\w+", row)) == sorted(switches), f"{row}: {switches}")


def test_changelog(_tc, _directory):
    number = int(re.search(r"SFU_VERSION ([0-9]+)", read("sfu.h"))[1])
    version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    text = read("CHANGELOG.md")
    must(text.index(f"## {version}\n") >= 0, version)
    must("### What stays" in text and "### What an upgrade must change" in text, "what stays, what must change")


# ---- toolchains ----

def test_beside(_tc, directory):
    """The recipe for a newer assembler makes tables of version 3."""
    with open(os.path.join(directory, "beside.c"), "w", encoding="utf-8") as f:
        f.write("int f(int x);\nint f(int x) { return x + 1; }\n")
    shell("sh", "-euc", block("run:", "beside"), cwd=directory, env=dict(os.environ, SFU=os.path.abspath(".")))
    for name in ("beside.o", "beside-too.o"):
        out = shell(f"{_tc}/x86_64/objdump", "--sframe", os.path.join(directory, name))
        must("SFRAME_VERSION_3" in out, out)


def test_headers(_tc, directory):
    """The recipe for kernels whose <stdint.h> says nothing."""
    folder = os.path.join(directory, "headers")
    os.makedirs(folder + "/theirs", exist_ok=True)
    with open(folder + "/theirs/stdint.h", "w", encoding="utf-8") as f:
        f.write("/* nothing */\n")
    for name in ("sfu.c", "sfu.h"):
        if not os.path.lexists(f"{folder}/{name}"):
            os.symlink(os.path.abspath(name), f"{folder}/{name}")
    shell("sh", "-euc", block("run:", "headers"), cwd=folder, env=dict(os.environ, YOURS="theirs"))


def test_link_script(tc, directory):
    """The lines for the linker script: the section is loaded, and its bounds are what they say."""
    lines = [text for mark, _, text, _ in blocks() if mark == ["link"]]
    must(len(lines) >= 2, f"{len(lines)} blocks are marked")
    script = os.path.join(directory, "lines.ld")
    with open(script, "w", encoding="utf-8") as f:
        f.write("SECTIONS { . = 0x100000; .text : { *(.text) }\n%s}\n" % "".join(lines))
    image = os.path.join(directory, "lines.elf")
    shell("gcc", f"-B{tc}/x86_64/", "-ffreestanding", "-fasynchronous-unwind-tables", "-Wa,--gsframe", "-nostdlib",
          "-static", "-Wl,--gc-sections,--build-id,-e,f", f"-Wl,-T,{script}", os.path.join(directory, "beside.c"), "-o", image)
    symbols = {m[2]: int(m[1], 16) for m in re.finditer(r"^(\w+) \w (\w+)$", shell("nm", image), re.M)}
    for name, start, end in ((".sframe", "sframe_start", "sframe_end"),
                             (".note.gnu.build-id", "build_id_start", "build_id_end")):
        m = re.search(rf" {re.escape(name)} +\S+ +([0-9a-f]+) +\S+ ([0-9a-f]+) \S+ +\w*A", shell("readelf", "-SW", image))
        must(m and symbols[start] == int(m[1], 16), f"{name}: {m and m[0]}")
        must(symbols[start] < symbols[end] and symbols[end] >= symbols[start] + int(m[2], 16), f"{name}: {symbols}")


COMDAT = {  # inline functions that two or more of the files have; the dropped ones leave relocations
    "a": "int a(int x) { S s; return s.f(x) + g(x); }",
    "d": "inline int k(int x) { return other(x) * 3; }\nint d(int x) { S s; return s.f(x) * g(x) + k(x); }",
    "c": "int c(int x) { S s; return s.f(x) * g(x); }",
    "b": "int b(int x) { S s; return s.f(x) - g(x); }\nint other(int x) { return x; }",
}
COMDAT_HEADER = ("int other(int);\nstruct S { int f(int x) { return other(x) + 1; } };\n"
                 "inline int g(int x) { return other(x) * 2; }\n")


def test_comdat(tc, directory):
    """What is said of ld -r of C++ with -g holds still; with -S, all functions are in the table."""
    ld, objects = f"{tc}/x86_64/ld", []
    for name, text in COMDAT.items():
        source = os.path.join(directory, f"comdat-{name}.cc")
        with open(source, "w", encoding="utf-8") as f:
            f.write(COMDAT_HEADER + text + "\n")
        objects.append(source[:-2] + "o")
        shell("g++", f"-B{tc}/x86_64/", "-O0", "-g", "-fasynchronous-unwind-tables", "-Wa,--gsframe", "-c", source, "-o", objects[-1])
    joined, image = (os.path.join(directory, f"comdat.{kind}") for kind in ("o", "elf"))
    shell(ld, "-r", *objects, "-o", joined)
    done = subprocess.run([ld, "-e", "_Z1ai", joined, "-o", image], text=True, capture_output=True)
    must(done.returncode != 0 and "out of section range" in done.stderr,
         f"port/README.md speaks of a fault that this ld does not have any more: {done.stderr}")
    shell(ld, "-r", "-S", *objects, "-o", joined)
    shell(ld, "-e", "_Z1ai", joined, "-o", image)
    found = len(re.findall(r"func idx", shell(f"{tc}/x86_64/objdump", "--sframe", image)))
    must(found == 8, f"{found} functions in the table")


# ---- running ----

def main():
    if sys.argv[1] == "blocks":
        write_blocks(sys.argv[2])
        return 0
    tests = [(name[5:].replace("_", " "), test) for name, test in sorted(globals().items()) if name.startswith("test_")]
    tests += [(f"boot {scenario}, {cpu}", boots(cpu, scenario)) for cpu in CPUS for scenario in traces(cpu)]
    failed = False
    for name, test in tests:
        try:
            test(sys.argv[2], sys.argv[3])
            print(f"ok {name}")
        except (Wrong, OSError, ValueError, LookupError, TypeError, StopIteration) as wrong:
            failed = True
            print(f"not ok {name}: {wrong!r}".replace("\n", " "))
    return failed


if __name__ == "__main__":
    sys.exit(main())

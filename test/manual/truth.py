# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Names, codes, links and numbers of README.md and of the pages of port/ are so."""
import os
import re
import subprocess

from common import CPUS, DOCS, blocks, must, read, shell

HEADERS = ["sfu.h", "arch/sfu_arch.h", "arch/sfu_asm.h", "port/fast/sfu_fast.h", "port/symbols/sfu_symbols.h",
           *(f"port/print/sfu_{name}.h" for name in ("print", "all", "build_id", "cycles", "dump", "record"))]
# What somebody who takes sfu into a program comes across: in the manuals, not in the headers alone.
NEWCOMER = """sfu_panic_init sfu_panic_print sfu_registers_here sfu_cpu_reg sfu_add sfu_remove sfu_sort
    sfu_string sfu_print_build_id sfu_print_cycles sfu_print_all sfu_record_write sfu_record_print sfu_symbols_find
    sfu_function_begin sfu_function_end sfu_push sfu_pop sfu_outermost_begin
    sfu_outermost_end sfu_outermost sfu_thread_entry sfu_trap_begin sfu_trap_row sfu_trap_row_here sfu_trap_end SFU_ABI
    SFU_OLDEST_VERSION SFU_NO_REMOTE SFU_NO_STRINGS SFU_NO_ASM SFU_NO_OUTERMOST sfu_registers
    sfu_target sfu_interrupted sfu_cpu SFU_PC_EXACT SFU_PC_RETURN red_zone find_stack""".split()


# ---- names and codes ----

# What a line declares that others may use; and lines between it and its comment.
PUBLIC = (r"(?!#|typedef|struct sfu_\w+ \{)\w.*?\b(sfu_\w+)\(", r"(?:struct|enum) (sfu_\w+) \{",
          r"typedef .*?\(\*?(sfu_\w+)\)", r"#define (SFU_\w+)(?<!_H)\b", r" +\.macro (sfu_\w+)")
BETWEEN = r"#|typedef|/\* clang-format|$"
# Parts of others: not to be written in a program.
ASM_OWN = {"sfu_trap_begin_at", "sfu_trap_check_label", "sfu_trap_address", "sfu_trap_finish", "sfu_label"}


def names(header):
    """(name, whether a comment says what it is): behind it, right above it, or above all of them by its name"""
    text = re.sub(r"(?s)^#ifdef SFU_PREFIX.*?^#endif$", "", read(header), flags=re.M)
    lines = text.splitlines()
    for n, line in enumerate(lines):
        name = next((m[1] for pattern in PUBLIC if (m := re.match(pattern, line))), None)
        if name:
            above = n - 1
            while re.match(BETWEEN, lines[above]):
                above -= 1
            comments = " ".join(re.findall(r"(?s)/\*.*?\*/", "\n".join(lines[:n])))
            yield name, "/*" in line or lines[above].endswith("*/") or re.search(rf"\b{name}\b", comments) is not None


def test_names(_tc, _directory):
    found = [(header, name, said) for header in HEADERS for name, said in names(header)]
    must(len(found) >= 60, f"only {len(found)} public names")
    explained = {name for _, name, said in found if said}
    for header, name, _ in found:
        must(name in explained or name in ASM_OWN, f"{header}: no comment says what {name} is")
    manuals = "".join(read(file) for file in DOCS)
    headers = "".join(read(header) for header in HEADERS) + read("arch/x86_64/sfu_capture.h")
    for name in NEWCOMER:
        must(re.search(rf"\b{name}\b", headers), f"{name} is in no header")
        must(re.search(rf"\b{name}\b", manuals), f"{name} is in no manual")
    code = "".join(read(file) for file in CODE)
    for name in sorted(set(re.findall(r"\b(?:sfu|SFU)_\w+\b", manuals))):
        must(re.search(rf"\b{name}\b", code), f"{name} is in the manuals, but nowhere else")
    print(f"# {len(found)} public names")


CODE = [os.path.join(folder, file) for top in ("arch", "port") for folder, _, files in os.walk(top)
        for file in files
        if file.endswith((".c", ".h", ".S", ".rs", ".sh", ".py")) or file in ("CMakeLists.txt", "meson.build")]
CODE += ["sfu.c", "sfu.h"]


def test_codes(_tc, directory):
    """Each is explained in the header, by sfu_string in words of its own, and in a table of a page."""
    enum = re.search(r"enum sfu_code \{.*?\};", read("sfu.h"), re.S)[0]
    codes = re.findall(r"^ +(SFU_\w+) = -?\d+,? +/\*", enum, re.M)
    must(len(codes) >= 27 and codes == re.findall(r"^ +(SFU_\w+) = ", enum, re.M), f"{len(codes)} codes have a comment")
    program = os.path.join(directory, "codes")
    with open(program + ".c", "w", encoding="utf-8") as f:
        f.write('#include "sfu.h"\n#include <stdio.h>\nint main(void)\n{\n' +
                "".join(f"    puts(sfu_string({name}));\n" for name in codes) + "    puts(sfu_string(77));\n}\n")
    shell("gcc", "-I.", program + ".c", "sfu.c", "-o", program)
    sentences = shell(program).splitlines()
    must(len(set(sentences)) == len(codes) + 1 and all(len(s.split()) > 1 or s == "done" for s in sentences),
         f"{sentences}")
    rows = [line for page in DOCS for line in read(page).splitlines() if line.startswith("| `SFU_")]
    for name in codes:
        must(name == "SFU_OK" or any(f"`{name}`" in row and row.count("|") >= 4 for row in rows), f"{name} has no row")


# ---- what the manuals name ----

def test_blocks_are_tested(_tc, _directory):
    """A block of code says by its mark what runs it."""
    for mark, kind, text, file in blocks():
        must(mark and mark[0] in ("example", "file:", "run:", "boot:", "link", "part", "ten"),
             f"{file}: nothing runs the block of {kind} that begins '{text.splitlines()[0]}'")
        if mark[0] == "part":  # of: a file that is built; ten lines of: recipes.py compares, bare and profile boot
            before, _, behind = read(os.path.join(os.path.dirname(file), mark[2])).partition(text)
            must(re.search(r"(\n|^# .*)\n\Z", before, re.M) and (behind == "" or behind[0] == "\n" and kind != "toml"),
                 f"{file}: what begins '{text.splitlines()[0]}' is no whole part of {mark[2]}")


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
        rooms = "arch|port|test|fuzz|baremetal|print|symbols|linux|host|fast|depot|profile|rust|zephyr"
        for path in re.findall(r"`((?:\.\./)*(?:%s)/[\w./*]*)`" % rooms, text):
            names = [path.replace("*", "x86_64") + end for end in ("", ".h")]
            tried = [os.path.join(base, name) for base in (folder, "") for name in names]
            must(any(os.path.exists(p) for p in tried), f"{file}: {path} does not exist")
        for target in re.findall(r"`make ([\w-]+)|^    make ([\w-]+)", text):
            name = target[0] or target[1]
            must(name in targets, f"{file}: there is no make {name}")


# ---- numbers ----

def budget(*words):
    return re.search(rf"^{' '.join(words)} ([\d.]+)$", read("test/tools/gates/budget.txt"), re.M)[1]


def real(cpus):
    """the lines that sfu took in real programs with so many CPUs, fewest first"""
    lines = re.findall(rf"^\| [^|]+ \| {cpus} \| (\d+) \|", read("test/real/RESULTS.md"), re.M)
    return sorted(lines, key=int)


def stack(cpu):
    return re.search(rf"^\| {cpu} \| `-Os` \| \d+ \| (\d+)", read("test/tools/gates/SWITCHES.md"), re.M)[1]


def smaller():
    """by how many percent of -O2 -Os is smaller, on x86_64"""
    os_, _, _, o2 = re.search(r"^\| sfu.c, without switches \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|",
                              read("test/tools/gates/SWITCHES.md"), re.M).groups()
    return str(100 * (int(o2) - int(os_)) // int(o2))


def cost(column):
    """least and most of a column of what real programs cost, for each CPU in turn"""
    rows = [[cell.strip() for cell in line.split("|")] for line in read("test/tools/cost/RESULTS.md").splitlines()]
    for cpu in CPUS:
        figures = [re.search(r"([\d.]+)%$", row[column]) for row in rows if len(row) > column and row[2] == cpu]
        values = [float(m[1]) for m in figures if m]
        yield from (f"{min(values):.1f}", f"{max(values):.1f}")


# Each number of README.md: a pattern with a group for each of its numbers, and what they must be.
CLAIMS = [
    (r"\*\*Small\.\*\* (\S+) bytes on x86_64 with , (\S+) with , messages aside; (\S+) without",
     lambda: [budget("gcc12", "x86_64", level, what) for level, what in
              (("Os", "text"), ("O2", "text"), ("Os", "smallest"))]),
    (r"\*\*Fast\.\*\* (\S+) instructions per frame with , (\S+) with ; (\S+) and (\S+) by `port/fast` with a "
     r"cache of (8) KiB",
     lambda: [str(round(float(budget("gcc12", "x86_64", level, what)))) for what in ("walk", "trace-cached")
              for level in ("Os", "O2")] + ["8"]),
    (r"took (\d+) to (\d+) lines, Xen and NuttX on two CPUs (\d+) to (\d+):",
     lambda: [real(cpus)[end] for cpus in (1, 2) for end in (0, -1)]),
    (r"one of (\d+) errors", lambda: [str(len(re.findall(r"^ +SFU_E_\w+ = -", read("sfu.h"), re.M)))]),
    (r"core, without messages, bytes \| (\S+) \| (\S+) \| (\S+) \|",
     lambda: [budget("gcc12", cpu, "Os", "text") for cpu in CPUS]),
    (r"as far as a panic needs it \| (\S+) \| (\S+) \| (\S+) \|",
     lambda: [budget("gcc12", cpu, "Os", "smallest") for cpu in CPUS]),
    (r"stack of a step \| (\S+) \| (\S+) \| (\S+) \|", lambda: [budget("gcc12", cpu, "Os", "stack") for cpu in CPUS]),
    (r"stack of a whole panic \| (\S+) \| (\S+) \| (\S+) \|", lambda: [stack(cpu) for cpu in CPUS]),
    (r"in percent of the code" + r" \| (\S+) to (\S+)" * 3, lambda: list(cost(4))),
    (r"the same, by" + r" \| (\S+) to (\S+)" * 3, lambda: list(cost(5))),
    (r"in percent of the instructions executed" + r" \| (\S+) to (\S+)" * 3, lambda: list(cost(8))),
    (r"at most (\S+) frames and (\d+) stack switches",
     lambda: [re.search(rf"SFU_MAX_{name} +(\d+)", read("sfu.h"))[1] for name in ("FRAMES", "SWITCHES")]),
    (r"breaks the code in (\d+) ways",
     lambda: [str(len(re.findall(r"^[\w-]+ +\|", read("test/mutants/prove"), re.M)))]),
    (r"SFrame (1), (2) \(both errata\), (3)", lambda: ["1", "2", "3"]),
    (r"needs version (3)", lambda: ["3"]),  # tested by test_comdat and by port/host/test
    (r"shorter than (2) GiB", lambda: [re.search(r"its tables are (\d+) GiB", read("sfu.h"))[1]]),
    (r"it is (\d+)% smaller", lambda: [smaller()]),
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


def test_numbers_of_pages(_tc, _directory):
    """Those that a page shares with a header, whose tests measure them; and the binutils that are asked for."""
    for page, page_says, header, header_says in (
            ("print/README.md", r"It costs about (.*?uncompressed, \d+\s+and \d+)", "symbols/sfu_symbols.h",
             r"A table takes about (.*?--plain \d+ and \d+)"),
            ("print/README.md", r"\| (\d+) bytes that survive", "print/sfu_record.h", r"record: (\d+) bytes")):
        said = [re.findall(r"\d+", re.search(pattern, read("port/" + file), re.S)[1])
                for file, pattern in ((page, page_says), (header, header_says))]
        must(said[0] == said[1], f"port/{page} says {said[0]}, {header} {said[1]}")
    for file in DOCS:
        asked = set(re.findall(r"(2\.\d+) or\s+newer", read(file)))
        must(asked <= {"2.46"}, f"{file}: {asked}")


def test_switches_are_named(_tc, _directory):
    """README.md names each switch that sfu.h has."""
    comment = re.search(r"/\* Build-time switches.*?\*/", read("sfu.h"), re.S)[0]
    switches = re.findall(r"^ \*   (SFU_\w+)", comment, re.M) + ["SFU_TYPES"]
    row = next(line for line in read("README.md").splitlines() if line.startswith("| Switches |"))
    must(sorted(re.findall(r"SFU_\w+", row)) == sorted(switches), f"{row}: {switches}")


def test_changelog(_tc, _directory):
    number = int(re.search(r"SFU_VERSION ([0-9]+)", read("sfu.h"))[1])
    version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    text = read("CHANGELOG.md")
    must(text.index(f"## {version}\n") >= 0, version)
    must("### What stays" in text and "### What an upgrade must change" in text, "what stays, what must change")

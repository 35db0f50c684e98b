# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""Names, codes, links and numbers of README.md and of the pages of port/ are so."""
import os
import re
import subprocess

import figures
from common import DOCS, PAGES, block, blocks, must, read, shell, sources

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
    manuals = re.sub(r"(?s)<!--.*?-->", "", "".join(read(file) for file in DOCS))
    headers = "".join(read(header) for header in HEADERS) + read("arch/x86_64/sfu_capture.h")
    for name in NEWCOMER:
        must(re.search(rf"\b{name}\b", headers), f"{name} is in no header")
        must(re.search(rf"\b{name}\b", manuals), f"{name} is in no manual")
    code = "".join(read(file) for file in CODE)
    for name in sorted(set(re.findall(r"\b(?:sfu|SFU)_\w+\b", re.sub(r"\]\(\S*\)", "", manuals)))):
        must(re.search(rf"\b{name}\b", code), f"{name} is in the manuals, but nowhere else")
    print(f"# {len(found)} public names")


CODE = [os.path.join(folder, file) for top in ("arch", "port") for folder, _, files in os.walk(top)
        for file in files
        if file.endswith((".c", ".h", ".S", ".rs", ".sh", ".py")) or file in ("CMakeLists.txt", "meson.build")]
CODE += ["sfu.c", "sfu.h"]


def test_codes(_tc, directory):
    """Each is explained in the header, by sfu_string in words of its own, and by an entry of a page."""
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
    page = read("docs/errors.md")
    for name, sentence in zip(codes, sentences):
        number = figures.code(name)
        entry = re.search(rf"^### {name} \({number}\)\n(.*?)(?=^##|\Z)", page, re.M | re.S)
        must(entry, f"docs/errors.md has no entry {name} ({number})")
        for part in ("Means", "Usual cause", "What to do"):
            must(re.search(rf"^\*\*{part}:\*\* \S.{{5}}", entry[1], re.M), f"docs/errors.md: {name} has no {part}")
        must(f"| {number} | [`{name}`](#{name.lower()}-{number}) | {sentence} |" in page.splitlines(),
             f"docs/errors.md: the list does not have {name}, {number}, {sentence}")
    must(page.count("\n### ") == len(codes), "docs/errors.md has an entry of a code that is not there")


# ---- what the manuals name ----

def test_blocks_are_tested(_tc, _directory):
    """A block of code says by its mark what runs it."""
    for mark, kind, text, file in blocks():
        must(mark and mark[0] in ("example", "file:", "run:", "boot:", "same:", "block:", "part", "ten"),
             f"{file}: nothing runs the block of {kind} that begins '{text.splitlines()[0]}'")
        if mark[0] == "part":  # of: a file that is built; ten lines of: recipes.py compares, bare and profile boot
            before, _, behind = read(mark[2]).partition(text)
            must(re.search(r"(\n|^# .*)\n\Z", before, re.M) and (behind == "" or behind[0] == "\n" and kind != "toml"),
                 f"{file}: what begins '{text.splitlines()[0]}' is no whole part of {mark[2]}")
        if mark[0] == "same:":
            must(text == block(*mark[1:]), f"{file}: what begins '{text.splitlines()[0]}' is not {' '.join(mark[1:])}")


ROOMS = "arch|port|test|fuzz|baremetal|print|symbols|linux|host|fast|depot|profile|rust|zephyr"


def headings(page):
    """the anchors of PAGE"""
    heads = re.findall(r"^#+ (.*)$", read(page), re.M)
    return {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in heads}


def test_links(_tc, _directory):
    """Paths that pages name exist, targets can be made, headings that are linked to are there."""
    for file in PAGES:
        text, folder = read(file), os.path.dirname(file)
        for link, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)", text):
            path = os.path.normpath(os.path.join(folder, link)) if link else file
            must(os.path.exists(path), f"{file}: {link} does not exist")
            must(anchor == "" or anchor in headings(path), f"{file}: {path} has no heading {anchor}")
        for path in re.findall(r"`((?:\.\./)*(?:%s)/[\w./*]*)`" % ROOMS, text) if file in DOCS else ():
            names = [path.replace("*", "x86_64") + end for end in ("", ".h")]
            tried = [os.path.join(base, name) for base in (folder, "") for name in names]
            must(any(os.path.exists(p) for p in tried), f"{file}: {path} does not exist")
        for target in re.findall(r"`make ([\w-]+)\b(?!=)|^    make ([\w-]+)\b(?!=)", text) if file in DOCS else ():
            name = target[0] or target[1]
            must(name in figures.targets(), f"{file}: there is no make {name}")


# Pages that commands write.
WRITTEN = ("NOTES.md",)


def test_links_from_code(_tc, _directory):
    """A page that a file of code names is there: from the file's folder, from one above it, or by the name alone."""
    count = 0
    for file in sources():
        bases = [os.path.dirname(file)]
        while bases[-1]:
            bases.append(os.path.dirname(bases[-1]))
        for page, anchor in re.findall(r"(?<![\w*<>{}$./-])([\w./-]*\w\.md)\b(?:#([\w-]+))?", read(file)):
            if page.startswith(("/", "build/")) or page in WRITTEN:
                continue
            tried = [os.path.join(base, page) for base in bases] + [p for p in PAGES if os.path.basename(p) == page]
            found = [path for path in tried if os.path.exists(path)]
            must(found, f"{file} names {page}, and there is no such page")
            must(not anchor or anchor in headings(found[0]), f"{file}: {found[0]} has no heading {anchor}")
            count += 1
    must(count > 40, f"only {count} pages are named in code")


# ---- numbers ----

# Pages in which each number has a mark that says where it comes from: figures.py.
# In these each number has a mark. Elsewhere those have one that something measures or defines.
MARKED = ("README.md", "docs/performance.md")


def test_numbers(_tc, _directory):
    """A number is what its mark says, whatever the sentence."""
    wrong = [fault for page in sorted({*MARKED, *PAGES}) for fault in figures.faults(page, read(page))
             if page in MARKED or "no mark says" not in fault]
    must(not wrong, "; ".join(wrong))


# Whose numbers are not decimal figures.
OTHER_NUMBERS = ("docs/format.md", "test/vectors/README.md")


def test_figures_are_alike(_tc, _directory):
    """One form on all pages, with the command."""
    wrong = [fault for page in PAGES if page not in OTHER_NUMBERS for fault in figures.unlike(page, read(page))]
    must(not wrong, "; ".join(wrong))
    mark = "<!-- numbers: measured by make bench -->\n"
    for text, count in (("1234 bytes", 1), ("1,234 in 2026", 0), ("`1234` a1234 0x1234", 0), ("1 |\n" + mark, 1),
                        ("By `make bench`: 1\n" + mark, 0), ("# A\n`make bench`\n## B\n2\n" + mark, 0),
                        ("## A\n`make bench`\n## B\n2\n" + mark, 1)):
        must(len(list(figures.unlike("page", text))) == count, f"{text!r}: {list(figures.unlike('page', text))}")


def test_numbers_can_be_wrong(_tc, _directory):
    """A mark notices another number, one more, one less, and a paragraph has its own."""
    mark = "<!-- numbers: constant sfu.h SFU_MAX_SWITCHES; KB constant sfu.h SFU_MAX_FRAMES; - -->\n"
    frames, switches = (figures.constant("sfu.h", f"SFU_MAX_{name}") for name in ("FRAMES", "SWITCHES"))
    said = f"of gcc 12, {switches} and\n{frames / 1000:.1f} KB, and `4` and 77.\n"
    for text, wrong in ((said, 0), (said.replace(str(switches), "15"), 1), (said.replace("KB", "KB or 5"), 1),
                        (said.replace("77", ""), 1), ("8\n\n" + said, 1), (said.replace("KB, and", "KB.\n\nAnd"), 3)):
        found = list(figures.faults("page", text + mark))
        must(len(found) == wrong, f"{text!r}: {found}")


def test_binutils(_tc, _directory):
    """All pages ask for the same binutils."""
    asked = {version for file in PAGES for version in re.findall(r"(2\.\d+) or\s+newer", read(file))}
    must(asked == {"2.46"}, f"{asked}")


def test_switches_are_named(_tc, _directory):
    """docs/integration.md names each switch that sfu.h has."""
    comment = re.search(r"/\* Build-time switches.*?\*/", read("sfu.h"), re.S)[0]
    switches = re.findall(r"^ \*   (SFU_\w+)", comment, re.M) + ["SFU_TYPES"]
    named = re.findall(r"^\| `(SFU_\w+)`(?:, `(SFU_\w+)`)* \|", read("docs/integration.md"), re.M)
    must(set(switches) <= {first for first, _ in named}, f"{switches}: {named}")


def test_changelog(_tc, _directory):
    version = figures.version()
    number = figures.constant("sfu.h", "SFU_VERSION") % 100
    must(f"## {version}.{number}\n" in read("CHANGELOG.md"), f"CHANGELOG.md has no section {version}.{number}")
    found = re.search(r'^version = "(.*)"', read("port/rust/Cargo.toml"), re.M)[1]
    must(found == f"{version}.{number}", f"port/rust/Cargo.toml: {found} instead of {version}.{number}")


# ---- the form of the pages ----

README_WORDS, PAGE_WORDS, COLUMNS = 900, 1500, 100
# Not for people to read from top to bottom: figures, logs, lists.
LISTS = r".*(RESULTS|SWITCHES|FAULTS|CHANGELOG)\.md|test/.*"


def words(page):
    return len(re.sub(r"(?s)<!--.*?-->", "", read(page)).split())


def test_words(_tc, _directory):
    """README.md is short, and a long page has a table of contents, of which test_links tests the links."""
    must(words("README.md") <= README_WORDS, f"README.md has {words('README.md')} words")
    for page in PAGES:
        if not re.fullmatch(LISTS, page) and words(page) > PAGE_WORDS:
            heads = re.findall(r"^## (.*)$", read(page), re.M)
            contents = re.search(r"^Contents: (.*?)\n\n", read(page), re.M | re.S)
            must(contents and contents[1].count("](#") >= min(3, len(heads)),
                 f"{page}: {words(page)} words, and no contents")


def test_columns(_tc, _directory):
    """Lines of text have at most 100 columns; tables, code, and words that cannot be broken may be longer."""
    for page in PAGES:
        if re.fullmatch(LISTS, page):
            continue
        text = re.sub(r"(?ms)^ *```.*?^ *```$", lambda m: re.sub(r"[^\n]", "", m[0]), read(page))
        for n, line in enumerate(text.splitlines(), 1):
            if len(line) > COLUMNS and not line.startswith(("|", "    ", "<!--")) and len(line.split()) > 1:
                must(max(map(len, line.split())) > 70, f"{page}:{n} has {len(line)} columns")


# Abbreviations that every reader of these pages knows, and names.
KNOWN = set("""AFL API ARM ASCII BSD C99 C11 CBMC CI CMake CPU DVI ELF GDB GNU GiB HTTP ID ISO JSON KB KiB LICENSE
    LLVM MB GB MIT NONE NULL OK OP OS PC PE POSIX QEMU RAM RISC RT SPDX SVG TEE URL V""".split())


def unexplained(page, text):
    """abbreviations of TEXT that it does not spell out, and the glossary does not have"""
    glossary = {word for entry in re.findall(r"^\| (.+?) \|", read("docs/glossary.md"), re.M)
                for word in re.split(r"[, ]+", entry)}
    prose = re.sub(r"(?s)<!--.*?-->|^ *```.*?^ *```$|`[^`]*`|^    .*?$|\]\([^)]*\)", " ", text, flags=re.M)
    files = {os.path.basename(file)[:-3] for file in PAGES}
    for word in sorted(set(re.findall(r"\b[A-Z][A-Z0-9]+(?=s?\b)(?!_)", prose)) - KNOWN - glossary - files):
        abi = re.fullmatch(r"I?LP\d+[A-Z]?|M\d+", word)  # of the ABIs in docs/format.md; of a Cortex
        if not abi and not re.search(rf"\({word}s?\)|\b{word}s? \(|^\| {word} \|", text, re.M):
            yield f"{page}: {word} is not spelled out, and docs/glossary.md does not have it"


def test_abbreviations(_tc, _directory):
    """A reader finds what an abbreviation stands for: in the page, or in the glossary."""
    pages = [page for page in PAGES if "/" not in page or page.startswith("docs/")]
    wrong = [fault for page in pages for fault in unexplained(page, read(page))]
    must(not wrong, "; ".join(wrong))
    for text, count in (("a XYZQ", 1), ("a `XYZQ`", 0), ("quick z (XYZQ), XYZQ", 0), ("the CFA", 0), ("CFAX", 1)):
        must(len(list(unexplained("page", text))) == count, f"{text!r} is judged wrongly")


def test_all_pages_are_found(_tc, _directory):
    """docs/index.md leads to each page of docs/, and README.md to the index."""
    linked = set(re.findall(r"\]\(([\w./-]+\.md)", read("docs/index.md")))
    missing = {os.path.basename(page) for page in PAGES if page.startswith("docs/")} - linked - {"index.md"}
    must(not missing, f"docs/index.md does not link {missing}")
    must("(docs/index.md)" in read("README.md"), "README.md does not link docs/index.md")


# What lists the files of a room of port/host.
ROOMS = {"code": ["code.h"], "log": ["log.h"], "trace": ["trace.h"], "link": ["sfu_link.c"],
         "machine": ["space.h", "memory.h"]}


def test_rooms_are_listed(_tc, _directory):
    """docs/architecture.md leads to the list of the files of a room, and that has each of them."""
    page = read("docs/architecture.md")
    for room, lists in ROOMS.items():
        files = [name for name in os.listdir(f"port/host/{room}") if name.endswith(".c") and name not in lists]
        text = "".join(read(f"port/host/{room}/{name}") for name in lists)
        missing = [name for name in files if not re.search(rf"\b{re.escape(name)}", text)]
        must(not missing, f"{', '.join(lists)} in port/host/{room}/ does not list {', '.join(sorted(missing))}")
        must(all(re.search(rf"`(?:{room}/)?{name}`", page) for name in lists), f"architecture.md does not name {lists}")


def test_faults_are_told(_tc, _directory):
    """docs/toolchain-faults.md says what each fault of FAULTS.md means for a user."""
    page = read("docs/toolchain-faults.md")
    for name in re.findall(r"^## ([\w-]+)", read("test/truth/FAULTS.md"), re.M):
        must(f"[{name}](../test/truth/FAULTS.md#{name}" in page, f"docs/toolchain-faults.md does not speak of {name}")

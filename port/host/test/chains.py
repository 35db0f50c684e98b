#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""chains.py check | print: what each toolchain does with tables, found out by running those that are installed.

check    the rows of docs/toolchains.md are what they do; a tool or version that the page does not have is named
print    the rows, for the page
"""
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys

from host import TC, WORK, Elf, finish, must, run, test, write

PAGE = "docs/toolchains.md"
SFRAME = 0x6ffffff4


def attempt(*command):
    """Runs COMMAND. Returns whether it has ended well, and what it has said."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return done.returncode == 0, done.stderr


def version_of(tool):
    """The version that TOOL names: two numbers of GNU's, one of LLVM's."""
    text = run(tool, "--version")[0].splitlines()[0]
    number = re.findall(r"\d+\.\d+(?:\.\d+)?", text)[0]
    return number.partition(".")[0] if "LLVM" in text or "clang" in text or "LLD" in text \
        else ".".join(number.split(".")[:2])


# ---- tables ----

def tables(file):
    """The tables in a file's .sframe sections: (version, sorted, functions) of each."""
    elf, found = Elf(file), []
    headers, = elf.get("Q", 40)
    count, = elf.get("H", 60)
    for i in range(count):
        header = elf.get("IIQQQQIIQQ", headers + 64 * i)
        at, end = header[4], header[4] + header[5]
        names = elf.get("IIQQQQIIQQ", headers + 64 * elf.get("H", 62)[0])[4] + header[0]
        if bytes(elf.data[names:elf.data.index(0, names)]) != b".sframe" or header[1] == 8:
            continue
        while at + 28 <= end and elf.get("H", at)[0] == 0xdee2:
            fields = elf.get("BBBBBBIIIII", at + 2)
            found.append((fields[0], fields[1] & 1, fields[6]))
            at += 28 + fields[5] + max(fields[9] + fields[6] * {1: 17, 2: 20, 3: 16}[fields[0]], fields[10] + fields[8])
            at += next((i for i in range(8) if at + i + 28 <= end and elf.get("H", at + i)[0] == 0xdee2), 0)
    return found


def shape(file, functions, warnings=""):
    """What has become of tables of FUNCTIONS functions."""
    if not os.path.exists(file):
        return "no file"
    found = [t for t in tables(file) if t[2] > 0]
    total = sum(t[2] for t in found)
    if not found:
        text = "dropped"
    elif len(found) > 1:
        text = "joined"
    else:
        text = "merged" if total >= functions else "part dropped"
        text += "" if found[0][1] else ", unsorted"
    return text + (", warns" if re.search("warning|error", warnings) else "")


# ---- assemblers ----

FUNCTION = (".text\n.globl %(n)s\n.type %(n)s, %%function\n%(n)s: .cfi_startproc\n%(nop)s\n.cfi_endproc\n"
            ".size %(n)s, . - %(n)s\n")
CPUS = ("x86_64", "aarch64", "s390x", "riscv64")
NEWEST_RISCV = TC + "/riscv/riscv64/as"  # toolchain.sh riscv: not what every machine has
RELEASED = TC + "/chains/released/aarch64/"  # binutils of a release: the new ones are a snapshot


def assembled(command, source, output):
    """What the assembler makes of .cfi directives: the version and the section's type, or why there is none."""
    if os.path.exists(output):
        os.remove(output)
    good, said = attempt(*command, source, "-o", output)
    if not good or not os.path.exists(output):
        return "refused"
    found = tables(output)
    if not found:
        return "none, warns" if said else "none"
    section = Elf(output).sections[".sframe"]
    return "version %d%s" % (found[0][0], "" if section["type"] == SFRAME else ", PROGBITS")


ALLOW = "-Wa,--allow-experimental-sframe"


def first_of(command, source, output):
    """The same, by an option more where it is refused without."""
    plain = assembled(command, source, output)
    allowed = assembled(command + [ALLOW], source, output) if "clang" in command[0] and plain == "refused" else plain
    return plain if allowed == plain else "%s, with `%s`" % (allowed, ALLOW)


def clangs():
    """Those that are installed, and the newest of Debian (toolchain.sh chains)."""
    return sorted(glob.glob("/usr/bin/clang-[0-9][0-9]")) + sorted(glob.glob(TC + "/chains/clang-[0-9][0-9]"))


def assemblers():
    """One row for each: what it writes for each CPU."""
    tools = []
    for prefix in ("/usr/bin/", TC + "/"):
        found = {}
        for cpu in CPUS:
            tool = prefix + (cpu + "-linux-gnu-as" if prefix == "/usr/bin/" else cpu + "/as")
            found[cpu] = [NEWEST_RISCV if tool == TC + "/riscv64/as" else tool, "--gsframe"]
        if os.path.exists(found["x86_64"][0]):
            tools.append(("GNU as " + version_of(found["x86_64"][0]), found))
    if os.path.exists(RELEASED + "as"):
        tools.append(("GNU as %s, released" % version_of(RELEASED + "as"),
                      {cpu: [TC + "/chains/released/%s/as" % cpu, "--gsframe"] for cpu in CPUS}))
    for tool in clangs():
        tools.append(("clang %s, its own assembler" % version_of(tool),
                      {cpu: [tool, "--target=%s-linux-gnu" % cpu, "-c", "-Wa,--gsframe"] for cpu in CPUS}))
    for name, commands in tools:
        cells = []
        for cpu in CPUS:
            source = "%s/%s.s" % (WORK, cpu)
            write(source, (FUNCTION % {"n": "f", "nop": "nop"}).encode())
            cells.append(first_of(commands[cpu], source, "%s/%s.o" % (WORK, cpu))
                         if os.path.exists(commands[cpu][0]) else
                         ANY if commands[cpu][0] == NEWEST_RISCV else "not here")
        yield [name] + cells


# ---- linkers ----

def objects_for_linkers():
    """Objects of x86_64: two functions each by the new assembler, and one by Debian's; C++ with a COMDAT function."""
    objects = {}
    for name, functions in (("one", "ab"), ("two", "cd")):
        source = "%s/%s.s" % (WORK, name)
        write(source, "".join(FUNCTION % {"n": n, "nop": "nop"} for n in functions).encode())
        objects[name] = source + ".o"
        run(TC + "/x86_64/as", "--gsframe", source, "-o", objects[name])
    objects["old"] = WORK + "/old.o"
    run("as", "--gsframe", WORK + "/two.s", "-o", objects["old"])
    for name in ("left", "right"):
        source = "%s/%s.cc" % (WORK, name)
        write(source, b"inline __attribute__((noinline)) int twice(int x) { return 2 * x; }\n"
              b"int %s(int x) { return twice(x) + 1; }\n" % name.encode())
        objects[name] = source + ".o"
        run("g++", "-B%s/x86_64/" % TC, "-Wa,--gsframe", "-O1", "-fPIC", "-c", source, "-o", objects[name])
    source = WORK + "/plt.s"
    write(source, (FUNCTION % {"n": "calls", "nop": "call other@PLT"}).encode())
    objects["plt"] = source + ".o"
    run(TC + "/x86_64/as", "--gsframe", source, "-o", objects["plt"])
    source = WORK + "/plain.s"
    write(source, b'.section .sframe, "a", @progbits\n.byte 0xe2, 0xde, 3, 0, 3, 0, 0xf8, 0\n.long 0, 0, 0, 0, 0\n')
    objects["plain"] = source + ".o"
    run("as", source, "-o", objects["plain"])
    return objects


def linked(linker, functions, *arguments):
    """What LINKER makes of objects with FUNCTIONS functions."""
    image = WORK + "/linked"
    if os.path.exists(image):
        os.remove(image)
    good, said = attempt(linker, *arguments, "-o", image)
    return shape(image, functions, said) if good else "error"


def has_segment(file):
    return any(s[0] == 0x6474e554 for s in Elf(file).segments())


def plt_tables(linker, o, *arguments):
    """Whether LINKER writes tables for the PLT that it makes. The function that is called from has one entry."""
    linked(linker, 1, "-shared", *arguments, o["plt"])
    return "yes" if sum(t[2] for t in tables(WORK + "/linked")) > 1 else "no"


def linker_row(linker, o):
    two = linked(linker, 4, "-e", "a", o["one"], o["two"])
    segment = "yes" if os.path.exists(WORK + "/linked") and has_segment(WORK + "/linked") else "no"
    versions = linked(linker, 4, "-e", "a", o["one"], o["old"])
    comdat = linked(linker, 3, "-shared", o["left"], o["right"])
    collected = linked(linker, 2, "-e", "a", "--gc-sections", o["one"])
    relocatable = linked(linker, 4, "-r", o["one"], o["two"])
    again = "-"
    if relocatable != "error":
        shutil.copy(WORK + "/linked", WORK + "/relocatable.o")
        again = linked(TC + "/x86_64/ld", 4, "-e", "a", WORK + "/relocatable.o")
    plt = plt_tables(linker, o) + (", not with gc" if plt_tables(linker, o) != plt_tables(linker, o, "--gc-sections")
                                   else "")
    plain = linked(linker, 2, "-e", "a", o["one"], o["plain"])
    return [two, segment, versions, comdat, collected, relocatable, again, plt, plain]


def linkers_here():
    tools = [("GNU ld", "/usr/bin/ld.bfd"), ("GNU ld", TC + "/x86_64/ld"), ("gold", "/usr/bin/ld.gold")]
    tools += [("mold", f) for f in ("/usr/bin/mold", TC + "/chains/mold")]
    tools += [("lld", f) for folder in ("/usr/bin", TC + "/chains")
              for f in sorted(glob.glob(folder + "/ld.lld-[0-9][0-9]"))]
    return [("%s %s" % (name, version_of(tool)), tool) for name, tool in tools if os.path.exists(tool)]


def linkers():
    o = objects_for_linkers()
    for name, tool in linkers_here():
        yield [name] + linker_row(tool, o)


def second_version():
    """What linkers make of two objects of version 2, by a clang whose assembler writes that."""
    objects = [WORK + "/second-one.o", WORK + "/second-two.o"]
    for clang in clangs():
        if all(first_of([clang, "--target=x86_64-linux-gnu", "-c", "-Wa,--gsframe"], "%s/%s.s" % (WORK, name), o)
               .startswith("version 2") for name, o in zip(("one", "two"), objects)):
            for name, tool in linkers_here():
                yield [name + ", objects of version 2", linked(tool, 4, "-e", "a", *objects)]


# ---- faults of compilers that no program is stepped for ----

CALL = b"long g(long);\n%slong f(long x) { return g(x) + 1; }\n"
GOTO = (b"long f(const unsigned char *p, long x) { static void *const t[] = {&&a, &&b}; goto *t[*p]; "
        b"a: x += 3; goto *t[*++p]; b: return x; }\n")
LONGJMP = b"void *buf[5];\nvoid f(void) { __builtin_longjmp(buf, 1); }\n"
# Name: the source, the flags, the compilers, and what their assembly has where the CFI is wrong.
COMPILERS = {
    # FAULTS.md: clang-ms-abi
    "clang-ms-abi": (CALL % b"__attribute__((ms_abi)) ", ["--target=x86_64-linux-gnu"], "clang",
                     r"subq\t\$168, %rsp\n(\tmovaps.*\n){10}\t\.cfi_def_cfa_offset 192\n"),
    # FAULTS.md: gcc-thunk-goto
    "gcc-thunk-goto": (GOTO, ["-mindirect-branch=thunk-inline"], "gcc",
                       r"\t\.cfi_def_cfa_offset 16\n(?!(?:.*\n)*\t\.cfi_def_cfa_offset 8\n)(?:.*\n)*\tmovzbl"),
    # FAULTS.md: builtin-longjmp
    "builtin-longjmp": (LONGJMP, [], "both", r"\(%rip\), %rsp\n(\tmov.*\n)*\tjmpq?\t\*%rax\n"),
    # FAULTS.md: clang-epilogue
    "clang-epilogue": (CALL % b"", ["--target=s390x-linux-gnu"], "clang", r"\tlmg\t%r14, %r15, .*\n\tbr\t%r14\n"),
    # FAULTS.md: clang-oz
    "clang-oz": (CALL % b"", ["--target=aarch64-linux-gnu", "-Oz"], "clang",
                 r"\tldp\tx29, x30.*\n(\t[a-z]+\t.*\n)*\tret\n|\tldr\tx30, .*\n\tret\n"),
}


def fault_of_compilers(name):
    source, flags, who, wrong = COMPILERS[name]
    tools = (["gcc", TC + "/gcc16/x86_64/gcc"] if who != "clang" else []) + (clangs() if who != "gcc" else [])
    write(WORK + "/fault.c", source)
    for tool in tools:
        text = run(tool, "-O2", *flags, "-fasynchronous-unwind-tables", "-S", WORK + "/fault.c", "-o", "-")[0]
        text = re.sub(r" +[#/].*", "", text)
        must(re.search(wrong, text), "FAULTS.md, %s: not met by %s" % (name, tool))
    return " ".join(os.path.basename(tool) for tool in tools)


# ---- the assembler of a release ----

# FAULTS.md: gas-signal-frame.
SIGNAL_FRAME = b""".text
.type f, %function
f: .cfi_startproc
.cfi_signal_frame
.cfi_def_cfa_offset 32
nop
.cfi_escape 0x16, 30, 2, 0x8f, 8
nop
.cfi_endproc
.size f, . - f
"""


def released_dies():
    """It dies of that frame, of which the snapshot warns."""
    write(WORK + "/signal.s", SIGNAL_FRAME)
    good, said = attempt(TC + "/aarch64/as", "--gsframe", WORK + "/signal.s", "-o", WORK + "/signal.o")
    must(good and "no SFrame FDE emitted" in said, "the snapshot: %s" % said)
    good, said = attempt(RELEASED + "as", "--gsframe", WORK + "/signal.s", "-o", WORK + "/signal.o")
    must(not good and "Internal error" in said, "FAULTS.md, gas-signal-frame: not met by this release: %s" % said)


def released_macros():
    """What uses the macros of sfu_asm.h has the tables that the snapshot makes of it."""
    count = 0
    for source in ("port/baremetal/aarch64/boot.S", "test/asm/functions.S", "port/linux/start.S"):
        shown = []
        for tools in (TC + "/aarch64/", RELEASED):
            run("aarch64-linux-gnu-gcc", "-B", tools, "-Wa,--gsframe", "-I.", "-Iarch", "-Iport/baremetal/aarch64",
                "-Iport/baremetal", "-Iport/linux", "-c", source, "-o", WORK + "/macros.o")
            run(TC + "/aarch64/ld", "-r", WORK + "/macros.o", "-o", WORK + "/linked.o")
            shown.append(run(TC + "/aarch64/objdump", "--sframe", WORK + "/linked.o")[0].partition("Contents")[2])
        count += shown[0].count("func idx")
        must(shown[0] == shown[1] != "", "%s: other tables" % source)
    must(count > 5, "%d functions" % count)
    return "%d functions" % count


# ---- the page ----

ANY = "..."  # of a cell: nothing here can tell


def line(cells):
    return "| " + " | ".join(cells) + " |"


def compare(kind, rows):
    with open(PAGE, encoding="utf-8") as f:
        lines = f.read().splitlines()
    seen, unknown = 0, []
    for row in rows:
        there = [text for text in lines if text.startswith("| %s |" % row[0])]
        if not there:
            unknown.append(row[0])
            continue
        wanted = glob.escape(line(row)).replace(ANY, "*")
        must(any(fnmatch.fnmatchcase(text, wanted) for text in there), "the page has another row than %s" % line(row))
        seen += 1
    must(seen > 1, "the page has nothing of what is installed: %s" % unknown)
    return "%d %s%s" % (seen, kind, "".join(", not in the page: " + name for name in unknown))


def main(what):
    os.makedirs(WORK, exist_ok=True)
    if what == "print":
        for rows in (assemblers(), linkers(), second_version()):
            for row in rows:
                print(line(row))
            print()
        return
    test("assemblers", lambda: compare("assemblers", assemblers()))
    test("linkers", lambda: compare("linkers", linkers()))
    for name in COMPILERS:
        test(name, lambda name=name: fault_of_compilers(name))
    if os.path.exists(RELEASED + "as"):
        test("a released assembler, gas-signal-frame", released_dies)
        test("a released assembler, the macros of sfu_asm.h", released_macros)
    if glob.glob(TC + "/chains/clang-*"):
        test("version 2", lambda: compare("linkers of version 2", second_version()))


if __name__ == "__main__":
    main(sys.argv[1])
    finish()

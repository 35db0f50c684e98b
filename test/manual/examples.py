# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""The examples of README.md and of the pages of docs/ compile, boot and print what they should; recipes hold."""
import glob
import os
import re
import subprocess
import sys

from common import block, must, read, shell

sys.path.insert(0, "port/baremetal/test")
import machines  # noqa: E402

MOST_OF_EXAMPLE = 8
# Lines of the example that stand for what a kernel has already.
THEIRS = ("void console_putc(char c);", "void kernel_init(void) {", "void kernel_panic(void) {", "}", "")
# What kernels compile with, as C and as C++.
FLAGS = ("-O2 -ffreestanding -fno-stack-protector -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow "
         "-Wcast-align -Wundef -Werror").split()
LANGUAGES = {"gcc": ("-std=c99", "-Wstrict-prototypes"), "clang": ("-std=c99", "-Wstrict-prototypes"),
             "g++": ("-x", "c++", "-std=c++11", "-fno-exceptions", "-fno-rtti"),
             "clang++": ("-x", "c++", "-std=c++11", "-fno-exceptions", "-fno-rtti")}


# ---- the first example ----

def test_lines(_tc, _directory):
    own = [line for line in block("example").splitlines() if line.strip() not in THEIRS]
    must(0 < len(own) <= MOST_OF_EXAMPLE, f"the example has {len(own)} lines of its own")
    must(set(THEIRS) <= set(block("example").splitlines()), "what a kernel has already is not there")
    print(f"# the example has {len(own)} lines of its own")


def header_examples():
    """What stands in the head of sfu.h, in lines: a walk, and the printer."""
    comment = re.search(r"/\*\n.*?\*/", read("sfu.h"), re.S)[0].splitlines()
    shown = [line[7:] for line in comment if line.startswith(" *     ")]
    begins = shown.index('#include "sfu_panic.h"')
    return shown[:begins], shown[begins:]


def test_header_begins_with_example(_tc, _directory):
    """sfu.h begins with it, without its empty lines."""
    example = [line for line in block("example").splitlines() if line]
    shown = header_examples()[1]
    must(shown == example, f"sfu.h: {set(shown) ^ set(example)}")


# Around the walk in sfu.h: what a kernel has, and calls that the trace must show.
WALK = """
#include "sfu.h"
#include <stdio.h>
extern const uint8_t sframe_start[], sframe_end[];
#define sframe_size ((size_t)(sframe_end - sframe_start))
static const uint8_t *stack_low, *stack_high;
static void print(uint64_t pc) { printf("%#llx\\n", (unsigned long long)pc); }
EXAMPLE
__attribute__((noinline)) int outer(void);
int outer(void) { int code = trace(); print((uint64_t)code); return code; }
int main(void)
{
    stack_low = (const uint8_t *)__builtin_frame_address(0) - 4096;
    stack_high = stack_low + 4096 + 256; /* main's frame is on it */
    print(0), outer(), fflush(stdout);
    return 0;
}
"""


def test_header_walk(tc, directory):
    """The walk in the head of sfu.h compiles in each language, runs, and its PCs are in the functions that called."""
    source, image = os.path.join(directory, "walk.c"), os.path.join(directory, "walk.elf")
    with open(source, "w", encoding="utf-8") as f:
        f.write(WALK.replace("EXAMPLE", "\n".join(header_examples()[0])))
    for compiler, language in LANGUAGES.items():
        shell(compiler, *(flag for flag in FLAGS if flag != "-ffreestanding"), *language, "-I.", "-c", source, "-o",
              "/dev/null")
    with open(os.path.join(directory, "insert.ld"), "w", encoding="utf-8") as f:
        f.write(block("file:", "insert.ld"))
    shell("gcc", f"-B{tc}/x86_64/", "-I.", "-O1", "-fno-optimize-sibling-calls", "-fno-inline",
          "-fasynchronous-unwind-tables", "-Wa,--gsframe", "-no-pie", source, "sfu.c", f"-Wl,-T,{directory}/insert.ld",
          "-o", image)
    pcs = shell(image).split()
    seen = shell("addr2line", "-fe", image, *(hex(int(pc, 0) - 1) for pc in pcs[2:-1])).split("\n")[::2]
    must(seen[:2] == ["outer", "main"], f"the walk printed {pcs}: {seen}")
    must(int(pcs[-1], 0) - (1 << 64) == -13, f"who called main has no table here, which is SFU_E_NO_FDE: {pcs[-1]}")


# A kernel's types in place of the compiler's: SFU_TYPES.
TYPES = """#pragma once
typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t; typedef unsigned long size_t;
#define offsetof __builtin_offsetof
#define NULL nullptr
"""
PARTS = ("print", "symbols", "fast", "depot", "profile")
HEADERS = ("sfu.h", "sfu_arch.h", *(os.path.basename(file) for folder in PARTS
                                    for file in sorted(glob.glob(f"port/{folder}/sfu_*.h"))))


def test_cast_in_headers(_tc, directory):
    """No header has a cast that C++ kernels warn of, with the compiler's types and with their own."""
    source, types = os.path.join(directory, "casts.cc"), os.path.join(directory, "types.h")
    with open(source, "w", encoding="utf-8") as f:
        f.write("".join(f'#include "{header}"\n' for header in HEADERS) + "uint64_t m = UINT64_MAX + UINT32_MAX;\n")
    with open(types, "w", encoding="utf-8") as f:
        f.write(TYPES)
    for compiler in ("g++", "clang++", "aarch64-linux-gnu-g++", "s390x-linux-gnu-g++"):
        for switch in ([], [f'-DSFU_TYPES="{os.path.abspath(types)}"']):
            shell(compiler, "-std=c++11", "-ffreestanding", "-Wold-style-cast", "-Werror", *switch, "-I.", "-Iarch",
                  *(f"-Iport/{folder}" for folder in PARTS), "-c", source, "-o", "/dev/null")


def test_own_types(_tc, directory):
    """Each file compiles with a kernel's types and macros, and without a header of the compiler."""
    types = os.path.join(directory, "own_types.h")
    with open(types, "w", encoding="utf-8") as f:
        f.write(TYPES.replace("nullptr", "((void *)0)") + "typedef _Bool bool;\n"
                "enum { false, true };\n#define noinline __attribute__((__noinline__))\n")
    for file in ["sfu.c", *(file for folder in PARTS for file in sorted(glob.glob(f"port/{folder}/*.c")))]:
        for compiler in ("gcc", "clang"):
            shell(compiler, "-std=c99", "-ffreestanding", "-nostdinc", "-Wall", "-Werror", f"-DSFU_TYPES=\"{types}\"",
                  "-I.", "-Iarch", *(f"-Iport/{folder}" for folder in PARTS), "-fsyntax-only", file)


def test_example_compiles(_tc, directory):
    os.makedirs(directory + "/lies", exist_ok=True)
    with open(directory + "/lies/sfu_panic.h", "w", encoding="utf-8") as f:
        f.write('#include "sfu_arch.h"\n#include "sfu_print.h"\n')
    for compiler, language in LANGUAGES.items():
        for folder in ("dist", "lies"):  # the two files; and the files as they lie here
            includes = [f"-I{directory}/{folder}", "-I.", "-Iarch", "-Iport/print"][:1 if folder == "dist" else 4]
            shell(compiler, *FLAGS, *language, *includes, "-c", f"{directory}/blocks/example.c", "-o", "/dev/null")


EXAMPLE = ["kernel_panic", "fails", "starts", "kernel_main", "kernel_start"]
BELOW = ["kernel_main", "kernel_start"]
LEAF = ["leaf~", "interrupted"]
CROSSED = ["__wrap_kernel_trap", "exception_entry"]


def traces(cpu):
    """scenario: traces; a trace is its functions, "~" if the PC is exact, and the code that it must end with"""
    start = [machines.START[cpu]]
    leaf = (CROSSED + LEAF + BELOW + start, 1)
    lost = (CROSSED + LEAF[:1], -20)  # SFU_E_REGISTER: the RA of a leaf function is in a register, but on x86_64
    return {
        "example": [(EXAMPLE + start, 1)],
        "walk": [(["walks"] + BELOW + start, 1)] * 2,
        "threads": [(["switch_to", "waits", "thread_main", "thread_begin"], 1),
                    (["switch_to", "thread_begin.new"], 1),
                    (["waits", "thread_main", "thread_begin"], 1),
                    (["thread_begin"], 1),
                    (["0"], -26),  # SFU_E_NOT_CODE
                    (["three_threads"] + BELOW + start, 1)],
        "leaf": [(LEAF + BELOW + start, 1),
                 leaf if cpu == "x86_64" else lost,
                 leaf] + [leaf] * (cpu == "aarch64"),
        "hook": [(["thread_main"], 1), (["0"], -26), (LEAF + BELOW + start, 1)] +
                [leaf] * (3 if cpu == "aarch64" else 2),
    }


# What a scenario boots, if not kernel.elf. The row of the recipe does what the whole table does.
KERNELS = {"row": ("row", "leaf"), "hook": ("hook", "hook")}


def check_trace(image, wanted, code, lines, by_printer):
    for n, name in enumerate(wanted):
        m = machines.FRAME.match(lines[n])
        must(m and int(m[1]) == n, f"'{lines[n]}' instead of {name}")
        lookup = int(m[2], 16) - (0 if n == 0 or name.endswith("~") else 1)
        found = image.function(lookup)
        right = int(m[2], 16) == 0 if name == "0" else found and found[0] == name.rstrip("~")
        must(right, f"'{lines[n]}' is in {found}, not in {name}")
        must(n == 0 or ("[interrupted]" in lines[n]) == name.endswith("~"), f"'{lines[n]}': interrupted?")
    end = lines[len(wanted)]
    must(end.startswith(f"trace ends ({code}): "), f"'{end}' behind {wanted[-1]}, not ({code})")
    if not by_printer:
        return lines[len(wanted) + 1:]
    must(lines[len(wanted) + 1].startswith("addr2line -Cfipe "), "no line for addr2line")
    return lines[len(wanted) + 2:]


def boots(cpu, scenario, made=None):
    """MADE: the directory of its image, if it is made by Debian's own tools."""
    def test(tc, directory):
        name, argument = KERNELS.get(scenario, ("kernel", scenario))
        tools = cpu + "-linux-gnu-" if made or cpu == "riscv64" else os.path.join(tc, cpu)
        image = machines.Image(tools, made or os.path.join(directory, cpu), name + ".elf")
        lines, _ = machines.boot(cpu, image.path, argument, False)
        lines = [line for line in lines if not line.startswith(("SeaBIOS", "Booting from", "iPXE")) and line]
        for wanted, code in traces(cpu)[argument]:
            must(len(lines) > len(wanted), f"it ended early: {lines}")
            lines = check_trace(image, wanted, code, lines, scenario != "walk")
        must(not lines, f"'{lines[:1]}' is too much")
    return test


# Three stacks, in any order, the second and the third of which touch; who has an address, by the contract in sfu.h.
STACKS = """
#include "stacks.c"
const struct sfu_stack all_stacks[] = {{"c", 300, 400}, {"a", 100, 180}, {"b", 200, 300}};
const unsigned num_stacks = 3;
int main(void)
{
    static const struct { uint64_t addr; char name; } wanted[] = {
        {99, 0}, {100, 'a'}, {179, 'a'}, {180, 'a'}, {181, 0}, {199, 0}, {200, 'b'}, {299, 'b'}, {300, 'c'},
        {301, 'c'}, {400, 'c'}, {401, 0}, {0, 0}, {UINT64_MAX, 0}};
    for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct sfu_stack s;
        bool found = find_stack(0, wanted[i].addr, &s);
        if (found != (wanted[i].name != 0) || (found && *(const char *)s.bytes != wanted[i].name))
            return (int)i + 1;
    }
    return 0;
}
"""


def test_stacks(_tc, directory):
    """The recipe finds the stack that the contract of find_stack means, whatever the order."""
    with open(os.path.join(directory, "stacks.c"), "w", encoding="utf-8") as f:
        f.write(block("file:", "stacks.c"))
    reverse = re.sub(r"\{(\{.*?\}), (\{.*?\}), (\{.*?\})\}", r"{\3, \2, \1}", STACKS, count=1)
    for text in (STACKS, reverse):
        with open(os.path.join(directory, "stacks_test.c"), "w", encoding="utf-8") as f:
            f.write(text)
        shell("gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I.", os.path.join(directory, "stacks_test.c"), "-o",
              os.path.join(directory, "stacks_test"))
        shell(os.path.join(directory, "stacks_test"))


# A copy of a function, as far away as another array is: it has the function's rows, and nothing beside it has any.
COPIES = """
#include "copies.c"
extern const uint8_t sframe_start[], sframe_end[], template_end[];
int template(int x);
__asm__(".globl template, template_end\\ntemplate: .cfi_startproc\\npush %rbx\\n.cfi_adjust_cfa_offset 8\\nnop\\n"
        "pop %rbx\\n.cfi_adjust_cfa_offset -8\\nret\\n.cfi_endproc\\ntemplate_end:");
static uint8_t copy[4096];
int main(void)
{
    const uint8_t *from = (const uint8_t *)(uintptr_t)template;
    const uint64_t size = (uint64_t)(template_end - from), n = (uint64_t)(sframe_end - sframe_start);
    struct sfu_section own, rows, *list = 0;
    struct sfu_row row, same;
    uint64_t i;
    if (sfu_open(&own, sframe_start, n, (uintptr_t)sframe_start) != SFU_OK ||
        add_copy(&list, &rows, &own, from, copy, size) != SFU_OK || list != &rows)
        return 1;
    if (rows.text.low != (uintptr_t)copy || rows.text.high != (uintptr_t)copy + size)
        return 2;
    for (i = 0; i < size; i++)
        if (sfu_find(&own, (uintptr_t)from + i, &same) != SFU_OK ||
            sfu_find(&rows, (uintptr_t)copy + i, &row) != SFU_OK || row.cfa.offset != same.cfa.offset ||
            row.function != (uintptr_t)copy)
            return 3;
    return own.size != n || rows.bytes != own.bytes || rows.size != n ? 4 : 0;
}
"""


def test_copies(tc, directory):
    for name, text in (("copies.c", block("file:", "copies.c")), ("copies_test.c", COPIES),
                       ("insert.ld", block("file:", "insert.ld"))):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write(text)
    image = os.path.join(directory, "copies_test")
    shell("gcc", f"-B{tc}/x86_64/", "-Wall", "-Wextra", "-Werror", "-fasynchronous-unwind-tables", "-Wa,--gsframe",
          "-I.", image + ".c", "sfu.c", f"-Wl,-T,{directory}/insert.ld", "-o", image)
    shell(image)


# Two threads in a list.
THREADS = """
#include "part_all.c"
#include <stdio.h>
static void put(void *ctx, char c) { (void)ctx; putchar(c); }
static struct thread b = {NULL, "b"}, a = {&b, "a"};
struct thread *first_thread = &a;
struct sfu_registers registers_of(const struct thread *t)
{
    struct sfu_registers regs = {.pc = t == &a ? 0x1000 : 0x2000};
    return regs;
}
int main(void)
{
    static struct sfu_panic panic;
    panic.put = put;
    print_threads(&panic);
    return 0;
}
"""


def test_all_threads(_tc, directory):
    image = os.path.join(directory, "all_test")
    for name, text in (("part_all.c", block("file:", "part_all.c")), ("all_test.c", THREADS)):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write(text)
    shell("gcc", "-Wall", "-Wextra", "-Werror", "-I.", "-Iport/print", image + ".c", "sfu.c", "port/print/sfu_print.c",
          "port/print/sfu_all.c", "-o", image)
    found = re.findall(r"^(trace of .*):\n#0  0x0+(\w+)$", shell(image), re.M)
    must(found == [("trace of 1 a", "1000"), ("trace of 2 b", "2000")], f"{found}")


# ---- toolchains ----

def test_beside(_tc, directory):
    """The recipe for a newer assembler makes tables of version 3."""
    with open(os.path.join(directory, "beside.c"), "w", encoding="utf-8") as f:
        f.write("int f(int x);\nint f(int x) { return x + 1; }\n")
    shell("sh", "-euc", block("run:", "beside"), cwd=directory, env=dict(os.environ, SFU=os.path.abspath(".")))
    for name in ("beside.o", "beside-too.o"):
        out = shell(f"{_tc}/x86_64/objdump", "--sframe", os.path.join(directory, name))
        must("SFRAME_VERSION_3" in out, out)


def test_types(_tc, directory):
    """The header of types of `make dist` serves where a kernel's own <stdint.h> is in the way, and leaves types alone
    that a file has in front of it or behind it."""
    folder = os.path.join(directory, "types")
    os.makedirs(folder, exist_ok=True)
    for name, text in (("sfu_own_types.h", read("port/dist/sfu_own_types.h")),
                       ("stdint.h", "typedef unsigned uint64_t;\n"),
                       ("stdbool.h", "typedef enum bool { false, true } bool_t;\n"),
                       ("twice.c", '#include "sfu.c"\n'
                                   "typedef char wide[sizeof(uint64_t) == 8 && sizeof(int64_t) == 8 &&\n"
                                   "UINT64_MAX > 0 &&\n"
                                   "sizeof(uint32_t) == 4 && sizeof(int32_t) == 4 && sizeof(int16_t) == 2 &&\n"
                                   "sizeof(uint16_t) == 2 && sizeof(int8_t) == 1 && sizeof(uint8_t) == 1 &&\n"
                                   "(int64_t)-1 < 0 && (int32_t)-1 < 0 && (int16_t)-1 < 0 && (int8_t)-1 < 0 &&\n"
                                   "(uint16_t)-1 > 0 && (uint8_t)-1 > 0 && (uint32_t)-1 > 0 &&\n"
                                   "(uint64_t)-1 > 0 && sizeof(uintptr_t) == sizeof(void *) &&\n"
                                   "sizeof(size_t) == sizeof(void *) && (size_t)-1 > 0 && (uintptr_t)-1 > 0 &&\n"
                                   "true == 1 && !false && (bool)2 == 1 ? 1 : -1];\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    for compiler in (["gcc"], ["gcc", "-m32"], ["clang"], ["clang", "--target=i686-linux-gnu"],
                     ["riscv64-linux-gnu-gcc"]):
        must(subprocess.run([*compiler, "-I" + folder, "-I.", "-Iarch", "-fsyntax-only", "sfu.c"], check=False,
                            stderr=subprocess.DEVNULL).returncode != 0, f"{compiler}: the kernel's header will do")
        shell(*compiler, "-std=c99", "-ffreestanding", "-Wall", "-Werror", "-I" + folder,
              "-DSFU_TYPES=\"sfu_own_types.h\"", "-I.", "-Iarch", "-fsyntax-only", os.path.join(folder, "twice.c"))


def test_own_types(_tc, directory):
    """A file with types of its own, in front of the header and behind it."""
    folder = os.path.join(directory, "own")
    shell("python3", "port/dist/dist.py", folder)
    with open(folder + "/own.c", "w", encoding="utf-8") as f:
        f.write("#include <stdbool.h>\ntypedef unsigned char uint8_t;\n#undef bool\n#undef true\n#undef false\n" +
                block("file:", "own.c") + "bool f(uint64_t n) { return n == sfu_panic_here() ? true : false; }\n")
    for compiler in (["gcc"], ["gcc", "-m32"], ["clang"], ["riscv64-linux-gnu-gcc"]):
        shell(*compiler, "-std=c99", "-ffreestanding", "-Wall", "-Werror", "-I" + folder, "-fsyntax-only",
              folder + "/own.c")


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
    lines = [block("file:", "sframe.ld"), block("file:", "build_id.ld")]
    script = os.path.join(directory, "lines.ld")
    with open(script, "w", encoding="utf-8") as f:
        f.write("SECTIONS { . = 0x100000; .text : { *(.text) }\n%s}\n" % "".join(lines))
    image = os.path.join(directory, "lines.elf")
    shell("gcc", f"-B{tc}/x86_64/", "-ffreestanding", "-fasynchronous-unwind-tables", "-Wa,--gsframe", "-nostdlib",
          "-static", "-Wl,--gc-sections,--build-id,-e,f", f"-Wl,-T,{script}", os.path.join(directory, "beside.c"),
          "-o", image)
    symbols = {m[2]: int(m[1], 16) for m in re.finditer(r"^(\w+) \w (\w+)$", shell("nm", image), re.M)}
    for name, start, end in ((".sframe", "sframe_start", "sframe_end"),
                             (".note.gnu.build-id", "build_id_start", "build_id_end")):
        m = re.search(rf" {re.escape(name)} +\S+ +([0-9a-f]+) +\S+ ([0-9a-f]+) \S+ +\w*A",
                      shell("readelf", "-SW", image))
        must(m and symbols[start] == int(m[1], 16), f"{name}: {m and m[0]}")
        must(symbols[start] < symbols[end] and symbols[end] >= symbols[start] + int(m[2], 16), f"{name}: {symbols}")


def test_insert(tc, directory):
    """The same lines without a linker script, in a program for Linux."""
    with open(os.path.join(directory, "insert.ld"), "w", encoding="utf-8") as f:
        f.write(block("file:", "insert.ld"))
    source, image = (os.path.join(directory, name) for name in ("insert.c", "insert.elf"))
    with open(source, "w", encoding="utf-8") as f:
        f.write("#include <sfu.h>\nextern const uint8_t sframe_start[], sframe_end[];\nint main(void)\n{\n"
                "    struct sfu_section s;\n    return sfu_open(&s, sframe_start, "
                "(uint64_t)(sframe_end - sframe_start), (uintptr_t)sframe_start);\n}\n")
    shell("gcc", f"-B{tc}/x86_64/", "-I.", "-fasynchronous-unwind-tables", "-Wa,--gsframe", "-pie", "-fpie", source,
          "sfu.c", f"-Wl,-T,{directory}/insert.ld", "-o", image)
    shell(image)
    segments = shell("readelf", "-lW", image).split("Segment Sections")[1]
    must(re.search(r"\.rodata.* \.sframe", segments), f"in no segment that is loaded: {segments}")


COMDAT = {  # inline functions that two or more of the files have; the dropped ones leave relocations
    "a": "int a(int x) { S s; return s.f(x) + g(x); }",
    "d": "inline int k(int x) { return other(x) * 3; }\nint d(int x) { S s; return s.f(x) * g(x) + k(x); }",
    "c": "int c(int x) { S s; return s.f(x) * g(x); }",
    "b": "int b(int x) { S s; return s.f(x) - g(x); }\nint other(int x) { return x; }",
}
COMDAT_HEADER = ("int other(int);\nstruct S { int f(int x) { return other(x) + 1; } };\n"
                 "inline int g(int x) { return other(x) * 2; }\n")
# Whose ld refuses what is left, and what it says (FAULTS.md: ld-comdat).
COMDAT_REFUSED = (("x86_64", "g++", "out of section range"), ("s390x", "s390x-linux-gnu-g++", "reloc against"))


def test_comdat(tc, directory):
    """What is said of ld -r of C++ with -g holds still; with -S, or without -r, all functions are in the table."""
    for cpu, compiler, sentence in COMDAT_REFUSED:
        ld, objects = f"{tc}/{cpu}/ld", []
        for name, text in COMDAT.items():
            source = os.path.join(directory, f"comdat-{name}.cc")
            with open(source, "w", encoding="utf-8") as f:
                f.write(COMDAT_HEADER + text + "\n")
            objects.append(source[:-2] + "o")
            shell(compiler, f"-B{tc}/{cpu}/", "-O0", "-g", "-fasynchronous-unwind-tables",
                  "-Wa,--gsframe", "-c", source,
                  "-o", objects[-1])
        joined, image = (os.path.join(directory, f"comdat.{kind}") for kind in ("o", "elf"))
        shell(ld, "-r", *objects, "-o", joined)
        done = subprocess.run([ld, "-e", "_Z1ai", joined, "-o", image], text=True, capture_output=True)
        must(done.returncode != 0 and sentence in done.stderr,
             f"the manual speaks of a fault that ld for {cpu} does not have any more: {done.stderr}")
        shell(ld, "-r", "-S", *objects, "-o", joined)
        shell(ld, "-e", "_Z1ai", joined, "-o", image)
        found = len(re.findall(r"func idx", shell(f"{tc}/{cpu}/objdump", "--sframe", image)))
        must(found == 8, f"{cpu}: {found} functions in the table")
        lines = shell(f"{tc}/{cpu}/readelf", "-SW", image)
        must(".debug_line" not in lines, "-S leaves the lines that a trace needs")
        shell(ld, "-e", "_Z1ai", *objects, "-o", image)
        found = len(re.findall(r"func idx", shell(f"{tc}/{cpu}/objdump", "--sframe", image)))
        lines = shell(f"{tc}/{cpu}/readelf", "-SW", image)
        must(found == 8 and ".debug_line" in lines, f"{cpu}, without -r: {found} functions, or no lines")

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""shapes.py SHAPE: writes a program for bench.c whose stacks have one shape, in C or, for cxx, in C++. Without SHAPE it
prints the names of all. A number behind SHAPE: so many times fewer stacks. shapes.py restorer: writes what a signal
handler returns to, in assembly. shapes.py part: writes what sites_100k has ten copies of; shapes.py far: the library of
library.

Each has work_begin and work_run. The latter calls sample() at the end of many chains of calls, the same ones each time.
"""
import sys

HEAD = """/* Written by shapes.py. */
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#include "bench.h"
extern uint64_t bench_hook;
#ifdef __cplusplus
}
#endif
#define ALONE __attribute__((noinline, noclone, noipa))
static uint64_t state;
static ALONE unsigned draw(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 11) % below);
}
static ALONE void leaf(void)
{
    sample();
    __asm__ volatile("");
}
"""

FEWER = int(sys.argv[2]) if len(sys.argv) > 2 else 1

RUN = """
bool work_begin(void)
{
    return true;
}

bool work_run(void)
{
    state = 88172645463325252u;
    for (unsigned i = 0; i < %d; i++)
        %s;
    return true;
}
"""


def chain(count, runs, depth, body, extra="", others=()):
    """COUNT functions that call each other at random: each has one call site; BODY(i): what is around the call. OTHERS
    stand behind them in the table that they call through."""
    text = [HEAD, extra, "typedef int linked(int);\nstatic linked *const links[];\n"]
    for i in range(count):
        text.append(body(i))
    text.append("static linked *const links[] = {%s};\n" % ", ".join(["f%d" % i for i in range(count)] + list(others)))
    text.append("#define COUNT %d\n" % count)
    text.append(RUN % (max(1, runs // FEWER), "(void)links[draw(%d)]((int)%s)" % (count, depth)))
    return "".join(text)


def plain(count):
    # what is saved around the call, and the size of the frame, differ from function to function
    def body(i):
        saves = "\n".join("    int s%d = draw_into(x + %d);" % (k, k) for k in range(i % 4))
        keeps = "".join(" + s%d" % k for k in range(i % 4))
        pad = "    volatile char pad[%d];\n    pad[0] = 1;\n" % (16 + 16 * (i % 7)) if i % 3 == 0 else ""
        return """static ALONE int f%d(int x)
{
%s%s
    if (x == 0)
        leaf();
    else
        x = links[draw(%d)](x - 1);
    return x%s;
}
""" % (i, pad, saves, count, keeps)
    return body


DRAW_INTO = """static ALONE int draw_into(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}
"""


SITES_END = DRAW_INTO + """static ALONE int end(int x)
{
    leaf();
    return x;
}
static ALONE unsigned next(int x)
{
    return x == 0 ? %d : draw(%d);
}
"""


def site(i):
    # one site in each: leaf() is called through the same pointer
    pad = "    volatile char pad[%d];\n    pad[0] = 1;\n" % (16 + 16 * (i % 7)) if i % 3 == 0 else ""
    saves = "".join("    int s%d = draw_into(x + %d);\n" % (k, k) for k in range(i % 4))
    keeps = "".join(" + s%d" % k for k in range(i % 4))
    return """static ALONE int f%d(int x)
{
%s%s    return links[next(x)](x - 1)%s + 1;
}
""" % (i, pad, saves, keeps)


def sites(count, runs):
    return chain(count, runs, "(24 + draw(8))", site, SITES_END % (count, count), ["end"])


PARTS, PART = 10, 10000


def part():
    # 10,000 functions, of which shapes.sh makes PARTS copies: the compiler takes 2 ms for each
    return "".join(["""typedef int linked(int);
#define ALONE __attribute__((noinline, noclone, noipa))
extern linked *links[];
int draw_into(int x);
unsigned next(int x);
"""] + [site(i) for i in range(PART)] + [
        "linked *const part[] = {%s};\n" % ", ".join("f%d" % i for i in range(PART))])


def of_parts(runs):
    end = (SITES_END % (PARTS * PART, PARTS * PART)).replace("static ALONE int draw_into", "ALONE int draw_into")
    text = HEAD + "typedef int linked(int);\nlinked *links[%d];\n" % (PARTS * PART + 1)
    text += end.replace("static ALONE unsigned next", "ALONE unsigned next")
    text += "".join("extern linked *const part%d[];\n" % i for i in range(PARTS))
    fill = "".join("        links[%d + i] = part%d[i];\n" % (i * PART, i) for i in range(PARTS))
    run = RUN % (max(1, runs // FEWER), "(void)links[draw(%d)]((int)(24 + draw(8)))" % (PARTS * PART))
    begin = "    for (unsigned i = 0; i < %d; i++) {\n%s    }\n    links[%d] = end;\n" % (PART, fill, PARTS * PART)
    return text + run.replace("    return true;", begin + "    return true;", 1)


def alike(count, runs):
    # the same, but all functions have the same code
    def body(i):
        return """static ALONE int f%d(int x)
{
    return links[next(x)](x - 1) + 1;
}
""" % i
    return chain(count, runs, "(24 + draw(8))", body, SITES_END % (count, count), ["end"])


def apart(modules, each):
    # EACH sites in each of MODULES sections, which shapes.sh places
    def body(i):
        return site(i).replace("static ALONE", "static ALONE __attribute__((section(\".module%d\")))" % (i // each), 1)
    return chain(modules * each, 1500, "(24 + draw(8))", body, SITES_END % ((modules * each,) * 2), ["end"])


def padded(targets, bytes_of):
    """A body with an array of bytes_of(i), which calls one of TARGETS functions."""
    def body(i):
        return """static ALONE int f%d(int x)
{
    volatile char pad[%s];
    pad[0] = 1;
    if (x == 0)
        leaf();
    else
        x = links[draw(%d)](x - 1);
    return x + pad[0];
}
""" % (i, bytes_of(i), targets)
    return body


def arrays():
    # arrays whose size is not known: gcc counts from FP there, and what the function saves is between
    return chain(200, 400, "(24 + draw(8))", padded(200, lambda i: "1 + x"))


def aligned(every):
    # locals of AVX: such a function realigns its frame; gcc keeps what it was called with by another register
    def body(i):
        if i % every != 0:
            return plain(200)(i)
        return """__attribute__((target("avx"))) static ALONE int f%d(int x)
{
    volatile vector v[%d];
    v[0] = v[1] = (vector){0};
    char *more = __builtin_alloca(16 + (unsigned)x);
    touch(more);
    if (x == 0)
        leaf();
    else
        x = links[draw(200)](x - 1);
    return x + (int)v[1][0];
}
""" % (i, 2 + i % 5)
    return chain(200, 400, "(24 + draw(8))", body, DRAW_INTO +
                 "typedef float vector __attribute__((vector_size(32)));\n"
                 "static ALONE void touch(char *p)\n{\n    __asm__ volatile(\"\" : : \"r\"(p) : \"memory\");\n}\n")


def large_frames():
    return chain(40, 400, "(20 + draw(8))", padded(40, lambda i: 16384 + 1016 * i))


def cases(count, runs, size):
    """A loop that carries out COUNT operations, as an interpreter's; each calls with arguments on the stack. SIZE: how
    many statements each has besides."""
    text = [HEAD, """
static ALONE int run(const unsigned char *code, unsigned at, int depth);
static volatile int cell[16];
static const unsigned short order[4096];
"""]
    for i in range(8):
        text.append("""static ALONE int call%d(int a, int b, int c, int d, int e, int f, int g, int h, int depth)
{
    if (depth == 0)
        leaf();
    else
        a += run((const unsigned char *)0, draw(%d), depth - 1);
    return a + b + c + d + e + f + g + h + %d;
}
""" % (i, count, i))
    text.append("""static ALONE int run(const unsigned char *code, unsigned at, int depth)
{
    int a = 1, b = 2;
    (void)code;
    for (unsigned n = 0; n < 1; n++) {
        switch (at) {
""")
    for i in range(count):
        more = "".join("            cell[%d] = cell[%d] * %d + b;\n" % ((i + k) % 16, (i * 7 + k) % 16, i * 31 + k)
                       for k in range(size))
        text.append("""        case %d:
%s            a += call%d(a, %d, b, 3, 4, 5, a + %d, b + %d, depth);
            b ^= a;
            break;
""" % (i, more, i % 8, i, i, i))
    text.append("        }\n        at = (unsigned)a;\n    }\n    return a + b;\n}\n")
    text.append(RUN % (max(1, runs // FEWER),
                       "(void)run((const unsigned char *)0, draw(%d), (int)(10 + draw(6)))" % count))
    return "".join(text)


CXX = """
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct node {
    virtual ~node() = default;
    virtual int value(int depth) = 0;
};
static std::unique_ptr<node> make(int depth);
struct text : node {
    std::string s;
    int value(int depth) override
    {
        std::string t = s + std::to_string(depth);
        leaf();
        if (depth % 5 == 4)
            throw std::runtime_error(t);
        return static_cast<int>(t.size());
    }
};
struct sum : node {
    std::vector<std::unique_ptr<node>> parts;
    int value(int depth) override
    {
        int all = 0;
        std::for_each(parts.begin(), parts.end(), [&](std::unique_ptr<node> &p) { all += p->value(depth + 1); });
        return all;
    }
};
struct sorted : node {
    std::vector<std::unique_ptr<node>> parts;
    int value(int depth) override
    {
        std::map<int, int> seen;
        std::vector<node *> order;
        for (auto &p : parts)
            order.push_back(p.get());
        std::sort(order.begin(), order.end(), [&](node *a, node *b) {
            return depth < 6 && (a->value(depth + 1) & 255) < (b->value(depth + 1) & 255);
        });
        for (node *n : order)
            seen[n->value(depth + 1)]++;
        return static_cast<int>(seen.size());
    }
};
struct guarded : node {
    std::unique_ptr<node> part;
    std::function<int(int)> more;
    int value(int depth) override
    {
        try {
            return part->value(depth + 1) + more(depth);
        } catch (const std::runtime_error &e) {
            leaf();
            return static_cast<int>(std::string(e.what()).size());
        }
    }
};
static std::unique_ptr<node> make(int depth)
{
    unsigned kind = depth > 7 ? 0 : depth == 0 ? 3 : draw(4);
    if (kind == 1) {
        auto p = std::make_unique<sum>();
        for (unsigned i = 0; i < 2; i++)
            p->parts.push_back(make(depth + 1));
        return p;
    }
    if (kind == 2) {
        auto p = std::make_unique<sorted>();
        for (unsigned i = 0; i < 2; i++)
            p->parts.push_back(make(depth + 2));
        return p;
    }
    if (kind == 3) {
        auto p = std::make_unique<guarded>();
        p->part = make(depth + 1);
        p->more = [](int d) { leaf(); return d; };
        return p;
    }
    auto p = std::make_unique<text>();
    p->s = "text";
    return p;
}
static void run()
{
    auto p = make(0);
    (void)p->value(0);
}
extern "C" {
"""

def frames():
    # more frame sizes than the cache has room for rules
    def body(i):
        return """static ALONE int f%d(int x)
{
    volatile char pad[%d];
    pad[0] = 1;
    if (x == 0)
        leaf();
    else
        x = links[draw(400)](x - 1);
    return x + pad[0];
}
""" % (i, 16 + 16 * i)
    return chain(400, 800, "(20 + draw(8))", body)


LINKS = 100


def library(own):
    # functions of the program and of a library call each other in turn: OWN are the program's
    text = [HEAD, SITES_END.replace("static ", "") % (2 * LINKS, LINKS)] if own else [
        "#define ALONE __attribute__((noinline, noclone, noipa))\ntypedef int linked(int);\n",
        "extern linked *links[];\nint draw_into(int x);\nunsigned next(int x);\n"]
    if own:
        text[1] = text[1].replace("draw(%d)" % LINKS, "2 * draw(%d) + (unsigned)x %% 2" % LINKS)
        text.append("typedef int linked(int);\nlinked *links[%d];\n" % (2 * LINKS + 1))
    text += [site(i) for i in range(LINKS)]
    table = ", ".join("f%d" % i for i in range(LINKS))
    if not own:
        return "".join(text) + "linked *const far[] = {%s};\n" % table
    text.append("static linked *const near[] = {%s};\nextern linked *const far[];\n" % table)
    fill = "    for (unsigned i = 0; i < %d; i++) {\n        links[2 * i] = near[i];\n" % LINKS
    fill += "        links[2 * i + 1] = far[i];\n    }\n    links[%d] = end;\n" % (2 * LINKS)
    run = RUN % (max(1, 800 // FEWER), "(void)links[draw(%d)]((int)(24 + draw(8)))" % (2 * LINKS))
    return "".join(text) + run.replace("    return true;", fill + "    return true;", 1)


def skip():
    # 66 frames, of which 60 are left out: frames are compared from outer() on
    text = chain(200, 400, "55", plain(200), DRAW_INTO + "static ALONE int outer(int (*f)(int), int depth)\n{\n"
                 "    return f(depth) + 1;\n}\n")
    text = text.replace("(void)links[draw(200)]((int)55)", "(void)outer(links[draw(200)], 55)")
    text = text.replace("noipa", 'noipa, optimize("no-optimize-sibling-calls")')
    hook = "    if (x == 55)\n        bench_hook = (uint64_t)(uintptr_t)__builtin_return_address(0);\n"
    return text.replace("    if (x == 0)\n", hook + "    if (x == 0)\n")


RESTORER = """/* Written by shapes.py. A signal handler returns to restorer. Its frame is described to readers of
 * .eh_frame, to those who know the bytes of libc's, and to readers of .sframe. Return addresses are looked up one byte
 * lower. */
#include "arch/sfu_asm.h"
    .text
    .globl restorer
    .cfi_startproc
    .cfi_signal_frame
    .cfi_escape 0x0f, 4, 0x77, 0xa0, 1, 6 /* CFA = *(RSP + 160) */
    .cfi_escape 0x10, 16, 3, 0x77, 0xa8, 1 /* RIP at RSP + 168 */
    .cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0 /* RBP at RSP + 120 */
begin:
    nop
restorer:
    movq $15, %rax
    syscall
    .cfi_endproc
end:
    sfu_trap_begin begin, end
    sfu_trap_row begin, cfa=160, ra=168, fp=120
    sfu_trap_end
    .section .note.GNU-stack, "", %progbits
"""

SIGNALS = DRAW_INTO + """#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
extern void restorer(void);
static volatile int interrupt_at, left;
static int process, thread;
"""

BEGIN_SIGNALS = """
static void on_signal(int signal, void *info, void *context)
{
    interrupt_at = -1;
    (void)links[draw(200)](left);
}

bool work_begin(void)
{
    uint64_t action[4] = {(uint64_t)(uintptr_t)on_signal, SA_SIGINFO | 0x04000000, (uint64_t)(uintptr_t)restorer, 0};
    process = getpid();
    thread = (int)syscall(SYS_gettid);
    return syscall(SYS_rt_sigaction, SIGUSR1, action, 0, 8) == 0;
}

static int start(int depth)
{
    interrupt_at = 4 + (int)draw(16);
    return links[draw(200)](depth);
}
"""


def signals():
    # each stack has a signal frame somewhere: the function asks the kernel by itself, so that it is what is interrupted
    text = chain(200, 400, "(24 + draw(8))", plain(200), SIGNALS)
    interrupt = """    else if (x == interrupt_at) {
        long number = SYS_tgkill;
        left = x - 1;
        __asm__ volatile("syscall" : "+a"(number) : "D"(process), "S"(thread), "d"(SIGUSR1) : "rcx", "r11", "memory");
    }
"""
    text = text.replace("        leaf();\n", "        leaf();\n" + interrupt)
    begin = text.index("bool work_begin")
    text = text[:begin] + BEGIN_SIGNALS + text[text.index("bool work_run"):]
    return text.replace("(void)links[draw(200)]((int)", "(void)start((int)")


def interrupts(other):
    # traces of some ten frames, across an interrupt, from the same stack or from another
    text = signals().replace("(24 + draw(8))", "7").replace("4 + (int)draw(16)", "2 + (int)draw(4)")
    if not other:
        return text
    text = text.replace("SA_SIGINFO | 0x04000000", "SA_SIGINFO | SA_ONSTACK | 0x04000000")
    return text.replace("    process = getpid();\n", """    static char stack[65536];
    stack_t alternate = {stack, 0, sizeof stack};
    bench_other_low = (uint64_t)(uintptr_t)stack;
    bench_other_high = bench_other_low + sizeof stack;
    if (sigaltstack(&alternate, NULL) != 0)
        return false;
    process = getpid();
""")


PLT = DRAW_INTO + """#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
extern char _GLOBAL_OFFSET_TABLE_[];

static ALONE void protect(int how)
{
    long number = 10;
    __asm__ volatile("syscall" : "+a"(number) : "D"(_GLOBAL_OFFSET_TABLE_), "S"(4096), "d"(how)
                     : "rcx", "r11", "memory");
}
"""

BEGIN_PLT = """
static void on_fault(int signal, siginfo_t *info, void *context)
{
    const greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint64_t *slot = (const uint64_t *)regs[REG_RSP];
    protect(PROT_READ | PROT_WRITE);
    bench_top.pc = FROM_CALLER ? *slot : (uint64_t)regs[REG_RIP];
    bench_top.sp = (uint64_t)regs[REG_RSP] + (FROM_CALLER ? 8 : 0);
    bench_top.fp = (uint64_t)regs[REG_RBP];
    bench_top.returns = FROM_CALLER;
    bench_hook = bench_top.pc;
    sample();
    (void)signal;
    (void)info;
}

bool work_begin(void)
{
    static struct sigaction action;
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    return sigaction(SIGSEGV, &action, NULL) == 0;
}
"""


def plt(from_caller):
    # the innermost function calls another library; what its PLT jumps by cannot be read then
    text = chain(200, 400, "(24 + draw(8))", plain(200), "#define FROM_CALLER %d\n" % from_caller + PLT)
    text = text.replace("        leaf();\n", "        protect(PROT_NONE), x = atoi(\"0\");\n")
    begin = text.index("bool work_begin")
    return text[:begin] + BEGIN_PLT + text[text.index("bool work_run"):]


def cxx():
    return HEAD + CXX + RUN % (max(1, 60 // FEWER), "run()") + "}\n"


SHAPES = {
    "sites_1k": lambda: sites(1000, 1500), "sites_10k": lambda: sites(10000, 2000),
    "sites_100k": lambda: of_parts(2000),
    "alike_1k": lambda: alike(1000, 1500), "cxx": cxx,
    "deep": lambda: chain(50, 40, "4000", plain(50), DRAW_INTO),
    "shallow": lambda: chain(50, 1500, "(1 + draw(2))", plain(50), DRAW_INTO),
    "switch_40": lambda: cases(40, 400, 0), "switch_200": lambda: cases(200, 800, 0),
    "switch_800": lambda: cases(800, 1600, 0), "drap": lambda: aligned(1), "drap_8th": lambda: aligned(8),
    "arrays": arrays, "large_frames": large_frames, "large_functions": lambda: cases(200, 800, 60),
    "stacks": lambda: chain(200, 400, "(24 + draw(8))", plain(200), DRAW_INTO),
    "sections_100": lambda: chain(200, 400, "(24 + draw(8))", plain(200), DRAW_INTO),
    "recursion": lambda: chain(1, 400, "(24 + draw(8))", plain(1), DRAW_INTO),
    "frames_400": frames, "sites_2k": lambda: sites(2000, 2000), "sites_4k": lambda: sites(4000, 2000),
    "modules_100": lambda: sites(4000, 2000), "modules_1000": lambda: sites(4000, 2000),
    "near_10": lambda: apart(10, 40), "aligned_64k": lambda: apart(10, 40), "aligned_1m": lambda: apart(10, 40),
    "far_12": lambda: apart(12, 32), "far_40": lambda: apart(40, 25), "far_64": lambda: apart(64, 15),
    "library": lambda: library(True), "fresh": lambda: sites(1000, 1500),
    "interrupt": lambda: interrupts(False), "interrupt_stack": lambda: interrupts(True),
    "copy_2k": lambda: chain(200, 400, "(60 + draw(8))", plain(200), DRAW_INTO),
    "copy_8k": lambda: chain(200, 400, "(120 + draw(8))", plain(200), DRAW_INTO),
    "plt": lambda: plt(0), "plt_caller": lambda: plt(1), "skip": skip, "signals": signals,
}

if sys.argv[1:] == ["part"]:
    sys.stdout.write(part())
elif sys.argv[1:] == ["far"]:
    sys.stdout.write(library(False))
elif sys.argv[1:] == ["restorer"]:
    sys.stdout.write(RESTORER)
elif len(sys.argv) > 1:
    sys.stdout.write(SHAPES[sys.argv[1]]())
else:
    print("\n".join(SHAPES))

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A scheduler of fibers, whose switch and whose first code are assembly without a word of CFI, as in boost.context and
 * many others. Each function notes where it returns to. A fiber that runs, and each one that waits, has to show just
 * those return addresses, then the fiber's first code and the end. Exit status 0, or which check was wrong.
 */
#include "sfu.h"
#include "test/lib/memory.h"

/* switch_fiber(where to save SP, SP of the fiber that runs next) keeps what a function has to keep. fiber_begin is
 * where a new fiber starts: it calls what it finds in a register that the switch has loaded. */
#if defined(__x86_64__)
__asm__(
    ".text\n.globl switch_fiber\n.type switch_fiber, @function\nswitch_fiber: push %rbp\npush %rbx\npush %r12\n"
    "push %r13\npush %r14\npush %r15\nmov %rsp, (%rdi)\nmov %rsi, %rsp\npop %r15\npop %r14\npop %r13\npop %r12\n"
    "pop %rbx\npop %rbp\nret\n.size switch_fiber, . - switch_fiber\n"
    ".globl fiber_begin\n.type fiber_begin, @function\nfiber_begin: mov %r13, %rdi\ncall *%r12\nud2\n"
    ".size fiber_begin, . - fiber_begin\n"
    ".globl _start\n.type _start, @function\n_start: .cfi_startproc\n.cfi_undefined rip\n"
    "call first\nmov %eax, %edi\nmov $60, %eax\nsyscall\n.cfi_endproc\n"
    ".globl capture\ncapture: .cfi_startproc\nmov (%rsp), %rax\nmov %rax, (%rdi)\nlea 8(%rsp), %rax\n"
    "mov %rax, 8(%rdi)\nmov %rbp, 16(%rdi)\nret\n.cfi_endproc\n");
enum { WORDS = 7, ENTRY = 3, ARGUMENT = 2, FP = 5, RA = 6, FRAME = 8 * WORDS };
#elif defined(__aarch64__)
__asm__(".text\n.globl switch_fiber\n.type switch_fiber, @function\nswitch_fiber: stp x19, x20, [sp, #-96]!\n"
        "stp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, #48]\nstp x27, x28, [sp, #64]\n"
        "stp x29, x30, [sp, #80]\nmov x2, sp\nstr x2, [x0]\nmov sp, x1\nldp x21, x22, [sp, #16]\n"
        "ldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\nldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
        "ldp x19, x20, [sp], #96\nret\n.size switch_fiber, . - switch_fiber\n"
        ".globl fiber_begin\n.type fiber_begin, @function\nfiber_begin: mov x0, x20\nblr x19\nbrk #1\n"
        ".size fiber_begin, . - fiber_begin\n"
        ".globl _start\n.type _start, @function\n_start: .cfi_startproc\n.cfi_undefined x30\n"
        "bl first\nmov x8, #93\nsvc #0\n.cfi_endproc\n"
        ".globl capture\ncapture: .cfi_startproc\nstr x30, [x0]\nmov x1, sp\nstr x1, [x0, #8]\n"
        "str x29, [x0, #16]\nret\n.cfi_endproc\n");
enum { WORDS = 12, ENTRY = 0, ARGUMENT = 1, FP = 10, RA = 11, FRAME = 8 * WORDS };
#elif defined(__riscv)
__asm__(
    ".text\n.globl switch_fiber\n.type switch_fiber, @function\nswitch_fiber: addi sp, sp, -112\nsd ra, 104(sp)\n"
    "sd s0, 96(sp)\nsd s1, 88(sp)\nsd s2, 80(sp)\nsd s3, 72(sp)\nsd s4, 64(sp)\nsd s5, 56(sp)\nsd s6, 48(sp)\n"
    "sd s7, 40(sp)\nsd s8, 32(sp)\nsd s9, 24(sp)\nsd s10, 16(sp)\nsd s11, 8(sp)\nsd sp, 0(a0)\nmv sp, a1\n"
    "ld ra, 104(sp)\nld s0, 96(sp)\nld s1, 88(sp)\nld s2, 80(sp)\nld s3, 72(sp)\nld s4, 64(sp)\nld s5, 56(sp)\n"
    "ld s6, 48(sp)\nld s7, 40(sp)\nld s8, 32(sp)\nld s9, 24(sp)\nld s10, 16(sp)\nld s11, 8(sp)\n"
    "addi sp, sp, 112\nret\n.size switch_fiber, . - switch_fiber\n"
    ".globl fiber_begin\n.type fiber_begin, @function\nfiber_begin: mv a0, s2\njalr s1\nebreak\n"
    ".size fiber_begin, . - fiber_begin\n"
    ".globl _start\n.type _start, @function\n_start: .cfi_startproc\n.cfi_undefined ra\n"
    "call first\nli a7, 93\necall\n.cfi_endproc\n"
    ".globl capture\ncapture: .cfi_startproc\nsd ra, 0(a0)\nsd sp, 8(a0)\nsd s0, 16(a0)\nret\n.cfi_endproc\n");
enum { WORDS = 14, ENTRY = 11, ARGUMENT = 10, FP = 12, RA = 13, FRAME = 8 * WORDS };
#else
__asm__(".text\n.globl switch_fiber\n.type switch_fiber, @function\nswitch_fiber: stmg %r6, %r15, 48(%r15)\n"
        "aghi %r15, -160\nstg %r15, 0(%r2)\nlgr %r15, %r3\nlmg %r6, %r15, 208(%r15)\nbr %r14\n"
        ".size switch_fiber, . - switch_fiber\n"
        ".globl fiber_begin\n.type fiber_begin, @function\nfiber_begin: lgr %r2, %r7\nbasr %r14, %r6\nj .+2\n"
        ".size fiber_begin, . - fiber_begin\n"
        ".globl _start\n.type _start, @function\n_start: .cfi_startproc\n.cfi_undefined 14\n"
        "aghi %r15, -160\n.cfi_adjust_cfa_offset 160\nbrasl %r14, first\nlghi %r1, 1\nsvc 0\n.cfi_endproc\n"
        ".globl capture\ncapture: .cfi_startproc\nstg %r14, 0(%r2)\nstg %r15, 8(%r2)\nstg %r11, 16(%r2)\n"
        "br %r14\n.cfi_endproc\n");
enum { WORDS = 40, ENTRY = 26, ARGUMENT = 27, FP = 31, RA = 34, SP = 35, FRAME = 160 };
#endif
void capture(uint64_t *pc_sp_fp);
void switch_fiber(uint64_t *from, uint64_t to);
extern const uint8_t sframe_start[], sframe_end[], fiber_begin[];

#define FUNCTION __attribute__((noinline)) int
enum { FIBERS = 3, STACK = 1024, DEPTH = 16, SWITCHES = 12 };

/* Fiber 0 is the program itself. The last return address of the others is that of fiber_begin. */
static struct fiber {
    uint64_t sp, notes[DEPTH];
    unsigned depth;
} fibers[FIBERS];
static uint64_t stacks[FIBERS][STACK];
static unsigned running, switches;
static int failed;
static struct sfu_target target;
static struct sfu_section section;

#define NOTE     (fibers[running].notes[fibers[running].depth++] = (uint64_t)(uintptr_t)__builtin_return_address(0))
#define UNNOTE() (fibers[running].depth--)

static void expect(bool holds, int which)
{
    if (!holds && failed == 0)
        failed = which;
}

/* The fiber's stack; the program's own is taken to be all memory. */
static bool find_stack(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    const uintptr_t all = (uintptr_t)stacks;

    (void)ctx;
    if (addr >= all && addr <= all + sizeof stacks) {
        const uintptr_t n = (addr - 1 - all) / sizeof stacks[0];

        stack->bytes = stacks[n];
        stack->low = (uintptr_t)stacks[n];
        stack->high = stack->low + sizeof stacks[n];
        return true;
    }
    stack->bytes = (const void *)(uintptr_t)(addr & ~(sfu_addr)15);
    stack->low = addr & ~(sfu_addr)15;
    stack->high = stack->low + 8192;
    return true;
}

/* Walks from REGS, whose frame is that of a function of fiber N which has noted DEPTH return addresses. */
static void check(unsigned n, struct sfu_registers regs, unsigned depth, int which)
{
    struct sfu_walk walk;
    int code = SFU_OK;

    sfu_walk_start(&walk, &target, &regs);
    while (depth > 0 && (code = sfu_walk_step(&walk)) == SFU_OK) {
        depth--;
        expect(walk.frame.regs.pc == fibers[n].notes[depth], which);
    }
    expect(code == SFU_OK && sfu_walk_step(&walk) == SFU_END && walk.frame.reliable, which + 1);
}

/* What a fiber that waits goes on with: as if its switch had returned. */
static struct sfu_registers of_waiting(const struct fiber *fiber)
{
    const uint64_t *saved = (const uint64_t *)(uintptr_t)fiber->sp;
    struct sfu_registers regs = {.pc = saved[RA], .sp = fiber->sp + FRAME, .fp = saved[FP]};

    return regs;
}

/* Called by a function that has noted its return address: its own frame is the topmost. */
FUNCTION look(void)
{
    uint64_t here[3];
    struct sfu_registers regs = {0};
    unsigned n;

    NOTE;
    capture(here);
    regs.pc = here[0];
    regs.sp = here[1];
    regs.fp = here[2];
    check(running, regs, fibers[running].depth, 10);
    for (n = 0; n < FIBERS; n++)
        if (n != running && fibers[n].sp != 0)
            check(n, of_waiting(&fibers[n]), fibers[n].depth, 20 + 10 * (int)n);
    UNNOTE();
    return failed;
}

/* Runs the next fiber; this one goes on in its turn. */
FUNCTION yield(void)
{
    const unsigned from = running;

    NOTE;
    switches++;
    running = (running + 1) % FIBERS;
    switch_fiber(&fibers[from].sp, fibers[running].sp);
    running = from;
    (void)look();
    UNNOTE();
    return failed;
}

FUNCTION deep(int levels)
{
    volatile int room[9] = {levels};
    int result;

    NOTE;
    result = levels > 0 ? deep(levels - 1) : yield();
    UNNOTE();
    return result + room[8];
}

static void body(uint64_t levels)
{
    NOTE;
    for (;;)
        (void)deep((int)levels);
}

static void make(unsigned n)
{
    uint64_t *sp = stacks[n] + STACK - WORDS;

    sp[RA] = (uintptr_t)fiber_begin;
    sp[ENTRY] = (uintptr_t)body;
    sp[ARGUMENT] = n;
#if defined(__s390x__)
    sp[SP] = (uintptr_t)(stacks[n] + STACK) - 160;
#endif
    fibers[n].sp = (uintptr_t)sp;
}

int first(void)
{
    unsigned n;

    NOTE;
    if (sfu_add(&target.sections, &section, 1, sframe_start, (sfu_addr)(sframe_end - sframe_start),
                (uintptr_t)sframe_start) != SFU_OK)
        return 1;
    target.find_stack = find_stack;
    for (n = 1; n < FIBERS; n++)
        make(n);
    while (switches < SWITCHES && failed == 0)
        (void)yield();
    fibers[0].sp = 0;
    (void)look();
    return failed != 0 ? failed : switches >= SWITCHES ? 0 : 2;
}

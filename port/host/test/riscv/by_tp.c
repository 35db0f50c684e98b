/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A kernel whose exception entry finds its stack by tp, as Linux's does: code.py puts the entry behind this.
 * Breakpoints on another stack, as if a program ran, and in the kernel. For each the handler prints a line: the PCs of
 * the trace, how it ends, and whether it is proven.
 */
#include "arch/sfu_arch.h"
#include "test/lib/memory.h"

extern const uint8_t tables_start[], tables_end[];
static volatile unsigned calls;
/* What tp points to: nothing, the kernel's SP, the interrupted one. */
uintptr_t cpu0[3];
uintptr_t other_stack[512] __attribute__((aligned(16)));

static void put(char c)
{
    *(volatile uint8_t *)0x10000000 = (uint8_t)c;
}

static void put_number(uint64_t number)
{
    unsigned shift;

    for (shift = 32; shift > 0; shift -= 4)
        put("0123456789abcdef"[number >> (shift - 4) & 15]);
    put(' ');
}

/* FRAME: the words that the entry has saved. */
void handler(uintptr_t *frame);
void handler(uintptr_t *frame)
{
    static struct sfu_section section;
    static struct sfu_target target;
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);
    struct sfu_walk walk;
    int code;

    target.sections = NULL;
    code = sfu_add(&target.sections, &section, 1, tables_start, (uint64_t)(tables_end - tables_start),
                   (uintptr_t)tables_start);
    target.stack.low = 0x80000000;
    target.stack.high = 0x81000000;
    target.stack.bytes = (const void *)0x80000000;
    put_number((uint64_t)code);
    sfu_walk_start(&walk, &target, &here);
    do
        put_number(walk.frame.regs.pc);
    while ((code = sfu_walk_step(&walk)) == SFU_OK);
    put_number((uint64_t)code);
    put_number(walk.frame.reliable);
    put('\n');
    frame[32] += 4; /* behind the breakpoint */
}

__attribute__((noinline)) static void count(void)
{
    calls++;
    __asm__ volatile("" : : : "memory");
}

#define INNER(name)                                                                                                \
    __attribute__((noinline)) void name(void);                                                                     \
    void name(void)                                                                                                \
    {                                                                                                              \
        count();                                                                                                   \
        __asm__ volatile(".4byte 0x00100073" : : : "memory"); /* ebreak */                                         \
        count();                                                                                                   \
    }
#define OUTER(name, inner)                                                                                         \
    __attribute__((noinline)) void name(void);                                                                     \
    void name(void)                                                                                                \
    {                                                                                                              \
        inner();                                                                                                   \
        count();                                                                                                   \
    }
INNER(user_inner)
OUTER(user_outer, user_inner)
INNER(kernel_inner)
OUTER(kernel_outer, kernel_inner)

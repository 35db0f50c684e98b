/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * By a breakpoint where the next instruction goes on, as debuggers in kernels do it there: no mode has an exception
 * after each instruction. It is in the program while the program runs, and nowhere else: the handler sees the code as
 * it was.
 */
#include "stepper.h"

enum { BREAKPOINT_CAUSE = 3, C_EBREAK = 0x9002 };

#if __riscv_xlen == 64
const char step_abi[] = "riscv64";
#else
const char step_abi[] = "riscv32";
#endif
const unsigned step_result = 10;
static uint8_t stack[512 << 10] __attribute__((aligned(256)));

static uint16_t *planted; /* where the breakpoint is; NULL: nowhere */
static uint16_t replaced; /* what was there */

/* OWN: the scratch register has no stack, so that exceptions come on the one that runs. */
uint8_t *step_init(bool own, uint64_t *size)
{
    if (own)
        __asm__ volatile("csrw " CSR_NAME(CSR_SCRATCH) ", zero");
    *size = sizeof stack;
    return stack;
}

/* ---- the next instruction ---- */

static uint32_t halfword(uintptr_t pc)
{
    return *(const volatile uint16_t *)pc;
}

static unsigned length_of(uintptr_t pc)
{
    return (halfword(pc) & 3) == 3 ? 4 : 2;
}

/* Bits FROM to FROM + COUNT - 1 of WORD, in the place that begins at bit TO. */
static uintptr_t bits(uint32_t word, unsigned from, unsigned count, unsigned to)
{
    return (uintptr_t)(word >> from & ((1u << count) - 1)) << to;
}

/* VALUE, whose bit SIGN stands for itself and all above. */
static uintptr_t extended(uintptr_t value, unsigned sign)
{
    return (value >> sign & 1) != 0 ? value | ~(((uintptr_t)2 << sign) - 1) : value;
}

static bool is_taken(uint32_t word, const struct trap *trap)
{
    uintptr_t a = trap->r[word >> 15 & 31], b = trap->r[word >> 20 & 31];
    bool holds = false;

    switch (word >> 13 & 3) { /* the kind of comparison; bit 12: the opposite */
    case 0:
        holds = a == b;
        break;
    case 2:
        holds = (intptr_t)a < (intptr_t)b;
        break;
    case 3:
        holds = a < b;
        break;
    }
    return holds != ((word >> 12 & 1) != 0);
}

/* Instructions of 4 bytes: jal, jalr, branches. */
static uintptr_t next_of_word(const struct trap *trap)
{
    uint32_t word = halfword(trap->pc) | halfword(trap->pc + 2) << 16;

    switch (word & 0x7f) {
    case 0x6f:
        return trap->pc + extended(bits(word, 21, 10, 1) | bits(word, 20, 1, 11) | bits(word, 12, 8, 12) |
                                       bits(word, 31, 1, 20),
                                   20);
    case 0x67:
        return (trap->r[word >> 15 & 31] + extended(bits(word, 20, 12, 0), 11)) & ~(uintptr_t)1;
    case 0x63:
        if (is_taken(word, trap))
            return trap->pc + extended(bits(word, 8, 4, 1) | bits(word, 25, 6, 5) | bits(word, 7, 1, 11) |
                                           bits(word, 31, 1, 12),
                                       12);
        break;
    }
    return trap->pc + 4;
}

/* Those of 2: c.j, c.jal (RV32), c.jr, c.jalr, c.beqz, c.bnez. */
static uintptr_t next_of_half(const struct trap *trap)
{
    uint32_t half = halfword(trap->pc);
    bool is_zero = trap->r[8 + (half >> 7 & 7)] == 0;

    switch (half & 0xe003) {
    case 0x2001:
        if (__riscv_xlen == 64)
            break; /* c.addiw */
        /* fall through */
    case 0xa001:
        return trap->pc + extended(bits(half, 3, 3, 1) | bits(half, 11, 1, 4) | bits(half, 2, 1, 5) |
                                       bits(half, 7, 1, 6) | bits(half, 6, 1, 7) | bits(half, 9, 2, 8) |
                                       bits(half, 8, 1, 10) | bits(half, 12, 1, 11),
                                   11);
    case 0xc001:
    case 0xe001:
        if (is_zero == ((half & 0x2000) == 0))
            return trap->pc + extended(bits(half, 3, 2, 1) | bits(half, 10, 2, 3) | bits(half, 2, 1, 5) |
                                           bits(half, 5, 2, 6) | bits(half, 12, 1, 8),
                                       8);
        break;
    case 0x8002:
        if ((half & 0x7c) == 0 && (half & 0xf80) != 0)
            return trap->r[half >> 7 & 31] & ~(uintptr_t)1;
        break;
    }
    return trap->pc + 2;
}

/* ---- the breakpoint ---- */

static void write_code(uint16_t *at, uint16_t value)
{
    *(volatile uint16_t *)at = value;
    __asm__ volatile("fence.i" : : : "memory");
}

static void plant(uintptr_t pc)
{
    planted = (uint16_t *)pc;
    replaced = *planted;
    write_code(planted, C_EBREAK);
}

static void take_back(void)
{
    if (planted != NULL)
        write_code(planted, replaced);
    planted = NULL;
}

enum cause step_cause(struct trap *trap)
{
    bool is_planted = (uintptr_t)planted == trap->pc;

    if (trap->cause != BREAKPOINT_CAUSE)
        return OTHER;
    take_back();
    if (is_planted)
        return STEP_DONE;
    trap->pc += length_of(trap->pc);
    return BREAKPOINT;
}

void step_set(struct trap *trap, bool on)
{
    if (on)
        plant(length_of(trap->pc) == 4 ? next_of_word(trap) : next_of_half(trap));
}

bool step_register(uint32_t reg, uint64_t *value)
{
    (void)reg;
    (void)value;
    return false;
}

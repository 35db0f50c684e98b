/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What facts.c and facts_run.c exchange: an instruction with the registers that it begins with, and what a CPU made of
 * it. Registers have their DWARF numbers. All numbers have the CPU's byte order, which facts.c knows.
 */
#ifndef SFU_FACTS_H
#define SFU_FACTS_H

#include <stdint.h>

/* Where the instruction stands, in a page that is full of breakpoints; SP is in the middle of the stack, and all that
 * other registers point to is in OTHER. Neither is code. */
enum {
    FACTS_PAGE = 0x10000000,
    FACTS_CODE = FACTS_PAGE + 0x800,
    FACTS_STACK = 0x20000000,
    FACTS_OTHER = 0x30000000
};
enum { FACTS_PAGE_SIZE = 4096, FACTS_STACK_SIZE = 65536, FACTS_OTHER_SIZE = 1 << 20 };
/* Of the stack, a window around SP is compared. */
enum { FACTS_WINDOW = 2048 };
enum { FACTS_SP = FACTS_STACK + FACTS_STACK_SIZE / 2, FACTS_LOW = FACTS_SP - FACTS_WINDOW / 2 };

struct facts_in {
    uint8_t code[16];
    uint64_t flags; /* of ARM, the CPSR; of x86, the direction flag alone */
    uint64_t reg[32];
};

/* x86's direction flag. */
enum { FACTS_DOWN = 0x400 };

/* SIGNAL: what has ended it. FACTS_LATE: nothing, and it was stopped after some time. */
enum { FACTS_LATE = 99 };

struct facts_out {
    uint64_t signal, pc, flags;
    uint64_t reg[32];
    uint8_t window[FACTS_WINDOW];
};

/* What the byte AT of the window is before, on a CPU whose registers have WORD bytes. Each second word points into
 * OTHER, so that loads leave addresses in registers. No two words are the same. INVERTED: each bit is the other one. */
static inline uint8_t facts_byte(unsigned at, unsigned word, int big, int inverted)
{
    const unsigned byte = big ? word - 1 - at % word : at % word;
    const uint32_t pointer = FACTS_OTHER + 0x10000 + 64 * (at / word);
    unsigned value = byte < 4 ? pointer >> 8 * byte : 0;

    if (at / word % 2 != 0)
        value = at * 37 + (at >> 3) * 11 + 5;
    return (uint8_t)(inverted ? ~value : value);
}

#endif

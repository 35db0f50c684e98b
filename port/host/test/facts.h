/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What facts.c and facts_run.c exchange: one instruction, with the registers that it begins with, and what a CPU made of
 * it. Registers have their DWARF numbers. Both programs run on CPUs of one byte order, or facts.c turns the bytes.
 */
#ifndef SFU_FACTS_H
#define SFU_FACTS_H

#include <stdint.h>

enum { FACTS_CODE = 0x10000000, FACTS_STACK = 0x20000000, FACTS_OTHER = 0x30000000 };
/* Of the stack, in the middle of which SP is, a window is compared. */
enum { FACTS_STACK_SIZE = 65536, FACTS_OTHER_SIZE = 1 << 20, FACTS_WINDOW = 2048 };
enum { FACTS_SP = FACTS_STACK + FACTS_STACK_SIZE / 2, FACTS_LOW = FACTS_SP - FACTS_WINDOW / 2 };

struct facts_in {
    uint8_t code[16];
    uint64_t reg[32];
};

struct facts_out {
    uint64_t signal, pc; /* what ended it: SIGTRAP, where it has been executed */
    uint64_t reg[32];
    uint8_t window[FACTS_WINDOW];
};

/* What the byte AT of the window is before. */
static inline uint8_t facts_byte(unsigned at)
{
    return (uint8_t)(at * 37 + (at >> 3) * 11 + 5);
}

#endif

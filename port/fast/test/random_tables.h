/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Random sections and stacks for this machine, and what the core says of them: for the tests of the fast walker. */
#ifndef FAST_RANDOM_TABLES_H
#define FAST_RANDOM_TABLES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "core_trace.h"
#include "sfu_fast.h"

#define STACK UINT64_C(0x7fff12340000)
enum { STACK_SIZE = 32768, MAX_PCS = 64, MAX_TABLES = 4, TABLE_SIZE = 3 * BUILD_BYTES };

/* A section, opened, at an address of its own. */
struct table {
    struct build build;
    uint8_t bytes[TABLE_SIZE];
    struct sfu_section section;
    uint64_t addr;
    bool good; /* it could be opened */
};

/* A stack, and where a walk of it begins. */
struct stack {
    uint8_t bytes[STACK_SIZE];
    struct sfu_registers top;
};

uint64_t random64(uint64_t *seed);
/* A number below LIMIT. */
uint32_t below(uint64_t *seed, uint32_t limit);
/* True once in N. */
bool once_in(uint64_t *seed, uint32_t n);

/* Makes a section of functions that are mostly common; at ADDR, its code at ADDR - 0x100000. With FAULTS, bytes of it
 * are random. */
void make_table(struct table *t, uint64_t *seed, uint64_t addr, bool faults);

/* Makes a stack of return addresses into the COUNT (at most MAX_TABLES) tables at T, and of saved FPs; mostly so that a
 * trace of it is long. */
void make_stack(struct stack *s, uint64_t *seed, const struct table *t, unsigned count);

#endif

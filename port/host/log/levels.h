/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * aarch64 has a stack pointer for each exception level. Programs print them by these names; SPSR, which an exception
 * saves, says which of them was in use ("Saved Program Status Register" in the Arm Architecture Reference Manual).
 */
#ifndef SFU_HOST_LOG_LEVELS_H
#define SFU_HOST_LOG_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

enum { NUM_LEVELS = 4, NO_LEVEL = NUM_LEVELS };

struct levels {
    uint64_t sp[NUM_LEVELS], spsr[NUM_LEVELS]; /* spsr[0]: the one whose name has no level */
    bool has_sp[NUM_LEVELS], has_spsr[NUM_LEVELS];
    unsigned elr; /* the highest level whose ELR has come; 0: none */
};

/* The level whose SP was in use, or NO_LEVEL: SPSR has not come, or says none. */
unsigned levels_in_use(const struct levels *levels);

/* Whether an SP of a level has come. */
bool levels_any(const struct levels *levels);

#endif

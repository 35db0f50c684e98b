/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Remembers the last trace, for who takes the trace of one stack again and again: a sampler whose CPU or thread stays
 * where it is, a lock checker in a loop. If the stack is still the same, it is not walked again. Copy sfu_repeat.h and
 * sfu_repeat.c beside the fast walker.
 *
 *     static struct sfu_repeat repeat;
 *     static uint64_t memory[448];                     7 words for each PC: 64 PCs
 *
 *     sfu_repeat_init(&repeat, memory, 448);
 *     code = sfu_repeat_trace(&repeat, &fast, &target, &registers, 0, pcs, 64, &count);
 *
 * The PCs and the code are always those of sfu_fast_trace, and so those of the core. A trace is a function of the
 * target, the registers at its top, the tables, the words of the stack that its rows read (the saved RA, the saved FP
 * and, in a few rows, the CFA), and the answers of the target's callbacks. All of them are remembered. A trace is
 * taken from memory only if the target, the registers and the tables are the same, find_stack gives the same answers
 * again, and each of the words, read again, has the value that it had. These loads do not depend on each other, so the
 * CPU does not wait for one after the other. No word is read that is not on a stack of the target now.
 *
 * Only the core tells which words a trace reads, and it takes as long as some twenty traces of the fast walker. So a
 * trace is remembered after it has come a number of times, SFU_REPEAT_TIMES at first. That number doubles, up to 1,024,
 * each time the remembered trace then comes less often than that. So a stack that changes pays little: a copy of its
 * PCs for each trace, and seldom a walk by the core.
 *
 * A trace is never remembered
 *   - if the trap hook or the reg callback was asked, if there is an original_ra, or if find_stack was asked more than
 *     SFU_REPEAT_STACKS times
 *   - if a stack has no bytes, so that a callback reads it, or a word of it that was read is not aligned to 8 bytes
 *   - if a section of the list is not mapped, or if the list is not that of the fast walker
 *   - if it does not fit into the memory
 * Then sfu_repeat_trace is sfu_fast_trace, and takes a little longer.
 *
 * sfu_repeat_trace takes some 700 bytes of stack more than sfu_fast_trace.
 */
#ifndef SFU_REPEAT_H
#define SFU_REPEAT_H

#include "sfu_fast.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SFU_REPEAT_TIMES  32 /* how often a trace must come before it is remembered for the first time */
#define SFU_REPEAT_STACKS 4  /* answers of find_stack that can be remembered */
#define SFU_REPEAT_KEYS   26 /* what a trace depends on besides tables, stacks and callbacks */

/* What find_stack has answered. */
struct sfu_repeat_answer {
    sfu_addr addr; /* what it was asked about */
    struct sfu_stack stack;
    bool found;
};

/* Filled in by sfu_repeat_init; nobody else writes it. */
struct sfu_repeat {
    uint64_t *memory; /* the PCs, then a pair for each word: where it is, its value */
    size_t room;      /* how many words MEMORY has */
    uint64_t keys[SFU_REPEAT_KEYS];
    size_t count, pairs; /* of PCs, and of words behind them */
    int code;
    bool known; /* the words and answers of the trace are known; otherwise only KEYS, COUNT, CODE and the PCs are */
    struct sfu_repeat_answer answers[SFU_REPEAT_STACKS];
    uint32_t num_answers;
    uint32_t came;     /* how often the trace has come since it changed, or, if it is known, since then */
    uint32_t patience; /* how often one must come to become known */
    uint32_t busy;     /* 1: somebody uses it */
};

/* Makes REPEAT remember nothing yet, in the WORDS words at MEMORY, of which 7 for each PC are always enough, and mostly
 * 5 are. To be called again before the struct sfu_fast that it was used with is zeroed or its memory reused. Nobody may
 * use REPEAT meanwhile. */
void sfu_repeat_init(struct sfu_repeat *repeat, uint64_t *memory, size_t words);

/* sfu_fast_trace by REPEAT, which remembers one trace: give each CPU, or each thread, one of its own. It takes no lock,
 * waits for nothing and allocates nothing. If REPEAT is in use, by another CPU or by what an interrupt, an NMI or a
 * signal has interrupted, it is sfu_fast_trace. Returns what that returns. */
int sfu_repeat_trace(struct sfu_repeat *repeat, struct sfu_fast *fast, const struct sfu_target *target,
                     const struct sfu_registers *top, size_t skip, uint64_t *pcs, size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The one place where a walk is compared with the truth: step.c does so for programs, kernel/stepper.c for kernels. */
#ifndef STEP_COMPARE_H
#define STEP_COMPARE_H

#include "shadow.h"

/* From the best to the worst. KNOWN: exactly a fault that is listed. */
enum verdict { RIGHT, NO_TABLE, KNOWN, WRONG };

/* What a walk has found: the frames from the topmost one on, and how it ended. */
struct chain {
    const struct seen *frames;
    unsigned count;
    int code;
};

struct comparer {
    const struct shadow *shadow;
    /* Whether there is no table for the code at PC, as is meant. */
    bool (*has_no_table)(void *ctx, uint64_t pc);
    /* The caller of frame AT - 1 of CHAIN is not RIGHT, or is missing; RIGHT NULL: it is one too many, or the walk does
     * not end as it has to. TOPMOST: that frame's registers are known. Returns KNOWN or WRONG. */
    enum verdict (*wrong)(void *ctx, const struct chain *chain, unsigned at, bool topmost,
                          const struct seen *right);
    /* Walks on from a caller of which only this is known. */
    struct chain (*resume)(void *ctx, const struct seen *from);
    void *ctx;
    bool goes_on;              /* behind what is WRONG, too */
    unsigned long long frames; /* callers that were right so far */
};

/* The worst that is true of CHAIN, beside the COUNT outermost entries of the shadow stack. Behind a frame that is KNOWN
 * it goes on from the right one: what follows has to be right as well. */
enum verdict compare(struct comparer *c, struct chain chain, unsigned count);

#endif

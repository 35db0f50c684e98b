/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "levels.h"

#include <stddef.h>

/* The SPSR of the exception whose ELR is the PC; or the only one that has come. */
static const uint64_t *find_spsr(const struct levels *l)
{
    const uint64_t *found = NULL;
    unsigned i, num = 0;

    if (l->elr != 0 && l->has_spsr[l->elr])
        return &l->spsr[l->elr];
    for (i = 0; i < NUM_LEVELS; i++)
        if (l->has_spsr[i]) {
            found = &l->spsr[i];
            num++;
        }
    return num == 1 ? found : NULL;
}

unsigned levels_in_use(const struct levels *l)
{
    enum { HANDLER = 1, RESERVED = 2, LEVEL = 2 /* first bit */, AARCH32 = 16 };
    const uint64_t *spsr = find_spsr(l);

    if (spsr == NULL || (*spsr & (AARCH32 | RESERVED)) != 0)
        return NO_LEVEL;
    return (*spsr & HANDLER) != 0 ? (unsigned)(*spsr >> LEVEL & 3) : 0;
}

bool levels_any(const struct levels *l)
{
    unsigned i;
    bool any = false;

    for (i = 0; i < NUM_LEVELS; i++)
        any = any || l->has_sp[i];
    return any;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The shapes of functions that a trace has to cross. */
#ifndef PATTERNS_H
#define PATTERNS_H

#include "shadow.h"

/* What each pattern calls when it is as deep as it gets. */
extern unsigned (*volatile patterns_inside)(void);

struct pattern {
    const char *name;
    void (*run)(void);
};
extern const struct pattern patterns[]; /* ends with a NULL name */

/* Direct recursion, N deep. In a function that calls itself the list does not tell its beginning from the middle of
 * its caller, so this is not for interruptions. */
unsigned p_recursive(unsigned n);

/* Does not return: calls patterns_never, as the last instruction. */
extern void (*volatile patterns_never)(void);
void p_never(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Who enters code that nothing is seen to call. What code.h and begin.c do with it is theirs. */
#ifndef SFU_HOST_CODE_ENTER_H
#define SFU_HOST_CODE_ENTER_H

#include "code.h"

/* Finds entries of code that nothing leads to, and begins ways there. Returns whether it has found some: the units are
 * to be run again. Else it gives those that nothing decides. */
bool code_find_entries(struct code *code, const struct code_how *how);

/* Gives the named entries that cannot be what they are named. */
void code_find_conflicts(struct code *code, const struct code_how *how);

#endif

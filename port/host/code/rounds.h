/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Units are compared, one after the other, until none says anything new of another one. */
#ifndef SFU_HOST_CODE_ROUNDS_H
#define SFU_HOST_CODE_ROUNDS_H

#include "trust_ways.h"

/* A unit that others keep changing has no rows of code after so many runs. */
enum { ROUNDS_MOST = 8 };

/* Runs units as long as there is one that must be. */
void rounds_run_all(struct code *code);

/* Who calls a unit that leaves other registers than was thought is run again. */
void rounds_call_changed(struct code *code);
/* CFI that says behind the prologue of T's unit that nobody has called it holds from the first instruction on. Returns
 * whether that changes a row. */
bool rounds_extend_outermost(struct trust *t);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The rows of one entry of CFI, each beside its instruction; and those of code without CFI. */
#ifndef SFU_HOST_CODE_TRUST_ROWS_H
#define SFU_HOST_CODE_TRUST_ROWS_H

#include "trust_ways.h"

/* Takes into CTX, a struct trust, what holds in front of FACT. A function of struct code_watch. */
void trust_compare(void *ctx, uint64_t pc, const struct code_fact *fact, const struct code_state *state);

/* What holds at the instruction of FACT, in front of which STATE does. HELD is room for a state. */
struct view trust_view_of(const struct code *code, const struct code_fact *fact, const struct code_state *state,
                          struct code_state *held);

/* Notes the SIZE bytes at PC as ones without a row. */
void trust_lose(struct trust *t, uint64_t pc, unsigned size, const char *why);
/* Behind all instructions: rows that count the address of a detour's call, and those of CFI that says nothing, are lost
 * where no instruction was read. */
void trust_lose_counted(struct trust *t);
void trust_lose_unsaid(struct trust *t);

/* The rows of CFI with those that were fixed in their places. */
struct rows trust_unite(struct trust *t);

#endif

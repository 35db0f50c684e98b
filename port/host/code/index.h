/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * How many entries a table of jumps has: as many as a comparison in front of the jump allows.
 *
 * That counts only if what was compared is the index: the same register, a copy, or one of which the index was made, by
 * taking its lower bits or by a shift. So each register has a bound of its own, and registers with the same value know
 * that of each other. Compilers without optimization compare a word in memory and read it again, or store the index and
 * compare it then; those that optimize read another word in between. So two places in memory are followed as registers
 * are. The upper half of a register of 64 bits is taken to be 0 where its lower half is an index, because compilers
 * index tables with it.
 */
#ifndef SFU_HOST_CODE_INDEX_H
#define SFU_HOST_CODE_INDEX_H

#include "code.h"

/* What OP leaves of what is known of indices. It is to be done yet: registers of STATE are those in front of it. */
void index_follow(const struct code_cpu *cpu, struct code_state *state, const struct code_op *op);
/* REG gets the value of FROM. */
void index_copy(struct code_state *state, unsigned reg, unsigned from);

/* Nothing is known any more: of REG, of places in memory, of any index. */
void index_drop(struct code_state *state, unsigned reg);
void index_drop_all(struct code_state *state, uint64_t regs); /* a bit each */
void index_drop_places(struct code_state *state);
void index_forget(struct code_state *state);

/* What was compared is not higher, or LESS. */
void index_take_bound(struct code_state *state, bool less);
/* How many entries of its table INDEX allows, which has been read from it; or 0. */
uint32_t index_bound(const struct code_index *index);

/* Where ways meet, bounds and the size of what registers have are left alone: what else is known of indices is of use
 * in one piece of code only, from a comparison on to the jump. It differs nearly everywhere, which would have to be
 * followed. */
void index_forget_twins(struct code_state *state);
/* Leaves of bounds and sizes what OTHER says, too. Returns whether that was less. */
bool index_join(struct code_state *state, const struct code_state *other);

#endif

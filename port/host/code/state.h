/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Reading and changing a struct code_state, for code.c, which follows the ways through a function. What everybody may
 * do with states stands in code.h. */
#ifndef SFU_HOST_CODE_STATE_H
#define SFU_HOST_CODE_STATE_H

#include "code.h"

#include <stddef.h>
#include <string.h>

/* A value that is not known; an address somewhere on SP's stack; a value on one of two ways; where a function returns
 * to. */
static const struct code_value state_unknown, state_near = {0, BASE_NEAR, false, 0, 0},
                                              state_one_way = {CODE_ONE_WAY, BASE_UNKNOWN, false, 0, 0},
                                              state_way_back = {0, BASE_RETURN, false, 0, 0};

/* Only the words that FROM has: a state is large. */
static inline void state_copy(struct code_state *to, const struct code_state *from)
{
    memcpy(to, from, offsetof(struct code_state, slot) + from->num * sizeof *from->slot);
}

static inline bool state_same_value(const struct code_value *a, const struct code_value *b)
{
    return a->base == b->base && a->k == b->k && a->is_signed == b->is_signed && a->width == b->width &&
           a->add == b->add;
}

/* Whether the CPU keeps the interrupted PC in CODE_PC. */
static inline bool state_has_pc(const struct code_cpu *cpu)
{
    return cpu->link && cpu->old_psw == 0;
}

/* K as a number in a register. */
static inline int64_t state_wrapped(const struct code_cpu *cpu, int64_t k)
{
    return cpu->word == 4 ? (int32_t)(uint32_t)k : k;
}

/* The word at BASE + K, or NULL. */
struct code_slot *state_find_slot(const struct code_state *state, uint8_t base, int64_t k);
/* SLOT, one of STATE, goes; another one may have its place then. */
void state_drop_slot(struct code_state *state, struct code_slot *slot);
/* What is known of the word at AT + OFFSET. */
struct code_value state_load(const struct code_state *state, const struct code_value *at, int64_t offset);
/* A word at an address becomes VALUE. One that is of no use later is forgotten, because a state has room for few. */
void state_store(const struct code_cpu *cpu, struct code_state *state, const struct code_value *at, int64_t offset,
                 const struct code_value *value);

/* Whether two SPs are on stacks, of which nothing is known then but what is at the same distance from SP. */
bool state_same_stack(const struct code_value *a, const struct code_value *b);
/* What a way of CODE begins with that KIND enters. What `syscall` has left in RCX and R11 is not what was there. */
void state_begin_way(const struct code *code, struct code_state *state, enum code_kind kind);
/* SP gets another base, of which nothing is known yet: it may be on another stack. */
void state_align(const struct code_cpu *cpu, struct code_state *state);
/* SP is rounded down, or moved by what is not known, on its stack. The frame of a function that FP is in the rounded
 * part of is found by that: SP is near it. */
void state_move_sp(const struct code_cpu *cpu, struct code_state *state);
/* Whether OP gives SP a value that does not count from what SP is. */
bool state_takes_sp(const struct code_cpu *cpu, const struct code_op *op);
/* Whether UNIT is known to take the same number of bytes, which is not 0, off the stack at each return. */
bool state_pops_arguments(const struct code_unit *unit);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Who has entered code, by trials of it: for those who look for code that nothing is seen to call. */
#ifndef SFU_HOST_CODE_KINDS_H
#define SFU_HOST_CODE_KINDS_H

#include "trial.h"

/* Whether an interrupt of KIND has entered the code at ADDR: each way back takes what the CPU has left. */
bool code_is_kind(struct code *code, uint64_t addr, enum code_kind kind);
/* RISC-V: whether the entry at ADDR begins with an exchange of SP and the scratch register. */
enum code_kind code_kind_of_trap(struct code *code, uint64_t addr);
/* The kind of interrupt for which alone the code at ADDR returns to what was interrupted; or CODE_KINDS. */
enum code_kind code_kind_of(struct code *code, uint64_t addr, const char **why);
/* Whether what was seen of the code at ADDR says that a call has not entered it. */
bool code_contradicts_call(const struct code_ends *ends);
/* Whether --entry and its like say who enters the code at ADDR. */
bool code_is_given(const struct code_how *how, uint64_t addr);
/* Whether UNIT lost its CFI because of its own instructions, which do not say who enters it. */
bool code_is_lost_by_itself(const struct code_unit *unit);
/* Ways begin at ADDR, which KIND enters. */
void code_enter(struct code *code, const struct code_how *how, uint64_t addr, enum code_kind kind, const char *why);

/* The registers that OP gives other values, a bit each, if it is no store. */
uint64_t code_written_by(const struct code_op *op);

#endif

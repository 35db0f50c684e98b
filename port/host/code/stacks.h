/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Switches to other stacks, for code.c, which follows the ways that lead through them. */
#ifndef SFU_HOST_CODE_STACKS_H
#define SFU_HOST_CODE_STACKS_H

#include "code.h"

/* SP, which has been BEFORE, may be on another stack behind an instruction of UNIT. */
void stack_switch(struct code *code, const struct code_unit *unit, struct code_state *state,
                  const struct code_value *before, bool left);
/* A way that leads through a switch ends with STATE: as it should, if GOOD. */
void stack_end(struct code *code, const struct code_state *state, bool good);
/* It ends in a return from an interrupt. */
void stack_resume(struct code *code, const struct code_state *state);

#endif

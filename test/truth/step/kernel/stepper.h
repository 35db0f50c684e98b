/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What each machine brings to a kernel that steps itself (its CPU's own .c file): how it traps after each instruction.
 * The exception entries are those of port/baremetal.
 */
#ifndef STEP_KERNEL_H
#define STEP_KERNEL_H

#include "kernel.h"
#include "../machine.h"

/* Why the machine has trapped. */
enum cause {
    STEP_DONE,  /* an instruction was carried out that was to be stepped */
    BREAKPOINT, /* begin.S: the registers are those behind it */
    OTHER
};

extern const char step_abi[];
extern const unsigned step_result; /* DWARF number of the register that a function's result is in */

/* Once, before the program is started: its exceptions come on its own stack if OWN, else on the port's. Returns the
 * stack of SIZE bytes that it is to run on. */
uint8_t *step_init(bool own, uint64_t *size);

/* Says why TRAP came, and moves its PC behind a breakpoint. */
enum cause step_cause(struct trap *trap);

/* Whether the machine traps again after the next instruction behind TRAP. */
void step_set(struct trap *trap, bool on);

/* The value of a register that the trap did not save and that nothing has changed since. Returns whether there is one.
 */
bool step_register(uint32_t reg, uint64_t *value);

/* begin.S: where the program starts, and, by __wrap_step_mark, what it calls between its phases. */
void step_begin(void);
extern const char step_end[];

#endif

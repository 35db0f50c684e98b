/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the files of scenarios share. entry.S includes this, too. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

/* entry.c, entry.S: what the registers of an interrupted function hold, small enough for each machine's immediate
 * operands. */
#define PROBE_FP   0x1230
#define PROBE_KEPT 0x4567

/* Nothing is there, on any of the machines. */
#if (defined(__riscv) && __riscv_xlen == 32) || defined(__arm__) || defined(__i386__)
#define NOWHERE 0x18000000
#define SMASHED 0x18181810 /* not there either */
#else
#define NOWHERE 0x0000300000000000
#define SMASHED 0x00005a5a5a5a5a50
#endif

/* sfu-gen makes the tables of a whole kernel, and a module is relocated in the kernel: there are no modules. */
#if defined(__arm__)
#define NO_MODULES
#endif

/* The function tracer needs a compiler's room for it, and on i386 an image that stays where it was linked. */
#if defined(__arm__) || defined(__i386__)
#define NO_TRACER
#endif

#ifndef __ASSEMBLER__

#include "kernel.h"

/* hooks.c: where scenarios get into the kernel. NULL: they do not. */
struct hooks {
    bool (*trap)(struct trap *trap); /* on each trap; returns whether it is done */
    void (*timer)(void);
    void (*fault)(void);   /* in the next fault, before it is reported */
    void (*crashed)(void); /* at the end of a panic */
};
extern struct hooks hooks;

/* ---- scenarios that have a file of their own ---- */

/* What is interrupted next prints its trace, and ends: tick_1. */
void await_interrupt(void);

void scenario_entry(void);
void scenario_return(void);
void scenario_return_illegal(void);

void scenario_call_null(void);
void scenario_call_wild(void);
void scenario_call_data(void);
void scenario_last(void);
void scenario_last_debug(void);
void scenario_stepped(void);
void scenario_jump_null(void);
void scenario_return_wild(void);
void scenario_middle(void);
void scenario_leaf(void);
void scenario_prologue(void);
void scenario_epilogue(void);
void scenario_leaf_irq(void);
void scenario_prologue_irq(void);
void scenario_epilogue_irq(void);
void scenario_sp_zero(void);
void scenario_sp_ones(void);
void scenario_sp_misaligned(void);
void scenario_sp_zero_irq(void);
void scenario_sp_ones_irq(void);
void scenario_sp_misaligned_irq(void);
void scenario_overflow_all(void);
void scenario_overflow_thread(void);

void scenario_traced(void);
void scenario_handler(void);

#endif /* __ASSEMBLER__ */

#endif

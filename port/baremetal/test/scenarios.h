/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Scenarios that have a file of their own. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

/* What is interrupted next prints its trace, and ends: tick_1. */
void await_interrupt(void);

void scenario_entry(void);
void scenario_return(void);
void scenario_return_illegal(void);

void scenario_call_null(void);
void scenario_call_wild(void);
void scenario_call_data(void);
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

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Units of code, for those who follow ways through them. What everybody may do with units stands in code.h. */
#ifndef SFU_HOST_CODE_UNITS_H
#define SFU_HOST_CODE_UNITS_H

#include "code.h"

/* The address that VALUE, a number, is. */
static inline uint64_t unit_address_of(const struct code_cpu *cpu, const struct code_value *value)
{
    return cpu->word == 4 ? (uint32_t)value->k : (uint64_t)value->k;
}

/* The text of the section that PC is in; none outside of code. */
struct code_text unit_text_at(const struct code *code, uint64_t pc);
/* Reads the instruction at PC, in whatever unit that is. */
bool unit_fact_at(const struct code *code, uint64_t pc, struct code_fact *fact);
/* Names of pieces of functions, which are jumped to. */
bool unit_names_piece(const char *name);
/* Whether the first thing that the code at PC does is to take the return address off the stack (x86_64). */
bool unit_takes_address(const struct code *code, uint64_t pc);
/* x86: whether the code at PC does nothing but go on where a register says: `jmp *%rax`, or a detour that does the
 * same (`__x86_indirect_thunk_rax`; in the middle of a function: -mindirect-branch=thunk-inline). */
bool unit_is_goto(const struct code *code, uint64_t pc);
/* The unit that FACT calls, or NULL if that is not known. One in whose middle there is only such a way is not
 * called. */
struct code_unit *unit_called_by(const struct code *code, const struct code_fact *fact);
/* Follows STATE from PC on to the next return. Returns false if none comes soon, or a way leads elsewhere. */
bool unit_follow_to_return(const struct code *code, struct code_state *state, uint64_t pc);
/* The edge at AT goes, unless a way begins there: then nothing else is left of it. Returns where the next one is. */
struct code_edge **unit_forget_edge(struct code *code, struct code_edge **at);
/* What FACT, which is done, calls by a register, as code does where others may be far away (-mcmodel=large,
 * -mlong-calls); or 0. */
uint64_t unit_callee_of(const struct code *code, const struct code_state *state, const struct code_fact *fact);
/* x86: whether EDGE, a jump to the start of UNIT behind a push, has pushed where UNIT is to return to: that is a
 * function with CFI, which others call. */
bool unit_is_pushed_to(const struct code_cpu *cpu, const struct code_unit *unit, const struct code_edge *edge);
/* Whether FACT, a jump of code without CFI to another unit, is a call, because STATE, in front of it, has the address
 * of NEXT, behind it, where a callee finds its return address (x86: `push $1f; jmp f; 1:`; RISC-V: `la ra, 1f; j f;
 * 1:`). Leaves in both what holds of a call: on x86 the callee takes off the stack what was pushed. A call of where the
 * function returns to becomes a jump. */
bool unit_make_call(const struct code *code, struct code_state *state, struct code_fact *fact, uint64_t next);
/* Where what FACT goes to returns, if that is another unit: STATE, behind FACT, has left its start as a return address
 * (`la ra, ret_from_exception; j do_irq`); or 0. On x86 what is pushed may be an argument. */
uint64_t unit_returns_to(const struct code *code, const struct code_state *state, const struct code_fact *fact);
/* x86: whether nothing but LEAST or more int3 comes from PC to a multiple of 16 that is not in the middle of a symbol's
 * code: linkers and Go fill up so what lies between functions. */
bool unit_is_filled(const struct code *code, uint64_t pc, unsigned least);
/* The same behind a call in front of NEXT: with a nop before, as Go has it, of which one byte may be left. */
bool unit_ends_with_call(const struct code *code, uint64_t next);
void unit_drop_rows(struct cfi_fde *fde);

#endif

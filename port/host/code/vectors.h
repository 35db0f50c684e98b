/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Where the CPU enters code, by what its registers and the image itself say. */
#ifndef SFU_HOST_CODE_VECTORS_H
#define SFU_HOST_CODE_VECTORS_H

#include "code.h"

/* Takes notice if the instruction FACT, at PC, sets a register of the CPU that says where it enters. */
void code_note_register(struct code *code, uint64_t pc, const struct code_fact *fact,
                        const struct code_state *state);

/* s390x: the same of the new PSWs that the image itself has where the CPU reads them. */
void code_note_low_core(struct code *code);

/* Ways begin at the slots of aarch64's vectors at ADDR that have instructions. */
void code_enter_slots(struct code *code, const struct code_how *how, uint64_t addr, const char *why);
/* Whether a slot at ADDR returns from an interrupt. */
bool code_has_slots(struct code *code, uint64_t addr);
/* Ways begin where V says. */
void code_enter_vector(struct code *code, const struct code_how *how, const struct code_vector *v);
/* Marks in FROM the units that registers of the CPU say are entered by interrupts. */
void code_mark_vectors(const struct code *code, bool *from);
/* Notes, once calls are known, where exceptions enter: x86: functions whose addresses are in tables that code has which
 * fills gates; ARM: what the vectors lead to. */
void code_find_gates(struct code *code);
/* Whether the function at ADDR is such a one, or x86 code puts ADDR into a gate otherwise. */
bool code_is_gate(const struct code *code, uint64_t addr);
/* What such a function is, if nothing else shows who enters it. */
const char *code_why_gate(const struct code *code);
/* The kind of the slot at ADDR of vectors that VBAR is set to; or CODE_KINDS. */
enum code_kind code_kind_of_slot(const struct code *code, uint64_t addr);
/* The same where far jumps of 32-bit code lead to code of x86_64 that no way has reached. Returns whether there are
 * any. */
bool code_enter_64_bits(struct code *code, const struct code_how *how);

#endif

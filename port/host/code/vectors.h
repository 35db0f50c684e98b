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
#define CODE_GATE                                                                                                  \
    "its address is put into a gate, and its code does not show whether the CPU has pushed an error code"
/* x86: notes, once calls are known, the functions whose addresses are in tables that code has which fills gates. */
void code_find_gates(struct code *code);
/* x86: whether code puts ADDR into a gate, by which an exception or an interrupt enters. */
bool code_is_gate(const struct code *code, uint64_t addr);
/* The kind of the slot at ADDR of vectors that VBAR is set to; or CODE_KINDS. */
enum code_kind code_kind_of_slot(const struct code *code, uint64_t addr);
/* The same where far jumps of 32-bit code lead to code of x86_64 that no way has reached. Returns whether there are
 * any. */
bool code_enter_64_bits(struct code *code, const struct code_how *how);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Functions that are called by words of the GOT: those of other images never return if their names say so. */
#ifndef SFU_HOST_CODE_IMPORTS_H
#define SFU_HOST_CODE_IMPORTS_H

#include "code.h"

/* What the code at ADDR goes on in, if that is in a PLT, or NULL. */
const struct code_import *import_by_plt(struct code *code, uint64_t addr);

/* What FACT calls, or jumps to, by the word where the dynamic linker puts its address, or by a register that has got
 * that (-fno-plt); or NULL. STATE is what holds behind FACT, but for what a callee does, or NULL. */
const struct code_import *import_by_word(struct code *code, const struct code_fact *fact,
                                         const struct code_state *state);

/* Changes STATE as FACT does (code_step). A register into which that loads the address of a function from a word of the
 * GOT has it then: BASE_WORD. */
void import_step(struct code *code, struct code_state *state, const struct code_fact *fact);

#endif

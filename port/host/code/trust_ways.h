/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* One entry of CFI beside its code, and what it says to who follows the ways of that: the functions of struct
 * code_watch whose CTX is a struct trust. */
#ifndef SFU_HOST_CODE_TRUST_WAYS_H
#define SFU_HOST_CODE_TRUST_WAYS_H

#include "verdict.h"

/* What is being compared. */
struct trust {
    const struct code *code;
    struct code *all; /* the same */
    struct code_unit *unit;
    const struct code_cpu *cpu;
    struct rows cfi, fixed;
    size_t below; /* how many rows of CFI begin up to the PC that was asked for last: the next one is near */
    const struct cfi_row *row; /* of the last instruction, if its CFA was confirmed; or NULL */
    uint64_t next;             /* where the last instruction ends */
    uint64_t callee;           /* what the last instruction calls, or 0 */
    bool doubtful;             /* ways are not what they seem */
    bool called_by_jumps;      /* which leave a return address in its register, from frames of several sizes */
    bool alone;                /* CFI does not count */
    struct code_lost *lost;    /* of an interrupt's entry, in any order */
    size_t num_lost;
    bool *read; /* by offset: the code says what holds at the instruction; or nobody comes there */
    struct stored stored;
    /* A row that does not follow SP, which the code has moved by a number that is not known. */
    const struct cfi_row *unmoved;
    bool moves;      /* an instruction in front, and not who comes to the unit, may have moved SP so */
    uint64_t detour; /* where the last detour begins that was met, as of enum code_detour, or 0 */
    const struct cfi_row *counted;  /* the first row that begins at one; or NULL */
    const struct cfi_row *believed; /* of the code that is followed, to which no way leads: of BEGIN; or NULL */
    uint64_t begin;
    bool contradicts;           /* that code does another thing than the CFI of it says */
    bool differs;               /* any such code does, also where the row is mended later */
    bool steps;                 /* an instruction moves SP */
    struct rows followed;       /* the CFI's, of its instructions: lost ones are wrong */
    struct rows unsaid;         /* where CFI that says nothing is all that is known, as rows that are lost */
    struct rows refuted;        /* all that are wrong in such code */
    struct epilogues epilogues; /* RISC-V: of the CFI's row in hand */
    struct code_report own;     /* of this entry */
};

/* The row of CFI for PC, or NULL. */
const struct cfi_row *trust_row_at(struct trust *t, uint64_t pc);
/* Whether a call of CALLEE comes back to NEXT although ROW begins there, which says something else. */
bool trust_comes_back_to(const struct trust *t, uint64_t callee, uint64_t next, const struct cfi_row *row);
/* Why a row is lost that the code does not bear out. */
extern const char trust_of_itself[];

bool trust_is_boundary(void *ctx, const struct code_fact *fact, uint64_t pc, uint64_t next);
int64_t trust_pops(void *ctx, uint64_t next, const struct code_fact *fact, const struct code_state *state);
bool trust_admit(void *ctx, uint64_t pc, struct code_state *state);
bool trust_agrees(void *ctx, uint64_t pc, const struct code_state *state);
bool trust_restores(void *ctx, uint64_t next, unsigned reg);
uint64_t trust_believe(void *ctx, uint64_t pc, struct code_state *state);
bool trust_comes_apart(void *ctx, uint64_t next, const struct code_state *state);
void trust_close_apart(void *ctx, bool is_data);

#endif

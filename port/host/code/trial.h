/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Code that is followed on trial, as if it had been called or interrupted: how its ways end. */
#ifndef SFU_HOST_CODE_TRIAL_H
#define SFU_HOST_CODE_TRIAL_H

#include "code.h"

/* How the ways of code end that is followed as if it had been entered in one way. */
struct code_ends {
    bool returns;     /* to its caller, whose SP and FP are as they were */
    bool returns_ill; /* otherwise */
    bool resumes;     /* what was interrupted */
    bool resumes_ill; /* with SP or the PC in another place than the CPU has left them */
    bool takes_up;    /* ARM: RESUMES, of one that was called: as no compiler's function goes back to a caller */
    bool hands_back;  /* RESUMES, of one that was called: where the caller goes on, with SP as that knows it */
    bool exits;       /* x86_64: by sysretq, to a program that is not seen to have come here */
    bool tail_calls;  /* a function goes on in its place */
    bool left_open;   /* a way may lead back that is not followed: by that function, or behind a trap */
    bool takes;       /* it takes more off the stack than it has put there */
    bool loses;       /* SP becomes another one, and nothing knows the old one any more */
    bool misaligned;  /* x86_64: it calls with an SP that no compiler leaves for what is called */
    bool aligned;     /* x86_64: it calls with one as the ABI says */
    bool moves;       /* SP, by its own instructions: not those of a function that goes on in its place */
    bool saves;       /* by these it stores what a register has at its entry in which no caller leaves anything */
    bool hands_on;    /* it calls what a register has that a caller keeps */
    /* x86: it calls with the address of where the return address of a call would be or, x86_64, of a number that its
     * first instruction on the stack has pushed: no compiler does. */
    bool hands_frame;
    /* It does what compilers do at the start of interrupt functions alone: x86, cld, but not for an instruction of
     * strings; i386, pusha, too; ARM, SP is rounded down to 8, or srs. */
    bool begins_mode;
    bool forgets; /* a call overwrites the return address, of which no copy is left */
    bool goes_on; /* it jumps to where a symbol is, in the middle of its own frame */
    bool calls;
    bool unknown; /* a way leads where nobody knows */
    /* x86_64: the first functions that it calls with an SP that is not aligned. */
    uint64_t unaligned[4];
    unsigned num_unaligned;
};

/* Follows the code at ADDR as one that KIND enters. Notes in units that they are jumped to. */
void code_try(struct code *code, uint64_t addr, enum code_kind kind, struct code_ends *ends);

/* x86: the same, without what stands behind a call that never returns. That is not executed, and shows what the CPU has
 * pushed only if a number was pushed first, in place of an error code: else whoever wrote it may not have thought of
 * one. */
void code_try_seen(struct code *code, uint64_t addr, enum code_kind kind, struct code_ends *ends);

/* Whether what is called at ADDR never comes back to its caller: each of its ways is known, and none leads there. What
 * is at 0, a call of nobody knows what, may. */
bool code_never_returns(struct code *code, uint64_t addr);
/* The same of what FACT calls by a word in memory, or by a register that has got that. STATE is what holds in front of
 * it, or behind it, but for the callee; or NULL. */
bool code_never_returns_by_word(struct code *code, const struct code_fact *fact, const struct code_state *state);
/* Whether it does by a way that was seen. */
bool code_returns(struct code *code, uint64_t addr);

/* Whether the code at ADDR, which a symbol names, goes on with STATE, which a call in front of it leaves: each way from
 * there on ends as that of the function or of the interrupt does, with the frame of STATE taken off the stack. Another
 * code has another frame. */
bool code_is_piece(struct code *code, uint64_t addr, const struct code_state *state);

/* Follows the code at ADDR with STATE, as a piece of the function or of the interrupt that is in that. Returns false if
 * a way ends otherwise, or nobody knows where one ends. */
bool code_try_piece(struct code *code, uint64_t addr, const struct code_state *state, struct code_ends *ends);

/* Whether the code at ADDR goes on with STATE: each way is known, and ends as a function's does. */
bool code_ends_well(struct code *code, uint64_t addr, const struct code_state *state);

/* Whether the CFA of ROW counts from SP, or from FP, which is saved. */
bool code_counts_from(const struct code_cpu *cpu, const struct cfi_row *row);

/* What ROW says in STATE: where SP or FP, what FP was, and RA are, counted from the CFA. Returns false if it counts
 * from another register, or from more than the frame. */
bool code_state_of(const struct code_cpu *cpu, const struct cfi_row *row, struct code_state *state);

/* What becomes of the frame that ROW describes at ADDR, on all ways from there on: they end in returns of that
 * frame, or one does otherwise, or that is not known. */
enum code_bearing { CODE_BEARS_OUT, CODE_CONTRADICTS, CODE_UNDECIDED };
enum code_bearing code_bears_out(struct code *code, uint64_t addr, const struct cfi_row *row);

#endif

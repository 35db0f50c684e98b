/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_apply, for every row, frame and target, with callbacks that do anything: no bound. */
#include "prove.h"

static unsigned reads;

static int read_counted(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    reads++;
    PROVE(len == 8, "the stack is read by words");
    return read_anything(ctx, addr, buffer, len);
}

/* NEXT follows FRAME. */
static void prove_progress(const struct sfu_target *t, const struct sfu_frame *frame, const struct sfu_frame *next)
{
    bool leaf = frame->pc_kind == SFU_PC_EXACT && next->pc_kind == SFU_PC_RETURN;

    PROVE(next->sp > frame->sp || (leaf && next->sp == frame->sp) || next->switched, "SP grows within a stack");
    PROVE(t->stack == NULL || next->switched == (any_stack(NULL, next->sp) != any_stack(NULL, frame->sp)),
          "stacks are told apart by the callback");
    PROVE(next->switches == frame->switches + next->switched, "switches are counted");
    PROVE(!next->switched || next->switches <= (t->max_switches != 0 ? t->max_switches : SFU_MAX_SWITCHES),
          "switches are limited");
    PROVE(next->depth == frame->depth + 1 && next->depth < (t->max_frames != 0 ? t->max_frames : SFU_MAX_FRAMES),
          "frames are counted and limited");
    PROVE(next->reliable == frame->reliable && !next->guessed, "what the table says is not a guess");
}

void prove_apply(void)
{
    struct sfu_target target;
    struct sfu_row row;
    struct sfu_frame frame, before;
    int code;

    border = nondet_u64();
    target.read = read_counted;
    target.reg = nondet_bool() ? any_register : NULL;
    target.stack = nondet_bool() ? any_stack : NULL;
    target.trap = NULL;
    row.signal = nondet_bool();
    row.signed_ra = nondet_bool();
    frame.has_ra = nondet_bool();
    frame.switched = nondet_bool();
    frame.guessed = nondet_bool();
    frame.reliable = nondet_bool();
    before = frame;
    code = sfu_apply(&target, &row, &frame);
    PROVE(reads <= 3, "at most three words are read");
    PROVE((code == SFU_END) == (row.kind == SFU_ROW_OUTERMOST), "the end is where the table says so");
    PROVE(code == SFU_OK || code == SFU_END || (code <= SFU_E_STACK && code >= SFU_E_SIGNAL),
          "only documented codes");
    if (code != SFU_OK) {
        PROVE(same_frame(&frame, &before), "outputs are unchanged on error");
        return;
    }
    prove_progress(&target, &before, &frame);
    PROVE(frame.pc_kind == (row.signal ? SFU_PC_EXACT : SFU_PC_RETURN), "the kind of the PC");
    PROVE(frame.trap == (row.signal ? before.sp : 0) && !frame.has_ra, "where the interrupted registers are");
}

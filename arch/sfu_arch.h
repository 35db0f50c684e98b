/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What only this CPU can do: capture its own registers. One line gives the first frame of a trace of "here":
 *
 *     struct sfu_regs regs;
 *     struct sfu_frame top = sfu_here(&regs);
 *
 * The code is inlined, so the frame is that of the function that says so, at exactly that instruction, in every
 * build: any optimisation, leaf functions (nothing is pushed: the x86_64 red zone is left alone), signed return
 * addresses, kernels without vector or floating-point registers. It holds while that function has not returned.
 * arch/sfu_asm.h is the same for assembly files: the macros that give start-up code and exception entries tables.
 */
#ifndef SFU_ARCH_H
#define SFU_ARCH_H

#include "sfu.h"

#if defined(__x86_64__) && !defined(__ILP32__)
#include "x86_64/sfu_capture.h"
#elif defined(__aarch64__) && !defined(__ILP32__)
#include "aarch64/sfu_capture.h"
#elif defined(__s390x__)
#include "s390x/sfu_capture.h"
#else
#error "sfu has no register capture for this CPU: fill in struct sfu_frame from a trap frame instead"
#endif

/* Each of these headers defines:
 *   SFU_NUM_REGS                    how many registers are captured, by DWARF number from 0
 *   SFU_REG_SP, SFU_REG_FP          DWARF numbers
 *   SFU_REG_RA                      the link register, on CPUs that have one
 *   struct sfu_regs                 r[DWARF number]; r[SFU_NUM_REGS] is the PC
 *   sfu_capture(struct sfu_regs *)  fills it in
 * An exception entry that saves its registers in this order at its SP needs no other register callback than
 * sfu_regs_saved. */

/* The frame that REGS describe: topmost or interrupted, so its PC is exact. */
static inline struct sfu_frame sfu_regs_frame(const struct sfu_regs *regs)
{
    struct sfu_frame frame = {0, 0, 0, 0, 0, 0, 0, SFU_PC_EXACT, 0, false, false, false, true};

    frame.pc = regs->r[SFU_NUM_REGS];
    frame.sp = regs->r[SFU_REG_SP];
    frame.fp = regs->r[SFU_REG_FP];
#ifdef SFU_REG_RA
    frame.ra = regs->r[SFU_REG_RA];
    frame.has_ra = true;
#endif
    return frame;
}

/* Captures the registers of the function that this is written in, and returns its frame. */
static inline __attribute__((always_inline)) struct sfu_frame sfu_here(struct sfu_regs *regs)
{
    sfu_capture(regs);
    return sfu_regs_frame(regs);
}

/* The body of a sfu_reg_fn for the first frame of a walk: register REG of REGS. Returns 0, or -1 if it was not
 * captured. */
static inline int sfu_regs_get(const struct sfu_regs *regs, uint32_t reg, uint64_t *value)
{
    if (reg >= SFU_NUM_REGS)
        return -1;
    *value = regs->r[reg];
    return 0;
}

/* The body of a sfu_reg_fn for an interrupted frame whose exception entry saved a struct sfu_regs at its SP
 * (frame->trap): reads register REG from there through READ. Returns 0, or anything else. */
static inline int sfu_regs_saved(sfu_read_fn read, void *ctx, const struct sfu_frame *frame, uint32_t reg,
                                 uint64_t *value)
{
    if (reg >= SFU_NUM_REGS || frame->trap == 0 || frame->trap > UINT64_MAX - sizeof(struct sfu_regs))
        return -1;
    return read(ctx, frame->trap + 8 * (uint64_t)reg, value, 8);
}

#endif

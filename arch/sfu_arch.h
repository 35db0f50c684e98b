/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What only this CPU can do: capture its own registers. A line gives what a walk of "here" begins with:
 *
 *     struct sfu_registers here = sfu_registers_here();
 *
 * or two, where a register callback is to know all registers of the first frame:
 *
 *     struct sfu_cpu cpu;
 *     struct sfu_registers here = sfu_here(&cpu);
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
#error "sfu has no register capture for this CPU: fill in struct sfu_registers from a trap frame instead"
#endif

/* Each of these headers defines:
 *   SFU_NUM_REGS                   how many registers are captured, by DWARF number from 0
 *   SFU_REG_SP, SFU_REG_FP         DWARF numbers
 *   SFU_REG_RA                     the link register, on CPUs that have one
 *   struct sfu_cpu                 all of them: r[DWARF number]; r[SFU_NUM_REGS] is the PC
 *   sfu_capture(struct sfu_cpu *)  fills it in
 * An exception entry that saves its registers in this order at its SP needs no other register callback than
 * sfu_cpu_saved. */

/* What a walk begins with where the CPU's registers are those of CPU. The frame is topmost or interrupted, so its PC
 * is exact. */
static inline struct sfu_registers sfu_cpu_registers(const struct sfu_cpu *cpu)
{
    struct sfu_registers regs;

    regs.pc = cpu->r[SFU_NUM_REGS];
    regs.sp = cpu->r[SFU_REG_SP];
    regs.fp = cpu->r[SFU_REG_FP];
#ifdef SFU_REG_RA
    regs.ra = cpu->r[SFU_REG_RA];
    regs.has_ra = true;
#else
    regs.ra = 0;
    regs.has_ra = false;
#endif
    regs.pc_kind = SFU_PC_EXACT;
    return regs;
}

/* Captures the registers of the function that this is written in, and returns what a walk from there begins with. */
static inline __attribute__((__always_inline__)) struct sfu_registers sfu_here(struct sfu_cpu *cpu)
{
    sfu_capture(cpu);
    return sfu_cpu_registers(cpu);
}

/* The same, for those who need nothing but what a walk begins with. */
static inline __attribute__((__always_inline__)) struct sfu_registers sfu_registers_here(void)
{
    struct sfu_cpu cpu;

    return sfu_here(&cpu);
}

/* The body of a sfu_reg_fn for the first frame of a walk: register REG of CPU. Returns 0, or -1 if it was not
 * captured. */
static inline int sfu_cpu_get(const struct sfu_cpu *cpu, uint32_t reg, uint64_t *value)
{
    if (reg >= SFU_NUM_REGS)
        return -1;
    *value = cpu->r[reg];
    return 0;
}

/* The body of a sfu_reg_fn for an interrupted frame whose exception entry saved a struct sfu_cpu at its SP
 * (frame->trap): register REG from there, out of TARGET's window or through its read callback. Returns 0, or anything
 * else. */
static inline int sfu_cpu_saved(const struct sfu_target *target, const struct sfu_frame *frame, uint32_t reg,
                                uint64_t *value)
{
    uint64_t addr;

    if (reg >= SFU_NUM_REGS || frame->trap == 0 || frame->trap > UINT64_MAX - sizeof(struct sfu_cpu))
        return -1;
    addr = frame->trap + 8 * (uint64_t)reg;
    if (addr >= target->window_low && addr + 8 <= target->window_high) {
        __builtin_memcpy(value, (const uint8_t *)target->window + (addr - target->window_low), 8);
        return 0;
    }
    return target->read != NULL ? target->read(target->ctx, addr, value, 8) : -1;
}

/* A sfu_reg_fn that is sfu_cpu_saved: target.reg = sfu_cpu_reg, and target.ctx = &target. Without it a trace over an
 * interrupt ends where a leaf function of aarch64 or s390x was interrupted: its RA is in a register. */
static inline int sfu_cpu_reg(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value)
{
    return sfu_cpu_saved((const struct sfu_target *)ctx, frame, reg, value);
}

#endif

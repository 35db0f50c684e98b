/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Captures this CPU's registers. One line gives what a walk from here begins with:
 *
 *     struct sfu_registers here = sfu_registers_here();
 *
 * Two lines also keep all registers, for a register callback:
 *
 *     struct sfu_cpu cpu;
 *     struct sfu_registers here = sfu_here(&cpu);
 *
 * The code is inlined. So the topmost frame is that of the function with this line, at this instruction. That is so in
 * every build: at any optimisation, in leaf functions (nothing is pushed: the x86_64 red zone is left alone), with
 * signed return addresses, in kernels without vector or floating-point registers. It holds until that function returns.
 * arch/sfu_asm.h has the macros for assembly files: they give start-up code and exception entries tables.
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
#elif defined(__riscv) && (__riscv_xlen == 64 || __riscv_xlen == 32)
#include "riscv/sfu_capture.h"
#elif defined(__arm__) && !defined(__ARM_BIG_ENDIAN)
#include "arm/sfu_capture.h"
#elif defined(__i386__)
#include "i386/sfu_capture.h"
#else
#error "sfu has no register capture for this CPU: fill in struct sfu_registers from a trap frame instead"
#endif

#include "sfu_mask.h"

#include "sfu_claim.h"

/* Each of these headers defines:
 *   SFU_NUM_REGS                   how many registers are captured, by DWARF number from 0
 *   SFU_REG_SP, SFU_REG_FP         DWARF numbers
 *   SFU_REG_RA                     the link register, on CPUs that have one
 *   SFU_RA_MODE                    a bit of return addresses that says what code is there, and is not in the PC; or 0
 *   struct sfu_cpu                 all of them: r[DWARF number]; r[SFU_NUM_REGS] is the PC
 *   sfu_capture(struct sfu_cpu *)  fills it in
 * An exception entry that saves its registers in this order at its SP needs no other register callback than
 * sfu_cpu_saved. */

/* What a walk begins with if the registers are those of CPU. The PC is exact. */
static inline struct sfu_registers sfu_cpu_registers(const struct sfu_cpu *cpu)
{
    struct sfu_registers regs;

    /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): it does not see what sfu_capture's assembly writes */
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

/* Captures the registers of the function that this stands in, and returns what a walk from there begins with. */
static inline __attribute__((__always_inline__)) struct sfu_registers sfu_here(struct sfu_cpu *cpu)
{
    sfu_capture(cpu);
    return sfu_cpu_registers(cpu);
}

/* The same, if nothing needs the other registers. */
static inline __attribute__((__always_inline__)) struct sfu_registers sfu_registers_here(void)
{
    struct sfu_cpu cpu;

    return sfu_here(&cpu);
}

/* The body of a sfu_reg_fn for the topmost frame: register REG of CPU. Returns 0, or -1 if it was not captured. */
static inline int sfu_cpu_get(const struct sfu_cpu *cpu, uint32_t reg, sfu_addr *value)
{
    if (reg >= SFU_NUM_REGS)
        return -1;
    *value = cpu->r[reg];
    return 0;
}

/* The body of a sfu_reg_fn for an interrupted frame, if its exception entry has saved a struct sfu_cpu at its SP
 * (frame->saved). Reads register REG there, on TARGET's stacks. Returns 0, or anything else if it cannot. */
static inline int sfu_cpu_saved(const struct sfu_target *target, const struct sfu_frame *frame, uint32_t reg,
                                sfu_addr *value)
{
    if (reg >= SFU_NUM_REGS || !frame->interrupted || frame->saved > SFU_ADDR_MAX - sizeof(struct sfu_cpu))
        return -1;
    return sfu_read_word(target, frame->saved + reg * (sizeof(struct sfu_cpu) / (SFU_NUM_REGS + 1)),
                         __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, value);
}

/* sfu_cpu_saved as a sfu_reg_fn: target.reg = sfu_cpu_reg, and target.ctx = &target. Without it a trace ends at an
 * interrupted leaf function of all CPUs but x86: its RA is in a register. */
static inline int sfu_cpu_reg(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
#ifdef __cplusplus
    const struct sfu_target *target = static_cast<const struct sfu_target *>(ctx);
#else
    const struct sfu_target *target = ctx;
#endif

    return sfu_cpu_saved(target, frame, reg, value);
}

#endif

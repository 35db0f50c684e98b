/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What a Cortex-M pushes when it enters an exception, read on the host: for a dump, a stopped board, or its memory.
 * References are to the Arm Architecture Reference Manuals, DDI 0403 (ARMv7-M), DDI 0419 (ARMv6-M) and DDI 0553
 * (ARMv8-M): EXC_RETURN; the registers of the System Control Block.
 */
#include "port/cortexm/sfu_cortexm.h"
#include "trace.h"

#define EXC_RETURN 0xffffff00u /* and above */

enum {
    IN_SECURE = 1 << 0, /* ES: the handler is the secure state's; without TrustZone 1 */
    ON_PROCESS_STACK = 1 << 2,
    FROM_THREAD = 1 << 3,
    FROM_SECURE = 1 << 6, /* S: so is what it has interrupted; without TrustZone 1 */
    WORD = 4,
    R12_AT = 4 * WORD,
    XPSR_AT = 7 * WORD,
    EXCEPTION = 0x1ff /* in xPSR and ICSR: its number */
};

/* Where the CPU's registers are, behind 0xe0000000, and what their bits say. A CPU without fault registers has 0 in
 * CFSR. */
enum {
    CPUID = 0xed00, /* bits 16 to 19: 12 for ARMv6-M and the baseline of ARMv8-M, which have no fault registers */
    ICSR = 0xed04,  /* the exception whose handler runs */
    CFSR = 0xed28,
    MPU_CTRL = 0xed94, /* bit 0: it is on */
    SFSR = 0xede4,     /* ARMv8-M, the secure state; elsewhere 0 */
    HARD_FAULT = 3,
    SECURE_FAULT = 7,
    /* MUNSTKERR, MSTKERR; UNSTKERR, STKERR; INVPC, STKOF */
    NOT_AS_PUSHED = 1 << 3 | 1 << 4 | 1 << 11 | 1 << 12 | 1 << 18 | 1 << 20,
    SECURE_NOT_POPPED = 1 << 1 | 1 << 2 /* INVIS, INVER */
};

bool cortexm_is_return(uint8_t abi, uint64_t pc)
{
    return abi_is_arm(abi) && pc >= EXC_RETURN && pc <= UINT32_MAX;
}

/* Whether the handler of EXC_RETURN and what it has interrupted have the same stack pointers. */
static bool is_same_state(uint64_t exc_return)
{
    return ((exc_return & IN_SECURE) != 0) == ((exc_return & FROM_SECURE) != 0);
}

static bool read_control(const struct trace_space *space, uint32_t low_half, uint64_t *value)
{
    return space_word(space, UINT32_C(0xe0000000) | low_half, value);
}

/* Whether a register has a bit of BITS, or is not known. */
static bool may_have(const struct trace_space *space, uint32_t low_half, uint32_t bits)
{
    uint64_t value;

    return !read_control(space, low_half, &value) || (value & bits) != 0;
}

/* Whether what the handler of a fault has interrupted may not be what stands on the stack. The CPU says that it could
 * not push it, or that an exception could not return. Or it says nothing of either, and an MPU may have kept it from
 * pushing. Or the memory does not have its registers. */
static bool may_be_lost(const struct trace_space *space)
{
    uint64_t cpu, exception;

    if (!read_control(space, CPUID, &cpu) || !read_control(space, ICSR, &exception))
        return space->halted;
    exception &= EXCEPTION;
    if (exception < HARD_FAULT || exception > SECURE_FAULT)
        return false;
    if ((cpu >> 16 & 15) == 12)
        return may_have(space, MPU_CTRL, 1);
    return may_have(space, CFSR, NOT_AS_PUSHED) || may_have(space, SFSR, SECURE_NOT_POPPED);
}

/* Whether the exception whose number was pushed at SAVED fits the mode that EXC_RETURN names. */
static bool fits_mode(const struct trace_space *space, uint32_t exc_return, uint64_t saved)
{
    uint64_t xpsr;

    return space_word(space, saved + XPSR_AT, &xpsr) &&
           ((xpsr & EXCEPTION) == 0) == ((exc_return & FROM_THREAD) != 0);
}

/* A dump begins at EXC_RETURN itself where the CPU has not pushed what was interrupted, or not all of it: what looks
 * like that is a guess. Of a stopped board the first exception on the way is the one whose handler runs. */
int cortexm_trap(struct trace_space *space, const struct sfu_frame *frame, struct sfu_interrupted *interrupted)
{
    const bool begins = frame->depth == 0;
    const uint32_t exc_return = begins ? (uint32_t)frame->regs.pc : (uint32_t)space->last_ra;
    uint64_t at = frame->regs.sp;
    int code;

    if (!is_same_state(exc_return))
        return SFU_E_TRAP;
    if ((exc_return & ON_PROCESS_STACK) != 0) {
        space->lacks_psp = !space->regs.has_psp;
        at = space->regs.psp;
    }
    if (space->lacks_psp)
        return SFU_E_TRAP;
    code = sfu_cortexm_unstack(space->target, exc_return, (uint32_t)at, (uint32_t)frame->regs.fp, interrupted);
    if (code == SFU_OK && (begins || !fits_mode(space, exc_return, interrupted->saved) ||
                           (!space->in_exception && may_be_lost(space))))
        interrupted->guess = SFU_GUESS_HOOK;
    space->in_exception = true;
    return code;
}

bool cortexm_saved(const struct trace_space *space, uint64_t frame, unsigned reg, uint64_t *value)
{
    if (reg >= 4 && reg != 12)
        return false;
    return space_word(space, frame + (reg == 12 ? (unsigned)R12_AT : reg * WORD), value);
}

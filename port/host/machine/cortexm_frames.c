/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What a Cortex-M pushes when it enters an exception, read on the host: for a dump, a stopped board, or its memory.
 * References are to the Arm Architecture Reference Manuals, DDI 0403 (ARMv7-M), DDI 0419 (ARMv6-M) and DDI 0553
 * (ARMv8-M): EXC_RETURN; the registers of the System Control Block.
 */
#include "port/cortexm/sfu_cortexm.h"
#include "space.h"

#define EXC_RETURN 0xffffff00u /* and above */
#define RESET_LR   0xffffffffu /* LR when a CPU begins; no EXC_RETURN has bit 1 */

enum {
    IN_SECURE = 1 << 0, /* ES: the handler is the secure state's; without TrustZone 1 */
    ON_PROCESS_STACK = 1 << 2,
    FROM_THREAD = 1 << 3,
    FROM_SECURE = 1 << 6, /* S: so is what it has interrupted; without TrustZone 1 */
    WORD = 4,
    R12_AT = 4 * WORD,
    XPSR_AT = 7 * WORD,
    THUMB = 1 << 24,  /* in xPSR */
    EXCEPTION = 0x1ff /* in xPSR and ICSR: its number */
};

/* Where the CPU's registers are, behind 0xe0000000, and what their bits say. A CPU without fault registers has 0 in
 * CFSR. */
enum {
    CPUID = 0xed00, /* bits 16 to 19: 12 for ARMv6-M and the baseline of ARMv8-M, which have no fault registers */
    ICSR = 0xed04,  /* the exception whose handler runs; from bit 12 up the first one of those that wait */
    SHCSR = 0xed24, /* faults whose handlers are at work, or wait */
    CFSR = 0xed28,
    MPU_CTRL = 0xed94, /* bit 0: it is on */
    SFSR = 0xede4,     /* ARMv8-M, the secure state; elsewhere 0 */
    NMI = 2,
    HARD_FAULT = 3,
    SECURE_FAULT = 7,
    FIRST_WAITING = 12,
    AT_WORK = 0x1f,                        /* MemManage, BusFault, HardFault (ARMv8-M), UsageFault, SecureFault */
    WAITING = 7 << 12 | 1 << 20 | 1 << 21, /* UsageFault, MemManage, BusFault; ARMv8-M: SecureFault, HardFault */
    /* MUNSTKERR, MSTKERR; UNSTKERR, STKERR; INVPC, STKOF. Not MLSPERR and LSPERR: what is saved late, the FPU's
     * registers, is not read. */
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

/* Whether the handler of a fault may wait until that of an exception with a higher priority has ended. HardFault, which
 * ARMv7-M does not have in SHCSR, may wait behind an NMI that waits. */
static bool may_wait(const struct trace_space *space, uint64_t icsr)
{
    const uint64_t first = icsr >> FIRST_WAITING & EXCEPTION;

    return (first >= NMI && first <= SECURE_FAULT) || may_have(space, SHCSR, WAITING);
}

/* Whether the handler of a fault may be at work. ARMv7-M does not say that of HardFault, whose handler only an NMI can
 * have interrupted. */
static bool may_be_at_work(const struct trace_space *space, uint64_t icsr)
{
    const uint64_t running = icsr & EXCEPTION;

    return (running >= NMI && running <= SECURE_FAULT) || may_have(space, SHCSR, AT_WORK);
}

/* Whether what an exception has interrupted, behind FRAME, may not be what stands on the stack. The CPU says that it
 * could not push something, or that an exception could not return. Or it says nothing of either, and an MPU may have
 * kept it from pushing. Or the memory does not have its registers.
 *
 * The bits that say so stay set until somebody clears them, so they count for a fault whose handler is at work or
 * waits. It waits if the CPU could not push the frame of an exception with a higher priority: that is served first, as
 * if its frame had been pushed (derived exceptions). Then each exception on the way may be that one. If the handler of
 * a fault is at work, one exception on the way is its own: the one whose handler runs, or one further down. */
static bool may_be_lost(const struct trace_space *space, const struct sfu_frame *frame)
{
    uint64_t cpu, icsr;
    bool own;

    if (!read_control(space, CPUID, &cpu) || !read_control(space, ICSR, &icsr))
        return space->halted;
    if (space->halted && !space->in_exception)
        own = (icsr & EXCEPTION) >= HARD_FAULT && (icsr & EXCEPTION) <= SECURE_FAULT;
    else
        own = frame->reliable && may_be_at_work(space, icsr);
    if (!own && !may_wait(space, icsr))
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

/* Whether a jump to an even address has led to *INTERRUPTED, as xPSR says, and the row there says nothing of who
 * jumped: rows hold for who comes through the code in front of them. */
static bool is_jumped_into(const struct trace_space *space, const struct sfu_interrupted *interrupted)
{
    struct sfu_frame frame = {.regs = interrupted->regs};
    struct sfu_row row;
    uint64_t xpsr;

    return space_word(space, interrupted->saved + XPSR_AT, &xpsr) && (xpsr & THUMB) == 0 &&
           sfu_find_frame(space->target, &frame, &row) == SFU_OK && row.function != interrupted->regs.pc;
}

/* LR has the return address of the last call: who made that is guessed to have jumped. */
static void guess_jump(struct sfu_interrupted *interrupted)
{
    interrupted->regs.pc = interrupted->regs.ra & ~UINT64_C(1);
    interrupted->regs.pc_kind = SFU_PC_RETURN;
    interrupted->guess = SFU_GUESS_HOOK;
}

/* Whether the walk began in what the exception frame that *INTERRUPTED was read from says: a handler has printed it. */
static bool is_beginning(const struct trace_space *space, const struct sfu_interrupted *interrupted)
{
    return interrupted->regs.pc == space->regs.value[REGISTER_PC] &&
           interrupted->regs.sp == space->regs.value[abi_registers(space->abi)->sp];
}

/* Whether no handler is at work, as the CPU says. */
static bool is_in_thread_mode(const struct trace_space *space)
{
    uint64_t icsr;

    return read_control(space, ICSR, &icsr) && (icsr & EXCEPTION) == 0;
}

/* A dump begins at EXC_RETURN itself where the CPU has not pushed what was interrupted, or not all of it: what looks
 * like that is a guess. Of a stopped board the first exception on the way is that whose handler runs. */
int cortexm_trap(struct trace_space *space, const struct sfu_frame *frame, struct sfu_interrupted *interrupted)
{
    const bool begins = frame->depth == 0;
    const uint32_t exc_return = begins ? (uint32_t)frame->regs.pc : (uint32_t)space->last_ra;
    uint64_t at = frame->regs.sp;
    int code;

    if (exc_return == RESET_LR || space->in_thread || (!begins && is_in_thread_mode(space)))
        return SFU_END;
    if (!is_same_state(exc_return))
        return SFU_E_TRAP;
    if ((exc_return & ON_PROCESS_STACK) != 0) {
        space->lacks_psp = !space->regs.has_psp;
        at = space->regs.psp;
    }
    if (space->lacks_psp)
        return SFU_E_TRAP;
    code = sfu_cortexm_unstack(space->target, exc_return, (uint32_t)at, (uint32_t)frame->regs.fp, interrupted);
    if (code == SFU_OK && !begins && is_beginning(space, interrupted))
        return SFU_END;
    if (code == SFU_OK &&
        (begins || !fits_mode(space, exc_return, interrupted->saved) || may_be_lost(space, frame)))
        interrupted->guess = SFU_GUESS_HOOK;
    if (code == SFU_OK && is_jumped_into(space, interrupted))
        guess_jump(interrupted);
    space->in_exception = true;
    space->in_thread = code == SFU_OK && (exc_return & FROM_THREAD) != 0;
    return code;
}

bool cortexm_saved(const struct trace_space *space, uint64_t frame, unsigned reg, uint64_t *value)
{
    if (reg >= 4 && reg != 12)
        return false;
    return space_word(space, frame + (reg == 12 ? (unsigned)R12_AT : reg * WORD), value);
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What a Cortex-M pushes when it enters an exception, read on the host: for a dump, a stopped board, or its memory.
 * References are to the Arm Architecture Reference Manuals, DDI 0403 (ARMv7-M) and DDI 0553 (ARMv8-M): EXC_RETURN.
 */
#include "port/cortexm/sfu_cortexm.h"
#include "trace.h"

#define EXC_RETURN 0xffffff00u /* and above */

enum {
    IN_SECURE = 1 << 0, /* ES: the handler is the secure state's; without TrustZone 1 */
    ON_PROCESS_STACK = 1 << 2,
    FROM_SECURE = 1 << 6, /* S: so is what it has interrupted; without TrustZone 1 */
    WORD = 4,
    R12_AT = 4 * WORD
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

/* A dump begins at EXC_RETURN itself where the CPU has not pushed what was interrupted, or not all of it: what looks
 * like that is a guess. */
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
    if (begins)
        interrupted->guess = SFU_GUESS_HOOK;
    return code;
}

bool cortexm_saved(const struct trace_space *space, uint64_t frame, unsigned reg, uint64_t *value)
{
    if (reg >= 4 && reg != 12)
        return false;
    return space_word(space, frame + (reg == 12 ? (unsigned)R12_AT : reg * WORD), value);
}

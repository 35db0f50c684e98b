/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Return addresses that no call has left. Needs sfu_print.c. Does nothing on ARM (32 bits).
 *
 *     static struct sfu_panic panic = {.put = console_put, .calls = sfu_print_calls};
 *
 * A kernel gives a new thread a stack on which the start of a function stands as a return address: `push $f; jmp g`.
 * The instruction in front of F belongs to another function, whose row says nothing of F's caller. Tables cannot tell
 * such a return address from that of a call that never returns, which may be the last instruction of a function. The
 * code can: if no call ends at a return address, the frame is what a return to there leaves. Its caller is then found
 * by the row of that address itself. The frame is printed as [guessed], and the trace is not proven, because a stray
 * word may also have led there.
 */
#ifndef SFU_CALLS_H
#define SFU_CALLS_H

#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the frame of PANIC's walk, if its PC is a return address and no call ends there. Reads up to 7 bytes in front
 * of the return address, only inside of a function that the tables describe. So the code of all functions that the
 * tables describe must be readable: leave this part out if it is not, or if the target is another program. The frame of
 * a trap is not marked: signal handlers return to where no call ends. */
void sfu_print_calls(struct sfu_panic *panic);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A function tracer: it bends the entry of each function that was compiled with room for that, and the function then
 * returns through a trampoline. It needs no libc: port/baremetal/test has it, too. How functions are compiled:
 *     x86      -fpatchable-function-entry=5
 *     aarch64  -fpatchable-function-entry=2
 *     RISC-V   -fpatchable-function-entry=4, or 2 without compressed instructions
 *     s390x    -pg -mfentry -mnop-mcount -mrecord-mcount
 */
#ifndef TRACER_H
#define TRACER_H

#include "sfu.h"

/* Bends the functions whose rooms FIRST to END name. UNLOCK makes code from START to END writable; NULL: it is. Returns
 * how many there are, or 0 if a room is not as compilers leave it. */
unsigned tracer_bend(uint8_t *const *first, uint8_t *const *end, void (*unlock)(uint64_t start, uint64_t end));

/* All rooms: the linker makes these symbols of a section with this name, if there is one. */
#if defined(__s390x__)
#define TRACER_ROOMS "__mcount_loc"
#else
#define TRACER_ROOMS "__patchable_function_entries"
#endif
extern uint8_t *const tracer_rooms[] __asm__("__start_" TRACER_ROOMS) __attribute__((weak, visibility("hidden")));
extern uint8_t *const tracer_rooms_end[] __asm__("__stop_" TRACER_ROOMS)
    __attribute__((weak, visibility("hidden")));

/* A sfu_ra_fn. CTX is not used. */
bool tracer_original(void *ctx, const struct sfu_frame *frame, sfu_addr slot, sfu_addr *ra);

/* The call N (0: the last one) of those that have not returned: its original RA, and SP of its caller then. Returns
 * whether there are that many. */
bool tracer_call(unsigned n, uint64_t *ra, uint64_t *sp);

/* Where a function returns to whose RA is found to be RA, and whose caller has the stack pointer SP then, by what has
 * been noted when it was called. 0: nothing has. */
uint64_t tracer_truth(uint64_t ra, uint64_t sp);

/* What tracer_original was asked: RAs that it knew, on the stack and in a register; slots that did not hold the RA. */
struct tracer_counts {
    uint64_t in_slot, in_register, wrong_slot;
};
extern struct tracer_counts tracer_counts;

/* tracer_hook.S: where a function is bent to, and the trampoline. */
extern const char tracer_hook[] __attribute__((visibility("hidden")));
extern const char tracer_return[] __attribute__((visibility("hidden")));
extern const char tracer_return_end[] __attribute__((visibility("hidden"))); /* of 32-bit x86 */

/* What tracer_hook.S calls. RA is where the RA of a function is, whose caller goes on at SP. */
void tracer_enter(uintptr_t *ra, uintptr_t sp);
void tracer_leave(uintptr_t *ra);

#endif

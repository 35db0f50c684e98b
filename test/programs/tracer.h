/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A function tracer: it bends the entry of each function that was compiled with room for that, and the function then
 * returns through a trampoline. It needs no libc: test/bare has it, too. What the functions are compiled with:
 *     x86_64   -fpatchable-function-entry=5
 *     aarch64  -fpatchable-function-entry=2
 *     s390x    -pg -mfentry -mnop-mcount -mrecord-mcount
 */
#ifndef TRACER_H
#define TRACER_H

#include "sfu.h"

#if defined(__s390x__)
#define TRACER_ROOMS "__mcount_loc"
enum { TRACER_ROOM = 6 };
#elif defined(__aarch64__)
#define TRACER_ROOMS "__patchable_function_entries"
enum { TRACER_ROOM = 8 };
#else
#define TRACER_ROOMS "__patchable_function_entries"
enum { TRACER_ROOM = 5 };
#endif

/* The rooms of all functions that have some. The linker defines both symbols if there are any. */
extern uint8_t *const tracer_rooms[] __asm__("__start_" TRACER_ROOMS) __attribute__((weak, visibility("hidden")));
extern uint8_t *const tracer_rooms_end[] __asm__("__stop_" TRACER_ROOMS)
    __attribute__((weak, visibility("hidden")));

/* Bends the function whose ROOM this is, which can be written to. Returns false if ROOM is not as compilers leave it.
 * What is then in ROOM has to be made visible to instruction fetches. */
bool tracer_bend(uint8_t *room);

/* A sfu_ra_fn. CTX is not used. */
bool tracer_original(void *ctx, const struct sfu_frame *frame, uint64_t slot, uint64_t *ra);

/* Where a function returns to whose RA is found to be RA, and whose caller has the stack pointer SP then, by what has
 * been noted when it was called. 0: nothing has. */
uint64_t tracer_truth(uint64_t ra, uint64_t sp);

/* What tracer_original was asked: RAs that it knew, on the stack and in a register; slots that did not hold the RA. */
struct tracer_counts {
    uint64_t in_slot, in_register, wrong_slot;
};
extern struct tracer_counts tracer_counts;

/* tracer.S: where a function is bent to, and the trampoline. */
extern const char tracer_hook[], tracer_return[];

/* What tracer.S calls. RA is where the RA of a function is, whose caller goes on at SP. */
void tracer_enter(uint64_t *ra, uint64_t sp);
void tracer_leave(uint64_t *ra);

#endif

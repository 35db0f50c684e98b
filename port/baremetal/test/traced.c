/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Functions with room for the tracer of test/truth/programs, which replaces the return address of each. Nothing but
 * the core is between its notes and the trace.
 */
#include "scenarios.h"
#include "step.h"
#include "test/truth/programs/tracer.h"

enum { DEEP = 100 };

static struct sfu_walk walk;

/* How many frames of the trace from here are what the tracer has noted, up to the first one that is not. */
step static unsigned count_right(void)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);
    uint64_t ra, sp;
    unsigned n = 0;

    sfu_walk_start(&walk, &kernel_target, &here);
    while (sfu_walk_step(&walk) == SFU_OK && tracer_call(n, &ra, &sp) && walk.frame.regs.pc == ra &&
           walk.frame.regs.sp == sp && walk.frame.replaced && walk.frame.reliable)
        n++;
    return n;
}

/* At its end, if it goes on. */
step static bool is_proven(void)
{
    int code;

    do {
        code = sfu_walk_step(&walk);
    } while (code == SFU_OK);
    return code == SFU_END && walk.frame.reliable;
}

step static void compare(void)
{
    uint64_t ra, sp;
    unsigned calls = 0;

    while (tracer_call(calls, &ra, &sp))
        calls++;
    if (calls < DEEP)
        panic("not all calls are noted");
    kernel_target.original_ra = NULL;
    if (count_right() != 0 || walk.frame.regs.pc != (uintptr_t)tracer_return || is_proven())
        panic("right without the callback");
    kernel_target.original_ra = tracer_original;
    if (count_right() != calls + 1) /* and its own call, which has been left since */
        panic("not what the tracer has noted");
    if (walk.frame.replaced || !is_proven())
        panic("not to the end");
    kernel_print("compared\n");
}

void deep_odd(unsigned n);

step static void deep_even(unsigned n)
{
    if (n == 0)
        compare();
    else
        deep_odd(n - 1);
}

step void deep_odd(unsigned n)
{
    deep_even(n - 1);
}

/* No call, so that its return address may be nowhere but in a register. */
step static void traced_leaf(const volatile uint64_t *nowhere)
{
    (void)*nowhere;
}

step static void traced(void)
{
    deep_even(DEEP);
    traced_leaf((const volatile uint64_t *)NOWHERE);
}

#define ROOM_OF(function) ((uint8_t *)(uintptr_t)(function))

void scenario_traced(void)
{
    /* all but this one, which has begun */
    static uint8_t *const rooms[] = {ROOM_OF(count_right), ROOM_OF(is_proven), ROOM_OF(compare),
                                     ROOM_OF(deep_even),   ROOM_OF(deep_odd),  ROOM_OF(traced_leaf),
                                     ROOM_OF(traced)};

    if (tracer_bend(rooms, rooms + sizeof rooms / sizeof rooms[0], NULL) == 0)
        panic("a function has no room");
    kernel_target.max_frames = 2 * DEEP;
    traced();
}

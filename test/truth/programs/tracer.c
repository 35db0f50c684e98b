/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "tracer.h"

#include "os.h"

/* The hook saves what functions get in general registers, and nothing else. */
#if !defined(__clang__) && !defined(__s390x__) && !defined(__riscv)
#pragma GCC target("general-regs-only")
#endif

struct tracer_counts tracer_counts;

/* Calls that have not returned. An interrupt may come between any two writes: what it enters, it leaves. An entry is
 * counted before it is written, and is erased before it is no more counted: an SP of 0 is nobody's. */
#define MAX_CALLS 2100
static volatile struct {
    uint64_t ra, sp;
} calls[MAX_CALLS];
static volatile unsigned num_calls;

void tracer_enter(uintptr_t *ra, uintptr_t sp)
{
    unsigned i = num_calls;

    if (i == MAX_CALLS)
        return;
    num_calls = i + 1;
    calls[i].ra = *ra;
    calls[i].sp = sp;
    *(volatile uintptr_t *)ra = (uintptr_t)tracer_return;
}

void tracer_leave(uintptr_t *ra)
{
    unsigned i = num_calls - 1;

    *(volatile uintptr_t *)ra = (uintptr_t)calls[i].ra;
    calls[i].sp = 0;
    num_calls = i;
}

/* Where the call of those below COUNT returns to that leaves SP. A function that was entered by a jump returns to the
 * trampoline, which then returns for the function that jumped. */
static uint64_t return_address(unsigned count, uint64_t sp)
{
    uint64_t ra = 0;

    while (count-- > 0)
        if (calls[count].sp == sp && sp != 0) {
            ra = calls[count].ra;
            if (ra != (uint64_t)(uintptr_t)tracer_return)
                return ra;
        }
    return ra;
}

uint64_t tracer_truth(uint64_t ra, uint64_t sp)
{
    return ra == (uint64_t)(uintptr_t)tracer_return ? return_address(num_calls, sp) : ra;
}

/* The SP that FRAME's function leaves; 0: it is not known. On x86 the RA is right below it, but on i386 a function may
 * have taken its arguments off when it comes to the trampoline. Elsewhere it may be anywhere, but the next SP that has
 * been noted is this function's: those of its callees are not above its own. */
static uint64_t left_sp(const struct sfu_frame *frame, uint64_t slot)
{
#if defined(__x86_64__)
    (void)frame;
    return slot + 8;
#elif defined(__i386__)
    uint64_t last = 0;
    unsigned i;

    if (frame->regs.pc - (uintptr_t)tracer_return >= (uint64_t)(tracer_return_end - tracer_return))
        return slot + 4;
    for (i = 0; i < num_calls; i++)
        if (calls[i].sp <= slot + 4 && calls[i].sp > last)
            last = calls[i].sp;
    return last;
#else
    uint64_t next = 0, lowest = frame->regs.sp + (frame->regs.pc_kind == SFU_PC_RETURN);
    unsigned i;

    (void)slot;
    for (i = 0; i < num_calls; i++)
        if (calls[i].sp >= lowest && (next == 0 || calls[i].sp < next))
            next = calls[i].sp;
    return next;
#endif
}

/* Whether WORD, which may be signed, is RA. */
static bool holds(uint64_t word, uint64_t ra)
{
#if defined(__aarch64__)
    return ((word ^ ra) & 0xffffffffffff) == 0;
#else
    return word == ra;
#endif
}

bool tracer_original(void *ctx, const struct sfu_frame *frame, sfu_addr slot, sfu_addr *ra)
{
    uint64_t original;

    (void)ctx;
    if (slot != 0 && !holds(*(const uintptr_t *)(uintptr_t)slot, *ra))
        tracer_counts.wrong_slot++;
    if (*ra != (uint64_t)(uintptr_t)tracer_return)
        return false;
    original = return_address(num_calls, left_sp(frame, slot));
    if (original == 0)
        return false;
    *ra = (sfu_addr)original;
    if (slot != 0)
        tracer_counts.in_slot++;
    else
        tracer_counts.in_register++;
    return true;
}

bool tracer_call(unsigned n, uint64_t *ra, uint64_t *sp)
{
    unsigned count = num_calls;

    if (n >= count)
        return false;
    *ra = calls[count - 1 - n].ra;
    *sp = calls[count - 1 - n].sp;
    return true;
}

/* ---- bending ---- */

#if defined(__x86_64__) || defined(__i386__)
enum { ROOM = 5 };
#elif defined(__aarch64__) || defined(__riscv)
enum { ROOM = 8 };
#else
enum { ROOM = 6 };
#endif

static bool is_room(const uint8_t *room)
{
#if defined(__x86_64__) || defined(__i386__)
    static const uint8_t nops[][ROOM] = {{0x90, 0x90, 0x90, 0x90, 0x90},
                                         {0x0f, 0x1f, 0x44, 0x00, 0x08},
                                         {0x66, 0x90, 0x66, 0x90, 0x90}}; /* clang for i686 */
#elif defined(__aarch64__)
    static const uint8_t nops[][ROOM] = {{0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5}};
#elif defined(__riscv)
    static const uint8_t nops[][ROOM] = {{0x13, 0, 0, 0, 0x13, 0, 0, 0}, {1, 0, 1, 0, 1, 0, 1, 0}};
#else
    static const uint8_t nops[][ROOM] = {{0xc0, 0x04}};
#endif
    unsigned i, k;

    for (i = 0; i < sizeof nops / sizeof nops[0]; i++) {
        for (k = 0; k < ROOM && room[k] == nops[i][k];)
            k++;
        if (k == ROOM)
            return true;
    }
    return false;
}

/* Writes SIZE bytes of VALUE, the lowest first. */
static void put(uint8_t *p, uint64_t value, unsigned size)
{
    unsigned i;

    for (i = 0; i < size; i++)
        ((volatile uint8_t *)p)[i] = (uint8_t)(value >> 8 * i);
}

/* Bends the function whose ROOM this is. */
static void bend(uint8_t *room)
{
    uint64_t distance = (uint64_t)(uintptr_t)tracer_hook - (uint64_t)(uintptr_t)room;

#if defined(__x86_64__) || defined(__i386__) /* call tracer_hook */
    put(room, 0xe8, 1);
    put(room + 1, distance - ROOM, 4);
#elif defined(__aarch64__) /* adr x9, . + 8; b tracer_hook: x30 stays as it is */
    put(room, 0x10000049, 4);
    put(room + 4, 0x14000000 | ((distance - 4) >> 2 & 0x3ffffff), 4);
#elif defined(__riscv)     /* auipc t0; jalr t0, t0: ra stays as it is */
    put(room, ((distance + 0x800) & 0xfffff000) | 0x297, 4);
    put(room + 4, (distance & 0xfff) << 20 | 0x282e7, 4);
#else                      /* brasl %r0, tracer_hook: r14 stays as it is */
    put(room, 0x05c0, 2);
    put(room + 2, __builtin_bswap32((uint32_t)(distance >> 1)), 4);
#endif
}

unsigned tracer_bend(uint8_t *const *first, uint8_t *const *end, void (*unlock)(uint64_t start, uint64_t end))
{
    uint8_t *const *next;

    for (next = first; next < end; next++) {
        uint64_t at = (uint64_t)(uintptr_t)*next;

        if (!is_room(*next))
            return 0;
        if (unlock != NULL)
            unlock(at, at + ROOM);
        bend(*next);
        os_sync_code(at, at + ROOM);
    }
    return (unsigned)(next - first);
}

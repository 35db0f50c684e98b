/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * An example of what a kernel of its own would do to say where its memory went, and who holds a lock: 4 bytes in each
 * block and in each lock, the handle of a trace in a depot (port/depot). All traces are by the fast walker, where the
 * CPU can have it.
 */
#ifndef HEAP_H
#define HEAP_H

#include "kernel.h"
#include "sfu_depot_print.h"
#include "sfu_fast.h"

#pragma GCC visibility push(hidden)

/* Where traces go: who remembers, by which walker. */
struct where {
    struct sfu_depot depot;
    struct sfu_fast *fast;
};

/* ---- memory ---- */

/* Gives the heap the SIZE bytes at MEMORY, aligned to 16. WHERE counts the live bytes of each call path; NULL: nobody
 * does. */
void heap_init(void *memory, size_t size, struct where *where);
/* A block of SIZE bytes, aligned to 8; NULL: there is none. */
void *heap_alloc(size_t size);
/* BLOCK: of heap_alloc, or NULL. */
void heap_free(void *block);

/* ---- locks ---- */

/* Zeroed, it is free. Not for interrupts. */
struct lock {
    const char *name;
    volatile uint32_t held;
    uint32_t got;   /* where: a handle */
    uint64_t since; /* when */
    unsigned cpu;   /* who */
};

/* CPU takes LOCK at the time NOW. */
void lock_take(struct lock *lock, struct where *where, unsigned cpu, uint64_t now);
/* Drops it. The time that it was held is added to the call path that took it. */
void lock_drop(struct lock *lock, struct where *where, uint64_t now);
/* Says by PANIC's put who holds LOCK, since when, and where it was got, if it is held. sfu-trace puts names below. */
void lock_print(const struct lock *lock, const struct where *where, const struct sfu_panic *panic);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * One trace for each CPU, or for each thread. Needs sfu.c and sfu_print.c.
 *
 *     static bool next_thread(void *ctx, struct sfu_all_entry *entry)
 *     {
 *         struct thread *t = entry->cursor == NULL ? first_thread : ((struct thread *)entry->cursor)->next;
 *
 *         if (t == NULL)
 *             return false;
 *         entry->cursor = t;
 *         entry->name = t->name;
 *         entry->number = t->id;
 *         entry->top = ...; // where it was left
 *         return true;
 *     }
 *
 *     sfu_panic_print(&panic, &here); // this one first
 *     sfu_print_all(&panic, next_thread);
 *
 * prints for each entry a line, and what sfu_panic_print prints:
 *
 *     trace of 3 idle:
 *     #0  0x<A>  switch_to+0x1c
 *     ...
 *
 * A trace that ends with an error does not end the others. Other CPUs must have been stopped, and their registers
 * saved.
 */
#ifndef SFU_ALL_H
#define SFU_ALL_H

#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A CPU or a thread. All is 0 in the first call, and is kept for the next. */
struct sfu_all_entry {
    void *cursor;     /* yours: which one it is */
    const char *name; /* or NULL */
    sfu_addr number;
    struct sfu_registers top;
    const struct sfu_target *target; /* where the target has one stack, not find_stack; NULL: PANIC's */
};

/* Fills in the next ENTRY. CTX is PANIC's. Returns false if there is none. */
typedef bool (*sfu_all_fn)(void *ctx, struct sfu_all_entry *entry);

/* Prints a trace of each entry that NEXT gives, by PANIC, without skipping frames. PANIC must have a put. An entry
 * without a target uses PANIC's, so sfu_panic_init must have run, or you have set the target. Returns how many traces
 * those were. If printing one faults, the panic path gets the fault: there sfu_panic_print says so. */
unsigned sfu_print_all(struct sfu_panic *panic, sfu_all_fn next);

#ifdef __cplusplus
}
#endif

#endif

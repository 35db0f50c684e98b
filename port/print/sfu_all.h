/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * One trace for each CPU, or for each thread: whatever the program has a list of. Needs sfu.c and sfu_print.c.
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
 * A trace that ends with an error ends itself alone. The other CPUs must have been stopped, and their registers saved.
 */
#ifndef SFU_ALL_H
#define SFU_ALL_H

#include "sfu_print.h"

#ifdef SFU_PREFIX
#define sfu_print_all SFU_NAME(print_all)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What is printed next. All is 0 at first, and stays for the next call. */
struct sfu_all_entry {
    void *cursor;     /* yours: which one it is */
    const char *name; /* or NULL */
    uint64_t number;
    struct sfu_registers top;
    const struct sfu_target *target; /* for this entry, where stacks have windows of their own; NULL: PANIC's */
};

/* Fills in the next ENTRY. CTX is PANIC's. Returns false, and nothing is printed, if there is none. */
typedef bool (*sfu_all_fn)(void *ctx, struct sfu_all_entry *entry);

/* Prints a trace of each entry that NEXT gives, by PANIC, of which nothing is skipped. Returns how many traces there
 * were. If a fault comes back while one is printed, sfu_panic_print says so there, and the panic path decides. */
unsigned sfu_print_all(struct sfu_panic *panic, sfu_all_fn next);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_all.h"

unsigned sfu_print_all(struct sfu_panic *panic, sfu_all_fn next)
{
    const struct sfu_target *target = panic->target;
    sfu_addr skip_function = panic->skip_function;
    uint32_t skip = panic->skip;
    struct sfu_all_entry entry;
    volatile uint8_t *bytes = (volatile uint8_t *)&entry; /* volatile: compilers must not call memset */
    unsigned traces = 0, i;

    for (i = 0; i < sizeof entry; i++)
        bytes[i] = 0;
    panic->skip_function = 0;
    panic->skip = 0;
    while (panic->busy == 0 && next(panic->ctx, &entry)) {
        sfu_print_number(panic, "trace of ", entry.number, 10, 1);
        sfu_print_text(panic, entry.name != NULL ? " " : "");
        sfu_print_text(panic, entry.name != NULL ? entry.name : "");
        sfu_print_text(panic, ":\n");
        panic->target = entry.target != NULL ? entry.target : target;
        (void)sfu_panic_print(panic, &entry.top);
        traces++;
    }
    panic->target = target;
    panic->skip_function = skip_function;
    panic->skip = skip;
    return traces;
}

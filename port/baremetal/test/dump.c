/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Behind each trace a dump, which sfu-trace unwinds though the kernel has no tables: --wrap=sfu_panic_print. */
#include "kernel.h"
#include "sfu_dump.h"

enum { WORDS = 100 };

extern const char build_id_start[], build_id_end[];
extern uint8_t image_start[];

int __real_sfu_panic_print(struct sfu_panic *panic, const struct sfu_registers *from);
int __wrap_sfu_panic_print(struct sfu_panic *panic, const struct sfu_registers *from);

int __wrap_sfu_panic_print(struct sfu_panic *panic, const struct sfu_registers *from)
{
    const struct sfu_dump_place place = {(uintptr_t)image_start, "image_start", NULL};
    struct sfu_dump_stack ends[STACKS]; /* of all stacks: what an interrupt was nested in may be on any */
    struct sfu_dump dump = {build_id_start, build_id_end, &place, 1, ends, 0, WORDS, 0, 0};
    int code = __real_sfu_panic_print(panic, from);
    unsigned i;

    for (i = 0; i < STACKS && kernel_stack(i) != NULL; i++) {
        ends[i].addr = kernel_stack(i)->high - 8 * WORDS;
        ends[i].words = WORDS;
        ends[i].bytes = NULL;
    }
    dump.num_stacks = i;
    if (panic == &kernel_printer)
        sfu_dump_print(panic, &dump, from);
    return code;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What the parts of the benchmark have in common: the walkers (each walks the stack that it is called on, as its
 * user would) and the workload (which calls sample() from many places inside live queries).
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* What walkers are told before their first walk. */
struct bench_image {
    const void *sframe; /* the program's section, mapped where it was linked for */
    uint64_t sframe_size;
    uint64_t text, text_size;
    uint64_t stack_low, stack_high; /* all of it is mapped */
    const void *library_sframe;     /* the same of the first library that has one, if any */
    uint64_t library_sframe_size;
};

struct walker {
    const char *name;
    bool (*init)(const struct bench_image *image); /* false: cannot work here */
    /* Fills PCS, return addresses as they are on the stack, the innermost first, and returns how many. The first
     * ones, and the last, may be of the walker's own and of the C library's frames. */
    unsigned (*walk)(uint64_t *pcs, unsigned max);
};

/* The walkers of a shared object: its symbol "peer", ended by a walker without a name. */
typedef const struct walker peer_list[];

extern const struct walker fp_walkers[], sfu_walkers[], small_walkers[];

/* Does all queries once, the same way each time. Returns false if one of them failed. */
bool work_run(void);
/* Once, before anything else. */
bool work_begin(void);

/* Called by the workload wherever a stack may be taken. Stacks are compared from the return address of this call on, or
 * from bench_hook, if that is not 0. */
void sample(void);
extern uint64_t bench_hook;

/* Another stack that frames may be on; all 0: there is none. */
extern uint64_t bench_other_low, bench_other_high;

/* Where walkers that can begin anywhere do so, if BENCH_TOP is defined; others walk from where they are called. */
struct bench_top {
    uint64_t pc, sp, fp;
    bool returns; /* pc is a return address */
};
extern struct bench_top bench_top;

#endif

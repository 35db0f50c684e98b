/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * libunwind, in both ways of using it: its general one, with its own cache of unwind information for each thread,
 * and unw_backtrace, which has a cache of common frames. LLVM: that of LLVM, which has the first way only.
 */
#include <stddef.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include "bench.h"

extern peer_list peer;

static unsigned step(uint64_t *pcs, unsigned max)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unsigned n = 0;
    if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0)
        return 0;
    while (n < max && unw_step(&cursor) > 0) {
        unw_word_t pc;
        unw_get_reg(&cursor, UNW_REG_IP, &pc);
        pcs[n++] = pc;
    }
    return n;
}

#ifdef LLVM
peer_list peer = {{"llvm", NULL, step}, {NULL, NULL, NULL}};
#else
static bool init(const struct bench_image *image)
{
    (void)image;
    return unw_set_caching_policy(unw_local_addr_space, UNW_CACHE_PER_THREAD) == 0;
}

static unsigned cached(uint64_t *pcs, unsigned max)
{
    return (unsigned)unw_backtrace((void **)pcs, (int)max);
}

peer_list peer = {{"libunwind_step", init, step}, {"libunwind_cached", init, cached}, {NULL, NULL, NULL}};
#endif

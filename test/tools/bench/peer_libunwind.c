/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * libunwind, in both ways of using it: its general one, with its own cache of unwind information for each thread,
 * and unw_backtrace, which has a cache of common frames.
 */
#include <stddef.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include "bench.h"
#include "unw_step.h"

extern peer_list peer;

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

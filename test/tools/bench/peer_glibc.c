/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* glibc's backtrace(). */
#include <stddef.h>
#include <execinfo.h>
#include "bench.h"

extern peer_list peer;

static unsigned walk(uint64_t *pcs, unsigned max)
{
    return (unsigned)backtrace((void **)pcs, (int)max);
}

peer_list peer = {{"glibc", NULL, walk}, {NULL, NULL, NULL}};

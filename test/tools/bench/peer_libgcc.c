/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* libgcc's _Unwind_Backtrace. */
#include <stddef.h>
#include <unwind.h>
#include "bench.h"

extern peer_list peer;

struct trace {
    uint64_t *pcs;
    unsigned count, max;
};

static _Unwind_Reason_Code add(struct _Unwind_Context *context, void *arg)
{
    struct trace *trace = arg;
    if (trace->count == trace->max)
        return _URC_END_OF_STACK;
    trace->pcs[trace->count++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

static unsigned walk(uint64_t *pcs, unsigned max)
{
    struct trace trace = {pcs, 0, max};
    _Unwind_Backtrace(add, &trace);
    return trace.count;
}

peer_list peer = {{"libgcc", NULL, walk}, {NULL, NULL, NULL}};

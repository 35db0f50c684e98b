/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the tests and the fuzzer of the fast walker compare it with, and what the short way is for. */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include "sfu.h"

/* This machine's; of another the short way takes nothing. */
#define BIG_HOST (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#if defined(__aarch64__)
#define HOST_ABI (BIG_HOST ? SFU_AARCH64_BIG : SFU_AARCH64)
#elif defined(__s390x__)
#define HOST_ABI SFU_S390X
#else
#define HOST_ABI SFU_AMD64
#endif

/* What sfu_fast.h says that sfu_fast_trace returns, from the core alone. */
static inline int core_trace(const struct sfu_target *target, const struct sfu_registers *top, size_t skip,
                             uint64_t *pcs, size_t capacity, size_t *count)
{
    struct sfu_walk walk;
    int code = SFU_OK;

    *count = 0;
    sfu_walk_start(&walk, target, top);
    for (; skip > 0 && code == SFU_OK; skip--)
        code = sfu_walk_step(&walk);
    while (code == SFU_OK && *count < capacity) {
        pcs[(*count)++] = walk.frame.regs.pc;
        if (*count < capacity)
            code = sfu_walk_step(&walk);
    }
    return code;
}

#endif

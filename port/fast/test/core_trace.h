/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the tests and the fuzzer of the fast walker compare it with, and what the short way is for. */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include <stdio.h>

#include "sfu.h"

/* This machine's; of another the short way takes nothing. */
#define BIG_HOST (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#if defined(__aarch64__)
#define HOST_ABI (BIG_HOST ? SFU_AARCH64_BIG : SFU_AARCH64)
#elif defined(__s390x__)
#define HOST_ABI SFU_S390X
#elif defined(__riscv)
#define HOST_ABI SFU_RISCV64
#else
#define HOST_ABI SFU_AMD64
#endif

/* Its DWARF numbers. */
enum {
    HOST_SP = HOST_ABI == SFU_AMD64     ? 7
              : HOST_ABI == SFU_S390X   ? 15
              : HOST_ABI == SFU_RISCV64 ? 2
                                        : 31,
    HOST_FP = HOST_ABI == SFU_AMD64     ? 6
              : HOST_ABI == SFU_S390X   ? 11
              : HOST_ABI == SFU_RISCV64 ? 8
                                        : 29
};

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

static inline void print_rule(const char *name, const struct sfu_rule *rule)
{
    printf(" %s = %s", name, rule->control & 2 ? "*(" : "(");
    if (rule->control & 1)
        printf("r%u", (unsigned)(rule->control >> 3));
    else
        printf("CFA");
    printf(" + %ld)", (long)rule->offset);
}

/* Says where GOT, GOT_COUNT PCs and GOT_CODE, is not what the core gives, and by which row the core gives it. */
static inline void explain_trace(const struct sfu_target *target, const struct sfu_registers *top, size_t skip,
                                 const uint64_t *got, size_t got_count, int got_code, const uint64_t *want,
                                 size_t want_count, int want_code)
{
    struct sfu_walk walk;
    struct sfu_row row;
    size_t i = 0, step;
    int found;

    while (i < got_count && i < want_count && got[i] == want[i])
        i++;
    sfu_walk_start(&walk, target, top);
    for (step = 1; step < skip + i; step++)
        (void)sfu_walk_step(&walk);
    printf("# frame %lu: got PC ", (unsigned long)i);
    if (i < got_count)
        printf("0x%llx", (unsigned long long)got[i]);
    else
        printf("none, code %d", got_code);
    printf(", wanted ");
    if (i < want_count)
        printf("0x%llx", (unsigned long long)want[i]);
    else
        printf("none, code %d", want_code);
    printf("; the frame before: PC 0x%llx%s, SP 0x%llx, FP 0x%llx\n", (unsigned long long)walk.frame.regs.pc,
           walk.frame.regs.pc_kind == SFU_PC_EXACT ? " (exact)" : "", (unsigned long long)walk.frame.regs.sp,
           (unsigned long long)walk.frame.regs.fp);
    found = sfu_find_frame(target, &walk.frame, &row);
    printf("# its row: ");
    if (found != SFU_OK) {
        printf("none, code %d\n", found);
        return;
    }
    printf("from 0x%llx, %lu bytes, in the function at 0x%llx; kind %u%s%s;", (unsigned long long)row.start,
           (unsigned long)row.length, (unsigned long long)row.function, (unsigned)row.kind,
           row.trap_frame ? ", trap frame" : "", row.signed_ra ? ", signed RA" : "");
    print_rule("CFA", &row.cfa);
    print_rule("RA", &row.ra);
    print_rule("FP", &row.fp);
    printf("\n");
}

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * perf MODE: does what is to be measured ROUNDS times; callgrind counts the instructions of measured...() alone and
 * what it calls, and perf prints by how many operations to divide them.
 *   walk    a stack of 32 frames in a section of 1,000 functions, version 3, mapped; the stack is mapped
 *   read    the same, the stack read through a callback
 *   remote  the same, the section read through a callback
 *   v2      as walk, version 2
 *   find    the row of one PC in each function
 *   trace   as walk, by the fast walker with nothing but its own index
 *   trace-cached   the same with a cache of 8 KiB
 *   trace-remote   the same, the stack read through a callback, up to 1 KiB at once
 */
#include <stdio.h>
#include <string.h>

#include "test/unit/build.h"
#include "sfu_fast.h"

#ifdef PERF_ALONE /* without a libc and the fast walker: of RISC-V of 32 bits, which Debian has no libc for */
#include "port/linux/sfu_linux.h"
#endif

#ifndef ROUNDS /* budget.sh: two numbers, where only whole programs can be counted */
#define ROUNDS 20
#endif
enum { FUNCTIONS = 1000, FRAMES = 32 };
#define BASE UINT64_C(0x400000)
#if defined(__riscv) && __riscv_xlen == 32
#define STACK UINT64_C(0x7fff0000)
typedef uint32_t word;
#else
#define STACK UINT64_C(0x7fff00000000)
typedef uint64_t word;
#endif
enum { WORD = sizeof(word), FRAME = 48, WORDS = FRAME / WORD };

static struct build b;
static word stack[FRAMES * WORDS + 8];
static struct sfu_section section;
#ifndef PERF_ALONE
static struct sfu_fast fast;
static struct sfu_fast_image image;
static uint64_t cache[1024];
#endif

static int read_stack(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    (void)ctx;
    if (addr - STACK > sizeof stack || len > sizeof stack - (addr - STACK))
        return -1;
    memcpy(buffer, (const char *)stack + (addr - STACK), len);
    return 0;
}

static int read_section(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    (void)ctx;
    if (addr - BASE > b.size || len > b.size - (addr - BASE))
        return -1;
    memcpy(buffer, b.bytes + (addr - BASE), len);
    return 0;
}

/* What a compiler without frame pointers makes: a frame of 48 bytes, and out of it again. RISC-V has its own. */
#ifdef __riscv
#define ABI (WORD == 8 ? SFU_RISCV64 : SFU_RISCV32)
static void build_rows(void)
{
    ROW(&b, 0, BASE_SP, 0);
    ROW(&b, 2, BASE_SP, FRAME);
    ROW(&b, 6, BASE_SP, FRAME, -WORD, -2 * WORD);
    ROW(&b, 0x70, BASE_SP, FRAME, -WORD);
    ROW(&b, 0x74, BASE_SP, 0);
}
#else
#define ABI SFU_AMD64
static void build_rows(void)
{
    ROW(&b, 0, BASE_SP, 8);
    ROW(&b, 2, BASE_SP, 16, -16);
    ROW(&b, 6, BASE_SP, 48, -16);
    ROW(&b, 0x70, BASE_SP, 16, -16);
    ROW(&b, 0x71, BASE_SP, 8, -16);
}
#endif

static void build_section(int version)
{
    build_begin(&b, version, ABI, false);
    for (int i = 0; i < FUNCTIONS; i++) {
        build_fde(&b, 0x10000 + 0x80 * i, 0x78, ADDR1);
        build_rows();
    }
    build_fde(&b, 0x10000 + 0x80 * FUNCTIONS, 0x20, ADDR1);
    ROW0(&b, 0, BASE_SP);
    build_end(&b);
}

static bool add_section(struct sfu_target *target, const char *mode)
{
    int code = strcmp(mode, "remote") == 0
                   ? sfu_add_remote(&target->sections, &section, 1, read_section, NULL, b.size, BASE)
                   : sfu_add(&target->sections, &section, 1, b.bytes, b.size, BASE);

    if (code == SFU_OK)
        code = sfu_check(&section, NULL);
#ifndef PERF_ALONE
    if (code == SFU_OK && *mode == 't')
        code = sfu_fast_add(&fast, &image, 1, target->sections);
#endif
    return code == SFU_OK;
}

static uint64_t pc_in(unsigned i)
{
    return BASE + 0x10000 + 0x80 * (uint64_t)(i * 37 % FUNCTIONS) + 0x40;
}

/* RA is in the word below the CFA, FP in the one below that. */
static void build_stack(void)
{
    for (unsigned i = 1; i < FRAMES; i++) {
        stack[WORDS * i - 1] = (word)(i == FRAMES - 1 ? BASE + 0x10000 + 0x80 * FUNCTIONS + 8 : pc_in(i));
        stack[WORDS * i - 2] = (word)STACK;
    }
}

static unsigned walk(const struct sfu_target *target)
{
    struct sfu_registers top;
    struct sfu_walk w;
    unsigned frames = 0;
    memset(&top, 0, sizeof top);
    top.pc = pc_in(0);
    top.sp = STACK;
    sfu_walk_start(&w, target, &top);
    do {
        frames++;
    } while (sfu_walk_step(&w) == SFU_OK);
    return frames;
}

static unsigned find_all(void)
{
    struct sfu_row row;
    unsigned found = 0;
    for (unsigned i = 0; i < FUNCTIONS; i++)
        found += sfu_find(&section, pc_in(i), &row) == SFU_OK;
    return found;
}

unsigned measured(const struct sfu_target *target, const char *mode);
unsigned measured(const struct sfu_target *target, const char *mode)
{
    unsigned operations = 0;
    for (int i = 0; i < ROUNDS; i++)
        operations += *mode == 'f' ? find_all() : walk(target);
    return operations;
}

#ifndef PERF_ALONE
unsigned measured_traces(const struct sfu_target *target);
unsigned measured_traces(const struct sfu_target *target)
{
    struct sfu_registers top;
    uint64_t pcs[2 * FRAMES];
    static uint64_t window[128];
    unsigned operations = 0;
    memset(&top, 0, sizeof top);
    top.pc = pc_in(0);
    top.sp = STACK;
    for (int i = 0; i < ROUNDS; i++) {
        size_t count;
        if (sfu_fast_trace_remote(&fast, target, &top, 0, pcs, 2 * FRAMES, &count, window, sizeof window) ==
            SFU_END)
            operations += (unsigned)count;
    }
    return operations;
}
#endif

/* How many operations there were, or 0. */
static unsigned measure(const char *mode)
{
    struct sfu_target target;
    unsigned operations;

    memset(&target, 0, sizeof target);
    build_section(strcmp(mode, "v2") == 0 ? 2 : 3);
    build_stack();
    if (!add_section(&target, mode))
        return 0;
#ifndef PERF_ALONE
    if (strcmp(mode, "trace") != 0)
        sfu_fast_set_cache(&fast, cache, sizeof cache);
    if (*mode == 't')
        target.sections = sfu_fast_sections(&fast);
#endif
    target.read = read_stack;
    target.stack.bytes = strcmp(mode, "read") != 0 && strcmp(mode, "trace-remote") != 0 ? stack : NULL;
    target.stack.low = STACK;
    target.stack.high = STACK + sizeof stack;
#ifndef PERF_ALONE
    operations = *mode == 't' ? measured_traces(&target) : measured(&target, mode);
#else
    operations = measured(&target, mode);
#endif
    return operations == ROUNDS * (*mode == 'f' ? FUNCTIONS : FRAMES) ? operations : 0;
}

#ifdef PERF_ALONE
int strcmp(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a - *b;
}

void abort(void)
{
    sfu_linux_exit(1);
}

int sfu_linux_main(int argc, char **argv, const uintptr_t *auxv)
{
    unsigned operations = measure(argc > 1 ? argv[1] : "walk"), ten;
    char text[12], *p = text + sizeof text;

    (void)auxv;
    *--p = '\n';
    for (ten = operations; ten != 0; ten /= 10)
        *--p = (char)('0' + ten % 10);
    sfu_linux_write(p, (size_t)(text + sizeof text - p));
    return operations == 0;
}
#else
int main(int argc, char **argv)
{
    unsigned operations = measure(argc > 1 ? argv[1] : "walk");

    printf("%u\n", operations);
    return operations == 0;
}
#endif

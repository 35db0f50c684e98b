/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * stacks SECTION FUNCTIONS MODE TIMES ROUNDS: walks stacks that it makes itself, for what the live ones cannot
 * show: sections of any number of functions, and other CPUs than that of the machine. SECTION is a file with a
 * linked section of version 3, of this CPU's byte order. FUNCTIONS 0: it is used as it is. Otherwise one with so
 * many functions is made, each of them a copy of one of the file's, drawn at random: its size and its rows are
 * real. So are the PCs that are drawn: each is any PC of any function that has a frame on the stack, and the stack
 * is laid out as its row says.
 *
 * MODE: find (sfu_find only), sfu, fast, index or cache (traces by the fast walker with nothing, an index, 16 KiB
 * of cache), then "-all" for other PCs each time: as often as not what is needed is in no cache of the CPU. Does
 * that TIMES times and prints "stacks MODE FUNCTIONS OPERATIONS NANOSECONDS"; an operation is a PC looked up or a
 * frame walked. The time is the best of ROUNDS; 1 is for counting instructions: those of measured(), or the
 * difference between two TIMES.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sfu.h"
#include "sfu_fast.h"
#include "test/lib/abi.h"
#include "test/lib/file.h"

enum {
    HEADER = 28,
    FDE = 16,
    ATTRIBUTES = 5,
    FRAMES = 1000,    /* of one stack */
    STACKS = 64,      /* of "-all" */
    MAX_FRAME = 1024, /* bytes, of those that are drawn */
    SCALED = 160      /* room for what lies between SP and the CFA */
};

struct made {
    uint8_t *bytes;
    size_t size;
};

static struct sfu_section section;
static struct sfu_target target;
static uint64_t (*lookups)[FRAMES]; /* PCs to look up, of each stack */
static uint8_t *memory[STACKS];
static struct sfu_registers tops[STACKS];
static struct sfu_fast fast;
static struct sfu_fast_image fast_image;

static void die(const char *message)
{
    fprintf(stderr, "stacks: %s\n", message);
    exit(2);
}

static void *get(size_t size)
{
    void *p = calloc(1, size);
    if (p == NULL)
        die("no memory");
    return p;
}

static uint64_t draw(uint64_t below)
{
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

/* ---- The section ---- */

static uint32_t get32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static void put32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, 4);
}

static void put64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, 8);
}

static struct made read_section(const char *path)
{
    struct made m;
    m.bytes = read_file(path, &m.size);
    if (m.size < HEADER || m.bytes[2] != 3 || m.bytes[7] != 0)
        die("not a section of version 3");
    return m;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Functions of REAL again and again, at random, each aligned to 16 as compilers do. */
static struct made scale(struct made real, uint32_t functions)
{
    uint32_t count = get32(real.bytes + 8), fre_len = get32(real.bytes + 16), rows = 0;
    const uint8_t *fdes = real.bytes + HEADER + get32(real.bytes + 20);
    const uint8_t *fres = real.bytes + HEADER + get32(real.bytes + 24);
    uint32_t *offsets = get(4 * ((size_t)count + 1)), *drawn = get(4 * (size_t)functions);
    uint32_t *lengths = get(4 * (size_t)count); /* of each function's rows, which end where the next ones begin */
    uint64_t fre_size = 0, start;
    struct made m;
    uint8_t *fre;
    for (uint32_t i = 0; i < count; i++)
        offsets[i] = get32(fdes + FDE * i + 12);
    offsets[count] = fre_len;
    qsort(offsets, count + 1, 4, by_number);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = get32(fdes + FDE * i + 12), *end = bsearch(&offset, offsets, count + 1, 4, by_number);
        while (*end == offset)
            end++;
        lengths[i] = *end - offset;
    }
    for (uint32_t i = 0; i < functions; i++) {
        do {
            drawn[i] = (uint32_t)draw(count);
        } while (get32(fdes + FDE * drawn[i] + 8) == 0);
        fre_size += lengths[drawn[i]];
    }
    m.size = HEADER + FDE * (uint64_t)functions + fre_size;
    if (m.size >= UINT64_C(1) << 31)
        die("too many functions");
    m.bytes = get(m.size);
    memcpy(m.bytes, real.bytes, HEADER);
    fre = m.bytes + HEADER + FDE * (size_t)functions;
    start = (m.size + 4095) / 4096 * 4096;
    for (uint32_t i = 0; i < functions; i++) {
        const uint8_t *from = fdes + FDE * drawn[i];
        uint8_t *fde = m.bytes + HEADER + FDE * (size_t)i;
        uint16_t number;
        put64(fde, start - (uint64_t)(fde - m.bytes));
        put32(fde + 8, get32(from + 8));
        put32(fde + 12, (uint32_t)(fre - (m.bytes + HEADER + FDE * (size_t)functions)));
        memcpy(fre, fres + get32(from + 12), lengths[drawn[i]]);
        memcpy(&number, fre, 2);
        rows += number;
        fre += lengths[drawn[i]];
        start += ((uint64_t)get32(from + 8) + 15) / 16 * 16;
    }
    m.bytes[3] = 1 | 4; /* sorted, starts relative to their fields */
    put32(m.bytes + 8, functions);
    put32(m.bytes + 12, rows);
    put32(m.bytes + 16, (uint32_t)fre_size);
    put32(m.bytes + 20, 0);
    put32(m.bytes + 24, FDE * functions);
    free(offsets);
    free(lengths);
    free(drawn);
    return m;
}

/* ---- Stacks ---- */

/* A PC of a function that has a frame of known size, by its row: CFA = SP + n, RA = *(CFA + m). */
static uint64_t draw_pc(struct sfu_row *row)
{
    for (;;) {
        const uint8_t *fde = section.bytes + section.fdes + FDE * draw(section.num_fdes);
        uint32_t size = get32(fde + 8);
        int64_t start;
        uint64_t pc;
        memcpy(&start, fde, 8);
        if (size == 0)
            continue;
        pc = section.addr + (uint64_t)start + draw(size);
        pc += (section.flags & 4) != 0 ? (uint64_t)(fde - section.bytes) : 0;
        if (sfu_find(&section, pc, row) == SFU_OK && row->kind == SFU_ROW_RULES && !row->trap_frame &&
            !row->signed_ra && row->cfa.control == (abis[section.abi].sp << 3 | 1) &&
            row->cfa.offset > (int)abis[section.abi].sp_below_cfa && row->cfa.offset <= MAX_FRAME &&
            row->ra.control == 2 && row->ra.offset >= -row->cfa.offset && row->ra.offset < 0 &&
            (row->fp.control == 2 || row->fp.offset == 0))
            return pc;
    }
}

/* Frames from the innermost out. The first PC is exact, the others are return addresses: one more than is looked
 * up. */
static void make_stack(unsigned which)
{
    uint8_t *bytes = memory[which] = get(FRAMES * MAX_FRAME + 2 * SCALED);
    uint64_t sp = SCALED;
    struct sfu_row row, next;
    uint64_t pc = draw_pc(&row);
    tops[which].pc = pc;
    tops[which].sp = (uint64_t)(uintptr_t)bytes + sp;
    for (unsigned i = 0; i < FRAMES; i++) {
        uint64_t cfa = sp + (uint64_t)row.cfa.offset;
        lookups[which][i] = pc;
        pc = draw_pc(&next);
        put64(bytes + cfa + row.ra.offset, pc + 1);
        sp = cfa - abis[section.abi].sp_below_cfa;
        row = next;
    }
}

static void set_stack(unsigned which)
{
    target.stack.bytes = memory[which];
    target.stack.low = (uint64_t)(uintptr_t)memory[which];
    target.stack.high = target.stack.low + FRAMES * MAX_FRAME + 2 * SCALED;
}

/* ---- Measuring ---- */

static unsigned find_all(unsigned which)
{
    struct sfu_row row;
    unsigned n = 0;
    for (unsigned i = 0; i < FRAMES; i++)
        n += sfu_find(&section, lookups[which][i], &row) == SFU_OK;
    return n;
}

static unsigned walk(unsigned which)
{
    struct sfu_walk w;
    unsigned n = 0;
    sfu_walk_start(&w, &target, &tops[which]);
    while (n < FRAMES && sfu_walk_step(&w) == SFU_OK)
        n++;
    return n;
}

static unsigned trace(unsigned which)
{
    static uint64_t pcs[FRAMES];
    size_t n;
    (void)sfu_fast_trace(&fast, &target, &tops[which], 1, pcs, FRAMES, &n);
    return (unsigned)n;
}

unsigned measured(unsigned (*once)(unsigned), unsigned times, bool all);
__attribute__((noinline)) unsigned measured(unsigned (*once)(unsigned), unsigned times, bool all)
{
    unsigned n = 0;
    for (unsigned i = 0; i < times; i++) {
        unsigned which = all ? i % STACKS : 0;
        set_stack(which);
        n += once(which);
    }
    return n;
}

static double nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    struct made m;
    unsigned (*once)(unsigned) = NULL;
    unsigned times, rounds, n;
    double start, best = 0;
    bool all;
    if (argc < 6)
        die("usage: stacks SECTION FUNCTIONS MODE TIMES ROUNDS");
    all = strstr(argv[3], "-all") != NULL;
    times = (unsigned)atoi(argv[4]);
    rounds = (unsigned)atoi(argv[5]);
    m = read_section(argv[1]);
    if (atoi(argv[2]) != 0)
        m = scale(m, (uint32_t)atoi(argv[2]));
    if (sfu_open(&section, m.bytes, m.size, (uintptr_t)m.bytes) != SFU_OK ||
        (rounds > 1 && sfu_check(&section, NULL) != SFU_OK))
        die("bad section");
    target.max_frames = 2 * FRAMES;
    lookups = get(STACKS * sizeof *lookups);
    for (unsigned i = 0; i < (all ? STACKS : 1); i++)
        make_stack(i);
    if (strncmp(argv[3], "find", 4) == 0) {
        once = find_all;
    } else if (strncmp(argv[3], "sfu", 3) == 0) {
        once = walk;
        (void)sfu_add(&target.sections, &section, 1, m.bytes, m.size, (uintptr_t)m.bytes);
    }
    if (once == NULL) {
        once = trace;
        if (sfu_add(&target.sections, &section, 1, m.bytes, m.size, (uintptr_t)m.bytes) != SFU_OK ||
            sfu_fast_add(&fast, &fast_image, 1, target.sections) != SFU_OK)
            die("no fast image");
        target.sections = sfu_fast_sections(&fast);
        if (*argv[3] == 'i') {
            size_t size = sfu_fast_index_size(&fast_image);
            if (size == 0 || !sfu_fast_set_index(&fast_image, get(size), size))
                die("no index");
        } else if (*argv[3] == 'c') {
            sfu_fast_set_cache(&fast, get(16384), 16384);
        }
    }
    if (once == NULL)
        die("no such mode");
    set_stack(0);
    if (once(0) != FRAMES)
        die("a stack ends too early");
    n = 0;
    for (unsigned i = 0; i < rounds; i++) {
        start = nanoseconds();
        n = measured(once, times, all);
        start = nanoseconds() - start;
        best = i == 0 || start < best ? start : best;
    }
    printf("stacks %s %u %u %.1f\n", argv[3], section.num_fdes, n, best);
    return n == times * FRAMES ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * bench PEERS compare|time|cold|stack|count|libraries [WALKER...]: walks the stacks of sqlite's queries by these
 * walkers, or by all; the first of them chooses the stacks. PEERS is a directory of shared objects with other walkers.
 * Prints lines "WHAT WALKER NUMBER...", see each mode.
 *
 * The workload is done again and again, the same each time ("a pass"); a pass has one walker, so that walkers do
 * not disturb each other. A stack is taken in a call of sample(), which is known by its number within the pass.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554
#endif

/* Programs of other shapes have their own. */
#ifndef BENCH_FRAMES
#define BENCH_FRAMES    128
#define BENCH_MIN_DEPTH 15
#define BENCH_MAX_DEPTH 40
#define BENCH_STACKS    2600
#endif

#ifndef BENCH_FRESH
#define BENCH_FRESH 0 /* ours begin anew before each walk: nothing is in a cache */
#endif
#ifndef BENCH_COPY
#define BENCH_COPY 0 /* ours are given so many bytes of the stack only, and their traces end there */
#endif

#ifndef BENCH_FP_LOSES
#define BENCH_FP_LOSES 0
#endif

enum {
    MAX_FRAMES = BENCH_FRAMES,
    MIN_DEPTH = BENCH_MIN_DEPTH, /* of the stacks that are taken */
    MAX_DEPTH = BENCH_MAX_DEPTH,
    CANDIDATES = 20000,    /* so many are looked at, at most */
    STACKS = BENCH_STACKS, /* so many are taken, at most */
    MAX_WALKERS = 32,
    ROUNDS = 15,
    COLD_ROUNDS = 3,
    COLD_STACKS = 24,
    PAINTED = 128 * 1024,
    SLACK = 4096 * 1024 /* of stack, below main */
};

static const char *const peer_names[] = {"glibc", "libgcc", "libunwind", "libsframe", "llvm"};

static const struct walker *walkers[MAX_WALKERS];
static unsigned walker_count;
static struct bench_image image;

/* The pass. */
static void (*take)(void);
static const struct walker *walker;
static unsigned at_walker, calls, candidate_every, round_number;
uint64_t bench_hook;        /* where a stack goes on, if not where sample() was called */
struct bench_top bench_top; /* see bench.h */
uint64_t bench_other_low, bench_other_high;
static uint64_t hook, bottom;         /* where the workload goes on; where main does */
static uint32_t chosen[STACKS], next; /* numbers of calls, ascending */
static unsigned stacks;

/* What a pass leaves. */
static uint64_t pcs[MAX_FRAMES];
static uint64_t frames[MAX_WALKERS];
static uint32_t ticks[MAX_WALKERS][ROUNDS][STACKS];
static uint64_t deepest[MAX_WALKERS];

static void die(const char *message)
{
    fprintf(stderr, "bench: %s\n", message);
    exit(2);
}

/* ---- Passes ---- */

/* What is measured, callgrind knows the second by its name. */
unsigned measured(uint64_t *out);
unsigned counted(uint64_t *out);

__attribute__((noinline)) unsigned measured(uint64_t *out)
{
    unsigned n = walker->walk(out, MAX_FRAMES);
    __asm__ __volatile__("" ::: "memory");
    return n;
}

__attribute__((noinline)) unsigned counted(uint64_t *out)
{
    unsigned n = walker->walk(out, MAX_FRAMES);
    __asm__ __volatile__("" ::: "memory");
    return n;
}

static bool is_candidate(uint32_t n)
{
    n *= 2654435761u;
    return (n >> 8) % candidate_every == 0;
}

__attribute__((noinline)) void sample(void)
{
    unsigned n = calls++;
    if (take == NULL || (stacks != 0 ? next == stacks || chosen[next] != n : !is_candidate(n)))
        return;
    if (BENCH_FRESH && walker->init != NULL)
        (void)walker->init(&image);
    hook = bench_hook != 0 ? bench_hook : (uint64_t)(uintptr_t)__builtin_return_address(0);
    take();
    next++;
}

static __attribute__((noinline)) void pass(const struct walker *w, unsigned index, void (*what)(void))
{
    static unsigned before;
    bottom = (uint64_t)(uintptr_t)__builtin_return_address(0);
    walker = w;
    at_walker = index;
    take = what;
    calls = 0;
    next = 0;
    if (!work_run())
        die("a query failed");
    if (before != 0 && before != calls)
        die("the workload is not the same each time");
    before = calls;
    if (stacks != 0 && what != NULL && next != stacks)
        die("not all stacks were taken");
}

/* The N frames of a trace that are the workload's: from the hook to main. Returns the first, and how many. */
static const uint64_t *of_workload(const uint64_t *trace, unsigned n, unsigned *count)
{
    unsigned first = 0, last;
    while (first < n && trace[first] != hook)
        first++;
    for (last = first; last < n && trace[last] != bottom; last++) {
    }
    *count = last < n ? last - first + 1 : last - first;
    return trace + first;
}

/* ---- Choosing stacks ---- */

static uint32_t fitting[CANDIDATES];
static unsigned fits;

static void take_candidate(void)
{
    unsigned n = measured(pcs), depth;
    of_workload(pcs, n, &depth);
    if (depth >= MIN_DEPTH && depth <= MAX_DEPTH && fits < CANDIDATES)
        fitting[fits++] = calls - 1;
}

static void choose(void)
{
    (void)work_run(); /* sqlite's own set-up */
    pass(NULL, 0, NULL);
    candidate_every = 1 + calls / CANDIDATES;
    pass(walkers[1], 1, take_candidate);
    for (unsigned i = 0; i < fits; i++) {
        uint64_t slot = (uint64_t)i * STACKS / (fits > STACKS ? fits : STACKS);
        if (stacks == slot)
            chosen[stacks++] = fitting[i];
    }
    if (stacks == 0)
        die("no stack is deep enough");
}

/* ---- Comparing ---- */

static uint64_t *traces[MAX_WALKERS]; /* STACKS * MAX_FRAMES each */
static uint16_t lengths[MAX_WALKERS][STACKS];

static void take_trace(void)
{
    unsigned n = measured(pcs), count;
    const uint64_t *own = of_workload(pcs, n, &count);
    frames[at_walker] += n;
    memcpy(traces[at_walker] + (size_t)next * MAX_FRAMES, own, count * sizeof *own);
    lengths[at_walker][next] = (uint16_t)count;
}

static unsigned common(unsigned a, unsigned b, unsigned stack)
{
    const uint64_t *x = traces[a] + (size_t)stack * MAX_FRAMES, *y = traces[b] + (size_t)stack * MAX_FRAMES;
    unsigned n = 0;
    while (n < lengths[a][stack] && n < lengths[b][stack] && x[n] == y[n])
        n++;
    return n;
}

static bool same(unsigned a, unsigned b, unsigned stack)
{
    return lengths[a][stack] == lengths[b][stack] && common(a, b, stack) == lengths[a][stack];
}

/* Ours have no say in what is right, unless nobody else is there. */
static bool is_judge(unsigned w)
{
    return strncmp(walkers[w]->name, "sfu", 3) != 0;
}

/* The judge with whom most of the others agree on a stack. */
static unsigned judge(unsigned stack)
{
    unsigned best = 1, most = 0;
    for (unsigned a = 1; a < walker_count; a++) {
        unsigned agree = 0;
        for (unsigned b = 1; is_judge(a) && b < walker_count; b++)
            agree += is_judge(b) && same(a, b, stack);
        if (agree > most) {
            most = agree;
            best = a;
        }
    }
    return best;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static unsigned distinct(uint64_t *values, size_t n)
{
    unsigned count = 0;
    qsort(values, n, sizeof *values, by_value);
    for (size_t i = 0; i < n; i++)
        count += i == 0 || values[i] != values[i - 1];
    return count;
}

/* Frame pointers know nothing of a function that was interrupted before it has a frame. */
static bool may_be_wrong(const struct walker *w)
{
    return BENCH_FP_LOSES && strcmp(w->name, "fp") == 0;
}

/* Prints "stacks - STACKS FRAMES DISTINCT-PCS", and for each walker "wrong NAME FRAMES-WRONG FRAMES-IN-ALL".
 * Frames that are missing or differ are wrong. Returns whether none is. */
static bool compare(void)
{
    uint64_t total = 0, *all = malloc(sizeof *all * STACKS * MAX_FRAMES);
    uint64_t wrong[MAX_WALKERS] = {0};
    for (unsigned w = 1; w < walker_count; w++) {
        traces[w] = malloc(sizeof *traces[w] * STACKS * MAX_FRAMES);
        if (traces[w] == NULL || all == NULL)
            die("no memory");
        frames[w] = 0;
        pass(walkers[w], w, take_trace);
    }
    for (unsigned s = 0; s < stacks; s++) {
        unsigned truth = judge(s);
        memcpy(all + total, traces[truth] + (size_t)s * MAX_FRAMES, lengths[truth][s] * sizeof *all);
        total += lengths[truth][s];
        for (unsigned w = 1; w < walker_count; w++) {
            if (BENCH_COPY && !is_judge(w) && common(w, truth, s) == lengths[w][s])
                continue;
            if (!same(w, truth, s)) {
                unsigned longer = lengths[w][s] > lengths[truth][s] ? lengths[w][s] : lengths[truth][s];
                wrong[w] += longer - common(w, truth, s);
            }
        }
    }
    printf("stacks - %u %llu %u\n", stacks, (unsigned long long)total, distinct(all, total));
    bool right = true;
    for (unsigned w = 1; w < walker_count; w++) {
        printf("wrong %s %llu %llu\n", walkers[w]->name, (unsigned long long)wrong[w],
               (unsigned long long)frames[w]);
        right = right && (wrong[w] == 0 || may_be_wrong(walkers[w]));
        free(traces[w]);
    }
    free(all);
    return right;
}

/* ---- Time ---- */

static inline uint64_t now(void)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ __volatile__("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
#else
    return 0; /* only instructions are counted there */
#endif
}

static double nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void take_time(void)
{
    uint64_t start = now();
    unsigned n = measured(pcs);
    ticks[at_walker][round_number][next] = (uint32_t)(now() - start);
    frames[at_walker] += n;
}

static void take_nothing(void)
{
    (void)measured(pcs);
}

static uint32_t median(uint32_t *x, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        uint32_t v = x[i];
        unsigned j = i;
        for (; j > 0 && x[j - 1] > v; j--)
            x[j] = x[j - 1];
        x[j] = v;
    }
    return x[n / 2];
}

/* Ticks for all stacks: of each, the median of the rounds. */
static double all_ticks(unsigned w, unsigned rounds)
{
    double sum = 0;
    for (unsigned s = 0; s < stacks; s++) {
        uint32_t of_stack[ROUNDS];
        for (unsigned r = 0; r < rounds; r++)
            of_stack[r] = ticks[w][r][s];
        sum += median(of_stack, rounds);
    }
    return sum;
}

/* Passes by all walkers in turn, each round in another order; prints "WHAT NAME NS" per frame, or for cold ones
 * per walk: the time of doing nothing taken off. */
static void rounds(const char *what, unsigned count, void (*taken)(void))
{
    double start_ns = nanoseconds(), start_ticks = (double)now(), per_tick, nothing;
    bool cold = *what == 'c';
    for (round_number = 0; round_number < count; round_number++) {
        for (unsigned i = 0; i < walker_count; i++) {
            unsigned w = (i + round_number * 7) % walker_count;
            frames[w] = 0;
            if (cold)
                pass(walkers[w], w, take_nothing);
            pass(walkers[w], w, taken);
        }
    }
    per_tick = (nanoseconds() - start_ns) / ((double)now() - start_ticks);
    nothing = all_ticks(0, count);
    printf("nothing %s %.1f\n", what, nothing * per_tick / (cold ? COLD_STACKS : stacks));
    for (unsigned w = 1; w < walker_count; w++) {
        double number = cold ? (stacks < COLD_STACKS ? stacks : COLD_STACKS) : (double)frames[w];
        printf("%s %s %.3f\n", what, walkers[w]->name, (all_ticks(w, count) - nothing) * per_tick / number);
    }
}

/* ---- Time without the CPU's caches ---- */

static volatile uint64_t *flood;
static size_t flood_words;

/* Three times the largest cache, written and then read, empties all of them, code's and tables' too, and TLBs. */
static void evict(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < flood_words; i += 8)
        flood[i] = i;
    for (size_t i = 0; i < flood_words; i += 8)
        sum += flood[i];
    flood[0] = sum;
}

static void take_cold(void)
{
    unsigned every = stacks / COLD_STACKS;
    ticks[at_walker][round_number][next] = 0;
    if (every == 0 || (next % every == 0 && next / every < COLD_STACKS)) {
        evict();
        take_time();
    }
}

static void cold(void)
{
    long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    size = 3 * (size < (32 << 20) ? 32 << 20 : size);
    flood_words = (size_t)size / 8;
    flood = malloc((size_t)size);
    if (flood == NULL)
        die("no memory");
    rounds("cold", COLD_ROUNDS, take_cold);
}

/* ---- Stack ---- */

static __attribute__((noinline)) void take_stack(void)
{
    const uint64_t pattern = UINT64_C(0xa55aa55a0ff00ff1);
    volatile uint64_t *sp = __builtin_frame_address(0), *p;
#if defined(__x86_64__)
    __asm__ __volatile__("movq %%rsp, %0" : "=r"(sp));
#endif
    for (p = sp - PAINTED / 8; p < sp; p++)
        *p = pattern;
    (void)measured(pcs);
    for (p = sp - PAINTED / 8; p < sp && *p == pattern; p++) {
    }
    if (deepest[at_walker] < (uint64_t)(sp - p) * 8)
        deepest[at_walker] = (uint64_t)(sp - p) * 8;
}

/* Prints "stack NAME BYTES": the most that a walk needed, beyond one that does nothing. */
static void stack(void)
{
    for (unsigned w = 0; w < walker_count; w++) {
        pass(walkers[w], w, take_nothing);
        pass(walkers[w], w, take_stack);
    }
    for (unsigned w = 1; w < walker_count; w++)
        printf("stack %s %llu\n", walkers[w]->name, (unsigned long long)(deepest[w] - deepest[0]));
}

/* ---- Instructions ---- */

static void take_count(void)
{
    frames[at_walker] += counted(pcs);
}

/* Callgrind writes down what it has counted at the end of this; insns.c prints it. */
void counted_end(void);

__attribute__((noinline)) void counted_end(void)
{
    __asm__ __volatile__("" ::: "memory");
}

/* For callgrind or insns.c, which count what is done in counted(). Prints "counted NAME WALKS FRAMES" for each walker,
 * and for one that does nothing. */
static void count(void)
{
    for (unsigned w = 0; w < walker_count; w++) {
        frames[w] = 0;
        pass(walkers[w], w, take_nothing);
        pass(walkers[w], w, take_count);
        printf("counted %s %u %llu\n", walkers[w]->name, stacks, (unsigned long long)frames[w]);
        counted_end();
    }
}

/* ---- Walkers ---- */

static unsigned walk_nothing(uint64_t *out, unsigned max)
{
    (void)out;
    (void)max;
    return 0;
}

static const struct walker nothing = {"nothing", NULL, walk_nothing};

static char **wanted; /* names, ended by NULL; or NULL: all are */

static bool is_wanted(const char *name)
{
    char *const *one = wanted;
    while (one != NULL && *one != NULL && strcmp(*one, name) != 0)
        one++;
    return one == NULL || *one != NULL;
}

static void add(const struct walker *list)
{
    for (; list->name != NULL; list++)
        if (!is_wanted(list->name))
            continue;
        else if (list->init != NULL && !list->init(&image))
            printf("missing %s cannot work here\n", list->name);
        else if (walker_count < MAX_WALKERS)
            walkers[walker_count++] = list;
}

static void add_peer(const char *directory, const char *name)
{
    char path[4096];
    const struct walker *list;
    void *object;
    snprintf(path, sizeof path, "%s/%s.so", directory, name);
    object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    list = object == NULL ? NULL : dlsym(object, "peer");
    if (list == NULL)
        printf("missing %s %s\n", name, dlerror());
    else
        add(list);
}

#ifdef __riscv
extern const uint8_t sframe_start[], sframe_end[];
#endif

static int find_sections(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_GNU_SFRAME) {
            image.sframe = (const void *)(uintptr_t)(info->dlpi_addr + p->p_vaddr);
            image.sframe_size = p->p_memsz;
        } else if (p->p_type == PT_LOAD && (p->p_flags & PF_X) != 0) {
            image.text = info->dlpi_addr + p->p_vaddr;
            image.text_size = p->p_memsz;
        }
    }
    return 1; /* the first is the program */
}

/* The next that has a section. */
static int find_library(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const void *sframe = (const void *)(uintptr_t)(info->dlpi_addr + p->p_vaddr);
        if (p->p_type != PT_GNU_SFRAME || sframe == image.sframe)
            continue;
        image.library_sframe = sframe;
        image.library_sframe_size = p->p_memsz;
        return 1;
    }
    return 0;
}

static int print_name(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    puts(info->dlpi_name);
    return 0;
}

static __attribute__((noinline)) void touch(size_t size)
{
    volatile char page[4096];
    page[0] = 0;
    if (size > sizeof page)
        touch(size - sizeof page);
    page[1] = 0;
}

/* The stack's end by /proc/self/maps; SLACK below here is touched, so that it is mapped. */
static void find_stack(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    const char *here = __builtin_frame_address(0);
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long long low, high;
        if (sscanf(line, "%llx-%llx", &low, &high) == 2 && (uintptr_t)here - low < high - low)
            image.stack_high = high;
    }
    if (maps == NULL || image.stack_high == 0)
        die("no stack in /proc/self/maps");
    fclose(maps);
    touch(SLACK);
    image.stack_low = (uint64_t)(uintptr_t)here - SLACK;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[2] : "compare";
    bool right = true;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 2 || !work_begin())
        die("usage: bench PEERS compare|time|cold|stack|count|libraries [WALKER...]");
    if (argc > 3)
        wanted = argv + 3;
    dl_iterate_phdr(find_sections, NULL);
    dl_iterate_phdr(find_library, NULL);
#ifdef __riscv /* no segment has its tables: see shapes.sh */
    image.sframe = sframe_start;
    image.sframe_size = (size_t)(sframe_end - sframe_start);
#endif
    if (image.sframe == NULL)
        die("the program has no SFrame section");
    find_stack();
    walkers[walker_count++] = &nothing;
    add(sfu_walkers);
#ifdef BENCH_BOTH
    add(small_walkers);
#endif
    if (BENCH_FP)
        add(fp_walkers);
    for (unsigned i = 0; i < sizeof peer_names / sizeof *peer_names; i++)
        add_peer(argv[1], peer_names[i]);
    if (strcmp(mode, "libraries") == 0)
        return dl_iterate_phdr(print_name, NULL);
    choose();
    if (strcmp(mode, "count") != 0)
        right = compare();
    if (!right)
        return 1;
    if (strcmp(mode, "time") == 0)
        rounds(mode, ROUNDS, take_time);
    else if (strcmp(mode, "cold") == 0)
        cold();
    else if (strcmp(mode, "stack") == 0)
        stack();
    else if (strcmp(mode, "count") == 0)
        count();
    return 0;
}

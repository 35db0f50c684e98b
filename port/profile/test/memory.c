/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A kernel that says where its memory went. One call path leaks: its blocks are never freed. Others free all that they
 * take, or keep some on purpose. Then it panics while it holds a lock; in the panic it prints who holds it, what is
 * still allocated, and how long locks were held. If the command line is "cost", it measures what that costs.
 */
#include "cpu.h"
#include "heap.h"
#include "sfu_profile.h"

enum { REQUESTS = 25, LEAKED = 48, KEPT = 104, TIMES = 1000, FRAMES = 12 };

#define PART __attribute__((noinline, no_icf)) static

extern const char build_id_start[], build_id_end[];
extern uint8_t image_start[];

static struct sfu_fast fast;
static uint64_t memory[3][4096];
#if CPU_HAS_FAST
static struct sfu_fast_image images[4];
static uint64_t cache[1024];
#endif
static uint8_t heap[65536] __attribute__((aligned(16)));
static struct where blocks = {.fast = &fast}, locks = {.fast = &fast};
static struct lock table_lock = {.name = "table"}, list_lock = {.name = "list"};
static struct sfu_profile profile;
static volatile unsigned sink;

static void put(void *ctx, char c)
{
    (void)ctx;
    machine_putc(c);
}

static struct sfu_panic console = {.put = put, .target = &kernel_target};

/* ---- what allocates ---- */

PART void *read_header(void)
{
    void *header = heap_alloc(LEAKED);

    sink++;
    return header;
}

PART void *read_body(size_t size)
{
    void *body = heap_alloc(size);

    sink++;
    return body;
}

/* Its header is never freed. */
PART void handle_request(size_t size)
{
    (void)read_header();
    heap_free(read_body(size));
}

/* So is this one's. */
PART void handle_good_request(size_t size)
{
    void *header = read_header(), *body = read_body(size);

    heap_free(body);
    heap_free(header);
}

PART void fill_cache(void)
{
    unsigned i;

    for (i = 0; i < 3; i++)
        (void)read_body(KEPT);
}

PART void update_table(void)
{
    lock_take(&table_lock, &locks, machine_cpu(), cpu_clock());
    sink++;
    lock_drop(&table_lock, &locks, cpu_clock());
    lock_take(&table_lock, &locks, machine_cpu(), cpu_clock());
    lock_take(&list_lock, &locks, machine_cpu(), cpu_clock());
    sink++;
    lock_drop(&list_lock, &locks, cpu_clock());
    panic("the table is broken");
}

/* ---- the report ---- */

static void report(void)
{
    struct sfu_depot_report report = {.unit = "bytes", .build_id = build_id_start, .build_id_end = build_id_end};

    lock_print(&table_lock, &locks, &console);
    lock_print(&list_lock, &locks, &console);
    sfu_depot_print(&console, &blocks.depot, &report);
    report.unit = "ticks";
    sfu_depot_print(&console, &locks.depot, &report);
}

/* ---- costs ---- */

static void print_cost(const char *what, uint64_t ticks)
{
    sfu_print_text(&console, "cost ");
    sfu_print_text(&console, what);
    sfu_print_number(&console, " ", ticks, 10, 1);
    sfu_print_text(&console, "\n");
}

PART void allocations(void)
{
    unsigned i;

    for (i = 0; i < TIMES; i++)
        heap_free(heap_alloc(64));
}

PART void samples(void)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);
    unsigned i;

    for (i = 0; i < TIMES; i++)
        sfu_profile_sample(&profile, &fast, &kernel_target, &here, false);
}

/* What a walk by frame pointers does: frame records, whose addresses must grow and lie on the stack. */
PART size_t walk_records(const uint64_t *record, const uint64_t *low, const uint64_t *high, uint64_t *pcs)
{
    size_t count = 0;

    while (count < SFU_PROFILE_PCS && record >= low && record < high && record[1] != 0) {
        const uint64_t *next = (const uint64_t *)(uintptr_t)record[0];

        pcs[count++] = record[1];
        if (next <= record)
            break;
        record = next;
    }
    return count;
}

PART void samples_by_records(void)
{
    static uint64_t records[FRAMES][6];
    uint64_t pcs[SFU_PROFILE_PCS];
    unsigned i;

    for (i = 0; i < FRAMES; i++) {
        records[i][0] = (uintptr_t)(i + 1 < FRAMES ? records[i + 1] : NULL);
        records[i][1] = (uintptr_t)image_start + 100 + i;
    }
    for (i = 0; i < TIMES; i++) {
        size_t count = walk_records(records[0], records[0], records[FRAMES - 1] + 6, pcs);

        (void)sfu_depot_add(&profile.depot, pcs, count, 1);
    }
}

static uint64_t time_of(void (*part)(void))
{
    uint64_t begin;

    part(); /* traces are there, and rows are in the cache */
    begin = cpu_clock();
    part();
    return cpu_clock() - begin;
}

/* Runs PART with FRAMES frames in all: its own, those of boot, kernel_start, kernel_main, costs and this function. */
PART uint64_t at_depth(unsigned depth, void (*part)(void))
{
    uint64_t time = depth > 0 ? at_depth(depth - 1, part) : time_of(part);

    sink++;
    return time;
}

PART void costs(void)
{
    if (!sfu_profile_start(&profile))
        panic("no profile");
    print_cost("allocations", at_depth(FRAMES - 6, allocations));
    heap_init(heap, sizeof heap, NULL);
    print_cost("without", at_depth(FRAMES - 6, allocations));
    print_cost("samples", at_depth(FRAMES - 6, samples));
    print_cost("by-records", at_depth(FRAMES - 6, samples_by_records));
}

/* In the end, behind the panic's trace. */
static bool crashing;
_Noreturn void __real_machine_exit(bool good);
_Noreturn void __wrap_machine_exit(bool good);

_Noreturn void __wrap_machine_exit(bool good)
{
    if (crashing)
        report();
    __real_machine_exit(good);
}

void kernel_main(const char *command_line)
{
    unsigned i;

#if CPU_HAS_FAST
    if (sfu_fast_add(&fast, images, sizeof images / sizeof images[0], kernel_target.sections) != SFU_OK)
        panic("no tables");
    kernel_target.sections = sfu_fast_sections(&fast);
    sfu_fast_set_cache(&fast, cache, sizeof cache);
#endif
    if (!sfu_depot_init(&blocks.depot, memory[0], sizeof memory[0], (uintptr_t)image_start) ||
        !sfu_depot_init(&locks.depot, memory[1], sizeof memory[1], (uintptr_t)image_start) ||
        !sfu_profile_init(&profile, memory[2], sizeof memory[2], (uintptr_t)image_start))
        panic("no depots");
    heap_init(heap, sizeof heap, &blocks);
    if (command_line != NULL && command_line[0] == 'c') {
        costs();
        return;
    }
    fill_cache();
    for (i = 0; i < REQUESTS; i++) {
        handle_request(100 + 8 * i);
        handle_good_request(200);
    }
    crashing = true;
    update_table();
}

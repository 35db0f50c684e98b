/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Ways to a trace, side by side, on a board: peers.py steps work() through a debugger's stub, knows by that which
 * frames there are, and lets PendSV come at each place that it wants. Each walker starts from what PendSV interrupted.
 * -DPEER_x builds an image with that walker alone, whose size counts; without any, all of them. PEER_DUMP has no walker
 * on board: it prints a dump. With PEER_KEPT the dump goes into memory, where peers.py takes it.
 */
#include "board.h"
#include "sfu_cortexm.h"

#if !defined(PEER_NONE) && !defined(PEER_DUMP) && !defined(PEER_SCAN) && !defined(PEER_EHABI) &&                   \
    !defined(PEER_FP) && !defined(PEER_SFU)
#define PEER_SCAN
#define PEER_EHABI
#define PEER_FP
#define PEER_SFU
#endif

enum { MOST = 24 };
struct result {
    uint32_t count, pcs[MOST];
};
struct result by_scan, by_ehabi, by_fp, by_sfu;

static void keep(struct result *r, uint32_t pc)
{
    if (r->count < MOST)
        r->pcs[r->count++] = pc & ~1u;
}

/* What the CPU has pushed, and the SP before. */
struct start {
    uint32_t pc, lr, sp, r7;
};

extern const uint8_t code_start[], code_end[];

#ifdef PEER_SCAN
/* A scan of the stack, as libraries do that have no tables: each word that is odd, lies in code and has BL or BLX in
 * front of it counts as a return address. So does LR, where the interrupted function has not called yet. */
static bool looks_right(uint32_t word)
{
    const uint32_t at = word & ~1u;
    const volatile uint16_t *code = (const volatile uint16_t *)at;

    return (word & 1) != 0 && at >= (uintptr_t)code_start + 4 && at < (uintptr_t)code_end &&
           ((code[-1] & 0xff87) == 0x4780 || ((code[-2] & 0xf800) == 0xf000 && (code[-1] & 0xd000) == 0xd000));
}

static void scan(const struct start *start, struct result *r)
{
    const uint32_t *word;

    keep(r, start->pc);
    if (looks_right(start->lr))
        keep(r, start->lr);
    for (word = (const uint32_t *)start->sp; word < (const uint32_t *)(uintptr_t)main_stack_top; word++)
        if (looks_right(*word) && (r->count != 2 || (*word & ~1u) != r->pcs[1]))
            keep(r, *word);
}
#endif

#ifdef PEER_FP
/* The FP points at the caller's FP and the RA. */
static void by_records(const struct start *start, struct result *r)
{
    uint32_t fp = start->r7;

    keep(r, start->pc);
    while (fp >= start->sp && fp <= (uintptr_t)main_stack_top - 8 && (fp & 3) == 0) {
        const uint32_t *record = (const uint32_t *)fp;

        if (record[0] <= fp && record[0] != 0)
            break;
        keep(r, record[1]);
        fp = record[0];
    }
}
#endif

#ifdef PEER_EHABI
/* libgcc's unwinder, from given registers: what _Unwind_Backtrace calls itself. */
#include <unwind.h>
struct virtual_registers {
    uint32_t demand_save_flags, r[16];
};
_Unwind_Reason_Code __gnu_Unwind_Backtrace(_Unwind_Trace_Fn trace, void *ctx, struct virtual_registers *entry);

static bool is_first;

static _Unwind_Reason_Code each(struct _Unwind_Context *context, void *ctx)
{
    struct result *r = ctx;

    if (!is_first)
        keep(r, (uint32_t)_Unwind_GetIP(context));
    is_first = false;
    return r->count < MOST ? _URC_NO_REASON : _URC_FAILURE;
}

/* It looks each PC up as a return address, 2 bytes lower. So the first one, which is exact, is given 2 higher. */
static void by_index(const struct start *start, const struct sfu_cortexm_entry *entry, struct result *r)
{
    struct virtual_registers v;
    unsigned i;

    v.demand_save_flags = 0;
    for (i = 0; i < 16; i++)
        v.r[i] = i >= 4 && i < 12 ? entry->r4_to_r11[i - 4] : 0;
    v.r[13] = start->sp;
    v.r[14] = start->lr;
    v.r[15] = (start->pc + 2) | 1;
    keep(r, start->pc);
    is_first = true;
    (void)__gnu_Unwind_Backtrace(each, r, &v);
}

/* What it wants of a C library. It gives up by abort: the results are taken as they are then. */
void measured(void);
void abort(void);
void abort(void)
{
    measured();
    for (;;) {
    }
}
#endif

#ifdef PEER_KEPT
uint32_t num_kept;
char kept[4096];

static void put(void *ctx, char c)
{
    (void)ctx;
    if (num_kept < sizeof kept)
        kept[num_kept++] = c;
}
#else
static void put(void *ctx, char c)
{
    (void)ctx;
    board_putc(c);
}
#endif

static struct sfu_panic panic = {.put = put};
#ifdef PEER_DUMP
#include "sfu_dump.h"
static struct sfu_cortexm cortexm;
static struct sfu_dump dump;

static void print_dump(const struct sfu_cortexm_entry *entry)
{
    struct sfu_registers top;

    (void)sfu_cortexm_registers(&cortexm, entry, &top);
    sfu_dump_print(&panic, &dump, &top);
}
#endif
#ifdef PEER_SFU
static struct sfu_cortexm cortexm;
static struct sfu_walk walk;

static void by_tables(const struct sfu_cortexm_entry *entry, struct result *r)
{
    struct sfu_registers top;

    if (sfu_cortexm_registers(&cortexm, entry, &top) != SFU_OK)
        return;
    sfu_walk_start(&walk, cortexm.target, &top);
    do
        keep(r, (uint32_t)walk.frame.regs.pc);
    while (sfu_walk_step(&walk) == SFU_OK);
}
#endif

/* Where peers.py takes the results. */
__attribute__((__noinline__)) void measured(void);
void measured(void)
{
    __asm__ volatile("" : : : "memory");
}

SFU_CORTEXM_ENTRY(PendSV_Handler, on_sample)
void on_sample(const struct sfu_cortexm_entry *entry)
{
    const uint32_t *frame = (const uint32_t *)entry->msp;
    const uint32_t size = ((entry->exc_return & 0x10) != 0 ? 32u : 104u) + ((frame[7] >> 9 & 1) != 0 ? 4u : 0u);
    const struct start start = {frame[6], frame[5], entry->msp + size, entry->r4_to_r11[3]};

    by_scan.count = by_ehabi.count = by_fp.count = by_sfu.count = 0;
#ifdef PEER_SCAN
    scan(&start, &by_scan);
#endif
#ifdef PEER_FP
    by_records(&start, &by_fp);
#endif
#ifdef PEER_SFU
    by_tables(entry, &by_sfu);
#endif
#ifdef PEER_EHABI
    by_index(&start, entry, &by_ehabi);
#endif
#ifdef PEER_KEPT
    num_kept = 0;
#endif
#ifdef PEER_DUMP
    print_dump(entry);
#endif
    (void)start;
    measured();
}

/* ---- what is stepped ---- */

#define NOINLINE __attribute__((__noinline__))

struct node {
    struct node *left, *right;
    int key;
};
static struct node nodes[24];
static unsigned num_nodes;
static volatile int sink;

NOINLINE static struct node *insert(struct node *tree, int key)
{
    if (tree == NULL) {
        tree = &nodes[num_nodes++ % 24];
        tree->left = tree->right = NULL;
        tree->key = key;
    } else if (key < tree->key) {
        tree->left = insert(tree->left, key);
    } else {
        tree->right = insert(tree->right, key);
    }
    return tree;
}

NOINLINE static void visit(const struct node *tree, void (*each_node)(int))
{
    if (tree == NULL)
        return;
    visit(tree->left, each_node);
    each_node(tree->key);
    visit(tree->right, each_node);
}

NOINLINE static void add(int value)
{
    sink += value;
}

NOINLINE static int compare(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

NOINLINE static void sort(int *values, unsigned n, int (*order)(const void *, const void *))
{
    unsigned i, k;

    for (i = 1; i < n; i++)
        for (k = i; k > 0 && order(&values[k - 1], &values[k]) > 0; k--) {
            int t = values[k];

            values[k] = values[k - 1];
            values[k - 1] = t;
        }
}

NOINLINE static float area(float a, float b, int depth)
{
    if (depth == 0)
        return a * b;
    return area(a, b * 0.5f, depth - 1) + area(a * 0.5f, b, depth - 1);
}

/* A frame whose size is known when it runs. */
NOINLINE static int sum_of_squares(unsigned n)
{
    int squares[n], sum = 0;
    unsigned i;

    for (i = 0; i < n; i++)
        squares[i] = (int)(i * i);
    sort(squares, n, compare);
    for (i = 0; i < n; i++)
        sum += squares[i];
    return sum;
}

/* Leaves addresses of code in a frame that never returns to them. */
NOINLINE static int dispatch(int which, int value)
{
    static int (*const functions[])(const void *, const void *) = {compare, compare};
    int (*volatile chosen)(const void *, const void *) = functions[which & 1];
    volatile int buffer[12];

    buffer[which % 12] = value;
    return chosen((const void *)&buffer[which % 12], &value);
}

NOINLINE void work(void);
void work(void)
{
    struct node *tree = NULL;
    int values[6] = {5, 3, 6, 1, 4, 2}, i;

    num_nodes = 0;
    for (i = 0; i < 6; i++)
        tree = insert(tree, values[i]);
    visit(tree, add);
    sort(values, 6, compare);
    sink += (int)area(3, 4, 2) + sum_of_squares(5);
    for (i = 0; i < 4; i++)
        sink += dispatch(i, i);
    __asm__ volatile("" : : : "memory");
}

void board_main(const char *command_line)
{
    (void)command_line;
#ifdef PEER_DUMP
    sfu_cortexm_init_dump(&cortexm, &panic, ram_start, ram_end);
#endif
#ifdef PEER_SFU
    sfu_cortexm_init(&cortexm, &panic, sframe_start, sframe_end, ram_start, ram_end);
#endif
    (void)panic;
    *board_register(0xe000ed20) = 0x00ff0000;
    for (;;)
        work();
}

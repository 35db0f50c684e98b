/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A task that is interrupted by SysTick at each instruction, one after the other, in handlers too: the machine enters
 * the exceptions itself, and sfu walks on board. steps.py steps the same work by a debugger's stub, and knows by that
 * which frames there are. Each walk is a line: PC and SP of each frame, then the code at its end.
 */
#include "board.h"
#include "sfu_cortexm.h"

#define NOINLINE __attribute__((__noinline__))

enum { LINE = 1024 };
static struct sfu_panic panic;
static struct sfu_cortexm cortexm;
static struct sfu_walk walk;
static char line[LINE];
static unsigned length;
static volatile bool has_ticked;
static volatile int sink;
static int zero; /* no compiler knows that */

static void put(void *ctx, char c)
{
    (void)ctx;
    board_putc(c);
}

static void write_hex(uint32_t value)
{
    unsigned shift;

    for (shift = 32; shift > 0; shift -= 4)
        line[length++] = "0123456789abcdef"[value >> (shift - 4) & 15];
    line[length++] = ' ';
}

SFU_CORTEXM_ENTRY(SysTick_Handler, on_tick)
void on_tick(const struct sfu_cortexm_entry *entry)
{
    struct sfu_registers top;
    int code;

    *SYSTICK_CONTROL = 0;
    *ICSR = 1u << 25; /* not pending any more */
    has_ticked = true;
    length = 0;
    (void)sfu_cortexm_registers(&cortexm, entry, &top);
    sfu_walk_start(&walk, cortexm.target, &top);
    do {
        write_hex((uint32_t)walk.frame.regs.pc);
        write_hex((uint32_t)walk.frame.regs.sp);
        code = sfu_walk_step(&walk);
    } while (code == SFU_OK && length < LINE - 32);
    write_hex((uint32_t)code);
    line[length++] = '\n';
    line[length] = '\0';
    board_print(line);
}

/* ---- what is stepped ---- */

NOINLINE static int leaf(int a)
{
    return a * 3 + 1;
}

NOINLINE static int recurse(int n)
{
    volatile int kept[3] = {n, n + 1, n + 2};

    if (n == 0)
        return leaf(kept[1]);
    return recurse(n - 1) + kept[0] + leaf(n);
}

NOINLINE static int fill(char *to, int n)
{
    int i;

    for (i = 0; i < n; i++)
        to[i] = (char)leaf(i);
    return to[0];
}

/* A frame of variable size, behind a frame pointer. */
NOINLINE static int variable(int n)
{
    char *room = __builtin_alloca((unsigned)n * 8);

    return fill(room, n) + leaf(n);
}

/* Its arguments are on the stack, too. */
NOINLINE static int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
    return leaf(a + b) + leaf(c + d) * leaf(e + f) + leaf(g + h) + a + b + c + d;
}

/* A frame too large for an immediate value. */
NOINLINE static int large(int n)
{
    volatile int room[280];

    room[n] = leaf(n);
    return room[n] + leaf(n + 1);
}

NOINLINE static int through(int (*f)(int), int n)
{
    return f(n) + f(n + 1);
}

NOINLINE static int chosen(int n)
{
    switch (n) {
    case 0:
        return leaf(7);
    case 1:
        return recurse(1);
    case 2:
        return 5;
    default:
        return n < 5 ? variable(2) : large(3);
    }
}

/* Pushes what it has been given in registers. */
NOINLINE static int sum(int n, ...)
{
    __builtin_va_list list;
    int total = 0;

    __builtin_va_start(list, n);
    while (n-- > 0)
        total += leaf(__builtin_va_arg(list, int));
    __builtin_va_end(list);
    return total;
}

#ifdef __ARM_FP
NOINLINE static float half(float a)
{
    return a * 0.5f;
}

/* Values of the FPU that its callee has to keep. */
NOINLINE static float floats(float a, float b)
{
    float c = half(a) + b, d = half(b) * a;

    return half(c) + c * d - half(d) + a;
}
#define FLOATS(n) ((int)floats((float)(n), 2.5f))
#else
#define FLOATS(n) leaf(n)
#endif

void SVC_Handler(void);
void SVC_Handler(void)
{
    sink = recurse(zero + 1) + FLOATS(zero + 3);
}

/* SVC_Handler interrupts this one, and SysTick both. */
void PendSV_Handler(void);
void PendSV_Handler(void)
{
    int n = variable(zero + 2);

    __asm__ volatile("svc #0" : : : "memory");
    sink = n + leaf(n) + FLOATS(zero + 1);
}

NOINLINE static int exceptions(int n)
{
    int a = leaf(n);

    __asm__ volatile("svc #0" : : : "memory");
    *ICSR = 1u << 28; /* PendSV, now */
    __asm__ volatile("dsb\n\tisb" : : : "memory");
    return a + leaf(n + 1);
}

NOINLINE void work(void);
void work(void)
{
    int i, n = zero;

    for (i = 0; i < 6; i++)
        n += chosen(i);
    n += many(n, 2, 3, i, 5, n, 7, 8) + through(leaf, n) + through(recurse, zero + 1) + sum(5, n, 2, 3, 4, i);
    n += FLOATS(n & 7) + exceptions(zero);
    sink = n;
}

/* ---- all of it ---- */

NOINLINE void run(void);
void run(void)
{
    work();
    __asm__ volatile("" : : : "memory");
}

static bool is_stepped;

_Noreturn static void task(void)
{
    uint32_t after;

    SFU_CORTEXM_OUTERMOST();
    has_ticked = true;
    for (after = 1; has_ticked; after++) {
        has_ticked = false;
        if (!is_stepped) {
            *SYSTICK_RELOAD = after;
            *SYSTICK_NOW = 0;
            *SYSTICK_CONTROL = 7;
        }
        run();
        *SYSTICK_CONTROL = 0;
    }
    board_exit(true);
}

static uint8_t task_stack[3072] __attribute__((__aligned__(8)));

void board_main(const char *command_line)
{
    is_stepped = command_line[0] == 's';
    panic.put = put;
    if (sfu_cortexm_init(&cortexm, &panic, sframe_start, sframe_end, ram_start, ram_end) != SFU_OK)
        board_exit(false);
    *board_register(0xe000ed1c) = 0x80000000; /* the priorities: SysTick before SVC before PendSV */
    *board_register(0xe000ed20) = 0x00c00000;
    board_run(task, task_stack + sizeof task_stack);
}

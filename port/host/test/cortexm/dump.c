/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A firmware that has no tables on board: it prints its registers and stacks, and sfu-trace does the rest. Its command
 * line says where it crashes: "task"; "interrupt", which comes over the task; "fpu", the same where the task has used
 * the FPU, if there is one; "wrong", an exception that cannot return; "overflow", where the MPU keeps the CPU from
 * pushing registers, if there is one. In the same way the CPU loses what an NMI ("nmi") or SysTick ("pending") has
 * interrupted, whose handler runs before that of the fault; an NMI comes into that handler ("both"), or into that of
 * the fault ("crossed"). SysTick's handler dumps itself ("here"; "here-lost", as "pending" does), with a copy of the
 * System Control Block ("scb", "scb-lost"). A function jumps to an even address inside of another one ("jump").
 * cortexm_trace.py knows which functions are in the traces then.
 */
#include "board.h"
#include "sfu_arch.h"
#include "sfu_cortexm.h"
#include "sfu_dump.h"

#define NOINLINE  __attribute__((__noinline__))
#define BARRIER() __asm__ volatile("dsb\n\tisb" : : : "memory")

static void put(void *ctx, char c)
{
    (void)ctx;
    board_putc(c);
}

static struct sfu_panic panic = {.put = put};
static struct sfu_cortexm cortexm;

enum { TASK_SIZE = 1024, TASK_WORDS = 32, CONTROL_WORDS = 60 };
static uint32_t control[CONTROL_WORDS]; /* of the System Control Block */
static uint8_t task_stack[TASK_SIZE] __attribute__((__aligned__(8)));
static struct sfu_dump_stack stacks[2] = {{0, TASK_WORDS, NULL}, {0xe000ed00, CONTROL_WORDS / 2, control}};
static struct sfu_dump dump = {.stacks = stacks, .num_stacks = 1, .words = 64};

static const char *command;

static void print_registers(const struct sfu_registers *top)
{
    __asm__ volatile("mrs %0, psp" : "=r"(dump.psp));
    stacks[0].addr = dump.psp;
    board_print("psp ");
    sfu_print_number(&panic, "0x", dump.psp, 16, 8);
    board_print("\n");
    sfu_dump_print(&panic, &dump, top);
    board_exit(false);
}

static void print_dump(const struct sfu_cortexm_entry *entry)
{
    struct sfu_registers top;

    (void)sfu_cortexm_registers(&cortexm, entry, &top);
    print_registers(&top);
}

NOINLINE void dump_here(bool with_control);
void dump_here(bool with_control)
{
    struct sfu_registers here = sfu_registers_here();
    unsigned i;

    for (i = 0; i < CONTROL_WORDS; i++)
        control[i] = *board_register(0xe000ed00 + 4 * i);
    if (with_control)
        dump.num_stacks = 2;
    print_registers(&here);
}

SFU_CORTEXM_ENTRY(NMI_Handler, on_nmi)
void on_nmi(const struct sfu_cortexm_entry *entry)
{
    print_dump(entry);
}

SFU_CORTEXM_ENTRY(HardFault_Handler, crash)
void crash(const struct sfu_cortexm_entry *entry)
{
    if (command[0] == 'c') {
        *ICSR = 1u << 31;
        BARRIER();
    }
    print_dump(entry);
}

NOINLINE void fail(void);
void fail(void)
{
    __asm__ volatile("udf #0");
}

/* The label lies where the function has pushed registers. */
void pushes(void);
void pushes_inside(void);
__asm__(".syntax unified\n\t.text\n\t.thumb\n\t.balign 4\n\t.globl pushes\n\t.type pushes, %function\n\t"
        ".thumb_func\npushes:\n\t.cfi_startproc\n\tpush {r4, lr}\n\t.cfi_def_cfa_offset 8\n\t.cfi_offset lr, -4\n\t"
        ".globl pushes_inside\n\t.thumb_func\npushes_inside:\n\tadds r0, #1\n\tpop {r4, pc}\n\t.cfi_endproc\n\t"
        ".size pushes, . - pushes");

NOINLINE void jump(void (*where)(void));
void jump(void (*where)(void))
{
    where();
    BARRIER();
}

NOINLINE int read_sensor(int n);
int read_sensor(int n)
{
    volatile int values[20];

    values[n] = n;
    fail();
    return values[n];
}

void SysTick_Handler(void);
void SysTick_Handler(void)
{
    if (command[0] == 'b') {
        *ICSR = 1u << 31;
        BARRIER();
    }
    if (command[0] == 'h' || command[0] == 's')
        dump_here(command[0] == 's');
    board_print(read_sensor(7) == 7 ? "7\n" : "other\n");
}

/* Returns by an EXC_RETURN that no exception has, from a stack that is as it was. */
void PendSV_Handler(void) __attribute__((__naked__));
void PendSV_Handler(void)
{
    __asm__ volatile("ldr r0, =0xfffffff5\n\tbx r0");
}

enum { REGION = 256, NO_ACCESS = 0, KERNEL_READS = 5 };

/* No execution, and little or no access to REGION bytes at START, except in the handlers of HardFault and NMI. */
static void protect(const void *start, uint32_t access)
{
    *board_register(0xe000ed98) = 0;                                     /* MPU_RNR */
    *board_register(0xe000ed9c) = (uint32_t)(uintptr_t)start;            /* MPU_RBAR */
    *board_register(0xe000eda0) = 1u << 28 | access << 24 | 7u << 1 | 1; /* MPU_RASR */
    *board_register(0xe000ed94) = 5;                                     /* MPU_CTRL */
    BARRIER();
}

/* The task's stack pointer runs into memory without access, where the CPU cannot push. */
NOINLINE void overflow(void);
void overflow(void)
{
    static uint8_t guard[REGION] __attribute__((__aligned__(REGION)));

    protect(guard, NO_ACCESS);
    __asm__ volatile("msr psp, %0\n\tudf #0" : : "r"(guard + sizeof guard / 2) : "memory");
}

NOINLINE void victim(void);
void victim(void)
{
    __asm__ volatile("nop");
}

/* The task's stack pointer runs to where the CPU cannot push, but finds what looks like a frame of VICTIM, which never
 * runs. Then exceptions pend, by the BITS of ICSR; or, if these are 0, it faults. */
static void lose(uint32_t bits)
{
    enum { WORDS = 32 };
    static uint32_t fake[REGION / 4] __attribute__((__aligned__(REGION)));
    uint32_t *frame = &fake[WORDS - 8];

    frame[5] = 0xffffffff;
    frame[6] = (uint32_t)(uintptr_t)victim & ~1u;
    frame[7] = 1u << 24;
    protect(fake, KERNEL_READS);
    __asm__ volatile("msr psp, %0" : : "r"(fake + WORDS) : "memory");
    if (bits == 0)
        __asm__ volatile("udf #0");
    *ICSR = bits;
    BARRIER();
    for (;;) {
    }
}

/* MemManage has a handler, of a lower priority than SysTick. */
static void lose_to_tick(void)
{
    *SHCSR |= 1u << 16;
    *board_register(0xe000ed18) = 0x80;       /* SHPR1 */
    *board_register(0xe000ed20) = 0x40000000; /* SHPR3 */
    lose(1u << 26);
}

static bool is_lost(const char *where)
{
    while (*where != '-' && *where != '\0')
        where++;
    return *where != '\0';
}

NOINLINE void work(const char *what);
void work(const char *what)
{
#if defined(__ARM_FP)
    if (what[0] == 'f') {
        volatile float value = 1;

        value = value / 3;
    }
#endif
    if (what[0] == 't')
        fail();
    if (what[0] == 'j')
        jump((void (*)(void))((uintptr_t)pushes_inside & ~(uintptr_t)1));
    if (what[0] == 'o')
        overflow();
    if (what[0] == 'n')
        lose(1u << 31);
    if (what[0] == 'p' || what[0] == 'b' || is_lost(what))
        lose_to_tick();
    if (what[0] == 'c')
        lose(0);
    *ICSR = what[0] == 'w' ? 1u << 28 : 1u << 26; /* PendSV or SysTick, now */
    BARRIER();
}

_Noreturn static void task(void)
{
    SFU_CORTEXM_OUTERMOST();
    for (;;)
        work(command);
}

/* The first function of a task, which may return. */
static void left(void)
{
    if (command[0] == 'e')
        dump_here(true);
    work(command);
    BARRIER();
}

/* Has EXC_RETURN in LR when it jumps there, as some context switches do. */
static __attribute__((__naked__)) void leave_in_lr(void)
{
    __asm__ volatile("ldr r0, =0xfffffffd\n\tmov lr, r0\n\tbx %0\n\t.ltorg" : : "l"(left) : "r0");
}

void board_main(const char *command_line)
{
    const bool is_left = command_line[0] == 'l';

    command = is_left ? command_line + 1 : command_line;
    sfu_cortexm_init_dump(&cortexm, &panic, ram_start, ram_end);
    board_run(is_left ? leave_in_lr : task, task_stack + sizeof task_stack);
}

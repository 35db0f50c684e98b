/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A kernel around the examples of README.md and of the pages of docs/, on the machines of port/baremetal; the command
 * line chooses one. manual.py has the functions that each trace must show, written from this file.
 */
#include "kernel.h"
#include "sfu_print.h"
#include "threads.h"
#include "port/baremetal/test/step.h"

extern const uint8_t sframe_start[], sframe_end[], image_start[], boot_stack_top[];

/* ---- the first example ---- */

void console_putc(char c);
void kernel_init(void);
void kernel_panic(void);

void console_putc(char c)
{
    machine_putc(c);
}

step static void fails(void)
{
    kernel_panic();
}

step static void starts(void)
{
    kernel_init();
    fails();
}

/* ---- the loop of a walk ---- */

int walk_init(void);
int walk(const struct sfu_registers *from);
int step_by_row(struct sfu_walk *walk);
void each_frame(const struct sfu_frame *frame);

static struct sfu_panic panic_trace, frame_printer;

void each_frame(const struct sfu_frame *frame)
{
    struct sfu_print_item item = {
        .pc = frame->regs.pc, .lookup = sfu_lookup_pc(&frame->regs), .number = frame->depth};

    sfu_print_line(&frame_printer, &item);
}

/* By the loop, then by the halves of each step. */
step static void walks(void)
{
    struct sfu_registers here = sfu_registers_here();
    struct sfu_walk by_rows;
    int code;

    sfu_print_end(&frame_printer, walk(&here), true);
    sfu_walk_start(&by_rows, &panic_trace.own, &here);
    do
        each_frame(&by_rows.frame);
    while ((code = step_by_row(&by_rows)) == SFU_OK);
    sfu_print_end(&frame_printer, code, by_rows.frame.reliable);
}

/* ---- where a trace begins ---- */

struct sfu_registers of_trap(const struct trap *trap);
struct sfu_registers of_blocked(const struct thread_state *thread);
void thread_new(struct thread_state *thread, uint64_t *top);
struct sfu_registers of_switched(const struct sfu_target *target, const struct thread_state *thread);
void print_thread(struct sfu_panic *printer, const struct thread_state *thread);
int saved_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value);
int cross_handler(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted);
void thread_main(void);

static uint64_t stacks[2][1024] __attribute__((aligned(16)));
static struct thread_state boot_thread, threads[2];

static void put(void *ctx, char c)
{
    (void)ctx;
    machine_putc(c);
}

/* Instead of the stack's bytes. */
static int read_stack(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    (void)ctx;
    if (addr < (uintptr_t)image_start || addr > (uintptr_t)boot_stack_top - len)
        return -1;
    __builtin_memcpy(buffer, (const void *)(uintptr_t)addr, len);
    return 0;
}

step static void waits(void)
{
    switch_to(&threads[0].sp, boot_thread.sp);
}

void thread_main(void)
{
    waits();
    machine_exit(false);
}

step static void three_threads(void)
{
    struct sfu_registers here, blocked, new;

    thread_new(&threads[0], stacks[0] + 1024);
    thread_new(&threads[1], stacks[1] + 1024);
    switch_to(&boot_thread.sp, threads[0].sp);
    blocked = of_blocked(&threads[0]);
    new = of_blocked(&threads[1]);
    (void)sfu_panic_print(&panic_trace, &blocked);
    (void)sfu_panic_print(&panic_trace, &new);
    print_thread(&panic_trace, &threads[0]);
    print_thread(&panic_trace, &threads[1]);
    threads[1].sp = 0; /* spoilt */
    print_thread(&panic_trace, &threads[1]);
    (void)sfu_panic_init(&panic_trace, sframe_start, sframe_end, image_start, boot_stack_top);
    panic_trace.own.stack.bytes = NULL;
    panic_trace.own.read = read_stack;
    here = sfu_registers_here();
    (void)sfu_panic_print(&panic_trace, &here);
}

/* A thread whose first function returns to 0, and a call through a null pointer, which is no end. */
static void zeros(void)
{
    static uint64_t words[64];
    struct sfu_registers thread = {.pc = (uintptr_t)thread_main, .sp = (uintptr_t)words};

#if !defined(__x86_64__)
    thread.has_ra = true; /* 0 */
#endif
    (void)sfu_panic_print(&panic_trace, &thread);
    thread.pc = 0;
    (void)sfu_panic_print(&panic_trace, &thread);
}

step static void leaf(void)
{
    __asm__ volatile(ILLEGAL_INSTRUCTION);
}

step static void interrupted(void)
{
    leaf();
}

/* What exception_entry calls. The leaf function's RA is in a register of the trap, which the second trace lacks. */
void __wrap_kernel_trap(struct trap *trap);
void __wrap_kernel_trap(struct trap *trap)
{
    struct sfu_registers regs;

    (void)machine_trap(trap);
    regs = of_trap(trap);
    (void)sfu_panic_print(&panic_trace, &regs);
    regs = sfu_registers_here();
    (void)sfu_panic_print(&panic_trace, &regs);
    panic_trace.own.reg = saved_register;
    panic_trace.own.ctx = &panic_trace.own;
    (void)sfu_panic_print(&panic_trace, &regs);
#if defined(__aarch64__) /* its entry saves a struct sfu_cpu at SP */
    panic_trace.own.reg = sfu_cpu_reg;
    (void)sfu_panic_print(&panic_trace, &regs);
#endif
    machine_exit(true);
}

/* ---- the kernel ---- */

void kernel_main(const char *command_line)
{
    panic_trace.put = put;
    frame_printer.put = put;
    (void)sfu_panic_init(&panic_trace, sframe_start, sframe_end, image_start, boot_stack_top);
    switch (command_line[0]) {
    case 'w':
        if (walk_init() == SFU_OK)
            walks();
        break;
    case 'h':
        panic_trace.own.trap_hook = cross_handler;
        panic_trace.own.ctx = &panic_trace.own;
        zeros();
        interrupted();
        break;
    case 'e':
        starts();
        break;
    case 't':
        three_threads();
        break;
    default:
        interrupted();
    }
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Crashes of which little is left to see: wild pointers, wild returns, wild stacks. crash.S has what must not move. */
#include "scenarios.h"
#include "step.h"

enum { ILLEGAL, WAIT };
enum { ROOM = 4096 }; /* more than a frame is large */

void in_leaf(uint64_t what);
void in_prologue(uint64_t what);
void in_epilogue(uint64_t what);
void on_stack(uint64_t sp, uint64_t what);
void jump_to(uint64_t where);
void return_wild(uint64_t where);
void stepped(void);
extern const char middle[], illegal_data[];

/* No machine has anything there. */
static volatile uint64_t nowhere = NOWHERE;

/* ---- calls and jumps to what is no code ---- */

step static void call(uint64_t where)
{
    ((void (*)(void))(uintptr_t)where)();
}

step void scenario_call_null(void)
{
    call(0);
}

step void scenario_call_wild(void)
{
    call(nowhere);
}

step void scenario_call_data(void)
{
    call((uintptr_t)illegal_data + 8);
}

step void scenario_jump_null(void)
{
    jump_to(0);
}

step void scenario_return_wild(void)
{
    return_wild(nowhere);
}

#if defined(__x86_64__) || defined(__i386__)
step void scenario_middle(void)
{
    call((uintptr_t)middle + 2);
}
#endif

/* ---- at known places of a function ---- */

/* The last instruction of a function, which no one comes back to. x86's CPU leaves the PC behind it, s390x's its
 * PSW. */
#if defined(__x86_64__) || defined(__i386__)
#define TRAP "int3"
#elif defined(__aarch64__)
#define TRAP "brk #0"
#elif defined(__arm__)
#define TRAP "udf #0"
#else
#define TRAP ".short 0"
#endif
step static __attribute__((__noreturn__)) void last(void)
{
    __asm__ volatile(TRAP);
    __builtin_unreachable();
}

step void scenario_last(void)
{
    last();
}

#if defined(__x86_64__) || defined(__i386__)
/* As icebp, which QEMU takes for a breakpoint of its own: a debug exception of which DR6 says no cause. */
step static __attribute__((__noreturn__)) void last_debug(void)
{
    __asm__ volatile("int $1");
    __builtin_unreachable();
}

step void scenario_last_debug(void)
{
    last_debug();
}

/* A single step leaves the PC at the next instruction, the first one of another function. */
step void scenario_stepped(void)
{
    stepped();
}
#endif

step void scenario_leaf(void)
{
    in_leaf(ILLEGAL);
}

step void scenario_prologue(void)
{
    in_prologue(ILLEGAL);
}

step void scenario_epilogue(void)
{
    in_epilogue(ILLEGAL);
}

step void scenario_leaf_irq(void)
{
    await_interrupt();
    in_leaf(WAIT);
}

step void scenario_prologue_irq(void)
{
    await_interrupt();
    in_prologue(WAIT);
}

step void scenario_epilogue_irq(void)
{
    await_interrupt();
    in_epilogue(WAIT);
}

/* ---- stack pointers that point nowhere ---- */

/* Where SP is not a multiple of anything, in memory that says nothing. */
step static uint64_t misaligned(void)
{
    volatile uint8_t *low = machine_sp() - 2 * ROOM, *p;

    for (p = low; p < low + ROOM; p++)
        *p = 0x5a;
    return (uintptr_t)low + 1;
}

step void scenario_sp_zero(void)
{
    on_stack(0, ILLEGAL);
}

step void scenario_sp_ones(void)
{
    on_stack(UINT64_MAX, ILLEGAL);
}

step void scenario_sp_misaligned(void)
{
    on_stack(misaligned(), ILLEGAL);
}

step void scenario_sp_zero_irq(void)
{
    await_interrupt();
    on_stack(0, WAIT);
}

step void scenario_sp_ones_irq(void)
{
    await_interrupt();
    on_stack(UINT64_MAX, WAIT);
}

step void scenario_sp_misaligned_irq(void)
{
    uint64_t sp = misaligned();

    await_interrupt();
    on_stack(sp, WAIT);
}

/* ---- a stack that has run over, from end to end ---- */

static volatile uint64_t deepest;

step static uint64_t recurse_all(uint64_t n)
{
    deepest = n;
    return recurse_all(n + 1) + n;
}

static void say_how_deep(void)
{
    kernel_print("deep ");
    kernel_print_hex(deepest);
    kernel_print("\n");
}

static void expect_overflow(void)
{
    kernel_target.max_frames = 1 << 20;
    hooks.fault = say_how_deep;
}

step void scenario_overflow_all(void)
{
    expect_overflow();
    (void)recurse_all(1);
}

extern uint8_t guarded_floor[], guarded[], guarded_top[]; /* kernel.ld */

step static void run_over(void)
{
    (void)recurse_all(1);
}

step void scenario_overflow_thread(void)
{
    uint64_t left;

    machine_protect((uintptr_t)guarded_floor);
    kernel_add_stack(guarded, (uint64_t)(guarded_top - guarded), (uint64_t)(guarded - guarded_floor));
    expect_overflow();
    thread_switch(&left, machine_new_thread((uintptr_t)guarded_top, run_over));
}

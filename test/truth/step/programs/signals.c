/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The handler of the signals that the harness delivers: SIGUSR1 on the stack, SIGUSR2 on another one, where it
 * returns through the restorer that has a table. */
#include <asm/unistd.h>
#include "step.h"

enum { USR1 = 10, USR2 = 12, ONSTACK = 0x08000000, RESTORER = 0x04000000, SIGINFO = 4 };

/* RISC-V has no restorer: step_enter gives it to the handler. */
struct action {
    STEP_ASSEMBLY void (*handler)(int);
    unsigned long flags;
#ifndef __riscv
    void (*restorer)(void);
#endif
    unsigned long mask[8 / sizeof(long)];
};

struct stack {
    void *start;
    int flags;
    unsigned long size;
};

static char other_stack[65536] __attribute__((aligned(16)));
static volatile long delivered;

STEP_ASSEMBLY void step_handler(int number);
void step_signals(void);

static __attribute__((noinline)) long count_down(long n)
{
    return n <= 0 ? 1 : count_down(n - 1) + n;
}

STEP_ASSEMBLY void step_handler(int number)
{
    delivered += count_down(number & 3);
}

void step_signals(void)
{
    const struct stack stack = {other_stack, 0, sizeof other_stack};
#ifdef __riscv
    struct action action = {step_enter, SIGINFO, {0}};
#else
    struct action action = {step_handler, RESTORER | SIGINFO, step_restorer, {0}};
#endif

    step_syscall(__NR_sigaltstack, &stack, 0L, 0L, 0L);
    step_syscall(__NR_rt_sigaction, (long)USR1, &action, 0L, 8L);
    action.flags |= ONSTACK;
#if !defined __s390x__ && !defined __riscv
    action.restorer = step_restorer_table;
#endif
    step_syscall(__NR_rt_sigaction, (long)USR2, &action, 0L, 8L);
    step_ready();
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Signals, and their handlers, which compare the trace from inside of them. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include "os.h"

/* SIGALRM: compares. SIGUSR1: raises SIGUSR2, which compares, on a stack of its own. Faults: compare. The handlers
 * return through RESTORER, NULL: as is usual. */
void interrupt_init(void (*restorer)(void));

/* From interrupt_each_begin on, each instruction of functions whose names begin with p_, and of each PLT, is
 * interrupted before it runs the first time; on x86_64 every time. */
void interrupt_each_begin(void);
void interrupt_each_end(void);

/* An instruction that is undefined, and one that writes where nothing is, in the function that this is in. The
 * handlers go on behind them. */
static inline __attribute__((always_inline)) void interrupt_fault(void)
{
#if defined(__x86_64__)
    __asm__ volatile("ud2\n\tmovb $0, 8\n" : : : "memory");
#elif defined(__aarch64__)
    __asm__ volatile(".inst 0\n\tmov x9, 8\n\tstr x9, [x9]" : : : "x9", "memory");
#elif defined(__s390x__)
    __asm__ volatile(".short 0\n\tlghi %%r1, 8\n\tstg %%r1, 0(%%r1)" : : : "r1", "memory");
#endif
}

#endif

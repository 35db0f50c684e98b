/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What kernels of these tests need of a machine besides port/baremetal. */
#ifndef PROFILE_CPU_H
#define PROFILE_CPU_H

#include "kernel.h"

/* Has what the fast walker needs; otherwise the core makes all traces. */
#ifdef __i386__
#define CPU_HAS_FAST 0
#else
#define CPU_HAS_FAST (__GCC_ATOMIC_LLONG_LOCK_FREE == 2)
#endif

/* cpu_clock: a time that only grows. cpu_disable: no interrupts from here on. is_sample: TRAP is the timer, or what
 * machine_stop_others sends. LOOP(n): N passes of an empty loop. */
#if defined(__x86_64__) || defined(__i386__)
static inline uint64_t cpu_clock(void)
{
    return __builtin_ia32_rdtsc();
}

static inline void cpu_disable(void)
{
    __asm__ volatile("cli" : : : "memory");
}

static inline bool is_sample(const struct trap *trap)
{
    return trap->vector == 32 || trap->vector == 2; /* the timer; an NMI */
}

/* Of n the lower word. */
#define LOOP(n)                                                                                                    \
    do {                                                                                                           \
        uintptr_t left = (uintptr_t)(n);                                                                           \
        __asm__ volatile("1: dec %0; jnz 1b" : "+r"(left) : : "cc");                                               \
    } while (0)
#elif defined(__aarch64__)
static inline uint64_t cpu_clock(void)
{
    uint64_t now;

    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(now));
    return now;
}

static inline void cpu_disable(void)
{
    __asm__ volatile("msr daifset, #2" : : : "memory");
}

static inline bool is_sample(const struct trap *trap)
{
    return trap->irq != 0;
}

#define LOOP(n) __asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(n) : : "cc")
#elif defined(__riscv)
static inline uint64_t cpu_clock(void)
{
#if __riscv_xlen == 64
    uint64_t now;

    __asm__ volatile("csrr %0, mcycle" : "=r"(now));
    return now;
#else
    uint32_t high, low, again;

    do
        __asm__ volatile("csrr %0, mcycleh; csrr %1, mcycle; csrr %2, mcycleh"
                         : "=r"(high), "=r"(low), "=r"(again));
    while (high != again);
    return (uint64_t)high << 32 | low;
#endif
}

static inline void cpu_disable(void)
{
    __asm__ volatile("csrc " CSR_NAME(CSR_STATUS) ", %0" : : "r"(STATUS_IE) : "memory");
}

static inline bool is_sample(const struct trap *trap)
{
    return (trap->cause >> (__riscv_xlen - 1)) != 0; /* an interrupt */
}

/* Of n the lower word. */
#define LOOP(n)                                                                                                    \
    do {                                                                                                           \
        uintptr_t left = (uintptr_t)(n);                                                                           \
        __asm__ volatile("1: addi %0, %0, -1; bnez %0, 1b" : "+r"(left));                                          \
    } while (0)
#else
static inline uint64_t cpu_clock(void)
{
    uint64_t now;

    __asm__ volatile("stck %0" : "=Q"(now) : : "cc");
    return now;
}

static inline void cpu_disable(void)
{
    uint8_t mask;

    __asm__ volatile("stnsm %0, 0xfc" : "=Q"(mask) : : "memory");
}

static inline bool is_sample(const struct trap *trap)
{
    return trap->irq != 0;
}

#define LOOP(n) __asm__ volatile("1: brctg %0, 1b" : "+d"(n))
#endif

#endif

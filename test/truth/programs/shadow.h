/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The truth that traces are compared with: each function of a test says itself that it has been called, by whom and
 * with which stack. It comes from the machine and the compiler's own built-in functions, never from a table.
 *
 *     unsigned p_function(struct shadow *list)
 *     {
 *         ENTER(list);
 *         unsigned result = CALL(list, p_other(list));
 *         LEAVE(list);
 *         return result;
 *     }
 *
 * A function without ENTER is right too, if it makes no call (a leaf) or none that is not a tail call.
 */
#ifndef SHADOW_H
#define SHADOW_H

#include <stdint.h>

struct record {
    uint64_t pc;      /* somewhere in the function */
    uint64_t ra;      /* where it returns to */
    uint64_t cfa;     /* of the function, in the words of DWARF: not SP on s390x; 0: not known */
    uint64_t sp, fp;  /* registers when it last made a call */
    uint64_t context; /* the ucontext, if it is a signal handler */
};

#define SHADOW_MAX 2100

struct shadow {
    volatile uint32_t count;
    volatile struct record entry[SHADOW_MAX]; /* what LEAVE left above count stays until it is overwritten */
};

#ifdef __clang__
#define NOIPA __attribute__((noinline))
#else
#define NOIPA __attribute__((noipa))
#endif
#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t here_pc(void)
{
    uintptr_t pc;
#if defined(__x86_64__)
    __asm__ volatile("lea 0(%%rip), %0" : "=r"(pc));
#elif defined(__aarch64__)
    __asm__ volatile("adr %0, ." : "=r"(pc));
#elif defined(__s390x__)
    __asm__ volatile("larl %0, ." : "=r"(pc));
#elif defined(__riscv)
    __asm__ volatile("auipc %0, 0" : "=r"(pc));
#elif defined(__i386__)
    __asm__ volatile("1:\tmov $1b, %0" : "=r"(pc)); /* the programs are not linked as PIEs */
#endif
    return pc;
}

INLINE void shadow_enter(struct shadow *list, unsigned skip, const void *ra, const void *cfa, const void *context)
{
    volatile struct record *r = &list->entry[list->count + skip];

    r->ra = (uintptr_t)ra;
    r->cfa = (uintptr_t)cfa;
    r->sp = r->fp = 0;
    r->context = (uintptr_t)context;
    r->pc = here_pc();
    list->count = list->count + skip + 1;
}

INLINE void shadow_call(struct shadow *list)
{
    volatile struct record *r = &list->entry[list->count - 1];
#if defined(__i386__) /* ebp is any register to the compiler: it must not have another use here */
    __asm__ volatile("mov %%esp, (%0)\n\tmov %%ebp, (%1)" : : "a"(&r->sp), "d"(&r->fp) : "memory");
#else
    uintptr_t sp, fp;

#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %0\n\tmov %%rbp, %1" : "=&r"(sp), "=r"(fp) : : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp\n\tmov %1, x29" : "=&r"(sp), "=r"(fp) : : "memory");
#elif defined(__s390x__)
    __asm__ volatile("lgr %0, %%r15\n\tlgr %1, %%r11" : "=&r"(sp), "=r"(fp) : : "memory");
#elif defined(__riscv)
    __asm__ volatile("mv %0, sp\n\tmv %1, s0" : "=&r"(sp), "=r"(fp) : : "memory");
#endif
    r->sp = sp;
    r->fp = fp;
#endif
}

#define ENTER(list) shadow_enter(list, 0, __builtin_return_address(0), __builtin_dwarf_cfa(), 0)
/* FAULTS.md: gcc-dwarf-cfa. The SP that the caller has recorded will do. */
#define ENTER_REALIGNED(list) shadow_enter(list, 0, __builtin_return_address(0), 0, 0)
#define CALL(list, call)      (shadow_call(list), (call))
#define LEAVE(list)           ((list)->count = (list)->count - 1)

/* A signal handler leaves one record alone: the function that it interrupted may just be writing it. */
#define ENTER_HANDLER(list, context)                                                                               \
    shadow_enter(list, 1, __builtin_return_address(0), __builtin_dwarf_cfa(), context)
#define LEAVE_HANDLER(list) ((list)->count = (list)->count - 2)

#endif

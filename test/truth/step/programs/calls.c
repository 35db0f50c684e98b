/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * i386: the ways in which functions get their arguments and give the stack back, and a function that returns into
 * another frame. As in patterns.c, what they compute is added up and compared.
 */
#include "step.h"

#ifdef __clang__
#define NOINLINE   __attribute__((noinline))
#define VECTORCALL __attribute__((vectorcall))
#else
#define NOINLINE   __attribute__((noinline, noclone))
#define VECTORCALL __attribute__((fastcall))
#endif

#define EXPECTED 18455

static volatile long zero;

/* NAME_caller has a local variable of a size that only the run knows, NAME_tail ends by a jump where it can. */
#define CALLS(name, way)                                                                                           \
    static NOINLINE way long name##_leaf(long a, long b, long c, long d)                                           \
    {                                                                                                              \
        return a + 2 * b + 3 * c + 4 * d + zero;                                                                   \
    }                                                                                                              \
    static NOINLINE way long name##_tail(long a, long b, long c, long d)                                           \
    {                                                                                                              \
        return name##_leaf(d, c, b, a);                                                                            \
    }                                                                                                              \
    static NOINLINE way long name##_caller(long a, long b, long c, long d)                                         \
    {                                                                                                              \
        long n = name##_leaf(b, c, d, a);                                                                          \
        volatile char *p = __builtin_alloca((unsigned)(n & 15) + 16);                                              \
                                                                                                                   \
        p[n & 15] = 3;                                                                                             \
        return n + name##_leaf(d, a, b, name##_tail(c, p[n & 15], a, b));                                          \
    }                                                                                                              \
    static way long (*volatile name##_pointer)(long, long, long, long) = name##_caller;                            \
    static NOINLINE long name##_by_pointer(long x)                                                                 \
    {                                                                                                              \
        return name##_pointer(x, x + 1, 3, 4);                                                                     \
    }                                                                                                              \
    static NOINLINE long name(long x)                                                                              \
    {                                                                                                              \
        return name##_by_pointer(x) + name##_tail(1, x, 2, x) + name##_caller(1, x, 2, x);                         \
    }

CALLS(on_stack, __attribute__((cdecl)))
CALLS(taken_off, __attribute__((stdcall)))
CALLS(fast, __attribute__((fastcall)))
CALLS(method, __attribute__((thiscall)))
CALLS(one_register, __attribute__((regparm(1))))
CALLS(two_registers, __attribute__((regparm(2))))
CALLS(three_registers, __attribute__((regparm(3))))
CALLS(registers_taken_off, __attribute__((regparm(3), stdcall)))
CALLS(vectors, VECTORCALL)

/* A structure by a hidden pointer, which the function takes off the stack. */
struct large {
    long a[5];
};

static NOINLINE struct large make_large(long x)
{
    struct large l = {{x, x + 1, x + 2, on_stack_leaf(x, 1, 2, 3), zero}};

    return l;
}

static NOINLINE long large(long x)
{
    struct large l = make_large(x);

    return l.a[0] + l.a[1] + l.a[2] + l.a[3] + l.a[4];
}

/* Returns to ADDRESS, with so many BYTES taken off the stack, and with the value that was in the first register. */
long step_return_to(long bytes, void *address)
{
    on_stack_leaf(bytes, 2, 3, 4);
    __builtin_eh_return(bytes, address);
}

/* Puts X into that register, and calls step_return_to, which returns here; or to its caller, from another frame. */
long step_returned(long x);
long step_skipped(long x);
__asm__(".text\n"
        ".type step_returned, @function\n"
        "step_returned: .cfi_startproc\n"
        "    push $1f\n"
        "    .cfi_adjust_cfa_offset 4\n"
        "    push $0\n"
        "    .cfi_adjust_cfa_offset 4\n"
        "    mov 12(%esp), %eax\n"
        "    call step_return_to\n"
        "1:  add $8, %esp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size step_returned, . - step_returned\n"
        ".type step_skipped, @function\n"
        "step_skipped: .cfi_startproc\n"
        "    push (%esp)\n"
        "    .cfi_adjust_cfa_offset 4\n"
        "    push $12\n"
        "    .cfi_adjust_cfa_offset 4\n"
        "    mov 12(%esp), %eax\n"
        "    call step_return_to\n"
        "    hlt\n"
        "    .cfi_endproc\n"
        ".size step_skipped, . - step_skipped\n");

static __attribute__((aligned(8))) long (*const all[])(long) = {
    on_stack,        taken_off,           fast,    method, one_register,  two_registers,
    three_registers, registers_taken_off, vectors, large,  step_returned, step_skipped};

int step_main(void)
{
    long s = 0;
    unsigned i;

    for (i = 0; i < sizeof all / sizeof *all; i++)
        s += all[i](5 + zero) * (long)(i + 1);
    return s == EXPECTED ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * One function or a few for each way in which compilers arrange frames. They are short: each instruction of theirs
 * is stepped. What they compute is added up and compared, so that a program that went astray says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include "step.h"
#include "test/lib/memory.h"

#define NOINLINE __attribute__((noinline, noclone))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

/* clang has no nested functions; and FAULTS.md: qemu-trampoline. */
#ifdef __clang__
#define NO_TRAMPOLINES
#endif

/* Kernels on stacks of 8 bytes: gcc has no floating point there. */
#ifdef NO_FLOATS
typedef long real, short_real;
#else
typedef double real;
typedef float short_real;
#endif

/* The sum of what all patterns compute. */
#if defined NO_FLOATS && defined NO_TRAMPOLINES
static const long EXPECTED = (long)20230608127;
#elif defined NO_FLOATS
static const long EXPECTED = (long)20230608829;
#elif defined NO_TRAMPOLINES
static const long EXPECTED = (long)20231052817;
#else
static const long EXPECTED = (long)20231053519;
#endif

void step_signals(void);

static volatile long zero;

static NOINLINE long leaf(long x)
{
    return x + zero + 1;
}

static NOINLINE long caller(long x)
{
    return leaf(x) + leaf(x + 1);
}

static NOINLINE long recursive(long n)
{
    return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
}

static NOINLINE long deep(long n)
{
    return n <= 0 ? zero : deep(n - 1) + leaf(n);
}

/* Varargs, on the stack as well. */
static NOINLINE long sum(int n, ...)
{
    va_list list;
    long s = 0, i;
    real d = 0;

    va_start(list, n);
    for (i = 0; i < n; i++)
        if (i % 3 == 2)
            d += va_arg(list, real);
        else
            s += va_arg(list, long);
    va_end(list);
    return s + (long)d;
}

static NOINLINE long varargs(long x)
{
    return sum(12, x, x, (real)1.0, x, x, (real)2.0, x, x, (real)3.0, x, x, (real)4.0) + sum(1, x);
}

/* Structures returned and passed, in registers and in memory. */
struct small {
    long a, b;
};
struct large {
    long a[12];
};
struct mixed {
    real d;
    short_real f;
    short s;
};

static NOINLINE struct small make_small(long x)
{
    struct small s = {x, leaf(x)};
    return s;
}

static NOINLINE struct large make_large(long x)
{
    struct large l;
    int i;

    for (i = 0; i < 12; i++)
        l.a[i] = x + i;
    l.a[3] = leaf(x);
    return l;
}

static NOINLINE struct mixed make_mixed(struct mixed m, struct large l)
{
    m.s = (short)(m.s + leaf(l.a[1]));
    return m;
}

static NOINLINE long structs(long x)
{
    struct small s = make_small(x);
    struct large l = make_large(x);
    struct mixed m = {(real)1.5, (short_real)2.5f, 3};

    m = make_mixed(m, l);
    return s.a + s.b + l.a[3] + l.a[11] + m.s;
}

/* More arguments than registers. */
static NOINLINE long many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, real k)
{
    return a + 2 * b + 3 * c + leaf(d) + e + f + g * h + i - j + (long)k;
}

static NOINLINE long arguments(long x)
{
    return many(x, 2, 3, x, 5, 6, x, 8, 9, x, 1.25) + many(1, x, 1, x, 1, x, 1, x, 1, x, 2.5);
}

/* Tables of a switch, and of labels. */
static NOINLINE long choose(long x)
{
    switch (x) {
    case 0:
        return leaf(1);
    case 1:
        return caller(2);
    case 2:
        return x * 3 + zero;
    case 3:
        return leaf(leaf(4));
    case 4:
        return 77;
    case 5:
        return leaf(x) * 2;
    case 6:
        return caller(x) - 1;
    default:
        return -1;
    }
}

static NOINLINE long labels(long x)
{
    static const void *const table[] = {&&one, &&two, &&three};
    long s = 0;

    goto *table[x % 3];
one:
    s += leaf(1);
two:
    s += leaf(2);
three:
    return s + leaf(3);
}

static NOINLINE long switches(long x)
{
    long s = 0, i;

    for (i = 0; i < 8; i++)
        s += choose(i + zero);
    return s + labels(x) + labels(x + 1) + labels(x + 2);
}

/* Parts that the compiler moves away: they have a symbol and an FDE of their own. */
static NOINLINE __attribute__((cold)) long rare(long x)
{
    return leaf(x) ^ 5;
}

static NOINLINE long split(long x, long *out)
{
    long i, s = 0;

    if (__builtin_expect(x < 0, 0)) {
        *out = rare(x);
        for (i = 0; i < 3; i++)
            s += rare(i) + *out;
        return s;
    }
    return leaf(x) + *out;
}

static NOINLINE long cold(long x)
{
    long out = 0;

    return split(x, &out) + split(-x, &out) + out;
}

/* Returns early, before the frame is made. */
static NOINLINE long early(long x, long y)
{
    long a, b, c;

    if (x == 0)
        return y;
    a = leaf(x);
    b = leaf(a + y);
    c = leaf(b + x);
    return a * b + c * y + leaf(a + b + c);
}

/* Frames of a size that only the run knows. */
static NOINLINE long fill(char *p, long n)
{
    long i, s = 0;

    for (i = 0; i < n; i += 7)
        p[i] = (char)i;
    for (i = 0; i < n; i += 7)
        s += p[i];
    return s;
}

static NOINLINE long dynamic(long n)
{
    char *p = __builtin_alloca((size_t)n);

    return fill(p, n) + leaf(n);
}

static NOINLINE long array(long n)
{
    long s = 0, i;

    for (i = 1; i < 4; i++) {
        char a[n * i];

        s += fill(a, n * i);
    }
    return s;
}

/* 100 KiB, and one more page of a loop of probes. */
static NOINLINE long huge(long x)
{
    volatile char a[100 * 1024];

    a[0] = (char)x;
    a[sizeof a - 1] = 2;
    return a[0] + leaf(a[sizeof a - 1]);
}

static NOINLINE long medium(long x)
{
    volatile char a[5000];

    a[17] = (char)x;
    return a[17] + leaf(x);
}

/* The frame is aligned further than the stack is. */
static NOINLINE long aligned_leaf(long *p)
{
    return ((long)(size_t)p & 63) + p[0];
}

static NOINLINE long aligned(long x)
{
    long a[8] __attribute__((aligned(64)));

    a[0] = x;
    a[7] = leaf(x);
    return aligned_leaf(a) + a[7];
}

/* As before, with arguments on the stack and a size unknown: amd64 needs a register for the arguments (DRAP). */
static NOINLINE long drap(long a, long b, long c, long d, long e, long f, long g, long n)
{
    long v[8] __attribute__((aligned(64)));
    char *p = __builtin_alloca((size_t)n);

    v[0] = a + b + c + d + e + f + g;
    return aligned_leaf(v) + fill(p, n) + g;
}

/* Tail calls, to functions with a frame and without. */
static NOINLINE long even(long n);

static NOINLINE long odd(long n)
{
    if (n == 0)
        return 0;
    zero += leaf(0) - 1;
    return even(n - 1);
}

static NOINLINE long even(long n)
{
    return n == 0 ? 1 : odd(n - 1);
}

static long (*volatile pointer)(long) = leaf;

static NOINLINE long tail(long x)
{
    return pointer(x);
}

static NOINLINE long tails(long x)
{
    pointer = x & 1 ? leaf : caller;
    return even(x) + tail(x) + tail(x + 1);
}

/* A call back, with all callee-saved registers in use. */
static NOINLINE int by_value(const long *a, const long *b)
{
    return *a < *b ? -1 : *a > *b;
}

static NOINLINE void sort(long *p, long n, int (*compare)(const long *, const long *))
{
    long i, j;

    for (i = 1; i < n; i++) {
        for (j = i; j > 0 && compare(&p[j - 1], &p[j]) > 0; j--) {
            long t = p[j];

            p[j] = p[j - 1];
            p[j - 1] = t;
        }
    }
}

static NOINLINE long registers(long x)
{
    long a = leaf(x), b = leaf(a), c = leaf(b), d = leaf(c), e = leaf(d), f = leaf(e), g = leaf(f), h = leaf(g);
    long v[5];

    v[0] = h;
    v[1] = c;
    v[2] = b;
    v[3] = g;
    v[4] = a;
    sort(v, 5, by_value);
    return a + b * c + d * e + f * g + h + v[0] + v[4] + leaf(a * h);
}

static NOINLINE real scale(real a, real b)
{
    return a * b + (real)zero;
}

static NOINLINE long floats(long x)
{
    real a = scale((real)x, (real)1.5), b = scale(a, (real)2.0), c = scale(b, a), d = scale(c, b);

    return (long)(a + b * c + d + scale(a, d));
}

/* Calls that do not return, as the last instruction of their function; longjmp over several frames. */
static jmp_buf escape;
STEP_ASSEMBLY __attribute__((returns_twice)) int step_setjmp(jmp_buf from) __asm__("setjmp");
STEP_ASSEMBLY __attribute__((noreturn)) void step_longjmp(jmp_buf to, int code) __asm__("longjmp");

static NOINLINE __attribute__((noreturn)) void leave(long x)
{
    step_longjmp(escape, (int)leaf(x));
}

static NOINLINE __attribute__((noreturn)) void give_up(long x)
{
    leave(leaf(x));
}

static NOINLINE long dive(long n)
{
    if (n == 0)
        give_up(5);
    return dive(n - 1) + leaf(n);
}

static NOINLINE long jumps(long x)
{
    int code = step_setjmp(escape);

    if (code != 0)
        return code + leaf(x);
    return dive(x);
}

#ifndef NO_TRAMPOLINES
/* A nested function whose address is taken: called through code on the stack. */
static NOINLINE long apply(long (*f)(long), long x)
{
    return f(x) + f(x + 1);
}

static NOINLINE long nested(long x)
{
    long total = 0;

    auto long add(long y);
    long add(long y)
    {
        total += y * x;
        return leaf(y);
    }
    return apply(add, x) + total;
}

#else
#define nested leaf
#endif

static NOINLINE long addresses(long x)
{
    return x + (__builtin_return_address(0) == __builtin_frame_address(0));
}

#ifdef STEP_OTHER_CALLS
static NOINLINE STEP_ASSEMBLY long assembly_leaf(long x)
{
    return leaf(x);
}

static NOINLINE STEP_ASSEMBLY long assembly_caller(long x)
{
    return caller(x);
}
#else
#define assembly_leaf   leaf
#define assembly_caller caller
#endif

/* Code without CFI between the frames, and frames by hand. */
static NOINLINE long by_hand(long x)
{
    long s = asm_frame(assembly_caller, x) + asm_push(assembly_caller, x) + asm_odd(assembly_leaf, x);

    return s + notable_call(assembly_leaf, x) + notable_call(assembly_caller, x);
}

static __attribute__((aligned(8))) long (*const all[])(long) = {
    caller, recursive, varargs, structs,   arguments, switches, cold,   dynamic,   array,   huge,
    medium, aligned,   tails,   registers, floats,    jumps,    nested, addresses, by_hand, deep,
};

int step_main(void)
{
    static const long inputs[] = {3, 5, 2, 4, 6, 7, 3, 40, 20, 1, 2, 3, 5, 4, 3, 4, 3, 1, 2, 20};
    long s = 0;
    unsigned i;

    step_signals();
    for (i = 0; i < sizeof all / sizeof *all; i++)
        s = s * 3 + all[i](inputs[i] + zero);
    s += early(0, 3) + early(2, 3) + drap(1, 2, 3, 4, 5, 6, 7, 24);
    return s == EXPECTED ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Functions whose frames say where they are (shadow.h). Those of ../step/programs are watched instead.
 * Functions whose names begin with p_ are interrupted at each of their instructions. None of them calls itself
 * directly, and each is called from one place only: see trace.c.
 */
#include <stddef.h>

#include "parts.h"
#include "trace.h"

unsigned (*volatile patterns_inside)(void);
void (*volatile patterns_never)(void);

/* Not known to the compiler. */
static volatile unsigned one = 1, seven = 7;

/* Makes the compiler believe that memory at P is used. */
#define USED(p) __asm__ volatile("" : : "r"(p) : "memory")

/* ---- leaf functions ---- */

static NOIPA unsigned p_leaf(unsigned x)
{
    return x * 3 + 1;
}

/* Needs more registers than there are. */
static NOIPA unsigned long p_pressure(const volatile unsigned long *v, unsigned n)
{
    unsigned long a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
    unsigned long i = v[8], j = v[9], k = v[10], l = v[11];

    while (n-- > 0) {
        a += b ^ l, b += c ^ a, c += d ^ b, d += e ^ c, e += f ^ d, f += g ^ e;
        g += h ^ f, h += i ^ g, i += j ^ h, j += k ^ i, k += l ^ j, l += a ^ k;
    }
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l;
}

/* Overwrites RA and FP. On s390x with -march=z10 or later, gcc keeps them in floating-point registers meanwhile. */
static NOIPA unsigned p_overwrites(unsigned x)
{
#if defined(__s390x__) && defined(__OPTIMIZE__)
    __asm__ volatile("lghi %%r14, 1\n\tlghi %%r11, 3" : : : "r14", "r11");
#elif defined(__aarch64__) && defined(__OPTIMIZE__)
    __asm__ volatile("mov x30, 1" : : : "x30");
#elif defined(__riscv) && defined(__OPTIMIZE__)
    __asm__ volatile("li ra, 1\n\tli s0, 3" : : : "ra", "s0");
#endif
    return x + 1;
}

static NOIPA void p_leaves(void)
{
    static volatile unsigned long words[12];

    ENTER(&list);
    words[0] = CALL(&list, p_leaf(seven));
    words[1] = CALL(&list, p_pressure(words, one));
    words[2] = CALL(&list, p_overwrites(seven));
    (void)CALL(&list, patterns_inside());
    LEAVE(&list);
}

/* ---- recursion ---- */

NOIPA unsigned p_recursive(unsigned n)
{
    unsigned result;

    ENTER(&list);
    result = CALL(&list, n == 0 ? patterns_inside() : p_recursive(n - 1)) + n;
    LEAVE(&list);
    return result;
}

static unsigned p_even(unsigned n);

static NOIPA unsigned p_odd(unsigned n)
{
    unsigned result;

    ENTER(&list);
    result = CALL(&list, n == 0 ? patterns_inside() : p_even(n - 1)) + n;
    LEAVE(&list);
    return result;
}

static NOIPA unsigned p_even(unsigned n)
{
    unsigned result;

    ENTER(&list);
    result = CALL(&list, n == 0 ? patterns_inside() : p_odd(n - 1)) * 2;
    LEAVE(&list);
    return result;
}

static NOIPA void p_mutual(void)
{
    ENTER(&list);
    (void)CALL(&list, p_even(seven));
    LEAVE(&list);
}

/* ---- frames of unknown size ---- */

static NOIPA unsigned p_alloca(unsigned n)
{
    char *bytes;
    unsigned result;

    ENTER(&list);
    bytes = __builtin_alloca(n * 24);
    bytes[n] = (char)n;
    USED(bytes);
    result = CALL(&list, patterns_inside());
    LEAVE(&list);
    return result + (unsigned char)bytes[n];
}

static NOIPA unsigned p_array(unsigned n)
{
    unsigned result = 0;

    ENTER(&list);
    for (unsigned i = 1; i <= 2; i++) {
        unsigned words[n * i * 11];
        words[n] = i;
        USED(words);
        if (i == 2)
            result = CALL(&list, p_alloca(n)) + words[n];
    }
    LEAVE(&list);
    return result;
}

static NOIPA void p_dynamic(void)
{
    ENTER(&list);
    (void)CALL(&list, p_array(seven));
    LEAVE(&list);
}

/* ---- large frames ---- */

static NOIPA unsigned p_17k(void)
{
    char bytes[17000];
    unsigned result;

    ENTER(&list);
    bytes[seven] = 1;
    USED(bytes);
    result = CALL(&list, patterns_inside()) + (unsigned)bytes[seven];
    LEAVE(&list);
    return result;
}

static NOIPA unsigned p_150k(void)
{
    char bytes[150000];
    unsigned result;

    ENTER(&list);
    bytes[seven] = 1;
    USED(bytes);
    result = CALL(&list, p_17k()) + (unsigned)bytes[seven];
    LEAVE(&list);
    return result;
}

/* Larger than 64 KiB: some offsets need a register, or more than two bytes. */
static NOIPA void p_large(void)
{
    ENTER(&list);
    (void)CALL(&list, p_150k());
    LEAVE(&list);
}

/* ---- realigned frames ---- */

struct aligned {
    char bytes[64] __attribute__((aligned(64)));
};

static NOIPA unsigned p_aligned_dynamic(unsigned n)
{
    struct aligned a;
    char *bytes;
    unsigned result;

    ENTER_REALIGNED(&list);
    bytes = __builtin_alloca(n * 5);
    a.bytes[n] = bytes[n] = (char)n;
    USED(bytes);
    USED(&a);
    result = CALL(&list, patterns_inside());
    LEAVE(&list);
    return result + (unsigned)a.bytes[n];
}

static NOIPA unsigned p_aligned(unsigned n)
{
    struct aligned a;
    unsigned result;

    ENTER_REALIGNED(&list);
    a.bytes[n] = (char)n;
    USED(&a);
    result = CALL(&list, p_aligned_dynamic(n));
    LEAVE(&list);
    return result + (unsigned)a.bytes[n];
}

#if defined(__riscv) && !defined(__riscv_flen)
typedef unsigned number; /* no calls of a library that multiplies floating-point numbers */
#else
typedef float number;
#endif
typedef number vector __attribute__((vector_size(32)));

static NOIPA unsigned p_vectors(const volatile number *f)
{
    vector v = {f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]}, w = v * v;
    unsigned result;

    ENTER_REALIGNED(&list);
    USED(&w);
    result = CALL(&list, p_aligned(seven));
    w += v;
    USED(&w);
    LEAVE(&list);
    return result;
}

static NOIPA void p_realigned(void)
{
    static volatile number floats[8];

    ENTER(&list);
    (void)CALL(&list, p_vectors(floats));
    LEAVE(&list);
}

/* ---- tail calls: TAIL_CALLS is defined where the compiler makes them ---- */

static NOIPA unsigned p_tail_target(unsigned n)
{
    unsigned result;

    ENTER(&list);
    result = CALL(&list, patterns_inside()) + n;
    LEAVE(&list);
    return result;
}

#ifdef TAIL_CALLS
/* Makes a frame, gives it up again and jumps: not in the trace. */
static NOIPA unsigned p_tail_jumper(unsigned n)
{
    unsigned m;

    ENTER(&list);
    m = CALL(&list, p_leaf(n));
    LEAVE(&list);
    return p_tail_target(m + n);
}

static NOIPA unsigned p_tail_first(unsigned n)
{
    return p_tail_jumper(n + 1);
}
#endif

static NOIPA void p_tail(void)
{
    unsigned (*volatile target)(unsigned) = p_tail_target;

    ENTER(&list);
#ifdef TAIL_CALLS
    target = p_tail_first;
#endif
    (void)CALL(&list, target(seven));
    LEAVE(&list);
}

/* ---- function pointers ---- */

static NOIPA unsigned p_pointer_b(unsigned n)
{
    unsigned result;

    ENTER(&list);
    result = CALL(&list, patterns_inside()) + n;
    LEAVE(&list);
    return result;
}

static NOIPA unsigned p_pointer_a(unsigned (*f)(unsigned))
{
    unsigned result;

    ENTER(&list);
    result = CALL(&list, f(seven)) + 1;
    LEAVE(&list);
    return result;
}

static unsigned (*volatile pointer_table[2])(unsigned) = {p_leaf, p_pointer_b};

static NOIPA void p_pointers(void)
{
    ENTER(&list);
    (void)CALL(&list, p_pointer_a(pointer_table[one]));
    LEAVE(&list);
}

/* ---- arguments on the stack ---- */

static NOIPA unsigned p_many(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f, unsigned g,
                             unsigned h, unsigned i, unsigned j, unsigned k, unsigned l)
{
    unsigned result;

    ENTER(&list);
    result = CALL(&list, patterns_inside());
    LEAVE(&list);
    return result + (a ^ b ^ c ^ d) + (e ^ f ^ g ^ h) + (i ^ j ^ k ^ l);
}

static NOIPA void p_arguments(void)
{
    unsigned s = seven;

    ENTER(&list);
    (void)CALL(&list, p_many(s, s + 1, s + 2, 3, 4, 5, 6, s + 7, s + 8, 9, s + 10, 11));
    LEAVE(&list);
}

/* ---- a frame on some paths only (shrink-wrapped) ---- */

static NOIPA unsigned p_wrapped(const unsigned *p)
{
    unsigned a, b, c;

    if (p == NULL)
        return 1;
    a = p[0], b = p[1], c = p[2];
    if (a == b + c)
        return 2;
    ENTER(&list);
    a += CALL(&list, patterns_inside());
    LEAVE(&list);
    return a * b + c;
}

static NOIPA unsigned p_wrapped_early(const unsigned *p)
{
    unsigned result;

    if (p == NULL || p[0] == 0)
        return seven;
    ENTER(&list);
    result = CALL(&list, patterns_inside()) + p[1];
    LEAVE(&list);
    return result;
}

static NOIPA void p_shrink(void)
{
    unsigned words[3];

    ENTER(&list);
    words[0] = words[1] = words[2] = one;
    (void)CALL(&list, p_wrapped_early(NULL));
    (void)CALL(&list, p_wrapped(words));
    LEAVE(&list);
}

/* ---- a path that compilers move out of the function, f.cold ---- */

static __attribute__((cold)) NOIPA unsigned p_cold_target(unsigned n)
{
    unsigned result;

    ENTER(&list);
    result = CALL(&list, patterns_inside()) + n;
    LEAVE(&list);
    return result;
}

static NOIPA unsigned p_split(unsigned n)
{
    unsigned result = n;

    ENTER(&list);
    if (n == seven) {
        USED(&result);
        result += CALL(&list, p_cold_target(n));
        USED(&result);
    }
    LEAVE(&list);
    return result;
}

static NOIPA void p_cold(void)
{
    ENTER(&list);
    (void)CALL(&list, p_split(seven));
    LEAVE(&list);
}

/* ---- calls that never return ---- */

static __attribute__((noreturn)) NOIPA void p_never_second(void)
{
    ENTER(&list);
    (void)CALL(&list, (patterns_never(), 0));
    __builtin_unreachable();
}

static NOIPA unsigned p_never_maybe(unsigned n)
{
    ENTER(&list);
    if (n != 0)
        (void)CALL(&list, (p_never_second(), 0));
    LEAVE(&list);
    return n;
}

static __attribute__((noreturn)) NOIPA void p_never_first(void)
{
    ENTER(&list);
    (void)CALL(&list, p_never_maybe(seven));
    __builtin_unreachable();
}

/* Behind the code of p_never lies something else, which is where its callee would return to. */
NOIPA void p_never(void)
{
    ENTER(&list);
    (void)CALL(&list, (p_never_first(), 0));
}

const struct pattern patterns[] = {
    {"leaf", p_leaves},
    {"mutual-recursion", p_mutual},
    {"alloca", p_dynamic},
    {"large", p_large},
    {"realigned", p_realigned},
    {"tail-call", p_tail},
    {"pointer", p_pointers},
    {"stack-arguments", p_arguments},
    {"shrink-wrapped", p_shrink},
    {"cold", p_cold},
    {NULL, NULL},
};

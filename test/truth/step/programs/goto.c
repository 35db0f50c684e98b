/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* A nested function that leaves by a jump into the function around it. Reproduces FAULTS.md: gcc-goto. */
#include "step.h"

void step_signals(void);

static volatile long zero;

static __attribute__((noinline)) long apply(long (*f)(long), long x)
{
    return f(x) + f(x + 1);
}

static __attribute__((noinline)) long leave(long x)
{
    __label__ out;
    long total = 0;

    auto long quit(long y);
    long quit(long y)
    {
        total = y;
        if (y > x)
            goto out;
        return y;
    }
    total = apply(quit, x);
out:
    return total;
}

int step_main(void)
{
    step_signals();
    return leave(3 + zero) == 4 ? 0 : 1;
}

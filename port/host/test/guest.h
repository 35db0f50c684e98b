/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the kernels of riscv/ and i386/ do: they come to a stop in a leaf function. */
#include <stdint.h>

#define step __attribute__((noinline))

typedef unsigned long word;

volatile int done;
static volatile int value = 1;

step void leaf(volatile int *p);
step void leaf(volatile int *p)
{
    while (!done)
        *p = *p + 1;
}

step int recurse(int n);
step int recurse(int n)
{
    volatile char array[n + 16];

    array[n] = (char)n;
    if (n == 0)
        leaf(&value);
    else
        value += recurse(n - 1);
    return array[n];
}

void kernel_main(void);
void kernel_main(void)
{
    value += recurse(5);
    for (;;) {
    }
}

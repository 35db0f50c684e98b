/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What compilers call in a program without a libc: one file of it includes this. */
#ifndef LIB_MEMORY_H
#define LIB_MEMORY_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int byte, size_t n);

/* volatile: else the loop would become a call of memcpy. */
__attribute__((noinline)) void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    volatile char *p = to;
    const char *q = from;

    while (n-- > 0)
        *p++ = *q++;
    return to;
}

__attribute__((noinline)) void *memset(void *to, int byte, size_t n)
{
    volatile char *p = to;

    while (n-- > 0)
        *p++ = (char)byte;
    return to;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Numbers in bytes of either order. */
#ifndef LIB_BYTES_H
#define LIB_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* The number in the SIZE (up to 8) bytes at P. */
static inline uint64_t bytes_get(const uint8_t *p, unsigned size, bool big)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size; i++)
        value = value << 8 | p[big ? i : size - 1 - i];
    return value;
}

static inline void bytes_put(uint8_t *p, unsigned size, bool big, uint64_t value)
{
    for (unsigned i = 0; i < size; i++)
        p[big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_symbols.h"

/* symbols.py describes the layout. */
enum { SYMBOLS_MAGIC = 0x31736673, BLOCKS = 4, TOKENS = 8, HEADER = 12, BLOCK = 8, TOKEN = 2, FIRST_TOKEN = 128 };

/* The number in the SIZE bytes (1 to 4) at offset AT of the table. Behind the end of the table there are zeros. Nothing
 * else reads the table. */
static uint32_t get(const struct sfu_symbols *s, uint64_t at, unsigned size)
{
    uint64_t end = (uintptr_t)s->end - (uintptr_t)s->bytes;
    uint32_t value = 0;

    while (size > 0) {
        size--;
        value = value << 8 | (at + size < end ? s->bytes[at + size] : 0u);
    }
    return value;
}

/* Reads the ULEB128 at *AT, 35 bits of it, and moves *AT behind it. The last byte has the highest bits: it comes first,
 * so that each shift is by a constant. 32-bit CPUs would call a library for others. */
static uint64_t get_uleb(const struct sfu_symbols *s, uint64_t *at)
{
    uint64_t value = 0;
    unsigned length = 1, i;

    while (length < 5 && get(s, *at + length - 1, 1) >= 128)
        length++;
    for (i = length; i > 0; i--)
        value = value << 7 | (get(s, *at + i - 1, 1) & 127);
    *at += length;
    return value;
}

/* How many blocks start at OFFSET from the base or below. */
static uint32_t blocks_up_to(const struct sfu_symbols *s, uint64_t offset)
{
    uint32_t low = 0, high = get(s, BLOCKS, 4);

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (get(s, HEADER + (uint64_t)BLOCK * middle, 4) <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The name that is encoded in the LENGTH bytes at AT. */
static const char *decode(struct sfu_symbols *s, uint64_t at, uint32_t length)
{
    uint64_t ends = HEADER + (uint64_t)BLOCK * get(s, BLOCKS, 4), text = ends + (uint64_t)TOKEN * get(s, TOKENS, 4);
    unsigned num = 0;

    for (; length > 0; length--, at++) {
        uint32_t code = get(s, at, 1);
        uint64_t from = at, to = at + 1; /* a character stands for itself */

        if (code >= FIRST_TOKEN) {
            from = text + (code > FIRST_TOKEN ? get(s, ends + TOKEN * (code - FIRST_TOKEN - 1), TOKEN) : 0);
            to = text + get(s, ends + TOKEN * (code - FIRST_TOKEN), TOKEN);
        }
        for (; from < to && num < SFU_SYMBOLS_NAME - 1; from++)
            s->name[num++] = (char)get(s, from, 1);
    }
    s->name[num] = '\0';
    return s->name;
}

const char *sfu_symbols_find(struct sfu_symbols *s, sfu_addr addr, sfu_addr *offset)
{
    uint64_t goal, function, at, block;
    uint32_t blocks;

    if (addr < s->base || get(s, 0, 4) != SYMBOLS_MAGIC)
        return NULL;
    goal = addr - s->base;
    blocks = blocks_up_to(s, goal);
    if (blocks == 0)
        return NULL;
    block = HEADER + BLOCK * ((uint64_t)blocks - 1);
    function = get(s, block, 4);
    at = get(s, block + 4, 4);
    while (function <= goal && at < (uintptr_t)s->end - (uintptr_t)s->bytes) {
        uint64_t size = get_uleb(s, &at);
        uint32_t length = get(s, at, 1);

        if (goal - function < size) {
            *offset = (sfu_addr)(goal - function);
            return decode(s, at + 1, length);
        }
        at += 1 + (uint64_t)length;
        function += size + get_uleb(s, &at);
    }
    return NULL;
}

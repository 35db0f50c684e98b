/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "basics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t load_number(const uint8_t *p, unsigned size, bool big)
{
    uint64_t value = 0;
    unsigned i;

    for (i = 0; i < size; i++)
        value = value << 8 | p[big ? i : size - 1 - i];
    return value;
}

void store_number(uint8_t *p, unsigned size, bool big, uint64_t value)
{
    unsigned i;

    for (i = 0; i < size; i++)
        p[big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* With SFU_GROW_BY_ONE, which tests define, an array gets room for one more at each of its first elements. An address
 * sanitizer moves it at each realloc: so it finds a pointer into the array that is used behind a call of grow. */
#ifdef SFU_GROW_BY_ONE
enum { FIRST_ROOM = 1, BY_ONE = 64 };
#else
enum { FIRST_ROOM = 16, BY_ONE = 1 };
#endif

/* How many elements an array of COUNT gets room for, when it needs room for one more: COUNT means that it has the room.
 * From BY_ONE on it grows by doubling, so it is full exactly when COUNT is a power of two from FIRST_ROOM on. */
static size_t room_for_more(size_t count)
{
    if (count == 0)
        return FIRST_ROOM;
    if (count < BY_ONE)
        return count + 1;
    return count >= FIRST_ROOM && (count & (count - 1)) == 0 ? 2 * count : count;
}

void *grow(void *p, size_t count, size_t size)
{
    size_t room = room_for_more(count);

    if (room <= count)
        return p;
    p = room > SIZE_MAX / size ? NULL : realloc(p, room * size);
    if (p == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

size_t count_up_to(const void *list, size_t count, size_t size, size_t offset, uint64_t addr)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t number;

        memcpy(&number, (const uint8_t *)list + middle * size + offset, sizeof number);
        if (number <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void put_in_order(void *list, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    const uint8_t *p = list;
    size_t i;

    for (i = 1; i < count; i++)
        if (compare(p + (i - 1) * size, p + i * size) > 0)
            break;
    if (i < count)
        qsort(list, count, size, compare);
}

int by_first_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* P, if there was memory for it. */
static void *got(void *p)
{
    if (p == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

void *zeroed(size_t count, size_t size)
{
    return got(calloc(count != 0 ? count : 1, size));
}

void *unwritten(size_t size)
{
    return got(malloc(size));
}

int compare_names(const char *a, const char *b)
{
    enum { COMPARED = 4096 };

    return a == b ? 0 : strncmp(a, b, COMPARED);
}

char *copied(const char *text)
{
    size_t room = strlen(text) + 1;

    return memcpy(zeroed(room, 1), text, room);
}

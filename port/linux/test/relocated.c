/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* A program whose data is full of addresses of its own, close together and far apart: prints whether all of them are
 * right, which a static-pie has to see to by itself. */
#include "sfu_linux.h"

enum { NUM = 200 };
static uint64_t data[NUM];
#define FIVE(i) &data[i], &data[i + 1], &data[i + 2], &data[i + 3], &data[i + 4]
#define FIFTY(i)                                                                                                   \
    FIVE(i), FIVE(i + 5), FIVE(i + 10), FIVE(i + 15), FIVE(i + 20), FIVE(i + 25), FIVE(i + 30), FIVE(i + 35),      \
        FIVE(i + 40), FIVE(i + 45)

/* More than the 63 words of a bitmap. */
static uint64_t *volatile dense[NUM] = {FIFTY(0), FIFTY(50), FIFTY(100), FIFTY(150)};
static uint64_t *volatile sparse[NUM] = {
    [0] = &data[0], [2] = &data[2], [64] = &data[64], [65] = &data[65], [129] = &data[129], [199] = &data[199]};

static bool right(void)
{
    unsigned i;

    for (i = 0; i < NUM; i++)
        if (dense[i] != data + i || (sparse[i] != NULL && sparse[i] != data + i))
            return false;
    return sparse[0] == data && sparse[2] == data + 2 && sparse[64] == data + 64 && sparse[65] == data + 65 &&
           sparse[129] == data + 129 && sparse[199] == data + 199;
}

int sfu_linux_main(int argc, char **argv, const uintptr_t *auxv)
{
    (void)argc;
    (void)argv;
    (void)auxv;
    if (right())
        sfu_linux_write("right\n", 6);
    return 0;
}

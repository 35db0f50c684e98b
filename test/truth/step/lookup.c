/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What needs no ELF file: kernels that step themselves have it, too. */
#include <string.h>
#include "binary.h"

/* Functions may share a start (aliases) or be of size 0: the one that contains ADDR is near. */
const struct function *binary_function(const struct binary *image, uint64_t addr)
{
    size_t first = 0, count = image->num_functions, tries;

    while (count > 0) {
        size_t half = count / 2;

        if (image->functions[first + half].start <= addr) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    for (tries = 0; first > 0 && tries < 8; tries++) {
        const struct function *s = &image->functions[--first];

        if (addr - s->start < s->size)
            return s;
    }
    return NULL;
}

uint64_t binary_symbol(const struct binary *image, const char *name)
{
    size_t i;

    for (i = 0; i < image->num_functions; i++)
        if (strcmp(image->functions[i].name, name) == 0)
            return image->functions[i].start;
    return 0;
}

bool binary_mark(struct binary *image, uint64_t addr)
{
    uint64_t at = addr - image->code_start;
    uint8_t bit = (uint8_t)(1u << (at & 7));

    if (at >= image->code_size || image->seen[at / 8] & bit)
        return false;
    image->seen[at / 8] |= bit;
    return true;
}

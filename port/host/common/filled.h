/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What lies in sections of code and is none: data that assemblers have marked (literal pools, tables), and what fills
 * the room up to an alignment. A vector page of aarch64 is mostly that.
 */
#ifndef SFU_HOST_FILLED_H
#define SFU_HOST_FILLED_H

#include "image.h"

struct filled_data {
    uint64_t start, end;
};

struct filled {
    struct image *image;
    struct filled_data *data; /* by address */
    size_t num_data;
};

/* Reads where data lies in sections of code. Returns false, and a line in image->error, if the symbols are broken. */
bool filled_read(struct filled *filled, struct image *image);
void filled_free(struct filled *filled);

/* Whether data that is marked is at ADDR. */
bool filled_is_data(const struct filled *filled, uint64_t addr);

/* x86: how long the header of a boot loader is of which the SIZE bytes, or fewer, are at P, or 0. */
uint64_t filled_header_size(const uint8_t *p, uint64_t size);

/* How many bytes from START up to END, which is code without rows, are none: data, nops, traps, zeros. */
uint64_t filled_count(const struct filled *filled, uint64_t start, uint64_t end);

#endif

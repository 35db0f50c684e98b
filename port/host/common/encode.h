/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Tables as the bytes of an SFrame section of version 3, in the byte order of the image. */
#ifndef SFU_HOST_ENCODE_H
#define SFU_HOST_ENCODE_H

#include "tables.h"

struct encoding {
    uint32_t rows; /* under one FDE at most, of neighbouring functions; 0: each function has an FDE */
    bool share;    /* equal lists of rows are there once */
};

struct bytes {
    uint8_t *data; /* to be freed */
    size_t size;
    size_t num_fdes, num_fres;
};

/* Encodes TABLES for a section at ADDR. Its size does not depend on ADDR. Returns false if it would be 2 GiB or more,
 * or if there is no function. */
bool encode(const struct tables *tables, const struct encoding *encoding, uint64_t addr, struct bytes *bytes);

#endif

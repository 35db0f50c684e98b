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

/* ---- Which rows stand under one FDE (groups.c) ----------------------------------------------------------------- */

/* So that the section is small and a lookup short: neighbours share an FDE up to a number of rows, and lists of rows
 * that are there several times are written once. */

/* Rows of one FDE: COUNT rows in turn from row ROW of FUNCTION on, perhaps of several functions. */
struct group {
    size_t function;
    uint32_t row, count;
};

struct groups {
    struct group *list; /* by address; to be freed */
    size_t num;
};

/* What is to be grouped. */
struct grouping {
    const struct tables *tables;
    const bool *flexible;   /* of each function */
    const uint8_t *lengths; /* of each row of the tables, if ROWS is not 0: bytes of its info and its words */
    uint32_t rows;          /* the most rows under one FDE; 0: one FDE for each function */
    bool share;             /* equal lists of rows are written once */
};

struct groups groups_choose(const struct grouping *grouping);

/* Where row I of F begins, under one FDE with rows in front of it: the first one perhaps a byte before F. */
uint64_t row_start(const struct tables *tables, const struct function *f, uint32_t i);

/* Whether two rows say the same. */
bool row_equals(const struct made_row *a, const struct made_row *b);

#endif

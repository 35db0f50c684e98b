/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Which rows stand under one FDE, so that the section is small and a lookup short: neighbours share an FDE up to a
 * number of rows, and lists of rows that are there several times are written once.
 */
#ifndef SFU_HOST_GROUPS_H
#define SFU_HOST_GROUPS_H

#include "tables.h"

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

/* Whether two rows say the same. */
bool row_equals(const struct made_row *a, const struct made_row *b);

#endif

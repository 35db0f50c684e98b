/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Lists of rows of CFI. */
#ifndef SFU_HOST_CODE_ROW_LIST_H
#define SFU_HOST_CODE_ROW_LIST_H

#include "code.h"

struct rows {
    struct cfi_row *list;
    size_t num;
};

/* Whether A and B say the same, wherever they hold. */
bool rows_say_same(const struct cfi_row *a, const struct cfi_row *b);
/* For qsort: rows by where they begin. */
int rows_by_start(const void *a, const void *b);
/* A cfi_row_fn: adds ROW to CTX, the rows. */
void rows_collect(void *ctx, const struct cfi_row *row);
/* Adds ROW from START up to END to ROWS, or to the last one of those if that says the same. */
void rows_put(struct rows *rows, const struct cfi_row *row, uint64_t start, uint64_t end);

#endif

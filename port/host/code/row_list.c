/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "row_list.h"

void rows_collect(void *ctx, const struct cfi_row *row)
{
    struct rows *rows = ctx;

    rows->list = grow(rows->list, rows->num, sizeof *rows->list);
    rows->list[rows->num++] = *row;
}

bool rows_say_same(const struct cfi_row *a, const struct cfi_row *b)
{
    return a->kind == b->kind && a->trap == b->trap && a->signed_ra == b->signed_ra &&
           rule_is_same(&a->cfa, &b->cfa) && rule_is_same(&a->ra, &b->ra) && rule_is_same(&a->fp, &b->fp);
}

int rows_by_start(const void *a, const void *b)
{
    const struct cfi_row *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

void rows_put(struct rows *rows, const struct cfi_row *row, uint64_t start, uint64_t end)
{
    struct cfi_row *last = rows->num > 0 ? &rows->list[rows->num - 1] : NULL;
    struct cfi_row next = *row;

    if (start >= end)
        return;
    if (last != NULL && last->end == start &&
        (row->kind == CFI_LOST ? last->kind == CFI_LOST && last->why == row->why : rows_say_same(last, row))) {
        last->end = end;
        return;
    }
    next.start = start;
    next.end = end;
    rows_collect(rows, &next);
}

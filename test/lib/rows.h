/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Whether two rows say the same. */
#ifndef LIB_ROWS_H
#define LIB_ROWS_H

#include "sfu.h"

static inline bool same_rule(const struct sfu_rule *a, const struct sfu_rule *b)
{
    return a->control == b->control && a->offset == b->offset;
}

static inline bool same_rules(const struct sfu_row *a, const struct sfu_row *b)
{
    return same_rule(&a->cfa, &b->cfa) && same_rule(&a->ra, &b->ra) && same_rule(&a->fp, &b->fp);
}

static inline bool same_row(const struct sfu_row *a, const struct sfu_row *b)
{
    return a->start == b->start && a->length == b->length && a->function == b->function && a->abi == b->abi &&
           a->kind == b->kind && a->trap_frame == b->trap_frame && a->signed_ra == b->signed_ra &&
           (a->kind != SFU_ROW_RULES || same_rules(a, b));
}

#endif

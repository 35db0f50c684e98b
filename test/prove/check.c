/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_check, for every section: no bound, neither of functions nor of rows.
 *   prove_check_rows    the rows of one function: each is looked at once
 *   prove_concatenated  what follows the tables
 *   prove_check         all else */
#include "prove.h"

/* What read_attributes leaves. */
static bool has_rows(const struct fde *fde)
{
    return (fde->address == 1 || fde->address == 2 || fde->address == 4) && fde->type <= TYPE_FLEXIBLE;
}

/* A row is two records: its start, its words. */
void prove_check_rows(void)
{
    struct sfu_section s;
    struct lookup l;
    uint32_t before = nondet_u32(), index = before;
    int code;

    any_section(&s);
    l.s = &s;
    ASSUME(has_rows(&l.fde));
    records = 0;
    code = check_rows(&l, &index);
    PROVE(code == SFU_OK || code == SFU_E_BOUNDS || code == SFU_E_ROW ||
              (code == SFU_E_NO_ROW && l.fde.num_rows == 0) || (code == SFU_E_SECTION && s.bytes == NULL),
          "only documented codes");
    PROVE(records <= 2 * (uint64_t)l.fde.num_rows, "every row is looked at once at most");
    PROVE(index == before || (code != SFU_OK && index < l.fde.num_rows), "a fault has a place");
}

/* How many more rows there is room for, or the header has. */
static uint32_t rows_left;

int any_check_rows(struct lookup *l, uint32_t *index);
int any_check_rows(struct lookup *l, uint32_t *index)
{
    int code = (int8_t)nondet_byte();

    PROVE(has_rows(&l->fde), "the function is one that has rows");
    PROVE(l->fde.num_rows <= rows_left, "no more rows are looked at than there can be");
    rows_left -= l->fde.num_rows;
    ASSUME(code == SFU_OK || code == SFU_E_BOUNDS || code == SFU_E_ROW || code == SFU_E_NO_ROW ||
           (code == SFU_E_SECTION && l->s->bytes == NULL));
    l->words = NULL;
    l->row.start = nondet_u32();
    l->row.words = nondet_u32();
    l->row.info = nondet_byte();
    l->row.count = nondet_byte();
    l->row.size = nondet_byte();
    if (code != SFU_OK)
        *index = nondet_u32();
    return code;
}

int any_end(const struct sfu_section *s);
int any_end(const struct sfu_section *s)
{
    return nondet_bool() ? SFU_E_CONCATENATED : nondet_bool() && s->bytes == NULL ? SFU_E_SECTION : SFU_OK;
}

void prove_check(void)
{
    struct sfu_section s;
    struct sfu_place place = {nondet_u32(), nondet_u32()}, before = place;
    struct sfu_place *asked = nondet_bool() ? &place : NULL;
    int code;

    any_section(&s);
    rows_left = (s.end - s.rows) / 2;
    if (rows_left > s.num_rows)
        rows_left = s.num_rows;
    code = sfu_check(&s, asked);
    PROVE(code == SFU_OK || code == SFU_E_EMPTY || code == SFU_E_BOUNDS || code == SFU_E_FDE || code == SFU_E_ROW ||
              code == SFU_E_NO_ROW || code == SFU_E_UNSORTED || code == SFU_E_OVERLAP || code == SFU_E_COUNT ||
              code == SFU_E_CONCATENATED || (code == SFU_E_SECTION && s.bytes == NULL),
          "only documented codes");
    if (code == SFU_OK)
        PROVE(place.fde == before.fde && place.row == before.row, "without a fault there is no place");
    else
        PROVE(asked == NULL || place.fde <= s.num_fdes, "a fault has a place");
}

/* What stands for find_next: open.c proves it. */
static int next_code;

int any_next_code(const struct sfu_section *s, uint32_t *at);
int any_next_code(const struct sfu_section *s, uint32_t *at)
{
    next_code = nondet_bool() ? SFU_OK : nondet_bool() && s->bytes == NULL ? SFU_E_SECTION : SFU_E_NO_SECTION;
    *at = nondet_u32();
    return next_code;
}

void prove_concatenated(void)
{
    struct sfu_section s;
    int code;

    any_section(&s);
    code = check_end(&s);
    PROVE(code == (next_code == SFU_OK          ? SFU_E_CONCATENATED
                   : next_code == SFU_E_SECTION ? SFU_E_SECTION
                                                : SFU_OK),
          "a header behind the tables is a fault, and so is what cannot be read");
}

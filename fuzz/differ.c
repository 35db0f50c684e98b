/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * One section in many forms: in either byte order, mapped and through a callback, sorted, shuffled and sorted again,
 * with starts relative to the section and to their fields, at another address. Every form gives the same rows, and
 * those that the second decoder reads. One run tries some of the forms at some of the PCs.
 *
 * Input: 1 byte that chooses; 8 for the order; then a section's description (table_generate), or a section.
 */
#include "harness.h"

#include <string.h>

enum { ENOUGH_PCS = 12 };

struct forms {
    struct table table; /* of the first form */
    uint64_t pcs[MAX_PCS];
    struct sfu_row rows[MAX_PCS]; /* of the first form, with code where there is none */
    int codes[MAX_PCS];
    unsigned num_pcs;
    uint64_t order;
};

/* ROW at another address. */
static void move(struct sfu_row *row, uint64_t by)
{
    row->start += by;
    row->function += by;
}

/* BYTES, which lie MOVED above the first form, give its rows. */
static void same_answers(const struct forms *f, const uint8_t *bytes, size_t size, uint64_t moved)
{
    struct sfu_section mapped, far;
    struct sfu_place place;
    struct remote remote = {bytes, f->table.addr + moved, size, 0, 0};

    MUST(try_open(&mapped, bytes, size, remote.addr, NULL) == SFU_OK);
    MUST(try_open(&far, NULL, size, remote.addr, &remote) == SFU_OK);
    MUST(try_check(&mapped, &place) == SFU_OK && try_check(&far, &place) == SFU_OK);
    for (unsigned i = 0; i < f->num_pcs; i++) {
        struct sfu_row row, expected = f->rows[i];
        const struct sfu_section *s = (i + f->order) & 1 ? &mapped : &far;

        move(&expected, moved);
        MUST(try_find(s, f->pcs[i] + moved, true, &row) == f->codes[i]);
        MUST(f->codes[i] != SFU_OK || same_row(&row, &expected));
    }
}

/* The form in BYTES, shuffled, and then sorted by sfu_sort. */
static void in_any_order(const struct forms *f, const struct table *t, const uint8_t *bytes, unsigned place)
{
    static uint8_t copy[MAX_SECTION];
    static struct table moved;
    struct sfu_section s;
    uint8_t *p;

    memcpy(copy, bytes, t->size);
    if (!table_relative(t, copy, false))
        return;
    table_shuffle(t, copy, f->order);
    if (f->order & 4 && t->version > 1) {
        table_read(&moved, copy, t->size, t->addr);
        if (!table_relative(&moved, copy, true))
            return;
    }
    p = arena_place(place, copy, t->size, f->order & 8);
    same_answers(f, p, t->size, 0);
    MUST(try_open(&s, p, t->size, t->addr, NULL) == SFU_OK);
    MUST(try_sort(&s, p) == SFU_OK);
    same_answers(f, p, t->size, 0);
}

static void in_the_other_order(const struct forms *f, const uint8_t *bytes)
{
    static struct table swapped;
    static uint8_t copy[MAX_SECTION];
    const struct table *t = &f->table;

    memcpy(copy, bytes, t->size);
    if (!table_swap_order(t, copy))
        return;
    table_read(&swapped, copy, t->size, t->addr);
    same_answers(f, arena_place(1, copy, t->size, f->order & 16), t->size, 0);
    if ((f->order >> 5 & 3) == 2)
        in_any_order(f, &swapped, copy, 2);
}

static void first_form(struct forms *f, const struct sfu_section *s)
{
    uint64_t all[MAX_PCS];
    unsigned n = interesting_pcs(&f->table, all);

    for (f->num_pcs = 0; f->num_pcs < n && f->num_pcs < ENOUGH_PCS; f->num_pcs++)
        f->pcs[f->num_pcs] = all[((f->order >> 8) + f->num_pcs) % n];
    for (unsigned i = 0; i < f->num_pcs; i++) {
        struct sfu_row expected;

        f->codes[i] = try_find(s, f->pcs[i], true, &f->rows[i]);
        MUST(table_find(&f->table, f->pcs[i], &expected) == f->codes[i]);
        MUST(f->codes[i] != SFU_OK || same_row(&f->rows[i], &expected));
    }
}

/* Whether all functions stay below the end of the address space when the section moves up by BY, as PCs do. */
static bool can_move(const struct table *t, uint64_t by)
{
    if (t->addr + t->size - 1 > UINT64_MAX - by)
        return false;
    for (unsigned i = 0; i < t->num_fdes; i++)
        if (t->fde[i].start > UINT64_MAX - by || t->fde[i].start + t->fde[i].size > UINT64_MAX - by)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct forms f;
    static uint8_t generated[MAX_SECTION];
    struct sfu_section s;
    struct sfu_place place;
    const uint8_t *bytes = data + 9;
    uint64_t addr;
    int code;

    if (size < 10 || size - 9 > MAX_SECTION)
        return 0;
    size -= 9;
    f.order = bytes_get(data + 1, 8, false);
    addr = data[0] & 6 ? (uint64_t)0x12345678 << (data[0] & 0x1e) : 0x200000000;
    if (data[0] & 1) {
        size = table_generate(bytes, size, generated);
        bytes = generated;
    }
    bytes = arena_place(0, bytes, size, data[0] & 0x20);
    if (try_open(&s, bytes, size, addr, NULL) != SFU_OK)
        return 0;
    code = try_check(&s, &place);
    if (code != SFU_OK)
        return 0;
    table_read(&f.table, bytes, size, addr);
    if (!f.table.complete || f.table.wraps || table_overlaps(&f.table))
        return 0;
    first_form(&f, &s);
    if ((f.order >> 5 & 3) == 0 && can_move(&f.table, 0x7654320f))
        same_answers(&f, bytes, size, 0x7654320f);
    if ((f.order >> 5 & 3) == 1)
        in_any_order(&f, &f.table, bytes, 3);
    else
        in_the_other_order(&f, bytes);
    return 0;
}

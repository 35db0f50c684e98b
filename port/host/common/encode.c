/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Numbers in comments are sections of "The SFrame format", version 3. Each row takes the smallest words, each function
 * the smallest addresses that its rows need, and default rows where they suffice.
 */
#include "encode.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEADER_SIZE = 28,
    INDEX_SIZE = 16,     /* of an FDE */
    ATTRIBUTES_SIZE = 5, /* in front of its rows */
    MAX_ROWS = 65535
};

/* ---- Words of a row (2.4.1, 3) --------------------------------------------------------------------------------- */

struct words {
    uint32_t word[2 * ROW_RULES];
    unsigned count, size;
};

/* Whether the rule is what holds for a register that a row does not mention. */
static bool is_default_ra(const struct registers *r, const struct made_row *row)
{
    if (!r->link)
        return row->control[ROW_RA] == RULE_DEREFERENCE && row->offset[ROW_RA] == -8;
    return row->control[ROW_RA] == (r->ra << RULE_NUMBER | RULE_REGISTER) && row->offset[ROW_RA] == 0;
}

static bool is_default_fp(const struct registers *r, const struct made_row *row)
{
    return row->control[ROW_FP] == (r->fp << RULE_NUMBER | RULE_REGISTER) && row->offset[ROW_FP] == 0;
}

/* Whether a default row can say ROW (3.1). On aarch64 FP has its word behind the RA's; s390x has a word for no RA. */
static bool fits_default(const struct registers *r, const struct made_row *row)
{
    uint32_t base = row->control[ROW_CFA] >> RULE_NUMBER;
    bool ra = is_default_ra(r, row), fp = is_default_fp(r, row);

    if (row->flags & ROW_OUTERMOST)
        return true;
    if (row->control[ROW_CFA] & RULE_DEREFERENCE || (base != r->sp && base != r->fp))
        return false;
    if (!fp && row->control[ROW_FP] != RULE_DEREFERENCE)
        return false;
    if (!r->link)
        return ra;
    if (!ra)
        return row->control[ROW_RA] == RULE_DEREFERENCE && (r->sp_below_cfa == 0 || row->offset[ROW_RA] != 0);
    return fp || r->sp_below_cfa != 0;
}

static void add_word(struct words *words, int64_t value, bool is_signed)
{
    unsigned size = 1;

    while (is_signed ? value < -(1LL << (8 * size - 1)) || value >= 1LL << (8 * size - 1)
                     : value >= 1LL << 8 * size)
        size *= 2;
    if (size > words->size)
        words->size = size;
    words->word[words->count++] = (uint32_t)value;
}

static void default_words(const struct registers *r, const struct made_row *row, struct words *words)
{
    bool ra = is_default_ra(r, row), fp = is_default_fp(r, row);

    if (r->link && (!ra || !fp))
        add_word(words, ra ? 0 : row->offset[ROW_RA], true);
    if (!fp)
        add_word(words, row->offset[ROW_FP], true);
}

static void flexible_words(const struct registers *r, const struct made_row *row, struct words *words)
{
    bool ra = is_default_ra(r, row), fp = is_default_fp(r, row);

    if (ra && !fp)
        add_word(words, 0, false);
    if (!ra) {
        add_word(words, row->control[ROW_RA], false);
        add_word(words, row->offset[ROW_RA], true);
    }
    if (!fp) {
        add_word(words, row->control[ROW_FP], false);
        add_word(words, row->offset[ROW_FP], true);
    }
}

/* The words of ROW, none if it is outermost. Those of s390x's CFA are scaled (3.1.3). */
static struct words words_of(const struct registers *r, const struct made_row *row, bool flexible)
{
    int32_t cfa = row->offset[ROW_CFA];
    struct words words = {{0}, 0, 1};

    if (row->flags & ROW_OUTERMOST)
        return words;
    if (flexible)
        add_word(&words, row->control[ROW_CFA], false);
    add_word(&words, r->sp_below_cfa == 0 ? cfa : ((int64_t)cfa - r->sp_below_cfa) / 8, true);
    if (flexible)
        flexible_words(r, row, &words);
    else
        default_words(r, row, &words);
    return words;
}

/* ---- FDEs ------------------------------------------------------------------------------------------------------ */

/* One or more functions under one FDE. */
struct group {
    size_t first, count;
    bool flexible;
};

struct encoder {
    const struct tables *tables;
    const struct encoding *encoding;
    const struct registers *registers;
    bool big;
    bool *flexible; /* for each function */
    struct group *groups;
    size_t num_groups;
    uint8_t *fres; /* the sub-section of rows */
    size_t size;
    uint64_t num_fres;
    uint32_t *offsets; /* of each group's rows, there */
    size_t *table;     /* of lists of rows by hash: a group's number + 1 */
    size_t table_size;
};

static const struct made_row *rows_of(const struct encoder *e, size_t function)
{
    return e->tables->rows + e->tables->functions[function].first_row;
}

static bool same_rules(const struct made_row *a, const struct made_row *b)
{
    return a->flags == b->flags && memcmp(a->offset, b->offset, sizeof a->offset) == 0 &&
           memcmp(a->control, b->control, sizeof a->control) == 0;
}

/* An outermost function needs no rows (2.3.3.2). */
static bool is_rowless(const struct encoder *e, size_t function)
{
    const struct function *f = &e->tables->functions[function];

    return !f->signal && f->num_rows == 1 && rows_of(e, function)->flags & ROW_OUTERMOST;
}

static void choose_types(struct encoder *e)
{
    size_t i;
    uint32_t k;

    for (i = 0; i < e->tables->num_functions; i++)
        for (k = 0; k < e->tables->functions[i].num_rows; k++)
            e->flexible[i] |= !fits_default(e->registers, &rows_of(e, i)[k]);
}

/* 0, 1 or 2: addresses of 1, 2 or 4 bytes, if START is the largest. */
static unsigned address_code(uint64_t start)
{
    return start <= UINT8_MAX ? 0 : start <= UINT16_MAX ? 1 : 2;
}

/* ---- Merging --------------------------------------------------------------------------------------------------- */

/* Whether function I can stand in one FDE with the one before it. */
static bool can_follow(const struct encoder *e, size_t i)
{
    const struct function *a = &e->tables->functions[i - 1], *b = a + 1;
    const struct section *code = image_code(e->tables->image, a->start);

    return a->repeat == 0 && b->repeat == 0 && !a->signal && !b->signal && !a->before_loss &&
           a->key_b == b->key_b && a->num_rows > 0 && b->num_rows > 0 && e->flexible[i - 1] == e->flexible[i] &&
           code != NULL && b->start - code->addr < code->size &&
           image_is_padding(e->tables->image, a->start + a->size, b->start);
}

/* What function I adds to the rows of an FDE: their number, and the bytes of their words. FIRST: it has no neighbour
 * in front, whose last row may be the same as its own first one. */
static void count_rows(const struct encoder *e, size_t i, bool first, uint64_t *rows, uint64_t *bytes)
{
    const struct function *f = &e->tables->functions[i];
    uint32_t k = 0;

    *rows = *bytes = 0;
    if (!first && same_rules(&rows_of(e, i - 1)[f[-1].num_rows - 1], rows_of(e, i)))
        k = 1;
    for (; k < f->num_rows; k++) {
        struct words words = words_of(e->registers, &rows_of(e, i)[k], e->flexible[i]);

        *rows += 1;
        *bytes += 1 + words.count * words.size;
    }
}

/* The cost of functions I - COUNT + 1 to I under one FDE, for each COUNT up to the limit: adds one at the front after
 * the other. *BEST is the cheapest way for all up to I, given those for all before. */
static void choose_group(const struct encoder *e, size_t i, uint64_t *best, uint32_t *count)
{
    const struct function *f = e->tables->functions;
    uint64_t last, sum_rows = 0, sum_bytes = 0, rows, bytes, own_rows, own_bytes;
    uint32_t n;

    last = f[i].num_rows > 0 ? f[i].start + rows_of(e, i)[f[i].num_rows - 1].start : f[i].start;
    best[i + 1] = UINT64_MAX;
    for (n = 1; n <= e->encoding->merge && n <= i + 1; n++) {
        size_t first = i + 1 - n;
        uint64_t cost;

        count_rows(e, first, true, &own_rows, &own_bytes);
        cost = best[first] + INDEX_SIZE + ATTRIBUTES_SIZE + sum_bytes + own_bytes +
               ((sum_rows + own_rows) << address_code(last - f[first].start));
        if (n == 1 && is_rowless(e, first))
            cost = best[first] + INDEX_SIZE + ATTRIBUTES_SIZE;
        if (sum_rows + own_rows > MAX_ROWS || f[i].start + f[i].size - f[first].start > UINT32_MAX)
            break;
        if (cost < best[i + 1]) {
            best[i + 1] = cost;
            count[i] = n;
        }
        if (first == 0 || !can_follow(e, first))
            break;
        count_rows(e, first, false, &rows, &bytes);
        sum_rows += rows;
        sum_bytes += bytes;
    }
}

/* Finds the cheapest grouping of all functions, from the front; then reads it from the back. */
static void make_groups(struct encoder *e)
{
    size_t num = e->tables->num_functions, i, k;
    uint64_t *best = zeroed(num + 1, sizeof *best);
    uint32_t *count = zeroed(num, sizeof *count);

    e->groups = zeroed(num, sizeof *e->groups);
    for (i = 0; i < num; i++) {
        count[i] = 1;
        if (e->encoding->merge > 1)
            choose_group(e, i, best, count);
    }
    for (i = num; i > 0; i -= count[i - 1]) {
        struct group *group = &e->groups[e->num_groups++];

        group->count = count[i - 1];
        group->first = i - group->count;
        group->flexible = e->flexible[group->first];
    }
    for (i = 0, k = e->num_groups; i + 1 < k; i++) {
        struct group swapped = e->groups[i];

        e->groups[i] = e->groups[--k];
        e->groups[k] = swapped;
    }
    free(best);
    free(count);
}

/* ---- Rows (2.3.2, 2.4) ----------------------------------------------------------------------------------------- */

static void put(struct encoder *e, unsigned size, uint64_t value)
{
    unsigned i;

    for (i = 0; i < size; i++)
        e->fres = grow(e->fres, e->size + i, 1);
    store_number(e->fres + e->size, size, e->big, value);
    e->size += size;
}

static void put_row(struct encoder *e, const struct made_row *row, uint64_t start, unsigned address, bool flexible)
{
    struct words words = words_of(e->registers, row, flexible);
    uint8_t info = (uint8_t)(words.count << 1 | words.size / 2 << 5);
    unsigned i;

    if (row->control[ROW_CFA] >> RULE_NUMBER == e->registers->sp)
        info |= 0x01;
    if (row->flags & ROW_SIGNED)
        info |= 0x80;
    put(e, 1u << address, start);
    put(e, 1, info);
    for (i = 0; i < words.count; i++)
        put(e, words.size, words.word[i]);
}

/* Where the last row of GROUP starts, from the start of its first function. */
static uint64_t last_start(const struct encoder *e, const struct group *group)
{
    size_t last = group->first + group->count - 1;
    const struct function *f = e->tables->functions;

    if (f[last].num_rows == 0)
        return 0;
    return f[last].start - f[group->first].start + rows_of(e, last)[f[last].num_rows - 1].start;
}

/* Writes the rows of GROUP. Returns their number. */
static uint32_t put_rows(struct encoder *e, const struct group *group, unsigned address)
{
    const struct function *first = &e->tables->functions[group->first];
    const struct made_row *before = NULL;
    uint32_t count = 0, k;
    size_t i;

    for (i = group->first; i < group->first + group->count; i++) {
        const struct function *f = &e->tables->functions[i];

        for (k = 0; k < f->num_rows; k++) {
            const struct made_row *row = &rows_of(e, i)[k];

            if (before != NULL && same_rules(before, row))
                continue;
            put_row(e, row, f->start - first->start + row->start, address, group->flexible);
            before = row;
            count++;
        }
    }
    return count;
}

/* Writes the attributes and rows of GROUP. Returns the number of rows. */
static uint32_t put_group(struct encoder *e, const struct group *group)
{
    const struct function *f = &e->tables->functions[group->first];
    unsigned address = address_code(last_start(e, group));
    bool rowless = group->count == 1 && is_rowless(e, group->first);
    size_t at = e->size;
    uint32_t count = 0;

    put(e, 2, 0);
    put(e, 1,
        (rowless ? 0 : address) | (f->repeat != 0 ? 0x10u : 0) | (f->key_b ? 0x20u : 0) | (f->signal ? 0x80u : 0));
    put(e, 1, group->flexible);
    put(e, 1, f->repeat);
    if (!rowless)
        count = put_rows(e, group, address);
    store_number(e->fres + at, 2, e->big, count);
    return count;
}

/* ---- Sharing --------------------------------------------------------------------------------------------------- */

static uint64_t hash(const uint8_t *p, size_t size)
{
    uint64_t value = 14695981039346656037u;

    while (size-- > 0)
        value = (value ^ *p++) * 1099511628211u;
    return value;
}

/* Where the rows of group INDEX, the last ones, are written. If equal ones are there already, removes the new ones. */
static void share(struct encoder *e, size_t index)
{
    uint32_t at = e->offsets[index];
    size_t size = e->size - at, slot = (size_t)hash(e->fres + at, size) & (e->table_size - 1);

    for (; e->table[slot] != 0; slot = (slot + 1) & (e->table_size - 1)) {
        uint32_t other = e->offsets[e->table[slot] - 1];

        if (other + size <= at && memcmp(e->fres + other, e->fres + at, size) == 0) {
            e->offsets[index] = other;
            e->size = at;
            return;
        }
    }
    e->table[slot] = index + 1;
}

/* Writes all groups' rows. Returns false if there are too many bytes. */
static bool put_groups(struct encoder *e, bool sharing)
{
    size_t i;

    e->size = 0;
    e->num_fres = 0;
    for (i = 0; i < e->num_groups; i++) {
        if (e->size > INT32_MAX)
            return false;
        e->offsets[i] = (uint32_t)e->size;
        e->num_fres += put_group(e, &e->groups[i]);
        if (sharing)
            share(e, i);
    }
    return HEADER_SIZE + INDEX_SIZE * (uint64_t)e->num_groups + e->size <= INT32_MAX;
}

/* The same with equal rows once. sfu_check bounds its work by the size of the rows: two bytes for each at least. */
static bool put_shared(struct encoder *e, bool *shared)
{
    bool good;

    for (e->table_size = 64; e->table_size < 2 * e->num_groups; e->table_size *= 2)
        continue;
    e->table = zeroed(e->table_size, sizeof *e->table);
    good = put_groups(e, true);
    free(e->table);
    *shared = good && e->num_fres <= e->size / 2;
    return *shared || put_groups(e, false);
}

/* ---- Section (2.1 to 2.3.1) ------------------------------------------------------------------------------------ */

static void put_header(const struct encoder *e, uint8_t *p)
{
    store_number(p, 2, e->big, 0xdee2);
    p[2] = 3;
    p[3] = 0x1 | 0x4; /* sorted, starts from their fields */
    p[4] = e->tables->image->abi;
    p[5] = 0;
    p[6] = e->registers->link ? 0 : (uint8_t)-8;
    p[7] = 0;
    store_number(p + 8, 4, e->big, e->num_groups);
    store_number(p + 12, 4, e->big, e->num_fres);
    store_number(p + 16, 4, e->big, e->size);
    store_number(p + 20, 4, e->big, 0);
    store_number(p + 24, 4, e->big, INDEX_SIZE * e->num_groups);
}

static void put_section(const struct encoder *e, uint64_t addr, struct bytes *bytes)
{
    const struct function *f = e->tables->functions;
    size_t i;

    bytes->num_fdes = e->num_groups;
    bytes->num_fres = (size_t)e->num_fres;
    bytes->size = HEADER_SIZE + INDEX_SIZE * e->num_groups + e->size;
    bytes->data = zeroed(bytes->size, 1);
    put_header(e, bytes->data);
    for (i = 0; i < e->num_groups; i++) {
        const struct function *first = &f[e->groups[i].first], *last = first + e->groups[i].count - 1;
        size_t at = HEADER_SIZE + INDEX_SIZE * i;

        store_number(bytes->data + at, 8, e->big, first->start - (addr + at));
        store_number(bytes->data + at + 8, 4, e->big, last->start + last->size - first->start);
        store_number(bytes->data + at + 12, 4, e->big, e->offsets[i]);
    }
    memcpy(bytes->data + HEADER_SIZE + INDEX_SIZE * e->num_groups, e->fres, e->size);
}

bool encode(const struct tables *tables, const struct encoding *encoding, uint64_t addr, struct bytes *bytes)
{
    struct encoder e = {0};
    bool good;

    memset(bytes, 0, sizeof *bytes);
    if (tables->num_functions == 0)
        return false;
    e.tables = tables;
    e.encoding = encoding;
    e.registers = tables->image->registers;
    e.big = tables->image->big;
    e.flexible = zeroed(tables->num_functions, sizeof *e.flexible);
    choose_types(&e);
    make_groups(&e);
    e.offsets = zeroed(e.num_groups, sizeof *e.offsets);
    good = encoding->share ? put_shared(&e, &bytes->shared) : put_groups(&e, false);
    if (good)
        put_section(&e, addr, bytes);
    free(e.flexible);
    free(e.groups);
    free(e.offsets);
    free(e.fres);
    return good;
}

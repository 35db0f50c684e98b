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
    INDEX_SIZE = 16,                    /* of an FDE */
    ATTRIBUTES_SIZE = 5,                /* in front of its rows */
    MAX_ROW = 4 + 1 + 4 * 2 * ROW_RULES /* address, info, words */
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
        return row->control[ROW_RA] == RULE_DEREFERENCE && row->offset[ROW_RA] == -(int32_t)r->word;
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

static void add_row_word(struct words *words, int64_t value, bool is_signed)
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
        add_row_word(words, ra ? 0 : row->offset[ROW_RA], true);
    if (!fp)
        add_row_word(words, row->offset[ROW_FP], true);
}

static void flexible_words(const struct registers *r, const struct made_row *row, struct words *words)
{
    bool ra = is_default_ra(r, row), fp = is_default_fp(r, row);

    if (ra && !fp)
        add_row_word(words, 0, false);
    if (!ra) {
        add_row_word(words, row->control[ROW_RA], false);
        add_row_word(words, row->offset[ROW_RA], true);
    }
    if (!fp) {
        add_row_word(words, row->control[ROW_FP], false);
        add_row_word(words, row->offset[ROW_FP], true);
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
        add_row_word(&words, row->control[ROW_CFA], false);
    add_row_word(&words, r->sp_below_cfa == 0 ? cfa : ((int64_t)cfa - r->sp_below_cfa) / 8, true);
    if (flexible)
        flexible_words(r, row, &words);
    else
        default_words(r, row, &words);
    return words;
}

/* ---- FDEs ------------------------------------------------------------------------------------------------------ */

/* The code of a group, and where its last row begins. */
struct extent {
    uint64_t start, last, end;
};

struct encoder {
    const struct tables *tables;
    const struct encoding *encoding;
    const struct registers *registers;
    bool big;
    bool *flexible;   /* for each function */
    uint8_t *lengths; /* of each row, if they are grouped: its info and its words */
    struct groups groups;
    uint8_t *fres; /* the sub-section of rows, with room for all of them */
    size_t size;
    uint64_t num_fres;
    struct extent *extents; /* of each group */
    uint32_t *offsets;      /* of each group's rows, there */
    uint32_t *table;        /* of lists of rows by hash: a group's number + 1 */
    size_t table_size;
};

static const struct made_row *rows_of(const struct encoder *e, size_t function)
{
    return e->tables->rows + e->tables->functions[function].first_row;
}

/* An outermost function needs no rows (2.3.3.2). */
static bool is_rowless(const struct encoder *e, size_t function)
{
    const struct function *f = &e->tables->functions[function];

    return !f->signal && f->num_rows == 1 && rows_of(e, function)->flags & ROW_OUTERMOST;
}

/* A function has flexible rows if one of its rows needs to be, because the type is the function's (2.3.2). */
static void choose_types(struct encoder *e)
{
    size_t i;
    uint32_t k;

    for (i = 0; i < e->tables->num_functions; i++) {
        const struct function *f = &e->tables->functions[i];

        for (k = 0; k < f->num_rows; k++)
            e->flexible[i] |= !fits_default(e->registers, &rows_of(e, i)[k]);
        for (k = 0; k < f->num_rows && e->encoding->rows > 0; k++) {
            struct words words = words_of(e->registers, &rows_of(e, i)[k], e->flexible[i]);

            e->lengths[f->first_row + k] = (uint8_t)(1 + words.count * words.size);
        }
    }
}

/* 0, 1 or 2: addresses of 1, 2 or 4 bytes, if START is the largest. */
static unsigned address_code(uint64_t start)
{
    return start <= UINT8_MAX ? 0 : start <= UINT16_MAX ? 1 : 2;
}

/* ---- Rows of a group ------------------------------------------------------------------------------------------- */

/* A row of a group, and those behind it in turn. */
struct cursor {
    const struct encoder *e;
    size_t function;
    uint32_t row, left;
    const struct made_row *before; /* the last one that was given, or NULL */
};

/* Where an FDE begins whose first row is row I of FUNCTION. It has the byte before only if it says something of that:
 * the end of a trace. An FDE that is not shared begins with its function. */
static uint64_t first_start(const struct encoder *e, size_t function, uint32_t i)
{
    const struct function *f = &e->tables->functions[function];
    const bool shares = e->encoding->rows > 0;

    if (i > 0 || f->is_returned_to || (shares && f->has_byte_before && rows_of(e, function)->flags & ROW_OUTERMOST))
        return row_start(e->tables, f, i);
    return f->start;
}

/* Where the rows of FUNCTION end: perhaps a byte before the next one. */
static uint64_t end_of(const struct encoder *e, size_t function)
{
    const struct function *f = &e->tables->functions[function];
    const uint64_t end = f->start + f->size;

    return end - (function + 1 < e->tables->num_functions && f[1].start == end &&
                  (f[1].has_byte_before || f[1].is_apart));
}

/* Gives the next row of the group that does not repeat the one before it, or NULL; and its address. */
static const struct made_row *next_row(struct cursor *c, uint64_t *address)
{
    while (c->left > 0) {
        const struct function *f = &c->e->tables->functions[c->function];
        const struct made_row *row;

        if (c->row == f->num_rows) {
            c->function++;
            c->row = 0;
            continue;
        }
        row = &rows_of(c->e, c->function)[c->row++];
        c->left--;
        if (c->before != NULL && row_equals(c->before, row))
            continue;
        *address =
            c->before == NULL ? first_start(c->e, c->function, c->row - 1) : row_start(c->e->tables, f, c->row - 1);
        return c->before = row;
    }
    return NULL;
}

static struct cursor first_row(const struct encoder *e, const struct group *group)
{
    return (struct cursor){e, group->function, group->row, group->count, NULL};
}

static struct extent find_extent(const struct encoder *e, const struct group *group)
{
    struct cursor c = first_row(e, group);
    const uint64_t start = first_start(e, group->function, group->row);
    struct extent extent = {start, start, 0};
    const struct function *f;

    while (next_row(&c, &extent.last) != NULL)
        continue;
    f = &e->tables->functions[c.function];
    extent.end = c.row < f->num_rows ? row_start(e->tables, f, c.row) : end_of(e, c.function);
    return extent;
}

/* Finds the extents of all groups, and makes room for their rows. */
static void prepare(struct encoder *e)
{
    size_t i;

    e->extents = zeroed(e->groups.num, sizeof *e->extents);
    e->offsets = zeroed(e->groups.num, sizeof *e->offsets);
    for (i = 0; i < e->groups.num; i++)
        e->extents[i] = find_extent(e, &e->groups.list[i]);
    e->fres = zeroed(ATTRIBUTES_SIZE * e->groups.num + MAX_ROW * e->tables->num_rows, 1);
}

/* ---- Rows (2.3.2, 2.4) ----------------------------------------------------------------------------------------- */

static void append_number(struct encoder *e, unsigned size, uint64_t value)
{
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
    append_number(e, 1u << address, start);
    append_number(e, 1, info);
    for (i = 0; i < words.count; i++)
        append_number(e, words.size, words.word[i]);
}

/* Writes the rows of GROUP, whose code begins at START. Returns their number. */
static uint32_t put_rows(struct encoder *e, const struct group *group, uint64_t start, unsigned address)
{
    struct cursor c = first_row(e, group);
    const struct made_row *row;
    uint32_t count = 0;
    uint64_t at;

    for (; (row = next_row(&c, &at)) != NULL; count++)
        put_row(e, row, at - start, address, e->flexible[group->function]);
    return count;
}

/* Writes the attributes and rows of GROUP. Returns the number of rows. */
static uint32_t put_group(struct encoder *e, const struct group *group, const struct extent *extent)
{
    const struct function *f = &e->tables->functions[group->function];
    bool rowless = group->count == f->num_rows && is_rowless(e, group->function);
    unsigned address = rowless ? 0 : address_code(extent->last - extent->start);
    size_t at = e->size;
    uint32_t count = 0;

    append_number(e, 2, 0); /* their number, once it is known: rows that repeat the one before are not written */
    append_number(e, 1, address | (f->repeat != 0 ? 0x10u : 0) | (f->key_b ? 0x20u : 0) | (f->signal ? 0x80u : 0));
    append_number(e, 1, e->flexible[group->function]);
    append_number(e, 1, f->repeat);
    if (!rowless)
        count = put_rows(e, group, extent->start, address);
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

/* Where the rows of group INDEX, the last ones, are written. If equal ones are there already, removes the new ones, as
 * long as no more than ROOM bytes have been saved in all. *SAVED is counted. */
static void share(struct encoder *e, size_t index, uint64_t room, uint64_t *saved)
{
    uint32_t at = e->offsets[index];
    size_t size = e->size - at, slot = (size_t)hash(e->fres + at, size) & (e->table_size - 1);

    for (; e->table[slot] != 0; slot = (slot + 1) & (e->table_size - 1)) {
        uint32_t other = e->offsets[e->table[slot] - 1];

        if (other + size > at || memcmp(e->fres + other, e->fres + at, size) != 0)
            continue;
        if (size > room - *saved)
            return;
        *saved += size;
        e->offsets[index] = other;
        e->size = at;
        return;
    }
    e->table[slot] = (uint32_t)index + 1;
}

/* Writes all groups' rows, equal ones once as far as that saves no more than ROOM bytes. *SAVED: how many it has.
 * Returns false if there are too many bytes. */
static bool put_groups(struct encoder *e, uint64_t room, uint64_t *saved)
{
    size_t i;

    e->size = 0;
    e->num_fres = 0;
    *saved = 0;
    memset(e->table, 0, e->table_size * sizeof *e->table);
    for (i = 0; i < e->groups.num; i++) {
        if (e->size > INT32_MAX)
            return false;
        e->offsets[i] = (uint32_t)e->size;
        e->num_fres += put_group(e, &e->groups.list[i], &e->extents[i]);
        if (room > 0)
            share(e, i, room, saved);
    }
    return HEADER_SIZE + INDEX_SIZE * (uint64_t)e->groups.num + e->size <= INT32_MAX;
}

/* sfu_check bounds its work by the size of the rows: two bytes for each at least. So no more is saved than leaves
 * that. */
static bool put_shared(struct encoder *e, bool sharing)
{
    uint64_t saved, room, full;
    bool good;

    for (e->table_size = 64; e->table_size < 2 * e->groups.num; e->table_size *= 2)
        continue;
    e->table = zeroed(e->table_size, sizeof *e->table);
    good = put_groups(e, sharing ? UINT64_MAX : 0, &saved);
    full = e->size + saved;
    if (good && saved > 0 && e->num_fres > e->size / 2) {
        room = full > 2 * e->num_fres ? full - 2 * e->num_fres : 0;
        good = put_groups(e, room, &saved);
    }
    free(e->table);
    return good;
}

/* ---- Section (2.1 to 2.3.1) ------------------------------------------------------------------------------------ */

static void put_tables_header(const struct encoder *e, uint8_t *p)
{
    store_number(p, 2, e->big, abi_tables_magic(e->registers->abi));
    p[2] = 3;
    p[3] = 0x1 | 0x4; /* sorted, starts from their fields */
    p[4] = e->tables->image->abi;
    p[5] = 0;
    p[6] = (uint8_t)(e->registers->link ? 0 : 0u - e->registers->word);
    p[7] = 0;
    store_number(p + 8, 4, e->big, e->groups.num);
    store_number(p + 12, 4, e->big, e->num_fres);
    store_number(p + 16, 4, e->big, e->size);
    store_number(p + 20, 4, e->big, 0);
    store_number(p + 24, 4, e->big, INDEX_SIZE * e->groups.num);
}

static void put_encoded(const struct encoder *e, uint64_t addr, struct bytes *bytes)
{
    size_t i;

    bytes->num_fdes = e->groups.num;
    bytes->num_fres = (size_t)e->num_fres;
    bytes->size = HEADER_SIZE + INDEX_SIZE * e->groups.num + e->size;
    bytes->data = zeroed(bytes->size, 1);
    put_tables_header(e, bytes->data);
    for (i = 0; i < e->groups.num; i++) {
        size_t at = HEADER_SIZE + INDEX_SIZE * i;
        const struct extent *extent = &e->extents[i];

        store_number(bytes->data + at, 8, e->big, extent->start - (addr + at));
        store_number(bytes->data + at + 8, 4, e->big, extent->end - extent->start);
        store_number(bytes->data + at + 12, 4, e->big, e->offsets[i]);
    }
    memcpy(bytes->data + HEADER_SIZE + INDEX_SIZE * e->groups.num, e->fres, e->size);
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
    e.lengths = zeroed(tables->num_rows, sizeof *e.lengths);
    choose_types(&e);
    e.groups = groups_choose(&(struct grouping){tables, e.flexible, e.lengths, encoding->rows, encoding->share});
    prepare(&e);
    free(e.lengths);
    good = put_shared(&e, encoding->share);
    if (good)
        put_encoded(&e, addr, bytes);
    free(e.flexible);
    free(e.groups.list);
    free(e.extents);
    free(e.offsets);
    free(e.fres);
    return good;
}

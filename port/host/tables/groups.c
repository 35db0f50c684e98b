/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Dynamic programming: the cheapest way for the rows up to one of them ends in an FDE that begins at some row before
 * it. An FDE costs its bytes, and what lookups read of it. Rows are grouped in pieces, of neighbours that could all
 * stand under one FDE. Several passes are made: what a list of rows costs depends on how often it is used, and that is
 * known from the pass before; so is how much more lookups read.
 */
#include "encode.h"

#include <stdlib.h>
#include <string.h>

enum {
    INDEX_SIZE = 16,     /* of an FDE (2.3.1 of the format) */
    ATTRIBUTES_SIZE = 5, /* in front of its rows (2.3.2) */
    UNIT = 64,           /* costs are in 64ths of a byte: shares of a list are fractions */
    READING = 100,       /* a row more to read, on average, costs a byte for so many rows, in the first pass */
    MORE = 8, /* with more to read, on average, than a MORE-th of the rows that are allowed, it costs more */
    MAX_PIECE = 1 << 15, /* rows that are looked at together, so that no product below wraps */
    MAX_STARTS = 256, /* rows at which an FDE may begin that ends at some row, so that time is linear in the rows */
    MAX_RUN = 4,      /* functions in turn that are looked for elsewhere */
    PASSES = 2,       /* at least, where lists are shared */
    MAX_PASSES = 10
};

bool row_equals(const struct made_row *a, const struct made_row *b)
{
    return a->flags == b->flags && memcmp(a->offset, b->offset, sizeof a->offset) == 0 &&
           memcmp(a->control, b->control, sizeof a->control) == 0;
}

uint64_t row_start(const struct tables *tables, const struct function *f, uint32_t i)
{
    return f->start + tables->rows[f->first_row + i].start - (i == 0 && f->has_byte_before);
}

/* ---- How often a list of rows is used -------------------------------------------------------------------------- */

/* Lists are known by a hash: if two of them have the same one, only a cost is wrong. */
struct usage {
    uint32_t tag;        /* other bits of the hash, or 0: free */
    uint32_t count, now; /* in the pass before, and in this one */
};

struct usages {
    struct usage *list;
    size_t size; /* a power of two; at least a half is free */
};

static struct usage *usage_of(const struct usages *usages, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32) | 1;
    size_t i = (size_t)hash & (usages->size - 1);

    while (usages->list[i].tag != 0 && usages->list[i].tag != tag)
        i = (i + 1) & (usages->size - 1);
    usages->list[i].tag = tag;
    return &usages->list[i];
}

/* What has been counted in a pass is what the next one takes for known. */
static void end_pass(const struct usages *usages)
{
    size_t i;

    for (i = 0; i < usages->size; i++) {
        usages->list[i].count = usages->list[i].now;
        usages->list[i].now = 0;
    }
}

/* The product of odd numbers mixes all bits upwards; the shift brings them down again. */
static uint64_t mixed(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* ---- A piece --------------------------------------------------------------------------------------------------- */

/* Functions in turn whose rows may stand under one FDE. Arrays have an element for each row, or one more. */
struct piece {
    const struct grouping *in;
    int64_t bytes_of_code; /* at so many a row more to read costs a byte */
    int64_t more, all;     /* what groups so far read more than functions on their own; all of their code */
    size_t first, num;     /* functions */
    uint32_t num_rows;
    uint64_t *start; /* of each row: its address */
    uint8_t *length; /* bytes of a row without its address */
    uint32_t *bytes; /* those of all rows before it, of which those that repeat the one before have none */
    uint32_t *count; /* how many rows before it do not repeat */
    int64_t *code;   /* bytes of code of all rows before it */
    int64_t *reads;  /* the sum over those bytes, each times how many rows lie before its own and do not repeat */
    uint32_t *begin; /* of each function: its first row; and the end */
    uint64_t *hash;  /* of each function: its rows */
    int64_t *cost;   /* of all rows up to there, the cheapest way */
    uint32_t *from;  /* and where its last FDE begins */
};

static const struct made_row *rows_of(const struct grouping *in, size_t function)
{
    return in->tables->rows + in->tables->functions[function].first_row;
}

/* Whether rows of FUNCTION may stand under one FDE with others. */
static bool is_plain(const struct grouping *in, size_t function)
{
    const struct function *f = &in->tables->functions[function];

    return f->repeat == 0 && !f->signal && f->num_rows > 0;
}

/* Whether the last row of FUNCTION, which has some, is outermost. */
static bool ends_outermost(const struct grouping *in, size_t function)
{
    return (rows_of(in, function)[in->tables->functions[function].num_rows - 1].flags & ROW_OUTERMOST) != 0;
}

/* Whether FUNCTION can stand under one FDE with the one before it: only padding may lie between them. It has no row
 * where the one before it would be outermost. A thread may begin with the address of its function as the one to return
 * to, and what is looked up then is the byte before: its trace is not to count as complete. */
static bool can_follow(const struct grouping *in, size_t function)
{
    const struct function *a = &in->tables->functions[function - 1], *b = a + 1;
    const struct section *code = image_code(in->tables->image, a->start);

    if (is_plain(in, function - 1) && ends_outermost(in, function - 1) && b->start != a->start + a->size &&
        !b->has_byte_before)
        return false;
    return is_plain(in, function) && is_plain(in, function - 1) && !a->before_loss && !b->is_apart &&
           a->key_b == b->key_b && in->flexible[function - 1] == in->flexible[function] && code != NULL &&
           b->start - code->addr < code->size && image_is_padding(in->tables->image, a->start + a->size, b->start);
}

/* The piece that begins with function FIRST. */
static void find_piece(struct piece *p, size_t first)
{
    const struct function *f = p->in->tables->functions;
    size_t end = first + 1;
    uint64_t rows = f[first].num_rows;

    while (end < p->in->tables->num_functions && rows + f[end].num_rows <= MAX_PIECE &&
           f[end].start - f[first].start < INT32_MAX && can_follow(p->in, end))
        rows += f[end++].num_rows;
    p->first = first;
    p->num = end - first;
    p->num_rows = (uint32_t)rows;
}

/* Fills in what is known of the piece's rows. */
static void read_piece(struct piece *p)
{
    const struct made_row *before = NULL;
    uint32_t at = 0, k;
    size_t i;

    p->bytes[0] = p->count[0] = 0;
    p->code[0] = p->reads[0] = 0;
    for (i = 0; i < p->num; i++) {
        const struct function *f = &p->in->tables->functions[p->first + i];
        const struct made_row *rows = rows_of(p->in, p->first + i);
        uint64_t hash = p->in->flexible[p->first + i] + 2u * f->key_b;

        p->begin[i] = at;
        for (k = 0; k < f->num_rows; k++, at++) {
            bool repeats = before != NULL && row_equals(before, &rows[k]);
            int64_t code = (k + 1 < f->num_rows ? rows[k + 1].start : f->size) - rows[k].start;

            before = &rows[k];
            p->start[at] = row_start(p->in->tables, f, k);
            p->length[at] = p->in->lengths[f->first_row + k];
            p->bytes[at + 1] = p->bytes[at] + (repeats ? 0 : p->length[at]);
            p->count[at + 1] = p->count[at] + !repeats;
            p->code[at + 1] = p->code[at] + code;
            p->reads[at + 1] = p->reads[at] + code * p->count[at + 1];
            hash = mixed(hash, (uint64_t)before->start << 8 | before->flags);
            hash = mixed(hash, (uint64_t)(uint32_t)before->offset[0] << 32 | (uint32_t)before->offset[1]);
            hash = mixed(hash, (uint64_t)(uint32_t)before->offset[2] << 32 | before->control[0]);
            hash = mixed(hash, (uint64_t)before->control[1] << 32 | before->control[2]);
        }
        p->hash[i] = hash;
    }
    p->begin[i] = at;
}

/* Bytes of the rows from I up to END and their attributes, with addresses of WIDTH bytes. */
static int64_t rows_size(const struct piece *p, uint32_t i, uint32_t end, unsigned width)
{
    return ATTRIBUTES_SIZE + p->length[i] + (p->bytes[end] - p->bytes[i + 1]) +
           (int64_t)width * (1 + p->count[end] - p->count[i + 1]);
}

/* How many bytes the addresses of the rows from I up to END need. */
static unsigned width_of(const struct piece *p, uint32_t i, uint32_t end)
{
    uint64_t last = p->start[end - 1] - p->start[i];

    return last <= UINT8_MAX ? 1 : last <= UINT16_MAX ? 2 : 4;
}

/* How many rows an FDE for those from I up to END has. */
static uint32_t rows_in(const struct piece *p, uint32_t i, uint32_t end)
{
    return 1 + p->count[end] - p->count[i + 1];
}

/* How many rows in front of that of their PC lookups read in an FDE for the rows from I up to END, if each PC is looked
 * up once. Pieces have less than 2^31 bytes of code, and 2^15 rows or what one function has: no product wraps. */
static int64_t reads_of(const struct piece *p, uint32_t i, uint32_t end)
{
    return p->reads[end] - p->reads[i] - p->count[i + 1] * (p->code[end] - p->code[i]);
}

/* What that costs. */
static int64_t reading_of(const struct piece *p, uint32_t i, uint32_t end)
{
    return reads_of(p, i, end) * UNIT / p->bytes_of_code;
}

/* ---- Runs: lists of whole functions, which may be elsewhere, too ----------------------------------------------- */

/* The hash of the functions from A up to END, given that of those behind A. Where they start counts, where the last one
 * ends does not. */
static uint64_t run_hash(const struct piece *p, size_t a, size_t end, uint64_t behind)
{
    const struct function *f = &p->in->tables->functions[p->first + a];
    uint64_t distance = a + 1 < end ? f[1].start - f->start + ((uint64_t)f[1].has_byte_before << 63) : 0;

    return mixed(mixed(p->hash[a], distance), behind);
}

/* Takes each run that ends with function END - 1 for used once. */
static void count_list_runs(const struct piece *p, size_t end, const struct usages *usages)
{
    uint64_t hash = 0;
    size_t n;

    for (n = 1; n <= MAX_RUN && n <= end; n++) {
        hash = run_hash(p, end - n, end, hash);
        usage_of(usages, hash)->now++;
    }
}

/* Tries the runs that end with function END - 1, whose rows end at J. */
static void try_runs(struct piece *p, size_t end, uint32_t j, const struct usages *usages)
{
    uint64_t hash = 0;
    size_t n;

    for (n = 1; n <= MAX_RUN && n <= end; n++) {
        uint32_t i = p->begin[end - n], count;
        int64_t cost;

        if (rows_in(p, i, j) > p->in->rows)
            break;
        hash = run_hash(p, end - n, end, hash);
        count = usage_of(usages, hash)->count;
        cost = p->cost[i] + UNIT * INDEX_SIZE +
               UNIT * rows_size(p, i, j, width_of(p, i, j)) / (count > 1 ? (int64_t)count : 1) +
               reading_of(p, i, j);
        if (cost < p->cost[j]) {
            p->cost[j] = cost;
            p->from[j] = i;
        }
    }
}

/* ---- The cheapest way ------------------------------------------------------------------------------------------ */

/* Tries each FDE that ends at J. It has row J - 1 at least. What it costs without what it is read for is size_of and
 * width_of, with what does not depend on I outside of the loop. */
static void try_starts(struct piece *p, uint32_t j)
{
    const uint32_t bytes = p->bytes[j], count = p->count[j], most = p->in->rows;
    const uint64_t last = p->start[j - 1];
    uint32_t i = j, low = j > MAX_STARTS ? j - MAX_STARTS : 0, from = 0;
    int64_t best = INT64_MAX;

    while (i-- > low) {
        uint32_t rows = 1 + count - p->count[i + 1];
        uint64_t distance = last - p->start[i];
        uint32_t width = distance <= UINT8_MAX ? 1 : distance <= UINT16_MAX ? 2 : 4;
        int64_t cost = p->cost[i] + UNIT * (int64_t)(INDEX_SIZE + ATTRIBUTES_SIZE + p->length[i] + bytes -
                                                     p->bytes[i + 1] + width * rows);

        if (rows > most)
            break;
        if (cost >= best) /* and reading costs more yet */
            continue;
        cost += reading_of(p, i, j);
        if (cost < best) {
            best = cost;
            from = i;
        }
    }
    p->cost[j] = best;
    p->from[j] = from;
}

/* Finds the cheapest way for each row of the piece. */
static void solve(struct piece *p, const struct usages *usages)
{
    size_t function = 0;
    uint32_t j;

    p->cost[0] = 0;
    for (j = 1; j <= p->num_rows; j++) {
        try_starts(p, j);
        if (p->begin[function + 1] == j && p->in->share)
            try_runs(p, function + 1, j, usages);
        function += p->begin[function + 1] == j;
    }
}

/* ---- Groups ---------------------------------------------------------------------------------------------------- */

static void add_group(struct groups *groups, size_t function, uint32_t row, uint32_t count)
{
    groups->list = grow(groups->list, groups->num, sizeof *groups->list);
    groups->list[groups->num++] = (struct group){function, row, count};
}

/* Counts the run that the rows from I up to J are, if they are one. FUNCTION is the one that I is in. */
static void count_run(const struct piece *p, size_t function, uint32_t i, uint32_t j, const struct usages *usages)
{
    size_t end = function + 1, k;
    uint64_t hash = 0;

    while (end < p->num && end - function < MAX_RUN && p->begin[end] < j)
        end++;
    if (p->begin[function] != i || p->begin[end] != j)
        return;
    for (k = end; k > function; k--)
        hash = run_hash(p, k - 1, end, hash);
    usage_of(usages, hash)->now++;
}

/* Adds the groups of the cheapest way. */
static void take_groups(struct piece *p, const struct usages *usages, struct groups *groups)
{
    uint32_t i, j, next = p->num_rows;
    size_t function = 0;

    for (j = p->num_rows; j > 0; j = i) { /* turns the list of ends into one of starts */
        i = p->from[j];
        p->from[j] = next;
        next = j;
    }
    p->from[0] = next;
    for (i = 0; i < p->num_rows; i = j) {
        j = p->from[i];
        while (p->begin[function + 1] <= i)
            function++;
        add_group(groups, p->first + function, i - p->begin[function], j - i);
        p->more += reads_of(p, i, j);
        if (p->in->share)
            count_run(p, function, i, j, usages);
    }
    for (function = 0; function < p->num; function++)
        p->more -= reads_of(p, p->begin[function], p->begin[function + 1]);
}

/* Arrays for the longest piece. A function may have more rows than a piece should have. */
static void make_room(struct piece *p, const struct grouping *in)
{
    size_t rows = MAX_PIECE, i;

    for (i = 0; i < in->tables->num_functions; i++)
        rows = in->tables->functions[i].num_rows > rows ? in->tables->functions[i].num_rows : rows;
    memset(p, 0, sizeof *p);
    p->in = in;
    p->start = zeroed(rows, sizeof *p->start);
    p->length = zeroed(rows, sizeof *p->length);
    p->bytes = zeroed(rows + 1, sizeof *p->bytes);
    p->count = zeroed(rows + 1, sizeof *p->count);
    p->begin = zeroed(rows + 1, sizeof *p->begin);
    p->code = zeroed(rows + 1, sizeof *p->code);
    p->reads = zeroed(rows + 1, sizeof *p->reads);
    p->hash = zeroed(rows, sizeof *p->hash);
    p->cost = zeroed(rows + 1, sizeof *p->cost);
    p->from = zeroed(rows + 1, sizeof *p->from);
}

static void free_room(struct piece *p)
{
    free(p->start);
    free(p->length);
    free(p->bytes);
    free(p->count);
    free(p->begin);
    free(p->code);
    free(p->reads);
    free(p->hash);
    free(p->cost);
    free(p->from);
}

/* Counts all runs that there are: what the first pass takes for known. */
static void count_all(struct piece *p, const struct usages *usages)
{
    size_t first, end;

    for (first = 0; first < p->in->tables->num_functions; first += p->num) {
        p->num = 1;
        if (!is_plain(p->in, first))
            continue;
        find_piece(p, first);
        read_piece(p);
        for (end = 1; end <= p->num; end++)
            count_list_runs(p, end, usages);
    }
}

/* What reading costs in the first pass. */
static int64_t first_weight(const struct grouping *in)
{
    uint64_t code = 0, weight;
    size_t i;

    for (i = 0; i < in->tables->num_functions; i++)
        code += in->tables->functions[i].size;
    weight = in->tables->num_rows > 0 ? READING * (code / in->tables->num_rows) : 0;
    return weight > READING ? (int64_t)weight : READING;
}

/* Groups all rows. */
static struct groups make_pass(struct piece *p, const struct usages *usages)
{
    struct groups groups = {NULL, 0};
    size_t first;

    end_pass(usages);
    p->more = p->all = 0;
    for (first = 0; first < p->in->tables->num_functions; first += p->num) {
        p->num = 1;
        if (!is_plain(p->in, first)) {
            add_group(&groups, first, 0, p->in->tables->functions[first].num_rows);
            continue;
        }
        find_piece(p, first);
        read_piece(p);
        p->all += p->code[p->num_rows];
        solve(p, usages);
        take_groups(p, usages, &groups);
    }
    return groups;
}

static struct groups choose_groups(const struct grouping *in)
{
    struct usages usages = {NULL, 64};
    struct groups groups;
    struct piece piece;
    unsigned pass;

    while (in->share && usages.size < 2 * MAX_RUN * in->tables->num_functions)
        usages.size *= 2;
    usages.list = zeroed(usages.size, sizeof *usages.list);
    make_room(&piece, in);
    piece.bytes_of_code = first_weight(in);
    if (in->share)
        count_all(&piece, &usages);
    groups = make_pass(&piece, &usages);
    /* Where lookups read too much, reading costs half as much again in the next pass. */
    for (pass = 1; pass < MAX_PASSES; pass++) {
        bool slow = piece.more / (int64_t)in->rows > piece.all / MORE;

        if (!slow && (pass >= PASSES || !in->share))
            break;
        piece.bytes_of_code -= slow ? piece.bytes_of_code / 3 : 0;
        free(groups.list);
        groups = make_pass(&piece, &usages);
    }
    free_room(&piece);
    free(usages.list);
    return groups;
}

struct groups groups_choose(const struct grouping *grouping)
{
    struct groups groups = {NULL, 0};
    size_t i;

    if (grouping->rows > 0)
        return choose_groups(grouping);
    for (i = 0; i < grouping->tables->num_functions; i++)
        add_group(&groups, i, 0, grouping->tables->functions[i].num_rows);
    return groups;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * agree NAME IMAGE TABLE: whether sfu finds in IMAGE's .sframe section what TABLE (of objdump.py)
 * says, at every PC. It is one test, NAME.
 */
#include "loaded.h"
#include "port/host/common/image.h"
#include "test/lib/check.h"
#include "test/lib/rows.h"
#include "sfu.h"

#include <err.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint32_t offset; /* from the function's start, or the block's */
    int kind;
    bool signed_ra;
    struct sfu_rule cfa, ra, fp;
};

struct fde {
    uint64_t pc;
    uint32_t size, num_rows, repeat; /* repeat 0: not a function of repeated blocks */
    bool signal;
    struct row *rows;
    uint32_t index; /* in the section */
};

struct table {
    unsigned version;
    bool sorted, field_relative;
    uint32_t num_fdes, num_rows;
    struct fde *fdes;
    struct row *rows;
};

static unsigned long differences;
static char first_difference[256];

static void differ(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void differ(const char *format, ...)
{
    va_list args;

    if (differences++ > 0)
        return;
    va_start(args, format);
    vsnprintf(first_difference, sizeof first_difference, format, args);
    va_end(args);
}

/* ---- The table ---- */

static void read_row(FILE *f, struct row *row)
{
    unsigned signed_ra;

    if (fscanf(f, " row %" SCNu32 " %d %u %" SCNu32 " %" SCNd32 " %" SCNu32 " %" SCNd32 " %" SCNu32 " %" SCNd32,
               &row->offset, &row->kind, &signed_ra, &row->cfa.control, &row->cfa.offset, &row->ra.control,
               &row->ra.offset, &row->fp.control, &row->fp.offset) != 9)
        errx(1, "bad row in the table");
    row->signed_ra = signed_ra != 0;
}

/* An FDE of an object has its PC from the relocation. objdump prints it without the section's
 * address, and before V3 as 0. How long the blocks of a PLT are, it does not print at all: the
 * section's own header says that. */
static void place_fde(const struct loaded *image, const struct table *table, struct fde *fde, bool mask)
{
    const struct place *place;

    if (image->object) {
        uint64_t printed = fde->pc;

        if (image->num_starts != table->num_fdes)
            errx(1, "%zu relocations for %" PRIu32 " functions", image->num_starts, table->num_fdes);
        fde->pc = image->starts[fde->index];
        place = place_of(image, fde->pc);
        if (table->version == 3 && fde->size > 0 && (place == NULL || fde->pc - place->addr != printed))
            errx(1, "function %" PRIu32 " is not where its relocation says", fde->index);
    }
    place = place_of(image, fde->pc);
    if (mask)
        fde->repeat = place != NULL ? (uint32_t)place->entry_size : 0;
    if (mask && fde->repeat == 0)
        errx(1, "function %" PRIu32 " has no repeated block", fde->index);
}

static void read_fde(FILE *f, const struct loaded *image, const struct table *table, struct fde *fde)
{
    unsigned mask, signal;

    if (fscanf(f, " fde %" SCNu64 " %" SCNu32 " %" SCNu32 " %u %u", &fde->pc, &fde->size, &fde->num_rows, &mask,
               &signal) != 5)
        errx(1, "bad function in the table");
    fde->signal = signal != 0;
    place_fde(image, table, fde, mask != 0);
}

static void read_table(struct table *table, const char *file, const struct loaded *image)
{
    FILE *f = fopen(file, "re");
    unsigned sorted, relative;
    struct row *row;

    if (f == NULL)
        err(1, "%s", file);
    if (fscanf(f, " section %u %u %u %" SCNu32 " %" SCNu32, &table->version, &sorted, &relative, &table->num_fdes,
               &table->num_rows) != 5)
        errx(1, "bad table");
    table->sorted = sorted != 0;
    table->field_relative = relative != 0;
    table->fdes = calloc(table->num_fdes + 1u, sizeof *table->fdes);
    table->rows = row = calloc(table->num_rows + 1u, sizeof *row);
    if (table->fdes == NULL || row == NULL)
        err(1, "table");
    for (uint32_t i = 0; i < table->num_fdes; i++) {
        struct fde *fde = &table->fdes[i];

        fde->index = i;
        fde->rows = row;
        read_fde(f, image, table, fde);
        if (fde->num_rows > (size_t)(table->rows + table->num_rows - row))
            errx(1, "more rows in the table than it says");
        for (uint32_t k = 0; k < fde->num_rows; k++)
            read_row(f, row++);
    }
    if (row != table->rows + table->num_rows || fscanf(f, " %*c") != EOF)
        errx(1, "the table has another number of rows than it says");
    fclose(f);
}

/* ---- Rows ---- */

static void compare(const char *how, const struct sfu_section *s, const struct fde *fde, const struct row *row,
                    uint64_t start, uint32_t length, uint64_t pc)
{
    struct sfu_row got;
    int code = sfu_find(s, pc, &got);
    const char *what = NULL;

    if (code != SFU_OK)
        what = sfu_string(code);
    else if (got.start != start || got.length != length || got.function != fde->pc)
        what = "range";
    else if (got.kind != row->kind || got.trap_frame != fde->signal || got.signed_ra != row->signed_ra ||
             got.abi != s->abi)
        what = "attributes";
    else if (row->kind == SFU_ROW_RULES && !same_rule(&got.cfa, &row->cfa))
        what = "CFA";
    else if (row->kind == SFU_ROW_RULES && !same_rule(&got.ra, &row->ra))
        what = "RA";
    else if (row->kind == SFU_ROW_RULES && !same_rule(&got.fp, &row->fp))
        what = "FP";
    if (what != NULL)
        differ("%s, PC 0x%" PRIx64 ", function %" PRIu32 ": %s", how, pc, fde->index, what);
}

/* What was compared. A row that starts at the end of its function, as the only one of an empty function does, is
 * one that no PC has. */
struct counts {
    unsigned long functions, rows, beyond, pcs;
};

/* Compares the PCs of ROW in the block at BLOCK: all, or the first and the last. */
static bool compare_range(const char *how, const struct sfu_section *s, const struct fde *fde,
                          const struct row *row, uint32_t block, bool all, struct counts *counts)
{
    uint32_t end = fde->repeat != 0 ? fde->repeat : fde->size;
    uint32_t length;
    uint64_t start;

    if (row + 1 < fde->rows + fde->num_rows && row[1].offset < end)
        end = row[1].offset;
    if (end > fde->size - block)
        end = fde->size - block;
    if (end <= row->offset)
        return false;
    start = fde->pc + block + row->offset;
    length = end - row->offset;
    for (uint32_t i = 0; i < length; i += all || length == 1 ? 1 : length - 1) {
        compare(how, s, fde, row, start, length, start + i);
        counts->pcs++;
    }
    return true;
}

static void compare_fde(const char *how, const struct sfu_section *s, const struct fde *fde, bool all,
                        struct counts *counts)
{
    static const struct row none = {0, SFU_ROW_OUTERMOST, false, {0, 0}, {0, 0}, {0, 0}};
    static const struct row ask = {0, SFU_ROW_ASK, false, {0, 0}, {0, 0}, {0, 0}};

    counts->functions++;
    if (fde->num_rows == 0)
        compare_range(how, s, fde, fde->signal ? &ask : &none, 0, all, counts);
    for (uint32_t k = 0; k < fde->num_rows; k++) {
        uint32_t block = 0;
        bool found = false;

        do
            found |= compare_range(how, s, fde, &fde->rows[k], block, all, counts);
        while (fde->repeat != 0 && (block += fde->repeat) < fde->size);
        if (found)
            counts->rows++;
        else if (fde->rows[k].offset == fde->size)
            counts->beyond++;
        else
            differ("%s, function %" PRIu32 ": no PC has its row %" PRIu32, how, fde->index, k);
    }
}

/* ---- Gaps ---- */

static int by_pc(const void *a, const void *b)
{
    const struct fde *x = a, *y = b;

    return x->pc != y->pc ? (x->pc < y->pc ? -1 : 1) : (x->size > y->size) - (x->size < y->size);
}

static int by_pc_empty_last(const void *a, const void *b)
{
    const struct fde *x = a, *y = b;

    return x->pc != y->pc ? by_pc(a, b) : (x->size == 0) - (y->size == 0);
}

/* A copy of the table's functions, to be ordered. */
static struct fde *functions(const struct table *table)
{
    struct fde *fdes = malloc(table->num_fdes * sizeof *fdes);

    if (fdes == NULL)
        err(1, "functions");
    memcpy(fdes, table->fdes, table->num_fdes * sizeof *fdes);
    return fdes;
}

static void compare_gap(const char *how, const struct sfu_section *s, uint64_t from, uint64_t to)
{
    struct sfu_row row;

    for (uint64_t pc = from; pc < to; pc++) {
        if (pc == from + 32 && to - pc > 32)
            pc = to - 32;
        if (sfu_find(s, pc, &row) != SFU_E_NO_FDE)
            differ("%s, PC 0x%" PRIx64 " lies in no function", how, pc);
    }
}

/* FDES in the order of their PCs: nothing is found between them, before the first or after the
 * last. */
static void compare_gaps(const char *how, const struct sfu_section *s, const struct fde *fdes, uint32_t num)
{
    uint64_t end = fdes[0].pc > 64 ? fdes[0].pc - 64 : 0;

    for (uint32_t i = 0; i < num; i++) {
        compare_gap(how, s, end, fdes[i].pc);
        if (fdes[i].pc + fdes[i].size > end)
            end = fdes[i].pc + fdes[i].size;
    }
    compare_gap(how, s, end, end + 64);
}

/* ---- Sections ---- */

static int read_image(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    const struct loaded *image = ctx;

    if (addr < image->addr || addr - image->addr > image->size || len > image->size - (addr - image->addr)) {
        differ("read of %zu bytes at 0x%" PRIx64, len, addr);
        return -1;
    }
    memcpy(buffer, image->sframe + (addr - image->addr), len);
    return 0;
}

static void expect_ok(const char *what, int code)
{
    if (code != SFU_OK)
        differ("%s: %s", what, sfu_string(code));
}

static void check_section(const char *how, const struct sfu_section *s, const struct table *table)
{
    struct sfu_place place;
    int code = sfu_check(s, &place);

    if (code != SFU_OK)
        differ("%s: sfu_check: %s, function %" PRIu32 ", row %" PRIu32, how, sfu_string(code), place.fde,
               place.row);
    if (s->version != table->version || s->num_fdes != table->num_fdes || s->num_rows != table->num_rows)
        differ("%s: header", how);
}

static void compare_all(const char *how, const struct sfu_section *s, const struct table *table, bool all,
                        struct counts *counts)
{
    memset(counts, 0, sizeof *counts);
    check_section(how, s, table);
    for (uint32_t i = 0; i < table->num_fdes; i++)
        compare_fde(how, s, &table->fdes[i], all, counts);
}

enum { SORTED = 1, FIELD_RELATIVE = 4 };

/* Opens a copy of IMAGE whose FDEs are in ORDER, with these FLAGS. The caller frees the bytes. */
static uint8_t *copy(const struct loaded *image, const struct table *table, const struct fde *order, uint8_t flags,
                     struct sfu_section *s)
{
    static const uint8_t sizes[] = {17, 20, 16};
    unsigned size = sizes[table->version - 1];
    uint8_t *bytes = malloc(image->size);
    size_t fdes = s->fdes;

    if (bytes == NULL)
        err(1, "copy");
    memcpy(bytes, image->sframe, image->size);
    for (uint32_t i = 0; i < table->num_fdes; i++) {
        size_t to = fdes + i * (size_t)size;

        memcpy(bytes + to, image->sframe + fdes + order[i].index * (size_t)size, size);
        store_number(bytes + to, table->version == 3 ? 8 : 4, s->big,
                     order[i].pc - image->addr - (flags & FIELD_RELATIVE ? to : 0));
    }
    bytes[3] = flags;
    expect_ok("copy", sfu_open(s, bytes, image->size, image->addr));
    return bytes;
}

/* In a shuffled copy before and after it is sorted. An object, which is not sorted to begin with, has all its PCs
 * compared here. FDE i goes to i * 7919, a prime, modulo their number. */
static void compare_shuffled(const struct loaded *image, const struct table *table, const struct fde *ordered,
                             const struct sfu_section *original, uint8_t flags, struct counts *counts)
{
    struct sfu_section s = *original;
    struct fde *order = functions(table);
    uint64_t step = table->num_fdes % 7919 != 0 ? 7919 : 1;
    uint8_t *bytes;

    for (uint32_t i = 0; i < table->num_fdes; i++)
        order[i * step % table->num_fdes] = table->fdes[i];
    bytes = copy(image, table, order, flags, &s);
    compare_all(flags & FIELD_RELATIVE ? "shuffled, field-relative" : "shuffled", &s, table, false, counts);
    expect_ok("sfu_sort", sfu_sort(&s, bytes));
    if (s.flags != SORTED || bytes[3] != SORTED)
        differ("sfu_sort: flags");
    compare_all(flags & FIELD_RELATIVE ? "sorted, was field-relative" : "sorted", &s, table, image->object, counts);
    compare_gaps("sorted", &s, ordered, table->num_fdes);
    free(bytes);
    free(order);
}

/* A sorted table may have an empty function behind one that starts at the same address, as well as before it. */
static void compare_empty_last(const struct loaded *image, const struct table *table, const struct fde *ordered,
                               const struct sfu_section *original, uint8_t flags)
{
    struct sfu_section s = *original;
    struct fde *order = functions(table);
    struct counts ignored;
    uint8_t *bytes;

    qsort(order, table->num_fdes, sizeof *order, by_pc_empty_last);
    bytes = copy(image, table, order, flags, &s);
    compare_all("empty functions last", &s, table, false, &ignored);
    compare_gaps("empty functions last", &s, ordered, table->num_fdes);
    free(bytes);
    free(order);
}

/* Compares everything; COUNTS: in the pass that looked at every PC. */
static void run(const struct loaded *image, const struct table *table, struct counts *counts)
{
    struct sfu_section mapped, remote;
    struct counts ignored;
    struct fde *ordered = functions(table);
    uint8_t relative = table->version > 1 ? FIELD_RELATIVE : 0;

    qsort(ordered, table->num_fdes, sizeof *ordered, by_pc);
    expect_ok("sfu_open", sfu_open(&mapped, image->sframe, image->size, image->addr));
    expect_ok("sfu_open_remote", sfu_open_remote(&remote, read_image, (void *)image, image->size, image->addr));
    if (differences > 0)
        return;
    if (mapped.flags != (table->sorted ? SORTED : 0) + (table->field_relative ? FIELD_RELATIVE : 0))
        differ("flags");
    compare_all("remote", &remote, table, false, &ignored);
    compare_all("mapped", &mapped, table, table->sorted, counts);
    compare_gaps("mapped", &mapped, ordered, table->num_fdes);
    compare_empty_last(image, table, ordered, &mapped, SORTED | relative);
    compare_shuffled(image, table, ordered, &mapped, relative, &ignored);
    compare_shuffled(image, table, ordered, &mapped, 0, image->object ? counts : &ignored);
    free(ordered);
}

/* ARGUMENT: the names of the image and of the table. */
static void compare_image(void *argument)
{
    char **files = argument;
    struct loaded image;
    struct table table;
    struct counts counts;

    load_file(&image, files[0]);
    read_table(&table, files[1], &image);
    assert_true(table.num_fdes > 0);
    run(&image, &table, &counts);
    if (differences > 0)
        check_fail(__FILE__, __LINE__, "%s (%lu differences)", first_difference, differences);
    check_say("%lu functions, %lu rows and %lu that no PC has, %lu PCs", counts.functions, counts.rows,
              counts.beyond, counts.pcs);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        errx(2, "usage: compare NAME IMAGE TABLE");
    return check_case(argv[1], compare_image, argv + 2);
}

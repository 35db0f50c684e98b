/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "lint.h"
#include "code/code.h"

#include <stdlib.h>
#include <string.h>

/* Whether the tables say of all code of SPAN, a function, that nobody has called it. */
static bool is_outermost(const struct lint *lint, const struct cfi_span *span)
{
    uint64_t pc = span->start;
    struct sfu_row row;

    if (span->fde == NULL || span->start != span->fde->start || span->end - span->start != span->fde->size ||
        cfi_is_signal(span->fde))
        return false;
    while (pc < span->end && joined_find(&lint->tables, pc, &row) == SFU_OK && row.kind == SFU_ROW_OUTERMOST)
        pc = row.start + row.length;
    return pc >= span->end;
}

/* Functions that begin threads or CPUs by the tables, as sfu-gen --entry=F:start makes them. To be freed. */
static struct code_entry_point *find_starts(const struct lint *lint, const struct cfi_spans *spans, size_t *num)
{
    struct code_entry_point *list = NULL;
    size_t i;

    *num = 0;
    for (i = 0; i < spans->num; i++) {
        if (!is_outermost(lint, &spans->list[i]))
            continue;
        list = grow(list, *num, sizeof *list);
        list[(*num)++] =
            (struct code_entry_point){.addr = spans->list[i].start, .kind = CODE_START, .overrules = true};
    }
    return list;
}

/* Who reads code, and what it reads. */
struct reading {
    struct lint *lint;
    struct cfi *cfi;
};

/* A function of struct code_how: what is called is no start. */
static void refute_start(void *ctx, uint64_t addr, enum code_kind kind, const struct code_entry_point *named,
                         const char *why)
{
    struct cfi *cfi = ((struct reading *)ctx)->cfi;
    size_t i;

    (void)kind;
    (void)why;
    for (i = 0; i < cfi->num_fdes && named != NULL; i++)
        cfi->fdes[i].outermost = cfi->fdes[i].outermost && cfi->fdes[i].start != addr;
}

/* A function of struct code_how. */
static void keep_region(void *ctx, const struct code_region *region)
{
    struct lint *lint = ((struct reading *)ctx)->lint;

    lint->regions = grow(lint->regions, lint->num_regions, sizeof *lint->regions);
    lint->regions[lint->num_regions++] = *region;
}

/* What the code says of CFI at SPANS; if FIND, as sfu-gen --find does. */
static bool trust_code(struct lint *lint, struct cfi *cfi, const struct cfi_spans *spans, bool find,
                       struct code_report *report)
{
    struct reading reading = {lint, cfi};
    struct code_how how = {.derive = find,
                           .find = find,
                           .entered = refute_start,
                           .foreign = find ? NULL : keep_region,
                           .ctx = &reading};
    struct code_entry_point *starts = NULL;
    bool good;

    if (find)
        how.entries = starts = find_starts(lint, spans, &how.num_entries);
    good = code_trust(cfi, spans, &how, report);
    free(starts);
    return good;
}

bool lint_read_code(struct lint *lint, struct cfi *cfi, struct cfi_spans *spans, bool find)
{
    struct code_report report;

    if (cfi->image != NULL)
        return true;
    if (lint->image.object || code_cpu(&lint->image) == NULL)
        return true;
    if (!cfi_read(cfi, &lint->image, CFI_EH | CFI_DEBUG) || !cfi_find_spans(cfi, spans) ||
        !trust_code(lint, cfi, spans, find, &report))
        return false;
    if (!report.other_spans)
        return true;
    free(spans->list);
    return cfi_find_spans(cfi, spans);
}

bool lint_read(struct lint *lint, const char *file, const char *map, unsigned oldest)
{
    struct image *image = &lint->image;

    memset(lint, 0, sizeof *lint);
    if (!image_open_any(image, file))
        return false;
    if (!image_symbols(image) || (map != NULL && !map_name_by_file(&lint->map, map, image)))
        return false;
    if (!cfi_read(&lint->cfi, image, CFI_EH | CFI_DEBUG) || !cfi_find_spans(&lint->cfi, &lint->spans))
        return false;
    if (!lint_read_code(lint, &lint->mended, &lint->mended_spans, false))
        return false;
    lint_place(lint, oldest);
    lint_rows(lint);
    return lint_worth(lint);
}

void lint_free(struct lint *lint)
{
    joined_close(&lint->tables);
    free(lint->entries);
    free(lint->covered);
    free(lint->functions);
    free(lint->frames);
    free(lint->cycles);
    filled_free(&lint->filled);
    free(lint->regions);
    free(lint->objects);
    free(lint->findings);
    free(lint->spans.list);
    free(lint->mended_spans.list);
    cfi_free(&lint->mended);
    free(lint->found_spans.list);
    cfi_free(&lint->found);
    epilogues_free(&lint->epilogues);
    lint_objects_free(lint);
    lint_close_code(lint);
    cfi_free(&lint->cfi);
    image_close(&lint->image);
    map_free(&lint->map);
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Code that begins by calling sigreturn has not been called: the kernel takes its frame from where SP is, in which a
 * caller's return address would be. CFI that says that it was called is wrong. CFI that says where the kernel has put
 * the registers stays, with its mark of a signal frame or without. The address that a handler returns to is looked up
 * one byte lower, where another function may end.
 */
#include "signal_code.h"
#include "row_list.h"
#include "units.h"

#include "common/sigreturn.h"

#include <stdlib.h>
#include <string.h>

/* Whether the code from START up to END begins by calling sigreturn. */
static bool calls_sigreturn(const struct code *code, uint64_t start, uint64_t end)
{
    static const uint8_t marks[][4] = {
        {0xf3, 0x0f, 0x1e, 0xfa}, {0xf3, 0x0f, 0x1e, 0xfb}, {0x5f, 0x24, 0x03, 0xd5}};
    const uint8_t *bytes = image_instructions(code->image, start, end - start);
    size_t size = (size_t)(end - start), i;

    for (i = 0; i < sizeof marks / sizeof *marks && bytes != NULL; i++) /* endbr64, endbr32, bti c */
        if (size > sizeof *marks && memcmp(bytes, marks[i], sizeof *marks) == 0) {
            bytes += sizeof *marks;
            size -= sizeof *marks;
        }
    return bytes != NULL && sigreturn_find(code->image->abi, bytes, size) != NULL;
}

/* Whether signal handlers return to UNIT. What is called by code may be a function of another system, whose calls have
 * other numbers; and so may what is named as a function. */
static bool is_returned_to(const struct code *code, const struct code_how *how, const struct code_unit *unit)
{
    size_t i;

    for (i = 0; i < how->num_entries; i++)
        if (how->entries[i].addr == unit->start && how->entries[i].exact && how->entries[i].kind == CODE_CALLED)
            return false;
    return !unit->is_called && (unit->fde == NULL || unit->function) &&
           calls_sigreturn(code, unit->start, unit->end);
}

/* Code without CFI of UNIT has no rows from START on. */
static void lose_derived(struct code_unit *unit, uint64_t start, const char *why)
{
    struct cfi_row *last = unit->rows + unit->num_rows;

    if (unit->num_rows == 0 || last[-1].end <= start)
        return;
    unit->lost = grow(unit->lost, unit->num_lost, sizeof *unit->lost);
    unit->lost[unit->num_lost++] = (struct code_lost){start, unit->end, why};
    while (unit->num_rows > 0 && unit->rows[unit->num_rows - 1].start >= start)
        unit->num_rows--;
    if (unit->num_rows > 0 && unit->rows[unit->num_rows - 1].end > start)
        unit->rows[unit->num_rows - 1].end = start;
}

/* The unit at START has no rows from there on, because of WHY. */
static void lose_from(struct code *code, uint64_t start, const char *why)
{
    struct code_unit *unit = code_unit_at(code, start);
    struct cfi_fde *fde = unit != NULL && unit->fde != NULL ? &code->cfi->fdes[unit->fde - code->cfi->fdes] : NULL;
    struct cfi_row lost = {.start = start, .kind = CFI_LOST, .by_code = true, .why = why};
    struct rows rows = {NULL, 0}, left = {NULL, 0};
    size_t i;

    if (unit == NULL)
        return;
    if (fde == NULL) {
        lose_derived(unit, start, why);
        return;
    }
    cfi_rows(code->cfi, fde, rows_collect, &rows);
    unit_drop_rows(fde);
    for (i = 0; i < rows.num; i++)
        rows_put(&left, &rows.list[i], rows.list[i].start, rows.list[i].end < start ? rows.list[i].end : start);
    lost.end = unit->end;
    rows_collect(&left, &lost);
    fde->rows = left.list;
    fde->num_rows = left.num;
    code->reports[unit - code->units].lost += unit->end - start;
    free(rows.list);
}

void code_leave_to_signals(struct code *code, const struct cfi_spans *spans, const struct code_how *how)
{
    static const char looked_up[] = "the address to which signal handlers return is looked up there";
    size_t i;

    for (i = 0; i < code->num_units; i++) {
        const uint64_t start = code->units[i].start;

        if (!is_returned_to(code, how, &code->units[i]))
            continue;
        lose_from(code, start, "signal handlers return there: it calls sigreturn, and nothing calls it");
        lose_from(code, start - 1, looked_up);
    }
    for (i = 0; i < spans->num; i++)
        if (spans->list[i].fde != NULL && cfi_is_signal(spans->list[i].fde) &&
            calls_sigreturn(code, spans->list[i].start, spans->list[i].end))
            lose_from(code, spans->list[i].start - 1, looked_up);
}

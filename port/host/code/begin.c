/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "begin.h"
#include "trial.h"

/* Whether the code at ADDR is another thing than a function, too, as the image says or HOW: it is named for that. */
static bool is_named(const struct code *code, const struct code_how *how, uint64_t addr)
{
    size_t i;

    if (addr == code->image->header.e_entry)
        return true;
    for (i = 0; i < how->num_entries; i++)
        if (how->entries[i].addr == addr && how->entries[i].kind != CODE_CALLED)
            return true;
    return false;
}

/* Whether ENTRY is a function with CFI that the CPU enters: a compiler's interrupt function. */
static bool name_function(struct code *code, const struct code_entry_point *entry)
{
    struct code_unit *unit = code_unit_at(code, entry->addr);

    if (unit == NULL || unit->fde == NULL || unit->start != entry->addr ||
        (entry->kind != CODE_TRAP && entry->kind != CODE_ERROR))
        return false;
    unit->function = unit->trap = unit->named = unit->dirty = true;
    unit->error = entry->kind == CODE_ERROR;
    return true;
}

/* What ENTRY names beats CFI that says nothing more than that the code is called. */
static void overrule_cfi(struct code *code, const struct code_entry_point *entry)
{
    struct code_unit *unit = code_unit_at(code, entry->addr);

    if (unit != NULL && unit->fde != NULL && unit->says_nothing && entry->kind != CODE_CALLED)
        code_drop_cfi(code, unit);
}

/* Who enters the image's own entry: nobody, unless it returns, as an application of UEFI does, also from a stack of its
 * own. That of a PE file is called by the firmware or by a loader, unless it leaves their stack for good. */
static enum code_kind kind_of_first(struct code *code)
{
    struct code_ends ends;

    code_try(code, code->image->header.e_entry, CODE_CALLED, &ends);
    if (ends.returns && !ends.returns_ill && !ends.takes)
        return CODE_CALLED;
    return code->image->pe != NULL && (!ends.loses || ends.returns || ends.returns_ill || ends.unknown)
               ? CODE_CALLED
               : CODE_START;
}

void code_begin_entries(struct code *code, const struct code_how *how)
{
    const uint64_t first = code->image->header.e_entry;
    const struct code_unit *unit = code_unit_at(code, first);
    bool named = false;
    size_t i;

    for (i = 0; i < how->num_entries; i++) {
        const struct code_entry_point *entry = &how->entries[i];

        if (entry->described)
            continue;
        overrule_cfi(code, entry);
        if ((entry->kind == CODE_CALLED && !entry->exact && is_named(code, how, entry->addr)) ||
            name_function(code, entry))
            continue;
        named |= entry->addr == first;
        code_begin_at(code, entry->addr, entry->kind);
    }
    for (i = 0; i < code->num_units && how->derive; i++)
        if (code->units[i].outermost) /* the code that it calls is called */
            code_begin_at(code, code->units[i].start, CODE_START);
    if (!how->derive || named || unit == NULL || unit->fde != NULL || image_is_library(code->image))
        return;
    code_begin_at(code, first, kind_of_first(code));
}

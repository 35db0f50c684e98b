/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "find_units.h"
#include "row_list.h"
#include "verdict.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Code with CFI --------------------------------------------------------------------------------------------- */

/* Whether FDE begins as a function does that is called. */
static bool begins_as_function(const struct code *code, const struct cfi_fde *fde, const struct rows *rows)
{
    struct code_state entry;
    struct judgement j;
    struct cfi_row row;

    if (rows->num == 0 || rows->list[0].kind != CFI_RULES || rows->list[0].start != fde->start)
        return false;
    code_entry(code->cpu, &entry);
    row = rows->list[0];
    judge_row(code->cpu, &(struct view){&entry, &entry, NULL, false}, &row, &j);
    return j.cfa == CONFIRMED && j.ra == CONFIRMED && j.fp == CONFIRMED;
}

/* Whether ROWS begin, at UNIT, like those of an interrupt with an error code, by gcc: it lies below the PC. */
static bool begins_below(const struct code *code, const struct code_unit *unit, const struct rows *rows)
{
    const struct cfi_row *row = rows->num > 0 ? &rows->list[0] : NULL;
    const struct code_cpu *cpu = code->cpu;

    return !cpu->link && row != NULL && row->start == unit->start && row->kind == CFI_RULES &&
           row->cfa.control == rule_of_register(cpu->sp, 0, false).control && row->cfa.offset == 2 * cpu->word &&
           row->ra.control == RULE_DEREFERENCE && row->ra.offset == -cpu->word;
}

/* Whether an instruction of UNIT returns from an interrupt. */
static bool has_iret(const struct code *code, const struct code_unit *unit)
{
    const uint64_t size = unit->end - unit->start;
    const struct code_text text = {image_instructions(code->image, unit->start, size), unit->start, unit->end};
    uint64_t pc = unit->start;

    while (text.bytes != NULL && pc < unit->end) {
        struct code_fact fact;

        memset(&fact, 0, sizeof fact);
        code->cpu->decode(code->decoder, &text, pc, &fact);
        if (fact.flow == CODE_RESUME)
            return true;
        pc += fact.size != 0 ? fact.size : 1;
    }
    return false;
}

/* Whether ROWS say somewhere that nobody has called their function. */
static bool says_end(const struct rows *rows)
{
    size_t i;

    for (i = 0; i < rows->num && rows->list[i].kind != CFI_OUTERMOST; i++)
        continue;
    return i < rows->num;
}

void code_find_units(struct code *code, const struct cfi_spans *spans, struct code_report *report)
{
    size_t i;

    for (i = 0; i < spans->num; i++) {
        const struct cfi_span *span = &spans->list[i];
        const struct section *section = image_code(code->image, span->start);
        struct code_unit unit = {0};
        struct rows rows = {NULL, 0};

        report->bytes += span->end - span->start;
        if (span->fde == NULL || span->start != span->fde->start || span->end - span->start != span->fde->size ||
            cfi_is_signal(span->fde) || section == NULL || plt_is(section))
            continue;
        cfi_rows(code->cfi, span->fde, rows_collect, &rows);
        unit.start = span->start;
        unit.end = span->end;
        unit.fde = span->fde;
        unit.function = begins_as_function(code, span->fde, &rows);
        unit.says_nothing = unit.function && rows.num == 1;
        unit.outermost = rows.num > 0 && rows.list[0].kind == CFI_OUTERMOST;
        unit.says_end = says_end(&rows);
        unit.begins_below = begins_below(code, &unit, &rows);
        unit.trap = unit.error = unit.begins_below && has_iret(code, &unit);
        unit.function |= unit.trap;
        unit.dirty = true;
        free(rows.list);
        code->units = grow(code->units, code->num_units, sizeof *code->units);
        code->units[code->num_units++] = unit;
    }
}

/* ---- Code without CFI ------------------------------------------------------------------------------------------ */

static int by_unit(const void *a, const void *b)
{
    const struct code_unit *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static void add_unit(struct code *code, uint64_t start, uint64_t end)
{
    struct code_unit unit = {0};

    unit.start = start;
    unit.end = end;
    unit.dirty = true;
    code->units = grow(code->units, code->num_units, sizeof *code->units);
    code->units[code->num_units++] = unit;
}

/* Units of the code from START up to END, of which nothing is known: one for each symbol. */
static void add_gap(struct code *code, uint64_t start, uint64_t end)
{
    const struct image *image = code->image;
    size_t i = count_up_to(image->symbols, image->num_symbols, sizeof *image->symbols,
                           offsetof(struct symbol, addr), start);

    for (; i < image->num_symbols && image->symbols[i].addr < end; i++)
        if (image->symbols[i].addr > start) {
            add_unit(code, start, image->symbols[i].addr);
            start = image->symbols[i].addr;
        }
    if (start < end)
        add_unit(code, start, end);
}

struct piece {
    uint64_t start, end;
};

static int by_piece(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

void code_find_gaps(struct code *code, const struct cfi_spans *spans, const struct kept *kept)
{
    size_t num = spans->num + (kept != NULL ? kept->num : 0), i, k = 0;
    struct piece *taken = zeroed(num, sizeof *taken);

    for (i = 0; i < spans->num; i++)
        taken[i] = (struct piece){spans->list[i].start, spans->list[i].end};
    for (; i < num; i++)
        taken[i] = (struct piece){kept->list[i - spans->num].start, kept->list[i - spans->num].end};
    put_in_order(taken, num, sizeof *taken, by_piece);
    for (i = 0; i < code->image->num_code; i++) {
        const struct section *section = code->image->code[i];
        uint64_t pc = section->addr, end = pc + section->size;

        if (plt_is(section) || section->type == SHT_NOBITS)
            continue;
        while (k < num && taken[k].end <= pc)
            k++;
        for (; k < num && taken[k].start < end; k++) {
            if (pc < taken[k].start)
                add_gap(code, pc, taken[k].start);
            pc = taken[k].end > pc ? taken[k].end : pc;
        }
        if (pc < end)
            add_gap(code, pc, end);
    }
    free(taken);
    put_in_order(code->units, code->num_units, sizeof *code->units, by_unit);
}

/* Blocks are as large as makes of them a few for each unit. */
static void index_blocks(struct code *code)
{
    const uint64_t first = code->num_units > 0 ? code->starts[0] : 0;
    const uint64_t last = code->num_units > 0 ? code->starts[code->num_units - 1] - first : 0;
    uint32_t unit = 0;
    size_t i;

    while (last >> code->block_shift > 4 * code->num_units)
        code->block_shift++;
    code->num_blocks = (size_t)(last >> code->block_shift) + 1;
    code->blocks = zeroed(code->num_blocks + 1, sizeof *code->blocks);
    for (i = 0; i <= code->num_blocks; i++) {
        while (unit + 1 < code->num_units && (code->starts[unit + 1] - first) >> code->block_shift < i)
            unit++;
        code->blocks[i] = unit;
    }
}

void code_index_units(struct code *code)
{
    size_t i;

    code->starts = zeroed(code->num_units, sizeof *code->starts);
    for (i = 0; i < code->num_units; i++)
        code->starts[i] = code->units[i].start;
    index_blocks(code);
}

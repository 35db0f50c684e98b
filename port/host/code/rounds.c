/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "rounds.h"
#include "stacks.h"
#include "trial.h"
#include "trust_rows.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

/* ---- Rows of one unit ------------------------------------------------------------------------------------------ */

/* Where the code does not know, nobody does. That is no fault if it does elsewhere: on RISC-V the PC is nowhere but in
 * sepc or mepc until the function stores it. */
static void forget_cfi(struct trust *t, const struct code_unit *unit)
{
    struct cfi_row lost = {0};

    lost.start = unit->start;
    lost.end = unit->end;
    lost.kind = CFI_LOST;
    lost.by_code = true;
    lost.why = t->code->pushed != NULL ? t->code->pushed
               : t->fixed.num == 0     ? "an interrupt function that does not store where it came from"
                                       : NULL;
    t->cfi.num = 0;
    rows_collect(&t->cfi, &lost);
}

static int by_lost(const void *a, const void *b)
{
    const struct code_lost *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

/* What follows on the same for the same reason is one. */
static void keep_lost(struct code_unit *unit, struct trust *t)
{
    size_t i, num = 0;

    put_in_order(t->lost, t->num_lost, sizeof *t->lost, by_lost);
    for (i = 0; i < t->num_lost; i++)
        if (num > 0 && t->lost[num - 1].end == t->lost[i].start && t->lost[num - 1].why == t->lost[i].why)
            t->lost[num - 1].end = t->lost[i].end;
        else
            t->lost[num++] = t->lost[i];
    free(unit->lost);
    unit->lost = t->lost;
    unit->num_lost = num;
    t->lost = NULL;
}

/* Keeps what code says of UNIT, which has no CFI. Of instructions that overlap nobody knows which ones are meant. */
static void keep_rows(struct code_unit *unit, struct trust *t)
{
    struct rows rows = {NULL, 0};
    uint64_t end = 0;
    size_t i;

    put_in_order(t->fixed.list, t->fixed.num, sizeof *t->fixed.list, rows_by_start);
    for (i = 0; i < t->fixed.num; i++) {
        const struct cfi_row *row = &t->fixed.list[i];
        bool overlaps = row->start < end || (i + 1 < t->fixed.num && row[1].start < row->end);

        if (!overlaps)
            rows_put(&rows, row, row->start, row->end);
        end = row->end > end ? row->end : end;
    }
    free(unit->rows);
    unit->rows = rows.list;
    unit->num_rows = rows.num;
    keep_lost(unit, t);
}

/* Whether nothing but one instruction behind the other leads from the start of UNIT to PC. */
static bool leads_to(const struct code *code, const struct code_unit *unit, uint64_t pc)
{
    const struct code_text text = {image_instructions(code->image, unit->start, unit->end - unit->start),
                                   unit->start, unit->end};
    uint64_t at = unit->start;

    while (text.bytes != NULL && at < pc) {
        struct code_fact fact;

        code->cpu->decode(code->decoder, &text, at, &fact);
        if (fact.size == 0 || fact.flow != CODE_NEXT)
            return false;
        at += fact.size;
    }
    return at == pc;
}

/* A function in C says by its first statement that nobody has called it, which is behind its prologue: it holds from
 * its first instruction on. Returns whether that changes a row. */
bool rounds_extend_outermost(struct trust *t)
{
    size_t first = 0, i;

    while (first < t->cfi.num && t->cfi.list[first].kind == CFI_RULES)
        first++;
    if (first == 0 || first == t->cfi.num || t->cfi.list[first].kind != CFI_OUTERMOST ||
        t->cfi.list[0].start != t->unit->start || !leads_to(t->code, t->unit, t->cfi.list[first].start))
        return false;
    for (i = 0; i < first; i++) {
        struct cfi_row row = t->cfi.list[first];

        row.start = t->cfi.list[i].start;
        row.end = t->cfi.list[i].end;
        row.by_code = true;
        t->cfi.list[i] = row;
    }
    return true;
}

static void replace_rows(struct trust *t, struct cfi_fde *fde)
{
    const struct rows rows = trust_unite(t);

    fde->rows = rows.list;
    fde->num_rows = rows.num;
}

/* Rows that are wrong in code to which no way leads are lost, too. */
static void take_refuted(struct trust *t)
{
    size_t i;

    for (i = 0; i < t->refuted.num; i++) {
        t->own.lost += t->refuted.list[i].end - t->refuted.list[i].start;
        rows_collect(&t->fixed, &t->refuted.list[i]);
    }
}

/* Begins to judge UNIT, whose CFI is FDE. Returns whether rows of a program's outermost function were extended. */
static bool begin_trust(struct trust *t, struct code *code, struct code_unit *unit, struct cfi_fde *fde)
{
    const struct code_edge *edge = code_edge_to_start(unit);
    bool extended = false;

    memset(t, 0, sizeof *t);
    t->code = t->all = code;
    t->unit = unit;
    t->cpu = code->cpu;
    t->alone = fde == NULL || unit->trap;
    t->called_by_jumps = code->cpu->link && edge != NULL && !edge->bare;
    if (fde != NULL) {
        unit_drop_rows(fde);
        fde->trap = unit->trap;
        cfi_rows(code->cfi, fde, rows_collect, &t->cfi);
        extended = rounds_extend_outermost(t);
    }
    if (!t->alone && (!code->cpu->link || unit->says_nothing))
        t->read = zeroed((size_t)(unit->end - unit->start), sizeof *t->read);
    return extended;
}

static void free_trust(struct trust *t)
{
    free(t->cfi.list);
    free(t->fixed.list);
    free(t->followed.list);
    free(t->unsaid.list);
    free(t->refuted.list);
    free(t->lost);
    free(t->read);
    epilogues_free(&t->epilogues);
}

/* Follows the ways through the unit, and collects in T what its rows are found to be. */
static void follow_unit(struct trust *t)
{
    struct code_unit *unit = t->unit;
    const struct code_watch watch = {
        trust_compare, trust_is_boundary, trust_admit,       trust_agrees,      trust_restores,
        trust_pops,    trust_believe,     trust_comes_apart, trust_close_apart, t};

    code_run(t->all, unit, &watch);
    if (!unit->unsettled) {
        trust_lose_counted(t);
        trust_lose_unsaid(t);
    } else if (unit->fde == NULL) {
        trust_lose(t, unit->start, (unsigned)(unit->end - unit->start),
                   "its tables of jumps are too many to be followed");
    }
}

/* Replaces what CFI says of UNIT by what is right. The rows are freed with the CFI. */
static void compare_unit(struct code *code, struct code_unit *unit, struct trust *t)
{
    struct cfi_fde *fde = unit->fde != NULL ? &code->cfi->fdes[unit->fde - code->cfi->fdes] : NULL;
    const bool extended = begin_trust(t, code, unit, fde);

    follow_unit(t);
    if (t->doubtful || (fde != NULL && unit->overlaps)) {
        const uint64_t doubted = fde != NULL ? t->own.corrected + t->own.lost : 0;

        memset(&t->own, 0, sizeof t->own);
        t->own.doubted = doubted;
        t->fixed.num = 0;
        take_refuted(t);
        if (extended || t->fixed.num > 0)
            replace_rows(t, fde);
    } else if (fde == NULL) {
        keep_rows(unit, t);
    } else if (t->fixed.num + t->refuted.num > 0 || t->alone || extended) {
        take_refuted(t);
        if (t->alone)
            forget_cfi(t, unit);
        replace_rows(t, fde);
        unit->num_lost = 0;
        if (t->alone && t->fixed.num > 0)
            keep_lost(unit, t);
    }
    free_trust(t);
}

/* ---- Units that are another thing than their CFI says ---------------------------------------------------------- */

/* Pieces of several functions that a compiler has made a function of (clang's outliner, -Oz) are jumped to, in the
 * middle of a frame. Their CFI is that of a function. One without a symbol, which nobody calls, may be such a piece. */
static bool is_outlined(const struct code *code, const struct code_unit *unit)
{
    const struct symbol *symbol = image_symbol(code->image, unit->start);

    return unit->function && !unit->called && code_edge_to_start(unit) != NULL &&
           (symbol == NULL || symbol->addr != unit->start || code_is_outlined(code, unit));
}

/* UNIT is such a piece. CFI that says nothing more than that it is called goes, if the code ends what jumps to it. It
 * stays if the code comes back by a register that the jump has set (RISC-V: jal t0), because that is a call. */
static void enter_in_frame(struct code *code, struct code_unit *unit)
{
    if (unit->fde != NULL && unit->says_nothing &&
        code_is_piece(code, unit->start, &code_edge_to_start(unit)->state)) {
        code_drop_cfi(code, unit);
        unit->lost_to = LOST_BY_FRAME;
    }
    unit->function = false;
    unit->dirty = true;
}

/* A compiler's interrupt function (x86_64: __attribute__((interrupt))) ends with iretq. By its CFI it is an ordinary
 * one, whose return address is where the CPU has pushed the PC or, by clang, the error code; gcc's begins behind an
 * error code. So SP counts where it ends. That is looked at again with the true entry: it must be the CPU's frame. */
static void find_interrupt(const struct code_cpu *cpu, struct code_unit *unit)
{
    bool begins = unit->function && unit->resumes && !unit->resumes_otherwise;

    if (cpu->banked) /* what was interrupted has an SP of its own */
        return;
    if (!unit->trap && begins && (unit->resumed == cpu->sp_at_entry || unit->resumed == 0)) {
        unit->trap = unit->dirty = true;
        unit->error = unit->resumed == 0;
        unit->resumes = false;
    } else if (unit->trap && !unit->named && !begins) {
        unit->function = unit->trap = false;
        unit->dirty = true;
    }
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

void rounds_call_changed(struct code *code)
{
    size_t i;

    for (i = 0; i < code->num_calls; i++)
        code->units[code->calls[i].caller].dirty |= code->units[code->calls[i].callee].changed;
    for (i = 0; i < code->num_jumps; i++)
        code->units[code->jumps[i].caller].dirty |= code->units[code->jumps[i].callee].opened;
    for (i = 0; i < code->num_units; i++)
        code->units[i].changed = code->units[i].opened = false;
    code->changed = false;
}

void rounds_run_all(struct code *code)
{
    bool again = true;
    size_t i;

    while (again) {
        again = false;
        for (i = 0; i < code->num_units; i++) {
            struct code_unit *unit = &code->units[i];
            struct trust t = {0};

            if (!unit->dirty || unit->runs == ROUNDS_MOST)
                continue;
            again = true;
            unit->dirty = false;
            unit->runs++;
            compare_unit(code, unit, &t);
            code->reports[i] = t.own;
            find_interrupt(code->cpu, unit);
            code_end_switches(code);
        }
        for (i = 0; i < code->num_units && !again; i++)
            if (is_outlined(code, &code->units[i])) {
                enter_in_frame(code, &code->units[i]);
                again = true;
            }
        if (code->changed)
            rounds_call_changed(code);
    }
}

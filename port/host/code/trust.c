/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Whom to believe where call frame information (CFI) and machine code speak of the same instruction. A rule of CFI
 * stays where code confirms it, and where code does not know. Where code knows another place, it is right: CFI is
 * written beside the code by somebody, who may have left it out, and the code is what runs.
 */
#include "begin.h"
#include "enter.h"
#include "find_units.h"
#include "rounds.h"
#include "saved.h"
#include "signal_code.h"
#include "trial.h"
#include "uncalled.h"
#include "units.h"
#include "vectors.h"
#include "common/calls.h"

#include <stdlib.h>
#include <string.h>

static void add_report(struct code_report *sum, const struct code_report *r)
{
    sum->reached += r->reached;
    sum->confirmed += r->confirmed;
    sum->silent += r->silent;
    sum->corrected += r->corrected;
    sum->cfa += r->cfa;
    sum->ra += r->ra;
    sum->fp += r->fp;
    sum->lost += r->lost;
    sum->doubted += r->doubted;
}

/* Entries for what was found out of code without CFI: one for each piece that is described without a gap. */
static void add_derived(struct code *code, const struct code_how *how, struct code_report *report)
{
    size_t i;

    for (i = 0; i < code->num_units; i++) {
        const struct code_unit *unit = &code->units[i];
        struct code_report own = {0};
        size_t k = 0;

        report->other_spans |= unit->bare;
        while (k < unit->num_rows && !unit->dirty) {
            const struct cfi_row *rows = &unit->rows[k];
            size_t num = 1;

            while (k + num < unit->num_rows && rows[num].start == rows[num - 1].end &&
                   rows[num].trap == rows[0].trap)
                num++;
            cfi_add_code(code->cfi, rows, num);
            report->other_spans = true;
            own.derived += rows[num - 1].end - rows[0].start;
            k += num;
        }
        report->derived += own.derived;
        if (unit->fde == NULL && unit->num_lost > 0 && how->found != NULL)
            how->found(how->ctx, unit, &own);
    }
}

/* Whether IMAGE may have an instruction `ltr` (0f 00 /3), without which no exception comes from a program: the CPU
 * finds the stack for that in the task-state segment. Data that looks like one counts, too. */
static bool loads_task(struct image *image)
{
    size_t i, k;

    for (i = 0; i < image->num_code; i++) {
        const struct section *section = image->code[i];
        const uint8_t *p = image_instructions(image, section->addr, section->size);

        for (k = 0; p != NULL && k + 2 < section->size; k++)
            if (p[k] == 0x0f && p[k + 1] == 0 && (p[k + 2] >> 3 & 7) == 3)
                return true;
    }
    return false;
}

/* Whether code calls a handler that never returns, and behind the call, with SP as it was there, would return from the
 * interrupt (`call handler; iret`). Nobody has seen that return, so that it does not show whether the CPU had pushed an
 * error code, which has to be taken off before. */
static bool returns_unseen(struct code *code)
{
    enum { CALL = 0xe8, CALL_SIZE = 5, IRET = 0xcf };
    struct image *image = code->image;
    size_t i, k;

    for (i = 0; i < image->num_code; i++) {
        const struct section *section = image->code[i];
        const uint8_t *p = image_instructions(image, section->addr, section->size);

        for (k = 0; p != NULL && k + CALL_SIZE < section->size; k++) {
            const uint64_t next = section->addr + k + CALL_SIZE;

            if (p[k] == CALL && p[k + CALL_SIZE] == IRET &&
                code_never_returns(code, (uint32_t)(next + load_number(p + k + 1, 4, false))))
                return true;
        }
    }
    return false;
}

/* i386: why no row tells what exceptions have pushed, or NULL. */
static const char *why_not_told(struct code *code)
{
    if (loads_task(code->image))
        return "where a program was interrupted, SP and SS lie behind what the CPU has pushed, and no row can tell";
    if (returns_unseen(code))
        return "in this image an entry calls a handler that never returns, in front of `iret`: whether the CPU has "
               "pushed an error code is not seen there, and no row can tell";
    return NULL;
}

/* Functions that HOW says begin threads or CPUs have CFI that says that nobody has called them. */
static void overrule_starts(struct cfi *cfi, const struct cfi_spans *spans, const struct code_how *how)
{
    size_t i;

    for (i = 0; i < how->num_entries; i++)
        if (how->entries[i].overrules)
            cfi->fdes[cfi_span_at(spans, how->entries[i].addr)->fde - cfi->fdes].outermost = true;
}

/* Code of other modes has no rows, whatever CFI says: that counts words of the image's size. But i386's 16-bit code may
 * push words of 32 bits, and then its CFI is right (gcc -m16). */
static void leave_out_foreign(struct code *code, const struct code_how *how)
{
    size_t num = 0, i, k;
    const struct code_region *list = code->cpu->regions != NULL ? code->cpu->regions(code->decoder, &num) : NULL;

    for (i = 0; i < num; i++) {
        bool kept = false;

        for (k = 0; k < code->num_units; k++) {
            struct code_unit *unit = &code->units[k];

            if (unit->fde == NULL || unit->start >= list[i].end || unit->end <= list[i].start)
                continue;
            if (list[i].bits == 16 && code->cpu->word == 4)
                kept = true;
            else
                code_drop_cfi(code, unit);
        }
        if (!kept && how->foreign != NULL)
            how->foreign(how->ctx, &list[i]);
    }
}

/* ---- Starts to which a thread may be told to return ------------------------------------------------------------ */

/* The start of the last row that begins in front of the end of a unit. */
struct last_row {
    uint64_t start, end;
};

/* A cfi_row_fn. */
static void note_row(void *ctx, const struct cfi_row *row)
{
    struct last_row *last = ctx;

    if (row->start < last->end)
        last->start = row->start;
}

/* Whether the last byte of UNIT is the first one of no instruction, and in no call. Rows begin with instructions. */
static bool ends_long(struct code *code, const struct code_unit *unit)
{
    const struct code_text text = {image_instructions(code->image, unit->start, unit->end - unit->start),
                                   unit->start, unit->end};
    struct last_row last = {unit->start, unit->end};
    struct code_fact fact = {0};
    uint64_t pc;
    size_t i;

    if (unit->fde != NULL)
        cfi_rows(code->cfi, unit->fde, note_row, &last);
    for (i = 0; i < unit->num_rows; i++)
        note_row(&last, &unit->rows[i]);
    for (pc = last.start; text.bytes != NULL && pc < unit->end; pc += fact.size) {
        memset(&fact, 0, sizeof fact);
        code->cpu->decode(code->decoder, &text, pc, &fact);
        if (fact.size == 0)
            return false;
    }
    return pc == unit->end && fact.size > 1 && fact.flow != CODE_CALL;
}

/* Whether a thread may be told to return to UNIT: it never returns, or nobody has called it. */
static bool may_come_last(struct code *code, const struct code_unit *unit)
{
    return unit->outermost || (unit->num_rows > 0 && unit->rows[0].kind == CFI_OUTERMOST) ||
           (unit->function && !unit->returns && !unit->passes_on && !unit->leaves && !unit->dirty &&
            code_never_returns(code, unit->start));
}

/* Whether the bytes in front of UNIT, behind those of BEFORE, say that nothing there has called UNIT's start, and that
 * no row is needed there. */
static bool is_free(struct code *code, const struct code_unit *before, const struct code_unit *unit)
{
    return may_come_last(code, unit) &&
           (before->end == unit->start ? ends_long(code, before)
                                       : image_is_padding(code->image, before->end, unit->start));
}

/* x86: notes the starts of such functions. What lies in front, a byte lower, is looked up for a return to them; the
 * frame of the code there would be invented. */
static void note_free_starts(struct code *code)
{
    struct cfi *cfi = code->cfi;
    size_t i;

    for (i = 1; i < code->num_units && !code->cpu->link; i++) {
        if (!is_free(code, &code->units[i - 1], &code->units[i]))
            continue;
        cfi->free_starts = grow(cfi->free_starts, cfi->num_free_starts, sizeof *cfi->free_starts);
        cfi->free_starts[cfi->num_free_starts++] = code->units[i].start;
    }
}

static void note_returns(const struct code *code)
{
    struct cfi *cfi = code->cfi;
    size_t i;

    for (i = 0; i < code->num_units; i++) {
        if (!code->units[i].is_returned_to)
            continue;
        cfi->returns = grow(cfi->returns, cfi->num_returns, sizeof *cfi->returns);
        cfi->returns[cfi->num_returns++] = code->units[i].start;
    }
}

/* ---- An image --------------------------------------------------------------------------------------------------- */

/* Adds to REPORT what was found of each unit that has CFI. */
static void report_units(struct code *code, const struct code_how *how, struct code_report *report)
{
    size_t i;

    for (i = 0; i < code->num_units; i++) {
        const struct code_unit *unit = &code->units[i];
        struct code_report *own = &code->reports[i];

        if (unit->fde == NULL)
            continue;
        if (unit->dirty) { /* it has been run too often: nothing that it says counts */
            const uint64_t doubted = own->corrected + own->lost + own->doubted;

            unit_drop_rows(&code->cfi->fdes[unit->fde - code->cfi->fdes]);
            *own = (struct code_report){0};
            own->doubted = doubted;
        }
        add_report(report, own);
        if (how->found != NULL && (own->corrected > 0 || own->doubted > 0 || unit->num_lost > 0))
            how->found(how->ctx, unit, own);
    }
}

bool code_trust(struct cfi *cfi, const struct cfi_spans *spans, const struct code_how *how,
                struct code_report *report)
{
    struct code code = {0};

    memset(report, 0, sizeof *report);
    code.image = cfi->image;
    code.cfi = cfi;
    code.cpu = code_cpu(cfi->image);
    if (code.cpu == NULL)
        return false;
    code.decoder = code.cpu->open != NULL ? code.cpu->open(cfi->image) : NULL;
    overrule_starts(cfi, spans, how);
    code_find_units(&code, spans, report);
    if (how->derive)
        code_find_gaps(&code, spans, how->kept);
    code_index_units(&code);
    code.reports = zeroed(code.num_units, sizeof *code.reports);
    leave_out_foreign(&code, how);
    code.pushed = code.cpu->pushed != 0 ? why_not_told(&code) : NULL;
    code_begin_entries(&code, how);
    code_note_low_core(&code);
    do {
        rounds_run_all(&code);
        while (code_find_uncalled(&code, how))
            rounds_run_all(&code);
    } while (how->find && code_find_entries(&code, how));
    code_find_conflicts(&code, how);
    code_leave_to_signals(&code, spans, how);
    note_free_starts(&code);
    note_returns(&code);
    report_units(&code, how, report);
    if (how->saved != NULL)
        code_find_saved(&code, how, false);
    if (how->saved != NULL && code.image->header.e_machine == EM_RISCV)
        code_find_saved(&code, how, true);
    add_derived(&code, how, report);
    code_free(&code);
    return true;
}

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
#include "uncalled.h"
#include "units.h"
#include "vectors.h"

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
    code.programs = code.cpu->pushed != 0 && loads_task(cfi->image);
    overrule_starts(cfi, spans, how);
    code_find_units(&code, spans, report);
    if (how->derive)
        code_find_gaps(&code, spans, how->kept);
    code.reports = zeroed(code.num_units, sizeof *code.reports);
    leave_out_foreign(&code, how);
    code_begin_entries(&code, how);
    code_note_low_core(&code);
    do {
        rounds_run_all(&code);
        while (code_find_uncalled(&code, how))
            rounds_run_all(&code);
    } while (how->find && code_find_entries(&code, how));
    code_find_conflicts(&code, how);
    code_leave_to_signals(&code, spans, how);
    report_units(&code, how, report);
    if (how->saved != NULL)
        code_find_saved(&code, how, false);
    if (how->saved != NULL && code.image->header.e_machine == EM_RISCV)
        code_find_saved(&code, how, true);
    add_derived(&code, how, report);
    code_free(&code);
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "compare.h"
#include "cfi.h"
#include "common/calls.h"

#include <stdio.h>
#include <string.h>

struct comparing {
    struct image *image;
    const struct cfi *cfi;
    const struct joined *tables;
    uint64_t start, end; /* of the code in hand */
    uint64_t ra;         /* its column of the return address */
    bool signal;
    const struct compare_how *how;
    struct comparison *result;
    uint64_t *counted; /* there: what the PC before was counted as */
};

static bool is_register(const struct sfu_rule *rule, uint64_t reg)
{
    return rule->control == (reg << RULE_NUMBER | RULE_REGISTER) && rule->offset == 0;
}

/* Whether WANTED is a slot below SP that GOT says is not saved: REG has the value. */
static bool is_below_sp(const struct comparing *c, const struct cfi_row *row, const struct sfu_rule *wanted,
                        const struct sfu_rule *got, uint64_t reg)
{
    uint32_t sp = c->image->registers->sp << RULE_NUMBER | RULE_REGISTER;

    return is_register(got, reg) && wanted->control == RULE_DEREFERENCE && row->cfa.control == sp &&
           (int64_t)row->cfa.offset + wanted->offset < 0;
}

/* Whether GOT says that FP is in a slot below SP, where WANTED says that it is in its register. Readers of the tables
 * take the register there. */
static bool is_left_below_sp(const struct comparing *c, const struct cfi_row *wanted, const struct sfu_row *got)
{
    uint32_t fp = c->image->registers->fp, sp = c->image->registers->sp << RULE_NUMBER | RULE_REGISTER;

    return is_register(&wanted->fp, fp) && got->fp.control == RULE_DEREFERENCE && got->cfa.control == sp &&
           (int64_t)got->cfa.offset + got->fp.offset < 0;
}

/* Whether GOT is the row of an epilogue of which WANTED does not know, at all PCs of D. */
static bool is_in_epilogue(const struct comparing *c, const struct cfi_row *wanted, const struct sfu_row *got,
                           const struct difference *d)
{
    const struct epilogue *epilogue;
    uint64_t pc = d->start;

    for (; pc < d->end; pc = epilogue->end) {
        epilogue = epilogue_find(c->how->epilogues, c->image, wanted, pc);
        if (epilogue == NULL || epilogue->start != pc || !rule_is_same(&got->cfa, &epilogue->cfa) ||
            !rule_is_same(&got->ra, &epilogue->ra) || !(c->how->ignore_fp || rule_is_same(&got->fp, &epilogue->fp)))
            return false;
    }
    return true;
}

/* What the row of D has wrong, or NULL. *EXCUSED: what it has better. */
static const char *judge_row(const struct comparing *c, const struct difference *d, uint64_t **excused)
{
    const struct cfi_row *wanted = d->wanted;
    const struct sfu_row *got = d->got;
    const struct registers *registers = c->image->registers;

    if (wanted->kind == CFI_LOST)
        return "a row for what SFrame cannot say";
    if (got->trap_frame != c->signal)
        return "signal frame";
    if (wanted->kind == CFI_OUTERMOST || got->kind == SFU_ROW_OUTERMOST)
        return wanted->kind == CFI_OUTERMOST && got->kind == SFU_ROW_OUTERMOST ? NULL : "outermost";
    if ((!rule_is_same(&wanted->cfa, &got->cfa) || !rule_is_same(&wanted->ra, &got->ra) ||
         !rule_is_same(&wanted->fp, &got->fp)) &&
        is_in_epilogue(c, wanted, got, d)) {
        *excused = &c->result->epilogue;
        return NULL;
    }
    if (!rule_is_same(&wanted->cfa, &got->cfa))
        return "CFA";
    if (wanted->signed_ra != got->signed_ra)
        return "signed RA";
    if (!rule_is_same(&wanted->ra, &got->ra)) {
        if (!registers->link || !is_below_sp(c, wanted, &wanted->ra, &got->ra, c->ra))
            return "RA";
        *excused = &c->result->below_sp;
    }
    if (c->how->ignore_fp || rule_is_same(&wanted->fp, &got->fp))
        return NULL;
    if (is_below_sp(c, wanted, &wanted->fp, &got->fp, registers->fp))
        *excused = &c->result->below_sp;
    else if (is_left_below_sp(c, wanted, got))
        *excused = &c->result->stale;
    else
        return "FP";
    return NULL;
}

static void report_difference(const struct comparing *c, const struct difference *d)
{
    if (c->how->found != NULL)
        c->how->found(c->how->ctx, d);
}

/* Whether the byte at PC, the last one of the code in hand, is in no row, or in that of the function behind it, as
 * starts.c says. GOT: the row at PC, if CODE is SFU_OK. What starts.c looks at is the tables' last row in front: where
 * that is an epilogue's, WANTED does not say what it is. */
static bool is_byte_before(const struct comparing *c, const struct cfi_row *wanted, uint64_t pc, int code,
                           const struct sfu_row *got)
{
    const uint64_t ra = c->image->registers->ra;
    struct sfu_row next;
    struct call call;

    if (pc + 1 != c->end || joined_find(c->tables, c->end, &next) != SFU_OK)
        return false;
    if (!c->image->registers->link && cfi_is_free_start(c->cfi, c->end))
        return code == SFU_E_NO_FDE || (code == SFU_OK && got->kind == SFU_ROW_OUTERMOST && next.kind == got->kind);
    if (pc % c->image->registers->code_unit == 0 ||
        (call_before(c->image, c->end, &call) && !cfi_is_free_start(c->cfi, c->end)))
        return false;
    if (code == SFU_OK
            ? got->kind != next.kind || !rule_is_same(&got->cfa, &next.cfa) || !rule_is_same(&got->ra, &next.ra)
            : code != SFU_E_NO_FDE && code != SFU_E_NO_ROW)
        return false;
    return next.kind == SFU_ROW_OUTERMOST || cfi_is_return(c->cfi, c->end) ||
           (is_register(&next.ra, ra) &&
            (wanted->kind == CFI_OUTERMOST || !is_register(&wanted->ra, ra) || c->counted == &c->result->epilogue));
}

/* Compares WANTED with the one row of the tables at PC. Returns where that ends. */
static uint64_t compare_at(struct comparing *c, const struct cfi_row *wanted, uint64_t pc, uint64_t end)
{
    struct difference d = {pc, pc + 1, NULL, false, SFU_OK, wanted, NULL};
    struct sfu_row got;
    uint64_t *excused = &c->result->same, left;

    d.code = joined_find(c->tables, pc, &got);
    if (d.code == SFU_OK) {
        left = got.length - (pc - got.start);
        d.end = left < end - pc ? pc + left : end;
        d.got = &got;
    }
    if (d.end == pc + 1 && is_byte_before(c, wanted, pc, d.code, &got)) {
        *(wanted->kind == CFI_LOST ? &c->result->lost : c->counted) += 1;
        return d.end;
    }
    d.missing = d.code == SFU_E_NO_FDE || d.code == SFU_E_NO_ROW ||
                (d.code == SFU_OK && got.kind == SFU_ROW_ASK && c->signal);
    if (d.missing && (wanted->kind == CFI_LOST || (!c->signal && cfi_leads_nowhere(c->image, wanted) != NULL))) {
        c->counted = &c->result->lost;
        *c->counted += d.end - pc;
        return d.end;
    }
    if (d.code != SFU_OK)
        d.what = sfu_string(d.code);
    else
        d.what = d.missing ? sfu_string(SFU_E_TRAP) : judge_row(c, &d, &excused);
    if (d.what == NULL && c->how->reader != NULL)
        d.what = c->how->reader(c->how->ctx, &d);
    if (d.what != NULL && c->how->excuse != NULL && c->how->excuse(c->how->ctx, &d))
        excused = &c->result->by_code;
    else if (d.what != NULL) {
        excused = d.missing ? &c->result->missing : &c->result->different;
        report_difference(c, &d);
    }
    *excused += d.end - pc;
    c->counted = excused;
    return d.end;
}

/* A cfi_row_fn. */
static void compare_row(void *ctx, const struct cfi_row *wanted)
{
    struct comparing *c = ctx;
    uint64_t pc = wanted->start > c->start ? wanted->start : c->start;
    uint64_t end = wanted->end < c->end ? wanted->end : c->end;

    while (pc < end) {
        uint64_t next = compare_at(c, wanted, pc, end);

        c->result->pcs += next - pc;
        pc = next;
    }
}

void compare_tables(const struct cfi *cfi, const struct cfi_spans *spans, const struct joined *tables,
                    const struct compare_how *how, struct comparison *result)
{
    struct comparing c = {cfi->image, cfi, tables, 0, 0, 0, false, how, result, NULL};
    size_t i;

    memset(result, 0, sizeof *result);
    for (i = 0; i < spans->num; i++) {
        const struct cfi_span *span = &spans->list[i];

        c.start = span->start;
        c.end = span->end;
        c.counted = &result->same;
        if (span->fde != NULL) {
            c.ra = cfi_ra_register(span->fde);
            c.signal = cfi_is_signal(span->fde);
            cfi_rows(cfi, span->fde, compare_row, &c);
        } else {
            result->pcs += span->end - span->start;
            result->lost += span->end - span->start;
        }
    }
}

void compare_kept(const struct cfi *cfi, const struct kept *kept, const struct joined *tables,
                  const struct compare_how *how, struct comparison *result)
{
    struct comparing c = {cfi->image, cfi, tables, 0, 0, 0, false, how, result, NULL};
    size_t i;

    memset(result, 0, sizeof *result);
    for (i = 0; i < kept->num; i++) {
        const struct kept_span *span = &kept->list[i];
        struct cfi_row ask = {0};

        c.start = ask.start = span->start;
        c.end = ask.end = span->end;
        c.counted = &result->same;
        c.signal = span->signal;
        ask.kind = CFI_LOST;
        if (span->ask)
            compare_row(&c, &ask);
        else
            kept_rows(span, compare_row, &c);
    }
}

void print_rule(char *text, size_t size, const struct sfu_rule *rule)
{
    char base[24] = "cfa";

    if (rule->control & RULE_REGISTER)
        snprintf(base, sizeof base, "r%u", (unsigned)(rule->control >> RULE_NUMBER));
    if (rule->control & RULE_DEREFERENCE)
        snprintf(text, size, "*(%s%+ld)", base, (long)rule->offset);
    else
        snprintf(text, size, "%s%+ld", base, (long)rule->offset);
}

void print_difference(char *text, size_t size, const struct difference *d)
{
    const struct sfu_rule *wanted = NULL, *got = NULL;
    char a[40], b[40];

    if (d->got != NULL && strcmp(d->what, "CFA") == 0)
        wanted = &d->wanted->cfa, got = &d->got->cfa;
    else if (d->got != NULL && strcmp(d->what, "RA") == 0)
        wanted = &d->wanted->ra, got = &d->got->ra;
    else if (d->got != NULL && strcmp(d->what, "FP") == 0)
        wanted = &d->wanted->fp, got = &d->got->fp;
    snprintf(text, size, "%s%s", d->missing || d->code != SFU_OK ? "" : "wrong: ", d->what);
    if (wanted != NULL) {
        print_rule(a, sizeof a, wanted);
        print_rule(b, sizeof b, got);
        snprintf(text, size, "wrong %s: %s, but the %s says %s", d->what, b, d->wanted->by_code ? "code" : "CFI",
                 a);
    }
}

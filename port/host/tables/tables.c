/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * From call frame information to functions and rows. Each span of code becomes a function. It becomes several where the
 * format needs that: for a PLT, around PCs that have no row, and when it has more rows than an FDE can count.
 */
#include "tables.h"
#include "cfi.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A lookup reads a function's rows one after the other. No function of a compiler has as many as these; the format
 * itself allows 65,535. */
enum { MAX_ROWS = 4096 };

/* The function that rows are being added to, if any: the last one. */
struct builder {
    struct tables *tables;
    const struct cfi_span *span;
    uint32_t ra; /* the column of the return address */
    bool signal, key_b;
    bool open;  /* there is such a function */
    bool by_pc; /* and its rows depend on the PC */
    bool any;   /* the span has made a function */
    bool as_is; /* no rule is corrected */
};

static struct function *last_function(struct builder *b)
{
    return &b->tables->functions[b->tables->num_functions - 1];
}

/* WHY is NULL: it is no fault. */
static void add_loss(struct tables *t, uint64_t start, uint64_t end, const char *why)
{
    if (why != NULL) {
        t->losses = grow(t->losses, t->num_losses, sizeof *t->losses);
        t->losses[t->num_losses++] = (struct loss){start, end, why};
    }
    if (t->num_functions > 0)
        t->functions[t->num_functions - 1].before_loss = true;
    t->lost += end - start;
}

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

static bool same_row_rules(const struct made_row *a, const struct made_row *b)
{
    return a->flags == b->flags && memcmp(a->offset, b->offset, sizeof a->offset) == 0 &&
           memcmp(a->control, b->control, sizeof a->control) == 0;
}

static struct made_row packed(const struct cfi_row *row, uint64_t function)
{
    const struct sfu_rule *rules[ROW_RULES];
    struct made_row result = {0};
    unsigned i;

    rules[ROW_CFA] = &row->cfa;
    rules[ROW_RA] = &row->ra;
    rules[ROW_FP] = &row->fp;
    result.start = (uint32_t)(row->start - function);
    if (row->kind == CFI_OUTERMOST) {
        result.flags = ROW_OUTERMOST;
        return result;
    }
    result.flags = row->signed_ra ? ROW_SIGNED : 0;
    for (i = 0; i < ROW_RULES; i++) {
        result.offset[i] = rules[i]->offset;
        result.control[i] = (uint16_t)rules[i]->control;
    }
    return result;
}

/* Adds ROW behind the others of FUNCTION, the last one. The array of rows may move: ROW is a copy, and no pointer into
 * the array is good behind this. */
static void add_row(struct tables *t, struct function *function, struct made_row row)
{
    t->rows = grow(t->rows, t->num_rows, sizeof *t->rows);
    t->rows[t->num_rows++] = row;
    function->num_rows++;
}

/* Where row I of FUNCTION ends. */
static uint32_t row_end(const struct tables *t, const struct function *function, uint32_t i)
{
    return i + 1 < function->num_rows ? t->rows[function->first_row + i + 1].start : function->size;
}

/* Removes rows of the last function that say what the one before says. */
static void join_rows(struct tables *t, struct function *function)
{
    struct made_row *rows = t->rows + function->first_row;
    uint32_t i, kept = 1;

    for (i = 1; i < function->num_rows; i++)
        if (!same_row_rules(&rows[kept - 1], &rows[i]))
            rows[kept++] = rows[i];
    if (function->num_rows > kept)
        function->num_rows = kept;
    t->num_rows = function->first_row + function->num_rows;
}

/* ---- Slots below SP -------------------------------------------------------------------------------------------- */

static uint16_t register_control(uint32_t reg)
{
    return (uint16_t)(reg << RULE_NUMBER | RULE_REGISTER);
}

static void set_kept(struct made_row *row, unsigned which, uint32_t reg)
{
    row->control[which] = register_control(reg);
    row->offset[which] = 0;
}

/* Compilers let a rule stand when the register has been restored and SP has moved above the slot. An interrupt may have
 * overwritten it. In front of that the slot was above SP; one that never was is in the red zone, and counts. Where the
 * caller pushes RA (no link register), its slot is at SP even at the return, so that rule needs no look. */
static void fix_below_sp(struct tables *t, struct function *function, uint32_t ra)
{
    const uint32_t reg[ROW_RULES] = {0, ra, t->image->registers->fp};
    uint16_t sp = register_control(t->image->registers->sp);
    bool was_above[ROW_RULES] = {false, false, false};
    int32_t above[ROW_RULES] = {0, 0, 0};
    uint32_t i;
    unsigned k;

    for (i = 0; i < function->num_rows; i++) {
        struct made_row *row = &t->rows[function->first_row + i];
        bool fixed = false;

        for (k = t->image->registers->link ? ROW_RA : ROW_FP; k < ROW_RULES; k++) {
            if (row->flags & ROW_OUTERMOST || row->control[k] != RULE_DEREFERENCE)
                continue;
            if (row->control[ROW_CFA] != sp || (int64_t)row->offset[ROW_CFA] + row->offset[k] >= 0) {
                was_above[k] = true;
                above[k] = row->offset[k];
            } else if (was_above[k] && above[k] == row->offset[k]) {
                set_kept(row, k, reg[k]);
                fixed = true;
            }
        }
        if (fixed)
            t->below_sp += row_end(t, function, i) - row->start;
    }
}

/* ---- Epilogues without CFI (RISC-V) ---------------------------------------------------------------------------- */

/* Inserts a copy of row I of the last function that begins at START. */
static void split_row(struct tables *t, struct function *function, uint32_t i, uint32_t start)
{
    struct made_row *row;

    add_row(t, function, t->rows[function->first_row + i]);
    row = &t->rows[function->first_row + i];
    memmove(row + 1, row, (function->num_rows - 1 - i) * sizeof *row);
    row[1].start = start;
}

static struct sfu_rule unpacked(const struct made_row *row, unsigned which)
{
    return (struct sfu_rule){row->offset[which], row->control[which]};
}

/* Row I of FUNCTION, from START on, as CFI has it. */
static struct cfi_row row_of(const struct tables *t, const struct function *function, uint32_t i)
{
    const struct made_row *row = &t->rows[function->first_row + i];
    struct cfi_row result = {0};

    result.start = function->start + row->start;
    result.end = function->start + row_end(t, function, i);
    result.cfa = unpacked(row, ROW_CFA);
    result.ra = unpacked(row, ROW_RA);
    result.fp = unpacked(row, ROW_FP);
    result.kind = row->flags & ROW_OUTERMOST ? CFI_OUTERMOST : CFI_RULES;
    return result;
}

static void set_row_rule(struct made_row *row, unsigned which, const struct sfu_rule *rule)
{
    row->offset[which] = rule->offset;
    row->control[which] = (uint16_t)rule->control;
}

/* Gives the part of row I that FOUND is the rules that are right there. Behind it the row goes on up to END. Returns
 * the number of that row. */
static uint32_t fix_part(struct tables *t, struct function *function, uint32_t i, const struct epilogue *found,
                         uint64_t end)
{
    struct made_row *fixed;
    bool goes_on = found->end < end;

    if (goes_on)
        split_row(t, function, i, (uint32_t)(found->end - function->start));
    if (found->start > function->start + t->rows[function->first_row + i].start)
        split_row(t, function, i++, (uint32_t)(found->start - function->start));
    fixed = &t->rows[function->first_row + i];
    set_row_rule(fixed, ROW_CFA, &found->cfa);
    set_row_rule(fixed, ROW_RA, &found->ra);
    set_row_rule(fixed, ROW_FP, &found->fp);
    t->epilogue += found->end - found->start;
    return goes_on ? i + 1 : i;
}

static void fix_epilogues(struct tables *t, struct function *function)
{
    struct epilogues known = {0};
    uint32_t i;

    for (i = 0; i < function->num_rows; i++) {
        const struct cfi_row row = row_of(t, function, i);
        const struct epilogue *found = epilogue_find(&known, t->image, &row, row.start);

        for (; function->num_rows + 2 <= MAX_ROWS && found != NULL;
             found = epilogue_find(&known, t->image, &row, found->end))
            i = fix_part(t, function, i, found, row.end);
    }
    epilogues_free(&known);
}

/* ---- Repeated blocks ------------------------------------------------------------------------------------------- */

/* Whether the rows of FUNCTION repeat every PERIOD bytes, COUNT rows in each; the last block may end early. */
static bool repeats(const struct tables *t, const struct function *function, uint32_t period, uint32_t count)
{
    const struct made_row *rows = t->rows + function->first_row;
    uint32_t i;

    for (i = count; i < function->num_rows; i++)
        if (rows[i].start != rows[i - count].start + period || !same_row_rules(&rows[i], &rows[i - count]))
            return false;
    return rows[function->num_rows - count].start + period >= function->size;
}

/* Finds out whether the rows of the last function, which depend on the PC, are those of equal blocks. An FDE counts a
 * block's bytes in one byte (specification: "sfde_func_rep_size"), so a longer block stays a list of rows. */
static void find_blocks(struct tables *t, struct function *function)
{
    const struct made_row *rows = t->rows + function->first_row;
    uint32_t count;

    for (count = 2; count < function->num_rows && rows[count].start <= UINT8_MAX; count++) {
        if (!repeats(t, function, rows[count].start, count))
            continue;
        function->repeat = (uint8_t)rows[count].start;
        function->num_rows = count;
        t->num_rows = function->first_row + count;
        return;
    }
}

/* ---- Functions ------------------------------------------------------------------------------------------------- */

static void close_function(struct builder *b, uint64_t end)
{
    struct tables *t = b->tables;
    struct function *function;

    if (!b->open)
        return;
    b->open = false;
    function = last_function(b);
    function->size = (uint32_t)(end - function->start);
    if (b->by_pc)
        find_blocks(t, function);
    if (function->repeat != 0 || function->num_rows == 0 || b->as_is)
        return;
    /* What is right in an epilogue counts before what is below SP by a row that is wrong there. */
    if (!t->keep_faults)
        fix_epilogues(t, function);
    if (!t->keep_below_sp)
        fix_below_sp(t, function, b->ra);
    join_rows(t, function);
}

static void open_function(struct builder *b, uint64_t start, bool by_pc)
{
    struct tables *t = b->tables;

    t->functions = grow(t->functions, t->num_functions, sizeof *t->functions);
    t->functions[t->num_functions++] =
        (struct function){start, 0, 0, t->num_rows, b->signal, b->key_b, false, false, false, false, 0};
    b->open = b->any = true;
    b->by_pc = by_pc;
}

/* Takes a row of the span's entry, which may cover more than the span. A cfi_row_fn. */
static void build_row(void *ctx, const struct cfi_row *given)
{
    struct builder *b = ctx;
    struct cfi_row row = *given;
    struct made_row next;
    struct function *function;
    const char *why;

    row.start = row.start > b->span->start ? row.start : b->span->start;
    row.end = row.end < b->span->end ? row.end : b->span->end;
    if (row.start >= row.end)
        return;
    why = b->signal || b->as_is || b->tables->keep_cfi ? NULL : cfi_leads_nowhere(b->tables->image, &row);
    if (why != NULL) {
        row.kind = CFI_LOST;
        row.why = why;
    }
    if (row.kind == CFI_LOST) {
        add_loss(b->tables, row.start, row.end, row.why);
        close_function(b, row.start);
        return;
    }
    if (b->open && (b->by_pc != row.by_pc || last_function(b)->num_rows == MAX_ROWS))
        close_function(b, row.start);
    if (!b->open)
        open_function(b, row.start, row.by_pc);
    function = last_function(b);
    next = packed(&row, function->start);
    /* What is found in epilogues of RISC-V depends on where their rows begin, so they are joined later. */
    if (function->num_rows == 0 || abi_is_riscv(b->tables->image->abi) ||
        !same_row_rules(&b->tables->rows[b->tables->num_rows - 1], &next))
        add_row(b->tables, function, next);
}

/* A signal frame none of whose rows can be said is still known to be one: the trap hook can be asked. */
static void build_span(struct tables *t, const struct cfi *cfi, const struct cfi_span *span)
{
    struct builder b = {t, span, 0, false, false, false, false, false, false};

    t->covered += span->end - span->start;
    if (span->fde == NULL) {
        add_loss(t, span->start, span->end, span->why);
        return;
    }
    b.ra = (uint32_t)cfi_ra_register(span->fde);
    b.signal = cfi_is_signal(span->fde);
    b.key_b = cfi_is_key_b(span->fde);
    cfi_rows(cfi, span->fde, build_row, &b);
    close_function(&b, span->end);
    if (b.signal && !b.any) {
        open_function(&b, span->start, false);
        close_function(&b, span->end);
    }
}

static bool is_covered(const struct cfi_spans *spans, const struct section *section)
{
    size_t before =
        count_up_to(spans->list, spans->num, sizeof *spans->list, offsetof(struct cfi_span, end), section->addr);

    return before < spans->num && spans->list[before].start < section->addr + section->size;
}

static void build_plt(struct tables *t, struct section *plt)
{
    struct cfi_span span = {plt->addr, plt->addr + plt->size, NULL, NULL};
    struct builder b = {t, &span, 0, false, false, false, false, false, true};

    if (!image_load(t->image, plt) || !plt_rows(t->image, plt, build_row, &b)) {
        add_loss(t, span.start, span.end, "a PLT without CFI, whose instructions are unknown");
        t->lost -= plt->size; /* `lost` is a share of `covered`, the bytes with CFI, of which a PLT is none */
        return;
    }
    close_function(&b, span.end);
    t->plt += plt->size;
}

static void build_kept(struct tables *t, const struct kept_span *kept)
{
    struct cfi_span span = {kept->start, kept->end, NULL, NULL};
    struct builder b = {t, &span, 0, kept->signal, false, false, false, false, true};

    if (kept->ask)
        open_function(&b, span.start, false);
    else
        kept_rows(kept, build_row, &b);
    close_function(&b, span.end);
    t->kept += span.end - span.start;
}

static int by_function_start(const void *a, const void *b)
{
    const struct function *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

void tables_make(struct tables *tables, const struct cfi *cfi, const struct cfi_spans *spans,
                 const struct kept *kept)
{
    size_t i;

    for (i = 0; i < spans->num; i++)
        build_span(tables, cfi, &spans->list[i]);
    for (i = 0; i < tables->image->num_code; i++) {
        struct section *section = tables->image->code[i];

        if (plt_is(section) && !is_covered(spans, section))
            build_plt(tables, section);
    }
    for (i = 0; i < kept->num; i++)
        build_kept(tables, &kept->list[i]);
    put_in_order(tables->functions, tables->num_functions, sizeof *tables->functions, by_function_start);
    if (!tables->keep_cfi)
        tables_mark_starts(tables, cfi);
}

void tables_free(struct tables *tables)
{
    free(tables->functions);
    free(tables->rows);
    free(tables->losses);
}

/* ---- FP -------------------------------------------------------------------------------------------------------- */

bool tables_need_fp(const struct tables *tables)
{
    uint32_t fp = tables->image->registers->fp;
    size_t i;

    for (i = 0; i < tables->num_rows; i++) {
        const struct made_row *row = &tables->rows[i];

        if (!(row->flags & ROW_OUTERMOST) &&
            (row->control[ROW_CFA] >> RULE_NUMBER == fp || row->control[ROW_RA] >> RULE_NUMBER == fp))
            return true;
    }
    return false;
}

void tables_drop_fp(struct tables *tables)
{
    size_t i;

    for (i = 0; i < tables->num_functions; i++) {
        struct function *function = &tables->functions[i];
        struct made_row *rows = tables->rows + function->first_row;
        uint32_t k, kept = 0;

        for (k = 0; k < function->num_rows; k++) {
            if (!(rows[k].flags & ROW_OUTERMOST))
                set_kept(&rows[k], ROW_FP, tables->image->registers->fp);
            if (kept == 0 || !same_row_rules(&rows[kept - 1], &rows[k]))
                rows[kept++] = rows[k];
        }
        function->num_rows = kept;
    }
}

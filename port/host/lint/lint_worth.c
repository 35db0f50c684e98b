/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What the tables are worth: which functions have rows, and the likely reason why others have none.
 */
#include "lint.h"
#include "tables/cfi.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Functions ------------------------------------------------------------------------------------------------- */

/* Pieces of code from one source of names, by start. They may overlap. */
struct layer {
    struct lint_function *list;
    size_t num;
    bool exact; /* their ends are known: there is no padding in them */
};

static void append(struct layer *layer, const char *name, uint64_t start, uint64_t end)
{
    layer->list = grow(layer->list, layer->num, sizeof *layer->list);
    layer->list[layer->num++] = (struct lint_function){name, start, end, 0, 0, 0, NULL, NULL};
}

/* Adds the part of PIECE from START up to END, if it is more than padding. */
static void put_piece(struct lint *lint, struct layer *result, const struct lint_function *piece, bool exact,
                      uint64_t start, uint64_t end)
{
    bool whole = exact && start == piece->start && end == piece->end;

    if (whole || !image_is_padding(&lint->image, start, end))
        append(result, piece->name, start, end);
}

/* Adds to the image's functions what LAYER has where there is none yet. Frees LAYER. */
static void add_layer(struct lint *lint, struct layer *layer)
{
    const struct lint_function *old = lint->functions;
    struct layer result = {NULL, 0, true};
    uint64_t pc = 0;
    size_t i = 0, k;

    for (k = 0; k < layer->num; k++) {
        const struct lint_function *piece = &layer->list[k];

        pc = piece->start > pc ? piece->start : pc;
        while (pc < piece->end) {
            uint64_t next = piece->end;

            for (; i < lint->num_functions && old[i].start <= pc; i++) {
                append(&result, old[i].name, old[i].start, old[i].end);
                pc = old[i].end > pc ? old[i].end : pc;
            }
            if (i < lint->num_functions && old[i].start < next)
                next = old[i].start;
            if (pc < next)
                put_piece(lint, &result, piece, layer->exact, pc, next);
            pc = next > pc ? next : pc;
        }
    }
    for (; i < lint->num_functions; i++)
        append(&result, old[i].name, old[i].start, old[i].end);
    free(lint->functions);
    free(layer->list);
    lint->functions = result.list;
    lint->num_functions = result.num;
}

/* Where the section of code that ADDR is in ends. */
static uint64_t section_end(const struct lint *lint, uint64_t addr)
{
    const struct section *code = image_code(&lint->image, addr);

    return code != NULL && code->type != SHT_NOBITS ? code->addr + code->size : addr;
}

static const char *name_at(const struct lint *lint, uint64_t addr)
{
    const struct symbol *symbol = image_symbol(&lint->image, addr);

    return symbol != NULL && symbol->addr == addr ? symbol->name : "";
}

/* The SIZE bytes at START, as far as they are code. */
static void append_sized(const struct lint *lint, struct layer *layer, const char *name, uint64_t start,
                         uint64_t size)
{
    uint64_t left = section_end(lint, start) - start;

    if (size > 0 && left > 0)
        append(layer, name, start, start + (size < left ? size : left));
}

static void add_plts(struct lint *lint)
{
    struct layer layer = {NULL, 0, true};
    size_t i;

    for (i = 0; i < lint->image.num_code; i++) {
        const struct section *s = lint->image.code[i];

        if (plt_is(s))
            append_sized(lint, &layer, s->name, s->addr, s->size);
    }
    add_layer(lint, &layer);
}

static void add_symbols(struct lint *lint)
{
    struct layer layer = {NULL, 0, true};
    size_t i, num = lint->image.num_symbols;
    const struct symbol *symbols = lint->image.symbols;

    for (i = 0; i < num; i++) {
        /* The last one at an address is the largest. */
        if (i + 1 == num || symbols[i + 1].addr != symbols[i].addr)
            append_sized(lint, &layer, symbols[i].name, symbols[i].addr, symbols[i].size);
    }
    add_layer(lint, &layer);
}

/* Functions without a size, and those that have lost their symbols, by their CFI and by the tables. */
static void add_described(struct lint *lint)
{
    struct layer spans = {NULL, 0, true}, entries = {NULL, 0, true};
    size_t i;

    for (i = 0; i < lint->spans.num; i++) {
        const struct cfi_span *span = &lint->spans.list[i];

        append_sized(lint, &spans, name_at(lint, span->start), span->start, span->end - span->start);
    }
    add_layer(lint, &spans);
    for (i = 0; i < lint->num_entries; i++)
        append_sized(lint, &entries, name_at(lint, lint->entries[i].start), lint->entries[i].start,
                     lint->entries[i].size);
    add_layer(lint, &entries);
}

/* What is left: from one label to the next, and code that nothing names. */
static void add_rest(struct lint *lint)
{
    struct layer labels = {NULL, 0, false}, sections = {NULL, 0, false};
    size_t i, num = lint->image.num_symbols;
    const struct symbol *symbols = lint->image.symbols;

    for (i = 0; i < num; i++) {
        uint64_t end = section_end(lint, symbols[i].addr);

        if (i + 1 < num && symbols[i + 1].addr < end)
            end = symbols[i + 1].addr;
        if (symbols[i].size == 0 && symbols[i].addr < end)
            append(&labels, symbols[i].name, symbols[i].addr, end);
    }
    add_layer(lint, &labels);
    for (i = 0; i < lint->image.num_code; i++)
        append_sized(lint, &sections, "", lint->image.code[i]->addr, lint->image.code[i]->size);
    add_layer(lint, &sections);
}

/* ---- Coverage -------------------------------------------------------------------------------------------------- */

/* Drops functions of which nothing is code. */
static void measure_coverage(struct lint *lint)
{
    size_t i, k = 0, j, kept = 0;

    for (i = 0; i < lint->num_functions; i++) {
        struct lint_function *f = &lint->functions[i];
        uint64_t pc = f->start;

        while (k < lint->num_covered && lint->covered[k].end <= f->start)
            k++;
        for (j = k; j < lint->num_covered && lint->covered[j].start < f->end; j++) {
            uint64_t from = lint->covered[j].start > f->start ? lint->covered[j].start : f->start;
            uint64_t to = lint->covered[j].end < f->end ? lint->covered[j].end : f->end;

            f->covered += to - from;
            f->bytes += to - pc - filled_count(&lint->filled, pc, from);
            pc = to;
        }
        f->bytes += f->end - pc - filled_count(&lint->filled, pc, f->end);
        lint->code_bytes += f->bytes;
        lint->covered_bytes += f->covered;
        lint->described += f->covered > 0;
        if (f->bytes > 0)
            lint->functions[kept++] = *f;
    }
    lint->num_functions = kept;
}

/* The function that ADDR is in, or NULL. */
static struct lint_function *function_at(const struct lint *lint, uint64_t addr)
{
    size_t below = count_up_to(lint->functions, lint->num_functions, sizeof *lint->functions,
                               offsetof(struct lint_function, start), addr);

    return below > 0 && addr < lint->functions[below - 1].end ? &lint->functions[below - 1] : NULL;
}

static void count_objects(struct lint *lint)
{
    size_t i;

    for (i = 0; i < lint->num_functions; i++) {
        const struct lint_function *f = &lint->functions[i];
        struct lint_object *object = &lint->objects[f->object];

        object->functions++;
        object->described += f->covered > 0;
        object->bytes += f->bytes;
        object->covered += f->covered;
        object->cfi += cfi_span_at(&lint->spans, f->start) != NULL;
    }
    for (i = 0; i < lint->num_entries; i++) {
        const struct lint_function *f = function_at(lint, lint->entries[i].start);
        struct lint_object *object = &lint->objects[f != NULL ? f->object : 0];

        object->rows += lint->entries[i].num_rows;
        object->table_bytes += lint->entries[i].bytes;
    }
}

/* ---- Reasons --------------------------------------------------------------------------------------------------- */

/* What is remarkable in a function's CFI. */
struct remarks {
    const struct image *image;
    const char *lost; /* what SFrame cannot say, or NULL */
    bool fp_without_ra;
    bool shadowed; /* a shadow call stack */
    bool flexible; /* a rule that only flexible rows have */
};

/* Whether RULE has another base than SP, FP and the CFA, and is not of the value that register OWN still has. */
static bool is_flexible(const struct remarks *remarks, const struct sfu_rule *rule, uint32_t own)
{
    const struct registers *registers = remarks->image->registers;
    uint32_t reg = rule->control >> RULE_NUMBER;

    if (!(rule->control & RULE_REGISTER))
        return false;
    if (rule->control & RULE_DEREFERENCE)
        return true;
    return reg != registers->sp && reg != registers->fp && reg != own;
}

/* A cfi_row_fn. */
static void remark(void *ctx, const struct cfi_row *row)
{
    struct remarks *remarks = ctx;

    if (remarks->lost == NULL)
        remarks->lost = row->kind == CFI_LOST ? row->why : cfi_leads_nowhere(remarks->image, row);
    if (row->kind == CFI_RULES && row->fp.control & RULE_DEREFERENCE && !(row->ra.control & RULE_DEREFERENCE))
        remarks->fp_without_ra = true;
    remarks->shadowed |= row->shadowed;
    if (row->kind == CFI_RULES)
        remarks->flexible |= is_flexible(remarks, &row->cfa, remarks->image->registers->sp) ||
                             is_flexible(remarks, &row->fp, remarks->image->registers->fp);
}

static void set_reason(struct lint_function *f, const char *reason, const char *why)
{
    f->reason = reason;
    f->why = why;
}

/* Why the code of F at PC, whose CFI SPAN has, has no rows by the machine code; or NULL. */
static const char *reason_by_code(const struct lint *lint, const struct cfi_span *span, uint64_t pc)
{
    const struct cfi_span *mended = cfi_span_at(&lint->mended_spans, pc);
    struct remarks remarks = {&lint->image, NULL, false, false, false};

    if (lint->mended.image == NULL || span->fde == NULL)
        return NULL;
    if (mended == NULL)
        return "by its code it is not called, as its CFI says: sfu-gen says why, or --find or --entry describes it";
    if (mended->fde == NULL)
        return mended->why;
    cfi_rows(&lint->mended, mended->fde, remark, &remarks);
    return remarks.lost;
}

/* Why a function that has CFI lacks rows at PC. */
static void reason_with_cfi(const struct lint *lint, struct lint_function *f, const struct cfi_span *span,
                            uint64_t pc)
{
    const char *by_code = reason_by_code(lint, span, pc);
    const struct lint_object *object = &lint->objects[f->object];
    bool is_aarch64 = abi_is_aarch64(lint->image.abi);
    struct remarks remarks = {&lint->image, span->why, false, false, false};

    if (span->fde != NULL)
        cfi_rows(&lint->cfi, span->fde, remark, &remarks);
    if (remarks.lost != NULL)
        set_reason(f, "not-expressible", remarks.lost);
    else if (by_code != NULL)
        set_reason(f, "by-code", by_code);
    else if (span->fde != NULL && cfi_is_signal(span->fde))
        set_reason(f, "signal-frame", "a signal frame, which the assembler leaves to the trap hook");
    else if (abi_is_own(lint->image.abi))
        set_reason(f, "left-out", "it has CFI: the tables were made of another file: run sfu-gen again");
    else if (object->described == 0 && f->object != 0)
        set_reason(
            f, "not-assembled",
            "its object has CFI and no tables: assembled without --gsframe, or to a version that the linker drops");
    else if (remarks.shadowed)
        set_reason(f, "shadow-call-stack", "GNU as writes no tables where x18 has a rule (clang): sfu-gen does");
    else if (remarks.fp_without_ra && lint->image.registers->link)
        set_reason(
            f, "fp-without-ra",
            "FP is saved and RA is not, as gcc's shadow call stacks leave them: GNU as writes no tables for that");
    else if (remarks.flexible && (lint->version < 3 || is_aarch64))
        set_reason(f, "needs-flexible", "GNU as writes flexible rows in version 3 only, and none for aarch64");
    else if (f->covered == 0)
        set_reason(
            f, "left-out",
            "it has CFI: assembled without --gsframe, left out by the assembler, or of a version that the linker "
            "drops");
    else
        set_reason(f, "partly", "it has CFI, but rows for a part only");
}

static bool has_in_name(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

/* Why a function without CFI has no rows. */
static void reason_without_cfi(struct lint *lint, struct lint_function *f)
{
    const struct section *code = image_code(&lint->image, f->start);
    const char *object = lint->objects[f->object].name;
    size_t length = strlen(object);
    bool assembly =
        length > 2 && (strcmp(object + length - 2, ".S") == 0 || strcmp(object + length - 2, ".s") == 0);

    if (code != NULL && plt_is(code))
        set_reason(f, "plt",
                   "a PLT that the linker has written no tables for (GNU ld with --gc-sections): sfu-gen does");
    else if (code != NULL && (strcmp(code->name, ".init") == 0 || strcmp(code->name, ".fini") == 0))
        set_reason(f, "start-up", "start-up code of the C library, without CFI");
    else if (f->covered > 0)
        set_reason(f, "partly", "its tables describe a part only");
    else if (has_in_name(f->name, ".cold"))
        set_reason(f, "cold", "a cold part without CFI");
    else if (assembly)
        set_reason(f, "assembly", "assembly without CFI: .cfi_startproc, or arch/sfu_asm.h");
    else if (lint->cfi.num_fdes == 0)
        set_reason(f, "unknown", "the image has no CFI that could tell");
    else if (lint->image.pe != NULL)
        set_reason(f, "no-cfi",
                   "no unwind codes, as functions without a frame have none: sfu-gen --find describes them");
    else
        set_reason(f, "no-cfi", "no CFI: assembly without .cfi_startproc, or -fno-asynchronous-unwind-tables");
}

/* The reason of code at PC that does not run in the image's mode; NULL: it does. */
static const char *reason_by_mode(const struct lint *lint, uint64_t pc)
{
    size_t i;

    for (i = 0; i < lint->num_regions; i++) {
        const struct code_region *region = &lint->regions[i];

        if (pc < region->start || pc >= region->end)
            continue;
        if (region->bits == 16)
            return "16-bit code, which no table describes: a trace ends there";
        return region->bits == 32
                   ? "32-bit code in an image of 64 bits, which no table describes: a trace ends there"
                   : "64-bit code in an image of 32 bits, which no table describes: a trace ends there";
    }
    return NULL;
}

/* The first PC of F that has no row. */
static uint64_t first_bare(const struct lint *lint, const struct lint_function *f)
{
    uint64_t pc = f->start;
    struct sfu_row row;

    while (f->covered > 0 && pc < f->end && joined_find(&lint->tables, pc, &row) == SFU_OK &&
           row.kind != SFU_ROW_ASK)
        pc = row.start + row.length;
    return pc < f->end ? pc : f->start;
}

static void find_reasons(struct lint *lint)
{
    size_t i;

    for (i = 0; i < lint->num_functions; i++) {
        struct lint_function *f = &lint->functions[i];
        const struct cfi_span *span;
        const char *mode;
        uint64_t pc;

        if (f->covered == f->bytes)
            continue;
        pc = first_bare(lint, f);
        span = cfi_span_at(&lint->spans, pc);
        mode = reason_by_mode(lint, pc);
        if (mode != NULL)
            set_reason(f, "other-mode", mode);
        else if (!lint->open)
            set_reason(f, "no-tables", "the image has no tables that can be read");
        else if (span != NULL)
            reason_with_cfi(lint, f, span, pc);
        else
            reason_without_cfi(lint, f);
    }
}

/* Objects of compilers that have been assembled without tables, beside others that have some. */
static void find_mixed(struct lint *lint)
{
    uint64_t with = 0, without = 0;
    const char *first = NULL;
    size_t i;

    for (i = 1; i < lint->num_objects; i++) {
        with += lint->objects[i].described > 0;
        if (lint->objects[i].cfi == 0 || lint->objects[i].described > 0 || lint->objects[i].table_bytes > 0)
            continue;
        first = first == NULL ? lint->objects[i].name : first;
        without++;
    }
    if (with > 0 && without > 0)
        lint_thing(lint, LINT_MIXED_OBJECTS, first, 0, 0,
                   "one of %" PRIu64 " objects that have CFI and no tables, beside %" PRIu64 " that have some",
                   without, with);
}

/* A link that has lost most of the tables without a word: linkers only warn of those of another version. */
static void find_missing(struct lint *lint)
{
    const struct comparison *c = &lint->comparison;
    uint64_t can = c->pcs - c->lost;

    if (lint->open && c->missing > can / 2)
        lint_thing(
            lint, LINT_MOSTLY_MISSING, "", 0, c->missing,
            "rows for %.1f%% of the code whose CFI SFrame can say: most objects have no tables, or some of a "
            "version that the linker has dropped (clang's own assembler writes 2, GNU as from 2.46 on 3)",
            100.0 * (double)(can - c->missing) / (double)can);
}

bool lint_worth(struct lint *lint)
{
    if (!filled_read(&lint->filled, &lint->image))
        return false;
    add_plts(lint);
    add_symbols(lint);
    add_described(lint);
    add_rest(lint);
    measure_coverage(lint);
    if (!lint_objects(lint))
        return false;
    count_objects(lint);
    find_reasons(lint);
    find_mixed(lint);
    find_missing(lint);
    return true;
}

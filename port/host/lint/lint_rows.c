/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What the tables say: each entry and each row by itself, and all of them beside the CFI.
 */
#include "lint.h"
#include "tables/cfi.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Specification 2.3. */
enum { INFO_ADDRESS = 0x03, INFO_MASK = 0x10, INFO_SIGNAL = 0x80, INFO2_FLEXIBLE = 0x01 };

/* ---- Entries --------------------------------------------------------------------------------------------------- */

/* What an entry of the tables says, which sfu_check has found to be good. */
struct raw {
    uint64_t start;
    uint32_t size, num_rows, rows; /* rows: offset in the section */
    uint8_t info, info2, repeat;
};

/* The SIZE bytes at OFFSET as a number. Beyond the tables there are zeros. */
static uint64_t number_at(const struct sfu_section *s, uint64_t offset, unsigned size)
{
    return offset + size <= s->end ? load_number(s->bytes + offset, size, s->big) : 0;
}

/* Entry INDEX. lint_place has sorted the tables: starts are relative to the section, or to the field. */
static struct raw read_table_entry(const struct sfu_section *s, uint32_t index)
{
    uint32_t at = s->fdes + index * s->fde_size, rest = at + (s->version == 3 ? 8 : 4);
    struct raw raw = {0, 0, 0, 0, 0, 0, 0};

    raw.start = s->addr + (s->flags & 4 ? at : 0);
    if (s->version == 3)
        raw.start += number_at(s, at, 8);
    else
        raw.start += (uint64_t)(int64_t)(int32_t)number_at(s, at, 4);
    raw.size = (uint32_t)number_at(s, rest, 4);
    raw.rows = s->rows + (uint32_t)number_at(s, rest + 4, 4);
    if (s->version == 3) {
        raw.num_rows = (uint32_t)number_at(s, raw.rows, 2);
        raw.info = (uint8_t)number_at(s, raw.rows + 2, 1);
        raw.info2 = (uint8_t)number_at(s, raw.rows + 3, 1);
        raw.repeat = (uint8_t)number_at(s, raw.rows + 4, 1);
        raw.rows += 5;
    } else {
        raw.num_rows = (uint32_t)number_at(s, rest + 8, 4);
        raw.info = (uint8_t)number_at(s, rest + 12, 1) & (uint8_t)~INFO_SIGNAL;
        raw.repeat = s->version == 1 ? 16 : (uint8_t)number_at(s, rest + 13, 1);
    }
    return raw;
}

/* How many bytes its rows take. *FIRST is where the first one starts, *MARKS how many rows have no words: they are
 * outermost (2.4). */
static uint64_t measure_rows(const struct sfu_section *s, const struct raw *raw, uint32_t *first, uint32_t *marks)
{
    unsigned address = 1u << (raw->info & INFO_ADDRESS);
    uint64_t at = raw->rows;
    uint32_t i;

    *first = raw->num_rows > 0 ? (uint32_t)number_at(s, at, address) : 0;
    *marks = 0;
    for (i = 0; i < raw->num_rows && at < s->end; i++) {
        unsigned info = (unsigned)number_at(s, at + address, 1), count = info >> 1 & 15;

        *marks += count == 0;
        at += address + 1 + (uint64_t)count * (1u << (info >> 5 & 3));
    }
    return at - raw->rows;
}

static enum lint_kind kind_of(const struct raw *raw, uint32_t marks)
{
    if (raw->info & INFO_SIGNAL)
        return LINT_SIGNAL;
    if (marks == raw->num_rows)
        return LINT_OUTERMOST;
    if (raw->info & INFO_MASK)
        return LINT_MASK;
    return raw->info2 & INFO2_FLEXIBLE ? LINT_FLEXIBLE : LINT_DEFAULT;
}

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

/* Offsets that no function has. */
enum { FAR = 1 << 28 };

/* The largest DWARF number of a register that a rule can be based on. */
static uint32_t last_register(uint8_t abi)
{
    return abi == SFU_AMD64 ? 15 : abi == SFU_I386 ? 7 : 31;
}

/* Whether RULE is that of a value which is still in its register REG. */
static bool is_unsaved(const struct sfu_rule *rule, uint32_t reg)
{
    return rule->control == (reg << RULE_NUMBER | RULE_REGISTER) && rule->offset == 0;
}

/* The register that RULE of ROW is based on: no other than SP and FP is known in a frame that has made a call. */
static void check_register(struct lint *lint, const struct sfu_row *row, const struct sfu_rule *rule,
                           const char *what)
{
    const struct registers *r = lint->image.registers;
    uint32_t reg = rule->control >> RULE_NUMBER;
    uint64_t end = row->start + row->length;
    char text[40];

    if (!(rule->control & RULE_REGISTER))
        return;
    print_rule(text, sizeof text, rule);
    if (reg > last_register(row->abi))
        lint_code(lint, LINT_ABSURD_REGISTER, row->start, end, "%s is %s: there is no such register", what, text);
    else if (reg != r->sp && reg != r->fp && !(rule == &row->ra && is_unsaved(rule, r->ra)) &&
             lint_calls(lint, row->start, end))
        lint_code(lint, LINT_UNSAFE_REGISTER, row->start, end,
                  "%s is %s: traces end there, but in topmost and interrupted frames", what, text);
}

/* x86_64's SP may be at any address: a leaf function moves it by 4. The other machines keep it aligned. */
static bool is_odd(const struct lint *lint, int32_t offset)
{
    return offset % lint->image.registers->word != 0 && lint->image.abi != SFU_AMD64;
}

static bool is_far(int32_t offset)
{
    return offset > FAR || offset < -FAR;
}

/* What cannot be in the frame of a function that is called. */
static void check_offsets(struct lint *lint, const struct sfu_row *row)
{
    uint32_t sp = lint->image.registers->sp << RULE_NUMBER | RULE_REGISTER;
    uint64_t end = row->start + row->length;
    const struct sfu_rule *rules[] = {&row->ra, &row->fp};
    static const char *const names[] = {"RA", "FP"};
    char text[40];
    unsigned i;

    print_rule(text, sizeof text, &row->cfa);
    /* Where SP is not known, the CFA may be found by FP's register as the pointer to a byte of the frame. */
    if (is_far(row->cfa.offset) ||
        (row->cfa.control == sp && (row->cfa.offset < 0 || is_odd(lint, row->cfa.offset))))
        lint_code(lint, LINT_ABSURD_OFFSET, row->start, end, "the CFA is %s", text);
    for (i = 0; i < 2; i++) {
        print_rule(text, sizeof text, rules[i]);
        if (rules[i]->control & RULE_DEREFERENCE &&
            (is_far(rules[i]->offset) || is_odd(lint, rules[i]->offset) ||
             (rules[i]->control == RULE_DEREFERENCE && rules[i]->offset >= 0)))
            lint_code(lint, LINT_ABSURD_OFFSET, row->start, end, "%s is at %s", names[i], text);
    }
}

/* Slots that an interrupt may overwrite. */
static void check_slots(struct lint *lint, const struct sfu_row *row)
{
    uint32_t sp = lint->image.registers->sp << RULE_NUMBER | RULE_REGISTER;
    uint64_t end = row->start + row->length;

    if (row->cfa.control != sp)
        return;
    if (row->fp.control == RULE_DEREFERENCE && (int64_t)row->cfa.offset + row->fp.offset < 0)
        lint_code(lint, LINT_FP_BELOW_SP, row->start, end,
                  "FP's slot is below SP: an epilogue has restored FP, and sfu takes the register");
    if (row->ra.control == RULE_DEREFERENCE && (int64_t)row->cfa.offset + row->ra.offset < 0)
        lint_code(lint, LINT_RA_BELOW_SP, row->start, end,
                  "RA's slot is below SP: an interrupt may have overwritten it");
}

/* Whether ROW finds FP anywhere, or needs it. */
static bool says_of_fp(const struct lint *lint, const struct sfu_row *row)
{
    const uint32_t fp = lint->image.registers->fp;

    return !is_unsaved(&row->fp, fp) ||
           (row->cfa.control & RULE_REGISTER && row->cfa.control >> RULE_NUMBER == fp) ||
           (row->ra.control & RULE_REGISTER && row->ra.control >> RULE_NUMBER == fp);
}

static void check_row(struct lint *lint, const struct sfu_row *row)
{
    lint->outermost = lint->outermost || row->kind == SFU_ROW_OUTERMOST;
    if (row->kind != SFU_ROW_RULES)
        return;
    lint->with_fp = lint->with_fp || says_of_fp(lint, row);
    check_register(lint, row, &row->cfa, "the CFA");
    check_register(lint, row, &row->ra, "RA");
    if (!is_unsaved(&row->fp, lint->image.registers->fp))
        check_register(lint, row, &row->fp, "FP");
    if (row->trap_frame)
        return;
    check_offsets(lint, row);
    check_slots(lint, row);
}

static void add_covered(struct lint *lint, uint64_t start, uint64_t end)
{
    struct lint_range *last = lint->num_covered > 0 ? &lint->covered[lint->num_covered - 1] : NULL;

    if (last != NULL && start >= last->start && start <= last->end) {
        last->end = end > last->end ? end : last->end;
        return;
    }
    lint->covered = grow(lint->covered, lint->num_covered, sizeof *lint->covered);
    lint->covered[lint->num_covered++] = (struct lint_range){start, end};
}

/* Checks the rows of one function from PC up to END. Those of a MASK function are the same in each of its
 * blocks: the first one is looked at, and stands for the others. */
static void check_rows(struct lint *lint, const struct raw *raw, uint64_t pc)
{
    uint64_t end = raw->start + raw->size;
    bool mask = raw->info & INFO_MASK;
    struct sfu_row row;

    if (mask && pc == raw->start)
        add_covered(lint, raw->start, end);
    if (mask && raw->repeat < raw->size)
        end = raw->start + raw->repeat;
    while (pc < end && joined_find(&lint->tables, pc, &row) == SFU_OK && row.function == raw->start) {
        check_row(lint, &row);
        pc = row.start + row.length;
        if (!mask && row.kind != SFU_ROW_ASK)
            add_covered(lint, row.start, pc);
    }
}

/* Whether an entry lies in code, as far as it is not empty. */
static bool is_in_code(const struct lint *lint, const struct raw *raw)
{
    const struct section *code = image_code(&lint->image, raw->start);

    return code != NULL && raw->size <= code->size - (raw->start - code->addr);
}

/* SEEN has a byte for each of the section: where rows begin that another entry has, too. They take their bytes once. */
static void check_entry(struct lint *lint, const struct sfu_section *s, uint32_t index, uint8_t *seen)
{
    struct raw raw = read_table_entry(s, index);
    uint32_t first, marks;
    uint64_t bytes = measure_rows(s, &raw, &first, &marks) + (s->version == 3 ? 5u : 0u);
    struct lint_entry *entry;
    struct lint_count *kind;

    if (raw.rows < s->end && s->version == 3 && seen[raw.rows] != 0)
        bytes = 0;
    else if (raw.rows < s->end)
        seen[raw.rows] = 1;
    bytes += s->fde_size;
    lint->entries = grow(lint->entries, lint->num_entries, sizeof *lint->entries);
    entry = &lint->entries[lint->num_entries++];
    *entry = (struct lint_entry){raw.start, raw.size, raw.num_rows, bytes, kind_of(&raw, marks)};
    kind = &lint->kinds[entry->kind];
    kind->functions++;
    kind->rows += raw.num_rows;
    kind->bytes += bytes;
    if (raw.size == 0)
        return;
    if ((raw.start == 0 || raw.start - lint->addr < lint->size) && !is_in_code(lint, &raw)) {
        lint->dead++;
        return;
    }
    if (is_in_code(lint, &raw))
        check_rows(lint, &raw, raw.start + first);
    else
        lint_thing(lint, LINT_OUTSIDE_CODE, lint->section->name, raw.start, raw.size,
                   "function %" PRIu32 " of the tables is not in a section of code", index);
}

/* ---- Beside the CFI -------------------------------------------------------------------------------------------- */

/* A difference_fn. What is missing is a matter of lint_worth. */
static void find_difference(void *ctx, const struct difference *d)
{
    static const struct {
        const char *what;
        enum lint_name name;
    } names[] = {{"CFA", LINT_WRONG_CFA},
                 {"RA", LINT_WRONG_RA},
                 {"FP", LINT_WRONG_FP},
                 {"signed RA", LINT_WRONG_SIGNED_RA},
                 {"signal frame", LINT_WRONG_SIGNAL},
                 {"outermost", LINT_WRONG_OUTERMOST}};
    enum lint_name name = LINT_WRONG_ROW;
    char text[160];
    size_t i;

    if (d->missing)
        return;
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(d->what, names[i].what) == 0)
            name = names[i].name;
    print_difference(text, sizeof text, d);
    if (d->wanted->restored && (name == LINT_WRONG_FP || name == LINT_WRONG_RA))
        lint_code(
            ctx, LINT_DOUBTFUL_RESTORE, d->start, d->end,
            "%s: GNU as has taken the function's first .cfi_offset for the CIE's, and .cfi_restore leads back "
            "to it (clang -fbasic-block-sections); use sfu-gen",
            text);
    else
        lint_code(ctx, name, d->start, d->end, "%s", text);
}

/* A difference_fn, beside what the machine code says. What only CFI says has been compared. */
static void find_by_code(void *ctx, const struct difference *d)
{
    char text[160];

    if (d->missing || !d->wanted->by_code)
        return;
    print_difference(text, sizeof text, d);
    lint_code(ctx, LINT_WRONG_BY_CODE, d->start, d->end, "%s; its CFI is wrong, and sfu-gen writes what is right",
              text);
}

/* A difference_fn. */
static void set_flag(void *ctx, const struct difference *d)
{
    (void)d;
    *(bool *)ctx = true;
}

/* Whether what the machine code says of the PCs of D is in the tables: by CFI and SPANS, to which its rows have been
 * added. Code that these say nothing of had CFI that said nothing and was wrong: who enters it is the caller's of
 * sfu-gen to say (--entry). */
static bool is_said(struct lint *lint, const struct cfi *cfi, const struct cfi_spans *known,
                    const struct difference *d)
{
    const struct cfi_span *found = cfi_span_at(known, d->start);
    bool differs = false, asks = d->code == SFU_OK && d->got->kind == SFU_ROW_ASK;
    const struct compare_how how = {lint->without_fp, set_flag, NULL, NULL, &differs, &lint->epilogues};
    struct cfi_span span = {d->start, d->end, NULL, NULL};
    const struct cfi_spans spans = {&span, 1, 0};
    struct comparison result;

    if (found == NULL)
        return true;
    span.fde = found->fde;
    span.why = found->why;
    compare_tables(cfi, &spans, &lint->tables, &how, &result);
    return !differs && result.pcs == d->end - d->start && (result.lost == 0 || asks);
}

/* An excuse_fn: whether the machine code says what the tables say, by itself or with sfu-gen --find. */
static bool is_right_by_code(void *ctx, const struct difference *d)
{
    struct lint *lint = ctx;

    if (lint->mended.image == NULL)
        return false;
    return is_said(lint, &lint->mended, &lint->mended_spans, d) ||
           (lint_read_code(lint, &lint->found, &lint->found_spans, true) &&
            is_said(lint, &lint->found, &lint->found_spans, d));
}

/* Whether the tables are right where ROW is, whatever DW_CFA_restore was to say of FP and RA: each is said to be in its
 * register, or the code has LOADED it from the slot, which still has it. */
static bool is_right_either_way(struct lint *lint, const struct cfi_row *row, unsigned loaded)
{
    const struct registers *r = lint->image.registers;
    uint64_t pc = row->start;
    struct sfu_row got;

    while (lint->open && pc < row->end && joined_find(&lint->tables, pc, &got) == SFU_OK) {
        unsigned left = row->doubtful & ~loaded;

        if ((left & CFI_OF_FP && !is_unsaved(&got.fp, r->fp)) || (left & CFI_OF_RA && !is_unsaved(&got.ra, r->ra)))
            return false;
        pc = got.start + got.length;
    }
    return pc >= row->end;
}

/* GNU as puts what a file's first function says at its start into the CIE; there DW_CFA_restore leads
 * back to it. */
static void find_restore(struct lint *lint, const struct cfi_row *row, unsigned loaded)
{
    if (row->doubtful && !is_right_either_way(lint, row, loaded))
        lint_code(lint, LINT_DOUBTFUL_RESTORE, row->start, row->end,
                  "its CFI restores FP or RA to a slot, by a rule of the CIE: GNU as makes that of .cfi_offset at "
                  "the start "
                  "of a file's first function and .cfi_restore behind it; put another function first");
}

/* Finds code behind an instruction that has put SP or FP back, where the tables have the row of the body: CFI has it,
 * too. */
static void find_epilogues(struct lint *lint, const struct cfi_row *wanted)
{
    struct epilogues known = {0};
    const struct epilogue *found = epilogue_find(&known, &lint->image, wanted, wanted->start);
    struct sfu_row row;

    for (; found != NULL; found = epilogue_find(&known, &lint->image, wanted, found->end)) {
        struct difference d = {found->start, found->start + 1, NULL, false, SFU_OK, wanted, &row};

        if (joined_find(&lint->tables, found->start, &row) == SFU_OK &&
            (row.cfa.offset != found->cfa.offset || row.cfa.control != found->cfa.control) &&
            !is_right_by_code(lint, &d))
            lint_code(
                lint, LINT_STALE_EPILOGUE, found->start, found->end,
                "SP or FP is the caller's again, and the CFA is still that of the body (clang for RISC-V writes "
                "such CFI, and naked functions have no other): a trace from there is wrong; sfu-gen writes what "
                "is right");
    }
    epilogues_free(&known);
}

/* An entry of CFI that is read. */
struct checking {
    struct lint *lint;
    bool doubtful;   /* it has a row that is */
    unsigned loaded; /* what has been loaded from its slot, CFI_OF_... */
};

/* A cfi_row_fn. */
static void check_cfi(void *ctx, const struct cfi_row *row)
{
    struct checking *c = ctx;

    c->doubtful |= row->doubtful != 0;
    find_epilogues(c->lint, row);
}

/* A cfi_row_fn. */
static void check_restored(void *ctx, const struct cfi_row *row)
{
    struct checking *c = ctx;

    find_restore(c->lint, row, c->loaded);
    c->loaded = lint_loaded(c->lint, row, c->loaded);
}

/* What is wrong in the CFI, whoever makes tables of it. */
static void check_all_cfi(struct lint *lint)
{
    size_t i;

    for (i = 0; i < lint->spans.num; i++) {
        const struct cfi_fde *fde = lint->spans.list[i].fde;
        struct checking c = {lint, false, 0};

        if (fde != NULL)
            cfi_rows(&lint->cfi, fde, check_cfi, &c);
        if (c.doubtful)
            cfi_rows(&lint->cfi, fde, check_restored, &c);
    }
}

/* Whether the machine code has rows for what is behind the one byte from PC up to END, at which no instruction begins:
 * the tables may take it for a part of that (tables/starts.c). */
static bool is_byte_before(const struct lint *lint, uint64_t pc, uint64_t end)
{
    return end == pc + 1 && pc % lint->image.registers->code_unit != 0 &&
           cfi_span_at(&lint->found_spans, end) != NULL;
}

/* Whether the machine code has rows for all of RANGE but padding and PLTs. */
static bool is_found(struct lint *lint, const struct lint_range *range)
{
    const struct cfi_spans *found = &lint->found_spans;
    uint64_t pc = range->start, end;

    for (; pc < range->end; pc = end) {
        const struct cfi_span *span = cfi_span_at(found, pc);
        const struct section *section = image_code(&lint->image, pc);
        const size_t next =
            count_up_to(found->list, found->num, sizeof *found->list, offsetof(struct cfi_span, start), pc);

        end = next < found->num && found->list[next].start < range->end ? found->list[next].start : range->end;
        if (span != NULL)
            end = span->end;
        else if (section != NULL && plt_is(section))
            end = section->addr + section->size;
        else if (!is_byte_before(lint, pc, end) && !image_is_padding(&lint->image, pc, end))
            return false;
    }
    return true;
}

/* Whether the machine code alone says all that the tables say, as sfu-gen --find reads it. */
static bool is_all_said_by_code(struct lint *lint)
{
    const struct compare_how how = {lint->without_fp, NULL, NULL, NULL, NULL, &lint->epilogues};
    struct comparison c;
    size_t i;

    if (!lint_read_code(lint, &lint->found, &lint->found_spans, true) || lint->found.image == NULL)
        return false;
    for (i = 0; i < lint->num_covered; i++)
        if (!is_found(lint, &lint->covered[i]))
            return false;
    compare_tables(&lint->found, &lint->found_spans, &lint->tables, &how, &c);
    return c.different == 0;
}

static void compare_with_cfi(struct lint *lint)
{
    const struct compare_how how = {lint->without_fp, find_difference, NULL, is_right_by_code, lint,
                                    &lint->epilogues};
    const struct compare_how code_how = {lint->without_fp, find_by_code, NULL,
                                         is_right_by_code, lint,         &lint->epilogues};
    struct comparison ignored;

    if (lint->cfi.num_fdes == 0 && !is_all_said_by_code(lint))
        lint_thing(
            lint, LINT_NO_CFI, "", 0, 0,
            "no .eh_frame and no .debug_frame to compare the tables with, and the machine code alone does not "
            "say all that they say");
    if (lint->cfi.num_fdes > 0)
        compare_tables(&lint->cfi, &lint->spans, &lint->tables, &how, &lint->comparison);
    compare_tables(&lint->mended, &lint->mended_spans, &lint->tables, &code_how, &ignored);
}

static int by_range_start(const void *a, const void *b)
{
    const struct lint_range *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static int by_entry(const void *a, const void *b)
{
    const struct lint_entry *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

/* Puts what several tables describe in order. */
static void sort_all(struct lint *lint)
{
    struct lint_range *ranges = lint->covered;
    size_t i, num = lint->num_covered;

    if (lint->num_entries > 0)
        qsort(lint->entries, lint->num_entries, sizeof *lint->entries, by_entry);
    if (num > 0)
        qsort(ranges, num, sizeof *ranges, by_range_start);
    lint->covered = NULL;
    lint->num_covered = 0;
    for (i = 0; i < num; i++)
        add_covered(lint, ranges[i].start, ranges[i].end);
    free(ranges);
}

/* A row where an instruction begins covers all of it. sfu-gen leaves out its last byte where a thread may return to the
 * function behind, because that byte is what is looked up then. */
static void complete_instructions(struct lint *lint)
{
    const uint64_t unit = lint->image.registers->code_unit;
    size_t i;

    for (i = 0; i < lint->num_covered; i++) {
        uint64_t end = (lint->covered[i].end + unit - 1) / unit * unit;

        end += cfi_is_free_start(&lint->mended, end + 1); /* x86 */
        if (i + 1 == lint->num_covered || end <= lint->covered[i + 1].start)
            lint->covered[i].end = end;
    }
}

void lint_rows(struct lint *lint)
{
    uint32_t k;
    size_t i;

    check_all_cfi(lint);
    if (!lint->open)
        return;
    for (i = 0; i < lint->tables.num; i++) {
        const struct sfu_section *s = &lint->tables.list[i];

        uint8_t *seen = zeroed(s->end, 1);

        for (k = 0; k < s->num_fdes; k++)
            check_entry(lint, s, k, seen);
        free(seen);
        lint->num_rows += s->num_rows;
    }
    if (lint->tables.num > 1)
        sort_all(lint);
    complete_instructions(lint);
    if (lint->dead > 0)
        lint_thing(
            lint, LINT_DEAD_FUNCTIONS, lint->section->name, lint->addr, 0,
            "%" PRIu64 " functions begin at 0 or in the tables: the linker has dropped them (lld, gold: COMDAT). "
            "sfu_find_text takes all from there on for code, a null call too: set the text by symbols, or use "
            "sfu-gen",
            lint->dead);
    /* The entry of a PE file is called by the firmware or by a loader. */
    if (!lint->image.object && lint->image.pe == NULL && !lint->outermost && lint->image.header.e_entry != 0 &&
        lint->version > 1)
        lint_thing(lint, LINT_NO_OUTERMOST, "", lint->image.header.e_entry, 0,
                   "no function is marked as outermost: each trace ends with an error (sfu-gen --derive, or "
                   "arch/sfu_asm.h)");
    lint->without_fp = lint->num_rows > 0 && !lint->with_fp;
    compare_with_cfi(lint);
}

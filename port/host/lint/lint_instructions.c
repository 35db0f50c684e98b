/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What single instructions say of a row: whether a frame waits there for one that it has called, and which registers
 * have been loaded back from their slots. Where no instructions can be read, all is possible, and nothing is sure.
 */
#include "lint.h"
#include "code/code.h"

/* Instructions from PC on, up to TEXT.end. */
struct reading {
    const struct code_cpu *cpu; /* NULL: there are none that can be read */
    struct code_text text;
    uint64_t pc;
};

/* Those of an object have no targets yet. */
static struct reading read_from(struct lint *lint, uint64_t start, uint64_t end)
{
    struct reading r = {lint->image.object ? NULL : code_cpu(&lint->image), {NULL, start, end}, start};

    if (r.cpu != NULL)
        r.text.bytes = image_instructions(&lint->image, start, end - start);
    if (r.text.bytes == NULL)
        r.cpu = NULL;
    else if (lint->decoder == NULL && r.cpu->open != NULL)
        lint->decoder = r.cpu->open(&lint->image);
    return r;
}

/* Reads an instruction. Returns false at the end, and where it is not known, or goes on behind the end. */
static bool read_next(const struct lint *lint, struct reading *r, struct code_fact *fact)
{
    *fact = (struct code_fact){0};
    if (r->cpu == NULL || r->pc >= r->text.end)
        return false;
    r->cpu->decode(lint->decoder, &r->text, r->pc, fact);
    if (fact->size == 0 || fact->size > r->text.end - r->pc)
        return false;
    r->pc += fact->size;
    return true;
}

void lint_close_code(struct lint *lint)
{
    const struct code_cpu *cpu = lint->decoder != NULL ? code_cpu(&lint->image) : NULL;

    if (cpu != NULL && cpu->close != NULL)
        cpu->close(lint->decoder);
}

bool lint_calls(struct lint *lint, uint64_t start, uint64_t end)
{
    struct reading r = read_from(lint, start, end);
    struct code_fact fact;

    while (read_next(lint, &r, &fact))
        if (fact.flow == CODE_CALL)
            return true;
    return r.cpu == NULL || r.pc < end;
}

/* Whether OP, a load, loads REG from a place of its own. *K: where that is, from the register that OP counts from. */
static bool loads(const struct code_op *op, unsigned reg, unsigned word, int64_t *k)
{
    unsigned i;

    *k = op->k;
    if (op->what == CODE_LOAD) {
        *k += (int64_t)(reg - op->reg) * (int64_t)word;
        return reg >= op->reg && reg <= op->last;
    }
    if (op->what != CODE_LOADS || reg >= CODE_REAL || !((uint32_t)op->from >> reg & 1))
        return false;
    for (i = 0; i < reg; i++)
        *k += (uint32_t)op->from >> i & 1 ? (int64_t)word : 0;
    return true;
}

/* Whether OP gives REG another value than it had. */
static bool changes(const struct code_op *op, unsigned reg)
{
    return reg == op->reg || (op->what == CODE_FORGET && reg > op->reg && reg <= op->last);
}

static bool stores(const struct code_op *op)
{
    return op->what == CODE_STORE || op->what == CODE_STORES || op->what == CODE_WRITE || op->what == CODE_COPY ||
           op->what == CODE_SAVE;
}

/* What is known in an instruction of a row: the CFA is CFA behind BASE. */
struct place {
    unsigned base;
    int64_t cfa;
};

/* OP is done where AT holds. Returns LOADED, a bit for each register, as it is then. */
static unsigned take_op(const struct lint *lint, const struct cfi_row *row, const struct code_op *op,
                        struct place *at, unsigned loaded)
{
    const struct registers *r = lint->image.registers;
    const struct {
        unsigned bit;
        uint32_t reg;
        const struct sfu_rule *rule;
    } of[] = {{CFI_OF_FP, r->fp, &row->fp}, {CFI_OF_RA, r->ra, &row->ra}};
    size_t i;
    int64_t k;

    if (stores(op))
        return 0;
    for (i = 0; i < sizeof of / sizeof of[0]; i++)
        if (loads(op, of[i].reg, (unsigned)r->word, &k))
            loaded =
                op->base == at->base && of[i].rule->control == RULE_DEREFERENCE && k - at->cfa == of[i].rule->offset
                    ? loaded | of[i].bit
                    : loaded & ~of[i].bit;
        else if (changes(op, of[i].reg))
            loaded &= ~of[i].bit;
    if (op->what == CODE_SET && op->reg == at->base && op->base == at->base)
        at->cfa -= op->k;
    else if (changes(op, at->base) || loads(op, at->base, (unsigned)r->word, &k))
        at->base = CODE_NONE;
    return loaded;
}

unsigned lint_loaded(struct lint *lint, const struct cfi_row *row, unsigned loaded)
{
    const bool by_register = (row->cfa.control & (RULE_REGISTER | RULE_DEREFERENCE)) == RULE_REGISTER;
    struct place at = {by_register ? row->cfa.control >> RULE_NUMBER : CODE_NONE, row->cfa.offset};
    struct reading r = read_from(lint, row->start, row->end);
    struct code_fact fact;
    unsigned i;

    while (read_next(lint, &r, &fact)) {
        for (i = 0; i < fact.num; i++)
            loaded = take_op(lint, row, &fact.op[i], &at, loaded);
        if (fact.flow != CODE_NEXT || fact.condition != 0)
            loaded = 0;
    }
    return r.cpu != NULL && r.pc == row->end ? loaded : 0;
}

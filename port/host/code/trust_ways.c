/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "trust_ways.h"
#include "state.h"
#include "trial.h"
#include "units.h"

#include <stddef.h>
#include <string.h>

const struct cfi_row *trust_row_at(struct trust *t, uint64_t pc)
{
    const struct cfi_row *list = t->cfi.list;
    const size_t num = t->cfi.num;
    size_t below = t->below;

    if (num == 0)
        return NULL;
    if (below == 0 || below > num || list[below - 1].start > pc || (below < num && list[below].start <= pc))
        below = t->below = count_up_to(list, num, sizeof *list, offsetof(struct cfi_row, start), pc);
    return below > 0 && pc < list[below - 1].end ? &list[below - 1] : NULL;
}

/* Whether a call of CALLEE comes back to NEXT although ROW begins there, which says something else: the callee returns
 * by a way that was seen, and ROW is not what the code there goes on with. Compilers know of more that never returns:
 * `syscall; ret` may be an exit, and a landing pad may lie behind it, which ROW is right for. */
bool trust_comes_back_to(const struct trust *t, uint64_t callee, uint64_t next, const struct cfi_row *row)
{
    return code_returns(t->all, callee) && code_bears_out(t->all, next, row) == CODE_CONTRADICTS;
}

/* CFI that changes behind a call, or behind the padding there, says that the call does not return, because a call that
 * does leaves the frame as it was. CFI by hand may say the same again, or something else too early. */
bool trust_is_boundary(void *ctx, const struct code_fact *fact, uint64_t pc, uint64_t next)
{
    struct trust *t = ctx;
    const struct cfi_row *a = trust_row_at(t, pc), *b = trust_row_at(t, next);

    if (a != NULL && a == b && image_is_padding(t->code->image, next, a->end)) {
        next = a->end;
        b = trust_row_at(t, next);
    }
    return a != NULL && b != NULL && a != b && b->start == next && !rows_say_same(a, b) &&
           !trust_comes_back_to(t, fact->target, next, b);
}

/* By how much SP is higher than STATE has it, if ROW says by SP where the CFA is. Returns false if it does not. */
static bool is_above(const struct trust *t, const struct cfi_row *row, const struct code_state *state,
                     int64_t *bytes)
{
    const struct sfu_rule by_sp = rule_of_register(t->cpu->sp, 0, false);
    struct code_value cfa;

    if (row == NULL || row->kind != CFI_RULES || row->cfa.control != by_sp.control)
        return false;
    cfa = code_evaluate(state, &row->cfa);
    if (cfa.base != BASE_CFA) /* a number may be one that cannot be negated */
        return false;
    *bytes = -cfa.k;
    return true;
}

/* Behind a call of what is not known the code goes on at NEXT, with FACT, in one line. CFI has followed SP up to there,
 * and says from some instruction of the line on, up to its end, that SP is higher than the code shows: the callee has
 * taken its arguments off the stack. Compilers say so where the caller makes room anew, or takes off the rest; of i386
 * clang says it some instructions late. An instruction further on that lowers SP is one that CFI by hand does not
 * follow. */
int64_t trust_pops(void *ctx, uint64_t next, const struct code_fact *fact, const struct code_state *state)
{
    struct trust *t = ctx;
    const struct code_cpu *cpu = t->cpu;
    const bool may_be_late = !cpu->link && cpu->word == 4;
    const struct code_unit *unit = code_unit_at(t->code, next);
    const uint64_t second = next + fact->size;
    struct code_fact now = *fact;
    int64_t bytes, taken = 0, before = state->reg[cpu->sp].k;
    struct code_state here;

    if (t->alone || unit == NULL || !is_above(t, trust_row_at(t, next), state, &bytes) || bytes != 0)
        return 0;
    state_copy(&here, state);
    while (now.flow == CODE_NEXT) {
        code_step(cpu, &here, &now);
        next += now.size;
        if (next >= unit->end || !unit_fact_at(t->code, next, &now) ||
            !is_above(t, trust_row_at(t, next), &here, &bytes))
            return 0;
        if (bytes != taken && next != second && (!may_be_late || here.reg[cpu->sp].k < before))
            return 0;
        taken = bytes;
        before = here.reg[cpu->sp].k;
    }
    return taken > 0 && here.reg[cpu->sp].k + taken <= cpu->sp_at_entry ? taken : 0;
}

/* The word in the frame that RULE names, or NULL. */
static const struct code_slot *slot_of(const struct code_state *state, const struct sfu_rule *rule)
{
    struct sfu_rule place = *rule;
    struct code_value at;
    unsigned i;

    if (!(rule->control & RULE_DEREFERENCE))
        return NULL;
    place.control &= ~(uint32_t)RULE_DEREFERENCE;
    at = code_evaluate(state, &place);
    for (i = 0; i < state->num; i++)
        if (state->slot[i].base == at.base && state->slot[i].k == at.k)
            return &state->slot[i];
    return NULL;
}

/* The word in the caller's frame from which an epilogue loads SP (s390x), or NULL. */
static const struct code_slot *slot_of_sp(const struct code_cpu *cpu, const struct code_state *state)
{
    unsigned i;

    for (i = 0; i < state->num; i++)
        if (state->slot[i].base == BASE_CFA && state->slot[i].k >= cpu->sp_at_entry &&
            value_is_at(&state->slot[i].value, BASE_CFA, cpu->sp_at_entry, false))
            return &state->slot[i];
    return NULL;
}

/* CFI and the state of a jump say the same of PC. SP and FP are as the jump left them, and SP's slot, which no row has;
 * all else as CFI says. */
bool trust_admit(void *ctx, uint64_t pc, struct code_state *state)
{
    struct trust *t = ctx;
    const struct cfi_row *row = trust_row_at(t, pc);
    const struct code_slot *slots[4];
    struct code_state seed;
    struct cfi_row copy;
    struct judgement j;
    unsigned i;

    if (row == NULL || row->kind != CFI_RULES)
        return false;
    copy = *row;
    judge_row(t->cpu, &(struct view){state, state, NULL, false}, &copy, &j);
    if (j.cfa != CONFIRMED || j.ra != CONFIRMED || j.fp != CONFIRMED || j.row == REFUTED)
        return false;
    memset(&seed, 0, sizeof seed);
    seed.reg[CODE_ZERO] = state->reg[CODE_ZERO];
    seed.reg[t->cpu->sp] = state->reg[t->cpu->sp];
    seed.reg[t->cpu->fp] = state->reg[t->cpu->fp];
    if (t->cpu->link && !(row->ra.control & RULE_DEREFERENCE))
        seed.reg[t->cpu->ra] = state->reg[t->cpu->ra];
    slots[0] = slot_of(state, &row->cfa);
    slots[1] = slot_of(state, &row->ra);
    slots[2] = slot_of(state, &row->fp);
    slots[3] = slot_of_sp(t->cpu, state);
    for (i = 0; i < 4; i++)
        if (slots[i] != NULL)
            seed.slot[seed.num++] = *slots[i];
    *state = seed;
    return true;
}

/* CFI bears out a jump by a table, or one from another function into this one. A table is read as far as its entries
 * could lead into the function where no comparison says how long it is, and so, perhaps, into the next table. Or what
 * the code goes on with contradicts the CFI, and bears out the jump. */
bool trust_agrees(void *ctx, uint64_t pc, const struct code_state *state)
{
    struct trust *t = ctx;
    const struct cfi_row *row = trust_row_at(t, pc);
    struct cfi_row copy;
    struct judgement j;

    if (t->alone || t->unit->says_nothing || row == NULL || row->kind != CFI_RULES)
        return t->alone || t->unit->says_nothing;
    copy = *row;
    judge_row(t->cpu, &(struct view){state, state, NULL, false}, &copy, &j);
    if (j.cfa != CORRECTED && j.ra != CORRECTED && j.fp != CORRECTED && j.row != REFUTED)
        return true;
    return code_bears_out(t->all, pc, row) == CODE_CONTRADICTS && code_ends_well(t->all, pc, state);
}

/* CFI begins to say something else of REG at NEXT. */
bool trust_restores(void *ctx, uint64_t next, unsigned reg)
{
    struct trust *t = ctx;
    const struct cfi_row *a = trust_row_at(t, next - 1), *b = trust_row_at(t, next);
    const struct sfu_rule *before, *behind;

    if (a == NULL || b == NULL || a == b)
        return false;
    before = reg == t->cpu->sp ? &a->cfa : reg == t->cpu->fp ? &a->fp : &a->ra;
    behind = reg == t->cpu->sp ? &b->cfa : reg == t->cpu->fp ? &b->fp : &b->ra;
    return !rule_is_same(before, behind);
}

/* Whether the code at PC, to which no way leads, is followed as if its CFI were right there. */
uint64_t trust_believe(void *ctx, uint64_t pc, struct code_state *state)
{
    struct trust *t = ctx;
    const struct cfi_row *row = trust_row_at(t, pc);

    if (row == NULL)
        return pc + 1;
    if (row->kind != CFI_RULES || t->alone || cfi_leads_nowhere(t->code->image, row) != NULL ||
        !code_state_of(t->cpu, row, state) ||
        (t->cpu->old_psw != 0 && cfi_ra_register(t->unit->fde) != t->cpu->ra)) /* SP's slot is not behind RA's */
        return row->end;
    t->believed = row;
    t->begin = pc;
    t->contradicts = false;
    t->followed.num = 0;
    t->row = t->unmoved = NULL;
    t->stored.ra = row->ra.control == RULE_DEREFERENCE ? row->ra.offset : 0;
    t->stored.fp = row->fp.control == RULE_DEREFERENCE ? row->fp.offset : 0;
    return pc;
}

const char trust_of_itself[] = "the CFI is not what the code makes of the CFI in front of it";
static const char of_left_ra[] =
    "the CFI has the return address below SP, and no way is seen in which the code comes there";

/* Whether ROW has the return address in a slot below where it has SP. tables.c takes its register there, as behind an
 * epilogue that has loaded it. */
static bool has_left_ra(const struct code_cpu *cpu, const struct cfi_row *row)
{
    return cpu->link && row->ra.control == RULE_DEREFERENCE &&
           row->cfa.control == rule_of_register(cpu->sp, 0, false).control &&
           (int64_t)row->ra.offset + row->cfa.offset < 0;
}

/* Where the code contradicts its CFI, that is wrong at one end or at the other: at its beginning, unless what it says
 * there is borne out by what the code returns to. Where no way is seen that has loaded RA, nothing says that it is in
 * its register. */
void trust_close_apart(void *ctx, bool is_data)
{
    struct trust *t = ctx;
    const struct cfi_row *first = t->believed;
    const bool all = t->contradicts && code_bears_out(t->all, t->begin, first) != CODE_BEARS_OUT,
               left = has_left_ra(t->cpu, first);
    size_t i;

    t->believed = NULL;
    for (i = 0; i < t->followed.num && !is_data; i++) {
        struct cfi_row *row = &t->followed.list[i];
        const bool of_first = left && row->start >= first->start && row->start < first->end;

        if (row->kind != CFI_LOST && !all && !of_first)
            continue;
        row->why = row->kind == CFI_LOST ? row->why : of_first ? of_left_ra : trust_of_itself;
        row->kind = CFI_LOST;
        rows_collect(&t->refuted, row);
    }
}

/* Whether STATE confirms all rules of ROW. */
static bool confirms(const struct trust *t, const struct code_state *state, const struct cfi_row *row)
{
    struct cfi_row copy = *row;
    struct judgement j;

    judge_row(t->cpu, &(struct view){state, state, &t->stored, false}, &copy, &j);
    return j.cfa == CONFIRMED && j.ra == CONFIRMED && j.fp == CONFIRMED;
}

/* Whether CFI changes in front of NEXT where the code does nothing that it says: behind code that does not come back,
 * which only its compiler knows. */
bool trust_comes_apart(void *ctx, uint64_t next, const struct code_state *state)
{
    struct trust *t = ctx;
    const struct cfi_row *last = trust_row_at(t, next - 1), *row = trust_row_at(t, next);

    if (last == row)
        return false;
    return last == NULL || row == NULL || row->kind != CFI_RULES || last->kind != CFI_RULES ||
           (confirms(t, state, last) && !confirms(t, state, row));
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "verdict.h"

#include <string.h>

/* ---- Rules ----------------------------------------------------------------------------------------------------- */

bool value_is_at(const struct code_value *value, unsigned base, int64_t k, bool is_signed)
{
    return value->base == base && value->k == k && value->is_signed == is_signed;
}

struct sfu_rule rule_of_register(uint32_t reg, int64_t offset, bool dereference)
{
    return (struct sfu_rule){(int32_t)offset,
                             reg << RULE_NUMBER | RULE_REGISTER | (dereference ? RULE_DEREFERENCE : 0u)};
}

/* Finds a register that holds BASE + K', and gives its rule for what is K behind: SP or FP and, if ANY, others, which
 * a reader knows in the topmost frame alone. FP is before an SP that is not sure. */
static bool rule_by_register(const struct code_cpu *cpu, const struct code_state *state, unsigned base, int64_t k,
                             bool dereference, bool any, struct sfu_rule *rule)
{
    unsigned i;

    for (i = 0; i < (any ? CODE_REAL + 2u : 2u); i++) {
        unsigned reg = i > 1 ? i - 2 : (i == 0) != state->may_pop ? cpu->sp : cpu->fp;
        const struct code_value *value = &state->reg[reg];

        if (value->base != base || value->is_signed || !offset_fits(k - value->k))
            continue;
        *rule = rule_of_register(reg, k - value->k, dereference);
        return true;
    }
    return false;
}

/* A word that holds WANTED, with or without a signature. ANY: as above. */
static bool by_slot(const struct code_cpu *cpu, const struct code_state *state, const struct code_value *wanted,
                    bool any_sign, bool any, struct sfu_rule *rule, bool *is_signed)
{
    unsigned i;

    for (i = 0; i < state->num; i++) {
        const struct code_slot *slot = &state->slot[i];

        if (slot->value.base != wanted->base || slot->value.k != wanted->k ||
            (slot->value.is_signed && !any_sign) || !offset_fits(slot->k) || slot->base == BASE_NUMBER ||
            slot->base == BASE_STRUCT)
            continue; /* what is not on a stack is not read */
        *is_signed = slot->value.is_signed;
        if (slot->base == BASE_CFA && wanted->base != BASE_CFA) {
            *rule = (struct sfu_rule){(int32_t)slot->k, RULE_DEREFERENCE};
            return true;
        }
        if (rule_by_register(cpu, state, slot->base, slot->k, true, any, rule))
            return true;
    }
    return false;
}

/* Where BASE + 0 is. */
static bool find_base(const struct code_cpu *cpu, const struct code_state *state, unsigned base,
                      struct sfu_rule *rule)
{
    const struct code_value wanted = {0, (uint8_t)base, false, 0, 0};
    bool is_signed;

    return rule_by_register(cpu, state, base, 0, false, false, rule) ||
           by_slot(cpu, state, &wanted, false, false, rule, &is_signed) ||
           rule_by_register(cpu, state, base, 0, false, true, rule) ||
           by_slot(cpu, state, &wanted, false, true, rule, &is_signed);
}

bool place_of_cfa(const struct code_cpu *cpu, const struct code_state *state, struct sfu_rule *rule)
{
    return (state->trap_is_cfa && find_base(cpu, state, BASE_TRAP, rule)) || find_base(cpu, state, BASE_CFA, rule);
}

/* What register REG had at the entry, as a base; of RA what it is for. */
static uint8_t base_of(const struct code_cpu *cpu, unsigned reg)
{
    return (uint8_t)(reg == cpu->ra ? BASE_RETURN : BASE_ENTRY + reg);
}

/* Where what register REG had at the entry is now: there, in another register or in memory. RA is looked for in memory
 * first: the row of a call holds for the frame that has called, too, and a call changes its register. */
bool place_of_entry(const struct code_cpu *cpu, const struct code_state *state, unsigned reg, bool any_sign,
                    struct sfu_rule *rule, bool *is_signed)
{
    const struct code_value wanted = {0, base_of(cpu, reg), false, 0, 0}, *value = &state->reg[reg];
    unsigned i;

    if (reg == cpu->ra && by_slot(cpu, state, &wanted, any_sign, false, rule, is_signed))
        return true;
    if (value->base == wanted.base && value->k == 0 && (any_sign || !value->is_signed)) {
        *rule = rule_of_register(reg, 0, false);
        *is_signed = value->is_signed;
        return true;
    }
    if (by_slot(cpu, state, &wanted, any_sign, false, rule, is_signed) ||
        by_slot(cpu, state, &wanted, any_sign, true, rule, is_signed))
        return true;
    for (i = 0; i < CODE_REAL; i++)
        if (value_is_at(&state->reg[i], wanted.base, 0, false)) {
            *rule = rule_of_register(i, 0, false);
            *is_signed = false;
            return true;
        }
    return false;
}

/* ---- Judgement ------------------------------------------------------------------------------------------------- */

/* What is not confirmed is not known. */
static void silence(struct judgement *j)
{
    j->cfa = j->cfa == CONFIRMED ? CONFIRMED : SILENT;
    j->ra = j->ra == CONFIRMED ? CONFIRMED : SILENT;
    j->fp = j->fp == CONFIRMED ? CONFIRMED : SILENT;
}

/* Whether RULE counts from a register that callees may change. */
static bool is_changed(const struct code_cpu *cpu, const struct sfu_rule *rule)
{
    return rule->control & RULE_REGISTER && cpu->changed >> (rule->control >> RULE_NUMBER) & 1;
}

static bool by_sp_or_fp(const struct code_cpu *cpu, const struct sfu_rule *rule)
{
    const uint32_t reg = rule->control >> RULE_NUMBER;

    return rule->control & RULE_REGISTER && (reg == cpu->sp || reg == cpu->fp);
}

/* Whether VALUE is known, and another one than what the function was entered with. What lies near SP, or is an entry of
 * a table, may be anything. */
static bool is_other(const struct code_value *value)
{
    return value->base == BASE_UNKNOWN
               ? code_is_gone(value)
               : value->base == BASE_NUMBER || value->base == BASE_WORD || value->base > BASE_NEAR;
}

/* Whether RULE is a slot below SP in the frame. */
static bool is_below_sp(const struct code_cpu *cpu, const struct code_state *state, const struct sfu_rule *rule)
{
    const struct code_value *sp = &state->reg[cpu->sp];

    return rule->control == RULE_DEREFERENCE && sp->base == BASE_CFA && rule->offset < sp->k;
}

/* Whether RULE for REG, not confirmed, is a slot that SP has left, and REG has another value than at the entry: the
 * register is what tables.c takes there. */
static bool is_left(const struct code_cpu *cpu, const struct code_state *state, const struct sfu_rule *rule,
                    unsigned reg)
{
    const struct code_value *value = &state->reg[reg];

    return is_below_sp(cpu, state, rule) && is_other(value) && !value_is_at(value, base_of(cpu, reg), 0, false);
}

/* Whether RULE is a slot below SP, at STORED, and REG still has its value: what an epilogue leaves standing. tables.c
 * mends that if it is asked to. */
static bool is_stale(const struct code_cpu *cpu, const struct code_state *state, const struct sfu_rule *rule,
                     int32_t stored, unsigned reg, bool is_signed)
{
    return is_below_sp(cpu, state, rule) && rule->offset == stored &&
           value_is_at(&state->reg[reg], base_of(cpu, reg), 0, is_signed);
}

static enum verdict judge_cfa(const struct code_cpu *cpu, const struct view *v, const struct cfi_row *row,
                              struct cfi_row *fixed)
{
    const struct code_value cfa = code_evaluate(v->state, &row->cfa), held = code_evaluate(v->held, &row->cfa);
    const bool confirmed = value_is_at(&cfa, BASE_CFA, 0, false);

    if (confirmed && value_is_at(&held, BASE_CFA, 0, false))
        return CONFIRMED;
    /* A register that callees may change is soon another one, and CFI knows better what SP or FP is, as behind a loop
     * that touches each page of a large frame. */
    if (place_of_cfa(cpu, v->held, &fixed->cfa) && (!is_changed(cpu, &fixed->cfa) || !by_sp_or_fp(cpu, &row->cfa)))
        return CORRECTED;
    fixed->cfa = row->cfa;
    return confirmed ? CONFIRMED : is_other(&cfa) && cfa.base != BASE_ALIGNED ? REFUTED : SILENT;
}

static enum verdict judge_ra(const struct code_cpu *cpu, const struct view *v, const struct cfi_row *row,
                             struct cfi_row *fixed)
{
    const struct code_value ra = code_evaluate(v->state, &row->ra), held = code_evaluate(v->held, &row->ra);
    const bool confirmed = value_is_at(&ra, BASE_RETURN, 0, row->signed_ra);

    if ((confirmed && value_is_at(&held, BASE_RETURN, 0, row->signed_ra)) ||
        (v->stored != NULL && cpu->link &&
         is_stale(cpu, v->state, &row->ra, v->stored->ra, cpu->ra, row->signed_ra)))
        return CONFIRMED;
    if (place_of_entry(cpu, v->held, cpu->ra, true, &fixed->ra, &fixed->signed_ra))
        return CORRECTED;
    fixed->ra = row->ra;
    fixed->signed_ra = row->signed_ra;
    if (confirmed)
        return CONFIRMED;
    if (cpu->link)
        return is_other(&ra) || is_left(cpu, v->state, &row->ra, cpu->ra) ? REFUTED : SILENT;
    /* x86: a call with SP at the CFA has put its own return address there. */
    return is_other(&ra) || is_other(&held) ? REFUTED : SILENT;
}

static enum verdict judge_fp(const struct code_cpu *cpu, const struct view *v, const struct cfi_row *row,
                             struct cfi_row *fixed)
{
    const uint8_t base = base_of(cpu, cpu->fp);
    const struct code_value fp = code_evaluate(v->state, &row->fp), held = code_evaluate(v->held, &row->fp);
    const bool confirmed = value_is_at(&fp, base, 0, false);
    bool unused;

    if ((confirmed && value_is_at(&held, base, 0, false)) ||
        (v->stored != NULL && is_stale(cpu, v->state, &row->fp, v->stored->fp, cpu->fp, false)))
        return CONFIRMED;
    if (place_of_entry(cpu, v->held, cpu->fp, false, &fixed->fp, &unused))
        return CORRECTED;
    fixed->fp = row->fp;
    if (confirmed)
        return CONFIRMED;
    return is_other(&fp) || is_left(cpu, v->state, &row->fp, cpu->fp) ? REFUTED : SILENT;
}

bool rule_is_register(const struct sfu_rule *rule)
{
    return (rule->control & (RULE_REGISTER | RULE_DEREFERENCE)) == RULE_REGISTER;
}

/* Whether a row of which J judges the rules mixes this function's frame with something else. Where SP is on another
 * stack, all of its rules may be right for that: so a switch of threads begins. Then none may be of this frame, and a
 * call has left its own return address for no other thread. */
static bool is_mixed(const struct code_cpu *cpu, const struct code_state *state, const struct cfi_row *row,
                     const struct judgement *j)
{
    const struct code_value *sp = &state->reg[cpu->sp];
    const bool is_elsewhere = code_is_gone(sp) && sp->k != CODE_OF_MODE;

    if (sp->base == BASE_CFA || sp->base == BASE_ALIGNED || j->cfa == CONFIRMED)
        return j->cfa == REFUTED || j->ra == REFUTED || j->fp == REFUTED;
    if (sp->base == BASE_UNKNOWN && !code_is_gone(sp) && state->has_called && rule_is_register(&row->ra) &&
        j->ra == REFUTED)
        return true;
    return (is_elsewhere || ((sp->base == BASE_NUMBER || sp->base >= BASE_RETURN) && j->cfa != CORRECTED)) &&
           row->cfa.control >> RULE_NUMBER == cpu->sp &&
           ((j->ra == CONFIRMED && rule_is_register(&row->ra)) ||
            (j->fp == CONFIRMED && rule_is_register(&row->fp)));
}

/* Whether the CFA of ROW is another place in the frame, where nothing mends it. */
static bool is_other_cfa(const struct view *v, const struct cfi_row *row)
{
    const struct code_value cfa = code_evaluate(v->state, &row->cfa);

    return cfa.base == BASE_CFA && (cfa.k < 0 || (cfa.k > 0 && !v->mended));
}

void judge_row(const struct code_cpu *cpu, const struct view *v, struct cfi_row *row, struct judgement *j)
{
    struct cfi_row fixed = *row;

    *j = (struct judgement){SILENT, SILENT, SILENT, SILENT};
    if (v->state->caller != CALLER_KNOWN)
        return;
    j->cfa = judge_cfa(cpu, v, row, &fixed);
    j->ra = judge_ra(cpu, v, row, &fixed);
    j->fp = judge_fp(cpu, v, row, &fixed);
    if (is_mixed(cpu, v->state, row, j)) {
        j->row = REFUTED;
        return;
    }
    /* The rules of a row belong together: those for RA and FP count from its CFA. Where SP is not known, as behind
     * a switch to another stack, code does not know whose frame this is. */
    if ((j->cfa == CONFIRMED || j->cfa == CORRECTED) && (j->ra == CONFIRMED || j->ra == CORRECTED) &&
        (j->fp == CONFIRMED || j->fp == CORRECTED) && v->state->reg[cpu->sp].base != BASE_UNKNOWN) {
        j->row = rule_is_same(&fixed.cfa, &row->cfa) && rule_is_same(&fixed.ra, &row->ra) &&
                         rule_is_same(&fixed.fp, &row->fp) && fixed.signed_ra == row->signed_ra
                     ? CONFIRMED
                     : CORRECTED;
        *row = fixed;
    } else if (j->cfa == CORRECTED && is_other_cfa(v, row)) {
        j->row = REFUTED;
    } else {
        silence(j);
    }
}

bool derive_row(const struct code_cpu *cpu, const struct code_state *state, struct cfi_row *row)
{
    bool unused;

    memset(row, 0, sizeof *row);
    row->by_code = true;
    row->trap = state->caller == CALLER_INTERRUPTED;
    if (state->caller == CALLER_NONE) {
        row->kind = CFI_OUTERMOST;
        return true;
    }
    return state->caller != CALLER_UNCERTAIN && state->reg[cpu->sp].base != BASE_UNKNOWN &&
           place_of_cfa(cpu, state, &row->cfa) &&
           place_of_entry(cpu, state, cpu->ra, true, &row->ra, &row->signed_ra) &&
           place_of_entry(cpu, state, cpu->fp, false, &row->fp, &unused);
}

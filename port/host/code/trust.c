/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Whom to believe where call frame information (CFI) and machine code speak of the same instruction. A rule of CFI
 * stays where code confirms it, and where code does not know. Where code knows another place, it is right: CFI is
 * written beside the code by somebody, who may have left it out, and the code is what runs.
 */
#include "enter.h"
#include "trial.h"
#include "uncalled.h"
#include "units.h"
#include "vectors.h"

#include "common/sigreturn.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rules ----------------------------------------------------------------------------------------------------- */

static bool is_at(const struct code_value *value, unsigned base, int64_t k, bool is_signed)
{
    return value->base == base && value->k == k && value->is_signed == is_signed;
}

static struct sfu_rule rule_of(uint32_t reg, int64_t offset, bool dereference)
{
    return (struct sfu_rule){(int32_t)offset,
                             reg << RULE_NUMBER | RULE_REGISTER | (dereference ? RULE_DEREFERENCE : 0u)};
}

static bool same_rule(const struct sfu_rule *a, const struct sfu_rule *b)
{
    return a->control == b->control && a->offset == b->offset;
}

static bool fits(int64_t offset)
{
    return offset == (int32_t)offset;
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

        if (value->base != base || value->is_signed || !fits(k - value->k))
            continue;
        *rule = rule_of(reg, k - value->k, dereference);
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
            (slot->value.is_signed && !any_sign) || !fits(slot->k) || slot->base == BASE_NUMBER ||
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

static bool find_cfa(const struct code_cpu *cpu, const struct code_state *state, struct sfu_rule *rule)
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
static bool find_entry(const struct code_cpu *cpu, const struct code_state *state, unsigned reg, bool any_sign,
                       struct sfu_rule *rule, bool *is_signed)
{
    const struct code_value wanted = {0, base_of(cpu, reg), false, 0, 0}, *value = &state->reg[reg];
    unsigned i;

    if (reg == cpu->ra && by_slot(cpu, state, &wanted, any_sign, false, rule, is_signed))
        return true;
    if (value->base == wanted.base && value->k == 0 && (any_sign || !value->is_signed)) {
        *rule = rule_of(reg, 0, false);
        *is_signed = value->is_signed;
        return true;
    }
    if (by_slot(cpu, state, &wanted, any_sign, false, rule, is_signed) ||
        by_slot(cpu, state, &wanted, any_sign, true, rule, is_signed))
        return true;
    for (i = 0; i < CODE_REAL; i++)
        if (is_at(&state->reg[i], wanted.base, 0, false)) {
            *rule = rule_of(i, 0, false);
            *is_signed = false;
            return true;
        }
    return false;
}

/* ---- Judgement ------------------------------------------------------------------------------------------------- */

/* REFUTED: what the rule names is something else for sure, and the code does not know where it should be. */
enum verdict { CONFIRMED, SILENT, CORRECTED, REFUTED };

/* REFUTED: the row is wrong, and there is no other. */
struct judgement {
    enum verdict cfa, ra, fp, row;
};

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
    return value->base == BASE_UNKNOWN ? code_is_gone(value)
                                       : value->base == BASE_NUMBER || value->base > BASE_NEAR;
}

/* The slots that rules named last for RA and FP, and that had them, from the CFA; or 0. */
struct stored {
    int32_t ra, fp;
};

/* What holds at an instruction: in front of it and, if it is a call, in the frame that waits for the callee, which a
 * lookup of the return address finds by the same row. A reader knows no registers there but SP and FP. Elsewhere both
 * are the same. */
struct view {
    const struct code_state *state, *held;
    const struct stored *stored; /* by the instructions in front of it; or NULL */
};

/* Whether RULE is a slot below SP, at STORED, and REG still has its value: what an epilogue leaves standing. tables.c
 * mends that if it is asked to. */
static bool is_stale(const struct code_cpu *cpu, const struct code_state *state, const struct sfu_rule *rule,
                     int32_t stored, unsigned reg, bool is_signed)
{
    const struct code_value *sp = &state->reg[cpu->sp];

    return rule->control == RULE_DEREFERENCE && sp->base == BASE_CFA && rule->offset < sp->k &&
           rule->offset == stored && is_at(&state->reg[reg], base_of(cpu, reg), 0, is_signed);
}

static enum verdict judge_cfa(const struct code_cpu *cpu, const struct view *v, const struct cfi_row *row,
                              struct cfi_row *fixed)
{
    const struct code_value cfa = code_evaluate(v->state, &row->cfa), held = code_evaluate(v->held, &row->cfa);
    const bool confirmed = is_at(&cfa, BASE_CFA, 0, false);

    if (confirmed && is_at(&held, BASE_CFA, 0, false))
        return CONFIRMED;
    /* A register that callees may change is soon another one, and CFI knows better what SP or FP is, as behind a loop
     * that touches each page of a large frame. */
    if (find_cfa(cpu, v->held, &fixed->cfa) && (!is_changed(cpu, &fixed->cfa) || !by_sp_or_fp(cpu, &row->cfa)))
        return CORRECTED;
    fixed->cfa = row->cfa;
    return confirmed ? CONFIRMED : is_other(&cfa) && cfa.base != BASE_ALIGNED ? REFUTED : SILENT;
}

static enum verdict judge_ra(const struct code_cpu *cpu, const struct view *v, const struct cfi_row *row,
                             struct cfi_row *fixed)
{
    const struct code_value ra = code_evaluate(v->state, &row->ra), held = code_evaluate(v->held, &row->ra);
    const bool confirmed = is_at(&ra, BASE_RETURN, 0, row->signed_ra);

    if ((confirmed && is_at(&held, BASE_RETURN, 0, row->signed_ra)) ||
        (v->stored != NULL && cpu->link &&
         is_stale(cpu, v->state, &row->ra, v->stored->ra, cpu->ra, row->signed_ra)))
        return CONFIRMED;
    if (find_entry(cpu, v->held, cpu->ra, true, &fixed->ra, &fixed->signed_ra))
        return CORRECTED;
    fixed->ra = row->ra;
    fixed->signed_ra = row->signed_ra;
    return confirmed ? CONFIRMED : is_other(&ra) ? REFUTED : SILENT;
}

static enum verdict judge_fp(const struct code_cpu *cpu, const struct view *v, const struct cfi_row *row,
                             struct cfi_row *fixed)
{
    const uint8_t base = base_of(cpu, cpu->fp);
    const struct code_value fp = code_evaluate(v->state, &row->fp), held = code_evaluate(v->held, &row->fp);
    const bool confirmed = is_at(&fp, base, 0, false);
    bool unused;

    if ((confirmed && is_at(&held, base, 0, false)) ||
        (v->stored != NULL && is_stale(cpu, v->state, &row->fp, v->stored->fp, cpu->fp, false)))
        return CONFIRMED;
    if (find_entry(cpu, v->held, cpu->fp, false, &fixed->fp, &unused))
        return CORRECTED;
    fixed->fp = row->fp;
    return confirmed ? CONFIRMED : is_other(&fp) ? REFUTED : SILENT;
}

static bool is_register(const struct sfu_rule *rule)
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

    if (sp->base == BASE_CFA || sp->base == BASE_ALIGNED || j->cfa == CONFIRMED)
        return j->cfa == REFUTED || j->ra == REFUTED || j->fp == REFUTED;
    if (sp->base == BASE_UNKNOWN && !code_is_gone(sp) && state->has_called && is_register(&row->ra) &&
        j->ra == REFUTED)
        return true;
    return (code_is_gone(sp) || ((sp->base == BASE_NUMBER || sp->base >= BASE_RETURN) && j->cfa != CORRECTED)) &&
           row->cfa.control >> RULE_NUMBER == cpu->sp &&
           ((j->ra == CONFIRMED && is_register(&row->ra)) || (j->fp == CONFIRMED && is_register(&row->fp)));
}

/* Whether the CFA of ROW is another place in the frame. */
static bool is_other_cfa(const struct code_state *state, const struct cfi_row *row)
{
    const struct code_value cfa = code_evaluate(state, &row->cfa);

    return cfa.base == BASE_CFA && cfa.k != 0;
}

/* Judges the rules of ROW by what holds at its PC, and corrects them. */
static void judge(const struct code_cpu *cpu, const struct view *v, struct cfi_row *row, struct judgement *j)
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
        j->row = same_rule(&fixed.cfa, &row->cfa) && same_rule(&fixed.ra, &row->ra) &&
                         same_rule(&fixed.fp, &row->fp) && fixed.signed_ra == row->signed_ra
                     ? CONFIRMED
                     : CORRECTED;
        *row = fixed;
    } else if (j->cfa == CORRECTED && is_other_cfa(v->state, row) && !cpu->mended_later) {
        j->row = REFUTED;
    } else {
        silence(j);
    }
}

/* The row that STATE says, without any CFI. Returns false if a part of it is not known. */
static bool derive(const struct code_cpu *cpu, const struct code_state *state, struct cfi_row *row)
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
           find_cfa(cpu, state, &row->cfa) && find_entry(cpu, state, cpu->ra, true, &row->ra, &row->signed_ra) &&
           find_entry(cpu, state, cpu->fp, false, &row->fp, &unused);
}

/* ---- One entry of CFI ------------------------------------------------------------------------------------------ */

struct rows {
    struct cfi_row *list;
    size_t num;
};

/* A cfi_row_fn. */
static void collect(void *ctx, const struct cfi_row *row)
{
    struct rows *rows = ctx;

    rows->list = grow(rows->list, rows->num, sizeof *rows->list);
    rows->list[rows->num++] = *row;
}

/* What is being compared. */
struct trust {
    const struct code *code;
    struct code *all; /* the same */
    struct code_unit *unit;
    const struct code_cpu *cpu;
    struct rows cfi, fixed;
    const struct cfi_row *row; /* of the last instruction, if its CFA was confirmed; or NULL */
    uint64_t next;             /* where the last instruction ends */
    uint64_t callee;           /* what the last instruction calls, or 0 */
    bool doubtful;             /* ways are not what they seem */
    bool called_by_jumps;      /* which leave a return address in its register, from frames of several sizes */
    bool alone;                /* CFI does not count */
    struct code_lost *lost;    /* of an interrupt's entry, in any order */
    size_t num_lost;
    bool *read; /* by offset: the code says what holds at the instruction; or nobody comes there */
    struct stored stored;
    /* A row that does not follow SP, which the code has moved by a number that is not known. */
    const struct cfi_row *unmoved;
    bool moves;      /* an instruction in front, and not who comes to the unit, may have moved SP so */
    uint64_t detour; /* where the last detour begins that was met, as of enum code_detour, or 0 */
    const struct cfi_row *counted;  /* the first row that begins at one; or NULL */
    const struct cfi_row *believed; /* of the code that is followed, to which no way leads: of BEGIN; or NULL */
    uint64_t begin;
    bool contradicts;       /* that code does another thing than the CFI of it says */
    struct rows followed;   /* the CFI's, of its instructions: lost ones are wrong */
    struct rows refuted;    /* all that are wrong in such code */
    struct code_report own; /* of this entry */
};

/* The row of CFI for PC, or NULL. */
static const struct cfi_row *row_at(struct trust *t, uint64_t pc)
{
    size_t below = count_up_to(t->cfi.list, t->cfi.num, sizeof *t->cfi.list, offsetof(struct cfi_row, start), pc);

    return below > 0 && pc < t->cfi.list[below - 1].end ? &t->cfi.list[below - 1] : NULL;
}

static bool same_rules(const struct cfi_row *a, const struct cfi_row *b)
{
    return a->kind == b->kind && a->trap == b->trap && a->signed_ra == b->signed_ra &&
           same_rule(&a->cfa, &b->cfa) && same_rule(&a->ra, &b->ra) && same_rule(&a->fp, &b->fp);
}

/* Whether a call of CALLEE comes back to NEXT although ROW begins there, which says something else: the callee returns
 * by a way that was seen, and ROW is not what the code there goes on with. Compilers know of more that never returns:
 * `syscall; ret` may be an exit, and a landing pad may lie behind it, which ROW is right for. */
static bool comes_back_to(const struct trust *t, uint64_t callee, uint64_t next, const struct cfi_row *row)
{
    return code_returns(t->all, callee) && code_bears_out(t->all, next, row) == CODE_CONTRADICTS;
}

/* CFI that changes behind a call, or behind the padding there, says that the call does not return, because a call that
 * does leaves the frame as it was. CFI by hand may say the same again, or something else too early. */
static bool is_boundary(void *ctx, const struct code_fact *fact, uint64_t pc, uint64_t next)
{
    struct trust *t = ctx;
    const struct cfi_row *a = row_at(t, pc), *b = row_at(t, next);

    if (a != NULL && a == b && image_is_padding(t->code->image, next, a->end)) {
        next = a->end;
        b = row_at(t, next);
    }
    return a != NULL && b != NULL && a != b && b->start == next && !same_rules(a, b) &&
           !comes_back_to(t, fact->target, next, b);
}

/* Behind a call of what is not known SP is moved down, and CFI, which has followed SP up to here, says that the CFA is
 * as far from it as before: the callee has taken its arguments off the stack, and the caller makes room anew. */
static int64_t pops(void *ctx, uint64_t next, const struct code_fact *fact, const struct code_state *state)
{
    struct trust *t = ctx;
    const struct code_cpu *cpu = t->cpu;
    const struct cfi_row *a = row_at(t, next), *b = row_at(t, next + fact->size);
    const struct code_op *op = &fact->op[0];
    const struct code_value *sp = &state->reg[cpu->sp];
    struct code_value cfa;

    if (t->alone || a == NULL || b == NULL || a->kind != CFI_RULES || b->kind != CFI_RULES || fact->num == 0 ||
        fact->flow != CODE_NEXT || op->what != CODE_SET || op->reg != cpu->sp || op->base != cpu->sp ||
        op->k >= 0 || sp->base != BASE_CFA || sp->k - op->k > cpu->sp_at_entry || !same_rule(&a->cfa, &b->cfa))
        return 0;
    cfa = code_evaluate(state, &a->cfa);
    return is_at(&cfa, BASE_CFA, 0, false) && a->cfa.control == rule_of(cpu->sp, 0, false).control ? -op->k : 0;
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
            is_at(&state->slot[i].value, BASE_CFA, cpu->sp_at_entry, false))
            return &state->slot[i];
    return NULL;
}

/* CFI and the state of a jump say the same of PC. SP and FP are as the jump left them, and SP's slot, which no row has;
 * all else as CFI says. */
static bool admit(void *ctx, uint64_t pc, struct code_state *state)
{
    struct trust *t = ctx;
    const struct cfi_row *row = row_at(t, pc);
    const struct code_slot *slots[4];
    struct code_state seed;
    struct cfi_row copy;
    struct judgement j;
    unsigned i;

    if (row == NULL || row->kind != CFI_RULES)
        return false;
    copy = *row;
    judge(t->cpu, &(struct view){state, state, NULL}, &copy, &j);
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
 * could lead into the function where no comparison says how long it is, and so, perhaps, into the next table. */
static bool agrees(void *ctx, uint64_t pc, const struct code_state *state)
{
    struct trust *t = ctx;
    const struct cfi_row *row = row_at(t, pc);
    struct cfi_row copy;
    struct judgement j;

    if (t->alone || row == NULL || row->kind != CFI_RULES)
        return t->alone;
    copy = *row;
    judge(t->cpu, &(struct view){state, state, NULL}, &copy, &j);
    return j.cfa != CORRECTED && j.ra != CORRECTED && j.fp != CORRECTED && j.row != REFUTED;
}

/* CFI begins to say something else of REG at NEXT. */
static bool restores(void *ctx, uint64_t next, unsigned reg)
{
    struct trust *t = ctx;
    const struct cfi_row *a = row_at(t, next - 1), *b = row_at(t, next);
    const struct sfu_rule *before, *behind;

    if (a == NULL || b == NULL || a == b)
        return false;
    before = reg == t->cpu->sp ? &a->cfa : reg == t->cpu->fp ? &a->fp : &a->ra;
    behind = reg == t->cpu->sp ? &b->cfa : reg == t->cpu->fp ? &b->fp : &b->ra;
    return !same_rule(before, behind);
}

/* Whether the code at PC, to which no way leads, is followed as if its CFI were right there. */
static uint64_t believe(void *ctx, uint64_t pc, struct code_state *state)
{
    struct trust *t = ctx;
    const struct cfi_row *row = row_at(t, pc);

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

static const char of_itself[] = "the CFI is not what the code makes of the CFI in front of it";

/* Where the code contradicts its CFI, that is wrong at one end or at the other: at its beginning, unless what it says
 * there is borne out by what the code returns to. */
static void close_apart(void *ctx, bool is_data)
{
    struct trust *t = ctx;
    const bool all = t->contradicts && code_bears_out(t->all, t->begin, t->believed) != CODE_BEARS_OUT;
    size_t i;

    t->believed = NULL;
    for (i = 0; i < t->followed.num && !is_data; i++) {
        struct cfi_row *row = &t->followed.list[i];

        if (row->kind != CFI_LOST && !all)
            continue;
        row->why = row->kind == CFI_LOST ? row->why : of_itself;
        row->kind = CFI_LOST;
        collect(&t->refuted, row);
    }
}

/* Whether STATE confirms all rules of ROW. */
static bool confirms(const struct trust *t, const struct code_state *state, const struct cfi_row *row)
{
    struct cfi_row copy = *row;
    struct judgement j;

    judge(t->cpu, &(struct view){state, state, &t->stored}, &copy, &j);
    return j.cfa == CONFIRMED && j.ra == CONFIRMED && j.fp == CONFIRMED;
}

/* Whether CFI changes in front of NEXT where the code does nothing that it says: behind code that does not come back,
 * which only its compiler knows. */
static bool comes_apart(void *ctx, uint64_t next, const struct code_state *state)
{
    struct trust *t = ctx;
    const struct cfi_row *last = row_at(t, next - 1), *row = row_at(t, next);

    if (last == row)
        return false;
    return last == NULL || row == NULL || row->kind != CFI_RULES || last->kind != CFI_RULES ||
           (confirms(t, state, last) && !confirms(t, state, row));
}

static const char of_mode[] = "the interrupted SP is that of a mode of the CPU, which no row can ask for";
static const char from_program[] =
    "where a program was interrupted, SP and SS lie behind what the CPU has pushed, and no row can tell";

/* Why STATE, that of an interrupt's entry, gives no row. */
static const char *why_lost(struct trust *t, const struct code_state *state)
{
    const struct code_cpu *cpu = t->cpu;
    struct sfu_rule rule;
    bool unused;

    if (t->code->programs && state->caller == CALLER_INTERRUPTED)
        return from_program;
    if (cpu->banked && state->caller == CALLER_INTERRUPTED)
        return of_mode;
    if (t->unit->lost_to == LOST_BY_PROGRAM)
        return "an exception's entry jumps here, and the return address is still that of what was interrupted: "
               "a call instead of the jump helps; or, where only programs are interrupted so, --entry=NAME:start";
    if (state->caller == CALLER_UNCERTAIN)
        return "ways meet here that were entered in another way: by an interrupt, a call, or at a start; a call "
               "instead of a jump to here helps (in C: -fno-optimize-sibling-calls)";
    if (state->has_parted && cpu->no_pc == NULL && !find_entry(cpu, state, cpu->ra, true, &rule, &unused))
        return "entries meet here that differ in how far SP is from what the CPU has pushed, as if only one of "
               "them "
               "had an error code";
    if (!find_entry(cpu, state, cpu->ra, true, &rule, &unused))
        return cpu->no_pc != NULL && (state->reg[CODE_PC].base == BASE_RETURN || state->low_core)
                   ? cpu->no_pc
                   : "the code does not show where the interrupted PC is";
    if (state->reg[cpu->sp].base == BASE_UNKNOWN)
        return "the code does not show what SP is";
    if (!find_cfa(cpu, state, &rule))
        return "the code does not show where a row could find the interrupted SP";
    if (!find_entry(cpu, state, cpu->fp, false, &rule, &unused))
        return "the code does not show where the interrupted FP is";
    if (!code_is_sure(t->code, t->unit, state))
        return "SP changes to another stack, and the code does not end in a return from there";
    return "the row would count from a register that is not known while the function called here runs";
}

/* Notes the SIZE bytes at PC as ones without a row. */
static void lose(struct trust *t, uint64_t pc, unsigned size, const char *why)
{
    t->lost = grow(t->lost, t->num_lost, sizeof *t->lost);
    t->lost[t->num_lost++] = (struct code_lost){pc, pc + size, why};
}

/* What holds at the instruction of FACT, in front of which STATE does. HELD is room for a state. A callee that returns
 * with another FP has that already while it is above this frame. */
static struct view view_of(const struct code *code, const struct code_fact *fact, const struct code_state *state,
                           struct code_state *held)
{
    unsigned i;

    if (fact->flow != CODE_CALL || fact->link != 0)
        return (struct view){state, state, NULL};
    code_hold(code->cpu, held, state, fact->target != 0 ? code_unit_at(code, fact->target) : NULL);
    for (i = 0; i < CODE_REAL + 2u; i++)
        if (i != code->cpu->sp && i != code->cpu->fp)
            memset(&held->reg[i], 0, sizeof held->reg[i]);
    return (struct view){state, held, NULL};
}

/* Takes what the code alone says of the SIZE bytes at PC. */
static void take_alone(struct trust *t, uint64_t pc, unsigned size, const struct view *v)
{
    struct cfi_row row;

    if (size == 0)
        return;
    if (!code_is_sure(t->code, t->unit, v->state) || !derive(t->cpu, v->held, &row) ||
        (row.trap && (t->code->programs || t->cpu->banked))) {
        if (v->state->caller == CALLER_INTERRUPTED || v->state->caller == CALLER_UNCERTAIN)
            lose(t, pc, size, why_lost(t, v->state));
        else if (t->unit->lost_to == LOST_BY_FRAME)
            lose(t, pc, size, "functions jump here with frames that differ, of which its CFI says nothing");
        return;
    }
    t->own.corrected += size;
    row.start = pc;
    row.end = pc + size;
    collect(&t->fixed, &row);
}

/* Why the code takes away a row that J has judged. */
static const char *why_refuted(const struct judgement *j)
{
    return j->ra == REFUTED   ? "the code has overwritten the return address, and no copy of it is in reach"
           : j->fp == REFUTED ? "the code has overwritten FP, and no copy of it is in reach"
                              : "the code has changed SP, and the CFA is not in reach";
}

/* Counts SIZE bytes whose row J has judged. */
static void count_judged(struct code_report *own, const struct judgement *j, unsigned size)
{
    own->reached += size;
    if (j->row == REFUTED) {
        own->lost += size;
        return;
    }
    if (j->cfa == CONFIRMED && j->ra == CONFIRMED && j->fp == CONFIRMED)
        own->confirmed += size;
    if (j->cfa == SILENT || j->ra == SILENT || j->fp == SILENT)
        own->silent += size;
    if (j->row != CORRECTED)
        return;
    own->corrected += size;
    own->cfa += j->cfa == CORRECTED ? size : 0;
    own->ra += j->ra == CORRECTED ? size : 0;
    own->fp += j->fp == CORRECTED ? size : 0;
}

/* Whether CFI changes the rule for the CFA from that of LAST to that of ROW where the code, in STATE, does nothing to
 * it: LAST's is still true, and ROW's is not. Nobody comes this way. The cold part of a function may begin like that,
 * behind a call or an exception that does not come back. */
static bool is_other_way(const struct code_state *state, const struct cfi_row *last, const struct cfi_row *row)
{
    const struct code_value cfa = code_evaluate(state, &last->cfa);

    return !same_rule(&last->cfa, &row->cfa) && is_at(&cfa, BASE_CFA, 0, false);
}

/* Whether ROW, which holds at PC as far as CFI says, counts from an SP or FP of which STATE does not know what it
 * is, and the code shows that it is not what ROW says. One that the code has taken from elsewhere must be shown to
 * be right: behind it another thread may go on, whose frame has the shape that ROW says, or nobody does
 * (longjmp). */
static bool is_refuted_by_end(const struct trust *t, uint64_t pc, const struct code_state *state,
                              const struct cfi_row *row)
{
    const struct code_value *from;
    enum code_bearing bearing;

    if (state->caller != CALLER_KNOWN || !code_counts_from(t->cpu, row))
        return false;
    from = &state->reg[row->cfa.control >> RULE_NUMBER];
    if (from->base != BASE_UNKNOWN)
        return false;
    bearing = code_bears_out(t->all, pc, row);
    return bearing == CODE_CONTRADICTS || (bearing == CODE_UNDECIDED && code_is_gone(from));
}

/* Whether ROW, which is the CFI's at the instruction of FACT, is wrong on one of two ways that flags decide between: a
 * row is right for both, or it is none. */
static bool is_refuted_by_flags(const struct trust *t, const struct code_fact *fact, const struct cfi_row *row)
{
    const struct code_state *const *ways = t->unit->ways;
    struct code_value cfa[2];
    unsigned i;

    for (i = 0; ways != NULL && i < 2; i++) {
        struct code_state held;
        struct view v = view_of(t->code, fact, ways[i], &held);
        struct cfi_row copy = *row;
        struct judgement j;

        v.stored = &t->stored;
        judge(t->cpu, &v, &copy, &j);
        if (j.row == CORRECTED || j.row == REFUTED)
            return true;
        cfa[i] = code_evaluate(ways[i], &row->cfa);
    }
    return ways != NULL && cfa[0].base == cfa[1].base && cfa[0].base > BASE_NEAR && cfa[0].k != cfa[1].k;
}

/* How many bytes at PC a row is for. What holds in front of an instruction that nobody knows is known: it may be there
 * to fault. Data is none: what leads to it is no way. */
static unsigned bytes_alone(const struct trust *t, uint64_t pc, const struct code_fact *fact)
{
    if (fact->size != 0)
        return fact->size;
    return t->cpu->data_end != NULL && t->cpu->data_end(t->all->decoder, pc) != 0 ? 0 : t->cpu->align;
}

/* A jump to where nobody knows may lead to the place at which STATE holds. Leaves in STATE what holds for that, too.
 * Returns false if there is none. */
static bool widen(const struct trust *t, struct code_state *state)
{
    if (t->unit->anywhere == NULL || state->caller != CALLER_KNOWN)
        return false;
    code_join(t->cpu, state, t->unit->anywhere);
    return true;
}

/* Judges ROW at the instruction of FACT, in front of which STATE holds. Of several places that the code knows, one that
 * is right for those jumps, too, is better. */
static void judge_at(const struct trust *t, const struct code_fact *fact, const struct code_state *state,
                     struct cfi_row *row, struct judgement *j)
{
    struct cfi_row other = *row;
    struct code_state held, both;
    struct judgement of_both;
    struct view v = view_of(t->code, fact, state, &held);

    v.stored = &t->stored;
    judge(t->cpu, &v, row, j);
    if (j->row != CORRECTED)
        return;
    both = *state;
    if (!widen(t, &both))
        return;
    v = view_of(t->code, fact, &both, &held);
    v.stored = &t->stored;
    judge(t->cpu, &v, &other, &of_both);
    if (of_both.row != CORRECTED)
        return;
    *row = other;
    *j = of_both;
}

/* The same without CFI. */
static void take_at(struct trust *t, uint64_t pc, const struct code_fact *fact, const struct code_state *state)
{
    struct code_state held, both;
    struct view v = view_of(t->code, fact, state, &held);
    struct cfi_row row;

    if (t->unit->anywhere != NULL) {
        both = *state;
        if (widen(t, &both)) {
            v = view_of(t->code, fact, &both, &held);
            if (!derive(t->cpu, v.held, &row))
                v = view_of(t->code, fact, state, &held);
        }
    }
    take_alone(t, pc, bytes_alone(t, pc, fact), &v);
}

/* Whether ROW, which begins at PC, is of another way than the instruction in front of it: J says that the code corrects
 * the CFA of ROW, and it has confirmed that of the row there. Behind a call that comes back it is of the same way. */
static bool begins_other_way(const struct trust *t, uint64_t pc, const struct code_state *state,
                             const struct cfi_row *row, const struct judgement *j)
{
    return t->row != NULL && t->row != row && t->next == pc && row->start == pc && pc != t->detour &&
           j->cfa == CORRECTED && is_other_way(state, t->row, row) && !comes_back_to(t, t->callee, pc, row);
}

/* Whether FACT moves SP by a number that is not known, if SP has a place of its own behind it. */
static bool moves_sp(const struct code_cpu *cpu, const struct code_fact *fact)
{
    unsigned i;

    for (i = 0; i < fact->num; i++)
        if ((fact->op[i].what == CODE_ALIGN || fact->op[i].what == CODE_SET || fact->op[i].what == CODE_SUM) &&
            fact->op[i].reg == cpu->sp)
            return true;
    return false;
}

/* Whether ROW, which counts from SP, is as if the code had not moved that by a number that is not known: it is the row
 * in front of the instruction that does, or CFI has no other one. Who returns has put SP back. */
static bool is_left_behind(const struct trust *t, const struct code_fact *fact, const struct code_state *state,
                           const struct cfi_row *row)
{
    const bool called = t->called_by_jumps && !t->moves;

    return state->reg[t->cpu->sp].base == BASE_ALIGNED && state->caller == CALLER_KNOWN &&
           row->cfa.control == rule_of(t->cpu->sp, 0, false).control && fact->flow != CODE_RETURN &&
           ((t->unit->says_nothing && !called) || t->unmoved == row);
}

/* Why ROW, which is the CFI's at the instruction of FACT, and which J has judged in front of it, is wrong; or NULL.
 * Leaves in J that it is. */
static const char *refute(const struct trust *t, uint64_t pc, const struct code_fact *fact,
                          const struct code_state *state, const struct cfi_row *row, struct judgement *j)
{
    if (j->row == SILENT && is_refuted_by_flags(t, fact, row)) {
        j->row = REFUTED;
        return "flags decide where the frame is, and the CFI is right for one of two ways at most";
    }
    if (j->row == SILENT && is_left_behind(t, fact, state, row)) {
        j->row = REFUTED;
        return "the code has moved SP by a number that is not known, and the CFI does not say so";
    }
    if (j->row != REFUTED && !is_refuted_by_end(t, pc, state, row))
        return NULL;
    j->row = REFUTED;
    return why_refuted(j);
}

/* Notes the slots that ROW, the CFI's, names, and of which J says that they are right. */
static void note_stored(struct trust *t, const struct cfi_row *row, const struct judgement *j)
{
    if (j->ra == CONFIRMED && row->ra.control == RULE_DEREFERENCE)
        t->stored.ra = row->ra.offset;
    if (j->fp == CONFIRMED && row->fp.control == RULE_DEREFERENCE)
        t->stored.fp = row->fp.offset;
}

/* Judges ROW, which is the CFI's, at the instruction of FACT, in front of which STATE holds, and takes what the code
 * knows better. */
static void compare_row(struct trust *t, uint64_t pc, const struct code_fact *fact, const struct code_state *state,
                        const struct cfi_row *row)
{
    struct cfi_row fixed = *row;
    struct judgement j;
    const char *why;

    judge_at(t, fact, state, &fixed, &j);
    t->doubtful |= begins_other_way(t, pc, state, row, &j);
    why = refute(t, pc, fact, state, row, &j);
    note_stored(t, row, &j);
    if (moves_sp(t->cpu, fact)) {
        t->moves = true;
        t->unmoved = j.cfa == CONFIRMED ? row : t->unmoved;
    }
    t->row = j.cfa == CONFIRMED ? row : NULL;
    t->next = pc + fact->size;
    t->callee = fact->flow == CODE_CALL && fact->link == 0 ? fact->target : 0;
    count_judged(&t->own, &j, fact->size);
    if (j.row != CORRECTED && why == NULL)
        return;
    fixed.by_code = true;
    fixed.start = pc;
    fixed.end = pc + fact->size;
    if (why != NULL) {
        fixed.kind = CFI_LOST;
        fixed.why = why;
    }
    collect(&t->fixed, &fixed);
}

/* The same where no way leads to the instruction, and STATE holds if CFI is right where that code begins: a row that is
 * then wrong for this way is wrong, whatever other ways there are. */
static void refute_row(struct trust *t, uint64_t pc, const struct code_fact *fact, const struct code_state *state,
                       const struct cfi_row *row)
{
    struct cfi_row fixed = *row;
    struct judgement j;
    const char *why;
    bool contradicts;

    judge_at(t, fact, state, &fixed, &j);
    why = refute(t, pc, fact, state, row, &j);
    note_stored(t, row, &j);
    contradicts = j.row == CORRECTED && !t->cpu->mended_later;
    t->contradicts |= contradicts;
    fixed = *row;
    fixed.by_code = true;
    fixed.start = pc;
    fixed.end = pc + fact->size;
    if (contradicts || why != NULL) {
        fixed.kind = CFI_LOST;
        fixed.why = why != NULL ? why : of_itself;
    }
    collect(&t->followed, &fixed);
}

/* Notes that FACT, at PC, was read. */
static void note_read(struct trust *t, uint64_t pc, const struct code_fact *fact)
{
    const uint64_t next = pc + fact->size, end = t->unit->end;
    const struct cfi_row *row;
    uint64_t at;

    for (at = pc; at < next && at < end; at++)
        t->read[at - t->unit->start] = true;
    if (code_detour(t->code, fact, next) == DETOUR_NONE)
        return;
    for (; at < fact->target && at < end; at++)
        t->read[at - t->unit->start] = true;
    t->detour = fact->target;
    row = row_at(t, fact->target);
    if (row != NULL && row->start == fact->target && (t->counted == NULL || row < t->counted))
        t->counted = row;
}

/* Where ROW is, and no instruction was read, nobody knows what holds, because of WHY. */
static void lose_unread(struct trust *t, const struct cfi_row *row, const char *why)
{
    struct cfi_row lost = *row;
    uint64_t pc = row->start;

    lost.kind = CFI_LOST;
    lost.by_code = true;
    lost.why = why;
    while (pc < row->end) {
        for (; pc < row->end && t->read[pc - t->unit->start]; pc++)
            continue;
        lost.start = pc;
        for (; pc < row->end && !t->read[pc - t->unit->start]; pc++)
            continue;
        lost.end = pc;
        if (lost.start == lost.end || image_is_padding(t->code->image, lost.start, lost.end))
            continue;
        t->own.lost += lost.end - lost.start;
        collect(&t->fixed, &lost);
    }
}

/* gcc's CFI counts the address that the call of a detour pushes, and goes on to do so behind the return that takes it
 * off: up to the next row that says anew how far the CFA is. Where the code does not say where it is, nobody does. */
static void lose_counted(struct trust *t)
{
    const struct cfi_row *row = t->counted, *end = t->cfi.list + t->cfi.num;

    for (; row != NULL && row < end; row++)
        if (row->kind == CFI_RULES && row->cfa.offset == t->counted->cfa.offset)
            lose_unread(t, row, "the CFI counts the return address of a call that is a jump");
}

/* Where the code contradicts CFI that says nothing, that is not believed elsewhere in the function either: it may go on
 * there with its frame, in a way that is not seen (`lret`, `iret`, a jump to an address that nobody knows). */
static void lose_unsaid(struct trust *t)
{
    if (t->unit->says_nothing && t->read != NULL && t->own.corrected + t->own.lost > 0)
        lose_unread(t, t->cfi.list,
                    "the CFI says nothing of the frame, and no way is seen in which the code comes there");
}

/* What the analysis has found out in front of an instruction. */
static void compare(void *ctx, uint64_t pc, const struct code_fact *fact, const struct code_state *state)
{
    struct trust *t = ctx;
    const struct cfi_row *row = row_at(t, pc);

    if (t->believed != NULL) {
        if (row != NULL && row->kind == CFI_RULES && fact->size != 0)
            refute_row(t, pc, fact, state, row);
        return;
    }
    code_note_register(t->all, pc, fact, state);
    if (t->unit->unsettled)
        return;
    if (t->read != NULL)
        note_read(t, pc, fact);
    if (t->alone)
        take_at(t, pc, fact, state);
    else if (row != NULL && row->kind == CFI_RULES && fact->size != 0)
        compare_row(t, pc, fact, state, row);
}

static int by_start(const void *a, const void *b)
{
    const struct cfi_row *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

/* Adds ROW from START up to END to ROWS, or to the last one of those if that says the same. */
static void put(struct rows *rows, const struct cfi_row *row, uint64_t start, uint64_t end)
{
    struct cfi_row *last = rows->num > 0 ? &rows->list[rows->num - 1] : NULL;
    struct cfi_row next = *row;

    if (start >= end)
        return;
    if (last != NULL && last->end == start &&
        (row->kind == CFI_LOST ? last->kind == CFI_LOST && last->why == row->why : same_rules(last, row))) {
        last->end = end;
        return;
    }
    next.start = start;
    next.end = end;
    collect(rows, &next);
}

/* The rows of CFI with those that were fixed in their places. */
static struct rows unite(struct trust *t)
{
    struct rows result = {NULL, 0};
    size_t i, k = 0;

    put_in_order(t->fixed.list, t->fixed.num, sizeof *t->fixed.list, by_start);
    for (i = 0; i < t->cfi.num; i++) {
        const struct cfi_row *row = &t->cfi.list[i];
        uint64_t pc = row->start;

        for (; k < t->fixed.num && t->fixed.list[k].start < row->end; k++) {
            const struct cfi_row *fixed = &t->fixed.list[k];
            uint64_t end = fixed->end < row->end ? fixed->end : row->end;

            if (fixed->start < pc)
                continue; /* an instruction that begins within another one */
            put(&result, row, pc, fixed->start);
            put(&result, fixed, fixed->start, end);
            pc = end;
        }
        put(&result, row, pc, row->end);
    }
    return result;
}

/* ---- All functions --------------------------------------------------------------------------------------------- */

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

/* Whether FDE begins as a function does that is called. */
static bool begins_as_function(const struct code *code, const struct cfi_fde *fde, const struct rows *rows)
{
    struct code_state entry;
    struct judgement j;
    struct cfi_row row;

    if (rows->num == 0 || rows->list[0].kind != CFI_RULES || rows->list[0].start != fde->start)
        return false;
    code_entry(code->cpu, &entry);
    row = rows->list[0];
    judge(code->cpu, &(struct view){&entry, &entry, NULL}, &row, &j);
    return j.cfa == CONFIRMED && j.ra == CONFIRMED && j.fp == CONFIRMED;
}

/* Whether ROWS begin, at UNIT, like those of an interrupt with an error code, by gcc: it lies below the PC. */
static bool begins_below(const struct code *code, const struct code_unit *unit, const struct rows *rows)
{
    const struct cfi_row *row = rows->num > 0 ? &rows->list[0] : NULL;
    const struct code_cpu *cpu = code->cpu;

    return !cpu->link && row != NULL && row->start == unit->start && row->kind == CFI_RULES &&
           row->cfa.control == rule_of(cpu->sp, 0, false).control && row->cfa.offset == 2 * cpu->word &&
           row->ra.control == RULE_DEREFERENCE && row->ra.offset == -cpu->word;
}

/* Whether an instruction of UNIT returns from an interrupt. */
static bool has_iret(const struct code *code, const struct code_unit *unit)
{
    const uint64_t size = unit->end - unit->start;
    const struct code_text text = {image_instructions(code->image, unit->start, size), unit->start, unit->end};
    uint64_t pc = unit->start;

    while (text.bytes != NULL && pc < unit->end) {
        struct code_fact fact;

        memset(&fact, 0, sizeof fact);
        code->cpu->decode(code->decoder, &text, pc, &fact);
        if (fact.flow == CODE_RESUME)
            return true;
        pc += fact.size != 0 ? fact.size : 1;
    }
    return false;
}

/* Whether ROWS say somewhere that nobody has called their function. */
static bool says_end(const struct rows *rows)
{
    size_t i;

    for (i = 0; i < rows->num && rows->list[i].kind != CFI_OUTERMOST; i++)
        continue;
    return i < rows->num;
}

/* A unit for each span whose CFI can be compared. Those of PLTs are entered in the middle by everybody. */
static void find_units(struct code *code, const struct cfi_spans *spans, struct code_report *report)
{
    size_t i;

    for (i = 0; i < spans->num; i++) {
        const struct cfi_span *span = &spans->list[i];
        const struct section *section = image_code(code->image, span->start);
        struct code_unit unit = {0};
        struct rows rows = {NULL, 0};

        report->bytes += span->end - span->start;
        if (span->fde == NULL || span->start != span->fde->start || span->end - span->start != span->fde->size ||
            cfi_is_signal(span->fde) || section == NULL || plt_is(section))
            continue;
        cfi_rows(code->cfi, span->fde, collect, &rows);
        unit.start = span->start;
        unit.end = span->end;
        unit.fde = span->fde;
        unit.function = begins_as_function(code, span->fde, &rows);
        unit.says_nothing = unit.function && rows.num == 1;
        unit.outermost = rows.num > 0 && rows.list[0].kind == CFI_OUTERMOST;
        unit.says_end = says_end(&rows);
        unit.begins_below = begins_below(code, &unit, &rows);
        unit.trap = unit.error = unit.begins_below && has_iret(code, &unit);
        unit.function |= unit.trap;
        unit.dirty = true;
        free(rows.list);
        code->units = grow(code->units, code->num_units, sizeof *code->units);
        code->units[code->num_units++] = unit;
    }
}

/* Where the code does not know, nobody does. That is no fault if it does elsewhere: on RISC-V the PC is nowhere but in
 * sepc or mepc until the function stores it. */
static void forget_cfi(struct trust *t, const struct code_unit *unit)
{
    struct cfi_row lost = {0};

    lost.start = unit->start;
    lost.end = unit->end;
    lost.kind = CFI_LOST;
    lost.by_code = true;
    lost.why = t->code->programs   ? from_program
               : t->fixed.num == 0 ? "an interrupt function that does not store where it came from"
                                   : NULL;
    t->cfi.num = 0;
    collect(&t->cfi, &lost);
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

    put_in_order(t->fixed.list, t->fixed.num, sizeof *t->fixed.list, by_start);
    for (i = 0; i < t->fixed.num; i++) {
        const struct cfi_row *row = &t->fixed.list[i];
        bool overlaps = row->start < end || (i + 1 < t->fixed.num && row[1].start < row->end);

        if (!overlaps)
            put(&rows, row, row->start, row->end);
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
        if (fact.size == 0 || fact.flow != CODE_NEXT || fact.condition != 0)
            return false;
        at += fact.size;
    }
    return at == pc;
}

/* A function in C says by its first statement that nobody has called it, which is behind its prologue: it holds from
 * its first instruction on. Returns whether that changes a row. */
static bool extend_outermost(struct trust *t)
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
    const struct rows rows = unite(t);

    fde->rows = rows.list;
    fde->num_rows = rows.num;
}

/* Rows that are wrong in code to which no way leads are lost, too. */
static void take_refuted(struct trust *t)
{
    size_t i;

    for (i = 0; i < t->refuted.num; i++) {
        t->own.lost += t->refuted.list[i].end - t->refuted.list[i].start;
        collect(&t->fixed, &t->refuted.list[i]);
    }
}

/* Replaces what CFI says of UNIT by what is right. The rows are freed with the CFI. */
static void compare_unit(struct code *code, struct code_unit *unit, struct trust *t)
{
    struct cfi_fde *fde = unit->fde != NULL ? &code->cfi->fdes[unit->fde - code->cfi->fdes] : NULL;
    const struct code_watch watch = {compare, is_boundary, admit,       agrees,      restores,
                                     pops,    believe,     comes_apart, close_apart, t};
    const struct code_edge *edge;
    bool extended = false;

    memset(t, 0, sizeof *t);
    t->code = t->all = code;
    t->unit = unit;
    t->cpu = code->cpu;
    t->alone = fde == NULL || unit->trap;
    edge = code_edge_to_start(unit);
    t->called_by_jumps = code->cpu->link && edge != NULL && !edge->bare;
    if (fde != NULL) {
        unit_drop_rows(fde);
        fde->trap = unit->trap;
        cfi_rows(code->cfi, fde, collect, &t->cfi);
        extended = extend_outermost(t);
    }
    if (!t->alone && (!code->cpu->link || unit->says_nothing))
        t->read = zeroed((size_t)(unit->end - unit->start), sizeof *t->read);
    code_run(code, unit, &watch);
    if (!unit->unsettled) {
        lose_counted(t);
        lose_unsaid(t);
    }
    if (unit->unsettled && fde == NULL)
        lose(t, unit->start, (unsigned)(unit->end - unit->start),
             "its tables of jumps are too many to be followed");
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
    free(t->cfi.list);
    free(t->fixed.list);
    free(t->followed.list);
    free(t->refuted.list);
    free(t->lost);
    free(t->read);
}

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

/* A unit that others keep changing has no rows of code after so many runs. */
enum { MAX_RUNS = 8 };

/* Who calls a unit that leaves other registers than was thought is run again. */
static void call_changed(struct code *code)
{
    size_t i;

    for (i = 0; i < code->num_calls; i++)
        code->units[code->calls[i].caller].dirty |= code->units[code->calls[i].callee].changed;
    for (i = 0; i < code->num_units; i++)
        code->units[i].changed = false;
    code->changed = false;
}

/* Runs units as long as there is one that must be. */
static void run_all(struct code *code)
{
    bool again = true;
    size_t i;

    while (again) {
        again = false;
        for (i = 0; i < code->num_units; i++) {
            struct code_unit *unit = &code->units[i];
            struct trust t = {0};

            if (!unit->dirty || unit->runs == MAX_RUNS)
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
            call_changed(code);
    }
}

/* ---- Code without CFI ------------------------------------------------------------------------------------------ */

static int by_unit(const void *a, const void *b)
{
    const struct code_unit *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static void add_unit(struct code *code, uint64_t start, uint64_t end)
{
    struct code_unit unit = {0};

    unit.start = start;
    unit.end = end;
    unit.dirty = true;
    code->units = grow(code->units, code->num_units, sizeof *code->units);
    code->units[code->num_units++] = unit;
}

/* Units of the code from START up to END, of which nothing is known: one for each symbol. */
static void add_gap(struct code *code, uint64_t start, uint64_t end)
{
    const struct image *image = code->image;
    size_t i = count_up_to(image->symbols, image->num_symbols, sizeof *image->symbols,
                           offsetof(struct symbol, addr), start);

    for (; i < image->num_symbols && image->symbols[i].addr < end; i++)
        if (image->symbols[i].addr > start) {
            add_unit(code, start, image->symbols[i].addr);
            start = image->symbols[i].addr;
        }
    if (start < end)
        add_unit(code, start, end);
}

struct piece {
    uint64_t start, end;
};

static int by_piece(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

/* Adds units for all code that neither CFI nor rows of the image describe. */
static void find_gaps(struct code *code, const struct cfi_spans *spans, const struct kept *kept)
{
    size_t num = spans->num + (kept != NULL ? kept->num : 0), i, k = 0;
    struct piece *taken = zeroed(num, sizeof *taken);

    for (i = 0; i < spans->num; i++)
        taken[i] = (struct piece){spans->list[i].start, spans->list[i].end};
    for (; i < num; i++)
        taken[i] = (struct piece){kept->list[i - spans->num].start, kept->list[i - spans->num].end};
    put_in_order(taken, num, sizeof *taken, by_piece);
    for (i = 0; i < code->image->num_code; i++) {
        const struct section *section = code->image->code[i];
        uint64_t pc = section->addr, end = pc + section->size;

        if (plt_is(section) || section->type == SHT_NOBITS)
            continue;
        while (k < num && taken[k].end <= pc)
            k++;
        for (; k < num && taken[k].start < end; k++) {
            if (pc < taken[k].start)
                add_gap(code, pc, taken[k].start);
            pc = taken[k].end > pc ? taken[k].end : pc;
        }
        if (pc < end)
            add_gap(code, pc, end);
    }
    free(taken);
    put_in_order(code->units, code->num_units, sizeof *code->units, by_unit);
}

/* Whether the code at ADDR is another thing than a function, too, as the image says or HOW: it is named for that. */
static bool is_named(const struct code *code, const struct code_how *how, uint64_t addr)
{
    size_t i;

    if (addr == code->image->header.e_entry)
        return true;
    for (i = 0; i < how->num_entries; i++)
        if (how->entries[i].addr == addr && how->entries[i].kind != CODE_CALLED)
            return true;
    return false;
}

/* Whether ENTRY is a function with CFI that the CPU enters: a compiler's interrupt function. */
static bool name_function(struct code *code, const struct code_entry_point *entry)
{
    struct code_unit *unit = code_unit_at(code, entry->addr);

    if (unit == NULL || unit->fde == NULL || unit->start != entry->addr ||
        (entry->kind != CODE_TRAP && entry->kind != CODE_ERROR))
        return false;
    unit->function = unit->trap = unit->named = unit->dirty = true;
    unit->error = entry->kind == CODE_ERROR;
    return true;
}

/* What ENTRY names beats CFI that says nothing more than that the code is called. */
static void overrule_cfi(struct code *code, const struct code_entry_point *entry)
{
    struct code_unit *unit = code_unit_at(code, entry->addr);

    if (unit != NULL && unit->fde != NULL && unit->says_nothing && entry->kind != CODE_CALLED)
        code_drop_cfi(code, unit);
}

/* Who enters the image's own entry: nobody, unless it returns, as an application of UEFI does, also from a stack of its
 * own. That of a PE file is called by the firmware or by a loader, unless it leaves their stack for good. */
static enum code_kind kind_of_first(struct code *code)
{
    struct code_ends ends;

    code_try(code, code->image->header.e_entry, CODE_CALLED, &ends);
    if (ends.returns && !ends.returns_ill && !ends.takes)
        return CODE_CALLED;
    return code->image->pe != NULL && (!ends.loses || ends.returns || ends.returns_ill || ends.unknown)
               ? CODE_CALLED
               : CODE_START;
}

/* Ways begin where HOW says, and where the image does: nobody has called that, unless it returns. */
static void begin_entries(struct code *code, const struct code_how *how)
{
    const uint64_t first = code->image->header.e_entry;
    const struct code_unit *unit = code_unit_at(code, first);
    bool named = false;
    size_t i;

    for (i = 0; i < how->num_entries; i++) {
        const struct code_entry_point *entry = &how->entries[i];

        if (entry->described)
            continue;
        overrule_cfi(code, entry);
        if ((entry->kind == CODE_CALLED && !entry->exact && is_named(code, how, entry->addr)) ||
            name_function(code, entry))
            continue;
        named |= entry->addr == first;
        code_begin_at(code, entry->addr, entry->kind);
    }
    for (i = 0; i < code->num_units && how->derive; i++)
        if (code->units[i].outermost) /* the code that it calls is called */
            code_begin_at(code, code->units[i].start, CODE_START);
    if (!how->derive || named || unit == NULL || unit->fde != NULL)
        return;
    code_begin_at(code, first, kind_of_first(code));
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

/* ---- What interrupts' entries save ----------------------------------------------------------------------------- */

/*
 * The rows of an entry say where the interrupted PC, SP and FP are. Rows of the interrupted function may need other
 * registers, RA above all. So the entries, and what they lead to, are followed once more, with a name for what each
 * register had: where a word has that name, the entry has saved the register, and has not written there since, on any
 * way. Nothing else is taken from these runs.
 */

/* What is kept besides registers: ARM's PC and status, and the SP and LR of the mode that was interrupted. RISC-V's PC
 * and, as KEPT_SP, where SP was, counted from SP. */
enum { KEPT_PC = CODE_REAL, KEPT_STATUS, KEPT_SP, KEPT_LR, KEPT };

/* Where the registers are at an instruction. */
struct kept_registers {
    uint64_t start, end;
    bool calls;
    enum { KEPT_NOT, KEPT_BY_SP, KEPT_BY_CALLER, KEPT_BY_SCRATCH } by[KEPT];
    int32_t offset[KEPT];
    unsigned sp; /* ARM: the number of the SP that was interrupted; i386: CODE_SAVED_EIP; RISC-V: CODE_SAVED_EPC or
                  * CODE_SAVED_EPC_ALONE; 0: no crossing */
    unsigned from; /* RISC-V: CODE_FROM_SSCRATCH or CODE_FROM_MSCRATCH */
};

struct keeper {
    struct trust trust;
    uint64_t needed; /* registers, a bit each, and what is kept besides them */
    bool sure;       /* RISC-V: scratch registers are as entries leave them, while what they call runs */
    struct kept_registers *list;
    size_t num;
};

/* Notes in the NEEDED of CTX, a pointer to it, the registers that ROW counts from. A cfi_row_fn. */
static void need_registers(void *ctx, const struct cfi_row *row)
{
    const struct sfu_rule *rules[] = {&row->cfa, &row->ra, &row->fp};
    uint32_t *needed = ctx;
    unsigned i;

    for (i = 0; i < 3 && row->kind == CFI_RULES; i++)
        if (is_register(rules[i]) && rules[i]->control >> RULE_NUMBER < CODE_REAL)
            *needed |= 1u << (rules[i]->control >> RULE_NUMBER);
}

/* The registers, besides SP and FP, that rows of interrupted functions may need. ARM's LR is that of a mode: it is
 * found with the SP of that. */
static uint64_t needed_registers(const struct code *code)
{
    const struct code_cpu *cpu = code->cpu;
    uint32_t needed = cpu->link ? 1u << cpu->ra : 0;
    size_t i, k;

    for (i = 0; i < code->cfi->num_fdes; i++)
        cfi_rows(code->cfi, &code->cfi->fdes[i], need_registers, &needed);
    for (i = 0; i < code->num_units; i++)
        for (k = 0; k < code->units[i].num_rows; k++)
            need_registers(&needed, &code->units[i].rows[k]);
    needed &= ~(1u << cpu->sp | 1u << cpu->fp);
    if (cpu->banked)
        return (needed & ~(1u << cpu->ra)) | 1u << cpu->fp | 15ull << KEPT_PC;
    if (code->programs)
        return needed | 1u << cpu->fp | 1ull << KEPT_PC;
    if (code->scratch)
        return 1u << cpu->sp | 1u << cpu->fp | 1u << cpu->ra | 1ull << KEPT_PC | 1ull << KEPT_SP;
    return needed;
}

/* Notes in KEPT, as REG, where STATE has BASE, what a register had when the interrupt came. A word that counts from the
 * SP of what was interrupted lies below that. */
static void find_kept(const struct code_cpu *cpu, const struct code_state *state, unsigned base, unsigned reg,
                      struct kept_registers *kept)
{
    const struct code_value *sp = &state->reg[cpu->sp];
    const int64_t caller_sp = cpu->old_psw != 0 ? cpu->sp_at_entry : 0;
    unsigned i;

    for (i = 0; i < state->num && kept->by[reg] != KEPT_BY_SP; i++) {
        const struct code_slot *slot = &state->slot[i];

        if (!is_at(&slot->value, (uint8_t)base, 0, false))
            continue;
        if (slot->base == sp->base && sp->base >= BASE_CFA && slot->k >= sp->k && fits(slot->k - sp->k)) {
            kept->by[reg] = KEPT_BY_SP;
            kept->offset[reg] = (int32_t)(slot->k - sp->k);
        } else if ((slot->base == BASE_CFA || (slot->base == BASE_TRAP && state->trap_is_cfa)) &&
                   slot->k < caller_sp && fits(slot->k - caller_sp)) {
            kept->by[reg] = KEPT_BY_CALLER;
            kept->offset[reg] = (int32_t)(slot->k - caller_sp);
        }
    }
}

/* Notes in KEPT where STATE has the interrupted FP: in a word from SP or, KEPT_NOT, in its register. Returns false if
 * that is nowhere. */
static bool find_fp(const struct code_cpu *cpu, const struct code_state *state, struct kept_registers *kept)
{
    find_kept(cpu, state, BASE_ENTRY + cpu->fp, cpu->fp, kept);
    if (is_at(&state->reg[cpu->fp], BASE_ENTRY + cpu->fp, 0, false))
        kept->by[cpu->fp] = KEPT_NOT;
    return kept->by[cpu->fp] != KEPT_BY_CALLER &&
           (kept->by[cpu->fp] == KEPT_BY_SP || is_at(&state->reg[cpu->fp], BASE_ENTRY + cpu->fp, 0, false));
}

/* i386: notes in KEPT where STATE has what the CPU has pushed, with CS and the flags, and FP, if it has all of it. */
static void find_pushed(const struct code_cpu *cpu, const struct code_state *state, struct kept_registers *kept)
{
    struct kept_registers found = *kept, behind = {0};

    find_kept(cpu, state, BASE_RETURN, KEPT_PC, &found);
    find_kept(cpu, state, BASE_ENTRY + CODE_PC, KEPT_PC, &behind);
    find_kept(cpu, state, BASE_ENTRY + CODE_STATUS, KEPT_STATUS, &behind);
    if (!find_fp(cpu, state, &found) || found.by[KEPT_PC] != KEPT_BY_SP || behind.by[KEPT_PC] != KEPT_BY_SP ||
        behind.by[KEPT_STATUS] != KEPT_BY_SP || behind.offset[KEPT_PC] - found.offset[KEPT_PC] != cpu->word ||
        behind.offset[KEPT_STATUS] - found.offset[KEPT_PC] != 2 * cpu->word)
        return;
    found.sp = CODE_SAVED_EIP;
    *kept = found;
}

/* ARM: notes in KEPT where STATE has what leads back from an exception, if it has all of it. */
static void find_crossing(const struct code_cpu *cpu, const struct code_state *state, struct kept_registers *kept)
{
    struct kept_registers found = *kept;
    const struct code_value *sp = &state->reg[cpu->sp];

    find_kept(cpu, state, BASE_RETURN, KEPT_PC, &found);
    find_kept(cpu, state, BASE_ENTRY + CODE_STATUS, KEPT_STATUS, &found);
    find_kept(cpu, state, BASE_ENTRY + cpu->ra, KEPT_LR, &found);
    if (!find_fp(cpu, state, &found))
        return;
    if (found.by[KEPT_PC] != KEPT_BY_SP || found.by[KEPT_STATUS] != KEPT_BY_SP || sp->base != BASE_CFA ||
        !fits(-sp->k) || (state->mode != CODE_MODE_SVC && state->mode != CODE_MODE_SYS))
        return;
    found.by[KEPT_SP] = KEPT_BY_SP;
    found.offset[KEPT_SP] = (int32_t)-sp->k;
    if (found.by[KEPT_LR] != KEPT_BY_SP)
        found.by[KEPT_LR] = KEPT_NOT;
    found.sp = state->mode == CODE_MODE_SVC ? CODE_SAVED_SP_SVC : CODE_SAVED_SP_SYS;
    *kept = found;
}

/* RISC-V: notes in KEPT, as REG, where STATE has VALUE in the structure that the scratch register points to. */
static void find_in_structure(const struct code_state *state, const struct code_value *value, unsigned reg,
                              struct kept_registers *kept)
{
    unsigned i;

    for (i = 0; i < state->num; i++) {
        const struct code_slot *slot = &state->slot[i];

        if (slot->base != BASE_SCRATCH || !fits(slot->k) || !is_at(&slot->value, value->base, value->k, false))
            continue;
        kept->by[reg] = KEPT_BY_SCRATCH;
        kept->offset[reg] = (int32_t)slot->k;
        return;
    }
}

/* RISC-V: notes in KEPT where an entry keeps in that structure what leads back from an exception. SP must be there, and
 * FP there or where it was; the PC may be where the CPU has put it. Returns whether all of it is known. */
static bool find_context(const struct code_cpu *cpu, const struct code_state *state, struct kept_registers *kept)
{
    const struct code_value old_sp = {0, state->trap_is_cfa ? BASE_TRAP : BASE_CFA, false, 0, 0};
    const struct code_value fp = {0, (uint8_t)(BASE_ENTRY + cpu->fp), false, 0, 0};
    const struct code_value ra = {0, (uint8_t)(BASE_ENTRY + cpu->ra), false, 0, 0};
    const struct code_value pc = {0, BASE_RETURN, false, 0, 0}, *sp = &state->reg[cpu->sp];

    if (!is_at(&state->reg[CODE_OTHER_SP], BASE_SCRATCH, 0, false) || (state->mode != 1 && state->mode != 3))
        return false;
    find_in_structure(state, &old_sp, cpu->sp, kept);
    find_in_structure(state, &fp, cpu->fp, kept);
    find_in_structure(state, &ra, cpu->ra, kept);
    find_in_structure(state, &pc, KEPT_PC, kept);
    if (kept->by[cpu->sp] == KEPT_NOT ||
        (kept->by[cpu->fp] == KEPT_NOT && !is_at(&state->reg[cpu->fp], fp.base, 0, false)) ||
        (kept->by[KEPT_PC] == KEPT_NOT && state->reg[CODE_PC].base != BASE_RETURN))
        return false;
    if (sp->base == old_sp.base && fits(-sp->k)) {
        kept->by[KEPT_SP] = KEPT_BY_SP;
        kept->offset[KEPT_SP] = (int32_t)-sp->k;
    }
    kept->sp = kept->by[KEPT_PC] != KEPT_NOT ? CODE_SAVED_EPC : CODE_SAVED_EPC_ALONE;
    kept->by[KEPT_PC] = KEPT_BY_SCRATCH;
    kept->from = state->mode == 3 ? CODE_FROM_MSCRATCH : CODE_FROM_SSCRATCH;
    return true;
}

/* Takes where the needed registers are at an instruction that has a row, or where an entry has no row, but keeps all of
 * them in the structure that the scratch register points to. */
static void keep(void *ctx, uint64_t pc, const struct code_fact *fact, const struct code_state *state)
{
    struct keeper *k = ctx;
    struct trust *t = &k->trust;
    struct kept_registers kept = {.start = pc, .end = pc + fact->size, .calls = fact->flow == CODE_CALL};
    struct code_state held;
    const struct view v = view_of(t->code, fact, state, &held);
    struct cfi_row row;
    unsigned reg;

    if (t->unit->unsettled || fact->size == 0 || fact->link != 0 || !state->names ||
        state->caller != CALLER_INTERRUPTED || !code_is_sure(t->code, t->unit, state) ||
        derive(t->cpu, v.held, &row) == t->code->scratch ||
        (t->code->scratch && !find_context(t->cpu, state, &kept)))
        return;
    for (reg = 0; reg < CODE_REAL && !t->code->scratch; reg++)
        if (k->needed >> reg & 1 && reg != t->cpu->fp)
            find_kept(t->cpu, v.held, BASE_ENTRY + reg, reg, &kept);
    if (t->cpu->banked)
        find_crossing(t->cpu, v.held, &kept);
    else if (t->code->programs)
        find_pushed(t->cpu, v.held, &kept);
    k->list = grow(k->list, k->num, sizeof *k->list);
    k->list[k->num++] = kept;
}

/* Functions of struct code_watch, whose CTX is a keeper. */
static bool keep_boundary(void *ctx, const struct code_fact *fact, uint64_t pc, uint64_t next)
{
    return is_boundary(&((struct keeper *)ctx)->trust, fact, pc, next);
}

static bool keep_admit(void *ctx, uint64_t pc, struct code_state *state)
{
    return admit(&((struct keeper *)ctx)->trust, pc, state);
}

static bool keep_agrees(void *ctx, uint64_t pc, const struct code_state *state)
{
    return agrees(&((struct keeper *)ctx)->trust, pc, state);
}

static bool keep_restores(void *ctx, uint64_t next, unsigned reg)
{
    return restores(&((struct keeper *)ctx)->trust, next, reg);
}

static int64_t keep_pops(void *ctx, uint64_t next, const struct code_fact *fact, const struct code_state *state)
{
    return pops(&((struct keeper *)ctx)->trust, next, fact, state);
}

/* Runs UNIT as compare_unit does, and leaves its rows alone. */
static void keep_unit(struct code *code, struct code_unit *unit, struct keeper *k)
{
    const struct code_watch watch = {keep,      keep_boundary, keep_admit, keep_agrees, keep_restores,
                                     keep_pops, NULL,          NULL,       NULL,        k};
    struct trust *t = &k->trust;

    memset(t, 0, sizeof *t);
    t->code = t->all = code;
    t->unit = unit;
    t->cpu = code->cpu;
    t->alone = unit->fde == NULL || unit->trap;
    k->num = 0;
    if (unit->fde != NULL) {
        struct cfi_fde fde = *unit->fde;

        fde.rows = NULL;
        fde.num_rows = 0;
        cfi_rows(code->cfi, &fde, collect, &t->cfi);
        (void)extend_outermost(t);
    }
    code_run(code, unit, &watch);
    if (unit->overlaps)
        k->num = 0;
    code_end_switches(code);
    free(t->cfi.list);
}

static int by_place(const void *a, const void *b)
{
    const struct kept_registers *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

/* Whether each needed register that CALL has is in the same place in KEPT. */
static bool keeps_all(const struct keeper *k, const struct kept_registers *kept, const struct kept_registers *call)
{
    unsigned reg;

    for (reg = 0; reg < KEPT; reg++)
        if (k->needed >> reg & 1 && call->by[reg] != KEPT_NOT &&
            (kept->by[reg] != call->by[reg] || kept->offset[reg] != call->offset[reg]))
            return false;
    return kept->sp == call->sp && kept->from == call->from &&
           (call->sp == 0 || kept->by[k->trust.cpu->fp] == call->by[k->trust.cpu->fp]);
}

/* The number by which what KEPT has as REG is given. */
static uint8_t number_of(const struct kept_registers *kept, unsigned reg)
{
    if (kept->from != 0)
        return (uint8_t)(reg == KEPT_PC ? kept->sp : reg == KEPT_SP ? CODE_SAVED_SP_IN_PLACE : reg);
    return (uint8_t)(reg == KEPT_PC       ? kept->sp == CODE_SAVED_EIP ? CODE_SAVED_EIP : CODE_SAVED_PC
                     : reg == KEPT_STATUS ? CODE_SAVED_STATUS
                     : reg == KEPT_SP     ? kept->sp
                     : reg == KEPT_LR     ? kept->sp + 1
                                          : reg);
}

/* What the place of REG in KEPT counts from, as CODE_FROM_... */
static uint8_t from_of(const struct keeper *k, const struct kept_registers *kept, unsigned reg)
{
    if (kept->by[reg] == KEPT_BY_SCRATCH)
        return (uint8_t)(kept->from | (k->sure ? CODE_FROM_SURE : 0));
    return kept->by[reg] == KEPT_BY_CALLER ? CODE_FROM_INTERRUPTED : CODE_FROM_SP;
}

/* Gives what holds at each call of the unit that has been run, and as far in front of it and behind it as it does. */
static void give_kept(struct keeper *k, const struct code_how *how)
{
    size_t i, first, given = 0; /* up to GIVEN, places have been given */
    unsigned reg;

    if (k->num > 0)
        qsort(k->list, k->num, sizeof *k->list, by_place);
    for (i = 0; i < k->num; i++) {
        const struct kept_registers *call = &k->list[i];

        if (!call->calls || i < given)
            continue;
        first = i;
        while (first > given && k->list[first - 1].end == k->list[first].start &&
               keeps_all(k, &k->list[first - 1], call))
            first--;
        given = i + 1;
        while (given < k->num && k->list[given - 1].end == k->list[given].start &&
               keeps_all(k, &k->list[given], call))
            given++;
        for (reg = 0; reg < KEPT; reg++)
            if (call->by[reg] != KEPT_NOT)
                how->saved(how->ctx,
                           &(struct code_saved){k->list[first].start, k->list[given - 1].end, call->offset[reg],
                                                number_of(call, reg), from_of(k, call, reg)});
    }
}

/* Whether an interrupt enters UNIT. */
static bool is_entered(const struct code_unit *unit)
{
    const struct code_edge *edge;

    for (edge = unit->edges; edge != NULL; edge = edge->next)
        if (edge->begins != 0 && edge->begins - 1 != CODE_CALLED && edge->begins - 1 != CODE_START)
            return true;
    return unit->function && unit->trap;
}

/* Runs units until nothing changes any more. Returns whether that is so. */
static bool keep_all(struct code *code, struct keeper *k)
{
    bool again = true, settled = true;
    size_t i;

    while (again) {
        again = false;
        settled = true;
        for (i = 0; i < code->num_units; i++) {
            struct code_unit *unit = &code->units[i];

            settled &= !unit->dirty || unit->runs < MAX_RUNS;
            if (!unit->dirty || unit->runs == MAX_RUNS)
                continue;
            again = true;
            unit->dirty = false;
            unit->runs++;
            keep_unit(code, unit, k);
        }
        if (code->changed)
            call_changed(code);
    }
    return settled;
}

/* Gives where the entries of interrupts keep registers. Nobody asks for the units' edges behind that. */
static void find_saved(struct code *code, const struct code_how *how, bool scratch)
{
    bool *from = zeroed(code->num_units, sizeof *from), *dirty = zeroed(code->num_units, sizeof *dirty);
    struct keeper k = {.needed = 0};
    bool any = false, settled;
    size_t i;

    code->scratch = scratch;
    k.needed = needed_registers(code);
    for (i = 0; i < code->num_units; i++) {
        dirty[i] = code->units[i].dirty;
        code->units[i].dirty = false;
        code->units[i].runs = 0;
        from[i] = is_entered(&code->units[i]);
        any |= from[i];
    }
    code->naming = true;
    k.sure = scratch && any && code_keeps_scratch(code, from);
    settled = any && k.needed != 0;
    if (settled) {
        code_forget_ways(code, from);
        settled = keep_all(code, &k);
    }
    for (i = 0; i < code->num_units && settled; i++)
        if (from[i] && !dirty[i]) {
            keep_unit(code, &code->units[i], &k);
            give_kept(&k, how);
        }
    for (i = 0; i < code->num_units; i++)
        code->units[i].dirty = dirty[i];
    free(k.list);
    free(from);
    free(dirty);
}

/* ---- Where signal handlers return to ----------------------------------------------------------------------------- */

/*
 * Code that begins by calling sigreturn has not been called: the kernel takes its frame from where SP is, in which a
 * caller's return address would be. CFI that says that it was called is wrong. CFI that says where the kernel has put
 * the registers stays, with its mark of a signal frame or without. The address that a handler returns to is looked up
 * one byte lower, where another function may end.
 */

/* Whether the code from START up to END begins by calling sigreturn. */
static bool calls_sigreturn(const struct code *code, uint64_t start, uint64_t end)
{
    static const uint8_t marks[][4] = {
        {0xf3, 0x0f, 0x1e, 0xfa}, {0xf3, 0x0f, 0x1e, 0xfb}, {0x5f, 0x24, 0x03, 0xd5}};
    const uint8_t *bytes = image_instructions(code->image, start, end - start);
    size_t size = (size_t)(end - start), i;

    for (i = 0; i < sizeof marks / sizeof *marks && bytes != NULL; i++) /* endbr64, endbr32, bti c */
        if (size > sizeof *marks && memcmp(bytes, marks[i], sizeof *marks) == 0) {
            bytes += sizeof *marks;
            size -= sizeof *marks;
        }
    return bytes != NULL && sigreturn_find(code->image->abi, bytes, size) != NULL;
}

/* Whether signal handlers return to UNIT. What is called by code may be a function of another system, whose calls have
 * other numbers; and so may what is named as a function. */
static bool is_returned_to(const struct code *code, const struct code_how *how, const struct code_unit *unit)
{
    size_t i;

    for (i = 0; i < how->num_entries; i++)
        if (how->entries[i].addr == unit->start && how->entries[i].exact && how->entries[i].kind == CODE_CALLED)
            return false;
    return !unit->is_called && (unit->fde == NULL || unit->function) &&
           calls_sigreturn(code, unit->start, unit->end);
}

/* Code without CFI of UNIT has no rows from START on. */
static void lose_derived(struct code_unit *unit, uint64_t start, const char *why)
{
    struct cfi_row *last = unit->rows + unit->num_rows;

    if (unit->num_rows == 0 || last[-1].end <= start)
        return;
    unit->lost = grow(unit->lost, unit->num_lost, sizeof *unit->lost);
    unit->lost[unit->num_lost++] = (struct code_lost){start, unit->end, why};
    while (unit->num_rows > 0 && unit->rows[unit->num_rows - 1].start >= start)
        unit->num_rows--;
    if (unit->num_rows > 0 && unit->rows[unit->num_rows - 1].end > start)
        unit->rows[unit->num_rows - 1].end = start;
}

/* The unit at START has no rows from there on, because of WHY. */
static void lose_from(struct code *code, uint64_t start, const char *why)
{
    struct code_unit *unit = code_unit_at(code, start);
    struct cfi_fde *fde = unit != NULL && unit->fde != NULL ? &code->cfi->fdes[unit->fde - code->cfi->fdes] : NULL;
    struct cfi_row lost = {.start = start, .kind = CFI_LOST, .by_code = true, .why = why};
    struct rows rows = {NULL, 0}, left = {NULL, 0};
    size_t i;

    if (unit == NULL)
        return;
    if (fde == NULL) {
        lose_derived(unit, start, why);
        return;
    }
    cfi_rows(code->cfi, fde, collect, &rows);
    unit_drop_rows(fde);
    for (i = 0; i < rows.num; i++)
        put(&left, &rows.list[i], rows.list[i].start, rows.list[i].end < start ? rows.list[i].end : start);
    lost.end = unit->end;
    collect(&left, &lost);
    fde->rows = left.list;
    fde->num_rows = left.num;
    code->reports[unit - code->units].lost += unit->end - start;
    free(rows.list);
}

static void leave_to_signals(struct code *code, const struct cfi_spans *spans, const struct code_how *how)
{
    static const char looked_up[] = "the address to which signal handlers return is looked up there";
    size_t i;

    for (i = 0; i < code->num_units; i++) {
        const uint64_t start = code->units[i].start;

        if (!is_returned_to(code, how, &code->units[i]))
            continue;
        lose_from(code, start, "signal handlers return there: it calls sigreturn, and nothing calls it");
        lose_from(code, start - 1, looked_up);
    }
    for (i = 0; i < spans->num; i++)
        if (spans->list[i].fde != NULL && cfi_is_signal(spans->list[i].fde) &&
            calls_sigreturn(code, spans->list[i].start, spans->list[i].end))
            lose_from(code, spans->list[i].start - 1, looked_up);
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

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

bool code_trust(struct cfi *cfi, const struct cfi_spans *spans, const struct code_how *how,
                struct code_report *report)
{
    struct code code = {0};
    size_t i;

    memset(report, 0, sizeof *report);
    code.image = cfi->image;
    code.cfi = cfi;
    code.cpu = code_cpu(cfi->image);
    if (code.cpu == NULL)
        return false;
    code.decoder = code.cpu->open != NULL ? code.cpu->open(cfi->image) : NULL;
    code.programs = code.cpu->pushed != 0 && loads_task(cfi->image);
    overrule_starts(cfi, spans, how);
    find_units(&code, spans, report);
    if (how->derive)
        find_gaps(&code, spans, how->kept);
    code.reports = zeroed(code.num_units, sizeof *code.reports);
    leave_out_foreign(&code, how);
    begin_entries(&code, how);
    code_note_low_core(&code);
    do {
        run_all(&code);
        while (code_find_uncalled(&code, how))
            run_all(&code);
    } while (how->find && code_find_entries(&code, how));
    code_find_conflicts(&code, how);
    leave_to_signals(&code, spans, how);
    for (i = 0; i < code.num_units; i++) {
        if (code.units[i].fde == NULL)
            continue;
        if (code.units[i].dirty) { /* it has been run too often: nothing that it says counts */
            const uint64_t doubted = code.reports[i].corrected + code.reports[i].lost + code.reports[i].doubted;

            unit_drop_rows(&cfi->fdes[code.units[i].fde - cfi->fdes]);
            code.reports[i] = (struct code_report){0};
            code.reports[i].doubted = doubted;
        }
        add_report(report, &code.reports[i]);
        if (how->found != NULL &&
            (code.reports[i].corrected > 0 || code.reports[i].doubted > 0 || code.units[i].num_lost > 0))
            how->found(how->ctx, &code.units[i], &code.reports[i]);
    }
    if (how->saved != NULL)
        find_saved(&code, how, false);
    if (how->saved != NULL && code.image->header.e_machine == EM_RISCV)
        find_saved(&code, how, true);
    add_derived(&code, how, report);
    code_free(&code);
    return true;
}

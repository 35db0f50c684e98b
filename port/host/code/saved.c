/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The rows of an entry say where the interrupted PC, SP and FP are. Rows of the interrupted function may need other
 * registers, RA above all. So the entries, and what they lead to, are followed once more, with a name for what each
 * register had: where a word has that name, the entry has saved the register, and has not written there since, on any
 * way. Nothing else is taken from these runs.
 */
#include "saved.h"
#include "rounds.h"
#include "trust_rows.h"
#include "uncalled.h"

#include <stdlib.h>
#include <string.h>

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
        if (rule_is_register(rules[i]) && rules[i]->control >> RULE_NUMBER < CODE_REAL)
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
    if (code->pushed != NULL)
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

        if (!value_is_at(&slot->value, (uint8_t)base, 0, false))
            continue;
        if (slot->base == sp->base && sp->base >= BASE_CFA && slot->k >= sp->k && offset_fits(slot->k - sp->k)) {
            kept->by[reg] = KEPT_BY_SP;
            kept->offset[reg] = (int32_t)(slot->k - sp->k);
        } else if ((slot->base == BASE_CFA || (slot->base == BASE_TRAP && state->trap_is_cfa)) &&
                   slot->k < caller_sp && offset_fits(slot->k - caller_sp)) {
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
    if (value_is_at(&state->reg[cpu->fp], BASE_ENTRY + cpu->fp, 0, false))
        kept->by[cpu->fp] = KEPT_NOT;
    return kept->by[cpu->fp] != KEPT_BY_CALLER &&
           (kept->by[cpu->fp] == KEPT_BY_SP || value_is_at(&state->reg[cpu->fp], BASE_ENTRY + cpu->fp, 0, false));
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
        !offset_fits(-sp->k) || (state->mode != CODE_MODE_SVC && state->mode != CODE_MODE_SYS))
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

        if (slot->base != BASE_SCRATCH || !offset_fits(slot->k) ||
            !value_is_at(&slot->value, value->base, value->k, false))
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

    if (!value_is_at(&state->reg[CODE_OTHER_SP], BASE_SCRATCH, 0, false) || (state->mode != 1 && state->mode != 3))
        return false;
    find_in_structure(state, &old_sp, cpu->sp, kept);
    find_in_structure(state, &fp, cpu->fp, kept);
    find_in_structure(state, &ra, cpu->ra, kept);
    find_in_structure(state, &pc, KEPT_PC, kept);
    if (kept->by[cpu->sp] == KEPT_NOT ||
        (kept->by[cpu->fp] == KEPT_NOT && !value_is_at(&state->reg[cpu->fp], fp.base, 0, false)) ||
        (kept->by[KEPT_PC] == KEPT_NOT && state->reg[CODE_PC].base != BASE_RETURN))
        return false;
    if (sp->base == old_sp.base && offset_fits(-sp->k)) {
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
    const struct view v = trust_view_of(t->code, fact, state, &held);
    struct cfi_row row;
    unsigned reg;

    if (t->unit->unsettled || fact->size == 0 || fact->link != 0 || !state->names ||
        state->caller != CALLER_INTERRUPTED || !code_is_sure(t->code, t->unit, state) ||
        derive_row(t->cpu, v.held, &row) == t->code->scratch ||
        (t->code->scratch && !find_context(t->cpu, state, &kept)))
        return;
    for (reg = 0; reg < CODE_REAL && !t->code->scratch; reg++)
        if (k->needed >> reg & 1 && reg != t->cpu->fp)
            find_kept(t->cpu, v.held, BASE_ENTRY + reg, reg, &kept);
    if (t->cpu->banked)
        find_crossing(t->cpu, v.held, &kept);
    else if (t->code->pushed != NULL)
        find_pushed(t->cpu, v.held, &kept);
    k->list = grow(k->list, k->num, sizeof *k->list);
    k->list[k->num++] = kept;
}

/* Functions of struct code_watch, whose CTX is a keeper. */
static bool keep_boundary(void *ctx, const struct code_fact *fact, uint64_t pc, uint64_t next)
{
    return trust_is_boundary(&((struct keeper *)ctx)->trust, fact, pc, next);
}

static bool keep_admit(void *ctx, uint64_t pc, struct code_state *state)
{
    return trust_admit(&((struct keeper *)ctx)->trust, pc, state);
}

static bool keep_agrees(void *ctx, uint64_t pc, const struct code_state *state)
{
    return trust_agrees(&((struct keeper *)ctx)->trust, pc, state);
}

static bool keep_restores(void *ctx, uint64_t next, unsigned reg)
{
    return trust_restores(&((struct keeper *)ctx)->trust, next, reg);
}

static int64_t keep_pops(void *ctx, uint64_t next, const struct code_fact *fact, const struct code_state *state)
{
    return trust_pops(&((struct keeper *)ctx)->trust, next, fact, state);
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
        cfi_rows(code->cfi, &fde, rows_collect, &t->cfi);
        (void)rounds_extend_outermost(t);
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

            settled &= !unit->dirty || unit->runs < ROUNDS_MOST;
            if (!unit->dirty || unit->runs == ROUNDS_MOST)
                continue;
            again = true;
            unit->dirty = false;
            unit->runs++;
            keep_unit(code, unit, k);
        }
        if (code->changed)
            rounds_call_changed(code);
    }
    return settled;
}

void code_find_saved(struct code *code, const struct code_how *how, bool scratch)
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

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "trust_rows.h"
#include "state.h"
#include "trial.h"
#include "units.h"
#include "vectors.h"

#include <string.h>

/* ---- Why there is no row --------------------------------------------------------------------------------------- */

static const char by_call[] =
    "the call overwrites the return address, which the code has not saved: the callee never "
    "returns, for all that the compiler knows (-funwind-tables helps; in Rust "
    "-Cforce-unwind-tables=yes)";
static const char of_mode[] = "the interrupted SP is that of a mode of the CPU, which no row can ask for";

/* Why STATE, that of an interrupt's entry, gives no row; CALLS: for the frame of a call. */
static const char *why_lost(struct trust *t, const struct code_state *state, bool calls)
{
    const struct code_cpu *cpu = t->cpu;
    struct sfu_rule rule;
    bool unused;

    if (t->code->pushed != NULL && state->caller == CALLER_INTERRUPTED)
        return t->code->pushed;
    if (cpu->banked && state->caller == CALLER_INTERRUPTED)
        return of_mode;
    if (t->unit->lost_to == LOST_BY_PROGRAM)
        return "an exception's entry jumps here, so no return address leads back to it: a call instead of the jump "
               "helps; or, where only programs are interrupted so, --entry=NAME:start";
    if (state->caller == CALLER_UNCERTAIN)
        return "ways meet here that were entered in another way: by an interrupt, a call, or at a start; a call "
               "instead of a jump to here helps (in C: -fno-optimize-sibling-calls)";
    if (state->has_parted && cpu->no_pc == NULL && !place_of_entry(cpu, state, cpu->ra, true, &rule, &unused))
        return "entries meet here that differ in how far SP is from what the CPU has pushed, as if only one of "
               "them "
               "had an error code";
    if (!place_of_entry(cpu, state, cpu->ra, true, &rule, &unused))
        return cpu->no_pc == NULL || (state->reg[CODE_PC].base != BASE_RETURN && !state->low_core)
                   ? "the code does not show where the interrupted PC is"
               : !calls ? cpu->no_pc
               : cpu->old_psw > 0
                   ? "the PSW of what was interrupted is in the low core alone, at which no row can "
                     "point: copy it, and the SP that was stored there, to the stack in front of the "
                     "call"
                   : "at the call of the handler the interrupted PC is in a register of the CPU alone: store it on "
                     "the stack in front of the call";
    if (state->reg[cpu->sp].base == BASE_UNKNOWN)
        return "the code does not show what SP is";
    if (!place_of_cfa(cpu, state, &rule))
        return "the code does not show where a row could find the interrupted SP";
    if (!place_of_entry(cpu, state, cpu->fp, false, &rule, &unused))
        return "the code does not show where the interrupted FP is";
    if (!code_is_sure(t->code, t->unit, state))
        return "SP changes to another stack, and the code does not end in a return from there";
    return "the row would count from a register that is not known while the function called here runs";
}

void trust_lose(struct trust *t, uint64_t pc, unsigned size, const char *why)
{
    t->lost = grow(t->lost, t->num_lost, sizeof *t->lost);
    t->lost[t->num_lost++] = (struct code_lost){pc, pc + size, why};
}

/* ---- Each instruction ------------------------------------------------------------------------------------------ */

/* What holds at the instruction of FACT, in front of which STATE does. HELD is room for a state. A callee that returns
 * with another FP has that already while it is above this frame. */
struct view trust_view_of(const struct code *code, const struct code_fact *fact, const struct code_state *state,
                          struct code_state *held)
{
    unsigned i;

    if (fact->flow != CODE_CALL || fact->link != 0)
        return (struct view){state, state, NULL, false};
    code_hold(code->cpu, held, state, fact->target != 0 ? code_unit_at(code, fact->target) : NULL);
    for (i = 0; i < CODE_REAL + 2u; i++)
        if (i != code->cpu->sp && i != code->cpu->fp)
            memset(&held->reg[i], 0, sizeof held->reg[i]);
    return (struct view){state, held, NULL, false};
}

/* Whether V is of a call by which a function loses where it returns to. */
static bool is_lost_by_call(const struct code_cpu *cpu, const struct view *v)
{
    struct sfu_rule rule;
    bool unused;

    return cpu->link && v->held != v->state && v->state->caller == CALLER_KNOWN &&
           !place_of_entry(cpu, v->held, cpu->ra, true, &rule, &unused);
}

/* Takes what the code alone says of the SIZE bytes at PC. */
static void take_alone(struct trust *t, uint64_t pc, unsigned size, const struct view *v)
{
    struct cfi_row row;
    const bool known = code_is_sure(t->code, t->unit, v->state) && derive_row(t->cpu, v->held, &row) &&
                       !(row.trap && (t->code->pushed != NULL || t->cpu->banked));

    if (size == 0)
        return;
    if (!known && v->state->caller == CALLER_INTERRUPTED && v->state->from_lower) {
        row = (struct cfi_row){.kind = CFI_OUTERMOST, .by_code = true};
    } else if (!known) {
        if (v->state->caller == CALLER_INTERRUPTED || v->state->caller == CALLER_UNCERTAIN)
            trust_lose(t, pc, size, why_lost(t, v->state, v->held != v->state));
        else if (t->unit->lost_to == LOST_BY_FRAME)
            trust_lose(t, pc, size, "functions jump here with frames that differ, of which its CFI says nothing");
        else if (is_lost_by_call(t->cpu, v))
            trust_lose(t, pc, size, by_call);
        return;
    }
    t->own.corrected += size;
    row.start = pc;
    row.end = pc + size;
    rows_collect(&t->fixed, &row);
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

    return !rule_is_same(&last->cfa, &row->cfa) && value_is_at(&cfa, BASE_CFA, 0, false);
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
        struct view v = trust_view_of(t->code, fact, ways[i], &held);
        struct cfi_row copy = *row;
        struct judgement j;

        v.stored = &t->stored;
        judge_row(t->cpu, &v, &copy, &j);
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

/* RISC-V: whether the CFA of ROW is too high at PC, where STATE holds, in an epilogue without CFI: there the tables'
 * maker puts it right. */
static bool is_mended(struct trust *t, uint64_t pc, const struct code_state *state, const struct cfi_row *row)
{
    const struct code_value cfa = code_evaluate(state, &row->cfa);
    const struct epilogue *found = NULL;

    if (t->cpu->mended_later && cfa.base == BASE_CFA && cfa.k > 0)
        found = epilogue_find(&t->epilogues, t->code->image, row, pc);
    return found != NULL && found->start == pc;
}

/* Judges ROW at the instruction of FACT, at PC, in front of which STATE holds. Of several places that the code knows,
 * one that is right for those jumps, too, is better. */
static void judge_at(struct trust *t, uint64_t pc, const struct code_fact *fact, const struct code_state *state,
                     struct cfi_row *row, struct judgement *j)
{
    struct cfi_row other = *row;
    struct code_state held, both;
    struct judgement of_both;
    struct view v = trust_view_of(t->code, fact, state, &held);

    v.stored = &t->stored;
    v.mended = is_mended(t, pc, v.state, row);
    judge_row(t->cpu, &v, row, j);
    if (j->row != CORRECTED)
        return;
    both = *state;
    if (!widen(t, &both))
        return;
    v = trust_view_of(t->code, fact, &both, &held);
    v.stored = &t->stored;
    judge_row(t->cpu, &v, &other, &of_both);
    if (of_both.row != CORRECTED)
        return;
    *row = other;
    *j = of_both;
}

/* The same without CFI. */
static void take_at(struct trust *t, uint64_t pc, const struct code_fact *fact, const struct code_state *state)
{
    struct code_state held, both;
    struct view v = trust_view_of(t->code, fact, state, &held);
    struct cfi_row row;

    if (t->unit->anywhere != NULL) {
        both = *state;
        if (widen(t, &both)) {
            v = trust_view_of(t->code, fact, &both, &held);
            if (!derive_row(t->cpu, v.held, &row))
                v = trust_view_of(t->code, fact, state, &held);
        }
    }
    take_alone(t, pc, bytes_alone(t, pc, fact), &v);
}

/* Whether ROW, of PC, where STATE holds, says too early what soon holds on this way: an instruction, and no branch in
 * front of it, puts SP where ROW has it, and the CFA that CFI has behind that is the same. Of a way on which ROW is
 * true in front of that instruction it would not be, or the instruction did nothing. */
static bool comes_true(struct trust *t, uint64_t pc, const struct code_state *state, const struct cfi_row *row)
{
    enum { MOST = 32 };
    struct code_state then;
    struct code_fact fact;
    unsigned i;

    state_copy(&then, state);
    for (i = 0; i < MOST && unit_fact_at(t->code, pc, &fact); i++) {
        const struct cfi_row *behind = trust_row_at(t, pc + fact.size);
        struct code_value cfa;

        if (fact.flow != CODE_NEXT || fact.odd || fact.condition != 0 || behind == NULL ||
            behind->kind != CFI_RULES || !rule_is_same(&behind->cfa, &row->cfa))
            return false;
        code_step(t->cpu, &then, &fact);
        cfa = code_evaluate(&then, &row->cfa);
        if (value_is_at(&cfa, BASE_CFA, 0, false))
            return true;
        pc += fact.size;
    }
    return false;
}

/* Whether ROW, which begins at PC, is of another way than the instruction in front of it: J says that the code corrects
 * the CFA of ROW, and it has confirmed that of the row there. Behind a call that comes back it is of the same way. */
static bool begins_other_way(struct trust *t, uint64_t pc, const struct code_state *state,
                             const struct cfi_row *row, const struct judgement *j)
{
    return t->row != NULL && t->row != row && t->next == pc && row->start == pc && pc != t->detour &&
           j->cfa == CORRECTED && is_other_way(state, t->row, row) && !trust_comes_back_to(t, t->callee, pc, row) &&
           !comes_true(t, pc, state, row);
}

/* Whether FACT moves SP: by a number that is not known, if SP has a place of its own behind it. */
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
           row->cfa.control == rule_of_register(t->cpu->sp, 0, false).control && fact->flow != CODE_RETURN &&
           ((t->unit->says_nothing && !called) || t->unmoved == row);
}

static const char of_detour[] = "the CFI counts the return address of a call that is a jump";

/* Whether ROW, of T's CFI, counts what the call of a detour has pushed, or goes on to do so. */
static bool is_counted(const struct trust *t, const struct cfi_row *row)
{
    return t->counted != NULL && row >= t->counted && row->kind == CFI_RULES &&
           row->cfa.offset == t->counted->cfa.offset;
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
    if (j->row == SILENT && j->cfa != CONFIRMED && is_counted(t, row)) {
        j->row = REFUTED;
        return of_detour;
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

/* At the SIZE bytes at PC the code knows nothing better than ROW, which says nothing either. */
static void note_unsaid(struct trust *t, uint64_t pc, unsigned size, const struct cfi_row *row)
{
    struct cfi_row unsaid = *row;

    unsaid.kind = CFI_LOST;
    unsaid.by_code = true;
    unsaid.start = pc;
    unsaid.end = pc + size;
    unsaid.why = "the CFI says nothing of the frame, and the code does not know all of it";
    rows_collect(&t->unsaid, &unsaid);
}

/* Judges ROW, which is the CFI's, at the instruction of FACT, in front of which STATE holds, and takes what the code
 * knows better. */
static void compare_row(struct trust *t, uint64_t pc, const struct code_fact *fact, const struct code_state *state,
                        const struct cfi_row *row)
{
    struct cfi_row fixed = *row;
    struct judgement j;
    const char *why;

    judge_at(t, pc, fact, state, &fixed, &j);
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
    t->steps |= moves_sp(t->cpu, fact);
    if (j.row == SILENT && j.cfa == SILENT && t->unit->says_nothing && state->caller == CALLER_KNOWN &&
        code_bears_out(t->all, pc, row) != CODE_BEARS_OUT)
        note_unsaid(t, pc, fact->size, row);
    if (j.row != CORRECTED && why == NULL)
        return;
    fixed.by_code = true;
    fixed.start = pc;
    fixed.end = pc + fact->size;
    if (why != NULL) {
        fixed.kind = CFI_LOST;
        fixed.why = why;
    }
    rows_collect(&t->fixed, &fixed);
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

    judge_at(t, pc, fact, state, &fixed, &j);
    why = refute(t, pc, fact, state, row, &j);
    note_stored(t, row, &j);
    contradicts = j.row == CORRECTED && !t->cpu->mended_later;
    t->contradicts |= contradicts;
    t->differs |= j.row == CORRECTED || why != NULL;
    fixed = *row;
    fixed.by_code = true;
    fixed.start = pc;
    fixed.end = pc + fact->size;
    if (contradicts || why != NULL) {
        fixed.kind = CFI_LOST;
        fixed.why = why != NULL ? why : trust_of_itself;
    }
    rows_collect(&t->followed, &fixed);
}

/* ---- What is lost elsewhere ------------------------------------------------------------------------------------ */

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
    row = trust_row_at(t, fact->target);
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
        rows_collect(&t->fixed, &lost);
    }
}

/* gcc's CFI counts the address that the call of a detour pushes, and goes on to do so behind the return that takes it
 * off: up to the next row that says anew how far the CFA is. Where the code does not say where it is, nobody does. */
void trust_lose_counted(struct trust *t)
{
    const struct cfi_row *row = t->counted;

    for (; row != NULL && row < t->cfi.list + t->cfi.num; row++)
        if (is_counted(t, row))
            lose_unread(t, row, of_detour);
}

/* Where the code contradicts CFI that says nothing, that is not believed elsewhere in the function either: it may go on
 * there with its frame, in a way that is not seen (`lret`, `iret`, a jump to an address that nobody knows), or in one
 * of several frames. */
void trust_lose_unsaid(struct trust *t)
{
    const bool contradicted = t->own.corrected + t->own.lost > 0 || t->differs || (t->unsaid.num > 0 && t->steps);
    size_t i;

    if (!t->unit->says_nothing || t->read == NULL || !contradicted)
        return;
    lose_unread(t, t->cfi.list,
                "the CFI says nothing of the frame, and no way is seen in which the code comes there");
    for (i = 0; i < t->unsaid.num; i++) {
        t->own.lost += t->unsaid.list[i].end - t->unsaid.list[i].start;
        rows_collect(&t->fixed, &t->unsaid.list[i]);
    }
}

/* STATE holds at the instruction of FACT only perhaps: notes whether ROW, the CFI's, does not say so. */
static void note_differing(struct trust *t, uint64_t pc, const struct code_fact *fact,
                           const struct code_state *state, const struct cfi_row *row)
{
    struct cfi_row copy = *row;
    struct judgement j;

    judge_at(t, pc, fact, state, &copy, &j);
    t->differs |= j.row == CORRECTED || j.row == REFUTED;
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

/* What the analysis has found out in front of an instruction. */
void trust_compare(void *ctx, uint64_t pc, const struct code_fact *fact, const struct code_state *state)
{
    struct trust *t = ctx;
    const struct cfi_row *row = trust_row_at(t, pc);

    if (t->believed != NULL) {
        if (row != NULL && row->kind == CFI_RULES && fact->size != 0)
            refute_row(t, pc, fact, state, row);
        return;
    }
    if (state->strays) {
        if (row != NULL && row->kind == CFI_RULES && fact->size != 0)
            note_differing(t, pc, fact, state, row);
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

struct rows trust_unite(struct trust *t)
{
    struct rows result = {NULL, 0};
    size_t i, k = 0;

    put_in_order(t->fixed.list, t->fixed.num, sizeof *t->fixed.list, rows_by_start);
    for (i = 0; i < t->cfi.num; i++) {
        const struct cfi_row *row = &t->cfi.list[i];
        uint64_t pc = row->start;

        for (; k < t->fixed.num && t->fixed.list[k].start < row->end; k++) {
            const struct cfi_row *fixed = &t->fixed.list[k];
            uint64_t end = fixed->end < row->end ? fixed->end : row->end;

            if (fixed->start < pc)
                continue; /* an instruction that begins within another one */
            rows_put(&result, row, pc, fixed->start);
            rows_put(&result, fixed, fixed->start, end);
            pc = end;
        }
        rows_put(&result, row, pc, row->end);
    }
    return result;
}

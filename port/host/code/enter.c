/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Who enters code without CFI that nothing is seen to call: by registers of the CPU, by trials, by its symbol. */
#include "enter.h"
#include "kinds.h"
#include "units.h"
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

static const struct code_ends none;

/* Who enters UNIT, by how its ways end; or CODE_KINDS. */
static enum code_kind judge_unit(struct code *code, const struct code_unit *unit, const struct code_ends *ends,
                                 const char **why)
{
    const struct symbol *symbol = image_symbol(code->image, unit->start);
    const bool function =
        symbol != NULL && symbol->function && !unit_names_piece(symbol->name) && unit->lost_to != LOST_BY_ENTRY;

    if (unit->jumped_to)
        return CODE_KINDS;
    if (ends->resumes || ends->exits) {
        const enum code_kind kind = code_kind_of(code, unit->start, why);

        if (kind != CODE_KINDS)
            return kind;
        if (ends->resumes && !ends->hands_on)
            return CODE_KINDS;
    }
    if (!ends->returns && code_is_gate(code, unit->start))
        return CODE_KINDS;
    if (function && !code_contradicts_call(ends)) {
        *why = ends->returns ? "a function, which returns to its caller" : "a function, by its symbol";
        return CODE_CALLED;
    }
    if (ends->returns && !ends->unknown && !code_contradicts_call(ends)) {
        *why = "it returns to its caller, with SP and FP as they were";
        return CODE_CALLED;
    }
    /* It may then go on in a program, by a frame that lies where the thread's stack begins. */
    if (ends->hands_on && !ends->returns && !ends->returns_ill && (!ends->takes || ends->resumes || ends->exits)) {
        *why = "it calls what a register has that callers keep, and does not return: the first code of a thread";
        return CODE_START;
    }
    /* ARM: each mode has its own SP, and exceptions' entries change modes. */
    if (ends->loses && !ends->returns && !ends->returns_ill && !ends->takes && !ends->unknown && !ends->exits &&
        code->image->header.e_machine != EM_ARM) {
        *why = "it takes a stack of its own, and nothing leads back to another one";
        return CODE_START;
    }
    return CODE_KINDS;
}

/* Where the last branches of a unit lead to. */
enum { BRANCHES = 16 };
struct branches {
    uint64_t to[BRANCHES];
    size_t num; /* all there have been */
};

static bool branch_leads_to(const struct branches *branches, uint64_t pc)
{
    size_t i;

    for (i = 0; i < branches->num && i < BRANCHES; i++)
        if (branches->to[i] == pc)
            return true;
    return false;
}

/* Stubs that follow on the one at the start of UNIT, which an interrupt enters, without symbols. Where a branch in
 * front leads is a way of that one. */
static void enter_stubs(struct code *code, const struct code_how *how, const struct code_unit *unit)
{
    const struct code_text text = unit_text_at(code, unit->start);
    struct branches branches = {{0}, 0};
    uint64_t pc = unit->start;
    bool begins = false;

    while (pc < unit->end && text.bytes != NULL) {
        struct code_fact fact;
        enum code_kind kind;
        const char *why;

        memset(&fact, 0, sizeof fact);
        code->cpu->decode(code->decoder, &text, pc, &fact);
        if (fact.size == 0)
            return;
        if (begins && !image_is_padding(code->image, pc, pc + fact.size)) {
            kind = code_has_row(unit, pc) || branch_leads_to(&branches, pc) ? CODE_KINDS
                                                                            : code_kind_of(code, pc, &why);
            if (kind != CODE_KINDS)
                code_enter(code, how, pc, kind, why);
            begins = false;
        }
        if (fact.flow == CODE_BRANCH)
            branches.to[branches.num++ % BRANCHES] = fact.target;
        begins |= fact.flow == CODE_JUMP || fact.flow == CODE_RESUME || fact.flow == CODE_STOP;
        pc += fact.size;
    }
}

struct candidate {
    struct code_unit *unit;
    struct code_ends ends;
};

/* Units that nothing leads to, and which begin at a symbol. */
static size_t find_candidates(struct code *code, const struct code_how *how, struct candidate **list)
{
    size_t i, num = 0;

    for (i = 0; i < code->num_units; i++) {
        struct code_unit *unit = &code->units[i];
        const struct symbol *symbol = image_symbol(code->image, unit->start);

        if (unit->fde != NULL || unit->function || code_edge_to_start(unit) != NULL || symbol == NULL ||
            symbol->addr != unit->start || code_is_given(how, unit->start) || code_is_foreign(code, unit->start) ||
            image_is_padding(code->image, unit->start, unit->end))
            continue;
        *list = grow(*list, num, sizeof **list);
        (*list)[num++] = (struct candidate){unit, none};
    }
    for (i = 0; i < num; i++)
        code_try(code, (*list)[i].unit->start, CODE_CALLED, &(*list)[i].ends);
    return num;
}

/* Functions come first: what they lead to needs no judgement of its own. But start-up code may jump to a function that
 * does not return, and which its symbol alone calls a function: so start-up code comes between. */
enum pass { FUNCTIONS_THAT_RETURN, STARTS, FUNCTIONS, LABELS, PASSES };

/* Whether CANDIDATE, which is entered as KIND, has its turn in PASS. */
static bool has_turn(const struct candidate *candidate, enum code_kind kind, enum pass pass)
{
    if (pass == FUNCTIONS_THAT_RETURN)
        return kind != CODE_CALLED || candidate->ends.returns;
    return pass != STARTS || kind == CODE_START;
}

static bool take_candidates(struct code *code, const struct code_how *how, struct candidate *list, size_t num,
                            enum pass pass)
{
    const bool functions = pass == FUNCTIONS_THAT_RETURN || pass == FUNCTIONS;
    bool any = false;
    size_t i;

    for (i = 0; i < num; i++) {
        struct code_unit *unit = list[i].unit;
        const char *why = NULL;
        enum code_kind kind;

        if (unit->judged || (functions && !code_begins_function(code, unit->start)))
            continue;
        if (pass != STARTS && code_has_slots(code, unit->start)) {
            code_enter_slots(code, how, unit->start,
                             "vectors, by their alignment, one of which returns from an exception");
            unit->judged = any = true;
            continue;
        }
        kind = judge_unit(code, unit, &list[i].ends, &why);
        if (kind == CODE_KINDS || !has_turn(&list[i], kind, pass))
            continue;
        unit->judged = any = true;
        code_enter(code, how, unit->start, kind, why);
        if (kind == CODE_TRAP || kind == CODE_ERROR)
            enter_stubs(code, how, unit);
    }
    return any;
}

/* Why the code at ADDR, which returns from an interrupt, is entered by no kind of one. */
static const char *why_no_kind(struct code *code, uint64_t addr)
{
    if (!code->cpu->link && code_is_kind(code, addr, CODE_TRAP) && !code_is_kind(code, addr, CODE_ERROR))
        return "it returns from an interrupt behind a call that never returns, which does not show whether the CPU "
               "has pushed an error code";
    return "it ends as a return from an interrupt, but not as any kind would (name it as :call or :start if it "
           "starts a program)";
}

bool code_find_entries(struct code *code, const struct code_how *how)
{
    struct candidate *list = NULL;
    size_t i, num;
    bool any = false;

    for (i = 0; i < code->num_vectors; i++)
        if (!code->vectors[i].done) {
            code->vectors[i].done = any = true;
            code_enter_vector(code, how, &code->vectors[i]);
        }
    if (any || code_enter_64_bits(code, how))
        return true;
    num = find_candidates(code, how, &list);
    for (i = 0; i < PASSES && !any; i++)
        any = take_candidates(code, how, list, num, (enum pass)i);
    for (i = 0; i < num && !any && how->entered != NULL; i++) {
        const struct code_ends *ends = &list[i].ends;

        if (!list[i].unit->jumped_to && !code_is_lost_by_itself(list[i].unit) && /* that has been said */
            (ends->resumes || ends->calls || code_begins_function(code, list[i].unit->start)))
            how->entered(how->ctx, list[i].unit->start, CODE_KINDS, NULL,
                         ends->resumes                             ? why_no_kind(code, list[i].unit->start)
                         : code_is_gate(code, list[i].unit->start) ? code_why_gate(code)
                                                                   : "nothing shows how it is entered");
    }
    free(list);
    return any;
}

/* What the code of ENTRY is if it cannot be what it is named; or CODE_KINDS. Nobody need have called what is a start,
 * and what is a function of many is none of them alone. */
static enum code_kind contradiction(struct code *code, const struct code_entry_point *entry, const char **why)
{
    const enum code_kind slot = code_kind_of_slot(code, entry->addr);
    const struct code_unit *unit = code_unit_at(code, entry->addr);
    struct code_ends ends;
    enum code_kind kind;

    *why = "a call leads there";
    if (entry->overrules && unit != NULL && unit->is_called)
        return CODE_CALLED;
    if (entry->kind == CODE_START || (entry->kind == CODE_CALLED && !entry->exact))
        return CODE_KINDS;
    *why = "it is one of the vectors that VBAR is set to";
    if (slot != CODE_KINDS)
        return slot == entry->kind || (slot == CODE_LOWER && entry->kind == CODE_SP0) ? CODE_KINDS : slot;
    code_try_seen(code, entry->addr, CODE_CALLED, &ends);
    *why = "it returns to its caller, with SP and FP as they were";
    if (entry->kind != CODE_CALLED && ends.returns && !ends.returns_ill && !ends.resumes && !ends.exits &&
        !ends.unknown && !code_contradicts_call(&ends))
        return CODE_CALLED;
    if (entry->kind == CODE_CALLED ? ends.returns || !ends.resumes : code_is_kind(code, entry->addr, entry->kind))
        return CODE_KINDS;
    kind = code_kind_of(code, entry->addr, why);
    return kind != entry->kind && kind != CODE_KINDS && code_is_kind(code, entry->addr, kind) ? kind : CODE_KINDS;
}

void code_find_conflicts(struct code *code, const struct code_how *how)
{
    size_t i;

    for (i = 0; i < how->num_entries && how->entered != NULL; i++) {
        const char *why;
        enum code_kind kind;

        if (how->entries[i].described && !how->entries[i].taken)
            continue;
        kind = contradiction(code, &how->entries[i], &why);
        if (kind != CODE_KINDS)
            how->entered(how->ctx, how->entries[i].addr, kind, &how->entries[i], why);
    }
}

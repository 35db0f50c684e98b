/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * An instruction gives SP a value that nobody knows: that of another stack.
 *
 * The entry of an interrupt does so to handle it there. Who was interrupted is the same, and the words that are stored
 * on that stack from now on are known.
 *
 * Else it is a switch to a thread that has once come this way, too, and left its stack as this code leaves the other
 * one. Nothing in registers is its own, but on its stack stands what would stand on the old one. That needs no belief:
 * who is returned to is found by the words that the code takes off the stack, whatever they are. So it is shown where
 * a way ends, in a return to the caller by SP, RA and FP in the places of an ordinary return, or in one from the
 * interrupt. Where a way ends otherwise the unit is run again, and nothing is known behind the switch.
 */
#include "stacks.h"
#include "index.h"
#include "state.h"
#include "units.h"

static bool holds(const struct code_state *state, uint8_t base)
{
    unsigned i;

    for (i = 0; i < state->num; i++)
        if (state->slot[i].value.base == base && state->slot[i].base != BASE_NUMBER)
            return true;
    return false;
}

/* Where SP was left on a stack that this code has gone from, with SP at BEFORE: there, if SP has been stored there, or
 * nowhere. It may have been stored, or been an argument, and other arguments been pushed since. */
static struct code_value left_at(const struct code_cpu *cpu, const struct code_state *state,
                                 const struct code_value *before, bool left)
{
    enum { MOST_ARGUMENTS = 3 };
    int64_t i;

    if (left)
        return *before;
    if (state->left.base != BASE_UNKNOWN)
        return state->left.base == BASE_NEAR ? state_unknown : state->left;
    /* i386: arguments are on the stack */
    for (i = 0; i < MOST_ARGUMENTS && cpu->pushed != 0 && state->caller == CALLER_INTERRUPTED; i++) {
        const struct code_value argument = state_load(state, before, i * cpu->word);

        if (argument.base == before->base)
            return argument;
    }
    return *before;
}

/* STATE is on another stack of the same shape; on the old one SP is at BEFORE. Words with addresses on the stack are
 * the other's own only if SP has been left there to be taken again, or if it is a CPU's frame, which a return takes. */
static void take_stack(const struct code_cpu *cpu, struct code_state *state, const struct code_value *before,
                       bool left)
{
    const struct code_value fp = state->reg[cpu->fp], ra = state->reg[cpu->ra];
    const struct code_value there = left_at(cpu, state, before, left);
    unsigned i = 0;

    while (i < state->num) {
        const struct code_slot *slot = &state->slot[i];
        bool is_address = slot->value.base >= BASE_CFA && slot->value.base <= BASE_TRAP;

        if (slot->base == BASE_NUMBER || slot->base == BASE_ALIGNED ||
            (is_address && !left && slot->base != BASE_TRAP))
            state_drop_slot(state, &state->slot[i]);
        else
            i++;
    }
    for (i = 0; i < CODE_REGISTERS; i++)
        if (i != CODE_ZERO)
            state->reg[i] = state_unknown;
    index_forget(state);
    state->reg[cpu->sp] = there;
    state->left = state_unknown;
    if (!holds(state, (uint8_t)(BASE_ENTRY + cpu->fp)) && fp.base == BASE_ENTRY + cpu->fp)
        state->reg[cpu->fp] = fp;
    if (cpu->link && !holds(state, BASE_RETURN) && ra.base == BASE_RETURN)
        state->reg[cpu->ra] = ra;
}

bool code_move_stack(const struct code_cpu *cpu, struct code_state *state, const struct code_value *before,
                     bool left)
{
    const struct code_value *sp = &state->reg[cpu->sp];
    const bool on_stack = before->base == BASE_CFA || before->base == BASE_TRAP;

    if (sp->base > BASE_NUMBER || !on_stack)
        return false;
    if (state->caller == CALLER_INTERRUPTED && !state->has_called)
        state_align(cpu, state);
    else
        take_stack(cpu, state, before, left);
    return true;
}

void stack_switch(struct code *code, const struct code_unit *unit, struct code_state *state,
                  const struct code_value *before, bool left)
{
    struct code_value *sp = &state->reg[code->cpu->sp];
    bool is_entry = state->caller == CALLER_INTERRUPTED && !state->has_called;

    if (state->caller == CALLER_NONE &&
        sp->base <= BASE_NUMBER) { /* start-up code takes one: nobody returns from it */
        state_align(code->cpu, state);
        return;
    }
    if (unit->fde != NULL || unit->switches_ill || state->switched != 0 || sp->base > BASE_NUMBER ||
        (before->base != BASE_CFA && before->base != BASE_TRAP) ||
        (state->caller != CALLER_INTERRUPTED && state->caller != CALLER_KNOWN))
        return;
    state->switched = (uint32_t)(unit - code->units) + 1;
    if (is_entry) {
        state_align(code->cpu, state);
        state->switched |= CODE_ENTERS;
    } else {
        take_stack(code->cpu, state, before, left);
    }
}

static struct code_unit *switcher(const struct code *code, const struct code_state *state)
{
    return state->switched != 0 && state->switched != CODE_MIXED
               ? &code->units[(state->switched & ~(uint32_t)CODE_ENTERS) - 1]
               : NULL;
}

void stack_end(struct code *code, const struct code_state *state, bool good)
{
    struct code_unit *unit = switcher(code, state);

    if (unit == NULL || (good ? unit->switches_well : unit->switches_ill))
        return;
    unit->switches_well |= good;
    unit->switches_ill |= !good;
    code->switch_ended = true;
}

/* x86_64: whether SP points to what `iretq` takes back, as the entry of a system call has pushed it. */
static bool is_pushed(const struct code_cpu *cpu, const struct code_state *state, const struct code_value *sp)
{
    const struct code_value pc = state_load(state, sp, 0), old = state_load(state, sp, 24);

    return cpu->pushed == 0 && pc.base == BASE_RETURN && old.base == BASE_CFA && old.k == 0;
}

bool code_is_at_pushed(const struct code_cpu *cpu, const struct code_value *sp)
{
    return sp->base == (cpu->pushed != 0 ? BASE_CFA : BASE_TRAP) && sp->k == -cpu->pushed;
}

bool code_resumes_well(const struct code_cpu *cpu, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_value *sp = &state->reg[cpu->sp];
    const int64_t k = cpu->link ? cpu->sp_at_entry : 0;

    if (fact->link != 0)
        return state->reg[fact->link].base == BASE_RETURN && sp->base == BASE_CFA && sp->k == 0;
    if (state_has_pc(cpu) && state->reg[CODE_PC].base != BASE_RETURN)
        return false;
    if (cpu->banked)
        return sp->base == BASE_CFA && sp->k == k && state->reg[CODE_PC].k == 0 &&
               state->reg[CODE_STATUS].base == BASE_ENTRY + CODE_STATUS;
    if (cpu->old_psw != 0) /* an old PSW says nothing of a thread that has left its stack */
        return sp->base == BASE_CFA && sp->k == k && state->switched == 0;
    if (!cpu->link)
        return code_is_at_pushed(cpu, sp) || is_pushed(cpu, state, sp);
    return sp->k == 0 && (sp->base == BASE_TRAP || sp->base == BASE_CFA);
}

void stack_resume(struct code *code, const struct code_state *state)
{
    const struct code_cpu *cpu = code->cpu;
    const struct code_value *sp = &state->reg[cpu->sp];

    if (state->switched & CODE_ENTERS)
        stack_end(code, state,
                  sp->base == BASE_CFA || sp->base == BASE_TRAP || (!cpu->link && is_pushed(cpu, state, sp)));
    else
        stack_end(code, state,
                  cpu->old_psw == 0 && state->caller == CALLER_INTERRUPTED &&
                      (code_is_at_pushed(cpu, sp) || (sp->k == 0 && sp->base == BASE_CFA && state->trap_is_cfa)) &&
                      state->reg[cpu->fp].base == BASE_ENTRY + cpu->fp && state->reg[cpu->fp].k == 0 &&
                      (!cpu->link || state->reg[CODE_PC].base == BASE_RETURN));
}

bool code_is_sure(const struct code *code, struct code_unit *unit, const struct code_state *state)
{
    const struct code_unit *from = switcher(code, state);

    if (state->switched == 0 ||
        (from != NULL && !from->switches_ill && (from->switches_well || (state->switched & CODE_ENTERS) != 0)))
        return true;
    unit->waits = true;
    return false;
}

/* What came to other units through the switch of unit NUMBER, which is none, comes anew. */
static void forget_switch(struct code *code, size_t number)
{
    size_t i;

    for (i = 0; i < code->num_units; i++) {
        struct code_edge **at = &code->units[i].edges;

        while (*at != NULL) {
            struct code_edge *edge = *at;

            if (switcher(code, &edge->state) != &code->units[number] && edge->state.switched != CODE_MIXED) {
                at = &edge->next;
                continue;
            }
            at = unit_forget_edge(code, at);
            code->units[i].dirty = true;
        }
    }
}

void code_end_switches(struct code *code)
{
    size_t i;

    if (!code->switch_ended)
        return;
    code->switch_ended = false;
    for (i = 0; i < code->num_units; i++) {
        struct code_unit *unit = &code->units[i];

        unit->dirty |= unit->waits;
        unit->waits = false;
        if (!unit->switches_ill || unit->switch_forgotten)
            continue;
        unit->switch_forgotten = unit->dirty = true;
        forget_switch(code, i);
    }
}

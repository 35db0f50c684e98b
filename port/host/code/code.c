/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The ways through a unit: the state of each of its instructions, and what it does to its caller. */
#include "imports.h"
#include "index.h"
#include "stacks.h"
#include "state.h"
#include "taken.h"
#include "trial.h"
#include "units.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* An instruction that has been read. */
struct place {
    struct code_fact fact;
    uint64_t pc;
    struct code_state *state; /* where ways begin or meet: what they agree on; else NULL */
    size_t jumps;             /* the number + 1 of the table that it has jumped by, or 0 */
    bool meets, waits;
    bool ends_well; /* i386: SP is at the return address in front of a jump or a return, if no callee pops unseen */
    bool comes_free; /* a way from the start leads there without a call of what may pop */
    bool may_pop;    /* nothing shows that what is called there does not */
    bool given;      /* what holds there has been */
    bool ends_ill;   /* it returns as no function does that was entered by its own frame (is_ill) */
    bool ends_right; /* or it returns as one does */
    uint8_t marks;   /* TO_... */
    bool sure;       /* a way leads there that is one for sure */
    uint64_t callee; /* what a call by a register calls on each way that was seen; CALLS_SEVERAL; or 0 */
    uint64_t tried;  /* the number of the last search that has come there */
};

enum { CALLS_SEVERAL = 1 };

/* Where ways begin that no jump shows. */
struct seed {
    uint64_t pc;
    struct code_state state;
};

enum { MAX_AWAY = 16 };

/* A table of jumps, and where they lead to. */
struct jumps {
    struct code_value table;
    uint64_t *targets;
    size_t num;
    size_t entries;     /* that were read */
    uint32_t bound;     /* how many a comparison allows, or 0 */
    bool is_discovered; /* what the targets lead to has been read */
};

struct run {
    struct code *code;
    struct code_unit *unit;
    struct code_text text;
    uint32_t *index; /* by offset: of the place, + 1; or 0 */
    bool *executed;  /* by offset: another instruction executes what stands there */
    bool *begins;    /* by offset: an instruction does, read from the start on; or NULL: not read yet */
    uint64_t swept;  /* the offset up to which that is known */
    struct place *places;
    size_t num_places;
    uint32_t *work; /* places whose state has changed */
    size_t num_work;
    struct jumps *jumps;
    size_t num_jumps;
    uint32_t here;           /* the number of the place that is followed */
    bool found_jumps;        /* in this round */
    bool odd;                /* in this round: as in the unit */
    uint32_t popped;         /* the same */
    bool waits;              /* the same */
    bool misled;             /* targets were taken that are none: what was read there goes */
    bool *refuted;           /* by offset: no way leads there, although one was seen; or NULL: nowhere */
    bool is_mute;            /* what is found says nothing outside of the unit, because more may be refuted */
    struct code_state *away; /* those of jumps to what a register has; no two are the same */
    size_t num_away;
    struct code_state *anywhere; /* as in struct code_unit */
    struct seed *seeds;
    size_t num_seeds;
    uint64_t searches; /* how many there were for what shows that callees do not pop */
    uint64_t *unread;  /* behind calls that did not seem to come back: by a way it was seen that they do */
    size_t num_unread;
    bool apart;      /* code is followed to which no way leads: that shows nothing outside of it */
    bool is_data;    /* and it is none */
    uint32_t *begun; /* places of it that states have come to */
    size_t num_begun;
    const struct code_watch *watch;
};

/* The place at PC, read if it was not yet. Its number is returned; OUTSIDE if PC is not in the unit. */
static const uint32_t OUTSIDE = UINT32_MAX;

static uint32_t place_at(struct run *r, uint64_t pc, bool *is_new)
{
    const struct code *code = r->code;
    struct place *place;
    uint64_t offset = pc - r->unit->start;

    if (pc < r->unit->start || pc >= r->unit->end || pc % code->cpu->align != 0)
        return OUTSIDE;
    if (r->index[offset] != 0)
        return r->index[offset] - 1;
    r->places = grow(r->places, r->num_places, sizeof *r->places);
    place = &r->places[r->num_places++];
    memset(place, 0, sizeof *place);
    place->pc = pc;
    code->cpu->decode(code->decoder, &r->text, pc, &place->fact);
    if (place->fact.executes >= r->unit->start && place->fact.executes < r->unit->end)
        r->executed[place->fact.executes - r->unit->start] = true;
    r->index[offset] = (uint32_t)r->num_places;
    *is_new = true;
    return (uint32_t)r->num_places - 1;
}

/* Whether nothing but padding comes from PC to the end of the unit, or what no way leads to. Compilers end a function
 * so where its last call never returns. */
static bool is_end(const struct run *r, uint64_t pc)
{
    return pc >= r->unit->end || r->executed[pc - r->unit->start] ||
           image_is_padding(r->code->image, pc, r->unit->end);
}

/* Whether FACT is a call over instructions that stop, to what follows on them: it fills the CPU's predictor of returns.
 * Nothing returns to NEXT. */
static bool is_filler(const struct run *r, const struct code_fact *fact, uint64_t next)
{
    enum { INT3 = 0xcc, MOST = 8 };
    uint64_t at;

    if (fact->flow != CODE_CALL || r->code->cpu->link || fact->target <= next || fact->target - next > MOST ||
        fact->target >= r->unit->end)
        return false;
    for (at = next; at < fact->target && r->text.bytes[at - r->unit->start] == INT3; at++)
        continue;
    return at == fact->target;
}

/* Whether FACT calls a function that takes its arguments off the stack, or returns with another FP: a piece of a
 * prologue, which makes a function's frame. */
static bool changes_frame(const struct run *r, const struct code_fact *fact)
{
    const struct code_unit *callee = unit_called_by(r->code, fact);

    return callee != NULL && (state_pops_arguments(callee) || callee->spoils);
}

/* Whether the PC goes on behind FACT, at NEXT, if it does what it says. What does not always come back does not at the
 * end of a unit. A piece of the function does, with another frame. */
static bool comes_back(const struct run *r, const struct code_fact *fact, uint64_t pc)
{
    uint64_t next = pc + fact->size;

    if (fact->flow == CODE_CALL && (is_filler(r, fact, next) || code_detour(r->code, fact, next) != DETOUR_NONE))
        return false;
    /* Where there is CFI, that says what holds behind the call. */
    if (fact->flow == CODE_CALL && fact->link == 0 && r->unit->fde == NULL &&
        !code_is_own_address(r->code, fact, next) &&
        (unit_ends_with_call(r->code, next) || code_never_returns(r->code, fact->target) ||
         code_never_returns_by_word(r->code, fact, NULL)))
        return false;
    if (fact->flow == CODE_CALL && fact->link == 0 && changes_frame(r, fact)) /* CFI says so, too */
        return !is_end(r, next);
    if (fact->flow == CODE_CALL && fact->link == 0 && !code_is_own_address(r->code, fact, next))
        return !is_end(r, next) && (r->watch->ends == NULL || !r->watch->ends(r->watch->ctx, fact, pc, next));
    if (fact->flow == CODE_NEXT && fact->odd)
        return !is_end(r, next) && (r->unit->fde != NULL || !unit_is_filled(r->code, pc, 2));
    return fact->flow == CODE_CALL || fact->flow == CODE_NEXT || fact->flow == CODE_BRANCH;
}

/* Whether the PC may go on behind FACT, of PC. */
static bool goes_on(const struct run *r, const struct code_fact *fact, uint64_t pc)
{
    return fact->size != 0 && (fact->condition != 0 || comes_back(r, fact, pc));
}

static bool has_target(const struct code_fact *fact)
{
    return fact->size != 0 && (fact->flow == CODE_JUMP || fact->flow == CODE_BRANCH || fact->flow == CODE_CALL);
}

/* Whether PC, in the unit or out of it, is where no way leads although one was seen. */
static bool is_refuted(const struct run *r, uint64_t pc)
{
    return r->refuted != NULL && pc >= r->unit->start && pc < r->unit->end && r->refuted[pc - r->unit->start];
}

/* Notes that one more way leads to PC; two of them meet there. What is new is put on the list of work. */
static void discover_at(struct run *r, uint64_t pc, bool meets)
{
    bool is_new = false;
    uint32_t at = is_refuted(r, pc) ? OUTSIDE : place_at(r, pc, &is_new);

    if (at == OUTSIDE)
        return;
    r->places[at].meets |= meets || !is_new;
    if (!is_new)
        return;
    r->work = grow(r->work, r->num_work, sizeof *r->work);
    r->work[r->num_work++] = at;
}

/* Reads all that the places on the list of work lead to. */
static void discover_behind(struct run *r)
{
    while (r->num_work > 0) {
        const struct place *place = &r->places[r->work[--r->num_work]];
        struct code_fact fact = place->fact;
        uint64_t pc = place->pc;

        if (has_target(&fact) && !(fact.flow == CODE_CALL && r->unit->function && fact.target == r->unit->start))
            discover_at(r, fact.target, true);
        if (goes_on(r, &fact, pc))
            discover_at(r, pc + fact.size, false);
    }
}

/* Reads all that can be reached, and notes where ways meet. */
static void discover(struct run *r)
{
    const struct code_edge *edge;
    size_t i, k;

    for (i = 0; i < r->num_seeds; i++)
        discover_at(r, r->seeds[i].pc, true);
    for (i = 0; i < r->num_jumps; i++) {
        for (k = 0; k < r->jumps[i].num; k++)
            discover_at(r, r->jumps[i].targets[k], true);
        r->jumps[i].is_discovered = true;
    }
    if (r->unit->function)
        discover_at(r, r->unit->start, true);
    for (edge = r->unit->edges; edge != NULL; edge = edge->next)
        discover_at(r, edge->target, true);
    for (i = 0; i < r->num_unread; i++)
        if (r->index[r->unread[i] - r->unit->start] == 0)
            discover_at(r, r->unread[i], false);
    discover_behind(r);
}

/* STATE comes to place AT, where ways meet. */
static void arrive(struct run *r, uint32_t at, const struct code_state *state)
{
    struct place *place = &r->places[at];
    bool changed = true;

    if (r->apart && place->given)
        return;
    if (place->state != NULL) {
        changed = code_join(r->code->cpu, place->state, state);
    } else {
        place->state = unwritten(sizeof *place->state);
        state_copy(place->state, state);
        index_forget_twins(place->state);
        if (r->apart) {
            r->begun = grow(r->begun, r->num_begun, sizeof *r->begun);
            r->begun[r->num_begun++] = at;
        }
    }
    if (!changed || place->waits)
        return;
    place->waits = true;
    r->work = grow(r->work, r->num_work, sizeof *r->work);
    r->work[r->num_work++] = at;
}

static void add_jump(struct code *code, const struct code_unit *from, const struct code_unit *to)
{
    const struct code_call jump = {(uint32_t)(from - code->units), (uint32_t)(to - code->units)};
    const struct code_call *last = code->num_jumps > 0 ? &code->jumps[code->num_jumps - 1] : NULL;

    if (to == NULL || (last != NULL && last->caller == jump.caller && last->callee == jump.callee))
        return;
    code->jumps = grow(code->jumps, code->num_jumps, sizeof *code->jumps);
    code->jumps[code->num_jumps++] = jump;
}

/* STATE goes to PC, in another unit: perhaps as a call does that returns to the caller of this one. */
static void go_out(struct run *r, uint64_t pc, const struct code_state *state)
{
    const struct code_unit *unit = code_unit_at(r->code, pc);
    struct code_state next;

    if (r->is_mute)
        return;
    add_jump(r->code, r->unit, unit);
    r->unit->leaves |= unit == NULL && image_code(r->code->image, pc) != NULL;
    if (state->switched == 0 || unit == NULL || unit->start != pc || !code_is_entry(r->code->cpu, state)) {
        code_add_edge(r->code, pc, state);
        return;
    }
    stack_end(r->code, state, true);
    state_copy(&next, state);
    next.switched = 0;
    code_add_edge(r->code, pc, &next);
}

/* Whether STATE is that of code to which no way leads, or perhaps one does: it shows nothing outside of it. */
static bool is_apart(const struct run *r, const struct code_state *state)
{
    return r->apart || state->strays;
}

/* STATE goes to PC, in the unit or out of it. */
static void go(struct run *r, uint64_t pc, const struct code_state *state)
{
    bool is_new = false;
    uint32_t at;

    if (is_refuted(r, pc))
        return;
    at = place_at(r, pc, &is_new);
    if (at != OUTSIDE)
        arrive(r, at, state);
    else if (!is_apart(r, state))
        go_out(r, pc, state);
}

static void add_call(struct code *code, const struct code_unit *caller, const struct code_unit *callee)
{
    code->calls = grow(code->calls, code->num_calls, sizeof *code->calls);
    code->calls[code->num_calls++] =
        (struct code_call){(uint32_t)(caller - code->units), (uint32_t)(callee - code->units)};
}

enum { MAX_PIECE = 64 }; /* instructions */

/* Follows STATE from PC on, through code without branches, up to a jump to NEXT by a register. */
static bool follow_piece(const struct code *code, struct code_state *state, uint64_t pc, uint64_t next)
{
    struct code_fact fact;
    unsigned i;

    for (i = 0; i < MAX_PIECE; i++) {
        if (!unit_fact_at(code, pc, &fact))
            return false;
        code_step(code->cpu, state, &fact);
        if (fact.flow == CODE_AWAY && fact.condition == 0)
            return state->reg[CODE_TARGET].base == BASE_NUMBER &&
                   state->reg[CODE_TARGET].k == state_wrapped(code->cpu, (int64_t)next);
        if (fact.condition != 0 || (fact.flow != CODE_NEXT && (fact.flow != CODE_JUMP || fact.by_register)))
            return false;
        pc = fact.flow == CODE_JUMP ? fact.target : pc + fact.size;
    }
    return false;
}

/* A call that leaves where it returns to in another register than RA is one of a piece of this function: of a prologue
 * that libgcc has (RISC-V, -msave-restore), or of what several functions have in common (clang's -Oz). What the piece
 * does is this function's. A trace from the piece finds who called that. */
static void take_piece(struct run *r, struct code_state *state, const struct code_fact *fact, uint64_t next)
{
    const struct code_cpu *cpu = r->code->cpu;
    struct code_state entry;
    const uint8_t caller = state->caller;
    const uint32_t switched = state->switched;

    code_entry(cpu, &entry);
    entry.reg[cpu->ra] = state_unknown;
    entry.reg[fact->link] = state_way_back;
    if (fact->target != 0)
        go(r, fact->target, &entry);
    state->reg[fact->link] = (struct code_value){state_wrapped(cpu, (int64_t)next), BASE_NUMBER, false, 0, 0};
    if (fact->target != 0 && follow_piece(r->code, state, fact->target, next))
        return;
    memset(state, 0, sizeof *state);
    state->reg[CODE_ZERO] = entry.reg[CODE_ZERO];
    state->caller = caller;
    state->has_called = true;
    state->switched = switched;
}

/* ARM's bl into the middle of its function may be a jump (gcc for ARMv6-M, whose other jumps are short) or call a piece
 * of it. Both are a jump to TARGET with STATE and with the address of NEXT in RA. What comes back leaves SP and FP. */
static void go_within(struct run *r, struct code_state *state, uint64_t target, uint64_t next)
{
    const struct code_cpu *cpu = r->code->cpu;
    struct code_state there;
    unsigned i;

    state_copy(&there, state);
    there.reg[cpu->ra] = (struct code_value){state_wrapped(cpu, (int64_t)next), BASE_NUMBER, false, 0, 0};
    go(r, target, &there);
    code_after_call(cpu, state, NULL);
    for (i = 0; i < CODE_REAL; i++)
        if (i != cpu->sp && i != cpu->fp)
            state->reg[i] = state_unknown;
    index_forget(state);
}

/* Where all instructions are as large as this, each multiple of it begins one. */
enum { WORD_ALIGNED = 4 };

/* Whether an instruction of the unit begins at PC, if all of it is code. ARM has data in between: there each is
 * believed. aarch64 has it, too, and instructions of one size. */
static bool begins_at(struct run *r, uint64_t pc)
{
    const struct code *code = r->code;
    uint64_t size = r->unit->end - r->unit->start, offset;
    struct code_fact fact;

    if (code->cpu->data_end != NULL || pc < r->unit->start || pc >= r->unit->end ||
        code->cpu->align == WORD_ALIGNED)
        return true;
    if (r->begins == NULL) {
        r->begins = zeroed((size_t)size, sizeof *r->begins);
        for (offset = 0; offset < size; offset += fact.size) {
            r->begins[offset] = true;
            memset(&fact, 0, sizeof fact);
            if (r->index[offset] != 0)
                fact = r->places[r->index[offset] - 1].fact;
            else
                code->cpu->decode(code->decoder, &r->text, r->unit->start + offset, &fact);
            if (fact.size == 0)
                break;
        }
        r->swept = offset;
    }
    return r->begins[pc - r->unit->start];
}

/* Whether PC is known to be within an instruction of the unit. */
static bool is_within(struct run *r, uint64_t pc)
{
    return !begins_at(r, pc) && pc - r->unit->start < r->swept;
}

/* Whether a way with STATE that may be none is followed to PC. */
static bool agrees_at(struct run *r, uint64_t pc, const struct code_state *state)
{
    return r->watch->agrees == NULL ||
           (r->watch->agrees(r->watch->ctx, pc, state) && (r->unit->fde == NULL || begins_at(r, pc)));
}

/* A call leaves the address of NEXT where a callee finds it, and STATE is what holds at its target: a jump. */
static void push_address(const struct code_cpu *cpu, struct code_state *state, uint64_t next)
{
    const struct code_value before = state->reg[cpu->sp],
                            address = {state_wrapped(cpu, (int64_t)next), BASE_NUMBER, false, 0, 0};

    if (cpu->link) {
        state->reg[cpu->ra] = address;
        return;
    }
    state_store(cpu, state, &before, -cpu->word, &address);
    code_move(&state->reg[cpu->sp], -cpu->word);
}

/* Whether a call of TARGET, in the middle of the unit, with STATE in front of it, is a jump over data whose address it
 * leaves. Nobody is called there: CFI says so, or the code. */
static bool is_over_data(struct run *r, const struct code_state *state, uint64_t target, uint64_t next)
{
    struct code_state entry, pushed;

    if (target <= next || target >= r->unit->end)
        return false;
    if (r->unit->fde == NULL || r->watch->agrees == NULL)
        return unit_takes_address(r->code, target);
    code_entry(r->code->cpu, &entry);
    state_copy(&pushed, state);
    push_address(r->code->cpu, &pushed, next);
    return !r->watch->agrees(r->watch->ctx, target, &entry) && r->watch->agrees(r->watch->ctx, target, &pushed);
}

/* The registers that FACT may change, a bit each. */
static uint64_t written_by(const struct code_fact *fact)
{
    uint64_t mask = 0;
    unsigned i, reg;

    for (i = 0; i < fact->num; i++) {
        const struct code_op *op = &fact->op[i];

        if (op->what == CODE_LOADS)
            mask |= (uint32_t)op->from;
        else if (op->what == CODE_LOAD || op->what == CODE_FORGET)
            for (reg = op->reg; reg <= op->last && reg < 64; reg++)
                mask |= (uint64_t)1 << reg;
        else if (op->what != CODE_STORE && op->what != CODE_STORES && op->what != CODE_WRITE &&
                 op->what != CODE_COPY && op->what != CODE_BOUND && op->reg < 64) /* of an index, too */
            mask |= (uint64_t)1 << op->reg;
    }
    return mask;
}

/* Whether FACT may give SP another stack: it comes from elsewhere than from SP or FP. */
static bool gives_stack(const struct code_cpu *cpu, const struct code_fact *fact)
{
    bool gives = false;
    unsigned i;

    for (i = 0; i < fact->num; i++) {
        const struct code_op *op = &fact->op[i];
        const bool loads = op->what == CODE_LOADS, many = op->what == CODE_LOAD || op->what == CODE_FORGET;
        const bool writes = loads  ? cpu->sp < CODE_REAL && (uint32_t)op->from >> cpu->sp & 1
                            : many ? op->reg <= cpu->sp && op->last >= cpu->sp
                                   : op->reg == cpu->sp && op->what != CODE_STORE && op->what != CODE_STORES &&
                                         op->what != CODE_WRITE && op->what != CODE_COPY &&
                                         op->what != CODE_BOUND && op->what != CODE_ALIGN;

        gives |= writes && (op->what == CODE_FORGET || op->what == CODE_INDEX || op->what == CODE_FETCH ||
                            (op->base != cpu->sp && op->base != cpu->fp));
    }
    return gives;
}

/* Whether other code may run behind FACT, and nobody knows which: that of another stack's thread, or of what a register
 * says. */
static bool may_write_all(const struct code *code, const struct code_fact *fact)
{
    return fact->size == 0 || fact->link != 0 || fact->by_register || fact->flow == CODE_AWAY ||
           gives_stack(code->cpu, fact);
}

enum { MAX_CALLS = 4, MAX_READ = 4096 };

/* The registers that UNIT may leave changed, whatever way is taken through it, and whatever it calls, up to DEPTH calls
 * in each other: all, where a jump or a call goes to where nobody knows. */
static uint64_t written_in(struct code *code, struct code_unit *unit, unsigned depth)
{
    const struct code_text text = {image_instructions(code->image, unit->start, unit->end - unit->start),
                                   unit->start, unit->end};
    uint64_t pc = unit->start, written = 0;
    bool goes_on = true;

    if (unit->is_read)
        return unit->written;
    unit->is_read = true;
    unit->written = UINT64_MAX; /* what calls itself */
    if (text.bytes == NULL || depth == 0 || unit->end - unit->start > MAX_READ)
        return unit->written;
    while (pc < unit->end && !image_is_padding(code->image, pc, unit->end)) {
        struct code_unit *callee;
        struct code_fact fact;

        code->cpu->decode(code->decoder, &text, pc, &fact);
        callee = fact.target != 0 ? code_unit_at(code, fact.target) : NULL;
        if (may_write_all(code, &fact) ||
            (callee == NULL && (fact.flow == CODE_CALL || fact.flow == CODE_JUMP || fact.flow == CODE_BRANCH)) ||
            code_detour(code, &fact, pc + fact.size) == DETOUR_JUMPS)
            return unit->written;
        written |= written_by(&fact);
        if (callee != NULL && callee != unit)
            written |= written_in(code, callee, depth - 1);
        goes_on = fact.condition != 0 || fact.flow == CODE_NEXT || fact.flow == CODE_BRANCH;
        pc += fact.size;
    }
    return unit->written = goes_on ? UINT64_MAX : written; /* it goes on in what lies behind */
}

/* STATE is what holds behind a call of CALLEE, and BEFORE in front of it. Registers in which an ABI lets callees leave
 * what they like have an address on the stack, or of a table, still if CALLEE does not write them (gcc's -fipa-ra). */
static void keep_unwritten(struct code *code, struct code_state *state, const struct code_state *before,
                           struct code_unit *callee)
{
    const struct code_cpu *cpu = code->cpu;
    unsigned i;

    for (i = 0; i < CODE_REAL && callee != NULL; i++)
        if (cpu->changed >> i & 1 && i != cpu->ra &&
            (before->reg[i].base == BASE_NUMBER ||
             (code_is_on_stack(&before->reg[i]) && before->reg[i].base > BASE_NEAR)) &&
            !(written_in(code, callee, MAX_CALLS) >> i & 1))
            state->reg[i] = before->reg[i];
}

/* i386: a call of TARGET leaves the address of NEXT in a register, if that is all that it does
 * (`__x86.get_pc_thunk.bx`). */
static void take_thunk(const struct code *code, struct code_state *state, uint64_t target, uint64_t next)
{
    const struct code_cpu *cpu = code->cpu;
    struct code_fact load, back;
    const struct code_op *op = &load.op[0];

    if (cpu->link || cpu->word != 4 || target == 0 || !unit_fact_at(code, target, &load) || load.num != 1 ||
        load.flow != CODE_NEXT || op->what != CODE_LOAD || op->reg != op->last || op->base != cpu->sp ||
        op->k != 0 || op->reg == cpu->sp || !unit_fact_at(code, target + load.size, &back) ||
        back.flow != CODE_RETURN || back.odd)
        return;
    state->reg[op->reg] = (struct code_value){state_wrapped(cpu, (int64_t)next), BASE_NUMBER, false, 0, 0};
    index_drop(state, op->reg);
}

/* x86: whether `ret n`, whose bytes are c2 and n, may stand from AT up to END in UNIT. */
static bool may_take_at(const struct code *code, const struct code_unit *unit, const uint8_t *bytes, uint64_t at,
                        uint64_t end)
{
    const uint64_t size = unit->end - unit->start;

    for (; at < end && at + 2 < size; at++)
        if (bytes[at] == 0xc2 && bytes[at + 1] % code->cpu->word == 0 && (bytes[at + 1] | bytes[at + 2]) != 0)
            return true;
    return false;
}

/* x86: whether the bytes of UNIT, a function, are instructions without rest, and none of them is a `ret n`: an address
 * may have its bytes, and has others in another link. */
static bool takes_nothing(const struct code *code, const struct code_unit *unit, const uint8_t *bytes)
{
    const struct symbol *symbol = image_symbol(code->image, unit->start);
    bool is_known = symbol != NULL && symbol->function && symbol->addr == unit->start;
    uint64_t pc = unit->start;

    while (is_known && pc < unit->end) {
        const uint64_t at = pc - unit->start;
        struct code_fact fact;

        is_known = unit_fact_at(code, pc, &fact) && fact.size != 0 && fact.size <= unit->end - pc &&
                   (fact.flow != CODE_RETURN || !may_take_at(code, unit, bytes, at, at + fact.size));
        pc += is_known ? fact.size : 0;
    }
    return is_known;
}

/* x86: whether UNIT may have a `ret n`. */
static bool may_take(const struct code *code, struct code_unit *unit)
{
    const uint64_t size = unit->end - unit->start;
    const uint8_t *bytes;
    bool may;

    if (unit->takes != 0)
        return unit->takes == TAKES_PERHAPS;
    bytes = image_instructions(code->image, unit->start, size);
    may = bytes != NULL && may_take_at(code, unit, bytes, 0, size) && !takes_nothing(code, unit, bytes);
    unit->takes = may ? TAKES_PERHAPS : TAKES_NOTHING;
    return may;
}

/* x86: whether CALLEE goes on in a function that nobody knows. */
static bool passes_on(const struct code *code, const struct code_unit *callee)
{
    return (callee->passes_on && callee->popped == 0) || unit_is_goto(code, callee->start);
}

/* i386: whether nobody knows how many of its arguments the callee of FACT takes off the stack: it is called by a
 * pointer, goes on by one, may have a `ret n` to which no way was seen, or is in no unit (another image's, by a PLT),
 * and no CFI of the caller says it. */
static bool pops_unseen(const struct run *r, const struct code_fact *fact)
{
    const struct code *code = r->code;
    struct code_unit *callee;

    if (code->cpu->link || code->cpu->word != 4 || fact->flow != CODE_CALL)
        return false;
    callee = unit_called_by(code, fact);
    if (callee == NULL)
        return fact->target == 0 || r->unit->fde == NULL || unit_is_goto(code, fact->target);
    return passes_on(code, callee) || (callee->popped == 0 && may_take(code, callee));
}

/* The same of what is called at PLACE. */
static bool pops_unseen_at(const struct run *r, const struct place *place)
{
    struct code_fact fact = place->fact;

    if (fact.target == 0 && place->callee != CALLS_SEVERAL)
        fact.target = place->callee;
    return pops_unseen(r, &fact);
}

/* i386: what FACT calls has returned to STATE. If nobody knows what that takes off the stack, and nothing behind shows
 * that it is nothing, SP is not known. FP may have the frame. */
static void take_popped(const struct run *r, struct code_state *state, const struct code_fact *fact)
{
    const struct code_cpu *cpu = r->code->cpu;

    state->may_pop |= pops_unseen(r, fact) || unit_called_by(r->code, fact) == NULL;
    if (r->places[r->here].may_pop && state->reg[cpu->sp].base > BASE_NEAR)
        state_move_sp(cpu, state);
}

/* Whether nobody knows yet what CALLEE takes off the stack, but will once it has been run, or has been seen to return
 * where it does not call this unit in turn. What never returns is awaited for ever: nothing comes back from it. */
static bool awaits(struct run *r, struct code_unit *callee)
{
    if (r->code->cpu->link || r->apart || callee->popped != 0 || !may_take(r->code, callee) ||
        !(callee->is_waiting || (callee->runs == 0 && callee->dirty) || (callee == r->unit && callee->runs == 1)))
        return false;
    r->waits = callee->awaited = true;
    return true;
}

/* The start of CALLEE is called: jumps that it was believed to begin with may then be those of unit_is_pushed_to. What
 * a unit of i386 takes off the stack is looked at again, too: in its next run (keep_popped). */
static void enter(const struct code_cpu *cpu, struct code_unit *callee)
{
    const struct code_edge *edge = callee->is_called ? NULL : callee->edges;

    callee->called = callee->is_called = true;
    for (; edge != NULL; edge = edge->next)
        callee->dirty |= unit_is_pushed_to(cpu, callee, edge) || (!cpu->link && cpu->word == 4);
}

/* A call of TARGET: that is entered as any function is. One of a function's middle is its own, too. GIVE: the call is
 * noted. Returns false if nothing comes back. */
static bool take_call(struct run *r, struct code_state *state, const struct code_fact *fact, uint64_t pc, bool give)
{
    const struct code_cpu *cpu = r->code->cpu;
    const uint64_t next = pc + fact->size;
    struct code_unit *callee = fact->target != 0 ? code_unit_at(r->code, fact->target) : NULL;
    struct code_fact behind;
    struct code_state entry, before;
    bool own;

    if (r->unit->fde == NULL && code_never_returns_by_word(r->code, fact, state))
        return false;
    if (fact->link != 0) {
        take_piece(r, state, fact, next);
        return true;
    }
    own = code_is_own_address(r->code, fact, next);
    if (own || (callee != NULL && is_filler(r, fact, next)) ||
        (callee == r->unit && is_over_data(r, state, fact->target, next))) {
        push_address(cpu, state, next);
        if (!own && !give)
            go(r, fact->target, state);
        return own;
    }
    if (cpu->mode != 0 && callee == r->unit && fact->target != callee->start) {
        go_within(r, state, fact->target, next);
        return true;
    }
    if (callee != NULL && fact->target == callee->start && !is_apart(r, state))
        enter(cpu, callee);
    if (callee != NULL && give && !is_apart(r, state))
        add_call(r->code, r->unit, callee);
    if (callee != NULL && (fact->target != callee->start || !callee->function) && !state->strays) {
        code_entry(cpu, &entry);
        go(r, fact->target, &entry);
    }
    callee = unit_called_by(r->code, fact);
    if (callee != NULL && awaits(r, callee))
        return false;
    state_copy(&before, state);
    code_after_call(cpu, state, callee);
    keep_unwritten(r->code, state, &before, callee);
    take_thunk(r->code, state, fact->target, next);
    if (!cpu->link && cpu->word == 4)
        take_popped(r, state, fact);
    if ((callee == NULL || pops_unseen(r, fact)) && r->watch->pops != NULL && next < r->unit->end &&
        unit_fact_at(r->code, next, &behind))
        code_move(&state->reg[cpu->sp], r->watch->pops(r->watch->ctx, next, &behind, state));
    return true;
}

/* The unit takes POPPED - 1 bytes off the stack where it returns, or POPPED_MIXED. */
static void put_popped(struct run *r, uint32_t popped)
{
    r->popped = r->popped == 0 || r->popped == popped ? popped : POPPED_MIXED;
}

/* In its first runs a unit forgets what it has taken off the stack as long as it did not know what its callees do; then
 * what differs is mixed, so that there is an end. */
enum { FORGETS = 4 };

/* What this run has found is what callers of the unit believe. Those that await it go on once there is no more to be
 * found, or where a way of it ends in a jump to what is not known. */
static void keep_popped(struct run *r)
{
    struct code_unit *unit = r->unit;

    unit->is_waiting = r->waits && r->popped == 0 && r->num_away == 0;
    if (unit->awaited && !unit->is_waiting) {
        unit->awaited = false;
        unit->changed = r->code->changed = true;
    }
    if (r->popped == 0)
        return;
    if (unit->runs > FORGETS) {
        put_popped(r, unit->popped != 0 ? unit->popped : r->popped);
        r->odd |= unit->odd;
    }
    unit->changed |= unit->odd != r->odd || (r->odd && unit->popped != r->popped);
    unit->odd = r->odd;
    unit->popped = r->popped;
    r->code->changed |= unit->changed;
}

/* The unit returns by FACT with STATE: notes how much it takes off the stack. A jump that returns has taken the address
 * off before. A `ret n` says it where SP is not known for a callee's sake alone. */
static void note_popped(struct run *r, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_cpu *cpu = r->code->cpu;
    const struct code_value *sp = &state->reg[cpu->sp];
    const int64_t at = cpu->link || fact->flow != CODE_AWAY ? cpu->sp_at_entry : cpu->sp_at_entry + cpu->word;
    int64_t moved = state->may_pop && fact->pops != 0 ? fact->pops : -1;
    uint32_t popped = POPPED_MIXED;

    if (sp->base == BASE_CFA)
        moved = sp->k - at + fact->pops;
    if (moved >= 0 && moved < UINT16_MAX && !code_is_outlined(r->code, r->unit))
        popped = (uint32_t)moved + 1;
    put_popped(r, popped);
}

/* x86: with STATE the unit goes on, as FACT says, in another function, or with its frame in a part of its own that lies
 * elsewhere. That returns to the caller of this one: this one takes off the stack what that does. Where a callee may
 * have popped unseen, so may this one, if a register says where it goes on: that may be its caller. */
static void note_passed(struct run *r, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_unit *callee = fact->target != 0 ? code_unit_at(r->code, fact->target) : NULL;
    struct code_unit *unit = r->unit;
    const bool open = fact->flow == CODE_AWAY || (callee != NULL && passes_on(r->code, callee));
    const bool unseen = open && state->may_pop && state->reg[r->code->cpu->sp].base != BASE_CFA;
    const bool piece = callee != NULL && !callee->function && state->caller == CALLER_KNOWN;

    if (r->code->cpu->link || callee == unit || (!unseen && !piece && !code_is_entry(r->code->cpu, state)))
        return;
    if (open && !unit->passes_on) /* of i386 those that call it ask for that, too (pops_unseen) */
        *(r->code->cpu->word == 4 ? &unit->changed : &unit->opened) = true;
    unit->passes_on |= open;
    if (callee != NULL && callee->odd && callee->start == fact->target) {
        r->odd = true;
        put_popped(r, callee->popped);
    }
    r->code->changed |= unit->changed || unit->opened;
}

/* i386: notes whether SP is at the return address in front of a jump or a return with STATE. If a callee had popped
 * unseen, SP would be above, where no function that goes on leaves it. */
static void note_end(struct run *r, const struct code_state *state)
{
    const struct code_value *sp = &state->reg[r->code->cpu->sp];

    r->places[r->here].ends_well = state->may_pop && state->caller == CALLER_KNOWN && sp->base == BASE_CFA &&
                                   sp->k == r->code->cpu->sp_at_entry;
}

/* The unit returns with FP, which is not its caller's: notes where that is in its frame. */
static void note_framed(struct code_unit *unit, const struct code_value *fp)
{
    const bool frames =
        fp->base == BASE_CFA && !unit->keeps_fp && (!unit->spoils || (unit->frames && unit->framed == fp->k));

    unit->changed |= !unit->spoils || unit->frames != frames;
    unit->frames = frames;
    unit->framed = fp->k;
    unit->spoils = true;
}

/* The unit returns with what may be its caller's FP. */
static void note_kept(struct code_unit *unit)
{
    unit->changed |= unit->frames;
    unit->frames = false;
    unit->keeps_fp = true;
}

/* x86: whether FACT, which returns with STATE, leaves SP above where a return alone would: arguments have been taken
 * off the stack. A return to what is not known to be the caller may be a jump. */
static bool has_popped(const struct code_cpu *cpu, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_value *sp = &state->reg[cpu->sp];

    if (cpu->link || sp->base != BASE_CFA)
        return false;
    if (fact->flow == CODE_AWAY)
        return sp->k > cpu->sp_at_entry + cpu->word;
    return sp->k > cpu->sp_at_entry && state_load(state, sp, 0).base == BASE_RETURN;
}

/* The unit returns with STATE. */
static void returns(struct run *r, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_cpu *cpu = r->code->cpu;
    const struct code_value *sp = &state->reg[cpu->sp];
    const bool outlined = code_is_outlined(r->code, r->unit);
    const bool moved = cpu->link && sp->base == BASE_CFA && sp->k != cpu->sp_at_entry;
    struct code_state entry;

    if (r->is_mute)
        return;
    r->unit->returns = true;
    code_entry(cpu, &entry);
    stack_end(r->code, state, code_is_left(cpu, state, fact));
    if (!state->detours)
        note_popped(r, state, fact);
    if (fact->odd || has_popped(cpu, state, fact) || moved || (outlined && sp->base == BASE_UNKNOWN))
        r->odd = true;
    if (!state_same_value(&state->reg[cpu->fp], &entry.reg[cpu->fp]) &&
        (outlined || moved || state->reg[cpu->fp].base != BASE_UNKNOWN))
        note_framed(r->unit, &state->reg[cpu->fp]);
    else
        note_kept(r->unit);
    r->code->changed |= r->unit->changed;
}

/* A piece that a compiler has made a function of goes on in TARGET, as a function that is called. FP may be another. */
static bool tail_calls(struct run *r, const struct code_state *state, const struct code_fact *fact)
{
    struct code_unit *callee = code_unit_at(r->code, fact->target);
    struct code_state entry;

    code_entry(r->code->cpu, &entry);
    if (!code_is_outlined(r->code, r->unit) || callee == NULL || callee == r->unit ||
        callee->start != fact->target || code_is_outlined(r->code, callee) ||
        !state_same_value(&state->reg[r->code->cpu->sp], &entry.reg[r->code->cpu->sp]) ||
        (r->code->cpu->link && !state_same_value(&state->reg[r->code->cpu->ra], &state_way_back)))
        return false;
    returns(r, state, fact);
    code_add_edge(r->code, fact->target, &entry);
    return true;
}

/* The unit returns from an interrupt with STATE. Of one whose entry is known SP must be at what the CPU takes back, and
 * the PC must be the one that was interrupted: else it is a function that enters another program. */
static void resumes(struct run *r, const struct code_state *state)
{
    const struct code_value *sp = &state->reg[r->code->cpu->sp];
    struct code_unit *unit = r->unit;
    bool good = unit->trap ? code_is_at_pushed(r->code->cpu, sp)
                           : sp->base == BASE_CFA && (!unit->resumes || unit->resumed == sp->k);

    if (state_has_pc(r->code->cpu) && !r->code->cpu->banked)
        good &= state->reg[CODE_PC].base == (unit->trap ? BASE_RETURN : BASE_ENTRY + CODE_PC);

    stack_resume(r->code, state);
    unit->resumes_otherwise |= !good;
    unit->resumes = true;
    unit->resumed = sp->k;
}

/* The unit goes on in a program, at what a register of FACT has, with SP as it is. That may be the one that has called
 * the system, or another one that is begun: a way that does not show it says nothing. */
static void resumes_program(struct run *r, const struct code_state *state, const struct code_fact *fact)
{
    r->unit->leaves = true;
    if (code_resumes_well(r->code->cpu, state, fact))
        stack_end(r->code, state, true);
}

/* A table can be no longer: it would have a target for each byte of a large function. */
enum { MAX_ENTRIES = 65536 };

/* Where entry I of TABLE leads to. Returns false if the file does not say. */
static bool entry_at(struct image *image, const struct code_value *table, unsigned mode, size_t i, uint64_t *target)
{
    unsigned size = table->width & CODE_ENTRY_SIZE;
    const uint64_t mask = image->registers->word == 4 ? UINT32_MAX : UINT64_MAX;
    const uint8_t *p = image_bytes(image, ((uint64_t)table->k + i * size) & mask, size);
    uint64_t entry = p != NULL ? load_number(p, size, image->big) : 0, top = (uint64_t)1 << (8 * size - 1);

    if (size < 8 && table->width & CODE_ENTRY_SIGNED)
        entry = (entry ^ top) - top;
    entry <<= table->width / CODE_ENTRY_SHIFT % 4;
    if (table->width & CODE_ENTRY_COMPLETE)
        entry += (uint64_t)table->k + (uint64_t)(int64_t)table->add;
    *target = entry & mask & ~(uint64_t)mode;
    return p != NULL;
}

/* Whether another table begins at ADDR: of those that this unit uses, or if nothing else says where a table ends, of
 * all of which code has the address. */
static bool begins_jumps(const struct run *r, uint64_t addr, bool is_bound)
{
    size_t i;

    if (!is_bound && code_takes(r->code, addr))
        return true;
    for (i = 0; i < r->num_jumps; i++)
        if ((uint64_t)r->jumps[i].table.k == addr)
            return true;
    return false;
}

/* Leaves each target in JUMPS once. Large tables lead to the default case nearly everywhere. */
static void drop_twins(struct jumps *jumps)
{
    size_t i, num = 0;

    put_in_order(jumps->targets, jumps->num, sizeof *jumps->targets, by_first_number);
    for (i = 0; i < jumps->num; i++)
        if (num == 0 || jumps->targets[i] != jumps->targets[num - 1])
            jumps->targets[num++] = jumps->targets[i];
    jumps->num = num;
}

/* How many entries TABLE has, if it is data in code: that is as long as it is, or BOUND where only padding follows. */
static uint32_t bound_in_code(const struct run *r, const struct code_value *table, uint32_t bound)
{
    const uint64_t start = (uint64_t)table->k & UINT32_MAX, size = table->width & CODE_ENTRY_SIZE;
    const uint64_t end = r->code->cpu->data_end(r->code->decoder, start);
    const uint64_t most = end > start ? (end - start) / size : 0;

    if (most == 0 || most >= MAX_ENTRIES || (bound != 0 && bound <= most && (most - bound) * size < 4))
        return bound;
    return (uint32_t)most;
}

/* Reads the targets of JUMPS: as many as a comparison in front of the jump allows, or as many as instructions of the
 * unit begin at. It ends where another table begins, because compilers write them one after the other. */
static void read_jumps(struct run *r, struct jumps *jumps)
{
    const struct code_value *table = &jumps->table;
    unsigned align = r->code->cpu->align;
    uint32_t bound = jumps->bound;
    uint64_t target;
    size_t i;

    jumps->num = 0;
    jumps->is_discovered = false;
    if (table->base == BASE_NUMBER) {
        jumps->targets = grow(jumps->targets, jumps->num, sizeof *jumps->targets);
        jumps->targets[jumps->num++] = (uint64_t)table->k &
                                       (r->code->image->registers->word == 4 ? UINT32_MAX : UINT64_MAX) &
                                       ~(uint64_t)r->code->cpu->mode;
        return;
    }
    if (r->code->cpu->data_end != NULL)
        bound = bound_in_code(r, table, bound);
    for (i = 0; i < MAX_ENTRIES && (bound == 0 || i < bound); i++) {
        if (!entry_at(r->code->image, table, r->code->cpu->mode, i, &target) || target % align != 0)
            break;
        if (i > 0 && begins_jumps(r, (uint64_t)table->k + i * (table->width & CODE_ENTRY_SIZE), bound != 0))
            break;
        if ((target < r->unit->start || target >= r->unit->end) &&
            (bound == 0 || code_unit_at(r->code, target) == NULL))
            break;
        if (bound == 0 && is_within(r, target))
            break;
        jumps->targets = grow(jumps->targets, jumps->num, sizeof *jumps->targets);
        jumps->targets[jumps->num++] = target;
    }
    jumps->entries = jumps->num;
    drop_twins(jumps);
}

/* A table begins at ADDR: others of which entries were read from there on are read anew. */
static void read_again(struct run *r, uint64_t addr)
{
    size_t i;

    for (i = 0; i < r->num_jumps; i++) {
        struct jumps *jumps = &r->jumps[i];
        const uint64_t start = (uint64_t)jumps->table.k;

        if (jumps->table.base == BASE_NUMBER || addr <= start ||
            addr - start >= jumps->entries * (jumps->table.width & CODE_ENTRY_SIZE))
            continue;
        read_jumps(r, jumps);
        r->misled = true;
    }
}

/* STATE goes to all targets of JUMPS, if those were known when this round began. */
static void go_by(struct run *r, const struct jumps *jumps, const struct code_state *state)
{
    size_t k;

    for (k = 0; jumps->is_discovered && k < jumps->num; k++)
        if (agrees_at(r, jumps->targets[k], state))
            go(r, jumps->targets[k], state);
}

/* STATE jumps by a table, or to a place that is known. Returns false if that is not known, or its targets are not. */
static bool jumps_by_table(struct run *r, const struct code_state *state)
{
    const struct code_value *table = &state->reg[CODE_TARGET];
    const uint32_t bound = index_bound(&state->index[CODE_TARGET]);
    struct jumps next = {*table, NULL, 0, 0, bound, false};
    size_t i;

    if (table->base != BASE_NUMBER &&
        (table->base != BASE_TABLE || (table->width & (CODE_ENTRY_COMPLETE | r->code->cpu->entry)) == 0))
        return false;
    for (i = 0; i < r->num_jumps && !state_same_value(&r->jumps[i].table, table); i++)
        continue;
    if (i == r->num_jumps) {
        read_jumps(r, &next);
        r->jumps = grow(r->jumps, r->num_jumps, sizeof *r->jumps);
        r->jumps[r->num_jumps++] = next;
        r->found_jumps = true;
        if (table->base == BASE_TABLE)
            read_again(r, (uint64_t)table->k);
        return true;
    }
    if (bound != r->jumps[i].bound && r->jumps[i].bound != 0 && (bound == 0 || bound > r->jumps[i].bound)) {
        r->jumps[i].bound = bound;
        read_jumps(r, &r->jumps[i]);
        r->found_jumps = true;
    }
    r->places[r->here].jumps = i + 1;
    go_by(r, &r->jumps[i], state);
    return r->jumps[i].num > 0;
}

/* STATE returns from an interrupt that has not been: to a place that is known, as start-up code does to leave a mode.
 * SP may be another one there. */
static bool enters(struct run *r, struct code_state *state)
{
    const struct code_cpu *cpu = r->code->cpu;
    const struct code_value pc = !cpu->link && state->caller == CALLER_NONE
                                     ? state_load(state, &state->reg[cpu->sp], 0)
                                     : state->reg[CODE_PC];

    if (pc.base != BASE_NUMBER)
        return false;
    state->reg[CODE_TARGET] = pc;
    state->reg[r->code->cpu->sp] = state_unknown;
    index_forget(state);
    return jumps_by_table(r, state);
}

/* Forgets in STATE what code that nobody has seen may change on its way to a label: all but what the frame is found
 * by. */
static void keep_frame(const struct code_cpu *cpu, struct code_state *state)
{
    const uint8_t fp = state->reg[cpu->fp].base;
    const bool framed = fp == BASE_CFA || fp == BASE_ALIGNED;
    unsigned i;

    for (i = 0; i < CODE_REGISTERS; i++)
        if (i != cpu->sp && i != CODE_ZERO && state->reg[i].base != BASE_CFA && (i != cpu->fp || !framed))
            state->reg[i] = state_unknown;
    if (framed)
        state->reg[cpu->sp] = state_near;
    index_forget(state);
}

/* Notes a jump of STATE that may lead to a label of its own function (goto by an address): in the middle of its
 * frame. */
static void note_goto(struct run *r, const struct code_state *state)
{
    const struct code_fact jump = {.flow = CODE_AWAY};
    struct code_state frame;

    if (state->caller != CALLER_KNOWN || state->switched != 0 || code_is_left(r->code->cpu, state, &jump))
        return;
    frame = *state;
    keep_frame(r->code->cpu, &frame);
    if (r->anywhere != NULL) {
        code_join(r->code->cpu, r->anywhere, &frame);
        return;
    }
    r->anywhere = unwritten(sizeof *r->anywhere);
    *r->anywhere = frame;
}

/* STATE jumps to what a register has. Where an earlier way to this place has jumped by a table, STATE may, too. It is
 * not kept if an earlier one says nothing that does not hold for it, too, so that a switch in a loop does not fill the
 * list. */
static void leaves(struct run *r, const struct code_state *state)
{
    const size_t jumps = r->places[r->here].jumps;
    size_t i;

    if (jumps != 0)
        go_by(r, &r->jumps[jumps - 1], state);
    note_goto(r, state);
    if ((state->switched & CODE_ENTERS) == 0)
        stack_end(r->code, state, code_is_entry(r->code->cpu, state));
    for (i = 0; i < r->num_away; i++) {
        struct code_state both = r->away[i];

        if (both.num == state->num && !code_join(r->code->cpu, &both, state))
            return;
    }
    if (r->num_away == MAX_AWAY)
        return;
    r->away = grow(r->away, r->num_away, sizeof *r->away);
    r->away[r->num_away] = *state;
    index_forget_twins(&r->away[r->num_away++]);
}

/* A call by a register goes where that is known to point. In the middle of its own unit is nothing that discover() has
 * read for it: that is not followed. */
static void find_callee(struct run *r, const struct code_state *state, struct code_fact *fact)
{
    struct place *place = &r->places[r->here];
    const uint64_t addr = unit_callee_of(r->code, state, fact);
    const struct code_unit *callee = addr != 0 ? code_unit_at(r->code, addr) : NULL;

    if (callee != NULL && (callee != r->unit || (callee->function && callee->start == addr)))
        fact->target = addr;
    place->callee =
        fact->target == 0 || (place->callee != 0 && place->callee != fact->target) ? CALLS_SEVERAL : fact->target;
}

/* A target that the instruction in front has is where the PC goes only if no other way leads in between. */
static void be_sure(struct run *r, const struct code_state *state, struct code_fact *fact)
{
    const struct code_value *target = &state->reg[CODE_TARGET];

    if (fact->flow == CODE_CALL)
        find_callee(r, state, fact);
    if (!fact->by_register ||
        (target->base == BASE_NUMBER && target->k == state_wrapped(r->code->cpu, (int64_t)fact->target)))
        return;
    fact->target = 0;
    fact->flow = fact->flow == CODE_JUMP ? (uint8_t)CODE_AWAY : fact->flow;
}

/* The states of a way on which some instructions have a condition: in YES it holds, in NO it does not. Without a
 * condition there is YES alone. */
struct fork {
    /* As in struct code_fact, or 0, or FLAGS_CHANGED: no condition tells any more which way it is. */
    uint8_t condition;
    bool in_yes, in_no;
    struct code_state *yes, no;
};

enum { FLAGS_CHANGED = 255 };

/* Whether what frames are found by differs on the two ways of F. */
static bool frames_differ(const struct code_cpu *cpu, const struct fork *f)
{
    return f->in_yes && f->in_no &&
           !(state_same_value(&f->yes->reg[cpu->sp], &f->no.reg[cpu->sp]) &&
             state_same_value(&f->yes->reg[cpu->fp], &f->no.reg[cpu->fp]) &&
             state_same_value(&f->yes->reg[cpu->ra], &f->no.reg[cpu->ra]));
}

/* Whether register REG, one of those, has on one of the two ways what no row can be right for that is right for the
 * other. An SP that moves in a frame that FP finds does no harm. */
static bool parts(const struct code_cpu *cpu, const struct fork *f, unsigned reg)
{
    const struct code_value *a = &f->yes->reg[reg], *b = &f->no.reg[reg], *fp = &f->yes->reg[cpu->fp];

    if (state_same_value(a, b))
        return false;
    if (reg == cpu->sp)
        return state_same_stack(a, b) &&
               !(fp->base >= BASE_CFA && fp->base <= BASE_TRAP && state_same_value(fp, &f->no.reg[cpu->fp]));
    return (a->base > BASE_NEAR || code_is_gone(a)) && (b->base > BASE_NEAR || code_is_gone(b));
}

/* The two ways of F meet: what is left is in F->yes. */
static void close_fork(const struct code_cpu *cpu, struct fork *f)
{
    const unsigned regs[] = {cpu->sp, cpu->fp, cpu->ra};
    bool apart[3] = {false, false, false};
    unsigned i;

    for (i = 0; f->in_yes && f->in_no && i < 3; i++)
        apart[i] = parts(cpu, f, regs[i]);
    if (f->in_yes && f->in_no)
        code_join(cpu, f->yes, &f->no);
    else if (f->in_no)
        state_copy(f->yes, &f->no);
    for (i = 0; i < 3; i++)
        if (apart[i])
            f->yes->reg[regs[i]] = state_one_way;
    f->in_yes = true;
    f->in_no = false;
    f->condition = 0;
}

/* Flags change: the two ways of F stay apart if frames are not the same there. */
static void change_flags(const struct code_cpu *cpu, struct fork *f)
{
    if (frames_differ(cpu, f))
        f->condition = FLAGS_CHANGED;
    else
        close_fork(cpu, f);
}

/* Whether FACT is done on one of the two ways of F alone. */
static bool asks_for_way(const struct fork *f, const struct code_fact *fact)
{
    return fact->condition != 0 && f->condition != 0 && f->condition != FLAGS_CHANGED &&
           (fact->condition - 1) / 2 == (f->condition - 1) / 2;
}

/* ARM's CONDITION says in STATE how high what was compared is. */
static void take_condition(struct code_state *state, unsigned condition)
{
    enum { LOWER = 3, LOWER_OR_SAME = 9 };

    if (!state->compared.is_first && (condition == LOWER || condition == LOWER_OR_SAME))
        index_take_bound(state, condition == LOWER);
}

/* The state of F for an instruction with FACT, or NULL: nobody comes there with what it asks for. */
static struct code_state *choose_way(const struct code_cpu *cpu, struct fork *f, const struct code_fact *fact)
{
    if (f->condition != 0 && !asks_for_way(f, fact))
        close_fork(cpu, f);
    if (fact->condition != 0 && f->condition == 0) {
        f->condition = fact->condition;
        f->in_no = true;
        state_copy(&f->no, f->yes);
        take_condition(f->yes, fact->condition - 1u);
        take_condition(&f->no, (fact->condition - 1u) ^ 1);
    }
    if (fact->condition == f->condition)
        return f->in_yes ? f->yes : NULL;
    return f->in_no ? &f->no : NULL;
}

/* Whether an instruction with FACT is done on both ways of F, or, with a condition of its own, perhaps: they stay apart
 * as long as what frames are found by differs, and it goes on behind them. */
static bool stays_apart(const struct code_cpu *cpu, const struct fork *f, const struct code_fact *fact)
{
    const bool goes_on = fact->condition != 0 || fact->flow == CODE_NEXT || fact->flow == CODE_BRANCH;

    return goes_on && !asks_for_way(f, fact) && frames_differ(cpu, f);
}

/* Gives what holds in front of the instruction at PC on both ways. */
static void give_both(struct run *r, uint64_t pc, const struct code_fact *fact, const struct fork *f)
{
    const struct code_state *const ways[] = {f->yes, &f->no};
    struct code_state both;

    if (!f->in_no || !f->in_yes) {
        r->watch->give(r->watch->ctx, pc, fact, f->in_yes ? f->yes : &f->no);
        return;
    }
    state_copy(&both, f->yes);
    code_join(r->code->cpu, &both, &f->no);
    r->unit->ways = ways;
    r->watch->give(r->watch->ctx, pc, fact, &both);
    r->unit->ways = NULL;
}

/* A jump to a thunk (s390x, -mindirect-branch=thunk), which is nothing but a jump to what a register has, goes there:
 * that may be by a table of this unit. The thunk is entered, too. */
static void jump_through(struct run *r, struct code_state *state, struct code_fact *fact)
{
    struct code_fact next;

    if (!r->code->cpu->link || fact->flow != CODE_JUMP || code_unit_at(r->code, fact->target) == r->unit ||
        !unit_fact_at(r->code, fact->target, &next) || next.flow != CODE_AWAY)
        return;
    go(r, fact->target, state);
    code_step(r->code->cpu, state, &next);
    fact->flow = CODE_AWAY;
}

/* x86: where the return address is off the stack, FACT jumps to code that returns there. So gcc does what otherwise
 * `ret n` does (-mfunction-return=thunk: `jmp __x86_return_thunk_ecx`): the unit returns with STATE. */
static void return_through(struct run *r, const struct code_state *state, const struct code_fact *fact)
{
    const struct code *code = r->code;
    const struct code_cpu *cpu = code->cpu;
    const struct code_fact back = {.flow = CODE_RETURN};
    struct code_fact next;
    struct code_state there;
    uint64_t pc = fact->target;

    if (cpu->link || fact->flow != CODE_JUMP || state->reg[cpu->sp].base != BASE_CFA ||
        state->reg[cpu->sp].k <= cpu->sp_at_entry || code_unit_at(code, pc) == r->unit ||
        !unit_fact_at(code, pc, &next))
        return;
    state_copy(&there, state);
    if (next.flow == CODE_AWAY) {
        code_step(cpu, &there, &next);
        if (there.reg[CODE_TARGET].base == BASE_RETURN)
            returns(r, &there, &next);
        return;
    }
    if (code_detour(code, &next, pc + next.size) == DETOUR_JUMPS) {
        push_address(cpu, &there, pc + next.size);
        pc = next.target;
    }
    if (unit_follow_to_return(code, &there, pc) && state_load(&there, &there.reg[cpu->sp], 0).base == BASE_RETURN)
        returns(r, &there, &back);
}

/* STATE comes to the target of FACT. */
static void branch(struct run *r, const struct code_state *state, const struct code_fact *fact)
{
    struct code_state there;

    if (fact->checks == 0) {
        go(r, fact->target, state);
        return;
    }
    state_copy(&there, state);
    code_take_check(&there, fact, true);
    go(r, fact->target, &there);
}

/* x86: FACT, a return, finds an address that the unit has pushed itself, and is a jump to that. Returns whether it
 * is. */
static bool jumps_to_pushed(struct run *r, struct code_state *state, const struct code_fact *fact)
{
    const struct code_cpu *cpu = r->code->cpu;
    const struct code_value *sp = &state->reg[cpu->sp];
    struct code_fact taken = {0};
    struct code_value to;
    uint64_t target;

    if (cpu->link || fact->flow != CODE_RETURN || sp->base < BASE_CFA)
        return false;
    to = state_load(state, sp, 0);
    target = cpu->word == 4 ? (uint32_t)to.k : (uint64_t)to.k;
    if (to.base != BASE_NUMBER || code_unit_at(r->code, target) != r->unit)
        return false;
    code_add(&taken, CODE_SET, cpu->sp, 0, cpu->sp, cpu->word + fact->pops);
    code_step(cpu, state, &taken);
    go(r, target, state);
    return true;
}

/* Whether FACT, behind which STATE holds, calls what returns to another unit: no way but that leads there. */
static bool calls_for_another(struct run *r, const struct code_state *state, const struct code_fact *fact)
{
    const uint64_t label = unit_returns_to(r->code, state, fact);
    struct code_unit *callee = fact->flow == CODE_JUMP ? code_unit_at(r->code, fact->target) : NULL;
    struct code_state there;

    if (label == 0 || callee == r->unit)
        return false;
    if (r->is_mute)
        return true;
    if (callee != NULL) {
        enter(r->code->cpu, callee);
        add_call(r->code, r->unit, callee);
    }
    state_copy(&there, state);
    code_after_call(r->code->cpu, &there, callee);
    add_jump(r->code, r->unit, code_unit_at(r->code, label));
    code_add_edge(r->code, label, &there);
    code_unit_at(r->code, label)->is_returned_to = true;
    return true;
}

/* Whether VALUE is what another register had at the entry that the ABI protects. */
static bool is_of_another(const struct code_cpu *cpu, const struct code_value *value, unsigned reg)
{
    const unsigned other = value->base >= BASE_ENTRY ? value->base - (unsigned)BASE_ENTRY : reg;

    return other != reg && other < CODE_REAL && (cpu->changed >> other & 1) == 0;
}

/* Whether FACT, which returns with STATE, does so as no function can that has made the frame of STATE itself: SP is
 * still below where it was at the entry, or it, FP or RA have got what the frame keeps for another register. */
static bool is_ill(const struct code_cpu *cpu, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_value *sp = &state->reg[cpu->sp];
    struct code_value to;

    if (state->caller != CALLER_KNOWN || state->switched != 0 || state->detours || state->strays || state->may_pop)
        return false;
    if (is_of_another(cpu, sp, cpu->sp) || is_of_another(cpu, &state->reg[cpu->fp], cpu->fp) ||
        (cpu->link && fact->flow == CODE_RETURN && is_of_another(cpu, &state->reg[cpu->ra], cpu->ra)))
        return true;
    if (sp->base != BASE_CFA || sp->k >= cpu->sp_at_entry || (fact->flow == CODE_AWAY && !cpu->link))
        return false;
    to = state_load(state, sp, 0);
    return cpu->link || (to.base != BASE_RETURN && to.base != BASE_NUMBER);
}

/* Notes how a way with STATE ends in FACT, if it does. */
static void note_ending(struct run *r, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_cpu *cpu = r->code->cpu;
    struct place *place = &r->places[r->here];
    const bool returns_by =
        fact->flow == CODE_RETURN || (fact->flow == CODE_AWAY && state->reg[CODE_TARGET].base == BASE_RETURN);
    const bool leaves_by = (fact->flow == CODE_JUMP || fact->flow == CODE_BRANCH) &&
                           (fact->target < r->unit->start || fact->target >= r->unit->end);

    place->ends_ill = returns_by && is_ill(cpu, state, fact);
    place->ends_right =
        fact->flow == CODE_RESUME || (returns_by && code_is_left(cpu, state, fact)) ||
        ((fact->flow == CODE_AWAY || fact->flow == CODE_RETURN || leaves_by) && code_is_entry(cpu, state));
}

/* STATE goes where FACT says, which is done. */
static void depart(struct run *r, struct code_state *state, struct code_fact *fact)
{
    if (fact->flow == CODE_NEXT || fact->flow == CODE_CALL)
        return;
    jump_through(r, state, fact);
    return_through(r, state, fact);
    note_end(r, state);
    note_ending(r, state, fact);
    if (calls_for_another(r, state, fact) || (fact->flow == CODE_JUMP && tail_calls(r, state, fact)))
        return;
    if (fact->flow == CODE_JUMP || fact->flow == CODE_BRANCH)
        note_passed(r, state, fact);
    if (fact->flow == CODE_JUMP)
        go(r, fact->target, state);
    else if (fact->flow == CODE_BRANCH)
        branch(r, state, fact);
    else if (fact->flow == CODE_RETURN && !jumps_to_pushed(r, state, fact))
        returns(r, state, fact);
    else if (fact->flow == CODE_AWAY && state->reg[CODE_TARGET].base == BASE_RETURN)
        returns(r, state, fact);
    else if (fact->flow == CODE_AWAY && !jumps_by_table(r, state)) {
        note_passed(r, state, fact);
        leaves(r, state);
    } else if (fact->flow == CODE_RESUME && fact->link != 0)
        resumes_program(r, state, fact);
    else if (fact->flow == CODE_RESUME && !enters(r, state))
        resumes(r, state);
}

/* The same within code that no way leads to. */
static void depart_apart(struct run *r, const struct code_state *state, const struct code_fact *fact, bool give)
{
    if (!give && (fact->flow == CODE_JUMP || fact->flow == CODE_BRANCH))
        branch(r, state, fact);
}

/* Whether FACT does nothing to SP but move it down by a number. */
static bool lowers_sp(const struct code_cpu *cpu, const struct code_fact *fact)
{
    bool lowers = false, takes = false;
    unsigned i;

    for (i = 0; i < fact->num; i++) {
        const struct code_op *op = &fact->op[i];

        lowers |= op->what == CODE_SET && op->reg == cpu->sp && op->base == cpu->sp && op->k < 0;
        takes |= state_takes_sp(cpu, op);
    }
    return lowers && !takes;
}

/* What is gone behind FACT, in front of NEXT, is not known if something says that it has been restored. Where SP only
 * moves down, what is said of it follows that; up it moves in an epilogue, perhaps another thread's. */
static void believe_restored(const struct run *r, struct code_state *state, const struct code_fact *fact,
                             uint64_t next)
{
    const unsigned regs[] = {r->code->cpu->sp, r->code->cpu->fp, r->code->cpu->ra};
    unsigned i;

    for (i = 0; i < 3; i++)
        if (code_is_gone(&state->reg[regs[i]]) && r->watch->restores != NULL &&
            !(i == 0 && lowers_sp(r->code->cpu, fact)) && r->watch->restores(r->watch->ctx, next, regs[i]))
            state->reg[regs[i]] = state_unknown;
}

/* A call at the end of a unit without CFI leaves STATE. That it comes back is known where a label follows, and the code
 * there takes off the frame of STATE. Once that is so, other states come to the label, too. */
static void come_back(struct run *r, uint64_t next, const struct code_state *state)
{
    struct code_unit *behind = next == r->unit->end ? code_unit_at(r->code, next) : NULL;

    if (r->unit->fde != NULL || behind == NULL || behind->fde != NULL || code_begins_function(r->code, next))
        return;
    if (!behind->is_piece && !code_is_piece(r->code, next, state))
        return;
    behind->is_piece = true;
    add_jump(r->code, r->unit, behind);
    code_add_edge(r->code, next, state);
}

/* FACT, a call in front of NEXT, is a detour with STATE, which ends there. What is called is entered as any function:
 * the address is where it returns to, until it puts another one there, or takes it off the stack. */
static void take_detour(struct run *r, struct code_state *state, const struct code_fact *fact, uint64_t next,
                        bool give)
{
    const struct code_fact back = {.flow = CODE_RETURN}, away = {.flow = CODE_AWAY};
    const struct code_cpu *cpu = r->code->cpu;
    struct code_value *sp = &state->reg[cpu->sp];
    struct code_state entry;

    code_entry(cpu, &entry);
    entry.detours = true;
    go(r, fact->target, &entry);
    push_address(cpu, state, next);
    if (give || r->apart || !unit_follow_to_return(r->code, state, fact->target))
        return;
    state->reg[CODE_TARGET] = state_load(state, sp, 0);
    index_drop(state, CODE_TARGET);
    if (state->reg[CODE_TARGET].base == BASE_RETURN) {
        note_ending(r, state, &back);
        returns(r, state, &back);
        return;
    }
    code_move(sp, cpu->word);
    note_passed(r, state, &away);
    if (!jumps_by_table(r, state))
        leaves(r, state);
}

/* x86: a unit that FACT jumps to may take arguments off the stack for this one: the jump is noted as a call is. */
static void give_passed(struct run *r, const struct code_fact *fact)
{
    const struct code_unit *callee = fact->target != 0 ? code_unit_at(r->code, fact->target) : NULL;

    if (!r->code->cpu->link && (fact->flow == CODE_JUMP || fact->flow == CODE_BRANCH) && callee != NULL &&
        callee != r->unit && callee->start == fact->target)
        add_call(r->code, r->unit, callee);
}

/* The instruction of FACT, at PC, is done with STATE. Returns whether that goes on behind it. */
static bool take_step(struct run *r, struct code_state *state, struct code_fact *fact, uint64_t pc, bool give)
{
    const struct code_value sp = state->reg[r->code->cpu->sp];
    const bool left = state->has_left;

    import_step(r->code, state, fact);
    believe_restored(r, state, fact, pc + fact->size);
    if (fact->flow == CODE_NEXT)
        stack_switch(r->code, r->unit, state, &sp, left);
    be_sure(r, state, fact);
    if (code_goes_by_table(r->code->cpu, state, fact)) {
        state->reg[CODE_TARGET] = state->reg[r->code->cpu->ra];
        index_copy(state, CODE_TARGET, r->code->cpu->ra);
        fact->flow = CODE_AWAY;
    }
    if (is_apart(r, state))
        depart_apart(r, state, fact, give);
    else if (!give)
        depart(r, state, fact);
    else
        give_passed(r, fact);
    if (fact->flow == CODE_CALL && code_detour(r->code, fact, pc + fact->size) != DETOUR_NONE) {
        take_detour(r, state, fact, pc + fact->size, give);
        return false;
    }
    if (fact->flow == CODE_CALL && !take_call(r, state, fact, pc, give))
        return false;
    code_take_check(state, fact, false);
    if (comes_back(r, fact, pc))
        return true;
    if (fact->flow == CODE_CALL && give)
        come_back(r, pc + fact->size, state);
    return false;
}

/* STATE comes to the end of the unit by no jump. Compilers do not let functions go on in others: a way that seems to is
 * none, because inline assembly before did not come back, or because the code there is never reached. What lies behind
 * an entry of CFI, or has one, or is a function behind another, proves so nothing, and has its own entry. Labels of
 * assembly are pieces of one text; so is the start-up code that falls into more of it, and a stub of an interrupt. */
static void fall_off(struct run *r, uint64_t next, const struct code_state *state, bool give)
{
    const struct code_unit *behind = code_unit_at(r->code, next);
    const struct code_fact jump = {.flow = CODE_JUMP, .target = next};

    if (r->unit->fde != NULL || behind == NULL || behind->fde != NULL)
        return;
    if (state->caller == CALLER_KNOWN && code_begins_function(r->code, r->unit->start) &&
        code_begins_function(r->code, next))
        return;
    if (give) {
        give_passed(r, &jump);
        return;
    }
    if (r->is_mute)
        return;
    note_passed(r, state, &jump);
    add_jump(r->code, r->unit, behind);
    code_add_edge(r->code, next, state);
}

/* FACT, which may leave, leads both ways of F to one place, where they meet; or they go on behind it. */
static void leave_apart(struct run *r, struct fork *f, const struct code_fact *fact, bool give)
{
    const struct code_cpu *cpu = r->code->cpu;
    struct fork both = *f;
    struct code_state state;
    struct code_fact copy = *fact;

    state_copy(&state, f->yes);
    both.yes = &state;
    code_step(cpu, both.yes, fact);
    code_step(cpu, &both.no, fact);
    if (fact->condition == 0) {
        state_copy(f->yes, both.yes);
        state_copy(&f->no, &both.no);
    }
    close_fork(cpu, &both);
    if (!give)
        depart(r, &state, &copy);
}

/* The same on both ways of F, which stay apart. Returns whether one goes on. */
static bool step_apart(struct run *r, struct fork *f, const struct code_fact *fact, uint64_t pc, bool give)
{
    struct code_state *const ways[] = {f->yes, &f->no};
    bool goes[2];
    unsigned i;

    if (fact->flow != CODE_NEXT && fact->flow != CODE_CALL) {
        leave_apart(r, f, fact, give);
        return true;
    }
    for (i = 0; i < 2; i++) {
        struct code_fact copy = *fact;
        struct code_state before;

        state_copy(&before, ways[i]);
        goes[i] = take_step(r, ways[i], &copy, pc, give);
        if (fact->condition != 0 && goes[i])
            code_join(r->code->cpu, ways[i], &before);
        else if (fact->condition != 0)
            state_copy(ways[i], &before);
    }
    f->in_yes = goes[0] || fact->condition != 0;
    f->in_no = goes[1] || fact->condition != 0;
    return f->in_yes || f->in_no;
}

/* The same on the way that F chooses for it, or on both. */
static bool step_in_fork(struct run *r, struct fork *f, struct code_fact *fact, uint64_t pc, bool give)
{
    struct code_state *way;

    if (stays_apart(r->code->cpu, f, fact))
        return step_apart(r, f, fact, pc, give);
    way = choose_way(r->code->cpu, f, fact);
    if (way != NULL && !take_step(r, way, fact, pc, give))
        *(way == f->yes ? &f->in_yes : &f->in_no) = false;
    return f->in_yes || f->in_no;
}

/* Whether nothing was read at NEXT, because the call in front did not seem to come back, and now does: of what it calls
 * by a register, or of the unit itself, a way has shown what it takes off the stack. Then NEXT is read in one more
 * round or, if GIVE, when the unit, which has changed, is run again. */
static bool is_unread(struct run *r, uint64_t next, bool give)
{
    if (r->index[next - r->unit->start] != 0)
        return false;
    if (!give) {
        r->unread = grow(r->unread, r->num_unread, sizeof *r->unread);
        r->unread[r->num_unread++] = next;
        r->found_jumps = true;
    }
    return true;
}

/* Whether code that no way leads to ends in front of NEXT: in code that one leads to, or where STATE is another one
 * than what is believed from there on. */
static bool comes_apart(struct run *r, uint64_t next, const struct code_state *state)
{
    const struct place *behind = &r->places[r->index[next - r->unit->start] - 1];

    return r->apart && (behind->given || r->watch->parts(r->watch->ctx, next, state));
}

/* Gives what holds at PC, in front of FACT, if GIVE. A jump that is a call becomes one. On x86 what its last byte has
 * is for who waits for the callee, and looks up the byte in front of its return address: that is off the stack then. */
static void give_step(struct run *r, uint64_t pc, struct code_fact *fact, struct fork *f, bool give)
{
    const struct code_cpu *cpu = r->code->cpu;
    const struct code_value sp = f->yes->reg[cpu->sp];
    const uint8_t flow = fact->flow;
    struct code_fact jump, last;
    struct code_state before;

    if (f->condition != 0 || (flow != CODE_JUMP && flow != CODE_AWAY && flow != CODE_CALL) ||
        !unit_make_call(r->code, f->yes, fact, pc + fact->size) || !give || cpu->link) {
        if (give)
            give_both(r, pc, fact, f);
        return;
    }
    state_copy(&before, f->yes);
    before.reg[cpu->sp] = sp;
    jump = *fact;
    jump.flow = flow;
    jump.size--;
    r->watch->give(r->watch->ctx, pc, &jump, &before);
    last = *fact;
    last.size = 1;
    r->watch->give(r->watch->ctx, pc + jump.size, &last, f->yes);
}

/* Follows STATE from place AT on, to where ways meet or end. GIVE: nothing changes any more, and is given. */
static void follow(struct run *r, uint32_t at, struct code_state *state, bool give)
{
    struct fork f;

    f.condition = 0;
    f.in_yes = true;
    f.in_no = false;
    f.yes = state;
    for (;;) {
        struct code_fact fact = r->places[at].fact;
        uint64_t pc = r->places[at].pc, next = pc + fact.size;

        r->here = at;
        r->places[at].sure |= !state->strays;
        give_step(r, pc, &fact, &f, give);
        r->places[at].given |= give;
        r->is_data |= fact.size == 0;
        if (fact.size == 0 || !step_in_fork(r, &f, &fact, pc, give))
            return;
        if (next >= r->unit->end) {
            close_fork(r->code->cpu, &f);
            fall_off(r, next, state, give);
            return;
        }
        if (is_refuted(r, next) || is_unread(r, next, give) || comes_apart(r, next, state))
            return;
        at = r->index[next - r->unit->start] - 1;
        if (fact.flags)
            change_flags(r->code->cpu, &f);
        if (r->places[at].meets) {
            close_fork(r->code->cpu, &f);
            if (!give)
                arrive(r, at, state);
            return;
        }
    }
}

/* Follows the states of the places on the list of work. */
static void settle_behind(struct run *r)
{
    struct code_state state;

    while (r->num_work > 0) {
        uint32_t at = r->work[--r->num_work];

        r->places[at].waits = false;
        state_copy(&state, r->places[at].state);
        follow(r, at, &state, false);
    }
}

/* Whether EDGE is a jump of code that nobody has called to UNIT, which CFI describes as a called function. Its rows are
 * for who calls it, so what holds then decides which of them are right. */
static bool is_by_the_way(const struct code_unit *unit, const struct code_edge *edge)
{
    return unit->fde != NULL && unit->function && !unit->trap && edge->target == unit->start &&
           edge->state.caller == CALLER_NONE;
}

static void settle(struct run *r)
{
    const struct code_edge *edge;
    struct code_state state;
    size_t i;

    for (i = 0; i < r->num_seeds; i++)
        go(r, r->seeds[i].pc, &r->seeds[i].state);
    if (r->unit->function) {
        if (r->unit->trap)
            state_begin_way(r->code, &state, r->unit->error ? CODE_ERROR : CODE_TRAP);
        else
            code_entry(r->code->cpu, &state);
        go(r, r->unit->start, &state);
    }
    for (edge = r->unit->edges; edge != NULL; edge = edge->next)
        if (!unit_is_pushed_to(r->code->cpu, r->unit, edge) && !is_by_the_way(r->unit, edge) &&
            (edge->target == r->unit->start || agrees_at(r, edge->target, &edge->state)))
            go(r, edge->target, &edge->state);
    settle_behind(r);
}

static void add_seed(struct run *r, const struct seed *seed)
{
    r->seeds = grow(r->seeds, r->num_seeds, sizeof *r->seeds);
    r->seeds[r->num_seeds++] = *seed;
}

/* Whether no CFI says anything of the unit. */
static bool is_unsaid(const struct run *r)
{
    return r->unit->fde == NULL || r->unit->says_nothing;
}

/* Whether PC is in the function that the unit begins with. Where symbols are missing, others lie behind that. */
static bool is_in_function(const struct run *r, uint64_t pc)
{
    const struct symbol *symbol = image_symbol(r->code->image, r->unit->start);

    if (r->unit->fde != NULL)
        return true;
    return symbol != NULL && symbol->addr == r->unit->start &&
           (symbol->size == 0 || pc - symbol->addr < symbol->size);
}

/* Jumps to where nobody knows, in the middle of a frame, may lead to PC. What holds there is not known; but the ways
 * from there on lead on to code that others lead to. Returns whether there is such a jump. */
static bool stray_to(struct run *r, uint64_t pc)
{
    const struct code_fact jump = {.flow = CODE_AWAY};
    bool any = false;
    size_t i;

    for (i = 0; i < r->num_away && is_in_function(r, pc); i++) {
        struct seed seed = {pc, r->away[i]};

        if (seed.state.caller != CALLER_KNOWN || seed.state.switched != 0 ||
            code_is_entry(r->code->cpu, &seed.state) || code_is_left(r->code->cpu, &seed.state, &jump))
            continue;
        seed.state.strays = any = true;
        add_seed(r, &seed);
    }
    return any;
}

/* Whether one of the states of jumps to what a register has is admitted at PC. Then ways begin there. */
static bool begin_at(struct run *r, uint64_t pc)
{
    size_t i;

    if (is_unsaid(r))
        return stray_to(r, pc);
    for (i = 0; i < r->num_away; i++) {
        struct seed seed = {pc, r->away[i]};

        if (!r->watch->admit(r->watch->ctx, pc, &seed.state))
            continue;
        add_seed(r, &seed);
        return true;
    }
    return false;
}

/* Where code begins at or behind ADDR. */
static uint64_t behind_data(const struct code *code, uint64_t addr)
{
    const uint64_t end = code->cpu->data_end != NULL ? code->cpu->data_end(code->decoder, addr) : 0;

    return end != 0 ? end : addr;
}

/* Finds where ways may begin: behind instructions that nothing goes on behind, where no way leads to. */
static bool find_seeds(struct run *r)
{
    size_t i, num = r->num_places;
    bool found = false;

    for (i = 0; i < num && r->watch->admit != NULL && r->num_away > 0; i++) {
        uint64_t end = r->places[i].pc + r->places[i].fact.size;

        if (goes_on(r, &r->places[i].fact, r->places[i].pc))
            continue;
        end = behind_data(r->code, end);
        if (end < r->unit->end && r->index[end - r->unit->start] == 0 && !is_refuted(r, end))
            found |= begin_at(r, end);
    }
    return found;
}

/* i386: the place at PC, if it was read, is put on the list of work, unless this search has been there. */
static void search_at(struct run *r, uint64_t pc)
{
    const uint64_t offset = pc - r->unit->start;
    struct place *place;

    if (pc < r->unit->start || pc >= r->unit->end || r->index[offset] == 0)
        return;
    place = &r->places[r->index[offset] - 1];
    if (place->tried == r->searches)
        return;
    place->tried = r->searches;
    r->work = grow(r->work, r->num_work, sizeof *r->work);
    r->work[r->num_work++] = r->index[offset] - 1;
}

/* The same for each place that PLACE leads to. */
static void search_behind(struct run *r, const struct place *place)
{
    const struct code_fact fact = place->fact;
    const uint64_t pc = place->pc;
    size_t k;

    if (fact.size != 0 && (fact.flow == CODE_JUMP || fact.flow == CODE_BRANCH))
        search_at(r, fact.target);
    for (k = 0; place->jumps != 0 && k < r->jumps[place->jumps - 1].num; k++)
        search_at(r, r->jumps[place->jumps - 1].targets[k]);
    if (goes_on(r, &fact, pc))
        search_at(r, pc + fact.size);
}

/* Whether FACT gives SP what does not count from what SP is. */
static bool gives_sp(const struct code_cpu *cpu, const struct code_fact *fact)
{
    bool gives = false;
    unsigned i;

    for (i = 0; i < fact->num; i++)
        gives |= state_takes_sp(cpu, &fact->op[i]);
    return gives;
}

/* Whether SP in PLACE is right, if that has been reached from a call by ways that count it from there: a way ends there
 * as it should, or ways with such a call and without one meet with the same SP. */
static bool shows_sp(const struct code_cpu *cpu, const struct place *place)
{
    return place->ends_well ||
           (place->comes_free && place->meets && place->state != NULL && place->state->caller == CALLER_KNOWN &&
            place->state->reg[cpu->sp].base == BASE_CFA);
}

/* So many places are looked at for all calls of a unit together, for each instruction of it. */
enum { MAX_LOOKS = 64 };

/* Whether a place behind the call at place CALL shows that SP is believed right: SP counts on up to there. Of a call
 * that a way leads back to, that itself. *LOOKS: how many places may be looked at. */
static bool is_shown(struct run *r, uint32_t call, size_t *looks)
{
    bool shown = false;

    r->num_work = 0;
    r->searches++;
    search_behind(r, &r->places[call]);
    while (!shown && r->num_work > 0 && *looks > 0) {
        const uint32_t at = r->work[--r->num_work];

        --*looks;
        shown = at == call || shows_sp(r->code->cpu, &r->places[at]);
        if (!gives_sp(r->code->cpu, &r->places[at].fact))
            search_behind(r, &r->places[at]);
    }
    r->num_work = 0;
    return shown;
}

/* Notes each place that a way without a call of what may pop leads to. */
static void find_free(struct run *r)
{
    const struct code_edge *edge;
    size_t i;

    r->num_work = 0;
    r->searches++;
    if (r->unit->function)
        search_at(r, r->unit->start);
    for (edge = r->unit->edges; edge != NULL; edge = edge->next)
        if (!edge->state.may_pop)
            search_at(r, edge->target);
    for (i = 0; i < r->num_places; i++)
        if (r->places[i].fact.flow == CODE_CALL &&
            r->places[i].fact.target != r->places[i].pc + r->places[i].fact.size)
            search_at(r, r->places[i].fact.target);
    while (r->num_work > 0) {
        struct place *place = &r->places[r->work[--r->num_work]];

        place->comes_free = true;
        if (!pops_unseen_at(r, place))
            search_behind(r, place);
    }
}

/* Finds calls whose callee may have popped, and nothing shows that it has not. Returns whether there are any more: then
 * the unit is run anew. */
static bool find_popping(struct run *r)
{
    size_t looks = MAX_LOOKS * r->num_places;
    bool found = false;
    uint32_t i;

    for (i = 0; i < r->num_places && !pops_unseen_at(r, &r->places[i]); i++)
        continue;
    if (i < r->num_places)
        find_free(r);
    for (; i < r->num_places; i++) {
        struct place *place = &r->places[i];

        if (!place->may_pop && pops_unseen_at(r, place) && !is_shown(r, i, &looks))
            place->may_pop = found = true;
    }
    return found;
}

/* ---- Ways that are none ---------------------------------------------------------------------------------------- */

/* Where no symbol and no CFI says where a function ends, a way may lead on into the next one: behind a call that nobody
 * knows never to return, or by an entry of a table of jumps that is never used, or that is one of the next table. There
 * it has a frame that is not its own, and is found out where it returns. */

/* A way from one place to another one. */
struct step {
    uint32_t from, to;
    bool sure; /* it is taken if FROM is executed */
};

/* All of them: FIRST of each place, and of that behind the last one, by where they lead to, or come from. */
struct steps {
    struct step *list;
    size_t num;
    size_t *first;
};

enum { TO_ILL = 1, TO_RIGHT = 2, IS_REAL = 4 };

static void add_step(struct run *r, struct steps *steps, uint32_t from, uint64_t pc, bool sure)
{
    const uint64_t offset = pc - r->unit->start;

    if (pc < r->unit->start || pc >= r->unit->end || r->index[offset] == 0)
        return;
    steps->list = grow(steps->list, steps->num, sizeof *steps->list);
    steps->list[steps->num++] = (struct step){from, r->index[offset] - 1, sure};
}

static void find_steps(struct run *r, struct steps *steps)
{
    size_t k;
    uint32_t i;

    for (i = 0; i < r->num_places; i++) {
        const struct place *place = &r->places[i];
        const struct code_fact *fact = &place->fact;
        const struct jumps *jumps = place->jumps != 0 ? &r->jumps[place->jumps - 1] : NULL;

        if (fact->size != 0 && (fact->flow == CODE_JUMP || fact->flow == CODE_BRANCH))
            add_step(r, steps, i, fact->target, true);
        for (k = 0; jumps != NULL && k < jumps->num; k++)
            add_step(r, steps, i, jumps->targets[k], jumps->table.base == BASE_NUMBER);
        if (goes_on(r, fact, place->pc))
            add_step(r, steps, i, place->pc + fact->size, fact->flow != CODE_CALL && !fact->odd);
    }
}

/* Puts STEPS in order: by where they come from, if BACK is false. */
static void order_steps(const struct run *r, struct steps *steps, bool back)
{
    struct step *const list = unwritten((steps->num + 1) * sizeof *list);
    size_t i;

    memset(steps->first, 0, (r->num_places + 1) * sizeof *steps->first);
    for (i = 0; i < steps->num; i++)
        steps->first[back ? steps->list[i].to : steps->list[i].from]++;
    for (i = 1; i <= r->num_places; i++)
        steps->first[i] += steps->first[i - 1];
    for (i = 0; i < steps->num; i++)
        list[--steps->first[back ? steps->list[i].to : steps->list[i].from]] = steps->list[i];
    free(steps->list);
    steps->list = list;
}

/* Gives place AT what MARK says, and notes that those beside it may get it, too. */
static void mark_at(struct run *r, uint32_t at, uint8_t mark)
{
    if ((r->places[at].marks & mark) != 0)
        return;
    r->places[at].marks |= mark;
    r->work = grow(r->work, r->num_work, sizeof *r->work);
    r->work[r->num_work++] = at;
}

/* MARK spreads from the places on the list of work along STEPS, or along those that are SURE. */
static void spread(struct run *r, const struct steps *steps, bool back, bool sure, uint8_t mark)
{
    while (r->num_work > 0) {
        const uint32_t at = r->work[--r->num_work];
        size_t i;

        for (i = steps->first[at]; i < steps->first[at + 1]; i++)
            if (!sure || steps->list[i].sure)
                mark_at(r, back ? steps->list[i].from : steps->list[i].to, mark);
    }
}

static void mark_pc(struct run *r, uint64_t pc, uint8_t mark)
{
    if (pc >= r->unit->start && pc < r->unit->end && r->index[pc - r->unit->start] != 0)
        mark_at(r, r->index[pc - r->unit->start] - 1, mark);
}

/* Whether PLACE leads back by returns that are ill alone. */
static bool is_doubtful(const struct place *place)
{
    return (place->marks & (TO_ILL | TO_RIGHT)) == TO_ILL;
}

/* Marks what is executed for sure if the unit is: what is entered, or also leads back as it should, and what that leads
 * to by ways that are sure. */
static void mark_real(struct run *r, const struct steps *steps)
{
    const struct code_edge *edge;
    uint32_t i;

    if (r->unit->function)
        mark_pc(r, r->unit->start, IS_REAL);
    for (edge = r->unit->edges; edge != NULL; edge = edge->next)
        mark_pc(r, edge->target, IS_REAL);
    for (i = 0; i < r->num_seeds; i++)
        mark_pc(r, r->seeds[i].pc, IS_REAL);
    for (i = 0; i < r->num_places; i++) {
        if ((r->places[i].marks & TO_RIGHT) != 0)
            mark_at(r, i, IS_REAL);
        if (r->places[i].fact.flow == CODE_CALL)
            mark_pc(r, r->places[i].fact.target, IS_REAL);
    }
    spread(r, steps, false, true, IS_REAL);
}

/* Marks all places by how ways end that lead on from there, and which of them are real. Returns false if a way that is
 * real ends ill: then the function does. */
static bool mark_places(struct run *r)
{
    struct steps steps = {NULL, 0, unwritten((r->num_places + 1) * sizeof *steps.first)};
    bool good = true;
    uint32_t i;

    r->num_work = 0;
    find_steps(r, &steps);
    order_steps(r, &steps, true);
    for (i = 0; i < r->num_places; i++)
        r->places[i].marks = 0;
    for (i = 0; i < r->num_places; i++)
        if (r->places[i].ends_ill)
            mark_at(r, i, TO_ILL);
    spread(r, &steps, true, false, TO_ILL);
    for (i = 0; i < r->num_places; i++)
        if (r->places[i].ends_right)
            mark_at(r, i, TO_RIGHT);
    spread(r, &steps, true, false, TO_RIGHT);
    order_steps(r, &steps, false);
    mark_real(r, &steps);
    for (i = 0; i < r->num_places; i++)
        good &= !r->places[i].ends_ill || (r->places[i].marks & IS_REAL) == 0;
    free(steps.list);
    free(steps.first);
    return good;
}

/* What was seen of the unit, and where it jumps to in others from what is not known to be executed, may be of ways that
 * are none. Who else jumps there is run again. */
static void forget_seen(struct run *r)
{
    struct code *code = r->code;
    struct code_unit *unit = r->unit;
    bool *from = zeroed(code->num_units, sizeof *from);
    size_t i;

    for (i = 0; i < r->num_places; i++) {
        const struct place *place = &r->places[i];
        const struct code_unit *other = NULL;

        if (has_target(&place->fact) && place->fact.flow != CODE_CALL && (place->marks & (TO_RIGHT | IS_REAL)) == 0)
            other = code_unit_at(code, place->fact.target);
        if (other != NULL && other != unit)
            from[other - code->units] = true;
    }
    for (i = 0; i < code->num_units; i++)
        if (from[i])
            code_forget_edges(code, &code->units[i]);
    for (i = 0; i < code->num_jumps; i++)
        code->units[code->jumps[i].caller].dirty |= from[code->jumps[i].callee];
    free(from);
    unit->changed = code->changed = true;
    unit->spoils = unit->frames = unit->keeps_fp = unit->returns = false;
    unit->refutes = r->is_mute = true;
}

/* No way leads to PLACE, although one was seen. More may be known later of what it calls, such as what that takes off
 * the stack: then the unit is run again. */
static void refute(struct run *r, const struct place *place)
{
    const struct code_unit *callee = place->fact.flow == CODE_CALL ? unit_called_by(r->code, &place->fact) : NULL;

    r->refuted[place->pc - r->unit->start] = r->misled = true;
    if (callee != NULL)
        add_call(r->code, r->unit, callee);
}

/* Finds places to which no way leads although one was seen. Returns whether there are any more: the unit is read anew
 * without them. */
static bool find_refuted(struct run *r)
{
    bool any = false;
    uint32_t i;

    for (i = 0; i < r->num_places && r->unit->fde == NULL; i++)
        any |= r->places[i].ends_ill;
    if (!any || !mark_places(r))
        return false;
    if (r->refuted == NULL)
        r->refuted = zeroed((size_t)(r->unit->end - r->unit->start), sizeof *r->refuted);
    for (i = 0; i < r->num_places; i++)
        if (is_doubtful(&r->places[i]) && (r->places[i].marks & IS_REAL) == 0)
            refute(r, &r->places[i]);
    if (r->misled && !r->unit->refutes)
        forget_seen(r);
    if (r->misled) {
        r->num_away = 0;
        free(r->anywhere);
        r->anywhere = NULL;
    }
    return r->misled;
}

static void forget_states(struct run *r)
{
    const size_t size = (size_t)(r->unit->end - r->unit->start);
    size_t i;

    for (i = 0; i < r->num_places; i++) {
        free(r->places[i].state);
        r->places[i].state = NULL;
        r->places[i].ends_ill = r->places[i].ends_right = false;
    }
    if (!r->misled)
        return;
    r->misled = false;
    r->num_places = 0;
    memset(r->index, 0, size * sizeof *r->index);
    memset(r->executed, 0, size * sizeof *r->executed);
}

/* Whether an instruction that was read begins within another one. */
static bool has_overlaps(const struct run *r)
{
    uint64_t size = r->unit->end - r->unit->start, offset, end = 0;

    for (offset = 0; offset < size; offset++) {
        if (r->index[offset] == 0 || !r->places[r->index[offset] - 1].sure)
            continue;
        if (offset < end)
            return true;
        end = offset + r->places[r->index[offset] - 1].fact.size;
    }
    return false;
}

/* Tables of a switch can be many. Rounds are needed because a table may be found only behind the target of another. So
 * many may be in any case; more, as long as all rounds together have not read as many instructions. */
enum { ROUNDS = 64, ROUNDS_READ = 1 << 20 };

/* Runs until no jump is found any more. Returns whether that is so: else ways are missing, of which nobody knows what
 * they lead to. */
static bool do_rounds(struct run *r)
{
    uint64_t rounds = 0, num_read = 0;

    do {
        forget_states(r);
        r->found_jumps = false;
        r->popped = 0;
        r->odd = r->waits = false;
        discover(r);
        settle(r);
        if (!r->found_jumps && !find_seeds(r) && !find_popping(r) && !find_refuted(r)) {
            if (!r->is_mute)
                return true;
            r->is_mute = false;
        }
        num_read += r->num_places;
    } while (++rounds < ROUNDS || num_read < ROUNDS_READ);
    return false;
}

/* Gives what holds from places on that states have come to. */
static void give_from(struct run *r, uint32_t at)
{
    struct code_state state;

    state_copy(&state, r->places[at].state);
    follow(r, at, &state, true);
}

/* Follows and gives the code at PC, to which no way leads, and of which STATE is believed. */
static void follow_apart(struct run *r, uint64_t pc, const struct code_state *state)
{
    size_t i;

    r->num_begun = 0;
    r->is_data = false;
    discover_at(r, pc, true);
    discover_behind(r);
    go(r, pc, state);
    settle_behind(r);
    for (i = 0; i < r->num_begun; i++)
        give_from(r, r->begun[i]);
    r->watch->close(r->watch->ctx, r->is_data);
}

/* Whether an instruction at OFFSET has been given. */
static bool is_given(const struct run *r, uint64_t offset)
{
    return r->index[offset] != 0 && r->places[r->index[offset] - 1].given;
}

/* Where the first instruction at or behind OFFSET is that has not been given; or behind the unit. */
static uint64_t find_left(const struct run *r, uint64_t offset)
{
    const uint64_t size = r->unit->end - r->unit->start;

    while (offset < size) {
        const uint64_t end = behind_data(r->code, r->unit->start + offset) - r->unit->start;

        if (end > offset)
            offset = end;
        else if (is_given(r, offset) && r->places[r->index[offset] - 1].fact.size != 0)
            offset += r->places[r->index[offset] - 1].fact.size;
        else if (is_given(r, offset) || r->executed[offset] || (r->unit->start + offset) % r->code->cpu->align != 0)
            offset++;
        else
            break;
    }
    return offset;
}

/* Follows the code that no way leads to, or, where ways are missing or are not all real, all of it. */
static void do_apart(struct run *r)
{
    const uint64_t start = r->unit->start, size = r->unit->end - start;
    const bool all = r->unit->unsettled || r->unit->overlaps;
    uint64_t offset;
    size_t i;

    if (r->watch->believe == NULL || r->unit->fde == NULL)
        return;
    r->apart = true;
    r->num_work = 0;
    for (i = 0; i < r->num_places && all; i++) {
        free(r->places[i].state);
        r->places[i].state = NULL;
        r->places[i].given = r->places[i].waits = false;
    }
    for (offset = find_left(r, 0); offset < size; offset = find_left(r, offset)) {
        struct code_state state;
        uint64_t next = r->watch->believe(r->watch->ctx, start + offset, &state);

        if (next != start + offset) {
            offset = next - start;
            continue;
        }
        follow_apart(r, next, &state);
        offset += is_given(r, offset) ? 0 : 1;
    }
}

void code_run(struct code *code, struct code_unit *unit, const struct code_watch *watch)
{
    struct run *r;
    const uint8_t *bytes = image_instructions(code->image, unit->start, unit->end - unit->start);
    uint64_t offset;
    size_t i;

    if (bytes == NULL || (!unit->function && unit->edges == NULL && (unit->fde == NULL || watch->believe == NULL)))
        return;
    r = zeroed(1, sizeof *r);
    r->code = code;
    r->unit = unit;
    r->watch = watch;
    r->text = (struct code_text){bytes, unit->start, unit->end};
    r->index = zeroed((size_t)(unit->end - unit->start), sizeof *r->index);
    r->executed = zeroed((size_t)(unit->end - unit->start), sizeof *r->executed);
    r->is_mute = unit->refutes;
    unit->unsettled = !do_rounds(r);
    unit->overlaps = (r->num_jumps > 0 || unit->edges != NULL) && has_overlaps(r);
    unit->anywhere = r->anywhere;
    for (offset = 0; offset < unit->end - unit->start && watch->give != NULL; offset++)
        if (r->index[offset] != 0 && r->places[r->index[offset] - 1].state != NULL)
            give_from(r, r->index[offset] - 1);
    unit->anywhere = NULL;
    keep_popped(r);
    do_apart(r);
    forget_states(r);
    free(r->places);
    free(r->index);
    free(r->executed);
    free(r->refuted);
    free(r->begins);
    free(r->work);
    for (i = 0; i < r->num_jumps; i++)
        free(r->jumps[i].targets);
    free(r->jumps);
    free(r->away);
    free(r->anywhere);
    free(r->seeds);
    free(r->unread);
    free(r->begun);
    free(r);
}

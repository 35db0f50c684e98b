/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Units of code, who comes into them, and what a function finds that was called, and leaves. */
#include "units.h"
#include "index.h"
#include "state.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const struct code_cpu *code_cpu(const struct image *image)
{
    switch (image->abi) {
#ifdef SFU_ZYDIS
    case SFU_AMD64:
        return &code_x86_64;
    case SFU_I386:
        return &code_i386;
#endif
    case SFU_AARCH64:
    case SFU_AARCH64_BIG:
        return &code_aarch64;
    case SFU_S390X:
        return &code_s390x;
    case SFU_RISCV64:
        return image->zcmp ? &code_riscv64_zcmp : &code_riscv64;
    case SFU_RISCV32:
        return image->zcmp ? &code_riscv32_zcmp : &code_riscv32;
    case SFU_ARM:
        return &code_arm;
    case SFU_THUMB:
        return &code_thumb;
    default:
        return NULL;
    }
}

struct code_unit *code_unit_at(const struct code *code, uint64_t addr)
{
    const uint64_t *starts = code->starts;
    uint64_t block;
    size_t low, high;

    if (code->num_units == 0 || addr < starts[0])
        return NULL;
    block = (addr - starts[0]) >> code->block_shift;
    block = block < code->num_blocks ? block : code->num_blocks - 1;
    low = code->blocks[block]; /* becomes the last one that is not higher than ADDR */
    high = code->blocks[block + 1];
    while (low < high) {
        const size_t middle = high - (high - low) / 2;

        if (starts[middle] <= addr)
            low = middle;
        else
            high = middle - 1;
    }
    return addr < code->units[low].end ? &code->units[low] : NULL;
}

struct code_text unit_text_at(const struct code *code, uint64_t pc)
{
    const struct section *section = image_code(code->image, pc);

    if (section == NULL)
        return (struct code_text){NULL, 0, 0};
    return (struct code_text){image_instructions(code->image, section->addr, section->size), section->addr,
                              section->addr + section->size};
}

bool unit_names_piece(const char *name)
{
    return strstr(name, ".cold") != NULL || strstr(name, ".__part.") != NULL ||
           strncmp(name, "OUTLINED_", 9) == 0 || strncmp(name, "__riscv_save_", 13) == 0 ||
           strncmp(name, "__riscv_restore_", 16) == 0;
}

/* The name that clang gives to pieces of several functions that it has made a function of (-Oz). */
bool code_is_outlined(const struct code *code, const struct code_unit *unit)
{
    const struct symbol *symbol = image_symbol(code->image, unit->start);

    return symbol != NULL && symbol->addr == unit->start && strncmp(symbol->name, "OUTLINED_", 9) == 0;
}

const struct code_edge *code_edge_to_start(const struct code_unit *unit)
{
    const struct code_edge *edge = unit->edges;

    while (edge != NULL && edge->target != unit->start)
        edge = edge->next;
    return edge;
}

/* Whether STATE is as a function finds it that has just been called. */
bool code_is_entry(const struct code_cpu *cpu, const struct code_state *state)
{
    const struct code_value sp = {cpu->sp_at_entry, BASE_CFA, false, 0, 0},
                            fp = {0, (uint8_t)(BASE_ENTRY + cpu->fp), false, 0, 0};
    const struct code_slot *slot;

    if (state->caller != CALLER_KNOWN || !state_same_value(&state->reg[cpu->sp], &sp) ||
        !state_same_value(&state->reg[cpu->fp], &fp))
        return false;
    if (cpu->link)
        return state_same_value(&state->reg[cpu->ra], &state_way_back);
    slot = state_find_slot(state, BASE_CFA, cpu->ra_at_entry);
    return slot != NULL && state_same_value(&slot->value, &state_way_back);
}

bool unit_fact_at(const struct code *code, uint64_t pc, struct code_fact *fact)
{
    const struct code_unit *unit = code_unit_at(code, pc);
    struct code_text text = {NULL, 0, 0};

    if (unit != NULL)
        text = (struct code_text){image_instructions(code->image, unit->start, unit->end - unit->start),
                                  unit->start, unit->end};
    if (text.bytes == NULL || pc % code->cpu->align != 0)
        return false;
    code->cpu->decode(code->decoder, &text, pc, fact);
    return fact->size != 0;
}

enum { MAX_TO_RETURN = 4, MAX_DETOUR = 64 }; /* instructions, bytes */

bool unit_follow_to_return(const struct code *code, struct code_state *state, uint64_t pc)
{
    struct code_fact fact;
    unsigned i;

    for (i = 0; i < MAX_TO_RETURN && unit_fact_at(code, pc, &fact) && !fact.odd; i++) {
        if (fact.flow != CODE_NEXT || fact.condition != 0)
            return fact.flow == CODE_RETURN;
        code_step(code->cpu, state, &fact);
        pc += fact.size;
    }
    return false;
}

enum code_detour code_detour(const struct code *code, const struct code_fact *fact, uint64_t next)
{
    const struct code_cpu *cpu = code->cpu;
    const struct code_unit *unit;
    struct code_state state;
    const struct code_value *sp = &state.reg[cpu->sp];

    if (fact->flow != CODE_CALL || cpu->link || fact->target <= next || fact->target - next > MAX_DETOUR)
        return DETOUR_NONE;
    unit = code_unit_at(code, next - 1);
    code_entry(cpu, &state);
    if (unit == NULL || fact->target >= unit->end || !unit_follow_to_return(code, &state, fact->target) ||
        sp->base != BASE_CFA)
        return DETOUR_NONE;
    if (sp->k == cpu->sp_at_entry + cpu->word)
        return DETOUR_RETURNS;
    return sp->k == cpu->sp_at_entry && state_load(&state, sp, 0).base != BASE_RETURN ? DETOUR_JUMPS : DETOUR_NONE;
}

/* Whether STATE has something on the stack below the return address. */
static bool has_pushed(const struct code_cpu *cpu, const struct code_state *state)
{
    return state->reg[cpu->sp].base == BASE_CFA && state->reg[cpu->sp].k < cpu->sp_at_entry;
}

/* Whether FACT takes CODE_TARGET from a register. */
static bool sets_target(const struct code_fact *fact)
{
    unsigned i = 0;

    while (i < fact->num && (fact->op[i].what != CODE_SET || fact->op[i].reg != CODE_TARGET))
        i++;
    return i < fact->num;
}

/* What the instruction at PC is: FIRST_... */
static uint8_t kind_of_first(const struct code *code, uint64_t pc)
{
    struct code_fact fact;
    enum code_detour detour;

    if (code->cpu->link || !unit_fact_at(code, pc, &fact))
        return FIRST_OTHER;
    detour = code_detour(code, &fact, pc + fact.size);
    if ((fact.flow == CODE_AWAY && sets_target(&fact)) || detour == DETOUR_JUMPS)
        return FIRST_GOTO;
    return detour == DETOUR_RETURNS ? FIRST_THUNK : FIRST_OTHER;
}

/* The same of UNIT, of which many callers ask. */
static uint8_t first_of(const struct code *code, struct code_unit *unit)
{
    if (unit->first == 0)
        unit->first = kind_of_first(code, unit->start);
    return unit->first;
}

/* Whether UNIT begins with a call that takes its own address off the stack, and returns. */
static bool is_thunk(const struct code *code, struct code_unit *unit)
{
    return first_of(code, unit) == FIRST_THUNK;
}

bool unit_is_goto(const struct code *code, uint64_t pc)
{
    struct code_unit *unit = code->cpu->link ? NULL : code_unit_at(code, pc);

    return unit != NULL && (pc == unit->start ? first_of(code, unit) : kind_of_first(code, pc)) == FIRST_GOTO;
}

struct code_unit *unit_called_by(const struct code *code, const struct code_fact *fact)
{
    struct code_unit *callee = fact->target != 0 ? code_unit_at(code, fact->target) : NULL;

    return callee != NULL && fact->target != callee->start && unit_is_goto(code, fact->target) ? NULL : callee;
}

uint64_t unit_callee_of(const struct code *code, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_value *target = &state->reg[CODE_TARGET];

    if (fact->flow != CODE_CALL || fact->target != 0 || fact->link != 0 || target->base != BASE_NUMBER ||
        !sets_target(fact))
        return 0;
    return unit_address_of(code->cpu, target) & ~(uint64_t)code->cpu->mode;
}

bool unit_is_pushed_to(const struct code_cpu *cpu, const struct code_unit *unit, const struct code_edge *edge)
{
    return !cpu->link && unit->function && unit->is_called && unit->fde != NULL && edge->target == unit->start &&
           edge->begins == 0 && edge->state.caller == CALLER_KNOWN && has_pushed(cpu, &edge->state);
}

bool code_is_jump_thunk(const struct code *code, struct code_unit *unit, const struct code_state *state)
{
    return has_pushed(code->cpu, state) && is_thunk(code, unit);
}

bool code_is_goto_thunk(const struct code *code, const struct code_unit *unit, const struct code_state *state)
{
    const struct code_value *sp = &state->reg[code->cpu->sp];

    return (has_pushed(code->cpu, state) || sp->base == BASE_NEAR || sp->base == BASE_ALIGNED) &&
           unit_is_goto(code, unit->start);
}

/* The list that the edge to TARGET is in. */
static struct code_edge **edges_to(const struct code_edges *edges, uint64_t target)
{
    return &edges->lists[code_hash(target) & (edges->size - 1)];
}

static struct code_edge *find_edge(const struct code_edges *edges, uint64_t target)
{
    struct code_edge *edge = edges->size > 0 ? *edges_to(edges, target) : NULL;

    while (edge != NULL && edge->target != target)
        edge = edge->chain;
    return edge;
}

static void put_edge(struct code_edges *edges, struct code_edge *edge)
{
    struct code_edge **list = edges_to(edges, edge->target);

    edge->chain = *list;
    *list = edge;
}

/* Adds an edge to TARGET, which none leads to yet. */
static struct code_edge *new_edge(struct code_edges *edges, uint64_t target)
{
    struct code_edge *edge = zeroed(1, sizeof *edge);
    struct code_edges more = {NULL, edges->num, edges->size > 0 ? 2 * edges->size : 64};
    size_t i;

    if (edges->num == edges->size) {
        more.lists = zeroed(more.size, sizeof(struct code_edge *));
        for (i = 0; i < edges->size; i++)
            while (edges->lists[i] != NULL) {
                struct code_edge *next = edges->lists[i]->chain;

                put_edge(&more, edges->lists[i]);
                edges->lists[i] = next;
            }
        free(edges->lists);
        *edges = more;
    }
    edge->target = target;
    put_edge(edges, edge);
    edges->num++;
    return edge;
}

static void free_edge(struct code_edges *edges, struct code_edge *edge)
{
    struct code_edge **at = edges_to(edges, edge->target);

    while (*at != edge)
        at = &(*at)->chain;
    *at = edge->chain;
    edges->num--;
    free(edge);
}

/* The address of code that STATE, that of a jump to a function, has left where that finds its return address; or 0. */
static uint64_t left_address(const struct code *code, const struct code_state *state)
{
    const struct code_cpu *cpu = code->cpu;
    const struct code_value ra = cpu->link ? state->reg[cpu->ra] : state_load(state, &state->reg[cpu->sp], 0);
    const uint64_t addr = unit_address_of(cpu, &ra) & ~(uint64_t)cpu->mode;

    return ra.base == BASE_NUMBER && image_code(code->image, addr) != NULL ? addr : 0;
}

static bool leaves_address(const struct code *code, const struct code_state *state)
{
    return left_address(code, state) != 0;
}

/* Whether FACT, behind which STATE holds, goes where a register or a word says, but not by a table, nor back. */
static bool goes_away(const struct code_state *state, const struct code_fact *fact)
{
    const uint8_t target = state->reg[CODE_TARGET].base;

    return fact->flow == CODE_AWAY && target != BASE_TABLE && target != BASE_RETURN;
}

/* Whether FACT goes to the start of other code than UNIT's, as a function is entered, or where a register says. */
static bool goes_as_call(const struct code *code, const struct code_unit *unit, const struct code_state *state,
                         const struct code_fact *fact)
{
    struct code_unit *callee;
    const struct symbol *symbol;
    struct code_state there;

    if (fact->flow == CODE_AWAY) {
        state_copy(&there, state);
        code_step(code->cpu, &there, fact);
        return goes_away(&there, fact) && (code->cpu->link || sets_target(fact));
    }
    callee = code_unit_at(code, fact->target);
    if (fact->flow != CODE_JUMP || callee == unit || callee == NULL || callee->start != fact->target ||
        unit_is_goto(code, fact->target) || (!code->cpu->link && is_thunk(code, callee)))
        return false;
    symbol = image_symbol(code->image, fact->target);
    return symbol == NULL || !unit_names_piece(symbol->name);
}

/* Whether no CFI says how the frame is found at ADDR. */
static bool is_without_cfi(const struct code *code, uint64_t addr)
{
    const struct code_unit *unit = code_unit_at(code, addr);

    return unit != NULL && (unit->fde == NULL || unit->says_nothing);
}

static bool is_data(const struct code *code, uint64_t addr)
{
    return code->cpu->data_end != NULL && code->cpu->data_end(code->decoder, addr) != 0;
}

/* Whether FACT calls where STATE, in front of it, has the function return to, by the link register: a caller, in the
 * place of a return (ARM: `blx lr`). Another register may have a word of another thread's stack (clone). */
static bool calls_back(const struct code_cpu *cpu, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_op *op = fact->num == 1 ? &fact->op[0] : NULL;

    return cpu->link && fact->flow == CODE_CALL && fact->target == 0 && fact->link == 0 && fact->condition == 0 &&
           op != NULL && op->what == CODE_SET && op->reg == CODE_TARGET && op->base == cpu->ra && op->k == 0 &&
           state_same_value(&state->reg[op->base], &state_way_back);
}

bool unit_make_call(const struct code *code, struct code_state *state, struct code_fact *fact, uint64_t next)
{
    const struct code_cpu *cpu = code->cpu;

    if (calls_back(cpu, state, fact))
        fact->flow = CODE_AWAY;
    if ((fact->flow != CODE_JUMP && fact->flow != CODE_AWAY) || fact->condition != 0 ||
        left_address(code, state) != next || !is_without_cfi(code, next - 1) || is_data(code, next) ||
        !goes_as_call(code, code_unit_at(code, next - 1), state, fact))
        return false;
    if (!cpu->link)
        code_move(&state->reg[cpu->sp], cpu->word);
    fact->flow = CODE_CALL;
    return true;
}

uint64_t unit_returns_to(const struct code *code, const struct code_state *state, const struct code_fact *fact)
{
    const bool goes =
        goes_away(state, fact) || (fact->flow == CODE_JUMP && code_begins_function(code, fact->target));
    const uint64_t addr = code->cpu->link && goes && fact->condition == 0 ? left_address(code, state) : 0;
    const struct code_unit *unit = addr != 0 ? code_unit_at(code, addr) : NULL;
    const struct symbol *symbol = unit != NULL ? image_symbol(code->image, addr) : NULL;

    return symbol != NULL && symbol->addr == addr && !symbol->function && unit->start == addr &&
                   unit->fde == NULL && !is_data(code, addr)
               ? addr
               : 0;
}

bool code_is_foreign(const struct code *code, uint64_t addr)
{
    size_t num = 0, below;
    const struct code_region *list = code->cpu->regions != NULL ? code->cpu->regions(code->decoder, &num) : NULL;

    below = count_up_to(list, num, sizeof *list, offsetof(struct code_region, start), addr);
    return below > 0 && addr < list[below - 1].end;
}

/* Somebody comes to TARGET with STATE. It is another unit's, or the middle of this one's. */
void code_add_edge(struct code *code, uint64_t target, const struct code_state *state)
{
    struct code_unit *unit = code_unit_at(code, target);
    struct code_state entry;
    struct code_edge *edge;

    if (unit == NULL || code_is_foreign(code, target))
        return;
    /* Where a function returns, SP and FP are what they were at its entry, whatever is known of them. */
    if (target == unit->start && state->caller == CALLER_KNOWN && !has_pushed(code->cpu, state) &&
        is_thunk(code, unit)) {
        code_entry(code->cpu, &entry);
        state = &entry;
    }
    if (target == unit->start && code_is_entry(code->cpu, state)) {
        unit->called = true;
        if (unit->function)
            return;
    }
    edge = find_edge(&code->edges, target);
    if (edge != NULL && edge->begins == CODE_START + 1 && state->caller != CALLER_NONE &&
        target == code->image->header.e_entry)
        return; /* who goes to where the image starts gives up what called it: all begins anew */
    if (edge != NULL) {
        unit->dirty |= code_join(code->cpu, &edge->state, state);
        edge->bare |= !leaves_address(code, state);
        return;
    }
    edge = new_edge(&code->edges, target);
    edge->bare = !leaves_address(code, state);
    edge->state = *state;
    index_forget_twins(&edge->state);
    edge->next = unit->edges;
    unit->edges = edge;
    unit->dirty = true;
}

void code_begin_at(struct code *code, uint64_t target, enum code_kind kind)
{
    struct code_state state;
    struct code_edge *edge;

    state_begin_way(code, &state, kind);
    code_add_edge(code, target, &state);
    edge = find_edge(&code->edges, target);
    if (edge != NULL)
        edge->begins = (uint8_t)(kind + 1);
}

struct code_edge **unit_forget_edge(struct code *code, struct code_edge **at)
{
    struct code_edge *edge = *at;

    if (edge->begins != 0) {
        state_begin_way(code, &edge->state, (enum code_kind)(edge->begins - 1));
        edge->bare = !leaves_address(code, &edge->state);
        return &edge->next;
    }
    *at = edge->next;
    free_edge(&code->edges, edge);
    return at;
}

void code_forget_edges(struct code *code, struct code_unit *unit)
{
    struct code_edge **at = &unit->edges;

    while (*at != NULL)
        at = unit_forget_edge(code, at);
    unit->called = unit->is_called;
    unit->is_piece = false;
    unit->dirty = true;
    unit->runs = 0;
}

bool code_begins_function(const struct code *code, uint64_t addr)
{
    const struct symbol *symbol = image_symbol(code->image, addr);

    return symbol != NULL && symbol->addr == addr && symbol->function;
}

bool unit_takes_address(const struct code *code, uint64_t pc)
{
    struct code_fact fact;
    const struct code_cpu *cpu = code->cpu;

    return !cpu->link && unit_fact_at(code, pc, &fact) && fact.num > 1 && fact.op[0].what == CODE_LOAD &&
           fact.op[0].base == cpu->sp && fact.op[0].k == 0 && fact.op[1].what == CODE_SET &&
           fact.op[1].reg == cpu->sp && fact.op[1].k == cpu->word;
}

bool code_is_own_address(const struct code *code, const struct code_fact *fact, uint64_t next)
{
    const struct code_unit *unit, *behind;

    if (fact->target != next)
        return false;
    unit = code_unit_at(code, next - 1);
    behind = code_unit_at(code, next);
    if (unit == NULL || behind == NULL)
        return false;
    return unit == behind || (unit->fde == NULL && behind->fde == NULL && !code_begins_function(code, next) &&
                              unit_takes_address(code, next));
}

/* Whether STATE is as a function's caller finds it. A jump may have taken the return address from elsewhere than where
 * a return finds it; on x86_64 SP is then where a return would have left it. */
bool code_is_left(const struct code_cpu *cpu, const struct code_state *state, const struct code_fact *fact)
{
    struct code_state left;
    struct code_value *sp = &left.reg[cpu->sp];

    state_copy(&left, state);
    if (cpu->link && fact->flow == CODE_AWAY)
        left.reg[cpu->ra] = left.reg[CODE_TARGET];
    if (!cpu->link && fact->flow == CODE_AWAY && sp->base == BASE_CFA) {
        code_move(sp, -cpu->word);
        state_store(cpu, &left, sp, 0, &left.reg[CODE_TARGET]);
    }
    return !fact->odd && code_is_entry(cpu, &left);
}

bool code_goes_by_table(const struct code_cpu *cpu, const struct code_state *state, const struct code_fact *fact)
{
    const struct code_value *ra = &state->reg[cpu->ra];

    return fact->flow == CODE_RETURN && cpu->link && ra->base == BASE_TABLE &&
           (ra->width & CODE_ENTRY_COMPLETE) != 0;
}

bool unit_is_filled(const struct code *code, uint64_t pc, unsigned least)
{
    enum { INT3 = 0xcc, ALIGNED = 16 };
    const uint64_t end = (pc + ALIGNED) / ALIGNED * ALIGNED;
    const struct code_unit *unit = code_unit_at(code, pc);
    const struct symbol *symbol = image_symbol(code->image, end);
    const uint8_t *p;
    uint64_t at;

    if (code->cpu->link || unit == NULL || end - pc < least || end >= unit->end ||
        (symbol != NULL && symbol->addr != end && symbol->size > end - symbol->addr))
        return false;
    p = image_instructions(code->image, pc, end - pc);
    for (at = 0; p != NULL && at < end - pc && p[at] == INT3; at++)
        continue;
    return at == end - pc;
}

bool unit_ends_with_call(const struct code *code, uint64_t next)
{
    enum { NOP = 0x90 };
    const uint8_t *p = code->cpu->link ? NULL : image_instructions(code->image, next, 1);

    return p != NULL && unit_is_filled(code, *p == NOP ? next + 1 : next, 1);
}

void unit_drop_rows(struct cfi_fde *fde)
{
    free(fde->rows);
    fde->rows = NULL;
    fde->num_rows = 0;
}

void code_drop_cfi(struct code *code, struct code_unit *unit)
{
    struct cfi_fde *fde = &code->cfi->fdes[unit->fde - code->cfi->fdes];

    unit_drop_rows(fde);
    fde->size = 0;
    fde->dropped = !unit->says_nothing;
    unit->fde = NULL;
    unit->function = unit->called = unit->resumes = unit->resumes_otherwise = false;
    unit->odd = unit->spoils = unit->frames = unit->keeps_fp = false;
    unit->passes_on = unit->is_waiting = false;
    unit->popped = 0;
    unit->bare = unit->dirty = true;
}

bool code_has_row(const struct code_unit *unit, uint64_t pc)
{
    size_t below = count_up_to(unit->rows, unit->num_rows, sizeof *unit->rows, offsetof(struct cfi_row, start), pc);

    return below > 0 && pc < unit->rows[below - 1].end;
}

void code_free(struct code *code)
{
    size_t i;

    for (i = 0; i < code->num_units; i++) {
        while (code->units[i].edges != NULL) {
            struct code_edge *next = code->units[i].edges->next;

            free(code->units[i].edges);
            code->units[i].edges = next;
        }
        free(code->units[i].rows);
        free(code->units[i].lost);
    }
    free(code->units);
    free(code->starts);
    free(code->blocks);
    free(code->calls);
    free(code->jumps);
    free(code->edges.lists);
    free(code->callees.places);
    free(code->callees.open);
    free(code->imports.list);
    free(code->vectors);
    free(code->taken);
    free(code->reports);
    if (code->cpu->close != NULL)
        code->cpu->close(code->decoder);
}

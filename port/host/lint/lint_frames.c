/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * How much stack each function takes, and how much the deepest path of direct calls from it:
 *     instructions -> SP in front of each, and calls -> functions that call themselves -> the deepest path
 * What no instruction shows (calls by pointers, an SP that is computed, rounds of recursion) makes a number "at least".
 */
#include "lint.h"
#include "code/code.h"
#include "code/find_units.h"

#include <stdlib.h>
#include <string.h>

/* FROM calls or jumps to TO, and has ADD bytes on the stack that TO's own do not count. */
struct edge {
    size_t from, to;
    uint64_t add;
};

struct graph {
    struct lint *lint;
    struct code code;
    struct edge *edges; /* by FROM */
    size_t num_edges;
    size_t *first; /* of each function's edges, and one more */
    size_t now;    /* the function that is read */
};

static struct lint_frame *frame_of(const struct graph *g, size_t function)
{
    return &g->lint->frames[function];
}

/* The number of the function that ADDR is in; that of functions if there is none. */
static size_t number_at_pc(const struct lint *lint, uint64_t addr)
{
    size_t below = count_up_to(lint->functions, lint->num_functions, sizeof *lint->functions,
                               offsetof(struct lint_function, start), addr);

    return below > 0 && addr < lint->functions[below - 1].end ? below - 1 : lint->num_functions;
}

/* ---- By tables ------------------------------------------------------------------------------------------------- */

static void take_rule(struct lint *lint, struct lint_frame *frame, const struct sfu_rule *cfa)
{
    const struct registers *r = lint->image.registers;
    int64_t size = (int64_t)cfa->offset - r->sp_below_cfa;

    if (cfa->control != (r->sp << RULE_NUMBER | RULE_REGISTER))
        frame->dynamic = true;
    else if (size > 0 && (uint64_t)size > frame->bytes)
        frame->bytes = (uint64_t)size;
}

struct by_cfi {
    struct lint *lint;
    size_t function;
};

/* A cfi_row_fn. */
static void take_cfi(void *ctx, const struct cfi_row *row)
{
    const struct by_cfi *by = ctx;
    const struct lint_function *f = &by->lint->functions[by->function];

    if (row->start < f->end && row->end > f->start && row->kind != CFI_LOST)
        take_rule(by->lint, &by->lint->frames[by->function], &row->cfa);
}

/* The frame of FUNCTION as its rows say, of the tables or, without these, of the CFI. */
static void take_rows(struct lint *lint, size_t function)
{
    const struct lint_function *f = &lint->functions[function];
    const struct cfi_span *span = cfi_span_at(&lint->spans, f->start);
    struct by_cfi by = {lint, function};
    uint64_t pc = f->start;
    struct sfu_row row;

    if (span != NULL && span->fde != NULL)
        cfi_rows(&lint->cfi, span->fde, take_cfi, &by);
    while (lint->open && pc < f->end && joined_find(&lint->tables, pc, &row) == SFU_OK &&
           row.start + row.length > pc) {
        if (row.kind == SFU_ROW_RULES && !row.trap_frame)
            take_rule(lint, &lint->frames[function], &row.cfa);
        pc = row.start + row.length;
    }
}

/* ---- By instructions ------------------------------------------------------------------------------------------- */

/* The bytes between SP in STATE and the caller's SP. */
static bool size_at(const struct graph *g, const struct code_state *state, uint64_t *size)
{
    const struct code_value *sp = &state->reg[g->code.cpu->sp];
    int64_t below = -sp->k - (int64_t)g->lint->image.registers->sp_below_cfa;

    *size = below > 0 ? (uint64_t)below : 0;
    return sp->base == BASE_CFA;
}

/* The same at the first instruction of a function: the return address on x86_64. */
static uint64_t size_at_entry(const struct graph *g)
{
    int64_t below = -(int64_t)g->code.cpu->sp_at_entry - (int64_t)g->lint->image.registers->sp_below_cfa;

    return below > 0 ? (uint64_t)below : 0;
}

/* The function that is read goes to TARGET, with SIZE bytes on the stack. */
static void add_edge(struct graph *g, const struct code_fact *fact, uint64_t size)
{
    size_t to = number_at_pc(g->lint, fact->target);
    uint64_t entry = size_at_entry(g), add = size;

    if (to == g->lint->num_functions || (fact->flow != CODE_CALL && to == g->now))
        return;
    if (fact->flow !=
        CODE_CALL) { /* a function at whose start nothing is on the stack yet; or a part of this one */
        add = g->code.units[to].function && fact->target == g->code.units[to].start && size > entry ? size - entry
                                                                                                    : 0;
    } else if (g->code.units[to].odd) {
        frame_of(g, g->now)->pointers = true; /* a thunk: it goes on elsewhere */
    }
    g->edges = grow(g->edges, g->num_edges, sizeof *g->edges);
    g->edges[g->num_edges++] = (struct edge){g->now, to, add};
    frame_of(g, to)->called = true;
}

/* A code_watch's give. */
static void take_instruction(void *ctx, uint64_t pc, const struct code_fact *fact, const struct code_state *state)
{
    struct graph *g = ctx;
    struct lint_frame *frame = frame_of(g, g->now);
    uint64_t on_stack;

    if (!size_at(g, state, &on_stack)) {
        frame->dynamic = true;
        on_stack = frame->bytes;
    }
    frame->bytes = on_stack > frame->bytes ? on_stack : frame->bytes;
    if (fact->size == 0)
        return;
    /* A jump by a pointer with the frame still there is a switch: a call has given it back. */
    frame->pointers |=
        (fact->flow == CODE_AWAY && on_stack <= size_at_entry(g)) || (fact->flow == CODE_CALL && fact->target == 0);
    if (fact->target != 0 && fact->target != pc + fact->size &&
        (fact->flow == CODE_CALL || fact->flow == CODE_JUMP || fact->flow == CODE_BRANCH))
        add_edge(g, fact, on_stack);
}

struct at_pc {
    uint64_t pc, end; /* of its row */
    struct sfu_rule cfa;
    bool found;
};

/* A cfi_row_fn. */
static void take_at_pc(void *ctx, const struct cfi_row *row)
{
    struct at_pc *at = ctx;

    if (row->kind == CFI_RULES && at->pc >= row->start && at->pc < row->end) {
        at->cfa = row->cfa;
        at->end = row->end;
        at->found = true;
    }
}

/* What the tables or, without these, the CFI says at AT->pc. */
static bool find_cfa_at(const struct lint *lint, struct at_pc *at)
{
    const struct cfi_span *span = cfi_span_at(&lint->spans, at->pc);
    struct sfu_row row;

    at->found = false;
    if (lint->open && joined_find(&lint->tables, at->pc, &row) == SFU_OK && row.kind == SFU_ROW_RULES) {
        at->cfa = row.cfa;
        at->end = row.start + row.length;
        at->found = true;
    } else if (span != NULL && span->fde != NULL) {
        cfi_rows(&lint->cfi, span->fde, take_at_pc, at);
    }
    return at->found;
}

/* A code_watch's admit: the cases of a switch. Rows say of PC what the state at its jump says, or nothing. Padding in
 * front of a case has the row of what lies before it. */
static bool admit_case(void *ctx, uint64_t pc, struct code_state *state)
{
    struct graph *g = ctx;
    const struct code_value sp = state->reg[g->code.cpu->sp], fp = state->reg[g->code.cpu->fp];
    struct at_pc at = {pc, 0, {0, 0}, false};

    if (!find_cfa_at(g->lint, &at))
        return false;
    if (image_is_padding(&g->lint->image, pc, at.end)) {
        at.pc = at.end;
        if (!find_cfa_at(g->lint, &at))
            return false;
    }
    if (at.cfa.control == (g->lint->image.registers->sp << RULE_NUMBER | RULE_REGISTER) &&
        (sp.base != BASE_CFA || sp.k != -(int64_t)at.cfa.offset))
        return false;
    memset(state, 0, sizeof *state);
    state->reg[g->code.cpu->sp] = sp;
    state->reg[g->code.cpu->fp] = fp;
    return true;
}

static void make_units(struct graph *g)
{
    const struct lint *lint = g->lint;
    size_t i;

    g->code.units = zeroed(lint->num_functions, sizeof *g->code.units);
    g->code.num_units = lint->num_functions;
    for (i = 0; i < lint->num_functions; i++) {
        struct code_unit *unit = &g->code.units[i];

        unit->start = lint->functions[i].start;
        unit->end = lint->functions[i].end;
        unit->function = lint->functions[i].name[0] != '\0' && strstr(lint->functions[i].name, ".cold") == NULL;
        unit->dirty = true;
    }
    code_index_units(&g->code);
}

/* What comes into a unit from others changes at most so often; what is unknown then stays so. */
enum { MAX_RUNS = 8 };

static void read_calls(struct graph *g)
{
    const struct code_watch quiet = {NULL, NULL, admit_case, NULL, NULL, NULL, NULL, NULL, NULL, g},
                            watch = {take_instruction, NULL, admit_case, NULL, NULL, NULL, NULL, NULL, NULL, g};
    bool again = true;
    size_t i;

    while (again) {
        again = g->code.changed;
        for (i = 0; i < g->code.num_units; i++) {
            struct code_unit *unit = &g->code.units[i];

            unit->dirty |= g->code.changed;
            if (!unit->dirty || unit->runs == MAX_RUNS)
                continue;
            unit->dirty = false;
            unit->runs++;
            again = true;
            code_run(&g->code, unit, &quiet);
        }
        g->code.changed = false;
    }
    for (i = 0; i < g->code.num_units; i++) {
        g->now = i;
        g->first[i] = g->num_edges;
        code_run(&g->code, &g->code.units[i], &watch);
    }
    g->first[i] = g->num_edges;
}

/* ---- The deepest path ------------------------------------------------------------------------------------------ */

/* What Tarjan's algorithm knows of a function. */
struct visit {
    size_t number, lowest; /* 0: not visited */
    size_t edge;           /* the next one to go along */
    size_t component;      /* 0: not known yet */
};

struct search {
    struct graph *g;
    struct visit *visits;
    size_t *path, num_path; /* from where it began to where it is */
    size_t *open, num_open; /* without a component yet */
    size_t num, components;
};

/* The shortest way from FIRST back to it within its component: sets each function's next, and counts. */
static void go_round(struct search *s, size_t first)
{
    struct graph *g = s->g;
    struct lint *lint = g->lint;
    struct lint_cycle cycle = {first, 1, 0};
    size_t *queue = zeroed(s->num_open, sizeof *queue), *by = zeroed(lint->num_functions, sizeof *by);
    size_t head = 0, tail = 0, e = 0, at;

    queue[tail++] = first;
    for (at = lint->num_functions; head < tail && at == lint->num_functions; head++) {
        for (e = g->first[queue[head]]; e < g->first[queue[head] + 1] && at == lint->num_functions; e++) {
            const struct edge *edge = &g->edges[e];

            if (edge->to == first)
                at = queue[head];
            else if (s->visits[edge->to].component == s->components && by[edge->to] == 0) {
                by[edge->to] = e + 1;
                queue[tail++] = edge->to;
            }
        }
    }
    lint->frames[at].next = first;
    cycle.bytes = g->edges[e - 1].add;
    for (; at != first; cycle.length++) {
        const struct edge *edge = &g->edges[by[at] - 1];

        lint->frames[edge->from].next = at;
        cycle.bytes += edge->add;
        at = edge->from;
    }
    lint->cycles = grow(lint->cycles, lint->num_cycles, sizeof *lint->cycles);
    lint->cycles[lint->num_cycles++] = cycle;
    free(queue);
    free(by);
}

/* The depth of FUNCTION, whose component is the newest one. Those that it calls and that are not in it are done. */
static void measure_depth(struct search *s, size_t function)
{
    const struct graph *g = s->g;
    struct lint_frame *frame = frame_of(g, function);
    size_t e;

    frame->depth = frame->bytes;
    frame->deepest = function;
    frame->least = frame->dynamic || frame->pointers;
    for (e = g->first[function]; e < g->first[function + 1]; e++) {
        const struct edge *edge = &g->edges[e];
        const struct lint_frame *to = frame_of(g, edge->to);

        if (s->visits[edge->to].component == s->components) {
            frame->cycle = true;
            continue;
        }
        frame->least |= to->least;
        if (to->depth + edge->add > frame->depth) {
            frame->depth = to->depth + edge->add;
            frame->deepest = edge->to;
        }
    }
    frame->least |= frame->cycle;
}

/* The functions from FUNCTION on in s->open are a component: each leads to each other. */
static void close_component(struct search *s, size_t function)
{
    size_t first = s->num_open, i;

    s->components++;
    do {
        first--;
        s->visits[s->open[first]].component = s->components;
    } while (s->open[first] != function);
    for (i = first; i < s->num_open; i++)
        measure_depth(s, s->open[i]);
    for (i = first; i < s->num_open; i++)
        frame_of(s->g, s->open[i])->least |= frame_of(s->g, function)->cycle;
    if (frame_of(s->g, function)->cycle)
        go_round(s, function);
    s->num_open = first;
}

static void enter(struct search *s, size_t function)
{
    struct visit *v = &s->visits[function];

    v->number = v->lowest = ++s->num;
    v->edge = s->g->first[function];
    s->path[s->num_path++] = function;
    s->open[s->num_open++] = function;
}

/* Visits all that can be reached from FUNCTION. Each function is entered once, and each edge is gone along once. A list
 * takes the place of recursion, because a chain of calls may be as long as the image has functions. */
static void visit_from(struct search *s, size_t function)
{
    enter(s, function);
    while (s->num_path > 0) {
        size_t at = s->path[s->num_path - 1];
        struct visit *v = &s->visits[at];

        if (v->edge < s->g->first[at + 1]) {
            size_t to = s->g->edges[v->edge++].to;

            if (s->visits[to].number == 0)
                enter(s, to);
            else if (s->visits[to].component == 0 && s->visits[to].number < v->lowest)
                v->lowest = s->visits[to].number;
            continue;
        }
        s->num_path--;
        if (s->num_path > 0 && v->lowest < s->visits[s->path[s->num_path - 1]].lowest)
            s->visits[s->path[s->num_path - 1]].lowest = v->lowest;
        if (v->lowest == v->number)
            close_component(s, at);
    }
}

static void find_paths(struct graph *g)
{
    size_t num = g->lint->num_functions, i;
    struct search s = {
        g, zeroed(num, sizeof *s.visits), zeroed(num, sizeof *s.path), 0, zeroed(num, sizeof *s.open), 0, 0, 0};

    for (i = 0; i < num; i++)
        if (s.visits[i].number == 0)
            visit_from(&s, i);
    free(s.visits);
    free(s.path);
    free(s.open);
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

void lint_frames(struct lint *lint)
{
    struct graph g = {lint, {0}, NULL, 0, NULL, 0};
    size_t i;

    lint->frames = zeroed(lint->num_functions, sizeof *lint->frames);
    g.code.image = &lint->image;
    g.code.cfi = &lint->cfi;
    /* Calls of an object have no targets yet, because its code has not been relocated. */
    g.code.cpu = lint->image.object ? NULL : code_cpu(&lint->image);
    lint->calls = g.code.cpu != NULL;
    for (i = 0; i < lint->num_functions; i++)
        lint->frames[i].next = lint->num_functions;
    if (lint->calls) {
        g.code.decoder = g.code.cpu->open != NULL ? g.code.cpu->open(&lint->image) : NULL;
        g.first = zeroed(lint->num_functions + 1, sizeof *g.first);
        make_units(&g);
        read_calls(&g);
    }
    for (i = 0; i < lint->num_functions; i++) {
        const struct lint_frame by_code = lint->frames[i];

        take_rows(lint, i);
        if (by_code.bytes > 0) /* where the CFA is counted from FP, the instructions know more */
            lint->frames[i].dynamic = by_code.dynamic;
    }
    if (lint->calls) {
        find_paths(&g);
        code_free(&g.code);
    }
    free(g.edges);
    free(g.first);
}

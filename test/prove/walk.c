/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_walk_start and sfu_walk_step, for every walk over up to two sections with a cache of up to three rows, with
 * callbacks that do anything. Looking up is any_locate below, which does what prove_find shows of it. */
#include "prove.h"

void any_locate(struct cursor *c, const struct sfu_section *s, uint64_t pc, struct sfu_row *row);
void any_locate(struct cursor *c, const struct sfu_section *s, uint64_t pc, struct sfu_row *row)
{
    struct sfu_row any;

    any.signal = nondet_bool();
    any.signed_ra = nondet_bool();
    any.abi = s->abi;
    c->error = (int8_t)nondet_byte();
    ASSUME(c->error == SFU_OK || (c->error <= SFU_E_NO_FDE && c->error >= SFU_E_ROW) || c->error == SFU_E_BOUNDS ||
           (c->error == SFU_E_SECTION && s->bytes == NULL));
    ASSUME(c->error != SFU_OK || (pc - any.start < any.length && any.kind <= SFU_ROW_ASK));
    *row = any;
}

/* The rules are among what any_locate leaves open. */
void no_rules(struct cursor *c, struct sfu_row *row);
void no_rules(struct cursor *c, struct sfu_row *row)
{
    (void)c;
    (void)row;
}

static int hook_code;

static int any_hook(void *ctx, const struct sfu_frame *frame, int code, struct sfu_frame *next)
{
    (void)ctx;
    PROVE(code == SFU_E_NO_FDE || code == SFU_E_SIGNAL, "the hook is asked about what the table does not describe");
    PROVE(next->trap == frame->sp && !next->has_ra && (next->pc | next->sp | next->fp | next->ra) == 0,
          "what the hook may leave alone");
    __CPROVER_havoc_object(next);
    next->has_ra = nondet_bool();
    hook_code = nondet_int();
    return hook_code;
}

static struct sfu_section first, second;
static struct sfu_row cache[3];
static struct sfu_target target;
static struct sfu_walk walk;

/* What a walk is between steps, besides any frame. */
static bool sound(const struct sfu_walk *w)
{
    const struct sfu_row *row = &w->row;

    if (w->target != &target || w->frame.pc_kind > SFU_PC_RETURN)
        return false;
    if (w->found != SFU_OK)
        return w->found <= SFU_E_EMPTY && w->found >= SFU_E_ROW && row->length == 0 && w->frame.function == 0 &&
               (w->found == SFU_E_EMPTY) == (target.sections == NULL);
    return sfu_lookup_pc(&w->frame) - row->start < row->length && w->frame.function == row->function;
}

static void any_target(void)
{
    border = nondet_u64();
    any_section(&first);
    any_section(&second);
    ASSUME(first.abi == second.abi);
    second.next = NULL;
    first.next = nondet_bool() ? &second : NULL;
    target.sections = nondet_bool() ? &first : NULL;
    target.read = read_anything;
    target.reg = nondet_bool() ? any_register : NULL;
    target.trap = nondet_bool() ? any_hook : NULL;
    target.stack = nondet_bool() ? any_stack : NULL;
    target.pac_mask = nondet_u64();
    target.cache = cache;
    target.cache_rows = nondet_u32();
    ASSUME(target.cache_rows <= 3);
    target.max_frames = nondet_u32();
    target.max_switches = nondet_byte();
    target.frame_pointers = nondet_bool();
    __CPROVER_havoc_object(cache);
}

static void any_walk(void)
{
    __CPROVER_havoc_object(&walk);
    walk.row.signal = nondet_bool();
    walk.row.signed_ra = nondet_bool();
    walk.frame.has_ra = nondet_bool();
    walk.frame.switched = nondet_bool();
    walk.frame.guessed = nondet_bool();
    walk.frame.reliable = nondet_bool();
}

void prove_walk_start(void)
{
    struct sfu_frame top;

    top.has_ra = nondet_bool();
    ASSUME(top.pc_kind <= SFU_PC_RETURN);
    any_target();
    any_walk();
    sfu_walk_start(&walk, &target, &top);
    PROVE(sound(&walk), "a walk has begun");
    PROVE(walk.frame.pc == top.pc && walk.frame.sp == top.sp && walk.frame.fp == top.fp && walk.frame.depth == 0 &&
              walk.frame.pc_kind == top.pc_kind && walk.frame.reliable && !walk.frame.guessed,
          "the first frame is the one that was given");
}

void prove_walk(void)
{
    struct sfu_walk before;
    const struct sfu_frame *frame = &walk.frame;
    bool leaf;
    int code;

    any_target();
    any_walk();
    ASSUME(sound(&walk));
    before = walk;
    code = sfu_walk_step(&walk);
    leaf = before.frame.pc_kind == SFU_PC_EXACT && frame->pc_kind == SFU_PC_RETURN;
    PROVE(code != SFU_END || hook_code == SFU_END ||
              (before.found == SFU_OK && before.row.kind == SFU_ROW_OUTERMOST),
          "the end is where the table or the hook says so");
    if (code != SFU_OK) {
        PROVE(same_frame(frame, &before.frame) && walk.found == before.found &&
                  (walk.found != SFU_OK || same_row(&walk.row, &before.row)),
              "the walk stays as it is on error");
        return;
    }
    PROVE(frame->sp > before.frame.sp || (leaf && frame->sp == before.frame.sp) || frame->switched,
          "SP grows within a stack");
    PROVE(frame->switches == before.frame.switches + frame->switched &&
              (!frame->switched ||
               frame->switches <= (target.max_switches != 0 ? target.max_switches : SFU_MAX_SWITCHES)),
          "switches are counted and limited");
    PROVE(frame->depth == before.frame.depth + 1 &&
              frame->depth < (target.max_frames != 0 ? target.max_frames : SFU_MAX_FRAMES),
          "frames are counted and limited");
    PROVE(frame->reliable == (before.frame.reliable && !frame->guessed), "no frame is reliable behind a guess");
    PROVE(!frame->guessed || (target.frame_pointers && before.found == SFU_E_NO_FDE), "guesses are opted in to");
    PROVE(sound(&walk), "the walk can go on");
}

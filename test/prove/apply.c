/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_apply, for every row, frame and target, with callbacks that do anything: no bound but that a window has no more
 * than 2^48 bytes.
 *   prove_word      a word of the stack is read from the window, and from nothing but the window, or by the callback
 *   prove_red_zone  FP is not read from where an interrupt may have overwritten it
 *   prove_apply     all that is in between: any_word stands for read_word */
#include "prove.h"

static struct sfu_target target;

/* Whether all of the word at ADDR is in the window. */
static bool in_window(uint64_t addr)
{
    return addr >= target.window_low && addr < target.window_high && target.window_high - addr >= 8;
}

static int read_outside(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    PROVE(len == 8, "the stack is read by words");
    PROVE(!in_window(addr), "what the window has is not asked for");
    return read_anything(ctx, addr, buffer, len);
}

/* prove_load shows what load8 does with them. */
static const uint8_t *loaded;

uint64_t load_from(const uint8_t *p, bool big);
uint64_t load_from(const uint8_t *p, bool big)
{
    (void)big;
    PROVE(__CPROVER_r_ok(p, 8), "the bytes of a word are there");
    loaded = p;
    return nondet_u64();
}

void prove_word(void)
{
    uint64_t addr = nondet_u64(), before = nondet_u64(), value = before, low, high;
    bool big = nondet_bool(), read;

    __CPROVER_havoc_object(&target);
    low = target.window_low;
    high = target.window_high;
    ASSUME(low >= high || high - low <= (uint64_t)1 << 48);
    target.window = low < high ? __CPROVER_allocate(high - low, 0) : NULL;
    target.read = nondet_bool() ? read_outside : NULL;
    read = read_word(&target, addr, big, &value);
    PROVE(callback_reads <= 1, "a word is read at once");
    PROVE(read || value == before, "no value on error");
    if (in_window(addr))
        PROVE(read && callback_reads == 0 && loaded == (const uint8_t *)target.window + (addr - low),
              "what the window has is read from it");
    else
        PROVE(!read || callback_reads == 1, "all else is read by the callback");
}

/* As prove_word shows: a word is any number, or cannot be read. */
static unsigned words;
static uint64_t last_word;

bool any_word(const struct sfu_target *t, uint64_t addr, bool big, uint64_t *value);
bool any_word(const struct sfu_target *t, uint64_t addr, bool big, uint64_t *value)
{
    (void)t;
    (void)big;
    words++;
    last_word = addr;
    if (nondet_bool())
        return false;
    *value = nondet_u64();
    return true;
}

static void any_target(void)
{
    __CPROVER_havoc_object(&target);
    target.read = read_outside;
    target.reg = nondet_bool() ? any_register : NULL;
    target.stack = nondet_bool() ? any_stack : NULL;
    target.original_ra = nondet_bool() ? any_original_ra : NULL;
    target.trap = NULL;
    target.frame_pointers = nondet_bool();
}

static void any_row_and_frame(struct sfu_row *row, struct sfu_frame *frame)
{
    row->trap_frame = nondet_bool();
    row->signed_ra = nondet_bool();
    frame->regs.has_ra = nondet_bool();
    frame->switched = nondet_bool();
    frame->replaced = nondet_bool();
    frame->reliable = nondet_bool();
}

void prove_red_zone(void)
{
    struct sfu_row row;
    struct sfu_frame frame;
    struct caller caller;
    int code;

    any_target();
    any_row_and_frame(&row, &frame);
    code = apply_rule(&target, &row, &frame, FP, &caller);
    PROVE(words <= 1, "a rule reads one word at most");
    if (words > 0)
        PROVE(frame.regs.pc_kind != SFU_PC_EXACT || last_word >= frame.regs.sp ||
                  frame.regs.sp - last_word <= target.red_zone,
              "what an interrupt may have overwritten is not read");
    else if (code == SFU_OK && row.fp.control & RULE_DEREFERENCE)
        PROVE(caller.values[FP] == frame.regs.fp && frame.regs.pc_kind == SFU_PC_EXACT, "FP has its value still");
}

/* NEXT follows FRAME. */
static void prove_progress(const struct sfu_target *t, const struct sfu_frame *frame, const struct sfu_frame *next,
                           bool stays)
{
    PROVE(next->regs.sp > frame->regs.sp || (stays && next->regs.sp == frame->regs.sp) || next->switched,
          "SP grows within a stack");
    PROVE(t->stack == NULL || next->switched == (any_stack(NULL, next->regs.sp) != any_stack(NULL, frame->regs.sp)),
          "stacks are told apart by the callback");
    PROVE(next->switches == frame->switches + next->switched, "switches are counted");
    PROVE(!next->switched ||
              (next->switches <= SFU_MAX_SWITCHES && (t->max_switches == 0 || next->switches <= t->max_switches)),
          "switches are limited");
    PROVE(next->depth == frame->depth + 1 && next->depth < (t->max_frames != 0 ? t->max_frames : SFU_MAX_FRAMES),
          "frames are counted and limited");
    PROVE(next->guessed == SFU_GUESS_NONE, "what the table says is not a guess");
}

void prove_apply(void)
{
    struct sfu_row row;
    struct sfu_walk walk, before;
    struct sfu_frame *frame = &walk.frame;
    bool stays;
    int code;

    any_target();
    any_row_and_frame(&row, frame);
    walk.target = &target;
    walk.stayed = nondet_bool();
    before = walk;
    code = sfu_apply(&walk, &row);
    PROVE(words <= 3, "at most three words are read");
    PROVE((code == SFU_END) == (row.kind == SFU_ROW_OUTERMOST), "the end is where the table says so");
    PROVE(code == SFU_OK || code == SFU_END || (code <= SFU_E_STACK && code >= SFU_E_TRAP),
          "only documented codes");
    if (code != SFU_OK) {
        PROVE(same_walk(&walk, &before), "outputs are unchanged on error");
        return;
    }
    stays = before.frame.regs.pc_kind == SFU_PC_EXACT &&
            (frame->regs.pc_kind == SFU_PC_RETURN || (target.stack != NULL && !before.stayed));
    prove_progress(&target, &before.frame, frame, stays);
    PROVE(frame->regs.pc_kind == (row.trap_frame ? SFU_PC_EXACT : SFU_PC_RETURN), "the kind of the PC");
    PROVE(frame->trap == (row.trap_frame ? before.frame.regs.sp : 0), "where the interrupted registers are");
    PROVE(!frame->regs.has_ra && frame->regs.ra == 0, "a caller's RA is in no register");
    PROVE(!frame->replaced || (target.original_ra != NULL && !row.trap_frame), "nothing but an RA is replaced");
    prove_stacks(&before, &walk);
    PROVE(frame->reliable == before.frame.reliable, "what the table says is as reliable as before");
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_find_frame, sfu_walk_start and sfu_walk_step, for every walk over up to three sections, with callbacks that do
 * anything. Looking up is any_find below, which does what prove_find shows of it. What a step does with a row is
 * any_caller and any_advance: prove_caller, prove_apply and prove_advance show that find_caller and advance do so. And
 * sfu_string, which says how a walk ended. */
#include "prove.h"

#define MAX_SECTIONS 3

static struct sfu_section sections[MAX_SECTIONS];
static struct sfu_target target;
static struct sfu_walk walk;

/* What the table has said. */
static sfu_addr asked_pc;
static unsigned asked; /* sections */
/* What the first said that said more than SFU_E_NO_FDE. Or that, if the text of one has the PC. Or SFU_E_NOT_CODE. */
static int first_code;
static bool found;
static struct sfu_row found_row;

/* Of each section: whether its text has asked_pc, and whether its functions may have it, too. */
static bool in_text[MAX_SECTIONS], may_have[MAX_SECTIONS];

/* The sections from ASKED on, up to END, are not asked. */
static void pass_over(unsigned end)
{
    unsigned i;

    for (i = 0; i < MAX_SECTIONS; i++) {
        if (i < asked || i >= end)
            continue;
        PROVE(!may_have[i], "all are asked in turn that may have the PC");
        if (in_text[i] && first_code == SFU_E_NOT_CODE)
            first_code = SFU_E_NO_FDE;
    }
    asked = end;
}

int any_find(const struct sfu_section *section, sfu_addr pc, struct sfu_row *row);
int any_find(const struct sfu_section *section, sfu_addr pc, struct sfu_row *row)
{
    unsigned at = section == &sections[0] ? 0 : section == &sections[1] ? 1 : 2;
    int code = (int8_t)nondet_byte();
    struct sfu_row any;

    PROVE(!found && asked < MAX_SECTIONS, "sections are asked until one has a row");
    PROVE(section == &sections[at], "a section of the list");
    pass_over(at);
    PROVE(may_have[at], "no others are asked");
    PROVE(pc == asked_pc, "a caller is looked up where it was left, not where it goes on");
    asked++;
    ASSUME(code == SFU_OK || (code <= SFU_E_NO_FDE && code >= SFU_E_ROW) || code == SFU_E_BOUNDS ||
           (code == SFU_E_SECTION && section->bytes == NULL));
    if (first_code == SFU_E_NO_FDE || first_code == SFU_E_NOT_CODE)
        first_code = code;
    if (code != SFU_OK)
        return code;
    any.trap_frame = nondet_bool();
    any.signed_ra = nondet_bool();
    any.abi = section->abi;
    ASSUME(pc - any.start < any.length && any.kind <= SFU_ROW_ASK);
    found = true;
    found_row = *row = any;
    return SFU_OK;
}

/* The walk as the step found it. */
static struct sfu_walk before;

/* What a row last said of the caller. */
static bool called;
static struct caller last_caller;
static uint8_t last_below; /* the ABI's CFA - SP */

int any_caller(const struct sfu_walk *w, const struct abi *abi, const struct sfu_row *row, struct caller *caller);
int any_caller(const struct sfu_walk *w, const struct abi *abi, const struct sfu_row *row, struct caller *caller)
{
    int code = (int8_t)nondet_byte();
    struct caller any;

    PROVE(w == &walk && same_walk(w, &before), "a row is applied to the frame that the step began with");
    PROVE(is_known(row->abi) && abi == abi_of(row->abi), "a row is of a known ABI");
    any.replaced = nondet_bool();
    ASSUME(code == SFU_OK || is_refusal(code));
    ASSUME(is_caller(w, row, &any));
    called = code == SFU_OK;
    last_caller = any;
    last_below = abi->sp_below_cfa;
    *caller = any;
    return code;
}

/* Where the step has moved to, and the walk as it was then. */
static bool advanced;
static struct sfu_walk moved;

int any_advance(struct sfu_walk *w, sfu_addr sp, bool trap);
int any_advance(struct sfu_walk *w, sfu_addr sp, bool trap)
{
    int code = (int8_t)nondet_byte();

    PROVE(w == &walk && same_walk(w, &before), "a step moves from the frame that it began with");
    PROVE(!advanced, "a step moves once");
    PROVE(!called || sp == last_caller.values[CFA] - last_below, "the caller's SP is the CFA, or s390x's");
    ASSUME(code == SFU_OK || is_refusal(code));
    called = false;
    if (code != SFU_OK)
        return code;
    any_walk_on(&moved, &target);
    ASSUME(moved.frame.regs.sp == sp && moved.frame.reliable == w->frame.reliable && is_advanced(w, &moved, trap));
    *w = moved;
    advanced = true;
    return SFU_OK;
}

/* What the hook has said. */
static bool hook_asked;
static int hook_code;
static struct sfu_interrupted hook_trapped;

static int any_hook(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    (void)ctx;
    PROVE(!hook_asked, "the hook is asked once");
    PROVE(code == SFU_E_NO_FDE || code == SFU_E_NOT_CODE || code == SFU_E_TRAP,
          "the hook is asked about what the table does not describe");
    PROVE(frame == &walk.frame && interrupted->saved == frame->regs.sp && interrupted->guess == SFU_GUESS_NONE &&
              !interrupted->regs.has_ra && interrupted->regs.pc_kind == SFU_PC_EXACT &&
              (interrupted->regs.pc | interrupted->regs.sp | interrupted->regs.fp | interrupted->regs.ra) == 0,
          "what the hook may leave alone");
    __CPROVER_havoc_object(&hook_trapped);
    hook_trapped.regs.has_ra = nondet_bool();
    ASSUME(hook_trapped.regs.pc_kind <= SFU_PC_RETURN);
    *interrupted = hook_trapped;
    hook_asked = true;
    hook_code = nondet_int();
    return hook_code;
}

/* Returns the number of its sections. */
static unsigned any_target(void)
{
    unsigned count = nondet_byte(), i;

    ASSUME(count <= MAX_SECTIONS);
    for (i = 0; i < MAX_SECTIONS; i++) {
        any_section(&sections[i]);
        ASSUME(sections[i].abi == sections[0].abi);
        sections[i].next = i + 1 < count ? &sections[i + 1] : NULL;
    }
    __CPROVER_havoc_object(&target);
    target.sections = count > 0 ? sections : NULL;
    target.read = read_anything;
    target.reg = nondet_bool() ? any_register : NULL;
    target.trap_hook = nondet_bool() ? any_hook : NULL;
    target.find_stack = nondet_bool() ? any_stack : NULL;
    target.original_ra = nondet_bool() ? any_original_ra : NULL;
    target.frame_pointers = nondet_bool();
    first_code = count > 0 ? SFU_E_NOT_CODE : SFU_E_NO_SECTION;
    return count;
}

/* A walk of ARM clears bit 0 of a PC that it is given. */
static void clear_bit0(struct sfu_registers *regs)
{
    if (target.sections != NULL && (target.sections->abi == SFU_ARM || target.sections->abi == SFU_THUMB))
        regs->pc -= regs->pc % 2;
}

static void any_walk(void)
{
    unsigned i;

    any_walk_on(&walk, &target);
    asked_pc = walk.frame.regs.pc_kind == SFU_PC_RETURN ? walk.frame.regs.pc - 1 : walk.frame.regs.pc;
    for (i = 0; i < MAX_SECTIONS; i++) {
        in_text[i] = in_range(&sections[i].text, asked_pc);
        may_have[i] = in_text[i] && in_range(&sections[i].code, asked_pc);
    }
}

void prove_find_frame(void)
{
    struct sfu_row row, before;
    unsigned count;
    int code;

    count = any_target();
    any_walk();
    row.trap_frame = nondet_bool();
    row.signed_ra = nondet_bool();
    before = row;
    code = sfu_find_frame(&target, &walk.frame, &row);
    PROVE((code == SFU_OK) == found, "a row that one of the sections has is found");
    if (!found)
        pass_over(count);
    PROVE(found || code == first_code, "else the first error counts that says more than that there is none");
    PROVE(same_row(&row, found ? &found_row : &before), "outputs are unchanged on error");
}

void prove_walk_start(void)
{
    struct sfu_registers top;

    top.has_ra = nondet_bool();
    ASSUME(top.pc_kind <= SFU_PC_RETURN);
    (void)any_target();
    any_walk();
    sfu_walk_start(&walk, &target, &top);
    clear_bit0(&top);
    PROVE(walking(&walk) && !walk.stayed, "the walk can go on");
    PROVE(walk.target == &target && same_registers(&walk.frame.regs, &top) && walk.frame.depth == 0 &&
              walk.frame.switches == 0 && walk.frame.saved == 0 && walk.frame.reliable &&
              walk.frame.guess == SFU_GUESS_NONE && !walk.frame.replaced && !walk.frame.switched &&
              !walk.frame.interrupted,
          "the first frame has the registers that were given");
    if (target.find_stack == NULL)
        PROVE(target.stack.high != 0 && top.sp <= target.stack.high ? same_stack(&walk.stack, &target.stack)
                                                                    : walk.stack.high == 0,
              "it is on the only stack, or on none");
}

/* The step has ended the trace, or failed, with CODE. A hook that is not sure, and ends the trace, takes from the last
 * frame that it is reliable. Nothing else changes. */
static void prove_stopped(const struct sfu_walk *before, int code)
{
    struct sfu_walk expected = *before;

    if (hook_asked && hook_code == SFU_END && hook_trapped.guess != SFU_GUESS_NONE)
        expected.frame.reliable = false;
    PROVE(same_walk(&walk, &expected), "the walk stays as it is on error");
    PROVE(code != SFU_END || in_range(&target.final, asked_pc), "the end is in the final frame");
    PROVE(code != SFU_END || (hook_asked && hook_code == SFU_END) || (found && found_row.kind == SFU_ROW_OUTERMOST),
          "the end is where the table or the hook says so");
    PROVE(code != SFU_E_NOT_FINAL || (hook_asked && hook_code == SFU_E_NOT_FINAL) ||
              !in_range(&target.final, asked_pc),
          "the final frame is final");
}

static bool in_some_text(sfu_addr pc)
{
    const struct sfu_section *s = target.sections;

    return s != NULL && (in_range(&s[0].text, pc) || (s[0].next != NULL && in_range(&s[1].text, pc)) ||
                         (s[0].next != NULL && s[1].next != NULL && in_range(&s[2].text, pc)));
}

void prove_walk(void)
{
    const struct sfu_frame *frame = &walk.frame, *was = &before.frame;
    struct sfu_walk expected;
    bool hooked;
    int code;

    (void)any_target();
    any_walk();
    before = walk;
    code = sfu_walk_step(&walk);
    PROVE(walk.target == &target, "the target stays");
    if (code != SFU_OK) {
        prove_stopped(&before, code);
        return;
    }
    hooked = hook_asked && hook_code == SFU_OK;
    PROVE(advanced && walking(&walk), "the walk has moved, and can go on");
    expected = moved; /* but for what is proven below */
    expected.frame.regs = frame->regs;
    expected.frame.saved = frame->saved;
    expected.frame.guess = frame->guess;
    expected.frame.interrupted = frame->interrupted;
    expected.frame.replaced = frame->replaced;
    expected.frame.reliable = frame->reliable;
    PROVE(same_walk(&walk, &expected) && frame->regs.sp == moved.frame.regs.sp, "all else is as it has moved to");
    PROVE(frame->reliable == (was->reliable && frame->guess == SFU_GUESS_NONE),
          "no frame is reliable behind a guess");
    PROVE(hooked || found || first_code == SFU_E_NO_FDE || first_code == SFU_E_NOT_CODE,
          "a corrupt table is not passed over");
    PROVE(hooked || frame->interrupted == (found && found_row.trap_frame), "an interrupted frame is marked");
    if (hooked) {
        clear_bit0(&hook_trapped.regs);
        PROVE(same_registers(&frame->regs, &hook_trapped.regs) &&
                  frame->saved == (frame->interrupted ? hook_trapped.saved : 0) &&
                  frame->guess == (hook_trapped.guess != SFU_GUESS_NONE ? SFU_GUESS_HOOK : SFU_GUESS_NONE) &&
                  frame->interrupted == (frame->regs.pc_kind == SFU_PC_EXACT) && !frame->replaced,
              "a frame behind a trap is what the hook says");
        return;
    }
    PROVE(frame->regs.pc == last_caller.values[RA] && frame->regs.fp == last_caller.values[FP] &&
              !frame->regs.has_ra && frame->regs.ra == 0 && frame->regs.pc_kind == moved.frame.regs.pc_kind &&
              frame->saved == moved.frame.saved && frame->replaced == last_caller.replaced,
          "a frame is what the row says");
    if (found)
        PROVE(frame->guess == SFU_GUESS_NONE && found_row.kind == SFU_ROW_RULES,
              "what the table says is not a guess, and rules are applied where there are some");
    else if (frame->guess == SFU_GUESS_CALL)
        PROVE(first_code == SFU_E_NOT_CODE && was->regs.pc_kind == SFU_PC_EXACT && frame->regs.fp == was->regs.fp &&
                  frame->regs.pc_kind == SFU_PC_RETURN && in_some_text(frame->regs.pc - 1),
              "a wild call is guessed where there is no code, and its caller is code");
    else
        PROVE(frame->guess == SFU_GUESS_RECORD && target.frame_pointers, "frame records are opted in to");
}

/* For every number. */
void prove_string(void)
{
    int code = nondet_int();
    const char *s = sfu_string(code);
    bool known = code <= SFU_END && code >= SFU_E_DEAD_SLOT;

    PROVE(s >= messages && s < messages + sizeof messages, "there is a message for every code");
    PROVE(s == messages || s[-1] == '\0', "it is a whole one");
    PROVE(known == (s + sizeof "unknown code" < messages + sizeof messages), "the last is for unknown codes");
}

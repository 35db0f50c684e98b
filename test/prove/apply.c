/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_apply, for every row, walk and target, with callbacks that do anything: no bound but that a stack whose bytes are
 * there has no more than 2^48, and MAX_LEFT.
 *   prove_stack     which stack an address lies on is what the target or its callback says
 *   prove_word      a word of a stack is read from its bytes or by the callback, and nothing outside of stacks is
 *   prove_read_word sfu_read_word reads a word of the target's stacks
 *   prove_red_zone  what lies below SP is in its register, on another stack or lost, as sfu.h says
 *   prove_caller    what a row says of the caller, for prove_walk
 *   prove_advance   a walk moves as sfu.h says, whatever the SP of the caller
 *   prove_walk_to   so does one whose caller is known
 *   prove_apply     all that is in between: any_word stands for read_word. Wherever SP and the stacks are in truth, no
 *                   row reads what a trap may have overwritten
 *   prove_left      no other stack than one that the walk has left so is refused
 *   prove_visits    a walk that comes back to a stack goes on above every frame that it had there */
#include "prove.h"

#ifndef MAX_LEFT
#define MAX_LEFT 0
#endif

static struct sfu_target target;
static struct sfu_walk walk;

/* ---- Stacks ---------------------------------------------------------------------------------------------------- */

/* The only stack of the target, and what its find_stack says: always the same. */
static struct sfu_stack answer;
static sfu_addr asked_address;
static bool answered;

static bool answer_stack(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    (void)ctx;
    stacks_asked++;
    asked_address = addr;
    *stack = answer;
    return answered;
}

/* A stack of any bounds. Those that are upside down have nothing. It may be read by the callback. */
static void any_bounds(struct sfu_stack *stack)
{
    struct sfu_stack any;

    ASSUME(any.low >= any.high || any.high - any.low <= (uint64_t)1 << 48);
    any.bytes = NULL;
    if (nondet_bool())
        any.bytes = __CPROVER_allocate(any.low < any.high ? any.high - any.low : 0, 0);
    *stack = any;
}

static void any_stacks(void)
{
    __CPROVER_havoc_object(&target);
    any_bounds(&target.stack);
    any_bounds(&answer);
    answered = nondet_bool();
    target.find_stack = nondet_bool() ? answer_stack : NULL;
}

/* The stack that an address of the target lies on, if it does. */
static const struct sfu_stack *stack_of(sfu_addr addr)
{
    const struct sfu_stack *stack = target.find_stack == NULL ? &target.stack : answered ? &answer : NULL;

    return stack != NULL && stack->high != 0 && addr <= stack->high ? stack : NULL;
}

void prove_stack(void)
{
    struct sfu_stack stack;
    sfu_addr addr = nondet_addr();
    bool found;

    any_stacks();
    found = find_stack(&target, addr, &stack);
    PROVE(found == (stack_of(addr) != NULL), "an address up to the high end of a stack, or below it, is on it");
    PROVE(stacks_asked == (target.find_stack != NULL) && (stacks_asked == 0 || asked_address == addr),
          "the callback is asked once for that address");
    if (found)
        PROVE(same_stack(&stack, stack_of(addr)), "it is the one that the target names");
    else
        PROVE(stack.low == 0 && stack.high == 0, "else nothing is on it");
}

/* ---- Words ----------------------------------------------------------------------------------------------------- */

static unsigned word_bytes; /* of a word: 8 or 4 */

/* Whether all of the word at ADDR is in STACK. */
static bool in_stack(const struct sfu_stack *stack, sfu_addr addr)
{
    return stack != NULL && addr >= stack->low && addr < stack->high && stack->high - addr >= word_bytes;
}

static sfu_addr wanted_address;

static int read_wanted(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    PROVE(len == word_bytes && addr == wanted_address, "the word is read at once");
    return read_anything(ctx, addr, buffer, len);
}

/* prove_load shows what load8 and load4 do with them. */
static const uint8_t *loaded;

uint64_t load_from(const uint8_t *p, bool big);
uint64_t load_from(const uint8_t *p, bool big)
{
    (void)big;
    PROVE(word_bytes == 8 && __CPROVER_r_ok(p, 8), "the bytes of a word are there");
    loaded = p;
    return nondet_u64();
}

uint32_t load4_from(const uint8_t *p, bool big);
uint32_t load4_from(const uint8_t *p, bool big)
{
    (void)big;
    PROVE(word_bytes == 4 && __CPROVER_r_ok(p, 4), "the bytes of a short word are there");
    loaded = p;
    return nondet_u32();
}

/* The word at ADDR, which ON has, or else another stack, has been read: DONE. */
static void prove_read(const struct sfu_stack *on, sfu_addr addr, bool done)
{
    const struct sfu_stack *stack = in_stack(on, addr) ? on : stack_of(addr);

    PROVE(!in_stack(on, addr) || stacks_asked == 0, "no other stack is asked for if that one has the word");
    if (!in_stack(stack, addr))
        PROVE(!done && callback_reads == 0, "what lies on no stack is not read");
    else if (stack->bytes != NULL)
        PROVE(done && callback_reads == 0 && loaded == (const uint8_t *)stack->bytes + (addr - stack->low),
              "a word is read from the bytes of its stack");
    else
        PROVE(callback_reads == (target.read != NULL) && (!done || callback_reads == 1),
              "without bytes it is read by the callback");
}

void prove_word(void)
{
    struct sfu_stack on;
    sfu_addr before = nondet_addr(), value = before;
    bool done;

    any_stacks();
    any_bounds(&on);
    target.read = nondet_bool() ? read_wanted : NULL;
    wanted_address = nondet_addr();
    word_bytes = nondet_bool() ? 8 : 4;
    done = read_word(&target, &on, wanted_address, nondet_bool(), word_bytes, &value);
    PROVE(done || value == before, "no value on error");
    PROVE(!done || word_bytes == 8 || value <= UINT32_MAX, "a short word has no sign");
    prove_read(&on, wanted_address, done);
}

void prove_read_word(void)
{
    sfu_addr before = nondet_addr(), value = before;
    struct sfu_section section;
    int code;

    any_stacks();
    target.read = nondet_bool() ? read_wanted : NULL;
    wanted_address = nondet_addr();
    section.abi = (enum sfu_abi)nondet_byte();
    target.sections = nondet_bool() ? &section : NULL;
    word_bytes = target.sections != NULL && section.abi >= SFU_RISCV32 && section.abi <= SFU_I386 ? 4 : 8;
    code = sfu_read_word(&target, wanted_address, nondet_bool(), &value);
    PROVE(code == SFU_OK || (code == SFU_E_STACK && value == before), "a word, or an error");
    prove_read(&target.stack, wanted_address, code == SFU_OK);
}

/* As prove_word shows: a word is any number, or cannot be read. */
static unsigned words;
static sfu_addr last_word;

bool any_word(const struct sfu_target *t, const struct sfu_stack *stack, sfu_addr addr, bool big, unsigned size,
              sfu_addr *value);
bool any_word(const struct sfu_target *t, const struct sfu_stack *stack, sfu_addr addr, bool big, unsigned size,
              sfu_addr *value)
{
    (void)big;
    PROVE(size == 8 || size == 4, "a word has 8 bytes or 4");
    PROVE(t == &target && stack == &walk.stack, "a word is read from the stack that the walk is on");
    PROVE(!trapped(&walk, addr), "what a trap may have overwritten is not read");
    words++;
    last_word = addr;
    if (nondet_bool())
        return false;
    *value = size == 8 ? nondet_addr() : nondet_u32();
    return true;
}

/* ---- Rules ----------------------------------------------------------------------------------------------------- */

static void any_target_and_walk(void)
{
    __CPROVER_havoc_object(&target);
    target.read = read_anything;
    target.reg = nondet_bool() ? any_register : NULL;
    target.find_stack = nondet_bool() ? any_stack : NULL;
    target.original_ra = nondet_bool() ? any_original_ra : NULL;
    target.trap_hook = NULL;
    target.frame_pointers = nondet_bool();
    any_walk_on(&walk, &target);
}

static void any_row(struct sfu_row *row)
{
    struct sfu_row any;

    any.trap_frame = nondet_bool();
    any.signed_ra = nondet_bool();
    *row = any;
}

/* The register of RA or FP, WHICH, in a frame whose PC is exact, as CODE and VALUE say. That of a trap frame's RA is
 * the interrupted code's. */
static void prove_in_register(const struct sfu_row *row, unsigned which, int code, sfu_addr value)
{
    const struct sfu_registers *regs = &walk.frame.regs;

    if (which == FP)
        PROVE(code == SFU_OK && value == regs->fp, "FP has its value still");
    else if (which == RA && abi_of(row->abi)->traits & LINK && !row->trap_frame)
        PROVE(regs->has_ra                    ? code == SFU_OK && value == regs->ra
              : registers_asked == 1 && known ? code == SFU_OK && value == last_register
                                              : code == SFU_E_REGISTER,
              "the RA is in its register again");
    else
        PROVE(code == SFU_E_DEAD_SLOT, "what has no register is lost");
}

/* Whether RULE of ROW finds its slot from SP, in a frame that begins there or above. */
static bool counted_from_sp(const struct sfu_row *row, const struct sfu_rule *rule)
{
    const struct abi *abi = abi_of(row->abi);

    return row->cfa.control == (uint32_t)(abi->sp * 8 + 1) && row->cfa.offset >= abi->sp_below_cfa &&
           ((rule->control & 1) == 0 || rule->control / 8 == abi->sp);
}

/* What was done about RULE of ROW, for WHICH, whose slot at ADDR lies below SP, as CODE and VALUE say. */
static void prove_below(const struct sfu_row *row, const struct sfu_rule *rule, unsigned which, sfu_addr addr,
                        int code, sfu_addr value)
{
    bool known = walk.stack.low < walk.frame.regs.sp && walk.frame.regs.sp <= walk.stack.high;

    if (counted_from_sp(row, rule)) {
        PROVE(words == 0, "a slot that is counted from SP is dead, wherever it lies");
        prove_in_register(row, which, code, value);
    } else if (!known)
        PROVE(words == 0 && code == SFU_E_STACK, "nobody knows where SP is: nothing below it is told apart");
    else if (addr >= walk.stack.low)
        PROVE(words == 0 && code == SFU_E_DEAD_SLOT,
              "a slot on SP's own stack that is not counted from SP is lost");
    else
        PROVE(words == 1 && (code == SFU_OK || code == SFU_E_STACK), "what lies on another stack is read");
}

void prove_red_zone(void)
{
    struct sfu_row row;
    struct caller caller, before;
    const struct sfu_rule *rule;
    unsigned which = nondet_byte();
    int code;

    any_target_and_walk();
    any_row(&row);
    ASSUME(which < RULES && is_known(row.abi));
    rule = which == CFA ? &row.cfa : which == RA ? &row.ra : &row.fp;
    caller.replaced = nondet_bool();
    before = caller;
    /* a base that no callback is asked for */
    ASSUME(!(rule->control & RULE_REGISTER) || rule->control >> RULE_NUMBER == abi_of(row.abi)->sp ||
           rule->control >> RULE_NUMBER == abi_of(row.abi)->fp);
    code = apply_rule(&walk, abi_of(row.abi), &row, which, &caller);
    PROVE(words <= 1, "a rule reads one word at most");
    PROVE(caller.slot == (words > 0 && which == RA ? last_word : before.slot), "a slot is where the RA was read");
    if (rule->control & RULE_DEREFERENCE && code != SFU_E_ADDRESS) {
        sfu_addr base = !(rule->control & RULE_REGISTER)                      ? before.values[CFA]
                        : rule->control >> RULE_NUMBER == abi_of(row.abi)->sp ? walk.frame.regs.sp
                                                                              : walk.frame.regs.fp;
        sfu_addr addr = base + (sfu_addr)rule->offset;

        PROVE(words == 0 || last_word == addr, "the word is the slot");
        if (below_red_zone(&walk, addr))
            prove_below(&row, rule, which, addr, code, caller.values[which]);
        else
            PROVE(words == 1 && (code == SFU_OK || code == SFU_E_STACK), "all else is read");
    }
}

void prove_caller(void)
{
    struct sfu_row row;
    struct sfu_walk before;
    struct caller caller;
    int code;

    any_target_and_walk();
    any_row(&row);
    ASSUME(is_known(row.abi));
    before = walk;
    code = find_caller(&walk, abi_of(row.abi), &row, &caller);
    PROVE(same_walk(&walk, &before), "the walk stays");
    PROVE(code == SFU_OK ? is_caller(&walk, &row, &caller) : is_refusal(code), "what is known of a caller");
}

void prove_advance(void)
{
    struct sfu_walk before, expected;
    sfu_addr sp = nondet_addr();
    bool trap = nondet_bool();
    int code;

    any_target_and_walk();
    before = walk;
    code = advance(&walk, sp, trap);
    if (code != SFU_OK) {
        PROVE(is_refusal(code) && same_walk(&walk, &before), "outputs are unchanged on error");
        return;
    }
    prove_progress(&before, &walk, trap);
    PROVE(walk.frame.regs.sp == sp && is_advanced(&before, &walk, trap),
          "the frame is at SP, and the kind of its PC");
    expected = before;
    expected.frame.regs.sp = sp;
    expected.frame.regs.pc_kind = walk.frame.regs.pc_kind;
    PROVE(same_registers(&walk.frame.regs, &expected.frame.regs), "other registers are left alone");
    PROVE(walk.frame.reliable == before.frame.reliable && walk.target == before.target,
          "the frame is as reliable as before");
}

void prove_walk_to(void)
{
    struct sfu_section section;
    struct sfu_walk before;
    struct sfu_registers caller;
    int code;

    any_target_and_walk();
    section.abi = nondet_u8();
    ASSUME(is_known(section.abi));
    target.sections = nondet_bool() ? &section : NULL;
    caller.pc = nondet_addr();
    caller.sp = nondet_addr();
    caller.fp = nondet_addr();
    caller.ra = nondet_addr();
    caller.has_ra = nondet_bool();
    caller.pc_kind = nondet_bool() ? SFU_PC_EXACT : SFU_PC_RETURN;
    before = walk;
    code = sfu_walk_to(&walk, &caller);
    if (code != SFU_OK) {
        PROVE(is_refusal(code) && same_walk(&walk, &before), "outputs are unchanged on error");
        return;
    }
    prove_progress(&before, &walk, caller.pc_kind == SFU_PC_EXACT);
    PROVE(is_advanced(&before, &walk, caller.pc_kind == SFU_PC_EXACT), "the kind of its PC");
    PROVE((walk.frame.regs.pc | 1) == (caller.pc | 1), "the PC is the caller's, but for a bit that is none of it");
    caller.pc = walk.frame.regs.pc;
    PROVE(same_registers(&walk.frame.regs, &caller), "all other registers are the caller's");
    PROVE(walk.frame.reliable == before.frame.reliable && walk.target == before.target,
          "the frame is as reliable as before");
}

void prove_apply(void)
{
    struct sfu_row row;
    struct sfu_walk before;
    const struct sfu_frame *frame = &walk.frame;
    int code;

    any_target_and_walk();
    any_row(&row);
    before = walk;
    code = sfu_apply(&walk, &row);
    PROVE(words <= 3, "at most three words are read");
    PROVE((code == SFU_E_ABI) == !is_known(row.abi), "a number that no ABI has is refused, and no other");
    PROVE((code == SFU_END) == (is_known(row.abi) && row.kind == SFU_ROW_OUTERMOST),
          "the end is where the table says so");
    PROVE(code == SFU_OK || code == SFU_END || code == SFU_E_ABI || (code <= SFU_E_STACK && code >= SFU_E_TRAP) ||
              code == SFU_E_DEAD_SLOT,
          "only documented codes");
    if (code != SFU_OK) {
        PROVE(same_walk(&walk, &before), "outputs are unchanged on error");
        return;
    }
    prove_progress(&before, &walk, row.trap_frame);
    PROVE(row.abi < SFU_RISCV32 || frame->regs.sp <= UINT32_MAX, "no SP of 32 bits is larger");
    PROVE(stacks_asked == (frame->switched && target.find_stack != NULL),
          "an ordinary frame asks for no stack, a switch for one");
    PROVE(frame->guess == SFU_GUESS_NONE, "what the table says is not a guess");
    PROVE(frame->regs.pc_kind == (row.trap_frame ? SFU_PC_EXACT : SFU_PC_RETURN), "the kind of the PC");
    PROVE(frame->saved == (row.trap_frame ? before.frame.regs.sp : 0), "where the interrupted registers are");
    PROVE(frame->interrupted == row.trap_frame, "the caller of a trap frame is interrupted");
    PROVE(!frame->regs.has_ra && frame->regs.ra == 0, "a caller's RA is in no register");
    PROVE(!frame->replaced || (target.original_ra != NULL && !row.trap_frame), "nothing but an RA is replaced");
    PROVE(frame->reliable == before.frame.reliable, "what the table says is as reliable as before");
}

/* ---- Visits ---------------------------------------------------------------------------------------------------- */

/* A frame that the walk has been at: its SP, on the stack that ends at HIGH. */
struct visit {
    sfu_addr sp, high;
    uint8_t left; /* if the walk is on another stack now: which switch has left that one, at SP or above */
};

/* Whether W has passed VISIT. */
static bool passed(const struct sfu_walk *w, const struct visit *visit)
{
    if (w->stack.high == visit->high)
        return visit->sp <= w->frame.regs.sp;
    return visit->left < w->frame.switches && visit->sp <= w->left[visit->left] &&
           w->left[visit->left] <= visit->high;
}

/* Every step is one of advance. Any frame of the walk so far, that it is at among them, is passed before; so it is
 * afterwards: by induction, no frame of a walk lies below an earlier one of the same stack, in whichever order the
 * stacks are visited. Stacks are told apart by their high ends. */
void prove_visits(void)
{
    struct sfu_walk before;
    struct visit visit;
    sfu_addr sp = nondet_addr();

    any_target_and_walk();
    ASSUME(target.find_stack != NULL && visit.high != 0 && passed(&walk, &visit));
    before = walk;
    if (advance(&walk, sp, nondet_bool()) != SFU_OK)
        return;
    if (before.stack.high == visit.high)
        visit.left = before.frame.switches;
    PROVE(passed(&walk, &visit), "SP grows on each stack, whenever the walk comes back to it");
    PROVE(!walk.frame.switched || walk.stack.high != visit.high || visit.sp < sp, "no SP is entered twice");
}

/* Whether the walk has left STACK at SP or above is what the list of places says, and nothing else. The walk has made
 * up to MAX_LEFT switches. */
void prove_left(void)
{
    struct sfu_stack stack;
    sfu_addr sp = nondet_addr();
    bool left;
    unsigned i;

    any_target_and_walk();
    ASSUME(walk.frame.switches <= MAX_LEFT);
    left = sp <= walk.frame.regs.sp && walk.frame.regs.sp <= stack.high;
    for (i = 0; i < MAX_LEFT; i++)
        left = left || (i < walk.frame.switches && sp <= walk.left[i] && walk.left[i] <= stack.high);
    PROVE(was_left(&walk, &stack, sp) == left, "a stack was left where it was left");
}

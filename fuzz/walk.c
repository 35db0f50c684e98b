/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A whole walk over any section, any stacks and any registers, with callbacks that fail at a chosen read. Each step is
 * computed a second time, by what sfu.h says, from the row and the stacks, and compared: the frame, the code and how
 * often find_stack is asked. Where a stack is mapped, the same must come of the callback alone.
 *
 * Input: the section, 32 stack words of 2 bytes (see value), 24 bytes of choices (struct choices).
 */
#include "harness.h"
#include "test/lib/abi.h"

#include <string.h>

enum { WORDS = 32, STACK = 0x70000000, MAX_STEPS = 4096 };

struct choices {
    uint8_t repair[3];
    uint8_t section; /* bit 0: through the callback, 1: at the end of a page, 2: a second one, 3 and 4: address,
                        5 to 7: which part of the memory is a stack */
    uint8_t target;  /* bit 0: reg, 1: frame pointers, 2 and 3: enum how_stacked, 4: RA known, 5: PC is a return
                        address, 6 and 7: red zone */
    uint8_t trap;    /* 0 to 31: no hook; otherwise what it does */
    uint8_t stacks;  /* 0 to 63: one stack; 64 up: pieces of 2 to the power of bits 0 to 5; 128 up: with gaps and
                        overflows, 192 up: with lies, too */
    uint8_t max_frames;
    uint8_t max_switches;             /* bit 5: a final frame, 6: RAs are replaced, 7: the text is known */
    uint8_t fail_section, fail_stack; /* which read fails; 0: none */
    uint8_t pac;
    uint8_t pc[2], sp[2], fp[2], ra[2], regs[2], interrupted[2];
};

/* FAR: all of the address space, by the callback. ALL: the memory, mapped. PART: a part of it. NEAR: that part, by the
 * callback. With several stacks: FAR and NEAR by the callback, the others mapped where they lie in the memory. */
enum how_stacked { FAR, ALL, PART, NEAR };

/* Where a walk is, and how it came there, as sfu.h has it. */
struct walked {
    struct sfu_frame frame;
    struct sfu_stack stack;          /* high 0: on none */
    uint64_t left[SFU_MAX_SWITCHES]; /* SPs in front of the switches */
    bool stayed;                     /* SP was the same behind the step before */
    uint32_t finds;                  /* of stacks that the last step needed */
};

struct world {
    struct choices how;
    struct table table;
    struct remote remote;
    struct sfu_section section, second;
    bool checked; /* one answer for each PC: it is in the table */
    uint8_t stack[8 * WORDS];
    bool big;
    uint32_t reads, traps; /* of the stack, of the hook; in this step */
    uint32_t all_reads;
    uint32_t finds;        /* how often find_stack was asked in this step */
    bool failed;           /* a read of the stack was made to fail in this step */
    bool unmapped;         /* stacks have no bytes */
    const uint8_t *mapped; /* a copy of the memory at the border of a page */
    struct walked walked;
    struct sfu_target target;
};

/* A number from 2 bytes: addresses in the stack and in functions are more likely than chance makes them. */
static uint64_t value(const struct world *w, const uint8_t *p)
{
    unsigned v = (unsigned)bytes_get(p, 2, false), low = v & 0x1fff;
    const struct table *t = &w->table;
    uint64_t code = t->num_fdes > 0 ? t->fde[(low >> 8) % t->num_fdes].start : w->section.addr;

    switch (v >> 13) {
    case 0:
        return low;
    case 1:
        return STACK + (low & 0x1ff);
    case 2:
        return STACK + (low & 0x1f) * 8;
    case 3:
        return w->section.addr + low - 0x1000;
    case 4:
        return code + (low & 0xff);
    case 5:
        return code + (low & 0xf);
    case 6:
        return (code + (low & 0xff)) | (uint64_t)low << 52;
    default:
        return UINT64_MAX - low;
    }
}

/* Whether all of the word at ADDR is in the memory. */
static bool has_word(uint64_t addr)
{
    return addr >= STACK && addr - STACK <= 8 * WORDS - 8;
}

static int read_stack(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    struct world *w = ctx;

    MUST(len == 8 && addr <= UINT64_MAX - len);
    w->reads++;
    if (++w->all_reads == w->how.fail_stack) {
        w->failed = true;
        return 1;
    }
    if (!has_word(addr))
        return -1;
    memcpy(buffer, w->stack + (addr - STACK), 8);
    return 0;
}

static int supply_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *result)
{
    const struct world *w = ctx;

    MUST(frame->regs.pc_kind == SFU_PC_EXACT);
    if (reg == w->how.regs[0] % 20u)
        return 1;
    *result = STACK + (reg * w->how.regs[1] & 0xff);
    return 0;
}

/* What the hook says of FRAME. The kind of what is behind the trap, and whether that is guessed, are bits 5 and 6 of
 * the choice. */
static int hook_says(const struct world *w, const struct sfu_frame *frame, int code,
                     struct sfu_interrupted *interrupted)
{
    static const int codes[] = {SFU_OK, SFU_END, SFU_OK, SFU_OK, SFU_OK, SFU_OK, SFU_OK, SFU_OK};
    struct sfu_registers *r = &interrupted->regs;
    uint64_t sp = frame->regs.sp;

    r->pc = value(w, w->how.interrupted);
    r->sp = w->how.trap & 8 ? sp - 64 : sp + (w->how.trap & 7) * 8;
    r->fp = frame->regs.fp;
    interrupted->saved = w->how.trap & 16 ? sp + 8 : sp;
    r->has_ra = w->how.trap & 8;
    r->ra = value(w, w->how.ra);
    r->pc_kind = w->how.trap & 32 ? SFU_PC_RETURN : SFU_PC_EXACT;
    interrupted->guess = w->how.trap & 64 ? SFU_GUESS_HOOK : SFU_GUESS_NONE;
    if (w->how.trap >> 5 == 2)
        return code;
    if (w->how.trap >> 5 == 3)
        return w->how.trap & 1 ? SFU_E_NO_FDE : w->how.trap & 2 ? SFU_END : SFU_E_STACK;
    return codes[w->how.trap >> 5];
}

static int hook(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    struct world *w = ctx;
    const struct sfu_registers *r = &interrupted->regs;

    MUST(code == SFU_E_NO_FDE || code == SFU_E_NOT_CODE || code == SFU_E_TRAP);
    MUST(r->pc == 0 && r->sp == 0 && r->fp == 0 && r->ra == 0 && !r->has_ra && r->pc_kind == SFU_PC_EXACT);
    MUST(interrupted->saved == frame->regs.sp && interrupted->guess == SFU_GUESS_NONE);
    w->traps++;
    return hook_says(w, frame, code, interrupted);
}

/* The piece of memory that ADDR is in, as a stack. Of five pieces that have gaps, one is none, and one belongs to the
 * stack above, which has overflowed. A liar's bounds are not those of what ADDR is in, or the wrong way round. */
static bool tell_stack(const struct world *w, uint64_t addr, struct sfu_stack *stack)
{
    unsigned shift = (w->how.stacks & 63) < 4 ? 7 : w->how.stacks & 63;
    uint64_t size = (uint64_t)1 << shift, low = addr & ~(size - 1), piece = addr >> shift;
    bool gaps = w->how.stacks >= 128, lies = w->how.stacks >= 192;

    if (gaps && piece % 5 == 1)
        return false;
    if (gaps && piece % 5 == 2 && low <= UINT64_MAX - size)
        low += size;
    stack->low = low;
    stack->high = low > UINT64_MAX - size ? UINT64_MAX : low + size;
    stack->bytes = NULL;
    if (lies) {
        uint64_t by = w->how.section >> 5;

        stack->low += by & 1 ? size : by * 4;
        stack->high -= by & 2 ? size : by;
    } else if (!w->unmapped && stack->low >= STACK && stack->high <= STACK + 8 * WORDS) {
        stack->bytes = w->mapped + (stack->low - STACK);
    }
    return true;
}

static bool find_stack(void *ctx, uint64_t addr, struct sfu_stack *stack)
{
    struct world *w = ctx;

    w->finds++;
    return tell_stack(w, addr, stack);
}

/* Some return addresses are not those that were there. */
static bool original_ra(void *ctx, const struct sfu_frame *frame, uint64_t slot, uint64_t *ra)
{
    const struct world *w = ctx;

    MUST(slot == 0 || has_word(slot));
    MUST(frame->depth < SFU_MAX_FRAMES && w->target.original_ra == original_ra);
    if (*ra % 4 != 1)
        return false;
    *ra += 2;
    return true;
}

/* Adds S, which is open, alone: as one of all its bytes, of which its tables are the last, or of its tables alone. */
static void add_one(struct world *w, struct sfu_section *s, const uint8_t *bytes, struct remote *remote)
{
    struct sfu_section *before = w->target.sections;
    uint64_t addr = s->addr;
    int code = remote != NULL ? sfu_add_remote(&w->target.sections, s, 1, remote_read, remote, s->size, addr)
                              : sfu_add(&w->target.sections, s, 1, bytes, s->size, addr);

    MUST(code == SFU_OK || code == SFU_E_CONCATENATED);
    MUST(w->target.sections == s && s->next == before && s->addr == addr);
}

static void place_section(struct world *w, uint8_t *copy, size_t size)
{
    static const uint64_t addresses[] = {0x2000, 0x200000000, STACK, (uint64_t)-0x2000};
    const uint8_t *bytes = arena_place(0, copy, size, w->how.section & 2);
    struct sfu_place place;

    memset(&w->target, 0, sizeof w->target);
    w->remote = (struct remote){bytes, addresses[w->how.section >> 3 & 3], size, 0, 0};
    if (try_open(&w->section, bytes, size, w->remote.addr, w->how.section & 1 ? &w->remote : NULL) != SFU_OK)
        return;
    table_read(&w->table, bytes, size, w->remote.addr);
    w->checked = sfu_check(&w->section, &place) == SFU_OK && w->table.complete && !table_overlaps(&w->table);
    /* sfu_add opens it once more. What is joined to it is section.c's: here it is cut off. */
    add_one(w, &w->section, bytes, w->how.section & 1 ? &w->remote : NULL);
    if (w->how.section & 4 && try_open(&w->second, bytes, size, w->remote.addr + 0x10000, NULL) == SFU_OK)
        add_one(w, &w->second, bytes, NULL);
    w->remote.reads = 0;
}

static void set_target(struct world *w)
{
    static const uint16_t zones[] = {0, 8, 128, UINT16_MAX};
    struct sfu_target *t = &w->target;

    t->read = w->how.repair[0] & 2 && w->how.repair[0] & 4 ? NULL : read_stack;
    t->reg = w->how.target & 1 ? supply_register : NULL;
    t->trap_hook = w->how.trap >= 32 ? hook : NULL;
    t->find_stack = w->how.stacks >= 64 ? find_stack : NULL;
    t->ctx = w;
    t->pac_mask = w->how.pac * (uint64_t)0x0101010101010101;
    t->red_zone = zones[w->how.target >> 6];
    t->max_frames = w->how.max_frames;
    t->max_switches = w->how.max_switches & 31;
    t->frame_pointers = w->how.target & 2;
    t->original_ra = w->how.max_switches & 64 ? original_ra : NULL;
    if (w->how.max_switches & 32) {
        t->final.low = value(w, w->how.interrupted);
        t->final.high = t->final.low + 0x100;
    }
    if (w->how.max_switches & 128 && t->sections != NULL)
        (void)sfu_find_text(&w->section);
}

/* Gives the target its stack, or the pieces that find_stack tells apart, at the border of a page. */
static void set_stack(struct world *w)
{
    struct sfu_stack *stack = &w->target.stack;
    unsigned kind = w->how.target >> 2 & 3, part = w->how.section >> 5;
    unsigned low = kind >= PART ? 19 * part : 0, high = kind >= PART ? 8 * WORDS - 17 * (7 - part) : 8 * WORDS;

    w->unmapped = kind == FAR || kind == NEAR;
    if (w->target.find_stack != NULL) {
        w->mapped = arena_place(1, w->stack, 8 * WORDS, w->how.section & 2);
        return;
    }
    if (kind == FAR) {
        stack->high = UINT64_MAX;
        return;
    }
    if (kind != NEAR)
        stack->bytes = arena_place(1, w->stack + low, high - low, w->how.section & 2);
    stack->low = STACK + low;
    stack->high = STACK + high;
}

static bool same_frame(const struct sfu_frame *a, const struct sfu_frame *b)
{
    return same_registers(&a->regs, &b->regs) && a->saved == b->saved && a->depth == b->depth &&
           a->switches == b->switches && a->switched == b->switched && a->guess == b->guess &&
           a->interrupted == b->interrupted && a->replaced == b->replaced && a->reliable == b->reliable;
}

static bool same_walk(const struct sfu_walk *a, const struct sfu_walk *b)
{
    return same_frame(&a->frame, &b->frame) && a->stayed == b->stayed && a->stack.low == b->stack.low &&
           a->stack.high == b->stack.high && a->target == b->target &&
           memcmp(a->left, b->left, a->frame.switches * sizeof a->left[0]) == 0;
}

/* Whether RANGE has ADDR. */
static bool in_range(const struct sfu_range *range, uint64_t addr)
{
    return range->high == 0 || (addr >= range->low && addr < range->high);
}

/* Whether PC is in the text of a section. */
static bool may_be_code(const struct world *w, uint64_t pc)
{
    for (const struct sfu_section *s = w->target.sections; s != NULL; s = s->next)
        if (in_range(&s->text, pc))
            return true;
    return false;
}

/* ---- A step, a second time ------------------------------------------------------------------------------------- */

/* The stack that ADDR lies on: up to its high end, or below its low one. */
static bool stack_of(struct world *w, struct walked *walked, uint64_t addr, struct sfu_stack *stack)
{
    struct sfu_stack none = {NULL, 0, 0};
    bool found = true;

    *stack = w->target.stack;
    if (w->target.find_stack != NULL) {
        walked->finds++;
        found = tell_stack(w, addr, stack);
    }
    found = found && stack->high != 0 && addr <= stack->high;
    if (!found)
        *stack = none;
    return found;
}

static bool lies_on(const struct sfu_stack *stack, uint64_t addr)
{
    return addr >= stack->low && addr < stack->high && stack->high - addr >= 8;
}

/* The word at ADDR: it is on the walk's stack, or on the one that ADDR lies on. */
static int word_at(struct world *w, struct walked *walked, uint64_t addr, uint64_t *word)
{
    struct sfu_stack stack = walked->stack;

    if (!lies_on(&stack, addr) && (!stack_of(w, walked, addr, &stack) || !lies_on(&stack, addr)))
        return SFU_E_STACK;
    if (!has_word(addr) || (stack.bytes == NULL && w->target.read == NULL))
        return SFU_E_STACK;
    *word = bytes_get(w->stack + (addr - STACK), 8, w->big);
    return SFU_OK;
}

enum which { CFA, RA, FP };

/* Register REG of the frame. */
static int register_of(struct world *w, const struct sfu_frame *frame, enum which which, uint64_t reg,
                       uint64_t *result)
{
    const struct abi *abi = &abis[w->section.abi];

    if (reg == abi->sp || reg == abi->fp) {
        *result = reg == abi->sp ? frame->regs.sp : frame->regs.fp;
        return SFU_OK;
    }
    if (frame->regs.pc_kind == SFU_PC_RETURN)
        return which == RA && reg == abi->ra ? SFU_E_NO_RA : SFU_E_UNSAFE;
    if (reg == abi->ra && frame->regs.has_ra) {
        *result = frame->regs.ra;
        return SFU_OK;
    }
    if (w->target.reg == NULL || supply_register(w, frame, (uint32_t)reg, result) != 0)
        return SFU_E_REGISTER;
    return SFU_OK;
}

/* What is known of the slot at ADDR, which RULE of ROW names: alive, so that it may be read; dead, because a trap may
 * have taken it, and its value is in a register again; or SFU_E_STACK or SFU_E_DEAD_SLOT, if neither can be relied on.
 * A frame that is counted from SP lies on SP's stack. Any other is told by where the stacks lie, unless SP leaves open
 * which stack it is on. */
enum { ALIVE, DEAD };

static int state_of_slot(const struct world *w, const struct walked *walked, const struct sfu_row *row,
                         const struct sfu_rule *rule, uint64_t addr)
{
    uint64_t sp = walked->frame.regs.sp;
    const struct abi *abi = &abis[w->section.abi];
    uint32_t by_sp = (uint32_t)abi->sp << 3 | 1;
    bool ours = (rule->control & 1) == 0 || rule->control >> 3 == abi->sp;

    if (walked->frame.regs.pc_kind == SFU_PC_RETURN || addr >= sp || sp - addr <= w->target.red_zone)
        return ALIVE;
    if (ours && row->cfa.control == by_sp && row->cfa.offset >= (int)abi->sp_below_cfa)
        return DEAD;
    if (walked->stack.low < sp && sp <= walked->stack.high)
        return addr >= walked->stack.low ? (int)SFU_E_DEAD_SLOT : (int)ALIVE;
    return SFU_E_STACK;
}

/* What RULE of ROW gives in the frame, for WHICH. *SLOT: where it lies, if it is read. */
static int by_rule(struct world *w, struct walked *walked, const struct sfu_row *row, enum which which,
                   uint64_t cfa, uint64_t *slot, uint64_t *result)
{
    const struct sfu_rule *rule = which == CFA ? &row->cfa : which == RA ? &row->ra : &row->fp;
    const struct abi *abi = &abis[w->section.abi];
    uint64_t base = cfa, down = (uint64_t) - (int64_t)rule->offset;
    int code = rule->control & 1 ? register_of(w, &walked->frame, which, rule->control >> 3, &base) : SFU_OK;

    if (code != SFU_OK)
        return code;
    if (rule->offset < 0 ? base < down : base > UINT64_MAX - (uint64_t)rule->offset)
        return SFU_E_ADDRESS;
    base += (uint64_t)(int64_t)rule->offset;
    *result = base;
    if (!(rule->control & 2))
        return SFU_OK;
    code = state_of_slot(w, walked, row, rule, base);
    if (code < 0)
        return code;
    if (code == ALIVE) {
        *slot = base;
        return word_at(w, walked, base, result);
    }
    if (which == CFA || (which == RA && (row->trap_frame || !abi->link)))
        return SFU_E_DEAD_SLOT;
    return register_of(w, &walked->frame, which, which == RA ? abi->ra : abi->fp, result);
}

static uint64_t without_pac(const struct world *w, uint64_t pc)
{
    uint64_t mask = w->target.pac_mask != 0 ? w->target.pac_mask : 0xffff000000000000;

    mask &= ~((uint64_t)1 << 55);
    return pc >> 55 & 1 ? pc | mask : pc & ~mask;
}

/* Whether the walk has been on STACK at SP or above. */
static bool was_there(const struct walked *walked, const struct sfu_stack *stack, uint64_t sp)
{
    bool was = walked->frame.regs.sp >= sp && walked->frame.regs.sp <= stack->high;

    for (unsigned i = 0; i < walked->frame.switches; i++)
        was = was || (walked->left[i] >= sp && walked->left[i] <= stack->high);
    return was;
}

/* Goes on to SP. TRAP: the frame is a trap frame. */
static int go_to(struct world *w, struct walked *walked, uint64_t sp, bool trap)
{
    const struct sfu_target *t = &w->target;
    struct sfu_frame *frame = &walked->frame;
    uint64_t from = frame->regs.sp;
    unsigned switches = t->max_switches != 0 && t->max_switches < 16 ? t->max_switches : 16;
    bool stays = sp == from && frame->regs.pc_kind == SFU_PC_EXACT && !(trap && walked->stayed);
    bool switched = !stays && !(sp > from && sp <= walked->stack.high);

    if (frame->depth + 1 >= (t->max_frames != 0 ? t->max_frames : SFU_MAX_FRAMES))
        return SFU_E_DEPTH;
    if (switched) {
        struct sfu_stack stack;

        if (frame->switches == switches)
            return SFU_E_SWITCHES;
        if (!stack_of(w, walked, sp, &stack) && !trap)
            return SFU_E_STACK;
        if (was_there(walked, &stack, sp) && !(trap && t->find_stack == NULL))
            return SFU_E_PROGRESS;
        walked->left[frame->switches++] = from;
        walked->stack = stack;
    }
    walked->stayed = stays;
    frame->regs.sp = sp;
    frame->switched = switched;
    frame->saved = trap ? from : 0;
    frame->interrupted = trap;
    frame->depth++;
    frame->guess = SFU_GUESS_NONE;
    frame->replaced = false;
    return SFU_OK;
}

/* Goes on to the caller by ROW. */
static int go_by_row(struct world *w, struct walked *walked, const struct sfu_row *row, bool to_code)
{
    uint64_t cfa, pc, fp, slot = 0, other;
    struct sfu_registers *r = &walked->frame.regs;
    bool replaced;
    int code = by_rule(w, walked, row, CFA, 0, &other, &cfa);

    if (code == SFU_OK)
        code = by_rule(w, walked, row, RA, cfa, &slot, &pc);
    if (code == SFU_OK)
        code = by_rule(w, walked, row, FP, cfa, &other, &fp);
    if (code == SFU_OK && cfa < abis[w->section.abi].sp_below_cfa)
        code = SFU_E_ADDRESS;
    if (code != SFU_OK)
        return code;
    if (row->signed_ra)
        pc = without_pac(w, pc);
    replaced = w->target.original_ra != NULL && !row->trap_frame && pc % 4 == 1;
    if (replaced)
        pc += 2;
    if (to_code && !may_be_code(w, pc - 1))
        return SFU_E_NOT_CODE;
    code = go_to(w, walked, cfa - abis[w->section.abi].sp_below_cfa, row->trap_frame);
    if (code != SFU_OK)
        return code;
    walked->frame.replaced = replaced;
    r->pc = pc;
    r->fp = fp;
    r->has_ra = false;
    r->pc_kind = row->trap_frame ? SFU_PC_EXACT : SFU_PC_RETURN;
    return SFU_OK;
}

/* The frame was guessed, as GUESS says. */
static void label(struct walked *walked, enum sfu_guess guess)
{
    walked->frame.guess = guess;
    walked->frame.reliable = false;
}

/* Goes on to what the hook says of the frame, or does not. */
static int go_by_hook(struct world *w, struct walked *walked, int code)
{
    struct sfu_interrupted interrupted;

    if (w->target.trap_hook == NULL)
        return code;
    code = hook_says(w, &walked->frame, code, &interrupted);
    if (code == SFU_END && interrupted.guess != SFU_GUESS_NONE)
        walked->frame.reliable = false;
    if (code == SFU_OK)
        code = go_to(w, walked, interrupted.regs.sp, true);
    if (code != SFU_OK)
        return code;
    walked->frame.regs = interrupted.regs;
    walked->frame.saved = interrupted.regs.pc_kind == SFU_PC_EXACT ? interrupted.saved : 0;
    walked->frame.interrupted = interrupted.regs.pc_kind == SFU_PC_EXACT;
    if (interrupted.guess != SFU_GUESS_NONE)
        label(walked, SFU_GUESS_HOOK);
    return SFU_OK;
}

/* Goes on to where a wild call, or a frame record, says. */
static int go_by_guess(struct world *w, struct walked *walked, int code)
{
    const struct abi *abi = &abis[w->section.abi];
    struct walked tried = *walked;
    struct sfu_row row;

    memset(&row, 0, sizeof row);
    row.cfa = (struct sfu_rule){abi->link ? (int32_t)abi->sp_below_cfa : 8, abi->sp * 8 + 1};
    row.ra = abi->link ? (struct sfu_rule){0, abi->ra * 8 + 1} : (struct sfu_rule){-8, 2};
    row.fp = (struct sfu_rule){0, abi->fp * 8 + 1};
    if (code == SFU_E_NOT_CODE && walked->frame.regs.pc_kind == SFU_PC_EXACT &&
        go_by_row(w, &tried, &row, true) == SFU_OK) {
        label(&tried, SFU_GUESS_CALL);
        *walked = tried;
        return SFU_OK;
    }
    walked->finds = tried.finds;
    tried = *walked;
    row.cfa = (struct sfu_rule){16, abi->fp * 8 + 1};
    row.ra = (struct sfu_rule){-8, 2};
    row.fp = (struct sfu_rule){-16, 2};
    row.signed_ra = w->section.abi <= SFU_AARCH64;
    if (w->target.frame_pointers && w->section.abi != SFU_S390X && go_by_row(w, &tried, &row, false) == SFU_OK) {
        label(&tried, SFU_GUESS_RECORD);
        *walked = tried;
        return SFU_OK;
    }
    walked->finds = tried.finds;
    return code;
}

/* What is found for FRAME, with no failing read; it is what the table has. */
static int find_frame(struct world *w, const struct sfu_frame *frame, struct sfu_row *row)
{
    uint64_t pc = frame->regs.pc - (frame->regs.pc_kind == SFU_PC_RETURN ? 1 : 0);
    struct remote kept = w->remote;
    struct sfu_row expected, untouched;
    int code;

    memset(&untouched, 0x3c, sizeof untouched);
    *row = untouched;
    w->remote.fail_at = 0;
    MUST(sfu_lookup_pc(&frame->regs) == pc);
    code = sfu_find_frame(&w->target, frame, row);
    w->remote = kept;
    if (code == SFU_OK)
        MUST(pc - row->start < row->length);
    else
        MUST(memcmp(row, &untouched, sizeof untouched) == 0);
    if (!w->checked || w->how.section & 4)
        return code;
    if (!in_range(&w->section.text, pc)) {
        MUST(code == SFU_E_NOT_CODE);
        return code;
    }
    MUST(table_find(&w->table, pc, &expected) == code);
    MUST(code != SFU_OK || same_row(row, &expected));
    return code;
}

/* ---- The walk -------------------------------------------------------------------------------------------------- */

/* CODE and WALK came of a step from BEFORE in which no read was made to fail. The same comes if no stack is mapped. */
static void check_unmapped(struct world *w, const struct sfu_walk *before, const struct sfu_walk *walk, int code)
{
    const void *bytes = w->target.stack.bytes;
    bool unmapped = w->unmapped;
    uint8_t fail_stack = w->how.fail_stack;
    struct sfu_walk other = *before;

    if (w->target.read == NULL)
        return;
    w->target.stack.bytes = other.stack.bytes = NULL;
    w->unmapped = true;
    w->how.fail_stack = 0;
    w->remote.fail_at = 0;
    MUST(sfu_walk_step(&other) == code && same_walk(&other, walk));
    w->target.stack.bytes = bytes;
    w->unmapped = unmapped;
    w->how.fail_stack = fail_stack;
    w->remote.fail_at = w->how.fail_section;
}

/* One step from where w->walked is; FOUND and ROW are what there is for its frame. */
static int go_on(struct world *w, int found, const struct sfu_row *row)
{
    struct walked *walked = &w->walked, next = *walked;
    bool unknown = found == SFU_E_NO_FDE || found == SFU_E_NOT_CODE;
    int code = found;

    next.finds = 0;
    if (found == SFU_OK)
        code = row->kind == SFU_ROW_RULES       ? go_by_row(w, &next, row, false)
               : row->kind == SFU_ROW_OUTERMOST ? (int)SFU_END
                                                : (int)SFU_E_TRAP;
    if (unknown || (found == SFU_OK && row->kind == SFU_ROW_ASK))
        code = go_by_hook(w, &next, code);
    if (unknown && code == found)
        code = go_by_guess(w, &next, code);
    if (code == SFU_END && !in_range(&w->target.final, sfu_lookup_pc(&next.frame.regs)))
        code = SFU_E_NOT_FINAL;
    walked->finds = next.finds;
    if (code == SFU_OK)
        *walked = next;
    walked->frame.reliable = next.frame.reliable;
    return code;
}

/* What every step must obey, whatever failed. */
static void check_step(struct world *w, bool asks, const struct sfu_walk *before, const struct sfu_walk *walk,
                       int code)
{
    const struct sfu_frame *frame = &walk->frame;
    struct sfu_walk unreliable = *before;

    MUST(w->reads <= 3 && w->traps == (asks && w->target.trap_hook != NULL));
    MUST(code >= SFU_E_DEAD_SLOT && code <= SFU_END);
    if (code != SFU_OK) {
        if (asks && (code == SFU_END || code == SFU_E_NOT_FINAL) && w->how.trap & 64)
            unreliable.frame.reliable = false;
        MUST(same_walk(&unreliable, walk));
        return;
    }
    MUST(frame->depth == before->frame.depth + 1 && frame->depth < SFU_MAX_FRAMES);
    MUST(frame->switches == before->frame.switches + frame->switched && frame->switches <= SFU_MAX_SWITCHES);
    MUST(frame->switched || frame->regs.sp >= before->frame.regs.sp);
    MUST(frame->reliable == (before->frame.reliable && frame->guess == SFU_GUESS_NONE));
}

/* One step, and all that must hold of it. */
static int step(struct world *w, struct sfu_walk *walk, uint32_t most)
{
    struct sfu_walk before = *walk;
    struct sfu_row row;
    int found = find_frame(w, &walk->frame, &row), code;
    bool asks = found == SFU_OK ? row.kind == SFU_ROW_ASK : found == SFU_E_NO_FDE || found == SFU_E_NOT_CODE;
    uint32_t reads = w->remote.reads, fail_at = w->remote.fail_at;

    w->reads = w->traps = w->finds = 0;
    w->failed = false;
    code = sfu_walk_step(walk);
    MUST(w->remote.reads - reads <= most);
    if (reads < fail_at && w->remote.reads >= fail_at) { /* the lookup failed: there is no caller */
        MUST(code == SFU_E_SECTION || (w->how.section & 4 && code < 0));
        MUST(same_walk(&before, walk) && w->reads == 0 && w->traps == 0);
        return code;
    }
    check_step(w, asks, &before, walk, code);
    if (w->failed) {
        MUST(code != SFU_OK || walk->frame.guess != SFU_GUESS_NONE);
        if (code == SFU_OK) /* another guess than it would have been */
            code = SFU_E_STACK;
        return code;
    }
    MUST(go_on(w, found, &row) == code);
    MUST(w->walked.finds == w->finds);
    MUST(same_frame(&w->walked.frame, &walk->frame));
    MUST(code != SFU_OK || (w->walked.stack.low == walk->stack.low && w->walked.stack.high == walk->stack.high));
    check_unmapped(w, &before, walk, code);
    return code;
}

static void walk_all(struct world *w, const struct sfu_registers *top)
{
    uint32_t most = w->target.sections != NULL ? most_reads(&w->section, &w->table) : 0;
    struct sfu_walk walk, before;
    int code = SFU_OK;
    unsigned steps;

    memset(&walk, 0x5a, sizeof walk);
    w->remote.reads = w->all_reads = w->finds = 0;
    w->remote.fail_at = w->how.fail_section;
    sfu_walk_start(&walk, &w->target, top);
    MUST(same_registers(&walk.frame.regs, top) && walk.frame.reliable && walk.frame.depth == 0);
    MUST(w->remote.reads == 0 && w->all_reads == 0);
    memset(&w->walked, 0, sizeof w->walked);
    w->walked.frame.regs = *top;
    w->walked.frame.reliable = true;
    (void)stack_of(w, &w->walked, top->sp, &w->walked.stack);
    MUST(same_frame(&w->walked.frame, &walk.frame) && w->finds == w->walked.finds);
    MUST(w->walked.stack.low == walk.stack.low && w->walked.stack.high == walk.stack.high);
    for (steps = 0; code == SFU_OK; steps++) {
        MUST(steps <= MAX_STEPS);
        code = step(w, &walk, most);
    }
    before = walk;
    if (w->how.fail_stack == 0 && w->how.fail_section == 0)
        MUST(sfu_walk_step(&walk) == code && same_walk(&before, &walk));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;
    static uint8_t copy[MAX_SECTION];
    struct sfu_registers top;

    if (size < sizeof w.how + 2 * WORDS)
        return 0;
    size -= sizeof w.how + 2 * WORDS;
    if (size > MAX_SECTION)
        return 0;
    memcpy(copy, data, size);
    memcpy(&w.how, data + size + 2 * WORDS, sizeof w.how);
    if (w.how.repair[0] & 1)
        table_repair(copy, size, (w.how.repair[1] | (uint32_t)w.how.repair[2] << 8) ^ w.how.repair[0] >> 1);
    w.table.num_fdes = 0;
    w.checked = false;
    memset(&w.section, 0, sizeof w.section);
    place_section(&w, copy, size);
    set_target(&w);
    w.big = w.target.sections != NULL && abis[w.section.abi].big;
    for (unsigned i = 0; i < WORDS; i++)
        bytes_put(w.stack + 8 * i, 8, w.big, value(&w, data + size + 2 * i));
    set_stack(&w);
    memset(&top, 0xff, sizeof top);
    top.pc = value(&w, w.how.pc);
    top.sp = value(&w, w.how.sp);
    top.fp = value(&w, w.how.fp);
    top.ra = value(&w, w.how.ra);
    top.has_ra = w.how.target & 16;
    top.pc_kind = w.how.target & 32 ? SFU_PC_RETURN : SFU_PC_EXACT;
    walk_all(&w, &top);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A whole walk over any section, any stack and any registers, with callbacks that fail at a chosen read. Each step is
 * computed a second time from the row and the stack, and compared; with a window onto the stack, also with what comes
 * of the callback alone.
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
                        5 to 7: which part of the stack is in the window */
    uint8_t target;  /* bit 0: reg, 1: frame pointers, 2 and 3: window, 4: RA known, 5: PC is a return address,
                        6 and 7: red zone */
    uint8_t trap;    /* 0 to 31: no hook; otherwise what it does */
    uint8_t stacks;  /* 0 to 63: no callback; otherwise how it tells stacks apart */
    uint8_t max_frames;
    uint8_t max_switches;             /* bit 5: a final frame, 6: RAs are replaced, 7: the text is known */
    uint8_t fail_section, fail_stack; /* which read fails; 0: none */
    uint8_t pac;
    uint8_t pc[2], sp[2], fp[2], ra[2], regs[2], interrupted[2];
};

enum window { NONE, ALL, PART, ALONE }; /* ALONE: all, and no callback */

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
    uint64_t on[64], last[64]; /* stacks that the walk was on, and its SP there last */
    unsigned stacks;
    bool stayed;   /* SP was the same behind the step before */
    bool failed;   /* a read of the stack was made to fail in this step */
    int trap_code; /* what the hook returned in this step */
    struct sfu_interrupted interrupted;
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

static int read_words(const struct world *w, uint64_t addr, void *buffer)
{
    if (addr < STACK || addr - STACK > sizeof w->stack - 8)
        return -1;
    memcpy(buffer, w->stack + (addr - STACK), 8);
    return 0;
}

static int read_stack(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    struct world *w = ctx;

    MUST(len == 8 && addr <= UINT64_MAX - len);
    MUST(addr < w->target.window_low || addr + len > w->target.window_high);
    w->reads++;
    if (++w->all_reads == w->how.fail_stack) {
        w->failed = true;
        return 1;
    }
    return read_words(w, addr, buffer);
}

/* The same stack without a window and without failures. */
static int read_plain(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    const struct world *w = ctx;

    MUST(len == 8 && addr <= UINT64_MAX - len);
    return read_words(w, addr, buffer);
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

/* The kind of what is behind the trap, and whether that is guessed, are bits 5 and 6 of the choice. */
static int hook(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    struct world *w = ctx;
    struct sfu_registers *r = &interrupted->regs;
    uint64_t sp = frame->regs.sp;

    MUST(code == SFU_E_NO_FDE || code == SFU_E_NOT_CODE || code == SFU_E_TRAP);
    MUST(r->pc == 0 && r->sp == 0 && r->fp == 0 && r->ra == 0 && !r->has_ra && r->pc_kind == SFU_PC_EXACT);
    MUST(interrupted->trap == sp && !interrupted->guessed);
    w->traps++;
    switch (w->how.trap >> 5) {
    case 1:
        w->trap_code = SFU_END;
        break;
    case 2:
        w->trap_code = code;
        break;
    case 3:
        w->trap_code = w->how.trap & 1 ? SFU_E_NO_FDE : SFU_E_STACK;
        break;
    default:
        w->trap_code = SFU_OK;
    }
    r->pc = value(w, w->how.interrupted);
    r->sp = w->how.trap & 8 ? sp - 64 : sp + (w->how.trap & 7) * 8;
    r->fp = frame->regs.fp;
    if (w->how.trap & 16)
        interrupted->trap = sp + 8;
    r->has_ra = w->how.trap & 8;
    r->ra = value(w, w->how.ra);
    r->pc_kind = w->how.trap & 32 ? SFU_PC_RETURN : SFU_PC_EXACT;
    interrupted->guessed = w->how.trap & 64;
    w->interrupted = *interrupted;
    return w->trap_code;
}

static uint64_t tell_stack(void *ctx, uint64_t sp)
{
    const struct world *w = ctx;

    return sp >> (w->how.stacks & 63);
}

/* Some return addresses are not those that were there. */
static bool original_ra(void *ctx, const struct sfu_frame *frame, uint64_t slot, uint64_t *ra)
{
    const struct world *w = ctx;

    MUST(slot == 0 || slot - STACK <= sizeof w->stack - 8);
    MUST(frame->depth < SFU_MAX_FRAMES);
    if (*ra % 4 != 1)
        return false;
    *ra += 2;
    return true;
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
    MUST(sfu_add(&w->target.sections, &w->section) == SFU_OK);
    if (w->how.section & 4 && try_open(&w->second, bytes, size, w->remote.addr + 0x10000, NULL) == SFU_OK)
        MUST(sfu_add(&w->target.sections, &w->second) == SFU_OK);
}

static void set_target(struct world *w)
{
    static const uint16_t zones[] = {0, 8, 128, UINT16_MAX};
    struct sfu_target *t = &w->target;

    t->read = (w->how.target >> 2 & 3) == ALONE ? NULL : read_stack;
    t->reg = w->how.target & 1 ? supply_register : NULL;
    t->trap = w->how.trap >= 32 ? hook : NULL;
    t->stack = w->how.stacks >= 64 ? tell_stack : NULL;
    t->ctx = w;
    t->pac_mask = w->how.pac * (uint64_t)0x0101010101010101;
    t->red_zone = zones[w->how.target >> 6];
    t->max_frames = w->how.max_frames;
    t->max_switches = w->how.max_switches & 31;
    t->frame_pointers = w->how.target & 2;
    t->original_ra = w->how.max_switches & 64 ? original_ra : NULL;
    if (w->how.max_switches & 32) {
        t->final_first = value(w, w->how.interrupted);
        t->final_last = t->final_first + 0x100;
    }
    if (w->how.max_switches & 128 && t->sections != NULL)
        (void)sfu_find_text(&w->section);
}

/* Shows the target the stack, or a part of it, at the border of a page. */
static void set_window(struct world *w)
{
    struct sfu_target *t = &w->target;
    unsigned kind = w->how.target >> 2 & 3, part = w->how.section >> 5;
    unsigned low = kind == PART ? 19 * part : 0, high = kind == PART ? 8 * WORDS - 17 * (7 - part) : 8 * WORDS;

    if (kind == NONE)
        return;
    t->window = arena_place(1, w->stack + low, high - low, w->how.section & 2);
    t->window_low = STACK + low;
    t->window_high = STACK + high;
}

static bool same_frame(const struct sfu_frame *a, const struct sfu_frame *b)
{
    return same_registers(&a->regs, &b->regs) && a->trap == b->trap && a->depth == b->depth &&
           a->switches == b->switches && a->switched == b->switched && a->guessed == b->guessed &&
           a->replaced == b->replaced && a->reliable == b->reliable;
}

static bool same_walk(const struct sfu_walk *a, const struct sfu_walk *b)
{
    return same_frame(&a->frame, &b->frame) && a->stayed == b->stayed &&
           memcmp(a->left, b->left, a->frame.switches * sizeof a->left[0]) == 0;
}

/* ---- A step, a second time ------------------------------------------------------------------------------------- */

static uint64_t stack_word(const struct world *w, uint64_t addr)
{
    MUST(addr >= STACK && addr - STACK <= sizeof w->stack - 8);
    return bytes_get(w->stack + (addr - STACK), 8, w->big);
}

/* Whether what ROW's function has left at ADDR as RULE says may be lost: FRAME was interrupted. */
static bool is_dead(const struct world *w, const struct sfu_frame *frame, const struct sfu_row *row,
                    const struct sfu_rule *rule, uint64_t addr)
{
    uint64_t sp = frame->regs.sp;

    return rule == &row->fp && frame->regs.pc_kind == SFU_PC_EXACT && addr < sp && sp - addr > w->target.red_zone;
}

/* What RULE of ROW gives in FRAME; it has been applied, so that it can be. */
static uint64_t by_rule(struct world *w, const struct sfu_frame *frame, const struct sfu_row *row,
                        const struct sfu_rule *rule, uint64_t cfa)
{
    const struct abi *abi = &abis[w->section.abi];
    uint64_t base = cfa, reg = rule->control >> 3;

    if (rule->control & 1) {
        MUST(reg == abi->sp || reg == abi->fp || frame->regs.pc_kind == SFU_PC_EXACT);
        if (reg == abi->sp)
            base = frame->regs.sp;
        else if (reg == abi->fp)
            base = frame->regs.fp;
        else if (reg == abi->ra && frame->regs.has_ra)
            base = frame->regs.ra;
        else
            MUST(supply_register(w, frame, (uint32_t)reg, &base) == 0);
    }
    base += (uint64_t)(int64_t)rule->offset;
    if (rule->control & 2 && is_dead(w, frame, row, rule, base))
        return frame->regs.fp;
    return rule->control & 2 ? stack_word(w, base) : base;
}

static uint64_t without_pac(const struct world *w, uint64_t pc)
{
    uint64_t mask = w->target.pac_mask != 0 ? w->target.pac_mask : 0xffff000000000000;

    mask &= ~((uint64_t)1 << 55);
    return pc >> 55 & 1 ? pc | mask : pc & ~mask;
}

/* FRAME followed from BEFORE by ROW. */
static void check_by_row(struct world *w, const struct sfu_row *row, const struct sfu_frame *before,
                         const struct sfu_frame *frame)
{
    uint64_t cfa = by_rule(w, before, row, &row->cfa, 0), pc;

    MUST(row->kind == SFU_ROW_RULES);
    MUST(frame->regs.sp == cfa - abis[w->section.abi].sp_below_cfa);
    pc = by_rule(w, before, row, &row->ra, cfa);
    if (row->signed_ra)
        pc = without_pac(w, pc);
    MUST(frame->replaced == (w->target.original_ra != NULL && !row->trap_frame && pc % 4 == 1));
    MUST(frame->regs.pc == (frame->replaced ? pc + 2 : pc));
    MUST(frame->regs.fp == by_rule(w, before, row, &row->fp, cfa));
    MUST(frame->regs.pc_kind == (row->trap_frame ? SFU_PC_EXACT : SFU_PC_RETURN));
    MUST(frame->trap == (row->trap_frame ? before->regs.sp : 0) && !frame->regs.has_ra);
}

static void check_by_hook(const struct world *w, const struct sfu_frame *frame)
{
    MUST(same_registers(&frame->regs, &w->interrupted.regs));
    MUST(frame->trap == w->interrupted.trap && !frame->replaced);
    MUST(frame->guessed == (w->interrupted.guessed ? SFU_GUESS_HOOK : SFU_GUESS_NONE));
}

/* The frame record that FP may point at, as a row. */
static void check_guess(struct world *w, const struct sfu_frame *before, const struct sfu_frame *frame)
{
    struct sfu_row row;

    MUST(w->target.frame_pointers && w->section.abi != SFU_S390X && frame->guessed == SFU_GUESS_RECORD);
    memset(&row, 0, sizeof row);
    row.cfa = (struct sfu_rule){16, abis[w->section.abi].fp * 8 + 1};
    row.ra = (struct sfu_rule){-8, 2};
    row.fp = (struct sfu_rule){-16, 2};
    row.signed_ra = w->section.abi <= SFU_AARCH64;
    check_by_row(w, &row, before, frame);
}

/* What a call leaves, as a row. */
static void check_call(struct world *w, const struct sfu_frame *before, const struct sfu_frame *frame)
{
    const struct abi *abi = &abis[w->section.abi];
    struct sfu_row row;

    MUST(frame->guessed == SFU_GUESS_CALL && before->regs.pc_kind == SFU_PC_EXACT);
    memset(&row, 0, sizeof row);
    row.cfa = (struct sfu_rule){abi->link ? (int32_t)abi->sp_below_cfa : 8, abi->sp * 8 + 1};
    row.ra = abi->link ? (struct sfu_rule){0, abi->ra * 8 + 1} : (struct sfu_rule){-8, 2};
    row.fp = (struct sfu_rule){0, abi->fp * 8 + 1};
    check_by_row(w, &row, before, frame);
    MUST((frame->regs.pc - 1 >= w->section.text_first && frame->regs.pc - 1 <= w->section.text_last) ||
         w->how.section & 4);
}

/* On each stack SP grows. STAYS: it need not, unless this is another stack than before. */
static void check_stacks(struct world *w, bool stays, const struct sfu_frame *frame)
{
    uint64_t on = tell_stack(w, frame->regs.sp), sp = frame->regs.sp;
    unsigned i = 0;

    while (i < w->stacks && w->on[i] != on)
        i++;
    MUST(i == w->stacks || sp > w->last[i] || (stays && !frame->switched && sp == w->last[i]));
    if (i == w->stacks)
        w->stacks++;
    w->on[i] = on;
    w->last[i] = sp;
}

/* TRAP: what FRAME did was interrupted. */
static void check_progress(struct world *w, bool trap, const struct sfu_frame *before,
                           const struct sfu_frame *frame)
{
    bool stays = before->regs.pc_kind == SFU_PC_EXACT && (!trap || (w->target.stack != NULL && !w->stayed));
    unsigned frames = w->target.max_frames != 0 ? w->target.max_frames : SFU_MAX_FRAMES;
    unsigned switches = w->target.max_switches;
    uint64_t from = before->regs.sp, to = frame->regs.sp;

    MUST(frame->switched || (stays ? to >= from : to > from));
    w->stayed = stays && to == from;
    MUST(frame->switches == before->switches + frame->switched);
    MUST(frame->switches <= SFU_MAX_SWITCHES && (switches == 0 || frame->switches <= switches));
    MUST(frame->depth == before->depth + 1 && frame->depth < frames);
    if (w->target.stack != NULL) {
        MUST(frame->switched == (tell_stack(w, to) != tell_stack(w, from)));
        check_stacks(w, stays, frame);
    } else
        MUST(!frame->switched || trap);
    MUST(frame->reliable == (before->reliable && frame->guessed == SFU_GUESS_NONE));
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
    if (pc < w->section.text_first || pc > w->section.text_last) {
        MUST(code == SFU_E_NOT_CODE);
        return code;
    }
    MUST(table_find(&w->table, pc, &expected) == code);
    MUST(code != SFU_OK || same_row(row, &expected));
    return code;
}

/* ---- The walk -------------------------------------------------------------------------------------------------- */

/* CODE and WALK came of a step from BEFORE in which no read was made to fail. Without a window, the same comes of the
 * stack. */
static void check_window(struct world *w, const struct sfu_walk *before, const struct sfu_walk *walk, int code)
{
    struct sfu_target plain = w->target;
    struct sfu_walk other = *before;
    struct remote kept = w->remote;

    plain.window = NULL;
    plain.window_low = plain.window_high = 0;
    plain.read = read_plain;
    other.target = &plain;
    w->remote.fail_at = 0;
    MUST(sfu_walk_step(&other) == code);
    MUST(same_walk(&other, walk) && other.target == &plain);
    w->remote = kept;
}

/* Whether the trace may end in FRAME. */
static bool ends_here(const struct world *w, const struct sfu_frame *frame)
{
    uint64_t pc = sfu_lookup_pc(&frame->regs);

    return !(w->how.max_switches & 32) || w->target.final_last == 0 ||
           (pc >= w->target.final_first && pc <= w->target.final_last);
}

/* FOUND and ROW are what there is for the frame of BEFORE. */
static void check_step(struct world *w, int found, const struct sfu_row *row, const struct sfu_walk *before,
                       const struct sfu_walk *walk, int code)
{
    bool unknown = found == SFU_E_NO_FDE || found == SFU_E_NOT_CODE, hooked;
    bool ask = found == SFU_OK ? row->kind == SFU_ROW_ASK : unknown;

    MUST(w->reads <= 3 && w->traps == (ask && w->target.trap != NULL));
    hooked = w->traps == 1 && w->trap_code == SFU_OK;
    if (code != SFU_OK) {
        MUST(same_walk(before, walk) && walk->target == &w->target);
        MUST(code >= SFU_E_NOT_FINAL && code <= SFU_END);
        if (code == SFU_END || code == SFU_E_NOT_FINAL)
            MUST((code == SFU_END) == ends_here(w, &walk->frame));
        if (code == SFU_END || code == SFU_E_NOT_FINAL)
            MUST(ask ? w->traps == 1 && w->trap_code == SFU_END : row->kind == SFU_ROW_OUTERMOST);
        return;
    }
    MUST(found == SFU_OK || ask);
    check_progress(w, hooked || (!ask && row->trap_frame), &before->frame, &walk->frame);
    if (!ask)
        check_by_row(w, row, &before->frame, &walk->frame);
    else if (hooked)
        check_by_hook(w, &walk->frame);
    else if (found == SFU_E_NOT_CODE && walk->frame.guessed == SFU_GUESS_CALL)
        check_call(w, &before->frame, &walk->frame);
    else
        check_guess(w, &before->frame, &walk->frame);
    MUST(walk->frame.guessed == SFU_GUESS_NONE || ask);
}

/* One step, and all that must hold of it. */
static int step(struct world *w, struct sfu_walk *walk, uint32_t most)
{
    struct sfu_walk before = *walk;
    struct sfu_row row;
    int found = find_frame(w, &walk->frame, &row), code;
    uint32_t reads = w->remote.reads, fail_at = w->remote.fail_at;

    w->reads = w->traps = 0;
    w->failed = false;
    code = sfu_walk_step(walk);
    MUST(w->remote.reads - reads <= most);
    if (reads < fail_at && w->remote.reads >= fail_at) { /* the lookup failed: there is no caller */
        MUST(code == SFU_E_SECTION || (w->how.section & 4 && code < 0));
        MUST(same_walk(&before, walk) && w->reads == 0 && w->traps == 0);
        return code;
    }
    check_step(w, found, &row, &before, walk, code);
    if (!w->failed)
        check_window(w, &before, walk, code);
    return code;
}

static void walk_all(struct world *w, const struct sfu_registers *top)
{
    uint32_t most = w->target.sections != NULL ? most_reads(&w->section, &w->table) : 0;
    struct sfu_walk walk, before;
    int code = SFU_OK;
    unsigned steps;

    memset(&walk, 0x5a, sizeof walk);
    w->remote.reads = w->all_reads = 0;
    w->remote.fail_at = w->how.fail_section;
    sfu_walk_start(&walk, &w->target, top);
    MUST(same_registers(&walk.frame.regs, top) && walk.frame.reliable && walk.frame.depth == 0);
    MUST(w->remote.reads == 0 && w->all_reads == 0);
    w->stacks = 0;
    w->stayed = false;
    if (w->target.stack != NULL) {
        w->on[0] = tell_stack(w, top->sp);
        w->last[0] = top->sp;
        w->stacks = 1;
    }
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
    set_window(&w);
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

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A whole walk over any section, any stack and any registers, with callbacks that fail at a chosen read. Each step is
 * computed a second time from the row and the stack, and compared.
 *
 * Input: the section, 32 stack words of 2 bytes (see value), 24 bytes of choices (struct choices).
 */
#include "harness.h"

#include <string.h>

enum { WORDS = 32, STACK = 0x70000000, MAX_STEPS = 4096 };

struct choices {
    uint8_t repair[3];
    uint8_t section; /* bit 0: through the callback, 1: at the end of a page, 2: a second one, 3 and 4: address */
    uint8_t target;  /* bit 0: reg, 1: frame pointers, 2 and 3: cache, 4: RA known, 5: PC is a return address */
    uint8_t trap;    /* 0 to 31: no hook; otherwise what it does */
    uint8_t stacks;  /* 0 to 63: no callback; otherwise how it tells stacks apart */
    uint8_t max_frames, max_switches;
    uint8_t fail_section, fail_stack; /* which read fails; 0: none */
    uint8_t pac;
    uint8_t pc[2], sp[2], fp[2], ra[2], regs[2], trapped[2];
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
    int trap_code; /* what the hook returned in this step */
    struct sfu_frame trapped;
    struct sfu_target target;
    struct sfu_row cache[3];
};

/* A number from 2 bytes: addresses in the stack and in functions are more likely than chance makes them. */
static uint64_t value(const struct world *w, const uint8_t *p)
{
    unsigned v = (unsigned)table_get(p, 2, false), low = v & 0x1fff;
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

static int read_stack(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    struct world *w = ctx;

    MUST(len >= 1 && len <= 28 && addr <= UINT64_MAX - len);
    w->reads++;
    if (++w->all_reads == w->how.fail_stack)
        return 1;
    if (addr < STACK || addr - STACK > sizeof w->stack || len > sizeof w->stack - (addr - STACK))
        return -1;
    memcpy(buffer, w->stack + (addr - STACK), len);
    return 0;
}

static int supply_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *result)
{
    const struct world *w = ctx;

    MUST(frame->pc_kind == SFU_PC_EXACT);
    if (reg == w->how.regs[0] % 20u)
        return 1;
    *result = STACK + (reg * w->how.regs[1] & 0xff);
    return 0;
}

static int hook(void *ctx, const struct sfu_frame *frame, int code, struct sfu_frame *next)
{
    struct world *w = ctx;

    MUST(code == SFU_E_NO_FDE || code == SFU_E_SIGNAL);
    MUST(next->pc == 0 && next->sp == 0 && next->fp == 0 && next->ra == 0 && !next->has_ra &&
         next->trap == frame->sp);
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
    next->pc = value(w, w->how.trapped);
    next->sp = w->how.trap & 8 ? frame->sp - 64 : frame->sp + (w->how.trap & 7) * 8;
    next->fp = frame->fp;
    if (w->how.trap & 16)
        next->trap = frame->sp + 8;
    next->has_ra = w->how.trap & 8;
    next->ra = value(w, w->how.ra);
    w->trapped = *next;
    return w->trap_code;
}

static uint64_t tell_stack(void *ctx, uint64_t sp)
{
    const struct world *w = ctx;

    return sp >> (w->how.stacks & 63);
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
    struct sfu_target *t = &w->target;

    t->read = read_stack;
    t->reg = w->how.target & 1 ? supply_register : NULL;
    t->trap = w->how.trap >= 32 ? hook : NULL;
    t->stack = w->how.stacks >= 64 ? tell_stack : NULL;
    t->ctx = w;
    t->pac_mask = w->how.pac * (uint64_t)0x0101010101010101;
    memset(w->cache, 0, sizeof w->cache);
    t->cache = w->cache;
    t->cache_rows = w->how.target >> 2 & 3;
    t->max_frames = w->how.max_frames;
    t->max_switches = w->how.max_switches;
    t->frame_pointers = w->how.target & 2;
}

static bool same_frame(const struct sfu_frame *a, const struct sfu_frame *b)
{
    return a->pc == b->pc && a->sp == b->sp && a->fp == b->fp && a->function == b->function && a->trap == b->trap &&
           a->depth == b->depth && a->pc_kind == b->pc_kind && a->switches == b->switches &&
           a->has_ra == b->has_ra && a->switched == b->switched && a->guessed == b->guessed &&
           a->reliable == b->reliable;
}

/* ---- A step, a second time ------------------------------------------------------------------------------------- */

static uint64_t stack_word(const struct world *w, uint64_t addr)
{
    MUST(addr >= STACK && addr - STACK <= sizeof w->stack - 8);
    return table_get(w->stack + (addr - STACK), 8, w->big);
}

/* What RULE of ROW gives in FRAME; it has been applied, so that it can be. */
static uint64_t by_rule(struct world *w, const struct sfu_frame *frame, const struct sfu_row *row,
                        const struct sfu_rule *rule, uint64_t cfa)
{
    static const uint8_t numbers[5][3] = {{0}, {31, 29, 30}, {31, 29, 30}, {7, 6, 255}, {15, 11, 14}};
    const uint8_t *abi = numbers[w->section.abi];
    uint64_t base = cfa, reg = rule->control >> 3;

    if (rule->control & 1) {
        MUST(reg == abi[0] || reg == abi[1] || frame->pc_kind == SFU_PC_EXACT);
        if (reg == abi[0])
            base = frame->sp;
        else if (reg == abi[1])
            base = frame->fp;
        else if (reg == abi[2] && frame->has_ra)
            base = frame->ra;
        else
            MUST(supply_register(w, frame, (uint32_t)reg, &base) == 0);
    }
    if (rule == &row->cfa && w->section.abi == SFU_S390X)
        base += 160 + 7 * (uint64_t)(int64_t)rule->offset;
    base += (uint64_t)(int64_t)rule->offset;
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
    MUST(frame->sp == cfa - (w->section.abi == SFU_S390X ? 160 : 0));
    pc = by_rule(w, before, row, &row->ra, cfa);
    MUST(frame->pc == (row->signed_ra ? without_pac(w, pc) : pc));
    MUST(frame->fp == by_rule(w, before, row, &row->fp, cfa));
    MUST(frame->pc_kind == (row->signal ? SFU_PC_EXACT : SFU_PC_RETURN));
    MUST(frame->trap == (row->signal ? before->sp : 0) && !frame->has_ra && !frame->guessed);
}

static void check_by_hook(const struct world *w, const struct sfu_frame *frame)
{
    MUST(frame->pc == w->trapped.pc && frame->sp == w->trapped.sp && frame->fp == w->trapped.fp);
    MUST(frame->has_ra == w->trapped.has_ra && frame->pc_kind == SFU_PC_EXACT && !frame->guessed);
    MUST(frame->trap == w->trapped.trap);
}

static void check_guess(const struct world *w, const struct sfu_frame *before, const struct sfu_frame *frame)
{
    uint64_t pc = stack_word(w, before->fp + 8);

    MUST(w->target.frame_pointers && w->section.abi != SFU_S390X && frame->guessed && !frame->reliable);
    MUST(frame->sp == before->fp + 16);
    MUST(frame->pc == (w->section.abi <= SFU_AARCH64 ? without_pac(w, pc) : pc));
    MUST(frame->fp == stack_word(w, before->fp) && frame->pc_kind == SFU_PC_RETURN);
}

static void check_progress(const struct world *w, const struct sfu_frame *before, const struct sfu_frame *frame)
{
    bool leaf = before->pc_kind == SFU_PC_EXACT && frame->pc_kind == SFU_PC_RETURN;
    unsigned frames = w->target.max_frames != 0 ? w->target.max_frames : SFU_MAX_FRAMES;
    unsigned switches = w->target.max_switches != 0 ? w->target.max_switches : SFU_MAX_SWITCHES;

    MUST(frame->switched || (leaf ? frame->sp >= before->sp : frame->sp > before->sp));
    MUST(frame->switches == before->switches + frame->switched && frame->switches <= switches);
    MUST(frame->depth == before->depth + 1 && frame->depth < frames);
    MUST(!frame->reliable || before->reliable);
    if (w->target.stack != NULL)
        MUST(frame->switched == (tell_stack((void *)w, frame->sp) != tell_stack((void *)w, before->sp)));
}

/* The row of the walk's frame is the one that the table has. */
static void check_row(const struct world *w, const struct sfu_walk *walk)
{
    uint64_t pc = walk->frame.pc - (walk->frame.pc_kind == SFU_PC_RETURN ? 1 : 0);
    struct sfu_row expected;

    MUST(sfu_lookup_pc(&walk->frame) == pc);
    MUST(walk->frame.function == (walk->found == SFU_OK ? walk->row.function : 0));
    if (walk->found == SFU_OK)
        MUST(pc - walk->row.start < walk->row.length);
    if (!w->checked || w->how.section & 4)
        return;
    if (walk->found == SFU_E_SECTION) {
        MUST(w->how.section & 1 && w->how.fail_section != 0);
        return;
    }
    MUST(table_find(&w->table, pc, &expected) == walk->found);
    MUST(walk->found != SFU_OK || same_row(&walk->row, &expected));
}

/* ---- The walk -------------------------------------------------------------------------------------------------- */

static void check_step(struct world *w, const struct sfu_walk *before, const struct sfu_walk *walk, int code)
{
    bool ask = before->found == SFU_OK ? before->row.kind == SFU_ROW_ASK : before->found == SFU_E_NO_FDE;

    MUST(w->reads <= 3 && w->traps == (ask && w->target.trap != NULL));
    if (code != SFU_OK) {
        MUST(same_frame(&before->frame, &walk->frame) && before->found == walk->found);
        MUST(before->found != SFU_OK || same_row(&before->row, &walk->row));
        MUST(code >= SFU_E_SIGNAL && code <= SFU_END);
        if (code == SFU_END)
            MUST(ask ? w->traps == 1 && w->trap_code == SFU_END : before->row.kind == SFU_ROW_OUTERMOST);
        return;
    }
    check_progress(w, &before->frame, &walk->frame);
    if (!ask)
        check_by_row(w, &before->row, &before->frame, &walk->frame);
    else if (w->traps == 1 && w->trap_code == SFU_OK)
        check_by_hook(w, &walk->frame);
    else
        check_guess(w, &before->frame, &walk->frame);
    check_row(w, walk);
}

static void walk_all(struct world *w, const struct sfu_frame *top)
{
    uint32_t most = w->target.sections != NULL ? most_reads(&w->section, &w->table) : 0;
    struct sfu_walk walk, before;
    int code = SFU_OK;
    unsigned steps;

    memset(&walk, 0x5a, sizeof walk);
    w->remote.reads = w->all_reads = 0;
    w->remote.fail_at = w->how.fail_section;
    sfu_walk_start(&walk, &w->target, top);
    MUST(walk.frame.pc == top->pc && walk.frame.sp == top->sp && walk.frame.reliable && walk.frame.depth == 0);
    check_row(w, &walk);
    for (steps = 0; code == SFU_OK; steps++) {
        uint32_t reads = w->remote.reads;

        MUST(steps <= MAX_STEPS);
        before = walk;
        w->reads = w->traps = 0;
        code = sfu_walk_step(&walk);
        MUST(w->remote.reads - reads <= most);
        check_step(w, &before, &walk, code);
    }
    w->reads = w->traps = 0;
    before = walk;
    if (w->how.fail_stack == 0)
        MUST(sfu_walk_step(&walk) == code && same_frame(&before.frame, &walk.frame));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;
    static uint8_t copy[MAX_SECTION];
    struct sfu_frame top;

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
    w.big = w.section.abi == SFU_AARCH64_BIG || w.section.abi == SFU_S390X;
    for (unsigned i = 0; i < WORDS; i++)
        table_put(w.stack + 8 * i, 8, w.big, value(&w, data + size + 2 * i));
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

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "random_tables.h"

uint64_t random64(uint64_t *seed)
{
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint32_t below(uint64_t *seed, uint32_t limit)
{
    return (uint32_t)(random64(seed) >> 32) % limit;
}

bool once_in(uint64_t *seed, uint32_t n)
{
    return below(seed, n) == 0;
}

/* A row as compilers write them, or one that is unusual. */
static void make_row(struct build *b, uint64_t *seed, uint32_t start, bool first)
{
    static const unsigned sizes[] = {WORD1, WORD2, WORD4};
    unsigned size = sizes[once_in(seed, 25) ? 2 : below(seed, 2)];
    int64_t c = 8 *
                (int64_t)(below(seed, once_in(seed, 8) ? HOST_ABI == SFU_AMD64 && size != WORD1 ? 100 : 15 : 6) +
                          1),
            words[3];
    unsigned info = size | (once_in(seed, 12) ? BASE_FP : BASE_SP), count = 0;

    if (once_in(seed, 200)) {
        ROW0(b, start, size);
        return;
    }
    if (once_in(seed, 100))
        c = (int64_t)(int8_t)random64(seed);
    if (size != WORD1 && once_in(seed, 40))
        c = once_in(seed, 4) ? 4000 * (int64_t)below(seed, 8) : 1200;
    if (size == WORD4 && once_in(seed, 8)) /* more words than a rule has room for */
        c += once_in(seed, 2) ? 524288 : 65536;
    if (HOST_ABI == SFU_AMD64) {
        words[count++] = c;
        if (once_in(seed, 3) && (c >= 16 || once_in(seed, 20)))
            words[count++] = once_in(seed, 20) ? -(int64_t)below(seed, 128) : c > 24 && once_in(seed, 3) ? -c : -16;
    } else if (HOST_ABI != SFU_S390X) { /* on RISC-V nothing is signed, and the bit means nothing */
        bool leaf = first && once_in(seed, 3);
        int64_t k;

        c = leaf && once_in(seed, 2) ? 0 : 2 * c;
        k = c - 8 * (int64_t)(once_in(seed, 10) ? below(seed, 4) : 1);
        words[count++] = c;
        if (!leaf) {
            words[count++] = -k;
            if (once_in(seed, 2))
                words[count++] = once_in(seed, 10) ? 8 - k : -k - 8;
        }
        info |= once_in(seed, 4) ? SIGNED_RA : 0;
    } else {
        words[count++] = first && once_in(seed, 3) ? 0 : c / 8 + (once_in(seed, 8) ? 1 : 10);
        if (!first || !once_in(seed, 4)) {
            words[count++] = once_in(seed, 20)                    ? 0
                             : size != WORD1 && once_in(seed, 20) ? -8 * (int64_t)below(seed, 45)
                                                                  : -48;
            if (once_in(seed, 2))
                words[count++] = once_in(seed, 20) ? -(int64_t)below(seed, 120) : -72;
        }
    }
    build_row(b, start, info, count, words);
}

/* A row of a flexible function: a realigned frame; what a kernel's entry or a signal leaves; a large frame; words from
 * any register. On s390x it may look like a default one. */
static void make_flexible_row(struct build *b, uint64_t *seed, uint32_t start)
{
    int64_t sp = HOST_SP, fp = HOST_FP;
    int64_t n = 8 * (int64_t)(below(seed, 6) + 1), scale = HOST_ABI == SFU_S390X ? 8 : 1, words[6];
    unsigned kind = below(seed, 6), count = 6, i;

    if (kind == 0) { /* CFA = SP + n; perhaps nothing of the RA, or that it is elsewhere */
        int64_t simple[4] = {REG(sp), HOST_ABI == SFU_S390X ? -n / 4 : n, AT_CFA, once_in(seed, 3) ? -n : -8};

        build_row(b, start, WORD1, once_in(seed, 2) ? 2 : 4, simple);
        return;
    }
    words[0] = kind <= 2 ? AT_REG(fp) : kind == 3 ? AT_REG(sp) : kind == 4 ? REG(fp) : REG(sp);
    words[1] = (kind <= 2 ? -n : kind <= 4 ? n : 20000 + n) / scale;
    words[2] = kind == 3 ? AT_REG(sp) : AT_CFA;
    words[3] = kind == 3 ? n + 8 : -8;
    words[4] = kind == 3 ? AT_REG(sp) : kind == 5 ? REG(fp) : AT_REG(fp);
    words[5] = kind == 3 ? n + 16 : 0;
    if (kind == 2)
        words[5] = 8 * (int64_t)below(seed, 4);
    if (once_in(seed, 12))
        words[2 * below(seed, 3)] = (int64_t)below(seed, 127) + 1;
    if (once_in(seed, 12))
        words[2 * below(seed, 3) + 1] = (int8_t)random64(seed);
    if (once_in(seed, 8)) { /* no rule for FP, or none for the RA */
        count = once_in(seed, 2) ? 4 : 5;
        if (count == 5) {
            words[2] = 0;
            words[3] = words[4];
            words[4] = words[5];
        }
    }
    if (!(words[0] & 1))
        words[0] |= 1;
    for (i = 0; i < count && count != 5; i += 2)
        if (words[i] == 0)
            words[i] = AT_CFA;
    build_row(b, start, words[1] > 127 || once_in(seed, 3) ? WORD4 : WORD1, count, words);
}

/* One in hundreds has a row behind its end: sfu_check accepts no section with such a function. */
static void make_function(struct build *b, uint64_t *seed, int64_t start, uint32_t size)
{
    unsigned info = size < 256                           ? (unsigned)ADDR1
                    : size < 65536 && !once_in(seed, 20) ? (unsigned)ADDR2
                                                         : (unsigned)ADDR4;
    bool masked = once_in(seed, 40), flexible = !masked && once_in(seed, 28);
    uint32_t rows = once_in(seed, 50) && !flexible ? 0 : 1 + below(seed, size > 400 && once_in(seed, 3) ? 300 : 12);
    uint32_t last = masked && size > 255 ? 255 : size + (once_in(seed, 400) ? 2 : 0);
    uint32_t at = once_in(seed, 30) && size > 8 ? below(seed, 8) : 0;

    if (once_in(seed, flexible ? 4 : 60))
        info |= SIGNAL;
    if (masked)
        build_fde_more(b, start, size, ADDR1 | MASK, DEFAULT, 1 + below(seed, 32));
    else
        build_fde_more(b, start, size, info, flexible ? FLEX : DEFAULT, once_in(seed, 9) ? 16 : 0);
    for (uint32_t i = 0; i < rows && at <= last; i++) {
        if (flexible)
            make_flexible_row(b, seed, at);
        else
            make_row(b, seed, at, i == 0);
        at += 1 + below(seed, size / rows + 1);
    }
}

void make_table(struct table *t, uint64_t *seed, uint64_t addr, bool faults)
{
    struct build *b = &t->build;
    uint32_t functions = 1 + below(seed, once_in(seed, 4) ? 200 : 12), i;
    int64_t start = -0x100000 + (once_in(seed, 4) ? 0x200000 : 0);
    int version = once_in(seed, 60) && HOST_ABI != SFU_RISCV64 ? 2 : 3; /* RISC-V has no other */

    build_begin(b, version, HOST_ABI, BIG_HOST);
    b->auxhdr_len = once_in(seed, 8) ? (uint8_t)below(seed, 20) : 0;
    b->gap = once_in(seed, 8) ? below(seed, 20) : 0;
    if (once_in(seed, 2))
        b->flags |= F_PCREL;
    if (once_in(seed, 60))
        b->flags &= (uint8_t)~F_SORTED;
    if (once_in(seed, 60))
        b->fixed_fp = -16;
    for (i = 0; i < functions; i++) {
        uint32_t size = once_in(seed, 30) ? 0
                                          : 1 + below(seed, once_in(seed, 8)    ? 5000
                                                            : once_in(seed, 40) ? 200000
                                                                                : 400);

        make_function(b, seed, start, size);
        start += size + (once_in(seed, 5) ? below(seed, 16) : 0);
    }
    build_end(b);
    if (b->size > sizeof t->bytes)
        abort();
    memcpy(t->bytes, b->bytes, b->size);
    for (i = 0; faults && i < 1 + below(seed, 6); i++)
        t->bytes[once_in(seed, 3) ? below(seed, 28) : below(seed, (uint32_t)b->size)] ^=
            (uint8_t)(once_in(seed, 2) ? 1u << below(seed, 8) : random64(seed));
    t->addr = addr;
    t->good = sfu_open(&t->section, t->bytes, b->size, addr) == SFU_OK && t->section.abi == HOST_ABI;
}

/* An address in T's code, or next to it. */
static uint64_t make_pc(uint64_t *seed, const struct table *t)
{
    const struct build_fde *f = &t->build.fde[below(seed, t->build.fdes)];

    return t->addr + (uint64_t)f->start + 1 + below(seed, f->size + (once_in(seed, 20) ? 2 : 0) + (f->size == 0));
}

/* A return address, signed if it is that of ROW and that is. */
static uint64_t make_ra(uint64_t *seed, const struct table *t, const struct sfu_row *row)
{
    uint64_t pc = make_pc(seed, t), pac = random64(seed) & UINT64_C(0x007c000000000000);

    if (!row->signed_ra)
        return pc;
    return pc >> 55 & 1 ? pc & ~pac : pc | pac;
}

static void put_word(struct stack *s, uint64_t addr, uint64_t word)
{
    if (addr >= STACK && addr - STACK <= STACK_SIZE - sizeof word)
        memcpy(s->bytes + (addr - STACK), &word, sizeof word);
}

/* Whether the frame of WALK has a caller. */
static bool leads_on(const struct sfu_walk *walk)
{
    struct sfu_walk next = *walk;

    return sfu_walk_step(&next) == SFU_OK;
}

/* What RULE of the frame of WALK counts from. */
static uint64_t base_of(const struct sfu_walk *walk, const struct sfu_rule *rule, uint64_t cfa)
{
    uint32_t reg = rule->control >> 3;

    if (!(rule->control & 1))
        return cfa;
    return reg == HOST_SP ? walk->frame.regs.sp : walk->frame.regs.fp;
}

static uint64_t slot_of(const struct sfu_walk *walk, const struct sfu_rule *rule, uint64_t cfa)
{
    return base_of(walk, rule, cfa) + (uint64_t)(int64_t)rule->offset;
}

/* Makes a trace of S lead on for so many FRAMES, if that can be: puts a CFA, a saved FP, and a return address from
 * which it does, where the row of each frame says. */
static void make_trace(struct stack *s, uint64_t *seed, const struct table *t, unsigned count, unsigned frames)
{
    struct sfu_section sections[MAX_TABLES];
    struct sfu_target target;
    struct sfu_walk walk, next;
    struct sfu_row row;
    unsigned i, try;

    memset(&target, 0, sizeof target);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    for (i = 0; i < count; i++)
        if (t[i].good)
            (void)sfu_add(&target.sections, &sections[i], 1, t[i].bytes, t[i].build.size, t[i].addr);
    for (try = 0; try < 12; try++) {
        sfu_walk_start(&walk, &target, &s->top);
        if (leads_on(&walk))
            break;
        s->top.pc = make_pc(seed, &t[below(seed, count)]);
    }
    for (i = 0; i < frames; i++) {
        uint64_t cfa;

        if (sfu_find_frame(&target, &walk.frame, &row) != SFU_OK)
            return;
        if (row.cfa.control & 2)
            put_word(s, slot_of(&walk, &row.cfa, 0), walk.frame.regs.sp + 160 + 8 * below(seed, 24));
        next = walk;
        if (sfu_walk_step(&next) != SFU_OK)
            return;
        cfa = next.frame.regs.sp + (HOST_ABI == SFU_S390X ? 160 : 0);
        if (row.fp.control & 2)
            put_word(s, slot_of(&walk, &row.fp, cfa), cfa + 8 * below(seed, 16));
        for (try = 0; try < 12; try++) {
            if (row.ra.control & 2)
                put_word(s, slot_of(&walk, &row.ra, cfa), make_ra(seed, &t[below(seed, count)], &row));
            next = walk;
            if (sfu_walk_step(&next) == SFU_OK && leads_on(&next))
                break;
        }
        walk = next;
    }
}

void make_stack(struct stack *s, uint64_t *seed, const struct table *t, unsigned count)
{
    size_t i;

    for (i = 0; i < STACK_SIZE; i += 8) {
        uint64_t word = once_in(seed, 8) ? STACK + i + 8 * below(seed, 40) : make_pc(seed, &t[below(seed, count)]);

        if (once_in(seed, 300))
            word = random64(seed) >> below(seed, 64);
        memcpy(s->bytes + i, &word, sizeof word);
    }
    s->top.pc = make_pc(seed, &t[below(seed, count)]);
    s->top.sp = STACK + 8 * below(seed, 64) + (once_in(seed, 30) ? below(seed, 8) : 0);
    s->top.fp = s->top.sp + 8 * below(seed, 40);
    s->top.ra = make_pc(seed, &t[below(seed, count)]);
    s->top.has_ra = HOST_ABI != SFU_AMD64 && !once_in(seed, 8);
    s->top.pc_kind = once_in(seed, 4) ? SFU_PC_RETURN : SFU_PC_EXACT;
    if (!once_in(seed, 10))
        make_trace(s, seed, t, count, once_in(seed, 6) ? below(seed, 12) : 20 + below(seed, 60));
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * ARM: clang writes no CFI for epilogues (test/truth/FAULTS.md: clang-arm-epilogue), nor does gcc for ARMv6-M
 * (test/truth/FAULTS.md: gcc-thumb1-epilogue); gcc lets out what a large frame's epilogue does in two steps
 * (test/truth/FAULTS.md: gcc-arm-large), and says of prologues with strd that all is saved at once
 * (test/truth/FAULTS.md: gcc-arm-strd). What is right in an epilogue is computed from its instructions: straight code
 * from a change of SP on up to a return, at which SP is the CFA. All else is left as it is. Encodings are those of the
 * "Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition".
 */
#include "cfi.h"

enum { SP = 13, LR = 14, PC = 15 };

/* What an instruction does to SP and to registers that it loads from the stack. */
enum effect {
    NOTHING,
    ADDS,         /* SP = SP + value */
    ADDS_UNKNOWN, /* SP = SP + a register */
    FROM_FP,      /* SP = FP + value */
    ADDS_TO_FP,   /* FP = FP + value */
    LOADS,        /* the registers of mask, from SP + value on; then SP = SP + add */
    RETURNS,      /* bx, of any register */
    JUMPS,        /* unconditionally */
    STOPS         /* whatever else an epilogue has not got */
};

struct instruction {
    unsigned size;
    enum effect effect;
    int64_t value, add;
    uint32_t mask;
};

static unsigned ones(uint32_t mask)
{
    unsigned n = 0;

    for (; mask != 0; mask &= mask - 1)
        n++;
    return n;
}

static struct instruction simple(unsigned size, enum effect effect, int64_t value)
{
    return (struct instruction){size, effect, value, 0, 0};
}

static struct instruction loads(unsigned size, uint32_t mask, int64_t value, int64_t add)
{
    return (struct instruction){size, LOADS, value, add, mask};
}

static struct instruction pops(unsigned size, uint32_t mask)
{
    return loads(size, mask, 0, 4 * (int64_t)ones(mask));
}

uint32_t arm_rotated(uint32_t value, unsigned by)
{
    by &= 31;
    return by == 0 ? value : value >> by | value << (32 - by);
}

/* ---- T32 ------------------------------------------------------------------------------------------------------- */

static struct instruction decode_16(uint32_t half, uint32_t fp)
{
    const uint32_t from = half >> 3 & 15;

    if ((half & 0xff80) == 0xb000)
        return simple(2, ADDS, 4 * (int64_t)(half & 0x7f));
    if ((half & 0xfe00) == 0xbc00)
        return pops(2, (half & 0xff) | (half & 0x100) << 7);
    if ((half & 0xff87) == 0x4685)
        return simple(2, from == fp ? FROM_FP : STOPS, 0);
    if ((half & 0xff87) == 0x4485)
        return simple(2, ADDS_UNKNOWN, 0);
    if (fp == 7 && (half & 0xff00) == 0x3700)
        return simple(2, ADDS_TO_FP, half & 0xff);
    if ((half & 0xf800) == 0x9800)
        return loads(2, 1u << (half >> 8 & 7), 4 * (int64_t)(half & 0xff), 0);
    if ((half & 0xff87) == 0x4700)
        return simple(2, RETURNS, 0);
    if ((half & 0xf800) == 0xe000)
        return simple(2, JUMPS, 0);
    /* conditional branches, IT blocks, calls, push, sub sp; bkpt, svc */
    if ((half & 0xf000) == 0xd000 || (half & 0xf500) == 0xb100 || ((half & 0xff00) == 0xbf00 && (half & 15) != 0) ||
        (half & 0xff87) == 0x4780 || (half & 0xfe00) == 0xb400 || (half & 0xff80) == 0xb080 ||
        (half & 0xff00) == 0xbe00)
        return simple(2, STOPS, 0);
    return simple(2, NOTHING, 0);
}

uint32_t arm_expanded(uint32_t word)
{
    const uint32_t imm = (word >> 26 & 1) << 11 | (word >> 12 & 7) << 8 | (word & 0xff), byte = imm & 0xff;

    if (imm >> 10 != 0)
        return arm_rotated(0x80 | (imm & 0x7f), imm >> 7);
    switch (imm >> 8) {
    case 1:
        return byte << 16 | byte;
    case 2:
        return byte << 24 | byte << 8;
    case 3:
        return byte * 0x01010101;
    default:
        return byte;
    }
}

static struct instruction decode_32(uint32_t half, uint32_t next, uint32_t fp)
{
    const uint32_t to = next >> 12, rd = next >> 8 & 15, plain = (half >> 10 & 1) << 11 | (next >> 12 & 7) << 8;
    const uint32_t add = (half & 0xfbe0) == 0xf100 ? arm_expanded(half << 16 | next) : plain | (next & 0xff),
                   from = half & 15;

    if (((half & 0xfbe0) == 0xf100 || (half & 0xfbf0) == 0xf200) && next < 0x8000 && from == rd && rd == SP)
        return simple(4, ADDS, add);
    if (((half & 0xfbe0) == 0xf100 || (half & 0xfbf0) == 0xf200) && next < 0x8000 && from == fp && rd == SP)
        return simple(4, FROM_FP, add);
    if (((half & 0xfbe0) == 0xf100 || (half & 0xfbf0) == 0xf200) && next < 0x8000 && from == rd && rd == fp)
        return simple(4, ADDS_TO_FP, add);
    if (half == 0xe8bd)
        return pops(4, next);
    if (half == 0xf85d && (next & 0x0f00) == 0x0b00)
        return loads(4, 1u << to, 0, next & 0xff);
    if (half == 0xf8dd)
        return loads(4, 1u << to, next & 0xfff, 0);
    if ((half == 0xe8fd || half == 0xe9dd) && to < rd)
        return loads(4, 1u << to | 1u << rd, half == 0xe9dd ? 4 * (int64_t)(next & 0xff) : 0,
                     half == 0xe8fd ? 4 * (int64_t)(next & 0xff) : 0);
    if ((half & 0xffbf) == 0xecbd && (next & 0x0e00) == 0x0a00)
        return simple(4, ADDS, 4 * (int64_t)(next & 0xff));
    if ((half & 0xf800) == 0xf000 && (next & 0xd000) == 0x9000)
        return simple(4, JUMPS, 0);
    if (((half & 0xf800) == 0xf000 && next >> 15) ||
        (((half & 0xfe00) == 0xf000 || (half & 0xfe00) == 0xf200 || (half & 0xfe00) == 0xea00) && rd == SP))
        return simple(4, STOPS, 0);
    return simple(4, NOTHING, 0);
}

/* ---- A32 ------------------------------------------------------------------------------------------------------- */

static struct instruction decode_a32(uint32_t word, uint32_t fp)
{
    const uint32_t imm = arm_rotated(word & 0xff, 2 * (word >> 8 & 15)), to = word >> 12 & 15;
    const uint32_t pair = (word >> 4 & 0xf0) | (word & 15);

    if ((word & 0xfffff000) == 0xe28dd000)
        return simple(4, ADDS, imm);
    if ((word & 0xfffffff0) == 0xe08dd000)
        return simple(4, ADDS_UNKNOWN, 0);
    if (word == (0xe1a0d000 | fp))
        return simple(4, FROM_FP, 0);
    if ((word & 0xfffff000) == (0xe240d000 | fp << 16))
        return simple(4, FROM_FP, -(int64_t)imm);
    if ((word & 0xfffff000) == (0xe280d000 | fp << 16))
        return simple(4, FROM_FP, imm);
    if ((word & 0xffff0000) == 0xe8bd0000)
        return pops(4, word & 0xffff);
    if ((word & 0xffff0000) == 0xe49d0000)
        return loads(4, 1u << to, 0, word & 0xfff);
    if ((word & 0xffff0000) == 0xe59d0000)
        return loads(4, 1u << to, word & 0xfff, 0);
    if ((word & 0xffff10f0) == 0xe0cd00d0)
        return loads(4, 3u << to, 0, pair);
    if ((word & 0xffff10f0) == 0xe1cd00d0)
        return loads(4, 3u << to, pair, 0);
    if ((word & 0xffbf0e00) == 0xecbd0a00)
        return simple(4, ADDS, 4 * (int64_t)(word & 0xff));
    if ((word & 0xfffffff0) == 0xe12fff10)
        return simple(4, RETURNS, 0);
    if ((word & 0xff000000) == 0xea000000)
        return simple(4, JUMPS, 0);
    /* branches, calls; ldm and data processing into SP or PC */
    if ((word & 0x0e000000) == 0x0a000000 || (word & 0x0ffffff0) == 0x012fff30 ||
        (word & 0x0ffffff0) == 0x012fff10 || (word & 0x0e108000) == 0x08108000 ||
        ((word & 0x0c000000) == 0 && (to == SP || to == PC)))
        return simple(4, STOPS, 0);
    return simple(4, NOTHING, 0);
}

/* The instruction at PC, or one that stops. */
static struct instruction decode_arm(struct image *image, uint64_t pc)
{
    const uint32_t fp = image->registers->fp;
    const uint8_t *p = image_instructions(image, pc, image->abi == SFU_THUMB ? 2 : 4);
    uint32_t half;

    if (p == NULL)
        return simple(2, STOPS, 0);
    if (image->abi == SFU_ARM)
        return decode_a32((uint32_t)load_number(p, 4, false), fp);
    half = (uint32_t)load_number(p, 2, false);
    if (half >> 11 < 0x1d)
        return decode_16(half, fp);
    p = image_instructions(image, pc, 4);
    return p != NULL ? decode_32(half, (uint32_t)load_number(p + 2, 2, false), fp) : simple(2, STOPS, 0);
}

/* ---- Following an epilogue ------------------------------------------------------------------------------------- */

/* What holds at PC. */
struct state {
    uint64_t pc;
    int64_t depth;    /* CFA - SP */
    bool known;       /* depth is */
    int64_t fp_moved; /* added to FP */
    bool fp_gone;     /* FP has been loaded: nothing counts from it any more */
    uint32_t ra;      /* the register that has the RA; PC: none yet */
    bool unknown;     /* something unknown was added to SP */
};

enum { LONGEST = 40 }; /* instructions of an epilogue */

static bool is_based_on(const struct cfi_row *row, uint32_t reg)
{
    return row->cfa.control == (reg << RULE_NUMBER | RULE_REGISTER);
}

/* Registers of MASK are loaded from SP + VALUE on: those of the slots that ROW names count. Where the CFA counts from
 * FP, the slot of FP tells where SP is. */
static void load_slots(struct state *s, const struct cfi_row *row, uint32_t fp, uint32_t mask, int64_t value)
{
    uint32_t reg;

    if (!s->known && !s->fp_gone && is_based_on(row, fp) && mask >> fp & 1 && row->fp.control == RULE_DEREFERENCE) {
        s->depth = value + 4 * (int64_t)ones(mask & ((1u << fp) - 1)) - row->fp.offset;
        s->known = true;
    }
    for (reg = 0; reg < 16; reg++) {
        if (!(mask >> reg & 1))
            continue;
        if (s->known && row->ra.control == RULE_DEREFERENCE && value - s->depth == row->ra.offset)
            s->ra = reg;
        s->fp_gone |= reg == fp;
        value += 4;
    }
}

/* Carries out I in S. Returns false if an epilogue has no such instruction. */
static bool carry_out(struct state *s, const struct cfi_row *row, uint32_t fp, const struct instruction *i)
{
    s->pc += i->size;
    switch (i->effect) {
    case ADDS:
        s->depth -= i->value;
        return true;
    case ADDS_UNKNOWN:
        if (s->unknown)
            return false;
        s->unknown = true;
        return true;
    case FROM_FP:
        s->known = is_based_on(row, fp) && !s->fp_gone;
        s->depth = row->cfa.offset - s->fp_moved - i->value;
        return s->known;
    case ADDS_TO_FP:
        s->fp_moved += i->value;
        return is_based_on(row, fp);
    case LOADS:
        load_slots(s, row, fp, i->mask, i->value);
        s->depth -= i->add;
        return !(i->mask >> SP & 1);
    case NOTHING:
    case RETURNS:
    case JUMPS:
        return true;
    case STOPS:
    default:
        return false;
    }
}

static bool ends(const struct instruction *i)
{
    return i->effect == RETURNS || i->effect == JUMPS || (i->effect == LOADS && i->mask >> PC & 1);
}

static struct state body_state(const struct cfi_row *row, uint64_t pc)
{
    return (struct state){pc, row->cfa.offset, is_based_on(row, SP), 0, false, PC, false};
}

/* Whether the code from START, which changes SP or FP, on is an epilogue of ROW's function: then SP is the CFA at its
 * end, *END. *ADDED: the unknown number that is added to SP, or 0. */
static bool is_epilogue(struct image *image, const struct cfi_row *row, uint64_t start, uint64_t *end,
                        int64_t *added)
{
    const uint32_t fp = image->registers->fp;
    struct state s = body_state(row, start);
    unsigned n;

    for (n = 0; n < LONGEST; n++) {
        const struct instruction i = decode_arm(image, s.pc);

        if (!carry_out(&s, row, fp, &i))
            return false;
        if (!ends(&i))
            continue;
        *end = s.pc;
        *added = s.unknown ? s.depth : 0;
        return s.known && s.depth >= 0 && (s.unknown ? s.depth > 0 : s.depth == 0);
    }
    return false;
}

/* The rule for a register that RULE says is saved: once its slot is below SP it is in REG. */
static struct sfu_rule rule_at(const struct state *s, const struct sfu_rule *rule, uint32_t reg)
{
    if (rule->control != RULE_DEREFERENCE || !s->known || s->depth + rule->offset >= 0)
        return *rule;
    return (struct sfu_rule){0, reg << RULE_NUMBER | RULE_REGISTER};
}

static bool same(const struct sfu_rule *a, const struct sfu_rule *b)
{
    return a->control == b->control && a->offset == b->offset;
}

/* Whether ROW is wrong where S holds. *FOUND gets what is right. */
static bool is_wrong(const struct state *s, const struct cfi_row *row, uint32_t fp, struct epilogue *found)
{
    const bool by_fp = is_based_on(row, fp) && !s->fp_gone;

    if (!s->known && s->fp_moved == 0)
        return false;
    found->start = s->pc;
    found->cfa = (struct sfu_rule){(int32_t)(by_fp ? row->cfa.offset - s->fp_moved : s->depth),
                                   (by_fp ? fp : SP) << RULE_NUMBER | RULE_REGISTER};
    found->ra = rule_at(s, &row->ra, s->ra);
    found->fp = rule_at(s, &row->fp, fp);
    if (found->ra.control == (PC << RULE_NUMBER | RULE_REGISTER))
        return false;
    return !same(&found->cfa, &row->cfa) || !same(&found->ra, &row->ra) || !same(&found->fp, &row->fp);
}

/* Finds what is wrong of ROW at or behind PC in the epilogue from START up to END. */
static bool find_within(struct image *image, const struct cfi_row *row, uint64_t start, uint64_t end, int64_t added,
                        uint64_t pc, struct epilogue *found)
{
    const uint32_t fp = image->registers->fp;
    struct state s = body_state(row, start);

    while (s.pc < end && s.pc < row->end) {
        const struct instruction i = decode_arm(image, s.pc);

        if (s.pc >= pc && is_wrong(&s, row, fp, found)) {
            found->end = s.pc + i.size < row->end ? s.pc + i.size : row->end;
            return true;
        }
        (void)carry_out(&s, row, fp, &i);
        if (i.effect == ADDS_UNKNOWN)
            s.depth -= added;
    }
    return false;
}

/* ---- Prologues that save with strd ----------------------------------------------------------------------------- */

/* The registers that A32's WORD stores from SP + *AT on: str, strd, stmia, stmib with SP for the base, unchanged. */
static uint32_t stored(uint32_t word, int64_t *at)
{
    const uint32_t from = word >> 12 & 15;

    *at = word & 0xfff;
    if ((word & 0xffff0000) == 0xe58d0000)
        return 1u << from;
    *at = (word >> 4 & 0xf0) | (word & 15);
    if ((word & 0xffff10f0) == 0xe1cd00f0)
        return 3u << from;
    *at = (word & 0xffff0000) == 0xe98d0000 ? 4 : 0;
    return (word & 0xfeff0000) == 0xe88d0000 ? word & 0xffff : 0;
}

/* Whether WORD saves REG in the slot that RULE of ROW names. */
static bool saves(const struct cfi_row *row, const struct sfu_rule *rule, uint32_t reg, uint32_t word)
{
    int64_t at;
    const uint32_t mask = stored(word, &at);

    return mask >> reg & 1 && rule->control == RULE_DEREFERENCE &&
           at + 4 * (int64_t)ones(mask & ((1u << reg) - 1)) == row->cfa.offset + rule->offset;
}

/* Where straight code at the start of ROW saves what ROW says is saved already: the addresses behind it, or 0. */
static void find_saves(struct image *image, const struct cfi_row *row, uint64_t *ra, uint64_t *fp)
{
    uint64_t pc;
    unsigned n;

    *ra = *fp = 0;
    for (pc = row->start, n = 0; image->abi == SFU_ARM && is_based_on(row, SP) && n < LONGEST && pc < row->end;
         pc += 4, n++) {
        const uint8_t *p = image_instructions(image, pc, 4);
        const uint32_t word = p != NULL ? (uint32_t)load_number(p, 4, false) : 0;
        const struct instruction i = decode_arm(image, pc);

        if (p == NULL || (i.effect != NOTHING && (i.effect != LOADS || i.add != 0 || i.mask >> PC & 1)))
            return;
        if (saves(row, &row->ra, LR, word))
            *ra = pc + 4;
        if (saves(row, &row->fp, image->registers->fp, word))
            *fp = pc + 4;
    }
}

/* Finds an instruction at or behind PC at which ROW says that what is not yet saved is. */
static bool find_early(struct image *image, const struct cfi_row *row, uint64_t pc, struct epilogue *found)
{
    uint64_t ra, fp;

    find_saves(image, row, &ra, &fp);
    if (pc < row->start)
        pc = row->start;
    if (pc >= ra && pc >= fp)
        return false;
    *found = (struct epilogue){pc, pc + 4, row->cfa, row->ra, row->fp};
    if (pc < ra)
        found->ra = (struct sfu_rule){0, LR << RULE_NUMBER | RULE_REGISTER};
    if (pc < fp)
        found->fp = (struct sfu_rule){0, image->registers->fp << RULE_NUMBER | RULE_REGISTER};
    return true;
}

/* ---- Returns without a frame ----------------------------------------------------------------------------------- */

/* Whether the block at AT, behind a return or a jump, returns by LR and changes neither that nor SP: then no frame has
 * been made there, whatever ROW says. *END is behind it. */
static bool is_frameless(struct image *image, const struct cfi_row *row, uint64_t at, uint64_t *end)
{
    unsigned n;

    for (n = 0; n < LONGEST && at < row->end && row->ra.control == RULE_DEREFERENCE; n++) {
        const struct instruction i = decode_arm(image, at);
        const uint8_t *p = image_instructions(image, at, i.size);

        at += i.size;
        *end = at;
        if (i.effect == RETURNS)
            return load_number(p, i.size, false) == (i.size == 2 ? 0x4770 : 0xe12fff1e);
        if (p == NULL || i.effect != NOTHING)
            return false;
    }
    return false;
}

static bool find_frameless(struct image *image, const struct cfi_row *row, uint64_t at, uint64_t end, uint64_t pc,
                           struct epilogue *found)
{
    const uint32_t fp = image->registers->fp;

    while (at < end && at < pc)
        at += decode_arm(image, at).size;
    if (at >= end)
        return false;
    found->start = at;
    found->end = at + decode_arm(image, at).size;
    found->end = found->end < row->end ? found->end : row->end;
    found->cfa = (struct sfu_rule){0, SP << RULE_NUMBER | RULE_REGISTER};
    found->ra = (struct sfu_rule){0, LR << RULE_NUMBER | RULE_REGISTER};
    found->fp = (struct sfu_rule){0, fp << RULE_NUMBER | RULE_REGISTER};
    return true;
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

bool epilogue_arm(struct image *image, const struct cfi_row *row, uint64_t pc, struct epilogue *found)
{
    uint64_t at = row->start, end;
    int64_t added;

    if (row->kind != CFI_RULES || !(is_based_on(row, SP) || is_based_on(row, image->registers->fp)) ||
        row->cfa.offset == 0)
        return false;
    if (find_early(image, row, pc, found))
        return true;
    while (at < row->end) {
        const struct instruction i = decode_arm(image, at);
        const bool begins = i.effect == ADDS || i.effect == ADDS_UNKNOWN || i.effect == FROM_FP ||
                            i.effect == ADDS_TO_FP || i.effect == LOADS;
        bool block = ends(&i);

        if (begins && is_epilogue(image, row, at, &end, &added)) {
            block = true;
            if (find_within(image, row, at, end, added, pc, found))
                return true;
        } else {
            end = at + i.size;
        }
        at = end;
        if (block && at < row->end && is_frameless(image, row, at, &end)) {
            if (find_frameless(image, row, at, end, pc, found))
                return true;
            at = end;
        }
    }
    return false;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * RISC-V: clang before version 20 writes no CFI for epilogues (test/truth/FAULTS.md: clang-riscv-epilogue). What is
 * right there is computed from the instructions in front: additions to SP, and loads of RA and FP from their slots.
 *
 * The reader of machine code (port/host/code) corrects most of these, and those of other CPUs. This is for what it does
 * not know, each of which `make suite-step-riscv64` steps: functions that somebody enters with another return address
 * than a call's (patterns-clang-O1-signals), pieces that several functions share (patterns-clang-Oz), and functions
 * whose prologue and epilogue libgcc has (patterns-gcc12-Os-save).
 *
 * Encodings are those of "The RISC-V Instruction Set Manual", volume I.
 */
#include "cfi.h"

#include <stdlib.h>
#include <string.h>

enum { RA = 1, SP = 2, T0 = 5, FP = 8 };

/* What an instruction does to SP, FP and RA. */
enum effect {
    NOTHING,
    ADDS,       /* SP = SP + value */
    FROM_FP,    /* SP = FP + value */
    LOADS_RA,   /* RA = *(SP + value) */
    LOADS_FP,   /* FP = *(SP + value) */
    CHANGES_SP, /* in a way that is not known */
    CHANGES_FP,
    CALLS,
    SHARES, /* calls a piece of itself by t0, at its own address + value (is_shared) */
    JUMPS,  /* and does not go on behind: a tail call, a jump; to its own address + value, or value is 0 */
    RETURNS
};

struct instruction {
    unsigned size;
    enum effect effect;
    int64_t value;
};

/* The constant that the instructions in front have made: lui, addi. */
struct constant {
    uint32_t reg; /* 0: there is none */
    int64_t value;
};

static int64_t sign_extended(uint32_t value, unsigned bits)
{
    return (int64_t)(value ^ 1u << (bits - 1)) - ((int64_t)1 << (bits - 1));
}

/* ---- Instructions of 4 bytes ----------------------------------------------------------------------------------- */

/* addi and addiw: RD = RS + VALUE. */
static void decode_add(uint32_t rd, uint32_t rs, int64_t value, struct constant *constant, struct instruction *i)
{
    struct constant before = *constant;

    constant->reg = 0;
    if (rd == SP) {
        i->effect = rs == SP ? ADDS : rs == FP ? FROM_FP : CHANGES_SP;
        i->value = value;
    } else if (rd == FP) {
        i->effect = CHANGES_FP;
    } else if (rs == 0 || (before.reg == rd && rs == rd)) {
        *constant = (struct constant){rd, (rs == 0 ? 0 : before.value) + value};
    }
}

/* add: SP = SP + a constant. */
static void decode_sum(uint32_t rd, uint32_t a, uint32_t b, struct constant *constant, struct instruction *i)
{
    uint32_t other = a == SP ? b : a;

    if (rd == SP) {
        i->effect = (a == SP || b == SP) && other == constant->reg && other != 0 ? ADDS : CHANGES_SP;
        i->value = constant->value;
    } else if (rd == FP) {
        i->effect = CHANGES_FP;
    }
    constant->reg = 0;
}

static void decode_load(uint32_t rd, uint32_t rs, int64_t value, struct instruction *i)
{
    if (rs == SP && (rd == RA || rd == FP)) {
        i->effect = rd == RA ? LOADS_RA : LOADS_FP;
        i->value = value;
    } else if (rd == SP || rd == FP) {
        i->effect = rd == SP ? CHANGES_SP : CHANGES_FP;
    }
}

static void decode_jump(uint32_t word, uint32_t rd, uint32_t rs, struct instruction *i)
{
    const bool is_jal = (word & 0x7f) == 0x6f;

    if (is_jal)
        i->value = sign_extended((word >> 31) << 20 | (word >> 12 & 0xff) << 12 | (word >> 20 & 1) << 11 |
                                     (word >> 21 & 0x3ff) << 1,
                                 21);
    i->effect = rd == T0 && is_jal ? SHARES : rd != 0 ? CALLS : !is_jal && rs == RA ? RETURNS : JUMPS;
}

static void decode_long(uint32_t word, unsigned load, struct constant *constant, struct instruction *i)
{
    uint32_t opcode = word & 0x7f, rd = word >> 7 & 31, rs = word >> 15 & 31, function = word >> 12 & 7;
    int64_t immediate = sign_extended(word >> 20, 12);

    switch (opcode) {
    case 0x13: /* addi */
    case 0x1b: /* addiw */
        if (function == 0) {
            decode_add(rd, rs, immediate, constant, i);
            return;
        }
        break;
    case 0x33: /* add */
        if (function == 0 && word >> 25 == 0) {
            decode_sum(rd, rs, word >> 20 & 31, constant, i);
            return;
        }
        break;
    case 0x37: /* lui */
        *constant = (struct constant){rd, (int32_t)(word & 0xfffff000)};
        i->effect = rd == SP ? CHANGES_SP : rd == FP ? CHANGES_FP : NOTHING;
        return;
    case 0x03:
        if (function == load) {
            decode_load(rd, rs, immediate, i);
            constant->reg = 0;
            return;
        }
        break;
    case 0x63: /* branches, stores, fences, and floating point have no general register in this field */
    case 0x23:
    case 0x27:
    case 0x0f:
    case 0x07:
        constant->reg = 0;
        return;
    case 0x6f: /* jal, jalr */
    case 0x67:
        constant->reg = 0;
        decode_jump(word, rd, rs, i);
        return;
    default:
        break;
    }
    constant->reg = 0;
    i->effect = rd == SP ? CHANGES_SP : rd == FP ? CHANGES_FP : NOTHING;
}

/* ---- Instructions of 2 bytes ----------------------------------------------------------------------------------- */

/* Bits FROM up to below END of HALF, shifted to begin at bit TO. */
static uint32_t bit_field(uint32_t half, unsigned from, unsigned end, unsigned to)
{
    return (half >> from & ((1u << (end - from)) - 1)) << to;
}

/* The second quadrant: c.addi, c.li, c.lui, c.addi16sp, c.j. */
static void decode_second(uint32_t half, unsigned word, struct constant *constant, struct instruction *i)
{
    uint32_t rd = half >> 7 & 31, function = half >> 13;
    int64_t immediate = sign_extended(bit_field(half, 2, 7, 0) | bit_field(half, 12, 13, 5), 6);

    if (function == 0) { /* c.addi */
        decode_add(rd, rd, immediate, constant, i);
    } else if (function == 2) { /* c.li */
        decode_add(rd, 0, immediate, constant, i);
    } else if (function == 3 && rd == SP) { /* c.addi16sp */
        constant->reg = 0;
        i->effect = ADDS;
        i->value = sign_extended(bit_field(half, 6, 7, 4) | bit_field(half, 2, 3, 5) | bit_field(half, 5, 6, 6) |
                                     bit_field(half, 3, 5, 7) | bit_field(half, 12, 13, 9),
                                 10);
    } else if (function == 3) { /* c.lui */
        *constant = (struct constant){rd, immediate * 4096};
        i->effect = rd == FP ? CHANGES_FP : NOTHING;
    } else {
        constant->reg = 0;
        if (function == 5 || (function == 1 && word == 4)) { /* c.j, c.jal */
            i->effect = function == 5 ? JUMPS : CALLS;
            i->value =
                sign_extended(bit_field(half, 3, 6, 1) | bit_field(half, 11, 12, 4) | bit_field(half, 2, 3, 5) |
                                  bit_field(half, 7, 8, 6) | bit_field(half, 6, 7, 7) | bit_field(half, 9, 11, 8) |
                                  bit_field(half, 8, 9, 10) | bit_field(half, 12, 13, 11),
                              12);
        } else if (function == 4 && (rd & 7) + 8 == FP && (half >> 7 & 7) == 0)
            i->effect = CHANGES_FP; /* arithmetic: one of eight registers, from x8 on */
    }
}

/* The third quadrant: c.ldsp and c.lwsp, c.mv, c.add, c.jr. */
static void decode_third(uint32_t half, unsigned word, struct constant *constant, struct instruction *i)
{
    uint32_t rd = half >> 7 & 31, rs = half >> 2 & 31, function = half >> 13;

    if (function == (word == 8 ? 3u : 2u)) {
        constant->reg = 0;
        decode_load(rd, SP,
                    word == 8 ? bit_field(half, 5, 7, 3) | bit_field(half, 12, 13, 5) | bit_field(half, 2, 5, 6)
                              : bit_field(half, 4, 7, 2) | bit_field(half, 12, 13, 5) | bit_field(half, 2, 4, 6),
                    i);
    } else if (function == 4 && rs != 0 && !(half >> 12 & 1)) { /* c.mv */
        decode_add(rd, rs, 0, constant, i);
        if (rd != SP && rd != FP)
            constant->reg = 0;
    } else if (function == 4 && rs != 0) { /* c.add */
        decode_sum(rd, rd, rs, constant, i);
    } else {
        constant->reg = 0;
        if (function == 4)
            i->effect = half >> 12 & 1 ? CALLS : rd == RA ? RETURNS : JUMPS; /* c.jalr, c.jr */
        else if ((function == 0 || function == 2) && (rd == SP || rd == FP))
            i->effect = rd == SP ? CHANGES_SP : CHANGES_FP; /* c.slli, c.lwsp */
    }
}

/* The first quadrant: what it loads or computes goes to one of eight registers, from x8 on. */
static void decode_first(uint32_t half, unsigned word, struct constant *constant, struct instruction *i)
{
    uint32_t function = half >> 13;
    bool changes = function == 0 || function == 2 || (function == 3 && word == 8) || function == 4;

    constant->reg = 0;
    if (changes && (half >> 2 & 7) == 0)
        i->effect = CHANGES_FP;
}

/* Decodes the instruction at P, which has LEFT bytes behind it. Returns false if it is cut, or longer than 4 bytes. */
static bool decode_riscv(const uint8_t *p, uint64_t left, unsigned word, struct constant *constant,
                         struct instruction *i)
{
    uint32_t half = left >= 2 ? (uint32_t)load_number(p, 2, false) : 0x1f;

    *i = (struct instruction){(half & 3) == 3 ? 4 : 2, NOTHING, 0};
    if ((half & 0x1f) == 0x1f || i->size > left)
        return false;
    if (i->size == 4)
        decode_long((uint32_t)load_number(p, 4, false), word == 8 ? 3 : 2, constant, i);
    else if ((half & 3) == 2)
        decode_third(half, word, constant, i);
    else if ((half & 3) == 1)
        decode_second(half, word, constant, i);
    else
        decode_first(half, word, constant, i);
    return true;
}

/* ---- What holds in a block ------------------------------------------------------------------------------------- */

/* What is known in front of an instruction. */
struct state {
    bool has_depth;
    int64_t depth; /* CFA - SP */
    bool ra, fp;   /* they have been loaded from their slots */
    bool moved;    /* SP has been moved, or FP been loaded: the CFA's rule may be wrong */
    bool lost;     /* nothing is known up to the end of the block */
};

static bool is_based_on(const struct cfi_row *row, uint32_t reg)
{
    return row->cfa.control == (reg << RULE_NUMBER | RULE_REGISTER);
}

/* At the start of a row, and behind each jump, where another block begins, all is as the row says. */
static struct state first_state(const struct cfi_row *row)
{
    struct state state = {false, 0, false, false, false, false};

    state.has_depth = is_based_on(row, SP);
    state.depth = row->cfa.offset;
    return state;
}

/* Whether RULE is the slot that SP + VALUE is. If SP was not known, that tells. */
static bool is_slot(struct state *s, const struct sfu_rule *rule, int64_t value)
{
    if (rule->control != RULE_DEREFERENCE)
        return false;
    if (!s->has_depth && !s->moved) {
        s->has_depth = true;
        s->depth = value - rule->offset;
    }
    return s->has_depth && value - s->depth == rule->offset;
}

static void change_sp(struct state *s, const struct cfi_row *row, const struct instruction *i)
{
    if (i->effect == FROM_FP) {
        s->has_depth = is_based_on(row, FP) && !s->fp;
        s->depth = row->cfa.offset - i->value;
    } else {
        s->depth -= i->value;
    }
    if (is_based_on(row, SP)) {
        s->moved = true;
        s->lost = !s->has_depth || s->depth < 0;
    }
}

static void apply(struct state *s, const struct cfi_row *row, const struct instruction *i)
{
    switch (i->effect) {
    case ADDS:
    case FROM_FP:
        change_sp(s, row, i);
        break;
    case LOADS_RA:
        s->ra = is_slot(s, &row->ra, i->value);
        break;
    case LOADS_FP:
        s->fp = is_slot(s, &row->fp, i->value);
        s->lost |= is_based_on(row, FP) && !(s->fp && s->has_depth);
        s->moved |= is_based_on(row, FP);
        break;
    case CHANGES_SP:
        s->has_depth = false;
        s->lost |= is_based_on(row, SP) || s->moved;
        break;
    case CHANGES_FP:
        s->fp = false;
        break;
    case NOTHING:
    case CALLS:
    case SHARES:
    case JUMPS:
    case RETURNS:
    default:
        break;
    }
}

/* Whether a function begins at AT whose first instruction makes the frame that ROW takes for made: those of libgcc that
 * save registers for -msave-restore have several entries (test/truth/FAULTS.md: libgcc-riscv-save). */
static bool makes_frame(const struct image *image, const struct cfi_row *row, const uint8_t *p, uint64_t at,
                        uint64_t size)
{
    const struct symbol *symbol = image_symbol(image, row->start + at);
    struct constant constant = {0, 0};
    struct instruction i;

    return symbol != NULL && symbol->addr == row->start + at && is_based_on(row, SP) && row->cfa.offset > 0 &&
           decode_riscv(p + at, size - at, image->registers->word, &constant, &i) && i.effect == ADDS &&
           i.value == -row->cfa.offset;
}

/* What holds at AT, where a block begins behind a jump, or a row. If the block ends by a return, SP is the CFA there,
 * and RA and FP are the caller's: what the block does not put back was never changed, or has been put back before. So
 * it is where a function returns without having made its frame, and clang's row is that of the frame; or it is what is
 * left of an epilogue in front of which the code has been believed. */
static struct state block_state(const struct cfi_row *row, const uint8_t *p, uint64_t at, uint64_t size,
                                unsigned word)
{
    struct state state = first_state(row), end = {true, 0, true, true, true, false};
    struct constant constant = {0, 0};
    struct instruction i = {0, NOTHING, 0};

    for (; i.effect != RETURNS; at += i.size) {
        if (at >= size || !decode_riscv(p + at, size - at, word, &constant, &i) || i.effect == JUMPS ||
            i.effect == FROM_FP || i.effect == CHANGES_SP || i.effect == CHANGES_FP)
            return state;
        end.depth += i.effect == ADDS ? i.value : 0;
        end.ra &= i.effect != LOADS_RA;
        end.fp &= i.effect != LOADS_FP;
    }
    if (end.depth < 0 || (state.has_depth ? end.depth == state.depth : !end.fp))
        return state;
    return end;
}

/* The rule of a register that has been LOADED from the slot that RULE names: it counts once that is below SP. *LOST: it
 * is below SP, and nobody has loaded it. */
static struct sfu_rule rule_at(const struct state *s, const struct sfu_rule *rule, uint32_t reg, bool loaded,
                               bool *lost)
{
    if (rule->control != RULE_DEREFERENCE || s->depth + rule->offset >= 0)
        return *rule;
    *lost |= !loaded;
    return (struct sfu_rule){0, reg << RULE_NUMBER | RULE_REGISTER};
}

/* Whether the row is wrong where S holds. *FOUND gets what is right. */
static bool is_wrong(const struct state *s, const struct cfi_row *row, struct epilogue *found)
{
    bool lost = false;

    if (!s->moved || s->lost || (is_based_on(row, SP) && s->depth == row->cfa.offset))
        return false;
    found->cfa = (struct sfu_rule){(int32_t)s->depth, SP << RULE_NUMBER | RULE_REGISTER};
    found->ra = rule_at(s, &row->ra, RA, s->ra, &lost);
    found->fp = rule_at(s, &row->fp, FP, s->fp, &lost);
    return !lost && s->depth == found->cfa.offset;
}

/* Whether the code at PC, which leaves SP alone, leads to a jump to __riscv_restore_N, which puts back what
 * __riscv_save_N has saved: gcc with -msave-restore says some instructions in front of it that all of that was done
 * (test/truth/FAULTS.md: gcc-riscv-restore). RA and FP are the two highest words of a frame of a multiple of 16 bytes,
 * with N + 1 words. *DEPTH: its size. */
static bool leads_to_restore(struct image *image, uint64_t pc, int64_t *depth)
{
    enum { MOST = 64 }; /* bytes that are looked at: schedulers do not move further */
    static const char restore[] = "__riscv_restore_";
    const int64_t word = image->registers->word;
    const struct section *code = image_code(image, pc);
    uint64_t size = code == NULL                          ? 0
                    : code->addr + code->size - pc < MOST ? code->addr + code->size - pc
                                                          : MOST,
             at;
    const uint8_t *p = size > 0 ? image_instructions(image, pc, size) : NULL;
    struct constant constant = {0, 0};
    struct instruction i = {0, NOTHING, 0};
    const struct symbol *symbol;
    int64_t saved;

    for (at = 0;
         p != NULL && i.effect == NOTHING && decode_riscv(p + at, size - at, (unsigned)word, &constant, &i);)
        at += i.size;
    if (p == NULL || i.effect != JUMPS || i.value == 0)
        return false;
    symbol = image_symbol(image, pc + at - i.size + (uint64_t)i.value);
    if (symbol == NULL || strncmp(symbol->name, restore, sizeof restore - 1) != 0)
        return false;
    saved = strtol(symbol->name + sizeof restore - 1, NULL, 10);
    *depth = ((saved + 1) * word + 15) / 16 * 16;
    return saved >= 0 && saved <= 12;
}

/* What holds at the start of ROW. */
static struct state row_state(struct image *image, const struct cfi_row *row, const uint8_t *p, uint64_t size,
                              struct cfi_row *saved)
{
    const int32_t word = image->registers->word;
    struct state state = block_state(row, p, 0, size, (unsigned)word);
    int64_t depth;

    if (makes_frame(image, row, p, 0, size))
        return (struct state){true, 0, true, true, true, false};
    if (is_based_on(row, SP) && row->cfa.offset == 0 && leads_to_restore(image, row->start, &depth)) {
        state = (struct state){true, depth, false, false, true, false};
        saved->ra = (struct sfu_rule){-word, RULE_DEREFERENCE};
        saved->fp = (struct sfu_rule){-2 * word, RULE_DEREFERENCE};
    }
    return state;
}

/* ---- Pieces that clang shares between functions ----------------------------------------------------------------- */

/* Whether the instruction at P, of SIZE bytes, is a jump to what T0 says. */
static bool jumps_by_t0(const uint8_t *p, unsigned size)
{
    return load_number(p, size, false) == (size == 2 ? 0x8282 : 0x00028067);
}

/* Whether it may write T0. The field is that of the register in all instructions but stores, branches and fences of 4
 * bytes, and those of 2 bytes of which it is a part of something else: they count, too. */
static bool may_write_t0(const uint8_t *p, unsigned size)
{
    const uint32_t half = (uint32_t)load_number(p, 2, false), opcode = half & 0x7f;

    if ((half >> 7 & 31) != T0 || (size == 2 && (half & 3) == 0))
        return false;
    return size == 2 || (opcode != 0x63 && opcode != 0x23 && opcode != 0x27 && opcode != 0x0f);
}

/* Whether the SIZE bytes from START on, at P, are a piece which `jal t0` calls: clang's -Oz makes functions of what
 * several functions have in common, of epilogues for instance (test/truth/FAULTS.md: clang-riscv-outlined). Only a
 * symbol says that all of the function is seen, so that t0 is what the call has made it. A piece is read again at each
 * of its calls and rows, so that a longer one is taken for an ordinary function. */
static bool is_shared(const struct image *image, uint64_t start, uint64_t size, const uint8_t *p)
{
    enum { MOST_SHARED = 1024 }; /* bytes */
    const struct symbol *symbol = image_symbol(image, start);
    struct constant constant = {0, 0};
    struct instruction i;
    uint64_t at;

    if (symbol == NULL || symbol->addr != start || symbol->size != size || size > MOST_SHARED)
        return false;
    for (at = 0; decode_riscv(p + at, size - at, image->registers->word, &constant, &i); at += i.size) {
        if (i.effect == JUMPS)
            return at + i.size == size && jumps_by_t0(p + at, i.size);
        if (i.effect == FROM_FP || i.effect == CHANGES_SP || i.effect == CALLS || i.effect == SHARES ||
            i.effect == RETURNS || may_write_t0(p + at, i.size))
            return false;
    }
    return false;
}

/* What the piece at PC does to its caller's registers, if it is one. */
static void apply_shared(struct image *image, uint64_t pc, const struct cfi_row *row, struct state *s)
{
    const struct symbol *symbol = image_symbol(image, pc);
    const uint8_t *p = symbol != NULL ? image_instructions(image, pc, symbol->size) : NULL;
    struct constant constant = {0, 0};
    struct instruction i;
    uint64_t at;

    if (p == NULL || !is_shared(image, pc, symbol->size, p))
        return;
    for (at = 0; at < symbol->size; at += i.size) {
        (void)decode_riscv(p + at, symbol->size - at, image->registers->word, &constant, &i); /* is_shared has */
        apply(s, row, &i);
    }
}

/* ---- A row ------------------------------------------------------------------------------------------------------ */

static void add_found(struct epilogues *known, const struct epilogue *found)
{
    known->list = grow(known->list, known->num, sizeof *known->list);
    known->list[known->num++] = *found;
}

/* Reads a row that lies in such a piece, at P from SYMBOL's start on. Its caller's frame is what it was at the call,
 * also if it is code alone that says what the row is. A part of its rows may be the code's already. */
static void read_shared(struct epilogues *known, struct image *image, const struct symbol *symbol, const uint8_t *p)
{
    struct epilogue found = {0,
                             0,
                             {0, SP << RULE_NUMBER | RULE_REGISTER},
                             {0, T0 << RULE_NUMBER | RULE_REGISTER},
                             {0, FP << RULE_NUMBER | RULE_REGISTER}};
    struct constant constant = {0, 0};
    struct instruction i;
    int64_t added = 0;
    uint64_t at;

    for (at = 0; at < symbol->size; at += i.size) {
        (void)decode_riscv(p + at, symbol->size - at, image->registers->word, &constant, &i); /* is_shared has */
        found.start = symbol->addr + at;
        found.end = found.start + i.size;
        found.cfa.offset = (int32_t)-added;
        if (found.start >= known->row.start && found.start < known->row.end && added >= -INT32_MAX &&
            added <= INT32_MAX)
            add_found(known, &found);
        added += i.effect == ADDS ? i.value : 0;
    }
}

/* Reads any other row, whose SIZE bytes are at P. */
static void read_own(struct epilogues *known, struct image *image, const uint8_t *p, uint64_t size)
{
    const struct cfi_row *row = &known->row;
    struct cfi_row named = *row; /* with the slots of RA and FP, where the row does not name them */
    struct constant constant = {0, 0};
    struct state state = row_state(image, row, p, size, &named);
    struct epilogue found;
    struct instruction i;
    uint64_t at;

    for (at = 0; at < size && decode_riscv(p + at, size - at, image->registers->word, &constant, &i);
         at += i.size) {
        if (is_wrong(&state, &named, &found)) {
            found.start = row->start + at;
            found.end = found.start + i.size;
            add_found(known, &found);
        }
        apply(&state, &named, &i);
        if (i.effect == SHARES)
            apply_shared(image, row->start + at + (uint64_t)i.value, &named, &state);
        if (i.effect == JUMPS || i.effect == RETURNS) {
            named = *row;
            state = block_state(row, p, at + i.size, size, image->registers->word);
        }
    }
}

static void read_row(struct epilogues *known, struct image *image)
{
    const struct cfi_row *row = &known->row;
    const uint64_t size = row->end - row->start;
    const uint8_t *p = abi_is_riscv(image->abi) ? image_instructions(image, row->start, size) : NULL;
    const struct symbol *symbol = image_symbol(image, row->start);
    const uint8_t *whole = symbol != NULL ? image_instructions(image, symbol->addr, symbol->size) : NULL;

    /* Where an instruction is a whole epilogue (Zcmp), only the reader of machine code knows better than CFI. */
    if (p == NULL || image->zcmp || row->kind != CFI_RULES || !(is_based_on(row, SP) || is_based_on(row, FP)))
        return;
    if (whole != NULL && row->cfa.offset == 0 && is_based_on(row, SP) &&
        row->ra.control == (RA << RULE_NUMBER | RULE_REGISTER) &&
        is_shared(image, symbol->addr, symbol->size, whole))
        read_shared(known, image, symbol, whole);
    else
        read_own(known, image, p, size);
}

static bool is_same_row(const struct cfi_row *a, const struct cfi_row *b)
{
    return a->start == b->start && a->end == b->end && a->kind == b->kind && rule_is_same(&a->cfa, &b->cfa) &&
           rule_is_same(&a->ra, &b->ra) && rule_is_same(&a->fp, &b->fp);
}

const struct epilogue *epilogue_find(struct epilogues *known, struct image *image, const struct cfi_row *row,
                                     uint64_t pc)
{
    size_t i;

    if (!is_same_row(&known->row, row)) {
        known->row = *row;
        known->num = 0;
        read_row(known, image);
    }
    i = count_up_to(known->list, known->num, sizeof *known->list, offsetof(struct epilogue, start), pc);
    if (i > 0 && known->list[i - 1].start == pc)
        i--;
    return i < known->num ? &known->list[i] : NULL;
}

void epilogues_free(struct epilogues *known)
{
    free(known->list);
    memset(known, 0, sizeof *known);
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * RISC-V of 64 and 32 bits: a compressed instruction becomes the one of four bytes that it stands for, and that is
 * read. Encodings are those of "The RISC-V Instruction Set Manual": volume I, chapter "RV32/64G Instruction Set
 * Listings", and volume II for privileged instructions. An instruction that is not known writes the register in its
 * field rd if all instructions with its opcode do that, and else anything.
 *
 * A CPU without floating point of 64 bits may have cm.push, cm.popret and so on in the place of c.fsdsp (Zcmp, Zcmt:
 * "Code Size Reduction" in volume I). The image's attributes say so. Of RV32 without such attributes nothing is known
 * behind what may be one of these; RV64 is taken for a CPU that has c.fsdsp then.
 *
 * The opcode custom-0 is anybody's. It is read where the image's attributes say that it has T-Head's extensions
 * ("T-Head RISC-V ISA Extension Specification").
 */
#include "fact.h"

#include <string.h>

enum { ZERO = 0, RA = 1, SP = 2, GP = 3, T0 = 5, FP = 8, A0 = 10, A7 = 17, S2 = 18, T3 = 28, T6 = 31 };

/* Major opcodes, and those of OP-FP's funct5 that write a register which is not one of floating point. */
enum {
    LOAD = 0x03,
    LOAD_FP = 0x07,
    CUSTOM_0 = 0x0b,
    MISC_MEM = 0x0f,
    OP_IMM = 0x13,
    AUIPC = 0x17,
    OP_IMM_32 = 0x1b,
    STORE = 0x23,
    STORE_FP = 0x27,
    AMO = 0x2f,
    OP = 0x33,
    LUI = 0x37,
    OP_32 = 0x3b,
    OP_FP = 0x53,
    OP_V = 0x57,
    BRANCH = 0x63,
    JALR = 0x67,
    JAL = 0x6f,
    SYSTEM = 0x73,
    COMPARES = 0x14,
    CONVERTS = 0x18,
    MOVES = 0x1c
};

/* An instruction as four bytes, where it stands, how many bytes a register has, how long it really is, and whether
 * custom-0 is T-Head's. */
struct instruction {
    uint32_t word;
    uint64_t pc;
    unsigned xlen, size;
    bool thead;
};

static uint32_t field(uint32_t word, unsigned low, unsigned size)
{
    return word >> low & ((1u << size) - 1);
}

/* The lowest SIZE bits of VALUE as a signed number. */
static int32_t sign(uint32_t value, unsigned size)
{
    const uint32_t top = 1u << (size - 1);

    return (int32_t)(((value & (2 * top - 1)) ^ top) - top);
}

static uint8_t rd(uint32_t word)
{
    return (uint8_t)field(word, 7, 5);
}

static uint8_t rs1(uint32_t word)
{
    return (uint8_t)field(word, 15, 5);
}

static uint8_t rs2(uint32_t word)
{
    return (uint8_t)field(word, 20, 5);
}

/* Where REG is read: x0 is the register that is always zero. */
static uint8_t read(uint8_t reg)
{
    return reg == ZERO ? (uint8_t)CODE_ZERO : reg;
}

static int32_t imm_i(uint32_t word)
{
    return sign(word >> 20, 12);
}

static int32_t imm_s(uint32_t word)
{
    return sign(field(word, 25, 7) << 5 | field(word, 7, 5), 12);
}

static int32_t imm_b(uint32_t word)
{
    return sign(
        field(word, 31, 1) << 12 | field(word, 7, 1) << 11 | field(word, 25, 6) << 5 | field(word, 8, 4) << 1, 13);
}

static int32_t imm_j(uint32_t word)
{
    return sign(field(word, 31, 1) << 20 | field(word, 12, 8) << 12 | field(word, 20, 1) << 11 |
                    field(word, 21, 10) << 1,
                21);
}

/* ---- Compressed instructions ----------------------------------------------------------------------------------- */

static uint32_t make_i(uint32_t opcode, uint32_t function, uint32_t to, uint32_t from, int32_t imm)
{
    return opcode | to << 7 | function << 12 | from << 15 | (uint32_t)imm << 20;
}

static uint32_t make_s(uint32_t opcode, uint32_t function, uint32_t base, uint32_t source, uint32_t imm)
{
    return opcode | (imm & 31) << 7 | function << 12 | base << 15 | source << 20 | imm >> 5 << 25;
}

static uint32_t make_r(uint32_t opcode, uint32_t function, uint32_t to, uint32_t first, uint32_t second)
{
    return opcode | to << 7 | (function & 7) << 12 | first << 15 | second << 20 | function >> 3 << 25;
}

static uint32_t make_b(uint32_t function, uint32_t first, int32_t imm)
{
    const uint32_t k = (uint32_t)imm;

    return (uint32_t)BRANCH | field(k, 11, 1) << 7 | field(k, 1, 4) << 8 | function << 12 | first << 15 |
           field(k, 5, 6) << 25 | field(k, 12, 1) << 31;
}

static uint32_t make_j(uint32_t to, int32_t imm)
{
    const uint32_t k = (uint32_t)imm;

    return (uint32_t)JAL | to << 7 | field(k, 12, 8) << 12 | field(k, 11, 1) << 20 | field(k, 1, 10) << 21 |
           field(k, 20, 1) << 31;
}

/* R-type functions: funct7 * 8 + funct3. */
enum { ADD = 0, SUB = 0x100, XOR = 4, OR = 6, AND = 7, MUL = 8 };

/* The first quadrant: its registers are x8 to x15. */
static uint32_t expand_0(uint32_t half, unsigned xlen)
{
    const uint32_t to = 8 + field(half, 2, 3), base = 8 + field(half, 7, 3), middle = field(half, 10, 3) << 3;
    const uint32_t by_4 = middle | field(half, 6, 1) << 2 | field(half, 5, 1) << 6;
    const uint32_t by_8 = middle | field(half, 5, 2) << 6;
    const uint32_t frame =
        field(half, 11, 2) << 4 | field(half, 7, 4) << 6 | field(half, 6, 1) << 2 | field(half, 5, 1) << 3;

    switch (half >> 13) {
    case 0: /* c.addi4spn */
        return frame != 0 ? make_i(OP_IMM, 0, to, SP, (int32_t)frame) : 0;
    case 1: /* c.fld */
        return make_i(LOAD_FP, 3, to, base, (int32_t)by_8);
    case 2: /* c.lw */
        return make_i(LOAD, 2, to, base, (int32_t)by_4);
    case 3: /* c.ld; c.flw */
        return xlen == 8 ? make_i(LOAD, 3, to, base, (int32_t)by_8) : make_i(LOAD_FP, 2, to, base, (int32_t)by_4);
    case 5: /* c.fsd */
        return make_s(STORE_FP, 3, base, to, by_8);
    case 6: /* c.sw */
        return make_s(STORE, 2, base, to, by_4);
    case 7: /* c.sd; c.fsw */
        return xlen == 8 ? make_s(STORE, 3, base, to, by_8) : make_s(STORE_FP, 2, base, to, by_4);
    default:
        break;
    }
    switch (field(half, 10, 3)) { /* Zcb */
    case 0:                       /* c.lbu */
        return make_i(LOAD, 4, to, base, (int32_t)(field(half, 6, 1) | field(half, 5, 1) << 1));
    case 1: /* c.lhu, c.lh */
        return make_i(LOAD, field(half, 6, 1) ? 1 : 5, to, base, (int32_t)(field(half, 5, 1) << 1));
    case 2: /* c.sb */
        return make_s(STORE, 0, base, to, field(half, 6, 1) | field(half, 5, 1) << 1);
    case 3: /* c.sh */
        return field(half, 6, 1) ? 0 : make_s(STORE, 1, base, to, field(half, 5, 1) << 1);
    default:
        return 0;
    }
}

/* c.srli, c.srai, c.andi; c.sub and so on. All write the register that they read. */
static uint32_t expand_arithmetic(uint32_t half, unsigned xlen)
{
    static const uint32_t functions[] = {SUB, XOR, OR, AND};
    const uint32_t to = 8 + field(half, 7, 3), other = 8 + field(half, 2, 3), which = field(half, 5, 2);
    const uint32_t imm = field(half, 12, 1) << 5 | field(half, 2, 5);

    switch (field(half, 10, 2)) {
    case 0:
        return xlen == 4 && imm > 31 ? 0 : make_i(OP_IMM, 5, to, to, (int32_t)imm);
    case 1:
        return xlen == 4 && imm > 31 ? 0 : make_i(OP_IMM, 5, to, to, (int32_t)(imm | 0x400));
    case 2:
        return make_i(OP_IMM, 7, to, to, sign(imm, 6));
    default:
        break;
    }
    if (!field(half, 12, 1))
        return make_r(OP, functions[which], to, to, other);
    if (which < 2) /* c.subw, c.addw */
        return xlen == 8 ? make_r(OP_32, which == 0 ? SUB : ADD, to, to, other) : 0;
    return make_r(OP, MUL, to, to, other); /* Zcb: c.mul, c.zext.b and so on; what they compute does not count */
}

static int32_t compressed_jump(uint32_t half)
{
    return sign(field(half, 12, 1) << 11 | field(half, 11, 1) << 4 | field(half, 9, 2) << 8 |
                    field(half, 8, 1) << 10 | field(half, 7, 1) << 6 | field(half, 6, 1) << 7 |
                    field(half, 3, 3) << 1 | field(half, 2, 1) << 5,
                12);
}

/* c.lui, c.addi16sp, and what only checks a shadow stack (Zcmop). */
static uint32_t expand_upper(uint32_t half)
{
    const uint32_t to = rd(half);
    const int32_t imm = sign(field(half, 12, 1) << 5 | field(half, 2, 5), 6);
    const int32_t frame = sign(field(half, 12, 1) << 9 | field(half, 6, 1) << 4 | field(half, 5, 1) << 6 |
                                   field(half, 3, 2) << 7 | field(half, 2, 1) << 5,
                               10);

    if (to == SP)
        return frame != 0 ? make_i(OP_IMM, 0, SP, SP, frame) : 0;
    if (imm != 0)
        return (uint32_t)LUI | to << 7 | (uint32_t)imm << 12;
    return to < 16 && to % 2 == 1 ? make_i(OP_IMM, 0, ZERO, ZERO, 0) : 0;
}

static uint32_t expand_1(uint32_t half, unsigned xlen)
{
    const uint32_t to = rd(half), first = 8 + field(half, 7, 3);
    const int32_t imm = sign(field(half, 12, 1) << 5 | field(half, 2, 5), 6);
    const int32_t near = sign(field(half, 12, 1) << 8 | field(half, 10, 2) << 3 | field(half, 5, 2) << 6 |
                                  field(half, 3, 2) << 1 | field(half, 2, 1) << 5,
                              9);

    switch (half >> 13) {
    case 0: /* c.addi */
        return make_i(OP_IMM, 0, to, to, imm);
    case 1: /* c.addiw; c.jal */
        return xlen == 4 ? make_j(RA, compressed_jump(half)) : to != 0 ? make_i(OP_IMM_32, 0, to, to, imm) : 0;
    case 2: /* c.li */
        return make_i(OP_IMM, 0, to, ZERO, imm);
    case 3:
        return expand_upper(half);
    case 4:
        return expand_arithmetic(half, xlen);
    case 5: /* c.j */
        return make_j(ZERO, compressed_jump(half));
    default: /* c.beqz, c.bnez */
        return make_b(half >> 13 & 1, first, near);
    }
}

/* c.jr, c.mv, c.ebreak, c.jalr, c.add */
static uint32_t expand_moves(uint32_t half)
{
    const uint32_t to = rd(half), from = field(half, 2, 5);

    if (!field(half, 12, 1))
        return from != 0 ? make_r(OP, ADD, to, ZERO, from) : to != 0 ? make_i(JALR, 0, ZERO, to, 0) : 0;
    if (from != 0)
        return make_r(OP, ADD, to, to, from);
    return to != 0 ? make_i(JALR, 0, RA, to, 0) : make_i(SYSTEM, 0, 0, 0, 1);
}

static uint32_t expand_2(uint32_t half, unsigned xlen)
{
    const uint32_t to = rd(half), from = field(half, 2, 5), high = field(half, 12, 1) << 5;
    const uint32_t load_4 = high | field(half, 4, 3) << 2 | field(half, 2, 2) << 6;
    const uint32_t load_8 = high | field(half, 5, 2) << 3 | field(half, 2, 3) << 6;
    const uint32_t store_4 = field(half, 9, 4) << 2 | field(half, 7, 2) << 6;
    const uint32_t store_8 = field(half, 10, 3) << 3 | field(half, 7, 3) << 6;

    switch (half >> 13) {
    case 0: /* c.slli */
        return xlen == 4 && high != 0 ? 0 : make_i(OP_IMM, 1, to, to, (int32_t)(high | from));
    case 1: /* c.fldsp */
        return make_i(LOAD_FP, 3, to, SP, (int32_t)load_8);
    case 2: /* c.lwsp */
        return to != 0 ? make_i(LOAD, 2, to, SP, (int32_t)load_4) : 0;
    case 3: /* c.ldsp; c.flwsp */
        if (xlen == 4)
            return make_i(LOAD_FP, 2, to, SP, (int32_t)load_4);
        return to != 0 ? make_i(LOAD, 3, to, SP, (int32_t)load_8) : 0;
    case 4:
        return expand_moves(half);
    case 5: /* c.fsdsp */
        return make_s(STORE_FP, 3, SP, from, store_8);
    case 6: /* c.swsp */
        return make_s(STORE, 2, SP, from, store_4);
    default: /* c.sdsp; c.fswsp */
        return xlen == 8 ? make_s(STORE, 3, SP, from, store_8) : make_s(STORE_FP, 2, SP, from, store_4);
    }
}

/* The instruction of four bytes that HALF stands for, or 0. */
static uint32_t expand(uint32_t half, unsigned xlen)
{
    switch (half & 3) {
    case 0:
        return expand_0(half, xlen);
    case 1:
        return expand_1(half, xlen);
    default:
        return expand_2(half, xlen);
    }
}

/* ---- What is written ------------------------------------------------------------------------------------------- */

static void forget(struct code_fact *fact, uint8_t reg)
{
    if (reg != ZERO)
        code_forget(fact, reg);
}

static void replace(struct code_fact *fact, uint8_t reg)
{
    if (reg != ZERO)
        code_replace(fact, reg);
}

static void forget_all(struct code_fact *fact)
{
    fact->num = 0;
    code_add(fact, CODE_FORGET, RA, CODE_OTHER_SP, 0, 0);
}

static void number(struct code_fact *fact, const struct instruction *i, uint8_t reg, uint64_t value)
{
    if (reg != ZERO)
        code_add(fact, CODE_NUMBER, reg, 0, 0, i->xlen == 8 ? (int64_t)value : (int32_t)value);
}

/* ---- Data processing ------------------------------------------------------------------------------------------- */

static void immediate(struct code_fact *fact, const struct instruction *i)
{
    const uint8_t to = rd(i->word), from = rs1(i->word);
    const uint32_t function = field(i->word, 12, 3);
    const int32_t imm = imm_i(i->word);

    if (to == ZERO)
        return;
    if (function == 0) { /* addi */
        code_add(fact, CODE_SET, to, 0, read(from), imm);
    } else if (function == 1 && (uint32_t)imm < 8 * i->xlen) { /* slli */
        code_add(fact, CODE_SET, to, 0, read(from), 0);
        code_add(fact, CODE_SHIFT, to, 0, 0, imm);
    } else if (function == 7 && to == SP && imm < 0) { /* andi */
        if (from != SP)
            code_add(fact, CODE_SET, to, 0, read(from), 0);
        code_add(fact, CODE_ALIGN, to, 0, 0, 0);
    } else if (function == 7 && imm >= 0 && from != ZERO) { /* andi */
        code_add(fact, CODE_INDEX, to, 0, from, imm);
    } else if (function == 5 && (uint32_t)imm < 8 * i->xlen && from != ZERO) { /* srli */
        code_add(fact, CODE_INDEX, to, 0, from, -1);
        fact->op[fact->num - 1].from = imm;
    } else {
        code_replace(fact, to);
    }
}

/* Of 32 bits in a register of 64: what they are is the number's, with its sign. */
static void immediate_32(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t function = field(i->word, 12, 3);

    if (rd(i->word) != ZERO && function == 1 && i->word >> 26 == 2 && rs1(i->word) != ZERO) { /* slli.uw */
        code_add(fact, CODE_INDEX, rd(i->word), (uint8_t)field(i->word, 20, 6), rs1(i->word), UINT32_MAX);
    } else if (rd(i->word) != ZERO && function == 0) { /* addiw */
        code_add(fact, CODE_SET, rd(i->word), 0, read(rs1(i->word)), imm_i(i->word));
        code_add(fact, CODE_WORD, rd(i->word), 0, 0, 0);
    } else {
        replace(fact, rd(i->word));
    }
}

static void by_register(struct code_fact *fact, const struct instruction *i)
{
    const uint8_t to = rd(i->word), first = rs1(i->word), second = rs2(i->word);
    const uint32_t function = field(i->word, 25, 7) << 3 | field(i->word, 12, 3);

    if (to == ZERO)
        return;
    switch (function) {
    case ADD:
        if (first == ZERO || second == ZERO)
            code_add(fact, CODE_SET, to, 0, read(first == ZERO ? second : first), 0);
        else
            code_add(fact, CODE_SUM, to, second == SP ? first : second, second == SP ? second : first, 1);
        break;
    case SUB:
        code_add(fact, CODE_SUM, to, read(second), read(first), -1);
        break;
    case 0x82: /* sh1add, sh2add, sh3add */
    case 0x84:
    case 0x86:
        code_scaled(fact, to, read(second), read(first), (function >> 1 & 3) * CODE_ENTRY_SHIFT);
        break;
    default:
        code_replace(fact, to);
        break;
    }
}

/* Of 32 bits: those without their sign are perhaps an index (Zba). */
static void by_register_32(struct code_fact *fact, const struct instruction *i)
{
    const uint8_t to = rd(i->word), first = rs1(i->word), second = rs2(i->word);
    const uint32_t function = field(i->word, 25, 7) << 3 | field(i->word, 12, 3);

    if (to == ZERO)
        return;
    if (function == 0x20 && second == ZERO && first != ZERO) { /* zext.w, an add.uw */
        code_add(fact, CODE_INDEX, to, 0, first, UINT32_MAX);
    } else if ((function == 0x82 || function == 0x84 || function == 0x86) && first != ZERO) { /* sh1add.uw ... */
        code_add(fact, CODE_INDEX, CODE_TARGET, 0, first, UINT32_MAX);
        code_scaled(fact, to, read(second), CODE_TARGET, (function >> 1 & 3) * CODE_ENTRY_SHIFT);
    } else {
        code_replace(fact, to);
    }
}

/* ---- Loads and stores ------------------------------------------------------------------------------------------ */

/* What is shorter than a register may be an entry of a table. */
static void load(struct code_fact *fact, const struct instruction *i)
{
    const uint8_t to = rd(i->word), base = read(rs1(i->word));
    const uint32_t function = field(i->word, 12, 3), size = function & 3;

    if (to == ZERO)
        return;
    if (1u << size == i->xlen && function < 4) {
        code_add(fact, CODE_LOAD, to, to, base, imm_i(i->word));
    } else if (1u << size < i->xlen) {
        code_table(fact, to, 1u << size | (function < 4 ? CODE_ENTRY_SIGNED : 0), base, CODE_NONE, CODE_NONE,
                   imm_i(i->word));
    } else { /* Zilsd: ld of two registers */
        code_replace(fact, to);
        replace(fact, to | 1u);
    }
}

static void store(struct code_fact *fact, const struct instruction *i)
{
    const uint8_t from = rs2(i->word), base = read(rs1(i->word));
    const uint32_t function = field(i->word, 12, 3);

    if (function > 3)
        forget_all(fact);
    else if (1u << function == i->xlen && from != ZERO)
        code_add(fact, CODE_STORE, from, from, base, imm_s(i->word));
    else
        code_overwrite(fact, base, imm_s(i->word), 1u << function);
}

/* Stores of vectors, whose length no instruction says: one element of each field at least, or whole registers, each of
 * which is not shorter than one of the general ones. Under a mask perhaps none; by a register or by a mask's vector
 * elsewhere. */
static void store_vectors(struct code_fact *fact, const struct instruction *i)
{
    enum { UNIT, STRIDED = 2, WHOLE = 8, OF_MASK = 11 };
    const uint32_t width = field(i->word, 12, 3), mode = field(i->word, 26, 2), fields = (i->word >> 29) + 1;
    const uint32_t element = width == 0 ? 1 : 1u << (width - 4), how = mode == UNIT ? rs2(i->word) : UNIT;

    if (!field(i->word, 25, 1) || (mode != UNIT && mode != STRIDED))
        code_write(fact, read(rs1(i->word)), 0, 1);
    else
        code_overwrite(fact, read(rs1(i->word)), 0,
                       how == WHOLE     ? fields * i->xlen
                       : how == OF_MASK ? 1
                                        : fields * element);
}

/* fsh, fsw, fsd, fsq, and those of vectors. */
static void store_floats(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t function = field(i->word, 12, 3);

    if (function >= 1 && function <= 4)
        code_overwrite(fact, read(rs1(i->word)), imm_s(i->word), 1u << function);
    else
        store_vectors(fact, i);
}

/* lr, sc, amoadd and so on; amocas may write two registers. Zalasr: lb.aq and its like, sb.rl and its like. */
static void atomic(struct code_fact *fact, const struct instruction *i)
{
    enum { SWAP = 1, LR = 2, CAS = 5, LOAD_ACQUIRE = 6, STORE_RELEASE = 7 };
    const uint32_t which = field(i->word, 27, 5);

    replace(fact, rd(i->word));
    if (which == CAS)
        forget(fact, rd(i->word) | 1u);
    if (which == SWAP || which == STORE_RELEASE)
        code_overwrite(fact, read(rs1(i->word)), 0, 1u << field(i->word, 12, 3));
    else if (which != LR && which != LOAD_ACQUIRE)
        code_write(fact, read(rs1(i->word)), 0, 16);
}

/* ---- Control and status registers ------------------------------------------------------------------------------ */

/* Where the CPU keeps the interrupted PC (sepc, mepc, mnepc ...), or what an entry may swap with SP (sscratch,
 * mscratch ...); CODE_NONE: another one. */
static uint8_t status_register(uint32_t csr)
{
    const uint32_t level = csr >> 8;

    if (level > 3 && level != 7)
        return CODE_NONE;
    return (csr & 0xff) == 0x41   ? (uint8_t)CODE_PC
           : (csr & 0xff) == 0x40 ? (uint8_t)CODE_OTHER_SP
                                  : (uint8_t)CODE_NONE;
}

/* csrrw, csrrs, csrrc and, by a number, csrrwi, csrrsi, csrrci. */
static void status(struct code_fact *fact, const struct instruction *i)
{
    const uint8_t csr = status_register(i->word >> 20), to = rd(i->word), from = rs1(i->word);
    const uint8_t level = (uint8_t)(i->word >> 28);
    const bool writes = field(i->word, 12, 2) == 1, by_number = field(i->word, 14, 1) != 0;

    if (csr == CODE_NONE) {
        replace(fact, to);
        return;
    }
    fact->mode = level == 1 || level == 3 ? level : CODE_NONE;
    code_add(fact, CODE_SET, CODE_TARGET, 0, csr, 0);
    if (writes && by_number)
        code_add(fact, CODE_NUMBER, csr, 0, 0, from);
    else if (writes)
        code_add(fact, CODE_SET, csr, 0, read(from), 0);
    else if (from != ZERO)
        code_forget(fact, csr);
    if (to != ZERO)
        code_add(fact, CODE_SET, to, 0, CODE_TARGET, 0);
    code_forget(fact, CODE_TARGET);
}

/* Whether the instruction in front of that at PC is WORD. */
static bool is_behind(const struct code_text *text, uint64_t pc, uint32_t word)
{
    return pc - text->start >= 4 && load_number(text->bytes + (pc - 4 - text->start), 4, false) == word;
}

/* Whether WORD of SYSTEM, without operands but addresses, leaves registers and memory as they are: sctrclr, wfi;
 * wrs.nto, wrs.sto; sfence.w.inval, sfence.inval.ir; sfence.vma, sinval.vma, and hfence and hinval of both kinds. */
static bool only_waits(uint32_t word)
{
    const uint32_t which = word >> 25;

    return word == 0x10400073 || word == 0x10500073 || word == 0x00d00073 || word == 0x01d00073 ||
           word == 0x18000073 || word == 0x18100073 ||
           (rd(word) == ZERO &&
            (which == 0x09 || which == 0x0b || which == 0x11 || which == 0x13 || which == 0x31 || which == 0x33));
}

static void system(struct code_fact *fact, const struct code_text *text, const struct instruction *i)
{
    if (field(i->word, 12, 3) == 4) { /* hlv and so on, mop.r.N */
        forget(fact, rd(i->word));
        return;
    }
    if (i->word == 0xc0001073) { /* unimp: csrrw zero, cycle, zero */
        fact->flow = CODE_STOP;
        return;
    }
    if (field(i->word, 12, 3) != 0) {
        status(fact, i);
        return;
    }
    switch (i->word >> 7) {
    case 0: /* ecall: a kernel, or firmware, may change what a callee may */
        fact->odd = true;
        code_add(fact, CODE_FORGET, T0, T0 + 2, 0, 0);
        code_add(fact, CODE_FORGET, A0, A7, 0, 0);
        code_add(fact, CODE_FORGET, T3, T6, 0, 0);
        break;
    case 0x00100000 >> 7: /* ebreak, which goes on in a call of a debugger: behind slli zero, zero, 31 */
        fact->flow = is_behind(text, i->pc, 0x01f01013) ? CODE_NEXT : CODE_STOP;
        forget(fact, fact->flow == CODE_NEXT ? A0 : ZERO);
        break;
    case 0x00200000 >> 7: /* uret, sret, mret, mnret, dret */
    case 0x10200000 >> 7:
    case 0x30200000 >> 7:
    case 0x70200000 >> 7:
    case 0x7b200000 >> 7:
        fact->flow = CODE_RESUME;
        break;
    default:
        if (!only_waits(i->word))
            forget_all(fact);
        break;
    }
}

/* ---- Where the PC goes ----------------------------------------------------------------------------------------- */

/* Goes to what is known, or CODE_TARGET has, and leaves in LINK where it came from. */
static void go(struct code_fact *fact, const struct instruction *i, uint8_t link, bool is_known)
{
    if (link == RA || link == T0) {
        fact->flow = CODE_CALL;
        fact->link = link == RA ? 0 : link;
    } else {
        fact->flow = is_known ? CODE_JUMP : CODE_AWAY;
        number(fact, i, link, i->pc + i->size);
    }
}

/* jalr: behind auipc it goes to a place that is known, if no other way leads to it, which the states say. */
static void jump_to(struct code_fact *fact, const struct code_text *text, const struct instruction *i)
{
    const uint8_t link = rd(i->word), base = rs1(i->word);
    const uint32_t before =
        i->pc - text->start >= 4 ? (uint32_t)load_number(text->bytes + (i->pc - 4 - text->start), 4, false) : 0;

    if (link == ZERO && base == RA && imm_i(i->word) == 0) {
        fact->flow = CODE_RETURN;
        return;
    }
    code_add(fact, CODE_SET, CODE_TARGET, 0, read(base), imm_i(i->word));
    if (base != ZERO && (before & 0x7f) == AUIPC && rd(before) == base) {
        fact->target =
            i->pc - 4 + (uint64_t)(int64_t)(int32_t)(before & 0xfffff000) + (uint64_t)(int64_t)imm_i(i->word);
        fact->target &= i->xlen == 8 ? ~(uint64_t)1 : 0xfffffffe;
        fact->by_register = true;
    }
    go(fact, i, link, fact->target != 0);
}

/* The index of a table is compared with its last entry, or with their number. */
static void branch(struct code_fact *fact, const struct instruction *i)
{
    fact->flow = CODE_BRANCH;
    fact->target = i->pc + (uint64_t)(int64_t)imm_b(i->word);
    if (field(i->word, 13, 2) != 3 || rs1(i->word) == ZERO || rs2(i->word) == ZERO)
        return;
    code_add(fact, CODE_BOUND, rs1(i->word), rs2(i->word), 0, 0);
    fact->compares = true;
    fact->checks =
        CODE_CHECKS | CODE_CHECKS_LESS | (field(i->word, 12, 1) ? 0 : CODE_CHECKS_THERE); /* bgeu, bltu */
}

/* ---- T-Head ---------------------------------------------------------------------------------------------------- */

/* Stores SIZE bytes of register FROM at BASE + K. */
static void store_at(struct code_fact *fact, const struct instruction *i, uint8_t from, uint8_t base, int64_t k,
                     unsigned size)
{
    if (size == i->xlen && from != ZERO)
        code_add(fact, CODE_STORE, from, from, base, k);
    else
        code_overwrite(fact, base, k, size);
}

/* Loads SIZE bytes at BASE + K into register TO. */
static void load_at(struct code_fact *fact, const struct instruction *i, uint8_t to, uint8_t base, int64_t k,
                    unsigned size)
{
    if (size == i->xlen && to != ZERO)
        code_add(fact, CODE_LOAD, to, to, base, k);
    else
        replace(fact, to);
}

/* th.sdd, th.swd, th.ldd, th.lwd, th.lwud: two registers, side by side. */
static void thead_pair(struct code_fact *fact, const struct instruction *i, bool stores)
{
    const uint8_t first = rd(i->word), second = rs2(i->word), base = read(rs1(i->word));
    const unsigned size = field(i->word, 27, 2) == 3 ? 8 : 4;
    const int64_t k = 2 * size * field(i->word, 25, 2);

    if (stores) {
        store_at(fact, i, first, base, k, size);
        store_at(fact, i, second, base, k + size, size);
    } else if (first == base || second == base || first == second) { /* reserved */
        replace(fact, first);
        replace(fact, second);
    } else {
        load_at(fact, i, first, base, k, size);
        load_at(fact, i, second, base, k + size, size);
    }
}

/* th.sdia, th.sdib, th.ldia and so on: the base moves after (ia) or before (ib) the access. */
static void thead_moving(struct code_fact *fact, const struct instruction *i, bool stores, unsigned size)
{
    const uint8_t reg = rd(i->word), base = rs1(i->word);
    const int64_t by = (int64_t)sign(field(i->word, 20, 5), 5) * (1 << field(i->word, 25, 2));
    const bool after = field(i->word, 28, 1) != 0;

    if (base == ZERO || reg == base) { /* reserved, but for stores of another register */
        if (stores)
            code_write(fact, read(base), after ? 0 : by, size);
        replace(fact, base);
        return;
    }
    if (!after)
        code_add(fact, CODE_SET, base, 0, base, by);
    if (stores)
        store_at(fact, i, reg, base, 0, size);
    else
        load_at(fact, i, reg, base, 0, size);
    if (after)
        code_add(fact, CODE_SET, base, 0, base, by);
}

/* CODE_TARGET = the address of th.srd, th.surd, th.fsrd, th.lrd and so on: of the index, as it is or its lowest 32
 * bits. */
static void thead_address(struct code_fact *fact, const struct instruction *i)
{
    const uint8_t base = read(rs1(i->word)), index = read(rs2(i->word));
    const unsigned how = field(i->word, 25, 2) * CODE_ENTRY_SHIFT;

    if (field(i->word, 28, 1)) {
        code_add(fact, CODE_INDEX, CODE_TARGET, 0, index, UINT32_MAX);
        code_scaled(fact, CODE_TARGET, base, CODE_TARGET, how);
    } else {
        code_scaled(fact, CODE_TARGET, base, index, how);
    }
}

/* th.lrd, th.lurd and so on: what they load may be an entry of a table, whose number is in the index. */
static void thead_entry(struct code_fact *fact, const struct instruction *i, unsigned size)
{
    const uint8_t to = rd(i->word), base = read(rs1(i->word)), index = read(rs2(i->word));
    const bool extends = field(i->word, 28, 1) != 0;

    if (to == ZERO)
        return;
    if (1u << field(i->word, 25, 2) != size) {
        code_replace(fact, to);
        return;
    }
    if (extends)
        code_add(fact, CODE_INDEX, CODE_TARGET, 0, index, UINT32_MAX);
    code_table(fact, to, size | (field(i->word, 31, 1) == 0 && size < 8 ? CODE_ENTRY_SIGNED : 0), base, base,
               extends ? (uint8_t)CODE_TARGET : index, 0);
    if (extends)
        code_forget(fact, CODE_TARGET);
}

/* Loads and stores: with functions 4 and 5 of general registers, with 6 and 7 of those of floating point. */
static void thead_memory(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t function = field(i->word, 12, 3), which = i->word >> 27;
    const bool stores = (function & 1) != 0;
    const unsigned size = 1u << (which >> 2 & 3);

    if (function < 6 && which >> 2 == 7) {
        thead_pair(fact, i, stores);
    } else if (function < 6 && (which & 1) != 0) {
        thead_moving(fact, i, stores, size);
    } else if (stores) {
        thead_address(fact, i);
        store_at(fact, i, function == 5 ? rd(i->word) : ZERO, CODE_TARGET, 0, size);
        code_forget(fact, CODE_TARGET);
    } else if (function < 6) {
        thead_entry(fact, i, size);
    }
}

/* th.addsl, th.mveqz, th.mvnez; th.fmv.hw.x writes a register of floating point; th.ext, th.extu, of which that of the
 * lowest bits may be an index; what waits and cleans caches; th.ipush and th.ipop save what an interrupt may change. */
static void thead(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t function = field(i->word, 12, 3), which = field(i->word, 25, 7);
    const uint8_t to = rd(i->word), first = rs1(i->word);

    if (function > 3)
        thead_memory(fact, i);
    else if (function == 0 && (i->word == 0x0040000b || i->word == 0x0050000b))
        forget_all(fact);
    else if (function == 0 || to == ZERO)
        return;
    else if (function == 1 && which < 4)
        code_scaled(fact, to, read(first), read(rs2(i->word)), which * CODE_ENTRY_SHIFT);
    else if (function == 1 && (which == 0x20 || which == 0x21))
        forget(fact, to);
    else if (function == 3 && field(i->word, 20, 6) == 0 && i->word >> 26 < 63 && first != ZERO)
        code_add(fact, CODE_INDEX, to, 0, first, (int64_t)((UINT64_C(2) << (i->word >> 26)) - 1));
    else if (function != 1 || which != 0x50)
        replace(fact, to);
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

/* Those of floating point, vectors and caches, and what nobody knows. */
static void decode_rest(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t function = field(i->word, 12, 3), funct5 = i->word >> 27;

    switch (i->word & 0x7f) {
    case OP_FP:
        if (funct5 == COMPARES || funct5 == CONVERTS || funct5 == MOVES)
            replace(fact, rd(i->word));
        break;
    case OP_V: /* vsetvl and so on; vmv.x.s, vcpop, vfirst */
        if (function == 7 || (function == 2 && i->word >> 26 == 0x10))
            replace(fact, rd(i->word));
        break;
    case MISC_MEM: /* fence; cbo.zero */
        if (function == 2 && i->word >> 20 == 4) {
            code_overwrite(fact, read(rs1(i->word)), 0, 1);
            code_write(fact, read(rs1(i->word)), -64, 64);
            code_write(fact, read(rs1(i->word)), 1, 63);
        } else if (function > 2) {
            forget_all(fact);
        }
        break;
    case CUSTOM_0:
        if (i->thead)
            thead(fact, i);
        else
            forget_all(fact);
        break;
    case LOAD_FP:
    case 0x43: /* fmadd, fmsub, fnmsub, fnmadd */
    case 0x47:
    case 0x4b:
    case 0x4f:
    case 0x77: /* of vectors alone */
        break;
    default:
        forget_all(fact);
        break;
    }
}

/* Those of memory, and of the machine itself. */
static void decode_access(struct code_fact *fact, const struct code_text *text, const struct instruction *i)
{
    switch (i->word & 0x7f) {
    case LOAD:
        load(fact, i);
        break;
    case STORE:
        store(fact, i);
        break;
    case STORE_FP:
        store_floats(fact, i);
        break;
    case AMO:
        atomic(fact, i);
        break;
    case SYSTEM:
        system(fact, text, i);
        break;
    default:
        decode_rest(fact, i);
        break;
    }
}

static void decode_word(struct code_fact *fact, const struct code_text *text, const struct instruction *i)
{
    const uint32_t upper = i->word & 0xfffff000;

    switch (i->word & 0x7f) {
    case OP_IMM:
        immediate(fact, i);
        break;
    case OP_IMM_32:
        immediate_32(fact, i);
        break;
    case OP:
        by_register(fact, i);
        break;
    case OP_32:
        by_register_32(fact, i);
        break;
    case LUI:
        number(fact, i, rd(i->word), (uint64_t)(int64_t)(int32_t)upper);
        break;
    case AUIPC:
        number(fact, i, rd(i->word), i->pc + (uint64_t)(int64_t)(int32_t)upper);
        break;
    case BRANCH:
        branch(fact, i);
        break;
    case JAL:
        fact->target = i->pc + (uint64_t)(int64_t)imm_j(i->word);
        go(fact, i, rd(i->word), true);
        break;
    case JALR:
        jump_to(fact, text, i);
        break;
    default:
        decode_access(fact, text, i);
        break;
    }
    if (i->xlen == 4)
        fact->target &= 0xffffffff;
}

/* The lowest bits of an instruction say how long it is; 0: nobody has laid that down. */
static unsigned size_of(uint32_t half)
{
    return (half & 3) != 3         ? 2
           : (half & 0x1f) != 0x1f ? 4
           : (half & 0x3f) == 0x1f ? 6
           : (half & 0x7f) == 0x3f ? 8
                                   : 0;
}

/* Whether c.fsdsp of HALF is something else without floating point of 64 bits. */
static bool may_be_zcmp(uint32_t half)
{
    const uint32_t which = field(half, 10, 3);

    return (half & 0xe003) == 0xa002 && (which == 0 || which == 3 || which >= 6);
}

/* ---- Zcmp ------------------------------------------------------------------------------------------------------ */

/* s0 to s7 by the three bits that name them. */
static uint8_t saved_register(uint32_t number)
{
    return (uint8_t)(number < 2 ? FP + number : S2 - 2 + number);
}

/* Saves or restores RA and S registers, LAST of these: 0 to 10, and 12. They lie below TOP, the last one highest. */
static void add_saved(struct code_fact *fact, enum code_do what, const struct instruction *i, uint32_t last,
                      int64_t top)
{
    const int64_t word = i->xlen;
    const uint32_t upper = last > 2 ? last - 2 : 0, lower = last < 2 ? last : 2;

    if (upper > 0)
        code_add(fact, what, S2, (uint8_t)(S2 + upper - 1), SP, top - upper * word);
    if (lower > 0)
        code_add(fact, what, FP, (uint8_t)(FP + lower - 1), SP, top - (upper + lower) * word);
    code_add(fact, what, RA, RA, SP, top - (upper + lower + 1) * word);
}

/* cm.push, cm.pop, cm.popretz, cm.popret: the stack is moved by a multiple of 16 that has room for the registers, and
 * by up to 48 bytes more. */
static void push_or_pop(struct code_fact *fact, const struct instruction *i, uint32_t half)
{
    const uint32_t list = field(half, 4, 4), last = list == 15 ? 12 : list - 4;
    const int64_t room = ((last + 1) * i->xlen + 15) / 16 * 16 + 16 * field(half, 2, 2);

    if (list < 4) { /* reserved */
        fact->size = 0;
        return;
    }
    if (field(half, 9, 2) == 0) {
        add_saved(fact, CODE_STORE, i, last, 0);
        code_add(fact, CODE_SET, SP, 0, SP, -room);
        return;
    }
    add_saved(fact, CODE_LOAD, i, last, room);
    code_add(fact, CODE_SET, SP, 0, SP, room);
    if (field(half, 9, 2) == 2)
        number(fact, i, A0, 0);
    if (field(half, 9, 2) >= 2)
        fact->flow = CODE_RETURN;
}

/* cm.mvsa01, cm.mva01s; and cm.jt, cm.jalt, which go to an entry of a table that a register names. */
static void decode_zcmp(struct code_fact *fact, const struct instruction *i, uint32_t half)
{
    const uint8_t first = saved_register(field(half, 7, 3)), second = saved_register(field(half, 2, 3));

    if (field(half, 10, 3) == 0) {
        go(fact, i, field(half, 2, 8) < 32 ? ZERO : RA, false);
        code_forget(fact, CODE_TARGET);
    } else if (field(half, 11, 2) == 3 && field(half, 8, 1) == 0) {
        push_or_pop(fact, i, half);
    } else if (field(half, 10, 3) == 3 && field(half, 5, 2) == 1) {
        code_add(fact, CODE_SET, first, 0, A0, 0);
        code_add(fact, CODE_SET, second, 0, A0 + 1, 0);
    } else if (field(half, 10, 3) == 3 && field(half, 5, 2) == 3) {
        code_add(fact, CODE_SET, A0, 0, first, 0);
        code_add(fact, CODE_SET, A0 + 1, 0, second, 0);
    } else {
        fact->size = 0;
    }
}

/* ---- One instruction ------------------------------------------------------------------------------------------- */

static void decode(const struct code_text *text, uint64_t pc, struct code_fact *fact, unsigned xlen, bool zcmp,
                   bool is_thead)
{
    const uint8_t *p = text->bytes + (pc - text->start);
    const uint32_t half = text->end - pc >= 2 ? (uint32_t)load_number(p, 2, false) : 0xffff;
    const unsigned size = size_of(half);
    struct instruction i = {0, pc, xlen, size, is_thead};

    memset(fact, 0, sizeof *fact);
    fact->flow = CODE_STOP;
    if (size == 0 || text->end - pc < size)
        return;
    fact->size = (uint8_t)size;
    if (half == 0) /* c.unimp */
        return;
    if (xlen == 4 && !zcmp && may_be_zcmp(half)) {
        fact->size = 0;
        return;
    }
    fact->flow = CODE_NEXT;
    if (zcmp && (half & 0xe003) == 0xa002) {
        decode_zcmp(fact, &i, half);
        return;
    }
    if (size > 4) {
        forget_all(fact);
        return;
    }
    i.word = size == 4 ? (uint32_t)load_number(p, 4, false) : expand(half, xlen);
    if (i.word == 0)
        forget_all(fact);
    else
        decode_word(fact, text, &i);
}

/* The decoder is the image if custom-0 is T-Head's there. */
static void *open_image(struct image *image)
{
    return image != NULL && image->thead ? image : NULL;
}

static void decode_64(void *decoder, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    decode(text, pc, fact, 8, false, decoder != NULL);
}

static void decode_32(void *decoder, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    decode(text, pc, fact, 4, false, decoder != NULL);
}

static void decode_64_zcmp(void *decoder, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    decode(text, pc, fact, 8, true, decoder != NULL);
}

static void decode_32_zcmp(void *decoder, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    decode(text, pc, fact, 4, true, decoder != NULL);
}

/* A callee may change RA, t0 to t6 and a0 to a7; another trap, the scratch register.
 * clang keeps the pointer of its shadow call stack in s2 up to version 16, then in gp. */
#define CHANGED (1ull << RA | 7ull << T0 | 0xffull << A0 | 15ull << T3 | 1ull << CODE_OTHER_SP)
#define IDLE    (3ull << T0 | 15ull << T3)

#define NO_PC "the interrupted PC is in sepc or mepc alone, which no row can name"

const struct code_cpu code_riscv64 = {
    CHANGED,    IDLE, SP, FP,    RA,    S2, 0,    0, true, 2,     0,  decode_64,
    open_image, NULL, 8,  4 | 8, NO_PC, 0,  NULL, 0, true, false, GP, NULL,
};

const struct code_cpu code_riscv32 = {
    CHANGED,    IDLE, SP, FP, RA,    S2, 0,    0, true, 2,     0,  decode_32,
    open_image, NULL, 4,  4,  NO_PC, 0,  NULL, 0, true, false, GP, NULL,
};

const struct code_cpu code_riscv64_zcmp = {
    CHANGED,    IDLE, SP, FP,    RA,    S2, 0,    0, true, 2,     0,  decode_64_zcmp,
    open_image, NULL, 8,  4 | 8, NO_PC, 0,  NULL, 0, true, false, GP, NULL,
};

const struct code_cpu code_riscv32_zcmp = {
    CHANGED,    IDLE, SP, FP, RA,    S2, 0,    0, true, 2,     0,  decode_32_zcmp,
    open_image, NULL, 4,  4,  NO_PC, 0,  NULL, 0, true, false, GP, NULL,
};

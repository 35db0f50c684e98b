/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * aarch64: every instruction has four bytes, and the registers that it can write stand in four fields of it. So the
 * meaning of those that move SP, FP and RA is here, and of all others where those fields count. Encodings are those of
 * the "Arm Architecture Reference Manual", section C4.1.
 */
#include "fact.h"

#include <string.h>

enum { X16 = 16, X17 = 17, X18 = 18, X29 = 29, X30 = 30, SP = 31 };

/* A register that no store knows: memory that counts from it may be anywhere. */
enum { ANYWHERE = CODE_TARGET };

static unsigned field(uint32_t word, unsigned low, unsigned size)
{
    return word >> low & ((1u << size) - 1);
}

/* The same as a signed number. */
static int64_t offset_of(uint32_t word, unsigned low, unsigned size)
{
    int64_t value = field(word, low, size);

    return value - (field(word, low + size - 1, 1) != 0 ? (int64_t)1 << size : 0);
}

static uint8_t rd(uint32_t word)
{
    return (uint8_t)(word & 31);
}

static uint8_t rn(uint32_t word)
{
    return (uint8_t)(word >> 5 & 31);
}

/* REG, where 31 is the register that is always zero. */
static void forget(struct code_fact *fact, unsigned reg)
{
    if (reg != SP)
        code_forget(fact, (uint8_t)reg);
}

/* The same where REG is written for sure: not what stands where other encodings have a register. */
static void replace(struct code_fact *fact, unsigned reg)
{
    if (reg != SP)
        code_replace(fact, (uint8_t)reg);
}

/* ---- Data processing (C4.1.92, C4.1.95) ------------------------------------------------------------------------ */

/* adr, adrp */
static void address(uint32_t word, uint64_t pc, struct code_fact *fact)
{
    const bool paged = word >> 31 != 0;
    const int64_t distance = offset_of(word, 5, 19) * 4 + (int64_t)field(word, 29, 2);
    const uint64_t base = paged ? pc & ~(uint64_t)0xfff : pc;

    if (rd(word) != SP)
        code_add(fact, CODE_NUMBER, rd(word), 0, 0, (int64_t)(base + (uint64_t)(distance * (paged ? 4096 : 1))));
}

/* add, sub: 31 is SP. With flags, adds, subs and cmp: 31 is none. */
static void add_immediate(uint32_t word, struct code_fact *fact)
{
    const int64_t imm = (int64_t)field(word, 10, 12) << ((word & 1u << 22) != 0 ? 12 : 0);
    const bool wide = word >> 31 != 0, subtracts = (word & 1u << 30) != 0, flags = (word & 1u << 29) != 0;

    if (flags) {
        if (subtracts && rn(word) != SP)
            code_add(fact, CODE_BOUND, rn(word), CODE_NONE, 0, imm);
        replace(fact, rd(word));
    } else if (wide) {
        code_add(fact, CODE_SET, rd(word), 0, rn(word), subtracts ? -imm : imm);
    } else {
        code_replace(fact, rd(word));
    }
}

/* and, orr, eor, of which 31 may be SP; ands and tst, of which it is none. */
static void logical_immediate(uint32_t word, struct code_fact *fact)
{
    const bool wide = word >> 31 != 0;
    const unsigned which = field(word, 29, 2);
    /* N and immr are 0, so is the highest bit of imms: that many ones, + 1, at the lower end of 32 bits */
    const bool is_low = field(word, 16, 7) == 0 && field(word, 15, 1) == 0 && !wide;
    const int64_t lowest = is_low ? (int64_t)(((uint64_t)1 << (field(word, 10, 5) + 1)) - 1) : 0;

    if (which == 0 && wide && rd(word) == SP) { /* and sp, xN, #mask */
        if (rn(word) != SP)
            code_add(fact, CODE_SET, SP, 0, rn(word), 0);
        code_add(fact, CODE_ALIGN, SP, 0, 0, 0);
    } else if (which == 3) {
        replace(fact, rd(word));
    } else if (which == 0 && lowest != 0 && rd(word) != SP && rn(word) != SP) {
        code_add(fact, CODE_INDEX, rd(word), 0, rn(word), lowest);
    } else {
        code_replace(fact, rd(word));
    }
}

/* ubfm: uxtb, uxth, lsl, ubfiz, of which the lower bits of a register are left. sxtw: a word with its sign. */
static void bit_field(uint32_t word, struct code_fact *fact)
{
    const bool wide = word >> 31 != 0;
    const unsigned which = field(word, 29, 2), bits = wide ? 64 : 32, immr = field(word, 16, 6),
                   imms = field(word, 10, 6);

    if (rd(word) == SP)
        return;
    if (which == 0 && imms == 31 && immr == 0 && wide && rn(word) != SP) { /* sxtw */
        code_add(fact, CODE_INDEX, rd(word), 0, rn(word), UINT32_MAX);
    } else if (which == 2 && rn(word) != SP && immr < bits && imms < bits && (immr == 0 || imms < immr)) {
        code_add(fact, CODE_INDEX, rd(word), (uint8_t)(immr == 0 ? 0 : bits - immr), rn(word),
                 imms == 63 ? -1 : (int64_t)(((uint64_t)1 << (imms + 1)) - 1));
    } else {
        code_replace(fact, rd(word));
    }
}

/* movn, movz, movk: 31 is none. movz clears the upper half of a register in its form of 32 bits, too. */
static void move_wide(uint32_t word, struct code_fact *fact)
{
    const bool wide = word >> 31 != 0;
    const unsigned which = field(word, 29, 2), shift = 16 * field(word, 21, 2);
    const uint64_t imm = (uint64_t)field(word, 5, 16) << shift;

    if (rd(word) != SP && which == 2)
        code_add(fact, CODE_NUMBER, rd(word), 0, 0, (int64_t)imm);
    else if (rd(word) != SP && which == 3 && wide)
        code_add(fact, CODE_INSERT, rd(word), (uint8_t)shift, 0, field(word, 5, 16));
    else if (rd(word) != SP && which == 0 && wide)
        code_add(fact, CODE_NUMBER, rd(word), 0, 0, (int64_t)~imm);
    else
        replace(fact, rd(word));
}

static void immediate(uint32_t word, uint64_t pc, struct code_fact *fact)
{
    switch (field(word, 23, 3)) {
    case 0:
    case 1:
        address(word, pc, fact);
        break;
    case 2:
        add_immediate(word, fact);
        break;
    case 3: /* with tags: 31 is SP */
        code_replace(fact, rd(word));
        break;
    case 4:
        logical_immediate(word, fact);
        break;
    case 5:
        move_wide(word, fact);
        break;
    case 6:
        bit_field(word, fact);
        break;
    default: /* extr: 31 is none */
        replace(fact, rd(word));
        break;
    }
}

/* Whether an operand is extended with its sign, by OPTION. */
static unsigned extended(unsigned option)
{
    return option & 4 ? CODE_ENTRY_SIGNED : 0;
}

/* What clang hardens code with against loads on ways that are none: x16 is all ones if the CPU is on a way, else 0, and
 * registers are masked with it. csetm x16, ne; csel x16, x16, xzr, COND; and xN, xM, x16. */
static bool mask(uint32_t word, struct code_fact *fact)
{
    if (word == 0xda9f03f0)
        code_add(fact, CODE_ONES, X16, 0, 0, 0);
    else if ((word & 0xffff0fff) == 0x9a9f0210)
        code_add(fact, CODE_MASK, X16, X16, X16, 0);
    else if ((word & 0xfffffc00) == 0x8a100000 && rd(word) != SP && rn(word) != SP)
        code_add(fact, CODE_MASK, rd(word), X16, rn(word), 0);
    else
        return false;
    return true;
}

/* mov, cmp. Returns whether it is one. */
static bool moves(uint32_t word, struct code_fact *fact)
{
    const uint8_t rm = (uint8_t)field(word, 16, 5);

    if ((word & 0xffe0ffe0) == 0xaa0003e0 && rd(word) != SP && rm != SP) /* mov, an orr with 31 */
        code_add(fact, CODE_SET, rd(word), 0, rm, 0);
    else if ((word & 0x7fe0ffe0) == 0x2a0003e0 && rm == SP && rd(word) != SP)
        code_add(fact, CODE_NUMBER, rd(word), 0, 0, 0);
    else if ((word & 0xffe0ffe0) == 0x2a0003e0 && rd(word) != SP) /* mov of 32 bits */
        code_add(fact, CODE_INDEX, rd(word), 0, rm, UINT32_MAX);
    else if ((word & 0x7fe0fc1f) == 0x6b00001f && rn(word) != SP && rm != SP) /* cmp */
        code_add(fact, CODE_BOUND, rn(word), rm, 0, 0);
    else
        return false;
    return true;
}

/* add and sub of 64 bits, whose sum is followed. Returns whether it is one. */
static bool adds(uint32_t word, struct code_fact *fact)
{
    const uint8_t rm = (uint8_t)field(word, 16, 5);
    const bool none_is_sp = rd(word) != SP && rn(word) != SP && rm != SP;

    if ((word & 0xbfe0fc00) == 0x8b206000 && rm != SP) /* extended: 31 is SP */
        code_add(fact, CODE_SUM, rd(word), rm, rn(word), (word & 1u << 30) != 0 ? -1 : 1);
    else if ((word & 0xbfe0fc00) == 0x8b000000 && none_is_sp)
        code_add(fact, CODE_SUM, rd(word), rm, rn(word), (word & 1u << 30) != 0 ? -1 : 1);
    else if ((word & 0xffe00000) == 0x8b200000 && none_is_sp)
        code_scaled(fact, rd(word), rn(word), rm,
                    extended(field(word, 13, 3)) | field(word, 10, 2) * CODE_ENTRY_SHIFT);
    else if ((word & 0xffe00000) == 0x8b000000 && field(word, 10, 6) < 4 && none_is_sp)
        code_scaled(fact, rd(word), rn(word), rm, field(word, 10, 2) * CODE_ENTRY_SHIFT);
    else
        return false;
    return true;
}

/* Signs an address, or takes its signature away. Returns whether it does. */
static bool signs(uint32_t word, struct code_fact *fact)
{
    if ((word & 0xfffffbe0) == 0xdac103e0 && rn(word) == SP) /* pacia, pacib xN, sp */
        code_add(fact, CODE_SIGN, rd(word), 0, 0, 0);
    else if ((word & 0xfffffbe0) == 0xdac113e0 && rn(word) == SP) /* autia, autib xN, sp */
        code_add(fact, CODE_AUTH, rd(word), 0, 0, 0);
    else if ((word & 0xffff0000) == 0xdac10000) /* with another signature, or without: the same address */
        forget(fact, rd(word));
    else
        return false;
    return true;
}

static void by_register(uint32_t word, struct code_fact *fact)
{
    if (mask(word, fact) || moves(word, fact) || adds(word, fact) || signs(word, fact))
        return;
    if ((word & 0x3fe00000) == 0x0b200000 || (word & 0x7fe0fc00) == 0x1ac01000) /* extended; irg */
        code_forget(fact, rd(word));
    else if ((word & 0x1fe0fc00) == 0x1a000000 || (word & 0x1fe00000) == 0x1a800000 || field(word, 24, 1) == 1 ||
             field(word, 28, 1) == 0 ||
             (word & 0x1fe00000) == 0x1ac00000) /* adc, csel; adds; logic; of one, of two */
        replace(fact, rd(word));
    else if ((word & 0x1fe00000) != 0x1a400000) /* ccmp has flags there */
        forget(fact, rd(word));
}

/* Registers of floating point and vectors are not followed. What moves one to a register of the other kind is. */
static void vector(uint32_t word, struct code_fact *fact)
{
    if ((word & 0x5f20fc00) == 0x1e200000 || (word & 0x5f200000) == 0x1e000000 || (word & 0xbfe08400) == 0x0e000400)
        forget(fact, rd(word));
}

/* SVE and SME: stores of a vector, of which there are 16 bytes at least, or of a predicate, 2 bytes. Those at a number
 * of vectors or at a register from Rn are at a place that is not known. */
static void store_scalable(uint32_t word, struct code_fact *fact)
{
    const bool vector = (word & 0xffc0e000) == 0xe5804000, predicate = (word & 0xffc0e000) == 0xe5800000;

    if (vector || predicate ? field(word, 16, 6) == 0 && field(word, 10, 3) == 0
                            : field(word, 13, 3) == 7 && field(word, 16, 4) == 0)
        code_write(fact, rn(word), 0, predicate ? 2 : 16);
    else if (word >> 25 == 0x70 && (field(word, 16, 5) == 31 || (word & 0xffff9c1f) == 0xe1200000)) /* of ZA */
        code_write(fact, rn(word), 0, 16);
    else
        code_write(fact, ANYWHERE, 0, 16);
    if (vector || predicate)
        code_replace_bytes(fact);
}

/* SVE and SME (C4.1.36): a register that counts stands where a vector does. */
static void scalable(uint32_t word, struct code_fact *fact)
{
    if (word >> 25 == 0x72 || (word >> 25 == 0x70 && field(word, 21, 1)))
        store_scalable(word, fact);
    if ((word & 0xffa0f000) == 0x04205000) /* addvl, addpl and their like: 31 is SP */
        code_forget(fact, rd(word));
    else
        forget(fact, rd(word));
}

/* ---- Branches (C4.1.93) ---------------------------------------------------------------------------------------- */

/* Hints that sign and authenticate x30 with SP or zero, and with x16: d50320XX. */
static void hint(uint32_t word, struct code_fact *fact)
{
    switch (field(word, 5, 7)) {
    case 0x18: /* paciaz, paciasp, pacibz, pacibsp */
    case 0x19:
    case 0x1a:
    case 0x1b:
        code_add(fact, CODE_SIGN, X30, 0, 0, 0);
        break;
    case 0x1c: /* autiaz, autiasp, autibz, autibsp */
    case 0x1d:
    case 0x1e:
    case 0x1f:
        code_add(fact, CODE_AUTH, X30, 0, 0, 0);
        break;
    case 0x07: /* xpaclri */
        code_forget(fact, X30);
        break;
    case 0x08: /* pacia1716, pacib1716, autia1716, autib1716 */
    case 0x0a:
    case 0x0c:
    case 0x0e:
        code_forget(fact, X17);
        break;
    default:
        break;
    }
}

/* dc zva, gva, gzva, stzgm: a block around the address in REG, of 64 bytes on most CPUs, and of up to 2,048. */
static void zero_block(struct code_fact *fact, uint8_t reg)
{
    code_overwrite(fact, reg, 0, 1);
    code_write(fact, reg, -63, 63);
    code_write(fact, reg, 1, 63);
    code_write(fact, ANYWHERE, 0, 64);
}

static void system_word(uint32_t word, struct code_fact *fact)
{
    if ((word & 0xfffff01f) == 0xd503201f)
        hint(word, fact);
    else if ((word & 0xfffff0ff) == 0xd50040bf || (word & 0xffffffe0) == 0xd5184200) /* msr SPSel: another SP */
        code_replace(fact, SP);
    else if ((word & 0xfff8ffe0) == 0xd5384020 && rd(word) != SP) /* mrs xN, elr_el1 to elr_el3 */
        code_add(fact, CODE_SET, rd(word), 0, CODE_PC, 0);
    else if ((word & 0xffffffe0) == 0xd5384100 && rd(word) != SP) /* mrs xN, sp_el0 */
        code_add(fact, CODE_SET, rd(word), 0, CODE_OTHER_SP, 0);
    else if ((word & 0xffffffe0) == 0xd5184100) /* msr sp_el0, xN */
        code_add(fact, CODE_SET, CODE_OTHER_SP, 0, rd(word), 0);
    else if ((word & 0xfff8ffe0) == 0xd5184020) /* msr elr_el1, xN */
        code_add(fact, CODE_SET, CODE_PC, 0, rd(word), 0);
    else if ((word & 0xffffffa0) == 0xd50b7420 || (word & 0xffffffe0) == 0xd50b7480)
        zero_block(fact, rd(word) == SP ? (uint8_t)CODE_ZERO : rd(word));
    else if (word & 1u << 21) /* mrs, sysl */
        replace(fact, rd(word));
}

static void branch_by_register(uint32_t word, struct code_fact *fact)
{
    switch (field(word, 21, 4)) {
    case 0: /* br */
    case 8: /* braa, brab */
        fact->flow = CODE_AWAY;
        if (rn(word) != SP)
            code_add(fact, CODE_SET, CODE_TARGET, 0, rn(word), 0);
        break;
    case 1: /* blr */
    case 9:
        fact->flow = CODE_CALL;
        if (rn(word) != SP)
            code_add(fact, CODE_SET, CODE_TARGET, 0, rn(word), 0);
        break;
    case 2: /* ret, retaa, retab */
        fact->flow = CODE_RETURN;
        break;
    case 4: /* eret */
        fact->flow = CODE_RESUME;
        break;
    default:
        fact->flow = CODE_STOP;
        break;
    }
}

/* What a branch on CONDITION says of a comparison of numbers without a sign. */
static uint8_t checks(unsigned condition)
{
    switch (condition) {
    case 2: /* cs */
        return CODE_CHECKS | CODE_CHECKS_LESS;
    case 3: /* cc */
        return CODE_CHECKS | CODE_CHECKS_LESS | CODE_CHECKS_THERE;
    case 8: /* hi */
        return CODE_CHECKS;
    case 9: /* ls */
        return CODE_CHECKS | CODE_CHECKS_THERE;
    default:
        return 0;
    }
}

static void branch(uint32_t word, uint64_t pc, struct code_fact *fact)
{
    unsigned top = word >> 24;

    if ((top & 0x7c) == 0x14) { /* b, bl */
        fact->flow = word >> 31 != 0 ? CODE_CALL : CODE_JUMP;
        fact->target = pc + (uint64_t)(offset_of(word, 0, 26) * 4);
    } else if (top == 0x54 || (top & 0x7e) == 0x34) { /* b.cond, bc.cond; cbz, cbnz */
        fact->flow = CODE_BRANCH;
        fact->target = pc + (uint64_t)(offset_of(word, 5, 19) * 4);
        fact->checks = top == 0x54 ? checks(word & 15) : 0;
    } else if ((top & 0x7e) == 0x36) { /* tbz, tbnz */
        fact->flow = CODE_BRANCH;
        fact->target = pc + (uint64_t)(offset_of(word, 5, 14) * 4);
    } else if (top == 0xd4) { /* svc, hvc, smc; brk, hlt and what leaves */
        /* brk #0 and #0xf000, breakpoints, and hlt #0xf000, a call of a debugger: nothing comes behind them at the end
         * of a function */
        fact->odd = word == 0xd4200000 || word == 0xd43e0000 || word == 0xd45e0000;
        fact->flow = (field(word, 21, 3) == 0 && (word & 3) != 0) || fact->odd ? CODE_NEXT : CODE_STOP;
        code_add(fact, CODE_FORGET, 0, X17, 0, 0);
    } else if (top == 0xd5) {
        system_word(word, fact);
    } else if ((top & 0xfe) == 0xd6) {
        branch_by_register(word, fact);
    } else {
        fact->size = 0;
    }
}

/* ---- Loads and stores (C4.1.94) -------------------------------------------------------------------------------- */

/* An access of BYTES at K from Rn, of REG if it is a whole register of the general ones, else CODE_NONE. */
static void access(struct code_fact *fact, uint32_t word, bool loads, uint8_t reg, int64_t k, uint8_t bytes)
{
    if (reg == SP) /* zero */
        reg = CODE_NONE;
    if (loads && reg != CODE_NONE)
        code_add(fact, CODE_LOAD, reg, reg, rn(word), k);
    else if (!loads && reg != CODE_NONE)
        code_add(fact, CODE_STORE, reg, reg, rn(word), k);
    else if (!loads)
        code_overwrite(fact, rn(word), k, bytes);
}

/* Writes the address back: MODE 1 behind the access, 3 in front of it, as encodings have it. A register that is loaded,
 * too, is "CONSTRAINED UNPREDICTABLE". */
static void update(struct code_fact *fact, uint32_t word, unsigned mode, int64_t k, bool is_loaded)
{
    if (mode & 1 && is_loaded && rn(word) != SP)
        code_forget(fact, rn(word));
    else if (mode & 1)
        code_add(fact, CODE_SET, rn(word), 0, rn(word), k);
}

static void pair(uint32_t word, struct code_fact *fact)
{
    unsigned opc = word >> 30 == 3 ? 2 : word >> 30, mode = field(word, 23, 2); /* 3: ldtp, sttp of all bits */
    bool loads = word & 1u << 22, is_vector = word & 1u << 26;
    bool tags = opc == 1 && !is_vector && !loads, whole = (opc == 2 || tags) && !is_vector; /* tags: stgp */
    unsigned shift = is_vector ? 2 + opc : tags ? 4 : opc == 2 ? 3 : 2;
    uint8_t first = whole ? rd(word) : CODE_NONE, second = whole ? (uint8_t)field(word, 10, 5) : CODE_NONE;
    uint8_t bytes = (uint8_t)(tags ? 8 : 1u << shift);
    int64_t k = offset_of(word, 15, 7) * (1 << shift), at = mode == 1 ? 0 : k;

    if (loads && !is_vector &&
        (!whole || first == second)) { /* the same register twice: "CONSTRAINED UNPREDICTABLE" */
        replace(fact, rd(word));
        replace(fact, field(word, 10, 5));
    } else if (loads && first == rn(word)) {
        replace(fact, first);
        access(fact, word, true, second, at + 8, 8);
    } else {
        access(fact, word, loads, first, at, bytes);
        access(fact, word, loads, second, at + bytes, bytes);
    }
    update(fact, word, mode, k, loads && !is_vector && (rd(word) == rn(word) || field(word, 10, 5) == rn(word)));
}

/* st64b; st64bv, st64bv0, which may fail, and say so in a register; ld64b, which loads eight. Returns false if WORD is
 * none of them. */
static bool access_block(uint32_t word, struct code_fact *fact)
{
    if ((word & 0xfffffc00) == 0xf83f9000) {
        code_overwrite(fact, rn(word), 0, 64);
    } else if ((word & 0xffe0ec00) == 0xf820a000) {
        code_write(fact, rn(word), 0, 64);
        forget(fact, field(word, 16, 5));
    } else if ((word & 0xfffffc00) == 0xf83fd000) {
        code_add(fact, CODE_FORGET, rd(word), (uint8_t)(rd(word) < 24 ? rd(word) + 7 : X30), 0, 1);
    } else {
        return false;
    }
    return true;
}

/* CODE_TARGET becomes INDEX of WORD, as it is extended, and shifted by SHIFT. */
static void extend(struct code_fact *fact, uint32_t word, uint8_t index, unsigned shift)
{
    const unsigned how = field(word, 13, 3);

    if (how == 2) /* uxtw */
        code_add(fact, CODE_BITS, CODE_TARGET, CODE_NONE, index, UINT32_MAX);
    else
        code_add(fact, CODE_SET, CODE_TARGET, 0, index, 0);
    if (how == 6) /* sxtw */
        code_add(fact, CODE_WORD, CODE_TARGET, 0, 0, 0);
    if (field(word, 12, 1) && shift != 0)
        code_add(fact, CODE_SHIFT, CODE_TARGET, 0, 0, shift);
}

/* An access at Rn + INDEX, of REG if it is a whole register of the general ones, else CODE_NONE. INDEX may be extended
 * and shifted by SHIFT. */
static void access_at_sum(struct code_fact *fact, uint32_t word, bool loads, uint8_t reg, uint8_t index,
                          unsigned shift)
{
    const bool is_whole = field(word, 13, 2) == 3 && !(field(word, 12, 1) && shift != 0);

    if (reg == SP) /* zero */
        reg = CODE_NONE;
    if (!is_whole)
        extend(fact, word, index, shift);
    code_add(fact, CODE_SUM, CODE_TARGET, is_whole ? index : (uint8_t)CODE_TARGET, rn(word), 1);
    if (loads)
        code_add(fact, CODE_LOAD, reg, reg, CODE_TARGET, 0);
    else if (reg != CODE_NONE)
        code_add(fact, CODE_STORE, reg, reg, CODE_TARGET, 0);
    else
        code_overwrite(fact, CODE_TARGET, 0, 1u << shift);
    code_forget(fact, CODE_TARGET);
}

/* swp and its like; ldadd and so on, and what compares first, leave perhaps what was there; ldraa and ldrab, which may
 * write back. */
static void changed_in_memory(uint32_t word, struct code_fact *fact)
{
    if (access_block(word, fact))
        return;
    if ((word & 0x3f20fc00) == 0x38208000) /* swp, swpb, swph */
        code_overwrite(fact, rn(word), 0, 1u << (word >> 30));
    else
        code_write(fact, rn(word), 0, 16);
    replace(fact, rd(word));
    if (field(word, 10, 1))
        code_forget(fact, rn(word));
}

/* The access of one register, or of a vector: LOADS or stores 1 << SHIFT bytes; WHOLE, a register of 64 bits. */
struct single {
    unsigned size, shift;
    bool is_vector, loads, whole, is_signed;
};

/* At the offset that a register has: maybe in a table. */
static void single_indexed(uint32_t word, struct code_fact *fact, const struct single *s)
{
    const uint8_t index = (uint8_t)field(word, 16, 5);
    const bool is_number = s->size == 0 || field(word, 12, 1) != 0;

    if (s->loads && !s->is_vector && rd(word) != SP && rn(word) != SP && index != SP)
        code_table(fact, rd(word), 1u << s->size | (s->is_signed ? CODE_ENTRY_SIGNED : 0), rn(word),
                   is_number ? rn(word) : index, is_number ? index : (uint8_t)CODE_NONE, 0);
    else if (s->loads && s->whole && rd(word) != SP && index != SP && !is_number)
        access_at_sum(fact, word, true, rd(word), index, 3);
    else if (s->loads && !s->is_vector)
        replace(fact, rd(word));
    else if (!s->loads)
        access_at_sum(fact, word, false, s->whole ? rd(word) : (uint8_t)CODE_NONE,
                      index == SP ? (uint8_t)CODE_ZERO : index, s->shift);
}

/* At the address in a register, plus K: an offset, or what the register moves by before or behind (MODE). */
static void single_at(uint32_t word, struct code_fact *fact, const struct single *s, unsigned mode, int64_t k)
{
    const bool is_part = s->loads && !s->is_vector && !s->whole;

    if (is_part && !s->is_signed && rd(word) != SP && mode == 0)
        code_add(fact, CODE_FETCH, rd(word), (uint8_t)(1u << s->size), rn(word), k);
    else if (is_part)
        replace(fact, rd(word));
    else
        access(fact, word, s->loads, s->whole ? rd(word) : (uint8_t)CODE_NONE, mode == 1 ? 0 : k,
               (uint8_t)(1u << s->shift));
    update(fact, word, mode, k, s->loads && !s->is_vector && rd(word) == rn(word));
}

/* One register: at an unsigned offset, an offset of 9 bits, a register, or changed in memory. */
static void single(uint32_t word, struct code_fact *fact)
{
    const unsigned size = word >> 30, opc = field(word, 22, 2), mode = field(word, 10, 2);
    const bool is_vector = word & 1u << 26, scaled = word & 1u << 24, other = !scaled && word & 1u << 21;
    const struct single s = {size,
                             is_vector && opc & 2 ? 4 : size,
                             is_vector,
                             is_vector ? opc & 1 : opc != 0,
                             size == 3 && opc < 2 && !is_vector,
                             (opc & 2) != 0};

    if (!is_vector && size == 3 && opc == 2 && (!other || mode == 2)) /* prfm */
        return;
    if (other && mode == 2)
        single_indexed(word, fact, &s);
    else if (other)
        changed_in_memory(word, fact);
    else if (scaled)
        single_at(word, fact, &s, 0, (int64_t)field(word, 10, 12) << s.shift);
    else
        single_at(word, fact, &s, mode, offset_of(word, 12, 9));
}

/* ld1 ... st4, of whole registers or of one element of each. Bit 23 is for writing back. */
static void structures(uint32_t word, struct code_fact *fact)
{
    static const uint8_t num_registers[16] = {[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
    const unsigned opcode = field(word, 12, 4), scale = opcode >> 2;
    const bool element = field(word, 24, 1), eight = scale == 2 && field(word, 10, 1);
    unsigned bytes = num_registers[opcode] * (field(word, 30, 1) ? 16u : 8u);

    if (element)
        bytes = ((opcode & 2) + field(word, 21, 1) + 1) * (eight ? 8u : 1u << scale);
    if (!field(word, 22, 1))
        code_overwrite(fact, rn(word), 0, bytes);
    if (field(word, 23, 1))
        code_forget(fact, rn(word));
}

/* stg, stzg, st2g, stz2g, of which those with z write 16 or 32 bytes of zeros; and, where MODE is 0, ldg, ldgm, stgm
 * and stzgm, which writes a block of zeros. */
static void tags(uint32_t word, struct code_fact *fact)
{
    const unsigned op = field(word, 22, 2), mode = field(word, 10, 2);
    const int64_t k = 16 * offset_of(word, 12, 9);

    if (mode == 0 && op & 1)
        forget(fact, rd(word));
    else if (mode == 0 && op == 0)
        zero_block(fact, rn(word));
    else if (mode != 0 && op & 1)
        code_overwrite(fact, rn(word), mode == 1 ? 0 : k, op == 3 ? 32 : 16);
    update(fact, word, mode, k, false);
}

/* cpyp, setp and so on: Xd bytes from Xs, in Xn. */
static void strings(uint32_t word, struct code_fact *fact)
{
    code_write(fact, rd(word), 0, 1);
    code_replace_bytes(fact);
    code_repeat(fact, rn(word));
    forget(fact, rd(word));
    forget(fact, rn(word));
    forget(fact, field(word, 16, 5));
}

/* Ordered ones without a comparison: stlr, stllr, stlur, also of vectors, stlr that writes back; stilp, ldiapp, two
 * registers; swpp, swpt. Returns false if WORD is another one. */
static bool ordered(uint32_t word, struct code_fact *fact)
{
    const unsigned bytes = 1u << (word >> 30), two = word >> 30 & 1 ? 16 : 8;
    const bool loads = word & 1u << 22, writes = field(word, 12, 4) == 0;

    if ((word & 0x3fe00000) == 0x08800000) { /* stlr, stllr */
        code_overwrite(fact, rn(word), 0, bytes);
    } else if ((word & 0x3fe00c00) == 0x19000000) { /* stlur */
        code_overwrite(fact, rn(word), offset_of(word, 12, 9), bytes);
    } else if ((word & 0x3f600c00) == 0x1d000800) { /* stlur of vectors */
        code_overwrite(fact, rn(word), offset_of(word, 12, 9), word & 1u << 23 ? 16 : bytes);
    } else if ((word & 0x3f600c00) == 0x1d400800) { /* ldapur of vectors */
        ;
    } else if ((word & 0xbffffc00) == 0x99800800) { /* stlr [xN, #-8]! */
        code_overwrite(fact, rn(word), -(int64_t)bytes, bytes);
        code_add(fact, CODE_SET, rn(word), 0, rn(word), -(int64_t)bytes);
    } else if ((word & 0xbfa0ec00) ==
               0x99000800) { /* stilp [xN, #-16]!, ldiapp [xN], #16, and without writing back */
        if (!loads)
            code_overwrite(fact, rn(word), writes ? -(int64_t)two : 0, two);
        if (writes)
            code_add(fact, CODE_SET, rn(word), 0, rn(word), loads ? (int64_t)two : -(int64_t)two);
        if (loads) {
            replace(fact, rd(word));
            replace(fact, field(word, 16, 5));
        }
    } else if ((word & 0xff20fc00) == 0x19208000 || (word & 0xbf20fc00) == 0x19208400) { /* swpp; swpt */
        code_overwrite(fact, rn(word), 0, word & 1u << 10 ? two / 2 : 16);
        replace(fact, rd(word));
        if (!(word & 1u << 10))
            replace(fact, field(word, 16, 5));
    } else {
        return false;
    }
    return true;
}

/* Exclusive, that compare, of tags and of whole blocks: what their fields name is unknown then. A register of addresses
 * is written if they say so. */
static void rare(uint32_t word, struct code_fact *fact)
{
    bool is_vector = word & 1u << 26, exclusive = (word & 0x3f000000) == 0x08000000;

    code_write(fact, rn(word), exclusive || field(word, 21, 1) ? 0 : offset_of(word, 12, 9), 16);
    if (!is_vector)
        forget(fact, rd(word));
    if (exclusive) {
        forget(fact, field(word, 10, 5));
        forget(fact, rd(word) | 1u); /* casp */
        forget(fact, field(word, 16, 5) | 1u);
    }
    forget(fact, field(word, 16, 5));
    if (!exclusive && field(word, 10, 2) != 0)
        code_forget(fact, rn(word));
}

/* ldr of what stands beside the code: an address of 64 bits is read as it is in the file, where 0 may be what a
 * relocation has to fill. */
static void load_literal(struct image *image, uint32_t word, uint64_t pc, struct code_fact *fact)
{
    const uint64_t addr = pc + (uint64_t)(offset_of(word, 5, 19) * 4);
    const uint8_t *p = image != NULL && word >> 30 == 1 ? image_instructions(image, addr, 8) : NULL;
    const uint64_t value = p != NULL ? load_number(p, 8, image->big) : 0;

    if (value != 0 && rd(word) != SP)
        code_add(fact, CODE_NUMBER, rd(word), 0, 0, (int64_t)value);
    else
        replace(fact, rd(word));
}

static void memory(struct image *image, uint32_t word, uint64_t pc, struct code_fact *fact)
{
    unsigned kind = field(word, 28, 2);

    if (kind == 2) {
        pair(word, fact);
    } else if (kind == 3) {
        single(word, fact);
    } else if ((word & 0x3b000000) == 0x18000000) {
        if (!(word & 1u << 26))
            load_literal(image, word, pc, fact);
    } else if ((word & 0x3e000000) == 0x0c000000) {
        structures(word, fact);
    } else if ((word & 0xff200000) == 0xd9200000) {
        tags(word, fact);
    } else if ((word & 0x3b200c00) == 0x19000400) {
        strings(word, fact);
    } else if (!ordered(word, fact)) {
        rare(word, fact);
    }
}

/* ---- All (C4.1) ------------------------------------------------------------------------------------------------ */

/* Whether WORD may change flags: adds, subs, ands; adcs, ccmp and so on; of floating point, SVE and SME; msr, cfinv. */
static bool changes_flags(uint32_t word)
{
    const unsigned group = field(word, 25, 4);

    if ((word & 0x1f000000) == 0x11000000 || (word & 0x1f000000) == 0x0b000000) /* add, sub */
        return word & 1u << 29;
    if ((word & 0x1f800000) == 0x12000000 || (word & 0x1f000000) == 0x0a000000) /* and, orr, eor */
        return field(word, 29, 2) == 3;
    if ((word & 0x1fe00000) == 0x1a000000 || (word & 0x1fe00000) == 0x1a400000) /* adc, ccmp, rmif */
        return true;
    if ((word & 0x1fe00000) == 0x1ac00000) /* of one or two; subps */
        return word & 1u << 29;
    if ((group & 14) == 10)
        return (word & 0xffc00000) == 0xd5000000 && (word & 0xfffff01f) != 0xd503201f;
    if ((group & 5) == 4) /* strings; what swaps or compares in tables of pages */
        return ((word & 0x3f200000) == 0x19000000 && (word & 0xc00) != 0) || (word & 0x3f200c00) == 0x38200000;
    return (group & 7) == 7 || (group & 13) == 0;
}

static void decode(void *decoder, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    uint32_t word = text->end - pc >= 4 ? (uint32_t)load_number(text->bytes + (pc - text->start), 4, false) : 0;
    unsigned group = field(word, 25, 4);

    memset(fact, 0, sizeof *fact);
    fact->size = 4;
    if (word >> 16 == 0) /* udf */
        fact->size = 0;
    else if ((group & 14) == 8)
        immediate(word, pc, fact);
    else if ((group & 14) == 10)
        branch(word, pc, fact);
    else if ((group & 5) == 4)
        memory(decoder, word, pc, fact);
    else if ((group & 7) == 5)
        by_register(word, fact);
    else if ((group & 7) == 7)
        vector(word, fact);
    else
        scalable(word, fact);
    fact->compares = changes_flags(word);
    if (fact->size == 0)
        fact->flow = CODE_STOP;
}

static void *open_decoder(struct image *image)
{
    return image;
}

/* A callee may change x0 to x18 and x30. Of x18, which is a platform's, that is not assumed. */
const struct code_cpu code_aarch64 = {
    0x3ffff | 1ull << X30,
    0x37e00, /* x9 to x17 without x15 */
    SP,
    X29,
    X30,
    X18,
    0,
    0,
    true,
    4,
    0,
    decode,
    open_decoder,
    NULL,
    8,
    8,
    "the interrupted PC is in ELR_EL1, ELR_EL2 or ELR_EL3 alone, which no row can name",
    0,
    NULL,
    0,
    false,
    false,
    0,
    NULL,
};

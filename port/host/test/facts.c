/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * facts make CPU SEED NUM > IN: random instructions of CPU, and registers, for facts_run.
 * facts take CPU SEED NUM < HEX > IN: those whose bytes HEX has, one on a line, each with NUM sets of random registers.
 * facts judge CPU IN OUT: what port/host/code says of each instruction beside what the CPU has done, for those that the
 * CPU has executed: a line for each one that has changed a register, a byte of the stack, or the PC, otherwise than was
 * said; and a last line with numbers.
 * facts faults CPU IN OUT: the same with each thing that is said broken, one after the other: how often that was
 * noticed, for each kind; and each instruction of which something may be left out without being noticed in any of the
 * records that IN has of it.
 * facts lost CPU IN OUT INVERTED: each instruction that overwrites bytes of the stack, whatever was there, of which
 * port/host/code does not say that. INVERTED is OUT of a stack that has the other bits before.
 */
#include "code/code.h"
#include "facts.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { X86_64, I386, AARCH64, S390X, RISCV, ARM, THUMB };

struct machine {
    const char *name;
    const struct code_cpu *cpu;
    enum kind kind;
    unsigned num; /* of registers */
    bool big;
    uint8_t trap[4]; /* what stands behind an instruction */
    unsigned trap_size;
};

static const struct machine machines[] = {
    {"x86_64", &code_x86_64, X86_64, 16, false, {0xcc, 0xcc}, 2},
    {"i386", &code_i386, I386, 8, false, {0xcc, 0xcc}, 2},
    {"aarch64", &code_aarch64, AARCH64, 32, false, {0, 0, 0x20, 0xd4}, 4},
    {"s390x", &code_s390x, S390X, 32, true, {0, 1}, 2},
    {"riscv64", &code_riscv64, RISCV, 32, false, {0x02, 0x90}, 2},
    {"riscv32", &code_riscv32, RISCV, 32, false, {0x02, 0x90}, 2},
    {"arm", &code_arm, ARM, 15, false, {0x70, 0, 0x20, 0xe1}, 4},
    {"thumb", &code_thumb, THUMB, 15, false, {0, 0xbe}, 2},
};

static bool is_x86(const struct machine *m)
{
    return m->kind == X86_64 || m->kind == I386;
}

static uint64_t state;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1d >> 8;
}

static bool one_in(unsigned n)
{
    return rnd() % n == 0;
}

static uint8_t one_of(const uint8_t *list, size_t num)
{
    return list[rnd() % num];
}

/* ---- make ------------------------------------------------------------------------------------------------------ */

/* Whether CODE, of x86_64, is not to be executed: it calls the kernel, which may also do it for the CPU (sgdt), as a
 * hypervisor does, of which some forget the single step (cpuid), or takes away what the program that executes it needs
 * (segments, single steps, protection keys). */
static bool is_left_out_x86_64(const uint8_t *code)
{
    static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65};
    static const uint8_t ones[] = {0x8e, 0x9d, 0xca, 0xcb, 0xcd, 0xcf};
    static const uint8_t twos[] = {0x00, 0x01, 0x05, 0x07, 0x34, 0x35, 0xa1, 0xa2, 0xa9, 0xb2, 0xb4, 0xb5};
    const uint8_t *end = code + 14;

    while (code < end && (memchr(prefixes, *code, sizeof prefixes) != NULL || (*code & 0xf0) == 0x40))
        code++;
    if (*code != 0x0f)
        return memchr(ones, *code, sizeof ones) != NULL || (*code == 0xff && (code[1] >> 3 & 7) == 3) ||
               (*code == 0xff && (code[1] >> 3 & 7) == 5);
    return memchr(twos, code[1], sizeof twos) != NULL || (code[1] == 0xae && (code[2] >> 3 & 7) == 5);
}

/* The same for i386, where segments have more instructions. FAULTS.md: qemu-ret */
static bool is_left_out_i386(const uint8_t *code)
{
    static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65};
    static const uint8_t ones[] = {0x07, 0x17, 0x1f, 0x8e, 0x9a, 0x9d, 0xca, 0xcb, 0xcd, 0xcf, 0xea};
    static const uint8_t twos[] = {0x00, 0x01, 0x05, 0x07, 0x34, 0x35, 0xa1, 0xa2, 0xa9, 0xb2, 0xb4, 0xb5};
    const uint8_t *end = code + 14;

    while (code < end && memchr(prefixes, *code, sizeof prefixes) != NULL)
        code++;
    if (*code == 0xc2 && code[2] >= 0x80)
        return true;
    if (*code == 0xc4 || *code == 0xc5) /* les, lds */
        return code[1] < 0xc0;
    if (*code != 0x0f)
        return memchr(ones, *code, sizeof ones) != NULL || (*code == 0xff && (code[1] >> 3 & 7) == 3) ||
               (*code == 0xff && (code[1] >> 3 & 7) == 5);
    return memchr(twos, code[1], sizeof twos) != NULL || (code[1] == 0xae && (code[2] >> 3 & 7) == 5);
}

/* Whether WORD, of A32, returns from an exception or has registers of another mode, in which QEMU gets lost: movs and
 * its like with PC; ldm and stm of user mode's registers. */
static bool is_of_exceptions(uint32_t word)
{
    const bool sets_flags = word >> 20 & 1, to_pc = (word >> 12 & 15) == 15, compares = (word >> 23 & 3) == 2;

    return ((word >> 26 & 3) == 0 && sets_flags && to_pc && !compares) ||
           ((word >> 25 & 7) == 4 && (word >> 22 & 1) != 0);
}

/* Whether CODE is not to be executed: system calls, and what QEMU executes otherwise than a CPU:
 * - FAULTS.md: qemu-larl
 * - FAULTS.md: qemu-rnsbg
 * - FAULTS.md: qemu-trtt
 * - A32: QEMU, as Linux, has floating point of coprocessors 1 and 2 (FPA), which no CPU has had for long. */
static bool is_left_out(const struct machine *m, const uint8_t *code)
{
    const uint32_t word = (uint32_t)load_number(code, 4, m->kind == S390X);

    switch (m->kind) {
    case X86_64:
        return is_left_out_x86_64(code);
    case I386:
        return is_left_out_i386(code);
    case AARCH64:
        return word >> 24 == 0xd4;
    case S390X:
        return code[0] == 0x0a || (code[0] == 0x44) ||
               ((code[0] & 0xf0) == 0xc0 && (code[2] >> 6 == 1 || code[2] >> 6 == 2)) ||
               (code[0] == 0xec && code[2] >= 0x80 && code[5] >= 0x54 && code[5] <= 0x57 && code[5] != 0x55) ||
               (code[0] == 0xb9 && (code[1] >> 2 == 0x90 >> 2) && code[3] & 0x10);
    case RISCV:
        return word == 0x73;
    case ARM:
        return (word >> 24 & 15) == 15 ||
               ((word >> 26 & 3) == 3 && ((word >> 8 & 15) == 1 || (word >> 8 & 15) == 2)) ||
               is_of_exceptions(word);
    default:
        return code[1] == 0xdf;
    }
}

static void make_x86(uint8_t *code, bool is_64)
{
    static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0x48, 0x49, 0x4c, 0x41, 0x67};
    /* push, pop, mov, leave, enter, of strings, groups of arithmetic, ret, jumps and calls of registers or memory */
    static const uint8_t often[] = {0x50, 0x54, 0x55, 0x58, 0x5c, 0x5d, 0x68, 0x6a, 0x81, 0x83, 0x87,
                                    0x88, 0x89, 0x8b, 0x8d, 0x8f, 0x9c, 0xa4, 0xa5, 0xaa, 0xab, 0xad,
                                    0xc1, 0xc2, 0xc3, 0xc7, 0xc8, 0xc9, 0xd3, 0xd9, 0xdd, 0xe8, 0xe9,
                                    0xf7, 0xff, 0xff, 0x94, 0x98, 0xe2, 0x01, 0x29, 0x21};
    /* pusha, popa, inc and dec of ESP and EBP, push of segments, bound, arpl, of decimals, salc */
    static const uint8_t old[] = {0x60, 0x61, 0x44, 0x45, 0x4c, 0x4d, 0x06, 0x0e, 0x16, 0x1e, 0x62,
                                  0x63, 0x27, 0x2f, 0x37, 0x3f, 0xd4, 0xd5, 0xd6, 0x82, 0xa1, 0xa3};
    unsigned size = 0;

    for (; one_in(3) && size < 3; size++)
        do
            code[size] = one_of(prefixes, sizeof prefixes);
        while (!is_64 && (code[size] & 0xf0) == 0x40);
    switch (rnd() % 8) {
    case 0:
    case 1:
        code[size++] = 0x0f;
        break;
    case 2: /* VEX of two and three bytes */
        code[size++] = one_in(2) ? 0xc5 : 0xc4;
        if (code[size - 1] == 0xc4)
            code[size++] = (uint8_t)(0xe0 | (1 + rnd() % 3));
        size++;
        break;
    case 3:
    case 4:
    case 5:
        code[size] = !is_64 && one_in(3) ? one_of(old, sizeof old) : one_of(often, sizeof often);
        break;
    default:
        break;
    }
    if (one_in(2)) { /* at SP + a number of 8 bits */
        code[size + 1] = (uint8_t)(0x44 | (rnd() % 8) << 3);
        code[size + 2] = 0x24;
    }
}

static uint32_t make_aarch64(void)
{
    uint32_t word = (uint32_t)rnd();

    switch (rnd() % 8) {
    case 0:
    case 1:
    case 2: /* loads and stores */
        word = (word | 1u << 27) & ~(1u << 25);
        break;
    case 3: /* those of SVE */
        word = (word & 0x01ffffff) | (one_in(2) ? 0xe4000000 : 0x04000000);
        break;
    case 4: /* data processing by a number */
        word = (word & ~(7u << 26)) | 4u << 26;
        break;
    case 5: /* pairs and structures */
        word = (word & 0x43ffffff) | (one_in(3) ? 0x0c000000 : 0x28000000) | (one_in(2) ? 1u << 31 : 0);
        break;
    default:
        break;
    }
    if (one_in(2)) /* Rn is SP */
        word |= 31u << 5;
    return word;
}

static void make_s390x(uint8_t *code)
{
    static const uint8_t often[] = {
        0x41, 0x45, 0x47, 0x4d, 0x50, 0x42, 0x40, 0x4e, 0x60, 0x70, 0x90, 0x92, 0x94, 0x96, 0x97, 0x98, 0x9b, 0xa5,
        0xa7, 0xa7, 0xb2, 0xb3, 0xb9, 0xb9, 0xba, 0xbb, 0xbe, 0xc0, 0xc2, 0xc4, 0xc6, 0xc8, 0xcc, 0xd2, 0xd2, 0xd4,
        0xd7, 0xd3, 0xdc, 0xde, 0xe3, 0xe3, 0xe5, 0xe6, 0xe7, 0xe7, 0xe8, 0xeb, 0xeb, 0xec, 0xed, 0xf1, 0xf3, 0xf8,
        0xfa, 0x05, 0x06, 0x07, 0x0d, 0x0e, 0x18, 0x1c, 0xf0, 0xd1, 0xd6, 0xe2, 0xea, 0xee, 0xef};

    if (!one_in(4))
        code[0] = one_of(often, sizeof often);
    if (code[0] >= 0x40 && one_in(2)) { /* the base is r15, and often there is no index */
        code[2] |= 0xf0;
        code[1] &= one_in(2) ? 0xf0 : 0xff;
        code[2] &= 0xf3;
    }
    if (code[0] >= 0xc0 && one_in(2)) /* a displacement of 20 bits that is small */
        code[4] = one_in(2) ? 0 : code[4];
}

static uint32_t make_riscv(void)
{
    static const uint8_t opcodes[] = {0x03, 0x07, 0x13, 0x1b, 0x17, 0x23, 0x23, 0x23, 0x27, 0x27, 0x2f, 0x33,
                                      0x37, 0x3b, 0x53, 0x57, 0x63, 0x67, 0x6f, 0x0f, 0x43, 0x33, 0x13};
    uint32_t word = (uint32_t)rnd();

    if (one_in(2))
        word = (word & ~0x7fu) | one_of(opcodes, sizeof opcodes);
    if ((word & 3) == 3 && one_in(2)) /* rs1 is SP */
        word = (word & ~(31u << 15)) | 2u << 15;
    if ((word & 0x7f) == 0x27 &&
        one_in(2)) /* of vectors: without a mask, no segments, of one byte or whole registers */
        word = (word & ~0xfe007000u) | 1u << 25 | (one_in(2) ? 0 : 8u << 20);
    if ((word & 0x7f) == 0x33 && one_in(2))
        word &= ~(0x5fu << 25);
    return word;
}

static uint32_t make_arm(void)
{
    uint32_t word = (uint32_t)rnd();

    if (!one_in(4))
        word = (word & 0x0fffffff) | 0xe0000000;
    switch (rnd() % 6) {
    case 0: /* lists of registers */
        word = (word & 0xf1ffffff) | 0x08000000;
        break;
    case 1: /* one register */
        word = (word & 0xf3ffffff) | 0x04000000;
        break;
    case 2: /* halves, pairs, exclusive */
        word = (word & 0xf1ffff0f) | 0x90 | (uint32_t)(rnd() % 4) << 5;
        break;
    case 3: /* floating point and vectors */
        word = one_in(2) ? (word & 0xf1fff0ff) | 0x0c000a00 | (one_in(2) ? 0x100 : 0)
                         : (word & 0x00bff0ff) | 0xf4000000 | (uint32_t)(rnd() % 12) << 8;
        break;
    default:
        break;
    }
    if (one_in(2)) /* Rn is SP */
        word = (word & 0xfff0ffff) | 13u << 16;
    return word;
}

/* The first half of an instruction of four bytes is on top. */
static uint32_t make_thumb(void)
{
    uint32_t word = (uint32_t)rnd();

    if (one_in(3)) /* two bytes */
        return (word & 0xffff) < 0xe800 ? word & 0xffff : word & 0xbfff;
    switch (rnd() % 8) {
    case 0:
    case 1:
        word = (word & 0x01ffffff) | 0xe8000000; /* lists, pairs, exclusive */
        break;
    case 2:
    case 3:
        word = (word & 0x01ffffff) | 0xf8000000; /* one register, structures */
        break;
    case 4:
        word = (word & 0x01fff0ff) | 0xec000a00 | (one_in(2) ? 0x100 : 0); /* floating point */
        break;
    case 5:
        word = (word & 0x00bff0ff) | 0xf9000000 | (uint32_t)(rnd() % 12) << 8;
        break;
    default:
        word |= 0xe8000000;
        break;
    }
    if (one_in(2)) /* Rn is SP */
        word = (word & 0xfff0ffff) | 13u << 16;
    return word;
}

/* Returns how long the instruction in CODE is. */
static unsigned make_code(const struct machine *m, uint8_t *code)
{
    unsigned i;
    uint32_t word;

    for (i = 0; i < 16; i++)
        code[i] = (uint8_t)rnd();
    switch (m->kind) {
    case X86_64:
    case I386:
        make_x86(code, m->kind == X86_64);
        return 16;
    case S390X:
        make_s390x(code);
        return code[0] < 0x40 ? 2 : code[0] < 0xc0 ? 4 : 6;
    case THUMB:
        word = make_thumb();
        if (word < 0x10000) {
            store_number(code, 2, false, word);
            return 2;
        }
        store_number(code, 2, false, word >> 16);
        store_number(code + 2, 2, false, word & 0xffff);
        return 4;
    default:
        word = m->kind == AARCH64 ? make_aarch64() : m->kind == ARM ? make_arm() : make_riscv();
        store_number(code, 4, false, word);
        return m->kind == RISCV && (word & 3) != 3 ? 2 : 4;
    }
}

/* Registers: many point to different places outside of the stack, one in FEW into it, some are small numbers. */
static void make_registers(const struct machine *m, struct facts_in *in, unsigned few)
{
    const unsigned word = m->cpu->word;
    uint64_t flags;
    unsigned i;

    for (i = 0; i < 32; i++)
        in->reg[i] = FACTS_OTHER + 0x8000 + 0x4000 * (uint64_t)i;
    for (i = 0; i < m->num; i++)
        if (one_in(few))
            in->reg[i] = FACTS_SP + word * (rnd() % 32) - 16 * word;
        else if (one_in(2 * few))
            in->reg[i] = rnd() % 9;
    for (i = 16; m->kind == S390X && i < 32; i++)
        in->reg[i] = rnd();
    in->reg[m->cpu->sp] = FACTS_SP + (m->kind == AARCH64 ? 16 : word) * (rnd() % 4);
    if (m->kind == RISCV)
        in->reg[0] = 0;
    flags = rnd() & 15;
    if (is_x86(m))
        in->flags = flags % 4 == 0 ? FACTS_DOWN : 0;
    else
        in->flags = (m->kind == THUMB ? 0x30 : 0x10) | flags << 28;
}

static void put_in(const struct machine *m, struct facts_in *in, unsigned size, unsigned few)
{
    unsigned i;

    for (i = size; i < 16; i++)
        in->code[i] = m->trap[(i - size) % m->trap_size];
    make_registers(m, in, few);
    store_number((uint8_t *)&in->flags, 8, m->big, in->flags);
    for (i = 0; i < 32; i++)
        store_number((uint8_t *)&in->reg[i], 8, m->big, in->reg[i]);
    fwrite(in, sizeof *in, 1, stdout);
}

static void make(const struct machine *m, uint64_t num)
{
    struct facts_in in;
    unsigned size;

    for (; num > 0; num--) {
        do
            size = make_code(m, in.code);
        while (is_left_out(m, in.code));
        put_in(m, &in, size, 4);
    }
}

static void take(const struct machine *m, uint64_t num)
{
    struct facts_in in;
    char line[80];
    unsigned size, byte;
    uint64_t i;

    while (fgets(line, sizeof line, stdin) != NULL) {
        for (size = 0; size < 16 && sscanf(line + 2 * size, "%2x", &byte) == 1; size++)
            in.code[size] = (uint8_t)byte;
        for (i = 0; i < num; i++)
            put_in(m, &in, size, 2);
    }
}

/* ---- judge ----------------------------------------------------------------------------------------------------- */

/* What is known when an instruction is done. Numbers are those of registers: of 32 bits where these are. */
struct known {
    const struct machine *m;
    bool is_known[CODE_REGISTERS];
    uint64_t reg[CODE_REGISTERS];
    bool any; /* any byte of memory may have changed */
    bool byte_known[FACTS_WINDOW];
    bool byte_lost[FACTS_WINDOW]; /* what was there is said to be overwritten */
    uint8_t byte[FACTS_WINDOW];
};

static uint64_t number(const struct machine *m, const uint64_t *p)
{
    const uint64_t value = load_number((const uint8_t *)p, 8, m->big);

    return m->cpu->word == 4 ? (uint32_t)value : value;
}

static void set(struct known *k, unsigned reg, bool is_known, uint64_t value)
{
    k->is_known[reg] = is_known;
    k->reg[reg] = k->m->cpu->word == 4 ? (uint32_t)value : value;
}

static void begin(struct known *k, const struct machine *m, const struct facts_in *in)
{
    unsigned i;

    memset(k, 0, sizeof *k);
    k->m = m;
    for (i = 0; i < m->num; i++)
        set(k, i, true, number(m, &in->reg[i]));
    k->is_known[CODE_ZERO] = true;
    if (is_x86(m))
        set(k, CODE_STATUS, true, number(m, &in->flags) & FACTS_DOWN ? UINT64_MAX : 1);
    for (i = 0; i < FACTS_WINDOW; i++) {
        k->byte_known[i] = true;
        k->byte[i] = facts_byte(i, m->cpu->word, m->big, 0);
    }
}

/* BYTES of memory at ADDR become VALUE or, if it is NULL, unknown. LOST: for certain. */
static void put(struct known *k, uint64_t addr, uint64_t bytes, const uint8_t *value, bool lost)
{
    uint64_t i, at;

    for (i = 0; i < bytes && i < 2 * FACTS_STACK_SIZE; i++) {
        at = addr + i - FACTS_LOW;
        if (at >= FACTS_WINDOW)
            continue;
        k->byte_known[at] = value != NULL;
        k->byte_lost[at] |= lost;
        k->byte[at] = value != NULL ? value[i] : 0;
    }
}

/* REG = the word at ADDR, if that IS_KNOWN. */
static void load_word(struct known *k, const struct known *before, unsigned reg, bool is_known, uint64_t addr)
{
    const unsigned word = k->m->cpu->word;
    const uint64_t at = addr - FACTS_LOW;
    unsigned b;

    is_known &= !before->any && at <= FACTS_WINDOW - word;
    for (b = 0; is_known && b < word; b++)
        is_known = before->byte_known[at + b];
    set(k, reg, is_known, is_known ? load_number(&before->byte[at], word, k->m->big) : 0);
}

static void store_word(struct known *k, unsigned reg, uint64_t addr)
{
    const unsigned word = k->m->cpu->word;
    uint8_t bytes[8];

    store_number(bytes, word, k->m->big, k->reg[reg]);
    put(k, addr, word, k->is_known[reg] ? bytes : NULL, true);
}

/* The registers that OP loads or stores, a bit each. */
static uint32_t mask_of(const struct code_op *op)
{
    uint32_t mask = 0;
    unsigned i;

    if (op->what == CODE_LOADS || op->what == CODE_STORES)
        return (uint32_t)op->from;
    for (i = op->reg; i <= op->last && i < 32; i++)
        mask |= 1u << i;
    return mask;
}

static void load(struct known *k, const struct code_op *op)
{
    static struct known before;
    uint64_t at = k->reg[op->base] + (uint64_t)op->k;
    uint32_t mask = mask_of(op);
    unsigned i;

    before = *k;
    if (op->what == CODE_LOAD && op->reg >= 32)
        load_word(k, &before, op->reg, before.is_known[op->base], at);
    for (i = 0; i < 32; i++)
        if (mask >> i & 1) {
            load_word(k, &before, op->what == CODE_LOADS && i == 15 ? CODE_TARGET : i, before.is_known[op->base],
                      at);
            at += k->m->cpu->word;
        }
}

static void store(struct known *k, const struct code_op *op)
{
    uint64_t at = k->reg[op->base] + (uint64_t)op->k;
    uint32_t mask = mask_of(op);
    unsigned i;

    k->any |= !k->is_known[op->base];
    if (op->what == CODE_STORE && op->reg >= 32)
        store_word(k, op->reg, at);
    for (i = 0; i < 32; i++)
        if (mask >> i & 1) {
            store_word(k, i, at);
            at += k->m->cpu->word;
        }
}

/* Where OP, repeated, begins to write at AT. */
static uint64_t lowest(const struct known *k, const struct code_op *op, uint64_t at)
{
    if (op->last == CODE_NONE || k->reg[op->last] == 0 || !is_x86(k->m) || k->reg[CODE_STATUS] == 1)
        return at;
    return at - (k->reg[op->last] - 1) * (uint64_t)op->from;
}

static void stride(struct known *k, const struct code_op *op)
{
    const uint64_t times = op->last != CODE_NONE ? k->reg[op->last] : 1;

    set(k, op->reg,
        k->is_known[op->reg] && k->is_known[CODE_STATUS] && (op->last == CODE_NONE || k->is_known[op->last]),
        k->reg[op->reg] + k->reg[CODE_STATUS] * times * (uint64_t)op->k);
}

/* REG = BASE and, or, xor, without LAST or a number. */
static void combine(struct known *k, const struct code_op *op)
{
    const uint64_t a = k->reg[op->base], b = op->last != CODE_NONE ? k->reg[op->last] : (uint64_t)op->k;

    set(k, op->reg, k->is_known[op->base] && (op->last == CODE_NONE || k->is_known[op->last]),
        op->from == CODE_AND   ? a & b
        : op->from == CODE_OR  ? a | b
        : op->from == CODE_XOR ? a ^ b
                               : a & ~b);
}

/* ARM: VALUE, shifted to the right by BY, 1 to 32: what comes in from the left is 0, its sign or itself. */
static uint64_t to_right(uint32_t value, unsigned by, int32_t how)
{
    const uint64_t sign = value >> 31 != 0 ? UINT32_MAX : 0, left = how == CODE_AROUND ? value : sign;

    return (uint32_t)(((how == CODE_RIGHT ? 0 : left) << 32 | value) >> by);
}

static void change(struct known *k, const struct code_op *op)
{
    const uint64_t value = k->reg[op->reg];
    const bool is_known = k->is_known[op->reg];

    switch ((enum code_do)op->what) {
    case CODE_INSERT:
        set(k, op->reg, is_known, (value & ~((uint64_t)0xffff << op->last)) | (uint64_t)op->k << op->last);
        break;
    case CODE_WORD:
        set(k, op->reg, is_known, (uint64_t)(int64_t)(int32_t)(uint32_t)value);
        break;
    case CODE_SHIFT:
        set(k, op->reg, is_known,
            op->from == CODE_LEFT ? value << op->k : to_right((uint32_t)value, (unsigned)op->k, op->from));
        break;
    default: /* a table's entry, or one that is rounded or has a signature */
        set(k, op->reg, false, 0);
        break;
    }
}

static void apply(struct known *k, const struct code_op *op)
{
    const uint64_t at = k->reg[op->base < CODE_REGISTERS ? op->base : CODE_ZERO] + (uint64_t)op->k;
    unsigned i;

    switch ((enum code_do)op->what) {
    case CODE_SET:
        set(k, op->reg, k->is_known[op->base], at);
        break;
    case CODE_NUMBER:
        set(k, op->reg, true, (uint64_t)op->k);
        break;
    case CODE_SUM:
        set(k, op->reg, k->is_known[op->base] && k->is_known[op->last],
            k->reg[op->base] + (uint64_t)op->k * k->reg[op->last]);
        break;
    case CODE_LOAD:
    case CODE_LOADS:
        load(k, op);
        break;
    case CODE_STORE:
    case CODE_STORES:
        store(k, op);
        break;
    case CODE_WRITE:
        k->any |= !k->is_known[op->base] || (op->last != CODE_NONE && !k->is_known[op->last]);
        put(k, lowest(k, op, at), (uint64_t)op->from * (op->last != CODE_NONE ? k->reg[op->last] : 1), NULL,
            op->reg != 0);
        break;
    case CODE_STRIDE:
        stride(k, op);
        break;
    case CODE_COPY:
        k->any |= !k->is_known[op->base];
        put(k, at, op->last + 1u, NULL, op->last + 1u < UINT8_MAX);
        break;
    case CODE_FORGET:
        for (i = op->reg; i <= op->last; i++)
            set(k, i, false, 0);
        break;
    case CODE_BITS:
        combine(k, op);
        break;
    case CODE_BOUND:
        break;
    case CODE_SAVE:
        k->any = true;
        set(k, k->m->cpu->sp, false, 0);
        break;
    case CODE_MODE:
        set(k, k->m->cpu->sp, false, 0);
        set(k, k->m->cpu->ra, false, 0);
        break;
    default:
        change(k, op);
        break;
    }
}

/* Why what was said is wrong. */
struct complaint {
    const char *what; /* NULL: it is not */
    uint64_t a, b;
};

static const struct complaint fine = {NULL, 0, 0};

/* Whether ARM's condition N holds with the CPSR FLAGS. */
static bool holds(uint64_t flags, unsigned n)
{
    const bool negative = flags >> 31 & 1, zero = flags >> 30 & 1, carry = flags >> 29 & 1, over = flags >> 28 & 1;
    const bool results[] = {
        zero, carry, negative, over, carry && !zero, negative == over, negative == over && !zero, true};

    return results[n / 2] != (n % 2 != 0);
}

/* What a call or a return does to the stack and to registers is no part of the facts. */
static void call_or_return(struct known *k, const struct code_fact *fact)
{
    const struct code_cpu *cpu = k->m->cpu;
    const uint64_t sp = k->reg[cpu->sp];

    if (fact->flow == CODE_CALL && cpu->link)
        set(k, fact->link != 0 ? fact->link : cpu->ra, false, 0);
    if (cpu->link || !k->is_known[cpu->sp])
        return;
    if (fact->flow == CODE_CALL) {
        put(k, sp - cpu->word, cpu->word, NULL, true);
        set(k, cpu->sp, true, sp - cpu->word);
    } else if (fact->flow == CODE_RETURN) {
        load_word(k, k, CODE_TARGET, true, sp);
        set(k, cpu->sp, true, sp + cpu->word + fact->pops);
    }
}

/* Whether CODE, of s390x, is a branch by condition to what a register has: of those only what follows is to be seen
 * (s390x.c). */
static bool is_seen_in_part(const struct machine *m, const uint8_t *code)
{
    const unsigned mask = code[1] >> 4, last = code[5];

    if (m->kind != S390X)
        return false;
    return (code[0] == 0x07 && mask != 15) || (code[0] == 0x47 && mask != 15) || code[0] == 0x06 ||
           code[0] == 0x46 || code[0] == 0x86 || code[0] == 0x87 || (code[0] == 0xb9 && code[1] == 0x46) ||
           (code[0] == 0xe3 && (last == 0x46 || last == 0x47)) ||
           (code[0] == 0xeb && (last == 0x44 || last == 0x45)) ||
           (code[0] == 0xec && (last >= 0xfc || last == 0xe4 || last == 0xe5 || last == 0xf6 || last == 0xf7));
}

/* Whether the CPU is another one behind the instruction, which begins with FLAGS: A32 or T32. Breakpoints are not the
 * other one's, and PC is behind more of them. */
static bool changes_mode(const struct machine *m, uint64_t changed, uint64_t pc)
{
    return m->kind >= ARM && (changed & 0x20) != 0 && pc - FACTS_PAGE <= 2 * FACTS_PAGE_SIZE;
}

/* Whether the CPU went to PC as is said. */
static bool goes_well(const struct known *k, const struct code_fact *fact, uint64_t pc)
{
    const uint64_t next = FACTS_CODE + fact->size, bit = k->m->cpu->mode;

    switch ((enum code_flow)fact->flow) {
    case CODE_NEXT:
        return pc == next;
    case CODE_BRANCH:
        return pc == next || pc == fact->target;
    case CODE_JUMP:
    case CODE_CALL:
        if (fact->target != 0 && !fact->by_register)
            return pc == fact->target;
        return !k->is_known[CODE_TARGET] || (pc | 1) == (k->reg[CODE_TARGET] | 1) ||
               pc == (k->reg[CODE_TARGET] & ~bit);
    case CODE_AWAY:
        return !k->is_known[CODE_TARGET] || (pc | bit) == (k->reg[CODE_TARGET] | bit) ||
               (pc | 1) == (k->reg[CODE_TARGET] | 1);
    case CODE_RETURN:
        return k->m->cpu->link ? (pc | 1) == (k->reg[k->m->cpu->ra] | 1)
                               : !k->is_known[CODE_TARGET] || pc == k->reg[CODE_TARGET];
    case CODE_RESUME:
        return true;
    default:
        return false;
    }
}

/* Whether CODE is a store of which no register says the length, or not alone: "nor does one of a length that is not
 * known, behind the bytes that it writes at least" (code.h). RISC-V: of vectors; s390x: mvst, and ciphers. */
static bool is_open(const struct machine *m, const uint8_t *code)
{
    static const uint8_t ciphers[] = {0x1e, 0x2e, 0x2f, 0x3c, 0x3e, 0x3f};
    const unsigned width = code[1] >> 4 & 7;

    if (m->kind == S390X)
        return (code[0] == 0xb2 && code[1] == 0x55) ||
               (code[0] == 0xb9 && memchr(ciphers, code[1], sizeof ciphers) != NULL);
    return m->kind == RISCV && (code[0] & 0x7f) == 0x27 && (width == 0 || width > 4);
}

/* What an instruction that goes on has left, beside what is known. */
static struct complaint compare(const struct known *k, const struct facts_out *out, bool any)
{
    unsigned i;

    for (i = 0; i < k->m->num; i++) {
        uint64_t value = number(k->m, &out->reg[i]);

        if (k->is_known[i] && value != k->reg[i] && !(k->m->kind == RISCV && i == 0))
            return (struct complaint){"register, value", i, value};
    }
    if (is_x86(k->m) && k->is_known[CODE_STATUS] &&
        (k->reg[CODE_STATUS] != 1) != ((number(k->m, &out->flags) & FACTS_DOWN) != 0))
        return (struct complaint){"flags", number(k->m, &out->flags), 0};
    for (i = 0; !k->any && !any && i < FACTS_WINDOW; i++)
        if (k->byte_known[i] && out->window[i] != k->byte[i])
            return (struct complaint){"byte at SP +", (uint64_t)((int64_t)i - FACTS_WINDOW / 2), out->window[i]};
    return fine;
}

/* Whether the CPU has done what FACT says. */
static struct complaint judge_one(const struct machine *m, const struct facts_in *in, const struct facts_out *out,
                                  const struct code_fact *fact)
{
    const uint64_t pc = number(m, &out->pc), flags = number(m, &in->flags),
                   changed = flags ^ number(m, &out->flags);
    static struct known k;
    struct complaint complaint;
    unsigned i;

    begin(&k, m, in);
    if (fact->condition != 0 && !holds(flags, fact->condition - 1u)) {
        if (pc != (uint64_t)FACTS_CODE + fact->size)
            return (struct complaint){"PC, though the condition does not hold", pc, 0};
        return compare(&k, out, false);
    }
    for (i = 0; i < fact->num; i++)
        apply(&k, &fact->op[i]);
    call_or_return(&k, fact);
    if (changes_mode(m, changed, pc))
        return fine;
    if (!goes_well(&k, fact, pc) && !(fact->flow == CODE_NEXT && is_seen_in_part(m, in->code)))
        return (struct complaint){"PC", pc, fact->target};
    if (m->kind == ARM && fact->condition != 0 && !fact->flags && changed >> 28 != 0)
        return (struct complaint){"flags", flags, changed};
    complaint = compare(&k, out, is_open(m, in->code));
    return complaint;
}

/* Whether OUT is what an instruction has left, which has been executed: a breakpoint follows it or stands where it has
 * jumped to; or no code is there. A fault leaves the PC at the instruction, of s390x also behind it. */
static bool is_executed(const struct machine *m, const struct facts_in *in, const struct facts_out *out)
{
    const uint64_t signal = number(m, &out->signal), pc = number(m, &out->pc);
    const unsigned size = m->kind != S390X ? 0 : in->code[0] < 0x40 ? 2 : in->code[0] < 0xc0 ? 4 : 6;

    if (pc == FACTS_CODE || (m->kind >= ARM && pc == FACTS_CODE + 1))
        return false;
    if (signal == SIGTRAP)
        return true;
    return !is_x86(m) && (signal == SIGSEGV || (signal == SIGBUS && m->kind == AARCH64)) && pc != FACTS_CODE + size;
}

/* What OUT and OTHER, of one instruction, are of the byte AT of a stack that had other bits before: as before, the same
 * in both, or another one in each. */
enum left { KEPT, LOST, DEPENDS };

static enum left left_at(const struct machine *m, const struct facts_out *out, const struct facts_out *other,
                         unsigned at)
{
    if (out->window[at] == other->window[at])
        return LOST;
    return out->window[at] == facts_byte(at, m->cpu->word, m->big, 0) &&
                   other->window[at] == facts_byte(at, m->cpu->word, m->big, 1)
               ? KEPT
               : DEPENDS;
}

/* What is to be seen of an instruction: of bytes beside one another that it has written it leaves the same, whatever
 * was there, and that is not said (SURE), or others (DEPENDS). */
struct lost {
    struct facts_in in;
    unsigned size;
    bool sure, depends;
};

static void look(struct lost *l, const struct machine *m, const struct facts_out *out,
                 const struct facts_out *other, const struct code_fact *fact)
{
    static struct known k;
    unsigned i, end;

    begin(&k, m, &l->in);
    for (i = 0; i < fact->num; i++)
        apply(&k, &fact->op[i]);
    call_or_return(&k, fact);
    for (i = 0; i < FACTS_WINDOW; i = end + 1) {
        bool depends = false, said = true;

        for (end = i; end < FACTS_WINDOW && left_at(m, out, other, end) != KEPT; end++) {
            depends |= left_at(m, out, other, end) == DEPENDS;
            said &= k.byte_lost[end];
        }
        l->depends |= depends;
        l->sure |= !depends && !said;
    }
}

static void print_code(const struct machine *m, const struct facts_in *in, unsigned size)
{
    unsigned i;

    if (size == 0)
        size = is_x86(m) ? 15 : 4;
    for (i = 0; i < size; i++)
        printf("%02x", in->code[i]);
}

struct counts {
    uint64_t num, executed, unknown, wrong;
};

/* What FACT says, broken in way WAY; false: there is no such way. 0 to 5: what it does is left out, one by one. Then:
 * places and numbers, the size, where it goes. */
enum { LEAVE_OUT = CODE_OPS, MOVE = 2 * CODE_OPS, WAYS = MOVE + 3 };
static const char *const fault_names[] = {"left out", "moved", "longer", "stops", "elsewhere"};

static bool spoil(struct code_fact *fact, unsigned way)
{
    unsigned i;

    if (way < LEAVE_OUT) {
        if (way >= fact->num)
            return false;
        for (i = way; i + 1u < fact->num; i++)
            fact->op[i] = fact->op[i + 1];
        fact->num--;
        return true;
    }
    if (way < MOVE) {
        if (way - LEAVE_OUT >= fact->num)
            return false;
        fact->op[way - LEAVE_OUT].k += 8;
        return true;
    }
    fact->size = (uint8_t)(fact->size + (way == MOVE ? 2 : 0));
    if (way == MOVE + 1)
        fact->flow = CODE_STOP;
    fact->target += way == MOVE + 2 ? 4 : 0;
    return true;
}

static unsigned fault_kind(unsigned way)
{
    return way < LEAVE_OUT ? 0 : way < MOVE ? 1 : way - MOVE + 2;
}

/* Whether to leave OP out is to say less, not to say something wrong: it tells where a jump goes, or of a store that
 * nobody knows where it goes. */
static bool is_more(const struct machine *m, const struct code_op *op)
{
    return op->what == CODE_BOUND || op->reg == CODE_TARGET || (op->what == CODE_WRITE && op->base >= CODE_REAL) ||
           (m->kind >= ARM && op->what == CODE_NUMBER && op->reg == 15);
}

/* For one instruction, in all records of it: which of what it does may be left out. */
struct omissions {
    struct facts_in in;
    unsigned num, size, noticed, executed;
};

static unsigned report_omissions(const struct machine *m, const struct omissions *o)
{
    unsigned i, num = 0;

    for (i = 0; i < o->num; i++)
        if (!(o->noticed >> i & 1)) {
            print_code(m, &o->in, o->size);
            printf(" of %u: %u may be left out\n", o->num, i);
            num++;
        }
    if (o->size != 0 && o->executed == 0) {
        print_code(m, &o->in, o->size);
        printf(" is not executed\n");
        num++;
    }
    return num;
}

struct faults {
    uint64_t tried[5], noticed[5];
    struct omissions now;
    unsigned omitted;
};

static void try_faults(const struct machine *m, struct faults *f, const struct facts_in *in,
                       const struct facts_out *out, const struct code_fact *fact, bool executed)
{
    unsigned way;

    if (memcmp(in->code, f->now.in.code, sizeof in->code) != 0 || f->now.size == 0) {
        f->omitted += report_omissions(m, &f->now);
        f->now = (struct omissions){*in, fact->num, fact->size, 0, 0};
        for (way = 0; way < fact->num; way++)
            f->now.noticed |= is_more(m, &fact->op[way]) ? 1u << way : 0;
    }
    if (!executed)
        return;
    f->now.executed++;
    for (way = 0; way < WAYS; way++) {
        struct code_fact broken = *fact;

        if (!spoil(&broken, way))
            continue;
        f->tried[fault_kind(way)]++;
        if (judge_one(m, in, out, &broken).what == NULL)
            continue;
        f->noticed[fault_kind(way)]++;
        if (way < LEAVE_OUT)
            f->now.noticed |= 1u << way;
    }
}

static int judge(const struct machine *m, FILE *in_file, FILE *out_file, bool with_faults)
{
    void *decoder = is_x86(m) ? m->cpu->open(NULL) : NULL;
    static struct faults faults;
    struct counts n = {0, 0, 0, 0};
    struct facts_in in;
    struct facts_out out;
    unsigned i;

    for (; fread(&in, sizeof in, 1, in_file) == 1 && fread(&out, sizeof out, 1, out_file) == 1; n.num++) {
        const struct code_text text = {in.code, FACTS_CODE, FACTS_CODE + 16};
        const bool executed = is_executed(m, &in, &out);
        struct code_fact fact;
        struct complaint complaint;

        m->cpu->decode(decoder, &text, FACTS_CODE, &fact);
        if (with_faults)
            try_faults(m, &faults, &in, &out, &fact, executed);
        if (!executed)
            continue;
        n.executed++;
        n.unknown += fact.size == 0;
        if (fact.size == 0)
            continue;
        complaint = judge_one(m, &in, &out, &fact);
        n.wrong += complaint.what != NULL;
        if (complaint.what == NULL || with_faults)
            continue;
        print_code(m, &in, fact.size);
        printf(" size %u flow %u: %s 0x%" PRIx64 " 0x%" PRIx64 "\n", fact.size, fact.flow, complaint.what,
               complaint.a, complaint.b);
    }
    if (with_faults)
        faults.omitted += report_omissions(m, &faults.now);
    for (i = 0; with_faults && i < sizeof fault_names / sizeof *fault_names; i++)
        printf("%s: %" PRIu64 " of %" PRIu64 " noticed\n", fault_names[i], faults.noticed[i], faults.tried[i]);
    printf("%" PRIu64 " of %" PRIu64 " executed, %" PRIu64 " unknown, %" PRIu64 " wrong\n", n.executed, n.num,
           n.unknown, n.wrong);
    return n.wrong != 0 || faults.omitted != 0;
}

static unsigned report_lost(const struct machine *m, const struct lost *l)
{
    if (!l->sure || l->depends)
        return 0;
    print_code(m, &l->in, l->size);
    printf(" overwrites more for certain than is said\n");
    return 1;
}

static int judge_lost(const struct machine *m, FILE *in_file, FILE *out_file, FILE *inverted_file)
{
    void *decoder = is_x86(m) ? m->cpu->open(NULL) : NULL;
    static struct lost now;
    struct facts_in in;
    struct facts_out out, inverted;
    unsigned num = 0, wrong = 0;

    while (fread(&in, sizeof in, 1, in_file) == 1 && fread(&out, sizeof out, 1, out_file) == 1 &&
           fread(&inverted, sizeof inverted, 1, inverted_file) == 1) {
        const struct code_text text = {in.code, FACTS_CODE, FACTS_CODE + 16};
        const bool same = memcmp(in.code, now.in.code, sizeof in.code) == 0;
        struct code_fact fact;

        m->cpu->decode(decoder, &text, FACTS_CODE, &fact);
        if (!same)
            wrong += report_lost(m, &now);
        now = (struct lost){in, fact.size, same && now.sure, same && now.depends};
        if (fact.size == 0 || !is_executed(m, &in, &out) || !is_executed(m, &in, &inverted) ||
            out.pc != inverted.pc || (fact.condition != 0 && !holds(number(m, &in.flags), fact.condition - 1u)))
            continue;
        look(&now, m, &out, &inverted, &fact);
        num++;
    }
    wrong += report_lost(m, &now);
    printf("%u compared, %u wrong\n", num, wrong);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    const struct machine *m = machines;

    if (argc != (argc > 1 && strcmp(argv[1], "lost") == 0 ? 6 : 5))
        return 2;
    while (strcmp(m->name, argv[2]) != 0)
        if (++m == machines + sizeof machines / sizeof machines[0])
            return 2;
    if (strcmp(argv[1], "judge") == 0 || strcmp(argv[1], "faults") == 0) {
        FILE *in = fopen(argv[3], "rb"), *out = fopen(argv[4], "rb");

        return in == NULL || out == NULL ? 2 : judge(m, in, out, argv[1][0] == 'f');
    }
    if (argc == 6)
        return judge_lost(m, fopen(argv[3], "rb"), fopen(argv[4], "rb"), fopen(argv[5], "rb"));
    state = strtoull(argv[3], NULL, 10) * 0x9e3779b97f4a7c15 | 1;
    if (strcmp(argv[1], "take") == 0)
        take(m, strtoull(argv[4], NULL, 10));
    else
        make(m, strtoull(argv[4], NULL, 10));
    return 0;
}

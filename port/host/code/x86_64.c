/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * x86_64, and i386: Zydis decodes, and says of each operand, of hidden ones too, whether an instruction writes it, and
 * how much. Here is what instructions do that move SP and FP, and where Zydis does not say all. Sections are those of
 * the "Intel 64 and IA-32 Architectures Software Developer's Manual".
 */
#include "decoded.h"
#include "fact.h"

#ifdef SFU_ZYDIS
#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R11 = 11, RA = 16 };
enum { EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI, EIP };

typedef ZydisDecodedOperand operand_t;

/* What differs between code of 64 bits and of 32. Registers have their DWARF numbers. */
struct mode {
    ZydisMachineMode machine;
    ZydisStackWidth width;
    ZydisRegister first, last; /* of the whole registers */
    uint8_t number[16];        /* of each of them */
    uint8_t word, sp, fp, ra;
    uint8_t count; /* the register that counts in string instructions */
};

static const struct mode long_mode = {ZYDIS_MACHINE_MODE_LONG_64,
                                      ZYDIS_STACK_WIDTH_64,
                                      ZYDIS_REGISTER_RAX,
                                      ZYDIS_REGISTER_R15,
                                      {RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R8 + 1, R8 + 2, R8 + 3, R8 + 4,
                                       R8 + 5, R8 + 6, R8 + 7},
                                      8,
                                      RSP,
                                      RBP,
                                      RA,
                                      RCX},
                         legacy_mode = {ZYDIS_MACHINE_MODE_LEGACY_32,
                                        ZYDIS_STACK_WIDTH_32,
                                        ZYDIS_REGISTER_EAX,
                                        ZYDIS_REGISTER_EDI,
                                        {EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI},
                                        4,
                                        ESP,
                                        EBP,
                                        EIP,
                                        ECX};

struct decoder {
    const struct mode *mode;
    ZydisDecoder zydis;
    ZydisDecodedInstruction insn;
    operand_t op[ZYDIS_MAX_OPERAND_COUNT];
    uint64_t pc;
    uint8_t number[ZYDIS_REGISTER_MAX_VALUE + 1]; /* of a register's DWARF number + 1, or 0 */
    bool whole[ZYDIS_REGISTER_MAX_VALUE + 1];     /* it is one of 64 bits, or of 32 in code of 32 */
    struct code_region *regions;                  /* of code in other modes */
    size_t num_regions;
    struct decoded *decoded; /* or NULL */
};

/* ---- Operands -------------------------------------------------------------------------------------------------- */

/* Gives all registers, and their parts, the number of the one that they are in. */
static void name_registers(struct decoder *d)
{
    const int first = (int)d->mode->first, last = (int)d->mode->last;
    int reg, all;

    for (reg = 1; reg <= ZYDIS_REGISTER_MAX_VALUE; reg++) {
        all = (int)ZydisRegisterGetLargestEnclosing(d->mode->machine, (ZydisRegister)reg);
        if (all < first || all > last)
            continue;
        d->number[reg] = (uint8_t)(d->mode->number[all - first] + 1);
        d->whole[reg] = reg == all;
    }
}

static uint8_t number_of(const struct decoder *d, ZydisRegister reg)
{
    return (uint8_t)(d->number[reg] - 1);
}

static bool is_written(const operand_t *operand)
{
    return operand->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE);
}

static bool is_register(const operand_t *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_memory(const operand_t *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static bool is_number(const operand_t *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* The number OPERAND, as a register gets it. */
static int64_t number(const struct decoder *d, const operand_t *operand)
{
    return d->mode->word == 4 ? (int32_t)(uint32_t)operand->imm.value.u : operand->imm.value.s;
}

/* The number of OPERAND, if it is a whole register, else CODE_NONE. */
static uint8_t whole(const struct decoder *d, const operand_t *operand)
{
    return is_register(operand) && d->whole[operand->reg.value] ? number_of(d, operand->reg.value)
                                                                : (uint8_t)CODE_NONE;
}

/* Whether the segment of MEM begins at 0: all do but FS and GS. With a prefix for DS, an indirect jump may go where no
 * endbr64 stands (notrack). */
static bool is_flat(const ZydisDecodedOperandMem *mem)
{
    return mem->segment != ZYDIS_REGISTER_FS && mem->segment != ZYDIS_REGISTER_GS;
}

/* A register that is never known: memory that counts from it may be anywhere. */
enum { ANYWHERE = CODE_PC, GS = CODE_OTHER_SP };

/* Where OPERAND, in memory, lies: *BASE, with GS and CODE_ZERO, or ANYWHERE where it is not a register and a number. */
static void address(const struct decoder *d, const operand_t *operand, uint8_t *base, int64_t *k)
{
    const ZydisDecodedOperandMem *mem = &operand->mem;

    *base = ANYWHERE;
    *k = mem->disp.value;
    if (!is_memory(operand) || mem->index != ZYDIS_REGISTER_NONE || mem->segment == ZYDIS_REGISTER_FS ||
        d->insn.address_width != d->insn.stack_width)
        return;
    if (mem->base == ZYDIS_REGISTER_NONE || mem->base == ZYDIS_REGISTER_RIP)
        *base = is_flat(mem) ? (uint8_t)CODE_ZERO : (uint8_t)GS;
    else if (is_flat(mem) && d->whole[mem->base])
        *base = number_of(d, mem->base);
    if (mem->base == ZYDIS_REGISTER_RIP)
        *k = (int64_t)(d->pc + d->insn.length + (uint64_t)*k);
}

/* CODE_TARGET = base + index of OPERAND. Returns false if they are not both whole registers of the stack's segment. */
static bool add_index(const struct decoder *d, struct code_fact *fact, const operand_t *operand)
{
    const ZydisDecodedOperandMem *mem = &operand->mem;
    const unsigned shift = mem->scale == 8 ? 3 : mem->scale == 4 ? 2 : mem->scale == 2 ? 1 : 0;

    if (!is_memory(operand) || !is_flat(mem) || d->insn.address_width != d->insn.stack_width ||
        mem->base == ZYDIS_REGISTER_NONE || mem->index == ZYDIS_REGISTER_NONE || !d->whole[mem->base] ||
        !d->whole[mem->index])
        return false;
    if (shift != 0) {
        code_add(fact, CODE_SET, CODE_TARGET, 0, number_of(d, mem->index), 0);
        code_add(fact, CODE_SHIFT, CODE_TARGET, 0, 0, shift);
    }
    code_add(fact, CODE_SUM, CODE_TARGET, shift != 0 ? (uint8_t)CODE_TARGET : number_of(d, mem->index),
             number_of(d, mem->base), 1);
    return true;
}

/* ---- Any instruction ------------------------------------------------------------------------------------------- */

static void forget_all(const struct decoder *d, struct code_fact *fact)
{
    fact->num = 0;
    code_add(fact, CODE_FORGET, RAX, d->mode->ra, 0, 0);
}

/* Somebody else has run, and has given SP back. */
static void forget_all_but_sp(const struct decoder *d, struct code_fact *fact)
{
    code_add(fact, CODE_FORGET, RAX, (uint8_t)(d->mode->sp - 1), 0, 0);
    code_add(fact, CODE_FORGET, (uint8_t)(d->mode->sp + 1), d->mode->ra, 0, 0);
}

/* What a system call may change, as an ABI says. */
static void forget_changed(const struct decoder *d, struct code_fact *fact)
{
    code_add(fact, CODE_FORGET, RAX, RCX, 0, 0); /* EAX to EDX, too */
    if (d->mode->word == 8)
        code_add(fact, CODE_FORGET, R8, R11, 0, 0);
}

/* GS begins elsewhere, or may do so. */
static void forget_gs(struct code_fact *fact)
{
    code_write(fact, ANYWHERE, 0, 8);
}

/* How many bytes a row of a tile has at most, of which Zydis does not say the size (AMX). */
enum { ROW = 64 };

static bool is_string(const struct decoder *d)
{
    return d->insn.meta.category == ZYDIS_CATEGORY_STRINGOP || d->insn.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/* Whether it is done as often as the count says, at most. */
static bool is_repeated(const struct decoder *d)
{
    return (d->insn.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
}

/* Whether the first operand, in memory, keeps its value: so compilers order accesses, or touch a page. */
static bool keeps_value(const struct decoder *d)
{
    const operand_t *b = &d->op[1];

    if (d->insn.operand_count_visible < 2 || b->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return false;
    switch (d->insn.mnemonic) {
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        return b->imm.value.s == 0;
    case ZYDIS_MNEMONIC_AND:
        return b->imm.value.s == -1;
    default:
        return false;
    }
}

/* Whether bits of a register move into the first operand. Only a count of 0 writes nothing. */
static bool is_double_shift(const struct decoder *d)
{
    return d->insn.mnemonic == ZYDIS_MNEMONIC_SHLD || d->insn.mnemonic == ZYDIS_MNEMONIC_SHRD;
}

/* Whether the first operand, in memory, is moved or turned by as many bits as a number says, which is not 0. */
static bool is_shifted(const struct decoder *d)
{
    const operand_t *a = &d->op[0], *b = a + (is_double_shift(d) ? 2 : 1);

    return (d->insn.meta.category == ZYDIS_CATEGORY_SHIFT || d->insn.meta.category == ZYDIS_CATEGORY_ROTATE) &&
           is_number(b) && a->size >= 32 && b->imm.value.u % a->size != 0;
}

/* Whether what OPERAND, in memory, has behind the instruction has nothing to do with what it had. What a number is
 * added to has, as an address that is to be returned to behind data; a mask chooses what is written; and more than a
 * register is perhaps not written as a whole (xsave). A string instruction with a prefix writes nothing only if its
 * count, which code_repeat has, is 0; bndmov nothing where the CPU has no such registers. */
static bool is_replaced(const struct decoder *d, const operand_t *operand)
{
    enum { MOST = 1024 };
    const ZydisRegister mask = d->insn.avx.mask.reg; /* K0: none */

    if (!(is_string(d) || is_double_shift(d) ? is_written(operand)
                                             : operand->actions & ZYDIS_OPERAND_ACTION_WRITE) ||
        operand->size == 0 || operand->size > MOST || (mask != ZYDIS_REGISTER_NONE && mask != ZYDIS_REGISTER_K0))
        return false;
    switch (d->insn.mnemonic) {
    case ZYDIS_MNEMONIC_NEG:
        return operand->size >= 32;
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_MOVDIR64B:
        return true;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_XADD:
    case ZYDIS_MNEMONIC_BNDMOV:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
    case ZYDIS_MNEMONIC_VMREAD:
        return false;
    default:
        return d->insn.meta.category == ZYDIS_CATEGORY_LOGICAL ||
               d->insn.meta.category == ZYDIS_CATEGORY_DATAXFER ||
               (operand->actions == ZYDIS_OPERAND_ACTION_WRITE &&
                operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN) ||
               is_string(d) || is_shifted(d);
    }
}

/* Whether a fact has room for an index, beside the registers that are written. */
static bool has_room(const struct decoder *d)
{
    unsigned i, num = 0;

    for (i = 0; i < d->insn.operand_count; i++)
        num += is_register(&d->op[i]) && is_written(&d->op[i]) && d->number[d->op[i].reg.value] != 0;
    return num <= 1 && !is_string(d);
}

/* OPERAND becomes unknown, if it lies where slots are. A string instruction with a prefix writes it RCX times. */
static void write_to(const struct decoder *d, struct code_fact *fact, const operand_t *operand)
{
    uint8_t base;
    int64_t k;

    if (keeps_value(d))
        return;
    address(d, operand, &base, &k);
    if (d->insn.meta.category == ZYDIS_CATEGORY_BITBYTE && is_register(&d->op[1]))
        base = ANYWHERE; /* "Bit(BitBase, BitOffset)": of a word at any distance */
    else if (base == ANYWHERE && has_room(d) && add_index(d, fact, operand))
        base = CODE_TARGET;
    code_write(fact, base, k, operand->size > 0 ? operand->size / 8 : ROW);
    if (is_repeated(d))
        code_repeat(fact, d->mode->count);
    if (is_replaced(d, operand))
        code_replace_bytes(fact);
    if (base == CODE_TARGET)
        code_forget(fact, CODE_TARGET);
}

/* A part of REG gets a value, or all of it one that is not known. What is added to SP by `or` is 0 wherever that counts
 * (clang, -mspeculative-load-hardening): SP has not come from elsewhere. */
static void change(const struct decoder *d, struct code_fact *fact, ZydisRegister reg)
{
    if (reg == ZYDIS_REGISTER_GS)
        forget_gs(fact);
    else if (d->whole[reg] && number_of(d, reg) == d->mode->sp && d->insn.mnemonic == ZYDIS_MNEMONIC_OR)
        code_forget(fact, d->mode->sp);
    else if (d->number[reg] != 0)
        code_replace(fact, number_of(d, reg));
}

/* Whether REG is what points to a string. */
static bool is_pointer(const struct decoder *d, ZydisRegister reg)
{
    unsigned i;

    for (i = 0; i < d->insn.operand_count && is_string(d); i++)
        if (is_memory(&d->op[i]) && d->op[i].mem.base == reg)
            return true;
    return false;
}

/* OPERAND, in memory, is of a string: its register points to the next one. How often cmps and scas are repeated, what
 * they compare decides, too. */
static void pass(const struct decoder *d, struct code_fact *fact, const operand_t *operand)
{
    const bool compares = d->insn.cpu_flags != NULL && (d->insn.cpu_flags->modified & ZYDIS_CPUFLAG_ZF) != 0;
    const ZydisRegister reg = operand->mem.base;

    if (!d->whole[reg] || (compares && is_repeated(d)))
        change(d, fact, reg);
    else
        code_add(fact, CODE_STRIDE, number_of(d, reg), is_repeated(d) ? d->mode->count : (uint8_t)CODE_NONE, 0,
                 operand->size / 8);
}

/* What Zydis says of an instruction. Memory is written before registers change that its address counts from, and those
 * before the number of string instructions. */
static void other(const struct decoder *d, struct code_fact *fact)
{
    unsigned i;

    for (i = 0; i < d->insn.operand_count; i++)
        if (is_memory(&d->op[i]) && is_written(&d->op[i]) && d->op[i].mem.type != ZYDIS_MEMOP_TYPE_MIB)
            write_to(d, fact, &d->op[i]);
    for (i = 0; i < d->insn.operand_count && is_string(d); i++)
        if (is_memory(&d->op[i]))
            pass(d, fact, &d->op[i]);
    for (i = 0; i < d->insn.operand_count; i++) {
        const operand_t *operand = &d->op[i];
        const ZydisRegister reg =
            is_register(operand) && is_written(operand) ? operand->reg.value : ZYDIS_REGISTER_NONE;

        if (!is_pointer(d, reg))
            change(d, fact, reg);
        if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && d->number[reg] == d->mode->sp + 1) {
            forget_all(d, fact); /* an instruction of stacks that is not known here */
            return;
        }
    }
}

/* ---- Instructions ---------------------------------------------------------------------------------------------- */

/* OPERAND is an entry of a table, of WIDTH, that is read into REG. Its index is scaled, or has been before: then either
 * register may be the table. Returns false if it is not like that. */
static bool read_table(const struct decoder *d, struct code_fact *fact, uint8_t reg, const operand_t *operand,
                       uint8_t width)
{
    const ZydisDecodedOperandMem *mem = &operand->mem;
    const bool scaled = mem->scale == (width & CODE_ENTRY_SIZE), has_base = mem->base != ZYDIS_REGISTER_NONE;
    uint8_t base;

    if (!is_memory(operand) || !is_flat(mem) || mem->index == ZYDIS_REGISTER_NONE ||
        (!scaled && (mem->scale != 1 || !has_base || !d->whole[mem->index])) || (has_base && !d->whole[mem->base]))
        return false;
    base = has_base ? number_of(d, mem->base) : (uint8_t)CODE_ZERO;
    code_table(fact, reg, width, base, scaled ? base : number_of(d, mem->index),
               scaled ? number_of(d, mem->index) : (uint8_t)CODE_NONE, mem->disp.value);
    return true;
}

/* The lowest byte of a register is not one of its second byte. */
static bool is_low(const operand_t *operand)
{
    return is_register(operand) &&
           !(operand->reg.value >= ZYDIS_REGISTER_AH && operand->reg.value <= ZYDIS_REGISTER_BH);
}

/* REG = OPERAND, of which no more is known than that it may be an index. Returns false if it can be none. */
static bool take_index(const struct decoder *d, struct code_fact *fact, uint8_t reg, const operand_t *operand)
{
    const int64_t mask = operand->size == 8 ? UINT8_MAX : operand->size == 16 ? UINT16_MAX : UINT32_MAX;
    uint8_t base;
    int64_t k;

    if (is_low(operand) && d->number[operand->reg.value] != 0) {
        code_add(fact, CODE_INDEX, reg, 0, number_of(d, operand->reg.value), mask);
        return true;
    }
    address(d, operand, &base, &k);
    if (!is_memory(operand) || base == ANYWHERE)
        return false;
    code_add(fact, CODE_FETCH, reg, (uint8_t)(operand->size / 8), base, k);
    return true;
}

/* 32 bits or less, without their sign. */
static bool move_word(const struct decoder *d, struct code_fact *fact)
{
    const operand_t *a = &d->op[0], *b = a + 1;

    if (!is_register(a) || a->size < 32 || d->number[a->reg.value] == 0 || b->size == 64 || is_number(b))
        return false;
    if (b->size == 32 && read_table(d, fact, number_of(d, a->reg.value), b, 4))
        return true;
    return (d->insn.mnemonic == ZYDIS_MNEMONIC_MOVZX || d->mode->word == 8) &&
           take_index(d, fact, number_of(d, a->reg.value), b);
}

/* To the left by a number: maybe an index. */
static bool shift(const struct decoder *d, struct code_fact *fact)
{
    const operand_t *a = &d->op[0], *b = a + 1;
    const uint8_t reg = is_register(a) && a->size >= 32 ? number_of(d, a->reg.value) : (uint8_t)CODE_NONE;

    if (reg == CODE_NONE || d->number[a->reg.value] == 0 || !is_number(b))
        return false;
    code_add(fact, CODE_INDEX, reg, (uint8_t)(b->imm.value.u & (a->size - 1u)), reg, -1);
    return true;
}

/* lea of an index alone, to the left. */
static bool shift_address(const struct decoder *d, struct code_fact *fact)
{
    const operand_t *a = &d->op[0];
    const ZydisDecodedOperandMem *mem = &d->op[1].mem;

    if (a->size < 32 || mem->base != ZYDIS_REGISTER_NONE || mem->disp.value != 0 ||
        mem->index == ZYDIS_REGISTER_NONE || !d->whole[mem->index])
        return false;
    code_add(fact, CODE_INDEX, number_of(d, a->reg.value),
             mem->scale == 8   ? 3
             : mem->scale == 4 ? 2
             : mem->scale == 2 ? 1
                               : 0,
             number_of(d, mem->index), -1);
    return true;
}

/* cdqe, movsxd: 32 bits get their sign. */
static bool extend(const struct decoder *d, struct code_fact *fact)
{
    const operand_t *a = &d->op[0], *b = a + 1;
    const uint8_t to = d->insn.mnemonic == ZYDIS_MNEMONIC_CDQE ? (uint8_t)RAX : whole(d, a);

    if (to == CODE_NONE)
        return false;
    if (d->insn.mnemonic == ZYDIS_MNEMONIC_CDQE || is_register(b)) {
        if (d->insn.mnemonic != ZYDIS_MNEMONIC_CDQE && number_of(d, b->reg.value) != to)
            code_add(fact, CODE_SET, to, 0, number_of(d, b->reg.value), 0);
        code_add(fact, CODE_WORD, to, 0, 0, 0);
        return true;
    }
    return read_table(d, fact, to, b, 4 | CODE_ENTRY_SIGNED) || take_index(d, fact, to, b);
}

/* A word moves from B to A, or its address does (lea). */
static bool move(const struct decoder *d, struct code_fact *fact, bool load_address)
{
    const operand_t *a = &d->op[0], *b = a + 1;
    uint8_t to = whole(d, a), from = whole(d, b), base;
    int64_t k;

    if (is_register(a) && is_number(b) && a->size >= 32) {
        code_add(fact, CODE_NUMBER, number_of(d, a->reg.value), 0, 0,
                 to != CODE_NONE ? number(d, b) : (int64_t)(uint32_t)b->imm.value.u);
        return true;
    }
    if (to != CODE_NONE && from != CODE_NONE) {
        code_add(fact, CODE_SET, to, 0, from, 0);
        return true;
    }
    if (to != CODE_NONE && is_memory(b)) {
        address(d, b, &base, &k);
        if (load_address && base == CODE_ZERO)
            code_add(fact, CODE_NUMBER, to, 0, 0, k);
        else if (load_address)
            code_add(fact, CODE_SET, to, to, base == GS ? (uint8_t)ANYWHERE : base, k);
        else if (base != ANYWHERE || !read_table(d, fact, to, b, d->mode->word))
            code_add(fact, CODE_LOAD, to, to, base, k);
        return true;
    }
    if (is_memory(a) && from != CODE_NONE) {
        address(d, a, &base, &k);
        if (base == ANYWHERE && add_index(d, fact, a))
            base = CODE_TARGET;
        code_add(fact, CODE_STORE, from, from, base, k);
        if (base == CODE_TARGET)
            code_forget(fact, CODE_TARGET);
        return true;
    }
    return false;
}

/* i386: K, which may be the address of a table, is added to TO, its index; or an entry of a table, B, is added to the
 * address that TO is. Returns false if it is neither. */
static bool add_table(const struct decoder *d, struct code_fact *fact, uint8_t to, const operand_t *b)
{
    enum { MIN_ADDRESS = 4096 };
    const bool is_k = is_number(b) && (number(d, b) >= MIN_ADDRESS || number(d, b) < -MIN_ADDRESS);

    if (d->mode->word != 4 || d->insn.mnemonic != ZYDIS_MNEMONIC_ADD || to == d->mode->sp)
        return false;
    if (is_k)
        code_add(fact, CODE_NUMBER, CODE_TARGET, 0, 0, number(d, b));
    else if (!read_table(d, fact, CODE_TARGET, b, 4))
        return false;
    code_add(fact, CODE_SUM, to, CODE_TARGET, to, 1);
    return true;
}

/* add, sub and and of a register: by a number, or of a number. */
static bool arithmetic(const struct decoder *d, struct code_fact *fact)
{
    const operand_t *a = &d->op[0], *b = a + 1;
    uint8_t to = whole(d, a), from = whole(d, b);
    int64_t sign = d->insn.mnemonic == ZYDIS_MNEMONIC_SUB ? -1 : 1;

    if (d->insn.mnemonic == ZYDIS_MNEMONIC_AND && is_register(a) && a->size >= 32 && is_number(b) &&
        number(d, b) >= 0) {
        to = number_of(d, a->reg.value);
        code_add(fact, CODE_INDEX, to, 0, to, number(d, b));
        return true;
    }
    if (to == CODE_NONE)
        return false;
    if (d->insn.mnemonic == ZYDIS_MNEMONIC_AND) {
        if (to != d->mode->sp || !is_number(b))
            return false;
        code_add(fact, CODE_ALIGN, to, 0, 0, 0);
    } else if (add_table(d, fact, to, b)) {
        return true;
    } else if (is_number(b)) {
        code_add(fact, CODE_SET, to, 0, to, sign * number(d, b));
    } else if (from != CODE_NONE) {
        code_add(fact, CODE_SUM, to, from, to, sign);
    } else {
        return false;
    }
    return true;
}

/* How many bytes a push or a pop moves: 2 with a prefix. */
static int64_t stack_bytes(const struct decoder *d)
{
    return d->insn.operand_width == 16 ? 2 : d->mode->word;
}

/* A word of a variable goes through CODE_TARGET: the interrupted SP, as the entry of a system call has stored it.
 * So does a number: where a handler that is jumped to returns. */
static void push(const struct decoder *d, struct code_fact *fact)
{
    const int64_t bytes = stack_bytes(d), word = d->mode->word;
    const uint8_t sp = d->mode->sp;
    uint8_t reg = d->insn.operand_count_visible > 0 ? whole(d, &d->op[0]) : (uint8_t)CODE_NONE, base;
    int64_t k;

    address(d, &d->op[0], &base, &k);
    if (bytes == word && d->insn.operand_count_visible > 0 && is_memory(&d->op[0])) {
        reg = CODE_TARGET;
        code_add(fact, CODE_LOAD, reg, reg, base, k);
    } else if (bytes == word && d->insn.operand_count_visible > 0 && is_number(&d->op[0])) {
        reg = CODE_TARGET;
        code_add(fact, CODE_NUMBER, reg, 0, 0, number(d, &d->op[0]));
    }
    if (reg != CODE_NONE && bytes == word)
        code_add(fact, CODE_STORE, reg, reg, sp, -word);
    else
        code_overwrite(fact, sp, -bytes, (uint32_t)bytes);
    code_add(fact, CODE_SET, sp, 0, sp, -bytes);
}

/* "If the ESP register is used as a base register for addressing a destination operand in memory, the POP instruction
 * computes the effective address of the operand after it increments the ESP register." */
static void pop(const struct decoder *d, struct code_fact *fact)
{
    const operand_t *to = d->insn.operand_count_visible > 0 ? &d->op[0] : NULL; /* not of the flags */
    const uint8_t sp = d->mode->sp, reg = to != NULL ? whole(d, to) : (uint8_t)CODE_NONE;
    const bool is_word = to != NULL && is_memory(to) && stack_bytes(d) == d->mode->word;
    uint8_t base;
    int64_t k;

    if (reg != CODE_NONE)
        code_add(fact, CODE_LOAD, reg, reg, sp, 0);
    if (is_word)
        code_add(fact, CODE_LOAD, CODE_TARGET, CODE_TARGET, sp, 0);
    if (reg != sp)
        code_add(fact, CODE_SET, sp, 0, sp, stack_bytes(d));
    if (is_word) {
        address(d, to, &base, &k);
        code_add(fact, CODE_STORE, CODE_TARGET, CODE_TARGET, base, k);
    } else if (to != NULL && is_memory(to)) {
        write_to(d, fact, to);
    }
    if (to != NULL && is_register(to) && reg == CODE_NONE)
        change(d, fact, to->reg.value);
}

/* Two words: CODE_TARGET keeps the first one meanwhile. */
static bool exchange(const struct decoder *d, struct code_fact *fact)
{
    const operand_t *to = &d->op[0];
    const uint8_t reg = whole(d, &d->op[1]), other = whole(d, to);
    uint8_t base;
    int64_t k;

    if (reg == CODE_NONE || (other == CODE_NONE && !is_memory(to)) ||
        (is_memory(to) && to->mem.index != ZYDIS_REGISTER_NONE))
        return false;
    if (is_memory(to)) {
        address(d, to, &base, &k);
        code_add(fact, CODE_LOAD, CODE_TARGET, CODE_TARGET, base, k);
        code_add(fact, CODE_STORE, reg, reg, base, k);
    } else {
        code_add(fact, CODE_SET, CODE_TARGET, 0, other, 0);
        code_add(fact, CODE_SET, other, 0, reg, 0);
    }
    code_add(fact, CODE_SET, reg, 0, CODE_TARGET, 0);
    return true;
}

static bool leave(const struct decoder *d, struct code_fact *fact)
{
    const uint8_t sp = d->mode->sp, fp = d->mode->fp;

    if (d->insn.operand_width == 16) /* of BP and SP */
        return false;
    code_add(fact, CODE_SET, sp, 0, fp, 0);
    code_add(fact, CODE_LOAD, fp, fp, sp, 0);
    code_add(fact, CODE_SET, sp, 0, sp, d->mode->word);
    return true;
}

/* It pushes FP and, for LEVEL, pointers to the frames of the functions that this one is in; with a prefix the lower two
 * bytes of each, and BP. */
static bool enter(const struct decoder *d, struct code_fact *fact)
{
    const uint8_t sp = d->mode->sp, fp = d->mode->fp;
    const int64_t word = d->mode->word;
    const int64_t bytes = d->op[0].imm.value.s & 0xffff, level = d->op[1].imm.value.s & 31;

    if (d->insn.operand_width == 16) {
        code_overwrite(fact, sp, -2 - 2 * level, (uint32_t)(2 + 2 * level));
        code_forget(fact, fp);
        code_add(fact, CODE_SET, sp, 0, sp, -2 - 2 * level - bytes);
        return true;
    }
    code_add(fact, CODE_STORE, fp, fp, sp, -word);
    if (level > 0)
        code_overwrite(fact, sp, -word * (1 + level), (uint32_t)(word * level));
    code_add(fact, CODE_SET, fp, 0, sp, -word);
    code_add(fact, CODE_SET, sp, 0, sp, -word * (1 + level) - bytes);
    return true;
}

/* All registers of 32 bits, from EDI at the lowest address up to EAX, as far as a fact has room: those of them that
 * functions save. */
static void push_all(struct code_fact *fact)
{
    code_overwrite(fact, ESP, -32, 32);
    code_add(fact, CODE_STORE, EBX, EBX, ESP, -16);
    code_add(fact, CODE_STORE, ESP, ESP, ESP, -20);
    code_add(fact, CODE_STORE, EBP, EBP, ESP, -24);
    code_add(fact, CODE_SET, ESP, 0, ESP, -32);
}

/* The word for ESP is left out. */
static void pop_all(struct code_fact *fact)
{
    code_add(fact, CODE_FORGET, EAX, EDX, 0, 0);
    code_add(fact, CODE_LOAD, EBX, EBX, ESP, 16);
    code_add(fact, CODE_LOAD, EBP, EBP, ESP, 8);
    code_add(fact, CODE_FORGET, ESI, EDI, 0, 0);
    code_add(fact, CODE_SET, ESP, 0, ESP, 32);
}

/* The same for code of 32 bits alone. */
static bool known_legacy(struct code_fact *fact, ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_PUSHAD:
        push_all(fact);
        return true;
    case ZYDIS_MNEMONIC_POPAD:
        pop_all(fact);
        return true;
    case ZYDIS_MNEMONIC_PUSHA: /* of 16 bits */
        code_overwrite(fact, ESP, -16, 16);
        code_add(fact, CODE_SET, ESP, 0, ESP, -16);
        return true;
    case ZYDIS_MNEMONIC_POPA:
        code_add(fact, CODE_FORGET, EAX, EBX, 0, 0);
        code_add(fact, CODE_FORGET, EBP, EDI, 0, 0);
        code_add(fact, CODE_SET, ESP, 0, ESP, 16);
        return true;
    default:
        return false;
    }
}

/* Of instructions that programs hardly have: what they write, which Zydis does not say. Returns false for others. */
static bool known_system(const struct decoder *d, struct code_fact *fact)
{
    uint8_t base;
    int64_t k;

    switch (d->insn.mnemonic) {
    case ZYDIS_MNEMONIC_SWAPGS:
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_WRMSR:
        forget_gs(fact);
        return true;
    case ZYDIS_MNEMONIC_CLZERO: /* 64 bytes, "cache line size aligned" (AMD64 Architecture Programmer's Manual) */
        code_write(fact, RAX, -63, 127);
        return true;
    case ZYDIS_MNEMONIC_FXSAVE: /* XMM registers depend on CR4 and EFER */
    case ZYDIS_MNEMONIC_FXSAVE64:
        address(d, &d->op[0], &base, &k);
        code_overwrite(fact, base, k, 160);
        code_write(fact, base, k + 160, 512 - 160);
        return true;
    case ZYDIS_MNEMONIC_VMCALL:
    case ZYDIS_MNEMONIC_VMMCALL:
        forget_changed(d, fact);
        return true;
    case ZYDIS_MNEMONIC_VMRUN:
    case ZYDIS_MNEMONIC_TDCALL:
    case ZYDIS_MNEMONIC_SEAMCALL:
    case ZYDIS_MNEMONIC_SEAMOPS:
    case ZYDIS_MNEMONIC_ENCLU:
        forget_all_but_sp(d, fact);
        return true;
    default:
        return false;
    }
}

/* Returns false if Zydis is to be asked. */
static bool known(const struct decoder *d, struct code_fact *fact)
{
    const operand_t *a = &d->op[0], *b = a + 1;

    switch (d->insn.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHF:
    case ZYDIS_MNEMONIC_PUSHFD:
    case ZYDIS_MNEMONIC_PUSHFQ:
        push(d, fact);
        return true;
    case ZYDIS_MNEMONIC_POP:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFD:
    case ZYDIS_MNEMONIC_POPFQ:
        pop(d, fact);
        return true;
    case ZYDIS_MNEMONIC_LEAVE:
        return leave(d, fact);
    case ZYDIS_MNEMONIC_ENTER:
        return enter(d, fact);
    case ZYDIS_MNEMONIC_XCHG:
        return exchange(d, fact);
    case ZYDIS_MNEMONIC_LEA:
        return shift_address(d, fact) || move(d, fact, true);
    case ZYDIS_MNEMONIC_MOVZX:
        return move_word(d, fact);
    case ZYDIS_MNEMONIC_SHL:
        return shift(d, fact);
    case ZYDIS_MNEMONIC_MOV:
        return move_word(d, fact) || move(d, fact, false);
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
        return arithmetic(d, fact);
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        if (whole(d, a) == CODE_NONE)
            return false;
        code_add(fact, CODE_SET, whole(d, a), 0, whole(d, a), d->insn.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1);
        return true;
    case ZYDIS_MNEMONIC_XOR:
        if (!is_register(a) || !is_register(b) || a->reg.value != b->reg.value || a->size < 32)
            return false;
        code_add(fact, CODE_NUMBER, number_of(d, a->reg.value), 0, 0, 0);
        return true;
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_CDQE:
        return extend(d, fact);
    case ZYDIS_MNEMONIC_CMP:
        return true;
    default:
        return known_system(d, fact) || (d->mode->word == 4 && known_legacy(fact, d->insn.mnemonic));
    }
}

/* ---- Where the PC goes ----------------------------------------------------------------------------------------- */

/* A call of what a word in memory has, or a jump to that. */
static void go_by_word(const struct decoder *d, struct code_fact *fact)
{
    address(d, &d->op[0], &fact->word_base, &fact->word);
    fact->by_word = is_memory(&d->op[0]) && fact->word_base != ANYWHERE && fact->word_base != GS;
}

/* A jump to what a register or memory has. */
static void jump_to(const struct decoder *d, struct code_fact *fact)
{
    const operand_t *to = &d->op[0];

    if (whole(d, to) != CODE_NONE)
        code_add(fact, CODE_SET, CODE_TARGET, 0, whole(d, to), 0);
    else if (!read_table(d, fact, CODE_TARGET, to, d->mode->word))
        code_forget(fact, CODE_TARGET);
    go_by_word(d, fact);
}

static void go(struct code_fact *fact, enum code_flow flow, uint64_t target)
{
    fact->flow = (uint8_t)flow;
    fact->target = target;
}

/* A far return: of whole words, to an address that start-up code has pushed. */
static void return_far(const struct decoder *d, struct code_fact *fact)
{
    int64_t more = d->insn.operand_count_visible > 0 ? d->op[0].imm.value.s & 0xffff : 0;

    fact->flow = CODE_STOP;
    if (d->insn.operand_width != 8 * d->mode->word)
        return;
    fact->flow = CODE_AWAY;
    code_add(fact, CODE_LOAD, CODE_TARGET, CODE_TARGET, d->mode->sp, 0);
    code_add(fact, CODE_SET, d->mode->sp, 0, d->mode->sp, 2 * d->mode->word + more);
}

static void interrupt(const struct decoder *d, struct code_fact *fact)
{
    if (d->insn.mnemonic == ZYDIS_MNEMONIC_INT3)
        fact->odd = true; /* nothing comes behind it at the end of a function */
    else if (d->insn.mnemonic == ZYDIS_MNEMONIC_INT)
        forget_changed(d, fact);
}

/* What jumps, and does nothing else. Its target, if it is DIRECT, is TARGET. Returns false if it is another one. */
static bool jump(const struct decoder *d, struct code_fact *fact, bool direct, uint64_t target)
{
    const bool far = d->insn.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

    if (d->insn.mnemonic == ZYDIS_MNEMONIC_JMP && d->op[0].type == ZYDIS_OPERAND_TYPE_POINTER &&
        d->insn.operand_width == 32) { /* CS gets another selector of code that begins at 0, too */
        go(fact, CODE_JUMP, d->op[0].ptr.offset);
        return true;
    }
    switch (d->insn.mnemonic) {
    case ZYDIS_MNEMONIC_CALL:
        go(fact, CODE_CALL, target);
        if (far)
            forget_all(d, fact);
        else if (!direct && whole(d, &d->op[0]) != CODE_NONE)
            code_add(fact, CODE_SET, CODE_TARGET, 0, whole(d, &d->op[0]), 0);
        else if (!direct)
            go_by_word(d, fact);
        return true;
    case ZYDIS_MNEMONIC_JMP:
        go(fact, direct ? CODE_JUMP : far ? CODE_STOP : CODE_AWAY, target);
        if (!direct && !far)
            jump_to(d, fact);
        return true;
    case ZYDIS_MNEMONIC_RET:
        fact->flow = CODE_RETURN;
        fact->odd = d->insn.operand_count_visible > 0;
        fact->pops = fact->odd ? (uint16_t)d->op[0].imm.value.u : 0;
        if (far)
            return_far(d, fact);
        return true;
    case ZYDIS_MNEMONIC_IRETQ:
        fact->flow = CODE_RESUME;
        return true;
    case ZYDIS_MNEMONIC_IRETD:
        fact->flow = d->mode->word == 4 ? CODE_RESUME : CODE_STOP;
        return true;
    case ZYDIS_MNEMONIC_SYSRET: /* to code of 64 bits: "loads RIP from RCX" */
        fact->flow = d->insn.raw.rex.W != 0 ? CODE_RESUME : CODE_STOP;
        fact->link = d->insn.raw.rex.W != 0 ? RCX : 0;
        return true;
    default:
        return false;
    }
}

/* What a branch says of a comparison of numbers without a sign. */
static uint8_t checks(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_JB:
        return CODE_CHECKS | CODE_CHECKS_THERE | CODE_CHECKS_LESS;
    case ZYDIS_MNEMONIC_JNB:
        return CODE_CHECKS | CODE_CHECKS_LESS;
    case ZYDIS_MNEMONIC_JBE:
        return CODE_CHECKS | CODE_CHECKS_THERE;
    case ZYDIS_MNEMONIC_JNBE:
        return CODE_CHECKS;
    default:
        return 0;
    }
}

/* Where the PC goes, beside what registers have. Returns whether that is all. */
static bool flow(const struct decoder *d, struct code_fact *fact)
{
    const bool direct = d->insn.raw.imm[0].is_relative;
    const uint64_t last = d->mode->word == 4 ? UINT32_MAX : UINT64_MAX;
    const uint64_t target = direct ? (d->pc + d->insn.length + (uint64_t)d->insn.raw.imm[0].value.s) & last : 0;

    if (jump(d, fact, direct, target))
        return true;
    switch (d->insn.mnemonic) {
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_UIRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
    case ZYDIS_MNEMONIC_RSM:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
        fact->flow = CODE_STOP;
        return true;
    case ZYDIS_MNEMONIC_HLT:
        fact->odd = true;
        return true;
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT1:
    case ZYDIS_MNEMONIC_INT3:
        interrupt(d, fact);
        return true;
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
        forget_changed(d, fact);
        return true;
    default:
        break;
    }
    if (direct) /* jcc, loop, jrcxz, xbegin */
        go(fact, CODE_BRANCH, target);
    fact->checks = checks(d->insn.mnemonic);
    return false;
}

/* REG = A, an element of a table at a known place. Returns false if it is none. */
static bool fetch_scaled(const struct decoder *d, struct code_fact *fact, uint8_t reg, const operand_t *a)
{
    const ZydisDecodedOperandMem *mem = &a->mem;

    if (!is_memory(a) || mem->base != ZYDIS_REGISTER_NONE || mem->index == ZYDIS_REGISTER_NONE ||
        !d->whole[mem->index] || !is_flat(mem) || mem->scale != a->size / 8)
        return false;
    code_add(fact, CODE_FETCH, reg, (uint8_t)(a->size / 8), number_of(d, mem->index), mem->disp.value);
    if (fact->size != 0)
        fact->op[fact->num - 1].from = mem->scale;
    return true;
}

/* The index of a table is compared with its last entry, or that is subtracted, and `ja` leaves if it is greater. */
static void compare(const struct decoder *d, struct code_fact *fact)
{
    const ZydisAccessedFlags *flags = d->insn.cpu_flags;
    const operand_t *a = &d->op[0], *b = &d->op[1];
    uint8_t reg = CODE_TARGET, base;
    int64_t k;

    fact->compares = flags != NULL && ((flags->modified | flags->set_0 | flags->set_1 | flags->undefined) &
                                       (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF)) != 0;
    if ((d->insn.mnemonic != ZYDIS_MNEMONIC_CMP && d->insn.mnemonic != ZYDIS_MNEMONIC_SUB) || !is_number(b))
        return;
    address(d, a, &base, &k);
    if (is_low(a) && d->number[a->reg.value] != 0 && number_of(d, a->reg.value) != d->mode->sp)
        reg = number_of(d, a->reg.value);
    else if (is_memory(a) && base != ANYWHERE)
        code_add(fact, CODE_FETCH, reg, (uint8_t)(a->size / 8), base, k);
    else if (!fetch_scaled(d, fact, reg, a))
        return;
    code_add(fact, CODE_BOUND, reg, CODE_NONE, 0,
             a->size < 64 ? (int64_t)(b->imm.value.u & (((uint64_t)1 << a->size) - 1)) : b->imm.value.s);
    fact->op[fact->num - 1].from = a->size < 32 ? (int32_t)a->size : 0;
}

/* Intel's CPUs ignore 66 in front of a branch; AMD's take two bytes of its target, and of an address only two. */
static bool is_ambiguous(const ZydisDecodedInstruction *insn)
{
    return (insn->meta.branch_type == ZYDIS_BRANCH_TYPE_SHORT ||
            insn->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR) &&
           insn->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE && insn->raw.rex.W == 0;
}

/* Where the code begins that runs in another mode, at PC or behind it; or it is PC if that is in it; or END. */
static uint64_t end_of_mode(const struct decoder *d, uint64_t pc, uint64_t end)
{
    size_t i = count_up_to(d->regions, d->num_regions, sizeof *d->regions, offsetof(struct code_region, start), pc);

    if (i > 0 && pc < d->regions[i - 1].end)
        return pc;
    return i < d->num_regions && d->regions[i].start < end ? d->regions[i].start : end;
}

/* The direction flag. A system call leaves it as it was. */
static void direction(const struct decoder *d, struct code_fact *fact)
{
    const ZydisAccessedFlags *flags = d->insn.cpu_flags;

    if (flags == NULL || d->insn.mnemonic == ZYDIS_MNEMONIC_SYSCALL)
        return;
    if ((flags->set_0 | flags->set_1) & ZYDIS_CPUFLAG_DF)
        code_add(fact, CODE_NUMBER, CODE_STATUS, 0, 0, flags->set_0 & ZYDIS_CPUFLAG_DF ? 1 : -1);
    else if ((flags->modified | flags->undefined) & ZYDIS_CPUFLAG_DF)
        code_forget(fact, CODE_STATUS);
}

/* Makes FACT of the bytes at PC. */
static void decode_bytes(struct decoder *d, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    const uint64_t end = end_of_mode(d, pc, text->end);

    memset(fact, 0, sizeof *fact);
    fact->flow = CODE_STOP;
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&d->zydis, text->bytes + (pc - text->start), end - pc, &d->insn, d->op)) ||
        is_ambiguous(&d->insn))
        return;
    d->pc = pc;
    fact->size = d->insn.length;
    fact->flow = CODE_NEXT;
    compare(d, fact);
    if (!flow(d, fact) && !known(d, fact))
        other(d, fact);
    direction(d, fact);
}

static void decode(void *decoder, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    struct decoder *d = decoder;

    if (d->decoded != NULL && decoded_find(d->decoded, text, pc, fact))
        return;
    decode_bytes(d, text, pc, fact);
    if (d->decoded != NULL)
        decoded_keep(d->decoded, pc, fact);
}

static void *open_mode(const struct mode *mode, struct image *image)
{
    struct decoder *d = zeroed(1, sizeof *d);

    d->mode = mode;
    if (!ZYAN_SUCCESS(ZydisDecoderInit(&d->zydis, mode->machine, mode->width))) {
        free(d);
        return NULL;
    }
    name_registers(d);
    if (image != NULL) {
        d->regions = modes_find(image, &d->num_regions);
        d->decoded = decoded_new(image);
    }
    return d;
}

static void *open_long(struct image *image)
{
    return open_mode(&long_mode, image);
}

static void *open_legacy(struct image *image)
{
    return open_mode(&legacy_mode, image);
}

static void close_decoder(void *decoder)
{
    struct decoder *d = decoder;

    if (d != NULL) {
        free(d->regions);
        decoded_free(d->decoded);
    }
    free(d);
}

static const struct code_region *regions_of(const void *decoder, size_t *num)
{
    const struct decoder *d = decoder;

    *num = d != NULL ? d->num_regions : 0;
    return d != NULL ? d->regions : NULL;
}

const struct code_cpu code_x86_64 = {
    0x10fff & ~(1ull << RBX | 1ull << RBP | 1ull << RSP),
    1u << R11,
    RSP,
    RBP,
    RA,
    0,
    -8,
    -8,
    false,
    1,
    0,
    decode,
    open_long,
    close_decoder,
    8,
    8,
    NULL,
    0,
    NULL,
    0,
    false,
    false,
    0,
    regions_of,
};

const struct code_cpu code_i386 = {
    1u << EAX | 1u << ECX | 1u << EDX | 1u << EIP,
    0,
    ESP,
    EBP,
    EIP,
    0,
    -4,
    -4,
    false,
    1,
    0,
    decode,
    open_legacy,
    close_decoder,
    4,
    4,
    NULL,
    0,
    NULL,
    12,
    false,
    false,
    0,
    regions_of,
};
#else
/* ISO C forbids an empty file. */
typedef int code_without_zydis;
#endif

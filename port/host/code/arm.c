/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * 32-bit ARM: A32 and T32 (Thumb). Encodings are those of the "Arm Architecture Reference Manual, ARMv7-A and ARMv7-R
 * edition", chapters A5 and A6, and of the "Armv8-M Architecture Reference Manual", chapter C2. Instructions that A32
 * and T32 have in common become the same ops. An instruction that is not known writes the register in its field Rd, if
 * all of its group do that, and else anything.
 *
 * Mapping symbols ($a, $t, $d) say which bytes are A32, T32 and data: of code without them nothing is known. T32 is
 * read from each $t on to find IT blocks, whose instructions have a condition.
 */
#include "fact.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* VALUE rotated to the right, as a number of an A32 instruction is. */
static uint32_t arm_rotated(uint32_t value, unsigned by)
{
    by &= 31;
    return by == 0 ? value : value >> by | value << (32 - by);
}

/* The number that the T32 instruction WORD, its first half in the upper bits, has in its bits 26, 14 to 12 and 7 to 0
 * (ThumbExpandImm). */
static uint32_t arm_expanded(uint32_t word)
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

enum { R0 = 0, R3 = 3, R7 = 7, R11 = 11, R12 = 12, SP = 13, LR = 14, PC = 15 };
/* A register that no store knows: memory that counts from it may be anywhere. */
enum { ANYWHERE = CODE_TARGET };

/* ---- What the image says --------------------------------------------------------------------------------------- */

/* What begins at ADDR: 'a', 't' or 'd'. */
struct mark {
    uint64_t addr;
    char kind;
};

/* An instruction in an IT block. */
struct conditional {
    uint64_t pc;
    uint8_t condition; /* as in struct code_fact */
};

struct decoder {
    struct image *image;
    struct mark *marks; /* by address */
    size_t num_marks;
    struct conditional *conditionals; /* by address */
    size_t num_conditionals;
    bool has_control;   /* it has the M profile's CONTROL: it is read, or written */
    bool process_stack; /* and code sets PSP, so that SP may be that one */
    bool vectors;       /* the CPU may have MVE (Tag_MVE_arch), whose instructions look like others */
};

/* An image_symbol_fn. A mapping symbol may have more behind a dot. */
static void add_mark(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct decoder *d = ctx;

    if (name[0] != '$' || strchr("atd", name[1]) == NULL || name[1] == '\0' ||
        (name[2] != '\0' && name[2] != '.') || sym->st_shndx == SHN_UNDEF ||
        image_code(d->image, sym->st_value) == NULL)
        return;
    d->marks = grow(d->marks, d->num_marks, sizeof *d->marks);
    d->marks[d->num_marks++] = (struct mark){sym->st_value, name[1]};
}

/* By address; of two at one address the last by letter counts. */
static int by_mark(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;

    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return x->kind - y->kind;
}

/* The number of the mark that ADDR is behind, in the same section; NUM_MARKS: there is none. */
static size_t mark_at(const struct decoder *d, uint64_t addr)
{
    size_t below = count_up_to(d->marks, d->num_marks, sizeof *d->marks, offsetof(struct mark, addr), addr);

    if (below == 0 || image_code(d->image, d->marks[below - 1].addr) != image_code(d->image, addr))
        return d->num_marks;
    return below - 1;
}

/* Where what MARK begins ends. */
static uint64_t end_of(const struct decoder *d, size_t mark)
{
    const struct section *section = image_code(d->image, d->marks[mark].addr);
    const uint64_t end = section->addr + section->size;

    return mark + 1 < d->num_marks && d->marks[mark + 1].addr < end ? d->marks[mark + 1].addr : end;
}

/* A code_cpu's data_end. */
static uint64_t data_end(void *decoder, uint64_t addr)
{
    const struct decoder *d = decoder;
    const size_t mark = mark_at(d, addr);

    return mark < d->num_marks && d->marks[mark].kind == 'd' ? end_of(d, mark) : 0;
}

static unsigned size_of(uint32_t half)
{
    return half >> 11 < 0x1d ? 2 : 4;
}

/* Whether HALF is `it`: hints have 0 in its lowest four bits. */
static bool is_it(uint32_t half)
{
    return (half & 0xff00) == 0xbf00 && (half & 15) != 0;
}

/* HALF and NEXT may be an instruction that only the M profile has: msr of PSP or CONTROL, also the non-secure ones; mrs
 * of CONTROL. */
static void find_special(struct decoder *d, uint32_t half, uint32_t next)
{
    const bool writes = (half & 0xfff0) == 0xf380 && (next & 0xff00) == 0x8800;
    const uint32_t which = next & 0x7f;

    d->process_stack |= writes && (which == 9 || which == 0x18);
    d->has_control |= (writes || (half == 0xf3ef && (next & 0xf000) == 0x8000)) && which == 0x14;
}

/* Finds the IT blocks in the T32 code from START up to END, at BYTES. */
static void find_blocks(struct decoder *d, const uint8_t *bytes, uint64_t start, uint64_t end)
{
    uint32_t state = 0; /* ITSTATE */
    uint64_t pc = start;

    while (end - pc >= 2) {
        const uint32_t half = (uint32_t)load_number(bytes + (pc - start), 2, false), condition = state >> 4;

        if (state != 0 && condition < 14) {
            d->conditionals = grow(d->conditionals, d->num_conditionals, sizeof *d->conditionals);
            d->conditionals[d->num_conditionals++] = (struct conditional){pc, (uint8_t)(condition + 1)};
        }
        state = (state & 7) == 0 ? 0 : (state & 0xe0) | (state << 1 & 0x1f);
        if (is_it(half))
            state = half & 0xff;
        if (end - pc >= 4)
            find_special(d, half, (uint32_t)load_number(bytes + (pc + 2 - start), 2, false));
        if (end - pc < size_of(half))
            break;
        pc += size_of(half);
    }
}

/* Whether the CPU may have MVE. */
static bool may_have_vectors(struct image *image)
{
    enum { MVE = 48 };
    uint64_t value;

    return !image_attribute(image, MVE, &value) || value != 0;
}

static void *open_decoder(struct image *image)
{
    struct decoder *d = zeroed(1, sizeof *d);
    size_t i;

    d->image = image;
    d->vectors = may_have_vectors(image);
    if (!image_symbols(image) || !image_each_symbol(image, SHT_SYMTAB, add_mark, d))
        d->num_marks = 0;
    if (d->num_marks > 0)
        qsort(d->marks, d->num_marks, sizeof *d->marks, by_mark);
    for (i = 0; i < d->num_marks; i++) {
        const uint64_t start = d->marks[i].addr, end = end_of(d, i);
        const uint8_t *bytes =
            d->marks[i].kind == 't' && start < end ? image_instructions(image, start, end - start) : NULL;

        if (bytes != NULL)
            find_blocks(d, bytes, start, end);
    }
    return d;
}

static void close_decoder(void *decoder)
{
    struct decoder *d = decoder;

    free(d->marks);
    free(d->conditionals);
    free(d);
}

static uint8_t condition_at(const struct decoder *d, uint64_t pc)
{
    const size_t below = count_up_to(d->conditionals, d->num_conditionals, sizeof *d->conditionals,
                                     offsetof(struct conditional, pc), pc);

    return below > 0 && d->conditionals[below - 1].pc == pc ? d->conditionals[below - 1].condition : 0;
}

/* ---- Words ----------------------------------------------------------------------------------------------------- */

/* An instruction: T32's of four bytes with its first half on top. Where it stands, and what it reads as PC. */
struct instruction {
    uint32_t word;
    uint64_t pc, here;
    const struct decoder *decoder; /* or NULL */
};

static uint32_t field(uint32_t word, unsigned low, unsigned size)
{
    return word >> low & ((1u << size) - 1);
}

static uint8_t reg_at(uint32_t word, unsigned low)
{
    return (uint8_t)(word >> low & 15);
}

/* The lowest SIZE bits of VALUE as a signed number. */
static int64_t sign(uint32_t value, unsigned size)
{
    const uint32_t top = 1u << (size - 1);

    return (int32_t)(((value & (2 * top - 1)) ^ top) - top);
}

static unsigned ones(uint32_t mask)
{
    unsigned n = 0;

    for (; mask != 0; mask &= mask - 1)
        n++;
    return n;
}

static void number(struct code_fact *fact, uint8_t reg, uint64_t value)
{
    code_add(fact, CODE_NUMBER, reg, 0, 0, (int32_t)(uint32_t)value);
}

static void set(struct code_fact *fact, uint8_t reg, uint8_t from, int64_t k)
{
    code_add(fact, CODE_SET, reg, 0, from, k);
}

static void forget_range(struct code_fact *fact, uint8_t first, uint8_t last)
{
    code_add(fact, CODE_FORGET, first, last, 0, 0);
}

/* Nothing is known, neither what was written nor where the PC goes. */
static void unknown(struct code_fact *fact)
{
    fact->num = 0;
    fact->size = 0;
    fact->flow = CODE_STOP;
}

/* REG gets what is not known. PC cannot. */
static void result_in(struct code_fact *fact, uint8_t reg)
{
    if (reg == PC)
        unknown(fact);
    else
        code_replace(fact, reg);
}

/* The register that an instruction writes to REG: PC is where it goes. */
static uint8_t to(struct code_fact *fact, uint8_t reg)
{
    if (reg != PC)
        return reg;
    fact->flow = CODE_AWAY;
    return CODE_TARGET;
}

/* What a call of a supervisor or of a debugger may change. */
static void leave(struct code_fact *fact)
{
    fact->odd = true;
    forget_range(fact, R0, R3);
    code_forget(fact, R12);
}

/* ---- Data processing ------------------------------------------------------------------------------------------- */

/* The operations, by A32's numbers. */
enum {
    AND = 0,
    EOR = 1,
    SUB = 2,
    RSB = 3,
    ADD = 4,
    TST = 8,
    CMP = 10,
    CMN = 11,
    ORR = 12,
    MOV = 13,
    BIC = 14,
    MVN = 15,
    OTHER = 16
};

enum { LSL = 0 };

/* What is computed with: a number or, if there is one, a register, shifted. */
struct operand {
    bool by_number;
    uint32_t number;
    uint8_t reg, type;
    unsigned by; /* 0: not shifted */
};

/* Whether MASK has all of its zeros at its lower end, in at most 16 bits. */
static bool rounds_down(uint32_t mask)
{
    return mask != UINT32_MAX && (~mask & (~mask + 1)) == 0 && ~mask < 0x10000;
}

/* How OP, of those that work on each bit, does that: CODE_AND or another one of those, or CODE_NONE. */
static unsigned bitwise(unsigned op)
{
    return op == AND ? CODE_AND : op == ORR ? CODE_OR : op == EOR ? CODE_XOR : op == BIC ? CODE_BIC : CODE_NONE;
}

/* REG = BASE with LAST or, CODE_NONE, K, as OP says. */
static void combine(struct code_fact *fact, unsigned op, uint8_t reg, uint8_t base, uint8_t last, int64_t k)
{
    code_add(fact, CODE_BITS, reg, last, base, k);
    if (fact->size != 0)
        fact->op[fact->num - 1].from = (int32_t)bitwise(op);
}

static void with_number(struct code_fact *fact, unsigned op, uint8_t rd, uint8_t rn, uint32_t value)
{
    const int64_t k = (int32_t)value;

    if (op == MOV) {
        number(fact, rd, value);
    } else if (op == MVN) {
        number(fact, rd, ~value);
    } else if (op == ADD || op == SUB) {
        set(fact, rd, rn, op == ADD ? k : -k);
    } else if (op == RSB && value == 0) {
        code_add(fact, CODE_SUM, rd, rn, CODE_ZERO, -1);
    } else if ((op == AND && rounds_down(value)) || (op == BIC && rounds_down(~value))) {
        if (rd != rn)
            set(fact, rd, rn, 0);
        code_add(fact, CODE_ALIGN, rd, 0, 0, op == AND ? k : ~k);
    } else if (op == AND) {
        code_add(fact, CODE_INDEX, rd, 0, rn, value);
    } else if (bitwise(op) != CODE_NONE) {
        combine(fact, op, rd, rn, CODE_NONE, k);
    } else {
        code_replace(fact, rd);
    }
}

static void with_register(struct code_fact *fact, unsigned op, uint8_t rd, uint8_t rn, const struct operand *o)
{
    const bool plain = o->type == LSL && o->by == 0, shifted = o->type == LSL && o->by < 4;

    if (op == MOV && o->type == LSL) {
        set(fact, rd, o->reg, 0);
        if (o->by != 0)
            code_add(fact, CODE_SHIFT, rd, 0, 0, o->by);
    } else if (op == MVN && plain) {
        code_add(fact, CODE_SUM, rd, o->reg, CODE_ZERO, -1);
        set(fact, rd, rd, -1);
    } else if (op == ADD && plain) {
        code_add(fact, CODE_SUM, rd, o->reg == SP ? rn : o->reg, o->reg == SP ? o->reg : rn, 1);
    } else if (op == SUB && plain) {
        code_add(fact, CODE_SUM, rd, o->reg, rn, -1);
    } else if ((op == ADD || op == SUB) && rd == SP && rn == SP) {
        code_add(fact, CODE_ALIGN, SP, 0, 0, 0); /* alloca */
    } else if (bitwise(op) != CODE_NONE && plain) {
        combine(fact, op, rd, rn, o->reg, 0);
    } else if (op == ADD && shifted) {
        code_scaled(fact, rd, rn, o->reg, o->by * CODE_ENTRY_SHIFT);
    } else {
        code_replace(fact, rd);
    }
}

/* RD = RN OP *O. What is compared with may be the number of entries of a table. */
static void compute(struct code_fact *fact, const struct instruction *i, unsigned op, uint8_t rd, uint8_t rn,
                    const struct operand *o)
{
    if (rn == PC || (!o->by_number && o->reg == PC))
        number(fact, PC, i->here);
    if (op >= TST && op <= CMN) {
        if (op == CMP && o->by_number)
            code_add(fact, CODE_BOUND, rn, CODE_NONE, 0, o->number);
        else if (op == CMP && o->type == LSL && o->by == 0)
            code_add(fact, CODE_BOUND, rn, o->reg, 0, 0);
        return;
    }
    if (o->by_number)
        with_number(fact, op, to(fact, rd), rn, o->number);
    else
        with_register(fact, op, to(fact, rd), rn, o);
}

static struct operand by_number(uint32_t value)
{
    return (struct operand){true, value, 0, 0, 0};
}

static struct operand by_register(uint8_t reg, unsigned type, unsigned by)
{
    return (struct operand){false, 0, reg, (uint8_t)type, by};
}

/* ---- Loads and stores ------------------------------------------------------------------------------------------ */

/* One word or less in memory: at RN + K or, if there is one, RN + or - INDEX, shifted by BY as TYPE says. Behind or in
 * front of the access RN may become that. */
struct access {
    uint8_t rn, index;
    bool loads, by_index, post, writes;
    unsigned bytes, by;
    bool has_sign;
    uint8_t type; /* CODE_LEFT and so on */
    int64_t k;
    bool down; /* INDEX is subtracted */
};

/* Words in code are read as they are in the file. */
static bool literal(const struct instruction *i, uint64_t addr, uint64_t *value)
{
    const uint8_t *p = i->decoder != NULL ? image_instructions(i->decoder->image, addr & UINT32_MAX, 4) : NULL;

    if (p != NULL)
        *value = load_number(p, 4, false);
    return p != NULL;
}

/* Whether A is at RN + or - INDEX, shifted; but for rrx, which shifts the carry in. */
static bool is_at_sum(const struct access *a)
{
    return a->by_index && !a->post && (a->type != CODE_AROUND || a->by != 0);
}

/* CODE_TARGET becomes that place. */
static void add_index(struct code_fact *fact, const struct access *a)
{
    const bool shifts = a->by != 0 || a->type != CODE_LEFT; /* to the right by 0 is by 32 */

    if (shifts) {
        code_add(fact, CODE_SET, CODE_TARGET, 0, a->index, 0);
        code_add(fact, CODE_SHIFT, CODE_TARGET, 0, 0, a->by != 0 ? a->by : 32);
        fact->op[fact->num - 1].from = a->type;
    }
    code_add(fact, CODE_SUM, CODE_TARGET, shifts ? (uint8_t)CODE_TARGET : a->index, a->rn, a->down ? -1 : 1);
}

static void load(struct code_fact *fact, const struct instruction *i, uint8_t rt, const struct access *a)
{
    const int64_t k = a->post ? 0 : a->k;
    const unsigned width = a->bytes | (a->has_sign ? CODE_ENTRY_SIGNED : 0);
    const uint8_t reg = to(fact, rt);
    uint64_t value;

    if (is_at_sum(a) && a->rn == SP && a->bytes == 4) {
        add_index(fact, a);
        code_add(fact, CODE_LOAD, reg, reg, CODE_TARGET, 0);
        if (reg != CODE_TARGET)
            code_forget(fact, CODE_TARGET);
    } else if (is_at_sum(a) && a->type == CODE_LEFT && !a->down && (a->by == 0 || 1u << a->by == a->bytes))
        code_table(fact, reg, width, a->rn, a->by == 0 ? a->index : a->rn,
                   a->by == 0 ? (uint8_t)CODE_NONE : a->index, 0);
    else if (a->by_index)
        code_replace(fact, reg);
    else if (a->rn == PC && a->bytes == 4 && literal(i, (i->here & ~3u) + (uint64_t)k, &value))
        number(fact, reg, value);
    else if (a->rn == PC)
        code_replace(fact, reg);
    else if (a->bytes == 4)
        code_add(fact, CODE_LOAD, reg, reg, a->rn, k);
    else
        code_table(fact, reg, width, a->rn, CODE_NONE, CODE_NONE, k);
}

static void store(struct code_fact *fact, uint8_t rt, const struct access *a)
{
    const int64_t k = a->post ? 0 : a->k;

    if (is_at_sum(a)) {
        add_index(fact, a);
        if (a->bytes == 4 && rt != PC)
            code_add(fact, CODE_STORE, rt, rt, CODE_TARGET, 0);
        else
            code_overwrite(fact, CODE_TARGET, 0, a->bytes);
        code_forget(fact, CODE_TARGET);
    } else if (a->by_index && !a->post)
        code_write(fact, ANYWHERE, 0, a->bytes);
    else if (a->bytes == 4 && rt != PC)
        code_add(fact, CODE_STORE, rt, rt, a->rn, a->by_index ? 0 : k);
    else
        code_overwrite(fact, a->rn, a->by_index ? 0 : k, a->bytes);
}

/* RN becomes what was accessed. */
static void write_back(struct code_fact *fact, const struct access *a)
{
    if (!a->by_index)
        set(fact, a->rn, a->rn, a->k);
    else if (a->rn == SP)
        code_add(fact, CODE_ALIGN, SP, 0, 0, 0);
    else
        code_forget(fact, a->rn);
}

static void access_one(struct code_fact *fact, const struct instruction *i, uint8_t rt, const struct access *a)
{
    if (a->rn == PC)
        number(fact, PC, i->here & ~(uint64_t)3);
    if (a->loads)
        load(fact, i, rt, a);
    else
        store(fact, rt, a);
    if (a->writes)
        write_back(fact, a);
}

/* Two words: RT and OTHER, at RN + K. */
static void access_two(struct code_fact *fact, const struct instruction *i, uint8_t rt, uint8_t other,
                       const struct access *a)
{
    struct access first = *a, second = *a;

    if (rt == PC || other == PC || (a->loads && rt == other) ||
        (a->writes && (a->rn == PC || a->rn == rt || a->rn == other))) {
        unknown(fact);
        return;
    }
    first.writes = second.writes = false;
    first.post = second.post = false;
    first.k = a->post ? 0 : a->k;
    second.k = first.k + 4;
    if (a->by_index && a->loads) {
        code_replace(fact, rt);
        code_replace(fact, other);
    } else if (is_at_sum(a)) {
        add_index(fact, a);
        code_overwrite(fact, CODE_TARGET, 0, 8);
        code_forget(fact, CODE_TARGET);
    } else if (a->by_index) {
        code_write(fact, a->post ? a->rn : (uint8_t)ANYWHERE, 0, 8);
        if (a->post)
            code_replace_bytes(fact);
    } else if (a->loads && rt == a->rn) {
        access_one(fact, i, other, &second);
        access_one(fact, i, rt, &first);
    } else {
        access_one(fact, i, rt, &first);
        access_one(fact, i, other, &second);
    }
    if (a->writes)
        write_back(fact, a);
}

/* The registers of MASK, upwards from the address that is BEFORE or behind RN, above or below it. */
static void access_many(struct code_fact *fact, bool loads, uint8_t rn, uint32_t mask, bool up, bool before,
                        bool writes)
{
    const int64_t bytes = 4 * (int64_t)ones(mask), low = (up ? 0 : -bytes) + (up == before ? 4 : 0);

    if (!loads && mask >> PC & 1) /* what is stored then depends on the CPU */
        code_forget(fact, PC);
    code_add(fact, loads ? CODE_LOADS : CODE_STORES, 0, 0, rn, low);
    fact->op[fact->num - 1].from = (int32_t)mask;
    if (loads && mask >> PC & 1)
        fact->flow = CODE_AWAY;
    if (writes && loads && mask >> rn & 1)
        code_forget(fact, rn);
    else if (writes)
        set(fact, rn, rn, up ? bytes : -bytes);
}

/* ---- Coprocessors, floating point ------------------------------------------------------------------------------ */

/* Whether WORD is vldr or vstr of a register of the system, as secure functions save FPCXTNS. */
static bool is_system(uint32_t word)
{
    return field(word, 25, 3) == 6 && field(word, 8, 4) == 15 && !field(word, 12, 1) && field(word, 7, 1);
}

/* ldc, stc; vldr, vldm and so on: loads change no other register than the one of the address. */
static void access_floats(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, which = field(word, 8, 4), number = word & (is_system(word) ? 0x7f : 0xff),
                   bytes = (which == 9 ? 2 : 4) * number;
    const bool before = field(word, 24, 1), up = field(word, 23, 1), writes = field(word, 21, 1);
    const bool loads = field(word, 20, 1), floats = which == 10 || which == 11,
               one = which == 9 || (before && !writes);
    const uint8_t rn = reg_at(word, 16);
    const int64_t k = up ? bytes : -(int64_t)bytes;
    const uint32_t size = which == 9 ? 2 : !floats ? 4 : one ? (which == 11 ? 8 : 4) : bytes;

    if (floats && !before && !up && writes) { /* vlstm, vlldm: the base stays */
        if (!loads)
            code_write(fact, rn, 0, 136);
        return;
    }
    if (size > 255 || (writes && rn == PC)) {
        unknown(fact);
        return;
    }
    if (!loads && rn != PC && size != 0) {
        const uint32_t sure = which == 11 ? size / 8 * 8 : size; /* fstmx; others write a word at least */

        code_overwrite(fact, rn, before ? k : 0, sure);
        if (sure < size)
            code_write(fact, rn, before ? k : 0, size);
    }
    if (writes)
        set(fact, rn, rn, k);
}

/* MVE's loads and stores of a vector, of which a store counts as one of all its elements: one after the other, those of
 * memory as wide as those of the vector or narrower; two or four vectors by turns; at addresses out of a vector. */
static void access_mve(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, size = field(word, 7, 2);
    const bool before = field(word, 24, 1), up = field(word, 23, 1), writes = field(word, 21, 1);
    const bool loads = field(word, 20, 1), other = word >> 28 == 15, wide = field(word, 12, 1);
    const bool by_turns = other && wide && !before, narrow = !wide;
    const uint8_t rn = narrow ? (uint8_t)field(word, 16, 3) : reg_at(word, 16);
    const uint32_t element = narrow ? 1 + field(word, 19, 1) : 1u << size;
    const uint32_t bytes = by_turns ? (word & 1 ? 64 : 32) : element * (16u >> size);
    const int64_t k = by_turns ? bytes : (int64_t)((word & 127) * element) * (up ? 1 : -1);

    if (size == 3 || rn == PC || (rn == SP && by_turns)) {
        unknown(fact);
        return;
    }
    if (other && wide && before) /* at addresses out of a vector */
        return;
    if (!before && !writes && !by_turns) { /* at distances out of one */
        if (!loads)
            code_write(fact, ANYWHERE, 0, 8);
        return;
    }
    if (!loads)
        code_overwrite(fact, rn, before ? k : 0, bytes);
    if (writes)
        set(fact, rn, rn, k);
}

/* Encodings that A32 and T32 have in common: 1110 and 1111 on top, then 110 or 1110. Of coprocessors 0 to 7 CPUs may
 * make what they like (CDE). With 1111, 8 to 13 are vectors alone. */
static void coprocessor(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, which = field(word, 8, 4);
    const bool loads = field(word, 20, 1), moves = field(word, 25, 3) == 7 && field(word, 4, 1);
    const bool moves_two = field(word, 21, 7) == 0x62;

    fact->flags = moves && loads && reg_at(word, 12) == PC; /* vmrs, mrc: to the flags */
    if (word >> 28 == 15 && which >= 8 && which < 14)
        return;
    const bool vectors = i->decoder != NULL && i->decoder->vectors && which >= 14;

    if (vectors && field(word, 25, 3) == 6 && !is_system(word) && !field(word, 22, 1)) {
        access_mve(fact, i);
    } else if ((which < 8 && !moves && !moves_two) || (vectors && !is_system(word))) {
        unknown(fact);
    } else if (moves_two) { /* mcrr, mrrc, vmov */
        if (loads) {
            result_in(fact, reg_at(word, 12));
            result_in(fact, reg_at(word, 16));
        }
    } else if (moves) { /* mcr, mrc, vmov, vmrs */
        if (loads && reg_at(word, 12) != PC)
            code_replace(fact, reg_at(word, 12));
    } else if (field(word, 25, 3) == 6) {
        access_floats(fact, i);
    }
}

/* NEON's loads and stores of structures: A32's 1111 0100, T32's 1111 1001. */
static void access_vectors(struct code_fact *fact, uint32_t word)
{
    static const uint8_t registers[] = {4, 4, 4, 4, 3, 3, 3, 1, 2, 2, 2, 4, 4, 4, 4, 4}; /* of 8 bytes */
    const uint8_t rn = reg_at(word, 16), rm = reg_at(word, 0);
    const uint32_t kind = field(word, 8, 4), one = (1u << (kind >> 2)) * ((kind & 3) + 1);
    const uint32_t bytes = field(word, 23, 1) ? one : 8u * registers[kind];

    if (rn == PC) {
        unknown(fact);
        return;
    }
    if (!field(word, 21, 1))
        code_overwrite(fact, rn, 0, bytes);
    if (rm != PC)
        code_add(fact, rn == SP ? CODE_ALIGN : CODE_FORGET, rn, rn, 0, 0);
}

/* ---- T32, two bytes -------------------------------------------------------------------------------------------- */

static void go_to(struct code_fact *fact, enum code_flow flow, uint64_t target)
{
    fact->flow = (uint8_t)flow;
    fact->target = target & UINT32_MAX;
}

/* bx, blx of a register. */
static void exchange(struct code_fact *fact, const struct instruction *i, uint8_t rm, bool calls)
{
    if (rm == PC)
        number(fact, PC, i->here & ~(uint64_t)3);
    if (calls) {
        fact->flow = CODE_CALL;
        fact->flags = true;
    } else
        fact->flow = CODE_AWAY;
    set(fact, CODE_TARGET, rm, 0);
}

/* Whether a T32 instruction of two bytes that computes sets flags: not in an IT block. */
static bool sets_flags(const struct code_fact *fact)
{
    return fact->condition == 0;
}

static void shift_half(struct code_fact *fact, const struct instruction *i, const struct code_text *text)
{
    const uint32_t half = i->word, by = field(half, 6, 5);
    const uint8_t rd = (uint8_t)(half & 7), rm = (uint8_t)field(half, 3, 3);
    const uint32_t next =
        text->end - i->pc >= 4 ? (uint32_t)load_number(text->bytes + (i->pc + 2 - text->start), 2, false) : 0;

    if (half >> 11 == 0) {
        struct operand o = by_register(rm, LSL, by);

        compute(fact, i, MOV, rd, 0, &o);
    } else if (half >> 11 == 1 && next == (by << 6 | (uint32_t)rd << 3 | rd) && by != 0 && by < 16 &&
               fact->condition == 0) {
        /* lsrs, and lsls by the same: one instruction that rounds down, as clang does for ARMv6-M */
        fact->size = 4;
        if (rd != rm)
            set(fact, rd, rm, 0);
        code_add(fact, CODE_ALIGN, rd, 0, 0, 0);
    } else {
        code_replace(fact, rd);
    }
}

static void arithmetic_half(struct code_fact *fact, const struct instruction *i, const struct code_text *text)
{
    const uint32_t half = i->word;
    const uint8_t rd = (uint8_t)(half & 7), rn = (uint8_t)field(half, 3, 3), rdn = (uint8_t)field(half, 8, 3);
    struct operand o = by_number(half & 0xff);

    fact->flags = sets_flags(fact);
    switch (half >> 11) {
    case 0:
    case 1:
    case 2:
        shift_half(fact, i, text);
        break;
    case 3: /* adds, subs of three bits or a register */
        o = field(half, 10, 1) ? by_number(field(half, 6, 3)) : by_register((uint8_t)field(half, 6, 3), LSL, 0);
        compute(fact, i, field(half, 9, 1) ? SUB : ADD, rd, rn, &o);
        break;
    case 4:
        compute(fact, i, MOV, rdn, 0, &o);
        break;
    case 5:
        fact->flags = true;
        compute(fact, i, CMP, 0, rdn, &o);
        break;
    default:
        compute(fact, i, half >> 11 == 6 ? ADD : SUB, rdn, rdn, &o);
        break;
    }
}

/* 0100 00: ands and so on, of two low registers. */
static void logic_half(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t op = field(i->word, 6, 4);
    const uint8_t rd = (uint8_t)(i->word & 7), rm = (uint8_t)field(i->word, 3, 3);
    struct operand o = by_register(rm, LSL, 0);

    fact->flags = sets_flags(fact);
    if (op == TST || op == CMP || op == CMN) {
        fact->flags = true;
        compute(fact, i, op, 0, rd, &o);
    } else if (op == 9) { /* negs */
        code_add(fact, CODE_SUM, rd, rm, CODE_ZERO, -1);
    } else if (op == MVN || bitwise(op) != CODE_NONE) {
        compute(fact, i, op, rd, rd, &o);
    } else {
        code_replace(fact, rd);
    }
}

/* 0100 01: add, cmp, mov of any registers; bx, blx. */
static void high_half(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t half = i->word;
    const uint8_t rd = (uint8_t)(field(half, 7, 1) << 3 | (half & 7)), rm = reg_at(half, 3);
    struct operand o = by_register(rm, LSL, 0);

    switch (field(half, 8, 2)) {
    case 0:
        compute(fact, i, ADD, rd, rd, &o);
        break;
    case 1:
        fact->flags = true;
        compute(fact, i, CMP, 0, rd, &o);
        break;
    case 2:
        compute(fact, i, MOV, rd, 0, &o);
        break;
    default:
        exchange(fact, i, rm, field(half, 7, 1));
        break;
    }
}

/* 0100 1 to 1001: of one word or less. */
static void access_half(struct code_fact *fact, const struct instruction *i)
{
    static const struct {
        unsigned bytes;
        bool loads, has_sign;
    } by_index[] = {{4, false, false}, {2, false, false}, {1, false, false}, {1, true, true},
                    {4, true, false},  {2, true, false},  {1, true, false},  {2, true, true}};
    const uint32_t half = i->word, which = field(half, 9, 3), imm = field(half, 6, 5);
    struct access a = {0};
    uint8_t rt = (uint8_t)(half & 7);

    a.rn = (uint8_t)field(half, 3, 3);
    a.loads = field(half, 11, 1);
    switch (half >> 12) {
    case 4: /* of a literal */
    case 9: /* at SP */
        rt = (uint8_t)field(half, 8, 3);
        a.rn = half >> 12 == 4 ? PC : SP;
        a.bytes = 4;
        a.k = 4 * (int64_t)(half & 0xff);
        break;
    case 5:
        a.by_index = true;
        a.index = (uint8_t)field(half, 6, 3);
        a.loads = by_index[which].loads;
        a.bytes = by_index[which].bytes;
        a.has_sign = by_index[which].has_sign;
        break;
    case 6:
        a.bytes = 4;
        a.k = 4 * (int64_t)imm;
        break;
    case 7:
        a.bytes = 1;
        a.k = imm;
        break;
    default:
        a.bytes = 2;
        a.k = 2 * (int64_t)imm;
        break;
    }
    access_one(fact, i, rt, &a);
}

/* 1011 */
static void misc_half(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t half = i->word;
    const int64_t by = 4 * (int64_t)(half & 0x7f);

    if ((half & 0xff00) == 0xb000) /* add, sub of SP */
        set(fact, SP, SP, field(half, 7, 1) ? -by : by);
    else if ((half & 0xff80) == 0xb280) /* uxth, uxtb */
        code_add(fact, CODE_INDEX, (uint8_t)(half & 7), 0, (uint8_t)field(half, 3, 3),
                 field(half, 6, 1) ? UINT8_MAX : UINT16_MAX);
    else if ((half & 0xf500) == 0xb100) /* cbz, cbnz */
        go_to(fact, CODE_BRANCH, i->here + (field(half, 9, 1) << 6 | field(half, 3, 5) << 1));
    else if ((half & 0xff00) == 0xb200 || ((half & 0xff00) == 0xba00 && (half & 0xc0) != 0x80)) /* sxth, rev */
        code_forget(fact, (uint8_t)(half & 7));
    else if ((half & 0xfe00) == 0xb400)
        access_many(fact, false, SP, (half & 0xff) | field(half, 8, 1) << LR, false, true, true);
    else if ((half & 0xfe00) == 0xbc00)
        access_many(fact, true, SP, (half & 0xff) | field(half, 8, 1) << PC, true, false, true);
    else if ((half & 0xff00) == 0xbe00 || (half & 0xffc0) == 0xba80) /* bkpt, hlt: debuggers return to them */
        leave(fact);
    else if ((half & 0xffe8) == 0xb660 || (half & 0xfff7) == 0xb610 || (half & 0xfff7) == 0xb650)
        ;                               /* cps, setpan, setend */
    else if ((half & 0xff00) != 0xbf00) /* hints, it */
        unknown(fact);
}

/* 1010: adr; add of SP */
static void address_half(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t half = i->word;
    const uint8_t rd = (uint8_t)field(half, 8, 3);

    if (field(half, 11, 1))
        set(fact, rd, SP, 4 * (int64_t)(half & 0xff));
    else
        number(fact, rd, (i->here & ~(uint64_t)3) + 4 * (half & 0xff));
}

/* 1101 */
static void branch_half(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t half = i->word;

    if (field(half, 8, 4) == 14) { /* udf */
        fact->flow = CODE_STOP;
    } else if (field(half, 8, 4) == 15) { /* svc */
        leave(fact);
        fact->flags = true;
    } else {
        fact->condition = (uint8_t)(field(half, 8, 4) + 1);
        go_to(fact, CODE_JUMP, i->here + (uint64_t)(2 * sign(half, 8)));
    }
}

static void decode_half(struct code_fact *fact, const struct instruction *i, const struct code_text *text)
{
    const uint32_t half = i->word;
    const uint8_t rn = (uint8_t)field(half, 8, 3);

    switch (half >> 12) {
    case 0:
    case 1:
    case 2:
    case 3:
        arithmetic_half(fact, i, text);
        break;
    case 4:
        if (field(half, 11, 1))
            access_half(fact, i);
        else if (field(half, 10, 1))
            high_half(fact, i);
        else
            logic_half(fact, i);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
        access_half(fact, i);
        break;
    case 10:
        address_half(fact, i);
        break;
    case 11:
        misc_half(fact, i);
        break;
    case 12: /* stmia, ldmia, which leaves a base that it loads */
        access_many(fact, field(half, 11, 1), rn, half & 0xff, true, false,
                    !field(half, 11, 1) || !(half >> rn & 1));
        break;
    case 13:
        branch_half(fact, i);
        break;
    default:
        go_to(fact, CODE_JUMP, i->here + (uint64_t)(2 * sign(half, 11)));
        break;
    }
}

/* ---- T32, four bytes ------------------------------------------------------------------------------------------- */

/* Data processing, by a number or a shifted register. */
static void compute_wide(struct code_fact *fact, const struct instruction *i, const struct operand *o)
{
    static const uint8_t ops[] = {AND, BIC,   MOV,   MVN,   EOR,   OTHER, OTHER, OTHER,
                                  ADD, OTHER, OTHER, OTHER, OTHER, SUB,   RSB,   OTHER};
    const uint32_t op = field(i->word, 21, 4);
    const uint8_t rd = reg_at(i->word, 8), rn = reg_at(i->word, 16);
    unsigned what = ops[op];

    fact->flags = field(i->word, 20, 1);
    if (rd == PC) {
        if (!fact->flags || (op != 0 && op != 4 && op != 8 && op != 13)) /* tst, teq, cmn, cmp */
            unknown(fact);
        else
            compute(fact, i, op == 13 ? CMP : TST, 0, rn, o);
        return;
    }
    if ((op == 2 || op == 3) && rn != PC)
        what = op == 2 ? ORR : OTHER;
    compute(fact, i, what, rd, rn, o);
}

/* A shifted register. MVE has shifts of two registers among them, whose Rd is SP or PC. */
static void compute_by_register(struct code_fact *fact, const struct instruction *i)
{
    struct operand o =
        by_register(reg_at(i->word, 0), field(i->word, 4, 2), field(i->word, 12, 3) << 2 | field(i->word, 6, 2));

    const uint32_t op = field(i->word, 20, 5);
    const uint8_t rd = reg_at(i->word, 8);

    if (field(i->word, 15, 1)) /* csel and so on */
        if (op != 5 || rd == SP || rd == PC)
            unknown(fact);
        else
            code_replace(fact, rd);
    else if (op == 5 && (rd == SP || rd == PC))
        unknown(fact);
    else
        compute_wide(fact, i, &o);
}

/* addw, subw, adr, movw, movt; bit fields and saturation. */
static void compute_plain(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, op = field(word, 20, 5);
    const uint32_t imm = field(word, 26, 1) << 11 | field(word, 12, 3) << 8 | (word & 0xff);
    const uint8_t rd = reg_at(word, 8), rn = reg_at(word, 16);
    const bool low = field(word, 12, 3) == 0 && field(word, 6, 2) == 0;
    struct operand o = by_number(imm);

    if (rd == PC)
        unknown(fact);
    else if ((op == 0 || op == 10) && rn == PC) /* adr */
        number(fact, rd, (i->here & ~(uint64_t)3) + (op == 0 ? imm : 0 - (uint64_t)imm));
    else if (op == 0 || op == 10)
        compute(fact, i, op == 0 ? ADD : SUB, rd, rn, &o);
    else if (op == 4) /* movw */
        number(fact, rd, (uint32_t)rn << 12 | imm);
    else if (op == 12) /* movt */
        code_add(fact, CODE_INSERT, rd, 16, 0, (uint32_t)rn << 12 | imm);
    else if (op == 22 && rn == PC && low && (word & 31) < 16) /* bfc of the lowest bits */
        code_add(fact, CODE_ALIGN, rd, 0, 0, 0);
    else
        code_replace(fact, rd);
}

/* A part of what libgcc has for switches of ARMv6-M: a call of it is a jump by the table behind the call. */
static bool switches(struct code_fact *fact, const struct instruction *i, uint64_t target)
{
    static const struct {
        const char *name;
        unsigned width, how;
    } kinds[] = {{"uqi", 1, CODE_ENTRY_SHIFT},
                 {"sqi", 1 | CODE_ENTRY_SIGNED, CODE_ENTRY_SHIFT | CODE_ENTRY_SIGNED},
                 {"uhi", 2, CODE_ENTRY_SHIFT},
                 {"shi", 2 | CODE_ENTRY_SIGNED, CODE_ENTRY_SHIFT | CODE_ENTRY_SIGNED},
                 {"si", 4, 0}};
    static const char before[] = "__gnu_thumb1_case_";
    const struct symbol *symbol = i->decoder != NULL ? image_symbol(i->decoder->image, target) : NULL;
    size_t k;

    if (symbol == NULL || symbol->addr != target || strncmp(symbol->name, before, sizeof before - 1) != 0)
        return false;
    for (k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (strcmp(symbol->name + sizeof before - 1, kinds[k].name) == 0) {
            number(fact, PC, kinds[k].width == 4 ? (i->here + 2) & ~(uint64_t)3 : i->here);
            code_table(fact, CODE_TARGET, kinds[k].width, PC, PC, R0, 0);
            code_scaled(fact, CODE_TARGET, PC, CODE_TARGET, kinds[k].how);
            code_forget(fact, LR);
            fact->flow = CODE_AWAY;
            return true;
        }
    return false;
}

/* b.w, bl, blx: J1 and J2 are signed in another way than the rest of the number. */
static int64_t long_distance(uint32_t word)
{
    const uint32_t s = field(word, 26, 1), j1 = field(word, 13, 1), j2 = field(word, 11, 1);

    return sign(s << 24 | (uint32_t)(j1 == s) << 23 | (uint32_t)(j2 == s) << 22 | field(word, 16, 10) << 12 |
                    field(word, 0, 11) << 1,
                25);
}

/* The registers of a mode are written. */
static void forget_mode(struct code_fact *fact)
{
    forget_range(fact, SP, LR);
    code_forget(fact, CODE_OTHER_SP);
    code_forget(fact, CODE_STATUS);
}

/* srs: LR and SPSR are stored on the stack of MODE. UP, BEFORE: as of stm. */
static void save_status(struct code_fact *fact, unsigned mode, bool up, bool before, bool writes)
{
    code_add(fact, CODE_SAVE, (uint8_t)mode, 0, 0, up ? 4 * before : -4 - 4 * (int64_t)before);
    if (writes)
        fact->op[fact->num - 1].from = up ? 8 : -8;
}

/* rfe: the PC and the status are loaded. */
static void restore_status(struct code_fact *fact, uint8_t rn, bool up, bool before, bool writes)
{
    const int64_t k = up ? 4 * before : -4 - 4 * (int64_t)before;

    fact->flow = CODE_RESUME;
    code_add(fact, CODE_LOAD, CODE_PC, CODE_PC, rn, k);
    code_add(fact, CODE_LOAD, CODE_STATUS, CODE_STATUS, rn, k + 4);
    if (writes)
        set(fact, rn, rn, up ? 8 : -8);
}

static void change_status(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, special = word & 0x7f;

    fact->flags = true;
    if (field(word, 20, 1) && !field(word, 5, 1)) { /* SPSR */
        code_forget(fact, CODE_STATUS);
        return;
    }
    if (special == 8) /* msp: who sets it is on it */
        code_replace(fact, SP);
    else if ((word & 0xff) == 0x14) /* control */
        code_add(fact, CODE_CONTROL, 0, 0, reg_at(word, 16), i->decoder == NULL || i->decoder->process_stack);
    else if (special == 9 || special == 0x14 || special == 0x18) /* psp, control_ns, sp_ns */
        code_forget(fact, SP);
    else if (field(word, 5, 1)) /* of a mode */
        forget_mode(fact);
    else if ((word & 0xff) == 0 && field(word, 8, 1)) /* cpsr_c */
        code_add(fact, CODE_MODE, CODE_NONE, 0, reg_at(word, 16), 0);
}

/* Which one of mrs is followed: CONTROL or, of other profiles than M, CPSR. */
static uint32_t special_register(const struct decoder *d)
{
    return d != NULL && d->has_control ? 0x14 : 0;
}

/* Branches on a condition, and what the CPU is told. */
static void control(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, s = field(word, 26, 1), op = field(word, 20, 7);
    const int64_t k = sign(s << 20 | field(word, 11, 1) << 19 | field(word, 13, 1) << 18 |
                               field(word, 16, 6) << 12 | field(word, 0, 11) << 1,
                           21);

    if (field(word, 23, 3) != 7) {
        fact->condition = (uint8_t)(field(word, 22, 4) + 1);
        go_to(fact, CODE_JUMP, i->here + (uint64_t)k);
    } else if (op == 0x38 || op == 0x39) {
        change_status(fact, i);
    } else if (op == 0x3a) {   /* hints; cps; pac and pacbti write r12 */
        if (field(word, 8, 1)) /* to another mode */
            code_add(fact, CODE_MODE, word & 31, 0, 0, 0);
        else if (field(word, 8, 3) == 0 && (word & 0xef) == 0x0d)
            code_forget(fact, R12);
    } else if (op == 0x3b) { /* barriers */
        ;
    } else if (op == 0x3d) { /* subs pc, lr; eret */
        fact->flow = CODE_RESUME;
        set(fact, CODE_TARGET, reg_at(word, 16), -(int64_t)(word & 0xff));
    } else if (op == 0x3e || op == 0x3f) { /* mrs */
        if (op == 0x3e && (word & 0xff) == special_register(i->decoder) && field(word, 16, 4) == 15)
            set(fact, reg_at(word, 8), CODE_NOW, 0);
        else
            code_replace(fact, reg_at(word, 8));
    } else if ((word & 0xfff0f000) == 0xf7f0a000) { /* udf */
        fact->flow = CODE_STOP;
    } else if ((op & 0x7e) == 0x7e && field(word, 12, 4) == 8) { /* hvc, smc */
        leave(fact);
    } else {
        unknown(fact);
    }
}

/* Loops of ARMv8.1-M: dls, wls and le, without vectors. */
static void count_loops(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, distance = field(word, 1, 10) << 2 | field(word, 11, 1) << 1;

    code_forget(fact, LR);
    if ((word & 0xfff0ffff) == 0xf040e001)
        return;
    if ((word & 0xfff0f001) == 0xf040c001)
        go_to(fact, CODE_BRANCH, i->here + distance);
    else if ((word & 0xffdff001) == 0xf00fc001)
        go_to(fact, CODE_BRANCH, i->here - distance);
    else
        unknown(fact);
}

static void branch_wide(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, kind = field(word, 14, 1) << 1 | field(word, 12, 1);
    const uint64_t k = (uint64_t)long_distance(word);

    switch (kind) {
    case 0:
        control(fact, i);
        break;
    case 1:
        go_to(fact, CODE_JUMP, i->here + k);
        break;
    case 2: /* blx */
        if (word & 1) {
            count_loops(fact, i);
            break;
        }
        fact->flags = true;
        go_to(fact, CODE_CALL, (i->here & ~(uint64_t)3) + k);
        break;
    default:
        fact->flags = true;
        if (!switches(fact, i, (i->here + k) & UINT32_MAX))
            go_to(fact, CODE_CALL, i->here + k);
        break;
    }
}

/* tbb and tbh: entries are distances in steps of two bytes from what follows. */
static void jump_by_table(struct code_fact *fact, const struct instruction *i)
{
    const unsigned size = field(i->word, 4, 1) ? 2 : 1;
    const uint8_t rn = reg_at(i->word, 16);

    number(fact, PC, i->here);
    code_table(fact, CODE_TARGET, size, rn, rn, reg_at(i->word, 0), 0);
    code_scaled(fact, CODE_TARGET, PC, CODE_TARGET, CODE_ENTRY_SHIFT);
    fact->flow = CODE_AWAY;
}

/* ldrex, strex and so on; tbb, tbh; ldrd, strd. */
static void access_pair(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, kind = field(word, 4, 4);
    const bool loads = field(word, 20, 1), before = field(word, 24, 1), up = field(word, 23, 1);
    const uint8_t rt = reg_at(word, 12), other = reg_at(word, 8), rn = reg_at(word, 16);
    const int64_t k = 4 * (int64_t)(word & 0xff);
    struct access a = {0};

    if (before || field(word, 21, 1)) {
        if (word == 0xe97fe97f) /* sg */
            return;
        a = (struct access){rn, 0, loads, false, !before,     field(word, 21, 1),
                            4,  0, false, false, up ? k : -k, false};
        access_two(fact, i, rt, other, &a);
    } else if (!up) { /* ldrex, strex; tt */
        code_forget(fact, loads ? rt : other);
        if (!loads && rt != PC)
            code_write(fact, rn, k, 4);
    } else if (loads && kind < 2) {
        jump_by_table(fact, i);
    } else if (kind < 4 || kind == 6 || kind == 11) {
        unknown(fact);
    } else {
        if (loads)
            code_replace(fact, rt);
        if (loads && (kind & 3) == 3)
            code_replace(fact, other);
        if (!loads && kind != 8 && kind != 9 && kind != 10)
            code_forget(fact, reg_at(word, 0));
        if (!loads && kind >= 8 && kind <= 10) /* stlb, stlh, stl */
            code_overwrite(fact, rn, 0, 1u << (kind - 8));
        else if (!loads)
            code_write(fact, rn, 0, 8);
    }
    if (loads && rt == PC && fact->flow == CODE_NEXT)
        unknown(fact);
}

/* srs and rfe; stm, ldm, push, pop. */
static void access_list(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, kind = field(word, 23, 2);
    const bool loads = field(word, 20, 1);

    if (kind == 1 || kind == 2)
        access_many(fact, loads, reg_at(word, 16), word & 0xffff, kind == 1, kind == 2, field(word, 21, 1));
    else if (loads)
        restore_status(fact, reg_at(word, 16), kind == 3, kind == 0, field(word, 21, 1));
    else
        save_status(fact, word & 31, kind == 3, kind == 0, field(word, 21, 1));
}

static void access_wide(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, size = field(word, 21, 2);
    const bool far = field(word, 23, 1), loads = field(word, 20, 1);
    const uint8_t rt = reg_at(word, 12), rn = reg_at(word, 16);
    const int64_t k = word & 0xff;
    struct access a = {rn, 0, loads, false, false, false, 1u << size, 0, field(word, 24, 1), CODE_LEFT, 0, false};

    if (size == 3 || (!loads && rn == PC)) {
        unknown(fact);
        return;
    }
    if (loads && rn == PC) {
        a.k = far ? (int64_t)(word & 0xfff) : -(int64_t)(word & 0xfff);
    } else if (far) {
        a.k = word & 0xfff;
    } else if (field(word, 11, 1)) { /* indexed, or subtracted; of an unprivileged access both bits are set */
        a.k = field(word, 9, 1) ? k : -k;
        a.post = !field(word, 10, 1);
        a.writes = field(word, 8, 1);
    } else if (field(word, 6, 5) == 0) {
        a.by_index = true;
        a.index = reg_at(word, 0);
        a.by = field(word, 4, 2);
    } else {
        unknown(fact);
        return;
    }
    if ((a.writes && (rt == rn || rn == PC)) ||
        (!far && rt == PC && rn != PC && field(word, 8, 4) == 14)) { /* ldrt pc */
        unknown(fact);
        return;
    }
    if (loads && rt == PC && size < 2) { /* pld, pli */
        if (a.writes)
            unknown(fact);
        return;
    }
    access_one(fact, i, rt, &a);
}

/* 1111 1010, 1111 1011: registers alone. Long products write two of them. */
static void compute_long(struct code_fact *fact, uint32_t word)
{
    const uint32_t op = field(word, 20, 3);
    const bool is_long = field(word, 23, 2) == 3 && op != 1 && op != 3; /* sdiv, udiv */

    fact->flags = field(word, 23, 2) == 0 && field(word, 4, 4) == 0 && field(word, 20, 1); /* lsls and so on */
    if (reg_at(word, 8) == PC || reg_at(word, 8) == SP || (is_long && reg_at(word, 12) == PC)) {
        unknown(fact);
        return;
    }
    if ((word & 0xfffff0f0) == 0xfa1ff080 || (word & 0xfffff0f0) == 0xfa5ff080) { /* uxth, uxtb */
        code_add(fact, CODE_INDEX, reg_at(word, 8), 0, reg_at(word, 0),
                 field(word, 22, 1) ? UINT8_MAX : UINT16_MAX);
        return;
    }
    code_replace(fact, reg_at(word, 8));
    if (is_long)
        code_replace(fact, reg_at(word, 12));
}

static void decode_wide(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word;
    struct operand o = by_number(arm_expanded(word));

    switch (field(word, 25, 4)) { /* behind 111 */
    case 4:                       /* 0100 */
        if (field(word, 22, 1))
            access_pair(fact, i);
        else
            access_list(fact, i);
        break;
    case 5:
        compute_by_register(fact, i);
        break;
    case 8:
    case 9:
    case 10:
    case 11:
        if (field(word, 15, 1))
            branch_wide(fact, i);
        else if (field(word, 25, 1))
            compute_plain(fact, i);
        else
            compute_wide(fact, i, &o);
        break;
    case 12: /* 1100: one register, or structures */
        if (field(word, 24, 1) && !field(word, 20, 1))
            if (i->decoder != NULL && i->decoder->vectors)
                unknown(fact);
            else
                access_vectors(fact, word);
        else
            access_wide(fact, i);
        break;
    case 13:
        compute_long(fact, word);
        break;
    case 6: /* 0110, 0111, 1110, 1111: coprocessors; data processing of vectors */
    case 7:
    case 14:
    default:
        if (field(word, 24, 2) != 3)
            coprocessor(fact, i);
        else if (i->decoder != NULL && i->decoder->vectors)
            unknown(fact);
        break;
    }
}

/* ---- A32 ------------------------------------------------------------------------------------------------------- */

/* Multiplications, and what is exclusive: 000, and bits 7 to 4 are 1001. */
static void multiply(struct code_fact *fact, uint32_t word)
{
    const bool loads = field(word, 20, 1), two = field(word, 21, 2) == 1;
    const uint8_t high = reg_at(word, 16), low = reg_at(word, 12);

    fact->flags = !field(word, 24, 1) && field(word, 20, 1);
    if (!field(word, 24, 1)) {
        const bool is_long =
            field(word, 22, 2) >= 1 && field(word, 21, 3) != 3; /* umaal, umull and so on, but not mls */

        code_replace(fact, high);
        if (is_long)
            code_replace(fact, low);
        if (high == PC || (is_long && low == PC))
            unknown(fact);
        return;
    }
    if (low == PC) {
        if (loads || !field(word, 23, 1)) /* ldrex, swp */
            unknown(fact);
    } else {
        code_replace(fact, low); /* swp, ldrex; strex's status; stl has none */
        if (loads && two)
            code_forget(fact, low | 1);
    }
    if (!field(word, 23, 1)) /* swp, swpb */
        code_overwrite(fact, high, 0, field(word, 22, 1) ? 1 : 4);
    else if (!loads && !two && field(word, 8, 4) == 12) /* stl, stlb, stlh */
        code_overwrite(fact, high, 0, !field(word, 22, 1) ? 4 : field(word, 21, 1) ? 2 : 1);
    else if (!loads)
        code_write(fact, high, 0, 8);
}

/* strh, ldrd and so on: 000, bits 7 and 4 are set. */
static void access_more(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, kind = field(word, 5, 2);
    const bool before = field(word, 24, 1), up = field(word, 23, 1), loads = field(word, 20, 1);
    const bool writes = !before || field(word, 21, 1);
    const int64_t k = field(word, 8, 4) << 4 | field(word, 0, 4);
    const uint8_t rt = reg_at(word, 12);
    struct access a = {reg_at(word, 16),  reg_at(word, 0), loads,       !field(word, 22, 1),
                       !before,           writes,          2,           0,
                       loads && kind > 1, false,           up ? k : -k, !up};

    if (!loads && kind > 1) {
        a.bytes = 4;
        a.loads = kind == 2;
        access_two(fact, i, rt, rt | 1, &a);
        return;
    }
    if (loads && kind == 2)
        a.bytes = 1;
    if (rt == PC || (writes && (a.rn == PC || a.rn == rt))) {
        unknown(fact);
        return;
    }
    access_one(fact, i, rt, &a);
}

/* mrs and msr: of the status registers, and of those of a mode */
static void status_word(struct code_fact *fact, uint32_t word, uint32_t which)
{
    fact->flags = which == 1;
    if (which == 0 && !field(word, 9, 1) && reg_at(word, 12) != PC) /* cpsr */
        set(fact, reg_at(word, 12), CODE_NOW, 0);
    else if (!(which & 1))
        result_in(fact, reg_at(word, 12));
    else if (field(word, 9, 1)) /* of a mode */
        forget_mode(fact);
    else if (which == 1 && field(word, 16, 1)) /* cpsr_c */
        code_add(fact, CODE_MODE, CODE_NONE, 0, reg_at(word, 0), 0);
    else if (which == 3)
        code_forget(fact, CODE_STATUS);
}

/* mrs, msr, bx and so on: 000 10xx 0, bit 7 is clear. */
static void misc_word(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, which = field(word, 21, 2);

    switch (field(word, 4, 4)) {
    case 0:
        status_word(fact, word, which);
        break;
    case 1:
        if (which == 1)
            exchange(fact, i, reg_at(word, 0), false);
        else if (which == 3)
            result_in(fact, reg_at(word, 12));
        else
            unknown(fact);
        break;
    case 2:
        if (which == 1) /* bxj */
            exchange(fact, i, reg_at(word, 0), false);
        else
            unknown(fact);
        break;
    case 3:
        if (which == 1)
            exchange(fact, i, reg_at(word, 0), true);
        else
            unknown(fact);
        break;
    case 4: /* crc32 */
    case 5: /* qadd and so on */
        result_in(fact, reg_at(word, 12));
        break;
    case 6:
        if (which == 3)
            fact->flow = CODE_RESUME;
        else
            unknown(fact);
        break;
    case 7: /* hlt, bkpt, hvc, smc */
        leave(fact);
        fact->flags = true;
        break;
    default:
        unknown(fact);
        break;
    }
}

/* smla and so on of halves: 000 10xx 0, bit 7 is set, bit 4 is clear. */
static void multiply_halves(struct code_fact *fact, uint32_t word)
{
    code_replace(fact, reg_at(word, 16));
    if (field(word, 21, 2) == 2)
        code_replace(fact, reg_at(word, 12));
    if (reg_at(word, 16) == PC || (field(word, 21, 2) == 2 && reg_at(word, 12) == PC))
        unknown(fact);
}

static void compute_word(struct code_fact *fact, const struct instruction *i)
{
    static const uint8_t ops[] = {AND, EOR, SUB, RSB, ADD, OTHER, OTHER, OTHER,
                                  TST, TST, CMP, CMN, ORR, MOV,   BIC,   MVN};
    const uint32_t word = i->word, op = ops[field(word, 21, 4)];
    const uint8_t rd = reg_at(word, 12), rn = reg_at(word, 16);
    struct operand o = by_number(arm_rotated(word & 0xff, 2 * field(word, 8, 4)));

    if (!field(word, 25, 1)) {
        o = by_register(reg_at(word, 0), field(word, 5, 2), field(word, 7, 5));
        if (field(word, 4, 1)) /* by a register */
            o.type = 1;
    }
    fact->flags = field(word, 20, 1);
    compute(fact, i, op, rd, op == MOV || op == MVN ? 0 : rn, &o);
    if (rd == PC && field(word, 20, 1) && !(op >= TST && op <= CMN))
        fact->flow = CODE_RESUME;
}

/* movw, movt; msr of a number; hints. */
static bool compute_special(struct code_fact *fact, uint32_t word)
{
    const uint32_t op = field(word, 20, 5);
    const uint8_t rd = reg_at(word, 12);

    if (op == 16 || op == 20) {
        const uint32_t imm = field(word, 16, 4) << 12 | (word & 0xfff);

        if (rd == PC)
            unknown(fact);
        else if (op == 16)
            number(fact, rd, imm);
        else
            code_add(fact, CODE_INSERT, rd, 16, 0, imm);
        return true;
    }
    if (op != 18 && op != 22)
        return false;
    fact->flags = op == 18 && field(word, 16, 4) != 0;
    if (op == 18 && field(word, 16, 1)) /* msr cpsr_c */
        code_add(fact, CODE_MODE, word & CODE_MODE_BITS, 0, 0, 0);
    else if (op == 22)
        code_forget(fact, CODE_STATUS);
    return true;
}

static void data_word(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word;
    const bool special = field(word, 23, 2) == 2 && !field(word, 20, 1);

    if (field(word, 25, 1)) {
        if (!special || !compute_special(fact, word))
            compute_word(fact, i);
    } else if (field(word, 4, 1) && field(word, 7, 1)) {
        if (field(word, 5, 2) == 0)
            multiply(fact, word);
        else
            access_more(fact, i);
    } else if (special) {
        if (field(word, 7, 1))
            multiply_halves(fact, word);
        else
            misc_word(fact, i);
    } else {
        compute_word(fact, i);
    }
}

/* ldr, str of a word or a byte. */
static void access_word(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word;
    const bool before = field(word, 24, 1), up = field(word, 23, 1), loads = field(word, 20, 1);
    const bool by_index = field(word, 25, 1), writes = !before || field(word, 21, 1);
    const int64_t k = word & 0xfff;
    const uint8_t rt = reg_at(word, 12);
    struct access a = {reg_at(word, 16),
                       reg_at(word, 0),
                       loads,
                       by_index,
                       !before,
                       writes,
                       field(word, 22, 1) ? 1 : 4,
                       field(word, 7, 5),
                       false,
                       (uint8_t)field(word, 5, 2),
                       up ? k : -k,
                       !up};

    if ((rt == PC && a.bytes == 1) || (writes && a.rn == PC) || (writes && loads && a.rn == rt)) {
        unknown(fact);
        return;
    }
    access_one(fact, i, rt, &a);
}

/* Bit fields, saturation, sums of parts: 011, bit 4 is set. */
static void media(struct code_fact *fact, uint32_t word)
{
    const uint32_t op = field(word, 20, 5);
    const uint8_t high = reg_at(word, 16), rd = reg_at(word, 12);
    const bool products = op >= 16 && op < 26, writes_rd = !products || op == 20; /* 20: smlald and its like */

    if ((word & 0xfff000f0) == 0xe7f000f0) { /* udf */
        fact->flow = CODE_STOP;
        return;
    }
    if ((products && high == PC) || (writes_rd && rd == PC)) {
        unknown(fact);
        return;
    }
    if ((word & 0x0faf0ff0) == 0x06af0070 && field(word, 22, 1)) { /* uxtb, uxth */
        code_add(fact, CODE_INDEX, rd, 0, reg_at(word, 0), field(word, 20, 1) ? UINT16_MAX : UINT8_MAX);
        return;
    }
    if ((word & 0x0fe00fff) == 0x07c0001f && field(word, 16, 5) < 16) { /* bfc of the lowest bits */
        code_add(fact, CODE_ALIGN, rd, 0, 0, 0);
        return;
    }
    if (products)
        code_replace(fact, high);
    if (writes_rd)
        code_replace(fact, rd);
}

static void list_word(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word, mask = word & 0xffff;
    const bool loads = field(word, 20, 1), user = field(word, 22, 1), writes = field(word, 21, 1);
    const uint8_t rn = reg_at(word, 16);

    if (mask == 0 || rn == PC) {
        unknown(fact);
        return;
    }
    access_many(fact, loads, rn, mask, field(word, 23, 1), field(word, 24, 1), writes);
    if (!user)
        return;
    if (loads && mask >> PC & 1)
        fact->flow = CODE_RESUME;
    else if (writes || loads) /* user mode's registers */
        unknown(fact);
    else
        code_write(fact, rn, fact->op[fact->num - 1].k, 4 * ones(mask));
}

/* 1111 on top: no condition. */
static void without_condition(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word;

    if (field(word, 25, 3) == 5) { /* blx */
        fact->flags = true;
        go_to(fact, CODE_CALL, i->here + (uint64_t)(4 * sign(word, 24)) + 2 * field(word, 24, 1));
    } else if (field(word, 25, 3) == 6 || field(word, 24, 4) == 14) {
        coprocessor(fact, i);
    } else if (field(word, 25, 3) == 1 || field(word, 24, 4) == 15) { /* vectors; svc is not there */
        if (field(word, 24, 4) == 15)
            unknown(fact);
    } else if (field(word, 24, 4) == 4 && !field(word, 20, 1)) {
        access_vectors(fact, word);
    } else if ((word & 0x0e500000) == 0x08100000) { /* rfe */
        restore_status(fact, reg_at(word, 16), field(word, 23, 1), field(word, 24, 1), field(word, 21, 1));
    } else if ((word & 0x0e5fffe0) == 0x084d0500) { /* srs */
        save_status(fact, word & 31, field(word, 23, 1), field(word, 24, 1), field(word, 21, 1));
    } else if ((word & 0x0ff10020) == 0x01000000) { /* cps */
        if (field(word, 17, 1))
            code_add(fact, CODE_MODE, word & 31, 0, 0, 0);
    } else if ((word & 0x0ffffdff) == 0x01010000 || (word & 0x0d70f000) == 0x0550f000 ||
               (word & 0x0d70f000) == 0x0450f000 || (word & 0x0d70f000) == 0x0510f000 ||
               (word & 0x0fffff00) == 0x057ff000) {
        ; /* setend; pld, pli, pldw; barriers, clrex */
    } else {
        unknown(fact);
    }
}

static void decode_word(struct code_fact *fact, const struct instruction *i)
{
    const uint32_t word = i->word;

    if (word >> 28 == 15) {
        without_condition(fact, i);
        return;
    }
    fact->condition = (uint8_t)(word >> 28 == 14 ? 0 : (word >> 28) + 1);
    switch (field(word, 25, 3)) {
    case 0:
    case 1:
        data_word(fact, i);
        break;
    case 2:
        access_word(fact, i);
        break;
    case 3:
        if (field(word, 4, 1))
            media(fact, word);
        else
            access_word(fact, i);
        break;
    case 4:
        list_word(fact, i);
        break;
    case 5:
        fact->flags = field(word, 24, 1);
        go_to(fact, field(word, 24, 1) ? CODE_CALL : CODE_JUMP, i->here + (uint64_t)(4 * sign(word, 24)));
        break;
    default:
        if (field(word, 24, 4) == 15) { /* svc */
            leave(fact);
            fact->flags = true;
        } else {
            coprocessor(fact, i);
        }
        break;
    }
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

static void decode_a32(const struct decoder *d, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    const struct instruction i = {(uint32_t)load_number(text->bytes + (pc - text->start), 4, false), pc, pc + 8, d};

    fact->size = 4;
    decode_word(fact, &i);
}

static void decode_t32(const struct decoder *d, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    const uint8_t *p = text->bytes + (pc - text->start);
    const uint32_t half = (uint32_t)load_number(p, 2, false);
    struct instruction i = {half, pc, pc + 4, d};

    fact->size = (uint8_t)size_of(half);
    if (d != NULL)
        fact->condition = condition_at(d, pc);
    if (fact->size == 2) {
        decode_half(fact, &i, text);
        return;
    }
    if (text->end - pc < 4) {
        unknown(fact);
        return;
    }
    i.word = half << 16 | (uint32_t)load_number(p + 2, 2, false);
    decode_wide(fact, &i);
}

/* KIND: 'a' or 't'; else nothing is known. */
static void decode(const struct decoder *d, char kind, const struct code_text *text, uint64_t pc,
                   struct code_fact *fact)
{
    memset(fact, 0, sizeof *fact);
    if (kind == 'a' && pc % 4 == 0 && text->end - pc >= 4)
        decode_a32(d, text, pc, fact);
    else if (kind == 't' && text->end - pc >= 2)
        decode_t32(d, text, pc, fact);
    fact->compares = fact->flags;
    if (fact->size == 0)
        unknown(fact);
}

/* Without a decoder, which tests do, the mode is that of the CPU. */
static void decode_arm(void *decoder, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    const struct decoder *d = decoder;
    const size_t mark = d != NULL ? mark_at(d, pc) : 0;

    decode(d, d == NULL ? 'a' : mark < d->num_marks ? d->marks[mark].kind : 'd', text, pc, fact);
}

static void decode_thumb(void *decoder, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    if (decoder != NULL)
        decode_arm(decoder, text, pc, fact);
    else
        decode(NULL, 't', text, pc, fact);
}

/* A callee may change r0 to r3, r12 and LR (AAPCS32). An address of T32 code has bit 0 set. */
#define CHANGED (15ull | 1ull << R12 | 1ull << LR | 1ull << CODE_OTHER_SP | 1ull << CODE_STATUS)

const struct code_cpu code_arm = {
    CHANGED,      1u << R12,     SP, R11, LR,   0, 0,        0, true,  2,    0, decode_arm,
    open_decoder, close_decoder, 4,  4,   NULL, 1, data_end, 0, false, true, 0, NULL,
};

const struct code_cpu code_thumb = {
    CHANGED,       0, SP, R7,   LR, 0,        0, 0,     true, 2, 0,    decode_thumb, open_decoder,
    close_decoder, 4, 4,  NULL, 1,  data_end, 0, false, true, 0, NULL,
};

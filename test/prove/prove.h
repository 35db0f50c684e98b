/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What the proofs share. A proof is a function without arguments: whatever it leaves undetermined takes every value.
 * The core is included, so that nothing is hidden from the model checker.
 */
#ifndef PROVE_H
#define PROVE_H

#include "sfu.c"

/* How many functions there may be; for those proofs that have such a bound, prove.sh says it. */
#ifndef MAX_FDES
#define MAX_FDES 1
#endif

/* Every value of a type. */
uint8_t nondet_byte(void);
uint32_t nondet_u32(void);
uint64_t nondet_u64(void);
sfu_addr nondet_addr(void);
int nondet_int(void);
bool nondet_bool(void);

#define ASSUME(condition)      __CPROVER_assume(condition)
#define PROVE(condition, text) __CPROVER_assert(condition, text)

/* ---- Callbacks ------------------------------------------------------------------------------------------------- */

/* A read callback of which nothing is known: it may fail or not, and brings other bytes each time. Whatever is proven
 * with it holds for a section or a stack that changes while it is read, too. It checks what sfu.h promises to it. */
static unsigned callback_reads;

static int read_anything(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    (void)ctx;
    PROVE(len >= 1 && len <= 28, "a read is 1 to 28 bytes long");
    PROVE(addr <= SFU_ADDR_MAX - len, "a read does not wrap");
    callback_reads++;
    __CPROVER_havoc_slice(buffer, len);
    return nondet_int();
}

/* The same within the section, or the part of it, that SECTION_ADDR and SECTION_SIZE say. */
static sfu_addr section_addr, section_size;

static int read_section(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    PROVE(addr - section_addr <= section_size && len <= section_size - (addr - section_addr),
          "a read lies within the section");
    return read_anything(ctx, addr, buffer, len);
}

static unsigned registers_asked;
static sfu_addr last_register; /* what the callback said */
static bool known;             /* and whether it said anything */

static int any_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    (void)ctx;
    (void)reg;
    PROVE(frame->regs.pc_kind == SFU_PC_EXACT, "registers are asked for in exact frames only");
    registers_asked++;
    known = nondet_bool();
    *value = last_register = nondet_addr();
    return known ? 0 : nondet_int() | 1;
}

/* A find_stack callback of which nothing is known: another stack each time, or none. So what is proven of a walk with
 * it holds for stacks that overlap or move, too. */
static unsigned stacks_asked;

static bool any_stack(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    struct sfu_stack any;

    (void)ctx;
    (void)addr;
    stacks_asked++;
    *stack = any;
    return nondet_bool();
}

static bool any_original_ra(void *ctx, const struct sfu_frame *frame, sfu_addr slot, sfu_addr *ra)
{
    (void)ctx;
    (void)frame;
    (void)slot;
    if (nondet_bool())
        return false;
    *ra = nondet_addr();
    return true;
}

/* ---- Comparisons ----------------------------------------------------------------------------------------------- */

static bool same_rule(const struct sfu_rule *a, const struct sfu_rule *b)
{
    return a->control == b->control && a->offset == b->offset;
}

static bool same_row(const struct sfu_row *a, const struct sfu_row *b)
{
    return a->start == b->start && a->length == b->length && a->function == b->function && a->abi == b->abi &&
           a->kind == b->kind && a->trap_frame == b->trap_frame && a->signed_ra == b->signed_ra &&
           same_rule(&a->cfa, &b->cfa) && same_rule(&a->ra, &b->ra) && same_rule(&a->fp, &b->fp);
}

static bool same_registers(const struct sfu_registers *a, const struct sfu_registers *b)
{
    return a->pc == b->pc && a->sp == b->sp && a->fp == b->fp && a->ra == b->ra && a->has_ra == b->has_ra &&
           a->pc_kind == b->pc_kind;
}

static bool same_frame(const struct sfu_frame *a, const struct sfu_frame *b)
{
    return same_registers(&a->regs, &b->regs) && a->saved == b->saved && a->depth == b->depth &&
           a->guess == b->guess && a->switches == b->switches && a->interrupted == b->interrupted &&
           a->switched == b->switched && a->replaced == b->replaced && a->reliable == b->reliable;
}

static bool same_stack(const struct sfu_stack *a, const struct sfu_stack *b)
{
    return a->bytes == b->bytes && a->low == b->low && a->high == b->high;
}

static bool same_walk(const struct sfu_walk *a, const struct sfu_walk *b)
{
    uint8_t i = nondet_byte();

    ASSUME(i < SFU_MAX_SWITCHES);
    return a->target == b->target && same_frame(&a->frame, &b->frame) && same_stack(&a->stack, &b->stack) &&
           a->stayed == b->stayed && a->left[i] == b->left[i];
}

static bool same_section(const struct sfu_section *a, const struct sfu_section *b)
{
    return a->next == b->next && a->bytes == b->bytes && a->read == b->read && a->ctx == b->ctx &&
           a->addr == b->addr && a->size == b->size && a->fdes == b->fdes && a->rows == b->rows &&
           a->end == b->end && a->num_fdes == b->num_fdes && a->num_rows == b->num_rows &&
           same_rule(&a->ra, &b->ra) && same_rule(&a->fp, &b->fp) && a->version == b->version &&
           a->flags == b->flags && a->abi == b->abi && a->fde_size == b->fde_size && a->big == b->big &&
           a->text.low == b->text.low && a->text.high == b->text.high && a->code.low == b->code.low &&
           a->code.high == b->code.high;
}

/* ---- Ranges ---------------------------------------------------------------------------------------------------- */

/* Whether ADDR lies in RANGE, as sfu.h says: an unset one has every address. */
static bool in_range(const struct sfu_range *range, sfu_addr addr)
{
    return range->high == 0 || (range->low <= addr && addr < range->high);
}

/* ---- Walks ------------------------------------------------------------------------------------------------------ */

/* What a walk is: sfu_walk_start makes one, and each step leaves one. It has no more switches than there is room for.
 * It is on a stack, and SP not above that, or on none. */
static bool walking(const struct sfu_walk *w)
{
    return w->frame.switches <= SFU_MAX_SWITCHES && w->frame.regs.pc_kind <= SFU_PC_RETURN &&
           (w->stack.high == 0 || (w->frame.regs.sp <= w->stack.high &&
                                   (w->target->find_stack != NULL || same_stack(&w->stack, &w->target->stack))));
}

/* Whether the word at ADDR begins further below SP than the red zone has bytes, in a frame of W whose PC is exact. */
static bool below_red_zone(const struct sfu_walk *w, sfu_addr addr)
{
    sfu_addr sp = w->frame.regs.sp, zone = w->target->red_zone;

    return w->frame.regs.pc_kind == SFU_PC_EXACT && addr < (sp > zone ? sp - zone : 0);
}

/* The stack that SP of W is on in truth: any that SP may be on, as far as the walk knows. Stacks do not overlap, but
 * may touch. So it is the walk's; or one that touches it at SP; or, if the walk is on none or takes SP for that of a
 * stack that has overflowed, any that nobody knows. */
static struct sfu_range truth;

static bool may_be_on_truth(const struct sfu_walk *w)
{
    sfu_addr sp = w->frame.regs.sp;

    if (sp > truth.high)
        return false;
    if (w->stack.high == 0 || (truth.low == w->stack.low && truth.high == w->stack.high))
        return true;
    return truth.low <= sp && (truth.high <= w->stack.low || truth.low >= w->stack.high);
}

/* Whether a trap may have overwritten the word at ADDR: further below SP than the red zone, on SP's own stack, or
 * anywhere lower, if that has overflowed. All of the word lies on one stack: prove_word. */
static bool trapped(const struct sfu_walk *w, sfu_addr addr)
{
    return below_red_zone(w, addr) && (addr >= truth.low || w->frame.regs.sp < truth.low);
}

static void any_walk_on(struct sfu_walk *w, const struct sfu_target *t)
{
    struct sfu_walk any;

    any.frame.regs.has_ra = nondet_bool();
    any.frame.interrupted = nondet_bool();
    any.frame.switched = nondet_bool();
    any.frame.replaced = nondet_bool();
    any.frame.reliable = nondet_bool();
    any.stayed = nondet_bool();
    any.target = t;
    ASSUME(walking(&any));
    __CPROVER_havoc_object(&truth);
    ASSUME(may_be_on_truth(&any));
    *w = any;
}

/* Whether the caller of W's frame may have the same SP: a leaf's may, and that of one trap frame. */
static bool stays(const struct sfu_walk *w, sfu_addr sp, bool trap)
{
    return sp == w->frame.regs.sp && w->frame.regs.pc_kind == SFU_PC_EXACT && !(trap && w->stayed);
}

/* Whether CODE is one with which find_caller or advance refuses. */
static bool is_refusal(int code)
{
    return (code <= SFU_E_STACK && code >= SFU_E_DEPTH) || code == SFU_E_DEAD_SLOT;
}

/* What advance does to the frame of BEFORE besides moving it: prove_advance. TRAP: that frame is a trap frame. */
static bool is_advanced(const struct sfu_walk *before, const struct sfu_walk *w, bool trap)
{
    return w->frame.regs.pc_kind == (trap ? SFU_PC_EXACT : SFU_PC_RETURN) && w->frame.interrupted == trap &&
           w->frame.saved == (trap ? before->frame.regs.sp : 0) && w->frame.guess == SFU_GUESS_NONE &&
           !w->frame.replaced;
}

static bool is_known(uint8_t abi)
{
#ifdef SFU_ABI
    return abi == SFU_ABI;
#else
    return abi == SFU_AARCH64_BIG || abi == SFU_AARCH64 || abi == SFU_AMD64 || abi == SFU_S390X ||
           abi == SFU_RISCV64 || abi == SFU_RISCV32 || abi == SFU_ARM || abi == SFU_THUMB || abi == SFU_I386;
#endif
}

/* What find_caller makes CALLER by ROW for the frame of W: prove_caller. */
static bool is_caller(const struct sfu_walk *w, const struct sfu_row *row, const struct caller *caller)
{
    return caller->values[CFA] >= abi_of(row->abi)->sp_below_cfa &&
           (row->fp.control != register_rule(abi_of(row->abi)->fp) || row->fp.offset != 0 ||
            caller->values[FP] == w->frame.regs.fp) &&
           (!caller->replaced || (w->target->original_ra != NULL && !row->trap_frame));
}

/* W came of BEFORE by a step. TRAP: BEFORE's frame is a trap frame. */
static void prove_progress(const struct sfu_walk *before, const struct sfu_walk *w, bool trap)
{
    const struct sfu_target *t = w->target;
    const struct sfu_frame *was = &before->frame, *frame = &w->frame;
    sfu_addr sp = frame->regs.sp;
    bool on = sp > was->regs.sp && sp <= before->stack.high;
    uint8_t i = nondet_byte();

    PROVE(walking(w), "the walk can go on");
    PROVE(frame->switched == !(on || stays(before, sp, trap)),
          "SP grows up to the high end of its stack, or stays, or it is a switch");
    PROVE(w->stayed == stays(before, sp, trap), "whether SP has stayed is remembered");
    PROVE(frame->depth == was->depth + 1 && frame->depth < (t->max_frames != 0 ? t->max_frames : SFU_MAX_FRAMES),
          "frames are counted and limited");
    PROVE(frame->switches == was->switches + frame->switched, "switches are counted");
    PROVE(i >= was->switches || w->left[i] == before->left[i], "no place where a stack was left is forgotten");
    if (!frame->switched) {
        PROVE(same_stack(&w->stack, &before->stack), "nothing but a switch leads to another stack");
        return;
    }
    PROVE(t->max_switches == 0 || frame->switches <= t->max_switches, "switches are limited");
    PROVE(w->left[was->switches] == was->regs.sp, "a stack is remembered as it was left");
    PROVE(trap || w->stack.high != 0, "nothing but a trap leads to no stack");
    PROVE(t->find_stack != NULL || trap || before->stack.high == 0, "nothing but a trap leaves the only stack");
    if (t->find_stack == NULL && trap)
        return;
    PROVE(was->regs.sp < sp || was->regs.sp > w->stack.high, "a stack is entered above where it was left at last");
    PROVE(i >= was->switches || w->left[i] < sp || w->left[i] > w->stack.high,
          "a stack is entered above each place where it was left");
}

/* ---- Any opened section ---------------------------------------------------------------------------------------- */

static bool unmentioned(const struct sfu_rule *rule, uint8_t reg)
{
    return rule->offset == 0 ? rule->control == register_rule(reg)
                             : rule->control == RULE_DEREFERENCE && rule->offset == (int8_t)rule->offset;
}

/* What an opened section is: open.c proves it of every section that sfu_open or sfu_open_remote accepts, the other
 * proofs start from it. */
static bool opened(const struct sfu_section *s)
{
#ifdef SFU_ABI
    if (s->abi != SFU_ABI || s->big != is_big(s))
        return false;
#endif
    return s->size >= HEADER_SIZE && s->addr <= UINT64_MAX - s->size && s->fdes >= HEADER_SIZE &&
           s->fdes + (uint64_t)s->num_fdes * s->fde_size <= s->rows && s->rows <= s->end && s->end <= s->size &&
           s->end <= MAX_END && s->version >= SFU_OLDEST_VERSION && s->version <= 3 && s->abi >= SFU_AARCH64_BIG &&
           (s->abi <= (s->version == 1 ? SFU_AMD64 : SFU_S390X) ||
            (s->version == 3 && s->abi >= SFU_RISCV64 && s->abi <= SFU_I386)) &&
           unmentioned(&s->fp, abi_of(s->abi)->fp) && unmentioned(&s->ra, abi_of(s->abi)->ra) &&
           s->fde_size == (s->version == 1   ? 17
                           : s->version == 2 ? 20
                                             : 16);
}

static void any_section(struct sfu_section *s)
{
    struct sfu_section any;

    any.big = nondet_bool();
    ASSUME(opened(&any));
    *s = any;
}

/* The same of one version: products with a constant are easier to prove. */
static void any_section_of(struct sfu_section *s, uint8_t version)
{
    struct sfu_section any;

    any.version = version;
    any.fde_size = version == 1 ? 17 : version == 2 ? 20 : 16;
    any.big = nondet_bool();
    ASSUME(opened(&any));
    *s = any;
}

/* Whether what the solver does not see by itself is so: entry INDEX of COUNT ends where the last ends, or before, and
 * no product wraps. prove_product proves it. */
static bool in_product(uint32_t index, uint32_t count, uint8_t size)
{
    return (uint64_t)index * size + size <= (uint64_t)count * size && index * size == (uint64_t)index * size;
}

/* Whether T is what get_tables makes of S. */
static bool are_tables(const struct tables *t, const struct sfu_section *s)
{
    return t->bytes == s->bytes && t->addr == s->addr && t->fdes == s->fdes && t->end == s->end &&
           t->fde_size == s->fde_size && t->big == is_big(s) && t->v3 == is_v3(s) &&
           t->relative == ((s->flags & FLAG_FIELD_RELATIVE) != 0);
}

/* ---- Stand-ins ------------------------------------------------------------------------------------------------- */

/* What stands for read_known in most proofs. read.c proves that the real one does nothing else, if what its callers
 * know is true, which is proven here: it gives a pointer to bytes of the tables or, from a callback, of the buffer. The
 * bytes are any, others each time. So these proofs hold for sections of every size, mapped or remote, even if their
 * bytes change between one record and the next. No byte behind the record is there; how many were read is counted. */
static uint8_t record[4 * MAX_WORDS];
static uint64_t records;

static const uint8_t *any_record(struct lookup *l, const struct tables *t, uint32_t len)
{
    PROVE(len >= 1 && len <= sizeof l->buffer, "a record fits into its buffer");
    PROVE(are_tables(t, l->s), "the tables are those of the lookup's section");
    records++;
    if (l->s->bytes == NULL && nondet_bool())
        return NULL;
    __CPROVER_havoc_object(record);
    return record + sizeof record - len;
}

const uint8_t *any_known(struct lookup *l, const struct tables *t, uint32_t at, uint32_t len);
const uint8_t *any_known(struct lookup *l, const struct tables *t, uint32_t at, uint32_t len)
{
    PROVE(at <= l->s->end && len <= l->s->end - at, "a record lies in the tables");
    return any_record(l, t, len);
}

/* The same for read_fde. */
const uint8_t *any_entry(struct lookup *l, const struct tables *t, uint32_t index);
const uint8_t *any_entry(struct lookup *l, const struct tables *t, uint32_t index)
{
    PROVE(index < l->s->num_fdes, "an entry lies in the table of FDEs");
    return any_record(l, t, l->s->fde_size);
}

/* What stands for the loads from a record: read.c proves that the real ones read no other bytes. So the proofs also
 * hold if the bytes change between two loads. */
uint16_t any_load2(const uint8_t *p, bool big);
uint16_t any_load2(const uint8_t *p, bool big)
{
    (void)big;
    PROVE(__CPROVER_r_ok(p, 2), "a load of 2 bytes lies within the record");
    return (uint16_t)nondet_u32();
}

uint32_t any_load4(const uint8_t *p, bool big);
uint32_t any_load4(const uint8_t *p, bool big)
{
    (void)big;
    PROVE(__CPROVER_r_ok(p, 4), "a load of 4 bytes lies within the record");
    return nondet_u32();
}

uint64_t any_load8(const uint8_t *p, bool big);
uint64_t any_load8(const uint8_t *p, bool big)
{
    (void)big;
    PROVE(__CPROVER_r_ok(p, 8), "a load of 8 bytes lies within the record");
    return nondet_u64();
}

uint32_t any_load(const uint8_t *p, unsigned size, bool big);
uint32_t any_load(const uint8_t *p, unsigned size, bool big)
{
    (void)big;
    PROVE(size == 1 || size == 2 || size == 4, "a load has a known size");
    PROVE(__CPROVER_r_ok(p, size), "a load lies within the record");
    return nondet_u32() & UINT32_MAX >> (32 - 8 * size);
}

int32_t any_load_signed(const uint8_t *p, unsigned size, bool big);
int32_t any_load_signed(const uint8_t *p, unsigned size, bool big)
{
    uint32_t value = any_load(p, size, big);

    return size == 1 ? (int8_t)value : size == 2 ? (int16_t)value : (int32_t)value;
}

/* What stands for modulo: prove_modulo shows as much of it. */
uint32_t any_modulo(uint32_t value, uint8_t by);
uint32_t any_modulo(uint32_t value, uint8_t by)
{
    uint32_t rest = nondet_u32();

    PROVE(by > 0, "no division by 0");
    ASSUME(rest < by && rest <= value);
    return rest;
}

/* What stands for read_rules: find.c proves it. */
int any_rules(struct lookup *l, struct sfu_row *row);
int any_rules(struct lookup *l, struct sfu_row *row)
{
    int code = (int8_t)nondet_byte();

    PROVE(l->fde.num_rows == 0 || l->row.size == 1 || l->row.size == 2 || l->row.size == 4, "words can be read");
    PROVE(l->fde.type <= TYPE_FLEXIBLE, "the type is known");
    ASSUME(code == SFU_OK || code == SFU_E_ROW || code == SFU_E_BOUNDS ||
           (code == SFU_E_NO_ROW && l->fde.num_rows == 0) || (code == SFU_E_SECTION && l->s->bytes == NULL));
    records += l->fde.num_rows != 0 && nondet_bool();
    l->words = NULL;
    if (code != SFU_OK)
        return code;
    row->kind = nondet_byte();
    row->cfa.offset = nondet_int();
    row->ra.offset = nondet_int();
    row->fp.offset = nondet_int();
    row->cfa.control = nondet_u32();
    row->ra.control = nondet_u32();
    row->fp.control = nondet_u32();
    ASSUME(row->kind <= SFU_ROW_ASK && (row->kind != SFU_ROW_RULES || row->cfa.control & RULE_REGISTER));
    return SFU_OK;
}

/* FDEs, and what reads them: for proofs of what is done with them, not of how they are read. */
static sfu_addr starts[MAX_FDES];
static uint32_t sizes[MAX_FDES];

static void any_fdes(void)
{
    __CPROVER_havoc_object(starts);
    __CPROVER_havoc_object(sizes);
}

/* Whether function I goes up to the last address of ABI, or past it. */
static bool goes_to_end(uint8_t abi, uint32_t i)
{
    return starts[i] > (abi_of(abi)->word == 4 ? UINT32_MAX : SFU_ADDR_MAX) - sizes[i];
}

const uint8_t *known_range(struct lookup *l, uint32_t index);
const uint8_t *known_range(struct lookup *l, uint32_t index)
{
    l->fde.start = starts[index];
    l->fde.size = sizes[index];
    return (const uint8_t *)starts; /* nobody reads it */
}

#endif

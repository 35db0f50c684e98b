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
int nondet_int(void);
bool nondet_bool(void);

#define ASSUME(condition)      __CPROVER_assume(condition)
#define PROVE(condition, text) __CPROVER_assert(condition, text)

/* A read callback of which nothing is known: it may fail or not, and brings other bytes each time. Whatever is proven
 * with it holds for a section or a stack that changes while it is read, too. It checks what sfu.h promises to it. */
static int read_anything(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    (void)ctx;
    PROVE(len >= 1 && len <= 28, "a read is 1 to 28 bytes long");
    PROVE(addr <= UINT64_MAX - len, "a read does not wrap");
    __CPROVER_havoc_slice(buffer, len);
    return nondet_int();
}

/* The same within the section that SECTION_ADDR and SECTION_SIZE say. */
static uint64_t section_addr, section_size;

static int read_section(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    PROVE(addr - section_addr <= section_size && len <= section_size - (addr - section_addr),
          "a read lies within the section");
    return read_anything(ctx, addr, buffer, len);
}

static int any_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value)
{
    (void)ctx;
    (void)reg;
    PROVE(frame->pc_kind == SFU_PC_EXACT, "registers are asked for in exact frames only");
    *value = nondet_u64();
    return nondet_int();
}

/* A function of SP, as sfu.h demands: here, any partition of the addresses into two stacks. */
static uint64_t border;

static uint64_t any_stack(void *ctx, uint64_t sp)
{
    (void)ctx;
    return sp < border;
}

static bool same_rule(const struct sfu_rule *a, const struct sfu_rule *b)
{
    return a->control == b->control && a->offset == b->offset;
}

static bool same_row(const struct sfu_row *a, const struct sfu_row *b)
{
    return a->start == b->start && a->length == b->length && a->function == b->function && a->abi == b->abi &&
           a->kind == b->kind && a->signal == b->signal && a->signed_ra == b->signed_ra &&
           same_rule(&a->cfa, &b->cfa) && same_rule(&a->ra, &b->ra) && same_rule(&a->fp, &b->fp);
}

static bool same_frame(const struct sfu_frame *a, const struct sfu_frame *b)
{
    return a->pc == b->pc && a->sp == b->sp && a->fp == b->fp && a->ra == b->ra && a->function == b->function &&
           a->trap == b->trap && a->depth == b->depth && a->pc_kind == b->pc_kind && a->switches == b->switches &&
           a->has_ra == b->has_ra && a->switched == b->switched && a->guessed == b->guessed &&
           a->reliable == b->reliable;
}

static bool same_section(const struct sfu_section *a, const struct sfu_section *b)
{
    return a->next == b->next && a->bytes == b->bytes && a->read == b->read && a->ctx == b->ctx &&
           a->addr == b->addr && a->size == b->size && a->fdes == b->fdes && a->fres == b->fres &&
           a->end == b->end && a->num_fdes == b->num_fdes && a->num_fres == b->num_fres &&
           a->fixed_fp == b->fixed_fp && a->fixed_ra == b->fixed_ra && a->version == b->version &&
           a->flags == b->flags && a->abi == b->abi && a->fde_size == b->fde_size && a->big == b->big &&
           a->abi_data == b->abi_data;
}

/* What an opened section is: open.c proves it of every section that sfu_open or sfu_open_remote accepts, the other
 * proofs start from it. */
static bool opened(const struct sfu_section *s)
{
    return s->size >= HEADER_SIZE && s->addr <= UINT64_MAX - s->size && s->fdes >= HEADER_SIZE &&
           s->fdes + (uint64_t)s->num_fdes * s->fde_size <= s->fres && s->fres <= s->end && s->end <= s->size &&
           s->end <= MAX_END && s->version >= 1 && s->version <= 3 && s->abi >= SFU_AARCH64_BIG &&
           s->abi <= (s->version == 1 ? SFU_AMD64 : SFU_S390X) && s->abi_data == &abis[s->abi - 1] &&
           s->fde_size == (s->version == 1   ? 17
                           : s->version == 2 ? 20
                                             : 16);
}

/* What stands for `number` in most proofs. number.c proves that the real one does nothing else: the next number is any,
 * another one each time, and there is none behind the end. So these proofs hold for sections of every size, mapped or
 * remote, even if the bytes change meanwhile. */
uint64_t any_number(struct cursor *c, unsigned size);
uint64_t any_number(struct cursor *c, unsigned size)
{
    PROVE(c->error != SFU_OK || size == 1 || size == 2 || size == 4 || size == 8, "numbers have a known size");
    if (c->at > c->end || size > c->end - c->at)
        fail(c, SFU_E_BOUNDS);
    if (c->error == SFU_OK && c->s->bytes == NULL && nondet_bool())
        c->error = SFU_E_SECTION;
    if (c->error != SFU_OK)
        return 0;
    c->at += size;
    return size == 8 ? nondet_u64() : nondet_u64() & (((uint64_t)1 << 8 * size) - 1);
}

/* FDEs, and what reads them: for proofs of what is done with them, not of how they are read. */
static uint64_t starts[MAX_FDES];
static uint32_t sizes[MAX_FDES];

static void any_fdes(void)
{
    __CPROVER_havoc_object(starts);
    __CPROVER_havoc_object(sizes);
}

uint64_t known_start(struct cursor *c, uint32_t index);
uint64_t known_start(struct cursor *c, uint32_t index)
{
    (void)c;
    return starts[index];
}

void known_fde(struct cursor *c, uint32_t index);
void known_fde(struct cursor *c, uint32_t index)
{
    c->start = starts[index];
    c->size = sizes[index];
}

/* Every opened section. */
static void any_section(struct sfu_section *s)
{
    struct sfu_section any;

    any.abi_data = abi_of(any.abi);
    any.big = nondet_bool();
    ASSUME(opened(&any));
    *s = any;
}

#endif

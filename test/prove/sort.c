/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_sort, in steps. For every section and no bound:
 *   prove_sort     only FDEs that are there are compared and swapped, nothing but the flags and the code changes,
 * and it
 *                  ends
 *   prove_swap     nothing but FDEs is written
 *   prove_rebase   the same, in a section of version 3
 *   prove_fits     if nothing is to be written, nothing is
 * and for few functions:
 *   prove_swapped  of three, the two are exchanged and the third stays
 *   prove_rebased  of up to three, the starts are the same addresses as before, and nothing else is written
 *   prove_behind   two are compared by start, then by size
 *   prove_sorted   MAX_FDES functions are the same ones afterwards, in order */
#include "prove.h"

#ifndef VERSION
#define VERSION 3
#endif

/* An object that has no byte but the section's FDEs. */
static uint8_t *nothing_but_fdes(const struct sfu_section *s)
{
    return (uint8_t *)__CPROVER_allocate((uint64_t)s->num_fdes * s->fde_size, 0);
}

void prove_swap(void)
{
    struct sfu_section s;
    uint32_t a = nondet_u32(), b = nondet_u32();

    any_section(&s);
    ASSUME(a < s.num_fdes && b < s.num_fdes);
    swap(&s, nothing_but_fdes(&s), a, b);
}

void prove_swapped(void)
{
    struct sfu_section s;
    uint32_t a = nondet_u32(), b = nondet_u32(), other = nondet_u32(), i = nondet_u32();
    uint8_t fdes[3 * 20];
    uint8_t in_a, in_b, in_other;

    any_section(&s);
    __CPROVER_havoc_object(fdes);
    ASSUME(a < 3 && b < 3 && other < 3 && i < s.fde_size);
    ASSUME(a != b && other != a && other != b);
    in_a = fdes[a * s.fde_size + i];
    in_b = fdes[b * s.fde_size + i];
    in_other = fdes[other * s.fde_size + i];
    swap(&s, fdes, a, b);
    PROVE(fdes[a * s.fde_size + i] == in_b && fdes[b * s.fde_size + i] == in_a, "two FDEs are exchanged");
    PROVE(fdes[other * s.fde_size + i] == in_other, "no other FDE is written");
}

/* I entries of SIZE bytes. Products with constants are easier to prove. */
static uint64_t entries(uint32_t i, uint8_t size)
{
    return size == 16 ? 16ul * i : size == 17 ? 17ul * i : 20ul * i;
}

/* prove_entry shows that an entry can be read. */
const uint8_t *any_range(struct lookup *l, uint32_t index);
const uint8_t *any_range(struct lookup *l, uint32_t index)
{
    PROVE(index < l->s->num_fdes, "entries of the section are read");
    l->fde.start = nondet_addr();
    l->fde.size = nondet_u32();
    return l->s->bytes;
}

static void rebase_of(uint8_t version, bool write)
{
    struct sfu_section s;

    any_section_of(&s, version);
    s.bytes = __CPROVER_allocate(s.rows, 0);
    (void)rebase(&s, write ? __CPROVER_allocate(entries(s.num_fdes, s.fde_size), 0) : NULL);
}

void prove_rebase(void)
{
    rebase_of(VERSION, true);
}

void prove_fits(void)
{
    rebase_of(VERSION, false);
}

static sfu_addr start_of(const struct sfu_section *s, uint32_t fde)
{
    struct lookup l;

    l.s = s;
    (void)read_range(&l, fde);
    return l.fde.start;
}

void prove_rebased(void)
{
    struct sfu_section s;
    uint32_t fde = nondet_u32(), i = nondet_u32();
    uint8_t bytes[HEADER_SIZE + 3 * 20], before;
    sfu_addr start;

    any_section(&s);
    s.bytes = bytes;
    s.fdes = HEADER_SIZE;
    ASSUME(s.num_fdes <= 3 && s.end <= sizeof bytes && fde < s.num_fdes);
    __CPROVER_havoc_object(bytes);
    start = start_of(&s, fde);
    ASSUME(i < s.fde_size && i >= (is_v3(&s) ? 8 : 4));
    before = bytes[s.fdes + fde * s.fde_size + i];
    if (!rebase(&s, NULL))
        return;
    PROVE(rebase(&s, bytes + s.fdes), "what fits can be written");
    s.flags &= (uint8_t)~FLAG_FIELD_RELATIVE;
    PROVE(start_of(&s, fde) == start, "functions start where they started");
    PROVE(bytes[s.fdes + fde * s.fde_size + i] == before, "nothing but starts is written");
}

/* As numbers are any, no byte need be written. */
void any_swap(const struct sfu_section *s, uint8_t *fdes, uint32_t a, uint32_t b);
void any_swap(const struct sfu_section *s, uint8_t *fdes, uint32_t a, uint32_t b)
{
    PROVE(fdes == s->bytes + s->fdes && a < s->num_fdes && b < s->num_fdes && a != b,
          "two FDEs of the section are swapped");
}

bool any_rebase(const struct sfu_section *s, uint8_t *fdes);
bool any_rebase(const struct sfu_section *s, uint8_t *fdes)
{
    PROVE(fdes == NULL || fdes == s->bytes + s->fdes, "the section's FDEs are written");
    return nondet_bool();
}

bool any_behind(const struct sfu_section *s, uint32_t a, uint32_t b);
bool any_behind(const struct sfu_section *s, uint32_t a, uint32_t b)
{
    PROVE(a < s->num_fdes && b < s->num_fdes, "FDEs of the section are compared");
    return nondet_bool();
}

/* Stands for find_code, which prove_code proves: it is to see the table as it is in the end. */
static unsigned codes;

void any_code(struct sfu_section *s);
void any_code(struct sfu_section *s)
{
    codes++;
    PROVE(s->flags & FLAG_SORTED, "where the code lies is said of the sorted table");
    s->code.low = nondet_addr();
    s->code.high = nondet_addr();
}

void prove_sort(void)
{
    struct sfu_section s, before;
    uint8_t *bytes;
    int code;

    any_section(&s);
    bytes = (uint8_t *)__CPROVER_allocate(s.size, 0);
    if (nondet_bool())
        s.bytes = bytes;
    before = s;
    codes = 0; /* loop contracts take every global for any number */
    code = sfu_sort(&s, nondet_bool() ? bytes : NULL);
    PROVE(code == SFU_OK || code == SFU_E_READONLY, "only documented codes");
    PROVE(codes == (code == SFU_OK), "where the code lies is found out again");
    before.flags = s.flags;
    if (code == SFU_OK)
        before.code = s.code;
    PROVE(same_section(&s, &before), "all but the flags and the code stays");
}

void prove_behind(void)
{
    struct sfu_section s;
    uint32_t a = nondet_u32(), b = nondet_u32();

    any_section(&s);
    any_fdes();
    ASSUME(a < MAX_FDES && b < MAX_FDES);
    PROVE(behind(&s, a, b) == (starts[a] > starts[b] || (starts[a] == starts[b] && sizes[a] > sizes[b])),
          "functions are ordered by start, then by size");
}

/* What swap and behind do, on keys that stand for the FDEs: with as many keys as FDEs there is every order. */
static uint8_t keys[MAX_FDES];

void swap_keys(const struct sfu_section *s, uint8_t *fdes, uint32_t a, uint32_t b);
void swap_keys(const struct sfu_section *s, uint8_t *fdes, uint32_t a, uint32_t b)
{
    uint8_t kept = keys[a];

    (void)s;
    (void)fdes;
    keys[a] = keys[b];
    keys[b] = kept;
}

bool key_behind(const struct sfu_section *s, uint32_t a, uint32_t b);
bool key_behind(const struct sfu_section *s, uint32_t a, uint32_t b)
{
    (void)s;
    return keys[a] > keys[b];
}

static unsigned occurrences(uint8_t key)
{
    unsigned n = 0, i;

    for (i = 0; i < MAX_FDES; i++)
        n += keys[i] == key;
    return n;
}

void prove_sorted(void)
{
    struct sfu_section s;
    uint8_t bytes[HEADER_SIZE], key = nondet_byte();
    uint32_t i;
    unsigned before;

    any_section(&s);
    s.num_fdes = MAX_FDES;
    s.bytes = bytes;
    s.fdes = HEADER_SIZE;
    __CPROVER_havoc_object(keys);
    for (i = 0; i < MAX_FDES; i++)
        ASSUME(keys[i] < MAX_FDES);
    i = nondet_u32();
    before = occurrences(key);
    if (sfu_sort(&s, bytes) != SFU_OK)
        return;
    PROVE(occurrences(key) == before, "the functions are the same");
    if (i < MAX_FDES - 1)
        PROVE(keys[i] <= keys[i + 1], "the functions are in order");
    PROVE((s.flags & (FLAG_SORTED | FLAG_FIELD_RELATIVE)) == FLAG_SORTED && bytes[3] == s.flags,
          "the flags say so");
}

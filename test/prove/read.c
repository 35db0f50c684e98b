/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* How the tables are read, for every opened section, mapped or remote: no bound. Nothing but the bytes of the tables is
 * read, and the outcome is one that any_known in prove.h has:
 *   prove_record         read_record and read_known, mapped
 *   prove_record_remote  the same through a callback: fetch_record
 *   prove_entry          every entry lies in the table of FDEs
 *   prove_product        an inequality that prove_entry and others use
 *   prove_load           loads read SIZE bytes, and get them right in both byte orders
 *   prove_modulo         a rest is less than both numbers */
#include "prove.h"

void prove_modulo(void)
{
    uint32_t value = nondet_u32(), rest;
    uint8_t by = nondet_byte();

    ASSUME(by > 0);
    rest = modulo(value, by);
    PROVE(rest < by && rest <= value, "a rest is less than both");
}

static void any_lookup(struct lookup *l, struct sfu_section *s)
{
    any_section(s);
    l->s = s;
}

static bool in_tables(const struct sfu_section *s, uint32_t at, uint32_t len)
{
    return at <= s->end && len <= s->end - at;
}

void prove_record(void)
{
    struct sfu_section s;
    struct lookup l;
    struct tables t;
    const uint8_t *p;
    uint32_t at = nondet_u32(), len = nondet_u32();
    int code;

    any_lookup(&l, &s);
    s.bytes = __CPROVER_allocate(s.end, 0);
    get_tables(&t, &s);
    PROVE(are_tables(&t, &s), "a copy is what the section is");
    ASSUME(len >= 1 && len <= sizeof l.buffer);
    code = read_record(&l, &t, at, len, &p);
    PROVE(code == (in_tables(&s, at, len) ? (int)SFU_OK : (int)SFU_E_BOUNDS), "records lie in the tables");
    PROVE(code != SFU_OK || (p == s.bytes + at && __CPROVER_r_ok(p, len)), "its bytes are there");
    PROVE(l.s == &s, "the section stays");
}

void prove_record_remote(void)
{
    struct sfu_section s;
    struct lookup l;
    struct tables t;
    const uint8_t *p;
    uint32_t at = nondet_u32(), len = nondet_u32();
    int code;

    any_lookup(&l, &s);
    section_addr = s.addr;
    section_size = s.end;
    s.bytes = NULL;
    s.read = nondet_bool() ? read_section : NULL;
    ASSUME(len >= 1 && len <= sizeof l.buffer);
    get_tables(&t, &s);
    code = read_record(&l, &t, at, len, &p);
    if (in_tables(&s, at, len))
        PROVE(code == SFU_E_SECTION || (code == SFU_OK && s.read != NULL), "the callback may fail");
    else
        PROVE(code == SFU_E_BOUNDS && callback_reads == 0, "records lie in the tables");
    PROVE(callback_reads <= 1, "a record is read at once");
    PROVE(code != SFU_OK || p == l.buffer, "its bytes are in the buffer");
    PROVE(l.s == &s, "the section stays");
}

void prove_product(void)
{
    uint32_t count = nondet_u32(), index = nondet_u32();

    ASSUME(count < (1u << 27) && index < count);
    PROVE(in_product(index, count, 16) && in_product(index, count, 17) && in_product(index, count, 20),
          "an entry lies among the others");
}

static void prove_entry_of(uint8_t version)
{
    struct sfu_section s;
    struct lookup l;
    struct tables t;
    const uint8_t *p;
    uint32_t index = nondet_u32();
    uint64_t at = nondet_u64(), all = nondet_u64(); /* products, under a name of their own */

    any_section_of(&s, version);
    l.s = &s;
    ASSUME(index < s.num_fdes);
    PROVE(s.num_fdes < 1u << 27, "so many fit into the longest section");
    ASSUME(in_product(index, s.num_fdes, s.fde_size));
    ASSUME(at == index * s.fde_size && at == (uint64_t)index * s.fde_size);
    ASSUME(all == (uint64_t)s.num_fdes * s.fde_size && at + s.fde_size <= all);
    s.bytes = __CPROVER_allocate(s.rows, 0);
    get_tables(&t, &s);
    p = read_fde(&l, &t, index);
    PROVE(p != NULL, "an entry is there");
    PROVE(__CPROVER_r_ok(p, s.fde_size) && p == s.bytes + s.fdes + at, "it lies in the table of FDEs");
}

void prove_entry(void)
{
    prove_entry_of(1);
    prove_entry_of(2);
    prove_entry_of(3);
}

/* Byte K of the number in the SIZE bytes at P. */
static uint8_t byte_of(const uint8_t *p, unsigned size, bool big, unsigned k)
{
    return p[big ? size - 1 - k : k];
}

void prove_load(void)
{
    unsigned size = 1u << nondet_byte() % 3, k = nondet_byte();
    uint8_t bytes[8];
    const uint8_t *end = bytes + sizeof bytes;
    bool big = nondet_bool();

    __CPROVER_havoc_object(bytes);
    ASSUME(k < 8);
    PROVE((uint8_t)(load8(end - 8, big) >> 8 * k) == byte_of(end - 8, 8, big, k), "8 bytes");
    if (k < 4)
        PROVE((uint8_t)(load4(end - 4, big) >> 8 * k) == byte_of(end - 4, 4, big, k), "4 bytes");
    if (k < 2)
        PROVE((uint8_t)(load2(end - 2, big) >> 8 * k) == byte_of(end - 2, 2, big, k), "2 bytes");
    if (k < 4)
        PROVE((uint8_t)(load(end - size, size, big) >> 8 * k) == (k < size ? byte_of(end - size, size, big, k) : 0),
              "SIZE bytes");
    PROVE(load_signed(end - size, size, big) == (size == 1   ? (int8_t)load(end - size, size, big)
                                                 : size == 2 ? (int16_t)load(end - size, size, big)
                                                             : (int32_t)load(end - size, size, big)),
          "the same with a sign");
}

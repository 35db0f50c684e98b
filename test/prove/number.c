/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* `number`, which is the only reader of the tables: every opened section, every cursor, no bound. It reads nothing but
 * the bytes between the cursor and its end, and its outcome is one that any_number in prove.h has. */
#include "prove.h"

static void prove_number_in(const struct sfu_section *s)
{
    struct cursor c, before;
    unsigned size = 1u << (nondet_u32() & 3);
    uint64_t value;

    c.s = s;
    ASSUME(c.end <= s->size && c.end <= MAX_END);
    before = c;
    value = number(&c, size);
    PROVE(size == 8 || value < (uint64_t)1 << 8 * size, "a number has SIZE bytes");
    PROVE(c.end == before.end && c.s == s, "the end stays");
    if (c.error == SFU_OK)
        PROVE(c.at == before.at + size && c.at > before.at && c.at <= c.end, "the cursor moves, within its end");
    else
        PROVE(value == 0 && c.at == before.at, "no number on error");
    if (before.error != SFU_OK)
        PROVE(c.error == before.error, "the first error stays");
    else
        PROVE(c.error == SFU_OK || c.error == SFU_E_BOUNDS || (c.error == SFU_E_SECTION && s->bytes == NULL),
              "only these errors");
}

void prove_number(void)
{
    struct sfu_section s;

    any_section(&s);
    ASSUME(s.size <= MAX_END);
    s.bytes = __CPROVER_allocate(s.size, 0);
    prove_number_in(&s);
}

void prove_number_remote(void)
{
    struct sfu_section s;

    any_section(&s);
    section_addr = s.addr;
    section_size = s.size;
    s.bytes = NULL;
    s.read = read_section;
    prove_number_in(&s);
}

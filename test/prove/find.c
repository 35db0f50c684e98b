/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_find, for every PC:
 *   prove_find      every section: no bound
 *   prove_complete  in a sorted table of MAX_FDES functions, the one that has the PC is found
 *   prove_checked   nothing is corrupt in a mapped section of up to MAX_FDES functions of up to 4 rows that sfu_check
 *                   accepts */
#include "prove.h"

void prove_find(void)
{
    struct sfu_section s;
    struct sfu_row row, before;
    uint64_t pc = nondet_u64();
    int code;

    any_section(&s);
    row.signal = nondet_bool();
    row.signed_ra = nondet_bool();
    before = row;
    code = sfu_find(&s, pc, &row);
    PROVE(code == SFU_OK || code == SFU_E_NO_FDE || code == SFU_E_NO_ROW || code == SFU_E_FDE ||
              code == SFU_E_ROW || code == SFU_E_BOUNDS || (code == SFU_E_SECTION && s.bytes == NULL),
          "only documented codes");
    if (code != SFU_OK) {
        PROVE(same_row(&row, &before), "outputs are unchanged on error");
        return;
    }
    PROVE(pc - row.start < row.length, "a row that is found contains the PC");
    PROVE(row.start - row.function <= pc - row.function, "a row lies in its function");
    PROVE(row.abi == s.abi && row.kind <= SFU_ROW_ASK, "known kind, the section's ABI");
    PROVE(row.kind != SFU_ROW_RULES || row.cfa.control & RULE_REGISTER, "a CFA has a base");
}

/* Whether two functions are as sfu_check wants them in a sorted table; empty ones may be anywhere. */
static bool in_order(uint32_t a, uint32_t b)
{
    return starts[a] <= starts[b] && (sizes[b] == 0 || sizes[a] <= starts[b] - starts[a]);
}

void prove_complete(void)
{
    struct sfu_section s;
    struct cursor c;
    uint64_t pc = nondet_u64();
    uint32_t fde = nondet_u32(), i, k;

    any_section(&s);
    s.flags |= FLAG_SORTED;
    s.num_fdes = MAX_FDES;
    any_fdes();
    for (i = 0; i < MAX_FDES; i++) {
        ASSUME(starts[i] <= UINT64_MAX - sizes[i]);
        for (k = 0; k < i; k++)
            ASSUME(in_order(k, i));
    }
    ASSUME(fde < MAX_FDES && pc - starts[fde] < sizes[fde]);
    start_at(&c, &s);
    find_fde(&c, pc);
    PROVE(c.error == SFU_OK && c.start == starts[fde] && c.size == sizes[fde], "a function that is there is found");
}

/* Stands for `number` where the same bytes are read twice: at each offset there is any number, but always the same. */
uint64_t __CPROVER_uninterpreted_number(uint32_t at, unsigned size);
uint64_t known_number(struct cursor *c, unsigned size);
uint64_t known_number(struct cursor *c, unsigned size)
{
    uint64_t value = __CPROVER_uninterpreted_number(c->at, size);

    if (c->at > c->end || size > c->end - c->at)
        fail(c, SFU_E_BOUNDS);
    if (c->error != SFU_OK)
        return 0;
    c->at += size;
    return size == 8 ? value : value & (((uint64_t)1 << 8 * size) - 1);
}

void prove_checked(void)
{
    static uint8_t bytes[1];
    struct sfu_section s;
    struct sfu_row row;
    int code;

    any_section(&s);
    s.bytes = bytes;
    ASSUME(s.num_fdes <= MAX_FDES);
    if (sfu_check(&s, NULL) != SFU_OK)
        return;
    code = sfu_find(&s, nondet_u64(), &row);
    PROVE(code == SFU_OK || code == SFU_E_NO_FDE || code == SFU_E_NO_ROW,
          "nothing in a checked section is corrupt");
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_find, for every PC:
 *   prove_rules     what any row says, or its lack: no bound
 *   prove_find      every section: no bound
 *   prove_complete  every table of functions: no bound. The function that has the PC is found; in a table that is not
 *                   sorted, one that has it
 *   prove_checked   nothing is corrupt in a mapped section of up to MAX_FDES functions of up to 4 rows that sfu_check
 *                   accepts */
#include "prove.h"

void prove_rules(void)
{
    struct sfu_section s;
    struct lookup l;
    struct sfu_row row, before;
    int code;

    any_section(&s);
    l.s = &s;
    /* as read_attributes and scan_rows leave it */
    ASSUME(l.fde.type <= TYPE_FLEXIBLE);
    ASSUME(l.fde.num_rows == 0 || l.row.size == 1 || l.row.size == 2 || l.row.size == 4);
    row.signal = nondet_bool();
    row.signed_ra = nondet_bool();
    before = row;
    code = read_rules(&l, &row);
    PROVE(code == SFU_OK || code == SFU_E_ROW || code == SFU_E_BOUNDS ||
              (code == SFU_E_NO_ROW && l.fde.num_rows == 0) || (code == SFU_E_SECTION && s.bytes == NULL),
          "only documented codes");
    PROVE(records <= (l.fde.num_rows != 0), "a row has one record of words");
    if (code == SFU_OK) {
        PROVE(row.kind <= SFU_ROW_ASK, "known kind");
        PROVE(row.kind != SFU_ROW_RULES || row.cfa.control & RULE_REGISTER, "a CFA has a base");
        before.kind = row.kind;
        before.cfa = row.cfa;
        before.ra = row.ra;
        before.fp = row.fp;
    }
    PROVE(same_row(&row, &before), "all else is unchanged; on error, everything");
}

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

/* A table of functions: as with all contracts, static variables may have any value to begin with. WITNESS is one that has the PC, and what is known of a sorted table is assumed of each function
 * where it is read: how it stands to the witness, and to the one before it. */
static uint64_t table_starts[__CPROVER_constant_infinity_uint];
static uint32_t table_sizes[__CPROVER_constant_infinity_uint];
static uint32_t witness;

/* Whether functions A and B, in this order, are as sfu_check wants them in a sorted table; empty ones may be anywhere. */
static bool in_order(uint32_t a, uint32_t b)
{
    uint64_t between = table_starts[b] - table_starts[a];

    return table_starts[a] <= table_starts[b] && (table_sizes[b] == 0 || table_sizes[a] <= between);
}

static void known_order(const struct sfu_section *s, uint32_t index)
{
    PROVE(index < s->num_fdes, "only functions of the table are read");
    if (!(s->flags & FLAG_SORTED))
        return;
    ASSUME(index >= witness || in_order(index, witness));
    ASSUME(index <= witness || in_order(witness, index));
    ASSUME(index == 0 || in_order(index - 1, index));
}

int table_entry(struct lookup *l, uint32_t index);
int table_entry(struct lookup *l, uint32_t index)
{
    known_order(l->s, index);
    return SFU_OK;
}

uint64_t table_start(const struct sfu_section *s, uint32_t index, const uint8_t *p);
uint64_t table_start(const struct sfu_section *s, uint32_t index, const uint8_t *p)
{
    (void)s;
    (void)p;
    return table_starts[index];
}

int table_range(struct lookup *l, uint32_t index);
int table_range(struct lookup *l, uint32_t index)
{
    known_order(l->s, index);
    l->fde.start = table_starts[index];
    l->fde.size = table_sizes[index];
    return SFU_OK;
}

static uint32_t found;

int table_attributes(struct lookup *l, uint32_t index);
int table_attributes(struct lookup *l, uint32_t index)
{
    (void)l;
    found = index;
    return SFU_OK;
}

void prove_complete(void)
{
    struct sfu_section s;
    struct lookup l;
    uint64_t pc = nondet_u64();

    any_section(&s);
    l.s = &s;
    witness = nondet_u32();
    ASSUME(witness < s.num_fdes);
    ASSUME(pc - table_starts[witness] < table_sizes[witness]);
    ASSUME(table_starts[witness] <= pc); /* sfu_check: a function does not wrap */
    PROVE(find_fde(&l, pc) == SFU_OK, "a function that is there is found");
    PROVE(pc - l.fde.start < l.fde.size, "it has the PC");
    PROVE(!(s.flags & FLAG_SORTED) || found == witness, "in a sorted table it is the only one");
}

void prove_checked(void)
{
    struct sfu_section s;
    struct sfu_row row;
    int code;

    any_section(&s);
    s.bytes = __CPROVER_allocate(s.size, 0);
    ASSUME(s.num_fdes <= MAX_FDES);
#ifdef MAX_BYTES
    ASSUME(s.size <= MAX_BYTES);
#endif
    if (sfu_check(&s, NULL) != SFU_OK)
        return;
    code = sfu_find(&s, nondet_u64(), &row);
    PROVE(code == SFU_OK || code == SFU_E_NO_FDE || code == SFU_E_NO_ROW,
          "nothing in a checked section is corrupt");
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_find, for every PC:
 *   prove_rules     what any row says, or its lack: no bound
 *   prove_find      every section: no bound
 *   prove_complete  every table of functions: no bound. The function that has the PC is found; in a table that is not
 *                   sorted, one that has it
 *   prove_code      where the functions of a sorted table are, of which there are up to MAX_FDES
 *   prove_find_text the text of a section has its functions, of which there are up to MAX_FDES
 *   prove_checked   of a function of up to MAX_ROWS rows that check_rows accepts, every PC has a row with rules, or is
 *                   in front of the first row: whatever the rows are */
#include "prove.h"

#ifndef MAX_ROWS
#define MAX_ROWS 8
#endif

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
    row.trap_frame = nondet_bool();
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
    sfu_addr pc = nondet_addr();
    int code;

    any_section(&s);
    row.trap_frame = nondet_bool();
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

/* A table of functions: as with all contracts, static variables may have any value to begin with. WITNESS is one that
 * has the PC. What is known of a sorted table is assumed of each function where it is read: how it stands to the
 * witness, and to the one before it. */
static sfu_addr table_starts[__CPROVER_constant_infinity_uint];
static uint32_t table_sizes[__CPROVER_constant_infinity_uint];
static uint32_t witness;

/* Whether functions A and B, in this order, are as sfu_check wants them in a sorted table; empty ones may be
 * anywhere. */
static bool in_order(uint32_t a, uint32_t b)
{
    sfu_addr between = table_starts[b] - table_starts[a];

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

const uint8_t *table_entry(struct lookup *l, const struct tables *t, uint32_t index);
const uint8_t *table_entry(struct lookup *l, const struct tables *t, uint32_t index)
{
    PROVE(are_tables(t, l->s), "the tables are those of the lookup's section");
    known_order(l->s, index);
    return record;
}

sfu_addr table_start(const struct tables *t, uint32_t index, const uint8_t *p);
sfu_addr table_start(const struct tables *t, uint32_t index, const uint8_t *p)
{
    (void)t;
    (void)p;
    return table_starts[index];
}

static uint32_t ranged, found; /* the functions whose range was read last, and whose attributes */

const uint8_t *table_range(struct lookup *l, uint32_t index);
const uint8_t *table_range(struct lookup *l, uint32_t index)
{
    known_order(l->s, index);
    l->fde.start = table_starts[index];
    l->fde.size = table_sizes[index];
    ranged = index;
    return record;
}

int table_attributes(struct lookup *l, const uint8_t *p);
int table_attributes(struct lookup *l, const uint8_t *p)
{
    (void)l;
    PROVE(p == record, "the attributes are those of the FDE that was read");
    found = ranged;
    return SFU_OK;
}

void prove_complete(void)
{
    struct sfu_section s;
    struct lookup l;
    sfu_addr pc = nondet_addr();

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

void prove_find_text(void)
{
    struct sfu_section s, before;
    uint32_t i = nondet_u32();
    sfu_addr pc = nondet_addr();
    int code;

    any_section(&s);
    any_fdes();
    ASSUME(s.num_fdes <= MAX_FDES && i < s.num_fdes);
    before = s;
    code = sfu_find_text(&s);
    PROVE(code == SFU_OK || code == SFU_E_EMPTY || code == SFU_E_FDE, "only documented codes");
    if (code == SFU_OK) {
        PROVE(pc - starts[i] >= sizes[i] || in_range(&s.text, pc), "the text has all functions");
        PROVE(s.text.low < s.text.high, "it has some byte, and is set");
    } else
        PROVE(s.text.low == before.text.low && s.text.high == before.text.high, "outputs are unchanged on error");
    PROVE(code == SFU_E_FDE || !goes_to_end(s.abi, i), "a function that wraps is seen");
    s.text = before.text;
    PROVE(same_section(&s, &before), "nothing else changes");
}

/* Functions as sfu_check wants them in a sorted table. */
static bool accepted(uint8_t abi, uint32_t count)
{
    uint32_t i, j;

    for (i = 0; i < count; i++) {
        if (goes_to_end(abi, i))
            return false;
        for (j = i + 1; j < count; j++)
            if (starts[j] < starts[i] || (sizes[j] > 0 && starts[j] - starts[i] < sizes[i]))
                return false;
    }
    return true;
}

void prove_code(void)
{
    struct sfu_section s, before;
    uint32_t i = nondet_u32();
    sfu_addr pc = nondet_addr();

    any_section(&s);
    any_fdes();
    ASSUME(s.num_fdes <= MAX_FDES && i < MAX_FDES);
    s.code.low = s.code.high = 0;
    before = s;
    find_code(&s);
    if (s.code.high != 0) {
        PROVE(s.flags & FLAG_SORTED && s.bytes != NULL, "it is set if the table is sorted and mapped");
        PROVE(s.code.low < s.code.high, "it has some byte");
        PROVE(i >= s.num_fdes || !accepted(s.abi, s.num_fdes) || pc - starts[i] >= sizes[i] ||
                  in_range(&s.code, pc),
              "it has all functions");
    }
    PROVE(s.code.high != 0 || !(s.flags & FLAG_SORTED) || s.bytes == NULL || i >= s.num_fdes || sizes[i] == 0 ||
              !accepted(s.abi, s.num_fdes),
          "it is set if there is a function");
    s.code = before.code;
    PROVE(same_section(&s, &before), "nothing else changes");
}

/* The rows of a function, and what reads them. Each row says the same each time. They are without words, so that
 * each is
 * as long as its start and its info byte: two bytes. */
enum { LISTED = 2, WIDE = 0x60 };

static struct {
    uint32_t start;
    int code; /* whether it can be read, whether it has rules */
    int rules_code;
    bool wide; /* its words have an unknown size */
} listed[MAX_ROWS];

int listed_row(struct lookup *l, const struct tables *t, uint32_t at, unsigned size, uint32_t *start,
               unsigned *info);
int listed_row(struct lookup *l, const struct tables *t, uint32_t at, unsigned size, uint32_t *start,
               unsigned *info)
{
    PROVE(are_tables(t, l->s) && size == 1, "a row is read as what it is");
    PROVE(at % LISTED == 0 && at / LISTED < l->fde.num_rows, "only rows of the function are read");
    *start = listed[at / LISTED].start;
    *info = listed[at / LISTED].wide ? WIDE : 0;
    return listed[at / LISTED].code;
}

int listed_rules(struct lookup *l, struct sfu_row *row);
int listed_rules(struct lookup *l, struct sfu_row *row)
{
    (void)row;
    return listed[l->row.words / LISTED - 1].rules_code;
}

void prove_checked(void)
{
    struct sfu_section s;
    struct lookup l;
    struct sfu_row row;
    sfu_addr pc = nondet_addr();
    uint32_t index;
    int code;

    any_section(&s);
    l.s = &s;
    __CPROVER_havoc_object(listed);
    l.fde.rows = 0;
    l.fde.address = 1;
    ASSUME(l.fde.num_rows >= 1 && l.fde.num_rows <= MAX_ROWS);
    ASSUME(!(l.fde.info & INFO_MASK) || l.fde.repeat > 0); /* read_attributes */
    ASSUME(pc - l.fde.start < l.fde.size);
    if (check_rows(&l, &index) != SFU_OK)
        return;
    code = find_row(&l, pc);
    PROVE(code == SFU_OK || code == SFU_E_NO_ROW, "no row is corrupt");
    PROVE(code != SFU_E_NO_ROW || listed[0].start > 0, "a first row at 0 is in front of every PC");
    PROVE(code != SFU_OK || read_rules(&l, &row) == SFU_OK, "the row has rules");
}

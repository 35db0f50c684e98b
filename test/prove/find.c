/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_find, for every PC:
 *   prove_find_sorted    every sorted section, of any number of functions, with up to MAX_ROWS rows in each, and up to
 *                        MAX_FDES empty functions in a row
 *   prove_find_unsorted  every unsorted section of up to MAX_FDES functions */
#include "prove.h"

static void prove_found(const struct sfu_section *s, uint64_t pc)
{
    struct sfu_row row, before;
    int code;

    row.signal = nondet_bool();
    row.signed_ra = nondet_bool();
    before = row;
    code = sfu_find(s, pc, &row);
    PROVE(code == SFU_OK || code == SFU_E_NO_FDE || code == SFU_E_NO_ROW || code == SFU_E_FDE || code == SFU_E_ROW ||
          code == SFU_E_BOUNDS || (code == SFU_E_SECTION && s->bytes == NULL), "only documented codes");
    if (code != SFU_OK) {
        PROVE(same_row(&row, &before), "outputs are unchanged on error");
        return;
    }
    PROVE(pc - row.start < row.length, "a row that is found contains the PC");
    PROVE(row.start - row.function <= pc - row.function, "a row lies in its function");
    PROVE(row.abi == s->abi && row.kind <= SFU_ROW_ASK, "known kind, the section's ABI");
    PROVE(row.kind != SFU_ROW_RULES || row.cfa.control & RULE_REGISTER, "a CFA has a base");
}

void prove_find_sorted(void)
{
    struct sfu_section s;

    any_section(&s);
    ASSUME(s.flags & FLAG_SORTED);
    ASSUME(s.end - s.fres <= 5 + 2 * MAX_ROWS + 1);
    prove_found(&s, nondet_u64());
}

void prove_find_unsorted(void)
{
    struct sfu_section s;

    any_section(&s);
    ASSUME(!(s.flags & FLAG_SORTED) && s.num_fdes <= MAX_FDES);
    ASSUME(s.end - s.fres <= 5 + 2 * MAX_ROWS + 1);
    prove_found(&s, nondet_u64());
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_check: every section with up to MAX_FDES functions, with up to MAX_ROWS rows in each. */
#include "prove.h"

void prove_check(void)
{
    struct sfu_section s;
    struct sfu_place place = {nondet_u32(), nondet_u32()};
    int code;

    any_section(&s);
    ASSUME(s.num_fdes <= MAX_FDES && s.end - s.fres <= 5 + 2 * MAX_ROWS + 1);
    code = sfu_check(&s, nondet_bool() ? &place : NULL);
    PROVE(code == SFU_OK || code == SFU_E_EMPTY || code == SFU_E_BOUNDS || code == SFU_E_FDE || code == SFU_E_ROW ||
              code == SFU_E_NO_ROW || code == SFU_E_UNSORTED || code == SFU_E_OVERLAP || code == SFU_E_COUNT ||
              code == SFU_E_CONCATENATED || (code == SFU_E_SECTION && s.bytes == NULL),
          "only documented codes");
}

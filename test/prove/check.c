/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_check, for every section: no bound. */
#include "prove.h"

void prove_check(void)
{
    struct sfu_section s;
    struct sfu_place place = {nondet_u32(), nondet_u32()};
    struct sfu_place *asked = nondet_bool() ? &place : NULL;
    int code;

    any_section(&s);
    code = sfu_check(&s, asked);
    PROVE(code == SFU_OK || code == SFU_E_EMPTY || code == SFU_E_BOUNDS || code == SFU_E_FDE || code == SFU_E_ROW ||
              code == SFU_E_NO_ROW || code == SFU_E_UNSORTED || code == SFU_E_OVERLAP || code == SFU_E_COUNT ||
              code == SFU_E_CONCATENATED || (code == SFU_E_SECTION && s.bytes == NULL),
          "only documented codes");
    PROVE(code == SFU_OK || asked == NULL || place.fde <= s.num_fdes, "a fault has a place");
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_open and sfu_open_remote, for every size, every address and every header: no bound. */
#include "prove.h"

/* SIZE bytes, of which sfu_open may read the first HEADER_SIZE at most: the object has no more. */
void prove_open(void)
{
    static uint8_t object[HEADER_SIZE];
    struct sfu_section s, before;
    uint64_t size = nondet_u64(), addr = nondet_u64();
    unsigned there = size < HEADER_SIZE ? (unsigned)size : HEADER_SIZE;
    int code;

    __CPROVER_havoc_object(object);
    before = s;
    code = sfu_open(&s, object + HEADER_SIZE - there, size, addr);
    if (code == SFU_OK)
        PROVE(opened(&s) && s.size == size && s.addr == addr, "an opened section is sound");
    else
        PROVE(same_section(&s, &before), "outputs are unchanged on error");
    PROVE(code == SFU_OK || code == SFU_E_EMPTY || code == SFU_E_MAGIC || code == SFU_E_VERSION ||
              code == SFU_E_ABI || code == SFU_E_FLAGS || code == SFU_E_BOUNDS,
          "only documented codes");
}

void prove_open_remote(void)
{
    struct sfu_section s, before;
    int code;

    section_addr = nondet_u64();
    section_size = nondet_u64();
    before = s;
    code = sfu_open_remote(&s, read_section, NULL, section_size, section_addr);
    if (code == SFU_OK)
        PROVE(opened(&s) && s.size == section_size && s.addr == section_addr, "an opened section is sound");
    else
        PROVE(same_section(&s, &before), "outputs are unchanged on error");
    PROVE(code == SFU_OK || code == SFU_E_EMPTY || code == SFU_E_MAGIC || code == SFU_E_VERSION ||
              code == SFU_E_ABI || code == SFU_E_FLAGS || code == SFU_E_BOUNDS || code == SFU_E_SECTION,
          "only documented codes");
}

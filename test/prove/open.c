/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu_open and sfu_open_remote, for every size, every address and every header: no bound. */
#include "prove.h"

static bool documented(int code)
{
    return code == SFU_OK || code == SFU_E_EMPTY || code == SFU_E_MAGIC || code == SFU_E_VERSION ||
           code == SFU_E_ABI || code == SFU_E_FLAGS || code == SFU_E_BOUNDS;
}

/* SIZE bytes, of which sfu_open may read the first HEADER_SIZE at most: the object has no more. */
void prove_open(void)
{
    static uint8_t object[HEADER_SIZE];
    struct sfu_section s, before;
    uint64_t size = nondet_u64(), addr = nondet_u64();
    unsigned there = size < HEADER_SIZE ? (unsigned)size : HEADER_SIZE;
    const uint8_t *bytes = object + HEADER_SIZE - there;
    int code;

    __CPROVER_havoc_object(object);
    s.big = nondet_bool();
    before = s;
    code = sfu_open(&s, bytes, size, addr);
    PROVE(documented(code), "only documented codes");
    if (code != SFU_OK) {
        PROVE(same_section(&s, &before), "outputs are unchanged on error");
        return;
    }
    PROVE(opened(&s) && s.size == size && s.addr == addr, "an opened section is sound");
    PROVE(s.bytes == bytes && s.next == NULL, "it is mapped, and in no list");
    PROVE(s.text_first == 0 && s.text_last == UINT64_MAX, "its text is unknown");
}

/* The tables behind any others, mapped or remote. */
void prove_open_next(void)
{
    struct sfu_section s, before, next, next_before;
    int code;

    any_section(&s);
    section_addr = s.addr;
    section_size = s.size;
    s.bytes = nondet_bool() ? __CPROVER_allocate(s.size, 0) : NULL;
    s.read = read_section;
    next.big = nondet_bool();
    before = s;
    next_before = next;
    code = sfu_open_next(&s, &next);
    PROVE(documented(code) || (code == SFU_E_SECTION && s.bytes == NULL), "only documented codes");
    PROVE(callback_reads <= 9, "each place where a header may be is read once, and the header");
    if (code != SFU_OK) {
        PROVE(same_section(&s, &before) && same_section(&next, &next_before), "outputs are unchanged on error");
        return;
    }
    PROVE(s.size == s.end, "the first section ends with its tables");
    s.size = before.size;
    PROVE(same_section(&s, &before), "nothing else of it changes");
    PROVE(opened(&next) && next.next == NULL, "the next one is sound");
    PROVE(next.addr - s.addr >= s.end && next.addr - s.addr < s.end + 8ul &&
              next.size == s.size - (next.addr - s.addr),
          "it has what follows");
    PROVE(next.bytes == (s.bytes != NULL ? s.bytes + (next.addr - s.addr) : NULL) && next.read == s.read &&
              next.ctx == s.ctx,
          "it is read as the first one is");
}

void prove_open_remote(void)
{
    struct sfu_section s, before;
    int code;

    section_addr = nondet_u64();
    section_size = nondet_u64();
    s.big = nondet_bool();
    before = s;
    code = sfu_open_remote(&s, read_section, &section_addr, section_size, section_addr);
    PROVE(documented(code) || code == SFU_E_SECTION, "only documented codes");
    PROVE(callback_reads <= 1, "the header is read at once");
    if (code != SFU_OK) {
        PROVE(same_section(&s, &before), "outputs are unchanged on error");
        return;
    }
    PROVE(opened(&s) && s.size == section_size && s.addr == section_addr, "an opened section is sound");
    PROVE(s.bytes == NULL && s.read == read_section && s.ctx == &section_addr && s.next == NULL,
          "it is remote, and in no list");
}

/* Up to two sections are in the list; a third is added and taken out. */
void prove_list(void)
{
    struct sfu_section sections[3], other;
    struct sfu_section *list = NULL;
    unsigned count = nondet_byte() % 3, i;
    int code;

    for (i = 0; i < 3; i++)
        any_section(&sections[i]);
    for (i = 0; i < count; i++)
        if (sfu_add(&list, &sections[i]) != SFU_OK)
            return;
    PROVE(list == (count > 0 ? &sections[count - 1] : NULL), "sections are added at the front");
    code = sfu_add(&list, &sections[2]);
    PROVE((code == SFU_E_ABI) == (count > 0 && sections[0].abi != sections[2].abi), "a list has one ABI");
    PROVE(code == SFU_OK || code == SFU_E_ABI, "only documented codes");
    PROVE(sfu_remove(&list, &other) == SFU_E_EMPTY, "what is not in the list cannot be taken out");
    i = nondet_byte() % 3;
    code = sfu_remove(&list, &sections[i]);
    PROVE(code != SFU_OK || sections[i].next == NULL, "it is in no list then");
    for (other.next = list; other.next != NULL; other.next = other.next->next)
        PROVE(other.next != &sections[i], "it is no longer in this one");
}

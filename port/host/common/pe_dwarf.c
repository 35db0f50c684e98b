/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "pe_dwarf.h"
#include "dwarf_cfi.h"

#include <stdlib.h>

static void put_uleb(struct pe_bytes *out, uint64_t value)
{
    do {
        pe_put(out, (value & 0x7f) | (value > 0x7f ? 0x80u : 0u), 1);
        value >>= 7;
    } while (value != 0);
}

/* VALUE, as far as 8 bytes of 7 bits hold it: with padding, because the length of an LEB128 is free. */
static void put_sleb(struct pe_bytes *out, int64_t value)
{
    unsigned i;

    for (i = 0; i < 8; i++)
        pe_put(out, ((uint64_t)value >> 7 * i & 0x7f) | (i < 7 ? 0x80u : 0u), 1);
}

void put_advance(struct pe_bytes *out, uint64_t by)
{
    if (by == 0)
        return;
    pe_put(out, DW_CFA_advance_loc4, 1);
    pe_put(out, by, 4);
}

void put_cfa(struct pe_bytes *out, unsigned reg, int64_t offset)
{
    pe_put(out, DW_CFA_def_cfa_sf, 1);
    put_uleb(out, reg);
    put_sleb(out, -offset / WORD); /* the data alignment is -8 */
}

void put_saved(struct pe_bytes *out, unsigned reg, int64_t below)
{
    pe_put(out, DW_CFA_offset_extended_sf, 1);
    put_uleb(out, reg);
    put_sleb(out, below / WORD);
}

void put_same(struct pe_bytes *out, unsigned reg)
{
    pe_put(out, DW_CFA_same_value, 1);
    put_uleb(out, reg);
}

/* Puts an entry of .eh_frame: its length, then CONTENTS, which it frees, filled up with no-operations. */
static void put_entry(struct pe_bytes *out, struct pe_bytes *contents)
{
    size_t i;

    while (contents->size % 8 != 4)
        pe_put(contents, DW_CFA_nop, 1);
    pe_put(out, contents->size, 4);
    for (i = 0; i < contents->size; i++)
        pe_put(out, contents->data[i], 1);
    free(contents->data);
    *contents = (struct pe_bytes){NULL, 0};
}

void put_cie(struct pe_bytes *out, bool x86_64, bool signal)
{
    struct pe_bytes cie = {NULL, 0};

    pe_put(&cie, 0, 4);
    pe_put(&cie, 1, 1); /* version */
    pe_put(&cie, 'z', 1);
    pe_put(&cie, 'R', 1);
    if (signal)
        pe_put(&cie, 'S', 1);
    pe_put(&cie, 0, 1);
    pe_put(&cie, 1, 1);    /* code alignment */
    pe_put(&cie, 0x78, 1); /* data alignment: -8 */
    pe_put(&cie, x86_64 ? X86_64_RA : AARCH64_LR, 1);
    pe_put(&cie, 1, 1);
    pe_put(&cie, DW_EH_PE_absptr, 1);
    put_cfa(&cie, x86_64 ? X86_64_RSP : AARCH64_SP, x86_64 ? WORD : 0);
    if (x86_64)
        put_saved(&cie, X86_64_RA, WORD);
    put_entry(out, &cie);
}

void put_fde(const struct pe *pe, struct pe_bytes *out, size_t cie, const struct pe_function *f,
             struct pe_bytes *program)
{
    struct pe_bytes fde = {NULL, 0};
    size_t i;

    pe_put(&fde, out->size + 4 - cie, 4);
    pe_put(&fde, pe->base + f->start, 8);
    pe_put(&fde, f->end - f->start, 8);
    pe_put(&fde, 0, 1);
    for (i = 0; i < program->size; i++)
        pe_put(&fde, program->data[i], 1);
    free(program->data);
    put_entry(out, &fde);
}

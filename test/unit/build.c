/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "build.h"

#include "test/lib/abi.h"

#include <stdlib.h>
#include <string.h>

static void store(uint8_t *p, uint64_t value, unsigned len, bool big)
{
    for (unsigned i = 0; i < len; i++)
        p[big ? len - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

void build_put(struct build *b, size_t at, uint64_t value, unsigned len)
{
    store(b->bytes + at, value, len, b->big);
}

uint64_t build_get(const struct build *b, size_t at, unsigned len)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < len; i++)
        value |= (uint64_t)b->bytes[at + (b->big ? len - 1 - i : i)] << (8 * i);
    return value;
}

void build_begin(struct build *b, int version, int abi, bool big)
{
    memset(b, 0, offsetof(struct build, fde));
    b->version = (uint8_t)version;
    b->abi = (uint8_t)abi;
    b->big = big;
    b->flags = F_SORTED;
    b->fixed_ra = abi == 3 || abi == 0x85 ? -8 : 0;
    b->size = 0;
}

static void fre_bytes(struct build *b, uint64_t value, unsigned len)
{
    if (b->fre_len + len > sizeof b->fre)
        abort();
    store(b->fre + b->fre_len, value, len, b->big);
    b->fre_len += len;
}

void build_fde_more(struct build *b, int64_t start, uint32_t size, unsigned info, unsigned info2, unsigned rep_size)
{
    struct build_fde *f = &b->fde[b->fdes++];
    if (b->fdes > BUILD_FDES)
        abort();
    f->start = start;
    f->size = size;
    f->fre_off = b->fre_len;
    f->rows = 0;
    f->info = (uint8_t)info;
    f->info2 = (uint8_t)info2;
    f->rep_size = (uint8_t)rep_size;
    if (b->version == 3)
        fre_bytes(b, 0, 5); /* the attribute: build_end fills it in */
}

void build_fde(struct build *b, int64_t start, uint32_t size, unsigned info)
{
    build_fde_more(b, start, size, info, DEFAULT, 0);
}

void build_row(struct build *b, uint32_t start, unsigned info, unsigned count, const int64_t *words)
{
    struct build_fde *f = &b->fde[b->fdes - 1];
    static const unsigned address_size[4] = {1, 2, 4, 4};
    static const unsigned word_size[4] = {1, 2, 4, 4};
    if (b->rows < BUILD_FDES)
        b->row_off[b->rows] = b->fre_len;
    fre_bytes(b, start, address_size[f->info & 3]);
    fre_bytes(b, info | count << 1, 1);
    for (unsigned i = 0; i < count; i++)
        fre_bytes(b, (uint64_t)words[i], word_size[info >> 5 & 3]);
    f->rows++;
    b->rows++;
}

size_t build_header_size(const struct build *b)
{
    return 28u + b->auxhdr_len;
}

size_t build_fde_size(const struct build *b)
{
    return b->version == 1 ? 17 : b->version == 2 ? 20 : 16;
}

size_t build_fde_at(const struct build *b, uint32_t fde)
{
    return build_header_size(b) + fde * build_fde_size(b);
}

size_t build_fre_at(const struct build *b)
{
    return build_fde_at(b, b->fdes) + b->gap;
}

size_t build_row_at(const struct build *b, uint32_t row)
{
    return build_fre_at(b) + b->row_off[row];
}

static void put_header(struct build *b)
{
    build_put(b, H_MAGIC, abi_magic(b->abi), 2);
    build_put(b, H_VERSION, b->version, 1);
    build_put(b, H_FLAGS, b->flags, 1);
    build_put(b, H_ABI, b->abi, 1);
    build_put(b, H_FP, (uint8_t)b->fixed_fp, 1);
    build_put(b, H_RA, (uint8_t)b->fixed_ra, 1);
    build_put(b, H_AUX, b->auxhdr_len, 1);
    build_put(b, H_FDES, b->fdes, 4);
    build_put(b, H_FRES, b->rows, 4);
    build_put(b, H_FRE_LEN, b->fre_len, 4);
    build_put(b, H_FDEOFF, 0, 4);
    build_put(b, H_FREOFF, build_fre_at(b) - build_header_size(b), 4);
}

/* Versions 1 (17 bytes) and 2 (20): start, size, FRE offset, rows, info; 2: repeat size, 2 bytes of padding. */
static void put_old_fde(struct build *b, size_t at, const struct build_fde *f, int64_t start)
{
    build_put(b, at, (uint64_t)start, 4);
    build_put(b, at + 4, f->size, 4);
    build_put(b, at + 8, f->fre_off, 4);
    build_put(b, at + 12, f->rows, 4);
    build_put(b, at + 16, f->info, 1);
    if (b->version == 2) {
        build_put(b, at + 17, f->rep_size, 1);
        build_put(b, at + 18, 0, 2);
    }
}

/* Version 3: an index of start (8 bytes), size, FRE offset; an attribute of rows (2 bytes), info, info2, repeat
 * size in front of the rows. */
static void put_fde(struct build *b, size_t at, const struct build_fde *f, int64_t start)
{
    size_t attr = build_fre_at(b) + f->fre_off;
    build_put(b, at, (uint64_t)start, 8);
    build_put(b, at + 8, f->size, 4);
    build_put(b, at + 12, f->fre_off, 4);
    build_put(b, attr, f->rows, 2);
    build_put(b, attr + 2, f->info, 1);
    build_put(b, attr + 3, f->info2, 1);
    build_put(b, attr + 4, f->rep_size, 1);
}

void build_end(struct build *b)
{
    size_t fre_at = build_fre_at(b);
    b->size = fre_at + b->fre_len;
    if (b->size > sizeof b->bytes)
        abort();
    memset(b->bytes, 0x5a, fre_at);
    memcpy(b->bytes + fre_at, b->fre, b->fre_len);
    put_header(b);
    for (uint32_t i = 0; i < b->fdes; i++) {
        size_t at = build_fde_at(b, i);
        int64_t start = b->fde[i].start - (b->flags & F_PCREL ? (int64_t)at : 0);
        if (b->version == 3)
            put_fde(b, at, &b->fde[i], start);
        else
            put_old_fde(b, at, &b->fde[i], start);
    }
}

void build_set_fre_off(struct build *b, uint32_t fde, uint32_t off)
{
    build_put(b, build_fde_at(b, fde) + (b->version == 3 ? 12 : 8), off, 4);
}

static size_t attr_at(const struct build *b, uint32_t fde)
{
    return build_fre_at(b) + b->fde[fde].fre_off;
}

void build_set_num_fres(struct build *b, uint32_t fde, uint32_t rows)
{
    if (b->version == 3)
        build_put(b, attr_at(b, fde), rows, 2);
    else
        build_put(b, build_fde_at(b, fde) + 12, rows, 4);
}

void build_set_info(struct build *b, uint32_t fde, unsigned info)
{
    build_put(b, b->version == 3 ? attr_at(b, fde) + 2 : build_fde_at(b, fde) + 16, info, 1);
}

void build_set_info2(struct build *b, uint32_t fde, unsigned info2)
{
    build_put(b, attr_at(b, fde) + 3, info2, 1);
}

void build_set_rep_size(struct build *b, uint32_t fde, unsigned rep_size)
{
    build_put(b, b->version == 3 ? attr_at(b, fde) + 4 : build_fde_at(b, fde) + 17, rep_size, 1);
}

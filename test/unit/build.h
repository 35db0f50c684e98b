/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Writes SFrame sections, byte by byte as the specification draws them: version 1, 2 or 3, any ABI number, either
 * byte order. Nothing here is shared with the reader under test. A section is valid when build_end returns; the
 * build_set_* functions then falsify single fields.
 */
#ifndef BUILD_H
#define BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUILD_FDES = 4096, BUILD_BYTES = 1 << 18 };

/* Section flags (2.1.3). */
enum { F_SORTED = 1, F_FRAME_POINTER = 2, F_PCREL = 4 };

/* FDE info byte (2.3.3): row address size, PC type, PAC key, signal frame. */
enum { ADDR1 = 0, ADDR2 = 1, ADDR4 = 2, MASK = 0x10, KEY_B = 0x20, SIGNAL = 0x80 };

/* Second FDE info byte (2.3.3.2). */
enum { DEFAULT = 0, FLEX = 1 };

/* Row info byte (2.4.1) but for the count: CFA base, word size, signed RA. */
enum { BASE_FP = 0, BASE_SP = 1, WORD1 = 0, WORD2 = 0x20, WORD4 = 0x40, SIGNED_RA = 0x80 };

/* Control word of a flexible row (3.2): value = base + offset, or what lies there. */
#define REG(n)    ((int64_t)(n) << 3 | 1)
#define AT_REG(n) ((int64_t)(n) << 3 | 3)
#define AT_CFA    2

struct build_fde {
    int64_t start; /* from the start of the section */
    uint32_t size, fre_off, rows;
    uint8_t info, info2, rep_size;
};

struct build {
    uint8_t version, abi, flags, auxhdr_len;
    int8_t fixed_fp, fixed_ra;
    bool big;
    uint32_t fdes, rows, fre_len;
    uint32_t gap; /* bytes between the FDEs and the FREs */
    struct build_fde fde[BUILD_FDES];
    uint8_t fre[BUILD_BYTES];
    uint32_t row_off[BUILD_FDES]; /* of the first rows, counted over the section, from the start of the FREs */
    uint8_t bytes[2 * BUILD_BYTES];
    size_t size;
};

/* An empty section: sorted; the fixed RA offset is -8 on amd64, as its ABI has it, and on i386, whose own is -4:
 * the tests lay out frames in words of 8 bytes. */
void build_begin(struct build *b, int version, int abi, bool big);

/* A function. START is counted from the start of the section, also if F_PCREL is set (what is stored differs). */
void build_fde(struct build *b, int64_t start, uint32_t size, unsigned info);
void build_fde_more(struct build *b, int64_t start, uint32_t size, unsigned info, unsigned info2,
                    unsigned rep_size);

/* A row of the last function, with COUNT data words. */
void build_row(struct build *b, uint32_t start, unsigned info, unsigned count, const int64_t *words);
#define ROW(b, start, info, ...)                                                                                   \
    build_row(b, start, info, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                            \
              (const int64_t[]){__VA_ARGS__})
#define ROW0(b, start, info) build_row(b, start, info, 0, NULL)

/* Lays the section out: b->bytes, b->size. May be called again after more was added. */
void build_end(struct build *b);

/* Where things lie in b->bytes. */
size_t build_header_size(const struct build *b);
size_t build_fde_size(const struct build *b);
size_t build_fde_at(const struct build *b, uint32_t fde);
size_t build_fre_at(const struct build *b);
size_t build_row_at(const struct build *b, uint32_t row);

/* Header fields by their offset (2.2). */
enum {
    H_MAGIC = 0,
    H_VERSION = 2,
    H_FLAGS = 3,
    H_ABI = 4,
    H_FP = 5,
    H_RA = 6,
    H_AUX = 7,
    H_FDES = 8,
    H_FRES = 12,
    H_FRE_LEN = 16,
    H_FDEOFF = 20,
    H_FREOFF = 24
};

/* Stores VALUE in LEN bytes of the section's byte order. */
void build_put(struct build *b, size_t at, uint64_t value, unsigned len);
uint64_t build_get(const struct build *b, size_t at, unsigned len);

/* Fields of an FDE, wherever its version has them. */
void build_set_fre_off(struct build *b, uint32_t fde, uint32_t off);
void build_set_num_fres(struct build *b, uint32_t fde, uint32_t rows);
void build_set_info(struct build *b, uint32_t fde, unsigned info);
void build_set_info2(struct build *b, uint32_t fde, unsigned info2);       /* V3 only */
void build_set_rep_size(struct build *b, uint32_t fde, unsigned rep_size); /* V2, V3 */

#endif

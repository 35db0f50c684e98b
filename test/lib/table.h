/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A second reading of the format, written from the specification alone and for tests only: it decodes a whole section
 * into arrays, finds rows by trying every function, and turns a section into others that say the same. Simple and
 * slow; what sfu says is compared with it.
 */
#ifndef LIB_TABLE_H
#define LIB_TABLE_H

#include "bytes.h"
#include "sfu.h"

enum { MAX_SECTION = 1024, MAX_FDES = 64, MAX_ROWS = 512 };

struct table_row {
    uint32_t start;
    unsigned at, words; /* offsets of the row and of its words */
    unsigned count, size;
    uint8_t info;
};

struct table_fde {
    uint64_t start;
    uint32_t size, num_rows;
    unsigned at, attributes, rows; /* offsets; attributes: V3 only */
    unsigned first, decoded;       /* its rows in table.row */
    uint8_t info, type, repeat;
};

struct table {
    const uint8_t *bytes;
    uint64_t addr;
    size_t size;
    bool big;
    unsigned version, abi, fdes, fres, end, fde_size, address;
    uint32_t num_fdes; /* as decoded */
    uint32_t num_rows;
    bool complete; /* everything is decoded: nothing was out of bounds, unknown or too much */
    bool wraps;    /* a function lies across the end of the address space */
    struct table_fde fde[MAX_FDES];
    struct table_row row[MAX_ROWS];
};

/* Decodes as much as it can of the SIZE bytes at BYTES, which sfu_open accepted at ADDR. */
void table_read(struct table *t, const uint8_t *bytes, size_t size, uint64_t addr);

/* Whether two functions share an address: which one is found then is not defined. */
bool table_overlaps(const struct table *t);

/* How many functions are empty: a lookup in a sorted table steps over them. */
unsigned table_empties(const struct table *t);

/* What sfu_find shall return and, if that is SFU_OK, find. The table is complete and has no overlap. */
int table_find(const struct table *t, uint64_t pc, struct sfu_row *row);

/* Makes BYTES, of which T is the decoding, a section of the other byte order. False if that is not possible because
 * two entries share bytes in different ways, or because what follows the tables would look like a header of that order;
 * BYTES are then useless. */
bool table_swap_order(const struct table *t, uint8_t *bytes);

/* Changes what the starts in BYTES are relative to. False if a start does not fit. */
bool table_relative(const struct table *t, uint8_t *bytes, bool field);

/* Puts the FDEs in another order, chosen by HOW, and clears the flag. */
void table_shuffle(const struct table *t, uint8_t *bytes, uint64_t how);

/* Makes bytes that are no section more like one: magic, version, ABI and flags are right, the tables lie within the
 * section, rows within their table, and the number of rows is right. HOW chooses between what is possible. */
void table_repair(uint8_t *bytes, size_t size, uint32_t how);

/* Bytes that say what is to be made. */
struct source {
    const uint8_t *p;
    size_t size;
};

/* The next one of them; 0 behind the last. */
unsigned next_byte(struct source *in);

/* Writes a correct section, which the SIZE bytes at IN describe, to OUT, of MAX_SECTION bytes: at most 31 bytes, and
 * for each of 8 functions 25 and 3 rows of 29. Returns its size. */
size_t table_generate(const uint8_t *in, size_t size, uint8_t *out);

#endif

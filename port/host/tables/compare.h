/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Whether SFrame tables say what the call frame information says. sfu reads the ones, cfi.c the other. Their rules
 * for CFA, RA and FP must be the same at every PC.
 */
#ifndef SFU_HOST_COMPARE_H
#define SFU_HOST_COMPARE_H

#include "joined.h"
#include "kept.h"

/* How many bytes of code CFI describes, and what the tables say of them. */
struct comparison {
    uint64_t pcs;
    uint64_t same;
    uint64_t below_sp;  /* the same, except that a slot below SP is given as not saved */
    uint64_t epilogue;  /* the row is that of an epilogue (epilogue_riscv.c) */
    uint64_t stale;     /* the same, except that FP is given in a slot below SP */
    uint64_t by_code;   /* contradicted by CFI that is wrong */
    uint64_t different; /* contradicted */
    uint64_t missing;   /* without a row, or only the trap hook could know */
    uint64_t lost;      /* without a row, and SFrame cannot say it */
};

/* PCs for which the tables are wrong or, if MISSING, has no row. GOT is valid if CODE is SFU_OK. */
struct difference {
    uint64_t start, end;
    const char *what;
    bool missing;
    int code;
    const struct cfi_row *wanted;
    const struct sfu_row *got;
};

typedef void (*difference_fn)(void *ctx, const struct difference *difference);

/* What another reader of the tables has wrong at the PCs of AGREED, whose row is right, or NULL. */
typedef const char *(*reader_fn)(void *ctx, const struct difference *agreed);

/* Whether the tables are right at the PCs of DIFFERENT, and the CFI is not. */
typedef bool (*excuse_fn)(void *ctx, const struct difference *different);

struct compare_how {
    bool ignore_fp;              /* leaves out FP */
    difference_fn found;         /* or NULL */
    reader_fn reader;            /* or NULL */
    excuse_fn excuse;            /* or NULL */
    void *ctx;                   /* passed to all */
    struct epilogues *epilogues; /* kept from one comparison to the next */
};

/* Compares at every PC of SPANS, range by range: sfu's rows and those of CFI say how far they hold. */
void compare_tables(const struct cfi *cfi, const struct cfi_spans *spans, const struct joined *tables,
                    const struct compare_how *how, struct comparison *result);

/* The same with what the image had for code without CFI. */
void compare_kept(const struct cfi *cfi, const struct kept *kept, const struct joined *tables,
                  const struct compare_how *how, struct comparison *result);

/* Describes DIFFERENCE in the SIZE bytes at TEXT. */
void print_difference(char *text, size_t size, const struct difference *difference);

/* Writes RULE as sfu's documents do, into the SIZE bytes at TEXT: r7+16, *(cfa-8). */
void print_rule(char *text, size_t size, const struct sfu_rule *rule);

/* ---- Whether the fast walker (port/fast) finds in tables what the core finds (walker.c) ------------------------ */

/* It reads tables for this machine alone. */
struct walker;

/* A fast walker for IMAGE's tables, the SIZE bytes at BYTES, at ADDR, which sfu_check has accepted. They stay as they
 * are. NULL if it does not read them. To be freed. */
struct walker *walker_new(struct image *image, const uint8_t *bytes, uint64_t size, uint64_t addr);
void walker_free(struct walker *walker);

/* What the fast walker has wrong at the first or the last PC of AGREED, or NULL: two steps from a frame there, by the
 * core and by it, on a stack on which a word tells where it is. Between those PCs it can find no other row, because it
 * goes through functions and rows in ascending order. */
const char *walker_check(struct walker *walker, const struct difference *agreed);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What sfu-gen writes, before it is bytes: functions and their rows, made of an image's call frame information.
 */
#ifndef SFU_HOST_TABLES_H
#define SFU_HOST_TABLES_H

#include "cfi.h"
#include "kept.h"

/* The rules of a row, in the order of the format. */
enum { ROW_CFA, ROW_RA, ROW_FP, ROW_RULES };
enum { ROW_OUTERMOST = 1, ROW_SIGNED = 2 };

/* A row: the rules of struct sfu_rule, packed. An outermost one has none. */
struct made_row {
    uint32_t start; /* from the start of the function, or of the repeated block */
    int32_t offset[ROW_RULES];
    uint16_t control[ROW_RULES];
    uint8_t flags;
};

struct function {
    uint64_t start;
    uint32_t size;
    uint32_t num_rows; /* 0 in a trap frame that cannot be described */
    size_t first_row;
    bool signal, key_b;
    bool before_loss;     /* no row describes the code between it and the next one */
    bool has_byte_before; /* the byte in front of its start is looked up for its start: starts.c */
    bool is_apart;        /* the byte in front of its start has no row: starts.c */
    bool is_returned_to;  /* and has its first row, because code returns there that was called elsewhere */
    uint8_t repeat;       /* not 0: rows are those of blocks of this size */
};

/* Code for which there will be no row, or a wrong one. */
struct loss {
    uint64_t start, end;
    const char *why;
};

struct tables {
    struct image *image;
    struct function *functions; /* by address */
    struct made_row *rows;
    struct loss *losses;
    size_t num_functions, num_rows, num_losses;
    uint64_t covered;   /* bytes of code that CFI describes */
    uint64_t lost;      /* of those, without a row */
    uint64_t below_sp;  /* with slots below SP written as not saved */
    uint64_t plt;       /* bytes of PLTs that have no CFI, but rows */
    uint64_t kept;      /* bytes of other code that has no CFI, but had rows */
    uint64_t epilogue;  /* with the CFA corrected behind an epilogue without CFI (epilogue_riscv.c) */
    bool keep_faults;   /* an option: leave epilogues as they are */
    bool keep_cfi;      /* an option: rows are those of the CFI, also where they lead nowhere */
    bool keep_below_sp; /* an option: leave slots below SP as they are */
};

/* Fills in TABLES from SPANS of CFI, from PLTs without CFI, and from KEPT. TABLES is zeroed, except for its options. */
void tables_make(struct tables *tables, const struct cfi *cfi, const struct cfi_spans *spans,
                 const struct kept *kept);
void tables_free(struct tables *tables);

/* Sets has_byte_before and is_apart of each function. They are in order. CFI: has the starts that are free. */
void tables_mark_starts(struct tables *tables, const struct cfi *cfi);

/* Whether FP is the base of another rule than its own, in any row. */
bool tables_need_fp(const struct tables *tables);

/* Forgets how FP is found. */
void tables_drop_fp(struct tables *tables);

#endif

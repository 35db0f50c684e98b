/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Call frame information: reads .eh_frame and .debug_frame (DWARF 6.4), and interprets what SFrame can say of it. The
 * rules have the form of sfu's, so the two can be compared.
 */
#ifndef SFU_HOST_CFI_H
#define SFU_HOST_CFI_H

#include "image.h"
#include "sfu.h"

/* What a rule is made of: sfu.h, struct sfu_rule. */
enum { RULE_REGISTER = 1, RULE_DEREFERENCE = 2, RULE_NUMBER = 3 };

enum cfi_kind {
    CFI_RULES,
    CFI_OUTERMOST, /* the return address is undefined */
    CFI_LOST       /* SFrame cannot say it */
};

/* What holds for the PCs from start up to end. */
struct cfi_row {
    uint64_t start, end;
    struct sfu_rule cfa, ra, fp;
    enum cfi_kind kind;
    bool signed_ra;
    bool by_pc;      /* an expression has asked for the PC: in a PLT rules depend on its last bits */
    bool doubtful;   /* FP has been restored to a slot that the CIE names */
    bool shadowed;   /* aarch64: x18, the shadow call stack's register, has a rule */
    const char *why; /* CFI_LOST: the reason */
};

/* Instructions of an entry. */
struct cfi_program {
    const uint8_t *start, *end;
};

struct cfi_fde {
    uint64_t start, size;
    struct cfi_program program;
    const struct cfi_cie *cie;
};

struct cfi {
    struct image *image;
    struct cfi_cie *cies;
    size_t num_cies;
    struct cfi_fde *fdes; /* by section, then in the file's order */
    size_t num_fdes;
};

/* Where CFI is read from. */
enum { CFI_EH = 1, CFI_DEBUG = 2 };

/* Reads the entries of the sections that SOURCES names, as far as the image has them. Fails if the entries of a section
 * are broken. Broken instructions of an entry only make its rows CFI_LOST. */
bool cfi_read(struct cfi *cfi, struct image *image, unsigned sources);
void cfi_free(struct cfi *cfi);

/* What the entry's augmentation says. */
bool cfi_is_signal(const struct cfi_fde *fde);
bool cfi_is_key_b(const struct cfi_fde *fde);
uint64_t cfi_ra_register(const struct cfi_fde *fde);

/* Interprets FDE and calls ROW for each row in turn, without gaps from its start to its end. */
typedef void (*cfi_row_fn)(void *ctx, const struct cfi_row *row);
void cfi_rows(const struct cfi *cfi, const struct cfi_fde *fde, cfi_row_fn row, void *ctx);

/* Code that an entry covers, or a part of it. Where entries contradict each other FDE is NULL, and WHY says so. */
struct cfi_span {
    uint64_t start, end;
    const struct cfi_fde *fde; /* or NULL */
    const char *why;
};

struct cfi_spans {
    struct cfi_span *list; /* by address, no two of them overlap; to be freed */
    size_t num;
    size_t dropped; /* entries of functions that the linker has dropped */
};

/* Finds the code that CFI describes. .eh_frame counts before .debug_frame. */
bool cfi_find_spans(const struct cfi *cfi, struct cfi_spans *spans);

/* The span that ADDR is in, or NULL. */
const struct cfi_span *cfi_span_at(const struct cfi_spans *spans, uint64_t addr);

#endif

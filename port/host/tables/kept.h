/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Tables that an image has for code without CFI. Those of exception entries are written by hand (arch/sfu_asm.h).
 * Others are of objects without CFI. sfu-gen takes them over.
 */
#ifndef SFU_HOST_KEPT_H
#define SFU_HOST_KEPT_H

#include "cfi.h"

/* Code of one function, as the image's own section describes it. */
struct kept_span {
    uint64_t start, end;
    const struct sfu_section *section;
    bool signal, ask; /* ask: a trap frame without rows */
};

struct kept {
    struct sfu_section *sections; /* one, or several that a linker has concatenated */
    uint8_t *bytes;
    size_t num_sections;
    struct kept_span *list; /* by address; none lies where CFI or a PLT is */
    size_t num;
};

/* Reads the image's input section, if there is one; in an image without CFI also what sfu-gen has made. Bytes in it
 * that are
 * no tables are room. */
bool kept_read(struct kept *kept, struct image *image, const struct cfi_spans *spans);
void kept_free(struct kept *kept);

/* Gives the rows of SPAN. */
void kept_rows(const struct kept_span *span, cfi_row_fn row, void *ctx);

#endif

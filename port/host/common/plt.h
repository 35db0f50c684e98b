/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* PLTs for which the linker has written no CFI. */
#ifndef SFU_HOST_PLT_H
#define SFU_HOST_PLT_H

#include "cfi.h"

/* Whether SECTION is a PLT, by its name. */
bool plt_is(const struct section *section);

/* Gives the rows of a PLT without CFI, as its instructions say. Returns false, and gives none, if they are not
 * known. */
bool plt_rows(struct image *image, const struct section *plt, cfi_row_fn row, void *ctx);

#endif

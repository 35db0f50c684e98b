/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The table of an image's functions for port/symbols; port/symbols/symbols.py describes it, and makes the same. */
#ifndef SFU_HOST_NAMES_H
#define SFU_HOST_NAMES_H

#include "common/image.h"

/* What is named: functions from BASE on. */
struct names {
    uint64_t base;
    uint8_t *bytes;
    size_t size;
    size_t num; /* of functions; 0: there is no table */
};

/* Makes the table of the functions that lie at most 2 GiB from NEAR. LABELS: those in assembly that have no size, too,
 * up to the next one. */
void names_make(struct image *image, uint64_t near, bool labels, struct names *names);

#endif

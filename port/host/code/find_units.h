/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The units of an image: one for each entry of CFI that can be compared, and code without CFI. */
#ifndef SFU_HOST_CODE_FIND_UNITS_H
#define SFU_HOST_CODE_FIND_UNITS_H

#include "code.h"

/* A unit for each span whose CFI can be compared. Counts in REPORT the bytes of all. */
void code_find_units(struct code *code, const struct cfi_spans *spans, struct code_report *report);
/* Adds units for all code that neither CFI nor rows of the image describe, and puts all in order. */
void code_find_gaps(struct code *code, const struct cfi_spans *spans, const struct kept *kept);
/* All units are there: code_unit_at finds them from now on. */
void code_index_units(struct code *code);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What --entry says: code that nothing is seen to call, and how it is entered. */
#ifndef SFU_HOST_ENTRIES_H
#define SFU_HOST_ENTRIES_H

#include "code/code.h"
#include "common/report.h"

struct entries {
    struct code_entry_point *list; /* to be freed; no two of them are at one address */
    size_t num;
    char error[256]; /* why it could not be read */
};

/* Reads each of TEXTS, SYMBOL[+N][:KIND], ADDRESS[:KIND] or PATTERN[:KIND], for IMAGE, whose symbols are known. A later
 * one replaces earlier ones of the same address. Code that SPANS or KEPT describes is left out: SKIPPED is called for
 * what one of TEXTS names by itself, not by a pattern. The handlers in the vector table of a Cortex-M are entries
 * without being named. */
bool entries_read(struct entries *entries, struct image *image, const struct known *texts, const struct cfi *cfi,
                  const struct cfi_spans *spans, const struct kept *kept,
                  void (*skipped)(const char *text, bool by_cfi));

/* Calls SKIPPED for those that were named by themselves and not taken: CFI describes their code, and is right. */
void entries_skip(const struct entries *entries, void (*skipped)(const char *text, bool by_cfi));

/* The word for KIND. */
const char *entries_kind(enum code_kind kind);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "lint.h"
#include "code/code.h"

#include <stdlib.h>
#include <string.h>

bool lint_read_code(struct lint *lint, struct cfi *cfi, struct cfi_spans *spans, bool find)
{
    const struct code_how how = {find, find, NULL, 0, NULL, NULL, NULL, NULL, NULL};
    struct code_report report;

    if (cfi->image != NULL)
        return true;
    if (lint->image.object || code_cpu(&lint->image) == NULL)
        return true;
    if (!cfi_read(cfi, &lint->image, CFI_EH | CFI_DEBUG) || !cfi_find_spans(cfi, spans) ||
        !code_trust(cfi, spans, &how, &report))
        return false;
    if (!report.other_spans)
        return true;
    free(spans->list);
    return cfi_find_spans(cfi, spans);
}

bool lint_read(struct lint *lint, const char *file, unsigned oldest)
{
    struct image *image = &lint->image;

    memset(lint, 0, sizeof *lint);
    if (!image_open_any(image, file))
        return false;
    if (!image_symbols(image))
        return false;
    if (!cfi_read(&lint->cfi, image, CFI_EH | CFI_DEBUG) || !cfi_find_spans(&lint->cfi, &lint->spans))
        return false;
    if (!lint_read_code(lint, &lint->mended, &lint->mended_spans, false))
        return false;
    lint_place(lint, oldest);
    lint_rows(lint);
    return lint_worth(lint);
}

void lint_free(struct lint *lint)
{
    joined_close(&lint->tables);
    free(lint->entries);
    free(lint->covered);
    free(lint->functions);
    free(lint->frames);
    free(lint->cycles);
    filled_free(&lint->filled);
    free(lint->objects);
    free(lint->findings);
    free(lint->spans.list);
    free(lint->mended_spans.list);
    cfi_free(&lint->mended);
    free(lint->found_spans.list);
    cfi_free(&lint->found);
    lint_objects_free(lint);
    cfi_free(&lint->cfi);
    image_close(&lint->image);
}

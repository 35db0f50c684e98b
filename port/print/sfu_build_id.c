/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_build_id.h"

enum { NOTE_HEADER = 16 }; /* three words of 4 bytes and the name, "GNU"; the build ID follows */

void sfu_print_note(const struct sfu_panic *panic, const char *before, const void *note, const void *note_end)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *byte = (const uint8_t *)note, *end = (const uint8_t *)note_end;

    if (note == NULL || (uintptr_t)note_end - (uintptr_t)note <= NOTE_HEADER)
        return;
    while (*before != '\0')
        panic->put(panic->ctx, *before++);
    for (byte += NOTE_HEADER; byte < end; byte++) {
        panic->put(panic->ctx, digits[*byte >> 4]);
        panic->put(panic->ctx, digits[*byte & 15]);
    }
    panic->put(panic->ctx, '\n');
}

void sfu_print_build_id(const struct sfu_panic *panic, const void *note, const void *note_end)
{
    sfu_print_note(panic, "build ID ", note, note_end);
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "image.h"

#include <stdio.h>
#include <stdlib.h>

/* All of the file NAME, up to 64 MB; to be freed. */
static uint8_t *read_file(const char *name, size_t *size)
{
    uint8_t *bytes = zeroed(1 << 26, 1);
    FILE *f = fopen(name, "rb");

    if (f == NULL) {
        perror(name);
        exit(1);
    }
    *size = fread(bytes, 1, 1 << 26, f);
    fclose(f);
    return bytes;
}

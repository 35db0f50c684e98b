/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#ifndef LIB_FILE_H
#define LIB_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* All of the file NAME, to be freed. Ends the program if it cannot be read. */
static inline uint8_t *read_file(const char *name, size_t *size)
{
    uint8_t *bytes = NULL;
    FILE *f = fopen(name, "rb");

    if (f != NULL && fseek(f, 0, SEEK_END) == 0) {
        *size = (size_t)ftell(f);
        bytes = malloc(*size + 1);
        rewind(f);
    }
    if (bytes == NULL || fread(bytes, 1, *size, f) != *size) {
        perror(name);
        exit(1);
    }
    fclose(f);
    return bytes;
}

#endif

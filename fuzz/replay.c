/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * replay NAME FILE...: runs a harness once for each input, and once for each of its truncations. Prints one result
 * line; a check that fails has ended the program before.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t load(const char *path, uint8_t *buffer, size_t room)
{
    FILE *file = fopen(path, "rb");
    size_t size;

    if (file == NULL) {
        printf("not ok replay: cannot open %s\n", path);
        exit(1);
    }
    size = fread(buffer, 1, room, file);
    fclose(file);
    return size;
}

int main(int argc, char **argv)
{
    static uint8_t buffer[4096];

    for (int i = 2; i < argc; i++) {
        size_t size = load(argv[i], buffer, sizeof buffer);

        for (size_t n = 0; n <= size; n++) {
            /* A copy of just that size: sanitizers see what lies beyond. */
            uint8_t *input = malloc(n + 1);

            memcpy(input, buffer, n);
            LLVMFuzzerTestOneInput(input, n);
            free(input);
        }
    }
    if (argc < 3)
        printf("not ok replay: no input\n");
    else
        printf("ok %s: %d inputs and their truncations\n", argv[1], argc - 2);
    return argc < 3;
}

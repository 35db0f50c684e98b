/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * replay NAME FILE...: runs a harness once for each input, and once for each of its truncations. Prints one result
 * line; a check that fails has ended the program before.
 */
#include "harness.h"
#include "test/lib/file.h"

#include <string.h>

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        size_t size;
        uint8_t *bytes = read_file(argv[i], &size);

        for (size_t n = 0; n <= size; n++) {
            /* A copy of just that size: sanitizers see what lies beyond. */
            uint8_t *input = malloc(n + 1);

            memcpy(input, bytes, n);
            LLVMFuzzerTestOneInput(input, n);
            free(input);
        }
        free(bytes);
    }
    if (argc < 3)
        printf("not ok replay: no input\n");
    else
        printf("ok %s: %d inputs and their truncations\n", argv[1], argc - 2);
    return argc < 3;
}

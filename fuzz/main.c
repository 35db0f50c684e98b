/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What runs a harness without libFuzzer.
 *
 * replay NAME FILE...: once for each input, and once for each of its truncations. Prints one result line; a check that
 * fails has ended the program before.
 *
 * Under AFL++ inputs come through shared memory, and one process runs many of them.
 */
#include "harness.h"
#include "test/lib/file.h"

#include <string.h>
#include <unistd.h>

#ifdef __AFL_COMPILER

__AFL_FUZZ_INIT();

int main(void)
{
    const uint8_t *input;

    __AFL_INIT();
    input = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(1000000))
        LLVMFuzzerTestOneInput(input, (size_t)__AFL_FUZZ_TESTCASE_LEN);
    return 0;
}

#else

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

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What runs a harness without libFuzzer.
 *
 * replay NAME FILE...: once for each input, and once for each of its truncations. A check that fails ends the
 * program.
 *
 * Under AFL++ inputs come through shared memory, and one process runs many of them.
 */
#include "harness.h"
#include "test/lib/check.h"
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

struct inputs {
    char **files;
    int count;
};

static void replay(void *argument)
{
    const struct inputs *inputs = argument;

    for (int i = 0; i < inputs->count; i++) {
        size_t size;
        uint8_t *bytes = read_file(inputs->files[i], &size);

        for (size_t n = 0; n <= size; n++) {
            /* A copy of just that size: sanitizers see what lies beyond. */
            uint8_t *input = malloc(n + 1);

            memcpy(input, bytes, n);
            LLVMFuzzerTestOneInput(input, n);
            free(input);
        }
        free(bytes);
    }
    assert_that(inputs->count > 0, "no input");
    check_say("%d inputs and their truncations", inputs->count);
}

int main(int argc, char **argv)
{
    struct inputs inputs = {argv + 2, argc - 2};

    return argc < 2 || check_case(argv[1], replay, &inputs) != 0;
}

#endif

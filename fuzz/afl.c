/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* A harness under AFL++: inputs come through shared memory, one process runs many of them. */
#include "harness.h"

#include <unistd.h>

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

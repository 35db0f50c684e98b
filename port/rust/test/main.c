/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Runs the test that expect.py has written. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void declarations(void);
_Noreturn void differ(const char *what, int64_t ours, int64_t theirs);

void differ(const char *what, int64_t ours, int64_t theirs)
{
    printf("%s: %lld, and in C %lld\n", what, (long long)ours, (long long)theirs);
    exit(1);
}

int main(void)
{
    declarations();
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The copies are built with different switches, so that it shows which one was called: mine reads version 3 only. */
#include <stdio.h>

#include "sfu.h"
#include "walk.h"

int main(void)
{
    const int got[] = {walk_plain(3), walk_mine(3), walk_mine(2), walk_plain(2)};
    const int wanted[] = {SFU_OK, SFU_OK, SFU_E_VERSION, SFU_OK};
    int i;

    for (i = 0; i < 4; i++) {
        if (got[i] != wanted[i]) {
            printf("walk %d returned %d instead of %d\n", i, got[i], wanted[i]);
            return 1;
        }
    }
    return 0;
}

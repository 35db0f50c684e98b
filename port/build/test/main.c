/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What a parent project is: prints with which switches and parts it was built. */
#include "sfu_arch.h"
#include <stdio.h>
#ifdef WITH_PRINT
#include "sfu_print.h"
#endif
#ifdef WITH_FAST
#include "sfu_fast.h"
#endif
#ifdef WITH_REPEAT
#include "sfu_repeat.h"
#endif
#ifdef WITH_DEPOT
#include "sfu_depot_print.h"
#endif
#ifdef WITH_PROFILE
#include "sfu_profile.h"
#endif

#ifndef SFU_OLDEST_VERSION
#define SFU_OLDEST_VERSION 1
#endif
#ifndef SFU_ABI
#define SFU_ABI 0
#endif

int main(void)
{
    struct sfu_section section;
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);

    printf("oldest %d abi %d", SFU_OLDEST_VERSION, (int)SFU_ABI);
#ifdef SFU_NO_REMOTE
    printf(" no-remote");
#endif
#ifdef SFU_NO_STRINGS
    printf(" no-strings");
#endif
#ifdef WITH_PRINT
    int (*volatile print)(struct sfu_panic *, const struct sfu_registers *) = sfu_panic_print;
    printf(" print %d", print != 0);
#endif
#ifdef WITH_FAST
    size_t (*volatile fast)(const struct sfu_fast_image *) = sfu_fast_index_size;
    printf(" fast %d", fast != 0);
#endif
#ifdef WITH_DEPOT
    void (*volatile depot)(const struct sfu_panic *, const struct sfu_depot *, const struct sfu_depot_report *) =
        sfu_depot_print;
    printf(" depot %d", depot != 0);
#endif
#ifdef WITH_PROFILE
    void (*volatile profile)(const struct sfu_profile *, const struct sfu_panic *,
                             const struct sfu_depot_report *) = sfu_profile_print;
    printf(" profile %d", profile != 0);
#endif
#ifdef WITH_REPEAT
    void (*volatile repeat)(struct sfu_repeat *, uint64_t *, size_t) = sfu_repeat_init;
    printf(" repeat %d", repeat != 0);
#endif
    printf(": %d %d %s\n", here.pc != 0, sfu_open(&section, "", 0, 0), sfu_string(SFU_END));
    return 0;
}

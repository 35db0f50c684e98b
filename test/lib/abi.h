/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What tests know of each ABI. The compiler of CPU is CPU-linux-gnu-gcc everywhere; -mbig-endian makes aarch64_be. */
#ifndef LIB_ABI_H
#define LIB_ABI_H

#include "sfu.h"

struct abi {
    const char *name; /* QEMU's, too */
    unsigned char id; /* enum sfu_abi */
    bool big;
    unsigned sp, fp, ra; /* DWARF numbers; RA 255: in no register */
    bool link;           /* a call leaves RA in register ra */
    unsigned sp_below_cfa;
};

/* The fields of each. */
#define ABI_AARCH64_BIG "aarch64_be", SFU_AARCH64_BIG, true, 31, 29, 30, true, 0
#define ABI_AARCH64     "aarch64", SFU_AARCH64, false, 31, 29, 30, true, 0
#define ABI_AMD64       "x86_64", SFU_AMD64, false, 7, 6, 255, false, 0
#define ABI_S390X       "s390x", SFU_S390X, true, 15, 11, 14, true, 160

/* By enum sfu_abi. */
static const struct abi abis[] = {
    {"", 0, false, 0, 0, 0, false, 0}, {ABI_AARCH64_BIG}, {ABI_AARCH64}, {ABI_AMD64}, {ABI_S390X},
};

#endif

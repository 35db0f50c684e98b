/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What tests know of each ABI. All of them walk over this table: an ABI that is not here is tested nowhere, and unit's
 * test_built_in says so. The compiler of CPU is CPU-linux-gnu-gcc everywhere; -mbig-endian makes aarch64_be. */
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
    unsigned word;   /* bytes of a saved register */
    unsigned record; /* CFA = FP + record, where FP points at a frame record; NO_RECORD */
    bool even;       /* bit 0 of a return address is not a part of it */
};

enum { NO_RECORD = 99 };

/* The fields of each. */
#define ABI_AARCH64_BIG "aarch64_be", SFU_AARCH64_BIG, true, 31, 29, 30, true, 0, 8, 16, false
#define ABI_AARCH64     "aarch64", SFU_AARCH64, false, 31, 29, 30, true, 0, 8, 16, false
#define ABI_AMD64       "x86_64", SFU_AMD64, false, 7, 6, 255, false, 0, 8, 16, false
#define ABI_S390X       "s390x", SFU_S390X, true, 15, 11, 14, true, 160, 8, NO_RECORD, false
#define ABI_RISCV64     "riscv64", SFU_RISCV64, false, 2, 8, 1, true, 0, 8, 0, false
#define ABI_RISCV32     "riscv32", SFU_RISCV32, false, 2, 8, 1, true, 0, 4, 0, false
#define ABI_ARM         "arm", SFU_ARM, false, 13, 11, 14, true, 0, 4, NO_RECORD, true
#define ABI_THUMB       "thumb", SFU_THUMB, false, 13, 7, 14, true, 0, 4, NO_RECORD, true
#define ABI_I386        "i386", SFU_I386, false, 4, 5, 255, false, 0, 4, 8, false

/* By enum sfu_abi. Between them are numbers that no ABI has: there the id is 0. */
static const struct abi abis[] = {
    [SFU_AARCH64_BIG] = {ABI_AARCH64_BIG},
    [SFU_AARCH64] = {ABI_AARCH64},
    [SFU_AMD64] = {ABI_AMD64},
    [SFU_S390X] = {ABI_S390X},
    [SFU_RISCV64] = {ABI_RISCV64},
    [SFU_RISCV32] = {ABI_RISCV32},
    [SFU_ARM] = {ABI_ARM},
    [SFU_THUMB] = {ABI_THUMB},
    [SFU_I386] = {ABI_I386},
};
enum { LAST_OF_ABIS = sizeof abis / sizeof abis[0] - 1 };

/* The number behind ID that an ABI has; behind the last one LAST_OF_ABIS + 1. 0 is in front of the first one. */
static inline int next_abi(int id)
{
    do
        id++;
    while (id <= LAST_OF_ABIS && abis[id].id == 0);
    return id;
}

/* The magic number that tables of ABI number ID begin with: docs/format.md. */
static inline unsigned abi_magic(unsigned id)
{
    return id > 0x80 ? 0x5f75 : 0xdee2;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Code to which signal handlers return: it calls (rt_)sigreturn, and nobody calls it. */
#ifndef SFU_HOST_SIGRETURN_H
#define SFU_HOST_SIGRETURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIGRETURN_MAX = 13 };

/* The instructions that do so on Linux. */
struct sigreturn {
    uint8_t abi; /* enum sfu_abi; SFU_AARCH64 and SFU_RISCV64 are either byte order and both sizes */
    uint8_t size;
    bool old; /* sigreturn, for handlers without SA_SIGINFO */
    uint8_t bytes[SIGRETURN_MAX];
};

/* The one that the SIZE bytes at BYTES, code of ABI, begin with, or NULL. */
const struct sigreturn *sigreturn_find(int abi, const uint8_t *bytes, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Room for the tables in a PE file, which sfu-gen fills. */
#include "efi.h"

/* Linkers put the parts of a section in the order of what follows the dollar sign. */
__attribute__((section(".sframe$a"), aligned(8))) const uint8_t sframe_start[12288] = {0};
__attribute__((section(".sframe$z"))) const uint8_t sframe_end[1] = {0};

struct efi_tables efi_tables(const uint8_t *base)
{
    (void)base;
    return (struct efi_tables){sframe_start, sframe_end};
}

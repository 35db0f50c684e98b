/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Room for the tables by a linker script, which sfu-gen fills. */
#include "efi.h"

extern const uint8_t sframe_start[], sframe_end[];

struct efi_tables efi_tables(const uint8_t *base)
{
    (void)base;
    return (struct efi_tables){sframe_start, sframe_end};
}

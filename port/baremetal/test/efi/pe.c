/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What main.c needs where the linker itself writes the PE file: room for the tables, which sfu-gen fills, and an entry.
 * The firmware has relocated the image already. */
#include "efi.h"

/* Linkers put the parts of a section in the order of what follows the dollar sign. */
__attribute__((section(".sframe$a"), aligned(8))) const uint8_t sframe_start[12288] = {0};
__attribute__((section(".sframe$z"))) const uint8_t sframe_end[1] = {0};

extern uint8_t __ImageBase[];

_Noreturn void efi_main(const struct efi_system *system, uint8_t *base, const uint64_t *dynamic);
EFIAPI void efi_start(void *image, const struct efi_system *system);
EFIAPI void efi_start(void *image, const struct efi_system *system)
{
    static const uint64_t nothing[2] = {0, 0};

    (void)image;
    efi_main(system, __ImageBase, nothing);
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The entry where the linker itself writes the PE file. The firmware has relocated the image already. */
#include "efi.h"

extern uint8_t __ImageBase[];

_Noreturn void efi_main(const struct efi_system *system, uint8_t *base, const uint64_t *dynamic);
EFIAPI void efi_start(void *image, const struct efi_system *system);
EFIAPI void efi_start(void *image, const struct efi_system *system)
{
    static const uint64_t nothing[2] = {0, 0};

    (void)image;
    efi_main(system, __ImageBase, nothing);
}

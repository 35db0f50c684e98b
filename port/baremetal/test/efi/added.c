/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Tables in a section that sfu-gen has added to a PE file. The firmware has loaded the headers with the image. */
#include "efi.h"

static uint32_t number_at(const uint8_t *p, unsigned bytes)
{
    return bytes == 0 ? 0 : p[0] | number_at(p + 1, bytes - 1) << 8;
}

struct efi_tables efi_tables(const uint8_t *base)
{
    const uint8_t *pe = base + number_at(base + 0x3c, 4);
    const uint8_t *section = pe + 24 + number_at(pe + 20, 2); /* behind the optional header */
    uint32_t left = number_at(pe + 6, 2);

    for (; left > 0; left--, section += 40) {
        const uint8_t *at = base + number_at(section + 12, 4);

        if (number_at(section, 4) == 0x7266732e && number_at(section + 4, 4) == 0x656d61) /* ".sframe" */
            return (struct efi_tables){at, at + number_at(section + 8, 4)};
    }
    return (struct efi_tables){base, base};
}

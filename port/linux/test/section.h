/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The section of a test: by its program headers or, where sfu-gen made it (RISC-V, 32-bit x86), between symbols of
 * sfu-gen.lds or room.S. */
#ifndef SECTION_H
#define SECTION_H

#include "sfu_linux.h"

static inline int init_self(struct sfu_linux *self, const uintptr_t *auxv)
{
    int code = sfu_linux_init(self, auxv);

#ifdef DEMO_LINKER_SYMBOLS /* as in demo.c */
    extern const uint8_t sframe_start[], sframe_end[];

    if (code == SFU_E_NO_SECTION)
        code = sfu_add(&self->target.sections, &self->section, 1, sframe_start,
                       (uint64_t)(sframe_end - sframe_start), (uintptr_t)sframe_start);
#endif
    return code;
}

#endif

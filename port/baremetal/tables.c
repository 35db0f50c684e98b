/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Opens the kernel's own unwind tables at boot. Whatever is wrong with them costs traces, never the boot. */
#include "kernel.h"

extern const uint8_t sframe_start[], sframe_end[]; /* kernel.ld */

/* Room for sections: one if the linker has merged them, one for each object file if it has joined them. */
#define TABLES 32
static struct sfu_section tables[TABLES];

/* What to change in the build, by what sfu_add or sfu_check returned. */
static const char *advice(int code)
{
    switch (code) {
    case SFU_E_EMPTY:
        return "compile with -fasynchronous-unwind-tables -Wa,--gsframe, and KEEP(*(.sframe)) in the linker script";
    case SFU_E_MAGIC:
        return "sframe_start of the linker script must be the start of .sframe, and nothing may write there";
    case SFU_E_VERSION:
        return "assemble and link with binutils 2.46 or newer, or build sfu for this version (SFU_OLDEST_VERSION)";
    case SFU_E_ABI:
        return "an object of another CPU or byte order was linked";
    case SFU_E_FLAGS:
        return "this sfu is older than the linker that wrote the section";
    case SFU_E_BOUNDS:
        return "the section was cut: sframe_end must be its end, and objcopy and the loader must keep all of it";
    case SFU_E_CONCATENATED:
        return "link with GNU ld 2.46 or newer, or mold, which merge tables, or make room for all of them";
    default:
        return "something changed the section after it was linked: check objcopy, the loader, and the memory map";
    }
}

void kernel_open_tables(void)
{
    const struct sfu_section *s;
    int code = sfu_add(&kernel_target.sections, tables, TABLES, sframe_start, (sfu_addr)(sframe_end - sframe_start),
                       (uintptr_t)sframe_start);

    for (s = kernel_target.sections; s != NULL && code == SFU_OK; s = s->next)
        code = sfu_check(s, NULL);
    if (code != SFU_OK) {
        kernel_print("sframe: ");
        kernel_print(sfu_string(code));
        kernel_print(": ");
        kernel_print(advice(code));
        kernel_print("\n");
    }
}

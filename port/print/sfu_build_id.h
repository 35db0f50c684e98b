/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Prints the build ID of the image. It tells which ELF file a trace is of, and sfu-trace chooses the image by it. Needs
 * no other file.
 *
 *     extern const char build_id_start[], build_id_end[]; // linker script
 *
 *     sfu_print_build_id(&panic, build_id_start, build_id_end); // before sfu_panic_print
 *
 * prints one line:
 *
 *     build ID 5fd4ba48a18d0e9d0c4c5b0b4c1d6dd0a3dc6d0c
 *
 * Link with -Wl,--build-id, and these lines in the linker script, among the sections of a segment that is loaded:
 *
 *     .note.gnu.build-id : {
 *         build_id_start = .;
 *         KEEP(*(.note.gnu.build-id))
 *         build_id_end = .;
 *     }
 *
 * A /DISCARD/ of *(.note.*) must stand after them. `readelf -n kernel.elf` says the same digits.
 */
#ifndef SFU_BUILD_ID_H
#define SFU_BUILD_ID_H

#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prints the build ID in the note from NOTE up to NOTE_END, in a line, or nothing if there is none. Uses PANIC's put
 * and ctx, and nothing else. */
void sfu_print_build_id(const struct sfu_panic *panic, const void *note, const void *note_end);

/* The same with BEFORE instead of "build ID ". */
void sfu_print_note(const struct sfu_panic *panic, const char *before, const void *note, const void *note_end);

#ifdef __cplusplus
}
#endif

#endif

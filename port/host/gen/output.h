/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Writes the section that sfu-gen has made. A file is written under another name and then renamed: it is there whole,
 * or not at all. "-" is the standard output.
 */
#ifndef SFU_HOST_OUTPUT_H
#define SFU_HOST_OUTPUT_H

#include "tables/encode.h"

#include <sys/types.h>

/* Writes BYTES over the image's SECTION, which has room, with zeros behind them, and gives it the type of such a
 * section. Closes the image. */
bool output_in_place(struct image *image, const struct section *section, const struct bytes *bytes);

/* Writes BYTES as they are; output_file with the rights MODE. */
bool output_file(struct image *image, const char *file, const struct bytes *bytes, mode_t mode);
bool output_raw(struct image *image, const char *file, const struct bytes *bytes);

/* Writes BYTES as text for an assembler, in a section named IMAGE_TABLES. */
bool output_asm(struct image *image, const char *file, const struct bytes *bytes);

/* Writes BYTES as an ELF file. OBJECT: a relocatable one with the section IMAGE_TABLES. Otherwise one with .sframe at
 * address 0 and the image's build ID. */
bool output_elf(struct image *image, const char *file, const struct bytes *bytes, bool object);

/* Where in a copy of IMAGE a segment for the section can be added. */
struct append {
    uint64_t offset; /* of the segment, which begins with the program headers */
    uint64_t vaddr, paddr;
    uint64_t section; /* address of the section */
    size_t num_headers;
    uint64_t align; /* of a section in a PE file */
};
bool append_plan(struct image *image, struct append *append);

/* Writes a copy of IMAGE with BYTES, made for append->section. */
bool output_appended(struct image *image, const char *file, const struct append *append, const struct bytes *bytes);

/* The same of PE files (output_pe.c): the section of a copy has a header of its own, .sframe. One that is signed is
 * refused. */
bool output_pe_in_place(struct image *image, const struct section *section, const struct bytes *bytes);
bool append_plan_pe(struct image *image, struct append *append);
bool output_pe_appended(struct image *image, const char *file, const struct append *append,
                        const struct bytes *bytes);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * PE files (EFI, Windows) of x86_64 and aarch64, seen as ELF files: the file itself with an ELF header in the place of
 * its DOS header, which is as large, and behind its end what ELF has besides: headers of its segments and sections, its
 * symbols, and .eh_frame made of its unwind codes. So sections, symbols, CFI and DWARF have one reader each, and each
 * section stands in the file where its header says. Nothing in the file is believed.
 * Names in comments are those of "PE Format", "x64 exception handling" and "ARM64 exception handling" of Microsoft's
 * documentation.
 */
#ifndef SFU_HOST_PE_H
#define SFU_HOST_PE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PE_MOST_SECTIONS = 96 }; /* that loaders take */

/* A PE file whose headers have been checked. */
struct pe {
    const uint8_t *bytes;
    size_t size;
    const char *error;                 /* why it is refused */
    uint64_t base;                     /* ImageBase: addresses are that far above "RVA"s */
    uint64_t coff, optional, sections; /* offsets in the file: of the headers */
    uint32_t num_sections, num_directories;
    bool x86_64; /* else aarch64 */
};

/* Reads the headers of the SIZE bytes at BYTES. Checks that all of them, and the bytes of each section, are there. */
bool pe_read(struct pe *pe, const uint8_t *bytes, size_t size);

/* Bytes that are put one behind the other. */
struct pe_bytes {
    uint8_t *data;
    size_t size;
};

void pe_put(struct pe_bytes *out, uint64_t value, unsigned size);

/* Whether the SIZE bytes at BYTES say that they are a PE file, of any kind. */
bool pe_is(const uint8_t *bytes, size_t size);

/* The same as an ELF file, to be freed; or NULL, and why. */
uint8_t *pe_as_elf(const uint8_t *bytes, size_t size, size_t *elf_size, const char **error);

/* The number in the SIZE bytes at OFFSET of the file; beyond it there are zeros. */
uint64_t pe_number(const struct pe *pe, uint64_t offset, unsigned size);

/* A section's header, by its number from 0 on. */
struct pe_section {
    uint64_t rva, memory, offset, size; /* SIZE: of its bytes in the file */
    uint32_t flags;
};
struct pe_section pe_section(const struct pe *pe, uint32_t index);

/* The bytes of the file that are loaded to RVA, and how many follow there, in *LEFT; or NULL. */
const uint8_t *pe_loaded(const struct pe *pe, uint64_t rva, uint64_t *left);

/* Where data directory INDEX says that its table is: its RVA, and its size. */
bool pe_directory(const struct pe *pe, uint32_t index, uint64_t *rva, uint64_t *size);

/* ---- What .pdata says (pe_unwind.c) ---------------------------------------------------------------------------- */

/* A function, or a part of one. */
struct pe_function {
    uint64_t start, end; /* RVAs */
    uint32_t info;       /* RVA of its unwind codes */
};

struct pe_functions {
    struct pe_function *list; /* by start; none overlaps the next */
    size_t num;
};

/* Reads the functions. Those that are broken, or overlap, are left out. */
void pe_functions(const struct pe *pe, struct pe_functions *functions);

/* Puts .eh_frame made of the unwind codes of FUNCTIONS; a function whose codes are not understood has no entry there.
 * Returns false if there are more codes than the file could have. */
bool pe_unwind(const struct pe *pe, const struct pe_functions *functions, struct pe_bytes *out);

/* The same of aarch64 (pe_aarch64.c). */
bool pe_unwind_aarch64(const struct pe *pe, const struct pe_functions *functions, struct pe_bytes *out);

#endif

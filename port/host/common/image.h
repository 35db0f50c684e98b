/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * An ELF file for one of sfu's ABIs, or a PE file (EFI), opened to be read. What the tools share begins here.
 * Functions that can fail return false and leave one line in image->error. Nothing in the file is believed.
 */
#ifndef SFU_HOST_IMAGE_H
#define SFU_HOST_IMAGE_H

#include "abi.h"
#include "basics.h"

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Newer than some of libelf's headers. */
#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554
#endif
#define SHT_SFRAME 0x6ffffff4

struct section {
    const char *name;
    uint64_t addr, size, offset, flags;
    const uint8_t *bytes; /* NULL before image_load */
    uint8_t *own;         /* the same, if they are a copy; or NULL */
    uint32_t type, index; /* index 0: there is no section header */
};

struct symbol {
    uint64_t addr, size;
    const char *name;
    bool function; /* its type says so */
};

struct image {
    const char *file;
    Elf *elf;
    int fd;
    GElf_Ehdr header;
    uint8_t abi; /* enum sfu_abi */
    bool big;
    const struct registers *registers; /* the ABI's facts */
    struct section *sections;
    size_t num_sections;
    struct section **code; /* those with instructions, by address */
    size_t num_code;
    struct section **data; /* those that are loaded and have bytes in the file, by address */
    size_t num_data;
    bool names_only;        /* its CPU may be one that is not unwound */
    uint8_t *pe;            /* a PE file: what pe.h has made of it; else NULL */
    bool bare;              /* without section headers: they are made of the program headers */
    bool zcmp;              /* RISC-V: it has cm.push and so on in the place of c.fsdsp */
    bool thead;             /* RISC-V: it has T-Head's extensions */
    bool m_profile;         /* ARM: its CPU is a Cortex-M, which has T32 code alone */
    bool object;            /* relocatable: image_open_any has laid it out as a linker might */
    struct symbol *symbols; /* functions by address, after image_symbols */
    size_t num_symbols;
    struct filled_data *marked; /* calls.c: what symbols mark as data in code, once it has asked */
    size_t num_marked;
    bool has_marked;
    char error[256];
};

/* Opens FILE, whose name must stay. Call image_close also after a failure. A file without section headers gets sections
 * .sframe and .eh_frame, and one for each segment of code, of its program headers. */
bool image_open(struct image *image, const char *file);

/* The same, also for CPUs that sfu does not unwind, whose ABI is 0: for names and lines. */
bool image_open_names(struct image *image, const char *file);

/* The same as image_open, also for a relocatable object: its sections one behind the other, and .eh_frame and .sframe
 * relocated. */
bool image_open_any(struct image *image, const char *file);

/* The segment of TYPE that holds ADDR, or any if ANY. */
bool image_segment(const struct image *image, uint32_t type, bool any, uint64_t addr, GElf_Phdr *segment);

/* Whether nothing starts at the image's entry: of a library without one, linkers may write where .text begins. */
bool image_is_library(const struct image *image);
void image_close(struct image *image);

/* Writes a line into image->error. Returns false. */
bool image_fail(struct image *image, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The section named NAME, or NULL. */
struct section *image_section(const struct image *image, const char *name);

/* Sets *VALUE to that of TAG, whose value is a number, among the attributes of an image for ARM ("Addenda to, and
 * Errata in, the ABI for the Arm Architecture", build attributes); 0: it is not there. Returns false if they cannot be
 * read. */
bool image_attribute(struct image *image, uint64_t tag, uint64_t *value);

/* The section of tables: IMAGE_TABLES (test/truth/FAULTS.md: ld-no-relocations) or, if there is none, .sframe; or NULL.
 * Of an ABI that SFrame does not have they are in IMAGE_TABLES alone. */
#define IMAGE_TABLES ".sfu_sframe"
struct section *image_tables(const struct image *image);

/* The section of tables that sfu-gen takes rows from, those of exception entries: .sframe. Of an ABI that SFrame does
 * not have it is the first one whose name begins with IMAGE_TABLES and a dot. Or NULL. */
struct section *image_input(const struct image *image);

/* The name of the section that tables for IMAGE are written into where there is none, and its type. */
const char *image_tables_name(const struct image *image);
uint32_t image_tables_type(const struct image *image);

/* Reads the bytes of SECTION, decompressed. They stay until the image is closed. A section without any fails. */
bool image_load(struct image *image, struct section *section);

/* The section of instructions that ADDR lies in, or NULL. */
struct section *image_code(const struct image *image, uint64_t addr);

/* The SIZE bytes of instructions at ADDR, or NULL if the file does not have them. */
const uint8_t *image_instructions(struct image *image, uint64_t addr, uint64_t size);

/* The SIZE bytes at ADDR of what is loaded, or NULL if the file does not have them. */
const uint8_t *image_bytes(struct image *image, uint64_t addr, uint64_t size);

/* Whether the code from START up to END is padding between functions: it never runs. */
bool image_is_padding(struct image *image, uint64_t start, uint64_t end);

/* Gives every symbol of the tables of TYPE, SHT_SYMTAB or SHT_DYNSYM, in the order of the file. */
typedef void (*image_symbol_fn)(void *ctx, const GElf_Sym *sym, const char *name);
bool image_each_symbol(struct image *image, uint32_t type, image_symbol_fn give, void *ctx);

/* Reads the symbols. A file without any is no failure. */
bool image_symbols(struct image *image);

/* Puts the symbols in order, after some have been added. */
void image_sort_symbols(struct image *image);

/* The symbol that ADDR belongs to, or NULL. Needs image_symbols. */
const struct symbol *image_symbol(const struct image *image, uint64_t addr);

/* Writes what code at ADDR is called that no symbol belongs to into TEXT: its address and, where there is one, the
 * nearest symbol before it in its section, "0x80001234 (vectors+0x34)". Returns TEXT. */
enum { IMAGE_PLACE = 320 };
const char *image_name_place(const struct image *image, uint64_t addr, char text[IMAGE_PLACE]);

/* The nearest symbol at or before ADDR in its section, which it need not belong to; or NULL. Needs image_symbols. */
const struct symbol *image_symbol_before(const struct image *image, uint64_t addr);

/* Writes SIZE bytes at OFFSET into the file that FD is, which stays what it is elsewhere. On failure errno says why. */
bool overwrite_file(int fd, const void *bytes, size_t size, uint64_t offset);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "pe.h"
#include "basics.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bytes ----------------------------------------------------------------------------------------------------- */

void pe_put(struct pe_bytes *out, uint64_t value, unsigned size)
{
    for (; size > 0; size--, value >>= 8) {
        out->data = grow(out->data, out->size, 1);
        out->data[out->size++] = (uint8_t)value;
    }
}

static void put_text(struct pe_bytes *out, const char *text)
{
    do
        pe_put(out, (uint8_t)*text, 1);
    while (*text++ != '\0');
}

uint64_t pe_number(const struct pe *pe, uint64_t offset, unsigned size)
{
    return offset <= pe->size && size <= pe->size - offset ? load_number(pe->bytes + offset, size, false) : 0;
}

/* ---- Headers --------------------------------------------------------------------------------------------------- */

/* Offsets: in the COFF header, in the optional header, in the header of a section; and what stands there. */
enum {
    DOS_SIGNATURE = 0x5a4d,
    DOS_PE = 0x3c,
    DOS_SIZE = 0x40,
    PE_SIGNATURE = 0x4550,
    COFF_SECTIONS = 2,
    COFF_SYMBOLS = 8,
    COFF_NUM_SYMBOLS = 12,
    COFF_OPTIONAL_SIZE = 16,
    COFF_FLAGS = 18,
    COFF_SIZE = 20,
    MACHINE_X86_64 = 0x8664,
    MACHINE_AARCH64 = 0xaa64,
    RELOCS_STRIPPED = 1,
    OPTIONAL_PE32_PLUS = 0x20b,
    OPTIONAL_ENTRY = 16,
    OPTIONAL_BASE = 24,
    OPTIONAL_HEADERS = 60,
    OPTIONAL_NUM_DIRECTORIES = 108,
    OPTIONAL_SIZE = 112, /* up to the directories */
    DIRECTORY_SIZE = 8,
    HEADER_SIZE = 40, /* of a section */
    SECTION_EXECUTE = 0x20000000,
    SECTION_WRITE_BIT = 31
};

bool pe_is(const uint8_t *bytes, size_t size)
{
    struct pe pe = {bytes, size, NULL, 0, 0, 0, 0, 0, 0, false};

    return pe_number(&pe, 0, 2) == DOS_SIGNATURE && pe_number(&pe, pe_number(&pe, DOS_PE, 4), 4) == PE_SIGNATURE;
}

static bool refuse(struct pe *pe, const char *why)
{
    pe->error = why;
    return false;
}

/* Checks that it is for a CPU that is unwound, and of the kind that such have: PE32+. */
static bool check_kind(struct pe *pe)
{
    const uint64_t machine = pe_number(pe, pe->coff, 2);

    if (machine != MACHINE_X86_64 && machine != MACHINE_AARCH64)
        return refuse(pe, machine == 0x14c ? "a PE file for i386, not for x86_64 or aarch64"
                          : machine >= 0x1c0 && machine <= 0x1c4
                              ? "a PE file for 32-bit ARM, not for x86_64 or aarch64"
                              : "a PE file for a CPU other than x86_64 and aarch64");
    pe->x86_64 = machine == MACHINE_X86_64;
    if (pe_number(pe, pe->coff + COFF_OPTIONAL_SIZE, 2) < OPTIONAL_SIZE ||
        pe_number(pe, pe->optional, 2) != OPTIONAL_PE32_PLUS)
        return refuse(pe, "a PE file that no linker has made: without the header of an image");
    return true;
}

bool pe_read(struct pe *pe, const uint8_t *bytes, size_t size)
{
    uint32_t i, room;

    memset(pe, 0, sizeof *pe);
    pe->bytes = bytes;
    pe->size = size;

    pe->coff = pe_number(pe, DOS_PE, 4) + 4;
    pe->optional = pe->coff + COFF_SIZE;
    if (pe->size < DOS_SIZE || pe->optional + OPTIONAL_SIZE > pe->size)
        return refuse(pe, "truncated PE headers");
    if (!check_kind(pe))
        return false;
    pe->sections = pe->optional + pe_number(pe, pe->coff + COFF_OPTIONAL_SIZE, 2);
    pe->num_sections = (uint32_t)pe_number(pe, pe->coff + COFF_SECTIONS, 2);
    if (pe->num_sections > PE_MOST_SECTIONS)
        return refuse(pe, "a PE file of more than 96 sections");
    if (pe->sections + (uint64_t)pe->num_sections * HEADER_SIZE > pe->size)
        return refuse(pe, "truncated PE headers: not all sections have one");
    room = (uint32_t)(pe->sections - pe->optional - OPTIONAL_SIZE) / DIRECTORY_SIZE;
    pe->num_directories = (uint32_t)pe_number(pe, pe->optional + OPTIONAL_NUM_DIRECTORIES, 4);
    pe->num_directories = pe->num_directories < room ? pe->num_directories : room;
    pe->base = pe_number(pe, pe->optional + OPTIONAL_BASE, 8);
    /* RVAs and sizes have 32 bits: no sum of an address and two of them wraps. */
    if (pe->base > UINT64_MAX - ((uint64_t)4 << 32))
        return refuse(pe, "a PE file whose ImageBase leaves no room in the address space");
    for (i = 0; i < pe->num_sections; i++) {
        const struct pe_section s = pe_section(pe, i);

        if (s.size > 0 && (s.offset > pe->size || s.size > pe->size - s.offset))
            return refuse(pe, "truncated: the bytes of a section of the PE file are not all in the file");
    }
    return true;
}

/* Loaders take as many bytes of the file as there are, but no more than memory is for. */
struct pe_section pe_section(const struct pe *pe, uint32_t index)
{
    const uint64_t at = pe->sections + (uint64_t)index * HEADER_SIZE;
    struct pe_section s = {pe_number(pe, at + 12, 4), pe_number(pe, at + 8, 4), pe_number(pe, at + 20, 4),
                           pe_number(pe, at + 16, 4), (uint32_t)pe_number(pe, at + 36, 4)};

    if (s.memory == 0)
        s.memory = s.size;
    if (s.size > s.memory)
        s.size = s.memory;
    return s;
}

const uint8_t *pe_loaded(const struct pe *pe, uint64_t rva, uint64_t *left)
{
    uint32_t i;

    for (i = 0; i < pe->num_sections; i++) {
        const struct pe_section s = pe_section(pe, i);

        if (rva >= s.rva && rva - s.rva < s.size) {
            *left = s.size - (rva - s.rva);
            return pe->bytes + s.offset + (rva - s.rva);
        }
    }
    return NULL;
}

bool pe_directory(const struct pe *pe, uint32_t index, uint64_t *rva, uint64_t *size)
{
    const uint64_t at = pe->optional + OPTIONAL_SIZE + (uint64_t)index * DIRECTORY_SIZE;

    if (index >= pe->num_directories)
        return false;
    *rva = pe_number(pe, at, 4);
    *size = pe_number(pe, at + 4, 4);
    return *size > 0;
}

/* ---- The ELF file ---------------------------------------------------------------------------------------------- */

struct elf_file {
    struct pe_bytes file, headers, names; /* HEADERS and NAMES: of sections, which come last */
};

static void put_section(struct elf_file *elf, const char *name, uint32_t type, uint64_t flags, uint64_t addr,
                        uint64_t offset, uint64_t size, uint32_t link, uint64_t entry)
{
    struct pe_bytes *out = &elf->headers;

    pe_put(out, elf->names.size, 4);
    put_text(&elf->names, name);
    pe_put(out, type, 4);
    pe_put(out, flags, 8);
    pe_put(out, addr, 8);
    pe_put(out, offset, 8);
    pe_put(out, size, 8);
    pe_put(out, link, 4);
    pe_put(out, 0, 4);
    pe_put(out, 8, 8);
    pe_put(out, entry, 8);
}

/* Puts BYTES behind the file, and frees them. Returns where they are. */
static uint64_t put_part(struct elf_file *elf, struct pe_bytes *bytes)
{
    const size_t at = (elf->file.size + 7) / 8 * 8, size = at + bytes->size;
    uint8_t *all = zeroed(size, 1);

    memcpy(all, elf->file.data, elf->file.size);
    if (bytes->size > 0)
        memcpy(all + at, bytes->data, bytes->size);
    free(elf->file.data);
    free(bytes->data);
    bytes->data = NULL;
    elf->file = (struct pe_bytes){all, size};
    return at;
}

/* The COFF string table, which follows the symbols: its offset, and how much of it the file has, in *SIZE. */
static uint64_t find_strings(const struct pe *pe, uint64_t *size)
{
    const uint64_t symbols = pe_number(pe, pe->coff + COFF_SYMBOLS, 4);
    const uint64_t at = symbols + 18 * pe_number(pe, pe->coff + COFF_NUM_SYMBOLS, 4);

    *size = 0;
    if (symbols == 0 || at + 4 > pe->size)
        return 0;
    *size = pe_number(pe, at, 4);
    if (*size > pe->size - at)
        *size = pe->size - at;
    return at;
}

enum { NAME_ROOM = 64 };

/* The name of section INDEX: 8 bytes, or a slash and the offset of a longer one. What is not printable becomes a
 * question mark. */
static void read_name(const struct pe *pe, uint32_t index, char name[NAME_ROOM])
{
    uint64_t at = pe->sections + (uint64_t)index * HEADER_SIZE, offset = 0, strings, room, i;
    const uint8_t *p = pe->bytes + at;

    for (i = 1; p[0] == '/' && i < 8 && p[i] >= '0' && p[i] <= '9'; i++)
        offset = 10 * offset + p[i] - '0';
    strings = find_strings(pe, &room);
    if (offset > 0 && offset < room)
        p = pe->bytes + strings + offset;
    room = offset > 0 && offset < room ? room - offset : 8;
    for (i = 0; i < room && i < NAME_ROOM - 1 && p[i] != '\0'; i++)
        name[i] = (char)(p[i] > ' ' && p[i] < 0x7f ? p[i] : '?');
    name[i] = '\0';
}

/* Loaders bring every section into memory; that of debug information is no part of the program. */
static void put_sections(const struct pe *pe, struct elf_file *elf, bool *has_cfi)
{
    char name[NAME_ROOM];
    uint32_t i;

    *has_cfi = false;
    put_section(elf, "", SHT_NULL, 0, 0, 0, 0, 0, 0);
    for (i = 0; i < pe->num_sections; i++) {
        const struct pe_section s = pe_section(pe, i);
        uint64_t flags = (s.flags & SECTION_EXECUTE ? SHF_EXECINSTR : 0u) |
                         (s.flags >> SECTION_WRITE_BIT ? SHF_WRITE : 0u) | SHF_ALLOC;

        read_name(pe, i, name);
        *has_cfi |= strcmp(name, ".eh_frame") == 0 && s.size > 0;
        if (strncmp(name, ".debug_", 7) == 0)
            flags = 0;
        put_section(elf, name, s.size > 0 ? SHT_PROGBITS : SHT_NOBITS, flags, pe->base + s.rva, s.offset,
                    s.size > 0 ? s.size : s.memory, 0, 0);
    }
}

static void put_segment(struct pe_bytes *out, uint64_t flags, uint64_t offset, uint64_t addr, uint64_t size,
                        uint64_t memory)
{
    pe_put(out, PT_LOAD, 4);
    pe_put(out, flags, 4);
    pe_put(out, offset, 8);
    pe_put(out, addr, 8);
    pe_put(out, addr, 8);
    pe_put(out, size, 8);
    pe_put(out, memory, 8);
    pe_put(out, 1, 8);
}

/* The first one is where the headers are in memory: the image begins at its base. It has no bytes, because those of the
 * ELF header are others. */
static uint64_t put_segments(const struct pe *pe, struct elf_file *elf)
{
    struct pe_bytes out = {NULL, 0};
    uint32_t i;

    put_segment(&out, PF_R, 0, pe->base, 0, pe_number(pe, pe->optional + OPTIONAL_HEADERS, 4));
    for (i = 0; i < pe->num_sections; i++) {
        const struct pe_section s = pe_section(pe, i);

        put_segment(&out,
                    PF_R | (s.flags & SECTION_EXECUTE ? PF_X : 0u) | (s.flags >> SECTION_WRITE_BIT ? PF_W : 0u),
                    s.offset, pe->base + s.rva, s.size, s.memory);
    }
    return put_part(elf, &out);
}

/* ---- Symbols --------------------------------------------------------------------------------------------------- */

enum { CLASS_EXTERNAL = 2, CLASS_STATIC = 3, CLASS_LABEL = 6, TYPE_FUNCTION = 0x20, SYMBOL_SIZE = 18 };

static uint64_t size_of(const struct pe_functions *functions, uint64_t rva)
{
    const size_t below = count_up_to(functions->list, functions->num, sizeof *functions->list,
                                     offsetof(struct pe_function, start), rva);
    const struct pe_function *f = below > 0 ? &functions->list[below - 1] : NULL;

    return f != NULL && f->start == rva ? f->end - f->start : 0;
}

/* Takes the symbol at AT of the file, if it names an address. A name of up to 8 bytes goes behind those in STRINGS. */
static void take_symbol(const struct pe *pe, const struct pe_functions *functions, uint64_t at,
                        struct pe_bytes *out, struct pe_bytes *strings)
{
    const uint64_t section = pe_number(pe, at + 12, 2), type = pe_number(pe, at + 14, 2),
                   kind = pe_number(pe, at + 16, 1);
    uint64_t name = pe_number(pe, at + 4, 4), i;
    struct pe_section s;
    bool function = (type & 0x30) == TYPE_FUNCTION;

    if (section == 0 || section > pe->num_sections ||
        (kind != CLASS_EXTERNAL && kind != CLASS_LABEL &&
         (kind != CLASS_STATIC || (pe_number(pe, at + 17, 1) > 0 && !function)))) /* of a section itself */
        return;
    s = pe_section(pe, (uint32_t)section - 1);
    if (pe_number(pe, at, 4) != 0) {
        name = strings->size;
        for (i = 0; i < 8 && pe_number(pe, at + i, 1) != 0; i++)
            pe_put(strings, pe_number(pe, at + i, 1), 1);
        pe_put(strings, 0, 1);
    }
    i = s.rva + pe_number(pe, at + 8, 4);
    pe_put(out, name, 4);
    pe_put(out,
           (kind == CLASS_EXTERNAL ? STB_GLOBAL << 4 : 0u) | (function                    ? STT_FUNC
                                                              : s.flags & SECTION_EXECUTE ? STT_NOTYPE
                                                                                          : STT_OBJECT),
           1);
    pe_put(out, 0, 1);
    pe_put(out, section, 2);
    pe_put(out, pe->base + i, 8);
    pe_put(out, size_of(functions, i), 8);
}

static void put_symbols(const struct pe *pe, const struct pe_functions *functions, struct elf_file *elf)
{
    const uint64_t num = pe_number(pe, pe->coff + COFF_NUM_SYMBOLS, 4);
    struct pe_bytes out = {NULL, 0}, strings = {NULL, 0};
    uint64_t at = pe_number(pe, pe->coff + COFF_SYMBOLS, 4), size, from = find_strings(pe, &size), i, part, length;

    if (from == 0)
        return;
    pe_put(&strings, 0, 4); /* its size, in the file: the empty name */
    for (i = 4; i < size; i++)
        pe_put(&strings, pe->bytes[from + i], 1);
    pe_put(&strings, 0, 1);
    pe_put(&out, 0, 8);
    pe_put(&out, 0, 8);
    pe_put(&out, 0, 8);
    for (i = 0; i < num; i += 1 + pe_number(pe, at + SYMBOL_SIZE * i + 17, 1))
        take_symbol(pe, functions, at + SYMBOL_SIZE * i, &out, &strings);
    length = out.size;
    part = put_part(elf, &out);
    put_section(elf, ".symtab", SHT_SYMTAB, 0, 0, part, length, pe->num_sections + 2, 24);
    length = strings.size;
    part = put_part(elf, &strings);
    put_section(elf, ".strtab", SHT_STRTAB, 0, 0, part, length, 0, 0);
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

static void put_header(const struct pe *pe, struct elf_file *elf, uint64_t segments, uint64_t sections,
                       uint64_t num)
{
    const uint64_t entry = pe_number(pe, pe->optional + OPTIONAL_ENTRY, 4);
    uint8_t *p = elf->file.data;

    memset(p, 0, sizeof(Elf64_Ehdr));
    memcpy(p, ELFMAG, SELFMAG);
    p[EI_CLASS] = ELFCLASS64;
    p[EI_DATA] = ELFDATA2LSB;
    p[EI_VERSION] = EV_CURRENT;
    store_number(p + 16, 2, false, pe_number(pe, pe->coff + COFF_FLAGS, 2) & RELOCS_STRIPPED ? ET_EXEC : ET_DYN);
    store_number(p + 18, 2, false, pe->x86_64 ? EM_X86_64 : EM_AARCH64);
    store_number(p + 20, 4, false, EV_CURRENT);
    store_number(p + 24, 8, false, entry != 0 ? pe->base + entry : 0);
    store_number(p + 32, 8, false, segments);
    store_number(p + 40, 8, false, sections);
    store_number(p + 52, 2, false, sizeof(Elf64_Ehdr));
    store_number(p + 54, 2, false, sizeof(Elf64_Phdr));
    store_number(p + 56, 2, false, pe->num_sections + 1);
    store_number(p + 58, 2, false, sizeof(Elf64_Shdr));
    store_number(p + 60, 2, false, num);
    store_number(p + 62, 2, false, num - 1);
}

/* .eh_frame of the unwind codes, unless the file has one itself. */
static bool put_unwind(const struct pe *pe, const struct pe_functions *functions, struct elf_file *elf)
{
    struct pe_bytes out = {NULL, 0};
    uint64_t size, at;

    if (!pe_unwind(pe, functions, &out)) {
        free(out.data);
        return false;
    }
    size = out.size;
    if (size == 0)
        return true;
    at = put_part(elf, &out);
    put_section(elf, ".eh_frame", SHT_PROGBITS, 0, 0, at, size, 0, 0);
    return true;
}

/* Puts everything behind the file. */
static bool convert(const struct pe *pe, const struct pe_functions *functions, struct elf_file *elf)
{
    uint64_t segments, at, num;
    bool has_cfi;

    put_sections(pe, elf, &has_cfi);
    segments = put_segments(pe, elf);
    put_symbols(pe, functions, elf);
    if (!has_cfi && !put_unwind(pe, functions, elf))
        return false;
    at = (elf->file.size + 7) / 8 * 8;
    put_section(elf, ".shstrtab", SHT_STRTAB, 0, 0, at, elf->names.size + sizeof ".shstrtab", 0, 0);
    num = elf->headers.size / sizeof(Elf64_Shdr);
    (void)put_part(elf, &elf->names);
    at = put_part(elf, &elf->headers);
    put_header(pe, elf, segments, at, num);
    return true;
}

uint8_t *pe_as_elf(const uint8_t *bytes, size_t size, size_t *elf_size, const char **error)
{
    struct pe pe;
    struct elf_file elf = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct pe_functions functions;

    if (!pe_read(&pe, bytes, size)) {
        *error = pe.error;
        return NULL;
    }
    elf.file.data = zeroed(size, 1);
    elf.file.size = size;
    memcpy(elf.file.data, bytes, size);
    pe_functions(&pe, &functions);
    if (!convert(&pe, &functions, &elf)) {
        *error = "its unwind codes are larger than the file: functions share them";
        free(elf.file.data);
        elf.file.data = NULL;
    }
    free(functions.list);
    free(elf.headers.data);
    free(elf.names.data);
    *elf_size = elf.file.size;
    return elf.file.data;
}

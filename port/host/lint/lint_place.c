/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Where an image's tables are, and whether the kernel will find them there: sections, symbols, segments, the header.
 */
#include "lint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_SIZE = 28, FLAG_SORTED = 1, FLAG_FIELD = 4 };

/* What is looked at meanwhile. */
struct place {
    struct lint *lint;
    unsigned oldest;
    const char *start, *end; /* the first symbols that are named like the start and the end of tables, or NULL */
    uint64_t start_addr, end_addr;
    bool dynamic; /* PT_GNU_SFRAME: what it says */
    bool idle;    /* it speaks of nothing that is in memory */
    uint64_t segment_addr, segment_size;
};

/* ---- Symbols --------------------------------------------------------------------------------------------------- */

/* Whether one of the words of NAME, which underscores and dots separate, is WORD. */
static bool name_has_word(const char *name, const char *word)
{
    size_t size = strlen(word);

    while (*name != '\0') {
        size_t length = strcspn(name, "._");

        if (length == size && strncmp(name, word, size) == 0)
            return true;
        name += length;
        name += strspn(name, "._");
    }
    return false;
}

static bool is_start(const char *name)
{
    return name_has_word(name, "sframe") && (name_has_word(name, "start") || name_has_word(name, "begin"));
}

static bool is_end_symbol(const char *name)
{
    return name_has_word(name, "sframe") && (name_has_word(name, "end") || name_has_word(name, "stop"));
}

/* Whether a linker script, or a label, can have made the symbol. A function or a variable of such a name is none of
 * that, because it is the program's own. */
static bool is_mark(const GElf_Sym *sym)
{
    unsigned type = GELF_ST_TYPE(sym->st_info);

    return type == STT_NOTYPE || (type == STT_OBJECT && sym->st_size == 0);
}

/* An image_symbol_fn. */
static void find_marks(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct place *p = ctx;

    if (!is_mark(sym) || sym->st_shndx == SHN_UNDEF)
        return;
    if (p->start == NULL && is_start(name)) {
        p->start = name;
        p->start_addr = sym->st_value;
    } else if (p->end == NULL && is_end_symbol(name)) {
        p->end = name;
        p->end_addr = sym->st_value;
    }
}

/* Whether a section of tables begins at ADDR. */
static bool is_any_start(const struct image *image, uint64_t addr)
{
    size_t i;

    for (i = 0; i < image->num_sections; i++)
        if (image->sections[i].addr == addr && strstr(image->sections[i].name, "sframe") != NULL)
            return true;
    return false;
}

/* How many bytes the tables take, from the start of the first one to the end of the last one. */
static uint64_t end_of_tables(const struct lint *lint)
{
    const struct sfu_section *last = &lint->tables.list[lint->tables.num - 1];

    return last->addr + last->end - lint->addr;
}

/* An image_symbol_fn: what the kernel would open. */
static void check_mark(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct place *p = ctx;
    struct lint *lint = p->lint;
    uint64_t needed = lint->open ? end_of_tables(lint) : HEADER_SIZE;

    if (!is_mark(sym) || (!is_start(name) && !is_end_symbol(name)))
        return;
    if (sym->st_shndx == SHN_UNDEF)
        lint_thing(lint, LINT_WRONG_START, name, 0, 0, "is not defined: the kernel will find it at 0");
    else if (is_start(name) && sym->st_value != lint->addr && !is_any_start(&lint->image, sym->st_value))
        lint_thing(lint, LINT_WRONG_START, name, sym->st_value, 0, "is not the start of the tables, 0x%" PRIx64,
                   lint->addr);
    else if (is_end_symbol(name) && sym->st_value - lint->addr < needed)
        lint_thing(lint, LINT_WRONG_END, name, sym->st_value, 0,
                   "cuts the tables off: they have %" PRIu64 " bytes from 0x%" PRIx64 " on", needed, lint->addr);
}

/* ---- Segments -------------------------------------------------------------------------------------------------- */

/* Gives the next program header at or behind *INDEX that has TYPE. */
static bool next_segment(struct image *image, uint32_t type, size_t *index, GElf_Phdr *ph)
{
    size_t num;

    if (elf_getphdrnum(image->elf, &num) != 0)
        return false;
    while (*index < num) {
        if (gelf_getphdr(image->elf, (int)(*index)++, ph) == NULL)
            return false;
        if (ph->p_type == type)
            return true;
    }
    return false;
}

static void find_place_segment(struct place *p)
{
    GElf_Phdr ph;
    size_t i = 0;

    p->dynamic = next_segment(&p->lint->image, PT_GNU_SFRAME, &i, &ph);
    p->segment_addr = p->dynamic ? ph.p_vaddr : 0;
    p->segment_size = p->dynamic ? ph.p_filesz : 0;
    p->idle = p->dynamic && ph.p_memsz == 0;
}

/* Where in the file the tables are. */
static uint64_t file_offset(const struct lint *lint)
{
    return lint->section->offset + (lint->addr - lint->section->addr);
}

/* Whether a loader brings the bytes of the tables to their address. The segment must have them at the section's place
 * in the file, because one with other bytes may cover that address. */
static void check_loaded(struct lint *lint)
{
    GElf_Phdr ph;
    size_t i = 0;

    if (!(lint->section->flags & SHF_ALLOC)) {
        lint_thing(lint, LINT_NOT_LOADED, lint->section->name, lint->addr, lint->size,
                   "is not allocated: it is in the file, and nowhere in memory");
        return;
    }
    while (next_segment(&lint->image, PT_LOAD, &i, &ph)) {
        uint64_t into = lint->addr - ph.p_vaddr;

        if (into >= ph.p_filesz || lint->size > ph.p_filesz - into || file_offset(lint) - ph.p_offset != into)
            continue;
        if (!(ph.p_flags & PF_R))
            lint_thing(lint, LINT_NOT_READABLE, lint->section->name, lint->addr, lint->size,
                       "is in a segment that is not readable");
        return;
    }
    lint_thing(lint, LINT_NOT_LOADED, lint->section->name, lint->addr, lint->size,
               "no PT_LOAD brings it into memory: give it a segment in the linker script");
}

/* ---- Sections -------------------------------------------------------------------------------------------------- */

/* Whether SECTION holds tables by its type or its name: .sframe.trap, .init.sframe. Not its relocations. */
static bool is_sframe(const struct section *section)
{
    return section->type == SHT_SFRAME ||
           (name_has_word(section->name, "sframe") && strncmp(section->name, ".rel", 4) != 0 &&
            strncmp(section->name, ".debug", 6) != 0);
}

/* What sfu-gen reads beside the room that it fills stays in the file, not in memory. */
static bool is_input(const struct lint *lint, const struct section *section)
{
    return strcmp(lint->section->name, IMAGE_TABLES) == 0 && section == image_input(&lint->image) &&
           !(section->flags & SHF_ALLOC);
}

/* GNU ld gives the segment the size that the tables had before it merged them (test/truth/FAULTS.md: ld-segment). One
 * of objects' tables that stay out of memory (INFO) is of no use, but does no harm where a symbol leads to what sfu-gen
 * has made of them. */
static void check_segment(const struct place *p)
{
    struct lint *lint = p->lint;
    bool marked = p->start != NULL && p->start_addr == lint->addr;

    if (!p->dynamic ||
        (p->segment_addr == lint->addr && (!is_sframe(lint->section) || p->segment_size >= lint->size)))
        return;
    lint_thing(lint, p->idle && marked ? LINT_IDLE_SEGMENT : LINT_WRONG_SEGMENT, "PT_GNU_SFRAME", p->segment_addr,
               p->segment_size, "is not where the tables are: 0x%" PRIx64 ", %" PRIu64 " bytes%s", lint->addr,
               lint->size, p->idle && marked ? "; readers that do not know their symbol find none" : "");
}

static void check_strays(struct lint *lint)
{
    size_t i;

    for (i = 0; i < lint->image.num_sections; i++) {
        const struct section *s = &lint->image.sections[i];

        if (s != lint->section && is_sframe(s) && s->size > 0 && !is_input(lint, s))
            lint_thing(lint, LINT_STRAY_SECTION, s->name, s->addr, s->size,
                       "is not part of %s, which alone will be opened: KEEP(*(.sframe .sframe.*))",
                       lint->section->name);
    }
}

/* Tables that a linker script has put among other data, by the symbol at their start. The magic number must be there,
 * because such a symbol may be of something else. */
static bool find_by_symbol(struct place *p)
{
    struct lint *lint = p->lint;
    size_t i;

    for (i = 0; p->start != NULL && i < lint->image.num_sections; i++) {
        struct section *s = &lint->image.sections[i];
        uint64_t into = p->start_addr - s->addr, left = s->size - into;

        if (!(s->flags & SHF_ALLOC) || s->type == SHT_NOBITS || into >= s->size || left < HEADER_SIZE)
            continue;
        if (!image_load(&lint->image, s) ||
            load_number(s->bytes + into, 2, lint->image.big) != abi_tables_magic(lint->image.abi))
            continue;
        lint->section = s;
        lint->addr = p->start_addr;
        lint->size = p->end != NULL && p->end_addr - lint->addr < left ? p->end_addr - lint->addr : left;
        lint_thing(lint, LINT_OTHER_SECTION, s->name, lint->addr, lint->size,
                   "has the tables, at the symbol %s: there is no section %s", p->start,
                   image_tables_name(&lint->image));
        return true;
    }
    return false;
}

static void no_section(struct place *p)
{
    struct lint *lint = p->lint;

    if (abi_is_own(lint->image.abi))
        lint_thing(lint, p->start != NULL ? LINT_DROPPED : LINT_NO_SECTION, p->start != NULL ? p->start : "",
                   p->start_addr, 0,
                   "no section " IMAGE_TABLES
                   ": sfu-gen makes the tables of %s, in the room that the linker script "
                   "has for them, and objcopy must keep them",
                   abi_name(lint->image.abi));
    else if (p->dynamic)
        lint_thing(lint, LINT_DROPPED, "PT_GNU_SFRAME", p->segment_addr, p->segment_size,
                   "is there, but no section .sframe: objcopy or strip has removed it");
    else if (p->start != NULL)
        lint_thing(
            lint, LINT_DROPPED, p->start, p->start_addr, 0,
            "is there, but no section .sframe: --gc-sections without KEEP(*(.sframe)), objcopy or /DISCARD/ has "
            "removed it");
    else if (lint->image.pe != NULL)
        lint_thing(
            lint, LINT_NO_SECTION, "", 0, 0,
            "no section of tables: if objcopy made this PE file, name the section to it that they are in: -j "
            ".sframe or "
            "-j .sfu_sframe; if a linker wrote it, let sfu-gen make them");
    else
        lint_thing(
            lint, LINT_NO_SECTION, "", 0, 0,
            "no section .sframe: assemble by GNU as 2.46 or newer with --gsframe, and KEEP(*(.sframe)) if there is "
            "--gc-sections; or use sfu-gen");
}

/* Finds the section, and whether it has bytes. */
static bool find_section(struct place *p)
{
    struct lint *lint = p->lint;
    struct section *section = image_tables(&lint->image);

    if (section == NULL && !find_by_symbol(p)) {
        no_section(p);
        return false;
    }
    if (section == NULL)
        return true;
    lint->section = section;
    lint->addr = section->addr;
    if (section->type == SHT_NOBITS) {
        lint_thing(lint, LINT_NO_BYTES, section->name, section->addr, section->size,
                   "has no bytes in this file: objcopy --only-keep-debug, or a script that puts it after .bss");
        return false;
    }
    if (section->size == 0) {
        lint_thing(
            lint, p->start != NULL ? LINT_DROPPED : LINT_EMPTY_SECTION, section->name, section->addr, 0,
            "is empty: --gc-sections without KEEP, no object has tables, or theirs are of a version that the "
            "linker does not merge (clang's own assembler: 2)");
        return false;
    }
    if (!image_load(&lint->image, section)) {
        lint_thing(lint, LINT_TRUNCATED, section->name, section->addr, section->size, "%s", lint->image.error);
        return false;
    }
    lint->size = section->size;
    return true;
}

/* ---- Header ---------------------------------------------------------------------------------------------------- */

static bool is_zero(const uint8_t *p, uint64_t size)
{
    uint64_t i = 0;

    while (i < size && p[i] == 0)
        i++;
    return i == size;
}

/* What a code of sfu_open or sfu_check is called. */
static enum lint_name finding_of_code(int code)
{
    static const struct {
        int code;
        enum lint_name name;
    } names[] = {{SFU_E_EMPTY, LINT_EMPTY_SECTION}, {SFU_E_MAGIC, LINT_BAD_MAGIC},
                 {SFU_E_VERSION, LINT_BAD_VERSION}, {SFU_E_ABI, LINT_WRONG_ABI},
                 {SFU_E_FLAGS, LINT_BAD_FLAGS},     {SFU_E_CONCATENATED, LINT_SEVERAL_HEADERS},
                 {SFU_E_UNSORTED, LINT_BAD_ORDER},  {SFU_E_OVERLAP, LINT_OVERLAP},
                 {SFU_E_COUNT, LINT_BAD_COUNT},     {SFU_E_FDE, LINT_CORRUPT_FUNCTION},
                 {SFU_E_ROW, LINT_CORRUPT_ROW},     {SFU_E_NO_ROW, LINT_NO_ROWS}};
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].code == code)
            return names[i].name;
    return LINT_TRUNCATED; /* SFU_E_BOUNDS */
}

/* What one of the tables says of itself. Returns whether that is right. The fixed offset of the RA is a constant of the
 * ABI, and is checked because another one makes the RA of each row wrong while all else looks sound. */
static bool check_header(struct lint *lint, const struct sfu_section *s, unsigned oldest)
{
    size_t before = lint->num_findings;
    const char *where = lint->section->name;
    const int expected = lint->image.registers->link ? 0 : -(int)lint->image.registers->word;
    const int fixed = s->ra.control == RULE_DEREFERENCE ? s->ra.offset : 0;

    if (s->version < oldest)
        lint_thing(lint, LINT_OLD_VERSION, where, s->addr, 0, "is of version %u, older than %u", s->version,
                   oldest);
    if (s->abi != lint->image.abi)
        lint_thing(lint, LINT_WRONG_ABI, where, s->addr, 0, "is for another ABI than the image: %u instead of %u",
                   s->abi, lint->image.abi);
    else if (s->big != lint->image.big)
        lint_thing(lint, LINT_WRONG_BYTE_ORDER, where, s->addr, 0, "is in another byte order than the image");
    else if (fixed != expected)
        lint_thing(lint, LINT_ABSURD_HEADER, where, s->addr, 0,
                   "its header has the RA at the fixed offset %d, where this ABI has it at %d", fixed, expected);
    return lint->num_findings == before;
}

/* Of several tables the first one with a wrong header is named. Returns whether all are for the image's machine. */
static bool check_headers(struct lint *lint, unsigned oldest)
{
    size_t i, unsorted = 0;
    bool good = true, own = true;

    lint->version = lint->tables.list[0].version;
    for (i = 0; i < lint->tables.num; i++) {
        const struct sfu_section *s = &lint->tables.list[i];

        good = good && check_header(lint, s, oldest);
        own = own && s->abi == lint->image.abi;
        unsorted += !(s->flags & FLAG_SORTED);
        lint->version = s->version < lint->version ? s->version : lint->version;
    }
    if (lint->tables.num > 1)
        lint_thing(
            lint, LINT_SEVERAL_HEADERS, lint->section->name, lint->addr, lint->size,
            "has %zu tables, which the linker has joined and not merged (lld): sfu_open opens the first alone, "
            "sfu_add all for which it has room, and a lookup asks each; sfu-gen makes one of them",
            lint->tables.num);
    if (lint->image.object && lint->version < 3)
        lint_thing(
            lint, LINT_OBJECT_VERSION, lint->section->name, lint->addr, 0,
            "is of version %u: GNU ld from 2.46 on drops it with a warning, mold without a word; assemble by GNU "
            "as 2.46 or newer, or use sfu-gen after the link",
            lint->version);
    if (unsorted > 0 && lint->tables.num > 1)
        lint_thing(lint, LINT_UNSORTED, lint->section->name, lint->addr, 0,
                   "%zu of its tables are not sorted: every lookup reads all of them", unsorted);
    else if (unsorted > 0 && !lint->image.object)
        lint_thing(lint, LINT_UNSORTED, lint->section->name, lint->addr, 0,
                   "is not sorted: every lookup reads all of it");
    return own;
}

/* Checks all of the tables. Returns whether lookups in them can be relied on. */
static bool check_all(struct lint *lint)
{
    struct joined_place where = {0, {0, 0}, 0};
    int code = joined_check(&lint->tables, &where);

    if (code == SFU_OK)
        return true;
    lint_thing(lint, finding_of_code(code), lint->section->name, lint->addr + where.offset, lint->size,
               "%s (function %" PRIu32 " of %" PRIu32 ", row %" PRIu32 ")", sfu_string(code), where.at.fde,
               lint->tables.list[where.index].num_fdes, where.at.row);
    return code == SFU_E_COUNT;
}

/* How many functions the tables describe. */
static uint64_t count_functions(const struct joined *tables)
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < tables->num; i++)
        sum += tables->list[i].num_fdes;
    return sum;
}

/* How many entries of S begin in code, if starts are relative to the section or, if FIELD, each to its own field. */
static uint32_t count_in_code(const struct lint *lint, const struct sfu_section *s, bool field)
{
    uint32_t i, count = 0;

    for (i = 0; i < s->num_fdes; i++) {
        uint32_t at = s->fdes + i * s->fde_size;
        int32_t start = (int32_t)load_number(s->bytes + at, 4, s->big);

        count += image_code(&lint->image, s->addr + (uint64_t)(int64_t)start + (field ? at : 0)) != NULL;
    }
    return count;
}

/* Versions 1 and 2 have starts that are relative to the section. In an object, GNU as up to 2.45 gives them relocations
 * that are relative to the field, and GNU ld adds the rest where it merges objects (test/truth/FAULTS.md:
 * gas-old-relocations). No flag tells the two apart, so the one by which more functions begin in code is taken. Does
 * the same to the copy of the tables. */
static void move_starts(struct lint *lint)
{
    uint32_t k;
    size_t i;

    for (i = 0; i < lint->tables.num; i++) {
        const struct sfu_section *s = &lint->tables.list[i];
        uint8_t *bytes = lint->tables.bytes + (s->addr - lint->addr);

        if (s->version >= 3 || s->flags & FLAG_FIELD ||
            count_in_code(lint, s, true) <= count_in_code(lint, s, false))
            continue;
        for (k = 0; k < s->num_fdes; k++) {
            uint32_t at = s->fdes + k * s->fde_size;

            store_number(bytes + at, 4, s->big, load_number(bytes + at, 4, s->big) + at);
        }
    }
}

/* How many entries of S begin where a function does, by its symbol or its CFI. FIELD: as above. */
static uint32_t count_at_functions(const struct lint *lint, const struct sfu_section *s, bool field)
{
    uint32_t i, count = 0;

    for (i = 0; i < s->num_fdes; i++) {
        uint32_t at = s->fdes + i * s->fde_size;
        uint64_t start =
            s->addr + (uint64_t)(int64_t)(int32_t)load_number(s->bytes + at, 4, s->big) + (field ? at : 0);
        const struct symbol *symbol = image_symbol(&lint->image, start);
        const struct cfi_span *span = cfi_span_at(&lint->spans, start);

        count += (symbol != NULL && symbol->addr == start) || (span != NULL && span->start == start);
    }
    return count;
}

/* The same in a linked image: a linker that joins the tables of objects (lld, mold, gold) applies such relocations as
 * they are. */
static void find_unmoved_starts(struct lint *lint)
{
    uint64_t moved = 0, kept = 0, all = 0;
    size_t i;

    for (i = 0; i < lint->tables.num; i++) {
        const struct sfu_section *s = &lint->tables.list[i];

        if (s->version >= 3 || s->flags & FLAG_FIELD)
            continue;
        all += s->num_fdes;
        kept += count_at_functions(lint, s, false);
        moved += count_at_functions(lint, s, true);
    }
    if (moved > kept)
        lint_thing(
            lint, LINT_WRONG_STARTS, lint->section->name, lint->addr, 0,
            "%" PRIu64 " of %" PRIu64 " functions of the tables begin at no function, and %" PRIu64 " would if "
            "starts counted from their own place: GNU as up to 2.45 made the objects, and a linker that does not "
            "know it joined them; traces are wrong: use sfu-gen, or GNU as from 2.46 on",
            all - kept, all, moved);
}

/* Opens a copy of the tables. Those that are not sorted are sorted here: they will be searched very often. */
static void open_linked_tables(struct lint *lint, unsigned oldest)
{
    const uint8_t *bytes = lint->section->bytes + (lint->addr - lint->section->addr);
    struct joined_place where;
    int code;

    if (is_zero(bytes, lint->size)) {
        lint_thing(lint, LINT_UNFILLED_ROOM, lint->section->name, lint->addr, lint->size,
                   "is room of zeros: sfu-gen has not filled it, or objcopy has emptied it");
        return;
    }
    code = joined_open(&lint->tables, bytes, lint->size, lint->addr, &where);
    if (code == SFU_OK && count_functions(&lint->tables) == 0)
        code = SFU_E_EMPTY;
    if (code != SFU_OK) {
        lint_thing(lint, finding_of_code(code), lint->section->name, lint->addr + where.offset, lint->size, "%s",
                   sfu_string(code));
        return;
    }
    if (lint->image.object)
        move_starts(lint);
    else
        find_unmoved_starts(lint);
    lint->open = check_headers(lint, oldest);
    lint->open = check_all(lint) && lint->open;
    if (lint->open)
        lint->open = joined_sort(&lint->tables) == SFU_OK;
    lint->used = lint->open ? end_of_tables(lint) : 0;
}

void lint_place(struct lint *lint, unsigned oldest)
{
    struct place p = {lint, oldest, NULL, NULL, 0, 0, false, false, 0, 0};

    if (lint->image.object) {
        if (lint->image.num_code > 0 && find_section(&p))
            open_linked_tables(lint, oldest);
        return;
    }
    (void)image_each_symbol(&lint->image, SHT_SYMTAB, find_marks, &p);
    find_place_segment(&p);
    if (!find_section(&p))
        return;
    check_loaded(lint);
    check_segment(&p);
    check_strays(lint);
    open_linked_tables(lint, oldest);
    (void)image_each_symbol(&lint->image, SHT_SYMTAB, check_mark, &p);
}

/* ---- A flat binary --------------------------------------------------------------------------------------------- */

/* The contents of FILE, to be freed, and how many bytes; or NULL. */
static uint8_t *read_flat_file(const char *file, size_t *size)
{
    FILE *f = fopen(file, "rb");
    uint8_t *bytes = NULL;
    long end = -1;

    if (f != NULL && fseek(f, 0, SEEK_END) == 0)
        end = ftell(f);
    if (end >= 0 && fseek(f, 0, SEEK_SET) == 0) {
        bytes = zeroed((size_t)end, 1);
        *size = fread(bytes, 1, (size_t)end, f);
        if (ferror(f)) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (f != NULL)
        fclose(f);
    return bytes;
}

/* Where in memory SECTION is loaded from. */
static uint64_t loaded_from(const struct lint *lint, const struct section *section)
{
    GElf_Phdr ph;

    if (!image_segment(&lint->image, PT_LOAD, false, section->addr, &ph))
        return section->addr;
    return section->addr - ph.p_vaddr + ph.p_paddr;
}

/* Where a flat binary of the image begins: at the lowest section that has bytes, because objcopy leaves out what is
 * below it. */
static uint64_t flat_start(const struct lint *lint)
{
    uint64_t start = UINT64_MAX;
    size_t i;

    for (i = 0; i < lint->image.num_sections; i++) {
        const struct section *s = &lint->image.sections[i];
        uint64_t at = loaded_from(lint, s);

        if (s->flags & SHF_ALLOC && s->type != SHT_NOBITS && s->size > 0 && at < start)
            start = at;
    }
    return start;
}

/* Where the SIZE bytes at P begin in the WHOLE bytes at BYTES, or WHOLE. */
static uint64_t find_bytes(const uint8_t *bytes, uint64_t whole, const uint8_t *p, uint64_t size)
{
    uint64_t at;

    for (at = 0; size <= whole && at <= whole - size; at++)
        if (bytes[at] == p[0] && memcmp(bytes + at, p, (size_t)size) == 0)
            return at;
    return whole;
}

bool lint_flat(struct lint *lint, const char *file)
{
    const uint8_t *tables;
    uint64_t at, needed, found;
    size_t size = 0;
    uint8_t *bytes;

    if (!lint->open)
        return true;
    bytes = read_flat_file(file, &size);
    if (bytes == NULL)
        return image_fail(&lint->image, "--flat: %s", strerror(errno));
    tables = lint->section->bytes + (lint->addr - lint->section->addr);
    needed = end_of_tables(lint);
    at = loaded_from(lint, lint->section) + (lint->addr - lint->section->addr) - flat_start(lint);
    found = find_bytes(bytes, size, tables, needed);
    if (at > size || needed > size - at || memcmp(bytes + at, tables, (size_t)needed) != 0)
        lint_thing(
            lint, LINT_NOT_IN_FLAT, file, 0, needed,
            found < size
                ? "has the tables at 0x%" PRIx64 ", not at 0x%" PRIx64 ", where the image's addresses are"
                : "does not have the tables: objcopy has left them out (-j .sframe), or made it before sfu-gen",
            found, at);
    free(bytes);
    return true;
}

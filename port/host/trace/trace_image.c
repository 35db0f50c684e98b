/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu-trace's images: where they lie, their build IDs, and their tables, which are opened when they are needed. */
#include "common/encode.h"
#include "trace.h"

#include <elfutils/libdwelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 32 << 20 }; /* bytes of a file, from which on people are told what takes so long */

/* ---- List ------------------------------------------------------------------------------------------------------ */

bool image_is_object(const struct trace_image *image)
{
    return image->image.header.e_type == ET_REL;
}

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash != NULL ? slash + 1 : file;
}

static void image_free(struct trace_image *t)
{
    symbols_free(t);
    image_close(&t->image);
    free(t->own.bytes);
    free(t->cfi.bytes);
    free(t->file);
    free(t);
}

struct trace_image *images_add(struct trace_images *images, const char *file, char *error, size_t size)
{
    struct trace_image *t = zeroed(1, sizeof *t);
    ssize_t id_size;

    t->file = zeroed(strlen(file) + 1, 1);
    memcpy(t->file, file, strlen(file));
    t->name = base_name(t->file);
    if (!image_open(&t->image, t->file) || !(image_is_object(t) || image_symbols(&t->image))) {
        snprintf(error, size, "%s", t->image.error);
        image_free(t);
        return NULL;
    }
    if (images->abi != 0 && images->abi != t->image.abi) {
        snprintf(error, size, "it is for %s, not for %s", abi_name(t->image.abi), abi_name(images->abi));
        image_free(t);
        return NULL;
    }
    images->abi = t->image.abi;
    id_size = dwelf_elf_gnu_build_id(t->image.elf, &t->build_id);
    t->build_id_size = id_size > 0 ? (size_t)id_size : 0;
    images->list = grow(images->list, images->num, sizeof *images->list);
    images->list[images->num++] = t;
    return t;
}

void images_free(struct trace_images *images)
{
    size_t i;

    for (i = 0; i < images->num; i++)
        image_free(images->list[i]);
    free(images->list);
    images->list = NULL;
    images->num = 0;
}

static bool has_code(const struct trace_image *t, uint64_t addr)
{
    const struct section *text;

    if (!t->placed)
        return false;
    if (!image_is_object(t))
        return image_code(&t->image, addr - t->slide) != NULL;
    text = image_section(&t->image, ".text");
    return text != NULL && addr - t->slide - t->text < text->size;
}

struct trace_image *images_at(const struct trace_images *images, uint64_t addr)
{
    size_t i;

    for (i = 0; i < images->num; i++)
        if (has_code(images->list[i], addr))
            return images->list[i];
    return NULL;
}

struct trace_image *images_by_id(const struct trace_images *images, const void *id, size_t size)
{
    size_t i;

    for (i = 0; i < images->num; i++)
        if (size > 0 && images->list[i]->build_id_size == size && memcmp(images->list[i]->build_id, id, size) == 0)
            return images->list[i];
    return NULL;
}

struct trace_image *images_by_name(const struct trace_images *images, const char *name)
{
    size_t i;

    for (i = 0; i < images->num; i++)
        if (strcmp(images->list[i]->name, base_name(name)) == 0)
            return images->list[i];
    return NULL;
}

void image_place(struct trace_image *image, uint64_t slide)
{
    if (image->slide != slide)
        image->own.tried = image->cfi.tried = false;
    image->slide = slide;
    image->placed = !image_is_object(image) || symbols_address(image, ".text", 5, &image->text);
}

bool image_find(struct trace_image *image, const char *name, uint64_t *addr)
{
    const struct section *section = image_section(&image->image, name);
    Elf *elf = image->image.elf;
    Elf_Scn *scn = NULL;
    GElf_Shdr sh;
    GElf_Sym sym;
    int i;

    if (image_is_object(image))
        return symbols_address(image, name, strlen(name), addr);
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        Elf_Data *data = gelf_getshdr(scn, &sh) != NULL && sh.sh_type == SHT_SYMTAB ? elf_getdata(scn, NULL) : NULL;

        for (i = 0; data != NULL && gelf_getsym(data, i, &sym) != NULL; i++) {
            const char *found = elf_strptr(elf, sh.sh_link, sym.st_name);

            if (found != NULL && sym.st_shndx != SHN_UNDEF && strcmp(found, name) == 0) {
                *addr = sym.st_value;
                return true;
            }
        }
    }
    if (section != NULL)
        *addr = section->addr;
    return section != NULL;
}

/* Returns whether IMAGE can be the right one. */
static bool verify(struct trace_image *image, const struct trace_space *space)
{
    const struct section *note = image_section(&image->image, ".note.gnu.build-id");
    uint8_t header[16], id[64];
    size_t size = image->build_id_size;

    if (!image->placed || note == NULL || size == 0 || size > sizeof id || note->size != sizeof header + size ||
        !(note->flags & SHF_ALLOC))
        return true;
    if (!space->read(space->ctx, note->addr + image->slide, header, sizeof header) ||
        !space->read(space->ctx, note->addr + image->slide + sizeof header, id, size))
        return true;
    if (memcmp(header + 12, "GNU", 4) == 0 && memcmp(id, image->build_id, size) == 0)
        return true;
    trace_warn("%s: WRONG IMAGE: its build ID is not in memory at 0x%" PRIx64 "; it is not used", image->file,
               note->addr + image->slide);
    image->placed = false;
    return false;
}

void images_verify(struct trace_images *images, const struct trace_space *space)
{
    size_t i;

    for (i = 0; i < images->num; i++)
        images->wrong = !verify(images->list[i], space) || images->wrong;
}

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

static void tell(const struct trace_image *image, const char *what)
{
    size_t size = 0;

    (void)elf_rawfile(image->image.elf, &size);
    if (size >= LARGE)
        trace_note("%s: %s (%zu MB)", image->name, what, size >> 20);
}

/* The image's text is all of its code, with what has no table. That of an object lies wherever it was loaded. */
static void set_text(const struct trace_image *image, struct sfu_section *tables)
{
    const struct section *first, *last;

    if (image_is_object(image) || image->image.num_code == 0)
        return;
    first = image->image.code[0];
    last = image->image.code[image->image.num_code - 1];
    tables->text.low = first->addr + image->slide;
    tables->text.high = last->addr + image->slide + last->size;
}

/* Opens the bytes where the image lies. Sorts them first if they are not. */
static int open_tables(struct trace_image *image, struct tables_of *tables)
{
    uint64_t addr = tables->addr + image->slide;
    int code = sfu_open(&tables->section, tables->bytes, tables->size, addr);

    if (code == SFU_OK && tables->section.abi != image->image.abi)
        code = SFU_E_ABI;
    if (code == SFU_OK)
        code = sfu_check(&tables->section, NULL);
    if (code == SFU_OK && !(tables->section.flags & 1) && sfu_sort(&tables->section, tables->bytes) == SFU_OK)
        code = sfu_open(&tables->section, tables->bytes, tables->size, addr);
    if (code == SFU_OK)
        set_text(image, &tables->section);
    return code;
}

/* ---- Tables of relocatable objects ----------------------------------------------------------------------------- */

/* The relocations of SECTION, or NULL. *SYMBOLS gets the symbols that they name. */
static Elf_Data *find_relocations(Elf *elf, const struct section *section, Elf_Data **symbols)
{
    Elf_Scn *scn = NULL, *table;
    GElf_Shdr sh;

    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        if (gelf_getshdr(scn, &sh) == NULL || sh.sh_type != SHT_RELA || sh.sh_info != section->index)
            continue;
        table = elf_getscn(elf, sh.sh_link);
        *symbols = table != NULL ? elf_getdata(table, NULL) : NULL;
        return *symbols != NULL ? elf_getdata(scn, NULL) : NULL;
    }
    return NULL;
}

static bool is_distance(const struct trace_image *t, uint64_t type)
{
    return type == (t->image.abi == SFU_AMD64   ? R_X86_64_PC64
                    : t->image.abi == SFU_S390X ? R_390_PC64
                                                : R_AARCH64_PREL64);
}

/* Makes the starts of functions right for a section that lies where .text does: each is its distance from its own
 * field. Functions that are not in .text, whose place nobody has said, get a start where no code is. */
static bool relocate_own(struct trace_image *t, const struct section *section)
{
    const uint64_t nowhere = (uint64_t)1 << 62;
    const struct section *text = image_section(&t->image, ".text");
    Elf_Data *symbols, *list = find_relocations(t->image.elf, section, &symbols);
    GElf_Rela r;
    GElf_Sym sym;
    int i;

    for (i = 0; list != NULL && text != NULL && gelf_getrela(list, i, &r) != NULL; i++) {
        if (r.r_offset > t->own.size || t->own.size - r.r_offset < 8 || !is_distance(t, GELF_R_TYPE(r.r_info)) ||
            gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &sym) == NULL)
            return false;
        store_number(t->own.bytes + r.r_offset, 8, t->image.big,
                     sym.st_shndx == text->index ? sym.st_value + (uint64_t)r.r_addend - r.r_offset : nowhere);
    }
    return i > 0;
}

/* ---- Own tables ------------------------------------------------------------------------------------------------ */

bool image_open_own(struct trace_image *image)
{
    struct section *section = image_tables(&image->image);
    int code;

    if (image->own.tried)
        return image->own.good;
    image->own.tried = true;
    image->own.good = false;
    if (section == NULL || section->type == SHT_NOBITS)
        return false;
    if (image->own.bytes == NULL) {
        if (!image_load(&image->image, section)) {
            trace_note("%s: %s", image->name, image->image.error);
            return false;
        }
        image->own.size = (size_t)section->size;
        image->own.addr = image_is_object(image) ? image->text : section->addr;
        image->own.bytes = zeroed(image->own.size, 1);
        memcpy(image->own.bytes, section->bytes, image->own.size);
        if (image_is_object(image) && !relocate_own(image, section)) {
            trace_note("%s: the relocations of its %s are not understood", image->name, section->name);
            free(image->own.bytes);
            image->own.bytes = NULL;
            return false;
        }
    }
    code = open_tables(image, &image->own);
    if (code != SFU_OK)
        trace_note("%s: its %s is not used: %s", image->name, section->name, sfu_string(code));
    image->own.good = code == SFU_OK;
    return image->own.good;
}

/* Makes a section of the image's CFI, as sfu-gen does, that lies where its code does. Returns false, and a line in
 * image->error, if there is none. */
static bool make_tables(struct trace_image *t)
{
    static const struct encoding encoding = {0, false};
    struct cfi cfi;
    struct cfi_spans spans = {NULL, 0, 0};
    struct tables tables;
    struct kept kept;
    struct bytes bytes;
    bool good;

    memset(&cfi, 0, sizeof cfi);
    memset(&tables, 0, sizeof tables);
    memset(&kept, 0, sizeof kept);
    tables.image = &t->image;
    good = cfi_read(&cfi, &t->image, CFI_EH | CFI_DEBUG) && cfi_find_spans(&cfi, &spans);
    if (good && cfi.num_fdes == 0)
        good = image_fail(&t->image, "no call frame information");
    if (good) {
        tables_make(&tables, &cfi, &spans, &kept);
        t->cfi.addr = t->image.num_code > 0 ? t->image.code[0]->addr : 0;
        good = encode(&tables, &encoding, t->cfi.addr, &bytes);
        if (!good)
            image_fail(&t->image, "nothing in its CFI can be said in SFrame");
        tables_free(&tables);
    }
    if (good) {
        t->cfi.bytes = bytes.data;
        t->cfi.size = bytes.size;
    }
    free(spans.list);
    cfi_free(&cfi);
    return good;
}

bool image_open_cfi(struct trace_image *image)
{
    int code;

    if (image->cfi.tried)
        return image->cfi.good;
    image->cfi.tried = true;
    image->cfi.good = false;
    if (image_is_object(image))
        return false;
    if (image->cfi.bytes == NULL) {
        tell(image, "reading its call frame information");
        if (!make_tables(image)) {
            trace_note("%s: %s", image->name, image->image.error);
            return false;
        }
    }
    code = open_tables(image, &image->cfi);
    if (code != SFU_OK)
        trace_note("%s: tables made of its CFI: %s", image->name, sfu_string(code));
    image->cfi.good = code == SFU_OK;
    return image->cfi.good;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu-trace's images: where they lie, their build IDs, and their tables, which are opened when they are needed. */
#include "images.h"
#include "code/code.h"
#include "common/calls.h"
#include "common/report.h"
#include "symbols.h"
#include "tables/encode.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGE = 32 << 20, /* bytes of a file, from which on people are told what takes so long */
    SYMBOL_LEAST = 16 /* bytes of a symbol */
};

/* ---- List ------------------------------------------------------------------------------------------------------ */

static void image_free(struct trace_image *t)
{
    symbols_free(t);
    image_close(&t->image);
    free(t->own.bytes);
    free(t->cfi.bytes);
    free(t->debug_cfi.bytes);
    free(t->code.bytes);
    free(t->file);
    free(t);
}

struct trace_image *images_add(struct trace_images *images, const char *file, char *error, size_t size)
{
    struct trace_image *t = zeroed(1, sizeof *t);
    ssize_t id_size;

    t->file = copied(file);
    t->name = text_base_name(t->file);
    if (!image_open_names(&t->image, t->file) || !(image_is_object(t) || image_symbols(&t->image))) {
        snprintf(error, size, "%s", t->image.error);
        image_free(t);
        return NULL;
    }
    if ((images->abi != 0 || images->num > 0) && images->abi != t->image.abi) {
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
    for (i = 0; i < images->num_maps; i++) {
        map_free(&images->maps[i].map);
        free(images->maps[i].file);
    }
    free(images->list);
    free(images->maps);
    images->list = NULL;
    images->maps = NULL;
    images->num = images->num_maps = 0;
}

/* Whether ADDR, as low as a null pointer, is code. Of a Cortex-M vectors are at 0, which a label may name, and debug
 * information gives functions that the linker has dropped addresses from 0 on: there must be a symbol of a function, or
 * a label behind the start of the section. */
static bool is_code_at_null(const struct trace_image *t, uint64_t addr)
{
    const struct symbol *symbol = image_symbol(&t->image, addr);
    const struct section *text = image_code(&t->image, addr);

    if (t->image.abi != SFU_THUMB || t->image.num_symbols == 0)
        return true;
    if (symbol == NULL || text == NULL)
        return false;
    return symbol->function ? addr - symbol->addr < symbol->size || symbol->size == 0 : symbol->addr != text->addr;
}

static bool image_has_code(const struct trace_image *t, uint64_t addr)
{
    const struct section *text;

    if (!t->placed || (addr < NULL_PAGE && !is_code_at_null(t, addr - t->slide)))
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
        if (image_has_code(images->list[i], addr))
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
        if (strcmp(images->list[i]->name, text_base_name(name)) == 0)
            return images->list[i];
    return NULL;
}

void image_place(struct trace_image *image, uint64_t slide)
{
    if (image->slide != slide)
        image->own.tried = image->cfi.tried = image->debug_cfi.tried = image->code.tried = false;
    image->slide = slide;
    image->placed = !image_is_object(image) || symbols_address(image, ".text", 5, &image->text);
}

void images_place(struct trace_images *images, uint64_t slide)
{
    size_t i;

    images->slide = slide;
    for (i = 0; i < images->num; i++)
        if (!images->list[i]->placed)
            image_place(images->list[i], i == 0 ? slide : 0);
}

static size_t file_size_of(const struct trace_image *image)
{
    size_t size = 0;

    (void)elf_rawfile(image->image.elf, &size);
    return size;
}

/* Any number of headers may name the same table: no more symbols are looked at than the file can have. */
bool image_find(struct trace_image *image, const char *name, uint64_t *addr)
{
    const struct section *section = image_section(&image->image, name);
    Elf *elf = image->image.elf;
    Elf_Scn *scn = NULL;
    GElf_Shdr sh;
    GElf_Sym sym;
    size_t left = file_size_of(image) / SYMBOL_LEAST;
    int i;

    if (image_is_object(image))
        return symbols_address(image, name, strlen(name), addr);
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        Elf_Data *data = gelf_getshdr(scn, &sh) != NULL && sh.sh_type == SHT_SYMTAB ? elf_getdata(scn, NULL) : NULL;

        for (i = 0; data != NULL && left > 0 && gelf_getsym(data, i, &sym) != NULL; i++, left--) {
            const char *found = elf_strptr(elf, sh.sh_link, sym.st_name);

            if (found != NULL && sym.st_shndx != SHN_UNDEF && strcmp(found, name) == 0) {
                *addr = sym.st_value;
                return true;
            }
        }
    }
    if (section != NULL)
        *addr = section->addr;
    /* A separate file may have them. */
    return section != NULL || symbols_address(image, name, strlen(name), addr);
}

/* ---- Maps ------------------------------------------------------------------------------------------------------ */

void images_add_map(struct trace_images *images, const char *file, bool placed, uint64_t slide)
{
    struct trace_map *map;
    size_t size;
    char *text = map_read_file(file, &size);

    if (text == NULL)
        report_fail("%s: %s", file, strerror(errno));
    images->maps = grow(images->maps, images->num_maps, sizeof *images->maps);
    map = &images->maps[images->num_maps++];
    map->placed = placed;
    map->slide = slide;
    if (map_parse(&map->map, text, size) == 0)
        report_fail("%s: no line \"ADDRESS TYPE NAME\": not a System.map, the output of nm, or a linker's map",
                    file);
    if (map->map.list[map->map.num - 1].addr == 0)
        report_fail("%s: all addresses are 0: Linux shows them to root alone", file);
    map->file = copied(file);
}

/* A PE file without symbols gets those of the map beside it that its linker has written: app.map beside app.efi. */
static void find_map(struct trace_images *images)
{
    const struct trace_image *image = images->list[0];
    const size_t room = strlen(image->file) + sizeof ".map";
    char *name = zeroed(room, 1), *dot, *text;
    struct map map;
    size_t size;

    (void)snprintf(name, room, "%s", image->file);
    dot = strrchr(name, '.');
    if (dot == NULL || strchr(dot, '/') != NULL)
        dot = name + strlen(name);
    (void)snprintf(dot, room - (size_t)(dot - name), ".map");
    text = map_read_file(name, &size);
    if (text != NULL && map_parse(&map, text, size) > 0 && map_link(&map, &image->image) == MAP_SAME_LINK) {
        images->maps = grow(images->maps, images->num_maps, sizeof *images->maps);
        images->maps[images->num_maps++] = (struct trace_map){map, copied(name), false, 0};
    } else {
        if (text != NULL)
            map_free(&map);
        report_note("%s: no symbols. --map=FILE takes names from the map of its linker (lld-link /map, -Wl,-Map)",
                    image->file);
    }
    free(name);
}

void images_use_maps(struct trace_images *images)
{
    struct image *image = images->num > 0 ? &images->list[0]->image : NULL;
    size_t i;

    if (image != NULL && image->pe != NULL && image->num_symbols == 0 && images->num_maps == 0)
        find_map(images);

    for (i = 0; i < images->num_maps && image != NULL; i++) {
        struct trace_map *map = &images->maps[i];

        if (map->placed || image->pe == NULL)
            continue;
        if (map_link(&map->map, image) == MAP_ANOTHER_LINK)
            report_note(MAP_OF_ANOTHER_LINK, map->file, images->list[0]->file);
        if (map_name_image(&map->map, image) == 0)
            report_note("%s: no function of this map is in the code of %s", map->file, images->list[0]->file);
    }
    for (i = 0; i < images->num_maps; i++)
        if (images->maps[i].map.no_static)
            report_note("%s: this map has no static functions: they have the name of the function before them",
                        images->maps[i].file);
}

/* Whether it is known by how much the program is above the addresses of MAP. */
static bool map_slide(const struct trace_images *images, const struct trace_map *map, uint64_t *slide)
{
    *slide = map->placed ? map->slide : images->num > 0 ? images->list[0]->slide : images->slide;
    return map->placed || images->num == 0 || images->list[0]->placed;
}

bool images_name(const struct trace_images *images, struct trace_image *image, uint64_t addr,
                 struct function_name *found)
{
    uint64_t slide;
    size_t i;

    memset(found, 0, sizeof *found);
    if (image == NULL && addr < NULL_PAGE)
        return false;
    if (image != NULL) {
        found->name = symbols_name(image, addr, &found->offset);
        addr += image->slide;
    }
    for (i = 0; i < images->num_maps && (image == NULL || image->placed); i++) {
        const struct map_symbol *symbol =
            map_slide(images, &images->maps[i], &slide) ? map_at(&images->maps[i].map, addr - slide) : NULL;

        if (symbol != NULL && (found->name == NULL || addr - slide - symbol->addr < found->offset))
            *found = (struct function_name){symbol->name, symbol->module, addr - slide - symbol->addr};
    }
    return found->name != NULL;
}

uint64_t images_before(const struct trace_images *images, uint64_t ra)
{
    struct trace_image *image = images_at(images, ra);
    const uint64_t addr = image != NULL ? ra - image->slide : 0;
    uint64_t offset = 1;
    struct call call;

    if (addr < 2 || image->image.abi == 0 || image_is_object(image) || symbols_name(image, addr, &offset) == NULL ||
        offset != 0)
        return ra - 1;
    return image_instructions(&image->image, addr - 2, 2) == NULL || call_before(&image->image, addr, &call)
               ? ra - 1
               : ra;
}

bool images_find(const struct trace_images *images, struct trace_image *image, const char *name, uint64_t *addr)
{
    size_t i;

    if (image != NULL && image_find(image, name, addr))
        return true;
    for (i = 0; i < images->num_maps && (images->num == 0 || image == images->list[0]); i++)
        if (!images->maps[i].placed && map_find(&images->maps[i].map, name, addr))
            return true;
    return false;
}

/* ---- Tables ---------------------------------------------------------------------------------------------------- */

static void tell(const struct trace_image *image, const char *what)
{
    size_t size = 0;

    (void)elf_rawfile(image->image.elf, &size);
    if (size >= LARGE)
        report_note("%s: %s (%zu MB)", image->name, what, size >> 20);
}

/* The image's text is all of its code, with what has no table, so that a PC there is not taken for a wild one. That of
 * an object lies wherever it was loaded. */
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
static int open_image_tables(struct trace_image *image, struct tables_of *tables)
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
    tables->text = tables->section.text;
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
    const struct relocation *r = t->image.registers->relocations;

    while (r->size != 0 && r->type != type)
        r++;
    return r->size == 8 && r->how == RELOCATION_RELATIVE;
}

/* Makes the starts of functions right for a section that lies where .text does: each is its distance from its own
 * field. Those that sfu-gen has made of a linked copy of the object are so already, and have no relocations. Functions
 * that are not in .text, whose place nobody has said, get a start where no code is. */
static bool relocate_own(struct trace_image *t, const struct section *section)
{
    const uint64_t nowhere = (uint64_t)1 << 62;
    const struct section *text = image_section(&t->image, ".text");
    Elf_Data *symbols, *list = find_relocations(t->image.elf, section, &symbols);
    GElf_Rela r;
    GElf_Sym sym;
    int i;

    if (list == NULL && text != NULL && strcmp(section->name, IMAGE_TABLES) == 0)
        return true;
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

/* Makes one table, where its own ones lie, of those that a linker has only joined (lld). */
static bool unite_own(struct trace_image *image)
{
    static const struct encoding encoding = {0, false};
    static const struct cfi no_cfi;
    const struct cfi_spans none = {NULL, 0, 0};
    struct tables tables;
    struct kept kept;
    struct bytes bytes;
    bool good = kept_read(&kept, &image->image, &none);

    memset(&tables, 0, sizeof tables);
    tables.image = &image->image;
    if (good) {
        tables_make(&tables, &no_cfi, &none, &kept);
        good = encode(&tables, &encoding, image->own.addr, &bytes);
    }
    if (good) {
        free(image->own.bytes);
        image->own.bytes = bytes.data;
        image->own.size = bytes.size;
    }
    tables_free(&tables);
    kept_free(&kept);
    return good;
}

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
            report_note("%s: %s", image->name, image->image.error);
            return false;
        }
        image->own.size = (size_t)section->size;
        image->own.addr = image_is_object(image) ? image->text : section->addr;
        image->own.bytes = zeroed(image->own.size, 1);
        memcpy(image->own.bytes, section->bytes, image->own.size);
        if (image_is_object(image) && !relocate_own(image, section)) {
            report_note("%s: the relocations of its %s are not understood", image->name, section->name);
            free(image->own.bytes);
            image->own.bytes = NULL;
            return false;
        }
    }
    code = open_image_tables(image, &image->own);
    if (code == SFU_E_CONCATENATED && !image_is_object(image) && unite_own(image))
        code = open_image_tables(image, &image->own);
    if (code != SFU_OK)
        report_note("%s: its %s is not used: %s", image->name, section->name, sfu_string(code));
    image->own.good = code == SFU_OK;
    return image->own.good;
}

/* Has the code of an image whose CFI has been read say what that does not, as `sfu-gen --find` does. Nobody calls the
 * entry of an ELF file; who calls that of a PE file, its code says. */
static bool read_code(struct cfi *cfi, struct cfi_spans *spans, const struct kept *kept)
{
    const uint64_t start = cfi->image->header.e_entry & ~(uint64_t)abi_is_arm(cfi->image->abi);
    struct code_entry_point entry = {.addr = start, .kind = CODE_START, .exact = true};
    const struct code_how how = {.derive = true,
                                 .find = true,
                                 .entries = &entry,
                                 .num_entries = cfi->image->pe == NULL && !image_is_library(cfi->image) &&
                                                image_code(cfi->image, start) != NULL,
                                 .kept = kept};
    struct code_report report;

    if (!code_trust(cfi, spans, &how, &report))
        return image_fail(cfi->image, "this program cannot read code of this CPU");
    if (!report.other_spans)
        return true;
    free(spans->list);
    *spans = (struct cfi_spans){NULL, 0, 0};
    return cfi_find_spans(cfi, spans);
}

/* Makes a section of the CFI of IMAGE, and for CODE of its machine code, too, as sfu-gen does, that lies where its code
 * does. Returns false, and a line in image->error, if there is none. */
static bool make_image_tables(struct image *image, struct tables_of *made, bool code)
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
    tables.image = image;
    good = cfi_read(&cfi, image, CFI_EH | CFI_DEBUG) || (code && cfi_read(&cfi, image, 0));
    good = good && cfi_find_spans(&cfi, &spans);
    if (good && code)
        good = read_code(&cfi, &spans, &kept);
    if (good && cfi.num_fdes == 0)
        good = image_fail(image, "no call frame information");
    if (good) {
        tables_make(&tables, &cfi, &spans, &kept);
        made->addr = image->num_code > 0 ? image->code[0]->addr : 0;
        good = encode(&tables, &encoding, made->addr, &bytes);
        if (!good)
            image_fail(image, "%s", cfi_why_nothing(&cfi));
        tables_free(&tables);
    }
    if (good) {
        made->bytes = bytes.data;
        made->size = bytes.size;
    }
    free(spans.list);
    cfi_free(&cfi);
    return good;
}

/* Opens TABLES, made of the CFI of SOURCE, which has the addresses of IMAGE, or also of its code. */
static bool open_made(struct trace_image *image, struct image *source, struct tables_of *tables, bool by_code)
{
    int code;

    if (tables->bytes == NULL) {
        tell(image, by_code ? "reading its code" : "reading its call frame information");
        if (!make_image_tables(source, tables, by_code)) {
            report_note("%s: %s", image->name, source->error);
            return false;
        }
    }
    code = open_image_tables(image, tables);
    if (code != SFU_OK)
        report_note("%s: tables made of its CFI: %s", image->name, sfu_string(code));
    return code == SFU_OK;
}

bool image_open_cfi(struct trace_image *image)
{
    if (!image->cfi.tried)
        image->cfi.good = !image_is_object(image) && open_made(image, &image->image, &image->cfi, false);
    image->cfi.tried = true;
    return image->cfi.good;
}

/* Whether the code of SOURCE lies where that of IMAGE does. */
static bool same_code(const struct image *source, const struct image *image)
{
    return source->abi == image->abi && source->num_code > 0 && image->num_code > 0 &&
           image_code(image, source->code[0]->addr) != NULL;
}

bool image_open_debug_cfi(struct trace_image *image)
{
    const char *file = image->debug_cfi.tried || image_is_object(image) ? NULL : symbols_file(image);
    struct image source;

    if (!image->debug_cfi.tried && file != NULL) {
        if (!image_open(&source, file))
            report_note("%s: %s", file, source.error);
        else if (image_section(&source, ".debug_frame") != NULL && same_code(&source, &image->image))
            image->debug_cfi.good = open_made(image, &source, &image->debug_cfi, false);
        image_close(&source);
    }
    image->debug_cfi.tried = true;
    return image->debug_cfi.good;
}

bool image_open_code(struct trace_image *image)
{
    if (!image->code.tried)
        image->code.good = !image_is_object(image) && image->image.num_code > 0 &&
                           code_cpu(&image->image) != NULL && open_made(image, &image->image, &image->code, true);
    image->code.tried = true;
    return image->code.good;
}

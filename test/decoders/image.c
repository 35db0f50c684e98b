/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "image.h"

#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the sections of a relocatable object go: one behind the other, at their alignment, from
 * here on. */
#define LOAD_ADDRESS 0x40000000u

static Elf_Scn *section_named(Elf *elf, const char *name)
{
    Elf_Scn *scn = NULL;
    size_t strings;
    GElf_Shdr sh;

    if (elf_getshdrstrndx(elf, &strings) != 0)
        errx(1, "no section names: %s", elf_errmsg(-1));
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        if (gelf_getshdr(scn, &sh) != NULL && strcmp(elf_strptr(elf, strings, sh.sh_name), name) == 0)
            return scn;
    }
    return NULL;
}

static void lay_out(struct image *image, Elf *elf)
{
    Elf_Scn *scn = NULL;
    uint64_t next = LOAD_ADDRESS;
    GElf_Shdr sh;

    if (elf_getshdrnum(elf, &image->num_places) != 0)
        errx(1, "no sections: %s", elf_errmsg(-1));
    image->places = calloc(image->num_places, sizeof *image->places);
    if (image->places == NULL)
        err(1, "places");
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        struct place *place = &image->places[elf_ndxscn(scn)];

        if (gelf_getshdr(scn, &sh) == NULL || !(sh.sh_flags & SHF_ALLOC))
            continue;
        if (image->object && sh.sh_addralign > 1)
            next = (next + sh.sh_addralign - 1) / sh.sh_addralign * sh.sh_addralign;
        place->addr = image->object ? next : sh.sh_addr;
        place->size = sh.sh_size;
        place->entry_size = sh.sh_entsize;
        next += sh.sh_size;
    }
}

/* Bytes that a PC-relative relocation fills; each ABI has these two for its .sframe. */
static unsigned relocation_size(const GElf_Ehdr *eh, uint64_t type)
{
    switch ((uint32_t)eh->e_machine << 16 | (uint32_t)type) {
    case EM_X86_64 << 16 | R_X86_64_PC32:
    case EM_AARCH64 << 16 | R_AARCH64_PREL32:
    case EM_S390 << 16 | R_390_PC32:
        return 4;
    case EM_X86_64 << 16 | R_X86_64_PC64:
    case (uint32_t)EM_AARCH64 << 16 | R_AARCH64_PREL64:
    case EM_S390 << 16 | R_390_PC64:
        return 8;
    default:
        errx(1, "relocation type %lu", (unsigned long)type);
    }
}

static void fill(uint8_t *p, unsigned size, bool big, uint64_t value)
{
    for (unsigned i = 0; i < size; i++)
        p[big ? size - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* The first word of an FDE is all that is relocated. V3 (64 bits) has the function's distance from
 * the word there, as its flag says. gas gave older ones (32 bits) the same relocation, although no
 * flag says so, and its linker puts the distance from the section, which they should have. */
static void relocate_one(struct image *image, const GElf_Ehdr *eh, const GElf_Rela *rela, Elf_Data *symbols)
{
    unsigned size = relocation_size(eh, GELF_R_TYPE(rela->r_info));
    uint64_t target;
    GElf_Sym sym;

    if (gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym) == NULL || sym.st_shndx >= image->num_places)
        errx(1, "bad symbol in a relocation");
    if (rela->r_offset > image->size || size > image->size - rela->r_offset)
        errx(1, "relocation outside of .sframe");
    target = image->places[sym.st_shndx].addr + sym.st_value + (uint64_t)rela->r_addend;
    fill(image->sframe + rela->r_offset, size, eh->e_ident[EI_DATA] == ELFDATA2MSB,
         target - image->addr - (size == 8 ? rela->r_offset : 0));
    image->starts[image->num_starts++] = target;
}

static void relocate(struct image *image, Elf *elf, const GElf_Ehdr *eh)
{
    Elf_Scn *scn = section_named(elf, ".rela.sframe");
    GElf_Shdr sh;
    Elf_Data *data, *symbols;
    GElf_Rela rela;

    if (scn == NULL || gelf_getshdr(scn, &sh) == NULL || (data = elf_getdata(scn, NULL)) == NULL ||
        (symbols = elf_getdata(elf_getscn(elf, sh.sh_link), NULL)) == NULL)
        errx(1, "no relocations: %s", elf_errmsg(-1));
    image->starts = calloc(sh.sh_size / sh.sh_entsize, sizeof *image->starts);
    if (image->starts == NULL)
        err(1, "starts");
    for (int i = 0; gelf_getrela(data, i, &rela) != NULL; i++)
        relocate_one(image, eh, &rela, symbols);
}

void image_load(struct image *image, const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    Elf *elf;
    Elf_Scn *scn;
    Elf_Data *data;
    GElf_Ehdr eh;

    memset(image, 0, sizeof *image);
    if (fd < 0)
        err(1, "%s", file);
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf == NULL || gelf_getehdr(elf, &eh) == NULL || (scn = section_named(elf, ".sframe")) == NULL ||
        (data = elf_rawdata(scn, NULL)) == NULL)
        errx(1, "%s: no .sframe in it", file);
    image->object = eh.e_type == ET_REL;
    lay_out(image, elf);
    image->addr = image->places[elf_ndxscn(scn)].addr;
    image->size = data->d_size;
    image->sframe = malloc(data->d_size);
    if (image->sframe == NULL)
        err(1, "%s", file);
    memcpy(image->sframe, data->d_buf, data->d_size);
    if (image->object)
        relocate(image, elf, &eh);
    elf_end(elf);
    close(fd);
}

const struct place *image_place(const struct image *image, uint64_t addr)
{
    for (size_t i = 0; i < image->num_places; i++) {
        if (addr - image->places[i].addr < image->places[i].size)
            return &image->places[i];
    }
    return NULL;
}

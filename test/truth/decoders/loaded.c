/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "loaded.h"
#include "port/host/common/image.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

/* Where the sections of a relocatable object go: one behind the other, at their alignment, from
 * here on. */
#define LOAD_ADDRESS 0x40000000u

static void lay_out(struct loaded *loaded, Elf *elf)
{
    Elf_Scn *scn = NULL;
    uint64_t next = LOAD_ADDRESS;
    GElf_Shdr sh;

    if (elf_getshdrnum(elf, &loaded->num_places) != 0)
        errx(1, "no sections: %s", elf_errmsg(-1));
    loaded->places = zeroed(loaded->num_places, sizeof *loaded->places);
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        struct place *place = &loaded->places[elf_ndxscn(scn)];

        if (gelf_getshdr(scn, &sh) == NULL || !(sh.sh_flags & SHF_ALLOC))
            continue;
        if (loaded->object && sh.sh_addralign > 1)
            next = (next + sh.sh_addralign - 1) / sh.sh_addralign * sh.sh_addralign;
        place->addr = loaded->object ? next : sh.sh_addr;
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

/* The first word of an FDE is all that is relocated. V3 (64 bits) has the function's distance from
 * the word there, as its flag says. Older ones (32 bits) have the same relocation; the
 * linker puts the distance from the section, which they should have (FAULTS.md: gas-old-relocations). */
static void relocate_one(struct loaded *loaded, const GElf_Ehdr *eh, const GElf_Rela *rela, Elf_Data *symbols)
{
    unsigned size = relocation_size(eh, GELF_R_TYPE(rela->r_info));
    uint64_t target;
    GElf_Sym sym;

    if (gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym) == NULL || sym.st_shndx >= loaded->num_places)
        errx(1, "bad symbol in a relocation");
    if (rela->r_offset > loaded->size || size > loaded->size - rela->r_offset)
        errx(1, "relocation outside of .sframe");
    target = loaded->places[sym.st_shndx].addr + sym.st_value + (uint64_t)rela->r_addend;
    store_number(loaded->sframe + rela->r_offset, size, eh->e_ident[EI_DATA] == ELFDATA2MSB,
                 target - loaded->addr - (size == 8 ? rela->r_offset : 0));
    loaded->starts[loaded->num_starts++] = target;
}

static void relocate(struct loaded *loaded, const struct image *image)
{
    const struct section *s = image_section(image, ".rela.sframe");
    Elf_Scn *scn = s != NULL ? elf_getscn(image->elf, s->index) : NULL;
    GElf_Shdr sh;
    Elf_Data *data, *symbols;
    GElf_Rela rela;

    if (scn == NULL || gelf_getshdr(scn, &sh) == NULL || (data = elf_getdata(scn, NULL)) == NULL ||
        (symbols = elf_getdata(elf_getscn(image->elf, sh.sh_link), NULL)) == NULL)
        errx(1, "no relocations: %s", elf_errmsg(-1));
    loaded->starts = zeroed(sh.sh_size / sh.sh_entsize, sizeof *loaded->starts);
    for (int i = 0; gelf_getrela(data, i, &rela) != NULL; i++)
        relocate_one(loaded, &image->header, &rela, symbols);
}

void load_file(struct loaded *loaded, const char *file)
{
    struct image image;
    struct section *s;

    memset(loaded, 0, sizeof *loaded);
    if (!image_open(&image, file) || (s = image_section(&image, ".sframe")) == NULL || !image_load(&image, s))
        errx(1, "%s: no .sframe in it: %s", file, image.error);
    loaded->object = image.header.e_type == ET_REL;
    lay_out(loaded, image.elf);
    loaded->addr = loaded->places[s->index].addr;
    loaded->size = s->size;
    loaded->sframe = memcpy(zeroed(s->size, 1), s->bytes, s->size);
    if (loaded->object)
        relocate(loaded, &image);
    image_close(&image);
}

const struct place *place_of(const struct loaded *loaded, uint64_t addr)
{
    for (size_t i = 0; i < loaded->num_places; i++)
        if (addr - loaded->places[i].addr < loaded->places[i].size)
            return &loaded->places[i];
    return NULL;
}

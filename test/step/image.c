/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "image.h"

static int by_start(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->size > y->size ? -1 : x->size < y->size;
}

static bool take_symbols(struct image *image, Elf_Scn *scn, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t count = (size_t)(header->sh_size / header->sh_entsize), i;
    GElf_Sym sym;

    image->functions = calloc(count + 1, sizeof *image->functions);
    if (data == NULL || image->functions == NULL)
        return false;
    for (i = 0; i < count; i++) {
        struct symbol *s = &image->functions[image->num_functions];

        if (gelf_getsym(data, (int)i, &sym) == NULL || GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == 0)
            continue;
        s->start = sym.st_value;
        s->size = sym.st_size;
        s->name = elf_strptr(image->elf, header->sh_link, sym.st_name);
        image->num_functions++;
    }
    qsort(image->functions, image->num_functions, sizeof *image->functions, by_start);
    return true;
}

/* The strings of .comment, joined. */
static void take_comment(struct image *image, Elf_Scn *scn)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t i, n;

    if (data == NULL)
        return;
    n = data->d_size < sizeof image->compiler ? data->d_size : sizeof image->compiler - 1;
    memcpy(image->compiler, data->d_buf, n);
    for (i = 0; i < n; i++)
        if (image->compiler[i] == '\0')
            image->compiler[i] = ';';
    image->compiler[n] = '\0';
}

static bool take_sections(struct image *image)
{
    Elf_Scn *scn = NULL;
    GElf_Shdr header;
    size_t names;

    if (elf_getshdrstrndx(image->elf, &names) != 0)
        return false;
    while ((scn = elf_nextscn(image->elf, scn)) != NULL) {
        const char *name;

        if (gelf_getshdr(scn, &header) == NULL || (name = elf_strptr(image->elf, names, header.sh_name)) == NULL)
            return false;
        if (header.sh_type == SHT_SYMTAB && !take_symbols(image, scn, &header))
            return false;
        if (strcmp(name, ".comment") == 0)
            take_comment(image, scn);
        if (strcmp(name, ".sframe") == 0) {
            image->sframe = header.sh_addr;
            image->sframe_size = header.sh_size;
        }
    }
    return image->functions != NULL && image->sframe_size > 0;
}

static bool take_code(struct image *image)
{
    size_t count, size, i;
    GElf_Phdr header;
    GElf_Ehdr ehdr;
    const char *file = elf_rawfile(image->elf, &size);

    if (file == NULL || elf_getphdrnum(image->elf, &count) != 0 || gelf_getehdr(image->elf, &ehdr) == NULL)
        return false;
    image->entry = ehdr.e_entry;
    for (i = 0; i < count; i++) {
        if (gelf_getphdr(image->elf, (int)i, &header) == NULL)
            return false;
        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || header.p_offset + header.p_filesz > size)
            continue;
        image->code = (const uint8_t *)file + header.p_offset;
        image->code_start = header.p_vaddr;
        image->code_size = header.p_filesz;
        image->seen = calloc((size_t)header.p_filesz / 8 + 1, 1);
    }
    return image->seen != NULL;
}

bool image_open(struct image *image, const char *path)
{
    memset(image, 0, sizeof *image);
    elf_version(EV_CURRENT);
    image->fd = open(path, O_RDONLY);
    if (image->fd < 0)
        return false;
    image->elf = elf_begin(image->fd, ELF_C_READ_MMAP, NULL);
    return image->elf != NULL && take_sections(image) && take_code(image);
}

void image_move(struct image *image, uint64_t start)
{
    uint64_t by = start - image->entry;
    size_t i;

    for (i = 0; i < image->num_functions; i++)
        image->functions[i].start += by;
    image->entry += by;
    image->sframe += by;
    image->code_start += by;
}

void image_close(struct image *image)
{
    free(image->functions);
    free(image->seen);
    if (image->elf != NULL)
        elf_end(image->elf);
    if (image->fd >= 0)
        close(image->fd);
}

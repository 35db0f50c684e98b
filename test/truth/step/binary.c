/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* ELF files are read as the tools of port/host do: their names begin with image_, those of here with binary_. */
#include "port/host/common/abi.c"
#include "port/host/common/image.c"
#include "binary.h"

static int by_start(const void *a, const void *b)
{
    const struct function *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->size > y->size ? -1 : x->size < y->size;
}

/* An image_symbol_fn. */
static void take_function(void *ctx, const GElf_Sym *sym, const char *name)
{
    struct binary *binary = ctx;

    if (GELF_ST_TYPE(sym->st_info) != STT_FUNC || sym->st_shndx == 0)
        return;
    binary->functions = grow(binary->functions, binary->num_functions, sizeof *binary->functions);
    binary->functions[binary->num_functions++] = (struct function){sym->st_value, sym->st_size, name};
}

/* The strings of .comment, joined. */
static void take_comment(struct binary *binary, struct image *elf)
{
    struct section *s = image_section(elf, ".comment");
    size_t i;

    if (s == NULL || !image_load(elf, s))
        return;
    for (i = 0; i < s->size && i < sizeof binary->compiler - 1; i++)
        binary->compiler[i] = (char)(s->bytes[i] != 0 ? s->bytes[i] : ';');
}

static bool take_code(struct binary *binary, struct image *elf)
{
    size_t count, size, i;
    GElf_Phdr header;
    const char *file = elf_rawfile(elf->elf, &size);

    if (file == NULL || elf_getphdrnum(elf->elf, &count) != 0)
        return false;
    for (i = 0; i < count; i++) {
        if (gelf_getphdr(elf->elf, (int)i, &header) == NULL)
            return false;
        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || header.p_offset + header.p_filesz > size)
            continue;
        binary->code = (const uint8_t *)file + header.p_offset;
        binary->code_start = header.p_vaddr;
        binary->code_size = header.p_filesz;
        binary->seen = zeroed((size_t)header.p_filesz / 8 + 1, 1);
    }
    return binary->seen != NULL;
}

bool binary_open(struct binary *binary, const char *path)
{
    struct image *elf = zeroed(1, sizeof *elf);
    const struct section *sframe;

    memset(binary, 0, sizeof *binary);
    binary->elf = elf;
    if (!image_open(elf, path) || !image_each_symbol(elf, SHT_SYMTAB, take_function, binary) ||
        binary->num_functions == 0 || (sframe = image_tables(elf)) == NULL || !take_code(binary, elf))
        return false;
    qsort(binary->functions, binary->num_functions, sizeof *binary->functions, by_start);
    take_comment(binary, elf);
    binary->entry = elf->header.e_entry;
    binary->sframe = sframe->addr;
    binary->sframe_size = sframe->size;
    return sframe->size > 0;
}

void binary_move(struct binary *binary, uint64_t start)
{
    uint64_t by = start - binary->entry;
    size_t i;

    for (i = 0; i < binary->num_functions; i++)
        binary->functions[i].start += by;
    binary->entry += by;
    binary->sframe += by;
    binary->code_start += by;
}

void binary_close(struct binary *binary)
{
    free(binary->functions);
    free(binary->seen);
    if (binary->elf != NULL)
        image_close(binary->elf);
    free(binary->elf);
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Names of functions from the program's own ELF file. Its symbols (.symtab) are not loaded, so the file is mapped,
 * once. Each name is searched for from start to end. The file is trusted: it is the running program.
 */
#include "sfu_linux.h"
#include "cpu.h"

#if UINTPTR_MAX > 0xffffffff
typedef sfu_addr elf_word;
#else
typedef uint32_t elf_word;
#endif

struct ehdr { /* Elf64_Ehdr, Elf32_Ehdr */
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version;
    elf_word entry, phoff, shoff;
    uint32_t flags;
    uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
struct shdr { /* Elf64_Shdr, Elf32_Shdr */
    uint32_t name, type;
    elf_word flags, addr, offset, size;
    uint32_t link, info;
    elf_word addralign, entsize;
};
#if UINTPTR_MAX > 0xffffffff
struct sym { /* Elf64_Sym */
    uint32_t name;
    uint8_t info, other;
    uint16_t shndx;
    sfu_addr value, size;
};
#else
struct sym { /* Elf32_Sym */
    uint32_t name, value, size;
    uint8_t info, other;
    uint16_t shndx;
};
#endif
enum { SHT_SYMTAB = 2, STT_FUNC = 2, SEEK_END = 2, PROT_READ = 1, MAP_PRIVATE = 2 };

static const uint8_t *map(long fd, long size)
{
    long args[6] = {0, size, PROT_READ, MAP_PRIVATE, fd, 0};
    long at;

#ifdef CALL_MMAP_BY_POINTER
    at = sfu_linux_call(CALL_MMAP, (long)args, 0, 0, 0, 0, 0);
#else
    at = sfu_linux_call(CALL_MMAP, args[0], args[1], args[2], args[3], args[4], args[5]);
#endif
    return at < 0 && at >= -4095 ? NULL : (const uint8_t *)at;
}

/* How many bytes the file FD has, or less than 1. */
static long size_of(long fd)
{
#if UINTPTR_MAX > 0xffffffff
    return sfu_linux_call(CALL_LSEEK, fd, 0, SEEK_END, 0, 0, 0);
#else
    int64_t size = 0; /* _llseek writes it there */
    long code = sfu_linux_call(CALL_LSEEK, fd, 0, 0, (long)&size, SEEK_END, 0);

    return code == 0 && size <= INT32_MAX ? (long)size : -1;
#endif
}

/* The file. The first call maps it. NULL: that has failed. */
static const uint8_t *file(void)
{
    static const uint8_t *mapped;
    static bool tried;
    long fd, size;

    if (!tried) {
        tried = true;
        fd = sfu_linux_call(CALL_OPENAT, AT_FDCWD, (long)"/proc/self/exe", O_CLOEXEC, 0, 0, 0);
        if (fd >= 0) {
            size = size_of(fd);
            mapped = size > 0 ? map(fd, size) : NULL;
            sfu_linux_call(CALL_CLOSE, fd, 0, 0, 0, 0, 0);
        }
    }
    return mapped;
}

/* The function that contains ADDR, a link-time address. */
static const struct sym *find(const struct sym *syms, sfu_addr num, sfu_addr addr)
{
    sfu_addr i;

    for (i = 0; i < num; i++)
        if ((syms[i].info & 15) == STT_FUNC && addr - syms[i].value < syms[i].size)
            return &syms[i];
    return NULL;
}

const char *sfu_linux_symbol(void *ctx, sfu_addr addr, sfu_addr *offset)
{
    const struct sfu_linux *self = (const struct sfu_linux *)ctx;
    const uint8_t *elf = file();
    const struct shdr *sections;
    unsigned i, num;

    if (elf == NULL)
        return NULL;
    sections = (const struct shdr *)(const void *)(elf + ((const struct ehdr *)(const void *)elf)->shoff);
    num = ((const struct ehdr *)(const void *)elf)->shnum;
    for (i = 0; i < num; i++) {
        const struct shdr *table = &sections[i];
        const struct sym *sym;

        if (table->type != SHT_SYMTAB)
            continue;
        sym = find((const struct sym *)(const void *)(elf + table->offset), table->size / sizeof *sym,
                   addr - self->slide);
        if (sym != NULL) {
            *offset = addr - self->slide - sym->value;
            return (const char *)elf + sections[table->link].offset + sym->name;
        }
    }
    return NULL;
}

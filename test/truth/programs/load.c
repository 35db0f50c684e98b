/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "elf_types.h"
#include "parts.h"

enum { ROOM = 1 << 18 };

#ifdef __i386__ /* the addend is in the word */
typedef Elf32_Rel Elf_Relocation;
enum { RELOCATIONS = SHT_REL };
#define SYMBOL_OF ELF32_R_SYM

static uintptr_t addend(const Elf_Relocation *relocation, const uintptr_t *word)
{
    uint32_t type = ELF32_R_TYPE(relocation->r_info);

    return type == R_386_JMP_SLOT || type == R_386_GLOB_DAT ? 0 : *word;
}
#else
typedef Elf64_Rela Elf_Relocation;
enum { RELOCATIONS = SHT_RELA };
#define SYMBOL_OF ELF64_R_SYM

static uintptr_t addend(const Elf_Relocation *relocation, const uintptr_t *word)
{
    (void)word;
    return (uintptr_t)relocation->r_addend;
}
#endif

void *memcpy(void *to, const void *from, size_t len); /* port/linux/start.c */

static Elf_Shdr *sections(void *file)
{
    return (Elf_Shdr *)((uintptr_t)file + ((Elf_Ehdr *)file)->e_shoff);
}

static void *in_file(void *file, uint64_t offset)
{
    return (char *)file + (size_t)offset;
}

uint64_t load_symbol(const struct loaded *loaded, const char *name)
{
    Elf_Shdr *s = sections(loaded->file);

    for (unsigned i = 0; i < ((Elf_Ehdr *)loaded->file)->e_shnum; i++) {
        const Elf_Sym *symbols = in_file(loaded->file, s[i].sh_offset);
        const char *names = in_file(loaded->file, s[s[i].sh_link].sh_offset);
        if (s[i].sh_type != SHT_SYMTAB)
            continue;
        for (uint64_t n = 0; n < s[i].sh_size / sizeof(Elf_Sym); n++)
            if (same_text(names + symbols[n].st_name, name))
                return symbols[n].st_value + loaded->slide;
    }
    return 0;
}

#if defined(__x86_64__) || defined(__i386__)

/* Binds the PLT lazily, so that all of its code runs: an entry pushes its number and goes on to the first entry,
 * which pushes GOT[1] and jumps to GOT[2], the resolver. GOT[1] holds what the numbers mean; nothing is ever bound. */
#ifdef __x86_64__
#define WORD "8"
#define RESOLVE                                                                                                    \
    "    pop %r11\n.cfi_def_cfa_offset 16\n    pop %rax\n.cfi_def_cfa_offset 8\n    jmp *(%r11, %rax, 8)\n"
#else /* the number is that of a byte in a table of eight bytes for each entry */
#define WORD "4"
#define RESOLVE                                                                                                    \
    "    pop %ecx\n.cfi_def_cfa_offset 8\n    pop %eax\n.cfi_def_cfa_offset 4\n    shr $1, %eax\n"                 \
    "    jmp *(%ecx, %eax)\n"
#endif
__asm__(".pushsection .text\n"
        ".type p_resolver, @function\n"
        "p_resolver:\n"
        ".cfi_startproc\n"
        ".cfi_def_cfa_offset 3 * " WORD "\n" RESOLVE ".cfi_endproc\n"
        ".size p_resolver, . - p_resolver\n"
        ".popsection");
void p_resolver(void);

static void bind_lazily(uintptr_t slide, uintptr_t *got, uintptr_t *slot, uintptr_t value)
{
    static uintptr_t functions[2][8]; /* of the two libraries that are loaded */
    static unsigned libraries, n;

    if (got[2] == 0) {
        got[1] = (uintptr_t)functions[libraries++ % 2];
        got[2] = (uintptr_t)p_resolver;
        n = 0;
    }
    ((uintptr_t *)got[1])[n++ % 8] = value;
    *slot += slide; /* which is where the entry goes on */
}

#else

static void bind_lazily(uintptr_t slide, uintptr_t *got, uintptr_t *slot, uintptr_t value)
{
    (void)slide, (void)got;
    *slot = value;
}

#endif

/* Relocations of a shared library that refers to itself only: each is a word that an address belongs in. */
static void relocate_library(void *file, uintptr_t slide)
{
    Elf_Shdr *s = sections(file);
    const char *names = in_file(file, s[((Elf_Ehdr *)file)->e_shstrndx].sh_offset);

    for (unsigned i = 0; i < ((Elf_Ehdr *)file)->e_shnum; i++) {
        const Elf_Relocation *relocation = in_file(file, s[i].sh_offset);
        const Elf_Sym *symbols = in_file(file, s[s[i].sh_link].sh_offset);
        if (s[i].sh_type != RELOCATIONS)
            continue;
        for (uint64_t n = 0; n < s[i].sh_size / sizeof(*relocation); n++) {
            uintptr_t symbol = SYMBOL_OF(relocation[n].r_info);
            uintptr_t *word = (uintptr_t *)(slide + relocation[n].r_offset);
            uintptr_t value = slide + (symbol != 0 ? symbols[symbol].st_value : 0) + addend(&relocation[n], word);
            if (same_text(names + s[i].sh_name, ".rela.plt") || same_text(names + s[i].sh_name, ".rel.plt"))
                bind_lazily(slide, (uintptr_t *)(slide + s[s[i].sh_info].sh_addr), word, value);
            else
                *word = value;
        }
    }
}

int load_library(struct loaded *loaded, const char *path)
{
    unsigned char *room = os_map_code(ROOM);
    Elf_Ehdr *e = loaded->file = os_map_file(path);
    const Elf_Phdr *p;

    if (e == NULL || room == NULL)
        return -1;
    p = in_file(e, e->e_phoff);
    for (unsigned i = 0; i < e->e_phnum; i++) {
        if (p[i].p_type != PT_LOAD)
            continue;
        if (p[i].p_vaddr + p[i].p_memsz > ROOM)
            return -1;
        memcpy(room + p[i].p_vaddr, in_file(e, p[i].p_offset), p[i].p_filesz);
    }
    loaded->slide = (uintptr_t)room;
    loaded->phdrs = room + e->e_phoff;
    loaded->num_phdrs = e->e_phnum;
    relocate_library(e, (uintptr_t)loaded->slide);
    os_sync_code(loaded->slide, loaded->slide + ROOM);
    return 0;
}

#ifndef __i386__

/* Sets sh_addr of each section that is loaded, the last one lowest, and copies it there. */
static int place_sections(void *file)
{
    Elf_Shdr *s = sections(file);
    unsigned char *room = os_map_code(ROOM);
    uint64_t at = 0;

    if (room == NULL)
        return -1;
    for (unsigned i = ((Elf_Ehdr *)file)->e_shnum; i-- > 1;) {
        if (!(s[i].sh_flags & SHF_ALLOC) || s[i].sh_type == SHT_NOBITS)
            continue;
        at = (at + 63) & ~(uint64_t)63;
        if (at + s[i].sh_size > ROOM)
            return -1;
        memcpy(room + at, in_file(file, s[i].sh_offset), s[i].sh_size);
        s[i].sh_addr = (uintptr_t)room + at;
        at += s[i].sh_size;
    }
    return 0;
}

static int apply(uint32_t type, uint64_t place, uint64_t value)
{
    uint32_t *word = (uint32_t *)(uintptr_t)place;
    uint64_t relative = value - place;

    switch (type) {
#if defined(__x86_64__)
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        *word = (uint32_t)relative;
        return 0;
    case R_X86_64_PC64:
#elif defined(__aarch64__)
    case R_AARCH64_CALL26: { /* instructions are little-endian in both byte orders */
        unsigned char *b = (unsigned char *)word;
        uint32_t n = (uint32_t)relative >> 2 & 0x3ffffff;
        b[0] = (unsigned char)n, b[1] = (unsigned char)(n >> 8), b[2] = (unsigned char)(n >> 16);
        b[3] = (unsigned char)((b[3] & 0xfc) | n >> 24);
        return 0;
    }
    case R_AARCH64_PREL32:
        *word = (uint32_t)relative;
        return 0;
    case R_AARCH64_PREL64:
#elif defined(__s390x__)
    case R_390_PLT32DBL:
    case R_390_PC32DBL:
        *word = (uint32_t)(relative >> 1);
        return 0;
    case R_390_PC32:
        *word = (uint32_t)relative;
        return 0;
    case R_390_PC64:
#endif
        memcpy(word, &relative, 8); /* may be unaligned */
        return 0;
    default:
        return -1;
    }
}

static int relocate_object(void *file, const Elf_Shdr *relocations)
{
    Elf_Shdr *s = sections(file);
    const Elf64_Rela *rela = in_file(file, relocations->sh_offset);
    const Elf_Sym *symbols = in_file(file, s[relocations->sh_link].sh_offset);
    uint64_t base = s[relocations->sh_info].sh_addr;

    if (base == 0)
        return 0;
    for (uint64_t n = 0; n < relocations->sh_size / sizeof(*rela); n++)
        if (apply((uint32_t)ELF64_R_TYPE(rela[n].r_info), base + rela[n].r_offset,
                  symbols[ELF64_R_SYM(rela[n].r_info)].st_value + (uint64_t)rela[n].r_addend) != 0)
            return -1;
    return 0;
}

int load_object(struct loaded *loaded, const char *path)
{
    Elf_Ehdr *e = loaded->file = os_map_file(path);
    const char *names;
    Elf_Shdr *s;

    if (e == NULL || place_sections(e) != 0)
        return -1;
    s = sections(e);
    names = in_file(e, s[e->e_shstrndx].sh_offset);
    for (unsigned i = 0; i < e->e_shnum; i++) {
        Elf_Sym *symbols = in_file(e, s[i].sh_offset);
        for (uint64_t n = 0; s[i].sh_type == SHT_SYMTAB && n < s[i].sh_size / sizeof(Elf_Sym); n++)
            if (symbols[n].st_shndx != SHN_UNDEF && symbols[n].st_shndx < SHN_LORESERVE)
                symbols[n].st_value += s[symbols[n].st_shndx].sh_addr;
        if (same_text(names + s[i].sh_name, ".sframe")) {
            loaded->sframe = (void *)(uintptr_t)s[i].sh_addr;
            loaded->sframe_size = s[i].sh_size;
        }
    }
    for (unsigned i = 0; i < e->e_shnum; i++) {
        if (s[i].sh_type == SHT_RELA && relocate_object(e, &s[i]) != 0)
            return -1;
        os_sync_code(s[i].sh_addr, s[i].sh_addr != 0 ? s[i].sh_addr + s[i].sh_size : 0);
    }
    return 0;
}

#endif

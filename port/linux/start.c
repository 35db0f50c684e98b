/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What start files and libc would bring. start.S comes here with the stack that the kernel made.
 */
#include "sfu_linux.h"
#include "cpu.h"

enum {
    AT_PHDR = 3,
    AT_PHNUM = 5,
    PT_DYNAMIC = 2,
    PT_INTERP = 3,
    DT_RELA = 7,
    DT_RELASZ = 8,
    DT_REL = 17,
    DT_RELSZ = 18,
    DT_RELRSZ = 35,
    DT_RELR = 36
};

enum { WORD = sizeof(uintptr_t) };

/* Adds SLIDE to the words that SIZE bytes of DT_RELR name (-z pack-relative-relocs). An even entry is the address of a
 * word. An odd one is a bit for each of the 63 or 31 words behind the last one that an entry could name. */
static void relocate_packed(const uintptr_t *relr, uintptr_t size, uintptr_t slide)
{
    uintptr_t *next = NULL, *word;

    for (; size >= WORD; size -= WORD, relr++) {
        uintptr_t bits = *relr >> 1;

        if ((*relr & 1) == 0) {
            next = (uintptr_t *)(*relr + slide);
            *next++ += slide;
            continue;
        }
        for (word = next; bits != 0; bits >>= 1, word++)
            if ((bits & 1) != 0)
                *word += slide;
        next += 8 * WORD - 1;
    }
}

static bool is_relative(uintptr_t info)
{
    return (info & (WORD == 8 ? 0xffffffff : 0xff)) == R_RELATIVE;
}

/* 32-bit x86 has no addends: the word itself holds one. */
static void relocate_words(const uintptr_t *rel, uintptr_t size, uintptr_t slide)
{
    for (; size >= 2 * WORD; size -= 2 * WORD, rel += 2) /* offset, info */
        if (is_relative(rel[1]))
            *(uintptr_t *)(rel[0] + slide) += slide;
}

/* A static-pie relocates itself. Until then nothing here may need an address from a table. */
static void relocate(const uintptr_t *dynamic, uintptr_t slide)
{
    const uintptr_t *rela = NULL, *rel = NULL, *relr = NULL;
    uintptr_t size = 0, words = 0, packed = 0;

    for (; dynamic[0] != 0; dynamic += 2) {
        if (dynamic[0] == DT_RELA)
            rela = (const uintptr_t *)(dynamic[1] + slide);
        if (dynamic[0] == DT_RELASZ)
            size = dynamic[1];
        if (dynamic[0] == DT_REL)
            rel = (const uintptr_t *)(dynamic[1] + slide);
        if (dynamic[0] == DT_RELSZ)
            words = dynamic[1];
        if (dynamic[0] == DT_RELR)
            relr = (const uintptr_t *)(dynamic[1] + slide);
        if (dynamic[0] == DT_RELRSZ)
            packed = dynamic[1];
    }
    if (relr != NULL)
        relocate_packed(relr, packed, slide);
    if (rel != NULL)
        relocate_words(rel, words, slide);
    for (; rela != NULL && size >= 3 * WORD; size -= 3 * WORD, rela += 3) /* offset, info, addend */
        if (is_relative(rela[1]))
            *(uintptr_t *)(rela[0] + slide) = rela[2] + slide;
}

/* A loader (PT_INTERP) has done all that already. */
static void relocate_self(const uintptr_t *auxv)
{
    const struct phdr *phdrs = NULL;
    const uintptr_t *dynamic = NULL;
    struct sfu_section unused;
    uint64_t num = 0;
    sfu_addr slide;

    for (; auxv[0] != 0; auxv += 2) {
        if (auxv[0] == AT_PHDR)
            phdrs = (const struct phdr *)auxv[1];
        if (auxv[0] == AT_PHNUM)
            num = auxv[1];
    }
    sfu_linux_find(&unused, phdrs, num, &slide);
    for (; num > 0; num--, phdrs++) {
        if (phdrs->type == PT_DYNAMIC)
            dynamic = (const uintptr_t *)(uintptr_t)(phdrs->vaddr + slide);
        if (phdrs->type == PT_INTERP)
            return;
    }
    if (slide != 0 && dynamic != NULL)
        relocate(dynamic, (uintptr_t)slide);
}

/* STACK: argc, the arguments, NULL, the environment, NULL, the auxiliary vector. */
__attribute__((noreturn, used)) void sfu_linux_start(uintptr_t *stack);
void sfu_linux_start(uintptr_t *stack)
{
    int argc = (int)stack[0];
    char **argv = (char **)(void *)(stack + 1);
    uintptr_t *auxv = stack + argc + 2;

    while (*auxv++ != 0)
        ;
    relocate_self(auxv);
    sfu_linux_exit(sfu_linux_main(argc, argv, auxv)); /* @start */
}

/* Compilers call these four on their own. Volatile: the loops must not become such calls. */
__attribute__((used)) void *memcpy(void *to, const void *from, size_t len);
void *memcpy(void *to, const void *from, size_t len)
{
    volatile uint8_t *t = (volatile uint8_t *)to;
    const uint8_t *f = (const uint8_t *)from;

    while (len-- > 0)
        *t++ = *f++;
    return to;
}

__attribute__((used)) void *memmove(void *to, const void *from, size_t len);
void *memmove(void *to, const void *from, size_t len)
{
    volatile uint8_t *t = (volatile uint8_t *)to;
    const uint8_t *f = (const uint8_t *)from;

    if ((uintptr_t)to <= (uintptr_t)from)
        return memcpy(to, from, len);
    while (len-- > 0)
        t[len] = f[len];
    return to;
}

__attribute__((used)) void *memset(void *to, int value, size_t len);
void *memset(void *to, int value, size_t len)
{
    volatile uint8_t *t = (volatile uint8_t *)to;

    while (len-- > 0)
        *t++ = (uint8_t)value;
    return to;
}

__attribute__((used)) int memcmp(const void *a, const void *b, size_t len);
int memcmp(const void *a, const void *b, size_t len)
{
    const volatile uint8_t *p = (const volatile uint8_t *)a;
    const uint8_t *q = (const uint8_t *)b;

    for (; len > 0; len--, p++, q++)
        if (*p != *q)
            return *p < *q ? -1 : 1;
    return 0;
}

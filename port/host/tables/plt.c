/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * PLTs for which the linker has written no CFI: lld's, mold's for i386, and those of GNU ld for aarch64, s390x and
 * RISC-V. Their instructions are few: what pushes is counted, what does not is known, and anything else is refused.
 *
 * The reader of machine code (port/host/code) sees no way into them: they are entered through addresses that only the
 * dynamic linker writes, and the first one by jumps that have pushed a word. Without this file, images have no rows
 * there in `plts` and `trampolines` of port/host/test/gen.py and in `PLT` of riscv.py.
 */
#include "cfi.h"

#include <string.h>

bool plt_is(const struct section *section)
{
    return strncmp(section->name, ".plt", 4) == 0 || strncmp(section->name, ".iplt", 5) == 0;
}

/* A row at OFFSET of PLT whose CFA is SP + CFA, and with nothing saved but what a call has. */
static struct cfi_row plain_row(const struct image *image, const struct section *plt, uint64_t offset, int32_t cfa)
{
    const struct registers *r = image->registers;
    struct cfi_row row;

    memset(&row, 0, sizeof row);
    row.start = plt->addr + offset;
    row.kind = CFI_RULES;
    row.cfa = (struct sfu_rule){cfa, r->sp << RULE_NUMBER | RULE_REGISTER};
    row.fp = (struct sfu_rule){0, r->fp << RULE_NUMBER | RULE_REGISTER};
    row.ra = r->link ? (struct sfu_rule){0, r->ra << RULE_NUMBER | RULE_REGISTER}
                     : (struct sfu_rule){-(int32_t)r->word, RULE_DEREFERENCE};
    return row;
}

/* ---- x86_64, i386 ---------------------------------------------------------------------------------------------- */

/* An instruction: its first bytes, how many it has, and what it does. */
struct x86 {
    uint8_t bytes[4];
    uint8_t known, size, push, jump;
};

static const struct x86 x86[] = {
    {{0xf3, 0x0f, 0x1e, 0xfa}, 4, 4, 0, 0}, /* endbr64 */
    {{0xff, 0x35}, 2, 6, 1, 0},             /* push GOT+8(%rip); i386: push GOT+4 */
    {{0xff, 0x25}, 2, 6, 0, 1},             /* jmp *GOT+n(%rip); i386: jmp *GOT+n */
    {{0xf2, 0xff, 0x25}, 3, 7, 0, 1},       /* bnd jmp *GOT+n(%rip) */
    {{0x68}, 1, 5, 1, 0},                   /* push $n */
    {{0xe9}, 1, 5, 0, 1},                   /* jmp PLT0 */
    {{0xf2, 0xe9}, 2, 6, 0, 1},             /* bnd jmp PLT0 */
    {{0x0f, 0x1f, 0x00}, 3, 3, 0, 0},       /* nops */
    {{0x0f, 0x1f, 0x40}, 3, 4, 0, 0},
    {{0x0f, 0x1f, 0x44}, 3, 5, 0, 0},
    {{0x66, 0x0f, 0x1f, 0x44}, 4, 6, 0, 0},
    {{0x66, 0x90}, 2, 2, 0, 0},
    {{0x90}, 1, 1, 0, 0},
    {{0xcc}, 1, 1, 0, 0},
};

/* Those of i386 alone. mold's entries leave a number in ecx, which the first one pushes. */
static const struct x86 i386[] = {
    {{0xf3, 0x0f, 0x1e, 0xfb}, 4, 4, 0, 0}, /* endbr32 */
    {{0xff, 0xb3}, 2, 6, 1, 0},             /* push 4(%ebx) */
    {{0xff, 0xa3}, 2, 6, 0, 1},             /* jmp *n(%ebx) */
    {{0x51}, 1, 1, 1, 0},                   /* push %ecx */
    {{0xb9}, 1, 5, 0, 0},                   /* mov $n, %ecx */
    {{0x8d, 0x8b}, 2, 6, 0, 0},             /* lea GOT(%ebx), %ecx */
    {{0xff, 0x31}, 2, 2, 1, 0},             /* push (%ecx) */
    {{0xff, 0x61, 0x04}, 3, 3, 0, 1},       /* jmp *4(%ecx) */
};

/* The one of NUM instructions of LIST that is at P, LEFT bytes in front of the end; or NULL. */
static const struct x86 *find_x86(const struct x86 *list, size_t num, const uint8_t *p, uint64_t left)
{
    size_t i;

    for (i = 0; i < num; i++)
        if (list[i].size <= left && memcmp(p, list[i].bytes, list[i].known) == 0)
            return &list[i];
    return NULL;
}

static const struct x86 *decode_x86(const struct image *image, const uint8_t *p, uint64_t left)
{
    const struct x86 *found = image->abi == SFU_I386 ? find_x86(i386, sizeof i386 / sizeof i386[0], p, left) : NULL;

    return found != NULL ? found : find_x86(x86, sizeof x86 / sizeof x86[0], p, left);
}

/* Whether the others jump to the first entry of PLT with one more word on the stack: it begins with `push`. */
static bool has_x86_head(const struct image *image, const struct section *plt)
{
    return plt->size >= 2 && (memcmp(plt->bytes, "\xff\x35", 2) == 0 ||
                              (image->abi == SFU_I386 && memcmp(plt->bytes, "\xff\xb3", 2) == 0));
}

/* Entries are blocks of 16 bytes (in .plt.got 8, unless they begin with endbr); the first one may be what the others
 * jump to, with one more word on the stack. Gives the rows if ROW is not NULL. */
static bool x86_rows(const struct image *image, const struct section *plt, cfi_row_fn give, void *ctx)
{
    const bool tagged = plt->size > 0 && plt->bytes[0] == 0xf3;
    const uint64_t block = strcmp(plt->name, ".plt.got") == 0 && !tagged ? 8 : 16;
    const int32_t word = image->registers->word;
    const bool head = has_x86_head(image, plt);
    struct cfi_row row = plain_row(image, plt, 0, head ? 2 * word : word);
    uint64_t offset = 0;

    row.by_pc = !head;
    while (offset < plt->size) {
        const struct x86 *x = decode_x86(image, plt->bytes + offset, plt->size - offset);
        int32_t cfa;

        if (x == NULL || offset % block + x->size > block) /* one across two blocks: this is no such PLT */
            return false;
        offset += x->size;
        cfa = offset % block == 0 ? word : row.cfa.offset + word * x->push;
        row.end = plt->addr + offset;
        if (cfa == row.cfa.offset)
            continue;
        if (give != NULL)
            give(ctx, &row);
        row = plain_row(image, plt, offset, cfa);
        row.by_pc = !head || offset >= block;
    }
    if (give != NULL && row.start < plt->addr + offset) {
        row.end = plt->addr + offset;
        give(ctx, &row);
    }
    return true;
}

/* ---- aarch64 --------------------------------------------------------------------------------------------------- */

/* How far SP is below the CFA behind the instruction WORD of a PLT, in front of which that is CFA. Returns -1 if a PLT
 * has no such instruction. The first entry pushes x16 and x30, the trampoline of thread-local variables (TLSDESC) x2
 * and x3; both jump away with that. x30 stays what it is. */
static int32_t cfa_behind(uint32_t word, int32_t cfa)
{
    static const struct {
        uint32_t mask, word;
    } harmless[] = {
        {0xfffff01f, 0xd503201f}, /* nop and hints: bti c, autia1716 */
        {0x9f00001f, 0x90000010}, /* adrp x16 */
        {0xffc003ff, 0xf9400211}, /* ldr x17, [x16, #n] */
        {0xffc003ff, 0x91000210}, /* add x16, x16, #n */
        {0xffffffff, 0xdac11211}, /* autia x17, x16 */
        {0x9f00001e, 0x90000002}, /* adrp x2, adrp x3 */
        {0xffc003ff, 0xf9400042}, /* ldr x2, [x2, #n] */
        {0xffc003ff, 0x91000063}, /* add x3, x3, #n */
        {0xffffffff, 0x00000000},
    };
    size_t i;

    if (word == 0xa9bf7bf0 || word == 0xa9bf0fe2) /* stp x16, x30, [sp, #-16]!; stp x2, x3, [sp, #-16]! */
        return cfa == 0 ? 16 : -1;
    if (word == 0xd61f0220 || word == 0xd61f0040) /* br x17; br x2 */
        return 0;
    for (i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if ((word & harmless[i].mask) == harmless[i].word)
            return cfa;
    return -1;
}

static bool aarch64_rows(const struct image *image, const struct section *plt, cfi_row_fn give, void *ctx)
{
    struct cfi_row row = plain_row(image, plt, 0, 0);
    uint64_t offset;

    for (offset = 0; offset + 4 <= plt->size; offset += 4) {
        int32_t cfa = cfa_behind((uint32_t)load_number(plt->bytes + offset, 4, false), row.cfa.offset);

        if (cfa < 0)
            return false;
        if (cfa == row.cfa.offset)
            continue;
        row.end = plt->addr + offset + 4;
        if (give != NULL)
            give(ctx, &row);
        row = plain_row(image, plt, offset + 4, cfa);
    }
    row.end = plt->addr + plt->size;
    if (give != NULL && row.start < row.end)
        give(ctx, &row);
    return plt->size % 4 == 0;
}

/* ---- s390x ----------------------------------------------------------------------------------------------------- */

/* Blocks of 32 bytes. The first one saves r1 and jumps; the others load their target's address and jump. */
static bool s390x_rows(const struct image *image, const struct section *plt, cfi_row_fn give, void *ctx)
{
    static const uint8_t head[] = {0xe3, 0x10, 0xf0, 0x38, 0x00, 0x24, 0xc0, 0x10}, entry[] = {0xc0, 0x10};
    struct cfi_row row = plain_row(image, plt, 0, 160);
    uint64_t offset;

    if (plt->size % 32 != 0)
        return false;
    for (offset = 0; offset < plt->size; offset += 32) {
        const uint8_t *p = plt->bytes + offset;

        if (memcmp(p, entry, sizeof entry) != 0 && (offset > 0 || memcmp(p, head, sizeof head) != 0))
            return false;
    }
    row.end = plt->addr + plt->size;
    if (give != NULL)
        give(ctx, &row);
    return true;
}

/* ---- RISC-V ---------------------------------------------------------------------------------------------------- */

/* Whether an instruction of 4 bytes leaves SP, FP and RA as they are: auipc (lpad, too), additions and shifts, loads
 * and jalr, to another register. */
static bool is_riscv_harmless(uint32_t word)
{
    uint32_t opcode = word & 0x7f, rd = word >> 7 & 31;

    return (opcode == 0x17 || opcode == 0x13 || opcode == 0x33 || opcode == 0x03 || opcode == 0x67) && rd != 1 &&
           rd != 2 && rd != 8;
}

static bool riscv_rows(const struct image *image, const struct section *plt, cfi_row_fn give, void *ctx)
{
    struct cfi_row row = plain_row(image, plt, 0, 0);
    uint64_t offset;

    for (offset = 0; offset + 4 <= plt->size; offset += 4)
        if (!is_riscv_harmless((uint32_t)load_number(plt->bytes + offset, 4, false)))
            return false;
    row.end = plt->addr + plt->size;
    if (give != NULL && row.start < row.end)
        give(ctx, &row);
    return plt->size % 4 == 0;
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

static bool rows_of_plt(const struct image *image, const struct section *plt, cfi_row_fn give, void *ctx)
{
    if (image->abi == SFU_AMD64 || image->abi == SFU_I386)
        return x86_rows(image, plt, give, ctx);
    if (abi_is_riscv(image->abi))
        return riscv_rows(image, plt, give, ctx);
    if (abi_is_arm(image->abi))
        return false;
    return image->abi == SFU_S390X ? s390x_rows(image, plt, give, ctx) : aarch64_rows(image, plt, give, ctx);
}

bool plt_rows(struct image *image, const struct section *plt, cfi_row_fn row, void *ctx)
{
    /* The whole PLT is read before the first row is given, because an instruction at its end may refuse all of it. */
    if (plt->bytes == NULL || !rows_of_plt(image, plt, NULL, NULL))
        return false;
    return rows_of_plt(image, plt, row, ctx);
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "memory.h"
#include "common/image.h"

enum { ENTRY = 8, SMALL_ENTRY = 4 };

/* ---- Entries --------------------------------------------------------------------------------------------------- */

/* An entry of SIZE bytes, with the upper ones 0. */
static bool read_small_entry(const struct paging *p, uint64_t table, uint64_t index, unsigned size, uint64_t *entry)
{
    uint8_t bytes[ENTRY];

    if (table > UINT64_MAX - size * index - size || !p->read(p->ctx, table + size * index, bytes, size))
        return false;
    *entry = load_number(bytes, size, p->big);
    return true;
}

static bool read_page_entry(const struct paging *p, uint64_t table, uint64_t index, uint64_t *entry)
{
    return read_small_entry(p, table, index, ENTRY, entry);
}

/* Bits LOW and above it, up to below HIGH (at most 64). */
static uint64_t bits(unsigned low, unsigned high)
{
    return (high < 64 ? ((uint64_t)1 << high) - 1 : UINT64_MAX) & ~(((uint64_t)1 << low) - 1);
}

/* An entry for 2^SHIFT bytes, which maps ADDR to where ENTRY says, if that is not another table. */
static uint64_t page_at(uint64_t where, unsigned shift, uint64_t addr)
{
    return (where & ~bits(0, shift)) | (addr & bits(0, shift));
}

static uint64_t left_in(unsigned shift, uint64_t addr)
{
    return bits(0, shift) - (addr & bits(0, shift)) + 1;
}

/* From ADDR, which is below it, to the upper half: 2^WIDTH bytes. */
static uint64_t left_below_upper(unsigned width, uint64_t addr)
{
    return ~bits(0, width) - addr;
}

/* ---- x86_64 ---------------------------------------------------------------------------------------------------- */

enum { X86_PRESENT = 1, X86_LARGE = 0x80, X86_BITS = 9, X86_PAGE = 12 };

static bool translate_x86_64(const struct paging *p, uint64_t addr, uint64_t *physical, uint64_t *left)
{
    uint64_t table = p->root & bits(X86_PAGE, 52), entry;
    uint64_t above = addr & bits(p->width - 1, 64);
    unsigned shift;

    if (above != 0 && above != bits(p->width - 1, 64)) {
        *left = left_below_upper(p->width - 1, addr);
        return false;
    }
    for (shift = p->width - X86_BITS; shift >= X86_PAGE; shift -= X86_BITS) {
        bool large;

        *left = left_in(shift, addr);
        if (!read_page_entry(p, table, addr >> shift & bits(0, X86_BITS), &entry) || !(entry & X86_PRESENT))
            return false;
        large = (entry & X86_LARGE) != 0 && shift > X86_PAGE;
        if (large && shift > X86_PAGE + 2 * X86_BITS) /* reserved: no page is larger than 1 GiB */
            return false;
        table = entry & bits(X86_PAGE, 52);
        if (large || shift == X86_PAGE)
            break;
    }
    *physical = page_at(table, shift, addr);
    return true;
}

/* ---- i386 ------------------------------------------------------------------------------------------------------ */

enum { I386_WIDTH = 32, I386_PAE_WIDTH = 36, I386_BITS = 10, I386_LARGE = 22, I386_PAE_TOP = 30 };

/* Where a large page of 4 MiB is: bits 13 to 20 are those above 32 of its address. */
static uint64_t i386_large(uint64_t entry)
{
    return (entry & bits(I386_LARGE, 32)) | (entry & bits(13, 21)) << 19;
}

/* Two levels of entries of 4 bytes. Or, if WIDTH is that of PAE, three of 8 bytes: the first has 4 entries, and is
 * aligned to 32 bytes. */
static bool translate_i386(const struct paging *p, uint64_t addr, uint64_t *physical, uint64_t *left)
{
    const bool pae = p->width == I386_PAE_WIDTH;
    const unsigned step = pae ? X86_BITS : I386_BITS;
    uint64_t table = p->root & bits(pae ? 5 : X86_PAGE, 32), entry;
    unsigned shift;

    if (addr > UINT32_MAX) {
        *left = UINT64_MAX - addr + 1;
        return false;
    }
    for (shift = pae ? I386_PAE_TOP : I386_LARGE;; shift -= step) {
        const bool may_be_large = shift > X86_PAGE && shift < I386_PAE_TOP;

        *left = left_in(shift, addr);
        if (!read_small_entry(p, table, addr >> shift & bits(0, step), pae ? ENTRY : SMALL_ENTRY, &entry) ||
            !(entry & X86_PRESENT))
            return false;
        table = entry & bits(X86_PAGE, 52);
        if (may_be_large && (entry & X86_LARGE)) {
            table = pae ? table : i386_large(entry);
            break;
        }
        if (shift == X86_PAGE)
            break;
    }
    *physical = page_at(table, shift, addr);
    return true;
}

/* ---- aarch64 --------------------------------------------------------------------------------------------------- */

enum { ARM_VALID = 1, ARM_TABLE = 2 };

/* Where the entry leads. With pages of 64 KiB its bits 12 to 15 are those of the address from 48 up. */
static uint64_t arm_address(const struct paging *p, uint64_t entry)
{
    uint64_t high = p->page == 16 ? (entry & bits(12, 16)) << 36 : 0;

    return (entry & bits(p->page, 48)) | high;
}

/* The lowest bit of an address that the first table's index has. */
static unsigned arm_first_shift(const struct paging *p)
{
    unsigned step = p->page - 3;

    return p->page + step * ((p->width - p->page + step - 1) / step - 1);
}

/* Each half has a root of its own. */
static bool translate_aarch64(const struct paging *p, uint64_t addr, uint64_t *physical, uint64_t *left)
{
    unsigned step = p->page - 3, shift = arm_first_shift(p);
    uint64_t table = p->root & bits(6, 48), entry;

    if (p->lower ? addr > bits(0, p->width) : addr < ~bits(0, p->width)) {
        *left = p->lower ? UINT64_MAX - addr + 1 : left_below_upper(p->width, addr);
        return false;
    }
    addr &= bits(0, p->width);
    for (;; shift -= step) {
        *left = left_in(shift, addr);
        if (!read_page_entry(p, table, addr >> shift & bits(0, step), &entry) || !(entry & ARM_VALID) ||
            (p->page == 14 && (entry & bits(12, 14)) != 0)) /* which are 0 */
            return false;
        table = arm_address(p, entry);
        if (shift == p->page || !(entry & ARM_TABLE))
            break;
    }
    /* The last level has no blocks, and neither has one above 1 GiB (4 KiB), 32 MiB (16) or 4 TiB (64). */
    if ((shift == p->page) != ((entry & ARM_TABLE) != 0) || shift > p->page + 2 * step)
        return false;
    *physical = page_at(table, shift, addr);
    return true;
}

/* ---- s390x ----------------------------------------------------------------------------------------------------- */

enum {
    S390_LENGTH = 3,
    S390_TYPE_SHIFT = 2,
    S390_OFFSET_SHIFT = 6,
    S390_INVALID = 0x20, /* in entries of regions and segments; in an ASCE: real addresses */
    S390_LARGE = 0x400,  /* in them: no other table follows */
    S390_PAGE_INVALID = 0x400,
    S390_PAGE_ZERO = 0x800, /* must be 0 */
    S390_SEGMENT = 20,
    S390_BITS = 11,
    S390_PAGE = 12,
    S390_PREFIX_AREA = 8192
};

/* Prefixing: each CPU has its first 8 KiB to itself, so these change places with the area that its prefix register
 * names. */
static uint64_t absolute(const struct paging *p, uint64_t real)
{
    if (real < S390_PREFIX_AREA)
        return p->prefix + real;
    return real >= p->prefix && real - p->prefix < S390_PREFIX_AREA ? real - p->prefix : real;
}

static bool translate_page(const struct paging *p, uint64_t table, uint64_t addr, uint64_t *physical,
                           uint64_t *left)
{
    uint64_t entry;

    *left = left_in(S390_PAGE, addr);
    if (!read_page_entry(p, table, addr >> S390_PAGE & 255, &entry) || entry & (S390_PAGE_INVALID | S390_PAGE_ZERO))
        return false;
    *physical = page_at(entry, S390_PAGE, addr);
    return true;
}

/* Types of tables: 3 region first, 2 second, 1 third, 0 segments. An entry says which quarters of the next table there
 * are; the ASCE says where the first one ends. */
static bool translate_s390x(const struct paging *p, uint64_t addr, uint64_t *physical, uint64_t *left)
{
    unsigned type = p->root >> S390_TYPE_SHIFT & 3, shift = S390_SEGMENT + S390_BITS * type;
    uint64_t entry = p->root, first = 0;

    if (type < 3 && addr >> (shift + S390_BITS) != 0) {
        *left = UINT64_MAX - addr + 1;
        return false;
    }
    for (;; type--, shift -= S390_BITS) {
        uint64_t table = entry & bits(S390_PAGE, 64), index = addr >> shift & bits(0, S390_BITS);

        *left = left_in(shift, addr);
        if (index >> 9 < first || index >> 9 > (entry & S390_LENGTH) || !read_page_entry(p, table, index, &entry) ||
            entry & S390_INVALID || (entry >> S390_TYPE_SHIFT & 3) != type)
            return false;
        if (type <= 1 && entry & S390_LARGE) {
            *physical = page_at(entry, shift, addr);
            return true;
        }
        if (type == 0)
            return translate_page(p, entry & bits(S390_BITS, 64), addr, physical, left);
        first = entry >> S390_OFFSET_SHIFT & 3;
    }
}

/* Prefixing goes by pages. */
static bool translate_real(const struct paging *p, uint64_t addr, uint64_t *physical, uint64_t *left)
{
    *left = left_in(S390_PAGE, addr);
    *physical = absolute(p, addr);
    return true;
}

/* ---- RISC-V ---------------------------------------------------------------------------------------------------- */

enum {
    RISCV_VALID = 1,
    RISCV_READ = 2,
    RISCV_WRITE = 4,
    RISCV_EXECUTE = 8,
    RISCV_PAGE = 12,
    RISCV_NUMBER = 10, /* bits of an entry below the page's number */
    RISCV_NAPOT = 4    /* Svnapot: 2^4 pages with one entry each, which has this bit alone below the number */
};

static bool read_riscv_entry(const struct paging *p, uint64_t table, uint64_t index, uint64_t *entry)
{
    if (p->width != 32)
        return read_page_entry(p, table, index, entry) && (*entry & bits(54, 61)) == 0; /* reserved */
    return read_small_entry(p, table, index, SMALL_ENTRY, entry);
}

/* Where the entry of a page, or of a large one of 2^SHIFT bytes, leads. Bit 63: Svnapot, which only small pages
 * have. */
static bool riscv_leaf(uint64_t entry, unsigned shift, uint64_t addr, uint64_t *physical)
{
    uint64_t where = (entry & bits(RISCV_NUMBER, 54)) << (RISCV_PAGE - RISCV_NUMBER);

    if (entry >> 63 != 0) {
        if (shift != RISCV_PAGE || (entry >> RISCV_NUMBER & bits(0, RISCV_NAPOT)) != 1u << (RISCV_NAPOT - 1))
            return false;
        *physical = page_at(where, RISCV_PAGE + RISCV_NAPOT, addr);
        return true;
    }
    if ((entry & (RISCV_READ | RISCV_WRITE)) == RISCV_WRITE || (where & bits(0, shift)) != 0)
        return false;
    *physical = page_at(where, shift, addr);
    return true;
}

/* 2, 3, 4 or 5 levels, of 10 bits each in Sv32, else of 9. The bits above an address are those of its highest one. */
static bool translate_riscv(const struct paging *p, uint64_t addr, uint64_t *physical, uint64_t *left)
{
    unsigned step = p->width == 32 ? 10 : 9, shift = p->width - step;
    uint64_t table = p->root & bits(RISCV_PAGE, 56), entry, above = addr & bits(p->width - 1, 64);

    if (p->width == 32 ? addr > UINT32_MAX : above != 0 && above != bits(p->width - 1, 64)) {
        *left = p->width == 32 ? UINT64_MAX - addr + 1 : left_below_upper(p->width - 1, addr);
        return false;
    }
    for (;; shift -= step) {
        *left = left_in(shift, addr);
        if (!read_riscv_entry(p, table, addr >> shift & bits(0, step), &entry) || !(entry & RISCV_VALID))
            return false;
        if (entry & (RISCV_READ | RISCV_WRITE | RISCV_EXECUTE))
            return riscv_leaf(entry, shift, addr, physical);
        if (shift == RISCV_PAGE || entry >> 63 != 0)
            return false;
        table = (entry & bits(RISCV_NUMBER, 54)) << (RISCV_PAGE - RISCV_NUMBER);
    }
}

/* The mode, and the number of the first table's page. */
void paging_set_satp(struct paging *paging, uint64_t satp, unsigned word)
{
    static const uint8_t widths[] = {39, 48, 57};
    const uint64_t mode = satp >> 60;

    paging->kind = PAGING_OFF;
    if (word == 4 && satp >> 31 & 1) {
        paging->kind = PAGING_RISCV;
        paging->width = 32;
        paging->root = (satp & bits(0, 22)) << RISCV_PAGE;
    } else if (word == 8 && mode >= 8 && mode <= 10) {
        paging->kind = PAGING_RISCV;
        paging->width = widths[mode - 8];
        paging->root = (satp & bits(0, 44)) << RISCV_PAGE;
    }
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

/* The PSW says whether addresses are translated, and by which control register (z/Architecture, 3-37). */
static void set_s390x(struct paging *paging, const struct paging_registers *regs)
{
    static const uint8_t spaces[] = {1, 1, 7, 13}; /* primary, by access registers, secondary, home */
    uint64_t asce = regs->control[spaces[regs->psw_mask >> 46 & 3]];
    bool on = (regs->psw_mask >> 58 & 1) != 0 && !(asce & S390_INVALID);

    paging->kind = on ? PAGING_S390X : PAGING_OFF;
    paging->root = asce;
    paging->prefix = regs->prefix & bits(13, 31);
}

void paging_set(struct paging *paging, const struct paging_registers *regs)
{
    if (regs->has_x86_64) {
        paging->kind = regs->cr0 >> 31 & 1 ? PAGING_X86_64 : PAGING_OFF;
        paging->root = regs->cr3;
        paging->width = regs->cr4 >> 12 & 1 ? 57 : 48;
    }
    if (regs->has_i386) { /* CR0.PG, CR4.PAE */
        paging->kind = regs->cr0 >> 31 & 1 ? PAGING_I386 : PAGING_OFF;
        paging->root = regs->cr3;
        paging->width = regs->cr4 >> 5 & 1 ? I386_PAE_WIDTH : I386_WIDTH;
    }
    if (regs->has_s390x)
        set_s390x(paging, regs);
}

bool paging_root_fits(const struct paging *p)
{
    unsigned entries = p->kind == PAGING_AARCH64 ? p->width - arm_first_shift(p) : 0;

    /* Bit 0 of TTBR1 is no part of it. A table is at least aligned to 64 bytes. CR3 and an ASCE have flags below it. */
    if (p->kind == PAGING_RISCV)
        return (p->root & bits(0, RISCV_PAGE)) == 0;
    return p->kind != PAGING_AARCH64 || (p->root & bits(1, entries > 3 ? entries + 3 : 6)) == 0;
}

bool paging_translate(const struct paging *paging, uint64_t addr, uint64_t *physical, uint64_t *left)
{
    switch (paging->kind) {
    case PAGING_X86_64:
        return translate_x86_64(paging, addr, physical, left);
    case PAGING_I386:
        return translate_i386(paging, addr, physical, left);
    case PAGING_AARCH64:
        return translate_aarch64(paging, addr, physical, left);
    case PAGING_S390X:
        if (!translate_s390x(paging, addr, physical, left))
            return false;
        if (*left > left_in(S390_PAGE, addr))
            *left = left_in(S390_PAGE, addr);
        *physical = absolute(paging, *physical);
        return true;
    case PAGING_RISCV:
        return translate_riscv(paging, addr, physical, left);
    case PAGING_OFF:
    default:
        return translate_real(paging, addr, physical, left);
    }
}

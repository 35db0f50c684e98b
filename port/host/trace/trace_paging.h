/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Page tables of a machine: from virtual to physical addresses. Each table is read from what has been kept of the
 * machine, and not believed: a walk reads at most one entry of each level.
 */
#ifndef SFU_HOST_TRACE_PAGING_H
#define SFU_HOST_TRACE_PAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum paging_kind {
    PAGING_UNKNOWN,
    PAGING_OFF,     /* addresses are physical; on s390x real */
    PAGING_X86_64,  /* Intel's manual, volume 3, 4.5: 4 or 5 levels, pages of 4 KiB, 2 MiB and 1 GiB */
    PAGING_AARCH64, /* Arm's manual, D8: pages of 4, 16 and 64 KiB, and blocks */
    PAGING_S390X    /* z/Architecture, 3-40: segment and region tables, pages of 4 KiB, 1 MiB and 2 GiB */
};

/* Reads LEN bytes of physical memory. Returns false if not all of them are there. */
typedef bool (*paging_read_fn)(void *ctx, uint64_t physical, void *buffer, size_t len);

struct paging {
    enum paging_kind kind;
    uint64_t root;   /* x86_64: CR3; aarch64: TTBR1; s390x: the address-space-control element (ASCE) */
    unsigned page;   /* aarch64: bits of an address in a page: 12, 14 or 16 */
    unsigned width;  /* x86_64: bits of a virtual address, 48 or 57; aarch64: those of each half, 25 to 52 */
    bool lower;      /* aarch64: the root is TTBR0, which maps the lower half */
    uint64_t prefix; /* s390x: which 8 KiB of real addresses are exchanged with the first 8 KiB */
    bool big;        /* tables are big-endian */
    paging_read_fn read;
    void *ctx;
};

/* What a CPU's control registers say, as far as a dump has them. */
struct paging_registers {
    bool has_x86_64, has_s390x;
    uint64_t cr0, cr3, cr4;
    uint64_t psw_mask, prefix, control[16];
};

/* Sets kind, root, width and prefix of PAGING by REGS, if those are known. */
void paging_set(struct paging *paging, const struct paging_registers *regs);

/* Whether the root of PAGING is aligned as its kind, page and width need. */
bool paging_root_fits(const struct paging *paging);

/* Where virtual address ADDR is. *LEFT gets how many bytes, from ADDR on, have the same answer: up to the end of the
 * page, or of what one entry would map. It is at least 1, and ADDR + *LEFT - 1 fits. */
bool paging_translate(const struct paging *paging, uint64_t addr, uint64_t *physical, uint64_t *left);

#endif

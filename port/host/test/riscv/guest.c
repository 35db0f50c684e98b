/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A kernel for QEMU's RISC-V machine "virt", of 64 or 32 bits, that comes to a stop in a leaf function. With PAGING,
 * which is 32, 39, 48 or 57, it runs in S mode in the upper half, and its stack is behind tables of all levels: only
 * they lead there. guest.ld says where it is linked.
 */
#include "../guest.h"

#ifndef PAGING
#define ENTER "lla sp, stack_end\n"
#else
enum {
    LEVELS = PAGING == 32 ? 2 : (PAGING - 12) / 9,
    BITS = PAGING == 32 ? 10 : 9,
    VALID = 1,
    LEAF = 0xcf, /* valid, R, W, X, accessed, dirty */
    PAGE = 4096
};

#define STACK_AT ((word) - (1 << 20)) /* virtual */
#define PHYSICAL ((word)0x80000000)
static word tables[2 * LEVELS][PAGE / sizeof(word)] __attribute__((aligned(PAGE)));

/* Maps the page, or the large page of LEVEL (0: 4 KiB), at ADDR. FIRST_FREE: the first table that is free. Returns the
 * next one. All of this runs where it is loaded: addresses are relative to the PC. */
static word map(word (*all)[PAGE / sizeof(word)], word addr, word physical, int level, int first_free)
{
    word *table = all[0];
    int i;

    for (i = LEVELS - 1; i > level; i--) {
        word *entry = &table[addr >> (12 + BITS * i) & ((1 << BITS) - 1)];

        if (!(*entry & VALID))
            *entry = (word)all[first_free++] >> 12 << 10 | VALID;
        table = (word *)(*entry >> 10 << 12);
    }
    table[addr >> (12 + BITS * i) & ((1 << BITS) - 1)] = physical >> 12 << 10 | LEAF;
    return (word)first_free;
}

/* Returns satp. */
word set_up(void);
word set_up(void)
{
    word(*all)[PAGE / sizeof(word)] = tables, at, end, used = 1, mode;

    used = map(all, LINKED, PHYSICAL, PAGING == 32 ? 1 : 2, (int)used);
    __asm__("lla %0, stack\nlla %1, stack_end" : "=r"(at), "=r"(end));
    for (; at < end; at += PAGE)
        used = map(all, STACK_AT - (end - at), at, 0, (int)used);
    mode = PAGING == 32 ? (word)1 << 31 : (word)((PAGING - 39) / 9 + 8) << (8 * sizeof(word) - 4);
    return mode | (word)all >> 12;
}

#define STRING(x) #x
#define VALUE(x)  STRING(x)
/* M mode: all memory for S mode, satp, and then to the address that is linked. */
#define ENTER                                                                                                      \
    "lla sp, stack_end\ncall set_up\nli t0, -1\ncsrw pmpaddr0, t0\nli t0, 31\ncsrw pmpcfg0, t0\ncsrw satp, a0\n"   \
    "li t0, 1 << 11\ncsrs mstatus, t0\nli t0, 1 << 12\ncsrc mstatus, t0\nlla t1, 1f\nlla t2, image_start\n"        \
    "sub t1, t1, t2\nli t2, " VALUE(LINKED) "\nadd t1, t1, t2\ncsrw mepc, t1\nsfence.vma\nmret\n"                  \
                                            ".balign 4\n1: li sp, -(1 << 20)\n"
#endif

__asm__(".section .text.first, \"ax\"\n.globl _start\n_start: .cfi_startproc\n.cfi_undefined ra\n"
        ".option push\n.option norelax\n.option arch, +zicsr\n" ENTER ".option pop\ncall kernel_main\nnop\n"
        ".cfi_endproc\n.size _start, . - _start\n.type _start, %function\n"
        ".bss\n.balign 4096\n.globl stack, stack_end\nstack: .skip 16384\nstack_end:\n.text\n");

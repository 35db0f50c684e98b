/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A multiboot kernel of 32-bit x86 that comes to a stop in a leaf function. With PAGING, which is 32 or, for PAE, 36,
 * it runs at LINKED in the upper half, by a large page, and its stack is behind tables of all levels: only they lead
 * there. guest.ld says where it lies.
 */
#include "../guest.h"

#define STRING(x) #x
#define VALUE(x)  STRING(x)
#define OFFSET    "(" VALUE(LINKED) " - 0x100000)"
#define HEADER    ".balign 4\n.long 0x1badb002, 0, -0x1badb002\n"

#ifndef PAGING
#define ENTER  "mov $stack_end, %esp\n"
#define TABLES ""
#else
#if PAGING == 36
/* CR4: PAE. 2 MiB at 0 and at 0xc0000000; the last 2 MiB have a table, with the pages below 0xfff00000. */
#define CR4 "0x20"
#define TABLES                                                                                                     \
    ".balign 32\nroot: .long low - " OFFSET " + 1, 0, 0, 0, 0, 0, high - " OFFSET " + 1, 0\n"                      \
    ".balign 4096\nlow: .long 0x83, 0\n.skip 4088\n"                                                               \
    "high: .long 0x83, 0\n.skip 4080\n.long table - " OFFSET " + 3, 0\n"                                           \
    "table: .skip 8 * 0xfc\n" PAGE(0) PAGE(1) PAGE(2) PAGE(3) ".skip 8 * 0x100\n"
#define PAGE(n) ".long stack - " OFFSET " + 4096 * " #n " + 3, 0\n"
#else
/* CR4: PSE. 4 MiB at 0 and at 0xc0000000; the last 4 MiB have a table. */
#define CR4 "0x10"
#define TABLES                                                                                                     \
    ".balign 4096\nroot: .long 0x83\n.skip 4 * 767\n.long 0x83\n.skip 4 * 254\n.long table - " OFFSET " + 3\n"     \
    "table: .skip 4 * 0x2fc\n" PAGE(0) PAGE(1) PAGE(2) PAGE(3) ".skip 4 * 0x100\n"
#define PAGE(n) ".long stack - " OFFSET " + 4096 * " #n " + 3\n"
#endif
#define ENTER                                                                                                      \
    "mov $" CR4 ", %eax\nmov %eax, %cr4\nmov $root - " OFFSET ", %eax\nmov %eax, %cr3\n"                           \
    "mov $0x80000011, %eax\nmov %eax, %cr0\nmov $1f, %eax\njmp *%eax\n1: mov $0xfff00000, %esp\n"
#endif

__asm__(".section .text.first, \"ax\"\n" HEADER ".globl _start\n_start: .cfi_startproc\n.cfi_undefined eip\n" ENTER
        "call kernel_main\nnop\n.cfi_endproc\n.size _start, . - _start\n.type _start, %function\n.data\n" TABLES
        ".bss\n.balign 4096\n.globl stack, stack_end\nstack: .skip 16384\nstack_end:\n.text\n");

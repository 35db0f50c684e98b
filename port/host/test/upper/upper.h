/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * How the kernels of this folder are mapped. The command line of the compiler says:
 *
 *     LEVELS    of page tables
 *     LEAF      the level whose entries map the kernel: 0 for the smallest pages
 *     OFFSET    from physical to virtual addresses of the kernel
 *     STACK     the virtual address of the stacks
 *     aarch64: GRANULE, the bits of a page; VA_BITS, of a virtual address
 *     USER      where the code of a user program (user.c) is to be, USER_ENTRY where it begins: then the kernel runs
 *               what that calls it for
 */
#ifndef UPPER_H
#define UPPER_H

#define STACK_PAGES 4
#define USER_MEMORY (STACK_MEMORY + 0x90000) /* of the user's stack, which is one page */
#define USER_STACK  (USER + 0x100000)

#if defined(__x86_64__)
#define POOL          0x800000
#define STACK_MEMORY  0x600000
#define IDENTITY_LEAF 1
#define MAPPED        0x1000000
#elif defined(__aarch64__)
#define POOL          0x41000000
#define STACK_MEMORY  0x40800000
#define IDENTITY_LEAF 1
#define MAPPED        0x1000000
#else
#define POOL          0x800000
#define STACK_MEMORY  0x600000
#define IDENTITY_LEAF 0
#define MAPPED        0x1000000
#endif

#endif

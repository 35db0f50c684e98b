/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* For registers.c, registers.S and leaf.c. */
#ifndef REGISTERS_H
#define REGISTERS_H

/* Register N (DWARF number) holds PATTERN + N: no address that can be read. */
#if defined(__i386__) || (defined(__riscv) && __riscv_xlen == 32)
#define PATTERN 0xf2345600
#else
#define PATTERN 0x1234567800000000
#endif

#ifndef __ASSEMBLER__
#include "sfu_linux.h"

extern uintptr_t patterns[32]; /* as above; RISC-V: that of x0 is 0 */
extern uintptr_t test_sp, test_return;

#ifdef __i386__
#define IN_REGISTER __attribute__((regparm(1)))
#else
#define IN_REGISTER
#endif

/* Calls capture_leaf(CPU) with patterns in all registers but SP and those that the call needs. Sets test_sp to SP
 * inside of it, test_return to its return address. */
void test_capture(struct sfu_cpu *cpu);
void IN_REGISTER capture_leaf(struct sfu_cpu *cpu);

/* Reads from a pattern with patterns in all registers but SP, which is stored in test_sp, at this label. */
void test_fault(void);
extern char test_fault_at[];
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The layout of what exception_entry (boot.S) saves. */
#define TRAP_ESP  16
#define TRAP_EBP  20
#define TRAP_EIP  40
#define TRAP_SIZE 52

/* A page below 1 MiB in which the second CPU begins. */
#define SECOND_AT 0x8000

/* Selectors of segments: code, data, the tasks that meet a double fault and that handle it. */
#define CODE        8
#define DATA        16
#define FIRST_TASK  24
#define DOUBLE_TASK 32

/* Offsets in a task state segment. */
#define TSS_EIP    32
#define TSS_EFLAGS 36
#define TSS_EAX    40
#define TSS_CS     76

#define MACHINE_REL /* the ELF file's relocations have their addends in place */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The CPU pushes no SP when it interrupts the kernel: exception_entry computes r[4]. */
struct trap {
    uint32_t r[8]; /* by DWARF numbers: eax ecx edx ebx esp ebp esi edi */
    uint32_t vector, error;
    uint32_t pc, cs, eflags;
};
_Static_assert(offsetof(struct trap, r[4]) == TRAP_ESP, "boot.S");
_Static_assert(offsetof(struct trap, r[5]) == TRAP_EBP, "boot.S");
_Static_assert(offsetof(struct trap, pc) == TRAP_EIP, "boot.S");
_Static_assert(sizeof(struct trap) == TRAP_SIZE, "boot.S");

static inline uint8_t *machine_sp(void)
{
    uint8_t *sp;

    __asm__ volatile("mov %%esp, %0" : "=r"(sp));
    return sp;
}

/* Lets interrupts in. */
static inline void machine_enable(void)
{
    __asm__ volatile("sti");
}

/* The number of this CPU: that of its APIC. */
static inline unsigned machine_cpu(void)
{
    return *(volatile uint32_t *)(uintptr_t)0xfee00020u >> 24 & 3;
}
#endif

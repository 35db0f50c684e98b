/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The layout of what exception_entry (boot.S) saves. */
#define TRAP_RBP  48
#define TRAP_R8   64
#define TRAP_RIP  144
#define TRAP_RSP  168
#define TRAP_SIZE 184

/* A page below 1 MiB in which the second CPU begins. */
#define SECOND_AT 0x8000

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trap {
    uint64_t r[16]; /* by DWARF numbers: rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15 */
    uint64_t vector, error;
    uint64_t pc, cs, rflags, sp, ss;
};
_Static_assert(offsetof(struct trap, r[6]) == TRAP_RBP, "boot.S");
_Static_assert(offsetof(struct trap, pc) == TRAP_RIP, "boot.S");
_Static_assert(offsetof(struct trap, sp) == TRAP_RSP, "boot.S");
_Static_assert(sizeof(struct trap) == TRAP_SIZE, "boot.S");

static inline uint8_t *machine_sp(void)
{
    uint8_t *sp;

    __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
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

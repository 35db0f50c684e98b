/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The layout of what exception_entry (boot.S) saves. */
#define TRAP_X29    232
#define TRAP_SP     248
#define TRAP_PC     256
#define TRAP_RETURN 304
#define TRAP_SIZE   320

/* 32 bits of address by TTBR0, 4 KiB granule, write-back tables; nothing by TTBR1. */
#define MACHINE_TCR (32 | 0x3500 | 1 << 23)
/* So where a signed return address has its signature. */
#define MACHINE_PAC_MASK 0xff7fffff00000000

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trap {
    uint64_t r[32]; /* by DWARF numbers: x0 ... x30, sp */
    uint64_t pc, spsr, syndrome, address;
    uint64_t irq; /* 1: an interrupt */
    uint64_t unused;
    /* Where it returns to, written on the way out. At ERET, where SP is above all of this, an exception that comes
     * writes its own frame over the rest, but not over these before it returns. */
    uint64_t return_pc, return_sp;
};
_Static_assert(offsetof(struct trap, r[31]) == TRAP_SP, "boot.S");
_Static_assert(offsetof(struct trap, pc) == TRAP_PC, "boot.S");
_Static_assert(offsetof(struct trap, return_pc) == TRAP_RETURN, "boot.S");
_Static_assert(sizeof(struct trap) == TRAP_SIZE, "boot.S");

static inline uint8_t *machine_sp(void)
{
    uint8_t *sp;

    __asm__ volatile("mov %0, sp" : "=r"(sp));
    return sp;
}

/* Lets interrupts in. */
static inline void machine_enable(void)
{
    __asm__ volatile("msr daifclr, #2");
}

/* The number of this CPU in its cluster. */
static inline unsigned machine_cpu(void)
{
    uint64_t id;

    __asm__ volatile("mrs %0, mpidr_el1" : "=r"(id));
    return id & 3;
}
#endif

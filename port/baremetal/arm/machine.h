/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* 32-bit ARM of the A profile: A32 code, or T32 with -mthumb. The layout of what exception_entry (boot.S) saves. */
#define TRAP_SP     52
#define TRAP_LR     56
#define TRAP_PC     60
#define TRAP_CPSR   64
#define TRAP_REASON 68
#define TRAP_OUTER  72
#define TRAP_SIZE   96
#ifdef __thumb__
#define TRAP_FP 28
#else
#define TRAP_FP 44
#endif

/* Modes of CPSR: the kernel runs in MODE_SYS, and handles exceptions in MODE_SVC. */
#define MODE_USR  0x10
#define MODE_SVC  0x13
#define MODE_SYS  0x1f
#define MODE_MASK 0x1f

/* What a vector says of itself. */
#define REASON_UNDEFINED   1
#define REASON_CALL        2
#define REASON_INSTRUCTION 3
#define REASON_DATA        4
#define REASON_INTERRUPT   5

#define MACHINE_REL /* the ELF file's relocations have their addends in place */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trap {
    uint32_t r[15]; /* by DWARF numbers: r0 ... r14 */
    uint32_t pc, cpsr, reason;
    uint32_t outer;           /* what SP of MODE_SVC was */
    uint32_t status, address; /* of an abort, set by machine_trap */
    uint32_t unused[3];       /* the last two: where RFE finds PC and CPSR, if outer is a multiple of 8 */
};
_Static_assert(offsetof(struct trap, r[13]) == TRAP_SP, "boot.S");
_Static_assert(offsetof(struct trap, pc) == TRAP_PC, "boot.S");
_Static_assert(offsetof(struct trap, outer) == TRAP_OUTER, "boot.S");
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
    __asm__ volatile("cpsie i" : : : "memory");
}

/* The number of this CPU in its cluster. */
static inline unsigned machine_cpu(void)
{
    uint32_t id;

    __asm__ volatile("mrc p15, 0, %0, c0, c0, 5" : "=r"(id));
    return id & 3;
}
#endif

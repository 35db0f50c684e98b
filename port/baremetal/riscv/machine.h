/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* RISC-V, of 64 bits or 32, in M mode or, with MACHINE_S, in S mode. The layout of what exception_entry (boot.S)
 * saves. */
#if __riscv_xlen == 64
#define WORD  8
#define LOAD  ld
#define STORE sd
#else
#define WORD  4
#define LOAD  lw
#define STORE sw
#endif
/* No blanks: they are arguments of assembler macros. */
#define TRAP_SP    (2 * WORD)
#define TRAP_FP    (8 * WORD)
#define TRAP_PC    (32 * WORD)
#define TRAP_OUTER (36 * WORD)
#define TRAP_SIZE  (40 * WORD)

/* The registers of the mode that the kernel runs in. */
#ifdef MACHINE_S
#define CSR_STATUS    sstatus
#define CSR_IE        sie
#define CSR_TVEC      stvec
#define CSR_SCRATCH   sscratch
#define CSR_EPC       sepc
#define CSR_CAUSE     scause
#define CSR_TVAL      stval
#define TRAP_RETURN   sret
#define STATUS_IE     2
#define STATUS_KERNEL 0x100 /* SPP: a trap has come from this mode */
#define IE_SOFTWARE   2
#define IE_TIMER      0x20
#else
#define CSR_STATUS    mstatus
#define CSR_IE        mie
#define CSR_TVEC      mtvec
#define CSR_SCRATCH   mscratch
#define CSR_EPC       mepc
#define CSR_CAUSE     mcause
#define CSR_TVAL      mtval
#define TRAP_RETURN   mret
#define STATUS_IE     8
#define STATUS_KERNEL 0x1800 /* MPP: a trap has come from this mode */
#define IE_SOFTWARE   8
#define IE_TIMER      0x80
#endif
#define CSR_NAME_(csr) #csr
#define CSR_NAME(csr)  CSR_NAME_(csr)

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trap {
    uintptr_t r[32]; /* by DWARF numbers: x0 ... x31 */
    uintptr_t pc, status, cause, address;
    uintptr_t outer; /* 1: no other trap was being handled */
    uintptr_t unused[3];
};
_Static_assert(offsetof(struct trap, r[2]) == TRAP_SP, "boot.S");
_Static_assert(offsetof(struct trap, pc) == TRAP_PC, "boot.S");
_Static_assert(offsetof(struct trap, outer) == TRAP_OUTER, "boot.S");
_Static_assert(sizeof(struct trap) == TRAP_SIZE, "boot.S");

static inline uint8_t *machine_sp(void)
{
    uint8_t *sp;

    __asm__ volatile("mv %0, sp" : "=r"(sp));
    return sp;
}

/* Lets interrupts in. */
static inline void machine_enable(void)
{
    __asm__ volatile("csrs " CSR_NAME(CSR_IE) ", %0; csrs " CSR_NAME(CSR_STATUS) ", %1"
                     :
                     : "r"(IE_SOFTWARE), "r"(STATUS_IE)
                     : "memory");
}

/* The number of this hart. boot.S has put it there. */
static inline unsigned machine_cpu(void)
{
    uintptr_t id;

    __asm__ volatile("mv %0, tp" : "=r"(id));
    return (unsigned)id & 3;
}
#endif

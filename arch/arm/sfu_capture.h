/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* 32-bit ARM, for A32 and T32 code, down to the 16-bit instructions of ARMv6-M: included by sfu_arch.h. DWARF numbers 0
 * to 15: r0 to r15, and the PC is r15. A word of struct sfu_cpu is a register. */
#define SFU_NUM_REGS 15 /* the PC, which is behind them, is r[15] */
#define SFU_REG_SP   13
#define SFU_REG_RA   14
#define SFU_RA_MODE  1u /* T32 code */
/* The FP is the one that the tables have. A program that has both kinds of code says which ABI its tables have. */
#ifdef SFU_ABI
#define SFU_REG_FP ((unsigned)(SFU_ABI) == (unsigned)SFU_THUMB ? 7 : 11)
#elif defined(__thumb__)
#define SFU_REG_FP 7
#else
#define SFU_REG_FP 11
#endif

struct sfu_cpu {
    uint32_t r[SFU_NUM_REGS + 1];
};

/* The 16-bit instructions store only r0 to r7. Reading the PC gives an address two instructions further on, which is
 * one of these. */
static inline __attribute__((__always_inline__)) void sfu_capture(struct sfu_cpu *cpu)
{
    uint32_t t;

    __asm__ __volatile__(".irp n, 0, 1, 2, 3, 4, 5, 6, 7\n\t"
                         "str r\\n, [%[r], #4*\\n]\n\t"
                         ".endr\n\t"
                         "mov %[t], pc\n\t"
                         "str %[t], [%[r], #4*15]\n\t"
                         ".irp n, 8, 9, 10, 11, 12, 13, 14\n\t"
                         "mov %[t], r\\n\n\t"
                         "str %[t], [%[r], #4*\\n]\n\t"
                         ".endr"
                         : [t] "=&l"(t)
                         : [r] "l"(cpu)
                         : "memory");
    (void)t;
}

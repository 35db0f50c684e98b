/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* aarch64, either byte order: included by sfu_arch.h. DWARF numbers 0 to 31: x0 to x30, sp. */
#define SFU_NUM_REGS 32
#define SFU_REG_SP   31
#define SFU_REG_FP   29
#define SFU_REG_RA   30
#define SFU_RA_MODE  0u

struct sfu_cpu {
    uint64_t r[SFU_NUM_REGS + 1];
};

/* x30 is recorded as it is, signed or not: the table knows which. */
static inline __attribute__((__always_inline__)) void sfu_capture(struct sfu_cpu *cpu)
{
    uint64_t t;

    __asm__ __volatile__("stp x0, x1, [%[r], #0]\n\t"
                         "stp x2, x3, [%[r], #16]\n\t"
                         "stp x4, x5, [%[r], #32]\n\t"
                         "stp x6, x7, [%[r], #48]\n\t"
                         "stp x8, x9, [%[r], #64]\n\t"
                         "stp x10, x11, [%[r], #80]\n\t"
                         "stp x12, x13, [%[r], #96]\n\t"
                         "stp x14, x15, [%[r], #112]\n\t"
                         "stp x16, x17, [%[r], #128]\n\t"
                         "stp x18, x19, [%[r], #144]\n\t"
                         "stp x20, x21, [%[r], #160]\n\t"
                         "stp x22, x23, [%[r], #176]\n\t"
                         "stp x24, x25, [%[r], #192]\n\t"
                         "stp x26, x27, [%[r], #208]\n\t"
                         "stp x28, x29, [%[r], #224]\n\t"
                         "mov %[t], sp\n\t"
                         "stp x30, %[t], [%[r], #240]\n\t"
                         "adr %[t], .\n\t"
                         "str %[t], [%[r], #256]"
                         : [t] "=&r"(t)
                         : [r] "r"(cpu)
                         : "memory");
    (void)t;
}

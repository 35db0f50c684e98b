/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* RISC-V, of 64 bits or 32: included by sfu_arch.h. DWARF numbers 0 to 31: x0 to x31; of RV32E and RV64E 0 to 15. r[0]
 * is x0. A word of struct sfu_cpu is a register: an exception entry of 32 bits stores 4 bytes for each. */
#if defined(__riscv_e) || defined(__riscv_32e)
#define SFU_NUM_REGS   16
#define SFU_RISCV_MORE ""
#else
#define SFU_NUM_REGS   32
#define SFU_RISCV_MORE ", 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31"
#endif
#define SFU_REG_SP  2
#define SFU_REG_FP  8
#define SFU_REG_RA  1
#define SFU_RA_MODE 0u

struct sfu_cpu {
#if __riscv_xlen == 64
    uint64_t r[SFU_NUM_REGS + 1];
#define SFU_RISCV_STORE "sd"
#else
    uint32_t r[SFU_NUM_REGS + 1];
#define SFU_RISCV_STORE "sw"
#endif
};

/* The PC is that of the auipc. */
static inline __attribute__((__always_inline__)) void sfu_capture(struct sfu_cpu *cpu)
{
    uintptr_t t;

    __asm__ __volatile__(".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15" SFU_RISCV_MORE
                         "\n\t" SFU_RISCV_STORE " x\\n, %[word]*\\n(%[r])\n\t"
                         ".endr\n\t"
                         "auipc %[t], 0\n\t" SFU_RISCV_STORE " %[t], %[pc](%[r])"
                         : [t] "=&r"(t)
                         : [r] "r"(cpu), [word] "i"(sizeof cpu->r[0]), [pc] "i"(SFU_NUM_REGS * sizeof cpu->r[0])
                         : "memory");
    (void)t;
}

#undef SFU_RISCV_MORE
#undef SFU_RISCV_STORE

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* x86_64: included by sfu_arch.h. DWARF numbers 0 to 15: rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15. */
#define SFU_NUM_REGS 16
#define SFU_REG_SP   7
#define SFU_REG_FP   6

struct sfu_cpu {
    uint64_t r[SFU_NUM_REGS + 1];
};

/* Only moves: the stack pointer stays where the unwind tables say it is, and nothing below it is touched. */
static inline __attribute__((__always_inline__)) void sfu_capture(struct sfu_cpu *cpu)
{
    uint64_t pc;

    __asm__ __volatile__("movq %%rax, 0(%[r])\n\t"
                         "movq %%rdx, 8(%[r])\n\t"
                         "movq %%rcx, 16(%[r])\n\t"
                         "movq %%rbx, 24(%[r])\n\t"
                         "movq %%rsi, 32(%[r])\n\t"
                         "movq %%rdi, 40(%[r])\n\t"
                         "movq %%rbp, 48(%[r])\n\t"
                         "movq %%rsp, 56(%[r])\n\t"
                         "movq %%r8, 64(%[r])\n\t"
                         "movq %%r9, 72(%[r])\n\t"
                         "movq %%r10, 80(%[r])\n\t"
                         "movq %%r11, 88(%[r])\n\t"
                         "movq %%r12, 96(%[r])\n\t"
                         "movq %%r13, 104(%[r])\n\t"
                         "movq %%r14, 112(%[r])\n\t"
                         "movq %%r15, 120(%[r])\n\t"
                         "leaq 0(%%rip), %[pc]\n\t"
                         "movq %[pc], 128(%[r])"
                         : [pc] "=&r"(pc)
                         : [r] "r"(cpu)
                         : "memory");
    (void)pc;
}

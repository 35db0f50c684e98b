/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* x86_64: included by sfu_arch.h. DWARF numbers 0 to 15: rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15. */
#define SFU_NUM_REGS 16
#define SFU_REG_SP   7
#define SFU_REG_FP   6
#define SFU_RA_MODE  0u

struct sfu_cpu {
    uint64_t r[SFU_NUM_REGS + 1];
};

/* In both dialects: {AT&T|-masm=intel}. Only moves: the stack pointer stays where the unwind tables say it is, and
 * nothing below it is touched. */
static inline __attribute__((__always_inline__)) void sfu_capture(struct sfu_cpu *cpu)
{
    uint64_t pc;

    __asm__ __volatile__("mov{q %%rax, 0(%[r])| QWORD PTR [%[r]+0], rax}\n\t"
                         "mov{q %%rdx, 8(%[r])| QWORD PTR [%[r]+8], rdx}\n\t"
                         "mov{q %%rcx, 16(%[r])| QWORD PTR [%[r]+16], rcx}\n\t"
                         "mov{q %%rbx, 24(%[r])| QWORD PTR [%[r]+24], rbx}\n\t"
                         "mov{q %%rsi, 32(%[r])| QWORD PTR [%[r]+32], rsi}\n\t"
                         "mov{q %%rdi, 40(%[r])| QWORD PTR [%[r]+40], rdi}\n\t"
                         "mov{q %%rbp, 48(%[r])| QWORD PTR [%[r]+48], rbp}\n\t"
                         "mov{q %%rsp, 56(%[r])| QWORD PTR [%[r]+56], rsp}\n\t"
                         "mov{q %%r8, 64(%[r])| QWORD PTR [%[r]+64], r8}\n\t"
                         "mov{q %%r9, 72(%[r])| QWORD PTR [%[r]+72], r9}\n\t"
                         "mov{q %%r10, 80(%[r])| QWORD PTR [%[r]+80], r10}\n\t"
                         "mov{q %%r11, 88(%[r])| QWORD PTR [%[r]+88], r11}\n\t"
                         "mov{q %%r12, 96(%[r])| QWORD PTR [%[r]+96], r12}\n\t"
                         "mov{q %%r13, 104(%[r])| QWORD PTR [%[r]+104], r13}\n\t"
                         "mov{q %%r14, 112(%[r])| QWORD PTR [%[r]+112], r14}\n\t"
                         "mov{q %%r15, 120(%[r])| QWORD PTR [%[r]+120], r15}\n\t"
                         "lea{q 0(%%rip), %[pc]| %[pc], [rip]}\n\t"
                         "mov{q %[pc], 128(%[r])| QWORD PTR [%[r]+128], %[pc]}"
                         : [pc] "=&r"(pc)
                         : [r] "r"(cpu)
                         : "memory");
    (void)pc;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* 32-bit x86: included by sfu_arch.h. DWARF numbers 0 to 7: eax ecx edx ebx esp ebp esi edi. */
#define SFU_NUM_REGS 8
#define SFU_REG_SP   4
#define SFU_REG_FP   5
#define SFU_RA_MODE  0u

struct sfu_cpu {
    uint32_t r[SFU_NUM_REGS + 1];
};

/* How the PC is read: as a number that the linker puts in; or, where the code may lie anywhere, by a call. Then pop has
 * one byte and lea three, and the PC is the one behind them, where SP is where the unwind tables say it is. */
#if defined(__PIC__)
#define SFU_CAPTURE_PC                                                                                             \
    "call .Lsfu_call%=\n.Lsfu_call%=:\n\tpop{l|} %[pc]\n\tlea{l 4(%[pc]), %[pc]| %[pc], [%[pc]+4]}\n\t"
#else
#define SFU_CAPTURE_PC "mov{l $.Lsfu_here%=, %[pc]| %[pc], OFFSET .Lsfu_here%=}\n.Lsfu_here%=:\n\t"
#endif

/* In both dialects: {AT&T|-masm=intel}. */
static inline __attribute__((__always_inline__)) void sfu_capture(struct sfu_cpu *cpu)
{
    uint32_t pc;

    __asm__ __volatile__("mov{l %%eax, 0(%[r])| DWORD PTR [%[r]+0], eax}\n\t"
                         "mov{l %%ecx, 4(%[r])| DWORD PTR [%[r]+4], ecx}\n\t"
                         "mov{l %%edx, 8(%[r])| DWORD PTR [%[r]+8], edx}\n\t"
                         "mov{l %%ebx, 12(%[r])| DWORD PTR [%[r]+12], ebx}\n\t"
                         "mov{l %%esp, 16(%[r])| DWORD PTR [%[r]+16], esp}\n\t"
                         "mov{l %%ebp, 20(%[r])| DWORD PTR [%[r]+20], ebp}\n\t"
                         "mov{l %%esi, 24(%[r])| DWORD PTR [%[r]+24], esi}\n\t"
                         "mov{l %%edi, 28(%[r])| DWORD PTR [%[r]+28], edi}\n\t" SFU_CAPTURE_PC
                         "mov{l %[pc], 32(%[r])| DWORD PTR [%[r]+32], %[pc]}"
                         : [pc] "=&r"(pc)
                         : [r] "r"(cpu)
                         : "memory");
    (void)pc;
}

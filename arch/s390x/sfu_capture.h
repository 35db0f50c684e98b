/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * s390x: included by sfu_arch.h. DWARF numbers 0 to 15: r0 to r15. 16 to 31: the floating-point registers, in the
 * order f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15; compilers keep RA and FP there in leaf functions.
 *
 * SFU_NO_FPR leaves them out, for programs that must not touch them. With gcc -msoft-float defines it: then there is no
 * fused multiply-add. clang gives no sign, and keeps nothing there: so -ffreestanding does.
 */
#if !defined(SFU_NO_FPR) && (defined(__clang__) ? !__STDC_HOSTED__ : !defined(__FP_FAST_FMA))
#define SFU_NO_FPR
#endif

#ifdef SFU_NO_FPR
#define SFU_NUM_REGS 16
#else
#define SFU_NUM_REGS 32
#endif
#define SFU_REG_SP  15
#define SFU_REG_FP  11
#define SFU_REG_RA  14
#define SFU_RA_MODE 0u

struct sfu_cpu {
    uint64_t r[SFU_NUM_REGS + 1];
};

static inline __attribute__((__always_inline__)) void sfu_capture(struct sfu_cpu *cpu)
{
    uint64_t pc;

    __asm__ __volatile__("stmg %%r0, %%r15, 0(%[r])\n\t"
#ifndef SFU_NO_FPR
                         "std %%f0, 128(%[r])\n\t"
                         "std %%f2, 136(%[r])\n\t"
                         "std %%f4, 144(%[r])\n\t"
                         "std %%f6, 152(%[r])\n\t"
                         "std %%f1, 160(%[r])\n\t"
                         "std %%f3, 168(%[r])\n\t"
                         "std %%f5, 176(%[r])\n\t"
                         "std %%f7, 184(%[r])\n\t"
                         "std %%f8, 192(%[r])\n\t"
                         "std %%f10, 200(%[r])\n\t"
                         "std %%f12, 208(%[r])\n\t"
                         "std %%f14, 216(%[r])\n\t"
                         "std %%f9, 224(%[r])\n\t"
                         "std %%f11, 232(%[r])\n\t"
                         "std %%f13, 240(%[r])\n\t"
                         "std %%f15, 248(%[r])\n\t"
#endif
                         "larl %[pc], .\n\t"
                         "stg %[pc], %[at](%[r])"
                         : [pc] "=&a"(pc)
                         : [r] "a"(cpu), [at] "i"(8 * SFU_NUM_REGS)
                         : "memory");
    (void)pc;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Between port/baremetal, which is C without floating point, and Rust. */
#include "kernel.h"

uint32_t rust_main(void);

/* Debian's core library has been compiled for user mode: it may move data through any register. So may code for
 * riscv64gc. */
static void enable_vectors(void)
{
#if defined(__x86_64__) || defined(__i386__)
    uintptr_t control;

    __asm__ volatile("mov %%cr4, %0" : "=r"(control));
    __asm__ volatile("mov %0, %%cr4" : : "r"(control | 0x600)); /* OSFXSR, OSXMMEXCPT */
#elif defined(__aarch64__)
    __asm__ volatile("msr cpacr_el1, %0; isb" : : "r"((uint64_t)3 << 20));
#elif defined(__riscv)
#ifdef __riscv_flen
    __asm__ volatile("csrs mstatus, %0" : : "r"((uintptr_t)1 << 13)); /* FS: floating point is on */
#endif
#else
    uint64_t control;

    __asm__ volatile("stctg 0, 0, %0" : "=Q"(control));
    control |= 0x40000; /* AFP registers */
    __asm__ volatile("lctlg 0, 0, %0" : : "Q"(control));
#endif
}

#ifdef __riscv
/* Debian's core libraries of other CPUs bring them along. */
int memcmp(const void *a, const void *b, size_t n);

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *p = a, *q = b;

    for (; n > 0 && *p == *q; n--) {
        p++;
        q++;
    }
    return n == 0 ? 0 : *p - *q;
}
#endif

void kernel_main(const char *command_line)
{
    (void)command_line;
    enable_vectors();
    (void)rust_main();
}

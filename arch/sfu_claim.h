/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * One word that one CPU at a time has: of several that ask at the same instant, one gets it. Included by sfu_arch.h,
 * behind sfu_mask.h, which says whether this is a program without privilege.
 *
 *     static volatile uint32_t word;
 *
 *     if (sfu_claim(&word)) {
 *         ...
 *         sfu_release(&word);
 *     }
 *
 * Where the CPU has no instruction for that, or may not use it, claims of the same instant may all succeed: Cortex-M
 * and ARM before version 7; RISC-V compiled without the extension A; ARM and aarch64 while the MMU or the data cache is
 * off, because the memory then need not have what exclusive instructions ask for, and these may never succeed.
 */
#ifndef SFU_CLAIM_H
#define SFU_CLAIM_H

/* What is left where no instruction does it: of claims of the same instant, several may succeed. */
static inline bool sfu_claim_alone(volatile uint32_t *word)
{
    const uint32_t before = *word;

    *word = 1;
    return before == 0;
}

#if defined(__x86_64__) || defined(__i386__)

static inline bool sfu_claim(volatile uint32_t *word)
{
    uint32_t before = 1;

    __asm__ __volatile__("xchg{l %0, %1| %1, %0}" : "+r"(before), "+m"(*word) : : "memory");
    return before == 0;
}

#elif defined(__s390x__)

static inline bool sfu_claim(volatile uint32_t *word)
{
    uint32_t before = 0;

    __asm__ __volatile__("cs %0, %2, %1" : "+d"(before), "+Q"(*word) : "d"(1) : "memory", "cc");
    return before == 0;
}

#elif defined(__riscv) && defined(__riscv_atomic)

static inline bool sfu_claim(volatile uint32_t *word)
{
    uint32_t before;

    __asm__ __volatile__("amoswap.w.aq %0, %2, %1" : "=r"(before), "+A"(*word) : "r"(1) : "memory");
    return before == 0;
}

#elif defined(__aarch64__) || (defined(__arm__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A')

/* Bits of SCTLR: MMU and data cache are on. */
#define SFU_MEMORY_IS_CACHED 5u

/* Whether MMU and data cache are on. A program without privilege cannot ask, and runs behind both. */
static inline bool sfu_has_exclusives(void)
{
#if defined(SFU_USER_MODE)
    return true;
#elif defined(__aarch64__)
    uint64_t level, control;

    __asm__ __volatile__("mrs %0, CurrentEL" : "=r"(level));
    if (level == 4)
        __asm__ __volatile__("mrs %0, sctlr_el1" : "=r"(control));
    else if (level == 8)
        __asm__ __volatile__("mrs %0, sctlr_el2" : "=r"(control));
    else
        __asm__ __volatile__("mrs %0, sctlr_el3" : "=r"(control));
    return (control & SFU_MEMORY_IS_CACHED) == SFU_MEMORY_IS_CACHED;
#else
    uint32_t mode, control;

    __asm__ __volatile__("mrs %0, cpsr" : "=r"(mode));
    if ((mode & 0x1f) == 0x10) /* user mode */
        return true;
    __asm__ __volatile__("mrc p15, 0, %0, c1, c0, 0" : "=r"(control));
    return (control & SFU_MEMORY_IS_CACHED) == SFU_MEMORY_IS_CACHED;
#endif
}

/* A try fails if an interrupt or another CPU comes between its two instructions. */
#define SFU_CLAIM_TRIES 1000u

/* Tries at most SFU_CLAIM_TRIES times. */
static inline bool sfu_claim(volatile uint32_t *word)
{
    uint32_t before, failed;
    unsigned i;

    for (i = 0; i < SFU_CLAIM_TRIES && sfu_has_exclusives(); i++) {
#ifdef __aarch64__
        __asm__ __volatile__("ldaxr %w0, %1" : "=r"(before) : "Q"(*word) : "memory");
        if (before != 0)
            return false;
        __asm__ __volatile__("stlxr %w0, %w2, %1" : "=&r"(failed), "=Q"(*word) : "r"(1) : "memory");
#else
        __asm__ __volatile__("ldrex %0, %1" : "=r"(before) : "Q"(*word) : "memory");
        if (before != 0)
            return false;
        __asm__ __volatile__("strex %0, %2, %1\n\tdmb" : "=&r"(failed), "=Q"(*word) : "r"(1) : "memory");
#endif
        if (failed == 0)
            return true;
    }
    return sfu_claim_alone(word);
}

#else

static inline bool sfu_claim(volatile uint32_t *word)
{
    return sfu_claim_alone(word);
}

#endif

/* What was written until now is seen by who claims WORD next. */
static inline void sfu_release(volatile uint32_t *word)
{
#ifdef __riscv
    __asm__ __volatile__("fence rw, w" : : : "memory");
#elif defined(__aarch64__) || (defined(__arm__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'A')
    __asm__ __volatile__("dmb ish" : : : "memory");
#else
    __asm__ __volatile__("" : : : "memory");
#endif
    *word = 0;
}

#endif

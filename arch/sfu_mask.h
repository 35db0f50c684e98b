/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Keeps interrupts away from this CPU, and lets them in again as before: included by sfu_arch.h.
 *
 *     uintptr_t before = sfu_mask_interrupts();
 *     ...
 *     sfu_unmask_interrupts(before);
 *
 * Exceptions that nothing masks, such as an NMI or a fault, still come. In user mode both do nothing: x86, s390x and
 * ARM can tell, and elsewhere it is taken from the compiler, which has a hosted environment of an operating system
 * then. Define SFU_USER_MODE for a program without privilege that is compiled with -ffreestanding.
 *
 * RISC-V has no instruction that tells which mode runs. SFU_RISCV_MODE is the number of the kernel's: 1 is S mode,
 * which is assumed with 64 bits, and 3 is M mode, which is assumed with 32.
 */
#ifndef SFU_MASK_H
#define SFU_MASK_H

#if !defined(SFU_USER_MODE) && __STDC_HOSTED__ && (defined(__unix__) || defined(__APPLE__) || defined(_WIN32))
#define SFU_USER_MODE
#endif

#if defined(SFU_USER_MODE)

static inline uintptr_t sfu_mask_interrupts(void)
{
    return 0;
}

static inline void sfu_unmask_interrupts(uintptr_t before)
{
    (void)before;
}

#elif defined(__x86_64__) || defined(__i386__)

#ifdef __x86_64__
#define SFU_MASK_PUSH "pushfq"
#else
#define SFU_MASK_PUSH "pushf{l|d}"
#endif

/* SP moves between the two instructions, which the assembler does not know, and sfu-gen sees. An NMI may come there. */
static inline uintptr_t sfu_mask_interrupts(void)
{
    uintptr_t flags = 0;
    uint16_t cs;

    __asm__ __volatile__("mov{w %%cs, %0| %0, cs}" : "=r"(cs));
    if ((cs & 3) == 0)
        __asm__ __volatile__(SFU_MASK_PUSH "\n\tpop %0\n\tcli" : "=r"(flags) : : "memory");
    return flags;
}

static inline void sfu_unmask_interrupts(uintptr_t before)
{
    if ((before & 0x200) != 0) /* IF */
        __asm__ __volatile__("sti" : : : "memory");
}

#elif defined(__aarch64__)

/* DAIF: interrupts, and fast ones. */
static inline uintptr_t sfu_mask_interrupts(void)
{
    uint64_t daif;

    __asm__ __volatile__("mrs %0, daif\n\tmsr daifset, #3" : "=r"(daif) : : "memory");
    return daif;
}

static inline void sfu_unmask_interrupts(uintptr_t before)
{
    const uint64_t daif = before;

    __asm__ __volatile__("msr daif, %0" : : "r"(daif) : "memory");
}

#elif defined(__s390x__)

/* The system mask: interruptions by I/O and from outside. Bit 15 of the PSW: no privilege; then what is returned has no
 * bit of a system mask, whose bit 1 is always 0 otherwise, too, so that 0x40 says so. */
static inline uintptr_t sfu_mask_interrupts(void)
{
    uint32_t psw, unused;
    uint8_t mask = 0x40;

    __asm__ __volatile__("epsw %0, %1" : "=&d"(psw), "=&d"(unused));
    if ((psw & 0x10000) == 0)
        __asm__ __volatile__("stnsm %0, 0xfc" : "=Q"(mask) : : "memory");
    (void)unused;
    return mask;
}

static inline void sfu_unmask_interrupts(uintptr_t before)
{
    const uint8_t mask = before & 0xff;

    if (mask != 0x40)
        __asm__ __volatile__("ssm %0" : : "Q"(mask) : "memory");
}

#elif defined(__riscv)

#ifndef SFU_RISCV_MODE
#if __riscv_xlen == 64
#define SFU_RISCV_MODE 1
#else
#define SFU_RISCV_MODE 3
#endif
#endif

/* MIE is bit 3 of mstatus, SIE is bit 1 of sstatus. As numbers, which assemblers take without the extension zicsr, too:
 * csrrci with this bit, and csrrs. */
#if SFU_RISCV_MODE == 3
#define SFU_MASK_CLEAR ".insn i 0x73, 7, %0, x8, 0x300"
#define SFU_MASK_SET   ".insn i 0x73, 2, x0, %0, 0x300"
#define SFU_MASK_BIT   8
#else
#define SFU_MASK_CLEAR ".insn i 0x73, 7, %0, x2, 0x100"
#define SFU_MASK_SET   ".insn i 0x73, 2, x0, %0, 0x100"
#define SFU_MASK_BIT   2
#endif

static inline uintptr_t sfu_mask_interrupts(void)
{
    uintptr_t status;

    __asm__ __volatile__(SFU_MASK_CLEAR : "=r"(status) : : "memory");
    return status & SFU_MASK_BIT;
}

static inline void sfu_unmask_interrupts(uintptr_t before)
{
    __asm__ __volatile__(SFU_MASK_SET : : "r"(before) : "memory");
}

#elif defined(__arm__) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

static inline uintptr_t sfu_mask_interrupts(void)
{
    uint32_t primask;

    __asm__ __volatile__("mrs %0, primask\n\tcpsid i" : "=r"(primask) : : "memory");
    return primask;
}

static inline void sfu_unmask_interrupts(uintptr_t before)
{
    __asm__ __volatile__("msr primask, %0" : : "r"(before) : "memory");
}

#elif defined(__arm__) && defined(__ARM_ARCH_PROFILE)

/* In user mode the CPU ignores it. Bits 6 and 7 of CPSR: fast interrupts, interrupts. */
static inline uintptr_t sfu_mask_interrupts(void)
{
    uint32_t cpsr;

    __asm__ __volatile__("mrs %0, cpsr\n\tcpsid if" : "=r"(cpsr) : : "memory");
    return cpsr & 0xc0;
}

static inline void sfu_unmask_interrupts(uintptr_t before)
{
    if ((before & 0x80) == 0)
        __asm__ __volatile__("cpsie i" : : : "memory");
    if ((before & 0x40) == 0)
        __asm__ __volatile__("cpsie f" : : : "memory");
}

#else /* nobody knows how: ARM before version 7 */

static inline uintptr_t sfu_mask_interrupts(void)
{
    return 0;
}

static inline void sfu_unmask_interrupts(uintptr_t before)
{
    (void)before;
}

#endif
#endif

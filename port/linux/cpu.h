/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What Linux does differently on each CPU: system calls, signal frames, relocation. It is for sfu_linux*.c and
 * start.c. Each CPU defines
 *   CALL_*            numbers of system calls
 *   SA_RESTORER_OURS  whether a program must bring its own restorer, for frames that are not old ones
 *   UCONTEXT_OFFSET   from SP in a signal frame, after the handler has returned, to its struct ucontext
 *   OLD_FRAME         only where a handler without SA_SIGINFO has another frame: old_frame gives the SP that a frame
 *                     with the same registers would have; fix_old_pc is for that frame
 *   saved_at          where register REG (DWARF number; SFU_NUM_REGS: the PC) is, from the struct ucontext
 *   INFO_OFFSET       only where a fault may leave the PC behind its instruction: from a struct ucontext to the
 *                     signal's struct siginfo. VECTOR_OFFSET, to the number of the CPU's exception, a word. passed, by
 *                     how much
 *   R_RELATIVE        type of the relocation: word = slide + addend
 *   RED_ZONE          bytes below SP that the kernel leaves alone when it delivers a signal
 */
#ifndef SFU_LINUX_CPU_H
#define SFU_LINUX_CPU_H

enum { AT_FDCWD = -100, O_CLOEXEC = 0x80000 };

/* A program header. */
#if UINTPTR_MAX > 0xffffffff
struct phdr { /* Elf64_Phdr */
    uint32_t type, flags;
    uint64_t offset, vaddr, paddr, filesz, memsz, align;
};
#else
struct phdr { /* Elf32_Phdr */
    uint32_t type, offset, vaddr, paddr, filesz, memsz, flags, align;
};
#endif

/* How Linux's struct siginfo begins. */
struct siginfo {
    uint32_t signal;
    int32_t error, code; /* code above 0: the kernel's own signal; else somebody has sent it */
#if UINTPTR_MAX > 0xffffffff
    int32_t reserved;
#endif
    uintptr_t addr;
};
enum { SIGNAL_ILL = 4, SIGNAL_TRAP = 5, SIGNAL_FPE = 8, SIGNAL_SEGV = 11, CODE_BREAKPOINT = 1, CODE_KERNEL = 128 };

#if defined(__x86_64__)

enum {
    CALL_READ = 0,
    CALL_WRITE = 1,
    CALL_CLOSE = 3,
    CALL_LSEEK = 8,
    CALL_MMAP = 9,
    CALL_SIGACTION = 13,
    CALL_SIGPROCMASK = 14,
    CALL_SIGALTSTACK = 131,
    CALL_GETTID = 186,
    CALL_TIMER_CREATE = 222,
    CALL_TIMER_SETTIME = 223,
    CALL_TIMER_DELETE = 226,
    CALL_EXIT_GROUP = 231,
    CALL_OPENAT = 257,
    SA_RESTORER_OURS = 1,
    UCONTEXT_OFFSET = 0,
    R_RELATIVE = 8,
    RED_ZONE = 128
};

/* struct ucontext: 40 bytes, r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip. */
static inline uint64_t saved_at(uint32_t reg)
{
    static const uint8_t words[] = {18, 17, 19, 16, 14, 13, 15, 20, 5, 6, 7, 8, 9, 10, 11, 12, 21};

    return 8 * (uint64_t)words[reg];
}

#define INFO_OFFSET   304
#define VECTOR_OFFSET 200

static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;

    __asm__ __volatile__("syscall"
                         : "=a"(result)
                         : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                         : "rcx", "r11", "memory");
    return result;
}

#elif defined(__aarch64__)

enum {
    CALL_OPENAT = 56,
    CALL_CLOSE = 57,
    CALL_LSEEK = 62,
    CALL_READ = 63,
    CALL_WRITE = 64,
    CALL_EXIT_GROUP = 94,
    CALL_TIMER_CREATE = 107,
    CALL_TIMER_SETTIME = 110,
    CALL_TIMER_DELETE = 111,
    CALL_SIGALTSTACK = 132,
    CALL_SIGACTION = 134,
    CALL_SIGPROCMASK = 135,
    CALL_GETTID = 178,
    CALL_MMAP = 222,
    SA_RESTORER_OURS = 0,
    UCONTEXT_OFFSET = 128,
    R_RELATIVE = 1027,
    RED_ZONE = 0
};

/* struct ucontext: 176 bytes, the fault address, x0 to x30, sp, pc. */
static inline uint64_t saved_at(uint32_t reg)
{
    return 184 + 8 * (uint64_t)reg;
}

static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ __volatile__("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

#elif defined(__s390x__)

enum {
    CALL_READ = 3,
    CALL_WRITE = 4,
    CALL_CLOSE = 6,
    CALL_LSEEK = 19,
    CALL_MMAP = 90,
    CALL_SIGACTION = 174,
    CALL_SIGPROCMASK = 175,
    CALL_SIGALTSTACK = 186,
    CALL_GETTID = 236,
    CALL_EXIT_GROUP = 248,
    CALL_TIMER_CREATE = 254,
    CALL_TIMER_SETTIME = 255,
    CALL_TIMER_DELETE = 258,
    CALL_OPENAT = 288,
    SA_RESTORER_OURS = 0,
    UCONTEXT_OFFSET = 296,
    R_RELATIVE = 12,
    RED_ZONE = 0
};
#define CALL_MMAP_BY_POINTER 1 /* its six arguments are in memory */
#define OLD_FRAME            1
#define INFO_OFFSET          (-128)
#define VECTOR_OFFSET        0 /* not used */
enum { SVC = 0x0a }; /* the first byte of a system call; the second is its number */

/* struct ucontext: 40 bytes, PSW mask, PSW address, r0 to r15, 16 access registers of 4 bytes, fpc, f0 to f15. */
static inline uint64_t saved_at(uint32_t reg)
{
    static const uint8_t fprs[] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};

    if (reg == SFU_NUM_REGS)
        return 48;
    return reg < 16 ? 56 + 8 * (uint64_t)reg : 256 + 8 * (uint64_t)fprs[reg & 15];
}

/* Whether a fault that makes SIGNAL leaves the PSW behind the instruction, which the CPU has suppressed or completed.
 * Where SIGSEGV and SIGBUS come of such a one, Linux puts the PSW back. */
static inline bool is_behind(uint32_t signal)
{
    return signal == SIGNAL_ILL || signal == SIGNAL_TRAP || signal == SIGNAL_FPE;
}

/* From the instruction that made the signal, which Linux names, to PC, which lies behind it; or 0, if PC is at it, or
 * at the next one to run, as after a single step. */
static inline uintptr_t passed(const struct siginfo *info, uintptr_t vector, uint64_t pc)
{
    bool made =
        is_behind(info->signal) && info->code > 0 && (info->signal != SIGNAL_TRAP || info->code == CODE_BREAKPOINT);

    (void)vector;
    return made && info->addr < pc && pc - info->addr <= 6 ? pc - info->addr : 0;
}

/* From SP to the pointer to the registers, and from a struct ucontext to the same registers. */
enum { SIGFRAME_REGS = 168, REGS_OFFSET = 40, REGS_SIGNAL = 344 /* from the registers to the signal's number */ };

/* Returns 0, or -1: the frame cannot be read. */
static inline int old_frame(sfu_addr *trap)
{
    if (sfu_linux_read(NULL, *trap + SIGFRAME_REGS, trap, 8) != 0)
        return -1;
    *trap -= UCONTEXT_OFFSET + REGS_OFFSET;
    return 0;
}

/* Nothing says whether *PC lies behind the instruction, but the signal's number. Then a byte of that instruction is
 * taken for *PC. It is no fault if a system call has sent the signal. Returns whether *PC is known. */
static inline bool fix_old_pc(sfu_addr trap, sfu_addr *pc)
{
    uint32_t signal;
    uint8_t call[2];

    if (sfu_linux_read(NULL, trap + UCONTEXT_OFFSET + REGS_OFFSET + REGS_SIGNAL, &signal, sizeof signal) != 0 ||
        !is_behind(signal) || sfu_linux_read(NULL, *pc - sizeof call, call, sizeof call) != 0 || call[0] == SVC)
        return true;
    *pc -= sizeof call;
    return false;
}

static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r1 __asm__("r1") = number;
    register long r2 __asm__("r2") = a;
    register long r3 __asm__("r3") = b;
    register long r4 __asm__("r4") = c;
    register long r5 __asm__("r5") = d;
    register long r6 __asm__("r6") = e;
    register long r7 __asm__("r7") = f;

    __asm__ __volatile__("svc 0" : "+d"(r2) : "d"(r1), "d"(r3), "d"(r4), "d"(r5), "d"(r6), "d"(r7) : "memory");
    return r2;
}

#elif defined(__riscv)

enum {
    CALL_OPENAT = 56,
    CALL_CLOSE = 57,
    CALL_LSEEK = 62,
    CALL_READ = 63,
    CALL_WRITE = 64,
    CALL_EXIT_GROUP = 94,
    CALL_TIMER_CREATE = 107,
#if __riscv_xlen == 64
    CALL_TIMER_SETTIME = 110,
#else
    CALL_TIMER_SETTIME = 409, /* timer_settime64: of 32 bits Linux has no other one */
#endif
    CALL_TIMER_DELETE = 111,
    CALL_SIGALTSTACK = 132,
    CALL_SIGACTION = 134, /* there is no restorer */
    CALL_SIGPROCMASK = 135,
    CALL_GETTID = 178,
    CALL_MMAP = 222,
    SA_RESTORER_OURS = 0,
    UCONTEXT_OFFSET = 128,
    R_RELATIVE = 3,
    RED_ZONE = 0
};
#define ZERO_REGISTER 0 /* x0: it is not saved */

/* struct ucontext: 176 bytes, of 32 bits 160; pc, x1 to x31. */
static inline uint64_t saved_at(uint32_t reg)
{
    return (sizeof(long) == 8 ? 176 : 160) + sizeof(long) * (uint64_t)(reg % SFU_NUM_REGS);
}

static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = a;
    register long a1 __asm__("a1") = b;
    register long a2 __asm__("a2") = c;
    register long a3 __asm__("a3") = d;
    register long a4 __asm__("a4") = e;
    register long a5 __asm__("a5") = f;

    __asm__ __volatile__("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
    return a0;
}

#elif defined(__i386__)

enum {
    CALL_READ = 3,
    CALL_WRITE = 4,
    CALL_CLOSE = 6,
    CALL_LSEEK = 140, /* _llseek */
    CALL_SIGACTION = 174,
    CALL_SIGPROCMASK = 175,
    CALL_SIGALTSTACK = 186,
    CALL_MMAP = 192, /* mmap2 */
    CALL_GETTID = 224,
    CALL_EXIT_GROUP = 252,
    CALL_TIMER_CREATE = 259,
    CALL_TIMER_DELETE = 263,
    CALL_OPENAT = 295,
    CALL_TIMER_SETTIME = 409, /* timer_settime64, of Linux 5.1 */
    SA_RESTORER_OURS = 1,     /* without a vDSO, as in qemu-i386, there is no other */
    UCONTEXT_OFFSET = 140,
    R_RELATIVE = 8,
    RED_ZONE = 0
};
#define OLD_FRAME     1
#define INFO_OFFSET   (-128)
#define VECTOR_OFFSET 68

/* struct ucontext: 20 bytes, gs, fs, es, ds, edi, esi, ebp, esp, ebx, edx, ecx, eax, vector, error, eip. */
static inline uint64_t saved_at(uint32_t reg)
{
    static const uint8_t words[] = {11, 10, 9, 8, 7, 6, 5, 4, 14};

    return 20 + 4 * (uint64_t)words[reg];
}

/* SP in a frame of a handler without SA_SIGINFO to its registers; and from a struct ucontext to the same registers. */
enum { SIGFRAME_REGS = 4, REGS_OFFSET = 20 };

static inline int old_frame(sfu_addr *trap)
{
    *trap += SIGFRAME_REGS;
    *trap -= UCONTEXT_OFFSET + REGS_OFFSET;
    return 0;
}

/* The number of the exception may be that of an earlier one, and the handler may have written over the signal's. So the
 * bytes before *PC decide: if they are one of the instructions that leave the PC behind them, the last of them is taken
 * for *PC. Returns whether *PC is known. */
static inline bool fix_old_pc(sfu_addr trap, sfu_addr *pc)
{
    uint32_t vector = 0;
    uint8_t before[2];
    bool behind;

    if (sfu_linux_read(NULL, trap + UCONTEXT_OFFSET + VECTOR_OFFSET, &vector, sizeof vector) != 0 ||
        sfu_linux_read(NULL, *pc - sizeof before, before, sizeof before) != 0)
        return true;
    behind = (vector == 1 && before[1] == 0xf1) || (vector == 3 && before[1] == 0xcc) ||
             (vector == 4 && before[1] == 0xce) ||
             ((vector == 3 || vector == 4) && before[0] == 0xcd && before[1] == vector);
    *pc -= behind;
    return !behind;
}

/* In restorer.S, because the sixth argument is in FP. */
__attribute__((__visibility__("hidden"))) long sfu_linux_int80(long number, long a, long b, long c, long d, long e,
                                                               long f);

static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
    return sfu_linux_int80(number, a, b, c, d, e, f);
}

#else
#error "this port has no such CPU"
#endif

#if defined(__x86_64__) || defined(__i386__)

/* From the last byte of the instruction that made the signal to PC, which lies behind it; or 0, if PC is at it, or at
 * the next one to run, as after a single step. int3, int $4, into and icebp leave the PC behind them. (Some virtual
 * machines leave it at icebp: so that is looked for.) */
static inline uintptr_t passed(const struct siginfo *info, uintptr_t vector, uint64_t pc)
{
    bool int3 = info->signal == SIGNAL_TRAP && info->code == CODE_KERNEL && vector == 3;
    bool overflow = info->signal == SIGNAL_SEGV && info->code == CODE_KERNEL && vector == 4;
    bool icebp = info->signal == SIGNAL_TRAP && info->code == CODE_BREAKPOINT && vector == 1;
    uint8_t before = 0;

    if (icebp)
        icebp = sfu_linux_read(NULL, pc - 1, &before, 1) == 0 && before == 0xf1;
    return int3 || overflow || icebp;
}

#endif

#endif

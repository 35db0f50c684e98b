/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A program without a libc that walks its own stack by tables that sfu-gen has made. Each function notes where it
 * returns to; the walk has to find just that, and then the end. Exit status 0, or which frame was wrong.
 */
#include "sfu.h"
#include "test/lib/memory.h"

/* Without .eh_frame the CFI of assembly goes where the compiler's goes. */
#ifdef CFI_SECTIONS
__asm__(".cfi_sections .debug_frame\n");
#endif

/* _start, which nobody called; a system call that never returns; and what registers are behind a call of capture. */
#if defined(__x86_64__)
__asm__(".text\n.globl _start\n_start: .cfi_startproc\n.cfi_undefined rip\n"
        "call first\nmov %eax, %edi\nmov $60, %eax\nsyscall\n.cfi_endproc\n"
        ".globl capture\ncapture: .cfi_startproc\nmov (%rsp), %rax\nmov %rax, (%rdi)\nlea 8(%rsp), %rax\n"
        "mov %rax, 8(%rdi)\nmov %rbp, 16(%rdi)\nret\n.cfi_endproc\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl _start\n_start: .cfi_startproc\n.cfi_undefined x30\n"
        "bl first\nmov x8, #93\nsvc #0\n.cfi_endproc\n"
        ".globl capture\ncapture: .cfi_startproc\nstr x30, [x0]\nmov x1, sp\nstr x1, [x0, #8]\n"
        "str x29, [x0, #16]\nret\n.cfi_endproc\n");
#elif defined(__riscv)
#if __riscv_xlen == 64
#define STORE "sd "
#else
#define STORE "sw x0, 4(a0)\nsw x0, 12(a0)\nsw x0, 20(a0)\nsw "
#endif
__asm__(".text\n.globl _start\n_start: .cfi_startproc\n.cfi_undefined ra\n"
        "call first\nli a7, 93\necall\n.cfi_endproc\n"
        ".globl capture\ncapture: .cfi_startproc\n" STORE "ra, 0(a0)\n" STORE "sp, 8(a0)\n" STORE
        "s0, 16(a0)\nret\n.cfi_endproc\n");
#elif defined(__arm__)
#ifdef __thumb__
#define STATE ".syntax unified\n.thumb\n"
#define FP    "r7"
#else
#define STATE ".syntax unified\n"
#define FP    "r11"
#endif
__asm__(STATE ".text\n.globl _start\n.type _start, %function\n_start: .cfi_startproc\n.cfi_undefined lr\n"
              "bl first\nmov r7, #1\nsvc #0\n.cfi_endproc\n.globl capture\n.type capture, %function\n"
              "capture: .cfi_startproc\nbic r1, lr, #1\nmov r2, #0\nmov r3, sp\nstr r1, [r0]\nstr r2, [r0, #4]\n"
              "str r3, [r0, #8]\nstr r2, [r0, #12]\nstr " FP
              ", [r0, #16]\nstr r2, [r0, #20]\nbx lr\n.cfi_endproc\n");
#else
__asm__(".text\n.globl _start\n_start: .cfi_startproc\n.cfi_undefined 14\n"
        "aghi %r15, -160\n.cfi_adjust_cfa_offset 160\nbrasl %r14, first\nlghi %r1, 1\nsvc 0\n.cfi_endproc\n"
        ".globl capture\ncapture: .cfi_startproc\nstg %r14, 0(%r2)\nstg %r15, 8(%r2)\nstg %r11, 16(%r2)\n"
        "br %r14\n.cfi_endproc\n");
#endif
void capture(uint64_t *pc_sp_fp);

extern const uint8_t sframe_start[], sframe_end[];

#define FUNCTION __attribute__((noinline)) int
#define NOTE     (expected[depth++] = (uint64_t)(uintptr_t)__builtin_return_address(0) & ~(uint64_t)NOT_ADDRESS)
#ifdef __thumb__
#define NOT_ADDRESS 1u /* says that it is Thumb code */
#else
#define NOT_ADDRESS 0u
#endif

static uint64_t expected[64];
static unsigned depth;

static int read_memory(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    uint8_t *to = buffer;

    (void)ctx;
    while (len-- > 0)
        *to++ = *(const volatile uint8_t *)(uintptr_t)addr++;
    return 0;
}

FUNCTION walk(void);
FUNCTION walk(void)
{
    struct sfu_section section;
    struct sfu_target target = {.read = read_memory, .stack = {0, 0, UINT64_MAX}};
    struct sfu_walk walk;
    struct sfu_registers here = {.pc_kind = SFU_PC_RETURN};
    uint64_t captured[3];
    unsigned found = 0;
    int code = sfu_add(&target.sections, &section, 1, sframe_start, (uint64_t)(sframe_end - sframe_start),
                       (uintptr_t)sframe_start);

    NOTE;
    if (code != SFU_OK || sfu_check(&section, 0) != SFU_OK)
        return 100;
    capture(captured);
    here.pc = captured[0];
    here.sp = captured[1];
    here.fp = captured[2];
    sfu_walk_start(&walk, &target, &here);
    while ((code = sfu_walk_step(&walk)) == SFU_OK && found < depth) {
        if (walk.frame.regs.pc != expected[depth - 1 - found])
            return 1 + (int)found;
        found++;
    }
    return found == depth && code == SFU_END ? 0 : 90;
}

FUNCTION plain(int n);
FUNCTION plain(int n)
{
    volatile int kept = n;

    NOTE;
    return walk() + kept - n;
}

/* A frame of a size that is not known. */
FUNCTION dynamic(int n);
FUNCTION dynamic(int n)
{
    volatile char *p = __builtin_alloca((size_t)n + 1);

    NOTE;
    p[n] = 1;
    return plain(n) + p[n] - 1;
}

/* A realigned frame, with arguments on the stack. */
FUNCTION realigned(long a, long b, long c, long d, long e, long f, long g, int n);
FUNCTION realigned(long a, long b, long c, long d, long e, long f, long g, int n)
{
    volatile long v[8] __attribute__((aligned(64)));

    NOTE;
    v[1] = a + b + c + d + e + f + g;
    v[0] = dynamic(n);
    return (int)(v[0] + v[1] - 28);
}

FUNCTION recursive(int n);
FUNCTION recursive(int n)
{
    NOTE;
    return n == 0 ? realigned(1, 2, 3, 4, 5, 6, 7, 30) : recursive(n - 1) + (n > 100);
}

int first(void);
int first(void)
{
    NOTE;
    return recursive(5);
}

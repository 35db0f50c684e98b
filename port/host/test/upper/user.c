/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The user program of a kernel of this folder: it calls the kernel, which never returns. It is code alone. */
#define CALL __attribute__((noinline, noclone))

#if defined(__x86_64__)
#define KERNEL "syscall"
#define RA     "rip"
#define START  "call user_main"
#elif defined(__aarch64__)
#define KERNEL "svc #0"
#define RA     "x30"
#define START  "bl user_main"
#else
#define KERNEL "svc 0"
#define RA     "%r14"
#define START  "brasl %r14, user_main"
#endif

__asm__(".globl _start\n.type _start, %function\n_start: .cfi_startproc\n.cfi_undefined " RA "\n" START "\nnop\n"
        ".cfi_endproc\n.size _start, . - _start\n");

void user_main(void);

CALL static void call_kernel(volatile unsigned long *local)
{
    *local += 1;
    __asm__ volatile(KERNEL ::: "memory");
    *local += 1;
}

CALL static void user_deeper(unsigned long depth)
{
    volatile unsigned long local[4];

    local[depth & 3] = depth;
    if (depth > 0)
        user_deeper(depth - 1);
    else
        call_kernel(&local[1]);
    local[depth & 3] += depth;
}

void user_main(void)
{
    user_deeper(2);
    for (;;) {
    }
}

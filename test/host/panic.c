/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What panic.rs runs on: where it starts, and what its panic handler calls. */
#include "sfu_arch.h"
#include "sfu_print.h"

__asm__(".text\n.globl _start\n_start: .cfi_startproc\n.cfi_undefined rip\nmov %rsp, %rdi\nsub $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\nand $-16, %rsp\ncall start\nhlt\n.cfi_endproc\n");

extern const uint8_t sframe_start[], sframe_end[];

static void put(void *ctx, char c)
{
    long result = 1;

    (void)ctx;
    __asm__ volatile("syscall" : "+a"(result) : "D"(1L), "S"(&c), "d"(1L) : "rcx", "r11", "memory");
}

static _Noreturn void leave(int status)
{
    __asm__ volatile("syscall" : : "a"(60L), "D"((long)status));
    __builtin_unreachable();
}

static struct sfu_panic panic_printer = {.put = put, .image = "panic.elf"};

_Noreturn void panic_trace(void);
_Noreturn void panic_trace(void)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);

    leave(sfu_panic_print(&panic_printer, &here) == SFU_END ? 0 : 1);
}

int first(void);
_Noreturn void start(const uint8_t *stack);
_Noreturn void start(const uint8_t *stack)
{
    if (sfu_panic_init(&panic_printer, sframe_start, sframe_end, stack - 65536, stack) != SFU_OK)
        leave(2);
    leave(first());
}

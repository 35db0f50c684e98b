/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include <stdint.h>

struct frame {
    uint64_t x[31], pc, status;
};
#define FRAME_PC(f) ((f)->pc)
#define FRAME_SP(f) ((sfu_addr)(uintptr_t)(f) + 272)
#define FRAME_FP(f) ((f)->x[29])
#define FRAME_RA(f) ((f)->x[30])
#define FAULT       __asm__ volatile("brk #0")
#define FAULT_SIZE  4
#define FAR_STACK   __asm__ volatile("mov sp, %0\n\tbrk #0" : : "r"(0x8000000000))

extern const char vectors[];

static inline void machine_putc(char c)
{
    *(volatile char *)0x9000000 = c;
}

static inline void machine_init(void)
{
    __asm__ volatile("msr vbar_el1, %0; isb" : : "r"(vectors));
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include <stdint.h>

struct frame {
    uint32_t r[13], lr, pc, status;
};
#define FRAME_PC(f) ((f)->pc)
#define FRAME_SP(f) ((sfu_addr)(uintptr_t)(f) + sizeof(struct frame))
#define FRAME_FP(f) ((f)->r[11])
#define FRAME_RA(f) ((f)->lr)
#if defined SVC /* in SVC mode it overwrites LR */
#define FAULT      __asm__ volatile("svc #0")
#define FAULT_SIZE 4
#elif defined __thumb__
#define FAULT      __asm__ volatile("udf #0")
#define FAULT_SIZE 2
#else
#define FAULT      __asm__ volatile(".inst 0xe7f000f0")
#define FAULT_SIZE 4
#endif

static inline void machine_putc(char c)
{
    *(volatile char *)0x9000000 = c;
}

static inline void machine_init(void)
{
}

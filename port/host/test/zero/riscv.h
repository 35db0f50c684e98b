/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include <stdint.h>

struct frame {
    uintptr_t x[32], pc; /* x[0] is not used; x[2]: SP as it was */
};
#define FRAME_PC(f) ((f)->pc)
#define FRAME_SP(f) ((f)->x[2])
#define FRAME_FP(f) ((f)->x[8])
#define FRAME_RA(f) ((f)->x[1])
#define FAULT       __asm__ volatile("ebreak; nop")
#define FAULT_SIZE  (*(const uint16_t *)frame->pc == 0x9002 ? 2 : 4)

extern const char trap_entry[];
#ifdef NEST_STACK
#define OWN_STACK NEST_STACK /* in use, it stays in use */
#elif defined FAULT_STACK
#define OWN_STACK FAULT_STACK /* each fault begins at its high end */
#endif
#ifdef CONTEXT
extern const char context[];
#endif
#ifdef OWN_STACK
extern const char OWN_STACK[]; /* its high end */
#endif

static inline void machine_putc(char c)
{
    *(volatile char *)0x10000000 = c;
}

static inline void machine_init(void)
{
    __asm__ volatile("csrw mtvec, %0" : : "r"(trap_entry));
#ifdef OWN_STACK
    __asm__ volatile("csrw mscratch, %0" : : "r"(OWN_STACK));
#elif defined CONTEXT
    __asm__ volatile("csrw mscratch, %0" : : "r"(context));
#endif
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include <stdint.h>

struct frame {
    uint64_t r[15], pc, cs, flags, sp, ss;
};
#define FRAME_PC(f) ((f)->pc)
#define FRAME_SP(f) ((f)->sp)
#define FRAME_FP(f) ((f)->r[8])
#define FRAME_RA(f) 0
#define FAULT       __asm__ volatile("ud2")
#define FAULT_SIZE  2

#define STACK_POINTER "rsp"

extern const char invalid_entry[];
#ifdef FAULT_STACK
extern const char FAULT_STACK[]; /* its high end */
extern uint64_t gdt[];
#endif

static inline void machine_putc(char c)
{
    __asm__ volatile("outb %0, $0xe9" : : "a"(c));
}

static inline void machine_init(void)
{
    static struct gate {
        uint16_t low, segment, kind, middle;
        uint32_t high, zero;
    } gates[32];
    const struct {
        uint16_t limit;
        uint64_t base;
    } __attribute__((packed)) idt = {sizeof gates - 1, (uint64_t)gates};
    const uint64_t to = (uint64_t)invalid_entry;

    gates[6] = (struct gate){(uint16_t)to, 8, 0x8e00, (uint16_t)(to >> 16), (uint32_t)(to >> 32), 0};
    gates[3] = gates[6];
#ifdef FAULT_STACK
    static uint32_t tss[26];
    const uint64_t stack = (uint64_t)FAULT_STACK, at = (uint64_t)tss;

    gates[3].kind |= 1; /* the first stack of the TSS's table */
    gates[6].kind |= 1;
    tss[9] = (uint32_t)stack;
    tss[10] = (uint32_t)(stack >> 32);
    gdt[2] = (sizeof tss - 1) | (at & 0xffffff) << 16 | 0x89ull << 40 | (at >> 24 & 0xff) << 56;
    gdt[3] = at >> 32;
    __asm__ volatile("ltr %w0" : : "r"(16));
#endif
    __asm__ volatile("lidt %0" : : "m"(idt));
}

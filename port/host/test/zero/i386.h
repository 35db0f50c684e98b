/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include <stdint.h>

/* Behind it the SP was: what the CPU pushes without a change of privilege has none. */
struct frame {
    uint32_t r[8], pc, cs, flags;
};
#define FRAME_PC(f) ((f)->pc)
#define FRAME_SP(f) ((uint32_t)((f) + 1))
#define FRAME_FP(f) ((f)->r[2])
#define FRAME_RA(f) 0
#define FAULT       __asm__ volatile("ud2")
#define FAULT_SIZE  2

#define STACK_POINTER "esp"

extern const char invalid_entry[];

static inline void machine_putc(char c)
{
    __asm__ volatile("outb %0, $0xe9" : : "a"(c));
}

static inline void machine_init(void)
{
    static struct gate {
        uint16_t low, segment, kind, high;
    } gates[32];
    const struct {
        uint16_t limit;
        uint32_t base;
    } __attribute__((packed)) idt = {sizeof gates - 1, (uint32_t)gates};
    const uint32_t to = (uint32_t)invalid_entry;

    gates[6] = (struct gate){(uint16_t)to, 8, 0x8e00, (uint16_t)(to >> 16)};
    gates[3] = gates[6];
    __asm__ volatile("lidt %0" : : "m"(idt));
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* QEMU's pc, whose CPU has 32 or 64 bits: 16550 at 0x3f8, local APIC, its timer, isa-debug-exit at 0xf4; and the
 * exceptions of x86. It is a part of each machine.c that includes it. */
#ifndef PC_H
#define PC_H

#include "kernel.h"

enum { DEBUG = 1, BREAKPOINT = 3, OVERFLOW = 4, DOUBLE_FAULT = 8, TIMER = 32, VECTORS = 33 };

static inline void out8(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static inline uint8_t in8(uint16_t port)
{
    uint8_t value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

void machine_putc(char c)
{
    while ((in8(0x3f8 + 5) & 0x20) == 0) {
    }
    out8(0x3f8, (uint8_t)c);
}

/* QEMU's exit status is twice the value, plus 1. */
_Noreturn void machine_exit(bool good)
{
    out8(0xf4, good ? 0x10 : 0x11);
    for (;;)
        __asm__ volatile("cli; hlt");
}

_Noreturn void machine_reset(void)
{
    out8(0x64, 0xfe); /* by the keyboard controller */
    for (;;)
        __asm__ volatile("cli; hlt");
}

static void write_apic(unsigned at, uint32_t value)
{
    *(volatile uint32_t *)(uintptr_t)(0xfee00000u + at) = value;
}

void machine_start_timer(void)
{
    write_apic(0xf0, 0x1ff); /* enable */
    write_apic(0x3e0, 0xb);  /* divide by 1 */
    write_apic(0x320, TIMER);
    write_apic(0x380, 1000000); /* 1 ms */
}

/* An interrupt for CPU 1. */
static void send(uint32_t command)
{
    write_apic(0x310, 1 << 24);
    write_apic(0x300, command);
}

/* An NMI, for all but this one. */
void machine_stop_others(void)
{
    write_apic(0x300, 0xc4400);
}

#define DR6_CLEAR  0xffff0ff0u
#define DR6_CAUSES 0x1e80fu /* of these the CPU clears bits 11 and 16 for an event, and sets the others */

/* Whether an instruction has made this debug exception, icebp or int $1: then DR6 has no cause. The CPU leaves what
 * stands there, so that it is cleared for the next one. */
static bool is_debug_instruction(void)
{
    uintptr_t status;

    __asm__ volatile("mov %%dr6, %0" : "=r"(status));
    __asm__ volatile("mov %0, %%dr6" : : "r"((uintptr_t)DR6_CLEAR));
    return ((status ^ DR6_CLEAR) & DR6_CAUSES) == 0;
}

/* Whether the PC lies behind the instruction that has made the exception, where another function may begin. */
static bool is_behind(uintptr_t vector)
{
    return vector == BREAKPOINT || vector == OVERFLOW || (vector == DEBUG && is_debug_instruction());
}

bool machine_trap(struct trap *trap)
{
    if (is_behind(trap->vector))
        trap->pc--;
    if (trap->vector != TIMER)
        return false;
    write_apic(0xb0, 0); /* end of interrupt */
    return true;
}

const char *machine_cause(const struct trap *trap)
{
    switch (trap->vector) {
    case 6:
        return "illegal instruction";
    case 8:
        return "double fault";
    case 13:
        return "general protection fault";
    case 14:
        return "page fault";
    default:
        return "exception";
    }
}

uint64_t machine_fault_address(const struct trap *trap)
{
    uintptr_t address = 0;

    if (trap->vector == 14)
        __asm__ volatile("mov %%cr2, %0" : "=r"(address));
    return address;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * By program-event recording: an event comes before each instruction that lies in a range of addresses, and here that
 * is all but the instruction to run. An instruction that branches to itself comes once. Each of QEMU's blocks has to be
 * one instruction (judge.c; FAULTS.md: qemu-per), else the kernel never ends. The stepped program may use
 * floating-point registers: nothing in the handler does.
 */
#include "stepper.h"

enum { OPERATION = 1, EVENT = 0x80, PROGRAM_NEW = 0x1d0 };
#define PSW_EVENTS   0x4000000000000000u
#define CR0_FLOATS   0x40000u
#define BEFORE_FETCH 0x41000000u

extern const char step_entry[];

const char step_abi[] = "s390x";
const unsigned step_result = 2;
static uint8_t stack[512 << 10] __attribute__((aligned(256)));

/* OWN: exceptions come by step_entry, which stays on the stack. */
uint8_t *step_init(bool own, uint64_t *size)
{
    uint64_t control, new_psw = PROGRAM_NEW;

    __asm__ volatile("stctg 0, 0, %0" : "=S"(control));
    control |= CR0_FLOATS;
    __asm__ volatile("lctlg 0, 0, %0" : : "S"(control));
    if (own) {
        __asm__("" : "+r"(new_psw)); /* the low core: the compiler is not to think of it as NULL */
        ((uint64_t *)(uintptr_t)new_psw)[1] = (uintptr_t)step_entry;
    }
    *size = sizeof stack;
    return stack;
}

enum cause step_cause(struct trap *trap)
{
    uint32_t code = trap->code & 0xff;

    if (trap->irq == 0 && code == OPERATION) {
        trap->pc += 2;
        return BREAKPOINT;
    }
    return trap->irq == 0 && code == EVENT ? STEP_DONE : OTHER;
}

void step_set(struct trap *trap, bool on)
{
    const uint64_t events[3] = {BEFORE_FETCH, trap->pc + 1, trap->pc - 1};

    trap->mask = on ? trap->mask | PSW_EVENTS : trap->mask & ~PSW_EVENTS;
    if (on)
        __asm__ volatile("lctlg 9, 11, %0" : : "S"(events));
}

/* The DWARF numbers 16 to 31, in their order. */
bool step_register(uint32_t reg, uint64_t *value)
{
    uint64_t f[16];

    if (reg < 16 || reg > 31)
        return false;
    __asm__ volatile("std %%f0, 0(%0); std %%f2, 8(%0); std %%f4, 16(%0); std %%f6, 24(%0)\n\t"
                     "std %%f1, 32(%0); std %%f3, 40(%0); std %%f5, 48(%0); std %%f7, 56(%0)\n\t"
                     "std %%f8, 64(%0); std %%f10, 72(%0); std %%f12, 80(%0); std %%f14, 88(%0)\n\t"
                     "std %%f9, 96(%0); std %%f11, 104(%0); std %%f13, 112(%0); std %%f15, 120(%0)"
                     :
                     : "a"(f)
                     : "memory");
    *value = f[reg - 16];
    return true;
}

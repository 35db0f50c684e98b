/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* By the trap flag. The stepped program may use the FPU, or SSE with 64 bits: nothing in the handler does. */
#include "stepper.h"

enum { DEBUG_EXCEPTION = 1, BREAKPOINT_EXCEPTION = 3, TRAP_FLAG = 0x100 };

#ifdef __x86_64__
#define FLAGS rflags
const char step_abi[] = "x86_64";
#else
#define FLAGS eflags
const char step_abi[] = "i386";
#endif
const unsigned step_result = 0;
static uint8_t stack[512 << 10] __attribute__((aligned(256)));

/* An exception without a stack of its own comes on the one that runs. */
uint8_t *step_init(bool own, uint64_t *size)
{
    uintptr_t value;

    (void)own;
    __asm__ volatile("mov %%cr0, %0" : "=r"(value));
    __asm__ volatile("mov %0, %%cr0; fninit" : : "r"((value & ~(uintptr_t)4) | 2)); /* EM off, MP on */
#ifdef __x86_64__
    __asm__ volatile("mov %%cr4, %0" : "=r"(value));
    __asm__ volatile("mov %0, %%cr4" : : "r"(value | 0x600)); /* OSFXSR, OSXMMEXCPT */
#endif
    *size = sizeof stack;
    return stack;
}

enum cause step_cause(struct trap *trap)
{
    if (trap->vector == BREAKPOINT_EXCEPTION) {
        trap->pc++; /* goes on behind the int3, into which the port has moved it */
        return BREAKPOINT;
    }
    return trap->vector == DEBUG_EXCEPTION ? STEP_DONE : OTHER;
}

void step_set(struct trap *trap, bool on)
{
    trap->FLAGS = on ? trap->FLAGS | TRAP_FLAG : trap->FLAGS & ~(uintptr_t)TRAP_FLAG;
}

bool step_register(uint32_t reg, uint64_t *value)
{
    (void)reg;
    (void)value;
    return false;
}

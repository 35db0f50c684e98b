/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* By the trap flag. The stepped program may use SSE: nothing in the handler does. */
#include "stepper.h"

enum { DEBUG_EXCEPTION = 1, BREAKPOINT_EXCEPTION = 3, TRAP_FLAG = 0x100 };

const char step_abi[] = "x86_64";
const unsigned step_result = 0;
static uint8_t stack[512 << 10] __attribute__((aligned(256)));

/* An exception without a stack of its own comes on the one that runs. */
uint8_t *step_init(bool own, uint64_t *size)
{
    uint64_t value;

    (void)own;
    __asm__ volatile("mov %%cr0, %0" : "=r"(value));
    __asm__ volatile("mov %0, %%cr0" : : "r"((value & ~(uint64_t)4) | 2)); /* EM off, MP on */
    __asm__ volatile("mov %%cr4, %0" : "=r"(value));
    __asm__ volatile("mov %0, %%cr4" : : "r"(value | 0x600)); /* OSFXSR, OSXMMEXCPT */
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
    trap->rflags = on ? trap->rflags | TRAP_FLAG : trap->rflags & ~(uint64_t)TRAP_FLAG;
}

bool step_register(uint32_t reg, uint64_t *value)
{
    (void)reg;
    (void)value;
    return false;
}

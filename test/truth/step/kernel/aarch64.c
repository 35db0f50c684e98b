/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* By the debug architecture's software step. The stepped program may use vector registers: nothing in the handler
 * does. */
#include "stepper.h"

enum { SOFTWARE_STEP = 0x33, BRK = 0x3c };
#define SPSR_DEBUG_MASKED ((uint64_t)1 << 9)
#define SPSR_STEP         ((uint64_t)1 << 21)
#define MDSCR_STEP        ((uint64_t)1)
#define MDSCR_KERNEL      ((uint64_t)1 << 13)

const char step_abi[] = "aarch64";
const unsigned step_result = 0;
static uint8_t stack[512 << 10] __attribute__((aligned(256)));

/* OWN: on SP_EL1, where exceptions come, too. Debug exceptions are still masked. */
uint8_t *step_init(bool own, uint64_t *size)
{
    __asm__ volatile("msr oslar_el1, %0" : : "r"((uint64_t)0));
    __asm__ volatile("msr mdscr_el1, %0" : : "r"(MDSCR_STEP | MDSCR_KERNEL));
    __asm__ volatile("msr cpacr_el1, %0; isb" : : "r"((uint64_t)3 << 20));
    if (own)
        __asm__ volatile("mov x9, sp; msr spsel, #1; mov sp, x9" : : : "x9", "memory");
    *size = sizeof stack;
    return stack;
}

enum cause step_cause(struct trap *trap)
{
    uint32_t class = (uint32_t)(trap->syndrome >> 26) & 0x3f;

    if (trap->irq == 0 && class == BRK) {
        trap->pc += 4;
        return BREAKPOINT;
    }
    return trap->irq == 0 && class == SOFTWARE_STEP ? STEP_DONE : OTHER;
}

void step_set(struct trap *trap, bool on)
{
    trap->spsr &= ~(SPSR_DEBUG_MASKED | SPSR_STEP);
    trap->spsr |= on ? SPSR_STEP : SPSR_DEBUG_MASKED;
}

bool step_register(uint32_t reg, uint64_t *value)
{
    (void)reg;
    (void)value;
    return false;
}

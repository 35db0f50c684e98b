/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * RISC-V: an exception entry in C, by __attribute__((interrupt)). The CPU leaves the interrupted PC in a register of
 * its own, and no CFI says so. sfu-gen finds the PC from where the function has stored it (docs/exceptions.md).
 */
#include "scenarios.h"
#include "step.h"

#ifdef __riscv
#ifdef MACHINE_S
#define MODE "supervisor"
#else
#define MODE "machine"
#endif

static volatile bool fails = true;

/* As far as compilers know it returns, and so does the handler, by mret or sret: that makes it an interrupt's. */
step static void handled(void)
{
    if (fails)
        panic("handled");
}

__attribute__((interrupt(MODE), aligned(4))) static void handler(void)
{
    volatile uintptr_t pc;
    uintptr_t epc;

    __asm__ volatile("csrr %0, " CSR_NAME(CSR_EPC) : "=r"(epc));
    pc = epc;
    handled();
    (void)pc;
}

step static void calls(void)
{
    __asm__ volatile("");
}

/* Its RA is on the stack where it stops: the handler's registers are in no struct trap. */
step static void stopped(void)
{
    calls();
    __asm__ volatile(ILLEGAL_INSTRUCTION);
    calls();
}

void scenario_handler(void)
{
    __asm__ volatile("csrw " CSR_NAME(CSR_TVEC) ", %0" : : "r"(handler));
    stopped();
}
#endif

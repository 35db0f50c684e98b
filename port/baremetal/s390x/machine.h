/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The layout of what exception_entry (boot.S) saves, above the 160 bytes that the function it calls may use. */
#define TRAP_GPRS    160
#define TRAP_R11     (TRAP_GPRS + 88)
#define TRAP_R15     (TRAP_GPRS + 120)
#define TRAP_PSW     (TRAP_GPRS + 128)
#define TRAP_PC      (TRAP_GPRS + 136)
#define TRAP_CFA     (TRAP_GPRS + 144)
#define TRAP_CODE    (TRAP_GPRS + 152)
#define TRAP_ADDRESS (TRAP_GPRS + 160)
#define TRAP_IRQ     (TRAP_GPRS + 168)
#define TRAP_SIZE    (TRAP_GPRS + 176)

/* In the low core, where the CPU keeps old PSWs and the system may keep what it likes: registers on their way to the
 * stack, PSWs to return by. */
#define EXTERNAL_OLD    0x130
#define PROGRAM_SAVED   0x200
#define PROGRAM_RETURN  0x280
#define EXTERNAL_SAVED  0x300
#define EXTERNAL_RETURN 0x380
#define SECOND_STACK    0x390
#define EXTERNAL_STACK  0x398

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trap {
    uint64_t r[16];
    uint64_t mask, pc;
    uint64_t cfa; /* r15 + 160: SFrame's caller's SP is CFA - 160 */
    uint64_t code, address;
    uint64_t irq; /* 1: an external interruption */
};
_Static_assert(TRAP_GPRS + offsetof(struct trap, pc) == TRAP_PC, "boot.S");
_Static_assert(TRAP_GPRS + offsetof(struct trap, cfa) == TRAP_CFA, "boot.S");
_Static_assert(TRAP_GPRS + sizeof(struct trap) == TRAP_SIZE, "boot.S");

static inline uint8_t *machine_sp(void)
{
    uint8_t *sp;

    __asm__ volatile("lgr %0, %%r15" : "=r"(sp));
    return sp;
}

/* Lets interrupts in. */
static inline void machine_enable(void)
{
    static const uint8_t mask = 5; /* DAT stays on, external interruptions */

    __asm__ volatile("ssm %0" : : "Q"(mask));
}

/* The number of this CPU: its address. */
static inline unsigned machine_cpu(void)
{
    uint16_t id;

    __asm__ volatile("stap %0" : "=Q"(id));
    return id & 3;
}
#endif

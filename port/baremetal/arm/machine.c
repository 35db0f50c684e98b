/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* 32-bit ARM, QEMU's virt with a Cortex-A15: PL011 at 0x9000000, GICv2, generic timer, PSCI, semihosting for arguments
 * and the end. */
#include "kernel.h"

extern const char vectors[], exception_saved[], exception_restored[], exception_stack[], exception_stack_top[];

static char command_line[128];
static uint32_t sections[4096] __attribute__((aligned(16384))); /* the memory map, by MiB */

static uint32_t semihosting(uint32_t operation, const void *block)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;

#ifdef __thumb__
    __asm__ volatile("svc 0xab" : "+r"(r0) : "r"(r1) : "memory");
#else
    __asm__ volatile("svc 0x123456" : "+r"(r0) : "r"(r1) : "memory");
#endif
    return r0;
}

static volatile uint32_t *at(uint32_t address)
{
    return (volatile uint32_t *)address;
}

void machine_putc(char c)
{
    while ((*at(0x09000018) & 0x20) != 0) {
    }
    *at(0x09000000) = (uint8_t)c;
}

_Noreturn void machine_exit(bool good)
{
    const uint32_t block[2] = {0x20026, good ? 0 : 1}; /* application exit, status */

    semihosting(0x20, block);
    for (;;)
        __asm__ volatile("wfi");
}

/* A function of PSCI, the firmware of QEMU. */
static void psci(uint32_t function, uint32_t cpu, uint32_t entry, uint32_t argument)
{
    register uint32_t r0 __asm__("r0") = function;
    register uint32_t r1 __asm__("r1") = cpu;
    register uint32_t r2 __asm__("r2") = entry;
    register uint32_t r3 __asm__("r3") = argument;

    __asm__ volatile(".arch_extension virt\n\thvc #0" : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3) : : "memory");
}

_Noreturn void machine_reset(void)
{
    psci(0x84000009, 0, 0, 0); /* SYSTEM_RESET */
    for (;;)
        __asm__ volatile("wfi");
}

/* ---- the memory map ---- */

enum { DEVICES = 0x08000000, MEMORY = 0x40000000, SECTION = 1 << 20 };

/* The devices and the memory are where they are. There is nothing elsewhere, nor at 0. */
static void set_memory_map(void)
{
    uint32_t i;

    for (i = 0; i < 32; i++)
        sections[DEVICES / SECTION + i] = (DEVICES + i * SECTION) | 0xc16; /* device, no code */
    for (i = 0; i < 128; i++)
        sections[MEMORY / SECTION + i] = (MEMORY + i * SECTION) | 0x11c0e; /* write-back, shareable */
}

static void use_memory_map(void)
{
    uint32_t control;

    __asm__ volatile("mcr p15, 0, %0, c2, c0, 2" : : "r"(0));        /* TTBCR: TTBR0 has all */
    __asm__ volatile("mcr p15, 0, %0, c2, c0, 0" : : "r"(sections)); /* TTBR0 */
    __asm__ volatile("mcr p15, 0, %0, c3, c0, 0" : : "r"(1));        /* DACR: the sections say what is allowed */
    __asm__ volatile("dsb; mcr p15, 0, %0, c8, c7, 0; dsb; isb" : : "r"(0) : "memory"); /* TLBIALL */
    __asm__ volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(control));
    __asm__ volatile("mcr p15, 0, %0, c1, c0, 0; isb" : : "r"(control | 0x1005) : "memory"); /* MMU, caches */
}

static void set_vectors(void)
{
    __asm__ volatile("mcr p15, 0, %0, c12, c0, 0; isb" : : "r"(vectors)); /* VBAR */
}

/* BOOT is not used: the command line comes by semihosting. */
void machine_init(uintptr_t boot)
{
    const struct {
        char *buffer;
        uint32_t size;
    } block = {command_line, sizeof command_line};

    (void)boot;
    set_vectors();
    set_memory_map();
    use_memory_map();
    semihosting(0x15, &block);
    kernel_add_stack(exception_stack, (uint64_t)(exception_stack_top - exception_stack), 0);
}

const char *machine_command_line(void)
{
    return command_line;
}

void machine_protect(uintptr_t start)
{
    sections[start / SECTION] = 0;
    use_memory_map();
}

/* ---- the timer, and the second CPU ---- */

enum { DISTRIBUTOR = 0x08000000, CPU_INTERFACE = 0x08010000, TIMER = 30 };

static void set_interrupts(void)
{
    *at(CPU_INTERFACE + 4) = 0xff; /* all priorities */
    *at(CPU_INTERFACE) = 1;
}

void machine_start_timer(void)
{
    *at(DISTRIBUTOR) = 1;
    *at(DISTRIBUTOR + 0x100) = 1u << TIMER; /* enable */
    set_interrupts();
    __asm__ volatile("mcr p15, 0, %0, c14, c2, 0" : : "r"(100000)); /* CNTP_TVAL */
    __asm__ volatile("mcr p15, 0, %0, c14, c2, 1" : : "r"(1));      /* CNTP_CTL */
}

extern const char boot_second[];
static uint8_t second_exception_stack[8192] __attribute__((aligned(16)));
static uint32_t second_stacks[2]; /* read with caches off: where there are any, they must have been written back */
static void (*second_entry)(void);
static volatile bool second_runs;

/* Called by boot_second. */
void machine_second(void);
void machine_second(void)
{
    set_vectors();
    use_memory_map();
    set_interrupts();
    second_runs = true;
    second_entry();
}

void machine_start_second(uint64_t top, void (*entry)(void))
{
    kernel_add_stack(second_exception_stack, sizeof second_exception_stack, 0);
    second_stacks[0] = (uintptr_t)second_exception_stack + sizeof second_exception_stack;
    second_stacks[1] = (uint32_t)top;
    second_entry = entry;
    psci(0x84000003, 1, (uintptr_t)boot_second, (uintptr_t)second_stacks); /* CPU_ON */
    while (!second_runs) {
    }
}

/* Software-generated interrupt 0, for all but this one. */
void machine_stop_others(void)
{
    *at(DISTRIBUTOR) = 1;
    *at(DISTRIBUTOR + 0xf00) = 1 << 24;
}

/* ---- traps ---- */

/* The fault status register's number of the fault. */
enum { STATUS = 0x40f, DEBUG_EVENT = 2 };

static void end_interrupt(void)
{
    uint32_t number = *at(CPU_INTERFACE + 0xc);

    __asm__ volatile("mcr p15, 0, %0, c14, c2, 1" : : "r"(0)); /* CNTP_CTL */
    *at(CPU_INTERFACE + 0x10) = number;
}

bool machine_trap(struct trap *trap)
{
    trap->status = trap->address = 0;
    if (trap->reason == REASON_INSTRUCTION)
        __asm__ volatile("mrc p15, 0, %0, c5, c0, 1; mrc p15, 0, %1, c6, c0, 2" /* IFSR, IFAR */
                         : "=r"(trap->status), "=r"(trap->address));
    if (trap->reason == REASON_DATA)
        __asm__ volatile("mrc p15, 0, %0, c5, c0, 0; mrc p15, 0, %1, c6, c0, 0" /* DFSR, DFAR */
                         : "=r"(trap->status), "=r"(trap->address));
    if (trap->reason == REASON_INTERRUPT)
        end_interrupt();
    return trap->reason == REASON_INTERRUPT;
}

const char *machine_cause(const struct trap *trap)
{
    static const char *const causes[] = {"exception", "illegal instruction", "supervisor call", "instruction abort",
                                         "data abort"};

    if (trap->reason == REASON_INSTRUCTION && (trap->status & STATUS) == DEBUG_EVENT)
        return "breakpoint";
    return causes[trap->reason < sizeof causes / sizeof causes[0] ? trap->reason : 0];
}

uint64_t machine_fault_address(const struct trap *trap)
{
    return trap->address;
}

const struct trap *machine_trap_at(uint64_t sp)
{
    return (const struct trap *)(uintptr_t)sp;
}

bool machine_saved(uint64_t pc)
{
    return pc >= (uintptr_t)exception_saved && pc < (uintptr_t)exception_restored;
}

/* What was interrupted is not known where exception_entry has no row: on the way in SP is in the other mode's register,
 * and on the way out SP lies above the struct trap. */
bool machine_crossed(const struct trap *trap, struct sfu_registers *regs)
{
    (void)trap;
    (void)regs;
    return false;
}

uint64_t machine_new_thread(uint64_t top, void (*entry)(void))
{
    uint32_t *sp = (uint32_t *)(uintptr_t)top - 10; /* r4 ... r11, ip, lr */

    sp[0] = (uintptr_t)entry;
    sp[7] = 0;
#ifdef __thumb__
    sp[3] = 0;
    sp[9] = (uintptr_t)thread_start | 1;
#else
    sp[9] = (uintptr_t)thread_start;
#endif
    return (uintptr_t)sp;
}

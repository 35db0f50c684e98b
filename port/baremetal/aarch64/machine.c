/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* aarch64, QEMU's virt at EL1: PL011 at 0x9000000, GICv2, generic timer, semihosting for arguments and the end. */
#include "kernel.h"

extern const char vectors[], exception_saved[], exception_restored[], exception_stack[], exception_stack_top[];

static char command_line[128];
static uint64_t level1[4] __attribute__((aligned(4096)));
static uint64_t level2[512] __attribute__((aligned(4096)));

static uint64_t semihosting(uint64_t operation, const void *block)
{
    register uint64_t x0 __asm__("x0") = operation;
    register const void *x1 __asm__("x1") = block;
    __asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
}

static volatile uint32_t *at(uint64_t address)
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
    const uint64_t block[2] = {0x20026, good ? 0 : 1}; /* application exit, status */

    semihosting(0x20, block);
    for (;;)
        __asm__ volatile("wfi");
}

_Noreturn void machine_reset(void)
{
    register uint64_t x0 __asm__("x0") = 0x84000009; /* PSCI: SYSTEM_RESET */

    __asm__ volatile("hvc #0" : "+r"(x0) : : "x1", "x2", "x3", "memory");
    for (;;)
        __asm__ volatile("wfi");
}

/* The first GiB is devices, the second memory, as it is. */
static void set_memory_map(void)
{
    uint64_t i;

    for (i = 0; i < 512; i++)
        level2[i] = (0x40000000 + (i << 21)) | 0x701; /* accessed, inner shareable, attribute 0, block */
    level1[0] = 0x405 | (uint64_t)3 << 53;            /* accessed, attribute 1, block, no code */
    level1[1] = (uintptr_t)level2 | 3;
}

static void use_memory_map(void)
{
    uint64_t control;

    __asm__ volatile("msr mair_el1, %0" : : "r"((uint64_t)0x00ff));
    __asm__ volatile("msr ttbr0_el1, %0; dsb sy; tlbi vmalle1; dsb sy; isb" : : "r"(level1) : "memory");
    __asm__ volatile("mrs %0, sctlr_el1" : "=r"(control));
    __asm__ volatile("msr sctlr_el1, %0; isb" : : "r"(control | 0x1005) : "memory"); /* MMU, caches */
}

/* BOOT is not used: the command line comes by semihosting. */
void machine_init(uintptr_t boot)
{
    const struct {
        char *buffer;
        uint64_t size;
    } block = {command_line, sizeof command_line};

    (void)boot;
    __asm__ volatile("msr vbar_el1, %0; isb" : : "r"(vectors));
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
    level2[(start - 0x40000000) >> 21] = 0;
    __asm__ volatile("dsb sy; tlbi vmalle1; dsb sy; isb" : : : "memory");
}

enum { DISTRIBUTOR = 0x08000000, CPU_INTERFACE = 0x08010000, TIMER = 30 };

void machine_start_timer(void)
{
    *at(DISTRIBUTOR) = 1;
    *at(DISTRIBUTOR + 0x100) = 1u << TIMER; /* enable */
    *at(CPU_INTERFACE + 4) = 0xff;          /* all priorities */
    *at(CPU_INTERFACE) = 1;
    __asm__ volatile("msr cntp_tval_el0, %0; msr cntp_ctl_el0, %1" : : "r"((uint64_t)100000), "r"((uint64_t)1));
}

/* ---- the second CPU ---- */

extern const char boot_second[];
static uint8_t second_exception_stack[8192] __attribute__((aligned(16)));
static uint64_t second_stacks[2]; /* read with caches off: where there are any, they must have been written back */
static void (*second_entry)(void);
static volatile bool second_runs;

/* Called by boot_second. */
void machine_second(void);
void machine_second(void)
{
    __asm__ volatile("msr vbar_el1, %0; isb" : : "r"(vectors));
    use_memory_map();
    *at(CPU_INTERFACE + 4) = 0xff;
    *at(CPU_INTERFACE) = 1;
    second_runs = true;
    second_entry();
}

/* PSCI: CPU_ON. */
static void turn_on(uint64_t cpu, uintptr_t entry, uintptr_t argument)
{
    register uint64_t x0 __asm__("x0") = 0xc4000003;
    register uint64_t x1 __asm__("x1") = cpu;
    register uint64_t x2 __asm__("x2") = entry;
    register uint64_t x3 __asm__("x3") = argument;

    __asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : : "memory");
}

void machine_start_second(uint64_t top, void (*entry)(void))
{
    kernel_add_stack(second_exception_stack, sizeof second_exception_stack, 0);
    second_stacks[0] = (uintptr_t)second_exception_stack + sizeof second_exception_stack;
    second_stacks[1] = top;
    second_entry = entry;
    turn_on(1, (uintptr_t)boot_second, (uintptr_t)second_stacks);
    while (!second_runs) {
    }
}

/* Software-generated interrupt 0, for all but this one. */
void machine_stop_others(void)
{
    *at(DISTRIBUTOR) = 1;
    *at(DISTRIBUTOR + 0xf00) = 1 << 24;
}

enum { ILLEGAL_STATE = 0x0e };

bool machine_trap(struct trap *trap)
{
    uint32_t number;

    if (trap->irq == 0) {
        if (trap->syndrome >> 26 == ILLEGAL_STATE) /* ERET went there, but kept the stack pointer of exceptions */
            __asm__ volatile("mrs %0, sp_el0" : "=r"(trap->r[SFU_REG_SP]));
        return false;
    }
    number = *at(CPU_INTERFACE + 0xc);
    __asm__ volatile("msr cntp_ctl_el0, xzr");
    *at(CPU_INTERFACE + 0x10) = number; /* end of interrupt */
    return true;
}

const char *machine_cause(const struct trap *trap)
{
    switch (trap->syndrome >> 26 & 0x3f) {
    case ILLEGAL_STATE:
        return "illegal state";
    case 0x00:
        return "illegal instruction";
    case 0x21:
        return "instruction abort";
    case 0x22:
        return "misaligned PC";
    case 0x25:
        return "data abort";
    default:
        return "exception";
    }
}

uint64_t machine_fault_address(const struct trap *trap)
{
    return (trap->syndrome >> 26 & 0x3b) == 0x21 ? trap->address : 0;
}

const struct trap *machine_trap_at(uint64_t sp)
{
    return (const struct trap *)sp;
}

bool machine_saved(uint64_t pc)
{
    return pc >= (uintptr_t)exception_saved && pc < (uintptr_t)exception_restored;
}

/* Known at ERET. Not known on the way in until ELR_EL1 is saved: TRAP has written over it. */
bool machine_crossed(const struct trap *trap, struct sfu_registers *regs)
{
    uint64_t sp = trap->r[SFU_REG_SP];

    return trap->pc == (uintptr_t)exception_restored && kernel_read(sp - 16, &regs->pc) &&
           kernel_read(sp - 8, &regs->sp);
}

uint64_t machine_new_thread(uint64_t top, void (*entry)(void))
{
    uint64_t *sp = (uint64_t *)top - 12; /* x29 x30 x19 x20 ... x28 */

    sp[1] = (uintptr_t)thread_start;
    sp[2] = (uintptr_t)entry;
    return (uintptr_t)sp;
}

static void set_bits(uint8_t *place, uint32_t mask, uint64_t value)
{
    uint32_t *word = (uint32_t *)(void *)place;

    *word = (*word & ~mask) | ((uint32_t)value & mask);
}

bool machine_relocate(uint32_t type, uint8_t *place, uintptr_t target)
{
    uint64_t distance = target - (uintptr_t)place;
    uint64_t pages = (target >> 12) - ((uintptr_t)place >> 12);

    switch (type) {
    case 257: /* R_AARCH64_ABS64 */
        put64(place, target);
        return true;
    case 260: /* R_AARCH64_PREL64 */
        put64(place, distance);
        return true;
    case 261: /* R_AARCH64_PREL32 */
        put32(place, (uint32_t)distance);
        return true;
    case 275: /* R_AARCH64_ADR_PREL_PG_HI21 */
        set_bits(place, 0x60ffffe0, (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
        return true;
    case 277: /* R_AARCH64_ADD_ABS_LO12_NC */
        set_bits(place, 0x003ffc00, (target & 0xfff) << 10);
        return true;
    case 282: /* R_AARCH64_JUMP26 */
    case 283: /* R_AARCH64_CALL26 */
        set_bits(place, 0x03ffffff, distance >> 2);
        return true;
    default:
        return false;
    }
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* RISC-V, QEMU's virt with -bios none: 16550 at 0x10000000, the test device at 0x100000, ACLINT, semihosting for
 * arguments. M mode guards the stack by PMP; S mode by page tables, Sv39 or Sv32. */
#include "kernel.h"

extern const char exception_entry[], exception_saved[], exception_restored[], exception_stack[],
    exception_stack_top[];

static char command_line[128];

static volatile uint32_t *at(uintptr_t address)
{
    return (volatile uint32_t *)address;
}

/* The three instructions must not be compressed, nor lie across a page. */
static uintptr_t semihosting(uintptr_t operation, const void *block)
{
    register uintptr_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = block;

    __asm__ volatile(".option push; .option norvc; .balign 16\n"
                     "slli zero, zero, 0x1f; ebreak; srai zero, zero, 7\n"
                     ".option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
}

void machine_putc(char c)
{
    *(volatile uint8_t *)0x10000000 = (uint8_t)c;
}

_Noreturn void machine_exit(bool good)
{
    *at(0x100000) = good ? 0x5555 : 0x13333; /* the test device: the exit status is 0 or 1 */
    for (;;)
        __asm__ volatile("wfi");
}

_Noreturn void machine_reset(void)
{
    *at(0x100000) = 0x7777;
    for (;;)
        __asm__ volatile("wfi");
}

static void set_vectors(void)
{
    __asm__ volatile("csrw " CSR_NAME(CSR_TVEC) ", %0" : : "r"(exception_entry));
}

/* ---- the memory map ---- */

enum { GUARD = 0x400000 };

#ifdef MACHINE_S
/* All is as it is: devices below 1 GiB, memory from 2 GiB on. */
#define LEAF 0xcf /* valid, read, write, execute, accessed, dirty */
#if __riscv_xlen == 64
static uintptr_t root[512] __attribute__((aligned(4096)));
static uintptr_t memory[512] __attribute__((aligned(4096))); /* of the third GiB, by 2 MiB */
#define MODE ((uintptr_t)8 << 60)                            /* Sv39 */

static void set_memory_map(void)
{
    uintptr_t i;

    for (i = 0; i < 512; i++)
        memory[i] = (0x80000000 + (i << 21)) >> 2 | LEAF;
    root[0] = LEAF;
    root[2] = ((uintptr_t)memory >> 12) << 10 | 1;
}

static void remove_guard(uintptr_t start)
{
    uintptr_t i = (start - 0x80000000) >> 21;

    memory[i] = memory[i + 1] = 0;
}
#else
static uintptr_t root[1024] __attribute__((aligned(4096))); /* by 4 MiB */
#define MODE ((uintptr_t)1 << 31) /* Sv32 */

static void set_memory_map(void)
{
    uintptr_t i;

    for (i = 0; i < 1024; i++)
        root[i] = i << 20 | LEAF;
    for (i = 0x18000000 >> 22; i < 0x20000000 >> 22; i++) /* nothing is there */
        root[i] = 0;
}

static void remove_guard(uintptr_t start)
{
    root[start >> 22] = 0;
}
#endif

static void use_memory_map(void)
{
    __asm__ volatile("csrw satp, %0; sfence.vma" : : "r"(MODE | (uintptr_t)root >> 12) : "memory");
}
#else
static void set_memory_map(void)
{
}

static void use_memory_map(void)
{
}

/* Region 0 is for the guard of the image where it was linked, 1 for where it has been moved to: locked, nothing is
 * allowed in M mode. */
static void remove_guard(uintptr_t start)
{
    static bool again;
    uintptr_t region = start >> 2 | (GUARD / 8 - 1);

    if (again || start >= 0x81000000)
        __asm__ volatile("csrw pmpaddr1, %0; csrs pmpcfg0, %1" : : "r"(region), "r"((uintptr_t)0x9800) : "memory");
    else
        __asm__ volatile("csrw pmpaddr0, %0; csrs pmpcfg0, %1" : : "r"(region), "r"((uintptr_t)0x98) : "memory");
    again = true;
}
#endif

/* BOOT is not used: the command line comes by semihosting. */
void machine_init(uintptr_t boot)
{
    const struct {
        char *buffer;
        uintptr_t size;
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
    remove_guard(start);
    use_memory_map();
}

/* ---- the timer, and other harts ---- */

enum {
    SOFTWARE = 0x02000000,
    SOFTWARE_S = 0x02f00000,
    TIMER_NEXT = 0x02004000,
    TIMER_NOW = 0x0200bff8,
    SOON = 10000
};

void machine_start_timer(void)
{
#ifdef MACHINE_S
    uintptr_t now;

    __asm__ volatile("rdtime %0" : "=r"(now));
#if __riscv_xlen == 32
    __asm__ volatile("csrw 0x15d, zero"); /* stimecmph: it has not run for long */
#endif
    __asm__ volatile("csrw 0x14d, %0" : : "r"(now + SOON)); /* stimecmp */
#else
    uint32_t low = *at(TIMER_NOW) + SOON;

    *at(TIMER_NEXT + 8 * machine_cpu() + 4) = *at(TIMER_NOW + 4) + (low < SOON ? 1 : 0);
    *at(TIMER_NEXT + 8 * machine_cpu()) = low;
#endif
    __asm__ volatile("csrs " CSR_NAME(CSR_IE) ", %0" : : "r"((uintptr_t)IE_TIMER));
}

static uint8_t second_exception_stack[8192] __attribute__((aligned(16)));
/* boot.S waits for the first. In .data: a hart may wait before anybody has cleared .bss. */
uintptr_t second_stacks[2] __attribute__((section(".data")));
static void (*second_entry)(void);
static volatile bool second_runs;

/* Called by boot_second. */
void machine_second(void);
void machine_second(void)
{
    set_vectors();
    use_memory_map();
    second_runs = true;
    second_entry();
}

void machine_start_second(uint64_t top, void (*entry)(void))
{
    kernel_add_stack(second_exception_stack, sizeof second_exception_stack, 0);
    second_entry = entry;
    second_stacks[1] = (uintptr_t)top;
    __atomic_store_n(&second_stacks[0], (uintptr_t)second_exception_stack + sizeof second_exception_stack,
                     __ATOMIC_RELEASE);
    while (!second_runs) {
    }
}

/* A software interrupt for the other hart. */
void machine_stop_others(void)
{
#ifdef MACHINE_S
    at(SOFTWARE_S)[machine_cpu() ^ 1] = 1;
#else
    at(SOFTWARE)[machine_cpu() ^ 1] = 1;
#endif
}

/* ---- traps ---- */

#define INTERRUPT ((uintptr_t)1 << (__riscv_xlen - 1))

bool machine_trap(struct trap *trap)
{
    if ((trap->cause & INTERRUPT) == 0)
        return false;
    __asm__ volatile("csrc " CSR_NAME(CSR_IE) ", %0" : : "r"((uintptr_t)IE_TIMER));
#ifdef MACHINE_S
    __asm__ volatile("csrc sip, %0" : : "r"((uintptr_t)IE_SOFTWARE));
#else
    at(SOFTWARE)[machine_cpu()] = 0;
#endif
    return true;
}

const char *machine_cause(const struct trap *trap)
{
    static const char *const causes[] = {"misaligned PC",    "instruction access", "illegal instruction",
                                         "breakpoint",       "misaligned load",    "load access",
                                         "misaligned store", "store access"};

    if (trap->cause < sizeof causes / sizeof causes[0])
        return causes[trap->cause];
    if (trap->cause == 12)
        return "instruction page fault";
    return trap->cause == 13 || trap->cause == 15 ? "page fault" : "exception";
}

/* Of an illegal instruction the register may have the instruction. */
uint64_t machine_fault_address(const struct trap *trap)
{
    return trap->cause == 2 ? 0 : trap->address;
}

const struct trap *machine_trap_at(uint64_t sp)
{
    return (const struct trap *)(uintptr_t)sp;
}

bool machine_saved(uint64_t pc)
{
    return pc >= (uintptr_t)exception_saved && pc < (uintptr_t)exception_restored;
}

/* What interrupts exception_entry where it has no row has written over the PC that only a register had. */
bool machine_crossed(const struct trap *trap, struct sfu_registers *regs)
{
    (void)trap;
    (void)regs;
    return false;
}

/* The module is compiled with -mno-relax, and calls: auipc and jalr. */
bool machine_relocate(uint32_t type, uint8_t *place, uintptr_t target)
{
    const uint32_t distance = (uint32_t)(target - (uintptr_t)place);
    uint32_t word[2];

    switch (type) {
    case 1: /* R_RISCV_32 */
        put32(place, (uint32_t)target);
        return true;
    case 2: /* R_RISCV_64 */
        put64(place, target);
        return true;
    case 18: /* R_RISCV_CALL, R_RISCV_CALL_PLT */
    case 19:
        __builtin_memcpy(word, place, sizeof word);
        put32(place, (word[0] & 0xfff) | ((distance + 0x800) & 0xfffff000));
        put32(place + 4, (word[1] & 0xfffff) | distance << 20);
        return true;
    case 57: /* R_RISCV_32_PCREL */
        put32(place, distance);
        return true;
    default:
        return false;
    }
}

uint64_t machine_new_thread(uint64_t top, void (*entry)(void))
{
    uintptr_t *sp = (uintptr_t *)(uintptr_t)top - 16; /* -, s1 ... s11, -, -, s0, ra */

    sp[1] = (uintptr_t)entry;
    sp[14] = 0;
    sp[15] = (uintptr_t)thread_start;
    return (uintptr_t)sp;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* x86_64. */
#include "pc.h"

extern const char vectors[], exception_saved[], exception_restored[], exception_return[];
extern uint64_t gdt[4], tables[6][512];

static const char *command_line;
static uint64_t first_pages[512] __attribute__((aligned(4096)));
static uint8_t double_fault_stack[8192] __attribute__((aligned(16)));
static uint8_t interrupt_stack[8192] __attribute__((aligned(16)));

struct tss {
    uint32_t reserved0;
    uint64_t rsp[3], reserved1, ist[7], reserved2;
    uint16_t reserved3, io_map;
} __attribute__((packed));

static struct tss tss;

static struct {
    uint16_t offset_low, selector;
    uint8_t ist, type;
    uint16_t offset_middle;
    uint32_t offset_high, reserved;
} idt[VECTORS];

static void set_vector(unsigned n, unsigned ist)
{
    uintptr_t entry = (uintptr_t)vectors + 16 * n;

    idt[n].offset_low = (uint16_t)entry;
    idt[n].offset_middle = (uint16_t)(entry >> 16);
    idt[n].offset_high = (uint32_t)(entry >> 32);
    idt[n].selector = 8;
    idt[n].ist = (uint8_t)ist;
    idt[n].type = 0x8e; /* present, interrupt gate */
}

/* Sets the descriptor of T in the GDT at TABLE, and T's stack of interrupts, which ends at TOP. */
static void describe_tss(uint64_t *table, struct tss *t, const uint8_t *top)
{
    uint64_t base = (uintptr_t)t;

    t->ist[1] = (uintptr_t)top;
    t->io_map = sizeof *t;
    table[2] = (sizeof *t - 1) | (base & 0xffffff) << 16 | (uint64_t)0x89 << 40 | (base >> 24 & 0xff) << 56;
    table[3] = base >> 32;
}

/* Interrupts and double faults have stacks of their own: the latter come when a stack has run over. */
static void set_tss(void)
{
    tss.ist[0] = (uintptr_t)double_fault_stack + sizeof double_fault_stack;
    describe_tss(gdt, &tss, interrupt_stack + sizeof interrupt_stack);
    kernel_add_stack(double_fault_stack, sizeof double_fault_stack, 0);
    kernel_add_stack(interrupt_stack, sizeof interrupt_stack, 0);
}

static void load_register(const char which, uint64_t base, uint16_t limit)
{
    struct {
        uint16_t limit;
        uint64_t base;
    } __attribute__((packed)) value = {limit, base};

    if (which == 'i')
        __asm__ volatile("lidt %0" : : "m"(value));
    else
        __asm__ volatile("lgdt %0" : : "m"(value));
}

static void load_tss(void)
{
    __asm__ volatile("ltr %w0" : : "r"(16));
}

/* The page tables of 2 MiB pages, where the boot code made them. They stay there when the kernel moves. */
static uint64_t *page_tables(void)
{
    uint64_t at;

    __asm__ volatile("mov %%cr3, %0" : "=r"(at));
    return (uint64_t *)(at + 0x2000);
}

/* Page 0 becomes memory that cannot be accessed. */
static void protect_null(void)
{
    unsigned i;

    for (i = 1; i < 512; i++)
        first_pages[i] = (uint64_t)i << 12 | 3;
    *page_tables() = (uintptr_t)first_pages | 3;
    __asm__ volatile("mov %%cr3, %%rax; mov %%rax, %%cr3" : : : "rax", "memory");
}

/* BOOT: the PVH start information, whose command line is at 24; 0 for a kernel that has moved. */
void machine_init(uintptr_t boot)
{
    unsigned n;

    if (boot != 0) {
        command_line = (const char *)*(const uint64_t *)(boot + 24);
        protect_null();
    }
    set_tss();
    for (n = 0; n < VECTORS; n++)
        set_vector(n, n == DOUBLE_FAULT ? 1 : n == TIMER ? 2 : 0);
    load_register('g', (uintptr_t)gdt, sizeof gdt - 1);
    load_register('i', (uintptr_t)idt, sizeof idt - 1);
    load_tss();
    out8(0x21, 0xff); /* the old interrupt controllers stay silent */
    out8(0xa1, 0xff);
}

const char *machine_command_line(void)
{
    return command_line;
}

void machine_protect(uintptr_t start)
{
    page_tables()[start >> 21] = 0;
    __asm__ volatile("invlpg (%0)" : : "r"(start) : "memory");
}

/* ---- the second CPU ---- */

extern const char second_start[], second_tables[], second_end[], boot_second[];
uint64_t second_stack;
static uint64_t second_gdt[4];
static struct tss second_tss; /* without a stack of double faults */
static uint8_t second_interrupt_stack[8192] __attribute__((aligned(16)));
static void (*second_entry)(void);
static volatile bool second_runs;

/* Called by boot_second. */
void machine_second(void);
void machine_second(void)
{
    load_register('i', (uintptr_t)idt, sizeof idt - 1);
    load_tss();
    second_runs = true;
    second_entry();
}

/* A CPU that runs already does not begin again. */
void machine_start_second(uint64_t top, void (*entry)(void))
{
    uint8_t *to = (uint8_t *)SECOND_AT, *data = to + (second_tables - second_start);
    const char *from;
    unsigned i;

    for (from = second_start; from < second_end; from++)
        *to++ = (uint8_t)*from;
    second_gdt[1] = gdt[1];
    describe_tss(second_gdt, &second_tss, second_interrupt_stack + sizeof second_interrupt_stack);
    kernel_add_stack(second_interrupt_stack, sizeof second_interrupt_stack, 0);
    put32(data, (uint32_t)(uintptr_t)page_tables() - 0x2000);
    data[4] = sizeof second_gdt - 1;
    put32(data + 6, (uint32_t)(uintptr_t)second_gdt);
    put32(data + 10, (uint32_t)(uintptr_t)boot_second);
    second_stack = top;
    second_entry = entry;
    write_apic(0xf0, 0x1ff); /* enable */
    send(0x4500);            /* INIT */
    while (!second_runs) {
        send(0x4600 | SECOND_AT >> 12); /* where to start */
        for (i = 0; i < 100000 && !second_runs; i++) {
        }
    }
}

const struct trap *machine_trap_at(uint64_t sp)
{
    return (const struct trap *)(sp + 8);
}

bool machine_saved(uint64_t pc)
{
    return pc >= (uintptr_t)exception_saved && pc < (uintptr_t)exception_restored;
}

/* For the kernel without tables. Known only at IRETQ, which faults if what it takes is no good. */
bool machine_crossed(const struct trap *trap, struct sfu_registers *regs)
{
    return trap->pc == (uintptr_t)exception_return && kernel_read(trap->sp, &regs->pc) &&
           kernel_read(trap->sp + 24, &regs->sp);
}

uint64_t machine_new_thread(uint64_t top, void (*entry)(void))
{
    uint64_t *sp = (uint64_t *)top - 7; /* r15 r14 r13 r12 rbp rbx, return address */

    sp[3] = (uintptr_t)entry;
    sp[6] = (uintptr_t)thread_start;
    return (uintptr_t)sp;
}

bool machine_relocate(uint32_t type, uint8_t *place, uintptr_t target)
{
    switch (type) {
    case 1: /* R_X86_64_64 */
        put64(place, target);
        return true;
    case 2: /* R_X86_64_PC32 */
    case 4: /* R_X86_64_PLT32 */
        put32(place, (uint32_t)(target - (uintptr_t)place));
        return true;
    case 24: /* R_X86_64_PC64 */
        put64(place, target - (uintptr_t)place);
        return true;
    default:
        return false;
    }
}

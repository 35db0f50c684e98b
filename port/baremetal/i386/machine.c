/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* 32-bit x86. Interrupts stay on the stack that they interrupt. A double fault, which comes when a stack has run over,
 * has a task with a stack of its own. */
#include "pc.h"

extern const char vectors[], exception_saved[], exception_restored[], exception_return[], double_fault[];
extern uint64_t gdt[5];
extern uint32_t tables[1024];

static const char *command_line;
static uint32_t first_pages[1024] __attribute__((aligned(4096)));
static uint8_t double_fault_stack[8192] __attribute__((aligned(16)));

struct task {
    uint32_t link, esp0, ss0, esp1, ss1, esp2, ss2, cr3, eip, eflags, eax, ecx, edx, ebx, esp, ebp, esi, edi;
    uint32_t es, cs, ss, ds, fs, gs, ldt, map;
};
_Static_assert(offsetof(struct task, eip) == TSS_EIP, "boot.S");
_Static_assert(offsetof(struct task, eflags) == TSS_EFLAGS, "boot.S");
_Static_assert(offsetof(struct task, eax) == TSS_EAX, "boot.S");
_Static_assert(offsetof(struct task, cs) == TSS_CS, "boot.S");

struct task first_task;
static struct task double_task;

static struct {
    uint16_t low, segment, kind, high;
} idt[VECTORS];

static void set_vector(unsigned n)
{
    uintptr_t entry = (uintptr_t)vectors + 16 * n;

    idt[n].low = (uint16_t)entry;
    idt[n].high = (uint16_t)(entry >> 16);
    idt[n].segment = CODE;
    idt[n].kind = 0x8e00; /* present, interrupt gate */
}

static uint64_t descriptor(const struct task *task)
{
    const uint64_t base = (uintptr_t)task;

    return (sizeof *task - 1) | (base & 0xffffff) << 16 | (uint64_t)0x89 << 40 | (base >> 24) << 56;
}

/* The CPU leaves its registers in first_task, and takes them from double_task. */
static void set_tasks(void)
{
    __asm__ volatile("mov %%cr3, %0" : "=r"(double_task.cr3));
    double_task.eip = (uintptr_t)double_fault;
    double_task.esp = (uintptr_t)double_fault_stack + sizeof double_fault_stack;
    double_task.eflags = 2;
    double_task.cs = CODE;
    double_task.es = double_task.ss = double_task.ds = double_task.fs = double_task.gs = DATA;
    gdt[FIRST_TASK / 8] = descriptor(&first_task);
    gdt[DOUBLE_TASK / 8] = descriptor(&double_task);
    idt[DOUBLE_FAULT].segment = DOUBLE_TASK;
    idt[DOUBLE_FAULT].kind = 0x8500; /* present, task gate */
    kernel_add_stack(double_fault_stack, sizeof double_fault_stack, 0);
}

static void load_register(const char which, uint32_t base, uint16_t limit)
{
    struct {
        uint16_t limit;
        uint32_t base;
    } __attribute__((packed)) value = {limit, base};

    if (which == 'i')
        __asm__ volatile("lidt %0" : : "m"(value));
    else
        __asm__ volatile("lgdt %0" : : "m"(value));
}

/* The page table of 4 MiB pages, where the boot code made it. It stays there when the kernel moves. */
static uint32_t *page_table(void)
{
    uint32_t *at;

    __asm__ volatile("mov %%cr3, %0" : "=r"(at));
    return at;
}

/* Page 0 becomes memory that cannot be accessed. */
static void protect_null(void)
{
    uint32_t i;

    for (i = 1; i < 1024; i++)
        first_pages[i] = i << 12 | 3;
    *page_table() = (uintptr_t)first_pages | 3;
    __asm__ volatile("mov %%cr3, %%eax; mov %%eax, %%cr3" : : : "eax", "memory");
}

/* BOOT: the PVH start information, whose command line is at 24; 0 for a kernel that has moved. */
void machine_init(uintptr_t boot)
{
    unsigned n;

    if (boot != 0) {
        command_line = (const char *)*(const uintptr_t *)(boot + 24);
        protect_null();
    }
    for (n = 0; n < VECTORS; n++)
        set_vector(n);
    set_tasks();
    load_register('g', (uintptr_t)gdt, sizeof gdt - 1);
    load_register('i', (uintptr_t)idt, sizeof idt - 1);
    __asm__ volatile("ltr %w0" : : "r"(FIRST_TASK));
    out8(0x21, 0xff); /* the old interrupt controllers stay silent */
    out8(0xa1, 0xff);
}

const char *machine_command_line(void)
{
    return command_line;
}

void machine_protect(uintptr_t start)
{
    page_table()[start >> 22] = 0;
    __asm__ volatile("invlpg (%0)" : : "r"(start) : "memory");
}

/* ---- the second CPU ---- */

extern const char second_start[], second_tables[], second_end[], boot_second[];
static void (*second_entry)(void);
static volatile bool second_runs;

/* Called by boot_second. */
void machine_second(void);
void machine_second(void)
{
    load_register('i', (uintptr_t)idt, sizeof idt - 1);
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
    put32(data, (uintptr_t)page_table());
    put32(data + 4, (uint32_t)top);
    data[8] = sizeof gdt - 1;
    put32(data + 10, (uintptr_t)gdt);
    put32(data + 14, (uintptr_t)boot_second);
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
    return (const struct trap *)((uintptr_t)sp + 4);
}

bool machine_saved(uint64_t pc)
{
    return pc >= (uintptr_t)exception_saved && pc < (uintptr_t)exception_restored;
}

/* For the kernel without tables. Known only at IRET, which faults if what it takes is no good. */
bool machine_crossed(const struct trap *trap, struct sfu_registers *regs)
{
    regs->sp = (sfu_addr)trap->r[SFU_REG_SP] + 12;
    return trap->pc == (uintptr_t)exception_return && kernel_read(trap->r[SFU_REG_SP], &regs->pc);
}

uint64_t machine_new_thread(uint64_t top, void (*entry)(void))
{
    uint32_t *sp = (uint32_t *)(uintptr_t)top - 5; /* edi esi ebp ebx, return address */

    sp[3] = (uintptr_t)entry;
    sp[4] = (uintptr_t)thread_start;
    return (uintptr_t)sp;
}

bool machine_relocate(uint32_t type, uint8_t *place, uintptr_t target)
{
    switch (type) {
    case 1: /* R_386_32 */
        put32(place, target);
        return true;
    case 2: /* R_386_PC32 */
    case 4: /* R_386_PLT32 */
        put32(place, target - (uintptr_t)place);
        return true;
    default:
        return false;
    }
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A kernel of 32-bit x86 as tutorials have one, with paging, without tables, flags or names in its linker script. The
 * command line chooses how it crashes. i386.py has the functions that each trace must show.
 *
 * WITH_TASKS: a double fault has a task gate, so the image has `ltr`, and sfu-gen makes no rows of exception entries.
 * Traces cross them by a hook of the kernel's own; that of the scenario "unhooked" by the one of sfu_panic_start.
 *
 * WITH_STUBS: the entries of faults are those of a tutorial, which never come to their iret.
 */
#include "sfu_panic.h"

#define step __attribute__((noinline, noclone))

/* As boot.S pushes it. What the CPU pushes when it stays in the kernel has no SP, which was behind it. */
struct frame {
    uint32_t r[8], number, error, pc, cs, flags;
};
#define SAVED_SP(frame) ((uint32_t)((frame) + 1))

enum { CODE = 8, DATA = 16, FIRST_TASK = 24, SECOND_TASK = 32, NOWHERE = 0x12345678 };

void kernel_main(const char *line);
void handle(struct frame *frame);
extern const char invalid_entry[], protection_entry[], page_entry[], timer_entry[], handler_returned[];
extern uint8_t guard[4096];
extern uint64_t gdt[5];

static volatile int sink;

/* ---- The machine ---- */

static void out(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static void put(void *ctx, char c)
{
    (void)ctx;
    out(0xe9, (uint8_t)c);
}

static void say(const char *text)
{
    while (*text != '\0')
        put(NULL, *text++);
}

static struct gate {
    uint16_t low, segment, kind, high;
} gates[33];

static void set_gate(unsigned n, const char *entry)
{
    const uint32_t to = (uint32_t)entry;

    gates[n] = (struct gate){(uint16_t)to, CODE, 0x8e00, (uint16_t)(to >> 16)};
}

/* The first 4 MiB as they are, without what is at 0 and the page below the stack. */
static void init_paging(void)
{
    static uint32_t directory[1024] __attribute__((aligned(4096))), table[1024] __attribute__((aligned(4096)));
    uint32_t i, cr0;

    for (i = 1; i < 1024; i++)
        table[i] = i << 12 | 3;
    table[(uint32_t)guard >> 12] = 0;
    directory[0] = (uint32_t)table | 3;
    __asm__ volatile("mov %0, %%cr3" : : "r"(directory));
    __asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
    __asm__ volatile("mov %0, %%cr0" : : "r"(cr0 | 0x80000000));
}

static void init_interrupts(void)
{
    const struct {
        uint16_t limit;
        uint32_t base;
    } __attribute__((packed)) idt = {sizeof gates - 1, (uint32_t)gates};

    set_gate(6, invalid_entry);
    set_gate(13, protection_entry);
    set_gate(14, page_entry);
    set_gate(32, timer_entry);
    __asm__ volatile("lidt %0" : : "m"(idt));
    out(0x20, 0x11); /* the interrupt controller: vectors from 32 on, the timer alone */
    out(0x21, 32);
    out(0x21, 4);
    out(0x21, 1);
    out(0x21, 0xfe);
}

#ifdef WITH_TASKS
static struct task {
    uint32_t link, esp0, ss0, esp1, ss1, esp2, ss2, cr3, eip, eflags, eax, ecx, edx, ebx, esp, ebp, esi, edi;
    uint32_t es, cs, ss, ds, fs, gs, ldt, map;
} first, second;

static void end(void);

/* The CPU has left the registers of the double fault in the first task. */
static void double_fault(void)
{
    say("double fault\n");
    sfu_panic_trap(first.eip, first.esp, first.ebp, 0);
    end();
}

static uint64_t descriptor(const struct task *task)
{
    const uint64_t base = (uint32_t)task;

    return (base & 0xffffff) << 16 | (base >> 24) << 56 | 0x890000000000 | (sizeof *task - 1);
}

static void init_tasks(void)
{
    static uint8_t stack[8192] __attribute__((aligned(16)));

    __asm__ volatile("mov %%cr3, %0" : "=r"(second.cr3));
    first.cr3 = second.cr3;
    second.eip = (uint32_t)double_fault;
    second.esp = (uint32_t)(stack + sizeof stack);
    second.eflags = 2;
    second.cs = CODE;
    second.es = second.ss = second.ds = second.fs = second.gs = DATA;
    gdt[FIRST_TASK / 8] = descriptor(&first);
    gdt[SECOND_TASK / 8] = descriptor(&second);
    gates[8] = (struct gate){0, SECOND_TASK, 0x8500, 0};
    __asm__ volatile("ltr %w0" : : "r"(FIRST_TASK));
}

/* docs/exceptions.md. All that is interrupted is the kernel. */
static int cross(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    const struct frame *saved = (const struct frame *)(uintptr_t)(frame->regs.sp + 4);

    (void)ctx;
    if (frame->regs.pc_kind != SFU_PC_RETURN || frame->regs.pc != (uintptr_t)handler_returned)
        return code;
    interrupted->regs.pc = saved->pc;
    interrupted->regs.sp = SAVED_SP(saved);
    interrupted->regs.fp = saved->r[2];
    return SFU_OK;
}
#endif

/* ---- Crashes ---- */

static void end(void)
{
    say("DONE\n");
    for (;;)
        continue;
}

step static void panic(const char *why)
{
    say(why);
    sfu_panic_here();
    end();
}

step static void illegal(void)
{
    __asm__ volatile("ud2");
}

#ifdef WITH_STUBS
_Noreturn void stopped(void);

_Noreturn void stopped(void)
{
    panic("stopped\n");
    for (;;)
        continue;
}
#endif

static volatile bool ticks;

step static void tick(void)
{
    illegal();
    sink++;
}

/* A page fault and a general protection fault panic in their handler, behind an error code; the others print where
 * they were. */
step void handle(struct frame *frame)
{
    if (frame->number == 13 || frame->number == 14) {
        const uint32_t pc = frame->pc;

        if (pc == 0 || pc == NOWHERE)
            sfu_panic_trap(pc, SAVED_SP(frame), frame->r[2], 0);
        else
            panic("in a handler\n");
        end();
    }
    if (frame->number == 32) {
        out(0x20, 0x20);
        tick();
    } else {
        sfu_panic_trap(frame->pc, SAVED_SP(frame), frame->r[2], 0);
        end();
    }
    sink++;
}

step static int recurse(int n)
{
    volatile int array[9];

    array[n] = n;
    if (n == 0)
        panic("panic\n");
    else
        array[n] += recurse(n - 1);
    return array[n] + sink;
}

step static void scenario_panic(void)
{
    sink += recurse(3);
    sink++;
}

step static void scenario_fault(void)
{
    illegal();
    sink--; /* another function than tick */
}

static void (*volatile target)(int);

step static void through(int n)
{
    volatile int array[5];

    array[n] = n;
    target(array[n]);
    sink++;
}

step static void scenario_null(void)
{
    through(3);
    sink++;
}

step static void scenario_wild(void)
{
    target = (void (*)(int))NOWHERE;
    through(3);
    sink++;
}

step static void write_at(volatile int *p)
{
    *p = 1;
}

step static void scenario_page(void)
{
    write_at((volatile int *)NOWHERE);
    sink++;
}

/* Loads a selector behind the end of the table of segments. */
step static void scenario_protection(void)
{
    __asm__ volatile("mov %0, %%fs" : : "r"(0x100));
    sink++;
}

step static void spin(void)
{
    __asm__ volatile("sti");
    while (!ticks)
        continue;
}

step static void scenario_interrupt(void)
{
    spin();
    sink++;
}

step static int grow(int n)
{
    volatile int array[20];

    array[n % 20] = n;
    return grow(n + 1) + array[n % 20];
}

step static void scenario_overflow(void)
{
    sink += grow(1);
    sink++;
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"panic", scenario_panic},         {"fault", scenario_fault},       {"null", scenario_null},
    {"wild", scenario_wild},           {"page", scenario_page},         {"protection", scenario_protection},
    {"interrupt", scenario_interrupt}, {"overflow", scenario_overflow}, {"unhooked", scenario_page}};

/* Whether the last word of LINE is NAME. */
static bool is_last(const char *line, const char *name)
{
    const char *last = line;
    unsigned i;

    for (; *line != '\0'; line++)
        if (*line == ' ')
            last = line + 1;
    for (i = 0; last[i] == name[i] && name[i] != '\0'; i++)
        continue;
    return last[i] == name[i];
}

void kernel_main(const char *line)
{
    unsigned i;

    init_paging();
    init_interrupts();
    if (sfu_panic_start(put) != SFU_OK)
        say("no tables\n");
#ifdef WITH_TASKS
    init_tasks();
    if (!is_last(line, "unhooked"))
        sfu_panic_printer()->own.trap_hook = cross;
#endif
    for (i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (is_last(line, scenarios[i].name))
            scenarios[i].run();
    say("no such scenario\nDONE\n");
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What all machines share: the start, what the unwinder may see (stacks, trap frames), and the ways into the panic
 * printer. Everything here is meant to be copied.
 */
#include "kernel.h"
#include "sfu_build_id.h"
#include "sfu_cycles.h"

bool kernel_crashed;
struct sfu_record kernel_crash __attribute__((section(".crash")));

static struct {
    struct sfu_stack stack;
    uint64_t floor; /* of the guard below it */
} stacks[STACKS];
static unsigned num_stacks;
static const struct trap *first_trap[CPUS]; /* where the trace of a CPU begins; NULL: not at a trap */
static uint64_t slide;                      /* by how much the kernel has been moved */

/* ---- console ---- */

static void put(void *ctx, char c)
{
    (void)ctx;
    machine_putc(c);
}

void kernel_print(const char *text)
{
    for (; *text != '\0'; text++)
        machine_putc(*text);
}

void kernel_print_hex(uint64_t value)
{
    unsigned digits;

    kernel_print("0x");
    for (digits = 16; digits > 0; digits--) {
        machine_putc("0123456789abcdef"[value >> 60]);
        value <<= 4;
    }
}

/* ---- what the unwinder may see ---- */

void kernel_add_stack(const void *low, uint64_t size, uint64_t guard)
{
    if (num_stacks < STACKS) {
        stacks[num_stacks].floor = (uintptr_t)low - guard;
        stacks[num_stacks].stack = (struct sfu_stack){low, (uintptr_t)low, (uintptr_t)low + (sfu_addr)size};
        num_stacks++;
    }
}

const struct sfu_stack *kernel_stack(unsigned i)
{
    return i < num_stacks ? &stacks[i].stack : NULL;
}

/* The SP of an empty stack is its high end. If another stack begins there, that one is meant. */
static bool find_stack(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    bool found = false;
    unsigned i;

    (void)ctx;
    for (i = 0; i < num_stacks; i++) {
        uint64_t high = stacks[i].stack.high;

        if (addr < stacks[i].floor || addr > high || (addr == high && found))
            continue;
        *stack = stacks[i].stack;
        found = true;
    }
    return found;
}

bool kernel_read(sfu_addr addr, sfu_addr *value)
{
    return sfu_read_word(&kernel_target, addr, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, value) == SFU_OK;
}

/* The trap frame that SP points to; NULL: there is none. */
static const struct trap *trap_at(uint64_t sp)
{
    const struct trap *trap = machine_trap_at(sp);
    sfu_addr addr = (uintptr_t)trap;
    struct sfu_stack stack;

    return find_stack(NULL, addr, &stack) && addr >= stack.low && stack.high - addr >= sizeof *trap ? trap : NULL;
}

/* A bit of frame->saved, which is a multiple of 8 otherwise: it is then the address of a struct trap. That one is of an
 * exception that came while exception_entry had not saved the registers yet, or had restored them. */
#define INNER 1

/* The trap that has saved the registers of FRAME; NULL: none, or it is not known. While exception_entry is at work, its
 * table leads to a struct trap that is incomplete: its places for PC and SP then hold others. */
static const struct trap *trap_of(const struct sfu_frame *frame)
{
    const struct trap *trap = frame->interrupted ? trap_at(frame->saved) : first_trap[machine_cpu()];

    if ((frame->saved & INNER) != 0)
        return (const struct trap *)(uintptr_t)(frame->saved - INNER);
    if (trap == NULL || trap->pc != frame->regs.pc || trap->r[SFU_REG_SP] != frame->regs.sp)
        return NULL;
    return trap;
}

static int trap_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    const struct trap *trap = trap_of(frame);

    (void)ctx;
    if (trap == NULL || reg >= sizeof trap->r / sizeof trap->r[0])
        return -1;
    *value = trap->r[reg];
    return 0;
}

/* The registers that TRAP has interrupted. */
static struct sfu_registers registers_of(const struct trap *trap)
{
    struct sfu_registers regs = {.pc = trap->pc, .sp = trap->r[SFU_REG_SP], .fp = trap->r[SFU_REG_FP]};

#ifdef SFU_REG_RA
    regs.ra = trap->r[SFU_REG_RA];
    regs.has_ra = true;
#endif
    return regs;
}

/* The trap hook: what exception_entry has interrupted, where no table says it. */
static int cross_trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    const struct trap *inner;

    (void)ctx;
    /* No table at all. */
    if (machine_saved(sfu_lookup_pc(&frame->regs)) && trap_at(frame->regs.sp) != NULL) {
        interrupted->regs = registers_of(trap_at(frame->regs.sp));
        return SFU_OK;
    }
    inner = trap_of(frame);
    if (inner == NULL || inner->pc != frame->regs.pc)
        return code;
    interrupted->regs = registers_of(inner);
    interrupted->saved = (uintptr_t)inner + INNER;
    return machine_crossed(inner, &interrupted->regs) ? (int)SFU_OK : code;
}

struct sfu_target kernel_target = {
    .find_stack = find_stack,
    .reg = trap_register,
    .max_frames = 64,
#ifdef MACHINE_PAC_MASK
    .pac_mask = MACHINE_PAC_MASK,
#endif
    .trap_hook = cross_trap,
};

/* ---- into the printer ---- */

struct sfu_panic kernel_printer = {.target = &kernel_target,
                                   .put = put,
                                   .symbol = kernel_symbol,
                                   .image = "kernel.elf",
                                   .cycles = sfu_print_cycles};

extern const char build_id_start[], build_id_end[];
extern uint8_t image_start[], text_end[];

/* No name is known. */
__attribute__((weak)) const char *kernel_symbol(void *ctx, sfu_addr addr, sfu_addr *offset)
{
    (void)ctx;
    (void)addr;
    (void)offset;
    return NULL;
}

static void trace(const struct sfu_registers *from)
{
    kernel_printer.slide = (sfu_addr)slide;
    if (kernel_printer.busy == 0)
        sfu_print_build_id(&kernel_printer, build_id_start, build_id_end);
    (void)sfu_panic_print(&kernel_printer, from);
}

/* The end of every panic. */
static _Noreturn void crash(const struct sfu_registers *from)
{
    (void)sfu_record_write(&kernel_crash, &kernel_printer, (uintptr_t)image_start, from);
    trace(from);
    machine_exit(false);
}

/* What a crash before the last reset has left. */
static bool print_crash(void)
{
    enum sfu_record_state state = sfu_record_print(&kernel_crash, &kernel_printer, (uintptr_t)image_start);

    if (state != SFU_RECORD_NONE)
        sfu_record_clear(&kernel_crash);
    return state != SFU_RECORD_NONE;
}

void kernel_trace(void)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);

    trace(&here);
}

_Noreturn void panic(const char *why)
{
    struct sfu_cpu cpu;
    struct sfu_registers here;

    kernel_print("panic: ");
    kernel_print(why);
    kernel_print("\n");
    here = sfu_here(&cpu);
    crash(&here);
}

void kernel_trace_thread(const struct thread *thread)
{
    struct sfu_registers left = {.pc = (uintptr_t)thread_left, .sp = (sfu_addr)thread->sp};

    trace(&left);
}

struct sfu_registers kernel_interrupted(const struct trap *trap)
{
    first_trap[machine_cpu()] = trap;
    return registers_of(trap);
}

void kernel_trace_cpu(unsigned cpu, const struct trap *trap)
{
    struct sfu_registers at;

    if (cpu == machine_cpu())
        return;
    sfu_print_number(&kernel_printer, "CPU ", cpu, 10, 1);
    kernel_print(trap != NULL ? ":\n" : " has not stopped\n");
    if (trap == NULL)
        return;
    at = kernel_interrupted(trap);
    trace(&at);
}

static _Noreturn void report_fault(const struct trap *trap)
{
    struct sfu_registers at = kernel_interrupted(trap);

    kernel_print(kernel_printer.busy != 0 ? "\nfault: " : "fault: ");
    kernel_print(machine_cause(trap));
    kernel_print(", address ");
    kernel_print_hex(machine_fault_address(trap));
    kernel_print("\n");
    crash(&at);
}

/* Nothing is to be done about the timer. */
__attribute__((weak)) bool kernel_handle(struct trap *trap, bool timer)
{
    (void)trap;
    return timer;
}

/* Called by exception_entry. TRAP may have come in the midst of a trace, which then goes on. */
void kernel_trap(struct trap *trap);
void kernel_trap(struct trap *trap)
{
    const struct trap **first = &first_trap[machine_cpu()], *before = *first;

    if (!kernel_handle(trap, machine_trap(trap)))
        report_fault(trap);
    *first = before;
}

/* ---- threads ---- */

void kernel_new_thread(struct thread *thread, void *stack, uint64_t size, void (*entry)(void))
{
    kernel_add_stack(stack, size, 0);
    thread->sp = machine_new_thread((uintptr_t)stack + size, entry);
}

/* ---- start ---- */

extern uint8_t guard[], boot_stack[], boot_stack_top[];
struct relocation {
    uintptr_t offset, info;
#ifndef MACHINE_REL
    uintptr_t addend;
#endif
};
extern const struct relocation relocations_start[], relocations_end[];

/* boot.S: on the boot stack of the moved kernel, calls kernel_restart. */
_Noreturn void boot_again(uint64_t distance, void (*entry)(void));
_Noreturn void kernel_restart(uint64_t distance, void (*entry)(void));
_Noreturn void kernel_start(uintptr_t boot);

/* The image is position-independent: each of its relocations is where the image is, plus a number. With MACHINE_REL the
 * number is in the place itself. */
static void relocate(uint64_t distance)
{
    const struct relocation *r;

    for (r = relocations_start; r < relocations_end; r++) {
        uintptr_t *place = (uintptr_t *)(uintptr_t)(r->offset + distance);

#ifdef MACHINE_REL
        *place += (uintptr_t)distance;
#else
        *place = (uintptr_t)(r->addend + distance);
#endif
    }
}

/* All of the kernel's code, also what has no table: a PC elsewhere is not code. */
static void set_text(void)
{
    struct sfu_section *s;

    for (s = kernel_target.sections; s != NULL; s = s->next) {
        s->text.low = (uintptr_t)image_start;
        s->text.high = (uintptr_t)text_end;
    }
}

static void init(uintptr_t boot)
{
    num_stacks = 0;
    kernel_add_stack(boot_stack, (uint64_t)(boot_stack_top - boot_stack), (uint64_t)(boot_stack - guard));
    machine_init(boot);
    machine_protect((uintptr_t)guard);
    kernel_open_tables();
    set_text();
}

_Noreturn void kernel_start(uintptr_t boot)
{
    relocate(0);
    init(boot);
    kernel_crashed = print_crash();
    kernel_main(machine_command_line());
    machine_exit(true);
}

_Noreturn void kernel_move(uint64_t distance, void (*entry)(void))
{
    const uint8_t *from;

    for (from = image_start; from < guard; from++)
        ((uint8_t *)from)[distance] = *from;
    relocate(distance);
    ((void (*)(uint64_t, void (*)(void)))(uintptr_t)((uintptr_t)boot_again + distance))(
        distance, (void (*)(void))(uintptr_t)((uintptr_t)entry + distance));
    __builtin_unreachable();
}

_Noreturn void kernel_restart(uint64_t distance, void (*entry)(void))
{
    slide = distance;
    kernel_target.sections = NULL;
    init(0);
    entry();
    machine_exit(true);
}

/* ---- what compilers expect to exist ---- */

void *memcpy(void *restrict to, const void *restrict from, size_t len);
void *memset(void *to, int value, size_t len);

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    while (len-- > 0)
        *t++ = *f++;
    return to;
}

void *memset(void *to, int value, size_t len)
{
    uint8_t *t = to;

    while (len-- > 0)
        *t++ = (uint8_t)value;
    return to;
}

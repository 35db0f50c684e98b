/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Stops the CPU at each instruction of exception_entry by a breakpoint of its own, walks from there and compares with
 * what is known of the function that was interrupted. A debug exception that comes there is what an NMI or a machine
 * check would be.
 *
 * Not reached by breakpoints are, because the CPU masks them or an exception there destroys what it needs itself:
 * aarch64's and RISC-V's way in, s390x's for program interruptions, and RISC-V's last instructions.
 */
#include "scenarios.h"

enum { ILLEGAL, WAIT, ERROR };

void probe_caller(uint64_t known[4], uint64_t what);
extern const char exception_entry[], exception_entry_end[], probe_illegal[], probe_wait[], probe_error[],
    probe_return[];

/* What is known of probe when it is interrupted: SP, FP, where it returns to; a word for itself. */
static uint64_t known[4], interrupted_pc;
static uintptr_t place;          /* where the CPU is to stop */
static unsigned places, unknown; /* unknown: what is behind it is said to be */
static struct sfu_walk walk;

/* ---- breakpoints, by machine ---- */

#if defined(__x86_64__) || defined(__i386__)
enum { KEPT = 3 };
extern const char vectors[], vectors_end[], debug_entry[];

static void break_at(uintptr_t pc)
{
    __asm__ volatile("mov %0, %%dr0; mov %1, %%dr7" : : "r"(pc), "r"((uintptr_t)(pc != 0)));
}

static bool is_break(const struct trap *trap)
{
    return trap->vector == 1;
}

static uintptr_t behind(uintptr_t at)
{
    return at + 1;
}

/* Vector 1 leads to debug_entry. */
static void set_breaks(void)
{
    struct {
        uint16_t limit;
        uintptr_t base;
    } __attribute__((packed)) idt;
    uint16_t *gate;
    uint64_t entry = (uintptr_t)debug_entry;

    __asm__ volatile("sidt %0" : "=m"(idt));
    gate = (uint16_t *)(idt.base + 2 * sizeof(uintptr_t));
    gate[0] = (uint16_t)entry;
    gate[3] = (uint16_t)(entry >> 16);
#if defined(__x86_64__)
    gate[4] = (uint16_t)(entry >> 32);
#endif
}

static void allow_breaks(void)
{
}

/* Goes on behind a breakpoint. */
static void go_on(struct trap *trap, const struct trap *outer)
{
    (void)trap;
    (void)outer;
}
#elif defined(__aarch64__)
enum { KEPT = 19 };
extern const char exception_known[], exception_saved[], exception_restored[];

/* Breakpoint 0, for EL1. */
static void break_at(uintptr_t pc)
{
    const uint64_t control = pc != 0 ? 0x1e3 : 0, kernel_debug = 0xa000;

    __asm__ volatile("msr oslar_el1, xzr; msr dbgbvr0_el1, %0; msr dbgbcr0_el1, %1; msr mdscr_el1, %2; isb"
                     :
                     : "r"(pc), "r"(control), "r"(kernel_debug));
}

static bool is_break(const struct trap *trap)
{
    return trap->irq == 0 && trap->syndrome >> 26 == 0x31;
}

static uintptr_t behind(uintptr_t at)
{
    return at + 4;
}

static void allow_breaks(void)
{
    __asm__ volatile("msr daifclr, #8");
}

/* The exception has written over ELR_EL1. So the way out begins again, or is done at ERET. */
static void go_on(struct trap *trap, const struct trap *outer)
{
    if (trap->pc == (uintptr_t)exception_restored) {
        trap->pc = outer->pc;
        trap->spsr = outer->spsr;
    } else {
        trap->pc = (uintptr_t)exception_saved + 4;
    }
}
#elif defined(__riscv)
enum { KEPT = 18, BREAKPOINT = 3, C_EBREAK = 0x9002 };
extern const char exception_known[], exception_saved[], exception_handled[], exception_left[], exception_restored[];

static volatile uint16_t *broken; /* where the breakpoint is; NULL: nowhere */

static void break_at(uintptr_t pc)
{
    static uint16_t replaced;

    if (broken != NULL)
        *broken = replaced;
    broken = (volatile uint16_t *)pc;
    if (broken != NULL) {
        replaced = *broken;
        *broken = C_EBREAK;
    }
    __asm__ volatile("fence.i" : : : "memory");
}

static bool is_break(const struct trap *trap)
{
    return trap->cause == BREAKPOINT;
}

static uintptr_t behind(uintptr_t at)
{
    return at + ((*(const volatile uint16_t *)at & 3) == 3 ? 4 : 2);
}

static void allow_breaks(void)
{
}

/* The exception has written over the registers that the way out had set. So it begins again, or is done where there is
 * nothing left that it could begin with. */
static void go_on(struct trap *trap, const struct trap *outer)
{
    if (trap->pc >= (uintptr_t)exception_left) {
        __builtin_memcpy(trap->r, outer->r, sizeof trap->r);
        trap->pc = outer->pc;
        trap->status = outer->status;
    } else {
        trap->pc = (uintptr_t)exception_handled;
    }
}
#elif defined(__arm__)
enum { KEPT = 4 };
extern const char vectors[], vector_undefined[], vector_interrupt[], debug_entry[];

/* Where the breakpoint is, and what it has replaced: for debug_entry, which puts that back. NULL: nowhere. */
volatile uint32_t *broken;
uint32_t replaced;

/* Vectors and exception_entry are A32 code. */
static void break_at(uintptr_t pc)
{
    if (broken != NULL)
        *broken = replaced;
    broken = (volatile uint32_t *)pc;
    if (broken != NULL) {
        replaced = *broken;
        *broken = 0xe1200070; /* BKPT */
    }
    __asm__ volatile("dsb; mcr p15, 0, %0, c7, c5, 0; dsb; isb" : : "r"(0) : "memory"); /* ICIALLU */
}

/* The vector of prefetch aborts leads to debug_entry. */
static void set_breaks(void)
{
    uintptr_t slot = (uintptr_t)vectors + 12;

    __asm__("" : "+r"(slot));
    *(volatile uint32_t *)slot = 0xea000000 | (((uintptr_t)debug_entry - slot - 8) >> 2 & 0xffffff);
    break_at(0);
}

/* A debug event, by the fault status. */
static bool is_break(const struct trap *trap)
{
    return trap->reason == REASON_INSTRUCTION && (trap->status & 0x40f) == 2;
}

static uintptr_t behind(uintptr_t at)
{
    return at + 4;
}

static void allow_breaks(void)
{
}

/* The mode of aborts has an LR and an SPSR of its own. */
static void go_on(struct trap *trap, const struct trap *outer)
{
    (void)trap;
    (void)outer;
}
#else
enum { KEPT = 6 };
extern const char program_saved[], program_restored[], external_entry[];
#define PER 0x4000000000000000u

static uint64_t *new_mask(uintptr_t at)
{
    __asm__("" : "+r"(at));
    return (uint64_t *)at;
}

/* Program-event recording of one address: before the instruction there is executed. */
static void break_at(uintptr_t pc)
{
    const uint64_t control[3] = {pc != 0 ? 0x41000000 : 0, pc, pc};

    *new_mask(0x1b0) |= PER;
    *new_mask(0x1d0) |= PER;
    __asm__ volatile("lctlg 9, 11, %0" : : "S"(control));
}

static bool is_break(const struct trap *trap)
{
    return trap->irq == 0 && (trap->code & 0x80) != 0;
}

static uintptr_t behind(uintptr_t at)
{
    return at + 2;
}

static void allow_breaks(void)
{
    uint8_t mask;

    __asm__ volatile("stosm %0, 0x40" : "=Q"(mask));
}

/* A way out uses one PSW in the low core, which that of the breakpoint may have used since: it begins again. */
static void go_on(struct trap *trap, const struct trap *outer)
{
    if (trap->pc == (uintptr_t)program_restored) {
        trap->pc = outer->pc;
        trap->mask = outer->mask;
    } else if (trap->pc > (uintptr_t)program_saved && trap->pc < (uintptr_t)program_restored) {
        trap->pc = (uintptr_t)program_saved + 6;
    }
}
#endif

/* Whether a trap that comes at PLACE writes over what has to be found. */
static bool is_lost(void)
{
#if defined(__riscv)
    return place >= (uintptr_t)exception_left && place < (uintptr_t)exception_restored;
#else
    return false;
#endif
}

/* ---- what must hold at each place ---- */

static void must(bool condition, const char *what)
{
    if (!condition) {
        break_at(0);
        kernel_print("at exception_entry + ");
        kernel_print_hex(place - (uintptr_t)exception_entry);
        kernel_print(": ");
        panic(what);
    }
}

/* The frame of probe, as it was interrupted. */
static void check_probe(void)
{
    const struct sfu_frame *frame = &walk.frame;
    sfu_addr kept;

    must(frame->interrupted && frame->regs.pc_kind == SFU_PC_EXACT && frame->depth == 1,
         "not an interrupted frame");
    must(frame->regs.pc == interrupted_pc, "another PC");
    must(frame->regs.sp == known[0], "another SP");
    must(frame->regs.fp == known[1] && known[1] == PROBE_FP, "another FP");
    if (kernel_target.reg(NULL, frame, KEPT, &kept) == 0)
        must(kept == PROBE_KEPT, "another register");
}

/* Walks from TOP, which is at the place. LOST: what has to be found has been written over, so there is no end. */
static void check(const struct sfu_registers *top, bool lost)
{
    int code;

    places++;
    sfu_walk_start(&walk, &kernel_target, top);
    code = sfu_walk_step(&walk);
    if (code == SFU_E_NO_FDE || code == SFU_E_NO_ROW || lost) {
        while (code == SFU_OK)
            code = sfu_walk_step(&walk);
        must(code != SFU_END, "an end behind what is written over");
        unknown++;
        return;
    }
    must(code == SFU_OK, sfu_string(code));
    check_probe();
    code = sfu_walk_step(&walk);
    must(code == SFU_OK, sfu_string(code));
    must(walk.frame.regs.pc == known[2], "another caller");
    while (code == SFU_OK)
        code = sfu_walk_step(&walk);
    must(code == SFU_END && walk.frame.reliable, sfu_string(code));
}

#if defined(__aarch64__)
/* Registers at a place that no breakpoint reaches: a trap that came there would have saved them. X2 has the PC from
 * where it is needed on. */
static const struct trap *placed;
static int (*own_reg)(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value);

static int placed_reg(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    if (frame->depth > 0 || reg != 2)
        return own_reg(ctx, frame, reg, value);
    *value = placed->pc;
    return 0;
}

static void place_registers(const struct trap *trap)
{
    placed = trap;
    own_reg = kernel_target.reg;
    kernel_target.reg = placed_reg;
}

static void forget_registers(void)
{
    kernel_target.reg = own_reg;
}
#elif defined(__riscv)
static void place_registers(const struct trap *trap)
{
    (void)trap;
}

static void forget_registers(void)
{
}
#endif

#if defined(__aarch64__) || defined(__riscv)
/* At each place from FIRST on, below END, that no breakpoint reaches: TRAP has what is on the stack there, and more. */
static void check_places(const struct trap *trap, const char *first, const char *end)
{
    for (place = (uintptr_t)first; place < (uintptr_t)end; place = behind(place)) {
        const struct sfu_registers top = {.pc = place, .sp = (uintptr_t)trap, .fp = trap->r[SFU_REG_FP]};

        check(&top, false);
    }
}

static bool go_in(struct trap *trap)
{
    place_registers(trap);
    check_places(trap, exception_entry, exception_saved);
    forget_registers();
#if defined(__riscv)
    check_places(trap, exception_left, exception_restored);
#endif
    trap->pc = (uintptr_t)probe_return;
    return true;
}
#endif

static bool stop(struct trap *trap)
{
    static struct trap outer;
    struct sfu_registers top;

    if (is_break(trap)) {
        break_at(0);
        must(trap->pc == place, "not the breakpoint");
        top = kernel_interrupted(trap);
        check(&top, is_lost());
        go_on(trap, &outer);
    } else {
        must(trap->pc == interrupted_pc, "not the exception of probe");
        trap->pc = (uintptr_t)probe_return;
        outer = *trap;
        interrupted_pc = trap->pc; /* where it goes back to is what the way out has to show */
        allow_breaks();
    }
    return true;
}

/* ---- the way back fails ---- */

/* Makes the return from the exception of probe fail, at the instruction that returns. Only x86's can: the others go
 * back first, so that there it is a breakpoint. */
static bool fail(struct trap *trap)
{
    hooks.trap = NULL;
    trap->pc = (uintptr_t)probe_return;
#if defined(__x86_64__) || defined(__i386__)
    trap->cs = 0x1000; /* behind the end of the GDT */
#elif defined(__aarch64__)
    break_at((uintptr_t)exception_restored);
    allow_breaks();
#elif defined(__riscv)
    break_at((uintptr_t)exception_restored);
#elif defined(__arm__)
    set_breaks();
    break_at((uintptr_t)exception_entry_end - 4);
#else
    break_at((uintptr_t)program_restored);
    allow_breaks();
#endif
    return true;
}

void scenario_return(void)
{
    hooks.trap = fail;
    probe_caller(known, ILLEGAL);
}

#if defined(__aarch64__)
/* A state that this CPU has not. It goes back, and finds out there. (FAULTS.md: qemu-illegal-psw.) */
static bool spoil(struct trap *trap)
{
    hooks.trap = NULL;
    trap->pc = (uintptr_t)probe_return;
    trap->spsr |= 8; /* EL2 */
    return true;
}

void scenario_return_illegal(void)
{
    hooks.trap = spoil;
    probe_caller(known, ILLEGAL);
}
#endif

/* ---- every place ---- */

/* Stops at each place from FIRST on, below END, in an exception of kind WHAT. */
static void run(const char *first, const char *end, uint64_t what)
{
    const char *const at[] = {probe_illegal, probe_wait, probe_error};

    for (place = (uintptr_t)first; place < (uintptr_t)end; place = behind(place)) {
        interrupted_pc = (uintptr_t)at[what];
        if (what == WAIT)
            machine_start_timer();
        break_at(place);
        probe_caller(known, what);
        break_at(0);
    }
}

/* How many times the CPU stopped, and how many of the traces said that they do not know what was interrupted. */
static void report(const char *what)
{
    kernel_print(what);
    kernel_print(" ");
    kernel_print_hex(places);
    kernel_print(" ");
    kernel_print_hex(unknown);
    kernel_print("\n");
    places = unknown = 0;
}

void scenario_entry(void)
{
    hooks.trap = stop;
#if defined(__x86_64__) || defined(__i386__)
    set_breaks();
    run(exception_entry, exception_entry_end, ILLEGAL);
    run(exception_entry, exception_entry_end, WAIT);
    run(exception_entry, exception_entry_end, ERROR);
    report("entry");
    run(vectors + 16 * 6, vectors + 16 * 7, ILLEGAL);
    run(vectors + 16 * 32, vectors_end, WAIT);
    run(vectors + 16 * 13, vectors + 16 * 14, ERROR);
    report("vectors");
#elif defined(__aarch64__)
    hooks.trap = go_in;
    interrupted_pc = (uintptr_t)probe_illegal;
    probe_caller(known, ILLEGAL);
    report("way in");
    hooks.trap = stop;
    run(exception_saved + 4, exception_entry_end, ILLEGAL);
    run(exception_saved + 4, exception_entry_end, WAIT);
    report("entry");
#elif defined(__riscv)
    hooks.trap = go_in;
    interrupted_pc = (uintptr_t)probe_illegal;
    probe_caller(known, ILLEGAL);
    report("without breakpoints");
    hooks.trap = stop;
    run(exception_handled, exception_entry_end, ILLEGAL);
    run(exception_handled, exception_entry_end, WAIT);
    report("entry");
#elif defined(__arm__)
    set_breaks();
    run(exception_entry, exception_entry_end, ILLEGAL);
    run(exception_entry, exception_entry_end, WAIT);
    report("entry");
    run(vector_undefined, vector_undefined + 32, ILLEGAL);
    run(vector_interrupt, vector_interrupt + 32, WAIT);
    report("vectors");
#else
    run(program_saved + 6, external_entry, ILLEGAL);
    run(external_entry, exception_entry_end, WAIT);
    report("entry");
#endif
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Every way in which a kernel comes to a trace; the command line chooses one. crashes.py has the functions that each of
 * them must show, written from this file. Functions are called as they stand here: `step` keeps the compiler from
 * merging them, and the file is compiled without sibling calls.
 */
#include "scenarios.h"
#include "sfu_all.h"
#include "sfu_print.h"
#include "sfu_trap.h"
#include "step.h"

static uint64_t *volatile nowhere = (uint64_t *)NOWHERE;

/* Leaf functions that fault in their first instruction, before they could have a frame. */
step static void illegal(void)
{
    __asm__ volatile(ILLEGAL_INSTRUCTION);
}

step static uint64_t read_at(const volatile uint64_t *p)
{
    return *p;
}

/* ---- an assertion ---- */

step static void assert_3(int value)
{
    if (value != 1)
        panic("value == 1"); /* the last instruction: the return address is that of another function */
}

step static void assert_2(int value)
{
    assert_3(value + 1);
}

step static void assert_1(int value)
{
    assert_2(value + 1);
}

step static void scenario_assert(void)
{
    assert_1(3);
}

/* ---- faults in a leaf ---- */

step static void scenario_memory(void)
{
    (void)read_at(nowhere);
}

step static void scenario_illegal(void)
{
    illegal();
}

/* The compiler's own trap. */
step static void trapped(void)
{
    __builtin_trap();
}

step static void scenario_trap(void)
{
    kernel_printer.before = sfu_print_trap;
    trapped();
}

/* As clang writes it behind a check of an index that has failed (-fsanitize-trap=bounds). */
step static void scenario_trap_bounds(void)
{
    kernel_printer.before = sfu_print_trap;
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("ud1l 18(%eax), %eax");
#elif defined(__aarch64__)
    __asm__ volatile("brk #0x5512");
#else
    __builtin_trap();
#endif
}

/* ---- interrupts ---- */

static volatile bool ticked;

/* A leaf function. The interrupt cannot come before it. */
step static void spin(void)
{
    machine_enable();
    while (!ticked) {
    }
}

step static void tick_2(void)
{
    illegal();
}

step static void tick_1(void)
{
    tick_2();
}

void await_interrupt(void)
{
    hooks.timer = tick_1;
    machine_start_timer();
}

step static void scenario_irq(void)
{
    await_interrupt();
    spin();
}

step static void tick(void)
{
    ticked = true;
}

/* An interrupt that comes and goes: what it interrupted goes on unharmed. */
step static void scenario_tick(void)
{
    hooks.timer = tick;
    machine_start_timer();
    spin();
    kernel_print("ticked\n");
    scenario_assert();
}

#if defined(__arm__)
/* ---- a call of the kernel ---- */

static bool on_call(struct trap *trap)
{
    (void)trap;
    hooks.trap = NULL;
    illegal();
    return true;
}

/* The link register is that of the call's own mode: nothing of this one is lost. */
step static void call_kernel(void)
{
    __asm__ volatile("svc #1\n\tnop");
}

step static void scenario_call(void)
{
    hooks.trap = on_call;
    call_kernel();
}
#endif

/* ---- a fault in a fault, and in the printer ---- */

step static void fault_again(void)
{
    illegal();
}

step static void scenario_nested(void)
{
    hooks.fault = fault_again;
    (void)read_at(nowhere);
}

step static void put_and_fault(void *ctx, char c)
{
    static unsigned lines, characters;

    (void)ctx;
    lines += c == '\n';
    if (lines == 3 && ++characters == 10) /* of the line of frame 2 */
        illegal();
    machine_putc(c);
}

step static void scenario_printer(void)
{
    kernel_printer.put = put_and_fault;
    scenario_assert();
}

/* ---- stacks that have run over ---- */

step static unsigned recurse(unsigned n)
{
    return recurse(n + 1) + n;
}

step static void scenario_overflow(void)
{
    (void)recurse(0);
}

step static unsigned recurse_big(unsigned n)
{
    volatile uint8_t page[4096];

    __asm__("" : : "r"(page) : "memory"); /* all of it is needed */
    page[0] = (uint8_t)n;
    return recurse_big(n + 1) + page[0];
}

step static void scenario_overflow_big(void)
{
    (void)recurse_big(0);
}

/* ---- a fault that writes over what has been popped ---- */

#if defined(__x86_64__) || defined(__i386__)
#if defined(__x86_64__)
#define WORD "8"
#define REG  "%r"
#else
#define WORD "4"
#define REG  "%e"
#endif
/* An epilogue as gcc makes it: no CFI says that FP has been restored, so that its rule is still the word that has been
 * popped. Then comes a fault, which stores SS there, or on i386 the flags. */
void popped(void);
__asm__(".text\n"
        ".hidden popped\n"
        ".type popped, @function\n"
        "popped:\n"
        "    .cfi_startproc\n"
        "    push " REG "bx\n"
        "    .cfi_adjust_cfa_offset " WORD "\n"
        "    push " REG "bp\n"
        "    .cfi_adjust_cfa_offset " WORD "\n"
        "    .cfi_rel_offset " REG "bp, 0\n"
        "    xor %ebp, %ebp\n"
        "    pop " REG "bp\n"
        "    .cfi_adjust_cfa_offset -" WORD "\n"
        "    pop " REG "bx\n"
        "    .cfi_adjust_cfa_offset -" WORD "\n"
        "    ud2\n"
        "    .cfi_endproc\n"
        "    .size popped, . - popped\n");

/* Only FP says where its caller is, because only the run knows the size of the array. */
step static void with_array(unsigned n)
{
    volatile uint8_t array[n];

    __asm__("" : : "r"(array) : "memory");
    popped();
    array[0] = 0;
}

step static void scenario_popped(void)
{
    with_array(100);
}
#endif

/* ---- stacks that have been written to ---- */

/* An address below the caller's frame, of which the compiler knows nothing. */
step static volatile uint64_t *below(void)
{
    volatile uint64_t local = 0;
    volatile uint64_t *at = &local;

    __asm__("" : "+r"(at));
    return at;
}

step static void overwrite(void)
{
    volatile uint64_t *p = below();
    unsigned i;

    for (i = 0; i < 64; i++)
        p[i] = 0x5a5a5a5a5a5a5a5a;
    illegal();
}

step static void scenario_garbage(void)
{
    volatile uint64_t room[64];

    room[0] = 1;
    overwrite();
    room[1] = room[0];
}

/* The same, but it returns. */
step static void smash(void)
{
    volatile uintptr_t *p = (volatile uintptr_t *)below();
    unsigned i;

    for (i = 0; i < 64; i++)
        p[i] = SMASHED;
}

step static void scenario_smashed(void)
{
    volatile uint64_t room[64];

    room[0] = 1;
    smash();
    room[1] = room[0];
}

/* Puts TARGET where the return address of this function is kept; in its upper half it may be signed. */
step static void return_to(uint64_t target)
{
    volatile uintptr_t *p = (volatile uintptr_t *)below();

    while ((uint32_t)*p != (uint32_t)(uintptr_t)__builtin_return_address(0))
        p++;
    *p = (uintptr_t)target;
    illegal();
}

step static void scenario_zero(void)
{
    return_to(0);
}

uint64_t some_data[4] = {1, 2, 3, 4};

step static void scenario_data(void)
{
    return_to((uintptr_t)&some_data[2]);
}

/* ---- a table that has been written to ---- */

extern uint8_t sframe_start[], sframe_end[];

static uint32_t get32(const uint8_t *p)
{
    uint32_t value;

    __builtin_memcpy(&value, p, sizeof value);
    return value;
}

/* The attributes of the function at PC in the kernel's table, which is of version 3 and relative to its fields. */
static uint8_t *attributes(uintptr_t pc)
{
    const uint8_t *tables = sframe_start + 28 + sframe_start[7];
    const uint8_t *fde = tables + get32(sframe_start + 20);
    int64_t start;

#ifdef __thumb__
    pc &= ~(uintptr_t)1;
#endif
    for (;; fde += 16) {
        __builtin_memcpy(&start, fde, sizeof start);
        if ((uintptr_t)fde + (uint64_t)start == pc)
            return (uint8_t *)(uintptr_t)tables + get32(sframe_start + 24) + get32(fde + 12);
    }
}

step static void corrupt_2(void)
{
    panic("an FDE of unknown type");
}

step static void corrupt_1(void)
{
    corrupt_2();
}

step static void scenario_corrupt(void)
{
    attributes((uintptr_t)corrupt_1)[3] = 0x1f;
    corrupt_1();
}

step static void scenario_corrupt_all(void)
{
    uint8_t *p = sframe_start + 28 + sframe_start[7] + get32(sframe_start + 24);
    uint32_t i;

    for (i = 0; i < get32(sframe_start + 16); i++)
        p[i] = 0xff;
    corrupt_1();
}

/* ---- threads ---- */

static struct thread thread, main_thread;
static uint8_t thread_stack[8192] __attribute__((aligned(16)));

step static void yield(void)
{
    thread_switch(&thread.sp, main_thread.sp);
}

step static void work(void)
{
    yield();
    scenario_assert();
}

step static void thread_entry(void)
{
    work();
}

step static void scenario_thread(void)
{
    kernel_new_thread(&thread, thread_stack, sizeof thread_stack, thread_entry);
    thread_switch(&main_thread.sp, thread.sp);
    kernel_trace_thread(&thread);
}

step static void scenario_thread_panic(void)
{
    kernel_new_thread(&thread, thread_stack, sizeof thread_stack, thread_entry);
    thread_switch(&main_thread.sp, thread.sp);
    thread_switch(&main_thread.sp, thread.sp);
}

/* A thread whose saved SP is not in any stack. */
step static void scenario_lost(void)
{
    thread.sp = (uintptr_t)nowhere;
    kernel_trace_thread(&thread);
}

/* ---- another CPU ---- */

/* The recipe of docs/panic.md, in the order of its lines. */
static const unsigned num_cpus = 2;
static const struct trap *stopped[CPUS];
/* How many times to look whether a CPU has stopped. The host may let one CPU run for seconds, and the other one not. */
static uint32_t patience = UINT32_MAX;

static _Noreturn void in_the_interrupt(const struct trap *trap)
{
    __atomic_store_n(&stopped[machine_cpu()], trap, __ATOMIC_RELEASE);
    for (;;) {
    }
}

static bool stop_here(struct trap *trap)
{
    in_the_interrupt(trap);
}

/* What CPU was doing; NULL: it has not stopped yet. */
static const struct trap *stopped_at(unsigned cpu)
{
    return __atomic_load_n(&stopped[cpu], __ATOMIC_ACQUIRE);
}

static void in_the_panic(void)
{
    uint32_t tries;
    unsigned cpu;

    machine_stop_others();
    for (cpu = 0; cpu < num_cpus; cpu++) {
        for (tries = 0; tries < patience && cpu != machine_cpu() && stopped_at(cpu) == NULL; tries++) {
        }
        kernel_trace_cpu(cpu, stopped_at(cpu));
    }
}

static volatile bool running;

/* A leaf function. The interrupt cannot come before it. */
step static void run_on(void)
{
    running = true;
    while (running) {
    }
}

step static void second_work(void)
{
    run_on();
}

step static void second_main(void)
{
    machine_enable();
    second_work();
}

step static void stop_second(void (*entry)(void))
{
    hooks.trap = stop_here;
    kernel_add_stack(thread_stack, sizeof thread_stack, 0);
    machine_start_second((uintptr_t)thread_stack + sizeof thread_stack, entry);
    while (!running) {
    }
    kernel_trace();
    in_the_panic();
}

step static void scenario_second(void)
{
    stop_second(second_main);
}

/* One that lets no interrupt in: nothing but an NMI stops it. */
step static void scenario_second_deaf(void)
{
#if !defined(__x86_64__) && !defined(__i386__)
    patience = 10000000;
#endif
    stop_second(second_work);
}

/* ---- walks that meet ---- */

static volatile bool second_walks;
static unsigned inner_walks;

/* A walk is about to begin at TRAP. Another CPU begins one meanwhile, and a trap that comes here, too. */
step static bool is_kept(const struct trap *trap)
{
    struct sfu_registers top = kernel_interrupted(trap);
    struct sfu_walk walk;
    sfu_addr fp;

    sfu_walk_start(&walk, &kernel_target, &top);
    machine_stop_others();
    while (!second_walks) {
    }
    illegal();
    return inner_walks == 1 && kernel_target.reg(NULL, &walk.frame, SFU_REG_FP, &fp) == 0 &&
           fp == trap->r[SFU_REG_FP];
}

static bool walks_meet(struct trap *trap)
{
    static bool outer;

    if (machine_cpu() != 0) {
        (void)kernel_interrupted(trap);
        second_walks = true;
        while (running) { /* its walk lasts */
        }
    } else if (!outer) {
        outer = true;
        if (is_kept(trap))
            kernel_print("kept\n");
        trap->pc += ILLEGAL_SIZE;
    } else {
        (void)kernel_interrupted(trap);
        inner_walks++;
        trap->pc += ILLEGAL_SIZE;
    }
    return true;
}

step static void scenario_walks(void)
{
    hooks.trap = walks_meet;
    kernel_add_stack(thread_stack, sizeof thread_stack, 0);
    machine_start_second((uintptr_t)thread_stack + sizeof thread_stack, second_main);
    while (!running) {
    }
    illegal();
}

/* ---- recursion ---- */

void odd(unsigned n);

step static void down(unsigned n)
{
    if (n == 0)
        panic("deep enough");
    down(n - 1);
}

step static void even(unsigned n)
{
    if (n == 0)
        down(20);
    else
        odd(n - 1);
}

step void odd(unsigned n)
{
    even(n - 1);
}

step static void scenario_recursion(void)
{
    even(20);
}

/* ---- a printer of their own ---- */

static void put_character(void *ctx, char c)
{
    (void)ctx;
    machine_putc(c);
}

static struct sfu_panic own_printer = {
    .target = &kernel_target, .put = put_character, .symbol = kernel_symbol, .image = "kernel.elf"};

step static void die_2(void)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);

    (void)sfu_panic_print(&own_printer, &here);
}

/* The end of the machinery: whoever calls this is to be the first frame. */
step static void die(void)
{
    die_2();
}

step static void scenario_skip(void)
{
    own_printer.skip_function = (uintptr_t)die;
    die();
    own_printer.skip_function = (uintptr_t)illegal;
    die();
    own_printer.skip_function = 0;
    own_printer.skip = 1;
    die();
}

/* One that waits, one that has never run, one whose SP is lost, and this one. */
static bool next_thread(void *ctx, struct sfu_all_entry *entry)
{
    static const char *const names[] = {"waiting", "new", "lost", "running"};
    static struct sfu_cpu cpu;

    (void)ctx;
    if (entry->number == sizeof names / sizeof names[0])
        return false;
    entry->name = names[entry->number++];
    entry->top = (struct sfu_registers){.pc = (uintptr_t)thread_left, .sp = (sfu_addr)thread.sp};
    if (entry->number == 2) {
        entry->top.pc = (uintptr_t)thread_start;
        entry->top.sp = (uintptr_t)thread_stack + sizeof thread_stack;
    } else if (entry->number == 3) {
        entry->top.sp = (uintptr_t)nowhere;
    } else if (entry->number == 4) {
        entry->top = sfu_here(&cpu);
    }
    return true;
}

step static void scenario_threads(void)
{
    kernel_new_thread(&thread, thread_stack, sizeof thread_stack, thread_entry);
    thread_switch(&main_thread.sp, thread.sp);
    if (sfu_print_all(&own_printer, next_thread) == 4)
        kernel_print("four\n");
}

/* ---- a crash, a reset, and what the next boot says ---- */

step static void scenario_record(void)
{
    hooks.crashed = machine_reset;
    if (!kernel_crashed)
        scenario_assert();
}

step static void scenario_record_irq(void)
{
    hooks.crashed = machine_reset;
    if (!kernel_crashed)
        scenario_irq();
}

step static void scenario_record_overflow(void)
{
    hooks.crashed = machine_reset;
    if (!kernel_crashed)
        scenario_overflow();
}

/* As memory that has not kept all of it. */
static void spoil_and_reset(void)
{
    kernel_crash.words[2] ^= 0x100;
    machine_reset();
}

step static void scenario_record_corrupt(void)
{
    hooks.crashed = spoil_and_reset;
    if (!kernel_crashed)
        scenario_assert();
}

/* ---- how much stack a trace needs ---- */

extern const uint8_t boot_stack[], boot_stack_top[];

static void put_nothing(void *ctx, char c)
{
    (void)ctx;
    (void)c;
}

/* Prints to nowhere from a frame in calls, over a stack filled with a pattern, and says how far down it got. This is
 * README.md's way: one section, and one stack, for which no callback needs any stack of its own. */
step static void stack_2(void)
{
    static struct sfu_panic printer = {.put = put_nothing};
    static struct sfu_cpu cpu;
    static struct sfu_registers here;
    static volatile uint8_t *low, *p;

    if (sfu_panic_init(&printer, sframe_start, sframe_end, boot_stack, boot_stack_top) != SFU_OK)
        panic("sfu_panic_init");
    printer.own.pac_mask = kernel_target.pac_mask;
    low = machine_sp() - 4096;
    for (p = low; p < machine_sp(); p++)
        *p = 0x5a;
    here = sfu_here(&cpu);
    if (sfu_panic_print(&printer, &here) != SFU_END)
        panic("not the whole trace");
    for (p = low; *p == 0x5a; p++) {
    }
    kernel_print("stack ");
    kernel_print_hex((uint64_t)(machine_sp() - p));
    kernel_print("\n");
}

step static void stack_1(void)
{
    stack_2();
}

step static void scenario_stack(void)
{
    stack_1();
}

#ifndef NO_MODULES
/* ---- a module ---- */

extern uint8_t module_image[];
static struct module module;

step static void called_back(void)
{
    kernel_trace();
}

step static void scenario_module(void)
{
    if (!module_load(&module, module_image))
        panic("module_load");
    kernel_print((module.section.flags & 1) != 0 ? "sorted\n" : "not sorted\n");
    module.entry(called_back);
    kernel_print("removed\n");
    module_remove(&module);
    module.entry(called_back);
    kernel_print("sorted and added\n");
    if (sfu_sort(&module.section, (void *)(uintptr_t)module.section.bytes) != SFU_OK ||
        sfu_add(&kernel_target.sections, &module.section, 1, module.section.bytes, module.section.size,
                module.section.addr) != SFU_OK)
        panic("sfu_sort");
    module.entry(called_back);
}

/* A call through a null pointer in a module. */
step static void scenario_module_null(void)
{
    if (!module_load(&module, module_image))
        panic("module_load");
    module.entry(NULL);
}
#endif

/* ---- another address ---- */

step static void moved(void)
{
    scenario_assert();
}

step static void scenario_slide(void)
{
    kernel_move(16 << 20, moved);
}

step static void moved_irq(void)
{
    scenario_irq();
}

step static void scenario_slide_irq(void)
{
    kernel_move(16 << 20, moved_irq);
}

/* ---- */

step static void scenario_boot(void)
{
    kernel_print("running\n");
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"assert", scenario_assert},
    {"memory", scenario_memory},
    {"illegal", scenario_illegal},
    {"trap", scenario_trap},
    {"trap-bounds", scenario_trap_bounds},
    {"irq", scenario_irq},
    {"tick", scenario_tick},
    {"entry", scenario_entry},
    {"return", scenario_return},
#if defined(__aarch64__)
    {"return-illegal", scenario_return_illegal},
#endif
#if defined(__arm__)
    {"call", scenario_call},
#endif
    {"nested", scenario_nested},
    {"printer", scenario_printer},
    {"overflow", scenario_overflow},
    {"overflow-big", scenario_overflow_big},
    {"overflow-all", scenario_overflow_all},
    {"overflow-thread", scenario_overflow_thread},
#if defined(__x86_64__) || defined(__i386__)
    {"popped", scenario_popped},
#endif
    {"garbage", scenario_garbage},
    {"zero", scenario_zero},
    {"data", scenario_data},
    {"smashed", scenario_smashed},
    {"call-null", scenario_call_null},
    {"call-wild", scenario_call_wild},
    {"call-data", scenario_call_data},
    {"last", scenario_last},
    {"jump-null", scenario_jump_null},
    {"return-wild", scenario_return_wild},
#if defined(__x86_64__) || defined(__i386__)
    {"middle", scenario_middle},
    {"last-debug", scenario_last_debug},
    {"stepped", scenario_stepped},
#endif
    {"leaf", scenario_leaf},
    {"prologue", scenario_prologue},
    {"epilogue", scenario_epilogue},
    {"leaf-irq", scenario_leaf_irq},
    {"prologue-irq", scenario_prologue_irq},
    {"epilogue-irq", scenario_epilogue_irq},
    {"sp-zero", scenario_sp_zero},
    {"sp-ones", scenario_sp_ones},
    {"sp-misaligned", scenario_sp_misaligned},
    {"sp-zero-irq", scenario_sp_zero_irq},
    {"sp-ones-irq", scenario_sp_ones_irq},
    {"sp-misaligned-irq", scenario_sp_misaligned_irq},
    {"corrupt", scenario_corrupt},
    {"corrupt-all", scenario_corrupt_all},
    {"thread", scenario_thread},
    {"thread-panic", scenario_thread_panic},
    {"lost", scenario_lost},
    {"second", scenario_second},
    {"second-deaf", scenario_second_deaf},
    {"walks", scenario_walks},
    {"recursion", scenario_recursion},
    {"skip", scenario_skip},
    {"threads", scenario_threads},
    {"record", scenario_record},
    {"record-irq", scenario_record_irq},
    {"record-overflow", scenario_record_overflow},
    {"record-corrupt", scenario_record_corrupt},
    {"stack", scenario_stack},
#ifndef NO_MODULES
    {"module", scenario_module},
    {"module-null", scenario_module_null},
#endif
    {"slide", scenario_slide},
    {"slide-irq", scenario_slide_irq},
#ifndef NO_TRACER
    {"traced", scenario_traced},
#endif
#ifdef __riscv
    {"handler", scenario_handler},
#endif
    {"boot", scenario_boot},
};

/* Whether LINE's last word is NAME: some loaders put the file's name before it. */
static bool names(const char *line, const char *name)
{
    const char *word = line;

    for (; *line != '\0'; line++)
        if (*line == ' ')
            word = line + 1;
    while (*word == *name && *word != '\0') {
        word++;
        name++;
    }
    return *word == *name;
}

step void kernel_main(const char *command_line)
{
    unsigned i;

    for (i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (names(command_line, scenarios[i].name)) {
            scenarios[i].run();
            return;
        }
    }
    panic("no such scenario");
}

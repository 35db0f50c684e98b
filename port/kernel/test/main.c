/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A kernel of port/baremetal whose panic path is sfu_kernel.c alone: it has described its stacks, threads, CPUs and
 * trap frames, and written no callback of the walk. The command line names a scenario. panics.py has the functions that
 * each of them must show, written from this file.
 */
#include "kernel.h"
#include "port/baremetal/test/step.h"
#include "sfu_cycles.h"
#include "sfu_kernel.h"
#include "sfu_sizes.h"

extern uint8_t sframe_start[], sframe_end[], guard[], boot_stack[], guarded_floor[], guarded[], guarded_top[];
/* boot.S: each call of kernel_trap lies between the two. */
#if defined(__s390x__)
extern const char program_saved[], external_restored[];
#define ENTRIES_BEGIN program_saved
#define ENTRIES_END   external_restored
#else
extern const char exception_saved[], exception_restored[];
#define ENTRIES_BEGIN exception_saved
#define ENTRIES_END   exception_restored
#endif

/* ---- what a kernel describes ---- */

static struct sfu_kernel_stack stacks[STACKS];
static struct sfu_kernel_cpu cpus[2];
enum { REGISTER = sizeof((struct trap *)NULL)->r[0] };
static int16_t trap_registers[sizeof((struct trap *)NULL)->r / REGISTER];
enum { STACK_SIZE = 0x8000 }; /* kernel.ld: of guarded */
static uint8_t second_stack[16384] __attribute__((aligned(16)));

static struct task {
    struct task *next;
    char name[8];
    uint8_t *low, *high;
    struct thread thread;
    bool running;
} * tasks;
static bool list_is_a_ring;

static void put(void *ctx, char c)
{
    (void)ctx;
    machine_putc(c);
}

static unsigned this_cpu(void *ctx)
{
    (void)ctx;
    return machine_cpu();
}

static bool has_no_frame;   /* the handler that stops a CPU does not get the trap frame */
static bool stopping, told; /* another CPU has been told so by an interrupt */

static void stop_others(void *ctx)
{
    (void)ctx;
    __atomic_store_n(&stopping, true, __ATOMIC_RELEASE);
    machine_stop_others();
}

/* A CPU that has stopped already is told to again, and gets the time to do so: on x86, where nothing keeps an NMI
 * away. */
static void stop_again(void *ctx)
{
    stop_others(ctx);
#if defined(__x86_64__) || defined(__i386__)
    while (!__atomic_load_n(&told, __ATOMIC_ACQUIRE)) {
    }
    for (volatile unsigned left = 10000000; left > 0; left--) {
    }
#endif
}

static bool next_task(void *ctx, struct sfu_kernel_thread *thread)
{
    struct task *t = thread->cursor == NULL ? tasks : ((struct task *)thread->cursor)->next;

    (void)ctx;
    if (t == NULL && list_is_a_ring)
        t = tasks;
    if (t == NULL)
        return false;
    thread->cursor = t;
    thread->name = t->name;
    thread->number++;
    thread->stack_low = t->low;
    thread->stack_high = t->high;
    thread->guard = t->low == guarded ? (uint64_t)(guarded - guarded_floor) : 0;
    thread->sp = t->thread.sp;
    thread->running = t->running;
    return true;
}

static struct sfu_kernel sfu = {
    .panic = {.put = put, .symbol = kernel_symbol, .image = "kernel.elf", .cycles = sfu_print_cycles},
    .stacks = stacks,
    .next_thread = next_task,
#if defined(__x86_64__)
    .trap = {offsetof(struct trap, pc), offsetof(struct trap, r[7]), offsetof(struct trap, r[6]), 0, 0},
    .trap_at = 8,
    .switched = {48, SFU_KERNEL_NOT_SAVED, 32, SFU_KERNEL_NOT_SAVED, 56},
#elif defined(__i386__)
    .trap = SFU_KERNEL_TRAP(struct trap, pc, not_saved, r[5]),
    .trap_at = 4,
    .switched = {16, SFU_KERNEL_NOT_SAVED, 8, SFU_KERNEL_NOT_SAVED, 20},
#elif defined(__aarch64__)
    .trap = {offsetof(struct trap, pc), offsetof(struct trap, r[31]), offsetof(struct trap, r[29]),
             offsetof(struct trap, r[30]), 0},
    .switched = {8, SFU_KERNEL_NOT_SAVED, 0, SFU_KERNEL_NOT_SAVED, 96},
#elif defined(__riscv)
    .trap = {offsetof(struct trap, pc), offsetof(struct trap, r[2]), offsetof(struct trap, r[8]),
             offsetof(struct trap, r[1]), 0},
    .switched = {15 * WORD, SFU_KERNEL_NOT_SAVED, 14 * WORD, SFU_KERNEL_NOT_SAVED, 16 * WORD},
#elif defined(__arm__)
    .trap = {offsetof(struct trap, pc), TRAP_SP, TRAP_FP, TRAP_LR, 0},
    .switched = {9 * 4, SFU_KERNEL_NOT_SAVED, (SFU_REG_FP - 4) * 4, SFU_KERNEL_NOT_SAVED, 10 * 4},
#else
    .trap = {offsetof(struct trap, pc), offsetof(struct trap, r[15]), offsetof(struct trap, r[11]),
             offsetof(struct trap, r[14]), 0},
    .trap_at = TRAP_GPRS,
    .switched = {112, 120, 88, SFU_KERNEL_NOT_SAVED, 0},
#endif
    .registers = trap_registers,
    .num_registers = sizeof trap_registers / sizeof trap_registers[0],
    .cpus = cpus,
    .num_cpus = 1,
    .cpu_number = this_cpu,
    .stop_others = stop_others,
    .patience = UINT32_MAX, /* the host may let this CPU run for seconds, and the other one not */
};

static void init(void)
{
    const struct sfu_stack *stack;
    unsigned i;

    for (i = 0; (stack = kernel_stack(i)) != NULL; i++)
        stacks[i] =
            (struct sfu_kernel_stack){stack->bytes, (const uint8_t *)stack->bytes + (stack->high - stack->low),
                                      stack->bytes == boot_stack ? (uint64_t)(boot_stack - guard) : 0, 0};
    stacks[i] = (struct sfu_kernel_stack){second_stack, second_stack + sizeof second_stack, 0, 0};
    sfu.num_stacks = i + 1;
    for (i = 0; i < sfu.num_registers; i++)
        trap_registers[i] = (int16_t)(REGISTER * i);
    sfu.entries = (struct sfu_range){(uintptr_t)ENTRIES_BEGIN, (uintptr_t)ENTRIES_END};
    if (sfu_kernel_init(&sfu, sframe_start, sframe_end) != SFU_OK)
        kernel_print("no tables\n");
}

/* ---- its panic path ---- */

step static _Noreturn void die(void)
{
    struct sfu_registers here = sfu_registers_here();

    (void)sfu_kernel_panic(&sfu, &here);
    (void)sfu_kernel_print_threads(&sfu);
    machine_exit(sfu.num_cpus >
                 1); /* QEMU's s390x says that a machine crashed only if its other CPU has stopped by then */
}

static uint64_t fault_address(const struct trap *trap)
{
#if defined(__x86_64__) || defined(__i386__)
    uintptr_t address;

    (void)trap;
    __asm__ volatile("mov %%cr2, %0" : "=r"(address));
    return address;
#else
    return machine_fault_address(trap);
#endif
}

static void (*on_timer)(void);
static const struct trap *ticked; /* what the last interrupt has interrupted */
static bool says_sp;

static void print_sp(const char *what, uint64_t sp)
{
    kernel_print(what);
    kernel_print_hex(sp);
    kernel_print("\n");
}

/* A double fault of 32-bit x86 has another task: its trap frame has SP, and does not lie where SP is. */
static void panic_trap(const struct trap *trap)
{
#ifdef __i386__
    if (trap->vector == 8) {
        const struct sfu_registers top = {.pc = trap->pc, .sp = trap->r[SFU_REG_SP], .fp = trap->r[SFU_REG_FP]};

        sfu.panic.fault_address = fault_address(trap);
        (void)sfu_kernel_panic(&sfu, &top);
        return;
    }
#endif
    (void)sfu_kernel_fault(&sfu, trap, fault_address(trap));
}

bool kernel_handle(struct trap *trap, bool timer)
{
    if (__atomic_load_n(&stopping, __ATOMIC_ACQUIRE) && machine_cpu() != 0) {
        __atomic_store_n(&told, true, __ATOMIC_RELEASE);
        sfu_kernel_stop(&sfu, has_no_frame ? NULL : trap);
    }
    ticked = trap;
    if (timer) {
        if (on_timer != NULL)
            on_timer();
        return true;
    }
    if (says_sp)
        print_sp("at ", trap->r[SFU_REG_SP]);
    panic_trap(trap);
    machine_exit(false);
}

/* ---- scenarios ---- */

#if UINTPTR_MAX == 0xffffffff
#define NOWHERE 0x18000000
#else
#define NOWHERE 0x0000300000000000
#endif
static uint64_t *volatile nowhere = (uint64_t *)NOWHERE;

step static uint64_t read_at(const volatile uint64_t *p)
{
    return *p;
}

step static void scenario_panic(void)
{
    die();
}

step static void scenario_fault(void)
{
    (void)read_at(nowhere);
}

/* A leaf function. The interrupt cannot come before it. */
step static void spin(void)
{
    machine_enable();
    for (;;) {
    }
}

step static void tick(void)
{
    die();
}

step static void scenario_irq(void)
{
    on_timer = tick;
    machine_start_timer();
    spin();
}

/* The same, where interrupts save another frame than faults. */
step static void scenario_other(void)
{
    sfu.other_trap = sfu.trap;
    sfu.other_trap.size = sizeof(struct trap);
    sfu.trap.pc = sfu.trap.fp;
    scenario_irq();
    __asm__ volatile("");
}

/* The same, but the trap frame says that it has interrupted user mode. */
step static void scenario_user(void)
{
#if defined(__x86_64__) || defined(__i386__)
    sfu.mode = offsetof(struct trap, cs);
    sfu.mode_mask = 3;
    sfu.mode_user = 0;
#elif defined(__aarch64__)
    sfu.mode = offsetof(struct trap, spsr);
    sfu.mode_mask = 0xc;
    sfu.mode_user = 4;
#elif defined(__riscv)
    sfu.mode = offsetof(struct trap, status);
    sfu.mode_mask = STATUS_KERNEL;
    sfu.mode_user = STATUS_KERNEL;
#elif defined(__arm__)
    sfu.mode = TRAP_CPSR;
    sfu.mode_mask = MODE_MASK;
    sfu.mode_user = MODE_SYS;
#else
    sfu.mode = offsetof(struct trap, mask);
    sfu.mode_mask = (uint64_t)1 << 48;
    sfu.mode_user = 0;
#endif
    scenario_irq();
}

/* ---- CPUs ---- */

static volatile bool second_runs;

step static void second_spin(void)
{
    second_runs = true;
    for (;;) {
    }
}

static void nobody(void *ctx)
{
    (void)ctx;
}

step static void second_main(void)
{
    machine_enable();
    second_spin();
}

static void start_second(void (*entry)(void))
{
    sfu.num_cpus = 2;
    machine_start_second((uintptr_t)second_stack + sizeof second_stack, entry);
    while (!second_runs) {
    }
}

step static void scenario_cpus(void)
{
    start_second(second_main);
    die();
}

/* The same, and the other CPU's trace begins in the handler that stops it. */
step static void scenario_handler(void)
{
    has_no_frame = true;
    start_second(second_main);
    init(); /* there are more stacks now */
    die();
}

/* One that stops before the kernel knows how many there are. */
step static void scenario_counted_late(void)
{
    start_second(second_main);
    sfu.num_cpus = 0;
    stop_others(NULL);
    while (!__atomic_load_n(&told, __ATOMIC_ACQUIRE)) {
    }
    for (volatile unsigned left = 10000000; left > 0; left--) {
    }
    sfu.num_cpus = 2;
    sfu.stop_others = nobody;
    die();
}

/* One that lets no interrupt in. Nothing keeps an NMI of x86 away. */
step static void scenario_deaf(void)
{
#if !defined(__x86_64__) && !defined(__i386__)
    sfu.patience = 3000000;
#endif
    start_second(second_spin);
    die();
}

static volatile bool printing;

step static void second_dies(void)
{
    second_runs = true;
    while (!printing) {
    }
    die();
}

static void put_and_wait(void *ctx, char c)
{
    static bool waited;

    (void)ctx;
    printing = true;
    for (; !waited && __atomic_load_n(&cpus[1].stopped, __ATOMIC_ACQUIRE) == 0;) {
    }
    waited = true;
    machine_putc(c);
}

/* The second CPU panics while the first one prints. */
step static void scenario_both(void)
{
    sfu.panic.put = put_and_wait;
    sfu.stop_others = stop_again;
    start_second(second_dies);
    die();
}

/* ---- threads ---- */

static struct task first = {.name = "main", .running = true};
static struct task second = {.name = "worker", .low = guarded, .high = guarded_top};
static struct task third = {.name = "new"};
static struct task lost = {.name = "lost"};
static uint8_t third_stack[STACK_SIZE] __attribute__((aligned(16)));

step static void worker_waits(void)
{
    thread_switch(&second.thread.sp, first.thread.sp);
    machine_exit(true);
}

static void worker(void)
{
    worker_waits();
    machine_exit(true);
}

static void make_tasks(void)
{
    third.low = third_stack;
    third.high = third_stack + sizeof third_stack;
    second.thread.sp = machine_new_thread((uintptr_t)guarded_top, worker);
    third.thread.sp = machine_new_thread((uintptr_t)third.high, worker);
    lost.thread.sp = 0x30;
    tasks = &first;
    first.next = &second;
    second.next = &third;
    third.next = &lost;
    thread_switch(&first.thread.sp, second.thread.sp);
}

step static void scenario_threads(void)
{
    make_tasks();
    die();
}

/* A thread that has never run, and begins in a function in C that does not say that a trace ends there. */
step static void scenario_unmarked(void)
{
    uintptr_t *pc;

    third.low = third_stack;
    third.high = third_stack + sizeof third_stack;
    third.thread.sp = machine_new_thread((uintptr_t)third.high - 64, worker);
    pc = (uintptr_t *)(uintptr_t)(third.thread.sp + (uint64_t)sfu.switched.pc);
    *pc = (uintptr_t)worker;
    tasks = &third;
    sfu.zero_ends = true;
    die();
}

static bool third_is_new;

static enum sfu_kernel_state state_of(const void *task)
{
    if (task == &third && third_is_new)
        return SFU_KERNEL_NEW;
    return ((const struct task *)task)->running ? SFU_KERNEL_RUNS : SFU_KERNEL_WAITS;
}

/* The list is described, instead of walked by next_task. */
static void describe_tasks(void)
{
    make_tasks();
    sfu.next_thread = NULL;
    sfu.threads = (struct sfu_kernel_threads){.list = (void *const *)&tasks,
                                              .next = offsetof(struct task, next),
                                              .stack_low = offsetof(struct task, low),
                                              .stack_size = STACK_SIZE,
                                              .sp = offsetof(struct task, thread.sp),
                                              .name = offsetof(struct task, name),
                                              .number = SFU_KERNEL_NOT_SAVED,
                                              .state = state_of};
}

step static void scenario_described(void)
{
    describe_tasks();
    die();
}

/* One of them is known to be new. */
step static void scenario_new(void)
{
    describe_tasks();
    third_is_new = true;
    die();
}

/* ---- tasks as operating systems leave them ---- */

#if defined(__riscv) || defined(__aarch64__) || defined(__arm__)
enum { PC = -1, OTHER = -2, DIRTY = -3, NOTHING = -4, MOST = 38 };
/* DIRTY: mstatus or FPEXC of a task that has used the FPU or vectors. */
enum { OTHERS = 0x5ec, DIRTIES = 0x40007fec };

/* What the context switch of each saves on the task's stack, word by word from the saved SP up, as its source says: the
 * number of a register, PC, OTHER, DIRTY, or NOTHING: 0. */
static const struct system {
    const char *name;
    struct sfu_kernel described;
    unsigned words, above; /* how many words; and how many lie above these */
    int8_t saves[MOST];
    unsigned gap_at, gap; /* the word that others lie in front of, and how many */
} systems[] = {
#if defined(__riscv)
#define S_2_TO_11 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
#define FROM_4    4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, S_2_TO_11, 28, 29, 30, 31
#define FROM_5    5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, S_2_TO_11, 28, 29, 30, 31
#define FALLING   27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 9, 8
    {"task-freertos", {.switched = SFU_TASK_FREERTOS_RISCV}, 31, 0, {PC, 1, FROM_5, OTHER, OTHER}, 0, 0},
    {"task-freertos-11.3", {.switched = SFU_TASK_FREERTOS_11_3_RISCV}, 31, 0, {PC, OTHER, 1, FROM_5, OTHER}, 0, 0},
    {"task-freertos-11.3-fpu-unused",
     {SFU_TASK_FREERTOS_11_3_RISCV_FPU(8)},
     31,
     0,
     {PC, OTHER, 1, FROM_5, OTHER},
     0,
     0},
    {"task-freertos-11.3-fpu",
     {SFU_TASK_FREERTOS_11_3_RISCV_FPU(8)},
     31,
     0,
     {PC, DIRTY, 1, FROM_5, OTHER},
     2,
     33 * 8 / REGISTER},
    {"task-freertos-11.3-vpu-unused",
     {SFU_TASK_FREERTOS_11_3_RISCV_VPU(16)},
     31,
     0,
     {PC, OTHER, 1, FROM_5, OTHER},
     0,
     0},
    {"task-freertos-11.3-vpu",
     {SFU_TASK_FREERTOS_11_3_RISCV_VPU(16)},
     31,
     0,
     {PC, DIRTY, 1, FROM_5, OTHER},
     2,
     4 + 32 * 16 / REGISTER},
    {"task-freertos-e",
     {.switched = SFU_TASK_FREERTOS_RV32E},
     15,
     0,
     {PC, 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, OTHER, OTHER},
     0,
     0},
    {"task-freertos-11.3-e",
     {.switched = SFU_TASK_FREERTOS_11_3_RV32E},
     15,
     0,
     {PC, OTHER, 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, OTHER},
     0,
     0},
    {"task-riot",
     {.switched = SFU_TASK_RIOT_RISCV},
     32,
     0,
     {8, 9, S_2_TO_11, 1, 5, 6, 7, 28, 29, 30, 31, 10, 11, 12, 13, 14, 15, 16, 17, PC, OTHER, OTHER, OTHER},
     0,
     0},
    {"task-rtthread", {.switched = SFU_TASK_RTTHREAD_RISCV}, 32, 0, {PC, 1, OTHER, OTHER, FROM_4}, 0, 0},
    {"task-rtthread-fpu",
     {.switched = SFU_TASK_RTTHREAD_RISCV_FPU(8)},
     32,
     32 * 8 / REGISTER,
     {PC, 1, OTHER, OTHER, FROM_4},
     0,
     0},
    {"task-nuttx", {.switched = SFU_TASK_NUTTX_RISCV}, 33, 0, {PC, 1, 2, 3, FROM_4, OTHER}, 0, 0},
    {"task-threadx-stopped",
     {SFU_TASK_THREADX_RISCV},
     32,
     0,
     {OTHER, FALLING, 31, 30, 29, 28, 7, 6, 5, 17, 16, 15, 14, 13, 12, 11, 10, 1, OTHER, PC, OTHER},
     0,
     0},
    {"task-threadx-stopped-fpu",
     {SFU_TASK_THREADX_RISCV_FPU},
     32,
     33,
     {OTHER, FALLING, 31, 30, 29, 28, 7, 6, 5, 17, 16, 15, 14, 13, 12, 11, 10, 1, OTHER, PC, OTHER},
     0,
     0},
#elif defined(__aarch64__)
#define PAIRS_FALLING                                                                                              \
    26, 27, 24, 25, 22, 23, 20, 21, 18, 19, 16, 17, 14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1
    {"task-freertos",
     {SFU_TASK_FREERTOS_AARCH64},
     36,
     0,
     {NOTHING, OTHER, PC, OTHER, 30, OTHER, 28, 29, PAIRS_FALLING},
     0,
     0},
    {"task-freertos-fpu",
     {SFU_TASK_FREERTOS_AARCH64},
     36,
     0,
     {OTHER, OTHER, PC, OTHER, 30, OTHER, 28, 29, PAIRS_FALLING},
     2,
     64},
    {"task-freertos-11.2-sre",
     {SFU_TASK_FREERTOS_11_2_AARCH64_SRE},
     36,
     0,
     {OTHER, OTHER, PC, OTHER, 30, OTHER, 28, 29, PAIRS_FALLING},
     2,
     66},
    {"task-rtthread",
     {.switched = SFU_TASK_RTTHREAD_AARCH64(32)},
     36,
     64,
     {PC, OTHER, OTHER, 30, OTHER, OTHER, 28, 29, PAIRS_FALLING},
     0,
     0},
    {"task-threadx-stopped", {SFU_TASK_THREADX_AARCH64}, 34, 0, {OTHER, PC, 28, 29, PAIRS_FALLING, 29, 30}, 0, 0},
    {"task-nuttx",
     {.switched = SFU_TASK_NUTTX_AARCH64},
     38,
     0,
     {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,    15,    16,    17,    18,
      19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, PC, OTHER, OTHER, OTHER, OTHER, OTHER},
     0,
     0},
#elif defined(__arm__)
#define FROM_0 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, PC
    {"task-freertos", {SFU_TASK_FREERTOS_CA9}, 18, 0, {NOTHING, OTHER, FROM_0, OTHER}, 0, 0},
    {"task-freertos-fpu", {SFU_TASK_FREERTOS_CA9}, 18, 0, {OTHER, OTHER, FROM_0, OTHER}, 1, 65},
    {"task-freertos-cr5-fpu", {SFU_TASK_FREERTOS_CR5}, 18, 0, {OTHER, OTHER, FROM_0, OTHER}, 1, 33},
    {"task-rtthread", {.switched = SFU_TASK_RTTHREAD_ARM}, 16, 0, {OTHER, FROM_0}, 0, 0},
    {"task-rtthread-fpu-unused", {SFU_TASK_RTTHREAD_ARM_FPU}, 17, 0, {OTHER, OTHER, FROM_0}, 0, 0},
    {"task-rtthread-fpu", {SFU_TASK_RTTHREAD_ARM_FPU}, 17, 0, {DIRTY, OTHER, FROM_0}, 1, 65},
    {"task-threadx-stopped", {SFU_TASK_THREADX_ARM}, 17, 0, {OTHER, OTHER, FROM_0}, 0, 0},
#endif
};
static const struct system *chosen_system;

static uintptr_t saved_word(const struct trap *trap, int what)
{
    if (what >= 0)
        return (uintptr_t)trap->r[what];
    return what == PC ? (uintptr_t)trap->pc : what == OTHER ? OTHERS : what == DIRTY ? DIRTIES : 0;
}

static void describe_system(const struct sfu_kernel *described)
{
    sfu.switched = described->switched;
    sfu.other_switched = described->other_switched;
    sfu.kind = described->kind;
    sfu.kind_mask = described->kind_mask;
    sfu.kind_other = described->kind_other;
}

/* Saves what the timer has interrupted, and prints it as a task that waits. */
static void tick_switches(void)
{
    const struct trap *trap = ticked;
    const struct system *s = chosen_system;
    uintptr_t *const start = (uintptr_t *)(uintptr_t)trap->r[SFU_REG_SP] - s->above - s->gap - s->words;
    unsigned i;

    for (i = 0; i < s->words; i++)
        start[i + (i >= s->gap_at ? s->gap : 0)] = saved_word(trap, s->saves[i]);
    second.thread.sp = (uintptr_t)start;
    describe_system(&s->described);
    tasks = &first;
    first.next = &second;
    (void)sfu_kernel_print_threads(&sfu);
    machine_exit(false);
}

static void task_spins(void)
{
    spin(); /* has its return address in a register */
    machine_exit(true);
}

static void scenario_system(const struct system *system)
{
    chosen_system = system;
    on_timer = tick_switches;
    machine_start_timer();
    second.thread.sp = machine_new_thread((uintptr_t)guarded_top, task_spins);
    thread_switch(&first.thread.sp, second.thread.sp);
}
#endif

#ifdef SFU_TASK_AT
/* Leaves the task's stack for good. */
static void leave_task(void)
{
    uint64_t sp;

    thread_switch(&sp, first.thread.sp);
}
#endif

#if defined(__riscv) || defined(__aarch64__) || defined(__arm__)
/* ThreadX saves fewer registers of a thread that has called its scheduler: threadx_return does so, and calls NEXT with
 * the saved SP. */
#if defined(__aarch64__)
#define THREADX_CALLED SFU_TASK_THREADX_AARCH64
/* From the saved SP up: DAIF, 0, pairs from x27 and x28 down to x19 and x20, x29 and x30. */
#define THREADX_SAVES                                                                                              \
    "stp x29, x30, [sp, -16]!\n\tstp x19, x20, [sp, -16]!\n\tstp x21, x22, [sp, -16]!\n\t"                         \
    "stp x23, x24, [sp, -16]!\n\tstp x25, x26, [sp, -16]!\n\tstp x27, x28, [sp, -16]!\n\t"                         \
    "mrs x2, daif\n\tstp x2, xzr, [sp, -16]!\n\tmov x1, x0\n\tmov x0, sp\n\tbr x1"
#elif defined(__arm__)
#define THREADX_CALLED SFU_TASK_THREADX_ARM
/* From the saved SP up: 0, CPSR, r4 to r11, the return address. */
#define THREADX_SAVES                                                                                              \
    "stmdb sp!, {r4-r11, lr}\n\tmov r1, #0\n\tmrs r2, cpsr\n\tstmdb sp!, {r1, r2}\n\tmov r1, r0\n\tmov r0, "       \
    "sp\n\tbx r1"
#else
#define THREADX_CALLED SFU_TASK_THREADX_RISCV
#if __riscv_xlen == 64
#define DROP_16             "addi sp, sp, -128\n\t"
#define STORE_ON(reg, word) "sd " #reg ", 8 * " #word "(sp)\n\t"
#else
#define DROP_16             "addi sp, sp, -64\n\t"
#define STORE_ON(reg, word) "sw " #reg ", 4 * " #word "(sp)\n\t"
#endif
/* From the saved SP up: 0, s11 to s0, the return address, mstatus, a word. */
#define THREADX_SAVES                                                                                              \
    DROP_16 STORE_ON(zero, 0) STORE_ON(s11, 1) STORE_ON(s10, 2) STORE_ON(s9, 3) STORE_ON(s8, 4) STORE_ON(s7, 5)    \
        STORE_ON(s6, 6) STORE_ON(s5, 7) STORE_ON(s4, 8) STORE_ON(s3, 9) STORE_ON(s2, 10) STORE_ON(s1, 11)          \
            STORE_ON(s0, 12) STORE_ON(ra, 13) STORE_ON(t0, 14) "mv t1, a0\n\tmv a0, sp\n\tjr t1"
#endif
void threadx_return(void (*next)(uintptr_t *saved));
__asm__(".text\n\t.balign 4\n\t.globl threadx_return\n\t.type threadx_return, "
        "%function\nthreadx_return:\n\t" THREADX_SAVES "\n\t.size threadx_return, . - threadx_return");

static void leave_threadx(uintptr_t *saved)
{
    second.thread.sp = (uintptr_t)saved;
    leave_task();
}

step static void threadx_waits(void)
{
    threadx_return(leave_threadx);
    machine_exit(true);
}

static void threadx_task(void)
{
    threadx_waits();
    machine_exit(true);
}

static void scenario_threadx(void)
{
    static const struct sfu_kernel threadx = {THREADX_CALLED};

    second.thread.sp = machine_new_thread((uintptr_t)guarded_top, threadx_task);
    thread_switch(&first.thread.sp, second.thread.sp);
    describe_system(&threadx);
    tasks = &first;
    first.next = &second;
    (void)sfu_kernel_print_threads(&sfu);
    machine_exit(false);
}
#endif

#ifdef SFU_TASK_AT
/* Zephyr saves what a called function must keep in the thread's structure: zephyr_switch does so at SAVED, and goes on
 * in NEXT. On x86_64 it pops its return address, and saves the PC in the same place where an interrupt has stopped the
 * thread. */
#if defined(__x86_64__)
#define ZEPHYR_TASK SFU_TASK_ZEPHYR_X86_64
enum { ZEPHYR_WORDS = 9 };
#define ZEPHYR_SAVES                                                                                               \
    "mov %rbx, 8(%rdi)\n\tmov %rbp, 16(%rdi)\n\tmov %r12, 24(%rdi)\n\tmov %r13, 32(%rdi)\n\tmov %r14, "            \
    "40(%rdi)\n\t"                                                                                                 \
    "mov %r15, 48(%rdi)\n\tpop %rax\n\tmov %rax, 56(%rdi)\n\tmov %rsp, (%rdi)\n\tpush %rax\n\tjmp *%rsi"
#elif defined(__aarch64__)
#define ZEPHYR_TASK SFU_TASK_ZEPHYR_AARCH64
enum { ZEPHYR_WORDS = 14 };
/* x19 to x29, SP of EL0, SP, x30 */
#define ZEPHYR_SAVES                                                                                               \
    "stp x19, x20, [x0]\n\tstp x21, x22, [x0, 16]\n\tstp x23, x24, [x0, 32]\n\tstp x25, x26, [x0, 48]\n\t"         \
    "stp x27, x28, [x0, 64]\n\tstp x29, xzr, [x0, 80]\n\tmov x2, sp\n\tstp x2, x30, [x0, 96]\n\tbr x1"
#elif defined(__arm__)
#define ZEPHYR_TASK  SFU_TASK_ZEPHYR_ARM
enum { ZEPHYR_WORDS = 10 };
/* r4 to r11, SP, the return address */
#define ZEPHYR_SAVES "stmia r0!, {r4-r11}\n\tmov r2, sp\n\tstr r2, [r0]\n\tstr lr, [r0, #4]\n\tbx r1"
#else
#define ZEPHYR_TASK SFU_TASK_ZEPHYR_RISCV
enum { ZEPHYR_WORDS = 14 };
#if __riscv_xlen == 64
#define STORE_AT(reg, word) "sd " #reg ", 8 * " #word "(a0)\n\t"
#else
#define STORE_AT(reg, word) "sw " #reg ", 4 * " #word "(a0)\n\t"
#endif
/* SP, ra, s0 to s11 */
#define ZEPHYR_SAVES                                                                                               \
    STORE_AT(sp, 0)                                                                                                \
    STORE_AT(ra, 1)                                                                                                \
    STORE_AT(s0, 2)                                                                                                \
    STORE_AT(s1, 3)                                                                                                \
    STORE_AT(s2, 4)                                                                                                \
    STORE_AT(s3, 5)                                                                                                \
    STORE_AT(s4, 6)                                                                                                \
    STORE_AT(s5, 7)                                                                                                \
    STORE_AT(s6, 8) STORE_AT(s7, 9) STORE_AT(s8, 10) STORE_AT(s9, 11) STORE_AT(s10, 12) STORE_AT(s11, 13) "jr a1"
#endif
static struct zephyr_thread {
    uint8_t base[24], *low;
    uintptr_t callee_saved[ZEPHYR_WORDS];
} zephyr_thread;

void zephyr_switch(void *saved, void (*next)(void));
__asm__(
    ".text\n\t.balign 4\n\t.globl zephyr_switch\n\t.type zephyr_switch, %function\nzephyr_switch:\n\t" ZEPHYR_SAVES
    "\n\t.size zephyr_switch, . - zephyr_switch");

step static void zephyr_waits(void)
{
    zephyr_switch(zephyr_thread.callee_saved, leave_task);
    machine_exit(true);
}

static void zephyr_task(void)
{
    zephyr_waits();
    machine_exit(true);
}

static void start_zephyr(void (*task)(void))
{
    sfu.next_thread = NULL;
    sfu.switched = (struct sfu_kernel_frame)ZEPHYR_TASK;
    sfu.threads = (struct sfu_kernel_threads){.array = &zephyr_thread,
                                              .num = 1,
                                              .size = sizeof zephyr_thread,
                                              .stack_low = offsetof(struct zephyr_thread, low),
                                              .stack_size = STACK_SIZE,
                                              .sp = offsetof(struct zephyr_thread, callee_saved),
                                              .registers_inside = true};
    zephyr_thread.low = guarded;
    second.thread.sp = machine_new_thread((uintptr_t)guarded_top, task);
    thread_switch(&first.thread.sp, second.thread.sp);
    (void)sfu_kernel_print_threads(&sfu);
    machine_exit(false);
}

static void scenario_zephyr(void)
{
    start_zephyr(zephyr_task);
}

#ifdef __x86_64__
static void tick_stops_zephyr(void)
{
    static const int8_t order[] = {7, 3, 6, 12, 13, 14, 15};
    unsigned i;

    for (i = 0; i < sizeof order; i++)
        zephyr_thread.callee_saved[i] = ticked->r[order[i]];
    zephyr_thread.callee_saved[i] = ticked->pc;
    (void)sfu_kernel_print_threads(&sfu);
    machine_exit(false);
}

step static void zephyr_spins(void)
{
    spin();
    __asm__ volatile("");
}

static void scenario_zephyr_stopped(void)
{
    on_timer = tick_stops_zephyr;
    machine_start_timer();
    start_zephyr(zephyr_spins);
}
#endif
#endif

/* ---- a kernel whose interrupts are on while it panics ---- */

static struct thread interrupted;
static volatile unsigned ticks;
static volatile bool panicking;

/* Runs until the next interrupt, at another depth each time. */
step static void worker_deep(unsigned more)
{
    if (more > 0)
        worker_deep(more - 1);
    else
        thread_switch(&second.thread.sp, interrupted.sp);
    __asm__ volatile("");
}

static void worker_moves(void)
{
    for (;;) {
        worker_deep(1);
        worker_deep(6);
        worker_deep(3);
    }
}

/* The scheduler's tick: runs the worker. Tells CPUs to stop once a panic is printed, and does not ask which CPU this
 * is. */
static void tick_moves(void)
{
    ticks++;
    if (panicking)
        sfu_kernel_stop(&sfu, ticked);
    thread_switch(&interrupted.sp, second.thread.sp);
    machine_start_timer();
}

static void put_slowly(void *ctx, char c)
{
    volatile unsigned left;

    (void)ctx;
    panicking = true;
    for (left = 20000; left > 0; left--) {
    }
    machine_putc(c);
}

static void wait_for_ticks(unsigned n)
{
    for (n += ticks; ticks < n;) {
    }
}

step static void scenario_moving(void)
{
    second.thread.sp = machine_new_thread((uintptr_t)guarded_top, worker_moves);
    tasks = &second;
    on_timer = tick_moves;
    machine_start_timer();
    machine_enable();
    wait_for_ticks(3);
    sfu.panic.put = put_slowly;
    sfu.panic.cycles = NULL; /* each frame has a line */
    (void)sfu_kernel_panic(&sfu, NULL);
    (void)sfu_kernel_print_threads(&sfu);
    wait_for_ticks(2); /* they are on again */
    kernel_print("goes on\n");
    machine_exit(false);
}

/* ---- threads that another CPU runs meanwhile ---- */

static uint64_t scheduler;

step static void race_waits(struct task *self)
{
    self->running = false;
    thread_switch(&self->thread.sp, scheduler);
    __asm__ volatile("");
}

/* Two ways of the same depth, with frames of the same size: what waits below the one looks as below the other. */
#define RACE_WAY(name, next)                                                                                       \
    step static void name(struct task *self)                                                                       \
    {                                                                                                              \
        next(self);                                                                                                \
        __asm__ volatile("");                                                                                      \
    }
RACE_WAY(even_3, race_waits)
RACE_WAY(even_2, even_3)
RACE_WAY(even_1, even_2)
RACE_WAY(odd_3, race_waits)
RACE_WAY(odd_2, odd_3)
RACE_WAY(odd_1, odd_2)

static void race(struct task *self)
{
    for (;;) {
        even_1(self);
        odd_1(self);
    }
}

static void race_second(void)
{
    race(&second);
}

static void race_third(void)
{
    race(&third);
}

static void second_schedules(void)
{
    struct task *next = &second;

    second_runs = true;
    for (;;) {
        next->running = true;
        thread_switch(&scheduler, next->thread.sp);
        next = next == &second ? &third : &second;
    }
}

static void start_race(void (*schedules)(void))
{
    third.low = third_stack;
    third.high = third_stack + sizeof third_stack;
    second.thread.sp = machine_new_thread((uintptr_t)second.high, race_second);
    third.thread.sp = machine_new_thread((uintptr_t)third.high, race_third);
    tasks = &second;
    second.next = &third;
    start_second(schedules);
}

/* Nobody stops the second CPU, which runs one of two threads after the other. */
step static void scenario_race(void)
{
    unsigned times;

    start_race(second_schedules);
    sfu.stop_others = NULL;
    for (times = 0; times < 100; times++)
        (void)sfu_kernel_print_threads(&sfu);
    machine_exit(true);
}

static void second_schedules_and_hears(void)
{
    machine_enable();
    second_schedules();
}

/* It is stopped wherever it is. */
step static void scenario_race_stopped(void)
{
    volatile unsigned left = 1000000;

    start_race(second_schedules_and_hears);
    while (left > 0)
        left--;
    die();
}

static void waits_once(struct task *self)
{
    thread_switch(&self->thread.sp, first.thread.sp);
    __asm__ volatile("");
}

/* It has waited, and is about to wait again: its state says so already. */
step static void unsaved(void)
{
    waits_once(&second);
    die();
}

/* The same, and an interrupt that has another stack panics. */
step static void unsaved_interrupted(void)
{
    waits_once(&second);
    on_timer = tick;
    machine_start_timer();
    spin();
}

step static void scenario_unsaved_irq(void)
{
    second.thread.sp = machine_new_thread((uintptr_t)second.high, unsaved_interrupted);
    tasks = &second;
    thread_switch(&first.thread.sp, second.thread.sp);
    thread_switch(&first.thread.sp, second.thread.sp);
}

static void unsaved_third(void)
{
    waits_once(&third);
    machine_exit(true);
}

/* A thread on each CPU of which the context switch has saved nothing yet. */
step static void scenario_unsaved(void)
{
    third.low = third_stack;
    third.high = third_stack + sizeof third_stack;
    second.thread.sp = machine_new_thread((uintptr_t)second.high, unsaved);
    third.thread.sp = machine_new_thread((uintptr_t)third.high, unsaved_third);
    tasks = &second;
    second.next = &third;
    thread_switch(&first.thread.sp, third.thread.sp);
    sfu.num_cpus = 2;
    machine_start_second((uintptr_t)third.high, second_main);
    while (!second_runs) {
    }
    thread_switch(&first.thread.sp, second.thread.sp);
    thread_switch(&first.thread.sp, second.thread.sp);
}

/* ---- a kernel's own backtrace() ---- */

enum { MAX_PCS = 32 };

step static void print_pcs(const void *thread, unsigned num, unsigned skip)
{
    void *pcs[MAX_PCS];
    unsigned i, n = sfu_kernel_backtrace(&sfu, thread, pcs, num, skip);

    for (i = 0; i < n; i++) {
        kernel_print_hex((uintptr_t)pcs[i]);
        kernel_print(" ");
    }
    kernel_print("\n");
}

step static void print_mine(unsigned num, unsigned skip)
{
    print_pcs(NULL, num, skip);
    __asm__ volatile("");
}

/* From here, and from an interrupt; all of it, without the first frames, and not more than there is room for. */
step static void tick_array(void)
{
    print_mine(MAX_PCS, 0);
    machine_exit(false);
}

step static void scenario_array(void)
{
    describe_tasks();
    print_mine(MAX_PCS, 0);
    print_mine(MAX_PCS, 2);
    print_mine(3, 0);
    print_pcs(&second, MAX_PCS, 0);
    on_timer = tick_array;
    machine_start_timer();
    spin();
}

static const struct trap *this_trap;

static const void *current_trap(void *ctx)
{
    (void)ctx;
    return this_trap;
}

/* Crosses the interrupt's entry, if that has no table, by the trap frame that the kernel names. */
step static void tick_current(void)
{
    this_trap = ticked;
    sfu.current_trap = current_trap;
    sfu.trap_at = 0x7ff8; /* would be wrong */
    die();
}

step static void scenario_current(void)
{
    on_timer = tick_current;
    machine_start_timer();
    spin();
}

step static void scenario_null(void)
{
    (void)sfu_kernel_panic(&sfu, NULL);
    machine_exit(false);
}

/* A list that does not end. */
step static void scenario_ring(void)
{
    make_tasks();
    list_is_a_ring = true;
    sfu.max_threads = 6;
    die();
}

/* ---- callers that have no more than a PC ---- */

step static _Noreturn void die_at(uint64_t pc)
{
    struct sfu_registers here = sfu_registers_here();

    (void)sfu_kernel_panic_at(&sfu, &here, pc);
    machine_exit(false);
}

step static void at_2(void)
{
    die_at((uintptr_t)__builtin_return_address(0));
}

step static void at_1(void)
{
    at_2();
}

step static void scenario_at(void)
{
    at_1();
}

/* No frame has it. */
step static void scenario_at_nowhere(void)
{
    die_at(0x1234);
}

step static void tick_at(void)
{
    die_at(ticked->pc);
}

/* The frame that has been interrupted. */
step static void scenario_at_irq(void)
{
    on_timer = tick_at;
    machine_start_timer();
    spin();
}

/* ---- a fault while printing ---- */

step static void put_and_fault(void *ctx, char c)
{
    static unsigned characters;

    (void)ctx;
    if (++characters == 100)
        (void)read_at(nowhere);
    machine_putc(c);
}

step static void scenario_printer(void)
{
    sfu.panic.put = put_and_fault;
    die();
}

/* ---- sizes, and a stack that has overflowed without recursion ---- */

static void set_sizes(void)
{
    sfu.panic.sizes = sfu_print_size;
    sfu.panic.before = sfu_print_overflow;
}

/* Too large for the rest of the stack. Touches the lowest byte first. */
step static void too_large(void)
{
    volatile uint8_t array[0xf800];

    array[0] = 1;
    kernel_print("not reached\n");
    array[1] = array[0];
}

step static void large(void (*next)(void))
{
    volatile uint8_t array[4000];

    array[0] = 3;
    print_sp("large ", (uintptr_t)machine_sp());
    next();
    array[1] = array[0];
}

step static void small(void (*next)(void))
{
    print_sp("small ", (uintptr_t)machine_sp());
    large(next);
    __asm__ volatile("");
}

step static void scenario_sizes(void)
{
    set_sizes();
    print_sp("scenario ", (uintptr_t)machine_sp());
    small(scenario_panic);
    __asm__ volatile("");
}

step static void scenario_overflow(void)
{
    set_sizes();
    says_sp = true;
    small(too_large);
    __asm__ volatile("");
}

static void overflow_in_task(void)
{
    volatile uint8_t array[0x7800];

    array[0x7000] = 5;
    small(too_large);
    array[0] = array[0x7000];
}

/* The same on a thread's stack. */
step static void scenario_overflow_thread(void)
{
    set_sizes();
    says_sp = true;
    machine_protect((uintptr_t)guarded_floor);
    second.thread.sp = machine_new_thread((uintptr_t)guarded_top, overflow_in_task);
    tasks = &second;
    thread_switch(&first.thread.sp, second.thread.sp);
}

static uint8_t pair[2 * STACK_SIZE] __attribute__((aligned(16)));

static void overflow_into_neighbour(void)
{
    volatile uint8_t array[0x7800];

    array[0x7000] = 5;
    small(die);
    array[0] = array[0x7000];
}

/* On the upper one of two threads' stacks that lie side by side. The lower one's thread waits. */
step static void scenario_overflow_neighbour(void)
{
    describe_tasks();
    set_sizes();
    sfu.guard_is_memory = true;
    sfu.threads.guard = STACK_SIZE / 2;
    second.low = pair;
    second.high = third.low = pair + STACK_SIZE;
    third.high = pair + sizeof pair;
    second.thread.sp = machine_new_thread((uintptr_t)pair + STACK_SIZE / 2, worker);
    thread_switch(&first.thread.sp, second.thread.sp);
    third.thread.sp = machine_new_thread((uintptr_t)third.high, overflow_into_neighbour);
    third.running = true;
    third.next = NULL;
    thread_switch(&first.thread.sp, third.thread.sp);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"panic", scenario_panic},
    {"fault", scenario_fault},
    {"irq", scenario_irq},
    {"other", scenario_other},
    {"user", scenario_user},
    {"cpus", scenario_cpus},
    {"handler", scenario_handler},
    {"deaf", scenario_deaf},
    {"counted-late", scenario_counted_late},
    {"moving", scenario_moving},
    {"both", scenario_both},
    {"race", scenario_race},
    {"race-stopped", scenario_race_stopped},
    {"unsaved", scenario_unsaved},
    {"unsaved-irq", scenario_unsaved_irq},
    {"threads", scenario_threads},
    {"described", scenario_described},
    {"new", scenario_new},
    {"unmarked", scenario_unmarked},
    {"array", scenario_array},
    {"current", scenario_current},
    {"null", scenario_null},
    {"ring", scenario_ring},
    {"at", scenario_at},
    {"at-nowhere", scenario_at_nowhere},
    {"at-irq", scenario_at_irq},
    {"printer", scenario_printer},
    {"sizes", scenario_sizes},
#ifdef SFU_TASK_AT
    {"task-zephyr", scenario_zephyr},
#endif
#ifdef __x86_64__
    {"task-zephyr-stopped", scenario_zephyr_stopped},
#endif
#if defined(__riscv) || defined(__aarch64__) || defined(__arm__)
    {"task-threadx", scenario_threadx},
#endif
    {"overflow", scenario_overflow},
    {"overflow-thread", scenario_overflow_thread},
    {"overflow-neighbour", scenario_overflow_neighbour},
};

static bool is_equal(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

void kernel_main(const char *command_line)
{
    unsigned i;

    init();
    for (i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (is_equal(command_line, scenarios[i].name))
            scenarios[i].run();
#if defined(__riscv) || defined(__aarch64__) || defined(__arm__)
    for (i = 0; i < sizeof systems / sizeof systems[0]; i++)
        if (is_equal(command_line, systems[i].name))
            scenario_system(&systems[i]);
#endif
    kernel_print("no such scenario\n");
}

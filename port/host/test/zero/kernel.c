/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A kernel as people write them: without unwind flags, tables, lists of entries or names in its linker script. It
 * prints traces: from panic(), of a fault, and from panic() in the handler of faults.
 */
#include "sfu_panic.h"
#ifdef DESCRIBED
#include "sfu_kernel.h"
#endif
#include MACHINE

#define step __attribute__((noinline, noclone))

#ifdef PUT_FAULTS
static volatile int faulty, depth, deepest;
#endif

#ifdef PUT_PANICS
static volatile int within;

/* Another CPU panics, on a stack of its own, while this one prints. Returns whether it is the other one that prints. */
static int panic_within(void)
{
    const int is_other = within++;

    if (!is_other)
        sfu_panic_trap(0, 0, 0, 0);
    within--;
    return is_other;
}
#endif

static void put(void *ctx, char c)
{
    (void)ctx;
#ifdef PUT_PANICS
    if (panic_within())
        return;
#endif
#ifdef PUT_FAULTS
    if (faulty)
        FAULT;
#endif
    machine_putc(c);
}

static void say(const char *text)
{
    while (*text != '\0')
        put(NULL, *text++);
}

#ifndef NESTED /* 1: all faults panic */
#define NESTED 0
#endif
enum { DEEPER = 2 }; /* the fault in the handler has come */
static volatile int sink, nested = NESTED, deep;

#ifdef DESCRIBED
extern const char stack_top[];

static struct sfu_kernel_stack stacks[] = {{NULL, stack_top, 0, 0}};
static struct sfu_kernel described = {.panic = {.put = put}, .stacks = stacks, .num_stacks = 1};

static int start(void)
{
    stacks[0].low = (const void *)((uintptr_t)stack_top - 16384);
    return sfu_kernel_start(&described);
}

static inline __attribute__((always_inline)) void print(void)
{
    (void)sfu_kernel_panic(&described, NULL);
}
#else
static int start(void)
{
    return sfu_panic_start(put);
}

static inline __attribute__((always_inline)) void print(void)
{
    sfu_panic_here();
}
#endif

step void panic(const char *why);
step void panic(const char *why)
{
    say(why);
    print();
    sink++;
}

step int recurse(int n);
step int recurse(int n)
{
    volatile int array[9];

    array[n] = n;
    if (n == 0)
        panic("panic\n");
    else
        array[n] += recurse(n - 1);
    return array[n] + sink;
}

step int leaf(int n);
step int leaf(int n)
{
    FAULT;
    return n + sink;
}

/* The handler of a fault, with the registers that the entry has saved. */
void handle(struct frame *frame);
step void handle(struct frame *frame)
{
#ifdef PUT_FAULTS
    if (++depth > deepest)
        deepest = depth;
    if (depth > 3)
        faulty = 0;
    sfu_panic_trap(FRAME_PC(frame), FRAME_SP(frame), FRAME_FP(frame), FRAME_RA(frame));
    depth--;
    FRAME_PC(frame) += FAULT_SIZE;
    return;
#endif
#ifdef OTHER_CONTEXT /* the structure that another exception would use, which has not come yet */
    __asm__ volatile("csrw mscratch, %0" : : "r"(context + OTHER_CONTEXT));
#endif
#ifdef LAST_FAULT
    panic("in a handler\n");
    say("DONE\n");
    for (;;)
        sink++;
#endif
    if (nested++ == 0) {
        say("fault\n");
        sfu_panic_trap(FRAME_PC(frame), FRAME_SP(frame), FRAME_FP(frame), FRAME_RA(frame));
#ifdef STOP_AT_FAULT
        say("DONE\n");
        for (;;)
            sink++;
#endif
    } else if (deep == 1) {
        deep = DEEPER;
        sink += leaf(1);
    } else {
        panic("in a handler\n");
#ifdef DEEP_CONTEXT
        if (deep == DEEPER) {
            say("DONE\n");
            for (;;)
                sink++;
        }
#endif
    }
    FRAME_PC(frame) += FAULT_SIZE;
    sink++;
}

step int broken(int n);
step int broken(int n)
{
    volatile int array[20];

    array[n] = leaf(n) + 1;
    FAULT;
    return array[n] + sink;
}

/* A fault in front of the prologue, one behind it, one in a leaf function that it calls, and one in the epilogue. */
void prologue(void);

step int interrupted(int n);
step int interrupted(int n)
{
    sink += leaf(n);
    prologue();
#if (!defined FAULT_STACK && !defined CONTEXT) ||                                                                  \
    defined DEEP_CONTEXT /* a second fault would overwrite the first one's frame */
    deep = 1;
    sink += leaf(n);
#endif
    return sink;
}

#ifdef ELSEWHERE
/* A stack in memory that is not the image's: a copy of this one. */
step void elsewhere(void);
step void elsewhere(void)
{
    struct sfu_registers here = sfu_registers_here();
    char *far = (char *)((uintptr_t)&sink + 0x100000);
    int i;

    for (i = 0; i < 1024; i++)
        far[i] = *((const volatile char *)(uintptr_t)here.sp + i);
    here.sp = (sfu_addr)(uintptr_t)far;
    sfu_link_print(sfu_link_data, &here);
    sfu_panic_memory(far, far + 1024);
    sfu_panic_memory(far + 2048, far + 4096); /* the range before counts, too */
    sfu_link_print(sfu_link_data, &here);
}
#endif

void kernel_main(void);

#ifdef NEW_THREAD
/* The stack of a thread that has not run yet: begin() returns to where body() starts, in front of which a function ends
 * in a return. */
void body(void);
__asm__(".text\n"
        ".type front, @function\n"
        "front: add $1, %eax\n"
        "    ret\n"
        ".type body, @function\n"
        "body: call front\n"
        "    ret");

static void begin(void)
{
    panic("a new thread\n");
    say("DONE\n");
    for (;;)
        sink++;
}

static void new_thread(void)
{
    static uintptr_t thread_stack[2048];
    uintptr_t *top = thread_stack + 2045;

    top[0] = (uintptr_t)begin;
    top[1] = (uintptr_t)body;
    top[2] = (uintptr_t)kernel_main + 1; /* left there by somebody */
    __asm__ volatile("mov %0, %%" STACK_POINTER "; ret" : : "r"(top));
}
#endif

#ifdef OVERWRITTEN
/* Code is interrupted deep on the stack, by an exception whose entry begins anew at its top: what lies there is the
 * handler's now. */
static struct sfu_registers stopped_at;
static uintptr_t returns_to;

step int deepest_part(int n);
step int deepest_part(int n)
{
    stopped_at = sfu_registers_here();
    returns_to = (uintptr_t)__builtin_return_address(0);
    sink++;
    return n + sink;
}

step int deep_part(int n);
step int deep_part(int n)
{
    volatile char room[6144];

    room[n] = (char)n;
    return deepest_part(n) + room[n];
}

step int outer_part(int n);
step int outer_part(int n)
{
    return deep_part(n) + sink;
}

step int handler_part(int n);
step int handler_part(int n)
{
    volatile uintptr_t words[32];
    int i;

    for (i = 0; i < 32; i++)
        words[i] = returns_to;
    sfu_panic_trap(stopped_at.pc, stopped_at.sp, stopped_at.fp, stopped_at.ra);
    return (int)words[n];
}

static void overwrite(void)
{
    sink += outer_part(3);
    sink += handler_part(3);
    say("DONE\n");
    for (;;)
        sink++;
}
#endif

#ifdef PROGRAMS
void run_program(void);
void finish(void);
void finish(void)
{
    say("DONE\n");
    for (;;)
        continue;
}
#endif

#ifdef TWO_CPUS
/* Both CPUs panic at the same instant, ROUNDS times, or nearly. A trace is printed whole, or not at all. */
enum { ROUNDS = 2000 };

static volatile int come[2], gone[2];
static volatile unsigned printed[2], whole[2], wrong, stopped;

static unsigned own_number(void)
{
    uintptr_t number;

    __asm__ volatile("csrr %0, mhartid" : "=r"(number));
    return number != 0;
}

static void count(void *ctx, char c)
{
    (void)ctx;
    (void)c;
    printed[own_number()]++;
}

step int panics(unsigned cpu);
step int panics(unsigned cpu)
{
    static const char second[] = "\nsecond fault while printing the trace: stopped\n";
    int code;

    printed[cpu] = 0;
    code = sfu_panic_here();
    if (whole[cpu] == 0)
        whole[cpu] = printed[cpu];
    if (code == SFU_E_STACK)
        stopped++;
    else if (code != SFU_END)
        wrong++;
    if (code == SFU_END ? printed[cpu] != whole[cpu] : printed[cpu] != 0 && printed[cpu] != sizeof second - 1)
        wrong++;
    return code;
}

/* Waits until PLACES says that both CPUs have come to AT. */
static void meet(volatile int *places, unsigned cpu, int at)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    places[cpu] = at;
    while (places[!cpu] < at)
        continue;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

step void panic_together(unsigned cpu);
step void panic_together(unsigned cpu)
{
    static volatile int code[2];
    int round;

    for (round = 1; round <= ROUNDS; round++) {
        meet(come, cpu, round);
        while (round == 1 && cpu == 1 && whole[0] == 0) /* the first ones are alone, and so are whole */
            continue;
        code[cpu] = panics(cpu);
        meet(gone, cpu, round);
        if (code[0] != SFU_END && code[1] != SFU_END)
            wrong++;
    }
}

void second_main(void);
void second_main(void)
{
    panic_together(1);
    for (;;)
        continue;
}
#endif

#ifdef UNHANDLED
/* Exceptions first come to an entry of sfu's. */
SFU_PANIC_ENTRY(trace_fault, put, UNHANDLED);

/* SP is no address of memory when the exception comes: no trace, and no end of exceptions, would help. */
void stopped(void);
void stopped(void)
{
    say("STOPPED\nDONE\n");
    for (;;)
        continue;
}
#endif

void kernel_main(void)
{
    machine_init();
#ifdef TWO_CPUS
    (void)sfu_panic_start(count);
    panic_together(0);
    say(wrong != 0 ? "traces in each other\n" : stopped == 0 ? "never at once\n" : "one at a time\n");
    say("DONE\n");
    for (;;)
        continue;
#endif
    if (start() != SFU_OK)
        say("no tables\n");
#ifdef NEW_THREAD
    new_thread();
#endif
#ifdef OVERWRITTEN
    overwrite();
#endif
#ifdef ELSEWHERE
    elsewhere();
#endif
#ifdef PUT_FAULTS
    struct sfu_registers here = sfu_registers_here();

    here.sp =
        (sfu_addr)((uintptr_t)&sink + 0x100000); /* no memory of the image: what the trace ends with is told */
    faulty = 1;
    sfu_link_print(sfu_link_data, &here);
    faulty = 0;
    say(deepest == 2 ? "DEPTH 2\n" : "DEEPER\n");
    say("DONE\n");
    for (;;)
        sink++;
#endif
#ifdef BAD_STACK
    BAD_STACK;
#endif
    sink += recurse(3);
    sink += broken(3);
    sink += interrupted(3);
#ifdef PROGRAMS
    say("a program\n");
    run_program();
#endif
    say("DONE\n");
    for (;;)
        continue;
}

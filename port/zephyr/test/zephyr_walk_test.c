/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * arch_stack_walk of port/zephyr in a process that plays Zephyr: two threads that switch, a fault, an interrupt. What
 * Zephyr does in assembly without tables is such assembly here. The declarations are our words for what the files here
 * need; -DZEPHYR_TREE takes them from a Zephyr tree instead.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define FUNC_NORETURN __attribute__((noreturn))
#define __aligned(n)  __attribute__((aligned(n)))
#define NOINLINE      __attribute__((noinline, noclone))
typedef void (*k_thread_entry_t)(void *p1, void *p2, void *p3);

#ifdef ZEPHYR_TREE
#include "declarations.h"
#else
typedef bool (*stack_trace_callback_fn)(void *cookie, unsigned long addr);
#ifdef __x86_64__
#define X86_THREAD_FLAG_ALL 1
struct _callee_saved {
    uint64_t rsp, rbx, rbp, r12, r13, r14, r15, rip, rflags;
};
struct _thread_arch {
    uint8_t flags;
};
struct arch_esf {
    unsigned long rbp, rip, rsp;
};
#else
struct _callee_saved {
    uint64_t x19_28[10], x29, sp_el0, sp_elx, lr;
};
struct _thread_arch {
    uint8_t exception_depth;
};
struct arch_esf {
    uint64_t x[19], lr, spsr, elr;
} __aligned(16);
#endif
struct k_thread;
void arch_stack_walk(stack_trace_callback_fn callback_fn, void *cookie, const struct k_thread *thread,
                     const struct arch_esf *esf);
#endif

struct k_thread {
    struct _callee_saved callee_saved;
    struct _thread_arch arch;
    struct {
        uintptr_t start;
        size_t size;
    } stack_info;
};
struct _cpu {
    uint32_t nested;
    char *irq_stack;
};

#define CONFIG_ARCH_STACKWALK_MAX_FRAMES 8
#define CONFIG_ISR_STACK_SIZE            32768
static struct k_thread threads[3], *_current = &threads[0];
static struct _cpu this_cpu, *const _current_cpu = &this_cpu;
static bool k_is_in_isr(void)
{
    return this_cpu.nested != 0;
}

#include "../sfu_zephyr.c"

/* switch_to(FROM, TO) saves what a switch of Zephyr saves, and goes on with TO. run_on(HIGH, FUNCTION, SAVED) calls
 * FUNCTION on the stack that ends at HIGH, and keeps SAVED 16 bytes below. begin() is what a thread begins with. */
void switch_to(struct _callee_saved *from, const struct _callee_saved *to);
void run_on(void *high, void (*function)(void), void *saved);
void begin(void);
#ifdef __x86_64__
__asm__(".text\n"
        "switch_to: pop %rax\n mov %rax, 56(%rdi)\n mov %rsp, (%rdi)\n mov %rbx, 8(%rdi)\n mov %rbp, 16(%rdi)\n"
        " mov %r12, 24(%rdi)\n mov %r13, 32(%rdi)\n mov %r14, 40(%rdi)\n mov %r15, 48(%rdi)\n"
        " mov (%rsi), %rsp\n mov 8(%rsi), %rbx\n mov 16(%rsi), %rbp\n mov 24(%rsi), %r12\n mov 32(%rsi), %r13\n"
        " mov 40(%rsi), %r14\n mov 48(%rsi), %r15\n jmp *56(%rsi)\n"
        "run_on: push %rbp\n mov %rsp, %rbp\n mov %rdx, -16(%rdi)\n lea -16(%rdi), %rsp\n call *%rsi\n"
        " mov %rbp, %rsp\n pop %rbp\n ret\n"
        "begin: mov %rbx, %rdi\n push $0\n jmp z_thread_entry\n");
#else
__asm__(
    ".text\n"
    "switch_to: stp x19, x20, [x0]\n stp x21, x22, [x0, #16]\n stp x23, x24, [x0, #32]\n stp x25, x26, [x0, #48]\n"
    " stp x27, x28, [x0, #64]\n str x29, [x0, #80]\n mov x4, sp\n stp x4, x30, [x0, #96]\n"
    " ldp x19, x20, [x1]\n ldp x21, x22, [x1, #16]\n ldp x23, x24, [x1, #32]\n ldp x25, x26, [x1, #48]\n"
    " ldp x27, x28, [x1, #64]\n ldr x29, [x1, #80]\n ldp x4, x30, [x1, #96]\n mov sp, x4\n ret\n"
    "run_on: stp x29, x30, [sp, #-16]!\n mov x29, sp\n sub x0, x0, #16\n str x2, [x0]\n mov sp, x0\n blr x1\n"
    " mov sp, x29\n ldp x29, x30, [sp], #16\n ret\n"
    "begin: mov x0, x19\n b z_thread_entry\n"
    ".globl z_arm64_exit_exc\nz_arm64_exit_exc: nop\nafter_switch: nop\n");
void after_switch(void);
#endif

static char stacks[4][CONFIG_ISR_STACK_SIZE] __aligned(16); /* of two threads, of interrupts, of signals */
static unsigned long pcs[16];
static unsigned num, room;
static int failed;

static bool keep(void *cookie, unsigned long addr)
{
    if (cookie != pcs || num == room)
        return false;
    pcs[num++] = addr;
    return true;
}

/* Says whether the walk gave COUNT PCs, each in the next of FUNCTIONS, the innermost first, and ended with CODE. A
 * small number is a PC itself. */
static void check(const char *name, const void *const *functions, unsigned count, int code, int wanted)
{
    bool right = num == count && code == wanted;

    for (unsigned i = 0; right && i < count; i++)
        right = pcs[i] >= (uintptr_t)functions[i] && pcs[i] - (uintptr_t)functions[i] < 1024;
    printf("%s %s", right ? "ok" : "not ok", name);
    for (unsigned i = 0; !right && i < num; i++)
        printf(" %#lx", pcs[i]);
    printf(right ? "\n" : ": %d\n", code);
    failed |= !right;
}
#define CHECK(name, code, wanted, ...)                                                                             \
    do {                                                                                                           \
        const void *const functions[] = {__VA_ARGS__};                                                             \
        check(name, functions, sizeof functions / sizeof *functions, code, wanted);                                \
    } while (0)

/* Walks with room for COUNT PCs. */
static NOINLINE int walk(unsigned count, const struct k_thread *thread, const struct arch_esf *esf)
{
    int code;

    num = 0;
    room = count;
    code = sfu_zephyr_walk(keep, pcs, thread, esf);
    __asm__ volatile("" : "+r"(code));
    return code;
}

FUNC_NORETURN NOINLINE void z_thread_entry(k_thread_entry_t entry, void *p1, void *p2, void *p3)
{
    entry(p1, p2, p3);
    exit(failed);
}

static NOINLINE int by_name(void)
{
    num = 0;
    room = 16;
    arch_stack_walk(keep, pcs, NULL, NULL); /* --wrap makes it ours */
    return (int)num;
}

static NOINLINE int here(void)
{
    return by_name() + 1;
}

static NOINLINE int deep(int n)
{
    int code = n == 0 ? walk(16, NULL, NULL) : deep(n - 1);

    __asm__ volatile("" : "+r"(code));
    return code;
}

static NOINLINE int sleeps(void)
{
    switch_to(&threads[1].callee_saved, &threads[0].callee_saved);
    return 1;
}

static void other(void *p1, void *p2, void *p3)
{
    (void)p1, (void)p2, (void)p3;
    exit(sleeps());
}

static void new_thread(struct k_thread *thread, k_thread_entry_t entry, char *stack)
{
    uintptr_t high = (uintptr_t)stack + CONFIG_ISR_STACK_SIZE;

    thread->stack_info.start = (uintptr_t)stack;
    thread->stack_info.size = CONFIG_ISR_STACK_SIZE;
#ifdef __x86_64__
    thread->callee_saved.rsp = high;
    thread->callee_saved.rbx = (uintptr_t)entry;
    thread->callee_saved.rip = (uintptr_t)begin;
#else
    thread->callee_saved.sp_elx = high;
    *(uint64_t *)&thread->callee_saved = (uintptr_t)entry; /* x19 */
    thread->callee_saved.lr = (uintptr_t)begin;
#endif
}

/* A fault, as the handler of the signal saves it where an exception does. */
static sigjmp_buf back;
static void (*on_fault)(struct arch_esf *esf);

static void handler(int signal, siginfo_t *info, void *ctx)
{
    const mcontext_t *m = &((const ucontext_t *)ctx)->uc_mcontext;
#ifdef __x86_64__
    struct arch_esf saved = {.rip = (unsigned long)m->gregs[REG_RIP],
                             .rsp = (unsigned long)m->gregs[REG_RSP],
                             .rbp = (unsigned long)m->gregs[REG_RBP]},
                    *esf = &saved;
#else
    struct arch_esf *esf = (struct arch_esf *)m->sp - 1;

    *esf = (struct arch_esf){.elr = m->pc, .lr = m->regs[30], .spsr = 5};
#endif
    (void)signal, (void)info;
    on_fault(esf);
    siglongjmp(back, 1);
}

static NOINLINE int faults(volatile int *p)
{
    *p = 1;
    return 2;
}

static NOINLINE int calls(int (*volatile f)(volatile int *))
{
    return f((int *)8) + 1;
}

static void of_main(void *p1, void *p2, void *p3);
static void fault_with(void (*function)(struct arch_esf *), int (*callee)(volatile int *));

static void fault(struct arch_esf *esf)
{
    CHECK("fault", walk(16, _current, esf), SFU_END, faults, calls, fault_with, of_main, z_thread_entry);
    CHECK("fault, no thread", walk(16, NULL, esf), SFU_END, faults, calls, fault_with, of_main, z_thread_entry);
#ifdef __aarch64__
    esf->spsr = 0;
    CHECK("of user mode only the PC is known", walk(16, NULL, esf), SFU_E_STACK, faults, calls);
#endif
}

static void wild(struct arch_esf *esf)
{
    CHECK("wild call", walk(16, _current, esf), SFU_END, 0, calls, fault_with, of_main, z_thread_entry);
}

static NOINLINE void isr(void)
{
    CHECK("interrupt", walk(16, NULL, NULL), SFU_END, walk, isr, run_on, faults, calls, fault_with, of_main,
          z_thread_entry);
    this_cpu.nested = 2;
    CHECK("nested interrupt", walk(16, NULL, NULL), SFU_E_NO_FDE, walk, isr, run_on);
    CHECK("another thread, from an interrupt", walk(16, &threads[1], NULL), SFU_END, sleeps, other, z_thread_entry);
    __asm__ volatile("");
}

static void interrupt(struct arch_esf *esf)
{
#ifdef __x86_64__
    _current->callee_saved.rip = esf->rip;
    _current->callee_saved.rsp = esf->rsp;
    _current->callee_saved.rbp = esf->rbp;
    _current->arch.flags = X86_THREAD_FLAG_ALL;
#endif
    this_cpu = (struct _cpu){.nested = 1, .irq_stack = stacks[2] + CONFIG_ISR_STACK_SIZE};
    run_on(this_cpu.irq_stack, isr, esf);
    this_cpu.nested = 0;
}

static void preempted(struct arch_esf *esf)
{
    threads[2] = threads[0];
#ifdef __x86_64__
    interrupt(esf);
    threads[2] = threads[0];
    CHECK("preempted", walk(16, &threads[2], NULL), SFU_END, faults, calls, fault_with, of_main, z_thread_entry);
    threads[2].callee_saved.rsp += 2 * CONFIG_ISR_STACK_SIZE;
    CHECK("saved SP on no stack", walk(16, &threads[2], NULL), SFU_E_STACK, faults);
#else
    threads[2].callee_saved.lr = (uintptr_t)after_switch;
    threads[2].callee_saved.sp_elx = (uintptr_t)esf;
    CHECK("preempted", walk(16, &threads[2], NULL), SFU_END, after_switch, faults, calls, fault_with, of_main,
          z_thread_entry);
    threads[2].callee_saved.sp_elx += 2 * CONFIG_ISR_STACK_SIZE;
    CHECK("saved SP on no stack", walk(16, &threads[2], NULL), SFU_E_NO_FDE, after_switch);
#endif
}

static NOINLINE void fault_with(void (*function)(struct arch_esf *), int (*callee)(volatile int *))
{
    on_fault = function;
    if (sigsetjmp(back, 1) == 0 && calls(callee) != 0)
        failed = 1;
}

static void of_main(void *p1, void *p2, void *p3)
{
    (void)p1, (void)p2, (void)p3;
    CHECK("from here, by its name", here(), 5, by_name, here, of_main, z_thread_entry);
    CHECK("from here", walk(16, NULL, NULL), SFU_END, walk, of_main, z_thread_entry);
    CHECK("current thread", walk(16, _current, NULL), SFU_END, walk, of_main, z_thread_entry);
    CHECK("callback stops it", walk(1, NULL, NULL), SFU_OK, walk);
    CHECK("limit", deep(9), SFU_E_DEPTH, walk, deep, deep, deep, deep, deep, deep, deep);
    switch_to(&threads[0].callee_saved, &threads[1].callee_saved);
    CHECK("another thread", walk(16, &threads[1], NULL), SFU_END, sleeps, other, z_thread_entry);
    fault_with(fault, faults);
    fault_with(wild, (int (*)(volatile int *))(uintptr_t)8);
    fault_with(interrupt, faults);
    fault_with(preempted, faults);
    new_thread(&threads[2], other, stacks[3]);
#ifdef __x86_64__
    threads[2].arch.flags = X86_THREAD_FLAG_ALL;
    threads[2].callee_saved.rip = (uintptr_t)z_thread_entry;
#else
    threads[2].callee_saved.sp_elx -= sizeof(struct arch_esf);
    threads[2].callee_saved.lr = (uintptr_t)z_arm64_exit_exc;
    *(struct arch_esf *)threads[2].callee_saved.sp_elx =
        (struct arch_esf){.elr = (uintptr_t)z_thread_entry, .spsr = 5, .lr = 0x5555};
#endif
    CHECK("new thread", walk(16, &threads[2], NULL), SFU_END, z_thread_entry);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t alternate = {.ss_sp = stacks[3], .ss_size = sizeof stacks[3]};
    struct _callee_saved boot;

    sigaltstack(&alternate, NULL);
    sigaction(SIGSEGV, &action, NULL);
    new_thread(&threads[0], of_main, stacks[0]);
    new_thread(&threads[1], other, stacks[1]);
    switch_to(&boot, &threads[0].callee_saved);
    return 1;
}

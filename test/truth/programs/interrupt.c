/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "parts.h"
#include "trace.h"

/* ---- handlers ---- */

static NOIPA void on_signal(int signal, void *info, void *context)
{
    (void)signal, (void)info;
    ENTER_HANDLER(&list, context);
    TRACE_HERE();
    LEAVE_HANDLER(&list);
}

static NOIPA void on_first(int signal, void *info, void *context)
{
    (void)signal, (void)info;
    ENTER_HANDLER(&list, context);
    (void)CALL(&list, (os_raise(OS_SIGUSR2), 0));
    LEAVE_HANDLER(&list);
}

/* Goes on behind the instruction of interrupt_fault. */
static NOIPA void on_bad_address(int signal, void *info, void *context)
{
    (void)signal, (void)info;
    ENTER_HANDLER(&list, context);
    TRACE_HERE();
    if (trace_function(*os_pc(context)).name == NULL)
        sfu_linux_exit(1);
#if defined(__x86_64__)
    *os_pc(context) += 8;
#elif defined(__aarch64__)
    *os_pc(context) += 4;
#elif defined(__s390x__)
    *os_pc(context) += 6;
#elif defined(__riscv)
    *os_pc(context) += 4;
#elif defined(__i386__)
    *os_pc(context) += 7;
#endif
    LEAVE_HANDLER(&list);
}

/* ---- each instruction ---- */

#if defined(__x86_64__) || defined(__i386__)

/* The CPU traps after each instruction that it begins with this flag set. */
#define TRAP_FLAG 0x100u
static volatile int stepping;

static void set_stepping(void *context)
{
    *os_flags(context) = (*os_flags(context) & ~(uintptr_t)TRAP_FLAG) | (stepping ? TRAP_FLAG : 0);
}

static NOIPA void on_undefined(int signal, void *info, void *context)
{
    (void)signal, (void)info;
    ENTER_HANDLER(&list, context);
    TRACE_HERE();
    *os_pc(context) += 2;
    set_stepping(context);
    LEAVE_HANDLER(&list);
}

static NOIPA void on_step(int signal, void *info, void *context)
{
    (void)signal, (void)info;
    ENTER_HANDLER(&list, context);
    TRACE_HERE();
    set_stepping(context);
    LEAVE_HANDLER(&list);
}

void interrupt_each_begin(void)
{
    stepping = 1;
    __asm__ volatile("ud2" : : : "memory");
}

void interrupt_each_end(void)
{
    stepping = 0;
}

#else

/* A breakpoint on each instruction, which goes when it is reached: an instruction of zeroes, which is undefined. */
static struct range {
    uint64_t start, end;
    unsigned char *saved; /* what was there */
} ranges[128];
static unsigned num_ranges;
static unsigned char saved[65536] __attribute__((aligned(8)));

#if defined(__s390x__) || defined(__riscv)
enum { BREAKPOINT_SIZE = 2 };
#else
enum { BREAKPOINT_SIZE = 4 };
#endif

static unsigned instruction_size(uint64_t pc)
{
#if defined(__s390x__)
    static const unsigned char sizes[4] = {2, 4, 4, 6};
    return sizes[*(const unsigned char *)(uintptr_t)pc >> 6];
#elif defined(__riscv)
    return (*(const unsigned char *)(uintptr_t)pc & 3) == 3 ? 4 : 2;
#else
    (void)pc;
    return 4;
#endif
}

static void add_range(uint64_t start, uint64_t end)
{
    static size_t used;
    struct range *r = &ranges[num_ranges];

    for (unsigned i = 0; i < num_ranges; i++)
        if (start == ranges[i].start)
            return;
    if (num_ranges == sizeof(ranges) / sizeof(ranges[0]) || end - start > sizeof(saved) - used)
        return;
    num_ranges++;
    r->start = start;
    r->end = end;
    r->saved = saved + used;
    for (uint64_t pc = start; pc < end; pc++)
        r->saved[pc - start] = *(const unsigned char *)(uintptr_t)pc;
    used += (size_t)(end - start);
    os_unlock_code(start, end);
}

static void write_code(uint64_t pc, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((volatile unsigned char *)(uintptr_t)pc)[i] = bytes == NULL ? 0 : bytes[i];
}

static bool remove_breakpoint(uint64_t pc)
{
    for (unsigned i = 0; i < num_ranges; i++)
        if (pc >= ranges[i].start && pc < ranges[i].end) {
            write_code(pc, ranges[i].saved + (pc - ranges[i].start), BREAKPOINT_SIZE);
            os_sync_code(pc, pc + BREAKPOINT_SIZE);
            return true;
        }
    return false;
}

/* The address of the instruction is in the siginfo; on s390x the PC is already behind it. */
static NOIPA void on_undefined(int signal, void *info, void *context)
{
    (void)signal;
    ENTER_HANDLER(&list, context);
    *os_pc(context) = ((const uintptr_t *)info)[sizeof(uintptr_t) == 8 ? 2 : 3];
    TRACE_HERE();
    if (!remove_breakpoint(*os_pc(context)))
        *os_pc(context) += BREAKPOINT_SIZE;
    LEAVE_HANDLER(&list);
}

void interrupt_each_begin(void)
{
    struct function f;

    for (uint64_t n = 0; (f = trace_nth_function(n)).name != NULL; n++)
        if (f.end > f.start && ((f.name[0] == 'p' && f.name[1] == '_') || f.name[0] == '.'))
            add_range(f.start, f.end);
    for (unsigned i = 0; i < num_ranges; i++) {
        unsigned n;
        for (uint64_t pc = ranges[i].start; pc < ranges[i].end; pc += n) {
            n = instruction_size(pc);
            write_code(pc, NULL, BREAKPOINT_SIZE);
        }
        os_sync_code(ranges[i].start, ranges[i].end);
    }
}

void interrupt_each_end(void)
{
    for (unsigned i = 0; i < num_ranges; i++) {
        write_code(ranges[i].start, ranges[i].saved, (size_t)(ranges[i].end - ranges[i].start));
        os_sync_code(ranges[i].start, ranges[i].end);
    }
}

#endif

void interrupt_init(void (*restorer)(void))
{
    static char other_stack[65536] __attribute__((aligned(16)));
    uint64_t flags = OS_SIGINFO | (restorer != NULL ? OS_RESTORER : 0);

    (void)sfu_linux_sigaltstack(other_stack, sizeof(other_stack));
    (void)sfu_linux_sigaction(OS_SIGALRM, on_signal, flags, restorer);
    (void)sfu_linux_sigaction(OS_SIGUSR1, on_first, flags, restorer);
    (void)sfu_linux_sigaction(OS_SIGUSR2, on_signal, flags | OS_ONSTACK, restorer);
    (void)sfu_linux_sigaction(OS_SIGSEGV, on_bad_address, flags, restorer);
    (void)sfu_linux_sigaction(OS_SIGILL, on_undefined, flags, restorer);
#if defined(__x86_64__) || defined(__i386__)
    (void)sfu_linux_sigaction(OS_SIGTRAP, on_step, flags, restorer);
#endif
}

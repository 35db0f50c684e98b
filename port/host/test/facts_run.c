/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * facts_run < facts_in ... > facts_out ...: lets the CPU execute each instruction alone. The handler of the signal that
 * ends one writes what it finds, and returns to the next one. There is no libc: nothing here may need what a random
 * instruction changes, and there is none for some of the CPUs.
 */
#include "facts.h"

#if defined(__arm__)
enum { CALL_READ = 3, CALL_WRITE = 4, CALL_SIGACTION = 174, CALL_SIGALTSTACK = 186, CALL_MMAP = 192 };
enum { CALL_EXIT_GROUP = 248 };

static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r7 __asm__("r7") = number;
    register long r0 __asm__("r0") = a;
    register long r1 __asm__("r1") = b;
    register long r2 __asm__("r2") = c;
    register long r3 __asm__("r3") = d;
    register long r4 __asm__("r4") = e;
    register long r5 __asm__("r5") = f;

    __asm__ __volatile__("svc #0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
    return r0;
}

/* struct ucontext: 20 bytes, three words, r0 to r15, cpsr. */
static inline uint64_t saved_at(uint32_t reg)
{
    return 32 + 4 * (uint64_t)reg;
}
#define SFU_NUM_REGS 15
#elif defined(__i386__)
enum { CALL_READ = 3, CALL_WRITE = 4, CALL_SIGACTION = 174, CALL_SIGALTSTACK = 186, CALL_MMAP = 90 };
enum { CALL_EXIT_GROUP = 252 };

/* None of the calls here has more than four arguments. */
static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
    (void)e;
    (void)f;
    __asm__ __volatile__("int $0x80" : "+a"(number) : "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
    return number;
}

/* struct ucontext: 20 bytes, gs, fs, es, ds, edi, esi, ebp, esp, ebx, edx, ecx, eax, two words, eip, cs, eflags. */
static inline uint64_t saved_at(uint32_t reg)
{
    static const uint8_t words[] = {16, 15, 14, 13, 12, 11, 10, 9, 19};

    return 4 * (uint64_t)words[reg];
}
#define SFU_NUM_REGS 8
#else
#include "port/linux/sfu_linux.h"

#include "port/linux/cpu.h"
#endif

enum { SIGNAL_OF_ILL = 4, SIGNAL_OF_TRAP = 5, SIGNAL_OF_TIMER = 14 };
enum { WITH_CONTEXT = 4, ON_STACK = 0x08000000, WITH_RESTORER = 0x04000000 };
enum { STDIN, STDOUT };

/* Whether the stack has the other bits before. */
#ifndef INVERTED
#define INVERTED 0
#endif

/* NUM_REGS that are exchanged; CALL_TIMER: setitimer; TRAP: a breakpoint. */
#if defined(__x86_64__)
enum { NUM_REGS = 16, CALL_TIMER = 38 };
static const uint8_t trap[] = {0xcc};
#elif defined(__i386__)
enum { NUM_REGS = 8, CALL_TIMER = 104 };
static const uint8_t trap[] = {0xcc};
#elif defined(__aarch64__)
enum { NUM_REGS = 32, CALL_TIMER = 103 };
static const uint8_t trap[] = {0, 0, 0x20, 0xd4};
#elif defined(__s390x__)
enum { NUM_REGS = 32, CALL_TIMER = 104 };
static const uint8_t trap[] = {0, 1};
#elif defined(__riscv)
enum { NUM_REGS = 32, CALL_TIMER = 103 };
static const uint8_t trap[] = {0x02, 0x90};
#else
enum { NUM_REGS = 15, CALL_TIMER = 104, FLAGS = 16, THUMB = 32 };
static const uint8_t trap[] = {0x70, 0x00, 0x20, 0xe1}, thumb_trap[] = {0, 0xbe};
#endif

static struct facts_in in;
static struct facts_out out;
static int running;
static unsigned rounds, ticks;
static char stack[65536] __attribute__((aligned(16)));

/* Volatile: the loops must not become calls of a libc. */
static void copy(void *to, const void *from, uint64_t len)
{
    volatile uint8_t *t = (volatile uint8_t *)to;
    const volatile uint8_t *f = (const volatile uint8_t *)from;

    while (len-- > 0)
        *t++ = *f++;
}

static void *register_at(void *ucontext, uint32_t reg)
{
    return (char *)ucontext + saved_at(reg);
}

static uint64_t get(void *ucontext, uint32_t reg)
{
    unsigned long value;

    copy(&value, register_at(ucontext, reg), sizeof value);
    return value;
}

static void set(void *ucontext, uint32_t reg, uint64_t number)
{
    const unsigned long value = (unsigned long)number;

    copy(register_at(ucontext, reg), &value, sizeof value);
}

static uint8_t *window(void)
{
    return (uint8_t *)(uintptr_t)FACTS_LOW;
}

enum { READ = 1, WRITE = 2, EXECUTE = 4 };

static void map(uint64_t at, uint64_t size, int protection)
{
    enum { PRIVATE_FIXED_ANONYMOUS = 0x32 };
#if defined(__s390x__) || defined(__i386__)
    unsigned long arguments[] = {(unsigned long)at,       (unsigned long)size, (unsigned long)protection,
                                 PRIVATE_FIXED_ANONYMOUS, (unsigned long)-1,   0};

    raw_call(CALL_MMAP, (long)arguments, 0, 0, 0, 0, 0);
#else
    raw_call(CALL_MMAP, (long)at, (long)size, protection, PRIVATE_FIXED_ANONYMOUS, -1, 0);
#endif
}

static void clear_cache(char *start, char *end)
{
#if defined(__arm__)
    raw_call(0xf0002, (long)start, (long)end, 0, 0, 0, 0);
#elif defined(__riscv)
    (void)start;
    (void)end;
    __asm__ __volatile__("fence.i" ::: "memory");
#elif defined(__aarch64__)
    enum { LINE = 16 }; /* at least */

    for (; start < end; start += LINE)
        __asm__ __volatile__("dc cvau, %0\ndsb ish\nic ivau, %0" : : "r"(start) : "memory");
    __asm__ __volatile__("dsb ish\nisb" ::: "memory");
#else
    __builtin___clear_cache(start, end);
#endif
}

/* Fills the page with breakpoints around the instruction. */
static void write_code(void)
{
    volatile uint8_t *page = (volatile uint8_t *)(uintptr_t)FACTS_PAGE;
    const uint8_t *fill = trap;
    unsigned size = sizeof trap, i;

#if defined(__arm__)
    if (in.flags & THUMB) {
        fill = thumb_trap;
        size = sizeof thumb_trap;
    }
#endif
    for (i = 0; i < FACTS_PAGE_SIZE; i++)
        page[i] = fill[i % size];
    copy((void *)(uintptr_t)FACTS_CODE, in.code, sizeof in.code);
    clear_cache((char *)(uintptr_t)FACTS_PAGE, (char *)(uintptr_t)FACTS_PAGE + FACTS_PAGE_SIZE);
}

#if defined(__s390x__)
/* The PSW's mask is the one of the first signal again, because instructions change how long addresses are; floating
 * point makes no traps. */
static void set_mask(void *ucontext)
{
    enum { MASK = 40, FPC = 248 };
    static const uint32_t fpc;
    static uint64_t mask;

    if (mask == 0)
        copy(&mask, (char *)ucontext + MASK, sizeof mask);
    copy((char *)ucontext + MASK, &mask, sizeof mask);
    copy((char *)ucontext + FPC, &fpc, sizeof fpc);
}
#endif

/* Reads the next instruction, and prepares UCONTEXT for it. Without one more the program ends. */
static void begin(void *ucontext)
{
    char *to = (char *)&in;
    unsigned long done = 0, i;
    long got;

    for (; done < sizeof in; done += (unsigned long)got) {
        got = raw_call(CALL_READ, STDIN, (long)(to + done), (long)(sizeof in - done), 0, 0, 0);
        if (got <= 0)
            raw_call(CALL_EXIT_GROUP, 0, 0, 0, 0, 0, 0);
    }
    write_code();
    map(FACTS_OTHER, FACTS_OTHER_SIZE, READ | WRITE);
    for (i = 0; i < FACTS_WINDOW; i++)
        ((volatile uint8_t *)window())[i] =
            facts_byte((unsigned)i, sizeof(long), __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, INVERTED);
#if defined(__riscv)
    for (i = 1; i < NUM_REGS; i++)
#else
    for (i = 0; i < NUM_REGS; i++)
#endif
        set(ucontext, (uint32_t)i, in.reg[i]);
    set(ucontext, SFU_NUM_REGS, FACTS_CODE);
#if defined(__x86_64__)
    ((uint64_t *)ucontext)[22] = 0x302 | in.flags; /* single steps, up to the next instruction */
#elif defined(__i386__)
    ((uint32_t *)ucontext)[21] = (uint32_t)(0x302 | in.flags);
#elif defined(__s390x__)
    set_mask(ucontext);
#elif defined(__arm__)
    set(ucontext, FLAGS, in.flags);
#elif defined(FACTS_VECTORS)
    __asm__ __volatile__(".word 0xcc00f057"); /* vsetivli zero, 1, e8, m1, ta, ma */
#endif
    running = 1;
    rounds = 0;
    ticks = 0;
}

#if defined(__s390x__)
/* Whether a breakpoint is at PC, and not a part of the instruction that looks like one. */
static int is_at_trap(uint64_t pc)
{
    const uint8_t *p = (const uint8_t *)(uintptr_t)pc;
    const unsigned size = in.code[0] < 0x40 ? 2 : in.code[0] < 0xc0 ? 4 : 6;

    return (pc < FACTS_CODE || pc >= FACTS_CODE + size) && pc >= FACTS_PAGE && pc < FACTS_PAGE + FACTS_PAGE_SIZE &&
           p[0] == trap[0] && p[1] == trap[1];
}
#endif

static void end(void *ucontext, int signal)
{
    uint64_t i;

    out.signal = (uint64_t)signal;
    out.pc = get(ucontext, SFU_NUM_REGS);
#if defined(__s390x__)
    if (signal == SIGNAL_OF_ILL &&
        is_at_trap(out.pc - sizeof trap)) { /* QEMU says SIGILL of it, and as the kernel that the PC is behind it */
        out.pc -= sizeof trap;
        out.signal = SIGNAL_OF_TRAP;
    }
#elif defined(__arm__)
    out.flags = get(ucontext, FLAGS);
#elif defined(__x86_64__)
    out.flags = ((uint64_t *)ucontext)[22];
#elif defined(__i386__)
    out.flags = ((uint32_t *)ucontext)[21];
#endif
    for (i = 0; i < NUM_REGS; i++)
        out.reg[i] = get(ucontext, (uint32_t)i);
#if defined(__riscv)
    out.reg[0] = 0;
#endif
    copy(out.window, window(), FACTS_WINDOW);
    raw_call(CALL_WRITE, STDOUT, (long)&out, sizeof out, 0, 0, 0);
}

static void handle(int signal, void *info, void *ucontext)
{
    enum { MAX_ROUNDS = 1000, MAX_TICKS = 2 };

    (void)info;
    if (signal == SIGNAL_OF_TIMER && (!running || ++ticks < MAX_TICKS))
        return;
#if defined(__x86_64__) || defined(__i386__)
    if (signal == SIGNAL_OF_TRAP && running && get(ucontext, SFU_NUM_REGS) == FACTS_CODE && ++rounds < MAX_ROUNDS)
        return; /* a round of rep */
#endif
    if (running)
        end(ucontext, signal == SIGNAL_OF_TIMER ? FACTS_LATE : signal);
    running = 0;
    begin(ucontext);
}

/* While a signal is handled no other one is. */
static void take(int signal)
{
    enum { ALL = -1 };
#if defined(__x86_64__)
    extern char facts_restorer[];
    unsigned long action[] = {(unsigned long)handle, WITH_CONTEXT | ON_STACK | WITH_RESTORER,
                              (unsigned long)facts_restorer, (unsigned long)ALL};
#elif defined(__i386__)
    extern char facts_restorer[];
    unsigned long action[] = {(unsigned long)handle, WITH_CONTEXT | ON_STACK | WITH_RESTORER,
                              (unsigned long)facts_restorer, (unsigned long)ALL, (unsigned long)ALL};
#elif defined(__riscv)
    unsigned long action[] = {(unsigned long)handle, WITH_CONTEXT | ON_STACK, (unsigned long)ALL,
                              (unsigned long)ALL};
#else
    unsigned long action[] = {(unsigned long)handle, WITH_CONTEXT | ON_STACK, 0, (unsigned long)ALL,
                              (unsigned long)ALL};
#endif

    raw_call(CALL_SIGACTION, signal, (long)action, 0, 8, 0, 0);
}

#if defined(__x86_64__)
__asm__(".text\n.globl facts_restorer\nfacts_restorer: mov $15, %eax\nsyscall\n"
        ".globl _start\n_start: and $-16, %rsp\ncall facts_main\nhlt");
#elif defined(__i386__)
__asm__(".text\n.globl facts_restorer\nfacts_restorer: mov $173, %eax\nint $0x80\n"
        ".globl _start\n_start: and $-16, %esp\ncall facts_main\nhlt");
#elif defined(__s390x__)
__asm__(".text\n.globl _start\n_start: aghi %r15, -160\nbrasl %r14, facts_main\nj .");
#elif defined(__riscv)
__asm__(".text\n.globl _start\n_start: .option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
        "call facts_main");
#else
__asm__(".text\n.globl _start\n_start: bl facts_main");
#endif

void facts_main(void);
void facts_main(void)
{
    enum { MILLISECONDS = 1000 };
    static const int signals[] = {SIGNAL_OF_ILL,  SIGNAL_OF_TRAP, 7, 8, 11,
                                  SIGNAL_OF_TIMER}; /* SIGBUS, SIGFPE, SIGSEGV */
    const unsigned long other[] = {(unsigned long)stack, 0, sizeof stack};
    const unsigned long often[] = {0, 20 * MILLISECONDS, 0, 20 * MILLISECONDS};
    unsigned i;

    map(FACTS_PAGE, FACTS_PAGE_SIZE, READ | WRITE | EXECUTE);
    map(FACTS_STACK, FACTS_STACK_SIZE, READ | WRITE);
    raw_call(CALL_SIGALTSTACK, (long)other, 0, 0, 0, 0, 0);
    for (i = 0; i < sizeof signals / sizeof signals[0]; i++)
        take(signals[i]);
    raw_call(CALL_TIMER, 0, (long)often, 0, 0, 0, 0);
    __builtin_trap();
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A program without libc and without frame pointers. It prints two backtraces by its own .sframe section: one from deep
 * in calls, one from a signal handler on a stack of its own, across the signal frame. Comments like "@deep" mark the
 * lines that addr2line must find; the test compares them.
 *
 * With the argument "table" a table crosses the signal frame instead of the trap hook. With "ucontext" the second trace
 * begins with the registers that the handler is given.
 */
#include "sfu_linux.h"
#include "sfu_print.h"

#define NOINLINE __attribute__((noinline))
/* A call in front of this does not become a tail call. */
#define STAY() __asm__ __volatile__("" ::: "memory")

#ifndef DEMO_IMAGE
#define DEMO_IMAGE "demo"
#endif

enum { SIGSEGV = 11, SA_SIGINFO = 4, SA_ONSTACK = 0x08000000 };

static struct sfu_linux self;
static struct sfu_panic panic;
static bool by_ucontext;
static uint64_t handler_stack[4096];

/* The handler's stack, or all that lies below or above it. */
static bool find_stack(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    const sfu_addr low = (uintptr_t)handler_stack, high = low + sizeof handler_stack;

    (void)ctx;
    stack->bytes = NULL;
    stack->low = addr < low ? 0 : addr <= high ? low : high;
    stack->high = addr < low ? low : addr <= high ? high : SFU_ADDR_MAX;
    return true;
}

static void say(const char *s)
{
    size_t len = 0;

    while (s[len] != '\0')
        len++;
    sfu_linux_write(s, len);
}

static bool equal(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a == *b;
}

NOINLINE void backtrace(void);
void backtrace(void)
{
    struct sfu_registers here = sfu_here(&self.cpu); /* @backtrace */

    sfu_panic_print(&panic, &here);
}

NOINLINE void deeper(int n);
void deeper(int n)
{
    if (n > 0)
        deeper(n - 1); /* @deeper */
    else
        backtrace(); /* @deepest */
    STAY();
}

/* A frame whose size is known only at run time. */
NOINLINE void deep(int n);
void deep(int n)
{
    char array[n];

    __asm__ __volatile__("" : : "r"(array) : "memory");
    deeper(2); /* @deep */
    __asm__ __volatile__("" : : "r"(array) : "memory");
}

/* It calls nothing, so its return address may be only in a register. */
NOINLINE void crash(volatile int *p);
void crash(volatile int *p)
{
    *p = 1; /* @crash */
}

NOINLINE void careless(int n);
void careless(int n)
{
    crash((volatile int *)(uintptr_t)n); /* @careless */
    STAY();
}

NOINLINE void handler(int signal, void *info, void *ucontext);
void handler(int signal, void *info, void *ucontext)
{
    (void)signal;
    (void)info;
    if (by_ucontext) {
        struct sfu_registers there = sfu_linux_interrupted(ucontext, &self.cpu);

        sfu_panic_print(&panic, &there);
    } else {
        backtrace(); /* @handler */
    }
    sfu_linux_exit(0);
}

#ifdef SFU_NO_OUTERMOST
/* No table of _start can say that it is the outermost frame: the hook does. */
static int trap_hook(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    extern const char _start[], _start_end[];
    const sfu_addr pc = sfu_lookup_pc(&frame->regs);

    if (pc >= (uintptr_t)_start && pc < (uintptr_t)_start_end)
        return SFU_END;
    return sfu_linux_trap(ctx, frame, code, interrupted);
}
#endif

/* The section of this program: by its program headers, or between symbols of the linker script. */
static int find_section(const uintptr_t *auxv)
{
    int code = sfu_linux_init(&self, auxv);

#ifdef DEMO_LINKER_SYMBOLS
    extern const uint8_t sframe_start[], sframe_end[];

    if (code != SFU_E_NO_SECTION)
        return SFU_E_BOUNDS; /* sfu.lds makes no PT_GNU_SFRAME */
    code = sfu_add(&self.target.sections, &self.section, 1, sframe_start, (sfu_addr)(sframe_end - sframe_start),
                   (uintptr_t)sframe_start);
#endif
    return code;
}

static void open_section(const uintptr_t *auxv)
{
    int code = find_section(auxv);
    struct sfu_place place;
    char version[] = "SFrame version N\n";

    if (code == SFU_OK)
        code = sfu_check(&self.section, &place);
    if (code != SFU_OK) {
        say("cannot use .sframe: ");
        say(sfu_string(code));
        say("\n");
        sfu_linux_exit(1);
    }
    version[15] = (char)('0' + self.section.version);
    say(version);
    self.target.find_stack = find_stack;
    panic.target = &self.target;
    panic.put = sfu_linux_put;
    panic.symbol = sfu_linux_symbol;
    panic.ctx = &self;
    panic.image = DEMO_IMAGE;
    panic.slide = self.slide;
}

NOINLINE int sfu_linux_main(int argc, char **argv, const uintptr_t *auxv)
{
    void (*restorer)(void) = NULL;

    open_section(auxv);
    if (argc > 1 && equal(argv[1], "ucontext"))
        by_ucontext = true;
#ifdef SFU_NO_OUTERMOST
    self.target.trap_hook = trap_hook;
#endif
#if !defined(SFU_NO_OUTERMOST) && !defined(__s390x__) && !defined(__riscv)
    if (argc > 1 && equal(argv[1], "table")) {
        self.target.trap_hook = NULL;
        restorer = sfu_linux_restorer_table;
    }
#endif
    say("\nFrom deep in calls:\n");
    deep(argc + 20); /* @main-deep */
    say("\nFrom a signal handler, on its own stack, after a bad memory access:\n");
    sfu_linux_sigaltstack(handler_stack, sizeof handler_stack);
    sfu_linux_sigaction(SIGSEGV, handler, SA_SIGINFO | SA_ONSTACK, restorer);
    careless(argc + 15); /* @main-careless */
    return 1;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A program without libc that writes an image of itself, for afar.c to unwind on another machine: registers,
 * section and stack as they are deep in calls, at a call ("stop") or where a leaf function has crashed ("crash").
 *
 * Each function notes its return address, so that the image holds the truth as well. Standard output gets, in the
 * program's byte order and words of 8 bytes:
 *
 *     magic, slide, number of registers n, r[0] to r[n - 1], PC,
 *     number of return addresses t, from the first function's to the last one's,
 *     twice: address and size of a range, then its bytes
 */
#include "sfu_linux.h"

#define NOINLINE __attribute__((noinline))
/* A call before this is no tail call, and OBJECT is in memory. */
#define STAY(object) __asm__ __volatile__("" : : "r"(object) : "memory")
#define NOTE()       (truth[num_truth++] = (uint64_t)(uintptr_t)__builtin_return_address(0))

enum { SIGSEGV = 11, SA_SIGINFO = 4, SA_ONSTACK = 0x08000000, LEVELS = 200 };

static const uint64_t magic = 0x7366752061666172; /* "sfu afar" */

static struct sfu_linux self;
static const uint64_t *stack_end;
static volatile uint64_t truth[2 * LEVELS];
static volatile uint64_t num_truth;
static uint64_t handler_stack[4096];

static void put(uint64_t word)
{
    sfu_linux_write((const char *)&word, sizeof word);
}

static void put_range(uint64_t addr, uint64_t size)
{
    put(addr);
    put(size);
    sfu_linux_write((const char *)(uintptr_t)addr, size);
}

/* Below SP the image has the red zone and nothing else: the rule for FP may need a word there that has been popped, and
 * no other rule of a compiler's does. */
static void put_image(uint64_t sp)
{
    uint64_t low = sp - self.target.red_zone;
    unsigned i;

    put(magic);
    put(self.slide);
    put(SFU_NUM_REGS);
    for (i = 0; i <= SFU_NUM_REGS; i++)
        put(self.cpu.r[i]);
    put(num_truth);
    for (i = 0; i < num_truth; i++)
        put(truth[i]);
    put_range(self.section.addr, self.section.size);
    put_range(low, (uint64_t)(uintptr_t)stack_end - low);
    sfu_linux_exit(0);
}

NOINLINE void stop(volatile int *p);
void stop(volatile int *p)
{
    struct sfu_registers top;

    NOTE();
    top = sfu_here(&self.cpu);
    put_image(top.sp);
    STAY(p);
}

/* Makes no call: its return address may be nowhere but in a register. */
NOINLINE void crash(volatile int *p);
void crash(volatile int *p)
{
    NOTE();
    *p = 1;
}

NOINLINE void handler(int signal, void *info, void *ucontext);
void handler(int signal, void *info, void *ucontext)
{
    struct sfu_registers top = sfu_linux_interrupted(ucontext, &self.cpu);

    (void)signal;
    (void)info;
    put_image(top.sp);
}

NOINLINE void pointer(void (*last)(volatile int *));
void pointer(void (*last)(volatile int *))
{
    NOTE();
    last((volatile int *)16);
    STAY(last);
}

/* Needs more alignment than the stack has, next to an array whose size only the run knows. */
NOINLINE void aligned(int n, void (*last)(volatile int *));
void aligned(int n, void (*last)(volatile int *))
{
    __attribute__((aligned(64))) char vector[64];
    char array[n];

    NOTE();
    STAY(vector);
    STAY(array);
    pointer(last);
    STAY(vector);
    STAY(array);
}

NOINLINE void ping(int n, void (*last)(volatile int *));
NOINLINE void pong(int n, void (*last)(volatile int *));

void ping(int n, void (*last)(volatile int *))
{
    char array[n + 1];

    NOTE();
    STAY(array);
    if (n > 0)
        pong(n - 1, last);
    else
        aligned(100, last);
    STAY(array);
}

/* A frame of more than a page. */
void pong(int n, void (*last)(volatile int *))
{
    char array[5000];

    NOTE();
    STAY(array);
    ping(n - 1, last);
    STAY(array);
}

NOINLINE int sfu_linux_main(int argc, char **argv, const uint64_t *auxv)
{
    bool crashes = argc > 1 && argv[1][1] == 'r';
    int code = sfu_linux_init(&self, auxv);

    NOTE();
    stack_end = auxv;
    if (code != SFU_OK)
        return 1;
    sfu_linux_sigaltstack(handler_stack, sizeof handler_stack);
    sfu_linux_sigaction(SIGSEGV, handler, SA_SIGINFO | SA_ONSTACK, NULL);
    ping(LEVELS, crashes ? crash : stop);
    return 1;
}

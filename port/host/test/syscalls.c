/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * syscalls TABLES: makes system calls to the entries of syscalls.S in this program, and walks the stack at each of
 * their instructions. A program can do what the CPU does at `syscall`: RCX gets the PC, R11 the flags, and SP stays. TF
 * makes the CPU stop behind every instruction; `swapgs` and `sysretq`, which a program may not execute, fault, and are
 * done here. The frame behind the entry's has to be the interrupted one: its PC, SP and FP are known here. Where the
 * interrupted SP is in a variable alone there must be no row. TABLES are sfu-gen's, for 0x10000000. For x86_64.
 */
#define _GNU_SOURCE
#include "sfu.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { TABLES = 0x10000000, SET_GS = 0x1001 };

extern const uint8_t per_cpu[], per_cpu_apart[], per_cpu_found[], global[], global_apart[], global_found[],
    by_register[];
extern uint64_t of_kernel[], of_program[];
void imitate_syscall(const uint8_t *entry, struct sfu_registers *interrupted);
void handle(void);

static const struct entry {
    const uint8_t *start, *apart, *found; /* from APART up to FOUND nothing is said */
} entries[] = {
    {per_cpu, per_cpu_apart, per_cpu_found}, {global, global_apart, global_found}, {by_register, NULL, NULL}};

static struct sfu_registers truth;
static const struct entry *entry;
static volatile sig_atomic_t inside, stepped, apart, wrong;
static volatile unsigned calls;
static bool kernels_gs;
static char first[200];
static struct sfu_section section;
static struct sfu_target target;
static const ucontext_t *context;

__attribute__((noinline)) void handle(void)
{
    volatile char room[40];

    room[calls % 40] = (char)calls;
    calls += (unsigned)room[0] + 1;
}

static int read_memory(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    (void)ctx;
    memcpy(buffer, (const void *)(uintptr_t)addr, len);
    return 0;
}

static int read_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value)
{
    static const int numbers[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

    (void)ctx;
    if (frame->depth != 0 || reg >= sizeof numbers / sizeof *numbers)
        return -1;
    *value = (uint64_t)context->uc_mcontext.gregs[numbers[reg]];
    return 0;
}

static void look(void)
{
    struct sfu_registers top = {0};
    struct sfu_walk walk;
    int code;
    bool is_apart;

    top.pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    top.sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    top.fp = (uint64_t)context->uc_mcontext.gregs[REG_RBP];
    inside = (inside || top.pc == (uintptr_t)entry->start) && top.pc != truth.pc;
    if (!inside)
        return;
    stepped++;
    is_apart = top.pc >= (uintptr_t)entry->apart && top.pc < (uintptr_t)entry->found;
    apart += is_apart;
    sfu_walk_start(&walk, &target, &top);
    do {
        code = sfu_walk_step(&walk);
    } while (code == SFU_OK && !walk.frame.interrupted && walk.frame.depth < 16);
    if (is_apart ? code == SFU_E_NO_FDE && walk.frame.depth == 0
                 : code == SFU_OK && walk.frame.interrupted && walk.frame.regs.pc == truth.pc &&
                       walk.frame.regs.sp == truth.sp && walk.frame.regs.fp == truth.fp && walk.frame.reliable)
        return;
    if (wrong++ == 0)
        snprintf(first, sizeof first, "at 0x%llx: %s, pc 0x%llx sp 0x%llx fp 0x%llx, not 0x%llx 0x%llx 0x%llx",
                 (unsigned long long)top.pc, sfu_string(code), (unsigned long long)walk.frame.regs.pc,
                 (unsigned long long)walk.frame.regs.sp, (unsigned long long)walk.frame.regs.fp,
                 (unsigned long long)truth.pc, (unsigned long long)truth.sp, (unsigned long long)truth.fp);
}

static void step(int signal, siginfo_t *info, void *c)
{
    (void)signal;
    (void)info;
    context = c;
    look();
}

/* Does the instruction that the CPU has refused. */
static void refused(int signal, siginfo_t *info, void *c)
{
    static const uint8_t swapgs[3] = {0x0f, 0x01, 0xf8}, sysretq[3] = {0x48, 0x0f, 0x07};
    greg_t *regs = ((ucontext_t *)c)->uc_mcontext.gregs;
    const void *at = (const void *)(uintptr_t)regs[REG_RIP];

    (void)signal;
    (void)info;
    context = c;
    if (memcmp(at, swapgs, sizeof swapgs) == 0) {
        kernels_gs = !kernels_gs;
        (void)syscall(SYS_arch_prctl, SET_GS, kernels_gs ? of_kernel : of_program);
        regs[REG_RIP] += (greg_t)sizeof swapgs;
    } else if (memcmp(at, sysretq, sizeof sysretq) == 0) {
        regs[REG_RIP] = regs[REG_RCX];
        regs[REG_EFL] = regs[REG_R11];
    } else {
        printf("a fault at %p\n", at);
        _exit(3);
    }
    look();
}

static void handle_signal(int signal, void (*function)(int, siginfo_t *, void *))
{
    struct sigaction action = {0};

    action.sa_sigaction = function;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigaction(signal, &action, NULL);
}

int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 16], other_stack[1 << 16];
    stack_t stack = {other_stack, 0, sizeof other_stack};
    FILE *f = fopen(argc > 1 ? argv[1] : "", "rb");
    size_t size = f != NULL ? fread(bytes, 1, sizeof bytes, f) : 0, i;

    if (size == 0 || sfu_add(&target.sections, &section, 1, bytes, size, TABLES) != SFU_OK) {
        printf("no tables\n");
        return 2;
    }
    target.stack.high = UINT64_MAX;
    target.read = read_memory;
    target.reg = read_register;
    (void)sigaltstack(&stack, NULL);
    handle_signal(SIGTRAP, step);
    handle_signal(SIGSEGV, refused);
    for (i = 0; i < sizeof entries / sizeof *entries; i++) {
        entry = &entries[i];
        imitate_syscall(entry->start, &truth);
    }
    printf("%d instructions, %d without a row, %d wrong. %s\n", (int)stepped, (int)apart, (int)wrong, first);
    return wrong > 0 || stepped < 60 || apart != 4 || calls < 3;
}

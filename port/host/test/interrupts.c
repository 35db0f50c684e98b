/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * interrupts TABLES: interrupts itself, and walks the stack at each instruction of the handlers. A program can do what
 * the CPU does: it pushes SS, SP, flags, CS, PC and, for some handlers, an error code, and jumps to the handler, whose
 * iretq comes back to it. TF makes the CPU stop behind every instruction. The handlers are those of handlers.c, by
 * __attribute__((interrupt)). The frame behind the handler's has to be the interrupted one: its PC, SP and FP are known
 * here. TABLES are sfu-gen's, for 0x10000000. For x86_64.
 */
#define _GNU_SOURCE
#include "sfu.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { TABLES = 0x10000000, TF = 0x100 };

void plain(void), error(void), aligned(void), busy(void);

/* What was interrupted; and whether a handler is running. */
static struct sfu_registers truth;
static volatile sig_atomic_t inside, stepped, wrong;
static uint64_t handler;
static char first[200];
static struct sfu_section section;
static struct sfu_target target;

/* interrupt(handler, with error code, &truth): SP is not aligned, as the CPU finds it; it aligns what it pushes. */
void interrupt(uint64_t to, uint64_t with_error, struct sfu_registers *interrupted);
__asm__(".text\n"
        ".globl interrupt\n"
        "interrupt:\n"
        "    push %rbp\n"
        "    mov $0x5eed, %ebp\n"
        "    lea 1f(%rip), %rax\n"
        "    mov %rax, (%rdx)\n"
        "    mov %rsp, 8(%rdx)\n"
        "    mov %rbp, 16(%rdx)\n"
        "    mov %rsp, %rcx\n"
        "    sub $128, %rsp\n"
        "    and $-16, %rsp\n"
        "    mov %ss, %eax\n"
        "    push %rax\n"
        "    push %rcx\n"
        "    pushf\n"
        "    orq $0x100, (%rsp)\n"
        "    mov %cs, %eax\n"
        "    push %rax\n"
        "    push (%rdx)\n"
        "    test %rsi, %rsi\n"
        "    jz 2f\n"
        "    push $42\n"
        "2:  pushf\n"
        "    orq $0x100, (%rsp)\n"
        "    popf\n"
        "    jmp *%rdi\n"
        "1:  pushf\n"
        "    andq $~0x100, (%rsp)\n"
        "    popf\n"
        "    pop %rbp\n"
        "    ret\n");

static int read_memory(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    (void)ctx;
    memcpy(buffer, (const void *)(uintptr_t)addr, len);
    return 0;
}

static void step(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *c = context;
    struct sfu_registers top = {0};
    struct sfu_walk walk;
    int code;

    (void)signal;
    (void)info;
    top.pc = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
    top.sp = (uint64_t)c->uc_mcontext.gregs[REG_RSP];
    top.fp = (uint64_t)c->uc_mcontext.gregs[REG_RBP];
    inside = (inside || top.pc == handler) && top.pc != truth.pc;
    if (!inside)
        return;
    stepped++;
    sfu_walk_start(&walk, &target, &top);
    do {
        code = sfu_walk_step(&walk);
    } while (code == SFU_OK && !walk.frame.interrupted && walk.frame.depth < 16);
    if (code == SFU_OK && walk.frame.interrupted && walk.frame.regs.pc == truth.pc &&
        walk.frame.regs.sp == truth.sp && walk.frame.regs.fp == truth.fp && walk.frame.reliable)
        return;
    if (wrong++ == 0)
        snprintf(first, sizeof first, "at 0x%llx: %s, pc 0x%llx sp 0x%llx fp 0x%llx, not 0x%llx 0x%llx 0x%llx",
                 (unsigned long long)top.pc, sfu_string(code), (unsigned long long)walk.frame.regs.pc,
                 (unsigned long long)walk.frame.regs.sp, (unsigned long long)walk.frame.regs.fp,
                 (unsigned long long)truth.pc, (unsigned long long)truth.sp, (unsigned long long)truth.fp);
}

static void run(void (*to)(void), uint64_t with_error)
{
    handler = (uint64_t)(uintptr_t)to;
    interrupt(handler, with_error, &truth);
}

int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 16], other_stack[1 << 16];
    stack_t stack = {other_stack, 0, sizeof other_stack};
    struct sigaction action = {0};
    FILE *f = fopen(argc > 1 ? argv[1] : "", "rb");
    size_t size = f != NULL ? fread(bytes, 1, sizeof bytes, f) : 0;

    if (size == 0 || sfu_add(&target.sections, &section, 1, bytes, size, TABLES) != SFU_OK) {
        printf("no tables\n");
        return 2;
    }
    target.stack.high = UINT64_MAX;
    target.read = read_memory;
    (void)sigaltstack(&stack, NULL);
    action.sa_sigaction = step;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    (void)sigaction(SIGTRAP, &action, NULL);
    run(plain, 0);
    run(error, 1);
    run(aligned, 0);
    run(busy, 1);
    printf("%d instructions, %d wrong. %s\n", (int)stepped, (int)wrong, first);
    return wrong > 0 || stepped < 100;
}

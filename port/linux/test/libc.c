/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Next to a libc, with its restorer: a walk from a signal handler to main. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "sfu_linux.h"

static struct sfu_linux self;

static uint64_t pc_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#else
    return context->uc_mcontext.psw.addr;
#endif
}

__attribute__((noinline)) static void crash(volatile int *p)
{
    *p = 1;
}

__attribute__((noinline)) static void careless(intptr_t n)
{
    crash((volatile int *)n);
    __asm__ __volatile__("" ::: "memory");
}

int main(int argc, char **argv);

/* Prints what is wrong, or nothing. */
static void check(bool right, const char *what, int code)
{
    if (right)
        return;
    printf("not ok: %s (%d: %s)\n", what, code, sfu_string(code));
    exit(1);
}

static void handler(int signal, siginfo_t *info, void *ucontext)
{
    struct sfu_registers here = sfu_here(&self.cpu);
    const uintptr_t functions[] = {(uintptr_t)crash, (uintptr_t)careless, (uintptr_t)main};
    struct sfu_walk walk;
    struct sfu_row row;
    int code = SFU_OK;
    unsigned i;

    (void)signal;
    (void)info;
    sfu_walk_start(&walk, &self.target, &here);
    while (code == SFU_OK && !walk.frame.interrupted)
        code = sfu_walk_step(&walk);
    check(code == SFU_OK, "signal frame", code);
    check(walk.frame.regs.pc == pc_of((const ucontext_t *)ucontext), "interrupted PC", code);
    for (i = 0; i < 3; i++) {
        code = sfu_find_frame(&self.target, &walk.frame, &row);
        check(code == SFU_OK && row.function == functions[i], "function", code);
        code = sfu_walk_step(&walk);
        check(i == 2 || code == SFU_OK, "step", code);
    }
    printf("ok libc\n");
    exit(0);
}

int main(int argc, char **argv)
{
    uintptr_t auxv[] = {AT_PHDR, getauxval(AT_PHDR), AT_PHNUM, getauxval(AT_PHNUM), AT_NULL, 0};
    struct sigaction action = {0};
    int code = sfu_linux_init(&self, auxv);

    (void)argv;
    check(code == SFU_OK, "section", code);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    careless(argc + 15);
    return 1;
}

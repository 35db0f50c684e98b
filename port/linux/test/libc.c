/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Next to a libc, with its restorer: a walk from a signal handler to the test. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "section.h"
#include "test/lib/check.h"

static struct sfu_linux self;

static uint64_t pc_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#elif defined(__i386__)
    return (uint32_t)context->uc_mcontext.gregs[REG_EIP];
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

static sigjmp_buf back; /* of the handler, to the test */

static void test_signal(void **state);

/* It runs where the test has stored to an address that is not there, and nowhere else: assertions may end it. */
static void handler(int signal, siginfo_t *info, void *ucontext)
{
    struct sfu_registers here = sfu_here(&self.cpu);
    const uintptr_t functions[] = {(uintptr_t)crash, (uintptr_t)careless, (uintptr_t)test_signal};
    struct sfu_walk walk;
    struct sfu_row row;

    (void)signal;
    (void)info;
    sfu_walk_start(&walk, &self.target, &here);
    while (!walk.frame.interrupted)
        assert_int_equal(sfu_walk_step(&walk), SFU_OK);
    assert_int_equal(walk.frame.regs.pc, pc_of((const ucontext_t *)ucontext));
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(sfu_find_frame(&self.target, &walk.frame, &row), SFU_OK);
        assert_int_equal(row.function, functions[i]);
        assert_true(sfu_walk_step(&walk) == SFU_OK || i == 2);
    }
    siglongjmp(back, 1);
}

static void test_signal(void **state)
{
    const uintptr_t auxv[] = {AT_PHDR, getauxval(AT_PHDR), AT_PHNUM, getauxval(AT_PHNUM), AT_NULL, 0};
    struct sigaction action = {0};
    volatile intptr_t nowhere = 16;

    (void)state;
    assert_int_equal(init_self(&self, auxv), SFU_OK);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    if (sigsetjmp(back, 1) == 0) {
        careless(nowhere);
        assert_that(false, "no signal came");
    }
}

int main(void)
{
    static const struct check_test tests[] = {CHECK(test_signal)};

    return check_run(NULL, tests);
}

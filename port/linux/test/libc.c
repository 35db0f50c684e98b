/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Next to a libc, with its restorer: a walk from a signal handler to the test. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <ucontext.h>
#include <unistd.h>

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

#ifdef __i386__
enum { CALL_KILL = 37 };
static unsigned long vsyscall; /* the vDSO's code that calls the system: the libc makes each system call by it */

__attribute__((noinline)) static void send(int signal)
{
    long result = CALL_KILL;

    __asm__ __volatile__("call *%1" : "+a"(result) : "r"(vsyscall), "b"(getpid()), "c"(signal) : "memory");
    assert_int_equal(result, 0);
}

/* It interrupts the vDSO, whose caller the walk finds by its code. */
static void sent(int signal)
{
    struct sfu_registers here = sfu_here(&self.cpu);
    struct sfu_walk walk;
    struct sfu_row row;

    (void)signal;
    sfu_walk_start(&walk, &self.target, &here);
    while (!walk.frame.interrupted)
        assert_int_equal(sfu_walk_step(&walk), SFU_OK);
    assert_int_equal(sfu_walk_step(&walk), SFU_OK);
    assert_int_equal(walk.frame.regs.pc_kind, SFU_PC_RETURN);
    assert_true(walk.frame.reliable);
    assert_int_equal(sfu_find_frame(&self.target, &walk.frame, &row), SFU_OK);
    assert_int_equal(row.function, (uintptr_t)send);
    siglongjmp(back, 1);
}

static void test_system_call(void **state)
{
    struct sigaction action = {0};

    (void)state;
    vsyscall = getauxval(AT_SYSINFO);
    action.sa_handler = sent;
    sigaction(SIGUSR1, &action, NULL);
    if (vsyscall != 0 && sigsetjmp(back, 1) == 0) {
        send(SIGUSR1);
        assert_that(false, "no signal came");
    }
}
#endif

int main(void)
{
    static const struct check_test tests[] = {
        CHECK(test_signal),
#ifdef __i386__
        CHECK(test_system_call),
#endif
    };

    return check_run(NULL, tests);
}

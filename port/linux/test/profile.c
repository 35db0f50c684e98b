/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * profile [small | stack | deep]: a program without libc profiles itself by a timer of CPU time. Prints the profile,
 * what it counted, and the PC of each sample that is in it, as its signal handler was given it. small: in a depot that
 * is too small. stack: the fast walker reads the stack, and nothing else can. deep: with more frames than a sample has.
 */
#include "bare.h"
#include "section.h"
#include "sfu_profile.h"

#define NOINLINE __attribute__((noinline))
/* A call in front of this does not become a tail call, and a loop around it stays. */
#define STAY() __asm__ __volatile__("" ::: "memory")

enum { SIGPROF = 27, SA_SIGINFO = 4, SA_RESTART = 0x10000000, EINVAL = 22 };
enum { SAMPLES = 40, IDLE = 3, LOST = 5, DEPTH = 7, TOO_DEEP = 100, ROOM = 65536, MILLISECOND = 1000000 };

extern const char __executable_start[]; /* of ld */

static struct sfu_linux self;
#if __GCC_ATOMIC_LLONG_LOCK_FREE < 2 || defined(__i386__) /* as in sfu_profile.c */
#define FAST NULL                                         /* the core makes the traces */
#else
static struct sfu_fast fast;
static struct sfu_fast_image image;
#define FAST &fast
#endif
static struct sfu_profile profile;
static struct sfu_panic console = {.put = sfu_linux_put};
static uint64_t memory[4096];
static volatile uint64_t pcs[1 << 16];
static volatile unsigned num_pcs, num_signals;
static volatile bool idle;

static void sample(int signal, void *info, void *ucontext)
{
    struct sfu_registers at = sfu_linux_interrupted(ucontext, &self.cpu);

    (void)signal;
    (void)info;
    num_signals++;
    if ((profile.state & 1) != 0 && !idle && num_pcs < sizeof pcs / sizeof pcs[0])
        pcs[num_pcs++] = at.pc - self.slide;
    sfu_profile_sample(&profile, FAST, &self.target, &at, idle);
}

/* ---- what is sampled ---- */

NOINLINE void loop_of_hot(unsigned n);
void loop_of_hot(unsigned n)
{
    for (; n > 0; n--)
        STAY();
}

NOINLINE void loop_of_warm(unsigned n);
void loop_of_warm(unsigned n)
{
    for (; n > 0; n--)
        STAY();
}

NOINLINE void deep(unsigned depth);
void deep(unsigned depth)
{
    if (depth > 0)
        deep(depth - 1);
    else
        loop_of_hot(3000);
    STAY();
}

/* Prologues and epilogues, mostly. */
NOINLINE void shallow(unsigned depth);
void shallow(unsigned depth)
{
    if (depth > 0)
        shallow(depth - 1);
    STAY();
}

NOINLINE void hot(unsigned depth);
void hot(unsigned depth)
{
    deep(depth);
    STAY();
}

NOINLINE void warm(void);
void warm(void)
{
    unsigned i;

    loop_of_warm(2000);
    for (i = 0; i < 30; i++)
        shallow(10);
    STAY();
}

static enum { WHOLE, SMALL, STACK, DEEP } mode;

/* Until there are enough samples in the profile, enough of them are lost, or are not complete. If the depot is small,
 * each depth is another trace. No function: one that is inlined has its own name in a profile. */
#define HAS(enough)                                                                                                \
    ((mode == SMALL ? profile.depot.lost : mode == DEEP ? profile.incomplete : profile.samples) >= (enough))

NOINLINE void work(void);
void work(void)
{
    const uint64_t enough = mode == SMALL || mode == DEEP ? LOST : SAMPLES;
    unsigned i;

    for (i = 0; !HAS(enough); i++) {
        hot(mode == SMALL ? i % 50 : mode == DEEP ? TOO_DEEP : DEPTH);
        warm();
    }
}

NOINLINE void wait_for(const volatile sfu_depot_sum *counter, uint64_t value);
void wait_for(const volatile sfu_depot_sum *counter, uint64_t value)
{
    while (*counter < value)
        STAY();
}

/* ---- the program ---- */

/* Takes memory for the stack down to ROOM below: it stays. */
NOINLINE void touch(void);
void touch(void)
{
    volatile char room[ROOM];
    unsigned i;

    for (i = 0; i < ROOM; i += 1024)
        room[i] = 0;
    (void)room[0];
}

/* HIGH: above all frames. */
static void set_stack(const void *high)
{
    touch();
    self.target.stack.high = (uintptr_t)high;
    self.target.stack.low = (uintptr_t)&high - ROOM;
    self.target.stack.bytes = (const void *)(uintptr_t)self.target.stack.low;
    self.target.read = NULL;
}

static void init(const uintptr_t *auxv)
{
    assert_that(init_self(&self, auxv) == SFU_OK, "init");
#if __GCC_ATOMIC_LLONG_LOCK_FREE >= 2 && !defined(__i386__)
    assert_that(sfu_fast_add(FAST, &image, 1, self.target.sections) == SFU_OK, "sfu_fast_add");
    self.target.sections = sfu_fast_sections(FAST);
#endif
    console.slide = self.slide;
    assert_that(sfu_profile_init(&profile, memory, mode == SMALL ? SFU_DEPOT_LEAST : sizeof memory,
                                 (uintptr_t)__executable_start),
                "sfu_profile_init");
}

/* Signals change a profile only while it runs, and what it had is gone when it starts again. */
static void stop_and_start(void)
{
    unsigned before;

    assert_that(sfu_profile_start(&profile), "sfu_profile_start");
    assert_that(!sfu_profile_start(&profile), "started twice");
    wait_for(&profile.samples, 2);
    profile.state += 2; /* as if another CPU's sample had begun */
    assert_that(!sfu_profile_stop(&profile), "stopped while a sample is taken");
    profile.state -= 2;
    assert_that(sfu_profile_stop(&profile), "sfu_profile_stop");
    before = num_signals;
    while (num_signals < before + 2)
        STAY();
    assert_that(profile.samples == num_pcs, "a sample behind the end");
    num_pcs = 0;
    assert_that(sfu_profile_start(&profile), "sfu_profile_start again");
}

static void print(void)
{
    static const struct sfu_depot_report report = {.name = "main"};
    unsigned i;

    sfu_profile_print(&profile, &console, &report);
    sfu_print_number(&console, "samples ", profile.samples, 10, 1);
    sfu_print_number(&console, " incomplete ", profile.incomplete, 10, 1);
    sfu_print_text(&console, "\n");
    for (i = 0; i < num_pcs; i++) {
        sfu_print_number(&console, "at ", pcs[i], 16, 1);
        sfu_print_text(&console, "\n");
    }
}

int sfu_linux_main(int argc, char **argv, const uintptr_t *auxv)
{
    const char which = argc > 1 ? argv[1][1] : '\0';
    int timer;

    mode = which == 'm' ? SMALL : which == 't' ? STACK : which == 'e' ? DEEP : WHOLE;
    init(auxv);
    if (mode == STACK)
        set_stack(auxv);
    assert_that(sfu_linux_sigaction(SIGPROF, sample, SA_SIGINFO | SA_RESTART, NULL) == 0, "sigaction");
    timer = sfu_linux_timer(SIGPROF, MILLISECOND);
    assert_that(timer >= 0, "no timer");
    stop_and_start();
    work();
    idle = true;
    wait_for(&profile.idle, IDLE);
    assert_that(sfu_profile_stop(&profile), "sfu_profile_stop");
    assert_that(sfu_linux_timer_end(timer) == 0 && sfu_linux_timer_end(timer) == -EINVAL, "the timer does not end");
    print();
    return 0;
}

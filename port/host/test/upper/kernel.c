/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A kernel that has left two threads in the middle of something, and then runs for ever, four calls deep. Its threads
 * are what --threads describes: a list, a ring, an array, an array of pointers.
 */
#include "upper.h"

typedef unsigned long word;

struct thread {
    word id;
    struct thread *next;
    word sp;
    char name[16];
    struct link {
        struct link *next;
    } link;
};

void thread_switch(word *save, word sp);
void thread_start(void);
void user_enter(word entry, word sp);
void user_arrived(void);

extern struct link ring;
struct thread slots[3] = {
    {1, &slots[2], 0, "first", {&slots[2].link}}, {0, 0, 0, "", {0}}, {2, 0, 0, "second", {&ring}}};
struct thread *const table[3] = {&slots[0], 0, &slots[2]};
struct link ring = {&slots[0].link};
struct thread *threads = &slots[0];
struct thread *volatile running;
static word main_sp;
volatile word ticks;
volatile word ready;

#define CALL __attribute__((noinline, noclone))

CALL static void wait(struct thread *thread)
{
    ticks++;
    thread_switch(&thread->sp, main_sp);
    ticks++;
}

CALL static void work(struct thread *thread, word depth)
{
    volatile word local[4];

    local[depth & 3] = depth;
    if (depth > 0)
        work(thread, depth - 1);
    else
        wait(thread);
    ticks += local[depth & 3];
}

static void first_main(void)
{
    work(&slots[0], 1);
    ticks++;
}

static void second_main(void)
{
    work(&slots[2], 3);
    ticks++;
}

/* What thread_switch takes from a thread's stack the first time: the registers that a function keeps, and where it goes
 * on. */
CALL static word prepare(word top, void (*entry)(void))
{
    volatile word *stack = (volatile word *)top;

#if defined(__x86_64__)
    stack -= 8;
    stack[3] = (word)entry; /* R12 */
    stack[6] = (word)thread_start;
#elif defined(__aarch64__)
    stack -= 12;
    stack[1] = (word)thread_start;
    stack[2] = (word)entry; /* X19 */
#else
    stack -= 40;
    stack[6] = (word)entry; /* R6 */
    stack[14] = (word)thread_start;
    stack[15] = (word)(stack + 20);
#endif
    return (word)stack;
}

CALL static void run(void)
{
    ready = 1;
    while (ready)
        ticks++;
}

CALL static void run_deeper(word depth)
{
    volatile word local[8];

    local[depth & 7] = depth;
    if (depth > 0)
        run_deeper(depth - 1);
    else
        run();
    ticks += local[depth & 7];
}

void kernel_main(void)
{
#ifdef __aarch64__
    word page = (word)1 << GRANULE;
#else
    word page = 4096;
#endif
    thread_switch(&main_sp, prepare(STACK + page, first_main));
    thread_switch(&main_sp, prepare(STACK + 2 * page, second_main));
#ifdef USER
    user_enter(USER_ENTRY, USER_STACK + page);
#else
    run_deeper(2);
#endif
    ticks++;
}

/* Called by user_entry. */
void user_arrived(void)
{
    run_deeper(2);
    ticks++;
}

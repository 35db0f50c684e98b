/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A process that ends in a core: a function that libc calls back, a signal handler, a leaf; with -DTHREADS another
 * thread, with -DPLAIN no signal handler, with -DINFO one that gets a siginfo, with -DINT3 one of x86's breakpoint.
 * -DBARE: without libc.
 */
#ifdef BARE
#define step __attribute__((noinline))

static volatile int value = 1;

step static int read_at(const volatile int *p)
{
    return *p;
}

step static int recurse(int n)
{
    return (n > 0 ? recurse(n - 1) : read_at((const volatile int *)16)) + value;
}

void bare_main(void);
void bare_main(void)
{
    value += recurse(5);
    for (;;) {
    }
}

#if defined(__x86_64__)
#define RA   "rip"
#define CALL "call bare_main\n"
#elif defined(__aarch64__)
#define RA   "x30"
#define CALL "bl bare_main\n"
#else
#define RA   "r14"
#define CALL "aghi %r15, -160\nbrasl %r14, bare_main\n"
#endif
__asm__(".globl _start\n_start: .cfi_startproc\n.cfi_undefined " RA "\n" CALL "nop\n.cfi_endproc\n");

#else
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef THREADS
#include <pthread.h>
#endif

#define step __attribute__((noinline))

static volatile int value = 1;

/* A leaf that faults in its first instructions. */
step static int read_at(const volatile int *p)
{
    return *p;
}

static inline __attribute__((always_inline)) int inlined(int n)
{
    return read_at((const volatile int *)(uintptr_t)(16 + n)) + 1;
}

step static void crash(int n)
{
    char array[64];

    memset(array, n, sizeof array);
    value += array[n] + inlined(n);
}

#ifdef INT3
#define FIRST SIGTRAP
#define CAUSE __asm__ volatile("int3")
#else
#define FIRST SIGUSR1
#define CAUSE raise(FIRST)
#endif

/* The first signal comes in the middle of qsort; in its handler comes the second, which ends the process. */
#ifndef PLAIN
static void handler(int number)
{
    crash(number % 8);
    value++;
}
#endif

static int compare(const void *a, const void *b)
{
    if (value == 1) {
        value = 2;
#ifdef PLAIN
        crash(3);
#else
        CAUSE;
#endif
    }
    return *(const int *)a - *(const int *)b;
}

step static void sort(void)
{
    int list[] = {5, 3, 4, 1};

    qsort(list, 4, sizeof list[0], compare);
    value += list[0];
}

#ifdef THREADS
static pthread_barrier_t barrier;

step static void wait_long(void)
{
    pthread_barrier_wait(&barrier);
    while (value < 100)
        sleep(100);
}

static void *thread(void *unused)
{
    wait_long();
    return unused;
}
#endif

int main(void)
{
#ifdef THREADS
    pthread_t other;

    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&other, NULL, thread, NULL) != 0)
        return 1;
    pthread_barrier_wait(&barrier);
    usleep(100000); /* the other one should be in its sleep, which makes its trace the longer */
#endif
#ifndef PLAIN
#ifdef INFO
    struct sigaction action = {.sa_flags = SA_SIGINFO};

    action.sa_handler = handler;
    sigaction(FIRST, &action, NULL);
#else
    signal(FIRST, handler);
#endif
#endif
    sort();
    return value;
}
#endif

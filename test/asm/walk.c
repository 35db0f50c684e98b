/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Walks through the functions of functions.S: the functions that each trace must show are known by their addresses. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "sfu_linux.h"
#include "test/lib/check.h"

enum { STACK = 65536 };

void *leaf(void);
void pushed(void (*function)(void));
void thread_start(void);
void thread_start_register(void);
void thread_main(const char *entry);
void begin_thread(void *sp, void (*entry)(void), const char *entry_name, void (*in_register)(const char *));
void test_push(void **state);

static struct sfu_linux self;
static uint8_t stack[STACK] __attribute__((aligned(16)));
static jmp_buf back; /* of a thread, to the test */

/* The functions of the trace from here on must be WANTED, and it must end with CODE, 0 for any error. */
static __attribute__((noinline)) void check(const uintptr_t *wanted, size_t count, int code)
{
    struct sfu_registers here = sfu_here(&self.cpu);
    struct sfu_walk walk;
    struct sfu_row row;
    int got;

    sfu_walk_start(&walk, &self.target, &here);
    got = sfu_walk_step(&walk);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(got, SFU_OK);
        assert_int_equal(sfu_find_frame(&self.target, &walk.frame, &row), SFU_OK);
        assert_int_equal(row.function, wanted[i]);
        got = sfu_walk_step(&walk);
    }
    assert_true(got == code || (code == 0 && got < 0));
    assert_true(walk.frame.reliable);
}

static __attribute__((noinline)) void called(void)
{
    const uintptr_t wanted[] = {(uintptr_t)called, (uintptr_t)pushed, (uintptr_t)test_push};

    check(wanted, 3, 0);
    __asm__ volatile("" : : : "memory"); /* no sibling call */
}

void test_push(void **state)
{
    (void)state;
    pushed(called);
    __asm__ volatile("" : : : "memory");
}

static void test_leaf(void **state)
{
    uint8_t local;

    (void)state;
    assert_that((uint8_t *)leaf() < &local, "a leaf's stack is not below our own locals");
}

void thread_main(const char *entry)
{
    const uintptr_t wanted[] = {(uintptr_t)thread_main, strcmp(entry, "register") == 0
                                                            ? (uintptr_t)thread_start_register
                                                            : (uintptr_t)thread_start};

    check(wanted, 2, SFU_END);
    longjmp(back, 1);
}

static void test_thread_entry(void **state)
{
    (void)state;
    if (setjmp(back) == 0)
        begin_thread(stack + STACK / 2 - 160, thread_start, "call", NULL);
}

static void test_thread_entry_register(void **state)
{
    (void)state;
    if (setjmp(back) == 0)
        begin_thread(stack + STACK - 160, thread_start_register, "register", thread_main);
}

int main(int argc, char **argv, char **envp)
{
    static const struct check_test tests[] = {CHECK(test_push), CHECK(test_leaf), CHECK(test_thread_entry),
                                              CHECK(test_thread_entry_register)};

    (void)argc;
    (void)argv;
    while (*envp != NULL)
        envp++;
    if (sfu_linux_init(&self, (const uint64_t *)(envp + 1)) != SFU_OK) {
        puts("no section");
        return 1;
    }
    return check_run(NULL, tests);
}

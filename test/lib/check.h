/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Tests in C, for any CPU that has a libc: a program of them is linked with check.c and run by check.sh. A test is a
 * function that returns; the first assertion that does not hold ends it, and prints its condition, file and line.
 * T in the environment chooses tests: those whose group or name has its last word, or matches it as a pattern. Too many
 * may run: run.sh tells those that count.
 *
 * Programs that print their lines themselves: those of test/truth/programs and of port/linux/test have no libc, and
 * trace_end() and bare.h are there what this is here; zephyr_walk_test.c plays Zephyr. run_sfu.c of the
 * vectors, and step.c and judge.c of the stepped programs, judge an input by thousands of comparisons, of which they
 * count and print the first that differs.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>
#include <stdint.h>

struct check_test {
    const char *name;
    void (*run)(void **state);
    int (*setup)(void **state); /* before it, or NULL; what it returns is left out */
};
#define CHECK(test)                                                                                                \
    {                                                                                                              \
#test, test, NULL                                                                                          \
    }
#define CHECK_SETUP(test, setup)                                                                                   \
    {                                                                                                              \
#test, test, setup                                                                                         \
    }

/* Runs those of TESTS that T chooses; GROUP, if it is not NULL, is a part of their names. Returns how many failed.
 * With CHECK_STOP in the environment the first one that fails ends the program with status 1. */
#define check_run(group, tests) check_run_some(group, tests, sizeof(tests) / sizeof((tests)[0]))
int check_run_some(const char *group, const struct check_test *tests, size_t count);

/* Runs one test more, if T chooses it, whose NAME is made of what it tests: RUN gets ARGUMENT. Returns 1 if it fails,
 * else 0. A program that has no list of tests is run by run.sh, without check.sh: nobody knows how many will come. */
int check_case(const char *name, void (*run)(void *argument), void *argument);

/* What is printed behind the name of the running test if it passes. */
__attribute__((format(printf, 1, 2))) void check_say(const char *format, ...);

/* Ends the running test; FORMAT and what follows say why. For the thread that runs the tests, where no signal has
 * interrupted it: what other threads and such handlers find wrong, a test asserts behind them. */
__attribute__((noreturn, format(printf, 3, 4))) void check_fail(const char *file, int line, const char *format,
                                                                ...);

void check_equal(uintmax_t a, uintmax_t b, const char *what, const char *file, int line);
void check_unequal(uintmax_t a, uintmax_t b, const char *what, const char *file, int line);
void check_string(const char *a, const char *b, const char *what, const char *file, int line);
void check_memory(const void *a, const void *b, size_t size, const char *what, const char *file, int line);

#define assert_true(condition)  ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, "%s", #condition))
#define assert_false(condition) assert_true(!(condition))
/* The same with words for what is wrong if CONDITION is false. */
#define assert_that(condition, what)                                                                               \
    ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, "%s: %s", what, #condition))
#define assert_null(pointer)            assert_true((pointer) == NULL)
#define assert_non_null(pointer)        assert_true((pointer) != NULL)
#define assert_ptr_equal(a, b)          check_equal((uintptr_t)(a), (uintptr_t)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_int_equal(a, b)          check_equal((uintmax_t)(a), (uintmax_t)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b)      check_unequal((uintmax_t)(a), (uintmax_t)(b), #a " != " #b, __FILE__, __LINE__)
#define assert_string_equal(a, b)       check_string(a, b, #a " == " #b, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) check_memory(a, b, size, #a " == " #b, __FILE__, __LINE__)

#endif

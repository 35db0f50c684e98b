/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Assertions as those of test/lib/check.h, for programs without a libc. Each run of such a program is one test, whose
 * result port.py reads: the first assertion that does not hold prints its condition and ends the program.
 */
#ifndef BARE_H
#define BARE_H

#include "sfu_linux.h"

#define BARE_STRING(text)  #text
#define BARE_NUMBER(macro) BARE_STRING(macro)

#define assert_that(condition, what)                                                                               \
    ((condition) ? (void)0 : test_failed(__FILE__ ":" BARE_NUMBER(__LINE__) ": ", what, ": " #condition))
#define assert_true(condition)                                                                                     \
    ((condition) ? (void)0 : test_failed(__FILE__ ":" BARE_NUMBER(__LINE__) ": ", "", #condition))

static inline bool is(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a == *b;
}

static inline void say(const char *text)
{
    size_t len = 0;

    while (text[len] != '\0')
        len++;
    sfu_linux_write(text, len);
}

static inline __attribute__((noreturn)) void test_failed(const char *at, const char *what, const char *condition)
{
    say("not ok ");
    say(at);
    say(what);
    say(condition);
    say("\n");
    sfu_linux_exit(1);
}

static inline __attribute__((noreturn)) void test_passed(const char *name)
{
    say("ok ");
    say(name);
    say("\n");
    sfu_linux_exit(0);
}

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#define _POSIX_C_SOURCE 200809L /* for programs in C99 without extensions */
#include "check.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    jmp_buf end;    /* of the test that runs */
    char name[256]; /* empty: none does */
    char reason[1024];
    char said[256];
} running;

void check_fail(const char *file, int line, const char *format, ...)
{
    const char *name = strrchr(file, '/');
    int length = snprintf(running.reason, sizeof running.reason, "%s:%d: ", name == NULL ? file : name + 1, line);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(running.reason + length, sizeof running.reason - (size_t)length, format, args);
    va_end(args);
    for (char *c = running.reason; *c != '\0'; c++) /* it is one line */
        if (*c == '\n')
            *c = '|';
    if (running.name[0] == '\0') {
        printf("not ok %s\n", running.reason);
        exit(1);
    }
    longjmp(running.end, 1);
}

void check_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(running.said, sizeof running.said, format, args);
    va_end(args);
}

void check_equal(uintmax_t a, uintmax_t b, const char *what, const char *file, int line)
{
    if (a != b)
        check_fail(file, line, "%s: 0x%jx, 0x%jx", what, a, b);
}

void check_unequal(uintmax_t a, uintmax_t b, const char *what, const char *file, int line)
{
    if (a == b)
        check_fail(file, line, "%s: both are 0x%jx", what, a);
}

void check_string(const char *a, const char *b, const char *what, const char *file, int line)
{
    if (strcmp(a, b) != 0)
        check_fail(file, line, "%s: \"%s\", \"%s\"", what, a, b);
}

/* Of structures the padding, too, which nobody has to write. */
#if defined(__clang__)
__attribute__((no_sanitize("memory")))
#endif
void check_memory(const void *a, const void *b, size_t size, const char *what, const char *file, int line)
{
    const unsigned char *x = a, *y = b;

    for (size_t i = 0; i < size; i++)
        if (x[i] != y[i])
            check_fail(file, line, "%s: byte %zu: 0x%02x, 0x%02x", what, i, x[i], y[i]);
}

static bool chosen(const char *group, const char *name)
{
    const char *pattern = getenv("T"), *space;
    char wide[256];

    if (pattern == NULL || pattern[0] == '\0')
        return true;
    space = strrchr(pattern, ' ');
    (void)snprintf(wide, sizeof wide, "*%s*", space == NULL ? pattern : space + 1);
    return fnmatch(wide, name, 0) == 0 || (group != NULL && strstr(pattern, group) != NULL);
}

/* A test that crashes says which one it was. stdout has no line of it yet. */
static void on_signal(int number)
{
    char line[400];
    int length = snprintf(line, sizeof line, "not ok %s: signal %d\n", running.name, number);

    (void)!write(STDOUT_FILENO, line, (size_t)length);
    _exit(1);
}

static void catch_signals(void)
{
    (void)signal(SIGABRT, on_signal);
#if !defined(__SANITIZE_ADDRESS__) /* which says more of the others itself */
    static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        (void)signal(caught[i], on_signal);
#endif
}

static bool passes(const struct check_test *test)
{
    void *state = NULL;

    if (setjmp(running.end) != 0)
        return false;
    if (test->setup != NULL)
        (void)test->setup(&state);
    test->run(&state);
    return true;
}

static bool case_passes(void (*run)(void *argument), void *argument)
{
    if (setjmp(running.end) != 0)
        return false;
    run(argument);
    return true;
}

/* What is printed later is printed behind what the test prints. */
static void begin(const char *group, const char *name)
{
    (void)snprintf(running.name, sizeof running.name, "%s%s%s", group == NULL ? "" : group,
                   group == NULL ? "" : ": ", name);
    running.said[0] = '\0';
    (void)fflush(stdout);
}

/* Returns how many tests have failed: this one, or none. */
static int end(bool good)
{
    if (good)
        printf("ok %s%s%s\n", running.name, running.said[0] == '\0' ? "" : ": ", running.said);
    else
        printf("not ok %s: %s\n", running.name, running.reason);
    running.name[0] = '\0';
    if (!good && getenv("CHECK_STOP") != NULL)
        exit(1);
    return !good;
}

int check_run_some(const char *group, const struct check_test *tests, size_t count)
{
    size_t planned = 0;
    int failed = 0;

    catch_signals();
    for (size_t i = 0; i < count; i++)
        planned += chosen(group, tests[i].name);
    printf("1..%zu\n", planned);
    for (size_t i = 0; i < count; i++) {
        if (!chosen(group, tests[i].name))
            continue;
        begin(group, tests[i].name);
        failed += end(passes(&tests[i]));
    }
    (void)fflush(stdout);
    return failed;
}

int check_case(const char *name, void (*run)(void *argument), void *argument)
{
    int failed;

    if (!chosen(NULL, name))
        return 0;
    catch_signals();
    begin(NULL, name);
    failed = end(case_passes(run, argument));
    (void)fflush(stdout);
    return failed;
}

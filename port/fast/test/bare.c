/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What fast_test and check.c need of a C library beyond shim.c of the stepped programs, whose start-up code they have,
 * too: for aarch64_be, of which Debian has no libc. fast_test's main is called fast_main here.
 */
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "step.h"

enum { WRITE = 64, EXIT = 93 }; /* aarch64's system calls */

int fast_main(int argc, char **argv);

/* A line, or what fits. */
int printf(const char *format, ...)
{
    char text[2048]; /* check.c's longest */
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return (int)step_syscall(WRITE, 1, text, strlen(text));
}

int puts(const char *text)
{
    return printf("%s\n", text);
}

/* shim.c's knows no 'j', which says here what 'l' does. */
int __real_vsnprintf(char *restrict to, size_t size, const char *restrict format, va_list list);
int __wrap_vsnprintf(char *restrict to, size_t size, const char *restrict format, va_list list)
{
    char own[256];
    size_t i;

    for (i = 0; i < sizeof own - 1 && format[i] != '\0'; i++)
        own[i] = i > 0 && format[i] == 'j' && format[i - 1] == '%' ? 'l' : format[i];
    own[i] = '\0';
    return __real_vsnprintf(to, size, own, list);
}

int putchar(int c)
{
    return printf("%c", c);
}

/* There is no environment: all tests run. */
char *getenv(const char *name)
{
    (void)name;
    return NULL;
}

int fnmatch(const char *pattern, const char *text, int flags)
{
    (void)pattern;
    (void)text;
    (void)flags;
    return FNM_NOMATCH;
}

/* What check.c's signal() is called by glibc's headers. */
void (*__sysv_signal(int number, void (*handler)(int)))(int)
{
    (void)number;
    (void)handler;
    return SIG_ERR;
}

ssize_t write(int file, const void *bytes, size_t size)
{
    return step_syscall(WRITE, (long)file, bytes, size);
}

void _exit(int status)
{
    for (;;)
        step_syscall(EXIT, (long)status);
}

void exit(int status)
{
    _exit(status);
}

/* Of digits only. */
unsigned long long strtoull(const char *restrict text, char **restrict end, int base)
{
    unsigned long long value = 0;

    (void)end;
    (void)base;
    for (; *text >= '0' && *text <= '9'; text++)
        value = 10 * value + (unsigned)(*text - '0');
    return value;
}

/* Of one call; the program is linked where fast_test wants it. */
void *mmap(void *addr, size_t size, int protection, int flags, int file, off_t offset)
{
    static char memory[1 << 20] __attribute__((aligned(4096)));

    (void)addr;
    (void)protection;
    (void)flags;
    (void)file;
    (void)offset;
    return size <= sizeof memory ? memory : MAP_FAILED;
}

int step_main(void)
{
    char name[] = "fast", rounds[] = "150", *argv[] = {name, rounds, NULL};

    return fast_main(2, argv);
}

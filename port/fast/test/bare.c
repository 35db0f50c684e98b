/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What fast_test needs of a C library beyond shim.c of the stepped programs, whose start-up code it has, too: for
 * aarch64_be, of which Debian has no libc. fast_test's main is called fast_main here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "step.h"

enum { WRITE = 64 }; /* aarch64's system call */

int fast_main(int argc, char **argv);

/* A line, or what fits. */
int printf(const char *format, ...)
{
    char text[256];
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

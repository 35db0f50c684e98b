/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What the tests ask of Linux and of the CPU beyond port/linux. */
#ifndef OS_H
#define OS_H

#include <stddef.h>
#include <stdint.h>

int same_text(const char *a, const char *b);

/* A file in memory, a copy that can be written; NULL if it cannot be read. */
void *os_map_file(const char *path);
/* SIZE bytes of zeroes that can be written and run. */
void *os_map_code(size_t size);
/* Makes the pages of existing code writable too. */
void os_unlock_code(uint64_t start, uint64_t end);
/* The instructions in [start, end) have been written. */
static inline void os_sync_code(uint64_t start, uint64_t end)
{
#if defined(__aarch64__) /* libgcc's __builtin___clear_cache is for one byte order only */
    for (uint64_t line = start & ~(uint64_t)15; line < end; line += 16)
        __asm__ volatile("dc cvau, %0\n\tdsb ish\n\tic ivau, %0\n\tdsb ish\n\tisb" : : "r"(line) : "memory");
#elif defined(__riscv)
    (void)start, (void)end;
    __asm__ volatile(".4byte 0x100f" : : : "memory"); /* fence.i, whatever -march says */
#else
    (void)start, (void)end; /* these CPUs see to it themselves */
#endif
}

enum { OS_SIGILL = 4, OS_SIGTRAP = 5, OS_SIGUSR1 = 10, OS_SIGSEGV = 11, OS_SIGUSR2 = 12, OS_SIGALRM = 14 };
enum { OS_SIGINFO = 4, OS_ONSTACK = 0x08000000, OS_RESTORER = 0x04000000 };
/* These two keep a record: the signal can come at once. */
void os_raise(int signal);
void os_timer(long microseconds); /* SIGALRM, once */

/* Registers in a ucontext. */
uintptr_t *os_pc(const void *context);
uintptr_t *os_sp(const void *context);
uintptr_t *os_fp(const void *context);
uintptr_t *os_flags(const void *context); /* x86: RFLAGS, EFLAGS */

/* Prints the texts, the last of which is NULL. */
void os_print(const char *text, ...) __attribute__((sentinel));
const char *os_hex(uint64_t value); /* one of eight static buffers, in turn, as is os_decimal's */
const char *os_decimal(uint64_t value);

#endif

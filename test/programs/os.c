/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "os.h"

#include <stdarg.h>

#include "trace.h"

#if defined(__x86_64__)
enum {
    NR_LSEEK = 8,
    NR_MMAP = 9,
    NR_MPROTECT = 10,
    NR_SETITIMER = 38,
    NR_GETPID = 39,
    NR_KILL = 62,
    NR_OPENAT = 257
};
#elif defined(__aarch64__)
enum {
    NR_OPENAT = 56,
    NR_LSEEK = 62,
    NR_SETITIMER = 103,
    NR_KILL = 129,
    NR_GETPID = 172,
    NR_MMAP = 222,
    NR_MPROTECT = 226
};
#elif defined(__s390x__)
enum {
    NR_LSEEK = 19,
    NR_GETPID = 20,
    NR_KILL = 37,
    NR_MMAP = 90,
    NR_SETITIMER = 104,
    NR_MPROTECT = 125,
    NR_OPENAT = 288
};
#endif

enum { PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4, MAP_PRIVATE = 2, MAP_ANONYMOUS = 32 };
enum { AT_FDCWD = -100, SEEK_END = 2, PAGE = 4096 };

int same_text(const char *a, const char *b)
{
    while (*a != 0 && *a == *b)
        a++, b++;
    return *a == *b;
}

static void *map(size_t size, int prot, int flags, int fd)
{
    long args[6] = {0, (long)size, prot, flags, fd, 0};
#if defined(__s390x__)
    long at = sfu_linux_call(NR_MMAP, (long)args, 0, 0, 0, 0, 0); /* takes them in memory */
#else
    long at = sfu_linux_call(NR_MMAP, args[0], args[1], args[2], args[3], args[4], args[5]);
#endif
    return at < 0 && at > -PAGE ? NULL : (void *)at;
}

void *os_map_file(const char *path)
{
    long fd = sfu_linux_call(NR_OPENAT, AT_FDCWD, (long)path, 0, 0, 0, 0);
    long size = fd < 0 ? 0 : sfu_linux_call(NR_LSEEK, fd, 0, SEEK_END, 0, 0, 0);

    return size <= 0 ? NULL : map((size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE, (int)fd);
}

void *os_map_code(size_t size)
{
    return map(size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

void os_unlock_code(uint64_t start, uint64_t end)
{
    start &= ~(uint64_t)(PAGE - 1);
    end = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    (void)sfu_linux_call(NR_MPROTECT, (long)start, (long)(end - start), PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0,
                         0);
}

/* A system call that is made here: the function that makes it is interrupted at once. */
static inline __attribute__((always_inline)) void call_here(long number, long a, long b, long c)
{
#if defined(__x86_64__)
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
#elif defined(__s390x__)
    register long r1 __asm__("r1") = number, r2 __asm__("r2") = a, r3 __asm__("r3") = b, r4 __asm__("r4") = c;
    __asm__ volatile("svc 0" : "+d"(r2) : "d"(r1), "d"(r3), "d"(r4) : "memory");
#endif
}

NOIPA void os_raise(int signal)
{
    long pid;

    ENTER(&list);
    pid = CALL(&list, sfu_linux_call(NR_GETPID, 0, 0, 0, 0, 0, 0));
    call_here(NR_KILL, pid, signal, 0);
    LEAVE(&list);
}

NOIPA void os_timer(long microseconds)
{
    long timer[4] = {0, 0, 0, microseconds};

    ENTER(&list);
    call_here(NR_SETITIMER, 0, (long)timer, 0);
    LEAVE(&list);
}

/* A ucontext begins with 40 bytes: flags, link and stack. The registers follow; on aarch64 the signal mask is in
 * between. */
#if defined(__x86_64__)
enum { AT_FP = 40 + 10 * 8, AT_SP = 40 + 15 * 8, AT_PC = 40 + 16 * 8, AT_FLAGS = 40 + 17 * 8 };
#elif defined(__aarch64__)
enum { AT_FP = 184 + 29 * 8, AT_SP = 184 + 31 * 8, AT_PC = 184 + 32 * 8, AT_FLAGS = 184 + 33 * 8 };
#elif defined(__s390x__)
enum { AT_FP = 56 + 11 * 8, AT_SP = 56 + 15 * 8, AT_PC = 48, AT_FLAGS = 40 };
#endif

uint64_t *os_pc(const void *context)
{
    return (uint64_t *)((uintptr_t)context + AT_PC);
}

uint64_t *os_sp(const void *context)
{
    return (uint64_t *)((uintptr_t)context + AT_SP);
}

uint64_t *os_fp(const void *context)
{
    return (uint64_t *)((uintptr_t)context + AT_FP);
}

uint64_t *os_flags(const void *context)
{
    return (uint64_t *)((uintptr_t)context + AT_FLAGS);
}

void os_print(const char *text, ...)
{
    char line[1024];
    size_t n = 0;
    va_list texts;

    va_start(texts, text);
    for (; text != NULL; text = va_arg(texts, const char *))
        while (*text != 0 && n < sizeof(line))
            line[n++] = *text++;
    va_end(texts);
    sfu_linux_write(line, n);
}

static const char *number(uint64_t value, unsigned base)
{
    static char buffers[8][24];
    static unsigned turn;
    char *p = buffers[turn++ % 8] + 23;

    *p = 0;
    do
        *--p = "0123456789abcdef"[value % base];
    while ((value /= base) != 0);
    return p;
}

const char *os_hex(uint64_t value)
{
    return number(value, 16);
}

const char *os_decimal(uint64_t value)
{
    return number(value, 10);
}

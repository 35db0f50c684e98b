/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "os.h"

#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include <stdarg.h>

#include <asm/sigcontext.h>
#include <asm/ucontext.h>

#include "trace.h"
#include "port/linux/cpu.h"

enum { SEEK_END = 2, PAGE = 4096 };

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
    long at = sfu_linux_call(__NR_mmap, (long)args, 0, 0, 0, 0, 0); /* takes them in memory */
#else
    long at = sfu_linux_call(CALL_MMAP, args[0], args[1], args[2], args[3], args[4], args[5]);
#endif
    return at < 0 && at > -PAGE ? NULL : (void *)at;
}

static long size_of(long fd)
{
#if UINTPTR_MAX > 0xffffffff
    return sfu_linux_call(CALL_LSEEK, fd, 0, SEEK_END, 0, 0, 0);
#else
    int64_t size = 0;

    return sfu_linux_call(CALL_LSEEK, fd, 0, 0, (long)&size, SEEK_END, 0) == 0 ? (long)size : 0;
#endif
}

void *os_map_file(const char *path)
{
    long fd = sfu_linux_call(__NR_openat, AT_FDCWD, (long)path, 0, 0, 0, 0);
    long size = fd < 0 ? 0 : size_of(fd);

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
    (void)sfu_linux_call(__NR_mprotect, (long)start, (long)(end - start), PROT_READ | PROT_WRITE | PROT_EXEC, 0, 0,
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
#elif defined(__riscv)
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
#elif defined(__i386__)
    __asm__ volatile("int $0x80" : "+a"(number) : "b"(a), "c"(b), "d"(c) : "memory");
#endif
}

NOIPA void os_raise(int signal)
{
    long pid;

    ENTER(&list);
    pid = CALL(&list, sfu_linux_call(__NR_getpid, 0, 0, 0, 0, 0, 0));
    call_here(__NR_kill, pid, signal, 0);
    LEAVE(&list);
}

NOIPA void os_timer(long microseconds)
{
    long timer[4] = {0, 0, 0, microseconds};

    ENTER(&list);
    call_here(__NR_setitimer, 0, (long)timer, 0);
    LEAVE(&list);
}

#if defined(__x86_64__)
#define AT(name) offsetof(struct ucontext, uc_mcontext.name)
enum { AT_FP = AT(rbp), AT_SP = AT(rsp), AT_PC = AT(rip), AT_FLAGS = AT(eflags) };
#elif defined(__aarch64__)
#define AT(name) offsetof(struct ucontext, uc_mcontext.name)
enum { AT_FP = AT(regs[29]), AT_SP = AT(sp), AT_PC = AT(pc), AT_FLAGS = AT(pstate) };
#elif defined(__s390x__)
#define AT(name) offsetof(struct ucontext, uc_mcontext.regs.name)
enum { AT_FP = AT(gprs[11]), AT_SP = AT(gprs[15]), AT_PC = AT(psw.addr), AT_FLAGS = AT(psw.mask) };
#elif defined(__riscv)
#define AT(name) offsetof(struct ucontext, uc_mcontext.sc_regs.name)
enum { AT_FP = AT(s0), AT_SP = AT(sp), AT_PC = AT(pc), AT_FLAGS = AT(gp) /* there are none */ };
#elif defined(__i386__)
#define AT(name) offsetof(struct ucontext, uc_mcontext.name)
enum { AT_FP = AT(ebp), AT_SP = AT(esp), AT_PC = AT(eip), AT_FLAGS = AT(eflags) };
#endif

uintptr_t *os_pc(const void *context)
{
    return (uintptr_t *)((uintptr_t)context + AT_PC);
}

uintptr_t *os_sp(const void *context)
{
    return (uintptr_t *)((uintptr_t)context + AT_SP);
}

uintptr_t *os_fp(const void *context)
{
    return (uintptr_t *)((uintptr_t)context + AT_FP);
}

uintptr_t *os_flags(const void *context)
{
    return (uintptr_t *)((uintptr_t)context + AT_FLAGS);
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

/* ---- The port, with what /proc/self/maps said ---- */

/* The port reads it in each trace across a signal: in QEMU that takes longer than all else in the trace. It is read
 * again after each call that can change it, and at every 64th time. */
static struct {
    char text[16384];
    long size, at; /* size 0: it is to be read */
    unsigned times;
} maps;
enum { MAPS = 1 << 20 }; /* no file has this number */

static bool read_maps(void)
{
    long fd = raw_call(CALL_OPENAT, AT_FDCWD, (long)"/proc/self/maps", 0, 0, 0, 0), n;

    maps.size = 0;
    while (fd >= 0 && (n = raw_call(CALL_READ, fd, (long)(maps.text + maps.size),
                                    (long)sizeof(maps.text) - maps.size, 0, 0, 0)) > 0)
        maps.size += n;
    (void)raw_call(CALL_CLOSE, fd, 0, 0, 0, 0, 0);
    return maps.size > 0 && maps.size < (long)sizeof(maps.text);
}

static long call_with_maps(long number_of, long a, long b, long c, long d, long e, long f)
{
    if (number_of == CALL_OPENAT && same_text((const char *)b, "/proc/self/maps")) {
        maps.at = 0;
        if ((maps.size > 0 && ++maps.times % 64 != 0) || read_maps())
            return MAPS;
    }
    if (a == MAPS && number_of == CALL_CLOSE)
        return 0;
    if (a == MAPS && number_of == CALL_READ) {
        long n = 0;

        while (n < c && maps.at < maps.size)
            ((char *)b)[n++] = maps.text[maps.at++];
        return n;
    }
    if (number_of == CALL_MMAP || number_of == __NR_mprotect)
        maps.size = 0;
    return raw_call(number_of, a, b, c, d, e, f);
}

#define raw_call call_with_maps
#define self     its_self /* trace.h has a variable of this name */
#include "port/linux/sfu_linux.c"

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * As much of a C library as lua, zlib and sqlite need to compute, so that all of their code, this one included, is
 * compiled with SFrame and runs without an operating system on every ABI. There are no files: opening one fails.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <asm/unistd.h>

#include "step.h"

void *stdin, *stdout, *stderr;

/* ---- Memory: sizes are rounded up to powers of two; what is freed is used again for the same size ---- */

enum { HEAP = 6 << 20 };
static char heap[HEAP] __attribute__((aligned(16)));
static size_t used;
static void *freed[64];

struct head {
    size_t class, unused;
};

/* By words where that is possible, so that little of what is stepped is this. */
typedef uint64_t __attribute__((may_alias, aligned(1))) word;

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    char *p = to;
    const char *q = from;

    for (; n >= 32; n -= 32, p += 32, q += 32) {
        word *a = (word *)p;
        const word *b = (const word *)q;
        word b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];

        a[0] = b0;
        a[1] = b1;
        a[2] = b2;
        a[3] = b3;
    }
    while (n-- > 0)
        *p++ = *q++;
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    char *p = to;
    const char *q = from;

    if (p <= q || p >= q + n)
        return memcpy(to, from, n);
    for (; n >= 8; n -= 8)
        *(word *)(p + n - 8) = *(const word *)(q + n - 8);
    while (n-- > 0)
        p[n] = q[n];
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    char *p = to;
    uint64_t all = (uint8_t)byte * 0x0101010101010101u;

    for (; n >= 64; n -= 64, p += 64) {
        word *a = (word *)p;

        a[0] = a[1] = a[2] = a[3] = a[4] = a[5] = a[6] = a[7] = all;
    }
    while (n-- > 0)
        *p++ = (char)byte;
    return to;
}

void *malloc(size_t n)
{
    size_t class = 4;
    struct head *h;

    while (((size_t)1 << class) < n)
        class ++;
    h = freed[class];
    if (h != NULL) {
        freed[class] = *(void **)(h + 1);
        return h + 1;
    }
    if (sizeof *h + ((size_t)1 << class) > HEAP - used)
        return NULL;
    h = (struct head *)(heap + used);
    h->class = class;
    used += sizeof *h + ((size_t)1 << class);
    return h + 1;
}

void free(void *p)
{
    struct head *h = p;

    if (p == NULL)
        return;
    *(void **)p = freed[h[-1].class];
    freed[h[-1].class] = h - 1;
}

void *realloc(void *p, size_t n)
{
    size_t old = p != NULL ? (size_t)1 << ((struct head *)p)[-1].class : 0;
    void *q;

    if (n <= old)
        return p;
    q = malloc(n);
    if (q != NULL && p != NULL)
        memcpy(q, p, old);
    if (q != NULL)
        free(p);
    return q;
}

/* ---- Strings ---- */

size_t strlen(const char *s)
{
    size_t n = 0;

    while (s[n] != '\0')
        n++;
    return n;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *p = a, *q = b;

    for (; n > 0; n--, p++, q++)
        if (*p != *q)
            return *p - *q;
    return 0;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n > 0; n--, a++, b++) {
        if (*a != *b)
            return (unsigned char)*a - (unsigned char)*b;
        if (*a == '\0')
            break;
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

int strcoll(const char *a, const char *b)
{
    return strcmp(a, b);
}

void *memchr(const void *s, int c, size_t n)
{
    const unsigned char *p = s;

    for (; n > 0; n--, p++)
        if (*p == (unsigned char)c)
            return (void *)p;
    return NULL;
}

char *strchr(const char *s, int c)
{
    return memchr(s, c, strlen(s) + 1);
}

char *strrchr(const char *s, int c)
{
    size_t n = strlen(s) + 1;

    while (n-- > 0)
        if (s[n] == (char)c)
            return (char *)s + n;
    return NULL;
}

size_t strspn(const char *s, const char *set)
{
    size_t n = 0;

    while (s[n] != '\0' && strchr(set, s[n]) != NULL)
        n++;
    return n;
}

size_t strcspn(const char *s, const char *set)
{
    size_t n = 0;

    while (s[n] != '\0' && strchr(set, s[n]) == NULL)
        n++;
    return n;
}

char *strpbrk(const char *s, const char *set)
{
    s += strcspn(s, set);
    return *s != '\0' ? (char *)s : NULL;
}

char *strcpy(char *restrict to, const char *restrict from)
{
    return memcpy(to, from, strlen(from) + 1);
}

char *strstr(const char *s, const char *part)
{
    size_t n = strlen(part);

    for (; *s != '\0'; s++)
        if (strncmp(s, part, n) == 0)
            return (char *)s;
    return n == 0 ? (char *)s : NULL;
}

#define CTYPE(name, condition)                                                                                     \
    int name(int c)                                                                                                \
    {                                                                                                              \
        return condition;                                                                                          \
    }
CTYPE(isdigit, c >= '0' && c <= '9')
CTYPE(isupper, c >= 'A' && c <= 'Z')
CTYPE(islower, c >= 'a' && c <= 'z')
CTYPE(isalpha, isupper(c) || islower(c))
CTYPE(isalnum, isalpha(c) || isdigit(c))
CTYPE(isspace, c == ' ' || (c >= '\t' && c <= '\r'))
CTYPE(iscntrl, c < ' ' || c == 127)
CTYPE(isgraph, c > ' ' && c < 127)
CTYPE(ispunct, isgraph(c) && !isalnum(c))
CTYPE(isxdigit, isdigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
CTYPE(toupper, islower(c) ? c - 32 : c)
CTYPE(tolower, isupper(c) ? c + 32 : c)

/* ---- Numbers; NO_FLOATS: for kernels on stacks of 8 bytes, where gcc has none ---- */
#ifndef NO_FLOATS

double floor(double x)
{
    double t;

    if (!(x > -9e15 && x < 9e15))
        return x;
    t = (double)(long)x;
    return t > x ? t - 1 : t;
}

double fmod(double x, double y)
{
    double q = x / y;

    q = q < 0 ? -floor(-q) : floor(q);
    return x - q * y;
}

/* Whole exponents only. */
double pow(double x, double y)
{
    double result = 1;
    long n = (long)(y < 0 ? -y : y);

    for (; n > 0; n >>= 1, x *= x)
        if (n & 1)
            result *= x;
    return y < 0 ? 1 / result : result;
}

double frexp(double x, int *exponent)
{
    *exponent = 0;
    if (x == 0 || x != x || x - x != 0)
        return x;
    for (; x >= 1 || x <= -1; x /= 2)
        ++*exponent;
    for (; x < 0.5 && x > -0.5; x *= 2)
        --*exponent;
    return x;
}

double ldexp(double x, int exponent)
{
    return x * pow(2, exponent);
}

int abs(int x)
{
    return x < 0 ? -x : x;
}

double strtod(const char *restrict s, char **restrict end)
{
    const char *p = s, *digits;
    double x = 0, scale = 1;
    int negative;

    while (isspace(*p))
        p++;
    negative = *p == '-';
    p += *p == '-' || *p == '+';
    for (digits = p; isdigit(*p); p++)
        x = x * 10 + (*p - '0');
    if (*p == '.')
        for (p++; isdigit(*p); p++)
            x += (*p - '0') * (scale /= 10);
    if (p == digits || (p == digits + 1 && *digits == '.'))
        p = s;
    else if ((*p | 32) == 'e' && isdigit(p[1 + (p[1] == '-' || p[1] == '+')])) {
        int minus = *++p == '-', e = 0;

        for (p += !isdigit(*p); isdigit(*p); p++)
            e = e * 10 + (*p - '0');
        x *= pow(10, minus ? -e : e);
    }
    if (end != NULL)
        *end = (char *)p;
    return negative ? -x : x;
}

#endif

/* ---- Formatted output, to memory ---- */

struct out {
    char *to;
    size_t size, n;
};

static void put(struct out *o, const char *s, size_t n)
{
    for (; n > 0; n--, s++, o->n++)
        if (o->n + 1 < o->size)
            o->to[o->n] = *s;
}

static void pad(struct out *o, const char *s, size_t n, int width, char with, int left)
{
    size_t fill = width > (int)n ? (size_t)width - n : 0;

    for (; !left && fill > 0; fill--)
        put(o, &with, 1);
    put(o, s, n);
    for (; left && fill > 0; fill--)
        put(o, " ", 1);
}

static size_t whole(char *to, unsigned long x, unsigned base, int minus)
{
    char digits[24];
    size_t n = 0, i = 0;

    do
        digits[n++] = "0123456789abcdef"[x % base];
    while ((x /= base) != 0);
    if (minus)
        to[i++] = '-';
    while (n > 0)
        to[i++] = digits[--n];
    return i;
}

/* What stands between '%' and the letter. */
struct format {
    int left, width, precision, longs;
    char with;
};

static const char *take_format(const char *p, struct format *f)
{
    f->left = f->width = f->longs = 0;
    f->precision = -1;
    f->with = ' ';
    for (; strchr("-0+ #", *p) != NULL; p++) {
        f->left |= *p == '-';
        f->with = *p == '0' ? '0' : f->with;
    }
    for (; isdigit(*p); p++)
        f->width = f->width * 10 + (*p - '0');
    if (*p == '.')
        for (p++, f->precision = 0; isdigit(*p); p++)
            f->precision = f->precision * 10 + (*p - '0');
    for (; *p == 'l' || *p == 'z' || *p == 'h'; p++)
        f->longs += *p != 'h';
    return p;
}

static void put_string(struct out *o, const struct format *f, const char *s)
{
    size_t n = strlen(s);

    pad(o, s, f->precision >= 0 && (size_t)f->precision < n ? (size_t)f->precision : n, f->width, ' ', f->left);
}

static void put_signed(struct out *o, const struct format *f, long x)
{
    char text[24];

    pad(o, text, whole(text, x < 0 ? -(unsigned long)x : (unsigned long)x, 10, x < 0), f->width, f->with, f->left);
}

static void put_unsigned(struct out *o, const struct format *f, unsigned long x, unsigned base)
{
    char text[24];

    pad(o, text, whole(text, x, base, 0), f->width, f->with, f->left);
}

#ifndef NO_FLOATS
/* To PRECISION digits, as %g does; not rounded as exactly. */
static size_t real(char *to, double x, int precision)
{
    char digits[24];
    int minus = x < 0, e = 0, i, n = 0;
    size_t count;

    x = minus ? -x : x;
    if (x != x || x - x != 0)
        return (size_t)(strcpy(to, x != x ? "nan" : minus ? "-inf" : "inf") - to) + strlen(to);
    precision = precision < 1 ? 1 : precision > 17 ? 17 : precision;
    for (; x >= 10; x /= 10)
        e++;
    for (; x > 0 && x < 1; x *= 10)
        e--;
    count = whole(digits, (unsigned long)(x * pow(10, precision - 1) + 0.5), 10, 0);
    e += count > (size_t)precision;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (minus)
        to[n++] = '-';
    if (e < -4 || e >= precision) {
        for (i = 0; i < (int)count; i++) {
            to[n++] = digits[i];
            if (i == 0 && count > 1)
                to[n++] = '.';
        }
        to[n++] = 'e';
        to[n++] = e < 0 ? '-' : '+';
        if (e < 10 && e > -10)
            to[n++] = '0';
        return (size_t)n + whole(to + n, (unsigned long)(e < 0 ? -e : e), 10, 0);
    }
    for (i = e < 0 ? e : 0; i < (int)count || i <= e; i++) {
        to[n++] = i < 0 || i >= (int)count ? '0' : digits[i];
        if (i == e && i + 1 < (int)count)
            to[n++] = '.';
    }
    return (size_t)n;
}

static void put_real(struct out *o, const struct format *f, double x)
{
    char text[400];

    pad(o, text, real(text, x, f->precision < 0 ? 6 : f->precision), f->width, f->with, f->left);
}
#endif

int vsnprintf(char *restrict to, size_t size, const char *restrict p, va_list list)
{
    struct out o = {to, size, 0};
    struct format f;
    char c;

    for (; *p != '\0'; p++) {
        if (*p != '%') {
            put(&o, p, 1);
            continue;
        }
        p = take_format(p + 1, &f);
        if (*p == 'c') {
            c = (char)va_arg(list, int);
            pad(&o, &c, 1, f.width, ' ', f.left);
        } else if (*p == 's') {
            put_string(&o, &f, va_arg(list, const char *));
        } else if (*p == 'd' || *p == 'i') {
            put_signed(&o, &f, f.longs > 0 ? va_arg(list, long) : va_arg(list, int));
        } else if (*p == 'u' || *p == 'x' || *p == 'X') {
            put_unsigned(&o, &f, f.longs > 0 ? va_arg(list, unsigned long) : va_arg(list, unsigned),
                         *p == 'u' ? 10 : 16);
        } else if (*p == 'p') {
            put_unsigned(&o, &f, (unsigned long)va_arg(list, void *), 16);
#ifndef NO_FLOATS
        } else if (*p == 'f' || *p == 'g' || *p == 'a') {
            put_real(&o, &f, va_arg(list, double));
#endif
        } else {
            put(&o, p, 1);
        }
    }
    if (size > 0)
        to[o.n < size ? o.n : size - 1] = '\0';
    return (int)o.n;
}

int snprintf(char *restrict to, size_t size, const char *restrict format, ...)
{
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(to, size, format, list);
    va_end(list);
    return n;
}

/* ---- What there is not ---- */

int *__errno_location(void);
int *__errno_location(void)
{
    static int error;

    return &error;
}

__attribute__((noreturn)) void abort(void)
{
    for (;;)
        __builtin_trap();
}

/* Files, none of which can be opened; time: 0, whatever is asked of it. */
long step_nothing(void);
long step_nothing(void)
{
    return 0;
}

#define NOTHING(name) __asm__(".globl " #name "\n.set " #name ", step_nothing")
NOTHING(clock);
NOTHING(fclose);
NOTHING(feof);
NOTHING(ferror);
NOTHING(fflush);
NOTHING(fopen64);
NOTHING(fprintf);
NOTHING(fread);
NOTHING(freopen64);
NOTHING(fwrite);
NOTHING(getc);
NOTHING(strerror);
NOTHING(time);

void step_tell(const char *text)
{
    step_syscall(__NR_write, 2L, text, (long)strlen(text), 0L);
    step_syscall(__NR_write, 2L, "\n", 1L, 0L);
}

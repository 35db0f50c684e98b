/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Large switches in loops, as printf, interpreters and parsers have them: compilers put the address of a table of jumps
 * into a register in front of the loop, keep it across calls, or read the table anew in each case. All of the code
 * behind such a jump has rows only if the table is found.
 */
#include <stdarg.h>
#include <stddef.h>
#include "step.h"

#define NOINLINE __attribute__((noinline))

void step_signals(void);

static volatile int zero;

/* ---- A printf ---- */

struct out {
    char text[96];
    unsigned num, most;
};

static NOINLINE int put(struct out *out, const char *s, unsigned n)
{
    unsigned i;

    for (i = 0; i < n; i++) {
        if (out->num >= out->most)
            return -1;
        out->text[out->num++] = s[i];
    }
    return (int)n;
}

static NOINLINE unsigned length(const char *s)
{
    const char *p = s;

    while (*p != 0)
        p++;
    return (unsigned)(p - s);
}

/* The digits of N in front of END. A CPU without a division needs no library. */
static NOINLINE char *decimal(char *end, unsigned n)
{
    *--end = 0;
    do {
        unsigned q = 0;

        while (n >= 10000 + (unsigned)zero)
            n -= 10000, q += 1000;
        while (n >= 10 + (unsigned)zero)
            n -= 10, q++;
        *--end = (char)('0' + n);
        n = q;
    } while (n != 0);
    return end;
}

static NOINLINE char *hexadecimal(char *end, unsigned n, int capital)
{
    *--end = 0;
    do
        *--end = (char)((n & 15) < 10 ? '0' + (n & 15) : (capital ? 'A' : 'a') + (n & 15) - 10);
    while ((n >>= 4) != 0);
    return end;
}

enum { LEFT = 1, ZEROS = 2, OTHER = 4, LONG = 8, SHORT = 16, CAPITAL = 32, SIGN = 64 };

#define PUT(s, n)                                                                                                  \
    do {                                                                                                           \
        if ((done = put(out, s, n)) < 0)                                                                           \
            goto end;                                                                                              \
        total += done;                                                                                             \
    } while (0)

static NOINLINE int engine(struct out *out, const char *format, va_list ap)
{
    char number[16], c, sign;
    const char *s;
    int done = 0, total = 0;
    unsigned width, flags, n;

    for (;;) {
        for (s = format; *format != 0 && *format != '%'; format++)
            ;
        PUT(s, (unsigned)(format - s));
        if (*format++ == 0)
            break;
        flags = width = 0;
        sign = 0;
    next:
        switch (c = *format++) {
        case 0:
            goto end;
        case '0':
            if (width == 0)
                flags |= ZEROS;
            width *= 10;
            goto next;
        case '1' ... '9':
            width = width * 10 + (unsigned)(c - '0');
            goto next;
        case '-':
            flags |= LEFT;
            goto next;
        case '#':
            flags |= OTHER;
            goto next;
        case 'l':
            flags |= LONG;
            goto next;
        case 'h':
            flags |= SHORT;
            goto next;
        case '+':
            flags |= SIGN;
            goto next;
        case '%':
            PUT("%", 1);
            continue;
        case 'c':
            number[0] = (char)va_arg(ap, int);
            PUT(number, 1);
            continue;
        case 's':
            s = va_arg(ap, const char *);
            if (s == NULL)
                s = "none";
            flags &= ~(unsigned)ZEROS;
            break;
        case 'd':
        case 'i':
            n = flags & LONG ? (unsigned)va_arg(ap, long) : (unsigned)va_arg(ap, int);
            if ((int)n < 0)
                sign = '-', n = 0 - n;
            else if (flags & SIGN)
                sign = '+';
            s = decimal(number + sizeof number, n);
            break;
        case 'u':
            n = va_arg(ap, unsigned);
            s = decimal(number + sizeof number, flags & SHORT ? n & 0xffff : n);
            break;
        case 'X':
            flags |= CAPITAL; /* fall through */
        case 'x':
            if (flags & OTHER)
                PUT(flags & CAPITAL ? "0X" : "0x", 2);
            s = hexadecimal(number + sizeof number, va_arg(ap, unsigned), (flags & CAPITAL) != 0);
            break;
        case 'n':
            *va_arg(ap, int *) = total;
            continue;
        default:
            PUT("?", 1);
            continue;
        }
        n = length(s) + (sign != 0);
        for (; width > n && (flags & LEFT) == 0 && (flags & ZEROS) == 0; width--)
            PUT(" ", 1);
        if (sign != 0)
            PUT(&sign, 1);
        for (; width > n && (flags & LEFT) == 0; width--)
            PUT("0", 1);
        PUT(s, length(s));
        for (; width > n; width--)
            PUT(" ", 1);
    }
end:
    return done < 0 ? -1 : total;
}

static NOINLINE int print(struct out *out, const char *format, ...)
{
    va_list ap;
    int total;

    out->num = 0;
    out->most = sizeof out->text - 1;
    va_start(ap, format);
    total = engine(out, format, ap);
    va_end(ap);
    out->text[out->num] = 0;
    return total;
}

static NOINLINE int same(const char *a, const char *b)
{
    while (*a != 0 && *a == *b)
        a++, b++;
    return *a == *b;
}

/* ---- A machine of bytes, whose index is masked ---- */

static NOINLINE int callee(int x)
{
    return x + zero + 1;
}

static NOINLINE int machine(const unsigned char *code, int *words)
{
    int a = 0;

    for (;;) {
        unsigned op = *code++;

        switch (op & 15) {
        case 0:
            return a;
        case 1:
            a += callee(*code++);
            break;
        case 2:
            a -= callee(words[op >> 4]);
            break;
        case 3:
            a ^= callee(a);
            break;
        case 4:
            words[op >> 4] = a;
            break;
        case 5:
            a = words[op >> 4];
            break;
        case 6:
            a *= callee(2);
            break;
        case 7:
            if (callee(a) > 10)
                code += *code;
            else
                code++;
            break;
        case 8:
            a = (int)((unsigned)a << (op >> 4));
            break;
        case 9:
            a = (int)((unsigned)a >> (op >> 4));
            break;
        case 10:
            a = callee(a) + callee(7);
            break;
        case 11:
            a = callee(-a);
            break;
        case 12:
            a = callee(~a);
            break;
        case 13:
            a = callee((int)(op >> 4));
            break;
        case 14:
            a += words[callee(0) & 15];
            break;
        default:
            a |= callee(a);
            break;
        }
    }
}

/* ---- Switches in loops in each other ---- */

static NOINLINE int nested(const unsigned char *p, int n, const int *words)
{
    int i, j, s = 0;

    for (i = 0; i < n; i++) {
        switch (p[i]) {
        case 0:
            s += callee(1);
            break;
        case 1:
            s ^= callee(s);
            break;
        case 2:
            s += words[callee(1)];
            break;
        case 3:
            return s;
        case 4:
            s = callee(s) + 1;
            break;
        case 5:
            s -= callee(7);
            break;
        case 6:
            s = callee(1) * s;
            break;
        case 7:
            callee(8);
            continue;
        case 9:
            s |= callee(3);
            break;
        default:
            s += callee(-3);
            break;
        }
        for (j = 0; j < n; j++)
            switch (words[j] - 100) {
            case 0:
                s += callee(11);
                break;
            case 1:
                s ^= callee(s + 1);
                break;
            case 2:
                s += words[callee(2)];
                break;
            case 3:
                goto out;
            case 4:
                s = callee(s) + 11;
                break;
            case 5:
                s -= callee(17);
                break;
            case 6:
                s = (callee(4) * s) & 0xffff;
                break;
            case 8:
                s = callee(s + 1);
                break;
            case 10:
                callee(18);
                continue;
            default:
                s += callee(-2);
                break;
            }
    }
out:
    return s;
}

/* What these return follows from C: it was computed by hand for the first, and by Python for the others. */
int step_main(void)
{
    static const unsigned char code[] = {0x01, 9,    0x03, 0x14, 0x06, 0x12, 0x0a, 0x24, 0x0b, 0x0c, 0x18,
                                         0x19, 0x0f, 0x07, 2,    0x01, 0x05, 0xd,  0x2d, 0x0e, 0x25, 0x00};
    static const unsigned char kinds[] = {0, 1, 2, 4, 5, 6, 7, 9, 8, 3};
    static const int values[10] = {100, 101, 102, 104, 105, 106, 108, 110, 107, 3};
    static struct out out;
    static int words[16];
    int at = 0;

    step_signals();
    if (print(&out, "%d|%5d|%-4d|%04d|%+d|%u|%#x|%X|%s|%6s|%-3s|%c%%%n%hu|%li?%q", 42, -17, 8, 7, 3, 60001u,
              0xbeefu, 0xC0DEu, "abc", "de", NULL, 'z', &at, 0x10005u, -5L) != 64 ||
        at != 58 || !same(out.text, "42|  -17|8   |0007|+3|60001|0xbeef|C0DE|abc|    de|none|z%5|-5??"))
        return 1;
    if (machine(code, words) != 10)
        return 2;
    if (nested(kinds, 10, values) != 5600)
        return 3;
    return 0;
}

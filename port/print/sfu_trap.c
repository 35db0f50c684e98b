/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu-trace says the same of logs and cores: port/host/machine/traps.c. */
#include "sfu_trap.h"

#define BUILTIN "__builtin_trap(), or a check that gives no reason"

#if defined(__x86_64__) || defined(__i386__) || defined(__s390x__) || defined(__riscv) || defined(__arm__)
/* Whether the code at CODE is TEXT, a byte after the other: nothing is read behind the first one that differs. */
static bool is_at(const uint8_t *code, const char *text, unsigned size)
{
    unsigned i = 0;

    while (i < size && code[i] == (uint8_t)text[i])
        i++;
    return i == size;
}
#endif

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)

/* clang's checks by their numbers, each ended by a 0. One array, because pointers to texts would be relocated. */
static const char checks[] = "addition overflowed\0"
                             "__builtin_unreachable() reached\0"
                             "control flow integrity failed\0"
                             "division by 0, or overflowed\0"
                             "object of another dynamic type\0"
                             "conversion from floating point overflowed\0"
                             "call of a function of another type\0"
                             "implicit conversion changed the value\0"
                             "invalid argument of a builtin\0"
                             "invalid Objective-C cast\0"
                             "invalid value of its type\0"
                             "no return value\0"
                             "multiplication overflowed\0"
                             "negation overflowed\0"
                             "null argument\0"
                             "null result\0"
                             "null argument\0"
                             "null result\0"
                             "index out of bounds\0"
                             "pointer overflowed\0"
                             "shift out of bounds\0"
                             "subtraction overflowed\0"
                             "pointer is null, misaligned, or of too small an object\0"
                             "assumed alignment is wrong\0"
                             "array length is not positive\0";

static const char *check(unsigned number)
{
    const char *text = checks;

    for (; number > 0 && text < checks + sizeof checks - 1; number--) {
        while (*text != '\0')
            text++;
        text++;
    }
    return text < checks + sizeof checks - 1 ? text : "check of the compiler";
}
#endif

#if defined(__x86_64__)

/* mov $hash, %r10d; add -N(%reg), %r10d; je over ud2: what is in front of the ud2 of KCFI. */
static bool is_kcfi(const uint8_t *ud2)
{
    const uint8_t *mov = ud2 - 12, *add = ud2 - 6, *je = ud2 - 2;

    return is_at(je, "\x74\x02", 2) && (add[0] & 0xfe) == 0x44 && add[1] == 0x03 && (add[2] & 0xf8) == 0x50 &&
           is_at(mov, "\x41\xba", 2);
}

static const char *reason(const uint8_t *code)
{
    if (is_at(code, "\x0f\x0b", 2))
        return is_kcfi(code) ? check(6) : BUILTIN;
    if (is_at(code, "\x67\x0f\xb9\x40", 4)) /* ud1 N(%eax), %eax */
        return check(code[4]);
    return is_at(code, "\x67\x0f\xb9", 4) ? check(0) : NULL; /* ud1 (%eax), %eax */
}

#elif defined(__i386__)

/* As on x86_64, but addresses need no prefix, and KCFI's check has no ud2. */
static const char *reason(const uint8_t *code)
{
    if (is_at(code, "\x0f\x0b", 2))
        return BUILTIN;
    if (is_at(code, "\x0f\xb9\x40", 3))
        return check(code[3]);
    return is_at(code, "\x0f\xb9", 3) ? check(0) : NULL;
}

#elif defined(__aarch64__)

static const char *reason(const uint8_t *code)
{
    /* Code is little-endian, also where data are not. */
    const uint32_t word = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
    const unsigned number = word >> 5 & 0xffff;

    if ((word & 0xffe0001f) != 0xd4200000) /* brk #NUMBER */
        return NULL;
    if (number >> 8 == 0x55)
        return check(number & 0xff);
    if (number >> 10 == 0x8000 >> 10)
        return check(6);
    return number == 1 || number == 1000 ? BUILTIN : NULL;
}

#elif defined(__s390x__)

/* A jump into itself, on one condition or on all: what is executed are its last two bytes, which PC is at. Or gcc's
 * compare and trap. */
static const char *reason(const uint8_t *code)
{
    if (is_at(code, "\0\1", 2) && code[-2] == 0xa7 && (code[-1] & 15) == 4)
        return BUILTIN;
    if (code[0] == 0xb9 && ((code[1] & 0xfe) == 0x60 || (code[1] & 0xfe) == 0x72)) /* cgrt, clgrt, crt, clrt */
        return BUILTIN;
    return code[0] == 0xec && (code[5] & 0xfc) == 0x70 ? BUILTIN : NULL; /* cgit, clgit, cit, clfit */
}

#elif defined(__riscv)

static const char *reason(const uint8_t *code)
{
    const bool ebreak = is_at(code, "\x02\x90", 2) || is_at(code, "\x73\0\x10", 4);
    const bool unimp = is_at(code, "\0\0", 2) || is_at(code, "\x73\x10\0\xc0", 4);

    return ebreak || unimp ? BUILTIN : NULL;
}

#elif defined(__arm__)

/* udf #254 and udf #255 of T32, the first of which A32's trap begins with; udf #0 of A32. */
static const char *reason(const uint8_t *code)
{
    const bool t32 = is_at(code, "\xfe\xde", 2) || is_at(code, "\xff\xde", 2);

    return t32 || is_at(code, "\xf0\0\xf0\xe7", 4) ? BUILTIN : NULL;
}

#else

static const char *reason(const uint8_t *code)
{
    (void)code;
    return NULL;
}
#endif

#ifdef __arm__
#define T32 1u /* of an address: says that its code is T32 */
#else
#define T32 0u
#endif

const char *sfu_trap_reason(sfu_addr pc)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): registers have addresses, not pointers */
    return reason((const uint8_t *)(uintptr_t)(pc & ~(sfu_addr)T32));
}

void sfu_print_trap(struct sfu_panic *p, const struct sfu_registers *top)
{
    const char *text;

    if (p->target == NULL || top->pc_kind != SFU_PC_EXACT)
        return;
    sfu_walk_start(&p->walk, p->target, top);
    if (sfu_find_frame(p->target, &p->walk.frame, &p->row) != SFU_OK)
        return;
    text = sfu_trap_reason(top->pc);
    if (text == NULL)
        return;
    sfu_print_text(p, "trap: ");
    sfu_print_text(p, text);
    sfu_print_text(p, "\n");
}

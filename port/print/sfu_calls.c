/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu-trace says the same of logs and cores: port/host/common/calls.c. */
#include "sfu_calls.h"

#if defined(__x86_64__) || defined(__i386__)
#define LOOKS

enum { DIRECT = 5, LONGEST = 7 }; /* bytes of calls, without prefixes */

/* Bytes of a call of a register or of memory that begins at CODE and ends at END: opcode, ModRM byte, SIB byte and
 * displacement. What lies at END is not read. */
static unsigned size_of(const uint8_t *code, const uint8_t *end)
{
    const unsigned mod = code[1] >> 6, sib = mod != 3 && (code[1] & 7) == 4 ? 1 : 0;
    const uint8_t *base = code + 1 + sib;

    if (mod == 1)
        return 3 + sib;
    if (mod == 2 || (mod == 0 && base < end && (*base & 7) == 5))
        return 6 + sib;
    return 2 + sib;
}

/* Whether a call ends at END. In front of END are ROOM bytes of code. */
static bool ends_call(const uint8_t *end, sfu_addr room)
{
    unsigned size;

    if (room >= DIRECT && end[-DIRECT] == 0xe8)
        return true;
#ifdef __i386__
    if (room >= LONGEST && end[-LONGEST] == 0x9a) /* to another segment */
        return true;
#endif
    for (size = 2; size <= LONGEST && size <= room; size++) {
        const uint8_t *code = end - size;

        if (code[0] == 0xff && (code[1] & 0x30) == 0x10 && size_of(code, end) == size) /* ff /2 and ff /3 */
            return true;
    }
    return false;
}

#elif defined(__aarch64__)
#define LOOKS

/* bl; blr, and its forms with a PAC. Code is little-endian, also where data are not. */
static bool ends_call(const uint8_t *end, sfu_addr room)
{
    return room >= 4 && (end[-1] >> 2 == 0x25 || ((end[-1] & 0xfe) == 0xd6 && (end[-2] & 0xe0) == 0x20));
}

#elif defined(__s390x__)
#define LOOKS

/* brasl, bras and basr. */
static bool ends_call(const uint8_t *end, sfu_addr room)
{
    return (room >= 6 && end[-6] == 0xc0 && (end[-5] & 15) == 5) ||
           (room >= 4 && end[-4] == 0xa7 && (end[-3] & 15) == 5) || (room >= 2 && end[-2] == 0x0d);
}

#elif defined(__riscv)
#define LOOKS

/* jal and jalr, whose link register is ra or t0; c.jalr, which c.ebreak would be by x0; cm.jalt, by an entry of Zcmt's
 * table from number 32 on; and, with addresses of 32 bits, c.jal. */
static bool ends_call(const uint8_t *end, sfu_addr room)
{
    const unsigned opcode = room >= 4 ? end[-4] & 0x7fu : 0,
                   link = room >= 4 ? (unsigned)end[-4] >> 7 | (end[-3] & 15u) << 1 : 0,
                   half = room >= 2 ? end[-2] | (unsigned)end[-1] << 8 : 0;

    return ((opcode == 0x6f || opcode == 0x67) && (link == 1 || link == 5)) ||
           ((half & 0xf07f) == 0x9002 && half != 0x9002) ||
           ((half & 0xfc03) == 0xa002 && (half & 0x3ff) >> 2 >= 32) ||
           (__riscv_xlen == 32 && (half & 0xe003) == 0x2001);
}
#endif

#ifdef LOOKS
/* Whether ROW is that of a trap's frame, to which its handler returns at PC. */
static bool is_trap(const struct sfu_row *row, sfu_addr pc)
{
    return row->trap_frame && pc - row->start < row->length;
}

void sfu_print_calls(struct sfu_panic *panic)
{
    struct sfu_frame *f = &panic->walk.frame;
    const struct sfu_row *row = &panic->row;
    const sfu_addr pc = f->regs.pc;

    if (f->regs.pc_kind != SFU_PC_RETURN || sfu_find_frame(panic->target, f, &panic->row) != SFU_OK ||
        is_trap(row, pc))
        return;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): registers have addresses, not pointers */
    if (ends_call((const uint8_t *)(uintptr_t)pc, pc - row->function))
        return;
    f->regs.pc_kind = SFU_PC_EXACT;
    f->guess = SFU_GUESS_HOOK;
    f->reliable = false;
}
#else
void sfu_print_calls(struct sfu_panic *panic)
{
    (void)panic;
}
#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu_dump_print in less than 1 KB of code, instead of sfu_dump.c: for a microcontroller that dumps itself. Words are
 * not packed, so that the log is longer. sfu_dump's places and abi are left out. It is for little-endian programs:
 * sfu-trace refuses the dump of another one.
 */
#include "sfu_dump.h"

#define ABI (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 0 : SFU_DUMP_OWN_ABI)

enum { WORD = 8, REGISTERS = 32, DIGITS = 2 * sizeof(uintptr_t), WORDS_OF_LINE = DIGITS == 8 ? 3 : 2 };

/* A dump while it is printed. */
struct output {
    const struct sfu_panic *panic;
    uint32_t number, check; /* of the line: CRC-16 (CCITT, from 0xffff) */
};

static void put(struct output *o, char c)
{
    unsigned bit;

    o->panic->put(o->panic->ctx, c);
    o->check ^= (uint32_t)(uint8_t)c << 8;
    for (bit = 0; bit < 8; bit++)
        o->check = (o->check & 0x7fff) << 1 ^ (o->check >> 15) * 0x1021u;
}

static void text(struct output *o, const char *s)
{
    while (*s != '\0')
        put(o, *s++);
}

static void hex(struct output *o, uintptr_t value, unsigned digits)
{
    while (digits-- > 0)
        put(o, "0123456789abcdef"[value >> 4 * digits & 15]);
}

static void end_line(struct output *o)
{
    uint32_t check = o->check;

    put(o, ' ');
    hex(o, check, 4);
    put(o, '\n');
}

/* Ends the line before, too. What stands in front of the number is not checked. */
static void begin_line(struct output *o, const char *what)
{
    if (o->number != 0)
        end_line(o);
    text(o, "sfu2 ");
    o->check = 0xffff;
    hex(o, o->number++, 4);
    text(o, what);
}

static void print_line(struct output *o, const char *what, uint64_t value)
{
    begin_line(o, what);
    hex(o, (uintptr_t)value, DIGITS);
}

static void print_registers(struct output *o, const struct sfu_dump *dump, const struct sfu_registers *top)
{
    const struct sfu_target *t = o->panic->target;
    struct sfu_frame frame;
    uint32_t reg;
    sfu_addr value;

    print_line(o, " r pc ", top->pc);
    print_line(o, " r sp ", top->sp);
    print_line(o, " r fp ", top->fp);
    if (top->has_ra)
        print_line(o, " r ra ", top->ra);
    if (dump->psp != 0)
        print_line(o, " r psp ", dump->psp);
    if (top->pc_kind != SFU_PC_EXACT || t->reg == NULL)
        return;
    /* What a callback may ask for. By fields: compilers may call memset or memcpy for all of it. */
    frame.depth = 0;
    frame.saved = 0;
    frame.regs.pc = top->pc;
    frame.regs.sp = top->sp;
    for (reg = 0; reg < REGISTERS; reg++) {
        if (t->reg(t->ctx, &frame, reg, &value) != 0)
            continue;
        begin_line(o, " r ");
        hex(o, reg, 2);
        put(o, ' ');
        hex(o, (uintptr_t)value, DIGITS);
    }
}

/* The word at ADDR, perhaps in WORD; NULL: it is in no stack, or cannot be read. */
static const uint8_t *find_word(const struct sfu_target *t, sfu_addr addr, uint8_t *word)
{
    struct sfu_stack stack = t->stack;

    if ((t->find_stack != NULL && !t->find_stack(t->ctx, addr, &stack)) || addr < stack.low || addr >= stack.high ||
        stack.high - addr < WORD)
        return NULL;
    if (stack.bytes == NULL)
        return t->read != NULL && t->read(t->ctx, addr, word, WORD) == 0 ? word : NULL;
    return (const uint8_t *)stack.bytes + (uintptr_t)(addr - stack.low);
}

/* Prints up to WORDS from ADDR up, until one cannot be read, and returns how many. BYTES: what is at ADDR, or NULL. */
static uint32_t print_words(struct output *o, uintptr_t addr, uint32_t words, const void *bytes)
{
    const uint8_t *p = (const uint8_t *)bytes;
    uint8_t word[WORD];
    uint32_t i, digit;

    for (i = 0; i < words; i++, addr += WORD) {
        if (bytes == NULL && (p = find_word(o->panic->target, (sfu_addr)addr, word)) == NULL)
            break;
        if (i % WORDS_OF_LINE == 0) {
            begin_line(o, " m ");
            hex(o, addr, DIGITS);
        }
        put(o, ' ');
        for (digit = WORD; digit > 0; digit--)
            hex(o, p[digit - 1], 2);
        p += WORD;
    }
    return i;
}

void sfu_dump_print(struct sfu_panic *panic, const struct sfu_dump *dump, const struct sfu_registers *top)
{
    const uint8_t *p = (const uint8_t *)dump->build_id, *end = (const uint8_t *)dump->build_id_end;
    struct output o;
    uint32_t count;
    unsigned i;

    if (panic->busy != 0)
        return;
    panic->busy = 1;
    o.panic = panic;
    o.number = o.check = 0;
    begin_line(&o, " begin ");
    hex(&o, ABI, ABI > 15 ? 2 : 1);
    text(&o, top->pc_kind == SFU_PC_EXACT ? " exact" : " return");
    if (p != NULL && (uintptr_t)end - (uintptr_t)p > SFU_BUILD_ID_HEADER) {
        begin_line(&o, " build ");
        for (p += SFU_BUILD_ID_HEADER; p < end; p++)
            hex(&o, *p, 2);
    }
    print_registers(&o, dump, top);
    count = print_words(&o, (uintptr_t)top->sp, dump->words != 0 ? dump->words : SFU_DUMP_WORDS, NULL);
    for (i = 0; i < dump->num_stacks; i++)
        count += print_words(&o, (uintptr_t)dump->stacks[i].addr, dump->stacks[i].words, dump->stacks[i].bytes);
    print_line(&o, " end ", count);
    end_line(&o);
    panic->busy = 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_dump.h"

#if defined(__x86_64__)
#define OWN_ABI SFU_AMD64
#elif defined(__AARCH64EB__)
#define OWN_ABI SFU_AARCH64_BIG
#elif defined(__aarch64__)
#define OWN_ABI SFU_AARCH64
#elif defined(__s390x__)
#define OWN_ABI SFU_S390X
#else
#define OWN_ABI 0
#endif

enum { WORD = 8, WORDS_PER_LINE = 4, REGISTERS = 32, PAIRS_PER_LINE = 3 };

static void text(const struct sfu_panic *p, const char *s)
{
    while (*s != '\0')
        p->put(p->ctx, *s++);
}

/* BEFORE, then the lowest DIGITS (1 to 16) digits of VALUE. */
static void hex(const struct sfu_panic *p, const char *before, uint64_t value, unsigned digits)
{
    text(p, before);
    while (digits > 0) {
        digits--;
        p->put(p->ctx, "0123456789abcdef"[value >> 4 * digits & 15]);
    }
}

/* The same with at least 4 digits. VALUE has at most 15. */
static void short_hex(const struct sfu_panic *p, const char *before, uint64_t value)
{
    unsigned digits = 4;

    while (value >> 4 * digits != 0)
        digits++;
    hex(p, before, value, digits);
}

/* ---- Registers ------------------------------------------------------------------------------------------------- */

static void print_registers(const struct sfu_panic *p, const struct sfu_registers *top)
{
    hex(p, "sfu1 r pc ", top->pc, 16);
    hex(p, " sp ", top->sp, 16);
    hex(p, " fp ", top->fp, 16);
    text(p, "\n");
    if (top->has_ra) {
        hex(p, "sfu1 r ra ", top->ra, 16);
        text(p, "\n");
    }
    if (p->target->pac_mask != 0) {
        hex(p, "sfu1 r pac ", p->target->pac_mask, 16);
        text(p, "\n");
    }
}

static void print_other_registers(const struct sfu_panic *p, const struct sfu_registers *top)
{
    const struct sfu_frame frame = {*top, 0, 0, SFU_GUESS_NONE, 0, false, false, false, true};
    unsigned pairs = 0;
    uint32_t reg;
    uint64_t value;

    if (top->pc_kind != SFU_PC_EXACT || p->target->reg == NULL)
        return;
    for (reg = 0; reg < REGISTERS; reg++) {
        if (p->target->reg(p->target->ctx, &frame, reg, &value) != 0)
            continue;
        if (pairs % PAIRS_PER_LINE == 0)
            text(p, pairs > 0 ? "\nsfu1 r" : "sfu1 r");
        hex(p, " ", reg, 2);
        hex(p, " ", value, 16);
        pairs++;
    }
    if (pairs > 0)
        text(p, "\n");
}

/* ---- Stack ----------------------------------------------------------------------------------------------------- */

/* The word at ADDR of the target's stacks. */
static bool read_word(const struct sfu_target *t, uint64_t addr, bool big, uint64_t *value)
{
    struct sfu_stack stack = t->stack;
    uint8_t word[WORD];
    const uint8_t *p = word;
    unsigned i;

    if (t->find_stack != NULL && !t->find_stack(t->ctx, addr, &stack))
        return false;
    if (addr < stack.low || addr >= stack.high || stack.high - addr < sizeof word)
        return false;
    if (stack.bytes != NULL)
        p = (const uint8_t *)stack.bytes + (addr - stack.low);
    else if (t->read == NULL || t->read(t->ctx, addr, word, sizeof word) != 0)
        return false;
    *value = 0;
    for (i = 0; i < sizeof word; i++)
        *value = *value << 8 | p[big ? i : sizeof word - 1 - i];
    return true;
}

/* Prints up to COUNT words from ADDR upward, and before each PER_LINE of them where they are: their address or, if
 * BY_OFFSET, how far they are from ADDR. Returns how many there were. */
static uint32_t print_words(const struct sfu_panic *p, uint64_t addr, uint32_t count, bool by_offset, bool big)
{
    unsigned per_line = by_offset ? WORDS_PER_LINE : WORDS_PER_LINE - 1;
    uint32_t i;
    uint64_t value;

    for (i = 0; i < count && addr <= UINT64_MAX - WORD * (uint64_t)i; i++) {
        uint64_t at = WORD * (uint64_t)i;

        if (!read_word(p->target, addr + at, big, &value))
            break;
        if (i % per_line == 0 && i > 0)
            text(p, "\n");
        if (i % per_line == 0 && by_offset)
            short_hex(p, "sfu1 s ", at);
        else if (i % per_line == 0)
            hex(p, "sfu1 m ", addr + at, 16);
        hex(p, " ", value, 16);
    }
    if (i > 0)
        text(p, "\n");
    return i;
}

static uint32_t at_most(uint32_t count)
{
    return count < SFU_DUMP_MOST ? count : SFU_DUMP_MOST;
}

/* Returns how many words there were. */
static uint64_t print_stacks(const struct sfu_panic *p, const struct sfu_dump *dump, uint64_t sp, bool big)
{
    uint64_t count = print_words(p, sp, at_most(dump->words != 0 ? dump->words : SFU_DUMP_WORDS), true, big);
    unsigned i;

    for (i = 0; i < dump->num_stacks; i++)
        count += print_words(p, dump->stacks[i].addr, at_most(dump->stacks[i].words), false, big);
    return count;
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

static void print_places(const struct sfu_panic *p, const struct sfu_dump *dump)
{
    unsigned i;

    for (i = 0; i < dump->num_places; i++) {
        hex(p, "sfu1 at ", dump->places[i].addr, 16);
        text(p, " ");
        text(p, dump->places[i].name);
        if (dump->places[i].image != NULL) {
            text(p, " ");
            text(p, dump->places[i].image);
        }
        text(p, "\n");
    }
}

void sfu_dump_print(struct sfu_panic *panic, const struct sfu_dump *dump, const struct sfu_registers *top)
{
    uint8_t abi = dump->abi != 0 ? dump->abi : OWN_ABI;
    uint64_t count;

    if (panic->busy != 0)
        return;
    panic->busy = 1;
    hex(panic, "sfu1 begin ", abi, 1);
    text(panic, top->pc_kind == SFU_PC_EXACT ? " exact\n" : " return\n");
    sfu_print_note(panic, "sfu1 build ", dump->build_id, dump->build_id_end);
    print_places(panic, dump);
    print_registers(panic, top);
    print_other_registers(panic, top);
    count = print_stacks(panic, dump, top->sp, abi == SFU_AARCH64_BIG || abi == SFU_S390X);
    short_hex(panic, "sfu1 end ", count);
    text(panic, "\n");
    panic->busy = 0;
}

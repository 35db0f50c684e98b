/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_dump.h"

enum { WORD = 8, REGISTERS = 32, COLUMNS = 80, LONGEST = 17, END_OF_LINE = 12, FAR_DIGITS = 8 };

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

/* A dump while it is printed. */
struct output {
    const struct sfu_panic *panic;
    uint32_t number;  /* of the line */
    uint32_t check;   /* CRC-16 (CCITT, from 0xffff) of what the line has so far */
    unsigned columns; /* that it has so far */
    bool big;
};

static void put(struct output *o, char c)
{
    unsigned bit;

    o->panic->put(o->panic->ctx, c);
    o->columns++;
    o->check ^= (uint32_t)(uint8_t)c << 8;
    for (bit = 0; bit < 8; bit++)
        o->check = (o->check & 0x7fff) << 1 ^ (o->check >> 15) * 0x1021u;
}

static void text(struct output *o, const char *s)
{
    while (*s != '\0')
        put(o, *s++);
}

/* How many digits VALUE has, at least LEAST. */
static unsigned digits_of(uint64_t value, unsigned least)
{
    unsigned digits = 0;

    while (digits < least || value != 0) {
        value >>= 4;
        digits++;
    }
    return digits;
}

/* BEFORE, then VALUE by DIGITS digits, or by more if it has more. */
static void hex(struct output *o, const char *before, uint64_t value, unsigned least)
{
    unsigned digits = digits_of(value, least), unused;

    text(o, before);
    for (unused = digits; unused < 16; unused++)
        value <<= 4; /* by a constant: 32-bit CPUs would call a library for another number */
    for (; digits > 0; digits--) {
        put(o, "0123456789abcdef"[value >> 60]);
        value <<= 4;
    }
}

/* What stands in front of the number is not checked. */
static void begin_line(struct output *o, const char *what)
{
    text(o, "sfu2 ");
    o->check = 0xffff;
    hex(o, "", o->number, 2);
    text(o, what);
}

static void end_line(struct output *o)
{
    hex(o, " ", o->check, 4);
    text(o, "\n");
    o->columns = 0;
    o->number++;
}

/* A line with one number. */
static void print_line(struct output *o, const char *what, uint64_t value)
{
    begin_line(o, what);
    hex(o, "", value, 1);
    end_line(o);
}

/* ---- Registers ------------------------------------------------------------------------------------------------- */

static void print_registers(struct output *o, const struct sfu_dump *dump, const struct sfu_registers *top)
{
    print_line(o, " r pc ", top->pc);
    print_line(o, " r sp ", top->sp);
    print_line(o, " r fp ", top->fp);
    if (top->has_ra)
        print_line(o, " r ra ", top->ra);
    if (o->panic->target->pac_mask != 0)
        print_line(o, " r pac ", o->panic->target->pac_mask);
    if (dump->psp != 0)
        print_line(o, " r psp ", dump->psp);
}

static void print_other_registers(struct output *o, const struct sfu_registers *top)
{
    const struct sfu_target *t = o->panic->target;
    /* By fields: compilers may call memcpy to copy *top. */
    const struct sfu_frame frame = {{top->pc, top->sp, top->fp, top->ra, top->pc_kind, top->has_ra},
                                    0,
                                    0,
                                    SFU_GUESS_NONE,
                                    0,
                                    false,
                                    false,
                                    false,
                                    true};
    uint32_t reg;
    sfu_addr value;

    if (top->pc_kind != SFU_PC_EXACT || t->reg == NULL)
        return;
    for (reg = 0; reg < REGISTERS; reg++) {
        if (t->reg(t->ctx, &frame, reg, &value) != 0)
            continue;
        begin_line(o, " r");
        hex(o, " ", reg, 2);
        hex(o, " ", value, 1);
        end_line(o);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------------------------- */

/* The word at ADDR of BYTES, which are there, or of the target's stacks if they are NULL. */
static bool read_word(const struct output *o, const struct sfu_dump_stack *from, sfu_addr addr, uint64_t *value)
{
    const struct sfu_target *t = o->panic->target;
    struct sfu_stack stack = t->stack;
    uint8_t word[WORD];
    const uint8_t *p = word;
    unsigned i;

    if (from->bytes != NULL) {
        p = (const uint8_t *)from->bytes + (addr - from->addr);
    } else {
        if (t->find_stack != NULL && !t->find_stack(t->ctx, addr, &stack))
            return false;
        if (addr < stack.low || addr >= stack.high || stack.high - addr < sizeof word)
            return false;
        if (stack.bytes != NULL)
            p = (const uint8_t *)stack.bytes + (addr - stack.low);
        else if (t->read == NULL || t->read(t->ctx, addr, word, sizeof word) != 0)
            return false;
    }
    *value = 0;
    for (i = 0; i < sizeof word; i++)
        *value = *value << 8 | p[o->big ? i : sizeof word - 1 - i];
    return true;
}

/* Words of a line while they are packed. */
struct packer {
    uint64_t word, far; /* the one before; the last that was written as more than FAR_DIGITS digits, or 0 */
    uint32_t repeats;   /* of it */
    bool begun;         /* the line has a word */
};

/* How a word is written: a sign, or none, and digits. */
struct token {
    char sign;
    uint64_t value;
    unsigned size;
};

/* VALUE as what it is above or below BASE, if that is shorter. */
static void try_difference(struct token *t, uint64_t value, uint64_t base, char above, char below)
{
    bool is_above = value >= base;
    uint64_t distance = is_above ? value - base : base - value;
    unsigned size = 1 + digits_of(distance, 1);

    if (size < t->size) {
        if (is_above)
            t->sign = above;
        else
            t->sign = below;
        t->value = distance;
        t->size = size;
    }
}

static void print_repeats(struct output *o, struct packer *p)
{
    if (p->repeats > 0)
        hex(o, " *", p->repeats, 1);
    p->repeats = 0;
}

static void end_words(struct output *o, struct packer *p)
{
    print_repeats(o, p);
    if (p->begun)
        end_line(o);
    p->begun = false;
    p->far = 0;
}

static void print_word(struct output *o, struct packer *p, uint64_t addr, uint64_t value)
{
    struct token t = {'\0', value, digits_of(value, 1)};

    if (p->begun && value == p->word) {
        p->repeats++;
        return;
    }
    if (o->columns + LONGEST + END_OF_LINE > COLUMNS)
        end_words(o, p);
    if (!p->begun) {
        begin_line(o, " m ");
        hex(o, "", addr, 1);
    }
    print_repeats(o, p);
    try_difference(&t, value, addr, '+', '-');
    try_difference(&t, value, p->far, '>', '<');
    put(o, ' ');
    if (t.sign != '\0')
        put(o, t.sign);
    else if (t.size > FAR_DIGITS)
        p->far = value;
    hex(o, "", t.value, 1);
    p->begun = true;
    p->word = value;
}

/* Prints what there is of FROM, up to the first word that cannot be read. Returns how many words that was. */
static uint32_t print_words(struct output *o, const struct sfu_dump_stack *from)
{
    uint32_t count = from->words < SFU_DUMP_MOST ? from->words : SFU_DUMP_MOST, i;
    struct packer packer; /* compilers may call memset for an initializer */
    uint64_t value;

    packer.word = packer.far = 0;
    packer.repeats = 0;
    packer.begun = false;
    for (i = 0; i < count && from->addr <= SFU_ADDR_MAX - WORD * (sfu_addr)i; i++) {
        sfu_addr addr = from->addr + WORD * (sfu_addr)i;

        if (!read_word(o, from, addr, &value))
            break;
        print_word(o, &packer, addr, value);
    }
    end_words(o, &packer);
    return i;
}

/* ---- All ------------------------------------------------------------------------------------------------------- */

static void print_build_id(struct output *o, const struct sfu_dump *dump)
{
    const uint8_t *p = (const uint8_t *)dump->build_id, *end = (const uint8_t *)dump->build_id_end;

    if (p == NULL || (uintptr_t)end - (uintptr_t)p <= SFU_BUILD_ID_HEADER)
        return;
    begin_line(o, " build ");
    for (p += SFU_BUILD_ID_HEADER; p < end; p++)
        hex(o, "", *p, 2);
    end_line(o);
}

static void print_places(struct output *o, const struct sfu_dump *dump)
{
    unsigned i;

    for (i = 0; i < dump->num_places; i++) {
        begin_line(o, " at ");
        hex(o, "", dump->places[i].addr, 1);
        text(o, " ");
        text(o, dump->places[i].name);
        if (dump->places[i].image != NULL) {
            text(o, " ");
            text(o, dump->places[i].image);
        }
        end_line(o);
    }
}

void sfu_dump_print(struct sfu_panic *panic, const struct sfu_dump *dump, const struct sfu_registers *top)
{
    uint8_t abi = dump->abi != 0 ? dump->abi : SFU_DUMP_OWN_ABI;
    struct output o = {panic, 0, 0, 0, abi == SFU_AARCH64_BIG || abi == SFU_S390X};
    struct sfu_dump_stack own = {top->sp, dump->words != 0 ? dump->words : SFU_DUMP_WORDS, NULL};
    uint64_t count;
    unsigned i;

    if (panic->busy != 0)
        return;
    panic->busy = 1;
    begin_line(&o, " begin ");
    hex(&o, "", abi, 1);
    text(&o, top->pc_kind == SFU_PC_EXACT ? " exact" : " return");
    end_line(&o);
    print_build_id(&o, dump);
    print_places(&o, dump);
    print_registers(&o, dump, top);
    print_other_registers(&o, top);
    count = print_words(&o, &own);
    for (i = 0; i < dump->num_stacks; i++)
        count += print_words(&o, &dump->stacks[i]);
    print_line(&o, " end ", count);
    panic->busy = 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * facts_s390x < TRUTH: whether port/host/code/s390x.c says of each instruction what its line of TRUTH says, which
 * facts_s390x.txt explains. Then each entry of the table gets each fault that there is a place for, one at a time.
 * Prints lines: "wrong" and the instruction; "entry", its number, group and codes, the fault, and "noticed", "missed",
 * or "void" if no instruction is read in another way.
 */
#include "s390x_writable.c"

#include <stdio.h>
#include <stdlib.h>

enum { TRIES = 400, SIZE = 6 };

struct truth {
    uint8_t bytes[SIZE];
    char kind;
    unsigned general, floats;
    int low, high;
};

/* What is said of an instruction. */
struct said {
    unsigned general, floats;
    int low, high;
    bool nothing; /* is known of it */
};

static struct truth *truths;
static size_t num_truths;

/* The base of what each line writes. */
enum { BASE = 8 };

static unsigned floats_of(uint32_t mask)
{
    unsigned n, result = 0;

    for (n = 0; n < 16; n++)
        result |= (unsigned)(mask >> float_number(n) & 1) << n;
    return result;
}

static void add_memory(struct said *said, const struct code_op *op, int size)
{
    const int low = (int)op->k, high = low + size;

    if (op->base != BASE)
        return;
    said->low = said->low == said->high || low < said->low ? low : said->low;
    said->high = high > said->high ? high : said->high;
}

static void say(const uint8_t *bytes, struct said *said)
{
    const struct code_text text = {bytes, 0x10000, 0x10000 + SIZE};
    struct code_fact fact;
    uint32_t written = 0;
    unsigned i;

    memset(said, 0, sizeof *said);
    decode(NULL, &text, text.start, &fact);
    for (i = 0; i < fact.num; i++) {
        const struct code_op *op = &fact.op[i];

        switch ((enum code_do)op->what) {
        case CODE_LOAD:
        case CODE_FORGET:
            written |= (uint32_t)((2ull << op->last) - 1) & ~(uint32_t)((1ull << op->reg) - 1);
            break;
        case CODE_STORE:
            add_memory(said, op, 8 * (op->last - op->reg + 1));
            break;
        case CODE_WRITE:
            add_memory(said, op, (unsigned)op->from);
            break;
        case CODE_COPY:
            add_memory(said, op, op->last + 1);
            break;
        case CODE_BOUND:
            break;
        default:
            written |= op->reg < 32 ? 1u << op->reg : 0;
            break;
        }
    }
    said->general = written & 0xffff;
    said->floats = floats_of(written);
    said->nothing = fact.size == 0 || fact.flow != CODE_NEXT || written == UINT32_MAX;
}

/* What is more than in T comes from pairs of registers, from r0 to r2, or from as many bytes as an instruction may
 * write at most; or all registers of floating point stand for some. */
static bool is_near(const struct truth *t, const struct said *said)
{
    const unsigned even = t->general & 0x5555, odd = t->general & 0xaaaa;
    const unsigned few = t->general & 7 ? 7 : 0;
    const unsigned low = t->floats & 0x3333, high = t->floats & 0xcccc;

    return (said->general & ~(even | even << 1 | odd | odd >> 1 | few)) == 0 &&
           (said->floats == 0xffff ? (t->floats & (t->floats - 1)) != 0
                                   : (said->floats & ~(low | low << 2 | high | high >> 2)) == 0) &&
           (said->low == said->high || (t->low < t->high && said->high <= t->low + 256));
}

static bool is_said(const struct truth *t)
{
    struct said said;

    say(t->bytes, &said);
    if (t->kind == '?')
        return said.nothing;
    if (t->kind == '=')
        return !said.nothing && said.general == t->general && said.floats == t->floats && said.low == t->low &&
               said.high == t->high;
    return !said.nothing && (t->general & ~said.general) == 0 && (t->floats & ~said.floats) == 0 &&
           (t->low == t->high || (said.low == t->low && said.high >= t->high)) && is_near(t, &said);
}

/* Whether a line of GROUP whose code is from FIRST to LAST is wrong. Lines of other ones are as they were. */
static bool notices(uint8_t group, unsigned first, unsigned last)
{
    size_t i;

    for (i = 0; i < num_truths; i++) {
        uint8_t own;
        unsigned rest = rest_of(truths[i].bytes, &own);

        if (own == group && rest >= first && rest <= last && !is_said(&truths[i]))
            return true;
    }
    return false;
}

/* Some bytes of GROUP and REST: those of a line, if there is one, with other operands. */
static void make(uint8_t *bytes, uint8_t group, unsigned rest)
{
    static uint32_t seed = 1;
    uint8_t own;
    unsigned i, at;

    for (i = 0; i < SIZE; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(seed >> 24);
    }
    bytes[0] = group == 0 ? (uint8_t)rest : group;
    for (at = 1; at < SIZE; at += 4) /* where the rest stands: it is in byte 1, in its low half, or in byte 5 */
        if (rest_of(bytes, &own) != rest) {
            const uint8_t was = bytes[at];

            bytes[at] = (uint8_t)rest;
            if (rest_of(bytes, &own) != rest)
                bytes[at] = (uint8_t)((was & 0xf0) | (rest & 0xf));
            if (rest_of(bytes, &own) != rest)
                bytes[at] = was;
        }
}

/* Whether WITH changes nothing that is said. */
static bool is_void(size_t number, const struct facts *with, unsigned first, unsigned last)
{
    const struct facts was = facts[number];
    unsigned code, i;

    for (code = first; code <= last; code++)
        for (i = 0; i < TRIES; i++) {
            uint8_t bytes[SIZE];
            struct said before, after;

            make(bytes, was.group, code);
            say(bytes, &before);
            facts[number] = *with;
            say(bytes, &after);
            facts[number] = was;
            if (before.nothing != after.nothing || before.general != after.general ||
                before.floats != after.floats || before.low != after.low || before.high != after.high)
                return false;
        }
    return true;
}

static void plant(size_t number, const char *fault, const struct facts *with)
{
    const struct facts was = facts[number];
    const unsigned first = was.first > 0 ? was.first - 1u : 0, last = was.last + 1u;
    bool noticed;

    facts[number] = *with;
    noticed = notices(was.group, first, last);
    facts[number] = was;
    printf("entry %zu %02x %02x..%02x %s %s\n", number, was.group, was.first, was.last, fault,
           noticed                              ? "noticed"
           : is_void(number, with, first, last) ? "void"
                                                : "missed");
}

static void plant_all(size_t number)
{
    static const char *const names[] = {"BYTE1", "BYTE1_LOW", "BYTE3",      "BYTE3_LOW", "BYTE2",    "BYTE4",
                                        "PAIRS", "FLOATS",    "VECTOR",     "LOAD_MANY", "R0_TO_R2", "AT_12",
                                        "AT_20", "INDEXED",   "STORE_MANY", "STRING"};
    const struct facts was = facts[number];
    struct facts with = was;
    const unsigned more = was.group != 0 && was.last > 0xf && was.group < 0xe3 ? 4 : 0; /* where no code stands */
    unsigned bit;

    with.group = 0xff; /* no entry */
    plant(number, "gone", &with);
    for (bit = 0; bit < sizeof names / sizeof *names; bit++) {
        char text[32];

        if ((was.writes >> bit & 1) == 0 && bit != more)
            continue;
        with = was;
        with.writes ^= (uint16_t)(1u << bit);
        snprintf(text, sizeof text, "%s %s", was.writes >> bit & 1 ? "without" : "with", names[bit]);
        plant(number, text, &with);
    }
    with = was;
    if (was.bytes > 0) {
        with.bytes--;
        plant(number, "a byte less", &with);
        with.bytes = (uint8_t)(was.bytes + 1);
        if (was.bytes < UINT8_MAX)
            plant(number, "a byte more", &with);
    }
    with = was;
    with.first++;
    if (was.first < was.last)
        plant(number, "begins later", &with);
    with = was;
    with.last--;
    if (was.first < was.last)
        plant(number, "ends earlier", &with);
    with = was;
    with.first--;
    if (was.first > 0)
        plant(number, "begins earlier", &with);
    with = was;
    with.last++;
    if (was.last < UINT8_MAX)
        plant(number, "ends later", &with);
}

/* Adds the instructions of a line, which is changed. */
static void read_line(char *line)
{
    struct truth t;
    char *word;
    int at = 0;

    memset(&t, 0, sizeof t);
    t.kind = *line;
    if (t.kind == '#' || t.kind == '\n')
        return;
    if (t.kind != '?' && sscanf(line + 1, "%x %x %d %d%n", &t.general, &t.floats, &t.low, &t.high, &at) != 4)
        exit(2);
    for (word = strtok(line + 1 + at, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        unsigned i, value;

        memset(t.bytes, 0, sizeof t.bytes);
        for (i = 0; i < SIZE && sscanf(word + (size_t)2 * i, "%2x", &value) == 1; i++)
            t.bytes[i] = (uint8_t)value;
        truths = grow(truths, num_truths, sizeof *truths);
        truths[num_truths++] = t;
    }
}

int main(void)
{
    char line[256];
    size_t i;

    while (fgets(line, sizeof line, stdin) != NULL)
        read_line(line);
    for (i = 0; i < num_truths; i++)
        if (!is_said(&truths[i])) {
            unsigned k, size = size_of(truths[i].bytes);

            printf("wrong ");
            for (k = 0; k < size; k++)
                printf("%02x", truths[i].bytes[k]);
            printf("\n");
        }
    for (i = 0; i < sizeof facts / sizeof *facts; i++)
        plant_all(i);
    free(truths);
    return 0;
}

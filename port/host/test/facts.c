/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * facts make CPU SEED NUM > IN: random instructions of x86_64, aarch64, s390x or riscv64, and registers, for facts_run.
 * facts judge CPU IN OUT: what port/host/code says of each instruction beside what the CPU has done, for those that the
 * CPU has executed: a line for each one that has changed a register, a byte of the stack, or the PC, otherwise than was
 * said; and a last line with numbers.
 */
#include "code/code.h"
#include "facts.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine {
    const char *name;
    const struct code_cpu *cpu;
    unsigned num; /* of registers */
    bool big;
    uint8_t trap[4]; /* what stands behind an instruction */
    unsigned trap_size;
};

static const struct machine machines[] = {
    {"x86_64", &code_x86_64, 16, false, {0xcc, 0xcc}, 2},
    {"aarch64", &code_aarch64, 32, false, {0, 0, 0x20, 0xd4}, 4},
    {"s390x", &code_s390x, 16, true, {0, 1}, 2},
    {"riscv64", &code_riscv64, 32, false, {0x02, 0x90}, 2},
};

static uint64_t state;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1d >> 8;
}

/* ---- make ------------------------------------------------------------------------------------------------------ */

/* Whether CODE, of x86_64, is not to be executed: it calls the kernel, which may also do it for the CPU (sgdt), or takes
 * away what the program that executes it needs (segments, single steps). */
static bool is_left_out(const uint8_t *code)
{
    static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65};
    static const uint8_t ones[] = {0x8e, 0x9d, 0xca, 0xcb, 0xcd, 0xcf};
    static const uint8_t twos[] = {0x00, 0x01, 0x05, 0x07, 0x34, 0x35, 0xa1, 0xa9, 0xae, 0xb2, 0xb4, 0xb5};

    while (memchr(prefixes, *code, sizeof prefixes) != NULL || (*code & 0xf0) == 0x40)
        code++;
    return memchr(ones, *code, sizeof ones) != NULL || (*code == 0x0f && memchr(twos, code[1], sizeof twos) != NULL);
}

static void make_code(const struct machine *m, uint8_t *code)
{
    static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0x48, 0x49, 0x4c, 0x41, 0x67};
    unsigned size = 0, i;

    for (i = 0; i < 16; i++)
        code[i] = (uint8_t)rnd();
    if (m->cpu == &code_x86_64) {
        for (; rnd() % 3 == 0 && size < 3; size++)
            code[size] = prefixes[rnd() % sizeof prefixes];
        if (rnd() % 3 == 0)
            code[size++] = 0x0f;
        if (rnd() % 2 == 0) { /* at SP + a number of 8 bits */
            code[size + 1] = (uint8_t)(0x44 | (rnd() % 8) << 3);
            code[size + 2] = 0x24;
        }
        return;
    }
    size = m->cpu == &code_aarch64 ? 4 : m->big ? (code[0] < 0x40 ? 2 : code[0] < 0xc0 ? 4 : 6) : (code[0] & 3) == 3 ? 4 : 2;
    if (m->cpu == &code_aarch64 && rnd() % 2 == 0) { /* Rn is SP */
        code[0] |= 0xe0;
        code[1] |= 3;
    }
    if (m->cpu == &code_riscv64 && size == 4 && rnd() % 2 == 0) { /* rs1 is SP */
        code[1] &= 0x7f;
        code[2] = (uint8_t)((code[2] & 0xf0) | 1);
    }
    if (m->big && size > 2 && rnd() % 2 == 0) { /* the base is r15, and no index */
        code[2] |= 0xf0;
        code[1] &= rnd() % 2 == 0 ? 0xf0 : 0xff;
        code[2] &= 0xf3;
    }
    for (i = size; i < 16; i++)
        code[i] = m->trap[(i - size) % m->trap_size];
}

static void make(const struct machine *m, uint64_t num)
{
    while (num-- > 0) {
        struct facts_in in;
        unsigned i, to_stack = (unsigned)(rnd() % m->num), small = (unsigned)(rnd() % m->num);

        do
            make_code(m, in.code);
        while (m->cpu == &code_x86_64 && is_left_out(in.code));
        for (i = 0; i < 32; i++)
            in.reg[i] = FACTS_OTHER + 0x8000 + 0x4000 * (uint64_t)i;
        in.reg[to_stack] = FACTS_SP + 8 * (rnd() % 32) - 128;
        if (m->cpu == &code_x86_64) /* how often a string instruction is repeated */
            in.reg[small] = rnd() % 9;
        in.reg[m->cpu->sp] = FACTS_SP;
        if (m->cpu == &code_riscv64)
            in.reg[0] = 0;
        for (i = 0; m->big && i < 32; i++)
            store_number((uint8_t *)&in.reg[i], 8, true, in.reg[i]);
        fwrite(&in, sizeof in, 1, stdout);
    }
}

/* ---- judge ----------------------------------------------------------------------------------------------------- */

/* What is known when an instruction is done. */
struct known {
    const struct machine *m;
    bool is_known[CODE_REGISTERS];
    uint64_t reg[CODE_REGISTERS];
    bool any; /* any byte of memory may have changed */
    bool byte_known[FACTS_WINDOW];
    uint8_t byte[FACTS_WINDOW];
};

static void begin(struct known *k, const struct machine *m, const struct facts_in *in)
{
    unsigned i;

    memset(k, 0, sizeof *k);
    k->m = m;
    for (i = 0; i < m->num; i++) {
        k->is_known[i] = true;
        k->reg[i] = load_number((const uint8_t *)&in->reg[i], 8, m->big);
    }
    if (m->cpu == &code_riscv64)
        k->is_known[0] = false; /* it is CODE_ZERO */
    k->is_known[CODE_ZERO] = true;
    for (i = 0; i < FACTS_WINDOW; i++) {
        k->byte_known[i] = true;
        k->byte[i] = facts_byte(i);
    }
}

/* BYTES of memory at ADDR become VALUE or, if it is NULL, unknown. */
static void put(struct known *k, uint64_t addr, uint64_t bytes, const uint8_t *value)
{
    uint64_t i, at;

    for (i = 0; i < bytes && i < 2 * FACTS_STACK_SIZE; i++) {
        at = addr + i - FACTS_LOW;
        if (at >= FACTS_WINDOW)
            continue;
        k->byte_known[at] = value != NULL;
        k->byte[at] = value != NULL ? value[i] : 0;
    }
}

static void set(struct known *k, unsigned reg, bool is_known, uint64_t value)
{
    k->is_known[reg] = is_known;
    k->reg[reg] = value;
}

static void load(struct known *k, const struct code_op *op)
{
    const struct known before = *k;
    unsigned i, b;

    for (i = op->reg; i <= op->last; i++) {
        uint64_t at = before.reg[op->base] + (uint64_t)op->k + 8 * (uint64_t)(i - op->reg) - FACTS_LOW;
        bool known = before.is_known[op->base] && !before.any && at <= FACTS_WINDOW - 8;

        for (b = 0; known && b < 8; b++)
            known = before.byte_known[at + b];
        set(k, i, known, known ? load_number(&before.byte[at], 8, k->m->big) : 0);
    }
}

static void store(struct known *k, const struct code_op *op)
{
    uint64_t at = k->reg[op->base] + (uint64_t)op->k;
    uint8_t bytes[8];
    unsigned i;

    k->any |= !k->is_known[op->base];
    for (i = op->reg; i <= op->last; i++, at += 8) {
        store_number(bytes, 8, k->m->big, k->reg[i]);
        put(k, at, 8, k->is_known[i] ? bytes : NULL);
    }
}

static void apply(struct known *k, const struct code_op *op)
{
    const uint64_t at = k->reg[op->base] + (uint64_t)op->k;
    unsigned i;

    switch ((enum code_do)op->what) {
    case CODE_SET:
        set(k, op->reg, k->is_known[op->base], at);
        break;
    case CODE_NUMBER:
        set(k, op->reg, true, (uint64_t)op->k);
        break;
    case CODE_SUM:
        set(k, op->reg, k->is_known[op->base] && k->is_known[op->last],
            k->reg[op->base] + (uint64_t)op->k * k->reg[op->last]);
        break;
    case CODE_LOAD:
        load(k, op);
        break;
    case CODE_STORE:
        store(k, op);
        break;
    case CODE_WRITE:
        k->any |= !k->is_known[op->base] || (op->last != CODE_NONE && !k->is_known[op->last]);
        put(k, at, (uint64_t)op->from * (op->last != CODE_NONE ? k->reg[op->last] : 1), NULL);
        break;
    case CODE_COPY:
        k->any |= !k->is_known[op->base];
        put(k, at, op->last + 1u, NULL);
        break;
    case CODE_FORGET:
        for (i = op->reg; i <= op->last; i++)
            set(k, i, false, 0);
        break;
    case CODE_BOUND:
        break;
    default:
        set(k, op->reg, false, 0);
        break;
    }
}

static void complain(const struct facts_in *in, const struct code_fact *fact, const char *what, uint64_t a, uint64_t b)
{
    unsigned i;

    for (i = 0; i < 15; i++)
        printf("%02x", in->code[i]);
    printf(" size %u flow %u: %s 0x%" PRIx64 " 0x%" PRIx64 "\n", fact->size, fact->flow, what, a, b);
}

/* Returns whether the CPU has done what FACT says. */
static bool is_true(const struct machine *m, const struct facts_in *in, const struct facts_out *out,
                    const struct code_fact *fact)
{
    const uint64_t pc = load_number((const uint8_t *)&out->pc, 8, m->big), next = FACTS_CODE + fact->size;
    static struct known k;
    unsigned i;

    if (pc != next && !(fact->flow == CODE_BRANCH && pc == fact->target)) {
        complain(in, fact, "PC", pc, next);
        return false;
    }
    begin(&k, m, in);
    for (i = 0; i < fact->num; i++)
        apply(&k, &fact->op[i]);
    for (i = 0; i < m->num; i++) {
        uint64_t value = load_number((const uint8_t *)&out->reg[i], 8, m->big);

        if (k.is_known[i] && value != k.reg[i]) {
            complain(in, fact, "register, value", i, value);
            return false;
        }
    }
    for (i = 0; !k.any && i < FACTS_WINDOW; i++)
        if (k.byte_known[i] && out->window[i] != k.byte[i]) {
            complain(in, fact, "byte at SP +", (uint64_t)((int64_t)i - FACTS_WINDOW / 2), out->window[i]);
            return false;
        }
    return true;
}

static int judge(const struct machine *m, FILE *in_file, FILE *out_file)
{
    void *decoder = m->cpu->open != NULL ? m->cpu->open(NULL) : NULL;
    uint64_t num = 0, executed = 0, wrong = 0;
    struct facts_in in;
    struct facts_out out;

    for (; fread(&in, sizeof in, 1, in_file) == 1 && fread(&out, sizeof out, 1, out_file) == 1; num++) {
        const struct code_text text = {in.code, FACTS_CODE, FACTS_CODE + 15};
        const uint64_t signal = load_number((const uint8_t *)&out.signal, 8, m->big);
        struct code_fact fact;

        m->cpu->decode(decoder, &text, FACTS_CODE, &fact);
        if (signal != SIGTRAP || load_number((const uint8_t *)&out.pc, 8, m->big) == FACTS_CODE || fact.size == 0 || (fact.flow != CODE_NEXT && fact.flow != CODE_BRANCH))
            continue;
        executed++;
        wrong += !is_true(m, &in, &out, &fact);
    }
    printf("%" PRIu64 " of %" PRIu64 " executed, %" PRIu64 " wrong\n", executed, num, wrong);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    const struct machine *m = machines;

    if (argc != 5)
        return 2;
    while (strcmp(m->name, argv[2]) != 0)
        if (++m == machines + sizeof machines / sizeof machines[0])
            return 2;
    if (strcmp(argv[1], "judge") == 0) {
        FILE *in = fopen(argv[3], "rb"), *out = fopen(argv[4], "rb");

        return in == NULL || out == NULL ? 2 : judge(m, in, out);
    }
    state = strtoull(argv[3], NULL, 10) * 0x9e3779b97f4a7c15 | 1;
    make(m, strtoull(argv[4], NULL, 10));
    return 0;
}

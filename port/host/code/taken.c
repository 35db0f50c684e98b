/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Addresses of data that code takes, wherever a way leads. Compilers write tables of jumps one behind the other, and
 * nothing in a table says where it ends. Each is read by code that has its address: where that of another one is, this
 * one ends.
 *
 * All code is read once, one instruction behind the other, so that the answer is the same whichever unit asks first. A
 * register has what was put into it last, in that order. What is found besides real addresses does no harm: a table
 * that seems to end early has fewer ways, and what only they lead to has no rows.
 */
#include "taken.h"
#include "units.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

/* What is known of registers: their numbers. */
struct numbers {
    int64_t number[CODE_REGISTERS];
    bool is_known[CODE_REGISTERS];
};

static void forget(struct numbers *n, unsigned first, unsigned last)
{
    for (; first <= last && first < CODE_REGISTERS; first++)
        n->is_known[first] = first == CODE_ZERO;
}

static void take(struct code *code, int64_t number)
{
    const struct code_value value = {number, BASE_NUMBER, false, 0, 0};
    const uint64_t addr = unit_address_of(code->cpu, &value);

    if (addr == 0 || image_code(code->image, addr) != NULL)
        return;
    code->taken = grow(code->taken, code->num_taken, sizeof *code->taken);
    code->taken[code->num_taken++] = addr;
}

/* Whether NUMBER, which the instruction at PC has alone, may be the upper half of an address, of which the lower one
 * follows (adrp, auipc, lui). */
static bool is_half(const struct code_cpu *cpu, int64_t number, uint64_t pc)
{
    return cpu->link && ((uint64_t)number % PAGE == 0 || (uint64_t)number % PAGE == pc % PAGE);
}

/* OP, of the instruction at PC, is done. */
static void follow(struct code *code, struct numbers *n, const struct code_op *op, uint64_t pc)
{
    const bool known = op->base < CODE_REGISTERS && n->is_known[op->base];
    const int64_t number = known ? (int64_t)((uint64_t)n->number[op->base] + (uint64_t)op->k) : 0;
    unsigned i;

    switch ((enum code_do)op->what) {
    case CODE_SET:
    case CODE_NUMBER:
        if (op->what == CODE_SET ? known : true) {
            n->number[op->reg] = op->what == CODE_SET ? number : op->k;
            n->is_known[op->reg] = true;
            if ((op->what == CODE_SET && op->base != CODE_ZERO && op->k != 0) ||
                !is_half(code->cpu, n->number[op->reg], pc))
                take(code, n->number[op->reg]);
            return;
        }
        break;
    case CODE_TABLE:
        if (known)
            take(code, number);
        break;
    case CODE_LOADS:
        for (i = 0; i < 16; i++)
            if ((uint32_t)op->from >> i & 1)
                forget(n, i, i);
        return;
    case CODE_LOAD:
    case CODE_FORGET:
        forget(n, op->reg, op->last);
        return;
    case CODE_STORE:
    case CODE_STORES:
    case CODE_COPY:
    case CODE_BOUND:
        return;
    default:
        break;
    }
    forget(n, op->reg, op->reg);
}

/* Reads the code of UNIT. */
static void read_unit(struct code *code, const struct code_unit *unit)
{
    const struct code_text text = {image_instructions(code->image, unit->start, unit->end - unit->start),
                                   unit->start, unit->end};
    struct numbers numbers = {{0}, {false}};
    uint64_t pc = unit->start;

    numbers.is_known[CODE_ZERO] = true;
    while (text.bytes != NULL && pc < unit->end) {
        struct code_fact fact;
        unsigned i;

        code->cpu->decode(code->decoder, &text, pc, &fact);
        for (i = 0; i < fact.num; i++)
            follow(code, &numbers, &fact.op[i], pc);
        pc += fact.size != 0 ? fact.size : code->cpu->align;
    }
}

bool code_takes(struct code *code, uint64_t addr)
{
    size_t i, below;

    if (!code->taken_known) {
        code->taken_known = true;
        for (i = 0; i < code->num_units; i++)
            read_unit(code, &code->units[i]);
        put_in_order(code->taken, code->num_taken, sizeof *code->taken, by_first_number);
    }
    below = count_up_to(code->taken, code->num_taken, sizeof *code->taken, 0, addr);
    return below > 0 && code->taken[below - 1] == addr;
}

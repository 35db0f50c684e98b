/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Which kind of interrupt, or a call, has entered code: what trials of it say. */
#include "kinds.h"
#include "trial.h"

#include <string.h>

bool code_is_kind(struct code *code, uint64_t addr, enum code_kind kind)
{
    struct code_ends ends;

    code_try(code, addr, kind, &ends);
    return ends.resumes && !ends.resumes_ill && !ends.returns && !ends.returns_ill;
}

enum code_kind code_kind_of_trap(struct code *code, uint64_t addr)
{
    const uint8_t *p = image_instructions(code->image, addr, 4);
    const uint32_t word = p != NULL ? (uint32_t)load_number(p, 4, false) : 0;

    /* csrrw sp, sscratch or mscratch, sp */
    return word == 0x14011173 || word == 0x34011173 ? CODE_SCRATCH : CODE_TRAP;
}

uint64_t code_written_by(const struct code_op *op)
{
    const bool many = op->what == CODE_LOAD || op->what == CODE_FORGET;
    const unsigned last = many ? op->last : op->reg;
    uint64_t regs = 0;
    unsigned i;

    for (i = op->reg; i <= last && i < CODE_REAL; i++)
        regs |= 1ull << i;
    return regs;
}

/* The register that the instruction WORD exchanges with sscratch or mscratch, or 0. */
static unsigned exchanged(uint32_t word)
{
    const unsigned csr = word >> 20, to = word >> 7 & 31, from = word >> 15 & 31;

    return (word & 0x707f) == 0x1073 && (csr == 0x140 || csr == 0x340) && to == from ? to : 0;
}

/* How many of the registers in *IDLE the instruction FACT stores by BASE. Those that it writes are out of *IDLE then;
 * if it writes BASE, all are. */
static unsigned saved_by(const struct code_fact *fact, unsigned base, uint64_t *idle)
{
    unsigned i, saved = 0;

    for (i = 0; i < fact->num; i++) {
        const struct code_op *op = &fact->op[i];

        if (op->what == CODE_STORE)
            saved += op->base == base && op->reg < CODE_REAL && (*idle >> op->reg & 1) != 0;
        else if (op->what != CODE_WRITE)
            *idle &= (code_written_by(op) >> base & 1) != 0 ? 0 : ~code_written_by(op);
    }
    return saved;
}

/* RISC-V: whether the code at ADDR begins as an entry that keeps registers in a structure to which the scratch register
 * points: it exchanges that with a register, and stores by it what idle registers had, in which no caller leaves
 * anything. */
static bool saves_in_structure(struct code *code, uint64_t addr)
{
    enum { LEAST = 2, MOST = 40 };
    const struct code_unit *unit = code_unit_at(code, addr);
    const uint8_t *p = image_instructions(code->image, addr, 4);
    const unsigned base = p != NULL ? exchanged((uint32_t)load_number(p, 4, false)) : 0;
    struct code_text text = {NULL, 0, 0};
    uint64_t idle = code->cpu->idle & ~(1ull << base), pc = addr + 4;
    unsigned i, saved = 0;

    if (unit != NULL)
        text = (struct code_text){image_instructions(code->image, unit->start, unit->end - unit->start),
                                  unit->start, unit->end};
    if (text.bytes == NULL || base == 0 || base == code->cpu->sp)
        return false;
    for (i = 0; i < MOST && pc < unit->end && saved < LEAST; i++) {
        struct code_fact fact;

        memset(&fact, 0, sizeof fact);
        code->cpu->decode(code->decoder, &text, pc, &fact);
        if (fact.size == 0 || fact.flow != CODE_NEXT)
            return false;
        saved += saved_by(&fact, base, &idle);
        pc += fact.size;
    }
    return saved >= LEAST;
}

/* x86: whether the code at ADDR, entered without an error code, is seen to return to what was interrupted. */
static bool resumes_seen(struct code *code, uint64_t addr)
{
    struct code_ends ends;

    code_try_seen(code, addr, CODE_TRAP, &ends);
    return ends.resumes;
}

enum code_kind code_kind_of(struct code *code, uint64_t addr, const char **why)
{
    const struct code_cpu *cpu = code->cpu;
    const bool x86 = !cpu->link, riscv = code->image->header.e_machine == EM_RISCV;
    const bool trap = code_is_kind(code, addr, CODE_TRAP);

    *why = "it returns to what was interrupted";
    if (x86 && trap != code_is_kind(code, addr, CODE_ERROR)) {
        static const char *const texts[2][2] = {{"iretq takes back what the CPU has pushed, behind an error code",
                                                 "iretq takes back what the CPU has pushed, without an error code"},
                                                {"iret takes back what the CPU has pushed, behind an error code",
                                                 "iret takes back what the CPU has pushed, without an error code"}};

        *why = texts[cpu->pushed != 0][trap];
        /* Where no row tells what exceptions have pushed, a hook finds that out. */
        if (trap && code->pushed == NULL && !resumes_seen(code, addr))
            return CODE_KINDS;
        return trap ? CODE_TRAP : CODE_ERROR;
    }
    if (x86 && cpu->pushed == 0 && !trap && code_is_kind(code, addr, CODE_SYSCALL)) {
        *why = "it returns to where syscall has left the PC, with SP as it was";
        return CODE_SYSCALL;
    }
    if (riscv && !trap &&
        (code_kind_of_trap(code, addr) == CODE_SCRATCH || code_is_kind(code, addr, CODE_SCRATCH))) {
        *why = "it returns to what was interrupted, whose SP was in the scratch register";
        return CODE_SCRATCH;
    }
    if (riscv && !trap && saves_in_structure(code, addr)) {
        *why = "it saves registers where the scratch register points, in which no caller leaves anything";
        return CODE_TRAP;
    }
    if (cpu->banked && !trap) {
        *why = "rfe takes back the PC and the status that srs has stored";
        return code_is_kind(code, addr, CODE_TRAP4)   ? CODE_TRAP4
               : code_is_kind(code, addr, CODE_TRAP8) ? CODE_TRAP8
                                                      : CODE_KINDS;
    }
    return trap && (riscv || cpu->banked || cpu->old_psw != 0) ? CODE_TRAP : CODE_KINDS;
}

bool code_contradicts_call(const struct code_ends *ends)
{
    return ends->takes || ends->loses || ends->hands_on || (ends->returns_ill && !ends->returns) ||
           (!ends->returns && !ends->tail_calls &&
            (ends->misaligned || ends->saves || ends->hands_frame || ends->begins_mode || ends->forgets ||
             ends->goes_on));
}

bool code_is_given(const struct code_how *how, uint64_t addr)
{
    size_t i;

    for (i = 0; i < how->num_entries; i++)
        if (how->entries[i].addr == addr && !how->entries[i].described)
            return true;
    return false;
}

bool code_is_lost_by_itself(const struct code_unit *unit)
{
    return unit->lost_to == LOST_BY_END || unit->lost_to == LOST_BY_ENTRY || unit->lost_to == LOST_BY_GATE;
}

void code_enter(struct code *code, const struct code_how *how, uint64_t addr, enum code_kind kind, const char *why)
{
    struct code_unit *unit = code_unit_at(code, addr);

    if (unit == NULL || unit->fde != NULL || code_is_given(how, addr))
        return;
    code_begin_at(code, addr, kind);
    if (how->entered != NULL)
        how->entered(how->ctx, addr, kind, NULL, why);
}

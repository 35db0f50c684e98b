/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Which kind of interrupt, or a call, has entered code: what trials of it say. */
#include "kinds.h"
#include "trial.h"

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
    return unit->lost_to == LOST_BY_END || unit->lost_to == LOST_BY_ENTRY;
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

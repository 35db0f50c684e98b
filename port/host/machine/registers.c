/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Registers by hand, and those of s390x that notes and stubs have elsewhere. */
#include "space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

unsigned s390x_float(unsigned reg)
{
    static const uint8_t floats[] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};

    return floats[reg & 15];
}

/* ---- By hand --------------------------------------------------------------------------------------------------- */

bool registers_set(uint8_t abi, struct thread_registers *regs, uint8_t *pc_kind, const char *name, const char *text)
{
    const struct registers *r = abi_registers(abi);
    uint64_t value, reg = REGISTER_PC;

    if (strcmp(name, "psp") == 0 && abi_is_arm(abi)) {
        regs->has_psp = text_is_number(text, &regs->psp) && regs->psp <= UINT32_MAX;
        return regs->has_psp;
    }
    if (strcmp(name, "kind") == 0) {
        *pc_kind = strcmp(text, "return") == 0 ? SFU_PC_RETURN : SFU_PC_EXACT;
        return strcmp(text, "return") == 0 || strcmp(text, "exact") == 0;
    }
    if (strcmp(name, "sp") == 0)
        reg = r->sp;
    else if (strcmp(name, "fp") == 0)
        reg = r->fp;
    else if (strcmp(name, "ra") == 0 && r->link)
        reg = r->ra;
    else if (strcmp(name, "pc") != 0 && (name[0] != 'r' || !text_is_number(name + 1, &reg) || reg >= REGISTER_PC))
        return false;
    if (!text_is_number(text, &value) || (r->word == 4 && value > UINT32_MAX))
        return false;
    regs->value[reg] = value;
    regs->known[reg] = true;
    return true;
}

void registers_fill(uint8_t abi, struct thread_registers *regs, const uint64_t *values)
{
    const struct registers *r = abi_registers(abi);

    regs->value[REGISTER_PC] = values[0];
    regs->value[r->sp] = values[1];
    regs->value[r->fp] = values[2];
    regs->known[REGISTER_PC] = regs->known[r->sp] = regs->known[r->fp] = true;
    if (r->link && values[3] != 0) {
        regs->value[r->ra] = values[3];
        regs->known[r->ra] = true;
    }
}

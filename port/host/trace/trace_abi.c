/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What differs between CPUs: where notes and stubs have the registers. */
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { AMD64_REGISTERS = 16, AARCH64_REGISTERS = 32, S390X_REGISTERS = 16 };

const struct registers *abi_registers(uint8_t abi)
{
    static const struct registers amd64 = {7, 6, 16, 16, 0, false}, aarch64 = {31, 29, 30, 32, 0, true},
                                  s390x = {15, 11, 14, 65, 160, true};

    return abi == SFU_AMD64 ? &amd64 : abi == SFU_S390X ? &s390x : &aarch64;
}

bool abi_is_big(uint8_t abi)
{
    return abi == SFU_AARCH64_BIG || abi == SFU_S390X;
}

const char *abi_name(uint8_t abi)
{
    static const char *const names[] = {"nothing", "aarch64_be", "aarch64", "x86_64", "s390x"};

    return names[abi <= SFU_S390X ? abi : 0];
}

/* ---- Notes and stubs ------------------------------------------------------------------------------------------- */

/* x86_64, pr_reg: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp. aarch64: x0
 * to x30, sp, pc. s390x: PSW mask, PSW address, r0 to r15. */
int abi_prstatus_word(uint8_t abi, unsigned reg)
{
    static const int8_t amd64[AMD64_REGISTERS] = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0};

    if (abi == SFU_AMD64)
        return reg < AMD64_REGISTERS ? amd64[reg] : reg == REGISTER_PC ? 16 : -1;
    if (abi == SFU_S390X)
        return reg < S390X_REGISTERS ? 2 + (int)reg : reg == REGISTER_PC ? 1 : -1;
    return (int)reg;
}

/* x86_64: rax rbx rcx rdx rsi rdi rbp rsp r8 to r15, rip. The others have the order of the note. */
int abi_gdb_word(uint8_t abi, unsigned reg)
{
    static const int8_t amd64[AMD64_REGISTERS] = {0, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

    if (abi == SFU_AMD64)
        return reg < AMD64_REGISTERS ? amd64[reg] : reg == REGISTER_PC ? 16 : -1;
    return abi_prstatus_word(abi, reg);
}

unsigned s390x_float(unsigned reg)
{
    static const uint8_t floats[] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};

    return floats[reg & 15];
}

/* ---- By hand --------------------------------------------------------------------------------------------------- */

static bool is_number(const char *text, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

bool registers_set(uint8_t abi, struct thread_registers *regs, uint8_t *pc_kind, const char *name, const char *text)
{
    const struct registers *r = abi_registers(abi);
    uint64_t value, reg = REGISTER_PC;

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
    else if (strcmp(name, "pc") != 0 && (name[0] != 'r' || !is_number(name + 1, &reg) || reg >= REGISTER_PC))
        return false;
    if (!is_number(text, &value))
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

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Linux's signal frames: which they are, and where they have the registers. */
#include "common/sigreturn.h"
#include "space.h"

#include <string.h>

enum { I386_REGISTERS = 8, I386_OLD = 4, I386_INT3 = 3, I386_INTO = 4, SIGNAL_TRAP = 5, SIGNAL_SEGV = 11 };
enum { AMD64_REGISTERS = 16, S390X_REGISTERS = 16, S390X_OLD_REGS = 168, S390X_CONTEXT = 296, S390X_SAVED = 40 };

/* Whether the frame with this PC is Linux's signal frame, by the instructions at PC, which call (rt_)sigreturn. They
 * may be the last ones that can be read. *OLD: s390x's or i386's for a handler without SA_SIGINFO. */
static bool is_signal(const struct trace_space *space, uint64_t pc, bool *old)
{
    const struct sigreturn *found = NULL;
    uint8_t bytes[SIGRETURN_MAX];
    size_t size;

    *old = false;
    for (size = SIGRETURN_MAX; size > 1 && found == NULL && !abi_is_arm(space->abi); size--)
        if (space_read(space, pc, bytes, size))
            found = sigreturn_find(space->abi, bytes, size);
    if (found == NULL)
        return false;
    *old = found->old;
    return true;
}

/* ---- Faults that leave the PC behind their instruction ---- */

enum { INFO_SIZE = 24, AMD64_INFO = 304, AMD64_VECTOR = 200 };
enum { I386_INFO = 12, I386_CONTEXT = 160, I386_SIGNAL = I386_CONTEXT - I386_OLD };
enum { I386_VECTOR = I386_CONTEXT + 48, I386_PC = I386_CONTEXT + 56 };
enum { S390X_INFO = 168, S390X_SIGNAL = 344, S390X_SVC = 0x0a };

uint64_t linux_passed_unsure(const struct trace_space *space, uint64_t signal, uint64_t pc)
{
    uint8_t call[2];

    if (!linux_is_behind(space->abi, signal) || pc < sizeof call ||
        !space_read(space, pc - sizeof call, call, sizeof call) || call[0] == S390X_SVC)
        return 0;
    return sizeof call;
}

/* The same of i386's frame without a struct siginfo: which exception was the last one is known, but not whether it has
 * made the signal. */
static uint64_t passed_in_old_i386(const struct trace_space *space, uint64_t trap, bool *sure)
{
    uint64_t vector = 0, signal = 0;
    bool passed;

    if (!space_word(space, trap + I386_VECTOR, &vector) || !space_word(space, trap + I386_SIGNAL, &signal))
        return 0;
    passed = (vector == I386_INT3 && signal == SIGNAL_TRAP) || (vector == I386_INTO && signal == SIGNAL_SEGV);
    *sure = !passed;
    return passed;
}

/* The same of the signal frame at TRAP. OLD: one without a struct siginfo. Sets *SURE to whether it is known. */
static uint64_t passed_in_frame(const struct trace_space *space, uint64_t trap, bool old, uint64_t pc, bool *sure)
{
    const bool amd64 = space->abi == SFU_AMD64, i386 = space->abi == SFU_I386;
    const uint64_t info_at = amd64 ? AMD64_INFO : i386 ? I386_INFO : S390X_INFO;
    uint64_t vector = 0, passed = 0;
    uint8_t info[INFO_SIZE], signal[4];

    *sure = true;
    if (old && i386)
        return passed_in_old_i386(space, trap, sure);
    if (old) {
        if (space_read(space, trap + S390X_CONTEXT + S390X_SAVED + S390X_SIGNAL, signal, sizeof signal))
            passed = linux_passed_unsure(space, load_number(signal, sizeof signal, true), pc);
        *sure = passed == 0;
        return passed;
    }
    if ((amd64 || i386) && !space_word(space, trap + (amd64 ? AMD64_VECTOR : I386_VECTOR), &vector))
        return 0;
    if (!space_read(space, trap + info_at, info, sizeof info))
        return 0;
    return linux_passed(space->abi, info, vector, pc);
}

/* Where a signal frame has register REG or the PC, from SP. x86_64, struct ucontext: 40 bytes, r8 to r15, rdi, rsi,
 * rbp, rbx, rdx, rax, rcx, rsp, rip. aarch64: siginfo (128), 176 bytes, the fault address, x0 to x30, sp, pc. s390x:
 * 296 up to struct ucontext, 40 bytes, PSW mask, PSW address, r0 to r15, 16 access registers of 4 bytes, fpc, f0 to
 * f15. i386: the handler's arguments and siginfo up to 140, struct ucontext with 20 bytes, gs fs es ds edi esi ebp esp
 * ebx edx ecx eax, vector, error code, eip. RISC-V: siginfo (128), struct ucontext with 176 bytes (160 of 32 bits), PC,
 * x1 to x31. -1: nowhere. */
static int saved_at(uint8_t abi, unsigned reg)
{
    const int word = abi_registers(abi)->word, riscv = 128 + (word == 8 ? 176 : 160);
    static const uint8_t i386[I386_REGISTERS] = {11, 10, 9, 8, 7, 6, 5, 4};
    static const uint8_t amd64[AMD64_REGISTERS] = {18, 17, 19, 16, 14, 13, 15, 20, 5, 6, 7, 8, 9, 10, 11, 12};

    if (abi == SFU_I386)
        return reg < I386_REGISTERS ? I386_CONTEXT + 4 * i386[reg] : reg == REGISTER_PC ? I386_PC : -1;
    if (abi == SFU_AMD64)
        return reg < AMD64_REGISTERS ? 8 * amd64[reg] : reg == REGISTER_PC ? 8 * 21 : -1;
    if (abi_is_riscv(abi))
        return reg == REGISTER_PC ? riscv : reg > 0 ? riscv + word * (int)reg : -1;
    if (abi != SFU_S390X)
        return 128 + 184 + 8 * (int)reg;
    if (reg == REGISTER_PC)
        return S390X_CONTEXT + 48;
    return S390X_CONTEXT + (reg < S390X_REGISTERS ? 56 + 8 * (int)reg : 256 + 8 * (int)s390x_float(reg));
}

bool linux_saved(const struct trace_space *space, uint64_t trap, unsigned reg, uint64_t *value)
{
    int at = reg < NUM_REGISTERS ? saved_at(space->abi, reg) : -1;

    return at >= 0 && trap <= UINT64_MAX - (uint64_t)at && space_word(space, trap + (uint64_t)at, value);
}

/* Where the signal frame at SP begins, as saved_at counts. OLD: without a struct siginfo. */
static bool find_trap(const struct trace_space *space, uint64_t sp, bool old, uint64_t *trap)
{
    uint64_t below = 0;

    *trap = sp;
    if (old && space->abi == SFU_I386) { /* the registers are behind the handler's argument */
        below = I386_CONTEXT - I386_OLD;
    } else if (old) {
        below = S390X_CONTEXT + S390X_SAVED;
        if (sp > UINT64_MAX - S390X_OLD_REGS || !space_word(space, sp + S390X_OLD_REGS, trap))
            return false;
    }
    if (*trap < below)
        return false;
    *trap -= below;
    return true;
}

bool linux_crossed(const struct trace_space *space, const struct sfu_frame *from, bool by_row, struct sfu_frame *to,
                   uint64_t *trap)
{
    bool old, sure;

    if (!is_signal(space, from->regs.pc, &old) || !find_trap(space, from->regs.sp, old, trap))
        return false;
    if (!by_row)
        return true;
    to->regs.pc -= passed_in_frame(space, *trap, old, to->regs.pc, &sure);
    if (!sure) {
        to->guess = SFU_GUESS_HOOK;
        to->reliable = false;
    }
    return true;
}

int linux_trap(const struct trace_space *space, const struct sfu_frame *frame, int code,
               struct sfu_interrupted *interrupted)
{
    const struct registers *r = abi_registers(space->abi);
    struct sfu_registers *regs = &interrupted->regs;
    uint64_t trap;
    bool old, sure;

    if (!is_signal(space, frame->regs.pc, &old))
        return code;
    if (!find_trap(space, frame->regs.sp, old, &trap))
        return SFU_E_STACK;
    if (!linux_saved(space, trap, REGISTER_PC, &regs->pc) || !linux_saved(space, trap, r->sp, &regs->sp) ||
        !linux_saved(space, trap, r->fp, &regs->fp))
        return SFU_E_STACK;
    if (r->link)
        regs->has_ra = linux_saved(space, trap, r->ra, &regs->ra);
    regs->pc -= passed_in_frame(space, trap, old, regs->pc, &sure);
    if (!sure)
        interrupted->guess = SFU_GUESS_HOOK;
    interrupted->saved = trap;
    return SFU_OK;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Linux's signal frames: which they are, and where they have the registers. */
#include "trace.h"

#include <string.h>

enum { AMD64_REGISTERS = 16, S390X_REGISTERS = 16, S390X_OLD_REGS = 168, S390X_CONTEXT = 296, S390X_SAVED = 40 };

static bool has_signal_code(const struct trace_space *space, uint64_t pc, const uint8_t *code, size_t size)
{
    uint8_t bytes[16];

    return space_read(space, pc, bytes, size) && memcmp(bytes, code, size) == 0;
}

/* By the instructions at PC, which call (rt_)sigreturn. */
bool linux_is_signal(const struct trace_space *space, uint64_t pc, bool *old)
{
    static const uint8_t amd64_rax[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}; /* mov $15,%rax; syscall */
    static const uint8_t amd64_eax[] = {0xb8, 15, 0, 0, 0, 0x0f, 0x05};             /* mov $15,%eax; syscall */
    static const uint8_t aarch64[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};    /* mov x8, #139; svc #0 */
    static const uint8_t riscv[] = {0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0};         /* li a7, 139; ecall */
    static const uint8_t s390x[] = {0x0a, 173}, s390x_old[] = {0x0a, 119};          /* svc */

    *old = false;
    if (space->abi == SFU_AMD64)
        return has_signal_code(space, pc, amd64_rax, sizeof amd64_rax) ||
               has_signal_code(space, pc, amd64_eax, sizeof amd64_eax);
    if (abi_is_riscv(space->abi))
        return has_signal_code(space, pc, riscv, sizeof riscv);
    if (space->abi != SFU_S390X)
        return has_signal_code(space, pc, aarch64, sizeof aarch64);
    *old = has_signal_code(space, pc, s390x_old, sizeof s390x_old);
    return *old || has_signal_code(space, pc, s390x, sizeof s390x);
}

/* ---- Faults that leave the PC behind their instruction ---- */

enum { INFO_SIZE = 24, AMD64_INFO = 304, AMD64_VECTOR = 200 };
enum { S390X_INFO = 168, S390X_SIGNAL = 344, S390X_SVC = 0x0a };

uint64_t linux_passed_unsure(const struct trace_space *space, uint64_t signal, uint64_t pc)
{
    uint8_t call[2];

    if (!linux_is_behind(space->abi, signal) || pc < sizeof call ||
        !space_read(space, pc - sizeof call, call, sizeof call) || call[0] == S390X_SVC)
        return 0;
    return sizeof call;
}

/* The same of the signal frame at TRAP. OLD: one without a struct siginfo. Sets *SURE to whether it is known. */
static uint64_t passed_in_frame(const struct trace_space *space, uint64_t trap, bool old, uint64_t pc, bool *sure)
{
    bool amd64 = space->abi == SFU_AMD64;
    uint64_t vector = 0, passed = 0;
    uint8_t info[INFO_SIZE], signal[4];

    *sure = true;
    if (old) {
        if (space_read(space, trap + S390X_CONTEXT + S390X_SAVED + S390X_SIGNAL, signal, sizeof signal))
            passed = linux_passed_unsure(space, load_number(signal, sizeof signal, true), pc);
        *sure = passed == 0;
        return passed;
    }
    if ((amd64 && !space_word(space, trap + AMD64_VECTOR, &vector)) ||
        !space_read(space, trap + (amd64 ? AMD64_INFO : S390X_INFO), info, sizeof info))
        return 0;
    return linux_passed(space->abi, info, vector, pc);
}

/* Where a signal frame has register REG or the PC, from SP. x86_64, struct ucontext: 40 bytes, r8 to r15, rdi, rsi,
 * rbp, rbx, rdx, rax, rcx, rsp, rip. aarch64: siginfo (128), 176 bytes, the fault address, x0 to x30, sp, pc. s390x:
 * 296 up to struct ucontext, 40 bytes, PSW mask, PSW address, r0 to r15, 16 access registers of 4 bytes, fpc, f0 to
 * f15. RISC-V: siginfo (128), struct ucontext with 176 bytes (160 of 32 bits), PC, x1 to x31. -1: nowhere. */
static int saved_at(uint8_t abi, unsigned reg)
{
    const int word = abi_registers(abi)->word, riscv = 128 + (word == 8 ? 176 : 160);
    static const uint8_t amd64[AMD64_REGISTERS] = {18, 17, 19, 16, 14, 13, 15, 20, 5, 6, 7, 8, 9, 10, 11, 12};

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

int linux_trap(const struct trace_space *space, const struct sfu_frame *frame, int code,
               struct sfu_interrupted *interrupted)
{
    const struct registers *r = abi_registers(space->abi);
    struct sfu_registers *regs = &interrupted->regs;
    uint64_t trap = frame->regs.sp;
    bool old, sure;

    if (!linux_is_signal(space, frame->regs.pc, &old))
        return code;
    if (old) {
        if (trap > UINT64_MAX - S390X_OLD_REGS || !space_word(space, trap + S390X_OLD_REGS, &trap) ||
            trap < S390X_CONTEXT + S390X_SAVED)
            return SFU_E_STACK;
        trap -= S390X_CONTEXT + S390X_SAVED; /* where a frame with a struct ucontext would begin */
    }
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

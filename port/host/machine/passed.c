/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Which signals leave the PC behind the instruction that made them. It reads nothing but a struct siginfo, which the
 * notes of a core have, too. */
#include "space.h"

enum { SIGILL = 4, SIGTRAP = 5, SIGFPE = 8, SIGSEGV = 11, TRAP_BRKPT = 1, SI_KERNEL = 128 };
enum { BREAKPOINT = 3, OVERFLOW = 4, INFO_CODE = 8, INFO_ADDR = 16 };

/* Of s390x: the CPU has suppressed or completed the instruction. Of SIGSEGV and SIGBUS Linux puts the PSW back. */
bool linux_is_behind(uint8_t abi, uint64_t signal)
{
    return abi == SFU_S390X && (signal == SIGILL || signal == SIGTRAP || signal == SIGFPE);
}

/* What Linux says of the instruction: its address on s390x; on x86 that it was int3 or int $4. A signal that
 * somebody has sent, and a single step, leave the PC at the next instruction to run. */
uint64_t linux_passed(uint8_t abi, const uint8_t *info, uint64_t vector, uint64_t pc)
{
    bool big = abi_is_big(abi);
    uint64_t signal = load_number(info, 4, big), code = load_number(info + INFO_CODE, 4, big);
    uint64_t addr = load_number(info + INFO_ADDR, 8, big);

    if (abi == SFU_AMD64 || abi == SFU_I386)
        return code == SI_KERNEL &&
               ((signal == SIGTRAP && vector == BREAKPOINT) || (signal == SIGSEGV && vector == OVERFLOW));
    if (!linux_is_behind(abi, signal) || code == 0 || code >> 31 != 0 || (signal == SIGTRAP && code != TRAP_BRKPT))
        return 0;
    return addr < pc && pc - addr <= 6 ? pc - addr : 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What an instruction that only traps says of its reason: compilers put it behind a check that has failed. */
#include "trace.h"

#include <string.h>

/* clang's checks of undefined behaviour, by the number that is in the instruction (-fsanitize-trap). */
static const char *const checks[] = {
    "an addition that overflows",
    "__builtin_unreachable() has been reached",
    "a check of control flow integrity has failed",
    "a division by 0, or one that overflows",
    "an object of another dynamic type",
    "a conversion from floating point that does not fit",
    "a call of a function of another type",
    "an implicit conversion that changes the value",
    "an argument that a builtin function must not have",
    "a cast to another Objective-C type",
    "a value that the type cannot have",
    "the end of a function that must return a value",
    "a multiplication that overflows",
    "a negation that overflows",
    "a null argument where none may be",
    "a null result where none may be",
    "a null argument where none may be",
    "a null result where none may be",
    "an index out of bounds",
    "a pointer that overflows",
    "a shift by too much, or of too much",
    "a subtraction that overflows",
    "a pointer that is null, misaligned, or of too small an object",
    "an assumed alignment that is none",
    "an array whose length is not positive",
};
enum { NUM_CHECKS = sizeof checks / sizeof checks[0], CHECK_KIND = 0x55 };

#define BUILTIN "__builtin_trap(), or a check that gives no reason"

/* Instructions: those whose bits in MASK are VALUE. SIZE: bytes. */
static const struct trap {
    uint8_t abi, size;
    uint32_t mask, value;
    const char *text;
} traps[] = {
    {SFU_AMD64, 2, 0xffff, 0x0b0f, "ud2: " BUILTIN},
    {SFU_AARCH64, 4, 0xffffffff, 0xd4200020, "brk #1: " BUILTIN},
    {SFU_AARCH64, 4, 0xffffffff, 0xd4207d00, "brk #1000: " BUILTIN},
    {SFU_AARCH64, 4, 0xffffffff, 0xd4210000, "brk #0x800: BUG() of Linux"},
    {SFU_AARCH64, 4, 0xfff00000 | 0x0008001f, 0xd4300000, "brk: KCFI: a call of a function of another type"},
    {SFU_RISCV64, 4, 0xffffffff, 0xc0001073, "unimp: " BUILTIN},
    {SFU_RISCV64, 4, 0xffffffff, 0x00100073, "ebreak: a breakpoint, or __builtin_trap()"},
    {SFU_RISCV64, 2, 0xffff, 0x9002, "ebreak: a breakpoint, or __builtin_trap()"},
    {SFU_RISCV64, 2, 0xffff, 0x0000, "unimp: " BUILTIN},
    {SFU_ARM, 4, 0xffffffff, 0xe7ffdefe, "udf: " BUILTIN},
    {SFU_ARM, 4, 0xffffffff, 0xe7f000f0, "udf: " BUILTIN},
    {SFU_THUMB, 2, 0xffff, 0xdefe, "udf #254: " BUILTIN},
    {SFU_THUMB, 2, 0xffff, 0xdeff, "udf #255: " BUILTIN},
};

/* The number of a check in clang's instruction: ud1 with it as a displacement from eax, or brk. Returns -1 if it is
 * none. */
static int check_of(uint8_t abi, const uint8_t *code)
{
    const uint32_t word = (uint32_t)load_number(code, 4, false);

    if (abi == SFU_AMD64 && (word & 0xffffff) == 0xb90f67)
        return code[3] == 0x00 ? 0 : code[3] == 0x40 ? code[4] : -1;
    if (abi_is_aarch64(abi) && (word & 0xffe0001f) == 0xd4200000 && word >> 13 == (0xd4200000u >> 13 | CHECK_KIND))
        return (int)(word >> 5 & 0xff);
    return -1;
}

static uint8_t family_of(uint8_t abi)
{
    return abi_is_aarch64(abi) ? (uint8_t)SFU_AARCH64 : abi_is_riscv(abi) ? (uint8_t)SFU_RISCV64 : abi;
}

const char *trap_reason(const struct trace_space *space, uint64_t pc)
{
    uint8_t code[8] = {0};
    size_t i, have = sizeof code;
    int check;

    while (have > 1 && !space_read(space, pc, code, have))
        have--;
    check = have >= 5 || (have >= 4 && space->abi != SFU_AMD64) ? check_of(space->abi, code) : -1;
    if (check >= 0)
        return check < NUM_CHECKS ? checks[check] : "a check of the compiler has failed";
    for (i = 0; i < sizeof traps / sizeof traps[0]; i++)
        if (traps[i].abi == family_of(space->abi) && traps[i].size <= have &&
            (load_number(code, traps[i].size, false) & traps[i].mask) == traps[i].value)
            return traps[i].text;
    return NULL;
}

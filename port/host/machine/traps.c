/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What an instruction that only traps says of its reason: compilers put it behind a check that has failed. A kernel's
 * own printer says the same in fewer words, of the CPU that it runs on: port/print/sfu_trap.c.
 */
#include "space.h"

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

#define KCFI    "KCFI: a call of a function of another type"
#define EBREAK  "ebreak: a breakpoint, __builtin_trap(), or a check that gives no reason"
#define BUILTIN "__builtin_trap(), or a check that gives no reason"

/* Instructions: those whose bits in MASK are VALUE. SIZE: bytes. */
static const struct trap {
    uint8_t abi, size;
    uint32_t mask, value;
    const char *text;
} traps[] = {
    {SFU_AMD64, 2, 0xffff, 0x0b0f, "ud2: " BUILTIN},
    {SFU_I386, 2, 0xffff, 0x0b0f, "ud2: " BUILTIN},
    {SFU_AARCH64, 4, 0xffffffff, 0xd4200020, "brk #1: " BUILTIN},
    {SFU_AARCH64, 4, 0xffffffff, 0xd4207d00, "brk #1000: " BUILTIN},
    {SFU_AARCH64, 4, 0xffffffff, 0xd4210000, "brk #0x800: BUG() of Linux"},
    {SFU_AARCH64, 4, 0xfffff81f, 0xd4212000,
     "brk #0x900 to #0x93f: HWASan or KASAN: a bad access by a tagged pointer"},
    {SFU_AARCH64, 4, 0xffff801f, 0xd4300000, "brk #0x8000 to #0x83ff: " KCFI},
    {SFU_AARCH64, 4, 0xffffffff, 0xd43e0000, "brk #0xf000: a breakpoint: __builtin_debugtrap()"},
    {SFU_RISCV64, 4, 0xffffffff, 0xc0001073, "unimp: " BUILTIN},
    {SFU_RISCV64, 4, 0xffffffff, 0x00100073, EBREAK},
    {SFU_RISCV64, 2, 0xffff, 0x9002, EBREAK},
    {SFU_RISCV64, 2, 0xffff, 0x0000, "unimp: " BUILTIN},
    {SFU_ARM, 4, 0xfff000f0, 0xe1200070, "bkpt: a breakpoint, which is a fault without a debugger"},
    {SFU_ARM, 4, 0xffffffff, 0xe7ffdefe, "udf: " BUILTIN},
    {SFU_ARM, 4, 0xffffffff, 0xe7f000f0, "udf: " BUILTIN},
    {SFU_THUMB, 2, 0xffff, 0xbeab, "bkpt 0xab: a call of a debugger (semihosting), which is a fault without one"},
    {SFU_THUMB, 2, 0xff00, 0xbe00, "bkpt: a breakpoint, which is a fault without a debugger"},
    {SFU_THUMB, 2, 0xffff, 0xdefe, "udf #254: " BUILTIN},
    {SFU_THUMB, 2, 0xffff, 0xdeff, "udf #255: " BUILTIN},
};

/* The number of a check in clang's instruction, of which HAVE bytes are at CODE: ud1 with the number as a displacement
 * from eax, which is left out if it is 0, with a prefix on x86_64; or brk. Returns -1 if it is none. */
static int check_of(uint8_t abi, const uint8_t *code, size_t have)
{
    const uint32_t word = (uint32_t)load_number(code, 4, false);
    const size_t modrm = abi == SFU_AMD64 ? 3 : 2;

    if (abi == SFU_AMD64 ? (word & 0xffffff) == 0xb90f67 : abi == SFU_I386 && (word & 0xffff) == 0xb90f)
        return have > modrm && code[modrm] == 0x00       ? 0
               : have > modrm + 1 && code[modrm] == 0x40 ? code[modrm + 1]
                                                         : -1;
    if (abi_is_aarch64(abi) && have >= 4 && (word & 0xffe0001f) == 0xd4200000 &&
        word >> 13 == (0xd4200000u >> 13 | CHECK_KIND))
        return (int)(word >> 5 & 0xff);
    return -1;
}

/* clang's KCFI on x86_64 is known by the instructions before ud2: mov $hash, %r10d; add -N(%reg), %r10d; je over it. */
static bool is_kcfi_x86_64(const struct trace_space *space, uint64_t pc)
{
    enum { BEFORE = 12, MOV = 0, ADD = 6, JE = 10 };
    uint8_t b[BEFORE];

    return pc >= BEFORE && space_read(space, pc - BEFORE, b, BEFORE) && b[MOV] == 0x41 && b[MOV + 1] == 0xba &&
           (b[ADD] & 0xfe) == 0x44 && b[ADD + 1] == 0x03 && (b[ADD + 2] & 0xf8) == 0x50 && b[JE] == 0x74 &&
           b[JE + 1] == 0x02;
}

/* On RISC-V by those before ebreak: lw A, -N(reg); lui B, hash; addiw (addi) B, B, hash; beq A, B, over it. */
static bool is_kcfi_riscv(const struct trace_space *space, uint64_t pc)
{
    enum { BEFORE = 16, RD = 7, RS1 = 15, RS2 = 20, REGISTER = 31 };
    uint8_t b[BEFORE];
    uint32_t lw, lui, add, beq;

    if (pc < BEFORE || !space_read(space, pc - BEFORE, b, BEFORE))
        return false;
    lw = (uint32_t)load_number(b, 4, false);
    lui = (uint32_t)load_number(b + 4, 4, false);
    add = (uint32_t)load_number(b + 8, 4, false);
    beq = (uint32_t)load_number(b + 12, 4, false);
    return (lw & 0x8000707f) == 0x80002003 && (lui & 0x7f) == 0x37 && (add & 0x7077) == 0x13 &&
           (beq & 0x707f) == 0x63 && (beq >> RS1 & REGISTER) == (lw >> RD & REGISTER) &&
           (beq >> RS2 & REGISTER) == (add >> RD & REGISTER) && (add >> RD & REGISTER) == (lui >> RD & REGISTER);
}

static bool is_kcfi(const struct trace_space *space, uint64_t pc)
{
    return space->abi == SFU_AMD64 ? is_kcfi_x86_64(space, pc)
                                   : abi_is_riscv(space->abi) && is_kcfi_riscv(space, pc);
}

/* s390x: a jump into itself, on one condition or on all, whose last two bytes are no instruction: PC is at them, or
 * behind them, where the CPU says that it has tried them. Or gcc's compare and trap. CODE: HAVE bytes at PC. */
static const char *s390x_reason(const struct trace_space *space, uint64_t pc, const uint8_t *code, size_t have)
{
    uint8_t b[4];

    if (have >= 2 && code[0] == 0 && code[1] == 1 && pc >= 2 && space_read(space, pc - 2, b, 2) && b[0] == 0xa7 &&
        (b[1] & 15) == 4)
        return "j .+2: " BUILTIN;
    if (have >= 4 && code[0] == 0xb9 && ((code[1] & 0xfe) == 0x60 || (code[1] & 0xfe) == 0x72))
        return "compare and trap: " BUILTIN;
    if (have >= 6 && code[0] == 0xec && (code[5] & 0xfc) == 0x70)
        return "compare and trap: " BUILTIN;
    if (pc >= 4 && space_read(space, pc - 4, b, 4) && load_number(b, 4, true) == 0xa7f40001)
        return "an instruction that only traps stands before the PC: " BUILTIN;
    return NULL;
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
    if (space->abi == SFU_S390X)
        return s390x_reason(space, pc, code, have);
    check = check_of(space->abi, code, have);
    if (check >= 0)
        return check < NUM_CHECKS ? checks[check] : "a check of the compiler has failed";
    for (i = 0; i < sizeof traps / sizeof traps[0]; i++)
        if (traps[i].abi == family_of(space->abi) && traps[i].size <= have &&
            (load_number(code, traps[i].size, false) & traps[i].mask) == traps[i].value)
            return !is_kcfi(space, pc) ? traps[i].text : space->abi == SFU_AMD64 ? "ud2: " KCFI : "ebreak: " KCFI;
    return NULL;
}

/* Functions that compilers call where a check has failed. A name that ends with "*" is the beginning of names; one that
 * begins with "*", too, is a part of names, because Rust's are mangled. */
static const struct {
    const char *name, *text;
} failures[] = {
    {"__stack_chk_fail*",
     "the stack protector: the function that calls this one has written past the end of an array: "
     "frames below it may be wrong"},
    {"__fortify_fail*", "FORTIFY: more bytes than the buffer has"},
    {"__fortify_panic", "FORTIFY: more bytes than the buffer has"},
    {"fortify_panic", "FORTIFY: more bytes than the buffer has"},
    {"__chk_fail", "FORTIFY: more bytes than the buffer has"},
    {"__ubsan_handle_add_overflow*", "an addition that overflows"},
    {"__ubsan_handle_sub_overflow*", "a subtraction that overflows"},
    {"__ubsan_handle_mul_overflow*", "a multiplication that overflows"},
    {"__ubsan_handle_negate_overflow*", "a negation that overflows"},
    {"__ubsan_handle_divrem_overflow*", "a division by 0, or one that overflows"},
    {"__ubsan_handle_shift_out_of_bounds*", "a shift by too much, or of too much"},
    {"__ubsan_handle_out_of_bounds*", "an index out of bounds"},
    {"__ubsan_handle_pointer_overflow*", "a pointer that overflows"},
    {"__ubsan_handle_type_mismatch*", "a pointer that is null, misaligned, or of too small an object"},
    {"__ubsan_handle_alignment_assumption*", "an assumed alignment that is none"},
    {"__ubsan_handle_vla_bound_not_positive*", "an array whose length is not positive"},
    {"__ubsan_handle_load_invalid_value*", "a value that the type cannot have"},
    {"__ubsan_handle_builtin_unreachable*", "__builtin_unreachable() has been reached"},
    {"__ubsan_handle_missing_return*", "the end of a function that must return a value"},
    {"__ubsan_handle_nonnull*", "a null argument where none may be"},
    {"__ubsan_handle_nullability*", "a null pointer where none may be"},
    {"__ubsan_handle_invalid_builtin*", "an argument that a builtin function must not have"},
    {"__ubsan_handle_float_cast_overflow*", "a conversion from floating point that does not fit"},
    {"__ubsan_handle_implicit_conversion*", "an implicit conversion that changes the value"},
    {"__ubsan_handle_function_type_mismatch*", "a call of a function of another type"},
    {"__ubsan_handle_cfi_*", "a check of control flow integrity has failed"},
    {"__fortify_fatal", "FORTIFY: more bytes than the buffer has"},
    {"*panic_const_add_overflow*", "an addition that overflows"},
    {"*panic_const_sub_overflow*", "a subtraction that overflows"},
    {"*panic_const_mul_overflow*", "a multiplication that overflows"},
    {"*panic_const_neg_overflow*", "a negation that overflows"},
    {"*panic_const_shl_overflow*", "a shift by too much, or of too much"},
    {"*panic_const_shr_overflow*", "a shift by too much, or of too much"},
    {"*panic_const_div_*", "a division by 0, or one that overflows"},
    {"*panic_const_rem_*", "a division by 0, or one that overflows"},
    {"*panic_bounds_check*", "an index out of bounds"},
    {"*slice_index_fail*", "a slice with bounds that are out of order, or outside of it"},
    {"*slice_index_order_fail*", "a slice with bounds that are out of order, or outside of it"},
    {"*slice_start_index_len_fail*", "a slice with bounds that are out of order, or outside of it"},
    {"*slice_end_index_len_fail*", "a slice with bounds that are out of order, or outside of it"},
    {"*6option13unwrap_failed*", "unwrap() of None"},
    {"*option::unwrap_failed*", "unwrap() of None"},
    {"*6result13unwrap_failed*", "unwrap() of an error"},
    {"*result::unwrap_failed*", "unwrap() of an error"},
    {"*panic_misaligned_pointer_dereference*", "a pointer that is misaligned"},
    {"*panic_null_pointer_dereference*", "a pointer that is null"},
    {"*panic_cannot_unwind*", "a panic in a function that must not unwind"},
};

/* Whether the SIZE characters at PART are somewhere in TEXT. */
static bool has_part(const char *text, const char *part, size_t size)
{
    for (; *text != '\0'; text++)
        if (strncmp(text, part, size) == 0)
            return true;
    return false;
}

static bool is_failure(const char *function, const char *name)
{
    const size_t size = strcspn(name, "*");

    if (*name == '*')
        return has_part(function, name + 1, strcspn(name + 1, "*"));
    return strncmp(function, name, size) == 0 && (name[size] == '*' || function[size] == '\0');
}

const char *failure_reason(const char *function)
{
    size_t i;

    for (i = 0; function != NULL && i < sizeof failures / sizeof failures[0]; i++)
        if (is_failure(function, failures[i].name))
            return failures[i].text;
    return NULL;
}

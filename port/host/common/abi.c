/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "abi.h"
#include "sfu.h"

#include <elf.h>

/* Newer than some of libc's headers. */
#ifndef R_RISCV_32_PCREL
#define R_RISCV_32_PCREL 57
#endif

/* ---- Orders of registers --------------------------------------------------------------------------------------- */

#define NONE_8 -1, -1, -1, -1, -1, -1, -1, -1

/* struct pr_reg: r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp. GDB: rax rbx
 * rcx rdx rsi rdi rbp rsp, r8 to r15, rip. */
static const int8_t amd64_status[NUM_REGISTERS] = {10, 12, 11, 5, 13, 14, 4,      19,     9, 8,
                                                   7,  6,  3,  2, 1,  0,  NONE_8, NONE_8, 16};
static const int8_t amd64_gdb[NUM_REGISTERS] = {0,  3,  2,  1,  4,  5,  6,      7,      8, 9,
                                                10, 11, 12, 13, 14, 15, NONE_8, NONE_8, 16};

/* x0 to x30, SP, PC; of RISC-V in GDB's order x0 to x31, PC. */
static const int8_t in_order[NUM_REGISTERS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                               17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

/* PSW mask, PSW address, r0 to r15; GDB's packet begins in the same way. */
static const int8_t s390x_order[NUM_REGISTERS] = {2,  3,  4,  5,  6,  7,  8,      9,      10, 11,
                                                  12, 13, 14, 15, 16, 17, NONE_8, NONE_8, 1};

/* PC, x1 to x31: x0, which is always 0, has no place. */
static const int8_t riscv_status[NUM_REGISTERS] = {-1, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                   11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                   22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0};

/* r0 to r15; GDB's packet begins in the same way. */
static const int8_t arm_order[NUM_REGISTERS] = {0,  1,  2,  3,  4,  5,  6,      7,      8, 9,
                                                10, 11, 12, 13, 14, -1, NONE_8, NONE_8, 15};

/* struct pr_reg: ebx ecx edx esi edi ebp eax ds es fs gs orig_eax eip cs eflags esp ss. GDB's packet is in the order of
 * the DWARF numbers, then eip. */
static const int8_t i386_status[NUM_REGISTERS] = {6, 1, 2, 0, 15, 5, 3, 4, NONE_8, NONE_8, NONE_8, 12};
static const int8_t i386_gdb[NUM_REGISTERS] = {0, 1, 2, 3, 4, 5, 6, 7, NONE_8, NONE_8, NONE_8, 8};

/* ---- Relocations ----------------------------------------------------------------------------------------------- */

static const struct relocation amd64_relocations[] = {{R_X86_64_PC32, 4, RELOCATION_RELATIVE},
                                                      {R_X86_64_PC64, 8, RELOCATION_RELATIVE},
                                                      {R_X86_64_64, 8, RELOCATION_SET},
                                                      {0, 0, RELOCATION_SET}};
static const struct relocation s390x_relocations[] = {{R_390_PC32, 4, RELOCATION_RELATIVE},
                                                      {R_390_PC64, 8, RELOCATION_RELATIVE},
                                                      {R_390_64, 8, RELOCATION_SET},
                                                      {0, 0, RELOCATION_SET}};
static const struct relocation aarch64_relocations[] = {{R_AARCH64_PREL32, 4, RELOCATION_RELATIVE},
                                                        {R_AARCH64_PREL64, 8, RELOCATION_RELATIVE},
                                                        {R_AARCH64_ABS64, 8, RELOCATION_SET},
                                                        {0, 0, RELOCATION_SET}};
/* Code shrinks when it is linked, so distances in it are differences of two symbols. */
static const struct relocation riscv_relocations[] = {{R_RISCV_32_PCREL, 4, RELOCATION_RELATIVE},
                                                      {R_RISCV_32, 4, RELOCATION_SET},
                                                      {R_RISCV_64, 8, RELOCATION_SET},
                                                      {R_RISCV_SET6, 1, RELOCATION_SET_6},
                                                      {R_RISCV_SUB6, 1, RELOCATION_SUB_6},
                                                      {R_RISCV_SET8, 1, RELOCATION_SET},
                                                      {R_RISCV_SET16, 2, RELOCATION_SET},
                                                      {R_RISCV_SET32, 4, RELOCATION_SET},
                                                      {R_RISCV_ADD8, 1, RELOCATION_ADD},
                                                      {R_RISCV_ADD16, 2, RELOCATION_ADD},
                                                      {R_RISCV_ADD32, 4, RELOCATION_ADD},
                                                      {R_RISCV_ADD64, 8, RELOCATION_ADD},
                                                      {R_RISCV_SUB8, 1, RELOCATION_SUB},
                                                      {R_RISCV_SUB16, 2, RELOCATION_SUB},
                                                      {R_RISCV_SUB32, 4, RELOCATION_SUB},
                                                      {R_RISCV_SUB64, 8, RELOCATION_SUB},
                                                      {0, 0, RELOCATION_SET}};
static const struct relocation arm_relocations[] = {
    {R_ARM_REL32, 4, RELOCATION_RELATIVE}, {R_ARM_ABS32, 4, RELOCATION_SET}, {0, 0, RELOCATION_SET}};
/* What is added stands in the place itself. */
static const struct relocation i386_relocations[] = {
    {R_386_PC32, 4, RELOCATION_RELATIVE}, {R_386_32, 4, RELOCATION_SET}, {0, 0, RELOCATION_SET}};

/* ---- The ABIs -------------------------------------------------------------------------------------------------- */

static const struct registers all[] = {
    {.abi = SFU_AMD64,
     .name = "x86_64",
     .machine = EM_X86_64,
     .word = 8,
     .sp = 7,
     .fp = 6,
     .ra = 16,
     .pc = 16,
     .code_unit = 1,
     .red_zone = 128,
     .status_words = 27,
     .status = amd64_status,
     .gdb = amd64_gdb,
     .page_root = "CR3",
     .relocations = amd64_relocations},
    {.abi = SFU_AARCH64,
     .name = "aarch64",
     .machine = EM_AARCH64,
     .word = 8,
     .sp = 31,
     .fp = 29,
     .ra = 30,
     .pc = 32,
     .link = true,
     .code_unit = 4,
     .status_words = 34,
     .status = in_order,
     .gdb = in_order,
     .page_root = "TTBR1_EL1",
     .relocations = aarch64_relocations},
    {.abi = SFU_AARCH64_BIG,
     .name = "aarch64_be",
     .machine = EM_AARCH64,
     .word = 8,
     .big = true,
     .sp = 31,
     .fp = 29,
     .ra = 30,
     .pc = 32,
     .link = true,
     .code_unit = 4,
     .status_words = 34,
     .status = in_order,
     .gdb = in_order,
     .page_root = "TTBR1_EL1",
     .relocations = aarch64_relocations},
    {.abi = SFU_S390X,
     .name = "s390x",
     .machine = EM_S390,
     .word = 8,
     .big = true,
     .sp = 15,
     .fp = 11,
     .ra = 14,
     .pc = 65,
     .sp_below_cfa = 160,
     .link = true,
     .code_unit = 2,
     .status_words = 27,
     .status = s390x_order,
     .gdb = s390x_order,
     .page_root = "an ASCE",
     .relocations = s390x_relocations},
    {.abi = SFU_RISCV64,
     .name = "riscv64",
     .machine = EM_RISCV,
     .word = 8,
     .sp = 2,
     .fp = 8,
     .ra = 1,
     .pc = NO_REGISTER,
     .link = true,
     .code_unit = 2,
     .status_words = 32,
     .status = riscv_status,
     .gdb = in_order,
     .page_root = "satp, its PPN times 4096",
     .relocations = riscv_relocations},
    {.abi = SFU_RISCV32,
     .name = "riscv32",
     .machine = EM_RISCV,
     .word = 4,
     .sp = 2,
     .fp = 8,
     .ra = 1,
     .pc = NO_REGISTER,
     .link = true,
     .code_unit = 2,
     .status_words = 32,
     .status = riscv_status,
     .gdb = in_order,
     .page_root = "satp, its PPN times 4096",
     .relocations = riscv_relocations},
    {.abi = SFU_ARM,
     .name = "arm",
     .machine = EM_ARM,
     .word = 4,
     .sp = 13,
     .fp = 11,
     .ra = 14,
     .pc = 15,
     .link = true,
     .code_unit = 2,
     .status_words = 18,
     .status = arm_order,
     .gdb = arm_order,
     .page_root = "TTBR0",
     .relocations = arm_relocations},
    {.abi = SFU_THUMB,
     .name = "thumb",
     .machine = EM_ARM,
     .word = 4,
     .sp = 13,
     .fp = 7,
     .ra = 14,
     .pc = 15,
     .link = true,
     .code_unit = 2,
     .status_words = 18,
     .status = arm_order,
     .gdb = arm_order,
     .page_root = "TTBR0",
     .relocations = arm_relocations},
    {.abi = SFU_I386,
     .name = "i386",
     .machine = EM_386,
     .word = 4,
     .sp = 4,
     .fp = 5,
     .ra = 8,
     .pc = 8,
     .code_unit = 1,
     .status_words = 17,
     .status = i386_status,
     .gdb = i386_gdb,
     .page_root = "CR3",
     .relocations = i386_relocations},
};

const struct registers *abi_registers(uint8_t abi)
{
    size_t i;

    for (i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].abi == abi)
            return &all[i];
    return NULL;
}

const struct registers *abi_of_machine(uint16_t machine, bool big, unsigned word)
{
    size_t i;

    for (i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].machine == machine && all[i].big == big && all[i].word == word)
            return &all[i];
    return NULL;
}

bool abi_is_big(uint8_t abi)
{
    const struct registers *r = abi_registers(abi);

    return r != NULL && r->big;
}

const char *abi_name(uint8_t abi)
{
    const struct registers *r = abi_registers(abi);

    return r != NULL ? r->name : "nothing";
}

uint16_t abi_tables_magic(uint8_t abi)
{
    return abi_is_own(abi) ? 0x5f75 : 0xdee2;
}

bool abi_is_own(uint8_t abi)
{
    return abi >= SFU_RISCV64;
}

bool abi_is_riscv(uint8_t abi)
{
    return abi == SFU_RISCV64 || abi == SFU_RISCV32;
}

bool abi_is_arm(uint8_t abi)
{
    return abi == SFU_ARM || abi == SFU_THUMB;
}

bool abi_fits(uint8_t abi, uint8_t other)
{
    return abi == other || (abi_is_arm(abi) && abi_is_arm(other));
}

bool abi_is_aarch64(uint8_t abi)
{
    return abi == SFU_AARCH64 || abi == SFU_AARCH64_BIG;
}

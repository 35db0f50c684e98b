/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What the tools know of each ABI: the one table of it. What only one tool asks for stands in that tool, by
 * enum sfu_abi.
 */
#ifndef SFU_HOST_ABI_H
#define SFU_HOST_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    REGISTER_PC = 32, /* of a thread, beside the registers with DWARF numbers from 0 to 31 */
    NUM_REGISTERS,
    NO_REGISTER = 0xffff /* no register has this DWARF number */
};

/* A relocation that tables have. */
struct relocation {
    uint16_t type;
    uint8_t size; /* bytes that it changes; 0: the end of the list */
    /* What it writes: the address of its symbol, that less its own address, or what is there already plus or less the
     * address. _6: in the lower six bits of the byte. */
    enum {
        RELOCATION_SET,
        RELOCATION_RELATIVE,
        RELOCATION_ADD,
        RELOCATION_SUB,
        RELOCATION_SET_6,
        RELOCATION_SUB_6
    } how;
};

/* An ABI's facts. Registers have their DWARF numbers. */
struct registers {
    uint8_t abi; /* enum sfu_abi */
    const char *name;
    uint16_t machine; /* ELF's */
    uint8_t word;     /* bytes of an address and of a saved register: 8, or 4 in ELF files of 32 bits */
    bool big;
    uint32_t sp, fp;
    uint32_t ra; /* the column of the return address: a register, except on amd64 */
    uint32_t pc; /* as expressions name it, or NO_REGISTER */
    uint32_t sp_below_cfa;
    bool link;             /* a call leaves the return address in a register */
    uint8_t code_unit;     /* the size of each instruction, and its address, is a multiple of this */
    uint8_t red_zone;      /* bytes below SP that programs of user mode use */
    uint8_t status_words;  /* of registers in a core's note NT_PRSTATUS */
    const int8_t *status;  /* where such a note has the registers 0 to REGISTER_PC, in words; -1: nowhere */
    const int8_t *gdb;     /* the same for the g packet of GDB's protocol */
    const char *page_root; /* the register that says where the page tables are */
    const struct relocation *relocations;
};

/* The facts of ABI, or NULL if there is no such ABI. */
const struct registers *abi_registers(uint8_t abi);

/* Those of ELF files for MACHINE, or NULL. */
const struct registers *abi_of_machine(uint16_t machine, bool big, unsigned word);

/* The number that tables of ABI begin with, in their byte order. */
uint16_t abi_tables_magic(uint8_t abi);

bool abi_is_big(uint8_t abi);
const char *abi_name(uint8_t abi);

/* Whether SFrame's specification does not have it: its tables have sfu's own magic number, and are in no section named
 * .sframe. */
bool abi_is_own(uint8_t abi);

/* Whether it is RISC-V's, of 64 or 32 bits; 32-bit ARM's; AArch64's, of either byte order. */
bool abi_is_riscv(uint8_t abi);
bool abi_is_arm(uint8_t abi);
bool abi_is_aarch64(uint8_t abi);

/* Whether the registers of ABI are those of OTHER. ARM has two ABIs, which differ in what is the FP. */
bool abi_fits(uint8_t abi, uint8_t other);

#endif

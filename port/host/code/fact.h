/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What an instruction does to registers, to memory and to the PC: a struct code_fact. A decoder makes it of bytes. */
#ifndef SFU_HOST_CODE_FACT_H
#define SFU_HOST_CODE_FACT_H

#include "modes.h"

/* Registers have their DWARF numbers; x86_64's RA has its column, 16. s390x: 16 to 31 are the halves of floating-point
 * registers, in which leaf functions save others. CODE_PC: where the CPU keeps the interrupted PC (aarch64: ELR_EL1;
 * RISC-V: sepc, mepc). CODE_OTHER_SP: where it keeps the SP of what was interrupted, if that is another one (aarch64:
 * SP_EL0), or another SP for the interrupt (RISC-V: sscratch, mscratch). x86_64: CODE_PC is never known, and
 * CODE_OTHER_SP is where GS begins. ARM: CODE_PC has what rfe loads, and CODE_OTHER_SP is the SP of the mode that was
 * interrupted, until the entry changes to that. CODE_ZERO: is always 0 (an absolute address).
 * CODE_TARGET: where a jump to what a register or memory has goes. CODE_STATUS, of ARM: SPSR; of x86: the direction
 * flag, as the number 1 or, where it is set, -1. CODE_NOW, of ARM: the bits of CPSR, or of the M profile's
 * CONTROL, that say which SP is in use. */
enum {
    CODE_REAL = 32,
    CODE_PC = 32,
    CODE_OTHER_SP,
    CODE_ZERO,
    CODE_TARGET,
    CODE_STATUS,
    CODE_NOW,
    CODE_REGISTERS,
    CODE_NONE = 255
};

/* Modes of ARM: that of programs, and those that exceptions are handled in. */
enum { CODE_MODE_USR = 0x10, CODE_MODE_SVC = 0x13, CODE_MODE_SYS = 0x1f };

/* Those bits of CPSR, and of CONTROL. */
enum { CODE_MODE_BITS = 31, CODE_SPSEL = 2 };

/* K of CODE_FORGET. */
enum { CODE_BANKED = 2 };

/* FROM of CODE_SHIFT: to the left; of ARM: to the right, in 32 bits, with zeros, with its sign, or around. */
enum { CODE_LEFT, CODE_RIGHT, CODE_RIGHT_SIGNED, CODE_AROUND };

/* FROM of CODE_BITS. */
enum { CODE_AND, CODE_OR, CODE_XOR, CODE_BIC };

/* What an instruction does, in this order. REG and LAST are registers, BASE, too; all numbers are signed. */
enum code_do {
    CODE_SET,    /* REG = BASE + K */
    CODE_NUMBER, /* REG = K */
    CODE_TABLE, /* REG = an entry, CODE_ENTRY_... in LAST, of the table at BASE + K; or at a register + K, which is in
                    the lowest byte of FROM. That is CODE_NONE: if BASE is a table and an index. The next byte of FROM
                    is the register that has the number of the entry; CODE_NONE: the other one has its distance */
    CODE_SCALED, /* REG = BASE + the entry in LAST, extended and shifted as FROM, CODE_ENTRY_..., says */
    CODE_SUM,    /* REG = BASE + sign * LAST, where sign is K */
    CODE_ONES,   /* REG = all ones, or 0 */
    CODE_MASK,   /* REG = BASE and LAST, a bit each */
    CODE_LOAD,   /* REG to LAST = the words at BASE + K and behind it, or an entry of a table, as above */
    CODE_STORE,  /* the words at BASE + K and behind it = REG to LAST */
    CODE_LOADS,  /* as CODE_LOAD, for the registers of FROM, a bit each; ARM's PC is CODE_TARGET */
    CODE_STORES, /* as CODE_STORE, for the registers of FROM */
    CODE_WRITE,  /* FROM bytes at BASE + K may be written, as often as LAST says, if it is a number, one behind the
                    other or, of x86, as CODE_STATUS says; REG: they get another value */
    CODE_STRIDE, /* x86: REG moves by K bytes, as often as LAST says, or, CODE_NONE, once, as CODE_STATUS says */
    CODE_COPY,   /* LAST + 1 bytes at BASE + K = those at REG + FROM, the first one first */
    CODE_FORGET, /* REG to LAST become unknown: they may be written, or, if K is not 0, they are; CODE_BANKED: by what
                  * another stack has, whatever they were */
    CODE_ALIGN,   /* REG is rounded down to a multiple that is not known, or moved by a number that is not; K, if it
                    is not 0: REG = REG and K */
    CODE_BITS,    /* ARM: REG = BASE and, or, xor, without (FROM) LAST or, CODE_NONE, K */
    CODE_SIGN,    /* REG is signed */
    CODE_AUTH,    /* REG is freed of its signature */
    CODE_INSERT,  /* REG, of which LAST is the shift: its 16 bits from there on = K */
    CODE_WORD,    /* REG = its lowest 32 bits, with their sign */
    CODE_SHIFT,   /* REG, a number, is shifted to the left by K, or as FROM says */
    CODE_INDEX,   /* REG = BASE and K, to the left by LAST and to the right by FROM: only its bound is known */
    CODE_FETCH,   /* REG = LAST bytes at BASE times FROM, 0 for 1, + K: only that they stand there, too, is known */
    CODE_BOUND,   /* REG is compared with LAST or, CODE_NONE, with K: FROM bits of it or, 0, all */
    CODE_MODE,    /* ARM: the mode becomes REG or, CODE_NONE, what BASE says: SP and LR are those of that mode */
    CODE_CONTROL, /* ARM's M profile: CONTROL = BASE; K: the image has a process stack */
    CODE_SAVE /* ARM: the words at K, from the SP of mode REG, and behind it = LR and SPSR; that SP moves by FROM */
};

/* An entry of a table of jumps: its size, 1, 2, 4 or 8 bytes; with a sign; by how many bits it is shifted. COMPLETE: an
 * address has been added to it. */
enum {
    CODE_ENTRY_SIZE = 15,
    CODE_ENTRY_SIGNED = 16,
    CODE_ENTRY_SHIFT = 32, /* times 0 to 3 */
    CODE_ENTRY_COMPLETE = 128
};

struct code_op {
    uint8_t what, reg, last, base;
    int32_t from;
    int64_t k;
};

/* Where the PC goes. */
enum code_flow {
    CODE_NEXT,
    CODE_JUMP,   /* to TARGET */
    CODE_BRANCH, /* to TARGET or the next instruction */
    CODE_CALL,   /* TARGET, or not known where TARGET is 0 */
    CODE_RETURN, /* to the caller */
    CODE_AWAY,   /* to an address in a register or in memory */
    CODE_RESUME, /* returns from an interrupt */
    CODE_STOP    /* nowhere */
};

/* A branch by numbers without a sign: where the first one is not higher than the second one, or LESS, is the way to
 * TARGET, or THERE is not set, the next instruction. */
enum { CODE_CHECKS = 1, CODE_CHECKS_LESS = 2, CODE_CHECKS_THERE = 4 };

enum { CODE_OPS = 6 };

struct code_fact {
    uint64_t target;
    int64_t word;      /* BY_WORD: where that is, from WORD_BASE, a register */
    uint64_t executes; /* s390x: where the instruction stands that this one executes, or 0: no way leads there */
    uint16_t pops;     /* CODE_RETURN: bytes that it takes off the stack behind the return address */
    uint8_t size;      /* of the instruction; 0: it is not known, and nothing can be said behind it */
    uint8_t num;
    uint8_t flow;
    uint8_t condition; /* 0, or the instruction does nothing unless this holds, and CONDITION - 1 is even or odd for
                          one and its opposite (ARM) */
    bool flags;        /* conditions may be others behind it */
    bool compares;     /* what was compared before decides nothing behind it */
    uint8_t checks;    /* CODE_BRANCH: what it says of what was compared, as CODE_CHECKS_... */
    uint8_t link;      /* CODE_CALL: the register that gets where it returns to, if that is not RA: of a piece;
                          CODE_RESUME: the one that has where it goes on (x86_64, sysretq), or 0: the CPU knows */
    uint8_t mode;      /* RISC-V: whose CODE_PC or CODE_OTHER_SP it names: 1, S; 3, M; CODE_NONE, another one; 0: it
                          names none */
    uint8_t word_base;
    bool by_word;     /* x86: it calls, or jumps to, what a word in memory has */
    bool by_register; /* TARGET is where it goes only if CODE_TARGET says so, too */
    bool may_leave;   /* s390x: it may go, or return, to where a register or a word says, which is not followed */
    bool
        odd; /* CODE_RETURN: with another SP than the caller had; else: at the end of a unit nothing comes behind it */
    struct code_op op[CODE_OPS]; /* NUM of them */
};

/* The code of a unit. */
struct code_text {
    const uint8_t *bytes;
    uint64_t start, end;
};

/* A CPU, as analysis needs it. */
struct code_cpu {
    uint64_t changed; /* registers that a callee may change, a bit each */
    /* Those of CHANGED that have nothing for a callee, so that no function stores them: without the static chain of
     * nested functions (r10; x15 or x18; r0; t2), but ARM has no other. 0: i386, where each may have an argument, and
     * ARM's M profile, where exceptions enter as calls do, and handlers are functions. */
    uint64_t idle;
    uint8_t sp, fp, ra;
    uint8_t shadow;      /* the register of a shadow call stack, or 0 */
    int32_t sp_at_entry; /* from the CFA */
    int32_t ra_at_entry; /* from the CFA, if LINK is false */
    bool link;           /* RA is in its register at entry */
    unsigned align;      /* of instructions */
    int32_t old_psw;     /* s390x: where the CPU stores PSWs of what it interrupts; or 0 */
    /* Reads the instruction at PC, which is in TEXT. */
    void (*decode)(void *decoder, const struct code_text *text, uint64_t pc, struct code_fact *fact);
    void *(*open)(struct image *image); /* makes DECODER, or is NULL */
    void (*close)(void *decoder);
    uint8_t word;      /* bytes of a register */
    uint8_t entry;     /* of the addresses in tables of jumps, in bytes: one size, or the sum of two */
    const char *no_pc; /* why an interrupt's entry has no row at its start, or NULL */
    uint8_t mode;      /* the bits of an address that are not a part of the PC */
    /* Where the data in code that ADDR is in ends, or 0; or NULL. */
    uint64_t (*data_end)(void *decoder, uint64_t addr);
    /* i386: how much the CPU pushes for an exception without a change of privilege. SP was the end of it, and it is not
     * among what was pushed. 0: it is. */
    int32_t pushed;
    /* In epilogues tables.c puts right the rows whose CFA the CFI gets wrong (epilogue_riscv.c). */
    bool mended_later;
    /* ARM: SP and LR are those of a mode of the CPU. Which mode was interrupted only the saved status says, and no row
     * can ask that: entries of exceptions have no rows, and sfu_start.c asks. */
    bool banked;
    /* Another register that points to a shadow call stack, if code moves it (state.c, names_shadow), or 0. */
    uint8_t new_shadow;
    /* x86: the regions that run in another mode than the image, *NUM of them: DECODE knows no instruction there. Or
     * NULL. */
    const struct code_region *(*regions)(const void *decoder, size_t *num);
};

/* Spreads addresses over 32 bits, of which any may be taken: their product with an odd number, modulo 2^64. */
static inline uint32_t code_hash(uint64_t addr)
{
    return (uint32_t)(addr * 0x9e3779b97f4a7c15u >> 32);
}

/* How facts are put together. Both are without effect once a fact is full; it is unknown then. */
void code_add(struct code_fact *fact, enum code_do what, uint8_t reg, uint8_t last, uint8_t base, int64_t k);
static inline void code_forget(struct code_fact *fact, uint8_t reg)
{
    code_add(fact, CODE_FORGET, reg, reg, 0, 0);
}

/* REG gets a value that is not known. */
static inline void code_replace(struct code_fact *fact, uint8_t reg)
{
    code_add(fact, CODE_FORGET, reg, reg, 0, 1);
}

/* REG = an entry of WIDTH of the table at BASE or OTHER, whichever is known, + K. INDEX has its number; CODE_NONE: the
 * register of BASE and OTHER that is not the table has its distance in bytes. */
void code_table(struct code_fact *fact, uint8_t reg, unsigned width, uint8_t base, uint8_t other, uint8_t index,
                int64_t k);
/* REG = BASE + the entry ENTRY of a table, extended and shifted as HOW, CODE_ENTRY_..., says. */
void code_scaled(struct code_fact *fact, uint8_t reg, uint8_t base, uint8_t entry, unsigned how);
/* BYTES at BASE + K become unknown. */
void code_write(struct code_fact *fact, uint8_t base, int64_t k, uint32_t bytes);
/* What was written last gets other bytes than were there. */
void code_replace_bytes(struct code_fact *fact);
/* BYTES at BASE + K, no more and no fewer, become what a register or the instruction has. */
void code_overwrite(struct code_fact *fact, uint8_t base, int64_t k, uint32_t bytes);
/* What was written last is the first of as many as the number in REG. */
void code_repeat(struct code_fact *fact, uint8_t reg);
/* BYTES, 1 to 256, at TO + K become those at FROM + OFFSET. */
void code_copy(struct code_fact *fact, uint8_t to, int64_t k, uint8_t from, int64_t offset, unsigned bytes);

extern const struct code_cpu code_x86_64, code_i386, code_aarch64, code_s390x, code_riscv64, code_riscv32,
    code_riscv64_zcmp, code_riscv32_zcmp, code_arm, code_thumb;

#endif

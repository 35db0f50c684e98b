/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The machine that runs the program: what each CPU's instructions do to the chain of calls (cpu.c), and how it is
 * stepped (rsp.c: by QEMU's GDB stub, or this machine's own CPU by ptrace).
 */
#ifndef STEP_MACHINE_H
#define STEP_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "test/lib/abi.h"
#include "test/lib/bytes.h"

/* General registers by DWARF number; on s390x 16 to 31 (floating point) are fetched when asked for. */
struct regs {
    uint64_t r[32];
    uint64_t pc;
};

/* What an instruction does to the chain of calls, if it is carried out. */
enum kind {
    PLAIN,    /* nothing, unless it changes SP: see shadow.h */
    CALL,     /* leaves a return address in the link register or on the stack, and branches */
    HELP,     /* RISC-V: the same with another link register, to what -msave-restore makes prologues of */
    INDIRECT, /* branches to an address from a register or from memory: a return, a tail call or a jump */
    SIGRETURN /* the system call that ends a signal */
};

struct cpu {
    struct abi abi;
    unsigned short red_zone; /* bytes below SP that a function may use */
    unsigned longest;        /* bytes in the longest instruction */
    unsigned gdb_usr1;       /* GDB's number of SIGUSR1 */
    /* Bytes of the instruction at INSN (longest bytes are there) in *LENGTH, 0 if not known. */
    enum kind (*decode)(const uint8_t *insn, const struct regs *regs, unsigned *length);
    /* DWARF number (32: pc) of each register in the order of GDB's 'g' packet, all of a word; -1: not needed. */
    const signed char *gdb_order;
    unsigned gdb_count;
    unsigned gdb_float;         /* s390x: GDB's number of f0 */
    unsigned char arguments[2]; /* registers of a function's first two */
    /* Where a signal frame keeps registers, from the SP that the signal's return sees. */
    unsigned saved_pc;
    unsigned (*saved)(unsigned reg); /* 0: not kept */
};

const struct cpu *cpu_by_abi(const char *abi);

enum event { STOPPED, EXITED, FAILED };

/* A program that is stopped before an instruction. */
struct machine {
    const struct cpu *cpu;
    struct regs regs;
    int exit_code;
    const struct backend *backend;
    int fd, pid;
    struct block *blocks; /* MAX_BLOCKS; those read before the last instruction and since */
    unsigned num_blocks;
    char path[108];    /* of the stub's socket */
    char reply[8192];  /* the stub's last answer, without frame */
    char input[16384]; /* what it has sent and nobody has looked at, from used to have */
    size_t have, used;
};

struct backend {
    /* Starts PROGRAM, which stops before its first instruction. */
    bool (*start)(struct machine *m, const char *emulator, const char *program);
    enum event (*step)(struct machine *m);
    /* Runs to the instruction at ADDR; SIGNAL: 0, or 1 (SIGUSR1), 2 (SIGUSR2), which is delivered first. */
    enum event (*run_to)(struct machine *m, uint64_t addr, int signal);
    bool (*read)(struct machine *m, uint64_t addr, void *buffer, size_t len);
    bool (*read_float)(struct machine *m, unsigned number, uint64_t *value);
    void (*stop)(struct machine *m);
};

extern const struct backend rsp_backend, native_backend;

/* Memory of the stopped program. What has been read stays known until the next instruction is carried out, and is
 * then read again: in one go with the step, if it was wanted before. */
enum { BLOCK = 256, MAX_BLOCKS = 512 };
struct block {
    uint64_t addr;
    bool valid;
    uint8_t bytes[BLOCK];
};
bool machine_read(struct machine *m, uint64_t addr, void *buffer, size_t len);
/* To be called by a back end when the program has run: keeps the addresses of the blocks that were valid, in
 * ascending order, not their contents. */
void machine_forget(struct machine *m);

#endif

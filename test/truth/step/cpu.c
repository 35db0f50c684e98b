/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * How calls and returns are recognised, per CPU, from the instruction that is carried out and nothing else.
 */
#include <stdlib.h>
#include <string.h>
#include "machine.h"

/* ---- x86_64 ----
 * call: E8 (relative), FF /2 (register or memory), after any prefixes (notrack, bnd, REX). Pushes the address.
 * indirect: C3 and C2 (ret), FF /4 (jmp through a register or memory: tail call, switch table, longjmp).
 * sigreturn: 0F 05 (syscall) with rax = 15.
 * The length is only told of what needs no ModRM byte: that of a call is known from the address it pushes. */
static bool is_x86_prefix(uint8_t byte, bool is_32)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x36 ||
           byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65 || ((byte & 0xf0) == 0x40 && !is_32);
}

static enum kind decode_either(const uint8_t *insn, const struct regs *regs, unsigned *length, bool is_32)
{
    unsigned n = 0;

    *length = 0;
    while (n < 13 && is_x86_prefix(insn[n], is_32))
        n++;
    if (insn[n] == 0xe8)
        return CALL;
    if (insn[n] == 0xff && (insn[n + 1] & 0x38) == 0x10)
        return CALL;
    if (insn[n] == 0xff && (insn[n + 1] & 0x38) == 0x20)
        return INDIRECT;
    if (insn[n] == 0xc3 || insn[n] == 0xc2)
        return INDIRECT;
    if (insn[n] == 0x0f && insn[n + 1] == 0x05 && !is_32) {
        *length = n + 2;
        return regs->r[0] == 15 ? SIGRETURN : PLAIN;
    }
    return PLAIN;
}

static enum kind decode_x86(const uint8_t *insn, const struct regs *regs, unsigned *length)
{
    return decode_either(insn, regs, length, false);
}

/* i386: 40 to 4F are no prefixes (REX), but inc and dec. Far calls are none that programs have. */
static enum kind decode_i386(const uint8_t *insn, const struct regs *regs, unsigned *length)
{
    return decode_either(insn, regs, length, true);
}

/* ---- aarch64, either byte order: instructions are little-endian ----
 * call: bl; blr, blraa, blrab, blraaz, blrabz. Leave the address in x30, not signed.
 * indirect: ret, retaa, retab; br, braa, brab, braaz, brabz.
 * sigreturn: svc #0 with x8 = 139. */
static enum kind decode_aarch64(const uint8_t *insn, const struct regs *regs, unsigned *length)
{
    uint32_t word = (uint32_t)bytes_get(insn, 4, false);

    *length = 4;
    if ((word & 0xfc000000) == 0x94000000 || (word & 0xfefff000) == 0xd63f0000)
        return CALL;
    if ((word & 0xfefff000) == 0xd61f0000 || (word & 0xfffff000) == 0xd65f0000)
        return INDIRECT;
    if (word == 0xd4000001 && regs->r[8] == 139)
        return SIGRETURN;
    return PLAIN;
}

/* ---- s390x ----
 * call: bras (A7 E5), brasl (C0 E5), basr (0D Ex, x not 0), bas (4D E0 to EF): those that link to r14. A link to
 * another register is a jump that fetches an address, as in literal pools.
 * indirect: bcr and br (07), bc (47), compare and branch to an address (EC..E4 E5 F6 F7, EC..FC to FF); exrl with r0,
 * which gcc's thunks have for that (C6 00).
 * sigreturn: svc 173, or svc 0 with r1 = 173. */
static bool is_s390x_indirect(const uint8_t *insn)
{
    if (insn[0] == 0x07 || insn[0] == 0x47 || (insn[0] == 0xc6 && insn[1] == 0x00))
        return true;
    return insn[0] == 0xec &&
           (insn[5] == 0xe4 || insn[5] == 0xe5 || insn[5] == 0xf6 || insn[5] == 0xf7 || insn[5] >= 0xfc);
}

static enum kind decode_s390x(const uint8_t *insn, const struct regs *regs, unsigned *length)
{
    *length = insn[0] < 0x40 ? 2 : insn[0] < 0xc0 ? 4 : 6;
    if ((insn[0] == 0xa7 || insn[0] == 0xc0) && insn[1] == 0xe5)
        return CALL;
    if (insn[0] == 0x0d && insn[1] > 0xe0 && insn[1] <= 0xef)
        return CALL;
    if (insn[0] == 0x4d && insn[1] >> 4 == 0xe)
        return CALL;
    if (is_s390x_indirect(insn))
        return INDIRECT;
    if (insn[0] == 0x0a && (insn[1] == 173 || (insn[1] == 0 && regs->r[1] == 173)))
        return SIGRETURN;
    return PLAIN;
}

/* ---- RISC-V ----
 * call: jal and jalr that link to x1, c.jalr, and c.jal, which RV32 alone has.
 * help: those that link to x5 (t0).
 * indirect: jalr that links nowhere, or to another register as in PLTs; c.jr.
 * sigreturn: ecall with a7 = 139. */
static enum kind decode_compressed(uint32_t half, bool is_32)
{
    bool has_register = (half & 0x0f80) != 0, jump = (half & 0x007f) == 0x0002 && has_register;

    if (is_32 && (half & 0xe003) == 0x2001)
        return CALL;
    if (jump && (half & 0xf000) == 0x9000)
        return CALL;
    return jump && (half & 0xf000) == 0x8000 ? INDIRECT : PLAIN;
}

static enum kind decode_riscv(const uint8_t *insn, const struct regs *regs, unsigned *length, bool is_32)
{
    uint32_t word = (uint32_t)bytes_get(insn, 4, false), opcode = word & 0x7f, rd = word >> 7 & 31;

    *length = (word & 3) == 3 ? 4 : 2;
    if (*length == 2)
        return decode_compressed(word & 0xffff, is_32);
    if ((opcode == 0x6f || opcode == 0x67) && (rd == 1 || rd == 5))
        return rd == 1 ? CALL : HELP;
    if (opcode == 0x67)
        return INDIRECT;
    return word == 0x73 && regs->r[17] == 139 ? SIGRETURN : PLAIN;
}

static enum kind decode_riscv64(const uint8_t *insn, const struct regs *regs, unsigned *length)
{
    return decode_riscv(insn, regs, length, false);
}

static enum kind decode_riscv32(const uint8_t *insn, const struct regs *regs, unsigned *length)
{
    return decode_riscv(insn, regs, length, true);
}

/* ---- ARM ----
 * Instructions are conditional: what is not carried out does nothing. CPSR is number CPSR of the registers.
 * call: bl, blx. Leave the address in r14; bit 0 says that the caller's code is Thumb.
 * indirect: bx; and whatever else writes the PC: pop, ldm, ldr, mov, add and so on. */
enum { CPSR = 16, CPSR_THUMB = 0x20, ALWAYS = 14 };

static bool is_passed(unsigned condition, uint64_t cpsr)
{
    const bool n = cpsr >> 31 & 1, z = cpsr >> 30 & 1, c = cpsr >> 29 & 1, v = cpsr >> 28 & 1;
    const bool holds[8] = {z, c, n, v, c && !z, n == v, !z && n == v, true};

    return condition >= ALWAYS || holds[condition >> 1] == ((condition & 1) == 0);
}

/* In an IT block the CPSR has the condition of the next instruction. */
static unsigned thumb_condition(uint64_t cpsr)
{
    const unsigned it = (unsigned)((cpsr >> 8 & 0xfc) | (cpsr >> 25 & 3));

    return it & 15 ? it >> 4 : ALWAYS;
}

static enum kind decode_thumb(const uint8_t *insn, const struct regs *regs, unsigned *length)
{
    const uint32_t half = (uint32_t)bytes_get(insn, 2, false), next = (uint32_t)bytes_get(insn + 2, 2, false);

    *length = half >> 11 >= 0x1d ? 4 : 2;
    if (!is_passed(thumb_condition(regs->r[CPSR]), regs->r[CPSR]))
        return PLAIN;
    if (*length == 2) {
        if ((half & 0xff87) == 0x4780)
            return CALL;
        return (half & 0xff87) == 0x4700 || (half & 0xff00) == 0xbd00 || (half & 0xfd87) == 0x4487 ? INDIRECT
                                                                                                   : PLAIN;
    }
    if ((half & 0xf800) == 0xf000 && ((next & 0xd000) == 0xd000 || (next & 0xd001) == 0xc000))
        return CALL;
    return ((half & 0xfe50) == 0xe810 && next >> 15) || ((half & 0xff70) == 0xf850 && next >> 12 == 15) ? INDIRECT
                                                                                                        : PLAIN;
}

static enum kind decode_arm(const uint8_t *insn, const struct regs *regs, unsigned *length)
{
    const uint32_t word = (uint32_t)bytes_get(insn, 4, false);

    if (regs->r[CPSR] & CPSR_THUMB)
        return decode_thumb(insn, regs, length);
    *length = 4;
    if (word >> 28 == 15)
        return (word & 0xfe000000) == 0xfa000000 ? CALL : PLAIN;
    if (!is_passed(word >> 28, regs->r[CPSR]))
        return PLAIN;
    if ((word & 0x0f000000) == 0x0b000000 || (word & 0x0ffffff0) == 0x012fff30)
        return CALL;
    return (word & 0x0ffffff0) == 0x012fff10 || (word & 0x0e108000) == 0x08108000 ||
                   (word & 0x0c10f000) == 0x0410f000 || ((word & 0x0c00f000) == 0xf000 && (word >> 23 & 3) != 2)
               ? INDIRECT
               : PLAIN;
}

/* ---- Registers, and the signal frames of Linux ---- */

static const signed char x86_order[] = {0, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 32};
static const signed char i386_order[] = {0, 1, 2, 3, 4, 5, 6, 7, 32};
/* RISC-V's: x0 to x31, pc. */
static const signed char aarch64_order[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                            17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
/* r0 to r15, CPSR. */
static const signed char arm_order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 32, CPSR};
static const signed char s390x_order[] = {-1, 32, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* The return has popped the restorer's address, so SP is at struct ucontext; gregs are at 40, r8 first. */
static unsigned saved_x86(unsigned reg)
{
    static const unsigned char at[] = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7};

    return reg < 16 ? 40 + 8u * at[reg] : 0;
}

/* siginfo (128), ucontext up to its aligned mcontext (176), fault address (8). */
static unsigned saved_aarch64(unsigned reg)
{
    return reg < 32 ? 312 + 8 * reg : 0;
}

/* Register save area (160), a word for the system call, siginfo (128), ucontext (40), PSW (16), GPRs, access
 * registers (64), control word (8), FPRs. */
static unsigned saved_s390x(unsigned reg)
{
    static const unsigned char floats[] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};

    if (reg < 16)
        return 352 + 8 * reg;
    return reg < 32 ? 352 + 128 + 64 + 8 + 8u * floats[reg - 16] : 0;
}

/* siginfo (128), ucontext up to its aligned mcontext (176, of 32 bits 160), PC; x0 has its place. */
static unsigned saved_riscv64(unsigned reg)
{
    return reg > 0 && reg < 32 ? 304 + 8 * reg : 0;
}

static unsigned saved_riscv32(unsigned reg)
{
    return reg > 0 && reg < 32 ? 288 + 4 * reg : 0;
}

/* The programs have no signals. */
static unsigned saved_nowhere(unsigned reg)
{
    (void)reg;
    return 0;
}

static const struct cpu cpus[] = {
    {{ABI_AMD64}, 128, 15, 30, decode_x86, x86_order, sizeof x86_order, 0, {5, 4}, 168, saved_x86},
    {{ABI_AARCH64}, 0, 4, 30, decode_aarch64, aarch64_order, sizeof aarch64_order, 0, {0, 1}, 568, saved_aarch64},
    {{ABI_AARCH64_BIG},
     0,
     4,
     30,
     decode_aarch64,
     aarch64_order,
     sizeof aarch64_order,
     0,
     {0, 1},
     568,
     saved_aarch64},
    {{ABI_S390X}, 0, 6, 30, decode_s390x, s390x_order, sizeof s390x_order, 35, {2, 3}, 344, saved_s390x},
    {{ABI_RISCV64}, 0, 4, 30, decode_riscv64, aarch64_order, sizeof aarch64_order, 0, {10, 11}, 304, saved_riscv64},
    {{ABI_RISCV32}, 0, 4, 30, decode_riscv32, aarch64_order, sizeof aarch64_order, 0, {10, 11}, 288, saved_riscv32},
    {{ABI_ARM}, 0, 4, 30, decode_arm, arm_order, sizeof arm_order, 0, {0, 1}, 0, saved_nowhere},
    {{ABI_THUMB}, 0, 4, 30, decode_arm, arm_order, sizeof arm_order, 0, {0, 1}, 0, saved_nowhere},
    {{ABI_I386}, 0, 15, 30, decode_i386, i386_order, sizeof i386_order, 0, {0, 2}, 0, saved_nowhere},
};

const struct cpu *cpu_by_abi(const char *abi)
{
    size_t i;

    for (i = 0; i < sizeof cpus / sizeof *cpus; i++)
        if (strcmp(cpus[i].abi.name, abi) == 0)
            return &cpus[i];
    return NULL;
}

/* ---- Memory ---- */

static struct block *find_block(struct machine *m, uint64_t addr)
{
    unsigned i;

    for (i = 0; i < m->num_blocks; i++)
        if (m->blocks[i].addr == addr)
            return &m->blocks[i];
    return NULL;
}

static struct block *get_block(struct machine *m, uint64_t addr)
{
    struct block *b = find_block(m, addr);

    if (b == NULL) {
        if (m->num_blocks == MAX_BLOCKS)
            m->num_blocks = 0;
        b = &m->blocks[m->num_blocks++];
        b->addr = addr;
        b->valid = false;
    }
    if (!b->valid && !m->backend->read(m, addr, b->bytes, BLOCK))
        return NULL;
    b->valid = true;
    return b;
}

bool machine_read(struct machine *m, uint64_t addr, void *buffer, size_t len)
{
    uint8_t *p = buffer;

    while (len > 0) {
        size_t at = (size_t)(addr % BLOCK), n = BLOCK - at < len ? BLOCK - at : len;
        struct block *b = get_block(m, addr - at);

        if (b == NULL)
            return false;
        memcpy(p, b->bytes + at, n);
        addr += n;
        p += n;
        len -= n;
    }
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct block *x = a, *y = b;

    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void machine_forget(struct machine *m)
{
    unsigned i, kept = 0;
    bool sorted = true;

    for (i = 0; i < m->num_blocks; i++) {
        if (!m->blocks[i].valid)
            continue;
        if (i != kept)
            m->blocks[kept].addr = m->blocks[i].addr;
        m->blocks[kept].valid = false;
        sorted = sorted && (kept == 0 || m->blocks[kept - 1].addr < m->blocks[kept].addr);
        kept++;
    }
    m->num_blocks = kept;
    if (!sorted)
        qsort(m->blocks, kept, sizeof *m->blocks, by_address);
}

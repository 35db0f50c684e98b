/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Puts .eh_frame of functions of a PE file: what unwind codes say, as DWARF says it. */
#ifndef SFU_HOST_PE_DWARF_H
#define SFU_HOST_PE_DWARF_H

#include "pe.h"

/* Registers by their numbers in DWARF. */
enum {
    X86_64_RBP = 6,
    X86_64_RSP = 7,
    X86_64_RA = 16,
    AARCH64_FP = 29,
    AARCH64_LR = 30,
    AARCH64_SP = 31,
    WORD = 8 /* bytes */
};

void put_advance(struct pe_bytes *out, uint64_t by);

/* The CFA is register REG plus OFFSET bytes, a multiple of WORD. */
void put_cfa(struct pe_bytes *out, unsigned reg, int64_t offset);

/* Register REG is saved BELOW bytes below the CFA, a multiple of WORD; above it if that is negative. */
void put_saved(struct pe_bytes *out, unsigned reg, int64_t below);

/* Register REG is what it is in the caller. */
void put_same(struct pe_bytes *out, unsigned reg);

/* A CIE, as a function is entered: addresses are absolute. SIGNAL: its functions are entered by interrupts. */
void put_cie(struct pe_bytes *out, bool x86_64, bool signal);

/* Puts the FDE of F, whose CIE is at offset CIE of OUT. Frees PROGRAM. */
void put_fde(const struct pe *pe, struct pe_bytes *out, size_t cie, const struct pe_function *f,
             struct pe_bytes *program);

#endif

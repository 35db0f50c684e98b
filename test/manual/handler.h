/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Where exception_entry of port/baremetal has saved what the recipes of a handler's call need. */
#include "machine.h"

#if defined(__x86_64__)
#define SAVED_PC (TRAP_RIP + 8) /* SP is aligned below the struct trap */
#define SAVED_SP (TRAP_RSP + 8)
#define SAVED_FP (TRAP_RBP + 8)
#elif defined(__aarch64__)
#define SAVED_PC TRAP_PC
#define SAVED_SP TRAP_SP
#define SAVED_FP TRAP_X29
#define SAVED_RA (TRAP_X29 + 8)
#elif defined(__riscv)
#define SAVED_PC TRAP_PC
#define SAVED_SP TRAP_SP
#define SAVED_FP TRAP_FP
#define SAVED_RA WORD
#else
#define SAVED_PC TRAP_PC
#ifdef __ASSEMBLER__
#define SAVED_SP TRAP_CFA
#else
#define SAVED_SP TRAP_R15
#endif
#define SAVED_FP TRAP_R11
#define SAVED_RA (TRAP_GPRS + 8 * 14)
#endif

#ifndef __ASSEMBLER__
extern const char handler_returned[];
#endif

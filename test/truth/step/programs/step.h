/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What start.S gives the stepped programs. */
#ifndef STEP_H
#define STEP_H

/* A program that is loaded anywhere has nobody who relocates its GOT. */
#pragma GCC visibility push(hidden)

/* How assembly is called, and calls, where the option of the program says another way. */
#ifndef STEP_ASSEMBLY
#define STEP_ASSEMBLY
#endif

int step_main(void);
#ifdef __i386__ /* the harness reads registers */
__attribute__((regparm(2)))
#endif
STEP_ASSEMBLY void
step_mark(long i, long n);
void step_ready(void);
STEP_ASSEMBLY long step_syscall(long n, ...);
void step_restorer(void);
void step_restorer_table(void);
void step_enter(int number);      /* RISC-V */
void step_tell(const char *text); /* shim.c: writes a line to standard error */
typedef STEP_ASSEMBLY long step_called(long);
STEP_ASSEMBLY long notable_call(step_called *f, long x);
STEP_ASSEMBLY long asm_frame(step_called *f, long x);
STEP_ASSEMBLY long asm_push(step_called *f, long x);
STEP_ASSEMBLY long asm_odd(step_called *f, long x);

#endif

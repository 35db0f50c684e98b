/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What start.S gives the stepped programs. */
#ifndef STEP_H
#define STEP_H

/* A program that is loaded anywhere has nobody who relocates its GOT. */
#pragma GCC visibility push(hidden)

int step_main(void);
#ifdef __i386__ /* the harness reads registers */
__attribute__((regparm(2)))
#endif
void step_mark(long i, long n);
void step_ready(void);
long step_syscall(long n, ...);
void step_restorer(void);
void step_restorer_table(void);
void step_enter(int number);      /* RISC-V */
void step_tell(const char *text); /* shim.c: writes a line to standard error */
long notable_call(long (*f)(long), long x);
long asm_frame(long (*f)(long), long x);
long asm_push(long (*f)(long), long x);
long asm_odd(long (*f)(long), long x);

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu in Linux user mode, without libc (but next to one as well): x86_64, aarch64 little and big, s390x; also
 * under qemu-user. Raw system calls only, nothing is allocated, errno is left alone, and everything here may be
 * called from a signal handler.
 *
 *     static struct sfu_linux self;
 *
 *     sfu_linux_init(&self, auxv);                      // once
 *     struct sfu_registers here = sfu_here(&self.cpu);  // anywhere
 *     sfu_walk_start(&walk, &self.target, &here);
 *
 * Files: sfu_linux.c and restorer.S; for names sfu_linux_symbols.c; start.c and start.S where there is no libc.
 */
#ifndef SFU_LINUX_H
#define SFU_LINUX_H

#include "arch/sfu_arch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* This program. cpu: all registers of the frame that the walks begin with, set by whoever begins one. */
struct sfu_linux {
    struct sfu_target target; /* complete after sfu_linux_init; set more of it, or add sections, if wanted */
    struct sfu_section section;
    struct sfu_cpu cpu;
    uint64_t slide; /* run-time minus link-time address of the program */
};

/* ---- Everything at once -------------------------------------------------------------------------------------- */

/* Fills in *SELF: the section of the running program, found by the program headers that AUXV (the auxiliary
 * vector, pairs of words that end in AT_NULL) names, and the callbacks below. Returns SFU_OK, SFU_E_EMPTY (no
 * PT_GNU_SFRAME) or what sfu_open returned; the callbacks are there in any case, and so is the red zone. */
int sfu_linux_init(struct sfu_linux *self, const uint64_t *auxv);

/* ---- The parts ----------------------------------------------------------------------------------------------- */

/* Finds the section of an image whose NUM program headers lie at PHDRS: segment PT_GNU_SFRAME. A stock linker
 * makes it and covers it by a loaded segment, no linker script needed. Returns like sfu_linux_init, and sets
 * *SLIDE in any case. With a linker script that says
 *     .sframe : { sframe_start = .; KEEP(*(.sframe .sframe.*)) sframe_end = .; }
 * sfu_open(&section, sframe_start, sframe_end - sframe_start, (uintptr_t)sframe_start) does the same. */
int sfu_linux_find(struct sfu_section *section, const void *phdrs, uint64_t num, uint64_t *slide);

/* A sfu_read_fn for this process that survives every address. It asks the kernel whether the words can be read
 * before it reads them, so that only another thread that unmaps them in between can make it fault. CTX is not
 * used. */
int sfu_linux_read(void *ctx, uint64_t addr, void *buffer, size_t len);

/* A sfu_reg_fn: CTX is a struct sfu_linux. Registers of the first frame: its cpu; of a frame that a signal
 * interrupted: those in the signal frame. */
int sfu_linux_reg(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value);

/* A sfu_trap_fn: knows a Linux signal frame by the instructions at its PC, which call sigreturn, wherever they
 * are: in a libc, in the vDSO, in qemu-user's page, on the stack, or below. CTX is not used. */
int sfu_linux_trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted);

/* In a signal handler that was given UCONTEXT (third argument, SA_SIGINFO): the registers of the frame that was
 * interrupted, all of them in *CPU. Begin a walk with them to leave the handler out. */
struct sfu_registers sfu_linux_interrupted(const void *ucontext, struct sfu_cpu *cpu);

/* ---- What a program without libc needs ----------------------------------------------------------------------- */

/* Writes LEN bytes to standard output. */
void sfu_linux_write(const char *bytes, size_t len);

/* The put callback of the panic printer. CTX is not used. */
void sfu_linux_put(void *ctx, char c);

/* Ends the process. */
__attribute__((noreturn)) void sfu_linux_exit(int status);

/* Lets HANDLER(signal, siginfo, ucontext) handle SIGNAL. FLAGS: SA_SIGINFO (4), SA_ONSTACK (0x08000000), SA_NODEFER
 * (0x40000000), SA_RESTORER, if RESTORER is not NULL (0x04000000), or 0. RESTORER NULL: the kernel's or, on x86_64,
 * our own. Returns 0 or -errno. */
int sfu_linux_sigaction(int signal, void (*handler)(int, void *, void *), uint64_t flags, void (*restorer)(void));

/* Signal handlers with SA_ONSTACK run on the SIZE bytes at STACK from now on. Returns 0 or -errno. */
int sfu_linux_sigaltstack(void *stack, size_t size);

/* The raw system call NUMBER. Returns what the kernel returned: -errno if it is in -4095 to -1. */
long sfu_linux_call(long number, long a, long b, long c, long d, long e, long f);

/* The symbol callback of the panic printer: names from the program's own file, /proc/self/exe, which is mapped the
 * first time. CTX is a struct sfu_linux. sfu_linux_symbols.c. */
const char *sfu_linux_symbol(void *ctx, uint64_t addr, uint64_t *offset);

/* What a program without libc defines: start.S and start.c come here, after they have relocated a static-pie, and
 * end the process with the status it returns. The last frame of each trace is _start's, the outermost. */
int sfu_linux_main(int argc, char **argv, const uint64_t *auxv);

/* restorer.S: a restorer whose signal frame is described by the table: a walk crosses it without the trap hook.
 * x86_64 and aarch64 only: on s390x the CFA, SP + 160, is in no word of a Linux signal frame. */
void sfu_linux_restorer_table(void);

#ifdef __cplusplus
}
#endif

#endif

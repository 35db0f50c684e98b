/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu in Linux user mode, without a libc or beside one: x86_64, aarch64 little and big, s390x, RISC-V of 64 bits and of
 * 32, 32-bit x86; also under qemu-user. It makes raw system calls only, allocates nothing and leaves errno alone. A
 * signal handler may call everything here.
 *
 *     static struct sfu_linux self;
 *
 *     sfu_linux_init(&self, auxv);                      // once
 *     struct sfu_registers here = sfu_here(&self.cpu);  // anywhere
 *     sfu_walk_start(&walk, &self.target, &here);
 *
 * Files: sfu_linux.c and restorer.S; for names sfu_linux_symbols.c; for a profile sfu_linux_timer.c; start.c and
 * start.S where there is no libc.
 */
#ifndef SFU_LINUX_H
#define SFU_LINUX_H

#include "arch/sfu_arch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* This program. cpu: all registers of the topmost frame. Whoever begins a walk sets them. */
struct sfu_linux {
    struct sfu_target target; /* complete after sfu_linux_init; set more of it, or add sections, if wanted */
    struct sfu_section section;
    struct sfu_cpu cpu;
    sfu_addr slide; /* run-time minus link-time address of the program */
};

/* ---- Everything at once -------------------------------------------------------------------------------------- */

/* Fills in *SELF: the section of the running program, the callbacks below, the red zone, and the whole address space as
 * its stack. AUXV, the auxiliary vector (pairs of words that end in AT_NULL), names the program headers, and these the
 * section. Returns SFU_OK, SFU_E_NO_SECTION (no PT_GNU_SFRAME) or what sfu_add returned. All else is set in any
 * case. */
int sfu_linux_init(struct sfu_linux *self, const uintptr_t *auxv);

/* ---- The parts ----------------------------------------------------------------------------------------------- */

/* Finds the section of an image whose NUM program headers lie at PHDRS: segment PT_GNU_SFRAME. A stock linker makes it,
 * and a loaded segment that covers it, without a linker script. Returns what sfu_linux_init returns, and sets *SLIDE in
 * any case. With a linker script that says
 *     .sframe : { sframe_start = .; KEEP(*(.sframe .sframe.*)) sframe_end = .; }
 * sfu_open(&section, sframe_start, (size_t)(sframe_end - sframe_start), (uintptr_t)sframe_start) does the same. */
int sfu_linux_find(struct sfu_section *section, const void *phdrs, uint64_t num, sfu_addr *slide);

/* A sfu_read_fn for this process, for any address. It asks the kernel first whether the words can be read. Only another
 * thread that unmaps them in between can make it fault. CTX is not used. */
int sfu_linux_read(void *ctx, sfu_addr addr, void *buffer, size_t len);

/* A sfu_reg_fn. CTX is a struct sfu_linux: its cpu has the registers of the topmost frame. Those of a frame that a
 * signal has interrupted are in the signal frame. */
int sfu_linux_reg(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value);

/* A sfu_trap_hook_fn. It knows a Linux signal frame by the instructions at its PC: they call sigreturn. They may be
 * anywhere: in a libc, in the vDSO, in qemu-user's page, on the stack, or below. It is sure only where the program
 * cannot have written them, as /proc/self/maps says: garbage on the stack could lead to bytes that look like them.
 * A handler without SA_SIGINFO cannot know the instruction of SIGILL, SIGFPE and SIGTRAP on s390x, nor int3 and the
 * like on 32-bit x86: a guess. CTX is not used. */
int sfu_linux_trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted);

/* In a signal handler with the third argument UCONTEXT (SA_SIGINFO), where it is: the registers of the interrupted
 * frame, and all of them in *CPU. A walk that begins with them leaves the handler out. Some faults leave the PC behind
 * their instruction, where another function may begin: SIGILL, SIGFPE and SIGTRAP of s390x, int3 of x86. The PC
 * here is in that instruction, and so it is in the trace of sfu_linux_trap. It is one to print and to unwind from, not
 * one to go on at. */
struct sfu_registers sfu_linux_interrupted(const void *ucontext, struct sfu_cpu *cpu);

/* ---- What a program without libc needs ----------------------------------------------------------------------- */

/* Writes LEN bytes to standard output. */
void sfu_linux_write(const char *bytes, size_t len);

/* The put callback of the panic printer. CTX is not used. */
void sfu_linux_put(void *ctx, char c);

/* Ends the process. */
__attribute__((noreturn)) void sfu_linux_exit(int status);

/* Lets HANDLER(signal, siginfo, ucontext) handle SIGNAL. FLAGS: SA_SIGINFO (4), SA_ONSTACK (0x08000000), SA_NODEFER
 * (0x40000000), SA_RESTART (0x10000000), SA_RESTORER, if RESTORER is not NULL (0x04000000), or 0. RESTORER NULL: the
 * kernel's or, on x86_64 and for SA_SIGINFO on 32-bit x86, our own, because without a vDSO there is no other
 * (FAULTS.md: qemu-i386-return). Returns 0 or -errno. */
int sfu_linux_sigaction(int signal, void (*handler)(int, void *, void *), uint64_t flags, void (*restorer)(void));

/* Signal handlers with SA_ONSTACK run on the SIZE bytes at STACK from now on. Returns 0 or -errno. */
int sfu_linux_sigaltstack(void *stack, size_t size);

/* ---- A profile of a thread ------------------------------------------------------------------------------------- */

/*
 * In sfu_linux_timer.c. By port/profile, with a struct sfu_linux and a struct sfu_profile for each thread:
 *
 *     static void sample(int signal, void *info, void *ucontext)
 *     {
 *         struct sfu_registers at = sfu_linux_interrupted(ucontext, &self.cpu);
 *
 *         sfu_profile_sample(&profile, &fast, &self.target, &at, false);
 *     }
 *
 *     sfu_linux_sigaction(27, sample, SA_SIGINFO | SA_RESTART, NULL);   SIGPROF; behind sfu_profile_start
 *     timer = sfu_linux_timer(27, 10000000);
 *
 * Each word of the stack then takes a system call. If the thread's stack is known, and all of it is mapped, set
 * self.target.stack, with its bytes: then the fast walker reads it.
 */

/* Sends SIGNAL to this thread each time that it has used NANOSECONDS of CPU time, as far as Linux sees that: at its
 * ticks, 100 to 1,000 in a second, and less often where a hypervisor takes the CPU away. What it would have sent
 * meanwhile is one signal. NANOSECONDS 0: never. Returns a number for sfu_linux_timer_end, or -errno. */
int sfu_linux_timer(int signal, uint64_t nanoseconds);

/* Ends TIMER. A signal that has been sent may still come. Returns 0 or -errno. */
int sfu_linux_timer_end(int timer);

/* The raw system call NUMBER. Returns what the kernel returned: -errno if it is in -4095 to -1. */
long sfu_linux_call(long number, long a, long b, long c, long d, long e, long f);

/* The symbol callback of the panic printer, in sfu_linux_symbols.c: names from the program's own file, /proc/self/exe.
 * The first call maps it. CTX is a struct sfu_linux. */
const char *sfu_linux_symbol(void *ctx, sfu_addr addr, sfu_addr *offset);

/* A program without libc defines this. start.S and start.c relocate a static-pie, call it, and end the process with the
 * status that it returns. The outermost frame of each trace is that of _start. */
int sfu_linux_main(int argc, char **argv, const uintptr_t *auxv);

/* A restorer, in restorer.S, for handlers with SA_SIGINFO. The table describes its signal frame: a walk crosses it
 * without the trap hook. x86_64, aarch64 and 32-bit x86 only: on s390x the CFA, SP + 160, is in no word of a Linux
 * signal frame. */
void sfu_linux_restorer_table(void);

#ifdef __cplusplus
}
#endif

#endif

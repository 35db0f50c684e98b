/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The panic printer: one call prints a whole trace, a character at a time. Needs nothing but sfu.c.
 *
 *     static struct sfu_panic panic = {.put = console_put, .image = "kernel.elf"};
 *
 *     // at boot; or, where there are more sections or stacks, set .target to your own
 *     sfu_panic_init(&panic, sframe_start, sframe_end, stack_low, stack_high);
 *
 *     // in the panic path
 *     struct sfu_cpu cpu;                           // arch/sfu_arch.h; or registers filled in from a trap frame
 *     struct sfu_registers here = sfu_here(&cpu);
 *     sfu_panic_print(&panic, &here);
 *
 * prints, where A to D are PCs:
 *
 *     slide 0x100000
 *     #0  0x<A>  leaf+0x1c
 *     #1  0x<B>  tick+0x40
 *     #2  0x<C>  work+0x8  [interrupted]
 *     #3  0x<D>  main+0x22  [guessed]
 *     trace ends (1): end of the stack: the outermost frame
 *     addr2line -fipe kernel.elf 0x<a> 0x<b> 0x<c> 0x<d>
 *
 * A frame's address is its raw PC: of a caller, the return address. The addr2line line has the addresses to look up
 * (sfu_lookup_pc: return addresses minus one, so that the line is that of the call), minus the slide; it needs a
 * second walk, because nothing is allocated. Marks: [interrupted]: this frame was interrupted by the one above, its
 * PC is exact; [stack switch]: it is on another stack than the one above; [guessed]: by the frame-pointer fallback, or
 * by a trap hook that was not sure.
 *
 * sfu-trace (port/host) puts files, lines and inlined callers under each frame of such a trace in a log. sfu_dump.h has
 * more for it: the build ID, by which it chooses the image, and a dump for programs without tables.
 */
#ifndef SFU_PRINT_H
#define SFU_PRINT_H

#include "sfu.h"

#ifdef SFU_PREFIX
#define sfu_panic_init  SFU_NAME(panic_init)
#define sfu_panic_print SFU_NAME(panic_print)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Zero what is not used. Static rather than on the stack: it is what stops a second fault, and saves stack. */
struct sfu_panic {
    const struct sfu_target *target; /* sfu_panic_init sets it, or you do */
    void (*put)(void *ctx, char c);  /* prints a character; must not take a lock */
    /* NULL, or: the name of the function that ADDR (a lookup PC) is in, or NULL; in *OFFSET how far in */
    const char *(*symbol)(void *ctx, uint64_t addr, uint64_t *offset);
    void *ctx;         /* passed to both */
    const char *image; /* file name for addr2line; NULL: IMAGE */
    uint64_t slide;    /* run-time minus link-time address of the image */
    /* the printer's own */
    volatile uint8_t busy;
    struct sfu_walk walk;
    struct sfu_section section; /* sfu_panic_init's, as the next one */
    struct sfu_target own;      /* callbacks and limits may be set at any time */
};

/* All that a program with one section and one stack needs: opens the section from SFRAME to SFRAME_END, adds it to a
 * target whose window is the memory from STACK to STACK_END, and checks it. A trace reads nothing else of the stack, so
 * that no garbage can make it fault. Returns SFU_OK, or what sfu_open or sfu_check returned. PANIC can print in any
 * case: whatever is wrong with the section costs frames. */
int sfu_panic_init(struct sfu_panic *panic, const void *sframe, const void *sframe_end, const void *stack,
                   const void *stack_end);

/* Prints the trace that begins at TOP. If PANIC is already being printed, because printing faulted and the fault came
 * here again, says so and returns at once; the next time it returns silently. Other CPUs must have been stopped, or
 * use another PANIC. Returns the code that ended the walk. */
int sfu_panic_print(struct sfu_panic *panic, const struct sfu_registers *top);

#ifdef __cplusplus
}
#endif

#endif

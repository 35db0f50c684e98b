/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * How many bytes of stack each frame takes, and whether a stack has overflowed. Needs sfu_print.c, and no memory
 * besides struct sfu_panic.
 *
 *     static struct sfu_panic panic = {
 *         .put = console_put, .sizes = sfu_print_size, .before = sfu_print_overflow,
 *     };
 *
 *     panic.fault_address = ...; // what a page fault or a data abort was about, if it is known
 *     sfu_panic_print(&panic, &registers_of_the_fault);
 *
 * prints, if the trace comes to a stack that has overflowed:
 *
 *     stack overflow: 12 frames use 16448 of 16384 bytes; the largest is frame 3, 12304 bytes: read_dir+0x1c
 *     #0  0x<A>  leaf+0x1c  [64 bytes]
 *     #1  0x<B>  tick+0x40  [interrupted]  [96 bytes]
 *     ...
 *
 * A frame's size is from its SP to the SP of its caller, on the same stack. The outermost frame has no caller, so its
 * size is not known. If a function that has no frame in the trace took most of the stack, the line says below which
 * frame: "1112 of them lie below frame 1". Look at what that frame calls.
 *
 * A stack has overflowed if the SP of a frame lies below it, or if fault_address does. The target's find_stack says
 * which stack that is: it counts some memory below each stack, a guard page for instance, as that stack's. If that is
 * memory that may be read, find_stack may add it to the stack, but only for an address in it. A target with one stack,
 * and no find_stack, has one answer for each SP, and none for a fault_address.
 *
 * A trace that begins elsewhere, on the stack of a double fault for instance, comes to the overflowed stack like any
 * trace. The line about the overflow needs a walk of its own, in front of the one that prints: if that walk faults, the
 * trace is missing.
 */
#ifndef SFU_SIZES_H
#define SFU_SIZES_H

#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the line of ITEM with its size, if that is known. */
void sfu_print_size(const struct sfu_panic *panic, const struct sfu_print_item *item);

/* Prints the line about the first stack that has overflowed, of those that the trace from TOP on comes to, or nothing.
 * Uses PANIC's walk. */
void sfu_print_overflow(struct sfu_panic *panic, const struct sfu_registers *top);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * One line for deep recursion, instead of one for each frame. Needs sfu_print.c; takes no memory but what struct
 * sfu_panic has.
 *
 *     static struct sfu_panic panic = {.put = console_put, .cycles = sfu_print_cycles};
 *
 * Frames that repeat the up to 8 (SFU_PRINT_CYCLE) frames above them become one line. The next frame has the number
 * that it would have had, and the addr2line line has the addresses of the frames that are printed:
 *
 *     #1  0x<A>  expression+0x31
 *     #2  0x<B>  term+0x12
 *         ... 2006 times more: the 2 above
 *     #4015 0x<C>  parse+0x20
 *
 * A frame with a mark, and the first one of a trace, are never part of that, and it is whole cycles only. "The 2 above"
 * are frames by number: an abbreviation among them counts as what it stands for. Where frames could as well go on with
 * a longer cycle, up to 8 of them are printed more than once.
 *
 * A frame is held back only while it repeats what has been printed: if the walk faults, no line is lost that would
 * have been new.
 */
#ifndef SFU_CYCLES_H
#define SFU_CYCLES_H

#include "sfu_print.h"

#ifdef SFU_PREFIX
#define sfu_print_cycles SFU_NAME(print_cycles)
#endif

#ifdef __cplusplus
extern "C" {
#endif

void sfu_print_cycles(struct sfu_print_cycle *cycle, const struct sfu_print_item *item);

#ifdef __cplusplus
}
#endif

#endif

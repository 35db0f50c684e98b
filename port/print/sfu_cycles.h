/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * One line for deep recursion, instead of one for each frame. Needs sfu_print.c, and no memory besides struct
 * sfu_panic.
 *
 *     static struct sfu_panic panic = {.put = console_put, .cycles = sfu_print_cycles};
 *
 * Frames that repeat the frames above them, up to 8 (SFU_PRINT_CYCLE), become one line. The next frame keeps its
 * number. The addr2line line has the addresses of the frames that are printed:
 *
 *     #1  0x<A>  expression+0x31
 *     #2  0x<B>  term+0x12
 *         ... 2006 times more: the 2 above
 *     #4015 0x<C>  parse+0x20
 *
 * Only whole cycles are abbreviated. The topmost frame and frames with a mark are never part of one. "The 2 above"
 * counts frames by number: an abbreviation among them counts as the frames that it stands for. Where a longer cycle
 * would fit as well, up to 8 frames are printed more than once.
 *
 * A frame is held back only while it repeats what has been printed. If the walk faults, no new line is lost.
 */
#ifndef SFU_CYCLES_H
#define SFU_CYCLES_H

#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif

void sfu_print_cycles(struct sfu_print_cycle *cycle, const struct sfu_print_item *item);

#ifdef __cplusplus
}
#endif

#endif

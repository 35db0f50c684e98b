/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A whole trace into an array in one call: for profilers, allocators, lock checkers, and sampling in interrupts.
 * Copy sfu_fast.h and sfu_fast.c beside the core.
 *
 *     static struct sfu_fast fast;             zeroed: no section, no cache
 *     static struct sfu_fast_image image;
 *     static uint64_t cache[1024];
 *
 *     sfu_open(&section, ...);
 *     sfu_fast_add(&fast, &image, &section);
 *     sfu_fast_set_cache(&fast, cache, sizeof cache);
 *
 *     target.sections = fast.sections;         for each trace, then: window, window_low, window_high, ...
 *     code = sfu_fast_trace(&fast, &target, &registers, 0, pcs, 64, &count);
 *
 * The PCs and the code are those of sfu_walk_start and sfu_walk_step on the same target, always: it is a short way for
 * frames as nearly all are, and the core does all others. The short way needs a section of version 3 that is mapped,
 * sorted, accepted by sfu_check and of the CPU that this is compiled for, a stack in the target's window, no
 * original_ra, and an x86_64, an aarch64 of either byte order or an s390x. Everywhere else each frame costs what a step
 * of the core costs.
 *
 * Traces take no lock. They may run at the same time as others on the same struct sfu_fast: on other CPUs, and in
 * interrupts and NMIs that come in the midst of a trace. An entry of the cache is one word, read and written at once,
 * that says whole what it stands for: it cannot be torn.
 */
#ifndef SFU_FAST_H
#define SFU_FAST_H

#include "sfu.h"

#ifdef SFU_PREFIX
#define sfu_fast_add        SFU_NAME(fast_add)
#define sfu_fast_remove     SFU_NAME(fast_remove)
#define sfu_fast_set_cache  SFU_NAME(fast_set_cache)
#define sfu_fast_index_size SFU_NAME(fast_index_size)
#define sfu_fast_set_index  SFU_NAME(fast_set_index)
#define sfu_fast_trace      SFU_NAME(fast_trace)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SFU_FAST_BLOCKS 32 /* how many blocks the code of an image without a larger index is divided into */

/* What a fast walker knows of one section. Filled in by sfu_fast_add and sfu_fast_set_index; nobody else writes it. */
struct sfu_fast_image {
    struct sfu_fast_image *next;
    struct sfu_section *section;
    uint64_t low, span;                   /* no PC with pc - low > span is in its text and in a function of it */
    uint64_t origin;                      /* what starts are relative to: the section, or its first FDE */
    const uint8_t *fdes, *rows;           /* of the section */
    const uint32_t *index;                /* which function each block of code begins in, or behind */
    uint32_t coarse[SFU_FAST_BLOCKS + 1]; /* the index if it was given none */
    uint64_t relative;                    /* all ones: starts are relative to their own field; else 0 */
    uint8_t block_shift;                  /* a block has 1 << block_shift bytes */
    bool common;                          /* the short way serves its functions; else it has no index */
};

/* Zeroed, it is a walker without sections and cache. Callers read sections. */
struct sfu_fast {
    struct sfu_section *sections;  /* list, newest first: for struct sfu_target */
    struct sfu_fast_image *images; /* those of the sections, in the same order */
    uint64_t *cache;               /* sets of two entries; or NULL */
    uint64_t base;                 /* the cache has PCs relative to this address */
    uint32_t generation;           /* of the entries that count; 0: none, the list changes */
    uint64_t cache_mask;           /* how many sets there are, less 1 */
};

/* Adds SECTION, opened and in no list, in front of the sections of FAST; fills in *IMAGE, which must stay where it
 * is. A section that could take the short way is checked by sfu_check, once, in time in proportion to it; if that
 * finds a fault, the core does all of its frames. The bytes must not change while SECTION is there, nor its text_first
 * and text_last: whoever sorts it or changes its text removes it before and adds it again. From then on only
 * sfu_fast_add and sfu_fast_remove change the list. Traces may run meanwhile, those with the list as it was before
 * included; other changes may not. Returns what sfu_add returns. */
int sfu_fast_add(struct sfu_fast *fast, struct sfu_fast_image *image, struct sfu_section *section);

/* Takes IMAGE and its section out of FAST. Traces may run meanwhile, other changes may not. IMAGE, its section, its
 * bytes and its index must stay as they are until each trace that began before has returned. No later trace gets
 * anything that came from the section: the entries of the cache carry a generation, and only this many changes
 * (SFU_FAST_GENERATIONS) later it is cleared, so that no number returns. No trace may last that long.
 * Returns what sfu_remove returns. */
int sfu_fast_remove(struct sfu_fast *fast, struct sfu_fast_image *image);
#define SFU_FAST_GENERATIONS 7

/* Gives FAST the BYTES at MEMORY as a cache, or with BYTES 0 none. The greatest power of two that fits is used; less
 * than 1 KiB is not used, and 8 KiB serve 1,000 call sites well. No trace may run meanwhile. */
void sfu_fast_set_cache(struct sfu_fast *fast, void *memory, size_t bytes);

/* How many bytes an index of IMAGE takes: less than 0.2% of its code and 8; 0 if it cannot have one. */
size_t sfu_fast_index_size(const struct sfu_fast_image *image);

/* Makes an index of IMAGE in the BYTES at MEMORY, aligned for a uint32_t: functions are found at once, however many
 * there are. Too few BYTES, or IMAGE cannot have one: nothing changes. No trace may run meanwhile. Returns whether
 * it was made. */
bool sfu_fast_set_index(struct sfu_fast_image *image, void *memory, size_t bytes);

/* Walks from TOP as sfu_walk_start and sfu_walk_step do with TARGET, leaves out the first SKIP frames and stores the
 * PCs of the next, at most CAPACITY, as they are in struct sfu_registers: PCS[0] to PCS[*COUNT - 1]. TARGET's sections
 * should be fast->sections; with another list all is left to the core. FAST's cache changes.
 * Returns SFU_OK when the array is full (how the trace would go on is unknown), or what ended it: SFU_END or the
 * error that sfu_walk_step returned. */
int sfu_fast_trace(const struct sfu_fast *fast, const struct sfu_target *target, const struct sfu_registers *top,
                   size_t skip, uint64_t *pcs, size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif

#endif

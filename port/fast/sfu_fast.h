/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A whole trace into an array in one call, on CPUs of 64 bits: for profilers, allocators, lock checkers, and sampling
 * in interrupts. Copy sfu_fast.h and sfu_fast.c beside the core.
 *
 *     static struct sfu_fast fast;                     zeroed: no section, no cache
 *     static struct sfu_fast_image image;
 *     static uint32_t cache[2048];
 *
 *     struct sfu_section *list = NULL;
 *     sfu_add(&list, &section, 1, ...);
 *     sfu_fast_set_cache(&fast, cache, sizeof cache);
 *     sfu_fast_add(&fast, &image, 1, list);
 *
 *     target.sections = sfu_fast_sections(&fast);      for each trace, then: stack, ...
 *     code = sfu_fast_trace(&fast, &target, &registers, 0, pcs, 64, &count);
 *
 * The PCs and the code are always those of sfu_walk_start and sfu_walk_step on the same target. Nearly all frames take
 * a short way; the core does all others, and each of those costs a step of the core. The short way needs
 *   - x86_64, aarch64 of either byte order, s390x, or RISC-V of 64 bits. The short way needs 64-bit atomic operations:
 *     on a CPU without them, such as 32-bit RISC-V, and on 32-bit x86 use sfu_walk_step
 *   - a section of version 3 that is mapped, sorted, of the CPU that this is compiled for, with the fixed offsets of
 *     its ABI, and accepted by sfu_check
 *   - a row whose rules for the CFA, the RA and the caller's FP count from SP, FP or the CFA only, with the RA saved on
 *     the stack. A default row may leave the RA in its register if the frame is the topmost
 *   - a stack of 8 to 2^63 - 1 bytes whose sfu_stack.bytes is not NULL, or sfu_fast_trace_remote. The frame's SP,
 *     what its row reads and its caller's SP lie on it, and so does FP if the row counts from FP, which must then be
 *     at SP or above. Nothing is read below SP
 *   - no original_ra
 * If the caller of a frame is on another stack, or if what the row needs is not all on the frame's stack, the core
 * applies the row, but does not have to look it up. A frame that no section has is the core's, and costs its step. The
 * last step of a trace does not need the core if its row marks the outermost frame, or if its PC is in no section and
 * there is no trap hook and no guess by frame pointers.
 *
 * Traces take no lock. They may run at the same time as others on the same struct sfu_fast: on other CPUs, and in
 * interrupts and NMIs that come in the midst of a trace.
 */
#ifndef SFU_FAST_H
#define SFU_FAST_H

#include "sfu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SFU_FAST_BLOCKS 64  /* blocks that code is divided into, without a larger index */
#define SFU_FAST_RULES  255 /* distinct rules that the cache can name, apart from the short rules (next line) */
/* kinds of short rules. A short rule has CFA = SP + a small offset; a cache entry holds that offset and the number of
 * the kind, which stands for all the rest */
#define SFU_FAST_KINDS       8
#define SFU_FAST_LARGE_KINDS 3   /* the same of rules for larger frames */
#define SFU_FAST_REGIONS     256 /* numbers of regions of code that it can have entries of; 194 of them are given */
#define SFU_FAST_OUTSIDE     16 /* sets of entries that PCs of no function may take, until the sections next change */

/* What a fast walker knows of one section. Filled in by sfu_fast_add and sfu_fast_set_index; nobody else writes it. */
struct sfu_fast_image {
    struct sfu_fast_image *next;
    struct sfu_section *section;
    /* each PC that is in its text and in one of its functions has pc - low <= span */
    uint64_t low, span;
    uint64_t origin;            /* what starts are relative to: the section, or its first FDE */
    const uint8_t *fdes, *rows; /* of the section */
    /* for each block of code: the last function that starts at or below the block's first address */
    const uint32_t *index;
    const uint32_t *long_index;           /* the functions of many rows; or NULL */
    uint64_t relative;                    /* all ones: starts are relative to their own field; else 0 */
    uint32_t coarse[SFU_FAST_BLOCKS + 2]; /* the index if it was given none */
    bool common;                          /* the short way serves its functions; else it has no index */
};

/* A rule in few words; sfu_fast.c says how. */
struct sfu_fast_rule {
    int32_t cfa, ra, fp; /* offsets */
    uint32_t how;        /* 0: there is none here */
};

/* What short rules of one kind say besides the CFA: offsets from the CFA, or on aarch64 from SP. */
struct sfu_fast_kind {
    int16_t ra, fp; /* FP is not saved: fp is where the RA is */
    uint32_t how;
};

/* Zeroed, it is a walker without sections and cache. */
struct sfu_fast {
    struct sfu_section *sections;       /* list, newest first */
    struct sfu_fast_image *images;      /* those of the sections, in the same order */
    struct sfu_fast_image **order;      /* the images in ascending order of low; or NULL: they have none */
    size_t order_room, ordered;         /* how many it has room for; how many are in it */
    uint64_t order_changes;             /* odd while ORDER or ORDERED is being changed */
    size_t anywhere;                    /* how many of the sections have a text that is not known */
    bool texts_mixed;                   /* the text of a section may reach beyond its neighbours in ORDER */
    bool overlap;                       /* images may have the same PC */
    uint32_t *cache;                    /* or NULL */
    uint64_t mask;                      /* how many entries it has, less 1 */
    unsigned shift;                     /* a number of 64 bits shifted by it is below MASK + 1 */
    uint64_t reach;                     /* how many bytes of code a wide region has: a power of two */
    uint64_t wide[2];                   /* the low ends of the wide regions. Each is written once */
    uint64_t regions[SFU_FAST_REGIONS]; /* the upper bits of the narrow ones, + 1; 0: none. Each is written once */
    uint32_t num_regions;               /* how many there are of both */
    uint64_t changes;                   /* how often a change has made entries of the cache wrong */
    /* value of changes when the wrong entries were last removed: the cache may be used only if this equals changes */
    uint64_t cleared;
    uint64_t gone_low, gone_last; /* PCs whose entries the changes since then have made wrong */
    /* 1: somebody is writing to the cache, and only that writer may use the members below. 32 bits, because RISC-V has
     * no atomic operations on bytes */
    uint32_t busy;
    unsigned turn; /* chooses which entry of a full set is replaced next */
    unsigned outside_count;
    uint64_t outside[SFU_FAST_OUTSIDE];         /* places of the entries of PCs that no function has */
    struct sfu_fast_rule rules[SFU_FAST_RULES]; /* each is written once */
    struct sfu_fast_kind kinds[SFU_FAST_KINDS + SFU_FAST_LARGE_KINDS]; /* the same */
};

/* The sections of FAST, for sfu_target.sections. A trace begins with this. */
struct sfu_section *sfu_fast_sections(const struct sfu_fast *fast);

/* Moves all of LIST, which sfu_add has made, in front of the sections of FAST. Fills in an image for each, of
 * IMAGES[ROOM], which must stay where they are. Runs sfu_check on each section that could take the short way, which
 * takes time in proportion to the section; if it has a fault, the core does all of its frames. While a section is
 * there, neither its bytes nor its text may change, or a trace may read outside of the section: copy tables that
 * somebody else can write, and add the copy. To sort a section, or to change its text, remove it and add it again. Only
 * sfu_fast_add and sfu_fast_remove may change the list from then on. Traces may run meanwhile, also those that began
 * before; other changes may not. What the cache has of other sections stays; if their code overlaps that of LIST,
 * nothing stays.
 * Returns SFU_OK; or, with FAST as it was (IMAGES may have changed), SFU_E_NO_SECTION if LIST is empty,
 * SFU_E_CONCATENATED if it has more than ROOM sections, or SFU_E_ABI if their ABI is not that of FAST's. */
int sfu_fast_add(struct sfu_fast *fast, struct sfu_fast_image *images, size_t room, struct sfu_section *list);

/* Takes those of IMAGES[0] to IMAGES[ROOM - 1] that are in FAST out of it, and their sections. Traces may run
 * meanwhile, other changes may not. Images, sections, their bytes and indexes must stay as they are until each trace
 * that began before has returned: a trace begins where it asks for sfu_fast_sections. Then they may be used anew: open
 * the section again. A trace that runs meanwhile may use them or not; no later trace uses anything of them. What the
 * cache has of them goes, at once or by a later trace; what it has of other sections stays, as sfu_fast_add says. Takes
 * time in proportion to the number of sections and to the size of the cache. Returns whether there was one. */
bool sfu_fast_remove(struct sfu_fast *fast, struct sfu_fast_image *images, size_t room);

/* Gives FAST the BYTES at MEMORY as a cache, or takes its cache away if BYTES is 0. No other walker may share that
 * memory. Uses the greatest power of two that fits, and nothing below 1 KiB. Give it 8 bytes for each call site that
 * traces meet: 8 KiB for 1,000, 16 KiB for 2,048; at a few regular distances, call sites need twice as much. With less,
 * a trace that seldom finds its PCs in the cache stops using it: such a trace takes up to a fifth longer than one
 * without a cache. The cache covers code in at most 194 regions of the address space, the first ones that traces meet.
 * The first two are 2^12 times as large as the cache, 32 MiB for 8 KiB; all others 2^7 times as large, 1 MiB. A trace
 * that changes between regions costs up to twice as much. PCs that no function has get half of the regions at most, and
 * SFU_FAST_OUTSIDE sets of 8 entries. The cache can hold every rule with CFA = SP + a multiple of 8 up to 2,040 whose
 * other parts are one of SFU_FAST_KINDS kinds, and with CFA = SP + a multiple of 16 from 2,048 to 10,224 whose other
 * parts are one of SFU_FAST_LARGE_KINDS. It can hold that of every frame record (the caller's FP and, above it, the RA:
 * where FP points, on RISC-V 16 bytes below) whose CFA is up to 2,040 above it. It can also hold SFU_FAST_RULES rules
 * of any other form. Other frames are looked up in their section. No trace may run meanwhile. */
void sfu_fast_set_cache(struct sfu_fast *fast, void *memory, size_t bytes);

/* Gives FAST the BYTES at MEMORY for an array of its sections in order of address, or none if BYTES is 0: for programs
 * with modules, plugins or code that is compiled as they run. The array takes sizeof(void *) for each section, plus one
 * sizeof(void *) in all if MEMORY is not aligned for a pointer. With it, a PC's section is found in a few steps among
 * any number of sections; sfu_fast_add and sfu_fast_remove keep it in order. Without it they are tried one by one. It
 * is lost if a section comes for which there is no room, until this is called again; and for good if two sections have
 * code at the same PC, or if a section that is not mapped or has a fault comes without a text. No trace may run
 * meanwhile. */
void sfu_fast_set_order(struct sfu_fast *fast, void *memory, size_t bytes);

/* Returns how many bytes an index of IMAGE takes. That is at most the sum of: 0.2% of its code, but at least 264; for
 * each function of more than 64 rows, 8, and 8 more for each 16 of its rows; and 24. 0 if it cannot have one. Takes
 * time in proportion to the functions. */
size_t sfu_fast_index_size(const struct sfu_fast_image *image);

/* Makes an index of IMAGE in the BYTES at MEMORY, aligned for a uint32_t. By it functions and rows are found at once,
 * however many there are. No trace may run meanwhile. Returns false, and changes nothing, if BYTES are too few or IMAGE
 * cannot have one. */
bool sfu_fast_set_index(struct sfu_fast_image *image, void *memory, size_t bytes);

/* Walks from TOP as sfu_walk_start and sfu_walk_step do with TARGET. Leaves out the first SKIP frames. Stores the PCs
 * of the next, at most CAPACITY, as struct sfu_registers has them: PCS[0] to PCS[*COUNT - 1]. TARGET's sections should
 * be sfu_fast_sections(FAST): with another list the core does all frames. Changes FAST's cache.
 * Returns what ended the trace, SFU_END or the error of sfu_walk_step; or SFU_OK if the array is full. */
int sfu_fast_trace(struct sfu_fast *fast, const struct sfu_target *target, const struct sfu_registers *top,
                   size_t skip, uint64_t *pcs, size_t capacity, size_t *count);

/* sfu_fast_trace for a guest's stack or another one whose bytes are NULL. One call of TARGET's read callback reads as
 * much of such a stack as lies from a frame's SP on, at most BYTES, into WINDOW; the frames that lie in there take the
 * short way without another call: with 1,024 BYTES, ten frames of 100 bytes. Several traces at a time need a WINDOW
 * each. Its address should be a multiple of 8. A stack that is mapped does not use WINDOW. If the callback cannot read
 * so much at once and returns nonzero, the core does the frame, and the callback reads word by word; for the next frame
 * it is asked for BYTES again. A section that cannot take the short way costs such a call for each frame, too, unless
 * it is another CPU's. Returns what sfu_fast_trace returns. */
int sfu_fast_trace_remote(struct sfu_fast *fast, const struct sfu_target *target, const struct sfu_registers *top,
                          size_t skip, uint64_t *pcs, size_t capacity, size_t *count, void *window, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif

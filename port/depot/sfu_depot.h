/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A depot keeps each different trace once, in the caller's memory, and gives it a handle of 32 bits. Each trace has a
 * weight, which is summed up: samples, bytes or nanoseconds. Copy sfu_depot.h and sfu_depot.c; they need no other file.
 *
 *     static uint64_t memory[8192];
 *     static struct sfu_depot depot;
 *
 *     sfu_depot_init(&depot, memory, sizeof memory, (uintptr_t)image_start); // at boot
 *
 *     sfu_fast_trace(&fast, &target, &here, 0, pcs, 32, &count);             // on any CPU, in any interrupt
 *     handle = sfu_depot_add(&depot, pcs, count, 1);
 *
 *     for (h = sfu_depot_next(&depot, 0); h != 0; h = sfu_depot_next(&depot, h))
 *         count = sfu_depot_get(&depot, h, 0, pcs, 32, &weight);
 *
 * sfu_depot_print.h prints a depot for sfu-trace. port/profile fills one from a timer.
 *
 * sfu_depot_add and sfu_depot_weigh take no lock, and may run at the same time as each other and as all that read: on
 * any CPU, and in interrupts and NMIs that come in the midst of one. A trace never changes once it is there, only its
 * weight does. The CPU must have atomic operations of 32 bits. Where it has none of 64 bits (RISC-V of 32 bits),
 * weights and their sums have 32. For aarch64 compile with -mno-outline-atomics, because a kernel does not have the
 * compiler's library.
 *
 * A trace takes 20 bytes (16 with weights of 32 bits) and 4 for each PC, rounded up to a multiple of 8, if all of its
 * PCs lie in the 4 GiB from the depot's base up. Otherwise it takes 8 bytes for each PC. The table that finds them
 * takes the greatest power of two that is at most 1/16 of the memory.
 */
#ifndef SFU_DEPOT_H
#define SFU_DEPOT_H

#ifdef SFU_TYPES /* a header of the kernel's own: sfu.h says what must be in it */
#include SFU_TYPES
#ifndef UINT32_MAX
#define UINT32_MAX 0xffffffffu
#endif
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SFU_DEPOT_LEAST 1024 /* bytes of memory, aligned to 8 */
#define SFU_DEPOT_PCS   4096 /* of a trace, at most */

/* Of what all CPUs add to at the same time. 32-bit x86 has atomic operations of 64 bits, but compilers load and store
 * by floating-point or vector registers, which kernels do not have. */
#if (defined(__GCC_ATOMIC_LLONG_LOCK_FREE) && __GCC_ATOMIC_LLONG_LOCK_FREE < 2) || defined(__i386__)
typedef uint32_t sfu_depot_sum;
typedef int32_t sfu_depot_weight;
#else
typedef uint64_t sfu_depot_sum;
typedef int64_t sfu_depot_weight;
#endif

/* sfu_depot_init fills it in. Callers may read the last two. */
struct sfu_depot {
    uint32_t *words; /* the memory; a handle counts pairs of them */
    uint64_t base;
    uint32_t mask;                /* number of lists - 1; the memory begins with the first handle of each list */
    uint32_t room, used;          /* pairs of words; used may be more, once a trace had no room */
    sfu_depot_sum lost;           /* how many calls of sfu_depot_add have returned 0 */
    sfu_depot_weight lost_weight; /* the sum of their weights, and of those for the handle 0 */
};

/* Makes DEPOT an empty one in the BYTES at MEMORY, of which no more than 16 GiB are used. BASE: the lowest address of
 * code, usually. Returns false, and leaves DEPOT alone, if there are less than SFU_DEPOT_LEAST bytes. */
bool sfu_depot_init(struct sfu_depot *depot, void *memory, size_t bytes, uint64_t base);

/* Adds WEIGHT to the trace of the COUNT PCs at PCS, which may be 0. Puts the trace into DEPOT if it is not there. What
 * an add that is not the first has to write is the weight. Returns the handle, or 0 and counts that if there is no room
 * or COUNT is more than SFU_DEPOT_PCS. A full depot still takes weights of the traces that it has.
 * If two CPUs put the same trace in at the same time, one of them returns the other's handle, and the room of one trace
 * stays unused until DEPOT is cleared. The sum of a trace's weights must be less than 2^63, or than 2^31 where weights
 * have 32 bits: else it wraps. */
uint32_t sfu_depot_add(struct sfu_depot *depot, const uint64_t *pcs, size_t count, int64_t weight);

/* Adds WEIGHT to the trace HANDLE; if HANDLE is 0, to lost_weight: what is freed whose allocation was lost. HANDLE may
 * be a handle of DEPOT, or any number outside of its memory, as 0 is. Returns false if it is outside. */
bool sfu_depot_weigh(struct sfu_depot *depot, uint32_t handle, int64_t weight);

/* Copies PCs of the trace HANDLE to PCS, at most CAPACITY. Leaves out the first SKIP. Sets *WEIGHT unless WEIGHT is
 * NULL. Returns how many PCs the trace has in all. HANDLE may be any number: nothing outside of the depot's memory is
 * read. If it is not a trace, 0 is returned, or what stands there. */
size_t sfu_depot_get(const struct sfu_depot *depot, uint32_t handle, size_t skip, uint64_t *pcs, size_t capacity,
                     int64_t *weight);

/* The handle behind HANDLE in an order of the depot's own, or the first one if HANDLE is 0. Returns 0 behind the last
 * one, and if HANDLE is not a handle. Each trace that was there when this began with 0 comes once, of those that come
 * meanwhile some. */
uint32_t sfu_depot_next(const struct sfu_depot *depot, uint32_t handle);

/* Removes all traces, and sets the last two to 0. Meanwhile no other CPU may use DEPOT, and this must not interrupt an
 * add. What interrupts this may add: that is lost. No handle from before may be used again. */
void sfu_depot_clear(struct sfu_depot *depot);

#ifdef __cplusplus
}
#endif

#endif

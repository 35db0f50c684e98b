/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A sampling profiler: each interrupt of a timer, or each NMI, adds the trace that it has interrupted to a depot. Copy
 * sfu_profile.h and sfu_profile.c beside the core, port/fast and port/depot; sfu_profile_print needs what
 * sfu_depot_print.h says.
 *
 *     static struct sfu_profile profiles[CPUS];
 *     static uint64_t memory[CPUS][8192];
 *
 *     sfu_profile_init(&profiles[cpu], memory[cpu], sizeof memory[cpu], (uintptr_t)image_start); // at boot
 *     sfu_profile_start(&profiles[cpu]);                                                         // when it is wanted
 *
 *     sfu_profile_sample(&profiles[cpu], &fast, &target, &interrupted, is_idle);                 // in the interrupt
 *
 *     while (!sfu_profile_stop(&profiles[cpu])) {}                                               // at the end
 *     sfu_profile_print(&profiles[cpu], &panic, &report);
 *
 * `sfu-trace --folded` and `--flame` make something to look at of what it prints: of several profiles the sum. Each
 * CPU takes its samples in its own timer's interrupt, for a profile of its own, or for one that all CPUs share: its
 * counters and its depot are atomic, and no sample waits for another CPU's. Profiles of their own tell CPUs apart.
 * Where interrupts are switched off, a timer's sample comes when they are switched on again: only an NMI can do better.
 */
#ifndef SFU_PROFILE_H
#define SFU_PROFILE_H

#include "sfu_depot_print.h"
#include "sfu_fast.h"

#ifdef __cplusplus
extern "C" {
#endif

/* PCs of a sample, at most: so many words of the interrupt's stack. A deeper trace is not complete. */
#ifndef SFU_PROFILE_PCS
#define SFU_PROFILE_PCS 64
#endif

struct sfu_repeat; /* sfu_repeat.h */

/* Callers may read all but the last, and may set trace and repeat. */
struct sfu_profile {
    struct sfu_depot depot;
    sfu_depot_sum samples; /* all of them; depot.lost of these were lost, because the depot was full */
    sfu_depot_sum idle;    /* those without a trace: the CPU was idle */
    /* Those whose trace ended with an error, or was too deep. They are in the depot, with its base as the last PC:
     * sfu-trace calls that [incomplete]. */
    sfu_depot_sum incomplete;
    /* Makes the traces: NULL, or sfu_repeat_trace with REPEAT, which callers set behind sfu_profile_init. Not used
     * where the core makes them. */
    int (*trace)(struct sfu_repeat *repeat, struct sfu_fast *fast, const struct sfu_target *target,
                 const struct sfu_registers *top, size_t skip, uint64_t *pcs, size_t capacity, size_t *count);
    struct sfu_repeat *repeat;
    /* 1 while it runs; and 2 for each sample that is being taken: of an interrupt, of an NMI in it */
    uint32_t state;
};

/* Makes PROFILE one that is stopped, whose traces sfu_fast_trace makes, with a depot in the BYTES at MEMORY. BASE: as
 * for sfu_depot_init, whose result it returns. If samples of a CPU often find the same stack, let its profile remember
 * the last trace, in 7 words for each PC, and add sfu_repeat.c:
 *
 *     static struct sfu_repeat repeat;
 *     static uint64_t last[7 * (SFU_PROFILE_PCS + 1)];
 *
 *     sfu_repeat_init(&repeat, last, 7 * (SFU_PROFILE_PCS + 1));
 *     profile.trace = sfu_repeat_trace;
 *     profile.repeat = &repeat; */
bool sfu_profile_init(struct sfu_profile *profile, void *memory, size_t bytes, uint64_t base);

/* Forgets all samples of PROFILE, and begins. Any CPU may do so, but one at a time. Returns false, and does nothing, if
 * PROFILE runs or if a sample that began before it was stopped is still being taken. */
bool sfu_profile_start(struct sfu_profile *profile);

/* Ends sampling. Any CPU may do so, at any time. Returns false while another CPU is still taking a sample that began
 * before: stop again until it is true, where no sample may be missing. */
bool sfu_profile_stop(struct sfu_profile *profile);

/* Adds the trace that begins at TOP, the interrupted registers, to PROFILE, if that runs. TARGET's sections should be
 * those of FAST. Where the CPU has no atomic operations of 64 bits (Cortex-M, RISC-V of 32 bits), FAST is NULL: the
 * core makes the traces, and port/fast is not needed. IDLE: what was interrupted is the idle loop, which is only
 * counted. To be called in the interrupt or NMI. Takes no lock, and waits for nothing. */
void sfu_profile_sample(struct sfu_profile *profile, struct sfu_fast *fast, const struct sfu_target *target,
                        const struct sfu_registers *top, bool idle);

/* Prints PROFILE by PANIC's put, with PANIC's slide. REPORT has its name, rate, build ID and places; all else is filled
 * in. While a sample is taken, or in a panic, some may be missing. */
void sfu_profile_print(const struct sfu_profile *profile, const struct sfu_panic *panic,
                       const struct sfu_depot_report *report);

#ifdef __cplusplus
}
#endif

#endif

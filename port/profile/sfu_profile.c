/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * One word says whether the profile runs and how many samples are being taken. A sample is counted only while the
 * profile runs, by one compare-and-exchange. So once the word is 0 there is no sample, and none can begin: then the
 * depot may be cleared, before the word becomes RUNNING again.
 */
#include "sfu_profile.h"

enum { RUNNING = 1, SAMPLE = 2 };

bool sfu_profile_init(struct sfu_profile *profile, void *memory, size_t bytes, uint64_t base)
{
    profile->samples = profile->idle = profile->incomplete = 0;
    profile->state = 0;
    profile->trace = NULL;
    profile->repeat = NULL;
    return sfu_depot_init(&profile->depot, memory, bytes, base);
}

bool sfu_profile_start(struct sfu_profile *profile)
{
    if (__atomic_load_n(&profile->state, __ATOMIC_ACQUIRE) != 0)
        return false;
    profile->samples = profile->idle = profile->incomplete = 0;
    sfu_depot_clear(&profile->depot);
    __atomic_store_n(&profile->state, RUNNING, __ATOMIC_RELEASE);
    return true;
}

bool sfu_profile_stop(struct sfu_profile *profile)
{
    return (__atomic_fetch_and(&profile->state, ~(uint32_t)RUNNING, __ATOMIC_ACQUIRE) & ~(uint32_t)RUNNING) == 0;
}

static void count_one(sfu_depot_sum *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* Stores the PCs from TOP on, at most CAPACITY. Returns SFU_END if those are all. */
static int trace(const struct sfu_profile *profile, struct sfu_fast *fast, const struct sfu_target *target,
                 const struct sfu_registers *top, uint64_t *pcs, size_t capacity, size_t *count)
{
#if __GCC_ATOMIC_LLONG_LOCK_FREE < 2 || defined(__i386__) /* the fast walker needs atomic operations of 64 bits */
    struct sfu_walk walk;
    int code = SFU_OK;

    (void)profile;
    (void)fast;
    sfu_walk_start(&walk, target, top);
    for (*count = 0; code == SFU_OK && *count < capacity; code = sfu_walk_step(&walk))
        pcs[(*count)++] = walk.frame.regs.pc;
    return code;
#else
    return profile->trace == NULL ? sfu_fast_trace(fast, target, top, 0, pcs, capacity, count)
                                  : profile->trace(profile->repeat, fast, target, top, 0, pcs, capacity, count);
#endif
}

static void take(struct sfu_profile *profile, struct sfu_fast *fast, const struct sfu_target *target,
                 const struct sfu_registers *top)
{
    uint64_t pcs[SFU_PROFILE_PCS + 1];
    size_t count;

    /* One more than is kept: only so does a trace of SFU_PROFILE_PCS say that it is complete. */
    if (trace(profile, fast, target, top, pcs, SFU_PROFILE_PCS + 1, &count) != SFU_END || count > SFU_PROFILE_PCS) {
        if (count > SFU_PROFILE_PCS)
            count = SFU_PROFILE_PCS;
        pcs[count++] = profile->depot.base;
        count_one(&profile->incomplete);
    }
    (void)sfu_depot_add(&profile->depot, pcs, count, 1);
}

void sfu_profile_sample(struct sfu_profile *profile, struct sfu_fast *fast, const struct sfu_target *target,
                        const struct sfu_registers *top, bool idle)
{
    uint32_t state = __atomic_load_n(&profile->state, __ATOMIC_RELAXED);

    /* It fails only if another sample begins or ends, or somebody stops or starts the profile. */
    do {
        if (!(state & RUNNING))
            return;
    } while (!__atomic_compare_exchange_n(&profile->state, &state, state + SAMPLE, false, __ATOMIC_ACQUIRE,
                                          __ATOMIC_RELAXED));
    count_one(&profile->samples);
    if (idle)
        count_one(&profile->idle);
    else
        take(profile, fast, target, top);
    __atomic_fetch_sub(&profile->state, SAMPLE, __ATOMIC_RELEASE);
}

void sfu_profile_print(const struct sfu_profile *profile, const struct sfu_panic *panic,
                       const struct sfu_depot_report *report)
{
    const uint64_t idle = __atomic_load_n(&profile->idle, __ATOMIC_RELAXED);
    /* By fields: compilers may call memcpy to copy *report. */
    const struct sfu_depot_report full = {"samples",
                                          report->name,
                                          report->build_id,
                                          report->build_id_end,
                                          report->places,
                                          report->num_places,
                                          true,
                                          report->rate,
                                          idle,
                                          report->not_kept};

    sfu_depot_print(panic, &profile->depot, &full);
}

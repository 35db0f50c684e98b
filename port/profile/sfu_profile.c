/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A sample says that it is busy before it looks whether the profile runs. Who starts a profile looks whether one is
 * busy after it was stopped. Of two that meet, at least one sees the other: these four accesses have one order.
 */
#include "sfu_profile.h"

bool sfu_profile_init(struct sfu_profile *profile, void *memory, size_t bytes, uint64_t base)
{
    profile->samples = profile->idle = profile->incomplete = 0;
    profile->busy = 0;
    profile->running = false;
    return sfu_depot_init(&profile->depot, memory, bytes, base);
}

bool sfu_profile_start(struct sfu_profile *profile)
{
    if (__atomic_load_n(&profile->running, __ATOMIC_SEQ_CST) ||
        __atomic_load_n(&profile->busy, __ATOMIC_SEQ_CST) != 0)
        return false;
    profile->samples = profile->idle = profile->incomplete = 0;
    sfu_depot_clear(&profile->depot);
    __atomic_store_n(&profile->running, true, __ATOMIC_SEQ_CST);
    return true;
}

bool sfu_profile_stop(struct sfu_profile *profile)
{
    __atomic_store_n(&profile->running, false, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&profile->busy, __ATOMIC_SEQ_CST) == 0;
}

static void count_one(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void take(struct sfu_profile *profile, struct sfu_fast *fast, const struct sfu_target *target,
                 const struct sfu_registers *top)
{
    uint64_t pcs[SFU_PROFILE_PCS + 1];
    size_t count;

    if (sfu_fast_trace(fast, target, top, 0, pcs, SFU_PROFILE_PCS, &count) != SFU_END) {
        pcs[count++] = profile->depot.base;
        count_one(&profile->incomplete);
    }
    (void)sfu_depot_add(&profile->depot, pcs, count, 1);
}

void sfu_profile_sample(struct sfu_profile *profile, struct sfu_fast *fast, const struct sfu_target *target,
                        const struct sfu_registers *top, bool idle)
{
    __atomic_fetch_add(&profile->busy, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&profile->running, __ATOMIC_SEQ_CST)) {
        count_one(&profile->samples);
        if (idle)
            count_one(&profile->idle);
        else
            take(profile, fast, target, top);
    }
    __atomic_fetch_sub(&profile->busy, 1, __ATOMIC_SEQ_CST);
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

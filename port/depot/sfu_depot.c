/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The memory has the heads of lists, and traces behind them. A trace is in the list that its hash chooses. It is put
 * there by one compare-and-exchange of the head, with release, when it is complete. All changes of a head are such
 * ones. So whoever reads a head with acquire sees all of each trace in that list. Room is taken by an atomic addition.
 * A trace that is in a list stays there, and nothing but its weight changes.
 */
#include "sfu_depot.h"

/* The words of a trace. Its PCs follow: as distances from the base or, if they are wide, as two words, the lower half
 * first. */
struct record {
    uint32_t next; /* of the list; 0: the last */
    uint32_t hash;
    sfu_depot_weight weight;
    uint16_t count;
    uint16_t wide;   /* 1, else 0 */
    uint32_t pcs[1]; /* as many words as they take */
};
enum { HEADER = 12 + sizeof(sfu_depot_weight), UNIT = 8, HEADS_PER_UNIT = UNIT / 4 };

static struct record *record_at(const struct sfu_depot *depot, uint32_t handle)
{
    return (struct record *)(void *)(depot->words + (size_t)handle * HEADS_PER_UNIT);
}

/* The units that a trace takes. */
static uint32_t size_of(uint32_t count, unsigned wide)
{
    return (HEADER + (4 * count << wide) + UNIT - 1) / UNIT;
}

/* WIDE: as find_record or the record says. */
static uint64_t pc_of(const struct sfu_depot *depot, const struct record *r, unsigned wide, size_t i)
{
    return wide ? r->pcs[2 * i] | (uint64_t)r->pcs[2 * i + 1] << 32 : depot->base + r->pcs[i];
}

static uint32_t *head_of(const struct sfu_depot *depot, uint32_t hash)
{
    return &depot->words[hash & depot->mask];
}

/* Where size counts there is one way for traces that are there and those that are not. Else what is common becomes part
 * of its caller, and what is rare does not. */
#define RARE static __attribute__((__noinline__))
#ifdef __OPTIMIZE_SIZE__
#define SMALL  1
#define COMMON static
#else
#define SMALL  0
#define COMMON static inline __attribute__((always_inline))
#endif

/* ---- Adding ---------------------------------------------------------------------------------------------------- */

/* A product's upper half depends on all bits of its factors, and comes to the lower half. */
static uint32_t hash_of(const uint64_t *pcs, size_t count)
{
    uint64_t hash = count;
    size_t i;

    for (i = 0; i < count; i++) {
        hash = (hash ^ pcs[i]) * (uint64_t)0x9e3779b97f4a7c15u;
        hash = hash >> 32 | hash << 32;
    }
    return (uint32_t)hash;
}

/* Whether R has the PCS, of which there are as many. */
RARE bool is_same_wide(const struct sfu_depot *depot, const struct record *r, const uint64_t *pcs)
{
    size_t i = 0;

    while (i < r->count && pc_of(depot, r, r->wide, i) == pcs[i])
        i++;
    return i == r->count;
}

COMMON bool is_same(const struct sfu_depot *depot, const struct record *r, const uint64_t *pcs)
{
    const uint64_t base = depot->base;
    const size_t count = r->count;
    size_t i = 0;

    if (SMALL || r->wide)
        return is_same_wide(depot, r, pcs);
    while (i < count && base + r->pcs[i] == pcs[i])
        i++;
    return i == count;
}

/* The handle of a trace in the list from AT up to STOP, which is in it or 0; or 0. A list has each trace once. */
COMMON uint32_t find(const struct sfu_depot *depot, uint32_t at, uint32_t stop, uint32_t hash, const uint64_t *pcs,
                     size_t count)
{
    while (at != stop) {
        const struct record *r = record_at(depot, at);

        if (r->hash == hash && r->count == count && is_same(depot, r, pcs))
            return at;
        at = r->next;
    }
    return 0;
}

/* Takes room for SIZE units. Returns 0 if there is none. Only the calls that run at the same time can take used beyond
 * the room, and each does so once: it cannot wrap. */
static uint32_t take_room(struct sfu_depot *depot, uint32_t size)
{
    uint32_t used = __atomic_load_n(&depot->used, __ATOMIC_RELAXED);

    if (used > depot->room || size > depot->room - used)
        return 0;
    used = __atomic_fetch_add(&depot->used, size, __ATOMIC_RELAXED);
    return used <= depot->room && size <= depot->room - used ? used : 0;
}

/* Fills in all of R but where it is in the list. */
static void fill(const struct sfu_depot *depot, struct record *r, uint32_t hash, const uint64_t *pcs, size_t count,
                 unsigned wide)
{
    size_t i;

    r->hash = hash;
    r->count = (uint16_t)count;
    r->wide = (uint16_t)wide;
    for (i = 0; i < count; i++) {
        if (wide) {
            r->pcs[2 * i] = (uint32_t)pcs[i];
            r->pcs[2 * i + 1] = (uint32_t)(pcs[i] >> 32);
        } else {
            r->pcs[i] = (uint32_t)(pcs[i] - depot->base);
        }
    }
}

/* Makes a trace that is in no list yet. Returns 0 if there is no room. */
static uint32_t make(struct sfu_depot *depot, uint32_t hash, const uint64_t *pcs, size_t count, int64_t weight)
{
    uint32_t handle;
    unsigned wide = 0;
    size_t i;

    for (i = 0; i < count; i++)
        wide |= pcs[i] - depot->base > UINT32_MAX;
    handle = take_room(depot, size_of((uint32_t)count, wide));
    if (handle != 0) {
        record_at(depot, handle)->weight = (sfu_depot_weight)weight;
        fill(depot, record_at(depot, handle), hash, pcs, count, wide);
    }
    return handle;
}

static void weigh(struct record *r, int64_t weight)
{
    __atomic_fetch_add(&r->weight, (sfu_depot_weight)weight, __ATOMIC_RELAXED);
}

RARE uint32_t lose(struct sfu_depot *depot, int64_t weight)
{
    __atomic_fetch_add(&depot->lost, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&depot->lost_weight, (sfu_depot_weight)weight, __ATOMIC_RELAXED);
    return 0;
}

/* Adds WEIGHT to the trace if another has put it there meanwhile, else puts it there. Each pass but the first comes of
 * another trace that was put into the list, and looks at no more than these: there are no more passes than the depot
 * has room for. */
RARE uint32_t put(struct sfu_depot *depot, uint32_t hash, const uint64_t *pcs, size_t count, int64_t weight)
{
    uint32_t *list = head_of(depot, hash), before = 0, made = 0, head, found;

    for (;;) {
        head = __atomic_load_n(list, __ATOMIC_ACQUIRE);
        found = find(depot, head, before, hash, pcs, count);
        if (found != 0) {
            weigh(record_at(depot, found), weight);
            return found;
        }
        if (made == 0)
            made = make(depot, hash, pcs, count, weight);
        if (made == 0)
            return lose(depot, weight);
        before = head;
        record_at(depot, made)->next = head;
        if (__atomic_compare_exchange_n(list, &head, made, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return made;
    }
}

uint32_t sfu_depot_add(struct sfu_depot *depot, const uint64_t *pcs, size_t count, int64_t weight)
{
    uint32_t hash, found;

    if (count > SFU_DEPOT_PCS)
        return lose(depot, weight);
    hash = hash_of(pcs, count);
    found = SMALL ? 0 : find(depot, __atomic_load_n(head_of(depot, hash), __ATOMIC_ACQUIRE), 0, hash, pcs, count);
    if (found == 0)
        return put(depot, hash, pcs, count, weight);
    weigh(record_at(depot, found), weight);
    return found;
}

/* ---- Reading --------------------------------------------------------------------------------------------------- */

/* What a handle can mean: a trace, or what stands where one would be. An add may change that at any time, so each
 * number is read once, and then checked. */
struct meant {
    struct record *record;
    uint32_t count;
    unsigned wide;
};

/* Sets *MEANT to what HANDLE can mean. Returns false if that would not lie in the memory. */
static bool find_record(const struct sfu_depot *depot, uint32_t handle, struct meant *meant)
{
    const uint32_t least = (HEADER + UNIT - 1) / UNIT;

    if (handle <= depot->mask / HEADS_PER_UNIT || handle > depot->room - least)
        return false;
    meant->record = record_at(depot, handle);
    meant->count = __atomic_load_n(&meant->record->count, __ATOMIC_RELAXED);
    meant->wide = __atomic_load_n(&meant->record->wide, __ATOMIC_RELAXED) & 1;
    return meant->count <= SFU_DEPOT_PCS && size_of(meant->count, meant->wide) <= depot->room - handle;
}

bool sfu_depot_weigh(struct sfu_depot *depot, uint32_t handle, int64_t weight)
{
    struct meant meant;
    bool found = find_record(depot, handle, &meant);

    if (handle == 0)
        __atomic_fetch_add(&depot->lost_weight, (sfu_depot_weight)weight, __ATOMIC_RELAXED);
    if (found)
        weigh(meant.record, weight);
    return found;
}

size_t sfu_depot_get(const struct sfu_depot *depot, uint32_t handle, size_t skip, uint64_t *pcs, size_t capacity,
                     int64_t *weight)
{
    struct meant meant;
    bool found = find_record(depot, handle, &meant);
    size_t count = found ? meant.count : 0, i;

    for (i = 0; i < capacity && skip < count; i++)
        pcs[i] = pc_of(depot, meant.record, meant.wide, skip++);
    if (weight != NULL)
        *weight = found ? __atomic_load_n(&meant.record->weight, __ATOMIC_RELAXED) : 0;
    return count;
}

/* HANDLE is that of a trace if it is in the list that its hash chooses. Whatever stands there, no more is read than a
 * list: it has each trace once. */
uint32_t sfu_depot_next(const struct sfu_depot *depot, uint32_t handle)
{
    struct meant meant;
    uint32_t list = 0, at;

    if (handle != 0) {
        if (!find_record(depot, handle, &meant))
            return 0;
        list = __atomic_load_n(&meant.record->hash, __ATOMIC_RELAXED) & depot->mask;
        at = __atomic_load_n(&depot->words[list], __ATOMIC_ACQUIRE);
        while (at != 0 && at != handle)
            at = record_at(depot, at)->next;
        if (at == 0)
            return 0;
        if (meant.record->next != 0)
            return meant.record->next;
        list++;
    }
    for (at = 0; at == 0 && list <= depot->mask; list++)
        at = __atomic_load_n(&depot->words[list], __ATOMIC_ACQUIRE);
    return at;
}

/* ---- Making ---------------------------------------------------------------------------------------------------- */

/* Until it is done, there is no room. */
void sfu_depot_clear(struct sfu_depot *depot)
{
    uint32_t i;

    __atomic_store_n(&depot->used, depot->room, __ATOMIC_RELAXED);
    for (i = 0; i <= depot->mask; i++)
        __atomic_store_n(&depot->words[i], 0, __ATOMIC_RELEASE);
    depot->lost = 0;
    depot->lost_weight = 0;
    __atomic_store_n(&depot->used, (depot->mask + 1) / HEADS_PER_UNIT, __ATOMIC_RELEASE);
}

bool sfu_depot_init(struct sfu_depot *depot, void *memory, size_t bytes, uint64_t base)
{
    const size_t most = (size_t)1 << 31; /* units */
    size_t off = (size_t)(0 - (uintptr_t)memory) % UNIT, heads = 8;

    if (bytes < off || bytes - off < SFU_DEPOT_LEAST)
        return false;
    bytes -= off;
    depot->words = (uint32_t *)(void *)((uint8_t *)memory + off);
    depot->base = base;
    depot->room = (uint32_t)(bytes / UNIT < most ? bytes / UNIT : most);
    while (heads * 2 * 4 <= depot->room / 16 * UNIT)
        heads *= 2;
    depot->mask = (uint32_t)heads - 1;
    sfu_depot_clear(depot);
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "heap.h"

enum { FRAMES = 32, LEAST = 16 };

/* Stores the PCs from the caller of TOP on, at most FRAMES, and returns how many. */
static size_t trace(struct sfu_fast *fast, const struct sfu_registers *top, uint64_t *pcs)
{
    size_t count = 0;

#if __GCC_ATOMIC_LLONG_LOCK_FREE < 2 || defined(__i386__) /* the fast walker needs atomic operations of 64 bits */
    struct sfu_walk walk;

    (void)fast;
    sfu_walk_start(&walk, &kernel_target, top);
    while (count < FRAMES && sfu_walk_step(&walk) == SFU_OK)
        pcs[count++] = walk.frame.regs.pc;
#else
    (void)sfu_fast_trace(fast, &kernel_target, top, 1, pcs, FRAMES, &count);
#endif
    return count;
}

/* Adds WEIGHT to the call path that has called our caller. */
static inline __attribute__((always_inline)) uint32_t note(struct where *where, int64_t weight)
{
    struct sfu_cpu cpu;
    struct sfu_registers here = sfu_here(&cpu);
    uint64_t pcs[FRAMES];
    size_t count = trace(where->fast, &here, pcs);

    return sfu_depot_add(&where->depot, pcs, count, weight);
}

/* ---- memory ---- */

/* In front of each block. Free ones are in a list. */
struct block {
    uint32_t size;      /* of the block behind this, a multiple of 8 */
    uint32_t allocated; /* where: a handle; 0: not known */
};

struct free_block {
    struct block block;
    struct free_block *next;
};

static struct free_block *first_free;
static struct where *heap_where;

void heap_init(void *memory, size_t size, struct where *where)
{
    first_free = memory;
    first_free->block.size = (uint32_t)(size - sizeof(struct block)) & ~7u;
    first_free->block.allocated = 0;
    first_free->next = NULL;
    heap_where = where;
}

/* Cuts what is too much of FREE off: it becomes a free block. */
static void split(struct free_block *free, uint32_t size)
{
    uint32_t rest = free->block.size - size;
    struct free_block *other = (void *)((uint8_t *)free + sizeof(struct block) + size);

    if (rest < sizeof(struct block) + LEAST)
        return;
    free->block.size = size;
    other->block.size = rest - (uint32_t)sizeof(struct block);
    other->block.allocated = 0;
    other->next = free->next;
    free->next = other;
}

void *heap_alloc(size_t size)
{
    uint32_t wanted = size < LEAST ? LEAST : (uint32_t)(size + 7) & ~7u;
    struct free_block **link = &first_free, *free;

    while (*link != NULL && (*link)->block.size < wanted)
        link = &(*link)->next;
    free = *link;
    if (free == NULL)
        return NULL;
    split(free, wanted);
    *link = free->next;
    free->block.allocated = heap_where != NULL ? note(heap_where, (int64_t)free->block.size) : 0;
    return &free->block + 1;
}

void heap_free(void *block)
{
    struct free_block *free = (void *)((struct block *)block - 1);

    if (block == NULL)
        return;
    if (heap_where != NULL)
        (void)sfu_depot_weigh(&heap_where->depot, free->block.allocated, -(int64_t)free->block.size);
    free->next = first_free;
    first_free = free;
}

/* ---- locks ---- */

void lock_take(struct lock *lock, struct where *where, unsigned cpu, uint64_t now)
{
    while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE) != 0) {
    }
    lock->cpu = cpu;
    lock->since = now;
    lock->got = note(where, 0);
}

void lock_drop(struct lock *lock, struct where *where, uint64_t now)
{
    (void)sfu_depot_weigh(&where->depot, lock->got, (int64_t)(now - lock->since));
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}

/* Return addresses: frame 0 of a trace is the interrupted one. */
void lock_print(const struct lock *lock, const struct where *where, const struct sfu_panic *panic)
{
    uint64_t pcs[FRAMES];
    size_t count, i;

    if (lock->held == 0)
        return;
    sfu_print_text(panic, "lock ");
    sfu_print_text(panic, lock->name);
    sfu_print_number(panic, " is held by CPU ", lock->cpu, 10, 1);
    sfu_print_number(panic, " since ", lock->since, 10, 1);
    sfu_print_text(panic, ", got at\n");
    count = sfu_depot_get(&where->depot, lock->got, 0, pcs, FRAMES, NULL);
    for (i = 0; i < count && i < FRAMES; i++) {
        const struct sfu_print_item item = {.pc = pcs[i], .lookup = pcs[i] - 1, .number = (uint32_t)i + 1};

        sfu_print_line(panic, &item);
    }
}

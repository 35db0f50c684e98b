/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The core walks a copy of the target, whose stacks have no bytes and whose callbacks are those of this file. So what
 * it reads and asks is known, and nothing else decides what it gives.
 */
#include "sfu_repeat.h"

enum { MOST_TIMES = 1024 };

#define KEEP_LOOP __asm__ volatile("") /* compilers would call memcpy instead */

typedef uint64_t __attribute__((may_alias)) any_word;

/* ---- What a trace depends on ----------------------------------------------------------------------------------- */

/* Whether COUNT words at ONE and OTHER are the same. */
static bool are_equal(const uint64_t *one, const uint64_t *other, size_t count)
{
    size_t i = 0;

    while (i < count && one[i] == other[i])
        i++;
    return i == count;
}

static void copy(uint64_t *to, const uint64_t *from, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        to[i] = from[i];
        KEEP_LOOP;
    }
}

/* Sets *ANSWER to what the find_stack of T, which has one, says of ADDR. */
static void ask(const struct sfu_target *t, sfu_addr addr, struct sfu_repeat_answer *answer)
{
    answer->addr = addr;
    answer->stack.bytes = t->stack.bytes;
    answer->stack.low = t->stack.low;
    answer->stack.high = t->stack.high;
    answer->found = t->find_stack(t->ctx, addr, &answer->stack);
}

/* Whether the answers are those that T gives now. */
static bool answers_hold(const struct sfu_repeat *r, const struct sfu_target *t)
{
    struct sfu_repeat_answer now;
    uint32_t i;

    for (i = 0; i < r->num_answers; i++) {
        const struct sfu_repeat_answer *was = &r->answers[i];

        ask(t, was->addr, &now);
        if (now.found != was->found || now.stack.bytes != was->stack.bytes || now.stack.low != was->stack.low ||
            now.stack.high != was->stack.high)
            return false;
    }
    return true;
}

static uint64_t word_at(uint64_t place)
{
    return *(const any_word *)(uintptr_t)place;
}

/* Whether all words have their values. The stacks that they are on are there: their answers hold. */
static bool words_hold(const struct sfu_repeat *r)
{
    const uint64_t *pair = r->memory + r->count, *end = pair + 2 * r->pairs;
    uint64_t differ = 0;

    for (; pair != end; pair += 2)
        differ |= word_at(pair[0]) ^ pair[1];
    return differ == 0;
}

/* ---- Learning it ----------------------------------------------------------------------------------------------- */

/* What the callbacks of the copied target get. */
struct learner {
    struct sfu_repeat *repeat;
    const struct sfu_target *target;
    bool fit; /* nothing was read or asked that cannot be remembered */
};

static bool learn_stack(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    struct learner *l = (struct learner *)ctx;
    struct sfu_repeat_answer *answer;

    if (l->repeat->num_answers == SFU_REPEAT_STACKS) {
        l->fit = false;
        return false;
    }
    answer = &l->repeat->answers[l->repeat->num_answers++];
    ask(l->target, addr, answer);
    stack->bytes = NULL;
    stack->low = answer->stack.low;
    stack->high = answer->stack.high;
    return answer->found;
}

/* The place of the word at ADDR if STACK has it, or else PLACE; 0 if stacks disagree. */
static uint64_t place_on(struct learner *l, const struct sfu_stack *stack, sfu_addr addr, uint64_t place)
{
    uint64_t here;

    if (addr < stack->low || addr >= stack->high || stack->high - addr < 8)
        return place;
    here = (uintptr_t)stack->bytes + (addr - stack->low);
    if (stack->bytes == NULL || here % 8 != 0 || (place != 0 && place != here))
        l->fit = false;
    return here;
}

static int learn_word(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    struct learner *l = (struct learner *)ctx;
    struct sfu_repeat *r = l->repeat;
    uint64_t place = 0, word, *pair = r->memory + r->count + 2 * r->pairs;
    uint32_t i;

    if (l->target->find_stack == NULL)
        place = place_on(l, &l->target->stack, addr, 0);
    for (i = 0; i < r->num_answers; i++)
        if (r->answers[i].found)
            place = place_on(l, &r->answers[i].stack, addr, place);
    if (place == 0 || len != 8 || (r->room - r->count) / 2 <= r->pairs)
        l->fit = false;
    if (!l->fit)
        return -1;
    pair[0] = place;
    pair[1] = word = word_at(place);
    r->pairs++;
    for (i = 0; i < 8; i++)
        ((uint8_t *)buffer)[i] = ((const uint8_t *)&word)[i];
    return 0;
}

static int learn_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    (void)frame;
    (void)reg;
    (void)value;
    ((struct learner *)ctx)->fit = false;
    return -1;
}

static int learn_trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    (void)frame;
    (void)interrupted;
    ((struct learner *)ctx)->fit = false;
    return code;
}

/* Whether a walk of T by the core gives the trace. Each frame counts against the target's limit. */
static bool gives_trace(const struct sfu_repeat *r, const struct sfu_target *t, const struct sfu_registers *top,
                        size_t skip, size_t capacity)
{
    struct sfu_walk walk;
    size_t count = 0;
    int code = SFU_OK;

    sfu_walk_start(&walk, t, top);
    for (; skip > 0 && code == SFU_OK; skip--)
        code = sfu_walk_step(&walk);
    while (code == SFU_OK && count < capacity) {
        if (count == r->count || walk.frame.regs.pc != r->memory[count])
            return false;
        count++;
        if (count < capacity)
            code = sfu_walk_step(&walk);
    }
    return count == r->count && code == r->code;
}

/* Learns the words and answers of the trace. Returns whether it can be remembered. The change that is counted in the
 * keys was the last one all the time. */
static bool learn(struct sfu_repeat *r, const struct sfu_fast *fast, const struct sfu_target *target,
                  const struct sfu_registers *top, size_t skip, size_t capacity)
{
    struct learner l = {r, target, true};
    const struct sfu_target t = {target->sections,
                                 {NULL, target->stack.low, target->stack.high},
                                 target->find_stack != NULL ? learn_stack : NULL,
                                 learn_word,
                                 target->reg != NULL ? learn_register : NULL,
                                 target->trap_hook != NULL ? learn_trap : NULL,
                                 NULL,
                                 &l,
                                 {target->final.low, target->final.high},
                                 target->pac_mask,
                                 target->max_frames,
                                 target->red_zone,
                                 target->max_switches,
                                 target->frame_pointers};
    const struct sfu_section *s;

    if (target->original_ra != NULL || target->sections != sfu_fast_sections(fast))
        return false;
    for (s = target->sections; s != NULL; s = s->next)
        if (s->bytes == NULL)
            return false;
    r->num_answers = 0;
    r->pairs = 0;
    return gives_trace(r, &t, top, skip, capacity) && l.fit &&
           __atomic_load_n(&fast->changes, __ATOMIC_ACQUIRE) == r->keys[0];
}

/* ---- Trace ----------------------------------------------------------------------------------------------------- */

/* Whether nobody has used R until now. gcc would call a library that a kernel does not have. */
#if defined(__aarch64__)
__attribute__((target("no-outline-atomics")))
#endif
static __attribute__((__noinline__)) bool
set_busy(struct sfu_repeat *r)
{
    return __atomic_exchange_n(&r->busy, 1, __ATOMIC_ACQUIRE) == 0;
}

/* A trace that was known did not come, or could not become known: the next one must come more often for that. */
static void wait_longer(struct sfu_repeat *r)
{
    if (r->patience <= MOST_TIMES / 2)
        r->patience *= 2;
}

/* Forgets the trace that is known, because it did not come. */
static void forget(struct sfu_repeat *r)
{
    if (r->came < r->patience)
        wait_longer(r);
    else
        r->patience = SFU_REPEAT_TIMES;
    r->known = false;
    r->came = 0;
}

/* Takes in a trace that the fast walker has made. Returns whether it has come often enough to learn its words. */
static bool take_in(struct sfu_repeat *r, const uint64_t *keys, const uint64_t *pcs, size_t count, int code)
{
    if (r->known)
        forget(r);
    if (r->code == code && r->count == count && are_equal(r->keys, keys, SFU_REPEAT_KEYS) &&
        are_equal(r->memory, pcs, count)) {
        r->came++;
        return r->came == r->patience;
    }
    r->came = 0;
    r->code = code;
    r->count = count <= r->room ? count : 0;
    copy(r->keys, keys, SFU_REPEAT_KEYS);
    copy(r->memory, pcs, r->count);
    return false;
}

void sfu_repeat_init(struct sfu_repeat *repeat, uint64_t *memory, size_t words)
{
    size_t i;

    repeat->memory = memory;
    repeat->room = words;
    for (i = 0; i < SFU_REPEAT_KEYS; i++) {
        repeat->keys[i] = 0;
        KEEP_LOOP;
    }
    repeat->count = repeat->pairs = 0;
    repeat->code = SFU_OK;
    repeat->known = false;
    repeat->num_answers = repeat->came = 0;
    repeat->patience = SFU_REPEAT_TIMES;
    repeat->busy = 0;
}

int sfu_repeat_trace(struct sfu_repeat *repeat, struct sfu_fast *fast, const struct sfu_target *target,
                     const struct sfu_registers *top, size_t skip, uint64_t *pcs, size_t capacity, size_t *count)
{
    const struct sfu_target *t = target;
    struct sfu_repeat *r = repeat;
    /* The number of changes stands for the tables, so it is read before them. */
    const uint64_t changes = __atomic_load_n(&fast->changes, __ATOMIC_ACQUIRE);
    const uint64_t keys[SFU_REPEAT_KEYS] = {changes,
                                            (uintptr_t)fast,
                                            (uintptr_t)t->sections,
                                            (uintptr_t)t->stack.bytes,
                                            t->stack.low,
                                            t->stack.high,
                                            (uintptr_t)t->find_stack,
                                            (uintptr_t)t->reg,
                                            (uintptr_t)t->trap_hook,
                                            (uintptr_t)t->original_ra,
                                            (uintptr_t)t->ctx,
                                            t->final.low,
                                            t->final.high,
                                            t->pac_mask,
                                            t->max_frames,
                                            t->red_zone,
                                            t->max_switches,
                                            t->frame_pointers,
                                            top->pc,
                                            top->sp,
                                            top->fp,
                                            top->has_ra ? top->ra : 0,
                                            top->has_ra,
                                            (uint64_t)top->pc_kind,
                                            skip,
                                            capacity};
    int code;

    if (!set_busy(r))
        return sfu_fast_trace(fast, target, top, skip, pcs, capacity, count);
    if (r->known && are_equal(r->keys, keys, SFU_REPEAT_KEYS) && answers_hold(r, target) && words_hold(r)) {
        if (r->came < MOST_TIMES)
            r->came++;
        copy(pcs, r->memory, r->count);
        *count = r->count;
        code = r->code;
    } else {
        code = sfu_fast_trace(fast, target, top, skip, pcs, capacity, count);
        if (take_in(r, keys, pcs, *count, code)) {
            r->known = learn(r, fast, target, top, skip, capacity);
            if (!r->known)
                wait_longer(r);
            r->came = 0;
        }
    }
    __atomic_store_n(&r->busy, 0, __ATOMIC_RELEASE);
    return code;
}

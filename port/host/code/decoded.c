/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "decoded.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Facts of an image with more bytes of code are not kept: the memory for them is bounded. */
enum { MAX_CODE = 16 << 20 };

/* A fact is kept as its words up to the last op, with the distance to its target in the place of that: then most
 * instructions share theirs with others. */
enum { MAX_WORDS = sizeof(struct code_fact) / sizeof(uint64_t) };

/* Where a fact is, + 1, or 0: free. */
struct known {
    uint32_t place, hash;
};

struct decoded {
    struct image *image;
    const struct section *last; /* the section of the PC before, or NULL */
    uint32_t **places;          /* by the number of a section and the offset in it: where the fact is, + 1; or 0 */
    uint64_t *words;            /* facts, one behind the other */
    size_t num_words;
    struct known *by_hash; /* at most half of SIZE, a power of two, are taken */
    size_t num_facts, size;
};

struct decoded *decoded_new(struct image *image)
{
    struct decoded *d;
    uint64_t left = MAX_CODE;
    size_t i;

    for (i = 0; i < image->num_code; left -= image->code[i++]->size)
        if (image->code[i]->size > left)
            return NULL;
    d = zeroed(1, sizeof *d);
    d->image = image;
    d->places = zeroed(image->num_sections, sizeof *d->places);
    return d;
}

void decoded_free(struct decoded *d)
{
    size_t i;

    if (d == NULL)
        return;
    for (i = 0; i < d->image->num_sections; i++)
        free(d->places[i]);
    free(d->places);
    free(d->words);
    free(d->by_hash);
    free(d);
}

/* Where it is noted where the fact of PC is; or NULL, if PC is in no section of code. */
static uint32_t *place_of(struct decoded *d, uint64_t pc)
{
    const struct section *code = d->last;
    uint32_t **places;

    if (code == NULL || pc - code->addr >= code->size)
        d->last = code = image_code(d->image, pc);
    if (code == NULL)
        return NULL;
    places = &d->places[code - d->image->sections];
    if (*places == NULL)
        *places = zeroed((size_t)code->size, sizeof **places);
    return &(*places)[pc - code->addr];
}

/* How many words a fact with NUM ops is kept in. */
static size_t num_words(unsigned num)
{
    return (offsetof(struct code_fact, op) + num * sizeof(struct code_op)) / sizeof(uint64_t);
}

bool decoded_find(struct decoded *d, const struct code_text *text, uint64_t pc, struct code_fact *fact)
{
    const uint32_t *place = place_of(d, pc);
    const uint64_t *words;
    struct code_fact head;
    unsigned i;

    if (place == NULL || *place == 0)
        return false;
    words = d->words + (*place - 1);
    memcpy(&head, words, offsetof(struct code_fact, op));
    if (head.size > text->end - pc)
        return false;
    memcpy(fact, &head, offsetof(struct code_fact, op));
    fact->target += fact->target != 0 ? pc : 0;
    for (i = 0; i < head.num; i++)
        memcpy(&fact->op[i], words + num_words(i), sizeof *fact->op);
    return true;
}

static uint32_t hash_of(const uint64_t *words, size_t num)
{
    uint32_t hash = 0;
    size_t i;

    for (i = 0; i < num; i++)
        hash = code_hash(words[i] + ((uint64_t)hash << 32 | hash));
    return hash;
}

/* Makes room for one more in BY_HASH. */
static void grow_hash(struct decoded *d)
{
    struct known *before = d->by_hash;
    const size_t size = d->size;
    size_t i, at;

    if (d->num_facts < size / 2)
        return;
    d->size = size > 0 ? 2 * size : 4096;
    d->by_hash = zeroed(d->size, sizeof *d->by_hash);
    for (i = 0; i < size; i++) {
        if (before[i].place == 0)
            continue;
        at = before[i].hash & (d->size - 1);
        while (d->by_hash[at].place != 0)
            at = (at + 1) & (d->size - 1);
        d->by_hash[at] = before[i];
    }
    free(before);
}

/* Where the fact of NUM WORDS is, + 1. It is put there if it is new. */
static uint32_t place_fact(struct decoded *d, const uint64_t *words, size_t num)
{
    const uint32_t hash = hash_of(words, num);
    struct known *known;
    size_t at, i;

    grow_hash(d);
    for (at = hash & (d->size - 1); d->by_hash[at].place != 0; at = (at + 1) & (d->size - 1)) {
        const size_t place = d->by_hash[at].place - 1;

        if (d->by_hash[at].hash == hash && num <= d->num_words - place &&
            memcmp(d->words + place, words, num * sizeof *words) == 0)
            return d->by_hash[at].place;
    }
    known = &d->by_hash[at];
    *known = (struct known){(uint32_t)d->num_words + 1, hash};
    d->num_facts++;
    for (i = 0; i < num; i++) {
        d->words = grow(d->words, d->num_words, sizeof *d->words);
        d->words[d->num_words++] = words[i];
    }
    return known->place;
}

void decoded_keep(struct decoded *d, uint64_t pc, const struct code_fact *fact)
{
    uint32_t *place = fact->size != 0 && fact->target != pc ? place_of(d, pc) : NULL;
    struct code_fact kept;
    uint64_t words[MAX_WORDS];

    if (place == NULL)
        return;
    memcpy(&kept, fact, sizeof kept);
    kept.target -= kept.target != 0 ? pc : 0;
    memcpy(words, &kept, sizeof words);
    *place = place_fact(d, words, num_words(kept.num));
}

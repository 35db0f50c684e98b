/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "compare.h"
#include "encode.h"
#include "port/fast/sfu_fast.h"

#include <stdlib.h>
#include <string.h>

/* The stack. Frames begin at its second sixteenth, with FP at its first quarter. Each word of its first half has a
 * value of its own, a place in the second half; so has each word of that. A walker that reads another slot therefore
 * gets another PC, and cannot be right by luck. Words are saved registers of the ABI. */
enum { STACK = 1 << 20, STACK_SP = STACK / 16, STACK_FP = STACK / 4, STACK_VALUES = STACK / 2 };

enum { OWN, CALLERS, SECTIONS };

enum { FRAMES = 3, KNOWN = 256 };

/* The frames behind a row, by the core. */
struct walked {
    struct sfu_row row;
    uint64_t pcs[FRAMES]; /* behind the first */
    size_t count;         /* 0: nothing is known */
    int code;             /* what ends them, or SFU_OK */
};

struct walker {
    struct sfu_section sections[SECTIONS];
    struct sfu_section *list;
    struct sfu_fast fast;
    struct sfu_fast_image images[SECTIONS];
    struct sfu_target target;
    struct sfu_row caller; /* what CALLERS says */
    void *index;           /* of OWN */
    struct bytes callers;
    uint8_t *stack;
    uint64_t low; /* its address */
    struct walked known[KNOWN];
};

/* Tables in which all values of the stack are PCs of one function. It has CFA = FP + 2 words (s390x: 176), and its
 * callers' registers below that: where a caller's PC was found tells its FP. */
static bool make_callers(struct walker *w, struct image *image)
{
    const struct registers *r = image->registers;
    const uint16_t fp = (uint16_t)(r->fp << RULE_NUMBER | RULE_REGISTER);
    const int32_t word = r->word;
    struct made_row row = {
        0, {2 * word + (int32_t)r->sp_below_cfa, -word, -2 * word}, {fp, RULE_DEREFERENCE, RULE_DEREFERENCE}, 0};
    struct function function = {w->low, STACK, 1, 0, false, false, false, false, false, false, 0};
    struct tables tables = {image, &function, &row, NULL, 1, 1, 0, 0, 0, 0, 0, 0, 0, false, false, false};
    const struct encoding encoding = {0, false};

    if (!encode(&tables, &encoding, w->low, &w->callers))
        return false;
    return sfu_add(&w->list, &w->sections[CALLERS], 1, w->callers.data, w->callers.size, w->low) == SFU_OK &&
           sfu_find(&w->sections[CALLERS], w->low, &w->caller) == SFU_OK;
}

/* An address that is far from the image's code. */
static uint64_t far_from(const struct image *image, uint64_t addr)
{
    if (image->registers->word == 4)
        return addr >> 30 & 1 ? (uint64_t)1 << 29 : (uint64_t)1 << 30;
    return addr >> 46 & 1 ? (uint64_t)1 << 45 : (uint64_t)1 << 46;
}

/* By an index lookups are faster, but not other ones. The newest section is the first image. */
static void set_index(struct walker *w)
{
    struct sfu_fast_image *own = &w->images[w->images[0].section == &w->sections[OWN] ? 0 : 1];
    size_t size = sfu_fast_index_size(own);

    w->index = size > 0 ? zeroed(size, 1) : NULL;
    if (size > 0)
        (void)sfu_fast_set_index(own, w->index, size);
}

struct walker *walker_new(struct image *image, const uint8_t *bytes, uint64_t size, uint64_t addr)
{
    struct walker *w = zeroed(1, sizeof *w);
    uint64_t k;

    w->low = far_from(image, addr);
    if (sfu_add(&w->list, &w->sections[OWN], 1, bytes, size, addr) != SFU_OK || !make_callers(w, image) ||
        sfu_fast_add(&w->fast, w->images, SECTIONS, w->list) != SFU_OK || !w->images[0].common ||
        !w->images[1].common) {
        walker_free(w);
        return NULL;
    }
    set_index(w);
    w->stack = zeroed(STACK, 1);
    for (k = 0; k < STACK; k += image->registers->word)
        store_number(w->stack + k, image->registers->word, image->big, w->low + STACK_VALUES + k % STACK_VALUES);
    w->target.sections = sfu_fast_sections(&w->fast);
    w->target.stack = (struct sfu_stack){w->stack, w->low, w->low + STACK};
    return w;
}

void walker_free(struct walker *w)
{
    if (w == NULL)
        return;
    free(w->callers.data);
    free(w->index);
    free(w->stack);
    free(w);
}

/* Walks from TOP, where the tables have ROW, by the core. */
static void walk(const struct walker *w, const struct sfu_registers *top, const struct sfu_row *row,
                 struct walked *walked)
{
    struct sfu_walk walk;
    int code;

    sfu_walk_start(&walk, &w->target, top);
    code = sfu_apply(&walk, row);
    for (walked->count = 1; code == SFU_OK;) {
        walked->pcs[walked->count++] = walk.frame.regs.pc;
        if (walked->count == FRAMES)
            break;
        code =
            sfu_lookup_pc(&walk.frame.regs) - w->low < STACK ? sfu_apply(&walk, &w->caller) : sfu_walk_step(&walk);
    }
    walked->code = code;
    walked->row = *row;
}

/* Whether walks from two rows are the same: only where they hold differs. */
static bool same_row(const struct sfu_row *a, const struct sfu_row *b)
{
    return rule_is_same(&a->cfa, &b->cfa) && rule_is_same(&a->ra, &b->ra) && rule_is_same(&a->fp, &b->fp) &&
           a->abi == b->abi && a->kind == b->kind && a->trap_frame == b->trap_frame && a->signed_ra == b->signed_ra;
}

/* The walk from TOP, where the tables have ROW. All walks begin with the same registers, but for the PC, and few rows
 * are different. */
static const struct walked *walk_of(struct walker *w, const struct sfu_registers *top, const struct sfu_row *row)
{
    uint32_t hash = (uint32_t)row->cfa.offset * 5 + row->cfa.control * 3 + (uint32_t)row->fp.offset * 7 +
                    (uint32_t)row->ra.offset;
    struct walked *walked = &w->known[(hash ^ hash >> 8) % KNOWN];

    if (walked->count == 0 || !same_row(&walked->row, row))
        walk(w, top, row, walked);
    return walked;
}

const char *walker_check(struct walker *w, const struct difference *agreed)
{
    const uint64_t ends[] = {agreed->start, agreed->end - 1};
    const size_t num_ends = ends[0] == ends[1] ? 1 : 2;
    struct sfu_registers top = {0,   w->low + STACK_SP, w->low + STACK_FP, w->low + STACK_VALUES + 1, SFU_PC_EXACT,
                                true};
    const struct walked *want;
    uint64_t got[FRAMES];
    size_t num_got, i;

    top.pc = agreed->start;
    want = walk_of(w, &top, agreed->got);
    for (i = 0; i < num_ends; i++) {
        top.pc = ends[i];
        if (sfu_fast_trace(&w->fast, &w->target, &top, 0, got, FRAMES, &num_got) != want->code ||
            num_got != want->count || got[0] != top.pc ||
            memcmp(want->pcs + 1, got + 1, (num_got - 1) * sizeof got[0]) != 0)
            return "the fast walker finds another caller";
    }
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_cycles.h"

/* The lengths of the cycles that PC continues: bit N - 1 if the frame N before has the same PC. */
static unsigned repeats(const struct sfu_print_cycle *c, sfu_addr pc)
{
    unsigned i, lengths = 0;

    for (i = 0; i < c->num; i++)
        if (c->before[i] == pc)
            lengths |= 1u << i;
    return lengths;
}

static void remember(struct sfu_print_cycle *c, const struct sfu_print_item *item)
{
    unsigned i;

    if (c->num < SFU_PRINT_CYCLE)
        c->num++;
    for (i = c->num - 1; i > 0; i--) {
        c->before[i] = c->before[i - 1];
        c->sizes[i] = c->sizes[i - 1];
    }
    c->before[0] = item->pc;
    c->sizes[0] = item->size;
}

/* Passes on the frames that are held back: whole cycles as one item, the rest as frames. One frame alone is passed on
 * as a frame: the trace would be no shorter. */
static void release(struct sfu_print_cycle *c)
{
    struct sfu_print_item item;
    uint32_t left = c->held;

    if (left == 0)
        return;
    item.pc = item.lookup = item.size = 0;
    item.marks = item.times = 0;
    item.length = 1;
    while ((c->lengths >> (item.length - 1) & 1) == 0)
        item.length++;
    item.number = c->number - left + 1;
    if (left >= 2 && left >= item.length) {
        item.times = left / item.length;
        c->each(c->ctx, &item);
        item.times = 0;
        left %= item.length;
    }
    for (; left > 0; left--) {
        item.number = c->number - left + 1;
        item.pc = c->before[left - 1];
        item.lookup = item.pc - 1;
        item.size = c->sizes[left - 1];
        c->each(c->ctx, &item);
    }
    c->held = 0;
}

void sfu_print_cycles(struct sfu_print_cycle *c, const struct sfu_print_item *item)
{
    bool plain = item != NULL && item->marks == 0 && item->lookup < item->pc;
    unsigned lengths = plain ? repeats(c, item->pc) : 0;

    if ((lengths & c->lengths) != 0)
        lengths &= c->lengths;
    else
        release(c);
    c->lengths = lengths;
    if (item == NULL)
        return;
    c->number = item->number;
    if (lengths != 0)
        c->held++;
    else
        c->each(c->ctx, item);
    if (plain)
        remember(c, item);
    else
        c->num = 0;
}

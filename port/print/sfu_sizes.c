/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_sizes.h"

void sfu_print_size(const struct sfu_panic *p, const struct sfu_print_item *item)
{
    if (item->size == 0)
        return;
    sfu_print_number(p, "  [", item->size, 10, 1);
    sfu_print_text(p, " bytes]");
}

/* What the frames on the overflowed stack take. */
struct overflow {
    sfu_addr low;    /* start of the stack */
    sfu_addr high;   /* its end; 0: none has overflowed */
    sfu_addr room;   /* bytes of the stack */
    sfu_addr lowest; /* address that was used, or could not be */
    uint32_t frames;
    sfu_addr size; /* of the largest frame, and what frame that is */
    sfu_addr lookup, pc;
    uint32_t number;
    sfu_addr below; /* bytes in use below the first frame that is known, and that frame */
    uint32_t first;
    bool in_doubt; /* no frame above low was met yet, and the memory below low may be that of another stack */
};

/* Whether T's find_stack finds STACK, whatever its low end, for ADDR. *FOUND is what it finds. */
static bool finds(const struct sfu_target *t, const struct sfu_stack *stack, sfu_addr addr, struct sfu_stack *found)
{
    return t->find_stack != NULL && t->find_stack(t->ctx, addr, found) && found->high == stack->high;
}

/* The lowest address of STACK. Its own low may be that of memory below it, if an address there has found it. */
static sfu_addr low_of(const struct sfu_target *t, const struct sfu_stack *stack)
{
    struct sfu_stack whole;

    return finds(t, stack, stack->high - 1, &whole) ? whole.low : stack->low;
}

/* Whether STACK, on which a frame has SP, has overflowed below LOW, and by which address: SP or the fault's. */
static bool has_overflowed(const struct sfu_panic *p, const struct sfu_stack *stack, sfu_addr low, sfu_addr sp,
                           sfu_addr *lowest)
{
    struct sfu_stack other;

    *lowest = sp;
    if (sp < low)
        return true;
    *lowest = p->fault_address;
    return p->fault_address != 0 && p->fault_address < low && finds(p->target, stack, p->fault_address, &other);
}

/* Begins to count, if the stack of P's walk has overflowed. */
static void look(const struct sfu_panic *p, struct overflow *o)
{
    const struct sfu_walk *walk = &p->walk;

    if (walk->stack.high == 0)
        return;
    o->low = low_of(p->target, &walk->stack);
    if (!has_overflowed(p, &walk->stack, o->low, walk->frame.regs.sp, &o->lowest))
        return;
    o->high = walk->stack.high;
    o->room = walk->stack.high - o->low;
    o->below = walk->frame.regs.sp - o->lowest;
    o->first = walk->frame.depth;
    o->in_doubt = walk->stack.low < o->low;
}

/* Steps P's walk once and counts the frame that it leaves, if that is on the overflowed stack. */
static int count(struct sfu_panic *p, struct overflow *o)
{
    const struct sfu_frame *f = &p->walk.frame;
    const sfu_addr sp = f->regs.sp, pc = f->regs.pc, lookup = sfu_lookup_pc(&f->regs);
    const uint32_t number = f->depth;
    const bool on = o->high != 0 && p->walk.stack.high == o->high;
    int code = sfu_walk_step(&p->walk);

    o->frames += on;
    if (on && code == SFU_OK && !f->switched && f->regs.sp >= o->low)
        o->in_doubt = false;
    if (on && code == SFU_OK && !f->switched && f->regs.sp - sp > o->size) {
        o->size = f->regs.sp - sp;
        o->lookup = lookup;
        o->pc = pc;
        o->number = number;
    }
    return code;
}

static void print(const struct sfu_panic *p, const struct overflow *o)
{
    const char *name;
    sfu_addr offset = 0;

    sfu_print_number(p, "stack overflow: ", o->frames, 10, 1);
    sfu_print_number(p, o->frames == 1 ? " frame uses " : " frames use ", o->high - o->lowest, 10, 1);
    sfu_print_number(p, " of ", o->room, 10, 1);
    sfu_print_text(p, " bytes");
    if (o->size != 0 && o->below > o->size) {
        sfu_print_number(p, "; ", o->below, 10, 1);
        sfu_print_number(p, " of them lie below frame ", o->first, 10, 1);
    } else if (o->size != 0) {
        name = p->symbol != NULL ? p->symbol(p->ctx, o->lookup, &offset) : NULL;
        sfu_print_number(p, "; the largest is frame ", o->number, 10, 1);
        sfu_print_number(p, ", ", o->size, 10, 1);
        sfu_print_text(p, " bytes: ");
        sfu_print_text(p, name != NULL ? name : "");
        sfu_print_number(p, name != NULL ? "+0x" : "0x", name != NULL ? offset + (o->pc - o->lookup) : o->pc, 16,
                         1);
    }
    sfu_print_text(p, "\n");
}

void sfu_print_overflow(struct sfu_panic *p, const struct sfu_registers *top)
{
    struct overflow o;

    if (p->target == NULL)
        return;
    o.low = o.high = o.room = o.lowest = o.size = o.lookup = o.pc = o.below = 0;
    o.frames = o.number = o.first = 0;
    o.in_doubt = false;
    sfu_walk_start(&p->walk, p->target, top);
    do {
        if (o.high == 0)
            look(p, &o);
    } while (count(p, &o) == SFU_OK);
    if (o.high != 0 && !o.in_doubt)
        print(p, &o);
}

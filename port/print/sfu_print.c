/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_print.h"

static void text(const struct sfu_panic *p, const char *s)
{
    while (*s != '\0')
        p->put(p->ctx, *s++);
}

/* The digits of VALUE, at least WIDTH (1 to 16) of them; no buffer. */
static void hex(const struct sfu_panic *p, uint64_t value, unsigned width)
{
    unsigned digits = 16;

    text(p, "0x");
    while (digits > width && value >> (4 * (digits - 1)) == 0)
        digits--;
    while (digits > 0) {
        digits--;
        p->put(p->ctx, "0123456789abcdef"[value >> (4 * digits) & 15]);
    }
}

static void decimal(const struct sfu_panic *p, uint32_t value)
{
    uint32_t unit = 1;

    while (value / unit >= 10)
        unit *= 10;
    for (; unit > 0; unit /= 10)
        p->put(p->ctx, (char)('0' + value / unit % 10));
}

static void print_frame(const struct sfu_panic *p)
{
    const struct sfu_frame *f = &p->walk.frame;
    uint64_t lookup = sfu_lookup_pc(f);
    uint64_t offset = 0;
    const char *name;

    p->put(p->ctx, '#');
    decimal(p, f->depth);
    text(p, f->depth < 10 ? "  " : " ");
    hex(p, f->pc, 16);
    name = p->symbol != NULL ? p->symbol(p->ctx, lookup, &offset) : NULL;
    if (name != NULL) {
        text(p, "  ");
        text(p, name);
        p->put(p->ctx, '+');
        hex(p, offset + (f->pc - lookup), 1);
    }
    if (f->trap != 0)
        text(p, "  [interrupted]");
    if (f->switched)
        text(p, "  [stack switch]");
    if (f->guessed)
        text(p, "  [guessed]");
    p->put(p->ctx, '\n');
}

static void print_end(const struct sfu_panic *p, int code)
{
    text(p, "trace ends (");
    if (code < 0)
        p->put(p->ctx, '-');
    decimal(p, (uint32_t)(code < 0 ? -code : code));
    text(p, "): ");
    text(p, sfu_string(code));
    text(p, p->walk.frame.reliable ? "\n" : "; guessed frames are not proven\n");
}

static void print_addr2line(struct sfu_panic *p, const struct sfu_frame *top)
{
    text(p, "addr2line -fipe ");
    text(p, p->image != NULL ? p->image : "IMAGE");
    sfu_walk_start(&p->walk, p->target, top);
    do {
        p->put(p->ctx, ' ');
        hex(p, sfu_lookup_pc(&p->walk.frame) - p->slide, 1);
    } while (sfu_walk_step(&p->walk) == SFU_OK);
    p->put(p->ctx, '\n');
}

int sfu_panic_print(struct sfu_panic *panic, const struct sfu_frame *top)
{
    int code;

    if (panic->busy != 0) {
        if (panic->busy == 1) {
            panic->busy = 2;
            text(panic, "\nsecond fault, while printing the trace: stopped here\n");
        }
        return SFU_E_STACK;
    }
    panic->busy = 1;
    sfu_walk_start(&panic->walk, panic->target, top);
    do {
        print_frame(panic);
        code = sfu_walk_step(&panic->walk);
    } while (code == SFU_OK);
    if (panic->slide != 0) {
        text(panic, "slide ");
        hex(panic, panic->slide, 1);
        panic->put(panic->ctx, '\n');
    }
    print_end(panic, code);
    print_addr2line(panic, top);
    panic->busy = 0;
    return code;
}

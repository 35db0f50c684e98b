/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_print.h"

static void text(const struct sfu_panic *p, const char *s)
{
    while (*s != '\0')
        p->put(p->ctx, *s++);
}

/* BEFORE, then at least WIDTH (1 to 16) digits of VALUE in BASE. No buffer. */
static void number(const struct sfu_panic *p, const char *before, uint64_t value, unsigned base, unsigned width)
{
    uint64_t unit = 1;

    text(p, before);
    for (; width > 1 || value / unit >= base; width -= width > 1)
        unit *= base;
    for (; unit > 0; unit /= base)
        p->put(p->ctx, "0123456789abcdef"[value / unit % base]);
}

static void print_frame(const struct sfu_panic *p)
{
    const struct sfu_frame *f = &p->walk.frame;
    uint64_t lookup = sfu_lookup_pc(f);
    uint64_t offset = 0;
    const char *name;

    number(p, "#", f->depth, 10, 1);
    number(p, f->depth < 10 ? "  0x" : " 0x", f->pc, 16, 16);
    name = p->symbol != NULL ? p->symbol(p->ctx, lookup, &offset) : NULL;
    if (name != NULL) {
        text(p, "  ");
        text(p, name);
        number(p, "+0x", offset + (f->pc - lookup), 16, 1);
    }
    if (f->trap != 0)
        text(p, "  [interrupted]");
    if (f->switched)
        text(p, "  [stack switch]");
    if (f->guessed)
        text(p, "  [guessed]");
    text(p, "\n");
}

static void print_end(const struct sfu_panic *p, int code)
{
    if (p->slide != 0) {
        number(p, "slide 0x", p->slide, 16, 1);
        text(p, "\n");
    }
    number(p, code < 0 ? "trace ends (-" : "trace ends (", (uint64_t)(code < 0 ? -code : code), 10, 1);
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
        number(p, " 0x", sfu_lookup_pc(&p->walk.frame) - p->slide, 16, 1);
    } while (sfu_walk_step(&p->walk) == SFU_OK);
    text(p, "\n");
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
    print_end(panic, code);
    print_addr2line(panic, top);
    panic->busy = 0;
    return code;
}

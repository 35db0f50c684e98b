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
    uint64_t lookup = sfu_lookup_pc(&f->regs);
    uint64_t offset = 0;
    const char *name;

    number(p, "#", f->depth, 10, 1);
    number(p, f->depth < 10 ? "  0x" : " 0x", f->regs.pc, 16, 16);
    name = p->symbol != NULL ? p->symbol(p->ctx, lookup, &offset) : NULL;
    if (name != NULL) {
        text(p, "  ");
        text(p, name);
        number(p, "+0x", offset + (f->regs.pc - lookup), 16, 1);
    }
    if (f->trap != 0)
        text(p, "  [interrupted]");
    if (f->switched)
        text(p, "  [stack switch]");
    if (f->replaced)
        text(p, "  [hooked]");
    if (f->guessed != SFU_GUESS_NONE)
        text(p, f->guessed == SFU_GUESS_CALL ? "  [wild call]" : "  [guessed]");
    text(p, "\n");
}

static void print_end(const struct sfu_panic *p, int code)
{
    number(p, code < 0 ? "trace ends (-" : "trace ends (", (uint64_t)(code < 0 ? -code : code), 10, 1);
    text(p, "): ");
    text(p, sfu_string(code));
    text(p, p->walk.frame.reliable ? "\n" : "; guessed frames are not proven\n");
}

static void print_addr2line(struct sfu_panic *p, const struct sfu_registers *top)
{
    text(p, "addr2line -fipe ");
    text(p, p->image != NULL ? p->image : "IMAGE");
    sfu_walk_start(&p->walk, p->target, top);
    do {
        number(p, " 0x", sfu_lookup_pc(&p->walk.frame.regs) - p->slide, 16, 1);
    } while (sfu_walk_step(&p->walk) == SFU_OK);
    text(p, "\n");
}

/* Adds SECTION, of which CODE says how it was opened, and those that were joined to it. */
static int add_all(struct sfu_panic *panic, struct sfu_section *section, int code)
{
    unsigned i;

    if (code == SFU_OK)
        code = sfu_add(&panic->own.sections, section);
    for (i = 0; i < panic->num_more && code == SFU_OK; i++) {
        code = sfu_open_next(section, &panic->more[i]);
        section = &panic->more[i];
        if (code == SFU_OK)
            code = sfu_add(&panic->own.sections, section);
    }
    return i > 0 && code == SFU_E_EMPTY ? (int)SFU_OK : code; /* there is no next one */
}

int sfu_panic_init(struct sfu_panic *panic, const void *sframe, const void *sframe_end, const void *stack,
                   const void *stack_end)
{
    struct sfu_target *target = &panic->own;
    struct sfu_section *s;
    int code =
        sfu_open(&panic->section, sframe, (uint64_t)((uintptr_t)sframe_end - (uintptr_t)sframe), (uintptr_t)sframe);

    panic->target = target;
    target->sections = NULL;
    target->window = stack;
    target->window_low = (uintptr_t)stack;
    target->window_high = (uintptr_t)stack_end;
    code = add_all(panic, &panic->section, code);
    for (s = target->sections; s != NULL; s = s->next) {
        (void)sfu_find_text(s); /* where that fails the text is unknown, and the check says why */
        if (code == SFU_OK)
            code = sfu_check(s, NULL);
    }
    return code;
}

int sfu_panic_print(struct sfu_panic *panic, const struct sfu_registers *top)
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
    if (panic->slide != 0) {
        number(panic, "slide 0x", panic->slide, 16, 1);
        text(panic, "\n");
    }
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

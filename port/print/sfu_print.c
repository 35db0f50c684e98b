/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_print.h"

void sfu_print_text(const struct sfu_panic *p, const char *text)
{
    while (*text != '\0')
        p->put(p->ctx, *text++);
}

/* Divides *VALUE by BASE, bit by bit, and returns the rest: 32-bit CPUs would call a library for it. The bits of the
 * quotient follow those of the value. */
static unsigned divide(uint64_t *value, unsigned base)
{
    unsigned rest = 0, bit;

    for (bit = 0; bit < 64; bit++) {
        rest = rest << 1 | (unsigned)(*value >> 63);
        *value <<= 1;
        if (rest >= base) {
            rest -= base;
            *value |= 1;
        }
    }
    return rest;
}

void sfu_print_number(const struct sfu_panic *p, const char *before, uint64_t value, unsigned base, unsigned width)
{
    char digits[22]; /* of base 8 */
    unsigned n = 0;

    sfu_print_text(p, before);
    do
        digits[n++] = "0123456789abcdef"[divide(&value, base)];
    while (n < width || value > 0);
    while (n > 0)
        p->put(p->ctx, digits[--n]);
}

/* ---- Frames ---------------------------------------------------------------------------------------------------- */

static uint32_t marks(const struct sfu_frame *f)
{
    uint32_t result = 0;

    if (f->interrupted)
        result |= SFU_PRINT_INTERRUPTED;
    if (f->switched)
        result |= SFU_PRINT_SWITCHED;
    if (f->replaced)
        result |= SFU_PRINT_REPLACED;
    if (f->guess != SFU_GUESS_NONE)
        result |= f->guess == SFU_GUESS_CALL ? SFU_PRINT_WILD_CALL : SFU_PRINT_GUESSED;
    return result;
}

#ifdef __arm__
#define IN_ADDRESS 1u /* of the address of a function of T32 code: says so, and is no part of it */
#else
#define IN_ADDRESS 0u
#endif

/* Whether FRAME is the last that is skipped. */
static bool is_last(struct sfu_panic *p, const struct sfu_frame *frame)
{
    if (p->skip_function == 0)
        return frame->depth + 1 == p->skip;
    return sfu_find_frame(p->target, frame, &p->row) == SFU_OK &&
           p->row.function == (p->skip_function & ~(sfu_addr)IN_ADDRESS);
}

/* The number of the frame that the trace begins with. */
static uint32_t first_frame(struct sfu_panic *p)
{
    const struct sfu_frame *f = &p->walk.frame;
    bool found = p->skip_function == 0 && p->skip == 0;

    while (!found && !f->interrupted) {
        found = is_last(p, f);
        if (sfu_walk_step(&p->walk) != SFU_OK)
            return 0;
    }
    return found || p->skip_function == 0 ? f->depth : 0;
}

/* Passes ITEM on to the printing. NULL: the walk has ended. */
static void give(struct sfu_panic *p, const struct sfu_print_item *item)
{
    if (p->cycles != NULL)
        p->cycles(&p->cycle, item);
    else if (item != NULL)
        p->cycle.each(p->cycle.ctx, item);
}

/* Whether F is where a return address of 0 leads. If a trap hook says that a trace ends there, it is no frame. Else no
 * call has left that address: it lay there when a function was only jumped to, or is a word that was overwritten. */
static bool is_behind_end(const struct sfu_frame *f)
{
    return f->regs.pc == 0 && f->regs.pc_kind == SFU_PC_RETURN && f->depth != 0;
}

/* Marks the frame of P's walk, where that has ended, as one that nothing has proven. */
static void doubt_end(struct sfu_panic *p)
{
    p->walk.frame.guess = SFU_GUESS_HOOK;
    p->walk.frame.reliable = false;
    p->item.marks = marks(&p->walk.frame);
}

/* Steps P's walk and sets the size of its item, which is that of the frame before. */
static int step_and_measure(struct sfu_panic *p)
{
    const struct sfu_frame *f = &p->walk.frame;
    const sfu_addr sp = f->regs.sp;
    int code = sfu_walk_step(&p->walk);

    p->item.size = code == SFU_OK && !f->switched ? f->regs.sp - sp : 0;
    return code;
}

/* The address that names F. A row that begins at the byte before a return address has no call there: a thread is to
 * return to the start of a function, whose own row that is (sfu-gen). */
static sfu_addr naming_pc(struct sfu_panic *p, const struct sfu_frame *f)
{
    const sfu_addr lookup = sfu_lookup_pc(&f->regs);

    return sfu_find_frame(p->target, f, &p->row) == SFU_OK && p->row.start == lookup ? f->regs.pc : lookup;
}

/* Fills in P's item by the frame of its walk. */
static void describe(struct sfu_panic *p)
{
    const struct sfu_frame *f = &p->walk.frame;
    struct sfu_print_item *item = &p->item;

    if (p->calls != NULL)
        p->calls(p);
    item->pc = f->regs.pc;
    item->lookup = naming_pc(p, f);
    item->number = f->depth;
    item->marks = marks(f);
}

int sfu_print_walk(struct sfu_panic *p, const struct sfu_registers *top, sfu_print_fn each, void *ctx)
{
    const struct sfu_frame *f = &p->walk.frame;
    struct sfu_print_item *item = &p->item;
    uint32_t first;
    int code = SFU_OK;

    if (p->target == NULL)
        p->target = &p->own; /* a panic before sfu_panic_init: without a section */
    sfu_walk_start(&p->walk, p->target, top);
    first = first_frame(p);
    p->cycle.each = each;
    p->cycle.ctx = ctx;
    p->cycle.num = 0;
    p->cycle.held = 0;
    item->times = 0;
    item->size = 0;
    sfu_walk_start(&p->walk, p->target, top);
    do {
        bool may_end, steps;

        describe(p);
        may_end = is_behind_end(f);
        steps = p->sizes != NULL || may_end;
        if (steps)
            code = step_and_measure(p);
        if (may_end && code != SFU_END)
            doubt_end(p);
        if (item->number >= first && !(may_end && code == SFU_END))
            give(p, item);
        if (!steps)
            code = sfu_walk_step(&p->walk);
    } while (code == SFU_OK);
    give(p, NULL);
    return code == SFU_E_NO_SECTION && p->code != SFU_OK ? p->code : code;
}

/* ---- Lines ----------------------------------------------------------------------------------------------------- */

/* In the order in which they are printed. Arrays, not pointers, which a kernel that moves would have to relocate. */
static const struct mark {
    uint8_t bit;
    char text[17];
} all_marks[] = {
    {SFU_PRINT_INTERRUPTED, "  [interrupted]"}, {SFU_PRINT_SWITCHED, "  [stack switch]"},
    {SFU_PRINT_REPLACED, "  [replaced]"},       {SFU_PRINT_WILD_CALL, "  [wild call]"},
    {SFU_PRINT_GUESSED, "  [guessed]"},
};

static void print_marks(const struct sfu_panic *p, uint32_t marks_set)
{
    unsigned i;

    for (i = 0; i < sizeof all_marks / sizeof all_marks[0]; i++)
        if ((marks_set & all_marks[i].bit) != 0)
            sfu_print_text(p, all_marks[i].text);
}

void sfu_print_line(const struct sfu_panic *p, const struct sfu_print_item *item)
{
    sfu_addr offset = 0;
    const char *name;

    if (item->times != 0) {
        sfu_print_number(p, "    ... ", item->times, 10, 1);
        sfu_print_number(p, " times more: the ", item->length, 10, 1);
        sfu_print_text(p, " above\n");
        return;
    }
    sfu_print_number(p, "#", item->number, 10, 1);
    sfu_print_number(p, item->number < 10 ? "  0x" : " 0x", item->pc, 16, SFU_PRINT_DIGITS);
    name = p->symbol != NULL ? p->symbol(p->ctx, item->lookup, &offset) : NULL;
    if (name != NULL) {
        sfu_print_text(p, "  ");
        sfu_print_text(p, name);
        sfu_print_number(p, "+0x", offset + (item->pc - item->lookup), 16, 1);
    }
    print_marks(p, item->marks);
    if (p->sizes != NULL)
        p->sizes(p, item);
    sfu_print_text(p, "\n");
}

void sfu_print_end(const struct sfu_panic *p, int code, bool reliable)
{
    sfu_print_number(p, code < 0 ? "trace ends (-" : "trace ends (", (uint64_t)(code < 0 ? -(int64_t)code : code),
                     10, 1);
    sfu_print_text(p, "): ");
    sfu_print_text(p, sfu_string(code));
    sfu_print_text(p, reliable ? "\n" : "; guessed frames are not proven\n");
}

void sfu_print_slide(const struct sfu_panic *p)
{
    if (p->slide != 0) {
        sfu_print_number(p, "slide 0x", p->slide, 16, 1);
        sfu_print_text(p, "\n");
    }
}

static void print_frame(void *ctx, const struct sfu_print_item *item)
{
    sfu_print_line((const struct sfu_panic *)ctx, item);
}

/* What lies lower is a null pointer, or a member of what one points to: no slide has moved it. */
enum { FIRST_PAGE = 4096 };

/* Whether PC may be code of P's image, which the slide has moved. Code without tables, such as an exception entry, may
 * lie outside of all text. */
static bool may_be_code(const struct sfu_panic *p, sfu_addr pc)
{
    const struct sfu_section *s = p->target->sections;

    while (s != NULL && s->text.high != 0 && (pc < s->text.low || pc >= s->text.high))
        s = s->next;
    return s != NULL || pc >= FIRST_PAGE;
}

static void print_address(void *ctx, const struct sfu_print_item *item)
{
    const struct sfu_panic *p = (const struct sfu_panic *)ctx;
    const sfu_addr addr = item->pc == 0 ? 0 : item->lookup; /* 0: no call lies in front of where a thread may end */

    if (item->times == 0)
        sfu_print_number(p, " 0x", may_be_code(p, addr) ? addr - p->slide : addr, 16, 1);
}

/* ---- Panics ---------------------------------------------------------------------------------------------------- */

int sfu_panic_init(struct sfu_panic *panic, const void *sframe, const void *sframe_end, const void *stack,
                   const void *stack_end)
{
    struct sfu_target *target = &panic->own;
    struct sfu_section *room = panic->sections != NULL ? panic->sections : &panic->section, *s;
    size_t num = panic->sections != NULL ? panic->room : 1;
    int code;

    panic->target = target;
    target->sections = NULL;
    target->stack.bytes = stack;
    target->stack.low = (sfu_addr)(uintptr_t)stack;
    target->stack.high = (sfu_addr)(uintptr_t)stack_end;
    code = sfu_add(&target->sections, room, num, sframe, (sfu_addr)((uintptr_t)sframe_end - (uintptr_t)sframe),
                   (sfu_addr)(uintptr_t)sframe);
    for (s = target->sections; s != NULL; s = s->next) {
        int checked = sfu_check(s, NULL);

        (void)sfu_find_text(s); /* on failure the text stays unknown, and the check says why */
        if (checked != SFU_OK)
            s->code.low = s->code.high = 0; /* a damaged function at either end must not hide the others */
        if (code == SFU_OK)
            code = checked;
    }
    panic->code = code;
    return code;
}

int sfu_panic_print(struct sfu_panic *panic, const struct sfu_registers *top)
{
    int code;

    if (panic->put == NULL)
        return SFU_E_NO_SECTION;
    if (panic->busy != 0) {
        if (panic->busy == 1) {
            panic->busy = 2;
            sfu_print_text(panic, SFU_PRINT_SECOND);
        }
        return SFU_E_STACK;
    }
    panic->busy = 1;
    sfu_print_slide(panic);
    if (panic->before != NULL)
        panic->before(panic, top);
    code = sfu_print_walk(panic, top, print_frame, panic);
    if (panic->after != NULL)
        code = panic->after(panic, code);
    sfu_print_end(panic, code, panic->walk.frame.reliable);
    sfu_print_text(panic, "addr2line -Cfipe ");
    sfu_print_text(panic, panic->image != NULL ? panic->image : "IMAGE");
    (void)sfu_print_walk(panic, top, print_address, panic);
    sfu_print_text(panic, "\n");
    panic->busy = 0;
    return code;
}

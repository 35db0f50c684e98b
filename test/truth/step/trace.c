/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include <stdlib.h>
#include <string.h>
#include "trace.h"

/* ---- What sfu asks of the program ---- */

/* The stack may be anywhere. */
static const struct sfu_stack everywhere = {NULL, 0, UINT64_MAX};

/* What an exception leaves in so many bytes below SP and its red zone. */
enum { OVERWRITTEN = 4 * BLOCK, RUBBISH = 0xa5 };

/* The section never changes: a page that was read is kept. */
static bool need_page(struct tracer *t, uint64_t page)
{
    uint64_t start = page * PAGE, len = t->sframe_size - start < PAGE ? t->sframe_size - start : PAGE;

    if (!t->page_read[page])
        t->page_read[page] = t->m->backend->read(t->m, t->sframe + start, t->pages + start, (size_t)len);
    return t->page_read[page];
}

static int read_section(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    struct tracer *t = ctx;
    uint64_t at = addr - t->sframe;

    if (at >= t->sframe_size || len > t->sframe_size - at)
        return -1;
    if (!need_page(t, at / PAGE) || !need_page(t, (at + len - 1) / PAGE))
        return -1;
    memcpy(buffer, t->pages + at, len);
    return 0;
}

/* Whether an exception at the topmost frame would have overwritten ADDR: whoever stands in for one does it no harm, and
 * what was there would still be found. */
static bool is_overwritten(const struct tracer *t, uint64_t addr)
{
    uint64_t end = t->top.sp - t->m->cpu->red_zone;

    return addr < end && end - addr <= OVERWRITTEN;
}

static int read_stack(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    struct tracer *t = ctx;

    if (t->stack_end != 0 && addr + len > t->stack_end)
        return -1;
    if (is_overwritten(t, addr)) {
        memset(buffer, RUBBISH, len);
        return 0;
    }
    return machine_read(t->m, addr, buffer, len) ? 0 : -1;
}

static int read_saved(struct tracer *t, uint64_t addr, uint64_t *value)
{
    uint8_t bytes[8];

    if (read_stack(t, addr, bytes, t->m->cpu->abi.word) != 0)
        return -1;
    *value = bytes_get(bytes, t->m->cpu->abi.word, t->m->cpu->abi.big);
    return 0;
}

static int read_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value)
{
    static const unsigned char floats[] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};
    struct tracer *t = ctx;
    const struct cpu *cpu = t->m->cpu;

    if (frame->interrupted)
        return cpu->saved(reg) != 0 ? read_saved(t, frame->saved + cpu->saved(reg), value) : -1;
    if (frame->depth != 0 || t->no_registers || reg > 31)
        return -1;
    if (cpu->gdb_float != 0 && reg >= 16)
        return t->m->backend->read_float(t->m, floats[reg - 16], value) ? 0 : -1;
    *value = t->m->regs.r[reg];
    return 0;
}

/* Knows the code that signal handlers return to, which runs with SP at the signal frame. */
static int cross_signal(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    struct tracer *t = ctx;
    const struct cpu *cpu = t->m->cpu;
    struct sfu_registers *regs = &interrupted->regs;
    uint64_t sp = frame->regs.sp;

    if (frame->regs.pc < t->restorer || frame->regs.pc >= t->restorer_end)
        return code;
    if (read_saved(t, sp + cpu->saved_pc, &regs->pc) != 0 ||
        read_saved(t, sp + cpu->saved(cpu->abi.sp), &regs->sp) != 0 ||
        read_saved(t, sp + cpu->saved(cpu->abi.fp), &regs->fp) != 0)
        return SFU_E_STACK;
    regs->has_ra = cpu->abi.link;
    if (cpu->abi.link && read_saved(t, sp + cpu->saved(cpu->abi.ra), &regs->ra) != 0)
        return SFU_E_STACK;
    return SFU_OK;
}

/* ---- The walk ---- */

bool tracer_row(struct tracer *t, const struct seen *seen, struct sfu_row *row)
{
    struct sfu_frame frame;

    memset(&frame, 0, sizeof frame);
    frame.regs.pc = seen->pc;
    frame.regs.pc_kind = seen->exact ? SFU_PC_EXACT : SFU_PC_RETURN;
    return sfu_find_frame(&t->target, &frame, row) == SFU_OK;
}

static int open_fast(struct tracer *t, struct fast_walk *w, uint64_t *cache)
{
    struct sfu_section *list = NULL;
    int code = sfu_add(&list, &w->section, 1, t->pages, t->sframe_size, t->sframe);

    sfu_fast_set_cache(&w->fast, cache, cache != NULL ? sizeof t->cache : 0);
    return code == SFU_OK ? sfu_fast_add(&w->fast, &w->image, 1, list) : code;
}

/* Opens the section as a whole for the fast walker. */
static int open_both(struct tracer *t)
{
    uint64_t page;
    int code;

    for (page = 0; page * PAGE < t->sframe_size; page++)
        if (!need_page(t, page))
            return SFU_E_SECTION;
    code = open_fast(t, &t->bare, NULL);
    return code == SFU_OK ? open_fast(t, &t->cached, t->cache) : code;
}

int tracer_open(struct tracer *t, struct machine *m, const struct binary *image)
{
    const struct function *restorer;
    int code;

    memset(t, 0, sizeof *t);
    t->m = m;
    t->sframe = image->sframe;
    t->sframe_size = image->sframe_size;
    t->pages = malloc((size_t)image->sframe_size);
    t->page_read = calloc((size_t)image->sframe_size / PAGE + 1, sizeof *t->page_read);
    restorer = binary_function(image, binary_symbol(image, "step_restorer"));
    if (restorer != NULL) {
        t->restorer = restorer->start;
        t->restorer_end = restorer->start + restorer->size;
    }
    t->target.stack = everywhere;
    t->target.read = read_stack;
    t->target.reg = read_register;
    t->target.trap_hook = cross_signal;
    t->target.ctx = t;
    t->target.red_zone = m->cpu->red_zone;
    code = sfu_add_remote(&t->target.sections, &t->section, 1, read_section, t, image->sframe_size, image->sframe);
    return code == SFU_OK ? open_both(t) : code;
}

void tracer_close(struct tracer *t)
{
    free(t->pages);
    free(t->page_read);
}

static void walk_from(struct tracer *t, struct trace *trace, const struct sfu_registers *top)
{
    struct sfu_walk walk;

    trace->count = 0;
    sfu_walk_start(&walk, &t->target, top);
    do {
        struct seen *s = &trace->frames[trace->count++];

        s->pc = walk.frame.regs.pc;
        s->sp = walk.frame.regs.sp;
        s->fp = walk.frame.regs.fp;
        s->exact = walk.frame.regs.pc_kind == SFU_PC_EXACT;
        s->reliable = walk.frame.reliable;
        trace->code = sfu_walk_step(&walk);
    } while (trace->code == SFU_OK && trace->count < MAX_SEEN);
}

/* Copies what has been read of the stack, from what an exception would overwrite up to the end of
 * TRACE: mapped is what has the bytes of it. If something else was read, too, mapped is the same as everywhere. */
static void map_stack(struct tracer *t, const struct trace *trace)
{
    uint64_t below = t->top.sp - t->m->cpu->red_zone, low = below - OVERWRITTEN;
    uint64_t end = trace->frames[trace->count - 1].sp;
    unsigned i;

    low -= low % BLOCK;
    t->mapped = everywhere;
    if (end < low || end - low > MAPPED_STACK)
        return;
    for (i = 0; i < t->m->num_blocks; i++) {
        const struct block *b = &t->m->blocks[i];

        if (!b->valid)
            continue;
        if (b->addr < low || b->addr - low > MAPPED_STACK - BLOCK)
            return;
        memcpy(t->bytes + (b->addr - low), b->bytes, BLOCK);
        if (end < b->addr + BLOCK)
            end = b->addr + BLOCK;
    }
    memset(t->bytes, RUBBISH, (size_t)(below - low));
    t->mapped.bytes = t->bytes;
    t->mapped.low = low;
    t->mapped.high = end;
}

void tracer_walk(struct tracer *t, struct trace *trace, bool mapped)
{
    const struct cpu *cpu = t->m->cpu;
    struct sfu_registers top;

    memset(&top, 0, sizeof top);
    trace->regs = t->m->regs;
    top.pc = t->m->regs.pc;
    top.sp = t->m->regs.r[cpu->abi.sp];
    top.fp = t->m->regs.r[cpu->abi.fp];
    top.pc_kind = SFU_PC_EXACT;
    top.has_ra = cpu->abi.link;
    if (cpu->abi.link)
        top.ra = t->m->regs.r[cpu->abi.ra];
    t->no_registers = false;
    t->top = top;
    walk_from(t, trace, &top);
    map_stack(t, trace);
    if (!mapped || t->mapped.bytes == NULL)
        return;
    t->target.stack = t->mapped;
    walk_from(t, trace, &top);
    t->target.stack = everywhere;
}

/* ---- Other ways to walk ---- */

static bool begins_with(const struct trace *trace, const struct trace *part)
{
    unsigned i;

    for (i = 0; i < part->count && i < trace->count; i++)
        if (seen_difference(&part->frames[i], &trace->frames[i]) != NULL)
            return false;
    return i == part->count;
}

/* On s390x a frame's registers are saved above its SP, so that it is lost, too. The middle frame may have been
 * interrupted, and have its RA in a register. */
bool tracer_varies(struct tracer *t, struct trace *other, const struct trace *trace)
{
    struct sfu_target target = t->target;
    unsigned middle = trace->count / 2;
    bool mapped, half;

    t->target.sections = sfu_fast_sections(&t->bare.fast);
    walk_from(t, other, &t->top);
    mapped = other->count == trace->count && other->code == trace->code && begins_with(trace, other);
    t->target.sections = target.sections;
    t->stack_end = trace->frames[middle].sp;
    walk_from(t, other, &t->top);
    t->stack_end = 0;
    t->target = target;
    half = other->code == SFU_E_STACK && begins_with(trace, other) && other->count - middle <= 2;
    return mapped && (half || middle + 2 >= trace->count);
}

/* ---- The fast walker ---- */

bool tracer_is_fast(const struct tracer *t)
{
    return t->bare.image.common;
}

static bool same_trace(struct tracer *t, struct fast_walk *w, const struct sfu_target *target,
                       const struct trace *trace)
{
    struct sfu_target own = *target;
    size_t count, i;

    own.sections = sfu_fast_sections(&w->fast);
    if (sfu_fast_trace(&w->fast, &own, &t->top, 0, t->pcs, MAX_SEEN, &count) != trace->code ||
        count != trace->count)
        return false;
    for (i = 0; i < count; i++)
        if (t->pcs[i] != trace->frames[i].pc)
            return false;
    return true;
}

bool tracer_agrees(struct tracer *t, const struct trace *trace)
{
    struct sfu_target target = t->target;

    target.stack = t->mapped;
    return same_trace(t, &t->bare, &target, trace) && same_trace(t, &t->cached, &target, trace);
}

void tracer_resume(struct tracer *t, struct trace *trace, const struct seen *from)
{
    struct sfu_registers top;

    memset(&top, 0, sizeof top);
    top.pc = from->pc;
    top.sp = from->sp;
    top.fp = from->fp;
    top.pc_kind = from->exact ? SFU_PC_EXACT : SFU_PC_RETURN;
    t->no_registers = true;
    walk_from(t, trace, &top);
}

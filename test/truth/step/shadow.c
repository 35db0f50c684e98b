/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include <limits.h>
#include <string.h>
#include "shadow.h"

bool return_address(struct machine *m, uint64_t *addr)
{
    const unsigned word = m->cpu->abi.word;
    uint8_t bytes[8];

    if (m->cpu->abi.link) {
        *addr = m->regs.r[m->cpu->abi.ra];
        if (m->cpu->abi.even)
            *addr &= ~(uint64_t)1;
        return true;
    }
    if (!machine_read(m, m->regs.r[m->cpu->abi.sp], bytes, word))
        return false;
    *addr = bytes_get(bytes, word, m->cpu->abi.big);
    return true;
}

static void push(struct shadow *shadow, uint64_t pc, uint64_t sp, uint64_t fp)
{
    struct entry *e = &shadow->entries[shadow->count];

    if (shadow->count == MAX_ENTRIES) {
        shadow->fault = "calls nested too deeply";
        return;
    }
    memset(e, 0, sizeof *e);
    e->pc = pc;
    e->sp = sp;
    e->fp = fp;
    shadow->count++;
}

static struct entry *top_of(struct shadow *shadow)
{
    return shadow->count > 0 ? &shadow->entries[shadow->count - 1] : NULL;
}

/* Kernels have no strncmp. */
static bool begins_with(const char *text, const char *start)
{
    for (; *start != '\0'; text++, start++)
        if (*text != *start)
            return false;
    return true;
}

static bool begins_function(const struct binary *image, uint64_t pc)
{
    const struct function *f = binary_function(image, pc);

    return f != NULL && f->start == pc;
}

static bool is_setjmp(const struct binary *image, uint64_t pc)
{
    const struct function *f = binary_function(image, pc);

    return begins_function(image, pc) && (begins_with(f->name, "setjmp") || begins_with(f->name, "_setjmp"));
}

static void mark_setjmp(struct shadow *shadow, uint64_t sp)
{
    unsigned at = shadow->num_marked++ % MAX_MARKED;

    shadow->marked[at].sp = sp;
    shadow->marked[at].count = shadow->count;
}

/* How many entries there were in front of the last call of setjmp with SP, or UINT_MAX. */
static unsigned marked_at(const struct shadow *shadow, uint64_t sp)
{
    unsigned i;

    for (i = 1; i <= MAX_MARKED && i <= shadow->num_marked; i++)
        if (shadow->marked[(shadow->num_marked - i) % MAX_MARKED].sp == sp)
            return shadow->marked[(shadow->num_marked - i) % MAX_MARKED].count;
    return UINT_MAX;
}

/* The instruction at before->pc is a call; the longest is 15 bytes long. */
static void call(struct shadow *shadow, struct machine *m, const struct binary *image, const struct regs *before)
{
    uint64_t ra, sp = before->r[m->cpu->abi.sp];
    uint64_t expected_sp = m->cpu->abi.link ? sp : sp - m->cpu->abi.word;

    if (!return_address(m, &ra) || ra - before->pc - 1 >= m->cpu->longest ||
        m->regs.r[m->cpu->abi.sp] != expected_sp)
        shadow->fault = "a call left no return address";
    else if (m->cpu->abi.link || m->regs.pc != ra || begins_function(image, ra)) {
        if (!m->cpu->abi.link && is_setjmp(image, m->regs.pc))
            mark_setjmp(shadow, sp);
        push(shadow, ra, sp, before->r[m->cpu->abi.fp]);
    }
}

/* The instruction at before->pc has 4 bytes: c.jalr links to x1 alone. */
static void help(struct shadow *shadow, const struct machine *m, const struct regs *before)
{
    push(shadow, before->pc + 4, before->r[m->cpu->abi.sp], before->r[m->cpu->abi.fp]);
    if (shadow->fault == NULL)
        top_of(shadow)->help = true;
}

/* Whether SP is in the frame, or at its end, of a function that has called the running piece of itself by another link
 * register: the piece may be its epilogue. */
static bool is_shared_epilogue(const struct shadow *shadow, uint64_t sp)
{
    return shadow->count > 1 && shadow->entries[shadow->count - 1].help &&
           sp <= shadow->entries[shadow->count - 2].sp;
}

/* Whether SP points to the return address of ENTRY, which the function that runs will return by. */
static bool is_at_return(struct machine *m, const struct entry *e, uint64_t sp)
{
    uint64_t ra;

    return !m->cpu->abi.link && e->sp - m->cpu->abi.word == sp && return_address(m, &ra) && ra == e->pc;
}

static void abandon(struct shadow *shadow, struct machine *m)
{
    uint64_t sp = m->regs.r[m->cpu->abi.sp];
    unsigned marked;

    if (is_shared_epilogue(shadow, sp))
        return;
    marked = m->cpu->abi.link ? UINT_MAX : marked_at(shadow, sp);
    while (shadow->count > 0 && (top_of(shadow)->sp <= sp || shadow->count > marked))
        shadow->count--;
    if (shadow->count > 0 && is_at_return(m, top_of(shadow), sp))
        return;
    push(shadow, 0, sp, 0);
    top_of(shadow)->pending = true;
}

/* Whether a branch that keeps the top entry's SP ends its frame nevertheless. */
static bool is_jump_out(const struct machine *m, const struct binary *image, const struct regs *before)
{
    const struct function *from = binary_function(image, before->pc), *to = binary_function(image, m->regs.pc);

    if (!m->cpu->abi.link)
        return true;
    return from != NULL && to != NULL && from != to && to->start != m->regs.pc;
}

/* Whether the PC is that of ENTRY, to which SP returns. */
static bool is_return_to(const struct machine *m, const struct entry *e)
{
    return m->regs.pc == e->pc && m->regs.r[m->cpu->abi.sp] - e->sp < (m->cpu->abi.link ? 1 : 256);
}

static void indirect(struct shadow *shadow, const struct machine *m, const struct binary *image,
                     const struct regs *before)
{
    struct entry *top = top_of(shadow);
    uint64_t sp = m->regs.r[m->cpu->abi.sp];

    if (top == NULL || top->interrupted)
        return;
    if (top->pending) {
        top->pc = m->regs.pc;
        top->fp = m->regs.r[m->cpu->abi.fp];
        top->pending = false;
        top->jump = true;
        shadow->count--;
    } else if (top->help) {
        shadow->count -= m->regs.pc == top->pc;
    } else if (is_return_to(m, top)) {
        if (top->piece && m->regs.r[m->cpu->abi.fp] != top->fp)
            shadow->fault = "a piece of a function leaves an FP that its callee does not";
        shadow->count--;
    } else if (!m->cpu->abi.link && shadow->count > 1 && sp >= top->sp && is_return_to(m, top - 1)) {
        shadow->count -= 2;
    } else if (sp == top->sp && is_jump_out(m, image, before)) {
        shadow->count--;
    }
}

/* Whether the PC went from a piece that clang has made a function of to the start of another function. */
static bool is_piece(const struct machine *m, const struct binary *image, const struct regs *before)
{
    const struct function *from = binary_function(image, before->pc), *to = binary_function(image, m->regs.pc);

    return from != NULL && to != NULL && from != to && to->start == m->regs.pc &&
           begins_with(from->name, "OUTLINED_");
}

/* Whether the function that is to return to ENTRY has taken arguments off the stack, and a register keeps where it
 * returns to. */
static bool keeps_return(const struct machine *m, const struct entry *e)
{
    unsigned i;

    for (i = 0; i < 32 && !m->cpu->abi.link && m->regs.r[m->cpu->abi.sp] - e->sp < 256; i++)
        if (m->regs.r[i] == e->pc)
            return true;
    return false;
}

static void signal_return(struct shadow *shadow, const struct machine *m)
{
    const struct entry *top = top_of(shadow);

    if (top == NULL || !top->interrupted || m->regs.pc != top->pc || m->regs.r[m->cpu->abi.sp] != top->sp)
        shadow->fault = "a signal did not return to what it interrupted";
    else
        shadow->count--;
}

void shadow_step(struct shadow *shadow, struct machine *m, const struct binary *image, const struct regs *before,
                 enum kind kind)
{
    struct entry *top;

    if (kind == CALL)
        call(shadow, m, image, before);
    else if (kind == HELP)
        help(shadow, m, before);
    else if (kind == INDIRECT)
        indirect(shadow, m, image, before);
    else if (kind == SIGRETURN)
        signal_return(shadow, m);
    top = top_of(shadow);
    if (kind == PLAIN && top != NULL && !top->interrupted && m->regs.r[m->cpu->abi.sp] > top->sp &&
        !keeps_return(m, top))
        abandon(shadow, m);
    else if (kind == PLAIN && top != NULL && !top->interrupted && is_piece(m, image, before)) {
        top->fp = m->regs.r[m->cpu->abi.fp];
        top->piece = true;
    }
}

void shadow_signal(struct shadow *shadow, struct machine *m, const struct regs *before)
{
    uint64_t restorer, sp = m->regs.r[m->cpu->abi.sp];

    if (!return_address(m, &restorer)) {
        shadow->fault = "a signal handler has no return address";
        return;
    }
    push(shadow, before->pc, before->r[m->cpu->abi.sp], before->r[m->cpu->abi.fp]);
    top_of(shadow)->interrupted = true;
    push(shadow, restorer, m->cpu->abi.link ? sp : sp + m->cpu->abi.word, m->regs.r[m->cpu->abi.fp]);
}

bool shadow_is_pending(const struct shadow *shadow)
{
    return shadow->count > 0 && shadow->entries[shadow->count - 1].pending;
}

struct seen shadow_caller(const struct shadow *shadow, unsigned count, unsigned frame)
{
    const struct entry *e = &shadow->entries[count - 1 - frame];
    struct seen s;

    memset(&s, 0, sizeof s);
    s.pc = e->pc;
    s.sp = e->sp;
    s.fp = e->fp;
    s.exact = e->interrupted;
    s.reliable = true;
    return s;
}

const char *seen_difference(const struct seen *seen, const struct seen *right)
{
    if (seen->sp != right->sp)
        return "sp";
    if (seen->pc != right->pc || seen->exact != right->exact || !seen->reliable)
        return "pc";
    return seen->fp != right->fp ? "fp" : NULL;
}

void shadow_mark(struct shadow *shadow, struct machine *m, struct marks *marks)
{
    struct entry *top = &shadow->entries[marks->depth > 0 ? marks->depth - 1 : 0];

    if (marks->depth == 0) {
        marks->sp = m->regs.r[m->cpu->abi.sp];
        marks->depth = shadow->count;
    }
    marks->now = m->regs.r[m->cpu->arguments[0]];
    marks->total = m->regs.r[m->cpu->arguments[1]];
    if (m->regs.r[m->cpu->abi.sp] != marks->sp || marks->depth == 0)
        shadow->fault = "step_mark is called from different depths";
    else if (shadow->count != marks->depth) {
        shadow->count = marks->depth;
        if (!return_address(m, &top->pc))
            shadow->fault = "step_mark has no return address";
        top->fp = m->regs.r[m->cpu->abi.fp];
    }
}

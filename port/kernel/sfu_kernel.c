/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "sfu_kernel.h"

enum { MAX_THREADS = 4096, PATIENCE = 10000000 };

/* ---- Saved registers ------------------------------------------------------------------------------------------- */

static bool is_big(void)
{
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* Reads the word at offset AT of the saved frame at START, which lies on one of the kernel's stacks. */
static bool read_saved(const struct sfu_kernel *k, sfu_addr start, int16_t at, sfu_addr *value)
{
    return at >= 0 && start <= SFU_ADDR_MAX - (sfu_addr)at &&
           sfu_read_word(&k->panic.own, start + (sfu_addr)at, is_big(), value) == SFU_OK;
}

/* Sets *REGS to what the frame at START has, laid out as FRAME says. Returns false if it cannot be read. */
static bool read_frame(const struct sfu_kernel *k, const struct sfu_kernel_frame *frame, sfu_addr start,
                       struct sfu_registers *regs)
{
    regs->fp = regs->ra = 0;
    regs->pc_kind = SFU_PC_EXACT;
    regs->has_ra = false;
    if (!read_saved(k, start, frame->pc, &regs->pc) || start > SFU_ADDR_MAX - frame->size)
        return false;
    regs->sp = start + frame->size;
    if (frame->sp >= 0 && !read_saved(k, start, frame->sp, &regs->sp))
        return false;
    if (frame->fp >= 0 && !read_saved(k, start, frame->fp, &regs->fp))
        return false;
#ifdef SFU_REG_RA
    regs->has_ra = frame->ra >= 0;
    return !regs->has_ra || read_saved(k, start, frame->ra, &regs->ra);
#else
    return true;
#endif
}

/* The word at offset AT of START, which the kernel itself has named: it need not lie on a stack. */
static sfu_addr saved_at(const void *start, int16_t at)
{
    const void *word = (const uint8_t *)start + at;

    return sizeof((const struct sfu_cpu *)NULL)->r[0] == 4 ? *(const uint32_t *)word : *(const uint64_t *)word;
}

/* Sets *REGS to what START has, laid out as FRAME says. */
static void named_frame(const struct sfu_kernel_frame *frame, const void *start, struct sfu_registers *regs)
{
    regs->pc = saved_at(start, frame->pc);
    regs->sp = frame->sp >= 0 ? saved_at(start, frame->sp) : (uintptr_t)start + frame->size;
    regs->fp = frame->fp >= 0 ? saved_at(start, frame->fp) : 0;
    regs->ra = 0;
    regs->has_ra = false;
    regs->pc_kind = SFU_PC_EXACT;
#ifdef SFU_REG_RA
    if (frame->ra >= 0) {
        regs->ra = saved_at(start, frame->ra);
        regs->has_ra = true;
    }
#endif
}

void sfu_kernel_registers(const struct sfu_kernel *k, const void *trap, struct sfu_registers *regs)
{
    named_frame(&k->trap, trap, regs);
}

/* An assignment might become a call of memcpy. */
static void copy_registers(struct sfu_registers *to, const struct sfu_registers *from)
{
    to->pc = from->pc;
    to->sp = from->sp;
    to->fp = from->fp;
    to->ra = from->ra;
    to->pc_kind = from->pc_kind;
    to->has_ra = from->has_ra;
}

/* The trap frame of an entry that has called C with SP. 0: there is none. */
static sfu_addr trap_by_sp(const struct sfu_kernel *k, sfu_addr sp)
{
    if (k->current_trap != NULL)
        return (uintptr_t)k->current_trap(k->panic.ctx);
    return sp <= SFU_ADDR_MAX - k->trap_at ? sp + k->trap_at : 0;
}

static bool has_saved(const struct sfu_registers *regs, const struct sfu_frame *frame)
{
    return regs->pc == frame->regs.pc && regs->sp == frame->regs.sp;
}

/* Finds the trap frame that has saved the registers of FRAME, and returns its layout; or NULL. It counts only if it has
 * the PC and the SP of FRAME: an exception entry that is still at work has other values there. */
static const struct sfu_kernel_frame *find_trap(const struct sfu_kernel *k, const struct sfu_frame *frame,
                                                sfu_addr *trap)
{
    struct sfu_registers regs;

    if (frame->depth == 0 && k->from != NULL) {
        sfu_kernel_registers(k, k->from, &regs);
        *trap = (uintptr_t)k->from;
        return has_saved(&regs, frame) ? &k->trap : NULL;
    }
    *trap = frame->depth == 0 ? k->saved : frame->interrupted ? frame->saved : 0;
    if (*trap != 0)
        *trap = trap_by_sp(k, *trap);
    if (*trap == 0)
        return NULL;
    if (read_frame(k, &k->trap, *trap, &regs) && has_saved(&regs, frame))
        return &k->trap;
    if (k->other_trap.size != 0 && read_frame(k, &k->other_trap, *trap, &regs) && has_saved(&regs, frame))
        return &k->other_trap;
    return NULL;
}

/* The word at offset AT of the trap frame of FRAME, which is at TRAP. */
static bool read_trap(const struct sfu_kernel *k, const struct sfu_frame *frame, sfu_addr trap, int16_t at,
                      sfu_addr *value)
{
    if (at < 0)
        return false;
    if (frame->depth != 0 || k->from == NULL)
        return read_saved(k, trap, at, value);
    *value = saved_at(k->from, at);
    return true;
}

/* A sfu_reg_fn. */
static int get_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    const struct sfu_kernel *k = (const struct sfu_kernel *)ctx;
    int16_t at = SFU_KERNEL_NOT_SAVED;
    sfu_addr trap;
    const struct sfu_kernel_frame *layout = find_trap(k, frame, &trap);

    if (layout == NULL)
        return k->image_register != NULL ? k->image_register(NULL, frame, reg, value) : -1;
    if (layout == &k->trap && reg < k->num_registers)
        at = k->registers[reg];
#ifdef SFU_REG_RA
    if (reg == SFU_REG_RA)
        at = layout->ra;
#endif
    return read_trap(k, frame, trap, at, value) ? 0 : -1;
}

/* ---- Stacks ---------------------------------------------------------------------------------------------------- */

static void clear(void *p, size_t size)
{
    volatile uint8_t *bytes = (volatile uint8_t *)p; /* volatile: compilers must not call memset */
    size_t i;

    for (i = 0; i < size; i++)
        bytes[i] = 0;
}

static uint32_t max_threads(const struct sfu_kernel *k)
{
    return k->max_threads != 0 ? k->max_threads : (uint32_t)MAX_THREADS;
}

/* The pointer at offset AT of THREAD. */
static void *pointer_at(const void *thread, int16_t at)
{
    return *(void *const *)(const void *)((const uint8_t *)thread + at);
}

/* The thread that a PLACE of the array or of the list is. NULL: none. */
static const uint8_t *thread_at(const struct sfu_kernel_threads *t, const void *place)
{
    return (const uint8_t *)(t->list == NULL && t->pointers ? pointer_at(place, 0) : place);
}

/* The thread of the list that LINK, a pointer of it, leads to. NULL: there is none, or LINK leads to the list's head,
 * whose pointer is the list's first one. */
static void *linked(const struct sfu_kernel_threads *t, const void *link)
{
    uint8_t *node = (uint8_t *)pointer_at(link, 0);
    const bool is_head = (uintptr_t)node + (uintptr_t)(t->next - t->node) == (uintptr_t)t->list;

    return node == NULL || is_head ? NULL : node - t->node;
}

/* The place after BEFORE, or the first one if BEFORE is NULL. NULL: there is none. */
static void *following(const struct sfu_kernel_threads *t, const void *before)
{
    const size_t size = t->pointers ? sizeof(void *) : t->size;
    const uint8_t *place = (const uint8_t *)t->array;
    void *thread;

    if (t->list == NULL) {
        place = before == NULL ? place : (const uint8_t *)before + size;
        return place != NULL && place < (const uint8_t *)t->array + t->num * size ? (void *)place : NULL;
    }
    if (before == NULL)
        return linked(t, t->list);
    thread = linked(t, (const uint8_t *)before + t->next);
    return thread == linked(t, t->list) ? NULL : thread;
}

/* The size of THREAD's stack. */
static size_t stack_size(const struct sfu_kernel_threads *t, const uint8_t *thread)
{
    return t->stack_size_at != 0 ? *(const size_t *)(const void *)(thread + t->stack_size_at) : t->stack_size;
}

/* Whether AT, of a member that there need not be, is set; and where the member is then. */
static bool has_member(int16_t at)
{
    return at > 0 || at == SFU_KERNEL_FIRST;
}

static int16_t offset_of(int16_t at)
{
    if (at == SFU_KERNEL_FIRST)
        return 0;
    return at;
}

/* The integer of SIZE bytes at PLACE, without its sign. */
static uint64_t integer_at(const void *place, uint8_t size)
{
    switch (size) {
    case 1:
        return *(const uint8_t *)place;
    case 2:
        return *(const uint16_t *)place;
    case 4:
        return *(const uint32_t *)place;
    default:
        return *(const uint64_t *)place;
    }
}

static bool is_in(uint32_t set, uint64_t value)
{
    return value < 32 && (set >> value & 1) != 0;
}

/* What THREAD does. */
static enum sfu_kernel_state state_of(const struct sfu_kernel_threads *t, const uint8_t *thread)
{
    const struct sfu_kernel_states *states = &t->states;
    uint64_t value;

    if (t->state != NULL)
        return t->state(thread);
    if (states->size == 0)
        return SFU_KERNEL_WAITS;
    value = integer_at(thread + states->at, states->size);
    if (is_in(states->runs, value))
        return SFU_KERNEL_RUNS;
    if (is_in(states->is_new, value))
        return SFU_KERNEL_NEW;
    return is_in(states->waits, value) ? SFU_KERNEL_WAITS : SFU_KERNEL_NO_THREAD;
}

/* Fills in ENTRY of THREAD, but for its cursor. */
static void describe(const struct sfu_kernel_threads *t, const uint8_t *thread, struct sfu_kernel_thread *entry)
{
    const uint8_t *low = NULL;

    if (t->stack_low >= 0)
        low = t->stack_inside ? thread + t->stack_low : (const uint8_t *)pointer_at(thread, t->stack_low);
    entry->stack_low = low;
    entry->stack_high = low != NULL ? low + stack_size(t, thread) : NULL;
    entry->guard = t->guard;
    entry->saved = t->registers_inside ? thread + t->sp : NULL;
    entry->sp = (uintptr_t)pointer_at(thread, t->sp);
    entry->name = NULL;
    if (has_member(t->name)) {
        const int16_t at = offset_of(t->name);

        entry->name = (const char *)(t->name_is_pointer ? pointer_at(thread, at) : thread + at);
    }
    if (has_member(t->number))
        entry->number = *(const uint32_t *)(const void *)(thread + offset_of(t->number));
    else
        entry->number++;
}

/* Whether ENTRY has come back to where it was, in a list that does not end. It remembers each place whose number is a
 * power of two, and so notices that within three times as many places as there are. */
static bool is_circle(const struct sfu_kernel_threads *t, struct sfu_kernel_thread *entry)
{
    if (t->list == NULL)
        return false;
    if (entry->passed != 0 && entry->cursor == entry->remembered)
        return true;
    if ((entry->passed & (entry->passed + 1)) == 0)
        entry->remembered = entry->cursor;
    return false;
}

/* Fills in the next ENTRY by K's description of its threads. Returns false if there is none. At most max_threads
 * passes, from the first thread on. */
static bool next_described(const struct sfu_kernel *k, struct sfu_kernel_thread *entry)
{
    const struct sfu_kernel_threads *t = &k->threads;
    enum sfu_kernel_state state = SFU_KERNEL_NO_THREAD;
    const uint8_t *thread = NULL;

    for (; state == SFU_KERNEL_NO_THREAD && entry->passed < max_threads(k); entry->passed++) {
        entry->cursor = following(t, entry->cursor);
        if (entry->cursor == NULL || is_circle(t, entry))
            return false;
        thread = thread_at(t, entry->cursor);
        if (thread != NULL)
            state = state_of(t, thread);
    }
    entry->running = state == SFU_KERNEL_RUNS;
    entry->is_new = state == SFU_KERNEL_NEW;
    if (state != SFU_KERNEL_NO_THREAD)
        describe(t, thread, entry);
    return state != SFU_KERNEL_NO_THREAD;
}

/* Fills in the next THREAD of K. Returns false if there is none. */
static bool next_thread(const struct sfu_kernel *k, struct sfu_kernel_thread *thread)
{
    if (k->next_thread != NULL)
        return k->next_thread(k->panic.ctx, thread);
    return (k->threads.array != NULL || k->threads.list != NULL) && next_described(k, thread);
}

/* How well an address fits to a stack. Where guards are memory, that of a thread that is walked fits better than the
 * stack of another thread. */
enum fit { OUTSIDE, IN_GUARD, AT_HIGH, INSIDE_OTHER, IN_WALKED_GUARD, INSIDE };

/* A search for the stack that an address lies on. */
struct search {
    sfu_addr addr, below, above; /* no stack that was looked at reaches into [below, above) */
    enum fit best;
    struct sfu_stack *stack; /* valid unless best is OUTSIDE */
    sfu_addr guard;          /* bytes below it */
};

static enum fit fit_of(sfu_addr addr, sfu_addr low, sfu_addr high, sfu_addr guard)
{
    if (low >= high || addr < (guard < low ? low - guard : 0) || addr > high)
        return OUTSIDE;
    if (addr < low)
        return IN_GUARD;
    return addr == high ? AT_HIGH : INSIDE;
}

/* Looks at the stack from LOW to HIGH, and at the GUARD bytes below it. IN_GUARD and INSIDE: how well an address
 * there fits. Returns whether no better one can come. */
static bool look_at(struct search *s, const void *low, const void *high, sfu_addr guard, enum fit in_guard,
                    enum fit inside)
{
    const sfu_addr begin = (uintptr_t)low, end = (uintptr_t)high;
    enum fit fit = fit_of(s->addr, begin, end, guard);

    if (fit == IN_GUARD)
        fit = in_guard;
    if (fit == INSIDE)
        fit = inside;
    if (fit > s->best) {
        s->stack->bytes = low;
        s->stack->low = begin;
        s->stack->high = end;
        s->best = fit;
        s->guard = guard;
    }
    if (begin < end && end <= s->addr && end > s->below)
        s->below = end;
    if (begin < end && begin > s->addr && begin < s->above)
        s->above = begin;
    return s->best == INSIDE;
}

static bool look_at_thread(const struct sfu_kernel *k, struct search *s, const struct sfu_kernel_thread *t)
{
    const bool is_walked = k->thread != NULL ? t->cursor == k->thread : t->running;

    return look_at(s, t->stack_low, t->stack_high, t->guard,
                   k->guard_is_memory && is_walked ? IN_WALKED_GUARD : IN_GUARD,
                   k->guard_is_memory && !is_walked ? INSIDE_OTHER : INSIDE);
}

/* Narrows *S to the one stack of several, of EACH bytes, that the address lies on. At most one pass for each stack. */
static void narrow(struct search *s, sfu_addr each)
{
    struct sfu_stack *stack = s->stack;
    sfu_addr low = stack->low;

    while (stack->high - low > each && s->addr >= low + each)
        low += each;
    stack->bytes = (const uint8_t *)stack->bytes + (low - stack->low);
    stack->low = low;
    if (stack->high - low > each)
        stack->high = low + each;
}

/* Sets *REST to the part of the image's memory that ADDR lies in, without the memory of KERNEL's rest. A stack that
 * lies in the same part as the one where the trace begins, below it, ends before that. */
static bool find_image_memory(const struct sfu_kernel *k, sfu_addr addr, struct sfu_kernel_stack *rest)
{
    const sfu_addr low = (uintptr_t)k->rest.low, high = (uintptr_t)k->rest.high;
    struct sfu_stack part;
    sfu_addr from;

    if (k->image_memory == NULL || !k->image_memory(NULL, addr, &part))
        return false;
    from = high > part.low && high <= addr ? high : part.low;
    if (low >= addr && low < part.high)
        part.high = low;
    if (addr < k->top && k->top <= part.high)
        part.high = k->top - 1;
    rest->low = (const uint8_t *)part.bytes + (from - part.low);
    rest->high = (const uint8_t *)part.bytes + (part.high - part.low);
    rest->guard = 0;
    return true;
}

/* Finds memory of stacks without bounds. It ends where a known stack begins, because a walk from one to the other
 * changes stacks. */
static bool look_at_rest(const struct sfu_kernel *k, struct search *s)
{
    struct sfu_kernel_stack rest = k->rest;
    const uint8_t *low, *high;

    if (fit_of(s->addr, (uintptr_t)rest.low, (uintptr_t)rest.high, rest.guard) == OUTSIDE &&
        !find_image_memory(k, s->addr, &rest))
        return false;
    low = (const uint8_t *)rest.low;
    high = (const uint8_t *)rest.high;
    if (fit_of(s->addr, (uintptr_t)low, (uintptr_t)high, rest.guard) == OUTSIDE)
        return false;
    if (s->below > (uintptr_t)low)
        low += s->below - (uintptr_t)low;
    if (s->above < (uintptr_t)high)
        high -= (uintptr_t)high - s->above;
    (void)look_at(s, low, high, rest.guard, IN_GUARD, INSIDE);
    return s->best != OUTSIDE;
}

/* Adds the guard to the stack that an address in it has found. */
static void add_guard(const struct search *s)
{
    const sfu_addr size = s->guard < s->stack->low ? s->guard : s->stack->low;

    s->stack->bytes = (const uint8_t *)s->stack->bytes - size;
    s->stack->low -= size;
}

/* Finds the stack of known bounds that fits best. At most num_stacks and max_threads passes. */
static bool find_known(const struct sfu_kernel *k, struct search *s)
{
    struct sfu_kernel_thread thread;
    uint32_t left = max_threads(k);
    unsigned i;

    for (i = 0; i < k->num_stacks; i++) {
        const struct sfu_kernel_stack *known = &k->stacks[i];
        const enum fit before = s->best;
        const bool done = look_at(s, known->low, known->high, known->guard, IN_GUARD, INSIDE);

        if (known->each != 0 && s->best != before)
            narrow(s, known->each);
        if (done)
            return true;
    }
    clear(&thread, sizeof thread);
    for (; left > 0 && next_thread(k, &thread); left--)
        if (look_at_thread(k, s, &thread))
            return true;
    return s->best != OUTSIDE;
}

/* A sfu_find_stack_fn. */
static bool find_stack(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    const struct sfu_kernel *k = (const struct sfu_kernel *)ctx;
    struct search s = {addr, 0, SFU_ADDR_MAX, OUTSIDE, stack, 0};

    if (!find_known(k, &s) && !look_at_rest(k, &s))
        return false;
    if (k->guard_is_memory && (s.best == IN_GUARD || s.best == IN_WALKED_GUARD))
        add_guard(&s);
    return true;
}

/* Whether SP and HERE lie on the same stack of known bounds, HERE above SP. */
static bool is_below(const struct sfu_kernel *k, sfu_addr sp, sfu_addr here)
{
    struct sfu_stack a, b;
    struct search of_sp = {sp, 0, SFU_ADDR_MAX, OUTSIDE, &a, 0}, of_here = {here, 0, SFU_ADDR_MAX, OUTSIDE, &b, 0};

    return sp < here && find_known(k, &of_sp) && find_known(k, &of_here) && a.low == b.low && a.high == b.high;
}

/* ---- Exception entries ----------------------------------------------------------------------------------------- */

/* Whether the trap frame at TRAP, of FRAME, which has the word for mode at AT, has interrupted user mode. */
static bool is_user(const struct sfu_kernel *k, const struct sfu_frame *frame, sfu_addr trap, int16_t at)
{
    sfu_addr mode;

    return k->mode_mask != 0 && read_trap(k, frame, trap, at, &mode) && (mode & k->mode_mask) == k->mode_user;
}

/* The same of the trap frame that has saved FRAME's registers, if there is one. */
static bool from_user(const struct sfu_kernel *k, const struct sfu_frame *frame)
{
    sfu_addr trap;
    const struct sfu_kernel_frame *layout = find_trap(k, frame, &trap);

    if (layout == NULL)
        return false;
    return layout == &k->trap ? is_user(k, frame, trap, k->mode) : is_user(k, frame, trap, k->other_mode);
}

/* A sfu_trap_hook_fn. FRAME is an exception entry without a table, at its call of C; or it is what a trap has
 * interrupted, and lies in user mode. */
static int cross(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    const struct sfu_kernel *k = (const struct sfu_kernel *)ctx;
    const sfu_addr pc = sfu_lookup_pc(&frame->regs);
    sfu_addr trap;

    if (frame->regs.pc_kind == SFU_PC_EXACT)
        return from_user(k, frame) ? (int)SFU_END : code;
    if (frame->regs.pc == 0)
        return k->zero_ends ? (int)SFU_END : code;
    if (pc < k->entries.low || pc >= k->entries.high)
        return code;
    trap = trap_by_sp(k, frame->regs.sp);
    if (trap == 0)
        return code;
    if (frame->depth != 0 && is_user(k, frame, trap, k->mode))
        return SFU_END;
    return read_frame(k, &k->trap, trap, &interrupted->regs) ? (int)SFU_OK : (int)SFU_E_STACK;
}

/* The same in traces of other CPUs and of threads, whose trap frame current_trap does not know. */
static int cross_elsewhere(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    const struct sfu_kernel *k = (const struct sfu_kernel *)ctx;
    const bool is_entry = frame->regs.pc_kind == SFU_PC_RETURN && frame->regs.pc != 0;

    return k->current_trap != NULL && is_entry ? code : cross(ctx, frame, code, interrupted);
}

/* ---- Panics ---------------------------------------------------------------------------------------------------- */

int sfu_kernel_init(struct sfu_kernel *k, const void *sframe, const void *sframe_end)
{
    struct sfu_target *target = &k->panic.own;
    bool there = k->mapped.high == 0 || ((sfu_addr)(uintptr_t)sframe >= k->mapped.low &&
                                         (sfu_addr)(uintptr_t)sframe_end <= k->mapped.high);
    int code = sfu_panic_init(&k->panic, sframe, there ? sframe_end : sframe, NULL, NULL);

    target->find_stack = find_stack;
    target->trap_hook = cross;
    target->reg = get_register;
    target->ctx = k;
    return code;
}

static unsigned own_number(const struct sfu_kernel *k)
{
    return k->cpu_number != NULL ? k->cpu_number(k->panic.ctx) : 0;
}

/* Leaves TOP of CPU to the CPU that prints. An NMI that finds this CPU in wait_for_ever already leaves what the other
 * one may be reading as it is. */
static void leave(struct sfu_kernel *k, unsigned cpu, const struct sfu_registers *top, const void *trap)
{
    struct sfu_kernel_cpu *cpus = __atomic_load_n(&k->cpus, __ATOMIC_ACQUIRE);

    if (cpus == NULL || cpu >= __atomic_load_n(&k->num_cpus, __ATOMIC_RELAXED) || cpus[cpu].stopped != 0)
        return;
    copy_registers(&cpus[cpu].top, top);
    cpus[cpu].trap = trap;
    __atomic_store_n(&cpus[cpu].stopped, 1, __ATOMIC_RELEASE);
}

/* The kernel may find out only later how many CPUs there are. */
static void __attribute__((__noreturn__))
wait_for_ever(struct sfu_kernel *k, const struct sfu_registers *top, const void *trap)
{
    const unsigned cpu = own_number(k);

    (void)sfu_mask_interrupts();
    for (;;)
        leave(k, cpu, top, trap);
}

void sfu_kernel_stop(struct sfu_kernel *k, const void *trap)
{
    struct sfu_registers top = sfu_registers_here();

    if (__atomic_load_n(&k->owner, __ATOMIC_ACQUIRE) == own_number(k) + 1)
        return;
    if (trap != NULL)
        sfu_kernel_registers(k, trap, &top);
    wait_for_ever(k, &top, trap);
}

/* Says what to do about a trace that ends at SP, if no stack is known there. A fault in it is one while printing. */
static void say_stack(struct sfu_kernel *k, sfu_addr sp)
{
    struct sfu_stack stack;

    clear(&stack, sizeof stack);
    k->panic.busy = 1;
    if (!find_stack(k, sp, &stack)) {
        sfu_print_number(&k->panic, "no stack is known at 0x", sp, 16, SFU_PRINT_DIGITS);
        sfu_print_text(&k->panic, ": if one is there, describe it in stacks, threads or rest\n");
    }
    k->panic.busy = 0;
}

/* Prints the trace from TOP on. TRAP: the trap frame that TOP was saved in, or NULL. */
static int print_trace(struct sfu_kernel *k, const struct sfu_registers *top, const void *trap)
{
    const bool nested =
        k->panic.busy != 0; /* a fault while printing: it changes nothing of the trace being printed */
    int code;

    if (!nested) {
        k->from = trap;
        k->top = top->sp;
    }
    code = sfu_panic_print(&k->panic, top);
    if (nested)
        return code;
    k->top = 0;
    if (code == SFU_E_STACK)
        say_stack(k, k->panic.walk.frame.regs.sp);
    return code;
}

/* An SP on the stack where the last trace has ended. */
static sfu_addr last_sp(struct sfu_kernel *k)
{
    const struct sfu_frame *frame = &k->panic.walk.frame;
    struct sfu_stack stack;

    clear(&stack, sizeof stack);
    return frame->interrupted && !find_stack(k, frame->regs.sp, &stack) ? frame->saved : frame->regs.sp;
}

/* Waits for CPU, which is not this one, for as long as the kernel has patience. */
static bool has_stopped(const struct sfu_kernel *k, unsigned cpu)
{
    uint32_t left = k->patience != 0 ? k->patience : (uint32_t)PATIENCE;

    while (left > 0 && __atomic_load_n(&k->cpus[cpu].stopped, __ATOMIC_ACQUIRE) == 0)
        left--;
    return left > 0;
}

/* Says that the CPUs from FIRST up to END have not stopped. A kernel may have room for more CPUs than there are. */
static void say_not_stopped(const struct sfu_kernel *k, unsigned first, unsigned end)
{
    if (first == end)
        return;
    sfu_print_number(&k->panic, "CPU ", first, 10, 1);
    sfu_print_text(&k->panic, " has not stopped");
    if (end - first > 1)
        sfu_print_number(&k->panic, ", nor has any up to CPU ", end - 1, 10, 1);
    sfu_print_text(&k->panic, "\n");
}

static void print_others(struct sfu_kernel *k, unsigned mine)
{
    unsigned cpu, first = 0; /* from FIRST up to CPU none has stopped */

    if (k->cpus == NULL || k->stop_others == NULL)
        return;
    k->stop_others(k->panic.ctx);
    for (cpu = 0; k->panic.busy == 0; cpu++) {
        const bool other = cpu < k->num_cpus && cpu != mine;

        if (other && !has_stopped(k, cpu))
            continue;
        say_not_stopped(k, first, cpu);
        first = cpu + 1;
        if (cpu >= k->num_cpus)
            return;
        if (!other)
            continue;
        sfu_print_number(&k->panic, "CPU ", cpu, 10, 1);
        sfu_print_text(&k->panic, ":\n");
        (void)print_trace(k, &k->cpus[cpu].top, k->cpus[cpu].trap);
        k->cpus[cpu].last = last_sp(k);
    }
}

/* What a trace of another CPU or of a thread does without, and this CPU's own has: the panic's own functions. */
struct own_trace {
    sfu_addr skip_function, fault_address;
    uint32_t skip;
    int (*after)(struct sfu_panic *panic, int code);
};

static void set_aside(struct sfu_panic *p, struct own_trace *own)
{
    own->skip_function = p->skip_function;
    own->skip = p->skip;
    own->fault_address = p->fault_address;
    own->after = p->after;
    p->skip_function = p->fault_address = 0;
    p->skip = 0;
    p->own.trap_hook = cross_elsewhere;
}

static void put_back(struct sfu_panic *p, const struct own_trace *own)
{
    p->skip_function = own->skip_function;
    p->skip = own->skip;
    p->fault_address = own->fault_address;
    p->after = own->after;
    p->own.trap_hook = cross;
}

/* gcc and clang for Linux would call a library for an atomic operation, which kernels do not have. */
#if defined(__aarch64__) && (defined(__clang__) || __GNUC__ >= 10)
#define INLINE_ATOMICS __attribute__((__target__("no-outline-atomics"), __noinline__))
#else
#define INLINE_ATOMICS
#endif

/* Whether this CPU is the one that prints, from now on if none was. */
INLINE_ATOMICS static bool is_owner(struct sfu_kernel *k, unsigned cpu)
{
    uint32_t owner = 0;

    if (k->cpus == NULL) {
        k->owner = cpu + 1;
        return true;
    }
    return __atomic_compare_exchange_n(&k->owner, &owner, cpu + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
           owner == cpu + 1;
}

/* What is needed to let interrupts in as before. */
struct masked {
    bool done;
    uintptr_t before;
};

/* Keeps interrupts away, in which the kernel would go on. If that faults, because the CPU is in another mode than
 * SFU_RISCV_MODE says, the fault's own panic does not try again. */
static struct masked mask(struct sfu_kernel *k)
{
    struct masked masked;

    masked.before = 0;
    masked.done = !k->masking;
    if (masked.done) {
        k->masking = true;
        masked.before = sfu_mask_interrupts();
        k->masking = false;
    }
    return masked;
}

static void unmask(struct masked masked)
{
    if (masked.done)
        sfu_unmask_interrupts(masked.before);
}

/* An exception's entry that sets SP to the top of a stack each time overwrites what it has interrupted there. TOP is
 * what was interrupted, HERE the SP of the handler. */
static void say_overwritten(struct sfu_kernel *k, const struct sfu_registers *top, sfu_addr here)
{
    if (!is_below(k, top->sp, here))
        return;
    sfu_print_text(&k->panic,
                   "this CPU's handler has overwritten a part of that stack: these frames are not proven\n");
    k->panic.walk.frame.reliable = false;
}

static int print_all(struct sfu_kernel *k, const struct sfu_registers *top, const void *trap)
{
    const struct sfu_registers here = sfu_registers_here();
    const unsigned cpu = own_number(k);
    struct own_trace own;
    int code;

    if (!is_owner(k, cpu))
        wait_for_ever(k, top, trap);
    code = print_trace(k, top, trap);
    if (k->panic.busy == 0) {
        k->stood.first = top->sp;
        k->stood.last = last_sp(k);
        say_overwritten(k, top, here.sp);
        set_aside(&k->panic, &own);
        print_others(k, cpu);
        put_back(&k->panic, &own);
    }
    return code;
}

static int panic_from(struct sfu_kernel *k, const struct sfu_registers *top, const void *trap)
{
    const struct masked masked = mask(k);
    const int code = print_all(k, top, trap);

    unmask(masked);
    return code;
}

int sfu_kernel_panic(struct sfu_kernel *k, const struct sfu_registers *top)
{
    struct sfu_registers here = sfu_registers_here();

    return panic_from(k, top != NULL ? top : &here, NULL);
}

int sfu_kernel_fault(struct sfu_kernel *k, const void *trap, sfu_addr address)
{
    const struct masked masked = mask(k);
    struct sfu_registers top;
    int code;

    sfu_kernel_registers(k, trap, &top);
    if (is_owner(k, own_number(k)))
        k->panic.fault_address = address;
    code = print_all(k, &top, trap);
    unmask(masked);
    return code;
}

/* Only a frame that is proven becomes a beginning: what was guessed on the way to it would not be marked. */
static int panic_at(struct sfu_kernel *k, const struct sfu_registers *top, sfu_addr pc)
{
    struct sfu_walk *walk = &k->panic.walk;
    const struct sfu_frame *frame = &walk->frame;
    struct sfu_registers from;
    int code = SFU_OK;

    if (!is_owner(k, own_number(k)) || k->panic.busy != 0)
        return panic_from(k, top, NULL);
    k->from = NULL;
    sfu_walk_start(walk, &k->panic.own, top);
    while (code == SFU_OK && frame->regs.pc != (pc & ~(sfu_addr)SFU_RA_MODE))
        code = sfu_walk_step(walk);
    if (code != SFU_OK || !frame->reliable)
        return panic_from(k, top, NULL);
    copy_registers(&from, &frame->regs);
    k->saved = frame->interrupted ? frame->saved : 0;
    code = panic_from(k, &from, NULL);
    k->saved = 0;
    return code;
}

int sfu_kernel_panic_at(struct sfu_kernel *k, const struct sfu_registers *top, sfu_addr pc)
{
    const struct masked masked = mask(k);
    const int code = panic_at(k, top, pc);

    unmask(masked);
    return code;
}

/* ---- Threads --------------------------------------------------------------------------------------------------- */

/* Prints NAME as far as it can be printed, and at most 32 characters: a thread's structure may be damaged. */
static void print_name(const struct sfu_panic *p, const char *name)
{
    unsigned left = 32;

    if (name == NULL || *name == '\0')
        return;
    p->put(p->ctx, ' ');
    for (; left > 0 && *name > ' ' && *name <= '~'; left--)
        p->put(p->ctx, *name++);
}

/* Sets *FRAME to the layout of what the context switch has saved of THREAD. Returns false if it cannot be read. */
static bool find_layout(const struct sfu_kernel *k, const struct sfu_kernel_thread *thread,
                        const struct sfu_kernel_frame **frame)
{
    sfu_addr word = 0;

    *frame = &k->switched;
    if (k->kind_mask == 0)
        return true;
    if (thread->saved != NULL)
        word = saved_at(thread->saved, k->kind);
    else if (!read_saved(k, thread->sp, k->kind, &word))
        return false;
    if ((word & k->kind_mask) == k->kind_other)
        *frame = &k->other_switched;
    return true;
}

/* Sets *TOP to where THREAD waits. Returns false if that cannot be read. */
static bool switched_from(const struct sfu_kernel *k, const struct sfu_kernel_thread *thread,
                          struct sfu_registers *top)
{
    const struct sfu_kernel_frame *frame;

    if (!find_layout(k, thread, &frame))
        return false;
    if (thread->saved != NULL)
        named_frame(frame, thread->saved, top);
    else if (!read_frame(k, frame, thread->sp, top))
        return false;
#ifdef SFU_REG_RA
    /* Only a function that has not called another one needs the link register: here that is the first one of a thread
     * that has never run, and nobody has called it. The register counts as 0. */
    top->has_ra = true;
#endif
    return true;
}

static bool lies_on(const struct sfu_kernel_thread *thread, sfu_addr sp)
{
    return sp > (uintptr_t)thread->stack_low && sp <= (uintptr_t)thread->stack_high;
}

/* Whether SP is that of code which runs on the stack of THREAD. Where guards are memory, an overflow of another stack
 * reaches there. */
static bool is_on(struct sfu_kernel *k, const struct sfu_kernel_thread *thread, sfu_addr sp)
{
    struct sfu_stack stack;

    if (!lies_on(thread, sp))
        return false;
    clear(&stack, sizeof stack);
    return !k->guard_is_memory || (find_stack(k, sp, &stack) && stack.bytes == thread->stack_low);
}

/* Whether a CPU runs on the stack of THREAD, or handles what has interrupted it there, although the state of THREAD
 * says that it waits: a kernel may set the state before the context switch has saved anything, and what is saved is
 * that of an earlier switch then. HERE: SP of this CPU. */
static bool is_in_use(struct sfu_kernel *k, const struct sfu_kernel_thread *thread, sfu_addr here)
{
    bool in_use = is_on(k, thread, here) || is_on(k, thread, k->stood.first) || is_on(k, thread, k->stood.last);
    unsigned cpu;

    for (cpu = 0; k->cpus != NULL && cpu < k->num_cpus; cpu++)
        if (__atomic_load_n(&k->cpus[cpu].stopped, __ATOMIC_ACQUIRE) != 0)
            in_use = in_use || is_on(k, thread, k->cpus[cpu].top.sp) || is_on(k, thread, k->cpus[cpu].last);
    return in_use;
}

/* Whether there is another CPU that has not stopped. It may run each thread. */
static bool others_run(const struct sfu_kernel *k)
{
    const unsigned mine = own_number(k);
    unsigned cpu;

    for (cpu = 0; k->cpus != NULL && cpu < k->num_cpus; cpu++)
        if (cpu != mine && __atomic_load_n(&k->cpus[cpu].stopped, __ATOMIC_ACQUIRE) == 0)
            return true;
    return false;
}

/* A thread while its trace is printed. */
struct sfu_kernel_walked {
    const struct sfu_kernel_thread *before; /* the one before it in the list */
    const struct sfu_kernel_thread *thread;
    struct sfu_registers top; /* where it waits */
    bool others_run;
};

static void copy_thread(struct sfu_kernel_thread *to, const struct sfu_kernel_thread *from)
{
    volatile uint8_t *t = (volatile uint8_t *)to; /* volatile: compilers must not call memcpy */
    const uint8_t *f = (const uint8_t *)from;
    size_t i;

    for (i = 0; i < sizeof *to; i++)
        t[i] = f[i];
}

/* Whether THREAD, which is described as it is now, waits where it did: at TOP. */
static bool still_waits(const struct sfu_kernel *k, const struct sfu_kernel_thread *thread,
                        const struct sfu_registers *top)
{
    struct sfu_registers now;

    return switched_from(k, thread, &now) && now.pc == top->pc && now.sp == top->sp && now.fp == top->fp;
}

static bool has_moved(const struct sfu_kernel *k, const struct sfu_kernel_walked *w)
{
    struct sfu_kernel_thread now;

    copy_thread(&now, w->before);
    return !next_thread(k, &now) || now.cursor != w->thread->cursor || now.running || now.is_new ||
           !still_waits(k, &now, &w->top);
}

/* sfu_panic.after of a thread's trace: what is read of a stack while the thread runs on it need not have been there at
 * any one time. */
static int end_thread(struct sfu_panic *p, int code)
{
    struct sfu_kernel *k = (struct sfu_kernel *)p->own.ctx;

    k->top = 0; /* what the context switch has saved lies below it */
    if (has_moved(k, k->walked)) {
        sfu_print_text(p, "this thread has run meanwhile: these frames are not proven\n");
        code = code < 0 ? code : (int)SFU_E_STACK;
    } else if (k->walked->others_run) { /* it may wait at the same place again */
        sfu_print_text(p, "a CPU that has not stopped may have run this thread: these frames are not proven\n");
    } else {
        return code;
    }
    p->walk.frame.reliable = false;
    return code;
}

static void print_trace_of(struct sfu_kernel *k, struct sfu_kernel_walked *walked)
{
    sfu_print_text(&k->panic, ":\n");
    k->thread = walked->thread->cursor;
    k->walked = walked;
    k->panic.after = end_thread;
    (void)print_trace(k, &walked->top, NULL);
    k->walked = NULL;
    k->thread = NULL;
}

/* Returns whether it has run and does not run. HERE: SP of this CPU. */
static bool print_thread(struct sfu_kernel *k, const struct sfu_kernel_thread *before,
                         const struct sfu_kernel_thread *thread, sfu_addr here)
{
    const bool in_use = is_in_use(k, thread, here);
    struct sfu_kernel_walked walked;

    walked.before = before;
    walked.thread = thread;
    walked.others_run = others_run(k);
    sfu_print_number(&k->panic, "trace of ", thread->number, 10, 1);
    print_name(&k->panic, thread->name);
    if (in_use) {
        sfu_print_text(&k->panic, ": a CPU runs on its stack\n");
    } else if (thread->is_new) {
        sfu_print_text(&k->panic, ": has not run yet\n");
    } else if (switched_from(k, thread, &walked.top)) {
        print_trace_of(k, &walked);
    } else {
        sfu_print_number(&k->panic, ": SP 0x", thread->sp, 16, 1);
        sfu_print_text(&k->panic, " lies on no stack\n");
    }
    return !in_use && !thread->is_new;
}

static unsigned print_threads(struct sfu_kernel *k, sfu_addr here)
{
    struct sfu_kernel_thread thread, before;
    uint32_t left = max_threads(k);
    unsigned traces = 0;

    clear(&thread, sizeof thread);
    for (; left > 0 && k->panic.busy == 0; left--) {
        copy_thread(&before, &thread);
        if (!next_thread(k, &thread))
            break;
        if (!thread.running)
            traces += print_thread(k, &before, &thread, here);
    }
    return traces;
}

unsigned sfu_kernel_print_threads(struct sfu_kernel *k)
{
    const struct sfu_registers here = sfu_registers_here();
    const struct masked masked = mask(k);
    struct own_trace own;
    unsigned traces;

    set_aside(&k->panic, &own);
    traces = print_threads(k, here.sp);
    put_back(&k->panic, &own);
    k->stood.first = k->stood.last = 0;
    unmask(masked);
    return traces;
}

int sfu_kernel_crash(struct sfu_kernel *k, const void *trap, sfu_addr address)
{
    struct sfu_registers here = sfu_registers_here();
    const struct masked masked = mask(k);
    const int code = trap != NULL ? sfu_kernel_fault(k, trap, address) : sfu_kernel_panic(k, &here);

    (void)sfu_kernel_print_threads(k);
    unmask(masked);
    return code;
}

/* ---- Traces in an array ---------------------------------------------------------------------------------------- */

static bool says_that_it_waits(const struct sfu_kernel *k, const void *thread)
{
    return state_of(&k->threads, (const uint8_t *)thread) == SFU_KERNEL_WAITS;
}

unsigned sfu_kernel_backtrace_from(const struct sfu_kernel *k, const struct sfu_registers *top, const void *thread,
                                   void **pcs, unsigned num, unsigned skip)
{
    struct sfu_registers waits;
    struct sfu_kernel_thread described;
    struct sfu_target target;
    struct sfu_walk walk;
    unsigned n = 0;
    int code = SFU_OK;

    if (k->panic.own.ctx == NULL)
        return 0;
    clear(&target, sizeof target);
    target.sections = k->panic.own.sections;
    target.find_stack = find_stack;
    target.reg = get_register;
    target.trap_hook = thread == NULL ? cross : cross_elsewhere;
    target.original_ra = k->panic.own.original_ra;
    target.pac_mask = k->panic.own.pac_mask;
    target.ctx = k->panic.own.ctx;
    clear(&described, sizeof described);
    if (thread != NULL) {
        describe(&k->threads, (const uint8_t *)thread, &described);
        if (!says_that_it_waits(k, thread) || lies_on(&described, top->sp) || !switched_from(k, &described, &waits))
            return 0;
        top = &waits;
    }
    sfu_walk_start(&walk, &target, top);
    for (; code == SFU_OK && n < num && walk.frame.regs.pc != 0; code = sfu_walk_step(&walk))
        if (skip == 0)
            /* NOLINTNEXTLINE(performance-no-int-to-ptr): backtrace() gives pointers, too */
            pcs[n++] = (void *)(uintptr_t)sfu_lookup_pc(&walk.frame.regs);
        else
            skip--;
    if (thread != NULL)
        describe(&k->threads, (const uint8_t *)thread, &described);
    return thread != NULL && !(says_that_it_waits(k, thread) && still_waits(k, &described, &waits)) ? 0 : n;
}

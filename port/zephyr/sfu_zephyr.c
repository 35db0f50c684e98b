/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Zephyr's arch_stack_walk, on x86_64 and arm64, without frame pointers: CONFIG_SFU_STACK_WALK. It takes the place of
 * the architecture's own (ld's --wrap). Unlike that one it walks
 *   from here           thread NULL or the current one, esf NULL: from the caller of arch_stack_walk
 *   from an interrupt   the same; on into the thread that was interrupted
 *   another thread      that is switched out, preempted, or has never run
 *   from a fault        esf: its PC first
 * The callback gets PCs and return addresses, at most CONFIG_ARCH_STACKWALK_MAX_FRAMES, the last one in z_thread_entry.
 * arch_stack_walk cannot say why a trace ends: sfu_zephyr_walk can.
 *
 * The tables lie from sframe_start to sframe_end. Nothing but the stacks of the thread and of this CPU's interrupts is
 * read. Another thread must not run meanwhile.
 */
#include "sfu_zephyr.h"
#include "sfu_arch.h"
#include <zephyr/kernel_structs.h>

#ifndef CONFIG_ARCH_STACKWALK_MAX_FRAMES
#define CONFIG_ARCH_STACKWALK_MAX_FRAMES SFU_MAX_FRAMES
#endif

extern const uint8_t sframe_start[], sframe_end[];
extern FUNC_NORETURN void z_thread_entry(k_thread_entry_t entry, void *p1, void *p2, void *p3);

/* What a walk is of. */
struct walked {
    struct sfu_target target;
    const struct k_thread *thread;
    sfu_addr isr_high; /* of this CPU's interrupt stack; 0: it is not in an interrupt of this thread */
    bool nested;       /* that interrupt has interrupted another one */
};

static bool on_isr_stack(const struct walked *walked, sfu_addr addr)
{
    return walked->isr_high != 0 && addr <= walked->isr_high && addr >= walked->isr_high - CONFIG_ISR_STACK_SIZE;
}

static bool find_stack(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    const struct walked *walked = ctx;
    sfu_addr low = walked->thread->stack_info.start, high = low + walked->thread->stack_info.size;

    if (on_isr_stack(walked, addr)) {
        high = walked->isr_high;
        low = high - CONFIG_ISR_STACK_SIZE;
    }
#ifdef CONFIG_USERSPACE
    else if (addr < low) { /* that of system calls */
        high = low;
        low = high - CONFIG_PRIVILEGED_STACK_SIZE;
    }
#endif
    stack->bytes = (const void *)(uintptr_t)low;
    stack->low = low;
    stack->high = high;
    return addr >= low && addr <= high;
}

#ifdef CONFIG_ARM64
void z_arm64_exit_exc(void);

/* Sets *REGS by what an exception has saved at ESF of a kernel's stack, or returns false. FP is x29, which it may not
 * save. */
static bool from_esf(const struct sfu_target *target, sfu_addr esf, sfu_addr fp, struct sfu_registers *regs)
{
    struct sfu_registers saved = {.sp = esf + sizeof(struct arch_esf), .fp = fp, .has_ra = true};
    sfu_addr spsr;

    if (sfu_read_word(target, esf + offsetof(struct arch_esf, elr), false, &saved.pc) != SFU_OK ||
        sfu_read_word(target, esf + offsetof(struct arch_esf, lr), false, &saved.ra) != SFU_OK ||
        sfu_read_word(target, esf + offsetof(struct arch_esf, spsr), false, &spsr) != SFU_OK)
        return false;
    if ((spsr & 0xf) == 0) /* EL0 */
#ifdef CONFIG_ARM64_SAFE_EXCEPTION_STACK
        if (sfu_read_word(target, esf + offsetof(struct arch_esf, sp), false, &saved.sp) != SFU_OK)
            return false;
#else
        saved.sp = 0; /* not known: on no stack */
#endif
    *regs = saved;
    return true;
}

/* The thread, by what the switch saved. One that has never run, or that an interrupt has preempted, is switched out in
 * assembly without tables, which leaves through z_arm64_exit_exc: what the exception saved lies at its SP. */
static struct sfu_registers switched_out(const struct walked *walked)
{
    const struct _callee_saved *saved = &walked->thread->callee_saved;
    struct sfu_registers regs = {.pc = saved->lr, .sp = saved->sp_elx, .fp = saved->x29, .pc_kind = SFU_PC_RETURN};

    if (saved->lr == (uintptr_t)z_arm64_exit_exc)
        (void)from_esf(&walked->target, saved->sp_elx, saved->x29, &regs);
    return regs;
}

static struct sfu_registers of_esf(const struct arch_esf *esf)
{
    const struct sfu_target kernel = {.stack = {(const void *)esf, (uintptr_t)esf, (uintptr_t)(esf + 1)}};
    struct sfu_registers regs = {.pc = esf->elr};
    sfu_addr fp = 0; /* not known without CONFIG_FRAME_POINTER; then only frames of variable size need it */

#ifdef CONFIG_FRAME_POINTER
    fp = esf->fp;
#endif
    (void)from_esf(&kernel, (uintptr_t)esf, fp, &regs);
    return regs;
}

/* An exception's assembly has no tables. An interrupt's begins its stack with where the exception has saved. */
static int cross(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    const struct walked *walked = ctx;
    sfu_addr esf = frame->regs.sp;

    if (frame->regs.pc_kind != SFU_PC_RETURN)
        return code;
    if (on_isr_stack(walked, frame->regs.sp)) {
        if (walked->nested || sfu_read_word(&walked->target, walked->isr_high - 16, false, &esf) != SFU_OK)
            return code;
    } else if (frame->depth != 0) {
        return code;
    }
    return from_esf(&walked->target, esf, frame->regs.fp, &interrupted->regs) ? SFU_OK : code;
}
#else
/* The thread, by what the switch or the interrupt that preempted it has saved; a new thread's is its beginning. */
static struct sfu_registers switched_out(const struct walked *walked)
{
    const struct k_thread *thread = walked->thread;
    bool exact = (thread->arch.flags & X86_THREAD_FLAG_ALL) != 0;
    struct sfu_registers regs = {.pc = thread->callee_saved.rip,
                                 .sp = thread->callee_saved.rsp,
                                 .fp = thread->callee_saved.rbp,
                                 .pc_kind = exact ? SFU_PC_EXACT : SFU_PC_RETURN};

    return regs;
}

static struct sfu_registers of_esf(const struct arch_esf *esf)
{
    struct sfu_registers regs = {.pc = esf->rip, .sp = esf->rsp, .fp = esf->rbp};

    return regs;
}

/* An interrupt's assembly has no tables. It saves the thread in its structure. */
static int cross(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    const struct walked *walked = ctx;

    if (walked->nested || !on_isr_stack(walked, frame->regs.sp))
        return code;
    interrupted->regs = switched_out(walked);
    return SFU_OK;
}
#endif

/* Where a thread begins its trace ends. Only PCs near it are looked up. */
static bool is_entry(const struct sfu_walk *walk)
{
    sfu_addr entry = (uintptr_t)z_thread_entry, pc = sfu_lookup_pc(&walk->frame.regs);
    struct sfu_row row;

    return pc >= entry && pc < entry + 4096 && sfu_find_frame(walk->target, &walk->frame, &row) == SFU_OK &&
           row.function == entry;
}

/* Skips SKIP frames. */
static int each_frame(struct sfu_walk *walk, uint32_t skip, stack_trace_callback_fn callback, void *cookie)
{
    int code = SFU_OK;

    for (uint32_t n = 0; code == SFU_OK; n++) {
        if (n >= skip + CONFIG_ARCH_STACKWALK_MAX_FRAMES)
            return SFU_E_DEPTH;
        if (n >= skip && !callback(cookie, (unsigned long)walk->frame.regs.pc))
            return SFU_OK;
        code = is_entry(walk) ? SFU_END : sfu_walk_step(walk);
    }
    return code;
}

/* HERE: in the function that calls this one, which is skipped. */
static int walk_from(struct sfu_registers here, stack_trace_callback_fn callback, void *cookie,
                     const struct k_thread *thread, const struct arch_esf *esf)
{
    struct walked walked = {.target = {.find_stack = find_stack, .trap_hook = cross}};
    struct sfu_section section;
    struct sfu_walk walk;
    uint32_t skip = 0;
    int code = sfu_add(&walked.target.sections, &section, 1, sframe_start, (sfu_addr)(sframe_end - sframe_start),
                       (uintptr_t)sframe_start);

    if (code != SFU_OK)
        return code;
    walked.target.ctx = &walked;
    walked.thread = thread != NULL ? thread : _current;
    if (walked.thread == _current && k_is_in_isr()) {
        walked.isr_high = (uintptr_t)_current_cpu->irq_stack;
        walked.nested = _current_cpu->nested > 1;
    }
    if (esf != NULL) {
        here = of_esf(esf);
        (void)sfu_find_text(&section); /* a fault may be a call of what is no code: the step guesses its caller */
    } else if (walked.thread == _current) {
        skip = 1;
    } else {
        here = switched_out(&walked);
    }
    sfu_walk_start(&walk, &walked.target, &here);
    return each_frame(&walk, skip, callback, cookie);
}

__attribute__((noinline)) int sfu_zephyr_walk(stack_trace_callback_fn callback, void *cookie,
                                              const struct k_thread *thread, const struct arch_esf *esf)
{
    return walk_from(sfu_registers_here(), callback, cookie, thread, esf);
}

/* What ld's --wrap=arch_stack_walk makes of each call of arch_stack_walk. */
__typeof__(arch_stack_walk) __wrap_arch_stack_walk;
__attribute__((noinline)) void __wrap_arch_stack_walk(stack_trace_callback_fn callback_fn, void *cookie,
                                                      const struct k_thread *thread, const struct arch_esf *esf)
{
    (void)walk_from(sfu_registers_here(), callback_fn, cookie, thread, esf);
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The exception frame is read through the target, so that nothing here faults: it lies in a known stack, or is not
 * read. References are to the Arm Architecture Reference Manuals, DDI 0403 (ARMv7-M) and DDI 0553 (ARMv8-M):
 * EXC_RETURN, PushStack, the fault status registers.
 */
#include "sfu_cortexm.h"

/* ---- Exception frames ------------------------------------------------------------------------------------------ */

enum {
    WORD = 4,
    FRAME_R12 = 4 * WORD,
    FRAME_LR = 5 * WORD,
    FRAME_PC = 6 * WORD,
    FRAME_XPSR = 7 * WORD,
    FRAME_SIZE = 8 * WORD,
    FPU_SIZE = 18 * WORD,     /* s0 to s15, FPSCR, a word that is unused or VPR */
    CALLEES_SIZE = 10 * WORD, /* a signature, a word that is unused, r4 to r11 */
    FP = 7,
    CALLEES_FP = (2 + FP - 4) * WORD,
    SCANNED_WORDS = 64,
    HARD_FAULT = 3, /* numbers of exceptions */
    SECURE_FAULT = 7
};
#define EXC_RETURN        0xffffff00u /* all bits above are 1: with the FPU or without, with TrustZone or without */
#define EXC_PROCESS_STACK 0x04u
#define EXC_THREAD        0x08u
#define EXC_NO_FPU        0x10u
#define EXC_NO_CALLEES    0x20u
#define EXC_SECURE        0x40u
#define FNC_RETURN        0xfefffffeu /* a secure function's call of one that is not secure; without bit 0 */
#define RESET_LR          0xfffffffeu /* LR has all bits set when a CPU begins; without bit 0 */
#define XPSR_PADDING      (1u << 9)
#define XPSR_THUMB        (1u << 24)
#define XPSR_ZERO         (0x00f00000u)
#define XPSR_EXCEPTION    0x1ffu
#define CFSR_NOT_PUSHED   (1u << 4 | 1u << 12)            /* MSTKERR, STKERR */
#define CFSR_STACK_LIMIT  (1u << 20)                      /* STKOF */
#define CFSR_NOT_POPPED   (1u << 3 | 1u << 11 | 1u << 18) /* MUNSTKERR, UNSTKERR, INVPC */
#define SFSR_NOT_POPPED   (1u << 1 | 1u << 2)             /* INVIS, INVER */
#define UNALIGN_TRP       (1u << 3)
#define MPU_CTRL          0xe000ed94u
#define MPU_ON            1u

/* The word at ADDR + OFFSET. */
static int read_at(const struct sfu_target *target, uint32_t addr, uint32_t offset, uint32_t *value)
{
    sfu_addr word;
    int code =
        addr <= UINT32_MAX - offset ? sfu_read_word(target, (sfu_addr)addr + offset, false, &word) : SFU_E_STACK;

    if (code == SFU_OK)
        *value = (uint32_t)word;
    return code;
}

/* The FP that was pushed before the frame at ADDR, or FP where it was not. */
static int read_fp(const struct sfu_target *target, uint32_t exc_return, uint32_t addr, uint32_t *fp)
{
    if ((exc_return & EXC_NO_CALLEES) != 0)
        return SFU_OK;
    return read_at(target, addr, CALLEES_FP, fp);
}

int sfu_cortexm_unstack(const struct sfu_target *target, uint32_t exc_return, uint32_t addr, uint32_t fp,
                        struct sfu_interrupted *interrupted)
{
    uint32_t lr, pc, xpsr, size = FRAME_SIZE;
    int code = read_fp(target, exc_return, addr, &fp);

    if ((exc_return & EXC_NO_CALLEES) == 0)
        addr += CALLEES_SIZE;
    if ((exc_return & EXC_NO_FPU) == 0)
        size += FPU_SIZE;
    if (code != SFU_OK || (code = read_at(target, addr, FRAME_LR, &lr)) != SFU_OK ||
        (code = read_at(target, addr, FRAME_PC, &pc)) != SFU_OK ||
        (code = read_at(target, addr, FRAME_XPSR, &xpsr)) != SFU_OK)
        return code;
    if ((xpsr & XPSR_PADDING) != 0)
        size += WORD;
    interrupted->regs.pc = pc & ~1u;
    interrupted->regs.sp = (sfu_addr)addr + size;
    interrupted->regs.fp = fp;
    interrupted->regs.ra = lr;
    interrupted->regs.has_ra = true;
    interrupted->regs.pc_kind = SFU_PC_EXACT;
    interrupted->saved = addr;
    interrupted->guess = SFU_GUESS_NONE;
    return SFU_OK;
}

/* ---- A fault in words ------------------------------------------------------------------------------------------ */

/* For each bit what happened, up to "; address" where the fault's address register is valid. */
static const struct reason {
    uint8_t bit;
    char text[47];
} reasons[] = {
    {0, "MemManage: no right to execute here"},
    {1, "MemManage: no right to this data"},
    {3, "MemManage: exception return could not pop"},
    {4, "MemManage: exception entry could not push"},
    {5, "MemManage: lazy saving of the FPU's registers"},
    {8, "BusFault: instruction fetch"},
    {9, "BusFault: data access, precise"},
    {10, "BusFault: data access, not precise: before PC"},
    {11, "BusFault: exception return could not pop"},
    {12, "BusFault: exception entry could not push"},
    {13, "BusFault: lazy saving of the FPU's registers"},
    {16, "UsageFault: undefined instruction"},
    {17, "UsageFault: jump to an even address: not Thumb"},
    {18, "UsageFault: wrong EXC_RETURN"},
    {19, "UsageFault: the FPU or coprocessor is off"},
    {20, "UsageFault: stack limit passed"},
    {24, "UsageFault: unaligned access"},
    {25, "UsageFault: division by zero"},
};

enum { DATA_ACCESS = 1, PRECISE = 9, MMAR_VALID = 7, BFAR_VALID = 15 };

static bool has_bit(uint32_t value, unsigned bit)
{
    return (value >> bit & 1) != 0;
}

static void print_register(const struct sfu_panic *p, const char *before, uint32_t value)
{
    sfu_print_number(p, before, value, 16, 8);
}

static void print_reason(const struct sfu_panic *p, const struct sfu_cortexm_fault *fault,
                         const struct reason *reason)
{
    sfu_print_text(p, "  ");
    sfu_print_text(p, reason->text);
    if (reason->bit == DATA_ACCESS && has_bit(fault->cfsr, MMAR_VALID))
        print_register(p, "; address 0x", fault->mmfar);
    if (reason->bit == PRECISE && has_bit(fault->cfsr, BFAR_VALID))
        print_register(p, "; address 0x", fault->bfar);
    sfu_print_text(p, "\n");
}

static const char *exception_name(uint32_t number)
{
    static const char names[][12] = {"NMI", "HardFault", "MemManage", "BusFault", "UsageFault", "SecureFault"};

    return number - 2 < sizeof names / sizeof names[0] ? names[number - 2] : "exception";
}

static void print_reasons(const struct sfu_panic *p, const struct sfu_cortexm_fault *fault)
{
    unsigned i;

    for (i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (has_bit(fault->cfsr, reasons[i].bit))
            print_reason(p, fault, &reasons[i]);
    if (has_bit(fault->hfsr, 1))
        sfu_print_text(p, "  HardFault: the vector table could not be read\n");
    if (has_bit(fault->hfsr, 31))
        sfu_print_text(p, "  HardFault: BKPT without a debugger\n");
    print_register(p, "CFSR 0x", fault->cfsr);
    print_register(p, " HFSR 0x", fault->hfsr);
    print_register(p, " MMFAR 0x", fault->mmfar);
    print_register(p, " BFAR 0x", fault->bfar);
    if (fault->sfsr != 0) {
        print_register(p, " SFSR 0x", fault->sfsr);
        print_register(p, " SFAR 0x", fault->sfar);
    }
    sfu_print_text(p, "\n");
}

void sfu_cortexm_explain(const struct sfu_panic *panic, const struct sfu_cortexm_fault *fault)
{
    sfu_print_text(panic, "fault: ");
    sfu_print_text(panic, exception_name(fault->exception));
    sfu_print_text(panic, has_bit(fault->exc_return, 3) ? ", thread mode" : ", in an exception");
    sfu_print_text(panic, has_bit(fault->exc_return, 2) ? ", process stack\n" : ", main stack\n");
    if (fault->has_xpsr && !fault->thumb && !fault->has_reasons)
        sfu_print_text(panic, "  jump to an even address: not Thumb\n");
    if (fault->has_reasons)
        print_reasons(panic, fault);
    if (fault->limit != 0) {
        print_register(panic, "SP 0x", fault->sp);
        print_register(panic, " limit 0x", fault->limit);
        sfu_print_text(panic, "\n");
    }
}

/* ---- This CPU -------------------------------------------------------------------------------------------------- */

#if defined(__arm__) && __ARM_ARCH_PROFILE == 'M'

#define ARMV8M  (__ARM_ARCH >= 8)
#define REASONS (__ARM_ARCH_ISA_THUMB == 2) /* not the baseline: it has no fault status */

static uint32_t at(uint32_t address)
{
    return *(volatile uint32_t *)address;
}

static uint32_t process_stack(void)
{
    uint32_t psp;

    __asm__ volatile("mrs %0, psp" : "=r"(psp));
    return psp;
}

/* Whether accesses that are not aligned fault, as CCR's UNALIGN_TRP says. Compilers make such of what reads the tables,
 * and a fault in HardFault's handler locks the CPU up. Returns what was before. */
static bool trap_unaligned(bool on)
{
#if REASONS
    volatile uint32_t *ccr = (volatile uint32_t *)0xe000ed14;
    uint32_t before = *ccr;

    *ccr = on ? before | UNALIGN_TRP : before & ~UNALIGN_TRP;
    __asm__ volatile("dsb\n\tisb" : : : "memory");
    return (before & UNALIGN_TRP) != 0;
#else
    return on; /* they always fault, and compilers make none */
#endif
}

/* Where the exception of EXC_RETURN has pushed its frame. MSP: as the handler found it. */
static uint32_t frame_of(uint32_t exc_return, uint32_t msp)
{
    return (exc_return & EXC_PROCESS_STACK) != 0 ? process_stack() : msp;
}

/* Whether the frame was pushed on a stack of the state that this runs in. CPUID_NS reads as 0 in the state that is not
 * secure, and without TrustZone. */
static bool is_own_stack(uint32_t exc_return)
{
    bool secure = !ARMV8M || at(0xe002ed00) != 0;

    return ((exc_return & EXC_SECURE) != 0) == secure;
}

static uint32_t stack_limit(uint32_t exc_return)
{
    uint32_t limit = 0;

#if ARMV8M /* of a baseline's state that is not secure they read as 0 */
    if ((exc_return & EXC_PROCESS_STACK) != 0)
        __asm__ volatile("mrs %0, psplim" : "=r"(limit));
    else
        __asm__ volatile("mrs %0, msplim" : "=r"(limit));
#endif
    (void)exc_return;
    return limit;
}

/* By fields: compilers may call memset to clear a structure. */
static void read_fault(struct sfu_cortexm_fault *fault, uint32_t exc_return, uint32_t sp)
{
    __asm__ volatile("mrs %0, ipsr" : "=r"(fault->exception));
    fault->has_reasons = REASONS;
    fault->cfsr = REASONS ? at(0xe000ed28) : 0;
    fault->hfsr = REASONS ? at(0xe000ed2c) : 0;
    fault->mmfar = REASONS ? at(0xe000ed34) : 0;
    fault->bfar = REASONS ? at(0xe000ed38) : 0;
    fault->sfsr = REASONS && ARMV8M ? at(0xe000ede4) : 0;
    fault->sfar = REASONS && ARMV8M ? at(0xe000ede8) : 0;
    fault->exc_return = exc_return;
    fault->sp = sp;
    fault->limit = stack_limit(exc_return);
    fault->has_xpsr = fault->thumb = false;
}

/* Whether the CPU could not push the exception frame. Where a stack would pass its limit, SP becomes the limit. */
static bool is_not_pushed(const struct sfu_cortexm_fault *fault)
{
    return (fault->cfsr & CFSR_NOT_PUSHED) != 0 ||
           ((fault->cfsr & CFSR_STACK_LIMIT) != 0 && fault->sp == fault->limit);
}

/* Whether it has pushed none, because an exception tried to return, by a wrong EXC_RETURN or from a stack that cannot
 * be read: the handler of the fault then finds SP where that exception has left it. */
static bool is_not_popped(const struct sfu_cortexm_fault *fault)
{
    return (fault->cfsr & CFSR_NOT_POPPED) != 0 || (fault->sfsr & SFSR_NOT_POPPED) != 0;
}

/* Of the handler of a fault alone: the bits stay set until somebody clears them. */
static bool is_lost(const struct sfu_cortexm_fault *fault)
{
    return fault->exception >= HARD_FAULT && fault->exception <= SECURE_FAULT &&
           (is_not_pushed(fault) || is_not_popped(fault));
}

/* ---- Callbacks of the target ----------------------------------------------------------------------------------- */

static bool find_stack(void *ctx, sfu_addr addr, struct sfu_stack *stack)
{
    const struct sfu_cortexm *c = ctx;
    bool found = false;
    unsigned i;

    for (i = 0; i < c->num_stacks; i++) {
        const struct sfu_cortexm_stack *s = &c->stacks[i];
        uintptr_t low = (uintptr_t)s->low, high = (uintptr_t)s->high;

        /* Where two stacks touch, the address between them is the upper one's. */
        if ((addr < low && low - addr > s->guard) || addr > high || (addr == high && found))
            continue;
        stack->bytes = s->low;
        stack->low = low;
        stack->high = high;
        found = true;
    }
    return found;
}

/* Whether ADDR lies on a stack that is known by itself, and not in its guard. */
static bool is_on_known_stack(const struct sfu_cortexm *c, sfu_addr addr)
{
    struct sfu_stack stack;

    return c->target->find_stack != NULL && c->target->find_stack(c->target->ctx, addr, &stack) &&
           addr >= stack.low;
}

/* Whether the handler of a fault cannot know what was interrupted, because the CPU has no fault registers. CODE and
 * *FOUND: what the exception frame says. An MPU, or the stack's limit, may have kept the CPU from pushing it, but not
 * on a stack that is known by itself. If the exception whose number was pushed does not fit EXC_RETURN's mode, another
 * exception could not return. */
static bool is_unsure(const struct sfu_cortexm *c, const struct sfu_cortexm_fault *fault, int code,
                      const struct sfu_interrupted *found)
{
    uint32_t xpsr;

    if (REASONS || fault->exception != HARD_FAULT)
        return false;
    if (code != SFU_OK || read_at(c->target, (uint32_t)found->saved, FRAME_XPSR, &xpsr) != SFU_OK)
        return true;
    if (((xpsr & XPSR_EXCEPTION) == 0) != ((fault->exc_return & EXC_THREAD) != 0))
        return true;
    return !is_on_known_stack(c, found->saved) &&
           ((at(MPU_CTRL) & MPU_ON) != 0 || (fault->limit != 0 && fault->sp == fault->limit));
}

/* Registers of the frame that a walk began with, and of those that the CPU pushed for an interrupted one. */
static int get_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    const struct sfu_cortexm *c = ctx;
    sfu_addr saved = frame->saved;

    if (frame->depth == 0 && c->entry != NULL) {
        if (reg >= 4 && reg <= 11) {
            *value = c->entry->r4_to_r11[reg - 4];
            return 0;
        }
        saved = c->frame;
    }
    if (saved == 0 || (reg >= 4 && reg != 12) || reg > 12)
        return -1;
    return sfu_read_word(c->target, saved + (reg == 12 ? (unsigned)FRAME_R12 : reg * WORD), false, value);
}

/* Whether the code in front of ADDR, a return address, calls: BLX with a register, of 2 bytes, or BL, of 4. */
static bool is_behind_call(uint32_t addr)
{
    const volatile uint16_t *code = (const volatile uint16_t *)addr;

    return (code[-1] & 0xff87) == 0x4780 || ((code[-2] & 0xf800) == 0xf000 && (code[-1] & 0xd000) == 0xd000);
}

/* Whether PC has a row. Only what a lookup needs of a frame is set. */
static bool has_row(const struct sfu_target *target, uint32_t pc, enum sfu_pc_kind kind)
{
    struct sfu_frame frame;
    struct sfu_row row;

    frame.regs.pc = pc;
    frame.regs.pc_kind = kind;
    return sfu_find_frame(target, &frame, &row) == SFU_OK;
}

static bool is_return_address(const struct sfu_target *target, uint32_t word)
{
    return (word & 1) != 0 && has_row(target, word & ~1u, SFU_PC_RETURN) && is_behind_call(word & ~1u);
}

/* Whether the exception frame that *INTERRUPTED was taken from looks like one: an even PC that has a row, and an xPSR
 * of Thumb code without bits that are always 0. */
static bool is_likely(const struct sfu_cortexm *c, const struct sfu_interrupted *interrupted)
{
    uint32_t addr = (uint32_t)interrupted->saved, pc, xpsr;

    return read_at(c->target, addr, FRAME_PC, &pc) == SFU_OK && (pc & 1) == 0 &&
           read_at(c->target, addr, FRAME_XPSR, &xpsr) == SFU_OK && (xpsr & XPSR_THUMB) != 0 &&
           (xpsr & XPSR_ZERO) == 0 && has_row(c->target, pc, SFU_PC_EXACT);
}

/* The FP of a caller whose SP is SP. If r7 is below, it is the FP of the function that was called, which has pushed its
 * caller's FP below LR. */
static uint32_t guess_fp(const struct sfu_cortexm *c, uint32_t sp)
{
    uint32_t fp = c->entry->r4_to_r11[FP - 4];

    if (fp < sp && sp >= 2 * WORD)
        (void)read_at(c->target, sp - 2 * WORD, 0, &fp);
    return fp;
}

/* Sets *INTERRUPTED to what stands where the exception of EXC_RETURN would have pushed its frame, if that looks like
 * one. */
static bool guess_frame(const struct sfu_cortexm *c, uint32_t exc_return, struct sfu_interrupted *interrupted)
{
    uint32_t fp = c->entry->r4_to_r11[FP - 4];

    return sfu_cortexm_unstack(c->target, exc_return, c->frame, fp, interrupted) == SFU_OK &&
           is_likely(c, interrupted);
}

/* The CPU has not pushed what the exception of EXC_RETURN has interrupted, or not all of it. Guesses that what stands
 * there is right, if it looks like that, with r4 to r11 below it or without: a wrong EXC_RETURN may be wrong there,
 * too. Else guesses that the first return address from SP on, or on the stack that SP has run out of, is that of its
 * caller. */
static int guess_interrupted(const struct sfu_cortexm *c, uint32_t exc_return, struct sfu_interrupted *interrupted)
{
    uint32_t addr = c->frame, left = SCANNED_WORDS, word;
    struct sfu_stack stack;

    if (guess_frame(c, exc_return, interrupted) || guess_frame(c, exc_return | EXC_NO_CALLEES, interrupted)) {
        interrupted->guess = SFU_GUESS_HOOK;
        return SFU_OK;
    }
    if (c->target->find_stack != NULL && c->target->find_stack(c->target->ctx, addr, &stack) && addr < stack.low) {
        addr = (uint32_t)stack.low; /* the guard cannot be read; the frame that SP has run out with may be large */
        left = (uint32_t)(stack.high - stack.low) / WORD;
    }
    for (; left > 0 && read_at(c->target, addr, 0, &word) == SFU_OK; left--) {
        addr += WORD;
        if (is_return_address(c->target, word)) {
            interrupted->regs.pc = word & ~1u;
            interrupted->regs.pc_kind = SFU_PC_RETURN;
            interrupted->regs.sp = addr; /* functions push LR first */
            interrupted->regs.fp = guess_fp(c, addr);
            interrupted->guess = SFU_GUESS_HOOK;
            return SFU_OK;
        }
    }
    return SFU_E_STACK;
}

int sfu_cortexm_hook(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    const struct sfu_cortexm *c = ctx;
    uint32_t pc = (uint32_t)frame->regs.pc;

    if (pc == RESET_LR && frame->regs.pc_kind == SFU_PC_RETURN)
        return SFU_END;
    if (pc == FNC_RETURN)
        return SFU_E_TRAP;
    if (pc < EXC_RETURN || frame->regs.pc_kind != SFU_PC_RETURN)
        return code;
    if (!is_own_stack(pc))
        return SFU_E_TRAP;
    if (c->lost && frame->depth == 0)
        return guess_interrupted(c, pc, interrupted);
    return sfu_cortexm_unstack(c->target, pc, frame_of(pc, (uint32_t)frame->regs.sp), (uint32_t)frame->regs.fp,
                               interrupted);
}

/* ---- Into the printer ------------------------------------------------------------------------------------------ */

static void set_target(struct sfu_cortexm *cortexm, struct sfu_panic *panic)
{
    struct sfu_target *target = &panic->own;

    cortexm->panic = panic;
    cortexm->target = target;
    if (cortexm->num_stacks != 0)
        target->find_stack = find_stack;
    target->reg = get_register;
    target->ctx = cortexm;
}

int sfu_cortexm_init(struct sfu_cortexm *cortexm, struct sfu_panic *panic, const void *sframe,
                     const void *sframe_end, const void *low, const void *high)
{
    int code = sfu_panic_init(panic, sframe, sframe_end, low, high);

    set_target(cortexm, panic);
    panic->own.trap_hook = sfu_cortexm_hook;
    return code;
}

/* No hook, which would bring the code that looks rows up. */
void sfu_cortexm_init_dump(struct sfu_cortexm *cortexm, struct sfu_panic *panic, const void *low, const void *high)
{
    struct sfu_target *target = &panic->own;

    panic->target = target;
    target->stack.bytes = low;
    target->stack.low = (uintptr_t)low;
    target->stack.high = (uintptr_t)high;
    set_target(cortexm, panic);
}

/* By fields, here and below: compilers may call memcpy to copy a structure. Where a walk begins if what the exception
 * of ENTRY has interrupted is not known: the hook is asked about this frame. */
static void set_exception_itself(struct sfu_registers *regs, const struct sfu_cortexm_entry *entry)
{
    regs->pc = entry->exc_return;
    regs->pc_kind = SFU_PC_RETURN;
    regs->sp = entry->msp;
    regs->fp = entry->r4_to_r11[FP - 4];
    regs->ra = 0;
    regs->has_ra = false;
}

static void copy_registers(struct sfu_registers *to, const struct sfu_registers *from)
{
    to->pc = from->pc;
    to->pc_kind = from->pc_kind;
    to->sp = from->sp;
    to->fp = from->fp;
    to->ra = from->ra;
    to->has_ra = from->has_ra;
}

/* sfu_cortexm_registers, which also fills in *FAULT. */
static int read_entry(struct sfu_cortexm *cortexm, const struct sfu_cortexm_entry *entry, struct sfu_registers *top,
                      struct sfu_cortexm_fault *fault)
{
    struct sfu_interrupted interrupted;
    int code = SFU_E_TRAP;

    cortexm->entry = entry;
    cortexm->frame = frame_of(entry->exc_return, entry->msp);
    read_fault(fault, entry->exc_return, cortexm->frame);
    cortexm->lost = is_lost(fault);
    set_exception_itself(top, entry);
    if (!cortexm->lost && is_own_stack(entry->exc_return)) {
        code = sfu_cortexm_unstack(cortexm->target, entry->exc_return, cortexm->frame, entry->r4_to_r11[FP - 4],
                                   &interrupted);
        cortexm->lost = is_unsure(cortexm, fault, code, &interrupted);
    }
    if (cortexm->lost)
        return SFU_E_STACK;
    if (code == SFU_OK) {
        cortexm->frame = (uint32_t)interrupted.saved;
        copy_registers(top, &interrupted.regs);
    }
    return code;
}

int sfu_cortexm_registers(struct sfu_cortexm *cortexm, const struct sfu_cortexm_entry *entry,
                          struct sfu_registers *top)
{
    struct sfu_cortexm_fault fault;

    return read_entry(cortexm, entry, top, &fault);
}

/* Why a trace ends that has come to the other state of TrustZone. */
static void print_other_state(const struct sfu_panic *p, int code)
{
    uint32_t pc = (uint32_t)p->walk.frame.regs.pc;

    if (code == SFU_E_TRAP && pc >= FNC_RETURN)
        sfu_print_text(p, "TrustZone: the other state goes on here; its stacks cannot be read\n");
}

/* Why what was interrupted is not known. */
static void print_lost(const struct sfu_panic *p, const struct sfu_cortexm_fault *fault)
{
    if (is_not_pushed(fault))
        sfu_print_text(p, "what was interrupted could not be saved as a whole");
    else if (REASONS || is_not_popped(fault))
        sfu_print_text(p, "an exception could not return");
    else
        sfu_print_text(p, "this CPU does not say whether it could save what was interrupted");
    sfu_print_text(p, "; the next frame is guessed:\n");
}

static int print(struct sfu_cortexm *cortexm, const struct sfu_cortexm_entry *entry)
{
    struct sfu_panic *panic = cortexm->panic;
    struct sfu_cortexm_fault fault;
    struct sfu_registers top;
    uint32_t xpsr = 0;
    int code = read_entry(cortexm, entry, &top, &fault);

    fault.has_xpsr = code == SFU_OK && read_at(cortexm->target, cortexm->frame, FRAME_XPSR, &xpsr) == SFU_OK;
    fault.thumb = (xpsr & XPSR_THUMB) != 0;
    if ((fault.cfsr & CFSR_STACK_LIMIT) != 0)
        panic->fault_address = fault.limit - WORD; /* the stack has been used up to its limit, and was to grow */
    else if (cortexm->lost && (!REASONS || is_not_pushed(&fault)))
        panic->fault_address = fault.sp;
    sfu_cortexm_explain(panic, &fault);
    if (cortexm->lost)
        print_lost(panic, &fault);
    code = sfu_panic_print(panic, &top);
    print_other_state(panic, code);
    return code;
}

int sfu_cortexm_print(struct sfu_cortexm *cortexm, const struct sfu_cortexm_entry *entry)
{
    struct sfu_panic *panic = cortexm->panic;
    struct sfu_registers top;
    bool traps;
    int code;

    if (panic == NULL || panic->put == NULL)
        return SFU_E_NO_SECTION;
    set_exception_itself(&top, entry);
    if (panic->busy != 0)
        return sfu_panic_print(panic, &top); /* this is a second fault */
    traps = trap_unaligned(false);
    code = print(cortexm, entry);
    trap_unaligned(traps);
    return code;
}

/* The row of an address is that of the byte before it, and so is its name: sfu_cortexm_task. */
__asm__(".pushsection .text.sfu_cortexm_task_end, \"ax\", %progbits\n\t"
        ".balign 4\n\t"
        ".thumb\n\t"
        ".cfi_startproc\n\t"
        ".cfi_undefined lr\n\t"
        ".type sfu_cortexm_task, %function\n\t"
        ".thumb_func\n"
        "sfu_cortexm_task:\n\t"
        "nop\n\t"
        ".size sfu_cortexm_task, . - sfu_cortexm_task\n\t"
        ".globl sfu_cortexm_task_end\n\t"
        ".type sfu_cortexm_task_end, %function\n\t"
        ".thumb_func\n"
        "sfu_cortexm_task_end:\n\t"
        "udf #0\n\t"
        ".cfi_endproc\n\t"
        ".size sfu_cortexm_task_end, . - sfu_cortexm_task_end\n\t"
        ".popsection");

#endif

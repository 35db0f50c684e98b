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
    SP = 13,
    LR = 14,
    CALLEES_FP = (2 + FP - 4) * WORD,
    SCANNED_WORDS = 64,
    SMALLEST_GUARD = 32, /* bytes of a region of an MPU */
    LARGEST_GUARD = 128, /* 4 KiB, counted in those */
    NMI = 2,             /* numbers of exceptions */
    HARD_FAULT = 3,
    SECURE_FAULT = 7
};
#define EXC_RETURN        0xffffff00u /* all bits above are 1: with the FPU or without, with TrustZone or without */
#define EXC_PROCESS_STACK 0x04u
#define EXC_THREAD        0x08u
#define EXC_NO_FPU        0x10u
#define EXC_NO_CALLEES    0x20u
#define EXC_SECURE        0x40u
#define FNC_RETURN        0xfefffffeu /* a secure function's call of one that is not secure; without bit 0 */
#define TASK_EXC_RETURN   0xfffffffdu
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
#define SHCSR_ACTIVE      0x1fu /* MemManage, BusFault, HardFault, UsageFault, SecureFault */
#define SHCSR_PENDING     (7u << 12 | 1u << 20 | 1u << 21) /* Usage, MemManage, Bus; SecureFault, HardFault */
#define MPU_ON            1u
#define MPU_ON_IN_FAULTS  2u /* in the handlers of HardFault and NMI, too */
#define MPU_DEFAULT_MAP   4u /* where no region is */
#define TT_READABLE       (1u << 18)

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
    if (has_bit(fault->hfsr, 30) && (fault->cfsr | fault->sfsr) == 0) /* what was forced is no fault */
        sfu_print_text(p, "  HardFault: SVC or BKPT, but its handler may not run here\n");
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

enum { ICSR = 0x04, SHCSR = 0x24, CFSR = 0x28, HFSR = 0x2c, MMFAR = 0x34, BFAR = 0x38, SFSR = 0xe4, SFAR = 0xe8 };
enum { MPU_TYPE = 0x90, MPU_CTRL = 0x94, MPU_RNR = 0x98, MPU_RBAR = 0x9c, MPU_RASR = 0xa0 };

/* A register of the System Control Block. */
static volatile uint32_t *control(uint32_t offset)
{
    return (volatile uint32_t *)(0xe000ed00u + offset);
}

/* The exception whose handler runs; 0: none. */
static uint32_t running(void)
{
    uint32_t ipsr;

    __asm__ volatile("mrs %0, ipsr" : "=r"(ipsr));
    return ipsr;
}

/* Whether the handler of a fault waits, or may wait, for that of an exception with a higher priority, which is served
 * first. Only the first of all that wait can be seen: behind an NMI there may be a HardFault. */
static bool has_pending_fault(void)
{
    const uint32_t pending = *control(ICSR) >> 12 & XPSR_EXCEPTION;

    return (pending >= NMI && pending <= SECURE_FAULT) ||
           ((REASONS || ARMV8M) && (*control(SHCSR) & SHCSR_PENDING) != 0);
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
    volatile uint32_t *ccr = control(0x14);
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
    bool secure = !ARMV8M || *(volatile uint32_t *)0xe002ed00 != 0;

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
    fault->exception = running();
    fault->has_reasons = REASONS;
    fault->cfsr = REASONS ? *control(CFSR) : 0;
    fault->hfsr = REASONS ? *control(HFSR) : 0;
    fault->mmfar = REASONS ? *control(MMFAR) : 0;
    fault->bfar = REASONS ? *control(BFAR) : 0;
    fault->sfsr = REASONS && ARMV8M ? *control(SFSR) : 0;
    fault->sfar = REASONS && ARMV8M ? *control(SFAR) : 0;
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

static bool is_fault(uint32_t exception)
{
    return exception >= HARD_FAULT && exception <= SECURE_FAULT;
}

/* Whether the bits that say so are about an exception frame that is still needed. They stay set until somebody clears
 * them, so they count in the handler of a fault, and where one waits: if the CPU could not push the frame of an
 * exception whose priority is above that of the fault, it serves the exception first, with EXC_RETURN and SP as if it
 * had pushed it (derived exceptions). */
static bool is_lost(const struct sfu_cortexm_fault *fault)
{
    return (is_fault(fault->exception) || has_pending_fault()) && (is_not_pushed(fault) || is_not_popped(fault));
}

/* ---- Callbacks of the target ----------------------------------------------------------------------------------- */

/* Whether the MPU checks what this code reads. */
static bool has_mpu_on(void)
{
    const uint32_t mpu = *control(MPU_CTRL), exception = running();

    return (mpu & MPU_ON) != 0 && ((mpu & MPU_ON_IN_FAULTS) != 0 || (exception != NMI && exception != HARD_FAULT));
}

#if ARMV8M
/* Whether the MPU lets this code read ADDR. */
static bool is_readable(uint32_t addr)
{
    uint32_t answer;

    __asm__ volatile("tt %0, %1" : "=r"(answer) : "r"(addr));
    return (answer & TT_READABLE) != 0;
}
#else
/* Whether region N of the MPU, which begins at BASE and has the ATTRIBUTES, has ADDR. A region of 256 bytes or more has
 * eight parts, each of which may be off. */
static bool has_address(uint32_t base, uint32_t attributes, uint32_t addr)
{
    const uint32_t log = attributes >> 1 & 31, mask = (2u << log) - 1; /* it has 2 to the power of log + 1 bytes */

    return (attributes & 1) != 0 && log >= 4 && ((base ^ addr) & ~mask) == 0 &&
           (attributes >> 8 >> ((addr & mask) >> (log - 2)) & 1) == 0;
}

/* Whether the MPU lets this code read ADDR: what the last region says that has it. Interrupts, which may choose a
 * region, too, have to wait. */
static bool is_readable(uint32_t addr)
{
    const uint32_t regions = *control(MPU_TYPE) >> 8 & 0xff;
    bool readable = (*control(MPU_CTRL) & MPU_DEFAULT_MAP) != 0;
    uint32_t masked, chosen, i;

    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(masked) : : "memory");
    chosen = *control(MPU_RNR);
    for (i = 0; i < regions; i++) {
        uint32_t attributes;

        *control(MPU_RNR) = i;
        attributes = *control(MPU_RASR);
        if (has_address(*control(MPU_RBAR), attributes, addr))
            readable = (attributes >> 24 & 3) != 0; /* AP: 0 and 4 do not, all others do */
    }
    *control(MPU_RNR) = chosen;
    __asm__ volatile("msr primask, %0" : : "r"(masked) : "memory");
    return readable;
}
#endif

/* A sfu_read_fn, of stacks: a fault in here would be one while printing. ADDR lies on a stack. */
static int read_stack(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    const volatile uint8_t *from = (const volatile uint8_t *)(uintptr_t)addr;
    uint8_t *to = buffer;
    size_t i;

    (void)ctx;
    if (has_mpu_on() && !(is_readable((uint32_t)addr) && is_readable((uint32_t)(addr + len - 1))))
        return -1;
    for (i = 0; i < len; i++)
        to[i] = from[i];
    return 0;
}

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
        stack->bytes = NULL;
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

/* Whether a CPU without fault registers may have been unable to push the exception frame at ADDR, for all that it says:
 * an MPU, or the stack's limit, may have kept it from that, but not on a stack that is known by itself. */
static bool is_unsaid(const struct sfu_cortexm *c, const struct sfu_cortexm_fault *fault, sfu_addr addr)
{
    return !REASONS && (fault->exception == HARD_FAULT || has_pending_fault()) && !is_on_known_stack(c, addr) &&
           ((*control(MPU_CTRL) & MPU_ON) != 0 || (fault->limit != 0 && fault->sp == fault->limit));
}

/* Whether what was read as the exception frame of FAULT, with CODE, may be something else. If the exception whose
 * number was pushed does not fit EXC_RETURN's mode, another exception could not return. */
static bool is_unsure(const struct sfu_cortexm *c, const struct sfu_cortexm_fault *fault, int code,
                      const struct sfu_interrupted *found)
{
    uint32_t xpsr;

    if (code != SFU_OK || read_at(c->target, (uint32_t)found->saved, FRAME_XPSR, &xpsr) != SFU_OK)
        return !REASONS && (fault->exception == HARD_FAULT || has_pending_fault());
    return ((xpsr & XPSR_EXCEPTION) == 0) != ((fault->exc_return & EXC_THREAD) != 0) ||
           is_unsaid(c, fault, found->saved);
}

/* Whether the exception frame of FAULT, which is that of an exception further down in a walk, may be lost. Which
 * exception it belongs to is not known: so it may be one of a fault, if the handler of one is at work, unless the walk
 * has come to its lost frame already, and is not RELIABLE since. ARMv7-M does not say of HardFault whether its handler
 * is at work; only an NMI can have interrupted that. */
static bool may_be_lost(const struct sfu_cortexm_fault *fault, bool reliable)
{
    const bool at_work = (fault->exception >= NMI && fault->exception <= SECURE_FAULT) ||
                         (REASONS && (*control(SHCSR) & SHCSR_ACTIVE) != 0);

    return (has_pending_fault() || (at_work && reliable)) && (is_not_pushed(fault) || is_not_popped(fault));
}

/* Whether FAULT, the exception of an entry, may have come into the handler of a fault whose exception frame is lost. A
 * walk on board asks at that frame; who reads a dump cannot. */
static bool is_below_lost(const struct sfu_cortexm_fault *fault)
{
    if (!REASONS)
        return fault->exception == NMI && (*control(MPU_CTRL) & MPU_ON) != 0;
    return may_be_lost(fault, true);
}

/* Whether FRAME is what the exception of C's entry has interrupted. A walk may begin elsewhere, long after that
 * exception has returned. */
static bool is_of_entry(const struct sfu_cortexm *c, const struct sfu_frame *frame)
{
    uint32_t pc;

    return frame->depth == 0 && c->entry != NULL && read_at(c->target, c->frame, FRAME_PC, &pc) == SFU_OK &&
           (pc & ~1u) == frame->regs.pc;
}

/* Registers of the frame that a walk began with, and of those that the CPU pushed for an interrupted one. */
static int get_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    const struct sfu_cortexm *c = ctx;
    sfu_addr saved = frame->saved;

    if (is_of_entry(c, frame)) {
        if (reg >= 4 && reg <= 11) {
            *value = c->entry->r4_to_r11[reg - 4];
            return 0;
        }
        saved = reg == 12 || c->entry->exc_return != 0 ? c->frame : 0;
    }
    if (saved == 0 || (reg >= 4 && reg != 12))
        return -1;
    return sfu_read_word(c->target, saved + (reg == 12 ? (unsigned)FRAME_R12 : reg * WORD), false, value);
}

static bool is_behind_blx(uint32_t addr)
{
    return (((const volatile uint16_t *)addr)[-1] & 0xff87) == 0x4780;
}

/* Whether the code in front of ADDR, a return address, calls: BLX with a register, of 2 bytes, or BL, of 4. */
static bool is_behind_call(uint32_t addr)
{
    const volatile uint16_t *code = (const volatile uint16_t *)addr;

    return is_behind_blx(addr) || ((code[-2] & 0xf800) == 0xf000 && (code[-1] & 0xd000) == 0xd000);
}

/* Whether PC has a row, *ROW. Only what a lookup needs of a frame is set. */
static bool find_row(const struct sfu_target *target, uint32_t pc, enum sfu_pc_kind kind, struct sfu_row *row)
{
    struct sfu_frame frame;

    frame.regs.pc = pc;
    frame.regs.pc_kind = kind;
    return sfu_find_frame(target, &frame, row) == SFU_OK;
}

static bool has_row(const struct sfu_target *target, uint32_t pc, enum sfu_pc_kind kind)
{
    struct sfu_row row;

    return find_row(target, pc, kind, &row);
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

/* The FP of a caller whose SP is SP, where r7 is FP. If that is below, it is the FP of the function that was called,
 * which has pushed its caller's FP below LR. */
static uint32_t guess_fp(const struct sfu_cortexm *c, uint32_t sp, uint32_t fp)
{
    if (fp < sp && sp >= 2 * WORD)
        (void)read_at(c->target, sp - 2 * WORD, 0, &fp);
    return fp;
}

/* Sets *INTERRUPTED to what stands at ADDR, where the exception of EXC_RETURN would have pushed its frame, if that
 * looks like one. */
static bool guess_frame(const struct sfu_cortexm *c, uint32_t exc_return, uint32_t addr, uint32_t fp,
                        struct sfu_interrupted *interrupted)
{
    return sfu_cortexm_unstack(c->target, exc_return, addr, fp, interrupted) == SFU_OK && is_likely(c, interrupted);
}

/* Where a scan for what lies above ADDR begins, and how many words it reads: on the stack that SP has run out of, or
 * behind what cannot be read there, such as the guard of an MPU. */
static uint32_t begin_scan(const struct sfu_cortexm *c, uint32_t addr, uint32_t *words)
{
    struct sfu_stack stack;
    uint32_t left, word;

    *words = SCANNED_WORDS;
    if (c->target->find_stack != NULL && c->target->find_stack(c->target->ctx, addr, &stack) && addr < stack.low) {
        addr = (uint32_t)stack.low; /* the frame that SP has run out with may be large */
        *words = (uint32_t)(stack.high - stack.low) / WORD;
    }
    for (left = LARGEST_GUARD; left > 0 && read_at(c->target, addr, 0, &word) != SFU_OK; left--)
        addr = (addr & ~(SMALLEST_GUARD - 1u)) + SMALLEST_GUARD;
    return addr;
}

/* The CPU has not pushed at ADDR what the exception of EXC_RETURN has interrupted, or not all of it. Guesses that what
 * stands there is right, if it looks like that, with r4 to r11 below it or without: a wrong EXC_RETURN may be wrong
 * there, too. Else guesses that the first return address from SP on, or on the stack that SP has run out of, is that of
 * its caller. */
static int guess_interrupted(const struct sfu_cortexm *c, uint32_t exc_return, uint32_t addr, uint32_t fp,
                             struct sfu_interrupted *interrupted)
{
    uint32_t left, word;

    if (guess_frame(c, exc_return, addr, fp, interrupted) ||
        guess_frame(c, exc_return | EXC_NO_CALLEES, addr, fp, interrupted)) {
        interrupted->guess = SFU_GUESS_HOOK;
        return SFU_OK;
    }
    for (addr = begin_scan(c, addr, &left); left > 0 && read_at(c->target, addr, 0, &word) == SFU_OK; left--) {
        addr += WORD;
        if (is_return_address(c->target, word)) {
            interrupted->regs.pc = word & ~1u;
            interrupted->regs.pc_kind = SFU_PC_RETURN;
            interrupted->regs.sp = addr; /* functions push LR first */
            interrupted->regs.fp = guess_fp(c, addr, fp);
            interrupted->guess = SFU_GUESS_HOOK;
            return SFU_OK;
        }
    }
    return SFU_E_STACK;
}

/* Whether RULE says that the value is still in REG. */
static bool is_kept(const struct sfu_rule *rule, uint32_t reg)
{
    return rule->control == (reg << 3 | 1) && rule->offset == 0;
}

/* Whether PC may be where a function begins that is called through a pointer: with a return address, LR, behind BLX and
 * a register, and with a row for nothing but that. */
static bool may_be_called(const struct sfu_cortexm *c, const struct sfu_row *row, uint32_t pc, uint32_t lr)
{
    const struct sfu_panic *p = c->panic;
    sfu_addr offset = 1;

    if (row->kind != SFU_ROW_RULES || !is_kept(&row->cfa, SP) || !is_kept(&row->ra, LR) ||
        !is_return_address(c->target, lr) || !is_behind_blx(lr & ~1u))
        return false;
    return row->function == pc || p->symbol == NULL || (p->symbol(p->ctx, pc, &offset) != NULL && offset == 0);
}

/* Whether the exception frame at ADDR says that the CPU was not to execute Thumb code: a jump to an even address led
 * there. */
static bool is_not_thumb(const struct sfu_cortexm *c, uint32_t addr)
{
    uint32_t xpsr;

    return read_at(c->target, addr, FRAME_XPSR, &xpsr) == SFU_OK && (xpsr & XPSR_THUMB) == 0;
}

/* Whether the row at REGS, where a jump to an even address has led, says nothing of who jumped: rows hold for who comes
 * through the code in front of them. Not inlined, because a row takes much of the stack. */
static __attribute__((__noinline__)) bool is_jumped_into(const struct sfu_cortexm *c,
                                                         const struct sfu_registers *regs)
{
    struct sfu_row row;

    return find_row(c->target, (uint32_t)regs->pc, SFU_PC_EXACT, &row) &&
           !may_be_called(c, &row, (uint32_t)regs->pc, (uint32_t)regs->ra);
}

/* Guesses who has jumped to what *INTERRUPTED says: LR has the return address of the last call. */
static int guess_jump(const struct sfu_cortexm *c, struct sfu_interrupted *interrupted)
{
    const uint32_t lr = (uint32_t)interrupted->regs.ra;

    if (!is_return_address(c->target, lr))
        return SFU_E_NOT_CODE;
    interrupted->regs.pc = lr & ~1u;
    interrupted->regs.pc_kind = SFU_PC_RETURN;
    interrupted->guess = SFU_GUESS_HOOK;
    return SFU_OK;
}

/* Reads the exception frame of an exception further down than the one that a walk began with; or of that one, if it was
 * jumped to. FAULT: EXC_RETURN, and where that exception has pushed it. */
static int unstack_deeper(const struct sfu_cortexm *c, struct sfu_cortexm_fault *fault,
                          const struct sfu_frame *frame, struct sfu_interrupted *interrupted)
{
    const uint32_t fp = (uint32_t)frame->regs.fp;
    int code = sfu_cortexm_unstack(c->target, fault->exc_return, fault->sp, fp, interrupted);

    if (!REASONS && fault->exception == NMI)
        fault->exception = HARD_FAULT; /* whose handler the NMI may have interrupted */
    if (may_be_lost(fault, frame->reliable) || (code == SFU_OK && is_unsure(c, fault, code, interrupted)))
        return guess_interrupted(c, fault->exc_return, fault->sp, fp, interrupted);
    if (code == SFU_OK && is_not_thumb(c, (uint32_t)interrupted->saved) && is_jumped_into(c, &interrupted->regs))
        return guess_jump(c, interrupted);
    return code;
}

/* The walk goes on behind EXC_RETURN, which FRAME has: what lies further up on the main stack is no handler's, if that
 * was the outermost one. */
static void note_thread(struct sfu_cortexm *c, uint32_t exc_return, const struct sfu_frame *frame)
{
    c->thread_depth = frame->depth;
    c->thread_sp = (exc_return & EXC_THREAD) == 0          ? 0
                   : (exc_return & EXC_PROCESS_STACK) != 0 ? 1
                                                           : (uint32_t)frame->regs.sp;
}

/* Whether a walk that is at FRAME has left the outermost handler. A walk of before may have left it there, which began
 * elsewhere: so that is sure only if there is no exception frame. */
static bool has_left_handlers(const struct sfu_cortexm *c, const struct sfu_frame *frame)
{
    return c->thread_sp != 0 && frame->depth > c->thread_depth && frame->regs.sp >= c->thread_sp;
}

/* What to make of EXC_RETURN at FRAME. Only a handler returns by it. In thread mode a context switch has left it in LR
 * for the first function of a task: SFU_END. Handlers have their frames on the main stack, above MSP, if this runs in
 * one, and a task has its own above PSP: where a main stack below that of a task may have been overwritten from there,
 * SFU_E_PROGRESS. SFU_E_STACK: the same on the main stack, if there is no exception frame. Not inlined, because what it
 * needs would be on the stack while the walk goes on. */
static __attribute__((__noinline__)) int leaves_handler(const struct sfu_cortexm *c, uint32_t exc_return,
                                                        const struct sfu_frame *frame)
{
    const uint32_t sp = (uint32_t)frame->regs.sp, psp = process_stack();
    uint32_t msp;

    __asm__ volatile("mrs %0, msp" : "=r"(msp));
    if (frame->depth == 0)
        return SFU_OK;
    if (c->in_task || running() == 0)
        return SFU_END;
    if ((exc_return & EXC_PROCESS_STACK) == 0)
        return has_left_handlers(c, frame) ? SFU_E_STACK : SFU_OK;
    if (psp > msp)
        return sp > psp ? SFU_E_PROGRESS : SFU_OK;
    return sp < msp ? SFU_END : SFU_OK;
}

/* Guesses that EXC_RETURN leads to what looks like its exception frame at FRAME; if nothing does, SFU_END. */
static __attribute__((__noinline__)) int guess_left(const struct sfu_cortexm *c, uint32_t exc_return,
                                                    const struct sfu_frame *frame,
                                                    struct sfu_interrupted *interrupted)
{
    if (!guess_frame(c, exc_return, (uint32_t)frame->regs.sp, (uint32_t)frame->regs.fp, interrupted))
        return SFU_END;
    interrupted->guess = SFU_GUESS_HOOK;
    return SFU_OK;
}

int sfu_cortexm_hook(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    struct sfu_cortexm *c = ctx;
    const uint32_t pc = (uint32_t)frame->regs.pc;
    struct sfu_cortexm_fault fault;

    if (pc == RESET_LR && frame->regs.pc_kind == SFU_PC_RETURN)
        return SFU_END;
    if (pc == FNC_RETURN)
        return SFU_E_TRAP;
    if (pc < EXC_RETURN || frame->regs.pc_kind != SFU_PC_RETURN)
        return code;
    if (!is_own_stack(pc))
        return SFU_E_TRAP;
    code = leaves_handler(c, pc, frame);
    if (code == SFU_E_STACK)
        return guess_left(c, pc, frame, interrupted);
    if (code != SFU_OK)
        return code;
    note_thread(c, pc, frame);
    read_fault(&fault, pc, frame_of(pc, (uint32_t)frame->regs.sp));
    if (c->lost && frame->depth == 0)
        return guess_interrupted(c, pc, fault.sp, (uint32_t)frame->regs.fp, interrupted);
    return unstack_deeper(c, &fault, frame, interrupted);
}

/* ---- Into the printer ------------------------------------------------------------------------------------------ */

static void set_callbacks(struct sfu_cortexm *cortexm, struct sfu_target *target)
{
    target->stack.bytes = NULL;
    if (cortexm->num_stacks != 0)
        target->find_stack = find_stack;
    target->read = read_stack;
    target->reg = get_register;
    target->ctx = cortexm;
}

static void set_target(struct sfu_cortexm *cortexm, struct sfu_panic *panic)
{
    cortexm->panic = panic;
    cortexm->target = &panic->own;
    set_callbacks(cortexm, &panic->own);
}

int sfu_cortexm_init(struct sfu_cortexm *cortexm, struct sfu_panic *panic, const void *sframe,
                     const void *sframe_end, const void *low, const void *high)
{
    int code = sfu_panic_init(panic, sframe, sframe_end, low, high);

    set_target(cortexm, panic);
    panic->own.trap_hook = sfu_cortexm_hook;
    return code;
}

void sfu_cortexm_share(struct sfu_cortexm *cortexm, struct sfu_panic *panic)
{
    struct sfu_target *target = &panic->own;

    target->stack.low = cortexm->target->stack.low;
    target->stack.high = cortexm->target->stack.high;
    target->find_stack = cortexm->target->find_stack;
    set_callbacks(cortexm, target);
    target->trap_hook = sfu_cortexm_hook;
}

/* No hook, which would bring the code that looks rows up. */
void sfu_cortexm_init_dump(struct sfu_cortexm *cortexm, struct sfu_panic *panic, const void *low, const void *high)
{
    struct sfu_target *target = &panic->own;

    panic->target = target;
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
    cortexm->thread_depth = cortexm->thread_sp = 0;
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
        cortexm->thread_sp = (entry->exc_return & EXC_THREAD) != 0 ? (uint32_t)top->sp : 0;
    }
    return code;
}

int sfu_cortexm_registers(struct sfu_cortexm *cortexm, const struct sfu_cortexm_entry *entry,
                          struct sfu_registers *top)
{
    struct sfu_cortexm_fault fault;
    int code = read_entry(cortexm, entry, top, &fault);

    if (code != SFU_OK)
        return code;
    cortexm->lost = cortexm->target->trap_hook == NULL && is_below_lost(&fault);
    if (!cortexm->lost && (top->pc == 0 || !is_not_thumb(cortexm, cortexm->frame)))
        return SFU_OK; /* who has called a null pointer, a walk guesses without the hook */
    set_exception_itself(top, entry);
    return SFU_E_STACK;
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

/* If no row says who has jumped to *TOP, the hook is to guess that. Not inlined: the caller goes on to print. */
static __attribute__((__noinline__)) void
begin_at_jump(const struct sfu_cortexm *c, const struct sfu_cortexm_entry *entry, struct sfu_registers *top)
{
    if (!is_jumped_into(c, top))
        return;
    print_register(c->panic, "a jump led to 0x", (uint32_t)top->pc);
    sfu_print_text(c->panic, "; who jumped is guessed:\n");
    set_exception_itself(top, entry);
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
    if (fault.has_xpsr && !fault.thumb)
        begin_at_jump(cortexm, entry, &top);
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

/* ---- Tasks ----------------------------------------------------------------------------------------------------- */

/* What the context switch has saved of a task at SAVED. */
struct saved_task {
    const struct sfu_target *target;
    const struct sfu_cortexm_order *order;
    uint32_t saved;
    bool has_fpu;
};

/* The word that lies OFFSET bytes above what was saved. A control block lies on no stack, but in the memory that
 * sfu_cortexm_init was given. */
static int read_saved(const struct saved_task *t, uint32_t offset, uint32_t *value)
{
    const struct sfu_target *target = t->target;
    const struct sfu_stack *memory = &target->stack;

    if (t->order->psp == 0)
        return read_at(target, t->saved, offset, value);
    if (t->saved < memory->low || t->saved >= memory->high || memory->high - t->saved < offset + WORD)
        return SFU_E_STACK;
    return target->read(target->ctx, (sfu_addr)t->saved + offset, value, WORD) == 0 ? SFU_OK : SFU_E_STACK;
}

/* How many bytes above what was saved a place is. */
static uint32_t offset_of(const struct saved_task *t, unsigned place)
{
    const unsigned floats = t->order->pc_last ? 33 : 16;

    return (place + (t->has_fpu && place >= t->order->fpu ? floats : 0)) * WORD;
}

static int read_place(const struct saved_task *t, unsigned place, uint32_t *value)
{
    return read_saved(t, offset_of(t, place), value);
}

/* The byte that lies AT bytes above what was saved is the low one of *EXC_RETURN. */
static int read_exc_byte(const struct saved_task *t, uint32_t at, uint32_t *exc_return)
{
    const uint32_t offset = (t->saved + at) % WORD;
    uint32_t word;
    int code = at < offset ? (int)SFU_E_STACK : read_saved(t, at - offset, &word);

    if (code == SFU_OK)
        *exc_return = EXC_RETURN | (word >> 8 * offset & 0xff);
    return code;
}

/* Sets *EXC_RETURN to that of the task, or to one that says the same of the FPU. */
static int read_exc_return(const struct saved_task *t, uint32_t *exc_return)
{
    const struct sfu_cortexm_order *order = t->order;
    uint32_t flag;
    int code;

    *exc_return = TASK_EXC_RETURN;
    if (order->exc_return == SFU_CORTEXM_NOT_SAVED)
        return order->exc_byte != 0 ? read_exc_byte(t, order->exc_byte, exc_return) : SFU_OK;
    if ((order->exc_return & SFU_CORTEXM_FLAG(0)) == 0)
        return read_place(t, order->exc_return, exc_return);
    code = read_place(t, order->exc_return & ~(unsigned)SFU_CORTEXM_FLAG(0), &flag);
    if (code == SFU_OK && flag != 0)
        *exc_return &= ~EXC_NO_FPU;
    return code == SFU_OK && flag > 1 && !(order->pc_last && flag == 4) ? (int)SFU_E_STACK : code;
}

/* Sets *ADDR to the exception frame's address. */
static int find_frame(const struct saved_task *t, uint32_t *addr)
{
    const struct sfu_cortexm_order *order = t->order;

    if (order->psp != 0)
        return read_place(t, order->psp, addr);
    *addr = t->saved + offset_of(t, order->words);
    return SFU_OK;
}

/* Fills in *ENTRY as if the task were interrupted on the main stack, so that MSP is the address of its exception frame.
 * Returns false if that cannot be read. */
static bool read_task(struct saved_task *t, struct sfu_cortexm_entry *entry)
{
    const struct sfu_cortexm_order *order = t->order;
    unsigned i;
    int code;

    t->has_fpu = false;
    code = read_exc_return(t, &entry->exc_return);
    t->has_fpu = (entry->exc_return & EXC_NO_FPU) == 0;
    for (i = 0; i < 8 && code == SFU_OK; i++)
        code = read_place(t, i < 4 ? order->r4 + i : order->r8 + i - 4, &entry->r4_to_r11[i]);
    if (code == SFU_OK)
        code = find_frame(t, &entry->msp);
    return code == SFU_OK && entry->exc_return >= EXC_RETURN && (entry->exc_return & EXC_THREAD) != 0;
}

/* Sets *TOP to where the task of ENTRY goes on. */
static int task_registers(struct sfu_cortexm *cortexm, const struct sfu_cortexm_entry *entry,
                          struct sfu_registers *top)
{
    struct sfu_interrupted interrupted;
    uint32_t xpsr;
    int code;

    set_exception_itself(top, entry);
    top->pc &= ~EXC_PROCESS_STACK;
    if (!is_own_stack(entry->exc_return))
        return SFU_E_TRAP;
    code =
        sfu_cortexm_unstack(cortexm->target, entry->exc_return, entry->msp, entry->r4_to_r11[FP - 4], &interrupted);
    if (code != SFU_OK ||
        (code = read_at(cortexm->target, (uint32_t)interrupted.saved, FRAME_XPSR, &xpsr)) != SFU_OK)
        return code;
    cortexm->frame = (uint32_t)interrupted.saved;
    copy_registers(top, &interrupted.regs);
    return (xpsr & (XPSR_THUMB | XPSR_EXCEPTION)) == XPSR_THUMB ? SFU_OK : SFU_E_STACK;
}

/* The same where there is no exception frame. What is r12, LR and PC in one lies in the same places here, but r0 to r3
 * do not: so ENTRY gets no EXC_RETURN. */
static int last_registers(struct sfu_cortexm *cortexm, const struct saved_task *t, struct sfu_cortexm_entry *entry,
                          struct sfu_registers *top)
{
    const uint32_t frame = entry->msp - FRAME_XPSR;
    uint32_t lr, pc, xpsr;
    int code = read_place(t, t->order->words - 16u, &xpsr);

    if (code != SFU_OK || (code = read_at(t->target, frame, FRAME_LR, &lr)) != SFU_OK ||
        (code = read_at(t->target, frame, FRAME_PC, &pc)) != SFU_OK)
        return code;
    entry->exc_return = 0;
    cortexm->frame = frame;
    top->pc = pc & ~1u;
    top->sp = entry->msp;
    top->fp = entry->r4_to_r11[FP - 4];
    top->ra = lr;
    top->has_ra = true;
    top->pc_kind = SFU_PC_EXACT;
    return (xpsr & (XPSR_THUMB | XPSR_EXCEPTION)) == XPSR_THUMB && (pc & 1) != 0 ? SFU_OK : SFU_E_STACK;
}

int sfu_cortexm_print_task(struct sfu_cortexm *cortexm, const struct sfu_cortexm_order *order, const void *saved)
{
    struct saved_task task = {cortexm->target, order, (uint32_t)(uintptr_t)saved, false};
    const struct sfu_cortexm_entry *before = cortexm->entry;
    const bool traps = trap_unaligned(false), lost = cortexm->lost;
    const uint32_t frame = cortexm->frame;
    struct sfu_cortexm_entry entry;
    struct sfu_registers top;
    int code = SFU_E_STACK;

    if (read_task(&task, &entry))
        code =
            order->pc_last ? last_registers(cortexm, &task, &entry, &top) : task_registers(cortexm, &entry, &top);
    cortexm->entry = &entry;
    cortexm->lost = false;
    cortexm->in_task = true;
    if (code == SFU_E_STACK) {
        print_register(cortexm->panic, "SP 0x", task.saved);
        sfu_print_text(cortexm->panic, " does not lead to what a task has saved\n");
    } else {
        code = sfu_panic_print(cortexm->panic, &top);
        print_other_state(cortexm->panic, code);
    }
    cortexm->entry = before;
    cortexm->lost = lost;
    cortexm->in_task = false;
    cortexm->frame = frame;
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

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu_linux_vdso. "own": this program's own .eh_frame, as if it were the vDSO's, says at each PC what its .sframe says.
 * "real": each instruction of the kernel's vDSO that a call of the clock runs is in a whole trace (x86_64).
 */
#include "sfu_linux.h"

enum { SA_SIGINFO = 4, SA_ONSTACK = 0x08000000, SIGTRAP = 5, AT_SYSINFO_EHDR = 33, WORDS = 65536 };

#ifdef __aarch64__
#define PAC ((uint64_t)0x15 << 48) /* what is signed has it, and loses it */
#else
#define PAC ((uint64_t)0)
#endif

extern const uint8_t __ehdr_start[], __executable_start[], etext[];
static struct sfu_linux self;
static struct sfu_section vdso_section;
static uint64_t memory[WORDS];

static void say(const char *text)
{
    size_t len = 0;

    while (text[len] != '\0')
        len++;
    sfu_linux_write(text, len);
}

static void say_number(const char *before, uint64_t value)
{
    char digits[17];
    unsigned i;

    for (i = 0; i < 16; i++)
        digits[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    digits[16] = '\0';
    say(before);
    say(digits);
}

/* ---- own -------------------------------------------------------------------------------------------------------- */

static int reg(void *ctx, const struct sfu_frame *frame, uint32_t number, uint64_t *value)
{
    (void)ctx;
    (void)frame;
    *value = (uintptr_t)(memory + WORDS / 2 + 8 * number);
    return 0;
}

/* One step from PC, as if it were the topmost frame's or, KIND, a return address. */
static int step(struct sfu_walk *walk, const struct sfu_target *target, uint64_t pc, enum sfu_pc_kind kind)
{
    struct sfu_registers top = {0};

    top.pc = pc;
    top.pc_kind = kind;
    top.sp = (uintptr_t)(memory + WORDS / 4);
    top.fp = (uintptr_t)(memory + WORDS / 2);
#ifdef SFU_REG_RA
    top.ra = PAC | 0x123456;
    top.has_ra = true;
#endif
    sfu_walk_start(walk, target, &top);
    return sfu_walk_step(walk);
}

static bool equal(const struct sfu_frame *a, const struct sfu_frame *b)
{
    return a->regs.pc == b->regs.pc && a->regs.sp == b->regs.sp && a->regs.fp == b->regs.fp &&
           a->regs.pc_kind == b->regs.pc_kind && a->reliable && b->reliable && !b->interrupted;
}

static int own(void)
{
    struct sfu_target by_rows = self.target, by_hook = self.target;
    struct sfu_section nowhere = self.section;
    uint64_t pc, same = 0, unknown = 0;
    unsigned i, kind;

    for (i = 0; i < WORDS; i++)
        memory[i] = PAC | (0x10000 + 16 * (uint64_t)i);
    by_rows.reg = self.target.reg = reg;
    by_rows.trap_hook = NULL;
    nowhere.next = NULL;
    nowhere.text.low = 1; /* so each PC is none of the section's */
    nowhere.text.high = 2;
    by_hook.sections = &nowhere;
    by_hook.trap_hook = sfu_linux_vdso_trap;
    self.vdso = __ehdr_start;
    for (pc = (uintptr_t)__executable_start; pc < (uintptr_t)etext; pc++)
        for (kind = SFU_PC_EXACT; kind <= SFU_PC_RETURN; kind++) {
            struct sfu_walk rows, hook;
            int one = step(&rows, &by_rows, pc, (enum sfu_pc_kind)kind), other;

            /* Neither knows what is no row, or a trap frame, which sfu_linux_trap knows. */
            if (one != SFU_OK || rows.frame.interrupted)
                continue;
            other = step(&hook, &by_hook, pc, (enum sfu_pc_kind)kind);
            unknown += other == SFU_E_DEAD_SLOT || other == SFU_E_UNSAFE;
            same += other == SFU_OK && equal(&rows.frame, &hook.frame);
            if (other == SFU_OK ? !equal(&rows.frame, &hook.frame)
                                : other != SFU_E_DEAD_SLOT && other != SFU_E_UNSAFE) {
                say_number("not ok: PC ", pc);
                say_number(", code ", (uint64_t)(int64_t)other);
                say_number(", PC ", hook.frame.regs.pc), say_number(" for ", rows.frame.regs.pc);
                say_number(", SP ", hook.frame.regs.sp), say_number(" for ", rows.frame.regs.sp);
                say_number(", FP ", hook.frame.regs.fp), say_number(" for ", rows.frame.regs.fp);
                return 1;
            }
        }
    say_number("same ", same);
    say_number(" unknown ", unknown);
    say(same > 4000 && unknown * 100 < same ? "\nok own\n" : "\nnot ok own\n");
    return 0;
}

/* ---- real ------------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)

typedef long (*clock_fn)(long clock, uint64_t time[2]);

static uint64_t vdso_low, vdso_size, stack[8192];
static unsigned stepped, wrong;
static int last_code;

/* What the dynamic section at DYNAMIC has of TAG. */
static uint64_t of_tag(const uint64_t *dynamic, uint64_t tag)
{
    while (dynamic[0] != 0 && dynamic[0] != tag)
        dynamic += 2;
    return dynamic[0] == tag ? dynamic[1] : 0;
}

static clock_fn find_clock(const uint8_t *elf)
{
    static const char name[] = "__vdso_clock_gettime";
    const uint8_t *phdr = elf + 64;
    const uint64_t *dynamic;
    const uint8_t *symbol;
    const char *names;
    uint32_t num;

    while (*(const uint32_t *)(const void *)phdr != 2) /* PT_DYNAMIC */
        phdr += 56;
    dynamic = (const uint64_t *)(const void *)(elf + *(const uint64_t *)(const void *)(phdr + 16));
    names = (const char *)elf + of_tag(dynamic, 5);
    symbol = elf + of_tag(dynamic, 6);
    num = ((const uint32_t *)(const void *)(elf + of_tag(dynamic, 4)))[1];
    for (; num > 0; num--, symbol += 24) {
        const char *found = names + *(const uint32_t *)(const void *)symbol;
        unsigned i = 0;

        while (name[i] != '\0' && name[i] == found[i])
            i++;
        if (name[i] == found[i])
            return (clock_fn)(uintptr_t)(elf + *(const uint64_t *)(const void *)(symbol + 8));
    }
    return NULL;
}

__attribute__((noinline)) long timed(clock_fn clock, long which);
long timed(clock_fn clock, long which)
{
    uint64_t time[2];
    long result;

    __asm__ __volatile__("pushfq; orq $256, (%%rsp); popfq" : : : "memory", "cc");
    result = clock(which, time);
    __asm__ __volatile__("pushfq; andq $-257, (%%rsp); popfq" : : : "memory", "cc");
    return result;
}

/* Of each instruction in the vDSO: its trace is proven, ends properly, and has timed() right behind the vDSO. */
static void stepping(int signal, void *info, void *ucontext)
{
    struct sfu_registers at = sfu_linux_interrupted(ucontext, &self.cpu);
    struct sfu_walk walk;
    unsigned in_vdso = 0;
    bool caller = false;

    (void)signal;
    (void)info;
    if (at.pc - vdso_low >= vdso_size)
        return;
    stepped++;
    sfu_walk_start(&walk, &self.target, &at);
    do {
        if (walk.frame.regs.pc - vdso_low < vdso_size)
            in_vdso++;
        else if (walk.frame.depth == in_vdso)
            caller = walk.frame.regs.pc - (uintptr_t)timed < 256;
        last_code = sfu_walk_step(&walk);
    } while (last_code == SFU_OK);
    if (last_code != SFU_END || !walk.frame.reliable || !caller || walk.frame.depth < in_vdso + 3)
        wrong++;
}

static int real(const uintptr_t *auxv)
{
    long (*volatile call)(clock_fn, long) = timed; /* so that it is no clone of timed that is called */
    clock_fn clock;
    long which;
    int code = sfu_linux_vdso(&self, &vdso_section, auxv);

    if (code == SFU_E_NO_SECTION && self.vdso == NULL) {
        say("ok real: no vDSO\n");
        return 0;
    }
    clock = code == SFU_OK ? find_clock((const uint8_t *)self.vdso) : NULL;
    if (clock == NULL) {
        say_number("not ok real: ", (uint64_t)(int64_t)code);
        return 1;
    }
    vdso_low = (uintptr_t)self.vdso;
    vdso_size = *(const uint64_t *)(const void *)((const uint8_t *)self.vdso + 64 + 40); /* of its first segment */
    sfu_linux_sigaltstack(stack, sizeof stack);
    sfu_linux_sigaction(SIGTRAP, stepping, SA_SIGINFO | SA_ONSTACK, NULL);
    for (which = 0; which < 8; which++)
        (void)call(clock, which);
    say_number("stepped ", stepped);
    say_number(" wrong ", wrong);
    say_number(" last ", (uint64_t)(int64_t)last_code);
    say(stepped >= 100 && wrong == 0 ? "\nok real\n" : "\nnot ok real\n");
    return 0;
}

#else

static int real(const uintptr_t *auxv)
{
    int code = sfu_linux_vdso(&self, &vdso_section, auxv);

    (void)SIGTRAP, (void)SA_SIGINFO, (void)SA_ONSTACK;
    say(code == SFU_OK || self.vdso == NULL ? "ok real: not stepped\n" : "not ok real\n");
    return 0;
}

#endif

int sfu_linux_main(int argc, char **argv, const uintptr_t *auxv)
{
    int code = sfu_linux_init(&self, auxv);

    if (code != SFU_OK || argc != 2) {
        say_number("not ok: ", (uint64_t)(int64_t)code);
        return 1;
    }
    return argv[1][0] == 'o' ? own() : real(auxv);
}

/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Each register that the capture and the signal frames give, against what assembly code has put there. The
 * argument says which test: capture, read, claim, or how the frame behind a signal is reached: hook, table, ucontext,
 * plain (the handler of s390x and i386 without SA_SIGINFO).
 */
#define SFU_USER_MODE /* see sfu_mask.h: this is compiled with -ffreestanding */
#include "bare.h"
#include "registers.h"
#include "section.h"

enum { SIGSEGV = 11, SA_SIGINFO = 4 };

uintptr_t patterns[32];
uintptr_t test_sp, test_return;
static struct sfu_linux self;
static const char *mode;

static void test_capturing(void)
{
    static const char *const names[] = {"r0",  "r1",  "r2",  "r3",  "r4",  "r5",  "r6",  "r7",  "r8",  "r9",  "r10",
                                        "r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19", "r20", "r21",
                                        "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31"};
    static struct sfu_cpu cpu;
#if defined(__x86_64__)
    const uint32_t argument = 5, ra = 99;
#elif defined(__aarch64__)
    const uint32_t argument = 0, ra = 30;
#elif defined(__riscv)
    const uint32_t argument = 10, ra = 1;
#elif defined(__i386__)
    const uint32_t argument = 0, ra = 99;
#else
    const uint32_t argument = 2, ra = 14;
#endif
    uint32_t i;

    test_capture(&cpu);
    for (i = 0; i < SFU_NUM_REGS; i++) {
        uint64_t right = i == SFU_REG_SP ? test_sp
                         : i == argument ? (uintptr_t)&cpu
                         : i == ra       ? test_return
                                         : patterns[i];
        assert_that(cpu.r[i] == right, names[i]);
    }
    assert_that(cpu.r[SFU_NUM_REGS] - (uintptr_t)capture_leaf < 160, "PC");
    test_passed(mode);
}

/* The interrupted frame, its patterns through the register callback. */
static void check_interrupted(const struct sfu_frame *frame)
{
    uint64_t value;
    uint32_t i;

    assert_that(frame->regs.pc == (uintptr_t)test_fault_at, "PC");
    assert_that(frame->regs.pc_kind == SFU_PC_EXACT, "kind of PC");
    assert_that(frame->regs.sp == test_sp, "SP");
    assert_that(frame->regs.fp == patterns[SFU_REG_FP], "FP");
#ifdef SFU_REG_RA
    /* A table has no rule for it; it is in the signal frame. */
    if (!is(mode, "table"))
        assert_that(frame->regs.has_ra && frame->regs.ra == patterns[SFU_REG_RA], "RA");
#endif
    for (i = 0; i < SFU_NUM_REGS; i++) {
        assert_that(sfu_linux_reg(&self, frame, i, &value) == 0, "register unknown");
        assert_that(value == (i == SFU_REG_SP ? test_sp : patterns[i]), "register");
    }
    assert_that(sfu_linux_reg(&self, frame, SFU_NUM_REGS, &value) != 0, "one register too many");
    test_passed(mode);
}

static __attribute__((noinline)) void handler(int signal, void *info, void *ucontext)
{
    struct sfu_walk walk;
    struct sfu_registers top;
    int code = SFU_OK;

    (void)signal;
    (void)info;
    if (is(mode, "ucontext")) {
        top = sfu_linux_interrupted(ucontext, &self.cpu);
        sfu_walk_start(&walk, &self.target, &top);
        check_interrupted(&walk.frame);
    }
    top = sfu_here(&self.cpu);
    sfu_walk_start(&walk, &self.target, &top);
    while (code == SFU_OK && !walk.frame.interrupted)
        code = sfu_walk_step(&walk);
    assert_that(code == SFU_OK, sfu_string(code));
    assert_that(walk.frame.reliable, "not reliable");
    check_interrupted(&walk.frame);
}

/* Calls of sigreturn, by the kernel's numbers. */
#if defined(__x86_64__)
#define SIGRETURN                                                                                                  \
    {                                                                                                              \
        0xb8, 15, 0, 0, 0, 0x0f, 0x05                                                                              \
    }
#elif defined(__aarch64__)
#define SIGRETURN                                                                                                  \
    {                                                                                                              \
        0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4                                                                   \
    }
#elif defined(__riscv)
#define SIGRETURN                                                                                                  \
    {                                                                                                              \
        0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0                                                                      \
    }
#elif defined(__i386__)
#define SIGRETURN                                                                                                  \
    {                                                                                                              \
        0xb8, 173, 0, 0, 0, 0xcd, 0x80                                                                             \
    }
#else
#define SIGRETURN                                                                                                  \
    {                                                                                                              \
        0x0a, 173                                                                                                  \
    }
#endif

/* A signal frame is believed only if the program cannot have written the instructions behind it. */
static void test_forged(void)
{
    static const uint8_t fixed[16] = SIGRETURN;
    static uint8_t writable[16] = SIGRETURN;
    static uint64_t signal_frame[512]; /* all zeros */
    const uint8_t *const codes[] = {fixed, writable};
    unsigned i;

    for (i = 0; i < 2; i++) {
        struct sfu_interrupted interrupted;
        struct sfu_frame frame;

        frame.regs.pc = (uintptr_t)codes[i];
        frame.regs.sp = (uintptr_t)signal_frame;
        interrupted.guess = SFU_GUESS_NONE;
        assert_that(sfu_linux_trap(NULL, &frame, SFU_E_NO_FDE, &interrupted) == SFU_OK, "signal frame");
        assert_that(interrupted.guess == (i == 0 ? SFU_GUESS_NONE : SFU_GUESS_HOOK), "sure of it");
    }
    test_passed(mode);
}

static void test_signal(void)
{
    void (*restorer)(void) = NULL;

#if !defined(__s390x__) && !defined(__riscv)
    if (is(mode, "table")) {
        self.target.trap_hook = NULL;
        restorer = sfu_linux_restorer_table;
    }
#endif
    sfu_linux_sigaction(SIGSEGV, handler, is(mode, "plain") ? 0 : SA_SIGINFO, restorer);
    test_fault();
}

/* Two pages, of which the second cannot be read. */
static uint8_t pages[3 * 65536];

static void test_reading(void)
{
#if defined(__x86_64__)
    const long mprotect = 10;
#elif defined(__aarch64__)
    const long mprotect = 226;
#elif defined(__riscv)
    const long mprotect = 226;
#else /* s390x, i386 */
    const long mprotect = 125;
#endif
    static const uint64_t bad[] = {
        0,
        1,
        8,
        4095,
        UINT64_MAX - 32,
        UINT64_MAX - 24,
        UINTPTR_MAX - 32,
        UINTPTR_MAX - 24,
        1ull << 32,
        PATTERN,
#if UINTPTR_MAX > 0xffffffff
        0x7fffffffffffffff,
        0x8000000000000000,
        0xffff800000000000,
        0xffffffffff600000,
#endif
    };
    uint64_t edge = ((uintptr_t)pages + 2 * 65536 - 1) / 65536 * 65536;
    uint8_t buffer[28];
    unsigned i;
    size_t len;

    for (i = 0; i < sizeof bad / sizeof *bad; i++)
        for (len = 1; len <= 24; len++)
            assert_that(sfu_linux_read(NULL, bad[i], buffer, len) != 0, "read what cannot be read");
    for (i = 0; i < 64; i++)
        ((uint8_t *)(uintptr_t)(edge - 64))[i] = (uint8_t)(i + 1);
    assert_that(sfu_linux_call(mprotect, (long)edge, 65536, 0, 0, 0, 0) == 0, "mprotect");
    for (i = 1; i <= 40; i++) {
        for (len = 1; len <= 28; len++) {
            int result = sfu_linux_read(NULL, edge - i, buffer, len);

            assert_that((result == 0) == (len <= i), "edge of a page");
            assert_that(result != 0 || (buffer[0] == 65 - i && buffer[len - 1] == 65 - i + len - 1), "bytes");
        }
    }
    test_passed(mode);
}

static void test_claiming(void)
{
    static volatile uint32_t word;
    unsigned i;

    for (i = 0; i < 3; i++) {
        assert_that(sfu_claim(&word), "of what is free");
        assert_that(!sfu_claim(&word), "of what is taken");
        sfu_release(&word);
    }
    test_passed(mode);
}

int sfu_linux_main(int argc, char **argv, const uintptr_t *auxv)
{
    uint32_t i;

    mode = argc > 1 ? argv[1] : "";
    assert_that(init_self(&self, auxv) == SFU_OK, "section");
    for (i = 0; i < 32; i++)
        patterns[i] = PATTERN + i;
#ifdef __riscv
    patterns[0] = 0;
#endif
    if (is(mode, "capture"))
        test_capturing();
    if (is(mode, "read"))
        test_reading();
    if (is(mode, "claim"))
        test_claiming();
    if (is(mode, "forged"))
        test_forged();
    test_signal();
    return 1;
}
